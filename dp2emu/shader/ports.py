"""Names of what pixel programs read of a varying."""

from __future__ import annotations

CENTROID = "centroid."
"""Before the name of a varying: as it is where the pixel is covered, not at its centre."""


def varying(port: str) -> str:
    """The varying that an input is of."""
    return port.removeprefix(CENTROID)

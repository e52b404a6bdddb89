"""Names of what pixel programs read of a varying, and marks of vertices.

Where it is read stands first, then how it is interpolated: ``centroid.noperspective.v1.x``.
Without either it is read at the pixel's centre, with perspective.
"""

from __future__ import annotations

CENTROID = "centroid."
"""Before the name of a varying: as it is where the pixel is covered, not at its centre."""


SAMPLE = "sample."
"""As it is at the sample that the program runs for."""


NOPERSPECTIVE = "noperspective."
"""Linear on the screen."""


CONSTANT = "constant."
"""Before the name of an I32, which is a varying of its own: all corners get that of the first."""

STARTS = 4
"""What the mark of a vertex that a geometry program puts out has more than the number of its
stream, if a strip begins with it."""


def varying(port: str) -> str:
    """The varying that an input is of."""
    return port.removeprefix(CENTROID).removeprefix(SAMPLE).removeprefix(NOPERSPECTIVE)


POINTS_IN, POINTS_OUT, CONSTANTS = "vicp", "vocp", "vpc"
"""Names of files: points that come in, points that the hull program makes, patch constants."""

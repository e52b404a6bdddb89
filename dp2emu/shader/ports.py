"""Port names of varyings, vertex marks and patch data.

The interpolation modifiers precede the name of a varying: ``centroid.noperspective.v1.x``.
Without a modifier a varying is interpolated with perspective at the pixel's centre.
"""

from __future__ import annotations

from functools import lru_cache

CENTROID = "centroid."
"""Prefix of the name of an input that is interpolated at the centroid of the covered samples."""
SAMPLE = "sample."
"""Prefix of the name of an input that is interpolated at the sample the program runs for."""
NOPERSPECTIVE = "noperspective."
"""Prefix of the name of an input that is interpolated linearly in screen space."""
CONSTANT = "constant."
"""Prefix of an I32 varying with flat interpolation: all corners have the first vertex's value."""

LAYER, VIEWPORT = "layer.x", "viewport.x"
"""I32 outputs of the last stage before the rasterizer: SV_RenderTargetArrayIndex, the number of a
target slice, and SV_ViewportArrayIndex, the number of a viewport."""

STARTS = 4
"""Bit in the mark (I32) of an emitted vertex: the vertex begins a new strip.  The lower bits are
the stream number."""


@lru_cache(maxsize=1 << 12)
def varying(port: str) -> str:
    """Strip the interpolation prefixes from the name of an input."""
    return port.removeprefix(CENTROID).removeprefix(SAMPLE).removeprefix(NOPERSPECTIVE)


POINTS_IN, POINTS_OUT, CONSTANTS = "vicp", "vocp", "vpc"
"""Names of the uniform files with patch registers: input control points, output control points,
patch constants."""

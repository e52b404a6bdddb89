"""Layout of the uniform files of texture stage state, shared by fixed-function and shader
programs.
"""

from __future__ import annotations

STAGES = 8

STAGE_FILE = "stage"
"""Name of the float32 uniform file with six bump mapping states for each texture stage."""
STAGE_SCALARS = 6
"""Number of scalars that each texture stage has in STAGE_FILE: D3DTSS_BUMPENVMAT00, 01, 10 and 11,
D3DTSS_BUMPENVLSCALE and D3DTSS_BUMPENVLOFFSET."""
FACTOR_FILE = "factor"
"""Name of a float32 uniform file: D3DRS_TEXTUREFACTOR as red, green, blue and alpha, then
D3DTSS_CONSTANT of each stage."""
FACTOR_SCALARS = 4 * (1 + STAGES)
STAGE_FILES = frozenset({STAGE_FILE, FACTOR_FILE})
LUMINANCE_SCALE, LUMINANCE_OFFSET = 4, 5
"""Positions of a texture stage's luminance scale and offset among its six scalars."""

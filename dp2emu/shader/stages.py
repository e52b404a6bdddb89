"""The numbers of texture stages, which programs of stages and pixel shaders read alike."""

from __future__ import annotations

STAGES = 8

STAGE_FILE = "stage"
"""Uniform file, float32: ``STAGE_SCALARS`` of each stage."""
STAGE_SCALARS = 6
"""D3DTSS_BUMPENVMAT00, 01, 10 and 11, then D3DTSS_BUMPENVLSCALE and D3DTSS_BUMPENVLOFFSET."""
FACTOR_FILE = "factor"
"""Uniform file, float32: red, green, blue and alpha of D3DRS_TEXTUREFACTOR, then of each stage's
D3DTSS_CONSTANT."""
FACTOR_SCALARS = 4 * (1 + STAGES)
STAGE_FILES = frozenset({STAGE_FILE, FACTOR_FILE})
LUMINANCE_SCALE, LUMINANCE_OFFSET = 4, 5
"""Scalars of a stage."""

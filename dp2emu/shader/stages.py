"""The numbers of texture stages, which programs of stages and pixel shaders read alike."""

from __future__ import annotations

STAGES = 8

STAGE_FILE = "stage"
"""Uniform file, float32: ``STAGE_SCALARS`` of each stage."""
STAGE_SCALARS = 6
"""D3DTSS_BUMPENVMAT00, 01, 10 and 11, then D3DTSS_BUMPENVLSCALE and D3DTSS_BUMPENVLOFFSET."""
LUMINANCE_SCALE, LUMINANCE_OFFSET = 4, 5
"""Scalars of a stage."""

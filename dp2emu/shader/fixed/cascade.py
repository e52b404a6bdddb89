"""Key of the texture stage program.

Every field changes the program; numbers (texture factor, constants, bump matrices) are in the
uniform files ``factor`` and ``stage``.
"""

from __future__ import annotations

import msgspec

from dp2emu.d3d.enums import TextureArgument, TextureOp
from dp2emu.shader.fixed.fog import Fog
from dp2emu.shader.ir import TextureKind


class Argument(msgspec.Struct, frozen=True):
    """A stage argument; ``alpha`` (D3DTA_ALPHAREPLICATE) applies before ``complement``."""

    source: TextureArgument
    complement: bool = False
    alpha: bool = False


CURRENT = Argument(TextureArgument.CURRENT)


class Combination(msgspec.Struct, frozen=True):
    """A stage operation with its D3DTSS_COLORARG0, 1 and 2, or D3DTSS_ALPHAARG0, 1 and 2."""

    op: TextureOp
    arguments: tuple[Argument, Argument, Argument] = (CURRENT, CURRENT, CURRENT)


DISABLED = Combination(TextureOp.DISABLE)
"""Leaves the result register unchanged."""


class TextureStage(msgspec.Struct, frozen=True):
    """An enabled stage.

    ``temp``: the result goes to TEMP instead of CURRENT.  ``texture`` is the kind of the bound
    texture, None without one.  ``projection`` is the index of the divisor coordinate, 1 to 3
    (D3DTTFF_PROJECTED).  ``mask``: if nonzero, the largest stored alpha of the texture, and texels
    whose alpha has a clear lowest bit leave the colour unchanged.
    """

    color: Combination
    alpha: Combination = DISABLED
    temp: bool = False
    texture: TextureKind | None = None
    projection: int | None = None
    mask: int = 0


class FixedPixel(msgspec.Struct, frozen=True):
    """Key of a pixel program: enabled stages, specular, fog.

    ``color_key``: pixels where the texture of stage 0 has alpha 0 are discarded.  ``mono``: blue
    of the vertex colours replaces red and green.
    """

    stages: tuple[TextureStage, ...] = ()
    specular: bool = False
    fog: Fog | None = None
    color_key: bool = False
    mono: bool = False

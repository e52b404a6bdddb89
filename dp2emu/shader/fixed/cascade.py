"""What the pixel program of the texture stages is generated from.

Each field changes the statements; numbers (texture factor, constants, bump matrices) are not
here but in the uniform files ``factor`` and ``stage``.
"""

from __future__ import annotations

from dp2emu.d3d.enums import TextureArgument, TextureOp
from dp2emu.records import dataclass
from dp2emu.shader.fixed.fog import Fog
from dp2emu.shader.ir import TextureKind


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of an operation.  ``alpha``: D3DTA_ALPHAREPLICATE, before ``complement``."""

    source: TextureArgument
    complement: bool = False
    alpha: bool = False


CURRENT = Argument(TextureArgument.CURRENT)


@dataclass(frozen=True, slots=True)
class Combination:
    """An operation, and D3DTSS_COLORARG0, 1 and 2 or those of alpha."""

    op: TextureOp
    arguments: tuple[Argument, Argument, Argument] = (CURRENT, CURRENT, CURRENT)


DISABLED = Combination(TextureOp.DISABLE)
"""Leaves the register as it is."""


@dataclass(frozen=True, slots=True)
class TextureStage:
    """A stage that is on.

    ``temp``: the result goes to the TEMP register instead of CURRENT.  ``texture`` is the shape
    of what is bound, None for nothing.  ``projection`` is the coordinate, 1 to 3, that all are
    divided by (D3DTTFF_PROJECTED).  ``mask`` is the largest alpha of the texture as it is stored,
    if the colour stays as it is where the lowest bit of alpha is 0; otherwise 0.
    """

    color: Combination
    alpha: Combination = DISABLED
    temp: bool = False
    texture: TextureKind | None = None
    projection: int | None = None
    mask: int = 0


@dataclass(frozen=True, slots=True)
class FixedPixel:
    """Key of a program: the stages up to the end of the cascade, then specular, then fog.

    ``color_key``: pixels for which the texture of stage 0 has no alpha at all are not drawn.
    ``mono``: blue of the vertex colours stands for red and green as well.
    """

    stages: tuple[TextureStage, ...] = ()
    specular: bool = False
    fog: Fog | None = None
    color_key: bool = False
    mono: bool = False

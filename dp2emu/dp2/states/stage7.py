"""Render states of DirectX 5 that DirectX 6 and 7 still accept, as states of texture stage 0.

Source: the DirectX 7 documentation of D3DRENDERSTATETYPE, D3DTEXTUREFILTER and D3DTEXTUREBLEND.
D3DRENDERSTATE_TEXTUREMAPBLEND lasts until an operation or argument of stage 0 is set.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from dp2emu.d3d.enums import TextureArgument, TextureOp
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.legacy import (
    MinFilter7,
    MipFilter7,
    RenderState7,
    TextureBlend7,
    TextureFilter7,
    TextureStageState7,
)
from dp2emu.dp2.states.raw_state import TEXTURE_BIND
from dp2emu.errors import Fault
from dp2emu.shader.fixed.pixel import CURRENT, Argument, Combination, TextureStage
from dp2emu.shader.ir import TextureKind

StageStates = tuple[tuple[int, int], ...]
"""Pairs of a texture stage state of stage 0 and its new value."""

_MIN = {
    TextureFilter7.NEAREST: (MinFilter7.POINT, MipFilter7.NONE),
    TextureFilter7.LINEAR: (MinFilter7.LINEAR, MipFilter7.NONE),
    TextureFilter7.MIPNEAREST: (MinFilter7.POINT, MipFilter7.POINT),
    TextureFilter7.MIPLINEAR: (MinFilter7.LINEAR, MipFilter7.POINT),
    TextureFilter7.LINEARMIPNEAREST: (MinFilter7.POINT, MipFilter7.LINEAR),
    TextureFilter7.LINEARMIPLINEAR: (MinFilter7.LINEAR, MipFilter7.LINEAR),
}
"""D3DTEXTUREFILTER -> (minification filter, mip filter) of DirectX 6 and 7 stage states."""


def _same(state: int) -> Callable[[int], StageStates]:
    return lambda value: ((state, value),)


def _mag(value: int) -> StageStates:
    """The stage state that a value of D3DRENDERSTATE_TEXTUREMAG sets: the filter within a mip
    level; an unknown value is passed on unchanged.
    """
    within = {int(filter): _MIN[filter][0] for filter in TextureFilter7}
    return ((TextureStageState7.MAGFILTER, int(within.get(value, value))),)


def _min(value: int) -> StageStates:
    known = {int(filter): pair for filter, pair in _MIN.items()}
    within, between = known.get(value, (value, MipFilter7.NONE))
    return (
        (TextureStageState7.MINFILTER, int(within)),
        (TextureStageState7.MIPFILTER, int(between)),
    )


_STATES: dict[int, Callable[[int], StageStates]] = {
    RenderState7.TEXTUREHANDLE: _same(TEXTURE_BIND),
    RenderState7.TEXTUREADDRESS: _same(TextureStageState7.ADDRESS),
    RenderState7.TEXTUREADDRESSU: _same(TextureStageState7.ADDRESSU),
    RenderState7.TEXTUREADDRESSV: _same(TextureStageState7.ADDRESSV),
    RenderState7.BORDERCOLOR: _same(TextureStageState7.BORDERCOLOR),
    RenderState7.TEXTUREMAG: _mag,
    RenderState7.TEXTUREMIN: _min,
    RenderState7.MIPMAPLODBIAS: _same(TextureStageState7.MIPMAPLODBIAS),
    RenderState7.ANISOTROPY: _same(TextureStageState7.MAXANISOTROPY),
}


def stage_states(state: int, value: int) -> StageStates:
    """The states of stage 0 that a render state sets; empty for most render states."""
    convert = _STATES.get(state)
    return convert(value) if convert else ()


WRAPS = {int(RenderState7.WRAPU): 1, int(RenderState7.WRAPV): 2}
"""D3DRENDERSTATE_WRAPU and WRAPV -> the bit of D3DRENDERSTATE_WRAP0 that each sets."""


def wrapped(state: int, value: int, wrap0: int) -> int:
    """New value of D3DRENDERSTATE_WRAP0, from ``wrap0``, when ``state`` in ``WRAPS`` is set."""
    bit = WRAPS[state]
    return wrap0 | bit if value else wrap0 & ~bit


# Texture map blend

_TEXTURE, _DIFFUSE = Argument(TextureArgument.TEXTURE), Argument(TextureArgument.DIFFUSE)


def _combined(op: TextureOp) -> Combination:
    return Combination(op, (CURRENT, _TEXTURE, _DIFFUSE))


_TEXEL, _VERTEX = _combined(TextureOp.SELECTARG1), _combined(TextureOp.SELECTARG2)
_MODULATED = _combined(TextureOp.MODULATE)


class _Blend(NamedTuple):
    """Operations of a texture map blend: of colour, of alpha, and of alpha if the texture has
    none.

    With ``masked`` texels whose lowest alpha bit is 0 leave the colour unchanged.
    """

    color: Combination
    alpha: Combination
    opaque: Combination
    masked: bool = False


_BLENDS: dict[int, _Blend] = {
    TextureBlend7.DECAL: _Blend(_TEXEL, _TEXEL, _TEXEL),
    TextureBlend7.MODULATE: _Blend(_MODULATED, _TEXEL, _VERTEX),
    TextureBlend7.DECALALPHA: _Blend(_combined(TextureOp.BLENDTEXTUREALPHA), _VERTEX, _VERTEX),
    TextureBlend7.MODULATEALPHA: _Blend(_MODULATED, _MODULATED, _MODULATED),
    TextureBlend7.DECALMASK: _Blend(_TEXEL, _VERTEX, _VERTEX, masked=True),
    TextureBlend7.MODULATEMASK: _Blend(_MODULATED, _VERTEX, _VERTEX, masked=True),
    TextureBlend7.COPY: _Blend(_TEXEL, _TEXEL, _TEXEL),
    TextureBlend7.ADD: _Blend(_combined(TextureOp.ADD), _VERTEX, _VERTEX),
}
"""D3DTEXTUREBLEND value -> the colour and alpha operations of its documented formula."""


def blended_stage(
    mode: int, texture: TextureKind | None, projection: int | None, alpha: int
) -> TextureStage | None:
    """The one texture stage that D3DRENDERSTATE_TEXTUREMAPBLEND ``mode`` means; None without
    texture.

    ``alpha`` is the largest alpha value of the texture, 0 without an alpha channel.  Raises Fault
    for an unknown mode.
    """
    if texture is None:
        return None
    row = _BLENDS.get(mode)
    if row is None:
        what = f"{RenderState7.TEXTUREMAPBLEND.sdk} is {mode}"
        raise Fault(HResult.D3DERR_DRIVERINVALIDCALL, what)
    return TextureStage(
        row.color,
        row.alpha if alpha else row.opaque,
        texture=texture,
        projection=projection,
        mask=alpha if row.masked else 0,
    )

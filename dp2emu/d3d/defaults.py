"""Device defaults that are not zero (documentation of the states in Direct3D 9 and 6)."""

from __future__ import annotations

import struct

from dp2emu.d3d.enums import (
    Blend,
    BlendOp,
    CmpFunc,
    Cull,
    Degree,
    FillMode,
    MaterialColorSource,
    RenderState,
    SamplerState,
    ShadeMode,
    StencilOp,
    TextureAddress,
    TextureArgument,
    TextureFilter,
    TextureOp,
    TextureStageState,
)
from dp2emu.d3d.legacy import RenderState7

_ONE = int.from_bytes(struct.pack("<f", 1.0), "little")
_SIXTY_FOUR = int.from_bytes(struct.pack("<f", 64.0), "little")
_ALL = 0xFFFFFFFF
_CHANNELS = 0xF

RENDER_STATES: dict[RenderState, int] = {
    RenderState.FILLMODE: FillMode.SOLID,
    RenderState.SHADEMODE: ShadeMode.GOURAUD,
    RenderState.ZWRITEENABLE: 1,
    RenderState.LASTPIXEL: 1,
    RenderState.SRCBLEND: Blend.ONE,
    RenderState.DESTBLEND: Blend.ZERO,
    RenderState.CULLMODE: Cull.CCW,
    RenderState.ZFUNC: CmpFunc.LESSEQUAL,
    RenderState.ALPHAFUNC: CmpFunc.ALWAYS,
    RenderState.FOGEND: _ONE,
    RenderState.FOGDENSITY: _ONE,
    RenderState.STENCILFAIL: StencilOp.KEEP,
    RenderState.STENCILZFAIL: StencilOp.KEEP,
    RenderState.STENCILPASS: StencilOp.KEEP,
    RenderState.STENCILFUNC: CmpFunc.ALWAYS,
    RenderState.STENCILMASK: _ALL,
    RenderState.STENCILWRITEMASK: _ALL,
    RenderState.TEXTUREFACTOR: _ALL,
    RenderState.CLIPPING: 1,
    RenderState.LIGHTING: 1,
    RenderState.COLORVERTEX: 1,
    RenderState.LOCALVIEWER: 1,
    RenderState.DIFFUSEMATERIALSOURCE: MaterialColorSource.COLOR1,
    RenderState.SPECULARMATERIALSOURCE: MaterialColorSource.COLOR2,
    RenderState.POINTSIZE: _ONE,
    RenderState.POINTSIZE_MIN: _ONE,
    RenderState.POINTSCALE_A: _ONE,
    RenderState.MULTISAMPLEANTIALIAS: 1,
    RenderState.MULTISAMPLEMASK: _ALL,
    RenderState.POINTSIZE_MAX: _SIXTY_FOUR,
    RenderState.COLORWRITEENABLE: _CHANNELS,
    RenderState.BLENDOP: BlendOp.ADD,
    RenderState.POSITIONDEGREE: Degree.CUBIC,
    RenderState.NORMALDEGREE: Degree.LINEAR,
    RenderState.MINTESSELLATIONLEVEL: _ONE,
    RenderState.MAXTESSELLATIONLEVEL: _ONE,
    RenderState.ADAPTIVETESS_Z: _ONE,
    RenderState.CCW_STENCILFAIL: StencilOp.KEEP,
    RenderState.CCW_STENCILZFAIL: StencilOp.KEEP,
    RenderState.CCW_STENCILPASS: StencilOp.KEEP,
    RenderState.CCW_STENCILFUNC: CmpFunc.ALWAYS,
    RenderState.COLORWRITEENABLE1: _CHANNELS,
    RenderState.COLORWRITEENABLE2: _CHANNELS,
    RenderState.COLORWRITEENABLE3: _CHANNELS,
    RenderState.BLENDFACTOR: _ALL,
    RenderState.SRCBLENDALPHA: Blend.ONE,
    RenderState.DESTBLENDALPHA: Blend.ZERO,
    RenderState.BLENDOPALPHA: BlendOp.ADD,
}
"""ZENABLE is missing: it is D3DZB_TRUE if the device was made with a depth buffer."""

EARLY_RENDER_STATES: dict[RenderState7, int] = {
    RenderState7.TEXTUREPERSPECTIVE: 1,
    RenderState7.ROP2: 13,
    RenderState7.PLANEMASK: _ALL,
}
"""Of DirectX 6 and 7 only; the raster operation is R2_COPYPEN."""

SAMPLER_STATES: dict[SamplerState, int] = {
    SamplerState.ADDRESSU: TextureAddress.WRAP,
    SamplerState.ADDRESSV: TextureAddress.WRAP,
    SamplerState.ADDRESSW: TextureAddress.WRAP,
    SamplerState.MAGFILTER: TextureFilter.POINT,
    SamplerState.MINFILTER: TextureFilter.POINT,
    SamplerState.MAXANISOTROPY: 1,
}


def stage_state(stage: int, state: TextureStageState) -> int:
    """The default of a texture stage state: only stage 0 does something."""
    first = stage == 0
    return {
        TextureStageState.COLOROP: int(TextureOp.MODULATE if first else TextureOp.DISABLE),
        TextureStageState.ALPHAOP: int(TextureOp.SELECTARG1 if first else TextureOp.DISABLE),
        TextureStageState.COLORARG1: int(TextureArgument.TEXTURE),
        TextureStageState.ALPHAARG1: int(TextureArgument.TEXTURE),
        TextureStageState.COLORARG2: int(TextureArgument.CURRENT),
        TextureStageState.ALPHAARG2: int(TextureArgument.CURRENT),
        TextureStageState.COLORARG0: int(TextureArgument.CURRENT),
        TextureStageState.ALPHAARG0: int(TextureArgument.CURRENT),
        TextureStageState.RESULTARG: int(TextureArgument.CURRENT),
        TextureStageState.TEXCOORDINDEX: stage,
    }.get(state, 0)

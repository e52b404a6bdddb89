"""Default values of device states, and the states in each predefined type of state block.

Sources: documentation of the states in Direct3D 9 and 6; the Direct3D 9 documentation on saving
pixel, vertex and all device states.  Its lists contradict each other on lighting states, and omit
a few; states of lighting, fog and vertex assembly are vertex state here, as public tests of the
runtime found.
"""

from __future__ import annotations

import struct

from dp2emu.d3d import enums
from dp2emu.d3d.enums import RenderState, SamplerState, TextureStageState
from dp2emu.d3d.legacy import RenderState7, RenderState8, TextureStageState8
from dp2emu.d3d.sdk import SdkEnum

_ONE, _SIXTY_FOUR = struct.unpack("<2I", struct.pack("<2f", 1.0, 64.0))
_ALL = 0xFFFFFFFF

_RENDER_DEFAULTS: tuple[tuple[int, str], ...] = (
    (
        1,
        """ZWRITEENABLE LASTPIXEL CLIPPING LIGHTING COLORVERTEX LOCALVIEWER
        MULTISAMPLEANTIALIAS""",
    ),
    (
        _ONE,
        """FOGEND FOGDENSITY POINTSIZE POINTSIZE_MIN POINTSCALE_A MINTESSELLATIONLEVEL
        MAXTESSELLATIONLEVEL ADAPTIVETESS_Z""",
    ),
    (_SIXTY_FOUR, "POINTSIZE_MAX"),
    (_ALL, "STENCILMASK STENCILWRITEMASK TEXTUREFACTOR MULTISAMPLEMASK BLENDFACTOR"),
    (0xF, "COLORWRITEENABLE COLORWRITEENABLE1 COLORWRITEENABLE2 COLORWRITEENABLE3"),
    (
        enums.StencilOp.KEEP,
        """STENCILFAIL STENCILZFAIL STENCILPASS CCW_STENCILFAIL CCW_STENCILZFAIL
        CCW_STENCILPASS""",
    ),
    (enums.CmpFunc.ALWAYS, "ALPHAFUNC STENCILFUNC CCW_STENCILFUNC"),
    (enums.CmpFunc.LESSEQUAL, "ZFUNC"),
    (enums.FillMode.SOLID, "FILLMODE"),
    (enums.ShadeMode.GOURAUD, "SHADEMODE"),
    (enums.Cull.CCW, "CULLMODE"),
    (enums.Blend.ONE, "SRCBLEND SRCBLENDALPHA"),
    (enums.Blend.ZERO, "DESTBLEND DESTBLENDALPHA"),
    (enums.BlendOp.ADD, "BLENDOP BLENDOPALPHA"),
    (enums.MaterialColorSource.COLOR1, "DIFFUSEMATERIALSOURCE"),
    (enums.MaterialColorSource.COLOR2, "SPECULARMATERIALSOURCE"),
    (enums.Degree.CUBIC, "POSITIONDEGREE"),
    (enums.Degree.LINEAR, "NORMALDEGREE"),
)

DEFAULT_RENDER_STATES: dict[RenderState, int] = {
    RenderState[name]: value for value, names in _RENDER_DEFAULTS for name in names.split()
}
"""Render state -> default value, for defaults other than 0.  ZENABLE is missing: it is D3DZB_TRUE
if the device was made with a depth buffer."""

DEFAULT_EARLY_RENDER_STATES: dict[RenderState7, int] = {
    RenderState7.TEXTUREPERSPECTIVE: 1,
    RenderState7.ROP2: 13,
    RenderState7.PLANEMASK: _ALL,
}
"""Render state of DirectX 6 and 7 only -> default value, if not 0; ROP2 is R2_COPYPEN."""

DEFAULT_SAMPLER_STATES: dict[SamplerState, int] = {
    SamplerState.ADDRESSU: enums.TextureAddress.WRAP,
    SamplerState.ADDRESSV: enums.TextureAddress.WRAP,
    SamplerState.ADDRESSW: enums.TextureAddress.WRAP,
    SamplerState.MAGFILTER: enums.TextureFilter.POINT,
    SamplerState.MINFILTER: enums.TextureFilter.POINT,
    SamplerState.MAXANISOTROPY: 1,
}

_CURRENT_ARGUMENTS = (
    TextureStageState.COLORARG2, TextureStageState.ALPHAARG2, TextureStageState.COLORARG0,
    TextureStageState.ALPHAARG0, TextureStageState.RESULTARG,
)  # fmt: skip


def default_stage_state(stage: int, state: TextureStageState) -> int:
    """The default of a texture stage state; the operations of all stages but 0 are DISABLE."""
    first, ops = stage == 0, enums.TextureOp
    return {
        TextureStageState.COLOROP: int(ops.MODULATE if first else ops.DISABLE),
        TextureStageState.ALPHAOP: int(ops.SELECTARG1 if first else ops.DISABLE),
        TextureStageState.COLORARG1: int(enums.TextureArgument.TEXTURE),
        TextureStageState.ALPHAARG1: int(enums.TextureArgument.TEXTURE),
        **dict.fromkeys(_CURRENT_ARGUMENTS, int(enums.TextureArgument.CURRENT)),
        TextureStageState.TEXCOORDINDEX: stage,
    }.get(state, 0)


# Predefined state blocks

SRGBTEXTURE, ELEMENTINDEX, DMAPOFFSET = 29, 30, 31
"""Wire numbers of the sampler states that DirectX 8 did not have (wire format, "Texture stages
and samplers")."""


def _numbers(enum: type[SdkEnum], names: str) -> frozenset[int]:
    return frozenset(int(enum[name]) for name in names.split())


_BOTH = _numbers(RenderState, "SHADEMODE FOGSTART FOGEND FOGDENSITY")

PIXEL_RENDER_STATES = _BOTH | _numbers(
    RenderState,
    """
    ZENABLE FILLMODE ZWRITEENABLE ALPHATESTENABLE LASTPIXEL SRCBLEND DESTBLEND ZFUNC ALPHAREF
    ALPHAFUNC DITHERENABLE ALPHABLENDENABLE DEPTHBIAS SLOPESCALEDEPTHBIAS STENCILENABLE
    STENCILFAIL STENCILZFAIL STENCILPASS STENCILFUNC STENCILREF STENCILMASK STENCILWRITEMASK
    TWOSIDEDSTENCILMODE CCW_STENCILFAIL CCW_STENCILZFAIL CCW_STENCILPASS CCW_STENCILFUNC
    TEXTUREFACTOR WRAP0 WRAP1 WRAP2 WRAP3 WRAP4 WRAP5 WRAP6 WRAP7 WRAP8 WRAP9 WRAP10 WRAP11
    WRAP12 WRAP13 WRAP14 WRAP15 COLORWRITEENABLE COLORWRITEENABLE1 COLORWRITEENABLE2
    COLORWRITEENABLE3 BLENDOP BLENDFACTOR SCISSORTESTENABLE ANTIALIASEDLINEENABLE
    SRGBWRITEENABLE SEPARATEALPHABLENDENABLE SRCBLENDALPHA DESTBLENDALPHA BLENDOPALPHA
    """,
) | _numbers(RenderState7, "LINEPATTERN ZVISIBLE EDGEANTIALIAS ZBIAS")  # fmt: skip
"""Render states in a PIXELSTATE block, DirectX 8 states included."""

VERTEX_RENDER_STATES = _BOTH | _numbers(
    RenderState,
    """
    CULLMODE FOGENABLE SPECULARENABLE FOGCOLOR FOGTABLEMODE RANGEFOGENABLE CLIPPING LIGHTING
    AMBIENT FOGVERTEXMODE COLORVERTEX LOCALVIEWER NORMALIZENORMALS DIFFUSEMATERIALSOURCE
    SPECULARMATERIALSOURCE AMBIENTMATERIALSOURCE EMISSIVEMATERIALSOURCE VERTEXBLEND
    CLIPPLANEENABLE POINTSIZE POINTSIZE_MIN POINTSIZE_MAX POINTSPRITEENABLE POINTSCALEENABLE
    POINTSCALE_A POINTSCALE_B POINTSCALE_C MULTISAMPLEANTIALIAS MULTISAMPLEMASK PATCHEDGESTYLE
    INDEXEDVERTEXBLENDENABLE TWEENFACTOR POSITIONDEGREE NORMALDEGREE MINTESSELLATIONLEVEL
    MAXTESSELLATIONLEVEL ADAPTIVETESS_X ADAPTIVETESS_Y ADAPTIVETESS_Z ADAPTIVETESS_W
    ENABLEADAPTIVETESSELLATION
    """,
) | _numbers(RenderState8, "SOFTWAREVERTEXPROCESSING PATCHSEGMENTS")  # fmt: skip
"""Render states in a VERTEXSTATE block, DirectX 8 states included."""

VERTEX_STAGE_STATES = _numbers(TextureStageState, "TEXCOORDINDEX TEXTURETRANSFORMFLAGS")
"""Texture stage states in a VERTEXSTATE block; a PIXELSTATE block has them too."""


VERTEX_SAMPLER_STATES = frozenset({DMAPOFFSET})


PIXEL_STAGE_STATES = frozenset(map(int, TextureStageState))


PIXEL_SAMPLER_STATES = _numbers(
    TextureStageState8,
    """
    ADDRESSU ADDRESSV ADDRESSW BORDERCOLOR MAGFILTER MINFILTER MIPFILTER MIPMAPLODBIAS
    MAXMIPLEVEL MAXANISOTROPY
    """,
) | {SRGBTEXTURE, ELEMENTINDEX}  # fmt: skip

"""D3DCAPS9 of the emulated board, word by word.

Words with a bit for each member of an enumeration are derived from it; flags and their values are
those of d3d9caps.h.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from dp2emu.d3d.caps import D3DCAPS9
from dp2emu.d3d.enums import CmpFunc, StencilOp, TextureFilter, TextureOp
from dp2emu.dp2.states.raw_state import LIGHTS, STREAMS, TARGETS
from dp2emu.gpu.tessellation.patch_domains import MAX_SEGMENTS
from dp2emu.limits import Limits
from dp2emu.shader.texture.records import MAX_ANISOTROPY

MAX_PRIMITIVES = 0xFFFFF
"""D3DCAPS9.MaxPrimitiveCount of this device; a draw of more is refused."""
MAX_STRIDE = 0xFFFF

Flags = dict[str, int]

_CAPS2: Flags = {
    "CANMANAGERESOURCE": 0x10000000, "DYNAMICTEXTURES": 0x20000000, "CANAUTOGENMIPMAP": 0x40000000,
}  # fmt: skip
_CAPS3: Flags = {"COPY_TO_VIDMEM": 0x100, "COPY_TO_SYSTEMMEM": 0x200}
_DEV: Flags = {
    "EXECUTESYSTEMMEMORY": 0x10, "TLVERTEXSYSTEMMEMORY": 0x40, "TEXTUREVIDEOMEMORY": 0x200,
    "DRAWPRIMTLVERTEX": 0x400, "DRAWPRIMITIVES2": 0x2000, "DRAWPRIMITIVES2EX": 0x8000,
    "HWTRANSFORMANDLIGHT": 0x10000, "HWRASTERIZATION": 0x80000, "QUINTICRTPATCHES": 0x200000,
    "RTPATCHES": 0x400000, "RTPATCHHANDLEZERO": 0x800000, "NPATCHES": 0x1000000,
}  # fmt: skip
_PRIMITIVE: Flags = {
    "MASKZ": 0x2, "CULLNONE": 0x10, "CULLCW": 0x20, "CULLCCW": 0x40, "COLORWRITEENABLE": 0x80,
    "CLIPTLVERTS": 0x200, "TSSARGTEMP": 0x400, "BLENDOP": 0x800,
    "INDEPENDENTWRITEMASKS": 0x4000, "PERSTAGECONSTANT": 0x8000, "SEPARATEALPHABLEND": 0x20000,
    "MRTINDEPENDENTBITDEPTHS": 0x40000, "MRTPOSTPIXELSHADERBLENDING": 0x80000,
    "FOGVERTEXCLAMPED": 0x100000,
}  # fmt: skip
_RASTER: Flags = {
    "DITHER": 0x1, "ZTEST": 0x10, "FOGVERTEX": 0x80, "FOGTABLE": 0x100, "MIPMAPLODBIAS": 0x2000,
    "FOGRANGE": 0x10000, "ANISOTROPY": 0x20000, "WBUFFER": 0x40000, "WFOG": 0x100000,
    "ZFOG": 0x200000, "COLORPERSPECTIVE": 0x400000, "SCISSORTEST": 0x1000000,
    "SLOPESCALEDEPTHBIAS": 0x2000000, "DEPTHBIAS": 0x4000000, "MULTISAMPLE_TOGGLE": 0x8000000,
}  # fmt: skip
_SHADE: Flags = {
    "COLORGOURAUDRGB": 0x8, "SPECULARGOURAUDRGB": 0x200, "ALPHAGOURAUDBLEND": 0x4000,
    "FOGGOURAUD": 0x80000,
}  # fmt: skip
_TEXTURE: Flags = {
    "PERSPECTIVE": 0x1, "ALPHA": 0x4, "ALPHAPALETTE": 0x80, "PROJECTED": 0x400, "CUBEMAP": 0x800,
    "VOLUMEMAP": 0x2000, "MIPMAP": 0x4000, "MIPVOLUMEMAP": 0x8000, "MIPCUBEMAP": 0x10000,
}  # fmt: skip
_ADDRESS: Flags = {
    "WRAP": 0x1, "MIRROR": 0x2, "CLAMP": 0x4, "BORDER": 0x8, "INDEPENDENTUV": 0x10,
    "MIRRORONCE": 0x20,
}  # fmt: skip
_LINE: Flags = {
    "TEXTURE": 0x1, "ZTEST": 0x2, "BLEND": 0x4, "ALPHACMP": 0x8, "FOG": 0x10, "ANTIALIAS": 0x20,
}  # fmt: skip
_VERTEX: Flags = {
    "TEXGEN": 0x1, "MATERIALSOURCE7": 0x2, "DIRECTIONALLIGHTS": 0x8, "POSITIONALLIGHTS": 0x10,
    "LOCALVIEWER": 0x20, "TWEENING": 0x40, "TEXGEN_SPHEREMAP": 0x100,
}  # fmt: skip
_DEV2: Flags = {
    "STREAMOFFSET": 0x1, "ADAPTIVETESSRTPATCH": 0x4, "ADAPTIVETESSNPATCH": 0x8,
    "CAN_STRETCHRECT_FROM_TEXTURES": 0x10,
    "VERTEXELEMENTSCANSHARESTREAMOFFSET": 0x40,
}  # fmt: skip
_PS20: Flags = {
    "ARBITRARYSWIZZLE": 0x1, "GRADIENTINSTRUCTIONS": 0x2, "PREDICATION": 0x4,
    "NODEPENDENTREADLIMIT": 0x8, "NOTEXINSTRUCTIONLIMIT": 0x10,
}  # fmt: skip

_PREDICATION = 0x1
_DECL_TYPES = 0x3FF
"""Value of D3DCAPS9.DeclTypes: all bits from D3DDTCAPS_UBYTE4 to D3DDTCAPS_FLOAT16_4."""
_BLENDS = 0xFFFF
"""Value of SrcBlendCaps and DestBlendCaps: all bits from D3DPBLENDCAPS_ZERO to
D3DPBLENDCAPS_INVSRCCOLOR2."""
_TWO_SIDED = 0x100
_TEXCOORDS_AND_POINT_SIZE = 8 | 0x100000
_IN_LEVEL = (
    TextureFilter.POINT, TextureFilter.LINEAR, TextureFilter.ANISOTROPIC,
    TextureFilter.PYRAMIDALQUAD, TextureFilter.GAUSSIANQUAD,
)  # fmt: skip
"""Minification and magnification filters, in the order of their bits in D3DPTFILTERCAPS."""
_POINT_AND_LINEAR = _IN_LEVEL[:2]


def _all(flags: Flags) -> int:
    return sum(flags.values())


def _bits(enum: Iterable[int]) -> int:
    """A mask with bit n - 1 for each member n."""
    return sum(1 << int(member) - 1 for member in enum)


def _filters(inside: Sequence[TextureFilter], between: Sequence[TextureFilter]) -> int:
    each = sum(1 << _IN_LEVEL.index(filter) for filter in inside)
    return each << 8 | each << 24 | _bits(between) << 16


_EXTENT = Limits().extent
_SAMPLED = _filters(_IN_LEVEL, _POINT_AND_LINEAR)
_CONVOLUTION = 0x40000
"""Value of the capability bit D3DPTFILTERCAPS_CONVOLUTIONMONO."""
_VERTEX_SAMPLED = _filters(_POINT_AND_LINEAR, _POINT_AND_LINEAR)
_STRETCHED = _filters(_POINT_AND_LINEAR, ())
_FLOW = {"DynamicFlowControlDepth": 24, "NumTemps": 32, "StaticFlowControlDepth": 4}
_STAGES = 8
_SLOTS = 32768

CAPABILITIES: dict[str, Any] = {
    "DeviceType": 1, "Caps2": _all(_CAPS2), "Caps3": _all(_CAPS3), "DevCaps": _all(_DEV),
    "PrimitiveMiscCaps": _all(_PRIMITIVE), "RasterCaps": _all(_RASTER),
    "ZCmpCaps": _bits(CmpFunc), "AlphaCmpCaps": _bits(CmpFunc),
    "SrcBlendCaps": _BLENDS, "DestBlendCaps": _BLENDS, "ShadeCaps": _all(_SHADE),
    "TextureCaps": _all(_TEXTURE), "TextureFilterCaps": _SAMPLED | _CONVOLUTION,
    "CubeTextureFilterCaps": _SAMPLED, "VolumeTextureFilterCaps": _SAMPLED,
    "TextureAddressCaps": _all(_ADDRESS), "VolumeTextureAddressCaps": _all(_ADDRESS),
    "LineCaps": _all(_LINE), "MaxTextureWidth": _EXTENT, "MaxTextureHeight": _EXTENT,
    "MaxVolumeExtent": _EXTENT, "MaxTextureRepeat": _EXTENT, "MaxTextureAspectRatio": _EXTENT,
    "MaxAnisotropy": MAX_ANISOTROPY, "MaxVertexW": 1e10,
    "GuardBandLeft": -1e8, "GuardBandTop": -1e8, "GuardBandRight": 1e8, "GuardBandBottom": 1e8,
    "StencilCaps": _bits(StencilOp) | _TWO_SIDED, "FVFCaps": _TEXCOORDS_AND_POINT_SIZE,
    "TextureOpCaps": _bits(TextureOp), "MaxTextureBlendStages": _STAGES,
    "MaxSimultaneousTextures": _STAGES, "VertexProcessingCaps": _all(_VERTEX),
    "MaxActiveLights": LIGHTS, "MaxUserClipPlanes": 6, "MaxVertexBlendMatrices": 4,
    "MaxVertexBlendMatrixIndex": 255, "MaxPointSize": 64.0,
    "MaxPrimitiveCount": MAX_PRIMITIVES, "MaxVertexIndex": 0xFFFFFF, "MaxStreams": STREAMS,
    "MaxStreamStride": MAX_STRIDE, "VertexShaderVersion": 0xFFFE0300,
    "MaxVertexShaderConst": 256, "PixelShaderVersion": 0xFFFF0300,
    "PixelShader1xMaxValue": 3.4028234663852886e38, "DevCaps2": _all(_DEV2),
    "MaxNpatchTessellationLevel": float(MAX_SEGMENTS), "NumberOfAdaptersInGroup": 1,
    "DeclTypes": _DECL_TYPES, "NumSimultaneousRTs": TARGETS,
    "StretchRectFilterCaps": _STRETCHED, "VS20Caps": {"Caps": _PREDICATION, **_FLOW},
    "PS20Caps": {"Caps": _all(_PS20), **_FLOW, "NumInstructionSlots": 512},
    "VertexTextureFilterCaps": _VERTEX_SAMPLED, "MaxVShaderInstructionsExecuted": 0xFFFFFFFF,
    "MaxPShaderInstructionsExecuted": 0xFFFFFFFF,
    "MaxVertexShader30InstructionSlots": _SLOTS, "MaxPixelShader30InstructionSlots": _SLOTS,
}  # fmt: skip
"""Name of a member of D3DCAPS9 -> its value on this device; missing members are 0."""


def capabilities() -> dict[str, Any]:
    """All members of D3DCAPS9 in order; structures in it are dictionaries."""
    return {field.name: CAPABILITIES.get(field.name, 0) for field in D3DCAPS9.subcons}

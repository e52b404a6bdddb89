"""D3DCAPS9 of the emulated board, word by word.

Words with a bit for each member of an enumeration are derived from it; ``capflags`` has the flags.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from dp2emu.d3d.capabilities import Capabilities, flattened
from dp2emu.d3d.capflags import (
    AddressCaps,
    BlendCaps,
    DeclTypeCaps,
    DevCaps,
    DevCaps2,
    DeviceCaps2,
    DeviceCaps3,
    FilterCaps,
    FormatOp,
    FvfCaps,
    LineCaps,
    MiscCaps,
    PixelShader20Caps,
    RasterCaps,
    ShadeCaps,
    StencilCaps,
    TextureCaps,
    VertexProcessingCaps,
    VertexShader20Caps,
)
from dp2emu.d3d.caps import D3DCAPS8, D3DCAPS9
from dp2emu.d3d.enums import CmpFunc, Format, StencilOp, TextureFilter, TextureOp
from dp2emu.d3d.formats import FORMATS, FormatRow, Use
from dp2emu.d3d.sdk import SdkFlag
from dp2emu.dp2.states.raw_state import LIGHTS, STREAMS, TARGETS
from dp2emu.gpu.resource.srgb import takes_codes
from dp2emu.gpu.tessellation.patch_domains import MAX_SEGMENTS
from dp2emu.limits import Limits
from dp2emu.shader.texture.fields import decodes_codes
from dp2emu.shader.texture.records import MAX_ANISOTROPY

MAX_PRIMITIVES = 0xFFFFF
"""D3DCAPS9.MaxPrimitiveCount of this device; a draw of more is refused."""
MAX_STRIDE = 0xFFFF

_CAPS2 = DeviceCaps2.CANMANAGERESOURCE | DeviceCaps2.DYNAMICTEXTURES | DeviceCaps2.CANAUTOGENMIPMAP
_CAPS3 = DeviceCaps3.COPY_TO_VIDMEM | DeviceCaps3.COPY_TO_SYSTEMMEM


def _named(flags: Iterable[SdkFlag], names: str) -> int:
    """The flags of an enumeration with the names in ``names``."""
    wanted = names.split()
    return sum(int(flag) for flag in flags if flag.name in wanted)


def _except(flags: Iterable[SdkFlag], names: str) -> int:
    """All flags of an enumeration but those with the names in ``names``."""
    return sum(int(flag) for flag in flags) & ~_named(flags, names)


_DEV = _named(
    DevCaps,
    """EXECUTESYSTEMMEMORY TLVERTEXSYSTEMMEMORY TEXTUREVIDEOMEMORY DRAWPRIMTLVERTEX DRAWPRIMITIVES2
    DRAWPRIMITIVES2EX HWTRANSFORMANDLIGHT HWRASTERIZATION QUINTICRTPATCHES RTPATCHES
    RTPATCHHANDLEZERO NPATCHES""",
)
_PRIMITIVE = _except(
    MiscCaps,
    """MASKPLANES LINEPATTERNREP CONFORMANT CLIPPLANESCALEDPOINTS NULLREFERENCE FOGINFVF
    FOGANDSPECULARALPHA""",
)
_RASTER = _named(
    RasterCaps,
    """DITHER ZTEST FOGVERTEX FOGTABLE MIPMAPLODBIAS FOGRANGE ANISOTROPY WBUFFER WFOG ZFOG
    COLORPERSPECTIVE SCISSORTEST SLOPESCALEDEPTHBIAS DEPTHBIAS MULTISAMPLE_TOGGLE""",
)
_SHADE = _named(ShadeCaps, "COLORGOURAUDRGB SPECULARGOURAUDRGB ALPHAGOURAUDBLEND FOGGOURAUD")
_TEXTURE = _named(
    TextureCaps,
    """PERSPECTIVE ALPHA ALPHAPALETTE PROJECTED CUBEMAP VOLUMEMAP MIPMAP MIPVOLUMEMAP
    MIPCUBEMAP""",
)
_ADDRESS = _named(AddressCaps, "WRAP MIRROR CLAMP BORDER INDEPENDENTUV MIRRORONCE")
_LINE = _except(LineCaps, "")
_VERTEX = _except(VertexProcessingCaps, "NO_VSDT_UBYTE4 NO_TEXGEN_NONLOCALVIEWER")
_DEV2 = _except(DevCaps2, "DMAPNPATCH PRESAMPLEDDMAPNPATCH")
_PS20 = _except(PixelShader20Caps, "")

_DECL_TYPES = _except(DeclTypeCaps, "")
_BLENDS = _except(BlendCaps, "")
_TARGET_BLENDS = _except(BlendCaps, "BOTHSRCALPHA BOTHINVSRCALPHA")
_TEXCOORDS_AND_POINT_SIZE = 8 | FvfCaps.PSIZE
_IN_LEVEL = (
    TextureFilter.POINT, TextureFilter.LINEAR, TextureFilter.ANISOTROPIC,
    TextureFilter.PYRAMIDALQUAD, TextureFilter.GAUSSIANQUAD,
)  # fmt: skip
"""Minification and magnification filters, in the order of their bits in D3DPTFILTERCAPS."""
_POINT_AND_LINEAR = _IN_LEVEL[:2]


def _bits(enum: Iterable[int]) -> int:
    """A mask with bit n - 1 for each member n."""
    return sum(1 << int(member) - 1 for member in enum)


def _filters(inside: Sequence[TextureFilter], between: Sequence[TextureFilter]) -> int:
    each = sum(1 << _IN_LEVEL.index(filter) for filter in inside)
    return each << 8 | each << 24 | _bits(between) << 16


_EXTENT = Limits().extent
_SAMPLED = _filters(_IN_LEVEL, _POINT_AND_LINEAR)
_VERTEX_SAMPLED = _filters(_POINT_AND_LINEAR, _POINT_AND_LINEAR)
_STRETCHED = _filters(_POINT_AND_LINEAR, ())
_FLOW = {"DynamicFlowControlDepth": 24, "NumTemps": 32, "StaticFlowControlDepth": 4}
_STAGES = 8
_SLOTS = 32768

CAPABILITIES: dict[str, Any] = {
    "DeviceType": 1, "Caps2": int(_CAPS2), "Caps3": int(_CAPS3), "DevCaps": _DEV,
    "PrimitiveMiscCaps": _PRIMITIVE, "RasterCaps": _RASTER,
    "ZCmpCaps": _bits(CmpFunc), "AlphaCmpCaps": _bits(CmpFunc),
    "SrcBlendCaps": _BLENDS, "DestBlendCaps": _TARGET_BLENDS, "ShadeCaps": _SHADE,
    "TextureCaps": _TEXTURE, "TextureFilterCaps": _SAMPLED | FilterCaps.CONVOLUTIONMONO,
    "CubeTextureFilterCaps": _SAMPLED, "VolumeTextureFilterCaps": _SAMPLED,
    "TextureAddressCaps": _ADDRESS, "VolumeTextureAddressCaps": _ADDRESS,
    "LineCaps": _LINE, "MaxTextureWidth": _EXTENT, "MaxTextureHeight": _EXTENT,
    "MaxVolumeExtent": _EXTENT, "MaxTextureRepeat": _EXTENT, "MaxTextureAspectRatio": _EXTENT,
    "MaxAnisotropy": MAX_ANISOTROPY, "MaxVertexW": 1e10,
    "GuardBandLeft": -1e8, "GuardBandTop": -1e8, "GuardBandRight": 1e8, "GuardBandBottom": 1e8,
    "StencilCaps": _bits(StencilOp) | StencilCaps.TWOSIDED, "FVFCaps": _TEXCOORDS_AND_POINT_SIZE,
    "TextureOpCaps": _bits(TextureOp), "MaxTextureBlendStages": _STAGES,
    "MaxSimultaneousTextures": _STAGES, "VertexProcessingCaps": _VERTEX,
    "MaxActiveLights": LIGHTS, "MaxUserClipPlanes": 6, "MaxVertexBlendMatrices": 4,
    "MaxVertexBlendMatrixIndex": 255, "MaxPointSize": 64.0,
    "MaxPrimitiveCount": MAX_PRIMITIVES, "MaxVertexIndex": 0xFFFFFF, "MaxStreams": STREAMS,
    "MaxStreamStride": MAX_STRIDE, "VertexShaderVersion": 0xFFFE0300,
    "MaxVertexShaderConst": 256, "PixelShaderVersion": 0xFFFF0300,
    "PixelShader1xMaxValue": 3.4028234663852886e38, "DevCaps2": _DEV2,
    "MaxNpatchTessellationLevel": float(MAX_SEGMENTS), "NumberOfAdaptersInGroup": 1,
    "DeclTypes": _DECL_TYPES, "NumSimultaneousRTs": TARGETS,
    "StretchRectFilterCaps": _STRETCHED,
    "VS20Caps": {"Caps": VertexShader20Caps.PREDICATION, **_FLOW},
    "PS20Caps": {"Caps": _PS20, **_FLOW, "NumInstructionSlots": 512},
    "VertexTextureFilterCaps": _VERTEX_SAMPLED, "MaxVShaderInstructionsExecuted": 0xFFFFFFFF,
    "MaxPShaderInstructionsExecuted": 0xFFFFFFFF,
    "MaxVertexShader30InstructionSlots": _SLOTS, "MaxPixelShader30InstructionSlots": _SLOTS,
}  # fmt: skip
"""Name of a member of D3DCAPS9 -> its value on this device; missing members are 0."""


def capabilities() -> dict[str, Any]:
    """All members of D3DCAPS9 in order; structures in it are dictionaries."""
    return {field.name: CAPABILITIES.get(field.name, 0) for field in D3DCAPS9.subcons}


_SHADERS8 = {"VertexShaderVersion": 0xFFFE0101, "PixelShaderVersion": 0xFFFF0104}
"""Members of D3DCAPS8 that differ from D3DCAPS9: the versions of DirectX 8's shaders."""
_FILTERS8 = 0x7FFFFFF & ~(FilterCaps.MINFPYRAMIDALQUAD | FilterCaps.MINFGAUSSIANQUAD)
"""Bits of filters that DirectX 8 has under the same numbers."""


def capabilities8() -> dict[str, Any]:
    """All members of D3DCAPS8 in order, for runtimes of DirectX 8."""
    found = capabilities() | _SHADERS8
    found["MaxPixelShaderValue"] = found["PixelShader1xMaxValue"]
    found |= {
        name: found[name] & _FILTERS8 for name in found if name.endswith("TextureFilterCaps")
    }
    return {field.name: found[field.name] for field in D3DCAPS8.subcons}


_OPERATIONS = {
    Use.TEXTURE: FormatOp.TEXTURE
    | FormatOp.VOLUMETEXTURE
    | FormatOp.CUBETEXTURE
    | FormatOp.VERTEXTEXTURE,
    Use.TARGET: FormatOp.OFFSCREEN_RENDERTARGET | FormatOp.AUTOGENMIPMAP,
    Use.DEPTH: FormatOp.ZSTENCIL | FormatOp.ZSTENCIL_WITH_ARBITRARY_COLOR_DEPTH,
    Use.BUMP: FormatOp.BUMPMAP,
}
"""Use of a format -> the operations that this device announces for it."""


@cache
def _formats() -> tuple[tuple[int, int], ...]:
    return tuple(
        (format, int(_operations(row)))
        for format, row in FORMATS.items()
        if isinstance(format, Format)
    )


def _operations(row: FormatRow) -> FormatOp:
    """The operations of a format: by its uses, and SRGBREAD and SRGBWRITE where reads and writes
    convert colours.
    """
    found = FormatOp(0)
    for use, operations in _OPERATIONS.items():
        found |= operations if use & row.uses else FormatOp(0)
    if Use.TEXTURE in row.uses and decodes_codes(row):
        found |= FormatOp.SRGBREAD
    if Use.TARGET in row.uses and takes_codes(row):
        found |= FormatOp.SRGBWRITE
    return found


def announced(types: tuple[int, ...], ddi: int = 9) -> Capabilities:
    """The capabilities that GetDriverInfo2 tells a runtime of DirectX ``ddi``, 8 or 9, with query
    ``types``.
    """
    if ddi < 9:
        return Capabilities(ddi, flattened(capabilities8()), _formats())
    return Capabilities(9, flattened(capabilities()), _formats(), types)

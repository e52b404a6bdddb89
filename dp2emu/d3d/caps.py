"""Capability structures a driver announces itself with (d3dhal.h, d3dcaps.h, d3d9caps.h)."""

from __future__ import annotations

from typing import Any

from construct import Struct

from dp2emu.d3d.words import DWORD, FLOAT, POINTER, WORD, dwords, pad64

D3DTRANSFORMCAPS = dwords("dwSize", "dwCaps")
D3DLIGHTINGCAPS = dwords("dwSize", "dwCaps", "dwLightingModel", "dwNumLights")
D3DPRIMCAPS = dwords(
    "dwSize", "dwMiscCaps", "dwRasterCaps", "dwZCmpCaps", "dwSrcBlendCaps", "dwDestBlendCaps",
    "dwAlphaCmpCaps", "dwShadeCaps", "dwTextureCaps", "dwTextureFilterCaps",
    "dwTextureBlendCaps", "dwTextureAddressCaps", "dwStippleWidth", "dwStippleHeight",
)  # fmt: skip
D3DDEVICEDESC_V1 = Struct(
    "dwSize" / DWORD,
    "dwFlags" / DWORD,
    "dcmColorModel" / DWORD,
    "dwDevCaps" / DWORD,
    "dtcTransformCaps" / D3DTRANSFORMCAPS,
    "bClipping" / DWORD,
    "dlcLightingCaps" / D3DLIGHTINGCAPS,
    "dpcLineCaps" / D3DPRIMCAPS,
    "dpcTriCaps" / D3DPRIMCAPS,
    "dwDeviceRenderBitDepth" / DWORD,
    "dwDeviceZBufferBitDepth" / DWORD,
    "dwMaxBufferSize" / DWORD,
    "dwMaxVertexCount" / DWORD,
)


def globaldriverdata(abi: int) -> Any:
    """D3DHAL_GLOBALDRIVERDATA: ends in a pointer, so it depends on the host."""
    return Struct(
        "dwSize" / DWORD,
        "hwCaps" / D3DDEVICEDESC_V1,
        "dwNumVertices" / DWORD,
        "dwNumClipVertices" / DWORD,
        "dwNumTextureFormats" / DWORD,
        *pad64(abi),
        "lpTextureFormats" / POINTER[abi],
    )


BY_ABI = {"D3DHAL_GLOBALDRIVERDATA": globaldriverdata}

D3DHAL_D3DEXTENDEDCAPS = Struct(
    "dwSize" / DWORD,
    "dwMinTextureWidth" / DWORD,
    "dwMaxTextureWidth" / DWORD,
    "dwMinTextureHeight" / DWORD,
    "dwMaxTextureHeight" / DWORD,
    "dwMinStippleWidth" / DWORD,
    "dwMaxStippleWidth" / DWORD,
    "dwMinStippleHeight" / DWORD,
    "dwMaxStippleHeight" / DWORD,
    "dwMaxTextureRepeat" / DWORD,
    "dwMaxTextureAspectRatio" / DWORD,
    "dwMaxAnisotropy" / DWORD,
    "dvGuardBandLeft" / FLOAT,
    "dvGuardBandTop" / FLOAT,
    "dvGuardBandRight" / FLOAT,
    "dvGuardBandBottom" / FLOAT,
    "dvExtentsAdjust" / FLOAT,
    "dwStencilCaps" / DWORD,
    "dwFVFCaps" / DWORD,
    "dwTextureOpCaps" / DWORD,
    "wMaxTextureBlendStages" / WORD,
    "wMaxSimultaneousTextures" / WORD,
    "dwMaxActiveLights" / DWORD,
    "dvMaxVertexW" / FLOAT,
    "wMaxUserClipPlanes" / WORD,
    "wMaxVertexBlendMatrices" / WORD,
    "dwVertexProcessingCaps" / DWORD,
    *(f"dwReserved{number}" / DWORD for number in range(1, 5)),
)

_VS20CAPS = ("Caps", "DynamicFlowControlDepth", "NumTemps", "StaticFlowControlDepth")
D3DVSHADERCAPS2_0 = dwords(*_VS20CAPS)
D3DPSHADERCAPS2_0 = dwords(*_VS20CAPS, "NumInstructionSlots")

_BEFORE_FLOATS = (
    "DeviceType", "AdapterOrdinal", "Caps", "Caps2", "Caps3", "PresentationIntervals",
    "CursorCaps", "DevCaps", "PrimitiveMiscCaps", "RasterCaps", "ZCmpCaps", "SrcBlendCaps",
    "DestBlendCaps", "AlphaCmpCaps", "ShadeCaps", "TextureCaps", "TextureFilterCaps",
    "CubeTextureFilterCaps", "VolumeTextureFilterCaps", "TextureAddressCaps",
    "VolumeTextureAddressCaps", "LineCaps", "MaxTextureWidth", "MaxTextureHeight",
    "MaxVolumeExtent", "MaxTextureRepeat", "MaxTextureAspectRatio", "MaxAnisotropy",
)  # fmt: skip
_FLOATS = (
    "MaxVertexW", "GuardBandLeft", "GuardBandTop", "GuardBandRight", "GuardBandBottom",
    "ExtentsAdjust",
)  # fmt: skip
_BEFORE_POINT_SIZE = (
    "StencilCaps", "FVFCaps", "TextureOpCaps", "MaxTextureBlendStages",
    "MaxSimultaneousTextures", "VertexProcessingCaps", "MaxActiveLights", "MaxUserClipPlanes",
    "MaxVertexBlendMatrices", "MaxVertexBlendMatrixIndex",
)  # fmt: skip
_BEFORE_SHADER_VALUE = (
    "MaxPrimitiveCount", "MaxVertexIndex", "MaxStreams", "MaxStreamStride",
    "VertexShaderVersion", "MaxVertexShaderConst", "PixelShaderVersion",
)  # fmt: skip
_BEFORE_SHADER_CAPS = (
    "Reserved5", "MasterAdapterOrdinal", "AdapterOrdinalInGroup", "NumberOfAdaptersInGroup",
    "DeclTypes", "NumSimultaneousRTs", "StretchRectFilterCaps",
)  # fmt: skip
_AFTER_SHADER_CAPS = (
    "VertexTextureFilterCaps", "MaxVShaderInstructionsExecuted",
    "MaxPShaderInstructionsExecuted", "MaxVertexShader30InstructionSlots",
    "MaxPixelShader30InstructionSlots",
)  # fmt: skip

D3DCAPS9 = Struct(
    *(name / DWORD for name in _BEFORE_FLOATS),
    *(name / FLOAT for name in _FLOATS),
    *(name / DWORD for name in _BEFORE_POINT_SIZE),
    "MaxPointSize" / FLOAT,
    *(name / DWORD for name in _BEFORE_SHADER_VALUE),
    "PixelShader1xMaxValue" / FLOAT,
    "DevCaps2" / DWORD,
    "MaxNpatchTessellationLevel" / FLOAT,
    *(name / DWORD for name in _BEFORE_SHADER_CAPS),
    "VS20Caps" / D3DVSHADERCAPS2_0,
    "PS20Caps" / D3DPSHADERCAPS2_0,
    *(name / DWORD for name in _AFTER_SHADER_CAPS),
)

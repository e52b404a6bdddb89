"""Capability structures a driver announces itself with (d3dhal.h, d3dcaps.h, d3d9caps.h)."""

from __future__ import annotations

from dp2emu.d3d.words import FLOAT, by_abi, dwords, floats, pad64, pointers, words

D3DTRANSFORMCAPS = dwords("dwSize dwCaps")
D3DLIGHTINGCAPS = dwords("dwSize dwCaps dwLightingModel dwNumLights")
D3DPRIMCAPS = dwords(
    """dwSize dwMiscCaps dwRasterCaps dwZCmpCaps dwSrcBlendCaps dwDestBlendCaps dwAlphaCmpCaps
    dwShadeCaps dwTextureCaps dwTextureFilterCaps dwTextureBlendCaps dwTextureAddressCaps
    dwStippleWidth dwStippleHeight"""
)
D3DDEVICEDESC_V1 = (
    dwords("dwSize dwFlags dcmColorModel dwDevCaps")
    + "dtcTransformCaps" / D3DTRANSFORMCAPS
    + dwords("bClipping")
    + "dlcLightingCaps" / D3DLIGHTINGCAPS
    + "dpcLineCaps" / D3DPRIMCAPS
    + "dpcTriCaps" / D3DPRIMCAPS
    + dwords("dwDeviceRenderBitDepth dwDeviceZBufferBitDepth dwMaxBufferSize dwMaxVertexCount")
)

BY_ABI = {
    "D3DHAL_GLOBALDRIVERDATA": by_abi(
        dwords("dwSize") + "hwCaps" / D3DDEVICEDESC_V1,
        dwords("dwNumVertices dwNumClipVertices dwNumTextureFormats"),
        pad64,
        pointers("lpTextureFormats"),
    )
}
"""Name of a capability structure that has pointers -> function of the pointer size in bits, 32 or
64, that returns its declaration."""

_EXTENDED6 = (
    dwords(
        """dwSize dwMinTextureWidth dwMaxTextureWidth dwMinTextureHeight dwMaxTextureHeight
        dwMinStippleWidth dwMaxStippleWidth dwMinStippleHeight dwMaxStippleHeight
        dwMaxTextureRepeat dwMaxTextureAspectRatio dwMaxAnisotropy"""
    )
    + floats("dvGuardBandLeft dvGuardBandTop dvGuardBandRight dvGuardBandBottom dvExtentsAdjust")
    + dwords("dwStencilCaps dwFVFCaps dwTextureOpCaps")
    + words("wMaxTextureBlendStages wMaxSimultaneousTextures")
)
EXTENDED6_BYTES = _EXTENDED6.sizeof()
"""Size of D3DHAL_D3DEXTENDEDCAPS in DirectX 6: without the members that DirectX 7 added."""
D3DHAL_D3DEXTENDEDCAPS = (
    _EXTENDED6
    + dwords("dwMaxActiveLights")
    + floats("dvMaxVertexW")
    + words("wMaxUserClipPlanes wMaxVertexBlendMatrices")
    + dwords("dwVertexProcessingCaps dwReserved1 dwReserved2 dwReserved3 dwReserved4")
)

_VS20CAPS = "Caps DynamicFlowControlDepth NumTemps StaticFlowControlDepth"
D3DVSHADERCAPS2_0 = dwords(_VS20CAPS)
D3DPSHADERCAPS2_0 = dwords(_VS20CAPS + " NumInstructionSlots")
_CAPS_OF_BOTH = (
    dwords(
        """DeviceType AdapterOrdinal Caps Caps2 Caps3 PresentationIntervals CursorCaps DevCaps
        PrimitiveMiscCaps RasterCaps ZCmpCaps SrcBlendCaps DestBlendCaps AlphaCmpCaps ShadeCaps
        TextureCaps TextureFilterCaps CubeTextureFilterCaps VolumeTextureFilterCaps
        TextureAddressCaps VolumeTextureAddressCaps LineCaps MaxTextureWidth MaxTextureHeight
        MaxVolumeExtent MaxTextureRepeat MaxTextureAspectRatio MaxAnisotropy"""
    )
    + floats("MaxVertexW GuardBandLeft GuardBandTop GuardBandRight GuardBandBottom ExtentsAdjust")
    + dwords(
        """StencilCaps FVFCaps TextureOpCaps MaxTextureBlendStages MaxSimultaneousTextures
        VertexProcessingCaps MaxActiveLights MaxUserClipPlanes MaxVertexBlendMatrices
        MaxVertexBlendMatrixIndex"""
    )
    + "MaxPointSize" / FLOAT
    + dwords(
        """MaxPrimitiveCount MaxVertexIndex MaxStreams MaxStreamStride VertexShaderVersion
        MaxVertexShaderConst PixelShaderVersion"""
    )
)
D3DCAPS8 = _CAPS_OF_BOTH + "MaxPixelShaderValue" / FLOAT
D3DCAPS9 = (
    _CAPS_OF_BOTH
    + "PixelShader1xMaxValue" / FLOAT
    + dwords("DevCaps2")
    + "MaxNpatchTessellationLevel" / FLOAT
    + dwords(
        """Reserved5 MasterAdapterOrdinal AdapterOrdinalInGroup NumberOfAdaptersInGroup DeclTypes
        NumSimultaneousRTs StretchRectFilterCaps"""
    )
    + "VS20Caps" / D3DVSHADERCAPS2_0
    + "PS20Caps" / D3DPSHADERCAPS2_0
    + dwords(
        """VertexTextureFilterCaps MaxVShaderInstructionsExecuted MaxPShaderInstructionsExecuted
        MaxVertexShader30InstructionSlots MaxPixelShader30InstructionSlots"""
    )
)

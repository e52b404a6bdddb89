"""The methods of the interfaces of Direct3D 9 and 8, as the headers of the SDK declare them."""

from __future__ import annotations

_UNKNOWN = "QueryInterface AddRef Release"
_RESOURCE = (
    f"{_UNKNOWN} GetDevice SetPrivateData GetPrivateData FreePrivateData SetPriority GetPriority "
    "PreLoad GetType"
)
_TEXTURE8 = f"{_RESOURCE} SetLOD GetLOD GetLevelCount"
_TEXTURE9 = f"{_TEXTURE8} SetAutoGenFilterType GetAutoGenFilterType GenerateMipSubLevels"
_FLAT = "GetLevelDesc GetSurfaceLevel LockRect UnlockRect AddDirtyRect"
_CUBE = "GetLevelDesc GetCubeMapSurface LockRect UnlockRect AddDirtyRect"
_SOLID = "GetLevelDesc GetVolumeLevel LockBox UnlockBox AddDirtyBox"
_BUFFER = f"{_RESOURCE} Lock Unlock GetDesc"
_PRIVATE = "SetPrivateData GetPrivateData FreePrivateData GetContainer GetDesc"
_ADAPTERS = (
    "RegisterSoftwareDevice GetAdapterCount GetAdapterIdentifier GetAdapterModeCount "
    "EnumAdapterModes GetAdapterDisplayMode CheckDeviceType CheckDeviceFormat "
    "CheckDeviceMultiSampleType CheckDepthStencilMatch GetDeviceCaps GetAdapterMonitor "
    "CreateDevice"
)
_DEVICE = """
    TestCooperativeLevel GetAvailableTextureMem GetDirect3D GetDeviceCaps GetDisplayMode
    GetCreationParameters SetCursorProperties SetCursorPosition ShowCursor
    CreateAdditionalSwapChain Reset Present GetBackBuffer GetRasterStatus SetGammaRamp
    GetGammaRamp CreateTexture CreateVolumeTexture CreateCubeTexture CreateVertexBuffer
    CreateIndexBuffer CreateRenderTarget CreateDepthStencilSurface UpdateTexture SetRenderTarget
    GetRenderTarget GetDepthStencilSurface BeginScene EndScene Clear SetTransform GetTransform
    MultiplyTransform SetViewport GetViewport SetMaterial GetMaterial SetLight GetLight
    LightEnable GetLightEnable SetClipPlane GetClipPlane SetRenderState GetRenderState
    BeginStateBlock EndStateBlock CreateStateBlock SetClipStatus GetClipStatus GetTexture
    SetTexture GetTextureStageState SetTextureStageState ValidateDevice SetPaletteEntries
    GetPaletteEntries SetCurrentTexturePalette GetCurrentTexturePalette DrawPrimitive
    DrawIndexedPrimitive DrawPrimitiveUP DrawIndexedPrimitiveUP ProcessVertices
    CreateVertexShader SetVertexShader GetVertexShader SetStreamSource GetStreamSource SetIndices
    GetIndices CreatePixelShader SetPixelShader GetPixelShader DrawRectPatch DrawTriPatch
    DeletePatch
"""
_DEVICE9 = f"""
    {_UNKNOWN} {_DEVICE} EvictManagedResources GetSwapChain GetNumberOfSwapChains SetDialogBoxMode
    UpdateSurface GetRenderTargetData GetFrontBufferData StretchRect ColorFill
    CreateOffscreenPlainSurface SetDepthStencilSurface GetSamplerState SetSamplerState
    SetScissorRect GetScissorRect SetSoftwareVertexProcessing GetSoftwareVertexProcessing
    SetNPatchMode GetNPatchMode CreateVertexDeclaration SetVertexDeclaration GetVertexDeclaration
    SetFVF GetFVF SetVertexShaderConstantF GetVertexShaderConstantF SetVertexShaderConstantI
    GetVertexShaderConstantI SetVertexShaderConstantB GetVertexShaderConstantB SetStreamSourceFreq
    GetStreamSourceFreq SetPixelShaderConstantF GetPixelShaderConstantF SetPixelShaderConstantI
    GetPixelShaderConstantI SetPixelShaderConstantB GetPixelShaderConstantB CreateQuery
"""
_CHAIN9 = (
    f"{_UNKNOWN} Present GetFrontBufferData GetBackBuffer GetRasterStatus GetDisplayMode "
    "GetDevice GetPresentParameters"
)

INTERFACES = {
    "IDirect3D9": f"{_UNKNOWN} {_ADAPTERS} CheckDeviceFormatConversion",
    "IDirect3D9Ex": f"""{_UNKNOWN} {_ADAPTERS} CheckDeviceFormatConversion GetAdapterModeCountEx
        EnumAdapterModesEx GetAdapterDisplayModeEx CreateDeviceEx GetAdapterLUID""",
    "IDirect3DDevice9": _DEVICE9,
    "IDirect3DDevice9Ex": f"""{_DEVICE9} SetConvolutionMonoKernel ComposeRects PresentEx
        GetGPUThreadPriority SetGPUThreadPriority WaitForVBlank CheckResourceResidency
        SetMaximumFrameLatency GetMaximumFrameLatency CheckDeviceState CreateRenderTargetEx
        CreateOffscreenPlainSurfaceEx CreateDepthStencilSurfaceEx ResetEx GetDisplayModeEx""",
    "IDirect3DSwapChain9": _CHAIN9,
    "IDirect3DSwapChain9Ex": f"{_CHAIN9} GetLastPresentCount GetPresentStats GetDisplayModeEx",
    "IDirect3DBaseTexture9": _TEXTURE9,
    "IDirect3DTexture9": f"{_TEXTURE9} {_FLAT}",
    "IDirect3DCubeTexture9": f"{_TEXTURE9} {_CUBE}",
    "IDirect3DVolumeTexture9": f"{_TEXTURE9} {_SOLID}",
    "IDirect3DSurface9": f"{_RESOURCE} GetContainer GetDesc LockRect UnlockRect GetDC ReleaseDC",
    "IDirect3DVolume9": f"{_UNKNOWN} GetDevice {_PRIVATE} LockBox UnlockBox",
    "IDirect3DVertexBuffer9": _BUFFER,
    "IDirect3DIndexBuffer9": _BUFFER,
    "IDirect3DVertexDeclaration9": f"{_UNKNOWN} GetDevice GetDeclaration",
    "IDirect3DVertexShader9": f"{_UNKNOWN} GetDevice GetFunction",
    "IDirect3DPixelShader9": f"{_UNKNOWN} GetDevice GetFunction",
    "IDirect3DStateBlock9": f"{_UNKNOWN} GetDevice Capture Apply",
    "IDirect3DQuery9": f"{_UNKNOWN} GetDevice GetType GetDataSize Issue GetData",
    "IDirect3D8": f"{_UNKNOWN} {_ADAPTERS}",
    "IDirect3DDevice8": f"""{_UNKNOWN} {_DEVICE} ResourceManagerDiscardBytes CreateImageSurface
        CopyRects GetFrontBuffer ApplyStateBlock CaptureStateBlock DeleteStateBlock GetInfo
        DeleteVertexShader SetVertexShaderConstant GetVertexShaderConstant
        GetVertexShaderDeclaration GetVertexShaderFunction DeletePixelShader
        SetPixelShaderConstant GetPixelShaderConstant GetPixelShaderFunction""",
    "IDirect3DSwapChain8": f"{_UNKNOWN} Present GetBackBuffer",
    "IDirect3DBaseTexture8": _TEXTURE8,
    "IDirect3DTexture8": f"{_TEXTURE8} {_FLAT}",
    "IDirect3DCubeTexture8": f"{_TEXTURE8} {_CUBE}",
    "IDirect3DVolumeTexture8": f"{_TEXTURE8} {_SOLID}",
    "IDirect3DSurface8": f"{_UNKNOWN} GetDevice {_PRIVATE} LockRect UnlockRect",
    "IDirect3DVolume8": f"{_UNKNOWN} GetDevice {_PRIVATE} LockBox UnlockBox",
    "IDirect3DVertexBuffer8": _BUFFER,
    "IDirect3DIndexBuffer8": _BUFFER,
}
"""Interface -> its methods, separated by spaces."""

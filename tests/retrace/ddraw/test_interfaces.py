"""Every method of the interfaces of ddraw.h and d3d.h has a row, and says what becomes of it."""

from __future__ import annotations

import pytest

from dp2emu.retrace import METHODS

UNKNOWN = "QueryInterface AddRef Release "
_DRAW = (
    "Compact CreateClipper CreatePalette CreateSurface DuplicateSurface EnumDisplayModes "
    "EnumSurfaces FlipToGDISurface GetCaps GetDisplayMode GetFourCCCodes GetGDISurface "
    "GetMonitorFrequency GetScanLine GetVerticalBlankStatus Initialize RestoreDisplayMode "
    "SetCooperativeLevel SetDisplayMode WaitForVerticalBlank "
)
_DRAW4 = (
    "GetAvailableVidMem GetSurfaceFromDC RestoreAllSurfaces TestCooperativeLevel "
    "GetDeviceIdentifier "
)
_SURFACE = (
    "AddAttachedSurface AddOverlayDirtyRect Blt BltBatch BltFast DeleteAttachedSurface "
    "EnumAttachedSurfaces EnumOverlayZOrders Flip GetAttachedSurface GetBltStatus GetCaps "
    "GetClipper GetColorKey GetDC GetFlipStatus GetOverlayPosition GetPalette GetPixelFormat "
    "GetSurfaceDesc Initialize IsLost Lock ReleaseDC Restore SetClipper SetColorKey "
    "SetOverlayPosition SetPalette Unlock UpdateOverlay UpdateOverlayDisplay "
    "UpdateOverlayZOrder "
)
_SURFACE2 = _SURFACE + "GetDDInterface PageLock PageUnlock "
_SURFACE4 = _SURFACE2 + (
    "SetSurfaceDesc SetPrivateData GetPrivateData FreePrivateData GetUniquenessValue "
    "ChangeUniquenessValue "
)
_DEVICE2 = (
    "GetCaps GetStats AddViewport DeleteViewport NextViewport EnumTextureFormats BeginScene "
    "EndScene GetDirect3D SetCurrentViewport GetCurrentViewport SetRenderTarget "
    "GetRenderTarget Begin BeginIndexed Vertex Index End GetRenderState SetRenderState "
    "GetLightState SetLightState SetTransform GetTransform MultiplyTransform DrawPrimitive "
    "DrawIndexedPrimitive SetClipStatus GetClipStatus "
)
_LATER = (
    "DrawPrimitiveStrided DrawIndexedPrimitiveStrided DrawPrimitiveVB DrawIndexedPrimitiveVB "
    "ComputeSphereVisibility GetTexture SetTexture GetTextureStageState SetTextureStageState "
    "ValidateDevice "
)
_VIEWPORT = (
    "Initialize GetViewport SetViewport TransformVertices LightElements SetBackground "
    "GetBackground SetBackgroundDepth GetBackgroundDepth Clear AddLight DeleteLight NextLight "
)
_MATERIAL = "SetMaterial GetMaterial GetHandle "
_BUFFER = "Lock Unlock ProcessVertices GetVertexBufferDesc Optimize "

INTERFACES = {
    "IDirectDraw": _DRAW,
    "IDirectDraw2": _DRAW + "GetAvailableVidMem ",
    "IDirectDraw4": _DRAW + _DRAW4,
    "IDirectDraw7": _DRAW + _DRAW4 + "StartModeTest EvaluateMode ",
    "IDirectDrawSurface": _SURFACE,
    "IDirectDrawSurface2": _SURFACE2,
    "IDirectDrawSurface3": _SURFACE2 + "SetSurfaceDesc ",
    "IDirectDrawSurface4": _SURFACE4,
    "IDirectDrawSurface7": _SURFACE4 + "SetPriority GetPriority SetLOD GetLOD ",
    "IDirectDrawPalette": "GetCaps GetEntries Initialize SetEntries ",
    "IDirectDrawClipper": (
        "GetClipList GetHWnd Initialize IsClipListChanged SetClipList SetHWnd "
    ),
    "IDirectDrawColorControl": "GetColorControls SetColorControls ",
    "IDirectDrawGammaControl": "GetGammaRamp SetGammaRamp ",
    "IDirect3D": "Initialize EnumDevices CreateLight CreateMaterial CreateViewport FindDevice ",
    "IDirect3D2": (
        "EnumDevices CreateLight CreateMaterial CreateViewport FindDevice CreateDevice "
    ),
    "IDirect3D3": (
        "EnumDevices CreateLight CreateMaterial CreateViewport FindDevice CreateDevice "
        "CreateVertexBuffer EnumZBufferFormats EvictManagedTextures "
    ),
    "IDirect3D7": (
        "EnumDevices CreateDevice CreateVertexBuffer EnumZBufferFormats EvictManagedTextures "
    ),
    "IDirect3DDevice": (
        "Initialize GetCaps SwapTextureHandles CreateExecuteBuffer GetStats Execute "
        "AddViewport DeleteViewport NextViewport Pick GetPickRecords EnumTextureFormats "
        "CreateMatrix SetMatrix GetMatrix DeleteMatrix BeginScene EndScene GetDirect3D "
    ),
    "IDirect3DDevice2": _DEVICE2 + "SwapTextureHandles ",
    "IDirect3DDevice3": _DEVICE2 + _LATER,
    "IDirect3DDevice7": _LATER + (
        "GetCaps EnumTextureFormats BeginScene EndScene GetDirect3D SetRenderTarget "
        "GetRenderTarget Clear SetTransform GetTransform SetViewport MultiplyTransform "
        "GetViewport SetMaterial GetMaterial SetLight GetLight SetRenderState GetRenderState "
        "BeginStateBlock EndStateBlock PreLoad DrawPrimitive DrawIndexedPrimitive "
        "SetClipStatus GetClipStatus ApplyStateBlock CaptureStateBlock DeleteStateBlock "
        "CreateStateBlock Load LightEnable GetLightEnable SetClipPlane GetClipPlane GetInfo "
    ),
    "IDirect3DExecuteBuffer": (
        "Initialize Lock Unlock SetExecuteData GetExecuteData Validate Optimize "
    ),
    "IDirect3DLight": "Initialize SetLight GetLight ",
    "IDirect3DMaterial": "Initialize Reserve Unreserve " + _MATERIAL,
    "IDirect3DMaterial2": _MATERIAL,
    "IDirect3DMaterial3": _MATERIAL,
    "IDirect3DTexture": "Initialize GetHandle PaletteChanged Load Unload ",
    "IDirect3DTexture2": "GetHandle PaletteChanged Load ",
    "IDirect3DViewport": _VIEWPORT,
    "IDirect3DViewport2": _VIEWPORT + "GetViewport2 SetViewport2 ",
    "IDirect3DViewport3": _VIEWPORT + (
        "GetViewport2 SetViewport2 SetBackgroundDepth2 GetBackgroundDepth2 Clear2 "
    ),
    "IDirect3DVertexBuffer": _BUFFER,
    "IDirect3DVertexBuffer7": _BUFFER + "ProcessVerticesStrided ",
}  # fmt: skip
FUNCTIONS = (
    "DirectDrawCreate DirectDrawCreateEx DirectDrawCreateClipper DirectDrawEnumerateA "
    "DirectDrawEnumerateW DirectDrawEnumerateExA DirectDrawEnumerateExW"
)


@pytest.mark.parametrize("interface", INTERFACES)
def test_every_method_has_a_row_that_says_what_it_becomes(interface: str) -> None:
    names = [f"{interface}::{name}" for name in (UNKNOWN + INTERFACES[interface]).split()]
    assert [name for name in names if name not in METHODS] == []
    assert all(METHODS[name].says for name in names)


def test_every_function_has_a_row() -> None:
    assert [name for name in FUNCTIONS.split() if name not in METHODS] == []

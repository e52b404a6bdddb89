"""Names of the interfaces and devices that programs ask for by GUID."""

from __future__ import annotations

from dp2emu.capture.apitrace.values import Struct

_NAMES = {
    "00000000-0000-0000-c000-000000000046": "IID_IUnknown",
    "6c14db80-a733-11ce-a521-0020af0be560": "IID_IDirectDraw",
    "b3a6f3e0-2b43-11cf-a2de-00aa00b93356": "IID_IDirectDraw2",
    "9c59509a-39bd-11d1-8c4a-00c04fd930c5": "IID_IDirectDraw4",
    "15e65ec0-3b9c-11d2-b92f-00609797ea5b": "IID_IDirectDraw7",
    "0b2b8630-ad35-11d0-8ea6-00609797ea5b": "IID_IDirectDrawSurface4",
    "06675a80-3b9b-11d2-b92f-00609797ea5b": "IID_IDirectDrawSurface7",
    "3bba0080-2421-11cf-a31a-00aa00b93356": "IID_IDirect3D",
    "6aae1ec1-662a-11d0-889d-00aa00bbb76a": "IID_IDirect3D2",
    "bb223240-e72b-11d0-a9b4-00aa00c0993e": "IID_IDirect3D3",
    "f5049e77-4861-11d2-a407-00a0c90629a8": "IID_IDirect3D7",
    "93281502-8cf8-11d0-89ab-00a0c9054129": "IID_IDirect3DTexture2",
    "a4665c60-2673-11cf-a31a-00aa00b93356": "IID_IDirect3DRGBDevice",
    "84e63de0-46aa-11cf-816f-0000c020156e": "IID_IDirect3DHALDevice",
    "f5049e78-4861-11d2-a407-00a0c90629a8": "IID_IDirect3DTnLHalDevice",
    "81bdcbca-64d4-426d-ae8d-ad0147f4275c": "IID_IDirect3D9",
    "d0223b96-bf7a-43fd-92bd-a43b0d82b9eb": "IID_IDirect3DDevice9",
    "794950f2-adfc-458a-905e-10a10b0b503b": "IID_IDirect3DSwapChain9",
    "05eec05d-8f7d-4362-b999-d1baf357c704": "IID_IDirect3DResource9",
    "580ca87e-1d3c-4d54-991d-b7d3e3c298ce": "IID_IDirect3DBaseTexture9",
    "85c31227-3de5-4f00-9b3a-f11ac38c18b5": "IID_IDirect3DTexture9",
    "fff32f81-d953-473a-9223-93d652aba93f": "IID_IDirect3DCubeTexture9",
    "2518526c-e789-4111-a7b9-47ef328d13e6": "IID_IDirect3DVolumeTexture9",
    "0cfbaf3a-9ff6-429a-99b3-a2796af8b89b": "IID_IDirect3DSurface9",
    "24f416e6-1f67-4aa7-b88e-d33f6f3128a1": "IID_IDirect3DVolume9",
    "b64bb1b5-fd70-4df6-bf91-19d0a12455e3": "IID_IDirect3DVertexBuffer9",
    "7c9dd65e-d3f7-4529-acee-785830acde35": "IID_IDirect3DIndexBuffer9",
}
"""SDK names; what is not listed is shown as its number."""


def guid_name(value: Struct) -> str | None:
    """Name of a recorded GUID, ``uuid(...)`` if it has none here; None if it is no GUID."""
    text = _guid_text(value)
    return None if text is None else _NAMES.get(text, f"uuid({text})")


def _guid_text(value: Struct) -> str | None:
    """``"aeb2cdd4-6e41-43ea-941c-8361cc760781"``; None for members that are no GUID's."""
    if len(value.members) != 4:
        return None
    *words, tail = value.members
    if not (isinstance(tail, tuple) and len(tail) == 8):
        return None
    numbers = [number for number in (*words, *tail) if type(number) is int and number >= 0]
    if len(numbers) != 11:
        return None
    first, second, third, *rest = numbers
    last = "".join(f"{number:02x}" for number in rest)
    return f"{first:08x}-{second:04x}-{third:04x}-{last[:4]}-{last[4:]}"

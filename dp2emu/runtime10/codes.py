"""Result codes of the application's interface of Direct3D 10 and 11."""

from __future__ import annotations

from enum import IntEnum

from dp2emu.ddi10.codes import DdiCode
from dp2emu.errors import Fault


class Api(IntEnum):
    """Direct3D 10, 10.1 or 11 for applications; the value is the driver's interface version."""

    D3D10 = 100
    D3D10_1 = 101
    D3D11 = 110


class Result(IntEnum):
    """HRESULTs that Direct3D 10 and 11 return to an application."""

    S_OK = 0
    S_FALSE = 1
    E_NOINTERFACE = 0x80004002
    E_FAIL = 0x80004005
    E_ACCESSDENIED = 0x80070005
    E_OUTOFMEMORY = 0x8007000E
    E_INVALIDARG = 0x80070057
    DXGI_ERROR_INVALID_CALL = 0x887A0001
    DXGI_ERROR_NOT_FOUND = 0x887A0002
    DXGI_ERROR_UNSUPPORTED = 0x887A0004
    DXGI_ERROR_DEVICE_REMOVED = 0x887A0005
    DXGI_ERROR_WAS_STILL_DRAWING = 0x887A000A
    DXGI_ERROR_NONEXCLUSIVE = 0x887A0021
    DXGI_ERROR_NOT_CURRENTLY_AVAILABLE = 0x887A0022


RESULTS: dict[int, Result] = {
    DdiCode.DXGI_DDI_ERR_WASSTILLDRAWING: Result.DXGI_ERROR_WAS_STILL_DRAWING,
    DdiCode.DXGI_DDI_ERR_UNSUPPORTED: Result.DXGI_ERROR_UNSUPPORTED,
    DdiCode.DXGI_DDI_ERR_NONEXCLUSIVE: Result.DXGI_ERROR_NONEXCLUSIVE,
    DdiCode.D3DDDIERR_DEVICEREMOVED: Result.DXGI_ERROR_DEVICE_REMOVED,
    DdiCode.E_OUTOFMEMORY: Result.E_OUTOFMEMORY,
    DdiCode.E_INVALIDARG: Result.E_INVALIDARG,
}
"""The HRESULT for the application by the error code that a driver reports; other codes become
E_FAIL."""


class Refused(Fault):
    """A failed call of the application's interface; ``hr`` is its result."""

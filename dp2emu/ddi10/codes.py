"""What the entries of a user-mode driver report, and the interfaces they belong to.

Source: Direct3D 10/11 DDI, "Result codes" and "Device functions".
"""

from __future__ import annotations

from enum import IntEnum


class DdiCode(IntEnum):
    """HRESULTs given to pfnSetErrorCb."""

    DXGI_DDI_ERR_WASSTILLDRAWING = 0x887B0001
    DXGI_DDI_ERR_UNSUPPORTED = 0x887B0002
    DXGI_DDI_ERR_NONEXCLUSIVE = 0x887B0003
    D3DDDIERR_DEVICEREMOVED = 0x88760870
    E_OUTOFMEMORY = 0x8007000E
    E_INVALIDARG = 0x80070057


class Interface(IntEnum):
    """Interface versions by the Direct3D they serve: ten times major, plus minor.

    A later one has all that an earlier one has.
    """

    D3D10_0 = 100
    D3D10_1 = 101
    D3D11_0 = 110

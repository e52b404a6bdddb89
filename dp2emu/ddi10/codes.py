"""Result codes of the DDI functions, interface versions, and formats by number.

Source: Direct3D 10/11 DDI, "Result codes" and "Device functions".
"""

from __future__ import annotations

from enum import IntEnum
from typing import cast

from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.sdk import SdkEnum

S_OK = 0


class DdiCode(SdkEnum):
    """HRESULTs passed to pfnSetErrorCb."""

    DXGI_DDI_ERR_WASSTILLDRAWING = 0x887B0001
    DXGI_DDI_ERR_UNSUPPORTED = 0x887B0002
    DXGI_DDI_ERR_NONEXCLUSIVE = 0x887B0003
    D3DDDIERR_DEVICEREMOVED = 0x88760870
    E_OUTOFMEMORY = 0x8007000E
    E_INVALIDARG = 0x80070057


class Interface(IntEnum):
    """Interface versions: 10 times the Direct3D version, so 101 is Direct3D 10.1.

    A later version has every function of the earlier ones.
    """

    D3D10_0 = 100
    D3D10_1 = 101
    D3D11_0 = 110


def format_of(number: int) -> DxgiFormat | None:
    """The format of a DXGI_FORMAT number, None for an undefined one."""
    return cast("DxgiFormat | None", DxgiFormat._value2member_map_.get(number))

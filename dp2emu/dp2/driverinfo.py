"""GetDriverInfo2: what the runtime asks the driver about itself (wire format, "Driver
information").

The request arrives as a DdGetDriverInfo call with a GUID it shares with GUID_DDStereoMode; only
the magic number in the data tells the two apart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from dp2emu.d3d.flags import DDHAL_DRIVER_HANDLED
from dp2emu.d3d.hal import (
    DD_DXVERSION,
    DD_GETD3DQUERYCOUNTDATA,
    DD_GETD3DQUERYDATA,
    DD_GETDDIVERSIONDATA,
    DD_GETDRIVERINFO2DATA,
)
from dp2emu.d3d.hresult import HResult

GUID_GETDRIVERINFO2 = bytes.fromhex("9C1628F8 E8A8 D211 A1F2 00A0C983EAF6")
"""GUID_DDStereoMode = GUID_GetDriverInfo2, {F828169C-A8E8-11D2-A1F2-00A0C983EAF6}, in memory."""

D3DGDI2_MAGIC = 0xFFFFFFFF
DX9_RUNTIME_VERSION = 9
DX9_DDI_VERSION = 4


class DriverInfo(NamedTuple):
    """The answer: ``data`` is the request's buffer as the driver leaves it."""

    handled: int
    ddRVal: int
    dwActualSize: int
    data: bytes


class _Row(NamedTuple):
    """One D3DGDI2 type: its structure, and the answer's fields from the request's.

    ``answer`` returns None where the request names nothing the driver has.
    """

    layout: Any
    answer: Callable[[Any, tuple[int, ...]], dict[str, int] | None]


def _query_count(asked: Any, types: tuple[int, ...]) -> dict[str, int]:
    return {"dwNumQueries": len(types)}


def _query(asked: Any, types: tuple[int, ...]) -> dict[str, int] | None:
    """The member is a union: the index goes in, the type comes out."""
    index = asked.QueryType
    return {"QueryType": types[index]} if index < len(types) else None


def _dx_version(asked: Any, types: tuple[int, ...]) -> dict[str, int]:
    """The runtime tells its version; there is nothing to say back."""
    return {}


def _ddi_version(asked: Any, types: tuple[int, ...]) -> dict[str, int] | None:
    """A DirectX 9 runtime expects the DirectX 9 DDI's own number."""
    if asked.dwDXVersion != DX9_RUNTIME_VERSION:
        return None
    return {"dwDDIVersion": DX9_DDI_VERSION}


_ROWS = {
    0x04: _Row(DD_DXVERSION, _dx_version),
    0x21: _Row(DD_GETD3DQUERYCOUNTDATA, _query_count),
    0x22: _Row(DD_GETD3DQUERYDATA, _query),
    0x23: _Row(DD_GETDDIVERSIONDATA, _ddi_version),
}
"""By D3DGDI2_TYPE."""


def get_driver_info(guid: bytes, data: bytes, types: tuple[int, ...]) -> DriverInfo:
    """DdGetDriverInfo with ``data`` as the runtime filled it; ``types`` are the queries announced.

    Whatever is unknown is DDERR_CURRENTLYNOTAVAIL with dwActualSize 0, and still handled.
    """
    unavailable = DriverInfo(DDHAL_DRIVER_HANDLED, int(HResult.DDERR_CURRENTLYNOTAVAIL), 0, data)
    if guid != GUID_GETDRIVERINFO2 or len(data) < DD_GETDRIVERINFO2DATA.sizeof():
        return unavailable
    head = DD_GETDRIVERINFO2DATA.parse(data)
    row = _ROWS.get(head.dwType)
    if head.dwMagic != D3DGDI2_MAGIC or row is None or len(data) < row.layout.sizeof():
        return unavailable
    asked = row.layout.parse(data)
    answer = row.answer(asked, types)
    if answer is None:
        return unavailable
    asked.update(answer)
    size = row.layout.sizeof()
    filled = row.layout.build(asked) + data[size:]
    return DriverInfo(DDHAL_DRIVER_HANDLED, int(HResult.D3D_OK), size, filled)

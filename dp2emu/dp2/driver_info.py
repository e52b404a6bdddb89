"""DdGetDriverInfo of the emulated board: its versions, capabilities, formats and query types.

The request of GetDriverInfo2 is a DdGetDriverInfo call with the GUID of GUID_DDStereoMode; only
the magic number in the data distinguishes the two.  Runtimes before DirectX 8 ask with other
GUIDs, which ``older_capabilities`` answers.  GUID_D3DCallbacks, GUID_D3DCallbacks2 and
GUID_D3DCallbacks3 are unknown, since entry points have no addresses here.  Source: wire format,
"Driver information".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from dp2emu.d3d.capabilities import Capabilities
from dp2emu.d3d.caps import D3DCAPS8, D3DCAPS9
from dp2emu.d3d.ddraw import PixelFlags
from dp2emu.d3d.flags import DDHAL_DRIVER_HANDLED
from dp2emu.d3d.hal import (
    D3DGDI2_MAGIC,
    DD_DXVERSION,
    DD_GETD3DQUERYCOUNTDATA,
    DD_GETD3DQUERYDATA,
    DD_GETDDIVERSIONDATA,
    DD_GETDRIVERINFO2DATA,
    DD_GETFORMATCOUNTDATA,
    DD_GETFORMATDATA,
    GUIDS,
    InfoType,
)
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.capabilities import capabilities, capabilities8
from dp2emu.dp2.older_capabilities import depth_answer, device_answer, extended_answer

GUID_GETDRIVERINFO2 = GUIDS["GUID_GetDriverInfo2"]
DX9_RUNTIME_VERSION = 9
DX9_DDI_VERSION = 4
_PIXEL_FORMAT_BYTES = 32


class DriverInfo(NamedTuple):
    """The results of DdGetDriverInfo; ``handled`` is DDHAL_DRIVER_*, ``data`` the new buffer.

    ``formats`` has a DDPIXELFORMAT for each texture format of D3DHAL_GLOBALDRIVERDATA, which has a
    pointer to them.
    """

    handled: int
    ddRVal: int
    dwActualSize: int
    data: bytes
    formats: bytes = b""


class _InfoRow(NamedTuple):
    """A D3DGDI2 type: its structure, and a function that returns the members to set.

    The function takes the request and the announced capabilities; it returns None for a request
    that the driver cannot answer.
    """

    layout: Any
    answer: Callable[[Any, Capabilities], dict[str, Any] | None]


def _format_count(request: Any, announced: Capabilities) -> dict[str, Any]:
    return {"dwFormatCount": len(announced.formats)}


def _format(request: Any, announced: Capabilities) -> dict[str, Any] | None:
    """Answer D3DGDI2_TYPE_GETFORMAT: the format of an index and its operations; None for an index
    out of range.
    """
    if request.dwFormatIndex >= len(announced.formats):
        return None
    format, operations = announced.formats[request.dwFormatIndex]
    described = dict.fromkeys(request.format, 0)
    described |= {
        "dwSize": _PIXEL_FORMAT_BYTES, "dwFlags": PixelFlags.D3DFORMAT, "dwFourCC": format,
        "dwRBitMask": operations,
    }  # fmt: skip
    return {"format": described}


def _query_count(request: Any, announced: Capabilities) -> dict[str, Any]:
    return {"dwNumQueries": len(announced.queries or ())}


def _query_type(request: Any, announced: Capabilities) -> dict[str, Any] | None:
    """Answer of D3DGDI2_TYPE_GETD3DQUERY: the query type of an index; None for one out of range.

    The member QueryType, a union, has the index in ``request`` and the type in the answer.
    """
    index, types = request.QueryType, announced.queries or ()
    return {"QueryType": types[index]} if index < len(types) else None


def _ddi_version(request: Any, announced: Capabilities) -> dict[str, Any] | None:
    """Answer D3DGDI2_TYPE_GETDDIVERSION; None unless dwDXVersion names a DirectX 9 runtime."""
    if request.dwDXVersion != DX9_RUNTIME_VERSION:
        return None
    return {"dwDDIVersion": DX9_DDI_VERSION}


_INFO_ROWS = {
    InfoType.DXVERSION: _InfoRow(DD_DXVERSION, lambda request, announced: {}),
    InfoType.GETFORMATCOUNT: _InfoRow(DD_GETFORMATCOUNTDATA, _format_count),
    InfoType.GETFORMAT: _InfoRow(DD_GETFORMATDATA, _format),
    InfoType.GETD3DQUERYCOUNT: _InfoRow(DD_GETD3DQUERYCOUNTDATA, _query_count),
    InfoType.GETD3DQUERY: _InfoRow(DD_GETD3DQUERYDATA, _query_type),
    InfoType.GETDDIVERSION: _InfoRow(DD_GETDDIVERSIONDATA, _ddi_version),
}
"""D3DGDI2_TYPE of a GetDriverInfo2 request -> its structure, and the function that answers it.
DXVERSION tells the driver the version of the runtime, and gets no answer."""

_CAPS = {
    InfoType.GETD3DCAPS8: (D3DCAPS8, capabilities8),
    InfoType.GETD3DCAPS9: (D3DCAPS9, capabilities),
}
"""D3DGDI2_TYPE whose answer replaces the whole request, head and all -> structure and values."""


_OLDER = {
    GUIDS["GUID_D3DCaps"]: device_answer,
    GUIDS["GUID_D3DExtendedCaps"]: extended_answer,
    GUIDS["GUID_ZPixelFormats"]: depth_answer,
}
"""GUID of a request -> function of the size of its data that returns the answer, empty for none,
and the texture formats that belong to it."""


def get_driver_info(guid: bytes, data: bytes, announced: Capabilities) -> DriverInfo:
    """DdGetDriverInfo with ``data`` as the runtime fills it.

    For an unknown request the result is DDHAL_DRIVER_HANDLED with DDERR_CURRENTLYNOTAVAIL and
    dwActualSize 0.
    """
    found, formats = None, b""
    if guid in _OLDER:
        found, formats = _OLDER[guid](len(data))
    elif guid == GUID_GETDRIVERINFO2 and len(data) >= DD_GETDRIVERINFO2DATA.sizeof():
        found = _answer(data, announced)
    if not found:
        return DriverInfo(DDHAL_DRIVER_HANDLED, int(HResult.DDERR_CURRENTLYNOTAVAIL), 0, data)
    filled = found + data[len(found) :]
    return DriverInfo(DDHAL_DRIVER_HANDLED, int(HResult.D3D_OK), len(found), filled, formats)


def _answer(data: bytes, announced: Capabilities) -> bytes | None:
    """Return the bytes to answer a GetDriverInfo2 request with, None if there is no answer."""
    head = DD_GETDRIVERINFO2DATA.parse(data)
    if head.dwMagic != D3DGDI2_MAGIC:
        return None
    if head.dwType in _CAPS:
        layout, values = _CAPS[head.dwType]
        return bytes(layout.build(values())) if len(data) >= layout.sizeof() else None
    row = _INFO_ROWS.get(head.dwType)
    if row is None or len(data) < row.layout.sizeof():
        return None
    request = row.layout.parse(data)
    answer = row.answer(request, announced)
    if answer is None:
        return None
    request.update(answer)
    return bytes(row.layout.build(request))

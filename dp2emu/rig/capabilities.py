"""The capabilities of a driver, asked for with DdGetDriverInfo as a runtime does.

The version is the newest whose question is answered: GETD3DCAPS9, GETD3DCAPS8,
D3DHAL_D3DEXTENDEDCAPS with the members of DirectX 7, and else DirectX 6.  A runtime of an earlier
version asks no question of a later one.  Sources: the
documentation of DD_GETDRIVERINFODATA, DD_GETDRIVERINFO2DATA and D3DHAL_GLOBALDRIVERDATA; wire
format, "Driver information".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from dp2emu.d3d import caps, hal
from dp2emu.d3d.capabilities import Capabilities, flattened, named_format
from dp2emu.d3d.capflags import FormatOp
from dp2emu.d3d.ddraw import PixelFlags
from dp2emu.d3d.flags import DDHAL_DRIVER_NOTHANDLED
from dp2emu.d3d.hal import GUIDS, InfoType
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.pixelformats import PixelFormat, format_of
from dp2emu.dp2.driver_info import DX9_RUNTIME_VERSION, DriverInfo
from dp2emu.errors import Unsupported
from dp2emu.places import working_at
from dp2emu.rig.failure import Finding, FindingKind, RigFailure
from dp2emu.rig.interface import Rig
from dp2emu.rig.wire import MOST_FORMATS

__all__ = ["Capabilities", "ask_capabilities", "capabilities_of"]

Ask = Callable[[bytes, bytes], DriverInfo | None]
"""DdGetDriverInfo: a function of GUID and data that returns the results, or None without one."""

NEWEST = 9
"""The newest version of the interface."""
MOST_QUERIES = 256
"""Maximum number of query types that are asked of a driver."""
_VERSIONS = {9: 0x0900, 8: 0x0800}
"""dwDXVersion of D3DGDI2_TYPE_DXVERSION by the version of a runtime."""
_PIXEL_FORMAT = hal.SURFACES["DDPIXELFORMAT"]
_Z_ROOM = 64
"""Number of DDPIXELFORMATs that fit the data for GUID_ZPixelFormats."""


def capabilities_of(rig: Rig, ddi: int = NEWEST) -> Capabilities | None:
    """Return the capabilities that a rig announces to a runtime of DirectX ``ddi``; None if it has
    no such method, or its driver tells nothing.

    Raises the errors of the rig, and RigFailure for an impossible announcement.
    """
    found: Callable[..., Capabilities | None] | None = getattr(rig, "capabilities", None)
    if found is None:
        return None
    with working_at(lambda: {"stream": "capabilities"}):
        return found() if ddi == NEWEST else found(ddi)


def ask_capabilities(ask: Ask, abi: int, ddi: int = NEWEST) -> Capabilities | None:
    """Return what a driver with pointers of ``abi`` bits tells a runtime of DirectX ``ddi``, or,
    if it tells that nothing, a later one; None if it tells nothing at all.

    A structure that is too short counts as not told.  Raises RigFailure for more than
    ``MOST_FORMATS`` formats or ``MOST_QUERIES`` query types.
    """
    driver = _Asked(ask, abi)
    found = (_told(driver, version) for version in range(ddi, NEWEST + 1))
    return next((each for each in found if each is not None), None)


def _told(driver: _Asked, runtime: int) -> Capabilities | None:
    """What a driver tells a runtime of a version."""
    for ddi, kind, layout in (
        (9, InfoType.GETD3DCAPS9, caps.D3DCAPS9),
        (8, InfoType.GETD3DCAPS8, caps.D3DCAPS8),
    ):
        if ddi > runtime:
            continue
        driver.gdi2(InfoType.DXVERSION, hal.DD_DXVERSION, _VERSIONS[ddi])
        device = driver.gdi2(kind, layout)
        if device is not None:
            queries = driver.queries() if ddi > 8 else None
            return Capabilities(ddi, flattened(device), driver.formats(), queries)
    return driver.older(runtime)


class _Asked(NamedTuple):
    """A driver that is being asked: its DdGetDriverInfo, and the bits of its pointers."""

    ask: Ask
    abi: int

    def gdi2(self, kind: InfoType, layout: Any, value: int = 0) -> Any | None:
        """Ask GetDriverInfo2 for the structure ``layout``, with ``value`` behind its head; None if
        the driver does not answer with all of it.
        """
        size = layout.sizeof()
        head = hal.DD_GETDRIVERINFO2DATA.build(
            {"dwReserved": 0, "dwMagic": hal.D3DGDI2_MAGIC, "dwType": kind, "dwExpectedSize": size}
        )
        request = (head + value.to_bytes(4, "little")).ljust(size, b"\0")[:size]
        found = self._answer("GUID_GetDriverInfo2", request)
        return layout.parse(found.data) if found and found.dwActualSize >= size else None

    def _answer(self, guid: str, data: bytes) -> DriverInfo | None:
        """Ask for the data of a GUID; None if the driver does not handle it, or fails."""
        found = self.ask(GUIDS[guid], data)
        if found is None or found.handled == DDHAL_DRIVER_NOTHANDLED:
            return None
        return found if found.ddRVal == HResult.D3D_OK else None

    def formats(self) -> tuple[tuple[int, int], ...]:
        """Ask for the formats of DirectX 8 and 9, and their operations."""
        counted = self.gdi2(InfoType.GETFORMATCOUNT, hal.DD_GETFORMATCOUNTDATA)
        count = 0 if counted is None else int(counted.dwFormatCount)
        _check_number(count, MOST_FORMATS, "formats")
        return tuple(each for index in range(count) for each in self._format(index))

    def _format(self, index: int) -> Iterator[tuple[int, int]]:
        """Ask for one format; yields nothing if the driver does not answer."""
        found = self.gdi2(InfoType.GETFORMAT, hal.DD_GETFORMATDATA, index)
        if found is None:
            return
        if found.format.dwFlags & PixelFlags.D3DFORMAT:
            yield named_format(found.format.dwFourCC), int(found.format.dwRBitMask)
        else:  # a description by masks, as in DirectX 7
            yield from _described(found.format, FormatOp.TEXTURE)

    def queries(self) -> tuple[int, ...]:
        """Ask for the query types of DirectX 9; none if the driver does not answer."""
        version = self.gdi2(InfoType.GETDDIVERSION, hal.DD_GETDDIVERSIONDATA, DX9_RUNTIME_VERSION)
        counted = self.gdi2(InfoType.GETD3DQUERYCOUNT, hal.DD_GETD3DQUERYCOUNTDATA)
        count = 0 if counted is None or version is None else int(counted.dwNumQueries)
        _check_number(count, MOST_QUERIES, "query types")
        asked = (
            self.gdi2(InfoType.GETD3DQUERY, hal.DD_GETD3DQUERYDATA, index)
            for index in range(count)
        )
        return tuple(int(each.QueryType) for each in asked if each is not None)

    def older(self, runtime: int) -> Capabilities | None:
        """Ask for the structures of DirectX 6 and 7, as a runtime of a version does."""
        device, textures = self._global_data()
        extended, ddi = self._extended(runtime)
        depths = self._depth_formats()
        if not device and not extended and not depths:
            return None
        return Capabilities(ddi, device | extended, (*textures, *depths))

    def _global_data(self) -> tuple[dict[str, int | float], tuple[tuple[int, int], ...]]:
        """Ask for the members of D3DHAL_GLOBALDRIVERDATA and for the texture formats in it."""
        layout = caps.BY_ABI["D3DHAL_GLOBALDRIVERDATA"](self.abi)
        found = self._answer("GUID_D3DCaps", bytes(layout.sizeof()))
        if found is None or found.dwActualSize < layout.sizeof():
            return {}, ()
        device = flattened(layout.parse(found.data))
        del device["lpTextureFormats"]
        _check_number(int(device["dwNumTextureFormats"]), MOST_FORMATS, "formats")
        return device, tuple(_pixel_formats(found.formats, FormatOp.TEXTURE))

    def _extended(self, runtime: int) -> tuple[dict[str, int | float], int]:
        """Ask for the members of D3DHAL_D3DEXTENDEDCAPS that driver and runtime have, and the
        version that has so many.
        """
        layout = caps.D3DHAL_D3DEXTENDEDCAPS
        room = layout.sizeof() if runtime > 6 else caps.EXTENDED6_BYTES
        found = self._answer("GUID_D3DExtendedCaps", bytes(room))
        actual = 0 if found is None else found.dwActualSize
        if found is None or actual < caps.EXTENDED6_BYTES:
            return {}, 6
        device = flattened(layout.parse(found.data.ljust(layout.sizeof(), b"\0")))
        del device["dwSize"]
        if room == layout.sizeof() and actual >= layout.sizeof():
            return device, 7
        last = list(device).index("wMaxSimultaneousTextures") + 1
        return dict(list(device.items())[:last]), 6

    def _depth_formats(self) -> tuple[tuple[int, int], ...]:
        """Ask for the formats of depth surfaces: a count, then a DDPIXELFORMAT for each."""
        found = self._answer("GUID_ZPixelFormats", bytes(4 + _Z_ROOM * _PIXEL_FORMAT.sizeof()))
        if found is None or found.dwActualSize < 4:
            return ()
        count = int.from_bytes(found.data[:4], "little")
        _check_number(count, _Z_ROOM, "depth formats")
        end = min(found.dwActualSize, 4 + count * _PIXEL_FORMAT.sizeof())
        return tuple(_pixel_formats(found.data[4:end], FormatOp.ZSTENCIL))


def _check_number(count: int, most: int, what: str) -> None:
    """Raise RigFailure if a driver announces more than ``most`` of ``what``."""
    if count > most:
        impossible = f"the driver announces {count} {what}; {most} are the most"
        raise RigFailure(Finding(FindingKind.PROTOCOL, impossible))


def _pixel_formats(data: bytes, operations: FormatOp) -> Iterator[tuple[int, int]]:
    """Yield the format of each DDPIXELFORMAT in ``data`` with ``operations``."""
    size = _PIXEL_FORMAT.sizeof()
    for at in range(0, len(data) - size + 1, size):
        yield from _described(_PIXEL_FORMAT.parse(data[at : at + size]), operations)


def _described(found: Any, operations: FormatOp) -> Iterator[tuple[int, int]]:
    """Yield the format that a DDPIXELFORMAT describes; nothing for one without a D3DFORMAT."""
    masks = found.dwRBitMask, found.dwGBitMask, found.dwBBitMask, found.dwRGBAlphaBitMask
    pixels = PixelFormat(found.dwFlags, found.dwFourCC, found.dwRGBBitCount, masks)
    try:
        yield format_of(pixels), int(operations)
    except Unsupported:
        return

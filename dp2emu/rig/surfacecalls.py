"""Calls about surfaces that a driver in a library may have: DdFlip, DdBlt, DdSetColorKey.

A function that is not there, or answers DDHAL_DRIVER_NOTHANDLED, has not done it.
Source: the public documentation of DD_FLIPDATA, DD_BLTDATA and DD_DRVSETCOLORKEYDATA.
"""

from __future__ import annotations

import ctypes
from typing import Any, Protocol

from dp2emu.capture.records import Blitted, ColorKeyRemoved, ColorKeySet, Flipped
from dp2emu.d3d.ddsurface import BY_ABI
from dp2emu.d3d.hresult import HResult
from dp2emu.errors import Fault
from dp2emu.rig.structures import ABI, structure

_FLIP, _BLT, _KEY = (
    structure(name, BY_ABI[name](ABI))
    for name in ("DD_FLIPDATA", "DD_BLTDATA", "DD_DRVSETCOLORKEYDATA")
)
_NOT_HANDLED = 0
"""DDHAL_DRIVER_NOTHANDLED."""
_SRCBLT = 0x8
"""DDCKEY_SRCBLT."""
_HASCKEYSRCBLT = 0x0800
"""DDRAWISURF_HASCKEYSRCBLT: ddckCKSrcBlt counts."""


class Described(Protocol):
    """A surface as a driver knows it; ``local`` and ``shared`` are its structures."""

    local: Any
    shared: Any
    size: int

    @property
    def pointer(self) -> int:
        """What calls name it by."""


class SurfaceCalls:
    """The entry points of a library.  Calls return ddRVal, None for what it does not do."""

    def __init__(self, library: ctypes.CDLL, directdraw: int) -> None:
        self._library = library
        self._directdraw = directdraw

    def flip(self, record: Flipped, front: Described, back: Described) -> int | None:
        """DdFlip; if the driver did it the surfaces have exchanged their memory.  Raises Fault for
        surfaces of different sizes.
        """
        if front.size != back.size and hasattr(self._library, "DdFlip"):
            raise Fault(HResult.DDERR_INVALIDPARAMS, "surfaces that are not alike")
        data = _FLIP(lpDD=self._directdraw, lpSurfCurr=front.pointer, lpSurfTarg=back.pointer)
        return self._called("DdFlip", data)

    def blit(self, record: Blitted, target: Described, source: Described | None) -> int | None:
        """DdBlt of one rectangle, which is clipped already."""
        blt = record.blt
        data = _BLT(
            lpDD=self._directdraw,
            lpDDDestSurface=target.pointer,
            lpDDSrcSurface=source.pointer if source else 0,
            dwFlags=blt.flags,
            dwROPFlags=blt.rop,
        )
        written = blt.left, blt.top, blt.right, blt.bottom
        read = blt.source_left, blt.source_top, blt.source_right, blt.source_bottom
        for name, corners in (("rDest", written), ("rSrc", read)):
            for each in (name, name.replace("r", "rOrig", 1)):
                _fill(getattr(data, each), corners)
        effects = data.bltFX
        effects.dwSize, effects.dwDDFX, effects.dwROP = ctypes.sizeof(effects), blt.fx, blt.rop
        effects.lpDDSPattern = blt.fill  # the union's dwFillColor
        _fill(effects.ddckSrcColorkey, (blt.low, blt.high))
        _fill(effects.ddckDestColorkey, (blt.dest_low, blt.dest_high))
        return self._called("DdBlt", data)

    def set_key(self, record: ColorKeySet, surface: Described) -> int | None:
        """DdSetColorKey for source blits; the surface has the key when the driver is told."""
        key = record.low, record.high
        _fill(surface.local.ddckCKSrcBlt, key)
        surface.local.dwFlags |= _HASCKEYSRCBLT
        data = _KEY(lpDDSurface=surface.pointer, dwFlags=_SRCBLT)
        _fill(data.ckNew, key)
        return self._called("DdSetColorKey", data)

    def remove_key(self, record: ColorKeyRemoved, surface: Described) -> int:
        """The surface has no key any more, of which no driver is told."""
        surface.local.dwFlags &= ~_HASCKEYSRCBLT
        return 0

    def _called(self, name: str, data: Any) -> int | None:
        entry = getattr(self._library, name, None)
        if entry is None:
            return None
        entry.restype = ctypes.c_uint32
        handled = entry(ctypes.byref(data))
        return None if handled == _NOT_HANDLED else int(data.ddRVal)


def _fill(structure: Any, values: tuple[int, ...]) -> None:
    """Give the first members these values."""
    for (name, _), value in zip(structure._fields_, values, strict=False):
        setattr(structure, name, value)

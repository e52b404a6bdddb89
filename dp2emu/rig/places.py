"""Surfaces of a native driver: their DirectDraw structures, their memory, and its locks.

Source: the public documentation of DdCreateSurface, DdDestroySurface, DdLock, DdUnlock,
D3dCreateSurfaceEx and DD_ATTACHLIST.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

from dp2emu.d3d import hal
from dp2emu.d3d.ddraw import FACES, Caps2
from dp2emu.d3d.formats import FORMATS
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.pixelformats import PixelFormat, format_of
from dp2emu.errors import Fault, Unsupported
from dp2emu.gpu.resource.heap import SurfaceKind
from dp2emu.gpu.resource.subresources import CUBE_FACES, Shape, Texels, full_chain, subresources
from dp2emu.rig.structures import ABI, structure

_LOCAL, _GLOBAL, _MORE, _ATTACHED, _CREATE, _DESTROY, _LOCK, _UNLOCK = (
    structure(name, hal.SURFACES_BY_ABI[name](ABI))
    for name in (
        "DD_SURFACE_LOCAL", "DD_SURFACE_GLOBAL", "DD_SURFACE_MORE", "DD_ATTACHLIST",
        "DD_CREATESURFACEDATA", "DD_DESTROYSURFACEDATA", "DD_LOCKDATA", "DD_UNLOCKDATA",
    )
)  # fmt: skip
_WANTED = structure("DDSURFACEDESC2", hal.CALLS_BY_ABI["DDSURFACEDESC2"](ABI))

_NAMES: dict[int, str] = {
    SurfaceKind.MEMORY: "command buffer", SurfaceKind.VERTEXBUFFER: "vertex buffer",
    SurfaceKind.INDEXBUFFER: "index buffer",
}  # fmt: skip
"""What findings call buffers; any other surface is called a surface."""

_PIXEL_FORMAT = (
    "dwSize", "dwFlags", "dwFourCC", "dwRGBBitCount",
    "dwRBitMask", "dwGBitMask", "dwBBitMask", "dwRGBAlphaBitMask",
)  # fmt: skip
_EXECUTEBUFFER = 0x800000
"""DDSCAPS_EXECUTEBUFFER: a buffer, for which DirectDraw calls neither DdCreateSurface nor DdLock.
"""
_ATTACHED_TO, _ATTACHED_FROM, _HASPIXELFORMAT = 0x1, 0x8, 0x2000
"""DDRAWISURF_ATTACHED, DDRAWISURF_ATTACHED_FROM and DDRAWISURF_HASPIXELFORMAT."""
_DESCRIBED = 0x21007
"""DDSD_CAPS, DDSD_HEIGHT, DDSD_WIDTH, DDSD_PIXELFORMAT and DDSD_MIPMAPCOUNT."""
_READONLY = 0x10
"""DDLOCK_READONLY."""
_BLOCKSIZE, _USERMEM, _NO_ADDRESS = 2, 4, 8
"""DDHAL_PLEASEALLOC_BLOCKSIZE and DDHAL_PLEASEALLOC_USERMEM, which a driver says in fpVidMem
instead of an address; addresses are above all such numbers."""


class Memory(Protocol):
    """Memory that a driver uses for surfaces."""

    address: int

    def read(self, offset: int, size: int) -> bytes:
        """Load ``size`` bytes."""

    def write(self, offset: int, data: bytes) -> None:
        """Store ``data``."""


class DriverMemory:
    """Memory of the driver's own from ``address`` on, which ends where only the driver knows."""

    def __init__(self, address: int) -> None:
        self.address = address

    def read(self, offset: int, size: int) -> bytes:
        """Load ``size`` bytes."""
        return ctypes.string_at(self.address + offset, size)

    def write(self, offset: int, data: bytes) -> None:
        """Store ``data``."""
        ctypes.memmove(self.address + offset, data, len(data))


class Laid(NamedTuple):
    """The place of a level among a surface's bytes as the rig counts them, and its size in texels.

    A slice has ``rows`` rows of ``pitch`` bytes; all bytes are one row for formats of blocks.
    """

    offset: int
    size: int
    pitch: int
    rows: int
    width: int
    height: int
    depth: int


class Level:
    """A level of a texture, or a surface without levels.  Mutable: a driver has its structures.

    ``laid`` has its place and its rows as the rig counts them; the memory's rows are lPitch bytes
    apart, which ``asked`` was before the driver placed it.
    """

    def __init__(self, row: dict[str, int], laid: Laid, number: int, face: int) -> None:
        self.laid = laid
        self.memory: Memory = DriverMemory(0)
        self.start = 0
        self.asked = laid.pitch if number or face else ctypes.c_int32(row["pitch"]).value
        self.shared = _GLOBAL(lPitch=self.asked, wHeight=laid.height, wWidth=laid.width)
        if laid.depth > 1:
            self.shared.lSlicePitch = laid.size // laid.depth
        for member in _PIXEL_FORMAT:
            setattr(self.shared.ddpfSurface, member, row[member])
        levels = row["levels"] - number if row["levels"] > 1 else row["levels"]
        self.more = _MORE(dwMipMapCount=levels)
        caps2 = row["caps2"] | (Caps2.MIPMAPSUBLEVEL if number else 0)
        if face:
            caps2 = caps2 & ~Caps2.CUBEMAP_ALLFACES | FACES[face]
        self.more.ddsCapsEx.dwCaps2 = caps2
        self.more.ddsCapsEx.dwCaps4 = laid.depth if laid.depth > 1 else 0
        self.local = _LOCAL(
            lpGbl=ctypes.addressof(self.shared),
            lpSurfMore=ctypes.addressof(self.more),
            dwFlags=_HASPIXELFORMAT if row["dwFlags"] else 0,
        )
        self.local.ddsCaps.dwCaps = row["caps"]
        self.attached = _ATTACHED(lpAttached=self.pointer)
        self.origin = _ATTACHED()

    @property
    def pointer(self) -> int:
        """Return the address of the DD_SURFACE_LOCAL, by which calls refer to the surface."""
        return ctypes.addressof(self.local)

    def attach(self, level: Level) -> None:
        """Put ``level`` at the end of the list of surfaces that are attached to this one."""
        end = self.local
        name = "lpAttachList"
        while getattr(end, name):
            end, name = _ATTACHED.from_address(getattr(end, name)), "lpLink"
        setattr(end, name, ctypes.addressof(level.attached))
        level.origin.lpAttached = self.pointer
        level.local.lpAttachListFrom = ctypes.addressof(level.origin)
        level.local.dwFlags |= _ATTACHED_TO
        self.local.dwFlags |= _ATTACHED_FROM

    def settle(self, memory: Memory, start: int) -> None:
        """Have the level's bytes at byte ``start`` of ``memory``."""
        self.memory, self.start = memory, start
        self.shared.fpVidMem = memory.address + start

    def exchange(self, other: Level) -> None:
        """Exchange the memory of two surfaces, as DirectDraw does after a flip."""
        one, two = self.shared, other.shared
        one.fpVidMem, two.fpVidMem = two.fpVidMem, one.fpVidMem
        one.lPitch, two.lPitch = two.lPitch, one.lPitch
        self.memory, other.memory = other.memory, self.memory
        self.start, other.start = other.start, self.start

    def pieces(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Return (offset in the level's memory, size) of the parts of bytes [start, stop)."""
        pitch, rows = self.laid.pitch, self.laid.rows
        here = self.shared.lPitch, self.shared.lSlicePitch or pitch * rows
        if pitch == self.laid.size or here == (pitch, pitch * rows):
            yield start, stop - start
            return
        while start < stop:
            (depth, row), column = divmod(start // pitch, rows), start % pitch
            size = min(pitch - column, stop - start)
            yield depth * here[1] + row * here[0] + column, size
            start += size


def _laid(row: dict[str, int]) -> tuple[Laid, ...]:
    """Return the place of each level of each face.  Raises Fault for an impossible surface."""
    faces = CUBE_FACES if row["caps2"] & Caps2.CUBEMAP else 1
    width, height, depth = row["width"], row["height"], max(row["depth"], 1)
    levels = max(row["levels"], 1)
    if levels * faces == 1:
        return (_single(row, depth),)
    if levels > full_chain(width, height, depth):
        raise Fault(HResult.DDERR_INVALIDPARAMS, f"{levels} levels")
    texels = _texels(row)
    laid = [
        Laid(each.offset, each.size, each.size, 1, each.width, each.height, each.depth)
        if (texels.width, texels.height) != (1, 1)
        else Laid(
            each.offset, each.size, each.pitch, each.rows, each.width, each.height, each.depth
        )
        for each in subresources(Shape(width, height, depth, levels, faces), texels)
    ]
    if sum(each.size for each in laid) != row["bytes"] or laid[0].pitch != row["pitch"]:
        raise Fault(HResult.DDERR_INVALIDPARAMS, "levels of other sizes")
    return tuple(laid)


def _texels(row: dict[str, int]) -> Texels:
    red, green, blue, alpha = (row[member] for member in _PIXEL_FORMAT[-4:])
    pixels = PixelFormat(
        row["dwFlags"], row["dwFourCC"], row["dwRGBBitCount"], (red, green, blue, alpha)
    )
    try:
        known = FORMATS[format_of(pixels)]
    except Unsupported as error:
        raise Fault(HResult.DDERR_INVALIDPARAMS, str(error)) from None
    return Texels(known.size, *known.block)


def _single(row: dict[str, int], depth: int) -> Laid:
    """Return the place of a surface without levels: one row unless rows of its pitch fill it."""
    pitch, size = row["pitch"], row["bytes"]
    rows = size // pitch // depth if pitch else 0
    if row["caps"] & _EXECUTEBUFFER or rows * depth * pitch != size:
        pitch, rows = size, 1
    return Laid(0, size, pitch, rows, row["width"], row["height"], depth)


class Chain:
    """The levels of a texture, or the one of another surface.  Mutable: ``users`` counts the
    surfaces: the texture, and levels that have handles of their own.
    """

    def __init__(self, row: dict[str, int]) -> None:
        self.users = 0
        self.buffer = bool(row["caps"] & _EXECUTEBUFFER)
        count = max(row["levels"], 1)
        self.levels = tuple(
            Level(row, laid, place % count, place // count)
            for place, laid in enumerate(_laid(row))
        )
        for place, level in enumerate(self.levels[1:], 1):
            self.levels[place - 1 if place % count else 0].attach(level)

    def level_at(self, offset: int, size: int) -> Level | None:
        """Return the level that is these of the rig's bytes, None if no level is."""
        laid = ((level, level.laid) for level in self.levels)
        return next((level for level, at in laid if (at.offset, at.size) == (offset, size)), None)

    def settle(self, memory: Memory) -> None:
        """Have all levels in one memory, as the rig counts their bytes."""
        for level in self.levels:
            level.settle(memory, level.laid.offset)


class Place:
    """A surface by the rig's handle: a chain, or one level of one."""

    def __init__(self, chain: Chain, levels: tuple[Level, ...], size: int, offset: int) -> None:
        self.chain = chain
        self.levels = levels
        self.size = size
        self.offset = offset

    @property
    def pointer(self) -> int:
        """Return the address of the surface's DD_SURFACE_LOCAL, by which calls refer to it."""
        return self.levels[0].pointer

    @property
    def first(self) -> Level:
        """Return the level that calls refer to."""
        return self.levels[0]

    @property
    def flippable(self) -> bool:
        """Return whether the surface may exchange its memory; a level cannot leave its texture."""
        return len(self.levels) == 1 and (
            len(self.chain.levels) == 1 or self.first not in self.chain.levels
        )

    def reach(self, offset: int, size: int) -> int:
        """Return the offset in the first level's memory of the surface's byte ``offset``.

        Raises Fault unless ``size`` bytes from there on are in the surface.
        """
        if offset + size > self.size:
            raise Fault(HResult.DDERR_INVALIDPARAMS, "outside the surface")
        return self.first.start + offset


class Surfaces:
    """The surfaces of a driver.  Mutable: they are made and removed.

    ``call`` calls a function of the driver and returns ddRVal, or None if the driver has no such
    function or did not handle the call; ``reserve`` returns zeroed memory of a size under a name;
    ``adapter`` is the address of the driver's DD_DIRECTDRAW_GLOBAL.
    """

    def __init__(
        self,
        call: Callable[[str, Any], int | None],
        reserve: Callable[[int, str], Memory],
        adapter: int,
    ) -> None:
        self._call = call
        self._reserve = reserve
        self._adapter = adapter
        self._places: dict[int, Place] = {}

    def __iter__(self) -> Iterator[Place]:
        return iter(self._places.values())

    def get(self, handle: int) -> Place | None:
        """Return a surface, None without one."""
        return self._places.get(handle)

    def __getitem__(self, handle: int) -> Place:
        if handle not in self._places:
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"no surface {handle}")
        return self._places[handle]

    def make(self, row: dict[str, int]) -> Place:
        """Make the surface that a record MAKE describes.  Raises Fault for an impossible one, and
        with the driver's result if DdCreateSurface fails.
        """
        handle = row["handle"]
        if handle in self._places:
            raise Fault(HResult.DDERR_INVALIDPARAMS, "there is such a surface")
        place = self._part(row, self[row["parent"]]) if row["parent"] else self._whole(row)
        place.first.more.dwSurfaceHandle = handle
        place.chain.users += 1
        self._places[handle] = place
        return place

    def remove(self, handle: int) -> None:
        """Forget a surface; with the last one of its chain the driver's DdDestroySurface is called
        for each level.
        """
        place = self._places.pop(handle)
        place.first.more.dwSurfaceHandle = 0
        place.chain.users -= 1
        if not place.chain.users:
            self._end(place.chain)

    def _end(self, chain: Chain) -> None:
        for level in reversed(chain.levels if not chain.buffer else ()):
            data = _DESTROY(lpDD=self._adapter, lpDDSurface=level.pointer)
            self._call("DdDestroySurface", data)

    def _whole(self, row: dict[str, int]) -> Place:
        chain = Chain(row)
        name = f"{_NAMES.get(row['kind'], 'surface')} {row['handle']}"
        handled = None if chain.buffer else self._created(chain, row)
        if handled is None or all(map(_silent, chain.levels)):
            chain.settle(self._reserve(row["bytes"], name))
        else:
            for level in chain.levels:
                self._settle(level, name)
        return Place(chain, chain.levels, row["bytes"], 0)

    def _created(self, chain: Chain, row: dict[str, int]) -> int | None:
        """DdCreateSurface; returns D3D_OK, or None if there is none or it leaves it to DirectDraw.

        Raises Fault with the driver's result if it fails.
        """
        wanted = _WANTED(
            dwSize=ctypes.sizeof(_WANTED), dwFlags=_DESCRIBED,
            dwWidth=row["width"], dwHeight=row["height"], dwMipMapCount=row["levels"],
        )  # fmt: skip
        for member in _PIXEL_FORMAT:
            setattr(wanted.ddpfPixelFormat, member, row[member])
        wanted.ddsCaps.dwCaps, wanted.ddsCaps.dwCaps2 = row["caps"], row["caps2"]
        wanted.ddsCaps.dwCaps4 = row["depth"] if row["depth"] > 1 else 0
        listed = (ctypes.c_void_p * len(chain.levels))(*(each.pointer for each in chain.levels))
        data = _CREATE(
            lpDD=self._adapter,
            lpDDSurfaceDesc=ctypes.addressof(wanted),
            lplpSList=ctypes.addressof(listed),
            dwSCnt=len(chain.levels),
        )
        result = self._call("DdCreateSurface", data)
        if result:
            raise Fault(result, "DdCreateSurface")
        return result

    def _settle(self, level: Level, name: str) -> None:
        """Have a level in the driver's own memory, or in as much as the driver asks for."""
        shared, laid = level.shared, level.laid
        said = shared.fpVidMem
        if said >= _NO_ADDRESS:
            level.settle(DriverMemory(said), 0)
            return
        asked = {_BLOCKSIZE: shared.lpVidMemHeap * (shared.lSlicePitch & 0xFFFFFFFF),
                 _USERMEM: shared.lpVidMemHeap}.get(said, 0)  # fmt: skip
        needed = laid.size
        if laid.pitch != laid.size and shared.lPitch > 0:
            needed = shared.lPitch * laid.rows * laid.depth
        shared.lpVidMemHeap = 0
        shared.lSlicePitch = shared.lPitch * laid.rows if laid.depth > 1 else 0
        level.settle(self._reserve(max(asked, needed), name), 0)

    def _part(self, row: dict[str, int], owner: Place) -> Place:
        """Return a level of the owner's chain where it has no handle, else the same memory."""
        owner.reach(row["offset"], row["bytes"])
        start, chain = owner.offset + row["offset"], owner.chain
        found = chain.level_at(start, row["bytes"])
        if found is not None and found is not chain.levels[0] and not found.more.dwSurfaceHandle:
            return Place(chain, (found,), row["bytes"], start)
        memories = {id(each.memory) for each in chain.levels}
        if found is None and (len(memories) > 1 or isinstance(owner.first.memory, DriverMemory)):
            raise Fault(HResult.DDERR_INVALIDPARAMS, "no level begins there")
        laid = found.laid if found else _single(row, max(row["depth"], 1))
        alias = Level(row, laid, 0, 0)
        if found is None:
            alias.settle(owner.first.memory, owner.first.start + row["offset"])
        else:
            alias.settle(found.memory, found.start)
            alias.shared.lPitch = found.shared.lPitch
            alias.shared.lSlicePitch = found.shared.lSlicePitch
        return Place(chain, (alias,), row["bytes"], start)

    # Locks

    def lock(self, level: Level, flags: int) -> tuple[Memory, int]:
        """DdLock, until the driver has drawn; returns the memory to use, and the level's start.

        Raises Fault with the driver's result if it fails.
        """
        result: int | None = HResult.DDERR_WASSTILLDRAWING
        while result == HResult.DDERR_WASSTILLDRAWING:
            data = _LOCK(lpDD=self._adapter, lpDDSurface=level.pointer, dwFlags=flags)
            result = self._call("DdLock", data)
        if result:
            raise Fault(result, "DdLock")
        if result is None or not data.lpSurfData:
            return level.memory, level.start
        if data.lpSurfData == level.memory.address + level.start:
            return level.memory, level.start
        return DriverMemory(data.lpSurfData), 0

    def unlock(self, level: Level) -> None:
        """DdUnlock.  Raises Fault with the driver's result if it fails."""
        data = _UNLOCK(lpDD=self._adapter, lpDDSurface=level.pointer)
        if result := self._call("DdUnlock", data):
            raise Fault(result, "DdUnlock")

    def wait(self, handle: int) -> None:
        """Lock and unlock a surface that is no buffer; of an unknown one there is nothing."""
        place = self.get(handle)
        if place is not None and not place.chain.buffer:
            self.lock(place.first, 0)
            self.unlock(place.first)

    def read(self, handle: int, offset: int, size: int) -> bytes:
        """Load bytes of a surface, under a lock of each level.  Raises Fault outside of it."""
        found = []
        for level, start, stop in self._levels(handle, offset, size):
            memory, at = self._locked(handle, level, _READONLY)
            found += [memory.read(at + here, part) for here, part in level.pieces(start, stop)]
            self._unlocked(handle, level)
        return b"".join(found)

    def write(self, handle: int, offset: int, data: bytes) -> None:
        """Store bytes in a surface, under a lock of each level.  Raises Fault outside of it."""
        done = 0
        for level, start, stop in self._levels(handle, offset, len(data)):
            memory, at = self._locked(handle, level, 0)
            for here, part in level.pieces(start, stop):
                memory.write(at + here, data[done : done + part])
                done += part
            self._unlocked(handle, level)

    def _locked(self, handle: int, level: Level, flags: int) -> tuple[Memory, int]:
        if self[handle].chain.buffer:
            return level.memory, level.start
        return self.lock(level, flags)

    def _unlocked(self, handle: int, level: Level) -> None:
        if not self[handle].chain.buffer:
            self.unlock(level)

    def _levels(self, handle: int, offset: int, size: int) -> Iterator[tuple[Level, int, int]]:
        """Return (level, first byte in it, byte behind the last) for a range of bytes."""
        place = self[handle]
        place.reach(offset, size)
        for level in place.levels:
            begin = level.laid.offset - place.first.laid.offset
            start, stop = max(offset - begin, 0), min(offset + size - begin, level.laid.size)
            if start < stop:
                yield level, start, stop


def _silent(level: Level) -> bool:
    """Return whether a driver that handled DdCreateSurface left the memory to DirectDraw."""
    return not level.shared.fpVidMem and level.shared.lPitch == level.asked

"""Memory the host and the GPU share: surfaces and buffers by handle."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Any
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from dp2emu.d3d.enums import Format
from dp2emu.d3d.formats import COLOR, DEPTH, pixel_bytes
from dp2emu.d3d.hresult import HResult
from dp2emu.errors import Fault, Unsupported
from dp2emu.gpu.queries import HeapUse


class SurfaceKind(IntEnum):
    """D3DRESOURCETYPE, with 0 for plain shared memory such as command buffers."""

    MEMORY = 0
    SURFACE = 1
    VOLUME = 2
    TEXTURE = 3
    VOLUMETEXTURE = 4
    CUBETEXTURE = 5
    VERTEXBUFFER = 6
    INDEXBUFFER = 7


BUFFERS = (SurfaceKind.MEMORY, SurfaceKind.VERTEXBUFFER, SurfaceKind.INDEXBUFFER)


@dataclass(frozen=True, slots=True)
class SurfaceDesc:
    """What a surface is made as.  Buffers: ``width`` bytes, height 1, format UNKNOWN.

    ``pitch`` in bytes; 0 asks for the tight pitch.  ``samples`` 1 means not multisampled.
    """

    handle: int
    kind: SurfaceKind
    width: int
    height: int = 1
    format: int = 0
    pitch: int = 0
    samples: int = 1
    usage: int = 0


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on what a stream may make the heap allocate, in pixels, bytes and surfaces."""

    extent: int = 16384
    surface_bytes: int = 1 << 30
    total_bytes: int = 1 << 32
    surfaces: int = 1 << 16


class Surface:
    """One allocation.  ``data`` is uint8, flat, zeroed; ``serial`` never repeats in a heap."""

    __slots__ = ("__weakref__", "data", "desc", "format", "pitch", "samples", "serial")

    def __init__(self, desc: SurfaceDesc, serial: int, pitch: int, size: int) -> None:
        self.desc = desc
        self.serial = serial
        self.pitch = pitch
        self.samples = desc.samples
        self.format = Format(desc.format) if desc.format else Format.UNKNOWN
        self.data: NDArray[np.uint8] = np.zeros(size, np.uint8)

    @property
    def handle(self) -> int:
        return self.desc.handle

    @property
    def width(self) -> int:
        return self.desc.width

    @property
    def height(self) -> int:
        return self.desc.height

    def pixels(self) -> NDArray[Any]:
        """The pixel words, a writable view of shape (height, width * samples)."""
        row = COLOR.get(self.format) or DEPTH.get(self.format)
        if row is None:
            raise Unsupported(f"pixels of {self.format.sdk}")
        rows = self.data[: self.pitch * self.height].reshape(self.height, self.pitch)
        used = self.width * self.samples * row.word.itemsize
        return rows[:, :used].view(row.word)


class _Allocated:
    """Bytes of all surfaces there are.  Mutable: it counts.  Apart from the heap, so that what
    waits for a surface to go does not keep the heap, and with it the surface.
    """

    def __init__(self) -> None:
        self.bytes = 0

    def add(self, surface: Surface) -> None:
        """Count a surface until nothing refers to it any more."""
        self.bytes += surface.data.nbytes
        finalize(surface, self._subtract, surface.data.nbytes).atexit = False

    def _subtract(self, size: int) -> None:
        self.bytes -= size


class Heap:
    """Surfaces by handle, within limits.  Mutable: it is the memory."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._allocated = _Allocated()
        self._surfaces: dict[int, Surface] = {}
        self._serial = 0
        self._created = [0] * len(SurfaceKind)
        self._written = [0] * len(SurfaceKind)
        self._live = [0] * len(SurfaceKind)
        self._live_bytes = [0] * len(SurfaceKind)

    def __iter__(self) -> Iterator[Surface]:
        return iter(self._surfaces.values())

    def __len__(self) -> int:
        return len(self._surfaces)

    @property
    def allocated(self) -> int:
        """Bytes of all surfaces, also of those without a handle that a context still binds or a
        packet still names.
        """
        return self._allocated.bytes

    def get(self, handle: int) -> Surface | None:
        """The surface of a handle, or None."""
        return self._surfaces.get(handle)

    def create(self, desc: SurfaceDesc) -> Surface:
        """Make a zeroed surface; a live handle is replaced.  Raises Fault or Unsupported."""
        if desc.handle <= 0:
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"surface handle {desc.handle}")
        pitch, size = self._measure(desc)
        old = self._surfaces.get(desc.handle)
        freed = old.data.nbytes if old else 0
        if self.allocated - freed + size > self.limits.total_bytes:
            raise Fault(HResult.DDERR_OUTOFMEMORY, f"surface {desc.handle}: heap is full")
        if old is None and len(self._surfaces) >= self.limits.surfaces:
            raise Fault(HResult.DDERR_OUTOFMEMORY, f"surface {desc.handle}: too many surfaces")
        self._serial += 1
        surface = Surface(desc, self._serial, pitch, size)
        self._allocated.add(surface)
        self._created[desc.kind] += 1
        self._count(surface, 1)
        if old is not None:
            self._count(old, -1)
        self._surfaces[desc.handle] = surface
        return surface

    def destroy(self, handle: int) -> None:
        """Forget a handle; packets under way keep their surface.  Raises Fault if unknown."""
        surface = self._surfaces.pop(handle, None)
        if surface is None:
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"no surface {handle}")
        self._count(surface, -1)

    def write(self, handle: int, offset: int, data: bytes) -> None:
        """Host write, seen by every packet that executes after it.  Raises Fault if outside."""
        surface = self._surfaces.get(handle)
        if surface is None:
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"no surface {handle}")
        if offset < 0 or offset + len(data) > surface.data.nbytes:
            raise Fault(
                HResult.DDERR_INVALIDPARAMS,
                f"write of {len(data)} bytes at {offset:#x} leaves surface {handle} "
                f"({surface.data.nbytes} bytes)",
            )
        surface.data[offset : offset + len(data)] = np.frombuffer(data, np.uint8)
        self._written[surface.desc.kind] += len(data)

    def use(self) -> tuple[HeapUse, ...]:
        """Bookkeeping by resource type, one row per SurfaceKind in numeric order."""
        rows = zip(self._written, self._created, self._live, self._live_bytes, strict=True)
        return tuple(HeapUse(*row) for row in rows)

    def _count(self, surface: Surface, number: int) -> None:
        self._live[surface.desc.kind] += number
        self._live_bytes[surface.desc.kind] += number * surface.data.nbytes

    def _measure(self, desc: SurfaceDesc) -> tuple[int, int]:
        """(pitch, bytes) of a description, checked before anything is allocated."""
        who = f"surface {desc.handle}"
        if desc.kind in BUFFERS:
            if desc.height != 1 or desc.format or desc.samples != 1:
                raise Fault(HResult.DDERR_INVALIDPARAMS, f"{who}: a buffer is one row of bytes")
            if desc.width > self.limits.surface_bytes:
                raise Fault(HResult.DDERR_OUTOFMEMORY, f"{who}: {desc.width} bytes")
            return desc.width, desc.width
        if desc.kind is not SurfaceKind.SURFACE and desc.kind is not SurfaceKind.TEXTURE:
            raise Unsupported(f"{who}: {desc.kind.name.lower()} resources")
        return self._measure_pixels(desc, who)

    def _measure_pixels(self, desc: SurfaceDesc, who: str) -> tuple[int, int]:
        known = desc.format in Format._value2member_map_
        each = pixel_bytes(Format(desc.format)) if known else None
        if each is None:
            name = Format(desc.format).sdk if known else f"{desc.format:#x}"
            raise Unsupported(f"{who}: surface format {name}")
        if not (0 < desc.width <= self.limits.extent and 0 < desc.height <= self.limits.extent):
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"{who}: {desc.width} x {desc.height}")
        if desc.samples not in (1, 2, 4, 8):
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"{who}: {desc.samples} samples")
        tight = desc.width * desc.samples * each
        pitch = desc.pitch or tight
        if pitch < tight or pitch % each:
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"{who}: pitch {desc.pitch}")
        if pitch * desc.height > self.limits.surface_bytes:
            raise Fault(HResult.DDERR_OUTOFMEMORY, f"{who}: {pitch * desc.height} bytes")
        return pitch, pitch * desc.height

"""Memory the host and the GPU share: surfaces and buffers by handle."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import Any
from weakref import finalize

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from dp2emu.d3d.dxgi import ROWS
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.enums import Format
from dp2emu.d3d.formats import AnyFormat, FormatRow, Use
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.sdk import sdk_name
from dp2emu.errors import Fault, Unsupported
from dp2emu.gpu.resource.subresources import (
    CUBE_FACES,
    Shape,
    Subresource,
    Texels,
    full_chain,
    subresources,
)
from dp2emu.limits import Limits
from dp2emu.shader.texture.bindings import MAX_LAYERS


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


TEXTURES = (SurfaceKind.TEXTURE, SurfaceKind.CUBETEXTURE, SurfaceKind.VOLUMETEXTURE)


SAMPLE_COUNTS = (1, 2, 4, 8)
"""Samples a pixel may have; 1 is no multisampling."""


BESIDE = 8 * 16 * SAMPLE_COUNTS[-1]
"""Bytes that may be read beyond a row of pixels: of eight, of the largest format."""


LINE = 64
"""Bytes of a line of a CPU's cache."""


VOLUMES = (SurfaceKind.VOLUME, SurfaceKind.VOLUMETEXTURE)


_BUFFER_LAYOUT: tuple[Subresource, ...] = ()


class SurfaceDesc(msgspec.Struct, frozen=True):
    """What a surface is made as.  Buffers: ``width`` bytes, height 1, format UNKNOWN.

    ``pitch`` in bytes; 0 asks for the tight pitch.  ``samples`` 1 means not multisampled.
    Textures have ``levels`` mip levels and volumes ``depth`` slices in the top one; how they lie
    in memory is said in ``gpu.resource.subresources``.  A surface with a ``parent``, the handle
    of a texture, is level ``index`` modulo ``levels`` of face ``index`` / ``levels`` of that.
    ``managed`` is 1 for textures the driver manages (DDSCAPS2_TEXTUREMANAGE), otherwise 0.

    Direct3D 10 gives a format of its own, ``dxgi``, in the place of ``format``, and arrays of
    ``layers`` textures or cubes.
    """

    handle: int
    kind: SurfaceKind
    width: int
    height: int = 1
    format: int = 0
    pitch: int = 0
    samples: int = 1
    usage: int = 0
    depth: int = 1
    levels: int = 1
    parent: int = 0
    index: int = 0
    managed: int = 0
    layers: int = 1
    dxgi: DxgiFormat | None = None


ColorKey = tuple[int, int]
"""The first and the last of a range of texels, as they are stored."""


class Surface:
    """One allocation, or a view of a part of one.  ``serial`` never repeats in a heap.

    ``data`` is uint8, flat, zeroed when made.  ``words`` is the same memory as int32, with up to
    three bytes of zeros behind it, for those that only read; a view has its texture's.  Of a
    texture ``width``, ``height`` and ``pitch`` are those of the first face's top level, which the
    texture stands for where a plain surface is wanted.  ``color_key`` is the first and the last of
    the texels, as stored, that are transparent where colour keys count; None for none.  A managed
    texture and its levels have a ``system`` copy, which the host reads and writes; ``data`` is
    what the GPU samples.
    """

    __slots__ = (
        "__weakref__",
        "color_key",
        "data",
        "desc",
        "format",
        "parent",
        "pitch",
        "samples",
        "serial",
        "subresources",
        "system",
        "words",
    )

    def __init__(
        self,
        desc: SurfaceDesc,
        serial: int,
        layout: tuple[Subresource, ...],
        parent: Surface | None = None,
    ) -> None:
        self.desc = desc
        self.serial = serial
        self.samples = desc.samples
        self.format: AnyFormat = desc.dxgi or Format(desc.format)
        self.subresources = layout
        self.parent = parent
        self.color_key: ColorKey | None = None
        self.pitch = layout[0].pitch if layout else desc.width
        self.system: Surface | None = None
        if desc.managed or (parent is not None and parent.system is not None):
            above = parent.system if parent else None
            self.system = Surface(replace(desc, managed=0), serial, layout, above)
        if parent is not None:
            start, end = layout[0].offset, layout[-1].offset + layout[-1].size
            self.words: NDArray[np.int32] = parent.words
            self.data: NDArray[np.uint8] = parent.data[start:end]
            return
        size = _size(desc, layout)
        self.words = _zeros(size, self.pitch + BESIDE if layout else 0)
        self.data = self.words.view(np.uint8)[:size]

    @property
    def handle(self) -> int:
        """Its number."""
        return self.desc.handle

    @property
    def width(self) -> int:
        """Texels of a row of the top level; of buffers, bytes."""
        return self.desc.width

    @property
    def height(self) -> int:
        """Rows of the top level."""
        return self.desc.height

    @property
    def own_bytes(self) -> int:
        """Bytes of memory that are nobody else's, without those of a system copy."""
        return 0 if self.parent else self.data.nbytes

    @property
    def held_bytes(self) -> int:
        """The same with those of the system copy."""
        return self.own_bytes * _copies(self.desc)

    @property
    def host_copy(self) -> Surface:
        """What the host reads and writes: the system copy, or the surface itself."""
        return self.system or self

    def pixels(self) -> NDArray[Any]:
        """The pixel words, a writable view of shape (height, width * samples).

        Pixels of several words have them along a third axis.  Raises Unsupported for formats
        whose pixels share bytes.
        """
        row = ROWS.get(self.format)
        if row is None or row.blocked:
            raise Unsupported(f"pixels of {self.format.sdk}")
        rows = self.data[: self.pitch * self.height].reshape(self.height, self.pitch)
        words = rows[:, : self.width * self.samples * row.size].view(row.word)
        return words if row.words == 1 else words.reshape(*words.shape[:1], -1, row.words)


def _zeros(size: int, beyond: int) -> NDArray[np.int32]:
    """Words of at least ``size`` bytes that begin with a line of the CPU's cache, and bytes
    ``beyond`` them that nothing is made of.
    """
    count = -(-size // 4)
    found = np.zeros(count + -(-(beyond + LINE) // 4), np.dtype("<i4"))
    start = -found.ctypes.data % LINE // 4
    return found[start : start + count]


def _copies(desc: SurfaceDesc) -> int:
    return 2 if desc.managed else 1


def _size(desc: SurfaceDesc, layout: tuple[Subresource, ...]) -> int:
    """Bytes of a whole surface or buffer."""
    return layout[-1].offset + layout[-1].size if layout else desc.width


class _Allocated:
    """Bytes of all surfaces there are.  Mutable: it counts.  Apart from the heap, so that what
    waits for a surface to go does not keep the heap, and with it the surface.
    """

    def __init__(self) -> None:
        self.bytes = 0

    def add(self, surface: Surface) -> None:
        """Count a surface until nothing refers to it any more, and its system copy likewise."""
        for copy in (surface, surface.system):
            if copy is not None:
                self.bytes += copy.own_bytes
                finalize(copy, self._subtract, copy.own_bytes).atexit = False

    def _subtract(self, size: int) -> None:
        self.bytes -= size


class Heap:
    """Surfaces by handle, within limits.  Mutable: it is the memory.

    ``largest`` is how many samples a surface has had in a slice, at most.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self.largest = 1
        self._allocated = _Allocated()
        self._surfaces: dict[int, Surface] = {}
        self._serial = 0
        self._created = [0] * len(SurfaceKind)
        self._written = [0] * len(SurfaceKind)
        self._live = [0] * len(SurfaceKind)
        self._live_bytes = [0] * len(SurfaceKind)
        self._managed = [0] * len(SurfaceKind)
        self._managed_bytes = [0] * len(SurfaceKind)
        self._evictions = [0] * len(SurfaceKind)

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
        old = self._surfaces.get(desc.handle)
        if old is None and len(self._surfaces) >= self.limits.surfaces:
            raise Fault(HResult.DDERR_OUTOFMEMORY, self._beyond(desc, "surfaces"))
        surface = self._made(desc, old.held_bytes if old else 0)
        self._created[desc.kind] += 1
        self._count(surface, 1)
        if old is not None:
            self._count(old, -1)
        self._surfaces[desc.handle] = surface
        return surface

    def make(self, desc: SurfaceDesc) -> Surface:
        """Make a zeroed surface that has no handle and lives as long as somebody refers to it.

        Raises Fault or Unsupported.
        """
        return self._made(replace(desc, handle=0), 0)

    def _made(self, desc: SurfaceDesc, freed: int) -> Surface:
        """A surface within the limits, once ``freed`` bytes are given back."""
        if desc.managed not in ((0, 1) if desc.kind in TEXTURES and not desc.parent else (0,)):
            what = f"surface {desc.handle}: managed {desc.managed}"
            raise Fault(HResult.DDERR_INVALIDPARAMS, what)
        parent = self._parent(desc)
        layout = (parent.subresources[desc.index],) if parent else self._measure(desc)
        size = 0 if parent else _size(desc, layout) * _copies(desc)
        if self.allocated - freed + size > self.limits.total_bytes:
            raise Fault(HResult.DDERR_OUTOFMEMORY, self._beyond(desc, "total_bytes"))
        self._serial += 1
        self.largest = max(self.largest, desc.width * desc.height * desc.samples)
        try:
            surface = Surface(desc, self._serial, layout, parent)
        except MemoryError:
            what = f"surface {desc.handle}: no memory for {size} bytes"
            raise Fault(HResult.DDERR_OUTOFMEMORY, what) from None
        self._allocated.add(surface)
        return surface

    def destroy(self, handle: int) -> None:
        """Forget a handle; packets under way keep their surface.  Raises Fault if unknown."""
        surface = self._surfaces.pop(handle, None)
        if surface is None:
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"no surface {handle}")
        self._count(surface, -1)

    def write(self, handle: int, offset: int, data: bytes) -> None:
        """Host write of ``data`` at a byte ``offset``, seen by every packet that executes after
        it.

        Raises Fault if outside.
        """
        surface = self._surfaces.get(handle)
        if surface is None:
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"no surface {handle}")
        if offset < 0 or offset + len(data) > surface.data.nbytes:
            raise Fault(
                HResult.DDERR_INVALIDPARAMS,
                f"write of {len(data)} bytes at {offset:#x} leaves surface {handle} "
                f"({surface.data.nbytes} bytes)",
            )
        surface.host_copy.data[offset : offset + len(data)] = np.frombuffer(data, np.uint8)
        self._written[surface.desc.kind] += len(data)

    def set_color_key(self, handle: int, key: ColorKey | None) -> None:
        """DdSetColorKey for source blits; None takes the key away.  Raises Fault if unknown."""
        surface = self._surfaces.get(handle)
        if surface is None:
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"no surface {handle}")
        surface.color_key = key

    def use(self) -> tuple[HeapUse, ...]:
        """Bookkeeping by resource type, one row per SurfaceKind in numeric order."""
        rows = zip(
            self._written, self._created, self._live, self._live_bytes,
            self._managed, self._managed_bytes, self._evictions, strict=True,
        )  # fmt: skip
        return tuple(HeapUse(*row) for row in rows)

    def count_eviction(self, surface: Surface) -> None:
        """A managed texture lost its place in video memory."""
        self._evictions[surface.desc.kind] += 1

    def _count(self, surface: Surface, number: int) -> None:
        self._live[surface.desc.kind] += number
        self._live_bytes[surface.desc.kind] += number * surface.own_bytes
        if surface.desc.managed:
            self._managed[surface.desc.kind] += number
            self._managed_bytes[surface.desc.kind] += number * surface.own_bytes

    def _parent(self, desc: SurfaceDesc) -> Surface | None:
        """The texture a description is a level of, None if it has memory of its own."""
        who, parent = f"surface {desc.handle}", self._surfaces.get(desc.parent)
        if desc.parent == 0:
            if desc.index:
                raise Fault(HResult.DDERR_INVALIDPARAMS, f"{who}: level {desc.index} of nothing")
            return None
        if parent is None or parent.desc.kind not in TEXTURES:
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"{who}: no texture {desc.parent}")
        if not 0 <= desc.index < len(parent.subresources):
            what = f"{who}: texture {desc.parent} has no level {desc.index}"
            raise Fault(HResult.DDERR_INVALIDPARAMS, what)
        found = parent.subresources[desc.index]
        kind = SurfaceKind.VOLUME if parent.desc.kind in VOLUMES else SurfaceKind.SURFACE
        wanted = (kind, found.width, found.height, found.depth, parent.desc.format, 1, 1)
        given = (
            desc.kind, desc.width, desc.height, desc.depth, desc.format, desc.samples, desc.levels,
        )  # fmt: skip
        if given != wanted or desc.pitch not in (0, found.pitch):
            what = f"{who} is not like level {desc.index} of texture {desc.parent}"
            raise Fault(HResult.DDERR_INVALIDPARAMS, what)
        return parent

    def measure(self, desc: SurfaceDesc) -> int:
        """Bytes that a surface takes which is no part of another.

        Raises Fault or Unsupported if there cannot be such a one, or it passes a limit alone.
        """
        return _size(desc, self._measure(desc))

    def _measure(self, desc: SurfaceDesc) -> tuple[Subresource, ...]:
        """Where everything of a description lies, checked before anything is allocated."""
        who = f"surface {desc.handle}"
        if desc.kind in BUFFERS:
            plain = (desc.height, desc.samples, desc.depth, desc.levels, desc.layers)
            if desc.format or desc.dxgi or plain != (1,) * len(plain):
                raise Fault(HResult.DDERR_INVALIDPARAMS, f"{who}: a buffer is one row of bytes")
            if desc.width > self.limits.surface_bytes:
                raise Fault(HResult.DDERR_OUTOFMEMORY, self._beyond(desc, "surface_bytes"))
            return _BUFFER_LAYOUT
        self._check_shape(desc, who)
        layout = layout_of(desc)
        if desc.pitch:
            _check_pitch(desc, who)
        if _size(desc, layout) > self.limits.surface_bytes:
            raise Fault(HResult.DDERR_OUTOFMEMORY, self._beyond(desc, "surface_bytes"))
        return layout

    def _beyond(self, desc: SurfaceDesc, limit: str) -> str:
        return f"surface {desc.handle}: limit {limit} {getattr(self.limits, limit)}"

    def _check_shape(self, desc: SurfaceDesc, who: str) -> None:
        sides = (desc.width, desc.height, desc.depth)
        extent = self.limits.extent
        if not all(0 < side <= extent for side in sides):
            what = " x ".join(map(str, sides[: 3 if desc.kind in VOLUMES else 2]))
            beyond = f", limit extent {extent}" if max(sides) > extent else ""
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"{who}: {what}{beyond}")
        if desc.samples not in (SAMPLE_COUNTS if _multisampled(desc) else (1,)):
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"{who}: {desc.samples} samples")
        if desc.depth > 1 and desc.kind not in VOLUMES:
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"{who}: {desc.depth} slices")
        most = MAX_LAYERS // _faces(desc) if desc.dxgi else 1
        if not 0 < desc.layers <= most:
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"{who}: an array of {desc.layers}")
        if desc.kind in _CUBES and desc.width != desc.height:
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"{who}: a cube {desc.width} x {desc.height}")
        most = full_chain(*sides) if desc.kind in TEXTURES else 1
        if not 0 < desc.levels <= most or (desc.levels > 1 and desc.samples > 1):
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"{who}: {desc.levels} levels")


_CUBES = (SurfaceKind.CUBETEXTURE,)


_MOST_LEVELS = 32
"""Of a surface whose sides are numbers of 32 bits."""


def layout_of(desc: SurfaceDesc) -> tuple[Subresource, ...]:
    """Where the levels and faces of a surface with pixels lie.  Raises Unsupported for formats
    nothing is known of, and Fault for no parts or more than any surface has; what else makes a
    description impossible is for ``Heap.create`` to find.
    """
    if not (0 < desc.levels <= _MOST_LEVELS and 0 < desc.layers <= MAX_LAYERS):
        what = f"surface {desc.handle}: {desc.levels} levels, an array of {desc.layers}"
        raise Fault(HResult.DDERR_INVALIDPARAMS, what)
    return subresources(_shape(desc), _texels(desc, f"surface {desc.handle}"))


def _shape(desc: SurfaceDesc) -> Shape:
    faces = _faces(desc) * desc.layers
    return Shape(desc.width, desc.height, desc.depth, desc.levels, faces, desc.pitch)


def _faces(desc: SurfaceDesc) -> int:
    return CUBE_FACES if desc.kind in _CUBES else 1


def _texels(desc: SurfaceDesc, who: str) -> Texels:
    """What is stored for a pixel with all its samples.  Raises Unsupported for other formats."""
    row = _row(desc)
    if row is None:
        number = sdk_name(Format, desc.format) or f"{desc.format:#x}"
        name = desc.dxgi.sdk if desc.dxgi else number
        raise Unsupported(f"{who}: surface format {name}")
    return Texels(row.size * desc.samples, *row.block)


def _row(desc: SurfaceDesc) -> FormatRow | None:
    if desc.dxgi is not None:
        return ROWS.get(desc.dxgi)
    known = desc.format in Format._value2member_map_
    return ROWS.get(Format(desc.format)) if known else None


def _multisampled(desc: SurfaceDesc) -> bool:
    """Whether there may be several samples: in what is drawn to and, before Direct3D 10, never
    sampled.
    """
    if desc.dxgi is not None:
        return desc.kind is SurfaceKind.TEXTURE
    row = _row(desc)
    return bool(row and row.uses & (Use.TARGET | Use.DEPTH) and desc.kind is SurfaceKind.SURFACE)


def _check_pitch(desc: SurfaceDesc, who: str) -> None:
    """Raises Fault for a pitch that is too small, splits pixels, or is one of several levels."""
    if desc.levels > 1 or desc.depth > 1 or desc.kind in _CUBES:
        raise Fault(HResult.DDERR_INVALIDPARAMS, f"{who}: pitch of several levels")
    row, tight = _row(desc), layout_of(replace(desc, pitch=0))[0].pitch
    drawn = row is not None and row.uses & (Use.TARGET | Use.DEPTH)
    unit = 1 if row is None else row.size if drawn else row.word.itemsize
    if desc.pitch < tight or desc.pitch % unit:
        raise Fault(HResult.DDERR_INVALIDPARAMS, f"{who}: pitch {desc.pitch}")


class HeapUse(msgspec.Struct, frozen=True):
    """One row of heap bookkeeping per resource type (see ``memory.SurfaceKind``)."""

    written_bytes: int
    created: int
    live: int
    live_bytes: int
    managed: int
    managed_bytes: int
    evictions: int

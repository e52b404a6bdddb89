"""The heap: surfaces and buffers by handle, in memory that the host and the GPU share."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from enum import IntEnum
from typing import Any, NamedTuple
from weakref import finalize

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from dp2emu import allocation
from dp2emu.argument_check import FOREIGN, check_contents, checked, checked_on_failure, unchecked
from dp2emu.d3d.dxgi import ROWS
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.enums import Format
from dp2emu.d3d.formats import AnyFormat, FormatRow, Use
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.sdk import sdk_name
from dp2emu.errors import ArgumentError, Fault, Unsupported
from dp2emu.gpu.resource import planar
from dp2emu.gpu.resource.planar import PLANAR
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
VOLUMES = (SurfaceKind.VOLUME, SurfaceKind.VOLUMETEXTURE)
_CUBES = (SurfaceKind.CUBETEXTURE,)

SAMPLE_COUNTS = (1, 2, 4, 8)
"""Numbers of samples per pixel that a surface may have; 1 means not multisampled."""
BESIDE = 8 * 16 * SAMPLE_COUNTS[-1]
"""Number of bytes past the end of a row of pixels that vectorised code may read: eight pixels of
16 bytes a sample, with the most samples."""
_MOST_LEVELS = 32
"""Maximum number of mip levels of a surface, whose sides are 32-bit numbers."""


class SurfaceDesc(msgspec.Struct, frozen=True):
    """Description of a surface to create.  Buffers: ``width`` bytes, height 1, format UNKNOWN.

    ``pitch`` in bytes; 0 asks for the tight pitch.  ``samples`` 1 means not multisampled.
    Textures have ``levels`` mip levels and volumes ``depth`` slices in the top one, in the layout
    of ``gpu.resource.subresources``.  A surface with a ``parent``, the handle of a texture, is
    that texture's subresource ``index``.  ``managed`` is 1 for textures the driver manages
    (DDSCAPS2_TEXTUREMANAGE), otherwise 0.

    Direct3D 10 gives a DXGI format, ``dxgi``, in place of ``format``, and arrays of ``layers``
    textures or cubes.
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
"""Lowest and highest stored value of the texels that a colour key selects."""


@checked
class Surface:
    """One allocation, or a view of a part of one.  ``serial`` never repeats in a heap.

    ``data`` is uint8, flat, initially zero.  ``words`` is the same memory as int32, for reading,
    padded with up to three zero bytes; a view has the words of its whole texture.  A texture's
    ``width``, ``height`` and ``pitch`` are those of its first face's top level, and code that
    expects a plain surface gets that level.  ``color_key`` is the range of stored texels that are
    transparent where colour keys apply, or None.  A managed texture and its levels have a
    ``system`` copy, which the host reads and writes; the GPU samples ``data``.
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
        self.words = allocation.current.words(size, self.pitch + BESIDE if layout else 0)
        self.data = self.words.view(np.uint8)[:size]

    @property
    def handle(self) -> int:
        """Number by which the host refers to the surface."""
        return self.desc.handle

    @property
    def width(self) -> int:
        """Texels in a row of the top level; bytes of a buffer."""
        return self.desc.width

    @property
    def height(self) -> int:
        """Rows of texels of the top level."""
        return self.desc.height

    @property
    def own_bytes(self) -> int:
        """Bytes of the memory of the surface itself, excluding its system copy; 0 for a view."""
        return 0 if self.parent else self.data.nbytes

    @property
    def host_copy(self) -> Surface:
        """The surface the host reads and writes: the system copy, or the surface itself."""
        return self.system or self

    def pixels(self) -> NDArray[Any]:
        """Return a writable view of the pixel words, of shape (height, width * samples).

        Pixels of several words have them along a third axis.  Raises Unsupported for formats
        whose pixels share bytes.
        """
        row = ROWS.get(self.format)
        if row is None or row.blocked:
            raise Unsupported(f"pixels of {self.format.sdk}")
        rows = self.data[: self.pitch * self.height].reshape(self.height, self.pitch)
        words = rows[:, : self.width * self.samples * row.size].view(row.word)
        return words if row.words == 1 else words.reshape(*words.shape[:1], -1, row.words)


def _size(desc: SurfaceDesc, layout: tuple[Subresource, ...]) -> int:
    """Bytes of a whole surface or buffer."""
    return layout[-1].offset + layout[-1].size if layout else desc.width


class _Allocated:
    """Total bytes of the surfaces that are not yet garbage collected.  Mutable: the total changes.

    Separate from the heap: a finalizer that referred to the heap would keep it, and with it every
    surface, alive.
    """

    def __init__(self) -> None:
        self.bytes = 0

    def add(self, surface: Surface) -> None:
        """Count a surface and its system copy until each is garbage collected."""
        for each in (surface, surface.system):
            if each is not None:
                self.bytes += each.own_bytes
                finalize(each, self._subtract, each.own_bytes).atexit = False

    def _subtract(self, size: int) -> None:
        self.bytes -= size


class _Fresh(NamedTuple):
    """Counts of a heap whose surfaces have just been created: ``Heap.reach``, uses by kind, and
    allocated bytes.
    """

    reach: int
    uses: list[HeapUse]
    bytes: int


def host_bytes(surface: Surface, offset: int, size: int) -> bytes:
    """``size`` bytes of a surface's memory from byte ``offset`` on, as the host reads them."""
    if surface.format in PLANAR:
        parts = surface.subresources
        return planar.host_bytes(surface.format, parts, surface.data, offset, size)
    return surface.data[offset : offset + size].tobytes()


def store_host_bytes(surface: Surface, offset: int, data: bytes) -> None:
    """Store ``data`` at byte ``offset`` of a surface's memory, as the host writes it."""
    if surface.format in PLANAR:
        parts = surface.subresources
        planar.store_host_bytes(surface.format, parts, surface.data, offset, data)
    else:
        surface.data[offset : offset + len(data)] = np.frombuffer(data, np.uint8)


def reach(width: int, height: int) -> int:
    """More pixels than a primitive on a target of this size covers beyond its area.

    A convex set has at most as many grid points as its area and half its perimeter add up to, plus
    one (Nosarzewska 1948); twice that leaves room for corners that snap to the sub-pixel grid.
    """
    return 2 * (width + height) + 4


@checked_on_failure
class Heap:
    """The surfaces of the emulated GPU by handle, within limits on memory.  Mutable.

    ``reach`` is the greatest that ``reach`` of any surface has been, ``color_keys`` the number of
    times that a colour key was set.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._allocated = _Allocated()
        self._surfaces: dict[int, Surface] = {}
        self._fresh: _Fresh | None = None
        self._begin()

    def _begin(self) -> None:
        """Set everything that is counted."""
        self.reach = 1
        self.color_keys = 0
        self._serial = 0
        self._uses = [HeapUse() for _ in SurfaceKind]

    def __iter__(self) -> Iterator[Surface]:
        return iter(self._surfaces.values())

    def __len__(self) -> int:
        return len(self._surfaces)

    @property
    def allocated(self) -> int:
        """Bytes of all surfaces, destroyed ones included while a context or packet uses them."""
        return self._allocated.bytes

    @unchecked
    def get(self, handle: int) -> Surface | None:
        """Return the surface of a handle, or None.  Raises ArgumentError for a handle that is no
        number.
        """
        try:
            return self._surfaces.get(handle)
        except TypeError:
            raise ArgumentError(f"Heap.get: handle is {handle!r:.60}, not int") from None

    @unchecked
    def find(self, handle: int, noun: str = "surface") -> Surface:
        """Return the surface of a handle.  Raises Fault if unknown, whose text has ``noun``."""
        surface = self.get(handle)
        if surface is None:
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"no {noun} {handle}")
        return surface

    def create(self, desc: SurfaceDesc) -> Surface:
        """Create a zeroed surface, replacing one of the same handle.  Raises Fault or
        Unsupported.
        """
        if desc.handle <= 0:
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"surface handle {desc.handle}")
        old = self._surfaces.get(desc.handle)
        if old is None and len(self._surfaces) >= self.limits.surfaces:
            raise self._beyond(desc, "surfaces", len(self._surfaces) + 1)
        surface = self._allocate(desc, _allocation(old) if old else 0)
        self._uses[desc.kind].created += 1
        self._count(surface, 1)
        if old is not None:
            self._count(old, -1)
        self._surfaces[desc.handle] = surface
        return surface

    def make(self, desc: SurfaceDesc) -> Surface:
        """Create a zeroed surface without a handle, which lives while it is referenced.

        Raises Fault or Unsupported.
        """
        return self._allocate(replace(desc, handle=0), 0)

    def _allocate(self, desc: SurfaceDesc, freed: int) -> Surface:
        """Create a surface within the limits; ``freed`` is the size of the surface it replaces."""
        if desc.managed not in ((0, 1) if desc.kind in TEXTURES and not desc.parent else (0,)):
            what = f"surface {desc.handle}: managed {desc.managed}"
            raise Fault(HResult.DDERR_INVALIDPARAMS, what)
        parent = self._parent(desc)
        layout = (parent.subresources[desc.index],) if parent else self._measure(desc)
        size = 0 if parent else _size(desc, layout) * _copies(desc)
        kept = self.allocated - freed
        if kept + size > self.limits.total_bytes:
            raise self._beyond(desc, "total_bytes", kept, size)
        self._serial += 1
        self.reach = max(self.reach, _reach_of(desc))
        try:
            surface = Surface(desc, self._serial, layout, parent)
        except MemoryError:
            what = f"surface {desc.handle}: no memory for {size} bytes"
            raise Fault(HResult.DDERR_OUTOFMEMORY, what) from None
        self._allocated.add(surface)
        return surface

    def reset(self) -> None:
        """Make the surfaces as they would be if each had just been created, in the order in which
        their handles were: memory is zero, colour keys are unset, counts start again.

        The surfaces keep their memory, so arrays of it stay valid.
        """
        fresh = self._fresh = self._fresh or self._recounted()
        self.reach, self._uses = fresh.reach, [copy(use) for use in fresh.uses]
        self._serial = len(self._surfaces)
        for serial, surface in enumerate(self._surfaces.values(), 1):
            _renew(surface, serial)
        if self.allocated != fresh.bytes:
            # A caller may still refer to surfaces that were destroyed; a new heap has none.
            self._allocated = _Allocated()
            for surface in self._surfaces.values():
                self._allocated.add(surface)

    def _recounted(self) -> _Fresh:
        """The counts of a new heap with the surfaces that exist now."""
        self._begin()
        surfaces = self._surfaces.values()
        for surface in surfaces:
            self._uses[surface.desc.kind].created += 1
            self._count(surface, 1)
        most = max((_reach_of(surface.desc) for surface in surfaces), default=1)
        return _Fresh(most, self._uses, sum(map(_allocation, surfaces)))

    def destroy(self, handle: int) -> None:
        """Remove a handle; queued packets keep their surface.  Raises Fault if unknown."""
        self._count(self.find(handle), -1)
        del self._surfaces[handle]

    @unchecked
    def write(self, handle: int, offset: int, data: bytes) -> None:
        """Write ``data`` at a byte ``offset`` as the host; packets that execute later see it.

        Raises Fault for an unknown handle, or if the range is outside the surface.
        """
        try:
            self._write(handle, offset, data)
        except FOREIGN:
            check_contents(Heap.write, self, handle, offset, data)
            raise

    def _write(self, handle: int, offset: int, data: bytes) -> None:
        surface = self.find(handle)
        if offset < 0 or offset + len(data) > surface.data.nbytes:
            raise Fault(
                HResult.DDERR_INVALIDPARAMS,
                f"write of {len(data)} bytes at {offset:#x} leaves surface {handle} "
                f"({surface.data.nbytes} bytes)",
            )
        store_host_bytes(surface.host_copy, offset, data)
        self._uses[surface.desc.kind].written_bytes += len(data)

    def set_color_key(self, handle: int, key: ColorKey | None) -> None:
        """DdSetColorKey for source blits; None removes the key.  Raises Fault if unknown."""
        self.find(handle).color_key = key
        self.color_keys += 1

    def use(self) -> tuple[HeapUse, ...]:
        """Return a copy of the surface counts, a ``HeapUse`` per SurfaceKind in numeric order."""
        return tuple(map(copy, self._uses))

    def count_eviction(self, surface: Surface) -> None:
        """Count a managed texture that was evicted from video memory."""
        self._uses[surface.desc.kind].evictions += 1

    def _count(self, surface: Surface, number: int) -> None:
        self._fresh = None
        use = self._uses[surface.desc.kind]
        use.live += number
        use.live_bytes += number * surface.own_bytes
        if surface.desc.managed:
            use.managed += number
            use.managed_bytes += number * surface.own_bytes

    def _parent(self, desc: SurfaceDesc) -> Surface | None:
        """Return the texture that a description is a level of, None if it allocates memory."""
        name, parent = f"surface {desc.handle}", self._surfaces.get(desc.parent)
        if desc.parent == 0:
            if desc.index:
                raise Fault(HResult.DDERR_INVALIDPARAMS, f"{name}: level {desc.index} of nothing")
            return None
        if parent is None or parent.desc.kind not in TEXTURES:
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"{name}: no texture {desc.parent}")
        if not 0 <= desc.index < len(parent.subresources):
            what = f"{name}: texture {desc.parent} has no level {desc.index}"
            raise Fault(HResult.DDERR_INVALIDPARAMS, what)
        found = parent.subresources[desc.index]
        kind = SurfaceKind.VOLUME if parent.desc.kind in VOLUMES else SurfaceKind.SURFACE
        wanted = (kind, found.width, found.height, found.depth, parent.desc.format, 1, 1)
        given = (
            desc.kind, desc.width, desc.height, desc.depth, desc.format, desc.samples, desc.levels,
        )  # fmt: skip
        if given != wanted or desc.pitch not in (0, found.pitch):
            what = f"{name} is not like level {desc.index} of texture {desc.parent}"
            raise Fault(HResult.DDERR_INVALIDPARAMS, what)
        return parent

    def measure(self, desc: SurfaceDesc) -> int:
        """Return the bytes that a surface without a parent would take.

        Raises Fault or Unsupported for an invalid description, or if this surface alone exceeds a
        limit.
        """
        return _size(desc, self._measure(desc))

    def _measure(self, desc: SurfaceDesc) -> tuple[Subresource, ...]:
        """Check a description and return its layout, without allocating."""
        name = f"surface {desc.handle}"
        if desc.kind in BUFFERS:
            plain = (desc.height, desc.samples, desc.depth, desc.levels, desc.layers)
            if desc.format or desc.dxgi or plain != (1,) * len(plain):
                raise Fault(HResult.DDERR_INVALIDPARAMS, f"{name}: a buffer is one row of bytes")
            if desc.width > self.limits.surface_bytes:
                raise self._beyond(desc, "surface_bytes", desc.width)
            return ()
        self._check_shape(desc, name)
        layout = layout_of(desc)
        if desc.pitch:
            _check_pitch(desc, name)
        if (size := _size(desc, layout)) > self.limits.surface_bytes:
            raise self._beyond(desc, "surface_bytes", size)
        return layout

    def _beyond(self, desc: SurfaceDesc, limit: str, amount: int, more: int = 0) -> Fault:
        what = f"surface {desc.handle}: {self.limits.refusal(limit, amount, more)}"
        return Fault(HResult.DDERR_OUTOFMEMORY, what)

    def _check_shape(self, desc: SurfaceDesc, name: str) -> None:
        sides = (desc.width, desc.height, desc.depth)
        extent = self.limits.extent
        if not all(0 < side <= extent for side in sides):
            what = " x ".join(map(str, sides[: 3 if desc.kind in VOLUMES else 2]))
            largest = max(sides)
            beyond = f", {self.limits.refusal('extent', largest)}" if largest > extent else ""
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"{name}: {what}{beyond}")
        if desc.samples not in (SAMPLE_COUNTS if _multisampled(desc) else (1,)):
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"{name}: {desc.samples} samples")
        if desc.depth > 1 and desc.kind not in VOLUMES:
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"{name}: {desc.depth} slices")
        most = MAX_LAYERS // _faces(desc) if desc.dxgi else 1
        if not 0 < desc.layers <= most:
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"{name}: an array of {desc.layers}")
        if desc.kind in _CUBES and desc.width != desc.height:
            raise Fault(
                HResult.DDERR_INVALIDPARAMS, f"{name}: a cube {desc.width} x {desc.height}"
            )
        most = full_chain(*sides) if desc.kind in TEXTURES else 1
        if not 0 < desc.levels <= most or (desc.levels > 1 and desc.samples > 1):
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"{name}: {desc.levels} levels")


def _renew(surface: Surface, serial: int) -> None:
    """Make a surface as it would be if it had just been created with number ``serial``."""
    surface.serial = serial
    surface.color_key = None
    (surface.data if surface.parent else surface.words).fill(0)
    if surface.system is not None:
        _renew(surface.system, serial)


def _reach_of(desc: SurfaceDesc) -> int:
    """``reach`` of a surface, in samples."""
    return reach(desc.width, desc.height) * desc.samples


def _allocation(surface: Surface) -> int:
    """Bytes of a surface's memory and of its system copy; 0 for a view."""
    return surface.own_bytes * _copies(surface.desc)


def _copies(desc: SurfaceDesc) -> int:
    return 2 if desc.managed else 1


def _faces(desc: SurfaceDesc) -> int:
    return CUBE_FACES if desc.kind in _CUBES else 1


def layout_of(desc: SurfaceDesc) -> tuple[Subresource, ...]:
    """Return the subresources of a surface with pixels.

    Raises Unsupported for an unknown format, and Fault for an impossible number of levels or
    layers; ``Heap.create`` checks the rest of a description.
    """
    if not (0 < desc.levels <= _MOST_LEVELS and 0 < desc.layers <= MAX_LAYERS):
        what = f"surface {desc.handle}: {desc.levels} levels, an array of {desc.layers}"
        raise Fault(HResult.DDERR_INVALIDPARAMS, what)
    row, faces = _row(desc), _faces(desc) * desc.layers
    if row is None:
        number = sdk_name(Format, desc.format) or f"{desc.format:#x}"
        name = desc.dxgi.sdk if desc.dxgi else number
        raise Unsupported(f"surface {desc.handle}: surface format {name}")
    shape = Shape(desc.width, desc.height, desc.depth, desc.levels, faces, desc.pitch)
    return subresources(shape, Texels(row.size * desc.samples, *row.block))


def _row(desc: SurfaceDesc) -> FormatRow | None:
    if desc.dxgi is not None:
        return ROWS.get(desc.dxgi)
    known = desc.format in Format._value2member_map_
    return ROWS.get(Format(desc.format)) if known else None


def _multisampled(desc: SurfaceDesc) -> bool:
    """Whether a surface may have several samples: before Direct3D 10, only a plain surface that
    is a render target or depth buffer.
    """
    if desc.dxgi is not None:
        return desc.kind is SurfaceKind.TEXTURE
    row = _row(desc)
    return bool(row and row.uses & (Use.TARGET | Use.DEPTH) and desc.kind is SurfaceKind.SURFACE)


def _check_pitch(desc: SurfaceDesc, name: str) -> None:
    """Raise Fault for a pitch that is too small, splits pixels, or is given for several levels."""
    if desc.levels > 1 or desc.depth > 1 or desc.kind in _CUBES:
        raise Fault(HResult.DDERR_INVALIDPARAMS, f"{name}: pitch of several levels")
    row, tight = _row(desc), layout_of(replace(desc, pitch=0))[0].pitch
    drawn = row is not None and row.uses & (Use.TARGET | Use.DEPTH)
    unit = 1 if row is None else row.size if drawn else row.word.itemsize
    if desc.pitch < tight or desc.pitch % unit:
        raise Fault(HResult.DDERR_INVALIDPARAMS, f"{name}: pitch {desc.pitch}")


class HeapUse(msgspec.Struct):
    """Counts of the surfaces of one ``SurfaceKind``, of their bytes and of evictions."""

    written_bytes: int = 0
    created: int = 0
    live: int = 0
    live_bytes: int = 0
    managed: int = 0
    managed_bytes: int = 0
    evictions: int = 0

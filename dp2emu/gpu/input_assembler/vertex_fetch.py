"""Vertex fetch, from streams, layout and vertex numbers to float32 lanes; instances and strips."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from dp2emu import allocation
from dp2emu.d3d.dxgi import DXGI, Support
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.enums import DeclType, PrimitiveType
from dp2emu.d3d.formats import Coding, FormatRow
from dp2emu.d3d.vertices import Element, ElementType, VertexLayout, elements_by_name
from dp2emu.errors import Unsupported
from dp2emu.gpu.arrays import F32, F64, I64, expand
from dp2emu.gpu.command.packets import Draw, Indices, Instances, Stream
from dp2emu.gpu.command.pipeline import Attribute
from dp2emu.gpu.command.topology import CORNERS, TOPOLOGIES, primitive_count, vertex_count
from dp2emu.gpu.resource.heap import Surface
from dp2emu.gpu.resource.pixel_format import unpack_bits
from dp2emu.identity_cache import identity_cached


class VertexType(NamedTuple):
    """Conversion of an element type to up to four floats.

    ``storage`` dtype and number of ``components``, the ``scale`` that divides each, and their
    ``order`` in memory (a D3DCOLOR is blue, green, red, alpha).  ``packed``: three components of
    10 bits in one word, the first lowest.
    """

    storage: str
    components: int
    scale: int = 1
    order: tuple[int, ...] = (0, 1, 2, 3)
    packed: bool = False

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return np.dtype(self.storage).itemsize * (1 if self.packed else self.components)

    def values(self, raw: NDArray[np.void]) -> NDArray[Any]:
        """Unscaled components of elements, shape (n, components)."""
        stored: NDArray[Any] = raw.view(self.storage).reshape(len(raw), -1)
        if not self.packed:
            return stored
        # The shift back extends the sign if the storage is signed.
        raised: NDArray[Any] = stored << _PACKED_SHIFTS.astype(stored.dtype)
        components: NDArray[Any] = raised >> stored.dtype.type(32 - 10)
        return components


_PACKED_SHIFTS = np.array([22, 12, 2])

VERTEX_TYPES: dict[ElementType, VertexType] = {
    DeclType.FLOAT1: VertexType("<f4", 1),
    DeclType.FLOAT2: VertexType("<f4", 2),
    DeclType.FLOAT3: VertexType("<f4", 3),
    DeclType.FLOAT4: VertexType("<f4", 4),
    DeclType.D3DCOLOR: VertexType("u1", 4, 255, (2, 1, 0, 3)),
    DeclType.UBYTE4: VertexType("u1", 4),
    DeclType.SHORT2: VertexType("<i2", 2),
    DeclType.SHORT4: VertexType("<i2", 4),
    DeclType.UBYTE4N: VertexType("u1", 4, 255),
    DeclType.SHORT2N: VertexType("<i2", 2, 32767),
    DeclType.SHORT4N: VertexType("<i2", 4, 32767),
    DeclType.USHORT2N: VertexType("<u2", 2, 65535),
    DeclType.USHORT4N: VertexType("<u2", 4, 65535),
    DeclType.UDEC3: VertexType("<u4", 3, packed=True),
    DeclType.DEC3N: VertexType("<i4", 3, 511, packed=True),
    DeclType.FLOAT16_2: VertexType("<f2", 2),
    DeclType.FLOAT16_4: VertexType("<f2", 4),
}


def _alike(row: FormatRow) -> VertexType | None:
    """The vertex type equal to a DXGI format, if any: float32, UNORM of 8 or 16 bits, or four
    words of raw bits.
    """
    channels = sorted(row.channels.items(), key=lambda item: item[1].shift)
    names = [name for name, _ in channels]
    codings = {(channel.coding, channel.bits) for _, channel in channels}
    coding, bits = codings.pop()
    packed = codings or bits * len(names) != 8 * row.size
    order = tuple(names.index(name) for name in "rgba" if name in names)
    if packed or sorted(names) != sorted("rgba"[: len(names)]):
        return None
    if coding is Coding.UNORM and bits in (8, 16):
        return VertexType(f"<u{bits // 8}", len(names), (1 << bits) - 1, order)
    raw = coding is Coding.FLOAT or len(names) == len("rgba")
    return VertexType("<f4", len(names), order=order) if bits == 32 and raw else None


VERTEX_TYPES |= {
    format: alike
    for format, row in DXGI.items()
    if Support.VERTEX in row.support and (alike := _alike(row.texels)) is not None
}

COMPONENTS = "xyzw"


class Vertices(msgspec.Struct, frozen=True):
    """Corners of primitives: ``position``, screen x, y, z and rhw, shape (4, 3, n), and
    ``varyings``, shape (len(names), 3, n); float32 or float64.
    """

    position: F32 | F64
    names: tuple[str, ...]
    varyings: F32 | F64

    def part(self, primitives: I64) -> Vertices:
        """The primitives at the indices ``primitives``."""
        return Vertices(self.position[..., primitives], self.names, self.varyings[..., primitives])

    def varying(self, name: str) -> F32 | F64 | None:
        """A varying, shape (3, n); None if it was not written."""
        return self.varyings[self.names.index(name)] if name in self.names else None


def fetch(
    layout: VertexLayout,
    streams: tuple[Stream | None, ...],
    numbers: I64,
    names: Iterable[str],
    attributes: tuple[Attribute, ...] = (),
) -> Vertices:
    """Transformed vertices ``numbers`` (int64, any shape) with their varyings of ``names``.

    ``fog0.x``, the fog factor, is the alpha of the specular colour unless the layout has fog.
    ``attributes``, if any, name the elements instead of the layout.
    """
    flat = numbers.ravel()
    position, found = sources_of(layout, names, attributes)
    decoded = {e: decode(e, streams, flat) for e in {position, *(e for e, _ in found.values())}}
    varyings = np.empty((len(found), len(flat)), np.float32)
    for lane, (element, component) in enumerate(found.values()):
        varyings[lane] = decoded[element][component]
    place = decoded[position].reshape(4, *numbers.shape)
    return Vertices(place, tuple(found), varyings.reshape(-1, *numbers.shape))


def sources_of(
    layout: VertexLayout, names: Iterable[str], attributes: tuple[Attribute, ...] = ()
) -> tuple[Element, dict[str, tuple[Element, int]]]:
    """The element that is the position of transformed vertices; and, for each varying that the
    vertices have, from its name to element and component number.

    Raises Unsupported for untransformed vertices.
    """
    elements = _by_name(attributes) if attributes else elements_by_name(layout)
    position = elements.get("positiont0") or elements.get("position0")
    if position is None or not layout.transformed:
        raise Unsupported("vertex transformation")
    sources = {name: _source(elements, name) for name in names}
    return position, {name: source for name, source in sources.items() if source is not None}


@lru_cache(maxsize=256)
def _by_name(attributes: tuple[Attribute, ...]) -> dict[str, Element]:
    return {each.name: each.element for each in attributes if each.element is not None}


def _source(elements: Mapping[str, Element], name: str) -> tuple[Element, int] | None:
    """Vertex element that holds the varying ``name``, and component number; None if absent."""
    register, component = name.split(".")
    if register == "fog0" and register not in elements:
        register, component = "color1", "w"
    element = elements.get(register)
    return (element, COMPONENTS.index(component)) if element else None


def vertex_numbers(indices: Indices | None, sequence: I64) -> I64:
    """Vertex numbers at positions ``sequence`` of an index buffer, or ``sequence`` without one."""
    if indices is None:
        return sequence
    storage = np.dtype(f"<u{indices.size}")
    values = gather(index_bytes(indices), indices.offset, indices.size, storage, sequence)
    return values.astype(np.int64) + indices.base


@lru_cache(maxsize=256)
def vertex_bytes(layout: VertexLayout) -> int:
    """Bytes fetched for one vertex.  Raises Unsupported for an unknown element type."""
    return sum(size_of(element) for element in layout.elements)


def gather(
    data: NDArray[np.uint8], offset: int, stride: int, item: np.dtype[Any], numbers: I64
) -> NDArray[Any]:
    """Items at byte ``offset + number * stride`` of ``data``; bytes outside read as zero.

    ``numbers`` is int64, shape (n,); the result has dtype ``item`` and the same shape.
    """
    size = item.itemsize
    if stride == 0:
        numbers, stride = np.zeros_like(numbers), size
    available = data.nbytes - offset if offset >= 0 else 0
    whole = (available - size) // stride + 1 if available >= size else 0
    inside = (numbers >= 0) & (numbers < whole)
    items = np.ndarray((whole,), item, data, offset if whole else 0, (stride,))
    if inside.all():
        return items[numbers]
    found = np.zeros(numbers.shape, item)
    found[inside] = items[numbers[inside]]
    # Other items are read byte by byte; without the clip the products could overflow.
    near = np.clip(numbers[~inside], *item_bounds(offset, stride, size, data.nbytes))
    address = (offset + near * stride)[:, None] + np.arange(size)
    valid = (address >= 0) & (address < data.nbytes)
    loose = np.zeros(address.shape, np.uint8)
    loose[valid] = data[address[valid]]
    found[~inside] = loose.view(item)[:, 0]
    return found


def item_bounds(offset: int, stride: int, size: int, end: int) -> tuple[int, int]:
    """Two item numbers: no item below the first or above the second has a byte in 0..``end``."""
    return -((offset + size) // stride) - 1, (end - offset) // stride + 1


def stream_bytes(stream: Stream) -> NDArray[np.uint8]:
    """The bytes of a vertex stream."""
    if isinstance(stream.data, Surface):
        return stream.data.data
    return allocation.current.view(stream.data, stream)


def index_bytes(indices: Indices) -> NDArray[np.uint8]:
    """The bytes of an index buffer."""
    if isinstance(indices.data, Surface):
        return indices.data.data
    return np.ascontiguousarray(indices.data).view(np.uint8)


def type_of(element: Element) -> VertexType:
    """The vertex type of an element.  Raises Unsupported for an unknown element type."""
    row = VERTEX_TYPES.get(element.type)
    if row is None:
        raise Unsupported(f"vertex element type {element.type.sdk}")
    return row


def format_of(element: Element) -> FormatRow | None:
    """The DXGI format of an element; None if a ``VertexType`` describes the element.

    Raises Unsupported for formats that elements cannot have.
    """
    format = element.type
    if not isinstance(format, DxgiFormat) or format in VERTEX_TYPES:
        return None
    row = DXGI.get(format)
    if row is None or Support.VERTEX not in row.support:
        raise Unsupported(f"vertex element format {format.sdk}")
    return row.texels


@identity_cached()
def size_of(element: Element) -> int:
    """Bytes of an element.  Raises Unsupported for an unknown element type."""
    row = format_of(element)
    return type_of(element).size if row is None else row.size


def decode(element: Element, streams: tuple[Stream | None, ...], numbers: I64) -> F32:
    """One element of each vertex as float32 lanes, shape (4, n); absent components 0, 0, 0, 1.

    Integer formats yield the bits of the integers.
    """
    raw = _raw(element, streams, numbers)
    row = format_of(element)
    if row is not None:
        words = row.view(np.ascontiguousarray(raw).view(np.uint8))
        return np.stack(unpack_bits(row, words)).view(np.float32)
    return _declared(type_of(element), raw)


def outside(
    element: Element, streams: tuple[Stream | None, ...], numbers: I64
) -> NDArray[np.bool_]:
    """Whether each of the vertices ``numbers`` (int64, shape (n,)) has bytes of an element outside
    of its buffer, which read as zero; it has if no buffer is bound.
    """
    data, offset, stride, numbers = _placed(element, streams, numbers)
    size = size_of(element)
    if stride == 0:
        numbers, stride = np.zeros_like(numbers), size
    # Without the clip the products could overflow.
    address = offset + np.clip(numbers, *item_bounds(offset, stride, size, data.nbytes)) * stride
    found: NDArray[np.bool_] = (address < 0) | (address + size > data.nbytes)
    return found


def _raw(element: Element, streams: tuple[Stream | None, ...], numbers: I64) -> NDArray[np.void]:
    """The bytes of an element of the vertices ``numbers``."""
    data, offset, stride, numbers = _placed(element, streams, numbers)
    return gather(data, offset, stride, np.dtype(f"V{size_of(element)}"), numbers)


def _placed(
    element: Element, streams: tuple[Stream | None, ...], numbers: I64
) -> tuple[NDArray[np.uint8], int, int, I64]:
    """The bytes of an element's buffer, byte offset and stride of the element in them, and the
    numbers of its items for the vertices ``numbers``.
    """
    stream = streams[element.stream] if element.stream < len(streams) else None
    if stream is None:
        return np.zeros(0, np.uint8), element.offset, 0, numbers
    if stream.divider > 1:
        first, divider = stream.first, stream.divider
        numbers = first // divider + (numbers - first) // divider
    return stream_bytes(stream), stream.offset + element.offset, stream.stride, numbers


def _declared(row: VertexType, raw: NDArray[np.void]) -> F32:
    """Elements ``raw`` of type ``row`` as float32, shape (4, n); absent components 0, 0, 0, 1."""
    lanes = np.zeros((4, len(raw)), np.float32)
    lanes[3] = 1
    values = row.values(raw)
    for lane, component in enumerate(row.order[: row.components]):
        if values.dtype == lanes.dtype:
            # A division would change NaN bits, which programs can read.
            lanes[lane] = values[:, component]
            continue
        np.divide(values[:, component], np.float32(row.scale), lanes[lane], dtype=np.float32)
    return lanes


# Division of a draw into instances and strips, before vertex fetch

_LISTS = {2: PrimitiveType.LINELIST, 3: PrimitiveType.TRIANGLELIST}


def instanced(draw: Draw) -> Iterator[Draw]:
    """Yield a draw for each instance of an instanced draw, in order; any other draw itself."""
    if draw.input.instances is None:
        yield draw
        return
    for number in range(draw.input.instances.count):
        yield _instance(draw, draw.input.instances, number)


def _instance(draw: Draw, instances: Instances, number: int) -> Draw:
    streams = list(draw.input.streams)
    for place, rate in instances.streams:
        stream = streams[place]
        if stream is not None:
            element = instances.first + (number // rate if rate else 0)
            offset = stream.offset + element * stream.stride
            streams[place] = replace(stream, offset=offset, stride=0)
    uniforms = dict(draw.vertex.uniforms)
    if instances.file:
        uniforms[instances.file] = np.array([number], np.int32)
    read = replace(draw.input, streams=tuple(streams), instances=None)
    return replace(draw, input=read, vertex=replace(draw.vertex, uniforms=uniforms))


def measured(draw: Draw) -> Draw:
    """The draw, its count computed from the fill size of its first stream if it is a DrawAuto.

    A stream of stride 0 has no vertices.
    """
    if draw.input.filled is None:
        return draw
    stream = draw.input.streams[0] if draw.input.streams else None
    vertices = 0
    if stream is not None and stream.stride:
        vertices = max(draw.input.filled.size - stream.offset, 0) // stream.stride
    count = primitive_count(draw.input.topology, vertices)
    return replace(draw, input=replace(draw.input, count=count, filled=None))


def vertices_read(draw: Draw) -> int:
    """Number of vertices (or indices) that a draw reads."""
    count = draw.input.vertices
    return vertex_count(draw.input.topology, draw.input.count) if count is None else count


def uncut(draw: Draw) -> Draw:
    """The draw as a list of the same primitives if strip-cut indices may divide its strips.

    Vertices of strips too short for a primitive are not counted.
    """
    topology = TOPOLOGIES[draw.input.topology]
    if not _is_cut(draw) or draw.input.indices is None:
        return draw
    starts, counts = strips(draw)
    strip, number = expand(counts)
    corners = topology.corners(number) + starts[strip]
    kept = corners[: CORNERS[draw.input.topology]].T.reshape(-1)
    values = vertex_numbers(replace(draw.input.indices, base=0), kept)
    listed = replace(
        draw.input,
        topology=_LISTS[CORNERS[draw.input.topology]],
        first=0,
        count=len(number),
        indices=Indices(values.astype(np.uint32), base=draw.input.indices.base),
        cuts=False,
        vertices=int((topology.step * counts + topology.extra).sum()),
    )
    return replace(draw, input=listed)


def _is_cut(draw: Draw) -> bool:
    row = TOPOLOGIES[draw.input.topology]
    return draw.input.cuts and draw.input.indices is not None and row.step * row.extra != 0


class Strips(NamedTuple):
    """For each strip of a draw: position of its first index, and primitives in it, at least 1."""

    starts: I64
    counts: I64


def strips(draw: Draw) -> Strips:
    """The strips of a draw, divided by strip-cut indices (all ones) if it allows these."""
    if not _is_cut(draw) or draw.input.indices is None:
        return Strips(np.array([draw.input.first]), np.array([draw.input.count]))
    row = TOPOLOGIES[draw.input.topology]
    places = draw.input.first + np.arange(vertices_read(draw), dtype=np.int64)
    values = vertex_numbers(replace(draw.input.indices, base=0), places)
    cuts = np.flatnonzero(values == (1 << 8 * draw.input.indices.size) - 1)
    ends = np.append(cuts, len(values))
    starts = np.concatenate(([0], ends[:-1] + 1))
    counts = np.maximum((ends - starts - row.extra) // row.step, 0)
    drawn = counts > 0
    return Strips(draw.input.first + starts[drawn], counts[drawn])

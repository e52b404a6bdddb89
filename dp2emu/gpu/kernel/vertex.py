"""The geometry stage as machine code: ``gpu.geometry.geometry``, bit for bit.

Vertices are fetched, shaded, placed and clipped by one function (``vertex_code``) over all of a
chunk.  Where the numbers of its vertices lie close together all of those in between are shaded
instead of looking for the distinct ones.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dp2emu.d3d.vertices import Element
from dp2emu.errors import Disagreement
from dp2emu.gpu import geometry as reference
from dp2emu.gpu.arrays import Mask
from dp2emu.gpu.assembly import CORNERS
from dp2emu.gpu.geometry import Geometry, planes_used
from dp2emu.gpu.kernel.vertex_code import ASSEMBLE, vertices
from dp2emu.gpu.kernel.vertex_frame import Frame, double, frame_of
from dp2emu.gpu.kernel.vertex_place import FIXED_PLANES
from dp2emu.gpu.kernel.vertex_plan import Plan, plan_of
from dp2emu.gpu.kernel.vertex_words import DOUBLES, DRAW, TAKING
from dp2emu.gpu.packets import Draw, Stream
from dp2emu.gpu.vertex import Vertices, bytes_of, type_of
from dp2emu.shader.jit.bindings import Bindings, address
from dp2emu.shader.jit.compiling import target
from dp2emu.shader.jit.engine import run as run_compiled
from dp2emu.shader.reference import Run, Sampler

_EXTRA = len(DRAW) + TAKING.index("extra")
_LOW_HALF = 0xFFFFFFFF
_NO_ROOM = -1
_EMPTY = np.zeros(1, np.uint8)


def geometry(
    draw: Draw,
    start: int,
    stop: int,
    names: tuple[str, ...],
    sampler: Sampler | None = None,
) -> Geometry:
    """Primitives ``start`` to ``stop`` of a draw, with those varyings of ``names`` they have.

    All arrays are of doubles.  Raises Unsupported as the reference does, ImportError without
    llvmlite.
    """
    plan = plan_of(draw.pipeline, names)
    frame = frame_of(plan, draw.topology, stop - start, planes_used(draw))
    bindings, kept = _set(frame, plan, draw, start, stop, sampler)
    found = vertices()(frame.start, ASSEMBLE, 0)
    bindings.complain()
    made = _gathered(frame, plan, draw, found & _LOW_HALF, found >> 32)
    # Until here what the frame's words point at had to be there.
    del kept
    if made is None:
        return reference.geometry(draw, start, stop, names, sampler, run_compiled)
    return made


def _set(
    frame: Frame, plan: Plan, draw: Draw, start: int, stop: int, sampler: Sampler | None
) -> tuple[Bindings, list[Any]]:
    """Fill in what is the draw's own.  What comes back has to be kept while the frame is used."""
    bindings = Bindings(target(), sampler, None)
    kept: list[Any] = []
    bound = 0
    if plan.program is not None:
        words = bindings.of(plan.program, draw.vertex_uniforms)
        kept.append(words)
        bound = address(words)
    edges, pitch = 0, 0
    if draw.edge_flags is not None:
        flags = np.ascontiguousarray(draw.edge_flags)
        kept.append(flags)
        edges, pitch = address(flags) + start, flags.shape[1]
    view = draw.viewport
    _DRAW.pack_into(
        frame.bytes, 0, draw.first, start, stop - start, *_index_words(draw, kept),
        bound, edges, pitch, view.x, view.width / 2, view.y, view.height / 2, view.min_z,
        view.max_z - view.min_z, 0.5 if draw.pipeline.raster.half_centres else 0.0,
    )  # fmt: skip
    if plan.elements:
        sources = [word for e in plan.elements for word in _source_words(e, draw.streams, kept)]
        frame.sources[:] = sources
    for number, plane in zip(planes_used(draw), frame.planes, strict=False):
        plane[1:] = [double(float(value)) for value in draw.clip_planes[number]]
    return bindings, kept


_DRAW = struct.Struct(f"={len(DRAW) - DOUBLES}q{DOUBLES}d")


def _index_words(draw: Draw, kept: list[Any]) -> tuple[int, ...]:
    """The words of the indices, and what is added to each; or, without any, taken off."""
    indices = draw.indices
    if indices is None:
        return 0, 0, 0, 1, 0, 0, draw.first
    data = bytes_of(indices.data)
    kept.append(data)
    low, high = _reach(indices.offset, indices.size, indices.size, data.nbytes)
    # An empty array has an address as well.
    place = address(data) or _NOWHERE
    return place, data.nbytes, indices.offset, indices.size, low, high, indices.base


_NOWHERE = address(_EMPTY)


def _reach(offset: int, stride: int, size: int, end: int) -> tuple[int, int]:
    """Numbers of items beyond which no byte is in the data (``gpu.vertex.gather``)."""
    return -((offset + size) // stride) - 1, (end - offset) // stride + 1


def _source_words(
    element: Element, streams: tuple[Stream | None, ...], kept: list[Any]
) -> tuple[int, ...]:
    stream = streams[element.stream] if element.stream < len(streams) else None
    if stream is None:
        return _NOWHERE, 0, 0, 0, 0, 0, 0, 0, 1
    data = bytes_of(stream.data)
    kept.append(data)
    end, at, size = data.nbytes, stream.offset + element.offset, type_of(element).size
    stride = stream.stride or size
    available = end - at if at >= 0 else 0
    whole = (available - size) // stride + 1 if available >= size else 0
    low, high = _reach(at, stride, size, end)
    return (
        address(data), end, at, stream.stride, whole, low, high, stream.first, stream.divider,
    )  # fmt: skip


def _gathered(frame: Frame, plan: Plan, draw: Draw, taken: int, cut: int) -> Geometry | None:
    """What was chosen, or None if there is no room for what cutting makes."""
    pieces = len(frame.planes) + CORNERS[draw.topology] + FIXED_PLANES
    capacity = taken + cut * pieces
    lanes = np.empty((4 + len(plan.names), 3, capacity))
    numbers = np.empty(capacity, np.int64)
    edged = cut or draw.edge_flags is not None
    edges = np.empty((3, capacity), np.bool_) if edged else None
    place = 0 if edges is None else address(edges)
    _TAKING.pack_into(
        frame.bytes, _TAKING_AT, address(lanes), capacity, address(numbers), place, 0, 0
    )
    count = vertices()(frame.start, taken, cut)
    if count == _NO_ROOM:
        return None
    if count < capacity:
        lanes, numbers = np.ascontiguousarray(lanes[:, :, :count]), numbers[:count]
        edges = None if edges is None else np.ascontiguousarray(edges[:, :count])
    made = Vertices(lanes[:4], plan.names, lanes[4:])
    return Geometry(made, numbers, edges, int(frame.words[_EXTRA]))


_TAKING = struct.Struct(f"={len(TAKING)}q")
_TAKING_AT = 8 * len(DRAW)


def checked(
    draw: Draw,
    start: int,
    stop: int,
    names: tuple[str, ...],
    sampler: Sampler | None,
    run: Run,
) -> Geometry:
    """The reference's, whose programs ``run`` runs.

    Raises Disagreement if compiled code makes anything else.
    """
    wanted = reference.geometry(draw, start, stop, names, sampler, run)
    found = geometry(draw, start, stop, names, sampler)
    for what, each, other in _compared(wanted, found):
        if each.shape != other.shape or not np.array_equal(each, other, equal_nan=True):
            raise Disagreement(f"{what} of primitives {start} to {stop} differ", "", start)
    return wanted


def _compared(
    wanted: Geometry, found: Geometry
) -> Iterator[tuple[str, NDArray[Any], NDArray[Any]]]:
    """What has to be equal; a NaN equals a NaN, since nobody sees which it is."""
    one, other = wanted.vertices, found.vertices
    yield "positions", one.position.astype(np.float64), other.position
    yield "varyings", one.varyings.astype(np.float64), other.varyings
    yield "numbers", wanted.numbers, found.numbers
    yield "edges", _edges(wanted), _edges(found)
    yield "added triangles", np.array([wanted.extra]), np.array([found.extra])


def _edges(geometry: Geometry) -> Mask:
    shape = geometry.vertices.position.shape[1:]
    return np.ones(shape, np.bool_) if geometry.edges is None else geometry.edges

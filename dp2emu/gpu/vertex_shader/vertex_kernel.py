"""The geometry stage as machine code: ``gpu.geometry.geometry``, bit for bit.

Vertices are fetched, shaded, placed and clipped by one function (``vertex_code``) over all of a
chunk.  Where the numbers of its vertices lie close together all of those in between are shaded
instead of looking for the distinct ones.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dp2emu.d3d.vertices import Element
from dp2emu.errors import Disagreement
from dp2emu.gpu.arrays import Mask
from dp2emu.gpu.code.vertex_arguments import (
    DOUBLES,
    DRAW,
    LANE,
    SOURCE,
    TAKING,
    VERTEX_WORDS,
    ArgumentWords,
)
from dp2emu.gpu.command.bindings import Uniforms
from dp2emu.gpu.command.packets import Draw, Indices, Stream
from dp2emu.gpu.command.topology import CORNERS
from dp2emu.gpu.input_assembler import vertex_fetch_code
from dp2emu.gpu.input_assembler.vertex_fetch import Vertices, bytes_of, size_of
from dp2emu.gpu.rasterizer import clip_code, corners_code, viewport_code
from dp2emu.gpu.rasterizer.clip import FIXED_PLANES, Geometry, planes_used
from dp2emu.gpu.vertex_shader.vertex_frame import Frame, VertexPlan, double, own_frames, plan_of
from dp2emu.gpu.vertex_shader.vertex_stage import geometry as reference_geometry
from dp2emu.identity_cache import IdentityCache, identity_cached
from dp2emu.shader.ir import Program
from dp2emu.shader.jit.bindings import UNIFORM_CACHE_SIZE, Bindings, address
from dp2emu.shader.jit.code import CodeSource
from dp2emu.shader.jit.engine import run as run_compiled
from dp2emu.shader.jit.layout import layout_of
from dp2emu.shader.jit.machine import target
from dp2emu.shader.jit.scalars import Code
from dp2emu.shader.jit.tiering import TieredFunction, optimize_all
from dp2emu.shader.jit.writer import Writer, module
from dp2emu.shader.reference import Fetcher, Run, Sampler

_EXTRA = struct.Struct("=q")

_EXTRA_AT = 8 * (len(DRAW) + TAKING.index("extra"))

_LOW_HALF = 0xFFFFFFFF

_NO_ROOM = -1

_EMPTY = np.zeros(1, np.uint8)


def geometry(
    draw: Draw,
    start: int,
    stop: int,
    names: tuple[str, ...],
    sampler: Sampler | None = None,
    fetcher: Fetcher | None = None,
) -> Geometry:
    """Primitives ``start`` to ``stop`` of a draw, with those varyings of ``names`` they have.

    Numbers are doubles if it was compiled code that made them.  Raises Unsupported as the
    reference does, ImportError without llvmlite.
    """
    # NumPy places vertices that no program makes as quickly as code that is compiled quickly.
    if draw.pipeline.vertex is None and not vertices().poll():
        return reference_geometry(draw, start, stop, names)
    return compiled(draw, start, stop, names, sampler, fetcher)


def compiled(
    draw: Draw,
    start: int,
    stop: int,
    names: tuple[str, ...],
    sampler: Sampler | None,
    fetcher: Fetcher | None,
) -> Geometry:
    """The same by compiled code, which is waited for."""
    plan = plan_of(draw.pipeline, names)
    frame = own_frames().of(plan, draw.input.topology, stop - start, planes_used(draw))
    bound = None if plan.program is None else _bound(plan.program, draw, sampler, fetcher)
    kept = set_draw(frame, draw, start, stop, 0 if bound is None else bound[1])
    frame.refresh()
    found = vertices().run(frame.start, ASSEMBLE)
    if bound is not None:
        bound[0].raise_errors()
    made = _gathered(frame, plan, draw, found & _LOW_HALF, found >> 32)
    # Until here what the frame's words point at had to be there.
    del kept
    if made is None:
        return reference_geometry(draw, start, stop, names, sampler, run_compiled, fetcher)
    return made


def set_draw(frame: Frame, draw: Draw, start: int, stop: int, bound: int) -> list[Any]:
    """Fill in what is the draw's own; what comes back has to stay while the frame is used."""
    kept: list[Any] = []
    edges, pitch = (
        (0, 0) if draw.input.edge_flags is None else _edge_words(draw.input.edge_flags, kept)
    )
    own = own_words(draw, start, stop, bound, kept)
    set_view(frame, draw, own, edges and edges + start, pitch)
    if frame.elements:
        frame.sources[:] = _sources(frame, draw.input.streams)
    return kept


def own_words(draw: Draw, start: int, stop: int, bound: int, kept: list[Any]) -> tuple[int, ...]:
    """The words from ``first`` to ``bindings``, for primitives ``start`` to ``stop``; ``bound`` is
    where what the program reads is, and what has to stay while they are used is ``kept``.
    """
    indices: tuple[int, ...] = (0, 0, 0, 1, 0, 0, draw.input.first)
    if draw.input.indices is not None:
        indices = _index_words(draw.input.indices, kept)
    return draw.input.first, start, stop - start, *indices, bound


def set_view(
    frame: Frame, draw: Draw, own: tuple[int, ...], edges: int = 0, pitch: int = 0
) -> None:
    """Fill in where the draw's own words are, its edges, its viewport and the user's planes."""
    view = draw.raster.viewport
    _DRAW.pack_into(
        frame.words, 0, *own, edges, pitch,
        view.x, view.width / 2, view.y, view.height / 2, view.min_z,
        view.max_z - view.min_z, 0.5 if draw.pipeline.raster.half_centres else 0.0,
    )  # fmt: skip
    if draw.raster.clip_planes:
        for number, plane in zip(planes_used(draw), frame.planes, strict=False):
            plane[2:] = [double(float(value)) for value in draw.raster.clip_planes[number]]


_DRAW = struct.Struct(f"={len(DRAW) - DOUBLES}q{DOUBLES}d")

_SOURCE = struct.Struct(f"={len(SOURCE)}q")


def _bound(
    program: Program, draw: Draw, sampler: Sampler | None, fetcher: Fetcher | None
) -> tuple[Bindings, int]:
    """What the vertex program reads, and where it says so."""
    if not layout_of(program).callees:
        return bound_uniforms(draw.vertex.uniforms, program)
    bindings = Bindings(target(), sampler, fetcher)
    return bindings, address(bindings.of(program, draw.vertex.uniforms))


@identity_cached(UNIFORM_CACHE_SIZE)
def bound_uniforms(uniforms: Uniforms, program: Program) -> tuple[Bindings, int]:
    """What a vertex program that samples nothing reads, and where it says so; it may be used
    again.
    """
    bindings = Bindings(target(), None, None)
    return bindings, address(bindings.of(program, uniforms))


def _edge_words(flags: Mask, kept: list[Any]) -> tuple[int, int]:
    """Where edges are, and the bytes of a row."""
    whole = np.ascontiguousarray(flags)
    kept.append(whole)
    return address(whole), whole.shape[1]


def _index_words(indices: Indices, kept: list[Any]) -> tuple[int, ...]:
    """The words of the indices, and what is added to each."""
    data = bytes_of(indices.data)
    kept.append(data)
    low, high = _reach(indices.offset, indices.size, indices.size, data.nbytes)
    # An empty array may lie at 0.
    place = address(data) or _NOWHERE
    return place, data.nbytes, indices.offset, indices.size, low, high, indices.base


_NOWHERE = address(_EMPTY)


def _reach(offset: int, stride: int, size: int, end: int) -> tuple[int, int]:
    """Numbers of items beyond which no byte is in the data
    (``gpu.input_assembler.vertex_fetch.gather``)."""
    return -((offset + size) // stride) - 1, (end - offset) // stride + 1


_packed: IdentityCache[bytes] = IdentityCache(1 << 12)
"""What the elements of frames are in streams, by their numbers; streams stay where they are."""

_NO_STREAM = (_NOWHERE, 0, 0, 0, 0, 0, 0, 0, 1)


def _sources(frame: Frame, streams: tuple[Stream | None, ...]) -> bytes:
    """The same, found once."""
    number, *others = frame.streams
    stream = streams[number] if number < len(streams) else None
    if others or stream is None:
        return packed_sources(frame, streams)
    try:
        return _packed.find((stream,), frame.number)
    except KeyError:
        found = packed_sources(frame, streams)
    _packed.put((stream,), frame.number, found)
    return found


def packed_sources(frame: Frame, streams: tuple[Stream | None, ...]) -> bytes:
    """``SOURCE`` words of all elements."""
    read = (
        (element, streams[element.stream] if element.stream < len(streams) else None)
        for element in frame.elements
    )
    words = (_NO_STREAM if stream is None else _found(element, stream) for element, stream in read)
    return b"".join(_SOURCE.pack(*each) for each in words)


_WORD_BYTES = 4


def _found(element: Element, stream: Stream) -> tuple[int, ...]:
    data = bytes_of(stream.data)
    end, at, size = data.nbytes, stream.offset + element.offset, size_of(element)
    stride = stream.stride or size
    available = end - at if at >= 0 else 0
    # Elements are read by words, the last of which may reach beyond.
    read = -(-size // _WORD_BYTES) * _WORD_BYTES
    whole = (available - read) // stride + 1 if available >= read else 0
    low, high = _reach(at, stride, size, end)
    place = address(data) or _NOWHERE
    return place, end, at, stream.stride, whole, low, high, stream.first, stream.divider


def _gathered(frame: Frame, plan: VertexPlan, draw: Draw, taken: int, cut: int) -> Geometry | None:
    """What was chosen, or None if there is no room for what cutting makes."""
    pieces = len(frame.planes) + CORNERS[draw.input.topology] + FIXED_PLANES
    capacity = taken + cut * pieces
    lanes = np.empty((4 + len(plan.names), 3, capacity))
    numbers = np.empty(capacity, np.int64)
    edged = cut or draw.input.edge_flags is not None
    edges = np.empty((3, capacity), np.bool_) if edged else None
    place = 0 if edges is None else address(edges)
    _TAKING.pack_into(
        frame.words, _TAKING_AT, address(lanes), capacity, address(numbers), place, 0, 0
    )
    count = (cutting() if cut else vertices()).run(frame.start, taken)
    if count == _NO_ROOM:
        return None
    if count < capacity:
        lanes, numbers = np.ascontiguousarray(lanes[:, :, :count]), numbers[:count]
        edges = None if edges is None else np.ascontiguousarray(edges[:, :count])
    made = Vertices(lanes[:4], plan.names, lanes[4:])
    (extra,) = _EXTRA.unpack_from(frame.words, _EXTRA_AT)
    return Geometry(made, numbers, edges, extra)


_TAKING = struct.Struct(f"={len(TAKING)}q")

_TAKING_AT = 8 * len(DRAW)


def checked(
    draw: Draw,
    start: int,
    stop: int,
    names: tuple[str, ...],
    sampler: Sampler | None,
    run: Run,
    fetcher: Fetcher | None = None,
) -> Geometry:
    """The reference's, whose programs ``run`` runs.

    Raises Disagreement if compiled code makes anything else.
    """
    wanted = reference_geometry(draw, start, stop, names, sampler, run, fetcher)
    again = True
    while again:
        found = compiled(draw, start, stop, names, sampler, fetcher)
        for what, each, other in _compared(wanted, found):
            if each.shape != other.shape or not np.array_equal(each, other, equal_nan=True):
                raise Disagreement(f"{what} of primitives {start} to {stop} differ", "", start)
        # Quick code has to give the same as good code.
        again = optimize_all()
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


# The vertex stages as two functions in memory.
#
# i64 vertices(ptr words, i64 taken)
#
# With ``taken`` below 0 it fetches, shades, places and chooses, and says how many primitives are
# taken, plus how many of these have to be cut << 32; then, with the first of these, it gathers the
# corners of primitives of which none has to be, and gives their number.
#
# i64 emit_cut(ptr words, i64 taken)
#
# It cuts, gathers, and says how many there are, or -1 if there is no room for them.
#
# They are the same code for all draws, hence compiled but once; only programs differ.

NAME = "vertices"

ASSEMBLE = -1
"""What ``taken`` is at first."""


@lru_cache(maxsize=1)
def vertices() -> TieredFunction:
    """The first function.  Raises ImportError without llvmlite."""
    return TieredFunction(CodeSource(NAME, text, NAME), KIND)


@lru_cache(maxsize=1)
def cutting() -> TieredFunction:
    """The second."""
    return TieredFunction(CodeSource(clip_code.NAME, _cutting, clip_code.NAME), KIND)


KIND = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)


def _cutting() -> str:
    return module(*clip_code.functions())


def text() -> str:
    """The first one's module."""
    parts = (vertex_fetch_code, viewport_code, corners_code)
    functions = [function for part in parts for function in part.functions()]
    return module(*functions, _elements(), _assembled(), _vertices())


def _elements() -> tuple[str, Writer]:
    """All that the program is given."""
    k = Code("elements", ("ptr words", "i64 lanes"))
    w = ArgumentWords.of(k, VERTEX_WORDS)
    lane_words, distinct, identity = w.pointers("lane_words", "distinct", "identity")
    base = w.integer("base")
    with k.loop(w.integer("lane_count")) as n:
        element = k.at(lane_words, n * len(LANE), "i64")
        k.call("@element", "void", element, distinct, k["lanes"])
    with k.when(w.integer("identity").differs(0)), k.loop(k["lanes"]) as n:
        k.store((k.load("i64", distinct, n) - base).cut("i32"), identity, n)
    k.give()
    return k.text(internal=True)


def _assembled() -> tuple[str, Writer]:
    k = Code("assembled", ("ptr words",), "i64")
    w, words = ArgumentWords.of(k, VERTEX_WORDS), k["words"]
    lanes = k.call("@numbers", "i64", words)
    w.set("lanes", lanes)
    k.call("@elements", "void", words, lanes)
    k.give_if(w.integer("body").equals(0), lambda: k.call("@screened", "i64", words, lanes))
    body, bindings, given, inputs, out, outputs = w.pointers(
        "body", "bindings", "in", "inputs", "out", "outputs"
    )
    input_count, output_count = w.integers("input_count", "output_count")
    unmasked = k.constant("i64", 0)
    k.call(
        w.pointer("loop").name, "void", body, bindings,
        given, inputs, input_count, out, outputs, output_count, unmasked, lanes,
    )  # fmt: skip
    k.call("@place", "void", words, lanes)
    k.give(k.call("@choose", "i64", words))
    return k.text(internal=True)


def _vertices() -> tuple[str, Writer]:
    k = Code(NAME, ("ptr words", "i64 taken"), "i64")
    k.give_if(k["taken"] < 0, lambda: k.call("@assembled", "i64", k["words"]))
    k.call("@emit", "void", k["words"], k["taken"])
    k.give(k["taken"])
    return k.text()

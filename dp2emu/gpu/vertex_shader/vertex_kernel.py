"""The compiled vertex stage: equal to ``vertex_stage.geometry``, bit for bit.

One function fetches, shades, projects and clips all vertices of a chunk.  If the vertex numbers
lie close together, the whole range is shaded instead of the distinct numbers alone.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dp2emu.cancellation import CURRENT, Cancellation
from dp2emu.d3d.vertices import Element
from dp2emu.errors import Disagreement
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
from dp2emu.gpu.input_assembler.vertex_fetch import (
    Vertices,
    index_bytes,
    item_bounds,
    size_of,
    stream_bytes,
)
from dp2emu.gpu.rasterizer import clip_code
from dp2emu.gpu.rasterizer.clip import FIXED_PLANES, Geometry, planes_used
from dp2emu.gpu.vertex_shader.vertex_frame import Frame, VertexPlan, double, own_thread, plan_of
from dp2emu.gpu.vertex_shader.vertex_stage import geometry as reference_geometry
from dp2emu.identity_cache import IdentityCache, identity_cached
from dp2emu.shader.ir import Program
from dp2emu.shader.jit.bindings import UNIFORM_CACHE_SIZE, Bindings, address
from dp2emu.shader.jit.code import CodeSource
from dp2emu.shader.jit.engine import run as run_compiled
from dp2emu.shader.jit.layout import layout_of
from dp2emu.shader.jit.machine import target
from dp2emu.shader.jit.scalars import Code
from dp2emu.shader.jit.tiering import TieredFunction, tiers
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
    """Primitives ``start`` to ``stop`` of a draw, with the varyings of ``names`` that exist.

    Compiled code returns float64 positions and varyings.  Raises Unsupported as the reference
    does, and ImportError without llvmlite.
    """
    # For transformed vertices NumPy is as fast as tier-0 code.
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
    """What ``geometry`` returns, by compiled code; if need be, wait until the code is compiled."""
    plan = plan_of(draw.pipeline, names)
    frame = own_thread.frames.of(plan, draw.input.topology, stop - start, planes_used(draw))
    bound = None if plan.program is None else _bound(plan.program, draw, sampler, fetcher)
    kept = set_draw(frame, draw, start, stop, 0 if bound is None else bound[1])
    frame.refresh()
    found = vertices().run(frame.start, ASSEMBLE)
    if bound is not None:
        bound[0].raise_errors()
    made = _emitted(frame, plan, draw, found & _LOW_HALF, found >> 32)
    # The frame's words point to these arrays up to here.
    del kept
    if made is None:
        return reference_geometry(draw, start, stop, names, sampler, run_compiled, fetcher)
    return made


def set_draw(frame: Frame, draw: Draw, start: int, stop: int, bound: int) -> list[Any]:
    """Fill in a frame's words for a draw and return the arrays to which the words point."""
    kept: list[Any] = []
    edges, pitch = 0, 0
    if draw.input.edge_flags is not None:
        kept.append(np.ascontiguousarray(draw.input.edge_flags))
        edges, pitch = address(kept[-1]) + start, kept[-1].shape[1]
    set_view(frame, draw, own_words(draw, start, stop, bound, kept), edges, pitch)
    if frame.elements:
        frame.sources[:] = _sources(frame, draw.input.streams)
    return kept


def own_words(draw: Draw, start: int, stop: int, bound: int, kept: list[Any]) -> tuple[int, ...]:
    """The ``DRAW`` words ``first`` to ``bindings`` for primitives ``start`` to ``stop``.

    ``bound`` is the address of the program's bindings; arrays that the words point to are appended
    to ``kept``.
    """
    indices: tuple[int, ...] = (0, 0, 0, 1, 0, 0, draw.input.first)
    if draw.input.indices is not None:
        indices = _index_words(draw.input.indices, kept)
    return draw.input.first, start, stop - start, *indices, bound


def set_view(
    frame: Frame, draw: Draw, own: tuple[int, ...], edges: int = 0, pitch: int = 0
) -> None:
    """Set a frame's words for a draw: ``own`` (``own_words``), the address and pitch of edge
    flags, the viewport, and the user's clip planes.
    """
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
    """Bindings of a vertex program for a draw, and the address of their words."""
    if not layout_of(program).callees:
        return bound_uniforms(draw.vertex.uniforms, program)
    bindings = Bindings(target(), sampler, fetcher)
    return bindings, address(bindings.of(program, draw.vertex.uniforms))


def bound_uniforms(uniforms: Uniforms, program: Program) -> tuple[Bindings, int]:
    """Cached bindings of a vertex program that reads uniforms only, and their address."""
    return _bound_uniforms(uniforms, program, CURRENT.token)


@identity_cached(UNIFORM_CACHE_SIZE)
def _bound_uniforms(
    uniforms: Uniforms, program: Program, cancellation: Cancellation
) -> tuple[Bindings, int]:
    bindings = Bindings(target(), None, None, cancellation=cancellation)
    return bindings, address(bindings.of(program, uniforms))


def _index_words(indices: Indices, kept: list[Any]) -> tuple[int, ...]:
    """The ``DRAW`` words ``indices`` to ``base``; the index data is appended to ``kept``."""
    data = index_bytes(indices)
    kept.append(data)
    low, high = item_bounds(indices.offset, indices.size, indices.size, data.nbytes)
    # An empty array may have the address 0.
    place = address(data) or _NOWHERE
    return place, data.nbytes, indices.offset, indices.size, low, high, indices.base


_NOWHERE = address(_EMPTY)

_packed: IdentityCache[bytes] = IdentityCache(1 << 12)
"""Cache from a vertex stream and a frame's number to the packed ``SOURCE`` argument words."""

_NO_STREAM = (_NOWHERE, 0, 0, 0, 0, 0, 0, 0, 1)


def _sources(frame: Frame, streams: tuple[Stream | None, ...]) -> bytes:
    """What ``packed_sources`` returns, cached if all elements lie in one stream."""
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
    """The ``SOURCE`` words, as bytes, that locate each of a frame's elements in ``streams``."""
    read = (
        (element, streams[element.stream] if element.stream < len(streams) else None)
        for element in frame.elements
    )
    places: dict[int, tuple[int, int]] = {}
    words = [_NO_STREAM if stream is None else _source_words(element, stream, places)
             for element, stream in read]  # fmt: skip
    return b"".join([_SOURCE.pack(*each) for each in words])


def _source_words(
    element: Element, stream: Stream, places: dict[int, tuple[int, int]]
) -> tuple[int, ...]:
    """The ``SOURCE`` words of an element; ``places`` has addresses and sizes by stream number."""
    if element.stream not in places:
        data = stream_bytes(stream)
        places[element.stream] = address(data) or _NOWHERE, data.nbytes
    place, end = places[element.stream]
    at, size = stream.offset + element.offset, size_of(element)
    stride = stream.stride or size
    available = end - at if at >= 0 else 0
    # Elements are read as words, the last of which may extend beyond the element.
    read = -(-size // 4) * 4
    whole = (available - read) // stride + 1 if available >= read else 0
    low, high = item_bounds(at, stride, size, end)
    return place, end, at, stream.stride, whole, low, high, stream.first, stream.divider


def _emitted(frame: Frame, plan: VertexPlan, draw: Draw, taken: int, cut: int) -> Geometry | None:
    """Gather the ``taken`` visible primitives of a frame, and clip the ``cut`` that need it.

    None if clipping makes more primitives than the output buffer holds.
    """
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
    """The primitives that the reference returns with the engine ``run``, compared with those of
    compiled code.

    Raises Disagreement if they differ.
    """
    wanted = reference_geometry(draw, start, stop, names, sampler, run, fetcher)
    # Tier-0 and optimised code have to agree too.
    for found in tiers(lambda: compiled(draw, start, stop, names, sampler, fetcher)):
        for what, each, other in _compared(wanted, found):
            if each.shape != other.shape or not np.array_equal(each, other, equal_nan=True):
                raise Disagreement(f"{what} of primitives {start} to {stop} differ", "", start)
    return wanted


def _compared(
    wanted: Geometry, found: Geometry
) -> Iterator[tuple[str, NDArray[Any], NDArray[Any]]]:
    """Name, reference array and compiled array of each result to compare."""
    one, other = wanted.vertices, found.vertices
    yield "positions", one.position.astype(np.float64), other.position
    yield "varyings", one.varyings.astype(np.float64), other.varyings
    yield "numbers", wanted.numbers, found.numbers
    yield "edges", wanted.edge_mask, found.edge_mask
    yield "added triangles", np.array([wanted.extra]), np.array([found.extra])


# The vertex stages as two compiled functions, shared by all draws
#
# i64 vertices(ptr words, i64 taken)
#
# With ``taken`` ASSEMBLE it fetches, shades, projects and chooses, and returns the number of
# visible primitives, plus the number of these to clip << 32.  Called again with the first number,
# it gathers the corners of primitives that need no clipping and returns their number.
#
# i64 emit_cut(ptr words, i64 taken)
#
# It clips, gathers, and returns the number of primitives, or -1 for a full buffer.

NAME = "vertices"
ASSEMBLE = -1
KIND = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)


@lru_cache(maxsize=1)
def vertices() -> TieredFunction:
    """The function ``vertices``.  Raises ImportError without llvmlite."""
    return TieredFunction(CodeSource(NAME, text, NAME), KIND)


@lru_cache(maxsize=1)
def cutting() -> TieredFunction:
    """The function ``emit_cut``.  Raises ImportError without llvmlite."""
    return TieredFunction(CodeSource(clip_code.NAME, clip_code.clip_text, clip_code.NAME), KIND)


def text() -> str:
    """LLVM module of the function ``vertices``."""
    fetch, project = vertex_fetch_code.functions(), clip_code.projection_functions()
    gather = clip_code.gather_functions()
    return module(*fetch, *project, *gather, _elements(), _assembled(), _vertices())


def _elements() -> tuple[str, Writer]:
    """Write the function ``elements``: fetch the inputs of the vertex program."""
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

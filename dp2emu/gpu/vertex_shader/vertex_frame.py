"""Argument frames of the compiled vertex stages, built once a pipeline and reused by its draws."""

from __future__ import annotations

import ctypes
import struct
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import count
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from dp2emu import allocation
from dp2emu.allocation import clears
from dp2emu.d3d.formats import Channel, Coding, FormatRow
from dp2emu.d3d.vertices import Element
from dp2emu.gpu.arrays import I64
from dp2emu.gpu.code.vertex_arguments import (
    FLAT,
    FRACTION,
    HALF,
    LANE,
    PLANE,
    RAW,
    SIGNED,
    SMALL,
    SMOOTH,
    SOURCE,
    UNSIGNED,
    VARYING,
    VERTEX_WORDS,
    WHOLE,
    WHOLE_SIGNED,
    WHOLE_UNSIGNED,
    WRAPPED,
)
from dp2emu.gpu.command.bindings import Topology
from dp2emu.gpu.command.pipeline import Pipeline, RasterState, is_flat
from dp2emu.gpu.command.topology import CORNERS, TOPOLOGIES
from dp2emu.gpu.input_assembler.vertex_fetch import COMPONENTS, format_of, sources_of, type_of
from dp2emu.gpu.rasterizer.clip import FIXED_PLANES, POSITION, wraps
from dp2emu.gpu.vertex_shader.vertex_stage import VERTEX_NUMBER
from dp2emu.identity_cache import IdentityCache
from dp2emu.shader.ir import Program
from dp2emu.shader.jit.batches import batch_loop
from dp2emu.shader.jit.bindings import address
from dp2emu.shader.jit.code import body_source
from dp2emu.shader.jit.machine import target
from dp2emu.shader.jit.tiering import TieredFunction
from dp2emu.shader.ports import CONSTANT

WORD_BITS = 32


class Component(msgspec.Struct, frozen=True):
    """A component of a vertex element: number of the 32-bit ``word`` that holds its bits, shifts
    ``left`` and then ``right`` that isolate them, and the conversion ``mode`` and ``scale``.
    """

    element: Element
    word: int
    left: int
    right: int
    mode: int
    scale: int


StreamSource = Component | int | None
"""Source of a vertex input: a fetched component, constant bits, or None for the vertex number."""

ZERO, ONE, WHOLE_ONE = 0, 0x3F800000, 1
"""Bits that replace components a vertex lacks: zero, the float 1.0, and the integer 1."""


class VertexPlan(msgspec.Struct, frozen=True):
    """Inputs and outputs of the vertex stages of a pipeline.

    ``sources`` feed the inputs of the program or, without one, position and varyings.  ``names``
    are the varyings, ``modes`` how corners of a primitive share them.  ``depth``: z is clipped.
    ``own_planes`` and ``culls`` are the numbers of clip and cull distances that the program
    writes in Direct3D 10.
    """

    program: Program | None
    sources: tuple[StreamSource, ...]
    names: tuple[str, ...]
    modes: tuple[int, ...]
    depth: bool
    own_planes: int = 0
    culls: int = 0

    @property
    def components(self) -> tuple[Component, ...]:
        """Components of vertex elements that ``sources`` read, each once."""
        found = (source for source in self.sources if isinstance(source, Component))
        return tuple(dict.fromkeys(found))

    @property
    def elements(self) -> tuple[Element, ...]:
        """Distinct vertex elements whose components ``sources`` read."""
        return tuple(dict.fromkeys(component.element for component in self.components))


@lru_cache(maxsize=1 << 10)
def plan_of(pipeline: Pipeline, names: tuple[str, ...]) -> VertexPlan:
    """The plan of a pipeline with the varyings of ``names`` that exist.

    Raises Unsupported as the reference does.
    """
    if pipeline.vertex is None:
        position, found = sources_of(pipeline.layout, names, pipeline.attributes)
        taken = [*((position, component) for component in range(4)), *found.values()]
        sources = tuple(_component(*each) for each in taken)
        return VertexPlan(None, sources, tuple(found), _modes(found, pipeline.raster), False)
    outputs = {port.name for port in pipeline.vertex.outputs}
    written = tuple(name for name in names if name in outputs)
    inputs, raster = _inputs(pipeline, pipeline.vertex), pipeline.raster
    own = raster.clip_distances, raster.cull_distances
    return VertexPlan(pipeline.vertex, inputs, written, _modes(written, raster), raster.clip, *own)


def _inputs(pipeline: Pipeline, program: Program) -> tuple[StreamSource, ...]:
    elements = {attribute.name: attribute.element for attribute in pipeline.attributes}

    def source(port: str) -> StreamSource:
        register, component = port.split(".")
        return _component(elements.get(register), COMPONENTS.index(component))

    names = (port.name for port in program.inputs)
    return tuple(None if name == VERTEX_NUMBER else source(name) for name in names)


def _component(element: Element | None, number: int) -> Component | int:
    """Component ``number`` of an element, or its bits if absent: 0, and 1.0 for component 3."""
    absent = ONE if number == len(COMPONENTS) - 1 else ZERO
    if element is None:
        return absent
    format = format_of(element)
    if format is not None:
        return _channel(element, format, number)
    row = type_of(element)
    if number >= row.components:
        return absent
    # Shifts that move the component to the top of its word and back down.
    bits = _PACKED_BITS if row.packed else 8 * np.dtype(row.storage).itemsize
    word, place = divmod(row.order[number] * bits, WORD_BITS)
    spare, mode = WORD_BITS - bits, _MODES[row.storage.lstrip("<")]
    return Component(element, word, spare - place, spare, mode, row.scale)


def _channel(element: Element, row: FormatRow, number: int) -> Component | int:
    """Component ``number`` of an element with a DXGI format, or its bits if absent
    (``resource.pixel_format.unpack_bits``).
    """
    lane = row.lanes[number]
    if not isinstance(lane, Channel):
        whole = {each.coding for each in row.channels.values()} & {Coding.UINT, Coding.SINT}
        return (WHOLE_ONE if whole else ONE) if lane else ZERO
    mode, scale = _CODINGS[lane.coding](lane)
    word, place = divmod(lane.shift, WORD_BITS)
    spare = WORD_BITS - lane.bits
    return Component(element, word, spare - place, spare, mode, scale)


_CODINGS: dict[Coding, Callable[[Channel], tuple[int, int]]] = {
    Coding.UNORM: lambda channel: (UNSIGNED, channel.max),
    Coding.SNORM: lambda channel: (FRACTION, channel.max >> 1),
    Coding.UINT: lambda _: (WHOLE_UNSIGNED, 1),
    Coding.SINT: lambda _: (WHOLE_SIGNED, 1),
    Coding.FLOAT: lambda channel: (RAW if channel.bits == WORD_BITS else SMALL, 1),
}
"""From channel coding (such as UNORM) to a function: channel -> ``Component`` mode and scale."""

_MODES = {"f4": RAW, "f2": HALF, "i2": SIGNED, "i4": SIGNED,
          "u1": UNSIGNED, "u2": UNSIGNED, "u4": UNSIGNED}  # fmt: skip
_PACKED_BITS = 10


def _modes(names: Iterable[str], raster: RasterState) -> tuple[int, ...]:
    """The mode of each named varying: WHOLE for an integer constant, FLAT for a flat-shaded one,
    WRAPPED for a texture coordinate that wraps (D3DRS_WRAP0), otherwise SMOOTH.
    """
    return tuple(
        WHOLE if name.startswith(CONSTANT)
        else FLAT if is_flat(name, raster.flat)
        else WRAPPED if wraps(name, raster.wrap)
        else SMOOTH
        for name in names
    )  # fmt: skip


# The working memory of the vertex stages, and the words that have its addresses

WORD = 8
_PLACES = {name: place for place, name in enumerate(VERTEX_WORDS)}
_ALIGNMENT = 64
_FEWEST = 16
"""Least capacity of an argument frame, in corners of primitives."""
FRAMES = 256
"""Maximum number of argument frames (``Frame``) that a thread keeps for reuse."""


class _Arena:
    """Bump allocator of the memory at address ``base``; with base 0 it allocates nothing, but
    measures the size.  Mutable.
    """

    def __init__(self, base: int = 0) -> None:
        self.base = base
        self.size = 0

    def take(self, count: int, item: int) -> int:
        """Allocate ``count`` items of ``item`` bytes and return their address."""
        place = self.base + self.size
        self.size += -(-count * item // _ALIGNMENT) * _ALIGNMENT
        return place


class _SeparateArrays(_Arena):
    """An arena of separately allocated arrays, so that each can have guard pages.  Mutable."""

    def __init__(self) -> None:
        super().__init__()
        self.arrays: list[NDArray[np.uint8]] = []

    def take(self, count: int, item: int) -> int:
        """Allocate ``count`` items of ``item`` bytes and return their address."""
        self.arrays.append(np.empty(-(-count * item // _ALIGNMENT) * _ALIGNMENT, np.uint8))
        return address(self.arrays[-1])


class Frame(msgspec.Struct, frozen=True, eq=False):
    """Argument words of the compiled vertex stages, at address ``start``, for draws of one plan,
    topology and capacity; the words that each draw sets, ``DRAW``, come first.

    ``sources`` are the ``SOURCE`` words of ``elements``, which lie in ``streams``; ``planes`` the
    ``PLANE`` words of the user's planes.  ``number`` is unique.  ``functions`` are the compiled
    functions that run the program, each with the name of the word that has its address; ``code``
    is the code that these addresses belong to.
    """

    words: memoryview
    start: int
    number: int
    elements: tuple[Element, ...]
    streams: tuple[int, ...]
    sources: memoryview
    planes: I64
    kept: tuple[Any, ...]
    functions: tuple[tuple[str, TieredFunction], ...]
    code: dict[str, Any] = msgspec.field(default_factory=dict)

    def refresh(self) -> None:
        """Store the addresses of the program's best compiled code so far in the words; called
        before each use of the frame.
        """
        for name, function in self.functions:
            best = function.best()
            if self.code.get(name) is not best:
                self.code[name] = best
                _ADDRESS.pack_into(self.words, WORD * _PLACES[name], best.code.address)


_ADDRESS = struct.Struct("=q")


class Memory:
    """Memory that several argument frames use in turn.  Mutable: for a frame that needs more, a
    new block of a power of two bytes is allocated; older frames keep theirs.
    """

    def __init__(self) -> None:
        self._block = np.empty(0, np.uint8)

    def frame(
        self, plan: VertexPlan, topology: Topology, capacity: int, planes: tuple[int, ...]
    ) -> Frame:
        """Lay out argument words and work arrays of the compiled vertex stages in this memory, for
        ``capacity`` corners of primitives and the clip ``planes``.  Raises ImportError without
        llvmlite.
        """
        if allocation.current.mode:
            apart = _SeparateArrays()
            return _Layout(plan, capacity, planes, apart).frame(topology, apart.arrays)
        needed = _Arena()
        _Layout(plan, capacity, planes, needed)
        if needed.size > len(self._block):
            self._block = np.empty(1 << (needed.size + _ALIGNMENT).bit_length(), np.uint8)
        layout = _Layout(plan, capacity, planes, _Arena(address(self._block)))
        return layout.frame(topology, self._block)


class Frames:
    """Cache of the argument frames of the compiled vertex stages, which share one memory: use of a
    frame overwrites the others.  For one thread at a time.  Mutable.
    """

    def __init__(self) -> None:
        self._memory = Memory()
        self._frames: IdentityCache[Frame] = IdentityCache(FRAMES)

    def of(
        self, plan: VertexPlan, topology: Topology, count: int, planes: tuple[int, ...]
    ) -> Frame:
        """The frame, new or cached, for ``count`` primitives and the user's planes ``planes``.

        Its use overwrites the data of other frames.  Raises ImportError without llvmlite.
        """
        capacity = capacity_of(count)
        values = topology, capacity, planes, allocation.current.mode
        try:
            return self._frames.find((plan,), values)
        except KeyError:
            found = self._memory.frame(plan, topology, capacity, planes)
        self._frames.put((plan,), values, found)
        return found


class _Thread(threading.local):
    """Thread-local data: the frame cache of the calling thread."""

    def __init__(self) -> None:
        self.frames = Frames()


own_thread = _Thread()
_numbers = count()


def capacity_of(count: int) -> int:
    """Capacity, in corners, of a frame for ``count`` primitives."""
    return max(_FEWEST, 1 << (3 * count - 1).bit_length())


class _Layout:
    """Addresses, in a frame's memory, of its arrays, which hold data of ``capacity`` vertices."""

    def __init__(
        self, plan: VertexPlan, capacity: int, planes: tuple[int, ...], room: _Arena
    ) -> None:
        self.plan = plan
        self.planes = (*planes, *range(plan.own_planes))
        self.used = len(planes)
        self.capacity = capacity
        take = room.take
        program = plan.program
        self.rows = {each: take(capacity, 4) for each in plan.components}
        self.identity = take(capacity, 4)
        self.outputs = [take(capacity, 4) for _ in (program.outputs if program else ())]
        self.alive = take(capacity, 1)
        count = len(self.planes)
        self.most = FIXED_PLANES + count + 2 + 3
        self.words: dict[str, int] = {
            "numbers": take(capacity, 8),
            "distinct": take(capacity, 8),
            "places": take(capacity, 4),
            "table": take(2 * capacity, 8),
            "slots": take(2 * capacity, 4),
            "table_size": 2 * capacity,
            "room": capacity,
            "screen": take(4 * capacity, 8),
            "inside": take(capacity, 8),
            "depth": int(plan.depth),
            "plane_count": count,
            "distances": take(count * capacity, 8),
            "chosen": take(capacity, 4),
            "polygons": take(2 * self.most * (5 + len(plan.names) + count), 8),
            "most": self.most,
        }
        self.constants = {
            bits: constants(capacity, bits)
            for bits in {ZERO, *(each for each in plan.sources if isinstance(each, int))}
        }

    def frame(self, topology: Topology, block: object) -> Frame:
        """The frame whose arrays, laid out here, lie in the memory that ``block`` keeps alive."""
        sources = np.zeros(max(len(self.plan.elements), 1) * len(SOURCE), np.int64)
        planes = np.zeros((max(len(self.planes), 1), len(PLANE)), np.int64)
        lanes = self._lanes(address(sources))
        varyings = self._varyings()
        kept: list[Any] = [
            self.plan, sources, planes, lanes, varyings, self.constants, block,
        ]  # fmt: skip
        self.words |= _steps(topology) | {
            "corners": CORNERS[topology],
            "lane_words": address(lanes),
            "lane_count": len(self.rows),
            "identity": self.identity if None in self.plan.sources else 0,
            "varying_count": len(self.plan.names),
            "varyings": address(varyings),
            "single": int(self.plan.program is None),
            "planes": address(planes),
        }
        self.words |= dict(zip("xyzw", self._positions(), strict=True))
        if self.plan.program is not None:
            kept.append(self._program())
            for place, number in enumerate(self.planes):
                planes[place, 0] = self._output(f"clip{number}.x", 0)
                planes[place, 1] = place >= self.used
            culls = [self._output(f"cull{n}.x", 0) for n in range(self.plan.culls)]
            kept.append(np.array(culls or [0], np.int64))
            self.words |= {"cull_count": len(culls), "culls": address(kept[-1])}
        words = np.zeros(len(VERTEX_WORDS), np.int64)
        for name, value in self.words.items():
            words[_PLACES[name]] = value
        kept.append(words)
        held = words.data.cast("B"), address(words)
        elements = self.plan.elements
        streams = tuple(sorted({element.stream for element in elements}))
        read = sources.data.cast("B")
        program = self.plan.program
        functions = () if program is None else _functions(program)
        return Frame(
            *held, next(_numbers), elements, streams, read, planes, tuple(kept), functions
        )

    def _lanes(self, sources: int) -> I64:
        """The ``LANE`` words of each component to fetch; ``SOURCE`` words are at ``sources``."""
        places = {e: sources + n * len(SOURCE) * WORD for n, e in enumerate(self.plan.elements)}
        rows = [
            (places[c.element], c.word, c.left, c.right, c.mode, double(c.scale), row)
            for c, row in self.rows.items()
        ]
        return _table(rows, len(LANE))

    def _row(self, source: StreamSource) -> int:
        """Address of the array with the values of ``source``, one 32-bit word for each vertex."""
        if source is None:
            return self.identity
        if isinstance(source, Component):
            return self.rows[source]
        return address(self.constants[source])

    def _output(self, name: str, otherwise: int) -> int:
        program = self.plan.program
        names = [port.name for port in program.outputs] if program else []
        return self.outputs[names.index(name)] if name in names else otherwise

    def _positions(self) -> list[int]:
        if self.plan.program is None:
            return [self._row(source) for source in self.plan.sources[:4]]
        return [self._output(name, address(self.constants[ZERO])) for name in POSITION]

    def _varyings(self) -> I64:
        """For each varying, its ``VARYING`` words: address of its values, and mode."""
        plan = self.plan
        if plan.program is None:
            rows = [self._row(source) for source in plan.sources[4:]]
        else:
            rows = [self._output(name, 0) for name in plan.names]
        words = list(zip(rows, plan.modes, strict=True))
        return _table(words, len(VARYING))

    def _program(self) -> tuple[Any, ...]:
        """Set the words of the vertex program's arguments -> the arrays that they point to, to be
        kept alive.
        """
        plan, own = self.plan, target()
        assert plan.program is not None
        inputs = [
            (self._row(source), 0 if isinstance(source, int) else 4, 4) for source in plan.sources
        ]
        outputs = [*((row, 4, 4) for row in self.outputs), (self.alive, 1, 1)]
        described = [_table(rows, 3) for rows in (inputs, outputs)]
        rooms = [np.empty((len(rows) + 1) * own.row, np.uint8) for rows in (inputs, outputs)]
        self.words |= {
            "in": address(rooms[0]),
            "inputs": address(described[0]),
            "input_count": len(inputs),
            "out": address(rooms[1]),
            "outputs": address(described[1]),
            "output_count": len(self.outputs),
        }
        return described, rooms


@lru_cache(maxsize=1 << 10)
def _functions(program: Program) -> tuple[tuple[str, TieredFunction], ...]:
    """Batch loop and body of a program, each with the name of the word that has its address."""
    names = tuple(port.name for port in program.inputs)
    source = body_source(program, names, target(), masked=False)
    return ("loop", batch_loop(target())), ("body", TieredFunction(source, _BODY))


_BODY = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32
)


@clears
@lru_cache(maxsize=32)
def constants(capacity: int, bits: int) -> NDArray[np.uint32]:
    """An array of ``capacity`` 32-bit words that are all equal to ``bits``."""
    return np.full(capacity, bits, np.uint32)


def _table(rows: Sequence[tuple[int, ...]], width: int) -> I64:
    """Int64 array of ``rows``, ``width`` numbers each; one row of zeros if ``rows`` is empty."""
    return np.array(rows or [(0,) * width], np.int64)


def double(value: float) -> int:
    """The bits of a double as a 64-bit integer."""
    bits: int = struct.unpack("<q", struct.pack("<d", value))[0]
    return bits


@lru_cache(maxsize=16)
def _steps(topology: Topology) -> dict[str, int]:
    """Vertex numbering of a topology: argument word names such as ``step0``, with values."""
    row = TOPOLOGIES[topology]
    words = {"step": row.steps, "odd": row.odds, "offset": row.offsets}
    return {f"{what}{corner}": value for what, values in words.items()
            for corner, value in enumerate(values)}  # fmt: skip

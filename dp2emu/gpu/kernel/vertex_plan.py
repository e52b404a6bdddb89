"""What the vertex stages read and write for a pipeline, found once for all its draws."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

import numpy as np

from dp2emu.d3d.formats import Channel, Coding, FormatRow
from dp2emu.d3d.vertices import Element
from dp2emu.gpu.geometry import VERTEX_NUMBER, is_flat, wraps
from dp2emu.gpu.kernel.vertex_words import (
    FLAT,
    FRACTION,
    HALF,
    RAW,
    SIGNED,
    SMALL,
    SMOOTH,
    UNSIGNED,
    WHOLE,
    WHOLE_SIGNED,
    WHOLE_UNSIGNED,
    WRAPPED,
)
from dp2emu.gpu.state import Pipeline, RasterState
from dp2emu.gpu.vertex import COMPONENTS, VertexType, format_of, sources_of, type_of
from dp2emu.records import dataclass
from dp2emu.shader.ir import Program
from dp2emu.shader.ports import CONSTANT

WORD_BITS = 32


@dataclass(frozen=True, slots=True)
class Component:
    """A component of an element: how it is taken from the 32-bit ``word`` (``vertex_words``)."""

    element: Element
    word: int
    left: int
    right: int
    mode: int
    scale: int


Source = Component | int | None
"""Where a float of a vertex comes from: a component, or the bits of one that all have; None is the
vertex's number."""
ZERO, ONE, WHOLE_ONE = 0, 0x3F800000, 1
"""Bits of components that are not there."""


@dataclass(frozen=True, slots=True)
class Plan:
    """``sources`` of what the program reads, or without one of position and varyings.

    ``names`` are the varyings there are, ``modes`` what becomes of them.  ``depth``: z is clipped.
    ``own_planes`` and ``culls`` are the distances that clip without a plane, and that cull.
    """

    program: Program | None
    sources: tuple[Source, ...]
    names: tuple[str, ...]
    modes: tuple[int, ...]
    depth: bool
    own_planes: int = 0
    culls: int = 0

    @property
    def components(self) -> tuple[Component, ...]:
        """All that is read, each once."""
        found = (source for source in self.sources if isinstance(source, Component))
        return tuple(dict.fromkeys(found))

    @property
    def elements(self) -> tuple[Element, ...]:
        """The elements that they belong to, each once."""
        return tuple(dict.fromkeys(component.element for component in self.components))


@lru_cache(maxsize=1 << 10)
def plan_of(pipeline: Pipeline, names: tuple[str, ...]) -> Plan:
    """The plan for those varyings of ``names`` that there are.

    Raises Unsupported for what the reference's stages refuse.
    """
    if pipeline.vertex is None:
        position, found = sources_of(pipeline.layout, names, pipeline.attributes)
        taken = [*((position, component) for component in range(4)), *found.values()]
        sources = tuple(_component(*each) for each in taken)
        return Plan(None, sources, tuple(found), _modes(found, pipeline.raster), False)
    outputs = {port.name for port in pipeline.vertex.outputs}
    written = tuple(name for name in names if name in outputs)
    inputs, raster = _inputs(pipeline, pipeline.vertex), pipeline.raster
    own = raster.clip_distances, raster.cull_distances
    return Plan(pipeline.vertex, inputs, written, _modes(written, raster), raster.clip, *own)


def _inputs(pipeline: Pipeline, program: Program) -> tuple[Source, ...]:
    elements = {attribute.name: attribute.element for attribute in pipeline.attributes}
    sources: list[Source] = []
    for port in program.inputs:
        register, component = port.name.split(".")
        if port.name == VERTEX_NUMBER:
            sources.append(None)
        else:
            number = COMPONENTS.index(component)
            sources.append(_component(elements.get(register), number))
    return tuple(sources)


def _component(element: Element | None, number: int) -> Component | int:
    """A component; one that is not there is 0, or 1 if it is the last."""
    format = None if element is None else format_of(element)
    if element is not None and format is not None:
        return _channel(element, format, number)
    row = None if element is None else type_of(element)
    if element is None or row is None or number >= row.components:
        return ONE if number == len(COMPONENTS) - 1 else ZERO
    word, left, right, mode = _bits(row, row.order[number])
    return Component(element, word, left, right, mode, row.scale)


def _channel(element: Element, row: FormatRow, number: int) -> Component | int:
    """The same of a format (``gpu.pixels.unpack_bits``)."""
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
"""Mode and scale of a channel."""
_MODES = {"f4": RAW, "f2": HALF, "i2": SIGNED, "i4": SIGNED,
          "u1": UNSIGNED, "u2": UNSIGNED, "u4": UNSIGNED}  # fmt: skip
_PACKED_BITS = 10


def _bits(row: VertexType, number: int) -> tuple[int, int, int, int]:
    """Word, shifts and mode of a component of an element as it is stored."""
    mode = _MODES[row.storage.lstrip("<")]
    bits = _PACKED_BITS if row.packed else 8 * np.dtype(row.storage).itemsize
    word, place = divmod(number * bits, WORD_BITS)
    return word, WORD_BITS - bits - place, WORD_BITS - bits, mode


def _modes(names: Iterable[str], raster: RasterState) -> tuple[int, ...]:
    """What a primitive makes of its corners' varyings (``gpu.geometry``)."""
    return tuple(_mode(name, raster) for name in names)


def _mode(name: str, raster: RasterState) -> int:
    if name.startswith(CONSTANT):
        return WHOLE
    flat = is_flat(name, raster.flat)
    return FLAT if flat else WRAPPED if wraps(name, raster.wrap) else SMOOTH

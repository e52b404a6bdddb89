"""Programs for what Direct3D 10 asks of textures and buffers besides sampling them.

Their outputs are four I32, ``word.x`` to ``word.w``: floats by their bits, or integers where the
format has them.  Files are those of ``bindings``; a buffer is the ``texels``, from the beginning
of the view to its end, and ``buffer`` has the bytes and the number of its structures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import IntEnum
from functools import lru_cache, partial, reduce
from operator import and_

import numpy as np

from dp2emu.d3d.formats import Channel, Coding, FormatRow
from dp2emu.errors import Unsupported
from dp2emu.records import dataclass
from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Assign, Constant, File, Input, Lod, Program, Stage, Statement
from dp2emu.shader.reference import Run, Watch
from dp2emu.shader.resources import CUBES, SHAPES, Dimension, ReadOpcode, Shape, Unit
from dp2emu.shader.sampling import COMPONENTS
from dp2emu.shader.texture import seams
from dp2emu.shader.texture.bindings import Files, LevelField, LimitField
from dp2emu.shader.texture.detail import level_from
from dp2emu.shader.texture.fields import WORD_BITS, Decode, Source, bits, signed_bits
from dp2emu.shader.texture.filters import Texel
from dp2emu.shader.texture.reading import Level, corners, level_of, place_of, shifted
from dp2emu.shader.texture.records import SamplerKey
from dp2emu.shader.texture.sampler import Sampling, sampler_program
from dp2emu.shader.texture.texels import texel
from dp2emu.shader.types import I32, Lanes, Type
from dp2emu.shader.values import Number, Value
from dp2emu.shader.verify import MAX_UNIFORM_SIZE

ONE_BITS = 0x3F800000


MAX_SAMPLES = 32
"""Of a pixel: D3D11_MAX_MULTISAMPLE_SAMPLE_COUNT."""


class BufferField(IntEnum):
    """Integers of a structured buffer."""

    STRIDE = 0
    COUNT = 1


@lru_cache(maxsize=1 << 8)
def load_program(key: SamplerKey, stage: Stage, *, multisampled: bool = False) -> Program:
    """The texel numbered ``number.x`` and so on of ``level.x``, or sample ``sample.x`` of it if
    there are several, and of ``layer.x`` of an array.

    Out of range what the format has is 0, and what it lacks as ever; so are levels before the
    first one that is to be used.
    """
    b = Builder(stage)
    source = Source.of(b, key)
    numbers = [b.input(f"number.{c}", Type.I32) for c in COMPONENTS[: key.kind.axes]]
    limit = _limit(source, LimitField.SAMPLES if multisampled else LimitField.LEVELS)
    number = b.input("sample.x" if multisampled else "level.x", Type.I32)
    inside = [b.apply("ult", number, limit)]
    if not multisampled:
        inside.append(b.apply("uge", number, _limit(source, LimitField.FIRST)))
    row = b.constant(Type.I32, 0) if multisampled else number
    levels = b.constant(Type.I32, 1) if multisampled else limit
    if key.layers:
        layer = b.input("layer.x", Type.I32)
        inside.append(b.apply("ult", layer, _limit(source, LimitField.LAYERS)))
        row = layer * levels + row
    level = level_of(source, row)
    inside += [b.apply("ult", n, side) for n, side in zip(numbers, level.sides, strict=True)]
    if multisampled:
        numbers[0] = numbers[0] * limit + number
    words = _words(source, place_of(source, level, numbers), numbers)
    known = reduce(and_, inside)
    return _answering(b, [_held(b, known, word) for word in words])


def _held(b: Builder, known: Value, word: Value | int) -> Number:
    return b.select(known, word, 0) if isinstance(word, Value) else word


def _limit(source: Source, field: LimitField) -> Value:
    return source.b.load(source.files.limits, field)


def _words(source: Source, address: Value, numbers: Sequence[Value]) -> list[Value | int]:
    """The texel at an address; a plain number is what the format lacks."""
    if not has_integers(source.row):
        return _bits_of(source.b, texel(source, address, numbers[0], numbers[1]))
    codes = source.codes(address)
    return [
        _integer(codes, lane) if isinstance(lane, Channel) else int(lane)
        for lane in source.row.lanes
    ]


def _integers(source: Source, address: Value, u: Value, v: Value) -> Texel:
    """The same of a texel of whole numbers, all of them I32."""
    words = _words(source, address, (u, v))
    red, green, blue, alpha = (
        source.b.constant(Type.I32, word) if isinstance(word, int) else word for word in words
    )
    return red, green, blue, alpha


def has_integers(row: FormatRow) -> bool:
    """Whether texels are whole numbers, and stay so when they are loaded."""
    return any(isinstance(lane, Channel) and lane.coding in _INTEGERS for lane in row.lanes)


def _integer(codes: tuple[Value, ...], lane: Channel) -> Value:
    word, shift = divmod(lane.shift, WORD_BITS)
    return _INTEGERS[lane.coding](codes[word], shift, lane.bits)


_INTEGERS: dict[Coding, Callable[[Value, int, int], Value]] = {
    Coding.UINT: bits,
    Coding.SINT: signed_bits,
}


def _bits_of(b: Builder, found: Texel) -> list[Value | int]:
    return [
        b.asint(each) if isinstance(each, Value) else (ONE_BITS if each else 0) for each in found
    ]


@lru_cache(maxsize=1 << 8)
def gather_program(key: SamplerKey, component: int, offset: bool, stage: Stage) -> Program:
    """A component of the four texels around a place in the most detailed level.

    Inputs are those of a sampler, and ``offset.x`` and ``offset.y`` in texels if it has them.
    """
    b = Builder(stage)
    sampling = Sampling.of(b, key, Lod.EXPLICIT)
    level = sampling.row(sampling.limit(LimitField.FIRST))
    at = sampling.coordinates
    if offset:
        by = [b.input(f"offset.{c}", Type.I32) for c in COMPONENTS[:2]]
        at = tuple(shifted(*each) for each in zip(at, by, level.sides, strict=False))
    if has_integers(sampling.source.row):
        whole = _corners(replace(sampling, coordinates=at), level, _integers)
        return _answering(b, [each[component] for each in whole])
    found = _corners(replace(sampling, coordinates=at), level, texel)
    return _answering(b, [_bits_of(b, each)[component] for each in found])


_COUNTER_CLOCKWISE = (2, 3, 1, 0)
"""Of texels row by row, from the lower left."""


def _corners(sampling: Sampling, level: Level, decode: Decode) -> tuple[Texel, ...]:
    """The four texels around the place, from the lower left counter-clockwise."""
    if sampling.face is None or not sampling.key.seams:
        return corners(sampling.source, sampling.coordinates, level, decode)
    on = partial(sampling.row_on, sampling.limit(LimitField.FIRST))
    number = sampling.face.number
    taps = seams.around(sampling.source, sampling.coordinates, number, on, decode).taps
    return tuple(taps[n].texel for n in _COUNTER_CLOCKWISE)


@lru_cache(maxsize=1 << 8)
def lod_program(key: SamplerKey, stage: Stage) -> Program:
    """The level of detail of a gradient, first within the sampler's range and the chain, then as
    it is; both with bias.  A texture whose derivatives are 0 is infinitely magnified.
    """
    b = Builder(stage)
    sampling = Sampling.of(b, key, Lod.GRADIENT)
    level = sampling.biased(level_from(sampling.footprint().longest))
    held = sampling.ranged(level) if key.ranged else level
    first, last = (b.itof(sampling.limit(f)) for f in (LimitField.FIRST, LimitField.LAST))
    held = b.min(b.max(held, first), last)
    return _answering(b, [b.asint(held), b.asint(level), 0, 0])


def _buffer(b: Builder) -> File:
    return b.uniform("texels", Type.I32, MAX_UNIFORM_SIZE)


Side = LevelField | LimitField | None


# Fields of different enumerations may have the same number, and are not the same.
@lru_cache(maxsize=1 << 4, typed=True)
def size_program(first: Side, second: Side, third: Side, stage: Stage) -> Program:
    """Three sizes of ``level.x``, 0 if there is no such level, and how many levels there are."""
    b = Builder(stage)
    files = Files.of(b)
    number, levels = b.input("level.x", Type.I32), b.load(files.limits, LimitField.LEVELS)
    exists = b.apply("ult", number, levels)
    found = [_texel_count(files, side, number) for side in (first, second, third)]
    return _answering(b, [*(_held(b, exists, each) for each in found), levels])


def _texel_count(files: Files, side: Side, level: Value) -> Value | int:
    b = level.builder
    if side is None:
        return 0
    if isinstance(side, LimitField):
        return b.load(files.limits, side)
    return b.load(files.levels, side, level, len(LevelField))


@lru_cache(maxsize=1 << 2)
def facts_program(stage: Stage) -> Program:
    """The four words of the file ``facts``."""
    b = Builder(stage)
    facts = b.uniform("facts", Type.I32, len(COMPONENTS))
    return _answering(b, [b.load(facts, number) for number in range(len(COMPONENTS))])


@lru_cache(maxsize=1 << 2)
def place_program(stage: Stage) -> Program:
    """Two floats for the number ``number.x`` from the file ``places``, and zeros; behind its end
    zeros alone.
    """
    b = Builder(stage)
    places = b.uniform("places", Type.I32, 2 * MAX_SAMPLES)
    number = b.input("number.x", Type.I32)
    known = b.apply("ult", number, MAX_SAMPLES)
    found = [_held(b, known, b.load(places, axis, number, 2)) for axis in range(2)]
    return _answering(b, [*found, 0, 0])


@lru_cache(maxsize=1 << 4)
def raw_program(stage: Stage) -> Program:
    """Four words from byte ``at.x`` on, each 0 beyond the end."""
    b = Builder(stage)
    texels = _buffer(b)
    first = b.apply("ushr", b.input("at.x", Type.I32), 2)
    return _answering(b, [b.load(texels, number, first) for number in range(4)])


@lru_cache(maxsize=1 << 4)
def structured_program(stage: Stage) -> Program:
    """Four words from byte ``at.x`` on of structure ``number.x``, each 0 outside of it."""
    b = Builder(stage)
    texels = _buffer(b)
    fields = b.uniform("buffer", Type.I32, len(BufferField))
    stride, count = (b.load(fields, each) for each in BufferField)
    number, at = b.input("number.x", Type.I32), b.input("at.x", Type.I32)
    exists = b.apply("ult", number, count)
    first = b.apply("ushr", number * stride + at, 2)
    words = []
    for place in range(4):
        known = exists & b.apply("ult", at, stride) & b.apply("ult", at + 4 * place, stride)
        words.append(_held(b, known, b.load(texels, place, first)))
    return _answering(b, words)


def _answering(b: Builder, words: Sequence[Number]) -> Program:
    for component, word in zip(COMPONENTS, words, strict=True):
        b.output(f"word.{component}", word, Type.I32)
    return b.program()


# Programs that answer what units of a lowered shader ask of textures and buffers.

_SIDES = (LevelField.WIDTH, LevelField.HEIGHT, LevelField.DEPTH)


_OF_SAMPLES = frozenset({Dimension.TEXTURE2DMS, Dimension.TEXTURE2DMSARRAY})


_SECOND_FLOAT = {"coordinate.y": 0.5, "ddx.y": 0.0, "ddy.y": 0.0}
"""The coordinate that a texture of one axis lacks: the middle of its only row."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A program that answers a unit; ``ports`` are its inputs in the order of the operands."""

    program: Program
    ports: tuple[str, ...]

    @classmethod
    def of(cls, program: Program, ports: tuple[str, ...]) -> Answer:
        """A program that reads no more than the operands: what a texture of one axis lacks are
        constants.
        """
        inputs = tuple(port for port in program.inputs if port.name in ports)
        statements = tuple(_given(program, each, ports) for each in program.statements)
        return cls(replace(program, inputs=inputs, statements=statements), ports)

    def words(
        self,
        run: Run,
        operands: tuple[I32, ...],
        files: Mapping[str, Lanes],
        lanes: int = 1,
        watch: Watch | None = None,
    ) -> tuple[I32, I32, I32, I32]:
        """What the program says, for as many ``lanes`` as the operands have if there are any;
        ``files`` are those of the resource.
        """
        types = {port.name: port.type.dtype for port in self.program.inputs}
        given = zip(self.ports, operands, strict=True)
        inputs = {name: each.view(types[name]) for name, each in given if name in types}
        count = len(operands[0]) if operands else lanes
        outputs = run(self.program, inputs, files, count, watch=watch).outputs
        x, y, z, w = (outputs[port.name].view(np.int32) for port in self.program.outputs)
        return x, y, z, w


def _given(program: Program, statement: Statement, ports: tuple[str, ...]) -> Statement:
    """A statement at the program's top, where all of its inputs are read."""
    if not isinstance(statement, Input) or statement.port in ports:
        return statement
    type = program.slots[statement.slot]
    number = Constant.of(type, _SECOND_FLOAT.get(statement.port, 0))
    return Assign(statement.slot, "imov" if type is Type.I32 else "mov", (number,))


@lru_cache(maxsize=1 << 8)
def answer(unit: Unit, key: SamplerKey, stage: Stage) -> Answer:
    """The program for a unit; ``key`` has the format and kind of its view, and its sampler.

    A key of one dimension is of a texture that is a texel high, ``layers`` is that of the unit.
    Raises Unsupported for what is not asked of textures and buffers.
    """
    if unit.ask not in _ANSWERS:
        raise Unsupported(f"{unit.ask.value} of textures")
    return _ANSWERS[unit.ask](unit, key, stage)


def about_samples(unit: Unit, stage: Stage) -> Answer:
    """The program for what is the same for all formats: counts, and where samples are."""
    if unit.ask is ReadOpcode.SAMPLE_POSITION:
        return Answer(place_program(stage), ("number.x",))
    return facts(stage)


def facts(stage: Stage) -> Answer:
    """A program that tells what it is told, whatever the operands."""
    return Answer(facts_program(stage), ())


def _ports(name: str, count: int) -> list[str]:
    return [f"{name}.{c}" for c in COMPONENTS[:count]]


def _shape(unit: Unit) -> Shape:
    assert unit.dimension is not None
    return SHAPES[unit.dimension]


def _address(unit: Unit) -> list[str]:
    slices = ["slice.x"] * _shape(unit).slices
    return [*_ports("coordinate", _shape(unit).axes), *slices, *["reference.x"] * unit.comparison]


def _slopes(unit: Unit) -> list[str]:
    return [port for name in ("ddx", "ddy") for port in _ports(name, _shape(unit).axes)]


def _sample(unit: Unit, key: SamplerKey, stage: Stage) -> Answer:
    detail = ["lod.x"] if unit.lod is Lod.EXPLICIT else _slopes(unit)
    return Answer.of(sampler_program(key, unit.lod, stage), (*_address(unit), *detail))


def _gather(unit: Unit, key: SamplerKey, stage: Stage) -> Answer:
    program = gather_program(key, unit.component, unit.offset, stage)
    return Answer.of(program, (*_address(unit), *_ports("offset", 2 * unit.offset)))


def _lod(unit: Unit, key: SamplerKey, stage: Stage) -> Answer:
    address = _ports("coordinate", _shape(unit).axes)
    return Answer.of(lod_program(key, stage), (*address, *_slopes(unit)))


def _load(unit: Unit, key: SamplerKey, stage: Stage) -> Answer:
    slices = ["layer.x"] * _shape(unit).slices
    multisampled = unit.dimension in _OF_SAMPLES
    last = "sample.x" if multisampled else "level.x"
    program = load_program(key, stage, multisampled=multisampled)
    return Answer.of(program, (*_ports("number", _shape(unit).axes), *slices, last))


def _size(unit: Unit, key: SamplerKey, stage: Stage) -> Answer:
    """Lengths, then slices; of arrays of cubes those are not told."""
    shape = _shape(unit)
    told = shape.slices and unit.dimension not in CUBES
    sides: list[Side] = [*_SIDES[: shape.lengths], *[LimitField.LAYERS] * told, None, None]
    return Answer(size_program(sides[0], sides[1], sides[2], stage), ("level.x",))


def _raw(unit: Unit, key: SamplerKey, stage: Stage) -> Answer:
    return Answer(raw_program(stage), ("at.x",))


def _same_for_all(unit: Unit, key: SamplerKey, stage: Stage) -> Answer:
    return about_samples(unit, stage)


def _structured(unit: Unit, key: SamplerKey, stage: Stage) -> Answer:
    return Answer(structured_program(stage), ("number.x", "at.x"))


_ANSWERS: dict[ReadOpcode, Callable[[Unit, SamplerKey, Stage], Answer]] = {
    ReadOpcode.SAMPLE: _sample,
    ReadOpcode.GATHER: _gather,
    ReadOpcode.LOD: _lod,
    ReadOpcode.LOAD: _load,
    ReadOpcode.SIZE: _size,
    ReadOpcode.RAW: _raw,
    ReadOpcode.STRUCTURED: _structured,
    ReadOpcode.COUNT: _same_for_all,
    ReadOpcode.SAMPLES: _same_for_all,
    ReadOpcode.SAMPLE_POSITION: _same_for_all,
}

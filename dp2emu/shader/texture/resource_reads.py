"""Programs for Direct3D 10 resource reads: load, gather, level of detail, sizes, buffers.

Their outputs are four I32, ``word.x`` to ``word.w``: bits of floats, or integers of integer
formats.  Their uniform files have the layouts of ``bindings``; of a buffer, ``texels`` has the
view's bytes from first to last, and ``buffer`` the stride in bytes and number of structures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from functools import lru_cache, partial, reduce
from operator import and_

import msgspec
import numpy as np
from msgspec.structs import replace

from dp2emu.d3d.formats import Channel, Coding, FormatRow
from dp2emu.errors import Unsupported
from dp2emu.shader.builder import Builder
from dp2emu.shader.codings import field, signed_field
from dp2emu.shader.ir import Assign, Constant, File, Input, Lod, Program, Stage, Statement
from dp2emu.shader.reference import Run, Watch
from dp2emu.shader.resources import (
    ADDRESS_SHAPES,
    CUBES,
    AddressShape,
    Dimension,
    ReadOpcode,
    Unit,
)
from dp2emu.shader.sampling import COMPONENTS
from dp2emu.shader.texture import seams
from dp2emu.shader.texture.bindings import LevelField, LimitField, SamplerFiles
from dp2emu.shader.texture.detail import level_from
from dp2emu.shader.texture.fields import Decode, TexelSource
from dp2emu.shader.texture.filters import Texel
from dp2emu.shader.texture.reading import (
    Level,
    corners,
    level_of,
    offset_coordinate,
    texel_address,
)
from dp2emu.shader.texture.records import SamplerKey
from dp2emu.shader.texture.sampler import Sampling, sampler_program
from dp2emu.shader.texture.texels import texel
from dp2emu.shader.types import I32, Lanes, Type
from dp2emu.shader.values import Number, Value
from dp2emu.shader.verify import MAX_UNIFORM_SIZE

ONE_BITS = 0x3F800000
MAX_SAMPLES = 32
"""Maximum number of samples per pixel of a texture (D3D11_MAX_MULTISAMPLE_SAMPLE_COUNT)."""


class BufferField(IntEnum):
    """Index of each number in the uniform file ``buffer``, which describes a structured buffer."""

    STRIDE = 0
    COUNT = 1


@lru_cache(maxsize=1 << 8)
def load_program(key: SamplerKey, stage: Stage, *, multisampled: bool = False) -> Program:
    """Return a program that loads one texel by its integer coordinates.

    Inputs are ``number.x``, ``number.y``, ``number.z`` as the texture has axes, the mip level
    ``level.x`` or sample number ``sample.x``, and ``layer.x`` in an array.  Out of range, and
    above the most detailed level in use, channels of the format read 0 and missing channels their
    defaults.
    """
    b = Builder(stage)
    source = TexelSource.of(b, key)
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
    words = _words(source, texel_address(source, level, numbers), numbers)
    known = reduce(and_, inside)
    return _finish(b, [_or_zero(b, known, word) for word in words])


def _or_zero(b: Builder, known: Value, word: Value | int) -> Number:
    return b.select(known, word, 0) if isinstance(word, Value) else word


def _limit(source: TexelSource, field: LimitField) -> Value:
    return source.b.load(source.files.limits, field)


def _words(source: TexelSource, address: Value, numbers: Sequence[Value]) -> list[Value | int]:
    """Decode the texel at an address to words; a Python number is a channel that the format
    lacks.
    """
    if not has_integers(source.row):
        return _bits_of(source.b, texel(source, address, numbers[0], numbers[1]))
    codes = source.codes(address)
    return [
        _integer(codes, lane) if isinstance(lane, Channel) else int(lane)
        for lane in source.row.lanes
    ]


def _integers(source: TexelSource, address: Value, u: Value, v: Value) -> Texel:
    """Decode an integer texel to I32 channels."""
    words = _words(source, address, (u, v))
    red, green, blue, alpha = (
        source.b.constant(Type.I32, word) if isinstance(word, int) else word for word in words
    )
    return red, green, blue, alpha


def has_integers(row: FormatRow) -> bool:
    """Whether a format has integer channels, which loads return unconverted."""
    return any(isinstance(lane, Channel) and lane.coding in _INTEGERS for lane in row.lanes)


def _integer(codes: tuple[Value, ...], lane: Channel) -> Value:
    return _INTEGERS[lane.coding](codes, lane)


_INTEGERS: dict[Coding, Callable[[Sequence[Value], Channel], Value]] = {
    Coding.UINT: field,
    Coding.SINT: signed_field,
}


def _bits_of(b: Builder, found: Texel) -> list[Value | int]:
    return [
        b.asint(each) if isinstance(each, Value) else (ONE_BITS if each else 0) for each in found
    ]


@lru_cache(maxsize=1 << 8)
def gather_program(key: SamplerKey, component: int, offset: bool, stage: Stage) -> Program:
    """Return a program that gathers one component of the four texels around a coordinate.

    It reads the most detailed level in use.  Inputs are those of a sampler and, with ``offset``,
    ``offset.x`` and ``offset.y`` in texels.
    """
    b = Builder(stage)
    sampling = Sampling.of(b, key, Lod.EXPLICIT)
    level = sampling.row(sampling.limit(LimitField.FIRST))
    at = sampling.coordinates
    if offset:
        by = [b.input(f"offset.{c}", Type.I32) for c in COMPONENTS[:2]]
        at = tuple(offset_coordinate(*each) for each in zip(at, by, level.sides, strict=False))
    if has_integers(sampling.source.row):
        whole = _corners(replace(sampling, coordinates=at), level, _integers)
        return _finish(b, [each[component] for each in whole])
    found = _corners(replace(sampling, coordinates=at), level, texel)
    return _finish(b, [_bits_of(b, each)[component] for each in found])


_COUNTER_CLOCKWISE = (2, 3, 1, 0)
"""Indices of four texels, stored row by row, in counter-clockwise order from the lower left."""


def _corners(sampling: Sampling, level: Level, decode: Decode) -> tuple[Texel, ...]:
    """Return the four texels around the coordinate, counter-clockwise from the lower left."""
    if sampling.face is None or not sampling.key.seams:
        return corners(sampling.source, sampling.coordinates, level, decode)
    on = partial(sampling.row_on, sampling.limit(LimitField.FIRST))
    number = sampling.face.number
    taps = seams.around(sampling.source, sampling.coordinates, number, on, decode).taps
    return tuple(taps[n].texel for n in _COUNTER_CLOCKWISE)


@lru_cache(maxsize=1 << 8)
def lod_program(key: SamplerKey, stage: Stage) -> Program:
    """Return a program that computes the level of detail of a gradient.

    Its first word is clamped to sampler range and mip chain, its second is unclamped; both include
    the bias.  A gradient of 0 means infinite magnification.
    """
    b = Builder(stage)
    sampling = Sampling.of(b, key, Lod.GRADIENT)
    level = sampling.biased(level_from(sampling.footprint().longest))
    held = sampling.ranged(level) if key.ranged else level
    first, last = (b.itof(sampling.limit(f)) for f in (LimitField.FIRST, LimitField.LAST))
    held = b.min(b.max(held, first), last)
    return _finish(b, [b.asint(held), b.asint(level), 0, 0])


def _buffer(b: Builder) -> File:
    return b.uniform("texels", Type.I32, MAX_UNIFORM_SIZE)


Side = LevelField | LimitField | None


# typed: members of different IntEnums with the same number compare equal.
@lru_cache(maxsize=1 << 4, typed=True)
def size_program(first: Side, second: Side, third: Side, stage: Stage) -> Program:
    """Return a program that outputs three sizes of mip level ``level.x`` and the number of levels.

    The sides say where sizes are loaded from (None: 0).  Sizes are 0 if the level does not exist.
    """
    b = Builder(stage)
    files = SamplerFiles.of(b)
    number, levels = b.input("level.x", Type.I32), b.load(files.limits, LimitField.LEVELS)
    exists = b.apply("ult", number, levels)
    found = [_texel_count(b, files, side, number) for side in (first, second, third)]
    return _finish(b, [*(_or_zero(b, exists, each) for each in found), levels])


def _texel_count(b: Builder, files: SamplerFiles, side: Side, level: Value) -> Value | int:
    if side is None:
        return 0
    if isinstance(side, LimitField):
        return b.load(files.limits, side)
    return b.load(files.levels, side, level, len(LevelField))


@lru_cache(maxsize=1 << 2)
def facts_program(stage: Stage) -> Program:
    """Return a program that outputs the four I32 of the uniform file ``facts``, unchanged."""
    b = Builder(stage)
    facts = b.uniform("facts", Type.I32, len(COMPONENTS))
    return _finish(b, [b.load(facts, number) for number in range(len(COMPONENTS))])


@lru_cache(maxsize=1 << 2)
def place_program(stage: Stage) -> Program:
    """Return a program that loads sample position ``number.x`` of the uniform file ``places``.

    It outputs x and y, floats, 0 beyond the end of the file, and two zeros.
    """
    b = Builder(stage)
    places = b.uniform("places", Type.I32, 2 * MAX_SAMPLES)
    number = b.input("number.x", Type.I32)
    known = b.apply("ult", number, MAX_SAMPLES)
    found = [_or_zero(b, known, b.load(places, axis, number, 2)) for axis in range(2)]
    return _finish(b, [*found, 0, 0])


@lru_cache(maxsize=1 << 4)
def raw_program(stage: Stage) -> Program:
    """Return a program that loads four words from byte ``at.x`` of a buffer; 0 beyond its end."""
    b = Builder(stage)
    texels = _buffer(b)
    first = b.apply("ushr", b.input("at.x", Type.I32), 2)
    return _finish(b, [b.load(texels, number, first) for number in range(4)])


@lru_cache(maxsize=1 << 4)
def structured_program(stage: Stage) -> Program:
    """Return a program that loads four words of a structured buffer.

    Inputs are the structure's index ``number.x`` and the byte offset in it, ``at.x``.  A word
    outside of the structure is 0.
    """
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
        words.append(_or_zero(b, known, b.load(texels, place, first)))
    return _finish(b, words)


def _finish(b: Builder, words: Sequence[Number]) -> Program:
    for component, word in zip(COMPONENTS, words, strict=True):
        b.output(f"word.{component}", word, Type.I32)
    return b.program()


# Selection of the program for a read unit.

_SIDES = (LevelField.WIDTH, LevelField.HEIGHT, LevelField.DEPTH)
_OF_SAMPLES = frozenset({Dimension.TEXTURE2DMS, Dimension.TEXTURE2DMSARRAY})
_SECOND_FLOAT = {"coordinate.y": 0.5, "ddx.y": 0.0, "ddy.y": 0.0}
"""Name of a float input that a one-dimensional texture lacks -> constant in its place: the middle
of the only row, and derivatives of 0."""


class ReadProgram(msgspec.Struct, frozen=True):
    """The program of one resource read of a shader, such as sample, gather or load
    (``ReadOpcode``); ``ports`` are its inputs in the order of the read's operands.
    """

    program: Program
    ports: tuple[str, ...]

    @classmethod
    def of(cls, program: Program, ports: tuple[str, ...]) -> ReadProgram:
        """Return ``program`` with only ``ports`` as inputs, in that order.

        Inputs that are left out, those which a one-dimensional texture lacks, become constants.
        """
        inputs = tuple(port for port in program.inputs if port.name in ports)
        statements = tuple(
            _bind_missing_input(program, each, ports) for each in program.statements
        )
        return cls(replace(program, inputs=inputs, statements=statements), ports)

    def words(
        self,
        run: Run,
        operands: tuple[I32, ...],
        files: Mapping[str, Lanes],
        lanes: int = 1,
        watch: Watch | None = None,
    ) -> tuple[I32, I32, I32, I32]:
        """Run the program for operands, or for ``lanes`` lanes without operands.

        Returns four int32 arrays of shape (lanes,); ``files`` are the uniforms of the resource.
        """
        types = {port.name: port.type.dtype for port in self.program.inputs}
        given = zip(self.ports, operands, strict=True)
        inputs = {name: each.view(types[name]) for name, each in given if name in types}
        count = len(operands[0]) if operands else lanes
        outputs = run(self.program, inputs, files, count, watch=watch).outputs
        x, y, z, w = (outputs[port.name].view(np.int32) for port in self.program.outputs)
        return x, y, z, w


def _bind_missing_input(
    program: Program, statement: Statement, ports: tuple[str, ...]
) -> Statement:
    """Return ``statement``; if it reads an input not in ``ports``, assign a constant instead."""
    if not isinstance(statement, Input) or statement.port in ports:
        return statement
    type = program.slots[statement.slot]
    number = Constant.of(type, _SECOND_FLOAT.get(statement.port, 0))
    return Assign(statement.slot, "imov" if type is Type.I32 else "mov", (number,))


@lru_cache(maxsize=1 << 8)
def read_program(unit: Unit, key: SamplerKey, stage: Stage) -> ReadProgram:
    """Return the program that executes a shader's resource read ``unit``.

    ``key`` combines the view's format and kind with its sampler.  A one-dimensional texture has
    the key of a two-dimensional one; ``key.layers`` is whether the unit reads an array.  Raises
    Unsupported for operations that are not reads of textures or buffers.
    """
    if unit.opcode not in _ANSWERS:
        raise Unsupported(f"{unit.opcode.value} of textures")
    return _ANSWERS[unit.opcode](unit, key, stage)


def sample_answer(unit: Unit, stage: Stage) -> ReadProgram:
    """Return the program of a read ``unit`` that asks for sizes, sample count or sample positions.

    It depends on the kind of question only, not on the format of the resource.
    """
    if unit.opcode is ReadOpcode.SAMPLE_POSITION:
        return ReadProgram(place_program(stage), ("number.x",))
    return facts(stage)


def facts(stage: Stage) -> ReadProgram:
    """Return a read program without inputs that outputs the four I32 of uniform file ``facts``."""
    return ReadProgram(facts_program(stage), ())


def _ports(name: str, count: int) -> list[str]:
    return [f"{name}.{c}" for c in COMPONENTS[:count]]


def _shape(unit: Unit) -> AddressShape:
    assert unit.dimension is not None
    return ADDRESS_SHAPES[unit.dimension]


def _address(unit: Unit) -> list[str]:
    slices = ["slice.x"] * _shape(unit).slices
    return [*_ports("coordinate", _shape(unit).axes), *slices, *["reference.x"] * unit.comparison]


def _slopes(unit: Unit) -> list[str]:
    return [port for name in ("ddx", "ddy") for port in _ports(name, _shape(unit).axes)]


def _sample(unit: Unit, key: SamplerKey, stage: Stage) -> ReadProgram:
    detail = ["lod.x"] if unit.lod is Lod.EXPLICIT else _slopes(unit)
    return ReadProgram.of(sampler_program(key, unit.lod, stage), (*_address(unit), *detail))


def _gather(unit: Unit, key: SamplerKey, stage: Stage) -> ReadProgram:
    program = gather_program(key, unit.component, unit.offset, stage)
    return ReadProgram.of(program, (*_address(unit), *_ports("offset", 2 * unit.offset)))


def _lod(unit: Unit, key: SamplerKey, stage: Stage) -> ReadProgram:
    address = _ports("coordinate", _shape(unit).axes)
    return ReadProgram.of(lod_program(key, stage), (*address, *_slopes(unit)))


def _load(unit: Unit, key: SamplerKey, stage: Stage) -> ReadProgram:
    slices = ["layer.x"] * _shape(unit).slices
    multisampled = unit.dimension in _OF_SAMPLES
    last = "sample.x" if multisampled else "level.x"
    program = load_program(key, stage, multisampled=multisampled)
    return ReadProgram.of(program, (*_ports("number", _shape(unit).axes), *slices, last))


def _size(unit: Unit, key: SamplerKey, stage: Stage) -> ReadProgram:
    """Return a program for a texture's sides and array slices; no slices for cube arrays."""
    shape = _shape(unit)
    told = shape.slices and unit.dimension not in CUBES
    sides: list[Side] = [*_SIDES[: shape.lengths], *[LimitField.LAYERS] * told, None, None]
    return ReadProgram(size_program(sides[0], sides[1], sides[2], stage), ("level.x",))


def _same_for_all(unit: Unit, key: SamplerKey, stage: Stage) -> ReadProgram:
    return sample_answer(unit, stage)


_ANSWERS: dict[ReadOpcode, Callable[[Unit, SamplerKey, Stage], ReadProgram]] = {
    ReadOpcode.SAMPLE: _sample,
    ReadOpcode.GATHER: _gather,
    ReadOpcode.LOD: _lod,
    ReadOpcode.LOAD: _load,
    ReadOpcode.SIZE: _size,
    ReadOpcode.RAW: lambda unit, key, stage: ReadProgram(raw_program(stage), ("at.x",)),
    ReadOpcode.STRUCTURED: lambda unit, key, stage: ReadProgram(
        structured_program(stage), ("number.x", "at.x")
    ),
    ReadOpcode.COUNT: _same_for_all,
    ReadOpcode.SAMPLES: _same_for_all,
    ReadOpcode.SAMPLE_POSITION: _same_for_all,
}

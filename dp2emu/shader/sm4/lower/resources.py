"""What reads resources, and what asks for things about them (SM4-5 tokens, "Reading resources").

Plain textures are sampled by Sample, one-dimensional ones as two-dimensional ones a texel high;
all else is fetched, with the derivatives that a level of detail needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from dp2emu.shader.functions import exp2
from dp2emu.shader.ir import Axis, Lod, TextureKind
from dp2emu.shader.resources import CUBES, SHAPES, Dimension, ReadOpcode, Shape, Unit
from dp2emu.shader.sm4.enums import Sizes
from dp2emu.shader.sm4.lower.arithmetic import Evaluate, Result
from dp2emu.shader.sm4.lower.lowering import Lowering
from dp2emu.shader.sm4.lower.reading import Source, sources
from dp2emu.shader.sm4.ops import Op
from dp2emu.shader.sm4.program import Instruction, Operand, Selection
from dp2emu.shader.sm4.registers import File
from dp2emu.shader.values import Value

BIAS_LOW, BIAS_HIGH = -16.0, 15.99
"""What the bias of sample_b is clamped to."""


_PLAIN: dict[Dimension, TextureKind] = {
    Dimension.TEXTURE1D: TextureKind.TEX2D,
    Dimension.TEXTURE2D: TextureKind.TEX2D,
    Dimension.TEXTURE3D: TextureKind.VOLUME,
    Dimension.TEXTURECUBE: TextureKind.CUBE,
}
_MIDDLE = 0.5
"""The second coordinate of a texture that has one: the middle of its only row."""


class Sampling(NamedTuple):
    """An opcode that samples: how its level of detail is found, and whether it compares."""

    lod: Lod
    comparison: bool = False
    level_zero: bool = False


_SAMPLINGS: dict[Op, Sampling] = {
    Op.SAMPLE: Sampling(Lod.IMPLICIT),
    Op.SAMPLE_B: Sampling(Lod.BIAS),
    Op.SAMPLE_L: Sampling(Lod.EXPLICIT),
    Op.SAMPLE_D: Sampling(Lod.GRADIENT),
    Op.SAMPLE_C: Sampling(Lod.IMPLICIT, comparison=True),
    Op.SAMPLE_C_LZ: Sampling(Lod.EXPLICIT, comparison=True, level_zero=True),
}


def _operand(instruction: Instruction, file: File) -> Operand:
    return next(each for each in instruction.sources if each.file is file)


def _asked(low: Lowering, instruction: Instruction, ask: ReadOpcode) -> tuple[Unit, Shape]:
    """A unit of the instruction's resource, and sampler if it has one."""
    resource = low.declared.resources[_operand(instruction, File.RESOURCE).number]
    samplers = (each.number for each in instruction.sources if each.file is File.SAMPLER)
    shape = SHAPES[resource.dimension]
    axes = 0 if resource.dimension in CUBES else shape.axes
    # Texel offsets mean nothing to cubes.
    u, v, w = (n if axis < axes else 0 for axis, n in enumerate(instruction.texel))
    sampler = next(samplers, None)
    return Unit(ask, resource.number, sampler, resource.dimension, (u, v, w)), shape


def _address(at: Source, shape: Shape, *, slices: bool = True) -> list[Value]:
    return [at[c] for c in range(shape.axes + (shape.slices and slices))]


def answered(instruction: Instruction, words: Sequence[Value]) -> tuple[Result, ...]:
    """Four words behind the swizzle of the operand they are of."""
    (target,) = instruction.destinations
    operand = next(each for each in instruction.sources if each.file in _SWIZZLED)
    named = operand.selection is not Selection.NONE
    swizzle = operand.swizzle if named else (0, 1, 2, 3)
    return ({c: words[swizzle[c]] for c in target.written},)


_SWIZZLED = frozenset({File.RESOURCE, File.RASTERIZER, File.UAV, File.SHARED_MEMORY})


def _sample(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
    sampling = _SAMPLINGS[instruction.op]
    unit, _ = _asked(low, instruction, ReadOpcode.SAMPLE)
    assert unit.dimension is not None
    at, *rest = sources(low, instruction)
    if unit.dimension in _PLAIN and not sampling.comparison:
        words = _sampled(low, replace(unit, lod=sampling.lod), at, rest)
    else:
        words = _fetched(low, replace(unit, comparison=sampling.comparison), at, rest, sampling)
    return answered(instruction, words)


def _sampled(low: Lowering, unit: Unit, at: Source, rest: list[Source]) -> tuple[Value, ...]:
    """By Sample; of a one-dimensional texture the middle of its row."""
    assert unit.dimension is not None
    kind, axes = _PLAIN[unit.dimension], SHAPES[unit.dimension].axes
    beyond = kind.coordinates - axes
    place = [*(at[c] for c in range(axes)), *[low.number(_MIDDLE)] * beyond]
    arguments = [_biased(low, each[0]) if unit.lod is Lod.BIAS else each[0] for each in rest]
    if unit.lod is Lod.GRADIENT:
        zeros = [low.number(0.0)] * beyond
        arguments = [value for g in rest for value in (*(g[c] for c in range(axes)), *zeros)]
    return low.b.sample(kind, low.unit(unit), place, unit.lod, arguments)


def _fetched(
    low: Lowering, unit: Unit, at: Source, rest: list[Source], sampling: Sampling
) -> tuple[Value, ...]:
    """By Fetch, with whatever its level of detail needs."""
    assert unit.dimension is not None
    shape = SHAPES[unit.dimension]
    operands = _address(at, shape)
    if sampling.comparison:
        operands.append(rest.pop(0)[0])
    axes = range(shape.axes)
    if sampling.lod is Lod.EXPLICIT:
        operands.append(low.number(0.0) if sampling.level_zero else rest[0][0])
        lod = Lod.EXPLICIT
    elif sampling.lod is Lod.GRADIENT:
        operands += [gradient[c] for gradient in rest for c in axes]
        lod = Lod.GRADIENT
    else:
        operands += _scaled(low, _slopes(low, at, shape), rest)
        lod = Lod.GRADIENT
    words = low.fetch(replace(unit, lod=lod), *operands)
    return tuple(map(low.b.asfloat, words))


def _scaled(low: Lowering, slopes: list[Value], rest: list[Source]) -> list[Value]:
    """Slopes that a bias, if there is one, makes longer: each level doubles them."""
    if not rest:
        return slopes
    scale = exp2(_biased(low, rest[0][0]))
    return [each * scale for each in slopes]


def _slopes(low: Lowering, at: Source, shape: Shape) -> list[Value]:
    """ddx of the coordinates, then ddy of them."""
    return [low.b.derivative(axis, at[c]) for axis in (Axis.X, Axis.Y) for c in range(shape.axes)]


def _biased(low: Lowering, bias: Value) -> Value:
    return low.b.min(low.b.max(bias, BIAS_LOW), BIAS_HIGH)


def _lod(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
    """Clamped and unclamped level, 0, 0."""
    unit, shape = _asked(low, instruction, ReadOpcode.LOD)
    (at,) = sources(low, instruction)
    place = _address(at, shape, slices=False)
    clamped, level, *_ = low.fetch(unit, *place, *_slopes(low, at, shape))
    zero = low.word(0)
    return answered(instruction, (*_floats(low, clamped, level), zero, zero))


def _floats(low: Lowering, *words: Value) -> tuple[Value, ...]:
    return tuple(map(low.b.asfloat, words))


def _gather(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
    """One component of four texels; _po: at offsets of 6 bits, _c: compared."""
    unit, shape = _asked(low, instruction, ReadOpcode.GATHER)
    offset = instruction.op in (Op.GATHER4_PO, Op.GATHER4_PO_C)
    comparison = instruction.op in (Op.GATHER4_C, Op.GATHER4_PO_C)
    at, *rest = sources(low, instruction)
    operands = _address(at, shape)
    if comparison:
        operands.append(rest[-1][0])
    if offset:
        operands += [(rest[0][c] << 26) >> 26 for c in range(2)]
    sampler = _operand(instruction, File.SAMPLER)
    component = 0 if comparison else sampler.swizzle[0]
    unit = replace(unit, comparison=comparison, offset=offset, component=component)
    return answered(instruction, low.fetch(unit, *operands))


def _ld(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
    """A texel by its numbers, offsets added with wrap; w is the level, 0 for buffers."""
    unit, shape = _asked(low, instruction, ReadOpcode.LOAD)
    at, *sample = sources(low, instruction)
    place = _address(at, shape)
    moved = [n + by if by else n for n, by in zip(place, unit.texel, strict=False)]
    place[: len(moved)] = moved
    last = sample[0][0] if sample else _level(low, unit, at)
    return answered(instruction, low.fetch(replace(unit, texel=(0, 0, 0)), *place, last))


def _level(low: Lowering, unit: Unit, at: Source) -> Value:
    return low.word(0) if unit.dimension is Dimension.BUFFER else at[3]


def _ld_raw(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
    unit, _ = _asked(low, instruction, ReadOpcode.RAW)
    (at,) = sources(low, instruction)
    return answered(instruction, low.fetch(unit, at[0]))


def _ld_structured(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
    unit, _ = _asked(low, instruction, ReadOpcode.STRUCTURED)
    number, at = sources(low, instruction)
    return answered(instruction, low.fetch(unit, number[0], at[0]))


def _resinfo(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
    """Sizes as asked for; of reciprocals only lengths are inverted."""
    unit, shape = _asked(low, instruction, ReadOpcode.SIZE)
    (level,) = sources(low, instruction)
    return sized(low, instruction, low.fetch(unit, level[0]), shape)


def sized(
    low: Lowering, instruction: Instruction, words: Sequence[Value], shape: Shape
) -> tuple[Result, ...]:
    """Sizes behind the swizzle of the operand they are of, as the instruction wants them."""
    if instruction.sizes is Sizes.UINT:
        return answered(instruction, words)
    numbers = [low.b.apply("utof", each) for each in words]
    if instruction.sizes is Sizes.RCPFLOAT:
        numbers[: shape.lengths] = [1.0 / each for each in numbers[: shape.lengths]]
    return answered(instruction, numbers)


def _bufinfo(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
    unit, _ = _asked(low, instruction, ReadOpcode.COUNT)
    count, *_ = low.fetch(unit)
    return answered(instruction, (count,) * 4)


def _about_samples(low: Lowering, instruction: Instruction, ask: ReadOpcode) -> Unit:
    if instruction.sources[0].file is File.RASTERIZER:
        return Unit(ask)
    return _asked(low, instruction, ask)[0]


def _sampleinfo(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
    count, *_ = low.fetch(_about_samples(low, instruction, ReadOpcode.SAMPLES))
    if instruction.sizes is not Sizes.UINT:
        count = low.b.apply("utof", count)
    return answered(instruction, (count, *[low.word(0)] * 3))


def _samplepos(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
    (number,) = sources(low, instruction)
    x, y, *_ = low.fetch(_about_samples(low, instruction, ReadOpcode.SAMPLE_POSITION), number[0])
    return answered(instruction, (*_floats(low, x, y), *[low.word(0)] * 2))


EVALUATE: dict[Op, Evaluate] = {
    **dict.fromkeys(_SAMPLINGS, _sample),
    **dict.fromkeys((Op.GATHER4, Op.GATHER4_C, Op.GATHER4_PO, Op.GATHER4_PO_C), _gather),
    Op.LOD: _lod,
    Op.LD: _ld,
    Op.LDMS: _ld,
    Op.LD_RAW: _ld_raw,
    Op.LD_STRUCTURED: _ld_structured,
    Op.RESINFO: _resinfo,
    Op.BUFINFO: _bufinfo,
    Op.SAMPLEINFO: _sampleinfo,
    Op.SAMPLEPOS: _samplepos,
}

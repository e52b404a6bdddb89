"""Instructions that access resources, memory and interpolated inputs (SM4-5 tokens, "Reading
resources" and "Unordered access").

Plain textures become Sample statements, one-dimensional ones as two-dimensional textures one texel
high.  Every other read becomes a Fetch, with the derivatives that its level of detail needs.
Stores, atomics and typed loads become Access statements, which an engine finishes for all lanes
before any lane executes the next statement, so barriers need no code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from dp2emu.errors import Unsupported
from dp2emu.shader.functions import exp2
from dp2emu.shader.ir import Axis, Lod, TextureKind
from dp2emu.shader.ports import CENTROID, NOPERSPECTIVE
from dp2emu.shader.resources import (
    ADDRESS_SHAPES,
    CUBES,
    AddressShape,
    Dimension,
    MemoryOpcode,
    MemoryOperation,
    ReadOpcode,
    Unit,
)
from dp2emu.shader.sm4.enums import Interpolation, Sizes
from dp2emu.shader.sm4.lower.arithmetic import Evaluate, Result
from dp2emu.shader.sm4.lower.lowering import Lowering
from dp2emu.shader.sm4.lower.reading import Source, input_of, signed, sources
from dp2emu.shader.sm4.opcodes import Op
from dp2emu.shader.sm4.program import Instruction, Operand, Selection
from dp2emu.shader.sm4.registers import File
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value

BIAS_LOW, BIAS_HIGH = -16.0, 15.99
"""Range that the bias of sample_b is clamped to."""

_PLAIN: dict[Dimension, TextureKind] = {
    Dimension.TEXTURE1D: TextureKind.TEX2D,
    Dimension.TEXTURE2D: TextureKind.TEX2D,
    Dimension.TEXTURE3D: TextureKind.VOLUME,
    Dimension.TEXTURECUBE: TextureKind.CUBE,
}
_MIDDLE = 0.5
"""Second coordinate at which a texture one texel high is sampled: the centre of its row."""


class Sampling(NamedTuple):
    """A sampling opcode: how it gets its level of detail, and whether it compares depths."""

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


def _unit(low: Lowering, instruction: Instruction, read: ReadOpcode) -> tuple[Unit, AddressShape]:
    """The read unit for the instruction's resource and sampler, and the shape of its addresses."""
    resource = low.declared.resources[_operand(instruction, File.RESOURCE).number]
    samplers = (each.number for each in instruction.sources if each.file is File.SAMPLER)
    shape = ADDRESS_SHAPES[resource.dimension]
    axes = 0 if resource.dimension in CUBES else shape.axes
    # Direct3D has no texel offsets for cubes.
    u, v, w = (n if axis < axes else 0 for axis, n in enumerate(instruction.texel))
    sampler = next(samplers, None)
    return Unit(read, resource.number, sampler, resource.dimension, (u, v, w)), shape


def _address(at: Source, shape: AddressShape, *, slices: bool = True) -> list[Value]:
    return [at[c] for c in range(shape.axes + (shape.slices and slices))]


def swizzled(instruction: Instruction, words: Sequence[Value]) -> tuple[Result, ...]:
    """The result of an instruction from four words, permuted by its resource operand's swizzle."""
    (target,) = instruction.destinations
    operand = next(each for each in instruction.sources if each.file in _SWIZZLED)
    named = operand.selection is not Selection.NONE
    swizzle = operand.swizzle if named else (0, 1, 2, 3)
    return ({c: words[swizzle[c]] for c in target.written},)


_MEMORY = frozenset({File.UAV, File.SHARED_MEMORY})
_SWIZZLED = _MEMORY | {File.RESOURCE, File.RASTERIZER}
Words = tuple[Value, Value, Value, Value]


def _sample(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
    sampling = _SAMPLINGS[instruction.op]
    unit, _ = _unit(low, instruction, ReadOpcode.SAMPLE)
    assert unit.dimension is not None
    at, *rest = sources(low, instruction)
    if unit.dimension in _PLAIN and not sampling.comparison:
        words = _sampled(low, replace(unit, lod=sampling.lod), at, rest)
    else:
        words = _fetched(low, replace(unit, comparison=sampling.comparison), at, rest, sampling)
    return swizzled(instruction, words)


def _sampled(low: Lowering, unit: Unit, at: Source, rest: list[Source]) -> tuple[Value, ...]:
    """Record a Sample statement for ``unit`` at the address ``at``; returns its four words.

    ``rest`` are the operands of the level of detail: a level, a bias or two derivatives.  A
    one-dimensional texture is sampled at the centre of its row.
    """
    assert unit.dimension is not None
    kind, axes = _PLAIN[unit.dimension], ADDRESS_SHAPES[unit.dimension].axes
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
    """Record a Fetch statement at the address ``at``; returns its words.

    ``rest`` are the sources of depth comparison and level of detail.
    """
    assert unit.dimension is not None
    shape = ADDRESS_SHAPES[unit.dimension]
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
        operands += _biased_derivatives(low, _derivatives(low, at, shape), rest)
        lod = Lod.GRADIENT
    words = low.fetch(replace(unit, lod=lod), *operands)
    return tuple(map(low.b.asfloat, words))


def _biased_derivatives(
    low: Lowering, derivatives: list[Value], rest: list[Source]
) -> list[Value]:
    """Scale derivatives by 2^bias if an operand in ``rest`` is a bias, which adds to the level."""
    if not rest:
        return derivatives
    scale = exp2(_biased(low, rest[0][0]))
    return [each * scale for each in derivatives]


def _derivatives(low: Lowering, at: Source, shape: AddressShape) -> list[Value]:
    """Derivatives of the coordinates ``at``: ddx of all, then ddy of all."""
    return [low.b.derivative(axis, at[c]) for axis in (Axis.X, Axis.Y) for c in range(shape.axes)]


def _biased(low: Lowering, bias: Value) -> Value:
    return low.b.min(low.b.max(bias, BIAS_LOW), BIAS_HIGH)


def _lod(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
    """Evaluate lod: the clamped level, the unclamped level, 0, 0."""
    unit, shape = _unit(low, instruction, ReadOpcode.LOD)
    (at,) = sources(low, instruction)
    place = _address(at, shape, slices=False)
    clamped, level, *_ = low.fetch(unit, *place, *_derivatives(low, at, shape))
    zero = low.word(0)
    return swizzled(instruction, (*_floats(low, clamped, level), zero, zero))


def _floats(low: Lowering, *words: Value) -> tuple[Value, ...]:
    return tuple(map(low.b.asfloat, words))


def _gather(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
    """gather4: a component of four texels; ``_po`` adds 6-bit offsets, ``_c`` compares depths."""
    unit, shape = _unit(low, instruction, ReadOpcode.GATHER)
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
    return swizzled(instruction, low.fetch(unit, *operands))


def _ld(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
    """ld: a texel by integer address, offsets added modulo 2^32; w is the level, 0 for buffers."""
    unit, shape = _unit(low, instruction, ReadOpcode.LOAD)
    at, *sample = sources(low, instruction)
    place = _address(at, shape)
    moved = [n + by if by else n for n, by in zip(place, unit.texel, strict=False)]
    place[: len(moved)] = moved
    last = sample[0][0] if sample else _level(low, unit, at)
    return swizzled(instruction, low.fetch(replace(unit, texel=(0, 0, 0)), *place, last))


def _level(low: Lowering, unit: Unit, at: Source) -> Value:
    return low.word(0) if unit.dimension is Dimension.BUFFER else at[3]


def memory_operation(
    low: Lowering, instruction: Instruction, opcode: MemoryOpcode
) -> MemoryOperation | None:
    """The memory operation on the instruction's u# or g#; None if it has neither."""
    operand = next((each for each in instruction.operands if each.file in _MEMORY), None)
    if operand is None:
        return None
    shared = operand.file is File.SHARED_MEMORY
    declared = low.declared.shared if shared else low.declared.unordered
    return MemoryOperation(opcode, operand.number, shared, declared[operand.number].dimension)


def _read(
    low: Lowering, instruction: Instruction, read: ReadOpcode, load: MemoryOpcode
) -> tuple[Words, AddressShape]:
    """Read four words from an instruction's resource.

    A t# is read by a Fetch with ``read``, a u# or g# by an Access with ``load``.  The operands are
    the x components of the sources.  Also returns the shape of the resource's addresses.
    """
    operands = [source[0] for source in sources(low, instruction)]
    operation = memory_operation(low, instruction, load)
    if operation is not None:
        return low.access(operation, operands), ADDRESS_SHAPES[operation.dimension]
    unit, shape = _unit(low, instruction, read)
    return low.fetch(unit, *operands), shape


def _loading(read: ReadOpcode) -> Evaluate:
    """Return a rule for ld_raw (``read`` is RAW) or ld_structured (STRUCTURED)."""
    return lambda low, instruction: swizzled(
        instruction, _read(low, instruction, read, MemoryOpcode.LOAD)[0]
    )


def _resinfo(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
    """Evaluate resinfo: sizes in the type that it names; rcpFloat inverts sizes in texels only."""
    words, shape = _read(low, instruction, ReadOpcode.SIZE, MemoryOpcode.SIZE)
    if instruction.sizes is Sizes.UINT:
        return swizzled(instruction, words)
    numbers = [low.b.apply("utof", each) for each in words]
    if instruction.sizes is Sizes.RCPFLOAT:
        numbers[: shape.lengths] = [1.0 / each for each in numbers[: shape.lengths]]
    return swizzled(instruction, numbers)


def _bufinfo(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
    (count, *_), _ = _read(low, instruction, ReadOpcode.COUNT, MemoryOpcode.COUNT)
    return swizzled(instruction, (count,) * 4)


def _sample_unit(low: Lowering, instruction: Instruction, read: ReadOpcode) -> Unit:
    if instruction.sources[0].file is File.RASTERIZER:
        return Unit(read)
    return _unit(low, instruction, read)[0]


def _sampleinfo(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
    count, *_ = low.fetch(_sample_unit(low, instruction, ReadOpcode.SAMPLES))
    if instruction.sizes is not Sizes.UINT:
        count = low.b.apply("utof", count)
    return swizzled(instruction, (count, *[low.word(0)] * 3))


def _samplepos(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
    (number,) = sources(low, instruction)
    x, y, *_ = low.fetch(_sample_unit(low, instruction, ReadOpcode.SAMPLE_POSITION), number[0])
    return swizzled(instruction, (*_floats(low, x, y), *[low.word(0)] * 2))


# Unordered access views and group shared memory

Effect = Callable[[Lowering, Instruction], None]
_ATOMICS = (
    MemoryOpcode.IADD,
    MemoryOpcode.AND,
    MemoryOpcode.OR,
    MemoryOpcode.XOR,
    MemoryOpcode.IMAX,
    MemoryOpcode.IMIN,
    MemoryOpcode.UMAX,
    MemoryOpcode.UMIN,
)
"""Memory opcodes of atomics with and without a result; shader opcodes share their names."""
_UNTYPED = {Dimension.RAW_BUFFER: 1, Dimension.STRUCTURED_BUFFER: 2}
"""Number of address components of buffers without a format: raw (byte offset) and structured
(structure index, byte offset)."""


def _operation(low: Lowering, instruction: Instruction, opcode: MemoryOpcode) -> MemoryOperation:
    operation = memory_operation(low, instruction, opcode)
    assert operation is not None
    return operation


def _at(operation: MemoryOperation, source: Source) -> list[Value]:
    """The first components of an address operand, as many as the operation's resource needs."""
    shape = ADDRESS_SHAPES[operation.dimension]
    count = _UNTYPED.get(operation.dimension, shape.axes + shape.slices)
    return [source[c] for c in range(count)]


def _write_access(low: Lowering, operation: MemoryOperation, operands: list[Value]) -> Words:
    """Record an Access that may write; returns its words, which are 0 in discarded pixels."""
    if low.dropped is None:
        return low.access(operation, operands)
    results = [low.b.variable(low.word(0).type, 0) for _ in range(4)]
    with low.b.if_(~low.dropped.value):
        for result, word in zip(results, low.access(operation, operands), strict=True):
            result.value = word
    x, y, z, w = (low.b.copy(result.value) for result in results)
    return x, y, z, w


def _ld_typed(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
    operation = _operation(low, instruction, MemoryOpcode.LOAD)
    (at,) = sources(low, instruction)
    return swizzled(instruction, low.access(operation, _at(operation, at)))


def _store(low: Lowering, instruction: Instruction) -> None:
    """Store the components of the mask from the address on; typed stores write all four."""
    operation = _operation(low, instruction, MemoryOpcode.STORE)
    *places, value = sources(low, instruction)
    typed = operation.dimension not in _UNTYPED
    address = _at(operation, places[0]) if typed else [each[0] for each in places]
    components = range(4) if typed else instruction.operands[0].written
    _write_access(low, operation, [*address, *(value[c] for c in components)])


def _atomic(opcode: MemoryOpcode) -> Effect:
    def effect(low: Lowering, instruction: Instruction) -> None:
        _atomic_access(low, instruction, opcode, silent=True)

    return effect


def _immediate(opcode: MemoryOpcode) -> Evaluate:
    """Return a rule for an atomic instruction whose result is the previous value."""

    def evaluate(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
        old, *_ = _atomic_access(low, instruction, opcode, silent=False)
        return (dict.fromkeys(instruction.destinations[0].written, old),)

    return evaluate


def _atomic_access(
    low: Lowering, instruction: Instruction, opcode: MemoryOpcode, *, silent: bool
) -> Words:
    operation = _operation(low, instruction, opcode)._replace(silent=silent)
    at, *given = sources(low, instruction)
    return _write_access(low, operation, [*_at(operation, at), *(each[0] for each in given)])


def _counter(opcode: MemoryOpcode) -> Evaluate:
    """Return a rule that changes the hidden counter of a u# and returns the counter's value."""

    def evaluate(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
        number, *_ = _write_access(low, _operation(low, instruction, opcode), [])
        return (dict.fromkeys(instruction.destinations[0].written, number),)

    return evaluate


# Pull-model interpolation: an input at another position than its declaration says

_FLAT = frozenset(
    {
        Interpolation.LINEAR_NOPERSPECTIVE,
        Interpolation.LINEAR_NOPERSPECTIVE_CENTROID,
        Interpolation.LINEAR_NOPERSPECTIVE_SAMPLE,
    }
)
_SIGN_SHIFT = 32 - 4
"""Number of bits by which a 4-bit offset is shifted left, then right, to sign-extend it."""


def _snapped(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
    """Evaluate eval_snapped: an input at an offset from the pixel's centre.

    The offset is two signed 4-bit numbers.
    """
    at = Source(low, instruction.sources[1], "i")
    return _pulled(
        low,
        instruction,
        ReadOpcode.SNAPPED,
        [(at[c] << _SIGN_SHIFT) >> _SIGN_SHIFT for c in range(2)],
    )


def _at_sample(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
    number = Source(low, instruction.sources[1], "i")[0]
    return _pulled(low, instruction, ReadOpcode.AT_SAMPLE, [number])


def _pulled(
    low: Lowering, instruction: Instruction, read: ReadOpcode, where: Sequence[Value]
) -> tuple[Result, ...]:
    """Evaluate an input at the position ``where`` in the pixel, by a Fetch with ``read``.

    Only the rasterizer can do that.  An input that is not interpolated is returned unchanged.
    """
    operand = instruction.sources[0]
    if not _is_interpolated(low, operand):
        return _copied(low, instruction)
    unit = Unit(read, register=operand.number)
    return _result(low, instruction, low.fetch(unit, *where))


def _centroid(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
    """Evaluate eval_centroid: the input at the centroid of the covered samples."""
    operand = instruction.sources[0]
    if not _is_interpolated(low, operand):
        return _copied(low, instruction)
    number = operand.number
    found = [input_of(low, number, c, _prefix(low, number, c)) for c in range(4)]
    return _result(low, instruction, found)


def _prefix(low: Lowering, number: int, component: int) -> str:
    register = low.declared.input_of.get((number, component))
    flat = register is not None and register.interpolation in _FLAT
    return CENTROID + NOPERSPECTIVE if flat else CENTROID


def _is_interpolated(low: Lowering, operand: Operand) -> bool:
    """Whether an operand is an interpolated input.

    Raises Unsupported for one that is indexed at run time, such as v[r0.x].
    """
    if operand.file is not File.INPUT:
        return False
    if operand.indices[0].relative is not None:
        raise Unsupported("evaluation of indexed inputs")
    return not low.declared.modes_of.get(operand.number, set()) <= {Interpolation.CONSTANT}


def _copied(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
    (target,) = instruction.destinations
    source = Source(low, instruction.sources[0], "s")
    return ({c: source[c] for c in target.written},)


def _result(low: Lowering, instruction: Instruction, found: Sequence[Value]) -> tuple[Result, ...]:
    """An instruction's result: four words with its first source's swizzle, abs and negate."""
    operand, (target,) = instruction.sources[0], instruction.destinations
    words = [low.b.asint(each) if each.type is Type.F32 else each for each in found]
    return ({c: signed(operand, words[operand.swizzle[c]]) for c in target.written},)


EVALUATE: dict[Op, Evaluate] = {
    **dict.fromkeys(_SAMPLINGS, _sample),
    **dict.fromkeys((Op.GATHER4, Op.GATHER4_C, Op.GATHER4_PO, Op.GATHER4_PO_C), _gather),
    Op.LOD: _lod,
    Op.LD: _ld,
    Op.LDMS: _ld,
    Op.LD_RAW: _loading(ReadOpcode.RAW),
    Op.LD_STRUCTURED: _loading(ReadOpcode.STRUCTURED),
    Op.RESINFO: _resinfo,
    Op.BUFINFO: _bufinfo,
    Op.SAMPLEINFO: _sampleinfo,
    Op.SAMPLEPOS: _samplepos,
    Op.EVAL_SNAPPED: _snapped,
    Op.EVAL_SAMPLE_INDEX: _at_sample,
    Op.EVAL_CENTROID: _centroid,
    Op.LD_UAV_TYPED: _ld_typed,
    Op.IMM_ATOMIC_ALLOC: _counter(MemoryOpcode.ALLOC),
    Op.IMM_ATOMIC_CONSUME: _counter(MemoryOpcode.CONSUME),
    Op.IMM_ATOMIC_EXCH: _immediate(MemoryOpcode.EXCHANGE),
    Op.IMM_ATOMIC_CMP_EXCH: _immediate(MemoryOpcode.COMPARE),
    **{Op[f"IMM_ATOMIC_{each.name}"]: _immediate(each) for each in _ATOMICS},
}
EFFECTS: dict[Op, Effect] = {
    **dict.fromkeys((Op.STORE_UAV_TYPED, Op.STORE_RAW, Op.STORE_STRUCTURED), _store),
    Op.ATOMIC_CMP_STORE: _atomic(MemoryOpcode.COMPARE),
    **{Op[f"ATOMIC_{each.name}"]: _atomic(each) for each in _ATOMICS},
}

"""Decoded form to tokens, from the fields alone."""

from __future__ import annotations

from collections.abc import Iterator

from dp2emu.shader.sm4.declarations import control_bits, declaration_words
from dp2emu.shader.sm4.enums import Precision
from dp2emu.shader.sm4.fields import (
    AT_ONCE,
    BY_MASK,
    BY_SELECT,
    BY_SWIZZLE,
    COUNT,
    EXTENDED,
    EXTENSION,
    FILE,
    FOUR_COMPONENTS,
    INDICES,
    LENGTH,
    MASK,
    MODE,
    MODIFIER,
    NO_COMPONENTS,
    NONZERO,
    ONE_COMPONENT,
    OPCODE,
    OPERAND_MODIFIER,
    PRECISE,
    PRECISION,
    RELATIVE,
    REPRESENTATIONS,
    RESOURCE_DIMENSION,
    RESOURCE_RETURNS,
    SAMPLE_CONTROLS,
    SATURATE,
    SELECT,
    SIZES,
    SUM,
    SWIZZLE,
    SYNC,
    TEXEL,
    VIEW_DIMENSION,
    VIEW_RETURNS,
    VIEW_STRIDE,
)
from dp2emu.shader.sm4.ops import Op
from dp2emu.shader.sm4.program import Index, Instruction, Operand, Selection, View
from dp2emu.shader.sm4.registers import BY_FILE, File

_IMMEDIATES = frozenset({File.IMMEDIATE, File.IMMEDIATE64})
_LONGEST = (1 << LENGTH.width) - 1


def instruction_words(instruction: Instruction) -> tuple[int, ...]:
    """The tokens of an instruction, from its fields alone."""
    extensions = _chained(list(_extensions(instruction)))
    body = (*extensions, *_body(instruction))
    token = _token(instruction) | EXTENDED.put(bool(extensions))
    if instruction.op is Op.CUSTOMDATA or len(body) >= _LONGEST:
        return token, len(body) + 2, *body
    return token | LENGTH.put(len(body) + 1), *body


def _token(instruction: Instruction) -> int:
    """The opcode token without its length."""
    declaration = instruction.declaration
    return (
        OPCODE.put(instruction.op)
        | SATURATE.put(instruction.saturate)
        | NONZERO.put(instruction.nonzero)
        | PRECISE.put(instruction.precise)
        | SIZES.put(instruction.sizes)
        | SYNC.put(instruction.sync)
        | (control_bits(instruction.op, declaration) if declaration else 0)
    )


def _body(instruction: Instruction) -> Iterator[int]:
    """Operands with the words before and after them."""
    if instruction.op is Op.FCALL:
        yield from instruction.data
    for operand in instruction.operands:
        yield from operand_words(operand)
    if instruction.declaration is not None:
        yield from declaration_words(instruction.op, instruction.declaration)
    if instruction.op is not Op.FCALL:
        yield from instruction.data


def _chained(extensions: list[int]) -> list[int]:
    """Extended tokens, each but the last of which tells that another follows."""
    return [token | EXTENDED.put(1) for token in extensions[:-1]] + extensions[-1:]


def _extensions(instruction: Instruction) -> Iterator[int]:
    if any(instruction.texel):
        offsets = zip(TEXEL, instruction.texel, strict=True)
        yield SAMPLE_CONTROLS | sum(bits.put(offset) for bits, offset in offsets)
    if instruction.view is not None:
        yield from _view(instruction.view)


def _view(view: View) -> Iterator[int]:
    if view.dimension is not None:
        dimension, stride = VIEW_DIMENSION.put(view.dimension), VIEW_STRIDE.put(view.stride)
        yield RESOURCE_DIMENSION | dimension | stride
    if view.returns is not None:
        types = zip(VIEW_RETURNS, view.returns, strict=True)
        yield RESOURCE_RETURNS | sum(bits.put(type) for bits, type in types)


def operand_words(operand: Operand) -> Iterator[int]:
    """The tokens of an operand."""
    modifier = operand.negate | operand.absolute << 1
    extended = bool(modifier) or operand.precision is not Precision.DEFAULT
    yield (
        _components(operand)
        | FILE.put(BY_FILE[operand.file].type)
        | INDICES.put(len(operand.indices))
        | sum(map(_representation, range(len(operand.indices)), operand.indices))
        | EXTENDED.put(extended)
    )
    if extended:
        precision = PRECISION.put(operand.precision)
        yield EXTENSION.put(OPERAND_MODIFIER) | MODIFIER.put(modifier) | precision
    for index in operand.indices:
        if index.relative is None or index.offset:
            yield index.offset
        if index.relative is not None:
            yield from operand_words(index.relative)
    yield from operand.words


def _representation(place: int, index: Index) -> int:
    bits = REPRESENTATIONS[place]
    if index.relative is None:
        return bits.put(AT_ONCE)
    return bits.put(SUM if index.offset else RELATIVE)


def _components(operand: Operand) -> int:
    """Four-component immediates name none of theirs, as compilers have it."""
    selection, components = operand.selection, operand.components
    if selection is Selection.NONE:
        return COUNT.put(NO_COMPONENTS)
    if selection is Selection.ONE:
        return COUNT.put(ONE_COMPONENT)
    four = COUNT.put(FOUR_COMPONENTS)
    if operand.file in _IMMEDIATES:
        return four
    if selection is Selection.MASK:
        return four | MODE.put(BY_MASK) | MASK.put(operand.mask)
    if selection is Selection.SELECT:
        return four | MODE.put(BY_SELECT) | SELECT.put(components[0])
    chosen = sum(bits.put(each) for bits, each in zip(SWIZZLE, components, strict=True))
    return four | MODE.put(BY_SWIZZLE) | chosen

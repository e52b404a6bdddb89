"""Encoder of instructions into tokens."""

from __future__ import annotations

from collections.abc import Iterator

from dp2emu.shader.sm4 import fields
from dp2emu.shader.sm4.declarations import control_bits, declaration_words
from dp2emu.shader.sm4.enums import Precision
from dp2emu.shader.sm4.opcodes import SIZE_TYPES, Op
from dp2emu.shader.sm4.program import Index, Instruction, Operand, Selection, View
from dp2emu.shader.sm4.registers import BY_FILE, File

_IMMEDIATES = frozenset({File.IMMEDIATE, File.IMMEDIATE64})
_LONGEST = (1 << fields.LENGTH.width) - 1


def instruction_words(instruction: Instruction) -> tuple[int, ...]:
    """The tokens of an instruction; the ``words`` that a decoded instruction keeps are ignored."""
    extensions = _chained(list(_extensions(instruction)))
    body = (*extensions, *_body(instruction))
    token = _token(instruction) | fields.EXTENDED.put(bool(extensions))
    if instruction.op is Op.CUSTOMDATA or len(body) >= _LONGEST:
        return token, len(body) + 2, *body
    return token | fields.LENGTH.put(len(body) + 1), *body


def _token(instruction: Instruction) -> int:
    """The opcode token of an instruction; its length field is 0, to be set later."""
    declaration = instruction.declaration
    return (
        fields.OPCODE.put(instruction.op)
        | fields.SATURATE.put(instruction.saturate)
        | fields.NONZERO.put(instruction.nonzero)
        | fields.PRECISE.put(instruction.precise)
        | fields.SIZES.put(_size_type(instruction))
        | fields.SYNC.put(instruction.sync)
        | (control_bits(instruction.op, declaration) if declaration else 0)
    )


def _size_type(instruction: Instruction) -> int:
    """The number of an instruction's result type, 0 for opcodes that state none."""
    types = SIZE_TYPES.get(instruction.op)
    return 0 if types is None else types.index(instruction.sizes)


def _body(instruction: Instruction) -> Iterator[int]:
    """The words after the opcode tokens: operands, declaration attributes and data."""
    if instruction.op is Op.FCALL:
        yield from instruction.data
    for operand in instruction.operands:
        yield from operand_words(operand)
    if instruction.declaration is not None:
        yield from declaration_words(instruction.op, instruction.declaration)
    if instruction.op is not Op.FCALL:
        yield from instruction.data


def _chained(extensions: list[int]) -> list[int]:
    """Set the bit "another extended token follows" in all ``extensions`` but the last."""
    return [token | fields.EXTENDED.put(1) for token in extensions[:-1]] + extensions[-1:]


def _extensions(instruction: Instruction) -> Iterator[int]:
    if any(instruction.texel):
        offsets = zip(fields.TEXEL, instruction.texel, strict=True)
        yield fields.SAMPLE_CONTROLS | sum(bits.put(offset) for bits, offset in offsets)
    if instruction.view is not None:
        yield from _view(instruction.view)


def _view(view: View) -> Iterator[int]:
    if view.dimension is not None:
        dimension, stride = (
            fields.VIEW_DIMENSION.put(view.dimension),
            fields.VIEW_STRIDE.put(view.stride),
        )
        yield fields.RESOURCE_DIMENSION | dimension | stride
    if view.returns is not None:
        types = zip(fields.VIEW_RETURNS, view.returns, strict=True)
        yield fields.RESOURCE_RETURNS | sum(bits.put(type) for bits, type in types)


def operand_words(operand: Operand) -> Iterator[int]:
    """The tokens of an operand."""
    modifier = operand.negate | operand.absolute << 1
    extended = bool(modifier) or operand.precision is not Precision.DEFAULT
    yield (
        _components(operand)
        | fields.FILE.put(BY_FILE[operand.file].type)
        | fields.INDICES.put(len(operand.indices))
        | sum(map(_representation, range(len(operand.indices)), operand.indices))
        | fields.EXTENDED.put(extended)
    )
    if extended:
        precision = fields.PRECISION.put(operand.precision)
        yield (
            fields.EXTENSION.put(fields.OPERAND_MODIFIER)
            | fields.MODIFIER.put(modifier)
            | precision
        )
    for index in operand.indices:
        if index.relative is None or index.offset:
            yield index.offset
        if index.relative is not None:
            yield from operand_words(index.relative)
    yield from operand.words


def _representation(place: int, index: Index) -> int:
    bits = fields.REPRESENTATIONS[place]
    if index.relative is None:
        return bits.put(fields.AT_ONCE)
    return bits.put(fields.SUM if index.offset else fields.RELATIVE)


def _components(operand: Operand) -> int:
    """The bits of an operand token that give its component count and which components it selects.

    The selection bits of a four-component immediate are 0, as compilers leave them.
    """
    selection, components = operand.selection, operand.components
    if selection is Selection.NONE:
        return fields.COUNT.put(fields.NO_COMPONENTS)
    if selection is Selection.ONE:
        return fields.COUNT.put(fields.ONE_COMPONENT)
    four = fields.COUNT.put(fields.FOUR_COMPONENTS)
    if operand.file in _IMMEDIATES:
        return four
    if selection is Selection.MASK:
        return four | fields.MODE.put(fields.BY_MASK) | fields.MASK.put(operand.mask)
    if selection is Selection.SELECT:
        return four | fields.MODE.put(fields.BY_SELECT) | fields.SELECT.put(components[0])
    chosen = sum(bits.put(each) for bits, each in zip(fields.SWIZZLE, components, strict=True))
    return four | fields.MODE.put(fields.BY_SWIZZLE) | chosen

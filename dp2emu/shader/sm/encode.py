"""Encoder of instructions into tokens."""

from __future__ import annotations

from collections.abc import Iterator

from dp2emu.shader.sm import fields
from dp2emu.shader.sm.opcodes import Control
from dp2emu.shader.sm.program import (
    IDENTITY,
    Comment,
    Declaration,
    Destination,
    Instruction,
    Relative,
    Source,
    Swizzle,
)
from dp2emu.shader.sm.registers import File, Register
from dp2emu.shader.sm.versions import Version


def instruction_words(instruction: Instruction, version: Version) -> tuple[int, ...]:
    """The tokens of an instruction; the ``words`` that a decoded instruction keeps are ignored."""
    operands = (*_operands(instruction, version), *instruction.constant)
    control = {
        Control.NONE: 0,
        Control.COMPARISON: instruction.comparison or 0,
        Control.SAMPLING: instruction.sampling,
    }[instruction.op.row.control]
    token = (
        fields.OPCODE.put(instruction.op)
        | fields.CONTROL.put(control)
        | fields.LENGTH.put(len(operands) if version.has_lengths else 0)
        | fields.PREDICATED.put(instruction.predicate is not None)
        | fields.COISSUE.put(instruction.coissue)
    )
    return token, *operands


def comment_words(comment: Comment) -> tuple[int, ...]:
    """The tokens of a comment."""
    return fields.COMMENT_OPCODE | fields.COMMENT_LENGTH.put(len(comment.words)), *comment.words


def _operands(instruction: Instruction, version: Version) -> Iterator[int]:
    if instruction.declaration is not None:
        yield _declaration(instruction.declaration)
    if instruction.destination is not None:
        yield from _destination(instruction.destination, version)
    for source in (instruction.predicate, *instruction.sources):
        if source is not None:
            yield from _source(source, version)


def _declaration(declaration: Declaration) -> int:
    if declaration.texture is not None:
        return fields.PARAMETER | fields.TEXTURE.put(declaration.texture)
    return (
        fields.PARAMETER
        | fields.USAGE.put(declaration.usage or 0)
        | fields.USAGE_INDEX.put(declaration.index)
    )


def _destination(destination: Destination, version: Version) -> Iterator[int]:
    yield (
        _register(destination.register, destination.relative)
        | fields.MASK.put(destination.mask)
        | fields.RESULT.put(destination.modifiers)
        | fields.SHIFT.put(destination.shift)
    )
    yield from _relative(destination.relative, version)


def _source(source: Source, version: Version) -> Iterator[int]:
    yield (
        _register(source.register, source.relative)
        | _swizzle(source.swizzle)
        | fields.MODIFIER.put(source.modifier)
    )
    yield from _relative(source.relative, version)


def _relative(relative: Relative | None, version: Version) -> Iterator[int]:
    """The token of an index register; none before 2.0, where a0.x is implied."""
    if relative is not None and version.has_lengths:
        component = relative.component
        swizzle = IDENTITY if relative.register.file is File.LOOP else _replicated(component)
        yield _register(relative.register, None) | _swizzle(swizzle)


def _register(register: Register, relative: Relative | None) -> int:
    type, number = register.type_and_number
    return (
        fields.PARAMETER
        | fields.NUMBER.put(number)
        | fields.TYPE_HIGH.put(type >> 3)
        | fields.TYPE_LOW.put(type)
        | fields.RELATIVE.put(relative is not None)
    )


def _swizzle(swizzle: Swizzle) -> int:
    return fields.SWIZZLE.put(sum(component << 2 * i for i, component in enumerate(swizzle)))


def _replicated(component: int) -> Swizzle:
    return component, component, component, component

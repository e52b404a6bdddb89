"""Flow control of a shader: routines, nested blocks and calls, with their checks (SM1-3 tokens,
"Flow control").
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import NamedTuple

import msgspec

from dp2emu.argument_check import checked
from dp2emu.shader.calls import Body, Call, check_calls
from dp2emu.shader.sm.opcodes import Group, Op
from dp2emu.shader.sm.program import Instruction, Shader
from dp2emu.shader.sm.registers import File
from dp2emu.shader.sm.versions import V2_0, Version

_IFS = frozenset({Op.IF, Op.IFC})
LOOPS = frozenset({Op.LOOP, Op.REP})
LOOP_ENDS = frozenset({Op.ENDLOOP, Op.ENDREP})
CALLS = frozenset({Op.CALL, Op.CALLNZ})
_BREAKS = frozenset({Op.BREAK, Op.BREAKC, Op.BREAKP})
_CLOSED_BY = {Op.ENDIF: _IFS, Op.ENDLOOP: frozenset({Op.LOOP}), Op.ENDREP: frozenset({Op.REP})}
_DEPTHS = {"static ifs": 24, "dynamic ifs": 24, "loops": 4}
_CALL_DEPTH = 4
_CALL_DEPTH_2_0 = 1
INSTRUCTIONS = 1 << 15
"""Maximum number of instructions of a shader of models 1 to 3."""
_SETUP = frozenset({Group.CONSTANT, Group.DECLARATION})


class Routines(msgspec.Struct, frozen=True):
    """Executed instructions by routine, without declarations, constants, labels and returns."""

    main: tuple[Instruction, ...]
    subroutines: Mapping[int, tuple[Instruction, ...]]
    """Instructions of each subroutine by label number."""


@checked
def routines(shader: Shader) -> Routines:
    """Split a shader into main program and subroutines; ShaderError for misplaced labels, rets."""
    main: list[Instruction] = []
    subroutines: dict[int, list[Instruction]] = {}
    body: list[Instruction] | None = main
    label: Instruction | None = None
    for instruction in shader.instructions:
        if instruction.op.row.group in _SETUP:
            continue
        if instruction.op is Op.LABEL:
            if body is not None:
                raise instruction.error("a label may only follow ret")
            if instruction.label in subroutines:
                raise instruction.error(f"l{instruction.label} is a label already")
            label, body = instruction, subroutines.setdefault(instruction.label, [])
        elif body is None:
            raise instruction.error("only a label may follow ret")
        elif instruction.op is Op.RET:
            body = None
        else:
            body.append(instruction)
    if label is not None and body is not None:
        raise label.error(f"l{label.label} does not end in ret")
    return Routines(tuple(main), {number: tuple(each) for number, each in subroutines.items()})


def check_flow(shader: Shader) -> None:
    """Check that blocks are balanced, calls do not recurse, and nesting and size are in bounds.

    Raises ShaderError.
    """
    if len(shader.instructions) > INSTRUCTIONS:
        what = f"more than {INSTRUCTIONS} instructions"
        raise shader.instructions[INSTRUCTIONS].error(what)
    parts = routines(shader)
    _check_blocks(parts.main, main=True)
    for body in parts.subroutines.values():
        _check_blocks(body, main=False)
    _check_calls(shader.version, parts)


class _Block(NamedTuple):
    """An if, loop or rep block that is still open."""

    opener: Instruction
    kind: str
    otherwise: bool = False
    """Whether the block's else has been read."""


class _Blocks(msgspec.Struct):
    """The open blocks of a routine.  Mutable: instructions open and close blocks.

    ``depths`` are the numbers of open blocks of each kind, ``counters`` the number of loops with
    aL.
    """

    stack: list[_Block] = msgspec.field(default_factory=list)
    depths: dict[str, int] = msgspec.field(default_factory=lambda: dict.fromkeys(_DEPTHS, 0))
    counters: int = 0

    def open(self, opener: Instruction) -> None:
        """Open a block.  Raises ShaderError if too many of its kind are open."""
        kind = _kind(opener)
        self.stack.append(_Block(opener, kind))
        self.depths[kind] += 1
        self.counters += opener.op is Op.LOOP
        if self.depths[kind] > _DEPTHS[kind]:
            raise opener.error(f"{kind} nest deeper than {_DEPTHS[kind]}")

    def close(self) -> None:
        """Close the innermost block."""
        last = self.stack.pop()
        self.depths[last.kind] -= 1
        self.counters -= last.opener.op is Op.LOOP


def _kind(opener: Instruction) -> str:
    if opener.op in LOOPS:
        return "loops"
    by_constant = any(s.register.file is File.CONSTBOOL for s in opener.sources)
    return "static ifs" if by_constant else "dynamic ifs"


def _check_blocks(body: tuple[Instruction, ...], *, main: bool) -> None:
    blocks = _Blocks()
    for instruction in body:
        _step(blocks, instruction)
        if main and not blocks.counters and _uses_counter(instruction):
            raise instruction.error("aL has no value outside of a loop")
    if blocks.stack:
        last = blocks.stack[-1].opener
        raise last.error(f"{last.name} is not closed")


def _step(blocks: _Blocks, instruction: Instruction) -> None:
    """Update the open blocks for the next instruction.

    Raises ShaderError if the instruction may not stand there.
    """
    op, last = instruction.op, blocks.stack[-1] if blocks.stack else None
    if op in _IFS | LOOPS:
        blocks.open(instruction)
    elif op is Op.ELSE:
        if last is None or last.opener.op not in _IFS or last.otherwise:
            raise instruction.error("else without if")
        blocks.stack[-1] = last._replace(otherwise=True)
    elif op in _CLOSED_BY:
        if last is None or last.opener.op not in _CLOSED_BY[op]:
            raise instruction.error(f"{instruction.name} closes nothing")
        blocks.close()
    elif op in _BREAKS and not blocks.depths["loops"]:
        raise instruction.error(f"{instruction.name} outside of a loop")


def _uses_counter(instruction: Instruction) -> bool:
    operands = (instruction.destination, *instruction.sources)
    return any(
        operand is not None
        and operand.relative is not None
        and operand.relative.register.file is File.LOOP
        for operand in operands
    )


def _check_calls(version: Version, parts: Routines) -> None:
    limit = _CALL_DEPTH_2_0 if version.level == V2_0 else _CALL_DEPTH
    subroutines: dict[Hashable, Body] = {
        label: _body(each) for label, each in parts.subroutines.items()
    }
    check_calls(_body(parts.main), subroutines, limit)


def _body(instructions: tuple[Instruction, ...]) -> Body:
    calls = (each for each in instructions if each.op in CALLS)
    found = tuple(Call(each.label, f"l{each.label}", each.offset) for each in calls)
    return Body(len(instructions), found)

"""Flow control of a program: phases, routines, nested blocks and calls, with their checks (SM4-5
tokens, "Flow control").
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from itertools import pairwise

import msgspec

from dp2emu.argument_check import checked
from dp2emu.shader.calls import Body, Call, check_calls
from dp2emu.shader.sm4.opcodes import Op
from dp2emu.shader.sm4.program import Instruction, Program
from dp2emu.shader.sm4.registers import File
from dp2emu.shader.sm4.versions import Stage

Label = tuple[File, int]
"""Type of a label: (register file, number).  The file tells labels from the function bodies that
interfaces call."""
BREAKS = frozenset({Op.BREAK, Op.BREAKC})
CONTINUES = frozenset({Op.CONTINUE, Op.CONTINUEC})
CALLS = frozenset({Op.CALL, Op.CALLC})
CLOSED_BY = {Op.ENDIF: Op.IF, Op.ENDLOOP: Op.LOOP, Op.ENDSWITCH: Op.SWITCH}
OPENERS = frozenset(CLOSED_BY.values())
_LABELS = frozenset({Op.CASE, Op.DEFAULT})
_MARKERS = (Op.HS_DECLS, Op.HS_CONTROL_POINT_PHASE, Op.HS_FORK_PHASE, Op.HS_JOIN_PHASE)
"""Opcodes that begin a phase of a hull shader, in the order in which phases must come."""
_ONCE = frozenset({Op.HS_DECLS, Op.HS_CONTROL_POINT_PHASE})
_BLOCK_DEPTH = 64
_CALL_DEPTH = 32


class Phase(msgspec.Struct, frozen=True):
    """A separately executed phase of a hull shader; other programs have one phase.

    ``main`` and ``subroutines`` have executed instructions only, no declarations or labels.  A
    routine ends with its last instruction even if that is no ret; ret may also stand in blocks.
    """

    marker: Instruction | None
    declarations: tuple[Instruction, ...]
    main: tuple[Instruction, ...]
    subroutines: Mapping[Label, tuple[Instruction, ...]]


@checked
def phases(program: Program) -> tuple[Phase, ...]:
    """Split a program into phases and routines.

    Raises ShaderError for misplaced phase markers and labels.
    """
    if program.version.stage is not Stage.HULL:
        return (_phase(None, program.instructions),)
    found = tuple(_phase(part[0], part[1:]) for part in _parts(program.instructions))
    _check_order(found)
    return found


def label_of(instruction: Instruction) -> Label:
    """The label that a label, call or callc instruction names."""
    operand = instruction.operands[-1]
    return operand.file, operand.number


def check_flow(program: Program) -> None:
    """Check that blocks are balanced, calls do not recurse, and nesting is in bounds.

    Raises ShaderError.
    """
    for phase in phases(program):
        for body in (phase.main, *phase.subroutines.values()):
            _check_blocks(body)
        subroutines: dict[Hashable, Body] = {
            label: _body(each) for label, each in phase.subroutines.items()
        }
        check_calls(_body(phase.main), subroutines, _CALL_DEPTH)


def _parts(instructions: tuple[Instruction, ...]) -> Iterator[tuple[Instruction, ...]]:
    """Split a hull shader into its phases; each begins with the instruction that marks it."""
    starts = [i for i, each in enumerate(instructions) if each.op in _MARKERS]
    if instructions and (not starts or starts[0]):
        raise instructions[0].error("a hull shader begins with a phase")
    for start, end in pairwise([*starts, len(instructions)]):
        yield instructions[start:end]


def _check_order(found: tuple[Phase, ...]) -> None:
    last = 0
    for phase in found:
        assert phase.marker is not None
        place = _MARKERS.index(phase.marker.op)
        again = place == last and phase is not found[0] and phase.marker.op in _ONCE
        if place < last or again:
            raise phase.marker.error(f"{phase.marker.op.text} is out of place")
        if phase.main and phase.marker.op is Op.HS_DECLS:
            raise phase.main[0].error("only declarations are in hs_decls")
        last = place


def _phase(marker: Instruction | None, instructions: tuple[Instruction, ...]) -> Phase:
    declarations = tuple(each for each in instructions if each.op.row.declares is not None)
    main: list[Instruction] = []
    subroutines: dict[Label, list[Instruction]] = {}
    body, last = main, None
    for each in instructions:
        if each.op.row.declares is not None:
            continue
        if each.op is not Op.LABEL:
            body.append(each)
        elif last is None or last.op is not Op.RET:
            raise each.error("a label may only follow ret")
        elif label_of(each) in subroutines:
            raise each.error(f"{_label_name(each)} is a label already")
        else:
            body = subroutines.setdefault(label_of(each), [])
        last = each
    routines = {label: tuple(each) for label, each in subroutines.items()}
    return Phase(marker, declarations, tuple(main), routines)


class _Block(msgspec.Struct):
    """A block that is still open, begun by ``opener``.  Mutable: an else or a case changes it."""

    opener: Instruction
    otherwise: bool = False
    """Whether the block's else, or the default of a switch, has been read."""
    cases: set[int] = msgspec.field(default_factory=set)

    @property
    def begun(self) -> bool:
        """Whether instructions may come next: in a switch only after a case or default."""
        return self.opener.op is not Op.SWITCH or self.otherwise or bool(self.cases)


def _check_blocks(body: tuple[Instruction, ...]) -> None:
    blocks: list[_Block] = []
    for instruction in body:
        _step(blocks, instruction)
    if blocks:
        raise blocks[-1].opener.error(f"{blocks[-1].opener.op.text} is not closed")


def _step(blocks: list[_Block], instruction: Instruction) -> None:
    """Update ``blocks``, the stack of open blocks, for the next instruction.

    Raises ShaderError if the instruction may not stand there.
    """
    op, last = instruction.op, blocks[-1] if blocks else None
    if op in _LABELS:
        _case(last, instruction)
    elif op in CLOSED_BY:
        if last is None or last.opener.op is not CLOSED_BY[op]:
            raise instruction.error(f"{instruction.op.text} closes nothing")
        blocks.pop()
    elif last is not None and not last.begun:
        raise instruction.error("switch begins with a case")
    elif op in OPENERS:
        blocks.append(_Block(instruction))
        if len(blocks) > _BLOCK_DEPTH:
            raise instruction.error(f"blocks nest deeper than {_BLOCK_DEPTH}")
    elif op is Op.ELSE:
        if last is None or last.opener.op is not Op.IF or last.otherwise:
            raise instruction.error("else without if")
        last.otherwise = True
    else:
        _check_leap(blocks, instruction)


def _case(last: _Block | None, instruction: Instruction) -> None:
    if last is None or last.opener.op is not Op.SWITCH:
        raise instruction.error(f"{instruction.op.text} outside of switch")
    if instruction.op is Op.DEFAULT:
        if last.otherwise:
            raise instruction.error("a second default")
        last.otherwise = True
        return
    value = instruction.operands[0].words[0]
    if value in last.cases:
        raise instruction.error(f"a second case {value}")
    last.cases.add(value)


def _check_leap(blocks: list[_Block], instruction: Instruction) -> None:
    around = {block.opener.op for block in blocks}
    if instruction.op in BREAKS and not around & {Op.LOOP, Op.SWITCH}:
        raise instruction.error(f"{instruction.op.text} outside of loop and switch")
    if instruction.op in CONTINUES and Op.LOOP not in around:
        raise instruction.error(f"{instruction.op.text} outside of a loop")


def _body(instructions: tuple[Instruction, ...]) -> Body:
    calls = (each for each in instructions if each.op in CALLS)
    found = tuple(Call(label_of(each), _label_name(each), each.offset) for each in calls)
    return Body(len(instructions), found)


def _label_name(instruction: Instruction) -> str:
    file, number = label_of(instruction)
    return f"{file.value}{number}"

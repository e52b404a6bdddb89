"""Phases, routines, blocks and calls: the flow control of a program, checked (SM4-5 tokens, "Flow
control")."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import field
from itertools import pairwise

from dp2emu.errors import ShaderError
from dp2emu.records import dataclass
from dp2emu.shader.calls import Body, Call, check_calls
from dp2emu.shader.sm4.ops import Op
from dp2emu.shader.sm4.program import Instruction, Program
from dp2emu.shader.sm4.registers import File
from dp2emu.shader.sm4.versions import Stage

Label = tuple[File, int]
"""A label, or a function body of an interface, and its number."""

BREAKS = frozenset({Op.BREAK, Op.BREAKC})
CONTINUES = frozenset({Op.CONTINUE, Op.CONTINUEC})
CALLS = frozenset({Op.CALL, Op.CALLC})
CLOSED_BY = {Op.ENDIF: Op.IF, Op.ENDLOOP: Op.LOOP, Op.ENDSWITCH: Op.SWITCH}
OPENERS = frozenset(CLOSED_BY.values())
_LABELS = frozenset({Op.CASE, Op.DEFAULT})
_MARKERS = (
    Op.HS_DECLS,
    Op.HS_CONTROL_POINT_PHASE,
    Op.HS_FORK_PHASE,
    Op.HS_JOIN_PHASE,
)
"""In the order in which the phases of a hull shader stand."""
_ONCE = frozenset({Op.HS_DECLS, Op.HS_CONTROL_POINT_PHASE})

_BLOCK_DEPTH = 64
_CALL_DEPTH = 32


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of a hull shader that runs by itself; other programs are one phase.

    ``main`` and ``subroutines`` are what executes: no declarations, no labels.  A routine ends
    with the last of its instructions whether or not that is ret, which may also stand in blocks.
    """

    marker: Instruction | None
    declarations: tuple[Instruction, ...]
    main: tuple[Instruction, ...]
    subroutines: Mapping[Label, tuple[Instruction, ...]]


def phases(program: Program) -> tuple[Phase, ...]:
    """A program cut into phases and routines.

    Raises ShaderError for markers and labels out of place.
    """
    if program.version.stage is not Stage.HULL:
        return (_phase(None, program.instructions),)
    found = tuple(_phase(part[0], part[1:]) for part in _parts(program.instructions))
    _check_order(found)
    return found


def label_of(instruction: Instruction) -> Label:
    """What label, call and callc name."""
    operand = instruction.operands[-1]
    return operand.file, operand.number


def check_flow(program: Program) -> None:
    """Blocks close, calls end, neither nests too deep.  Raises ShaderError."""
    for phase in phases(program):
        for body in (phase.main, *phase.subroutines.values()):
            _check_blocks(body)
        subroutines: dict[Hashable, Body] = {
            label: _body(each) for label, each in phase.subroutines.items()
        }
        check_calls(_body(phase.main), subroutines, _CALL_DEPTH)


def _parts(instructions: tuple[Instruction, ...]) -> Iterator[tuple[Instruction, ...]]:
    """What each marker and the instructions up to the next are."""
    starts = [i for i, each in enumerate(instructions) if each.op in _MARKERS]
    if instructions and (not starts or starts[0]):
        raise _error(instructions[0], "a hull shader begins with a phase")
    for start, end in pairwise([*starts, len(instructions)]):
        yield instructions[start:end]


def _check_order(found: tuple[Phase, ...]) -> None:
    last = 0
    for phase in found:
        assert phase.marker is not None
        place = _MARKERS.index(phase.marker.op)
        again = place == last and phase is not found[0] and phase.marker.op in _ONCE
        if place < last or again:
            raise _error(phase.marker, f"{_name(phase.marker)} is out of place")
        if phase.main and phase.marker.op is Op.HS_DECLS:
            raise _error(phase.main[0], "only declarations are in hs_decls")
        last = place


def _phase(marker: Instruction | None, instructions: tuple[Instruction, ...]) -> Phase:
    declarations = tuple(each for each in instructions if each.row.declares is not None)
    main: list[Instruction] = []
    subroutines: dict[Label, list[Instruction]] = {}
    body, last = main, None
    for each in instructions:
        if each.row.declares is not None:
            continue
        if each.op is not Op.LABEL:
            body.append(each)
        elif last is None or last.op is not Op.RET:
            raise _error(each, "a label may only follow ret")
        elif label_of(each) in subroutines:
            raise _error(each, f"{_label_name(each)} is a label already")
        else:
            body = subroutines.setdefault(label_of(each), [])
        last = each
    routines = {label: tuple(each) for label, each in subroutines.items()}
    return Phase(marker, declarations, tuple(main), routines)


@dataclass(slots=True)
class _Block:
    """A block under way.  Mutable, because what may still come in it changes."""

    opener: Instruction
    otherwise: bool = False
    """Whether its else or default has come."""
    cases: set[int] = field(default_factory=set)

    @property
    def begun(self) -> bool:
        """Whether instructions may stand here: in switch only behind a case."""
        return self.opener.op is not Op.SWITCH or self.otherwise or bool(self.cases)


def _check_blocks(body: tuple[Instruction, ...]) -> None:
    blocks: list[_Block] = []
    for instruction in body:
        _step(blocks, instruction)
    if blocks:
        raise _error(blocks[-1].opener, f"{_name(blocks[-1].opener)} is not closed")


def _step(blocks: list[_Block], instruction: Instruction) -> None:
    """Follow one instruction."""
    op, last = instruction.op, blocks[-1] if blocks else None
    if op in _LABELS:
        _case(last, instruction)
    elif op in CLOSED_BY:
        if last is None or last.opener.op is not CLOSED_BY[op]:
            raise _error(instruction, f"{_name(instruction)} closes nothing")
        blocks.pop()
    elif last is not None and not last.begun:
        raise _error(instruction, "switch begins with a case")
    elif op in OPENERS:
        blocks.append(_Block(instruction))
        if len(blocks) > _BLOCK_DEPTH:
            raise _error(instruction, f"blocks nest deeper than {_BLOCK_DEPTH}")
    elif op is Op.ELSE:
        if last is None or last.opener.op is not Op.IF or last.otherwise:
            raise _error(instruction, "else without if")
        last.otherwise = True
    else:
        _check_leap(blocks, instruction)


def _case(last: _Block | None, instruction: Instruction) -> None:
    if last is None or last.opener.op is not Op.SWITCH:
        raise _error(instruction, f"{_name(instruction)} outside of switch")
    if instruction.op is Op.DEFAULT:
        if last.otherwise:
            raise _error(instruction, "a second default")
        last.otherwise = True
        return
    value = instruction.operands[0].words[0]
    if value in last.cases:
        raise _error(instruction, f"a second case {value}")
    last.cases.add(value)


def _check_leap(blocks: list[_Block], instruction: Instruction) -> None:
    around = {block.opener.op for block in blocks}
    if instruction.op in BREAKS and not around & {Op.LOOP, Op.SWITCH}:
        raise _error(instruction, f"{_name(instruction)} outside of loop and switch")
    if instruction.op in CONTINUES and Op.LOOP not in around:
        raise _error(instruction, f"{_name(instruction)} outside of a loop")


def _body(instructions: tuple[Instruction, ...]) -> Body:
    calls = (each for each in instructions if each.op in CALLS)
    found = tuple(Call(label_of(each), _label_name(each), each.offset) for each in calls)
    return Body(len(instructions), found)


def _label_name(instruction: Instruction) -> str:
    file, number = label_of(instruction)
    return f"{file.value}{number}"


def _name(instruction: Instruction) -> str:
    return instruction.op.name.lower()


def _error(instruction: Instruction, what: str) -> ShaderError:
    return ShaderError(what, offset=instruction.offset)

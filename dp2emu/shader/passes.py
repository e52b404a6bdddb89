"""Passes over programs: removal of redundant copies, SSA renaming, slots that need no mask."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
from msgspec.structs import replace

from dp2emu.cancellation import polled
from dp2emu.identity_cache import identity_cached
from dp2emu.shader import ir
from dp2emu.shader.types import Type

COPIES = ("mov", "imov", "bmov", "dmov", "lmov")

_NARROWING = {ir.If, ir.Loop, ir.Break}
"""Types of the statements of a program that change which lanes are active."""

Block = tuple[ir.Statement, ...]


def coalesce_copies(statements: Block) -> Block:
    """Return the statements with redundant copies removed.  Freed slots stay unused.

    A builder computes into a fresh slot and then copies to the variable.  Where nothing else reads
    the fresh slot, and no statement between the two touches the variable or changes the active
    lanes, the computation writes the variable directly.
    """
    every = [*ir.walk(statements)]
    results = Counter([slot for each in every for slot in ir.written(each)])
    uses = Counter([
        read.number for each in every for read in ir.operands(each) if isinstance(read, ir.Slot)
    ])  # fmt: skip
    single = {slot for slot in uses if uses[slot] == results[slot] == 1}
    return _Coalescer(frozenset(single)).block(statements)


class _Segment(msgspec.Struct):
    """What is known of the statements since the last change of the active lanes, in a block.

    ``results`` maps a slot to the index of the statement that wrote it last, ``touched`` to that
    of the last one that read or wrote it.
    """

    results: dict[int, int] = msgspec.field(default_factory=dict)
    touched: dict[int, int] = msgspec.field(default_factory=dict)


class _Coalescer(msgspec.Struct, frozen=True):
    """Removes redundant copies; ``single`` are the slots that are written once and read once."""

    single: frozenset[int]

    def block(self, statements: Block) -> Block:
        done: list[ir.Statement] = []
        segment = _Segment()
        for statement in polled(statements):
            if type(statement) in _NARROWING:
                segment = _Segment()
                done.append(self.nested(statement))  # type: ignore[arg-type]
            elif not self.coalesced(done, segment, statement):
                self.record(segment, len(done), statement)
                done.append(statement)
        return tuple(done)

    def nested(self, statement: ir.If | ir.Loop | ir.Break) -> ir.Statement:
        if isinstance(statement, ir.If):
            return ir.If(
                statement.condition, self.block(statement.then), self.block(statement.otherwise)
            )
        if isinstance(statement, ir.Loop):
            return ir.Loop(self.block(statement.body), statement.limit)
        return statement

    def coalesced(self, done: list[ir.Statement], segment: _Segment, copy: ir.Statement) -> bool:
        """Let the statement that computes a copy's operand write the copy's slot instead.

        False if that is impossible.
        """
        if not isinstance(copy, ir.Assign) or copy.op not in COPIES:
            return False
        (source,) = copy.operands
        if not isinstance(source, ir.Slot) or source.number not in self.single:
            return False
        place = segment.results.get(source.number)
        # A statement may read the slot (it reads before it writes) but not also write it.
        if place is None or segment.touched.get(copy.slot, -1) > place:
            return False
        if copy.slot in ir.written(done[place]):
            return False
        done[place] = _writing(done[place], source.number, copy.slot)
        segment.results[copy.slot] = segment.touched[copy.slot] = place
        return True

    def record(self, segment: _Segment, place: int, statement: ir.Statement) -> None:
        for operand in ir.operands(statement):
            if isinstance(operand, ir.Slot):
                segment.touched[operand.number] = place
        for slot in ir.written(statement):
            segment.results[slot] = segment.touched[slot] = place


def _writing(statement: ir.Statement, old: int, new: int) -> ir.Statement:
    """Return the statement with its result moved from slot ``old`` to slot ``new``."""
    if isinstance(statement, ir.Sample | ir.Fetch | ir.Access):
        red, green, blue, alpha = (new if slot == old else slot for slot in statement.slots)
        return replace(statement, slots=(red, green, blue, alpha))
    assert isinstance(statement, ir.Input | ir.Assign | ir.Load | ir.Derivative)
    return replace(statement, slot=new)


# SSA renaming: analyses know more about a slot with a single assignment.


def to_ssa(program: ir.Program) -> ir.Program:
    """Rename slots so that each is assigned once; programs with control flow are returned
    unchanged.
    """
    return _to_ssa(program) if _is_straight(program) else program


@identity_cached()
def _is_straight(program: ir.Program) -> bool:
    return not any(ir.blocks(s) or isinstance(s, ir.Break) for s in program.statements)


@identity_cached()
def _to_ssa(program: ir.Program) -> ir.Program:
    places = Counter(slot for s in ir.walk(program.statements) for slot in ir.written(s))
    names: dict[int, ir.Slot] = {}
    types = [*program.slots]
    done: list[ir.Statement] = []
    for statement in polled(program.statements):
        read = {f: _renamed(getattr(statement, f), names) for f in statement.__struct_fields__}
        fresh = {
            slot: _fresh_slot(types, slot) for slot in ir.written(statement) if places[slot] > 1
        }
        names |= {slot: ir.Slot(number) for slot, number in fresh.items()}
        done.append(replace(statement, **(read | _renamed_results(read, fresh))))
    return replace(program, slots=tuple(types), statements=tuple(done))


def _fresh_slot(types: list[Type], slot: int) -> int:
    """Append a slot of the type of ``slot`` to ``types`` and return its number."""
    types.append(types[slot])
    return len(types) - 1


def _renamed(value: Any, names: dict[int, ir.Slot]) -> Any:
    """Return a statement's field with slots replaced by ``names``, whose keys are slot numbers."""
    if isinstance(value, ir.Slot):
        return names.get(value.number, value)
    if isinstance(value, ir.Address):
        return replace(value, index=_renamed(value.index, names))
    return tuple(_renamed(each, names) for each in value) if isinstance(value, tuple) else value


def _renamed_results(read: dict[str, Any], fresh: dict[int, int]) -> dict[str, Any]:
    """Return a statement's result ``slot`` or ``slots``, as in ``read``, renamed by ``fresh``."""
    if "slot" in read:
        return {"slot": fresh.get(read["slot"], read["slot"])}
    if "slots" in read:
        return {"slots": tuple(fresh.get(slot, slot) for slot in read["slots"])}
    return {}


def without_unused_slots(program: ir.Program) -> ir.Program:
    """Renumber slots so that there are only those that statements read or write."""
    every = [*ir.walk(program.statements)]
    used = [
        *(slot for each in every for slot in ir.written(each)),
        *(
            read.number
            for each in every
            for read in ir.operands(each)
            if isinstance(read, ir.Slot)
        ),
    ]
    numbers = {slot: number for number, slot in enumerate(dict.fromkeys(used))}
    names = {slot: ir.Slot(number) for slot, number in numbers.items()}
    slots = tuple(program.slots[slot] for slot in numbers)
    statements = _renumbered(program.statements, names, numbers)
    return replace(program, slots=slots, statements=statements)


def _renumbered(statements: Block, names: dict[int, ir.Slot], numbers: dict[int, int]) -> Block:
    return tuple(_renamed_statement(each, names, numbers) for each in statements)


def _renamed_statement(
    statement: ir.Statement, names: dict[int, ir.Slot], numbers: dict[int, int]
) -> ir.Statement:
    """Return a statement, with nested ones, that reads slots as ``names`` and writes slots as
    ``numbers`` have them.
    """
    fields = {name: getattr(statement, name) for name in statement.__struct_fields__}
    read = {
        name: _renumbered(value, names, numbers) if name in _BLOCKS else _renamed(value, names)
        for name, value in fields.items()
    }
    return replace(statement, **(read | _renamed_results(read, numbers)))


_BLOCKS = {"then", "otherwise", "body"}
"""Names of the fields of statements that are blocks."""


# Mask elision: a slot that one statement writes, and that is read only later in the same block or
# in blocks nested in it, is never read in a lane that was inactive at the write.  The values of
# inactive lanes are unobservable, so engines write all lanes and omit the select.


@identity_cached()
def temporaries(program: ir.Program) -> frozenset[int]:
    """Return the slots that a statement may also write in inactive lanes, as no lane reads that.

    Operands of derivatives and samples are not among them: those read the values of other lanes.
    """
    results = Counter[int]()
    for statement in ir.walk(program.statements):
        results.update(ir.written(statement))
    search = _ExposureAnalysis()
    search.block(program.statements)
    once = {slot for slot, count in results.items() if count == 1}
    return frozenset(once - search.exposed)


class _ExposureAnalysis(msgspec.Struct):
    """Finds ``exposed``: the slots that a statement may read before any has written them.

    Operands of derivatives and samples always count.  ``visible`` are the slots written so far in
    the current block and those around it.
    """

    visible: set[int] = msgspec.field(default_factory=set)
    exposed: set[int] = msgspec.field(default_factory=set)

    def block(self, statements: tuple[ir.Statement, ...]) -> None:
        fresh: list[int] = []
        for statement in statements:
            read = {each.number for each in ir.operands(statement) if isinstance(each, ir.Slot)}
            crosses = isinstance(statement, ir.Derivative | ir.Sample)
            self.exposed |= read if crosses else read - self.visible
            for block in ir.blocks(statement):
                self.block(block)
            fresh += [slot for slot in ir.written(statement) if slot not in self.visible]
            self.visible.update(ir.written(statement))
        self.visible.difference_update(fresh)

"""Recorded statements made shorter without changing what they do.

A builder computes into a fresh slot and then copies to the variable.  Where nothing else reads
the fresh slot, and nothing between the two touches the variable or changes which lanes are
active, the computation goes straight into the variable.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import field, replace

from dp2emu.records import dataclass
from dp2emu.shader.ir import (
    Access,
    Assign,
    Break,
    Derivative,
    Fetch,
    If,
    Input,
    Load,
    Loop,
    Sample,
    Slot,
    Statement,
    operands,
    walk,
    written,
)

COPIES = ("mov", "imov", "bmov")

_NARROWING = {If, Loop, Break}
"""Statements that change which lanes are active."""

Block = tuple[Statement, ...]


def tidy(statements: Block) -> Block:
    """The statements without needless copies.  The slots that this frees stay unused."""
    every = [*walk(statements)]
    results = Counter([slot for each in every for slot in written(each)])
    uses = Counter([
        read.number for each in every for read in operands(each) if isinstance(read, Slot)
    ])  # fmt: skip
    single = {slot for slot in uses if uses[slot] == results[slot] == 1}
    return _Coalescer(frozenset(single)).block(statements)


@dataclass(slots=True)
class _Segment:
    """Statements of a block between changes of the active lanes.

    ``results`` has the place of the statement that wrote a slot, ``touched`` that of the last
    statement that read or wrote it.
    """

    results: dict[int, int] = field(default_factory=dict)
    touched: dict[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Coalescer:
    """``single`` are the slots that are written once and read once."""

    single: frozenset[int]

    def block(self, statements: Block) -> Block:
        done: list[Statement] = []
        segment = _Segment()
        for statement in statements:
            if type(statement) in _NARROWING:
                segment = _Segment()
                done.append(self.nested(statement))  # type: ignore[arg-type]
            elif not self.coalesced(done, segment, statement):
                self.record(segment, len(done), statement)
                done.append(statement)
        return tuple(done)

    def nested(self, statement: If | Loop | Break) -> Statement:
        if isinstance(statement, If):
            return If(
                statement.condition, self.block(statement.then), self.block(statement.otherwise)
            )
        if isinstance(statement, Loop):
            return Loop(self.block(statement.body), statement.limit)
        return statement

    def coalesced(self, done: list[Statement], segment: _Segment, copy: Statement) -> bool:
        """Whether a copy was made needless by writing its slot where its operand was computed."""
        if not isinstance(copy, Assign) or copy.op not in COPIES:
            return False
        (source,) = copy.operands
        if not isinstance(source, Slot) or source.number not in self.single:
            return False
        place = segment.results.get(source.number)
        # The statement itself may read the slot, for it writes last, but not write it as well.
        if place is None or segment.touched.get(copy.slot, -1) > place:
            return False
        if copy.slot in written(done[place]):
            return False
        done[place] = _writing(done[place], source.number, copy.slot)
        segment.results[copy.slot] = segment.touched[copy.slot] = place
        return True

    def record(self, segment: _Segment, place: int, statement: Statement) -> None:
        for operand in operands(statement):
            if isinstance(operand, Slot):
                segment.touched[operand.number] = place
        for slot in written(statement):
            segment.results[slot] = segment.touched[slot] = place


def _writing(statement: Statement, old: int, new: int) -> Statement:
    """The statement with its result ``old`` in the slot ``new``."""
    if isinstance(statement, Sample | Fetch | Access):
        red, green, blue, alpha = (new if slot == old else slot for slot in statement.slots)
        return replace(statement, slots=(red, green, blue, alpha))
    assert isinstance(statement, Input | Assign | Load | Derivative)
    return replace(statement, slot=new)

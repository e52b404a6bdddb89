"""Which slots need no mask.

A slot that is written by one statement, and read only after it in the same block or inside that,
is never read in a lane where it was not just written.  What it holds in the lanes that are off
can be seen by nobody, so an engine may write all lanes and save the selection.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import field

from dp2emu.records import dataclass
from dp2emu.shader.ir import (
    Derivative,
    Program,
    Sample,
    Slot,
    Statement,
    blocks,
    of_program,
    operands,
    walk,
    written,
)


@of_program
def temporaries(program: Program) -> frozenset[int]:
    """Numbers of such slots.  Derivatives and samples look at other lanes, which rules out what
    they read."""
    results = Counter[int]()
    for statement in walk(program.statements):
        results.update(written(statement))
    search = _Search()
    search.block(program.statements)
    once = {slot for slot, count in results.items() if count == 1}
    return frozenset(once - search.exposed)


@dataclass(slots=True)
class _Search:
    """``visible`` are the slots written so far in the blocks that are open."""

    visible: set[int] = field(default_factory=set)
    exposed: set[int] = field(default_factory=set)

    def block(self, statements: tuple[Statement, ...]) -> None:
        before = set(self.visible)
        for statement in statements:
            read = {each.number for each in operands(statement) if isinstance(each, Slot)}
            crosses = isinstance(statement, Derivative | Sample)
            self.exposed |= read if crosses else read - self.visible
            for block in blocks(statement):
                self.block(block)
            self.visible.update(written(statement))
        self.visible = before

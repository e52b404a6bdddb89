#!/usr/bin/env python3
"""Break the lowering of every shader opcode on purpose, and see that a test notices.

    python tools/mutate_opcodes.py [NAME ...]

An opcode with a result is broken by adding to each of its components in turn, and by writing
nothing; one that does something else by doing nothing.  Prints a tally for each opcode and what
was not noticed, and exits with 1 if anything was not.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from dp2emu.shader.sm import lower
from dp2emu.shader.sm.lower.arithmetic import Evaluate
from dp2emu.shader.sm.lower.lowering import Lowering, Result
from dp2emu.shader.sm.opcodes import Op
from dp2emu.shader.sm.program import Instruction
from dp2emu.shader.sm.versions import VERSIONS, Version
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value
from tests.shader.sm.lower.models import MODELS
from tests.shader.sm.lower.test_arithmetic import (
    test_opcode_computes_what_its_model_does as holds_against_its_model,
)

FOLDER = Path(__file__).resolve().parents[1] / "tests" / "shader" / "sm" / "lower"
OTHERS = ("test_operands", "test_flow", "test_early", "test_texture", "test_outputs")

Tables = tuple[dict[Op, Evaluate], ...]


class Broken:
    """A row that computes something else.  ``used`` tells whether it ever did."""

    def __init__(self, row: Evaluate, component: int | None) -> None:
        self.row, self.component = row, component
        self.used = False

    def __call__(self, low: Lowering, instruction: Instruction) -> Result:
        result = self.row(low, instruction)
        if self.component is None:
            self.used = True
            return {}
        if self.component in set(result) & set(instruction.target.components):
            self.used = True
            result[self.component] = _another(result[self.component])
        return result


def _another(value: Value) -> Value:
    if value.type is Type.BOOL:
        return ~value
    return value + (1 if value.type is Type.I32 else 1.0)


def noticed(op: Op) -> bool:
    """Whether the tests of an opcode fail now."""
    if op in MODELS:
        return not all(_passes(op, version) for version in VERSIONS if op.row.form(version))
    chosen = [str(FOLDER / f"{name}.py") for name in OTHERS]
    with contextlib.redirect_stdout(io.StringIO()):
        return pytest.main(["-x", "-q", "-p", "no:cacheprovider", *chosen]) != 0


def _passes(op: Op, version: Version) -> bool:
    try:
        holds_against_its_model(op, version)
    except (AssertionError, LookupError):  # of a value, or of an output that is not there
        return False
    return True


def broken(op: Op) -> Iterator[tuple[str, bool]]:
    """(what is wrong, whether a test notices), for each way to break an opcode."""
    if op in lower.EFFECTS:
        right = lower.EFFECTS[op]
        lower.EFFECTS[op] = lambda low, instruction: None
        yield "left out", noticed(op)
        lower.EFFECTS[op] = right
        return
    for table in (lower._EVALUATE_1_0, lower._EVALUATE):
        if op in table:
            yield from _broken_in(table, op)


def _broken_in(table: dict[Op, Evaluate], op: Op) -> Iterator[tuple[str, bool]]:
    right = table[op]
    for component in (None, 0, 1, 2, 3):
        row = table[op] = Broken(right, component)
        found = noticed(op)
        if row.used:
            yield "nothing written" if component is None else f"component {component}", found
    table[op] = right


def main() -> int:
    """Print a line for each opcode."""
    parser = argparse.ArgumentParser(description="Break every shader opcode on purpose.")
    rows = {**lower.EFFECTS, **lower._EVALUATE_1_0, **lower._EVALUATE}
    every = {op.name: op for op in rows if op not in (Op.NOP, Op.PHASE)}
    parser.add_argument("names", nargs="*", metavar="NAME", default=list(every))
    total, missed = 0, []
    for name in parser.parse_args().names:
        found = list(broken(every[name]))
        total += len(found)
        lost = [f"{name}: {what}" for what, caught in found if not caught]
        missed += lost
        print(f"{name:<13} broken {len(found)}  noticed {len(found) - len(lost)}", flush=True)
    print(f"{total} broken rows, {total - len(missed)} noticed")
    print(*(f"not noticed: {each}" for each in missed), sep="\n", end="\n" if missed else "")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())

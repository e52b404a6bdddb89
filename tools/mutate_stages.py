#!/usr/bin/env python3
"""Break the operations of texture stages on purpose, and see that a test notices.

    python tools/mutate_stages.py [NAME ...]

An operation is broken by giving it the formula of every other one, by adding to each of its
components in turn, and by forgetting what it reads.  Prints a tally for each operation and what
was not noticed, and exits with 1 if anything was not.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from dp2emu.d3d.enums import TextureOp
from dp2emu.shader.fixed.pixel import OPERATIONS, Formula, Operands, Operation, pixel_program
from dp2emu.shader.values import Value
from tests.shader.fixed import test_operations as tests

TESTS = (
    tests.test_operation_combines_colours_as_documented,
    tests.test_operation_combines_alphas_as_documented,
    tests.test_operation_says_which_arguments_it_reads,
    tests.test_what_reads_the_texture_is_known_without_the_program,
)


def _raised(formula: Formula, component: int) -> Formula:
    """The formula, off by a quarter in one component; towards the middle, since 0..1 clamps."""

    def wrong(operands: Operands, c: int) -> Value:
        value = formula(operands, c)
        if c != component:
            return value
        return value.builder.select(value < 0.5, value + 0.25, value - 0.25)

    return wrong


def _same(one: Operation, other: Operation) -> bool:
    return one.formula is other.formula and one.replicated is other.replicated


def changes(op: TextureOp) -> Iterator[tuple[str, Operation]]:
    """(what is wrong, the wrong row) for each way to break an operation."""
    right = OPERATIONS[op]
    for other, row in OPERATIONS.items():
        if not _same(right, row):
            yield (
                f"as {other.name}",
                right._replace(formula=row.formula, replicated=row.replicated),
            )
    for component in range(4):
        yield f"component {component}", right._replace(formula=_raised(right.formula, component))
    for number in right.arguments:
        rest = tuple(each for each in right.arguments if each != number)
        yield f"without argument {number}", right._replace(arguments=rest)
    if right.source is not None and right.source.name == "TEXTURE":
        yield "without its texture", right._replace(source=None)


def noticed(op: TextureOp) -> bool:
    """Whether the tests of an operation fail now."""
    pixel_program.cache_clear()
    for test in TESTS:
        try:
            test(op)
        except AssertionError:
            return True
    return False


def broken(op: TextureOp) -> Iterator[tuple[str, bool]]:
    """(what is wrong, whether a test notices)."""
    right = OPERATIONS[op]
    try:
        for what, row in list(changes(op)):
            OPERATIONS[op] = row
            yield what, noticed(op)
    finally:
        OPERATIONS[op] = right
        pixel_program.cache_clear()


def main() -> int:
    """Print a line for each operation."""
    parser = argparse.ArgumentParser(description="Break every operation of stages on purpose.")
    every = [op.name for op in TextureOp]
    parser.add_argument("names", nargs="*", metavar="NAME", default=every)
    total, missed = 0, []
    for name in parser.parse_args().names:
        found = list(broken(TextureOp[name]))
        total += len(found)
        lost = [f"{name}: {what}" for what, caught in found if not caught]
        missed += lost
        print(f"{name:<25} broken {len(found):2}  noticed {len(found) - len(lost)}", flush=True)
    print(f"{total} broken rows, {total - len(missed)} noticed")
    print(*(f"not noticed: {each}" for each in missed), sep="\n", end="\n" if missed else "")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())

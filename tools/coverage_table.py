#!/usr/bin/env python3
"""Writes ``docs/coverage.rst``: which opcodes are decoded, executed and tested.

    python tools/coverage_table.py

Nothing of it is claimed by hand.  Decoded: the walk takes each sample of the row for one token of
its kind.  Executed: the opcode did what it says somewhere in ``streams`` or
in the first random streams (``random_streams.py``), or, if it is an answer, was written there.
Tested: a test names it.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import random_streams
from token_table import simple_table

from dp2emu.capture import open_capture
from dp2emu.capture.records import Answered
from dp2emu.d3d.dp2structs import Op
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.table import TABLE
from dp2emu.dp2.walk import scan
from dp2emu.replay import replay

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "coverage.rst"
SEEDS = range(3)
ANSWERS = (Op.RESPONSECONTINUE, Op.RESPONSEQUERY)
"""What only a driver writes (wire format, "Responses")."""

REFUSED = Op.EXT
"""Executed by refusing it: nobody documents what it means."""

TABLES = {"test_table.py", "test_walk.py", "test_walker_bugs.py"}
"""Tests that go through all opcodes, and so say little of one."""

_NAMED = 3
_HEADS = ("op", "opcode", "decoded", "executed", "tested", "streams that have it")


class Covered(NamedTuple):
    """What is true of an opcode."""

    decoded: bool
    executed: bool
    tested: bool
    streams: tuple[str, ...]


@cache
def coverage() -> Mapping[Op, Covered]:
    """Every opcode that has a name."""
    ops = sorted({*map(Op, TABLE), *ANSWERS})
    inside = {path.stem: executed_in(path) for path in sorted((ROOT / "streams").glob("*.dp2"))}
    by_chance = {op for seed in SEEDS for op in chance(seed)}
    named = set(named_in_tests())
    return {
        op: Covered(
            op in ANSWERS or decoded(op),
            op in by_chance or any(op in found for found in inside.values()),
            op.name in named,
            tuple(name for name, found in inside.items() if op in found),
        )
        for op in ops
    }


def decoded(op: Op) -> bool:
    """Whether the walk takes every sample for one token of its kind."""
    samples = TABLE[op].samples
    scans = [scan(sample, 0, len(sample), 32) for sample in samples]
    return bool(samples) and all(
        found.problem is None and [command[1].op for command in found.commands] == [op]
        for found in scans
    )


def executed_in(path: Path) -> set[Op]:
    """What a stream executes, and what its answers consist of."""
    driver, found = Driver(), set[Op]()
    driver.command_taps.append(lambda call, number, token, offset: found.add(token.op))
    with open_capture(path) as capture:
        replay(capture, rig=driver)
    with open_capture(path) as capture:
        for record in capture.records():
            if isinstance(record, Answered):
                found |= set(blocks_of(record.answer.response))
    return found


def blocks_of(response: bytes) -> Iterator[Op]:
    """What the blocks of a response buffer are."""
    at = 0
    while at < len(response):
        op, size = struct.unpack_from("<B3xI", response, at)
        yield Op(op)
        at += size


def chance(seed: int) -> set[Op]:
    """What a random stream executes."""
    played = random_streams.play(seed, 1000)
    return set(played.executed) | ({REFUSED} & set(played.refused))


def named_in_tests() -> Iterator[str]:
    """Opcodes as tests name them."""
    for path in (ROOT / "tests").rglob("test_*.py"):
        if path.name not in TABLES:
            yield from re.findall(r"\bOp\.([A-Z0-9_]+)\b", path.read_text("utf-8"))


def _shortened(streams: tuple[str, ...]) -> str:
    """The first of them, and how many more there are."""
    more = len(streams) - _NAMED
    return ", ".join(streams[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def page() -> str:
    """The text of ``docs/coverage.rst``."""
    found = coverage()
    total = len(found)
    done = [(row.decoded, row.executed, row.tested) for row in found.values()]
    counts = [sum(column) for column in zip(*done, strict=True)]
    title = "Coverage of opcodes"
    rows = [
        (
            str(int(op)), op.name, *("yes" if each else "-" for each in row[:3]),
            _shortened(row.streams),
        )
        for op, row in found.items()
    ]  # fmt: skip
    lines = [
        title, "=" * len(title), "",
        "``tools/coverage_table.py`` measures coverage and writes this page.  An opcode is",
        "decoded if its sample tokens are parsed, executed if a stream of ``streams`` or a",
        "random stream executes it, and tested if a test names it.  The driver executes EXT by",
        "refusing it.  It writes the two response opcodes itself.", "",
        f"{counts[0]} of {total} opcodes are decoded, {counts[1]} of {total} executed, "
        f"{counts[2]} of {total} tested.", "",
    ]  # fmt: skip
    return "\n".join(lines) + "\n" + simple_table([_HEADS, *rows])


def main() -> None:
    """Rewrite the page."""
    PAGE.write_text(page(), "utf-8", newline="\n")


if __name__ == "__main__":
    main()

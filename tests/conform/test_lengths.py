"""Cases of two tokens in a row, and drivers that misread the size of a token."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from msgspec.structs import replace

from dp2emu.conform import Case, Verdict, kit, run_case
from dp2emu.dp2.call import Answer, Call
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.options import Options
from dp2emu.dp2.table import TABLE, Op, Token
from dp2emu.dp2.walk import HEADER_BYTES, Command, decode, scan

REFERENCE = Options(engine="reference")
CASES = {case.name: case for case in kit("walk.two")}
FAMILY = "walk.two."

Parts = Sequence[tuple[int, int]]
"""Sizes of a token's items, each with the size of the bytes behind it."""
Rule = Callable[[int, Parts], int]
"""The payload's size that a driver reads, from the size of the head and the items."""


def one_item(head: int, items: Parts) -> int:
    return head + sum(items[0]) if items else head


def no_tails(head: int, items: Parts) -> int:
    return head + sum(item for item, _ in items)


def first_tail(head: int, items: Parts) -> int:
    return head + sum(item + items[0][1] for item, _ in items)


def last_tail(head: int, items: Parts) -> int:
    return head + sum(item + items[-1][1] for item, _ in items)


def no_head(head: int, items: Parts) -> int:
    return sum(map(sum, items))


RULES: tuple[Rule, ...] = (one_item, no_tails, first_tail, last_tail, no_head)


class Misreading(Driver):
    """A driver that goes on at the wrong place behind each token ``row``.

    ``hit`` says whether it ever does.
    """

    def __init__(self, row: Token, rule: Rule) -> None:
        super().__init__(options=REFERENCE)
        self.row, self.rule, self.hit = row, rule, False

    def submit(self, call: Call) -> Answer:
        data, at = call.commands or b"", 0
        while at < len(data):
            found = scan(data, at, len(data), call.dwVertexSize).commands
            if not found:
                break
            end = Command(*found[1]).offset if len(found) > 1 else len(data)
            if data[at] == self.row.op:
                wrong = at + HEADER_BYTES + self.rule(*self.parts(data[at:end]))
                self.hit |= wrong != end
                data = data[:end] + data[wrong:]
            at = end
        return super().submit(replace(call, commands=data, dwCommandLength=len(data)))

    def parts(self, token: bytes) -> tuple[int, Parts]:
        row, n, at, head, items = self.row, token[2] + 256 * token[3], HEADER_BYTES, None, []
        if row.head_dtype is not None:
            head = np.frombuffer(token, row.head_dtype, 1, at)[0]
            at += row.head_dtype.itemsize
        start = at
        for _ in range(row.number(n, head) if row.item_dtype is not None else 0):
            assert row.item_dtype is not None
            item = np.frombuffer(token, row.item_dtype, 1, at)[0]
            tail = row.tail.size(item) if row.tail else 0
            items.append((row.item_dtype.itemsize, tail))
            at += sum(items[-1])
        return start - HEADER_BYTES, items


def row_of(case: Case) -> Token:
    return TABLE[Op[case.name.removeprefix(FAMILY).upper()]]


def misread(case: Case) -> list[str]:
    """Rules with which a token of the case has another size and the case does not fail."""
    passed = []
    for rule in RULES:
        rig = Misreading(row_of(case), rule)
        outcome = run_case(case, rig)
        if rig.hit and outcome.verdict is not Verdict.FAILED:
            passed.append(f"{case.name} {rule.__name__}: {outcome.verdict.value}")
    return passed


@pytest.mark.parametrize("ddi", (6, 7, 8, 9))
def test_the_emulator_reads_two_tokens_in_a_row(ddi: int) -> None:
    driver = Driver(options=REFERENCE)
    outcomes = [run_case(case, driver) for case in kit("walk.two", ddi=ddi)]
    assert [(o.case.name, o.why) for o in outcomes if o.verdict is not Verdict.PASSED] == []


@pytest.mark.parametrize("ddi", (6, 7, 8, 9))
def test_every_token_of_several_parts_has_a_case(ddi: int) -> None:
    """Of the table's tokens that the version has; the others have a size of one part."""
    parted = {row.op for row in TABLE.values()
              if (row.items or row.vertices) and row.since <= ddi}  # fmt: skip
    assert {row_of(case).op for case in kit("walk.two", ddi=ddi)} == parted - {Op.EXT}


@pytest.mark.parametrize("ddi", (6, 7, 8, 9))
def test_tokens_with_a_variable_part_have_it_in_different_sizes(ddi: int) -> None:
    for case in kit("walk.two", ddi=ddi):
        row, last = row_of(case), case.calls[-1].call
        if row.tail is None:
            continue
        found = scan(last.commands or b"", 0, last.dwCommandLength, last.dwVertexSize)
        tails = [
            row.tail.size(item)
            for each in (Command(*made) for made in found.commands)
            if each.token.op == row.op
            for item in decode(row, last.commands or b"", each.n, each.start, each.end).items
        ]
        assert len(set(tails)) > 1 and any(tails), case.name


@pytest.mark.parametrize("name", CASES)
def test_the_tokens_of_a_case_follow_each_other(name: str) -> None:
    row, last = row_of(CASES[name]), CASES[name].calls[-1].call
    found = scan(last.commands or b"", 0, last.dwCommandLength, last.dwVertexSize)
    ops = [Command(*each).token.op for each in found.commands]
    assert [row.op, row.op] in [ops[at : at + 2] for at in range(len(ops))]


TAILED = sorted(name for name in CASES if row_of(CASES[name]).tail or row_of(CASES[name]).head)


@pytest.mark.parametrize("name", TAILED)
def test_the_wrong_size_of_a_part_fails_its_case(name: str) -> None:
    assert misread(CASES[name]) == []


@pytest.mark.slow
@pytest.mark.parametrize("ddi", (6, 7, 8, 9))
def test_the_wrong_size_of_a_token_fails_its_case_in_each_version(ddi: int) -> None:
    assert [each for case in kit("walk.two", ddi=ddi) for each in misread(case)] == []

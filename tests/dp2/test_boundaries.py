"""Each call of the boundary table returns its code and its offset, and changes nothing past it."""

from __future__ import annotations

from typing import Any

import pytest

from dp2emu.d3d.enums import QueryType
from dp2emu.dp2.states.inspect import facts_of
from dp2emu.dp2.table import TABLE
from dp2emu.dp2.walk import scan
from dp2emu.errors import Dp2Error
from tests.dp2.boundaries import AHEAD, BEFORE, EVENT_ID, STATE, VERTEX, Case, cases, whole
from tests.dp2.rigging import COLOR, COMMANDS, DEPTH, Bench, create, rectangle, render_state

SIZES = {COLOR: 64 * 64 * 4, DEPTH: 64 * 64 * 4}
QUAD = rectangle(0, 0, 8, 8)


class Stand:
    """A device that is brought back to the same state before each call."""

    def __init__(self) -> None:
        self.bench = Bench(buffer=4096)
        self.bench.ok(create(EVENT_ID, QueryType.EVENT))
        self.bench.ok(render_state(STATE, BEFORE))
        self.idle = self.facts()
        self.bench.settle(AHEAD)
        self.begun = self.facts()

    def facts(self) -> dict[str, Any]:
        context = self.bench.driver.context(1)
        assert context is not None
        return facts_of(context)

    def pixels(self) -> list[bytes]:
        return [self.bench.driver.read(handle, 0, size) for handle, size in SIZES.items()]

    def check(self, case: Case) -> None:
        bench = self.bench
        bench.ok(render_state(STATE, BEFORE))
        start = case.fields.get("dwCommandOffset", 0) if case.begun else 0
        bench.driver.write(COMMANDS, start, case.commands)
        memory, pixels = bench.memory(), self.pixels()
        given = case.commands if case.begun else b""  # which is there already
        answer = bench.call(given, QUAD, **case.fields)
        assert (answer.ddrval, answer.dwErrorOffset) == (case.ddrval, case.offset)
        assert answer.response == b""
        assert (bench.memory(), self.pixels()) == (memory, pixels)
        assert bench.results() == ({EVENT_ID: b"\1\0\0\0"} if case.begun else {})
        assert self.facts() == (self.begun if case.begun else self.idle)


@pytest.mark.parametrize("op", sorted(TABLE))
def test_a_call_fails_at_its_first_token_that_is_none(op: int) -> None:
    stand, table = Stand(), cases(op)
    assert len(table) >= 12
    for case in table:
        try:
            stand.check(case)
        except AssertionError as error:
            raise AssertionError(f"{TABLE[op].name}: {case.name}: {error}") from error


@pytest.mark.parametrize("op", sorted(TABLE))
@pytest.mark.parametrize("value", [0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF])
def test_a_token_of_extremes_is_done_or_fails_where_it_lies(op: int, value: int) -> None:
    token = whole(TABLE[op])
    commands = AHEAD + token[:4] + (value.to_bytes(4, "little") * len(token))[: len(token) - 4]
    bench = Stand().bench
    try:
        answer = bench.call(commands, QUAD, dwVertexSize=VERTEX)
    except Dp2Error as error:
        assert error.offset == len(AHEAD)
        return
    if answer.fault is not None:
        # Sizes of 0 make a shorter token, and the rest of it the next one.
        found = scan(commands, 0, len(commands), VERTEX)
        assert answer.dwErrorOffset in {*(each[0] for each in found.commands[2:]), found.stop}
        assert answer.response == b""
        assert EVENT_ID in bench.results()


def test_every_size_field_that_is_all_ones_is_refused_where_its_token_lies() -> None:
    for row in TABLE.values():
        if row.tail is None:
            continue
        token = whole(row)
        broken = token[:4] + b"\xff" * (row.item_dtype.itemsize if row.item_dtype else 0)
        answer = Stand().bench.call(AHEAD + broken + token[len(broken) :], QUAD)
        assert answer.dwErrorOffset == len(AHEAD), row.name
        assert answer.ddrval != 0

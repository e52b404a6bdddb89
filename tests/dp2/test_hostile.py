"""Any command bytes end in an answer or in one clear error with its place."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.d3d.enums import QueryType
from dp2emu.dp2.generate import generate
from dp2emu.dp2.table import TABLE
from dp2emu.errors import Dp2Error
from dp2emu.limits import Limits
from tests.dp2.rigging import END, Bench, create, issue, rectangle

VERTICES = rectangle(0, 0, 8, 8)
LIMITS = Limits(extent=256, surface_bytes=1 << 20, total_bytes=1 << 22, surfaces=64)
BENCH = Bench(buffer=1 << 16, limits=LIMITS)


def submit(commands: bytes) -> None:
    """Run commands on a device that has seen much; only Dp2Error with a place may come out."""
    commands = commands[: 1 << 16]
    try:
        answer = BENCH.call(commands, VERTICES)
    except Dp2Error as error:
        assert error.offset is not None
        assert error.token is not None
        assert str(error)
        return
    if answer.fault is not None:
        assert answer.ddrval != 0
        assert answer.dwErrorOffset <= len(commands)
        assert answer.response == b""


@given(st.binary(max_size=300))
def test_random_bytes(commands: bytes) -> None:
    submit(commands)


@pytest.mark.parametrize("op", sorted(TABLE))
def test_valid_tokens_with_random_contents(op: int) -> None:
    rng = random.Random(op)
    for _ in range(20):
        submit(generate(TABLE[op], rng, vertex_size=20))


@pytest.mark.parametrize("op", sorted(TABLE))
def test_valid_tokens_with_a_flipped_bit(op: int) -> None:
    rng = random.Random(1000 + op)
    for _ in range(20):
        commands = bytearray(generate(TABLE[op], rng, vertex_size=20))
        commands[rng.randrange(len(commands))] ^= 1 << rng.randrange(8)
        submit(bytes(commands))


def test_the_device_still_answers_after_all_that() -> None:
    bench = Bench()
    rng = random.Random(5)
    for op in sorted(TABLE):
        try:
            bench.call(generate(TABLE[op], rng, vertex_size=20)[:4096], VERTICES)
        except Dp2Error:
            continue
    assert bench.results(create(777, QueryType.EVENT) + issue(777, END))[777] == b"\1\0\0\0"

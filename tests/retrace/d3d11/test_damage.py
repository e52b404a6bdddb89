"""Traces of Direct3D 10 and 11 with senseless calls: results, losses or one error of ours."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from io import BytesIO
from random import Random
from typing import Any

import msgspec
import pytest

from dp2emu.capture import CaptureWriter
from dp2emu.capture.apitrace import TraceCall
from dp2emu.capture.apitrace.values import MISSING, Enum, Pointer, Struct
from dp2emu.capture.records import Record
from dp2emu.dp2.driver import Driver
from dp2emu.errors import CaptureError
from dp2emu.retrace import importing
from dp2emu.retrace.program import Program
from tests.capture.apitrace.encoder import Encoder, header, snappy
from tests.capture.apitrace.samples import opened
from tests.retrace.d3d11 import context_rows, creation_rows
from tests.retrace.d3d11.played import Played

DAMAGED = 816
"""The number of damaged traces that the whole run tries."""
_NUMBERS = (0, 1, -1, 100, 16384, 65535, 1 << 31, (1 << 32) - 1, 1 << 63, -(1 << 63))
_MOST = 64
"""A bound for the records of a call, on average."""


@cache
def calls_of(version: int) -> tuple[TraceCall, ...]:
    """The calls of a program that plays every row of contexts and creations."""
    program, old = Played(version), version == 10
    for row in [*creation_rows.ROWS, *context_rows.ROWS]:
        for interface in row.interfaces.split():
            if interface.startswith("ID3D10") == old:
                program.of(row.this, f"{interface}::{row.name}", **row.arguments)
    numbered = enumerate(program.calls)
    return tuple(msgspec.structs.replace(each, number=number) for number, each in numbered)


def damaged(calls: Sequence[TraceCall], random: Random) -> list[TraceCall]:
    """The calls with some that are lost, exchanged, or have values of others or of other types."""
    found = list(calls)
    pool = [value for each in calls for value in each.arguments] + [None, MISSING, "x", 1.5, ()]
    for _ in range(random.choice((3, 30))):
        place = random.randrange(len(found))
        kind = random.randrange(4)
        if kind == 0:
            found[place] = random.choice(found)
        elif kind == 1 and len(found) > 1:
            del found[place]
        else:
            found[place] = _changed(found[place], pool, random)
    return found


def _changed(call: TraceCall, pool: list[Any], random: Random) -> TraceCall:
    given = list(call.arguments)
    if given:
        place = random.randrange(len(given))
        given[place] = _value(given[place], pool, random)
    return msgspec.structs.replace(call, arguments=tuple(given))


def _value(value: Any, pool: list[Any], random: Random) -> Any:
    """Another value, mostly of the same type."""
    if random.random() < 0.2:
        return random.choice(pool)
    if isinstance(value, tuple) and value:
        place = random.randrange(len(value))
        longer = value * random.choice((1, 1, 20))
        return (*longer[:place], _value(value[place], pool, random), *longer[place + 1 :])
    if isinstance(value, Struct):
        return Struct(value.signature, _value(value.members, pool, random))
    if isinstance(value, Pointer):
        return random.choice([each for each in pool if isinstance(each, Pointer)])
    if isinstance(value, Enum):
        return Enum(value.signature, random.choice(_NUMBERS))
    if isinstance(value, bytes) and value:
        place = random.randrange(len(value))
        return random.choice((value[:place], value[:place] + b"\xff" + value[place + 1 :]))
    if isinstance(value, float):
        return random.choice((float("nan"), float("inf"), -1e30))
    return random.choice(_NUMBERS) if isinstance(value, int) else random.choice(pool)


def _play(calls: Sequence[TraceCall]) -> int:
    """Play calls and write their records; returns the number of losses."""
    records: list[Record] = []
    program = Program(Driver(), records.append)
    for each in calls:
        program.play(each)
    program.end()
    assert len(records) < _MOST * len(calls)
    with CaptureWriter(BytesIO()) as writer:
        for record in records:
            writer.write(record)
    return program.losses.total


@pytest.mark.parametrize("version", [10, 11])
def test_the_program_itself_has_no_losses(version: int) -> None:
    assert _play(calls_of(version)) == 0


@pytest.mark.parametrize("seed", range(4))
def test_damaged_calls_give_results_or_losses(seed: int) -> None:
    calls = calls_of(10 + seed % 2)
    assert _play(damaged(calls, Random(seed))) < len(calls)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(8))
def test_816_damaged_programs_give_results_or_losses(block: int) -> None:
    lost = 0
    for seed in range(block, DAMAGED, 8):
        calls = calls_of(10 + seed % 2)
        lost += _play(damaged(calls, Random(1000 + seed)))
    assert lost > 0


def stream_of(version: int) -> bytes:
    """The calls as the stream of a trace."""
    encoder = Encoder()
    return header() + b"".join(map(encoder.both, calls_of(version)))


class _Counter:
    def __init__(self) -> None:
        self.count = 0

    def write(self, record: Record) -> None:
        self.count += 1


def _survives(data: bytes) -> int:
    """The number of records of an import; anything but a CaptureError is a failure."""
    counter = _Counter()
    try:
        importing(opened(data), counter)
    except CaptureError:
        return 0
    return counter.count


def test_the_stream_of_a_trace_may_be_cut_or_wrong() -> None:
    stream = stream_of(11)
    whole = _survives(snappy(stream))
    for at in range(len(stream) // 4, len(stream), len(stream) // 3):
        assert _survives(snappy(stream[:at])) <= whole
        _survives(snappy(stream[:at] + bytes([stream[at] ^ 0xFF]) + stream[at + 1 :]))

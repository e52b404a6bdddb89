"""The compiled walk finds what the walk finds, whatever the bytes are."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.d3d.dp2structs import Op
from dp2emu.dp2.call import Call
from dp2emu.dp2.generate import generate_stream
from dp2emu.dp2.header_scan import LINEAR, OTHER, TAILS, VERTICES, headers, row_of
from dp2emu.dp2.stream import LONG, CommandStream
from dp2emu.dp2.table import TABLE
from dp2emu.dp2.walk import scan

SAMPLES = [sample for row in TABLE.values() for sample in row.samples]


def agreed(data: bytes, start: int = 0, vertex_size: int = 32, limit: int = 1 << 16) -> int:
    """How many tokens both walks find; they must agree in all."""
    wanted = scan(data, start, len(data), vertex_size, limit=limit)
    found = headers(data, start, len(data), vertex_size, limit=limit)
    assert found.offsets.tolist() == [command[0] for command in wanted.commands]
    assert found.stop == wanted.stop
    assert str(found.problem) == str(wanted.problem)
    return len(found.offsets)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: TABLE[sample[0]].name)
def test_every_token(sample: bytes) -> None:
    assert agreed(sample + sample, vertex_size=8) >= 1
    for end in range(len(sample)):
        agreed(sample[:end])


@given(
    st.lists(st.sampled_from(SAMPLES), min_size=1, max_size=12),
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), max_size=4),
    st.integers(0, 3),
    st.integers(0, 40),
    st.integers(1, 20),
)
def test_tokens_with_damage(
    tokens: list[bytes], damage: list[tuple[int, int]], start: int, vertex_size: int, limit: int
) -> None:
    data = bytearray(bytes(start) + b"".join(tokens))
    for place, value in damage:
        data[start + place % (len(data) - start)] = value
    agreed(bytes(data), start, vertex_size, limit)


@given(st.binary(max_size=200), st.integers(0, 8), st.integers(0, 1 << 33))
def test_any_bytes(data: bytes, start: int, vertex_size: int) -> None:
    agreed(data, min(start, len(data)), vertex_size)


@pytest.mark.parametrize("seed", range(20))
def test_streams_made_from_the_table(seed: int) -> None:
    data = generate_stream(Random(seed), 200)
    agreed(data)
    agreed(data[: len(data) * 2 // 3])


def test_many_tokens_are_found_in_stretches() -> None:
    data = b"".join(sample for sample in SAMPLES if sample[0] in (8, 25)) * 40
    found, at = 0, 0
    while at < len(data):
        stretch = headers(data, at, len(data), limit=7)
        found, at = found + len(stretch.offsets), stretch.stop
    assert found == len(scan(data, 0, len(data)).commands)


def test_rows_are_what_the_table_says() -> None:
    assert row_of(TABLE[Op.RENDERSTATE]) == (LINEAR, 0, 8)
    assert row_of(TABLE[Op.TRIANGLEFAN_IMM]) == (VERTICES, 2, 1, 4)
    assert row_of(TABLE[Op.SETVERTEXSHADERCONST]) == (TAILS, 0, 1, 8, 4, 16)
    assert row_of(TABLE[Op.CREATEVERTEXSHADER]) == (TAILS, 0, 1, 12, 4, 1, 8, 1)
    assert row_of(TABLE[Op.SETLIGHT]) == row_of(TABLE[Op.CLEAR]) == (OTHER,)


@pytest.mark.parametrize("offset", [0, 2])
@pytest.mark.parametrize("end", [b"", b"\xff\x00\x00\x00", b"\x08\x00"])
def test_a_census_is_the_same_for_long_and_short_calls(offset: int, end: bytes) -> None:
    tokens = b"".join(sample for sample in SAMPLES if TABLE[sample[0]].vertices is None)
    repeats = LONG // len(tokens) + 1
    short, long = (
        CommandStream(Call(1, 1, offset, len(data), dwVertexSize=8, commands=data), data)
        for data in (tokens + end, tokens * repeats + end)
    )
    once, often = short.census(), long.census()
    malformed = once.pop("(malformed)")
    assert often.pop("(malformed)") == malformed == bool(end)
    assert np.array_equal([often[name] for name in once], [n * repeats for n in once.values()])

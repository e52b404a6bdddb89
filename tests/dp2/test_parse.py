"""Two readings of the table, construct alone and the compiled walk, agree on any bytes."""

from __future__ import annotations

from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.d3d.dp2structs import Op
from dp2emu.dp2.generate import generate_stream
from dp2emu.dp2.parse import parse, token_construct
from dp2emu.dp2.table import TABLE
from dp2emu.dp2.walk import decode, scan
from dp2emu.fuzz.streams import by_construct, by_view


def assert_agreement(data: bytes, start: int, vertex_size: int) -> None:
    scanned = scan(data, start, len(data), vertex_size)
    parsed = parse(data, start, len(data), vertex_size)
    assert scanned.stop == parsed.stop
    assert (scanned.problem is None) == (parsed.problem is None)
    found = [(offset, token.op) for offset, token, *_ in scanned.commands]
    assert found == [(offset, op) for offset, op, _ in parsed.commands]
    for (_, token, *place), (_, _, fields) in zip(scanned.commands, parsed.commands, strict=True):
        viewed = by_view(token, decode(token, data, *place, vertex_size))
        assert viewed == by_construct(fields)


@given(st.integers(0, 2**32), st.integers(0, 5), st.sampled_from([16, 20, 32]))
def test_both_readings_agree_on_valid_streams(seed: int, start: int, vertex_size: int) -> None:
    data = generate_stream(Random(seed), 6, start=start, vertex_size=vertex_size)
    assert_agreement(bytes(start) + data, start, vertex_size)


@given(st.integers(0, 2**32), st.data())
def test_both_readings_agree_on_damaged_streams(seed: int, draw: st.DataObject) -> None:
    data = bytearray(generate_stream(Random(seed), 4, vertex_size=16))
    positions = st.integers(0, len(data) - 1)
    for position, value in draw.draw(
        st.lists(st.tuples(positions, st.integers(0, 255)), max_size=3)
    ):
        data[position] = value
    cut = draw.draw(st.integers(0, len(data)))
    assert_agreement(bytes(data[:cut]), 0, 16)


@given(st.lists(st.sampled_from(sorted(TABLE)), max_size=4), st.binary(max_size=40))
def test_both_readings_agree_on_random_bytes(ops: list[int], noise: bytes) -> None:
    data = b"".join(bytes([op, 0, 1, 0]) + noise[:12] for op in ops) + noise
    assert_agreement(data, 0, 8)


def test_every_sample_survives_parsing_and_building() -> None:
    for op, token in TABLE.items():
        declaration = token_construct(Op(op))
        for sample in token.samples:
            fields = declaration.parse(sample, vertex_size=32)
            assert declaration.build(fields, vertex_size=32) == sample


def test_padding_of_immediate_tokens_is_kept() -> None:
    data = bytes(2) + bytes([Op.LINELIST_IMM, 0, 1, 0]) + b"\xaa\xbb" + bytes(32)
    [(offset, op, fields)] = parse(data, 2, len(data), 16).commands
    assert (offset, op, fields.pad) == (2, Op.LINELIST_IMM, b"\xaa\xbb")


def test_a_view_of_the_buffer_is_as_good_as_bytes() -> None:
    data = TABLE[Op.CREATEQUERY].samples[0]
    assert parse(memoryview(data), 0, len(data)).stop == len(data)
    assert parse(bytearray(data), 0, len(data)).stop == len(data)
    assert np.frombuffer(data, np.uint8).nbytes == len(data)

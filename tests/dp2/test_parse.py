"""Two readings of the table, construct alone and the compiled walk, agree on any bytes."""

from __future__ import annotations

import tracemalloc
from io import BytesIO
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dp2emu
from dp2emu.d3d.dp2structs import Op
from dp2emu.dp2 import parse, walk
from dp2emu.dp2.generate import generate_stream
from dp2emu.dp2.parse import token_construct
from dp2emu.dp2.table import TABLE, Body
from dp2emu.errors import Malformed


def assert_agreement(data: bytes, start: int, vertex_size: int) -> None:
    """Both scans, errors included, and all bytes of both decodings are equal."""
    scanned, found = (way.scan(data, start, len(data), vertex_size) for way in (walk, parse))
    assert scanned.commands == found.commands
    assert scanned.stop == found.stop
    assert place_of(scanned.problem) == place_of(found.problem)
    for _, token, *place in scanned.commands:
        viewed = walk.decode(token, data, *place, vertex_size)
        assert as_bytes(parse.body_of(token, data, *place, vertex_size)) == as_bytes(viewed)


def place_of(problem: Malformed | None) -> tuple[object, ...] | None:
    return problem and (problem.what, problem.offset, problem.token)


def as_bytes(body: Body) -> tuple[object, ...]:
    """All bytes and types in a body."""
    head = None if body.head is None else (body.head.dtype, body.head.tobytes())
    items = body.items.dtype, body.items.shape, body.items.tobytes()
    return body.count, head, items, [bytes(tail) for tail in body.tails], bytes(body.vertices)


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


def test_a_signalling_nan_keeps_its_bits() -> None:
    for bits in 0x7F800001, 0xFFBFFFFF, 0x7FC00000, 0xFFC12345, 0x7F800000, 0x80000000:
        data = bytes([Op.ZRANGE, 0, 1, 0]) + bits.to_bytes(4, "little") * 2
        assert_agreement(data, 0, 0)
        fields = token_construct(Op.ZRANGE).parse_stream(BytesIO(data))
        assert token_construct(Op.ZRANGE).build(fields) == data


def test_padding_of_immediate_tokens_is_kept() -> None:
    data = bytes(2) + bytes([Op.LINELIST_IMM, 0, 1, 0]) + b"\xaa\xbb" + bytes(32)
    [(offset, op, fields)] = dp2emu.parse(data, 2, vertex_size=16).commands
    assert (offset, op, fields.pad) == (2, Op.LINELIST_IMM, b"\xaa\xbb")


def test_a_view_of_the_buffer_is_as_good_as_bytes() -> None:
    data = TABLE[Op.CREATEQUERY].samples[0]
    for given_as in bytes, bytearray, memoryview:
        parsed = dp2emu.parse(given_as(data))
        assert (parsed.stop, parsed.problem) == (len(data), None)
        assert parsed.commands[0].fields["items"][0].dwQueryID == 5


def test_tokens_before_a_malformed_one_are_parsed() -> None:
    good = TABLE[Op.CREATEQUERY].samples[0]
    parsed = dp2emu.parse(good + bytes([Op.ZRANGE, 0, 2, 0]) + bytes(15))
    assert [(each.offset, each.op) for each in parsed.commands] == [(0, Op.CREATEQUERY)]
    assert parsed.stop == len(good)
    assert str(parsed.problem) == (
        "offset 0xc, ZRANGE: the payload needs 16 bytes or more, 15 are left"
    )


@pytest.mark.parametrize("op", [Op.EXT, Op.CREATEPIXELSHADER, Op.SETPIXELSHADERCONST])
def test_nothing_is_allocated_from_a_count_whose_bytes_are_missing(op: Op) -> None:
    """16 MiB of bytes, and a token that claims 4 GiB of them."""
    data = bytes([op, 0, 1, 0]) + bytes(4) + b"\xff" * 4 + bytes(1 << 24)
    tracemalloc.start()
    try:
        parsed = dp2emu.parse(data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert parsed.commands == [] and parsed.problem is not None
    assert peak < 1 << 20


@pytest.mark.parametrize(
    "given",
    [("x",), (None,), (b"", 1), (b"abcd", 3, 2), (b"", 0, 0, -1), (b"", "0"), (b"", 0, 0, None)],
)
def test_arguments_of_other_kinds_are_refused(given: tuple[Any, ...]) -> None:
    with pytest.raises(dp2emu.UsageError):
        dp2emu.parse(*given)

"""What declares or expands to a lot costs little before it is refused or found valid."""

from __future__ import annotations

import gzip
import tracemalloc
from collections.abc import Callable
from io import BytesIO
from random import Random

import brotli  # type: ignore[import-untyped]
import pytest
import zstandard

from dp2emu.capture import open_capture
from dp2emu.capture.apitrace import open_trace
from dp2emu.dp2.generate import generate
from dp2emu.dp2.options import Options
from dp2emu.dp2.table import TABLE, Token
from dp2emu.dp2.walk import scan
from dp2emu.errors import CaptureError, Exceeded
from dp2emu.limits import Limits
from tests.capture.test_reader import _chunk, _file
from tests.dp2.rigging import Bench, clear, header, rectangle, triangle_list

MOST = 0xFFFF
MEBIBYTE = 1 << 20
VERTEX = 20


def cost_of(action: Callable[[], object]) -> int:
    """Bytes that are held at a time, at most."""
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def full_token(row: Token) -> bytes:
    """A whole token with the largest count."""
    if row.tail is not None and row.head_dtype is None:
        token = generate(row, Random(row.op), n=1)
        return token[:2] + b"\xff\xff" + token[4:] * MOST
    one, two = (generate(row, Random(row.op), n=n, vertex_size=VERTEX) for n in (1, 2))
    step = len(two) - len(one)
    if not step or row.vertices is not None or row.tail is not None:
        return generate(row, Random(row.op), n=MOST, vertex_size=VERTEX)
    return one[:2] + b"\xff\xff" + one[4:] + one[-step:] * (MOST - 1)


@pytest.mark.parametrize("op", sorted(TABLE))
def test_the_largest_count_is_found_valid_for_nothing(op: int) -> None:
    data = full_token(TABLE[op])
    assert cost_of(lambda: scan(data, 0, len(data), VERTEX)) < MEBIBYTE
    found = scan(data, 0, len(data), VERTEX)
    assert found.commands[0][2] == MOST


@pytest.mark.parametrize("op", sorted(TABLE))
def test_the_largest_count_of_nothing_is_refused_for_nothing(op: int) -> None:
    data = bytes([op, 0, 0xFF, 0xFF])
    assert cost_of(lambda: scan(data, 0, len(data), 0xFFFFFFFF)) < MEBIBYTE
    assert scan(data, 0, len(data), 0xFFFFFFFF).problem is not None


@pytest.mark.parametrize("op", sorted(TABLE))
def test_all_ones_in_every_field_are_walked_for_nothing(op: int) -> None:
    token = generate(TABLE[op], Random(op), n=1, vertex_size=VERTEX)
    for at in range(4, len(token) - 3, 4):
        data = token[:at] + b"\xff" * 4 + token[at + 4 :]
        assert cost_of(lambda data=data: scan(data, 0, len(data), VERTEX)) < MEBIBYTE  # type: ignore[misc]


def test_a_chunk_of_4_gib_is_refused_by_its_head() -> None:
    bomb = _file(_chunk(b"", compression="zstd", packed=bytes(100), size=4 << 30))
    assert cost_of(lambda: list(open_capture(BytesIO(bomb)).records())) < MEBIBYTE


def test_33_kb_that_expand_to_a_gibibyte_are_refused_by_their_head() -> None:
    packer = zstandard.ZstdCompressor().compressobj(size=1 << 30)
    packed = b"".join(packer.compress(bytes(MEBIBYTE)) for _ in range(1024)) + packer.flush()
    assert len(packed) < 34_000
    bomb = _file(_chunk(b"", compression="zstd", packed=packed, size=1 << 30))
    capture = open_capture(BytesIO(bomb))
    assert cost_of(lambda: list(capture.records())) < MEBIBYTE
    assert "limit chunk_bytes" in str(capture.damage)


QUAD = rectangle(0, 0, 64, 64)
RECT = (0).to_bytes(8, "little") + (64).to_bytes(4, "little") * 2


@pytest.mark.parametrize("engine", ["reference", "jit"])
@pytest.mark.parametrize(
    ("commands", "limit"),
    [
        (clear()[:2] + b"\xff\xff" + clear()[4:20] + RECT * MOST, "call_pixels"),
        (triangle_list(0, 2) * 4000, "call_pixels"),
        (triangle_list(0, 2) * 4000, "call_vertices"),
        (triangle_list(0, 2) * 4000, "call_instructions"),
        (header(8, 0) * 4000, "call_tokens"),
    ],
)
def test_what_is_valid_and_too_much_stops_at_a_named_limit(
    engine: str, commands: bytes, limit: str
) -> None:
    limits = Limits(**{limit: 1000 if limit != "call_pixels" else 1 << 16})
    bench = Bench(buffer=2 * MEBIBYTE, options=Options(engine=engine, limits=limits))
    with pytest.raises(Exceeded, match=f"limit {limit}"):
        bench.call(commands, QUAD)


@pytest.mark.parametrize("pack", [gzip.compress, brotli.compress, zstandard.compress])
def test_a_trace_that_expands_stops_at_a_named_limit(pack: Callable[[bytes], bytes]) -> None:
    with pytest.raises(CaptureError, match="limit inflated_bytes 1000"):
        open_trace(BytesIO(pack(bytes(4 * MEBIBYTE))), limits=Limits(inflated_bytes=1000))


def test_a_capture_that_expands_stops_at_a_named_limit() -> None:
    chunk = _chunk(b"", compression="zstd", packed=zstandard.compress(bytes(2000)), size=2000)
    capture = open_capture(BytesIO(_file(chunk)), limits=Limits(inflated_bytes=1000))
    assert list(capture.records()) == []
    assert "limit inflated_bytes 1000" in str(capture.damage)

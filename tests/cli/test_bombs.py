"""Small files that declare or expand to a lot: every verb that opens one ends soon and in little
memory, with the limit's name or with what is wrong.
"""

from __future__ import annotations

import gzip
import sys
import tracemalloc
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FrameType

import brotli  # type: ignore[import-untyped]
import lz4.frame
import pytest
import zstandard

from tests.capture.apitrace.encoder import header, snappy, string, uint
from tests.capture.test_reader import _chunk, _file
from tests.cli.running import Ran, dp2emu

MEBIBYTE = 1 << 20
MEMORY = 96 * MEBIBYTE
WORK = 1_200_000
"""Calls of functions at most, of Python alone."""

ZEROS = bytes(33 * MEBIBYTE)
CALL = header() + b"\0\0\0" + string("F") + uint(1) + string("a") + b"\1\0"
"""A trace up to the value of the only argument of its only call."""


def blob(size: int) -> bytes:
    return CALL + b"\x08" + uint(size) + bytes(size) + b"\0"


def sealed(size: int, compression: str, pack: Callable[[bytes], bytes]) -> bytes:
    return _file(_chunk(b"", compression=compression, packed=pack(bytes(size)), size=size))


CALLS, BYTES, CHUNK = "limit trace_calls: ", "limit trace_bytes: ", "limit chunk_bytes: "
RATIO, SUM = "limit inflate_ratio: ", "chunk checksum is wrong"
TRACES: dict[str, tuple[Callable[[], bytes], str]] = {
    "calls in gzip": (lambda: gzip.compress(ZEROS), CALLS),
    "calls in zstd": (lambda: zstandard.compress(ZEROS), CALLS),
    "calls in brotli": (lambda: brotli.compress(ZEROS, quality=1), CALLS),
    "calls in snappy": (lambda: snappy(ZEROS), CALLS),
    "a chunk of snappy": (lambda: snappy(ZEROS, len(ZEROS)), CHUNK),
    "values": (lambda: gzip.compress(CALL + b"\x0b" + uint(len(ZEROS)) + ZEROS), BYTES),
    "a blob": (lambda: zstandard.compress(blob(90 * MEBIBYTE)), RATIO),
    "a blob that may be": (lambda: zstandard.compress(blob(11 * MEBIBYTE)), ""),
    "details": (lambda: gzip.compress(CALL + b"\0" + b"\5\0" * MEBIBYTE), "as many details"),
}
"""Traces and what is said of them."""
CAPTURES: dict[str, tuple[Callable[[], bytes], str]] = {
    "zstd": (lambda: sealed(33 * MEBIBYTE, "zstd", zstandard.compress), CHUNK),
    "lz4": (lambda: sealed(33 * MEBIBYTE, "lz4", lz4.frame.compress), CHUNK),
    "zstd that may be": (lambda: sealed(16 * MEBIBYTE, "zstd", zstandard.compress), SUM),
    "lz4 that may be": (lambda: sealed(16 * MEBIBYTE, "lz4", lz4.frame.compress), SUM),
    "4 GiB": (
        lambda: _file(_chunk(b"", compression="zstd", packed=bytes(9), size=4 << 30)),
        CHUNK,
    ),
}
"""Captures and what is said of them."""

USUAL = ["info"]
OTHERS = (["dump"], ["replay"], ["replay", "--verify"])


@cache
def bomb(name: str) -> bytes:
    return (TRACES.get(name) or CAPTURES[name])[0]()


def spent(action: Callable[[], Ran]) -> tuple[Ran, int, int]:
    """What an action gave, bytes held at a time at most, and functions called."""
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    tracemalloc.start()
    sys.setprofile(count)
    try:
        ran = action()
    finally:
        sys.setprofile(None)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return ran, peak, calls


def check(arguments: list[str], what: str) -> None:
    ran, peak, calls = spent(lambda: dp2emu(*arguments))
    nothing_to_verify = "--verify" in arguments
    assert ran.code in ((2,) if what or nothing_to_verify else (0, 3)), ran.err
    assert what in ran.err
    assert peak < MEMORY
    assert calls < WORK


@pytest.mark.parametrize("name", TRACES)
def test_a_trace_that_expands_is_counted_soon(name: str, tmp_path: Path) -> None:
    path = tmp_path / "bomb.trace"
    path.write_bytes(bomb(name))
    check([*USUAL, str(path)], TRACES[name][1])


@pytest.mark.parametrize("name", CAPTURES)
def test_a_capture_that_expands_is_counted_soon(name: str, tmp_path: Path) -> None:
    path = tmp_path / "bomb.dp2"
    path.write_bytes(bomb(name))
    check([*USUAL, str(path)], CAPTURES[name][1])


@pytest.mark.slow
@pytest.mark.parametrize("verb", [*OTHERS, ["import", "-o"]], ids=" ".join)
@pytest.mark.parametrize("name", TRACES)
def test_a_trace_that_expands_ends_soon(name: str, verb: list[str], tmp_path: Path) -> None:
    path, made = tmp_path / "bomb.trace", str(tmp_path / "made.dp2")
    path.write_bytes(bomb(name))
    check([*verb, *([made] if "-o" in verb else []), str(path)], TRACES[name][1])


@pytest.mark.slow
@pytest.mark.parametrize(
    "verb", [*OTHERS, ["dump", "--jsonl"], ["state", "--at", "0"], ["convert"]], ids=" ".join
)
@pytest.mark.parametrize("name", CAPTURES)
def test_a_capture_that_expands_ends_soon(name: str, verb: list[str], tmp_path: Path) -> None:
    path, made = tmp_path / "bomb.dp2", str(tmp_path / "made.dp2")
    path.write_bytes(bomb(name))
    check([*verb, str(path), *([made] if "convert" in verb else [])], CAPTURES[name][1])

"""Work of each container grows in proportion to it: captures of every form, compression and chunk
size, their texts, traces of every compression, and response buffers.

The tables of cases follow the registries of forms and compressions.
"""

from __future__ import annotations

import gzip
import io
import struct
from collections.abc import Callable
from typing import Any

import pytest

from dp2emu.capture import BareOptions, open_capture
from dp2emu.capture.apitrace import open_trace
from dp2emu.capture.apitrace.container import _EXPAND as TRACE_COMPRESSIONS
from dp2emu.capture.compression import _INFLATE as CHUNK_COMPRESSIONS
from dp2emu.capture.compression import deflater, inflate
from dp2emu.capture.reader import KINDS as READ_KINDS
from dp2emu.capture.writer import COMPRESSIONS
from dp2emu.dp2 import parse, parsers, walk
from dp2emu.runtime.responses import parse_responses
from dp2emu.text import KINDS as WRITTEN_KINDS
from dp2emu.text import assemble, convert, dump_jsonl, dump_text, open_any
from tests.capture.apitrace.encoder import CONTAINERS, header, snappy
from tests.cli.growing import ALL, in_memory, trace_bytes
from tests.dp2.rigging import token
from tests.scaling import assert_linear

SIZES = (2, 4, 8, 16)


def check(given: Callable[[int], Any], run: Callable[[Any], object], **options: Any) -> None:
    assert_linear(given, run, options.pop("sizes", SIZES), **options)


def read(data: bytes) -> None:
    """Read all records of a capture of any form with a magic."""
    with open_capture(io.BytesIO(data)) as capture:
        assert sum(1 for _ in capture.records()) > 0


def converted(data: bytes, kind: str) -> bytes:
    """A capture in another form."""
    out = io.BytesIO()
    with open_capture(io.BytesIO(data)) as capture:
        convert(capture, kind, out)
    return out.getvalue()


# Captures


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("chunk", [1, 512, 1 << 20], ids=["least", "small", "usual"])
def test_sealed_captures(compression: str, chunk: int) -> None:
    """Written and read in chunks of any size; a chunk of one byte holds one record."""
    options = {"compression": compression, "chunk_bytes": chunk}

    def written_and_read(n: int) -> None:
        read(in_memory(ALL, n, **options))

    check(lambda n: n, written_and_read, sizes=(1, 2, 4, 8))


def lz4_frame(data: bytes) -> bytes:
    """A frame of lz4, which dp2emu reads where it is installed."""
    return bytes(pytest.importorskip("lz4.frame").compress(data))


DEFLATE: dict[str, Callable[[bytes], bytes]] = {
    "": lambda data: data, "zstd": lambda data: deflater("zstd")(data), "lz4": lz4_frame
}  # fmt: skip
"""MCAP name of a compression of chunks -> a compressor."""


def test_every_compression_of_chunks_has_a_case() -> None:
    assert set(DEFLATE) == set(CHUNK_COMPRESSIONS)


@pytest.mark.parametrize("name", DEFLATE)
def test_one_long_chunk(name: str) -> None:
    def given(n: int) -> tuple[bytes, int]:
        data = bytes(range(256)) * 64 * n
        return DEFLATE[name](data), len(data)

    check(given, lambda packed: inflate(name, *packed))


def test_a_capture_that_was_not_finished() -> None:
    """A capture without its index, cut in its last chunk."""

    def cut(n: int) -> bytes:
        data = in_memory("calls", 4 * n, compression="none", chunk_bytes=64)
        return data[: len(data) // 2]

    check(cut, read)


CAPTURE_RUNS: dict[str, Callable[[bytes], object]] = {
    "sealed": lambda data: read(converted(data, "sealed")),
    "log": lambda data: read(converted(data, "log")),
    "text": lambda data: text_read(converted(data, "text")),
    "c": lambda data: converted(data, "c"),
    "bare": lambda data: bare_read(data),
}
"""Form of a capture -> a function that writes a capture in this form, and reads it if dp2emu does.
A bare buffer is one call, made of all the bytes given."""


def text_read(text: bytes) -> None:
    assert sum(1 for _ in open_any(io.BufferedReader(io.BytesIO(text))).records()) > 0
    assemble(io.StringIO(text.decode()), io.BytesIO())


def bare_read(data: bytes) -> None:
    commands = token(8, 60, 0) * (len(data) // 64)
    with open_capture(io.BytesIO(commands), kind="bare", bare=BareOptions()) as capture:
        assert sum(1 for _ in capture.records()) > 0


def test_every_form_has_a_case() -> None:
    assert set(CAPTURE_RUNS) == {*READ_KINDS, *WRITTEN_KINDS}


@pytest.mark.parametrize("kind", CAPTURE_RUNS)
def test_forms_of_captures(kind: str) -> None:
    check(lambda n: in_memory(ALL, n), CAPTURE_RUNS[kind], sizes=(1, 2, 4, 8))


@pytest.mark.parametrize("kind", ["sealed", "log", "text", "c"])
def test_one_long_record(kind: str) -> None:
    """Bytes of a record are copied a fixed number of times."""
    check(lambda n: in_memory("bytes", 16 * n), CAPTURE_RUNS[kind])


@pytest.mark.parametrize("dump", [dump_text, dump_jsonl])
def test_one_long_call(dump: Callable[[Any, io.StringIO], None]) -> None:
    """Texts of a call with many tokens, and of a token with many elements."""

    def shown(data: bytes) -> None:
        with open_capture(io.BytesIO(data)) as capture:
            dump(capture, io.StringIO())

    for dimension in ("tokens", "elements"):
        check(lambda n, dimension=dimension: in_memory(dimension, n), shown)


# Traces


def gzip_members(stream: bytes) -> bytes:
    """A gzip member for each 64 bytes."""
    return b"".join(gzip.compress(stream[at : at + 64]) for at in range(0, len(stream), 64))


PACKED: dict[str, list[Callable[[bytes], bytes]]] = {
    **{name: [pack] for name, pack in CONTAINERS.items()},
    "snappy": [snappy, lambda stream: snappy(stream, 64)],
    "gzip": [CONTAINERS["gzip"], gzip_members],
}
"""Compression of a trace -> its containers: of few large pieces, and of many small ones."""


def trace_read(data: bytes) -> None:
    with open_trace(io.BytesIO(data)) as trace:
        assert sum(1 for _ in trace.calls()) > 0
        assert trace.damage is None


def test_every_compression_of_traces_has_a_case() -> None:
    assert set(PACKED) == set(TRACE_COMPRESSIONS)


@pytest.mark.parametrize("name", PACKED)
def test_traces(name: str) -> None:
    """Most calls have numbers of two bytes, which are read in another way than those of one."""
    for pack in PACKED[name]:
        check(lambda n, pack=pack: trace_bytes(ALL, n, pack), trace_read, sizes=(8, 16, 32, 64))


def test_traces_of_one_long_value() -> None:
    """A blob of n pages in many small chunks is copied once."""

    def given(n: int) -> bytes:
        blob = bytes(range(256)) * 64 * n
        size = struct.pack("<I", len(blob))
        count = bytes((len(blob) >> shift & 0x7F) | 0x80 for shift in (0, 7, 14)) + bytes(
            (len(blob) >> 21,)
        )
        assert len(size) == 4
        call = b"\0\0\0" + b"\1f" + b"\1\1a" + b"\1\0\x08" + count + blob + b"\0" + b"\1\0\0"
        return snappy(header() + call, 4096)

    check(given, trace_read)


# Response buffers


def answers(n: int) -> list[list[tuple[int, bytes]]]:
    """Blocks of two answers each."""
    return [[(2 * i, bytes(4)), (2 * i + 1, bytes(16))] for i in range(n)]


WRITERS = {"walk": walk.write_responses, "construct": parse.write_responses}


@pytest.mark.parametrize("parser", WRITERS)
def test_response_buffers(parser: str) -> None:
    """Written and read: many blocks, and many answers of one."""

    def run(blocks: list[list[tuple[int, bytes]]]) -> None:
        data = WRITERS[parser](blocks, True)
        sizes = {query: len(payload) for block in blocks for query, payload in block}
        assert len(parse_responses(data, sizes.get, parser).records) == len(sizes)

    check(answers, run)
    check(lambda n: [[each for block in answers(n) for each in block]], run)


def test_every_decoder_of_responses_has_a_case() -> None:
    assert set(WRITERS) == set(parsers.PARSERS) - {parsers.CHECKED}

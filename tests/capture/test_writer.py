"""Sealed captures: deterministic, valid MCAP, call before answer, readable after a crash."""

from __future__ import annotations

import hashlib
import tracemalloc
from collections.abc import Iterator
from io import BytesIO, RawIOBase
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcap.reader import NonSeekingReader, make_reader

from dp2emu.capture import CaptureWriter, open_capture
from dp2emu.capture.payloads import PAYLOAD_BYTES
from dp2emu.capture.records import Annotation, Called, MemoryWritten, Record
from dp2emu.dp2.call import Call
from dp2emu.errors import CaptureError, UsageError
from tests.capture.samples import EVERYTHING, RECORDS, TWO_CALLS, sealed

FIXED = "b63b3c17a9c2dbffe68077c1c1334110a4160c221496e3206c936df05fdaae11"
"""SHA-256 of EVERYTHING, sealed without compression.  Changes only with the format's version."""


@given(st.lists(RECORDS, max_size=12), st.sampled_from(["zstd", "none"]), st.integers(1, 400))
def test_records_come_back(records: list[Record], compression: str, chunk_bytes: int) -> None:
    data = sealed(records, compression=compression, chunk_bytes=chunk_bytes)
    with open_capture(BytesIO(data)) as capture:
        assert list(capture.records()) == records
        assert capture.damage is None


@pytest.mark.parametrize("compression", ["zstd", "none"])
def test_the_same_records_give_the_same_bytes(compression: str) -> None:
    assert sealed(EVERYTHING, compression=compression) == sealed(
        EVERYTHING, compression=compression
    )


def test_a_writer_that_is_not_durable_writes_the_same_bytes_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "late.dp2"
    with CaptureWriter(path, durable=False) as writer:
        begun = path.stat().st_size
        for record in EVERYTHING:
            writer.write(record)
        assert path.stat().st_size == begun
    assert path.read_bytes() == sealed(EVERYTHING)


def test_uncompressed_bytes_are_fixed_for_ever() -> None:
    data = sealed(EVERYTHING, compression="none")
    assert hashlib.sha256(data).hexdigest() == FIXED


@pytest.mark.parametrize("compression", ["zstd", "none"])
def test_a_capture_is_mcap_to_its_own_library(compression: str) -> None:
    data = sealed(EVERYTHING, compression=compression)
    messages = list(
        NonSeekingReader(BytesIO(data), validate_crcs=True).iter_messages(log_time_order=False)
    )
    topics = [channel.topic for _, channel, _ in messages]
    assert topics[:4] == ["annotation", "surface", "context", "surface"]
    assert [m.sequence for _, c, m in messages if c.topic in ("call", "answer")] == [
        0, 0, 1, 1, 2, 2,
    ]  # fmt: skip
    summary = make_reader(BytesIO(data), validate_crcs=True).get_summary()
    assert summary is not None
    assert summary.statistics is not None
    assert summary.statistics.message_count == len(EVERYTHING)
    assert len(summary.chunk_indexes) == summary.statistics.chunk_count


def test_a_call_is_handed_over_before_write_returns() -> None:
    out = BytesIO()
    with CaptureWriter(out) as writer:
        for count, record in enumerate(TWO_CALLS, 1):
            writer.write(record)
            if isinstance(record, Called):
                capture = open_capture(BytesIO(out.getvalue()))
                assert list(capture.records()) == TWO_CALLS[:count]
                assert capture.damage is not None
                assert "never finished" in capture.damage.what


def test_a_writer_that_never_closed_leaves_a_readable_file(tmp_path: Path) -> None:
    path, crashed = tmp_path / "running.dp2", tmp_path / "crashed.dp2"
    with CaptureWriter(path) as writer:
        for record in TWO_CALLS:
            writer.write(record)
        writer.flush()
        crashed.write_bytes(path.read_bytes())
    with open_capture(crashed) as capture:
        assert list(capture.records()) == TWO_CALLS
        assert "call 1 is the last whole one" in str(capture.damage)


def test_an_exception_in_the_block_still_seals_what_was_written() -> None:
    out = BytesIO()
    with pytest.raises(KeyError), CaptureWriter(out) as writer:
        writer.write(TWO_CALLS[0])
        raise KeyError
    capture = open_capture(BytesIO(out.getvalue()))
    assert list(capture.records()) == TWO_CALLS[:1]
    assert capture.damage is None


def test_a_refused_record_leaves_the_capture_as_it_was() -> None:
    out = BytesIO()
    with CaptureWriter(out) as writer:
        writer.write(TWO_CALLS[0])
        with pytest.raises(CaptureError):
            writer.write(Called(Call(-1)))
    assert list(open_capture(BytesIO(out.getvalue())).records()) == TWO_CALLS[:1]


def test_nothing_is_written_after_close() -> None:
    writer = CaptureWriter(BytesIO())
    writer.close()
    writer.close()
    with pytest.raises(UsageError, match="closed"):
        writer.write(TWO_CALLS[0])


def test_an_unknown_compression_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="zstd, none"):
        CaptureWriter(BytesIO(), compression="rar")


def test_chunks_are_of_a_size_that_readers_take() -> None:
    for chunk_bytes in (0, (16 << 20) + 1):
        with pytest.raises(UsageError, match="chunks of"):
            CaptureWriter(BytesIO(), chunk_bytes=chunk_bytes)


def test_the_largest_record_is_read_with_default_limits() -> None:
    small = MemoryWritten(3, 0, bytes(1 << 19))
    # Of zeros alone it would be a bomb.
    large = Called(Call(1, commands=Random(1).randbytes(PAYLOAD_BYTES - 16 - 56)))
    capture = open_capture(BytesIO(sealed([small, large])))
    assert list(capture.records()) == [small, large]
    assert capture.damage is None


def test_an_empty_capture_is_sound() -> None:
    capture = open_capture(BytesIO(sealed([])))
    assert list(capture.records()) == []
    assert capture.damage is None


class Full(RawIOBase):
    """A disk with room for some bytes."""

    def __init__(self, room: int) -> None:
        self.taken = bytearray()
        self._room = room

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        if len(self.taken) + len(data) > self._room:
            raise OSError(28, "No space left on device")
        self.taken += data
        return len(data)


def test_a_full_disk_is_an_oserror_and_nothing_follows_the_gap() -> None:
    disk = Full(room=300)
    with pytest.raises(OSError, match="No space"), CaptureWriter(disk) as writer:
        for record in TWO_CALLS:
            writer.write(record)
    assert len(disk.taken) < 300
    assert open_capture(BytesIO(bytes(disk.taken))).summary().records == 0


class Nowhere(RawIOBase):
    """Counts what it is given and forgets it."""

    def __init__(self) -> None:
        self.size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.size += len(data)
        return len(data)


def _traffic(calls: int) -> Iterator[Record]:
    for number in range(calls):
        yield MemoryWritten(3, 0, number.to_bytes(8, "little") * 4096)
        yield Called(Call(1, 3, commands=bytes(64)))


def test_writing_holds_one_chunk_however_long_the_capture() -> None:
    out = Nowhere()
    with CaptureWriter(out, compression="none") as writer:
        writer.write(Annotation("title", "warm the imports up"))
        tracemalloc.start()
        for record in _traffic(1000):
            writer.write(record)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert out.size > 30 << 20
    assert peak < 4 << 20

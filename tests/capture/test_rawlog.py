"""The raw driver log: simple to write, and damage is found where it is."""

from __future__ import annotations

import struct
import tracemalloc
import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.capture import LogWriter, open_capture
from dp2emu.capture.files import Source
from dp2emu.capture.rawlog import END, MAGIC, pack, scan_heads
from dp2emu.capture.records import Called, FrameMarker, MemoryWritten, Record
from dp2emu.dp2.call import Call
from dp2emu.errors import CaptureError, UsageError
from dp2emu.limits import Limits
from tests.capture.samples import EVERYTHING, RECORDS, TWO_CALLS, Pipe, log
from tests.refusals import refuses


def read(data: bytes, limits: Limits | None = None) -> tuple[list[Record], str | None]:
    """What comes out of these bytes, and what is said about the rest."""
    try:
        capture = open_capture(BytesIO(data), limits=limits)
    except CaptureError as error:
        return [], str(error)
    records = list(capture.records())
    return records, str(capture.damage) if capture.damage else None


@given(st.lists(RECORDS, max_size=12))
def test_records_come_back(records: list[Record]) -> None:
    assert read(log(records)) == (records, None)


def test_a_log_is_magic_and_records_of_tag_length_time_and_crc() -> None:
    payload = struct.pack("<QQ", 7, 5)
    head = struct.pack("<IIQ", 6, 16, 99)
    ended = struct.pack("<IIQ", 0, 8, 0)
    calls = struct.pack("<Q", 0)
    assert log([FrameMarker(7, 5, 99)]) == b"".join(
        (
            b"\x89DP2LOG1",
            head + struct.pack("<I", zlib.crc32(head + payload)) + payload,
            ended + struct.pack("<I", zlib.crc32(ended + calls)) + calls,
        )
    )


def test_a_cut_anywhere_gives_a_true_prefix_and_says_so() -> None:
    data = log(EVERYTHING)
    for size in range(len(data)):
        records, damage = read(data[:size])
        assert records == EVERYTHING[: len(records)]
        assert damage is not None


def test_any_flipped_bit_is_noticed_and_no_record_is_wrong() -> None:
    data = bytearray(log(TWO_CALLS))
    for bit in range(8 * len(data)):
        data[bit // 8] ^= 1 << bit % 8
        records, damage = read(bytes(data))
        data[bit // 8] ^= 1 << bit % 8
        assert records == TWO_CALLS[: len(records)]
        assert damage is not None


def test_damage_names_the_last_whole_call() -> None:
    records: list[Record] = [Called(Call(1, commands=bytes([n]) * 9)) for n in range(6)]
    data = bytearray(log(records))
    data[data.index(bytes([2]) * 9)] ^= 1
    got, damage = read(bytes(data))
    assert got == records[:2]
    assert damage is not None
    assert "call 1 is the last whole one; calls from 2 on are lost" in damage


def test_a_log_without_its_end_says_so() -> None:
    data = log(TWO_CALLS)
    records, damage = read(data[: -(20 + 8)])
    assert records == TWO_CALLS
    assert damage is not None
    assert "never closed" in damage


def test_a_log_that_miscounts_its_calls_is_damaged() -> None:
    records, damage = read(MAGIC + pack(END, 0, struct.pack("<Q", 1)))
    assert records == []
    assert damage is not None
    assert "0 calls" in damage


def test_something_behind_the_end_is_damage() -> None:
    records, damage = read(log(TWO_CALLS) + b"\n")
    assert records == TWO_CALLS
    assert damage is not None
    assert "no record is lost" in damage


def test_unknown_tags_are_skipped_and_counted() -> None:
    data = log(TWO_CALLS)
    capture = open_capture(BytesIO(data[:8] + pack(77, 1, b"from the future") + data[8:]))
    assert list(capture.records()) == TWO_CALLS
    assert capture.damage is None
    assert capture.skipped == {"tag 77": 1}


def test_names_of_unknown_tags_do_not_pile_up() -> None:
    many = b"".join(pack(tag, 0, b"") for tag in range(100, 300))
    capture = open_capture(BytesIO(MAGIC + many))
    list(capture.records())
    assert len(capture.skipped) == 65
    assert sum(capture.skipped.values()) == 200


@pytest.mark.parametrize("length", [0xFFFFFFFF, 20 << 20])
def test_a_declared_length_allocates_nothing(length: int) -> None:
    hostile = MAGIC + struct.pack("<IIQI", 3, length, 0, 0) + bytes(50)
    for source in (BytesIO(hostile), Pipe(hostile, 64)):
        tracemalloc.start()
        capture = open_capture(source)
        assert list(capture.records()) == []
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert capture.damage is not None
        assert peak < 2 << 20


def test_the_record_limit_is_the_readers_choice() -> None:
    data = log([MemoryWritten(1, 0, bytes(5000))])
    records, damage = read(data, Limits(record_bytes=1000))
    assert records == []
    assert damage is not None
    assert refuses(damage, "record_bytes", 1000)


def test_a_call_is_handed_over_before_write_returns(tmp_path: Path) -> None:
    path = tmp_path / "driver.log"
    with LogWriter(path) as writer:
        writer.write(TWO_CALLS[1])
        with open_capture(path) as capture:
            assert list(capture.records()) == [TWO_CALLS[1]]


def test_nothing_follows_what_could_not_be_written() -> None:
    class Full(BytesIO):
        full = False

        def write(self, data: Any, /) -> int:
            if self.full:
                raise OSError("no space")
            return super().write(data)

    file = Full()
    writer = LogWriter(file)
    file.full = True
    with pytest.raises(OSError, match="no space"):
        writer.write(FrameMarker(1))
    file.full = False
    writer.close()
    assert file.getvalue() == MAGIC


def test_nothing_is_written_after_close() -> None:
    writer = LogWriter(BytesIO())
    writer.close()
    writer.close()
    with pytest.raises(UsageError, match="closed"):
        writer.write(TWO_CALLS[0])


def test_the_heads_alone_tell_the_totals() -> None:
    data = log(EVERYTHING)
    believed = scan_heads(Source(BytesIO(data), "-"))
    counted = open_capture(BytesIO(data)).summary()
    assert counted.verified
    assert believed is not None
    assert not believed.verified
    assert (believed.calls, believed.formats) == (counted.calls, counted.formats)
    assert believed.command_bytes == counted.command_bytes
    assert believed.memory_bytes == counted.memory_bytes == 15


def test_heads_that_lead_nowhere_tell_nothing() -> None:
    data = log(EVERYTHING)
    for size in range(8, len(data)):
        assert scan_heads(Source(BytesIO(data[:size]), "-")) is None


def test_a_large_log_is_summed_up_from_its_heads(tmp_path: Path) -> None:
    path = tmp_path / "large.log"
    path.write_bytes(log(_writes(6)))
    with open_capture(path) as capture:
        assert capture.summary().memory_bytes == 6 << 20
        assert not capture.summary().verified
        assert len(list(capture.records())) == 6
    path.write_bytes(path.read_bytes()[:-1])
    with open_capture(path) as capture:
        assert capture.summary().memory_bytes == 6 << 20
        assert capture.damage is not None


def _writes(count: int) -> Iterator[Record]:
    for _ in range(count):
        yield MemoryWritten(3, 0, bytes(1 << 20))


@given(st.binary(max_size=100))
def test_noise_behind_the_magic_is_damage(noise: bytes) -> None:
    records, damage = read(MAGIC + noise)
    assert records == []
    assert damage is not None

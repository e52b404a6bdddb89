"""Reading damaged, hostile and foreign sealed captures."""

from __future__ import annotations

import struct
import tracemalloc
import zlib
from collections.abc import Callable
from io import BufferedReader, BytesIO
from pathlib import Path
from unittest.mock import patch

import lz4.frame
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from mcap.records import Channel, Chunk, DataEnd, Header, McapRecord, Schema
from mcap.writer import CompressionType, Writer
from msgspec.structs import replace

from dp2emu.capture import Capture, open_capture, reader
from dp2emu.capture.container import MAGIC, PROFILE, SCHEMA_ENCODING, build, message
from dp2emu.capture.files import Source
from dp2emu.capture.payloads import Kind, encode
from dp2emu.capture.reader import read_totals
from dp2emu.capture.records import Annotation, Called, MemoryWritten, Record
from dp2emu.dp2.call import Call
from dp2emu.errors import CaptureError
from dp2emu.limits import Limits
from tests.capture.samples import EVERYTHING, TWO_CALLS, Pipe, sealed
from tests.refusals import refuses


def read(data: bytes, limits: Limits | None = None) -> tuple[list[Record], str | None]:
    """What comes out of these bytes, and what is said about the rest."""
    try:
        capture = open_capture(BytesIO(data), limits=limits)
    except CaptureError as error:
        return [], str(error)
    records = list(capture.records())
    return records, str(capture.damage) if capture.damage else None


@pytest.mark.parametrize("compression", ["zstd", "none"])
def test_a_cut_anywhere_gives_a_true_prefix_and_says_so(compression: str) -> None:
    data = sealed(EVERYTHING, compression=compression)
    for size in range(len(data)):
        records, damage = read(data[:size])
        assert records == EVERYTHING[: len(records)]
        assert damage is not None


@pytest.mark.parametrize("compression", ["zstd", "none"])
def test_any_flipped_bit_is_noticed_and_no_record_is_wrong(compression: str) -> None:
    data = bytearray(sealed(TWO_CALLS[1:3], compression=compression))
    for bit in range(8 * len(data)):
        data[bit // 8] ^= 1 << bit % 8
        records, damage = read(bytes(data))
        data[bit // 8] ^= 1 << bit % 8
        assert records == TWO_CALLS[1 : 1 + len(records)]
        assert damage is not None


def test_any_flipped_byte_of_a_larger_capture_is_noticed() -> None:
    data = bytearray(sealed(EVERYTHING))
    for at in range(len(data)):
        data[at] ^= 0xFF
        records, damage = read(bytes(data))
        data[at] ^= 0xFF
        assert records == EVERYTHING[: len(records)]
        assert damage is not None


@given(st.binary(max_size=200))
def test_noise_behind_the_magic_is_damage(noise: bytes) -> None:
    records, damage = read(MAGIC + noise)
    assert records == []
    assert damage is not None


@given(st.data())
def test_bytes_moved_about_never_make_a_wrong_record(data: st.DataObject) -> None:
    good = sealed(EVERYTHING, compression="none")
    cuts = sorted(data.draw(st.lists(st.integers(0, len(good)), min_size=2, max_size=2)))
    for shuffled in (good[: cuts[0]] + good[cuts[1] :], good[: cuts[1]] + good[cuts[0] :]):
        records, damage = read(shuffled)
        assert records == EVERYTHING[: len(records)]
        assert (damage is None) == (shuffled == good)


def test_a_missing_chunk_is_noticed_at_the_next_one() -> None:
    calls: list[Record] = [Called(Call(n)) for n in range(3)]
    chunks = _chunks(sealed(calls))
    data = MAGIC + build(Header(profile=PROFILE, library="")) + chunks[0] + chunks[2]
    records, damage = read(data)
    assert records == calls[:1]
    assert damage is not None
    assert "sequence 2 where 1 is due" in damage


def test_chunks_that_inflate_to_more_than_the_limit_are_damage() -> None:
    calls: list[Record] = [Called(Call(n)) for n in range(3)]
    data = sealed(calls)
    capture = open_capture(BytesIO(data))
    most = sum(size for _, size in {capture.chunk for _ in capture.records()})
    for limit, expected in ((most, calls), (most - 1, calls[:2])):
        capture = open_capture(BytesIO(data), limits=Limits(inflated_bytes=limit))
        assert list(capture.records()) == expected
        assert refuses(capture.damage, "inflated_bytes", limit) == (limit < most)


def _chunks(data: bytes) -> list[bytes]:
    """The chunk records of a sealed capture."""
    found, at = [], len(MAGIC)
    while data[at] != 0x0F:
        size = 9 + int.from_bytes(data[at + 1 : at + 9], "little")
        found += [data[at : at + size]] * (data[at] == 0x06)
        at += size
    return found


def test_damage_names_the_calls_that_are_lost() -> None:
    records: list[Record] = [Called(Call(1, 3, commands=bytes([n]) * 9)) for n in range(6)]
    data = bytearray(sealed(records, compression="none"))
    data[data.index(bytes([2]) * 9)] ^= 1
    got, damage = read(bytes(data))
    assert got == records[:2]
    assert damage is not None
    assert "call 1 is the last whole one; calls 2 to 5 are lost" in damage


def test_damage_without_an_index_names_the_first_lost_call() -> None:
    data = sealed(TWO_CALLS)
    cut = data.rindex(_chunks(data)[2])
    _, damage = read(data[: cut + 1])
    assert damage is not None
    assert f"offset {cut:#x}" in damage
    assert "call 1 is the last whole one; calls from 2 on are lost" in damage


def test_damage_of_the_index_loses_no_record() -> None:
    data = bytearray(sealed(EVERYTHING))
    data[-20] ^= 1
    records, damage = read(bytes(data))
    assert records == EVERYTHING
    assert damage is not None
    assert "no record is lost" in damage


def test_something_behind_the_end_is_damage() -> None:
    records, damage = read(sealed(EVERYTHING) + b"\n")
    assert records == EVERYTHING
    assert damage is not None


@pytest.mark.parametrize("compression", ["zstd", "none"])
def test_a_record_as_large_as_a_chunk_is_held_few_times(compression: str) -> None:
    size = 8 << 20
    data = sealed([Called(Call(1, commands=bytes(size)))] * 3, compression=compression)
    tracemalloc.start()
    for _ in open_capture(BytesIO(data)).records():
        pass
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * size


def test_a_message_index_of_another_chunk_is_damage() -> None:
    data = _foreign(CompressionType.NONE)
    chunk = next(chunk for chunk in _chunks(data) if encode(EVERYTHING[0])[2] in chunk)
    index = data.index(chunk) + len(chunk)
    time = index + 9 + 6
    assert data[index] == 0x07
    records, damage = read(data[:time] + b"\xff" + data[time + 1 :])
    assert records == EVERYTHING[: len(records)]
    assert damage is not None
    assert "not that of the chunk before it" in damage


def _indexed(*channels: int) -> bytes:
    """EVERYTHING up to its first chunk, then message indexes without entries."""
    data = sealed(EVERYTHING, compression="none")
    end = data.index(_chunks(data)[0]) + len(_chunks(data)[0])
    index = b"".join(struct.pack("<BQHI", 7, 6, channel, 0) for channel in channels)
    return data[:end] + index


def test_an_index_of_a_channel_without_messages_may_be_empty() -> None:
    _, damage = read(_indexed(99))
    assert damage is not None and "the file ends before its index" in damage
    _, damage = read(_indexed(Kind.SURFACE))
    assert damage is not None and "not that of the chunk before it" in damage


def test_a_chunk_is_gone_through_once_for_all_its_indexes() -> None:
    with patch.object(reader, "_places", wraps=reader._places) as places:
        read(_indexed(*range(90, 190)))
    assert places.call_count == 1


@pytest.mark.parametrize("piece", [1, 7, 100_000])
def test_a_pipe_reads_like_a_file(piece: int) -> None:
    capture = open_capture(Pipe(sealed(EVERYTHING), piece))
    assert list(capture.records()) == EVERYTHING
    assert capture.damage is None


def test_a_cut_pipe_reads_like_a_cut_file() -> None:
    data = sealed(TWO_CALLS)
    for size in range(8, len(data), 5):
        capture = open_capture(BufferedReader(Pipe(data[:size])))
        records = list(capture.records())
        assert records == TWO_CALLS[: len(records)]
        assert capture.damage is not None


# Hostile files.


def _file(*records: McapRecord, raw: bytes = b"") -> bytes:
    return MAGIC + build(Header(profile=PROFILE, library=""), *records) + raw


def _chunk(
    data: bytes, *, compression: str = "", packed: bytes | None = None, size: int = -1
) -> Chunk:
    return Chunk(
        compression=compression,
        data=data if packed is None else packed,
        message_start_time=0,
        message_end_time=0,
        uncompressed_crc=zlib.crc32(data),
        uncompressed_size=len(data) if size < 0 else size,
    )


def _refused_cheaply(data: bytes, what: str) -> None:
    tracemalloc.start()
    records, damage = read(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert records == []
    assert damage is not None
    assert what in damage
    assert peak < 2 << 20


@pytest.mark.parametrize(
    ("compression", "pack"),
    [("zstd", zstandard.ZstdCompressor().compress), ("lz4", lz4.frame.compress)],
)
def test_a_bomb_that_declares_its_size_costs_nothing(
    compression: str, pack: Callable[[bytes], bytes]
) -> None:
    packed = pack(bytes(25 << 20))
    bomb = _file(_chunk(b"", compression=compression, packed=packed, size=25 << 20))
    _refused_cheaply(bomb, "limit")


@pytest.mark.parametrize(
    ("compression", "pack"),
    [("zstd", zstandard.ZstdCompressor().compress), ("lz4", lz4.frame.compress)],
)
def test_a_bomb_that_lies_about_its_size_costs_what_it_declared(
    compression: str, pack: Callable[[bytes], bytes]
) -> None:
    packed = pack(bytes(32 << 20))
    bomb = _file(_chunk(b"", compression=compression, packed=packed, size=1000))
    _refused_cheaply(bomb, "more than the 1000 bytes")


def test_a_chunk_that_inflates_to_less_than_declared_costs_only_that() -> None:
    packed = zstandard.ZstdCompressor().compress(b"little")
    bomb = _file(_chunk(b"", compression="zstd", packed=packed, size=10 << 20))
    _refused_cheaply(bomb, "less than")


@pytest.mark.parametrize("length", [2**64 - 1, 2**63, 2**40, 100])
@pytest.mark.parametrize("opcode", range(0x11))
def test_a_declared_length_allocates_nothing(opcode: int, length: int) -> None:
    hostile = _file(raw=bytes([opcode]) + length.to_bytes(8, "little") + bytes(40))
    for source in (BytesIO(hostile), BufferedReader(Pipe(hostile, 64))):
        tracemalloc.start()
        capture = open_capture(source)
        assert list(capture.records()) == []
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert capture.damage is not None
        assert peak < 2 << 20


def test_the_chunk_limit_is_the_readers_choice() -> None:
    data = sealed([Annotation("key", "x" * 5000)])
    records, damage = read(data, Limits(chunk_bytes=1000))
    assert records == []
    assert damage is not None
    assert refuses(damage, "chunk_bytes", 1000)


_SCHEMA = Schema(id=9, data=b"", encoding=SCHEMA_ENCODING, name="dp2.frame")


def _channel(
    *, id: int = 5, topic: str = "frame", encoding: str = "dp2", schema_id: int = 9
) -> Channel:
    return Channel(id=id, topic=topic, message_encoding=encoding, metadata={}, schema_id=schema_id)


def _of_channel(channel: int, payload: bytes = bytes(16)) -> bytes:
    return message(Kind(channel), 0, 0, payload)


def _longer(record: bytes) -> bytes:
    """The record with a byte too many, which its length counts."""
    return record[:1] + (len(record) - 8).to_bytes(8, "little") + record[9:] + b"\0"


@pytest.mark.parametrize(
    ("chunk", "what"),
    [
        (_of_channel(5), "unknown channel 5"),
        (build(_SCHEMA, _channel()) + _of_channel(5, b"short"), "needs 16"),
        (build(_channel()), "version None"),
        (build(Schema(9, b"", "dp2emu/2", "x"), _channel()), "version 'dp2emu/2'"),
        (build(_SCHEMA, Schema(9, b"", "other", "x")), "schema 9 changes"),
        (build(_SCHEMA, _channel(), _channel(topic="call")), "channel 5 changes"),
        (build(_SCHEMA)[:-1], "does not fit"),
        (b"\x05", "cut"),
        (b"\x05" + bytes(8), "does not fit"),
        (b"\x04" + (4).to_bytes(8, "little") + bytes(4), "cannot be read"),
        (_longer(build(_SCHEMA)), "not well-formed"),
        (build(DataEnd(0)), "0x0f inside a chunk"),
    ],
)
def test_nonsense_under_a_right_checksum_is_damage(chunk: bytes, what: str) -> None:
    records, damage = read(_file(_chunk(chunk)))
    assert records == []
    assert damage is not None
    assert what in damage


@pytest.mark.parametrize(
    ("records", "what"),
    [
        ([_channel()], "0x04 between chunks"),
        ([Header(profile="", library="")], "0x01 between chunks"),
        ([_chunk(b"", compression="rar")], "'rar'"),
        ([_chunk(b"", compression="x" * 17)], "17 bytes"),
        ([_chunk(b"", compression="zstd", packed=b"no frame", size=9)], "does not inflate"),
    ],
)
def test_records_out_of_place_are_damage(records: list[McapRecord], what: str) -> None:
    got, damage = read(_file(*records))
    assert got == []
    assert damage is not None
    assert what in damage


def test_another_profile_is_refused() -> None:
    _, damage = read(MAGIC + build(Header(profile="ros2", library="rosbag")))
    assert damage is not None
    assert "profile 'ros2'" in damage


# Files of other writers.


def _foreign(compression: CompressionType, *, extra_topic: str | None = None) -> bytes:
    """EVERYTHING as the MCAP library's own writer puts it, message indexes and all."""
    out = BytesIO()
    writer = Writer(out, chunk_size=200, compression=compression)
    writer.start(profile=PROFILE, library="somebody else")
    schema = writer.register_schema("any", SCHEMA_ENCODING, b"")
    channels = {kind: writer.register_channel(kind.name.lower(), "dp2", schema) for kind in Kind}
    strange = writer.register_channel(extra_topic, "json", 0) if extra_topic else 0
    calls = 0
    for record in EVERYTHING:
        kind, time, payload = encode(record)
        sequence = max(calls - (kind is Kind.ANSWER), 0)
        writer.add_message(channels[kind], time, payload, time, sequence)
        calls += kind is Kind.CALL
        if extra_topic:
            writer.add_message(strange, time, b"{}", time)
    writer.add_attachment(0, 0, "note", "text/plain", b"attached")
    writer.add_metadata("somebody", {"key": "value"})
    writer.finish()
    return out.getvalue()


@pytest.mark.parametrize("compression", CompressionType)
def test_a_capture_of_another_mcap_writer_reads(compression: CompressionType) -> None:
    data = _foreign(compression)
    assert read(data) == (EVERYTHING, None)
    assert open_capture(BytesIO(data)).summary().calls == 3


def test_channels_of_others_are_skipped_and_counted() -> None:
    capture = open_capture(BytesIO(_foreign(CompressionType.NONE, extra_topic="camera")))
    assert list(capture.records()) == EVERYTHING
    assert capture.damage is None
    assert capture.skipped == {"camera": len(EVERYTHING)}


def test_flipped_bits_in_a_foreign_capture_make_no_wrong_record() -> None:
    data = bytearray(_foreign(CompressionType.NONE))
    for at in range(len(data)):
        data[at] ^= 1 << at % 8
        records, _ = read(bytes(data))
        data[at] ^= 1 << at % 8
        assert records == EVERYTHING[: len(records)]


# The index.


def _large(tmp_path: Path) -> Path:
    path = tmp_path / "large.dp2"
    records: list[Record] = [MemoryWritten(3, 0, bytes([n]) * (1 << 20)) for n in range(6)]
    path.write_bytes(sealed([*records, *EVERYTHING], compression="none"))
    return path


def test_a_large_capture_tells_its_totals_without_reading_a_chunk(tmp_path: Path) -> None:
    path = _large(tmp_path)
    with open(path, "r+b") as file:
        file.seek(3 << 20)
        file.write(b"this would be damage")
    with open_capture(path) as capture:
        summary = capture.summary()
        assert capture.damage is None
        assert (summary.records, summary.calls, summary.verified) == (
            6 + len(EVERYTHING),
            3,
            False,
        )
        assert len(list(capture.records())) < 6
        assert "no call is whole; calls 0 to 2 are lost" in str(capture.damage)


def test_a_large_capture_without_its_index_is_counted(tmp_path: Path) -> None:
    path = _large(tmp_path)
    path.write_bytes(path.read_bytes()[:-1])
    with open_capture(path) as capture:
        summary = capture.summary()
        assert (summary.records, summary.calls, summary.verified) == (
            6 + len(EVERYTHING),
            3,
            False,
        )
        assert capture.damage is not None


def test_no_flipped_bit_gives_other_totals() -> None:
    data = bytearray(sealed(TWO_CALLS, compression="none"))
    true = open_capture(BytesIO(bytes(data))).summary()
    for bit in range(8 * len(data)):
        data[bit // 8] ^= 1 << bit % 8
        believed = read_totals(Source(BytesIO(bytes(data)), "-"))
        data[bit // 8] ^= 1 << bit % 8
        assert believed is None or believed == replace(true, verified=False)


def test_reading_holds_one_chunk_however_long_the_capture(tmp_path: Path) -> None:
    path = tmp_path / "long.dp2"
    call = Called(Call(1, 3, commands=bytes(range(256)) * 64))
    path.write_bytes(sealed([call] * 1000, compression="none"))
    with open_capture(path) as capture:
        peak = _peak_of_a_pass(capture)
    assert path.stat().st_size > 15 << 20
    assert peak < 1 << 20


def _peak_of_a_pass(capture: Capture) -> int:
    tracemalloc.start()
    assert sum(1 for _ in capture.records()) == 1000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak

"""Damage ends a trace with what, where and which calls are lost; bounds hold."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from dp2emu.capture.apitrace import open_trace
from dp2emu.capture.apitrace.container import Packed, expand
from dp2emu.capture.files import open_source
from dp2emu.errors import CaptureError
from dp2emu.limits import Limits
from tests.capture.apitrace.encoder import CONTAINERS, Encoder, header, snappy, string, uint
from tests.capture.apitrace.samples import REAL, call, opened
from tests.refusals import refused, refuses

ENTER = b"\0" + uint(0) + uint(1) + string("F") + uint(1) + string("a")
"""An enter event of a function with one argument, up to its details."""

BROKEN = {
    "there is no event 9": b"\x09",
    "there is no detail 8 of a call": ENTER + b"\x08",
    "there is no type 16 of value": ENTER + b"\x01\0\x10",
    "F has no argument 1": ENTER + b"\x01\x01\0",
    "call 5 is left without having been entered": b"\x01\x05\0",
    "a number has more than 64 bits": ENTER + b"\x01\0\x04" + b"\xff" * 10 + b"\0",
    "a value of type 7 where a number": ENTER + b"\x01\0\x09\0\x01" + string("A") + b"\x07",
    "0x10000 is no unit of a wide string": ENTER + b"\x01\0\x0f\x01" + uint(0x10000),
    "there is no detail 6 of a stack frame": ENTER + b"\x04\x01\0\x06",
    "limit nesting: 65 levels, at most 64; ": ENTER + b"\x01\0" + b"\x0b\x01" * 100,
    "limit threads: 4,097 threads, at most 4,096; ": b"\0" + uint(1 << 12),
    "the trace ends early": ENTER,
}
"""What is said of events that are none."""

HOLLOW = {
    "blob": (ENTER + b"\x01\0\x08" + uint(1 << 20) + b"abc", "the trace ends early"),
    "array": (ENTER + b"\x01\0\x0b" + uint(2**64 - 1), "the trace ends early"),
    "arguments": (b"\0\0\1" + string("F") + uint(2**64 - 1), "arguments, more than 64"),
    "backtrace": (ENTER + b"\x04" + uint(2**64 - 1), "the trace ends early"),
    "huge blob": (ENTER + b"\x01\0\x08" + uint(2**64 - 1), "the trace ends early"),
    "huge name": (b"\0\0\1" + uint(2**63), f"a name of {2**63} bytes, more than 256"),
}
"""Events that claim more than is there, and what is said of them."""


@pytest.mark.parametrize("what", BROKEN)
def test_damage_says_what_and_where(what: str) -> None:
    assert what in damage_of(BROKEN[what])


@pytest.mark.parametrize("name", HOLLOW)
def test_sizes_are_not_believed(name: str) -> None:
    events, what = HOLLOW[name]
    assert what in damage_of(events)


def damage_of(events: bytes) -> str:
    """What is said of events in a chunk of their own behind a good call, which is still given."""
    good = snappy(header() + Encoder().both(call(0, "G")))
    data = good + snappy(events)[2:]
    trace = opened(data)
    assert [one.name for one in trace.calls() if one.finished] == ["G"]
    assert trace.damage is not None
    assert trace.damage.offset in (len(good), len(data))
    assert "; calls from 1 on are lost" in str(trace.damage)
    return str(trace.damage)


def test_calls_that_are_open_count_together() -> None:
    encoder = Encoder()
    events = [encoder.enter(call(n, "F", bytes(50_000)), [0]) for n in range(10)]
    data = CONTAINERS["zstd"](header() + b"".join(events))
    assert 64 * len(data) < 40_000
    trace = opened(data, Limits(trace_bytes=110_000))
    assert [one.number for one in trace.calls()] == [0, 1]
    assert "calls that are not over: " in str(trace.damage)
    assert refuses(trace.damage, "trace_bytes", 110_000)


@pytest.mark.parametrize("container", ["gzip", "zstd", "brotli"])
def test_a_texture_that_compresses_well_is_read(container: str) -> None:
    data = CONTAINERS[container](header() + Encoder().both(call(0, "F", bytes(16 << 20))))
    assert len(data) < 1 << 17
    trace = opened(data)
    assert [len(one.arguments[0]) for one in trace.calls()] == [16 << 20]  # type: ignore[arg-type]
    assert trace.damage is None


@pytest.mark.parametrize("limit", [1 << 20, 100 << 20])
@pytest.mark.parametrize(
    ("container", "cause"),
    [
        ("snappy", "the file ends inside a chunk"), ("gzip", "the file ends inside the gzip"),
        ("brotli", "the file ends inside the brotli"),
    ],
)  # fmt: skip
def test_a_cut_trace_is_damaged_by_the_cut_whatever_its_blobs_claim(
    container: str, cause: str, limit: int
) -> None:
    noise = np.random.default_rng(8).integers(0, 256, 100_000, np.uint8).tobytes()
    whole = header() + ENTER + b"\x01\0\x08" + uint(200 << 20) + noise
    trace = opened(CONTAINERS[container](whole)[:-50_000], Limits(trace_bytes=limit))
    assert [one.finished for one in trace.calls()] in ([], [False])
    assert cause in str(trace.damage)


class Pipe(BytesIO):
    """What cannot say how long it is."""

    def seekable(self) -> bool:
        return False


@pytest.mark.parametrize(("kind", "whole"), [(BytesIO, 2), (Pipe, 1)])
def test_a_large_trace_may_hold_more(kind: type[BytesIO], whole: int) -> None:
    encoder = Encoder()
    events = [encoder.both(call(n, "F", bytes(size))) for n, size in enumerate((10, 60_000))]
    data = snappy(header() + events[0]) + snappy(events[1])[2:]
    assert 1_000 < len(data) < 4_000
    trace = open_trace(kind(data), limits=Limits(trace_bytes=4_000))
    assert len([one for one in trace.calls() if one.finished]) == whole


def test_calls_that_are_over_are_forgotten() -> None:
    encoder = Encoder()
    events = [encoder.both(call(n, "F", bytes(500), result=n)) for n in range(50)]
    trace = opened(snappy(header() + b"".join(events)), Limits(trace_bytes=4000))
    assert (len(list(trace.calls())), trace.damage) == (50, None)


def test_signatures_are_bounded() -> None:
    encoder = Encoder()
    events = [encoder.both(call(n, f"function {n}")) for n in range(50)]
    trace = opened(snappy(header() + b"".join(events)), Limits(signature_bytes=2000))
    assert 5 < len(list(trace.calls())) < 40
    assert "signatures: " in str(trace.damage)
    assert refuses(trace.damage, "signature_bytes", 2000)


@pytest.mark.parametrize("length", [0, 200])
def test_the_text_of_names_counts(length: int) -> None:
    encoder = Encoder()
    events = [encoder.both(call(n, f"{n:03}" + "x" * length)) for n in range(20)]
    trace = opened(snappy(header() + b"".join(events)), Limits(signature_bytes=8000))
    assert (len(list(trace.calls())) == 20) is (length == 0)
    assert (trace.damage is None) is (length == 0)


@pytest.mark.parametrize("count", [64, 65])
def test_a_function_has_64_arguments_at_most(count: int) -> None:
    signature = b"\0\0\1" + string("F") + uint(count) + string("a") * count
    trace = opened(snappy(header() + signature + b"\0" + b"\1\0\0"))
    assert (len([one for one in trace.calls() if one.finished]) == 1) is (count == 64)
    assert (f"{count} arguments, more than 64" in str(trace.damage)) is (count == 65)


@pytest.mark.parametrize("count", [256, 257])
def test_a_bitmask_has_256_flags_at_most(count: int) -> None:
    flags = b"".join(string("f") + uint(0) for _ in range(count))
    events = ENTER + b"\x01\0\x0a" + uint(0) + uint(count) + flags + uint(0) + b"\0" + b"\1\0\0"
    trace = opened(snappy(header() + events))
    assert (len([one for one in trace.calls() if one.finished]) == 1) is (count == 256)
    assert (f"{count} flags, more than 256" in str(trace.damage)) is (count == 257)


def test_calls_under_way_are_bounded_by_their_number() -> None:
    encoder = Encoder()
    events = [encoder.enter(call(n, "F")) for n in range(5)]
    trace = opened(snappy(header() + b"".join(events)), Limits(trace_calls=3))
    assert len(list(trace.calls())) == 3
    assert refuses(trace.damage, "trace_calls", 3)


def test_details_of_a_call_are_bounded_by_its_arguments() -> None:
    assert "F has no room for as many details" in damage_of(ENTER + b"\x05\0" * 1000)


def test_a_stream_that_looks_back_far_is_refused() -> None:
    far = zstandard.ZstdCompressionParameters(window_log=20, write_content_size=False)
    packer = zstandard.ZstdCompressor(compression_params=far).compressobj()
    packed = packer.compress(header() + bytes(1 << 21)) + packer.flush()
    with pytest.raises(CaptureError, match=refused("window_bytes", 1 << 16)):
        opened(packed, Limits(window_bytes=1 << 16))


@pytest.mark.parametrize("container", CONTAINERS)
def test_what_a_trace_expands_to_is_bounded(container: str) -> None:
    encoder = Encoder()
    stream = header() + b"".join(encoder.both(call(n, "F", bytes(100))) for n in range(9))
    packed = CONTAINERS[container](stream)
    whole = opened(packed, Limits(inflated_bytes=len(stream)))
    assert (len(list(whole.calls())), whole.damage) == (9, None)
    with pytest.raises(CaptureError, match=refused("inflated_bytes", len(stream) - 1)):
        opened(packed, Limits(inflated_bytes=len(stream) - 1))


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"at\1", "ends inside the size of a chunk"),
        (b"at\5\0\0\0ab", "ends inside a chunk of 5 bytes"),
        (b"at\xff\xff\xff\xff", "limit chunk_bytes"),
        (b"at\5\0\0\0\xff\xff\xff\xff\x0f", "limit chunk_bytes: 4,294,967,295 bytes"),
        (b"at\2\0\0\0\5\0", "does not expand"),
        (b"at", "ends early"),
        (b"\x1f\x8b\0\0\0", "gzip stream does not expand"),
        (CONTAINERS["gzip"](header())[:-9], "ends inside the gzip stream"),
        (b"\x28\xb5\x2f\xfd" + b"\xff" * 40, "zstd stream does not expand"),
        (b"no trace at all", "brotli stream does not expand"),
        (CONTAINERS["brotli"](header() + bytes(99))[:-2], "ends inside the brotli stream"),
        (b"", "ends inside the brotli stream"),
    ],
)
def test_container_that_cannot_be_read_is_refused(data: bytes, what: str) -> None:
    with pytest.raises(CaptureError, match=what) as raised:
        trace = opened(data)
        list(trace.calls())
        raise trace.damage or AssertionError
    assert raised.value.offset is not None


def usable(data: bytes) -> int:
    """How many calls can be read; anything but a CaptureError is a failure."""
    try:
        trace = opened(data)
    except CaptureError as error:
        assert error.offset is not None
        return 0
    count = sum(1 for _ in trace.calls())
    assert trace.damage is None or trace.damage.offset is not None
    return count


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.stem)
def test_every_thousandth_byte_may_be_cut_or_wrong(path: Path) -> None:
    data = path.read_bytes()
    for at in range(0, len(data), 1000):
        usable(data[:at])
        for flip in (1, 0x80, 0xFF):
            usable(data[:at] + bytes([data[at] ^ flip]) + data[at + 1 :])


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.stem)
def test_what_is_there_of_a_chunk_is_used(path: Path) -> None:
    data = path.read_bytes()
    counts = [usable(data[:at]) for at in range(0, len(data), 997)]
    assert counts == sorted(counts)
    assert counts[-1] > 0


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.stem)
def test_every_byte_of_the_expanded_stream_may_be_cut(path: Path) -> None:
    stream = expanded(path)
    counts = [usable(snappy(stream[:at])) for at in range(0, len(stream), 997)]
    assert counts == sorted(counts)


@settings(max_examples=100)
@given(st.data())
def test_any_bytes_of_the_expanded_stream_may_be_wrong(data: st.DataObject) -> None:
    stream = bytearray(expanded(REAL[-1]))
    for _ in range(data.draw(st.integers(1, 4))):
        stream[data.draw(st.integers(0, len(stream) - 1))] = data.draw(st.integers(0, 255))
    usable(snappy(bytes(stream)))


@given(st.binary(max_size=200))
def test_any_events_are_read_or_refused(events: bytes) -> None:
    usable(snappy(header() + events))


def expanded(path: Path) -> bytes:
    """The stream inside a trace of snappy chunks."""
    with path.open("rb") as file:
        packed = Packed(open_source(file), b"")
        return b"".join(expand("snappy", packed, Limits()))


def test_file_is_closed_when_its_header_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "a.trace"
    path.write_bytes(b"at")
    with pytest.raises(CaptureError, match=re.escape(str(path))):
        open_trace(path)

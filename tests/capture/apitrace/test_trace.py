"""Traces made by hand are read as they were made, whatever the version and the container."""

from __future__ import annotations

import struct
from io import BufferedReader, BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from dp2emu.capture.apitrace import MISSING, TraceCall, Value, open_trace
from dp2emu.capture.apitrace.container import begins_as_trace
from dp2emu.capture.apitrace.values import (
    Bitmask,
    BitmaskSignature,
    Double,
    Enum,
    EnumSignature,
    Pointer,
    Repr,
    StackFrame,
    Struct,
    StructSignature,
    WideString,
)
from dp2emu.errors import ArgumentError, CaptureError, UsageError
from tests.capture.apitrace.encoder import CONTAINERS, Encoder, header, snappy
from tests.capture.apitrace.samples import CLEAR, POOL, RECT, VALUES, call, opened


def read(data: bytes) -> list[TraceCall]:
    trace = opened(data)
    calls = list(trace.calls())
    assert trace.damage is None
    return calls


def kinds(value: Value) -> object:
    """The type of a value and those within it, which equality does not tell apart."""
    return [type(value), *map(kinds, value)] if isinstance(value, tuple) else type(value)


@pytest.mark.parametrize("name", VALUES)
def test_value_is_read_as_written(name: str) -> None:
    value = VALUES[name][0]
    made = call(0, "F", value, result=value)
    (found,) = read(snappy(header() + Encoder().both(made)))
    assert found == made
    assert kinds(found.arguments) == kinds(made.arguments)


@pytest.mark.parametrize("container", CONTAINERS)
def test_container_is_expanded(container: str) -> None:
    made = [call(n, "F", bytes(70_000), n) for n in range(40)]
    encoder = Encoder()
    stream = header() + b"".join(map(encoder.both, made))
    trace = opened(CONTAINERS[container](stream))
    assert trace.container == container
    for _ in range(2):
        found = [replace(one, offset=2) for one in trace.calls()]
        assert (found, trace.damage) == (made, None)


def test_gzip_members_are_joined() -> None:
    stream = header() + Encoder().both(call(0))
    pack = CONTAINERS["gzip"]
    (found,) = read(pack(stream[:5]) + pack(stream[5:]))
    assert found.name == "F"


@pytest.mark.parametrize("version", range(7))
def test_version_is_read(version: int) -> None:
    values = (Enum(EnumSignature((("A", 5),)), 5), Bitmask(CLEAR, 3), "text")
    made = call(0, "F", *values, thread=3, result=1)
    trace = opened(snappy(header(version) + Encoder(version).both(made)))
    assert list(trace.calls()) == [made]
    assert (trace.version, trace.semantic_version) == (version, version)


def test_properties_are_told() -> None:
    trace = opened(snappy(header(**{"process.name": "a b", "other": "\n"})))
    assert trace.properties == {"process.name": "a b", "other": "\\n"}


def test_chunks_cut_anywhere() -> None:
    made = [call(n, "F", *(value for value, _ in VALUES.values())) for n in range(2)]
    encoder = Encoder()
    stream = header() + b"".join(map(encoder.both, made))
    for size in (1, 2, 3, 7):
        assert [replace(one, offset=2) for one in read(snappy(stream, size))] == made


def test_calls_come_in_the_order_of_their_leaving() -> None:
    outer, inner = call(0, "Outer", thread=1), call(1, "Inner", thread=2)
    encoder = Encoder()
    events = [encoder.enter(outer), encoder.enter(inner), encoder.leave(inner)]
    stream = header() + b"".join([*events, encoder.leave(outer)])
    assert read(snappy(stream)) == [inner, outer]


def test_call_never_left_is_unfinished() -> None:
    encoder = Encoder()
    first, second = call(0, "A", 1, 2), call(1, "B")
    stream = header() + encoder.enter(first, [0]) + encoder.both(second)
    left = replace(first, arguments=(1, MISSING), finished=False)
    assert read(snappy(stream)) == [second, left]


def test_backtraces_and_flags_are_read() -> None:
    frames = (StackFrame("m", "f", "c.c", 3, 0x40), StackFrame(offset=9))
    made = [call(n, "F", backtrace=frames[: n + 1], flags=1) for n in range(2)]
    encoder = Encoder()
    found = read(snappy(header() + b"".join(map(encoder.both, made))))
    assert found == made
    assert all(one.fake for one in found)


def test_arguments_and_members_are_found_by_name() -> None:
    made = call(0, "F", 5)
    assert made.argument("a0") == 5
    assert Struct(RECT, (1, 2))["top"] == 2
    with pytest.raises(ArgumentError, match="F has no argument 'b'"):
        made.argument("b")
    with pytest.raises(KeyError):
        Struct(RECT, (1, 2))["b"]


def test_offset_is_the_chunk_of_the_entering() -> None:
    encoder = Encoder()
    first, second = header() + encoder.both(call(0)), encoder.both(call(1))
    data = snappy(first) + snappy(second)[2:]
    assert [one.offset for one in read(data)] == [2, len(snappy(first))]


def test_chunk_of_no_bytes_ends_the_trace() -> None:
    data = snappy(header() + Encoder().both(call(0)))
    assert len(read(data + bytes(4) + b"rest")) == 1


def test_pipe_is_read_once() -> None:
    class Pipe:
        def __init__(self, data: bytes) -> None:
            self.data = data

        def seekable(self) -> bool:
            return False

        def read(self, size: int) -> bytes:
            piece, self.data = self.data[:size], self.data[size:]
            return piece

    with open_trace(Pipe(snappy(header() + Encoder().both(call(0))))) as trace:  # type: ignore[arg-type]
        assert len(list(trace.calls())) == 1
        with pytest.raises(UsageError, match="only once"):
            list(trace.calls())


def test_newer_version_is_refused() -> None:
    with pytest.raises(CaptureError, match="trace version 7"):
        opened(snappy(b"\x07"))


NATURAL = st.integers(0, 2**64 - 1)
FLOAT = st.floats(width=32, allow_nan=False)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    NATURAL,
    st.integers(-(2**64) + 1, -1),
    FLOAT,
    st.floats(allow_nan=False).map(Double),
    st.binary(max_size=40),
    st.binary(max_size=40).map(lambda data: data.decode("utf-8", "surrogateescape")),
    st.text(st.characters(exclude_categories=()), max_size=8).map(
        lambda text: WideString(
            text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        )
    ),
    st.builds(Pointer, NATURAL),
    st.builds(Enum, st.just(POOL), st.integers(-(2**64) + 1, 2**64 - 1)),
    st.builds(Bitmask, st.sampled_from([CLEAR, BitmaskSignature(())]), NATURAL),
)


def within(inner: st.SearchStrategy[Value]) -> st.SearchStrategy[Value]:
    members = st.lists(inner, max_size=4).map(tuple)
    structs = members.map(
        lambda values: Struct(
            StructSignature("S", tuple(f"m{index}" for index in range(len(values)))), values
        )
    )
    return st.one_of(members, structs, st.builds(Repr, inner, inner))


TREES = st.recursive(LEAVES, within, max_leaves=12)


@settings(max_examples=60)
@given(st.lists(st.lists(TREES, max_size=4), max_size=4), st.integers(1, 60))
def test_any_calls_are_read_as_written(arguments: list[list[Value]], size: int) -> None:
    made = [call(n, f"F{len(values)}", *values) for n, values in enumerate(arguments)]
    encoder = Encoder()
    stream = header() + b"".join(map(encoder.both, made))
    found = [replace(one, offset=2) for one in read(snappy(stream, size))]
    assert found == made
    for one, other in zip(found, made, strict=True):
        assert kinds(one.arguments) == kinds(other.arguments)


def test_nan_keeps_its_bits() -> None:
    nan = struct.unpack("<d", b"\1\2\3\4\5\6\xf8\xff")[0]
    (found,) = read(snappy(header() + Encoder().both(call(0, "F", Double(nan)))))
    assert struct.pack("<d", found.arguments[0]) == b"\1\2\3\4\5\6\xf8\xff"


@pytest.mark.parametrize(
    ("container", "name", "is_one"),
    [
        ("snappy", "a.dp2", True),
        ("gzip", "-", True),
        ("zstd", "a", True),
        ("brotli", "a.trace", True),
        ("brotli", "a.dp2", False),
    ],
)
def test_a_trace_is_known_by_how_it_begins_or_is_called(
    container: str, name: str, is_one: bool
) -> None:
    data = CONTAINERS[container](header())
    stream = BufferedReader(BytesIO(data))  # type: ignore[arg-type]
    assert begins_as_trace(stream, name) is is_one
    assert stream.read() == data

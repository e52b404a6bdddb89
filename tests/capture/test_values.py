"""Values of the Direct3D 10/11 interface as bytes."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.capture.payloads import Kind, decode, encode
from dp2emu.capture.records import EntryCalled
from dp2emu.capture.values import NESTING, PLAIN_BYTES, Memory, Structure, Value, pack, unpack
from dp2emu.errors import CaptureError
from tests.capture.samples import VALUES


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (None, b"\0"),
        (5, b"\1" + struct.pack("<Q", 5)),
        (2**64 - 1, b"\1" + b"\xff" * 8),
        (-5, b"\2" + struct.pack("<q", -5)),
        (0.5, b"\3" + struct.pack("<d", 0.5)),
        ("é", b"\4\2\0\0\0\xc3\xa9"),
        (b"\0\1", b"\5\2\0\0\0\0\1"),
        (Memory(3, 40), b"\6" + struct.pack("<QQ", 3, 40)),
        ((None, ()), b"\7\2\0\0\0\0\7\0\0\0\0"),
        (Structure("A", (None,)), b"\x08\1\0\0\0\4\1\0\0\0A\0"),
    ],
)
def test_each_kind_of_value_has_its_bytes(value: Value, data: bytes) -> None:
    assert pack(value) == data
    assert unpack(data) == value


@given(VALUES)
def test_values_come_back(value: Value) -> None:
    assert unpack(pack(value)) == value


@given(st.binary(max_size=60))
def test_any_bytes_are_a_value_or_an_error(data: bytes) -> None:
    try:
        value = unpack(data)
    except CaptureError:
        return
    assert pack(value) == data


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x09",
        b"\0\0",
        b"\1\0",
        b"\2" + struct.pack("<q", 5),
        b"\4\1\0\0\0\xff",
        b"\5\xff\xff\xff\xff",
        b"\7\xff\xff\xff\xff\0",
        b"\x08\0\0\0\0\0",
        b"\x08\0\0\0\0\4\1\0\0\0a",
        b"\7\1\0\0\0" * (NESTING + 1) + b"\0",
        b"\7" + struct.pack("<I", PLAIN_BYTES) + b"\0" * PLAIN_BYTES,
    ],
)
def test_bytes_that_are_no_value_are_refused(data: bytes) -> None:
    with pytest.raises(CaptureError):
        unpack(data)


def nested(depth: int) -> Value:
    return (nested(depth - 1),) if depth else None


@pytest.mark.parametrize(
    "value",
    [1 << 64, -(2**63) - 1, "\ud800", "x" * PLAIN_BYTES, Structure("a b", ()), nested(13), [1]],
)
def test_what_readers_would_not_take_is_not_written(value: Value) -> None:
    with pytest.raises(CaptureError):
        pack(value)


def test_bytes_may_be_long() -> None:
    assert unpack(pack(b"x" * (2 * PLAIN_BYTES))) == b"x" * (2 * PLAIN_BYTES)


@pytest.mark.parametrize("entry", ["", "draw", "GL.Draw", "Draw\n", "D" * 101])
def test_a_function_has_a_name(entry: str) -> None:
    with pytest.raises(CaptureError):
        encode(EntryCalled(1, 110, entry))


@pytest.mark.parametrize(
    "values",
    [
        None,
        (),
        ((), None, ()),
        (1, None, (), ()),
        ((), None, (None,), ()),
        ((), None, (), ((1, 2),)),
        ((), None, (), (), None),
        ((), None, (), (), -1),
        ((), None, (), (), "7"),
        ((), None, (), (), 7, 8),
    ],
)
def test_the_values_of_an_entry_are_a_list_of_four_or_five(values: Value) -> None:
    data = pack(values)
    payload = struct.pack("<QIII", 1, 110, 4, len(data)) + b"Draw" + data
    with pytest.raises(CaptureError):
        decode(Kind.ENTRY, 0, payload)


@pytest.mark.parametrize("call", [-1, 1 << 64])
def test_the_api_call_of_an_entry_has_8_bytes(call: int) -> None:
    with pytest.raises(CaptureError, match="no number of 8 bytes"):
        encode(EntryCalled(1, 110, "Flush", call=call))


def test_the_api_call_of_an_entry_is_a_fifth_value_only_where_it_is_known() -> None:
    head = struct.pack("<QIII", 1, 110, 5, 0)[:-4]
    for call, more in ((None, ()), (0, (0,)), (7, (7,))):
        values = pack(((), None, (), (), *more))
        payload = head + struct.pack("<I", len(values)) + b"Flush" + values
        record = EntryCalled(1, 110, "Flush", call=call)
        assert encode(record)[2] == payload
        assert decode(Kind.ENTRY, 0, payload) == record

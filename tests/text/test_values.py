"""Values of the Direct3D 10/11 interface as text and as JSON."""

from __future__ import annotations

import json
import struct

import pytest

from dp2emu.capture.records import EntryCalled
from dp2emu.capture.values import Memory, Structure, Value, json_of
from dp2emu.text import TextError
from dp2emu.text.textfile import TextCapture
from dp2emu.text.values import ValueText

HEAD = "dp2emu-text version=1\nentry device=1 interface=110\n"


@pytest.mark.parametrize(
    ("value", "text", "parsed"),
    [
        (None, "null", None),
        (5, "5", 5),
        (-5, "-5", -5),
        (2**64 - 1, "18446744073709551615", 2**64 - 1),
        (0.5, "0.5", 0.5),
        (float("inf"), "inf", "inf"),
        ("a b", '"a b"', "a b"),
        (b"\0\xff", '{hex="00ff"}', {"hex": "00ff"}),
        (Memory(3, 40), "{memory=3 size=40}", {"memory": 3, "size": 40}),
        ((1, None), "[1 null]", [1, None]),
        (Structure("Made", (8, 0)), "{Made=[8 0]}", {"Made": [8, 0]}),
    ],
)
def test_each_kind_of_value_is_shown_and_read(value: Value, text: str, parsed: object) -> None:
    assert ValueText().show(value).replace("00 ff", "00ff") == text
    assert json.loads(json.dumps(json_of(value))) == parsed
    assert read(f"name: Draw\narguments: {text}").arguments == (value,)


def test_a_float_that_is_no_number_keeps_its_bits() -> None:
    for bits in (0x7FF8000000000000, 0xFFF8000000000001):
        (value,) = struct.unpack("<d", struct.pack("<Q", bits))
        text = ValueText().show(value)
        (found,) = read(f"name: Draw\narguments: {text}").arguments
        assert struct.pack("<d", found) == struct.pack("<Q", bits)
        assert json_of(value) == "nan"


def test_long_bytes_stand_below() -> None:
    text = ValueText()
    assert text.show((b"a" * 33, b"b" * 64)) == "[{blob=0} {blob=1}]"
    assert [line.split(":")[0] for line in text.blobs()] == ["blob0", "blob0", "blob1", "blob1"]


def read(lines: str) -> EntryCalled:
    (record,) = TextCapture(HEAD.splitlines() + lines.splitlines()).records()
    assert isinstance(record, EntryCalled)
    return record


@pytest.mark.parametrize(
    "lines",
    [
        "",
        "arguments: 1",
        'name: "Draw"',
        "name: Draw Draw",
        "name: draw",
        "name: Draw\narguments: nothing",
        "name: Draw\narguments: 0x10000000000000000",
        "name: Draw\narguments: {}",
        "name: Draw\narguments: {a=1}",
        "name: Draw\narguments: {Query=1}",
        "name: Draw\narguments: {A=[1] B=[1]}",
        "name: Draw\narguments: {blob=0}",
        'name: Draw\narguments: {blob=0} {blob=0}\nblob0: "00"',
        'name: Draw\nblob0: "00"',
        "name: Draw\nresult: 1 2",
        "name: Draw\ncodes: null",
        "name: Draw\nwritten: 3",
        "name: Draw\nmore: 3",
        "name: Draw\narguments: " + "[" * 14 + "]" * 14,
    ],
)
def test_what_is_no_entry_is_refused_with_its_line(lines: str) -> None:
    with pytest.raises(TextError, match="line"):
        read(lines)

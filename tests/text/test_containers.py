"""The dump of containers: what construct reads, beside the JSON lines of the walk."""

from __future__ import annotations

import json
from io import StringIO
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.capture.records import Answered, Called, FrameMarker
from dp2emu.d3d.dp2structs import Op
from dp2emu.dp2.call import Answer, Call
from dp2emu.dp2.generate import generate_stream
from dp2emu.dp2.table import TABLE
from dp2emu.text.containers import ContainerWriter
from dp2emu.text.jsonl import JsonLinesWriter
from tests.text.samples import VERTEX_BYTES, XYZRHW_DIFFUSE

RESPONSE = bytes.fromhex("58000100 14000000 05000000 04000000 2A000000 57000000 08000000")


def call_of(commands: bytes, offset: int = 0) -> Called:
    call = Call(1, 2, offset, len(commands), dwVertexType=XYZRHW_DIFFUSE, commands=commands)
    return Called(call)


def text_of(*records: Any) -> str:
    out = StringIO()
    writer = ContainerWriter(out)
    for record in records:
        writer.write(record)
    return out.getvalue()


def rows_of(writer: type[Any], *records: Any, **options: bool) -> list[dict[str, Any]]:
    out = StringIO()
    made = writer(out, **options)
    for record in records:
        made.write(record)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_text_has_every_field_by_its_name() -> None:
    assert text_of(call_of(TABLE[Op.SETLIGHT].samples[0], 6)).splitlines()[:4] == [
        "token of call 0, offset 0x0006, SETLIGHT",
        "  header: bCommand=34 bReserved=0 wPrimitiveCount=1",
        "  items",
        "    0",
    ]
    assert text_of(call_of(TABLE[Op.ZRANGE].samples[0])).endswith(
        "  items\n    0: dvMinZ=0.0 dvMaxZ=1.0\n"
    )


def test_text_has_indices_on_a_line_and_padding_in_hexadecimal() -> None:
    strip = TABLE[Op.INDEXEDTRIANGLESTRIP].samples[0]
    assert "  items: 0 1 2 3\n" in text_of(call_of(strip))
    line = bytes([Op.LINELIST_IMM, 0, 1, 0]) + b"\xaa\xbb" + bytes(2 * VERTEX_BYTES)
    assert "  pad: aabb\n" in text_of(call_of(line, 2))


def test_bytes_that_are_no_token_are_shown() -> None:
    assert text_of(call_of(b"\xff\0\1\0")) == (
        "raw of call 0, offset 0x0000, opcode 255 is no command (unassigned)\n  bytes: ff000100\n"
    )


def test_responses_are_read_too() -> None:
    text = text_of(call_of(b""), Answered(Answer(0, len(RESPONSE), 0, RESPONSE)))
    assert text.splitlines() == [
        "responses of call 0, offset 0x0000, RESPONSEQUERY",
        "  offset: 0",
        "  header: bCommand=88 bReserved=0 wStateCount=1 dwTotalSize=20",
        "  answers",
        "    0: offset=8 dwQueryID=5 dwSize=4 data=2a000000",
        "  stop: 20",
        "responses of call 0, offset 0x0014, RESPONSECONTINUE",
        "  offset: 20",
        "  header: bCommand=87 bReserved=0 wStateCount=0 dwTotalSize=8",
        "  answers:",
        "  stop: 28",
    ]


@pytest.mark.parametrize("cut", [1, 9, 19])
def test_malformed_responses_are_shown_as_bytes(cut: int) -> None:
    [row] = rows_of(ContainerWriter, Answered(Answer(0, cut, 0, RESPONSE[:cut])), jsonl=True)
    assert (row["record"], row["bytes"]) == ("raw", RESPONSE[:cut].hex())


def test_other_records_are_left_out() -> None:
    assert text_of(FrameMarker(0, 1)) == ""


@given(st.randoms(use_true_random=False), st.booleans())
def test_json_lines_have_the_fields_that_the_walk_reads(random: Random, spoilt: bool) -> None:
    commands = bytearray(generate_stream(random, 6, vertex_size=VERTEX_BYTES))
    if spoilt:
        commands[random.randrange(len(commands))] = random.randrange(256)
    record = call_of(bytes(commands))
    _, *walked = rows_of(JsonLinesWriter, record)
    parsed = rows_of(ContainerWriter, record, jsonl=True)
    assert [_place(row) for row in parsed] == [_place(row) for row in walked]
    for mine, theirs in zip(parsed, walked, strict=True):
        if mine["record"] == "token":
            fields = mine["fields"]
            assert fields["header"]["wPrimitiveCount"] == theirs["count"]
            assert fields.get("head") == _numbers(theirs.get("head"))
            assert _without_empty(fields.get("items")) == _numbers(theirs.get("items"))
            assert fields.get("vertices") == theirs.get("vertices")
        else:
            assert mine == theirs


def _place(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["record"], row["call"], row["offset"], row.get("token")


def _numbers(value: Any) -> Any:
    """JSON lines of the walk with the numbers of enumerated fields, as construct has them."""
    if isinstance(value, list):
        return [_numbers(each) for each in value]
    if not isinstance(value, dict):
        return value
    plain = {name: _numbers(each) for name, each in value.items() if not name.endswith("_raw")}
    for name, each in value.items():
        field = name.removesuffix("_raw")
        if field != name and not str(plain[field]).startswith(("nan(", "inf", "-inf")):
            plain[field] = each
    return plain


def _without_empty(value: Any) -> Any:
    """Fields without the empty parts behind an item, which JSON lines of the walk omit."""
    if isinstance(value, list):
        return [_without_empty(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {name: _without_empty(each) for name, each in value.items() if each != []}

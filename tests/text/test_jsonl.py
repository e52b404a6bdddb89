"""JSON lines against a plain reference: construct's reading, through json.dumps."""

from __future__ import annotations

import json
import math
import struct
from io import StringIO
from random import Random
from typing import Any

import numpy as np
import pytest
from construct import Container, ListContainer
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.capture.records import Answered, Called, ContextCreated, ContextDestroyed
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import QueryType
from dp2emu.d3d.sdk import sdk_name
from dp2emu.dp2.call import Answer, Call
from dp2emu.dp2.generate import generate_stream
from dp2emu.dp2.parse import parse
from dp2emu.dp2.queries import KINDS
from dp2emu.dp2.table import TABLE, Token
from dp2emu.replay.values import payload_value
from dp2emu.text.jsonl import JsonLinesWriter
from tests.capture.samples import EVERYTHING, SEEN, sealed
from tests.text.samples import VERTEX_BYTES, XYZRHW_DIFFUSE, json_lines


def token_lines(commands: bytes, offset: int = 0) -> list[str]:
    """The lines of one call, without the call's own."""
    out = StringIO()
    call = Call(1, 2, offset, len(commands), dwVertexType=XYZRHW_DIFFUSE, commands=commands)
    JsonLinesWriter(out).write(Called(call))
    return out.getvalue().splitlines()[1:]


# The reference


def reference(commands: bytes) -> list[str]:
    """The same lines, slowly."""
    found = parse(commands, 0, len(commands), VERTEX_BYTES)
    rows = [_row(offset, TABLE[op], fields) for offset, op, fields in found.commands]
    if found.problem is not None:
        rest = commands[found.stop :].hex()
        rows.append({"record": "raw", "call": 0, "offset": found.stop, "bytes": rest})
    return [json.dumps(row, separators=(",", ":")) for row in rows]


def _row(offset: int, token: Token, fields: Any) -> dict[str, Any]:
    row = {"record": "token", "call": 0, "offset": offset, "token": token.name,
           "count": fields.header.wPrimitiveCount}  # fmt: skip
    if token.head is not None:
        row["head"] = _plain(fields.head, token)
    if token.items is not None:
        row["items"] = [_plain(item, token) for item in fields["items"]]
    if token.vertices is not None:
        row["vertices"] = fields.vertices.hex()
    if fields.header.bReserved:
        row["bReserved"] = fields.header.bReserved
    return row


def _plain(value: Any, token: Token) -> Any:
    if isinstance(value, Container):
        return dict(pair for name, each in value.items() for pair in _members(name, each, token))
    if isinstance(value, ListContainer):
        return [_plain(each, token) for each in value]
    return _number(value) if isinstance(value, (float, np.float32)) else value


def _members(name: str, value: Any, token: Token) -> list[tuple[str, Any]]:
    tails = [part for part, _, _ in token.tail.parts] if token.tail else []
    if name == "_io" or (name in tails and not value):
        return []
    if name in token.enums:
        return [(name, sdk_name(token.enums[name], value)), (f"{name}_raw", value)]
    if isinstance(value, (float, np.float32)) and not math.isfinite(value):
        return [(name, _number(value)), (f"{name}_raw", _bits(value))]
    return [(name, _plain(value, token))]


def _number(value: float | np.float32) -> float | str:
    if math.isnan(value):
        return f"nan({_bits(value):#010x})"
    return float(str(np.float32(value))) if math.isfinite(value) else str(value)


def _bits(value: float | np.float32) -> int:
    return int(np.array(value, "<f4").view("<u4"))


@given(st.randoms(use_true_random=False), st.booleans())
def test_the_lines_are_those_of_the_reference(random: Random, spoilt: bool) -> None:
    commands = bytearray(generate_stream(random, 6, vertex_size=VERTEX_BYTES))
    if spoilt:
        commands[random.randrange(len(commands))] = random.randrange(256)
    data = bytes(commands)
    lines = token_lines(data)
    if lines and '"problem"' in lines[-1]:
        last = json.loads(lines[-1])
        assert last.pop("problem")
        lines[-1] = json.dumps(last, separators=(",", ":"))
    assert lines == reference(data)


@pytest.mark.parametrize("token", TABLE.values(), ids=lambda token: token.name)
def test_every_sample_is_one_object(token: Token) -> None:
    for sample in token.samples:
        call = Call(1, 2, 0, len(sample), dwVertexSize=32, commands=sample)
        out = StringIO()
        JsonLinesWriter(out).write(Called(call))
        (line,) = out.getvalue().splitlines()[1:]
        row = json.loads(line)
        assert (row["token"], row["call"], row["offset"]) == (token.name, 0, 0)


def test_the_documented_example() -> None:
    assert token_lines(bytes.fromhex("08000100 07000000 01000000"), 16) == [
        '{"record":"token","call":0,"offset":16,"token":"RENDERSTATE","count":1,"items":'
        '[{"RenderState":"D3DRS_ZENABLE","RenderState_raw":7,"dwState":1}]}'
    ]


def test_more_tokens_than_are_written_at_a_time_come_in_order() -> None:
    commands = bytes.fromhex("5A000100 05000000") * 1300
    offsets = [json.loads(line)["offset"] for line in token_lines(commands)]
    assert offsets == list(range(0, 8 * 1300, 8))


def test_every_record_is_an_object_that_names_its_kind() -> None:
    rows = [json.loads(line) for line in json_lines(sealed(EVERYTHING))]
    kinds = [row["record"] for row in rows if row["record"] not in ("token", "raw")]
    assert kinds == [
        "annotation", "surface", "context", "surface", "call", "answer", "memory", "call",
        "answer", "call", "answer", "frame", "surface-destroyed", "context-destroyed",
    ]  # fmt: skip
    calls = [(row["record"], row["call"]) for row in rows if row["record"] in ("call", "answer")]
    assert calls == [(kind, call) for call in range(3) for kind in ("call", "answer")]


def test_what_a_program_saw_has_its_names_and_bytes() -> None:
    _, shown, locked, waiting, got = (json.loads(line) for line in json_lines(sealed(SEEN)))
    assert (shown["record"], shown["call"], shown["how"], shown["data"]) == (
        "picture", 12, "PRESENT", "",
    )  # fmt: skip
    assert (locked["how"], locked["how_raw"], locked["data"]) == ("LOCK", 4, b"pixels".hex())
    assert (waiting["hr"], waiting["hr_raw"]) == ("S_FALSE", 1)
    assert (got["record"], got["query"], got["hr"], got["data"]) == (
        "observation", 7, "D3D_OK", "01000000",
    )  # fmt: skip


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.type.name)
def test_answers_are_told_by_the_type_of_their_query(kind: Any) -> None:
    data = b"\1" + bytes(kind.layout.size - 1)
    create = struct.pack("<BBHII", Op.CREATEQUERY, 0, 1, 7, kind.type)
    response = struct.pack("<BBHIII", 88, 0, 1, 16 + len(data), 7, len(data)) + data
    out = StringIO()
    writer = JsonLinesWriter(out)
    writer.write(Called(Call(1, 2, 0, len(create), commands=create)))
    writer.write(Answered(Answer(0, len(response), 0, response)))
    row = json.loads(out.getvalue().splitlines()[-1])
    (answer,) = row["responses"]
    assert answer["type"] == QueryType(kind.type).sdk
    assert answer["raw"] == data.hex()
    assert _rounded(answer["value"]) == _rounded(payload_value(kind.type, data))


def _rounded(value: Any) -> Any:
    """Floats as float32 sees them; replay has them in double precision."""
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return float(np.float32(value)) if isinstance(value, float) else value


def test_an_answer_whose_query_is_unknown_keeps_its_bytes() -> None:
    response = bytes.fromhex("58000100 14000000 05000000 04000000 2a000000")
    out = StringIO()
    JsonLinesWriter(out).write(Answered(Answer(0, 20, 0, response + b"more")))
    row = json.loads(out.getvalue())
    assert row["responses"] == [
        {"query": 5, "type": None, "size": 4, "value": None, "raw": "2a000000"}
    ]
    assert row["raw"] == b"more".hex()


def test_queries_die_with_their_context() -> None:
    create = struct.pack("<BBHII", Op.CREATEQUERY, 0, 1, 5, QueryType.EVENT)
    response = bytes.fromhex("58000100 14000000 05000000 04000000 01000000")
    out = StringIO()
    writer = JsonLinesWriter(out)
    for record in (
        ContextCreated(1),
        Called(Call(1, 2, 0, len(create), commands=create)),
        ContextDestroyed(1),
        Called(Call(1)),
        Answered(Answer(0, 20, 0, response)),
    ):
        writer.write(record)
    assert json.loads(out.getvalue().splitlines()[-1])["responses"][0]["type"] is None

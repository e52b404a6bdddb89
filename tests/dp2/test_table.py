"""The token table against the layout file: numbers, versions, structures and length rules."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import dp2emu
from dp2emu.d3d.dp2structs import Op
from dp2emu.dp2.generate import generate
from dp2emu.dp2.table import TABLE, Since, Token, token
from dp2emu.dp2.tokens import GAPS
from dp2emu.dp2.walk import decode, scan
from dp2emu.layout import dtype_of
from tests.d3d.structs import STRUCTS
from tests.reference import layout

TIMES: dict[str, Callable[[int], int]] = {
    "1": lambda n: 1,
    "n": lambda n: n,
    "n+1": lambda n: n + 1,
    "n+2": lambda n: n + 2,
    "2*n": lambda n: 2 * n,
}
"""How the layout file writes the number of elements."""

TAILS: dict[str, Callable[[Any], int]] = {
    "4*wNumEntries": lambda x: 4 * x["wNumEntries"],
    "dwDataType==2 ? sizeof(D3DLIGHT7) : 0": lambda x: 104 if x["dwDataType"] == 2 else 0,
    "max(dwSize,8)-8": lambda x: max(x["dwSize"], 8) - 8,
    "dwDeclSize+dwCodeSize": lambda x: x["dwDeclSize"] + x["dwCodeSize"],
    "16*dwCount": lambda x: 16 * x["dwCount"],
    "4*dwCount": lambda x: 4 * x["dwCount"],
    "dwCodeSize": lambda x: x["dwCodeSize"],
    "dwSize": lambda x: x["dwSize"],
    "8*dwNumVertexElements": lambda x: 8 * x["dwNumVertexElements"],
    "(Flags&1 ? 16 : 0) + (Flags&2 ? 28 : 0)": lambda x: (
        16 * (x["Flags"] & 1) + 14 * (x["Flags"] & 2)
    ),
    "(Flags&1 ? 12 : 0) + (Flags&2 ? 16 : 0)": lambda x: (
        12 * (x["Flags"] & 1) + 8 * (x["Flags"] & 2)
    ),
    "(dwFlags&1 ? 4*dwWidth : 0) + (dwFlags&2 ? 4*dwHeight : 0)": lambda x: (
        4 * x["dwWidth"] * (x["dwFlags"] & 1) + 2 * x["dwHeight"] * (x["dwFlags"] & 2)
    ),
}
"""How the layout file writes the bytes behind an element."""

VERTEX_SIZE = 28
INCOMING = sorted(TABLE.values(), key=lambda row: row.op)


def rule_of(row: Token) -> dict[str, Any]:
    rule: dict[str, Any] = layout()["opcodes"][row.op.sdk]["length"]
    return rule


def test_opcodes_have_the_numbers_and_names_of_the_reference() -> None:
    reference = {name: facts["value"] for name, facts in layout()["opcodes"].items()}
    assert {op.sdk: int(op) for op in Op} == reference


def test_every_opcode_is_a_row_except_the_two_a_driver_sends() -> None:
    assert {Op(op) for op in TABLE} == set(Op) - {Op.RESPONSECONTINUE, Op.RESPONSEQUERY}


def test_every_number_is_either_a_row_or_a_gap() -> None:
    assert sorted([*TABLE, *GAPS]) == list(range(256))
    assert set(layout()["unassigned_opcodes_1_98"]) == set(GAPS) & set(range(1, 87)) | {92}


@pytest.mark.parametrize("row", INCOMING, ids=lambda row: row.name)
def test_token_is_as_old_as_the_reference_says(row: Token) -> None:
    assert row.since == Since(layout()["opcodes"][row.op.sdk]["since_directx"])


@pytest.mark.parametrize("row", INCOMING, ids=lambda row: row.name)
def test_row_is_declared_with_the_structure_of_the_reference(row: Token) -> None:
    rule = rule_of(row)
    name = rule.get("struct")
    if name is not None:
        assert any(part is STRUCTS[name] for part in (row.head, row.items))


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7])
@pytest.mark.parametrize("row", INCOMING, ids=lambda row: row.name)
def test_payload_is_as_long_as_the_reference_says(row: Token, n: int) -> None:
    rule = rule_of(row)
    data = generate(row, Random(n), n=n, vertex_size=VERTEX_SIZE)
    scanned = scan(data, 0, len(data), VERTEX_SIZE)
    assert scanned.problem is None
    [(_, found, count, start, end)] = scanned.commands
    assert (found, count) == (row, n)
    body = decode(row, data, n, start, end, VERTEX_SIZE)
    assert end - start == len(data) - 4 == _expected(rule, n, body.head, body.items)


def _expected(rule: dict[str, Any], n: int, head: Any, items: Any) -> int:
    if rule["times"] == "n, or 1 when n == 0 and flags has 8":
        times = n or int(bool(head["dwFlags"] & 8))
    else:
        times = TIMES[rule["times"]](n)
    each = VERTEX_SIZE if rule["each"] == "vertex_size" else rule["each"]
    tails = sum(TAILS[rule["tail"]](_numbers(item)) for item in items) if "tail" in rule else 0
    # Tokens here start at 0, so the data of _IMM tokens is aligned already.
    return int(rule.get("lead", 0) + times * each + tails)


def _numbers(item: Any) -> dict[str, int]:
    return {name: int(item[name]) for name in item.dtype.names}


@pytest.mark.parametrize("row", INCOMING, ids=lambda row: row.name)
def test_row_is_documented_and_has_a_sample_that_is_one_token(row: Token) -> None:
    assert row.doc.endswith(".")
    assert row.samples
    for sample in row.samples:
        scanned = scan(sample, 0, len(sample), 32)
        assert scanned.problem is None
        assert [command[1] for command in scanned.commands] == [row]


@pytest.mark.parametrize("row", INCOMING, ids=lambda row: row.name)
def test_enumerated_fields_exist(row: Token) -> None:
    fields = {
        name
        for dtype in (row.head_dtype, row.item_dtype)
        if dtype is not None
        for name in dtype.names or ()
    }
    assert row.enums.keys() <= fields


@pytest.mark.parametrize("row", INCOMING, ids=lambda row: row.name)
def test_dtype_is_the_construct_read_another_way(row: Token) -> None:
    for declaration, dtype in ((row.head, row.head_dtype), (row.items, row.item_dtype)):
        assert (declaration is None) == (dtype is None)
        if declaration is not None:
            assert dtype == dtype_of(declaration)
            assert dtype.itemsize == declaration.sizeof()


def test_no_row_has_a_shape_the_walk_does_not_know() -> None:
    for row in INCOMING:
        assert row.tail is None or (row.items is not None and row.head is None)
        assert row.vertices is None or row.items is None
        assert row.implied is None or (row.head is not None and row.tail is None)


def test_tail_sizes_agree_between_the_row_and_its_parts() -> None:
    item = np.array((0, 12, 8), TABLE[Op.CREATEVERTEXSHADER].item_dtype)
    assert TABLE[Op.CREATEVERTEXSHADER].tail.size(item) == 20


def test_an_opcode_cannot_be_registered_twice() -> None:
    with pytest.raises(TypeError, match="D3DDP2OP_POINTS is registered twice"):
        token(Op.POINTS)(lambda context, body: None)


def test_the_table_needs_no_gpu_and_no_foreign_structures() -> None:
    program = (
        "import sys, dp2emu.dp2.walk\n"
        "loaded = [name for name in sys.modules if name.startswith('dp2emu')]\n"
        "print(*loaded)"
    )
    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(dp2emu.__file__).parents[1],
    )
    loaded = set(run.stdout.split())
    assert not {name for name in loaded if name.startswith("dp2emu.gpu")}
    assert not loaded & {"dp2emu.d3d.ddi", "dp2emu.d3d.caps", "dp2emu.d3d.hal"}

"""Tables of ``docs/reference`` against the tables of the code."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from dp2emu.d3d.devinfo import PAYLOADS
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import QueryType
from dp2emu.d3d.hresult import HResult
from dp2emu.ddi10.codes import DdiCode
from dp2emu.ddi10.device import DXGI_FUNCTIONS, SINCE
from dp2emu.ddi10.queries.counters import Counter
from dp2emu.ddi10.queries.query_types import QUERY_TYPES
from dp2emu.dp2.queries import KINDS as QUERY_KINDS
from dp2emu.dp2.queries import Window
from dp2emu.dp2.table import TABLE
from dp2emu.dp2.tokens import GAPS
from dp2emu.shader.sm import opcodes as sm
from dp2emu.shader.sm4 import opcodes as sm4
from tests.tools.loading import ROOT

_RULE = re.compile(r"=+(?: +=+)+")
_WRITTEN_BY_DRIVERS = {Op.RESPONSECONTINUE, Op.RESPONSEQUERY}


def section(page: str, title: str) -> str:
    """The text of a section, without those below it."""
    text = (ROOT / "docs" / "reference" / f"{page}.rst").read_text("utf-8")
    headed = rf"^{re.escape(title)}\n(?:-+|~+)\n(.*?)(?=^[^\n]+\n(?:---+|~~~+)\n|\Z)"
    match = re.search(headed, text, re.MULTILINE | re.DOTALL)
    assert match, f"{page} has no section {title!r}"
    return match[1]


def rows(page: str, title: str, head: str) -> list[list[str]]:
    """The rows of the simple table of a section whose first head is ``head``."""
    lines = section(page, title).split("\n")
    (at,) = (n for n, line in enumerate(lines) if line.split("  ")[0] == head)
    starts = [each.start() for each in re.finditer(r"=+", lines[at - 1])]
    found: list[list[str]] = []
    for line in lines[at + 2 :]:
        if _RULE.fullmatch(line):
            return found
        ends = [*starts[1:], len(line) + 1]
        cells = [line[a:b].strip() for a, b in zip(starts, ends, strict=True)]
        if cells[0]:
            found.append(cells)
        else:
            joined = zip(found[-1], cells, strict=True)
            found[-1] = [f"{old} {new}".strip() for old, new in joined]
    raise AssertionError("the table does not end")


def numbers(cell: str) -> Iterator[int]:
    """The numbers of a cell such as "4, 5" or "9 to 12"."""
    for part in cell.split(", "):
        first, _, last = part.partition(" to ")
        yield from range(int(first, 0), int(last or first, 0) + 1)


@pytest.mark.parametrize("version", range(6, 10))
def test_opcodes_of_a_version_are_those_of_the_token_table(version: int) -> None:
    listed = {int(row[0]): row[1] for row in rows("wire", f"DirectX {version} opcodes", "opcode")}
    known = {op: row.name for op, row in TABLE.items() if row.since == version}
    if version == 9:
        known |= {op: op.name for op in _WRITTEN_BY_DRIVERS}
    assert listed == known


def test_unassigned_opcodes_are_the_gaps_of_the_token_table() -> None:
    table = rows("wire", "Unassigned opcodes", "opcode")
    assert sorted(number for row in table for number in numbers(row[0])) == sorted(GAPS)


def test_query_types_have_the_sizes_and_flags_of_the_code() -> None:
    listed = {
        QueryType(int(number)): (name, int(size), flags == "BEGIN, END")
        for number, name, size, _, flags in rows("wire", "Query types", "number")
    }
    assert listed == {
        kind: (kind.name, PAYLOADS[kind].sizeof(), QUERY_KINDS[kind].window is Window.INTERVAL)
        for kind in PAYLOADS
    }


def test_results_have_the_values_of_the_code() -> None:
    for name, value, _ in rows("wire", "Results", "ddrval"):
        assert HResult[name] & 0xFFFFFFFF == int(value, 0), name


def test_opcodes_of_shader_models_1_to_3_are_those_of_the_table() -> None:
    listed = {int(row[0], 0): row[1] for row in rows("sm1-3", "Opcodes", "number")}
    assert listed == {int(op): op.name.lower() for op in sm.Op}


def test_opcodes_of_shader_models_4_and_5_are_those_of_the_table() -> None:
    listed = {}
    for title in ("Opcodes of 4.0", "Opcodes of 4.1", "Opcodes of 5.0", "Later opcodes"):
        for number, name, operands, since, _ in rows("sm4-5", title, "number"):
            letters = operands.replace(" ", "")
            listed[int(number)] = name, letters.rstrip("+"), "+" in letters, since.split()[0]
    assert listed == {
        int(op): (
            op.name.lower(),
            "" if op.row.declares is not None else op.row.operands,
            op.row.saturates,
            "{}.{}".format(*op.row.since),
        )
        for op in sm4.Op
    }


def test_queries_of_the_ddi_have_the_sizes_of_the_code() -> None:
    sizes, begins, predicates = {}, set(), set()
    for number, _, _, size, begin, predicate in rows("ddi", "Query types", "number"):
        if not number.startswith("from"):
            for each in numbers(number):
                sizes[each] = int(size)
                begins |= {each} if begin == "yes" else set()
                predicates |= {each} if predicate.startswith("yes") else set()
    assert sizes == {int(query): kind.layout.size for query, kind in QUERY_TYPES.items()}
    assert begins == {query for query, kind in QUERY_TYPES.items() if kind.begins}
    assert predicates == {query for query, kind in QUERY_TYPES.items() if kind.predicate}


def test_codes_and_counters_of_the_ddi_have_the_numbers_of_the_code() -> None:
    codes = {name: int(value, 0) for name, value in rows("ddi", "Result codes", "name")}
    assert {name: codes.get(name) for name in DdiCode.__members__} == dict(DdiCode.__members__)
    counters = {}
    for number, name in rows("ddi", "Counters", "number"):
        if not number.startswith("from"):
            counters |= zip(name.split(", "), numbers(number), strict=True)
    known = {each.name: int(each) for each in Counter if each < 0x40000000}
    assert counters == known


def test_functions_of_the_ddi_are_those_of_the_code() -> None:
    text = " ".join(section("ddi", "Device functions").split())
    assert ", ".join(DXGI_FUNCTIONS) in text
    listed = text.partition("in order: ")[2].partition(";")[0].split(", ")
    assert listed == list(SINCE)[: len(listed)] and listed[-1] == "RelocateDeviceFuncs"

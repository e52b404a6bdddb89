"""Methods of contexts become calls of the driver."""

from __future__ import annotations

from functools import cache

import pytest

from tests.retrace.d3d11.context_rows import CONTEXTS, ROWS, Row
from tests.retrace.d3d11.played import ADDRESS, Played, at

CASES = {f"{interface}::{row.name}": row for row in ROWS for interface in row.interfaces.split()}

CLEARED = [f"{interface}::ClearState" for interface in CONTEXTS.split()]


@cache
def _program(version: int) -> Played:
    return Played(version)


def _play(program: Played, name: str, row: Row) -> list[str]:
    return program.of(row.this, name, **row.arguments)


@pytest.mark.parametrize("name", CASES)
def test_a_method_of_a_context_becomes_these_calls(name: str) -> None:
    row, interface = CASES[name], name.partition("::")[0]
    program = _program(10 if interface.startswith("ID3D10") else 11)
    context = "ID3D10Device" if program.version == 10 else "ID3D11DeviceContext"
    program.of("context", f"{context}::ClearState")
    if row.binds is not None:
        _play(program, f"{interface}::{row.binds.name}", row.binds)
    assert _play(program, name, row) == row.records
    if row.found:
        assert program.thing("read") is program.thing(row.found)
        program.program.objects.forget(ADDRESS["read"])
    assert program.losses() == []


@pytest.mark.parametrize("name", CLEARED)
def test_clearing_the_state_sets_what_was_set_to_its_default(name: str) -> None:
    interface = name.partition("::")[0]
    program = Played(10 if interface.startswith("ID3D10") else 11)
    program.of("context", f"{interface}::IASetInputLayout", pInputLayout=at("layout"))
    assert program.of("context", name) == ["IaSetInputLayout(None)"]

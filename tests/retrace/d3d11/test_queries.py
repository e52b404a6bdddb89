"""Queries, predicates and command lists of traced programs."""

from __future__ import annotations

from typing import Any

import pytest

from dp2emu.capture.records import Observed
from dp2emu.retrace.program import METHODS
from dp2emu.runtime10.query import State
from tests.retrace.d3d11.played import Played, at, to

INVALID_CALL = -2005270527
OLD = ["ID3D10Query", "ID3D10Predicate", "ID3D10Asynchronous"]
DATA: dict[str, Any] = {"pData": (7,), "DataSize": 8, "GetDataFlags": 0}
NO_DATA: dict[str, Any] = {"pData": None, "DataSize": 0, "GetDataFlags": 0}
GET_DATA = "ID3D11DeviceContext::GetData"


def ended(version: int) -> Played:
    """A program whose query was ended."""
    program = Played(version)
    if version == 11:
        for name in ("Begin", "End"):
            program.of("context", f"ID3D11DeviceContext::{name}", pAsync=at("query"))
    else:
        for name in ("Begin", "End"):
            program.of("query", f"ID3D10Query::{name}")
    return program


@pytest.mark.parametrize("interface", OLD)
def test_an_answer_of_direct3d_10_is_an_observation(interface: str) -> None:
    program = ended(10)
    assert program.of("query", f"{interface}::GetData", **DATA) == [
        "0x0 0700000000000000 of query"
    ]
    assert program.losses() == []


def test_an_answer_of_direct3d_11_is_an_observation() -> None:
    program = ended(11)
    assert program.of("context", GET_DATA, pAsync=at("query"), **DATA) == [
        "0x0 0700000000000000 of query"
    ]
    assert program.of("context", GET_DATA, pAsync=at("query"), **NO_DATA) == ["0x0  of query"]


def test_no_answer_yet_is_no_observation() -> None:
    program = ended(11)
    assert program.of("context", GET_DATA, result=1, pAsync=at("query"), **DATA) == []


def test_data_that_failed_are_an_observation_of_the_runtime() -> None:
    program = Played(11)
    given = {"pAsync": at("query"), **DATA}
    found = program.of("context", GET_DATA, result=INVALID_CALL, **given)
    assert found == ["0x887a0001  of nothing"]
    deferred = program.of("deferred", GET_DATA, result=INVALID_CALL, **given)
    assert deferred == found
    assert METHODS[GET_DATA].failing
    assert isinstance(program.records[-1], Observed) and program.losses() == []


def test_a_query_that_is_null_has_no_effect() -> None:
    program = Played(11)
    assert program.of("context", GET_DATA, result=INVALID_CALL, pAsync=None, **DATA) == []
    (noted,) = program.of("context", "ID3D11DeviceContext::Begin", pAsync=None)
    assert noted.endswith("ID3D11DeviceContext::Begin: pAsync is NULL")
    assert program.losses() == []


def test_a_command_list_holds_the_calls_until_it_is_executed() -> None:
    program = Played(11)
    draw = {"VertexCount": 3, "StartVertexLocation": 0}
    assert program.of("deferred", "ID3D11DeviceContext::Draw", **draw) == []
    finish = {"RestoreDeferredContextState": False, "ppCommandList": to("list")}
    assert program.of("deferred", "ID3D11DeviceContext::FinishCommandList", **finish) == []
    execute = {"pCommandList": at("list"), "RestoreContextState": False}
    made = program.of("context", "ID3D11DeviceContext::ExecuteCommandList", **execute)
    assert "Draw(3, 0)" in made
    assert program.of("list", "ID3D11CommandList::Release", result=0) == []
    assert program.losses() == []


def test_a_query_of_a_deferred_context_has_no_answer_before_its_list_is_executed() -> None:
    program = Played(11)
    query = program.program.objects.get(at("query").value)
    for name in ("Begin", "End"):
        method = f"ID3D11DeviceContext::{name}"
        assert program.of("deferred", method, pAsync=at("query")) == []
        assert query.driver.state is State.CREATED


def test_a_command_list_that_is_null_has_no_effect() -> None:
    program = Played(11)
    execute = {"pCommandList": None, "RestoreContextState": False}
    (noted,) = program.of("context", "ID3D11DeviceContext::ExecuteCommandList", **execute)
    assert noted.endswith("ExecuteCommandList: pCommandList is NULL")


def test_a_list_of_the_immediate_context_is_a_loss() -> None:
    program = Played(11)
    finish = {"RestoreDeferredContextState": False, "ppCommandList": to("list")}
    program.of("context", "ID3D11DeviceContext::FinishCommandList", **finish)
    (loss,) = program.losses()
    assert loss.endswith("is a ImmediateContext, not a DeferredContext")

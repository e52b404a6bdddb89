"""Compile work is counted once for each code, and refused by the name of its limit."""

from __future__ import annotations

import pytest

from dp2emu.errors import Exceeded, ShaderError
from dp2emu.limits import Limits
from dp2emu.shader.compile_work import DRAW, CompileBudget, TooLong, compile_work, statement_count
from tests.refusals import refused
from tests.shader.growing import grown


def test_nested_statements_count() -> None:
    assert statement_count(grown("nested ifs", 8)) > 8 * 2
    assert compile_work(grown("nested ifs", 8)) > compile_work(grown("nested ifs", 4))


def test_code_for_each_lane_is_more_work_than_a_sum() -> None:
    loads, sums = (
        compile_work(grown(name, 50)) for name in ("loads at computed addresses", "add")
    )
    assert loads > 5 * sums


def test_a_code_counts_once_though_it_is_another_object() -> None:
    budget = CompileBudget(Limits())
    budget.program(grown("add", 9))
    once = budget.spent
    budget.program(grown("add", 9))
    assert budget.spent == once > 0
    budget.program(grown("add", 10))
    assert budget.spent > once


def test_a_call_has_its_own_limit() -> None:
    budget = CompileBudget(Limits(call_compile=100))
    budget.code("a", lambda: 60)
    with pytest.raises(Exceeded, match=refused("call_compile", 100)):
        budget.code("b", lambda: 60)
    budget.call = 0
    budget.code("b", lambda: 60)
    assert budget.spent == 120


def test_each_draw_adds_to_what_a_capture_may_use() -> None:
    budget = CompileBudget(Limits(capture_compile=100))
    budget.code("a", lambda: 100)
    with pytest.raises(Exceeded, match=refused("capture_compile", 100)):
        budget.code("b", lambda: DRAW)
    budget.draws += 1
    budget.code("b", lambda: DRAW)


def create(budget: CompileBudget, name: str, n: int) -> object:
    return budget.shader((name, n), lambda: grown(name, n), lambda made: [made])


def test_a_shader_has_at_most_so_many_statements() -> None:
    budget = CompileBudget(Limits(shader_statements=20))
    create(budget, "add", 10)
    with pytest.raises(Exceeded, match=refused("shader_statements", 20)):
        create(budget, "add", 40)


def test_a_refused_shader_counts_too() -> None:
    """Otherwise a capture could have any number of them translated."""
    budget = CompileBudget(Limits(shader_statements=20, capture_compile=100))
    for n in range(100, 104):
        with pytest.raises(Exceeded, match=refused("shader_statements")):
            create(budget, "add", n)
    with pytest.raises(Exceeded, match=refused("capture_compile")):
        create(budget, "add", 104)


def test_a_shader_whose_translation_was_stopped_counts_and_names_the_limit() -> None:
    def too_long() -> None:
        raise TooLong(1 << 17, offset=8)

    budget = CompileBudget(Limits())
    with pytest.raises(Exceeded, match=refused("shader_statements")):
        budget.shader("code", too_long, lambda made: [])
    assert budget.spent > 0
    assert issubclass(TooLong, ShaderError)

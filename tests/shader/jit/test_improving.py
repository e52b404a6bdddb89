"""Functions that are there quickly, and better when they are called again."""

from __future__ import annotations

import ctypes
from pathlib import Path
from threading import Thread

import pytest

from dp2emu.shader.jit import tiering
from dp2emu.shader.jit.code import CodeSource, Effort
from dp2emu.shader.jit.tiering import TieredFunction, tier0_calls, tiers, wait_for_background
from tests.shader.notes import compiles_noted

KIND = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32)
TEXT = "define i32 @f(i32 %x) { %y = mul i32 %x, 7\nret i32 %y }"


@pytest.fixture
def kinds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[bool]:
    """Whether each object that is compiled is a quick one."""
    return compiles_noted(monkeypatch, tmp_path, lambda _, quick: quick)


def function() -> TieredFunction:
    return TieredFunction(CodeSource.of(TEXT, "f"), KIND)


def test_the_first_calls_are_by_quick_code(kinds: list[bool]) -> None:
    f = function()
    assert not f.has_code and kinds == []
    assert f.run(6) == 42
    wait_for_background()
    assert f.has_code and kinds == [True]


def test_a_function_that_is_called_again_and_again_gets_good_code(kinds: list[bool]) -> None:
    f = function()
    assert [f.run(n) for n in range(20)] == [7 * n for n in range(20)]
    wait_for_background()
    assert kinds == [True, False]
    good = f.run
    assert isinstance(good, KIND) and f.run(6) == 42
    assert f.run is good and kinds == [True, False]


def test_good_code_can_be_had_at_once(kinds: list[bool]) -> None:
    f = function()
    f.ready(Effort.GOOD)
    assert kinds == [False] and isinstance(f.run, KIND)
    f.ready()
    f.optimize()
    assert kinds == [False]


def test_what_has_quick_code_does_not_wait_for_good_code(kinds: list[bool]) -> None:
    f = function()
    f.ready()
    f.ready()
    assert kinds == [True]
    f.ready(Effort.GOOD)
    f.ready(Effort.GOOD)
    wait_for_background()
    assert kinds == [True, False] and isinstance(f.run, KIND)


def test_good_code_that_is_kept_is_there_at_once(kinds: list[bool]) -> None:
    function().optimize()
    f = function()
    f.ready()
    assert f.run(3) == 21 and isinstance(f.run, KIND)
    assert kinds == [False]


def test_quick_code_that_is_kept_is_improved_as_well(kinds: list[bool]) -> None:
    function().ready()
    f = function()
    assert sum(f.run(n) for n in range(10)) == 315
    wait_for_background()
    assert kinds == [True, False]


def test_what_is_called_is_called_in_each_tier(kinds: list[bool]) -> None:
    f, unused = function(), function()
    unused.ready()
    assert list(tiers(lambda: f.run(2))) == [14, 14]
    assert kinds == [True, False] and isinstance(f.run, KIND) and not unused.good
    assert list(tiers(lambda: f.run(3))) == [21]


def test_calls_of_good_code_and_of_others_are_not_noted(kinds: list[bool]) -> None:
    f, good = function(), function()
    f.run(1)
    good.ready(Effort.GOOD)
    with tier0_calls() as outer:
        good.run(1)
        with tier0_calls() as inner:
            assert not inner and not outer
            f.run(1)
        f.run(1)
    assert inner == outer == {f}
    f.run(1)
    assert not tiering._noted


def test_threads_that_begin_together_have_the_same_code(kinds: list[bool]) -> None:
    f, found = function(), []
    threads = [Thread(target=lambda: found.append(f.run(5))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [35] * 4
    assert kinds == [True]


@pytest.mark.parametrize("effort", Effort)
def test_code_made_ahead_is_what_is_run(kinds: list[bool], effort: Effort) -> None:
    f = function()
    f.compile_ahead(effort)
    f.compile_ahead(effort)
    wait_for_background()
    wanted = [effort is not Effort.GOOD]
    assert f.has_code and f.run(6) == 42 and kinds == wanted
    f.compile_ahead()
    assert kinds == wanted


def test_who_needs_code_does_not_wait_for_others_to_begin(
    kinds: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tiering, "run_in_background", lambda work: None)
    f = function()
    f.compile_ahead()
    assert not f.has_code and f.run(6) == 42 and kinds == [True]


def test_code_of_an_earlier_process_is_there_at_once(kinds: list[bool]) -> None:
    function().ready(Effort.GOOD)
    first, second = function(), function()
    first.compile_ahead()
    assert first.has_code and second.poll() and kinds == [False]


def test_who_can_do_without_code_gets_it_later(kinds: list[bool]) -> None:
    f = function()
    assert [f.poll() for _ in range(tiering._POLLS_BEFORE_COMPILE - 1)] == [False] * (
        tiering._POLLS_BEFORE_COMPILE - 1
    )
    wait_for_background()
    assert not f.poll()
    wait_for_background()
    assert f.poll() and kinds == [True]


def test_who_asks_often_waits(kinds: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiering, "run_in_background", lambda work: None)
    f = function()
    answers = [f.poll() for _ in range(tiering._POLLS_BEFORE_WAIT + 1)]
    assert answers[-1] and not any(answers[:-1]) and kinds == [True]

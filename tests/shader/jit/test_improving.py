"""Functions that are there quickly, and better when they are called again."""

from __future__ import annotations

import ctypes
import gc
from pathlib import Path
from threading import Thread

import pytest

from dp2emu.shader.jit import tiering
from dp2emu.shader.jit.code import Effort, Source
from dp2emu.shader.jit.tiering import TieredFunction, done, improve_all
from tests.shader.notes import compiles_noted

KIND = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32)
TEXT = "define i32 @f(i32 %x) { %y = mul i32 %x, 7\nret i32 %y }"


@pytest.fixture
def kinds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[bool]:
    """Whether each object that is compiled is a quick one."""
    return compiles_noted(monkeypatch, tmp_path, lambda _, quick: quick)


def function() -> TieredFunction:
    return TieredFunction(Source.of(TEXT, "f"), KIND)


def test_the_first_calls_are_by_quick_code(kinds: list[bool]) -> None:
    f = function()
    assert not f.there and kinds == []
    assert f.run(6) == 42
    done()
    assert f.there and kinds == [True]


def test_a_function_that_is_called_again_and_again_gets_good_code(kinds: list[bool]) -> None:
    f = function()
    assert [f.run(n) for n in range(20)] == [7 * n for n in range(20)]
    done()
    assert kinds == [True, False]
    good = f.run
    assert isinstance(good, KIND) and f.run(6) == 42
    assert f.run is good and kinds == [True, False]


def test_good_code_can_be_had_at_once(kinds: list[bool]) -> None:
    f = function()
    f.ready(Effort.GOOD)
    assert kinds == [False] and isinstance(f.run, KIND)
    f.ready()
    f.improve()
    assert kinds == [False]


def test_what_has_quick_code_does_not_wait_for_good_code(kinds: list[bool]) -> None:
    f = function()
    f.ready()
    f.ready()
    assert kinds == [True]
    f.ready(Effort.GOOD)
    f.ready(Effort.GOOD)
    done()
    assert kinds == [True, False] and isinstance(f.run, KIND)


def test_good_code_that_is_kept_is_there_at_once(kinds: list[bool]) -> None:
    function().improve()
    f = function()
    f.ready()
    assert f.run(3) == 21 and isinstance(f.run, KIND)
    assert kinds == [False]


def test_quick_code_that_is_kept_is_improved_as_well(kinds: list[bool]) -> None:
    function().ready()
    f = function()
    assert sum(f.run(n) for n in range(10)) == 315
    done()
    assert kinds == [True, False]


def test_all_that_is_quick_can_be_improved_at_once(kinds: list[bool]) -> None:
    f, unused = function(), function()
    f.ready()
    assert improve_all()
    assert not improve_all()
    assert f.run(2) == 14 and not unused.there
    assert kinds == [True, False]


def test_what_nobody_calls_any_more_is_not_improved(kinds: list[bool]) -> None:
    f = function()
    f.ready()
    del f
    gc.collect()
    assert not improve_all()


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
    f.ahead(effort)
    f.ahead(effort)
    done()
    wanted = [effort is not Effort.GOOD]
    assert f.there and f.run(6) == 42 and kinds == wanted
    f.ahead()
    assert kinds == wanted


def test_who_needs_code_does_not_wait_for_others_to_begin(
    kinds: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tiering, "later", lambda work: None)
    f = function()
    f.ahead()
    assert not f.there and f.run(6) == 42 and kinds == [True]


def test_code_of_an_earlier_process_is_there_at_once(kinds: list[bool]) -> None:
    function().ready(Effort.GOOD)
    first, second = function(), function()
    first.ahead()
    assert first.there and second.soon() and kinds == [False]


def test_who_can_do_without_code_gets_it_later(kinds: list[bool]) -> None:
    f = function()
    assert [f.soon() for _ in range(tiering._LIKELY - 1)] == [False] * (tiering._LIKELY - 1)
    done()
    assert not f.soon()
    done()
    assert f.soon() and kinds == [True]


def test_who_asks_often_waits(kinds: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiering, "later", lambda work: None)
    f = function()
    answers = [f.soon() for _ in range(tiering._PATIENCE + 1)]
    assert answers[-1] and not any(answers[:-1]) and kinds == [True]

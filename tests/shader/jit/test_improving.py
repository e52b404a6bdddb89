"""Functions that are there quickly, and better when they are called again."""

from __future__ import annotations

import ctypes
import gc
from pathlib import Path

import pytest

from dp2emu.shader.jit import code
from dp2emu.shader.jit.code import Source
from dp2emu.shader.jit.compiling import Host
from dp2emu.shader.jit.improving import Improving, improve_all
from dp2emu.shader.jit.later import done
from dp2emu.shader.jit.store import Store

KIND = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32)
TEXT = "define i32 @f(i32 %x) { %y = mul i32 %x, 7\nret i32 %y }"


@pytest.fixture
def kinds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[bool]:
    """Whether each object that is compiled is a quick one."""
    found: list[bool] = []
    compile = Host.compile

    def noted(self: Host, text: str, passes: tuple[str, ...], quick: bool) -> bytes:
        found.append(quick)
        return compile(self, text, passes, quick)

    improve_all()
    monkeypatch.setattr(Host, "compile", noted)
    monkeypatch.setattr(code, "objects", lambda: Store(tmp_path))
    return found


def function() -> Improving:
    return Improving(Source.of(TEXT, "f"), KIND)


def test_the_first_call_is_by_quick_code(kinds: list[bool]) -> None:
    f = function()
    assert f.run(6) == 42
    done()
    assert kinds == [True]


def test_the_second_call_has_good_code_compiled(kinds: list[bool]) -> None:
    f = function()
    assert [f.run(n) for n in range(2)] == [0, 7]
    done()
    assert kinds == [True, False]
    good = f.run
    assert [f.run(n) for n in range(5)] == [0, 7, 14, 21, 28]
    assert f.run is good and isinstance(good, KIND)
    assert kinds == [True, False]


def test_good_code_that_is_kept_is_there_at_once(kinds: list[bool]) -> None:
    function().improve()
    assert function().run(3) == 21
    assert kinds == [True, False]


def test_quick_code_that_is_kept_is_improved_as_well(kinds: list[bool]) -> None:
    function()
    f = function()
    assert f.run(1) + f.run(2) == 21
    done()
    assert kinds == [True, False]


def test_all_can_be_improved_at_once(kinds: list[bool]) -> None:
    f = function()
    assert improve_all()
    assert not improve_all()
    assert f.run(2) == 14
    assert kinds == [True, False]


def test_what_nobody_calls_any_more_is_not_improved(kinds: list[bool]) -> None:
    f = function()
    del f
    gc.collect()
    assert not improve_all()

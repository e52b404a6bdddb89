"""Compilations in threads of their own: callers poll, and work that is left goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from dp2emu.cancellation import CURRENT, Cancellation
from dp2emu.errors import Cancelled
from dp2emu.shader.jit import code
from dp2emu.shader.jit.code import CodeSource, Effort
from dp2emu.shader.jit.compiling import Host
from dp2emu.shader.jit.object_cache import ObjectCache
from dp2emu.shader.jit.pending import Pending, begun, wait_for_pending
from dp2emu.shader.jit.tiering import TieredFunction

TEXT = "define i32 @seven() {\n  ret i32 7\n}\n"


@pytest.fixture
def cancelled() -> Cancellation:
    """A token of this thread that is cancelled."""
    before, token = CURRENT.token, Cancellation()
    token.cancel("no longer wanted")
    CURRENT.token = token
    yield token
    CURRENT.token = before


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Long texts, whose compilation waits for an event."""
    release = threading.Event()
    begin = Host.begin

    def slow(host: Host, *given: object, **more: object) -> Callable[[], bytes]:
        release.wait()
        return begin(host, *given, **more)

    monkeypatch.setattr(Host, "begin", slow)
    monkeypatch.setattr(code, "PENDING_LINES", 0)
    yield release
    release.set()
    wait_for_pending()


def test_pending_work_has_a_thread_of_its_own_and_one_result() -> None:
    pending = Pending(threading.current_thread)
    assert pending() is pending()
    assert pending() is not threading.current_thread()


def test_the_error_of_pending_work_is_raised_where_its_result_is_wanted() -> None:
    def fails() -> None:
        raise ZeroDivisionError

    pending = Pending(fails)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            pending()


def test_a_cancelled_caller_leaves_the_work(cancelled: Cancellation) -> None:
    release = threading.Event()
    pending = Pending(lambda: release.wait() and "done")
    with pytest.raises(Cancelled, match="no longer wanted"):
        pending()
    CURRENT.token = Cancellation()
    release.set()
    assert pending() == "done"


def test_without_threads_the_work_is_done_by_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", none_left)
    assert begun(threading.current_thread)() is threading.current_thread()


def test_short_texts_are_compiled_by_the_caller() -> None:
    assert not isinstance(CodeSource.of(TEXT, "seven").begin(Effort.QUICK), Pending)


def test_code_that_nobody_waits_for_enters_the_cache(
    cancelled: Cancellation, held: threading.Event, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = ObjectCache(tmp_path / "objects")
    monkeypatch.setattr(code, "object_cache", lambda: cache)
    source = CodeSource.of(TEXT, "seven")
    with pytest.raises(Cancelled):
        source.good()
    assert source.cached() is None
    held.set()
    wait_for_pending()
    assert source.cached() is not None


def test_a_function_whose_first_caller_was_cancelled_is_compiled_once(
    cancelled: Cancellation, held: threading.Event, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import ctypes

    cache = ObjectCache(tmp_path / "objects", 0)
    monkeypatch.setattr(code, "object_cache", lambda: cache)
    source = CodeSource.of(TEXT, "seven")
    started: list[object] = []
    monkeypatch.setattr(code, "begun", lambda work: started.append(work) or begun(work))
    function = TieredFunction(source, ctypes.CFUNCTYPE(ctypes.c_int32))
    with pytest.raises(Cancelled):
        function.ready()
    CURRENT.token = Cancellation()
    held.set()
    function.ready()
    assert (function.run(), len(started)) == (7, 1)

"""Work that nobody waits for."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from dp2emu.shader.jit.tiering import done, later


def test_pieces_are_done_in_order_on_another_thread() -> None:
    found: list[tuple[int, bool]] = []
    for number in range(20):
        later(
            lambda n=number: found.append(
                (n, threading.current_thread() is threading.main_thread())
            )
        )
    done()
    assert found == [(number, False) for number in range(20)]


def test_no_thread_is_left_when_nothing_is_to_do() -> None:
    later(lambda: None)
    done()
    assert "later" not in {thread.name for thread in threading.enumerate()}
    found: list[int] = []
    later(lambda: found.append(1))
    done()
    assert found == [1]


def test_a_piece_that_fails_does_not_keep_the_next_one_from_being_done() -> None:
    def fails() -> None:
        raise RuntimeError("on purpose")

    found: list[int] = []
    later(fails)
    later(lambda: found.append(1))
    done()
    assert found == [1]


def test_where_no_thread_can_be_started_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    found: list[int] = []
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", none_left)
        later(lambda: found.append(1))
    done()
    later(lambda: found.append(2))
    done()
    assert found == [2]


ENDING = """
import threading
from dp2emu.shader.jit.tiering import later
begun, go_on = threading.Event(), threading.Event()
def first():
    begun.set()
    go_on.wait()
    print("first", flush=True)
later(first)
later(lambda: print("second", flush=True))
begun.wait()
threading.Thread(target=lambda: (threading.main_thread().join(), go_on.set())).start()
"""


def test_a_process_that_ends_waits_for_the_piece_at_work_alone() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", ENDING], capture_output=True, text=True, check=True
    )
    assert (ran.stdout, ran.stderr) == ("first\n", "")


FORKING = """
import os, threading
from dp2emu.shader.jit.tiering import done, later
begun, go_on = threading.Event(), threading.Event()
said = []
def first():
    begun.set()
    go_on.wait()
    said.append("first")
later(first)
later(lambda: said.append("second"))
begun.wait()
threading.Timer(0.05, go_on.set).start()
child = os.fork()
if not child:
    later(lambda: said.append("child"))
    done()
    print(said, flush=True)
    os._exit(0)
os.waitpid(child, 0)
done()
print(said, flush=True)
"""


if hasattr(os, "fork"):

    def test_a_child_begins_with_nothing_to_do() -> None:
        ran = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", FORKING],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert ran.stdout == "['first', 'child']\n['first', 'second']\n"

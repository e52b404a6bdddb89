"""A worker executes its call the same way however it was started."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dp2emu.process.child import Child, Command, Deadline
from dp2emu.process.forking import ForkServer
from dp2emu.process.worker import call_of, command_of

CALLS = "tests.process.calls"


@contextmanager
def worker(server: ForkServer, name: str, *given: object, **more: str) -> Iterator[Child]:
    child = server.start(call_of(f"{CALLS}:{name}", *given, **more))
    try:
        yield child
    finally:
        child.close()


def code_of(child: Child) -> int:
    """The exit code once a process has ended by itself."""
    child.stdout.read()
    return child.wait()


def test_it_answers_until_it_is_closed(server: ForkServer) -> None:
    with worker(server, "echo", "> ") as child:
        for line in (b"one\n", b"other\n"):
            child.stdin.write(line)
            child.stdin.flush()
            assert child.stdout.readline() == b"> " + line
        assert child.poll() is None
    assert child.poll() is not None


def test_it_works_in_a_directory_and_what_it_prints_is_no_answer(
    server: ForkServer, tmp_path: Path
) -> None:
    with worker(server, "where", folder=str(tmp_path)) as child:
        assert child.stdout.readline().decode().strip() == str(tmp_path)


@pytest.mark.parametrize("code", [0, 3])
def test_it_ends_with_the_code_that_it_returns(server: ForkServer, code: int) -> None:
    with worker(server, "leave", code) as child:
        assert code_of(child) == child.poll() == code


def test_an_exception_is_an_exit_code(server: ForkServer) -> None:
    with worker(server, "fail") as child:
        assert code_of(child) == 1


def test_it_ends_by_a_timer(server: ForkServer) -> None:
    with worker(server, "hang", 0.1) as child:
        assert code_of(child) == -signal.SIGALRM


def test_it_ends_when_its_parent_does(server: ForkServer) -> None:
    with worker(server, "follow") as child:
        assert child.stdout.readline() == b"\n"
        child.stdin.close()
        if isinstance(child, Command):
            assert code_of(child) == 1


def test_a_deadline_ends_it_unless_it_is_renewed(server: ForkServer) -> None:
    with worker(server, "echo") as child:
        with Deadline(child, 20.0) as deadline:
            child.stdin.write(b"one\n")
            child.stdin.flush()
            assert child.stdout.readline()
            deadline.renew()
        assert not deadline.expired
        with Deadline(child, 0.2) as deadline:
            assert child.stdout.readline() == b""
        assert deadline.expired
        assert child.wait() == -signal.SIGKILL


LIMITED = """
from dp2emu.process.worker import limit_memory
limit_memory(0)
limit_memory(1 << 29)
try:
    bytes(1 << 30)
except MemoryError:
    print("bounded")
"""


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_AS"), reason="no bound on the address space")
def test_memory_is_bounded() -> None:
    done = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, check=True)
    assert done.stdout == b"bounded\n"


def test_a_command_is_killed_with_what_it_has_started() -> None:
    words = [sys.executable, "-c", "import os; os.fork(); print(flush=True); os.read(0, 1)"]
    child = Command(words, group=True)
    assert [child.stdout.readline() for _ in range(2)] == [b"\n"] * 2
    child.kill()
    assert child.stdout.read() == b""
    child.close()


def test_a_call_has_a_command() -> None:
    command = command_of(call_of(f"{CALLS}:echo"))
    done = subprocess.run(command, input=b"one\n", capture_output=True, check=True)
    assert done.stdout == b"one\n"

"""Fork servers: workers outlive the clients of a shared one, and end with a private one's."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

import pytest

from dp2emu.process import fork_server, forking
from dp2emu.process.child import Child, Command
from dp2emu.process.fork_server import listening, locked, remove, tidy
from dp2emu.process.forking import ForkedWorker, ForkServer
from dp2emu.process.worker import call_of

ECHO = call_of("tests.process.calls:echo")

SOON = """
import sys
from dp2emu.process import fork_server
fork_server.IDLE_SECONDS = 0.1
fork_server.main(*sys.argv[1:])
"""

OWNER = """
import sys, time
from dp2emu.process.forking import ForkServer
child = ForkServer().start(sys.argv[1])
print(child.pid, flush=True)
child.stdout.read()
"""


@contextmanager
def worker(server: ForkServer, call: str = ECHO) -> Iterator[Child]:
    child = server.start(call)
    try:
        yield child
    finally:
        child.close()


def answers(child: Child) -> bool:
    child.stdin.write(b"!\n")
    child.stdin.flush()
    return child.stdout.readline() == b"!\n"


def forked(child: Child) -> ForkedWorker:
    assert isinstance(child, ForkedWorker)
    return child


def place_of(server: ForkServer) -> Path:
    assert server.place is not None
    return server.place


def gone(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False


def await_that(what: Callable[[], bool]) -> None:
    until = monotonic() + 60
    while not what():
        assert monotonic() < until
        sleep(0.01)


# Private servers


def test_a_private_server_and_its_workers_end_together(private: ForkServer) -> None:
    child = private.start(ECHO)
    assert answers(child)
    private.close()
    assert child.stdout.read() == b""
    assert gone(child.pid)
    child.close()


def test_workers_of_a_client_that_is_killed_are_killed() -> None:
    call = call_of("tests.process.calls:hang", 600)
    owner = subprocess.Popen([sys.executable, "-c", OWNER, call], stdout=subprocess.PIPE)
    with owner:
        assert owner.stdout is not None
        number = int(owner.stdout.readline())
        owner.kill()
    await_that(lambda: gone(number))


def test_a_private_server_that_is_killed_is_replaced(private: ForkServer) -> None:
    with worker(private) as child, worker(private):
        assert private._process is not None
        private._process.kill()
        private._process.wait()
        assert answers(child)
        child.close()
        with worker(private) as other:
            assert answers(other)
            assert isinstance(other, ForkedWorker)


def test_a_server_that_cannot_start_is_done_without(
    private: ForkServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*given: object, **more: object) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-c", "raise SystemExit(1)"])

    monkeypatch.setattr(forking, "_start", failing)
    with worker(private) as child:
        assert answers(child)
        assert isinstance(child, Command)


# Shared servers


def test_who_is_lost_leaves_its_worker_to_the_next(shared: ForkServer) -> None:
    lost, other = shared.start(ECHO), shared.start(ECHO)
    assert answers(lost) and answers(other)
    forked(lost)._release()
    late = shared.start(ECHO)
    while late.pid != lost.pid:
        late.close()  # the server has not heard yet that the other one is free
        late = shared.start(ECHO)
    assert answers(late)
    assert other.pid != late.pid
    for child in (other, late):
        child.close()


def test_a_worker_is_not_given_to_another_call(shared: ForkServer) -> None:
    lost = shared.start(ECHO)
    forked(lost)._release()
    sleep(0.2)
    with worker(shared, call_of("tests.process.calls:echo", ">")) as child:
        assert child.pid != lost.pid


def test_a_worker_that_is_done_with_a_connection_has_none_of_it(shared: ForkServer) -> None:
    child = forked(shared.start(ECHO))
    child._connection.shutdown(socket.SHUT_WR)
    child._connection.settimeout(15.0)  # sooner than its server ends
    assert child.stdout.read() == b""
    child._release()


def test_a_second_server_leaves_the_first_alone(shared: ForkServer) -> None:
    with worker(shared) as first:
        assert answers(first)
        assert forking._share(place_of(shared), ()).wait() == 0
        assert answers(first)


def test_an_idle_server_ends_with_its_directory() -> None:
    place = Path(tempfile.mkdtemp())
    subprocess.run([sys.executable, "-c", SOON, str(place)], check=True)
    assert not place.exists()


@pytest.mark.parametrize("what", ["", "run", "end", "end x", "\0", "end 1", "run \xff"])
def test_strange_requests_end_no_worker(shared: ForkServer, what: str) -> None:
    with worker(shared) as child:
        assert answers(child)
        shared.request(what).close()
        assert answers(child)


def test_a_directory_of_others_is_not_used(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with pytest.raises(PermissionError, match="this user's alone"):
        forking._connected(tmp_path)


def test_nobody_is_asked_who_listens_in_a_directory_of_others(shared: ForkServer) -> None:
    place_of(shared).mkdir(mode=0o755)
    with listening(place_of(shared) / "socket") as listener:
        listener.setblocking(False)
        with worker(shared) as child:
            assert answers(child)
            assert isinstance(child, Command)
        with pytest.raises(BlockingIOError):
            listener.accept()


def test_servers_that_have_ended_are_not_kept(shared: ForkServer) -> None:
    for _ in range(3):
        forking._share(place_of(shared), ("no.module",)).kill()
        forking._STARTED[-1].wait()
    assert len(forking._STARTED) == 1


def test_a_server_that_is_killed_makes_nobody_wait(shared: ForkServer) -> None:
    child = shared.start(call_of("tests.process.calls:hang", 600))
    forking._STARTED[-1].kill()
    forking._STARTED[-1].wait()
    assert child.wait() == -signal.SIGKILL
    child.close()
    os.kill(child.pid, signal.SIGKILL)
    with worker(shared) as other:
        assert answers(other)


@pytest.mark.parametrize("name", ["can_fork", "gettempdir"])
def test_without_forks_or_with_long_names_a_worker_is_a_new_interpreter(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    if name == "can_fork":
        monkeypatch.setattr(forking, name, lambda: False)
    else:
        monkeypatch.setattr(tempfile, name, lambda: "/" + 99 * "x")
    with worker(ForkServer(name="unused")) as child:
        assert answers(child)
        assert isinstance(child, Command)


# The directory of a shared server


def unlink(path: Path) -> None:
    path.unlink()


def replace(path: Path) -> None:
    path.rename(path.with_suffix(".old"))
    path.touch()


@pytest.mark.parametrize("change", [unlink, replace])
def test_a_lock_that_was_just_taken_away_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], None]
) -> None:
    path = tmp_path / "lock"
    monkeypatch.setattr("fcntl.flock", lambda *given: change(path))
    assert locked(path) is None


def test_a_lock_is_one_servers(tmp_path: Path) -> None:
    held = locked(tmp_path / "lock")
    assert held is not None
    assert locked(tmp_path / "lock") is None
    assert locked(tmp_path / "missing" / "lock") is None
    os.close(held)


def test_a_server_that_ends_removes_nothing_of_the_next(tmp_path: Path) -> None:
    place = tmp_path / "place"
    for _ in range(2):
        place.mkdir()
        (place / "socket").touch()
        remove(place)
        assert list(tmp_path.iterdir()) == []


def test_directories_that_killed_servers_left_go_with_the_next_that_ends(tmp_path: Path) -> None:
    names = [f"dp2emu-{name}" for name in ("1-a", "2-a.77", "3-a", "4-b", "5-a")]
    for name in names:
        (tmp_path / name).mkdir(mode=0o755 if "5" in name else 0o700)
    held = locked(tmp_path / names[2] / "lock")
    assert held is not None
    tidy(tmp_path / names[2])
    os.close(held)
    assert sorted(path.name for path in tmp_path.iterdir()) == names[2:]


def test_modules_that_are_not_there_are_not_imported() -> None:
    fork_server._import(("no.module",))

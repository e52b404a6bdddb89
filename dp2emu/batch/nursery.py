"""A process that has imported what replaying takes, and has children which replay.

python -m dp2emu.batch.nursery PLACE SETTINGS

All workers of a machine that do a batch have one, in the folder ``PLACE`` of theirs.  A child that
it forks needs a hundredth of a second where a process that starts needs a third of one.  A child
whose worker was lost is free for another, with all that it has compiled, and the rows of the task
it had in hand are there for whoever is given that task again.

``PLACE`` has a socket, ``door``.  A line that says ``serve`` makes the connection one with a
child: it says its number in a line, and then is asked and answers as ``dp2emu.batch.child`` does.
``end N`` ends the child of that number, and is answered by a line with the code it ended with.
Nobody but the user gets through the folder.  A nursery ends, and its folder with it, when nobody
has wanted anything of it for a while.
"""

from __future__ import annotations

import fcntl
import gc
import importlib
import os
import shutil
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from typing import NoReturn

Serve = Callable[[socket.socket], None]

IDLE_SECONDS = 20.0
"""How long a nursery waits for somebody: starting a worker anew takes a second or a few."""

ASK_SECONDS = 5.0
"""How long whoever connects may take to say why."""

LATE = (
    "dp2emu.capture.apitrace",
    "dp2emu.retrace.program",
    "dp2emu.gpu.compile.band_workers",
    "dp2emu.gpu.compile.kernel_draw",
    "dp2emu.gpu.vertex_shader.vertex_kernel",
    "dp2emu.shader.jit.engine",
    "dp2emu.shader.jit.store",
    "dp2emu.text.conversion",
    "llvmlite.binding",
)
"""What replaying imports when it is first wanted, as far as most captures want it.

None of these starts a thread: children are copies of a process that has one.
"""


def main(place: str, settings: str) -> None:
    """Be the nursery of ``place``, unless there is one."""
    lock = _locked(Path(place, "lock"))
    if lock is None:
        return
    try:
        with _opened(Path(place, "door")) as door:
            serve = _prepared(place, settings)
            _Nursery(door, serve, (lock,)).run()
    finally:
        _remove(Path(place))
        _tidy(Path(place))


def _locked(path: Path) -> int | None:
    """The lock's file, open; None if another nursery has it, or has just taken it away."""
    try:
        lock = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return lock if os.path.samestat(os.fstat(lock), path.stat()) else None
    except (BlockingIOError, FileNotFoundError):
        return None


def _remove(place: Path) -> None:
    """At once for everybody, so that nothing is removed of a nursery that follows."""
    going = place.with_name(f"{place.name}.{os.getpid()}")
    with suppress(OSError):
        place.rename(going)
    shutil.rmtree(going, ignore_errors=True)


def _opened(path: Path) -> socket.socket:
    """A socket to connect to; who does so before anything is imported waits."""
    path.unlink(missing_ok=True)
    door = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    door.bind(str(path))
    door.listen(64)
    return door


def _prepared(place: str, settings: str) -> Serve:
    """What a child does with a connection; all of it is imported."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # NumPy's BLAS is not used, and would have threads
    from dp2emu.batch.serving import serving

    for name in LATE:
        with suppress(ImportError):
            importlib.import_module(name)
    gc.collect()
    gc.freeze()
    return serving(place, settings)


def _tidy(place: Path) -> None:
    """Remove what others of this user on this machine left, which were killed."""
    machine = place.name.rpartition("-")[2]
    for one in place.parent.glob(f"dp2emu-*-{machine}*"):
        with suppress(OSError):
            state = one.lstat()
            if state.st_uid != os.getuid() or state.st_mode & 0o77:
                continue
            lock = _locked(one / "lock")
            if lock is not None:
                _remove(one)
                os.close(lock)


class _Nursery:
    """Mutable: children come and go, and are free or not."""

    def __init__(self, door: socket.socket, serve: Serve, kept: tuple[int, ...]) -> None:
        self._door, self._serve = door, serve
        self._kept = kept
        self._events = DefaultSelector()
        self._events.register(door, EVENT_READ)
        self._lines: dict[int, socket.socket] = {}
        self._free: set[int] = set()
        self._codes: dict[int, int] = {}

    def run(self) -> None:
        """Do what is asked, until nothing is for long and no child is busy."""
        while True:
            events = self._events.select(IDLE_SECONDS)
            if not events and len(self._free) == len(self._lines):
                return
            for key, _ in events:
                if key.data is None:
                    self._asked()
                else:
                    self._heard(key.data)

    def _asked(self) -> None:
        connection, _ = self._door.accept()
        with connection, suppress(OSError, ValueError):
            connection.settimeout(ASK_SECONDS)
            with connection.makefile(encoding="ascii") as reader:
                what, _, number = reader.readline(64).partition(" ")
            if what == "end":
                connection.sendall(b"%d\n" % self._end(int(number)))
            elif what == "serve\n":
                connection.setblocking(True)
                self._give(connection)

    def _give(self, connection: socket.socket) -> None:
        """Let a free child have the connection, or a new one."""
        number = self._free.pop() if self._free else self._fork(connection)
        with suppress(
            BrokenPipeError
        ):  # it is ending: whoever connected sees that, and asks again
            socket.send_fds(self._lines[number], [b"."], [connection.fileno()])

    def _fork(self, connection: socket.socket) -> int:
        """A new child; it is sent the connection like any other, and has no second one of it."""
        here, there = socket.socketpair()
        number = os.fork()
        if not number:
            here.close()
            connection.close()
            self._live(there)
        there.close()
        self._lines[number] = here
        self._events.register(here, EVENT_READ, number)
        return number

    def _live(self, line: socket.socket) -> NoReturn:
        """A child's life, which ends with its nursery."""
        try:
            self._events.close()
            for one in (self._door, *self._lines.values()):
                one.close()
            for kept in self._kept:
                os.close(kept)
            while given := socket.recv_fds(line, 1, 1)[1]:
                with socket.socket(fileno=given[0]) as connection:
                    self._serve(connection)
                line.sendall(b".")
            os._exit(0)
        finally:
            os._exit(1)

    def _heard(self, number: int) -> None:
        """A child is free, or has ended."""
        line = self._lines.get(number)
        if line is not None and _told(line):
            self._free.add(number)
        elif line is not None:
            self._gone(number)

    def _end(self, number: int) -> int:
        """The code with which a child ended, or is made to end now."""
        if number in self._lines:
            os.kill(number, signal.SIGKILL)
            self._gone(number)
        return self._codes.get(number, -signal.SIGKILL)

    def _gone(self, number: int) -> None:
        _, status = os.waitpid(number, 0)
        self._codes[number] = os.waitstatus_to_exitcode(status)
        self._free.discard(number)
        line = self._lines.pop(number)
        self._events.unregister(line)
        line.close()


def _told(line: socket.socket) -> bytes:
    try:
        return line.recv(1)
    except OSError:
        return b""


if __name__ == "__main__":
    main(*sys.argv[1:])

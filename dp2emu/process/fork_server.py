"""A fork server: a process that has imported modules and forks workers.

    python -m dp2emu.process.fork_server PLACE MODULE...

A worker starts in 5 ms, where a new interpreter that imports the same needs 300 to 900 ms.  The
server of the standard library's ``multiprocessing`` starts one in 9 ms, but lacks what is needed:
it forks for one process alone, while workers here outlive that process and serve the next one
with all that they have compiled; it does not fork for daemonic processes, which dask's workers
are; and its children execute the main module of a program again, which fails where that module
does not guard against it.

A shared server listens at the socket ``socket`` in the directory ``PLACE``.  Other users have no
access to the directory.  The server ends, and its directory with it, when it has been idle for a
while.  A private server, whose ``PLACE`` is ``-``, is sent its connections over standard input,
which is a socket; it kills its workers and ends when that is closed.

The first line on a connection is a request.  ``run CALL`` connects a worker, which is free or new:
it says its process number in a line, then executes the call (``worker``).  ``end NUMBER`` ends
that worker, and is answered by a line with its exit code.
"""

from __future__ import annotations

import gc
import importlib
import os
import shutil
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from typing import NoReturn

import msgspec

from dp2emu.process import worker as workers

IDLE_SECONDS = 20.0
"""A shared fork server ends when no worker was busy for this number of seconds."""

ASK_SECONDS = 5.0
"""Seconds that a client may take to send its request after it connected to the fork server."""

REQUEST_BYTES = 1 << 16

PRIVATE = "-"


def main(place: str, *modules: str) -> None:
    """Run a fork server: a shared one in directory ``place`` until it has been idle, or a private
    one (``place`` is ``-``) until its client ends.
    """
    if place == PRIVATE:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the client's to handle
        control = socket.socket(fileno=os.dup(0))
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        _import(modules)
        _Server(control, lambda: _passed(control)).run(None)
        return
    lock = locked(Path(place, "lock"))
    if lock is None:
        return
    workers.shared_directory = place
    try:
        with listening(Path(place, "socket")) as listener:
            _import(modules)
            _Server(listener, lambda: listener.accept()[0], lock).run(IDLE_SECONDS)
    finally:
        remove(Path(place))
        tidy(Path(place))


def locked(path: Path) -> int | None:
    """Lock the file ``path``, made if it is missing; returns its descriptor, which holds the lock,
    or None if another server has locked or removed it.
    """
    import fcntl

    try:
        lock = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return lock if os.path.samestat(os.fstat(lock), path.stat()) else None
    except (BlockingIOError, FileNotFoundError):
        return None


def remove(place: Path) -> None:
    """Remove a server's directory, renamed first, so that ``place`` is free at once."""
    going = place.with_name(f"{place.name}.{os.getpid()}")
    with suppress(OSError):
        place.rename(going)
    shutil.rmtree(going, ignore_errors=True)


def tidy(place: Path) -> None:
    """Remove directories beside ``place`` whose servers, of this user and machine, were killed."""
    machine = place.name.rpartition("-")[2]
    for one in place.parent.glob(f"dp2emu-*-{machine}*"):
        with suppress(OSError):
            state = one.lstat()
            if state.st_uid != os.getuid() or state.st_mode & 0o77:
                continue
            lock = locked(one / "lock")
            if lock is not None:
                remove(one)
                os.close(lock)


def listening(path: Path) -> socket.socket:
    """Return a socket that listens at ``path``; clients can connect before it is served."""
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(path))
    listener.listen(64)
    return listener


def _passed(control: socket.socket) -> socket.socket | None:
    """Receive a connection that the client sent over ``control``; None if the client has ended."""
    _, files, _, _ = socket.recv_fds(control, 1, 1)
    return socket.socket(fileno=files[0]) if files else None


def _import(modules: tuple[str, ...]) -> None:
    """Import modules that workers need; none may start a thread: forked copies lack it."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # NumPy's BLAS, which is not used, starts threads
    gc.disable()  # collections would find nothing in modules, and copy their pages in workers
    for name in modules:
        with suppress(ImportError):
            importlib.import_module(name)
    gc.freeze()
    gc.enable()


class _Worker(msgspec.Struct):
    """A worker process: the text of the call that it executes, the server's end of the channel to
    it, and whether it is ``free``, without a connection.  Mutable.
    """

    call: str
    channel: socket.socket
    free: bool = False


class _Server:
    """Forks workers and passes them the connections of clients.  Mutable: it has the workers.

    ``accept`` is called when the socket ``intake`` is readable, and returns the next connection,
    None if none will follow.  Workers close the file descriptors ``kept``.
    """

    def __init__(
        self, intake: socket.socket, accept: Callable[[], socket.socket | None], *kept: int
    ) -> None:
        self._intake, self._accept, self._kept = intake, accept, kept
        self._events = DefaultSelector()
        self._events.register(intake, EVENT_READ)
        self._workers: dict[int, _Worker] = {}
        self._codes: dict[int, int] = {}

    def run(self, idle: float | None) -> None:
        """Serve requests until ``intake`` is closed, which ends all workers, or until no worker is
        busy and nothing has come for ``idle`` seconds (None: forever).
        """
        while True:
            events = self._events.select(idle)
            if not events and all(worker.free for worker in self._workers.values()):
                return
            for key, _ in events:
                if key.data is not None:
                    self._heard(key.data)
                elif (connection := self._accept()) is not None:
                    self._answer(connection)
                else:
                    for number in list(self._workers):
                        self._end(number)
                    return

    def _answer(self, connection: socket.socket) -> None:
        with connection, suppress(OSError, ValueError):
            connection.settimeout(ASK_SECONDS)
            with connection.makefile(encoding="utf-8") as reader:
                what, _, rest = reader.readline(REQUEST_BYTES).partition(" ")
            if what == "end":
                connection.sendall(b"%d\n" % self._end(int(rest)))
            elif what == "run" and rest.endswith("\n"):
                connection.setblocking(True)
                self._connect(rest, connection)

    def _connect(self, call: str, connection: socket.socket) -> None:
        """Pass a connection to a free worker for ``call``, or to a newly forked one."""
        free = (n for n, worker in self._workers.items() if worker.free and worker.call == call)
        number = next(free, None) or self._fork(call, connection)
        worker = self._workers[number]
        worker.free = False
        with suppress(BrokenPipeError):  # the worker is ending, which tells the client to retry
            socket.send_fds(worker.channel, [b"."], [connection.fileno()])

    def _fork(self, call: str, connection: socket.socket) -> int:
        """Fork a worker that executes ``call`` on connections passed to it; returns its process
        id.

        The worker closes its copy of ``connection``, since it is passed that like any other.
        """
        here, there = socket.socketpair()
        number = os.fork()
        if not number:
            for mine in (here, connection):
                mine.close()
            self._work(call, there)
        there.close()
        self._workers[number] = _Worker(call, here)
        self._events.register(here, EVENT_READ, number)
        return number

    def _work(self, call: str, channel: socket.socket) -> NoReturn:
        """In a forked worker: execute ``call`` on each connection that comes over ``channel``, and
        end the process when the server has ended.
        """
        try:
            self._events.close()
            for one in (self._intake, *(worker.channel for worker in self._workers.values())):
                one.close()
            for kept in self._kept:
                os.close(kept)
            while passed := socket.recv_fds(channel, 1, 1)[1]:
                _serve(call, socket.socket(fileno=passed[0]))
                channel.sendall(b".")
            os._exit(0)
        finally:
            os._exit(1)

    def _heard(self, number: int) -> None:
        """Read the channel of worker ``number``: mark it as free, or forget it if it has ended."""
        worker = self._workers.get(number)
        if worker is None:  # it was ended by a request that came with this
            return
        worker.free = False
        with suppress(OSError):
            worker.free = bool(worker.channel.recv(1))
        if not worker.free:
            self._end(number)

    def _end(self, number: int) -> int:
        """Kill worker ``number`` if it has not ended; returns its exit code (else -SIGKILL)."""
        worker = self._workers.pop(number, None)
        if worker is not None:
            os.kill(number, signal.SIGKILL)
            self._codes[number] = os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])
            self._events.unregister(worker.channel)
            worker.channel.close()
        return self._codes.get(number, -signal.SIGKILL)


def _serve(call: str, connection: socket.socket) -> None:
    """In a worker: execute a call on a connection; the process ends if the call raises or returns
    an exit code.

    The process ends before the connection is closed, since a client takes the end of the
    connection for the end of the process.
    """
    reader, writer = connection.makefile("rb"), connection.makefile("wb")
    writer.write(b"%d\n" % os.getpid())
    writer.flush()
    code: int | None = 1
    try:
        code = workers.run(call, reader, writer)
    except BaseException:
        traceback.print_exc()
    if code is not None:
        sys.stdout.flush()
        os._exit(code)
    for one in (writer, reader, connection):
        with suppress(OSError):
            one.close()


if __name__ == "__main__":
    main(*sys.argv[1:])

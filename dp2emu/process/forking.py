"""Workers started through a fork server, or as new interpreters where there can be none."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from threading import Lock
from time import monotonic, sleep
from typing import BinaryIO
from zlib import crc32

from dp2emu.process.child import Child, Command
from dp2emu.process.worker import command_of
from dp2emu.unfinished import begin_unfinished, end_unfinished

START_SECONDS = 120.0
"""Seconds that a fork server or worker process may take to start."""

PLACE_BYTES = 90
"""Maximum bytes of the path of a fork server's directory; systems limit the path of its socket."""

RETRY_SECONDS = 0.02
"""Seconds between attempts to connect to a shared fork server that is starting."""

_STARTED: list[subprocess.Popen[bytes]] = []
"""Processes of the shared servers that this process has started, except those that have ended."""


def can_fork() -> bool:
    """Return whether fork servers work on this system; else workers are new interpreters.

    They do not on macOS, whose libraries start threads: a forked copy may fail.
    """
    return sys.platform != "darwin" and all(
        hasattr(module, name)
        for module, name in ((os, "fork"), (socket, "AF_UNIX"), (socket, "send_fds"))
    )


class ForkServer:
    """Starts workers by a server process that has imported ``modules`` and forks; the server is
    started with the first worker.

    Without ``name`` the server is private to this process and ends with it, or at ``close``, with
    its workers.  With a ``name`` of letters and digits it is shared by all processes of this user
    on this machine, and ends when it is idle.  Mutable: a server that was killed is replaced.
    """

    def __init__(self, *modules: str, name: str = "") -> None:
        """Private without ``name``.  Raises OSError if a shared one has no temporary directory."""
        self.place: Path | None = None
        if name:
            machine = crc32(socket.gethostname().encode())  # machines may share the directory
            self.place = Path(tempfile.gettempdir(), f"dp2emu-{name}-{machine:08x}")
        self._modules = modules
        self._launching = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self.greeted = self._refusing = False

    def start(self, call: str) -> Child:
        """Start a worker that executes a call.  Raises OSError if no process can be started."""
        if can_fork():
            with suppress(OSError):
                return self._forked(call)
        if self._refusing:
            raise OSError("the fork server is closed")
        return Command(command_of(call), stderr=subprocess.DEVNULL)

    def _forked(self, call: str) -> Child:
        until = monotonic() + START_SECONDS
        while monotonic() < until:
            with suppress(FileNotFoundError, ConnectionError):
                return ForkedWorker(self, call)
            if self._refusing:
                break
            with self._launching:
                self._launch()
        raise TimeoutError(f"no fork server answers for {START_SECONDS:g} seconds")

    def launch(self) -> None:
        """Start the server process; ``start`` does so by itself."""
        with self._launching:
            self._launch()

    def request(self, what: str) -> socket.socket:
        """Connect to the server and send the line ``what``; returns the connection, for the
        answer.

        Raises OSError: FileNotFoundError or ConnectionError if there is no server.
        """
        connection = self._passed() if self.place is None else _connected(self.place)
        try:
            connection.sendall(what.encode() + b"\n")
        except OSError:
            connection.close()
            raise
        return connection

    def _passed(self) -> socket.socket:
        """Connect to the private server: return one end of a socket pair, send it the other."""
        if self._control is None:
            raise ConnectionRefusedError("the fork server has not been started")
        here, there = socket.socketpair()
        here.settimeout(START_SECONDS)
        with there:
            try:
                socket.send_fds(self._control, [b"."], [there.fileno()])
            except OSError:
                here.close()
                raise
        return here

    def _launch(self) -> None:
        """Start the server unless it is running or starting.  Raises OSError if it fails."""
        code = 0 if self._process is None else self._process.poll()
        if code is not None and code > 0:
            raise OSError(f"the fork server ended with exit code {code}")
        if self.place is not None:
            if code is not None:
                self._process = _share(self.place, self._modules)
            sleep(RETRY_SECONDS)
        elif code is not None:
            self._end()
            self._control, there = socket.socketpair()
            with there:
                self._process = _start("-", *self._modules, stdin=there.fileno())
            begin_unfinished(self, self.refuse)

    def refuse(self) -> None:
        """Start no more workers; a private server without a worker, which may be importing, is
        killed.
        """
        self._refusing = True
        if self.place is None and self._process is not None and not self.greeted:
            self._process.kill()

    def close(self) -> None:
        """End the server and its workers if it is private; does nothing to a shared server."""
        self.refuse()
        self._end()
        end_unfinished(self)

    def _end(self) -> None:
        self.greeted = False
        if self._control is not None:
            self._control.close()
            if self._process is not None:
                self._process.wait()


def _connected(place: Path) -> socket.socket:
    """Return a connection with the shared server of directory ``place``.

    Raises PermissionError if other users can access the directory: a server of theirs would be
    told the names of files.
    """
    state = place.lstat()
    if state.st_uid != os.getuid() or state.st_mode & 0o77:
        raise PermissionError(f"{place} has to be this user's alone")
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(START_SECONDS)
    try:
        connection.connect(str(place / "socket"))
    except OSError:
        connection.close()
        raise
    return connection


def _share(place: Path, modules: tuple[str, ...]) -> subprocess.Popen[bytes]:
    """Start the shared server of directory ``place``; it ends at once if one is running."""
    if len(os.fsencode(place)) > PLACE_BYTES:
        raise OSError(f"{place}: the path of a socket would be too long")
    with suppress(FileExistsError):
        place.mkdir(mode=0o700)
    _STARTED[:] = [server for server in _STARTED if server.poll() is None]
    _STARTED.append(_start(str(place), *modules, stdin=subprocess.DEVNULL))
    return _STARTED[-1]


def _start(place: str, *modules: str, stdin: int) -> subprocess.Popen[bytes]:
    """Start a server process; a shared one (``stdin`` DEVNULL) can outlive this process."""
    null = subprocess.DEVNULL
    command = [sys.executable, "-m", "dp2emu.process.fork_server", place, *modules]
    return subprocess.Popen(
        command, stdin=stdin, stdout=null, stderr=null, start_new_session=stdin == null
    )


class ForkedWorker:
    """A worker process forked by a server, connected by a socket.  Mutable: it ends.

    Raises OSError if the server cannot be reached: ConnectionError if it is just ending.
    """

    def __init__(self, server: ForkServer, call: str) -> None:
        self._server = server
        self._code: int | None = None
        self._connection = server.request(f"run {call}")
        self.stdin: BinaryIO = self._connection.makefile("wb")
        self.stdout: BinaryIO = self._connection.makefile("rb")
        try:
            greeting = self.stdout.readline()
            if not greeting:
                raise ConnectionResetError("the fork server ended")
        except OSError:
            self._release()
            raise
        server.greeted = True
        self._connection.settimeout(None)
        self.pid = int(greeting)

    def poll(self) -> int | None:
        """Return the exit code, or None while the process runs."""
        try:
            ended = not self._connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            ended = False
        except OSError:
            ended = True
        return self.wait() if ended else None

    def wait(self) -> int:
        """Return the exit code; the server ends the process if it has not ended."""
        if self._code is None:
            try:
                with self._server.request(f"end {self.pid}") as connection:
                    self._code = int(connection.recv(64))
            except (OSError, ValueError):  # without its server a worker ends at its deadline
                self._code = -signal.SIGKILL
        return self._code

    def kill(self) -> None:
        """End the process and shut down the connection, so that readers of it stop."""
        self.wait()
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """End the process and the connection."""
        self.kill()
        self._release()

    def _release(self) -> None:
        for one in (self.stdin, self.stdout, self._connection):
            with suppress(OSError):
                one.close()

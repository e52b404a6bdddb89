"""Children of a nursery, for whoever watches them; where there is none yet, it is started."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import TextIO

from dp2emu.batch.watching import START_SECONDS, Process, Terms, started

PLACE_BYTES = 90
"""Of the name of a nursery's folder, at most: a socket's is bounded."""

LOOK_SECONDS = 0.02
"""How often it is tried to connect to a nursery that is being started."""

_STARTED: list[subprocess.Popen[bytes]] = []
"""Nurseries of this process, so that it hears of their end."""


def can_fork() -> bool:
    """Whether there can be nurseries on this system."""
    return all(
        hasattr(module, name)
        for module, name in ((os, "fork"), (socket, "AF_UNIX"), (socket, "send_fds"))
    )


def forked(terms: Terms, batch: str, folder: str) -> Process:
    """A child of the nursery of a batch, in ``folder``; where there is none, one of this process.

    ``batch`` is a name that no other batch has, of letters and digits.  Raises OSError if there
    can be no process.
    """
    place = Path(tempfile.gettempdir(), f"dp2emu-{batch}")
    if can_fork() and len(os.fsencode(place)) <= PLACE_BYTES:
        with suppress(PermissionError):  # a worker of another user was before this one
            return _nursed(place, terms, folder)
    return started(terms, folder)


def _nursed(place: Path, terms: Terms, folder: str) -> Process:
    """A child of the nursery of ``place``, which is started if it is not there."""
    until = monotonic() + START_SECONDS
    nursery: subprocess.Popen[bytes] | None = None
    while monotonic() < until:
        with suppress(FileNotFoundError, ConnectionError):
            return _Forked(place)
        if nursery is None or nursery.poll() == 0:  # 0: another one was before it
            nursery = _nursery(place, terms, folder)
        elif nursery.poll() is not None:
            break
        sleep(LOOK_SECONDS)
    raise OSError(f"{place}: nobody answers")


def _nursery(place: Path, terms: Terms, folder: str) -> subprocess.Popen[bytes]:
    """Start one, which outlives this process."""
    with suppress(FileExistsError):
        place.mkdir(mode=0o700)
    state = place.lstat()
    if state.st_uid != os.getuid() or state.st_mode & 0o77:
        raise PermissionError(f"{place} is not this user's alone")
    nursery = subprocess.Popen(
        [sys.executable, "-m", "dp2emu.batch.nursery", str(place), terms.settings],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        start_new_session=True,
    )
    _STARTED.append(nursery)
    return nursery


class _Forked:
    """A child of a nursery, as far as a ``subprocess.Popen`` is used here.

    Mutable: it ends, as others do.
    """

    def __init__(self, place: Path) -> None:
        self._place = place
        self._code: int | None = None
        self._connection = _said(place, "serve")
        self.stdin: TextIO = self._connection.makefile("w", encoding="utf-8")
        self.stdout: TextIO = self._connection.makefile("r", encoding="utf-8")
        self._number = self._greeted()

    def _greeted(self) -> str:
        self._connection.settimeout(START_SECONDS)
        number = self.stdout.readline()
        self._connection.settimeout(None)
        if not number:
            self.close()
            raise ConnectionResetError("a nursery that was just ending")
        return number

    def poll(self) -> int | None:
        """None as long as it is there."""
        try:
            gone = not self._connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            gone = False
        except OSError:
            gone = True
        return self.wait() if gone else None

    def wait(self) -> int:
        """The code it ended with; who waits for it has seen it go."""
        if self._code is None:
            self._code = self._ended()
        return self._code

    def kill(self) -> None:
        """End it."""
        self.wait()

    def _ended(self) -> int:
        """Its nursery ends it if need be, and says how it ended."""
        try:
            with _said(self._place, f"end {self._number.strip()}") as nursery:
                nursery.settimeout(START_SECONDS)
                return int(nursery.recv(64))
        except (OSError, ValueError):  # without its nursery no child stays
            return -signal.SIGKILL

    def close(self) -> None:
        """End the way to it."""
        for one in (self.stdin, self.stdout, self._connection):
            with suppress(OSError):
                one.close()


def _said(place: Path, what: str) -> socket.socket:
    """A connection with a nursery, which is told what for."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(str(place / "door"))
        connection.sendall(what.encode() + b"\n")
    except OSError:
        connection.close()
        raise
    return connection

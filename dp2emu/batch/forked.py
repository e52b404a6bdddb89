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
from zlib import crc32

from dp2emu.batch.watching import START_SECONDS, Process, Terms, started

PLACE_BYTES = 90
"""Of the name of a nursery's folder, at most: a socket's is bounded."""

LOOK_SECONDS = 0.02
"""How often it is tried to connect to a nursery that is being started."""

_STARTED: list[subprocess.Popen[bytes]] = []
"""Nurseries of this process; of those that have ended it hears when it starts the next."""


def can_fork() -> bool:
    """Whether there can be nurseries on this system.

    Libraries of macOS start threads as they like, and a copy of a process that has some may fail.
    """
    return sys.platform != "darwin" and all(
        hasattr(module, name)
        for module, name in ((os, "fork"), (socket, "AF_UNIX"), (socket, "send_fds"))
    )


def place_of(batch: str) -> Path:
    """The folder of a batch's nursery: machines may have that for temporary files in common.

    Raises OSError if there is none for temporary files.
    """
    machine = crc32(socket.gethostname().encode())
    return Path(tempfile.gettempdir(), f"dp2emu-{batch}-{machine:08x}")


def forked(terms: Terms, batch: str, folder: str) -> Process:
    """A child of the nursery of a batch, in ``folder``; where there is none, one of this process.

    ``batch`` is a name that no other batch has, of letters and digits.  Raises OSError if there
    can be no process.
    """
    if can_fork():
        with suppress(OSError):  # the folder is another user's, cannot be, or can have no sockets
            return _nursed(place_of(batch), terms, folder)
    return started(terms, folder)


def _nursed(place: Path, terms: Terms, folder: str) -> Process:
    """A child of the nursery of ``place``, which is started if it is not there."""
    if len(os.fsencode(place)) > PLACE_BYTES:
        raise OSError(f"{place}: too long a name")
    until = monotonic() + START_SECONDS
    nursery: subprocess.Popen[bytes] | None = None
    while monotonic() < until:
        with suppress(FileNotFoundError, ConnectionError):
            _ensure(place)
            return _Forked(place)
        if nursery is None or nursery.poll() == 0:  # 0: another one was before it
            nursery = _nursery(place, terms, folder)
        elif nursery.poll() is not None:
            break
        sleep(LOOK_SECONDS)
    raise OSError(f"{place}: nobody answers")


def _ensure(place: Path) -> None:
    """Have the folder.  Raises PermissionError for another user's: whoever is there is believed,
    and gets the names of files.
    """
    with suppress(FileExistsError):
        place.mkdir(mode=0o700)
    state = place.lstat()
    if state.st_uid != os.getuid() or state.st_mode & 0o77:
        raise PermissionError(f"{place} is not this user's alone")


def _nursery(place: Path, terms: Terms, folder: str) -> subprocess.Popen[bytes]:
    """Start one, which outlives this process."""
    _STARTED[:] = [one for one in _STARTED if one.poll() is None]
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
        """End it; who reads what it says is told so even if it has no nursery that ends it."""
        self.wait()
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)

    def _ended(self) -> int:
        """Its nursery ends it if need be, and says how it ended."""
        try:
            with _said(self._place, f"end {self._number.strip()}") as nursery:
                return int(nursery.recv(64))
        except (OSError, ValueError):  # without its nursery it ends after its file
            return -signal.SIGKILL

    def close(self) -> None:
        """End the way to it."""
        for one in (self.stdin, self.stdout, self._connection):
            with suppress(OSError):
                one.close()


def _said(place: Path, what: str) -> socket.socket:
    """A connection with a nursery, which is told what for and may take so long to answer."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(START_SECONDS)
    try:
        connection.connect(str(place / "door"))
        connection.sendall(what.encode() + b"\n")
    except OSError:
        connection.close()
        raise
    return connection

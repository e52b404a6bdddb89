"""The command in processes of its own, forked from one that has imported all verbs."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import NamedTuple

from dp2emu.cli import main

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["tests.cli.preloaded"])
_ROOT = str(Path(__file__).parents[2])
PATIENCE = 120.0
"""Seconds after which a test gives up on what should not take one."""


def forked(what: Callable[..., None], *given: object) -> BaseProcess:
    """A function of a module in a process of its own."""
    process = _FORKS.Process(target=what, args=given)
    process.start()
    return process


class Ended(NamedTuple):
    """What became of a process."""

    code: int
    out: bytes
    err: str


class Running:
    """``dp2emu ARGUMENTS...`` in a process that leads a session; ``folder`` is its current one.

    With ``deaf`` nobody reads its standard output.  ``stuck`` is called in it, and then the
    command.
    """

    def __init__(
        self,
        folder: Path,
        *arguments: object,
        deaf: bool = False,
        stuck: Callable[[], None] | None = None,
    ) -> None:
        self._out, self._err = folder / ".out", folder / ".err"
        words = [str(argument) for argument in arguments]
        self.process = _FORKS.Process(
            target=_serve, args=(str(folder), words, str(self._out), str(self._err), deaf, stuck)
        )
        self.process.start()

    def signal(self, number: int, *, group: bool = False) -> None:
        """Send a signal to the process alone, or as terminals do to those it has started too."""
        assert self.process.pid is not None
        (os.killpg if group else os.kill)(self.process.pid, number)

    def ended(self) -> Ended:
        """Wait for its end."""
        self.process.join(PATIENCE)
        assert self.process.exitcode is not None, "it does not end"
        out, err = self._out.read_bytes(), self._err.read_text("utf-8")
        self._out.unlink()
        self._err.unlink()
        return Ended(self.process.exitcode, out, err)

    def children(self) -> bool:
        """Whether a process of its session is there, itself aside once it has ended."""
        assert self.process.pid is not None
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, 0)
            return True
        return False


def reading(path: Path, running: Running) -> int:
    """Make sure that somebody has a named pipe open to read; returns the other end."""
    found: list[int] = []

    def opened() -> bool:
        with suppress(OSError):
            found.append(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
        return bool(found)

    await_that(opened, running.process)
    return found[0]


def forsaken(end: int) -> bool:
    """Whether nobody reads from a pipe any more."""
    try:
        os.write(end, b"?")
    except BrokenPipeError:
        return True
    except BlockingIOError:
        return False
    return False


def await_that(what: Callable[[], bool], process: BaseProcess | None = None) -> None:
    """Wait until something is so, while a process runs if there is one."""
    until = time.monotonic() + PATIENCE
    while not what():
        assert process is None or process.is_alive()
        assert time.monotonic() < until
        time.sleep(0.005)


def _serve(
    folder: str,
    arguments: list[str],
    out: str,
    err: str,
    deaf: bool,
    stuck: Callable[[], None] | None,
) -> None:
    os.setsid()
    os.chdir(folder)
    os.environ |= {"PYTHONPATH": os.pathsep.join([_ROOT, *sys.path]), "TMPDIR": folder}
    tempfile.tempdir = None
    # Whoever runs the tests may want some ignored, as shells do for what is in the background.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(os.open(out, flags), 1)
    os.dup2(os.open(err, flags), 2)
    if deaf:
        reader, writer = os.pipe()
        os.close(reader)
        os.dup2(writer, 1)
    sys.stdout, sys.stderr = (os.fdopen(file, "w", closefd=False) for file in (1, 2))
    if stuck is not None:
        stuck()
    main(arguments)

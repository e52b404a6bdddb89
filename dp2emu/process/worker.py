"""The worker's side of supervision: the function that a worker calls, and bounds on its process.

``python -m dp2emu.process.worker CALL`` executes a call in a new interpreter, connected by
standard input and output.  A fork server executes it in a forked process, connected by a socket.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
from collections.abc import Iterator
from importlib import import_module
from threading import Thread
from typing import Any, BinaryIO

shared_directory = ""
"""Path of the directory of the shared fork server that forked this process; empty in other
processes.

Workers of one server may keep files there; no other directory would be safe to trust."""


def call_of(function: str, *arguments: object, folder: str | None = None) -> str:
    """Return JSON that names a function (``module:name``) for a worker to call in ``folder``.

    The function is called with a binary reader and writer, then ``arguments``.  It returns None to
    let the worker serve another connection, or an exit code to end it.
    """
    return json.dumps([function, folder, *arguments])


def command_of(call: str) -> list[str]:
    """Return the command that executes a call in a new interpreter."""
    return [sys.executable, "-m", __name__, call]


def run(call: str, reader: BinaryIO, writer: BinaryIO) -> Any:
    """Call the function that ``call`` (JSON of ``call_of``) names, and return its result: an exit
    code, or None if the process may execute more calls.
    """
    function, folder, *arguments = json.loads(call)
    if folder is not None:
        os.chdir(folder)
    module, _, name = function.partition(":")
    return getattr(import_module(module), name)(reader, writer, *arguments)


def limit_memory(size: int) -> None:
    """Bound the address space to ``size`` bytes (0: no bound), where the system has such a bound.

    Allocations beyond it fail.
    """
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        if size:
            resource.setrlimit(resource.RLIMIT_AS, (size, size))


@contextlib.contextmanager
def ending_after(seconds: float) -> Iterator[None]:
    """A context in which SIGALRM ends this process after ``seconds``, if there are timers."""
    if not hasattr(signal, "setitimer"):
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)


def end_with_parent(reader: BinaryIO) -> None:
    """Start a thread that ends this process when the other end of ``reader`` is closed, where
    pipes can be polled.

    So the process ends even when its parent is killed.
    """
    if not hasattr(select, "poll"):
        return
    poll = select.poll()
    poll.register(reader.fileno(), 0)  # a hang-up is reported without being asked for

    def wait() -> None:
        poll.poll()
        os._exit(1)

    Thread(target=wait, daemon=True).start()


def main(call: str) -> None:
    """Execute a call (JSON of ``call_of``) over standard input and output, and end the process.

    What the called function prints goes to standard error.
    """
    writer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.exit(run(call, sys.stdin.buffer, writer))


if __name__ == "__main__":
    main(sys.argv[1])

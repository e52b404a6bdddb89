"""The worker's side of supervision: the function that a worker calls, and bounds on its process.

    python -m dp2emu.process.worker CALL

executes a call in a new interpreter, connected by standard input and output.  A fork server
executes the same call in a forked process, connected by a socket.
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
"""Directory of the shared fork server that forked this process, for files of its workers.

It is empty in other processes: they must not trust a directory that no server holds.
"""


def call_of(function: str, *arguments: object, folder: str | None = None) -> str:
    """Return the text of a call of ``function`` (``module:name``) in the directory ``folder``.

    The function is given a reader and a writer of bytes ahead of the ``arguments``.  It returns
    None when it is done with that connection, or an exit code to end its process.
    """
    return json.dumps([function, folder, *arguments])


def command_of(call: str) -> list[str]:
    """Return the command that executes a call in a new interpreter."""
    return [sys.executable, "-m", __name__, call]


def run(call: str, reader: BinaryIO, writer: BinaryIO) -> Any:
    """Execute a call and return its exit code, None if its process may execute others."""
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
    """Have SIGALRM end this process if the block takes longer, where the system has timers."""
    if not hasattr(signal, "setitimer"):
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)


def end_with_parent(reader: BinaryIO) -> None:
    """End this process when the other end of ``reader`` is closed, where pipes can be polled.

    A parent that is killed closes its end, and cannot end its children otherwise.
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
    """Execute a call over standard input and output; what it prints goes to standard error."""
    writer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.exit(run(call, sys.stdin.buffer, writer))


if __name__ == "__main__":
    main(sys.argv[1])

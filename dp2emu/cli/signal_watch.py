"""A thread that ends compiled code when a signal arrives, and the process if nothing else does.

Python runs signal handlers between two bytecodes of the main thread, so a handler waits while
compiled code runs.  The interpreter also writes each signal's number to a socket, at once; the
watching thread reads it and cancels all work, so that compiled code returns.  Code of libraries
does not poll.  If the main thread has not reacted after a while, the watching thread ends the
process itself.
"""

from __future__ import annotations

import _thread
import os
import signal
import socket
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from time import monotonic

from dp2emu.cancellation import cancel_all

_END = b"\0"
"""Byte that ends the watching thread; no signal has the number 0."""
_NO_DESCRIPTOR = -1
REACTION_SECONDS, UNWINDING_SECONDS = 0.2, 3.0
"""Seconds that the main thread has to react to a signal, and then to close what it has open,
before the process is ended without it."""

_LOOK_SECONDS = 0.01

reacted, dropped = threading.Event(), threading.Event()
"""Set by the main thread to say that its signal handler has raised, and that Python has dropped
that exception, as it does in callbacks; the signal is then sent again."""


@contextmanager
def kernels_stopped(
    numbers: Collection[int], overdue: Callable[[int], object] | None = None
) -> Iterator[None]:
    """Cancel all work (``dp2emu.cancellation``) at signals in ``numbers`` within the block.

    ``overdue`` is called with a signal's number if the block goes on for ``REACTION_SECONDS``
    without ``reacted`` being set, or for ``UNWINDING_SECONDS``.  The signals must have Python
    handlers.  Must be entered by the main thread.
    """
    reader, writer = socket.socketpair()
    writer.setblocking(False)  # set_wakeup_fd requires it
    thread = threading.Thread(
        target=_watch, args=(reader, numbers, overdue), daemon=True, name="signals"
    )
    reacted.clear()
    dropped.clear()
    with reader, writer:
        before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        _watching.add(writer.fileno())
        thread.start()
        try:
            yield
        finally:
            signal.set_wakeup_fd(before)
            _watching.discard(writer.fileno())
            writer.send(_END)
            thread.join()


_watching: set[int] = set()
"""Descriptors that ``kernels_stopped`` has set as the interpreter's wakeup descriptor."""


def _watch(
    reader: socket.socket, numbers: Collection[int], overdue: Callable[[int], object] | None
) -> None:
    while (arrived := reader.recv(64)) and _END not in arrived:
        found = [number for number in arrived if number in numbers]
        if not found:
            continue
        cancel_all("interrupted")
        if overdue is not None:
            if not _ends(reader, found[0]):
                overdue(found[0])
            return


def _ends(reader: socket.socket, number: int) -> bool:
    """Wait for the end of the block; returns False if it takes too long."""
    if not reacted.wait(REACTION_SECONDS):
        return False
    until = monotonic() + UNWINDING_SECONDS
    reader.settimeout(_LOOK_SECONDS)
    while monotonic() < until:
        with suppress(TimeoutError):
            if not (arrived := reader.recv(64)) or _END in arrived:
                return True
        if dropped.is_set():
            dropped.clear()
            _signal_main_thread(number)
    return False


def _signal_main_thread(number: int) -> None:
    main = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and main is not None:
        signal.pthread_kill(main, number)
    else:
        _thread.interrupt_main(signal.Signals(number))


def _forget_in_child() -> None:
    """Detach a forked child, whose signals must not cancel its parent's work."""
    if _watching:
        _watching.clear()
        signal.set_wakeup_fd(_NO_DESCRIPTOR)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_child)

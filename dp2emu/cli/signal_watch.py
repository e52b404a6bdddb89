"""A thread that ends compiled code when a signal arrives.

Python runs signal handlers between two bytecodes of the main thread, so a handler waits while
compiled code runs.  The interpreter also writes each signal's number to a socket, at once; the
watching thread reads it and cancels all work, so that compiled code returns.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from dp2emu.cancellation import cancel_all

_END = b"\0"
"""Byte that ends the watching thread; no signal has the number 0."""
_NO_DESCRIPTOR = -1


@contextmanager
def kernels_stopped(numbers: Collection[int]) -> Iterator[None]:
    """Cancel all work (``dp2emu.cancellation``) at signals in ``numbers`` within the block.

    The signals must have Python handlers.  Must be entered by the main thread.
    """
    reader, writer = socket.socketpair()
    writer.setblocking(False)  # set_wakeup_fd requires it
    thread = threading.Thread(target=_watch, args=(reader, numbers), daemon=True, name="signals")
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


def _watch(reader: socket.socket, numbers: Collection[int]) -> None:
    while (arrived := reader.recv(64)) and _END not in arrived:
        if not set(arrived).isdisjoint(numbers):
            cancel_all("interrupted")


def _forget_in_child() -> None:
    """Detach a forked child, whose signals must not cancel its parent's work."""
    if _watching:
        _watching.clear()
        signal.set_wakeup_fd(_NO_DESCRIPTOR)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_child)

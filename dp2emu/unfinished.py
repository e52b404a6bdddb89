"""What a process leaves behind when it ends without unwinding: partial files, child processes.

An interrupted command whose main thread cannot react in time ends at once, by ``os._exit``.  It
then calls the functions registered here first.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

_disposals: dict[object, Callable[[], object]] = {}
"""Functions that remove or end what a key stands for, the oldest first."""


def begin_unfinished(key: object, dispose: Callable[[], object]) -> None:
    """Have ``dispose`` called if the process ends before ``end_unfinished`` with the same key."""
    _disposals[key] = dispose


def end_unfinished(key: object) -> None:
    """Forget the function of ``key``; does nothing if there is none."""
    _disposals.pop(key, None)


@contextmanager
def unfinished(dispose: Callable[[], object]) -> Iterator[None]:
    """A block within which ``dispose`` is called if the process ends without unwinding."""
    key = object()
    begin_unfinished(key, dispose)
    try:
        yield
    finally:
        end_unfinished(key)


def dispose_all() -> None:
    """Call all registered functions, the newest first, and forget them; errors are ignored."""
    for key, dispose in reversed(tuple(_disposals.items())):
        end_unfinished(key)
        with suppress(Exception):
            dispose()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_disposals.clear)  # they are the parent's

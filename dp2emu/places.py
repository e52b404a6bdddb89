"""The place in the input that each thread works at, for messages of an interrupt or a timeout.

A player of an input registers a function that returns the place; it is called only when the work
is ended early, so it costs nothing before.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypedDict


class Place(TypedDict, total=False):
    """A place in an input, as ``errors.Dp2Error`` explains its parts."""

    stream: str | None
    call: int | None
    offset: int | None
    token: str | None


_told: dict[int, list[Callable[[], Place]]] = {}
"""Functions that return the place of a thread's work, the innermost last, by thread number."""


@contextmanager
def working_at(where: Callable[[], Place]) -> Iterator[None]:
    """Within the block, ``where`` tells the place at which the calling thread works."""
    number = threading.get_ident()
    stack = _told.setdefault(number, [])
    stack.append(where)
    try:
        yield
    finally:
        stack.remove(where)
        if not stack:
            _told.pop(number, None)


def place_of(thread: int | None = None) -> Place:
    """Return the place at which a thread (default: the calling one) works.

    Inner blocks of ``working_at`` precede outer ones; unknown parts are missing.
    """
    place: Place = {}
    for where in tuple(_told.get(thread or threading.get_ident(), ())):
        place |= {part: value for part, value in where().items() if value is not None}  # type: ignore[typeddict-item]
    return place

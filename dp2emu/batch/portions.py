"""Files handed out in portions, and what comes of them put in order again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from threading import Lock

from dp2emu.batch.watching import Row


class Portions:
    """Numbers of so many ``files``, handed out in order to so many ``hands``.

    Mutable: they run out, and hands come and go.
    """

    def __init__(self, files: int, hands: int) -> None:
        self.hands = hands
        self._files = files
        self._next = 0
        self._taking = Lock()

    def take(self, most: int, least: int = 1) -> range:
        """The next ``most`` files; near the end fewer, so that all hands end together, but not
        fewer than ``least`` of them.  Empty: no more.
        """
        with self._taking:
            start = self._next
            fair = max(least, (self._files - start) // (2 * self.hands))
            self._next = min(self._files, start + min(most, fair))
            return range(start, self._next)

    def stop(self) -> None:
        """Nothing is handed out any more."""
        with self._taking:
            self._next = self._files


def in_order(found: Iterable[tuple[int, list[Row]]]) -> Iterator[Row]:
    """Rows of portions, each with the number of its first file, in the order of files."""
    waiting: dict[int, list[Row]] = {}
    at = 0
    for start, rows in found:
        waiting[start] = rows
        while at in waiting:
            ready = waiting.pop(at)
            yield from ready
            at += len(ready)

"""Queries of a report: when each was issued, executed, signaled and delivered."""

from __future__ import annotations

from typing import Any

from dp2emu.explain.events import Event, EventKind


class QueryRows:
    """Rows of the queries whose begin or end is an event of the page.  Mutable: it grows."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self._open: dict[tuple[int, int | None], Event] = {}
        self._drawn: dict[tuple[int, int | None], list[tuple[int, int]]] = {}

    def add(self, event: Event) -> None:
        """Note an event: the begin or end of a query, or a draw that counts into open ones."""
        key = event.origin.device, event.query
        if event.kind is EventKind.QUERY_BEGIN:
            self._open[key] = event
            self._drawn[key] = []
        elif event.kind is EventKind.QUERY_END:
            began = self._open.pop(key, None)
            self.rows.append(_row(event, began, self._drawn.pop(key, [])))
        elif event.kind is EventKind.DRAW and event.pixels:
            for counted in self._drawn.values():
                counted.append((event.number, event.pixels))


def _row(event: Event, began: Event | None, counted: list[tuple[int, int]]) -> dict[str, Any]:
    return {
        "query": event.query,
        "type": "query",
        "context": event.origin.device,
        "began": None if began is None else began.number,
        "ended": event.number,
        "issued": None,
        "executing": event.time,
        "signaled": None,
        "delivered": None,
        "buffer": None,
        "offset": None,
        "answer": None,
        "state": "ended",
        "counted": counted,
    }

"""Events and states as HTML tables of notebooks: Jupyter shows an object with ``_repr_html_``.

Pages are small: long tables and texts are cut.  All text is escaped, and has no orders for a
browser.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import compress
from typing import Any

from dp2emu.escaping import plain
from dp2emu.explain.events import Event
from dp2emu.explain.listing import tab_separated

ROWS = 200
"""Maximum number of rows of a table; further ones are counted."""
_ALWAYS, _NONE = ("event", "frame", "place", "kind", "name"), ("-", "0")
_LONGEST = 200
"""Maximum number of characters of a cell."""


class EventTable(Sequence[Event]):
    """A list of events that a notebook shows as a table.

    >>> from dp2emu.explain.events import Event, EventKind, Origin
    >>> EventTable([Event(0, EventKind.MARKER, Origin("<b>"), text="x")])._repr_html_()[:49]
    '<table><tr><th>event</th><th>frame</th><th>place<'
    """

    def __init__(self, events: Iterable[Event]) -> None:
        self._events = tuple(events)

    def __len__(self) -> int:
        return len(self._events)

    def __getitem__(self, index: Any) -> Any:
        found = self._events[index]
        return EventTable(found) if isinstance(index, slice) else found

    def _repr_html_(self) -> str:
        """The table, without columns that no event has a value in."""
        header, *rows = (line.split("\t") for line in tab_separated(self._events[:ROWS]))
        used = [
            any(row[at] not in _NONE for row in rows) or name in _ALWAYS
            for at, name in enumerate(header)
        ]
        lines = [_row(compress(header, used), "th")]
        lines += [_row(compress(row, used), "td") for row in rows]
        return _table(lines, len(self._events) - ROWS)


class StateTable(Mapping[str, Any]):
    """A state, as ``snapshot`` or ``Inspector.facts`` return it, that a notebook shows as a table
    of paths and values.
    """

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self._facts = dict(facts)

    def __len__(self) -> int:
        return len(self._facts)

    def __iter__(self) -> Iterator[str]:
        return iter(self._facts)

    def __getitem__(self, name: str) -> Any:
        return self._facts[name]

    def _repr_html_(self) -> str:
        """A row for each value that is no object itself."""
        rows = list(_leaves("", self._facts))
        return _table([_row(row, "td") for row in rows[:ROWS]], len(rows) - ROWS)


def _leaves(path: str, value: Any) -> Iterator[tuple[str, str]]:
    """(path, text) of the values in a JSON value; short lists are one value."""
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield from _leaves(f"{path}.{name}" if path else str(name), each)
    elif isinstance(value, list) and any(isinstance(each, Mapping | list) for each in value):
        for number, each in enumerate(value):
            yield from _leaves(f"{path}[{number}]", each)
    else:
        yield path, str(value)


def _row(cells: Iterable[str], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{_text(cell)}</{tag}>" for cell in cells) + "</tr>"


def _text(cell: str) -> str:
    cut = cell if len(cell) <= _LONGEST else f"{cell[:_LONGEST]} ..."
    return escape(plain(cut))


def _table(rows: list[str], more: int) -> str:
    note = f"<p>and {more} more</p>" if more > 0 else ""
    return f"<table>{''.join(rows)}</table>{note}"

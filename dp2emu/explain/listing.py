"""The list of events as a table for people, as tab-separated values and as JSON lines."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from dp2emu.argument_check import checked
from dp2emu.errors import UsageError
from dp2emu.escaping import plain
from dp2emu.explain.events import Event, EventKind, Origin

Row = dict[str, Any]

_WIDEST = 40
"""Maximum number of characters of a column of the table."""


def row_of(event: Event) -> Row:
    """An event as a JSON object; the keys are the columns of the list, in order."""
    return {
        "event": event.address,
        "frame": event.frame,
        "place": event.place,
        "call": event.call,
        "token": event.token,
        "item": event.item,
        "api_call": event.api_call,
        "kind": event.kind.value,
        "name": event.name,
        "primitives": event.primitives,
        "topology": event.topology,
        "shaders": list(event.shaders),
        "targets": list(event.targets),
        "pixels": event.pixels,
        "query": event.query,
        "time": event.time,
        "markers": list(event.markers),
        "text": event.text,
    }


COLUMNS: tuple[str, ...] = (
    "event", "frame", "place", "api_call", "kind", "name", "primitives", "topology", "shaders",
    "targets", "pixels", "query", "time", "markers", "text",
)  # fmt: skip
"""Columns of the table and of tab-separated values; JSON has the parts of ``place`` too."""

_ALWAYS = ("event", "frame", "place", "kind", "name")
"""Columns that a table has in any case; others only with a value in some row."""

_NONE = ("-", "0")

_RIGHT = {"frame", "api_call", "primitives", "pixels", "query", "time"}
"""Columns of numbers, which the table aligns on the right."""


def _cell(name: str, value: Any) -> str:
    if value is None or value == []:
        return "-"
    if isinstance(value, list):
        return (" > " if name == "markers" else " ").join(map(str, value))
    return str(value) or "-"


def table(events: Sequence[Event], wanted: Collection[str] = ()) -> Iterator[str]:
    """The lines of a table of events, with a header; columns without a value are left out unless
    they are ``wanted``.  Texts are cut, but in the last column.
    """
    rows = [
        {name: plain(_cell(name, row[name])) for name in COLUMNS} for row in map(row_of, events)
    ]
    always = {*_ALWAYS, *wanted}
    used = [
        name for name in COLUMNS if name in always or any(row[name] not in _NONE for row in rows)
    ]
    widths = {
        name: min(_WIDEST, max(len(name), *(len(row[name]) for row in rows), 0)) for name in used
    }
    widths[used[-1]] = max(widths[used[-1]], *(len(row[used[-1]]) for row in rows), 0)
    for row in [{name: name for name in used}, *rows]:
        cells = (_padded(row[name], widths[name], right=name in _RIGHT) for name in used)
        yield "  ".join(cells).rstrip()


def _padded(text: str, width: int, *, right: bool) -> str:
    if len(text) > width:
        text = text[: width - 3] + "..."
    return text.rjust(width) if right else text.ljust(width)


def tab_separated(events: Iterable[Event]) -> Iterator[str]:
    """The lines of the list as tab-separated values, with a header."""
    yield "\t".join(COLUMNS)
    for event in events:
        row = row_of(event)
        yield "\t".join(plain(_cell(name, row[name])) for name in COLUMNS)


# Filters

_CONDITION = re.compile(r"(?P<name>[a-z_]+)(?P<test>!=|<=|>=|=|<|>|~)(?P<value>.*)", re.DOTALL)


class Condition(NamedTuple):
    """A condition on a column: ``name`` ``test`` ``value``."""

    name: str
    test: str
    value: str

    def holds(self, event: Event) -> bool:
        """Whether an event meets the condition; of a list, whether one element does."""
        found = event.number if self._of_number else row_of(event)[self.name]
        values = found if isinstance(found, list) else [found]
        if self.test == "!=":
            return all(self.value != str(each) for each in values)
        return any(self._compares(each) for each in values if each is not None)

    @property
    def _of_number(self) -> bool:
        """Whether the condition compares numbers of events."""
        return self.name == "event" and self.test != "~"

    def _compares(self, value: Any) -> bool:
        if self.test == "~":
            return self.value.casefold() in str(value).casefold()
        if isinstance(value, int):
            return _ORDER[self.test](value, int(self.value))
        return _ORDER[self.test](str(value), self.value)


_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_NUMBERS = {
    "frame", "call", "token", "item", "api_call", "primitives", "targets", "pixels", "query",
    "time",
}  # fmt: skip


_NAMES = tuple(row_of(Event(0, EventKind.DRAW, Origin(""))))
"""Names of all columns, which are the same for every event."""


@checked
def parse_condition(text: str) -> Condition:
    """The condition of a text such as ``kind=draw``, ``pixels>100`` or ``name~INDEXED``.

    ``~`` asks for a part of the text, in any case; ``event=E5`` and ``event=5`` are the same.
    Raises UsageError for another text, or a kind of event that does not exist.
    """
    found = _CONDITION.fullmatch(text)
    if found is None or found["name"] not in _NAMES:
        raise UsageError(
            f"expected COLUMN and one of = != < <= > >= ~ and a value, got {text!r:.60}; "
            f"the columns are {', '.join(_NAMES)}"
        )
    condition = _compared(Condition(found["name"], found["test"], found["value"]))
    numeric = condition.name in _NUMBERS and condition.test not in ("~", "!=")
    if numeric and not re.fullmatch(r"-?[0-9]{1,18}", condition.value):
        raise UsageError(f"{condition.name} is a number, got {condition.value!r:.60}")
    return condition


def _compared(condition: Condition) -> Condition:
    """The condition with the value as it is compared.  Raises UsageError for a value that the
    column never has.
    """
    if condition.test == "~":
        return condition
    if condition.name == "kind" and condition.value not in [*EventKind]:
        raise UsageError(f"no kind {condition.value!r:.60}; the kinds are {', '.join(EventKind)}")
    if condition.name == "event":
        found = re.fullmatch(r"[eE]?([0-9]{1,18})", condition.value)
        if found is None:
            raise UsageError(f"expected an event such as E12, got {condition.value!r:.60}")
        return condition._replace(value=str(int(found[1])))
    return condition


def chosen(events: Iterable[Event], conditions: Sequence[Condition]) -> list[Event]:
    """The events that meet all conditions."""
    return [event for event in events if all(each.holds(event) for each in conditions)]

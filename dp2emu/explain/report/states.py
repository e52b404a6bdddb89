"""State of each event, as the settings that changed since the event before of its context."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from dp2emu.text.remarks import fact_name

_APART = "\x1f"
"""Separator of the names in a path of a setting."""
_LEFT_OUT = frozenset({"assembly", "resources", "queries"})
"""Names of facts that the page has elsewhere."""

Numbers = dict[int, int]
"""Numbers of values by number of a path."""
Changes = dict[int, tuple[int, int]]
"""Numbers of values and setters by number of a path; ``_GONE`` for a setting that is gone, and for
a setter that is unknown.
"""
_GONE = -1
_Part = tuple[str, Numbers]
"""A part of the facts: its JSON text, and the numbers of its values."""
_NO_PART: _Part = "", {}


class StateSteps:
    """The state of contexts, event by event.  Mutable: steps are added.

    Paths and values are numbered in the order of their first use, so that each is stored once.
    """

    def __init__(self) -> None:
        self._paths: dict[str, int] = {}
        self._values: dict[str, int] = {}
        self._last: dict[str, dict[str, _Part]] = {}
        self._setters: dict[str, int] = {}
        self._waiting: dict[str, Changes] = {}
        self._shown: dict[str, Numbers] = {}
        self._steps: dict[str, list[tuple[int, list[tuple[int, int, int]]]]] = {}

    def changes(self, context: str, facts: dict[str, Any], setter: str | None = None) -> Changes:
        """What changed since the last call for a context; ``facts`` as in ``dp2emu state``.

        ``setter`` is what changed it, None if unknown.
        """
        known = setter is not None and context in self._last
        by = self._setters.setdefault(str(setter), len(self._setters)) if known else _GONE
        last = self._last.get(context, {})
        now: dict[str, _Part] = {}
        for name, value in facts.items():
            if name in _LEFT_OUT:
                continue
            # Most parts are as before, and are not taken apart again.
            text, before = json.dumps(value), last.get(name, _NO_PART)
            now[name] = before if before[0] == text else (text, self._numbers(value, name))
        self._last[context] = now
        changes: Changes = {}
        for name in {**last, **now}:
            old, new = last.get(name, _NO_PART)[1], now.get(name, _NO_PART)[1]
            if old is not new:
                changes |= {p: (each, by) for p, each in new.items() if old.get(p) != each}
                changes |= {p: (_GONE, by) for p in old if p not in new}
        return changes

    def _numbers(self, value: Any, name: str) -> Numbers:
        """Numbers of the values in a part of the facts."""
        return {
            self._paths.setdefault(path, len(self._paths)): self._number(each)
            for path, each in _settings(value, name)
        }

    def add(self, event: int, context: str, changes: Changes, *, wanted: bool) -> None:
        """Add an event's changes; of an event that is not ``wanted`` they go to the next one."""
        waiting = self._waiting.setdefault(context, {})
        waiting.update(changes)
        if not wanted:
            return
        shown = self._shown.setdefault(context, {})
        # What was set and set back is no change.
        rows = [(p, *each) for p, each in waiting.items() if shown.get(p, _GONE) != each[0]]
        if rows:
            self._steps.setdefault(context, []).append((event, sorted(rows)))
            shown.update({path: value for path, value, _ in rows})
        self._waiting[context] = {}

    def row(self) -> dict[str, Any]:
        """The JSON object of all steps, with the paths, values and setters that they use.

        A change is the number of a path, the number of a value and, if known, of a setter.
        ``names`` are the SDK names of values: numbers of path and value, and the name.
        """
        rows = [row for steps in self._steps.values() for _, found in steps for row in found]
        paths = _renumbered(path for path, _, _ in rows)
        values, setters = (_renumbered(row[at] for row in rows) for at in (1, 2))
        contexts = {
            context: [
                (event, [_change(paths[p], values[v], setters[by]) for p, v, by in found])
                for event, found in steps
            ]
            for context, steps in self._steps.items()
        }
        texts, names, known = list(self._values), list(self._paths), list(self._setters)
        pairs = sorted({(path, value) for path, value, _ in rows if value != _GONE})
        return {
            "paths": [names[number] for number in paths if number != _GONE],
            "values": [json.loads(texts[number]) for number in values if number != _GONE],
            "setters": [known[number] for number in setters if number != _GONE],
            "names": [
                (paths[path], values[value], name)
                for path, value in pairs
                if (name := _sdk_name(names[path], json.loads(texts[value]))) is not None
            ],
            "contexts": contexts,
        }

    def _number(self, value: Any) -> int:
        return self._values.setdefault(json.dumps(value), len(self._values))


def _renumbered(used: Iterable[int]) -> dict[int, int]:
    """New numbers, from 0, of those that are used; ``_GONE`` stays."""
    numbers = sorted({*used} - {_GONE})
    return {number: at for at, number in enumerate(numbers)} | {_GONE: _GONE}


def _change(path: int, value: int, setter: int) -> tuple[int, ...]:
    return (path, value) if setter == _GONE else (path, value, setter)


def _sdk_name(path: str, value: Any) -> str | None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return fact_name(tuple(path.split(_APART)), value) if whole else None


def _settings(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Pairs of path and value of the settings in facts; lists of numbers are one value."""
    inner: Any = None
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list) and any(isinstance(each, dict) for each in value):
        inner = enumerate(value)
    if inner is None:
        yield path, value
        return
    for name, each in inner:
        if name not in _LEFT_OUT:
            yield from _settings(each, f"{path}{_APART}{name}" if path else str(name))

"""State of each event, as the settings that changed since the event before of its context."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

_APART = "\x1f"
"""Separator of the names in a path of a setting."""
_LEFT_OUT = frozenset({"assembly", "resources", "queries"})
"""Names of facts that the page has elsewhere."""

Changes = dict[int, int]
"""Numbers of values by number of a path; ``_GONE`` for a setting that is gone."""
_GONE = -1
_Part = tuple[str, Changes]
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
        self._waiting: dict[str, Changes] = {}
        self._steps: dict[str, list[tuple[int, list[tuple[int, int]]]]] = {}

    def changes(self, context: str, facts: dict[str, Any]) -> Changes:
        """What changed since the last call for a context; ``facts`` as in ``dp2emu state``."""
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
                changes |= {path: each for path, each in new.items() if old.get(path) != each}
                changes |= {path: _GONE for path in old if path not in new}
        return changes

    def _numbers(self, value: Any, name: str) -> Changes:
        """Numbers of the values in a part of the facts."""
        return {
            self._paths.setdefault(path, len(self._paths)): self._number(each)
            for path, each in _settings(value, name)
        }

    def add(self, event: int, context: str, changes: Changes, *, wanted: bool) -> None:
        """Add an event's changes; of an event that is not ``wanted`` they go to the next one."""
        waiting = self._waiting.setdefault(context, {})
        waiting.update(changes)
        if wanted and waiting:
            self._steps.setdefault(context, []).append((event, sorted(waiting.items())))
            self._waiting[context] = {}

    def row(self) -> dict[str, Any]:
        """The JSON object of all steps, with the paths and values that they use."""
        pairs = [pair for steps in self._steps.values() for _, found in steps for pair in found]
        paths = {number: at for at, number in enumerate(sorted({path for path, _ in pairs}))}
        used = sorted({value for _, value in pairs} - {_GONE})
        values = {number: at for at, number in enumerate(used)} | {_GONE: _GONE}
        contexts = {
            context: [
                (event, [(paths[path], values[value]) for path, value in found])
                for event, found in steps
            ]
            for context, steps in self._steps.items()
        }
        texts, names = list(self._values), list(self._paths)
        return {
            "paths": [names[number] for number in paths],
            "values": [json.loads(texts[number]) for number in used],
            "contexts": contexts,
        }

    def _number(self, value: Any) -> int:
        return self._values.setdefault(json.dumps(value), len(self._values))


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

"""The state of a context or device at any address of a capture, and what changed between two."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from dp2emu.capture import records
from dp2emu.dp2.options import Options
from dp2emu.dp2.states.inspect import Facts
from dp2emu.errors import Dp2Error, UsageError
from dp2emu.escaping import plain
from dp2emu.explain.address import Address, find
from dp2emu.explain.playback import events_of
from dp2emu.explain.resources import Subject, bound_vertices, constants_by_name, write_pictures
from dp2emu.replay.player import Recording
from dp2emu.snapshot import SCHEMA, Moment, shown, snapshot

Fault = Callable[[Dp2Error], None]


def moment_of(capture: Recording, address: Address, *, options: Options | None = None) -> Moment:
    """The moment of a capture that an address means.

    A call means after it, a call and token before that token.  An event means with the state that
    it was issued with: before its token, or after its call of the DDI; an API call its first
    event, and a frame its last.  Raises UsageError if there is no such event.
    """
    if address.call is not None:
        return Moment(address.call, address.token)
    event = find(events_of(capture, options=options), address)
    if event.call is None:
        raise UsageError(f"{event.address}: {event.name} comes before the first call")
    if event.token is None and hasattr(records, event.name):
        # A record between calls has the number of the next one.
        return Moment(max(event.call - 1, 0))
    return Moment(event.call, event.token)


class Looked(NamedTuple):
    """What ``state_at`` adds to a state: the first ``vertices``, and pictures in ``pictures``."""

    vertices: int = 0
    pictures: Path | None = None

    def facts(self, subject: Subject) -> Facts:
        """The added facts of a context or device.  Raises OSError for a failed file."""
        named = constants_by_name(subject)
        found: Facts = {"constants_by_name": named} if named else {}
        if self.vertices:
            found["vertices"] = bound_vertices(subject, self.vertices)
        if self.pictures is not None:
            found["pictures"] = write_pictures(subject, self.pictures)
        return found


def state_at(
    capture: Recording,
    address: Address,
    *,
    options: Options | None = None,
    fault: Fault | None = None,
    looked: Looked | None = None,
) -> Facts:
    """The state at an address as a JSON object (``snapshot.snapshot``), with what ``looked`` adds.

    Raises UsageError if the capture has no such place.
    """
    at = moment_of(capture, address, options=options)
    visit = None if looked is None else looked.facts
    facts = snapshot(capture, at, options=options, fault=fault, visit=visit)
    return {**facts, "address": address.text}


# What changed

_PLACE = frozenset(("schema", "address", "call", "token", "offset", "next", "entry"))
"""Keys of a state that tell where it was taken."""


class Change(NamedTuple):
    """A fact that differs between two states: its path of keys and both values, None if absent."""

    path: tuple[str, ...]
    before: Any
    after: Any


def changes(before: Facts, after: Facts) -> Iterator[Change]:
    """Yield the facts that differ between two states, in the order of their keys."""
    for key in dict.fromkeys((*before, *after)):
        if key not in _PLACE:
            yield from _differing((key,), before.get(key), after.get(key))


def _differing(path: tuple[str, ...], before: Any, after: Any) -> Iterator[Change]:
    one, other = _members(before), _members(after)
    if before is None and isinstance(after, list) and other:
        one = {}
    elif after is None and isinstance(before, list) and one:
        other = {}
    if one is None or other is None:
        if before != after:
            yield Change(path, before, after)
        return
    for key in dict.fromkeys((*one, *other)):
        yield from _differing((*path, key), one.get(key), other.get(key))


def _members(value: Any) -> Mapping[str, Any] | None:
    """The parts of an object or a list of objects by key; None of another value."""
    if isinstance(value, dict):
        return value
    if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        return {str(number): each for number, each in enumerate(value)}
    return None


def changes_json(before: Facts, after: Facts) -> Facts:
    """A JSON object of the changes between two states."""
    rows = [change._asdict() for change in changes(before, after)]
    return {
        "schema": SCHEMA,
        "at": before["address"],
        "against": after["address"],
        "changes": [{**row, "path": list(row["path"])} for row in rows],
    }


def changes_text(before: Facts, after: Facts) -> str:
    """The changes between two states, a line each: ``viewport.width: 640 -> 320``."""
    lines = []
    for path, old, new in changes(before, after):
        lines.append(f"{'.'.join(path)}: {_brief(old)} -> {_brief(new)}")
    return "".join(f"{plain(line)}\n" for line in lines)


_BRIEF = 120
"""Most characters of a value in the text of a change."""


def _brief(value: Any) -> str:
    if isinstance(value, str) and "\n" in value:
        value = f"{value.splitlines()[0]} ... ({len(value.splitlines())} lines)"
    text = " ".join(f"{key}={shown(each)}" for key, each in value.items()) if isinstance(
        value, dict
    ) else shown(value)  # fmt: skip
    return text if len(text) <= _BRIEF else f"{text[:_BRIEF]}..."

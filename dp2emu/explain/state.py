"""The state of a context or device at any address of a capture, and what changed between two."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any, NamedTuple

from dp2emu.capture import records
from dp2emu.dp2.options import Options
from dp2emu.dp2.states.inspect import Facts
from dp2emu.errors import Dp2Error, UsageError
from dp2emu.escaping import plain
from dp2emu.explain.address import Address, find, matches
from dp2emu.explain.playback import events_of
from dp2emu.explain.resources import Subject, bound_vertices, constants_by_name, write_pictures
from dp2emu.explain.setters import STEPS, Path, Setter, members, setters_of
from dp2emu.replay.player import Recording
from dp2emu.snapshot import SCHEMA, Moment, shown, snapshot

Fault = Callable[[Dp2Error], None]


def moment_of(capture: Recording, address: Address, *, options: Options | None = None) -> Moment:
    """The moment of a capture that an address means.

    A call means after it, a call and token before that token.  An event means with the state that
    it was issued with: before its token, or after its call of the DDI; an API call its first
    event, without one its last call of the Direct3D 10/11 DDI, and a frame its last event.
    Raises UsageError if there is no such event.
    """
    if address.call is not None and address.item is None:
        return Moment(address.call, address.token)
    events = events_of(capture, options=options)
    quiet = not any(matches(event, address) for event in events)
    entry = _last_entry(capture, address.api_call) if quiet else None
    if entry is not None:
        return Moment(entry)
    event = find(events, address)
    if event.call is None:
        raise UsageError(f"{event.address}: {event.name} comes before the first call")
    if event.token is None and hasattr(records, event.name):
        # A record between calls has the number of the next one.
        return Moment(max(event.call - 1, 0))
    return Moment(event.call, event.token)


def _last_entry(capture: Recording, api_call: int | None) -> int | None:
    """The number of the last call of the Direct3D 10/11 DDI in an API call; None without one."""
    if api_call is None:
        return None
    calls = [each.call for each in capture.records() if isinstance(each, records.EntryCalled)]
    if api_call not in calls:
        return None
    return len(calls) - 1 - calls[::-1].index(api_call)


class Looked(NamedTuple):
    """What ``state_at`` adds to a state: the first ``vertices``, and pictures in ``pictures``."""

    vertices: int = 0
    pictures: FilePath | None = None

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
    one, other = members(before), members(after)
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


Setters = Mapping[Path, Setter] | None
"""Type of the setters of changed facts by path; None if too many tokens were between."""

_NO_SETTERS: Setters = {}


def found_setters(
    capture: Recording, before: Facts, after: Facts, *, options: Options | None = None
) -> Setters:
    """The setters of what changed between two states (``setters.setters_of``), by one playback."""
    paths = [change.path for change in changes(before, after)]
    return setters_of(capture, before, after, paths, options=options) if paths else {}


def changes_json(before: Facts, after: Facts, setters: Setters = _NO_SETTERS) -> Facts:
    """A JSON object of the changes between two states; ``set_by`` is an address, or null."""
    known = setters or {}
    rows = []
    for change in changes(before, after):
        address, name = known.get(change.path, (None, None))
        row = {**change._asdict(), "path": list(change.path)}
        rows.append({**row, "set_by": address, "set_by_name": name})
    return {
        "schema": SCHEMA,
        "at": before["address"],
        "against": after["address"],
        "changes": rows,
    }


def changes_text(before: Facts, after: Facts, setters: Setters = _NO_SETTERS) -> str:
    """The changes between two states, a line each: ``viewport.width: 640 -> 320, set by 2:6
    VIEWPORTINFO``.
    """
    lines = []
    for path, old, new in changes(before, after):
        setter = (setters or {}).get(path)
        end = "" if setter is None else f", set by {setter.address} {setter.name}"
        lines.append(f"{'.'.join(path)}: {_brief(path, old)} -> {_brief(path, new)}{end}")
    if setters is None:
        lines.append(f"setters unknown: more than {STEPS} tokens or calls between the places")
    return "".join(f"{plain(line)}\n" for line in lines) or "no difference\n"


_BRIEF = 120
"""Most characters of a value in the text of a change."""


def _brief(path: Path, value: Any) -> str:
    if isinstance(value, str) and "\n" in value:
        value = f"{value.splitlines()[0]} ... ({len(value.splitlines())} lines)"
    text = " ".join(f"{key}={shown(each)}" for key, each in value.items()) if isinstance(
        value, dict
    ) else shown(value, path)  # fmt: skip
    return text if len(text) <= _BRIEF else f"{text[:_BRIEF]}..."

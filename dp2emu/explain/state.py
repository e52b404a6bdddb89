"""The state of a context or device at any address of a capture, and what changed between two."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import zip_longest
from pathlib import Path as FilePath
from typing import Any, NamedTuple

from dp2emu.capture import records
from dp2emu.dp2.options import Options
from dp2emu.dp2.states.inspect import Facts
from dp2emu.errors import Absent, Dp2Error
from dp2emu.escaping import plain
from dp2emu.explain.address import Address, find, matches
from dp2emu.explain.arguments import arguments_of
from dp2emu.explain.creations import STATES, creations_of, objects_at
from dp2emu.explain.playback import events_of
from dp2emu.explain.reasons import reasons_told
from dp2emu.explain.resources import Subject, bound_vertices, constants_by_name, write_pictures
from dp2emu.explain.setters import (
    STEPS,
    LastSetters,
    Setter,
    Setters,
    members,
    setters_of,
    value_at,
)
from dp2emu.explain.state_writes import Path, Paths
from dp2emu.replay import Watcher
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
        raise Absent(f"{event.address}: {event.name} comes before the first call")
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

    ``arguments`` are those of the token that executes next, or of the call of the Direct3D 10/11
    DDI; ``created`` has the calls of the DDI that created the objects in it.

    Raises UsageError if the capture has no such place.
    """
    with reasons_told(capture, Watcher() if fault is None else Watcher(fault), options=options):
        at = moment_of(capture, address, options=options)
    visit = None if looked is None else looked.facts
    facts = snapshot(capture, at, options=options, fault=fault, visit=visit)
    more = {"arguments": arguments_of(capture, facts), "created": creations_of(capture, facts)}
    place = {key: facts.pop(key) for key in _PLACE if key in facts} | {"address": address.text}
    return place | {key: value for key, value in more.items() if value} | facts


# What changed

_PLACE = "schema", "call", "token", "offset", "next", "entry", "address"
"""Keys of a state that tell where it was taken."""


class Change(NamedTuple):
    """A fact that differs between two states: its path of keys and both values, None if absent."""

    path: tuple[str, ...]
    before: Any
    after: Any


def changes(before: Facts, after: Facts) -> Iterator[Change]:
    """Yield the facts that differ between two states, in the order of their keys; arguments only
    if both are those of the same token or function.
    """
    one, other = (each.get(_ARGUMENTS, {}).get("name") for each in (before, after))
    without = {*_PLACE, "created", *([] if one == other else [_ARGUMENTS])}
    for key in dict.fromkeys((*before, *after)):
        if key not in without:
            yield from _differing((key,), before.get(key), after.get(key))


_ARGUMENTS = "arguments"


def _differing(path: tuple[str, ...], before: Any, after: Any) -> Iterator[Change]:
    one, other = members(before), members(after)
    if not before and isinstance(after, list) and other:
        one = {}
    elif not after and isinstance(before, list) and one:
        other = {}
    if one is None or other is None:
        if before != after:
            yield Change(path, before, after)
        return
    for key in dict.fromkeys((*one, *other)):
        yield from _differing((*path, key), one.get(key), other.get(key))


NO_SETTERS = Setters({}, {}, {})


def found_setters(
    capture: Recording,
    before: Facts,
    after: Facts,
    *,
    options: Options | None = None,
    again: bool = False,
) -> Setters | None:
    """The setters between two states (``setters.setters_of``), by one playback unless nothing
    differs and none of what was set ``again`` is wanted; None if there are too many steps.
    """
    changed = (change.path for change in changes(before, after))
    paths = [path for path in changed if path[0] != _ARGUMENTS]  # which nothing sets
    if not paths and not again:
        return NO_SETTERS
    return setters_of(capture, before, after, paths, options=options)


class Again(NamedTuple):
    """A fact, or group of facts, that was set between two states and has the same value in both:
    its path of keys, the value, and what set it last.
    """

    path: Path
    value: Any
    setter: Setter


def set_again(before: Facts, after: Facts, setters: Setters) -> Iterator[Again]:
    """Yield the facts that were set between two states and do not differ, in the order in which
    they were set last.
    """
    changed = Paths()
    for change in changes(before, after):
        changed.add(change.path)
    for path, setter in setters.written.items():
        above, value = value_at(after, path[:-1]) if path[:-1] else after, value_at(after, path)
        # A fact that is in neither state, such as the clip plane of a number that no device has.
        known = value is not None or path[-1] in (members(above) or ())
        if known:
            for part, same in _unchanged(path, value, changed):
                yield Again(part, same, setter)


def _unchanged(path: Path, value: Any, changed: Paths) -> Iterator[tuple[Path, Any]]:
    """Yield the fact at a path or, if something in it changed, its largest parts that did not."""
    if path not in changed:
        yield path, value
        return
    for key, part in (members(value) or {}).items():
        yield from _unchanged((*path, key), part, changed)


def changes_json(
    before: Facts, after: Facts, setters: Setters | None = NO_SETTERS, *, again: bool = False
) -> Facts:
    """A JSON object of the changes between two states.

    ``set_by`` is the address of what set a fact last and ``changed_by`` of what last changed it,
    or null.  With ``again`` it has also the facts that were set and do not differ, as ``set``.
    """
    found = setters or NO_SETTERS
    rows = [
        {
            **change._asdict(),
            "path": list(change.path),
            **_setter_json("set_by", found.last.get(change.path)),
            **_setter_json("changed_by", found.changed.get(change.path)),
        }
        for change in changes(before, after)
    ]
    document = _changes_document(before, after, rows)
    if again:
        document["set"] = [
            {"path": list(path), "value": value, **_setter_json("set_by", setter)}
            for path, value, setter in set_again(before, after, found)
        ]
    return document


def _changes_document(before: Facts, after: Facts, rows: list[Facts]) -> Facts:
    places = {"at": before["address"], "against": after["address"]}
    document: Facts = {"schema": SCHEMA, **places, "changes": rows}
    created = _created(before, after)
    if created:
        document["created"] = {name: dict(zip(("at", "against"), each, strict=True))
                               for name, each in created.items()}  # fmt: skip
    return document


def _created(before: Facts, after: Facts) -> dict[str, tuple[str | None, str | None]]:
    """The calls that created the objects to which the changes between two states belong, in the
    first and in the second, by their name.
    """
    found = {
        name: (before.get("created", {}).get(name), after.get("created", {}).get(name))
        for change in changes(before, after)
        for facts in (before, after)
        for name in objects_at(facts, change.path)
    }
    return {name: each for name, each in found.items() if any(each)}


def _created_lines(before: Facts, after: Facts) -> Iterator[str]:
    """Lines with the calls that created the objects to which changes belong, without state
    objects, which the line of a change names.
    """
    told = {
        name for change in changes(before, after) for facts in (before, after)
        for name in objects_at(facts, change.path, STATES)
    }  # fmt: skip
    for name, (old, new) in _created(before, after).items():
        if name in told:
            continue
        there = f", there by {new}" if old and new and old != new else ""
        yield f"{name}: created by {old or new}{there}"


def _setter_json(key: str, setter: Setter | None) -> Facts:
    address, name = setter or (None, None)
    return {key: address, f"{key}_name": name}


def changes_text(
    before: Facts, after: Facts, setters: Setters | None = NO_SETTERS, *, again: bool = False
) -> str:
    """The changes between two states, a line each: ``viewport.width: 640 -> 320, set by 2:6
    VIEWPORTINFO``; with ``again`` also the facts that were set and do not differ.
    """
    found = setters or NO_SETTERS
    lines = []
    for change in changes(before, after):
        changed, last = found.changed.get(change.path), found.last.get(change.path)
        end = "" if changed is None else f", set by {changed}"
        end += "" if changed == last else f", again by {last}"
        end += _owners(change.path, before, after)
        lines.append(_line(change, before, after) + end + _creator(change.path, after))
    if setters is None:
        lines.append(f"setters unknown: more than {STEPS} tokens or calls between the places")
    for path, value, setter in set_again(before, after, found) if again else ():
        text = _brief(path, value, after.get("interface"))
        set_by = f"set by {setter}{_creator(path, after)}"
        lines.append(f"{'.'.join(path)}: {text} again, {set_by}")
    return _text([*lines, *_created_lines(before, after)])


def _line(change: Change, before: Facts, after: Facts) -> str:
    path, values = change.path, (change.before, change.after)
    texts = _different_lines(*values) or [
        _whole(path, value, facts.get("interface"))
        for value, facts in zip(values, (before, after), strict=True)
    ]
    pairs = enumerate(zip(*texts, strict=False))
    same = next((at for at, (a, b) in pairs if a != b), min(map(len, texts)))
    start = 0 if same < _BRIEF else same - _CONTEXT
    old, new = (_cut(text, start) for text in texts)
    return f"{'.'.join(path)}: {old} -> {new}"


def _different_lines(one: Any, other: Any) -> list[str] | None:
    """The first lines in which two texts of several lines differ, None of other values."""
    texts = [value.splitlines() for value in (one, other) if isinstance(value, str)]
    if len(texts) < 2 or min(map(len, texts)) < 2:
        return None
    pairs = enumerate(zip_longest(*texts), 1)
    number, lines = next((each for each in pairs if each[1][0] != each[1][1]), (0, ()))
    return [f"line {number}: {'none' if line is None else line}" for line in lines] or None


def _owners(path: Path, one: Facts, other: Facts) -> str:
    """The tokens or calls whose arguments differ; empty for what is no argument."""
    if path[0] != "arguments":
        return ""
    names = [_owner(facts) for facts in (one, other)]
    return f", of {names[0]}" + (f", there of {names[1]}" if names[1] != names[0] else "")


def _owner(facts: Facts) -> str:
    """Place and name of the token or call that a state is of."""
    place = [str(facts[key]) for key in ("call", "token") if facts.get(key) is not None]
    return f"{':'.join(place)} {facts.get('next') or facts.get('entry') or ''}".strip()


_OF_CALL = ("BlendFactor", "SampleMask", "StencilRef")
"""Facts beside a state object that are arguments of the call that sets it."""


def _creator(path: tuple[str, ...], facts: Facts) -> str:
    """The state object to which a fact of a state belongs, with the call that created it."""
    created = {} if path[-1] in _OF_CALL else facts.get("created", {})
    names = [name for name in objects_at(facts, path, STATES) if name in created]
    return f" ({names[0]}, created by {created[names[0]]})" if names else ""


def _text(lines: list[str]) -> str:
    return "".join(f"{plain(line)}\n" for line in lines) or "no difference\n"


# Two captures


def differences_json(
    here: Facts, there: Facts, set_here: LastSetters, set_there: LastSetters
) -> Facts:
    """A JSON object of the differences between states of two captures; ``set_by`` is the address
    of what last set the fact in the first capture, ``against_set_by`` in the other, or null.
    """
    rows = [
        {
            **change._asdict(),
            "path": list(change.path),
            **_setter_json("set_by", set_here.of(change.path)),
            **_setter_json("against_set_by", set_there.of(change.path)),
        }
        for change in changes(here, there)
    ]
    return _changes_document(here, there, rows)


def differences_text(
    here: Facts, there: Facts, set_here: LastSetters, set_there: LastSetters
) -> str:
    """The differences between states of two captures, a line each: ``pixel_shader.handle: 9 -> 7,
    set by 34:1 SETPIXELSHADER, there by 34:1 SETPIXELSHADER``.
    """
    lines = []
    for change in changes(here, there):
        pairs = (("set by", set_here.of(change.path)), ("there by", set_there.of(change.path)))
        ends = [f", {words} {setter}" for words, setter in pairs if setter is not None]
        ends.append(_owners(change.path, here, there))
        lines.append(_line(change, here, there) + "".join(ends) + _creator(change.path, here))
    return _text([*lines, *_created_lines(here, there)])


_BRIEF = 120
"""Most characters of a value in the text of a change."""


_CONTEXT = 20
"""Characters that are shown before the difference of two values that begin alike."""


def _brief(path: Path, value: Any, interface: Any) -> str:
    return _cut(_whole(path, value, interface))


def _whole(path: Path, value: Any, interface: Any) -> str:
    text = _inside(value) if members(value) or isinstance(value, str) else None
    return shown(value, path, interface) if text is None else text


def _cut(text: str, start: int = 0) -> str:
    """The part of a text from ``start`` on, with dots where more is."""
    end = start + _BRIEF
    return ("..." if start else "") + text[start:end] + ("..." if len(text) > end else "")


def _inside(value: Any) -> str:
    """A value as a part of a line: the members of objects, the first line of a text of several."""
    parts = members(value)
    if parts:
        within = ((key, _inside(each), members(each)) for key, each in parts.items())
        return " ".join(
            f"{key}=({text})" if more else f"{key}={text}" for key, text, more in within
        )
    if isinstance(value, str):
        first, *others = value.splitlines() or [""]
        return f"{first} ... ({1 + len(others)} lines)" if others else first or '""'
    return shown(value)

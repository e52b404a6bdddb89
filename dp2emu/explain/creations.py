"""Creations: the call of the Direct3D 10/11 DDI that created each object that a state names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dp2emu.capture.records import EntryCalled
from dp2emu.capture.values import Memory
from dp2emu.dp2.states.inspect import Facts
from dp2emu.explain.setters import Setter
from dp2emu.explain.state_writes import Path
from dp2emu.replay.player import Recording

Creations = dict[str, str]
"""Type of the calls that created objects, such as ``28 CreateRasterizerState``, by the name of an
object such as ``rasterizer state 14``.
"""

STATES = ("state", "layout", "sampler")
"""Keys of facts that name an object whose members are facts beside it."""
_OBJECTS = (*STATES, "shader", "view", "resource", "buffer")
"""Keys of facts that name an object."""


def creations_of(capture: Recording, facts: Facts) -> Creations:
    """Return the calls that created the objects of a state, none in DirectX 6 to 9; the records of
    the capture are read up to the state's call, and not played.
    """
    if "device" not in facts:
        return {}
    created: dict[int, Setter] = {}
    calls = (each for each in capture.records() if isinstance(each, EntryCalled))
    for number, call in zip(range(facts["call"] + 1), calls, strict=False):
        created |= dict.fromkeys(made_by(call), Setter(str(number), call.entry))
    names = {name: created.get(_number(name)) for name in _names(facts)}
    return {name: str(setter) for name, setter in names.items() if setter is not None}


def made_by(call: EntryCalled) -> list[int]:
    """Return the numbers of the objects that a call creates, of their memory."""
    if not call.entry.startswith("Create"):
        return []
    return [each.number for each in call.arguments if isinstance(each, Memory)]


def _names(facts: Facts) -> Iterator[str]:
    """Yield the names of the objects that a state has."""
    for key, value in facts.items():
        if isinstance(value, dict):
            yield from value if key == "resources" else _names(value)
        elif key in _OBJECTS and isinstance(value, str):
            yield value


def _number(name: str) -> int:
    """The number in the name of an object, -1 without one."""
    last = name.rpartition(" ")[2]
    return int(last) if last.isdecimal() else -1


def objects_at(
    facts: Facts, path: Path, keys: tuple[str, ...] = _OBJECTS
) -> Iterator[str]:  # fmt: skip
    """Yield the names of the objects, named by ``keys``, to which the fact at a path belongs."""
    value: Any = facts
    for key in path:
        found = value.get(key) if isinstance(value, dict) else None
        if isinstance(found, dict):
            if value is facts.get("resources") and keys == _OBJECTS:
                yield key
            yield from (found[each] for each in keys if isinstance(found.get(each), str))
        value = found

"""Calls of functions of the Direct3D 10/11 interface: their parts in text, and members in JSON.

Arguments stand under the names of the function's parameters, in ``arguments`` if it has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from dp2emu.capture.records import EntryCalled
from dp2emu.capture.values import Memory, Structure, json_of
from dp2emu.capture.values import Value as Known
from dp2emu.text.handles import MEMORY, Handles, kind_made
from dp2emu.text.syntax import Parts, TextError, Word
from dp2emu.text.values import (
    BLOB,
    ValueReader,
    ValueText,
    element_type,
    enumerated_name,
    in_order,
    named_members,
)

if TYPE_CHECKING:
    from dp2emu.ddi10.declarations import Declared

_LIST = "arguments"
"""Part with the arguments of a function whose parameters have no names."""
_OTHERS = ("codes", "written", "result")
"""Parts that are no arguments, besides ``name`` and long bytes."""


@lru_cache(1 << 10)
def parameters_of(entry: str) -> Mapping[str, Declared]:
    """The parameters of a function by name, in order; empty if they have no names."""
    # Captures of older interfaces should not import the Direct3D 10/11 driver.
    from dp2emu.capture.entry_values import PARAMETERS
    from dp2emu.ddi10.declarations import UNTYPED, parameters

    if entry in PARAMETERS:
        return dict.fromkeys(PARAMETERS[entry], UNTYPED)
    return parameters(entry)


def _named(record: EntryCalled) -> Mapping[str, Declared]:
    """The parameters of a call by name, empty unless each of its arguments is one of them."""
    declared = parameters_of(record.entry)
    return declared if len(record.arguments) <= len(declared) else {}


def _codes() -> Any:
    from dp2emu.ddi10.codes import DdiCode

    return DdiCode


# Text


def entry_lines(record: EntryCalled, handles: Handles) -> Iterator[str]:
    """The parts of a call in text; ``handles`` are the objects that exist before it."""
    text = ValueText(handles, kind_made(record.entry))
    yield f"name: {record.entry}"
    if named := _named(record):
        for (name, declared), value in zip(named.items(), record.arguments, strict=False):
            yield from text.lines(name, value, declared.type)
    elif record.arguments:
        yield from text.list_lines(_LIST, record.arguments)
    if record.codes:
        yield f"codes: {' '.join(text.show(code, _codes()) for code in record.codes)}"
    if record.written:
        yield f"written: {' '.join(map(text.show, record.written))}"
    if record.result is not None:
        yield from text.lines("result", record.result)
    yield from text.blobs()


def entry_of(parts: Parts, line: int, handles: Handles) -> dict[str, Any]:
    """The members of the call that a statement's parts give, which are removed.

    ``line`` is the statement's.  Raises TextError.
    """
    name = parts.pop("name", [])
    if len(name) != 1 or not isinstance(name[0], Word):
        raise TextError(name[0].line if name else line, "an entry has one word for its name")
    entry, reader = name[0].text, ValueReader(parts, handles)
    return {
        "entry": entry,
        "arguments": _arguments(entry, parts, reader, line),
        "codes": reader.values("codes", _codes()),
        "written": reader.values("written"),
        "result": reader.part("result", line) if reader.has("result") else None,
    }


def _arguments(entry: str, parts: Parts, reader: ValueReader, line: int) -> tuple[Known, ...]:
    if _LIST in parts:
        return reader.values(_LIST)
    if reader.has(_LIST):
        return reader.elements(_LIST, line)
    declared = parameters_of(entry)
    for part in parts:
        _check_part(part, entry, declared, parts, line)
    read = {
        name: reader.part(name, line, declared[name].type) for name in declared if reader.has(name)
    }
    return in_order(declared, read, entry, line)


def _check_part(
    part: str, entry: str, declared: Mapping[str, Declared], parts: Parts, line: int
) -> None:
    """Raise TextError for a part that is no argument and no other part of a call."""
    name = part.partition(".")[0]
    if name in declared or name in _OTHERS or name.startswith(BLOB):
        return
    place = parts[part][0].line if parts[part] else line
    if not declared:
        what = f"no parameters of {entry} are known; {_LIST} is a list of its arguments"
        raise TextError(place, what)
    raise TextError(place, f"{entry} has no {name[:40]}; it has {' '.join(declared)}")


# JSON


def named_json(record: EntryCalled, handles: Handles) -> dict[str, Any]:
    """The arguments of a call by name, for JSON; empty if they have no names.

    A number with a name is the name, and the number itself under the key with ``_raw`` behind it.
    Of bytes there is only their count, ``{"bytes": 16}``.  An object is ``{"resource": 3}``.
    """
    shown = _Json(handles, kind_made(record.entry) or MEMORY)
    return shown.members(_named(record), record.arguments)


class _Json:
    """Values as JSON by name; ``handles`` are known objects, others are of kind ``made``."""

    def __init__(self, handles: Handles, made: str) -> None:
        self._handles = handles
        self._made = made

    def members(
        self, declared: Mapping[str, Declared], values: tuple[Known, ...]
    ) -> dict[str, Any]:
        """Values by their declared names, and numbers of those that are shown as names."""
        found: dict[str, Any] = {}
        for (name, each), value in zip(declared.items(), values, strict=False):
            found[name] = self._value(value, each.type)
            if enumerated_name(value, each.type) is not None:
                found[f"{name}_raw"] = value
        return found

    def _value(self, value: Known, hint: Any = Any) -> Any:
        if isinstance(value, Structure):
            named = named_members(value)
            whole = self.members(named, value.members)
            return {value.name: whole if named else [*map(self._value, value.members)]}
        if isinstance(value, tuple):
            element = element_type(hint)
            return [self._value(each, element) for each in value]
        if isinstance(value, Memory):
            return {self._handles.kind(value.number) or self._made: value.number}
        if isinstance(value, bytes):
            return {"bytes": len(value)}
        return enumerated_name(value, hint) or json_of(value)

"""Arguments and results of functions of the Direct3D 10/11 interface, as values of a capture."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec.structs import astuple

from dp2emu.capture.values import Memory, Structure, Value
from dp2emu.ddi10.declarations import DXGI as DXGI
from dp2emu.ddi10.resources.maps import MappedSubresource
from dp2emu.errors import UsageError

WRITE = "Host.Write"
"""Name of the entry for a host write to a mapped subresource."""
CREATE_DEVICE, DISTURB, REMOVE, ADVANCE, FINISH = (
    f"Adapter.{name}" for name in ("CreateDevice", "Disturb", "Remove", "Advance", "Finish")
)
"""Names of the adapter's entries."""
PARAMETERS = {
    WRITE: ("memory", "subresource", "data"),
    CREATE_DEVICE: ("device",),
    DISTURB: ("cause",),
    REMOVE: ("calls",),
    ADVANCE: ("ticks",),
    FINISH: (),
}
"""Names of the arguments of the host's and the adapter's entries: the number of a device, the
cause of a disturbance, a number of calls, and a number of ticks."""
FILLED = "Filled"
"""Name of the structure that replaces a result if arguments changed; it has the result, and pairs
of an argument's index and its new value."""
RAISED = "Raised"
"""Name of the structure that stands for the result of a function which raised an error; its only
member is the name of the Python exception."""

Number = Callable[[bytearray], int | None]
"""Type of a function from a block of memory to its number in a capture, None if it has none."""


UNCHANGED = frozenset({type(None), int, float, bytes})
"""Types of values that a capture has as they are, without memory in them."""


def makes(entry: str) -> bool:
    """Whether function ``entry`` creates an object in memory that its caller supplies."""
    return entry.startswith(("Create", "Open"))


def ends(entry: str) -> bool:
    """Whether function ``entry`` destroys an object."""
    return entry.startswith("Destroy")


def unmaps(entry: str) -> bool:
    """Whether function ``entry`` unmaps a subresource."""
    return entry.endswith("Unmap")


def value_of(found: Any, number: Number) -> Value:
    """The value in a capture of an argument, whose blocks of memory ``number`` identifies.

    Raises UsageError for a type that captures cannot hold.
    """
    kind = type(found)
    if kind in UNCHANGED:
        return found  # type: ignore[no-any-return]
    if kind is bytearray:
        known = number(found)
        return bytes(found) if known is None else Memory(known, len(found))
    if kind is tuple or kind is list:
        return tuple([value_of(member, number) for member in found])
    if isinstance(found, int):
        return int(found)
    return _compound(found, number)


def _compound(found: Any, number: Number) -> Value:
    if not isinstance(found, (tuple, list, msgspec.Struct)):
        raise UsageError(f"{type(found).__name__} is nothing that a capture holds")
    values = tuple([value_of(member, number) for member in _members(found)])
    return Structure(type(found).__name__, values)


def result_of(entry: str, found: Any, number: Number, *, contents: bool = True) -> Value:
    """A result as a value in a capture; the result of a map for reading has the mapped bytes if
    ``contents`` are wanted.
    """
    if found is None or ends(entry):
        return None
    if isinstance(found, MappedSubresource):
        data = bytes(found.pData) if contents and found.pData.readonly else None
        return Structure("MappedSubresource", (data, found.RowPitch, found.DepthPitch))
    return value_of(found, number)


def filled(result: Value, given: Sequence[Value], arguments: Sequence[Any]) -> Value:
    """``result`` itself or, if the call changed any of its ``arguments``, a FILLED structure.

    Only lists and mutable structures can change.  ``given`` are the values of the arguments before
    the call.
    """
    changed = tuple(
        [
            (place, value)
            for place, each in enumerate(arguments)
            if type(each) not in FIXED
            and _is_mutable(each)
            and (value := value_of(each, unnumbered)) != given[place]
        ]
    )
    return Structure(FILLED, (result, changed)) if changed else result


FIXED = UNCHANGED | {bytearray, tuple}
"""Types of the most frequent arguments that are no outputs, or outputs that are memory."""


def _is_mutable(argument: Any) -> bool:
    """Whether a function may change ``argument``: a mutable structure or a list of values."""
    if isinstance(argument, list):
        return not any(memories(argument))
    return isinstance(argument, msgspec.Struct) and not isinstance(argument, (Structure, Memory))


def unnumbered(memory: bytearray) -> None:
    """Return None as the number of a block: memory within results and outputs is not numbered."""


def memories(found: Any) -> Iterator[bytearray]:
    """All blocks of memory (bytearrays) within ``found``, in elements and members at any depth."""
    kind = type(found)
    if kind is bytearray:
        yield found
    elif kind not in UNCHANGED and isinstance(found, (tuple, list, msgspec.Struct)):
        for member in _members(found):
            if type(member) not in UNCHANGED:
                yield from memories(member)


def _members(found: Any) -> Sequence[Any]:
    if isinstance(found, msgspec.Struct):
        return astuple(found)
    return found  # type: ignore[no-any-return]

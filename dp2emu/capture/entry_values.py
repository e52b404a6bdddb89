"""What functions of the Direct3D 10/11 interface take and give back, as values of a capture."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from dp2emu.capture.values import Memory, Structure, Value
from dp2emu.ddi10.resources.maps import MappedSubresource
from dp2emu.errors import UsageError

WRITE = "Host.Write"
"""The host stored bytes in a subresource it has mapped: handle, subresource, bytes."""
CREATE_DEVICE, DISTURB, REMOVE, ADVANCE, FINISH = (
    f"Adapter.{name}" for name in ("CreateDevice", "Disturb", "Remove", "Advance", "Finish")
)
"""What is the adapter's: a device by number, a cause in words, calls, ticks, and nothing."""
DXGI = "DXGI."
"""Before names of DXGI functions."""
FILLED = "Filled"
"""The structure in the place of a result when arguments came back changed: the result, and pairs
of a place among the arguments and what is there now."""
RAISED = "Raised"
"""The structure in the place of a result when a function did not come back: why, in a word."""

Number = Callable[[bytearray], int | None]
"""The number of memory of the runtime's; None for memory that is only there to be filled."""


def makes(entry: str) -> bool:
    """Whether a function makes an object in memory it is given."""
    return entry.startswith(("Create", "Open"))


def ends(entry: str) -> bool:
    """Whether a function ends an object."""
    return entry.startswith("Destroy")


def unmaps(entry: str) -> bool:
    """Whether a function ends a map."""
    return entry.endswith("Unmap")


def value_of(found: Any, number: Number) -> Value:
    """An argument as a value.  Raises UsageError for what is none."""
    if found is None or type(found) in (float, bytes):
        return found  # type: ignore[no-any-return]
    if isinstance(found, int):
        return int(found)
    if isinstance(found, bytearray):
        known = number(found)
        return bytes(found) if known is None else Memory(known, len(found))
    return _compound(found, number)


def _compound(found: Any, number: Number) -> Value:
    if not isinstance(found, (tuple, list, msgspec.Struct)):
        raise UsageError(f"{type(found).__name__} is nothing that a capture holds")
    values = tuple(value_of(member, number) for member in _members(found))
    return values if type(found) in (tuple, list) else Structure(type(found).__name__, values)


def result_of(entry: str, found: Any, number: Number) -> Value:
    """What a function returned as a value; of what was mapped to be read, the bytes."""
    if ends(entry):
        return None
    if isinstance(found, MappedSubresource):
        data = bytes(found.pData) if found.pData.readonly else None
        return Structure("MappedSubresource", (data, found.RowPitch, found.DepthPitch))
    return value_of(found, number)


def filled(result: Value, given: Sequence[Value], arguments: Sequence[Any]) -> Value:
    """What a function returned, with the structures and lists among its arguments that it changed;
    ``given`` is what all were before.
    """
    changed = tuple(
        (place, value)
        for place, (old, each) in enumerate(zip(given, arguments, strict=False))
        if _is_filled(each) and (value := value_of(each, _unnumbered)) != old
    )
    return Structure(FILLED, (result, changed)) if changed else result


def _is_filled(argument: Any) -> bool:
    """Whether a function can change it: tuples, and so most structures, stay as they are."""
    if isinstance(argument, list):
        return not any(memories(argument))
    return isinstance(argument, msgspec.Struct) and not isinstance(argument, (Structure, Memory))


def _unnumbered(memory: bytearray) -> None:
    """No objects are in what is filled."""


def memories(found: Any) -> Iterator[bytearray]:
    """All memory that arguments speak of."""
    if isinstance(found, bytearray):
        yield found
    elif isinstance(found, (tuple, list, msgspec.Struct)):
        for member in _members(found):
            yield from memories(member)


def _members(found: Any) -> list[Any]:
    if isinstance(found, msgspec.Struct):
        return [getattr(found, field) for field in found.__struct_fields__]
    return list(found)

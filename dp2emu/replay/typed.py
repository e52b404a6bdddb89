"""Values of a capture as the arguments that functions of the Direct3D 10/11 interface take.

What they take their annotations say.  A number has the 32 bits of the interface's; handles, which
drivers do not look at, have 64.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import cache, partial
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from dp2emu.capture.values import Memory, Structure, Value
from dp2emu.ddi10.states.state_objects import (
    BlendDesc,
    BlendDesc1,
    DepthStencilDesc,
    RasterizerDesc,
    SamplerDesc,
)
from dp2emu.errors import CaptureError

Find = Callable[[Memory | bytes], bytearray]
"""Memory of the runtime's by what a capture calls it, or by what is in it."""

_DESCRIBED: dict[str, Any] = {
    "CreateBlendState": BlendDesc | BlendDesc1,
    "CreateDepthStencilState": DepthStencilDesc,
    "CreateRasterizerState": RasterizerDesc,
    "CreateSampler": SamplerDesc,
}
"""What functions take first whose annotations leave it open."""

_LOWEST, _HIGHEST = -(1 << 31), (1 << 32) - 1
_HANDLE = "runtime"


def arguments_of(
    entry: str, function: Callable[..., Any], values: Sequence[Value], find: Find
) -> list[Any]:
    """The arguments of a call.  Raises CaptureError for values that these cannot be."""
    hints, least, most = _parameters(entry, function)
    if not least <= len(values) <= most:
        raise CaptureError(f"{entry} with {len(values)} arguments")
    hints = hints + hints[-1:] * (len(values) - len(hints))
    named = zip(hints, values, strict=False)
    return [_typed(name, hint, value, find) for (name, hint), value in named]


def _parameters(
    entry: str, function: Callable[..., Any]
) -> tuple[list[tuple[str, Any]], int, int]:
    """(name, type) of each parameter, and how many arguments there are at least and at most."""
    parameters = list(inspect.signature(function).parameters.values())
    hints = _hints(_plain(function))
    open_ended = any(each.kind is inspect.Parameter.VAR_POSITIONAL for each in parameters)
    required = sum(
        each.default is inspect.Parameter.empty
        and each.kind is not inspect.Parameter.VAR_POSITIONAL
        for each in parameters
    )
    found = [(each.name, hints.get(each.name, Any)) for each in parameters]
    if entry in _DESCRIBED and found:
        found[0] = found[0][0], _DESCRIBED[entry]
    return found, required, 1 << 10 if open_ended else len(found)


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function behind partial applications and methods."""
    while isinstance(function, partial):
        function = function.func
    return getattr(function, "__func__", function)


@cache
def _hints(what: Any) -> dict[str, Any]:
    """The annotations of a function or a structure, as types."""
    return get_type_hints(what)


def _typed(name: str, hint: Any, value: Value, find: Find) -> Any:
    """A value as one of a type."""
    if hint in (Any, object) or isinstance(hint, TypeVar):
        return value
    if hint is int:
        return _integer(name, value)
    if hint is float and isinstance(value, (int, float)):
        return float(value)
    if hint is bytearray and isinstance(value, (Memory, bytes)):
        return find(value)
    if hint in (bytes, str) and isinstance(value, hint):
        return value
    if get_origin(hint) in (Union, UnionType):
        return _one_of(name, get_args(hint), value, find)
    if isinstance(value, tuple) and get_origin(hint) in (Sequence, tuple, list):
        elements = [_typed(name, get_args(hint)[0], each, find) for each in value]
        return elements if get_origin(hint) is list else tuple(elements)
    if isinstance(value, Structure) and inspect.isclass(hint):
        return _structure(hint, value, find)
    raise CaptureError(f"{name} cannot be {value!r:.60}")


def _integer(name: str, value: Value) -> int:
    highest = (1 << 64) - 1 if name == _HANDLE else _HIGHEST
    if not isinstance(value, int) or not _LOWEST <= value <= highest:
        raise CaptureError(f"{name} cannot be {value!r:.60}")
    return value


def _one_of(name: str, choices: tuple[Any, ...], value: Value, find: Find) -> Any:
    if value is None and NoneType in choices:
        return None
    kinds = [each for each in choices if each is not NoneType]
    if isinstance(value, Structure):
        kinds = [each for each in kinds if getattr(each, "__name__", "") == value.name]
    if len(kinds) != 1:
        raise CaptureError(f"{name} cannot be {value!r:.60}")
    return _typed(name, kinds[0], value, find)


def _structure(kind: Any, value: Structure, find: Find) -> Any:
    """A structure of a type by the name that it has; members with a default may be missing."""
    names = _members(kind)
    if value.name != kind.__name__ or not names:
        raise CaptureError(f"{value.name} in the place of {kind.__name__}")
    required = sum(not default for default in names.values())
    if not required <= len(value.members) <= len(names):
        raise CaptureError(f"{value.name} with {len(value.members)} members")
    hints = _hints(kind)
    pairs = zip(names, value.members, strict=False)
    return kind(*(_typed(name, hints[name], member, find) for name, member in pairs))


@cache
def _members(kind: Any) -> dict[str, bool]:
    """Members of a structure in order, and whether each has a default."""
    names = getattr(kind, "__match_args__", ())
    if issubclass(kind, msgspec.Struct):
        required = len(names) - len(kind.__struct_defaults__)
        return {name: at >= required for at, name in enumerate(names)}
    return {name: name in kind._field_defaults for name in names}

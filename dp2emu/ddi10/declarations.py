"""The declared names of the interface: parameters of functions, members of structures.

They are read from the annotations of the functions that implement the interface, and of the
structures that these name.  The annotation ``Annotated[int, KIND]`` of an enumerated number has
the enumerations that its names come from.

Source: Direct3D 10/11 DDI, "Device functions", and d3d10umddi.h.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Annotated, Any, get_args, get_origin

import msgspec

from dp2emu.argument_check import plain_function
from dp2emu.ddi10.adapter import Adapter
from dp2emu.ddi10.codes import Interface
from dp2emu.gpu.device.gpu import Gpu

DXGI = "DXGI."
"""Prefix of the names of DXGI functions."""


class Declared(msgspec.Struct, frozen=True):
    """A parameter or member: its type, and its default, ``REQUIRED`` if it has none."""

    type: Any
    default: Any


_NAMES = 1 << 10
"""Number of names, of which a capture may have any, whose declarations are kept."""
REQUIRED = inspect.Parameter.empty
UNTYPED = Declared(Any, REQUIRED)


@lru_cache(_NAMES)
def parameters(entry: str) -> Mapping[str, Declared]:
    """The parameters of a function by name, in order; empty for an unknown function.

    ``entry`` is its name without ``pfn``, after ``DXGI.`` for a function of the DXGI table.  Of
    the arguments of a function that takes any number only one has a name.
    """
    function = _functions().get(entry)
    if function is None:
        return MappingProxyType({})
    hints, found = _hints(function), inspect.signature(function).parameters
    return MappingProxyType(
        {name: Declared(hints.get(name, Any), each.default) for name, each in found.items()}
    )


@lru_cache(_NAMES)
def members(structure: str) -> Mapping[str, Declared]:
    """The members of a structure by name, in order; empty for an unknown one."""
    kind = _structures().get(structure)
    if kind is None:
        return MappingProxyType({})
    hints = typing.get_type_hints(kind, include_extras=True)
    defaults = _defaults(kind)
    names = getattr(kind, "_fields", None) or kind.__struct_fields__
    return MappingProxyType(
        {name: Declared(hints[name], defaults.get(name, REQUIRED)) for name in names}
    )


@cache
def kinds_of(hint: Any) -> tuple[type[Enum], ...]:
    """The enumerations that name the numbers of a type, none for a plain one."""
    if inspect.isclass(hint) and issubclass(hint, Enum):
        return (hint,)
    return hint.__metadata__ if get_origin(hint) is Annotated else ()


def element_of(hint: Any) -> Any:
    """The type of the elements of a list; Any if it is unknown, or the type is no list."""
    choices = [each for each in _choices(hint) if get_origin(each) in _LISTS]
    return get_args(choices[0])[0] if len(choices) == 1 else Any


_LISTS = (tuple, list, typing.get_origin(typing.Sequence[int]))


def _choices(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in _UNIONS else (hint,)


_UNIONS = (typing.Union, type(int | None))


@cache
def _functions() -> Mapping[str, Callable[..., Any]]:
    """The implemented functions of the newest interface version, by name."""
    device = Adapter(Gpu()).create_device(Interface.D3D11_0, lambda layer, code: None)
    dxgi = {DXGI + name: each for name, each in device.dxgi_entries.items()}
    return {**device.entries, **dxgi}


@cache
def _structures() -> Mapping[str, Any]:
    """The structures that the types of parameters, results and members name, by class name."""
    found: dict[str, Any] = {}
    for function in _functions().values():
        hints = _hints(function)
        for name in (*inspect.signature(function).parameters, "return"):
            for kind in _named(hints.get(name), found):
                found[kind.__name__] = kind
    return found


def _named(hint: Any, known: Mapping[str, Any]) -> Iterator[Any]:
    """The structures that a type names, at any depth, except ``known`` ones."""
    if not inspect.isclass(hint) or get_origin(hint) is not None:
        for each in get_args(hint):
            yield from _named(each, known)
    elif _is_structure(hint) and hint.__name__ not in known:
        yield hint
        below = {**known, hint.__name__: hint}
        for each in typing.get_type_hints(hint).values():
            yield from _named(each, below)


def _is_structure(kind: Any) -> bool:
    return hasattr(kind, "_fields") or issubclass(kind, msgspec.Struct)


def _defaults(kind: Any) -> Mapping[str, Any]:
    if hasattr(kind, "_field_defaults"):
        return dict(kind._field_defaults)
    names, given = kind.__struct_fields__, kind.__struct_defaults__
    return dict(zip(names[len(names) - len(given) :], given, strict=True))


def _hints(function: Callable[..., Any]) -> Mapping[str, Any]:
    try:
        return typing.get_type_hints(plain_function(function), include_extras=True)
    except NameError:  # names that are imported for type checkers only
        return {}

"""Dataclasses whose methods are written when they are first wanted.

A dataclass is given its methods as text, which is compiled when the class is made.  There are some
four hundred of them here, a command uses a few dozen, and compiling the text was half of what a
start took.  So this decorator leaves notes where methods would be; who calls one, or looks at it,
finds the method.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from importlib import import_module
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

Method = Callable[..., Any]


class _Absent:
    """What is given for a field that is to be made; signatures show it as elsewhere."""

    def __repr__(self) -> str:
        return "<factory>"


_ABSENT = _Absent()


class Unwritten:
    """A method of a class that nobody has wanted yet."""

    __slots__ = ("name", "owner")

    def __init__(self, owner: type, name: str) -> None:
        self.owner, self.name = owner, name

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        """The method, which takes the place of this."""
        method = _WRITERS[self.name](self.owner)
        method.__name__, method.__module__ = self.name, self.owner.__module__
        method.__qualname__ = f"{self.owner.__qualname__}.{self.name}"
        setattr(self.owner, self.name, method)
        return method if instance is None else method.__get__(instance, owner)


def lazily(
    cls: type | None = None,
    /,
    *,
    frozen: bool = False,
    eq: bool = True,
    slots: bool = False,
    weakref_slot: bool = False,
) -> Any:
    """``dataclasses.dataclass``, as far as it is used here: no order, keywords or ``InitVar``."""

    def decorated(cls: Any) -> Any:
        # Who has no docstring is given a signature as one, which would be found out here.
        cls.__doc__ = cls.__doc__ or cls.__name__
        made: Any = dataclasses.dataclass(
            cls, init=False, repr=False, eq=False, slots=slots, weakref_slot=weakref_slot
        )
        own = vars(made)
        unhashable = own.get("__hash__", MISSING) in (None, MISSING)
        for name in ("__init__", "__repr__", *(("__eq__",) if eq else ())):
            if name not in own:
                setattr(made, name, Unwritten(made, name))
        if eq and unhashable:
            made.__hash__ = Unwritten(made, "__hash__") if frozen else None
        if frozen:
            _freeze(made)
        return made

    return decorated if cls is None else decorated(cls)


def write(*modules: str) -> None:
    """Write what the records of modules, which are imported, are made and looked up with.

    Who has time before it is short says so of those that are going to be used.
    """
    for module in modules:
        for found in [*vars(import_module(module)).values()]:
            if isinstance(found, type) and found.__module__ == module:
                for name in ("__init__", "__hash__"):
                    getattr(found, name)


def _freeze(cls: Any) -> None:
    """Have attributes set once, by ``__init__``; what is pickled or copied sets them so, too."""
    names = frozenset(field.name for field in fields(cls))

    def __setattr__(self: Any, name: str, value: object) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    cls.__setattr__, cls.__delattr__ = __setattr__, __delattr__
    if "__slots__" in vars(cls) and "__setstate__" not in vars(cls):
        cls.__getstate__, cls.__setstate__ = _state, _set_state


def _state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for field, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)


def _init(cls: Any) -> Method:
    frozen = vars(cls).get("__setattr__") is not None
    named: dict[str, Any] = {"_put_": object.__setattr__, "_absent_": _ABSENT}
    arguments, lines = ["self"], []
    for field in fields(cls):
        if field.init:
            arguments.append(_argument(field, named))
        value = _value(field, named, slotted="__slots__" in vars(cls))
        if value is not None:
            text = "_put_(self, {!r}, {})" if frozen else "self.{} = {}"
            lines.append(text.format(field.name, value))
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    method = _compiled(", ".join(arguments), lines or ["pass"], named)
    method.__annotations__ = {field.name: field.type for field in fields(cls) if field.init}
    method.__annotations__["return"] = None
    return method


def _argument(field: Field[Any], named: dict[str, Any]) -> str:
    """A parameter, whose default is among what is ``named``."""
    if field.default_factory is not MISSING:
        return f"{field.name}=_absent_"
    if field.default is MISSING:
        return field.name
    named[f"_default_{field.name}"] = field.default
    return f"{field.name}=_default_{field.name}"


def _value(field: Field[Any], named: dict[str, Any], *, slotted: bool) -> str | None:
    """What a field is set to, None if to nothing."""
    if field.default_factory is not MISSING:
        named[f"_make_{field.name}"] = field.default_factory
        made = f"_make_{field.name}()"
        return f"{made} if {field.name} is _absent_ else {field.name}" if field.init else made
    if field.init:
        return field.name
    if field.default is MISSING or not slotted:
        return None
    named[f"_default_{field.name}"] = field.default
    return f"_default_{field.name}"


def _repr(cls: Any) -> Method:
    names = [field.name for field in fields(cls) if field.repr]
    shown, values = f"({', '.join(f'{name}=%r' for name in names)})", _getter(names)

    def method(self: Any) -> str:
        return f"{self.__class__.__qualname__}{shown % values(self)}"

    # What is frozen has itself among its parts only if one that is not has it.
    return method if vars(cls).get("__setattr__") is not None else recursive_repr()(method)


def _eq(cls: Any) -> Method:
    values = _getter([field.name for field in fields(cls) if field.compare])

    def method(self: Any, other: object) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return values(self) == values(other)

    return method


def _getter(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """The values of attributes, without a text that would have to be compiled: what is looked at
    a few times is looked at sooner.
    """
    if len(names) > 1:
        return attrgetter(*names)
    return lambda record: tuple([getattr(record, name) for name in names])


def _hash(cls: Any) -> Method:
    names = [f.name for f in fields(cls) if (f.compare if f.hash is None else f.hash)]
    return _compiled("self", [f"return hash({_tuple('self', names)})"], {})


def _tuple(whose: str, names: list[str]) -> str:
    return "(" + "".join(f"{whose}.{name}, " for name in names) + ")"


def _compiled(arguments: str, lines: list[str], named: dict[str, Any]) -> Method:
    """A function of a text, which finds there what is ``named``."""
    text = "\n".join((f"def method({arguments}):", *(f"    {line}" for line in lines)))
    exec(text, named)
    method: Method = named.pop("method")
    return method


_WRITERS = {"__init__": _init, "__repr__": _repr, "__eq__": _eq, "__hash__": _hash}

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    dataclass = lazily

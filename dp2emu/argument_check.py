"""Checks of arguments at the boundaries of the library, derived from annotations.

``checked`` wraps a function, or the public methods of a class.  Arguments of other types than the
annotations name raise ArgumentError before the function runs; the elements of containers and the
members of records are looked at only if the function fails with an exception that the library
does not define.  ``checked_on_failure`` is for functions that run for every token or packet, and
looks at everything only then.  Annotations are read at the first call, so that decorated functions
cost no start time.
"""

from __future__ import annotations

import inspect
import io
import re
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum, IntFlag
from functools import cache, partial, wraps
from itertools import chain
from mmap import mmap
from numbers import Integral, Real
from os import PathLike
from types import FunctionType, MethodType, NoneType, UnionType
from typing import Any, Literal, NamedTuple, TypeVar, Union, cast, get_args, get_origin

import msgspec

from dp2emu.errors import ArgumentError, Dp2Error

_T = TypeVar("_T")
_Fits = Callable[[Any], bool]
"""Type of a function that tells whether a value fits an annotation."""

_MOST = (1 << 64) - 1
"""Largest magnitude of an integer argument; no number of the interface has more than 64 bits."""
_KINDS = inspect.Parameter
_PLACED = _KINDS.POSITIONAL_ONLY, _KINDS.POSITIONAL_OR_KEYWORD
FOREIGN = (
    TypeError, ValueError, AttributeError, LookupError, ArithmeticError, AssertionError,
    RuntimeError, msgspec.MsgspecError,
)  # fmt: skip
"""Exceptions of other libraries, which an unfit argument can cause deep in this one."""
_SHOWN = 60
"""Most characters of an annotation in a message."""
_ANNOTATED = re.compile(r"\bAnnotated\[(\w+)[^\]]*\]")
"""``Annotated[TYPE, ...]`` in the text of an annotation; messages have the type only."""


class Parameter(NamedTuple):
    """A parameter: its name, its annotation, and whether a value fits it; None fits any value.

    ``fits`` looks at the value only, ``contains`` also at its elements and members.  All values
    of the types ``known`` fit.
    """

    name: str
    annotation: str
    fits: _Fits | None
    contains: _Fits | None
    known: frozenset[type]


class Parameters:
    """The parameters of a ``function``; ``name`` replaces the function's own name in messages.

    The function is not kept.
    """

    def __init__(self, function: Callable[..., Any], name: str = "") -> None:
        plain = plain_function(function)
        self.name: str = name or plain.__qualname__.removesuffix(".__init__")
        hints = hints_of(function)
        given = list(inspect.signature(function).parameters.values())
        rows = [_parameter(each, plain.__annotations__, hints) for each in given]
        self._rows = {row.name: row for row in rows}
        placed = [each for each in given if each.kind in _PLACED]
        self._positional = tuple(self._rows[each.name] for each in placed)
        self._fits = tuple((row.known, row.fits) for row in self._positional)
        self._least = sum(each.default is _KINDS.empty for each in placed)
        rest = [each.name for each in given if each.kind is _KINDS.VAR_POSITIONAL]
        self._rest = self._rows[rest[0]] if rest else None

    def check(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> None:
        """Raise ArgumentError for the first argument of another type than its annotation."""
        for (known, fits), value in zip(self._fits, arguments, strict=False):
            if type(value) not in known and fits is not None and not fits(value):
                self._refuse_first(arguments)
        if named or self._rest is not None:
            for row, value in self._others(arguments, named):
                if row.fits is not None and not row.fits(value):
                    self._refuse(row, value)

    def check_contents(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> None:
        """Raise ArgumentError as ``check`` does, and for elements and members of other types."""
        self.check(arguments, named)
        positional = zip(self._positional, arguments, strict=False)
        for row, value in chain(positional, self._others(arguments, named)):
            if row.contains is not None and not row.contains(value):
                self._refuse(row, value)

    def check_all(self, arguments: Sequence[Any]) -> None:
        """Raise ArgumentError for too few or too many arguments, and as ``check`` does."""
        least, most = self._least, len(self._positional)
        if len(arguments) < least or (len(arguments) > most and self._rest is None):
            count = str(least) if least == most else f"{least} to {most}"
            raise ArgumentError(f"{self.name} takes {count} arguments, not {len(arguments)}")
        self.check(arguments, {})

    def _others(
        self, arguments: Sequence[Any], named: Mapping[str, Any]
    ) -> Iterator[tuple[Parameter, Any]]:
        """Arguments for ``*arguments``, and those that are given by name."""
        if self._rest is not None:
            yield from ((self._rest, each) for each in arguments[len(self._positional) :])
        yield from ((self._rows[name], named[name]) for name in named if name in self._rows)

    def _refuse_first(self, arguments: Sequence[Any]) -> None:
        for row, value in zip(self._positional, arguments, strict=False):
            if row.fits is not None and not row.fits(value):
                self._refuse(row, value)

    def _refuse(self, row: Parameter, value: Any) -> None:
        what = f"{row.name} is {_told(value)}, not {row.annotation}"
        raise ArgumentError(f"{self.name}: {what}")


def _parameter(given: _KINDS, written: Mapping[str, Any], hints: Mapping[str, Any]) -> Parameter:
    hint = hints.get(given.name, Any)
    fits, contains = (_with_default(_fits(hint, deep), given.default) for deep in (False, True))
    annotation = _ANNOTATED.sub(r"\1", str(written.get(given.name, "anything")))[:_SHOWN]
    return Parameter(given.name, annotation, fits, contains, _known_types(hint))


def checked(target: _T) -> _T:
    """``target``, a function, wrapped so that it checks its arguments; or ``target``, a class,
    after its public methods were wrapped.

    Methods that are wrapped or ``unchecked`` stay as they are.
    """
    return _decorated(target, _wrapped)


def checked_on_failure(target: _T) -> _T:
    """As ``checked``, but arguments are looked at only after an exception of other libraries.

    The exception is raised again if all arguments fit.
    """
    return _decorated(target, _wrapped_on_failure)


def unchecked(function: _T) -> _T:
    """``function``, a method, which its class does not wrap: it checks its arguments itself, or
    passes them on to a function that does.
    """
    return cast(_T, _marked(function))


def trusted(method: _T) -> _T:
    """A bound ``method`` of a ``checked`` class without its check, for callers in the library that
    pass arguments of the right types many times.
    """
    bound: Any = method
    return cast(_T, MethodType(bound.__func__.__wrapped__, bound.__self__))


def trusted_function(kind: type, name: str) -> Callable[..., Any]:
    """The method ``name`` of the class ``kind`` without its check, for uses as of ``trusted``."""
    function: Any = getattr(kind, name)
    if hasattr(function, "checks_arguments"):
        function = getattr(function, "__wrapped__", function)
    return cast(Callable[..., Any], function)


def check_contents(function: Callable[..., Any], *arguments: Any) -> None:
    """Raise ArgumentError for the first argument of ``function``, or element or member of one,
    that does not fit its annotation.
    """
    Parameters(function).check_contents(arguments, {})


def _decorated(target: _T, wrap: Callable[[Any], Any]) -> _T:
    if not inspect.isclass(target):
        return cast(_T, wrap(target))
    for name, member in list(vars(target).items()):
        if name.startswith("_") and name != "__init__":
            continue
        if isinstance(member, staticmethod | classmethod):
            setattr(target, name, type(member)(wrap(member.__func__)))
        elif inspect.isfunction(member) and _takes_arguments(member):
            setattr(target, name, wrap(member))
    return target


def _takes_arguments(method: FunctionType) -> bool:
    """Whether a method that is not wrapped yet has parameters besides ``self``."""
    if hasattr(method, "checks_arguments"):
        return False
    code = method.__code__
    more = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    return code.co_argcount + code.co_kwonlyargcount > 1 or bool(more)


def _wrapped(function: Any) -> Any:
    parameters: Parameters | None = None

    @wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        nonlocal parameters
        if parameters is None:
            parameters = Parameters(function)
        parameters.check(arguments, named)
        try:
            return function(*arguments, **named)
        except Dp2Error:
            raise
        except FOREIGN:
            parameters.check_contents(arguments, named)
            raise

    return _marked(call)


def _wrapped_on_failure(function: Any) -> Any:
    @wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        try:
            return function(*arguments, **named)
        except Dp2Error:
            raise
        except FOREIGN:
            Parameters(function).check_contents(arguments, named)
            raise

    return _marked(call)


def _marked(function: Any) -> Any:
    function.checks_arguments = True
    return function


def plain_function(function: Callable[..., Any]) -> Any:
    """The function that a partial application or a bound method wraps."""
    while isinstance(function, partial):
        function = function.func
    return getattr(function, "__func__", function)


def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The annotations of a function or class, or of the function that it wraps, evaluated.

    Empty if some of their names are imported for type checkers only.
    """
    try:
        return typing.get_type_hints(plain_function(function))
    except NameError:
        return {}


def _known_hints(kind: type) -> dict[str, Any]:
    """The annotations of a class, evaluated, with Any for names that are imported for type
    checkers only.
    """
    missing: dict[str, Any] = {}
    while True:
        try:
            return typing.get_type_hints(kind, localns=missing)
        except NameError as error:
            name = str(error.name)
            if name in missing:
                raise
            missing[name] = Any


def _told(value: Any) -> str:
    if isinstance(value, bool | int | float | str | bytes | NoneType):
        return f"{value!r:.40}"
    return f"a {type(value).__name__}"


# Annotations


def _with_default(fits: _Fits | None, default: Any) -> _Fits | None:
    """``fits``, or if the default is of another type, ``fits`` and the default itself."""
    if fits is None or default is _KINDS.empty or fits(default):
        return fits
    return lambda value: value is default or fits(value)


def _fits(hint: Any, deep: bool) -> _Fits | None:
    """A function that tells whether a value fits a type hint; None if every value does.

    It looks at elements and members only if ``deep``.
    """
    if hint in _PLAIN:
        return _PLAIN[hint]
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return _fits_any(get_args(hint), deep)
    if origin is Literal:
        return lambda value: value in get_args(hint)
    if origin is not None:
        return _fits_generic(origin, get_args(hint), deep)
    return _fits_class(hint, deep) if inspect.isclass(hint) else None


_INTEGERS, _NUMBERS, _BUFFERS = (int, Integral), (float, int, Real), (
    bytes, bytearray, memoryview, mmap,
)  # fmt: skip


def _is_integer(value: Any) -> bool:
    if type(value) is int:
        return -_MOST <= value <= _MOST
    return isinstance(value, _INTEGERS) and -_MOST <= int(value) <= _MOST


def _is_number(value: Any) -> bool:
    return isinstance(value, _NUMBERS)


def _is_flag(value: Any) -> bool:
    return isinstance(value, _INTEGERS)


def _is_buffer(value: Any) -> bool:
    return isinstance(value, _BUFFERS)


def _is_text_file(value: Any) -> bool:
    if isinstance(value, io.RawIOBase | io.BufferedIOBase):
        return False
    return hasattr(value, "read") or hasattr(value, "write")


def _is_binary_file(value: Any) -> bool:
    if isinstance(value, io.TextIOBase):
        return False
    return hasattr(value, "read") or hasattr(value, "write")


_PLAIN: dict[Any, _Fits | None] = {
    Any: None,
    object: None,
    None: lambda value: value is None,
    NoneType: lambda value: value is None,
    int: _is_integer,
    float: _is_number,
    bool: _is_flag,
    bytes: _is_buffer,
    typing.TextIO: _is_text_file,
    typing.BinaryIO: _is_binary_file,
}
"""Whether a value fits, by type hint, for hints that more values fit than instances."""


_ALL_FIT: dict[Any, tuple[type, ...]] = {
    None: (NoneType,), NoneType: (NoneType,), float: (float, int), bool: (bool, int),
    bytes: _BUFFERS, Sequence: (tuple, list), tuple: (tuple, list), list: (list,),
}  # fmt: skip
"""Types of which every value fits, by hint or by the origin of one such as ``Sequence[int]``."""


def _known_types(hint: Any) -> frozenset[type]:
    """Frequent types of which every value fits a hint, if its elements are not looked at."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return frozenset().union(*map(_known_types, arguments))
    if origin is tuple and arguments[-1:] != (Ellipsis,):
        return frozenset()
    if (origin or hint) in _ALL_FIT:
        return frozenset(_ALL_FIT[origin or hint])
    return frozenset({hint}) if _fits_instances(hint, deep=False) else frozenset()


def _fits_any(hints: Sequence[Any], deep: bool) -> _Fits | None:
    found = [_fits(hint, deep) for hint in hints if hint is not NoneType]
    several = [fits for fits in found if fits is not None]
    if len(several) < len(found):
        return None
    if all(hint is NoneType or _fits_instances(hint, deep) for hint in hints):
        kinds = tuple(hints)
        return lambda value: isinstance(value, kinds)
    empty = NoneType in hints
    if len(several) == 1:
        (only,) = several
        return lambda value: value is None or only(value) if empty else only(value)
    return lambda value: (value is None and empty) or any(fits(value) for fits in several)


def _fits_generic(origin: Any, arguments: tuple[Any, ...], deep: bool) -> _Fits | None:
    """Fits of a hint such as ``Sequence[int]``; the elements of iterators are not looked at."""
    if origin is tuple and arguments and arguments[-1] is not Ellipsis:
        return _fits_members([_fits(each, deep) for each in arguments])
    if origin is Callable:
        return callable
    if origin is PathLike:
        return lambda value: isinstance(value, PathLike)
    if not inspect.isclass(origin):
        return None
    if issubclass(origin, Iterable) and not issubclass(origin, Mapping):
        element = _fits(arguments[0], deep) if deep and arguments else None
        lines = not arguments or arguments[0] in (str, bytes, Any)
        return _fits_elements(Sequence if origin is tuple else origin, element, lines)
    return lambda value: isinstance(value, origin)


def _fits_members(members: Sequence[_Fits | None]) -> _Fits:
    return lambda value: (
        isinstance(value, Sequence)
        and len(value) == len(members)
        and all(fits is None or fits(each) for fits, each in zip(members, value, strict=True))
    )


def _fits_elements(kind: type, element: _Fits | None, lines: bool) -> _Fits:
    """Fits of a container, which no string is; a file is one of ``lines``."""

    def fits(value: Any) -> bool:
        if isinstance(value, io.IOBase) and not lines:
            return False
        if isinstance(value, str) or not (isinstance(value, kind) or _is_array(kind, value)):
            return False
        if element is None or not hasattr(value, "__len__"):
            return True
        return all(map(element, value))

    return fits


def _is_array(kind: type, value: Any) -> bool:
    return kind is Sequence and hasattr(value, "__array__") and bool(value.shape)


def _fits_class(kind: type, deep: bool) -> _Fits | None:
    if _fits_instances(kind, deep):
        return lambda value: isinstance(value, kind)
    if getattr(kind, "_is_protocol", False):
        return _fits_protocol(kind)
    if deep:
        return _fits_record(kind)
    return _is_integer  # Direct3D's numbers are open: the function decides on unknown ones


def _fits_instances(hint: Any, deep: bool) -> bool:
    """Whether exactly the instances of ``hint``, which is a class then, fit it."""
    if not inspect.isclass(hint) or hint in _PLAIN or get_origin(hint) is not None:
        return False
    record = issubclass(hint, msgspec.Struct) or hasattr(hint, "_fields")
    number = issubclass(hint, IntEnum | IntFlag)
    return not (getattr(hint, "_is_protocol", False) or (record if deep else number))


def _fits_protocol(kind: type) -> _Fits:
    owners = [each for each in kind.__mro__ if getattr(each, "_is_protocol", False)]
    named = chain.from_iterable({**vars(each), **_own_hints(each)} for each in owners)
    names = sorted({name for name in named if not name.startswith("_")})
    if any("__call__" in vars(each) for each in owners):
        return callable
    return lambda value: all(hasattr(value, name) for name in names)


def _own_hints(kind: type) -> dict[str, Any]:
    return dict(vars(kind).get("__annotations__", {}))


def _fits_record(kind: type) -> _Fits:
    """Fits of a record: an instance whose members fit their annotations, records included."""

    def fits(value: Any) -> bool:
        if not isinstance(value, kind):
            return False
        found: Any = type(value)
        return all(each(getattr(value, name)) for name, each in _members(found))

    return fits


@cache
def _members(kind: Any) -> tuple[tuple[str, _Fits], ...]:
    names: tuple[str, ...] = getattr(kind, "__struct_fields__", getattr(kind, "_fields", ()))
    hints = _known_hints(kind)
    found = ((name, _fits(hints.get(name, Any), True)) for name in names)
    return tuple((name, fits) for name, fits in found if fits is not None)

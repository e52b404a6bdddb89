"""Reading a JSON object key by key: typed, every key known, errors that say where."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from dp2emu.errors import SceneError

_T = TypeVar("_T")
_D = TypeVar("_D")
_REQUIRED: Any = object()


class Fields:
    """A JSON object being read.  ``where`` begins its error messages.  Mutable: keys get used.

    Raises SceneError if ``value`` is no object.
    """

    def __init__(self, value: object, where: str) -> None:
        if not isinstance(value, dict):
            raise SceneError(f"{where}: not an object")
        self.where = where
        self._value: dict[str, object] = value
        self._left = set(self._value)

    def __contains__(self, key: str) -> bool:
        return key in self._value

    def take(self, key: str, read: Callable[[object], _T], default: _D = _REQUIRED) -> _T | _D:
        """The value of ``key`` through ``read``; ``default``, if one is given, when absent.

        Raises SceneError for a missing key, and for what ``read`` refuses.
        """
        self._left.discard(key)
        if key not in self._value:
            if default is _REQUIRED:
                raise SceneError(f"{self.where}: no {key!r}")
            return default
        try:
            return read(self._value[key])
        except SceneError as error:
            raise SceneError(f"{self.where}: {key}: {error.what}") from None

    def ignore(self, *keys: str) -> None:
        """These keys may be there and say nothing to a player."""
        self._left.difference_update(keys)

    def ignore_others(self) -> None:
        """The schema does not list what else may be there, and it says nothing to a player."""
        self._left.clear()

    def finish(self) -> None:
        """Raises SceneError for keys nobody asked for: a typing error must not go unnoticed."""
        if self._left:
            raise SceneError(f"{self.where}: unknown key {min(self._left)!r}")

"""A copy of the device state set by the application, for state blocks and Reset.

A setting is a name, numbers and a value.  Direct3D 9's state blocks live here, not in the driver,
since the runtime needs the values that Apply sets: Clear uses the viewport.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

Key = tuple[Any, ...]
"""The key of a device setting: its name, then its numbers, such as ``("render", 7)``."""
Setter = Callable[..., None]
"""A function that sends a device setting to the driver; its parameters are the numbers in the
setting's key, then the value."""

REGISTERS = {
    "vertex_floats": 256, "vertex_integers": 16, "vertex_booleans": 16,
    "pixel_floats": 224, "pixel_integers": 16, "pixel_booleans": 16,
}  # fmt: skip
"""Number of constant registers in Direct3D 9, by the setting name of their kind."""


class StateBlock:
    """A state block: ``values`` of settings by key, in the order in which Apply sets them.
    Mutable: Capture updates them.
    """

    def __init__(self, values: Mapping[Key, Any]) -> None:
        self.values = dict(values)


class Mirror:
    """The values of a device's settings as the application set them.  Mutable.

    ``setters`` has, by setting name, the function that sends such a setting to the driver;
    ``default`` is a function that returns the initial value of a key.  While a state block is
    recorded, settings only go into the block.
    """

    def __init__(self, setters: Mapping[str, Setter], default: Callable[[Key], Any]) -> None:
        self._setters = setters
        self._default = default
        self._values: dict[Key, Any] = {}
        self._recording: dict[Key, Any] | None = None

    def get(self, *key: Any) -> Any:
        """The value of a setting, its default if it was not set."""
        return self._values[key] if key in self._values else self._default(key)

    def put(self, *given: Any) -> None:
        """Set a setting: ``given`` is its key's name and numbers, then its value.

        The value is sent, even if unchanged, or only stored while a state block is recorded.
        """
        *key, value = given
        if not self._store(tuple(key), value):
            self._send(tuple(key), value)

    def put_rows(self, name: str, first: int, rows: Sequence[Any]) -> None:
        """Set consecutive settings, such as constant registers, from number ``first`` on in one
        call of the setter.
        """
        recorded = [self._store((name, first + i), row) for i, row in enumerate(rows)]
        if rows and not any(recorded):
            self._setters[name](first, rows)

    def know(self, *given: Any) -> None:
        """Store the value of a setting that the device itself has changed; nothing is sent."""
        *key, value = given
        self._values[tuple(key)] = value

    def _store(self, key: Key, value: Any) -> bool:
        """Store a value, in the block being recorded if there is one; returns whether there is."""
        if self._recording is not None:
            self._recording.pop(key, None)
            self._recording[key] = value
            return True
        self._values[key] = value
        return False

    def _send(self, key: Key, value: Any) -> None:
        name, *numbers = key
        self._setters[name](*numbers, [value] if name in REGISTERS else value)

    def reset(self) -> None:
        """Send the initial value of every setting that has another; discard a recorded block."""
        self._recording = None
        for key, value in list(self._values.items()):
            default = self._default(key)
            if value != default:
                self._send(key, default)
        self._values.clear()

    def values(self) -> Iterator[Any]:
        """Yield the value of each setting, then of each in a state block being recorded."""
        yield from self._values.values()
        yield from (self._recording or {}).values()

    def keys(self, name: str) -> list[Key]:
        """The keys of settings with this name that were set, sorted by their numbers."""
        return sorted(key for key in self._values if key[0] == name)

    # State blocks

    def begin(self) -> None:
        """BeginStateBlock."""
        self._recording = {}

    @property
    def recording(self) -> bool:
        """Whether a block is being recorded."""
        return self._recording is not None

    def end(self) -> StateBlock:
        """EndStateBlock: the settings recorded since ``begin``."""
        block, self._recording = StateBlock(self._recording or {}), None
        return block

    def create(self, keys: Iterable[Key]) -> StateBlock:
        """CreateStateBlock: a block of the current values of ``keys``."""
        return StateBlock({key: self.get(*key) for key in keys})

    def capture(self, block: StateBlock) -> None:
        """Capture: update a block to the current values."""
        for key in block.values:
            block.values[key] = self.get(*key)

    def apply(self, block: StateBlock) -> None:
        """Apply: set the values of a block that differ from the current ones."""
        for key, value in block.values.items():
            if self.get(*key) != value:
                self.put(*key, value)

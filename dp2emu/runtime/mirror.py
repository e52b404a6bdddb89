"""What an application has set, so that state blocks and resets can set it again.

A setting is a key, a name and numbers, with a value.  State blocks live here and not in the
driver: what Apply changes the runtime must know itself (Clear looks at the viewport).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

Key = tuple[Any, ...]
"""The name of a setting and its numbers: ``("render", 7)``."""
Setter = Callable[..., None]
"""Sends a setting: takes the key's numbers, then the value."""


class StateBlock:
    """Settings that Capture reads and Apply writes, in their order.  Mutable: Capture renews."""

    def __init__(self, values: Mapping[Key, Any]) -> None:
        self.values = dict(values)


class Mirror:
    """The settings of a device.  Mutable: it is what the application sees as the device's state.

    ``setters`` send a setting, by name; ``default`` is the value of what was never set.  While a
    block is recorded, settings go there and nowhere else.
    """

    def __init__(self, setters: Mapping[str, Setter], default: Callable[[Key], Any]) -> None:
        self._setters = setters
        self._default = default
        self._values: dict[Key, Any] = {}
        self._recording: dict[Key, Any] | None = None

    def get(self, *key: Any) -> Any:
        """The value of a setting."""
        return self._values[key] if key in self._values else self._default(key)

    def put(self, *given: Any) -> None:
        """Set: a key's parts, then the value; the driver is told whatever the value was."""
        *key, value = given
        if not self._note(tuple(key), value):
            self._send(tuple(key), value)

    def put_rows(self, name: str, first: int, rows: Sequence[Any]) -> None:
        """Set neighbours at once, such as constant registers: the setter takes them together."""
        taken = [self._note((name, first + i), row) for i, row in enumerate(rows)]
        if rows and not any(taken):
            self._setters[name](first, rows)

    def know(self, *given: Any) -> None:
        """A setting changed by other means; nothing is sent."""
        *key, value = given
        self._values[tuple(key)] = value

    def _note(self, key: Key, value: Any) -> bool:
        """Remember a setting; True if a block took it."""
        if self._recording is not None:
            self._recording.pop(key, None)
            self._recording[key] = value
            return True
        self._values[key] = value
        return False

    def _send(self, key: Key, value: Any) -> None:
        name, *numbers = key
        if name in ROWS:
            self._setters[name](*numbers, [value])
        else:
            self._setters[name](*numbers, value)

    def reset(self) -> None:
        """Everything has its default again, and a recording is dropped."""
        self._recording = None
        for key, value in list(self._values.items()):
            default = self._default(key)
            if value != default:
                self._send(key, default)
        self._values.clear()

    def values(self) -> Iterator[Any]:
        """Every value that was set, and those in the block that is recorded."""
        yield from self._values.values()
        yield from (self._recording or {}).values()

    def keys(self, name: str) -> list[Key]:
        """The keys of a name that were set, in the order of their numbers."""
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
        """EndStateBlock: what was set since ``begin``."""
        block, self._recording = StateBlock(self._recording or {}), None
        return block

    def create(self, keys: Iterable[Key]) -> StateBlock:
        """CreateStateBlock: these settings with the values they have."""
        return StateBlock({key: self.get(*key) for key in keys})

    def capture(self, block: StateBlock) -> None:
        """Capture: the block's settings get the values there are now."""
        for key in block.values:
            block.values[key] = self.get(*key)

    def apply(self, block: StateBlock) -> None:
        """Apply: set what differs."""
        for key, value in block.values.items():
            if self.get(*key) != value:
                self.put(*key, value)


ROWS = frozenset(
    {
        "vertex_floats", "vertex_integers", "vertex_booleans",
        "pixel_floats", "pixel_integers", "pixel_booleans",
    }
)  # fmt: skip
"""Settings whose setters take several neighbours."""

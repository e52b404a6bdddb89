"""A copy of the device state set by the application, for state blocks and Reset.

A setting is a name, numbers and a value.  Direct3D 9's state blocks live here, not in the driver,
since the runtime needs the values that Apply sets: Clear uses the viewport.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import count, repeat
from typing import Any

from dp2emu.gpu.resource.heap import SurfaceDesc
from dp2emu.runtime.objects import PROGRAMS

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


HOLDERS = frozenset(
    {"texture", "stream", "indices", "format", "vertex_shader", "pixel_shader"}
)  # fmt: skip
"""Names of the settings whose values are objects, or hold one."""


class StateBlock:
    """A state block: ``values`` of settings by key, in the order in which Apply sets them.
    Mutable: Capture updates them.  ``live`` until ``Mirror.delete``.
    """

    def __init__(self, values: Mapping[Key, Any]) -> None:
        self.values = dict(values)
        self.live = True


def held(value: Any) -> Hashable:
    """The object that the value of a setting holds: a program, or the handle of a surface; None
    without one.
    """
    if isinstance(value, PROGRAMS):
        return value
    found = value[0] if isinstance(value, tuple) and value else value
    desc = getattr(found, "desc", found)
    return desc.handle if isinstance(desc, SurfaceDesc) else None


class Uses:
    """How many settings, of a device and its state blocks, hold each object.  Mutable.

    ``freed`` is called with an object that no setting holds any more.
    """

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self.freed: Callable[[Hashable], None] = lambda thing: None

    def __contains__(self, thing: Hashable) -> bool:
        return thing in self._numbers

    def change(self, key: Key, old: Any, new: Any) -> None:
        """Count that the value of a setting is ``new`` instead of ``old``; None is no value."""
        if key[0] not in HOLDERS:
            return
        before, after = held(old), held(new)
        if after is not None:
            self._numbers[after] = self._numbers.get(after, 0) + 1
        if before is not None:
            self._numbers[before] -= 1
            if not self._numbers[before]:
                del self._numbers[before]
                self.freed(before)

    def change_all(self, old: Mapping[Key, Any], new: Mapping[Key, Any]) -> None:
        """Count that the settings ``new`` exist instead of ``old``."""
        for key, value in new.items():
            self.change(key, None, value)
        for key, value in old.items():
            self.change(key, value, None)


def _consecutive(name: str, first: int) -> Iterator[Key]:
    """The keys of settings ``name`` from number ``first`` on."""
    return zip(repeat(name), count(first))


class Mirror:
    """The values of a device's settings as the application set them.  Mutable.

    ``setters`` has, by setting name, the function that sends such a setting to the driver;
    ``default`` is a function that returns the initial value of a key.  While a state block is
    recorded, settings only go into the block.  ``uses`` counts the objects that the settings of
    the device and of its blocks hold.
    """

    def __init__(self, setters: Mapping[str, Setter], default: Callable[[Key], Any]) -> None:
        self._setters = setters
        self._default = default
        self._values: dict[Key, Any] = {}
        self._recording: dict[Key, Any] | None = None
        self.uses = Uses()

    def get(self, *key: Any) -> Any:
        """The value of a setting, its default if it was not set."""
        return self._values[key] if key in self._values else self._default(key)

    def put(self, *given: Any) -> None:
        """Set a setting: ``given`` is its key's name and numbers, then its value.

        The value is sent, even if unchanged, or only stored while a state block is recorded.
        """
        key, value = given[:-1], given[-1]
        if self._recording is not None:
            self._record_one(self._recording, key, value)
            return
        name = key[0]
        if name in HOLDERS:
            self.uses.change(key, self._values.get(key), value)
        self._values[key] = value
        self._setters[name](*key[1:], [value] if name in REGISTERS else value)

    def put_rows(self, name: str, first: int, rows: Sequence[Any]) -> None:
        """Set consecutive settings, such as constant registers, from number ``first`` on in one
        call of the setter.
        """
        if self._recording is None:
            self._values.update(zip(_consecutive(name, first), rows, strict=False))
            if rows:
                self._setters[name](first, rows)
            return
        for key, row in zip(_consecutive(name, first), rows, strict=False):
            self._record_one(self._recording, key, row)

    def know(self, *given: Any) -> None:
        """Store the value of a setting that the device itself has changed; nothing is sent."""
        self._set(self._values, given[:-1], given[-1])

    def _record_one(self, recording: dict[Key, Any], key: Key, value: Any) -> None:
        """Store a value in the block that is being recorded, behind those stored before."""
        self.uses.change(key, recording.pop(key, None), None)
        self._set(recording, key, value)

    def _set(self, values: dict[Key, Any], key: Key, value: Any) -> None:
        if key[0] in HOLDERS:
            self.uses.change(key, values.get(key), value)
        values[key] = value

    def _send(self, key: Key, value: Any) -> None:
        name = key[0]
        self._setters[name](*key[1:], [value] if name in REGISTERS else value)

    def reset(self) -> None:
        """Send the initial value of every setting that has another; discard a recorded block."""
        self._record(None)
        for key, value in list(self._values.items()):
            default = self._default(key)
            if value != default:
                self._send(key, default)
        values, self._values = self._values, {}
        self.uses.change_all(values, {})

    def keys(self, name: str) -> list[Key]:
        """The keys of settings with this name that were set, sorted by their numbers."""
        return sorted(key for key in self._values if key[0] == name)

    # State blocks

    def begin(self) -> None:
        """BeginStateBlock."""
        self._record({})

    def _record(self, values: dict[Key, Any] | None) -> None:
        """Record settings in ``values`` from now on, or none; a recorded block is discarded."""
        recorded, self._recording = self._recording, values
        self.uses.change_all(recorded or {}, {})

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
        block = StateBlock({key: self.get(*key) for key in keys})
        self.uses.change_all({}, block.values)
        return block

    def delete(self, block: StateBlock) -> None:
        """Delete a block: it holds no objects any more."""
        if block.live:
            block.live = False
            self.uses.change_all(block.values, {})

    def capture(self, block: StateBlock) -> None:
        """Capture: update a block to the current values."""
        for key, old in block.values.items():
            value = block.values[key] = self.get(*key)
            if block.live:
                self.uses.change(key, old, value)

    def apply(self, block: StateBlock) -> None:
        """Apply: set the values of a block that differ from the current ones."""
        for key, value in block.values.items():
            if self.get(*key) != value:
                self.put(*key, value)

"""Arguments of compiled stages: 64-bit words by name."""

from __future__ import annotations

from dp2emu.records import dataclass
from dp2emu.shader.jit.scalars import Code, Value


@dataclass(frozen=True, slots=True)
class Words:
    """Words that lie at an address, as text that reads and writes them."""

    code: Code
    base: Value
    places: dict[str, int]

    @classmethod
    def of(cls, code: Code, names: tuple[str, ...], base: Value | None = None) -> Words:
        """Those of the parameter ``words`` unless another address is given."""
        places = {name: place for place, name in enumerate(names)}
        return cls(code, code["words"] if base is None else base, places)

    def integer(self, name: str) -> Value:
        """A word as i64."""
        return self._load("i64", name)

    def integers(self, *names: str) -> list[Value]:
        """Several."""
        return [self.integer(name) for name in names]

    def pointer(self, name: str) -> Value:
        """A word as an address."""
        return self._load("ptr", name)

    def pointers(self, *names: str) -> list[Value]:
        """Several."""
        return [self.pointer(name) for name in names]

    def double(self, name: str) -> Value:
        """A word as the bits of a double."""
        return self._load("double", name)

    def set(self, name: str, value: Value) -> None:
        """Leave an i64 for who called."""
        self.code.store(value, self.base, self.places[name])

    def _load(self, type: str, name: str) -> Value:
        return self.code.load(type, self.base, self.places[name])

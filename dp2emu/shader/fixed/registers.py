"""What the parts of a vertex program share: the builder, its inputs and its uniform file."""

from __future__ import annotations

from dp2emu.records import dataclass
from dp2emu.shader.builder import Builder
from dp2emu.shader.fixed.layout import FILE, layout
from dp2emu.shader.fixed.records import FixedVertex
from dp2emu.shader.fixed.vectors import Vector
from dp2emu.shader.ir import File
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value

Number = Value | int
"""Of a matrix or a light: known when the program is made, or an I32 that it computes."""


@dataclass(frozen=True, slots=True)
class Registers:
    """The builder, the key, the declared file and the offsets of its blocks."""

    b: Builder
    key: FixedVertex
    file: File
    offsets: dict[str, int]

    @classmethod
    def of(cls, b: Builder, key: FixedVertex) -> Registers:
        """Declares the file."""
        places = layout(key)
        return cls(b, key, b.uniform(FILE, Type.F32, places.size), places.offsets)

    def load(self, block: str, count: int, first: int = 0) -> list[Value]:
        """Scalars ``first`` and following of a block."""
        start = self.offsets[block] + first
        return [self.b.load(self.file, start + place) for place in range(count)]

    def element(
        self, block: str, size: int, number: Number, count: int, first: int = 0
    ) -> list[Value]:
        """The same of element ``number`` of a block whose elements have ``size`` scalars."""
        if isinstance(number, int):
            return self.load(block, count, first + size * number)
        start = self.offsets[block] + first
        places = range(start, start + count)
        return [self.b.load(self.file, place, number, size) for place in places]

    def input(self, name: str, components: str = "xyzw") -> list[Value]:
        """Components of a vertex attribute."""
        return [self.b.input(f"{name}.{component}") for component in components]

    def triple(self, block: str, size: int, number: Number, first: int) -> Vector:
        """Three scalars of an element."""
        x, y, z = self.element(block, size, number, 3, first)
        return x, y, z

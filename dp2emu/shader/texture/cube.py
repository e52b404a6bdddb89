"""Cubes: from a direction to a face and the place on it (Direct3D 9 cubic environment mapping).

The face is that of the largest component; x goes before y and y before z where they are equal.
On the face a coordinate is (across / major + 1) / 2.  Filters stay inside the face.
"""

from __future__ import annotations

from dp2emu.records import dataclass
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value

Pair = tuple[Value, Value]
Vector = tuple[Value, ...]
"""Three components."""


@dataclass(frozen=True, slots=True)
class Face:
    """The face a direction hits.  ``number`` is I32, 0 to 5 for +X -X +Y -Y +Z -Z; ``along_x`` and
    ``along_y`` say which component is the major one, and ``negative`` that it is below 0.
    """

    number: Value
    along_x: Value
    along_y: Value
    negative: Value

    def turned(self, vector: Vector) -> Vector:
        """Components across the face, down the face, and out of it."""
        x, y, z = vector
        b = x.builder
        across_x = b.select(self.negative, z, -z)
        across_z = b.select(self.negative, -x, x)
        down_y = b.select(self.negative, -z, z)
        out = b.select(self.along_x, x, b.select(self.along_y, y, z))
        return (
            b.select(self.along_x, across_x, b.select(self.along_y, x, across_z)),
            b.select(self.along_y & ~self.along_x, down_y, -y),
            b.select(self.negative, -out, out),
        )


def face_of(direction: Vector) -> Face:
    """Which face a direction hits."""
    x, y, z = direction
    b = x.builder
    size_x, size_y, size_z = (b.abs(each) for each in direction)
    along_x = (size_x >= size_y) & (size_x >= size_z)
    along_y = ~along_x & (size_y >= size_z)
    out = b.select(along_x, x, b.select(along_y, y, z))
    negative = out < 0.0
    axis = b.select(
        along_x, b.constant(Type.I32, 0), b.select(along_y, b.constant(Type.I32, 2), 4)
    )
    return Face(axis + b.select(negative, b.constant(Type.I32, 1), 0), along_x, along_y, negative)


def place_on(face: Face, direction: Vector) -> Pair:
    """The coordinates on the face, 0 to 1."""
    across, down, out = face.turned(direction)
    return across / out * 0.5 + 0.5, down / out * 0.5 + 0.5


def slope_on(face: Face, direction: Vector, change: Vector) -> Pair:
    """How the coordinates change with the direction: half of (across' - q out') / out, where q is
    across / out, on the plane of the face whichever face the neighbour hits.
    """
    across, down, out = face.turned(direction)
    across_change, down_change, out_change = face.turned(change)
    return (
        _quotient_slope(across, out, across_change, out_change),
        _quotient_slope(down, out, down_change, out_change),
    )


def _quotient_slope(part: Value, out: Value, part_change: Value, out_change: Value) -> Value:
    return (part_change - part / out * out_change) / out * 0.5

"""The layout of a surface's subresources in its memory.

A texture is one allocation: face by face, and level by level within a face, each with its rows
from top to bottom and its slices from front to back, without padding.  Compressed formats have
rows of blocks.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

CUBE_FACES = 6


class Texels(msgspec.Struct, frozen=True):
    """Size of the unit that a format stores, a texel or block: ``bytes`` for ``width`` x
    ``height`` texels.
    """

    bytes: int
    width: int = 1
    height: int = 1


class Shape(msgspec.Struct, frozen=True):
    """The size of a resource's top level in texels, and its numbers of levels and faces.

    ``pitch`` is bytes from row to row, 0 for rows without padding; it must be 0 with several
    levels.
    """

    width: int
    height: int = 1
    depth: int = 1
    levels: int = 1
    faces: int = 1
    pitch: int = 0


class Subresource(msgspec.Struct, frozen=True):
    """Byte offset and pitches in memory, and size in texels, of one mip level of one face.

    ``rows`` counts rows of blocks.
    """

    offset: int
    pitch: int
    rows: int
    width: int
    height: int
    depth: int

    @property
    def slice_pitch(self) -> int:
        """Bytes from the start of one slice of the mip level to the next."""
        return self.pitch * self.rows

    @property
    def size(self) -> int:
        """Number of bytes of all slices of the mip level."""
        return self.slice_pitch * self.depth


def full_chain(width: int, height: int, depth: int = 1) -> int:
    """Return the number of mip levels from a top level of this size down to a single texel."""
    return max(width, height, depth).bit_length()


def subresources(shape: Shape, texels: Texels) -> tuple[Subresource, ...]:
    """Return all levels of all faces, by index face * levels + level."""
    return tuple(_subresources(shape, texels))


def _subresources(shape: Shape, texels: Texels) -> Iterator[Subresource]:
    offset, top = 0, (shape.width, shape.height, shape.depth)
    for _ in range(shape.faces):
        for level in range(shape.levels):
            width, height, depth = (max(side >> level, 1) for side in top)
            pitch = shape.pitch or -(-width // texels.width) * texels.bytes
            found = Subresource(offset, pitch, -(-height // texels.height), width, height, depth)
            yield found
            offset += found.size


class Box(msgspec.Struct, frozen=True):
    """Half-open box of texels: left <= x < right, top <= y < bottom, front <= z < back."""

    left: int
    top: int
    right: int
    bottom: int
    front: int = 0
    back: int = 1

    @property
    def sides(self) -> tuple[int, int, int]:
        """Width, height and depth of the box, in texels."""
        return self.right - self.left, self.bottom - self.top, self.back - self.front

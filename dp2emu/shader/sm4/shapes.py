"""How resources of each dimension are addressed and measured (SM4-5 tokens, "Reading
resources")."""

from __future__ import annotations

from typing import NamedTuple

from dp2emu.shader.sm4.enums import Dimension

CUBES = frozenset({Dimension.TEXTURECUBE, Dimension.TEXTURECUBEARRAY})


class Shape(NamedTuple):
    """``axes`` of an address, whether a slice comes after them, and how many of the sizes are
    ``lengths`` in texels.
    """

    axes: int
    slices: bool = False
    lengths: int = 1


SHAPES: dict[Dimension, Shape] = {
    Dimension.BUFFER: Shape(1),
    Dimension.TEXTURE1D: Shape(1),
    Dimension.TEXTURE2D: Shape(2, lengths=2),
    Dimension.TEXTURE2DMS: Shape(2, lengths=2),
    Dimension.TEXTURE3D: Shape(3, lengths=3),
    Dimension.TEXTURECUBE: Shape(3, lengths=2),
    Dimension.TEXTURE1DARRAY: Shape(1, slices=True),
    Dimension.TEXTURE2DARRAY: Shape(2, slices=True, lengths=2),
    Dimension.TEXTURE2DMSARRAY: Shape(2, slices=True, lengths=2),
    Dimension.TEXTURECUBEARRAY: Shape(3, slices=True, lengths=2),
    Dimension.RAW_BUFFER: Shape(1),
    Dimension.STRUCTURED_BUFFER: Shape(1),
}

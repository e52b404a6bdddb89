"""Records that packets and the stages of draws are made of: rectangles, viewports, textures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dp2emu.d3d.enums import PrimitiveType
from dp2emu.d3d.enums10 import Topology10
from dp2emu.gpu.resource.heap import Surface
from dp2emu.gpu.resource.pixel_format import Color
from dp2emu.records import dataclass


@dataclass(frozen=True, slots=True)
class Rect:
    """Half-open pixel rectangle: left <= x < right, top <= y < bottom.  May be empty."""

    left: int
    top: int
    right: int
    bottom: int

    def intersect(self, other: Rect) -> Rect:
        """The common part; empty (right <= left or bottom <= top) if there is none."""
        return Rect(
            max(self.left, other.left),
            max(self.top, other.top),
            min(self.right, other.right),
            min(self.bottom, other.bottom),
        )

    @property
    def empty(self) -> bool:
        """Has it no pixel?"""
        return self.right <= self.left or self.bottom <= self.top


@dataclass(frozen=True, slots=True)
class Viewport:
    """Target rectangle in pixels and depth range."""

    x: int
    y: int
    width: int
    height: int
    min_z: float = 0.0
    max_z: float = 1.0


NO_VIEWPORT = Viewport(0, 0, 0, 0)
"""In which nothing is."""


@dataclass(frozen=True, slots=True)
class FloatViewport:
    """The same of Direct3D 11, which knows fractions of pixels."""

    x: float
    y: float
    width: float
    height: float
    min_z: float = 0.0
    max_z: float = 1.0


Topology = PrimitiveType | Topology10
"""Of either interface; those that both have have the same numbers, and are equal."""

Plane = tuple[float, float, float, float]
"""a, b, c, d: what has a * x + b * y + c * z + d * w < 0 is cut off."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class TextureBinding:
    """A texture and the numbers of the sampler that reads it.

    ``lod_bias`` is D3DSAMP_MIPMAPLODBIAS as a float32 value, ``max_level`` D3DSAMP_MAXMIPLEVEL and
    ``most_detailed`` what SETTEXLOD said, both level numbers; ``border`` is A8R8G8B8, or float32
    values; ``lods`` are MinLOD and MaxLOD of Direct3D 10, ``stride`` the bytes of a structure if
    the surface is a buffer of them; ``palette``
    has 256 A8R8G8B8 words, for formats that index one.  ``color_key`` is a range of texels as they
    are stored, both ends in it.  ``weights`` are the file of that name (``texture.bindings``) for
    a convolution; None for ones.
    """

    surface: Surface
    lod_bias: float = 0.0
    max_level: int = 0
    most_detailed: int = 0
    border: int | Color = 0
    palette: NDArray[np.uint32] | None = None
    color_key: tuple[int, int] = (0, 0)
    weights: NDArray[np.float32] | None = None
    lods: tuple[float, float] = (0.0, 0.0)
    stride: int = 0


Textures = Mapping[int, TextureBinding]
"""Textures, and buffers, by the number of the sampler or unit that reads them."""

Uniforms = Mapping[str, NDArray[Any]]
"""What a program reads through its uniform files, by file: arrays that nobody writes any more."""

ConstantBuffers = Mapping[str, Surface]
"""Buffers that are uniform files, by file, as they are when the packet executes."""

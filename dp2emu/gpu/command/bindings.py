"""Small records of packets: rectangles, viewports, texture bindings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from dp2emu.d3d.enums import PrimitiveType
from dp2emu.d3d.enums10 import Topology10
from dp2emu.gpu.resource.heap import Surface
from dp2emu.gpu.resource.pixel_format import Color


class Rect(msgspec.Struct, frozen=True):
    """A half-open pixel rectangle: left <= x < right, top <= y < bottom.  May be empty."""

    left: int
    top: int
    right: int
    bottom: int

    def intersect(self, other: Rect) -> Rect:
        """The intersection with another rectangle, which may be empty."""
        return Rect(
            max(self.left, other.left),
            max(self.top, other.top),
            min(self.right, other.right),
            min(self.bottom, other.bottom),
        )

    @property
    def empty(self) -> bool:
        """Whether the rectangle contains no pixel."""
        return self.right <= self.left or self.bottom <= self.top


class Viewport(msgspec.Struct, frozen=True):
    """A viewport: target rectangle in pixels, and depth range."""

    x: int
    y: int
    width: int
    height: int
    min_z: float = 0.0
    max_z: float = 1.0


NO_VIEWPORT = Viewport(0, 0, 0, 0)
"""The viewport 0, 0, 0, 0, which is empty: the default, for draws of pretransformed vertices."""


class FloatViewport(msgspec.Struct, frozen=True):
    """A viewport of Direct3D 11, which may start and end at fractions of pixels."""

    x: float
    y: float
    width: float
    height: float
    min_z: float = 0.0
    max_z: float = 1.0


Topology = PrimitiveType | Topology10
"""A primitive topology of Direct3D 9 or of Direct3D 10; members common to both have equal
numbers."""

Plane = tuple[float, float, float, float]
"""a, b, c, d of a clip plane: points with a * x + b * y + c * z + d * w < 0 are cut off."""


class TextureBinding(msgspec.Struct, frozen=True, eq=False, weakref=True):
    """A texture, and the sampler values that are not part of the sampler key.

    ``lod_bias`` is D3DSAMP_MIPMAPLODBIAS as a float32 value; ``max_level`` (D3DSAMP_MAXMIPLEVEL)
    and ``most_detailed`` (SETTEXLOD) are level numbers; ``border`` is A8R8G8B8 or float32 values;
    ``lods`` are MinLOD and MaxLOD of Direct3D 10; ``stride`` is the bytes of a structure of a
    structured buffer; ``palette`` has 256 A8R8G8B8 words for palettized formats.  ``color_key`` is
    an inclusive range of stored texels.  ``weights`` are the convolution's uniform file
    (``texture.bindings``), None for ones.
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
"""Texture or buffer bindings by number of the sampler or texture unit."""

Uniforms = Mapping[str, NDArray[Any]]
"""Values of a program's uniform files by name, in arrays that no longer change."""


class ConstantRange(msgspec.Struct, frozen=True):
    """A range of a buffer as a constant buffer, in constants of four words."""

    surface: Surface
    first: int
    count: int


ConstantBuffers = Mapping[str, Surface | ConstantRange]
"""Constant buffers by name of the uniform file that each becomes, read when the packet
executes."""

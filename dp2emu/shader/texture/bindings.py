"""Uniform files of sampler programs: their layout and the arrays that fill them.

``texels`` has the 32-bit words of the texture's whole allocation.  ``levels`` has a row of
``LevelField`` per mip level, ordered by slice and face.  ``palette`` has 256 A8R8G8B8 words,
or the tables of a block format (``block_decoder.BLOCK_TABLES``), at most 256 words;
``linear`` the linear values of 256 sRGB codes.  ``weights`` has the weights of a convolution
kernel: those along a row, then from ``COLUMN_WEIGHTS`` on those along a column.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal, localcontext
from enum import IntEnum
from functools import lru_cache

import msgspec
import numpy as np

from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import File
from dp2emu.shader.types import F32, I32, Type
from dp2emu.shader.verify import MAX_UNIFORM_SIZE

CUBE_FACES, MAX_LEVELS = 6, 32
MAX_LAYERS = 2048
"""Maximum number of slices of a texture array in Direct3D 11 (Direct3D 10 has 512)."""
MAX_KERNEL = 7
"""Maximum number of weights of a convolution kernel along an axis: D3DCONVOLUTIONMONO_MAXWIDTH and
_MAXHEIGHT."""
COLUMN_WEIGHTS = MAX_KERNEL


class LevelField(IntEnum):
    """Index of each value of a mip level in ``levels``: offset and pitches in bytes, size."""

    OFFSET = 0
    PITCH = 1
    SLICE_PITCH = 2
    WIDTH = 3
    HEIGHT = 4
    DEPTH = 5


class NumberField(IntEnum):
    """Index of each float32 in uniform file ``numbers``: level bias, border colour (4), and MinLOD
    and MaxLOD of Direct3D 10.
    """

    BIAS = 0
    BORDER = 1
    MIN_LOD = 5
    MAX_LOD = 6


class LimitField(IntEnum):
    """Index of each integer in uniform file ``limits``: levels per face; most and least detailed
    level in use; the colour key range, as stored texels; array slices; samples per pixel.
    """

    LEVELS = 0
    FIRST = 1
    LAST = 2
    KEY_LOW = 3
    KEY_HIGH = 4
    LAYERS = 5
    SAMPLES = 6


class SamplerFiles(msgspec.Struct, frozen=True):
    """The uniform files that a sampler program reads texture, levels and sampler state from."""

    texels: File
    levels: File
    numbers: File
    limits: File
    palette: File
    linear: File
    weights: File

    @classmethod
    def of(cls, b: Builder) -> SamplerFiles:
        """Declare all uniform files of a sampler program in the program that ``b`` builds."""
        return cls(
            b.uniform("texels", Type.I32, MAX_UNIFORM_SIZE),
            b.uniform("levels", Type.I32, len(LevelField) * MAX_LAYERS * MAX_LEVELS),
            b.uniform("numbers", Type.F32, max(NumberField) + 1),
            b.uniform("limits", Type.I32, len(LimitField)),
            b.uniform("palette", Type.I32, 256),
            b.uniform("linear", Type.F32, 256),
            b.uniform("weights", Type.F32, 2 * MAX_KERNEL),
        )


def level_rows(levels: Iterable[tuple[int, int, int, int, int, int]]) -> I32:
    """Return uniform file ``levels``: six integers per mip level, in ``LevelField`` order."""
    return np.array(list(levels), np.int32).reshape(-1)


def limits_of(
    levels: int, first: int, key: tuple[int, int] = (0, 0), layers: int = 1, samples: int = 1
) -> I32:
    """Return uniform file ``limits``; ``key`` is the colour key range.  ``first`` is clamped to
    the mip chain; ``layers`` counts array slices, not their cube faces.
    """
    last = levels - 1
    words = np.array([word & 0xFFFFFFFF for word in key], np.uint32).view(np.int32)
    return np.array([levels, min(max(first, 0), last), last, *words, layers, samples], np.int32)


def numbers_of(bias: float, border: int) -> F32:
    """Return uniform file ``numbers``: level bias, and ``border`` (A8R8G8B8) as floats."""
    channels = [border >> shift & 0xFF for shift in (16, 8, 0, 24)]
    color = np.array(channels, np.float32) / np.float32(255)
    return np.concatenate([np.array([bias], np.float32), color])


def sampler_numbers(
    bias: float, border: Sequence[float], lods: tuple[float, float] = (0.0, 0.0)
) -> F32:
    """Return uniform file ``numbers`` of a Direct3D 10 sampler; ``lods``: MinLOD and MaxLOD."""
    return np.array([bias, *border, *lods], np.float32)


def weights_of(rows: Sequence[float] = (), columns: Sequence[float] = ()) -> F32:
    """Return uniform file ``weights`` of a convolution kernel; missing weights are 1."""
    weights = np.ones(2 * MAX_KERNEL, np.float32)
    weights[: len(rows)] = rows
    weights[COLUMN_WEIGHTS : COLUMN_WEIGHTS + len(columns)] = columns
    return weights


@lru_cache(maxsize=1)
def srgb_to_linear_table() -> F32:
    """Return uniform file ``linear``: the linear value of each 8-bit sRGB code, as float32.

    c / 12.92 up to 0.04045, else ((c + 0.055) / 1.055) ** 2.4 (IEC 61966-2-1), correctly rounded.
    """
    codes = (Decimal(code) / 255 for code in range(256))
    return np.array([float(srgb_to_linear(code)) for code in codes], np.float32)


def srgb_to_linear(c: Decimal) -> Decimal:
    """Convert an sRGB value in 0..1 to its linear value, to 40 digits."""
    with localcontext() as context:
        context.prec = 40
        if c <= Decimal("0.04045"):
            return c / Decimal("12.92")
        return ((c + Decimal("0.055")) / Decimal("1.055")) ** Decimal("2.4")

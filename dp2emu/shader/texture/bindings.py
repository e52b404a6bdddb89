"""The uniform files of sampler programs: their layout, and the arrays that go into them.

``texels`` are the 32-bit words of the texture's whole allocation.  ``levels`` has a row of
``LEVEL_FIELDS`` for each level of each face, face by face, and so slice by slice of an array.
``palette`` has 256 A8R8G8B8 words, ``linear`` what 256 sRGB codes are in linear light.
``weights`` are those of a convolution: of the texels of a row, and from ``COLUMN_WEIGHTS`` on
those of the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal, localcontext
from enum import IntEnum
from functools import lru_cache

import numpy as np

from dp2emu.records import dataclass
from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import File
from dp2emu.shader.types import F32, I32, Type
from dp2emu.shader.verify import MAX_UNIFORM_SIZE

CUBE_FACES, MAX_LEVELS = 6, 32
MAX_LAYERS = 2048
"""Slices of an array in Direct3D 11; Direct3D 10 has 512."""
MAX_KERNEL = 7
"""Most texels of a convolution's side: D3DCONVOLUTIONMONO_MAXWIDTH and _MAXHEIGHT."""
COLUMN_WEIGHTS = MAX_KERNEL


class LevelField(IntEnum):
    """What is known of a level: bytes from the start and between rows and slices, and texels."""

    OFFSET = 0
    PITCH = 1
    SLICE_PITCH = 2
    WIDTH = 3
    HEIGHT = 4
    DEPTH = 5


class NumberField(IntEnum):
    """Float32 numbers of a sampler: its bias, the four of its border colour, and the least and
    the greatest level of Direct3D 10.
    """

    BIAS = 0
    BORDER = 1
    MIN_LOD = 5
    MAX_LOD = 6


class LimitField(IntEnum):
    """Integers of a sampler: levels of each face, the most and the least detailed one to be used,
    the colour key from ``KEY_LOW`` to ``KEY_HIGH``, which are texels as they are stored, the
    slices of an array, and the samples of a pixel.
    """

    LEVELS = 0
    FIRST = 1
    LAST = 2
    KEY_LOW = 3
    KEY_HIGH = 4
    LAYERS = 5
    SAMPLES = 6


@dataclass(frozen=True, slots=True)
class SamplerFiles:
    """The files, as a program declares them."""

    texels: File
    levels: File
    numbers: File
    limits: File
    palette: File
    linear: File
    weights: File

    @classmethod
    def of(cls, b: Builder) -> SamplerFiles:
        """Declare them in a program."""
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
    """The file ``levels`` from rows in the order of ``LevelField``."""
    return np.array(list(levels), np.int32).reshape(-1)


def limits_of(
    levels: int, first: int, key: tuple[int, int] = (0, 0), layers: int = 1, samples: int = 1
) -> I32:
    """The file ``limits``: ``first`` is any number, and one beyond the chain means its end;
    ``layers`` are slices, of six faces each if they are cubes.
    """
    last = levels - 1
    words = np.array([word & 0xFFFFFFFF for word in key], np.uint32).view(np.int32)
    return np.array([levels, min(max(first, 0), last), last, *words, layers, samples], np.int32)


def numbers_of(bias: float, border: int) -> F32:
    """The file ``numbers``; ``border`` is A8R8G8B8."""
    channels = [border >> shift & 0xFF for shift in (16, 8, 0, 24)]
    color = np.array(channels, np.float32) / np.float32(255)
    return np.concatenate([np.array([bias], np.float32), color])


def sampler_numbers(
    bias: float, border: Sequence[float], lods: tuple[float, float] = (0.0, 0.0)
) -> F32:
    """The same of a sampler of Direct3D 10; ``lods`` are its MinLOD and MaxLOD."""
    return np.array([bias, *border, *lods], np.float32)


def weights_of(rows: Sequence[float] = (), columns: Sequence[float] = ()) -> F32:
    """The file ``weights`` from up to ``MAX_KERNEL`` weights each way; others are 1."""
    weights = np.ones(2 * MAX_KERNEL, np.float32)
    weights[: len(rows)] = rows
    weights[COLUMN_WEIGHTS : COLUMN_WEIGHTS + len(columns)] = columns
    return weights


@lru_cache(maxsize=1)
def srgb_to_linear_table() -> F32:
    """The file ``linear``: what an 8-bit sRGB code stands for, correctly rounded.

    c / 12.92 up to 0.04045, else ((c + 0.055) / 1.055) ** 2.4 (IEC 61966-2-1).
    """
    codes = (Decimal(code) / 255 for code in range(256))
    return np.array([float(srgb_to_linear(code)) for code in codes], np.float32)


def srgb_to_linear(c: Decimal) -> Decimal:
    """What a fraction of the largest sRGB code stands for, to 40 digits."""
    with localcontext() as context:
        context.prec = 40
        if c <= Decimal("0.04045"):
            return c / Decimal("12.92")
        return ((c + Decimal("0.055")) / Decimal("1.055")) ** Decimal("2.4")

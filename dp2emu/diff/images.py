"""Two pictures against each other, in numbers."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from dp2emu.diff.regions import Region, regions
from dp2emu.errors import UsageError
from dp2emu.inputs import open_input

if TYPE_CHECKING:
    from PIL import Image

Pixels = NDArray[np.uint8]
"""(height, width, 3 or 4): red, green, blue and perhaps alpha."""

_WORST = 10
"""Regions that are told."""


class Allowance(msgspec.Struct, frozen=True):
    """How far apart pictures may be: channels by ``tolerance`` of 255; of the pixels ``share``
    per cent must be within that, and no connected region of the others be wider or higher than
    ``across`` pixels (None: it may).
    """

    tolerance: int = 0
    share: float = 100.0
    across: int | None = None


EXACT = Allowance()
RECORDED = Allowance(4, 99.5, 16)
"""For pictures by another implementation of Direct3D, which rounds and filters otherwise."""


class Pixel(NamedTuple):
    """A pixel that is beyond the tolerance, and its channels in both pictures."""

    x: int
    y: int
    one: tuple[int, ...]
    other: tuple[int, ...]


class Comparison(msgspec.Struct, frozen=True):
    """How two pictures differ.

    ``size`` and ``other_size`` are widths and heights; where they differ nothing was compared and
    every pixel counts as beyond.  ``largest`` is the largest difference of a channel, ``beyond``
    counts pixels with one beyond the tolerance, ``first`` is the first of these in reading order,
    ``regions`` are the widest connected parts of them, of ``region_count``.
    """

    size: tuple[int, int]
    other_size: tuple[int, int]
    beyond: int
    largest: int
    first: Pixel | None = None
    regions: tuple[Region, ...] = ()
    region_count: int = 0

    @property
    def pixels(self) -> int:
        """How many pixels were compared, at most."""
        return max(self.size[0] * self.size[1], self.other_size[0] * self.other_size[1])

    @property
    def share(self) -> float:
        """Per cent of the pixels that are within the tolerance."""
        return 100.0 * (self.pixels - self.beyond) / self.pixels

    @property
    def across(self) -> int:
        """How wide or high the widest region is."""
        return self.regions[0].across if self.regions else 0

    def within(self, allowance: Allowance) -> bool:
        """Whether that is as close as is asked for (the tolerance was that of the comparison)."""
        if self.size != self.other_size:
            return False
        narrow = allowance.across is None or self.across <= allowance.across
        return narrow and self.share >= allowance.share

    def row(self, allowance: Allowance) -> dict[str, Any]:
        """The numbers for JSON."""
        first = self.first
        return {
            "size": list(self.size),
            "other_size": list(self.other_size),
            "pixels": self.pixels,
            "beyond": self.beyond,
            "share": round(self.share, 4),
            "largest": self.largest,
            "first": first
            and {"x": first.x, "y": first.y, "one": first.one, "other": first.other},
            "regions": [list(region[:4]) for region in self.regions],
            "region_count": self.region_count,
            "across": self.across,
            "within": self.within(allowance),
        }


def compare_images(one: Pixels, other: Pixels, tolerance: int = 0) -> Comparison:
    """Compare two pictures; alpha only if both have it.

    Pixels are beyond ``tolerance`` if a channel differs by more than that, of 255.
    """
    size, other_size = (image.shape[1::-1] for image in (one, other))
    if size != other_size:
        most = max(size[0] * size[1], other_size[0] * other_size[1])
        return Comparison(size, other_size, most, 255)
    apart = differences(one, other)
    mask = apart > tolerance
    found = regions(mask)
    first = _first(mask, one, other) if found else None
    worst, count = tuple(found[:_WORST]), int(mask.sum())
    return Comparison(size, other_size, count, int(apart.max()), first, worst, len(found))


def differences(one: Pixels, other: Pixels) -> NDArray[np.uint8]:
    """(height, width): the largest difference of a channel that both of equal size have."""
    lanes = min(one.shape[-1], other.shape[-1])
    left, right = one[..., :lanes], other[..., :lanes]
    apart: NDArray[np.uint8] = (np.maximum(left, right) - np.minimum(left, right)).max(axis=-1)
    return apart


def _first(mask: NDArray[np.bool_], one: Pixels, other: Pixels) -> Pixel:
    y, x = divmod(int(mask.argmax()), mask.shape[1])
    return Pixel(x, y, tuple(one[y, x].tolist()), tuple(other[y, x].tolist()))


def pixels_of(image: NDArray[Any]) -> Pixels:
    """A picture as taken here as pixels to compare.

    ``image`` is uint8 or uint16 of shape (height, width), grey, or uint8 (height, width, 3 or 4).
    """
    if image.dtype == np.uint16:
        image = image >> 8
    if image.ndim == 2:
        image = np.repeat(image[..., None], 3, axis=-1)
    return image.astype(np.uint8, copy=False)


def read_image(path: Path) -> Pixels:
    """A picture file.  Raises UsageError for one that is none or is too large, and OSError."""
    # Whoever compares with no files has no need of it.
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with open_input(path) as file, Image.open(file) as image:
                image.load()
                return _decoded(image)
    except (UnidentifiedImageError, SyntaxError, ValueError, EOFError) as error:
        raise UsageError(f"{path} is no picture: {error}") from error
    except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        raise UsageError(f"{path} is too large: {error}") from error
    except OSError as error:
        if error.errno is not None:
            raise
        raise UsageError(f"{path} is no whole picture: {error}") from error


def _decoded(image: Image.Image) -> Pixels:
    if image.mode.startswith("I"):
        return pixels_of(np.asarray(image).astype(np.uint16))
    alpha = "A" in image.getbands() or "transparency" in image.info
    return np.asarray(image.convert("RGBA" if alpha else "RGB"))

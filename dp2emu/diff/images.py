"""Comparison of two pictures in numbers."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from dp2emu.argument_check import checked
from dp2emu.diff.regions import Region, regions
from dp2emu.errors import ArgumentError, Unsupported, UsageError
from dp2emu.inputs import open_input
from dp2emu.limits import GENEROUS, Limits

if TYPE_CHECKING:
    from PIL import Image

Pixels = NDArray[np.uint8]
"""Picture as an array (height, width, 3 or 4): red, green, blue and optionally alpha."""

_WORST = 10
"""Largest number of differing regions that a ``Comparison`` lists."""


class Allowance(msgspec.Struct, frozen=True):
    """Bounds on the difference of pictures.

    At least ``share`` per cent of the pixels must differ by at most ``tolerance`` of 255 in every
    channel; a connected region of pixels that differ more is at most ``across`` pixels wide and
    high (None: any size).
    """

    tolerance: int = 0
    share: float = 100.0
    across: int | None = None


EXACT = Allowance()
RECORDED = Allowance(4, 99.5, 16)
"""Allowance for pictures of another Direct3D implementation, where rounding and filtering differ:
99.5 per cent of the pixels within 4 of 255, other regions at most 16 pixels wide and high."""


class Pixel(NamedTuple):
    """A pixel beyond the tolerance, with its channels in both pictures."""

    x: int
    y: int
    one: tuple[int, ...]
    other: tuple[int, ...]


@checked
class Comparison(msgspec.Struct, frozen=True):
    """The differences between two pictures.

    ``size`` and ``other_size`` are (width, height); if they differ, ``beyond`` is every pixel.
    ``largest`` is the largest difference of a channel, ``beyond`` counts the pixels beyond the
    tolerance, ``first`` is the first of these in reading order, ``regions`` are the widest of
    their ``region_count`` connected regions.
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
        """Number of pixels of the larger picture."""
        return max(self.size[0] * self.size[1], self.other_size[0] * self.other_size[1])

    @property
    def share(self) -> float:
        """Percentage of pixels within the tolerance."""
        return 100.0 * (self.pixels - self.beyond) / self.pixels

    @property
    def across(self) -> int:
        """Longer side of the widest region, in pixels."""
        return self.regions[0].across if self.regions else 0

    def within(self, allowance: Allowance) -> bool:
        """Whether ``allowance``, whose tolerance was used, permits these differences."""
        if self.size != self.other_size:
            return False
        narrow = allowance.across is None or self.across <= allowance.across
        return narrow and self.share >= allowance.share

    def row(self, allowance: Allowance) -> dict[str, Any]:
        """The comparison as a JSON object; ``within`` says whether ``allowance`` permits it."""
        first = self.first
        return {
            "size": list(self.size),
            "other_size": list(self.other_size),
            "pixels": self.pixels,
            "beyond": self.beyond,
            "share": round(self.share, 4),
            "largest": self.largest,
            "first": first and first._asdict(),
            "regions": [list(region[:4]) for region in self.regions],
            "region_count": self.region_count,
            "across": self.across,
            "within": self.within(allowance),
        }


def require_pixels(*images: Pixels) -> None:
    """Raise ArgumentError for an array that is not uint8 of shape (height, width, 3 or 4)."""
    for image in images:
        if image.ndim != 3 or image.shape[2] not in (3, 4) or image.dtype != np.uint8:
            what = f"an array of {image.dtype} {image.shape} is no picture"
            raise ArgumentError(f"{what}: uint8 (height, width, 3 or 4)")


@checked
def compare_images(one: Pixels, other: Pixels, tolerance: int = 0) -> Comparison:
    """The comparison of two pictures, with alpha if both have it.

    A pixel is beyond ``tolerance`` if a channel differs by more, of 255.  Raises ArgumentError for
    arrays of another shape or dtype.
    """
    require_pixels(one, other)
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
    """uint8 (height, width): the largest channel difference of two pictures of equal size."""
    lanes = min(one.shape[-1], other.shape[-1])
    left, right = one[..., :lanes], other[..., :lanes]
    apart: NDArray[np.uint8] = (np.maximum(left, right) - np.minimum(left, right)).max(axis=-1)
    return apart


def _first(mask: NDArray[np.bool_], one: Pixels, other: Pixels) -> Pixel:
    y, x = divmod(int(mask.argmax()), mask.shape[1])
    return Pixel(x, y, tuple(one[y, x].tolist()), tuple(other[y, x].tolist()))


@checked
def pixels_of(image: NDArray[Any]) -> Pixels:
    """A picture as ``Pixels``.

    ``image`` is grey, uint8 or uint16 (height, width), or uint8 (height, width, 3 or 4).
    """
    if image.dtype == np.uint16:
        image = image >> 8
    if image.ndim == 2:
        image = np.repeat(image[..., None], 3, axis=-1)
    return image.astype(np.uint8, copy=False)


@checked
def read_image(path: Path, limits: Limits = GENEROUS) -> Pixels:
    """The pixels of a picture file.  Raises UsageError for a bad or too large one, and OSError;
    Exceeded beyond the limits of surfaces and of inflated bytes.
    """
    # Imported here because comparisons without files do not need it.
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with open_input(path) as file, Image.open(file) as image:
                _bound(image, path.stat().st_size, limits)
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


def _bound(image: Image.Image, stored: int, limits: Limits) -> None:
    """Check the size of a picture, whose file has ``stored`` bytes.  Raises Exceeded."""
    size = image.width * image.height * 4
    limits.check("extent", max(image.size))
    limits.check("surface_bytes", size)
    refused = limits.inflation(size, stored)
    if refused is not None:
        raise Unsupported(refused)


def _decoded(image: Image.Image) -> Pixels:
    if image.mode.startswith("I"):
        return pixels_of(np.asarray(image).astype(np.uint16))
    alpha = "A" in image.getbands() or "transparency" in image.info
    return np.asarray(image.convert("RGBA" if alpha else "RGB"))

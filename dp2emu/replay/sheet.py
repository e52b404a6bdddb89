"""A contact sheet: all pictures of a replay, small and labelled, in one."""

from __future__ import annotations

from math import ceil, isqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dp2emu.bitmap_font import ADVANCE, HEIGHT, lettered
from dp2emu.picture import Picture

THUMB_WIDTH, THUMB_HEIGHT = 160, 120
"""Pictures are made to fit, by a whole factor."""
LIMIT = 400
"""Pictures on a sheet.  When there are more, every second goes, and again, evenly."""

_GAP = 8
_LINE = 2 * HEIGHT + 4
_CELL = (THUMB_HEIGHT + 2 * _LINE + _GAP, THUMB_WIDTH + _GAP)
_PAPER, _INK = 0x30, 0xE0


class _Thumb(NamedTuple):
    image: NDArray[np.uint8]
    lines: tuple[str, str]


class Sheet:
    """Gathers pictures, holding at most ``LIMIT`` small ones.  Mutable: it fills."""

    def __init__(self) -> None:
        self._thumbs: list[_Thumb] = []
        self._every = 1
        self._seen = 0

    def add(self, picture: Picture, first_line: str, second_line: str) -> None:
        """Add a picture with two lines below it, unless it is one that is left out."""
        wanted = self._seen % self._every == 0
        self._seen += 1
        if not wanted:
            return
        self._thumbs.append(_Thumb(_small(_rgb(picture)), (first_line, second_line)))
        if len(self._thumbs) > LIMIT:
            del self._thumbs[1::2]
            self._every *= 2

    def image(self) -> NDArray[np.uint8] | None:
        """The sheet, (height, width, 3), about as high as it is wide; None without pictures."""
        if not self._thumbs:
            return None
        columns = min(len(self._thumbs), isqrt(len(self._thumbs) * _CELL[0] // _CELL[1]) + 1)
        rows = ceil(len(self._thumbs) / columns)
        shape = rows * _CELL[0] + _GAP, columns * _CELL[1] + _GAP, 3
        image = np.full(shape, _PAPER, np.uint8)
        for number, thumb in enumerate(self._thumbs):
            row, column = divmod(number, columns)
            _put(image[_GAP + row * _CELL[0] :, _GAP + column * _CELL[1] :], thumb)
        return image


def _put(corner: NDArray[np.uint8], thumb: _Thumb) -> None:
    """Draw a picture and its lines at the top left of a part of the sheet."""
    height, width = thumb.image.shape[:2]
    top, left = (THUMB_HEIGHT - height) // 2, (THUMB_WIDTH - width) // 2
    corner[top : top + height, left : left + width] = thumb.image
    for number, line in enumerate(thumb.lines):
        size = 2 if len(line) * 2 * ADVANCE <= THUMB_WIDTH else 1
        ink = lettered(line, size)[:, :THUMB_WIDTH]
        top = THUMB_HEIGHT + 2 + number * _LINE
        corner[top : top + ink.shape[0], : ink.shape[1]][ink] = _INK


def _rgb(picture: Picture) -> NDArray[np.uint8]:
    """uint8 (height, width, 3), without alpha; grey three times."""
    image = picture.image
    if image.dtype == np.uint16:
        image = (image >> 8).astype(np.uint8)
    return image[..., :3] if image.ndim == 3 else np.stack([image] * 3, axis=-1)


def _small(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Every block of k by k pixels as its average, rounded half up; blocks at the edge have what
    is there.  k is the smallest that makes the image fit.
    """
    height, width = image.shape[:2]
    k = max(1, ceil(height / THUMB_HEIGHT), ceil(width / THUMB_WIDTH))
    if k == 1:
        return image.copy()
    tops, lefts = np.arange(0, height, k), np.arange(0, width, k)
    rows = np.add.reduceat(image, tops, axis=0, dtype=np.uint32)
    total = np.add.reduceat(rows, lefts, axis=1, dtype=np.uint32)
    sizes = np.multiply.outer(np.diff(tops, append=height), np.diff(lefts, append=width))
    count = sizes.astype(np.uint32)[..., None]
    mean: NDArray[np.uint32] = (total + count // 2) // count
    return mean.astype(np.uint8)

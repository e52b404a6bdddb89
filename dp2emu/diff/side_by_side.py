"""Side-by-side pictures: two pictures and their difference."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dp2emu.argument_check import checked
from dp2emu.bitmap_font import HEIGHT, lettered
from dp2emu.diff.images import Pixels, differences, require_pixels

_GAP = 8
_SIZE = 2
_TITLE = HEIGHT * _SIZE + _GAP
_LETTERS = 60
"""Largest number of characters of a title in small letters.  Of a longer one the end is shown,
since file names differ there."""
_PAPER, _INK = 0x30, 0xE0
_FAINT = 4
"""Divisor that darkens the picture on which differences are drawn."""
_BEYOND = (255, 48, 48)
_WITHIN = (64, 160, 255)


@checked
def side_by_side(
    one: Pixels, other: Pixels, tolerance: int = 0, titles: tuple[str, str] = ("A", "B")
) -> NDArray[np.uint8]:
    """uint8 (height, width, 3): both pictures with ``titles``, and a panel of differences.

    That panel is the first picture darkened, with differing pixels red beyond ``tolerance``, else
    blue; pictures of different sizes have none.  Alpha is ignored.  Raises ArgumentError for
    arrays of another shape or dtype.
    """
    require_pixels(one, other)
    panels = [_titled(titles[0], one[..., :3]), _titled(titles[1], other[..., :3])]
    if one.shape[:2] == other.shape[:2]:
        apart = marked(one, differences(one, other), tolerance)
        panels.append(_titled("difference", apart))
    height = max(panel.shape[0] for panel in panels)
    width = sum(panel.shape[1] + _GAP for panel in panels)
    sheet = np.full((height + 2 * _GAP, width + _GAP, 3), _PAPER, np.uint8)
    left = _GAP
    for panel in panels:
        sheet[_GAP : _GAP + panel.shape[0], left : left + panel.shape[1]] = panel
        left += panel.shape[1] + _GAP
    return sheet


def _titled(title: str, image: Pixels) -> Pixels:
    """The picture below its title, which has small letters if it is wider than the picture."""
    ink = lettered(title, _SIZE)
    if ink.shape[1] > image.shape[1]:
        ink = lettered(title[-_LETTERS:])
    width = max(image.shape[1], ink.shape[1])
    panel = np.full((_TITLE + image.shape[0], width, 3), _PAPER, np.uint8)
    panel[: ink.shape[0], : ink.shape[1]][ink] = _INK
    panel[_TITLE:, : image.shape[1]] = image
    return panel


def marked(image: Pixels, apart: NDArray[np.uint8], tolerance: int = 0) -> NDArray[np.uint8]:
    """uint8 (height, width, 3): an image darkened, with marks where pixels differ.

    ``apart`` has the difference of each pixel: red beyond ``tolerance``, else blue if not 0.
    """
    dark = image[..., :3] // _FAINT
    dark[apart > 0] = _WITHIN
    dark[apart > tolerance] = _BEYOND
    return dark

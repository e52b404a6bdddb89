"""Contact sheets."""

from __future__ import annotations

from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dp2emu.d3d.enums import Format
from dp2emu.picture import Picture
from dp2emu.replay import pictures as sheet
from dp2emu.replay.pictures import LIMIT, THUMB_HEIGHT, THUMB_WIDTH, Sheet


def picture(image: np.ndarray) -> Picture:
    return Picture(Format.X8R8G8B8, 0, image)


def filled(value: int, height: int = 4, width: int = 8) -> Picture:
    return picture(np.full((height, width, 3), value, np.uint8))


def image_of(*pictures: Picture) -> np.ndarray:
    made = Sheet()
    for one in pictures:
        made.add(one, "frame 1 call 2", "surface 3")
    image = made.image()
    assert image is not None
    return image


def test_no_pictures_make_no_sheet() -> None:
    assert Sheet().image() is None


def test_the_same_pictures_give_the_same_sheet() -> None:
    pictures = [filled(value) for value in range(9)]
    assert (image_of(*pictures) == image_of(*pictures)).all()


@given(st.integers(1, 500), st.integers(1, 400), st.integers(0, 2**32 - 1))
@settings(max_examples=15)
def test_a_large_picture_shrinks_to_averages_of_blocks(width: int, height: int, seed: int) -> None:
    image = np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)
    small = sheet._small(image)
    k = max(1, -(-width // THUMB_WIDTH), -(-height // THUMB_HEIGHT))
    assert small.shape == (-(-height // k), -(-width // k), 3)
    for y, x in {(0, 0), (small.shape[0] - 1, small.shape[1] - 1)}:
        block = image[y * k : (y + 1) * k, x * k : (x + 1) * k].reshape(-1, 3).tolist()
        for channel in range(3):
            mean = Fraction(sum(pixel[channel] for pixel in block), len(block))
            assert small[y, x, channel] == floor(mean + Fraction(1, 2))


def test_small_pictures_keep_their_pixels() -> None:
    image = image_of(filled(200, 4, 8))
    assert np.count_nonzero((image == 200).all(axis=-1)) == 32


def test_alpha_is_left_out_and_grey_becomes_three_channels() -> None:
    rgba = picture(np.full((1, 1, 4), (1, 2, 3, 4), np.uint8))
    deep, grey = picture(np.full((1, 1), 0xABCD, np.uint16)), picture(np.full((1, 1), 7, np.uint8))
    for one, color in ((rgba, (1, 2, 3)), (deep, (0xAB,) * 3), (grey, (7,) * 3)):
        assert (image_of(one) == color).all(axis=-1).sum() == 1


def test_labels_are_below_their_picture() -> None:
    made = Sheet()
    made.add(filled(0), "frame 1", "")
    with_label = made.image()
    made = Sheet()
    made.add(filled(0), "", "")
    without = made.image()
    assert with_label is not None and without is not None
    rows = np.nonzero((with_label != without).any(axis=(1, 2)))[0]
    assert rows.min() >= THUMB_HEIGHT


@pytest.mark.parametrize("line", ["x" * 30, "x" * 100])
def test_a_long_label_stays_in_its_place(line: str) -> None:
    made = Sheet()
    made.add(filled(0), line, line)
    image = made.image()
    assert image is not None and (image[:, THUMB_WIDTH + 8 :] == 0x30).all()


def test_many_pictures_are_thinned_out_evenly() -> None:
    made = Sheet()
    for number in range(5 * LIMIT):
        made.add(filled(number % 256), f"{number}", "")
    shown = [int(thumb.lines[0]) for thumb in made._thumbs]
    assert LIMIT // 2 <= len(shown) <= LIMIT
    assert shown == list(range(0, 5 * LIMIT, shown[1]))
    image = made.image()
    assert image is not None and max(image.shape) < 5000

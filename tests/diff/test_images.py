"""Pictures against each other, in numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from dp2emu.diff import EXACT, Allowance, Comparison, Pixel, Region, compare_images
from dp2emu.diff.images import pixels_of, read_image
from dp2emu.errors import UsageError


def picture(width: int = 10, height: int = 8, lanes: int = 3):
    return np.full((height, width, lanes), 100, np.uint8)


def test_equal_pictures_do_not_differ() -> None:
    found = compare_images(picture(), picture())
    assert found == Comparison((10, 8), (10, 8), 0, 0)
    assert (found.share, found.across, found.within(EXACT)) == (100.0, 0, True)


def test_pixels_beyond_the_tolerance_are_counted_and_the_first_told() -> None:
    one, other = picture(), picture()
    other[2, 3] = 104, 100, 100
    other[5, 7] = 100, 95, 100
    other[5, 8] = 100, 100, 200
    found = compare_images(one, other, 4)
    assert (found.beyond, found.largest) == (2, 100)
    assert found.first == Pixel(7, 5, (100, 100, 100), (100, 95, 100))
    assert found.regions == (Region(7, 5, 9, 6, 2),)
    assert compare_images(one, other, 5).beyond == 1
    assert compare_images(one, other, 0).beyond == 3


@pytest.mark.parametrize("lane", range(4))
def test_every_channel_counts_in_both_directions(lane: int) -> None:
    one, other = picture(lanes=4), picture(lanes=4)
    other[0, 0, lane] = 0
    assert compare_images(one, other).largest == compare_images(other, one).largest == 100


def test_alpha_counts_only_if_both_have_it() -> None:
    one, other = picture(lanes=4), picture(lanes=3)
    one[..., 3] = 0
    assert compare_images(one, other).beyond == 0
    assert compare_images(one, picture(lanes=4)).beyond == 80


def test_sizes_that_differ_are_within_nothing() -> None:
    found = compare_images(picture(10, 8), picture(9, 8))
    assert (found.beyond, found.pixels, found.share) == (80, 80, 0.0)
    assert not found.within(Allowance(255, 0, None))
    assert (found.size, found.other_size) == ((10, 8), (9, 8))


@pytest.mark.parametrize(
    ("allowance", "within"),
    [
        (Allowance(0, 97.5, 2), True),
        (Allowance(0, 97.6, 2), False),
        (Allowance(0, 97.5, 1), False),
        (Allowance(0, 97.5, None), True),
        (Allowance(0, 0, 0), False),
        (EXACT, False),
    ],
)
def test_share_and_width_of_regions_are_allowed(allowance: Allowance, within: bool) -> None:
    one, other = picture(), picture()
    other[4, 4:6] = 0
    assert compare_images(one, other).within(allowance) is within


def test_only_the_widest_regions_are_told() -> None:
    one, other = picture(60, 1), picture(60, 1)
    other[0, ::2] = 0
    other[0, 40:45] = 0
    found = compare_images(one, other)
    assert found.regions[0] == Region(40, 0, 45, 1, 5) and found.across == 5
    assert (len(found.regions), found.region_count) == (10, 28)


@given(st.integers(0, 255), st.integers(0, 255), st.integers(0, 255))
def test_a_channel_is_beyond_when_its_difference_is(a: int, b: int, tolerance: int) -> None:
    one, other = np.full((1, 1, 3), a, np.uint8), np.full((1, 1, 3), b, np.uint8)
    found = compare_images(one, other, tolerance)
    assert (found.largest, found.beyond) == (abs(a - b), int(abs(a - b) > tolerance))


def test_numbers_are_given_for_json() -> None:
    one, other = picture(), picture()
    other[4, 4] = 0
    row = compare_images(one, other).row(EXACT)
    assert row["beyond"] == 1 and row["within"] is False and row["share"] == 98.75
    assert row["first"] == {"x": 4, "y": 4, "one": (100,) * 3, "other": (0,) * 3}
    assert row["regions"] == [[4, 4, 5, 5]]


@pytest.mark.parametrize(
    ("mode", "value", "expected"),
    [
        ("RGB", (1, 2, 3), [1, 2, 3]),
        ("RGBA", (1, 2, 3, 4), [1, 2, 3, 4]),
        ("L", 9, [9, 9, 9]),
        ("LA", (9, 5), [9, 9, 9, 5]),
        ("I;16", 0x1234, [0x12, 0x12, 0x12]),
        ("P", 0, [0, 0, 0]),
    ],
)
def test_files_of_every_mode_are_read(
    tmp_path: Path, mode: str, value: object, expected: list[int]
) -> None:
    path = tmp_path / "a.png"
    Image.new(mode, (2, 1), value).save(path)  # type: ignore[arg-type]
    assert read_image(path).tolist() == [[expected, expected]]


@pytest.mark.parametrize("size", [0, 5, 60])
def test_a_file_that_is_no_whole_picture_is_refused(tmp_path: Path, size: int) -> None:
    path = tmp_path / "a.png"
    Image.fromarray(np.random.default_rng(1).integers(0, 255, (20, 20, 3), np.uint8)).save(path)
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(UsageError, match="picture"):
        read_image(path)


def test_a_picture_too_large_to_hold_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Image.new("L", (30, 10)).save(tmp_path / "a.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 200)
    with pytest.raises(UsageError, match="too large"):
        read_image(tmp_path / "a.png")


def test_a_file_that_is_not_there_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_image(tmp_path / "a.png")


def test_grey_pictures_become_colours() -> None:
    assert pixels_of(np.array([[0x1234]], np.uint16)).tolist() == [[[0x12] * 3]]
    assert pixels_of(np.array([[7]], np.uint8)).tolist() == [[[7] * 3]]

"""Letters for labels."""

from __future__ import annotations

import string

import numpy as np
import pytest

from dp2emu.bitmap_font import ADVANCE, HEIGHT, lettered


def drawn(text: str) -> str:
    return "\n".join("".join(".#"[dot] for dot in row) for row in lettered(text).astype(int))


def test_letters_are_drawn_dot_by_dot() -> None:
    assert drawn("L1") == "#....#..\n#...##..\n#....#..\n#....#..\n###.###."


def test_every_digit_and_letter_looks_different() -> None:
    every = string.digits + string.ascii_uppercase + "-.,:_ "
    assert len({drawn(character) for character in every}) == len(every)
    assert drawn("é") not in {drawn(character) for character in every}


def test_small_letters_look_like_capitals() -> None:
    assert drawn("frame") == drawn("FRAME")


@pytest.mark.parametrize("size", [1, 2, 3])
def test_dots_grow_with_the_size(size: int) -> None:
    large = lettered("A7", size)
    assert large.shape == (HEIGHT * size, 2 * ADVANCE * size)
    assert (large[::size, ::size] == lettered("A7")).all()
    assert (large == np.kron(lettered("A7"), np.ones((size, size), bool))).all()


def test_no_text_has_no_width() -> None:
    assert lettered("", 2).shape == (10, 0)

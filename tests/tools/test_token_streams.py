"""Example captures of tokens that move memory: pictures and counts worked out by hand."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from dp2emu.capture import open_capture
from dp2emu.replay import Pictures, replay
from tests.tools.loading import ROOT, load_tool

load_tool("make_streams")
token_streams = load_tool("token_streams")

Color = tuple[int, ...]


def rgb(word: int) -> Color:
    return word >> 16 & 255, word >> 8 & 255, word & 255


RED, GREEN, BLUE, WHITE = (rgb(word) for word in token_streams.SHADES.values())
DARK = (0x20, 0x20, 0x20)


class Shown:
    """The picture at the end of a stream, and the answers to its queries."""

    def __init__(self, name: str, folder: Path) -> None:
        text = io.StringIO()
        with open_capture(ROOT / "streams" / f"{name}.dp2") as capture:
            replay(capture, document=text, pictures=Pictures(folder))
        document: dict[str, Any] = json.loads(text.getvalue())
        self.answers = [row["value"] for row in document["queries"]]
        with Image.open(folder / document["pictures"][-1]["file"]) as picture:
            self.picture = picture.convert("RGB")

    def __getitem__(self, at: tuple[int, int]) -> Color:
        found = self.picture.getpixel(at)
        assert isinstance(found, tuple)
        return found

    def square(self, left: int, top: int, size: int = 16) -> list[list[Color]]:
        return [[self[left + x, top + y] for x in range(size)] for y in range(size)]


@pytest.fixture
def shown(tmp_path: Path) -> Callable[[str], Shown]:
    return lambda name: Shown(name, tmp_path)


def nearest(value: Fraction) -> int:
    return int(value + Fraction(1, 2))


def quartered(size: int) -> list[list[Color]]:
    """The four shades in the corners of a square."""
    half = size // 2
    return [[((RED, GREEN), (BLUE, WHITE))[y // half][x // half] for x in range(size)]
            for y in range(size)]  # fmt: skip


def between(first: int, last: int, place: int) -> Fraction:
    """Of 16 pixels over two texels: 1/8 texel apart, as far as there is something between."""
    far = min(max(Fraction(2 * place + 1, 16) - Fraction(1, 2), Fraction(0)), Fraction(1))
    return first + (last - first) * far


def mixed(x: int, y: int) -> Color:
    rows = [[between(a, b, x) for a, b in zip(*pair, strict=True)]
            for pair in ((RED, GREEN), (BLUE, WHITE))]  # fmt: skip
    far = between(0, 1, y)
    return tuple(nearest(a + (b - a) * far) for a, b in zip(*rows, strict=True))


def in_565(color: Color) -> Color:
    """Through five and six bits, to the nearest value there and back."""
    tops = (31, 63, 31)
    codes = (nearest(Fraction(c * top, 255)) for c, top in zip(color, tops, strict=True))
    return tuple(nearest(Fraction(255 * code, top)) for code, top in zip(codes, tops, strict=True))


def test_moves_end_up_where_they_should(shown: Callable[[str], Shown]) -> None:
    found = shown("moves")
    quarters = quartered(16)
    assert found.square(0, 0) == quarters
    assert found.square(16, 0, 32) == quartered(32)
    assert found.square(48, 0) == [[mixed(x, y) for x in range(16)] for y in range(16)]
    assert found.square(0, 16) == [[(0x80, 0x80, 0x80)] * 16] * 16
    assert found.square(48, 16) == [[in_565(color) for color in row] for row in quarters]
    assert found.square(16, 32) == quarters
    assert found.square(32, 32) == [[WHITE] * 16] * 16
    corner = [[RED if x + y < 8 else DARK for x in range(8)] for y in range(8)]
    assert found.square(8, 32, 8) == corner
    assert found.answers == [2 * 16 * 16 + 36]


def word() -> set[tuple[int, int]]:
    """Pixels of the word, and of the bar without it."""
    text = {
        (4 + 8 * number + x, 2 + y)
        for number, glyph in enumerate(token_streams.GLYPHS.values())
        for y, row in enumerate(glyph.split(","))
        for x, mark in enumerate(row)
        if mark == "#"
    }
    bar = {(4 + x, 13 + y) for x in range(24) for y in range(7)}
    return text | (bar - {(x, y + 11) for x, y in text})


def test_glyphs_make_a_word_that_is_convolved(shown: Callable[[str], Shown]) -> None:
    found, bits = shown("glyphs"), word()
    for y in range(32):
        for x in range(32):
            around = sum((x + i, y + j) in bits for i in (-1, 0, 1) for j in (-1, 0, 1))
            assert found[x, y] == (255 * ((x, y) in bits),) * 3
            assert found[32 + x, 16 + y] == (nearest(Fraction(255 * around, 9)),) * 3


def test_palettes_are_those_of_the_draw(shown: Callable[[str], Shown]) -> None:
    found = shown("palettes")
    for index in range(16):
        x, y = 4 * (index % 4), 4 * (index // 4)
        color = (17 * index, 255 - 17 * index, 64)
        assert found.square(x, y, 4) == [[color] * 4] * 4
        later = (255, 255, 255) if index == 5 else color
        assert found.square(16 + x, y, 4) == [[later] * 4] * 4
    assert found.square(32, 0) == [[BLUE] * 16] * 16


def test_a_managed_texture_shows_what_was_uploaded(shown: Callable[[str], Shown]) -> None:
    found = shown("managed")
    assert found.square(0, 0) == [[RED] * 16] * 16
    assert found.square(16, 0) == [[GREEN] * 8 + [RED] * 8] * 16
    assert found.square(32, 0) == [[GREEN] * 16] * 16


def test_the_host_overtakes_the_second_blit(shown: Callable[[str], Shown]) -> None:
    found = shown("host_race")
    assert found.square(0, 0) == [[GREEN] * 16] * 16
    assert found.square(16, 0) == [[WHITE] * 16] * 16


def test_instances_take_places_and_every_third_a_colour(shown: Callable[[str], Shown]) -> None:
    found = shown("instances")
    for number in range(12):
        left, top = 16 * (number % 4), 16 * (number // 4)
        color = rgb(load_tool("filming").hue(number // 3 / 4))
        wanted = [[color if 2 <= x < 14 and 2 <= y < 14 else DARK for x in range(16)]
                  for y in range(16)]  # fmt: skip
        assert found.square(left, top) == wanted


def lit(found: Shown, number: int) -> int:
    """Pixels that are no background in a cell."""
    left, top = 16 * (number % 4), 16 * (number // 4)
    return sum(color != DARK for row in found.square(left, top) for color in row)


def test_every_early_draw_fills_its_cell(shown: Callable[[str], Shown]) -> None:
    """Corners of 8 x 8 as points, lines and squares; only the last line of a strip has its last
    pixel.
    """
    found = shown("early_draws")
    lines, strip, triangle, square = 2 * (8 + 1), 3 * 8 + 1, 7 * 8 // 2, 8 * 8
    drawn = [4, lines, strip, lines, lines, strip]
    wanted = [*drawn, *[square] * 5, triangle, square, lines, square]
    assert [lit(found, number) for number in range(16)] == [*wanted, 0]


def test_early_light_is_diffuse_and_what_it_leaves_emissive(shown: Callable[[str], Shown]) -> None:
    """1/2 = 1/2 * 1 = 1 * 1/2 = 1/4 + 1 * 1/4 of 255, and 1/4 where the light is off."""
    found = shown("early_light")
    row = [(128, 128, 128)] * 32 + [(0, 0, 64)] * 16 + [DARK] * 16
    assert [[found[x, y] for x in range(64)] for y in range(32)] == [row] * 32

"""Compression: whatever comes out must be the nearest that its endpoints allow."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.d3d.block_formats import COMPRESSED, compress
from dp2emu.d3d.enums import Format
from dp2emu.shader.texture.texels import decode

FORMATS = sorted(COMPRESSED)


@pytest.mark.parametrize("format", FORMATS)
@given(color=st.tuples(*[st.integers(0, 255)] * 3))
def test_one_colour_comes_back_within_its_bits(format: Format, color: tuple[int, ...]) -> None:
    picture = np.full((4, 4, 4), (*color, 255), np.uint8)
    back = decode(format, compress(format, picture).reshape(-1), 4, 4).astype(int)
    assert np.abs(back - picture).max() <= 4


@pytest.mark.parametrize("format", FORMATS)
def test_two_colours_of_the_format_come_back(format: Format) -> None:
    picture = np.zeros((4, 4, 4), np.uint8)
    picture[..., 3] = 255
    picture[1, 2] = (255, 0, 0, 255)
    assert (decode(format, compress(format, picture).reshape(-1), 4, 4) == picture).all()


def test_transparent_texels_of_dxt1_are_transparent() -> None:
    picture = np.full((4, 4, 4), 255, np.uint8)
    picture[0, 0] = 0
    back = decode(Format.DXT1, compress(Format.DXT1, picture).reshape(-1), 4, 4)
    assert (back == picture).all()


@pytest.mark.parametrize(("format", "step"), [(Format.DXT3, 17), (Format.DXT5, 51)])
def test_alphas(format: Format, step: int) -> None:
    picture = np.zeros((4, 4, 4), np.uint8)
    picture[..., 3] = np.array([[0, step, 255, 255]] * 4)
    back = decode(format, compress(format, picture).reshape(-1), 4, 4)
    assert np.abs(back[..., 3].astype(int) - picture[..., 3]).max() <= 18


@pytest.mark.parametrize("format", FORMATS)
def test_odd_sides_are_filled_up(format: Format) -> None:
    blocks = compress(format, np.zeros((5, 3, 4), np.uint8))
    assert blocks.shape == (2, 1, 8 if format is Format.DXT1 else 16)

"""sRGB codes and dithering on the way to a target."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.d3d.enums import Blend
from dp2emu.shader.fixed.blend import BlendEquation, BlendState
from dp2emu.shader.fixed.output import TargetOutput, output_program
from dp2emu.shader.reference import run

BAYER = ((0, 8, 2, 10), (12, 4, 14, 6), (3, 11, 1, 9), (15, 7, 13, 5))


def linear(code: int) -> Decimal:
    c = Decimal(code) / 255
    if c <= Decimal("0.04045"):
        return c / Decimal("12.92")
    return ((c + Decimal("0.055")) / Decimal("1.055")) ** Decimal("2.4")


LINEAR = np.array([float(linear(code)) for code in range(256)], np.float32)


def encoded(c: float) -> float:
    if c <= 0.0031308:
        return 12.92 * c
    return 1.055 * c ** (1 / 2.4) - 0.055


def outputs(
    output: TargetOutput,
    source: list[np.ndarray],
    destination: list[np.ndarray] | None = None,
    pixel: list[np.ndarray] | None = None,
) -> list[np.ndarray]:
    inputs = {}
    for name, lanes in (("source", source), ("destination", destination), ("vpos", pixel)):
        for component, lane in zip("xyzw", lanes or [], strict=False):
            inputs[f"{name}.{component}"] = lane.astype(np.float32)
    uniforms = {"blend": np.zeros(4, np.float32), "linear": LINEAR}
    found = run(output_program(output), inputs, uniforms, len(source[0])).outputs
    return [found[f"result.{component}"] for component in "xyzw"]


SRGB = TargetOutput(srgb=True)
ZEROS = np.zeros(256)


def test_plain_is_what_packing_does_alone() -> None:
    assert TargetOutput().plain
    assert TargetOutput(clamped=False).plain
    assert not SRGB.plain
    assert not TargetOutput(dither=(0, 63, 0)).plain
    assert not TargetOutput(BlendState(BlendEquation(), BlendEquation())).plain


def test_colours_become_srgb_codes_and_alpha_does_not() -> None:
    ramp = np.linspace(0, 1, 256).astype(np.float32)
    red, green, blue, alpha = outputs(SRGB, [ramp, ramp[::-1], ramp, ramp])
    wanted = np.array([encoded(float(c)) for c in ramp])
    assert np.abs(red - wanted).max() < 1e-6
    assert np.abs(green - wanted[::-1]).max() < 1e-6
    assert np.abs(blue - wanted).max() < 1e-6
    assert (alpha == ramp).all()


def test_the_two_pieces_of_the_curve_meet_where_they_should() -> None:
    places = np.array([0.0, 0.0031, 0.0031308, 0.0032, 1.0, 2.0, -1.0, np.nan])
    found = outputs(SRGB, [places] * 4)[0]
    wanted = [encoded(float(c)) for c in (*places[:5], 1.0, 0.0, 0.0)]
    assert np.abs(found - wanted).max() < 1e-6


def test_every_code_survives_blending_in_linear_light() -> None:
    keep = BlendEquation(Blend.ZERO, Blend.ONE)
    codes = np.arange(256, dtype=np.float32) / np.float32(255)
    found = outputs(TargetOutput(BlendState(keep, keep), srgb=True), [ZEROS] * 4, [codes] * 4)
    for lane in found:
        assert np.floor(lane.astype(np.float64) * 255 + 0.5).tolist() == list(range(256))


def test_blending_adds_light_not_codes() -> None:
    add = BlendEquation(Blend.ONE, Blend.ONE)
    source, stored = np.full(1, 0.25), np.full(1, 100 / 255)
    red, *_, alpha = outputs(
        TargetOutput(BlendState(add, add), srgb=True), [source] * 4, [stored] * 4
    )
    assert abs(float(red[0]) - encoded(0.25 + float(linear(100)))) < 1e-6
    assert float(alpha[0]) == float(np.float32(0.25) + np.float32(100 / 255))


def stored(value: np.ndarray, top: int) -> list[int]:
    clamped = np.clip(value.astype(np.float64), 0, 1)
    return np.floor(clamped * top + 0.5).astype(int).tolist()


@pytest.mark.parametrize("place", range(3))
def test_dithering_rounds_up_where_the_matrix_says(place: int) -> None:
    y, x = np.mgrid[0:8, 0:8].reshape(2, -1) + 16
    tops = tuple(31 if n == place else 0 for n in range(3))
    for sixteenths in range(0, 17, 2):
        value = np.full(64, (7 + sixteenths / 16) / 31)
        found = outputs(TargetOutput(dither=tops), [value] * 4, pixel=[x, y])  # type: ignore[arg-type]
        wanted = [
            int(np.floor(7 + sixteenths / 16 + (2 * BAYER[row % 4][column % 4] + 1) / 32))
            for column, row in zip(x, y, strict=True)
        ]
        assert stored(found[place], 31) == wanted
        others = [lane for n, lane in enumerate(found) if n != place]
        assert all((lane == value.astype(np.float32)).all() for lane in others)


@given(st.sampled_from([1, 3, 7, 15, 31, 63]), st.integers(0, 15), st.integers(0, 15))
def test_what_a_channel_can_hold_is_not_changed_by_dithering(top: int, x: int, y: int) -> None:
    codes = np.arange(top + 1)
    place = [np.full(top + 1, x), np.full(top + 1, y)]
    found = outputs(TargetOutput(dither=(top, top, top)), [codes / top] * 4, pixel=place)
    for lane in found:
        assert stored(lane, top) == codes.tolist()


def test_dithering_follows_blending() -> None:
    add = BlendEquation(Blend.ONE, Blend.ONE)
    half = np.full(16, 7.25 / 31)
    y, x = np.mgrid[0:4, 0:4].reshape(2, -1)
    output = TargetOutput(BlendState(add, add), dither=(31, 31, 31))
    found = outputs(output, [half] * 4, [half] * 4, [x, y])
    wanted = [
        int(np.floor(14.5 + (2 * BAYER[row][column] + 1) / 32))
        for column, row in zip(x, y, strict=True)
    ]
    assert stored(found[0], 31) == wanted

"""Output states as records, and what they refuse."""

from __future__ import annotations

import pytest

from dp2emu.d3d.enums import Blend, BlendOp, CmpFunc, RenderState, StencilOp
from dp2emu.dp2.resolve.pipeline import (
    alpha_test,
    alpha_to_coverage,
    blend_state,
    merge_numbers,
    stencil_state,
)
from dp2emu.dp2.states.raw_state import State
from dp2emu.errors import Fault
from dp2emu.gpu.command.pipeline import StencilFace, StencilState
from dp2emu.shader.fixed.blend import BlendEquation, BlendState
from tests.dp2.screen import Screen, code

DESTINATIONS = [b for b in Blend if b not in (12, 13)]


def states(**values: int) -> list[int]:
    words = State(has_depth=True).render_states
    for name, value in values.items():
        words[RenderState[name]] = value
    return words


def test_without_blending_the_factors_may_be_anything() -> None:
    assert blend_state(states(SRCBLEND=77, BLENDOP=0)) is None


@pytest.mark.parametrize("destination", DESTINATIONS)
@pytest.mark.parametrize("operation", list(BlendOp))
def test_one_equation_serves_colour_and_alpha(destination: Blend, operation: BlendOp) -> None:
    equation = BlendEquation(Blend.SRCCOLOR, destination, operation)
    words = states(ALPHABLENDENABLE=1, SRCBLEND=3, DESTBLEND=destination, BLENDOP=operation,
                   SRCBLENDALPHA=9)  # fmt: skip
    assert blend_state(words) == BlendState(equation, equation)


def test_alpha_can_have_its_own() -> None:
    words = states(ALPHABLENDENABLE=1, SEPARATEALPHABLENDENABLE=1, SRCBLEND=5, DESTBLEND=6,
                   SRCBLENDALPHA=2, DESTBLENDALPHA=7, BLENDOPALPHA=5)  # fmt: skip
    assert blend_state(words) == BlendState(
        BlendEquation(Blend.SRCALPHA, Blend.INVSRCALPHA),
        BlendEquation(Blend.ONE, Blend.DESTALPHA, BlendOp.MAX),
    )


@pytest.mark.parametrize(
    ("both", "source", "destination"),
    [
        (Blend.BOTHSRCALPHA, Blend.SRCALPHA, Blend.INVSRCALPHA),
        (Blend.BOTHINVSRCALPHA, Blend.INVSRCALPHA, Blend.SRCALPHA),
    ],
)
def test_a_source_factor_that_says_both_overrides_the_destination(
    both: Blend, source: Blend, destination: Blend
) -> None:
    wanted = BlendEquation(source, destination)
    for other in (Blend.ONE, Blend.BOTHSRCALPHA, 99):
        words = states(ALPHABLENDENABLE=1, SRCBLEND=both, DESTBLEND=other)
        assert blend_state(words) == BlendState(wanted, wanted)


@pytest.mark.parametrize(
    "values",
    [
        {"SRCBLEND": 0},
        {"SRCBLEND": 18},
        {"DESTBLEND": 12},
        {"DESTBLEND": 13},
        {"BLENDOP": 6},
        {"SEPARATEALPHABLENDENABLE": 1, "DESTBLENDALPHA": 0},
    ],
)
def test_values_that_mean_nothing_are_refused(values: dict[str, int]) -> None:
    with pytest.raises(Fault, match=next(reversed(values))):
        blend_state(states(ALPHABLENDENABLE=1, **values))


@pytest.mark.parametrize("name", ["SRCBLEND", "DESTBLEND"])
@pytest.mark.parametrize("factor", [Blend.SRCCOLOR2, Blend.INVSRCCOLOR2])
def test_factors_may_be_made_of_a_second_source_colour(name: str, factor: Blend) -> None:
    found = blend_state(states(ALPHABLENDENABLE=1, **{name: factor}))
    assert found is not None and found.second
    plain = blend_state(states(ALPHABLENDENABLE=1))
    assert plain is not None and not plain.second


def test_the_blend_factor_is_white_until_it_is_set() -> None:
    assert merge_numbers(states(), 9).blend_factor == 0xFFFFFFFF
    assert merge_numbers(states(BLENDFACTOR=0x12345678), 9).blend_factor == 0x12345678


@pytest.mark.parametrize("func", list(CmpFunc))
def test_the_alpha_test_is_a_comparison_unless_it_passes_always(func: CmpFunc) -> None:
    wanted = None if func is CmpFunc.ALWAYS else func
    assert alpha_test(states(ALPHATESTENABLE=1, ALPHAFUNC=func)) is wanted
    assert alpha_test(states(ALPHAFUNC=func)) is None


def test_of_the_alpha_reference_eight_bits_count() -> None:
    assert merge_numbers(states(ALPHAREF=0xFFFFFF80), 9).alpha_reference == 0x80


def test_stencil_states_are_those_of_both_faces_until_there_are_two_sides() -> None:
    values = {"STENCILENABLE": 1, "STENCILFUNC": 2, "STENCILFAIL": 3, "STENCILZFAIL": 4,
              "STENCILPASS": 5, "CCW_STENCILFUNC": 6, "CCW_STENCILFAIL": 7,
              "CCW_STENCILZFAIL": 8, "CCW_STENCILPASS": 1}  # fmt: skip
    front = StencilFace(CmpFunc.LESS, StencilOp.REPLACE, StencilOp.INCRSAT, StencilOp.DECRSAT)
    back = StencilFace(CmpFunc.NOTEQUAL, StencilOp.INCR, StencilOp.DECR, StencilOp.KEEP)
    assert stencil_state(states(**values)) == StencilState(front)
    assert stencil_state(states(**values, TWOSIDEDSTENCILMODE=1)) == StencilState(front, back)
    assert stencil_state(states(**values | {"STENCILENABLE": 0})) is None


@pytest.mark.parametrize(
    "name", ["STENCILFUNC", "STENCILFAIL", "STENCILZFAIL", "STENCILPASS", "CCW_STENCILFAIL"]
)
def test_stencil_states_that_mean_nothing_are_refused(name: str) -> None:
    with pytest.raises(Fault, match=name):
        stencil_state(states(STENCILENABLE=1, TWOSIDEDSTENCILMODE=1, **{name: 0}))


def test_an_alpha_comparison_that_means_nothing_is_refused() -> None:
    with pytest.raises(Fault, match="ALPHAFUNC"):
        alpha_test(states(ALPHATESTENABLE=1, ALPHAFUNC=9))


def test_stencil_numbers_are_those_of_the_states() -> None:
    numbers = merge_numbers(states(STENCILREF=1, STENCILMASK=2, STENCILWRITEMASK=3), 9)
    found = numbers.stencil_reference, numbers.stencil_mask, numbers.stencil_write_mask
    assert found == (1, 2, 3)


@pytest.mark.parametrize(("state", "on", "off"), [
    ("POINTSIZE", b"A2M1", b"A2M0"), ("ADAPTIVETESS_Y", b"ATOC", b"SSAA"),
])  # fmt: skip
def test_alpha_to_coverage_hides_behind_codes(state: str, on: bytes, off: bytes) -> None:
    assert not alpha_to_coverage(states())
    for letters, expected in ((on, True), (off, False)):
        value = int.from_bytes(letters, "little")
        assert alpha_to_coverage(states(**{state: value})) is expected


def test_a_shader_brings_both_colours_of_a_blend() -> None:
    screen = Screen()
    text = "ps_2_0\ndef c0, 0.2, 0.4, 0, 1\ndef c1, 1, 0, 0.6, 0\nmov oC0, c0\nmov oC1, c1\n"
    screen.device.set_pixel_shader(screen.device.create_pixel_shader(code(text)))
    screen.device.clear(color=0xFF330066)
    screen.device.set_render_state(RenderState.ALPHABLENDENABLE, 1)
    screen.device.set_render_state(RenderState.SRCBLEND, Blend.INVSRCCOLOR2)
    screen.device.set_render_state(RenderState.DESTBLEND, Blend.SRCCOLOR2)
    # Red: 0.2 x (1 - 1) + 0.2 x 1; green: 0.4 x 1; blue: 0.4 x 0.6.
    assert screen.draw() & 0xFFFFFF == 0x33663D

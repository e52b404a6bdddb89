"""Output states as records, and what they refuse."""

from __future__ import annotations

import pytest

from dp2emu.d3d.enums import Blend, BlendOp, RenderState
from dp2emu.dp2.output import blend_state, merge_numbers
from dp2emu.dp2.state import State
from dp2emu.errors import Fault, Unsupported
from dp2emu.gpu.state import BlendEquation, BlendState

DESTINATIONS = [b for b in Blend if b not in (12, 13, 16, 17)]


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
def test_a_second_source_colour_is_not_built(name: str, factor: Blend) -> None:
    with pytest.raises(Unsupported, match="second source colour"):
        blend_state(states(ALPHABLENDENABLE=1, **{name: factor}))


def test_the_blend_factor_is_white_until_it_is_set() -> None:
    assert merge_numbers(states()).blend_factor == 0xFFFFFFFF
    assert merge_numbers(states(BLENDFACTOR=0x12345678)).blend_factor == 0x12345678

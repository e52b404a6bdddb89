"""Causes of failures: a rig with one mistake has one cause, however many cases fail."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dp2emu.conform import Outcome, Verdict, kit, run_kit
from dp2emu.conform.causes import RULES, Cause, causes
from dp2emu.conform.emulated import Words
from dp2emu.conform.evidence import Part, WrongMemory, WrongPayload, WrongResult
from dp2emu.conform.features import features
from dp2emu.conform.picture_errors import (
    SeenPicture,
    channel_swaps,
    lost_channels,
    missing_or_extra,
    one_colour,
    seen_pictures,
    shifts,
    uniform,
)
from dp2emu.conform.report import summary
from dp2emu.conform.symptoms import symptom
from dp2emu.conform.target import TARGET
from tests.conform.mistakes import (
    Blind,
    Crashing,
    Emulator,
    HalfPixel,
    NoStateBlocks,
    OppositeCulling,
    RedIsBlue,
)

DRAWN = "draw.coverage", "draw.trianglelist", "draw.cull"
PICTURES = "line.right", "alphatest.equal", "mask.red", "mask.blue", "texture.format.a"
BOTH = pytest.mark.parametrize("ddi", [9, 7])


def ran(rig: Emulator, ddi: int, *prefixes: str) -> list[Outcome]:
    return list(run_kit(kit(*prefixes, ddi=ddi), rig))


def failed(outcomes: list[Outcome]) -> list[str]:
    return [outcome.case.name for outcome in outcomes if outcome.verdict is Verdict.FAILED]


def caused(outcomes: list[Outcome]) -> tuple[Cause, ...]:
    """The causes of outcomes, of which every failed case must be in exactly one."""
    found = causes(outcomes)
    assert sorted(name for cause in found for name in cause.names) == sorted(failed(outcomes))
    return found


@BOTH
def test_vertices_half_a_pixel_off_are_one_cause(ddi: int) -> None:
    outcomes = ran(HalfPixel(), ddi, *DRAWN, *PICTURES, "coverage")
    (cause,) = caused(outcomes)
    assert cause.rule == "coverage" and "moved by (0.5, 0.5) pixels" in cause.what
    families = {name.rpartition(".")[0] for name in cause.cases}
    assert families == {"draw.coverage", "coverage.centre", "coverage.edge"}
    assert {"draw.trianglelist.0", "line.right", "alphatest.equal"} <= {*cause.consequences}
    told = f"{len(cause.names)} failed ({len(cause.consequences)} of them as a consequence), "
    assert told in summary(outcomes)


@BOTH
def test_red_and_blue_exchanged_are_one_cause(ddi: int) -> None:
    (cause,) = caused(ran(RedIsBlue(), ddi, "coverage", *DRAWN, *PICTURES))
    assert (cause.rule, cause.what) == (
        "colours", "colours: the channels ARGB are in the order ABGR",
    )  # fmt: skip
    assert {"coverage.inside.box", "coverage.edge.left"} <= {*cause.cases}
    assert {"line.right", "alphatest.equal"} <= {*cause.consequences}


@BOTH
def test_opposite_culling_is_one_cause_with_the_state_that_its_cases_share(ddi: int) -> None:
    (cause,) = caused(ran(OppositeCulling(), ddi, *DRAWN, "state.block"))
    assert cause.rule == "shared"
    assert cause.what.endswith("D3DRS_CULLMODE D3DCULL_CCW, D3DCULL_CW")


@BOTH
def test_a_refused_token_is_one_cause(ddi: int) -> None:
    (cause,) = caused(ran(NoStateBlocks(), ddi, "state", "walk.none.state", "draw.cull"))
    assert cause.what == "D3DDP2OP_STATESET is refused: D3DERR_COMMAND_UNPARSED"
    assert len(cause.cases) == 4


def test_crashes_that_differ_in_numbers_are_one_cause() -> None:
    outcomes = ran(Crashing(), 9, "draw.trianglefan_imm", "draw.none")
    (cause,) = caused(outcomes)
    assert cause.what.startswith(
        "crash: SIGSEGV in call N, against the rule: the vertices of an _"
    )
    assert cause.cases == ("draw.trianglefan_imm.aligned", "draw.trianglefan_imm.unaligned")


def test_triangles_that_are_not_drawn_are_one_cause() -> None:
    (cause,) = caused(
        ran(Blind(), 9, "draw.coverage", "draw.trianglelist", "mask", "blend.source")
    )
    assert cause.what == "nothing is drawn"


class Several(OppositeCulling, NoStateBlocks, HalfPixel):
    """Three mistakes."""


class ShiftedColours(HalfPixel, RedIsBlue):
    """Two mistakes, which both are in every picture."""


def test_several_mistakes_are_as_many_causes() -> None:
    found = caused(ran(Several(), 9, *DRAWN, "line.right", "state"))
    assert [cause.rule for cause in found] == ["coverage", "shared", "shared"]


def test_beside_wrong_coverage_pictures_are_judged_inside_of_primitives() -> None:
    found = caused(ran(ShiftedColours(), 9, *DRAWN, "alphatest.equal", "mask.red", "depth.less"))
    assert [cause.rule for cause in found] == ["coverage", "shared"]
    assert found[1].what == "the channels ARGB are in the order ABGR"


def test_the_same_outcomes_have_the_same_causes() -> None:
    outcomes = ran(Several(), 9, "draw.cull", "state")
    assert causes(outcomes) == causes(iter(outcomes))
    assert causes(ran(Emulator(), 9, "draw.cull", "mask.red")) == ()


def test_reasons_that_differ_in_numbers_and_tokens_are_one_cause() -> None:
    one, other, third = kit("query.order", "error.context", wild=True)
    found = causes([
        Outcome(one, Verdict.FAILED, "call 1: query 5 is answered before 3, D3DDP2OP_CLEAR"),
        Outcome(other, Verdict.FAILED, "call 12: query 7 is answered before 1, D3DDP2OP_ZRANGE"),
        Outcome(third, Verdict.FAILED, "call 1: query 5 is late"),
    ])  # fmt: skip
    assert [(cause.what, cause.cases) for cause in found] == [
        ("query N is answered before N, a token", (one.name, other.name)),
        (f"query 5 is late, against the rule: {third.rule}", (third.name,)),
    ]


def test_other_symptoms_of_a_broken_rule_of_a_token_are_the_same_cause() -> None:
    cases = kit("walk.cut.settransform.7", "walk.cut.setmaterial.7")
    found = causes([
        Outcome(case, Verdict.FAILED, f"it is {word}")
        for case, word in zip(cases, ("early", "late", "lost", "odd"), strict=True)
    ])  # fmt: skip
    assert sorted(cause.cases for cause in found) == [
        ("walk.cut.setmaterial.70", "walk.cut.setmaterial.71"),
        ("walk.cut.settransform.70", "walk.cut.settransform.71"),
    ]


def test_a_target_of_zeros_is_not_drawn() -> None:
    (case,) = kit("target.written")
    back = Part(TARGET, 0, bytes(64), struct.pack("<I", BACK) * 16)
    lost = Outcome(case, Verdict.FAILED, evidence=WrongMemory((back,)))
    assert symptom(lost) == "nothing is drawn"


def test_rules_have_names_and_say_what_they_group() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)
    assert all(rule.says.endswith(".") for rule in RULES)


# Evidence


def only(outcomes: list[Outcome]) -> Outcome:
    (outcome,) = outcomes
    assert outcome.verdict is Verdict.FAILED
    return outcome


def test_a_failed_case_keeps_all_wrong_pixels() -> None:
    outcome = only(ran(HalfPixel(), 9, "mask.red"))
    assert isinstance(outcome.evidence, WrongMemory)
    (picture,) = seen_pictures(outcome.case, outcome.evidence)
    # A box of 4 x 3 pixels that is drawn one pixel off: six are missing, six are too many.
    assert picture.known.all() and picture.wrong.sum() == 12 and "and 11 more" in outcome.why


def test_a_failed_case_keeps_results_and_payloads() -> None:
    refused = only(ran(NoStateBlocks(), 9, "state.block.recorded")).evidence
    assert isinstance(refused, WrongResult)
    assert (refused.call, refused.found_text, refused.expected_text) == (
        1, "D3DERR_COMMAND_UNPARSED, dwErrorOffset 36", "D3D_OK",
    )  # fmt: skip
    counted = only(ran(OppositeCulling(), 9, "draw.cull.ccw")).evidence
    assert isinstance(counted, WrongPayload)
    assert (counted.found_text, counted.expected_text) == (
        "00000000 (0 pixels)", "14000000 (20 pixels)",
    )  # fmt: skip


# Features


def test_states_are_features_of_a_case_if_they_are_set_when_it_draws() -> None:
    (recorded,) = kit("state.block.recorded")
    (executed,) = kit("state.block.executed")
    culled = ("D3DRS_CULLMODE", "D3DCULL_CW")
    assert culled in features(executed) and culled not in features(recorded)
    assert ("primitive type", "D3DPT_TRIANGLEFAN") in features(
        kit("draw.drawprimitive.trianglef")[0]
    )
    assert ("texture format", "D3DFMT_L8") in features(kit("texture.format.l8")[0])
    assert ("a depth surface", "") in features(kit("depth.less")[0])


# Errors of pictures

BACK, RED, BLUE = 0xFF000000, 0xFFFF0000, 0xFF0000FF


def target(*boxes: tuple[int, int, int, int]) -> Words:
    """A picture of 12 x 8 pixels with boxes: left, top, size, colour."""
    words = np.full((8, 12), BACK, np.uint32)
    for left, top, size, color in boxes:
        words[top : top + size, left : left + size] = color
    return words


@pytest.mark.parametrize(
    ("explainer", "expected", "found", "what"),
    [
        (shifts, target((2, 2, 3, RED)), target((3, 1, 3, RED)), "shifted by (1, -1)"),
        (channel_swaps, target((2, 2, 3, RED)), target((2, 2, 3, BLUE)), "ARGB are in the order"),
        (lost_channels, target((2, 2, 3, RED)), target((2, 2, 3, BACK)), "R are always 0"),
        (uniform, target((2, 2, 3, RED)), target(), "all pixels have one colour"),
        (missing_or_extra, target((2, 2, 3, RED)), target((2, 2, 2, RED)), "pixels are missing"),
        (missing_or_extra, target((2, 2, 2, RED)), target((2, 2, 3, RED)), "should not be"),
        (one_colour, target((1, 1, 3, RED), (6, 1, 3, BLUE)),
         target((1, 1, 3, RED), (6, 1, 3, RED)), "FFFF0000 is drawn instead of FF0000FF"),
    ],
)  # fmt: skip
def test_an_error_of_a_picture_is_named_and_a_right_picture_has_none(
    explainer: Callable[[SeenPicture], Any], expected: Words, found: Words, what: str
) -> None:
    known = np.ones(expected.shape, bool)
    assert any(what in each for each in explainer(SeenPicture(2, found, expected, known)))
    other = target((1, 1, 3, RED), (6, 1, 3, 0xFF123456))
    assert not [*explainer(SeenPicture(2, other, target((4, 2, 4, 0xFF654321)), known))]


def test_inside_is_a_pixel_away_from_edges_of_primitives_and_of_the_picture() -> None:
    words = target((2, 2, 4, RED))
    picture = SeenPicture(2, words, words, np.ones(words.shape, bool))
    inside = {(x, y) for y, x in np.argwhere(picture.inside & (words == RED)).tolist()}
    assert inside == {(3, 3), (4, 3), (3, 4), (4, 4)}
    assert not picture.inside[0].any() and picture.inside[1, 8:11].all()

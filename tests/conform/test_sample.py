"""The sample driver has depth and textures, and announces them: cases of both run on it."""

from __future__ import annotations

from collections import Counter

import pytest

from dp2emu.conform import Outcome, Verdict, kit, run_kit
from dp2emu.rig.capabilities import capabilities_of
from dp2emu.rig.served import PipeRig
from tests.native.building import served_sample

VERSIONS = (6, 7, 8, 9)
SOME = [6, *(pytest.param(ddi, marks=pytest.mark.slow) for ddi in (7, 8)), 9]
PICTURES = ("depth", "texture")


def of(outcomes: list[Outcome], *verdicts: Verdict) -> set[str]:
    return {outcome.case.name for outcome in outcomes if outcome.verdict in verdicts}


def ran(ddi: int, *bugs: str, announces: bool = False, names: tuple[str, ...]) -> list[Outcome]:
    with PipeRig(str(served_sample(*bugs, ddi=ddi, announces=announces))) as rig:
        told = capabilities_of(rig, ddi) if announces else None
        return list(run_kit(kit(*names, ddi=ddi, capabilities=told), rig, ddi))


@pytest.mark.parametrize("ddi", SOME)
def test_cases_of_depth_and_textures_run_on_the_driver_of_each_version(ddi: int) -> None:
    outcomes = ran(ddi, names=PICTURES)
    assert of(outcomes, Verdict.PASSED) == {outcome.case.name for outcome in outcomes}
    families = Counter(outcome.case.name.partition(".")[0] for outcome in outcomes)
    assert families["depth"] > 10 and families["texture"] > 18


MISTAKES = {
    "DEPTH_EQUAL": ("depth.equal",),
    "DEPTH_ALWAYS_WRITTEN": ("depth.not_written",),
    "MIRROR_WRAPS": ("texture.address.mirror",),
    "ADDSMOOTH_TWICE": ("texture.stage.addsmooth",),
}


@pytest.mark.parametrize(("bug", "ddi"), list(zip(MISTAKES, VERSIONS, strict=True)))
def test_a_mistake_in_depth_or_textures_fails_its_case_alone(bug: str, ddi: int) -> None:
    assert of(ran(ddi, bug, names=PICTURES), Verdict.FAILED) == set(MISTAKES[bug])


@pytest.mark.parametrize("ddi", SOME)
def test_what_the_driver_of_each_version_announces_works(ddi: int) -> None:
    outcomes = ran(ddi, announces=True, names=("announced", *PICTURES))
    assert of(outcomes, Verdict.FAILED, Verdict.WARNED, Verdict.SKIPPED) == set()
    names = of(outcomes, Verdict.PASSED)
    assert {"announced.texture.r5g6b5", "announced.texture.l8", "announced.depth.d16"} <= names
    assert "announced.state.colorop.addsmooth" in names


OLD = {
    "announced.texture.dxt1", "announced.texture.p8", "announced.texture.v8u8",
    "announced.depth.d24s8", "announced.target.r5g6b5",
}  # fmt: skip
NEW = OLD - {"announced.target.r5g6b5"} | {"announced.stencil.d24s8", "announced.target.r3g3b2"}


@pytest.mark.parametrize(("ddi", "wrong"), [(6, OLD), (9, NEW)])
def test_a_driver_that_announces_more_than_it_draws_fails_for_each(
    ddi: int, wrong: set[str]
) -> None:
    names = "announced.texture", "announced.target", "announced.depth", "announced.stencil"
    failed = of(ran(ddi, "ANNOUNCES_MORE", announces=True, names=names), Verdict.FAILED)
    assert wrong <= failed
    assert not {"announced.texture.r5g6b5", "announced.depth.d16"} & failed

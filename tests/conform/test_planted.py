"""Mistakes planted in the sample driver: at each version of the driver that can show one, the kit
fails the cases of its cause and no others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from typing import NamedTuple

import pytest

from dp2emu.conform import Case, Outcome, Verdict, kit, run_kit
from dp2emu.conform.causes import causes
from dp2emu.rig.capabilities import capabilities_of
from dp2emu.rig.served import NativeDriver, PipeRig
from tests.conform.mistakes import DOUBTED, SAID
from tests.native.building import LAYOUTS, sample, served_sample

VERSIONS = (6, 7, 8, 9)
WRONG = {Verdict.FAILED, Verdict.WARNED}
Cases = tuple[Case, ...]


class Mistake(NamedTuple):
    """What a mistake fails in drivers from version ``since`` on: the cases that ``cases`` match.

    All of them if it is ``exact``, at least one of them otherwise.  If it is ``announced``, only
    drivers that announce their capabilities break a rule by it.  At version 6 it fails ``in_6``,
    too, where pixels show what queries and clears show later.
    """

    cases: tuple[str, ...]
    since: int = 6
    exact: bool = True
    announced: bool = False
    in_6: tuple[str, ...] = ()

    def at(self, ddi: int) -> tuple[str, ...]:
        """The patterns of the cases that fail at a version."""
        return self.cases + (self.in_6 if ddi == min(VERSIONS) else ())


def some(*cases: str, since: int = 6) -> Mistake:
    """A mistake in what many cases need."""
    return Mistake(cases, since, exact=False)


_TRIANGLES = (
    "coverage.*", "draw.*", "indices.*", "alphatest.*", "blend.*", "mask.*", "state.*",
    "target.*", "query.*", "response.*", "error.*", "walk.length.*", "walk.two.*", "walk.none.*",
    "depth.*", "texture.*",
)  # fmt: skip
"""Cases that draw triangles; before DirectX 9 a triangle shows what was executed."""
_DRAWN = (*_TRIANGLES, "point.*", "line.*")
_STRIPS = tuple(each for each in _TRIANGLES if each != "response.*")
_COLOURED = (*_DRAWN, "walk.cut.*")
_QUERIED = (*_DRAWN, "walk.cut.*")
_FANS = ("draw.*fan*",)

MISTAKES: dict[str, Mistake] = {
    # Where vertices are, and which pixels are theirs
    "HALF_PIXEL": some(*_TRIANGLES),
    "BOTTOM_RIGHT_RULE": some(*_TRIANGLES),
    "EDGES_DRAWN": some(*_TRIANGLES),
    "CULL_INVERTED": some("draw.cull.c*", "draw.state_order", "draw.winding.*", "state.*",
                          "query.*"),
    "STRIP_WINDING": some("draw.winding.*strip", "query.*"),
    "STRIP_LAST": some(*_STRIPS),
    "FAN_DOUBLES_FIRST": some("draw.*fan*", "draw.winding.*fan"),
    "FAN_CENTRE": some("draw.*fan*", "draw.winding.*fan"),
    "VIEWPORT_IGNORED": Mistake(("draw.viewport",), announced=True),
    "VIEWPORT_SIDES": Mistake(("draw.viewport",), announced=True),
    "SCISSOR_ALWAYS": Mistake(("draw.scissor.0",), 9),
    "SCISSOR_SIZED": Mistake(("draw.scissor.1",), 9),
    # Which vertices a token draws
    "START_IGNORED": some("draw.trianglelist.3", "draw.trianglestrip.3", "draw.trianglefan.3",
                          "draw.state_order", "line.*", "alphatest.*", "blend.*",
                          "state.*", "indices.*", "depth.*"),
    "INDEX_START_IGNORED": Mistake(
        ("draw.indexedtriangle*.3", "draw.index_beyond_16_bits", "line.indexedlinelist2",
         "line.indexedlinestrip"),
    ),
    "INDEX_WRAPS": Mistake(("draw.index_beyond_16_bits",)),
    "INDEX_16_BITS": Mistake(("draw.index_of_32_bits",), 8),
    "INDEX_CHECK": some("draw.index_outside.*", "indices.*"),
    "INDICES_UNCHECKED": some("draw.index_outside.*", "indices.*indexed*"),
    "PREVIOUS_STRIDE": Mistake(("indices.*.smaller_before", "indices.*.larger_before"),
                               in_6=("draw.no_colour",)),
    "FIRST_TRIANGLE": Mistake(("draw.indexedtrianglelist", "line.indexedlinelist")),
    "FIRST_DRAW": Mistake(("draw.several.*",), 8),
    "IMM_NOT_ALIGNED": Mistake(("draw.trianglefan_imm.unaligned",)),
    "BASE_IGNORED": Mistake(
        ("draw.drawindexedprimitive", "draw.index_hints", "draw.negative_base",
         "indices.drawindexedprimitive.larger_before"), 8,
    ),
    "BASE_UNSIGNED": Mistake(("draw.negative_base",), 8),
    "MIN_INDEX_ADDED": Mistake(("draw.index_hints",), 8),
    "START_INDEX_IGNORED": Mistake(
        ("draw.drawindexedprimitive*", "draw.index_hints", "draw.negative_base",
         "draw.several.drawindexedprimitive"), 8,
    ),
    "STALE_INDICES": Mistake(("draw.no_indices",), 8),
    "OFFSET_IN_VERTICES": Mistake(("draw.drawprimitive2.*",), 8),
    "STREAM_NUMBER": Mistake(("draw.other_stream",), 8),
    "STREAM_OFFSET": Mistake(("draw.offset",), 9),
    "USER_MEMORY_ALONE": Mistake(("draw.vertex_buffer", "draw.vertex_offset.buffer")),
    "VERTEX_OFFSET": Mistake(("draw.vertex_offset.*",)),
    "VERTEX_SIZE_LATE": some(*_DRAWN, "walk.cut.*_imm.*"),
    # Colours
    "DIFFUSE_OFFSET": some(*_COLOURED),
    "CHANNEL_ORDER": some(*_COLOURED),
    "FLAT_LAST": Mistake(("draw.flat.*",)),
    "ALPHAOP_IGNORED": Mistake(("texture.channels.*",)),
    "DEPTH_FIRST": Mistake(("depth.rejected",)),
    "ALPHA_STRICT": Mistake(("alphatest.lessequal", "alphatest.greaterequal", "alphatest.always")),
    "DEST_ALPHA": Mistake(("blend.*.destalpha", "blend.*.invdestalpha")),
    "REVSUBTRACT": Mistake(("blend.operation.revsubtract",), 8),
    "MASK_IGNORED": Mistake(("mask.*",), 8),
    "MASK_ORDER": Mistake(("mask.red", "mask.blue"), 8),
    # Targets and state
    "CLEAR_IGNORES_RECTS": Mistake(("target.clear.*", "blend.*"), 7),
    "CLEAR_INCLUSIVE": Mistake(("target.clear.*", "blend.*"), 7),
    "CLEAR_FIRST_RECT": Mistake(("target.clear.several",), 7),
    "FIRST_TARGET": Mistake(("target.contexts",), 7),
    "FIRST_STATE": Mistake(("state.several",)),
    "CAPTURE_IGNORED": Mistake(("state.block.captured",), 7),
    "EXECUTE_IGNORED": Mistake(("state.block.executed", "state.block.captured"), 7),
    "RECORDS_AND_SETS": Mistake(("state.block.*",), 7),
    # Lengths of tokens
    "CLEAR_LENGTH": Mistake(("walk.length.clear.2", "walk.two.clear", "target.clear.several"), 7),
    "CONSTB_LENGTH": Mistake(
        ("walk.length.vertexconstb.3", "walk.two.setvertexshaderconstb"), 9,
    ),
    "PATCH_TAILS": Mistake(("walk.length.rectpatch.several", "walk.two.drawrectpatch"), 8),
    "SETLIGHT_LENGTH": Mistake(("walk.length.setlight.*", "walk.two.setlight"), 7),
    "SETPRIORITY_LENGTH": Mistake(("walk.length.setpriority.2", "walk.two.setpriority"), 7),
    "SETRENDERTARGET_LENGTH": Mistake(("walk.length.setrendertarget.2",), 9),
    "SETTEXLOD_LENGTH": Mistake(("walk.length.settexlod.2", "walk.two.settexlod"), 7),
    "CUT_PASSED": some("walk.cut.*"),
    "SHORT_HEADER": Mistake(("error.header.*",)),
    # Errors
    "ERROR_OFFSET_FROM_FIRST": Mistake(("error.offset.4.*", "error.offset.40.*")),
    "ERROR_OFFSET_BEHIND": some("error.*", "walk.cut.*", "response.failure", "query.*unknown*",
                                "draw.no_indices"),
    "UNKNOWN_SKIPPED": some("error.opcode.*", "error.offset.*", "response.failure"),
    # Queries and responses
    "ANSWERS_FAILURES": Mistake(("response.failure",), 9),
    "CAPACITY_OF_CALL": some("query.type.*", "query.contexts", "response.*", "draw.no_indices",
                             since=9),
    "DELETED_ANSWERS": Mistake(("query.delete", "query.delete_several"), 9),
    "EMPTY_RESPONSE": Mistake(("response.too_small", "response.none", "response.not_issued"), 9),
    "END_COUNTS_ALL": Mistake(("query.end_without_begin", "query.end_again"), 9),
    "FIRST_DELETED": Mistake(("query.delete_several",), 9),
    "ISSUE_FLAGS": some(*_QUERIED, since=9),
    "LEFT_OVER_LOST": Mistake(("response.overflow.*", "response.large_first"), 9),
    "NEWEST_FIRST": some("query.*", "response.overflow.*", "response.many", since=9),
    "NO_CONTINUE": Mistake(
        ("response.overflow.28", "response.overflow.31", "response.overflow.36"), 9,
    ),
    "NO_RESERVE": Mistake(
        ("response.overflow.32", "response.overflow.36", "response.overflow.44",
         "response.overflow.47", "response.overflow.60"), 9,
    ),
    "RESTART_ADDS": Mistake(("query.begin_restarts",), 9),
    "TOTAL_WITHOUT_HEADER": some(*_QUERIED, since=9),
}  # fmt: skip
"""Mistakes of the sample driver, which real drivers have made, by the names of their macros."""

FOUND = (
    "HALF_PIXEL", "PREVIOUS_STRIDE", "PATCH_TAILS", "INDICES_UNCHECKED", "SETLIGHT_LENGTH",
    "MASK_ORDER", "CLEAR_INCLUSIVE",
)  # fmt: skip
"""Mistakes that every run of the tests plants; of the others it plants some."""


def shown(bug: str) -> list[tuple[str, int]]:
    """The versions that can show a mistake, with its name."""
    return [(bug, ddi) for ddi in VERSIONS if ddi >= MISTAKES[bug].since]


EVERYWHERE = [(*pair, "nt") for bug in MISTAKES for pair in shown(bug)]
EVERYWHERE += [
    (*shown(bug)[number % len(shown(bug))], "9x") for number, bug in enumerate(MISTAKES)
]
"""Each mistake at each version that can show it, and at one of them on Windows 9x."""
SAMPLED = [
    shown(bug)[number % len(shown(bug))]
    for number, bug in enumerate(MISTAKES)
    if bug in FOUND or number % 8 == 0
]


def matching(cases: Iterable[Case], patterns: tuple[str, ...]) -> set[str]:
    names = {case.name for case in cases}
    return {name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns)}


def wrong(outcomes: Iterable[Outcome]) -> set[str]:
    """The names of cases that fail, or are warned of since documents disagree."""
    return {o.case.name for o in outcomes if o.verdict in WRONG}


def check(
    bug: str, ddi: int, layout: str = "nt", choose: Callable[[Cases, Mistake], Cases] | None = None
) -> list[Outcome]:
    """Run the cases of a version, or those that are chosen, on the driver with a mistake, and
    check which of them it fails.
    """
    mistake = MISTAKES[bug]
    driver = served_sample(bug, ddi=ddi, announces=mistake.announced, options=LAYOUTS[layout])
    with PipeRig(str(driver)) as rig:
        cases = kit(ddi=ddi, capabilities=capabilities_of(rig, ddi))
        cases = cases if choose is None else choose(cases, mistake)
        outcomes = list(run_kit(cases, rig, ddi))
    found, expected = wrong(outcomes), matching(cases, mistake.at(ddi))
    assert found <= expected
    assert found == expected if mistake.exact else found
    return outcomes


def check_cause(bug: str, ddi: int, outcomes: list[Outcome]) -> None:
    """Check that a mistake has one cause, which names it, or that documents do not forbid it."""
    found = [cause.what for cause in causes(outcomes)]
    assert len(found) == (0 if (bug, ddi) in DOUBTED else 1)
    assert all(re.search(SAID[bug], what) for what in found)


def few(cases: Cases, mistake: Mistake) -> Cases:
    """The cases of a mistake, a third of them if not all need fail, and some others."""
    wanted = sorted(matching(cases, mistake.cases))
    named = set(wanted if mistake.exact else wanted[::3])
    rest = (case for case in cases if case.name not in wanted)
    return tuple(case for case in cases if case.name in named) + tuple(rest)[::16]


NINE = [(ddi, "9x") for ddi in VERSIONS]


@pytest.mark.parametrize(
    ("ddi", "layout"),
    [
        *((ddi, "nt") for ddi in VERSIONS),
        *(pytest.param(*each, marks=pytest.mark.slow) for each in NINE),
    ],
)
def test_the_driver_of_each_version_follows_every_rule(ddi: int, layout: str) -> None:
    with PipeRig(str(served_sample(ddi=ddi, options=LAYOUTS[layout]))) as rig:
        outcomes = [o for o in run_kit(kit(ddi=ddi), rig) if o.verdict is not Verdict.PASSED]
    assert [(o.case.name, o.why) for o in outcomes if o.verdict in WRONG] == []
    assert {o.case.name.partition(".")[0] for o in outcomes} <= {
        "depth", "texture", "query", "count", "walk",
    }  # fmt: skip


@pytest.mark.parametrize(
    "ddi", [6, *(pytest.param(ddi, marks=pytest.mark.slow) for ddi in (7, 8)), 9]
)
def test_what_a_driver_does_not_announce_is_not_tried(ddi: int) -> None:
    cases = [case for case in kit(ddi=ddi) if not case.name.startswith(("walk.cut.", "indices."))]
    with PipeRig(str(served_sample(ddi=ddi, announces=True))) as rig:
        outcomes = list(run_kit(cases, rig))
    assert wrong(outcomes) == set()
    lacking = {o.case.name.partition(".")[0] for o in outcomes if o.lacks}
    assert "walk" in lacking
    assert lacking <= {"walk", "query", "count"}


def test_every_planted_mistake_is_tried() -> None:
    assert len(MISTAKES) >= 40
    assert set(FOUND) <= {bug for bug, _ in SAMPLED}


@pytest.mark.parametrize(("bug", "ddi"), SAMPLED)
def test_a_planted_mistake_is_named_and_nothing_else_is(bug: str, ddi: int) -> None:
    check(bug, ddi, choose=few)


@pytest.mark.slow
@pytest.mark.parametrize(("bug", "ddi", "layout"), EVERYWHERE)
def test_every_planted_mistake_is_named_at_every_version(bug: str, ddi: int, layout: str) -> None:
    check_cause(bug, ddi, check(bug, ddi, layout))


ANNOUNCED = [(bug, ddi) for bug in MISTAKES for ddi in sorted({max(6, MISTAKES[bug].since), 9})]


@pytest.mark.slow
@pytest.mark.parametrize(("bug", "ddi"), ANNOUNCED)
def test_a_mistake_of_a_driver_that_announces_capabilities_has_no_other_cause(
    bug: str, ddi: int
) -> None:
    with PipeRig(str(served_sample(bug, ddi=ddi, announces=True))) as rig:
        cases = kit(ddi=ddi, capabilities=capabilities_of(rig, ddi))
        outcomes = list(run_kit(cases, rig, ddi))
    tried = matching((o.case for o in outcomes if not o.lacks), MISTAKES[bug].at(ddi))
    allowed = tried | matching(cases, ("announced.*",))
    assert wrong(outcomes) <= allowed
    if tried:
        check_cause(bug, ddi, outcomes)
    else:
        assert wrong(outcomes) == set()


TWO = (
    ("HALF_PIXEL", "SETLIGHT_LENGTH"), ("CULL_INVERTED", "REVSUBTRACT"),
    ("STRIP_LAST", "SETTEXLOD_LENGTH"), ("START_IGNORED", "ERROR_OFFSET_FROM_FIRST"),
    ("ALPHA_STRICT", "MASK_ORDER"), ("INDEX_CHECK", "SHORT_HEADER"),
    ("EDGES_DRAWN", "CLEAR_LENGTH"), ("PREVIOUS_STRIDE", "FIRST_STATE"),
    ("UNKNOWN_SKIPPED", "STRIP_WINDING"),
)  # fmt: skip
"""Mistakes of different kinds."""


@pytest.mark.slow
@pytest.mark.parametrize("ddi", [8, 9])
@pytest.mark.parametrize("bugs", TWO)
def test_two_mistakes_have_two_causes(bugs: tuple[str, str], ddi: int) -> None:
    with PipeRig(str(served_sample(*bugs, ddi=ddi))) as rig:
        found = causes(list(run_kit(kit(ddi=ddi), rig)))
    assert len(found) == 2
    assert all(any(re.search(SAID[bug], cause.what) for cause in found) for bug in bugs)


def test_writing_behind_the_buffer_is_named() -> None:
    cases = kit("response.overflow", "response.none")
    with NativeDriver(sample("OVERRUNS"), forked=True) as rig:
        outcomes = list(run_kit(cases, rig))
    assert wrong(outcomes) == matching(cases, ("response.overflow.*",))
    assert all("behind command buffer 3" in o.why for o in outcomes if o.verdict is Verdict.FAILED)


def test_a_crash_fails_its_case_and_not_the_next() -> None:
    with PipeRig(str(served_sample("CRASHES"))) as rig:
        outcomes = list(run_kit(kit("query.order", "response.none"), rig))
    assert wrong(outcomes) == {"query.order.event", "query.order.occlusion"}


def test_a_hang_fails_its_case() -> None:
    with PipeRig(str(served_sample("HANGS")), timeout=4.0) as rig:
        outcomes = list(run_kit(kit("query.interval", "response.none"), rig))
    assert wrong(outcomes) == {"query.interval"}

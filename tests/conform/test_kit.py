"""The kit: the emulator follows all of it, and a driver with a planted mistake just the rest."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest

from dp2emu.conform import Case, Outcome, Verdict, kit, run_case, run_kit
from dp2emu.conform.case import ANY_RESULT, Expect
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.options import Options
from dp2emu.dp2.queries import KINDS
from dp2emu.dp2.table import TABLE
from dp2emu.errors import UsageError
from dp2emu.gpu.device.timing import Timing, by_work, fixed
from dp2emu.rig.served import NativeDriver, PipeRig
from tests.native.building import sample, served_sample

CASES = kit()
NAMES = [case.name for case in CASES]
PICTURES = {case.name for case in CASES if case.shown}
QUICK = tuple(
    case for case in CASES
    if (not case.name.startswith("walk.cut.") or "_imm." in case.name) and not case.shown
)  # fmt: skip
"""Without cuts of tokens and pictures, where no planted mistake can be seen."""
TYPES = {kind.type.name.lower() for kind in KINDS.values()}
REFUSED = {
    *(f"query.type.{name}" for name in TYPES - {"vcache", "event", "occlusion"}),
    "count.triangles",
    "count.box",
    *PICTURES,
}
"""Cases of query types that the sample driver has not, and of pictures, which it does not draw."""

PLANTED: dict[str, tuple[str, ...]] = {
    "ANSWERS_FAILURES": ("response.failure",),
    "CAPTURE_IGNORED": ("state.block.captured",),
    "CONSTB_LENGTH": ("walk.length.vertexconstb.3", "walk.two.setvertexshaderconstb"),
    "DELETED_ANSWERS": ("query.delete", "query.delete_several"),
    "EMPTY_RESPONSE": ("response.too_small", "response.none", "response.not_issued"),
    "END_COUNTS_ALL": ("query.end_without_begin", "query.end_again"),
    "ERROR_OFFSET_FROM_FIRST": (
        "error.offset.4.*", "error.offset.40.*",
    ),
    "FAN_DOUBLES_FIRST": ("draw.*fan*",),
    "IMM_NOT_ALIGNED": ("draw.trianglefan_imm.unaligned",),
    "INDEX_CHECK": ("draw.index_outside.1", "draw.index_outside.1.first"),
    "INDEX_WRAPS": ("draw.index_beyond_16_bits",),
    "LEFT_OVER_LOST": ("response.overflow.*", "response.large_first"),
    "NO_CONTINUE": (
        "response.overflow.28", "response.overflow.31", "response.overflow.36",
    ),
    "NO_RESERVE": (
        "response.overflow.32", "response.overflow.36", "response.overflow.44",
        "response.overflow.47", "response.overflow.60",
    ),
    "OFFSET_IN_VERTICES": ("draw.drawprimitive2.*",),
    "PATCH_TAILS": ("walk.length.rectpatch.several", "walk.two.drawrectpatch"),
    "RECORDS_AND_SETS": ("state.block.*",),
    "RESTART_ADDS": ("query.begin_restarts",),
    "SETLIGHT_LENGTH": ("walk.length.setlight.*", "walk.two.setlight"),
    "SETPRIORITY_LENGTH": ("walk.length.setpriority.2", "walk.two.setpriority"),
    "SETRENDERTARGET_LENGTH": ("walk.length.setrendertarget.2",),
    "SETTEXLOD_LENGTH": ("walk.length.settexlod.2", "walk.two.settexlod"),
    "STALE_INDICES": ("draw.no_indices",),
    "UNKNOWN_SKIPPED": ("error.opcode.*", "error.offset.*", "response.failure"),
}  # fmt: skip
"""Mistakes of the sample driver and the cases that name them, all others being passed."""

WIDE: dict[str, tuple[str, ...]] = {
    "CAPACITY_OF_CALL": (
        "query.type.*", "query.contexts", "response.*",
    ),
    "ISSUE_FLAGS": (
        "query.*", "response.*", "draw.*", "state.*", "walk.length.*", "walk.none.*", "walk.two.*",
    ),
    "NEWEST_FIRST": (
        "query.overlap", "query.any_id", "query.several", "query.order.*",
        "response.overflow.*", "response.many",
    ),
    "TOTAL_WITHOUT_HEADER": (
        "query.*", "response.*", "draw.*", "state.*", "walk.length.*", "walk.none.*", "walk.two.*",
    ),
    "VERTEX_SIZE_LATE": ("query.*", "draw.*", "state.*", "walk.cut.*_imm.*", "walk.two.*_imm"),
}  # fmt: skip
"""Mistakes that nearly everything needs to be right: some of these cases fail, and no others."""


def failing(outcomes: list[Outcome]) -> set[str]:
    return {o.case.name for o in outcomes if o.verdict in (Verdict.FAILED, Verdict.WARNED)}


def matching(patterns: tuple[str, ...]) -> set[str]:
    return {name for name in NAMES if any(fnmatchcase(name, pattern) for pattern in patterns)}


def few(patterns: tuple[str, ...]) -> tuple[Case, ...]:
    """Cases that these patterns name, and every sixth of the others, which must not fail."""
    wanted = matching(patterns)
    return tuple(case for n, case in enumerate(QUICK) if n % 6 == 0 or case.name in wanted)


def ran(bug: str = "", cases: tuple[Case, ...] = ()) -> list[Outcome]:
    """The kit on the sample driver: ``cases``, or by default all that may show a mistake."""
    with PipeRig(str(served_sample(*filter(None, [bug])))) as rig:
        return list(run_kit(cases or (QUICK if bug else CASES), rig))


def test_names_are_unique_and_say_family_and_what() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert {name.partition(".")[0] for name in NAMES} == {
        "query", "response", "error", "coverage", "draw", "indices", "state", "count", "walk",
        "point", "line", "depth", "alphatest", "blend", "mask", "texture",
    }  # fmt: skip


def test_every_case_tells_its_rule_and_source() -> None:
    for case in CASES:
        assert case.rule and case.source
        assert len(case.calls) == len(case.expected)


def test_every_token_and_query_type_has_a_case() -> None:
    for token in TABLE.values():
        assert any(name.startswith(f"walk.cut.{token.name.lower()}.") for name in NAMES)
    for kind in KINDS.values():
        assert f"query.type.{kind.type.name.lower()}" in NAMES


@pytest.mark.parametrize("timing", [None, fixed(call=50, packet=300, delivery=70), by_work()])
def test_the_emulator_follows_every_rule_whatever_its_timing(timing: Timing | None) -> None:
    cases = [case for case in CASES if not case.shown]  # pictures are a test of their own
    outcomes = list(run_kit(cases, Driver(timing)))
    assert [o for o in outcomes if o.verdict is not Verdict.PASSED] == []


def test_the_honest_driver_follows_every_rule() -> None:
    outcomes = ran()
    assert failing(outcomes) == set()
    assert {o.case.name for o in outcomes if o.verdict is Verdict.SKIPPED} == REFUSED


@pytest.mark.parametrize("bug", PLANTED)
def test_a_planted_mistake_is_named_and_nothing_else_is(bug: str) -> None:
    assert failing(ran(bug, few(PLANTED[bug]))) == matching(PLANTED[bug])


@pytest.mark.slow
@pytest.mark.parametrize("bug", PLANTED)
def test_a_planted_mistake_is_named_by_no_other_case(bug: str) -> None:
    assert failing(ran(bug)) == matching(PLANTED[bug])


@pytest.mark.parametrize("bug", WIDE)
def test_a_mistake_in_what_all_need_is_named_where_it_is_needed(bug: str) -> None:
    found = failing(ran(bug, few(WIDE[bug])))
    assert found <= matching(WIDE[bug])
    assert all(found & matching((pattern,)) for pattern in WIDE[bug])


@pytest.mark.slow
@pytest.mark.parametrize("bug", WIDE)
def test_a_mistake_in_what_all_need_is_named_by_no_other_case(bug: str) -> None:
    assert failing(ran(bug)) <= matching(WIDE[bug])


def test_writing_behind_the_buffer_is_named() -> None:
    cases = kit("response.overflow", "response.none")
    with NativeDriver(sample("OVERRUNS")) as rig:
        outcomes = list(run_kit(cases, rig))
    assert failing(outcomes) == matching(("response.overflow.*",))
    assert all("behind surface 3" in o.why for o in outcomes if o.verdict is Verdict.FAILED)


def test_a_crash_fails_its_case_and_not_the_next() -> None:
    with PipeRig(str(served_sample("CRASHES"))) as rig:
        outcomes = list(run_kit(kit("query.order", "response.none"), rig))
    assert failing(outcomes) == {"query.order.event", "query.order.occlusion"}


def test_a_hang_fails_its_case() -> None:
    with PipeRig(str(served_sample("HANGS")), timeout=4.0) as rig:
        outcomes = list(run_kit(kit("query.interval", "response.none"), rig))
    assert failing(outcomes) == {"query.interval"}


def test_cases_are_chosen_by_how_their_names_begin() -> None:
    assert {case.name for case in kit("query.order", "response.none")} == {
        "query.order.event", "query.order.occlusion", "response.none",
    }  # fmt: skip
    with pytest.raises(UsageError, match="no case begins with nothing"):
        kit("nothing")


def case_named(name: str) -> Case:
    return next(case for case in CASES if case.name == name)


def test_an_optional_case_is_skipped_where_its_type_is_refused() -> None:
    rig = Driver(options=Options(query_types=(4, 8, 9)))
    outcome = run_case(case_named("query.type.timestamp"), rig)
    assert (outcome.verdict, "refuses" in outcome.why) == (Verdict.SKIPPED, True)
    without = Driver(options=Options(query_types=(4, 8)))
    assert run_case(case_named("query.type.occlusion"), without).verdict is Verdict.FAILED


def test_an_expectation_may_leave_the_result_open() -> None:
    assert Expect(ANY_RESULT).ddrval != HResult.D3D_OK
    assert run_case(case_named("draw.index_outside.3.first"), Driver()).verdict is Verdict.PASSED

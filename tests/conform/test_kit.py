"""The kit: its cases and their names; the emulator follows all of it."""

from __future__ import annotations

import pytest

from dp2emu.conform import Case, Verdict, kit, run_case, run_kit
from dp2emu.conform.case import ANY_RESULT, Expect
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.options import Options
from dp2emu.dp2.queries import KINDS
from dp2emu.dp2.table import TABLE
from dp2emu.errors import UsageError
from dp2emu.gpu.device.timing import Timing, by_work, fixed

CASES = kit()
NAMES = [case.name for case in CASES]


def test_names_are_unique_and_say_family_and_what() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert {name.partition(".")[0] for name in NAMES} == {
        "query", "response", "error", "coverage", "draw", "indices", "state", "count", "walk",
        "point", "line", "depth", "alphatest", "blend", "mask", "texture", "target",
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


def test_cases_are_chosen_by_how_their_names_begin() -> None:
    assert {case.name for case in kit("query.order", "response.none")} == {
        "query.order.event", "query.order.occlusion", "response.none",
    }  # fmt: skip
    with pytest.raises(UsageError, match="no case begins with nothing at DirectX 9"):
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

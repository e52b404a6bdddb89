"""Rules that documents disagree on, and what no runtime sends: no driver is accused falsely."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from dp2emu.capture.records import ContextCreated, SurfaceCreated
from dp2emu.conform import Case, Outcome, Verdict, kit, run_case, run_kit
from dp2emu.conform.disputed import patterns
from dp2emu.d3d.capabilities import Capabilities
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.call import Answer, Call
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.options import Options
from dp2emu.dp2.table import Op
from dp2emu.dp2.walk import Command, decode, scan
from dp2emu.errors import UsageError
from dp2emu.rig.failure import Finding, FindingKind, RigFailure
from dp2emu.rig.served import NativeDriver
from tests.cli.running import dp2emu
from tests.native.building import sample

REFERENCE = Options(engine="reference")


class Rejecting(Driver):
    """A driver that fails calls in which a token has one of these opcodes."""

    def __init__(self, *ops: int) -> None:
        super().__init__(options=REFERENCE)
        self.ops = ops

    def submit(self, call: Call) -> Answer:
        answer = super().submit(call)
        found = [each.token.op for each in commands(call)]
        if any(op in self.ops for op in found):
            return replace(answer, ddrval=HResult.D3DERR_DRIVERINVALIDCALL, dwErrorOffset=0)
        return answer


class RefusingNone(Driver):
    """A driver that fails calls in which a token draws no primitives, or no points of an item."""

    def submit(self, call: Call) -> Answer:
        answer = super().submit(call)
        if any(map(partial(draws_none, call.commands or b""), commands(call))):
            return replace(answer, ddrval=HResult.D3DERR_COMMAND_UNPARSED, dwErrorOffset=0)
        return answer


def draws_none(data: bytes, each: Command) -> bool:
    if each.token.op == Op.POINTS:
        counts = decode(each.token, data, each.n, each.start, each.end).items["wCount"].tolist()
        return 0 in counts or not counts
    return each.token.op == Op.TRIANGLELIST and each.n == 0


def commands(call: Call) -> list[Command]:
    data = call.commands or b""
    return [Command(*each) for each in scan(data, 0, len(data), call.dwVertexSize).commands]


def only(name: str, *, wild: bool = False) -> Case:
    (case,) = kit(name, wild=wild)
    return case


def outcome(name: str, rig: Driver) -> Outcome:
    return run_case(only(name), rig)


def test_breaking_a_disputed_rule_is_a_warning_that_says_which_documents_disagree() -> None:
    found = outcome("draw.viewport", Rejecting(Op.VIEWPORTINFO))
    assert (found.verdict, found.case.disputed) == (
        Verdict.WARNED, "only a driver with a guard band gets vertices outside of the viewport",
    )  # fmt: skip
    assert outcome("draw.state_order", Rejecting(Op.RENDERSTATE)).verdict is Verdict.FAILED


def test_a_crash_in_a_disputed_case_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(self: Driver, call: Call) -> Answer:
        raise RigFailure(Finding(FindingKind.CRASH, "SIGSEGV"))

    monkeypatch.setattr(Driver, "submit", crash)
    assert outcome("draw.viewport", Driver()).verdict is Verdict.FAILED


@pytest.mark.parametrize("ddi", (6, 7, 8, 9))
def test_every_pattern_of_a_dispute_names_a_case(ddi: int) -> None:
    names = [case.name for version in (6, 7, 8, 9) for case in kit(ddi=version)]
    for pattern in patterns():
        assert any(fnmatchcase(name, pattern) for name in names), pattern
    assert any(case.disputed for case in kit(ddi=ddi))


def test_a_base_vertex_is_unsigned_before_directx_9() -> None:
    (before,), (now,) = (kit("draw.negative_base", ddi=ddi) for ddi in (8, 9))
    assert before.disputed and not now.disputed


BAND = "GuardBandLeft", "GuardBandTop", "GuardBandRight", "GuardBandBottom"
WIDE, NARROW, NONE = (-64.0, -64.0, 64.0, 64.0), (0.0, 0.0, 32.0, 16.0), (0.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize("ddi", (6, 7, 8, 9))
def test_a_guard_band_settles_what_is_drawn_beyond_the_viewport(ddi: int) -> None:
    names = "draw.viewport", "draw.coverage.outside", "draw.coverage.across"
    prefix = "dv" if ddi < 8 else ""
    for sides, settled in ((WIDE, names), (NARROW, names[:1]), (NONE, ())):
        device = dict(zip((prefix + side for side in BAND), sides, strict=True))
        cases = kit(*names, ddi=ddi, capabilities=Capabilities(ddi, device))
        assert {case.name for case in cases if not case.disputed} == {*settled}
    assert all(case.disputed for case in kit(*names, ddi=ddi, capabilities=Capabilities(ddi)))


def test_warnings_alone_leave_the_exit_code_0() -> None:
    ran = dp2emu("conform", "query.end_", "--rig", f"native:{sample('END_COUNTS_ALL')}")
    assert (ran.code, ran.err) == (0, "0 passed, 0 failed, 2 warned, 0 skipped\n")
    assert b"warning: query.end_again: " in ran.out


# What no runtime sends


@pytest.mark.parametrize("ddi", (8, 9))
def test_a_token_that_draws_nothing_is_no_part_of_another_rule(ddi: int) -> None:
    cases = kit("draw.none", "draw.trianglefan_imm", "walk.two.points", ddi=ddi)
    verdicts = {each.case.name: each.verdict for each in run_kit(cases, RefusingNone())}
    assert verdicts.pop("draw.none") is Verdict.WARNED
    assert len(verdicts) == 3 and set(verdicts.values()) == {Verdict.PASSED}


def test_no_document_says_what_follows_the_undocumented_token() -> None:
    verdicts = {case.name: bool(case.disputed) for case in kit("walk.cut.ext")}
    assert verdicts == {"walk.cut.ext.4": False, "walk.cut.ext.14": True, "walk.cut.ext.15": True}


def test_unknown_contexts_are_tried_on_request_alone() -> None:
    with pytest.raises(UsageError, match="no case"):
        kit("error.context")
    assert not any(case.wild for case in kit("error"))
    assert run_case(only("error.context", wild=True), Driver()).verdict is Verdict.PASSED
    listed = dp2emu("conform", "error", "--wild", "--list")
    assert b"error.context: " in listed.out
    assert b"error.context: " not in dp2emu("conform", "error", "--list").out


@pytest.mark.parametrize("ddi", (6, 7, 8, 9))
def test_calls_name_contexts_and_surfaces_that_their_case_made(ddi: int) -> None:
    for case in kit(ddi=ddi):
        made = {0} | {record.desc.handle for record in case.records
                      if isinstance(record, SurfaceCreated)}  # fmt: skip
        contexts = {record.context for record in case.records
                    if isinstance(record, ContextCreated)}  # fmt: skip
        for called in case.calls:
            assert called.call.dwhContext in contexts, case.name
            assert {called.call.lpDDCommands, called.call.lpDDVertex} <= made, case.name


def test_an_exported_wild_case_is_marked(tmp_path: Path) -> None:
    ran = dp2emu("conform", "error.context", "draw.none", "--wild", "--export", tmp_path)
    assert ran.err.endswith("1 of them wild\n")
    rows = json.loads((tmp_path / "cases.json").read_text("utf-8"))["cases"]
    assert {row["name"]: row["wild"] for row in rows if "none" not in row["name"]} == {
        "error.context": True
    }
    assert {row["wild"] for row in rows if "none" in row["name"]} == {False}


@pytest.mark.parametrize("ddi", (7, 8, 9))
def test_the_data_of_a_light_follows_its_creation(ddi: int) -> None:
    for case in kit("walk.length.setlight", "walk.two.setlight", ddi=ddi):
        created: set[int] = set()
        for each, data in (
            (each, called.call.commands or b"") for called in case.calls
            for each in commands(called.call)
        ):  # fmt: skip
            if each.token.op not in (Op.CREATELIGHT, Op.SETLIGHT):
                continue
            numbers = set(
                decode(each.token, data, each.n, each.start, each.end).items["dwIndex"].tolist()
            )
            if each.token.op == Op.CREATELIGHT:
                created |= numbers
            assert numbers <= created


def test_tokens_that_runtimes_send_with_count_1_have_it() -> None:
    for case in kit("walk.two.viewportinfo", "walk.two.createlight", "walk.two.setindices"):
        counts = {each.n for called in case.calls for each in commands(called.call)}
        assert counts == {1}


def test_managed_textures_are_made_where_their_tokens_are_alone() -> None:
    managed = {case.name for case in kit("walk.length")
               if any(getattr(getattr(record, "desc", None), "managed", 0)
                      for record in case.records)}  # fmt: skip
    assert managed == {f"walk.length.{name}.{n}" for name in ("setpriority", "settexlod")
                       for n in (0, 2)}  # fmt: skip
    assert all(case.optional for case in kit(*managed))


# An empty CLEAR


@pytest.mark.parametrize(
    ("name", "ddi"),
    [("walk.length.clear.none", 7), ("walk.length.clear.none", 8), ("walk.length.clear.none", 9),
     ("walk.length.clear.computed", 8), ("walk.length.clear.computed", 9)],
)  # fmt: skip
def test_an_empty_clear_may_have_either_length(name: str, ddi: int) -> None:
    """The bytes that one reading skips are whole tokens for the other."""
    (case,) = kit(name, ddi=ddi)
    call = case.calls[-1].call
    data = call.commands or b""
    at = next(each.offset for each in commands(call) if each.token.op == Op.CLEAR)
    for size in (16, 32):
        rest = scan(data, at + 4 + size, len(data), 16)
        assert rest.problem is None and rest.commands
    assert run_case(case, Driver()).verdict is Verdict.PASSED
    assert outcome(name, Rejecting(Op.CLEAR)).verdict is Verdict.FAILED


def test_the_sample_driver_may_read_16_bytes_of_an_empty_clear() -> None:
    with NativeDriver(sample("CLEAR_WITHOUT_RECT"), forked=True) as rig:
        outcomes = list(run_kit(kit("walk.length.clear"), rig))
    assert [o.verdict for o in outcomes] == [Verdict.PASSED] * len(outcomes)

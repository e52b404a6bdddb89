"""Cases for drivers of DirectX 6 to 9: what they use, and drivers of these versions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from dp2emu.capture import open_capture
from dp2emu.capture.records import Called, ContextCreated, SurfaceCreated
from dp2emu.conform import Case, Outcome, Verdict, kit, run_case, run_kit, version_of
from dp2emu.conform.needs import query_need
from dp2emu.conform.report import document, export, table
from dp2emu.conform.target import HEIGHT, TARGET, WIDTH
from dp2emu.d3d.capabilities import Capabilities
from dp2emu.d3d.enums import QueryType
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.legacy import (
    Format8,
    RenderState7,
    RenderState8,
    TextureStageState7,
    TextureStageState8,
)
from dp2emu.dp2.call import Answer, Call
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.options import Options
from dp2emu.dp2.table import Op, Since
from dp2emu.dp2.walk import Command, decode, scan
from dp2emu.errors import Fault, UsageError
from dp2emu.gpu.resource.heap import SurfaceKind
from dp2emu.replay import replay
from tests.cli.running import dp2emu

EARLY = (6, 7, 8)
REFERENCE = Options(engine="reference")
LAST = {6: int(Op.UPDATEPALETTE), 7: int(Op.SETCLIPPLANE), 8: int(Op.DRAWTRIPATCH)}
"""The last token of DirectX 6 and 7, and of drivers of DirectX 8 without volumes and without
management of resources."""
RENDER_STATES = {6: RenderState7, 7: RenderState7, 8: RenderState8}
STAGE_STATES = {6: TextureStageState7, 7: TextureStageState7, 8: TextureStageState8}
INTERNAL = 0
"""The texture stage state of the driver interface that binds a texture."""
BOX_ROWS = 4
"""Rows of the target that the box after a token under test covers in part."""
PICTURES = ("alphatest", "blend", "depth", "line", "mask", "point", "texture")
PROTOCOL = ("draw", "error", "state", "walk")


class Old(Driver):
    """A driver of an early version: it refuses later tokens and contexts, and has no queries."""

    def __init__(self, ddi: int) -> None:
        super().__init__(options=REFERENCE)
        self.ddi = ddi

    def create_context(
        self, context: int, *, interface: int = 9, color: int = 0, depth: int = 0
    ) -> None:
        if interface > self.ddi:
            raise Fault(HResult.D3DHAL_OUTOFCONTEXTS, f"DirectX {interface}")
        super().create_context(context, interface=interface, color=color, depth=depth)

    def submit(self, call: Call) -> Answer:
        later = (each for each in commands(call) if each.token.op > LAST[self.ddi])
        first = next(later, None)
        if first is None:
            answer = super().submit(call)
            # The runtime reads dwErrorOffset of failures alone; drivers leave anything there.
            return replace(answer, dwErrorOffset=77) if answer.ddrval == 0 else answer
        answer = super().submit(replace(call, commands=(call.commands or b"")[: first.offset]))
        failed = HResult.D3DERR_COMMAND_UNPARSED
        offset = call.dwCommandOffset + first.offset
        return replace(answer, ddrval=failed, dwErrorOffset=offset)


def commands(call: Call) -> Iterator[Command]:
    data = call.commands or b""
    for each in scan(data, 0, len(data), call.dwVertexSize).commands:
        yield Command(*each)


def failures(outcomes: list[Outcome]) -> list[tuple[str, str]]:
    return [(o.case.name, o.why) for o in outcomes if o.verdict is Verdict.FAILED]


@pytest.mark.parametrize("ddi", EARLY)
def test_the_emulator_follows_every_rule_of_each_version(ddi: int) -> None:
    outcomes = list(run_kit(kit(*PICTURES, ddi=ddi), Driver(options=REFERENCE)))
    assert [(o.case.name, o.why) for o in outcomes if o.verdict is not Verdict.PASSED] == []


@pytest.mark.parametrize("ddi", EARLY)
def test_a_driver_that_refuses_later_tokens_fails_no_case(ddi: int) -> None:
    outcomes = list(run_kit(kit(*PROTOCOL, ddi=ddi), Old(ddi)))
    assert failures(outcomes) == []
    skipped = {o.case.name for o in outcomes if o.verdict is Verdict.SKIPPED}
    later = {"volumeblt", "bufferblt", "multiplytransform", "adddirtyrect", "adddirtybox"}
    families = ("walk.none", "walk.two") if ddi == 8 else ()
    assert skipped == {f"{family}.{name}" for family in families for name in later}


def test_all_families_of_cases_are_tried() -> None:
    families = {case.name.partition(".")[0] for ddi in EARLY for case in kit(ddi=ddi)}
    own = {"coverage", "indices", "target"}
    assert families == {*PICTURES, *PROTOCOL, *own}  # The last have tests of their own.


@pytest.mark.parametrize("ddi", EARLY)
def test_no_case_uses_a_token_or_state_of_a_later_version(ddi: int) -> None:
    states, stages = RENDER_STATES[ddi], STAGE_STATES[ddi]
    known = {int(each) for each in states}, {INTERNAL, *map(int, stages)}
    for case in kit(ddi=ddi):
        assert case.since <= ddi and case.owed == ()
        for called in case.calls:
            for command in commands(called.call):
                assert command.token.since <= ddi, case.name
                for state in states_set(called.call, command):
                    assert state in known[command.token.op == Op.TEXTURESTAGESTATE], case.name


def states_set(call: Call, command: Command) -> Iterator[int]:
    if command.token.op in (Op.RENDERSTATE, Op.TEXTURESTAGESTATE):
        body = decode(command.token, call.commands or b"", command.n, command.start, command.end)
        column = "RenderState" if command.token.op == Op.RENDERSTATE else "TSState"
        yield from map(int, body.items[column])


@pytest.mark.parametrize("ddi", EARLY)
def test_no_case_uses_a_surface_or_context_of_a_later_version(ddi: int) -> None:
    formats = {0, *map(int, Format8)}
    later = {SurfaceKind.INDEXBUFFER, SurfaceKind.VERTEXBUFFER} if ddi < Since.DX8 else set()
    for case in kit(ddi=ddi):
        for record in case.records:
            if isinstance(record, SurfaceCreated):
                assert record.desc.kind not in later and int(record.desc.format) in formats
            if isinstance(record, ContextCreated):
                assert record.interface == ddi


def test_a_case_tells_the_version_that_has_its_rule() -> None:
    since = {case.name: int(case.since) for case in kit()}
    for name, version in {
        "draw.trianglelist.0": 6, "state.block.executed": 7, "draw.drawprimitive.trianglelist": 8,
        "draw.offset": 9, "blend.operation.min": 8, "blend.source.blendfactor": 9,
        "query.interval": 9, "walk.length.clear.none": 7, "walk.length.clear.computed": 8,
    }.items():  # fmt: skip
        assert since[name] == version
    assert {case.name for case in kit(ddi=8)} <= set(since)
    assert all(int(case.since) == since[case.name] for case in kit(ddi=7))


@pytest.mark.parametrize("ddi", [5, 10])
def test_a_version_without_the_stream_is_refused(ddi: int) -> None:
    with pytest.raises(UsageError, match="not one of 6, 7, 8 and 9"):
        kit(ddi=ddi)


# Mistakes are seen in pixels


class Misled(Old):
    """A driver of an early version that executes other tokens than it is sent."""

    def __init__(self, ddi: int, old: bytes, new: bytes) -> None:
        super().__init__(ddi)
        self.change = old, new

    def submit(self, call: Call) -> Answer:
        return super().submit(replace(call, commands=(call.commands or b"").replace(*self.change)))


def case_of(name: str, ddi: int) -> Case:
    return next(case for case in kit(name, ddi=ddi) if case.name == name)


def changes() -> Iterator[tuple[str, int, bytes, bytes]]:
    """Names of cases, versions, bytes that matter to the case, and bytes with a mistake."""
    cull = bytes((8, 0, 1, 0, 22, 0, 0, 0))
    for ddi in EARLY:
        yield "draw.cull.cw", ddi, cull + b"\2", cull + b"\1"
        yield "draw.state_order", ddi, cull + b"\2", cull + b"\1"
        yield "draw.viewport", ddi, bytes((28, 0, 1, 0, 2)), bytes((28, 0, 1, 0, 1))
        yield "draw.trianglefan.3", ddi, bytes((21, 0, 4, 0, 3)), bytes((21, 0, 4, 0, 2))
        yield "draw.trianglelist.0", ddi, bytes((18, 0, 2, 0)), bytes((18, 0, 1, 0))
        yield "walk.length.viewportinfo.2", ddi, bytes((19, 0, 2, 0)), bytes((19, 0, 1, 0))
        yield "line.linestrip", ddi, bytes((16, 0, 4, 0, 1)), bytes((16, 0, 4, 0, 0))
    for ddi in (7, 8):
        execute = bytes((39, 0, 1, 0, 3, 0, 0, 0, 3))
        yield "state.block.executed", ddi, execute, bytes((39, 0, 1, 0, 3, 0, 0, 0, 4))
    yield "depth.written", 6, bytes((23, 0, 0, 0, 2)), bytes((23, 0, 0, 0, 8))
    yield "walk.length.rectpatch.several", 8, bytes((61, 0, 2, 0)), bytes((61, 0, 1, 0))
    yield "draw.drawprimitive2.trianglelist", 8, bytes((59, 0, 1, 0)), bytes((52, 0, 1, 0))


@pytest.mark.parametrize(("name", "ddi", "old", "new"), list(changes()))
def test_a_mistake_before_directx_9_is_seen_in_pixels(
    name: str, ddi: int, old: bytes, new: bytes
) -> None:
    case = case_of(name, ddi)
    assert any(old in (called.call.commands or b"") for called in case.calls)
    assert run_case(case, Old(ddi)).verdict is Verdict.PASSED
    verdict = Verdict.WARNED if case.disputed else Verdict.FAILED
    assert run_case(case, Misled(ddi, old, new)).verdict is verdict


@pytest.mark.parametrize("order", [(0, (1, 0), 1, 2, 3, (2, 3)), (0, 1, (0, 1), 2, (3, 2), 3)])
def test_pixels_of_one_triangle_in_another_are_seen_whichever_is_wrong(
    order: tuple[int | tuple[int, int], ...],
) -> None:
    """A pair in ``order`` is a triangle and the triangle that wrongly covers it as well."""
    case = case_of("draw.coverage.shared", 8)
    call = case.calls[-1].call
    vertices = np.frombuffer(call.vertices or b"", np.uint32).reshape(4, 3, -1)
    drawn = [vertices[each if isinstance(each, int) else each[0]].copy() for each in order]
    for triangle, each in zip(drawn, order, strict=True):
        if not isinstance(each, int):
            triangle[:, 4] = vertices[each[1], :, 4]
    assert call.commands is not None
    spoiled = replace(
        call, commands=call.commands.replace(b"\x12\0\4\0", b"\x12\0\6\0"),
        vertices=np.stack(drawn).tobytes(), dwVertexLength=18,
    )  # fmt: skip
    records = tuple(Called(spoiled) if each is case.calls[-1] else each for each in case.records)
    assert run_case(case, Old(8)).verdict is Verdict.PASSED
    assert run_case(replace(case, records=records), Old(8)).verdict is Verdict.FAILED


class Blank(Old):
    """A driver of an early version that executes nothing; memory has what the host wrote."""

    def submit(self, call: Call) -> Answer:
        return super().submit(replace(call, commands=b"", dwCommandLength=0))


@pytest.mark.parametrize("ddi", EARLY)
def test_a_driver_of_each_version_without_pictures_is_passed_over(ddi: int) -> None:
    names = "draw.trianglefan.", "draw.none", "walk.none.points", "mask", "blend.source.one"
    outcomes = list(run_kit(kit(*names, ddi=ddi), Blank(ddi)))
    assert {(o.verdict, o.why) for o in outcomes} == {
        (Verdict.SKIPPED, "nothing is drawn into memory")
    }


class Clearing(Old):
    """A driver that clears more than a CLEAR among draws says."""

    def submit(self, call: Call) -> Answer:
        answer = super().submit(call)
        if any(each.token.op == Op.CLEAR for each in commands(call)) and call.vertices:
            self.write(TARGET, 4 * BOX_ROWS * WIDTH, bytes(4 * WIDTH * (HEIGHT - BOX_ROWS)))
        return answer


def test_a_mistake_that_blackens_the_target_is_no_want_of_pictures() -> None:
    for ddi in (7, 8):
        case = case_of("walk.length.clear.2", ddi)
        outcome = run_case(case, Clearing(ddi))
        assert outcome.verdict is Verdict.FAILED and "instead of" in outcome.why


# The version of a driver and its capabilities


class Telling(Old):
    """A driver of an early version that announces its capabilities."""

    def capabilities(self) -> Capabilities:
        return Capabilities(self.ddi, queries=())


def test_the_version_is_what_a_driver_announces() -> None:
    assert version_of(Telling(7)) == 7
    assert version_of(Old(7)) == 9


def test_a_case_is_skipped_if_its_needs_are_not_announced() -> None:
    need = query_need(QueryType.OCCLUSION)
    case = replace(kit("draw.none", ddi=8)[0], needs=(need,))
    outcomes = list(run_kit([case], Telling(8)))
    assert [(o.verdict, o.lacks) for o in outcomes] == [(Verdict.SKIPPED, (need.name,))]
    assert need.name in outcomes[0].why
    assert table(outcomes)[-1] == f"  {need.name}: 1"
    assert document("rig", outcomes, 8)["cases"][0]["lacks"] == [need.name]
    assert [o.verdict for o in run_kit([case], Old(8))] == [Verdict.PASSED]


def test_the_command_takes_the_version(tmp_path: Path) -> None:
    ran = dp2emu("conform", "draw.none", "state", "--ddi", "7", "--json", tmp_path / "out.json")
    assert (ran.code, ran.err) == (0, "DirectX 7: 5 passed, 0 failed, 0 warned, 0 skipped\n")
    made = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert (made["ddi"], [row["since"] for row in made["cases"]]) == (7, [6, 7, 7, 7, 6])
    listed = dp2emu("conform", "draw.none", "--ddi", "6", "--list")
    assert listed.out.endswith(b"; since DirectX 6)\n")
    assert dp2emu("conform", "query", "--ddi", "8").code == 2


def test_exported_cases_of_an_early_version_replay_as_recorded(tmp_path: Path) -> None:
    cases = kit("draw.viewport", "error.header", "walk.none.points", ddi=6)
    assert export(cases, tmp_path) == len(cases)
    index = json.loads((tmp_path / "cases.json").read_text("utf-8"))
    assert {row["since"] for row in index["cases"]} == {6}
    for case in cases:
        with open_capture(tmp_path / f"{case.name}.dp2log") as capture:
            tally = replay(capture)
        assert (tally.different, tally.faults) == (0, 0)

"""Drivers are fuzzed: what is judged, what a finding has, and which planted mistakes are found."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace

from dp2emu.capture.records import Called
from dp2emu.conform.script import create, dwords, end, render_state, token
from dp2emu.d3d.capabilities import Capabilities
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import QueryType, RenderState, ShadeMode
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.call import Answer, Call
from dp2emu.dp2.table import TABLE, Since
from dp2emu.fuzz import grammar, rig_inputs, rig_programs
from dp2emu.fuzz.rig_inputs import TAME, Known
from dp2emu.fuzz.rig_judge import Queries, Seen, check_continued, check_walk, seen
from dp2emu.fuzz.rigs import RigSetting, Session, target_of
from dp2emu.fuzz.target import Deviation
from tests.cli.running import dp2emu
from tests.conform.mistakes import DOUBTED, SAID
from tests.native.building import HERE, sample, served_sample

PAIR = dwords(Op.CLEAR, 1, 0, 0, 0)
"""A token of 20 bytes."""


def answered(commands: bytes, hr: int = 0, offset: int = 0, response: bytes = b"") -> Seen:
    call = Call(1, 5, dwCommandLength=len(commands), commands=commands, dwVertexSize=20)
    return seen(call, Answer(hr, offset, 0, response))


def site_of(commands: bytes, hr: int = 0, offset: int = 0, ddi: Since = Since.DX9) -> str:
    with pytest.raises(Deviation) as raised:
        check_walk(answered(commands, hr, offset), ddi)
    return raised.value.site


FAILED = HResult.D3DERR_DRIVERINVALIDCALL


def test_a_failing_call_names_the_start_of_a_token() -> None:
    event = create(1)
    check_walk(answered(event + event, FAILED, len(event)), Since.DX9)
    check_walk(answered(event + b"\xff\0\0\0", FAILED, len(event)), Since.DX9)
    where = site_of(event + event, FAILED, 8)
    assert where == "dwErrorOffset is not the start of a token"


def test_an_offset_that_counts_from_the_first_command_is_one_site() -> None:
    commands = create(1) + create(2)
    call = Call(1, 5, 16, len(commands), commands=commands, dwVertexSize=20)
    with pytest.raises(Deviation, match="counts from the first command"):
        check_walk(seen(call, Answer(FAILED, 12, 0)), Since.DX9)


def test_a_stream_that_cannot_be_decoded_does_not_succeed() -> None:
    assert "an unassigned opcode" in site_of(create(1) + b"\xff\0\0\0")
    assert "longer than the commands" in site_of(create(1) + create(2)[:-1])


def test_a_token_of_a_later_version_is_not_judged() -> None:
    check_walk(answered(create(1)[:-1]), Since.DX8)


def told(*calls: tuple[bytes, bytes]) -> Queries:
    queries = Queries(512)
    for commands, response in calls:
        queries.hear(answered(commands, 0, len(response), response), commands)
    return queries


def response(*answers: int) -> bytes:
    records = b"".join(struct.pack("<3I", query, 4, 1) for query in answers)
    return struct.pack("<BBHI", Op.RESPONSEQUERY, 0, len(answers), 8 + len(records)) + records


def test_an_answer_that_never_comes_is_lost() -> None:
    queries = told((create(3) + end(3), b""), (b"", b""))
    assert queries.missing() == [3]
    with pytest.raises(Deviation, match="a lost answer"):
        queries.check_missing()
    told((create(3) + end(3), b""), (b"", response(3))).check_missing()


def test_answers_of_a_type_come_in_order() -> None:
    asked = create(3) + create(4) + end(3) + end(4)
    told((asked, response(3, 4)))
    with pytest.raises(Deviation, match="out of order"):
        told((asked, response(4, 3)))


@pytest.mark.parametrize("commands", [create(3), create(3) + end(3) + dwords(Op.DELETEQUERY, 3)])
def test_only_what_ended_is_answered(commands: bytes) -> None:
    with pytest.raises(Deviation, match="not due"):
        told((commands, response(3)))


def test_nothing_is_said_about_queries_that_end_twice() -> None:
    told((create(3) + end(3) + end(3), b""), (b"", b"")).check_missing()
    told((create(3) + end(3) + end(3), response(3)), (b"", response(3)))


@pytest.mark.parametrize("ddi", list(Since))
def test_inputs_have_the_tokens_of_a_version_alone(ddi: Since) -> None:
    rng = Random(1)
    data = rig_inputs.seed(ddi, rng)
    for _ in range(60):
        data = rig_inputs.mutate(ddi, rng, data, rig_inputs.seed(ddi, rng))
        for record in rig_programs.records(Known(ddi), data):
            if isinstance(record, Called) and data[:1] == bytes((TAME,)):
                tokens = grammar.tokens_of(record.call.commands or b"")
                assert all(TABLE[each[0]].since <= ddi for each in tokens if each[0] in TABLE)


def test_what_a_driver_does_not_announce_is_not_sent() -> None:
    words = {"PrimitiveMiscCaps": 0, "RasterCaps": 0, "AlphaCmpCaps": 0, "MaxVertexIndex": 0xFFFF}
    known = Known(Since.DX9, (), frozenset({Op.SETPRIORITY}), Capabilities(9, words))
    priority = dwords(Op.SETPRIORITY, 4, 1)
    (_, call, _) = rig_programs.records(known, b"\0" + priority + create(1))
    assert isinstance(call, Called) and call.call.commands == create(1)
    sent = b""
    for number in range(60):
        for record in rig_programs.records(known, bytes((TAME, number))):
            if isinstance(record, Called):
                assert known.announces(record.call.commands or b"")
                sent += record.call.commands or b""
    assert dwords(Op.SETINDICES, rig_inputs.INDICES, 2) in sent
    assert dwords(Op.SETINDICES, rig_inputs.WIDE_INDICES, 4) not in sent


def test_part_of_a_flat_program_mixes_no_colours() -> None:
    flat = render_state(RenderState.SHADEMODE, ShadeMode.FLAT)
    programs = [
        rig_programs.records(Known(Since.DX9), bytes((TAME, number))) for number in range(20)
    ]
    for whole in programs:
        rest = [
            replace(each, call=replace(each.call, commands=b""))
            if isinstance(each, Called) and flat in (each.call.commands or b"")
            else each
            for each in whole
        ]
        assert rig_programs.exact(whole, whole)
        assert rig_programs.exact(rest, whole) == (rest == whole)
    assert any(flat in (each.call.commands or b"")
               for whole in programs for each in whole if isinstance(each, Called))  # fmt: skip


def played(spec: str, inputs: int, ddi: int = 9) -> Session:
    """A session in which a driver has kept all rules for tame and wild inputs."""
    session, rng = Session(RigSetting(spec, ddi)), Random(3)
    session.probe()
    for number in range(inputs):
        data = (
            bytes((TAME,)) + rng.randbytes(8) if number % 2 else rig_inputs.seed(Since(ddi), rng)
        )
        records = rig_programs.records(session.about, data)
        session.play(records, tame=data[:1] == bytes((TAME,)))
    session.close()
    return session


@pytest.mark.parametrize("kind", ["native", pytest.param("pipe", marks=pytest.mark.slow)])
def test_a_driver_without_a_mistake_keeps_all_rules(kind: str) -> None:
    spec = f"native:{sample()}" if kind == "native" else f"pipe:{served_sample()}"
    session = played(spec, 4)
    assert session.about.types == (QueryType.EVENT, QueryType.OCCLUSION, QueryType.VCACHE)
    assert Op.CLEAR in session.known and session.draws


@pytest.mark.slow
def test_a_crash_is_one_finding_with_call_token_and_stack() -> None:
    session = Session(RigSetting(f"native:{sample('CRASHES')}"))
    session.restart()
    records = rig_programs.records(Known(Since.DX9), b"\0" + token(Op.RENDERSTATE, bytes(8)))
    with pytest.raises(Deviation) as raised:
        session.play(records, tame=False)
    session.close()
    report = raised.value.report
    assert "crash: SIGSEGV outside of all buffers in " in report
    assert "D3dDrawPrimitives2, address 0x0\nin call 0\n" in report
    assert "RENDERSTATE at byte 0" in report
    assert "in run < D3dDrawPrimitives2," in report


def test_nothing_is_said_about_a_clear_without_rectangles() -> None:
    clear = token(Op.CLEAR, bytes(16), 0)
    check_walk(answered(clear + create(1), FAILED, 12), Since.DX9)


def test_nothing_is_said_about_what_follows_an_extension() -> None:
    extended = token(Op.EXT, struct.pack("<3I", 1, 12, 7))
    check_walk(answered(extended + create(1), FAILED, 13), Since.DX9)
    check_walk(answered(extended[:-4]), Since.DX9)
    plain = token(Op.EXT, struct.pack("<2I", 1, 8))
    assert "not the start" in site_of(plain + create(1), FAILED, 13)


def test_a_response_has_an_answer() -> None:
    with pytest.raises(Deviation, match="a response without an answer"):
        told((create(3), response()))


def test_a_prompt_driver_says_that_answers_are_left() -> None:
    asked = create(3) + create(4) + end(3) + end(4)
    continued = response(3) + struct.pack("<BBHI", Op.RESPONSECONTINUE, 0, 0, 8)
    check_continued(told((asked, continued)), told((asked, continued)))
    check_continued(told((asked, continued)), told((asked, response(3, 4))))
    with pytest.raises(Deviation, match="without its RESPONSECONTINUE"):
        check_continued(told((asked, continued)), told((asked, response(3))))


def cause_of(bug: str, commands: bytes) -> str:
    """What is found in a driver with a mistake by the commands of a wild input."""
    trial = target_of(RigSetting(f"native:{sample(bug)}").target.partition(":")[2]).make()
    with pytest.raises(Deviation) as raised:
        trial(b"\0" + commands)
    return raised.value.site


@pytest.mark.parametrize(
    "behind",
    [
        pytest.param(create(1), marks=pytest.mark.slow),
        pytest.param(b"\xff\0\0\0", marks=pytest.mark.slow),
        pytest.param(dwords(Op.DELETEQUERY, 7), marks=pytest.mark.slow),
    ],
)
def test_a_wrong_length_is_one_finding_whatever_is_behind(behind: bytes) -> None:
    boxes = token(Op.CLEAR, bytes(48), 2)
    assert cause_of("CLEAR_LENGTH", boxes + behind) == "the length of CLEAR"


@pytest.mark.slow
def test_a_driver_that_skips_invalid_tokens_is_not_said_to_mistake_lengths() -> None:
    assert "an unassigned opcode" in cause_of("UNKNOWN_SKIPPED", create(1) + b"\xff\0\0\0")


def test_another_rig_is_refused(tmp_path: Path) -> None:
    ran = dp2emu("fuzz", "--rig", "emulator", "--corpus", tmp_path / "c", "--execs", "1")
    assert ran.code == 2 and "only native:LIBRARY and pipe:COMMAND are fuzzed" in ran.err
    target = target_of(RigSetting("native:x.so", ddi=8).target.partition(":")[2])
    assert target.name == "native"


FINDABLE = (
    "ALPHA_STRICT", "ANSWERS_FAILURES", "BASE_IGNORED", "BASE_UNSIGNED", "BOTTOM_RIGHT_RULE",
    "CAPACITY_OF_CALL", "CAPTURE_IGNORED", "CHANNEL_ORDER", "CLEAR_FIRST_RECT",
    "CLEAR_IGNORES_RECTS", "CLEAR_INCLUSIVE", "CLEAR_LENGTH", "CONSTB_LENGTH", "CRASHES",
    "CULL_INVERTED", "CUT_PASSED", "DELETED_ANSWERS", "DEST_ALPHA",
    "DIFFUSE_OFFSET", "EDGES_DRAWN", "EMPTY_RESPONSE", "ERROR_OFFSET_BEHIND",
    "ERROR_OFFSET_FROM_FIRST", "EXECUTE_IGNORED", "FAN_CENTRE", "FAN_DOUBLES_FIRST",
    "FIRST_DELETED", "FIRST_DRAW", "FIRST_STATE", "FIRST_TARGET", "FIRST_TRIANGLE",
    "FLAT_LAST", "HALF_PIXEL", "HANGS", "IMM_NOT_ALIGNED", "INDEX_16_BITS",
    "INDEX_CHECK", "INDEX_START_IGNORED", "INDICES_UNCHECKED", "ISSUE_FLAGS", "LEFT_OVER_LOST",
    "MASK_IGNORED", "MASK_ORDER", "MIN_INDEX_ADDED", "NEWEST_FIRST", "NO_CONTINUE", "NO_RESERVE",
    "OFFSET_IN_VERTICES", "OVERRUNS", "PATCH_TAILS", "PREVIOUS_STRIDE", "RECORDS_AND_SETS",
    "RESTART_ADDS", "REVSUBTRACT", "SCISSOR_ALWAYS", "SCISSOR_SIZED", "SETLIGHT_LENGTH",
    "SETPRIORITY_LENGTH", "SETRENDERTARGET_LENGTH", "SETTEXLOD_LENGTH", "SHORT_HEADER",
    "STALE_INDICES", "START_IGNORED", "START_INDEX_IGNORED", "STREAM_NUMBER", "STREAM_OFFSET",
    "STRIP_LAST", "STRIP_WINDING", "TOTAL_WITHOUT_HEADER", "UNKNOWN_SKIPPED",
    "USER_MEMORY_ALONE", "VERTEX_OFFSET", "VERTEX_SIZE_LATE",
    "VIEWPORT_IGNORED", "VIEWPORT_SIDES",
)  # fmt: skip
"""Planted mistakes of the sample driver that inputs have shown."""
HIDDEN = {
    "ALPHAOP_IGNORED": "no program has a texture",
    "CLEAR_WITHOUT_RECT": "documents disagree about the size of a CLEAR without rectangles",
    "DEPTH_FIRST": "no program has a depth surface",
    "END_COUNTS_ALL": "no document says what a query counts that ends without having begun",
    "INDEX_WRAPS": "no program has more than 65,536 vertices",
}
"""Planted mistakes that an input cannot show, with the reason."""


def test_each_known_mistake_is_findable_or_hidden() -> None:
    assert not set(FINDABLE) & set(HIDDEN)
    planted = {
        bug
        for path in HERE.glob("sample*.c")
        for bug in re.findall(r"BUG_(\w+)", path.read_text("ascii"))
    }
    assert {*FINDABLE, *HIDDEN} <= planted
    known = {*SAID, *(bug for bug, _ in DOUBTED)}
    assert known <= {*FINDABLE, *HIDDEN}


@pytest.mark.parametrize("spec", ["native:/nowhere/a.so", "pipe:/nowhere/a", "pipe:true"])
def test_a_driver_that_does_not_start_is_no_finding(spec: str, tmp_path: Path) -> None:
    ran = dp2emu("fuzz", "--rig", spec, "--corpus", tmp_path / "c")
    assert ran.code == 2 and ran.err.count("\n") == 1, ran.err
    assert not (tmp_path / "c").exists()


@pytest.mark.slow
def test_a_campaign_ends_whose_driver_hangs_at_each_input(tmp_path: Path) -> None:
    spec = f"native:{sample('HANGS')}"
    ran = dp2emu("fuzz", "--rig", spec, "--corpus", tmp_path, "--timeout", 0.2, "--json")
    assert ran.code == 1
    told = json.loads(ran.out)
    assert told["stopped"] == "the driver hangs at each of 8 inputs in succession"
    assert told["execs"] >= 8 and told["stopped"] in ran.err


@pytest.mark.slow
@pytest.mark.parametrize("bug", FINDABLE)
def test_a_planted_mistake_is_found(bug: str, tmp_path: Path) -> None:
    spec = f"native:{sample(bug)}"
    ran = dp2emu("fuzz", "--rig", spec, "--corpus", tmp_path, "--execs", 20000, "--seed", 1)
    assert ran.code == 1
    reports = [path.read_text() for path in (tmp_path / "findings").glob("*.txt")]
    assert reports
    for path in (tmp_path / "findings").glob("*.dp2"):
        assert path.with_suffix(".c").exists()


@pytest.mark.slow
def test_a_finding_has_a_count_of_inputs_in_all_reports(tmp_path: Path) -> None:
    spec, junit = f"native:{sample('CUT_PASSED')}", tmp_path / "fuzz.xml"
    ran = dp2emu("fuzz", "--rig", spec, "--corpus", tmp_path / "c", "--execs", 400, "--jobs", 2,
                 "--json", "--junit", junit)  # fmt: skip
    told = json.loads(ran.out)
    assert ran.code == 1 and told["jobs"] == 2 and told["execs"] == 400
    assert len(told["inputs"]) == len(told["findings"]) > 0 and min(told["inputs"]) > 0
    for name, inputs in zip(told["findings"], told["inputs"], strict=True):
        words = f"({inputs} input{'s' * (inputs > 1)})"
        assert f"{name} {words}" in ran.err and words in junit.read_text()


@pytest.mark.slow
def test_no_mistake_is_found_in_a_driver_without_one(tmp_path: Path) -> None:
    ran = dp2emu("fuzz", "--rig", f"native:{sample()}", "--corpus", tmp_path, "--execs", 20000)
    assert ran.code == 0, ran.err

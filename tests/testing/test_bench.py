"""The bench: calls of a test's own beside a device's, all of it replayable."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from dp2emu.capture import open_capture
from dp2emu.capture.records import Called
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import QueryType
from dp2emu.errors import UsageError
from dp2emu.replay import replay
from dp2emu.testing import Bench, Setup, Tape
from tests.dp2.rigging import XYZRHW_DIFFUSE, rectangle, triangle_list
from tests.runtime.rigs import ScriptedRig


def test_own_queries_and_those_of_the_device_do_not_meet() -> None:
    with Setup().bench() as bench:
        event = bench.device.create_query(QueryType.EVENT)
        event.end()
        bench.emit(Op.CREATEQUERY, [(1, QueryType.EVENT)]).emit(Op.ISSUEQUERY, [(1, 1)])
        assert bench.ask() == {1: struct.pack("<I", 1)}
        assert event.wait().data is not None


def test_draws_between_begin_and_end_are_counted() -> None:
    with Setup().bench() as bench:
        bench.emit(Op.CREATEQUERY, [(4, QueryType.OCCLUSION)]).emit(Op.ISSUEQUERY, [(4, 2)])
        sent = bench.commands.take() + triangle_list(0, 2)
        bench.device.clear(z=1.0)
        bench.submit(sent, vertices=rectangle(1, 2, 5, 3), fvf=XYZRHW_DIFFUSE)
        assert bench.emit(Op.ISSUEQUERY, [(4, 1)]).ask() == {4: struct.pack("<I", 15)}


def test_the_tape_replays_with_the_same_answers() -> None:
    with Setup(timing="work").bench() as bench:
        bench.emit(Op.CREATEQUERY, [(1, QueryType.EVENT)]).emit(Op.ISSUEQUERY, [(1, 1)]).submit()
        bench.finish()
        assert bench.ask() == {1: struct.pack("<I", 1)}
        tally = replay(bench.tape)
    assert (tally.compared, tally.different, tally.faults) == (3, 0, 0)
    assert tally.timing.startswith("work")


def test_what_waits_is_saved_behind_the_tape_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "saved.dp2"
    with Setup().bench() as bench:
        bench.emit(Op.CREATEQUERY, [(1, QueryType.EVENT)]).submit()
        bench.device.clear(color=0xFF102030)
        bench.emit(Op.ISSUEQUERY, [(1, 1)])
        bench.save(path)
        assert bench.ask() == {1: struct.pack("<I", 1)}
    with open_capture(str(path)) as capture:
        calls = [each.call.commands for each in capture.records() if isinstance(each, Called)]
        assert [data[0] for data in calls[-3:]] == [Op.CREATEQUERY, Op.CLEAR, Op.ISSUEQUERY]
    with open_capture(str(path)) as capture:
        tally = replay(capture)
    assert (tally.calls, tally.faults, tally.different) == (len(calls), 0, 0)


def test_a_shot_is_of_what_was_drawn() -> None:
    with Setup(width=3, height=2).bench() as bench:
        bench.device.clear(color=0xFF203040)
        shot = bench.shot()
    assert shot.pixels.shape[:2] == (2, 3)
    assert shot[2, 1] == (0x20, 0x30, 0x40)


def test_more_than_fits_a_call_is_refused() -> None:
    full = pytest.raises(UsageError, match="more than 1024 bytes")
    with Setup(command_bytes=1024).bench() as bench, full:
        for _ in range(20):
            bench.emit(Op.ISSUEQUERY, [(1, 1)] * 10)


def test_names_of_no_member_are_refused() -> None:
    with pytest.raises(UsageError, match="no 'colour'"):
        Setup().with_({"colour": 1})


def test_a_rig_without_a_gpu_says_so() -> None:
    bench = Bench(ScriptedRig(), Tape(), 4, 4)
    with pytest.raises(UsageError, match="ScriptedRig shows no GPU"):
        assert bench.gpu


def test_a_scenario_needs_the_emulator(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text("")
    setup = Setup(rig="native:none", scenario=tmp_path / "s.toml")
    with pytest.raises(UsageError, match="only the emulator"), setup.bench():
        raise AssertionError


@pytest.mark.parametrize("removed", [False, True])
def test_an_adapter_follows_the_scenario(tmp_path: Path, removed: bool) -> None:
    (tmp_path / "s.toml").write_text("lost.call = 0" if removed else "")
    adapter = Setup(scenario=tmp_path / "s.toml").adapter()
    adapter.count_call()
    assert adapter.removed is removed

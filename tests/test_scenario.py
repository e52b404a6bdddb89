"""Scenarios: the effect of each part of a file, and invalid files."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.capture import open_capture
from dp2emu.capture.records import Called
from dp2emu.d3d.enums import Format, QueryType
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.call import Answer, Call
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.options import Options
from dp2emu.errors import Dp2Error, Fault, UsageError
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from dp2emu.gpu.resource.memory_residency import Place
from dp2emu.limits import Limits
from dp2emu.runtime10 import DriverDevice, Query
from dp2emu.scenario import Scenario, load_scenario, parse_scenario
from tests.cli.running import dp2emu
from tests.dp2.rigging import create, issue, payloads
from tests.refusals import refuses
from tests.tools.loading import ROOT


def staged(data: dict[str, Any]) -> Driver:
    driver = parse_scenario(data).driver()
    driver.create_surface(SurfaceDesc(1, SurfaceKind.SURFACE, 4, 4, int(Format.X8R8G8B8)))
    driver.create_surface(SurfaceDesc(2, SurfaceKind.MEMORY, 256))
    driver.create_context(1, color=1)
    return driver


def call(driver: Driver, commands: bytes = b"") -> Answer:
    return driver.submit(Call(1, lpDDCommands=2, dwCommandLength=len(commands), commands=commands))


def test_answers_of_different_types_overtake_each_other() -> None:
    driver = staged({"timing": "fixed:call=10,packet=0", "delivery": {"EVENT": [25, 0]}})
    both = create(1, QueryType.EVENT) + create(2, QueryType.OCCLUSION)
    first = call(driver, both + issue(1, 1) + issue(2, 3))
    assert list(payloads(first.response)) == [2]
    later = [list(payloads(call(driver).response)) for _ in range(3)]
    assert later == [[], [1], []]


def test_answers_of_one_type_never_overtake_each_other() -> None:
    driver = staged({"timing": "fixed:call=10,packet=0", "delivery": {"EVENT": [25, 0]}})
    call(
        driver, create(1, QueryType.EVENT) + create(2, QueryType.EVENT) + issue(1, 1) + issue(2, 1)
    )
    assert payloads(call(driver).response) == {}
    assert list(payloads(call(driver).response)) == [1, 2]


def test_a_lost_call_executes_nothing_and_loses_no_answer() -> None:
    driver = staged({"timing": "fixed:call=10,delivery=15", "lost": {"call": 1, "calls": 2}})
    assert call(driver, create(1, QueryType.EVENT) + issue(1, 1)).ddrval == HResult.D3D_OK
    for _ in range(2):
        lost = call(driver, create(7, QueryType.EVENT))
        assert (lost.ddrval, lost.dwErrorOffset, lost.response) == (
            HResult.DDERR_SURFACELOST, 0, b"",
        )  # fmt: skip
    assert payloads(call(driver).response) == {1: struct.pack("<I", 1)}
    assert call(driver, issue(7, 1)).ddrval == HResult.DDERR_INVALIDPARAMS


def test_time_goes_on_while_the_device_is_lost() -> None:
    driver = staged({"timing": "fixed:call=10", "lost": {}})
    assert [call(driver).time for _ in range(3)] == [10, 20, 30]


DISJOINT = 3
"""D3D11_QUERY_TIMESTAMP_DISJOINT."""


def staged_device(data: dict[str, Any]) -> tuple[DriverDevice, list[Query], int]:
    """A Direct3D 11 device with two queries, and the number of calls so far."""
    adapter = parse_scenario(data).adapter(checking=True)
    device = DriverDevice(adapter)
    queries = [device.create_query(DISJOINT) for _ in range(2)]
    return device, queries, adapter._number  # type: ignore[attr-defined]


def test_a_clock_is_disturbed_before_a_call_of_direct3d_11() -> None:
    _, _, made = staged_device({})
    device, (one, other), _ = staged_device({"clock": {"changes": [made + 2]}})
    for query in (one, other):
        query.begin()
        device.call("Flush")
        query.end()  # of the first, the call with that number
    found = [query.value(query.wait().data or b"") for query in (one, other)]
    assert [each["Disjoint"] for each in found if isinstance(each, dict)] == [1, 0]


def test_an_adapter_is_lost_for_good() -> None:
    device = DriverDevice(parse_scenario({"lost": {"call": 0, "calls": 1}}).adapter())
    for _ in range(2):
        with pytest.raises(Dp2Error):
            device.create_buffer(16, 1, None)


def test_resources_spill_to_shared_memory_and_then_to_disk() -> None:
    data = {"residency": {"gpu": 100, "shared": 50, "disk": 1000}}
    residency = parse_scenario(data).adapter().gpu.residency
    handles = [residency.add(size) for size in (60, 40, 60)]
    assert [residency.place(handle) for handle in handles] == [Place.DISK, Place.GPU, Place.GPU]
    with pytest.raises(Fault):
        residency.add(900)


def test_a_disturbed_clock_makes_intervals_disjoint() -> None:
    driver = staged({"clock": {"changes": [1]}})
    kind = QueryType.TIMESTAMPDISJOINT
    call(driver, create(1, kind) + create(2, kind) + issue(1, 2))
    assert payloads(call(driver, issue(1, 1) + issue(2, 3)).response) == {
        1: struct.pack("<I", 1),
        2: struct.pack("<I", 0),
    }


def test_memory_has_limits() -> None:
    driver = parse_scenario({"memory": {"surface_bytes": 64}}).driver()
    driver.create_surface(SurfaceDesc(1, SurfaceKind.MEMORY, 64))
    with pytest.raises(Fault):
        driver.create_surface(SurfaceDesc(2, SurfaceKind.MEMORY, 65))


def test_command_buffers_have_the_scenarios_size() -> None:
    assert parse_scenario({"buffers": {"commands": 256}}).command_bytes == 256
    assert parse_scenario({}) == Scenario()


def test_toml_and_json_are_equivalent(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("[lost]\ncall = 3\n[clock]\nchanges = [1]\n")
    (tmp_path / "a.json").write_text(json.dumps({"lost": {"call": 3}, "clock": {"changes": [1]}}))
    assert load_scenario(tmp_path / "a.toml") == load_scenario(tmp_path / "a.json")


def test_a_timing_script_lies_beside_its_scenario(tmp_path: Path) -> None:
    (tmp_path / "times.json").write_text('{"call": [7]}')
    (tmp_path / "s.toml").write_text('timing = "scripted:times.json"')
    assert load_scenario(tmp_path / "s.toml").timed().call(0, 0) == 7


@pytest.mark.parametrize(
    ("data", "what"),
    [
        ([], "scenario: expected a table"),
        ({"colour": 1}, "unknown key 'colour'"),
        ({"timing": 3}, "name of a model"),
        ({"timing": "slow"}, "no timing model"),
        ({"buffers": {"commands": 63}}, "buffers.commands must be a number from 64"),
        ({"delivery": {"EVENTS": [1]}}, "unknown key 'EVENTS'"),
        ({"delivery": {"EVENT": []}}, "delivery.EVENT must be a list"),
        ({"delivery": {"EVENT": [-1]}}, "delivery.EVENT must be a number"),
        ({"clock": {"changes": [True]}}, "clock.changes must be a number"),
        ({"lost": {"call": 1.0}}, "lost.call must be a number"),
        ({"memory": {"surfaces": 0}}, "memory.surfaces must be a number from 1"),
    ],
)  # fmt: skip
def test_invalid_values_are_refused(data: object, what: str) -> None:
    with pytest.raises(UsageError, match=what):
        parse_scenario(data)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["timing", "lost", "call", "memory", "delivery", "EVENT", "clock"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@given(data=JSON)
def test_any_data_is_a_scenario_or_one_error(data: object) -> None:
    try:
        assert isinstance(parse_scenario(data), Scenario)
    except Dp2Error as error:
        assert str(error)


STREAM = str(ROOT / "streams" / "event_latency.dp2")


def test_a_replay_in_a_scenario_differs_from_its_capture(tmp_path: Path) -> None:
    (tmp_path / "lost.toml").write_text("[lost]\ncall = 1\ncalls = 1\n")
    (tmp_path / "none.toml").write_text('timing = "fixed:call=1000,packet=4000,delivery=500"')
    same = dp2emu("replay", STREAM, "--verify", "--scenario", tmp_path / "none.toml")
    lost = dp2emu("replay", STREAM, "--verify", "--scenario", tmp_path / "lost.toml")
    assert (same.code, lost.code) == (0, 3)


def test_a_scene_in_a_scenario_has_small_buffers(tmp_path: Path) -> None:
    scene = ROOT / "tests/golden/scenes/query/occ_overlap_random.json"
    (tmp_path / "small.toml").write_text("buffers.commands = 256")
    calls = []
    for options in ([], ["--scenario", tmp_path / "small.toml"]):
        capture = tmp_path / "scene.dp2"
        ran = dp2emu("scene", scene, "--out", tmp_path / "out", "--capture", capture, *options)
        assert ran.code == 0
        with open_capture(str(capture)) as stored:
            calls.append(sum(isinstance(record, Called) for record in stored.records()))
    assert calls[1] > calls[0]


@pytest.mark.parametrize(
    ("memory", "limit", "holds"),
    [
        ({}, "surfaces=2", ("surfaces", 2)),
        ({"surfaces": 3}, "surfaces=2", ("surfaces", 2)),
        ({"surfaces": 2}, "surfaces=3", ("surfaces", 2)),
        ({"surfaces": 70}, "call_tokens=2", ("call_tokens", 2)),
    ],
)
def test_the_lower_of_two_limits_applies(
    tmp_path: Path, memory: dict[str, int], limit: str, holds: tuple[str, int]
) -> None:
    path = tmp_path / "scenario.json"
    path.write_text(json.dumps({"memory": memory}))
    ran = dp2emu("replay", STREAM, "--scenario", path, "--limit", limit)
    assert refuses(ran.err, *holds)


def test_limits_without_a_scenario_may_be_raised() -> None:
    high = Limits(surfaces=1 << 20)
    assert parse_scenario({}).driver(Options(limits=high)).gpu.heap.limits == high


@pytest.mark.parametrize("limit", ["call_pixels=10", "call_tokens=1", "surfaces=1"])
def test_limits_apply_to_scenes(tmp_path: Path, limit: str) -> None:
    scene = ROOT / "tests/golden/scenes/query/occ_overlap_random.json"
    ran = dp2emu("scene", scene, "--out", tmp_path, "--limit", limit)
    name, _, most = limit.partition("=")
    assert refuses(ran.err, name, int(most))
    assert ran.code == 3


def test_other_rigs_have_no_scenarios(tmp_path: Path) -> None:
    (tmp_path / "empty.toml").write_text("")
    empty = tmp_path / "empty.toml"
    assert dp2emu("replay", STREAM, "--rig", f"recorded:{STREAM}", "--scenario", empty).code == 2


@pytest.mark.parametrize(("text", "why"), [
    ("a" + ".a" * 200_000 + " = 1", "at most 8 dots in line 1"),
    (f"[{'a.' * 1000}a]\n" * 200, "at most 8 dots in line 1"),
    ("[" * 100_000, "recursion|Cannot|Invalid"),
    ("#" * (1 << 20), "more than 524288 bytes"),
], ids=["key", "tables", "nested", "large"])  # fmt: skip
def test_files_that_are_slow_to_parse_are_refused(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "long.toml").write_text(text)
    with pytest.raises(UsageError, match=why):
        load_scenario(tmp_path / "long.toml")

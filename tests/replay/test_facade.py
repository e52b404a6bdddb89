"""Calls of the Direct3D 10/11 interface in a replay."""

from __future__ import annotations

import json
from collections.abc import Iterable
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from PIL import Image

from dp2emu.capture import CaptureWriter, open_capture
from dp2emu.capture.recorder import Recorder
from dp2emu.capture.records import (
    IMPORTED,
    Annotation,
    EntryCalled,
    FrameMarker,
    Observed,
    Pictured,
    PictureKind,
    Record,
)
from dp2emu.capture.values import Memory, Structure, Value
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.ddi10.adapter import Adapter, Cause
from dp2emu.ddi10.dxgi import GammaCaps, PresentArguments
from dp2emu.ddi10.queries.counters import StringOut
from dp2emu.ddi10.resources.maps import Map
from dp2emu.ddi10.resources.resource import CreateResource, MipInfo, ResourceType, Usage
from dp2emu.ddi10.resources.views import CreateTargetView
from dp2emu.errors import UsageError
from dp2emu.gpu.device.timing import fixed
from dp2emu.replay import Pictures, Watcher, replay
from dp2emu.replay.facade import Reply, entry_differences
from dp2emu.scene import play_scene10
from dp2emu.snapshot import Moment, snapshot, snapshot_text
from dp2emu.text import TextCapture, dump_text
from tests.capture.samples import VALUES, sealed
from tests.capture.test_recorder import Recording
from tests.cli.running import dp2emu
from tests.golden10.comparing import HERE
from tests.golden10.playing import write_shaders

from .running import Run

SCENES = (
    "clip/clip_inside",
    "msaa/msaa_quad",
    "predication/pred_occ_visible_value0",
    "protocol/proto_timestamp",
    "query_use/q_mixed_overlap",
    "shaders/sh_blend",
    "sm5/sm5_so_multistream",
    "streamout/so_two_one_overflows",
    "streamout/so_vs_strip",
)


RGBA8, D24S8 = DxgiFormat.R8G8B8A8_UNORM.value, DxgiFormat.D24_UNORM_S8_UINT.value


@pytest.fixture(scope="module")
def shaders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_shaders(tmp_path_factory.mktemp("shaders"))


def recorded(name: str, folder: Path, shaders: Path) -> Path:
    """The capture of a golden scene; its results lie beside."""
    path = HERE / "scenes" / f"{name}.json"
    capture = folder / "scene.dp2"
    assert play_scene10(path, folder, shaders=shaders, capture=capture).problems == ()
    return capture


@pytest.mark.parametrize("name", SCENES)
def test_a_scene_gives_the_same_answers_and_pictures(
    name: str, tmp_path: Path, shaders: Path
) -> None:
    capture = recorded(name, tmp_path, shaders)
    found = Run(file=capture.read_bytes(), pictures=Pictures(folder=tmp_path / "png"))
    assert found.faults == [] and found.differences == []
    assert found.tally.compared > 10 and found.tally.pictures == 1
    (row,) = found.document["pictures"]
    drawn, shown = (
        np.asarray(Image.open(path).convert("RGBA"))
        for path in (tmp_path / f"{Path(name).name}.rt.png", tmp_path / "png" / row["file"])
    )
    assert (drawn == shown).all()


def test_a_capture_comes_back_from_text_byte_for_byte(tmp_path: Path, shaders: Path) -> None:
    capture = recorded("msaa/msaa_samplemask", tmp_path, shaders)
    text, again = tmp_path / "a.txt", tmp_path / "b.dp2"
    text.write_bytes(dp2emu("dump", capture).out)
    assert dp2emu("assemble", text, "-o", again).code == 0
    assert again.read_bytes() == capture.read_bytes()
    lines = dp2emu("dump", capture, "--jsonl").out.splitlines()
    assert sum(line.startswith(b'{"record":"entry"') for line in lines) > 40


def test_verbs_tell_of_such_calls(tmp_path: Path, shaders: Path) -> None:
    capture = recorded("clip/clip_inside", tmp_path, shaders)
    ran = dp2emu("replay", capture, "--verify")
    assert ran.code == 0 and "calls of the 10/11 interface" in ran.err
    assert b"calls of the 10/11 interface" in dp2emu("info", capture).out
    log = tmp_path / "a.log"
    assert dp2emu("convert", capture, log).code == 0
    assert dp2emu("replay", log, "--verify").code == 0


def play(records: Iterable[Record], **options: Any) -> Run:
    return Run(file=sealed(records), **options)


def test_disturbances_are_told_with_their_cause() -> None:
    recording = Recording(Adapter())
    recording.recorder.advance(7)
    for cause in Cause:
        recording.recorder.disturb(cause)
    found = play(recording.records)
    assert [row["cause"] for row in found.document["disturbances"]] == [
        "power state", "throttling", "power supply", "heat"
    ]  # fmt: skip
    assert {row["time"] for row in found.document["disturbances"]} == {7}


def test_what_the_host_wrote_is_there_again() -> None:
    recording = Recording()
    description = CreateResource((MipInfo(4),), None, ResourceType.BUFFER, Usage.STAGING)
    memory = bytearray(recording.device.functions["CalcPrivateResourceSize"](description))
    recording.call("CreateResource", description, memory, 0)
    for kind in (Map.WRITE, Map.READ):
        mapped = recording.device.functions["StagingResourceMap"](memory, 0, kind, 0)
        if kind is Map.WRITE:
            mapped.pData[:] = b"abcd"
        recording.call("StagingResourceUnmap", memory, 0)
    found = play(recording.records)
    assert (found.faults, found.differences) == ([], [])
    (read,) = (
        row["result"]["MappedSubresource"][0]
        for row in found.document["entries"]
        if row["function"] == "StagingResourceMap" and row["result"]["MappedSubresource"][0]
    )
    assert read == {"hex": b"abcd".hex()}


def test_pictures_of_all_targets_are_those_of_the_device(tmp_path: Path, shaders: Path) -> None:
    capture = recorded("clip/clip_inside", tmp_path, shaders)
    pictures = Pictures(folder=tmp_path / "png", sheet=tmp_path / "a.png", all_targets=True)
    found = Run(file=capture.read_bytes(), pictures=pictures)
    assert len(found.pictures) == 1 and (tmp_path / "a.png").exists()


def test_a_removed_device_answers_as_recorded() -> None:
    recording = Recording()
    query = recording.query()
    recording.recorder.remove(after=1)
    recording.call("QueryEnd", query)
    recording.call("QueryEnd", query)
    found = play(recording.records)
    assert (found.faults, found.differences) == ([], [])
    assert [row["codes"] for row in found.document["entries"]][-1] == ["0x88760870"]


def test_a_difference_says_what_and_where() -> None:
    recording = Recording()
    query = recording.query()
    recording.call("QueryEnd", query)
    recording.call("QueryGetData", query, bytearray(4), 4, 0)
    *rest, last = recording.records
    other = replace(last, written=((0, b"\2\0\0\0"),), codes=(5,), result=1)
    found = play([*rest, other])
    assert [str(each) for each in found.differences] == [
        "call 4: QueryGetData returned: recorded 1, replayed None",
        "call 4: QueryGetData reported: recorded 0x00000005, replayed nothing",
        "call 4: QueryGetData filled in: recorded 02 00 00 00, replayed 01 00 00 00",
    ]
    assert (found.tally.compared, found.tally.different) == (2, 1)


def test_structures_and_lists_that_are_filled_are_compared() -> None:
    recording = Recording()
    description = CreateResource((MipInfo(4),), None, ResourceType.BUFFER)
    memory = bytearray(recording.device.functions["CalcPrivateResourceSize"](description))
    recording.call("CreateResource", description, memory, 0)
    recording.device.dxgi_functions["QueryResourceResidency"]([memory], [0])
    recording.device.dxgi_functions["GetGammaCaps"](GammaCaps())
    recording.call("CheckCounter", 0x1000, StringOut(bytearray(99), 99), StringOut(None), None)
    *_, residency, gamma, strings = recording.records
    assert residency.result == Structure("Filled", (0, ((1, (1,)),)))
    assert "Filled" in repr(gamma.result) and "Filled" in repr(strings.result)
    found = play(recording.records)
    assert (found.faults, found.differences) == ([], [])
    wrong = replace(residency, result=Structure("Filled", (0, ((1, (3,)),))))
    assert play([*recording.records[:-3], wrong]).tally.different == 1


def test_a_slow_gpu_answers_other_things_and_the_replay_goes_on() -> None:
    recording = Recording()
    query = recording.query()
    recording.call("QueryEnd", query)
    recording.call("QueryGetData", query, bytearray(4), 4, 0)
    found = play(recording.records, timing=fixed(call=1, delivery=100))
    assert found.tally.different == 1 and found.faults == []


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        (33, 32, "returned: recorded 33, replayed 32"),
        ((1, (2, 3)), (1, (2, 4)), "returned 1 1: recorded 3, replayed 4"),
        (Structure("MappedSubresource", (b"\1\2\3", 4, 0)),
         Structure("MappedSubresource", (b"\1\2\4", 4, 0)),
         "returned MappedSubresource.pData byte 2: recorded 3, replayed 4"),
        (Structure("MappedSubresource", (None, 4)), Structure("MappedSubresource", (None, 8)),
         "returned MappedSubresource.RowPitch: recorded 4, replayed 8"),
        (Structure("Unknown", (1, 2)), Structure("Unknown", (1, 3)),
         "returned Unknown.1: recorded 2, replayed 3"),
        (b"\1", b"\1\2", r"returned: recorded b'\x01', replayed b'\x01\x02'"),
        ((1,), None, "returned: recorded (1,), replayed None"),
    ],
)  # fmt: skip
def test_a_difference_names_the_first_part_that_differs(old: Value, new: Value, what: str) -> None:
    (found,) = entry_differences(7, "Map", Reply(old), Reply(new))
    assert str(found) == f"call 7: Map {what}"


def test_what_was_presented_is_a_frame(tmp_path: Path, shaders: Path) -> None:
    capture = recorded("clip/clip_inside", tmp_path, shaders)
    with open_capture(capture) as opened:
        records = [each for each in opened.records() if isinstance(each, EntryCalled)]
    texture = next(each for each in records if each.entry == "CreateResource").arguments[1]
    shown = Structure("PresentArguments", (texture,))
    clears = [n for n, each in enumerate(records) if each.entry == "Draw"]
    at = clears[-1] + 1
    records.insert(at, EntryCalled(1, 110, "DXGI.Present", (shown,), 0))
    found = play(records, pictures=Pictures(folder=tmp_path / "png"))
    assert (found.faults, found.tally.frames) == ([], 1)
    assert found.pictures[0]["frame"] == 0


DEVICE = EntryCalled(0, 110, "Adapter.CreateDevice", (1,))


@pytest.mark.parametrize(
    ("record", "what"),
    [
        (EntryCalled(2, 110, "Flush"), "device 2, of which there is none"),
        (EntryCalled(1, 110, "Fly"), "no function Fly in version 110"),
        (EntryCalled(1, 110, "DXGI.Fly"), "no function DXGI.Fly"),
        (EntryCalled(1, 110, "Adapter.Fly"), "no function Adapter.Fly"),
        (EntryCalled(1, 110, "Flush", (1,)), "Flush with 1 arguments"),
        (EntryCalled(1, 110, "Draw", (1,)), "Draw with 1 arguments"),
        (EntryCalled(1, 110, "Draw", (1, "2")), "start cannot be '2'"),
        (EntryCalled(1, 110, "Draw", (1, 1 << 40)), "start cannot be"),
        (EntryCalled(1, 110, "QueryEnd", (Memory(9, 4),)), "no query"),
        (EntryCalled(1, 110, "QueryEnd", (Memory(9, 1 << 40),)), "an object of"),
        (EntryCalled(1, 110, "QueryEnd", (3,)), "memory cannot be 3"),
        (EntryCalled(1, 110, "CreateQuery", (Structure("Viewport", (1,)), b"", 0)),
         "Viewport in the place of CreateQuery"),
        (EntryCalled(1, 110, "CreateQuery", (Structure("CreateQuery", ()), b"", 0)),
         "CreateQuery with 0 members"),
        (EntryCalled(1, 110, "CreateBlendState", (Structure("X", ()), b"", 0)), "desc cannot be"),
        (EntryCalled(1, 110, "CreateBlendState",
                     (Structure("BlendDesc1", (0, 0, ())), Memory(1, 16), 0)), "undefined value"),
        (EntryCalled(0, 110, "Adapter.CreateDevice", (1,)), "device 1: it exists"),
        (EntryCalled(0, 5, "Adapter.CreateDevice", (2,)), "this interface version"),
        (EntryCalled(0, 110, "Adapter.CreateDevice", ()), "takes 1 numbers"),
        (EntryCalled(0, 110, "Adapter.Advance", (-1,)), "takes 1 numbers"),
        (EntryCalled(0, 110, "Adapter.Disturb", ("rain",)), "one cause"),
        (EntryCalled(1, 110, "Host.Write", (1,)), "takes a handle"),
        (EntryCalled(1, 110, "Host.Write", (Memory(1, 4), 0, b"")), "nothing is mapped"),
    ],
)  # fmt: skip
def test_what_no_runtime_does_is_one_fault(record: EntryCalled, what: str) -> None:
    found = play([DEVICE, record, FrameMarker(0)])
    assert len(found.faults) == 1
    assert what in str(found.faults[0])


def test_a_fault_that_was_recorded_is_known() -> None:
    refused = EntryCalled(1, 110, "CreateHullShader", (b"", b"", 0),
                          Structure("Raised", ("ContractError",)))  # fmt: skip
    found = play([DEVICE, refused])
    assert (found.faults, found.tally.known_faults) == ([], 1)


@pytest.fixture(scope="module")
def entries(tmp_path_factory: pytest.TempPathFactory, shaders: Path) -> list[EntryCalled]:
    folder = tmp_path_factory.mktemp("entries")
    capture = recorded("shaders/sh_blend", folder, shaders)
    with open_capture(BytesIO(capture.read_bytes())) as opened:
        return [each for each in opened.records() if isinstance(each, EntryCalled)]


def mutated(value: Value, wild: Value, at: int) -> Value:
    """A value in which a part is replaced."""
    if isinstance(value, tuple) and value:
        place = at % len(value)
        part = mutated(value[place], wild, at // len(value))
        return (*value[:place], part, *value[place + 1 :])
    if isinstance(value, Structure) and at % 3:
        members = mutated(value.members, wild, at // 3)
        return Structure(value.name, members if isinstance(members, tuple) else (members,))
    return wild


_NUMBERS = st.integers(0, 30) | st.integers(0, 2**32 - 1)
SEEN_BY_PROGRAMS = st.one_of(
    st.builds(
        Pictured, st.just(7), st.sampled_from(PictureKind), _NUMBERS, _NUMBERS,
        st.binary(max_size=9),
    ),
    st.builds(
        Observed, st.just(7), st.integers(0, 1), _NUMBERS, st.sampled_from([0, 1, 0x887A0001]),
        st.binary(max_size=99),
    ),
    st.builds(FrameMarker, st.just(0), _NUMBERS),
)  # fmt: skip
"""What a program showed, read and got, mostly of resources and queries that there are not."""


CHANGES = st.lists(
    st.tuples(
        st.integers(0, 200),
        st.integers(0, 1 << 16),
        st.one_of(VALUES, st.integers(-3, 70), st.sampled_from([None, (), b"", 1 << 31])),
    ),
    min_size=1,
    max_size=4,
)


def changed(
    entries: list[EntryCalled], changes: list[tuple[int, int, Value]], dropped: set[int]
) -> list[EntryCalled]:
    """Calls with changed arguments, some of them dropped."""
    records = list(entries)
    for number, at, wild in changes:
        place = number % len(records)
        given_ = mutated(records[place].arguments, wild, at)
        arguments = given_ if isinstance(given_, tuple) else (given_,)
        records[place] = replace(records[place], arguments=arguments)
    return [each for n, each in enumerate(records) if n not in dropped]


@given(
    changes=CHANGES,
    dropped=st.sets(st.integers(0, 60), max_size=2),
    seen=st.lists(st.tuples(st.integers(0, 200), SEEN_BY_PROGRAMS), max_size=4),
    imported=st.booleans(),
)
def test_hostile_calls_are_faults_and_nothing_else(
    changes: list[tuple[int, int, Value]],
    dropped: set[int],
    seen: list[tuple[int, Record]],
    imported: bool,
    entries: list[EntryCalled],
) -> None:
    records = changed(entries, changes, dropped)
    all_: list[Record] = [*([Annotation(IMPORTED, "a.trace")] if imported else []), *records]
    for place, record in seen:
        all_.insert(place % (len(all_) + 1), record)
    with open_capture(BytesIO(sealed(all_))) as opened:
        tally = replay(opened, watcher=Watcher(), pictures=Pictures())
    assert tally.entries == len(records)


@pytest.mark.slow
@given(changes=CHANGES, dropped=st.sets(st.integers(0, 60), max_size=2), at=st.integers(0, 60))
def test_hostile_calls_have_a_state_and_a_text(
    changes: list[tuple[int, int, Value]], dropped: set[int], at: int, entries: list[EntryCalled]
) -> None:
    records = changed(entries, changes, dropped)
    with open_capture(BytesIO(sealed(records))) as opened:
        try:
            facts = snapshot(opened, Moment(at))
        except UsageError:
            pass  # no such call or device
        else:
            assert json.loads(json.dumps(facts)) and snapshot_text(facts)
    with open_capture(BytesIO(sealed(records))) as opened:
        text = StringIO()
        dump_text(opened, text)
    assert [*TextCapture(StringIO(text.getvalue())).records()] == records


def test_pixel_shows_the_draws_of_such_calls(tmp_path: Path, shaders: Path) -> None:
    capture = recorded("depth/depth_both_in_bracket", tmp_path, shaders)
    ran = dp2emu("pixel", capture, 32, 32)
    assert (ran.code, ran.err) == (0, "")
    draws = [line for line in ran.out.decode().splitlines() if " draw  Draw" in line]
    assert len(draws) == 1
    assert ran.out.count(b": written; ") == 2


def test_info_counts_functions_when_asked_for(tmp_path: Path, shaders: Path) -> None:
    capture = recorded("clip/clip_inside", tmp_path, shaders)
    facts = json.loads(dp2emu("info", capture, "--json", "--tokens").out)
    assert (facts["functions"]["Draw"], facts["functions"]["CreateQuery"]) == (1, 3)
    assert sum(facts["functions"].values()) == facts["entries"]
    assert b"CreateElementLayout  " in dp2emu("info", capture, "--tokens").out


def test_what_a_form_cannot_hold_is_refused_by_name(tmp_path: Path, shaders: Path) -> None:
    capture = recorded("clip/clip_inside", tmp_path, shaders)
    for out in ("a.c", "a.bin"):
        ran = dp2emu("convert", capture, tmp_path / out)
        assert ran.code == 3 and "functions of the Direct3D 10/11 interface in " in ran.err
        assert not (tmp_path / out).exists()
    ran = dp2emu("dump", capture, "--parser", "construct")
    assert ran.code == 3 and "functions of the Direct3D 10/11 interface" in ran.err


def test_frames_are_chosen_and_compared(tmp_path: Path) -> None:
    capture = tmp_path / "a.dp2"
    with capture.open("wb") as file, CaptureWriter(file) as writer:
        device = Presenting(Recorder(Adapter(), writer.write))
        for shade in (0.0, 0.5, 1.0):
            device.present(shade)
    png = tmp_path / "png"
    ran = dp2emu("replay", capture, "--png", png, "--frames", "1-2", "--verify")
    assert ran.code == 0 and "2 pictures, 0 faults" in ran.err
    assert [np.asarray(Image.open(path))[0, 0, 0] for path in sorted(png.iterdir())] == [128, 255]
    assert dp2emu("replay", capture, "--against", png, "--frames", "1-2").code == 0
    Image.new("RGB", (4, 4)).save(sorted(png.iterdir())[0])
    ran = dp2emu("replay", capture, "--against", png, "--frames", "1-2", "--engine", "reference")
    assert ran.code == 1 and "frame 1, call 8: pixel 0, 0" in ran.err
    ran = dp2emu("replay", capture, "--png", png, "--frames", "4")
    assert ran.code == 2 and "there are 3" in ran.err


def test_every_target_of_a_frame_is_pictured(tmp_path: Path) -> None:
    recording = Recording()
    at = Rendered(recording)
    color, depth = at.texture(RGBA8, 0x20, 2), at.texture(D24S8, 0x40, 1)
    slices = [at.view("RenderTargetView", color, RGBA8, n) for n in range(2)]
    stencil = at.view("DepthStencilView", depth, D24S8, 0)
    recording.call("SetRenderTargets", slices[:1], 7, stencil)
    recording.call("ClearRenderTargetView", slices[0], (1.0, 0, 0, 1.0))
    recording.call("ClearDepthStencilView", stencil, 3, 0.5, 85)
    recording.call("SetRenderTargets", slices[1:], 7, None)
    recording.call("ClearRenderTargetView", slices[1], (0, 0, 1.0, 1.0))
    folder = tmp_path / "png"
    found = play(recording.records, pictures=Pictures(folder=folder, all_targets=True))
    assert found.faults == []
    shown = {
        path.name.partition("_")[2]: np.asarray(Image.open(path))[0, 0].tolist()
        for path in folder.iterdir()
    }
    assert sorted(shown.values(), key=str) == [32768, 85, [0, 0, 255, 255], [255, 0, 0, 255]]
    assert {name for name in shown if name.endswith(("_depth.png", "_stencil.png"))} == {
        "surface2_depth.png", "surface2_stencil.png"
    }  # fmt: skip


class Rendered:
    """Makes textures and views by recorded calls."""

    def __init__(self, recording: Recording) -> None:
        self._call = recording.call
        self._functions = recording.device.functions

    def make(self, noun: str, desc: object) -> bytearray:
        memory = bytearray(self._functions[f"CalcPrivate{noun}Size"](desc))
        self._call(f"Create{noun}", desc, memory, 0)
        return memory

    def texture(self, format: int, bind: int, slices: int) -> bytearray:
        return self.make("Resource", CreateResource(
            (MipInfo(4, 4),), None, ResourceType.TEXTURE2D, 0, bind, Format=format,
            ArraySize=slices,
        ))  # fmt: skip

    def view(self, noun: str, resource: bytearray, format: int, first: int) -> bytearray:
        desc = CreateTargetView(resource, format, ResourceType.TEXTURE2D, 0, first)
        return self.make(noun, desc)


class Presenting:
    """A device of a recorder that clears and presents a back buffer."""

    def __init__(self, recorder: Recorder) -> None:
        self._device = recorder.create_device(110, lambda layer, code: None)
        self._buffer = self._make("Resource", CreateResource(
            (MipInfo(4, 4),), None, ResourceType.TEXTURE2D, 0, 0xA0, Format=RGBA8
        ))  # fmt: skip
        desc = CreateTargetView(self._buffer, RGBA8, ResourceType.TEXTURE2D)
        self._view = self._make("RenderTargetView", desc)

    def _make(self, noun: str, desc: object) -> bytearray:
        memory = bytearray(self._device.functions[f"CalcPrivate{noun}Size"](desc))
        self._device.functions[f"Create{noun}"](desc, memory, 0)
        return memory

    def present(self, shade: float) -> None:
        self._device.functions["ClearRenderTargetView"](self._view, (shade,) * 4)
        self._device.dxgi_functions["Present"](PresentArguments(self._buffer))

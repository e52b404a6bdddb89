"""What a program of Direct3D 10 or 11 showed, read and asked for, in a capture of its calls."""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

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
from dp2emu.capture.values import Memory, Structure
from dp2emu.d3d.dxgi import DXGI
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.ddi10.adapter import Adapter
from dp2emu.ddi10.queries.statistics import Statistics
from dp2emu.ddi10.resources.maps import Map
from dp2emu.ddi10.resources.resource import BindFlag, ResourceType, Usage
from dp2emu.ddi10.resources.views import CreateTargetView
from dp2emu.ddi10.states.input_layout import CreateElementLayout, InputElement
from dp2emu.ddi10.states.state_objects import RasterizerDesc
from dp2emu.diff import Allowance, Judge, References
from dp2emu.dp2.options import Options
from dp2emu.gpu.device.timing import parse_timing
from dp2emu.replay import Frames, Pictures, RawFrames
from dp2emu.replay.compare10 import _OF_TIME
from dp2emu.runtime10 import Code, DriverDevice, Handle, Query, Resource, TextureDesc
from dp2emu.runtime10.query import QUERIES, Api
from tests.ddi10.drawing import SIZE, strip, tokens
from tests.replay.running import Run

RGBA8, BGRX8, BGRA8, D24S8, FLOAT4 = 28, 88, 87, 45, 2
EVENT, OCCLUSION, TIMESTAMP, DISJOINT, STATISTICS, PREDICATE, STREAM = range(7)
ENGINES = ("reference", "jit")


class Program:
    """A program of Direct3D 11 whose calls are recorded, as an import does it."""

    def __init__(self, *, imported: bool = True) -> None:
        self.records: list[Record] = [Annotation(IMPORTED, "a.trace")] if imported else []
        self.recorder = Recorder(Adapter(), self.records.append)
        self.device = DriverDevice(self.recorder)

    def number(self, of: Handle | Query) -> int:
        found = self.recorder.memories.number(of.memory)
        assert found is not None
        return found

    def shows(self, call: int, resource: Handle, data: bytes = b"") -> None:
        """A Present: its picture, its calls, the end of a frame."""
        number = self.number(resource)
        self.records.append(Pictured(call, PictureKind.BACK_BUFFER, number, 0, data))
        self.device.call("Flush")
        self.records.append(FrameMarker(0))

    def reads(self, call: int, resource: Handle, index: int = 0, data: bytes = b"") -> None:
        """A Map for reading of a staging resource."""
        self.device.call("StagingResourceMap", resource.memory, index, int(Map.READ), 0)
        number = self.number(resource)
        self.records.append(Pictured(call, PictureKind.MAP, number, index, data))
        self.device.call("StagingResourceUnmap", resource.memory, index)

    def gets(self, call: int, query: Query | None, data: bytes = b"", hr: int = 0) -> None:
        number = 0 if query is None else self.number(query)
        self.records.append(Observed(call, 0, number, hr, data))

    def target(self, texture: Resource) -> Handle:
        format = texture.desc.Format
        desc = CreateTargetView(texture.memory, format, ResourceType.TEXTURE2D)
        return self.device.make("RenderTargetView", desc)

    def clear(self, view: Handle, *color: float) -> None:
        self.device.call("ClearRenderTargetView", view.memory, color)

    def staged(self, source: Resource, index: int = 0) -> Resource:
        """A staging texture with a copy of subresource ``index`` of another texture."""
        part, desc = self.device.part(source, index), source.desc
        cube = desc.ResourceDimension == ResourceType.TEXTURECUBE
        kind = ResourceType.TEXTURE2D if cube else desc.ResourceDimension
        made = TextureDesc(
            kind, desc.Format, part.width, part.height, part.depth,
            usage=Usage.STAGING, access=0x20000,
        )  # fmt: skip
        staging = self.device.create_texture(made)
        self.device.call(
            "ResourceCopyRegion", staging.memory, 0, 0, 0, 0, source.memory, index, None
        )
        return staging

    def draws(self, texture: Resource) -> None:
        """A strip of two triangles over all of a target."""
        device, corners = self.device, np.array(strip(), "<f4").tobytes()
        for stage in ("Vertex", "Pixel"):
            name = {"Vertex": "vs_pass", "Pixel": "ps_color"}[stage]
            shader = device.create_shader(stage, Code(tokens(name)))
            device.call(f"{stage[0]}sSetShader", shader.memory)
        elements = [InputElement(0, 16 * n, FLOAT4, InputRegister=n) for n in range(2)]
        layout = device.make("ElementLayout", CreateElementLayout(elements))
        device.call("IaSetInputLayout", layout.memory)
        buffer = device.create_buffer(len(corners), int(BindFlag.VERTEX_BUFFER), corners)
        device.call("IaSetVertexBuffers", 0, [buffer.memory], [32], [0])
        device.call("IaSetTopology", 5)
        state = device.make("RasterizerState", RasterizerDesc(CullMode=1))
        device.call("SetRasterizerState", state.memory)
        device.set_viewports([(0, 0, SIZE, SIZE, 0, 1)])
        device.call("SetRenderTargets", [self.target(texture).memory], 7, None)
        device.call("Draw", 4, 0)

    def run(self, **options: Any) -> Run:
        return Run(*self.records, **options)


def back_buffer(program: Program, format: int = RGBA8) -> Resource:
    return program.device.create_texture2d(format, (4, 2), int(BindFlag.RENDER_TARGET))


@pytest.mark.parametrize("engine", ENGINES)
def test_pictures_data_and_answers_of_a_program_are_written(engine: str, tmp_path: Path) -> None:
    program = Program()
    device = program.device
    target = device.create_texture2d(RGBA8, (SIZE, SIZE), int(BindFlag.RENDER_TARGET))
    occlusion, statistics = device.create_query(OCCLUSION), device.create_query(STATISTICS)
    occlusion.begin(), statistics.begin()
    program.draws(target)
    occlusion.end(), statistics.end()
    program.shows(30, target)
    program.reads(40, program.staged(target))
    buffer = device.create_buffer(8, 0, b"12345678", Usage.STAGING, access=0x20000)
    program.reads(41, buffer)
    program.gets(50, occlusion, struct.pack("<Q", SIZE * SIZE))
    counts = Statistics(4, 2, 4, 0, 0, 2, 2, 999)
    program.gets(51, statistics, struct.pack("<11Q", *counts))
    program.gets(52, occlusion, b"")
    program.gets(53, None, hr=0x887A0001)
    pictures = Pictures(tmp_path / "png", data=tmp_path / "data")
    run = program.run(pictures=pictures, options=Options(engine=engine))
    assert run.faults == [] and run.differences == []
    assert sorted(path.name for path in tmp_path.glob("*/*")) == [
        "call_00000030.png", "call_00000040.png", "call_00000041.bin"
    ]  # fmt: skip
    for call in (30, 40):
        image = np.asarray(Image.open(tmp_path / "png" / f"call_{call:08}.png"))
        assert image.shape == (SIZE, SIZE, 4) and (image == [255, 128, 64, 255]).all()
    assert (tmp_path / "data" / "call_00000041.bin").read_bytes() == b"12345678"
    rows = [(row["call"], row["hr"], row["hex"]) for row in run.document["get_data"]]
    drawn = Statistics(4, 2, 4, 0, 0, 2, 2, SIZE * SIZE)
    assert rows == [
        (50, 0, struct.pack("<Q", SIZE * SIZE).hex()),
        (51, 0, struct.pack("<11Q", *drawn).hex()),
        (52, 0, ""),
        (53, 0x887A0001, ""),
    ]
    assert (run.tally.observed, run.tally.pictures, run.tally.data) == (3, 2, 1)
    assert run.tally.compared == 0 and run.document["entries"] == []


def test_a_picture_is_listed_with_resource_subresource_and_kind(tmp_path: Path) -> None:
    program = Program()
    texture = back_buffer(program, BGRX8)
    program.clear(program.target(texture), 1.0, 0.0, 0.2, 1.0)
    program.shows(7, texture)
    run = program.run(pictures=Pictures(tmp_path))
    (row,) = run.pictures
    assert (row["call"], row["file"], row["how"]) == (7, "call_00000007.png", "back_buffer")
    assert (row["surface"], row["level"]) == (program.number(texture), 0)
    assert row["format"] == "DXGI_FORMAT_B8G8R8X8_UNORM"
    assert row["crc32"] == f"{zlib.crc32(b'%c%c%c%c' % (51, 0, 255, 255) * 8):08x}"
    image = np.asarray(Image.open(tmp_path / row["file"]))
    assert (image == [255, 0, 51, 255]).all()


def test_data_is_listed_with_its_size(tmp_path: Path) -> None:
    program = Program()
    texture = program.device.create_texture(
        TextureDesc(ResourceType.TEXTURE3D, RGBA8, 2, 2, 4, levels=2, usage=Usage.STAGING,
                    access=0x20000),
        [bytes(range(64)), b"12345678"],
    )  # fmt: skip
    program.reads(7, texture, 0)
    program.reads(8, texture, 1)
    run = program.run(pictures=Pictures(data=tmp_path))
    whole, level = run.document["data"]
    assert (whole["width"], whole["height"], whole["depth"]) == (2, 2, 4)
    assert level == {
        "call": 8, "resource": program.number(texture), "subresource": 1, "frame": 0,
        "file": "call_00000008.bin", "format": "DXGI_FORMAT_R8G8B8A8_UNORM", "how": "map",
        "width": 1, "height": 1, "depth": 2, "crc32": f"{zlib.crc32(b'12345678'):08x}",
    }  # fmt: skip
    assert (tmp_path / "call_00000007.bin").read_bytes() == bytes(range(64))
    assert run.tally.data == 2 and run.pictures == []


PICTURED = [
    format
    for format in DxgiFormat
    if format.name.rpartition("_")[0].replace("_UNORM", "") in ("R8G8B8A8", "B8G8R8A8", "B8G8R8X8")
    and not format.name.endswith("INT") and not format.name.endswith("SNORM")
] + [DxgiFormat.R8G8B8A8_UINT]  # fmt: skip


def test_eight_bit_formats_have_pictures() -> None:
    assert [format.name for format in PICTURED] == [
        "R8G8B8A8_TYPELESS", "R8G8B8A8_UNORM", "R8G8B8A8_UNORM_SRGB",
        "B8G8R8A8_UNORM", "B8G8R8X8_UNORM", "B8G8R8A8_TYPELESS", "B8G8R8A8_UNORM_SRGB",
        "B8G8R8X8_TYPELESS", "B8G8R8X8_UNORM_SRGB", "R8G8B8A8_UINT",
    ]  # fmt: skip


def test_every_format_is_written_as_it_is_stored(tmp_path: Path) -> None:
    program, stored = Program(), {}
    for format, row in DXGI.items():
        width, height = 2 * row.texels.block[0], row.texels.block[1]
        stored[format] = bytes(n * 7 & 255 for n in range(2 * row.texels.size))
        desc = TextureDesc(
            ResourceType.TEXTURE2D, int(format.value), width, height, usage=Usage.STAGING,
            access=0x20000,
        )  # fmt: skip
        program.reads(format.value, program.device.create_texture(desc, [stored[format]]))
    run = program.run(pictures=Pictures(tmp_path, data=tmp_path))
    assert run.faults == [] and len(list(tmp_path.iterdir())) == len(stored)
    for format, data in stored.items():
        name = f"call_{format.value:08}"
        if format not in PICTURED:
            assert (tmp_path / f"{name}.bin").read_bytes() == data
            continue
        order = (2, 1, 0, 3) if format.name.startswith("B") else (0, 1, 2, 3)
        texels = [[data[at + n] for n in order] for at in (0, 4)]
        assert np.asarray(Image.open(tmp_path / f"{name}.png")).tolist() == [texels]


def test_every_format_is_shown_in_raw_frames_or_not_at_all() -> None:
    program, out = Program(), io.BytesIO()
    for format in DXGI:
        block = DXGI[format].texels.block
        desc = TextureDesc(
            ResourceType.TEXTURE2D, int(format.value), *block, usage=Usage.STAGING, access=0x20000
        )
        texture = program.device.create_texture(desc)
        program.shows(format.value, texture)
    run = program.run(pictures=Pictures(raw=RawFrames(out)))
    assert run.faults == []
    assert len(out.getvalue()) % 3 == 0 and len(out.getvalue()) > len(PICTURED)


@pytest.mark.parametrize(
    ("kind", "more", "index", "size"),
    [
        (ResourceType.TEXTURE1D, {"width": 4, "slices": 3}, 2, (4, 1)),
        (ResourceType.TEXTURE2D, {"width": 4, "height": 2, "levels": 2, "slices": 2}, 3, (2, 1)),
        (ResourceType.TEXTURECUBE, {"width": 2, "height": 2, "slices": 6}, 5, (2, 2)),
    ],
)
def test_slices_and_levels_are_read_by_their_number(
    kind: ResourceType, more: dict[str, int], index: int, size: tuple[int, int], tmp_path: Path
) -> None:
    program = Program()
    desc = TextureDesc(kind, RGBA8, **more, bind=int(BindFlag.SHADER_RESOURCE))
    parts = program.device.create_texture(desc)
    count = desc.levels * desc.slices
    for number in range(count):
        part = program.device.part(parts, number)
        program.device.update(parts, number, bytes([number + 1]) * part.size)
    program.records.append(Pictured(7, PictureKind.BACK_BUFFER, program.number(parts), index))
    program.records.append(Pictured(8, PictureKind.MAP, program.number(parts), index))
    program.reads(9, program.staged(parts, index))
    run = program.run(pictures=Pictures(tmp_path))
    assert len(run.pictures) == 3 and run.faults == []
    for row in run.pictures:
        image = np.asarray(Image.open(tmp_path / row["file"]))
        assert image.shape == (size[1], size[0], 4) and (image == index + 1).all()


@pytest.mark.parametrize("samples", [2, 4, 8])
def test_samples_are_resolved(samples: int, tmp_path: Path) -> None:
    program = Program()
    texture = program.device.create_texture2d(
        RGBA8, (4, 2), int(BindFlag.RENDER_TARGET), samples=samples
    )
    program.clear(program.target(texture), 1.0, 0.0, 0.2, 1.0)
    program.shows(7, texture)
    (row,) = program.run(pictures=Pictures(tmp_path)).pictures
    image = np.asarray(Image.open(tmp_path / row["file"]))
    assert image.shape == (2, 4, 4) and (image == [255, 0, 51, 255]).all()


@pytest.mark.parametrize(
    ("format", "texel"), [(D24S8, 0x7FFFFFFF & 0xFF000000 | 0xFFFFFF), (44, 0x7FFFFFFF)]
)
def test_depth_has_its_low_24_bits_and_stencil_the_top_8(
    format: int, texel: int, tmp_path: Path
) -> None:
    program = Program()
    bind = int(BindFlag.DEPTH_STENCIL)
    depth = program.device.create_texture2d(format, (2, 1), bind, samples=1)
    desc = CreateTargetView(depth.memory, D24S8, ResourceType.TEXTURE2D)
    view = program.device.make("DepthStencilView", desc)
    program.device.call("ClearDepthStencilView", view.memory, 3, 1.0, 0x7F)
    program.reads(7, program.staged(depth))
    run = program.run(pictures=Pictures(data=tmp_path))
    assert run.faults == []
    assert (tmp_path / "call_00000007.bin").read_bytes() == struct.pack("<I", texel) * 2


def test_a_shown_buffer_has_what_was_drawn_by_then_however_late_it_runs(tmp_path: Path) -> None:
    program = Program()
    texture = back_buffer(program)
    view = program.target(texture)
    for call, red in ((3, 1.0), (9, 0.2)):
        program.clear(view, red, 0.0, 0.0, 1.0)
        program.shows(call, texture)
    soon = program.run(pictures=Pictures(tmp_path / "a"))
    slow = parse_timing("fixed:call=1,packet=500")
    late = program.run(pictures=Pictures(tmp_path / "b"), timing=slow)
    assert soon.pictures == late.pictures and len(soon.pictures) == 2
    assert len({row["crc32"] for row in soon.pictures}) == 2
    assert [row["frame"] for row in soon.pictures] == [0, 1]


def test_a_mapped_resource_has_what_the_host_read_and_not_what_it_wrote(tmp_path: Path) -> None:
    program = Program()
    device = program.device
    buffer = device.create_buffer(4, 0, b"read", Usage.STAGING, access=0x30000)
    found = device.call("StagingResourceMap", buffer.memory, 0, int(Map.READWRITE), 0)
    program.records.append(Pictured(7, PictureKind.MAP, program.number(buffer)))
    found.pData[:] = b"mine"
    device.call("StagingResourceUnmap", buffer.memory, 0)
    program.reads(8, buffer)
    program.run(pictures=Pictures(data=tmp_path), timing=parse_timing("fixed:call=1,packet=500"))
    seen = [path.read_bytes() for path in sorted(tmp_path.iterdir())]
    assert seen == [b"read", b"mine"]


def test_a_resource_that_is_not_mapped_in_the_replay_is_awaited(tmp_path: Path) -> None:
    program = Program()
    texture = back_buffer(program)
    program.clear(program.target(texture), 1.0, 1.0, 1.0, 1.0)
    staging = program.staged(texture)
    program.device.call("StagingResourceMap", staging.memory, 0, int(Map.READ), 1)
    program.records.append(Pictured(7, PictureKind.MAP, program.number(staging)))
    slow = parse_timing("fixed:call=1,packet=500")
    run = program.run(pictures=Pictures(tmp_path), timing=slow)
    assert run.faults == []
    image = np.asarray(Image.open(tmp_path / "call_00000007.png"))
    assert (image == 255).all()


def test_pictures_do_not_change_what_follows(tmp_path: Path) -> None:
    program = Program(imported=False)
    texture, stamp = back_buffer(program), program.device.create_query(TIMESTAMP)
    view = program.target(texture)
    for call in range(3):
        program.clear(view, call / 2, 0.0, 0.0, 1.0)
        program.shows(call, texture)
        program.reads(call + 10, program.staged(texture))
    stamp.end()
    program.gets(50, stamp, bytes(8))
    slow = parse_timing("fixed:call=7,packet=500,delivery=90")
    bare = program.run(timing=slow)
    seen = program.run(timing=slow, pictures=Pictures(tmp_path, data=tmp_path))
    assert bare.document["entries"] == seen.document["entries"]
    assert bare.document["get_data"] == seen.document["get_data"]
    assert bare.tally.time == seen.tally.time


def test_pictures_follow_the_frames_wanted(tmp_path: Path) -> None:
    program = Program()
    texture = back_buffer(program)
    for call in range(4):
        program.shows(10 + call, texture)
    run = program.run(pictures=Pictures(tmp_path, frames=Frames(1, 2)))
    assert [(row["frame"], row["call"]) for row in run.pictures] == [(1, 11), (2, 12)]
    assert run.tally.frames == 4


def test_a_present_of_an_import_is_one_frame(tmp_path: Path) -> None:
    program = Program()
    texture = back_buffer(program)
    size = len(texture.memory)
    shown = Structure("PresentArguments", (Memory(program.number(texture), size),))
    program.records += [
        Pictured(7, PictureKind.BACK_BUFFER, program.number(texture)),
        EntryCalled(1, 110, "DXGI.Present", (shown,), 0, call=7),
        FrameMarker(0),
    ]
    run = program.run(pictures=Pictures(tmp_path))
    assert run.faults == [] and run.tally.frames == 1
    assert [row["file"] for row in run.pictures] == ["call_00000007.png"]


def test_bytes_that_the_program_read_are_compared() -> None:
    program = Program()
    texture = back_buffer(program)
    program.clear(program.target(texture), 0.0, 0.0, 0.0, 0.0)
    program.shows(7, texture, bytes(32))
    program.shows(8, texture, bytes(31) + b"x")
    program.reads(9, program.staged(texture), data=bytes(30))
    run = program.run()
    number = program.number(texture)
    assert [str(found) for found in run.differences] == [
        f"frame 1, @8: byte 31 of the resource in memory {number}: recorded 78, replayed 00",
        f"frame 2, @9: byte 30 of the resource in memory {number + 2}: "
        "recorded nothing, replayed 00 00",
    ]
    assert (run.tally.observed, run.tally.observed_different) == (3, 2)


def test_pictures_are_compared_with_those_of_another_player(tmp_path: Path) -> None:
    program = Program()
    texture = back_buffer(program, BGRA8)
    program.clear(program.target(texture), 1.0, 0.0, 0.0, 1.0)
    program.shows(7, texture)
    reference = np.full((2, 4, 4), (255, 0, 0, 255), np.uint8)
    reference[1, 3] = 0
    Image.fromarray(reference).save(tmp_path / "call_00000007.png")
    judge = Judge(References(tmp_path), Allowance())
    run = program.run(pictures=Pictures(judge=judge))
    assert (run.tally.judged, run.tally.unlike) == (1, 1)
    assert "pixel 3, 1" in str(run.differences[0])


# Answers


def answered(program: Program, **options: Any) -> list[tuple[int, int, str, bool]]:
    rows = program.run(**options).document["get_data"]
    return [(row["call"], row["hr"], row["hex"], row["same"]) for row in rows]


def test_a_recorded_answer_waits_for_the_replayed_one() -> None:
    program = Program()
    query = program.device.create_query(EVENT)
    query.end()
    program.gets(7, query, b"\1\0\0\0")
    slow = parse_timing("fixed:call=1,packet=500,delivery=5000")
    assert answered(program, timing=slow) == [(7, 0, "01000000", True)]


def test_an_answer_that_never_comes_differs() -> None:
    program = Program()
    query = program.device.create_query(OCCLUSION)
    query.begin()
    program.gets(7, query, bytes(8))
    run = program.run()
    (found,) = run.differences
    assert (found.call, found.recorded, found.replayed) == (7, "D3D_OK", "S_FALSE")
    assert found.field == f"query {program.number(query)} (OCCLUSION)"
    assert run.document["get_data"][0]["hr"] == 1


def test_a_hint_has_no_answer() -> None:
    program = Program()
    hint = program.device.create_predicate(PREDICATE, 1)
    hint.begin(), hint.end()
    program.gets(7, hint, bytes(4))
    assert answered(program) == [(7, 1, "", False)]


@pytest.mark.parametrize("number", sorted(QUERIES[Api.D3D11]))
def test_types_that_tell_of_time_are_not_compared(number: int) -> None:
    program = Program()
    query = program.device.create_query(number)
    query.begin(), query.end()
    program.gets(7, query, b"\x55" * query.data_size)
    run = program.run()
    compared = query.kind.query not in _OF_TIME
    assert run.tally.observed == run.tally.observed_different == int(compared)
    (row,) = run.document["get_data"]
    assert row["type"] == query.kind.query.name and row["same"] is not compared
    assert len(row["hex"]) == 2 * query.data_size


def test_as_much_is_answered_as_the_program_asked_for() -> None:
    program = Program()
    query = program.device.create_query(OCCLUSION)
    query.begin(), query.end()
    for call, data in enumerate((b"", bytes(4), bytes(8), bytes(9), b"\1\0")):
        program.gets(call, query, data)
    assert answered(program) == [
        (0, 0, "", True), (1, 0, "00" * 4, True), (2, 0, "00" * 8, True), (3, 0, "00" * 8, True),
        (4, 0, "0000", False),
    ]  # fmt: skip


def test_members_that_drivers_may_count_differently_are_not_compared() -> None:
    program = Program()
    statistics, stream = (program.device.create_query(n) for n in (STATISTICS, STREAM))
    for query in (statistics, stream):
        query.begin(), query.end()
    program.gets(1, statistics, struct.pack("<11Q", *Statistics(PSInvocations=9)))
    program.gets(2, statistics, struct.pack("<11Q", *Statistics(VSInvocations=9, CPrimitives=3)))
    program.gets(3, stream, struct.pack("<2Q", 0, 5))
    program.gets(4, stream, struct.pack("<2Q", 5, 5))
    one, other = program.run().differences
    numbers = "VSInvocations 9, CPrimitives 3", "VSInvocations 0, CPrimitives 0"
    assert (one.call, one.recorded, one.replayed) == (2, *numbers)
    written = "NumPrimitivesWritten 5, PrimitivesStorageNeeded 5"
    assert (other.call, other.recorded) == (4, written)


# Results of an import


def test_results_of_an_import_are_no_standard() -> None:
    for imported in (True, False):
        program = Program(imported=imported)
        query = program.device.create_query(EVENT)
        query.end()
        query.get_data(bytearray(4), 4)
        last = program.records[-1]
        assert isinstance(last, EntryCalled) and last.entry == "QueryGetData"
        slow = parse_timing("fixed:call=1,delivery=5000")
        run = program.run(timing=slow)
        assert run.faults == [] and bool(run.differences) is not imported
        assert (run.tally.compared == 0) is imported


def test_an_error_that_the_import_did_not_get_is_a_fault() -> None:
    program = Program()
    desc = TextureDesc(ResourceType.TEXTURE2D, RGBA8, 4, 4, bind=8)
    program.device.create_texture(desc)
    program.recorder.call = 31
    program.device.create_texture(desc)
    program.records.insert(-4, EntryCalled(0, 0, "Adapter.Remove", (0,)))
    faults = [str(fault) for fault in program.run().faults]
    what = "CreateResource reported 0x88760870, but not in the import of API call 31"
    assert any(what in fault for fault in faults)


def test_a_fault_of_an_import_names_the_api_call() -> None:
    program = Program()
    program.records.append(EntryCalled(1, 110, "Draw", (1,), call=31))
    run = program.run()
    (fault,) = run.faults
    assert str(fault).endswith("Draw with 1 arguments (in API call 31)")
    assert run.document["entries"][0]["api_call"] == 31


def test_a_picture_is_taken_although_the_device_never_executes_its_commands(
    tmp_path: Path,
) -> None:
    program = Program()
    texture = back_buffer(program)
    number = program.number(texture)
    program.records.append(Pictured(7, PictureKind.BACK_BUFFER, number))
    program.device.release(texture)
    program.device.call("DestroyDevice")
    run = program.run(pictures=Pictures(tmp_path))
    assert run.faults == [] and [row["call"] for row in run.pictures] == [7]


# Hostile captures


@pytest.mark.parametrize("how", [PictureKind.BACK_BUFFER, PictureKind.MAP])
@pytest.mark.parametrize("data", [b"", b"rows"])
@pytest.mark.parametrize(
    ("handle", "index", "what"),
    [
        (99, 0, "memory 99: there is none"),
        (0, 0, "memory 0: there is none"),
        (2**64 - 1, 0, "there is none"),
        (1, 1, "memory 1 has 1 subresources, not 1"),
        (1, 2**32 - 1, "subresources, not 4294967295"),
        (2, 0, "memory 2: there is none"),
    ],
)
def test_a_resource_that_cannot_be_read_is_one_fault(
    how: PictureKind, data: bytes, handle: int, index: int, what: str, tmp_path: Path
) -> None:
    program = Program()
    back_buffer(program), program.device.create_query(EVENT)
    program.records.append(Pictured(7, how, handle, index, data))
    pictures = None if data else Pictures(tmp_path, data=tmp_path)
    run = program.run(pictures=pictures)
    (fault,) = run.faults
    assert what in str(fault) and not list(tmp_path.iterdir())


def test_a_destroyed_resource_is_one_fault(tmp_path: Path) -> None:
    program = Program()
    texture = back_buffer(program)
    number = program.number(texture)
    program.device.release(texture)
    program.records.append(Pictured(7, PictureKind.BACK_BUFFER, number))
    (fault,) = program.run(pictures=Pictures(tmp_path)).faults
    assert f"memory {number}: there is none" in str(fault)


@pytest.mark.parametrize("how", PictureKind)
def test_pictures_without_a_device_are_one_fault(how: PictureKind, tmp_path: Path) -> None:
    (fault,) = Run(Pictured(7, how, 1), pictures=Pictures(tmp_path)).faults
    assert fault.what.startswith("before call 0: ")


@pytest.mark.parametrize("record", [Pictured(7, PictureKind.LOCK, 77), FrameMarker(0, 77)])
def test_surfaces_of_other_interfaces_are_one_fault(record: Record, tmp_path: Path) -> None:
    program = Program(imported=False)
    program.records.append(record)
    (fault,) = program.run(pictures=Pictures(tmp_path)).faults
    assert "surface 77" in str(fault)


@pytest.mark.parametrize("query", [1, 99, 2**32 - 1])
def test_an_answer_of_no_query_is_one_fault(query: int) -> None:
    program = Program()
    back_buffer(program)
    program.records.append(Observed(7, 0, query, 0, b"data"))
    run = program.run()
    (fault,) = run.faults
    assert f"memory {query}, of which there is none" in str(fault)
    assert run.document["get_data"] == []


def test_answers_without_a_device_are_the_runtimes_or_a_fault() -> None:
    run = Run(Observed(7, 0, 0, 0x80070057), Observed(8, 0, 5))
    assert [row["hr"] for row in run.document["get_data"]] == [0x80070057]
    assert "query 5" in str(run.faults[0])

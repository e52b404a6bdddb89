"""Calls of the Direct3D 10/11 interface as text and JSON, by the names of the interface."""

from __future__ import annotations

import json
from collections.abc import Sequence
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.capture.records import EntryCalled, Record
from dp2emu.capture.values import Memory, Structure
from dp2emu.ddi10 import declarations
from dp2emu.ddi10.device import DXGI_FUNCTIONS, SINCE
from dp2emu.errors import Unsupported
from dp2emu.text import TextError, dump_containers, dump_jsonl, dump_text
from dp2emu.text.textfile import TextCapture
from tests.capture.samples import VALUES, sealed
from tests.text.samples import opened

HEAD = "dp2emu-text version=1\nentry device=1 interface=110\n"
TEXTURE = Structure(
    "CreateResource",
    ((Structure("MipInfo", (64, 32, 1)),), None, 3, 0, 0x20 | 8, 0, 0, 28,
     Structure("DxgiSampleDesc", (1, 0)), 1, 1, None, 0),
)  # fmt: skip


def text_of(records: Sequence[Record]) -> str:
    out = StringIO()
    dump_text(opened(sealed(records)), out)
    return out.getvalue()


def read(text: str) -> list[Record]:
    return list(TextCapture(StringIO(text)).records())


def called(entry: str, *arguments: object, **named: object) -> EntryCalled:
    return EntryCalled(1, 110, entry, arguments, **named)  # type: ignore[arg-type]


def test_arguments_members_and_numbers_have_their_names() -> None:
    records = [called("CreateResource", TEXTURE, Memory(5, 16), 0)]
    lines = [line.strip() for line in text_of(records).splitlines()]
    assert lines[1].split() == ["entry", "device=1", "interface=110", "#", "entry", "0"]
    assert lines[2:5] == [
        "name: CreateResource",
        "desc: CreateResource",
        "desc.pMipInfoList: [{MipInfo={TexelWidth=64 TexelHeight=32 TexelDepth=1}}]",
    ]
    assert {
        "desc.ResourceDimension: D3D10DDIRESOURCE_TEXTURE2D",
        "desc.BindFlags: D3D10_DDI_BIND_SHADER_RESOURCE|D3D10_DDI_BIND_RENDER_TARGET",
        "desc.Format: DXGI_FORMAT_R8G8B8A8_UNORM",
        "desc.SampleDesc: {DxgiSampleDesc={Count=1 Quality=0}}",
        "memory: {resource=5 size=16}",
        "runtime: 0",
    } <= set(lines)


@pytest.mark.parametrize(
    ("record", "line"),
    [
        (called("IaSetTopology", 4), "topology: D3D10_PRIMITIVE_TOPOLOGY_TRIANGLELIST"),
        (called("IaSetTopology", 99), "topology: 99"),
        (called("ResourceMap", Memory(1, 16), 0, 4, 1), "kind: D3D10_DDI_MAP_WRITE_DISCARD"),
        (called("ResourceMap", Memory(1, 16), 0, 4, 1), "flags: D3D10_DDI_MAP_FLAG_DONOTWAIT"),
        (called("CalcPrivateQuerySize", Structure("CreateQuery", (0x1000, 0))),
         "description: {CreateQuery={Query=D3D10DDI_COUNTER_GPU_IDLE MiscFlags=0}}"),
        (called("CalcPrivateQuerySize", Structure("CreateQuery", (8,))),
         "description: {CreateQuery={Query=D3D11DDI_QUERY_PIPELINESTATS}}"),
        (called("ClearDepthStencilView", Memory(1, 16), 3, 1.0, 0),
         "flags: D3D10_DDI_CLEAR_DEPTH|D3D10_DDI_CLEAR_STENCIL"),
        (called("SetScissorRects", 15, (Structure("Scissor", (0, 0, 8, 9)),)),
         "rects: [{Scissor={left=0 top=0 right=8 bottom=9}}]"),
        (called("DXGI.SetResourcePriority", Memory(2, 16), 3), "priority: 3"),
        (called("Host.Write", Memory(2, 16), 0, b"\1\2"), 'data: {hex="0102"}'),
        (called("QueryGetData", codes=(0x8007000E, 7)), "codes: E_OUTOFMEMORY 7"),
        (called("QueryGetData", written=((0, b"\1"),)), 'written: [0 {hex="01"}]'),
        (called("Map", result=Structure("MappedSubresource", (None, 256, 0))),
         "result: {MappedSubresource={pData=null RowPitch=256 DepthPitch=0}}"),
        (called("Fly", 1, 2.5), "arguments: 1 2.5"),
        (called("Draw", 1, 2, 3), "arguments: 1 2 3"),
        (called("Flush", Structure("Unknown", (1,))), "arguments: {Unknown=[1]}"),
        (called("Flush", Structure("DxgiSampleDesc", (1, 2, 3))),
         "arguments: {DxgiSampleDesc=[1 2 3]}"),
    ],
)  # fmt: skip
def test_a_call_is_written_by_names_and_read_back(record: EntryCalled, line: str) -> None:
    text = text_of([record])
    assert line in [each.strip() for each in text.splitlines()]
    assert read(text) == [record]


def test_an_object_is_named_by_its_kind_until_it_is_destroyed() -> None:
    block = Memory(7, 16)
    records = [
        called("CreateBlendState", Structure("BlendDesc1", (0, 0, ())), block, 0),
        called("SetBlendState", block, (1.0,) * 4, 255),
        called("SetBlendState", Memory(7, 17), (1.0,) * 4, 255),
        called("DestroyBlendState", block),
        called("SetBlendState", block, (1.0,) * 4, 255),
    ]
    text = text_of(records)
    shown = [line.strip() for line in text.splitlines() if "memory:" in line]
    assert shown == [
        "memory: {blend_state=7 size=16}",
        "memory: {blend_state=7}",
        "memory: {blend_state=7 size=17}",
        "memory: {blend_state=7}",
        "memory: {memory=7 size=16}",
    ]
    assert read(text) == records


def test_calls_without_names_of_older_dumps_are_read() -> None:
    text = HEAD + "  name: CreateQuery   # description, memory, runtime\n"
    text += "  arguments: {CreateQuery=[1 0]} {memory=8 size=32} 0\n"
    expected = called("CreateQuery", Structure("CreateQuery", (1, 0)), Memory(8, 32), 0)
    assert read(text) == [expected]


def test_what_is_left_out_has_its_default() -> None:
    (record,) = read(
        HEAD
        + "name: CreateShaderResourceView\n"
        + "desc: CreateShaderResourceView\n"
        + "desc.hDrvResource: {memory=1 size=16}\n"
        + "desc.Format: DXGI_FORMAT_R32_FLOAT\n"
        + "desc.ResourceDimension: D3D10DDIRESOURCE_BUFFER\n"
        + "desc.NumElements: 6\n"
        + "memory: {memory=2 size=16}\n"
    )
    members = (Memory(1, 16), 41, 1, 0, 0xFFFFFFFF, 0, 0xFFFFFFFF, 0, 6)
    view = Structure("CreateShaderResourceView", members)
    assert record == called("CreateShaderResourceView", view, Memory(2, 16))


@pytest.mark.parametrize(
    ("lines", "what"),
    [
        ("name: Draw\nlength: 3", "line 4: Draw has no length; it has vertices start"),
        ("name: Drawn\nstart: 3", "line 4: no parameters of Drawn are known"),
        ("name: Draw\nstart: 3", "Draw needs vertices"),
        ("name: Draw\nvertices: 3 4", "vertices has one value"),
        ("name: Draw\nvertices: DXGI_FORMAT_UNKNOWN", "is no value"),
        ("name: Draw\nvertices: 3\narguments: 3 0", "no part vertices"),
        ("name: IaSetTopology\ntopology: D3D10_BLEND_ONE", "is no value"),
        ("name: Flush\narguments: {DxgiSampleDesc={Count=1 Depth=2}}", "has no Depth"),
        ("name: Flush\narguments: {MipInfo={TexelHeight=1}}", "MipInfo needs TexelWidth"),
        ("name: Flush\narguments: {Unknown={A=1}}", "no structure Unknown"),
        ("name: Flush\narguments: {MipInfo=3}", "begins no value"),
        ("name: VsSetShader\nmemory: {vertex_shader=3}", "vertex_shader 3 does not exist"),
        ("name: VsSetShader\nmemory: {vertex_shader=3 bytes=4}", "begins no value"),
    ],
)
def test_names_that_the_interface_lacks_are_refused(lines: str, what: str) -> None:
    with pytest.raises(TextError, match=what):
        read(HEAD + lines)


NAMES = st.sampled_from(
    [*SINCE, *(f"DXGI.{name}" for name in DXGI_FUNCTIONS), "Fly", "Host.Write"]
)
STRUCTURES = st.builds(
    Structure,
    st.sampled_from(["BlendDesc1", "CreateResource", "InputElement", "MipInfo", "Unheard"]),
    st.lists(VALUES, max_size=5).map(tuple),
)
ARGUMENTS = st.one_of(VALUES, STRUCTURES, st.lists(STRUCTURES, max_size=3).map(tuple))


@given(
    calls=st.lists(
        st.builds(called, NAMES, ARGUMENTS, ARGUMENTS, result=ARGUMENTS), min_size=1, max_size=2
    )
)
def test_whatever_calls_hold_their_text_gives_them_back(calls: list[EntryCalled]) -> None:
    assert read(text_of(calls)) == calls
    rows = StringIO()
    dump_jsonl(opened(sealed(calls)), rows)
    assert len([json.loads(line) for line in rows.getvalue().splitlines()]) == len(calls)


def test_json_lines_have_arguments_by_name() -> None:
    out = StringIO()
    records = [
        called("CreateResource", TEXTURE, Memory(5, 16), 0),
        called("IaSetIndexBuffer", Memory(5, 16), 57, 8),
    ]
    dump_jsonl(opened(sealed(records)), out)
    made, bound = map(json.loads, out.getvalue().splitlines())
    desc = made["named"]["desc"]["CreateResource"]
    assert (made["number"], bound["number"]) == (0, 1)
    assert (desc["Format"], desc["Format_raw"]) == ("DXGI_FORMAT_R8G8B8A8_UNORM", 28)
    assert bound["named"] == {
        "memory": {"resource": 5}, "format": "DXGI_FORMAT_R16_UINT", "format_raw": 57, "offset": 8
    }  # fmt: skip
    assert made["arguments"][1] == {"memory": 5, "size": 16}


def test_the_reference_decoder_refuses_calls_that_have_no_command_buffer() -> None:
    with pytest.raises(Unsupported, match="functions of the Direct3D 10/11 interface"):
        dump_containers(opened(sealed([called("Flush")])), StringIO())


def test_no_parameter_is_called_as_another_part_of_a_call() -> None:
    names = {name for entry in SINCE for name in declarations.parameters(entry)}
    names |= {n for e in DXGI_FUNCTIONS for n in declarations.parameters(f"DXGI.{e}")}
    assert names.isdisjoint({"name", "arguments", "codes", "written", "result"})
    assert not any(name.startswith("blob") for name in names)

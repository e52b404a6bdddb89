"""Direct3D 10 and 11 operations and objects: the driver functions they call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dp2emu.capture import open_capture
from dp2emu.capture.records import EntryCalled
from dp2emu.capture.values import Memory, Structure
from dp2emu.scene import play_scene10
from dp2emu.scene.d3d10 import OPERATIONS
from dp2emu.scene.objects10 import MAKERS
from tests.golden10.playing import write_shaders

BUFFER = {"op": "CreateBuffer", "name": "b", "ByteWidth": 16, "BindFlags": 0x17, "hex": "01"}
TEXTURE = {"op": "CreateTexture2D", "name": "t", "Format": 28, "Width": 2, "Height": 3,
           "SampleCount": 1, "BindFlags": 0x28, "hex": "00" * 24}  # fmt: skip
DEPTH = {"op": "CreateTexture2D", "name": "d", "Format": 45, "Width": 2, "Height": 2,
         "SampleCount": 4, "BindFlags": 0x40, "hex": None}  # fmt: skip
STENCIL = {"DepthEnable": 1, "DepthWriteMask": 0, "DepthFunc": 3, "StencilEnable": 1,
           "StencilReadMask": 15, "StencilWriteMask": 240, "StencilFailOp": 2,
           "StencilDepthFailOp": 3, "StencilPassOp": 4, "StencilFunc": 5}  # fmt: skip
RASTER = {"FillMode": 2, "CullMode": 3, "FrontCounterClockwise": 1, "DepthClipEnable": 0,
          "ScissorEnable": 1, "MultisampleEnable": 1}  # fmt: skip
BLEND = {"BlendEnable": 1, "SrcBlend": 5, "DestBlend": 6, "BlendOp": 2, "WriteMask": 7,
         "AlphaToCoverageEnable": 1}  # fmt: skip
OBJECTS: list[dict[str, Any]] = [
    BUFFER,
    TEXTURE,
    DEPTH,
    {"op": "CreateRenderTargetView", "name": "rtv", "resource": "t"},
    {"op": "CreateDepthStencilView", "name": "dsv", "resource": "d"},
    {"op": "CreateShaderResourceView", "name": "srv", "resource": "t"},
    {"op": "CreateVertexShader", "name": "vs", "shader": "vs_pass"},
    {"op": "CreatePixelShader", "name": "ps", "shader": "ps_color"},
    {"op": "CreateGeometryShaderWithStreamOutput", "name": "gs", "shader": "vs_pass",
     "BufferStrides": [32, 28], "RasterizedStream": -1, "entries": [
        {"Stream": 0, "SemanticName": name, "SemanticIndex": 0, "StartComponent": start,
         "ComponentCount": count, "OutputSlot": slot}
        for name, start, count, slot in (("color", 1, 2, 0), (None, 0, 6, 1),
                                         ("SV_Position", 0, 4, 0))]},
    {"op": "CreateGeometryShader", "name": "plain_gs", "shader": "gs_pass_tri"},
    {"op": "CreateHullShader", "name": "hs", "shader": "hs5_tri"},
    {"op": "CreateDomainShader", "name": "ds", "shader": "ds5_tri"},
    {"op": "CreateComputeShader", "name": "cs", "shader": "cs5_fill"},
    {"op": "CreateBuffer", "name": "bu", "ByteWidth": 16, "BindFlags": 128, "hex": None},
    {"op": "CreateBuffer", "name": "bs", "ByteWidth": 16, "BindFlags": 128, "hex": None,
     "StructureByteStride": 8, "MiscFlags": 0x40},
    {"op": "CreateBuffer", "name": "args", "ByteWidth": 24, "BindFlags": 0, "hex": None},
    {**TEXTURE, "name": "tu", "BindFlags": 128},
    {"op": "CreateUnorderedAccessView", "name": "uav", "resource": "bu", "Format": 42,
     "FirstElement": 1, "NumElements": 3},
    {"op": "CreateUnorderedAccessView", "name": "counted", "resource": "bs", "Format": 0,
     "NumElements": 2, "Flags": 4},
    {"op": "CreateUnorderedAccessView", "name": "floats", "resource": "tu"},
    {"op": "CreateInputLayout", "name": "il", "shader": "vs_pass", "elements": [
        {"SemanticName": name, "SemanticIndex": 0, "Format": 2, "InputSlot": 1,
         "AlignedByteOffset": offset, "InputSlotClass": 1, "InstanceDataStepRate": 2}
        for name, offset in (("COLOR", 16), ("POSITION", 0))]},
    {"op": "CreateBlendState", "name": "blend", **BLEND},
    {"op": "CreateDepthStencilState", "name": "stencil", **STENCIL},
    {"op": "CreateRasterizerState", "name": "raster", **RASTER},
    {"op": "CreateSamplerState", "name": "smp", "Filter": 21, "Address": 3},
    {"op": "CreateQuery", "name": "q", "Query": 1, "MiscFlags": 0},
    {"op": "CreatePredicate", "name": "p", "Query": 5, "MiscFlags": 1},
    {"op": "CreateTexture1D", "name": "line", "Format": 28, "Width": 4, "BindFlags": 8},
    {"op": "CreateTexture3D", "name": "volume", "Format": 28, "Width": 4, "Height": 2, "Depth": 2,
     "MipLevels": 0, "BindFlags": 8},
]  # fmt: skip
NUMBERS = {each["name"]: number for number, each in enumerate(OBJECTS, 1)}


@pytest.fixture(scope="module")
def shaders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_shaders(tmp_path_factory.mktemp("shaders"))


def entries(calls: list[Any], folder: Path, shaders: Path) -> list[EntryCalled]:
    """The calls of the driver's functions."""
    scene = {"name": "s", "category": "c", "api": "d3d11", "resources": OBJECTS, "calls": calls}
    saved = folder / "s.dp2"
    play_scene10(scene, folder, shaders=shaders, capture=saved)
    with open_capture(saved) as capture:
        return [each for each in capture.records() if isinstance(each, EntryCalled)]


def plain(value: Any) -> Any:
    """A value with the objects in it replaced by their names."""
    names = {number: name for name, number in NUMBERS.items()}
    if isinstance(value, Memory):
        return names.get(value.number, value)
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    if isinstance(value, Structure):
        return (value.name, *map(plain, value.members))
    return value


CALLS: list[tuple[dict[str, Any], str, tuple[Any, ...]]] = [
    ({"op": "Draw", "VertexCount": 3, "StartVertexLocation": 4}, "Draw", (3, 4)),
    ({"op": "DrawIndexed", "IndexCount": 3, "StartIndexLocation": 4, "BaseVertexLocation": -5},
     "DrawIndexed", (3, 4, -5)),
    ({"op": "DrawInstanced", "VertexCountPerInstance": 3, "InstanceCount": 4,
      "StartVertexLocation": 5, "StartInstanceLocation": 6}, "DrawInstanced", (3, 4, 5, 6)),
    ({"op": "DrawIndexedInstanced", "IndexCountPerInstance": 3, "InstanceCount": 4,
      "StartIndexLocation": 5, "BaseVertexLocation": -6, "StartInstanceLocation": 7},
     "DrawIndexedInstanced", (3, 4, 5, -6, 7)),
    ({"op": "DrawAuto"}, "DrawAuto", ()),
    ({"op": "Dispatch", "X": 1, "Y": 2, "Z": 3}, "Dispatch", (1, 2, 3)),
    ({"op": "DispatchIndirect", "buffer": "b", "Offset": 4}, "DispatchIndirect", ("b", 4)),
    ({"op": "DrawInstancedIndirect", "buffer": "args", "Offset": 0}, "DrawInstancedIndirect",
     ("args", 0)),
    ({"op": "DrawIndexedInstancedIndirect", "buffer": "args", "Offset": 4},
     "DrawIndexedInstancedIndirect", ("args", 4)),
    ({"op": "CopyStructureCount", "buffer": "b", "Offset": 4, "view": "counted"},
     "CopyStructureCount", ("b", 4, "counted")),
    ({"op": "CSSetUnorderedAccessView", "view": "uav"}, "CsSetUnorderedAccessViews",
     (0, ("uav",), (0xFFFFFFFF,))),
    ({"op": "CSSetUnorderedAccessView", "Slot": 3, "view": "counted", "InitialCount": 7},
     "CsSetUnorderedAccessViews", (3, ("counted",), (7,))),
    ({"op": "OMSetRenderTargetsAndUnorderedAccessViews", "rtvs": ["rtv"], "dsv": None,
      "UAVStartSlot": 1, "uavs": ["uav", None], "InitialCounts": [3, -1]},
     "SetRenderTargets", (("rtv",), 7, None, ("uav", None), (3, 0xFFFFFFFF), 1, 1, 2)),
    ({"op": "ClearUnorderedAccessViewUint", "view": "uav", "Values": [1, 2, 3, 4]},
     "ClearUnorderedAccessViewUint", ("uav", (1, 2, 3, 4))),
    ({"op": "ClearUnorderedAccessViewFloat", "view": "floats", "Values": [1, 2.5, 3, 4]},
     "ClearUnorderedAccessViewFloat", ("floats", (1.0, 2.5, 3.0, 4.0))),
    ({"op": "Flush"}, "Flush", ()),
    ({"op": "IASetPrimitiveTopology", "Topology": 5}, "IaSetTopology", (5,)),
    ({"op": "IASetInputLayout", "layout": "il"}, "IaSetInputLayout", ("il",)),
    ({"op": "IASetIndexBuffer", "buffer": "b", "Format": 57, "Offset": 2},
     "IaSetIndexBuffer", ("b", 57, 2)),
    ({"op": "IASetVertexBuffer", "Slot": 1, "buffer": "b", "Stride": 8, "Offset": 4},
     "IaSetVertexBuffers", (1, ("b",), (8,), (4,))),
    ({"op": "RSSetState", "state": "raster"}, "SetRasterizerState", ("raster",)),
    ({"op": "RSSetViewport", "TopLeftX": 1, "TopLeftY": 2, "Width": 3, "Height": 4,
      "MinDepth": 0, "MaxDepth": 1},
     "SetViewports", (15, (("Viewport", 1.0, 2.0, 3.0, 4.0, 0.0, 1.0),))),
    ({"op": "RSSetScissorRect", "left": 1, "top": 2, "right": 3, "bottom": 4},
     "SetScissorRects", (15, (("Scissor", 1, 2, 3, 4),))),
    ({"op": "RSSetViewports", "viewports": [
        {"TopLeftX": 1, "TopLeftY": 2, "Width": 3, "Height": 4}, [5, 6, 7, 8, 0.25, 0.5]]},
     "SetViewports", (14, (("Viewport", 1.0, 2.0, 3.0, 4.0, 0.0, 1.0),
                           ("Viewport", 5.0, 6.0, 7.0, 8.0, 0.25, 0.5)))),
    ({"op": "RSSetScissorRects", "rects": [
        {"left": 1, "top": 2, "right": 3, "bottom": 4}, [5, 6, 7, 8]]},
     "SetScissorRects", (14, (("Scissor", 1, 2, 3, 4), ("Scissor", 5, 6, 7, 8)))),
    ({"op": "CopySubresourceRegion", "dst": "volume", "DstSubresource": 1, "src": "t",
      "SrcBox": [0, 1, 0, 2, 2, 1]},
     "ResourceCopyRegion", ("volume", 1, 0, 0, 0, "t", 0, ("DdiBox", 0, 1, 0, 2, 2, 1))),
    ({"op": "UpdateSubresource", "dst": "volume", "mip": 2, "hex": "01020304"},
     "ResourceUpdateSubresourceUP", ("volume", 2, None, b"\1\2\3\4", 4, 4)),
    ({"op": "SetResourceMinLOD", "resource": "volume", "MinLOD": 0.5},
     "SetResourceMinLOD", ("volume", 0.5)),
    ({"op": "OMSetDepthStencilState", "state": "stencil", "StencilRef": 9},
     "SetDepthStencilState", ("stencil", 9)),
    ({"op": "OMSetBlendState", "state": "blend", "SampleMask": 5},
     "SetBlendState", ("blend", (1.0, 1.0, 1.0, 1.0), 5)),
    ({"op": "OMSetRenderTargets", "rtvs": ["rtv"], "dsv": "dsv"},
     "SetRenderTargets", (("rtv",), 7, "dsv")),
    ({"op": "SOSetTargets", "targets": [["b", 4]]}, "SoSetTargets", (("b",), 3, (4,))),
    ({"op": "ClearRenderTargetView", "view": "rtv", "r": 0.5, "g": 1, "b": 0, "a": 1},
     "ClearRenderTargetView", ("rtv", (0.5, 1.0, 0.0, 1.0))),
    ({"op": "ClearDepthStencilView", "view": "dsv", "Depth": 0.5, "Stencil": 7},
     "ClearDepthStencilView", ("dsv", 3, 0.5, 7)),
    ({"op": "GenerateMips", "view": "srv"}, "GenMips", ("srv",)),
    ({"op": "CopyResource", "dst": "b", "src": "b"}, "ResourceCopy", ("b", "b")),
    ({"op": "ResolveSubresource", "dst": "t", "src": "d"},
     "ResourceResolveSubresource", ("t", 0, "d", 0, 28)),
    ({"op": "Begin", "query": "q"}, "QueryBegin", ("q",)),
    ({"op": "End", "query": "q"}, "QueryEnd", ("q",)),
    ({"op": "SetPredication", "predicate": None, "PredicateValue": 1},
     "SetPredication", (None, 1)),
    *(({"op": f"{stage}SetShader", "shader": shader}, f"{entry}SetShader", (shader,))
      for stage, entry, shader in (("VS", "Vs", "vs"), ("PS", "Ps", "ps"), ("GS", "Gs", "gs"),
                                   ("HS", "Hs", None), ("DS", "Ds", None), ("CS", "Cs", "cs"))),
    *(({"op": f"{stage}Set{noun}", "Slot": 3, key: name}, f"{entry}Set{noun}s", (3, (name,)))
      for stage, entry in (("VS", "Vs"), ("PS", "Ps"), ("GS", "Gs"), ("HS", "Hs"), ("DS", "Ds"),
                           ("CS", "Cs"))
      for noun, key, name in (("ConstantBuffer", "buffer", "b"), ("ShaderResource", "view", "srv"),
                              ("Sampler", "sampler", "smp"))),
]  # fmt: skip
WITHOUT_ENTRY = {"ReadBuffer", "ReadTexture", "GetData", "GetDataOnce", "GetPredication"}
"""Operations that are not a single function of the driver: test_play10.py has them."""


def test_every_operation_is_tested() -> None:
    assert {call["op"] for call, _, _ in CALLS} | WITHOUT_ENTRY == OPERATIONS.keys()


@pytest.mark.parametrize(("call", "entry", "arguments"), CALLS, ids=lambda each: str(each)[:60])
def test_a_call_is_a_function_of_the_driver(
    call: dict[str, Any], entry: str, arguments: Any, tmp_path: Path, shaders: Path
) -> None:
    found = entries([call], tmp_path, shaders)
    assert (entry, arguments) in [(each.entry, plain(each.arguments)) for each in found]


FACE = ("StencilOpDesc", 2, 3, 4, 5)
TARGET = ("RenderTargetBlend", 1, 5, 6, 2, 2, 1, 1, 7)
MADE: list[tuple[str, str, Any]] = [
    ("b", "CreateResource", ("CreateResource", (("MipInfo", 16, 1, 1),),
     (("SubresourceUP", b"\1" + bytes(15), 16, 16),), 1, 0, 0x17, 0, 0, 0,
     ("DxgiSampleDesc", 1, 0), 1, 1, None, 0)),
    ("t", "CreateResource", ("CreateResource", (("MipInfo", 2, 3, 1),),
     (("SubresourceUP", bytes(24), 8, 24),), 3, 0, 0x28, 0, 0, 28,
     ("DxgiSampleDesc", 1, 0), 1, 1, None, 0)),
    ("d", "CreateResource", ("CreateResource", (("MipInfo", 2, 2, 1),), None, 3, 0, 0x40, 0, 0,
     45, ("DxgiSampleDesc", 4, 0), 1, 1, None, 0)),
    ("rtv", "CreateRenderTargetView", ("CreateTargetView", "t", 28, 3, 0, 0, 1, 0)),
    ("dsv", "CreateDepthStencilView", ("CreateTargetView", "d", 45, 3, 0, 0, 1, 0)),
    ("srv", "CreateShaderResourceView", ("CreateShaderResourceView", "t", 28, 3, 0, 1, 0, 1,
     0, 0, 0)),
    ("uav", "CreateUnorderedAccessView", ("CreateUnorderedAccessView", "bu", 42, 1, 0, 0, 1, 1, 3,
     0)),
    ("counted", "CreateUnorderedAccessView", ("CreateUnorderedAccessView", "bs", 0, 1, 0, 0, 1, 0,
     2, 4)),
    ("floats", "CreateUnorderedAccessView", ("CreateUnorderedAccessView", "tu", 28, 3, 0, 0, 1, 0,
     0, 0)),
    ("bs", "CreateResource", ("CreateResource", (("MipInfo", 16, 1, 1),), None, 1, 0, 0x100, 0, 0,
     0, ("DxgiSampleDesc", 1, 0), 1, 1, None, 8)),
    ("gs", "CreateGeometryShaderWithStreamOutput", ("StreamOutputShader11", None, (
        ("StreamOutputEntry11", 0, 0, 1, 6), ("StreamOutputEntry11", 0, 1, 0xFFFFFFFF, 15),
        ("StreamOutputEntry11", 0, 1, 0xFFFFFFFF, 3), ("StreamOutputEntry11", 0, 0, 0, 15)),
     (32, 28), 0xFFFFFFFF)),
    ("il", "CreateElementLayout", ("CreateElementLayout", (
        ("InputElement", 1, 0, 2, 1, 2, 0), ("InputElement", 1, 16, 2, 1, 2, 1)))),
    ("blend", "CreateBlendState", ("BlendDesc1", 1, 0, (TARGET,) * 8)),
    ("stencil", "CreateDepthStencilState",
     ("DepthStencilDesc", 1, 0, 3, 1, 1, 1, 15, 240, FACE, FACE)),
    ("raster", "CreateRasterizerState", ("RasterizerDesc", 2, 3, 1, 0, 0.0, 0.0, 0, 1, 1, 0)),
    ("q", "CreateQuery", ("CreateQuery", 1, 0)),
    ("p", "CreateQuery", ("CreateQuery", 5, 1)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "entry", "description"), MADE, ids=lambda each: str(each)[:40])
def test_an_object_has_its_description(
    name: str, entry: str, description: Any, tmp_path: Path, shaders: Path
) -> None:
    (made,) = (
        plain(each.arguments)
        for each in entries([], tmp_path, shaders)
        if each.entry == entry and plain(each.arguments)[1] == name
    )
    assert made[0] == description


def test_samplers_address_the_same_way_on_every_axis(tmp_path: Path, shaders: Path) -> None:
    (made,) = (
        each.arguments[0]
        for each in entries([], tmp_path, shaders)
        if each.entry == "CreateSampler"
    )
    assert isinstance(made, Structure)
    assert made.members[:4] == (21, 3, 3, 3)
    assert (made.members[5], made.members[9]) == (1, 1000.0)


def test_shaders_come_with_their_signatures(tmp_path: Path, shaders: Path) -> None:
    made = {
        each.entry: each.arguments
        for each in entries([], tmp_path, shaders)
        if each.entry in ("CreateVertexShader", "CreatePixelShader")
    }
    _, _, _, signatures = made["CreateVertexShader"]
    entry = "SignatureEntry"
    assert plain(signatures) == (
        "Signatures",
        ((entry, 0, 0, 15), (entry, 0, 1, 15)),
        ((entry, 1, 0, 15), (entry, 0, 1, 15)),
    )
    assert made["CreatePixelShader"][0] != made["CreateVertexShader"][0]


def test_every_kind_of_object_is_created_here() -> None:
    assert {each["op"] for each in OBJECTS} == MAKERS.keys()

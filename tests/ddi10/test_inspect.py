"""The bound state of a device as JSON."""

from __future__ import annotations

import json
from typing import Any

from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.ddi10.inspect import facts_of
from dp2emu.ddi10.queries.query_types import CreateQuery, MiscFlag, Query
from dp2emu.ddi10.resources.resource import BindFlag, CreateResource, MipInfo, ResourceType, Usage
from dp2emu.ddi10.resources.unordered_access import BufferFlag, CreateUnorderedAccessView
from dp2emu.ddi10.resources.views import CreateShaderResourceView
from dp2emu.ddi10.shaders.stream_output import StreamOutputEntry11, StreamOutputShader11
from dp2emu.ddi10.states.bindings import Scissor, Viewport
from dp2emu.ddi10.states.input_layout import CreateElementLayout, InputElement
from dp2emu.ddi10.states.state_objects import (
    BlendDesc,
    DepthStencilDesc,
    RasterizerDesc,
    SamplerDesc,
)
from tests.ddi10.drawing import tokens
from tests.ddi10.rendering import D24S8, RGBA8, Rendering

STAGES = ("VS", "HS", "DS", "GS", "PS", "CS")


class Stated(Rendering):
    """A device whose objects are numbered as they are made."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers: dict[int, int] = {}
        self.kept: list[bytearray] = []

    def make(self, noun: str, *description: object) -> bytearray:
        memory = super().make(noun, *description)
        self.kept.append(memory)
        self.numbers[id(memory)] = len(self.kept)
        return memory

    def facts(self) -> dict[str, Any]:
        found = facts_of(self.device, lambda memory: self.numbers.get(id(memory)))
        assert json.loads(json.dumps(found)) == found
        return found


def test_a_fresh_device_has_the_default_state() -> None:
    facts = Stated().facts()
    assert facts["interface"] == "D3D11_0"
    assert facts["IASetInputLayout"] == {"layout": None, "elements": []}
    assert facts["IASetPrimitiveTopology"] == "D3D10_PRIMITIVE_TOPOLOGY_UNDEFINED"
    for stage in STAGES:
        assert facts[f"{stage}SetShader"] is None
        kinds = ("ConstantBuffers", "ShaderResources", "Samplers")
        assert [facts[f"{stage}Set{kind}"] for kind in kinds] == [{}, {}, {}]
    assert facts["RSSetState"]["CullMode"] == "D3D10_CULL_BACK"
    assert facts["OMSetDepthStencilState"]["DepthFunc"] == "D3D10_COMPARISON_LESS"
    assert len(facts["OMSetBlendState"]["RenderTarget"]) == 8
    assert (facts["SetPredication"], facts["queries"], facts["resources"]) == (None, {}, {})


def test_the_input_assembler_is_shown() -> None:
    at = Stated()
    element = InputElement(1, 8, DxgiFormat.R32G32_FLOAT.value, 1, 3, 2)
    layout = at.make("ElementLayout", CreateElementLayout([element]))
    vertices, indices = at.buffer(bytes(64)), at.buffer(bytes(32), BindFlag.INDEX_BUFFER)
    at.call("IaSetInputLayout", layout)
    at.call("IaSetVertexBuffers", 1, [vertices], [24], [8])
    at.call("IaSetIndexBuffer", indices, DxgiFormat.R16_UINT.value, 4)
    at.call("IaSetTopology", 35)
    facts = at.facts()
    assert facts["IASetInputLayout"] == {
        "layout": "element layout 1",
        "elements": [{
            "InputSlot": 1, "AlignedByteOffset": 8, "Format": "DXGI_FORMAT_R32G32_FLOAT",
            "InputSlotClass": "D3D10_INPUT_PER_INSTANCE_DATA", "InstanceDataStepRate": 3,
            "InputRegister": 2,
        }],
    }  # fmt: skip
    bound = {"buffer": "resource 2", "stride": 24, "offset": 8}
    assert facts["IASetVertexBuffers"] == {"1": bound}
    expected = {"buffer": "resource 3", "format": "DXGI_FORMAT_R16_UINT", "offset": 4}
    assert facts["IASetIndexBuffer"] == expected
    topology = "D3D11_PRIMITIVE_TOPOLOGY_3_CONTROL_POINT_PATCHLIST"
    assert facts["IASetPrimitiveTopology"] == topology
    assert facts["resources"]["resource 2"]["TexelWidth"] == 64
    assert facts["resources"]["resource 3"]["BindFlags"] == "D3D10_DDI_BIND_INDEX_BUFFER"


def test_every_stage_has_its_shader_and_slots() -> None:
    at = Stated()
    constants = at.buffer(bytes(64), BindFlag.CONSTANT_BUFFER)
    texture = at.texture(levels=3, slices=2, bind=BindFlag.SHADER_RESOURCE)
    view = at.make("ShaderResourceView", CreateShaderResourceView(
        texture, RGBA8.value, ResourceType.TEXTURE2D, 1, 2, 1, 1
    ))  # fmt: skip
    sampler = at.make("Sampler", SamplerDesc(0xD5, 1, 2, 4, MipLODBias=0.5, MaxLOD=float("inf")))
    for stage in STAGES:
        prefix = stage.title()
        at.call(f"{prefix}SetConstantBuffers", 3, [constants])
        at.call(f"{prefix}SetShaderResources", 7, [view])
        at.call(f"{prefix}SetSamplers", 15, [sampler])
    shader = at.make("VertexShader", tokens("vs_pass"))
    at.call("VsSetShader", shader)
    facts = at.facts()
    for stage in STAGES:
        assert facts[f"{stage}SetConstantBuffers"] == {"3": {"buffer": "resource 1"}}
        assert facts[f"{stage}SetShaderResources"]["7"] == {
            "view": "shader resource view 3", "resource": "resource 2",
            "Format": "DXGI_FORMAT_R8G8B8A8_UNORM",
            "ResourceDimension": "D3D10DDIRESOURCE_TEXTURE2D", "MostDetailedMip": 1,
            "MipLevels": 2, "FirstArraySlice": 1, "ArraySize": 1,
        }  # fmt: skip
        bound = facts[f"{stage}SetSamplers"]["15"]
        assert bound["sampler"] == "sampler 4"
        assert bound["Filter"] == "D3D10_FILTER_COMPARISON_ANISOTROPIC"
        assert bound["AddressV"] == "D3D10_TEXTURE_ADDRESS_MIRROR"
        assert (bound["MipLODBias"], bound["MaxLOD"]) == (0.5, "inf")
    assert facts["VSSetShader"]["shader"] == "vertex shader 5"
    assert facts["VSSetShader"]["assembly"].startswith("vs_4_0\n")


def test_stream_output_is_shown() -> None:
    at = Stated()
    entries = [StreamOutputEntry11(0, 0, 0, 15), StreamOutputEntry11(0, 1, 1, 3)]
    desc = StreamOutputShader11(None, entries, (32, 8), 0xFFFFFFFF)
    memory = bytearray(at.device.functions["CalcPrivateGeometryShaderWithStreamOutput"](desc))
    assert at.call("CreateGeometryShaderWithStreamOutput", desc, memory) == []
    target = at.buffer(bytes(64), BindFlag.STREAM_OUTPUT)
    at.call("GsSetShader", memory)
    at.call("SoSetTargets", [target], 3, [16])
    facts = at.facts()
    assert facts["SOSetTargets"] == {"0": {"buffer": "resource 1", "offset": 16}}
    shader = facts["GSSetShader"]
    assert (shader["shader"], shader["assembly"]) == ("geometry shader ?", None)
    streams = shader["stream_output"]
    assert streams["RasterizedStream"] is None
    assert streams["streams"]["0"]["strides"] == {"0": 32, "1": 8}
    assert len(streams["streams"]["0"]["words"]) == 6


def test_the_rasterizer_is_shown() -> None:
    at = Stated()
    state = at.make("RasterizerState", RasterizerDesc(2, 2, 1, -5, 1e300, 0.5, ScissorEnable=1))
    at.call("SetRasterizerState", state)
    at.call("SetViewports", 14, [Viewport(0, 0, 4, 4), Viewport(1, 2, 3, 4, 0.25, 0.5)])
    at.call("SetScissorRects", 15, [Scissor(1, 2, 3, 4)])
    facts = at.facts()
    found = facts["RSSetState"]
    assert (found["state"], found["FillMode"]) == ("rasterizer state 1", "D3D10_FILL_WIREFRAME")
    assert (found["DepthBias"], found["DepthBiasClamp"], found["ScissorEnable"]) == (-5, "inf", 1)
    assert facts["RSSetViewports"]["1"] == {
        "TopLeftX": 1, "TopLeftY": 2, "Width": 3, "Height": 4, "MinDepth": 0.25, "MaxDepth": 0.5
    }  # fmt: skip
    assert facts["RSSetScissorRects"] == {"0": {"left": 1, "top": 2, "right": 3, "bottom": 4}}


def test_the_output_merger_is_shown() -> None:
    at = Stated()
    color, depth = at.texture(slices=2), at.texture(D24S8, bind=BindFlag.DEPTH_STENCIL)
    targets = [at.target(color, RGBA8, 0, 1, 1), None, at.target(color)]
    depth_view = at.depth(depth, D24S8, 0, 0, 1, 1)
    blend = at.make("BlendState", BlendDesc(1, (1,) * 8, 5, 6))
    stencil = at.make("DepthStencilState", DepthStencilDesc(0, 0, 3, 1))
    at.call("SetRenderTargets", targets, 5, depth_view)
    at.call("SetBlendState", blend, (0.5, 0, 1, float("nan")), 0xF)
    at.call("SetDepthStencilState", stencil, 0x101)
    facts = at.facts()
    merged = facts["OMSetRenderTargets"]
    assert {slot: row["view"] for slot, row in merged["targets"].items()} == {
        "0": "render target view 3", "2": "render target view 4"
    }  # fmt: skip
    assert merged["targets"]["0"]["FirstArraySlice"] == 1
    assert merged["depth_stencil"]["Flags"] == "D3D11_DDI_CREATE_DSV_READ_ONLY_DEPTH"
    assert merged["depth_stencil"]["resource"] == "resource 2"
    found = facts["OMSetBlendState"]
    assert (found["state"], found["SampleMask"]) == ("blend state 6", 15)
    assert found["BlendFactor"] == [0.5, 0, 1, "nan(0x7fc00000)"]
    assert (found["SrcBlend"], found["BlendEnable"]) == ("D3D10_BLEND_SRC_ALPHA", [1] * 8)
    stored = facts["OMSetDepthStencilState"]
    assert (stored["state"], stored["StencilRef"]) == ("depth stencil state 7", 1)
    assert stored["FrontFace"]["StencilPassOp"] == "D3D10_STENCIL_OP_KEEP"


def test_unordered_access_views_of_both_pipelines_are_shown() -> None:
    at = Stated()
    desc = CreateResource(
        [MipInfo(64)], None, ResourceType.BUFFER, BindFlags=BindFlag.UNORDERED_ACCESS, ByteStride=8
    )
    buffer = at.make("Resource", desc)
    counted = at.make("UnorderedAccessView", CreateUnorderedAccessView(
        buffer, 0, ResourceType.BUFFER, FirstElement=2, NumElements=3, Flags=BufferFlag.COUNTER
    ))  # fmt: skip
    texture = at.texture(levels=2, bind=BindFlag.UNORDERED_ACCESS)
    level = at.make("UnorderedAccessView", CreateUnorderedAccessView(
        texture, RGBA8.value, ResourceType.TEXTURE2D, MipSlice=1
    ))  # fmt: skip
    at.call("CsSetUnorderedAccessViews", 2, [counted])
    at.call("SetRenderTargets", [], 8, None, [level], [], 5)
    facts = at.facts()
    bound = facts["CSSetUnorderedAccessViews"]["2"]
    assert (bound["view"], bound["resource"]) == ("unordered access view 2", "resource 1")
    assert (bound["FirstElement"], bound["NumElements"], bound["counter"]) == (2, 3, True)
    drawn = facts["OMSetRenderTargets"]["unordered_access_views"]["5"]
    assert (drawn["view"], drawn["MipSlice"]) == ("unordered access view 4", 1)


def test_queries_and_predication_are_shown() -> None:
    at = Stated()
    hint = CreateQuery(Query.OCCLUSIONPREDICATE, MiscFlag.PREDICATEHINT)
    predicate, event = at.make("Query", hint), at.make("Query", CreateQuery(Query.EVENT))
    at.call("QueryBegin", predicate)
    assert at.facts()["queries"]["query 1"]["state"] == "building"
    at.call("QueryEnd", predicate)
    at.call("SetPredication", predicate, 1)
    facts = at.facts()
    expected = {"predicate": "query 1", "PredicateValue": True, "hint": True}
    assert facts["SetPredication"] == expected
    assert facts["queries"] == {
        "query 1": {"type": "D3D10DDI_QUERY_OCCLUSIONPREDICATE", "state": "issued"},
        "query 2": {"type": "D3D10DDI_QUERY_EVENT", "state": "created"},
    }
    at.call("DestroyQuery", event)
    assert list(at.facts()["queries"]) == ["query 1"]


def test_an_object_that_was_destroyed_while_bound_says_so() -> None:
    at = Stated()
    sampler = at.make("Sampler", SamplerDesc())
    at.call("PsSetSamplers", 0, [sampler])
    at.call("DestroySampler", sampler)
    assert at.facts()["PSSetSamplers"]["0"]["sampler"] == "destroyed"


def test_a_member_of_any_type_is_no_obstacle() -> None:
    at = Stated()
    buffer = at.make("Resource", CreateResource(
        [MipInfo(16)], None, ResourceType.BUFFER, Usage.DYNAMIC, BindFlag.VERTEX_BUFFER,
        pPrimaryDesc=b"anything",
    ))  # fmt: skip
    at.call("IaSetVertexBuffers", 0, [buffer], [4], [0])
    assert at.facts()["resources"]["resource 1"]["pPrimaryDesc"] == "bytes"

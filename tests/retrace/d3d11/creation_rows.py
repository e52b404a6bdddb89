"""Methods of devices that create objects: calls of a traced program, and the driver's calls."""

from __future__ import annotations

from typing import Any

from tests.retrace.calls import struct
from tests.retrace.d3d11.context_rows import Row
from tests.retrace.d3d11.played import FLOAT32, at, buffer_desc, desc, texture_desc, to
from tests.shader.sm4.making import container

DEVICE = "ID3D11Device"
DEVICES = f"{DEVICE} ID3D10Device"
_NONE = {"pInitialData": None}
_ELEMENT = struct(
    "INPUT_ELEMENT_DESC", SemanticName="POSITION", SemanticIndex=0, Format=2, InputSlot=0,
    AlignedByteOffset=0, InputSlotClass=0, InstanceDataStepRate=0,
)  # fmt: skip
_COLOR = struct(
    "INPUT_ELEMENT_DESC", SemanticName="COLOR", SemanticIndex=0, Format=2, InputSlot=0,
    AlignedByteOffset=16, InputSlotClass=0, InstanceDataStepRate=0,
)  # fmt: skip
_LAYOUT = {
    "pInputElementDescs": (_ELEMENT, _COLOR), "NumElements": 2,
    "pShaderBytecodeWithInputSignature": container("vs_pass"),
}  # fmt: skip
_DECLARATION = struct(
    "SO_DECLARATION_ENTRY", SemanticName="SV_Position", SemanticIndex=0, StartComponent=0,
    ComponentCount=4, OutputSlot=0,
)  # fmt: skip


def _row(interfaces: str, name: str, record: str, **given: Any) -> Row:
    return Row(interfaces, name, given | {"ppNew": to("new")}, [record], "device")


def _shader(stage: str, shader: str) -> Row:
    interfaces = DEVICES if stage in ("Vertex", "Geometry", "Pixel") else DEVICE
    code = container(shader)
    entry = f"Create{stage}Shader"
    return _row(interfaces, entry, entry, pShaderBytecode=code)


_BLEND = {
    "AlphaToCoverageEnable": 1, "IndependentBlendEnable": 0, "RenderTarget": (
        struct(
            "RENDER_TARGET_BLEND_DESC", BlendEnable=1, SrcBlend=5, DestBlend=6, BlendOp=1,
            SrcBlendAlpha=2, DestBlendAlpha=1, BlendOpAlpha=1, RenderTargetWriteMask=15,
        ),
    ) * 8,
}  # fmt: skip

ROWS: list[Row] = [
    _row(DEVICES, "CreateBuffer", "CreateResource", pDesc=buffer_desc(64, BindFlags=1), **_NONE),
    _row(DEVICES, "CreateTexture1D", "CreateResource", pDesc=texture_desc((8,)), **_NONE),
    _row(DEVICES, "CreateTexture2D", "CreateResource", pDesc=texture_desc(), **_NONE),
    _row(
        DEVICE, "CreateTexture2D1", "CreateResource",
        pDesc1=texture_desc(TextureLayout=0), **_NONE,
    ),
    _row(DEVICES, "CreateTexture3D", "CreateResource", pDesc=texture_desc((4, 4, 2)), **_NONE),
    _row(
        DEVICE, "CreateTexture3D1", "CreateResource",
        pDesc1=texture_desc((4, 4, 2), TextureLayout=0), **_NONE,
    ),
    *(
        _row(of, name, "CreateShaderResourceView", pResource=at("texture"), pDesc=None)
        for of, name in (
            (DEVICES, "CreateShaderResourceView"), (DEVICES, "CreateShaderResourceView1"),
        )
    ),
    *(
        _row(of, name, "CreateRenderTargetView", pResource=at("texture"), pDesc=None)
        for of, name in (
            (DEVICES, "CreateRenderTargetView"), (DEVICE, "CreateRenderTargetView1"),
        )
    ),
    _row(
        DEVICES, "CreateDepthStencilView", "CreateDepthStencilView",
        pResource=at("flat"), pDesc=None,
    ),
    *(
        _row(
            DEVICE, name, "CreateUnorderedAccessView", pResource=at("floats"),
            pDesc=desc(
                "UNORDERED_ACCESS_VIEW_DESC", Format=FLOAT32, ViewDimension=1,
                Buffer=struct("BUFFER_UAV", FirstElement=8, NumElements=16, Flags=0),
            ),
        )
        for name in ("CreateUnorderedAccessView", "CreateUnorderedAccessView1")
    ),
    _shader("Vertex", "vs_transform"), _shader("Hull", "hs5_quad"), _shader("Domain", "ds5_quad"),
    _shader("Geometry", "gs_zero"), _shader("Pixel", "ps_const"), _shader("Compute", "cs5_fill"),
    _row(
        DEVICES, "CreateGeometryShaderWithStreamOutput", "CreateGeometryShaderWithStreamOutput",
        pShaderBytecode=container("gs_so_points"), pSODeclaration=(_DECLARATION,), NumEntries=1,
        OutputStreamStride=16,
    ),
    _row(DEVICES, "CreateInputLayout", "CreateElementLayout", **_LAYOUT),
    *(
        _row(DEVICES, name, "CreateBlendState", pDesc=desc("BLEND_DESC1", **_BLEND))
        for name in ("CreateBlendState", "CreateBlendState1")
    ),
    _row(
        DEVICES, "CreateDepthStencilState", "CreateDepthStencilState",
        pDesc=desc("DEPTH_STENCIL_DESC", DepthEnable=1, DepthFunc=4),
    ),
    *(
        _row(
            DEVICES, name, "CreateRasterizerState",
            pDesc=desc("RASTERIZER_DESC", FillMode=2, CullMode=3, ScissorEnable=1),
        )
        for name in (
            "CreateRasterizerState", "CreateRasterizerState1", "CreateRasterizerState2",
        )
    ),
    _row(
        DEVICES, "CreateSamplerState", "CreateSampler",
        pDesc=desc("SAMPLER_DESC", Filter=0x15, AddressU=3, AddressV=3, AddressW=3),
    ),
    *(
        _row(DEVICES, name, "CreateQuery", pQueryDesc=desc("QUERY_DESC", Query=0, MiscFlags=0))
        for name in ("CreateQuery", "CreateQuery1")
    ),
    _row(
        DEVICES, "CreatePredicate", "CreateQuery",
        pPredicateDesc=desc("QUERY_DESC", Query=5, MiscFlags=1),
    ),
]  # fmt: skip
"""Every row of a method that creates an object of the driver, with the function that it calls."""

"""Methods of contexts: calls of a traced program, and the records that they become."""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.retrace.calls import struct
from tests.retrace.d3d11.played import at, desc, to

CONTEXT = "ID3D11DeviceContext"
CONTEXTS = f"{CONTEXT} ID3D10Device"
QUERIES = "ID3D10Query ID3D10Predicate ID3D10Asynchronous"
MARKS = "ID3DUserDefinedAnnotation"


class Row(NamedTuple):
    """A method, its arguments, and the records of the call as text.

    If the method hands out objects, ``binds`` is the row of the method that binds them before,
    and ``found`` has the name of the object that the address ``read`` means then.
    """

    interfaces: str
    name: str
    arguments: dict[str, Any]
    records: list[str]
    this: str = "context"
    binds: Any = None
    found: str = ""


def _row(interfaces: str, name: str, *records: str, this: str = "context", **given: Any) -> Row:
    return Row(interfaces, name, given, list(records), this)


def _pair(interfaces: str, setter: Row, name: str, found: str, **given: Any) -> list[Row]:
    """The rows of a method that binds an object, and of one that hands it out."""
    return [setter, Row(interfaces, name, given, [], binds=setter, found=found)]


def _stage(prefix: str) -> list[Row]:
    upper, name = prefix.upper(), prefix.lower()
    of = CONTEXTS if prefix in ("Vs", "Gs", "Ps") else CONTEXT
    first = {"StartSlot": 1, "NumBuffers": 1}
    views, samplers = {"StartSlot": 2, "NumViews": 1}, {"StartSlot": 3, "NumSamplers": 1}
    whole = _row(
        of, f"{upper}SetConstantBuffers", f"{prefix}SetConstantBuffers(1, [constants])",
        **first, ppConstantBuffers=to("constants"),
    )  # fmt: skip
    part = _row(
        CONTEXT, f"{upper}SetConstantBuffers1",
        f"{prefix}SetConstantBuffers(1, [constants], [0], [16])",
        **first, ppConstantBuffers=to("constants"), pFirstConstant=(0,), pNumConstants=(16,),
    )  # fmt: skip
    view = _row(
        of, f"{upper}SetShaderResources", f"{prefix}SetShaderResources(2, [srv])",
        **views, ppShaderResourceViews=to("srv"),
    )  # fmt: skip
    sampler = _row(
        of, f"{upper}SetSamplers", f"{prefix}SetSamplers(3, [sampler])",
        **samplers, ppSamplers=to("sampler"),
    )  # fmt: skip
    shader = _row(of, f"{upper}SetShader", f"{prefix}SetShader({name})", pShader=at(name))
    read = to("read")
    constants = {**first, "ppConstantBuffers": read}
    return [
        *_pair(of, shader, f"{upper}GetShader", name, ppShader=read),
        *_pair(of, whole, f"{upper}GetConstantBuffers", "constants", **constants),
        *_pair(CONTEXT, part, f"{upper}GetConstantBuffers1", "constants", **constants),
        *_pair(of, view, f"{upper}GetShaderResources", "srv", **views, ppShaderResourceViews=read),
        *_pair(of, sampler, f"{upper}GetSamplers", "sampler", **samplers, ppSamplers=read),
    ]


_READ = to("read")
_BOX = desc("D3D11_BOX", left=0, top=0, front=0, right=4, bottom=4, back=1)
_COPY = {"pDstResource": at("copied"), "DstSubresource": 0, "DstX": 4, "DstY": 0, "DstZ": 0}
_COPY |= {"pSrcResource": at("texture"), "SrcSubresource": 0, "pSrcBox": _BOX}
_COPIED = "ResourceCopyRegion(copied, 0, 4, 0, 0, texture, 0, DdiBox)"
_UPDATE = {"pDstResource": at("copied"), "DstSubresource": 1, "pDstBox": None}
_UPDATE |= {"pSrcData": b"abcd" * 8, "SrcRowPitch": 16, "SrcDepthPitch": 0}
_UPDATED = f"ResourceUpdateSubresourceUP(copied, 1, None, {(b'abcd' * 8).hex()}, 16, 0)"
_VIEWPORT = struct(
    "D3D11_VIEWPORT", TopLeftX=0.0, TopLeftY=1.0, Width=8.0, Height=4.0, MinDepth=0.0, MaxDepth=1.0
)
_RECT = struct("RECT", left=1, top=2, right=3, bottom=4)
_INDIRECT = {"pBufferForArgs": at("arguments"), "AlignedByteOffsetForArgs": 16}
_NO_TARGETS = {"NumRTVs": 0, "ppRenderTargetViews": None, "ppDepthStencilView": None}
_DATA = {"pData": (7,), "DataSize": 8, "GetDataFlags": 0}
_OBSERVED = "0x0 0700000000000000 of query"

_LAYOUT = _row(CONTEXTS, "IASetInputLayout", "IaSetInputLayout(layout)", pInputLayout=at("layout"))
_INDICES = _row(
    CONTEXTS, "IASetIndexBuffer", "IaSetIndexBuffer(buffer, 57, 4)",
    pIndexBuffer=at("buffer"), Format=57, Offset=4,
)  # fmt: skip
_VERTICES = _row(
    CONTEXTS, "IASetVertexBuffers", "IaSetVertexBuffers(1, [buffer dynamic], [8 16], [4 0])",
    StartSlot=1, NumBuffers=2, ppVertexBuffers=to("buffer", "dynamic"), pStrides=(8, 16),
    pOffsets=(4, 0),
)  # fmt: skip
_RASTERIZER = _row(
    CONTEXTS, "RSSetState", "SetRasterizerState(rasterizer)", pRasterizerState=at("rasterizer")
)
_BLEND = _row(
    CONTEXTS, "OMSetBlendState", "SetBlendState(blend, [0.0 0.5 1.0 1.0], 15)",
    pBlendState=at("blend"), BlendFactor=(0.0, 0.5, 1.0, 1.0), SampleMask=15,
)  # fmt: skip
_DEPTH = _row(
    CONTEXTS, "OMSetDepthStencilState", "SetDepthStencilState(depth, 7)",
    pDepthStencilState=at("depth"), StencilRef=7,
)  # fmt: skip
_TARGETS = _row(
    CONTEXTS, "OMSetRenderTargets", "SetRenderTargets([rtv], 7, dsv)",
    NumViews=1, ppRenderTargetViews=to("rtv"), pDepthStencilView=at("dsv"),
)  # fmt: skip
_UNORDERED = _row(
    CONTEXT, "OMSetRenderTargetsAndUnorderedAccessViews",
    "SetRenderTargets([rtv], 7, None, [uav], [3], 1, 0, 8)",
    NumRTVs=1, ppRenderTargetViews=to("rtv"), pDepthStencilView=None, UAVStartSlot=1, NumUAVs=1,
    ppUnorderedAccessViews=to("uav"), pUAVInitialCounts=(3,),
)  # fmt: skip
_COMPUTE = _row(
    CONTEXT, "CSSetUnorderedAccessViews", "CsSetUnorderedAccessViews(0, [uav], [4294967295])",
    StartSlot=0, NumUAVs=1, ppUnorderedAccessViews=to("uav"), pUAVInitialCounts=None,
)  # fmt: skip
_STREAM = _row(
    CONTEXTS, "SOSetTargets", "SoSetTargets([so], 3, [4])",
    NumBuffers=1, ppSOTargets=to("so"), pOffsets=(4,),
)  # fmt: skip
_PREDICATE = _row(
    CONTEXTS, "SetPredication", "SetPredication(predicate, 1)",
    pPredicate=at("predicate"), PredicateValue=True,
)  # fmt: skip

ROWS: list[Row] = [
    *(row for prefix in ("Vs", "Hs", "Ds", "Gs", "Ps", "Cs") for row in _stage(prefix)),
    *_pair(CONTEXTS, _LAYOUT, "IAGetInputLayout", "layout", ppInputLayout=_READ),
    _row(CONTEXTS, "IASetPrimitiveTopology", "IaSetTopology(4)", Topology=4),
    *_pair(
        CONTEXTS, _INDICES, "IAGetIndexBuffer", "buffer",
        pIndexBuffer=_READ, Format=(57,), Offset=(4,),
    ),
    *_pair(
        CONTEXTS, _VERTICES, "IAGetVertexBuffers", "buffer",
        StartSlot=1, NumBuffers=1, ppVertexBuffers=_READ, pStrides=(8,), pOffsets=(4,),
    ),
    *_pair(CONTEXTS, _RASTERIZER, "RSGetState", "rasterizer", ppRasterizerState=_READ),
    _row(
        CONTEXTS, "RSSetViewports", "SetViewports(15, [Viewport])",
        NumViewports=1, pViewports=(_VIEWPORT,),
    ),
    _row(
        CONTEXTS, "RSSetScissorRects", "SetScissorRects(15, [Scissor])",
        NumRects=1, pRects=(_RECT,),
    ),
    *_pair(
        CONTEXTS, _BLEND, "OMGetBlendState", "blend",
        ppBlendState=_READ, BlendFactor=(0.0,) * 4, pSampleMask=(15,),
    ),
    *_pair(
        CONTEXTS, _DEPTH, "OMGetDepthStencilState", "depth",
        ppDepthStencilState=_READ, pStencilRef=(7,),
    ),
    *_pair(
        CONTEXTS, _TARGETS, "OMGetRenderTargets", "dsv",
        NumViews=0, ppRenderTargetViews=None, ppDepthStencilView=_READ,
    ),
    *_pair(
        CONTEXT, _UNORDERED, "OMGetRenderTargetsAndUnorderedAccessViews", "uav",
        **_NO_TARGETS, UAVStartSlot=1, NumUAVs=1, ppUnorderedAccessViews=_READ,
    ),
    *_pair(
        CONTEXT, _COMPUTE, "CSGetUnorderedAccessViews", "uav",
        StartSlot=0, NumUAVs=1, ppUnorderedAccessViews=_READ,
    ),
    *_pair(CONTEXTS, _STREAM, "SOGetTargets", "so", NumBuffers=1, ppSOTargets=_READ),
    *_pair(
        CONTEXTS, _PREDICATE, "GetPredication", "predicate",
        ppPredicate=_READ, pPredicateValue=(1,),
    ),
    _row(CONTEXTS, "Draw", "Draw(3, 1)", VertexCount=3, StartVertexLocation=1),
    _row(
        CONTEXTS, "DrawIndexed", "DrawIndexed(3, 1, -1)",
        IndexCount=3, StartIndexLocation=1, BaseVertexLocation=-1,
    ),
    _row(
        CONTEXTS, "DrawInstanced", "DrawInstanced(3, 2, 1, 4)",
        VertexCountPerInstance=3, InstanceCount=2, StartVertexLocation=1, StartInstanceLocation=4,
    ),
    _row(
        CONTEXTS, "DrawIndexedInstanced", "DrawIndexedInstanced(3, 2, 1, -1, 4)",
        IndexCountPerInstance=3, InstanceCount=2, StartIndexLocation=1, BaseVertexLocation=-1,
        StartInstanceLocation=4,
    ),
    _row(CONTEXTS, "DrawAuto", "DrawAuto()"),
    _row(
        CONTEXT, "Dispatch", "Dispatch(1, 2, 3)",
        ThreadGroupCountX=1, ThreadGroupCountY=2, ThreadGroupCountZ=3,
    ),
    *(
        _row(CONTEXT, name, f"{name}(arguments, 16)", **_INDIRECT)
        for name in ("DrawInstancedIndirect", "DrawIndexedInstancedIndirect", "DispatchIndirect")
    ),
    _row(
        CONTEXTS, "ClearRenderTargetView", "ClearRenderTargetView(rtv, [0.0 0.25 0.5 1.0])",
        pRenderTargetView=at("rtv"), ColorRGBA=(0.0, 0.25, 0.5, 1.0),
    ),
    _row(
        CONTEXTS, "ClearDepthStencilView", "ClearDepthStencilView(dsv, 3, 0.5, 9)",
        pDepthStencilView=at("dsv"), ClearFlags=3, Depth=0.5, Stencil=9,
    ),
    _row(
        CONTEXT, "ClearUnorderedAccessViewUint", "ClearUnorderedAccessViewUint(uav, [1 2 3 4])",
        pUnorderedAccessView=at("uav"), Values=(1, 2, 3, 4),
    ),
    _row(
        CONTEXT, "ClearUnorderedAccessViewFloat",
        "ClearUnorderedAccessViewFloat(typed, [1.0 2.0 3.0 4.0])",
        pUnorderedAccessView=at("typed"), Values=(1.0, 2.0, 3.0, 4.0),
    ),
    _row(
        CONTEXT, "ClearView", "ClearRenderTargetView(rtv, [0.0 0.0 0.0 1.0])",
        pView=at("rtv"), Color=(0.0, 0.0, 0.0, 1.0), pRect=None, NumRects=0,
    ),
    _row(
        CONTEXTS, "CopyResource", "ResourceCopy(copied, texture)",
        pDstResource=at("copied"), pSrcResource=at("texture"),
    ),
    _row(CONTEXTS, "CopySubresourceRegion", _COPIED, **_COPY),
    _row(CONTEXT, "CopySubresourceRegion1", _COPIED, **_COPY, CopyFlags=0),
    _row(CONTEXTS, "UpdateSubresource", _UPDATED, **_UPDATE),
    _row(CONTEXT, "UpdateSubresource1", _UPDATED, **_UPDATE, CopyFlags=0),
    _row(
        CONTEXTS, "ResolveSubresource", "ResourceResolveSubresource(single, 0, multiple, 0, 28)",
        pDstResource=at("single"), DstSubresource=0, pSrcResource=at("multiple"),
        SrcSubresource=0, Format=28,
    ),
    _row(CONTEXTS, "GenerateMips", "GenMips(srv)", pShaderResourceView=at("srv")),
    _row(
        CONTEXT, "CopyStructureCount", "CopyStructureCount(buffer, 4, uav)",
        pDstBuffer=at("buffer"), DstAlignedByteOffset=4, pSrcView=at("uav"),
    ),
    _row(
        CONTEXT, "SetResourceMinLOD", "SetResourceMinLOD(texture, 0.5)",
        pResource=at("texture"), MinLOD=0.5,
    ),
    _row(CONTEXTS, "Flush", "Flush()"),
    _row(CONTEXT, "Flush1", "Flush()", ContextType=0, hEvent=None),
    _row(CONTEXT, "Begin", "QueryBegin(query)", pAsync=at("query")),
    _row(CONTEXT, "End", "QueryEnd(query)", pAsync=at("query")),
    _row(CONTEXT, "GetData", _OBSERVED, pAsync=at("query"), **_DATA),
    *(_row(each, "Begin", "QueryBegin(query)", this="query") for each in QUERIES.split()),
    *(
        _row(each, "End", "QueryEnd(timestamp)", this="timestamp", ) for each in QUERIES.split()
    ),
    _row(CONTEXT, "BeginEventInt", "marker.begin: frame", pLabel="frame", Data=0),
    _row(CONTEXT, "SetMarkerInt", "marker: point", pLabel="point", Data=0),
    _row(f"{CONTEXT} {MARKS}", "EndEvent", "marker.end: "),
    _row(MARKS, "BeginEvent", "marker.begin: frame", Name="frame"),
    _row(MARKS, "SetMarker", "marker: point", Name="point"),
]  # fmt: skip
"""Every row of a method of a context or query, but for ClearState, maps and command lists."""

"""Draw a triangle with the functions of a Direct3D 10/11 driver and query the draw.

    python docs/ddi10_example.py [CAPTURE]

It makes the calls of the Direct3D runtime, step by step.  To test another driver, replace the
adapter by that driver's.  The adapter checks the contract: a call that breaks a rule of the
interface raises ContractError.  With a file name, all calls are saved to that file, for ``dp2emu
replay`` and ``dp2emu dump``.
"""

from __future__ import annotations

import struct
import sys
from contextlib import ExitStack
from typing import Any

from dp2emu.capture import CaptureWriter
from dp2emu.capture.recorder import Recorder
from dp2emu.ddi10.adapter import Adapter, Cause
from dp2emu.ddi10.codes import Interface
from dp2emu.ddi10.queries.query_types import QUERY_TYPES, CreateQuery, Query
from dp2emu.ddi10.queries.statistics import Statistics
from dp2emu.ddi10.resources.maps import Map
from dp2emu.ddi10.resources.resource import (
    BindFlag,
    CreateResource,
    MipInfo,
    ResourceType,
    SubresourceUP,
    Usage,
)
from dp2emu.ddi10.resources.views import CreateTargetView
from dp2emu.ddi10.states.bindings import Viewport
from dp2emu.ddi10.states.input_layout import CreateElementLayout, InputElement
from dp2emu.ddi10.states.state_objects import RasterizerDesc
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.gpu.device.timing import by_work
from dp2emu.shader.sm4 import assemble
from dp2emu.testing.statistic_intervals import Case, ranges

SIDE = 64
RGBA8, FLOAT4 = 28, 2
"""DXGI_FORMAT_R8G8B8A8_UNORM and DXGI_FORMAT_R32G32B32A32_FLOAT."""

VERTEX_SHADER = """
vs_4_0
dcl_input v0.xyzw
dcl_output_siv o0.xyzw, position
mov o0.xyzw, v0.xyzw
ret
"""
PIXEL_SHADER = """
ps_4_0
dcl_output o0.xyzw
mov o0.xyzw, l(1.0, 0.5, 0.25, 1.0)
ret
"""
CORNERS = ((-0.5, 0.5, 0.5, 1.0), (0.5, 0.5, 0.5, 1.0), (-0.5, -0.5, 0.5, 1.0))
TRIANGLE_LIST = 4


class Host:
    """The runtime's side of a device: memory for objects, and codes the driver reports."""

    def __init__(self, adapter: Adapter | Recorder) -> None:
        self.codes: list[int] = []
        device = adapter.create_device(Interface.D3D11_0, self._set_error)
        self.functions = device.functions

    def _set_error(self, core_layer: int, code: int) -> None:
        """pfnSetErrorCb."""
        self.codes.append(code)

    def call(self, name: str, *arguments: Any) -> Any:
        """Call a function; it reports nothing, or this ends with the code."""
        self.codes.clear()
        found = self.functions[name](*arguments)
        if self.codes:
            raise SystemExit(f"{name} reported {self.codes[0]:#010x}")
        return found

    def make(self, noun: str, description: Any) -> bytearray:
        """An object: the driver says how much memory it takes, the runtime hands that over."""
        memory = bytearray(self.call(f"CalcPrivate{noun}Size", description))
        self.call(f"Create{noun}", description, memory, 0)
        return memory

    def shader(self, stage: str, text: str) -> bytearray:
        """A shader, from the tokens that its text stands for."""
        code = assemble(text)
        memory = bytearray(self.call("CalcPrivateShaderSize", code))
        self.call(f"Create{stage}Shader", code, memory, 0)
        return memory

    def data(self, query: bytearray, kind: Query) -> tuple[Any, ...]:
        """Ask until there is an answer; WASSTILLDRAWING is none, and leaves the memory alone."""
        data = bytearray(QUERY_TYPES[kind].layout.size)
        while True:
            self.codes.clear()
            self.functions["QueryGetData"](query, data, len(data), 0)
            if not self.codes:
                return QUERY_TYPES[kind].layout.unpack(data)


def bind(host: Host) -> bytearray:
    """Everything a draw needs; returns the target."""
    target = host.make(
        "Resource",
        CreateResource((MipInfo(SIDE, SIDE),), None, ResourceType.TEXTURE2D,
                       BindFlags=int(BindFlag.RENDER_TARGET), Format=RGBA8),
    )  # fmt: skip
    view = host.make("RenderTargetView", CreateTargetView(target, RGBA8, ResourceType.TEXTURE2D))
    vertices = b"".join(struct.pack("<4f", *corner) for corner in CORNERS)
    buffer = host.make(
        "Resource",
        CreateResource((MipInfo(len(vertices)),), (SubresourceUP(vertices),), ResourceType.BUFFER,
                       BindFlags=int(BindFlag.VERTEX_BUFFER)),
    )  # fmt: skip
    layout = host.make("ElementLayout", CreateElementLayout((InputElement(0, 0, FLOAT4),)))
    host.call("IaSetInputLayout", layout)
    host.call("IaSetVertexBuffers", 0, (buffer,), (16,), (0,))
    host.call("IaSetTopology", TRIANGLE_LIST)
    host.call("VsSetShader", host.shader("Vertex", VERTEX_SHADER))
    host.call("PsSetShader", host.shader("Pixel", PIXEL_SHADER))
    host.call("SetRasterizerState", host.make("RasterizerState", RasterizerDesc(CullMode=1)))
    host.call("SetViewports", 15, (Viewport(0.0, 0.0, float(SIDE), float(SIDE)),))
    host.call("SetRenderTargets", (view,), 7, None)
    host.call("ClearRenderTargetView", view, (0.0, 0.0, 0.0, 1.0))
    return target


def count(host: Host) -> tuple[int, Statistics]:
    """Visible pixels and statistics of one draw, each by a query around it."""
    kinds = (Query.OCCLUSION, Query.D3D11_PIPELINESTATS)
    queries = [host.make("Query", CreateQuery(kind)) for kind in kinds]
    for query in queries:
        host.call("QueryBegin", query)
    host.call("Draw", 3, 0)
    for query in queries:
        host.call("QueryEnd", query)
    (visible,), statistics = (
        host.data(query, kind) for query, kind in zip(queries, kinds, strict=True)
    )
    return visible, Statistics(*statistics)


def predicated(host: Host) -> int:
    """Visible pixels of a draw that is skipped: its predicate found nothing."""
    predicate = host.make("Query", CreateQuery(Query.OCCLUSIONPREDICATE))
    host.call("QueryBegin", predicate)
    host.call("QueryEnd", predicate)
    host.call("SetPredication", predicate, 0)
    visible, _ = count(host)
    host.call("SetPredication", None, 0)
    return visible


def timed(host: Host, adapter: Adapter | Recorder) -> tuple[int, int]:
    """Ticks that a draw took, and whether they mean anything: here the clock is disturbed."""
    disjoint = host.make("Query", CreateQuery(Query.TIMESTAMPDISJOINT))
    stamps = [host.make("Query", CreateQuery(Query.TIMESTAMP)) for _ in range(2)]
    host.call("QueryBegin", disjoint)
    host.call("QueryEnd", stamps[0])
    host.call("Draw", 3, 0)
    host.call("Flush")
    adapter.disturb(Cause.THROTTLE)
    host.call("QueryEnd", stamps[1])
    host.call("QueryEnd", disjoint)
    before, after = (host.data(stamp, Query.TIMESTAMP)[0] for stamp in stamps)
    return after - before, host.data(disjoint, Query.TIMESTAMPDISJOINT)[1]


def read_back(host: Host, target: bytearray) -> bytes:
    """The pixels of the target, by way of a staging resource."""
    staging = host.make(
        "Resource",
        CreateResource((MipInfo(SIDE, SIDE),), None, ResourceType.TEXTURE2D, Usage.STAGING,
                       Format=RGBA8),
    )  # fmt: skip
    host.call("ResourceCopy", staging, target)
    mapped = host.call("StagingResourceMap", staging, 0, int(Map.READ), 0)
    pixels = bytes(mapped.pData)
    host.call("StagingResourceUnmap", staging, 0)
    return pixels


def main(capture: str | None = None) -> None:
    """Do it all, and print what came of it."""
    with ExitStack() as stack:
        driver = Adapter(Gpu(by_work()), checking=True)
        adapter: Adapter | Recorder = driver
        if capture is not None:
            adapter = Recorder(driver, stack.enter_context(CaptureWriter(capture)).write)
        host = Host(adapter)
        target = bind(host)
        visible, statistics = count(host)
        print(f"visible pixels: {visible}")
        allowed = ranges([Case(TRIANGLE_LIST, 3, positions=CORNERS, passed=visible)])
        print(f"statistics: {statistics}")
        print(f"outside of what is allowed: {allowed.outside(statistics) or 'none'}")
        print(f"visible with a predicate that found nothing: {predicated(host)}")
        ticks, disjoint = timed(host, adapter)
        print(f"ticks of a draw: {ticks}, disjoint: {bool(disjoint)}")
        pixels = read_back(host, target)
        drawn = sum(pixels[at : at + 4] == b"\xff\x80\x40\xff" for at in range(0, len(pixels), 4))
        print(f"pixels in the colour of the shader: {drawn}")


if __name__ == "__main__":
    main(*sys.argv[1:2])

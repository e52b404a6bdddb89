"""Draws in any state: the compiled engine gives what the reference engine does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dp2emu.d3d.dxgi import DXGI, Support
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.ddi10.adapter import Adapter
from dp2emu.ddi10.resources.resource import BindFlag, ResourceType, SubresourceUP
from dp2emu.ddi10.resources.views import CreateShaderResourceView
from dp2emu.ddi10.states.bindings import Scissor, Viewport
from dp2emu.ddi10.states.state_objects import (
    BlendDesc1,
    DepthStencilDesc,
    RasterizerDesc,
    RenderTargetBlend,
    SamplerDesc,
    StencilOpDesc,
)
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.shader.engines import CHECKED, engine
from tests.ddi10.drawing import SIZE, tokens
from tests.ddi10.rendering import Rendering
from tests.ddi10.shaders.test_stage_resources import ps

F = DxgiFormat
TARGETS = [f for f, row in DXGI.items() if Support.BLEND in row.support]
DEPTHS = [None, *(f for f, row in DXGI.items() if Support.DEPTH in row.support)]
TEXTURES = [F.R8G8B8A8_UNORM, F.R8G8B8A8_UNORM_SRGB, F.R16G16_SNORM, F.R11G11B10_FLOAT, F.A8_UNORM]
HEAD = "dcl_sampler s0, mode_default\ndcl_resource_texture2d (float,float,float,float) t0"
COLOR = "dcl_input_ps linear v1.xyzw"
PROGRAMS: list[tuple[Sequence[str], str]] = [
    (["mov o0, v1"], COLOR),
    (["sample o0, v1.xyxx, t0, s0"], f"{HEAD}\n{COLOR}"),
    (["sample_b r1, v1.xyxx, t0, s0, l(0.5)", "mul o0, r1, v1"], f"{HEAD}\n{COLOR}"),
    (["lt r1.x, v1.x, l(0.25)", "discard_nz r1.x", "mov o0, v1"], COLOR),
    (["mov o0, v1", "mov oDepth, v1.y"], f"{COLOR}\ndcl_output oDepth"),
    (["mov o0, v1", "mov oDepthGE, v1.y"], f"{COLOR}\ndcl_output oDepthGE"),
    (["mov o0, v1", "mov oDepthLE, v1.y"], f"{COLOR}\ndcl_output oDepthLE"),
    (["deriv_rtx r1, v1", "add o0, r1, v1"], COLOR),
    (["ld o0, r0, t0"], HEAD),
    (["mov o0, v1", "mov oMask, l(5)"], f"{COLOR}\ndcl_output oMask"),
    (["utof r1, v2.xxxx", "mul o0, r1, l(0.25, 0.5, 0.125, 0.25)"],
     "dcl_input_ps_sgv constant v2.x, sampleIndex"),
    (["mov o0, v1"], "dcl_input_ps linear centroid v1.xyzw"),
    (["eval_sample_index o0, v1.yxwz, l(1)"], COLOR),
    (["eval_snapped o0, v1, l(-3, 5, 0, 0)"], COLOR),
    (["gather4 o0, v1.xyxx, t0, s0.y"], f"{HEAD}\n{COLOR}"),
    (["utof r1, vCoverage.xxxx", "mul o0, r1, l(0.0625, 0.125, 0.25, 0.0625)"],
     "dcl_input vCoverage"),
    (["utof r1, v2.xxxx", "mul o0, r1, l(0.25, 0.5, 0.125, 0.25)"],
     "dcl_input_ps_sgv constant v2.x, primitive_id"),
    (["movc o0, v2.xxxx, l(0.25, 0.5, 0.75, 1.0), l(1.0, 0.5, 0, 0.25)"],
     "dcl_input_ps_sgv constant v2.x, is_front_face"),
    (["mov o0, v1"], "dcl_input_ps constant v1.xyzw"),
    (["mov o0, v1"], "dcl_input_ps linear noperspective sample v1.xyzw"),
    (["lod r1, v1.xyxx, t0, s0", "mul o0, r1.xyxy, l(0.5, 0.125, 0.25, 0.25)"],
     f"{HEAD}\n{COLOR}"),
]  # fmt: skip
VALUES = st.sampled_from((-1.25, -1.0, -0.5, 0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 3.0))
FACTORS = st.sampled_from((*range(1, 12), 14, 15))
COMPARISONS, OPERATIONS = st.integers(1, 8), st.integers(1, 8)


@st.composite
def states(draw: st.DrawFn) -> dict[str, Any]:
    blend = RenderTargetBlend(
        draw(st.integers(0, 1)), draw(FACTORS), draw(FACTORS), draw(st.integers(1, 5)),
        draw(FACTORS), draw(FACTORS), draw(st.integers(1, 5)), draw(st.integers(0, 15)),
    )  # fmt: skip
    faces = [StencilOpDesc(*(draw(OPERATIONS) for _ in range(4))) for _ in range(2)]
    depth = DepthStencilDesc(
        DepthEnable=draw(st.integers(0, 1)), DepthWriteMask=draw(st.integers(0, 1)),
        DepthFunc=draw(COMPARISONS), StencilEnable=draw(st.integers(0, 1)),
        FrontEnable=1, BackEnable=1, FrontFace=faces[0], BackFace=faces[1],
        StencilReadMask=draw(st.integers(0, 255)), StencilWriteMask=draw(st.integers(0, 255)),
    )  # fmt: skip
    raster = RasterizerDesc(
        FillMode=draw(st.sampled_from((3, 3, 2))), CullMode=draw(st.integers(1, 3)),
        FrontCounterClockwise=draw(st.integers(0, 1)),
        DepthBias=draw(st.sampled_from((0, 0, 100, -5000))),
        DepthBiasClamp=draw(st.sampled_from((0.0, 0.0, 0.001, -0.01))),
        SlopeScaledDepthBias=draw(st.sampled_from((0.0, 0.0, 1.5))),
        DepthClipEnable=draw(st.integers(0, 1)), ScissorEnable=draw(st.integers(0, 1)),
        MultisampleEnable=draw(st.integers(0, 1)),
        AntialiasedLineEnable=draw(st.integers(0, 1)),
    )  # fmt: skip
    return {
        "target": draw(st.sampled_from(TARGETS)),
        "depth_format": draw(st.sampled_from(DEPTHS)),
        "samples": draw(st.sampled_from((1, 1, 4))),
        "blend": BlendDesc1(draw(st.integers(0, 1)), 0, (blend,) * 8),
        "depth": depth,
        "raster": raster,
        "viewport": Viewport(
            draw(st.sampled_from((0.0, 2.5))), 1.25, 12.0, 13.5,
            *draw(st.sampled_from(((0.0, 1.0), (0.25, 0.5)))),
        ),
        "program": draw(st.sampled_from(PROGRAMS)),
        "texture": draw(st.sampled_from(TEXTURES)),
        "sampler": SamplerDesc(
            draw(st.sampled_from((0, 1, 4, 5, 16, 17, 20, 21, 85))), draw(st.integers(1, 5)),
            draw(st.integers(1, 5)), 3, draw(st.sampled_from((0.0, -0.5))),
            draw(st.integers(1, 16)), 1, (0.25, 2.0, -1.0, 0.5),
            *draw(st.sampled_from(((-1000.0, 1000.0), (0.5, 1.25)))),
        ),
        "vertices": [[draw(VALUES) for _ in range(8)] for _ in range(6)],
        "ws": [draw(st.sampled_from((0.5, 1.0, 2.0))) for _ in range(6)],
        "topology": draw(st.integers(1, 5)),
        "reference": draw(st.integers(0, 255)),
        "sample_mask": draw(st.sampled_from((0xFFFFFFFF, 0xFFFFFFFF, 5))),
    }  # fmt: skip


@given(state=states())
@settings(max_examples=30)
def test_any_state(state: dict[str, Any]) -> None:
    driven = Rendering(adapter=Adapter(Gpu(run=engine(CHECKED)), checking=True))
    samples, format = state["samples"], state["target"]
    color = driven.texture(format, samples=samples)
    view, depth = driven.target(color, format), None
    driven.call("ClearRenderTargetView", view, (0.25, 0.5, 0.75, 0.5))
    if state["depth_format"] is not None:
        wanted = state["depth_format"]
        buffer = driven.texture(wanted, bind=BindFlag.DEPTH_STENCIL, samples=samples)
        depth = driven.depth(buffer, wanted)
        driven.call("ClearDepthStencilView", depth, 3, 0.5, 0x81)
    driven.prepare(depth=state["depth"], raster=state["raster"])
    made = driven.make("BlendState", state["blend"])
    driven.call("SetBlendState", made, (0.5, 2.0, -0.5, 0.25), state["sample_mask"])
    made = driven.make("DepthStencilState", state["depth"])
    driven.call("SetDepthStencilState", made, state["reference"])
    driven.call("SetViewports", 15, [state["viewport"]])
    driven.call("SetScissorRects", 15, [Scissor(3, 2, 11, 14)])
    driven.call("IaSetTopology", state["topology"])
    driven.call("VsSetShader", driven.make("VertexShader", tokens("vs_pass")))
    lines, head = state["program"]
    driven.call("PsSetShader", driven.make("PixelShader", ps(lines, head)))
    _bind_texture(driven, state["texture"])
    driven.call("PsSetSamplers", 0, [driven.make("Sampler", state["sampler"])])
    corners = zip(state["vertices"], state["ws"], strict=True)
    rows = [[x * w, y * w, z * w, w, *rest] for (x, y, z, _, *rest), w in corners]
    driven.vertices(rows)
    driven.call("SetRenderTargets", [view], 7, depth)
    driven.call("Draw", 6, 0)
    driven.call("Flush")
    driven.adapter.gpu.finish()


def _bind_texture(driven: Rendering, format: DxgiFormat) -> None:
    """A texture of three levels, of bytes that are all different."""
    size = DXGI[format].texels.size
    data = np.random.default_rng(format.value).integers(0, 120, size * SIZE * SIZE, np.uint8)
    levels = [
        SubresourceUP(data[: size * side * side].tobytes(), size * side)
        for side in (SIZE, SIZE // 2, SIZE // 4)
    ]
    resource = driven.texture(format, bind=BindFlag.SHADER_RESOURCE, levels=3, data=levels)
    desc = CreateShaderResourceView(resource, format.value, ResourceType.TEXTURE2D)
    driven.call("PsSetShaderResources", 0, [driven.make("ShaderResourceView", desc)])

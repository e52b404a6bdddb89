"""Samplers, viewports and scissor rectangles of Direct3D 10 and 11 scenes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from .stage10 import (
    DRAW,
    FLOAT,
    POSITION,
    TARGET,
    Stage,
    container,
    drawing,
    floats,
    pixel,
    reading,
)

VIEW = {"op": "CreateShaderResourceView", "name": "srv", "resource": "t"}


def sampler(**more: Any) -> dict[str, Any]:
    return {"op": "CreateSamplerState", "name": "sampler", "Filter": 0, "Address": 3, **more}


def texture(*values: float, **more: Any) -> dict[str, Any]:
    return {"op": "CreateTexture2D", "name": "t", "Format": FLOAT, "Width": len(values),
            "Height": 1, "BindFlags": 8, "hex": floats(*values), **more}  # fmt: skip


COMPARED = reading("texture2d", "sample_c_lz o0.xyzw, r1.xyxx, t0.xxxx, s0, r1.z",
                   mode="comparison")  # fmt: skip


@pytest.mark.parametrize("api", ["d3d10", "d3d11"])
@pytest.mark.parametrize(
    ("func", "passed"),
    [("NEVER", [0, 0, 0]), ("LESS", [1, 0, 0]), (3, [0, 1, 0]), ("LESS_EQUAL", [1, 1, 0]),
     ("D3D11_COMPARISON_GREATER", [0, 0, 1]), (6, [1, 0, 1]), ("GREATEREQUAL", [0, 1, 1]),
     ("ALWAYS", [1, 1, 1])],
)  # fmt: skip
def test_a_comparison_sampler_compares_the_reference_with_the_texel(
    func: object, passed: list[int], api: str, stage: Stage
) -> None:
    stage.shaders["ps"] = COMPARED
    point = sampler(Filter="COMPARISON_MIN_MAG_MIP_POINT", ComparisonFunc=func)
    places = [[0.5, 0.5, reference] for reference in (0.25, 0.5, 0.75)]
    assert stage.draw([texture(0.5), VIEW, point], places, api)[0, :3, 0].tolist() == passed


@pytest.mark.parametrize("api", ["d3d10", "d3d11"])
def test_a_linear_comparison_filter_averages_the_comparisons(api: str, stage: Stage) -> None:
    stage.shaders["ps"] = COMPARED
    linear = sampler(Filter=0x95, comparison="LESS")
    places = [[0.5, 0.5, 0.5], [0.375, 0.5, 0.5], [0.5, 0.5, 0.1], [0.5, 0.5, 0.95]]
    found = stage.draw([texture(0.2, 0.9), VIEW, linear], places, api)
    assert found[0, :4, 0].tolist() == [0.5, 0.25, 1, 0]


@pytest.mark.parametrize("api", ["d3d10", "d3d11"])
@pytest.mark.parametrize(
    ("typeless", "depth", "read"),
    [("R32_TYPELESS", "D32_FLOAT", "R32_FLOAT"), ("R16_TYPELESS", "D16_UNORM", "R16_UNORM"),
     ("R24G8_TYPELESS", "D24_UNORM_S8_UINT", "R24_UNORM_X8_TYPELESS")],
)  # fmt: skip
def test_a_slice_of_a_depth_texture_is_compared(
    typeless: str, depth: str, read: str, api: str, stage: Stage
) -> None:
    texels = texture(0, 0, Format=typeless, BindFlags="DEPTH_STENCIL|SHADER_RESOURCE", array=2,
                     hex=None)  # fmt: skip
    more, calls = drawing([[0.5, 0.5, 0.25], [0.5, 0.5, 0.75]])
    objects = [
        texels,
        {"op": "CreateDepthStencilView", "name": "dsv", "resource": "t", "Format": depth,
         "ViewDimension": 4, "FirstArraySlice": 1, "ArraySize": 1},
        {**VIEW, "Format": read, "slice": 1},
        sampler(Filter=0x80, ComparisonFunc="GREATER"),
    ]  # fmt: skip
    first = {"op": "ClearDepthStencilView", "view": "dsv", "Depth": 0.5, "Stencil": 3}
    bound = [
        {"op": "PSSetShaderResource", "Slot": 0, "view": "srv"},
        {"op": "PSSetSampler", "Slot": 0, "sampler": "sampler"},
    ]
    stage.shaders["ps"] = reading(
        "texture2darray", "sample_c_lz o0.xyzw, r1.xyxx, t0.xxxx, s0, r1.z", mode="comparison"
    )
    found = stage.play([*more, *objects], first, *calls, *bound, DRAW, api=api)
    image = np.frombuffer(bytes.fromhex(found["images"]["rt"]), "<f4").reshape(16, 4)
    assert image[:2, 0].tolist() == [0, 1]


LEVELS = [floats(*[0.0] * 8), floats(*[1.0] * 4), floats(2, 2), floats(3)]
SAMPLED = pixel(
    "ps_4_0",
    "mul r0.xy, v0.xyxx, l(0.125000, 0.125000, 0.000000, 0.000000)",
    "sample o0.xyzw, r0.xyxx, t0.xyzw, s0",
    declared=["dcl_sampler s0, mode_default",
              "dcl_resource_texture2d (float,float,float,float) t0"],
)  # fmt: skip
"""Samples with a texture of 8 x 1 over 8 pixels, so that the level of detail is 0."""


@pytest.mark.parametrize("api", ["d3d10", "d3d11"])
@pytest.mark.parametrize(
    ("desc", "level"),
    [({}, 0), ({"MipLODBias": 1}, 1), ({"lod_bias": 2.0}, 2), ({"MinLOD": 2}, 2),
     ({"MipLODBias": 3, "MaxLOD": 1}, 1), ({"MinLOD": 3, "MaxLOD": 3}, 3)],
)  # fmt: skip
def test_bias_and_bounds_of_a_sampler_choose_the_level(
    desc: dict[str, Any], level: int, api: str, stage: Stage
) -> None:
    stage.shaders["ps"] = SAMPLED
    texels = texture(*[0.0] * 8, MipLevels=4, hex=LEVELS)
    found = stage.draw([texels, VIEW, sampler(**desc)], [[0]], api, width=8)
    assert found[0, :, 0].tolist() == [level] * 8


@pytest.mark.parametrize("api", ["d3d10", "d3d11"])
def test_each_axis_has_its_address_mode_and_a_border_its_colour(api: str, stage: Stage) -> None:
    stage.shaders["ps"] = reading("texture2d", "sample_l o0.xyzw, r1.xyxx, t0.xyzw, s0, l(0)")
    desc = {"op": "CreateSamplerState", "name": "sampler", "Filter": "MIN_MAG_MIP_POINT",
            "AddressU": "BORDER", "AddressV": "WRAP",
            "BorderColor": [0.5, 0.25, 1, 0]}  # fmt: skip
    places = [[0.25, 0.5], [0.75, 3.5], [-0.1, 0.5], [1.1, 0.5]]
    found = stage.draw([texture(4, 5), VIEW, desc], places, api)[0, :4]
    assert found[:2, 0].tolist() == [4, 5]
    assert found[2:].tolist() == [[0.5, 0.25, 1, 0]] * 2


# Viewports


GEOMETRY = container(
    """gs_4_0
    dcl_input_siv v[3][0].xyzw, position
    dcl_inputprimitive triangle
    dcl_outputtopology trianglestrip
    dcl_output_siv o0.xyzw, position
    dcl_output_siv o1.x, viewport_array_index
    dcl_maxout 9
    """
    + "\n".join(
        f"mov o0.xyzw, v[{corner}][0].xyzw\nmov o1.x, l({viewport})\nemit"
        + ("\ncut" if corner == 2 else "")
        for viewport in range(3)
        for corner in range(3)
    )
    + "\nret",
    [POSITION],
    [POSITION, ("SV_ViewportArrayIndex", 5, 1, 1)],
)
"""A geometry shader that draws a triangle to each of three viewports."""

DEPTHS = container(
    """ps_4_0
    dcl_input_ps_siv linear noperspective v0.z, position
    dcl_output o0.xyzw
    mov o0.xyzw, v0.zzzz
    ret""",
    [POSITION],
    [TARGET],
)


@pytest.mark.parametrize("api", ["d3d10", "d3d11"])
@pytest.mark.parametrize("scissored", [False, True])
def test_each_viewport_has_its_place_depths_and_scissor_rectangle(
    scissored: bool, api: str, stage: Stage
) -> None:
    stage.shaders |= {"ps": DEPTHS, "gs": GEOMETRY}
    objects, calls = drawing([[0]], 8, 2)
    objects = [
        {**each, "ScissorEnable": int(scissored)} if each["name"] == "raster" else each
        for each in objects
    ]
    more = [
        {"op": "GSSetShader", "shader": "gs"},
        {"op": "RSSetViewports", "viewports": [
            {"Width": 2, "Height": 2},
            {"x": 2, "TopLeftY": 1, "Width": 3, "Height": 1, "MinDepth": 0.5},
            [6, 0, 2, 2, 0.0, 0.5]]},
        {"op": "RSSetScissorRects", "rects": [
            [0, 0, 1, 8], {"left": 3, "top": 0, "right": 4, "bottom": 2}]},
    ]  # fmt: skip
    shader = {"op": "CreateGeometryShader", "name": "gs", "shader": "gs"}
    found = stage.play([*objects, shader], *calls, *more, DRAW, api=api)
    image = np.frombuffer(bytes.fromhex(found["images"]["rt"]), "<f4").reshape(2, 8, 4)[..., 0]
    wanted = [[0.5, 0.5, 0, 0, 0, 0, 0.25, 0.25], [0.5, 0.5, 0.75, 0.75, 0.75, 0, 0.25, 0.25]]
    if scissored:
        wanted = [[0.5, 0, 0, 0, 0, 0, 0, 0], [0.5, 0, 0, 0.75, 0, 0, 0, 0]]
    assert image.tolist() == wanted


@pytest.mark.parametrize(
    ("op", "key"), [("RSSetViewports", "viewports"), ("RSSetScissorRects", "rects")]
)
def test_there_are_at_most_16_viewports(op: str, key: str, stage: Stage) -> None:
    row = [0, 0, 1, 1, 0, 1][: 6 if key == "viewports" else 4]
    event = {"op": "CreateQuery", "name": "q", "Query": 0}
    found = stage.play([event], {"op": op, key: [row] * 16}, {"op": op, key: [row] * 17})
    assert found["failed_calls"] == [{"call": 1, "op": op, "hr": "0x80070057"}]

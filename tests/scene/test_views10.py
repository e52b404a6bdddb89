"""Views of buffers and unordered access views of Direct3D 11 scenes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from .stage10 import FLOAT, UINT, Stage, container, drawing, floats, pixel, words

READ_BUFFER = {"op": "ReadBuffer", "buffer": "out"}
DISPATCH = {"op": "Dispatch", "X": 1, "Y": 1, "Z": 1}


def buffer(name: str, size: int, **more: Any) -> dict[str, Any]:
    return {"op": "CreateBuffer", "name": name, "ByteWidth": size, "BindFlags": 0x88, **more}


def view(kind: str, name: str, resource: str, **more: Any) -> dict[str, Any]:
    return {"op": f"Create{kind}View", "name": name, "resource": resource, **more}


def copying(read: str, declared: str) -> str:
    """A compute shader whose eight threads each copy a DWORD that ``read`` puts in r0.x."""
    return container(
        f"""cs_5_0
        {declared}
        dcl_uav_raw u0
        dcl_input vThreadIDInGroupFlattened.x
        dcl_temps 2
        dcl_thread_group 8, 1, 1
        mov r1.x, vThreadIDInGroupFlattened.x
        {read}
        ishl r1.x, r1.x, l(2)
        store_raw u0.x, r1.x, r0.x
        ret"""
    )


def copied(stage: Stage, source: dict[str, Any], srv: dict[str, Any]) -> list[int]:
    """The DWORDs that the compute shader copies from a view into buffer ``out``."""
    objects = [
        source, srv, buffer("out", 32), view("UnorderedAccess", "uav", "out", Flags="RAW"),
        {"op": "CreateComputeShader", "name": "cs", "shader": "cs"},
    ]  # fmt: skip
    found = stage.play(
        objects,
        {"op": "CSSetShader", "shader": "cs"},
        {"op": "CSSetShaderResource", "Slot": 0, "view": "srv"},
        {"op": "CSSetUnorderedAccessView", "Slot": 0, "view": "uav"},
        DISPATCH,
        READ_BUFFER,
    )
    assert found["failed_calls"] == []
    return np.frombuffer(bytes.fromhex(found["buffers"]["out"]), "<u4").tolist()


NUMBERS = [*range(10, 26)]
TYPED = copying("ld_indexable(buffer)(uint,uint,uint,uint) r0.x, r1.xxxx, t0.xyzw",
                "dcl_resource_buffer (uint,uint,uint,uint) t0")  # fmt: skip
RAW = copying("ishl r0.y, r1.x, l(2)\nld_raw r0.x, r0.y, t0.xxxx", "dcl_resource_raw t0")
STRUCTURED = copying("ld_structured r0.x, r1.x, l(4), t0.xxxx", "dcl_resource_structured t0, 8")


@pytest.mark.parametrize(
    ("desc", "values"),
    [
        ({}, NUMBERS[:8]),
        ({"FirstElement": 3, "NumElements": 4}, [*NUMBERS[3:7], 0, 0, 0, 0]),
        ({"ViewDimension": 1, "ElementOffset": 12}, [*NUMBERS[12:], 0, 0, 0, 0]),
        ({"Format": 62}, [10, 0, 0, 0, 11, 0, 0, 0]),
    ],
)
def test_a_typed_view_has_elements_of_its_format(
    desc: dict[str, Any], values: list[int], stage: Stage
) -> None:
    stage.shaders["cs"] = TYPED
    srv = view("ShaderResource", "srv", "in", **{"Format": "R32_UINT"} | desc)
    assert copied(stage, buffer("in", 64, hex=words(*NUMBERS)), srv) == values


@pytest.mark.parametrize(
    "desc", [{"ViewDimension": "BUFFEREX", "Flags": 1, "Format": "R32_TYPELESS"}, {"raw": True}]
)
def test_a_raw_view_has_dwords_from_its_first_element_on(
    desc: dict[str, Any], stage: Stage
) -> None:
    stage.shaders["cs"] = RAW
    srv = view("ShaderResource", "srv", "in", FirstElement=4, NumElements=6, **desc)
    source = buffer("in", 64, hex=words(*NUMBERS), MiscFlags="BUFFER_ALLOW_RAW_VIEWS")
    assert copied(stage, source, srv) == [*NUMBERS[4:10], 0, 0]


@pytest.mark.parametrize("desc", [{}, {"Format": 0, "ViewDimension": 1}, {"structured": True}])
def test_a_structured_view_has_structures(desc: dict[str, Any], stage: Stage) -> None:
    stage.shaders["cs"] = STRUCTURED
    srv = view("ShaderResource", "srv", "in", FirstElement=1, NumElements=6, **desc)
    source = buffer("in", 64, hex=words(*NUMBERS), StructureByteStride=8,
                    MiscFlags="BUFFER_STRUCTURED")  # fmt: skip
    assert copied(stage, source, srv) == [*NUMBERS[3:14:2], 0, 0]


@pytest.mark.parametrize("api", ["d3d10", "d3d11"])
def test_a_pixel_shader_loads_from_a_typed_buffer(api: str, stage: Stage) -> None:
    stage.shaders["ps"] = pixel(
        "ps_4_0", "ld o0.xyzw, r0.xxxx, t0.xyzw",
        declared=["dcl_resource_buffer (float,float,float,float) t0"],
    )  # fmt: skip
    source = buffer("in", 16, BindFlags="SHADER_RESOURCE", hex="00ff8000" * 4)
    srv = view("ShaderResource", "srv", "in", Format="R8G8B8A8_UNORM", first=2, count=2)
    found = stage.draw([source, srv], [[0]], api)
    assert found[0, 1].tolist() == [0, 1, np.float32(128 / 255), 0]
    assert found[0, 2].tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("api", ["d3d10", "d3d11"])
def test_elements_of_a_buffer_are_a_render_target(api: str, stage: Stage) -> None:
    out = buffer("out", 32, BindFlags=0x20)
    rtv = view("RenderTarget", "rtv", "out", Format=FLOAT, ElementOffset=2, ElementWidth=3)
    clear = {"op": "ClearRenderTargetView", "view": "rtv", "r": 5, "g": 0, "b": 0, "a": 0}
    found = stage.play([out, rtv], clear, READ_BUFFER, api=api)
    assert found["buffers"]["out"] == floats(0, 0, 5, 5, 5, 0, 0, 0)


@pytest.mark.parametrize(
    ("desc", "cleared"),
    [({}, (0, 8)), ({"FirstElement": 2}, (2, 8)), ({"raw": True, "NumElements": 3}, (0, 3))],
)
def test_an_unordered_view_has_elements(
    desc: dict[str, Any], cleared: tuple[int, int], stage: Stage
) -> None:
    format = {} if "raw" in desc else {"Format": UINT}
    objects = [buffer("out", 32), view("UnorderedAccess", "uav", "out", **format, **desc)]
    clear = {"op": "ClearUnorderedAccessViewUint", "view": "uav", "Values": [7, 0, 0, 0]}
    found = stage.play(objects, clear, READ_BUFFER)
    first, last = cleared
    wanted = [7 if first <= element < last else 0 for element in range(8)]
    assert found["buffers"]["out"] == words(*wanted)


def texture(kind: str = "2D", **more: Any) -> dict[str, Any]:
    return {"op": f"CreateTexture{kind}", "name": "t", "Format": UINT, "Width": 2, "Height": 2,
            "BindFlags": "UNORDERED_ACCESS", "MipLevels": 2, **more}  # fmt: skip


@pytest.mark.parametrize(
    ("texels", "desc", "cleared"),
    [
        (texture(), {}, {(0, 0): [7] * 4}),
        (texture(), {"MipSlice": 1}, {(1, 0): [7]}),
        (texture(ArraySize=3), {"mip": 1, "FirstArraySlice": 1, "ArraySize": 2},
         {(1, 1): [7], (1, 2): [7]}),
        (texture(ArraySize=3), {"ViewDimension": "TEXTURE2D", "slice": 2}, {(0, 2): [7] * 4}),
        (texture(cube=True), {"face": 5}, {(0, 5): [7] * 4}),
        (texture("3D", Depth=4), {"FirstWSlice": 2, "WSize": -1}, {(0, 0): [0] * 8 + [7] * 8}),
        (texture("3D", Depth=4), {"mip": 1, "slice": 1}, {(1, 0): [0, 7]}),
    ],
)  # fmt: skip
def test_an_unordered_view_is_one_level_of_slices(
    texels: dict[str, Any], desc: dict[str, Any], cleared: Any, stage: Stage
) -> None:
    clear = {"op": "ClearUnorderedAccessViewUint", "view": "uav", "Values": [7, 0, 0, 0]}
    read = {"op": "ReadTexture", "texture": "t"}
    found = stage.play([texels, view("UnorderedAccess", "uav", "t", **desc)], clear, read)
    touched = {
        (row["mip"], row["slice"]): np.frombuffer(bytes.fromhex(row["hex"]), "<u4").tolist()
        for row in found["textures"]["t"]["subresources"]
        if row["hex"].strip("0")
    }
    assert touched == cleared


WRITING = container(
    """cs_5_0
    dcl_uav_typed_texture2d (uint,uint,uint,uint) u0
    dcl_input vThreadID.xy
    dcl_temps 1
    dcl_thread_group 2, 2, 1
    imad r0.x, vThreadID.y, l(2), vThreadID.x
    iadd r0.x, r0.x, l(1)
    store_uav_typed u0.xyzw, vThreadID.xyyy, r0.xxxx
    ret"""
)


def test_a_compute_shader_writes_a_slice_of_an_array(stage: Stage) -> None:
    stage.shaders["cs"] = WRITING
    objects = [
        texture(ArraySize=2, MipLevels=1), {"op": "CreateComputeShader", "name": "cs",
                                            "shader": "cs"},
        view("UnorderedAccess", "uav", "t", ViewDimension=4, slice=1),
    ]  # fmt: skip
    found = stage.play(
        objects,
        {"op": "CSSetShader", "shader": "cs"},
        {"op": "CSSetUnorderedAccessView", "view": "uav"},
        DISPATCH,
        {"op": "ReadTexture", "texture": "t", "label": "a"},
    )
    rows = found["textures"]["a"]["subresources"]
    assert [row["hex"] for row in rows] == [words(0, 0, 0, 0), words(1, 2, 3, 4)]


@pytest.mark.parametrize(
    ("kind", "desc"),
    [
        ("ShaderResource", {"MostDetailedMip": 2}),
        ("ShaderResource", {"MipLevels": 3}),
        ("ShaderResource", {"ViewDimension": "TEXTURECUBE"}),
        ("ShaderResource", {"ViewDimension": "TEXTURE2D", "ArraySize": 2}),
        ("ShaderResource", {"FirstElement": 0, "NumElements": 1}),
        ("ShaderResource", {"NumCubes": 1}),
        ("ShaderResource", {"Format": "R32G32_FLOAT"}),
        ("RenderTarget", {"FirstArraySlice": 1, "ArraySize": 2}),
        ("RenderTarget", {"MipSlice": 2}),
        ("DepthStencil", {}),
        ("UnorderedAccess", {"ViewDimension": "TEXTURE3D"}),
    ],
)
def test_a_view_that_does_not_fit_its_resource_is_an_invalid_argument(
    kind: str, desc: dict[str, Any], stage: Stage
) -> None:
    texels = texture(ArraySize=2, Format=FLOAT, BindFlags=0x28)
    found = stage.play([texels, view(kind, "v", "t", **desc)])
    assert found["create"] == {"t": "0x00000000", "v": "0x80070057"}


@pytest.mark.parametrize("api", ["d3d10", "d3d10.1"])
def test_direct3d_10_has_neither_raw_nor_structured_views(api: str, stage: Stage) -> None:
    source = buffer("b", 64, StructureByteStride=8, BindFlags=8)
    views = [view("ShaderResource", f"v{n}", "b", raw=bool(n)) for n in range(2)]
    found = stage.play([source, *views], api=api)
    assert found["create"] == {"b": "0x00000000", "v0": "0x80070057", "v1": "0x80070057"}


def test_a_resource_is_not_bound_for_reading_and_writing(stage: Stage) -> None:
    """Elements of a buffer that is a target are no input, whichever they are."""
    stage.shaders["ps"] = pixel(
        "ps_4_0", "ld o0.xyzw, r0.xxxx, t0.xyzw",
        declared=["dcl_resource_buffer (float,float,float,float) t0"],
    )  # fmt: skip
    more, calls = drawing([[0]])
    objects = [
        buffer("b", 512, BindFlags=0x28, hex=floats(*[1.0] * 128)),
        view("ShaderResource", "srv", "b", Format=FLOAT, first=0, count=16),
        view("RenderTarget", "elements", "b", Format=FLOAT, first=64, count=16),
    ]
    bound = {"op": "OMSetRenderTargets", "rtvs": ["elements"], "dsv": None}
    again = {"op": "OMSetRenderTargets", "rtvs": ["rtv"], "dsv": None}
    srv = {"op": "PSSetShaderResource", "Slot": 0, "view": "srv"}
    draw = {"op": "Draw", "VertexCount": 3, "StartVertexLocation": 0}
    found = stage.play([*more, *objects], *calls, srv, bound, again, draw)
    assert found["images"]["rt"] == floats(*[0.0] * 64)


@pytest.mark.parametrize("api", ["d3d10.1", "d3d11"])
def test_a_shader_loads_samples_of_a_slice(api: str, stage: Stage) -> None:
    stage.shaders["ps"] = pixel(
        "ps_4_1", "ftoi r1.xyzw, r1.xyzw", "ldms o0.xyzw, r1.xyzw, t0.xyzw, l(3)",
        declared=["dcl_resource_texture2dmsarray(4) (float,float,float,float) t0"],
    )  # fmt: skip
    more, calls = drawing([[1, 1, 0, 0], [1, 1, 1, 0]])
    objects = [
        texture(Format=FLOAT, BindFlags=0x28, SampleCount=4, ArraySize=2, MipLevels=1),
        view("RenderTarget", "second", "t", ViewDimension="TEXTURE2DMSARRAY", slice=1),
        view("ShaderResource", "srv", "t"),
    ]
    clear = {"op": "ClearRenderTargetView", "view": "second", "r": 6, "g": 0, "b": 0, "a": 0}
    srv = {"op": "PSSetShaderResource", "Slot": 0, "view": "srv"}
    draw = {"op": "Draw", "VertexCount": 3, "StartVertexLocation": 0}
    found = stage.play([*more, *objects], *calls, clear, srv, draw, api=api)
    image = np.frombuffer(bytes.fromhex(found["images"]["rt"]), "<f4").reshape(16, 4)
    assert image[:2, 0].tolist() == [0, 6]

"""Textures of Direct3D 10 and 11 scenes: levels, arrays, cubes and volumes, written and read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from PIL import Image

from .stage10 import DRAW, FLOAT, FLOAT4, RGBA8, Stage, drawing, floats, reading, texel

POINT = {"op": "CreateSamplerState", "name": "sampler", "Filter": 0, "Address": 3}


def texture(kind: str = "2D", **more: Any) -> dict[str, Any]:
    sizes = {"Width": 4, "Height": 2} | ({"Depth": 2} if kind == "3D" else {})
    return {"op": f"CreateTexture{kind}", "name": "t", "Format": FLOAT, "BindFlags": 0x28,
            **sizes, **more}  # fmt: skip


def view(kind: str = "ShaderResource", name: str = "srv", **more: Any) -> dict[str, Any]:
    return {"op": f"Create{kind}View", "name": name, "resource": "t", **more}


def clear(name: str, value: float) -> dict[str, Any]:
    return {"op": "ClearRenderTargetView", "view": name, "r": value, "g": 0, "b": 0, "a": 0}


READ = {"op": "ReadTexture", "texture": "t"}


def parts(found: dict[str, Any], name: str = "t") -> dict[tuple[int, int], list[float]]:
    """The floats of each subresource that was read, by level and slice."""
    rows = found["textures"][name]["subresources"]
    return {
        (row["mip"], row["slice"]): np.frombuffer(bytes.fromhex(row["hex"]), "<f4").tolist()
        for row in rows
    }


LEVELS = [floats(*range(8)), floats(10, 11), floats(20)]
"""The levels of a texture of 4 x 2 floats."""


# Levels


@pytest.mark.parametrize("api", ["d3d10", "d3d10.1", "d3d11"])
@pytest.mark.parametrize(
    "data", [LEVELS, "".join(LEVELS), [LEVELS], [{"hex": each} for each in LEVELS]]
)
def test_each_level_has_its_initial_data(data: Any, api: str, stage: Stage) -> None:
    found = stage.play([texture(MipLevels=3, hex=data)], READ, api=api)
    assert parts(found) == {(0, 0): [*range(8)], (1, 0): [10, 11], (2, 0): [20]}
    rows = found["textures"]["t"]["subresources"]
    assert [(row["width"], row["height"], row["depth"]) for row in rows] == [
        (4, 2, 1), (2, 1, 1), (1, 1, 1)
    ]  # fmt: skip


@pytest.mark.parametrize("api", ["d3d10", "d3d11"])
def test_a_shader_loads_from_the_levels_of_its_view(api: str, stage: Stage) -> None:

    stage.shaders["ps"] = loading("texture2d")
    texels = texture(MipLevels=0, hex=LEVELS)
    places = [[3, 1, 0, 0], [1, 0, 0, 1], [0, 0, 0, 2]]
    assert stage.draw([texels, view()], places, api)[0, :3, 0].tolist() == [7, 11, 20]
    part = view(MostDetailedMip=1, MipLevels=1)
    places = [[1, 0, 0, 0], [0, 0, 0, 1]]
    assert stage.draw([texels, part], places, api)[0, :2, 0].tolist() == [11, 0]


def loading(dimension: str, version: str = "ps_4_0") -> str:
    """A pixel shader that loads a texel at the integers of its constant."""
    return reading(dimension, "ftoi r1.xyzw, r1.xyzw\nld o0.xyzw, r1.xyzw, t0.xyzw", version)


# Arrays


SLICES = [
    [floats(*(start + texel for texel in range(8))), floats(start + 50, start + 51)]
    for start in (0, 100, 200)
]
"""Slices of two levels."""


@pytest.mark.parametrize("api", ["d3d10", "d3d11"])
def test_an_array_is_sampled_by_slice_and_level(api: str, stage: Stage) -> None:
    stage.shaders["ps"] = reading("texture2darray", "sample_l o0.xyzw, r1.xyzx, t0.xyzw, s0, r1.w")
    array = [texture(MipLevels=2, ArraySize=3, hex=SLICES), POINT]
    places = [[0.9, 0.9, 0, 0], [0.9, 0.9, 2, 0], [0.1, 0.1, 1, 1], [0.9, 0.1, 9, 1]]
    found = stage.draw([*array, view()], places, api)
    assert found[0, :4, 0].tolist() == [7, 207, 150, 251]
    part = view(ViewDimension=5, MostDetailedMip=1, MipLevels=-1, FirstArraySlice=1, ArraySize=2)
    found = stage.draw([*array, part], places, api)
    assert found[0, :4, 0].tolist() == [151, 251, 250, 251]


@pytest.mark.parametrize("api", ["d3d10", "d3d11"])
def test_a_1d_array_is_sampled_by_slice(api: str, stage: Stage) -> None:
    stage.shaders["ps"] = reading("texture1darray", "sample_l o0.xyzw, r1.xyxx, t0.xyzw, s0, l(0)")
    array = texture("1D", ArraySize=2, hex=floats(*range(8)))
    del array["Height"]
    found = stage.draw([array, view(), POINT], [[0.1, 0], [0.9, 1]], api)
    assert found[0, :2, 0].tolist() == [0, 7]


@pytest.mark.parametrize("api", ["d3d10", "d3d11"])
def test_a_target_is_one_level_of_one_slice(api: str, stage: Stage) -> None:
    target = view("RenderTarget", "rtv", MipSlice=1, FirstArraySlice=1, ArraySize=1)
    found = stage.play([texture(MipLevels=2, ArraySize=3), target], clear("rtv", 5), READ, api=api)
    zeros = {(mip, slice): [0] * (8, 2)[mip] for slice in range(3) for mip in range(2)}
    assert parts(found) == zeros | {(1, 1): [5, 5]}
    images = {"t", "t.mip1", "t.slice1", "t.slice1.mip1", "t.slice2", "t.slice2.mip1"}
    assert found["images"].keys() == images
    assert found["images"]["t.slice1.mip1"] == floats(5, 5)


@pytest.mark.parametrize("api", ["d3d10", "d3d11"])
def test_a_target_without_description_is_the_top_level_of_all_slices(
    api: str, stage: Stage
) -> None:
    objects = [texture(MipLevels=2, ArraySize=2), view("RenderTarget", "rtv")]
    found = stage.play(objects, clear("rtv", 5), READ, api=api)
    assert parts(found) == {(0, 0): [5] * 8, (1, 0): [0] * 2, (0, 1): [5] * 8, (1, 1): [0] * 2}


@pytest.mark.parametrize("api", ["d3d10", "d3d11"])
def test_levels_are_generated_below_the_first_of_a_view(api: str, stage: Stage) -> None:
    objects = [
        texture(MipLevels=3, ArraySize=2, MiscFlags="GENERATE_MIPS"),
        view("RenderTarget", "rtv", MipSlice=1, slice=1), view(first_mip=1, first_slice=1),
    ]  # fmt: skip
    generate = {"op": "GenerateMips", "view": "srv"}
    found = stage.play(objects, clear("rtv", 6), generate, READ, api=api)
    assert [parts(found)[place] for place in ((1, 1), (2, 1), (2, 0))] == [[6, 6], [6], [0]]


# Depth


@pytest.mark.parametrize("api", ["d3d10", "d3d11"])
def test_a_depth_view_is_one_slice(api: str, stage: Stage) -> None:
    depth = texture(Format="D32_FLOAT", BindFlags="DEPTH_STENCIL", ArraySize=2)
    dsv = view("DepthStencil", "dsv", ViewDimension=4, FirstArraySlice=1, ArraySize=1)
    call = {"op": "ClearDepthStencilView", "view": "dsv", "Depth": 0.5, "Stencil": 0}
    found = stage.play([depth, dsv], call, READ, api=api)
    assert parts(found) == {(0, 0): [0] * 8, (0, 1): [0.5] * 8}
    with Image.open(stage.out / "here.t.call1.slice1.png") as picture:
        assert np.asarray(picture)[0, 0].tolist() == [128, 128, 128, 255]


# Cubes


FACES = [[floats(*[face] * 4), floats(face + 0.5)] for face in range(6)]
AXES = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]


def cube(**more: Any) -> dict[str, Any]:
    return texture(**{"Width": 2, "Height": 2, "MipLevels": 2, "hex": FACES, "cube": True} | more)


@pytest.mark.parametrize("api", ["d3d10", "d3d11"])
@pytest.mark.parametrize("level", [0, 1])
def test_each_face_of_a_cube_lies_at_its_axis(level: int, api: str, stage: Stage) -> None:
    stage.shaders["ps"] = reading(
        "texturecube", f"sample_l o0.xyzw, r1.xyzx, t0.xyzw, s0, l({level}.000000)"
    )
    found = stage.draw([cube(), view(), POINT], AXES, api)
    assert found[0, :6, 0].tolist() == [face + level / 2 for face in range(6)]


@pytest.mark.parametrize("api", ["d3d10", "d3d11"])
def test_a_cube_is_viewed_as_an_array_of_faces(api: str, stage: Stage) -> None:
    stage.shaders["ps"] = reading("texture2darray", "sample_l o0.xyzw, r1.xyzx, t0.xyzw, s0, l(0)")
    faces = view(ViewDimension="TEXTURE2DARRAY", FirstArraySlice=2, ArraySize=3)
    found = stage.draw([cube(), faces, POINT], [[0, 0, 0], [0, 0, 1], [0, 0, 7]], api)
    assert found[0, :3, 0].tolist() == [2, 3, 4]


@pytest.mark.parametrize("api", ["d3d10", "d3d11"])
def test_a_face_of_a_cube_is_a_target(api: str, stage: Stage) -> None:
    objects = [cube(hex=None), view("RenderTarget", "rtv", face=4)]
    found = stage.play(objects, clear("rtv", 3), {**READ, "mip": 0}, api=api)
    assert parts(found) == {(0, face): [3 * (face == 4)] * 4 for face in range(6)}


@pytest.mark.parametrize("api", ["d3d10.1", "d3d11"])
def test_a_cube_array_is_sampled_by_cube_and_viewed_from_a_face_on(api: str, stage: Stage) -> None:
    code = reading("texturecubearray", "sample_l o0.xyzw, r1.xyzw, t0.xyzw, s0, l(0)", "ps_4_1")
    stage.shaders["ps"] = code
    faces = [floats(*[face] * 4) for face in range(18)]
    array = cube(cubes=3, MipLevels=1, hex=faces)
    places = [[*axis, number] for number in (0, 2) for axis in AXES]
    found = stage.draw([array, view(), POINT], places, api)
    assert found[0, :12, 0].tolist() == [*range(6), *range(12, 18)]
    part = view(ViewDimension="TEXTURECUBEARRAY", First2DArrayFace=6, NumCubes=2)
    found = stage.draw([array, part, POINT], [[*axis, 1] for axis in AXES], api)
    assert found[0, :6, 0].tolist() == [*range(12, 18)]


def test_direct3d_10_has_no_arrays_of_cubes(stage: Stage) -> None:
    one = cube(name="one", hex=None)
    found = stage.play([one, cube(ArraySize=12, hex=None)], api="d3d10")
    assert found["create"] == {"one": "0x00000000", "t": "0x80070057"}


# Volumes


VOLUME = [floats(*range(16)), floats(20, 21), floats(30)]


@pytest.mark.parametrize("api", ["d3d10", "d3d11"])
def test_a_volume_is_sampled_by_depth_and_level(api: str, stage: Stage) -> None:
    stage.shaders["ps"] = reading("texture3d", "sample_l o0.xyzw, r1.xyzx, t0.xyzw, s0, r1.w")
    places = [
        [0.1, 0.1, 0.1, 0],
        [0.1, 0.1, 0.9, 0],
        [0.9, 0.9, 0.9, 0],
        [0.9, 0, 0, 1],
        [0, 0, 0, 2],
    ]
    volume = texture("3D", MipLevels=0, hex=VOLUME)
    found = stage.draw([volume, view(), POINT], places, api)
    assert found[0, :5, 0].tolist() == [0, 8, 15, 21, 30]


@pytest.mark.parametrize("api", ["d3d10", "d3d11"])
def test_a_target_is_a_depth_slice_of_a_volume(api: str, stage: Stage) -> None:
    target = view("RenderTarget", "rtv", FirstWSlice=1, WSize=1)
    found = stage.play([texture("3D", MipLevels=2), target], clear("rtv", 4), READ, api=api)
    assert parts(found) == {(0, 0): [0] * 8 + [4] * 8, (1, 0): [0] * 2}
    with Image.open(stage.out / "here.t.png") as picture:
        assert picture.size == (4, 4)
        assert np.asarray(picture)[:, 0, 0].tolist() == [0, 0, 255, 255]


def test_a_volume_that_is_a_target_is_no_input_whatever_the_slice(stage: Stage) -> None:
    stage.shaders["ps"] = reading("texture3d", "sample_l o0.xyzw, r1.xyzx, t0.xyzw, s0, l(0)")
    volume = texture("3D", Format=FLOAT4, Width=16, Height=1, hex=floats(*[7.0] * 128))
    objects = [volume, view(), POINT, view("RenderTarget", "slice", slice=1)]
    bound = {"op": "OMSetRenderTargets", "rtvs": ["rtv", "slice"], "dsv": None}
    more, calls = drawing([[0, 0, 0]])
    views = {"op": "PSSetShaderResource", "Slot": 0, "view": "srv"}
    found = stage.play([*more, *objects], *calls, views, bound, DRAW)
    assert found["images"]["rt"] == floats(*[0.0] * 64)


# Transfers


COPY = {"op": "CopySubresourceRegion", "dst": "t", "src": "t"}


@pytest.mark.parametrize("api", ["d3d10", "d3d11"])
def test_a_box_of_a_subresource_is_updated(api: str, stage: Stage) -> None:
    box = {"left": 1, "right": 3, "top": 1, "bottom": 2}
    update = {"op": "UpdateSubresource", "dst": "t", "DstSubresource": 2, "Box": box,
              "hex": floats(8, 9)}  # fmt: skip
    whole = {"op": "UpdateSubresource", "dst": "t", "mip": 1, "slice": 0, "hex": floats(3, 4)}
    found = stage.play([texture(MipLevels=2, ArraySize=2)], update, whole, READ, api=api)
    assert parts(found) == {
        (0, 0): [0] * 8, (1, 0): [3, 4], (0, 1): [0, 0, 0, 0, 0, 8, 9, 0], (1, 1): [0, 0]
    }  # fmt: skip


@pytest.mark.parametrize("api", ["d3d10", "d3d11"])
def test_a_box_of_a_subresource_is_copied_to_another(api: str, stage: Stage) -> None:
    copy = {**COPY, "DstSubresource": 3, "DstX": 1, "SrcMipSlice": 0, "SrcSlice": 1,
            "SrcBox": [2, 1, 0, 3, 2, 1]}  # fmt: skip
    data = [floats(*range(8)), floats(0, 0), floats(*range(10, 18)), floats(0, 0)]
    found = stage.play([texture(MipLevels=2, ArraySize=2, hex=data)], copy, READ, api=api)
    assert parts(found)[1, 1] == [0, 16]


@pytest.mark.parametrize("api", ["d3d10", "d3d11"])
def test_a_slice_of_a_multisampled_array_is_resolved_to_a_slice(api: str, stage: Stage) -> None:
    objects = [
        texture(name="ms", SampleCount=4, ArraySize=2), texture(ArraySize=2),
        {**view("RenderTarget", "rtv", slice=1), "resource": "ms"},
    ]  # fmt: skip
    resolve = {"op": "ResolveSubresource", "dst": "t", "DstSubresource": 1, "src": "ms",
               "SrcSubresource": 1}  # fmt: skip
    read = {**READ, "texture": "ms"}
    found = stage.play(objects, clear("rtv", 2), resolve, READ, read, api=api)
    assert parts(found) == parts(found, "ms") == {(0, 0): [0] * 8, (0, 1): [2] * 8}


def test_multisampled_targets_of_integers_are_not_read_at_the_end(stage: Stage) -> None:
    found = stage.play([texture(Format="R32_UINT", SampleCount=4)])
    assert found["images"] == {}


@pytest.mark.parametrize("lod", [0.0, 1.0])
def test_the_least_level_of_a_resource_bounds_its_views(lod: float, stage: Stage) -> None:
    stage.shaders["ps"] = reading("texture2d", "sample_l o0.xyzw, r1.xyxx, t0.xyzw, s0, l(0)")
    more, calls = drawing([[0, 0]])
    bound = [
        {"op": "PSSetShaderResource", "Slot": 0, "view": "srv"},
        {"op": "PSSetSampler", "Slot": 0, "sampler": "sampler"},
        {"op": "SetResourceMinLOD", "resource": "t", "MinLOD": lod},
    ]
    data = [floats(*[5.0] * 8), floats(6, 6)]
    objects = [*more, texture(MipLevels=2, hex=data, MiscFlags="RESOURCE_CLAMP"), view(), POINT]
    found = stage.play(objects, *calls, *bound, DRAW)
    assert found["images"]["rt"].startswith(floats(5 + lod))


# Reading back


def test_levels_and_slices_are_chosen_and_labelled(stage: Stage) -> None:
    chosen: list[dict[str, Any]] = [
        {"label": "level", "mip": 1}, {"label": "slice", "slice": 1},
        {"label": "both", "MipSlice": 1, "ArraySlice": 1}, {"label": "index", "Subresource": 2},
    ]  # fmt: skip
    data = [[floats(*[n] * 8), floats(n + 10, n + 10)] for n in range(2)]
    texels = texture(MipLevels=2, ArraySize=2, hex=data)
    found = stage.play([texels], *({**READ, **each} for each in chosen))
    assert {label: [*parts(found, label)] for label in found["textures"]} == {
        "level": [(1, 0), (1, 1)], "slice": [(0, 1), (1, 1)], "both": [(1, 1)], "index": [(0, 1)]
    }  # fmt: skip
    assert parts(found, "both") == {(1, 1): [11, 11]}
    assert found["textures"]["both"]["format"] == FLOAT


def test_each_subresource_has_its_picture(stage: Stage) -> None:
    data = [texel(16 * n) * (1 if n % 2 else 4) for n in range(4)]
    texels = texture(
        Format=RGBA8, Width=2, Height=2, BindFlags=8, MipLevels=2, ArraySize=2, hex=data
    )
    stage.play([texels], {**READ, "label": "a"})
    found = {}
    for path in stage.out.glob("*.png"):
        with Image.open(path) as picture:
            found[path.name] = picture.size, picture.getpixel((0, 0))
    assert found == {
        "here.a.png": ((2, 2), (0, 1, 2, 3)), "here.a.mip1.png": ((1, 1), (16, 17, 18, 19)),
        "here.a.slice1.png": ((2, 2), (32, 33, 34, 35)),
        "here.a.slice1.mip1.png": ((1, 1), (48, 49, 50, 51)),
    }  # fmt: skip


@pytest.mark.parametrize(("width", "size"), [(4, 8), (8, 16), (12, 24)])
def test_compressed_textures_are_rows_of_blocks(width: int, size: int, stage: Stage) -> None:
    data = "00f8" + "00" * 6  # a block of one colour, red
    blocks = texture(
        Format="BC1_UNORM", Width=width, Height=4, BindFlags=8, hex=data * (size // 8)
    )
    found = stage.play([blocks], {**READ, "label": "a"})
    assert found["textures"]["a"]["subresources"][0]["hex"] == data * (size // 8)
    with Image.open(stage.out / "here.a.png") as picture:
        assert (picture.size, picture.getpixel((0, 0))) == ((width, 4), (255, 0, 0, 255))


def test_a_predicate_suppresses_no_reading_back(stage: Stage) -> None:
    objects = [
        texture(hex=floats(*range(8))), view("RenderTarget", "rtv"),
        {"op": "CreateBuffer", "name": "b", "ByteWidth": 4, "BindFlags": 1, "hex": "01020304"},
        {"op": "CreatePredicate", "name": "p", "Query": 5, "MiscFlags": 0},
    ]  # fmt: skip
    found = stage.play(
        objects,
        {"op": "Begin", "query": "p"},
        {"op": "End", "query": "p"},
        {"op": "SetPredication", "predicate": "p", "PredicateValue": 0},
        {"op": "ReadBuffer", "buffer": "b", "label": "bytes"},
        {**READ, "label": "before"},
        clear("rtv", 9),
        {**READ, "label": "after"},
    )
    assert found["buffers"] == {"bytes": "01020304"}
    assert parts(found, "before") == parts(found, "after") == {(0, 0): [*range(8)]}

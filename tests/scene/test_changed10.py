"""Direct3D 10 and 11 scenes with random changes give results or one error."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.errors import Dp2Error
from dp2emu.scene import play_scene10
from tests.golden.comparing import read_json
from tests.golden10.comparing import HERE
from tests.golden10.playing import write_shaders

SCENES = (
    "instancing/inst_rate2",
    "msaa/msaa_quad",
    "shaders/sh_texload",
    "predication/pred_clear",
    "",
)
TEXTURE = {"op": "CreateTexture2D", "name": "t", "Format": 41, "Width": 4, "Height": 4,
           "BindFlags": 0xA8, "MipLevels": 2, "ArraySize": 6, "MiscFlags": 1,
           "hex": "00" * 480}  # fmt: skip
TEXTURES: dict[str, Any] = {
    "name": "textures", "category": "made", "api": "d3d11",
    "resources": [
        TEXTURE,
        {**TEXTURE, "name": "cube", "cube": True, "hex": None},
        {"op": "CreateTexture3D", "name": "volume", "Format": 41, "Width": 4, "Height": 4,
         "Depth": 3, "BindFlags": 0xA8, "MipLevels": 2, "hex": None},
        {"op": "CreateBuffer", "name": "b", "ByteWidth": 64, "BindFlags": 0xA8,
         "StructureByteStride": 8, "hex": None},
        {"op": "CreateShaderResourceView", "name": "srv", "resource": "t", "ViewDimension": 5,
         "MostDetailedMip": 0, "MipLevels": 2, "FirstArraySlice": 1, "ArraySize": 2},
        {"op": "CreateRenderTargetView", "name": "rtv", "resource": "volume", "MipSlice": 1,
         "Slice": 0},
        {"op": "CreateUnorderedAccessView", "name": "uav", "resource": "b", "Format": 0,
         "FirstElement": 1, "NumElements": 2, "counter": True},
        {"op": "CreateSamplerState", "name": "smp", "Filter": 0x95, "Address": 3, "MinLOD": 0,
         "MaxLOD": 3, "MipLODBias": 0, "ComparisonFunc": 2, "BorderColor": [0, 0, 0, 0]},
    ],
    "calls": [
        {"op": "ClearRenderTargetView", "view": "rtv", "r": 1, "g": 0, "b": 0, "a": 1},
        {"op": "GenerateMips", "view": "srv"},
        {"op": "RSSetViewports", "viewports": [{"Width": 1, "Height": 2}, [0, 0, 1, 1, 0, 1]]},
        {"op": "RSSetScissorRects", "rects": [[0, 0, 1, 1]]},
        {"op": "UpdateSubresource", "dst": "t", "Subresource": 1, "Box": [0, 0, 0, 1, 1, 1],
         "hex": "00000000"},
        {"op": "CopySubresourceRegion", "dst": "t", "DstMipSlice": 1, "DstSlice": 1, "DstX": 0,
         "src": "cube", "SrcSubresource": 3, "SrcBox": [0, 0, 0, 1, 1, 1]},
        {"op": "ReadTexture", "texture": "t", "label": "x", "MipSlice": 1, "Slice": 1},
        {"op": "ReadTexture", "texture": "volume"},
    ],
}  # fmt: skip
"""A scene of textures, which ``SCENES`` names by an empty name."""
WILD: tuple[Any, ...] = (
    0, 1, -1, 3, 5, 45, 64, 65535, 2**31, 2**32 - 1, 0.5, -1e30, None, "rt", "vb", "vs", [], {},
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("hostile")
    write_shaders(made / "shaders")
    return made


CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["resources", "calls"]),
        st.integers(0, 99),
        st.integers(0, 9),
        st.sampled_from(["drop", "repeat", "change", "change", "change"]),
        st.sampled_from(WILD),
    ),
    min_size=1,
    max_size=5,
)


def changed(scene: dict[str, Any], changes: list[tuple[str, int, int, str, Any]]) -> Any:
    """A scene with operations dropped, repeated, or changed in an argument."""
    scene = copy.deepcopy(scene)
    for part, place, key, what, wild in changes:
        ops = scene[part]
        operation = ops[place % len(ops)]
        if what == "drop" and len(ops) > 1:
            ops.remove(operation)
        elif what == "repeat":
            ops.append(copy.deepcopy(operation))
        elif len(operation) > 1:
            operation[sorted(operation)[key % len(operation)]] = wild
    return scene


def test_the_scene_of_textures_has_no_problems(tmp_path: Path) -> None:
    assert play_scene10(TEXTURES, tmp_path).problems == ()


@given(name=st.sampled_from(SCENES), changes=CHANGES)
def test_a_randomly_changed_scene_gives_a_result_or_one_error(
    name: str, changes: list[tuple[str, int, int, str, Any]], folder: Path
) -> None:
    given_scene = read_json(HERE / "scenes" / f"{name}.json") if name else TEXTURES
    scene = changed(given_scene, changes)
    try:
        play_scene10(scene, folder / "out", shaders=folder / "shaders")
    except Dp2Error as error:
        assert error.what

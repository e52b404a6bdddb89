"""Spellings of Direct3D 10 and 11 scenes: keys and numbers by other names, and their errors."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from dp2emu.errors import SceneError
from dp2emu.scene import play_scene10
from dp2emu.scene.spelling10 import BIND, FILTER, FORMAT, SPELLINGS, view_dimension
from dp2emu.scene.values import plain_key

from .stage10 import FLOAT, floats

TEXTURE = {"op": "CreateTexture2D", "name": "t", "Format": FLOAT, "Width": 4, "Height": 2,
           "BindFlags": 0x28}  # fmt: skip
VIEW = {"op": "CreateShaderResourceView", "name": "v", "resource": "t"}
TARGET = {"op": "CreateRenderTargetView", "name": "v", "resource": "t"}
BUFFER = {"op": "CreateBuffer", "name": "b", "ByteWidth": 32, "BindFlags": 8}


def capture(folder: Path, objects: list[Any], calls: list[Any]) -> bytes:
    """The capture of a scene, which has every call of the driver."""
    scene = {"name": "s", "category": "c", "api": "d3d11", "resources": objects, "calls": calls}
    play_scene10(scene, folder, capture=folder / "s.dp2")
    return (folder / "s.dp2").read_bytes()


DATA = floats(*[0.0] * 20)
SAME: list[tuple[list[Any], list[Any]]] = [
    (
        [{**TEXTURE, "MipLevels": 2, "ArraySize": 2, "hex": DATA}],
        [{"op": "CreateTexture2D", "name": "t", "format": "DXGI_FORMAT_R32_FLOAT", "width": 4,
          "height": 2, "bind": "SHADER_RESOURCE|D3D11_BIND_RENDER_TARGET", "mips": 2, "array": 2,
          "data": {"u32": [0] * 20}}],
    ),
    ([{**TEXTURE, "MipLevels": 3}], [{**TEXTURE, "mip_levels": 0}]),
    ([{**TEXTURE, "MipLevels": 2}], [{**TEXTURE, "levels": 2}]),
    (
        [{**TEXTURE, "Width": 2, "ArraySize": 6, "MiscFlags": 4}],
        [{**TEXTURE, "Width": 2, "cube": True, "MiscFlags": "TEXTURECUBE"}],
    ),
    (
        [{**TEXTURE, "Width": 2, "ArraySize": 12, "MiscFlags": 4}],
        [{**TEXTURE, "Width": 2, "cube": True, "array": 2, "MiscFlags": 0}],
    ),
    (
        [{**TEXTURE, "Width": 2, "ArraySize": 12, "cube": True}],
        [{**TEXTURE, "Width": 2, "cubes": 2}],
    ),
    (
        [{**TEXTURE, "op": "CreateTexture3D", "Depth": 2}],
        [{**TEXTURE, "depth": 2}],
    ),
    (
        [{**TEXTURE, "MipLevels": 3, "ArraySize": 4},
         {**VIEW, "ViewDimension": 5, "MostDetailedMip": 1, "MipLevels": 2, "FirstArraySlice": 2,
          "ArraySize": 2}],
        [{**TEXTURE, "MipLevels": 3, "ArraySize": 4}, {**VIEW, "first_mip": 1, "first_slice": 2}],
    ),
    (
        [{**TEXTURE, "MipLevels": 3, "ArraySize": 4},
         {**VIEW, "MostDetailedMip": 1, "MipLevels": 1, "FirstArraySlice": 2, "ArraySize": 1}],
        [{**TEXTURE, "MipLevels": 3, "ArraySize": 4},
         {**VIEW, "dimension": "TEXTURE2DARRAY", "mip": 1, "slice": 2}],
    ),
    (
        [{**TEXTURE, "MipLevels": 3, "ArraySize": 4},
         {**TARGET, "ViewDimension": 5, "MipSlice": 1, "FirstArraySlice": 2, "ArraySize": 2}],
        [{**TEXTURE, "MipLevels": 3, "ArraySize": 4},
         {**TARGET, "ViewDimension": "D3D11_RTV_DIMENSION_TEXTURE2DARRAY", "level": 1,
          "first_layer": 2, "layers": 2}],
    ),
    (
        [BUFFER, {**VIEW, "resource": "b", "Format": 41, "FirstElement": 2, "NumElements": 3}],
        [BUFFER, {**VIEW, "resource": "b", "format": "R32_FLOAT", "first": 2, "count": 3}],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("plain", "short"), SAME)
def test_other_spellings_mean_the_same(plain: list[Any], short: list[Any], tmp_path: Path) -> None:
    wanted, found = (capture(tmp_path, objects, []) for objects in (plain, short))
    assert wanted == found


@pytest.mark.parametrize(
    ("objects", "calls", "what"),
    [
        ([{**TEXTURE, "mipz": 1}], [], "resource 't': unknown key 'mipz'"),
        ([{**TEXTURE, "mips": 1, "levels": 1}], [], "resource 't': unknown key 'levels'"),
        ([{**TEXTURE, "op": "CreateTexture1D"}], [], "resource 't': unknown key 'Height'"),
        ([TEXTURE, {**VIEW, "face_count": 1}], [], "resource 'v': unknown key 'face_count'"),
        ([TEXTURE, {**TARGET, "MipLevels": 1}], [], "resource 'v': unknown key 'MipLevels'"),
        ([TEXTURE, {**VIEW, "append": True}], [], "resource 'v': unknown key 'append'"),
        ([TEXTURE], [{"op": "ReadTexture", "texture": "t", "mipp": 0}],
         "call 0 (ReadTexture): unknown key 'mipp'"),
        ([], [{"op": "RSSetViewports", "viewports": [{"Width": 1, "Height": 1, "w": 1}]}],
         "call 0 (RSSetViewports): viewports: Viewport: unknown key 'w'"),
        ([{**TEXTURE, "Format": "RGBA8"}], [], "resource 't': Format: expected a number or one"),
        ([{**TEXTURE, "hex": "00"}], [],
         "resource 't': hex: expected 32 bytes of all subresources, got 1"),
        ([{**TEXTURE, "mips": 2, "hex": [floats(*range(8))]}], [],
         "resource 't': hex: expected data of 2 subresources, got 1"),
        ([{**TEXTURE, "mips": 2, "hex": [floats(*range(8)), floats(1)]}], [],
         "resource 't': hex: level 1 of slice 0: expected 8 bytes, got 4"),
        ([{**TEXTURE, "mips": 2, "hex": [[[DATA]], DATA]}], [],
         "resource 't': hex: level 0 of slice 0: expected 32 bytes, got a list"),
        ([{**TEXTURE, "hex": [None]}], [], "resource 't': hex: expected data of each"),
        ([{**TEXTURE, "cube": True, "op": "CreateTexture1D"}], [], "resource 't': only 2D"),
        ([TEXTURE, {**VIEW, "ViewDimension": 12}], [], "resource 'v': ViewDimension: expected"),
        ([TEXTURE], [{"op": "ReadTexture", "texture": "t", "Subresource": 0, "mip": 0}],
         "call 0 (ReadTexture): a subresource and also a level or slice"),
        ([BUFFER], [{"op": "ReadTexture", "texture": "b"}], "call 0 (ReadTexture): texture: 'b'"),
        ([{"op": "CreateSamplerState", "name": "s", "Filter": 0, "AddressU": 1}], [],
         "resource 's': missing key 'Address'"),
    ],
)  # fmt: skip
def test_an_error_names_the_key_and_its_place(
    objects: list[Any], calls: list[Any], what: str, tmp_path: Path
) -> None:
    with pytest.raises(SceneError, match=re.escape(what)):
        capture(tmp_path, objects, calls)


@pytest.mark.parametrize("label", ["../x", "/tmp/x", "a/b", "..", "", "nul", "a\0b", "a\\b"])
@pytest.mark.parametrize("key", ["label", "name"])
def test_a_texture_read_back_is_never_written_outside_of_the_folder(
    key: str, label: str, tmp_path: Path
) -> None:
    name = label if key == "name" else "t"
    read = {"op": "ReadTexture", "texture": name} | ({"label": label} if key == "label" else {})
    out = tmp_path / "out"
    (out / "s.a").mkdir(parents=True)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(SceneError, match="expected a portable file name"):
        play_scene10({"name": "s", "category": "c", "api": "any", "calls": [read],
                      "resources": [{**TEXTURE, "BindFlags": 8, "name": name}]}, out)  # fmt: skip
    assert sorted(tmp_path.rglob("*")) == before


def test_two_pictures_of_one_name_are_an_error(tmp_path: Path) -> None:
    read = {"op": "ReadTexture", "texture": "t", "label": "here"}
    with pytest.raises(SceneError, match=r"two pictures have the name 'here.png'"):
        capture(tmp_path, [TEXTURE], [read, read])


def test_the_pixels_that_a_scene_reads_have_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dp2emu.scene.d3d10.PICTURE_PIXELS", 23)
    read = {"op": "ReadTexture", "texture": "t"}
    capture(tmp_path, [TEXTURE], [read])
    with pytest.raises(SceneError, match="the scene reads more than 23 pixels"):
        capture(tmp_path, [TEXTURE], [read, read])


@pytest.mark.parametrize(
    ("more", "call"),
    [
        ({"MipLevels": 4}, {"op": "ReadTexture", "texture": "t"}),
        ({"Width": 2, "MiscFlags": 4, "ArraySize": 2}, {"op": "ReadTexture", "texture": "t"}),
        ({"MipLevels": 0xFFFFFFFF}, {"op": "ReadTexture", "texture": "t"}),
        ({"ArraySize": 0xFFFFFFFF}, {"op": "ReadTexture", "texture": "t"}),
        ({}, {"op": "ReadTexture", "texture": "t", "mip": 1}),
        ({}, {"op": "ReadTexture", "texture": "t", "Subresource": 1}),
        ({}, {"op": "UpdateSubresource", "dst": "t", "hex": "00"}),
        ({}, {"op": "UpdateSubresource", "dst": "t", "mip": 1, "hex": "00" * 32}),
        ({}, {"op": "UpdateSubresource", "dst": "t", "hex": None}),
        ({}, {"op": "CopySubresourceRegion", "dst": "t", "src": "t",
              "SrcBox": [0, 0, 0, 5, 1, 1]}),
    ],
)  # fmt: skip
def test_a_subresource_that_does_not_exist_is_an_invalid_argument(
    more: dict[str, Any], call: dict[str, Any], tmp_path: Path
) -> None:
    capture(tmp_path, [{**TEXTURE, **more}], [call])
    found = json.loads((tmp_path / "s.json").read_text())
    assert found["failed_calls"] == [{"call": 0, "op": call["op"], "hr": "0x80070057"}]


def test_names_may_have_the_prefix_of_either_header() -> None:
    for name in ("D3D10_FILTER_ANISOTROPIC", "D3D11_FILTER_ANISOTROPIC", "anisotropic"):
        assert FILTER(name) == 0x55
    assert FILTER("D3D11_FILTER_COMPARISON_MIN_MAG_LINEAR_MIP_POINT") == 0x94
    assert FORMAT("DXGI_FORMAT_D24_UNORM_S8_UINT") == 45
    assert BIND("SHADER_RESOURCE | UNORDERED_ACCESS") == 0x88


@pytest.mark.parametrize(
    ("noun", "number", "name"),
    [
        ("ShaderResourceView", 11, "BUFFEREX"),
        ("RenderTargetView", 8, "TEXTURE3D"),
        ("DepthStencilView", 3, "TEXTURE2D"),
        ("DepthStencilView", 6, "TEXTURE2DMSARRAY"),
        ("UnorderedAccessView", 5, "TEXTURE2DARRAY"),
    ],
)
def test_a_dimension_has_the_number_of_its_kind_of_view(noun: str, number: int, name: str) -> None:
    read = view_dimension(noun)
    assert read(number) == read(name) and read(number).name == name


def test_other_spellings_are_plain() -> None:
    assert all(plain_key(word) == word for words in SPELLINGS.values() for word in words)

"""Direct3D 9 resources: names, limits, levels and faces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dp2emu.errors import SceneError
from dp2emu.scene import d3d9

from .making import BLACK, FVF, NO_CULL, Play, document, picture, strip


def test_resources_share_one_namespace(play: Play) -> None:
    with pytest.raises(SceneError, match="resource 'depth': the name is used twice"):
        play(resources=[{"type": "query", "id": "depth", "query": "EVENT"}])
    with pytest.raises(SceneError, match="unknown type 'window'"):
        play(resources=[{"type": "window", "id": "w"}])


def test_the_pictures_of_a_scene_have_a_limit(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(d3d9, "PICTURE_PIXELS", 3 * 8 * 6)
    wanted = [{"op": "readback", "surface": "backbuffer", "label": name} for name in "ab"]
    assert len(play(*wanted).files) == 4  # with the last picture and the JSON file
    again = {"op": "readback", "surface": "backbuffer", "label": "c"}
    with pytest.raises(SceneError, match="pictures have more than"):
        play(*wanted, again)


def test_the_surfaces_of_a_scene_have_a_limit(play: Play) -> None:
    target = {"type": "rt", "width": 4096, "height": 4096, "format": "D3DFMT_A8R8G8B8"}
    with pytest.raises(SceneError, match="surfaces have more than"):
        play(resources=[{**target, "id": f"r{number}"} for number in range(3)])


def test_a_texture_colours_pixels_where_a_stage_reads_it(play: Play, tmp_path: Path) -> None:
    texture = {"type": "texture", "id": "t", "width": 2, "height": 1,
               "format": "D3DFMT_A8R8G8B8", "data": [{"hex": "00" * 8}]}  # fmt: skip
    bind = {"op": "settex", "stage": 0, "id": "t"}
    assert play(bind, {"op": "settex", "stage": 0, "id": None}, resources=[texture]).problems == ()
    off = {"op": "tss", "stage": 0, "states": {"COLOROP": 1}}
    for states, seen in (([], False), ([off], True)):
        commands = (BLACK, NO_CULL, FVF, bind, *states, strip(0, 0, 8, 6))
        assert play(*commands, resources=[texture]).problems == ()
        assert picture(tmp_path)[..., :3].any() == seen


def test_a_texture_level_shorter_than_its_pixels_is_an_error(play: Play) -> None:
    texture = {"type": "texture", "id": "t", "width": 2, "height": 1,
               "format": "D3DFMT_A8R8G8B8", "data": [{"hex": "00" * 7}]}  # fmt: skip
    with pytest.raises(SceneError, match="7 bytes of a texture level"):
        play(resources=[texture])


def texture(**fields: Any) -> dict[str, Any]:
    return {"type": "texture", "id": "t", "width": 4, "height": 2, "levels": 0,
            "format": "D3DFMT_A8R8G8B8", "usage": "D3DUSAGE_RENDERTARGET", **fields}  # fmt: skip


CUBE = {"type": "cube", "id": "c", "edge": 4, "levels": 2, "format": "D3DFMT_A8R8G8B8",
        "usage": "D3DUSAGE_RENDERTARGET"}  # fmt: skip


def word(value: int, count: int) -> dict[str, Any]:
    return {"u32": [value] * count}


def test_levels_of_textures_and_faces_of_cubes_are_surfaces(play: Play, tmp_path: Path) -> None:
    flat = texture(data=[word(0xFF000010, 8), word(0xFF000020, 2), word(0xFF000030, 1)])
    faces = [[word(face << 4 | level, (16, 4)[level]) for level in range(2)] for face in range(6)]
    wanted = {"t@0": (2, 4, 0x10), "t@2": (1, 1, 0x30), "c@0@1": (2, 2, 1), "c@5@0": (4, 4, 0x50)}
    looks = [{"op": "readback", "surface": name, "label": name.replace("@", "_")}
             for name in wanted]  # fmt: skip
    result = play(*looks, resources=[flat, {**CUBE, "data": faces}])
    assert result.problems == ()
    for name, (height, width, blue) in wanted.items():
        seen = picture(tmp_path, f".{name.replace('@', '_')}.png")
        assert seen.shape == (height, width, 4)
        assert (seen[..., 2] == blue).all()


def test_a_face_can_be_a_target_and_only_it_changes(play: Play, tmp_path: Path) -> None:
    result = play(
        {"op": "setds", "surface": None}, {"op": "setrt", "surface": "c@2@1"},
        {"op": "clear", "flags": ["target"], "color": "0xffffffff"},
        {"op": "readback", "surface": "c@2@1", "label": "one"},
        {"op": "readback", "surface": "c@2@0", "label": "other"}, resources=[CUBE],
    )  # fmt: skip
    assert result.problems == ()
    assert (picture(tmp_path, ".one.png") == 255).all()
    assert (picture(tmp_path, ".other.png") == 0).all()


@pytest.mark.parametrize("name", ["t", "t@", "t@0@0", "t@-1", "t@x", "c@0", "backbuffer@0", "@"])
def test_a_surface_is_named_by_face_and_level(play: Play, name: str) -> None:
    with pytest.raises(SceneError, match=r"of the (scene|texture)"):
        play({"op": "setrt", "surface": name}, resources=[texture(), CUBE])


@pytest.mark.parametrize(
    ("resource", "surface"),
    [(texture(), "t@3"), (CUBE, "c@6@0"), (CUBE, "c@0@2"),
     (texture(levels=4), "t@0"), ({"type": "volume", "id": "v", "width": 4, "height": 4,
      "depth": 2, "format": "D3DFMT_A8R8G8B8"}, "v@0")],
)  # fmt: skip
def test_a_surface_that_does_not_exist_is_a_failed_call(
    play: Play, tmp_path: Path, resource: dict[str, Any], surface: str
) -> None:
    assert play({"op": "setrt", "surface": surface}, resources=[resource]).problems == ()
    failed = document(tmp_path)["failed_calls"]
    assert failed[-1] == {"command": 0, "call": "setrt", "hr": "0x8876086c"}


@pytest.mark.parametrize(
    "resource",
    [texture(data=[word(0, 8)] * 4), texture(levels=1, data=[word(0, 8)] * 2),
     texture(usage="D3DUSAGE_AUTOGENMIPMAP", data=[word(0, 8), word(0, 2)]),
     {**CUBE, "data": [[]] * 7}],
)  # fmt: skip
def test_data_beyond_the_last_level_or_face_is_an_error(
    play: Play, resource: dict[str, Any]
) -> None:
    with pytest.raises(SceneError, match="more data than"):
        play(resources=[resource])


def test_the_limit_counts_levels_faces_and_slices(play: Play) -> None:
    with pytest.raises(SceneError, match="surfaces have more than"):
        play(resources=[{**CUBE, "edge": 2048, "levels": 0}, {**CUBE, "id": "d", "edge": 1024}])
    solid = {"type": "volume", "id": "v", "width": 4096, "height": 4096, "depth": 4096}
    with pytest.raises(SceneError, match="surfaces have more than"):
        play(resources=[{**solid, "format": "D3DFMT_A8R8G8B8"}])

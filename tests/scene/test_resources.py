"""Scene resources: named, counted, refused by name."""

from __future__ import annotations

import pytest

from dp2emu.errors import SceneError
from dp2emu.scene import player

from .making import FVF, Play, strip


@pytest.mark.parametrize(
    ("kind", "feature"),
    [("cube", "cube textures"), ("volume", "volume textures")],
)
def test_a_resource_that_is_not_built_is_named(play: Play, kind: str, feature: str) -> None:
    result = play(resources=[{"type": kind, "id": "it"}])
    assert [str(problem) for problem in result.problems] == [f"resource 'it': {feature}"]
    assert result.problems[0].command == -1


def test_resources_share_one_namespace(play: Play) -> None:
    with pytest.raises(SceneError, match="resource 'depth': id 'depth' is used twice"):
        play(resources=[{"type": "query", "id": "depth", "query": "EVENT"}])
    with pytest.raises(SceneError, match="no resource type 'window'"):
        play(resources=[{"type": "window", "id": "w"}])


def test_pictures_are_bounded_together(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(player, "PICTURE_PIXELS", 3 * 8 * 6)
    wanted = [{"op": "readback", "surface": "backbuffer", "label": name} for name in "ab"]
    assert len(play(*wanted).files) == 4  # with the last picture and the JSON file
    again = {"op": "readback", "surface": "backbuffer", "label": "c"}
    with pytest.raises(SceneError, match="pictures are too large together"):
        play(*wanted, again)


def test_surfaces_are_bounded_together(play: Play) -> None:
    target = {"type": "rt", "width": 4096, "height": 4096, "format": "D3DFMT_A8R8G8B8"}
    with pytest.raises(SceneError, match="too large together"):
        play(resources=[{**target, "id": f"r{number}"} for number in range(3)])


def test_a_texture_that_no_pixel_samples_changes_nothing(play: Play) -> None:
    texture = {"type": "texture", "id": "t", "width": 2, "height": 1,
               "format": "D3DFMT_A8R8G8B8", "data": [{"hex": "00" * 8}]}  # fmt: skip
    bind = {"op": "settex", "stage": 0, "id": "t"}
    assert play(bind, {"op": "settex", "stage": 0, "id": None}, resources=[texture]).problems == ()
    result = play(FVF, bind, strip(0, 0, 8, 6), resources=[texture])
    assert [problem.error.what for problem in result.problems] == ["texturing"]


@pytest.mark.parametrize(
    ("fields", "feature"),
    [({"levels": 0}, "mip levels"), ({"format": "D3DFMT_DXT1"}, "textures of D3DFMT_DXT1")],
)
def test_textures_not_built_are_named(play: Play, fields: dict[str, object], feature: str) -> None:
    texture = {"type": "texture", "id": "t", "width": 4, "height": 4,
               "format": "D3DFMT_A8R8G8B8", **fields}  # fmt: skip
    result = play(resources=[texture])
    assert [problem.error.what for problem in result.problems] == [feature]


def test_a_texture_level_shorter_than_its_pixels_is_an_error(play: Play) -> None:
    texture = {"type": "texture", "id": "t", "width": 2, "height": 1,
               "format": "D3DFMT_A8R8G8B8", "data": [{"hex": "00" * 7}]}  # fmt: skip
    with pytest.raises(SceneError, match="7 bytes of a texture level"):
        play(resources=[texture])


def test_a_level_of_a_texture_is_no_surface_yet(play: Play) -> None:
    texture = {"type": "texture", "id": "t", "width": 2, "height": 1,
               "format": "D3DFMT_A8R8G8B8"}  # fmt: skip
    result = play({"op": "setrt", "index": 0, "surface": "t@0"}, resources=[texture])
    assert [problem.error.what for problem in result.problems] == ["surfaces of textures"]

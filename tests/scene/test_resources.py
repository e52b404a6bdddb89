"""Scene resources: named, counted, refused by name."""

from __future__ import annotations

import pytest

from dp2emu.errors import SceneError

from .making import Play


@pytest.mark.parametrize(
    ("kind", "feature"),
    [("texture", "textures"), ("cube", "cube textures"), ("volume", "volume textures")],
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


def test_surfaces_are_bounded_together(play: Play) -> None:
    target = {"type": "rt", "width": 4096, "height": 4096, "format": "D3DFMT_A8R8G8B8"}
    with pytest.raises(SceneError, match="too large together"):
        play(resources=[{**target, "id": f"r{number}"} for number in range(3)])

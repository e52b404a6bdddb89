"""Scene files: their header, and files that are none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dp2emu.d3d.enums import Format
from dp2emu.errors import SceneError
from dp2emu.scene.document import load_scene

LEAST = {"schema": 1, "category": "c", "name": "n", "commands": []}


def with_device(**device: Any) -> dict[str, Any]:
    return {**LEAST, "device": {"width": 8, "height": 6, **device}}


def test_a_header_has_the_defaults_of_the_schema() -> None:
    scene = load_scene(with_device())
    assert (scene.format, scene.depth) == (Format.X8R8G8B8, Format.D24S8)
    assert (scene.samples, scene.read_back, scene.resources) == (1, True, [])


def test_a_device_may_have_no_depth_buffer() -> None:
    assert load_scene(with_device(depth=None)).depth is None


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"schema": 2}, "schema is not 1"),
        ({"name": "../../x"}, "name"),
        ({"category": ".."}, "category"),
        ({"commands": {}}, "commands: {} is no list"),
        ({"extra": 1}, "unknown key 'extra'"),
        ({"device": {"width": 8, "height": 6, "depht": None}}, "unknown key 'depht'"),
        ({"device": {"width": 0, "height": 6}}, "width"),
        ({"device": {"width": 1 << 40, "height": 6}}, "width"),
        ({"device": {"width": 4096, "height": 4096, "multisample": 2}}, "too large"),
        ({"device": {"width": 8, "height": 6, "format": 21}}, "format"),
        ({"device": []}, "device: not an object"),
        ({"auto_readback": "no"}, "auto_readback"),
    ],
)
def test_a_header_that_breaks_the_schema_is_refused(change: dict[str, Any], what: str) -> None:
    with pytest.raises(SceneError, match=what):
        load_scene({**with_device(), **change})


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "no JSON"),
        (b"[1", "no JSON"),
        (b"\xff\xfe", "no JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"schema": 1, "schema": 1}', "given twice"),
        (b'{"schema": NaN}', "NaN is no JSON number"),
        (b'{"schema": ' + b"9" * 5000 + b"}", "no JSON"),
        (b"[]", "scene: not an object"),
        (b"null", "scene: not an object"),
    ],
)
def test_a_file_that_is_no_scene_is_refused(tmp_path: Path, content: bytes, what: str) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(SceneError, match=what):
        load_scene(path)


def test_a_huge_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    with path.open("wb") as file:
        file.truncate((1 << 26) + 1)
    with pytest.raises(SceneError, match="more than 67108864 bytes"):
        load_scene(path)

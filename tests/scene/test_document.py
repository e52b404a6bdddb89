"""Scene files: headers, and files that are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dp2emu.d3d.enums import Format
from dp2emu.errors import SceneError
from dp2emu.scene.document import parse_scene9, read_json

LEAST = {"schema": 1, "category": "c", "name": "n", "commands": []}


def with_device(**device: Any) -> dict[str, Any]:
    return {**LEAST, "device": {"width": 8, "height": 6, **device}}


def test_a_header_has_the_defaults_of_the_schema() -> None:
    scene = parse_scene9(with_device())
    assert (scene.format, scene.depth) == (Format.X8R8G8B8, Format.D24S8)
    assert (scene.samples, scene.read_back, scene.resources) == (1, True, [])


def test_a_device_may_have_no_depth_buffer() -> None:
    assert parse_scene9(with_device(depth=None)).depth is None


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"schema": 2}, "expected schema 1"),
        ({"name": "../../x"}, "name"),
        ({"category": ".."}, "category"),
        ({"commands": {}}, "commands: expected a list, got {}"),
        ({"extra": 1}, "unknown key 'extra'"),
        ({"device": {"width": 8, "height": 6, "depht": None}}, "unknown key 'depht'"),
        ({"device": {"width": 0, "height": 6}}, "width"),
        ({"device": {"width": 1 << 40, "height": 6}}, "width"),
        ({"device": {"width": 4096, "height": 4096, "multisample": 2}}, "surfaces have more than"),
        ({"device": {"width": 8, "height": 6, "format": 21}}, "format"),
        ({"device": []}, "device: expected an object"),
        ({"auto_readback": "no"}, "auto_readback"),
    ],
)
def test_a_header_that_breaks_the_schema_is_refused(change: dict[str, Any], what: str) -> None:
    with pytest.raises(SceneError, match=what):
        parse_scene9({**with_device(), **change})


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "expected JSON"),
        (b"[1", "expected JSON"),
        (b"\xff\xfe", "expected JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"schema": 1, "schema": 1}', "same key twice"),
        (b'{"schema": NaN}', "expected a JSON number, got NaN"),
        (b'{"schema": ' + b"9" * 5000 + b"}", "expected JSON"),
        (b"[]", "scene: expected a JSON object"),
        (b"null", "scene: expected a JSON object"),
    ],
)
def test_a_file_that_is_not_a_scene_is_refused(tmp_path: Path, content: bytes, what: str) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(SceneError, match=what):
        read_json(path)


def test_a_huge_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    with path.open("wb") as file:
        file.truncate((1 << 26) + 1)
    with pytest.raises(SceneError, match="more than 67108864 bytes"):
        read_json(path)

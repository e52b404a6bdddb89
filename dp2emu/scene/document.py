"""Scene files: the JSON document, its header, and the limits a scene must keep."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from dp2emu.d3d.enums import Format
from dp2emu.errors import SceneError
from dp2emu.inputs import read_file
from dp2emu.runtime10 import Api
from dp2emu.scene.values import (
    Fields,
    file_name,
    listing,
    optional,
    surface_format,
    text,
    truth,
    whole,
)

SCHEMA = 1
EXTENT = 4096
"""Upper bound of the width and the height of a surface, in pixels."""
SURFACE_PIXELS = 1 << 25
"""Upper bound of the pixels (samples) in all surfaces of a scene."""
PICTURE_PIXELS = 1 << 27
"""Upper bound of the pixels (samples) in all pictures of a scene."""

APIS = {"any": Api.D3D11, "d3d11": Api.D3D11, "d3d10.1": Api.D3D10_1, "d3d10": Api.D3D10}
"""The interface that plays a scene, by the scene's ``api``."""

extent = whole(1, EXTENT)
sample_count = whole(0, 16)

_INFORMATION = ("description", "compare", "d3d9_notes", "solo_queries")
_INFORMATION10 = ("description", "sample_count", "shaders")


class Scene(msgspec.Struct, frozen=True):
    """The parts common to all scenes.  ``resources`` and ``operations`` are JSON values, in order.

    ``category`` and ``name`` are safe file names.
    """

    category: str
    name: str
    resources: list[Any]
    operations: list[Any]


class Scene9(Scene, frozen=True):
    """A Direct3D 9 scene.  ``samples`` is 1 without multisampling, ``depth`` None without a depth
    surface; ``read_back`` asks for a picture of the back buffer at the end.
    """

    width: int
    height: int
    format: Format
    depth: Format | None
    samples: int
    read_back: bool


class Scene10(Scene, frozen=True):
    """A Direct3D 10 or 11 scene; ``api`` is the interface that it uses."""

    api: Api


def read_json(source: Path | str | Mapping[str, Any]) -> dict[str, Any]:
    """The object in a JSON file; a mapping is returned as a copy.

    Raises SceneError, and OSError for the file.
    """
    if isinstance(source, Mapping):
        return dict(source)
    content = read_file(source, error=SceneError)
    try:
        found = json.loads(content, object_pairs_hook=_object, parse_constant=_no_number)
    except RecursionError:
        raise SceneError("the JSON is nested too deeply") from None
    except ValueError as error:
        raise SceneError(f"expected JSON: {error}") from None
    if not isinstance(found, dict):
        raise SceneError("scene: expected a JSON object")
    return found


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise SceneError("an object has the same key twice")
    return made


def _no_number(word: str) -> Any:
    raise SceneError(f"expected a JSON number, got {word}")


def is_direct3d_10(document: Mapping[str, Any]) -> bool:
    """Whether a scene is for Direct3D 10 or 11: only those have an ``api``."""
    return "api" in document


def parse_scene9(document: Mapping[str, Any]) -> Scene9:
    """Read the header of a Direct3D 9 scene.  Raises SceneError."""
    fields = Fields(dict(document), "scene")
    if fields.take("schema", whole(0, 1 << 31)) != SCHEMA:
        raise SceneError(f"scene: expected schema {SCHEMA}")
    device = Fields(fields.take("device", lambda value: value, {}), "device")
    device.ignore("vertex_processing", "quality")
    scene = Scene9(
        *_parts(fields, "commands"),
        width=device.take("width", extent),
        height=device.take("height", extent),
        format=device.take("format", surface_format, Format.X8R8G8B8),
        depth=device.take("depth", optional(surface_format), Format.D24S8),
        samples=max(device.take("multisample", sample_count, 0), 1),
        read_back=fields.take("auto_readback", truth, True),
    )
    device.finish()
    fields.ignore(*_INFORMATION)
    fields.finish()
    if 2 * scene.width * scene.height * scene.samples > SURFACE_PIXELS:
        raise SceneError(f"device: its surfaces have more than {SURFACE_PIXELS} pixels (samples)")
    return scene


def parse_scene10(document: Mapping[str, Any]) -> Scene10:
    """Read the header of a Direct3D 10 or 11 scene.  Raises SceneError."""
    fields = Fields(dict(document), "scene")
    scene = Scene10(*_parts(fields, "calls"), api=fields.take("api", _api))
    fields.ignore(*_INFORMATION10)
    fields.finish()
    return scene


def _parts(fields: Fields, operations: str) -> tuple[str, str, list[Any], list[Any]]:
    return (
        fields.take("category", file_name),
        fields.take("name", file_name),
        fields.take("resources", listing, []),
        fields.take(operations, listing),
    )


def _api(value: object) -> Api:
    name = text(value)
    if name not in APIS:
        raise SceneError(f"expected one of {', '.join(APIS)}, got {name!r}")
    return APIS[name]

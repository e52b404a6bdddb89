"""A scene file taken apart: its header read and checked, its commands still unread."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dp2emu.d3d.enums import Format
from dp2emu.errors import SceneError
from dp2emu.inputs import read_file
from dp2emu.records import dataclass
from dp2emu.scene.fields import Fields
from dp2emu.scene.values import file_name, listing, optional, surface_format, truth, whole

SCHEMA = 1
EXTENT = 4096
"""Pixels a scene's surfaces may be wide and high."""
SURFACE_PIXELS = 1 << 25
"""Pixels (samples) all surfaces of a scene may have together."""
PICTURE_PIXELS = 1 << 27
"""Pixels (samples) all pictures of a scene may have together."""

extent = whole(1, EXTENT)
sample_count = whole(0, 16)

_INFORMATION = ("description", "compare", "d3d9_notes", "solo_queries")


@dataclass(frozen=True, slots=True)
class Scene:
    """What a scene file says.  ``resources`` and ``commands`` are JSON values, in order.

    ``samples`` is 1 without multisampling; ``category`` and ``name`` are safe file names.
    """

    category: str
    name: str
    width: int
    height: int
    format: Format
    depth: Format | None
    samples: int
    resources: list[Any]
    commands: list[Any]
    read_back: bool


def load_scene(source: Path | str | Mapping[str, Any]) -> Scene:
    """Read a scene file, or its content.  Raises SceneError, and OSError for the file."""
    return take_apart(read_json(source))


def read_json(source: Path | str | Mapping[str, Any]) -> dict[str, Any]:
    """The object that a JSON file of a scene holds, or is given as content.

    Raises SceneError, and OSError for the file.
    """
    if isinstance(source, Mapping):
        return dict(source)
    found = _parsed(read_file(source, error=SceneError))
    if not isinstance(found, dict):
        raise SceneError("scene: not an object")
    return found


def _parsed(content: bytes) -> object:
    try:
        return json.loads(content, object_pairs_hook=_object, parse_constant=_no_number)
    except RecursionError:
        raise SceneError("nested too deeply") from None
    except ValueError as error:
        raise SceneError(f"no JSON: {error}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise SceneError("a key is given twice in one object")
    return made


def _no_number(word: str) -> Any:
    raise SceneError(f"{word} is no JSON number")


def is_of_direct3d_10(document: Mapping[str, Any]) -> bool:
    """Whether a scene is one of Direct3D 10 or 11: those of 9 have no ``api``."""
    return "api" in document


def take_apart(document: object) -> Scene:
    """The scene that a JSON object is.  Raises SceneError."""
    fields = Fields(document, "scene")
    if fields.take("schema", whole(0, 1 << 31)) != SCHEMA:
        raise SceneError(f"scene: the schema is not {SCHEMA}")
    fields.ignore(*_INFORMATION)
    device = Fields(fields.take("device", _anything, {}), "device")
    device.ignore("vertex_processing", "quality")
    scene = Scene(
        category=fields.take("category", file_name),
        name=fields.take("name", file_name),
        width=device.take("width", extent),
        height=device.take("height", extent),
        format=device.take("format", surface_format, Format.X8R8G8B8),
        depth=device.take("depth", optional(surface_format), Format.D24S8),
        samples=max(device.take("multisample", sample_count, 0), 1),
        resources=fields.take("resources", listing, []),
        commands=fields.take("commands", listing),
        read_back=fields.take("auto_readback", truth, True),
    )
    device.finish()
    fields.finish()
    if 2 * scene.width * scene.height * scene.samples > SURFACE_PIXELS:
        raise SceneError("device: its surfaces are too large")
    return scene


def _anything(value: object) -> object:
    return value

"""A scene file of Direct3D 10 or 11 taken apart, and the shaders that lie beside it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dp2emu.errors import SceneError
from dp2emu.records import dataclass
from dp2emu.runtime10 import Api, Code
from dp2emu.scene.document import read_json
from dp2emu.scene.fields import Fields
from dp2emu.scene.values import file_name, listing, text, whole

APIS = {"any": Api.D3D11, "d3d11": Api.D3D11, "d3d10": Api.D3D10}
"""The interface a scene is played through, by its ``api``; what runs on both is played on 11."""

SHADERS = "shaders"
"""The folder with the shaders, beside that with the scenes."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What a scene file says.  ``resources`` and ``calls`` are JSON values, in order."""

    category: str
    name: str
    api: Api
    resources: list[Any]
    calls: list[Any]


def take_apart(document: Mapping[str, Any]) -> Scene:
    """The scene that a file holds.  Raises SceneError."""
    fields = Fields(dict(document), "scene")
    fields.ignore("description", "sample_count", SHADERS)
    scene = Scene(
        category=fields.take("category", file_name),
        name=fields.take("name", file_name),
        api=APIS[fields.take("api", _api)],
        resources=fields.take("resources", listing, []),
        calls=fields.take("calls", listing),
    )
    fields.finish()
    return scene


def _api(value: object) -> str:
    name = text(value)
    if name not in APIS:
        raise SceneError(f"{name!r} is none of {', '.join(APIS)}")
    return name


@dataclass(frozen=True, slots=True)
class Library:
    """Compiled shaders by name, each in a JSON file of a folder; ``folder`` None has none."""

    folder: Path | None

    def read(self, value: object) -> Code:
        """A reader of shader names.

        Raises SceneError for a name there is not, and ShaderError and OSError for its file.
        """
        name = file_name(value)
        path = self.folder / f"{name}.json" if self.folder is not None else None
        if path is None or not path.is_file():
            raise SceneError(f"no shader {name!r} in {self.folder or 'any folder'}")
        found = read_json(path)
        try:
            data = bytes.fromhex(text(found.get("dxbc")))
        except ValueError:
            raise SceneError(f"{path.name}: dxbc is not hexadecimal") from None
        return Code.of(data)


count = whole(0, 0xFFFFFFFF)
"""A UINT."""

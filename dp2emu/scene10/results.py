"""What a scene of Direct3D 10 or 11 gave, as the comparison with golden results reads it."""

from __future__ import annotations

import json
from dataclasses import field
from pathlib import Path
from typing import Any

import numpy as np

from dp2emu.outputs import write_file
from dp2emu.picture import encode_png
from dp2emu.records import dataclass
from dp2emu.runtime10 import Resource

_RGBA8 = 28
"""DXGI_FORMAT_R8G8B8A8_UNORM, whose bytes are those of a PNG."""


@dataclass(slots=True)
class Results:
    """Results under way.  Mutable: the player adds to it.

    ``queries`` are by the number of the call, ``buffers`` and ``images`` by name, in hexadecimal;
    an image is its pixels, rows tight.  ``steps`` are single GetData calls, ``create`` the
    results of creating objects.
    """

    queries: dict[str, Any] = field(default_factory=dict)
    buffers: dict[str, str] = field(default_factory=dict)
    images: dict[str, str] = field(default_factory=dict)
    steps: list[dict[str, Any]] = field(default_factory=list)
    create: dict[str, str] = field(default_factory=dict)
    get_predication: list[dict[str, Any]] = field(default_factory=list)
    failed_calls: list[dict[str, Any]] = field(default_factory=list)
    pictures: dict[str, bytes] = field(default_factory=dict)
    """Name of an image -> its PNG, for those that one can hold."""

    def add_image(self, name: str, resource: Resource, data: bytes) -> None:
        """Take the pixels of a texture."""
        self.images[name] = data.hex()
        if resource.desc.Format == _RGBA8:
            width, height, _ = resource.desc.pMipInfoList[0]
            pixels = np.frombuffer(data, np.uint8).reshape(height, width, 4)
            self.pictures[name] = encode_png(pixels)

    def write(self, out: Path, name: str) -> tuple[Path, ...]:
        """Write NAME.json and NAME.IMAGE.png into a folder.  ``name`` is a safe file name."""
        out.mkdir(parents=True, exist_ok=True)
        contents = {f"{name}.{image}.png": data for image, data in self.pictures.items()}
        contents[f"{name}.json"] = self._json(name)
        for file, content in contents.items():
            write_file(out / file, content)
        return tuple(out / file for file in contents)

    def _json(self, name: str) -> bytes:
        document = {
            "scene": name,
            "queries": self.queries,
            "buffers": self.buffers,
            "images": self.images,
            "steps": self.steps,
            "create": self.create,
            "get_predication": self.get_predication,
            "failed_calls": self.failed_calls,
        }
        return (json.dumps(document, indent=1, allow_nan=False) + "\n").encode()

"""What a scene gave: pictures, query answers and values, gathered and then written."""

from __future__ import annotations

import json
from dataclasses import field
from pathlib import Path
from typing import Any

from dp2emu.d3d.formats import COLOR
from dp2emu.errors import Dp2Error, UsageError
from dp2emu.gpu.resource.heap import Surface
from dp2emu.gpu.resource.texels import blocks
from dp2emu.outputs import write_file
from dp2emu.picture import take_picture
from dp2emu.records import dataclass

FINAL = "final"
"""Label of the picture taken at the end; its file has no label in its name."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something a scene asked for and did not get.

    ``command`` is the index of the command, -1 if it was the device or a resource; ``where``
    names it in words; ``error`` is what the runtime or the driver said, with call and offset.
    """

    command: int
    where: str
    error: Dp2Error

    def __str__(self) -> str:
        return f"{self.where}: {self.error}"


@dataclass(frozen=True, slots=True)
class SceneResult:
    """A played scene.  ``problems`` is empty if everything it asked for was done.

    ``files`` were written; ``queries`` and ``values`` are what its JSON file says.
    """

    category: str
    name: str
    files: tuple[Path, ...]
    problems: tuple[Problem, ...]
    queries: dict[str, dict[str, Any]]
    values: dict[str, dict[str, Any]]


@dataclass(slots=True)
class Results:
    """Results under way.  Mutable: the player adds to it; labels never repeat."""

    queries: dict[str, dict[str, Any]] = field(default_factory=dict)
    values: dict[str, dict[str, Any]] = field(default_factory=dict)
    issues: dict[str, str] = field(default_factory=dict)
    failed_calls: list[dict[str, Any]] = field(default_factory=list)
    images: dict[str, dict[str, Any]] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    """Suffix of a file (``.label.png``) -> its content."""

    def expect_image(self, label: str) -> None:
        """Reserve an image label.  Raises UsageError if it is taken."""
        if label in self.images:
            raise UsageError(f"label {label!r} is used twice")
        self.images[label] = {}

    def add_image(self, label: str, surface: Surface) -> None:
        """Take the picture of a surface: a PNG, or its bytes, rows without holes, where PNG has no
        equal.
        """
        suffix = "" if label == FINAL else f".{label}"
        row = COLOR.get(surface.format)
        if row is not None and not row.floating:
            suffix += ".png"
            content = take_picture(surface).png
        else:
            suffix += ".raw"
            content = blocks(surface, 0).tobytes()
        self.files[suffix] = content
        self.images[label] = {
            "suffix": suffix,
            "width": surface.width,
            "height": surface.height,
            "d3dformat": surface.desc.format,
        }

    def write(self, out: Path, category: str, name: str) -> tuple[Path, ...]:
        """Write everything below ``out``/category.  Both names must be safe file names."""
        folder = out / category
        folder.mkdir(parents=True, exist_ok=True)
        contents = {name + suffix: content for suffix, content in self.files.items()}
        contents[f"{name}.json"] = self._json(category, name)
        for file, content in contents.items():
            write_file(folder / file, content)
        return tuple(folder / file for file in contents)

    def _json(self, category: str, name: str) -> bytes:
        images = {
            label: {"file": name + image["suffix"]}
            | {key: value for key, value in image.items() if key != "suffix"}
            for label, image in self.images.items()
        }
        document = {
            "schema": 1,
            "scene": f"{category}/{name}",
            "failed_calls": self.failed_calls,
            "queries": self.queries,
            "issues": self.issues,
            "values": self.values,
            "images": images,
        }
        return (json.dumps(document, indent=1, allow_nan=False) + "\n").encode()

"""Results of a scene: the JSON document and the pictures beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from dp2emu.errors import Dp2Error
from dp2emu.outputs import write_file


class Problem(msgspec.Struct, frozen=True):
    """An operation or resource of a scene that failed for good.

    ``command`` is the index of the operation, -1 for the device or a resource; ``where`` describes
    it in words; ``error`` is the error of the runtime or the driver, with call and offset.
    """

    command: int
    where: str
    error: Dp2Error

    def __str__(self) -> str:
        return f"{self.where}: {self.error}"


class SceneResult(msgspec.Struct, frozen=True):
    """The outcome of a scene.  ``problems`` is empty if every operation was performed.

    ``files`` are those written; ``queries`` and ``values`` are sections of the JSON file.
    """

    category: str
    name: str
    files: tuple[Path, ...]
    problems: tuple[Problem, ...]
    queries: dict[str, Any]
    values: dict[str, dict[str, Any]]


class Results(msgspec.Struct):
    """The results so far.  Mutable: the player fills the sections of ``document``.

    ``name`` begins all file names; ``files`` maps names of further files to their content.
    """

    name: str
    document: dict[str, Any]
    files: dict[str, bytes] = msgspec.field(default_factory=dict)

    def add_file(self, suffix: str, content: bytes) -> str:
        """Add a file and return its name."""
        file = self.name + suffix
        self.files[file] = content
        return file

    def write(self, folder: Path) -> tuple[Path, ...]:
        """Write all files, the JSON document last, and return their paths."""
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(self.document, indent=1, allow_nan=False) + "\n"
        for file, content in {**self.files, f"{self.name}.json": text.encode()}.items():
            write_file(folder / file, content)
        return tuple(folder / file for file in (*self.files, f"{self.name}.json"))


def hr_text(hr: int) -> str:
    """An HRESULT as scene results spell it."""
    return f"0x{hr & 0xFFFFFFFF:08x}"

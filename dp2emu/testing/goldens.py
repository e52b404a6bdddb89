"""Golden files: expected results stored beside a test."""

from __future__ import annotations

from pathlib import Path

from dp2emu.diff import EXACT, Allowance
from dp2emu.errors import UsageError
from dp2emu.testing.shot import Shot


class Goldens:
    """Golden files in ``folder``; with ``update`` they are written before they are read.

    A test asserts that its result equals ``text`` or ``picture`` of the same name, so pytest
    explains a difference as for any other comparison.
    """

    def __init__(self, folder: Path, *, update: bool = False) -> None:
        self.folder = folder
        self.update = update

    def text(self, name: str, found: str) -> str:
        """The text of a golden file, which is ``found`` itself when files are updated.

        Raises UsageError for a missing file.
        """
        path = self._path(name)
        if self.update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(found, "utf-8", newline="\n")
        self._need(path)
        return path.read_text("utf-8")

    def picture(self, name: str, found: Shot, allowance: Allowance = EXACT) -> Shot:
        """The golden picture, or ``found`` itself if it is within the allowance of it.

        Raises UsageError for a missing file.
        """
        path = self._path(name)
        if self.update:
            path.parent.mkdir(parents=True, exist_ok=True)
            found.save(path)
        self._need(path)
        golden = Shot.load(path)
        return found if found.like(golden, allowance) else golden

    def _path(self, name: str) -> Path:
        path = self.folder / name
        if not path.resolve().is_relative_to(self.folder.resolve()):
            raise UsageError(f"golden {name!r} is outside of {self.folder}")
        return path

    def _need(self, path: Path) -> None:
        if not path.exists():
            raise UsageError(f"no golden {path}; --dp2-update-goldens makes it")

"""Comparable pictures (``==`` exactly, ``like`` within an allowance), and golden files."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dp2emu.diff import EXACT, Allowance, compare_images, pixels_of, read_image
from dp2emu.errors import UsageError
from dp2emu.outputs import write_file
from dp2emu.picture import encode_png


class Shot:
    """A picture: ``pixels`` is uint8 (height, width, 3 or 4), red first.

    Two pictures are equal if their sizes and common channels are.

    >>> Shot(np.zeros((2, 3, 3), np.uint8)) == Shot(np.ones((2, 3, 3), np.uint8))
    False
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, image: NDArray[Any], name: str = "picture") -> None:
        self.pixels = pixels_of(np.asarray(image))
        self.name = name

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Shot:
        """Read a picture file.  Raises UsageError for an unknown format, and OSError."""
        return cls(read_image(Path(path)), Path(path).name)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the picture as PNG.  Raises OSError."""
        write_file(path, encode_png(self.pixels))

    def like(self, other: Shot, allowance: Allowance) -> bool:
        """Whether the differences between two pictures are within ``allowance``."""
        return compare_images(self.pixels, other.pixels, allowance.tolerance).within(allowance)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shot) and self.like(other, Allowance())

    def __getitem__(self, at: tuple[int, int]) -> tuple[int, ...]:
        """The channels of the pixel at (x, y)."""
        x, y = at
        return tuple(self.pixels[y, x].tolist())

    def __repr__(self) -> str:
        height, width = self.pixels.shape[:2]
        return f"<{self.name}: {width}x{height}>"


class Goldens:
    """The files in ``folder`` with the expected results of tests.

    A test asserts that its result equals ``text`` or ``picture`` of a file, so pytest explains a
    difference as for any other comparison.  With ``update`` the result is first written to the
    file.
    """

    def __init__(self, folder: Path, *, update: bool = False) -> None:
        self.folder = folder
        self.update = update

    def text(self, name: str, found: str) -> str:
        """The text in golden file ``name``; with ``update``, ``found`` is written to it first.

        Raises UsageError for a missing file.
        """
        return self._path(name, lambda path: write_file(path, found.encode())).read_text("utf-8")

    def picture(self, name: str, found: Shot, allowance: Allowance = EXACT) -> Shot:
        """The picture in golden file ``name``; ``found`` itself if they differ within
        ``allowance``.

        With ``update``, ``found`` is written first.  Raises UsageError for a missing file.
        """
        golden = Shot.load(self._path(name, found.save))
        return found if found.like(golden, allowance) else golden

    def _path(self, name: str, write: Callable[[Path], None]) -> Path:
        """The path of golden file ``name``; with ``update``, ``write`` is called to write it
        first.

        Raises UsageError for a missing file, and for one outside of the folder.
        """
        path = self.folder / name
        if not path.resolve().is_relative_to(self.folder.resolve()):
            raise UsageError(f"golden {name!r} is outside of {self.folder}")
        if self.update:
            path.parent.mkdir(parents=True, exist_ok=True)
            write(path)
        elif not path.exists():
            raise UsageError(f"no golden {path}; --dp2-update-goldens writes it")
        return path

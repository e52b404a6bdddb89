"""A comparable picture: exactly with ``==``, within an allowance with ``like``."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dp2emu.diff import Allowance, compare_images, pixels_of, read_image
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
        """Write it as PNG.  Raises OSError."""
        write_file(path, encode_png(self.pixels))

    def like(self, other: Shot, allowance: Allowance) -> bool:
        """Whether the difference is within ``allowance``."""
        found = compare_images(self.pixels, other.pixels, allowance.tolerance)
        return found.within(allowance)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shot) and self.like(other, Allowance())

    def __getitem__(self, at: tuple[int, int]) -> tuple[int, ...]:
        """The channels of the pixel at (x, y)."""
        x, y = at
        return tuple(self.pixels[y, x].tolist())

    def __repr__(self) -> str:
        height, width = self.pixels.shape[:2]
        return f"<{self.name}: {width}x{height}>"

"""Frames as raw bytes, one after the other, for an encoder that reads a pipe."""

from __future__ import annotations

from typing import BinaryIO

import numpy as np

from dp2emu.picture import Picture


class RawFrames:
    """Writes frames as RGB, 8 bits a channel, rows from the top without holes (rgb24).

    The first frame decides the size.  Later ones are cut at the right and at the bottom, or
    filled up with black there: a stream cannot change its size.  Mutable: it counts.
    """

    def __init__(self, out: BinaryIO) -> None:
        self.width = self.height = self.frames = 0
        self._out = out
        self._held: Picture | None = None

    def write(self, picture: Picture) -> None:
        """Append a frame.  Raises OSError as the stream does."""
        self._held = None
        image = picture.image[..., :3]
        if self.frames == 0:
            self.width, self.height = picture.width, picture.height
        if image.shape[:2] != (self.height, self.width):
            cut = image[: self.height, : self.width]
            image = np.zeros((self.height, self.width, 3), np.uint8)
            image[: cut.shape[0], : cut.shape[1]] = cut
        self._out.write(image.tobytes())
        self.frames += 1

    def hold(self, picture: Picture) -> None:
        """Keep what may turn out to be the last frame, because no marker follows."""
        self._held = picture

    def close(self, *, unfinished: bool) -> None:
        """There is nothing more; the picture held is a frame if one was ``unfinished``."""
        if unfinished and self._held is not None:
            self.write(self._held)
        self._out.flush()

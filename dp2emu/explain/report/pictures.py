"""Pictures of a report: each as the difference from the one before, in the box that changed."""

from __future__ import annotations

import zlib
from base64 import b64encode
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
"""A picture as bytes (height, width, channels): 1 to 4 channels, 16-bit grey as two."""

Box = tuple[int, int, int, int]
"""Left, top, width and height of a rectangle in pixels."""

SHOWN = 96
"""Bytes that a pixel of a stored picture counts as among those that the verb observes."""

_WHOLE_AFTER = 12
"""A picture is stored whole again after differences of this many times its area, which a reader
would have to add up."""
_LEVEL = 6


def channels_of(image: NDArray[Any]) -> Bytes:
    """An image as bytes (height, width, channels); 16-bit grey as its high and low byte."""
    if image.dtype == np.uint16:
        return image.astype(">u2").view(np.uint8).reshape(*image.shape, 2)
    return image if image.ndim == 3 else image[..., None]


def packed(difference: Bytes) -> str:
    """Text of the bytes of a picture or difference: base64 of a zlib stream.

    Each byte is stored less the byte of the pixel on its left, as in the PNG filter "Sub".
    """
    filtered = difference.copy()
    filtered[:, 1:] -= difference[:, :-1]
    return b64encode(zlib.compress(filtered.tobytes(), _LEVEL)).decode("ascii")


def picture_row(image: NDArray[Any]) -> dict[str, Any]:
    """JSON object of a picture that stands alone."""
    found = channels_of(image)
    height, width, channels = found.shape
    return {"width": width, "height": height, "channels": channels, "data": packed(found)}


class Blobs:
    """Distinct packed differences, in the order of their first use.  Mutable: it grows.

    ``size`` is their number of characters.
    """

    def __init__(self) -> None:
        self.size = 0
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """The number of a text, which is stored once."""
        if text not in self._numbers:
            self._numbers[text] = len(self._numbers)
            self.size += len(text)
        return self._numbers[text]

    @property
    def texts(self) -> list[str]:
        """The texts by number."""
        return list(self._numbers)


class PictureSeries:
    """The pictures of one surface after the events that changed it.  Mutable: it grows.

    Their differences are stored in ``blobs``, which series share.
    """

    def __init__(
        self, surface: int, shows: str, event: int, image: NDArray[Any], blobs: Blobs
    ) -> None:
        self.surface = surface
        self.shows = shows
        self._blobs = blobs
        self._last = np.zeros_like(channels_of(image))
        self._pictures: list[dict[str, Any]] = []
        self._area = 0
        height, width = self._last.shape[:2]
        self.add(event, image, (0, 0, width, height))

    @property
    def last(self) -> Bytes:
        """The picture after the last event, as bytes (height, width, channels)."""
        return self._last

    def add(self, event: int, part: NDArray[Any], box: Box) -> None:
        """Add the picture after ``event``, which differs from the last one in ``box`` at most.

        ``part`` is the image of the box.
        """
        left, top, width, height = box
        there = self._last[top : top + height, left : left + width]
        new = channels_of(part)
        difference = new - there
        there[...] = new
        whole = not self._pictures or self._area > _WHOLE_AFTER * self._last[..., 0].size
        if whole:
            left, top, difference = 0, 0, self._last
            self._area = 0
        height, width = difference.shape[:2]
        self._area += width * height
        data = self._blobs.number(packed(difference))
        self._pictures.append(
            {"event": event, "whole": whole, "box": [left, top, width, height], "data": data}
        )

    def row(self) -> dict[str, Any]:
        """The JSON object of the series."""
        height, width, channels = self._last.shape
        return {
            "surface": self.surface,
            "shows": self.shows,
            "width": width,
            "height": height,
            "channels": channels,
            "pictures": self._pictures,
        }

"""Pictures of targets after the events that changed them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dp2emu.d3d.dxgi import ROWS
from dp2emu.d3d.formats import FormatRow
from dp2emu.explain.report.pictures import SHOWN, Blobs, Box, PictureSeries
from dp2emu.gpu.resource.heap import BUFFERS, Surface
from dp2emu.gpu.transfer.copy_resolve import resolve
from dp2emu.picture import DEPTHS, STENCILS, has_picture, rgba, shades

Shows = Literal["color", "depth", "stencil"]

EVENT_CHARACTERS = 6_500_000
"""Maximum size of the stored pictures after which only the last one of each frame is stored."""
FRAME_CHARACTERS = 7_000_000
"""Maximum size of the stored pictures after which no further one is stored."""
SURFACES = 64
"""Maximum number of surfaces whose pictures are stored."""
_PIECE = 1 << 20
"""Number of bytes that are compared at once, in whole rows."""


class _Target(NamedTuple):
    surface: Surface
    memory: NDArray[np.uint8]
    series: tuple[PictureSeries, ...]


class TargetPictures:
    """Pictures of surfaces, stored after each change as far as they fit the page.

    Mutable: it remembers the contents that it stored.  ``complete`` is the number of the last
    event after which each changed picture was stored, None while all are.
    """

    def __init__(self) -> None:
        self.blobs = Blobs()
        self.complete: int | None = None
        self.dropped = 0
        self._targets: dict[int, _Target] = {}
        self._stale: set[int] = set()
        self._observes: Callable[[int], bool] = lambda size: True
        self._over = False

    def watch(
        self, event: int, handle: int, surface: Surface, observes: Callable[[int], bool]
    ) -> None:
        """Store the content of a surface that event ``event`` is about to change.

        ``observes`` returns whether there is room for bytes that are compared and encoded.
        """
        self._observes = observes
        known = self._targets.get(handle)
        if known is not None and _same(known.surface, surface):
            return
        shown = shows_of(surface)
        if known is not None:
            # The handle was given to another surface, which replaces the first on the page.
            self.dropped += 1
        elif shown and len(self._targets) >= SURFACES:
            self.dropped += 1
            return
        if not shown:
            return
        if not self._affords(surface, surface.width * surface.height * len(shown)):
            self.dropped += 1
            return
        memory = _memory(surface)
        whole = 0, 0, surface.width, surface.height
        series = tuple(
            PictureSeries(handle, shows, event - 1, _part(surface, shows, whole), self.blobs)
            for shows in shown
        )
        self._targets[handle] = _Target(surface, memory.copy(), series)

    def knows(self, handle: int) -> bool:
        """Whether pictures of a surface are stored."""
        return handle in self._targets

    def changed(self, event: int, handles: Iterable[int]) -> None:
        """Store what event ``event`` changed in surfaces, unless the page is full."""
        wanted = [handle for handle in handles if handle in self._targets]
        if self._over:
            return
        if self.blobs.size < EVENT_CHARACTERS:
            for handle in wanted:
                self._store(event, handle)
            return
        if self.complete is None:
            self.complete = event - 1
        self._stale.update(wanted)

    def frame_ends(self, event: int) -> None:
        """Store the surfaces whose changes were not stored, at the last event of a frame."""
        stale, self._stale = self._stale, set()
        if self.blobs.size < FRAME_CHARACTERS and not self._over:
            for handle in sorted(stale):
                self._store(event, handle)

    def rows(self) -> list[dict[str, Any]]:
        """JSON objects of all series, colours first."""
        every = [each for target in self._targets.values() for each in target.series]
        ordered = sorted(every, key=lambda each: (each.shows != "color", each.shows))
        return [each.row() | {"complete": self.complete} for each in ordered]

    def _store(self, event: int, handle: int) -> None:
        surface, last, series = self._targets[handle]
        if not self._affords(surface, 0):
            self._end(event)
            return
        box = _changed(surface, last, _memory(surface))
        if box is None:
            return
        if not self._observes(SHOWN * box[2] * box[3] * len(series)):
            self._end(event)
            return
        for each in series:
            part = _part(surface, each.shows, box)
            each.add(event, part, box)

    def _affords(self, surface: Surface, pixels: int) -> bool:
        """Whether there is room for a comparison of a surface, and for pictured pixels."""
        return self._observes(surface.data.nbytes + SHOWN * pixels)

    def _end(self, event: int) -> None:
        """Store no picture from event ``event`` on: the verb has observed too many bytes."""
        self._over = True
        if self.complete is None:
            self.complete = event - 1


def _same(one: Surface, other: Surface) -> bool:
    """Whether two surfaces or views are the same part of the same memory."""
    sizes = [(each.serial, each.width, each.height, each.samples) for each in (one, other)]
    return sizes[0] == sizes[1] and one.data.ctypes.data == other.data.ctypes.data


def format_name(surface: Surface) -> str:
    """The name of a surface's format without the prefix of its enumeration."""
    return surface.format.sdk.removeprefix("D3DFMT_").removeprefix("DXGI_FORMAT_")


def shows_of(surface: Surface) -> tuple[Shows, ...]:
    """What pictures of a surface show; () for a surface without pictures."""
    row = ROWS.get(surface.format)
    if surface.desc.kind in BUFFERS or row is None or row.blocked:
        return ()
    depths: tuple[Shows, ...] = (
        *(("depth",) if row.format in DEPTHS else ()),
        *(("stencil",) if row.format in STENCILS else ()),
    )
    return depths or (("color",) if has_picture(row.format) else ())


def _memory(surface: Surface) -> NDArray[np.uint8]:
    """The bytes of the pixels in the top level: (height, bytes of a row)."""
    words = surface.pixels()
    return np.ascontiguousarray(words).view(np.uint8).reshape(surface.height, -1)


def _changed(surface: Surface, last: NDArray[np.uint8], now: NDArray[np.uint8]) -> Box | None:
    """The box of pixels in which ``now`` differs from ``last``, which becomes equal to it."""
    step = max(1, _PIECE // now.shape[1])
    rows: list[int] = []
    columns = np.zeros(now.shape[1], np.bool_)
    for first in range(0, len(now), step):
        new, old = now[first : first + step], last[first : first + step]
        if np.array_equal(new, old):
            continue
        there = new != old
        changed = np.flatnonzero(there.any(axis=1)) + first
        rows += (int(changed[0]), int(changed[-1]))
        columns |= there.any(axis=0)
        old[...] = new
    if not rows:
        return None
    across = np.flatnonzero(columns)
    size = now.shape[1] // surface.width
    left, right = int(across[0]) // size, int(across[-1]) // size + 1
    return left, rows[0], right - left, rows[-1] + 1 - rows[0]


def _part(surface: Surface, shows: str, box: Box) -> NDArray[Any]:
    """The image of a box of a surface; of depth and stencil the first samples."""
    left, top, width, height = box
    samples, row = surface.samples, ROWS[surface.format]
    words = surface.pixels()[top : top + height, left * samples : (left + width) * samples]
    return _PARTS[shows](row, words, samples)


def _color(row: FormatRow, words: NDArray[Any], samples: int) -> NDArray[Any]:
    return rgba(words if samples == 1 else resolve(row, words, samples), row.format)


_PARTS: dict[str, Callable[[FormatRow, NDArray[Any], int], NDArray[Any]]] = {
    "color": _color,
    "depth": lambda row, words, samples: shades(words[:, ::samples], row.format, "depth"),
    "stencil": lambda row, words, samples: shades(words[:, ::samples], row.format, "stencil"),
}

"""Histories of chosen pixels, and of pixels that differ from a reference."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dp2emu.diff.images import Pixels
from dp2emu.dp2.options import Options
from dp2emu.errors import Dp2Error
from dp2emu.explain.pixel_history import Pixel, PixelObserver
from dp2emu.explain.playback import play
from dp2emu.gpu.device.timing import Timing
from dp2emu.replay import Recording, Watcher

PIXELS = 256
"""Maximum number of pixels whose histories are on a page."""
EXAMINED = 10_000
"""Maximum number of pixels times draws that are examined for a page: what fits some seconds."""


class Spot(NamedTuple):
    """A pixel of a surface."""

    target: int
    x: int
    y: int


def differing(target: int, one: Pixels, other: Pixels, tolerance: int) -> list[Spot]:
    """Pixels of a target in which two pictures of it differ by more than a tolerance: as many,
    evenly, as a page has histories.
    """
    if one.shape[:2] != other.shape[:2]:
        return []
    lanes = min(one.shape[2], other.shape[2])
    apart = np.abs(one[..., :lanes].astype(np.int16) - other[..., :lanes])
    ys, xs = np.nonzero((apart > tolerance).any(axis=-1))
    every = -(-len(xs) // PIXELS) or 1
    pairs = zip(xs[::every].tolist(), ys[::every].tolist(), strict=True)
    return [Spot(target, x, y) for x, y in pairs]


def affordable(spots: Sequence[Spot], draws: int) -> list[Spot]:
    """As many of the spots, evenly, as ``PIXELS`` and ``EXAMINED`` allow."""
    most = max(1, min(PIXELS, EXAMINED // max(1, draws)))
    distinct = list(dict.fromkeys(spots))
    every = -(-len(distinct) // most) or 1
    return distinct[::every]


def histories(
    capture: Recording,
    spots: Iterable[Spot],
    *,
    asked: Collection[Spot] = (),
    options: Options | None = None,
    timing: Timing | None = None,
) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """Play a capture again and return the histories of pixels.

    They are JSON objects by pixel (``x,y``) by series (``SURFACE/color``).  A pixel without a
    history, such as one outside of its surface, is left out.  Raises UsageError and Unsupported
    for such a pixel among those ``asked`` for, which are examined as well.
    """
    every = dict.fromkeys([*asked, *spots])
    watched = {spot: PixelObserver(Pixel(spot.x, spot.y, target=spot.target)) for spot in every}
    watcher = Watcher()
    for observer in watched.values():
        watcher = observer.watching(watcher)
    play(capture, watched.values(), options=options, timing=timing, watcher=watcher)
    found: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for spot, observer in watched.items():
        try:
            document = observer.history().document()
        except Dp2Error:
            if spot in asked:
                raise
            # The page has the command, which tells the reason.
            continue
        rows = [history_row(row) for row in document["history"]]
        for shows in ("color", "depth", "stencil"):
            found.setdefault(f"{spot.target}/{shows}", {})[f"{spot.x},{spot.y}"] = rows
    return found


_KEPT = ("kind", "primitive", "sample", "verdict", "output", "before", "after", "detail")


def history_row(row: dict[str, Any]) -> dict[str, Any]:
    """A row of the page, of an entry of a history's document."""
    depth, stencil = row["depth"], row["stencil"]
    return {name: row[name] for name in _KEPT} | {
        "event": int(row["event"].removeprefix("E")),
        "depth": None if depth is None else _depth(depth),
        "stencil": None if stencil is None else _stencil(stencil),
    }


def _depth(seen: dict[str, Any]) -> str:
    return f"{_digits(seen['incoming'])} {seen['function']} {_digits(seen['before'])}"


def _digits(number: float | str) -> str:
    """A depth of a JSON object, in which NaN and infinity are strings."""
    return number if isinstance(number, str) else f"{number:.7g}"


def _stencil(seen: dict[str, Any]) -> str:
    return f"{seen['reference']} {seen['function']} {seen['before']} (mask {seen['mask']:#x})"

"""Histories of chosen pixels, and of pixels that differ from a reference."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from dp2emu.diff.images import Pixels
from dp2emu.dp2.options import Options
from dp2emu.errors import Dp2Error, Exceeded, Unsupported
from dp2emu.explain.events import Event
from dp2emu.explain.pixel_history import Pixel, PixelObserver
from dp2emu.explain.pixel_place import Place
from dp2emu.explain.pixel_probe import Examined, examine, in_targets, reach_of
from dp2emu.explain.pixel_survey import Reach
from dp2emu.explain.playback import Observer, Stage, play
from dp2emu.gpu.command.packets import Draw, Packet
from dp2emu.gpu.device.timing import Timing
from dp2emu.replay import Recording, Watcher

PIXELS = 48
"""Maximum number of pixels that differ whose histories are on a page."""
EXAMINED = 4_000
"""Maximum number of pixels times draws that are examined for a page: what fits some seconds."""


Histories = dict[int, dict[str, list[dict[str, Any]]]]
"""Type of the histories of a page: rows by pixel (``x,y``) by surface."""


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
    chosen = _spread(len(xs), PIXELS)
    pairs = zip(xs[chosen].tolist(), ys[chosen].tolist(), strict=True)
    return [Spot(target, x, y) for x, y in pairs]


def _spread(count: int, most: int) -> list[int]:
    """At most ``most`` of the numbers below ``count``, evenly, from the first to the last."""
    if count <= most:
        return list(range(count))
    return [number * (count - 1) // max(1, most - 1) for number in range(most)]


def affordable(spots: Sequence[Spot], draws: int) -> list[Spot]:
    """As many of the spots, evenly, as ``PIXELS`` and ``EXAMINED`` allow."""
    most = max(1, min(PIXELS, EXAMINED // max(1, draws)))
    distinct = list(dict.fromkeys(spots))
    return [distinct[number] for number in _spread(len(distinct), most)]


class _Reaches(Observer):
    """What each draw may touch, found once for all pixels.  Mutable: it has the last draw's."""

    def __init__(self) -> None:
        self._known: Reach | None = None
        self._of: Draw | None = None

    def before(self, event: Event, packet: Packet | None, stage: Stage) -> None:
        """Forget the last draw."""
        self._known = self._of = None

    def reach(self, draw: Draw, stage: Stage) -> Reach | None:
        """What the draw of this event may touch; None if that cannot be told."""
        if self._of is None:
            self._of = draw
            # The examination of the pixel reports it.
            with suppress(Unsupported, Exceeded):
                self._known = reach_of(draw, stage.gpu.heap.limits)
        return self._known


class _Follower(PixelObserver):
    """Collects the history of a pixel; draws that cannot touch it are not executed for it."""

    def __init__(self, spot: Spot, reaches: _Reaches) -> None:
        super().__init__(Pixel(spot.x, spot.y, target=spot.target))
        self._reaches = reaches

    def examined(self, draw: Draw, place: Place, stage: Stage) -> Examined | None:
        """The fragments of a draw at the pixel."""
        if not in_targets(draw, place):
            return None
        return examine(draw, place, stage.gpu.heap.limits, self._reaches.reach(draw, stage))


def histories(
    capture: Recording,
    spots: Iterable[Spot],
    *,
    asked: Collection[Spot] = (),
    options: Options | None = None,
    timing: Timing | None = None,
) -> Histories:
    """Play a capture again and return the histories of pixels.

    They are JSON objects by pixel (``x,y``) by surface.  A pixel without a history, such as one
    outside of its surface, is left out.  Raises UsageError and Unsupported
    for such a pixel among those ``asked`` for, which are examined as well.
    """
    every = dict.fromkeys([*asked, *spots])
    reaches = _Reaches()
    watched = {spot: _Follower(spot, reaches) for spot in every}
    watcher = Watcher()
    for observer in watched.values():
        watcher = observer.watching(watcher)
    observers = [reaches, *watched.values()]
    play(capture, observers, options=options, timing=timing, watcher=watcher)
    found: Histories = {}
    for spot, observer in watched.items():
        try:
            document = observer.history().document()
        except Dp2Error:
            if spot in asked:
                raise
            # The page has the command, which tells the reason.
            continue
        rows = [history_row(row) for row in document["history"]]
        rows += [_idle_row(row) for row in document["idle"]]
        rows.sort(key=lambda row: row["event"])
        found.setdefault(spot.target, {})[f"{spot.x},{spot.y}"] = rows
    return found


_KEPT = ("kind", "primitive", "sample", "verdict", "output", "before", "after", "detail")


def _idle_row(row: dict[str, Any]) -> dict[str, Any]:
    """A row of the page, of a draw that did nothing."""
    return dict.fromkeys((*_KEPT, "depth", "stencil")) | {
        "event": _number(row),
        "kind": row["kind"],
        "verdict": "does_nothing",
        "detail": row["reason"],
    }


def _number(row: dict[str, Any]) -> int:
    return int(row["event"].removeprefix("E"))


def history_row(row: dict[str, Any]) -> dict[str, Any]:
    """A row of the page, of an entry of a history's document."""
    depth, stencil = row["depth"], row["stencil"]
    return {name: row[name] for name in _KEPT} | {
        "event": _number(row),
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

"""Comparison of a replay's pictures with references, and both pictures for the page."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from dp2emu.diff.images import Allowance, Comparison, Pixels, read_image
from dp2emu.diff.judging import Judge, Judgement, References
from dp2emu.explain.report.histories import Spot, differing
from dp2emu.explain.report.pictures import picture_row
from dp2emu.limits import GENEROUS, Limits
from dp2emu.replay import Pictures, Recording, replay

CHARACTERS = 2_000_000
"""Maximum size of all stored pictures of a comparison, of which the worst one is always stored."""


class KeepingJudge(Judge):
    """A judge that keeps what it compared as rows for the page.  Mutable: rows are added.

    ``now`` is a function that returns the number of the last event, None before the first;
    ``handle`` one from a picture's name and API call to the handle of its surface, None if
    unknown.  ``spots`` are pixels that differ, of each picture as many as a page has histories,
    and ``unlisted`` the number of the others.  ``without`` is the number of rows whose pictures
    have no room: those that differ least.
    """

    def __init__(
        self,
        references: References,
        allowance: Allowance,
        now: Callable[[], int | None],
        handle: Callable[[str, int | None], int | None],
        limits: Limits = GENEROUS,
    ) -> None:
        super().__init__(references, allowance, limits=limits)
        self.rows: list[dict[str, Any]] = []
        self.spots: list[Spot] = []
        self.unlisted = 0
        self.without = 0
        self._now = now
        self._handle = handle
        self._stored: list[dict[str, Any]] = []
        self._size = 0

    def judge(self, name: str, call: int | None, image: Pixels) -> Judgement | None:
        """Compare a picture with its reference, as ``Judge`` does, and keep both."""
        found = super().judge(name, call, image)
        if found is None or found.comparison is None or found.reference is None:
            return found
        target = self._handle(name, call)
        row = _row(name, found, found.comparison, self._now()) | {"surface": target}
        other = read_image(self.references.folder / found.reference, self._limits)
        if target is not None and found.comparison.beyond:
            found_at = differing(target, image, other, self.allowance.tolerance)
            self.spots += found_at
            self.unlisted += found.comparison.beyond - len(found_at)
        self.rows.append(row)
        self._store(row, image, other)
        return found

    def _store(self, row: dict[str, Any], image: Pixels, other: Pixels) -> None:
        """Store both pictures of a row, unless the stored ones differ more and leave no room."""
        if self.without and _order(row) >= _order(self._stored[-1]):
            self.without += 1
            return
        row |= {"picture": picture_row(image), "other": picture_row(other)}
        self._size += _characters(row)
        insort(self._stored, row, key=_order)
        while self._size > CHARACTERS and len(self._stored) > 1:
            least = self._stored.pop()
            self._size -= _characters(least)
            least |= {"picture": None, "other": None}
            self.without += 1

    def sorted_rows(self) -> list[dict[str, Any]]:
        """The rows, the worst first, then the references without a picture."""
        return sorted(self.rows, key=_order) + [_missing(each) for each in self.missing()]


def _order(row: dict[str, Any]) -> tuple[bool, int]:
    """Key that sorts rows, the worst first: those beyond the allowance, by pixels that differ."""
    return bool(row["within"]), -row["beyond"]


def _characters(row: dict[str, Any]) -> int:
    return sum(len(row[each]["data"]) for each in ("picture", "other"))


def _row(name: str, found: Judgement, comparison: Comparison, event: int | None) -> dict[str, Any]:
    first = comparison.first
    beyond = f"{comparison.beyond} of {comparison.pixels} pixels differ"
    return {
        "name": name,
        "reference": found.reference,
        "event": event,
        "surface": None,
        "within": found.within,
        "beyond": comparison.beyond,
        "summary": beyond if comparison.beyond else "equal within the tolerance",
        "numbers": [
            ["Pixels that differ", comparison.beyond],
            ["Largest difference", comparison.largest],
            ["Regions", comparison.region_count],
            ["Widest region", comparison.across],
        ],
        "first": None if first is None else [first.x, first.y],
        "picture": None,
        "other": None,
    }


def _missing(judgement: Judgement) -> dict[str, Any]:
    return {
        "name": judgement.reference or "",
        "reference": None,
        "event": None,
        "surface": None,
        "within": False,
        "beyond": 0,
        "summary": "The replay took no such picture.",
        "numbers": [],
        "first": None,
        "picture": None,
        "other": None,
    }


@contextmanager
def pictures_of(capture: Recording) -> Iterator[References]:
    """The pictures that a replay of a capture takes, as references.  Raises OSError."""
    with TemporaryDirectory(prefix="dp2emu-report-") as folder:
        replay(capture, pictures=Pictures(folder=Path(folder)))
        yield References(Path(folder))

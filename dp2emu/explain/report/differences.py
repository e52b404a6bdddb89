"""Comparison of a replay's pictures with references, and both pictures for the page."""

from __future__ import annotations

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

CHARACTERS = 900_000
"""Maximum size of all stored pictures of a comparison; those beyond the allowance come first."""


class KeepingJudge(Judge):
    """A judge that keeps what it compared as rows for the page.  Mutable: rows are added.

    ``now`` is a function that returns the number of the last event, None before the first;
    ``handle`` one from a picture's name and API call to the handle of its surface, None if
    unknown.  ``spots`` are pixels that differ, of each picture as many as a page has histories,
    and ``unlisted`` the number of the others.
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
        self._now = now
        self._handle = handle
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
        if self._size < CHARACTERS:
            row |= {"picture": picture_row(image), "other": picture_row(other)}
            self._size += sum(len(row[each]["data"]) for each in ("picture", "other"))
        self.rows.append(row)
        return found

    def sorted_rows(self) -> list[dict[str, Any]]:
        """The rows, those beyond the allowance first, then the references without a picture."""
        rows = sorted(self.rows, key=lambda row: bool(row["within"]))
        return rows + [_missing(each) for each in self.missing()]


def _row(name: str, found: Judgement, comparison: Comparison, event: int | None) -> dict[str, Any]:
    first = comparison.first
    beyond = f"{comparison.beyond} of {comparison.pixels} pixels differ"
    return {
        "name": name,
        "reference": found.reference,
        "event": event,
        "surface": None,
        "within": found.within,
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

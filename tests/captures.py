"""``python -m tests.captures FOLDER [WORD...]``: replay captures of real programs, print how well.

FOLDER has ``traces/NAME.trace`` and for each ``truth/NAME.json`` with its pictures.  Every capture
is imported and replayed; pictures and query answers are compared with the truth.
"""

from __future__ import annotations

import json
import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dp2emu.errors import Dp2Error
from tests.programs import arguments, outcomes, pixels_of, played

TOLERANCE = 4
"""Of 255, in each channel."""
ENOUGH = 0.995
"""How many pixels must be within the tolerance."""
ACROSS = 16
"""Pixels a differing region may be wide or high."""

LISTED = Path(__file__).parent / "data" / "listed_captures.json"
"""By capture: ``why`` it is listed (a heading of docs/departures.rst) and, by call, how many
pixels of the picture differ."""

UNJUDGED = frozenset(
    f"wt_visual_{name}"
    for name in (
        "add_dirty_rect_test",
        "test_draw_mapped_buffer",
        "test_max_index16",
        "test_mipmap_upload",
        "test_clear_different_size_surfaces",
    )
)
"""Captures whose traces do not carry what the program did, by the README beside them: their
pictures may differ in any way."""


@dataclass
class Outcome:
    """How a capture came out.  Mutable: it is added to."""

    pictures: int = 0
    queries: int = 0
    problems: list[str] = field(default_factory=list)
    differing: dict[int, int] = field(default_factory=dict)
    """Call -> number of pixels that differ."""
    told: list[str] = field(default_factory=list)
    """Sentences about the pictures in ``differing``."""
    unstored: list[str] = field(default_factory=list)
    """Pictures that differ in bits of no channel alone (docs/departures.rst)."""

    def say(self, listed: dict[int, int], *, judged: bool = True) -> str:
        """The first word of a line of the table; ``listed`` are the expected ``differing``.

        A picture that differs in more or fewer pixels than are listed is not as it should be,
        unless the capture is not ``judged``.
        """
        if self.problems or (judged and self.differing != listed):
            return "FAIL"
        return "listed" if self.differing or self.unstored else "pass"


def listing() -> dict[str, dict[int, int]]:
    """Capture -> call -> number of pixels that differ for a known reason."""
    found = json.loads(LISTED.read_text("utf-8"))
    return {name: {int(call): pixels for call, pixels in row["pictures"].items()}
            for name, row in found.items()}  # fmt: skip


def main() -> int:
    """Replay, print, and return 1 if a capture that is judged is not as it should be."""
    given = arguments("python -m tests.captures", __doc__)
    judge = partial(judged, given.folder, given.out, given.engine)
    count, failed, listed = 0, 0, listing()
    for name, outcome in outcomes(given, judge):
        said = outcome.say(listed.get(name, {}), judged=name not in UNJUDGED)
        failed, count = failed + (said == "FAIL"), count + 1
        print(f"{said:<6} {name}: {outcome.pictures} pictures, {outcome.queries} answers")
        lines = outcome.problems + outcome.told + outcome.unstored
        print("".join(f"       {line}\n" for line in lines), end="")
    print(f"{count - failed} of {count} as they should be")
    return int(failed > 0)


def judged(folder: Path, out: Path | None, engine: str, name: str) -> Outcome:
    """The outcome of one capture."""
    with TemporaryDirectory() as scratch:
        place = (out or Path(scratch)) / name
        place.mkdir(parents=True, exist_ok=True)
        outcome = Outcome()
        try:
            trace = folder / "traces" / f"{name}.trace"
            document = played(trace, place, engine, outcome.problems)
            outcome.queries = len(document["queries"])
        except Dp2Error as error:
            outcome.problems.append(str(error))
        truth = json.loads((folder / "truth" / f"{name}.json").read_text("utf-8"))
        for call, path, format in wanted(truth, folder / "truth" / name):
            outcome.pictures += 1
            _compare(outcome, call, path, format, place)
        return outcome


def wanted(truth: dict[str, Any], pictures: Path) -> Iterator[tuple[int, Path, str]]:
    """Calls, the pictures that the program or a retracer had of them, formats if they are told."""
    for image in truth.get("frames", {}).get("images", ()):
        yield image["call"], pictures / image["file"], ""
    for row in truth.get("readbacks", {}).get("list", ()):
        if row.get("png"):
            yield row["call"], pictures / row["png"], row.get("format") or ""


def _compare(outcome: Outcome, call: int, path: Path, format: str, place: Path) -> None:
    """Compare the picture of a call with the true one, and add what differs to ``outcome``."""
    found = place / f"call_{call:08d}.png"
    if not found.exists():
        outcome.problems.append(f"call {call}: no picture")
        return
    expected, seen = pixels_of(path), pixels_of(found)
    if expected.shape != seen.shape:
        what = f"call {call}: {seen.shape[:2]} pixels instead of {expected.shape[:2]}"
        outcome.problems.append(what)
        return
    far = np.abs(expected - seen) > TOLERANCE
    sentence = _differs(far.any(axis=2))
    if sentence and format.startswith("X") and not _differs(far[:, :, :3].any(axis=2)):
        outcome.unstored.append(f"call {call}: {sentence}")
    elif sentence:
        outcome.told.append(f"call {call}: {sentence}")
        channels = 3 if format.startswith("X") else 4
        outcome.differing[call] = int(np.count_nonzero(far[:, :, :channels].any(axis=2)))


def _differs(far: NDArray[np.bool_]) -> str:
    """A sentence about a picture whose differing pixels are too many, empty if they are not."""
    within = 1 - np.count_nonzero(far) / max(far.size, 1)
    across = largest_region(far) if within >= ENOUGH else max(far.shape)
    if within >= ENOUGH and across <= ACROSS:
        return ""
    count = np.count_nonzero(far)
    return f"{100 * within:.2f} % of pixels, {count} differ, a region {across} across"


def largest_region(far: NDArray[np.bool_]) -> int:
    """The longer side of the largest region of pixels that touch, by sides or corners."""
    rest = {(int(y), int(x)) for y, x in np.argwhere(far)}
    largest = 0
    while rest:
        queue, ys, xs = deque([rest.pop()]), [], []
        while queue:
            y, x = queue.popleft()
            ys.append(y)
            xs.append(x)
            near = {(y + dy, x + dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1)} & rest
            rest -= near
            queue.extend(near)
        largest = max(largest, max(ys) - min(ys) + 1, max(xs) - min(xs) + 1)
    return largest


if __name__ == "__main__":
    sys.exit(main())

"""``python -m tests.captures FOLDER [WORD...]``: replay captures of real programs, print how well.

FOLDER has ``traces/NAME.trace`` and for each ``truth/NAME.json`` with its pictures.  Every capture
is imported and replayed; pictures and query answers are compared with the truth.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import Pool
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from dp2emu.capture.apitrace import open_trace
from dp2emu.capture.reader import open_capture
from dp2emu.capture.writer import CaptureWriter
from dp2emu.dp2.options import Options
from dp2emu.errors import Dp2Error
from dp2emu.replay import Difference, Pictures, Watcher, replay
from dp2emu.retrace import importing

TOLERANCE = 4
"""Of 255, in each channel."""
ENOUGH = 0.995
"""How many pixels must be within the tolerance."""
ACROSS = 16
"""Pixels a differing region may be wide or high."""

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
"""Captures whose traces do not carry what the program did, by the README beside them."""


DEPARTS = frozenset(
    f"wt_visual_{name}"
    for name in (
        "cnd_test",
        "fp_special_test",
        "pretransformed_varying_test",
        "test_blend",
        "test_fog_interpolation",
        "test_map_synchronisation",
        "test_nrm_instruction",
        "test_shademode",
        "test_uninitialized_varyings",
        "test_vshader_input",
        "texture_transform_flags_test",
        "yuv_color_test",
        "z_range_test",
    )
) | {"wt_ddraw7_test_signed_formats"}
"""Captures in which the other implementation departs; docs/departures.rst says where and why."""


@dataclass
class Outcome:
    """How a capture came out.  Mutable: it is added to."""

    pictures: int = 0
    queries: int = 0
    problems: list[str] = field(default_factory=list)
    unstored: list[str] = field(default_factory=list)
    """Pictures that differ in bits of no channel alone (docs/departures.rst)."""

    def say(self, name: str) -> str:
        """A line of the table."""
        if not self.problems:
            return "listed" if self.unstored else "pass"
        return "listed" if name in UNJUDGED | DEPARTS else "FAIL"


def main() -> int:
    """Replay, print, and return 1 if a capture that is judged is not as it should be."""
    parser = argparse.ArgumentParser("python -m tests.captures", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("words", nargs="*", help="only captures with one in their name")
    parser.add_argument("--out", type=Path, help="keep captures and pictures in this folder")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default: 1)")
    parser.add_argument("--engine", default="reference", help="as of dp2emu replay")
    given = parser.parse_intermixed_args()
    names = sorted(path.stem for path in (given.folder / "traces").glob("*.trace"))
    chosen = [n for n in names if not given.words or any(word in n for word in given.words)]
    judge = partial(judged, given.folder, given.out, given.engine)
    failed = 0
    with Pool(given.jobs) as pool:
        for name, outcome in zip(chosen, pool.imap(judge, chosen), strict=True):
            said = outcome.say(name)
            failed += said == "FAIL"
            print(f"{said:<6} {name}: {outcome.pictures} pictures, {outcome.queries} answers")
            lines = outcome.problems + outcome.unstored
            print("".join(f"       {line}\n" for line in lines), end="")
    print(f"{len(chosen) - failed} of {len(chosen)} as they should be")
    return int(failed > 0)


def judged(folder: Path, out: Path | None, engine: str, name: str) -> Outcome:
    """The outcome of one capture."""
    with TemporaryDirectory() as scratch:
        place = (out or Path(scratch)) / name
        place.mkdir(parents=True, exist_ok=True)
        outcome = Outcome()
        try:
            _play(folder / "traces" / f"{name}.trace", place, engine, outcome)
        except Dp2Error as error:
            outcome.problems.append(str(error))
        truth = json.loads((folder / "truth" / f"{name}.json").read_text("utf-8"))
        for call, path, format in wanted(truth, folder / "truth" / name):
            outcome.pictures += 1
            problems = _differences(call, path, place)
            opaque = format.startswith("X") and not _differences(call, path, place, channels=3)
            (outcome.unstored if opaque else outcome.problems).extend(problems)
        return outcome


def _play(trace: Path, place: Path, engine: str, outcome: Outcome) -> None:
    """Import and replay: losses, faults and differing answers are problems."""
    sealed = place / "capture.dp2"
    with open_trace(str(trace)) as opened, CaptureWriter(str(sealed)) as writer:
        losses = importing(opened, writer)
    outcome.problems += [f"loss: {loss}" for loss in list(losses)[:5]]

    def differs(difference: Difference) -> None:
        outcome.problems.append(f"answer: {difference}")

    watcher = Watcher(lambda fault: outcome.problems.append(f"fault: {fault}"), differs)
    document = place / "replay.json"
    with open_capture(str(sealed)) as capture, document.open("w") as page:
        replay(
            capture, options=Options(engine=engine), document=page,
            pictures=Pictures(folder=place), watcher=watcher,
        )  # fmt: skip
    outcome.queries = len(json.loads(document.read_text("utf-8"))["queries"])


def wanted(truth: dict[str, Any], pictures: Path) -> Iterator[tuple[int, Path, str]]:
    """Calls, the pictures that the program or a retracer had of them, formats if they are told."""
    for image in truth.get("frames", {}).get("images", ()):
        yield image["call"], pictures / image["file"], ""
    for row in truth.get("readbacks", {}).get("list", ()):
        if row.get("png"):
            yield row["call"], pictures / row["png"], row.get("format") or ""


def _differences(call: int, path: Path, place: Path, channels: int = 4) -> list[str]:
    found = place / f"call_{call:08d}.png"
    if not found.exists():
        return [f"call {call}: no picture"]
    expected, seen = _pixels(path), _pixels(found)
    if expected.shape != seen.shape:
        return [f"call {call}: {seen.shape[:2]} pixels instead of {expected.shape[:2]}"]
    far = (np.abs(expected - seen) > TOLERANCE)[:, :, :channels].any(axis=2)
    within = 1 - np.count_nonzero(far) / max(far.size, 1)
    across = largest_region(far) if within >= ENOUGH else max(far.shape)
    if within >= ENOUGH and across <= ACROSS:
        return []
    return [f"call {call}: {100 * within:.2f} % of pixels, a region {across} across"]


def _pixels(path: Path) -> NDArray[np.int16]:
    """Red, green, blue and alpha, shape (height, width, 4)."""
    return np.asarray(Image.open(path).convert("RGBA")).astype(np.int16)


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

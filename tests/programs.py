"""Captures of real programs, played: what the tools for Direct3D 5 to 9 and 10 to 11 share.

A folder of captures has ``traces/NAME.trace`` and for each ``truth/NAME.json`` with its files.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from multiprocessing import Pool
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from dp2emu.capture.apitrace import open_trace
from dp2emu.capture.reader import open_capture
from dp2emu.capture.writer import CaptureWriter
from dp2emu.dp2.options import Options
from dp2emu.replay import Difference, Pictures, Watcher, replay
from dp2emu.retrace import importing

_SHOWN = 5
"""Losses of a capture that are shown."""

_Outcome = TypeVar("_Outcome")


def arguments(program: str, description: str | None) -> argparse.Namespace:
    """The command line: folder, words, out, jobs, engine."""
    parser = argparse.ArgumentParser(program, description=description)
    parser.add_argument("folder", type=Path)
    parser.add_argument("words", nargs="*", help="only captures with one in their name")
    parser.add_argument("--out", type=Path, help="keep captures and pictures in this folder")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default: 1)")
    parser.add_argument("--engine", default="reference", help="as of dp2emu replay")
    return parser.parse_intermixed_args()


def outcomes(
    given: argparse.Namespace, judge: Callable[[str], _Outcome]
) -> Iterator[tuple[str, _Outcome]]:
    """Names and outcomes of the captures that the command line chooses, in order of the names."""
    names = sorted(path.stem for path in (given.folder / "traces").glob("*.trace"))
    chosen = [n for n in names if not given.words or any(word in n for word in given.words)]
    with Pool(given.jobs) as pool:
        yield from zip(chosen, pool.imap(judge, chosen), strict=True)


def played(trace: Path, place: Path, engine: str, problems: list[str]) -> dict[str, Any]:
    """Import and replay a trace; losses, faults and differing answers are added to ``problems``.

    Capture, pictures and data are written to ``place``.  Returns the replay document.
    """
    sealed = place / "capture.dp2"
    with open_trace(str(trace)) as opened, CaptureWriter(str(sealed)) as writer:
        losses = list(importing(opened, writer))
    problems += [f"loss: {loss}" for loss in losses[:_SHOWN]]
    if len(losses) > _SHOWN:
        problems.append(f"and {len(losses) - _SHOWN} more losses")

    def differs(difference: Difference) -> None:
        problems.append(f"answer: {difference}")

    watcher = Watcher(lambda fault: problems.append(f"fault: {fault}"), differs)
    document = place / "replay.json"
    with open_capture(str(sealed)) as capture, document.open("w") as page:
        replay(
            capture, options=Options(engine=engine), document=page,
            pictures=Pictures(folder=place, data=place), watcher=watcher,
        )  # fmt: skip
    found: dict[str, Any] = json.loads(document.read_text("utf-8"))
    return found


def pixels_of(path: Path) -> NDArray[np.int16]:
    """Red, green, blue and alpha of a picture, shape (height, width, 4)."""
    return np.asarray(Image.open(path).convert("RGBA")).astype(np.int16)

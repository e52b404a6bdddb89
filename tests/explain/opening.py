"""The captures in ``streams``, opened as verbs open them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dp2emu.capture.apitrace import open_trace
from dp2emu.inputs import open_input
from dp2emu.replay.player import Recording
from dp2emu.retrace import Import
from dp2emu.text import open_any

FOLDER = Path(__file__).parents[2] / "streams"
STREAMS = sorted(FOLDER.glob("*.dp2"))
FIRST_LIGHT = FOLDER / "first_light.dp2"
REAL = sorted((FOLDER / "real").glob("*.trace"))


@contextmanager
def opened(path: Path) -> Iterator[Recording]:
    """The capture in a file, or the import of the trace in it."""
    with open_input(path) as stream:
        yield Import(open_trace(stream)) if path.suffix == ".trace" else open_any(stream)

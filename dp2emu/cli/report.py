"""The verb ``dp2emu report``: explain a capture on one HTML page."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from dp2emu.cli.allowances import with_allowance
from dp2emu.cli.captures import Opened, capture_verb, opened_capture
from dp2emu.cli.number_range import IntRange
from dp2emu.cli.options import with_driver_options, with_timing
from dp2emu.cli.outcome import DIFFERS, FAULTS, FINE, UNUSABLE, complain, say, worst
from dp2emu.cli.paths import INPUT_PICTURES, OUTPUT, verb_command
from dp2emu.cli.streams import text_output
from dp2emu.diff import Allowance, References
from dp2emu.dp2.options import Options
from dp2emu.errors import UsageError
from dp2emu.gpu.device.timing import Timing
from dp2emu.replay import parse_frames
from dp2emu.replay.frames import EVERY, Frames

_EVENTS = re.compile(r"[eE](?=\d)")
_BACKWARD = re.compile(r"[eE]?\d{1,9}-[eE]?\d{1,9}")
"""A range of events that is written right, and so is wrong by its order alone."""


@verb_command("report")
@capture_verb("report")
@click.option(
    "-o", "--output", metavar="FILE", type=OUTPUT, required=True, help='The page; "-" is stdout.'
)
@click.option(
    "--against",
    metavar="DIR|FILE",
    type=INPUT_PICTURES,
    help="Compare with reference pictures, or with the pictures of another capture.",
)
@click.option("--events", metavar="A-B", help="Only these events, like E10-E99, 10-99 or E10-.")
@click.option(
    "--pixel",
    "pixels",
    metavar="X Y",
    nargs=2,
    type=IntRange(0, 65535),
    multiple=True,
    help="Put the history of this pixel on the page.",
)
@with_allowance(tolerance=4, share=99.5, across=16)
@with_timing
@with_driver_options
def command(
    opened: Opened,
    output: str,
    against: str | None,
    events: str | None,
    pixels: tuple[tuple[int, int], ...],
    allowance: Allowance,
    timing: Timing | None,
    options: Options,
) -> int:
    """Explain a capture on one HTML page, which needs no network.

    The page has frames, events, pictures of targets after each event, what changed in the state,
    shaders, meshes, textures, queries on a timeline, counters and faults.  Exits with 1 if a
    picture differs from its reference, and with 2 if none has one.
    """
    # Imported here: only this verb needs the page.
    from dp2emu.explain.report.model import report_model
    from dp2emu.explain.report.page import page_of

    with _references(against) as references:
        model = report_model(
            opened.repeated if pixels or against else opened.capture,
            file=shlex.quote(str(getattr(opened.file, "name", "FILE"))),
            wanted=_range(events),
            options=options,
            timing=timing,
            against=references,
            allowance=allowance,
            pixels=pixels,
        )
    page = page_of(model)
    with text_output(output) as out:
        out.write(page)
    say(_summary(model, len(page)))
    differ = FINE if against is None else _compared(against, model["differences"])
    return worst(FAULTS if model["faults"] else FINE, differ)


def _compared(against: str, rows: Sequence[dict[str, Any]]) -> int:
    """Return the exit code of a comparison, and tell if no picture could be compared."""
    if not any(row["reference"] for row in rows):
        complain(f"{against}: nothing to compare: no picture of the replay has a reference there")
        return UNUSABLE
    return FINE if all(row["within"] for row in rows) else DIFFERS


def _range(text: str | None) -> Frames:
    """The range of events of ``--events``.  Raises UsageError for other text."""
    if text is None:
        return EVERY
    try:
        return parse_frames(_EVENTS.sub("", text))
    except UsageError:
        if _BACKWARD.fullmatch(text):
            raise UsageError(f"--events {text!r}: the last comes before the first") from None
        raise UsageError(f"--events {text!r}: not like E10-E99, 10-99, E10- or E10") from None


@contextmanager
def _references(against: str | None) -> Iterator[References | None]:
    """The references of ``--against``: of a folder, or of another capture that is replayed."""
    from dp2emu.explain.report.differences import pictures_of

    if against is None:
        yield None
    elif Path(against).is_dir() or against.endswith(".json"):
        yield References(Path(against))
    else:
        with opened_capture(against) as capture, pictures_of(capture) as references:
            yield references


def _summary(model: dict[str, Any], size: int) -> str:
    compared = [row for row in model["differences"] if row["reference"]]
    parts = [f"{name.lower()} {value}" for name, value in model["statistics"][:5] if value]
    differ = sum(not row["within"] for row in compared)
    parts += [f"{differ} of {len(compared)} pictures differ"] if compared else []
    missing = len(model["differences"]) - len(compared)
    parts += [f"{missing} references without a picture"] if missing else []
    return f"{model['title']}: {', '.join(parts) or 'no event'}; a page of {size / 1e6:.1f} MB"

"""The options of ``dp2emu replay`` for pictures after events, and the replay that takes them."""

from __future__ import annotations

from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple

import click

from dp2emu.cli.captures import Verb, with_options
from dp2emu.cli.number_range import IntRange
from dp2emu.cli.outcome import say
from dp2emu.cli.paths import OUTPUT, Once
from dp2emu.dp2.options import Options
from dp2emu.gpu.device.timing import Timing
from dp2emu.replay import Recording, Tally, Watcher, parse_frames

_OPTIONS: tuple[Any, ...] = (
    click.option("--draws", is_flag=True, help="Pictures after each draw, of all that it writes."),
    click.option(
        "--at", "at", cls=Once, metavar="ADDRESS",
        help="Pictures after the event there: E12, 7:3 (call:token), @456 or frame 2.",
    ),
    click.option(
        "--every", metavar="N", type=IntRange(1), help="Pictures after every Nth event."
    ),
    click.option(
        "--strip", metavar="FILE", type=OUTPUT,
        help="Write the pictures after events, small, as one PNG.",
    ),
)  # fmt: skip


class FilmOptions(NamedTuple):
    """Values of the options of pictures after events; None or False if not given."""

    draws: bool
    at: str | None
    every: int | None
    strip: str | None

    @property
    def given(self) -> bool:
        """Whether any option is given."""
        return any(each is not None and each is not False for each in self)

    def played(
        self, capture: Recording, folder: str | None, frames: str | None,
        options: Options, timing: Timing | None, watcher: Watcher,
    ) -> Tally:  # fmt: skip
        """Play a capture and take the pictures, with files in ``folder``; returns the counts."""
        # Imported here: other replays do not need these modules.
        from dp2emu.explain.address import parse_address
        from dp2emu.explain.film import Film, FilmCamera
        from dp2emu.explain.playback import play

        if not (self.draws or self.at is not None or self.every):
            raise click.UsageError("--strip needs --draws, --at or --every")
        if not (folder or self.strip):
            raise click.UsageError("--draws, --at and --every need --png or --strip")
        film = Film(
            Path(folder) if folder else None,
            Path(self.strip) if self.strip else None,
            self.draws,
            self.every or 0,
            None if self.at is None else parse_address(self.at),
            parse_frames(frames or "0-"),
        )
        camera = FilmCamera(film)
        tally = play(capture, [camera], options=options, timing=timing, watcher=watcher)
        camera.close()
        tally.pictures, tally.timing = camera.pictures, camera.timing
        say(f"{len(camera.events)} events")
        return tally


def with_film(verb: Verb) -> Verb:
    """Give a verb the options of pictures after events; it gets them as ``film``."""

    @wraps(verb)
    def run(*given: Any, **others: Any) -> int | None:
        film = FilmOptions(**{name: others.pop(name) for name in FilmOptions._fields})
        return verb(*given, film=film, **others)

    return with_options(run, *_OPTIONS)

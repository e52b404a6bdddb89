"""The options that say which pictures a replay takes and where they go."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple

import click

from dp2emu.cli.captures import PATH
from dp2emu.cli.streams import byte_output
from dp2emu.diff import Allowance, Judge, References
from dp2emu.replay import Pictures, RawFrames, parse_frames

Verb = Callable[..., int | None]

_OPTIONS: tuple[Any, ...] = (
    click.option("--png", metavar="DIR", type=PATH, help="Write each picture as a file."),
    click.option("--sheet", metavar="FILE", type=PATH, help="Write all, small, as one PNG."),
    click.option(
        "--raw",
        metavar="PATH",
        type=PATH,
        help='Write what each frame shows as raw rgb24 video; "-" is stdout.',
    ),
    click.option(
        "--frames", metavar="A-B", help="Only of these frames, from 0: like 3, 3-7, 3- or -7."
    ),
    click.option(
        "--targets",
        type=click.Choice(["first", "all"]),
        help="Of what frames show, as by default, or of all that were targets, depth too.",
    ),
    click.option(
        "--against",
        metavar="DIR",
        type=PATH,
        help="Compare with reference pictures, by names or calls; exit with 1 if they differ.",
    ),
    click.option(
        "--differences",
        metavar="DIR",
        type=PATH,
        help="Write those that differ side by side with their references.",
    ),
)


class Wanted(NamedTuple):
    """The options as they were given."""

    png: str | None
    sheet: str | None
    raw: str | None
    frames: str | None
    targets: str | None
    against: str | None
    differences: str | None

    @property
    def files(self) -> Iterator[tuple[str, str]]:
        """(option, path) of every single file that will be written, but standard output."""
        named = (("--sheet", self.sheet), ("--raw", self.raw))
        return ((option, path) for option, path in named if path and path != "-")

    def _judge(self, allowance: Allowance) -> Judge | None:
        if self.against is None:
            return None
        folder = Path(self.differences) if self.differences else None
        return Judge(References(Path(self.against)), allowance, folder)

    @contextmanager
    def opened(self, allowance: Allowance) -> Iterator[Pictures | None]:
        """What ``replay`` wants to know, None if there is no picture to take; ``allowance`` is for
        comparing with references.

        Raises UsageError for options that mean nothing, OSError for a file that cannot be opened.
        """
        if self.differences and not self.against:
            raise click.UsageError("--differences needs --against")
        if not (self.png or self.sheet or self.raw or self.against):
            if self.frames or self.targets:
                raise click.UsageError(
                    "--frames and --targets need --png, --sheet, --raw or --against"
                )
            yield None
            return
        pictures = Pictures(
            folder=Path(self.png) if self.png else None,
            sheet=Path(self.sheet) if self.sheet else None,
            frames=parse_frames(self.frames or "0-"),
            all_targets=self.targets == "all",
            judge=self._judge(allowance),
        )
        if not self.raw:
            yield pictures
            return
        with byte_output(self.raw) as out:
            yield pictures.with_raw(RawFrames(out))


def with_pictures(verb: Verb) -> Verb:
    """Give a verb the options; it gets them as ``wanted``."""

    @wraps(verb)
    def run(*given: Any, **others: Any) -> int | None:
        wanted = Wanted(**{name: others.pop(name) for name in Wanted._fields})
        return verb(*given, wanted=wanted, **others)

    decorated: Verb = run
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated

"""The verb ``dp2emu replay``: run a capture and report its answers and pictures."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple

import click

from dp2emu.cli.allowances import show_judgements, with_allowance
from dp2emu.cli.captures import Opened, Verb, capture_verb, given_limits, with_options
from dp2emu.cli.film import FilmOptions, with_film
from dp2emu.cli.junit import with_junit, write_junit
from dp2emu.cli.options import EMULATOR, TIMING, with_driver_options, with_rig, with_scenario
from dp2emu.cli.outcome import (
    DIFFERS,
    FAULTS,
    FINE,
    UNUSABLE,
    MessageLines,
    complain,
    progress_through,
    report_losses,
    say,
    worst,
)
from dp2emu.cli.paths import INPUT, OUTPUT, verb_command
from dp2emu.cli.replay_cases import ReplayCases
from dp2emu.cli.streams import byte_output, text_output
from dp2emu.diff import Allowance, Judge, Judgement, References
from dp2emu.dp2.options import Options
from dp2emu.gpu.device.timing import Timing, parse_timing
from dp2emu.replay import Pictures, RawFrames, Recording, Tally, Watcher, parse_frames, replay
from dp2emu.rig.interface import Rig

_PICTURES: tuple[Any, ...] = (
    click.option("--png", metavar="DIR", type=OUTPUT, help="Write each picture as a file."),
    click.option(
        "--data", metavar="DIR", type=OUTPUT,
        help="Write what a Direct3D 10/11 program read and is no picture, as files of bytes.",
    ),
    click.option("--sheet", metavar="FILE", type=OUTPUT, help="Write all, small, as one PNG."),
    click.option(
        "--raw", metavar="PATH", type=OUTPUT,
        help='Write each shown frame as raw rgb24 video; "-" is stdout.',
    ),
    click.option(
        "--frames", metavar="A-B", help="Only these frames, from 0: like 3, 3-7, 3- or -7."
    ),
    click.option(
        "--targets", type=click.Choice(["first", "all"]),
        help="Pictures of the shown surface only (the default), or of all targets, depth too.",
    ),
    click.option(
        "--against", metavar="DIR", type=INPUT,
        help="Compare with reference pictures, by names or calls; exit with 1 if they differ.",
    ),
    click.option(
        "--differences", metavar="DIR", type=OUTPUT,
        help="Write pictures that differ side by side with their references.",
    ),
)  # fmt: skip


class PictureOptions(NamedTuple):
    """Values of the options of ``replay`` that write or compare pictures; None if not given."""

    png: str | None
    data: str | None
    sheet: str | None
    raw: str | None
    frames: str | None
    targets: str | None
    against: str | None
    differences: str | None

    @contextmanager
    def opened(self, allowance: Allowance) -> Iterator[Pictures | None]:
        """Yield the ``Pictures`` that ``replay`` takes and compares, None if no option asks for
        any.

        Comparisons use ``allowance``.  Raises UsageError for options without effect, OSError for a
        file that cannot be opened.
        """
        if self.differences and not self.against:
            raise click.UsageError("--differences needs --against")
        if not (self.png or self.data or self.sheet or self.raw or self.against):
            if self.frames or self.targets:
                needed = "--png, --data, --sheet, --raw or --against"
                raise click.UsageError(f"--frames and --targets need {needed}")
            yield None
            return
        folder, data, sheet, against, differences = (
            Path(path) if path else None
            for path in (self.png, self.data, self.sheet, self.against, self.differences)
        )
        pictures = Pictures(
            folder=folder,
            sheet=sheet,
            frames=parse_frames(self.frames or "0-"),
            all_targets=self.targets == "all",
            judge=Judge(References(against), allowance, differences) if against else None,
            data=data,
        )
        if not self.raw:
            yield pictures
            return
        with byte_output(self.raw) as out:
            yield pictures.with_raw(RawFrames(out))


def _with_pictures(verb: Verb) -> Verb:
    """Give a verb the picture options; it gets them as ``wanted``, a ``PictureOptions``."""

    @wraps(verb)
    def run(*given: Any, **others: Any) -> int | None:
        wanted = PictureOptions(**{name: others.pop(name) for name in PictureOptions._fields})
        return verb(*given, wanted=wanted, **others)

    return with_options(run, *_PICTURES)


@verb_command("replay")
@capture_verb("replay", told=False)
@click.option(
    "--json", "json_path", metavar="PATH", type=OUTPUT, help='Write replay JSON; "-" is stdout.'
)
@_with_pictures
@with_film
@click.option(
    "--timing",
    metavar="MODEL",
    type=TIMING,
    help="instant, fixed[:call=N,packet=N,delivery=N], work[:call=N,delivery=N], scripted:FILE "
    "or seeded:N; default: the capture's model, else instant.",
)
@with_rig
@with_scenario
@click.option("--verify", is_flag=True, help="Exit with 1 if an answer is not as recorded.")
@with_junit
@with_allowance(tolerance=4, share=99.5, across=16)
@with_driver_options
def command(
    opened: Opened,
    json_path: str | None,
    timing: str | None,
    rig: str,
    scenario: str | None,
    verify: bool,
    junit_path: str | None,
    wanted: PictureOptions,
    film: FilmOptions,
    options: Options,
    allowance: Allowance,
) -> int:
    """Run a capture: query answers and pictures.

    Answers are compared with the recorded ones; a fault that matches its recorded answer is fine.
    """
    _check_outputs(json_path, wanted, junit_path, compared=bool(verify or wanted.against))
    model = parse_timing(timing) if timing else None
    capture = opened.capture
    faults, differences = MessageLines("fault"), MessageLines("difference")
    if film.given:
        if json_path or junit_path or scenario or verify or rig != EMULATOR:
            raise _FILM_ALONE
        return _film(capture, film, wanted, options, model)
    judged: list[Judgement] = []
    cases = ReplayCases(capture.name, answers=verify and junit_path is not None)
    with ExitStack() as stack:
        document = stack.enter_context(text_output(json_path)) if json_path else None
        pictures = stack.enter_context(wanted.opened(allowance))
        advance = stack.enter_context(progress_through("replay", opened.file))
        tally = replay(
            capture,
            rig=_staged(scenario, rig, options, model) or _opened_rig(rig, stack),
            timing=model,
            options=options,
            document=document,
            pictures=pictures,
            watcher=cases.watcher(
                fault=lambda error: faults.show(str(error)),
                difference=lambda found: differences.show(f"{capture.name}: {found}"),
                record=advance,
                judgement=lambda found: judged.append(found.judgement),
            ),
        )
    faults.close()
    differences.close()
    if pictures is not None and pictures.raw is not None:
        say(_raw_summary(pictures.raw))
    say(_summary(capture.name, tally))
    if junit_path:
        cases.close(tally, pictures.judge if pictures else None, whole=not wanted.frames)
    write_junit(junit_path, f"dp2emu replay {capture.name}", cases.rows)
    # Messages come in this order: damage of the file, losses, comparison of pictures.
    return worst(
        _code(capture.name, tally, verify=verify),
        _report_losses(capture),
        _report_judgements(judged, pictures, wanted),
    )


def _check_outputs(
    json_path: str | None, wanted: PictureOptions, junit_path: str | None, *, compared: bool
) -> None:
    """Raise click.UsageError for outputs that exclude each other, or have nothing to tell."""
    if [json_path, wanted.raw, junit_path].count("-") > 1:
        raise click.UsageError("only one of --json, --raw and --junit can go to standard output")
    if junit_path and not compared:
        raise click.UsageError("--junit needs --verify or --against")


_FILM_ALONE = click.UsageError(
    "--draws, --at, --every and --strip go with --png, --frames, --timing and engines only"
)


def _film(
    capture: Recording,
    film: FilmOptions,
    wanted: PictureOptions,
    options: Options,
    model: Timing | None,
) -> int:
    """Play a capture event by event and write the pictures of events; returns the exit code.

    Raises click.UsageError if other pictures are asked for as well.
    """
    if any(wanted._replace(png=None, frames=None)):
        raise _FILM_ALONE
    faults = MessageLines("fault")
    watcher = Watcher(fault=lambda error: faults.show(str(error)))
    tally = film.played(capture, wanted.png, wanted.frames, options, model, watcher)
    faults.close()
    say(_summary(capture.name, tally))
    found = worst(_code(capture.name, tally, verify=False), _report_losses(capture))
    if tally.pictures:
        return found
    complain(f"{capture.name}: no picture: no chosen event writes what has one")
    return worst(found, UNUSABLE)


def _staged(path: str | None, rig: str, options: Options, model: Timing | None) -> Rig | None:
    """An emulated driver that undergoes the scenario in file ``path``; None without a path.

    Raises UsageError if ``rig`` is not the emulator.
    """
    if path is None:
        return None
    if rig != EMULATOR:
        raise click.UsageError("only the emulator has scenarios")
    from dp2emu.scenario import load_scenario

    return load_scenario(path).driver(options, model)


def _opened_rig(spec: str, stack: ExitStack) -> Rig | None:
    """The rig of ``spec``, to be closed by ``stack``; None for the emulator, the default."""
    if spec == EMULATOR:
        return None
    from dp2emu.rig.spec import using_rig

    return stack.enter_context(using_rig(spec, limits=given_limits()))


def _report_losses(capture: Recording) -> int:
    """Report what the import of a trace could not express, and return the exit code."""
    losses = getattr(capture, "losses", None)
    return FINE if losses is None else report_losses(capture.name, losses)


def _report_judgements(
    judged: list[Judgement], pictures: Pictures | None, wanted: PictureOptions
) -> int:
    """Print the comparisons with reference pictures, and return the exit code.

    A reference without a picture differs, unless only some frames are wanted; that no picture
    could be compared at all is an error.
    """
    if pictures is None or pictures.judge is None:
        return FINE
    judge, unreferenced = pictures.judge, MessageLines("unreferenced picture")
    rows = judged + ([] if wanted.frames else judge.missing())
    if rows:
        show_judgements(rows, judge.allowance, sys.stderr)
    for name in judge.unreferenced:
        unreferenced.show(f"{wanted.against}: no reference for {name}")
    unreferenced.close()
    if not judged:
        taken = _count(len(judge.unreferenced), "picture")
        complain(f"{wanted.against}: nothing to compare: {taken} taken, none with a reference")
        return UNUSABLE
    return FINE if all(row.within for row in rows) else DIFFERS


def _code(name: str, tally: Tally, *, verify: bool) -> int:
    if tally.damage is not None:
        complain(str(tally.damage))
    unverified = verify and not (tally.compared or tally.observed)
    if unverified:
        complain(f"{name}: nothing to verify: no answer is recorded")
    return worst(
        UNUSABLE if unverified else FINE,
        UNUSABLE if tally.damage else FINE,
        FAULTS if tally.faults else FINE,
        DIFFERS if verify and (tally.different or tally.observed_different) else FINE,
    )


def _raw_summary(raw: RawFrames) -> str:
    """The parameters of raw video that an encoder needs."""
    frames = _count(raw.frames, "raw frame")
    return f"{frames}, rgb24, {raw.width}x{raw.height}" if raw.frames else frames


def _summary(name: str, tally: Tally) -> str:
    called = tally.calls or not tally.entries
    # An import has no recorded answers but observations of its program.
    total, different = tally.compared + tally.observed, tally.different + tally.observed_different
    noun = "observations" if tally.observed and not tally.compared else "answers"
    parts = [
        _count(tally.calls, "call") if called else "",
        _count(tally.entries, "call") + " of the 10/11 interface" if tally.entries else "",
        f"{total - different} of {total} {noun} as recorded",
        f"{tally.answered} of {tally.issued} queries answered" if tally.issued or called else "",
        _count(tally.pictures, "picture") if tally.pictures else "",
        _count(tally.data, "file") + " of data" if tally.data else "",
        f"{tally.unreferenced} without a reference" if tally.unreferenced else "",
        _count(tally.faults, "fault"),
        f"{tally.known_faults} as recorded" if tally.known_faults else "",
        f"{tally.time:,} ticks ({tally.timing})",
    ]
    return f"{name}: " + ", ".join(part for part in parts if part)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"

"""``dp2emu replay``."""

from __future__ import annotations

import sys
from contextlib import ExitStack

import click

from dp2emu.cli.allowances import show_judgements, with_allowance
from dp2emu.cli.captures import PATH, Opened, capture_verb
from dp2emu.cli.limiting import given_limits
from dp2emu.cli.losses import tell_losses
from dp2emu.cli.outcome import DIFFERS, FAULTS, FINE, UNUSABLE, complain, say, worst
from dp2emu.cli.pictures import Wanted, with_pictures
from dp2emu.cli.progress import progress_through
from dp2emu.cli.readings import EMULATOR, with_readings, with_rig, with_scenario
from dp2emu.cli.streams import text_output
from dp2emu.diff import Allowance, Judgement
from dp2emu.dp2.options import Options
from dp2emu.gpu.device.timing import Timing, parse_timing
from dp2emu.replay import Pictures, RawFrames, Recording, Tally, Watcher, replay
from dp2emu.rig import Rig

_LINES = 20
"""Faults, and differences, that get a line of their own."""


@click.command("replay")
@capture_verb(text=True, trace="imported")
@click.option(
    "--json", "json_path", metavar="PATH", type=PATH, help='Write replay JSON; "-" is stdout.'
)
@with_pictures
@click.option(
    "--timing",
    metavar="MODEL",
    help="instant, fixed[:call=N,packet=N,delivery=N], work[:call=N,delivery=N], scripted:FILE "
    "or seeded:N; default: what the capture says, else instant.",
)
@with_rig
@with_scenario
@click.option("--verify", is_flag=True, help="Exit with 1 if an answer is not as recorded.")
@with_allowance(tolerance=4, share=99.5, across=16)
@with_readings
def command(
    opened: Opened,
    json_path: str | None,
    timing: str | None,
    rig: str,
    scenario: str | None,
    verify: bool,
    wanted: Wanted,
    options: Options,
    allowance: Allowance,
) -> int:
    """Run a capture: query answers and pictures.

    Answers are compared with the recorded ones; faults that were recorded just so are fine.
    """
    _refuse_clashes(opened, json_path, wanted)
    model = parse_timing(timing) if timing else None
    capture = opened.capture
    faults, differences = _Lines("fault"), _Lines("difference")
    judged: list[Judgement] = []
    with ExitStack() as stack:
        document = stack.enter_context(text_output(json_path)) if json_path else None
        pictures = stack.enter_context(wanted.opened(allowance))
        advance = stack.enter_context(progress_through(opened.file))
        chosen = _staged(scenario, rig, options, model) or _used(rig, stack)
        tally = replay(
            capture,
            rig=chosen,
            timing=model,
            options=options,
            document=document,
            pictures=pictures,
            watcher=Watcher(
                fault=lambda error: faults.show(str(error)),
                difference=lambda found: differences.show(f"{capture.name}: {found}"),
                record=advance,
                judgement=lambda found: judged.append(found.judgement),
            ),
        )
    for lines in (faults, differences):
        lines.close()
    if pictures is not None and pictures.raw is not None:
        say(_raw_summary(pictures.raw))
    say(_summary(capture.name, tally))
    return worst(_code(tally, verify=verify), _lost(capture), _unlike(judged, pictures, wanted))


def _staged(path: str | None, rig: str, options: Options, model: Timing | None) -> Rig | None:
    """The emulator in a scenario, None without one.  Raises UsageError for another rig in it."""
    if path is None:
        return None
    if rig != EMULATOR:
        raise click.UsageError("only the emulator has scenarios")
    from dp2emu.scenario import load_scenario

    return load_scenario(path).driver(options, model)


def _used(spec: str, stack: ExitStack) -> Rig | None:
    """The rig of that name, None for the emulator, which needs none of what others do."""
    if spec == EMULATOR:
        return None
    from dp2emu.rig.spec import using_rig

    return stack.enter_context(using_rig(spec, limits=given_limits()))


def _refuse_clashes(opened: Opened, json_path: str | None, wanted: Wanted) -> None:
    """Raise UsageError for outputs that would destroy the capture, or mix."""
    if json_path == wanted.raw == "-":
        raise click.UsageError("--json and --raw cannot both go to standard output")
    for option, path in (("--json", json_path or "-"), *wanted.files):
        if path != "-" and opened.comes_from(path):
            raise click.UsageError(f"{option} would overwrite the capture")


class _Lines:
    """The first few things of a sort; the rest is only counted.  Mutable."""

    def __init__(self, noun: str) -> None:
        self._noun = noun
        self._shown = 0

    def show(self, line: str) -> None:
        self._shown += 1
        if self._shown <= _LINES:
            complain(line)

    def close(self) -> None:
        if self._shown > _LINES:
            complain(f"and {self._shown - _LINES} more {self._noun}s")


def _lost(capture: Recording) -> int:
    """Of a trace, what could not be expressed is told; the exit code."""
    losses = getattr(capture, "losses", None)
    return FINE if losses is None else tell_losses(capture.name, losses)


def _unlike(judged: list[Judgement], pictures: Pictures | None, wanted: Wanted) -> int:
    """How pictures compare with their references, as a table; the exit code.

    A reference that no picture was found for is as bad as one that differs, unless only some
    frames are wanted.
    """
    if pictures is None or pictures.judge is None:
        return FINE
    rows = judged + ([] if wanted.frames else pictures.judge.missing())
    show_judgements(rows, pictures.judge.allowance, sys.stderr)
    return FINE if all(row.within for row in rows) else DIFFERS


def _code(tally: Tally, *, verify: bool) -> int:
    if tally.damage is not None:
        complain(str(tally.damage))
    return worst(
        UNUSABLE if tally.damage else FINE,
        FAULTS if tally.faults else FINE,
        DIFFERS if verify and (tally.different or tally.observed_different) else FINE,
    )


def _raw_summary(raw: RawFrames) -> str:
    """What an encoder must be told."""
    frames = _count(raw.frames, "raw frame")
    return f"{frames}, rgb24, {raw.width}x{raw.height}" if raw.frames else frames


def _summary(name: str, tally: Tally) -> str:
    called = tally.calls or not tally.entries
    parts = [
        _count(tally.calls, "call") if called else "",
        _count(tally.entries, "call") + " of the 10/11 interface" if tally.entries else "",
        _as_recorded(tally),
        f"{tally.answered} of {tally.issued} queries answered" if tally.issued or called else "",
        _count(tally.pictures, "picture") if tally.pictures else "",
        _count(tally.faults, "fault"),
        f"{tally.known_faults} as recorded" if tally.known_faults else "",
        f"{tally.time:,} ticks ({tally.timing})",
    ]
    return f"{name}: " + ", ".join(part for part in parts if part)


def _as_recorded(tally: Tally) -> str:
    """Of answers; of an import there are none, and its program's observations count instead."""
    total, different = tally.compared + tally.observed, tally.different + tally.observed_different
    noun = "observations" if tally.observed and not tally.compared else "answers"
    return f"{total - different} of {total} {noun} as recorded"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"

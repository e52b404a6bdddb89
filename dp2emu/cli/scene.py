"""The verb ``dp2emu scene``: play scene files of Direct3D 9, 10 and 11."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from dp2emu.cli.captures import with_limits
from dp2emu.cli.file_kinds import check_file
from dp2emu.cli.number_range import IntRange
from dp2emu.cli.options import with_driver_options, with_scenario, with_timing
from dp2emu.cli.outcome import FAULTS, FINE, complain, outcome_of, say, worst
from dp2emu.cli.paths import INPUT, OUTPUT, verb_command
from dp2emu.dp2.options import Options
from dp2emu.gpu.device.timing import Timing
from dp2emu.runtime.session import COMMAND_BYTES
from dp2emu.scenario import load_scenario
from dp2emu.scene import SceneResult, play_scene


@verb_command("scene")
@click.argument("scenes", metavar="SCENE...", type=INPUT, nargs=-1, required=True)
@click.option("--out", metavar="DIR", type=OUTPUT, required=True, help="Folder for the results.")
@click.option(
    "--capture", metavar="FILE", type=OUTPUT, help="Save the session as a capture; one scene only."
)
@with_timing
@click.option(
    "--command-bytes", metavar="N", type=IntRange(64, 1 << 24), default=COMMAND_BYTES,
    show_default=True, help="Size of the command buffer; a smaller one leads to more calls.",
)  # fmt: skip
@with_scenario
@with_limits
@with_driver_options
def command(
    scenes: tuple[str, ...],
    out: str,
    capture: str | None,
    timing: Timing | None,
    command_bytes: int,
    scenario: str | None,
    options: Options,
) -> int:
    """Play scene files of Direct3D 9, 10 and 11.

    Writes DIR/CATEGORY/NAME[.LABEL].png and DIR/CATEGORY/NAME.json for each scene, DIR/NAME... for
    one of Direct3D 10 or 11.  A scene that needs an unsupported feature is reported, and the
    others still run.
    """
    if capture and len(scenes) > 1:
        raise click.UsageError("--capture takes one scene")
    play = partial(
        play_scene,
        out=Path(out),
        capture=capture,
        timing=timing,
        options=options,
        command_bytes=command_bytes,
        scenario=load_scenario(scenario) if scenario else None,
    )
    return worst(*(outcome_of(partial(_play, path, play)) for path in scenes))


def _play(path: str, play: Callable[[str], SceneResult]) -> int:
    check_file("scene", path)
    result = play(path)
    for problem in result.problems:
        complain(f"{path}: {problem}")
    say(f"{path}: {len(result.files)} files, {len(result.queries)} query results")
    return FAULTS if result.problems else FINE

"""The verb ``dp2emu pixel``: list the draws that wrote a pixel."""

from __future__ import annotations

import click

from dp2emu.cli.captures import Opened, capture_verb
from dp2emu.cli.options import with_driver_options, with_timing
from dp2emu.cli.outcome import FAULTS, FINE, complain, say
from dp2emu.cli.paths import verb_command
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.options import Options
from dp2emu.gpu.device.timing import parse_timing
from dp2emu.replay import Watcher, replay
from dp2emu.taps import Drawn, Taps


@verb_command("pixel")
@capture_verb("pixel")
@click.option(
    "--at", nargs=2, type=click.IntRange(0, 65535), required=True, help="Column and row."
)
@with_timing
@with_driver_options
def command(opened: Opened, at: tuple[int, int], timing: str | None, options: Options) -> int:
    """List the draws that wrote a pixel: at least one of its samples passed all tests."""
    driver = Driver(parse_timing(timing) if timing else None, options)
    taps = Taps(driver.gpu)
    faults = Watcher(fault=lambda error: complain(str(error)))
    tally = replay(opened.capture, rig=driver, watcher=faults)
    for drawn in taps.history(*at):
        click.echo(_line(drawn, at))
    say(f"{len(taps.draws)} draws were executed")
    return FAULTS if tally.faults else FINE


def _line(drawn: Drawn, at: tuple[int, int]) -> str:
    packet = drawn.packet
    targets = [each.handle or each.serial for each in packet.output.colors if each]
    depth = ["depth"] if packet.output.depth else []
    return (
        f"draw {drawn.number} at {drawn.time} ticks: {drawn.times(*at)} of its {drawn.count} "
        f"samples, {packet.input.count} {packet.input.topology.name}, "
        f"surfaces {' '.join(map(str, [*filter(None, targets), *depth]))}"
    )

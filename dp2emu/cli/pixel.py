"""``dp2emu pixel``."""

from __future__ import annotations

import click

from dp2emu.cli.captures import Opened, capture_verb
from dp2emu.cli.outcome import FAULTS, FINE, complain, say
from dp2emu.cli.readings import with_readings
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.options import Options
from dp2emu.gpu.device.timing import parse_timing
from dp2emu.replay import Watcher, replay
from dp2emu.taps import Drawn, Taps


@click.command("pixel")
@capture_verb(text=True, trace="imported")
@click.option(
    "--at", nargs=2, type=click.IntRange(0, 65535), required=True, help="Column and row."
)
@click.option("--timing", metavar="MODEL", help="Timing model (see replay); default: instant.")
@with_readings
def command(opened: Opened, at: tuple[int, int], timing: str | None, options: Options) -> int:
    """List the draws that made a pixel: those of which samples of it passed all tests."""
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
    targets = [
        *(each.handle for each in packet.output.colors if each),
        packet.output.depth and "depth",
    ]
    return (
        f"draw {drawn.number} at {drawn.time} ticks: {drawn.times(*at)} of its {drawn.count} "
        f"samples, {packet.input.count} {packet.input.topology.name}, "
        f"surfaces {' '.join(str(each) for each in targets if each)}"
    )

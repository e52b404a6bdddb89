"""The verb ``dp2emu pixel``: the history of a pixel."""

from __future__ import annotations

import json
import shlex

import click

from dp2emu.cli.captures import Opened, capture_verb
from dp2emu.cli.number_range import IntRange
from dp2emu.cli.options import with_driver_options, with_timing
from dp2emu.cli.paths import Once, verb_command
from dp2emu.cli.streams import text_output
from dp2emu.dp2.options import Options
from dp2emu.explain.address import MEANING, parse_address
from dp2emu.explain.pixel_history import Pixel, history_of
from dp2emu.explain.pixel_text import lines_of
from dp2emu.gpu.device.timing import Timing
from dp2emu.replay import Watcher

_COORDINATE = IntRange(0, 65535)
_NUMBER = IntRange(0, (1 << 63) - 1)


@verb_command("pixel", more=MEANING)
@capture_verb("pixel")
@click.argument("x", type=_COORDINATE)
@click.argument("y", type=_COORDINATE)
@click.option(
    "--target", metavar="HANDLE", type=_NUMBER,
    help="Surface, by default the one that is shown last.",
)  # fmt: skip
@click.option("--subresource", type=_COORDINATE, default=0, help="Level, face or slice; 0.")
@click.option("--sample", type=IntRange(0, 7), help="One sample of a multisampled target.")
@click.option("--at", cls=Once, metavar="EVENT", help="Only the history until this event.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")
@with_timing
@with_driver_options
def command(
    opened: Opened,
    x: int,
    y: int,
    target: int | None,
    subresource: int,
    sample: int | None,
    at: str | None,
    as_json: bool,
    timing: Timing | None,
    options: Options,
) -> None:
    """Print the history of pixel X, Y: the events that touched it, and each fragment with the
    reason why it is there or not.
    """
    pixel = Pixel(x, y, target, subresource, sample, None if at is None else parse_address(at))
    once = target is not None and at is None
    history = history_of(
        opened.capture if once else opened.repeated,
        pixel,
        options=options,
        timing=timing,
        watcher=Watcher(fault=opened.faults.note),
    )
    name = shlex.quote(str(getattr(opened.file, "name", "FILE")))
    lines = [json.dumps(history.document())] if as_json else lines_of(history, name)
    with text_output("-") as out:
        out.writelines(f"{line}\n" for line in lines)

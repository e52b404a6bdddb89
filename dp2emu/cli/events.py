"""The verb ``dp2emu events``: list the events of a capture."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence

import click

from dp2emu.cli.captures import Opened, capture_verb
from dp2emu.cli.options import with_driver_options, with_timing
from dp2emu.cli.paths import verb_command
from dp2emu.cli.streams import text_output
from dp2emu.dp2.options import Options
from dp2emu.explain.events import Event
from dp2emu.explain.listing import chosen, parse_condition, row_of, tab_separated, table
from dp2emu.explain.playback import events_of
from dp2emu.gpu.device.timing import Timing
from dp2emu.replay import Watcher


def _json_lines(events: Iterable[Event]) -> Iterator[str]:
    return (json.dumps(row_of(event)) for event in events)


_FORMS: dict[str, Callable[[Sequence[Event]], Iterator[str]]] = {
    "tsv": tab_separated, "jsonl": _json_lines,
}  # fmt: skip


@verb_command("events")
@capture_verb("events")
@click.option("--tsv", "form", flag_value="tsv", help="Print tab-separated values.")
@click.option("--jsonl", "form", flag_value="jsonl", help="Print a JSON object for each event.")
@click.option(
    "--filter", "conditions", metavar="CONDITION", multiple=True,
    help="Only events with this property, such as kind=draw, pixels>100, targets=2 or "
    "name~INDEXED (a part of the text); several are combined.",
)  # fmt: skip
@with_timing
@with_driver_options
def command(
    opened: Opened,
    form: str | None,
    conditions: tuple[str, ...],
    timing: Timing | None,
    options: Options,
) -> None:
    """List the events of a capture: everything that changes what can be seen.

    An event has an address that each verb understands: its number (E12), its place (7:3, which is
    call and token, or 7), its API call in the trace (@456), or the end of a frame (frame 2).
    """
    wanted = [parse_condition(text) for text in conditions]
    watcher = Watcher(fault=opened.faults.note)
    played = events_of(opened.capture, options=options, timing=timing, watcher=watcher)
    events = chosen(played, wanted)
    filtered = {condition.name for condition in wanted}
    lines = table(events, filtered) if form is None else _FORMS[form](events)
    with text_output("-") as out:
        out.writelines(f"{line}\n" for line in lines)

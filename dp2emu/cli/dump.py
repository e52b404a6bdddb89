"""The verb ``dp2emu dump``: show a capture as text, or its tokens as JSON lines."""

from __future__ import annotations

import click

from dp2emu.capture.apitrace.text import dump_trace
from dp2emu.capture.apitrace.trace import Trace
from dp2emu.cli.captures import Opened, capture_verb
from dp2emu.cli.outcome import FINE, UNUSABLE, complain
from dp2emu.cli.paths import OUTPUT, verb_command
from dp2emu.cli.streams import text_output
from dp2emu.dp2.parsers import CONSTRUCT, WALK
from dp2emu.errors import CaptureError
from dp2emu.text.conversion import dump_containers, dump_jsonl, dump_text


def _dump_calls(
    trace: Trace, *, with_bytes: bool, places: bool, jsonl: bool, parser: str, output: str
) -> int:  # fmt: skip
    if with_bytes or places or jsonl or parser != WALK:
        what = "--hex, --places, --jsonl and --parser show tokens; a trace of API calls has none"
        raise click.UsageError(what)
    with text_output(output) as out:
        dump_trace(trace, out)
    return _code(trace.damage)


@verb_command("dump")
@capture_verb("dump", trace=_dump_calls, told=False)
@click.option("--hex", "with_bytes", is_flag=True, help="Show the bytes beside the fields.")
@click.option(
    "--places", is_flag=True, help="Show the address of each token, such as 1:6, as a comment."
)
@click.option(
    "--jsonl", is_flag=True, help="Print a JSON object for each token and each other record."
)
@click.option(
    "--parser", type=click.Choice([WALK, CONSTRUCT]), default=WALK, show_default=True,
    help="Decoder; construct shows calls and answers only, with all fields that it reads.",
)  # fmt: skip
@click.option(
    "-o", "--output", metavar="FILE", type=OUTPUT, default="-", help='By default "-", stdout.'
)
def command(
    opened: Opened, with_bytes: bool, places: bool, jsonl: bool, parser: str, output: str
) -> int:  # fmt: skip
    """Show a capture as text, or its tokens as JSON lines.

    The text assembles back to the same capture, byte for byte, unless --parser construct is given.
    FILE may also be an apitrace trace: its calls are shown in the format of apitrace dump.
    """
    if with_bytes and (jsonl or parser != WALK):
        raise click.UsageError("--hex belongs to text of the walk, not to --jsonl or construct")
    if places and (with_bytes or jsonl or parser != WALK):
        raise click.UsageError("--places belongs to text of the walk without --hex")
    capture = opened.stored
    with text_output(output) as out:
        if parser == CONSTRUCT:
            dump_containers(capture, out, jsonl=jsonl)
        elif jsonl:
            dump_jsonl(capture, out)
        else:
            dump_text(capture, out, hex=with_bytes, places=places)
    return _code(capture.damage)


def _code(damage: CaptureError | None) -> int:
    if damage is None:
        return FINE
    complain(str(damage))
    return UNUSABLE

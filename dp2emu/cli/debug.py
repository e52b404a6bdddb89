"""The verb ``dp2emu debug``: step through the shader of a pixel, vertex, primitive or thread."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import TextIO

import click

from dp2emu.cli.captures import Opened, capture_verb
from dp2emu.cli.number_range import IntRange
from dp2emu.cli.options import with_driver_options, with_timing
from dp2emu.cli.paths import verb_command
from dp2emu.cli.streams import text_input, text_output
from dp2emu.dp2.options import Options
from dp2emu.errors import UsageError
from dp2emu.explain.address import MEANING, parse_address
from dp2emu.explain.lane_play import LANES, Lane, trace_event
from dp2emu.explain.lanes import Chosen
from dp2emu.explain.prompt import Prompt
from dp2emu.explain.shader_trace import SCHEMA, ShaderTrace
from dp2emu.explain.stepping import parse_condition
from dp2emu.explain.trace_text import heading, origin_lines, trace_lines
from dp2emu.gpu.device.timing import Timing
from dp2emu.replay import Watcher

PROMPT = "> "
LONGEST = 4096
"""Most characters of a command line."""


@verb_command("debug", more=MEANING)
@capture_verb("debug")
@click.argument("event")
@click.argument("what", type=click.Choice([*LANES]))
@click.argument("numbers", type=IntRange(0, (1 << 32) - 1), nargs=-1)
@click.option("--sample", type=IntRange(0, 31), help="Sample of the pixel.")
@click.option("--primitive", type=IntRange(0), help="Primitive that covers the pixel.")
@click.option("--instance", type=IntRange(0), help="Instance of the draw.")
@click.option(
    "--break",
    "breaks",
    metavar="CONDITION",
    multiple=True,
    help="Stop where a condition such as 'r0.x > 1' begins to hold.",
)
@click.option(
    "--watch",
    "watches",
    metavar="REGISTER",
    multiple=True,
    help="Stop after a write of a register.",
)
@click.option("--nan", "form", flag_value="nan", help="Show where a NaN or infinity first arises.")
@click.option("--all", "form", flag_value="all", help="Print all steps.")
@click.option("--json", "form", flag_value="json", help="Print a JSON object with all steps.")
@with_timing
@with_driver_options
def command(
    opened: Opened,
    event: str,
    what: str,
    numbers: tuple[int, ...],
    sample: int | None,
    primitive: int | None,
    instance: int | None,
    breaks: tuple[str, ...],
    watches: tuple[str, ...],
    form: str | None,
    timing: Timing | None,
    options: Options,
) -> None:
    """Step through a shader of an event: "pixel X Y", "vertex N", "primitive N" or "thread X Y Z".

    Without --nan, --all and --json commands are read from standard input; "help" lists them.
    FILE "-" needs one of these options.
    """
    if form is None and opened.file is None:
        raise click.UsageError(
            "commands come from standard input, so FILE - needs --nan, --all or --json"
        )
    for text in breaks:
        parse_condition(text)
    traces = trace_event(
        opened.capture,
        parse_address(event),
        Lane(what, numbers, Chosen(sample, primitive, instance)),
        options=options,
        timing=timing,
        watcher=Watcher(fault=opened.faults.note),
    )
    with text_output("-") as out:
        if form is None:
            _converse(Prompt(traces), breaks, watches, out)
        else:
            out.writelines(f"{line}\n" for line in _FORMS[form](traces))


def _converse(prompt: Prompt, breaks: Sequence[str], watches: Sequence[str], out: TextIO) -> None:
    """Answer the lines of standard input; a prompt is shown on a terminal only."""
    out.writelines(f"{line}\n" for line in prompt.start(breaks, watches))
    with text_input("-") as lines:
        shown = PROMPT if lines.isatty() else ""
        while not prompt.ended:
            out.write(shown)
            out.flush()
            line = _line(lines)
            if not line:
                break
            out.writelines(f"{answer}\n" for answer in prompt.answer(line))


def _line(lines: TextIO) -> str:
    """The next command, empty at the end.  Raises UsageError for bytes that are no text."""
    try:
        return lines.readline(LONGEST)
    except UnicodeDecodeError:
        raise UsageError("the commands are not UTF-8 text", stream="-") from None


def _json(traces: Sequence[ShaderTrace]) -> Iterator[str]:
    yield json.dumps({"schema": SCHEMA, "traces": [each.document() for each in traces]}, indent=1)


def _all(traces: Sequence[ShaderTrace]) -> Iterator[str]:
    return (line for each in traces for line in trace_lines(each))


def _origins(traces: Sequence[ShaderTrace]) -> Iterator[str]:
    for each in traces:
        yield heading(each)
        yield from origin_lines(each)


_FORMS: dict[str, Callable[[Sequence[ShaderTrace]], Iterator[str]]] = {
    "json": _json, "all": _all, "nan": _origins,
}  # fmt: skip

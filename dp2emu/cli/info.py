"""The verb ``dp2emu info``: summarize the content of a capture."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

import click

from dp2emu.capture import Capture
from dp2emu.capture.apitrace import Trace
from dp2emu.cli.captures import Opened, capture_verb
from dp2emu.cli.outcome import FINE, UNUSABLE, complain
from dp2emu.cli.paths import verb_command
from dp2emu.cli.streams import text_output
from dp2emu.info import info, info_text, trace_info, trace_info_text


def _trace(trace: Trace, *, as_json: bool, tokens: bool) -> int:
    if tokens:
        raise click.UsageError("--tokens: a trace of API calls has none")
    return _report(trace_info(trace), as_json, trace_info_text)


@verb_command("info")
@capture_verb("info", trace=_trace, told=False)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
@click.option(
    "--tokens", is_flag=True, help="Count tokens and functions too; reads the whole capture."
)
def command(opened: Opened, as_json: bool, tokens: bool) -> int:
    """Summarize the content of a capture.

    The numbers of large captures come from their index, without reading records.  FILE may also be
    an apitrace trace: its calls are counted.
    """
    return _report(info(cast(Capture, opened.stored), tokens=tokens), as_json, info_text)


def _report(facts: dict[str, Any], as_json: bool, as_text: Callable[[dict[str, Any]], str]) -> int:
    with text_output("-") as out:
        out.write(json.dumps(facts, indent=1) + "\n" if as_json else as_text(facts))
    if facts["damage"]:
        complain(facts["damage"])
        return UNUSABLE
    return FINE

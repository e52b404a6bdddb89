"""What the verbs ``last-writer`` and ``readers`` have in common: arguments, playback, output."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

import click

from dp2emu.cli.captures import Opened, Verb, with_options
from dp2emu.cli.options import with_driver_options, with_timing
from dp2emu.cli.paths import Once
from dp2emu.cli.streams import text_output
from dp2emu.dp2.options import Options
from dp2emu.explain.address import parse_address
from dp2emu.explain.writers import Answer, accesses_to, parse_range, parse_resource
from dp2emu.gpu.device.timing import Timing

_OPTIONS: tuple[Any, ...] = (
    click.argument("resource"),
    click.argument("bytes", metavar="[RANGE]", required=False),
    click.option(
        "--at", cls=Once, metavar="EVENT", help="Up to this event; default: the whole capture."
    ),
    click.option("--json", "as_json", is_flag=True, help="Print a JSON object."),
)


def accesses_verb(
    document: Callable[[Answer], dict[str, Any]], lines: Callable[[Answer], Iterator[str]]
) -> Callable[[Callable[..., object]], Verb]:
    """Decorator that makes a function a verb that prints accesses to a resource, as the JSON
    ``document`` or as ``lines``; only its docstring counts.
    """

    def decorate(described: Callable[..., object]) -> Verb:
        @wraps(described)
        def run(
            opened: Opened, resource: str, bytes: str | None, at: str | None, as_json: bool,
            timing: Timing | None, options: Options,
        ) -> None:  # fmt: skip
            answer = accesses_to(
                opened.capture,
                parse_resource(resource),
                None if bytes is None else parse_range(bytes),
                at=None if at is None else parse_address(at),
                options=options,
                timing=timing,
                fault=opened.faults.note,
            )
            with text_output("-") as out:
                if as_json:
                    out.write(json.dumps(document(answer)) + "\n")
                else:
                    out.writelines(f"{line}\n" for line in lines(answer))

        return with_options(with_timing(with_driver_options(run)), *_OPTIONS)

    return decorate

"""The option ``--junit``: the results of a verb as JUnit XML."""

from __future__ import annotations

from collections.abc import Iterable

import click

from dp2emu.cli.paths import OUTPUT
from dp2emu.cli.streams import byte_output
from dp2emu.junit import CaseResult, junit

with_junit = click.option(
    "--junit",
    "junit_path",
    metavar="PATH",
    type=OUTPUT,
    help='Write the results as JUnit XML; "-" is stdout.',
)
"""Decorator that gives a verb the option ``--junit``, a path for ``write_junit``."""


def write_junit(
    path: str | None, name: str, cases: Iterable[CaseResult], **properties: object
) -> None:
    """Write the results ``cases`` of ``name``; nothing without a ``path``.  Raises OSError."""
    if path is not None:
        with byte_output(path) as out:
            out.write(junit(name, cases, properties))

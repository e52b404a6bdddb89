"""The choices of the emulated driver, and of what runs its programs, as switches."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from dp2emu.cli.limiting import given_limits
from dp2emu.cli.outcome import say
from dp2emu.dp2.options import Options
from dp2emu.shader.engines import ENGINES, JIT, can_compile

Verb = Callable[..., int | None]

_STRICT = click.option(
    "--strict",
    is_flag=True,
    help="Fail calls for what a tolerant driver lets pass; responses start at dwCommandOffset.",
)
_WRAP = click.option(
    "--wrap-occlusion",
    is_flag=True,
    help="Occlusion counts beyond 32 bits wrap; by default they saturate.",
)
_ENGINE = click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default=JIT,
    show_default=True,
    help="What draws: NumPy, machine code, or both with an error where they differ.",
)
_THREADS = click.option(
    "--threads",
    type=click.IntRange(min=0),
    default=0,
    help="Threads that draw, with an engine that compiles; 0, the default: one a processor.",
)


def with_readings(verb: Verb) -> Verb:
    """Give a verb the switches; it gets them as ``options``."""

    @wraps(verb)
    def run(
        *given: Any, strict: bool, wrap_occlusion: bool, engine: str, threads: int, **others: Any
    ) -> int | None:
        if engine == JIT and not can_compile():
            say("no llvmlite here: the reference engine draws")
        options = Options(
            strict=strict, wrap_occlusion=wrap_occlusion, engine=engine, threads=threads,
            limits=given_limits(),
        )  # fmt: skip
        return verb(*given, options=options, **others)

    decorated: Verb = _STRICT(_WRAP(_ENGINE(_THREADS(run))))
    return decorated


EMULATOR = "emulator"
"""The rig that is driven unless another is named."""

with_rig = click.option(
    "--rig",
    metavar="SPEC",
    default=EMULATOR,
    show_default=True,
    help="What is driven: emulator, native:LIBRARY, pipe:COMMAND, recorded:CAPTURE, or NAME:ARG "
    "of a rig that is installed.",
)
"""Gives a verb the name of a rig, for ``rig.spec``."""

with_scenario = click.option(
    "--scenario",
    metavar="FILE",
    help="What happens besides: timing, buffers, deliveries, lost calls; a TOML or JSON file.",
)
"""Gives a verb the path of a scenario, for ``scenario.load_scenario``."""

"""Options that several verbs have: rig, scenario, timing, and the emulator's settings."""

from __future__ import annotations

from functools import wraps
from typing import Any

import click

from dp2emu.cli.captures import Verb, given_limits, with_options
from dp2emu.cli.number_range import IntRange
from dp2emu.cli.outcome import say
from dp2emu.cli.paths import INPUT, Specification
from dp2emu.dp2.options import Options
from dp2emu.shader.engines import ENGINES, JIT, can_compile

_DRIVER = (
    click.option(
        "--strict", is_flag=True,
        help="Fail calls that a tolerant driver accepts; responses start at dwCommandOffset.",
    ),
    click.option(
        "--wrap-occlusion", is_flag=True,
        help="Occlusion counts beyond 32 bits wrap; by default they saturate.",
    ),
    click.option(
        "--engine", type=click.Choice(ENGINES), default=JIT, show_default=True,
        help="Rendering by NumPy, by machine code, or by both with an error where they differ.",
    ),
    click.option(
        "--threads", type=IntRange(min=0), default=0,
        help="Rendering threads of an engine that compiles; 0, the default: one a processor.",
    ),
)  # fmt: skip


def with_driver_options(verb: Verb) -> Verb:
    """Give a verb the options of the emulated driver, as the argument ``options``."""

    @wraps(verb)
    def run(
        *given: Any, strict: bool, wrap_occlusion: bool, engine: str, threads: int, **others: Any
    ) -> int | None:
        if engine == JIT and not can_compile():
            say("llvmlite is not installed: the reference engine draws")
        options = Options(
            strict=strict, wrap_occlusion=wrap_occlusion, engine=engine, threads=threads,
            limits=given_limits(),
        )  # fmt: skip
        return verb(*given, options=options, **others)

    return with_options(run, *_DRIVER)


EMULATOR = "emulator"
"""Default of ``--rig``: the specification of the emulated driver."""

with_rig = click.option(
    "--rig", metavar="SPEC", type=Specification("native", "recorded"), default=EMULATOR,
    show_default=True,
    help="Driver under test: emulator, native:LIBRARY, pipe:COMMAND, recorded:CAPTURE, or "
    "NAME:ARG of an installed rig.",
)  # fmt: skip
"""Decorator that gives a verb the option ``--rig``, a specification as in ``rig.spec``."""

with_scenario = click.option(
    "--scenario", metavar="FILE", type=INPUT,
    help="Machine events: timing, buffers, deliveries, lost calls; a TOML or JSON file.",
)  # fmt: skip
"""Decorator that gives a verb the option ``--scenario``, a path for ``scenario.load_scenario``."""

TIMING = Specification("scripted")
"""Type of an option that selects a timing model."""

_TIMING = click.option(
    "--timing", metavar="MODEL", type=TIMING,
    help="Timing model (see replay); default: the capture's model, else instant.",
)  # fmt: skip


def with_timing(verb: Verb) -> Verb:
    """Give a verb the option ``--timing``, as the argument ``timing``, None by default."""

    @wraps(verb)
    def run(*given: Any, timing: str | None, **others: Any) -> int | None:
        # Imported here: most replays have no timing model.
        from dp2emu.gpu.device.timing import parse_timing

        return verb(*given, timing=parse_timing(timing) if timing else None, **others)

    return with_options(run, _TIMING)

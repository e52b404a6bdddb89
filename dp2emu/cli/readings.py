"""The choices of the emulated driver as command line switches."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from dp2emu.dp2.options import Options

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


def with_readings(verb: Verb) -> Verb:
    """Give a verb the switches; it gets them as ``options``."""

    @wraps(verb)
    def run(*given: Any, strict: bool, wrap_occlusion: bool, **others: Any) -> int | None:
        options = Options(strict=strict, wrap_occlusion=wrap_occlusion)
        return verb(*given, options=options, **others)

    decorated: Verb = _STRICT(_WRAP(run))
    return decorated

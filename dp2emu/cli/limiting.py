"""``--limit``: bounds on what a file may ask for, for the verbs that open one."""

from __future__ import annotations

from collections.abc import Callable

import click

from dp2emu.limits import Limits, parse_limits

Verb = Callable[..., int | None]

_KEY = "dp2emu.limits"


def _keep(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> None:
    context.meta[_KEY] = parse_limits(given)


def with_limits(verb: Verb) -> Verb:
    """Give a verb the option; what it says is ``given_limits()`` while the verb runs."""
    decorated: Verb = click.option(
        "--limit", "limits", metavar="NAME=VALUE", multiple=True, callback=_keep,
        expose_value=False,
        help="Bound on what a file may ask for, such as call_pixels=1000000; docs/security.rst "
        "lists all.",
    )(verb)  # fmt: skip
    return decorated


def given_limits() -> Limits:
    """What ``--limit`` said, in a verb that has it; otherwise what holds without."""
    context = click.get_current_context(silent=True)
    found = None if context is None else context.meta.get(_KEY)
    return found if isinstance(found, Limits) else Limits()

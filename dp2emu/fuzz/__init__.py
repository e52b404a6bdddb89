"""Fuzzing: inputs by the grammar of the token table, targets that promise something of each.

``dp2emu fuzz`` is a shell around ``campaign``; findings are captures that ``replay`` opens.
Nothing is imported here: what watches coverage must come before what it watches.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from dp2emu.fuzz.target import Target


@cache
def targets() -> dict[str, Target]:
    """Every target by name."""
    from dp2emu.fuzz import driving, files, streams, traces

    found = (*streams.TARGETS, *driving.TARGETS, *files.TARGETS, *traces.TARGETS)
    return {target.name: target for target in found}


def target_named(name: str) -> Target:
    """A target of ours, or one of somebody else's, as ``module:name``.

    Raises UsageError for what is none.
    """
    from dp2emu.errors import UsageError

    module, colon, attribute = name.partition(":")
    try:
        found = getattr(import_module(module), attribute) if colon else targets()[name]
    except (ImportError, AttributeError, KeyError):
        what = f"target {name!r} is none of {', '.join(targets())}, nor MODULE:NAME of another"
        raise UsageError(what) from None
    return cast("Target", found)

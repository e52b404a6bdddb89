"""Fuzzing: inputs made by the grammar of the token table, and targets that check a property.

``dp2emu fuzz`` calls ``campaign``; findings are captures that ``replay`` opens.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from dp2emu.fuzz.target import Target

TARGET_MODULES = (
    "dp2emu.fuzz.streams",
    "dp2emu.fuzz.files",
    "dp2emu.fuzz.draws",
    "dp2emu.fuzz.draws10",
    "dp2emu.fuzz.programs10",
)

RIGS = "dp2emu.fuzz.rigs"
"""Module of the targets that are drivers; their names go on with a setting as JSON."""


@cache
def targets() -> dict[str, Target]:
    """Return all fuzzing targets by name."""
    found = [target for name in TARGET_MODULES for target in import_module(name).TARGETS]
    return {target.name: target for target in found}


def target_named(name: str) -> Target:
    """Return a target of dp2emu, or a user's target, named ``module:name``, or a driver's target
    (``dp2emu.fuzz.rigs.RigSetting.target``).

    Raises UsageError if there is none of that name.
    """
    from dp2emu.errors import UsageError

    module, colon, attribute = name.partition(":")
    try:
        if module == RIGS:
            return cast("Target", import_module(module).target_of(attribute))
        found = getattr(import_module(module), attribute) if colon else targets()[name]
    except (ImportError, AttributeError, KeyError):
        known = ", ".join(targets())
        what = f"no target {name!r}: it has to be one of {known}, or MODULE:NAME of your own"
        raise UsageError(what) from None
    return cast("Target", found)

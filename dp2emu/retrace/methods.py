"""The table of methods: what is done for each function and method of the traced interfaces."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from dp2emu.retrace.losses import Inexpressible

if TYPE_CHECKING:
    from dp2emu.retrace.arguments import Arguments
    from dp2emu.retrace.program import Program

Action = Callable[["Program", "Arguments"], None]


class Method(msgspec.Struct, frozen=True):
    """A row: the function's name, what is done, and that in words.

    ``act`` None means that nothing reaches the driver.  Calls that failed in the program are
    passed over, since they had no effect, unless the row takes them (``failures``).
    """

    name: str
    act: Callable[..., None] | None
    says: str
    failures: bool = False


METHODS: dict[str, Method] = {}
"""Every method known, by ``Interface::Method``, and every plain function."""


def method(*names: str, failures: bool = False) -> Callable[[Action], Action]:
    """Register a function as what is done for methods; its docstring says so in words."""

    def register(act: Action) -> Action:
        for name in names:
            _add(Method(name, act, " ".join((act.__doc__ or "").split()), failures))
        return act

    return register


def inert(interface: str, methods: str, says: str) -> None:
    """Methods, separated by spaces, of which nothing reaches the driver, and why."""
    for name in methods.split():
        _add(Method(f"{interface}::{name}" if interface else name, None, says))


def lost(interface: str, methods: str, reason: str) -> None:
    """Methods that cannot be expressed: every call of them is a loss."""

    def lose(program: Program, call: Arguments) -> None:
        raise Inexpressible(reason)

    for name in methods.split():
        _add(Method(f"{interface}::{name}" if interface else name, lose, f"A loss: {reason}."))


def _add(row: Method) -> None:
    assert row.name not in METHODS, f"{row.name} has two rows"
    METHODS[row.name] = row

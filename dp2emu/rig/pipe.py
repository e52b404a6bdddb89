"""Drivers behind a command: 32-bit programs, Wine, guests on a serial line."""

from __future__ import annotations

import shlex

from dp2emu.errors import UsageError
from dp2emu.limits import Limits
from dp2emu.rig.served import TIMEOUT, Served


class PipeRig(Served):
    """A driver behind a command that speaks records over its standard streams (``wire``).

    ``command`` is split as a shell would do it.  ``dp2stub.h`` makes such a command of a driver;
    the command may as well be what connects to a guest's serial line.  Raises UsageError for a
    command that cannot be split.

    >>> PipeRig("wine mydriver.exe").alive
    False
    """

    def __init__(
        self, command: str, *, timeout: float = TIMEOUT, limits: Limits | None = None
    ) -> None:
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise UsageError(f"command {command!r}: {error}") from None
        if not words:
            raise UsageError("a pipe needs a command")
        super().__init__(words, timeout=timeout, limits=limits)

"""What of a trace could not be expressed, told on standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dp2emu.cli.outcome import FAULTS, FINE, complain, say

if TYPE_CHECKING:
    from dp2emu.retrace import Losses


def tell_losses(name: str, losses: Losses) -> int:
    """Say what of a trace could not be expressed; the exit code."""
    for line in losses.lines():
        complain(f"{name}: {line}")
    said = f"{losses.total} calls not expressed" if losses else "every call read is expressed"
    say(f"{name}: {said}")
    return FAULTS if losses else FINE

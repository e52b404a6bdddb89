"""Causes of findings: a token whose length a driver mistakes has many consequences.

A driver that goes on at the wrong byte reads the middle of a token as the next one, and fails, or
does anything, somewhere behind.  The cause is found by calls of single tokens, each with invalid
tokens behind it: the driver has to stop at the first of these.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from dp2emu.capture.records import Called, ContextCreated, ContextDestroyed, Record
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.call import Answer, Call
from dp2emu.dp2.table import Since, Token
from dp2emu.fuzz.rig_inputs import COMMANDS, CONTEXT, TARGET
from dp2emu.fuzz.rig_judge import Seen
from dp2emu.fuzz.target import Deviation

_INVALID = b"\xff\0\0\0"
"""A token with an opcode that no version assigns."""
_BEHIND = 64
"""Invalid tokens behind the one that is tried: a driver that thinks it longer stops at a later."""
_ALIGNMENT = 4
_MOST = 48
"""Maximum number of tokens of an input that are tried."""


class LengthTrial(msgspec.Struct, frozen=True):
    """A call of a single token, of ``size`` bytes with the header; none in the first trial."""

    call: Call
    token: Token | None
    count: int
    size: int

    def records(self, ddi: Since) -> list[Record]:
        """Return the call in a context of its own."""
        return [
            ContextCreated(CONTEXT, int(ddi), TARGET),
            Called(self.call),
            ContextDestroyed(CONTEXT),
        ]

    def stop(self, answer: Answer) -> int | None:
        """Return how many bytes behind the start the driver stopped; None if it did not."""
        if answer.ddrval == HResult.D3D_OK:
            return None
        return answer.dwErrorOffset - self.call.dwCommandOffset


def length_trials(calls: Sequence[Seen], ddi: Since) -> list[LengthTrial]:
    """Return the trials of the tokens of calls, behind one of an invalid token."""
    trials: dict[bytes, LengthTrial] = {}
    for one in calls:
        data = bytes(one.call.dwCommandOffset) + (one.call.commands or b"")
        for at, token, count, _, stop in one.found.commands:
            if Since.of(token.op) <= ddi and len(trials) < _MOST:
                trial = _trial(one.call, at, data[at:stop])
                trials.setdefault(data[at:stop], LengthTrial(trial, token, count, stop - at))
    if not trials:
        return []
    return [LengthTrial(_trial(calls[0].call, 0, b""), None, 0, 0), *trials.values()]


def _trial(call: Call, at: int, token: bytes) -> Call:
    buffer, room = max(COMMANDS.items(), key=lambda each: each[1])
    start = at % _ALIGNMENT
    behind = min(_BEHIND, (room - start - len(token)) // len(_INVALID))
    commands = token + _INVALID * max(behind, 0)
    return replace(
        call, lpDDCommands=buffer, dwCommandOffset=start, dwCommandLength=len(commands),
        commands=commands,
    )  # fmt: skip


class WrongLength(Deviation):
    """A token whose length the driver mistakes; ``records`` show it."""

    def __init__(self, trial: LengthTrial, ddi: Since, stop: int | None, first: str) -> None:
        assert trial.token is not None
        name = trial.token.name
        where = "does not stop" if stop is None else f"goes on {stop} bytes behind its start"
        super().__init__(
            f"the length of {name}",
            f"{name} with a count of {trial.count} has {trial.size} bytes; the driver {where}, "
            f"where {_BEHIND} invalid tokens follow.\nIt was noticed by: {first}",
        )
        self.records = trial.records(ddi)


def wrong_length(
    trials: Sequence[LengthTrial], answers: Sequence[Answer], ddi: Since, first: str
) -> WrongLength | None:
    """Return the first trial that shows a wrong length; None if none does, or if the driver does
    not stop at an invalid token either.  ``first`` says what was noticed.
    """
    for trial, answer in zip(trials, answers, strict=True):
        stop = trial.stop(answer)
        if trial.token is None and stop != 0:
            return None
        if trial.token is None or stop in (0, trial.size):
            continue
        if stop is not None and stop < trial.size and answer.ddrval != _UNPARSED:
            continue  # an item of the token is refused
        return WrongLength(trial, ddi, stop, first)
    return None


_UNPARSED = HResult.D3DERR_COMMAND_UNPARSED

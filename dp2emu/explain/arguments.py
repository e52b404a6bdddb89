"""Arguments: the token, or call of the Direct3D 10/11 DDI, at the place of a state, as text."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from dp2emu.capture.records import Called, EntryCalled
from dp2emu.dp2.states.inspect import Facts
from dp2emu.replay.player import Recording
from dp2emu.text.commands import token_texts
from dp2emu.text.contexts import Contexts
from dp2emu.text.entries import entry_lines

_SHOWN = 64
"""Maximum number of lines of a token or call."""


def arguments_of(capture: Recording, facts: Facts) -> Facts:
    """Return the name and the arguments of the token that executes next in a state, or of the call
    of the DDI after which it is; {} for a place behind all tokens.

    The records of the capture are read up to the place, and not played.
    """
    calls, contexts, token = 0, Contexts(), facts["token"]
    wanted = EntryCalled if token is None else Called
    for record in capture.records():
        contexts.see(record)
        if isinstance(record, wanted):
            if calls == facts["call"]:
                return _facts(_lines(record, contexts, token))
            calls += 1
        if isinstance(record, EntryCalled):
            contexts.handles.see(record)
    return {}


def _lines(
    record: Called | EntryCalled, contexts: Contexts, token: int | None
) -> Iterable[str]:  # fmt: skip
    if isinstance(record, EntryCalled):
        return entry_lines(record, contexts.handles)
    assert token is not None
    return next(islice(token_texts(record.call, contexts), token, None), [])


def _facts(lines: Iterable[str]) -> Facts:
    """The lines by the names before their colons, those without one by number."""
    facts: Facts = {}
    for number, line in enumerate(islice(lines, _SHOWN)):
        key, colon, value = line.partition(": ")
        if not number:
            facts["name"] = value or line
        elif colon:
            facts[key] = f"{facts[key]} {value}" if key in facts else value
        else:
            facts[str(number)] = line.removeprefix("- ")
    return facts

"""The state of a device in the middle of a capture: replayed up to there, then looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from dp2emu.capture.records import Called
from dp2emu.dp2.call import Call
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.options import Options
from dp2emu.dp2.states.inspect import Facts, facts_of
from dp2emu.dp2.table import Token
from dp2emu.errors import Dp2Error, UsageError
from dp2emu.escaping import plain
from dp2emu.records import dataclass
from dp2emu.replay import Watcher
from dp2emu.replay.document import Document
from dp2emu.replay.player import Player, Recording

SCHEMA = 1
"""Version of the state document; keys are only ever added within it."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A point in a capture: behind call ``call``, or before its token ``token``; from 0."""

    call: int
    token: int | None = None


def moment(text: str) -> Moment:
    """``"12"`` or ``"12:3"``.  Raises UsageError for anything else."""
    call, colon, token = text.partition(":")
    numbers = [call, token] if colon else [call]
    if not all(part.isascii() and part.isdecimal() and len(part) <= 18 for part in numbers):
        raise UsageError(f"{text!r} is neither CALL nor CALL:TOKEN")
    return Moment(*map(int, numbers))


def snapshot(
    capture: Recording,
    at: Moment,
    *,
    options: Options | None = None,
    fault: Callable[[Dp2Error], None] | None = None,
) -> Facts:
    """All state of the context that makes call ``at.call``, at that moment, as a JSON object.

    ``fault`` is told of calls that fail on the way.  Raises UsageError if the capture has no such
    call, or the call has no such token or does not get that far.
    """
    options = options or Options()
    driver = Driver(options=options)
    watcher = Watcher(fault=fault) if fault is not None else Watcher()
    with Document(None) as page:
        player = Player(driver, capture.name, page, watcher, options)
        look = _Look(driver, player, at)
        driver.command_taps.append(look.tap)
        for record in capture.records():
            player.perform(record)
            if isinstance(record, Called) and player.tally.calls > at.call:
                facts = look.result(record.call)
                player.close(None)
                return facts
    what = f"{player.tally.calls} calls" + (f", then {capture.damage}" if capture.damage else "")
    raise UsageError(f"no call {at.call}: the capture has {what}", stream=capture.name)


class _Look:
    """Waits for the moment.  Mutable: it counts the tokens of the call."""

    def __init__(self, driver: Driver, player: Player, at: Moment) -> None:
        self._driver = driver
        self._player = player
        self._at = at
        self._tokens = 0
        self._found: Facts | None = None

    def tap(self, call: Call, offset: int, token: Token, count: int) -> None:
        """A token is about to execute."""
        if self._player.tally.calls != self._at.call:
            return
        if self._tokens == self._at.token:
            place = {"offset": offset, "next": token.name}
            self._found = self._document(call, place)
        self._tokens += 1

    def result(self, call: Call) -> Facts:
        """What was seen; the state behind the call if no token was asked for."""
        if self._at.token is None:
            return self._document(call, {})
        if self._found is None:
            what = f"call {self._at.call} executes {self._tokens} tokens"
            raise UsageError(f"no token {self._at.token}: {what}")
        return self._found

    def _document(self, call: Call, place: Facts) -> Facts:
        context = self._driver.context(call.dwhContext)
        if context is None:
            raise UsageError(f"call {self._at.call} names context {call.dwhContext}, of which "
                             "there is none")  # fmt: skip
        where = {"schema": SCHEMA, "call": self._at.call, "token": self._at.token}
        return {**where, **place, **facts_of(context)}


def snapshot_text(facts: Facts) -> str:
    """The same for reading: a line a fact, indented below what it belongs to."""
    return "".join(f"{plain(line)}\n" for line in _lines(facts, ""))


def _lines(value: Facts, indent: str) -> Iterator[str]:
    for key, entry in value.items():
        if isinstance(entry, dict) and entry:
            yield f"{indent}{key}"
            yield from _lines(entry, indent + "  ")
        elif isinstance(entry, list) and any(isinstance(part, dict) for part in entry):
            yield f"{indent}{key}"
            yield from _lines({str(i): part for i, part in enumerate(entry)}, indent + "  ")
        elif isinstance(entry, str) and "\n" in entry:
            yield f"{indent}{key}"
            yield from (f"{indent}  {line}" for line in entry.splitlines())
        else:
            yield f"{indent}{key}: {_shown(entry)}"


def _shown(value: Any) -> str:
    if value is None or value == {}:
        return "none"
    if isinstance(value, list):
        return " ".join(map(_shown, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and value >= 0x10000:
        return f"{value:#010x}"
    return str(value)

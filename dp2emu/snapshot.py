"""Snapshots of a device's state at any call or token of a capture, taken during a replay."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from dp2emu.capture.records import Called, EntryCalled
from dp2emu.ddi10.device import Device
from dp2emu.dp2.call import Call
from dp2emu.dp2.context import Context
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.options import Options
from dp2emu.dp2.states.inspect import Facts, facts_of
from dp2emu.dp2.table import Token
from dp2emu.errors import Absent, Dp2Error, UsageError
from dp2emu.escaping import plain
from dp2emu.places import working_at
from dp2emu.replay import Watcher
from dp2emu.replay.document import Document
from dp2emu.replay.player import Player, Recording
from dp2emu.text.remarks import fact_name

SCHEMA = 1
"""Version of the state document; within a version keys may be added, never removed."""


Visit = Callable[[Context | Device], Facts]
"""Type of a function that looks at a context or device and returns more facts about it."""


class Moment(msgspec.Struct, frozen=True):
    """A point in a capture: after call ``call``, or before its token ``token``; from 0."""

    call: int
    token: int | None = None


def snapshot(
    capture: Recording,
    at: Moment,
    *,
    options: Options | None = None,
    fault: Callable[[Dp2Error], None] | None = None,
    visit: Visit | None = None,
) -> Facts:
    """The whole state of one context or device at the moment ``at``, as a JSON object.

    Call ``at.call`` names the context or, in a capture that begins with functions of the Direct3D
    10/11 interface, the device; a function of the adapter names the device used last.  ``fault``
    is called with the errors of earlier calls.  ``visit`` is called with the context or device,
    after all work issued before the moment, and adds what it returns.  Raises UsageError if the
    capture has no such call, or the call has no such token or fails before it.
    """
    options = options or Options()
    driver = Driver(options=options)
    watcher = Watcher(fault=fault) if fault is not None else Watcher()
    with Document(None) as page:
        player = Player(driver, capture, page, watcher, options)
        observer = _Observer(driver, player, at, visit)
        driver.command_taps.append(observer.tap)
        device = 0
        with working_at(player.place):
            for record in capture.records():
                player.perform(record)
                if isinstance(record, Called) and player.tally.calls > at.call:
                    facts = observer.result(record.call)
                    player.close(None)
                    return facts
                if isinstance(record, EntryCalled) and not player.tally.calls:
                    device = _device_of(record, device)
                    if player.tally.entries > at.call:
                        facts = _device_facts(player, record, device, at, visit)
                        player.close(None)
                        return facts
    count = player.tally.calls or player.tally.entries
    what = f"{count} calls" + (f", then {capture.damage}" if capture.damage else "")
    raise Absent(f"no call {at.call}: the capture has {what}", stream=capture.name)


def _device_of(record: EntryCalled, last: int) -> int:
    """The device of a call; of a function of the adapter the one that it created, or ``last``."""
    if record.device:
        return record.device
    created = [each for each in record.arguments if isinstance(each, int)]
    return created[0] if record.entry == "Adapter.CreateDevice" and created else last


def _device_facts(
    player: Player, record: EntryCalled, device: int, at: Moment, visit: Visit | None
) -> Facts:
    if at.token is not None:
        what = f"call {at.call} is {record.entry}, a function of the Direct3D 10/11 interface"
        raise Absent(f"no token {at.token}: {what}")
    assert player.facade is not None
    try:
        facts = player.facade.facts(device)
    except UsageError as error:
        raise Absent(f"call {at.call}: {error.what}") from None
    where = {"schema": SCHEMA, "call": at.call, "token": None, "entry": record.entry}
    more = {} if visit is None else visit(player.facade.finished(device))
    return {**where, "device": device, **facts, **more}


class _Observer:
    """Records the state at moment ``at``, by a function that is called before each token.

    Mutable: it counts the tokens of the moment's call.
    """

    def __init__(self, driver: Driver, player: Player, at: Moment, visit: Visit | None) -> None:
        self._driver = driver
        self._player = player
        self._at = at
        self._visit = visit
        self._tokens = 0
        self._found: Facts | None = None

    def tap(self, call: Call, offset: int, token: Token, count: int) -> None:
        """Record the state if the token that is about to execute is the wanted one."""
        if self._player.tally.calls != self._at.call:
            return
        if self._tokens == self._at.token:
            place = {"offset": offset, "next": token.name}
            self._found = self._document(call, place)
        self._tokens += 1

    def result(self, call: Call) -> Facts:
        """The state recorded by ``tap``, or if the moment has no token, the state now, after the
        call.

        Raises UsageError if the call has fewer tokens.
        """
        if self._at.token is None:
            return self._document(call, {})
        if self._found is None:
            number = self._at.call
            there = f"call {number} executes {_tokens_text(self._tokens)}"
            what = f"{there}; {number} means after the last"
            raise Absent(f"no token {self._at.token}: {what}")
        return self._found

    def _document(self, call: Call, place: Facts) -> Facts:
        context = self._driver.context(call.dwhContext)
        if context is None:
            raise Absent(f"call {self._at.call}: context {call.dwhContext} does not exist")
        where = {"schema": SCHEMA, "call": self._at.call, "token": self._at.token}
        facts = {**where, **place, **facts_of(context)}
        if self._visit is None:
            return facts
        self._driver.gpu.finish()
        return facts | self._visit(context)


def _tokens_text(count: int) -> str:
    """The numbers of ``count`` tokens: ``tokens 0 to 16``."""
    return f"tokens 0 to {count - 1}" if count > 1 else "token 0" if count else "no token"


def snapshot_text(facts: Facts) -> str:
    """A snapshot as text: a line for each fact, nested facts indented."""
    return "".join(f"{plain(line)}\n" for line in _lines(facts, (), facts.get("interface")))


def _lines(value: Facts, above: tuple[str, ...], interface: Any) -> Iterator[str]:
    indent = "  " * len(above)
    for key, entry in value.items():
        path = (*above, key)
        if isinstance(entry, dict) and entry:
            yield f"{indent}{key}"
            yield from _lines(entry, path, interface)
        elif isinstance(entry, list) and any(isinstance(part, dict | list) for part in entry):
            yield f"{indent}{key}"
            rows = {str(number): part for number, part in enumerate(entry)}
            yield from _lines(rows, path, interface)
        elif isinstance(entry, str) and "\n" in entry:
            yield f"{indent}{key}"
            yield from (f"{indent}  {line}" for line in entry.splitlines())
        else:
            yield f"{indent}{key}: {shown(entry, path, interface)}"


def shown(value: Any, path: tuple[str, ...] = (), interface: Any = None) -> str:
    """A fact as text: numbers, or ``none``, ``yes`` and ``no``.

    With the ``path`` of keys of a fact, the SDK name of its number follows, if it has one in the
    state's ``interface``.
    """
    if value is None or value == {}:
        return "none"
    if isinstance(value, list):
        return " ".join(map(shown, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    version = interface if isinstance(interface, int) else 9
    name = fact_name(path, value, version) if isinstance(value, int) else None
    text = f"{value:#010x}" if isinstance(value, int) and value >= 0x10000 else str(value)
    return text if name is None else f"{text} ({name})"

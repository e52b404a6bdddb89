"""Setters: the token, or call of the DDI, that set each fact of a state last.

A value that changed at a boundary of tokens or calls was set by the one before the boundary.  One
that stayed may have been set again, which ``state_writes`` tells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from dp2emu.capture.records import Called, EntryCalled, Record
from dp2emu.dp2.call import Call
from dp2emu.dp2.context import Context
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.options import Options
from dp2emu.dp2.states.inspect import Facts, facts_of
from dp2emu.dp2.table import Token
from dp2emu.errors import UsageError
from dp2emu.explain.state_writes import Path, Paths, observe, written_by
from dp2emu.places import working_at
from dp2emu.replay import Watcher
from dp2emu.replay.document import Document
from dp2emu.replay.player import Player, Recording

STEPS = 4096
"""Most tokens and calls between two states whose setters are sought."""

ANSWER = "answer"
"""Name of a setter that is the answer of queries at the end of a call."""

_BEHIND = 1 << 62
"""Number that stands for the end of a call where a token's number is expected."""

Place = tuple[int, int]
"""Type of a boundary: a call, and the token before which it is, or ``_BEHIND``."""

_BEGIN: Place = -1, _BEHIND
"""The boundary before the first call."""


class Setter(NamedTuple):
    """What set a fact: its address, and the name of the token or the function."""

    address: str
    name: str

    def __str__(self) -> str:
        return f"{self.address} {self.name}"


class Setters(NamedTuple):
    """The setters between two states.

    ``changed`` has what last changed a fact, and ``last`` what set it last, with another value or
    the same.  ``written`` are the facts, and groups of facts, that were set at all, in the order
    in which they were set last, with what set them.
    """

    changed: dict[Path, Setter]
    last: dict[Path, Setter]
    written: dict[Path, Setter]


def setters_of(
    capture: Recording,
    before: Facts,
    after: Facts,
    paths: Iterable[Path],
    *,
    options: Options | None = None,
) -> Setters | None:
    """The setters between two states of a capture, of the facts at ``paths`` those that changed
    them.

    The capture is played once from its begin, and these facts are compared at each boundary of
    tokens or calls between the states.  There are none if the states are of different contexts or
    devices, or ``after`` is not the later one; None if more than ``STEPS`` steps are between them.
    """
    if not follows(before, after):
        return Setters({}, {}, {})
    span = _place(before), _place(after)
    values = {path: value_at(before, path) for path in paths}
    return _followed(capture, span, before, values, options)


def follows(before: Facts, after: Facts) -> bool:
    """Whether ``after`` is a later state of the same context or device of a capture."""
    owner = _owner(before)
    later = _place(before) < _place(after)
    return later and bool(owner) and before[owner] == after.get(owner)


class LastSetters:
    """What last set the facts of a state; ``written`` are facts and groups of facts, the last one
    last.
    """

    def __init__(self, written: Mapping[Path, Setter]) -> None:
        self._exact: dict[Path, tuple[int, Setter]] = {}
        self._above: dict[Path, tuple[int, Setter]] = {}
        for order, (path, setter) in enumerate(written.items()):
            self._exact[path] = order, setter
            for length in range(1, len(path) + 1):
                self._above[path[:length]] = order, setter

    def of(self, path: Path) -> Setter | None:
        """What last set a fact, a part of it or a group that has it; None if nothing did."""
        groups = (self._exact.get(path[:length]) for length in range(1, len(path)))
        found = [each for each in (self._above.get(path), *groups) if each is not None]
        return max(found)[1] if found else None


def last_setters(
    capture: Recording, facts: Facts, *, options: Options | None = None
) -> LastSetters:
    """What last set each fact of a state since the begin of its capture.

    The capture is played once, and no facts are compared: those that no token or call of the DDI
    names have no setter, such as what a created object changes.
    """
    found = _followed(capture, (_BEGIN, _place(facts)), facts, {}, options)
    return LastSetters({} if found is None else found.written)


def _followed(
    capture: Recording,
    span: tuple[Place, Place],
    state: Facts,
    values: dict[Path, Any],
    options: Options | None,
) -> Setters | None:
    """Play a capture to the end of a span; returns the setters in it for the context or device of
    ``state``, whose facts begin with ``values``; None if it has more than ``STEPS`` steps.
    """
    options = options or Options()
    driver = Driver(options=options)
    with Document(None) as page:
        player = Player(driver, capture, page, Watcher(), options)
        follower = _Follower(player, driver, span, state, values)
        driver.command_taps.append(follower.tap)
        with working_at(player.place):
            for record in capture.records():
                follower.perform(record)
                if follower.done:
                    break
        player.close(None)
    return None if follower.steps > STEPS else follower.found


def _owner(state: Facts) -> str:
    """The key that has the number of a state's context or device."""
    return next((key for key in ("context", "device") if key in state), "")


def _place(facts: Facts) -> Place:
    return facts["call"], _BEHIND if facts["token"] is None else facts["token"]


def _facts(driver: Driver, player: Player, before: Facts) -> Callable[[], Facts]:
    """A function that returns the state of the context or device of ``before``; {} once it is
    destroyed.
    """

    def of_context() -> Facts:
        context = driver.context(before["context"])
        return {} if context is None else facts_of(context)

    def of_device() -> Facts:
        try:
            return {} if player.facade is None else player.facade.facts(before["device"])
        except UsageError:
            return {}

    return of_context if "context" in before else of_device


class _Follower:
    """Compares facts at the boundaries of a span, and notes which are set.  Mutable: it has the
    values at the last boundary.
    """

    def __init__(
        self,
        player: Player,
        driver: Driver,
        span: tuple[Place, Place],
        state: Facts,
        values: dict[Path, Any],
    ) -> None:
        self._player = player
        self._driver = driver
        self._first, self._last = span
        self._owner: int = state[_owner(state)]
        self._facts = _facts(driver, player, state)
        self._values = values
        self._setter = Setter("", "")
        self._tokens = 0
        self._observed: Context | None = None
        self._noted = Paths()
        self.steps = 0
        self.found = Setters({}, {}, {})

    @property
    def done(self) -> bool:
        """Whether the span is passed, or has too many steps."""
        return self._behind() >= self._last or self.steps > STEPS

    def perform(self, record: Record) -> None:
        """Perform a record; in the span, find what it set."""
        self._tokens = 0
        number = self._behind()[0] + 1
        inside = self._first <= self._behind() < self._last and self._concerns(record)
        if inside:
            self._begin(Setter(str(number), _name(record)))
        self._player.perform(record)
        if inside and isinstance(record, EntryCalled):
            for path in written_by(record):
                self._noted.add(path)
        if inside or isinstance(record, Called):
            self._compare(self._behind())

    def tap(self, call: Call, offset: int, token: Token, count: int) -> None:
        """Find what the last token set; ``token`` executes next."""
        if call.dwhContext != self._owner:
            return
        place = self._player.tally.calls, self._tokens
        self._tokens += 1
        self._compare(place)
        if self._first <= place < self._last:
            self._begin(Setter(f"{place[0]}:{place[1]}", token.name))
            self._observe()

    def _observe(self) -> None:
        """Note what tokens set from now on in the context, which may be a new one."""
        context = self._driver.context(self._owner)
        if context is not None and context is not self._observed:
            self._observed = context
            self.found.written.clear()
            observe(context, self._noted.add)

    def _behind(self) -> Place:
        """The boundary after the last call."""
        tally = self._player.tally
        return (tally.calls or tally.entries) - 1, _BEHIND

    def _concerns(self, record: Record) -> bool:
        """Whether a record is a call that may set facts: none of another context or device."""
        if isinstance(record, Called):
            return record.call.dwhContext == self._owner
        return isinstance(record, EntryCalled) and record.device in (0, self._owner)

    def _begin(self, setter: Setter) -> None:
        self._setter = setter
        self.steps += bool(self._values)

    def _compare(self, place: Place) -> None:
        if not self._first < place <= self._last or self.steps > STEPS:
            return
        found, facts = self.found, self._facts() if self._values else {}
        for path, old in self._values.items():
            new = value_at(facts, path)
            if new != old:
                self._values[path] = new
                late = place[1] == _BEHIND and _answered(path, old, new)
                setter = Setter(str(place[0]), ANSWER) if late else self._setter
                found.changed[path] = found.last[path] = setter
            elif path in self._noted:
                found.last[path] = self._setter
        for path in self._noted:
            found.written.pop(path, None)
            found.written[path] = self._setter
        self._noted.clear()


def _answered(path: Path, old: Any, new: Any) -> bool:
    """Whether a query's progress changed as it does when the driver answers behind all tokens."""
    if path[0] != "queries" or old is None:
        return False
    return (new.get("state") if isinstance(new, dict) else new) == "idle"


def _name(record: Record) -> str:
    """Name of the function of a call."""
    return record.entry if isinstance(record, EntryCalled) else "D3dDrawPrimitives2"


def value_at(facts: Facts, path: Path) -> Any:
    """The fact at a path of keys, None if there is none."""
    value: Any = facts
    for key in path:
        found = members(value)
        value = None if found is None else found.get(key)
    return value


def members(value: Any) -> Mapping[str, Any] | None:
    """The parts of an object, or of a list of objects and nulls, by key; None of another value."""
    if isinstance(value, dict):
        return value
    if isinstance(value, list) and value and all(isinstance(x, dict | None) for x in value):
        return {str(number): each for number, each in enumerate(value)}
    return None

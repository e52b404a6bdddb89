"""Accounts of queries: what counted into an answer, when it began, ended and was visible, in which
response it was delivered, or what it waits for.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from functools import partial
from typing import Any, NamedTuple

import msgspec

from dp2emu.argument_check import checked
from dp2emu.capture import records
from dp2emu.capture.records import Record
from dp2emu.capture.values import Memory
from dp2emu.d3d.dp2structs import Op
from dp2emu.dp2.options import Options
from dp2emu.dp2.queries import KINDS, Window
from dp2emu.dp2.stream import CommandStream
from dp2emu.errors import Absent, Disagreement, Dp2Error, UsageError
from dp2emu.explain.events import Event, EventKind
from dp2emu.explain.playback import Observer, Stage, play
from dp2emu.explain.query_counts import (
    NO_CHANGE,
    NO_PARTS,
    Contribution,
    CounterLog,
    Formula,
    Interval,
    Parts,
    counters_of,
    difference_of,
)
from dp2emu.explain.recorded_answers import GET_DATA, QueryKey, RecordedAnswer, recorded_answers
from dp2emu.gpu.command.packets import BeginQuery, EndQuery, Packet
from dp2emu.gpu.command.queries import Counters, QuerySlot, Report
from dp2emu.gpu.device.timing import FIFO_BASE, Timing
from dp2emu.replay import Watcher
from dp2emu.replay.calls import Performed
from dp2emu.replay.player import Recording
from dp2emu.replay.values import payload_value

DESTROY = "DestroyQuery"

WAITS = 1000
"""Maximum number of waits of an answer that are kept: many queries may wait for many calls."""


class QueryName(NamedTuple):
    """A query: ``context`` and ``query`` id of a D3dDrawPrimitives2 query, or device and number of
    the object of one of Direct3D 10/11 (``ddi``).
    """

    context: int
    query: int
    ddi: bool = False

    @property
    def key(self) -> QueryKey:
        """The query in a recording, which does not name the devices of objects."""
        return QueryKey(self.ddi, 0 if self.ddi else self.context, self.query)

    def __str__(self) -> str:
        noun, owner = ("object", "device") if self.ddi else ("query", "context")
        return f"{noun} {self.query} of {owner} {self.context}"


class State(StrEnum):
    """What became of an answer; a value is its name in tables and JSON."""

    NOT_ENDED = "not_ended"
    """The query began and never ended."""
    SIGNALED = "signaled"
    """The answer is ready, and no response had it."""
    DELIVERED = "delivered"
    SUPERSEDED = "superseded"
    """The query was issued again before the answer was delivered."""
    DELETED = "deleted"
    """The query, its context or its device was destroyed before that."""


class Reason(StrEnum):
    """Why a response did not have an answer."""

    GPU = "gpu"
    """The GPU had not reached the END."""
    LATENCY = "latency"
    """The GPU had, but its report was not visible to the host yet."""
    ROOM = "room"
    """The buffer had no room for the answer."""
    FAILED = "failed"
    """The call failed, and a failed call has no responses."""


class Wait(msgspec.Struct, frozen=True):
    """A call that could have delivered an answer and did not: its number, the tick at which it
    returned, why, and the tick ``until`` which that lasts, None where time does not help.
    """

    call: int
    time: int
    reason: Reason
    until: int | None = None


class Delivery(msgspec.Struct, frozen=True):
    """The response that had an answer: the call, its tick, the byte ``offset`` of the answer's
    record in the response buffer, whose ``size`` is in bytes, and the payload ``data``.

    For Direct3D 10/11 the call is a QueryGetData, or an ``api_call`` of the recorded program that
    repeats one, and ``offset`` is 0.  ``repeated`` is set for an empty call that the replay adds
    where the program waited.
    """

    call: int
    time: int
    offset: int
    size: int
    data: bytes
    repeated: bool = False
    api_call: int | None = None


class Poll(NamedTuple):
    """A call that could have delivered answers: its number, the tick at which it returned, and
    whether it failed.
    """

    call: int
    time: int
    failed: bool = False


class Account(msgspec.Struct):
    """An answer of a query, from its issue to its delivery.  Mutable: the playback updates it.

    ``number`` counts the answers of the query from 0.  ``begin`` is None for a query without
    BEGIN, ``end`` and ``report`` are None for one that has not ended.  ``parts`` are the events
    between them; ``polls`` are all calls that could deliver answers of this kind: those from
    ``first`` to ``stop`` (None: to the last) did not have this one, and those before ``reached``
    came before its END was executed.  ``dropped`` is the call that superseded or deleted the
    query.  ``restarted`` are BEGINs before ``begin`` that had no END.  ``recorded`` is the answer
    in the recording, None if it has none.
    """

    name: QueryName
    number: int
    type: str
    begin: Event | None
    end: Event | None = None
    report: Report | None = None
    parts: Sequence[Contribution] = NO_PARTS
    counted: list[str] = msgspec.field(default_factory=list)
    state: State = State.NOT_ENDED
    delivery: Delivery | None = None
    polls: Sequence[Poll] = ()
    first: int = 0
    reached: int = 0
    stop: int | None = None
    dropped: int | None = None
    formula: Formula | None = None
    restarted: tuple[Event, ...] = ()
    recorded: RecordedAnswer | None = None

    def settle(self, state: State, dropped: int | None = None) -> None:
        """End the waiting for the answer: the next call is none that did not have it."""
        self.state, self.dropped, self.stop = state, dropped, len(self.polls)

    @property
    def waits(self) -> list[Wait]:
        """The first ``WAITS`` calls that did not have the answer."""
        return [self._wait(at) for at in self._waited[:WAITS]]

    @property
    def more_waits(self) -> int:
        """The number of the other calls that did not have it."""
        return max(len(self._waited) - WAITS, 0)

    @property
    def _waited(self) -> range:
        return range(self.first, len(self.polls) if self.stop is None else self.stop)

    def _wait(self, at: int) -> Wait:
        call, time, failed = self.polls[at]
        assert self.end is not None and self.report is not None
        if at < self.reached:
            return Wait(call, time, Reason.GPU, self.end.time)
        if failed:
            return Wait(call, time, Reason.FAILED)
        visible = self.report.visible
        if visible > time:
            return Wait(call, time, Reason.LATENCY, visible)
        return Wait(call, time, Reason.ROOM)

    @property
    def open(self) -> bool:
        """Whether the answer is still to be delivered."""
        return self.state is State.SIGNALED

    @property
    def wanted(self) -> bool:
        """Whether the query has not been issued again, or deleted, since its END."""
        return self.report is not None and self.report.wanted

    @property
    def value(self) -> Any:
        """The answer as a JSON value, None before the END."""
        return None if self.report is None else self._value_of(self._payload)

    @property
    def recorded_value(self) -> Any:
        """The recorded answer as a JSON value, None without one; its bytes in hexadecimal if they
        are not a whole answer.
        """
        return None if self.recorded is None else self._value_of(self.recorded.data)

    @property
    def same(self) -> bool | None:
        """Whether the recorded answer has the bytes of this one, as many as the program asked
        for; None without a recorded one.
        """
        if self.recorded is None:
            return None
        return self._payload.startswith(self.recorded.data)

    @property
    def _payload(self) -> bytes:
        assert self.report is not None and self.formula is not None
        return self.formula.payload(self.report)

    def _value_of(self, data: bytes) -> Any:
        assert self.report is not None and self.formula is not None
        if len(data) != self.formula.layout.size:
            return data.hex(" ", -4)
        if not self.name.ddi:
            return payload_value(self.report.slot.kind, data)
        values = self.formula.layout.unpack(data)
        return values[0] if len(values) == 1 else list(values)

    def counting(self) -> Iterator[tuple[Contribution, dict[str, int]]]:
        """Yield the events that changed a counter of the answer, with these changes."""
        for part in self.parts:
            counts = {name: part.change.count(name) for name in self.counted}
            counts = {name: count for name, count in counts.items() if count}
            if counts:
                yield part, counts


_Source = tuple[bool, int]
"""Where answers come from: (False, context), or (True, object of Direct3D 10/11)."""

Wanted = Callable[[QueryName], bool]


class QueryAccounts(Observer):
    """Keeps an account of each answer of the queries that ``wanted`` selects, in ``accounts``.

    ``answered`` is to be called by the playback's watcher, and ``close`` at its end.  Mutable: it
    grows.
    """

    def __init__(self, options: Options, wanted: Wanted = lambda name: True) -> None:
        self.accounts: list[Account] = []
        self._options = options
        self._wanted = wanted
        self._names: dict[QuerySlot, QueryName | None] = {}
        self._open: dict[QuerySlot, Interval] = {}
        self._logs: dict[int, CounterLog] = {}
        self._numbers: dict[QueryName, int] = {}
        self._restarted: dict[QuerySlot, list[Event]] = {}
        self._polls: dict[_Source, list[Poll]] = {}
        self._due: dict[_Source, dict[int, Account]] = {}
        self._stale: dict[_Source, list[Account]] = {}
        self._newest: dict[QueryKey, Account] = {}
        self._early: dict[QueryKey, RecordedAnswer] = {}
        self._last: Performed | None = None
        self._report: Report | None = None
        self._tapped = False
        self._calls = -1
        self._wrong: Disagreement | None = None

    # Events

    def before(self, event: Event, packet: Packet | None, stage: Stage) -> None:
        """Add what the host changed since the last event to the open intervals."""
        if not self._tapped:
            self._tapped = True
            stage.gpu.report_taps.append(self._reported)
        self._enter(event, before=True)

    def after(self, event: Event, packet: Packet | None, stage: Stage) -> None:
        """Add an event to the open intervals, or begin or end one."""
        if isinstance(packet, BeginQuery | EndQuery):
            self._reissued(event, packet.slot)
        if isinstance(packet, EndQuery):
            self._end(event, packet, stage)
            return
        self._enter(event, before=False)
        if isinstance(packet, BeginQuery) and self._name(packet.slot, event, stage) is not None:
            if packet.slot in self._open:
                dropped = self._open.pop(packet.slot)
                dropped.end()
                if dropped.begin.kind is EventKind.QUERY_BEGIN:
                    self._restarted.setdefault(packet.slot, []).append(dropped.begin)
            log = self._log_of(packet.slot.counters or stage.gpu.counters)
            self._open[packet.slot] = Interval(packet.slot, packet.generation, log, event)

    def _enter(self, event: Event, *, before: bool) -> None:
        """Add a change to the log of each of the counters that an open query observes."""
        for log in self._logs.values():
            if log.users:
                log.enter(event, before=before)

    def _log_of(self, counters: Counters) -> CounterLog:
        log = self._logs.get(id(counters))
        if log is None:
            log = self._logs[id(counters)] = CounterLog(counters)  # which keeps the counters
        return log

    def _reissued(self, event: Event, slot: QuerySlot) -> None:
        """Drop an answer of a Direct3D 10/11 query that was issued again."""
        name = self._names.get(slot)
        for account in self._due_of((True, name.query)) if name is not None and name.ddi else ():
            if not account.wanted:
                account.settle(State.SUPERSEDED, event.call)

    def _reported(self, report: Report) -> None:
        self._report = report

    def _end(self, event: Event, packet: EndQuery, stage: Stage) -> None:
        name, report = self._name(packet.slot, event, stage), self._report
        if name is None or report is None:
            return
        interval = self._open.pop(packet.slot, None)
        parts, found = NO_PARTS, NO_CHANGE
        if interval is not None:
            parts, found = interval.end()
            if interval.generation != packet.generation:
                interval, parts, found = None, NO_PARTS, NO_CHANGE
        account = self._new(name, packet.slot, interval, parts)
        account.end, account.report, account.state = event, report, State.SIGNALED
        assert account.formula is not None
        # Raised at the end: here it would be taken for a failure of the call.
        self._wrong = self._wrong or difference_of(account.formula, report, found)
        account.counted = counters_of(account.formula, report)
        account.recorded = self._early.pop(name.key, None)
        self._newest[name.key] = account
        self._expect(account)

    def _new(
        self, name: QueryName, slot: QuerySlot, interval: Interval | None, parts: Parts
    ) -> Account:
        number = self._numbers.get(name, 0)
        self._numbers[name] = number + 1
        formula = _formula(slot, self._options)
        begin = None if interval is None else interval.begin
        account = Account(
            name, number, formula.name, begin, parts=parts, formula=formula,
            restarted=tuple(self._restarted.pop(slot, ())),
        )  # fmt: skip
        self.accounts.append(account)
        return account

    def _name(self, slot: QuerySlot, event: Event, stage: Stage) -> QueryName | None:
        """The name of a query that is wanted, None for another."""
        if slot not in self._names:
            name = _name_of(slot, event, stage)
            self._names[slot] = name if self._wanted(name) else None
        return self._names[slot]

    # Responses

    def answered(self, performed: Performed) -> None:
        """Note the responses of a D3dDrawPrimitives2 call."""
        source, number = (False, performed.call.dwhContext), performed.number
        answer = performed.answer
        repeated, self._calls, self._last = number == self._calls, number, performed
        due = self._due.get(source, {})
        self._drop(source, performed)
        for response in performed.responses.records if due else ():
            account = due.pop(response.query, None)
            if account is not None and account.open:
                account.settle(State.DELIVERED)
                place = number, answer.time, response.offset, len(answer.response)
                account.delivery = Delivery(*place, response.data, repeated)
        polls = self._polls.setdefault(source, [])
        polls.append(Poll(number, answer.time, performed.error is not None))

    def _drop(self, source: _Source, performed: Performed) -> None:
        """Settle the accounts of queries that a call issued again or deleted."""
        due, stale = self._due.get(source, {}), self._stale.pop(source, [])
        last = _last_tokens(performed) if due or stale else {}
        stale += [due.pop(query) for query in last if query in due and not due[query].wanted]
        for account in stale:
            if not account.open:
                continue
            deleted = last.get(account.name.query) in (Op.DELETEQUERY, Op.CREATEQUERY)
            account.settle(State.DELETED if deleted else State.SUPERSEDED, performed.number)

    def _due_of(self, source: _Source) -> list[Account]:
        """The accounts whose answers a context's responses, or a query's GetData, will have."""
        due = [*self._stale.get(source, ()), *self._due.get(source, {}).values()]
        return [each for each in due if each.open]

    def _expect(self, account: Account) -> None:
        """Expect the answer of an END, and note the calls between its issue and its execution."""
        assert account.end is not None and account.end.call is not None
        name = account.name
        source = (True, name.query) if name.ddi else (False, name.context)
        due, stale = self._due.setdefault(source, {}), self._stale.setdefault(source, [])
        if name.query in due:
            stale.append(due.pop(name.query))
        if account.wanted:
            due[name.query] = account
        else:
            stale.append(account)
        account.polls = polls = self._polls.setdefault(source, [])
        account.first = bisect_left(polls, account.end.call, key=lambda poll: poll.call)
        account.reached = len(polls)

    def performed(self, record: Record, stage: Stage) -> None:
        """Note the end of a context, results of GetData of Direct3D 10/11, and recorded
        answers.
        """
        if isinstance(record, records.ContextDestroyed):
            for account in self._due_of((False, record.context)):
                account.settle(State.DELETED, stage.player.tally.calls)
        elif isinstance(record, records.EntryCalled) and record.entry in (GET_DATA, DESTROY):
            first = record.arguments[0] if record.arguments else None
            if isinstance(first, Memory):
                call = stage.player.tally.entries - 1
                self._got(first.number, call, record.call, stage, gone=record.entry == DESTROY)
        elif isinstance(record, records.Observed) and record.context == 0:
            self._got(record.query, stage.player.tally.entries, record.call, stage)
        last = self._last
        entry = stage.player.tally.entries - 1
        for key, answer in recorded_answers(record, last, entry):
            self._record(key, answer)

    def _record(self, key: QueryKey, answer: RecordedAnswer) -> None:
        """Note a recorded answer of a query; a program may get the same one again."""
        account = self._newest.get(key)
        if account is not None and account.recorded is None:
            account.recorded = answer
        elif not key.ddi and answer.api_call is None:
            # The recorded GPU was faster: here the query's END is not executed yet.
            self._early[key] = answer

    def _got(
        self, query: int, call: int, api_call: int | None, stage: Stage, *, gone: bool = False
    ) -> None:
        """Note what a GetData of an object returned, or with ``gone`` that it was destroyed."""
        source, time, waited = (True, query), stage.gpu.now, not gone
        for account in self._due_of(source):
            waited = False
            if gone or not account.wanted:
                account.settle(State.DELETED if gone else State.SUPERSEDED, call)
                continue
            data = _data_of(query, stage)
            if data is None:
                waited = True
                continue
            account.settle(State.DELIVERED)
            account.delivery = Delivery(call, time, 0, len(data), data, api_call=api_call)
        self._stale.pop(source, None)
        if waited:
            self._polls.setdefault(source, []).append(Poll(call, time))

    def close(self) -> list[Account]:
        """Add the intervals that never ended; returns all accounts.

        Raises Disagreement if an answer does not follow from its events.
        """
        if self._wrong is not None:
            raise self._wrong
        for slot, interval in self._open.items():
            name = self._names[slot]
            since = interval.begin.kind is EventKind.QUERY_BEGIN and _is_since(slot)
            if name is not None and not since:
                self._new(name, slot, interval, interval.end()[0])
        self._open.clear()
        return self.accounts


def _is_since(slot: QuerySlot) -> bool:
    """Whether an interval of a query begins by itself at the previous END."""
    kind = KINDS.get(slot.kind)
    return kind is not None and kind.window is Window.SINCE


def _formula(slot: QuerySlot, options: Options) -> Formula:
    if slot.kind < FIFO_BASE:
        kind = KINDS[slot.kind]
        return Formula(kind.type.sdk, lambda report: kind.values(report, options), kind.layout)
    # Captures of older interfaces should not import the Direct3D 10/11 driver.
    from dp2emu.ddi10.queries.counters import COUNTERS
    from dp2emu.ddi10.queries.query_types import QUERY_TYPES

    number = slot.kind - FIFO_BASE
    row = QUERY_TYPES[number] if number in QUERY_TYPES else COUNTERS[number].kind
    return Formula(row.query.sdk, row.values, row.layout)


def _name_of(slot: QuerySlot, event: Event, stage: Stage) -> QueryName:
    if slot.kind < FIFO_BASE:
        return QueryName(event.origin.device, slot.key)
    facade = stage.player.facade
    number = 0 if facade is None else facade.query_number(event.origin.device, slot)
    return QueryName(event.origin.device, number, True)


def _data_of(query: int, stage: Stage) -> bytes | None:
    """The data of a query of Direct3D 10/11 as the host sees them, None if there are none."""
    facade = stage.player.facade
    try:
        return None if facade is None else facade.get_data(query, wait=False)[1]
    except Dp2Error:
        return None


def _last_tokens(performed: Performed) -> dict[int, int]:
    """The opcode of the last token of a call that concerns a query, by query."""
    return dict(_query_tokens(performed))


def _query_tokens(performed: Performed) -> Iterator[tuple[int, int]]:
    """Yield the query and the opcode of each item of a call's tokens for queries."""
    interface = performed.ledger.interface if performed.ledger else 9
    commands = CommandStream(performed.call, performed.commands)
    for scan in commands.scans(interface):
        for _, token, _, start, end in scan.commands:
            stride = _ITEM_BYTES.get(token.op)
            if stride is not None:
                data = commands.payload(start, end)
                for at in range(0, len(data), stride):
                    yield int.from_bytes(data[at : at + 4], "little"), int(token.op)


_ITEM_BYTES = {Op.CREATEQUERY: 8, Op.ISSUEQUERY: 8, Op.DELETEQUERY: 4}
"""Size in bytes of an item of the query tokens; the first four are the query's id."""


# Questions

_QUERY = re.compile(r"([0-9]{1,18})(?:@([0-9]{1,18})|#([0-9]{1,18}))?")


class Question(msgspec.Struct, frozen=True):
    """A question for answers of ``query``: issued or delivered in ``call``, or answer
    ``number`` of each query of this name; all without either.
    """

    query: int
    call: int | None = None
    number: int | None = None

    def asks_for(self, account: Account) -> bool:
        """Whether the question is for an answer."""
        calls = {
            None if account.end is None else account.end.call,
            None if account.delivery is None else account.delivery.call,
        }
        return (self.call is None or self.call in calls) and (
            self.number is None or self.number == account.number
        )


@checked
def parse_question(text: str) -> Question:
    """The question that a text such as ``5``, ``5@12`` (call) or ``5#0`` (first answer) means.

    Raises UsageError for another text.
    """
    found = _QUERY.fullmatch(text)
    if found is None:
        raise UsageError(
            f"expected a query such as 5, 5@12 (call) or 5#0 (its first answer), got {text!r:.60}"
        )
    call, number = (None if part is None else int(part) for part in found.groups()[1:])
    return Question(int(found[1]), call, number)


class _Creations:
    """The call in which a capture creates the query of a question first, None without one.

    Mutable: it hears what is played.
    """

    def __init__(self, query: int) -> None:
        self.call: int | None = None
        self._query = query
        self._entries = 0

    def answered(self, performed: Performed) -> None:
        """Look at the tokens of a call."""
        if self.call is None and (self._query, Op.CREATEQUERY) in _query_tokens(performed):
            self.call = performed.number

    def record(self, record: Record) -> None:
        """Look at a call of the DDI."""
        if isinstance(record, records.EntryCalled):
            created = record.entry == "CreateQuery" and any(
                isinstance(each, Memory) and each.number == self._query
                for each in record.arguments
            )
            if created and self.call is None:
                self.call = self._entries
            self._entries += 1


@checked
def accounts_of(
    capture: Recording,
    question: Question | None = None,
    *,
    options: Options | None = None,
    timing: Timing | None = None,
    fault: Callable[[Dp2Error], None] = lambda error: None,
) -> list[Account]:
    """Play a capture; returns the accounts of the answers that ``question`` asks for, by default
    of all, in the order in which the queries ended.

    ``fault`` is called with the errors of the replay.  Raises Absent, a UsageError that names the
    queries of the capture, if it has none of them, and Disagreement if an answer does not follow
    from its events.
    """
    options, seen = options or Options(), set[QueryName]()
    observer = QueryAccounts(options, partial(_note, seen, question))
    creations = _Creations(-1 if question is None else question.query)

    def answered(performed: Performed) -> None:
        creations.answered(performed)
        observer.answered(performed)

    watcher = Watcher(fault=fault, answered=answered, record=creations.record)
    play(capture, [observer], options=options, timing=timing, watcher=watcher)
    accounts = observer.close()
    found = [each for each in accounts if question is None or question.asks_for(each)]
    if question is not None and not found:
        raise Absent(_missing(question, accounts, seen, creations.call))
    return found


def _note(seen: set[QueryName], question: Question | None, name: QueryName) -> bool:
    seen.add(name)
    return question is None or name.query == question.query


_NAMED = 16
"""Maximum number of queries that an error names."""


def _missing(
    question: Question, accounts: Sequence[Account], seen: set[QueryName], created: int | None
) -> str:
    if accounts:
        ends = [f"answer #{each.number} ({_ended_at(each)})" for each in accounts[:_NAMED]]
        more = " ..." if len(accounts) > _NAMED else ""
        return f"no such answer: query {question.query} has {', '.join(ends)}{more}"
    if created is not None:
        return f"query {question.query} is created in call {created}, and neither begun nor ended"
    if not seen:
        return "the capture issues no query"
    numbers = sorted({name.query for name in seen})
    more = " ..." if len(numbers) > _NAMED else ""
    known = ", ".join(map(str, numbers[:_NAMED]))
    noun = "queries" if len(numbers) > 1 else "query"
    return f"no query {question.query}: the capture has {noun} {known}{more}"


def _ended_at(account: Account) -> str:
    return "without END" if account.end is None else f"ended in call {account.end.call}"

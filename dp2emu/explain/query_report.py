"""Accounts of queries as text for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import asdict

from dp2emu.explain.events import Event
from dp2emu.explain.query_account import Account, Delivery, Reason, State, Wait
from dp2emu.explain.recorded_answers import RecordedAnswer

SCHEMA = 1
"""Number of the JSON document's form."""

_LISTED = 40
"""Maximum number of events, and of calls, that the text of an answer lists."""


def document(accounts: Iterable[Account]) -> dict[str, Any]:
    """The accounts as a JSON object."""
    return {"schema": SCHEMA, "answers": [row_of(each) for each in accounts]}


def row_of(account: Account) -> dict[str, Any]:
    """The account of an answer as a JSON object."""
    report, delivery = account.report, account.delivery
    return {
        "query": account.name.query,
        "device" if account.name.ddi else "context": account.name.context,
        "number": account.number,
        "type": account.type,
        "state": account.state.value,
        "value": account.value,
        "begin": _place(account.begin),
        "end": _place(account.end),
        "restarted": [_place(each) for each in account.restarted],
        "begun": None if report is None else report.begin.time,
        "ended": None if report is None else report.end.time,
        "visible": None if report is None else report.visible,
        "delivery": None if delivery is None else _delivery(delivery),
        "recorded": None if account.recorded is None else _recorded_row(account),
        "dropped": account.dropped,
        "counted": account.counted,
        "events": [
            {**(_place(part.event) or {}), "before": part.before, "counts": counts}
            for part, counts in account.counting()
        ],
        "waits": [asdict(each) | {"reason": each.reason.value} for each in account.waits],
        "more_waits": account.more_waits,
    }


def _place(event: Event | None) -> dict[str, Any] | None:
    if event is None:
        return None
    return {
        "event": event.address,
        "place": event.place,
        "call": event.call,
        "token": event.token,
        "api_call": event.api_call,
        "frame": event.frame,
        "kind": event.kind.value,
        "name": event.name,
        "time": event.time,
    }


def _delivery(found: Delivery) -> dict[str, Any]:
    return {
        "call": found.call,
        "api_call": found.api_call,
        "time": found.time,
        "offset": found.offset,
        "size": found.size,
        "raw": found.data.hex(),
        "repeated": found.repeated,
    }


def _recorded_row(account: Account) -> dict[str, Any]:
    found = account.recorded
    assert found is not None
    return {
        "call": found.call,
        "api_call": found.api_call,
        "value": account.recorded_value,
        "raw": found.data.hex(),
        "same": account.same,
    }


# Text


def lines(account: Account) -> Iterator[str]:
    """The account of an answer as lines of text."""
    value = "no answer yet" if account.end is None else _shown(account.value)
    yield f"{account.name} ({account.type}), answer {account.number}: {value}"
    dropped = [f"    {event.title}, tick {event.time}" for event in account.restarted]
    yield from _cut(dropped, "  dropped BEGINs, without an END before the next", "BEGINs")
    yield f"  began      {_began(account)}"
    yield f"  ended      {_ended(account)}"
    if account.report is not None:
        yield f"  visible    tick {account.report.visible}"
    yield f"  delivered  {_delivered(account)}"
    if account.recorded is not None:
        yield f"  recorded   {_recorded(account.recorded, account)}"
    yield from _counted(account)
    waits = [f"    {_wait(each)}" for each in account.waits]
    yield from _cut(waits, "  waited", "calls", account.more_waits)


def _began(account: Account) -> str:
    if account.begin is None:
        of = "an empty interval" if account.counted else "one moment"
        return f"no BEGIN: the answer is of {of}"
    time = account.begin.time if account.report is None else account.report.begin.time
    return f"{account.begin.title}, tick {time}"


def _ended(account: Account) -> str:
    if account.end is None or account.report is None:
        return "not in this capture: the answer waits for END"
    return f"{account.end.title}, tick {account.report.end.time}"


def _delivered(account: Account) -> str:
    found = account.delivery
    if found is None:
        return _UNDELIVERED[account.state].format(call=account.dropped)
    if account.name.ddi:
        said = "" if found.api_call is None else f" (API call {found.api_call})"
        return f"GetData in call {found.call}{said}, {found.size} bytes, tick {found.time}"
    empty = "an empty call of the replay behind " if found.repeated else ""
    place = f"byte {found.offset} of the {found.size} bytes of its response buffer"
    return f"{empty}call {found.call}, {place}, tick {found.time}"


def _recorded(found: RecordedAnswer, account: Account) -> str:
    place = f"call {found.call}" if found.api_call is None else f"API call {found.api_call}"
    what = "the same answer" if account.same else "another answer"
    return f"{_shown(account.recorded_value)} in {place}, {what}"


_UNDELIVERED = {
    State.NOT_ENDED: "never: the query has not ended",
    State.SIGNALED: "never: no later call fetched the answer",
    State.SUPERSEDED: "never: the query was issued again in call {call}",
    State.DELETED: "never: the query was deleted in call {call}",
}


def _counted(account: Account) -> Iterator[str]:
    if not account.counted:
        if account.end is not None:
            yield "  counted    nothing: the answer is no count"
        return
    found = list(account.counting())
    totals = dict.fromkeys(account.counted, 0)
    for _, counts in found:
        for name, count in counts.items():
            totals[name] += count
    summed = ", ".join(f"{count} {name}" for name, count in totals.items())
    yield f"  counted    {summed}"
    rows = [
        f"    {'before ' if part.before else ''}{part.event.title}: "
        + ", ".join(f"{count} {name}" for name, count in counts.items())
        for part, counts in found
    ]
    yield from _cut(rows, "", "events")


_REASONS = {
    Reason.GPU: "the GPU had not reached the END",
    Reason.LATENCY: "the report was not visible yet",
    Reason.ROOM: "the response buffer had no room",
    Reason.FAILED: "the call failed, which returns no responses",
}


def _wait(wait: Wait) -> str:
    until = "" if wait.until is None else f" until tick {wait.until}"
    return f"not in call {wait.call}, tick {wait.time}: {_REASONS[wait.reason]}{until}"


def _cut(rows: list[str], head: str, noun: str, more: int = 0) -> Iterator[str]:
    """The first rows below a head, and the number of the others, which ``more`` are not among."""
    if rows and head:
        yield head
    yield from rows[:_LISTED]
    more += max(len(rows) - _LISTED, 0)
    if more:
        yield f"    and {more} more {noun}"


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {each}" for name, each in value.items())
    return str(value)

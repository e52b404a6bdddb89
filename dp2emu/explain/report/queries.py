"""Queries of a report: when each was issued, executed, signaled and delivered, and where to."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

from dp2emu.escaping import plain
from dp2emu.explain.events import Event, Origin
from dp2emu.explain.query_account import Account
from dp2emu.explain.query_report import lines

PARTS = 100
"""Maximum number of events that a row lists as counted."""

TOLD = 1_000
"""Maximum number of answers whose accounts are on a page as text."""

IssuedAt = Callable[[Origin], int | None]
"""Type of a function from the origin of a query token to the host's tick behind it."""


def query_rows(accounts: Iterable[Account], issued: IssuedAt) -> list[dict[str, Any]]:
    """JSON objects of the accounts of answers, in the order of their ends.

    ``executing`` is the tick at which the GPU reached the BEGIN, or the END of a query without
    one, ``signaled`` the tick from which the host can see the answer.
    """
    return [
        _row(account, issued) | {"told": _told(account) if number < TOLD else []}
        for number, account in enumerate(accounts)
    ]


def _told(account: Account) -> list[str]:
    """The account as ``dp2emu why`` prints it."""
    return [plain(line) for line in lines(account)]


def _row(account: Account, issued: IssuedAt) -> dict[str, Any]:
    begin, end, delivery = account.begin, account.end, account.delivery
    first = begin or end
    return {
        "query": account.name.query,
        "type": account.type.removeprefix("D3DQUERYTYPE_").removeprefix("D3D10DDI_QUERY_"),
        "context": account.name.context,
        "began": _number(begin),
        "ended": _number(end),
        "issued": None if first is None else issued(first.origin),
        "executing": None if first is None else first.time,
        "signaled": None if account.report is None else account.report.visible,
        "delivered": None if delivery is None else delivery.time,
        "buffer": None if delivery is None else f"call {delivery.call}",
        "offset": None if delivery is None else delivery.offset,
        "answer": _text(account.value),
        "recorded": _text(account.recorded_value) if account.same is False else None,
        "state": account.state.value.replace("_", " "),
        "waits": [f"call {each.call}: {each.reason.value}" for each in account.waits[:PARTS]],
        "counted": [
            [part.event.number, ", ".join(f"{count} {name}" for name, count in counts.items())]
            for part, counts in islice(account.counting(), PARTS)
        ],
    }


def _number(event: Event | None) -> int | None:
    return None if event is None else event.number


def _text(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, dict | list) else value

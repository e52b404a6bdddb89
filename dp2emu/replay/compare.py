"""Recorded answers against replayed ones, down to the query that differs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import NamedTuple

from dp2emu.d3d.hresult import hr_name
from dp2emu.dp2.call import Answer
from dp2emu.errors import ResponseError
from dp2emu.runtime.responses import Response, parse_responses

_SHOWN = 16
"""Bytes of a payload that a difference spells out."""


class Difference(NamedTuple):
    """One thing an answer was recorded as, and replayed as.

    With a ``frame`` it is something the program itself saw, and ``call`` a number of the
    program's own.
    """

    call: int
    field: str
    recorded: str
    replayed: str
    frame: int | None = None

    def __str__(self) -> str:
        frame = "" if self.frame is None else f"frame {self.frame}, "
        where = f"{frame}call {self.call}: {self.field}"
        return f"{where}: recorded {self.recorded}, replayed {self.replayed}"


def differences(
    call: int, recorded: Answer, replayed: Answer, size_of: Callable[[int], int | None]
) -> Iterator[Difference]:
    """What differs between two answers to a call.

    ddrval, dwErrorOffset and the response bytes count; the time and the reason given for a
    failure do not.  ``size_of`` gives the payload size of a query id.
    """
    if recorded.ddrval != replayed.ddrval:
        names = hr_name(recorded.ddrval), hr_name(replayed.ddrval)
        yield Difference(call, "ddrval", *names)
    if recorded.dwErrorOffset != replayed.dwErrorOffset:
        offsets = str(recorded.dwErrorOffset), str(replayed.dwErrorOffset)
        yield Difference(call, "dwErrorOffset", *offsets)
    if recorded.response != replayed.response:
        yield from _responses(call, recorded.response, replayed.response, size_of)


def same_fault(recorded: Answer | None, replayed: Answer) -> bool:
    """Whether a failed call failed just so when it was recorded."""
    return recorded is not None and (recorded.ddrval, recorded.dwErrorOffset) == (
        replayed.ddrval,
        replayed.dwErrorOffset,
    )


def _responses(
    call: int, recorded: bytes, replayed: bytes, size_of: Callable[[int], int | None]
) -> Iterator[Difference]:
    try:
        old = parse_responses(recorded, size_of)
        new = parse_responses(replayed, size_of)
    except ResponseError as error:
        yield _first_byte(call, recorded, replayed, f" ({error.what})")
        return
    records = list(_records(call, old.records, new.records))
    if old.more != new.more:
        recorded_flag, replayed_flag = (
            "with" if more else "without" for more in (old.more, new.more)
        )
        records.append(Difference(call, "RESPONSECONTINUE", recorded_flag, replayed_flag))
    yield from records or [_first_byte(call, recorded, replayed, "")]


def _records(
    call: int, recorded: tuple[Response, ...], replayed: tuple[Response, ...]
) -> Iterator[Difference]:
    for index, (old, new) in enumerate(zip_longest(recorded, replayed)):
        if old is not None and new is not None and old.query == new.query:
            if old.data != new.data:
                field = f"response {index}, query {old.query}"
                yield Difference(call, field, shown(old.data), shown(new.data))
        else:
            yield Difference(call, f"response {index}", _which(old), _which(new))


def _first_byte(call: int, recorded: bytes, replayed: bytes, why: str) -> Difference:
    pairs = zip_longest(recorded, replayed)
    at = next(index for index, (old, new) in enumerate(pairs) if old != new)
    field = f"response byte {at:#x}{why}"
    return Difference(call, field, shown(recorded[at:]), shown(replayed[at:]))


def _which(response: Response | None) -> str:
    return "none" if response is None else f"query {response.query} = {shown(response.data)}"


def shown(data: bytes) -> str:
    """Bytes for reading, the first of them if there are many."""
    text = data[:_SHOWN].hex(" ") or "nothing"
    return text + (" ..." if len(data) > _SHOWN else "")

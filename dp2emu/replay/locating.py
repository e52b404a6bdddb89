"""Locating the token in which a driver's process failed, by replaying prefixes of the call."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from tempfile import TemporaryFile
from typing import NamedTuple, Protocol, cast

from msgspec.structs import replace

from dp2emu.capture import LogWriter, open_capture
from dp2emu.capture.records import Called, Record
from dp2emu.dp2.stream import CommandStream
from dp2emu.errors import Dp2Error
from dp2emu.rig.failure import FindingKind, RigFailure
from dp2emu.rig.interface import Rig

JOURNAL_BYTES = 1 << 30
"""Maximum size in bytes of a journal; the token of a later failure is not located."""
_LOCATED = (FindingKind.CRASH, FindingKind.OVERRUN, FindingKind.SANITIZER)
"""Failures whose token is located.  Each trial of a driver that hangs would take its timeout."""


class Restartable(Rig, Protocol):
    """A rig whose driver runs in a process that can be replaced by a fresh one."""

    def restart(self) -> None:
        """End the driver's process; the next request starts another."""


class Place(NamedTuple):
    """A token of a call: its name, and its byte offset in the command surface."""

    offset: int
    token: str


class Journal:
    """The records that a driver has performed, in a temporary file.  Mutable: it grows."""

    def __init__(self) -> None:
        self._file = TemporaryFile()  # noqa: SIM115 (closed by close)
        self._log = LogWriter(self._file)
        self._whole = True

    def add(self, record: Record) -> None:
        """Append a record, up to ``JOURNAL_BYTES``."""
        if self._whole:
            self._log.write(record)
            self._whole = self._file.tell() <= JOURNAL_BYTES

    def records(self) -> Iterator[Record]:
        """Every record, from the first."""
        self._file.seek(0)
        yield from open_capture(self._file, kind="log").records()

    @property
    def whole(self) -> bool:
        """Whether it has every record."""
        return self._whole

    def close(self) -> None:
        """Delete the file."""
        self._log.close()
        self._file.close()


Performs = Callable[[Iterable[Record]], RigFailure | None]
"""Type of a function that performs records on a fresh driver and returns the failure, if any."""


def locate(
    failure: RigFailure, journal: Journal, commands: bytes, interface: int, perform: Performs
) -> Place | None:
    """Return the token in which a driver failed, during the last call of the journal.

    It is the last token of the shortest prefix of the call's ``commands`` with which a fresh
    driver fails too.  None for a driver that hung, for a failure that does not occur again, and
    for one that occurs without any token.
    """
    if failure.finding.kind not in _LOCATED or not journal.whole:
        return None
    found = _last_call(journal)
    if found is None:
        return None
    last, call = found
    ends = _ends(call, commands, interface)

    def fails(count: int) -> bool:
        """Whether a fresh driver fails with the first ``count`` tokens of the call."""
        size = ends[count - 1][0] if count else 0
        records = islice(journal.records(), last)
        return perform(chain(records, [_cut(call, commands[:size])])) is not None

    low, high = 0, len(ends)
    if not high or not fails(high) or fails(low):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fails(middle) else (middle, high)
    return ends[high - 1][1]


def _last_call(journal: Journal) -> tuple[int, Called] | None:
    """(number of records before the last call, the call); None without a call."""
    calls = (each for each in enumerate(journal.records()) if isinstance(each[1], Called))
    last = deque(calls, maxlen=1)
    return cast("tuple[int, Called]", last[0]) if last else None


def _ends(record: Called, commands: bytes, interface: int) -> list[tuple[int, Place]]:
    """(bytes of the commands up to the end of a token, the token), for each token of a call."""
    call = record.call
    stream = CommandStream(call, commands)
    places: list[Place] = []
    try:
        for scan in stream.scans(interface):
            places += [Place(offset, token.name) for offset, token, *_ in scan.commands]
            if scan.problem is not None:
                offset = scan.problem.offset
                places.append(Place(scan.stop if offset is None else offset, _named(scan.problem)))
    except Dp2Error:
        return []
    starts = [place.offset - call.dwCommandOffset for place in places]
    return list(zip([*starts[1:], len(commands)], places, strict=True)) if places else []


def _named(problem: Dp2Error) -> str:
    return problem.token or problem.what


def _cut(record: Called, commands: bytes) -> Called:
    """The call with only the first of its commands, ``commands``."""
    given = None if record.call.commands is None else commands
    call = replace(record.call, commands=given, dwCommandLength=len(commands))
    return replace(record, call=call)

"""Queries of IDirect3DQuery9."""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple

from dp2emu.argument_check import checked
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import QueryType
from dp2emu.d3d.flags import Issue
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.queries import KINDS
from dp2emu.errors import UsageError
from dp2emu.runtime.session import Refused, Session

POLLS = 10_000
"""Number of times ``Query.wait`` polls before it lets the GPU become idle."""

MOST_DATA = 1 << 16
"""Largest size of a buffer for a query's data, in bytes; no query has that much data."""

NEVER_ISSUED = 0xDD
"""The byte that GetData returns, with S_OK, for a query that was never issued."""

_END, _BOTH = int(Issue.END), int(Issue.BEGIN | Issue.END)
"""D3DISSUE_* as plain integers, whose operators are not calls of Python functions."""


class QueryState(Enum):
    """Whether a query was created only, begun, ended, or answered (wire format, "Queries")."""

    CREATED = auto()
    BUILDING = auto()
    ISSUED = auto()
    DONE = auto()


class QueryData(NamedTuple):
    """The result of GetData; ``data`` is None if the application's buffer was not written."""

    hr: HResult
    data: bytes | None

    @property
    def value(self) -> int | None:
        """The data as a little-endian number, None without data."""
        return int.from_bytes(self.data, "little") if self.data else None


@checked
class Query:
    """A query, created by ``Device9.create_query``.  Mutable: it is issued and answered.

    >>> from dp2emu.dp2.driver import Driver
    >>> from dp2emu.runtime import Device9
    >>> event = Device9(Driver(), 64, 64).create_query(QueryType.EVENT)
    >>> event.end()
    >>> event.wait().value
    1
    """

    def __init__(self, session: Session, kind: QueryType) -> None:
        self.kind = kind
        self.state = QueryState.CREATED
        self._session = session
        self._data = b""
        self._owed = 0
        self.id = session.register(self)
        session.emit(Op.CREATEQUERY, [(self.id, kind)])

    @property
    def data_size(self) -> int:
        """GetDataSize, in bytes."""
        return KINDS[self.kind].layout.size

    def issue(self, flags: int) -> None:
        """Issue with ``flags`` D3DISSUE_BEGIN, D3DISSUE_END or both, which is BEGIN, then END.

        BEGIN on a type that has only END is sent too, and ignored by drivers (wire format,
        "Queries").  Raises Refused for other flags.
        """
        if not 0 <= flags <= _BOTH:
            raise Refused(HResult.D3DERR_INVALIDCALL, f"issue flags {flags:#x}")
        self._session.emit(Op.ISSUEQUERY, [(self.id, flags)])
        ends = bool(flags & _END)
        self._owed += ends
        if flags:
            self.state = QueryState.ISSUED if ends else QueryState.BUILDING

    def begin(self) -> None:
        """Issue(D3DISSUE_BEGIN): start or restart."""
        self.issue(Issue.BEGIN)

    def end(self) -> None:
        """Issue(D3DISSUE_END): request the result."""
        self.issue(Issue.END)

    def get_data(self, size: int | None = None, *, flush: bool = False) -> QueryData:
        """GetData into a buffer of ``size`` bytes (default: ``data_size``).

        S_FALSE until the result is available; ``flush`` (D3DGETDATA_FLUSH) submits and polls the
        driver once first.  A short buffer gets the first bytes, a long one zeros behind them; size
        0 only polls.  A query that was never issued returns S_OK and 0xDD bytes, as the runtimes
        do.  Raises UsageError for a negative size and one over ``MOST_DATA``.
        """
        size = self.data_size if size is None else size
        if not 0 <= size <= MOST_DATA:
            raise UsageError(f"a buffer of {size} bytes, expected 0 to {MOST_DATA}")
        if flush and self.state in (QueryState.BUILDING, QueryState.ISSUED):
            self._session.poll()
        if self.state is QueryState.CREATED:
            return QueryData(HResult.S_OK, _fit(bytes([NEVER_ISSUED]) * self.data_size, size))
        if self.state is not QueryState.DONE:
            return QueryData(HResult.S_FALSE, None)
        return QueryData(HResult.S_OK, _fit(self._data, size))

    def wait(self, size: int | None = None, *, polls: int = POLLS) -> QueryData:
        """Repeat GetData of ``size`` bytes with flush until its result is not S_FALSE.

        Before END was issued it is called once only.  After ``polls`` calls without a result, the
        session is finished, so that the GPU is idle, and GetData is called for the last time.
        """
        for _ in range(polls):
            result = self.get_data(size, flush=True)
            if result.hr != HResult.S_FALSE or self.state is QueryState.BUILDING:
                return result
        self._session.finish()
        return self.get_data(size, flush=True)

    def release(self) -> None:
        """Release: destroy the driver's query, dropping a pending result."""
        self._session.emit(Op.DELETEQUERY, [(self.id,)])
        self._session.forget(self.id)

    def deliver(self, data: bytes) -> bool:
        """Receive the driver's result, ``data``; False if all ENDs were answered already.

        The result is dropped if BEGIN has restarted the query; it replaces an earlier result.
        """
        owed = self._owed > 0
        self._owed -= owed
        if self.state in (QueryState.ISSUED, QueryState.DONE):
            self._data = data
            self.state = QueryState.DONE
        return owed


def _fit(data: bytes, size: int) -> bytes:
    return data[:size].ljust(size, b"\0")

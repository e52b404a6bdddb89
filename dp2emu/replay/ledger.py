"""Tracking of queries: the calls that issue them, and the answers that deliver them.

Uses only commands and responses, so that it works for any rig.  Wire format, "Queries": an END
answers once; a BEGIN does not affect a pending END, while another END replaces it, and so do
deleting the query and creating its id again.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import NamedTuple

from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.flags import Issue
from dp2emu.dp2.options import Options
from dp2emu.dp2.queries import KINDS, refused_issue, refused_type
from dp2emu.dp2.stream import CommandStream

_PAIR = struct.Struct("<II")
_ONE = struct.Struct("<I")


class Outcome(NamedTuple):
    """The outcome of a query END: ``data`` delivered by the answer to ``call``.

    If it was never delivered, ``data`` is None and ``call`` is the call that issued the END.
    """

    call: int
    query: int
    type: int
    data: bytes | None


class QueryLedger:
    """Tracks the queries of a context.  Mutable: calls and answers update it.

    ``settle`` is a function that receives the Outcome of each END as soon as it is certain.  The
    driver's ``options``, as far as known, decide which item of a failing token it refused.
    """

    def __init__(
        self, interface: int, settle: Callable[[Outcome], None], options: Options
    ) -> None:
        self.interface = interface
        self._settle = settle
        self._options = options
        self._types: dict[int, int] = {}
        self._issued: dict[int, int] = {}
        self._answers: dict[int, bytes] = {}

    def was_issued(self, query: int) -> bool:
        """Whether a live query had an END."""
        return query in self._issued or query in self._answers

    def is_due(self, query: int) -> bool:
        """Whether the answer to a live query's last END is pending."""
        return query in self._issued

    def answer_to(self, query: int) -> bytes | None:
        """The answer to the last END of a live query, None before it is delivered."""
        return self._answers.get(query)

    def type_of(self, query: int) -> int | None:
        """D3DQUERYTYPE of a live query id, or None."""
        return self._types.get(query)

    def size_of(self, query: int) -> int | None:
        """Size in bytes of the payload of a query, None for an unknown id."""
        kind = self._types.get(query)
        return None if kind is None else KINDS[kind].layout.size

    def enter(
        self, number: int, commands: CommandStream, failed_at: int | None, *, begun: bool = True
    ) -> None:
        """Track the query tokens of a call, up to byte offset ``failed_at`` if it failed there.

        ``begun``: the token at that offset was started, so its first items may have taken effect.
        """
        last = None if failed_at is None else failed_at - (not begun)
        for scan in commands.scans(self.interface):
            for offset, token, _, start, end in scan.commands:
                if last is not None and offset > last:
                    return
                if token.op not in _ACTS:
                    continue
                act, item = _ACTS[token.op]
                items = item.iter_unpack(commands.payload(start, end))
                if not all(act(self, number, *values) for values in items):
                    return  # the driver refuses this item: the token failed there

    def deliver(self, number: int, query: int, data: bytes) -> None:
        """Note that call ``number`` delivered the payload ``data`` of ``query``."""
        if self._issued.pop(query, None) is not None:
            self._answers[query] = data
            self._settle(Outcome(number, query, self._types[query], data))

    def close(self) -> None:
        """Report each END whose answer is pending as never delivered."""
        for query in list(self._issued):
            self._drop(query)

    def _create(self, call: int, query: int, kind: int) -> bool:
        if refused_type(kind, self.interface, self._options):
            return False
        self._drop(query)
        self._answers.pop(query, None)
        self._types[query] = kind
        return True

    def _delete(self, call: int, query: int) -> bool:
        self._drop(query)
        self._answers.pop(query, None)
        return self._types.pop(query, None) is not None

    def _issue(self, call: int, query: int, flags: int) -> bool:
        kind = self._types.get(query)
        if kind is None or refused_issue(kind, flags, self._options):
            return False
        if flags & Issue.END:
            self._drop(query)
            self._answers.pop(query, None)
            self._issued[query] = call
        return True

    def _drop(self, query: int) -> None:
        call = self._issued.pop(query, None)
        if call is not None:
            self._settle(Outcome(call, query, self._types[query], None))


_ACTS: dict[int, tuple[Callable[..., bool], struct.Struct]] = {
    Op.CREATEQUERY: (QueryLedger._create, _PAIR),
    Op.DELETEQUERY: (QueryLedger._delete, _ONE),
    Op.ISSUEQUERY: (QueryLedger._issue, _PAIR),
}

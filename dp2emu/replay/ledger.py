"""Which query was issued by which call, and which call's answer delivered it.

Kept from what crosses the interface alone, commands in and responses out, so that it works for
any rig.  Wire format, "Queries": an END answers once; BEGIN changes nothing about an END still
under way, another END replaces it, and so do deleting the query and making its id anew.
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
    """What became of one END: ``data`` came with the answer of ``call``.

    ``data`` None: it was never delivered, and ``call`` is the one that issued it.
    """

    call: int
    query: int
    type: int
    data: bytes | None


class QueryLedger:
    """Queries of one context.  Mutable: a book.

    ``settle`` is told every outcome as soon as it is certain; ``options`` are the driver's, as
    far as they are known: they tell which item of a failing token it refused.
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
        """Whether the answer to a live query's last END has not come yet."""
        return query in self._issued

    def answer_to(self, query: int) -> bytes | None:
        """What was delivered for the last END of a live query, None if nothing was yet."""
        return self._answers.get(query)

    def type_of(self, query: int) -> int | None:
        """D3DQUERYTYPE of a live query id, or None."""
        return self._types.get(query)

    def size_of(self, query: int) -> int | None:
        """Payload bytes of a live query id, or None."""
        kind = self._types.get(query)
        return None if kind is None else KINDS[kind].layout.size

    def enter(
        self, number: int, commands: CommandStream, failed_at: int | None, *, begun: bool = True
    ) -> None:
        """Note the query tokens of a call, up to byte offset ``failed_at`` if it failed there.

        ``begun``: the token at that offset had begun, so its first items may have been done.
        """
        last = None if failed_at is None else failed_at - (not begun)
        for scan in commands.scans(self.interface):
            for offset, token, _, start, end in scan.commands:
                if last is not None and offset > last:
                    return
                act = _ACTS.get(token.op)
                if act and not self._perform(*act, commands.payload(start, end), number):
                    return

    def deliver(self, number: int, query: int, data: bytes) -> None:
        """An answer to ``query`` came back from call ``number``."""
        if self._issued.pop(query, None) is not None:
            self._answers[query] = data
            self._settle(Outcome(number, query, self._types[query], data))

    def close(self) -> None:
        """No more answers will come."""
        for query in list(self._issued):
            self._drop(query)

    def _perform(
        self, act: Callable[..., bool], item: struct.Struct, payload: bytes, call: int
    ) -> bool:
        """False when an item is one the driver refuses: the token failed there."""
        return all(act(self, call, *values) for values in item.iter_unpack(payload))

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

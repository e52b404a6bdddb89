"""Rules for a driver's answers that hold for every stream, and comparison with the emulator.

A wild input is judged by the walk (a failing call names the start of a token, a succeeding one had
no undecodable token) and by the protocol of queries (every answer is due, none is lost).  A driver
may refuse more or less than the emulator.  A tame input must have the emulator's answers.
Source: wire format, "Stream shape" and "Responses".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from dp2emu.d3d.devinfo import PAYLOADS
from dp2emu.d3d.dp2structs import D3DHAL_DP2EXT, Op
from dp2emu.d3d.enums import QueryType
from dp2emu.d3d.flags import Issue
from dp2emu.d3d.hresult import HResult, hr_name
from dp2emu.dp2.call import Answer, Call
from dp2emu.dp2.table import TABLE, Since, Token
from dp2emu.dp2.walk import Scan, scan
from dp2emu.errors import ResponseError
from dp2emu.fuzz.target import Deviation
from dp2emu.runtime.responses import Response, parse_responses

_SIZES = {int(kind): layout.sizeof() for kind, layout in PAYLOADS.items()}
_BRACKETED = (QueryType.OCCLUSION,)
"""Types that count from BEGIN to END."""
_HEADERS = 24
"""Bytes of a response beside the payload: a block, a record, and room for RESPONSECONTINUE."""
_FORMATS = {Op.SETVERTEXSHADER, Op.SETVERTEXSHADERDECL, Op.SETVERTEXSHADERFUNC}
_COMMAND = tuple[int, Token, int, int, int]


class Seen(msgspec.Struct, frozen=True):
    """A call that was answered, and its tokens."""

    call: Call
    answer: Answer
    found: Scan

    @property
    def failed(self) -> bool:
        """Return whether the call failed."""
        return self.answer.ddrval != HResult.D3D_OK

    @property
    def executed(self) -> list[_COMMAND]:
        """Return the tokens before the one that failed, all if none did."""
        if not self.failed:
            return self.found.commands
        return [each for each in self.found.commands if each[0] < self.answer.dwErrorOffset]

    @property
    def refused(self) -> _COMMAND | None:
        """Return the whole token at which the call failed, None if there is none."""
        if not self.failed:
            return None
        at = self.answer.dwErrorOffset
        return next((each for each in self.found.commands if each[0] == at), None)


def seen(call: Call, answer: Answer) -> Seen:
    """Return a call and its answer with its tokens."""
    start = call.dwCommandOffset
    data = bytes(start) + (call.commands or b"")[: call.dwCommandLength]
    return Seen(call, answer, scan(data, start, len(data), call.dwVertexSize))


# The walk


def ambiguous(one: Seen) -> bool:
    """Return whether drivers may rightly differ about where the tokens of a call begin.

    The size of inline vertices depends on states, documents disagree about the size of a CLEAR
    without rectangles, and none says what follows a D3DHAL_DP2EXT of more than its own bytes.
    """
    ops = {token.op for _, token, *_ in one.found.commands}
    inline = any(token.vertices is not None for _, token, *_ in one.found.commands)
    wrong = one.found.wrong
    if (inline and ops & _FORMATS) or (wrong is not None and wrong[0] == Op.EXT):
        return True
    return any(
        (token.op == Op.CLEAR and n == 0) or (token.op == Op.EXT and stop - start > n * _EXT_BYTES)
        for _, token, n, start, stop in one.found.commands
    )


_EXT_BYTES = D3DHAL_DP2EXT.sizeof()


def check_walk(one: Seen, ddi: Since) -> None:
    """Raise Deviation if a result contradicts the tokens of its call."""
    if ambiguous(one):
        return
    if not one.failed:
        _check_end(one, ddi)
        return
    if not (one.call.commands or b""):
        what = hr_name(one.answer.ddrval)
        raise Deviation(f"an empty call fails: {what}", f"an empty call is answered {what}")
    starts = {each[0] for each in one.found.commands}
    if one.found.wrong is not None:
        starts.add(one.found.stop)
    at = one.answer.dwErrorOffset
    if at not in starts:
        if at + one.call.dwCommandOffset in starts:
            if at >= one.call.dwCommandOffset:
                return  # it may be so by accident
            raise Deviation(
                "dwErrorOffset counts from the first command",
                f"dwErrorOffset {at} counts from the first command, which is at byte "
                f"{one.call.dwCommandOffset} of the command surface",
            )
        before = max((each for each in one.found.commands if each[0] < at), default=None)
        name = before[1].name if before else "the first token"
        end = f" from {before[0]} to {before[4]}" if before else ""
        raise Deviation(
            "dwErrorOffset is not the start of a token",
            f"dwErrorOffset {at} is not the start of a token; {name}{end} is before it "
            f"({hr_name(one.answer.ddrval)}, commands from byte {one.call.dwCommandOffset})",
        )


def _check_end(one: Seen, ddi: Since) -> None:
    """Raise Deviation if a call succeeded whose stream has an undecodable token."""
    wrong = one.found.wrong
    if wrong is None:
        return
    op, token, *_ = wrong
    if token is not None and Since.of(token.op) > ddi:
        return
    if op is None:
        name, why = "a header", "cut off"
    elif token is None:
        name, why = "an unassigned opcode", "invalid"
    else:
        name, why = token.name, "longer than the commands"
    raise Deviation(
        f"D3D_OK for a stream with {_KINDS[why]}",
        f"the call succeeds, although {name} at byte {one.found.stop} is {why}",
    )


_KINDS = {
    "cut off": "a header that is cut off",
    "invalid": "an unassigned opcode",
    "longer than the commands": "a token that is longer than the commands",
}
"""What a call should fail for, by what is wrong with a token."""


# Queries


class Queries:
    """The queries of a context, as far as its calls determine them.  Mutable.

    An answer is required if nothing makes it doubtful.  ``doubtful`` has ids of which nothing is
    known: of a token that failed in part, ended twice, or begun again.  ``heard`` has for each
    response the queries that it answers, and whether it has a RESPONSECONTINUE.
    """

    def __init__(self, room: int) -> None:
        self._room = room
        self._types: dict[int, int] = {}
        self._begun: set[int] = set()
        self._due: list[int] = []
        self._gone: set[int] = set()
        self.doubtful: set[int] = set()
        self.payloads: list[tuple[int, int, bytes]] = []
        self.heard: list[tuple[tuple[int, ...], bool]] = []

    def hear(self, one: Seen, data: bytes) -> None:
        """Follow a call, then check the responses of its answer.  Raises Deviation."""
        for _, token, n, start, stop in one.executed:
            follow = _FOLLOW.get(token.op)
            if follow is not None:
                follow(self, _words(data, start, stop), n)
        refused = one.refused
        if refused is not None and refused[1].op in _FOLLOW:
            _, token, n, start, stop = refused
            words = _words(data, start, stop)
            self.doubtful.update(words if token.op == Op.DELETEQUERY else words[::2])
        if not one.failed:
            self._receive(one)

    def missing(self) -> list[int]:
        """Return the ids of the queries that must be answered and are not yet, oldest first."""
        return [query for query in self._due if query not in self.doubtful]

    def check_missing(self) -> None:
        """Raise Deviation if an answer is missing, after the last empty call."""
        missing = self.missing()
        if missing:
            name = _type_name(self._types[missing[0]])
            what = ", ".join(map(str, missing))
            raise Deviation("a lost answer", f"{name} queries {what} are never answered")

    def _receive(self, one: Seen) -> None:
        size, response = one.answer.dwErrorOffset, one.answer.response
        if size > self._room or len(response) != size:
            raise Deviation(
                "a response longer than the command surface",
                f"dwErrorOffset is {size}, the command surface has {self._room} bytes",
            )
        try:
            found = parse_responses(response, self._size_of)
        except ResponseError as error:
            if self.doubtful:  # whose payloads may have any size
                self.doubtful.update(self._due)
                return
            raise Deviation("a malformed response", f"{error}: {response.hex()}") from None
        if response and not found.records and not found.more:
            raise Deviation(
                "a response without an answer",
                f"{size} bytes of response have no record: {response.hex()}",
            )
        self.heard.append((tuple(each.query for each in found.records), found.more))
        for record in found.records:
            self._deliver(record)

    def _size_of(self, query: int) -> int | None:
        """Return the payload size of a query, None for an unknown one."""
        return _SIZES.get(self._types.get(query, 0))

    def _deliver(self, record: Response) -> None:
        """Check that the answer of a query is due, and the oldest of its type."""
        query = record.query
        if query in self.doubtful:
            return
        kind = self._types[query]
        due = [each for each in self._due if self._types[each] == kind]
        name = _type_name(kind)
        if query not in due:
            what = "was deleted" if query in self._gone else "has no answer due"
            raise Deviation(
                "an answer that is not due", f"{name} query {query} is answered and {what}"
            )
        older = [each for each in due[: due.index(query)] if each not in self.doubtful]
        if older:
            raise Deviation(
                "answers out of order",
                f"{name} query {query} is answered before query {older[0]}, which ended earlier",
            )
        self._due.remove(query)
        self.payloads.append((query, kind, record.data))

    # Tokens

    def create(self, words: Sequence[int], n: int) -> None:
        """Follow a CREATEQUERY."""
        for query, kind in zip(words[::2], words[1::2], strict=False):
            known = kind in _SIZES and _SIZES[kind] + _HEADERS <= self._room
            if (query in self._types and query not in self._gone) or not known:
                self.doubtful.add(query)
            self._types[query] = kind
            self._gone.discard(query)

    def issue(self, words: Sequence[int], n: int) -> None:
        """Follow an ISSUEQUERY."""
        for query, flags in zip(words[::2], words[1::2], strict=False):
            lives = query in self._types and query not in self._gone
            if not lives or flags not in (Issue.BEGIN, Issue.END):
                self.doubtful.add(query)
            elif flags == Issue.BEGIN:
                self._begin(query)
            else:
                self._end(query)

    def delete(self, words: Sequence[int], n: int) -> None:
        """Follow a DELETEQUERY."""
        for query in words:
            if self._types.get(query) is None:
                self.doubtful.add(query)
            if query in self._due:
                self._due.remove(query)
            self._gone.add(query)

    def _begin(self, query: int) -> None:
        if self._types[query] not in _BRACKETED or query in self._due or query in self._begun:
            self.doubtful.add(query)
        self._begun.add(query)

    def _end(self, query: int) -> None:
        counts = self._types[query] in _BRACKETED
        if query in self._due or (counts and query not in self._begun):
            self.doubtful.add(query)
        self._begun.discard(query)
        if query not in self._due:
            self._due.append(query)


_FOLLOW = {
    Op.CREATEQUERY: Queries.create,
    Op.ISSUEQUERY: Queries.issue,
    Op.DELETEQUERY: Queries.delete,
}


def _words(data: bytes, start: int, stop: int) -> list[int]:
    return [int.from_bytes(data[at : at + 4], "little") for at in range(start, stop - 3, 4)]


def _type_name(kind: int) -> str:
    known: Mapping[int, QueryType] = QueryType._value2member_map_  # type: ignore[assignment]
    return known[kind].name if kind in known else f"type {kind}"


# The emulator


def check_answers(ours: Sequence[Seen], theirs: Sequence[Seen]) -> None:
    """Raise Deviation unless the driver's calls (``theirs``) end as the emulator's (``ours``)."""
    for number, (one, other) in enumerate(zip(ours, theirs, strict=False)):
        if (one.failed, one.failed and one.answer.dwErrorOffset) == (
            other.failed, other.failed and other.answer.dwErrorOffset
        ):  # fmt: skip
            continue
        refused = other.refused or one.refused
        name = refused[1].name if refused else "the call"
        raise Deviation(
            f"a result that differs from the emulator's: {name}",
            f"call {number} has {_ending(other)}, on the emulator {_ending(one)}",
        )


def _ending(one: Seen) -> str:
    where = f" at byte {one.answer.dwErrorOffset}" if one.failed else ""
    return f"{hr_name(one.answer.ddrval)}{where}"


def check_payloads(ours: Queries, theirs: Queries) -> None:
    """Raise Deviation unless occlusion queries and events have the emulator's answers.

    Queries that are doubtful on either side are left out: a late answer may have been replaced.
    """
    doubtful = ours.doubtful | theirs.doubtful
    for query in sorted({each[0] for each in ours.payloads} - doubtful):
        for (kind, wanted), (_, got) in zip(_of(ours, query), _of(theirs, query), strict=False):
            if kind in _COMPARED and wanted != got:
                raise Deviation(
                    f"an answer that differs from the emulator's: {_type_name(kind)}",
                    f"query {query} is answered {_number(got)} instead of {_number(wanted)}",
                )


def check_continued(ours: Queries, theirs: Queries) -> None:
    """Raise Deviation if a response that answers the same queries as the emulator's lacks its
    RESPONSECONTINUE: answers are left for which there was no room.

    This holds for drivers that answer in the call that ends a query.
    """
    for (queries, more), (answered, continued) in zip(ours.heard, theirs.heard, strict=False):
        if queries != answered:
            return
        if more and not continued:
            raise Deviation(
                "a response without its RESPONSECONTINUE",
                f"behind the answers of queries {', '.join(map(str, answered))} others are left",
            )


_COMPARED = (QueryType.EVENT, QueryType.OCCLUSION)


def _of(queries: Queries, query: int) -> Iterator[tuple[int, bytes]]:
    return ((kind, data) for each, kind, data in queries.payloads if each == query)


def _number(data: bytes) -> str:
    return str(int.from_bytes(data, "little")) if data else "nothing"


def check_picture(ours: bytes, theirs: bytes, tolerance: int, width: int) -> None:
    """Raise Deviation if a colour channel of a pixel (A8R8G8B8) differs by more than
    ``tolerance``.
    """
    if ours == theirs:
        return
    for at, (one, other) in enumerate(zip(ours, theirs, strict=True)):
        if at % 4 != _ALPHA and abs(one - other) > tolerance:
            y, x = divmod(at // 4, width)
            pixel = slice(at // 4 * 4, at // 4 * 4 + 4)
            raise Deviation(
                "a picture that differs from the emulator's",
                f"pixel ({x}, {y}) is {theirs[pixel][::-1].hex()} instead of "
                f"{ours[pixel][::-1].hex()}",
            )


_ALPHA = 3


def known_opcodes(answers: Mapping[int, Answer]) -> frozenset[int]:
    """Return the opcodes that a driver decodes: with a count of 0 they are not unparsed."""
    unparsed = HResult.D3DERR_COMMAND_UNPARSED
    return frozenset(op for op, answer in answers.items() if answer.ddrval != unparsed)


def unparsed_although_known(one: Seen, known: frozenset[int]) -> Token | None:
    """Return the whole token that a call left unparsed, None if there is none, or if the driver
    does not know it.
    """
    refused = one.refused
    if refused is None or one.answer.ddrval != HResult.D3DERR_COMMAND_UNPARSED:
        return None
    return TABLE[refused[1].op] if refused[1].op in known else None

"""Cases of the query protocol: what CREATEQUERY, ISSUEQUERY and DELETEQUERY must do."""

from __future__ import annotations

from collections.abc import Iterator

from dp2emu.conform.case import Case, Expect
from dp2emu.conform.draws import BOX, BOX_PIXELS, box
from dp2emu.conform.script import OTHER_CONTEXT, Script, begin, create, delete, end, issue
from dp2emu.d3d.enums import QueryType
from dp2emu.d3d.flags import Issue
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.queries import KINDS, Window

_DOCUMENT = 'Handling Asynchronous Queries; wire format, "Queries"'
_TYPES = 'wire format, "Query types"'
_EVENT, _OCCLUSION = QueryType.EVENT, QueryType.OCCLUSION
_ALWAYS = (QueryType.VCACHE, _EVENT, _OCCLUSION)
"""Types that the documents describe for this interface; others may be refused."""
_BEGINS = {QueryType.VCACHE: b"CACH", _EVENT: b"\1\0\0\0"}
"""How the payloads of types begin that leave no choice."""
_UNKNOWN_TYPE = 0x7FFF
_BOTH = int(Issue.BEGIN | Issue.END)


def query_cases() -> Iterator[Case]:
    """Every case of this family."""
    yield from _types()
    yield from _intervals()
    yield from _lives()
    yield from _refusals()
    yield from _orders()


def _types() -> Iterator[Case]:
    for kind in KINDS:
        script = Script()
        script.call(create(1, kind))
        starts = begin(1) if KINDS[kind].window is Window.INTERVAL else b""
        script.call(starts, end(1))
        script.owe(1, kind, _BEGINS.get(QueryType(kind), b""))
        name = QueryType(kind).name.lower()
        rule = f"an issued {QueryType(kind).sdk} is answered with its structure"
        yield script.case(
            f"query.type.{name}", rule, _TYPES, optional=QueryType(kind) not in _ALWAYS
        )


def _interval(name: str, rule: str, pixels: int, *tokens: bytes) -> Case:
    """A call that draws boxes, and how many pixels query 1 counts."""
    script = Script()
    script.call(create(1, _OCCLUSION), *tokens, corners=BOX)
    script.owe_count(1, pixels)
    return script.case(f"query.{name}", rule, _DOCUMENT)


def _intervals() -> Iterator[Case]:
    yield _interval(
        "interval", "an occlusion query counts what is drawn between BEGIN and END", BOX_PIXELS,
        box(), begin(1), box(), end(1), box(),
    )  # fmt: skip
    yield _interval(
        "begin_restarts", "BEGIN while building starts again", BOX_PIXELS,
        box(), begin(1), box(), begin(1), box(), end(1),
    )  # fmt: skip
    yield _interval(
        "begin_drops", "BEGIN of an issued query drops its unsent answer", 2 * BOX_PIXELS,
        begin(1), box(), end(1), begin(1), box(), box(), end(1),
    )  # fmt: skip
    yield _interval(
        "end_without_begin", "END without BEGIN is an empty interval", 0, box(), end(1)
    )
    yield _interval(
        "end_again", "END of an issued query restarts it with an empty interval", 0,
        begin(1), box(), end(1), box(), end(1),
    )  # fmt: skip
    yield _interval(
        "both_flags", "BEGIN and END in one are an empty interval", 0, box(), issue(1, _BOTH)
    )
    yield _interval(
        "no_flags", "no flags do nothing", BOX_PIXELS,
        begin(1), box(), issue(1, 0), end(1), issue(1, 0),
    )  # fmt: skip
    yield _interval(
        "again_after_an_answer", "a query that was created anew counts anew", BOX_PIXELS,
        begin(1), box(), box(), end(1), create(1, _OCCLUSION), begin(1), box(), end(1),
    )  # fmt: skip
    script = Script()
    script.call(create(1, _OCCLUSION), create(2, _OCCLUSION), begin(1), box(), corners=BOX)
    script.call(begin(2), box(), end(1), box(), end(2), corners=BOX)
    script.owe_count(1, 2 * BOX_PIXELS)
    script.owe_count(2, 2 * BOX_PIXELS)
    yield script.case(
        "query.overlap", "intervals of two queries may overlap, and span calls", _DOCUMENT
    )


def _lives() -> Iterator[Case]:
    script = Script()
    script.call(create(1), begin(1), end(1))
    script.owe_event(1)
    yield script.case("query.event_begin", "BEGIN of an event is ignored", _DOCUMENT)

    script = Script()
    script.call(create(1), create(2), end(1), end(2), delete(1))
    script.owe_event(2)
    yield script.case("query.delete", "the answer of a deleted query is discarded", _DOCUMENT)

    script = Script()
    script.call(create(1), end(1), delete(1), create(1, _OCCLUSION), end(1))
    script.owe_count(1, 0)
    yield script.case("query.reuse", "the id of a deleted query may be used again", _DOCUMENT)

    script = Script()
    script.call(create(0xFFFFFFFF), create(0), end(0xFFFFFFFF), end(0))
    script.owe_event(0xFFFFFFFF)
    script.owe_event(0)
    yield script.case("query.any_id", "every 32-bit number is an id", _DOCUMENT)

    script = Script()
    script.context(OTHER_CONTEXT)
    script.call(create(1), create(2))
    script.call(create(1, _OCCLUSION), end(1), context=OTHER_CONTEXT)
    script.call(end(2))
    script.owe_event(2)
    script.owe(1, _OCCLUSION, bytes(4), OTHER_CONTEXT)
    yield script.case("query.contexts", "each context has queries of its own", _DOCUMENT)

    script = Script()
    many = b"\x54\0\x02\0" + b"".join(token[4:] for token in (create(1), create(2)))
    both = b"\x5b\0\x02\0" + b"".join(token[4:] for token in (end(1), end(2)))
    gone = b"\x5a\0\x02\0" + b"".join(token[4:] for token in (delete(1), delete(2)))
    script.call(many, both)
    script.owe_event(1)
    script.owe_event(2)
    yield script.case("query.several", "a token has as many queries as it counts", _DOCUMENT)
    script = Script()
    script.call(many, both, gone)
    yield script.case("query.delete_several", "one token deletes several queries", _DOCUMENT)


def _refusals() -> Iterator[Case]:
    refused = HResult.DDERR_INVALIDPARAMS
    rows = (
        ("issue_unknown", "ISSUEQUERY of an id that is none fails the call there", end(9)),
        ("delete_unknown", "DELETEQUERY of an id that is none fails the call there", delete(9)),
        ("unknown_type", "CREATEQUERY of a type that is none fails the call there",
         create(9, _UNKNOWN_TYPE)),
    )  # fmt: skip
    for name, rule, bad in rows:
        script = Script()
        good = create(1)
        script.call(good, bad, end(1), expect=Expect(refused, len(good)))
        yield script.case(f"query.{name}", rule, 'wire format, "Queries"')


def _orders() -> Iterator[Case]:
    ids = (5, 1, 4, 2, 3)
    for kind in (_EVENT, _OCCLUSION):
        script = Script()
        script.call(*(create(query, kind) for query in sorted(ids)), *map(end, ids))
        for query in ids:
            script.owe(query, kind, b"" if kind == _OCCLUSION else b"\1\0\0\0")
        yield script.case(
            f"query.order.{kind.name.lower()}", "queries of a type are answered in issue order",
            'wire format, "Responses"',
        )  # fmt: skip

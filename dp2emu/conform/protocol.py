"""Cases of the protocol: queries, the response buffer, errors, and the length of each token."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dp2emu.conform.case import Case, Expect
from dp2emu.conform.script import (
    BOX,
    BOX_PIXELS,
    MANAGED,
    OTHER_CONTEXT,
    SMALL,
    Script,
    begin,
    box,
    create,
    delete,
    dwords,
    end,
    event_case,
    issue,
    token,
)
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import QueryType
from dp2emu.d3d.flags import Issue
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.queries import KINDS, Window
from dp2emu.dp2.table import TABLE, Since, Token
from dp2emu.dp2.walk import HEADER_BYTES
from dp2emu.gpu.resource.heap import SurfaceKind

_EVENT, _OCCLUSION = QueryType.EVENT, QueryType.OCCLUSION
_UNPARSED = HResult.D3DERR_COMMAND_UNPARSED

_BOX_PIXELS = len(BOX_PIXELS)

# Queries

_QUERIES = 'Handling Asynchronous Queries; wire format, "Queries"'
_TYPES = 'wire format, "Query types"'
_ALWAYS = (QueryType.VCACHE, _EVENT, _OCCLUSION)
"""D3DQUERYTYPEs that every driver must support: VCACHE, EVENT and OCCLUSION."""
_BEGINS = {QueryType.VCACHE: b"CACH", _EVENT: b"\1\0\0\0"}
"""By query type: the bytes with which the payload of every answer of this type begins."""
_UNKNOWN_TYPE = 0x7FFF


def query_cases(ddi: Since) -> Iterator[Case]:
    """Yield the conformance cases of CREATEQUERY, ISSUEQUERY and DELETEQUERY (DirectX 9)."""
    if ddi < Since.DX9:
        return
    yield from _types(ddi)
    yield from _intervals(ddi)
    yield from _lifetimes(ddi)
    yield from _refusals(ddi)
    yield from _orders(ddi)


def _types(ddi: Since) -> Iterator[Case]:
    for kind in map(QueryType, KINDS):
        script = Script(ddi)
        script.call(create(1, kind))
        script.call(begin(1) if KINDS[kind].window is Window.INTERVAL else b"", end(1))
        script.owe(1, kind, _BEGINS.get(kind, b""))
        rule = f"an issued {kind.sdk} is answered with its structure"
        name = f"query.type.{kind.name.lower()}"
        yield script.case(name, rule, _TYPES, optional=kind not in _ALWAYS)


def _interval(ddi: Since, name: str, rule: str, pixels: int, *tokens: bytes) -> Case:
    """A case that executes ``tokens`` in one call; occlusion query 1 must count ``pixels``."""
    script = Script(ddi)
    script.call(create(1, _OCCLUSION), *tokens, corners=BOX)
    script.owe_count(1, pixels)
    return script.case(f"query.{name}", rule, _QUERIES)


def _intervals(ddi: Since) -> Iterator[Case]:
    yield _interval(
        ddi, "interval", "an occlusion query counts what is drawn between BEGIN and END",
        _BOX_PIXELS, box(), begin(1), box(), end(1), box(),
    )  # fmt: skip
    yield _interval(
        ddi, "begin_restarts", "BEGIN while building starts again", _BOX_PIXELS,
        box(), begin(1), box(), begin(1), box(), end(1),
    )  # fmt: skip
    yield _interval(
        ddi, "begin_drops", "BEGIN of an issued query drops its unsent answer", 2 * _BOX_PIXELS,
        begin(1), box(), end(1), begin(1), box(), box(), end(1),
    )  # fmt: skip
    yield _interval(
        ddi, "end_without_begin", "END without BEGIN is an empty interval", 0, box(), end(1)
    )
    yield _interval(
        ddi, "end_again", "END of an issued query restarts it with an empty interval", 0,
        begin(1), box(), end(1), box(), end(1),
    )  # fmt: skip
    both = issue(1, Issue.BEGIN | Issue.END)
    yield _interval(
        ddi, "both_flags", "BEGIN and END in one are an empty interval", 0, box(), both
    )
    yield _interval(
        ddi, "no_flags", "no flags do nothing", _BOX_PIXELS,
        begin(1), box(), issue(1, 0), end(1), issue(1, 0),
    )  # fmt: skip
    yield _interval(
        ddi, "again_after_an_answer", "a query that was created anew counts anew", _BOX_PIXELS,
        begin(1), box(), box(), end(1), create(1, _OCCLUSION), begin(1), box(), end(1),
    )  # fmt: skip
    script = Script(ddi)
    script.call(create(1, _OCCLUSION), create(2, _OCCLUSION), begin(1), box(), corners=BOX)
    script.call(begin(2), box(), end(1), box(), end(2), corners=BOX)
    script.owe_count(1, 2 * _BOX_PIXELS)
    script.owe_count(2, 2 * _BOX_PIXELS)
    rule = "intervals of two queries may overlap, and span calls"
    yield script.case("query.overlap", rule, _QUERIES)


def _several(op: Op, *tokens: bytes) -> bytes:
    """One token ``op`` with the payloads of several tokens ``op`` that have count 1."""
    return token(op, b"".join(one[HEADER_BYTES:] for one in tokens), len(tokens))


def _lifetimes(ddi: Since) -> Iterator[Case]:
    yield event_case(
        ddi, "query.event_begin", "BEGIN of an event is ignored", _QUERIES,
        create(1) + begin(1) + end(1), events=(1,),
    )  # fmt: skip
    yield event_case(
        ddi, "query.delete", "the answer of a deleted query is discarded", _QUERIES,
        create(1) + create(2) + end(1) + end(2) + delete(1), events=(2,),
    )  # fmt: skip

    script = Script(ddi)
    script.call(create(1), end(1), delete(1), create(1, _OCCLUSION), end(1))
    script.owe_count(1, 0)
    yield script.case("query.reuse", "the id of a deleted query may be used again", _QUERIES)

    largest = 0xFFFFFFFF
    yield event_case(
        ddi, "query.any_id", "every 32-bit number is an id", _QUERIES,
        create(largest) + create(0) + end(largest) + end(0), events=(largest, 0),
    )  # fmt: skip

    script = Script(ddi)
    script.context(OTHER_CONTEXT)
    script.call(create(1), create(2))
    script.call(create(1, _OCCLUSION), end(1), context=OTHER_CONTEXT)
    script.call(end(2))
    script.owe_events(2)
    script.owe(1, _OCCLUSION, bytes(4), OTHER_CONTEXT)
    yield script.case("query.contexts", "each context has queries of its own", _QUERIES)

    both = _several(Op.CREATEQUERY, create(1), create(2)) + _ends((1, 2))
    yield event_case(
        ddi,
        "query.several",
        "a token has as many queries as it counts",
        _QUERIES,
        both,
        events=(1, 2),
    )
    yield event_case(
        ddi, "query.delete_several", "one token deletes several queries", _QUERIES,
        both + _several(Op.DELETEQUERY, delete(1), delete(2)),
    )  # fmt: skip


def _refusals(ddi: Since) -> Iterator[Case]:
    rows = (
        ("issue_unknown", "ISSUEQUERY of an id that is none fails the call there", end(9)),
        ("delete_unknown", "DELETEQUERY of an id that is none fails the call there", delete(9)),
        ("unknown_type", "CREATEQUERY of a type that is none fails the call there",
         create(9, _UNKNOWN_TYPE)),
    )  # fmt: skip
    for name, rule, bad in rows:
        refused = Expect(HResult.DDERR_INVALIDPARAMS, len(create(1)))
        yield event_case(
            ddi, f"query.{name}", rule, 'wire format, "Queries"', create(1) + bad + end(1),
            expect=refused,
        )  # fmt: skip


def _orders(ddi: Since) -> Iterator[Case]:
    ids = (5, 1, 4, 2, 3)
    for kind in (_EVENT, _OCCLUSION):
        script = Script(ddi)
        script.call(*(create(query, kind) for query in sorted(ids)), *map(end, ids))
        for query in ids:
            script.owe(query, kind, _BEGINS.get(kind, b""))
        yield script.case(
            f"query.order.{kind.name.lower()}", "queries of a type are answered in issue order",
            'wire format, "Responses"',
        )  # fmt: skip


# Responses and errors

_RESPONSES = 'Handling Asynchronous Queries; wire format, "Responses"'
_ERRORS = 'wire format, "Results" and "Unknown opcodes"'
_NO_TOKEN = b"\xff\0\0\0"
_SIZES = (28, 31, 32, 36, 40, 44, 47, 52, 60, 64, 76)
"""Sizes in bytes of command buffers that hold several ENDs of events, not all their answers."""
_ISSUE_BYTES = 8
_MANY = 100
_UNUSED_OPCODES = (0, 4, 7, 9, 14, 68, 70, 78, 87, 88, 92, 99, 128, 255)


def response_cases(ddi: Since) -> Iterator[Case]:
    """Yield the conformance cases of response overflow, failed and empty calls, error offsets.

    Before DirectX 9 nothing is answered, and only the error offsets are left.
    """
    if ddi >= Since.DX9:
        for size in _SIZES:
            yield _overflow(ddi, size)
        yield _many(ddi)
        yield from _failures(ddi)
        yield from _empty_calls(ddi)
    yield from _errors(ddi)


def _many(ddi: Since) -> Case:
    halves = range(_MANY // 2), range(_MANY // 2, _MANY)
    calls = [b"".join(map(make, half)) for make in (create, end) for half in halves]
    return event_case(
        ddi, "response.many", "a hundred answers come, in order", _RESPONSES, *calls,
        events=range(_MANY),
    )  # fmt: skip


def _overflow(ddi: Since, size: int) -> Case:
    """A case of ENDs of events in a buffer of ``size`` bytes, too small for all their answers."""
    events = range(1, (size - HEADER_BYTES) // _ISSUE_BYTES + 1)
    script = Script(ddi)
    script.buffer(SMALL, SurfaceKind.MEMORY, size)
    script.call(*map(create, events))
    script.call(_ends(events), buffer=SMALL)
    script.owe_events(*events)
    rule = "what does not fit stays queued, RESPONSECONTINUE says so, and nothing is lost"
    return script.case(f"response.overflow.{size}", rule, _RESPONSES)


def _ends(queries: Sequence[int]) -> bytes:
    """One ISSUEQUERY token with END for several queries."""
    return _several(Op.ISSUEQUERY, *map(end, queries))


def _failures(ddi: Since) -> Iterator[Case]:
    tokens = create(1) + end(1)
    yield event_case(
        ddi, "response.failure", "a call that fails answers nothing, and loses no answer",
        _RESPONSES, tokens + _NO_TOKEN, expect=Expect(_UNPARSED, len(tokens)), events=(1,),
    )  # fmt: skip
    script = Script(ddi)
    script.buffer(SMALL, SurfaceKind.MEMORY, len(end(1)))
    script.call(create(1))
    script.call(end(1), buffer=SMALL, expect=Expect(silent=True))
    script.call(buffer=SMALL, expect=Expect(silent=True))
    script.call()
    script.owe_events(1)
    rule = "if no answer fits nothing is written, and it stays queued"
    yield script.case("response.too_small", rule, _RESPONSES)
    script = Script(ddi)
    script.buffer(SMALL, SurfaceKind.MEMORY, 28)
    script.call(create(1, QueryType.VCACHE), create(2))
    script.call(_ends((1, 2)), buffer=SMALL)
    script.call()
    script.owe(1, QueryType.VCACHE, b"CACH")
    script.owe_events(2)
    rule = "an answer that does not fit is kept for a larger buffer"
    yield script.case("response.large_first", rule, _RESPONSES)


def _empty_calls(ddi: Since) -> Iterator[Case]:
    script = Script(ddi)
    script.call(expect=Expect(silent=True))
    script.call(expect=Expect(silent=True))
    rule = "an empty call is legal, and dwErrorOffset 0 without an answer"
    yield script.case("response.none", rule, _RESPONSES)
    yield event_case(
        ddi, "response.not_issued", "a query that was not issued has no answer", _RESPONSES,
        create(1) + create(2), expect=Expect(silent=True),
    )  # fmt: skip
    script = Script(ddi)
    script.call(create(1) * 8, end(1), offset=16)
    script.owe_events(1)
    yield script.case("response.offset", "a call behind dwCommandOffset is answered", _RESPONSES)


def _errors(ddi: Since) -> Iterator[Case]:
    good = Script(ddi).harmless
    for offset in (0, 4, 40):
        for before in (b"", good):
            script = Script(ddi)
            expect = Expect(_UNPARSED, offset + len(before))
            script.call(before, _NO_TOKEN, expect=expect, offset=offset)
            rule = "dwErrorOffset counts from the start of the command buffer"
            yield script.case(f"error.offset.{offset}.{len(before)}", rule, _ERRORS)
    behind = Expect(_UNPARSED, len(good))
    for opcode in (each for each in _UNUSED_OPCODES if ddi >= Since.DX9 or each not in tuple(Op)):
        yield event_case(
            ddi, f"error.opcode.{opcode}", "a number that is no token ends the call there",
            _ERRORS, good + bytes((opcode, 0, 0, 0)) + good, expect=behind,
        )  # fmt: skip
    for cut in (1, 2, 3):
        yield event_case(
            ddi, f"error.header.{cut}", "a header that does not fit ends the call there",
            'wire format, "Stream shape"', good + good[:cut], expect=behind,
        )  # fmt: skip
    script = Script(ddi)
    script.call(good, context=77, expect=Expect(HResult.D3DHAL_CONTEXT_BAD, 0))
    yield script.case("error.context", "an unknown context is an error", 'wire format, "Results"')


# Token lengths

_VERTEX_BYTES = 32
"""Size in bytes of a vertex, as passed with the calls of the token length cases."""
_DATA_LIGHT = 2
_MISSING = 0x00C0FFEE
"""A surface handle that is never created."""


def walk_cases(ddi: Since) -> Iterator[Case]:
    """Yield the conformance cases of token lengths, as the token table ``TABLE`` gives them."""
    for op in sorted(op for op in TABLE if TABLE[op].since <= ddi):
        yield from _cuts(ddi, TABLE[op])
        yield from _none(ddi, TABLE[op])
    for name, payload, op, n in _LENGTHS:
        if max(Since.of(op), _LATER.get(name, Since.DX6)) <= ddi:
            yield _length(ddi, name, token(op, payload, n))


def _cuts(ddi: Since, row: Token) -> Iterator[Case]:
    """Cases that end in the middle of a token: the call fails with dwErrorOffset at its header."""
    sample = row.samples[0]
    for cut in sorted({len(sample) - 1, len(sample) - 2, HEADER_BYTES}):
        if not HEADER_BYTES <= cut < len(sample):
            continue
        script = Script(ddi)
        script.call(sample[:cut], expect=Expect(_UNPARSED, 0), vertex_bytes=_VERTEX_BYTES)
        yield script.case(
            f"walk.cut.{row.name.lower()}.{cut}",
            f"{row.op.sdk} of {len(sample)} bytes is refused when {cut} are there",
            f'wire format, "Opcodes", {row.op.sdk}',
        )


def _none(ddi: Since, row: Token) -> Iterator[Case]:
    """Yield a case of a token with count 0, followed directly by another token.

    ``row`` is the token's row of ``TABLE``; nothing is yielded if count 0 is not a header alone,
    or for EXT, which is undocumented.
    """
    if row.op is Op.EXT or row.head is not None or row.vertices is not None or row.count(0):
        return
    script, optional = Script(ddi), ddi < Since.DX9 and row.op in _RESOURCE_TOKENS
    if optional:
        script.call(token(row.op, n=0))
    script.followed(token(row.op, n=0))
    yield script.case(
        f"walk.none.{row.name.lower()}",
        f"{row.op.sdk} that counts nothing is followed by nothing",
        'wire format, "Stream shape"', optional=optional,
    )  # fmt: skip


def _length(ddi: Since, name: str, bytes: bytes) -> Case:
    """A case in which a token whose execution is seen follows the token ``bytes``."""
    script = Script(ddi)
    if ddi >= Since.DX7:
        script.managed(MANAGED)
    script.followed(bytes)
    rule = f"{len(bytes)} bytes are one token, and the next begins behind them"
    return script.case(f"walk.length.{name}", rule, 'wire format, "Ambiguous lengths"')


def _words(*words: int) -> bytes:
    return dwords(0, *words)[HEADER_BYTES:]


_LIGHT = _words(0, _DATA_LIGHT) + _words(3) + bytes(100)
_LENGTHS: tuple[tuple[str, bytes, Op, int], ...] = (
    ("renderstate.2", _words(22, 3, 22, 3), Op.RENDERSTATE, 2),
    ("texturestagestate", _words(0x000B0000, 0), Op.TEXTURESTAGESTATE, 1),
    ("viewportinfo.2", _words(0, 0, 4, 4, 0, 0, 8, 8), Op.VIEWPORTINFO, 2),
    ("winfo", _words(0, 0x3F800000), Op.WINFO, 1),
    ("zrange", _words(0, 0x3F800000), Op.ZRANGE, 1),
    ("setmaterial", bytes(68), Op.SETMATERIAL, 1),
    ("createlight.2", _words(0, 1), Op.CREATELIGHT, 2),
    ("setlight.data", _words(0, _DATA_LIGHT, 3) + bytes(100), Op.SETLIGHT, 1),
    ("setlight.mixed", _LIGHT + _words(0, 0) + _LIGHT, Op.SETLIGHT, 3),
    ("settransform", _words(2) + bytes(64), Op.SETTRANSFORM, 1),
    ("setpriority.0", b"", Op.SETPRIORITY, 0),
    ("setpriority.2", _words(MANAGED, 1, MANAGED, 2), Op.SETPRIORITY, 2),
    ("settexlod.0", b"", Op.SETTEXLOD, 0),
    ("settexlod.2", _words(MANAGED, 1, MANAGED, 0), Op.SETTEXLOD, 2),
    ("setrendertarget.2", _words(2, 0), Op.SETRENDERTARGET, 2),
    ("clear.none", _words(0, 0, 0, 0), Op.CLEAR, 0),
    ("clear.computed", _words(8, 0, 0, 0, 0, 0, 0, 0), Op.CLEAR, 0),
    ("clear.2", _words(0, 0, 0, 0) + _words(0, 0, 1, 1) * 2, Op.CLEAR, 2),
    ("setclipplane", _words(0, 0, 0, 0, 0), Op.SETCLIPPLANE, 1),
    ("vertexconst.2", _words(0, 2) + bytes(32), Op.SETVERTEXSHADERCONST, 1),
    ("vertexconst.several", (_words(0, 1) + bytes(16)) * 2, Op.SETVERTEXSHADERCONST, 2),
    ("pixelconst", _words(0, 1) + bytes(16), Op.SETPIXELSHADERCONST, 1),
    ("vertexconsti", _words(0, 1) + bytes(16), Op.SETVERTEXSHADERCONSTI, 1),
    ("vertexconstb.3", _words(0, 3) + bytes(12), Op.SETVERTEXSHADERCONSTB, 1),
    ("pixelconsti", _words(0, 1) + bytes(16), Op.SETPIXELSHADERCONSTI, 1),
    ("pixelconstb.2", _words(0, 2) + bytes(8), Op.SETPIXELSHADERCONSTB, 1),
    ("setscissorrect", _words(0, 0, 4, 4), Op.SETSCISSORRECT, 1),
    ("setstreamsource", _words(0, 0, 16), Op.SETSTREAMSOURCE, 1),
    ("setstreamsource2", _words(0, 0, 0, 16), Op.SETSTREAMSOURCE2, 1),
    ("setstreamsourceum", _words(0, 16), Op.SETSTREAMSOURCEUM, 1),
    ("setindices", _words(0, 2), Op.SETINDICES, 1),
    ("setdepthstencil", _words(0), Op.SETDEPTHSTENCIL, 1),
    ("rectpatch.segments", _words(_MISSING, 1) + bytes(16), Op.DRAWRECTPATCH, 1),
    ("rectpatch.several", _words(_MISSING, 1) + bytes(16) + _words(_MISSING, 0),
     Op.DRAWRECTPATCH, 2),
    ("tripatch.several", _words(_MISSING, 0) + _words(_MISSING, 1) + bytes(12),
     Op.DRAWTRIPATCH, 2),
)  # fmt: skip
"""(Case name, payload, opcode, count) of valid tokens whose length drivers easily misread."""
_LATER = {"clear.computed": Since.DX8}
"""Names of cases whose payload is of a later version than their token, and that version."""
_RESOURCE_TOKENS = (
    Op.VOLUMEBLT, Op.BUFFERBLT, Op.MULTIPLYTRANSFORM, Op.ADDDIRTYRECT, Op.ADDDIRTYBOX,
)  # fmt: skip
"""Tokens of DirectX 8 that only drivers get that announced a capability, such as volume textures
or the management of resources."""

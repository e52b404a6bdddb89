"""Cases of the response buffer: overflow, failures, empty calls, and where errors are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dp2emu.conform.case import Case, Expect
from dp2emu.conform.script import COMMANDS, SMALL, Script, create, end, token
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import QueryType
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.walk import HEADER_BYTES
from dp2emu.gpu.resource.heap import SurfaceKind

_RESPONSES = 'Handling Asynchronous Queries; wire format, "Responses"'
_ERRORS = 'wire format, "Results" and "Unknown opcodes"'
_UNPARSED = HResult.D3DERR_COMMAND_UNPARSED
_NO_TOKEN = b"\xff\0\0\0"
_SIZES = (28, 31, 32, 36, 40, 44, 47, 52, 60, 64, 76)
"""Each holds the ENDs of some events, and not all of their answers."""
_ISSUE_BYTES = 8
_MANY = 100


def response_cases() -> Iterator[Case]:
    """Every case of this family."""
    yield from _overflows()
    yield from _failures()
    yield from _empty()
    yield from _offsets()


def _overflows() -> Iterator[Case]:
    for size in _SIZES:
        yield _overflow(size)
    script = Script()
    script.call(*(create(query) for query in range(_MANY // 2)))
    script.call(*(create(query) for query in range(_MANY // 2, _MANY)))
    script.call(*(end(query) for query in range(_MANY // 2)))
    script.call(*(end(query) for query in range(_MANY // 2, _MANY)))
    for query in range(_MANY):
        script.owe_event(query)
    yield script.case("response.many", "a hundred answers come, in order", _RESPONSES)


def _overflow(size: int) -> Case:
    """As many events end in one token as the buffer holds; their answers take more."""
    events = range(1, (size - HEADER_BYTES) // _ISSUE_BYTES + 1)
    script = Script()
    script.buffer(SMALL, SurfaceKind.MEMORY, size)
    script.call(*map(create, events))
    script.call(_ends(events), buffer=SMALL)
    for query in events:
        script.owe_event(query)
    rule = "what does not fit stays queued, RESPONSECONTINUE says so, and nothing is lost"
    return script.case(f"response.overflow.{size}", rule, _RESPONSES)


def _ends(queries: Sequence[int]) -> bytes:
    """One token that is END of them all."""
    items = b"".join(end(query)[HEADER_BYTES:] for query in queries)
    return token(Op.ISSUEQUERY, items, len(queries))


def _failures() -> Iterator[Case]:
    script = Script()
    tokens = create(1) + end(1)
    script.call(tokens, _NO_TOKEN, expect=Expect(_UNPARSED, len(tokens)))
    script.owe_event(1)
    yield script.case(
        "response.failure", "a call that fails answers nothing, and loses no answer", _RESPONSES
    )
    script = Script()
    script.buffer(SMALL, SurfaceKind.MEMORY, len(end(1)))
    script.call(create(1))
    script.call(end(1), buffer=SMALL, expect=Expect(silent=True))
    script.call(buffer=SMALL, expect=Expect(silent=True))
    script.call(buffer=COMMANDS)
    script.owe_event(1)
    yield script.case(
        "response.too_small",
        "if no answer fits nothing is written, and it stays queued",
        _RESPONSES,
    )
    script = Script()
    script.buffer(SMALL, SurfaceKind.MEMORY, 28)
    script.call(create(1, QueryType.VCACHE), create(2))
    script.call(_ends((1, 2)), buffer=SMALL)
    script.call(buffer=COMMANDS)
    script.owe(1, QueryType.VCACHE, b"CACH")
    script.owe_event(2)
    yield script.case(
        "response.large_first", "an answer that does not fit is kept for a larger buffer",
        _RESPONSES,
    )  # fmt: skip


def _empty() -> Iterator[Case]:
    script = Script()
    script.call(expect=Expect(silent=True))
    script.call(expect=Expect(silent=True))
    yield script.case(
        "response.none", "an empty call is legal, and dwErrorOffset 0 without an answer", _RESPONSES
    )
    script = Script()
    script.call(create(1), create(2), expect=Expect(silent=True))
    yield script.case(
        "response.not_issued", "a query that was not issued has no answer", _RESPONSES
    )
    script = Script()
    script.call(create(1) * 8, end(1), offset=16)
    script.owe_event(1)
    yield script.case("response.offset", "a call behind dwCommandOffset is answered", _RESPONSES)


def _offsets() -> Iterator[Case]:
    good = create(1)
    for offset in (0, 4, 40):
        for before in (b"", good):
            script = Script()
            at = offset + len(before)
            script.call(before, _NO_TOKEN, expect=Expect(_UNPARSED, at), offset=offset)
            rule = "dwErrorOffset counts from the start of the command buffer"
            yield script.case(f"error.offset.{offset}.{len(before)}", rule, _ERRORS)
    for opcode in (0, 4, 7, 9, 14, 68, 70, 78, 87, 88, 92, 99, 128, 255):
        script = Script()
        bad = bytes((opcode, 0, 0, 0))
        script.call(good, bad, good, expect=Expect(_UNPARSED, len(good)))
        rule = "a number that is no token ends the call there"
        yield script.case(f"error.opcode.{opcode}", rule, _ERRORS)
    for cut in (1, 2, 3):
        script = Script()
        script.call(good, good[:cut], expect=Expect(_UNPARSED, len(good)))
        rule = "a header that does not fit ends the call there"
        yield script.case(f"error.header.{cut}", rule, 'wire format, "Stream shape"')
    script = Script()
    script.call(good, context=77, expect=Expect(HResult.D3DHAL_CONTEXT_BAD, 0))
    yield script.case("error.context", "a context that is none is told", 'wire format, "Results"')

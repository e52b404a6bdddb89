"""A state machine test of queries: no answer is lost, duplicated or reordered.

Random traffic is checked against a model of issue order and covered pixels.  The model has no
clock: it checks what holds for any timing (wire format, "Queries" and "Responses").  It runs on
any rig::

    TestMyDriver = query_traffic(lambda timing: NativeDriver("./mydriver.so"))
"""

from __future__ import annotations

import struct
import unittest
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import Format, QueryType
from dp2emu.d3d.flags import Dp2Flags, Issue
from dp2emu.d3d.fvf import DIFFUSE, XYZRHW
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.call import Answer, Call
from dp2emu.gpu.device.timing import Timing
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from dp2emu.rig.interface import Rig
from dp2emu.runtime.responses import parse_responses
from dp2emu.testing.strategies import timings

OpenRig = Callable[[Timing], Rig]
"""A function that opens a new rig; its parameter is the timing model, which only the emulator
uses."""

LENGTHS: Mapping[QueryType, int] = MappingProxyType(
    {QueryType.EVENT: 4, QueryType.OCCLUSION: 4, QueryType.VCACHE: 16, QueryType.TIMESTAMP: 8}
)
"""Size in bytes of an answer's payload by query type, for the types that random traffic uses."""

SIZES = (4, 8, 16, 19, 20, 24, 28, 32, 40, 41, 64, 100)
"""Sizes in bytes of the small command surfaces, in which most answers do not fit."""

_IDS = st.integers(0, 3)
_TARGET, _COMMANDS, _TINY = 1, 2, 10
_EDGE, _BUFFER, _VERTEX = 64, 4096, 20
_BEGIN, _END = int(Issue.BEGIN), int(Issue.END)


class _Owed(msgspec.Struct):
    """A pending answer: the query, its type, and the pixels that an OCCLUSION query counts."""

    query: int
    kind: QueryType
    pixels: int


class QueryTraffic(RuleBasedStateMachine):
    """A Hypothesis state machine: rules send random draws and query tokens to a rig, and check its
    answers against a model.  Mutable: rules change the model.

    ``query_traffic`` makes a subclass for a rig.
    """

    open_rig: ClassVar[OpenRig]
    kinds: ClassVar[tuple[QueryType, ...]] = tuple(LENGTHS)

    def __init__(self) -> None:
        super().__init__()
        self._rig: Rig | None = None
        self._live: dict[int, QueryType] = {}
        self._building: dict[int, int] = {}
        self._owed: list[_Owed] = []
        self._drawn = 0

    @initialize(timing=timings())
    def start(self, timing: Timing) -> None:
        """Open a rig and create a target, a command surface, and small command surfaces."""
        rig = self._rig = type(self).open_rig(timing)
        color = int(Format.X8R8G8B8)
        rig.create_surface(SurfaceDesc(_TARGET, SurfaceKind.SURFACE, _EDGE, _EDGE, color))
        rig.create_surface(SurfaceDesc(_COMMANDS, SurfaceKind.MEMORY, _BUFFER))
        for number, size in enumerate(SIZES):
            rig.create_surface(SurfaceDesc(_TINY + number, SurfaceKind.MEMORY, size))
        rig.create_context(1, color=_TARGET)

    @rule(query=_IDS, kind=st.integers(0, len(LENGTHS) - 1))
    def creates(self, query: int, kind: int) -> None:
        """CREATEQUERY of a random id; a query that has this id is replaced."""
        chosen = self.kinds[kind % len(self.kinds)]
        self._forget(query)
        self._live[query] = chosen
        self._ok(_token(Op.CREATEQUERY, query, chosen))

    @rule(query=_IDS)
    def deletes(self, query: int) -> None:
        """DELETEQUERY of a random id; the driver must refuse it if there is no such query."""
        commands = _token(Op.DELETEQUERY, query)
        if query not in self._live:
            self._refused(commands)
            return
        self._forget(query)
        del self._live[query]
        self._ok(commands)

    @rule(query=_IDS, flags=st.sampled_from([0, _BEGIN, _END, _BEGIN | _END]))
    def issues(self, query: int, flags: int) -> None:
        """ISSUEQUERY of a random id; the driver must refuse it if there is no such query."""
        commands = _token(Op.ISSUEQUERY, query, flags)
        if query not in self._live:
            self._refused(commands)
            return
        if flags & _BEGIN:
            self._begin(query)
        if flags & _END:
            self._end(query)
        self._ok(commands)

    @rule(width=st.integers(1, 9), height=st.integers(1, 9))
    def draws(self, width: int, height: int) -> None:
        """Draw two triangles that cover exactly width x height pixels."""
        self._drawn += width * height
        commands = struct.pack("<BBHH", Op.TRIANGLELIST, 0, 2, 0)
        self._ok(commands, vertices=_rectangle(width, height))

    @rule(number=st.integers(0, len(SIZES) - 1))
    def polls_with_a_tiny_buffer(self, number: int) -> None:
        """Submit an empty call with a small buffer: answers that do not fit stay pending."""
        answer = self._call(buffer=_TINY + number)
        assert answer.ddrval == HResult.D3D_OK, answer
        size = len(answer.response)
        assert size <= SIZES[number], f"{size} bytes of answers in a buffer of {SIZES[number]}"
        self._check(answer)

    @rule(query=_IDS)
    def fails_after_an_issue(self, query: int) -> None:
        """Submit an END and an invalid token: the call fails after the END, without a response."""
        if query not in self._live:
            return
        self._end(query)
        issue = _token(Op.ISSUEQUERY, query, _END)
        answer = self._call(issue + bytes(4))
        assert answer.ddrval == HResult.D3DERR_COMMAND_UNPARSED, answer
        assert answer.dwErrorOffset == len(issue), answer
        assert answer.response == b"", answer

    @invariant()
    def answers_are_owed_once(self) -> None:
        """Invariant: a query has at most one pending answer, that to its last END."""
        queries = [entry.query for entry in self._owed]
        assert len(set(queries)) == len(queries), f"owed twice: {queries}"

    def teardown(self) -> None:
        """At the end: wait for the GPU, check that no answer is missing, and close the rig."""
        if self._rig is None:
            return
        try:
            self._rig.finish()
            self._ok(b"")
            assert not self._owed, f"never answered: {self._owed}"
        finally:
            close = getattr(self._rig, "close", None)
            if close is not None:
                close()

    # The model

    def _supersede(self, query: int) -> None:
        self._owed = [entry for entry in self._owed if entry.query != query]

    def _forget(self, query: int) -> None:
        self._supersede(query)
        self._building.pop(query, None)

    def _begin(self, query: int) -> None:
        if self._live[query] is QueryType.OCCLUSION:
            self._building[query] = self._drawn
            self._supersede(query)

    def _end(self, query: int) -> None:
        pixels = self._drawn - self._building.pop(query, self._drawn)
        self._supersede(query)
        self._owed.append(_Owed(query, self._live[query], pixels))

    def _check(self, answer: Answer) -> None:
        """Check that each response is to the oldest pending query of its type, with its value."""
        assert answer.dwErrorOffset == len(answer.response), answer
        found = parse_responses(answer.response, self._size_of)
        for record in found.records:
            kind = self._live[record.query]
            oldest = next((entry for entry in self._owed if entry.kind is kind), None)
            assert oldest is not None, f"query {record.query} was answered, nothing is owed"
            assert oldest.query == record.query, f"query {oldest.query} was issued before"
            value = int.from_bytes(record.data, "little")
            if kind is QueryType.OCCLUSION:
                assert value == oldest.pixels, f"{value} pixels, not {oldest.pixels}"
            if kind is QueryType.EVENT:
                assert value == 1, f"an event of {value}"
            self._owed.remove(oldest)

    def _size_of(self, query: int) -> int | None:
        return LENGTHS[self._live[query]] if query in self._live else None

    # The wire

    def _ok(self, commands: bytes, vertices: bytes = b"") -> None:
        answer = self._call(commands, vertices)
        assert answer.ddrval == HResult.D3D_OK, answer
        self._check(answer)

    def _refused(self, commands: bytes) -> None:
        answer = self._call(commands)
        assert answer.ddrval == HResult.DDERR_INVALIDPARAMS, answer

    def _call(
        self, commands: bytes = b"", vertices: bytes = b"", buffer: int = _COMMANDS
    ) -> Answer:
        assert self._rig is not None
        call = Call(
            1,
            lpDDCommands=buffer,
            dwCommandLength=len(commands),
            commands=commands,
            dwFlags=int(Dp2Flags.USERMEMVERTICES) if vertices else 0,
            dwVertexType=XYZRHW | DIFFUSE,
            dwVertexLength=len(vertices) // _VERTEX,
            vertices=vertices or None,
        )
        return self._rig.submit(call)


STEPS = settings(stateful_step_count=25, deadline=None)
"""Default Hypothesis settings of ``query_traffic``: 25 steps a run, no deadline."""


def query_traffic(
    open_rig: OpenRig, *, kinds: tuple[QueryType, ...] = QueryTraffic.kinds, how: settings = STEPS
) -> type[unittest.TestCase]:
    """A test case for pytest or unittest that sends random query traffic to rigs of ``open_rig``.

    ``kinds`` are the query types to use, out of ``LENGTHS``; ``how`` are Hypothesis settings.  If
    the rig has a method ``close``, that is called after each run.
    """
    members = {"open_rig": staticmethod(open_rig), "kinds": kinds}
    machine: Any = type("QueryTrafficOnRig", (QueryTraffic,), members)
    case: type[unittest.TestCase] = machine.TestCase
    case.settings = how  # type: ignore[attr-defined]
    return case


def _token(op: Op, *values: int) -> bytes:
    return struct.pack(f"<BBH{len(values)}I", op, 0, 1, *values)


def _rectangle(width: int, height: int) -> bytes:
    left, top, right, bottom = 1.5, 2.5, 1.5 + width, 2.5 + height
    a, b, c, d = (
        struct.pack("<4fI", x, y, 0.5, 1.0, 0xFFFFFFFF)
        for y in (top, bottom)
        for x in (left, right)
    )
    return a + b + c + b + d + c

"""Random query traffic against a plain model: nothing is lost, doubled or reordered.

The model knows issue order and how many pixels each draw covers; it knows no clock, so it only
asks what must hold on any of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from dp2emu.d3d.enums import QueryType
from dp2emu.d3d.hresult import HResult
from dp2emu.gpu.memory import SurfaceDesc, SurfaceKind
from dp2emu.gpu.timing import Timing, by_work, fixed, instant, seeded
from tests.dp2.rigging import (
    BEGIN,
    END,
    Bench,
    create,
    delete,
    dword,
    issue,
    records,
    rectangle,
    triangle_list,
)

KINDS = (QueryType.EVENT, QueryType.OCCLUSION, QueryType.VCACHE, QueryType.TIMESTAMP)
LENGTHS = {
    QueryType.EVENT: 4,
    QueryType.OCCLUSION: 4,
    QueryType.VCACHE: 16,
    QueryType.TIMESTAMP: 8,
}
SIZES = (4, 8, 16, 19, 20, 24, 28, 32, 40, 41, 64, 100)
IDS = st.integers(0, 5)
EXAMPLES = max(500, settings().max_examples)


def timings() -> st.SearchStrategy[Timing]:
    return st.one_of(
        st.just(instant()),
        st.builds(fixed, st.integers(1, 50), st.integers(0, 200), st.integers(0, 100)),
        st.just(by_work()),
        st.builds(seeded, st.integers(0, 1 << 32)),
    )


@dataclass
class Expected:
    """An answer that is owed: to which query, and (for OCCLUSION) how many pixels."""

    query: int
    kind: QueryType
    pixels: int


class QueryTraffic(RuleBasedStateMachine):
    """The driver under random traffic, and what it owes."""

    def __init__(self) -> None:
        super().__init__()
        self.kinds: dict[int, QueryType] = {}
        self.building: dict[int, int] = {}
        self.owed: list[Expected] = []
        self.drawn = 0

    @initialize(timing=timings())
    def start(self, timing: Timing) -> None:
        self.bench = Bench(timing=timing)
        for number, size in enumerate(SIZES):
            self.bench.driver.create_surface(SurfaceDesc(10 + number, SurfaceKind.MEMORY, size))

    def supersede(self, query: int) -> None:
        self.owed = [entry for entry in self.owed if entry.query != query]

    def check(self, response: bytes) -> None:
        """Each record is the oldest owed of its type, and right."""
        for query, payload in records(response):
            kind = self.kinds[query]
            oldest = next(entry for entry in self.owed if entry.kind is kind)
            assert oldest.query == query
            assert len(payload) == LENGTHS[kind]
            if kind is QueryType.OCCLUSION:
                assert dword(payload) == oldest.pixels
            if kind is QueryType.EVENT:
                assert dword(payload) == 1
            self.owed.remove(oldest)

    def submit(self, commands: bytes, vertices: bytes = b"") -> None:
        self.check(self.bench.ok(commands, vertices).response)

    def end(self, query: int) -> None:
        kind = self.kinds[query]
        pixels = self.drawn - self.building.pop(query, self.drawn)
        self.supersede(query)
        self.owed.append(Expected(query, kind, pixels))

    def begin(self, query: int) -> None:
        if self.kinds[query] is QueryType.OCCLUSION:
            self.building[query] = self.drawn
            self.supersede(query)

    @rule(query=IDS, kind=st.sampled_from(KINDS))
    def creates(self, query: int, kind: QueryType) -> None:
        self.supersede(query)
        self.building.pop(query, None)
        self.kinds[query] = kind
        self.submit(create(query, kind))

    @rule(query=IDS)
    def deletes(self, query: int) -> None:
        if query not in self.kinds:
            assert self.bench.call(delete(query)).ddrval == HResult.DDERR_INVALIDPARAMS
            return
        self.supersede(query)
        self.building.pop(query, None)
        answer = self.bench.ok(delete(query))
        del self.kinds[query]
        self.check(answer.response)

    @rule(query=IDS, flags=st.sampled_from([0, BEGIN, END, BEGIN | END]))
    def issues(self, query: int, flags: int) -> None:
        if query not in self.kinds:
            assert self.bench.call(issue(query, flags)).ddrval == HResult.DDERR_INVALIDPARAMS
            return
        if flags & BEGIN:
            self.begin(query)
        if flags & END:
            self.end(query)
        self.submit(issue(query, flags))

    @rule(width=st.integers(1, 9), height=st.integers(1, 9))
    def draws(self, width: int, height: int) -> None:
        self.drawn += width * height
        self.submit(triangle_list(0, 2), rectangle(2, 3, width, height))

    @rule(number=st.integers(0, len(SIZES) - 1))
    def polls_with_a_tiny_buffer(self, number: int) -> None:
        answer = self.bench.ok(lpDDCommands=10 + number)
        assert len(answer.response) == answer.dwErrorOffset <= SIZES[number]
        self.check(answer.response)

    @rule(query=IDS)
    def fails_after_an_issue(self, query: int) -> None:
        """A failing call executes what came before, answers nothing and loses nothing."""
        if query not in self.kinds:
            return
        self.end(query)
        answer = self.bench.call(issue(query, END) + b"\0\0\0\0")
        assert (answer.ddrval, answer.dwErrorOffset, answer.response) == (
            HResult.D3DERR_COMMAND_UNPARSED,
            12,
            b"",
        )

    @invariant()
    def answers_are_owed_once(self) -> None:
        assert len({entry.query for entry in self.owed}) == len(self.owed)

    def teardown(self) -> None:
        if not hasattr(self, "bench"):
            return
        self.bench.driver.finish()
        self.submit(b"")
        assert self.owed == []


TestQueryTraffic = QueryTraffic.TestCase
TestQueryTraffic.settings = settings(max_examples=EXAMPLES, stateful_step_count=25, deadline=None)

"""Any calls of the query entries, against a plain model of states, order and time."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from dp2emu.ddi10.kinds import Query
from dp2emu.ddi10.query import FIFO_BASE
from dp2emu.gpu.timing import Timing, instant
from tests.ddi10.driving import DO_NOT_FLUSH, STILL, Driven

CALL = 10
TYPES = [Query.EVENT, Query.OCCLUSION, Query.TIMESTAMP, Query.OCCLUSIONPREDICATE]


def delay(query: int, number: int) -> int:
    """Ticks from the end of a query to its visibility; orders of reports get mixed up."""
    return (query * 37 + number * 91) % 300


@dataclass(eq=False)
class Modelled:
    """A query of the model; ``issue`` counts what supersedes older results."""

    query: Query
    state: str = "CREATED"
    issue: int = 0
    data: bytes = b""
    begun: dict[int, int] = field(default_factory=dict)


@dataclass
class Model:
    """Time, the recorded commands, and the results on their way."""

    now: int = 0
    samples: int = 0
    recorded: list[tuple[str, Modelled, int]] = field(default_factory=list)
    due: list[tuple[int, Modelled, int, bytes]] = field(default_factory=list)
    ended: dict[Query, int] = field(default_factory=dict)
    last: dict[Query, int] = field(default_factory=dict)

    def flush(self) -> None:
        for command, query, issue in self.recorded:
            if command == "begin":
                query.begun[issue] = self.samples
            else:
                self.finish(query, issue)
        self.recorded.clear()
        self.wait(CALL)

    def finish(self, query: Modelled, issue: int) -> None:
        kind = query.query
        number = self.ended.get(kind, 0)
        self.ended[kind] = number + 1
        visible = max(self.now + delay(kind, number), self.last.get(kind, 0))
        self.last[kind] = visible
        passed = self.samples - query.begun.get(issue, self.samples)
        data = {
            Query.EVENT: (1).to_bytes(4, "little"),
            Query.OCCLUSION: passed.to_bytes(8, "little"),
            Query.TIMESTAMP: self.now.to_bytes(8, "little"),
            Query.OCCLUSIONPREDICATE: (passed > 0).to_bytes(4, "little"),
        }[kind]
        self.due.append((visible, query, issue, data))

    def wait(self, ticks: int) -> None:
        self.now += ticks
        for entry in [entry for entry in self.due if entry[0] <= self.now]:
            self.due.remove(entry)
            _, query, issue, data = entry
            if query.issue == issue:
                query.state, query.data = "SIGNALED", data


class Machine(RuleBasedStateMachine):
    """The driver and the model, called alike."""

    queries = Bundle("queries")

    def __init__(self) -> None:
        super().__init__()
        timing = Timing(
            "model",
            lambda number, size: CALL,
            instant().cost,
            lambda kind, number: delay(kind - FIFO_BASE, number),
        )
        self.driven = Driven(timing)
        self.model = Model()
        self.live: list[tuple[bytearray, Modelled]] = []

    @rule(target=queries, query=st.sampled_from(TYPES))
    def create(self, query: Query) -> tuple[bytearray, Modelled]:
        made = self.driven.create(query), Modelled(query)
        self.live.append(made)
        return made

    @rule(made=consumes(queries))
    def destroy(self, made: tuple[bytearray, Modelled]) -> None:
        memory, query = made
        assert self.driven.call("DestroyQuery", memory) == []
        memory[:] = b"\xdd" * len(memory)
        query.issue += 1
        self.live.remove(made)

    @rule(made=queries)
    def begin(self, made: tuple[bytearray, Modelled]) -> None:
        memory, query = made
        if query.query in (Query.EVENT, Query.TIMESTAMP):
            return
        assert self.driven.call("QueryBegin", memory) == []
        query.issue += 1
        query.state = "BUILDING"
        self.model.recorded.append(("begin", query, query.issue))

    @rule(made=queries)
    def end(self, made: tuple[bytearray, Modelled]) -> None:
        memory, query = made
        assert self.driven.call("QueryEnd", memory) == []
        query.issue += query.state != "BUILDING"
        query.state = "ISSUED"
        self.model.recorded.append(("end", query, query.issue))

    @rule()
    def flush(self) -> None:
        assert self.driven.call("Flush") == []
        self.model.flush()

    @rule(samples=st.integers(0, 5))
    def draw(self, samples: int) -> None:
        self.flush()
        self.driven.adapter.gpu.counters.samples += samples
        self.model.samples += samples

    @rule(ticks=st.integers(0, 200))
    def advance(self, ticks: int) -> None:
        self.driven.adapter.advance(ticks)
        self.model.wait(ticks)

    @rule(made=queries, flags=st.sampled_from([0, DO_NOT_FLUSH]))
    def get_data(self, made: tuple[bytearray, Modelled], flags: int) -> None:
        memory, query = made
        if query.state == "CREATED":
            return
        data = self.driven.data(memory, query.query, flags)
        if flags or not self.model.recorded:
            self.model.wait(CALL)
        else:
            self.model.flush()
        assert data == (query.data if query.state == "SIGNALED" else None)
        assert self.driven.codes == ([] if query.state == "SIGNALED" else STILL)

    @invariant()
    def states_agree(self) -> None:
        states = self.driven.device.queries
        for memory, query in self.live:
            assert states.state(memory).name == query.state
        assert self.driven.adapter.gpu.now == self.model.now


TestMachine = Machine.TestCase

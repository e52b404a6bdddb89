"""Any calls of queries, draws and clears, against a plain model of states, order and time."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from dp2emu.ddi10.queries.query_types import Query
from dp2emu.gpu.command.packets import Clear
from dp2emu.gpu.device.timing import FIFO_BASE, Timing, instant
from tests.ddi10.drawing import SIZE
from tests.ddi10.driving import DO_NOT_FLUSH, STILL
from tests.ddi10.rendering import RED, Drawing

CALL = 10
POINTS = 1
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
    hint: bool = False
    begun: dict[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Command:
    """What was recorded: begin, end, draw (of pixels) or clear, under a predicate perhaps."""

    name: str
    query: Modelled | None = None
    number: int = 0
    value: bool = False


@dataclass
class Model:
    """Time, the commands recorded and queued, and the results on their way."""

    now: int = 0
    free: int = 0
    samples: int = 0
    lit: int = 0
    recorded: list[Command] = field(default_factory=list)
    queued: list[tuple[Command, int]] = field(default_factory=list)
    due: list[tuple[int, Modelled, int, bytes]] = field(default_factory=list)
    ended: dict[Query, int] = field(default_factory=dict)
    last: dict[Query, int] = field(default_factory=dict)
    found: dict[int, tuple[bool, int]] = field(default_factory=dict)
    clears: list[int] = field(default_factory=list)

    def flush(self) -> None:
        self.queued += [(command, self.now) for command in self.recorded]
        self.recorded.clear()
        self.wait(CALL)

    def run(self) -> None:
        while self.queued:
            command, submitted = self.queued[0]
            start = max(self.free, submitted)
            predicate = command.query if command.name in ("clear", "draw") else None
            holds, known = self.found[id(predicate)] if predicate else (None, 0)
            if predicate and not predicate.hint:
                start = max(start, known)
            if start > self.now:
                return
            self.free = start
            self.queued.pop(0)
            if not (predicate and known <= start and holds is command.value):
                self.execute(command)

    def execute(self, command: Command) -> None:
        if command.name == "clear":
            self.clears.append(self.free)
            self.lit = 0
        elif command.name == "draw":
            self.samples += command.number
            self.lit = max(self.lit, command.number)
        elif command.name == "begin":
            assert command.query
            command.query.begun[command.number] = self.samples
        else:
            assert command.query
            self.finish(command.query, command.number)

    def finish(self, query: Modelled, issue: int) -> None:
        kind = query.query
        number = self.ended.get(kind, 0)
        self.ended[kind] = number + 1
        visible = max(self.free + delay(kind, number), self.last.get(kind, 0))
        self.last[kind] = visible
        passed = self.samples - query.begun.get(issue, self.samples)
        self.found[id(query)] = passed > 0, visible
        data = {
            Query.EVENT: (1).to_bytes(4, "little"),
            Query.OCCLUSION: passed.to_bytes(8, "little"),
            Query.TIMESTAMP: self.free.to_bytes(8, "little"),
            Query.OCCLUSIONPREDICATE: (passed > 0).to_bytes(4, "little"),
        }[kind]
        self.due.append((visible, query, issue, data))

    def wait(self, ticks: int) -> None:
        self.now += ticks
        self.run()
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
        self.driven = Drawing(timing=timing)
        self.driven.call("IaSetTopology", POINTS)
        top = 1 - 1 / SIZE
        places = [-1 + (2 * n + 1) / SIZE for n in range(5)]
        self.driven.vertices([[x, top, 0.5, 1, *RED] for x in places])
        self.driven.call("Flush")
        self.driven.adapter.finish()
        (self.target,) = self.driven.device._parts.views.targets.values()
        self.model = Model(now=self.driven.adapter.gpu.now)
        self.current: Modelled | None = None
        self.value = False
        self.clears: list[int] = []
        self.driven.adapter.gpu.packet_taps.append(self._tap)
        self.live: list[tuple[bytearray, Modelled]] = []

    def _tap(self, packet: object, start: int) -> None:
        if isinstance(packet, Clear):
            self.clears.append(start)

    @rule(target=queries, query=st.sampled_from(TYPES), hint=st.booleans())
    def create(self, query: Query, hint: bool) -> tuple[bytearray, Modelled]:
        hint = hint and query is Query.OCCLUSIONPREDICATE
        made = self.driven.create(query, hint), Modelled(query, hint=hint)
        self.live.append(made)
        return made

    @rule(made=consumes(queries))
    def destroy(self, made: tuple[bytearray, Modelled]) -> None:
        memory, query = made
        self._unbind(query)
        assert self.driven.call("DestroyQuery", memory) == []
        memory[:] = b"\xdd" * len(memory)
        query.issue += 1
        self.live.remove(made)

    @rule(made=queries)
    def begin(self, made: tuple[bytearray, Modelled]) -> None:
        memory, query = made
        if query.query in (Query.EVENT, Query.TIMESTAMP):
            return
        self._unbind(query)
        assert self.driven.call("QueryBegin", memory) == []
        query.issue += 1
        query.state = "BUILDING"
        self.model.recorded.append(Command("begin", query, query.issue))

    @rule(made=queries)
    def end(self, made: tuple[bytearray, Modelled]) -> None:
        memory, query = made
        self._unbind(query)
        assert self.driven.call("QueryEnd", memory) == []
        query.issue += query.state != "BUILDING"
        query.state = "ISSUED"
        self.model.recorded.append(Command("end", query, query.issue))

    @rule()
    def flush(self) -> None:
        assert self.driven.call("Flush") == []
        self.model.flush()

    @rule(pixels=st.integers(1, 5))
    def draw(self, pixels: int) -> None:
        assert self.driven.call("Draw", pixels, 0) == []
        self.model.recorded.append(Command("draw", self.current, pixels, self.value))

    @rule(made=queries, value=st.booleans())
    def predicate(self, made: tuple[bytearray, Modelled], value: bool) -> None:
        memory, query = made
        if query.query is Query.OCCLUSIONPREDICATE and query.state in ("ISSUED", "SIGNALED"):
            assert self.driven.call("SetPredication", memory, value) == []
            self.current, self.value = query, value

    @rule()
    def clear(self) -> None:
        self.driven.call("ClearRenderTargetView", self.driven.view, (0, 0, 0, 0))
        self.model.recorded.append(Command("clear", self.current, value=self.value))

    @rule(
        target=queries, draws=st.booleans(), hint=st.booleans(), value=st.booleans(),
        flushed=st.booleans(),
    )  # fmt: skip
    def clear_under(
        self, draws: bool, hint: bool, value: bool, flushed: bool
    ) -> tuple[bytearray, Modelled]:
        """All that predication takes, which single calls come to seldom."""
        made = self.create(Query.OCCLUSIONPREDICATE, hint)
        self.begin(made)
        if draws:
            self.draw(1)
        self.end(made)
        if flushed:
            self.flush()
        self.predicate(made, value)
        self.clear()
        self.draw(2)
        return made

    def _unbind(self, query: Modelled) -> None:
        if self.current is query:
            assert self.driven.call("SetPredication", None, 0) == []
            self.current = None

    @rule(ticks=st.integers(0, 200))
    def advance(self, ticks: int) -> None:
        self.driven.adapter.advance(ticks)
        self.model.wait(ticks)

    @rule(made=queries, flags=st.sampled_from([0, DO_NOT_FLUSH]))
    def get_data(self, made: tuple[bytearray, Modelled], flags: int) -> None:
        memory, query = made
        if query.state == "CREATED" or query.hint:
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
        assert self.clears == self.model.clears
        seen = self.target.surface().data
        assert seen.reshape(-1, 4).any(axis=1).sum() == self.model.lit


TestMachine = Machine.TestCase

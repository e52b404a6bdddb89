"""Targets of command streams: reading them, as tokens and as text, and executing them."""

from __future__ import annotations

import io
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from random import Random

from dp2emu.capture.records import Called, ContextCreated, Record, SurfaceCreated
from dp2emu.d3d.dp2structs import Op
from dp2emu.dp2 import lockstep
from dp2emu.dp2.call import Call
from dp2emu.dp2.context import Context
from dp2emu.dp2.header_scan import OTHER, ShortWalk, row_of
from dp2emu.dp2.parsers import CONSTRUCT
from dp2emu.dp2.queries import KINDS
from dp2emu.dp2.table import TABLE
from dp2emu.dp2.walk import Scan, scan
from dp2emu.errors import CaptureError, DecodingDisagreement, ResponseError
from dp2emu.fuzz import grammar, stage
from dp2emu.fuzz.cost import Bound
from dp2emu.fuzz.mutants import Mutants, Mutator, plain_scan
from dp2emu.fuzz.stage import CALL, Outcome, Stage
from dp2emu.fuzz.target import Broken, Target, Trial, cases_of
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from dp2emu.runtime.responses import parse_responses
from dp2emu.shader.engines import JIT, REFERENCE
from dp2emu.shader.jit.machine import works
from dp2emu.text import TextCapture
from dp2emu.text.dump import TextWriter

_MOST = 1024
_WALKED = 96
"""Most bytes of an input of target ``walk`` that is not grown."""
_WRITTEN = 64
"""Most bytes of an input of target ``reassembly`` that is not grown."""
_LONG = 1 << 15
_PACE_OF_CALLS = 0.5
"""Function calls of longer inputs for each of others, of targets whose inputs draw: the heaviest
makes thousands of times the calls of the median."""
_LEFT_OUT = frozenset(op for op, token in TABLE.items() if row_of(token)[0] == OTHER)
"""Opcodes whose sizes the compiled walk leaves to the walk."""
_COVER = ("dp2emu.dp2", "dp2emu.gpu")
_BUFFER = 1 << 16
_START = (
    SurfaceCreated(SurfaceDesc(1, SurfaceKind.SURFACE, 64, 64, 22)),
    SurfaceCreated(SurfaceDesc(2, SurfaceKind.MEMORY, _BUFFER)),
    ContextCreated(1, 9, color=1),
)


class Walks:
    """A trial that holds the compiled walk to the walk, for streams and mutants of short ones
    (``walk``).  ``cases`` is the number of streams walked.  Mutable.
    """

    def __init__(self) -> None:
        self.cases = 0
        self._compiled = ShortWalk(_LONG, grammar.VERTEX_SIZE)
        self._mutants = Mutants(_WALKED, grammar.VERTEX_SIZE)
        self._scan = plain_scan()

    def __call__(self, data: bytes) -> Hashable:
        """Check a stream and its mutants; the features are those of the stream."""
        found = scan(data, 0, len(data), grammar.VERTEX_SIZE)
        tokens = [command[0] for command in found.commands]
        offsets, at = self._compiled(data)
        if at != found.stop or offsets != tokens:
            _same_tokens(self._compiled, data, found)
        self.cases += 1
        if 0 < len(data) <= _WALKED:
            self._walk_mutants(data, tokens)
        return _adjacent(data, found)

    def _walk_mutants(self, data: bytes, tokens: list[int]) -> None:
        walk, size = self._scan, grammar.VERTEX_SIZE
        made, lanes, offsets = self._mutants(data, tokens)
        for (start, end, at, number), places in zip(lanes, offsets, strict=True):
            commands, stop, wrong = walk(made, start, end, size)
            begun = [command[0] for command in commands]
            begun.append(stop)
            if number != len(commands) or at != stop or places[:number] != begun[:-1]:
                if places[:number] != begun[:number] or at not in begun[number : number + 1]:
                    raise Broken(f"the compiled walk has tokens of a mutant at {places[:number]}")
                mutant = made[start:end]
                _same_tokens(self._compiled, mutant, walk(mutant, 0, len(mutant), size))
            ends = [command[4] for command in commands]
            if begun != [start, *ends] or (wrong is None) != (stop == end):
                raise Broken(f"a token of a mutant at {begun} instead of {[start, *ends]}")
        self.cases += len(lanes)


def walks() -> Trial:
    """Return a trial that holds the compiled walk, if there is one, to the walk (``walk``)."""
    return Walks() if works() else walk


def _same_tokens(compiled: ShortWalk, data: bytes, found: Scan) -> None:
    """Raise Broken unless the compiled walk finds the tokens that ``scan`` has ``found``.

    It stops at tokens that it leaves to the walk, and is continued behind each.
    """
    commands = found.commands
    at = number = 0
    while True:
        offsets, at = compiled(data, at)
        last = number + len(offsets)
        if offsets != [command[0] for command in commands[number:last]]:
            raise Broken(f"the compiled walk has tokens at {offsets[:9]}")
        if last == len(commands):
            break
        offset, token, _, _, stop = commands[last]
        if offset != at or token.op not in _LEFT_OUT:
            raise Broken(f"the compiled walk stopped at {at}, before {token.name} at {offset}")
        at, number = stop, last + 1
    if at != found.stop:
        raise Broken(f"the compiled walk stopped at {at}, the walk at {found.stop}")


def walk(data: bytes) -> Hashable:
    """Check that tokens are adjacent up to where the walk stops."""
    return _adjacent(data, scan(data, 0, len(data), grammar.VERTEX_SIZE))


def _adjacent(data: bytes, found: Scan) -> Hashable:
    """Return features of a scan.  Raises Broken unless its tokens are adjacent."""
    commands, at = found.commands, 0
    for offset, _, _, start, stop in commands:
        if offset != at or stop < start:
            raise Broken(f"a token at {offset} instead of {at}")
        at = stop
    if at != found.stop or (found.wrong is None) != (at == len(data)):
        raise Broken(f"the walk stopped at {found.stop}, its tokens at {at}")
    if found.wrong is not None:
        token = found.wrong[1]
        return token and token.op, min(len(commands), 2)
    return commands[-1][1].op if commands else None


def agree(data: bytes) -> Hashable:
    """Check that both decoders, construct and the walk, find the same tokens and fields."""
    size, at, last = grammar.VERTEX_SIZE, 0, None
    try:
        while True:
            found = lockstep.scan(data, at, len(data), size)
            for _, token, n, start, stop in found.commands:
                lockstep.body_of(token, data, n, start, stop, size)
                last = token.op
            at = found.stop
            if found.wrong is not None or at == len(data):
                return last, found.wrong is None
    except DecodingDisagreement as error:
        raise Broken(str(error)) from None


class Texts:
    """A trial that writes calls as text and reads them again: a stream, and the mutants of a short
    one in the same text (``reassembly``).  ``cases`` is the number of calls compared.  Mutable.
    """

    def __init__(self) -> None:
        self.cases = 0
        self._mutator = Mutator(_WRITTEN)

    def __call__(self, data: bytes) -> Hashable:
        """Check a stream and its mutants; the features are those of the stream.

        An exception has a note that names the mutant, if the stream itself is right.
        """
        streams = [data]
        if 0 < len(data) <= _WRITTEN:
            found = scan(data, 0, len(data), grammar.VERTEX_SIZE)
            streams += self._mutator.distinct(data, [command[0] for command in found.commands])
        try:
            feature = come_back(*streams)
        except Exception as error:
            raise _first_failure(streams, error) from None
        self.cases += len(streams)
        return feature


def _first_failure(streams: Sequence[bytes], failure: Exception) -> Exception:
    """Return the exception of the first stream that fails alone, with a note of its bytes if it is
    a mutant; ``failure``, of all together, if none does.
    """
    for number, each in enumerate(streams):
        try:
            come_back(each)
        except Exception as error:
            if number:
                error.add_note(f"This is the mutant {each.hex()}.")
            return error
    failure.add_note("Each call alone is right.")
    return failure


def come_back(*streams: bytes) -> Hashable:
    """Check that calls written as text and read again are the same; return features of the first
    of ``streams``, their commands.
    """
    calls = [_called(data) for data in streams]
    out = io.StringIO()
    writer = TextWriter(out)
    writer.write(calls[0])
    first = out.getvalue()
    for each in calls[1:]:
        writer.write(each)
    out.seek(0)
    try:
        read = [*TextCapture(out).records()]
    except CaptureError as error:
        raise Broken(f"the text cannot be read: {error.what}") from None
    if read != calls:
        raise Broken("the text assembles to other bytes")
    return first.count("raw"), len(streams[0]) // 32


def records(data: bytes) -> Sequence[Record]:
    """Return the records of a capture of one call, with the command bytes ``data``."""
    return (*_START, _called(data))


def _called(data: bytes) -> Called:
    return Called(
        Call(1, 2, dwCommandLength=len(data), commands=data, dwVertexSize=grammar.VERTEX_SIZE)
    )


# Execution


def execute(played: Stage, data: bytes) -> Hashable:
    """Check that calls are answered, and dwErrorOffset lies in the commands."""
    played.enter_again(data)
    kinds = set[Hashable]()
    for call in stage.calls_of(data):
        outcome = played.call(call)
        if outcome.ddrval and outcome.offset > call.dwCommandLength:
            raise Broken(f"dwErrorOffset {outcome.offset} of {call.dwCommandLength} bytes")
        if outcome.ddrval and outcome.response:
            raise Broken("a failing call has a response")
        kinds.add(_kind(outcome, call.commands or b""))
    played.driver.finish()
    return played.work().union(kinds)


def _kind(outcome: Outcome, commands: bytes) -> Hashable:
    """Return the feature of a call: its result and, if it failed, the opcode that failed."""
    at = outcome.offset if outcome.ddrval or outcome.raised else 0
    return outcome.ddrval, outcome.raised, bool(outcome.response), commands[at : at + 1]


def _ends(outcomes: Iterable[Outcome]) -> Hashable:
    """Return the set of the calls' results, error texts included, as one feature."""
    return frozenset(_kind(each, b"") for each in outcomes)


def engines_agree(reference: Stage, compiled: Stage, data: bytes) -> Hashable:
    """Check that both engines give the same answers, memory and time."""
    outcomes = []
    for each in (reference, compiled):
        each.enter_again(data)
        outcomes.append(_results(each, data))
    if outcomes[0] != outcomes[1]:
        raise Broken(f"the engines differ: {_difference(outcomes[0], outcomes[1])}")
    return _ends(outcomes[0][0])


def nothing_stays(data: bytes) -> Hashable:
    """Check that neither a destroyed context nor what happened before a reset has an effect.

    The first half of the calls is executed in a context that is then destroyed; the second half
    must have the same results in a context after it, on a new driver, and once more when the
    first driver was reset.
    """
    calls = data[1:].split(CALL)
    half = len(calls) // 2
    before, after = (data[:1] + CALL.join(part) for part in (calls[:half], calls[half:]))
    used, fresh = Stage(), Stage()
    used.enter(before)
    used.play(before)
    used.memory()
    used.leave()
    used.enter(after)
    later = _results(used, after)
    fresh.enter(after)
    wanted = _results(fresh, after)
    if later[:2] != wanted[:2]:
        raise Broken(f"the stream before shows: {_difference(later, wanted)}")
    used.enter_again(after)
    again = _results(used, after)
    if again != wanted:
        raise Broken(f"the stream before a reset shows: {_difference(again, wanted)}")
    return _ends(wanted[0])


_Results = tuple[list[Outcome], list[bytes], int]
"""Outcomes of calls, contents of all surfaces, and the time after."""


def _results(played: Stage, data: bytes) -> _Results:
    return played.play(data), played.memory(), played.driver.time


def _difference(one: _Results, other: _Results) -> str:
    names = ("answers", "memory", "time")
    return " and ".join(n for n, a, b in zip(names, one, other, strict=True) if a != b)


def queries_answered(played: Stage, data: bytes) -> Hashable:
    """Check that responses answer issued queries, each in the size of its type."""
    played.enter_again(data)
    issued: set[int] = set()
    answered = 0
    for call in stage.calls_of(data):
        ended = _ended(call.commands or b"")
        outcome = played.call(call)
        issued |= ended
        context = played.driver.context(1)
        if context is None or outcome.ddrval or outcome.raised:
            continue
        try:
            found = parse_responses(outcome.response, _sizes(context))
        except ResponseError as error:
            raise Broken(f"a malformed response: {error.what}") from None
        if unissued := {record.query for record in found.records} - issued:
            raise Broken(f"query {min(unissued)} was answered and never issued")
        answered += len(found.records)
    return min(answered, 4), len(issued)


def _ended(commands: bytes) -> set[int]:
    """Return the ids of the queries that ISSUEQUERY tokens name, up to a malformed token."""
    found = scan(commands, 0, len(commands), grammar.VERTEX_SIZE)
    places = [(start, n) for _, token, n, start, _ in found.commands if token.op is Op.ISSUEQUERY]
    return {
        int.from_bytes(commands[start + 8 * at : start + 8 * at + 4], "little")
        for start, n in places
        for at in range(n)
    }


def _sizes(context: Context) -> Callable[[int], int | None]:
    return {query: KINDS[kind].layout.size for query, kind, _ in context.queries.states()}.get


def nothing_behind(whole: Stage, parts: Stage, data: bytes) -> Hashable:
    """Check that a failing call has no effect behind the failing command, and a failing command of
    one item none at all: the same call cut at that point must leave the same state.
    """
    for each in (whole, parts):
        each.enter_again(data)
    kinds = set[Hashable]()
    for call in stage.calls_of(data):
        commands = call.commands or b""
        outcome = whole.call(call)
        if outcome.raised:
            return outcome.raised
        length = _reached(outcome, commands) if outcome.ddrval else len(commands)
        done = parts.call(stage.shortened(call, commands[:length]))
        if done.ddrval and (done.ddrval, done.offset) != (outcome.ddrval, outcome.offset):
            raise Broken(f"what stands before dwErrorOffset {length} fails at {done.offset}")
        kinds.add(_kind(outcome, commands))
    if whole.state() != parts.state():
        raise Broken("what stands behind dwErrorOffset did something")
    return frozenset(kinds)


def _reached(outcome: Outcome, commands: bytes) -> int:
    """Return the byte offset where the commands end that a failing call executed, even in part.

    A command of several items begins at dwErrorOffset; the items before the failing one are done.
    """
    at = outcome.offset
    found = scan(commands, at, len(commands), grammar.VERTEX_SIZE, limit=1).commands
    return next((end for *_, n, _, end in found if n > 1), at)


def queries(rng: Random) -> bytes:
    """Return a random input whose calls create, issue and delete queries."""
    tokens = [grammar.sample(rng, rng.choice(grammar.QUERIES)) for _ in range(6)]
    at = rng.randrange(len(tokens))
    return b"\0" + b"".join(tokens[:at]) + CALL + b"".join(tokens[at:])


def _on(trial: Callable[..., Hashable], *makers: Callable[[], Stage]) -> Callable[[], Trial]:
    """Return a function that makes ``trial`` on stages, which are reset for each input."""

    def make() -> Trial:
        stages = [maker() for maker in makers]
        for each in stages:
            each.enter(b"")
        return partial(trial, *stages)

    return make


def _target(
    name: str, what: str, make: Callable[[], Trial], cost: Bound,
    seed: Callable[[Random], bytes] = stage.program,
) -> Target:  # fmt: skip
    return Target(
        name, what, make, seed, stage.mutate, _MOST, _COVER, stage.records,
        cost=cost, grow=stage.grow, longest=stage.LONGEST, pace_of_calls=_PACE_OF_CALLS,
    )  # fmt: skip


def _reading(
    name: str, what: str, make: Callable[[], Trial], most: int, cover: tuple[str, ...],
    cost: Bound, pace: float = 0.25, *, compares: bool = True,
    cases: Callable[[Trial], int] | None = None,
) -> Target:  # fmt: skip
    return Target(
        name, what, make, grammar.stream, grammar.mutate, most, cover, records,
        compares=compares, cost=cost, grow=grammar.grow, longest=_LONG, pace=pace,
        cases=cases,
    )  # fmt: skip


_COMPILED = partial(Stage, JIT)
_EXECUTED = Bound(3.0, 1.0, 64.0, 2.0)
TARGETS = (
    _reading("walk", "the walk and the compiled walk find every token", walks, _WALKED,
             ("dp2emu.dp2.walk",), Bound(0.1, 0.01, 32.0, 1.0), 1 / 16, compares=False,
             cases=cases_of),
    _reading("construct", "construct and the walk read the same", lambda: agree, 128,
             ("dp2emu.dp2.walk", "dp2emu.dp2.parse"), Bound(0.2, 0.2, 32.0, 1.0)),
    _reading("reassembly", "dump, and assemble to the same bytes", Texts, _WRITTEN,
             ("dp2emu.text",), Bound(0.2, 0.2, 32.0, 1.0), 1.0, cases=cases_of),
    _target("device", "execute calls", _on(execute, _COMPILED), _EXECUTED),
    _target("engines", "both engines leave the same bits",
            _on(engines_agree, partial(Stage, REFERENCE, CONSTRUCT), _COMPILED),
            Bound(6.0, 2.0, 128.0, 4.0)),
    _target("fresh", "a stream leaves nothing to the next", lambda: nothing_stays, _EXECUTED),
    _target("queries", "responses answer what was issued", _on(queries_answered, Stage),
            _EXECUTED, queries),
    _target("offset", "nothing behind dwErrorOffset is done", _on(nothing_behind, Stage, Stage),
            _EXECUTED),
)  # fmt: skip

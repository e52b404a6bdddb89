"""Targets that execute streams: what comes out, and what is promised of it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from random import Random

from dp2emu.dp2.context import Context
from dp2emu.dp2.queries import KINDS
from dp2emu.dp2.table import Op
from dp2emu.dp2.walk import scan
from dp2emu.errors import ResponseError
from dp2emu.fuzz import grammar, stage
from dp2emu.fuzz.stage import CALL, Outcome, Stage
from dp2emu.fuzz.target import Broken, Target, Trial
from dp2emu.runtime.responses import parse_responses
from dp2emu.shader.engines import JIT, REFERENCE

_MOST = 1024
_COVER = ("dp2emu.dp2", "dp2emu.gpu")


def execute(data: bytes) -> Hashable:
    """Calls end in an answer, whose dwErrorOffset lies in what was called."""
    played = Stage()
    played.enter(data)
    kinds = set[Hashable]()
    for call in stage.calls_of(data):
        outcome = played.call(call)
        if outcome.ddrval and outcome.offset > call.dwCommandLength:
            raise Broken(f"dwErrorOffset {outcome.offset} of {call.dwCommandLength} bytes")
        if outcome.ddrval and outcome.response:
            raise Broken("a failing call has a response")
        kinds.add(_kind(outcome, call.commands or b""))
    played.memory()
    return played.work().union(kinds)


def _kind(outcome: Outcome, commands: bytes) -> Hashable:
    """What a call was like: how it ended, and at which opcode."""
    at = outcome.offset if outcome.ddrval or outcome.raised else 0
    return outcome.ddrval, outcome.raised, bool(outcome.response), commands[at : at + 1]


def _ends(outcomes: Iterable[Outcome]) -> Hashable:
    """How calls ended."""
    return frozenset(_kind(each, b"") for each in outcomes)


def engines_agree(data: bytes) -> Hashable:
    """Both engines leave the same bits."""
    stages = Stage(REFERENCE), Stage(JIT)
    outcomes = []
    for each in stages:
        each.enter(data)
        outcomes.append((each.play(data), each.memory(), each.driver.time))
    if outcomes[0] != outcomes[1]:
        raise Broken(f"the engines differ: {_difference(outcomes[0], outcomes[1])}")
    return _ends(outcomes[0][0])


def nothing_stays(data: bytes) -> Hashable:
    """After a context is gone, another stream runs as if there had been none.

    The second half of the calls is that other stream.
    """
    calls = data[1:].split(CALL)
    half = len(calls) // 2
    before, after = (data[:1] + CALL.join(part) for part in (calls[:half], calls[half:]))
    used, fresh = Stage(), Stage()
    used.enter(before)
    used.play(before)
    used.memory()
    used.leave()
    results = []
    for each in (used, fresh):
        each.enter(after)
        results.append((each.play(after), each.memory(), 0))
    if results[0] != results[1]:
        raise Broken(f"the stream before shows: {_difference(results[0], results[1])}")
    return _ends(results[0][0])


def _difference(
    one: tuple[list[Outcome], list[bytes], int], other: tuple[list[Outcome], list[bytes], int]
) -> str:
    names = ("answers", "memory", "time")
    return " and ".join(n for n, a, b in zip(names, one, other, strict=True) if a != b)


def queries_answered(data: bytes) -> Hashable:
    """Responses hold, each in its type's size, answers to queries that exist and were issued."""
    played = Stage()
    played.enter(data)
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
            raise Broken(f"a response that is none: {error.what}") from None
        if strangers := {record.query for record in found.records} - issued:
            raise Broken(f"query {min(strangers)} was answered and never issued")
        answered += len(found.records)
    return min(answered, 4), len(issued)


def _ended(commands: bytes) -> set[int]:
    """The queries that a stream issues, as far as it is one."""
    found = scan(commands, 0, len(commands), grammar.VERTEX_SIZE)
    places = [(start, n) for _, token, n, start, _ in found.commands if token.op is Op.ISSUEQUERY]
    return {
        int.from_bytes(commands[start + 8 * at : start + 8 * at + 4], "little")
        for start, n in places
        for at in range(n)
    }


def _sizes(context: Context) -> Callable[[int], int | None]:
    return {query: KINDS[kind].layout.size for query, kind, _ in context.queries.states()}.get


def nothing_behind(data: bytes) -> Hashable:
    """A call that fails does nothing that stands behind the command that fails, and of that
    command nothing if it has a single item: the same call without the rest leaves the same.
    """
    whole, parts = Stage(), Stage()
    for each in (whole, parts):
        each.enter(data)
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
    """Where what a failing call has done ends.  Of several items of a command those before the
    one that fails are done, and the command begins at dwErrorOffset.
    """
    at = outcome.offset
    found = scan(commands, at, len(commands), grammar.VERTEX_SIZE, limit=1).commands
    return next((end for *_, n, _, end in found if n > 1), at)


def queries(rng: Random) -> bytes:
    """A program with much about queries."""
    tokens = [grammar.sample(rng, rng.choice(grammar.QUERIES)) for _ in range(6)]
    at = rng.randrange(len(tokens))
    return b"\0" + b"".join(tokens[:at]) + CALL + b"".join(tokens[at:])


def _target(
    name: str, what: str, trial: Trial, seed: Callable[[Random], bytes] = stage.program
) -> Target:
    return Target(name, what, lambda: trial, seed, stage.mutate, _MOST, _COVER, stage.records)


TARGETS = (
    _target("device", "execute calls", execute),
    _target("engines", "both engines leave the same bits", engines_agree),
    _target("fresh", "a stream leaves nothing to the next", nothing_stays),
    _target("queries", "responses answer what was issued", queries_answered, queries),
    _target("offset", "nothing behind dwErrorOffset is done", nothing_behind),
)

"""Targets that fuzz a driver under test: a rig that stays up between inputs.

Each input has a context of its own on surfaces that stay.  Dozens of inputs go to the driver
together, since each exchange takes as long as an input.  A crash, a hang, an access to a guard
page, and an answer that breaks a rule (``rig_judge``) are findings.
"""

from __future__ import annotations

import json
import struct
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cache, partial
from itertools import chain, islice
from typing import Any

import msgspec
from msgspec.structs import replace

from dp2emu.capture.records import Called, ContextCreated, ContextDestroyed, MemoryWritten, Record
from dp2emu.conform.needed import lacking_of
from dp2emu.conform.script import create, end
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import QueryType
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.call import Answer, Call
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.options import Options
from dp2emu.dp2.parsers import WALK
from dp2emu.dp2.table import TABLE, Since
from dp2emu.errors import Dp2Error, Fault, Unsupported, UsageError
from dp2emu.fuzz import rig_inputs, rig_programs
from dp2emu.fuzz.cost import Bound
from dp2emu.fuzz.findings import Finding, finding_of, site_of
from dp2emu.fuzz.minimize import minimize
from dp2emu.fuzz.rig_causes import WrongLength, length_trials, wrong_length
from dp2emu.fuzz.rig_failures import NO_ANSWER, Failed, failure_of, is_hang
from dp2emu.fuzz.rig_inputs import COMMANDS, CONTEXT, SIDE, SURFACES, TAME, TARGET, Known
from dp2emu.fuzz.rig_judge import (
    Queries,
    Seen,
    ambiguous,
    check_answers,
    check_continued,
    check_payloads,
    check_picture,
    check_walk,
    known_opcodes,
    seen,
    unparsed_although_known,
)
from dp2emu.fuzz.target import Deviation, GivenUp, Target
from dp2emu.gpu.device.timing import parse_timing
from dp2emu.limits import FUZZING
from dp2emu.rig.failure import RigFailure
from dp2emu.rig.served import Finish, NativeDriver, PipeRig, Read, Request, Served
from dp2emu.shader.engines import JIT, REFERENCE
from dp2emu.shader.jit.machine import works

TIMEOUT = 2.0
"""Default of the seconds in which a driver must have executed an input."""
_MOST_POLLS = 256
"""Empty calls at most, as in the conformance kit; by then all answers must have come."""
_TRIES, _HANGING_TRIES = 400, 24
"""Attempts to make a finding smaller; each attempt that hangs takes the timeout."""
_PROBE_FAILURES = 3
_PROBES = 8
"""Programs that are drawn to find out whether a driver draws into memory."""
_SHRINK_SECONDS = 20.0
_STEPPED_HANGS = 2
"""Inputs of a batch that may hang before the rest of it is left to the next."""
_MOST_HANGS = 8
"""Inputs in succession at which a driver hangs before the campaign ends."""
_MODULE = __name__


class RigSetting(msgspec.Struct, frozen=True):
    """The driver of a campaign: ``spec`` as in ``open_rig``, the DirectX version ``ddi`` whose
    tokens it gets, the ``tolerance`` of a colour channel (None: pictures are not compared), and
    ``timeout`` in seconds for each input.
    """

    spec: str
    ddi: int = 9
    tolerance: int | None = 0
    timeout: float = TIMEOUT

    @property
    def target(self) -> str:
        """Return the name of the target, for ``campaign``."""
        return f"{_MODULE}:{json.dumps(msgspec.structs.asdict(self))}"


def target_of(setting: str) -> Target:
    """Return the target of a driver; ``setting`` is the JSON of a ``RigSetting``.

    Raises UsageError if its rig is neither ``native:`` nor ``pipe:``.
    """
    chosen = RigSetting(**json.loads(setting))
    kind, _, argument = chosen.spec.partition(":")
    if kind not in _RIGS or not argument:
        raise UsageError(f"rig {chosen.spec!r}: only native:LIBRARY and pipe:COMMAND are fuzzed")
    ddi = Since(chosen.ddi)
    return Target(
        kind, f"the driver {chosen.spec} keeps the rules of the interface",
        partial(_Trial, chosen), partial(rig_inputs.seed, ddi), partial(rig_inputs.mutate, ddi),
        rig_inputs.LONGEST, (), partial(_capture, ddi), cost=Bound(60.0, 60.0, 4096.0, 4096.0),
        smaller=partial(_smaller, chosen), program=True, ahead=_AHEAD,
    )  # fmt: skip


def check_driver(setting: RigSetting) -> None:
    """Start the driver of a campaign, create the surfaces of inputs on it, and end it.

    Raises UsageError if there is no such driver, RigFailure if it fails.
    """
    target_of(json.dumps(msgspec.structs.asdict(setting)))
    session = Session(setting)
    try:
        session.restart()
    finally:
        session.close()


def _capture(ddi: Since, data: bytes) -> Sequence[Record]:
    return [*rig_inputs.setting(), *rig_programs.records(Known(ddi, _BOTH), data)]


_ASKED = (QueryType.EVENT, QueryType.OCCLUSION, QueryType.VCACHE)
_BOTH = (QueryType.EVENT, QueryType.OCCLUSION)
_RIGS: dict[str, Callable[..., Served]] = {"native": NativeDriver, "pipe": PipeRig}


def _opened(setting: RigSetting) -> Served:
    kind, _, argument = setting.spec.partition(":")
    more = {"forked": True} if kind == "native" else {}
    return _RIGS[kind](argument, timeout=setting.timeout, **more)


class Session:
    """A driver that is fuzzed, and what is known of it.  Mutable.

    ``about`` has what inputs depend on, ``known`` the opcodes that it decodes,
    ``draws`` whether it draws into memory, and ``prompt`` whether calls that end queries answer
    them.
    """

    def __init__(self, setting: RigSetting) -> None:
        self._rig = _opened(setting)
        self._setting = setting
        self._ddi = Since(setting.ddi)
        self._emulator: Driver | None = None
        self.about = Known(self._ddi)
        self.known: frozenset[int] = frozenset()
        self.draws = False
        self.prompt = False
        self._sent: Sequence[Sequence[Request]] | None = None
        self._settled: list[Replies | Failed] = []

    def close(self) -> None:
        """End the driver."""
        self._rig.close()

    def restart(self) -> None:
        """Start the driver afresh, with the surfaces."""
        self.settle()
        self._rig.restart()
        for desc in SURFACES:
            self._rig.create_surface(desc)

    def probe(self) -> None:
        """Find out about the driver: see the attributes.  A probe that crashes tells nothing."""
        self.restart()
        self._ask()
        if self._ddi >= Since.DX9:
            self._probe_queries()
        self._probe_opcodes()
        if self._setting.tolerance is not None:
            self._probe_picture()

    def _ask(self) -> None:
        """Set what the driver announces in ``about``."""
        try:
            told = self._rig.capabilities(int(self._ddi))
        except RigFailure:
            self.restart()
            return
        if told is None:
            return
        ops = rig_inputs.tokens_until(self._ddi)
        lacking = {op for op in ops if lacking_of(Call(CONTEXT, commands=_none_of(op)), told)}
        self.about = Known(self._ddi, (), frozenset(lacking), told)

    def _probe_queries(self) -> None:
        """Set the types of ``about``, and ``prompt``."""
        announced = self.about.capabilities
        told = None if announced is None else announced.queries
        asked = [kind for kind in _ASKED if told is None or kind in told]
        answers = self._probed([rig_inputs.created(kind) for kind in asked])
        types = tuple(
            kind for kind, answer in zip(asked, answers, strict=True)
            if answer is not None and answer.ddrval == HResult.D3D_OK
        )  # fmt: skip
        self.about = replace(self.about, types=types)
        ended = b"".join(create(n, kind) + end(n) for n, kind in enumerate(types, 1))
        count = struct.pack("<H", len(types))
        self.prompt = bool(types) and all(
            answer is not None and answer.response[2:4] == count
            for answer in self._probed([ended] * _PROBES)
        )

    def _probe_opcodes(self) -> None:
        """Set ``known``, by tokens with a count of 0."""
        ops = rig_inputs.tokens_until(self._ddi)
        answers = self._probed([_none_of(op) for op in ops])
        told = zip(ops, answers, strict=True)
        self.known = known_opcodes({op: answer for op, answer in told if answer is not None})

    def _probed(self, commands: Sequence[bytes]) -> list[Answer | None]:
        """Return the answer to each of the commands in a context of its own; None where the
        driver fails.  After several failures it is asked no more.

        All go to the driver at once, and one by one if it fails.
        """
        records = [rig_programs.records(Known(self._ddi), bytes(1) + each) for each in commands]
        try:
            rest = iter(self._alone(chain.from_iterable(records)))
            return [_answer_in(list(islice(rest, len(each)))) for each in records]
        except RigFailure:
            self.restart()
        answers: list[Answer | None] = []
        for each in records:
            try:
                failed = answers.count(None) >= _PROBE_FAILURES
                answers.append(None if failed else _answer_in(self._alone(each)))
            except RigFailure:
                self.restart()
                answers.append(None)
        return answers

    def _probe_picture(self) -> None:
        """Set ``draws``: one of a few tame programs changes the picture."""
        about = replace(self.about, types=())
        try:
            replies = self._alone(
                request
                for number in range(_PROBES)
                for request in (*rig_programs.records(about, bytes((TAME, number))), Finish(),
                                _PICTURE)
            )  # fmt: skip
        except RigFailure:
            self.restart()
            return
        self.draws = any(any(each) for each in replies if isinstance(each, bytes))

    # Inputs

    def play(self, records: Sequence[Record], *, tame: bool) -> list[Seen]:
        """Perform the records of an input and judge the answers; returns the calls.

        Raises Deviation.
        """
        requests = self.requests(records, tame=tame)
        return self.judge(requests, self._performed(requests), tame=tame)

    def requests(self, records: Sequence[Record], *, tame: bool) -> list[Request]:
        """Return what an input asks of the driver: its records, and the picture of a tame one."""
        picture: list[Request] = [Finish(), _PICTURE] if tame and self.draws else []
        return [*records, *picture]

    def send(self, inputs: Sequence[Sequence[Request]]) -> None:
        """Begin to perform inputs, which the driver plays while the caller judges others."""
        self.settle()
        try:
            self._rig.send(chain.from_iterable(inputs))
        except RigFailure as failure:
            self._settled = self._played_in_steps(inputs, failure, self._rig.performed)
        else:
            self._sent = inputs

    def played(self) -> list[Replies | Failed]:
        """Return the replies to each of the inputs that were sent, or its failure.

        After a failure the driver has been started afresh, and has had the other inputs too;
        those behind several that hang are missing, since each could take the timeout.
        """
        self.settle()
        settled, self._settled = self._settled, []
        return settled

    def settle(self) -> None:
        """Wait for the replies to the inputs that were sent, for ``played``."""
        inputs, self._sent = self._sent, None
        if inputs is None:
            return
        try:
            rest = iter(self._rig.replies())
        except RigFailure as failure:
            self._settled = self._played_in_steps(inputs, failure, self._rig.performed)
        else:
            self._settled = [list(islice(rest, len(each))) for each in inputs]

    def _alone(self, requests: Iterable[Request]) -> Replies:
        """Perform requests when no others are under way."""
        self.settle()
        return self._rig.perform(requests)

    def _played_in_steps(
        self, inputs: Sequence[Sequence[Request]], failure: RigFailure, performed: int
    ) -> list[Replies | Failed]:
        """Perform inputs again, one request at a time, since some replies may have been lost.

        If nothing fails then, the failure belongs to the first input that was not answered.
        """
        self.restart()
        played: list[Replies | Failed] = []
        for each in inputs:
            played.append(self._stepped(each))
            if sum(isinstance(one, Failed) and one.hangs for one in played) == _STEPPED_HANGS:
                return played
        if not any(isinstance(each, Failed) for each in played):
            number = 0
            while performed >= len(inputs[number]) and number < len(inputs) - 1:
                performed -= len(inputs[number])
                number += 1
            played[number] = failure_of(failure, inputs[number], performed)
            self.restart()
        return played

    def _stepped(self, requests: Sequence[Request]) -> Replies | Failed:
        replies: Replies = []
        for number, request in enumerate(requests):
            try:
                replies += self._alone([request])
            except RigFailure as failure:
                self.restart()
                return failure_of(failure, requests, number)
        return replies

    def judge(self, requests: Sequence[Request], replies: Replies, *, tame: bool) -> list[Seen]:
        """Judge the replies to an input; returns the calls.  Raises Deviation."""
        calls = [
            seen(request.call, reply)
            for request, reply in zip(requests, replies, strict=True)
            if isinstance(request, Called) and isinstance(reply, Answer)
        ]
        queries = self._judged(calls)
        if queries is not None:
            self._await(queries, calls)
        if tame:
            picture = next((each for each in replies if isinstance(each, bytes)), None)
            self._compare(requests, calls, queries, picture)
        return calls

    def cause(self, error: Deviation, requests: Sequence[Request]) -> Deviation:
        """Return the deviation of an input, or the mistake about a token's length behind it."""
        calls = [seen(each.call, NO_ANSWER) for each in requests if isinstance(each, Called)]
        trials = length_trials(calls, self._ddi)
        records = [record for trial in trials for record in trial.records(self._ddi)]
        try:
            replies = self._alone(records)
        except RigFailure:
            self.restart()
            return error
        answers = [each for each in replies if isinstance(each, Answer)]
        if len(answers) != len(trials):
            return error
        return wrong_length(trials, answers, self._ddi, error.report) or error

    def _performed(self, requests: Sequence[Request]) -> Replies:
        try:
            return self._alone(requests)
        except RigFailure as failure:
            raise failure_of(failure, requests, self._rig.performed) from None

    def _judged(self, calls: Sequence[Seen]) -> Queries | None:
        """Judge calls by the rules that always hold; returns the queries, None if there are no
        calls or one is ambiguous.
        """
        if not calls or any(ambiguous(one) for one in calls):
            return None
        last = calls[-1].call
        queries = Queries(COMMANDS.get(last.lpDDCommands, 0))
        for one in calls:
            check_walk(one, self._ddi)
            if self._ddi >= Since.DX9:
                queries.hear(one, _bytes_of(one.call))
            token = unparsed_although_known(one, self.known)
            if token is not None:
                self._check_unparsed(one, calls)
        return queries

    def _await(self, queries: Queries, calls: Sequence[Seen]) -> None:
        """Make empty calls until all answers have come.  Raises Deviation if some never do.

        The input's context is gone by now, so the input is performed once more without its end.
        """
        if not queries.missing():
            return
        records: list[Record] = [
            ContextCreated(CONTEXT, int(self._ddi), TARGET), *(Called(one.call) for one in calls)
        ]  # fmt: skip
        polls = [Called(rig_inputs.poll(calls[-1].call.lpDDCommands))] * _MOST_POLLS
        again = Queries(COMMANDS.get(calls[-1].call.lpDDCommands, 0))
        replies = self._performed(records)
        self._rig.finish()
        replies += self._performed([*polls, ContextDestroyed(CONTEXT)])
        for record, reply in zip([*records, *polls], replies, strict=False):
            if isinstance(record, Called) and isinstance(reply, Answer):
                again.hear(seen(record.call, reply), _bytes_of(record.call))
        again.check_missing()

    # The emulator

    def _emulated(self, records: Sequence[Request]) -> list[Seen]:
        """Return the calls of records as the emulator answers them."""
        driver = self._emulator
        if driver is None:
            options = Options(engine=JIT if works() else REFERENCE, threads=1, parser=WALK)
            driver = Driver(parse_timing("fixed:call=10,packet=10,delivery=5"), options, FUZZING)
            for desc in SURFACES:
                driver.create_surface(desc)
            self._emulator = driver
        driver.reset()
        calls = []
        for record in records:
            if isinstance(record, ContextCreated):
                driver.create_context(
                    record.context, interface=record.interface, color=record.color
                )
            elif isinstance(record, MemoryWritten):
                driver.gpu.heap.write(record.handle, record.offset, record.data)
            elif isinstance(record, Called):
                calls.append(seen(record.call, _emulated_answer(driver, record.call)))
        driver.finish()
        return calls

    def _check_unparsed(self, one: Seen, calls: Sequence[Seen]) -> None:
        """Raise Deviation if the emulator executes a whole token that the driver left unparsed."""
        refused = one.refused
        assert refused is not None
        until = list(calls[: calls.index(one) + 1])
        ours = self._emulated(
            [
                ContextCreated(CONTEXT, int(self._ddi), TARGET),
                *(Called(each.call) for each in until),
            ]
        )
        mine = ours[-1]
        if mine.failed and mine.answer.dwErrorOffset <= refused[0]:
            return
        name = refused[1].name
        raise Deviation(
            f"D3DERR_COMMAND_UNPARSED for a valid token: {name}",
            f"{name} at byte {refused[0]} with a count of {refused[2]} is left unparsed; the "
            "emulator executes it, and the driver decodes it with a count of 0",
        )

    def _compare(
        self, records: Sequence[Request], calls: Sequence[Seen], queries: Queries | None,
        picture: bytes | None,
    ) -> None:  # fmt: skip
        """Compare a tame input with the emulator.  Raises Deviation."""
        ours = self._emulated(records)
        check_answers(ours, calls)
        if any(each.failed for each in ours):
            return  # how much of a draw that fails is drawn is the driver's affair
        if queries is not None and self._ddi >= Since.DX9:
            expected = Queries(COMMANDS.get(calls[-1].call.lpDDCommands, 0))
            for one in ours:
                expected.hear(one, _bytes_of(one.call))
            check_payloads(expected, queries)
            if self.prompt:
                check_continued(expected, queries)
        if picture is not None:
            assert self._emulator is not None and self._setting.tolerance is not None
            mine = self._emulator.read(TARGET, 0, 4 * SIDE * SIDE)
            check_picture(mine, picture, self._setting.tolerance, SIDE)


def _answer_in(replies: Replies) -> Answer | None:
    return next((each for each in replies if isinstance(each, Answer)), None)


def _bytes_of(call: Call) -> bytes:
    """Return the command surface up to the end of a call's commands, zeros before them."""
    return bytes(call.dwCommandOffset) + (call.commands or b"")


def _emulated_answer(driver: Driver, call: Call) -> Answer:
    try:
        return driver.submit(call)
    except Unsupported as error:
        return Answer(HResult.DDERR_UNSUPPORTED, error.offset or 0, driver.time)
    except Fault as error:
        return Answer(error.hr, error.offset or 0, driver.time)
    except Dp2Error as error:
        return Answer(HResult.DDERR_GENERIC, error.offset or 0, driver.time)


def _none_of(op: int) -> bytes:
    """Return a token with a count of 0, and zeros for what it has even then."""
    return struct.pack("<BBH", op, 0, 0) + bytes(_head_bytes(op))


def _head_bytes(op: int) -> int:
    token = TABLE[op]
    if op == Op.SETRENDERTARGET or token.head_dtype is None:
        return 0 if token.item_dtype is None else token.item_dtype.itemsize * token.number(0, None)
    return int(token.head_dtype.itemsize)


@cache
def _session(setting: RigSetting) -> Session:
    """Return the session of this process with a driver."""
    session = Session(setting)
    session.probe()
    return session


_TOGETHER = 32
"""Most inputs that go to the driver at once."""
_AHEAD = 4 * _TOGETHER
"""Inputs that are made before the first of them is tried."""
Replies = list[Answer | int | bytes]
_PICTURE = Read(TARGET, 0, 4 * SIDE * SIDE)


class _Trial:
    """A trial of inputs on a driver that stays up.  Mutable: inputs are expected, and performed.

    After a failure an input goes alone, after each success twice as many as before.
    """

    def __init__(self, setting: RigSetting) -> None:
        self._session = _session(setting)
        self._ddi = Since(setting.ddi)
        self._expected: deque[bytes] = deque()
        self._sent: list[list[Request]] = []
        self._played: deque[tuple[list[Request], Replies | Failed]] = deque()
        self._together = _TOGETHER
        self._causes: dict[str, Deviation] = {}
        self._hanging = 0

    def expect(self, inputs: Sequence[bytes]) -> None:
        """Note the inputs of the next calls, in order."""
        self._expected, self._played = deque(inputs), deque()
        self._sent = []
        self._session.played()

    def __call__(self, data: bytes) -> Hashable:
        """Try an input; returns the pairs of tokens that were executed, and the results.

        Raises Deviation, and GivenUp after several inputs in succession at which the driver hung.
        """
        if self._hanging == _MOST_HANGS:
            raise GivenUp(f"the driver hangs at each of {_MOST_HANGS} inputs in succession")
        if not self._expected or self._expected[0] != data:
            self.expect([data])
        if not self._played:
            self._play()
        self._expected.popleft()
        requests, replies = self._played.popleft()
        hangs = isinstance(replies, Failed) and replies.hangs
        self._hanging = self._hanging + 1 if hangs else 0
        tame = _is_tame(data)
        try:
            if isinstance(replies, Failed):
                raise replies
            calls = self._session.judge(requests, replies, tame=tame)
        except Deviation as error:
            raise self._cause(error, requests) from None
        if tame:
            return frozenset()
        return frozenset(each for one in calls for each in _features(one))

    def _cause(self, error: Deviation, requests: Sequence[Request]) -> Deviation:
        """Return the cause of a deviation; of failures of the process, which take a while, only
        of the first of each kind.
        """
        if not isinstance(error, Failed):
            return self._session.cause(error, requests)
        if error.site not in self._causes:
            self._session.restart()
            self._causes[error.site] = self._session.cause(error, requests)
        known = self._causes[error.site]
        return error if known.site == error.site else known

    def _play(self) -> None:
        """Wait for the inputs that are expected next, and send those behind them."""
        if not self._sent:
            self._send(0)
        sent, played = self._sent, self._session.played()
        failed = any(isinstance(each, Failed) for each in played)
        self._together = 1 if failed else min(2 * self._together, _TOGETHER)
        self._played.extend(zip(sent, played, strict=False))
        self._send(len(played))

    def _send(self, start: int) -> None:
        """Send inputs from the one with a number among those expected on; none if none is left."""
        session = self._session
        self._sent = [
            session.requests(rig_programs.records(session.about, data), tame=_is_tame(data))
            for data in islice(self._expected, start, start + self._together)
        ]
        if self._sent:
            session.send(self._sent)


def _is_tame(data: bytes) -> bool:
    return data[:1] == bytes((TAME,))


def _features(one: Seen) -> list[Hashable]:
    ops = [int(token.op) for _, token, *_ in one.executed]
    found: list[Hashable] = list(zip([0, *ops], ops, strict=False))
    refused = one.refused
    if one.failed:
        found.append((one.answer.ddrval, refused and int(refused[1].op)))
    if one.answer.response and not one.failed:
        found.append(("response", one.answer.response.count(b"\0") > 64))
    return found


# Smaller findings


def _smaller(setting: RigSetting, finding: Finding) -> Finding:
    """Return the finding with few records, for which a fresh driver still has it.

    Raises OSError.
    """
    tame = _is_tame(finding.data)
    session = _session(setting)
    whole = rig_programs.records(session.about, finding.data)
    # The memory of surfaces stays as the inputs before have left it, unless it is written.
    kept = {id(each) for each in whole if not isinstance(each, Called)}
    until = time.monotonic() + _SHRINK_SECONDS
    last: dict[str, Any] = {}

    def fails(records: Sequence[Record]) -> bool:
        if time.monotonic() > until or not kept <= {id(each) for each in records}:
            return False
        if tame and not rig_programs.exact(records, whole):
            return False
        try:
            session.play(records, tame=tame)
        except Deviation as error:
            if isinstance(error, Failed):
                session.restart()
            if site_of(error) != finding.site:
                error = session.cause(error, records)
            same = site_of(error) == finding.site
            if same:
                last["error"] = error
            return same
        except Dp2Error:
            session.restart()
        return False

    session.restart()
    if not fails(whole):
        again = "A fresh driver does not do it: it depends on the inputs before."
        told = f"{finding.what}\n{again}"
        return replace(finding, records=(*rig_inputs.setting(), *whole), what=told)
    if isinstance(last["error"], WrongLength):
        found = finding_of(finding.target, last["error"], finding.data)
        return replace(found, records=(*rig_inputs.setting(), *last["error"].records))
    tries = _HANGING_TRIES if is_hang(finding.site) else _TRIES
    small = minimize(whole, fails, tries, whole_tokens=True)
    session.restart()
    found = finding_of(finding.target, last["error"], finding.data)
    return replace(found, records=(*rig_inputs.setting(), *small))

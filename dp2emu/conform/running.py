"""The runner of conformance cases: plays them on a rig and checks its answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Any

import msgspec
from msgspec.structs import replace

from dp2emu.argument_check import checked
from dp2emu.capture.records import (
    Called,
    ContextCreated,
    ContextDestroyed,
    MemoryWritten,
    Record,
    SurfaceCreated,
    SurfaceDestroyed,
)
from dp2emu.conform.case import ANY_FAILURE, ANY_RESULT, Case, Expect, Owed, Shown
from dp2emu.conform.evidence import Died, Evidence, Part, WrongMemory, WrongPayload, WrongResult
from dp2emu.conform.locating import locate_token
from dp2emu.conform.needed import lacking
from dp2emu.d3d.hresult import HResult, hr_name
from dp2emu.dp2.call import Answer, Call
from dp2emu.dp2.table import Since
from dp2emu.errors import Dp2Error, Fault, ResponseError, Unsupported
from dp2emu.places import working_at
from dp2emu.rig.capabilities import Capabilities, capabilities_of
from dp2emu.rig.failure import RigFailure
from dp2emu.rig.interface import Rig
from dp2emu.runtime.responses import Response, parse_responses

POLLS = 256
"""Maximum number of empty calls at the end of a case; all answers must have come by then."""


class Verdict(Enum):
    """The result of a conformance case.  Warned: it is failed, and its rule is disputed."""

    PASSED = "passed"
    FAILED = "failed"
    WARNED = "warned"
    SKIPPED = "skipped"


class Outcome(msgspec.Struct, frozen=True):
    """The verdict on a case; ``why`` is the reason for a failure or for skipping it.

    ``evidence`` is what a failed case found, or a skipped one in memory; None if that is not a
    result, a payload, memory or the end of the driver.  ``lacks`` are the capabilities for want
    of which it was skipped: the driver does not announce them.
    """

    case: Case
    verdict: Verdict
    why: str = ""
    lacks: tuple[str, ...] = ()
    evidence: Evidence | None = None


class _Broken(Exception):
    """Raised if the driver breaks the rule that a case tests; the message says how."""

    def __init__(self, what: str, evidence: Evidence | None = None) -> None:
        super().__init__(what)
        self.evidence = evidence


class _Refused(Exception):
    """Raised if the driver lacks what an optional case needs; the case is skipped.

    ``evidence`` is memory without pictures, if that is why.
    """

    def __init__(self, what: str, evidence: Evidence | None = None) -> None:
        super().__init__(what)
        self.evidence = evidence


@checked
def run_kit(cases: Iterable[Case], rig: Rig, ddi: int = 9) -> Iterator[Outcome]:
    """Run cases in order on one rig, and yield their outcomes.

    Cases whose needs the driver does not announce to a runtime of DirectX ``ddi`` are skipped,
    and so are pictures until the driver passes a case of them: then it draws into memory, and a
    target of zeros is a failure.
    """
    capabilities = capabilities_of(rig, ddi)
    draws = False
    ends: set[str] = set()
    for case in cases:
        outcome = _tried(case, rig, capabilities, ends)
        if draws and outcome.verdict is Verdict.SKIPPED and outcome.evidence is not None:
            outcome = replace(outcome, verdict=_broken(case))
        draws = draws or (
            outcome.verdict is Verdict.PASSED and any(shown.probe for shown in case.shown)
        )
        yield outcome


def _broken(case: Case) -> Verdict:
    """The verdict on a case whose rule is broken."""
    return Verdict.WARNED if case.disputed else Verdict.FAILED


@checked
def _tried(case: Case, rig: Rig, capabilities: Capabilities | None, ends: set[str]) -> Outcome:
    """Run a case, or skip it for want of capabilities; None: the driver tells nothing."""
    lacks = () if capabilities is None else lacking(case, capabilities)
    if lacks:
        why = f"the driver does not announce {', '.join(lacks)}"
        return Outcome(case, Verdict.SKIPPED, why, lacks=lacks)
    return run_case(case, rig, ends=ends)


@checked
def version_of(rig: Rig) -> int:
    """The version of the interface that the driver of a rig announces; 9 if it tells none."""
    capabilities = capabilities_of(rig)
    return int(Since.DX9) if capabilities is None else capabilities.ddi


@checked
def run_case(
    case: Case,
    rig: Rig,
    heard: Callable[[Call, Answer], None] | None = None,
    *,
    ends: set[str] | None = None,
) -> Outcome:
    """Run one case, and call ``heard`` with every answer.  Errors of the driver are outcomes.

    If the driver's process fails, the outcome names the token, unless the finding's key is in
    ``ends``, where it is added: to find the token takes several restarts of the driver.
    """
    session = _Session(case, rig, heard)
    left: RigFailure | None = None
    try:
        outcome = _outcome(session, set() if ends is None else ends)
    finally:
        left = session.leave()
    if left is None or outcome.verdict is not Verdict.PASSED:
        return outcome
    why = f"when its contexts and surfaces are destroyed: {left}"
    return Outcome(case, Verdict.FAILED, why, evidence=Died(left.finding))


def _outcome(session: _Session, ends: set[str]) -> Outcome:
    """Run a session's case; returns the outcome before its objects are destroyed."""
    case = session.case
    try:
        with working_at(lambda: {"stream": case.name, "call": session.calls}):
            session.run()
    except _Refused as refused:
        return Outcome(case, Verdict.SKIPPED, str(refused), evidence=refused.evidence)
    except _Broken as broken:
        return Outcome(case, _broken(case), str(broken), evidence=broken.evidence)
    except RigFailure as failure:
        if failure.call is not None and failure.finding.key not in ends:
            locate_token(failure, case, session.rig)
        ends.add(failure.finding.key)
        session.restart()
        return Outcome(case, Verdict.FAILED, str(failure), evidence=Died(failure.finding))
    except Dp2Error as error:
        return Outcome(case, Verdict.FAILED, error.what)
    return Outcome(case, Verdict.PASSED)


class _Session(msgspec.Struct):
    """A conformance case that is being run on a rig.  Mutable.

    ``calls`` counts calls, ``contexts`` has context numbers, ``surfaces`` sizes in bytes by
    handle; ``pending`` are the answers that are still expected, oldest first.  ``queries`` tells
    whether the contexts are of a version that has queries: before, no call is answered.
    """

    case: Case
    rig: Rig
    heard: Callable[[Call, Answer], None] | None
    calls: int = 0
    contexts: list[int] = msgspec.field(default_factory=list)
    surfaces: dict[int, int] = msgspec.field(default_factory=dict)
    pending: list[Owed] = msgspec.field(default_factory=list)
    queries: bool = True

    def run(self) -> None:
        """Perform the case's records, fetch pending answers with empty calls, check memory.

        Raises ``_Broken`` if the driver breaks the rule.
        """
        self.pending = list(self.case.owed)
        for record in self.case.records:
            if isinstance(record, ContextDestroyed):
                break
            _PERFORM[type(record)](self, record)
        self.rig.finish()
        for context in self.contexts if self.queries else ():
            self._drain(context)
        self._check_memory([self._look(shown) for shown in self.case.shown])

    def leave(self) -> RigFailure | None:
        """Destroy the case's contexts and surfaces; if the driver crashes or hangs, restart it and
        return the failure.
        """
        try:
            for context in self.contexts:
                self.rig.destroy_context(context)
            for handle in reversed(self.surfaces):
                self.rig.destroy_surface(handle)
        except RigFailure as failure:
            self.restart()
            return failure
        except Dp2Error:
            pass  # the driver lost the objects, and the next case makes its own
        return None

    def restart(self) -> None:
        """Forget the case's contexts and surfaces, and restart the driver if the rig can."""
        self.contexts.clear()
        self.surfaces.clear()
        restart = getattr(self.rig, "restart", None)
        if restart is not None:
            restart()

    # Records

    def create_context(self, record: ContextCreated) -> None:
        with self._may_refuse():
            self.rig.create_context(
                record.context, interface=record.interface, color=record.color, depth=record.depth
            )
        self.contexts.append(record.context)
        self.queries = record.interface >= Since.DX9

    def create_surface(self, record: SurfaceCreated) -> None:
        with self._may_refuse():
            self.rig.create_surface(record.desc)
        self.surfaces[record.desc.handle] = record.desc.width

    def write(self, record: MemoryWritten) -> None:
        self.rig.write(record.handle, record.offset, record.data)

    def call(self, record: Called) -> None:
        expect = self.case.expected[self.calls]
        self.calls += 1
        answer = self._submit(record.call)
        if self.case.optional and self.calls == 1 and answer.ddrval:
            raise _Refused(f"the driver refuses it: {hr_name(answer.ddrval)}")
        self._judge(expect, answer, record.call)

    @contextmanager
    def _may_refuse(self) -> Iterator[None]:
        """Turn a driver error in the block into ``_Refused`` if the case is optional."""
        try:
            yield
        except (Fault, Unsupported) as error:
            if self.case.optional:
                raise _Refused(f"the driver refuses it: {error.what}") from None
            raise

    # Judging

    def _look(self, shown: Shown) -> Part:
        """Read the bytes that ``shown`` names.  Raises ``_Refused`` if a ``probe`` is zero."""
        found = self.rig.read(shown.handle, shown.offset, len(shown.data))
        if shown.probe and not any(found):
            part = Part(shown.handle, shown.offset, found, shown.data)
            raise _Refused("nothing is drawn into memory", WrongMemory((part,)))
        if len(found) == len(shown.data) and _within(found, shown.data, shown.steps):
            found = shown.data
        return Part(shown.handle, shown.offset, found, shown.data)

    def _check_memory(self, parts: list[Part]) -> None:
        """Compare memory with the expected bytes.  Raises ``_Broken`` for a difference."""
        wrong = [(part, at) for part in parts for at in _differing(part)]
        if not wrong:
            return
        part, at = wrong[0]
        one, other = part.found[at : at + 4], part.expected[at : at + 4]
        where = f"surface {part.handle} at byte {part.offset + at}"
        more = f", and {len(wrong) - 1} more DWORDs" if len(wrong) > 1 else ""
        what = f"{where}: {one[::-1].hex()} instead of {other[::-1].hex()}{more}"
        raise _Broken(what, WrongMemory(tuple(parts)))

    def _submit(self, call: Call) -> Answer:
        try:
            answer = self.rig.submit(call)
        except RigFailure as failure:
            raise failure.at(call=self.calls) from None
        if self.heard is not None:
            self.heard(call, answer)
        return answer

    def _judge(self, expect: Expect, answer: Answer, call: Call) -> bool:
        """Check a call's result and responses; returns whether RESPONSECONTINUE announces more."""
        where = f"call {self.calls}"
        if expect.ddrval == ANY_RESULT:
            return False
        failed, wanted = answer.ddrval != HResult.D3D_OK, expect.ddrval != HResult.D3D_OK
        named = expect.ddrval not in (ANY_FAILURE, answer.ddrval)
        if failed != wanted or (wanted and named):
            should = "a failure" if expect.ddrval == ANY_FAILURE else hr_name(expect.ddrval)
            what = f"ddrval is {hr_name(answer.ddrval)}, not {should}"
            raise _Broken(f"{where}: {what}", self._wrong(answer, expect))
        if failed:
            if answer.dwErrorOffset != expect.offset:
                what = f"dwErrorOffset is {answer.dwErrorOffset}, not {expect.offset}"
                raise _Broken(f"{where}: {what}", self._wrong(answer, expect))
            return False
        return self.queries and self._receive(where, expect, answer, call)

    def _wrong(self, answer: Answer, expect: Expect) -> WrongResult:
        return WrongResult(self.calls, answer.ddrval, answer.dwErrorOffset, expect)

    def _receive(self, where: str, expect: Expect, answer: Answer, call: Call) -> bool:
        """Check the responses of a call; returns whether RESPONSECONTINUE announces more."""
        # A query that can have no answer has no known payload size.
        sizes = {owed.query: owed.size for owed in self.case.owed
                 if owed.context == call.dwhContext}  # fmt: skip
        room = self.surfaces.get(call.lpDDCommands, 0)
        if answer.dwErrorOffset > room or len(answer.response) != answer.dwErrorOffset:
            raise _Broken(f"{where}: {answer.dwErrorOffset} bytes answered over {room}")
        try:
            found = parse_responses(answer.response, sizes.get)
        except ResponseError as error:
            raise _Broken(f"{where}: {error}") from None
        if expect.silent and answer.dwErrorOffset:
            raise _Broken(f"{where}: dwErrorOffset is {answer.dwErrorOffset} without an answer")
        for record in found.records:
            self._deliver(where, call.dwhContext, record)
        return found.more

    def _deliver(self, where: str, context: int, record: Response) -> None:
        """Check a response: its query must have the oldest pending answer of its type in the
        context, and its payload begin with the expected bytes.
        """
        kinds = {owed.type for owed in self.pending
                 if (owed.context, owed.query) == (context, record.query)}  # fmt: skip
        due = next((owed for owed in self.pending
                    if owed.context == context and owed.type in kinds), None)  # fmt: skip
        if due is None:
            raise _Broken(f"{where}: query {record.query} is answered and nothing is due")
        if due.query != record.query:
            raise _Broken(f"{where}: query {record.query} is answered before {due.query}")
        if not record.data.startswith(due.begins):
            what = f"{record.data.hex()} instead of {due.begins.hex()}"
            payload = WrongPayload(self.calls, due.query, due.type, record.data, due.begins)
            raise _Broken(f"{where}: query {record.query} is answered {what}", payload)
        self.pending.remove(due)

    def _drain(self, context: int) -> None:
        """Submit empty calls until no answer is pending; the next response must be empty."""
        calls = [call.call for call in self.case.calls if call.call.dwhContext == context]
        if not calls:
            return
        poll = Call(context, lpDDCommands=calls[-1].lpDDCommands)
        for _ in range(POLLS):
            last = not self._left(context)
            self.calls += 1
            more = self._judge(Expect(), self._submit(poll), poll)
            if last:
                return
            left = self._left(context)
            if left and not more:
                names = ", ".join(str(owed.query) for owed in left)
                raise _Broken(f"queries {names} are not answered and no RESPONSECONTINUE says so")
        raise _Broken(f"answers are due after {POLLS} empty calls")

    def _left(self, context: int) -> list[Owed]:
        return [owed for owed in self.pending if owed.context == context]


def _within(found: bytes, expected: bytes, steps: int) -> bool:
    """Whether each byte differs by no more than ``steps``."""
    pairs = zip(found, expected, strict=True)
    return bool(steps) and all(abs(one - other) <= steps for one, other in pairs)


def _differing(part: Part) -> list[int]:
    """The offsets in ``part`` of the DWORDs that differ."""
    found, expected = part.found, part.expected
    if found == expected:
        return []
    return [at for at in range(0, len(expected), 4) if found[at : at + 4] != expected[at : at + 4]]


_PERFORM: dict[type[Record], Callable[[_Session, Any], None]] = {
    ContextCreated: _Session.create_context,
    SurfaceCreated: _Session.create_surface,
    MemoryWritten: _Session.write,
    Called: _Session.call,
    SurfaceDestroyed: lambda session, record: None,  # leave() destroys it
}

"""Events of a trace, and the calls they join to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

import msgspec

from dp2emu.capture.apitrace.cursor import Cursor
from dp2emu.capture.apitrace.decoding import Decoder
from dp2emu.capture.apitrace.limits import MOST_DETAILS, VALUE_COST
from dp2emu.capture.apitrace.values import (
    MISSING,
    FunctionSignature,
    Missing,
    StackFrame,
    TraceCall,
    Value,
)
from dp2emu.capture.files import Source
from dp2emu.errors import CaptureError
from dp2emu.limits import Limits

NEWEST = 6
"""The trace version that is described; newer ones are refused."""

_PROPERTIES = 6  # first version with properties
_THREADS = 4  # first version whose enter events name their thread


class _Open(msgspec.Struct):
    """A call under way.  Mutable: its details come in two events."""

    number: int
    thread: int
    function: FunctionSignature
    offset: int
    arguments: list[Value | Literal[Missing.MISSING]]
    result: Value | Literal[Missing.MISSING] = MISSING
    flags: int = 0
    backtrace: tuple[StackFrame, ...] = ()
    cost: int = 0

    def close(self, *, finished: bool) -> TraceCall:
        return TraceCall(
            number=self.number,
            thread=self.thread,
            function=self.function,
            arguments=tuple(self.arguments),
            result=self.result,
            flags=self.flags,
            backtrace=self.backtrace,
            finished=finished,
            offset=self.offset,
        )


class EventReader:
    """One pass over a trace.  Mutable: it moves the cursor.

    ``version``, ``semantic_version`` and ``properties`` are the header's.  Raises CaptureError
    for a header that cannot be read.
    """

    def __init__(self, cursor: Cursor, limits: Limits, source: Source) -> None:
        self._cursor = cursor
        self._limits = limits
        self._source = source
        self._decoder = Decoder(cursor, limits, source)
        self._open: dict[int, _Open] = {}
        self._entered = 0
        self.version = self._decoder.version = self._version()
        self.semantic_version = self.version
        self.properties: dict[str, str] = {}
        if self.version >= _PROPERTIES:
            self.semantic_version = cursor.uint()
            self.properties = dict(self._properties())

    @property
    def entered(self) -> int:
        """How many calls have been entered whole."""
        return self._entered

    def calls(self) -> Iterator[TraceCall]:
        """Calls in the order they were left.  Raises CaptureError where the trace is damaged."""
        while not self._cursor.at_end():
            event = self._cursor.byte()
            if event not in _EVENTS:
                raise CaptureError(f"there is no event {event}")
            call = _EVENTS[event](self)
            if call is not None:
                yield call

    def unfinished(self) -> Iterator[TraceCall]:
        """The calls that no event left, by number; to be asked for after the rest."""
        for number in sorted(self._open):
            yield self._open.pop(number).close(finished=False)

    def _version(self) -> int:
        version = self._cursor.uint()
        if version > NEWEST:
            raise CaptureError(f"trace version {version}; versions up to {NEWEST} are read")
        return version

    def _properties(self) -> Iterator[tuple[str, str]]:
        while name := self._decoder.name():
            yield name, self._decoder.name()

    def _enter(self) -> None:
        self._admit()
        thread = self._thread() if self.version >= _THREADS else 0
        place = self._source.mark
        before = self._decoder.held.spent
        function = self._decoder.function()
        self._decoder.held.spend(VALUE_COST * (1 + len(function.arguments)))
        arguments: list[Value | Literal[Missing.MISSING]] = [MISSING] * len(function.arguments)
        call = _Open(self._entered, thread, function, place, arguments)
        self._details(call)
        call.cost = self._decoder.held.spent - before
        self._open[call.number] = call
        self._entered += 1

    def _admit(self) -> None:
        most = self._limits.trace_calls
        if len(self._open) >= most:
            raise CaptureError(f"calls that are not over are more, limit trace_calls {most}")

    def _leave(self) -> TraceCall:
        number = self._cursor.uint()
        if number not in self._open:
            raise CaptureError(f"call {number} is left without having been entered")
        call = self._open[number]
        before = self._decoder.held.spent
        self._details(call)
        self._decoder.held.spent = before - call.cost
        del self._open[number]
        return call.close(finished=True)

    def _details(self, call: _Open) -> None:
        left = len(call.arguments) + MOST_DETAILS
        while kind := self._cursor.byte():
            left -= 1
            if left < 0:
                raise CaptureError(f"{call.function.name} has no room for as many details")
            if kind not in _DETAILS:
                raise CaptureError(f"there is no detail {kind} of a call")
            _DETAILS[kind](self, call)

    def _argument(self, call: _Open) -> None:
        index = self._cursor.uint()
        if index >= len(call.arguments):
            raise CaptureError(f"{call.function.name} has no argument {index}")
        call.arguments[index] = self._decoder.value()

    def _result(self, call: _Open) -> None:
        call.result = self._decoder.value()

    def _thread(self) -> int:
        thread = self._cursor.uint()
        if thread >= self._limits.threads:
            raise CaptureError(
                f"thread {thread} is too many, limit threads {self._limits.threads}"
            )
        return thread

    def _old_thread(self, call: _Open) -> None:
        call.thread = self._thread()

    def _backtrace(self, call: _Open) -> None:
        count = self._cursor.uint()
        call.backtrace = tuple([self._decoder.frame() for _ in range(count)])

    def _flags(self, call: _Open) -> None:
        call.flags |= self._cursor.uint()


_EVENTS: dict[int, Callable[[EventReader], TraceCall | None]] = {
    0: EventReader._enter,
    1: EventReader._leave,
}

_DETAILS: dict[int, Callable[[EventReader, _Open], None]] = {
    1: EventReader._argument,
    2: EventReader._result,
    3: EventReader._old_thread,
    4: EventReader._backtrace,
    5: EventReader._flags,
}

"""Opening a trace of API calls; decoding of its events and values, and joining them to calls."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Literal, TypeVar

import msgspec

from dp2emu.argument_check import checked
from dp2emu.capture.apitrace import values
from dp2emu.capture.apitrace.container import LONGEST_MAGIC, Packed, container_of, expand
from dp2emu.capture.apitrace.cursor import Cursor, uint
from dp2emu.capture.apitrace.quick import UNREADY, VALUE_COST, QuickReader, Unusual
from dp2emu.capture.apitrace.values import MISSING, Missing, StackFrame, TraceCall, Value
from dp2emu.capture.files import Closable, Place, Source, open_source
from dp2emu.errors import CaptureError
from dp2emu.limits import Limits

_NEWEST = 6
"""The newest apitrace format version that can be read."""
_PROPERTIES = 6  # first version with properties
_THREADS = 4  # first version whose enter events name their thread
_ENUM_TABLES = 3  # first version that records enumerations whole, not name by name

_NEGATIVE, _NATURAL = 3, 4

_NAME_COST = 128
"""Bytes charged to a memory budget for a name or a signature, besides its text."""
_MOST_ARGUMENTS = 64
"""Largest number of arguments in a function's signature; more make a trace invalid."""
_MOST_FLAGS = 256
"""Largest number of flags in a bitmask's signature; more make a trace invalid."""
_MOST_NAME = 256
"""Largest size in bytes of a name in a signature; a longer one makes a trace invalid."""
_MOST_DETAILS = 8
"""Details of an event, such as result or backtrace, besides its arguments, at most."""
_SHARE = 64
"""Bytes of extra memory budget for each byte of the file: a call may have a larger texture, which
the tracer's snappy compresses to a twentieth at most.  Other containers compress without bound,
and have the budget alone."""

_T = TypeVar("_T")


@checked
class Trace(Closable):
    """An open trace.  Mutable: reading moves it.

    ``name`` is the path or ``-``, ``container`` one of snappy, gzip, zstd and brotli.  ``damage``,
    after a pass, is None or the CaptureError that ended it, with the file offset of the chunk that
    could not be read.
    """

    def __init__(self, source: Source, limits: Limits) -> None:
        self.name = source.name
        self.damage: CaptureError | None = None
        self._source = source
        self._limits = limits
        self._fresh = True
        start = source.upto(LONGEST_MAGIC)
        self.container = container_of(start) or "brotli"
        self._reader = self._read(start)

    @property
    def version(self) -> int:
        """The version of the trace's encoding, 0 to 6."""
        return self._reader.version

    @property
    def semantic_version(self) -> int:
        """The version of the tracer's conventions; ``version`` in traces without one."""
        return self._reader.semantic_version

    @property
    def properties(self) -> Mapping[str, str]:
        """Properties of the traced process: ``process.name`` and ``process.commandLine``."""
        return self._reader.properties

    @property
    def bytes_read(self) -> int:
        """Size of the file, or of a pipe the number of bytes that were read."""
        return self._source.bytes_read

    def calls(self) -> Iterator[TraceCall]:
        """Calls in the order of their leave events, up to the damage; then the unfinished ones.

        Starts a new pass; raises UsageError for the second pass over a pipe.
        """
        self._rewind()
        self.damage, reader = None, self._reader
        try:
            yield from reader.calls()
        except CaptureError as error:
            self.damage = self._placed(error)
            self.damage.what += f"; calls from {reader.entered} on are lost"
        yield from reader.unfinished()

    def close(self) -> None:
        """Close the file if ``open_trace`` opened it."""
        self._source.close()

    def _rewind(self) -> None:
        if self._fresh:
            self._fresh = False
            return
        self._source.rewind()
        self._reader = self._read(b"")

    def _read(self, start: bytes) -> EventReader:
        pieces = expand(self.container, Packed(self._source, start), self._limits)
        try:
            return EventReader(Cursor(pieces), self._limits, self._source)
        except CaptureError as error:
            raise self._placed(error) from None

    def _placed(self, error: CaptureError) -> CaptureError:
        return error.at(stream=self.name, offset=self._source.mark)


@checked
def open_trace(place: Place, *, limits: Limits | None = None) -> Trace:
    """A trace opened from a path, ``-`` (stdin) or a binary stream, which need not seek.

    Raises CaptureError if its header cannot be read, and OSError.
    """
    source = open_source(place)
    try:
        return Trace(source, limits or Limits())
    except (CaptureError, OSError):
        source.close()
        raise


# Events and values


class Budget:
    """A limit on the bytes that a reader holds in memory.  Mutable: ``spent`` grows and shrinks.

    ``limit`` is the attribute ``name`` of ``limits``; ``what`` are the things limited, for
    errors.  If ``source`` is given, each byte of its file, or of a pipe each byte read, raises the
    limit.
    """

    def __init__(self, what: str, limits: Limits, name: str, source: Source | None = None) -> None:
        self.spent = 0
        self._what, self._source = what, source
        self._name, self._limits = name, limits
        self.limit: int = getattr(limits, name)

    def spend(self, size: int) -> None:
        """Add ``size`` bytes, not allocated yet, to ``spent``; CaptureError past the limit."""
        self.spent += size
        if self.spent > self.limit and self.spent > self.limit + self._share():
            what = self._limits.refusal(self._name, self.spent)
            raise CaptureError(f"{self._what}: {what}")

    def _share(self) -> int:
        source = self._source
        if source is None:
            return 0
        return _SHARE * (source.mark if source.size is None else source.size)


class Decoder:
    """A decoder of the values and signatures in a trace.

    A trace has each signature once and then refers to it by an id; functions, structures,
    enumerations and bitmasks have ids of their own.  Mutable: it moves the cursor, stores
    signatures, and adds the bytes of decoded values to the memory budget ``held``, from which the
    reader of the events subtracts them.  The budget grows with the size of ``source``.
    """

    def __init__(self, cursor: Cursor, limits: Limits, source: Source) -> None:
        self.version = 0
        self.held = Budget("calls that are not over", limits, "trace_bytes", source)
        self._cursor = cursor
        self._limits, self._depth = limits, limits.nesting
        self._kept = Budget("signatures", limits, "signature_bytes")
        self._functions: dict[int, values.FunctionSignature] = {}
        self._structs: dict[int, values.StructSignature] = {}
        self._enums: dict[int, values.EnumSignature] = {}
        self._bitmasks: dict[int, values.BitmaskSignature] = {}
        self._frames: dict[int, StackFrame] = {}
        self.functions: Mapping[int, values.FunctionSignature] = self._functions
        self.quick = QuickReader(self._structs, self._enums, self._bitmasks, self._depth)

    def name(self, most: int | None = None) -> str:
        """Read a string that stays in memory during the pass; unprintable text is escaped.

        It is charged to the memory budget of signatures.  Raises CaptureError if it exceeds that
        budget or ``most`` bytes.
        """
        size = self._cursor.uint()
        if most is not None and size > most:
            raise CaptureError(f"a name of {size} bytes, more than {most}")
        self._kept.spend(_NAME_COST + size)
        text = self._cursor.take(size).decode("utf-8", "backslashreplace")
        return text if text.isprintable() else text.encode("unicode_escape").decode()

    def function(self) -> values.FunctionSignature:
        """Read the id of a function's signature, and the signature after it if the id is new."""
        return self._interned(self._functions, self._function)

    def frame(self) -> StackFrame:
        """Read one stack frame of a backtrace."""
        self.held.spend(VALUE_COST)
        return self._interned(self._frames, self._frame)

    def value(self, depth: int = 0) -> Value:
        """Read a value and those nested in it.  Raises CaptureError for an unknown type."""
        if depth > self._depth:
            raise CaptureError(self._limits.refusal("nesting", depth))
        self.held.spend(VALUE_COST)
        kind = self._cursor.byte()
        if kind not in _READ:
            raise CaptureError(f"there is no type {kind} of value")
        return _READ[kind](self, depth + 1)

    def signed(self) -> int:
        """Read an integer, whose type byte says whether it is negative."""
        kind = self._cursor.byte()
        if kind not in (_NEGATIVE, _NATURAL):
            raise CaptureError(f"a value of type {kind} where a number belongs")
        number = self._cursor.uint()
        return -number if kind == _NEGATIVE else number

    def _interned(self, known: dict[int, _T], read: Callable[[], _T]) -> _T:
        number = self._cursor.uint()
        if number not in known:
            self._kept.spend(_NAME_COST)
            known[number] = read()
        return known[number]

    def _several(self, read: Callable[[], _T]) -> tuple[_T, ...]:
        """Read a count, then as many elements with ``read``.

        ``read`` adds each element's size to a memory budget, so a false count cannot use up
        memory.
        """
        return tuple([read() for _ in range(self._cursor.uint())])

    def _few(self, read: Callable[[], _T], most: int, what: str) -> tuple[_T, ...]:
        """Read a count, at most ``most``, and as many elements; ``what`` names them in errors."""
        count = self._cursor.uint()
        if count > most:
            raise CaptureError(f"{count} {what}, more than {most}")
        return tuple([read() for _ in range(count)])

    def _label(self) -> str:
        """Read a name in a signature, at most ``_MOST_NAME`` bytes."""
        return self.name(_MOST_NAME)

    def _function(self) -> values.FunctionSignature:
        name = self._label()
        return values.FunctionSignature(name, self._few(self._label, _MOST_ARGUMENTS, "arguments"))

    def _struct(self) -> values.StructSignature:
        return values.StructSignature(self._label(), self._several(self._label))

    def _enum(self) -> values.EnumSignature:
        if self.version < _ENUM_TABLES:
            return values.EnumSignature(((self._label(), self.signed()),))
        return values.EnumSignature(self._several(lambda: (self._label(), self.signed())))

    def _bitmask(self) -> values.BitmaskSignature:
        flags = self._few(lambda: (self._label(), self._cursor.uint()), _MOST_FLAGS, "flags")
        return values.BitmaskSignature(flags)

    def _frame(self) -> StackFrame:
        found: dict[str, str | int] = {}
        while kind := self._cursor.byte():
            if kind not in _FRAME:
                raise CaptureError(f"there is no detail {kind} of a stack frame")
            field = _FRAME[kind]
            found[field] = self._cursor.uint() if field in ("line", "offset") else self.name()
        return StackFrame(**found)  # type: ignore[arg-type]

    def _blob(self, depth: int) -> bytes:
        return self._cursor.take(self._cursor.uint(), self.held.spend)

    def _string(self, depth: int) -> str:
        return self._blob(depth).decode("utf-8", "surrogateescape")

    def _wide_string(self, depth: int) -> values.WideString:
        units = self._several(self._unit)
        data = struct.pack(f"<{len(units)}H", *units)
        return values.WideString(data.decode("utf-16-le", "surrogatepass"))

    def _unit(self) -> int:
        self.held.spend(VALUE_COST)
        unit = self._cursor.uint()
        if unit > 0xFFFF:
            raise CaptureError(f"{unit:#x} is no unit of a wide string")
        return unit

    def _enumerated(self, depth: int) -> values.Enum:
        signature = self._interned(self._enums, self._enum)
        if self.version < _ENUM_TABLES:
            return values.Enum(signature, signature.names[0][1])
        return values.Enum(signature, self.signed())

    def _flags(self, depth: int) -> values.Bitmask:
        return values.Bitmask(self._interned(self._bitmasks, self._bitmask), self._cursor.uint())

    def _array(self, depth: int) -> tuple[Value, ...]:
        return self._several(lambda: self.value(depth))

    def _structure(self, depth: int) -> values.Struct:
        signature = self._interned(self._structs, self._struct)
        return values.Struct(signature, tuple([self.value(depth) for _ in signature.members]))

    def _float(self, layout: struct.Struct) -> float:
        (number,) = layout.unpack(self._cursor.take(layout.size))
        return float(number)

    def _twice(self, depth: int) -> values.Repr:
        return values.Repr(self.value(depth), self.value(depth))


_FLOAT, _DOUBLE = struct.Struct("<f"), struct.Struct("<d")

_READ: dict[int, Callable[[Decoder, int], Value]] = {
    0: lambda decoder, depth: None,
    1: lambda decoder, depth: False,
    2: lambda decoder, depth: True,
    _NEGATIVE: lambda decoder, depth: -decoder._cursor.uint(),
    _NATURAL: lambda decoder, depth: decoder._cursor.uint(),
    5: lambda decoder, depth: decoder._float(_FLOAT),
    6: lambda decoder, depth: values.Double(decoder._float(_DOUBLE)),
    7: Decoder._string,
    8: Decoder._blob,
    9: Decoder._enumerated,
    10: Decoder._flags,
    11: Decoder._array,
    12: Decoder._structure,
    13: lambda decoder, depth: values.Pointer(decoder._cursor.uint()),
    14: Decoder._twice,
    15: Decoder._wide_string,
}
"""Functions that decode a value of a trace, by the type byte that precedes the value."""

_FRAME = {1: "module", 2: "function", 3: "file", 4: "line", 5: "offset"}
"""Names of ``StackFrame`` members by the byte that precedes the member's value in a trace."""


class _Open(msgspec.Struct):
    """A call whose leave event was not read yet; mutable: details are added until then."""

    number: int
    thread: int
    function: values.FunctionSignature
    offset: int
    arguments: list[Value | Literal[Missing.MISSING]]
    result: Value | Literal[Missing.MISSING] = MISSING
    flags: int = 0
    backtrace: tuple[StackFrame, ...] = ()
    cost: int = 0

    def close(self, *, finished: bool) -> TraceCall:
        return TraceCall(
            self.number, self.thread, self.function, tuple(self.arguments), self.result,
            self.flags, self.backtrace, finished, self.offset,
        )  # fmt: skip


class EventReader:
    """A reader of the events of a trace as calls.  Mutable: ``entered`` counts entered calls.

    ``version``, ``semantic_version`` and ``properties`` are from the header.  Raises CaptureError
    for a header that cannot be read.
    """

    def __init__(self, cursor: Cursor, limits: Limits, source: Source) -> None:
        self._cursor = cursor
        self._limits = limits
        self._source = source
        self._decoder = decoder = Decoder(cursor, limits, source)
        self._quick, self._held, self._functions = decoder.quick, decoder.held, decoder.functions
        self._open: dict[int, _Open] = {}
        self.entered = 0
        self.version = self._decoder.version = cursor.uint()
        if self.version > _NEWEST:
            raise CaptureError(f"trace version {self.version}; versions up to {_NEWEST} are read")
        self.semantic_version = self.version
        self.properties: dict[str, str] = {}
        if self.version >= _PROPERTIES:
            self.semantic_version = cursor.uint()
            self.properties = dict(self._properties())

    def calls(self) -> Iterator[TraceCall]:
        """Calls in the order of their leave events.  Raises CaptureError at damage."""
        while not self._cursor.at_end():
            if self.version >= _THREADS:
                yield from self._quick_calls()
                if self._cursor.at_end():
                    return
            event = self._cursor.byte()
            if event not in _EVENTS:
                raise CaptureError(f"there is no event {event}")
            call = _EVENTS[event](self)
            if call is not None:
                yield call

    def unfinished(self) -> Iterator[TraceCall]:
        """The calls without a leave event, in order of number; valid once ``calls`` has ended."""
        for number in sorted(self._open):
            yield self._open.pop(number).close(finished=False)

    def _quick_calls(self) -> Iterator[TraceCall]:
        """Calls up to the first event that is unusual, or the end of the block."""
        cursor = self._cursor
        block, at = cursor.block, cursor.at
        end = len(block)
        try:
            while at < end:
                event = block[at]
                if event == 0:
                    call, at = self._quick_enter(block, at + 1)
                elif event == 1:
                    call, at = self._quick_leave(block, at + 1)
                else:
                    return
                cursor.at = at
                if call is not None:
                    yield call
        except UNREADY:
            return

    def _quick_enter(self, block: bytes, at: int) -> tuple[TraceCall | None, int]:
        """Read an enter event, and the leave event if that is the next one; the call if it was,
        and the place behind what was read.
        """
        thread, at = (block[at], at + 1) if block[at] < 0x80 else uint(block, at)
        key, at = (block[at], at + 1) if block[at] < 0x80 else uint(block, at)
        function = self._functions[key]
        size = len(function.arguments)
        if thread >= self._limits.threads or len(self._open) >= self._limits.trace_calls:
            raise Unusual
        quick, held = self._quick, self._held
        quick.cost, quick.room = VALUE_COST * (1 + size), held.limit - held.spent
        arguments: list[Value | Literal[Missing.MISSING]] = [MISSING] * size
        at, result, flags = quick.details(block, at, arguments, size + _MOST_DETAILS)
        number = self.entered
        behind = self._quick_end(block, at, number)
        if behind:
            quick.cost, quick.room = 0, quick.room - quick.cost
            at, found, more = quick.details(block, behind, arguments, size + _MOST_DETAILS)
            self.entered += 1
            left = TraceCall(
                number, thread, function, tuple(arguments), result if found is MISSING else found,
                flags | more, (), True, self._source.mark,
            )  # fmt: skip
            return left, at
        held.spent += quick.cost
        self._open[number] = _Open(
            number, thread, function, self._source.mark, arguments, result, flags, (), quick.cost,
        )  # fmt: skip
        self.entered += 1
        return None, at

    def _quick_end(self, block: bytes, at: int, number: int) -> int:
        """The place behind the head of the leave event of call ``number``, 0 if that is not what
        is at ``at``.
        """
        if at + 1 >= len(block) or block[at] != 1:
            return 0
        found, behind = uint(block, at + 1)
        return behind if found == number else 0

    def _quick_leave(self, block: bytes, at: int) -> tuple[TraceCall, int]:
        """Read a leave event; the call, and the place behind the event."""
        number, at = uint(block, at)
        call = self._open[number]
        quick, held = self._quick, self._held
        quick.cost, quick.room = 0, held.limit - held.spent
        arguments = call.arguments.copy()
        at, result, flags = quick.details(block, at, arguments, len(arguments) + _MOST_DETAILS)
        del self._open[number]
        held.spent -= call.cost
        left = TraceCall(
            number, call.thread, call.function, tuple(arguments),
            call.result if result is MISSING else result,
            call.flags | flags, call.backtrace, True, call.offset,
        )  # fmt: skip
        return left, at

    def _properties(self) -> Iterator[tuple[str, str]]:
        while name := self._decoder.name():
            yield name, self._decoder.name()

    def _enter(self) -> None:
        if len(self._open) >= self._limits.trace_calls:
            raise CaptureError(self._limits.refusal("trace_calls", len(self._open) + 1))
        thread = self._thread() if self.version >= _THREADS else 0
        place = self._source.mark
        before = self._decoder.held.spent
        function = self._decoder.function()
        self._decoder.held.spend(VALUE_COST * (1 + len(function.arguments)))
        arguments: list[Value | Literal[Missing.MISSING]] = [MISSING] * len(function.arguments)
        call = _Open(self.entered, thread, function, place, arguments)
        self._details(call)
        call.cost = self._decoder.held.spent - before
        self._open[call.number] = call
        self.entered += 1

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
        left = len(call.arguments) + _MOST_DETAILS
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
            raise CaptureError(self._limits.refusal("threads", thread + 1))
        return thread

    def _old_thread(self, call: _Open) -> None:
        call.thread = self._thread()

    def _backtrace(self, call: _Open) -> None:
        count = self._cursor.uint()
        call.backtrace = tuple([self._decoder.frame() for _ in range(count)])

    def _flags(self, call: _Open) -> None:
        call.flags |= self._cursor.uint()


_EVENTS: dict[int, Callable[[EventReader], TraceCall | None]] = {
    0: EventReader._enter, 1: EventReader._leave,
}  # fmt: skip

_DETAILS: dict[int, Callable[[EventReader, _Open], None]] = {
    1: EventReader._argument,
    2: EventReader._result,
    3: EventReader._old_thread,
    4: EventReader._backtrace,
    5: EventReader._flags,
}

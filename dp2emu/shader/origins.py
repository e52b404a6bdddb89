"""Origins: the instruction of a shader from which each statement of its program comes.

A cache of lowered shaders remembers how each program was made (``remember``).  ``origins_of``
makes the program again with a builder that records the origin of each statement and keeps all
copies, so that every write of a register is a statement of its own.  The program that draws use,
and all that is compiled from it, stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import msgspec

from dp2emu.identity_cache import IdentityCache, identity_cached
from dp2emu.shader import ir
from dp2emu.shader.builder import Builder
from dp2emu.shader.values import Block

_ROOM = 1 << 16
"""Most programs of which it is remembered how they were made."""


class Origin(msgspec.Struct, frozen=True, eq=False):
    """One or, co-issued, several instructions of a shader at a place of its program.

    An instruction of a subroutine has an origin for each call.
    """

    instructions: tuple[Any, ...]


class RecordingBuilder(Builder):
    """A builder that records from which instruction each statement comes.

    ``lowering`` is the state of the lowering that uses it, None before its first instruction.
    ``reads`` are the statements that read inputs and constants at the start, ``copies`` the keys
    of registers by a slot with the same value in another type.
    """

    def __init__(self, stage: ir.Stage, record: Record) -> None:
        super().__init__(stage)
        record.builders.append(self)
        self.record = record
        self.lowering: Any = None
        self.copies: dict[int, Any] = {}
        self.reads: tuple[ir.Statement, ...] = ()
        self.made: ir.Program | None = None
        self._origin: Origin | None = None
        self._closed: Origin | None = None

    def at(self, lowering: object, *instructions: object) -> None:
        """Note the instructions from which the following statements come."""
        self.lowering = lowering
        self._origin = Origin(instructions) if instructions else None
        for place, value in getattr(lowering, "known", {}).items():
            if isinstance(value.operand, ir.Slot):
                self.copies[value.operand.number] = place

    def program(self) -> ir.Program:
        """Finish recording; returns the program with all copies, verified."""
        self.reads = tuple(self._prologue)
        self.made = super().program()
        return self.made

    def _finished(self, statements: tuple[ir.Statement, ...]) -> tuple[ir.Statement, ...]:
        return statements

    def _emit(self, statement: ir.Statement) -> None:
        nested = isinstance(statement, ir.If | ir.Loop)
        self.record.note(statement, self._closed if nested else self._origin)
        super()._emit(statement)

    @contextmanager
    def _block(self, loop: bool = False) -> Iterator[Block]:
        origin = self._origin
        with super()._block(loop) as block:
            yield block
        self._closed = origin

    @contextmanager
    def else_(self) -> Iterator[None]:
        """Record the body of an else; the If that it completes keeps its origin."""
        before = self._open[-1].statements
        opened = self.record.origin(before[-1]) if before else None
        with super().else_():
            yield
        self.record.note(before[-1], opened)


class Record:
    """The origins of the statements that were recorded, by statement.  Mutable."""

    def __init__(self) -> None:
        self.builders: list[RecordingBuilder] = []
        # Statements are kept, so that no other object gets the identity of one.
        self._origins: dict[int, tuple[ir.Statement, Origin | None]] = {}

    def note(self, statement: ir.Statement, origin: Origin | None) -> None:
        """Note the origin of a statement."""
        self._origins[id(statement)] = statement, origin

    def origin(self, statement: ir.Statement) -> Origin | None:
        """The origin of a statement, None for one that no instruction caused."""
        return self._origins.get(id(statement), (statement, None))[1]


_RECORD: ContextVar[Record | None] = ContextVar("record", default=None)


def new_builder(stage: ir.Stage) -> Builder:
    """A builder for the lowering of a shader, which records origins while these are asked for."""
    record = _RECORD.get()
    return Builder(stage) if record is None else RecordingBuilder(stage, record)


_Statement = TypeVar("_Statement", bound=ir.Statement)


def carried(old: ir.Statement, new: _Statement) -> _Statement:
    """The statement ``new``, which replaces ``old`` and has its origin."""
    record = _RECORD.get()
    if record is not None:
        record.note(new, record.origin(old))
    return new


# How programs were made

_Made = tuple[Callable[..., Any], tuple[Any, ...], Mapping[str, Any], int]
_made: IdentityCache[_Made] = IdentityCache(_ROOM)


def remember(
    result: object,
    compute: Callable[..., Any],
    arguments: tuple[Any, ...],
    named: Mapping[str, Any],
) -> None:
    """Remember that ``compute`` with these arguments returned ``result``, a lowered shader."""
    for number, program in enumerate(_programs(result)):
        _made.put((program,), (), (compute, arguments, dict(named), number))


def _programs(result: Any) -> Iterator[ir.Program]:
    """The programs of a lowered shader: its own, or one for each phase of a hull shader."""
    own = getattr(result, "program", None)
    if isinstance(own, ir.Program):
        yield own
        return
    phases = (getattr(result, "points", None), *getattr(result, "constants", ()))
    yield from (phase.program for phase in phases if phase is not None)


class Origins(msgspec.Struct, frozen=True, eq=False):
    """A program of a shader with the origins of its statements.

    ``program`` computes what the program of the draw computes, with all copies.  ``code`` are the
    tokens of the shader; ``builder`` has its registers.
    """

    program: ir.Program
    code: bytes
    record: Record
    builder: RecordingBuilder


@identity_cached(room=64)
def origins_of(program: ir.Program) -> Origins | None:
    """The origins of a program's statements; None for a program that is of no shader, such as one
    of the fixed function.
    """
    try:
        compute, arguments, named, number = _made.find((program,))
    except KeyError:
        return None
    record = Record()
    token = _RECORD.set(record)
    try:
        result = compute(*arguments, **named)
    finally:
        _RECORD.reset(token)
    found = [*_programs(result)][number]
    builders = record.builders
    builder = next((each for each in builders if each.made is found), builders[-1])
    return Origins(found, arguments[0], record, builder)

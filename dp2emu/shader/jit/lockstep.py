"""Programs that act on memory, by compiled code between one access and the next.

Accesses are by lanes in order, all lanes of one before any of the next, and code that runs a
vector of lanes to its end would do otherwise.  So what stands between them and needs no other
lanes is cut out into regions, programs of their own, which the compiling engine runs for all lanes
that are active.  The rest is done by the reference engine, statement by statement.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, cast

from dp2emu.records import dataclass
from dp2emu.shader.ir import (
    Assign,
    Break,
    If,
    Input,
    Load,
    Loop,
    Output,
    Port,
    Program,
    Slot,
    Statement,
    blocks,
    of_program,
    operands,
    walk,
    written,
)
from dp2emu.shader.reference import (
    Execute,
    Fetcher,
    Machine,
    Memory,
    Result,
    Run,
    Sampler,
    Surroundings,
    machine_of,
    ran,
)
from dp2emu.shader.types import Lanes, Mask

WORTH = 24
"""Statements that a region has at least, or a loop: fewer take the reference engine less time than
a call of compiled code."""


@dataclass(frozen=True, slots=True)
class Region:
    """Statements that are executed by running ``program``.

    It has an input for each of the slots ``given``, by ``name_of``, and an output for each of
    those it has ``made``.
    """

    program: Program
    given: tuple[int, ...]
    made: tuple[int, ...]


def run_in_regions(
    run: Run,
    program: Program,
    inputs: Mapping[str, Lanes],
    uniforms: Mapping[str, Lanes],
    lanes: int,
    mask: Mask | None = None,
    sampler: Sampler | None = None,
    fetcher: Fetcher | None = None,
    memory: Memory | None = None,
) -> Result:
    """Run a program whose regions ``run`` runs: ``dp2emu.shader.reference.run``."""
    surroundings = Surroundings(sampler, None, fetcher, memory)
    own: dict[type, Execute] = {Region: partial(_run_region, run, uniforms)}
    machine = machine_of(program, inputs, uniforms, lanes, mask, surroundings, own)
    return ran(machine, program, mask, in_regions(program))


def _run_region(
    run: Run,
    uniforms: Mapping[str, Lanes],
    machine: Machine,
    region: Region,
    active: Mask | None,
) -> None:
    inputs = {name_of(slot): machine.slots[slot] for slot in region.given}
    found = run(region.program, inputs, uniforms, machine.lanes, active).outputs
    for slot in region.made:
        machine.write(slot, found[name_of(slot)], active)


def name_of(slot: int) -> str:
    """The port of a region for a slot."""
    return f"slot#{slot}"


@of_program
def in_regions(program: Program) -> tuple[Statement, ...]:
    """The statements of a program with regions in the place of what they are made of."""
    return _Cutter(program, _reads(program.statements)).block(program.statements)


def _reads(statements: tuple[Statement, ...]) -> Counter[int]:
    """How often slots are read."""
    return Counter(
        each.number
        for statement in walk(statements)
        for each in operands(statement)
        if isinstance(each, Slot)
    )


@dataclass(frozen=True, slots=True)
class _Cutter:
    """A program, and how often it reads each slot."""

    program: Program
    reads: Counter[int]

    def block(self, statements: tuple[Statement, ...]) -> tuple[Statement, ...]:
        done: list[Statement] = []
        waiting: list[Statement] = []
        for statement in statements:
            if self.plain(statement, loops=0):
                waiting.append(statement)
                continue
            done += self.region(tuple(waiting))
            waiting.clear()
            done.append(self.opened(statement))
        return (*done, *self.region(tuple(waiting)))

    def opened(self, statement: Statement) -> Statement:
        """A statement with regions inside it."""
        if isinstance(statement, If):
            then, otherwise = self.block(statement.then), self.block(statement.otherwise)
            return replace(statement, then=then, otherwise=otherwise)
        if isinstance(statement, Loop):
            return replace(statement, body=self.block(statement.body))
        return statement

    def plain(self, statement: Statement, loops: int) -> bool:
        """Whether a statement can be in a region: no lane needs another, or anything but slots
        and uniform files.
        """
        if isinstance(statement, Load):
            files = self.program.files
            return next(file.uniform for file in files if file.name == statement.file)
        if isinstance(statement, Break):
            return loops > 0
        inner = (each for block in blocks(statement) for each in block)
        loops += isinstance(statement, Loop)
        return isinstance(statement, Assign | If | Loop) and all(
            self.plain(each, loops) for each in inner
        )

    def region(self, statements: tuple[Statement, ...]) -> Iterable[Statement]:
        """A region of statements, or these themselves where they are few."""
        inside = list(walk(statements))
        if len(inside) < WORTH and not any(isinstance(each, Loop) for each in inside):
            return statements
        results = {slot for each in inside for slot in written(each)}
        given = {*_early(statements)} | (results - set(_certain(statements)))
        reads = _reads(statements)
        made = {slot for slot in results if slot in given or self.reads[slot] > reads[slot]}
        program = self._program(statements, sorted(given), sorted(made))
        return (cast("Any", Region(program, tuple(sorted(given)), tuple(sorted(made)))),)

    def _program(
        self, statements: tuple[Statement, ...], given: list[int], made: list[int]
    ) -> Program:
        types = self.program.slots
        return replace(
            self.program,
            files=tuple(file for file in self.program.files if file.uniform),
            inputs=tuple(Port(name_of(slot), types[slot]) for slot in given),
            outputs=tuple(Port(name_of(slot), types[slot]) for slot in made),
            statements=(
                *(Input(slot, name_of(slot)) for slot in given),
                *statements,
                *(Output(name_of(slot), Slot(slot)) for slot in made),
            ),
        )


def _certain(statements: tuple[Statement, ...]) -> Iterator[int]:
    """Slots that statements assign whatever happens."""
    return (slot for each in statements for slot in written(each))


def _early(statements: tuple[Statement, ...]) -> set[int]:
    """Slots that may be read before statements assign them."""
    known: set[int] = set()
    early: set[int] = set()
    for statement in statements:
        for inner in walk((statement,)):
            read = {each.number for each in operands(inner) if isinstance(each, Slot)}
            early |= read - known
        known.update(written(statement))
    return early

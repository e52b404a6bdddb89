"""The compiling engine: ``run`` of the reference engine by machine code.

A program is compiled when it first runs, or loaded from the object cache, and is then called for
all lanes without the GIL.  Texture sampling is compiled too if the sampler provides programs
(``BindableSampler``); other samplers and fetchers are called back per vector of lanes, which holds
whole quads.  Programs that access memory run in regions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, cast

import msgspec
import numpy as np
from msgspec.structs import replace

from dp2emu.identity_cache import identity_cached
from dp2emu.shader import ir
from dp2emu.shader.jit.batches import batch_loop
from dp2emu.shader.jit.bindings import Bindings, Words, address
from dp2emu.shader.jit.code import compiled
from dp2emu.shader.jit.compiling import Code
from dp2emu.shader.jit.machine import target as own_target
from dp2emu.shader.jit.writer import Target
from dp2emu.shader.passes import without_unused_slots
from dp2emu.shader.reference import (
    Environment,
    Execute,
    Fetcher,
    Machine,
    Memory,
    Result,
    Run,
    Sampler,
    Watch,
    check_lanes,
    execute_statements,
    input_lanes,
    machine_of,
)
from dp2emu.shader.reference import run as run_reference
from dp2emu.shader.types import Lanes, Mask
from dp2emu.shader.uniformity import uniformity


def run(
    program: ir.Program,
    inputs: Mapping[str, Lanes],
    uniforms: Mapping[str, Lanes],
    lanes: int,
    mask: Mask | None = None,
    sampler: Sampler | None = None,
    watch: Watch | None = None,
    fetcher: Fetcher | None = None,
    memory: Memory | None = None,
) -> Result:
    """Run a program; arguments, result and errors are those of ``dp2emu.shader.reference.run``.

    With ``watch`` the reference engine runs, which defines the order of loads.  Raises ImportError
    without llvmlite.
    """
    if watch is not None:
        return run_reference(
            program, inputs, uniforms, lanes, mask, sampler, watch, fetcher, memory
        )
    if ir.accesses(program):
        return run_in_regions(
            run, program, inputs, uniforms, lanes, mask, sampler, fetcher, memory
        )
    return run_for(own_target(), program, inputs, uniforms, lanes, mask, sampler, fetcher)


def run_for(
    target: Target,
    program: ir.Program,
    inputs: Mapping[str, Lanes],
    uniforms: Mapping[str, Lanes],
    lanes: int,
    mask: Mask | None = None,
    sampler: Sampler | None = None,
    fetcher: Fetcher | None = None,
) -> Result:
    """Run a program by code for another target, such as one with shorter vectors."""
    check_lanes(program, lanes, mask)
    given = [row for port in program.inputs
             for row in _rows(input_lanes(port, inputs[port.name], lanes))]  # fmt: skip
    bindings = Bindings(target, sampler, fetcher)
    bound = bindings.of(program, uniforms)
    outputs = [np.empty(lanes, port.type.dtype) for port in program.outputs]
    rows = [_rows(array) for array in outputs]
    alive = np.empty(lanes, np.bool_)
    if lanes:
        masks = [] if mask is None else [mask]
        names = tuple(port.name for port in program.inputs)
        code = compiled(program, names, target, masked=bool(masks))
        # Callbacks compute with NumPy on arbitrary values: no warnings.
        with np.errstate(all="ignore"):
            wanted = [row for each in rows for row in each]
            _run(target, code, bound, given, masks, [*wanted, alive])
        if bindings.cancellation.word.value:
            bindings.cancellation.check()
        for array, halves in zip(outputs, rows, strict=True):
            if len(halves) > 1:
                array.view(np.int32).reshape(-1, 2).T[:] = halves
        bindings.raise_errors()
    named = zip(program.outputs, outputs, strict=True)
    return Result({port.name: array for port, array in named}, alive)


def _rows(array: Lanes) -> list[Lanes]:
    """Return the rows of an array in a body: of a 64-bit one, copies of low and high words."""
    return [array] if array.itemsize < 8 else list(array.view(np.int32).reshape(-1, 2).T.copy())


def _run(
    target: Target,
    code: Code,
    bound: Words,
    given: list[Lanes],
    masks: list[Mask],
    wanted: list[Lanes],
) -> None:
    """Run the lane loop, which stores outputs and, last, the mask of live lanes to ``wanted``."""
    lanes = len(wanted[-1])
    inputs = [_spread(array, target.width, lanes) for array in (*given, *masks)]
    rooms = [np.empty((len(each) + 1) * target.row, np.uint8) for each in (inputs, wanted)]
    described = [_described(arrays, lanes) for arrays in (inputs, wanted)]
    batch_loop(target).run(
        code.address, address(bound),
        address(rooms[0]), address(described[0]), len(given),
        address(rooms[1]), address(described[1]), len(wanted) - 1,
        len(masks), lanes,
    )  # fmt: skip


def _spread(array: Lanes, width: int, lanes: int) -> Lanes:
    """Return an item for each lane, contiguous in memory; or a uniform item ``width`` times."""
    return np.ascontiguousarray(array) if len(array) == lanes else np.repeat(array, width)


def _described(arrays: list[Lanes], lanes: int) -> Words:
    """Return address, lane stride and item size of each array, as ``batches`` expects."""
    rows = [(address(each), each.itemsize * (len(each) == lanes), each.itemsize)
            for each in arrays]  # fmt: skip
    return np.array(rows, np.uint64)


# Lockstep execution of programs that access memory.
#
# All lanes finish an access before any lane begins the next one; code that ran each vector of
# lanes to its end would break that order.  Statements between accesses that need no other lane
# are split off into regions, programs that compiled code runs for all active lanes.  The reference
# engine executes everything else, statement by statement.

LEAST_REGION = 24
"""Minimum number of statements of a region of a program without a loop for it to be compiled; the
reference engine executes shorter ones."""


class Region(msgspec.Struct, frozen=True):
    """Statements that are executed by running ``program``, in which each slot is named by
    ``slot_port``.

    The program has an input for each slot number in ``given`` and an output for each in ``made``.
    """

    program: ir.Program
    given: tuple[int, ...]
    made: tuple[int, ...]


def run_in_regions(
    run: Run,
    program: ir.Program,
    inputs: Mapping[str, Lanes],
    uniforms: Mapping[str, Lanes],
    lanes: int,
    mask: Mask | None = None,
    sampler: Sampler | None = None,
    fetcher: Fetcher | None = None,
    memory: Memory | None = None,
) -> Result:
    """Run a program in lockstep, its regions by ``run``; arguments, result and errors are
    otherwise those of ``dp2emu.shader.reference.run``.
    """
    environment = Environment(sampler, None, fetcher, memory)
    own: dict[type, Execute] = {Region: partial(_run_region, run, uniforms)}
    machine = machine_of(program, inputs, uniforms, lanes, mask, environment, own)
    return execute_statements(machine, program, mask, split_regions(program))


def _run_region(
    run: Run, uniforms: Mapping[str, Lanes], machine: Machine, region: Region, active: Mask | None
) -> None:
    inputs = {slot_port(slot): machine.slots[slot] for slot in region.given}
    uniform = frozenset(port for port, lanes in inputs.items() if len(lanes) == 1)
    if len(uniform) == len(inputs):
        # What is computed from the same in all lanes is the same: one lane stands for all.
        found = run(region.program, inputs, uniforms, 1).outputs
    else:
        found = run(region.program, inputs, uniforms, machine.lanes, active).outputs
    differing = _differing(region.program, uniform)
    for slot in region.made:
        port = slot_port(slot)
        value = found[port] if active is not None or port in differing else found[port][:1]
        machine.write(slot, value, active)


@identity_cached()
def _differing(region: ir.Program, uniform: frozenset[str]) -> frozenset[str]:
    """Return the outputs of a region that differ between lanes if inputs other than ``uniform``
    do.
    """
    slots = uniformity(region, ports=uniform).slots
    outputs = (each for each in region.statements if isinstance(each, ir.Output))
    return frozenset(each.port for each in outputs if slots.intersection(ir.reads(each)))


def slot_port(slot: int) -> str:
    """Return the name of the port by which a region receives or returns a slot."""
    return f"slot#{slot}"


@identity_cached()
def split_regions(program: ir.Program) -> tuple[ir.Statement, ...]:
    """Return the program's statements, with sequences that can be compiled replaced by regions."""
    uniform = {file.name for file in program.files if file.uniform}
    compilable: set[int] = set()
    _collect_compilable(program.statements, uniform, compilable)
    splitter = _RegionSplitter(program, _read_counts(program.statements), compilable)
    return splitter.block(program.statements)


_IN_REGIONS = {ir.Assign, ir.If, ir.Loop, ir.Break}
"""Types of the statements that a region may have, besides loads of uniform files."""


def _collect_compilable(
    statements: tuple[ir.Statement, ...], uniform: set[str], found: set[int]
) -> tuple[bool, bool]:
    """Add to ``found`` the identities of a block's statements that a region may have: they read
    only slots and uniform files of their own lane, and leave no loop around them.

    Returns whether a loop in a region may have the block, and whether it leaves that loop.
    """
    whole, leaves = True, False
    for statement in statements:
        inside = [_collect_compilable(each, uniform, found) for each in ir.blocks(statement)]
        kind = type(statement)
        allowed = (
            statement.file in uniform if isinstance(statement, ir.Load) else kind in _IN_REGIONS
        ) and all(each for each, _ in inside)
        out = kind is ir.Break or (kind is ir.If and any(each for _, each in inside))
        if allowed and not out:
            found.add(id(statement))
        whole &= allowed
        leaves |= out
    return whole, leaves


def _read_counts(statements: tuple[ir.Statement, ...]) -> Counter[int]:
    """Return, by slot number, the number of operands that read the slot."""
    return Counter(
        each.number
        for statement in ir.walk(statements)
        for each in ir.operands(statement)
        if isinstance(each, ir.Slot)
    )


class _RegionSplitter(msgspec.Struct, frozen=True):
    """Splits statements into regions and others; ``reads`` counts the reads of each slot,
    ``compilable`` are the identities of the statements that a region may have.
    """

    program: ir.Program
    reads: Counter[int]
    compilable: set[int]

    def block(self, statements: tuple[ir.Statement, ...]) -> tuple[ir.Statement, ...]:
        done: list[ir.Statement] = []
        waiting: list[ir.Statement] = []
        for statement in statements:
            if id(statement) in self.compilable:
                waiting.append(statement)
                continue
            done += self.region(tuple(waiting))
            waiting.clear()
            done.append(self.split_nested(statement))
        return (*done, *self.region(tuple(waiting)))

    def split_nested(self, statement: ir.Statement) -> ir.Statement:
        """Return an If or a Loop with its blocks split into regions; others unchanged."""
        if isinstance(statement, ir.If):
            then, otherwise = self.block(statement.then), self.block(statement.otherwise)
            return replace(statement, then=then, otherwise=otherwise)
        if isinstance(statement, ir.Loop):
            return replace(statement, body=self.block(statement.body))
        return statement

    def region(self, statements: tuple[ir.Statement, ...]) -> Iterable[ir.Statement]:
        """Return a compilable region of statements, or, if too few, the statements as they are."""
        inside = list(ir.walk(statements))
        if len(inside) < LEAST_REGION and not any(isinstance(each, ir.Loop) for each in inside):
            return statements
        results = {slot for each in inside for slot in ir.written(each)}
        # A result that is not assigned on every path keeps its old value in the other lanes.
        always = {slot for each in statements for slot in ir.written(each)}
        given = _read_before_assigned(statements) | (results - always)
        reads = _read_counts(statements)
        made = {slot for slot in results if slot in given or self.reads[slot] > reads[slot]}
        program = self._program(statements, sorted(given), sorted(made))
        return (cast("Any", Region(program, tuple(sorted(given)), tuple(sorted(made)))),)

    def _program(
        self, statements: tuple[ir.Statement, ...], given: list[int], made: list[int]
    ) -> ir.Program:
        types = self.program.slots
        loaded = {each.file for each in ir.walk(statements) if isinstance(each, ir.Load)}
        region = replace(
            self.program,
            files=tuple(file for file in self.program.files if file.name in loaded),
            inputs=tuple(ir.Port(slot_port(slot), types[slot]) for slot in given),
            outputs=tuple(ir.Port(slot_port(slot), types[slot]) for slot in made),
            statements=(
                *(ir.Input(slot, slot_port(slot)) for slot in given),
                *statements,
                *(ir.Output(slot_port(slot), ir.Slot(slot)) for slot in made),
            ),
        )
        return without_unused_slots(region)


def _read_before_assigned(statements: tuple[ir.Statement, ...]) -> set[int]:
    """Return slots that may be read before the statements assign them."""
    known: set[int] = set()
    early: set[int] = set()
    for statement in statements:
        for inner in ir.walk((statement,)):
            read = {each.number for each in ir.operands(inner) if isinstance(each, ir.Slot)}
            early |= read - known
        known.update(ir.written(statement))
    return early

"""Upper bounds on the work of a lane: the statements that it executes, weighted by their cost.

The iterations of a loop are found by partial evaluation: only the statements that the conditions
of breaks depend on are evaluated, with the values of uniforms, and all other values unknown.  A
break whose condition is unknown is assumed not to be taken.  The bound of a program does not
depend on the engine that runs it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import numpy as np

from dp2emu.identity_cache import identity_cached
from dp2emu.shader import ir
from dp2emu.shader.budget import EXECUTED
from dp2emu.shader.ops import OPS
from dp2emu.shader.types import Lanes

WIDEST_INSTRUCTION = 16
"""Maximum number of statements that one shader instruction in a loop is translated to."""
FEW = 1 << 10
"""Cost up to which loops are assumed to run to their limits."""
STEPS = 1 << 13
"""Maximum number of statements that are evaluated to find the iterations of a program's loops."""
SLOW = {"udiv": 12, "urem": 12, "sqrt": 4, "div": 3, "ddiv": 4, "lmul": 3}
"""Weight of operations that take several times as long as others, whose weight is 1."""
FETCH, ACCESS = 64, 1 << 10
"""Weight of a fetch, and of a memory operation, which acts lane by lane."""

Uniforms = Mapping[str, Lanes]
Weigh = Callable[[ir.Sample | ir.Access], int]
"""Function that returns the weight of a Sample or Access statement."""


class Work(msgspec.Struct, frozen=True):
    """The work of a program: at most ``most``, whatever its uniforms are, and not more than
    ``rest`` and what is found by evaluation of ``loops``, None if its loops are short.

    ``reads`` are the (file, offset) of the uniform scalars that the evaluation reads.
    """

    most: int
    loops: _Loops | None = None
    reads: tuple[tuple[str, int], ...] = ()

    def evaluated(self, program: ir.Program, uniforms: Uniforms) -> int:
        """The most that a lane of the program, of which this is the work, executes with these
        uniforms; ``most`` needs no evaluation if ``loops`` is None.
        """
        values = tuple(_scalar(uniforms, *place) for place in self.reads)
        return _evaluated(program, self, values)


@identity_cached()
def _evaluated(program: ir.Program, work: Work, values: tuple[bytes | None, ...]) -> int:
    if work.loops is None:
        return work.most
    run = _Run(program, work.loops, dict(zip(work.reads, values, strict=True)))
    try:
        run.block(program.statements, run.start())
    except _TooLongError:
        return work.most
    return min(run.total, work.most)


def work_of(program: ir.Program, weigh: Weigh) -> Work:
    """Measure a program; ``weigh`` returns the weights of its Sample and Access statements."""
    plain, rounds = _sizes(program.statements, weigh)
    most = min(rounds, plain + EXECUTED * WIDEST_INSTRUCTION)
    if most == plain or most <= FEW:
        return Work(most)
    loops = _Loops.of(program, weigh)
    return Work(most, loops, loops.reads(program))


def _sizes(statements: tuple[ir.Statement, ...], weigh: Weigh) -> tuple[int, int]:
    """The weight of statements, once and if all loops run to their limits; nesting depth is
    limited beforehand.
    """
    plain = rounds = 0
    for statement in statements:
        inside = [_sizes(block, weigh) for block in ir.blocks(statement)]
        times = statement.limit if isinstance(statement, ir.Loop) else 1
        weight = weight_of(statement, weigh)
        plain += weight + sum(each[0] for each in inside)
        rounds += weight + times * sum(each[1] for each in inside)
    return plain, rounds


def weight_of(statement: ir.Statement, weigh: Weigh) -> int:
    """The weight of a statement without those nested in it."""
    if isinstance(statement, ir.Assign):
        return SLOW.get(statement.op, 1)
    if isinstance(statement, ir.Sample | ir.Access):
        return weigh(statement)
    return _WEIGHTS.get(type(statement), 1)


_WEIGHTS: dict[type, int] = {ir.Fetch: FETCH}


class _TooLongError(Exception):
    """The loops take more than ``STEPS`` statements to evaluate."""


class _Loops(msgspec.Struct, frozen=True, eq=False):
    """What the loops of a program depend on: ``slots``, those that conditions of breaks need, and
    ``weights``, the weight of each block without nested blocks, by the identity of the block.
    """

    slots: frozenset[int]
    weights: dict[int, int]

    @classmethod
    def of(cls, program: ir.Program, weigh: Weigh) -> _Loops:
        """Find the statements that decide how long loops run."""
        weights = {
            id(block): sum(weight_of(each, weigh) for each in block)
            for block in (program.statements, *_nested(program.statements))
        }
        return cls(_needed(program), weights)

    def reads(self, program: ir.Program) -> tuple[tuple[str, int], ...]:
        """The (file, offset) of the uniform scalars that decide how long loops run."""
        files = {file.name for file in program.files if file.uniform}
        return tuple(
            dict.fromkeys(
                (each.file, each.address.offset)
                for each in ir.walk(program.statements)
                if isinstance(each, ir.Load)
                and each.slot in self.slots
                and each.address.index is None
                and each.file in files
            )
        )


def _nested(statements: tuple[ir.Statement, ...]) -> list[tuple[ir.Statement, ...]]:
    return [block for each in ir.walk(statements) for block in ir.blocks(each)]


def _needed(program: ir.Program) -> frozenset[int]:
    """Slots that the conditions of breaks, and of the blocks around them, depend on."""
    needed: set[int] = set()
    writers: dict[int, set[int]] = {}
    _collect(program.statements, frozenset(), needed, writers)
    found = [*needed]
    while found:
        for slot in writers.get(found.pop(), ()):
            if slot not in needed:
                needed.add(slot)
                found.append(slot)
    return frozenset(needed)


def _collect(
    statements: tuple[ir.Statement, ...],
    around: frozenset[int],
    needed: set[int],
    writers: dict[int, set[int]],
) -> None:
    """Add the slots of break conditions to ``needed``, and to ``writers``, by slot, those that
    its value depends on; ``around`` are the slots of the conditions of enclosing blocks.
    """
    for statement in statements:
        read = {each.number for each in ir.operands(statement) if isinstance(each, ir.Slot)}
        if isinstance(statement, ir.Break):
            needed |= read | around
        for slot in ir.written(statement):
            writers.setdefault(slot, set()).update(read | around)
        for block in ir.blocks(statement):
            _collect(block, around | read, needed, writers)


State = dict[int, Lanes]
"""Known values of slots, arrays of one element; others are unknown."""


class _Run(msgspec.Struct):
    """The partial evaluation of a program.  Mutable: ``total`` is the weight executed so far,
    ``steps`` the number of statements evaluated.

    ``exits`` has, for each loop entered, the states with which lanes may have left it, and
    ``changes`` the slots written in the program, and in each block around that joins states.
    """

    program: ir.Program
    loops: _Loops
    values: dict[tuple[str, int], bytes | None]
    total: int = 0
    steps: int = 0
    exits: list[list[State]] = msgspec.field(default_factory=list)
    changes: list[set[int]] = msgspec.field(default_factory=lambda: [set()])

    def start(self) -> State:
        """The state at the start: slots are 0 or false."""
        types = self.program.slots
        return {slot: np.zeros(1, types[slot].dtype) for slot in self.loops.slots}

    def block(self, statements: tuple[ir.Statement, ...], state: State) -> State | None:
        """Execute a block -> the state after it, None if every lane has left the loop."""
        self.total += self.loops.weights[id(statements)]
        now = state
        for statement in statements:
            execute = _EXECUTE.get(type(statement))
            if execute is not None:
                after = execute(self, statement, now)
                if after is None:
                    return None
                now = after
            elif not self.loops.slots.isdisjoint(ir.written(statement)):
                self.step()
                self.assign(statement, now)
        return now

    def step(self) -> None:
        """Count an evaluated statement."""
        self.steps += 1
        if self.steps > STEPS:
            raise _TooLongError

    def assign(self, statement: ir.Statement, state: State) -> None:
        """Execute a statement that writes slots."""
        value = self.value(statement, state)
        for slot in ir.written(statement):
            if slot not in self.loops.slots:
                continue
            self.changes[-1].add(slot)
            state.pop(slot, None)
            if value is not None:
                state[slot] = value

    def value(self, statement: ir.Statement, state: State) -> Lanes | None:
        """The value that a statement computes; None if it is unknown."""
        if isinstance(statement, ir.Load) and statement.address.index is None:
            data = self.values.get((statement.file, statement.address.offset))
            dtype = self.program.slots[statement.slot].dtype
            return None if data is None else np.frombuffer(data, dtype)
        if not isinstance(statement, ir.Assign):
            return None
        given = [self.read(each, state) for each in statement.operands]
        known = [each for each in given if each is not None]
        if len(known) < len(given):
            return None
        with np.errstate(all="ignore"):
            found: Lanes = OPS[statement.op].lanes(*known)
        return found

    def read(self, operand: ir.Operand, state: State) -> Lanes | None:
        """The value of an operand; None if it is unknown."""
        if isinstance(operand, ir.Constant):
            return np.array([operand.scalar])
        return state.get(operand.number)

    def joined(self, states: list[State]) -> State | None:
        """What holds in all of the states after the innermost block that joins states; None for no
        state.

        Slots that the block did not write are the same in each: a join costs what its block did.
        """
        changed = self.changes.pop()
        self.changes[-1] |= changed
        if not states:
            return None
        first, *others = states
        for slot in changed & first.keys():
            value = first[slot].tobytes()
            if not all(slot in each and each[slot].tobytes() == value for each in others):
                del first[slot]
        return first


def _if(run: _Run, statement: ir.If, state: State) -> State | None:
    run.step()
    condition = run.read(statement.condition, state)
    if condition is not None:
        return run.block(statement.then if condition[0] else statement.otherwise, state)
    run.changes.append(set())
    other = run.block(statement.otherwise, dict(state))
    then = run.block(statement.then, state)
    return run.joined([each for each in (then, other) if each is not None])


def _break(run: _Run, statement: ir.Break, state: State) -> State | None:
    run.step()
    condition = run.read(statement.condition, state)
    if condition is None or condition[0]:
        run.exits[-1].append(dict(state))
    return state if condition is None or not condition[0] else None


def _loop(run: _Run, statement: ir.Loop, state: State) -> State | None:
    exits: list[State] = []
    run.exits.append(exits)
    run.changes.append(set())
    now: State | None = state
    for _ in range(statement.limit):
        run.step()
        now = run.block(statement.body, now) if now is not None else None
        if now is None:
            break
    run.exits.pop()
    return run.joined(exits if now is None else [*exits, now])


_EXECUTE: dict[type, Callable[[_Run, Any, State], State | None]] = {
    ir.If: _if,
    ir.Loop: _loop,
    ir.Break: _break,
}


def _scalar(uniforms: Uniforms, file: str, offset: int) -> bytes | None:
    """The bytes of a uniform scalar, 0 beyond the end of the file; None if the file is missing."""
    values = uniforms.get(file)
    if values is None:
        return None
    flat = values.reshape(-1)
    return flat[offset].tobytes() if 0 <= offset < len(flat) else bytes(flat.itemsize)

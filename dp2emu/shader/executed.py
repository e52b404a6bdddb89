"""Upper bounds on the work of a lane: the statements that it executes, weighted by their cost.

The iterations of a loop are found by partial evaluation: only the statements that the conditions
of breaks depend on are evaluated, with the values of uniforms and the sizes of resources, and all
other values unknown.  A break whose condition is unknown is assumed not to be taken.  The bound of
a program does not depend on the engine that runs it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeGuard

import msgspec
import numpy as np

from dp2emu.identity_cache import identity_cached
from dp2emu.shader import ir
from dp2emu.shader.budget import EXECUTED
from dp2emu.shader.ops import OPS
from dp2emu.shader.types import I32, Lanes

WIDEST_INSTRUCTION = 16
"""Maximum number of statements that one shader instruction in a loop is translated to."""
FEW = 1 << 10
"""Cost up to which loops are assumed to run to their limits."""
REMEMBERED = 16
"""Maximum number of slots that decide what a loop does for the loop to be remembered."""
STEPS = 1 << 13
"""Maximum number of statements that are evaluated to find the iterations of a program's loops."""
SLOW = {"udiv": 12, "urem": 12, "sqrt": 4, "div": 3, "ddiv": 4, "lmul": 3}
"""Weight of operations that take several times as long as others, whose weight is 1."""
WORDS = 4
"""Number of words that a fetch or an access answers."""
FETCH, ACCESS = 64, 1 << 10
"""Weight of a fetch, and of a memory operation, which acts lane by lane."""

Uniforms = Mapping[str, Lanes]
Weigh = Callable[[ir.Statement], int]
"""Function that returns the weight of a statement without those nested in it."""
Ask = ir.Fetch | ir.Access
UnitOf = tuple[type[Ask], int]
"""The unit of a fetch or of an access: the type of the statement, and the unit's number."""
Sizes = Callable[[UnitOf], I32 | None]
"""Function that returns the four words that a unit answers: int32 of shape (n, 4), a row for each
value of its operand, read as unsigned, the last one for all that follow; None if unknown."""


class Work(msgspec.Struct, frozen=True):
    """The work of a program: at most ``most``, whatever its uniforms are, and not more than
    ``rest`` and what is found by evaluation of ``loops``, None if its loops are short.

    ``reads`` are the (file, offset) of the uniform scalars that the evaluation reads, ``units``
    the units of the sizes that it reads.
    """

    most: int
    loops: _Loops | None = None
    reads: tuple[tuple[str, int], ...] = ()
    units: tuple[UnitOf, ...] = ()

    @property
    def fixed(self) -> bool:
        """Whether the work depends on nothing that is bound."""
        return not (self.reads or self.units)

    def evaluated(
        self, program: ir.Program, uniforms: Uniforms, sizes: Sizes = lambda unit: None
    ) -> int:
        """The most that a lane of the program, of which this is the work, executes with these
        uniforms and sizes; ``most`` needs no evaluation if ``loops`` is None.
        """
        values = tuple(_scalar(uniforms, *place) for place in self.reads)
        return _evaluated(program, self, values, tuple(_bytes(sizes(unit)) for unit in self.units))


def _bytes(words: I32 | None) -> bytes | None:
    return None if words is None else words.tobytes()


@identity_cached()
def _evaluated(
    program: ir.Program,
    work: Work,
    values: tuple[bytes | None, ...],
    sizes: tuple[bytes | None, ...],
) -> int:
    if work.loops is None:
        return work.most
    told = {
        unit: np.frombuffer(words, np.int32).reshape(-1, WORDS)
        for unit, words in zip(work.units, sizes, strict=True)
        if words is not None
    }
    run = _Run(program, work.loops, dict(zip(work.reads, values, strict=True)), told)
    try:
        run.block(program.statements, run.start())
    except _TooLongError:
        return work.most
    return min(run.total + run.loops.beyond, work.most)


def work_of(
    program: ir.Program,
    weigh: Weigh,
    sized: Callable[[UnitOf], bool] = lambda unit: False,
    widest: int = WIDEST_INSTRUCTION,
) -> Work:
    """Measure a program; ``weigh`` returns the weights of its statements, ``sized`` whether the
    answers of a unit are sizes of what is bound, and ``widest`` is the weight of the statements
    that one shader instruction is translated to.
    """
    plain, rounds = _sizes(program.statements, weigh)
    most = min(rounds, plain + EXECUTED * widest)
    if most == plain or most <= FEW:
        return Work(most)
    loops = _Loops.of(program, weigh)
    return Work(most, loops, loops.reads(program), loops.units(program, sized))


def _sizes(statements: tuple[ir.Statement, ...], weigh: Weigh) -> tuple[int, int]:
    """The weight of statements, once and if all loops run to their limits; nesting depth is
    limited beforehand.
    """
    plain = rounds = 0
    for statement in statements:
        inside = [_sizes(block, weigh) for block in ir.blocks(statement)]
        times = statement.limit if isinstance(statement, ir.Loop) else 1
        weight = weigh(statement)
        plain += weight + sum(each[0] for each in inside)
        rounds += weight + times * sum(each[1] for each in inside)
    return plain, rounds


def widest_of(program: ir.Program, weigh: Weigh, unit: int) -> int:
    """The most that the statements of one shader instruction weigh, of which one may weigh more
    than ``unit``.
    """
    heaviest = max((weigh(each) for each in ir.walk(program.statements)), default=0)
    return WIDEST_INSTRUCTION * unit + heaviest


def weight_of(statement: ir.Statement) -> int:
    """The weight of a statement, without those nested in it, for a lane of compiled code; a sample
    counts 1.
    """
    if isinstance(statement, ir.Assign):
        return SLOW.get(statement.op, 1)
    return _WEIGHTS.get(type(statement), 1)


_WEIGHTS: dict[type, int] = {ir.Fetch: FETCH, ir.Access: ACCESS}


class _TooLongError(Exception):
    """The loops take more than ``STEPS`` statements to evaluate."""


class _Loops(msgspec.Struct, frozen=True, eq=False):
    """What the loops of a program depend on: ``slots``, those that conditions of breaks need.

    Breaks at the end of the budget of instructions are taken to be never taken: a lane that takes
    one leaves all loops, and then executes at most ``beyond``, each statement once.
    ``weights`` has the weight of each block without nested blocks, by the ``id`` of the block.
    ``touched`` has the members of ``slots`` that a loop reads or writes, by the ``id`` of its
    body, for loops with at most ``REMEMBERED`` of them.
    """

    slots: frozenset[int]
    weights: dict[int, int]
    touched: dict[int, tuple[int, ...]]
    beyond: int

    @classmethod
    def of(cls, program: ir.Program, weigh: Weigh) -> _Loops:
        """Find the statements that decide how long loops run."""
        weights = {
            id(block): sum(map(weigh, block))
            for block in (program.statements, *ir.nested(program.statements))
        }
        exhausted = _exhausted(program)
        slots = _needed(program, exhausted)
        beyond = sum(weights.values()) if exhausted else 0
        touched: dict[int, tuple[int, ...]] = {}
        _touch(program.statements, slots, touched)
        return cls(slots, weights, touched, beyond)

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

    def units(self, program: ir.Program, sized: Callable[[UnitOf], bool]) -> tuple[UnitOf, ...]:
        """The units of the sizes that decide how long loops run."""
        asked = (
            (type(each), each.unit)
            for each in ir.walk(program.statements)
            if isinstance(each, Ask) and not self.slots.isdisjoint(each.slots)
        )
        return tuple(unit for unit in dict.fromkeys(asked) if sized(unit))


def _touch(
    statements: tuple[ir.Statement, ...],
    slots: frozenset[int],
    touched: dict[int, tuple[int, ...]],
) -> set[int]:
    """The ``slots`` that statements write, or read to write them or to choose what is executed;
    added to ``touched`` for the body of each loop; nesting depth is limited beforehand.
    """
    found: set[int] = set()
    for statement in statements:
        wrote = slots.intersection(ir.written(statement))
        if wrote or type(statement) in _EXECUTE:
            found |= wrote | slots.intersection(ir.reads(statement))
        for block in ir.blocks(statement):
            inside = _touch(block, slots, touched)
            found |= inside
            if isinstance(statement, ir.Loop) and len(inside) <= REMEMBERED:
                touched[id(block)] = tuple(sorted(inside))
    return found


def _exhausted(program: ir.Program) -> frozenset[int]:
    """Slots that say that the budget of instructions is exhausted (``shader.budget``): conditions
    of breaks by a counter that only falls, and that nothing else reads.
    """
    writes: dict[int, list[ir.Statement]] = {}
    uses: dict[int, list[ir.Statement]] = {}
    for statement in ir.walk(program.statements):
        for slot in ir.written(statement):
            writes.setdefault(slot, []).append(statement)
        for slot in ir.reads(statement):
            uses.setdefault(slot, []).append(statement)
    first = {id(statement) for statement in program.statements}
    found: set[int] = set()
    for slot, statements in writes.items():
        started = [each for each in statements if not _falls(each, slot)]
        asked = [each for each in uses.get(slot, ()) if not _falls(each, slot)]
        conditions = [each.slot for each in asked if _is_exhausted(each)]
        if (
            len(statements) > len(started) == 1
            and id(started[0]) in first
            and isinstance(started[0], ir.Assign)
            and len(conditions) == len(asked)
            and all(len(writes[each]) == 1 for each in conditions)
            and all(type(use) is ir.Break for each in conditions for use in uses.get(each, ()))
        ):
            found.update(conditions)
    return frozenset(found)


def _falls(statement: ir.Statement, slot: int) -> bool:
    """Whether a statement subtracts a constant from a slot."""
    return (
        isinstance(statement, ir.Assign)
        and statement.op == "isub"
        and statement.slot == slot
        and statement.operands[0] == ir.Slot(slot)
        and isinstance(statement.operands[1], ir.Constant)
        and int(statement.operands[1].scalar) > 0
    )


def _is_exhausted(statement: ir.Statement) -> TypeGuard[ir.Assign]:
    """Whether a statement compares a slot with 0, and is true below."""
    return (
        isinstance(statement, ir.Assign)
        and statement.op == "ilt"
        and isinstance(statement.operands[1], ir.Constant)
        and int(statement.operands[1].scalar) == 0
    )


def _needed(program: ir.Program, ignored: frozenset[int]) -> frozenset[int]:
    """Slots that the conditions of breaks, and of the blocks around them, depend on, but for
    breaks by ``ignored`` slots.
    """
    needed: set[int] = set()
    writers: dict[int, set[int]] = {}
    _collect(program.statements, frozenset(), needed, writers, ignored)
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
    ignored: frozenset[int],
) -> None:
    """Add the slots of break conditions to ``needed``, unless ``ignored``, and to ``writers``,
    by slot, those that its value depends on; ``around`` are the slots of the conditions of
    enclosing blocks.
    """
    for statement in statements:
        read = ir.reads(statement)
        if isinstance(statement, ir.Break) and ignored.isdisjoint(read):
            needed |= read | around
        for slot in ir.written(statement):
            writers.setdefault(slot, set()).update(read | around)
        for block in ir.blocks(statement):
            _collect(block, around | read, needed, writers, ignored)


State = dict[int, Lanes]
"""Known values of slots, arrays of one element; others are unknown."""


_Given = tuple[int, tuple[bytes | None, ...]]
"""The identity of a loop, and the values of the slots that it touches; None if unknown."""


class _Done(msgspec.Struct, frozen=True):
    """What a loop did: the weight that it executed, the slots that it ``changed``, and those of
    their ``values`` that are known.
    """

    total: int
    changed: frozenset[int]
    values: State


class _Run(msgspec.Struct):
    """The partial evaluation of a program.  Mutable: ``total`` is the weight executed so far,
    ``steps`` the number of statements evaluated.

    ``sizes`` has the answers of units, as ``Sizes`` returns them.  ``exits`` has, for each loop
    entered, the states with which lanes may have left it, and ``changes`` the slots written in the
    program, and in each block around that joins states.  ``done`` are the loops that were executed
    before, by what they depend on.
    """

    program: ir.Program
    loops: _Loops
    values: dict[tuple[str, int], bytes | None]
    sizes: Mapping[UnitOf, I32]
    total: int = 0
    steps: int = 0
    exits: list[list[State]] = msgspec.field(default_factory=list)
    changes: list[set[int]] = msgspec.field(default_factory=lambda: [set()])
    done: dict[_Given, _Done] = msgspec.field(default_factory=dict)

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
        values = self.computed(statement, state)
        for slot, value in zip(ir.written(statement), values, strict=True):
            if slot not in self.loops.slots:
                continue
            self.changes[-1].add(slot)
            state.pop(slot, None)
            if value is not None:
                state[slot] = value

    def computed(self, statement: ir.Statement, state: State) -> Sequence[Lanes | None]:
        """The value of each slot that a statement writes; None if it is unknown."""
        if isinstance(statement, Ask):
            return self.answer(statement, state)
        return [self.value(statement, state)] * len(ir.written(statement))

    def answer(self, statement: Ask, state: State) -> Sequence[Lanes | None]:
        """The words of a fetch or an access, known if they are sizes."""
        rows = self.sizes.get((type(statement), statement.unit))
        given = [self.read(each, state) for each in statement.operands]
        known = [each for each in given if each is not None]
        if rows is None or len(known) < len(given):
            return [None] * WORDS
        row = min(int(known[0].view(np.uint32)[0]), len(rows) - 1) if known else 0
        return [word.reshape(1) for word in rows[row]]

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
    if ir.reads(statement) - run.loops.slots:
        return state
    condition = run.read(statement.condition, state)
    if condition is None or condition[0]:
        run.exits[-1].append(dict(state))
    return state if condition is None or not condition[0] else None


def _loop(run: _Run, statement: ir.Loop, state: State) -> State | None:
    """Execute a loop; one that was executed with the same values before does the same again."""
    touched = run.loops.touched.get(id(statement.body))
    if touched is None:
        run.changes.append(set())
        return _iterated(run, statement, state)
    values = (state.get(slot) for slot in touched)
    given = id(statement), tuple(None if each is None else each.tobytes() for each in values)
    found = run.done.get(given)
    if found is not None:
        run.step()
        run.total += found.total
        run.changes[-1] |= found.changed
        left = {slot: value for slot, value in state.items() if slot not in found.changed}
        return left | found.values
    before = run.total
    changed: set[int] = set()
    run.changes.append(changed)
    after = _iterated(run, statement, state)
    if after is not None:
        values_after = {slot: after[slot] for slot in changed if slot in after}
        run.done[given] = _Done(run.total - before, frozenset(changed), values_after)
    return after


def _iterated(run: _Run, statement: ir.Loop, state: State) -> State | None:
    """Execute all iterations of a loop; the last of ``run.changes`` belongs to the loop."""
    exits: list[State] = []
    run.exits.append(exits)
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

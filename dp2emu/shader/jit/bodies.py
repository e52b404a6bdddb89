"""Code generation: a program as an LLVM function over a vector of lanes.

    i32 body(ptr bindings, ptr in, ptr out, i32 active)

``in`` and ``out`` have a row per input and output: as many bytes as a vector of 32-bit lanes, a
BOOL in the first bytes of its row.  A 64-bit port has two rows, low words first.  ``active`` is a
bit mask of lanes with at least one bit set; an unmasked body ignores it and runs all lanes.  The
result is the bit mask of active lanes that were not killed.

``bindings`` has the layout of ``layout``.  The callee of a Sample or Fetch has the same signature,
with the operands as rows, so that the lane loop and draw kernels can combine bodies freely.

Control flow is uniform over the vector: a block runs if any lane takes it, and its assignments
select by the mask.  A slot assigned only in straight-line code is an SSA value; other slots live
in stack memory, which LLVM promotes to registers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from types import MappingProxyType
from typing import Any

from dp2emu.cancellation import polled
from dp2emu.shader import ir
from dp2emu.shader.jit.layout import Callee, FetchCallee, callee_of, layout_of
from dp2emu.shader.jit.operations import EMIT, canonical
from dp2emu.shader.jit.peephole import Facts, peephole
from dp2emu.shader.jit.ranges import SampleRanges
from dp2emu.shader.jit.register_files import WORD_SHIFT, LoadPair, RegisterFiles, load_pairs
from dp2emu.shader.jit.writer import ALL, ZERO, Target, Writer, constant
from dp2emu.shader.passes import temporaries, to_ssa
from dp2emu.shader.types import FLOATS, Type

Key = int | str
"""Key of a variable: a slot number, ``=`` and the name of an output, ``ALIVE``, or the name of a
loop's mask."""

ALIVE = "alive"
"""Key of the variable with the mask of lanes that the program has not killed."""

LONGEST = 300
"""Maximum number of statements that are emitted to one LLVM basic block."""
_NOWHERE = "%nowhere"
"""Label of the exit for a call without active lanes, which never happens."""

_QUAD = {
    ir.Axis.X: ((1, 1, 3, 3), (0, 0, 2, 2)),
    ir.Axis.Y: ((2, 3, 2, 3), (0, 1, 0, 1)),
    ir.Axis.X_COARSE: ((1, 1, 1, 1), (0, 0, 0, 0)),
    ir.Axis.Y_COARSE: ((2, 2, 2, 2), (0, 0, 0, 0)),
}
"""By axis of a derivative (x or y, fine or coarse): for each lane of a quad, the lanes of the
minuend and of the subtrahend of its difference."""


def body(
    program: ir.Program,
    arguments: tuple[str, ...],
    *,
    target: Target,
    masked: bool,
    name: str,
    visible: bool = True,
    direct: Mapping[Callee, str] = MappingProxyType({}),
    sampled: SampleRanges = MappingProxyType({}),
    paired: bool = True,
) -> tuple[str, Writer]:
    """Emit a program and return header and text.  ``arguments`` names the inputs in row order.

    Unless ``visible``, NaNs of outputs need not be canonical.  ``direct`` maps callees to
    functions of the same module; ``sampled`` has known ranges of their results.  ``paired``
    combines pairs of loads, which makes more code.
    """
    w = Writer(target)
    types = {port.name: port.type for port in program.inputs}
    rows = dict(zip(arguments, first_rows([types.get(name) for name in arguments]), strict=True))
    emitter = _Body(w, to_ssa(program), rows, visible)
    emitter.facts = Facts.of(emitter.program, sampled)
    emitter.direct = direct
    emitter.pairs = load_pairs(emitter.program) if paired else {}
    emitter.emit(w.mask("%active") if masked else ALL)
    parameters = "ptr noalias %bindings, ptr noalias %in, ptr noalias %out, i32 %active"
    return f"define i32 @{name}({parameters}) nounwind", w


class _Body:
    """The state of code generation.  Mutable: ``current`` has the current value of each variable.

    Variables that blocks assign are in ``memory``; ``held`` are their values since the last
    branch.  Other variables that a block assigns are read in it alone, so ``current`` need not be
    restored at its end.

    ``deferred`` are loads of uniform scalars, emitted at their first use: programs begin with
    all their loads, which would exceed the registers of a CPU.  ``loaded`` are the slots that were
    loaded so in the current block, whose values do not exist after it.

    ``prefetched`` has the values of slots that paired loads fetched before their own load.

    Parameters named ``active`` are value names of masks, ``ALL`` if known to be full.
    """

    def __init__(
        self, w: Writer, program: ir.Program, rows: dict[str, int], visible: bool
    ) -> None:
        self.w = w
        self.visible = visible
        self.direct: Mapping[Callee, str] = {}
        self.facts: Facts
        self.program = program
        self.rows = rows
        self.layout = layout_of(program)
        self.files = RegisterFiles(w, {file.name: file for file in program.files}, self.layout)
        self.unmasked = temporaries(program)
        self.types: dict[Key, Type] = dict(enumerate(program.slots))
        self.types |= {_output(port.name): port.type for port in program.outputs}
        self.types[ALIVE] = Type.BOOL
        self.current: dict[Key, str] = dict.fromkeys(self.types, ZERO)
        self.held: dict[Key, str] = {}
        self.deferred: dict[Key, ir.Load] = {}
        self.loaded: list[Key] = []
        self.breaking = _breaking(program.statements)
        self.pairs: dict[int, LoadPair] = {}
        self.prefetched: dict[int, str] = {}
        self.memory: dict[Key, str] = {}
        self.loops: list[Key] = []
        self.areas: tuple[str, str] | None = None
        self.length = 0

    def emit(self, active: str) -> None:
        """Emit the whole function for the lanes in the mask ``active``."""
        for key in _assigned_in_blocks(self.program.statements) - self.unmasked:
            self.place(key)
        self.files.clear()
        self.set(ALIVE, active)
        self.block(self.program.statements, active)
        first = first_rows([port.type for port in self.program.outputs])
        for row, port in zip(first, self.program.outputs, strict=True):
            self._give(row, port.type, self.value(_output(port.name)))
        self.w.do(f"ret i32 {self.w.bits(self.value(ALIVE))}")
        if self.length >= LONGEST:
            self.w.label(_NOWHERE)
            self.w.do("ret i32 0")

    # Variables

    def place(self, key: Key) -> None:
        """Allocate stack memory for a variable."""
        type = self.w.vector(self.types[key])
        self.memory[key] = self.w.allocate(type)
        self.held[key] = ZERO
        self.w.entry.append(f"  store {type} {ZERO}, ptr {self.memory[key]}")

    def value(self, key: Key) -> str:
        place = self.memory.get(key)
        if place is not None:
            if key not in self.held:
                self.held[key] = self.w(f"load {self.w.vector(self.types[key])}, ptr {place}")
            return self.held[key]
        if key not in self.current:
            load = self.deferred[key]
            self.current[key] = self.files.load(load.file, load.address, None)
            self.loaded.append(key)
        return self.current[key]

    def read(self, operand: ir.Operand) -> str:
        return (
            constant(operand) if isinstance(operand, ir.Constant) else self.value(operand.number)
        )

    def write(self, key: Key, value: str, active: str) -> None:
        """Assign a variable in the active lanes."""
        if active != ALL and key not in self.unmasked:
            value = self.w.select(active, self.w.vector(self.types[key]), value, self.value(key))
        self.set(key, value)

    def set(self, key: Key, value: str) -> None:
        place = self.memory.get(key)
        if place is None:
            self.current[key] = value
        else:
            self.held[key] = value
            self.w.do(f"store {self.w.vector(self.types[key])} {value}, ptr {place}")

    def inner(self, statements: tuple[ir.Statement, ...], active: str) -> None:
        """Emit a nested block; the values that hold only in it are forgotten after it."""
        around, self.loaded = self.loaded, []
        self.block(statements, active)
        for key in self.loaded:
            del self.current[key]
        self.loaded = around
        self.held.clear()

    # Masks

    def both(self, x: str, y: str) -> str:
        if ALL in (x, y):
            return y if x == ALL else x
        return self.w(f"and {self.w.b} {x}, {y}")

    def inverse(self, mask: str) -> str:
        return self.w(f"xor {self.w.b} {mask}, {ALL}")

    def running(self) -> str:
        """Emit the test of the stop word, an i1 that is set unless the work was cancelled."""
        assert self.layout.stop is not None
        return self.w.running(self.files.word("ptr", self.layout.stop))

    # Blocks

    def block(self, statements: tuple[ir.Statement, ...], active: str) -> None:
        """Emit statements for the active lanes, with a branch to the end where none is left."""
        end = None
        for statement in polled(statements):
            self.split_long_block()
            execute = _EXECUTE.get(type(statement))
            if execute is not None:
                execute(self, statement, active)
                continue
            narrowed = _NARROW[type(statement)](self, statement, active)
            if narrowed != active:
                active, end = narrowed, end or self.w.fresh_label()
                self.branch_if_any(active, end)
        if end is not None:
            self.join(end)

    def split_long_block(self) -> None:
        """End a basic block that has grown long by a branch that is opaque to LLVM.

        LLVM's time per basic block grows with the square of its length.
        """
        self.length += 1
        if self.length % LONGEST == 0:
            here = self.w.fresh_label()
            some = self.w("icmp ne i32 %active, 0")
            self.w.do(f"br i1 {some}, label {here}, label {_NOWHERE}")
            self.w.label(here)

    def branch_if_any(self, active: str, otherwise: str) -> None:
        """Branch to ``otherwise`` if no lane is active."""
        here = self.w.fresh_label()
        self.w.do(f"br i1 {self.w.any(active)}, label {here}, label {otherwise}")
        self.w.label(here)

    def join(self, label: str) -> None:
        """Emit a branch to ``label``, and begin its basic block."""
        self.w.do(f"br label {label}")
        self.w.label(label)

    # Rows

    def _give(self, row: int, type: Type, value: str) -> None:
        w = self.w
        if type in FLOATS and self.visible:
            value = canonical(w, value, type)
        if type.bits > 32:
            self._give_halves(row, type, value)
            return
        if type is Type.BOOL:
            value = w(f"zext {w.b} {value} to <{w.target.width} x i8>")
        stored = f"<{w.target.width} x i8>" if type is Type.BOOL else w.vector(type)
        w.do(f"store {stored} {value}, ptr {self.row('%out', row)}, align 4")

    def _give_halves(self, row: int, type: Type, value: str) -> None:
        w = self.w
        value = value if type is Type.I64 else w(f"bitcast {w.d} {value} to {w.l}")
        for half, part in enumerate((value, w(f"lshr {w.l} {value}, splat (i64 32)"))):
            low, place = w(f"trunc {w.l} {part} to {w.i}"), self.row("%out", row + half)
            w.do(f"store {w.i} {low}, ptr {place}, align 4")

    def row(self, base: str, number: int) -> str:
        return self.w(f"getelementptr i8, ptr {base}, i64 {number * self.w.target.row}")


def first_rows(types: Sequence[Type | None]) -> list[int]:
    """Return the number of each port's first row; a 64-bit port has two, None counts as one."""
    sizes = (2 if type is not None and type.bits > 32 else 1 for type in types)
    return [0, *accumulate(sizes)][: len(types)]


def _output(port: str) -> str:
    return f"={port}"


def _assigned_in_blocks(statements: Iterable[ir.Statement]) -> set[Key]:
    """Return the variables assigned inside an If or a Loop."""
    nested = (inner for statement in statements for block in ir.blocks(statement)
              for inner in ir.walk(block))  # fmt: skip
    return {key for statement in nested for key in _keys(statement)}


def _keys(statement: ir.Statement) -> Iterator[Key]:
    yield from ir.written(statement)
    if isinstance(statement, ir.Output):
        yield _output(statement.port)
    elif isinstance(statement, ir.Kill):
        yield ALIVE


def _input(e: _Body, s: ir.Input, active: str) -> None:
    w, type = e.w, e.types[s.slot]
    place = e.row("%in", e.rows[s.port])
    if type.bits > 32:
        value = _joined(e, type, e.rows[s.port])
    elif type is not Type.BOOL:
        value = w(f"load {w.vector(type)}, ptr {place}, align 4")
    else:
        bytes = f"<{w.target.width} x i8>"
        value = w(f"icmp ne {bytes} {w(f'load {bytes}, ptr {place}, align 4')}, {ZERO}")
    e.write(s.slot, value, active)


def _joined(e: _Body, type: Type, row: int) -> str:
    """Load a 64-bit input from its two rows."""
    w = e.w
    halves = [w(f"load {w.i}, ptr {e.row('%in', row + half)}, align 4") for half in range(2)]
    low, high = (w(f"zext {w.i} {half} to {w.l}") for half in halves)
    whole = w(f"or {w.l} {low}, {w(f'shl {w.l} {high}, splat (i64 32)')}")
    return whole if type is Type.I64 else w(f"bitcast {w.l} {whole} to {w.d}")


def _put(e: _Body, s: ir.Output, active: str) -> None:
    e.write(_output(s.port), e.read(s.value), active)


def _assign(e: _Body, s: ir.Assign, active: str) -> None:
    value = peephole(e.w, e.facts, s, e.read)
    e.write(s.slot, EMIT[s.op](e.w, *map(e.read, s.operands)) if value is None else value, active)


def _load(e: _Body, s: ir.Load, active: str) -> None:
    if s.address.index is None and e.files.files[s.file].uniform and s.slot in e.unmasked:
        e.deferred[s.slot] = s
        e.current.pop(s.slot, None)
        return
    index = None if s.address.index is None else e.read(s.address.index)
    pair = e.pairs.get(s.slot)
    if index is not None and pair is not None:
        value, e.prefetched[pair.slot] = e.files.load_two(s.file, s.address, index, _next(e, pair))
    else:
        value = e.prefetched.get(s.slot) or e.files.load(s.file, s.address, index)
    e.write(s.slot, value, active)


def _next(e: _Body, pair: LoadPair) -> str:
    """Emit the word index of the second load of a pair."""
    at = EMIT["iadd"](e.w, e.read(pair.common), e.read(pair.step))
    return EMIT["ishr"](e.w, at, constant(WORD_SHIFT))


def _store(e: _Body, s: ir.Store, active: str) -> None:
    index = None if s.address.index is None else e.read(s.address.index)
    mask = None if active == ALL else active
    e.files.store(s.file, s.address, index, e.read(s.value), mask)


def _derivative(e: _Body, s: ir.Derivative, active: str) -> None:
    value = e.read(s.value)
    after, before = (e.w.shuffle(value, lanes) for lanes in _QUAD[s.axis])
    e.write(s.slot, e.w(f"fsub {e.w.f} {after}, {before}"), active)


def _call(e: _Body, s: ir.Sample | ir.Fetch, active: str) -> None:
    """Emit the call of a callee: operands are stored as rows, results loaded from rows."""
    w, callee = e.w, callee_of(s)
    if e.areas is None:
        most = max(each.rows for each in e.layout.callees)
        e.areas = w.allocate(w.f, max(most, 1)), w.allocate(w.f, len(s.slots))
    given, found = e.areas
    type = w.i if isinstance(callee, FetchCallee) else w.f
    for row, operand in enumerate(ir.operands(s)):
        w.do(f"store {type} {e.read(operand)}, ptr {e.row(given, row)}")
    word = e.layout.callees[callee]
    own = e.direct.get(callee)
    function = e.files.word("ptr", word) if own is None else f"@{own}"
    bound = e.files.word("ptr", word + 1)
    lanes = w.bits(active)
    w(f"call i32 {function}(ptr {bound}, ptr {given}, ptr {found}, i32 {lanes})")
    for row, slot in enumerate(s.slots):
        e.write(slot, w(f"load {type}, ptr {e.row(found, row)}"), active)


def _kill(e: _Body, s: ir.Kill, active: str) -> None:
    killed = e.both(active, e.read(s.condition))
    e.write(ALIVE, e.both(e.value(ALIVE), e.inverse(killed)), ALL)


def _if(e: _Body, s: ir.If, active: str) -> str:
    condition = e.read(s.condition)
    for block, chosen in (s.then, condition), (s.otherwise, e.inverse(condition)):
        if block:
            taken, end = e.both(active, chosen), e.w.fresh_label()
            e.branch_if_any(taken, end)
            e.inner(block, taken)
            e.join(end)
    return e.both(active, e.value(e.loops[-1])) if id(s) in e.breaking else active


def _breaking(statements: tuple[ir.Statement, ...]) -> set[int]:
    """Return the identities of the Ifs with a Break of the loop around them, and of the Loops with
    a Break of their own.
    """
    found: set[int] = set()
    _collect_breaking(statements, found)
    return found


def _collect_breaking(statements: tuple[ir.Statement, ...], found: set[int]) -> bool:
    """Add to ``found`` the identities of Ifs and Loops in a block; whether the block breaks."""
    breaks = False
    for statement in statements:
        inside = [_collect_breaking(block, found) for block in ir.blocks(statement)]
        if any(inside):
            found.add(id(statement))
        breaks |= type(statement) is ir.Break or (type(statement) is ir.If and any(inside))
    return breaks


def _loop(e: _Body, s: ir.Loop, active: str) -> str:
    w, inside = e.w, f"inside {len(e.types)}"
    e.types[inside] = Type.BOOL
    e.place(inside)
    e.set(inside, active)
    rounds, head = w.allocate("i32"), w.fresh_label()
    w.do(f"store i32 0, ptr {rounds}")
    w.do(f"br label {head}")
    w.label(head)
    e.held.clear()
    e.loops.append(inside)
    e.inner(s.body, e.value(inside) if id(s) in e.breaking else active)
    e.loops.pop()
    count = w(f"add i32 {w(f'load i32, ptr {rounds}')}, 1")
    w.do(f"store i32 {count}, ptr {rounds}")
    more = w(f"icmp ult i32 {count}, {s.limit}")
    left = w.any(w(f"load {w.b}, ptr {e.memory[inside]}"))
    end = w.fresh_label()
    left = w(f"and i1 {left}, {e.running()}")
    w.do(f"br i1 {w(f'and i1 {more}, {left}')}, label {head}, label {end}")
    w.label(end)
    return active


def _break(e: _Body, s: ir.Break, active: str) -> str:
    inside, staying = e.loops[-1], e.inverse(e.both(active, e.read(s.condition)))
    e.write(inside, e.both(e.value(inside), staying), ALL)
    return e.both(active, staying)


_EXECUTE: dict[type[ir.Statement], Callable[[_Body, Any, str], None]] = {
    ir.Input: _input,
    ir.Output: _put,
    ir.Assign: _assign,
    ir.Load: _load,
    ir.Store: _store,
    ir.Derivative: _derivative,
    ir.Sample: _call,
    ir.Fetch: _call,
    ir.Kill: _kill,
}
_NARROW: dict[type[ir.Statement], Callable[[_Body, Any, str], str]] = {
    ir.If: _if,
    ir.Loop: _loop,
    ir.Break: _break,
}
"""From type of a statement that may disable lanes to its emitter, which returns the new mask."""

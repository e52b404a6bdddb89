"""A program as an LLVM function for a vector of lanes.

    i32 body(ptr bindings, ptr in, ptr out, i32 active)

``in`` and ``out`` have a row for each input and output: as many bytes as the vector has 32-bit
lanes, a BOOL in the first bytes of its row.  ``active`` has a bit for each lane, of which one at
least is set; a body that is not masked takes all lanes as active whatever it says.  What comes
back has a bit for each active lane that was not killed.

``bindings`` are laid out as ``layout`` says.  What a Sample or a Fetch asks is such a function
too, with the operands as rows, so whoever calls bodies, a loop over batches or the kernel of a
draw, can join them as it likes.

Control flow is that of the lanes together: a block runs if some lane takes it, and what it
assigns is selected for those.  A slot that only straight lines of code assign is a value; the
others lie in the frame, from where LLVM lifts them again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from dp2emu.shader.ir import (
    Assign,
    Axis,
    Break,
    Constant,
    Derivative,
    Fetch,
    If,
    Input,
    Kill,
    Load,
    Loop,
    Operand,
    Output,
    Program,
    Sample,
    Statement,
    Store,
    blocks,
    operands,
    walk,
    written,
)
from dp2emu.shader.jit.layout import Asked, Fetched, asked_by, layout_of
from dp2emu.shader.jit.operations import EMIT, canonical
from dp2emu.shader.jit.peephole import Facts, simpler
from dp2emu.shader.jit.ranges import Sampled
from dp2emu.shader.jit.register_files import WORD_SHIFT, Files, Pair, pairs
from dp2emu.shader.jit.ssa import single
from dp2emu.shader.jit.writer import ALL, ZERO, Target, Writer, constant
from dp2emu.shader.temporaries import temporaries
from dp2emu.shader.types import Type

Key = int | str
"""A variable: a slot, an output's name with ``=`` before it, or one of the names below."""

ALIVE = "alive"
"""Lanes that are not killed."""

LONGEST = 300
"""Statements of a basic block at most."""
_NOWHERE = "%nowhere"
"""Where a body goes that is called without an active lane: it never is."""

_QUAD = {
    Axis.X: ((1, 1, 3, 3), (0, 0, 2, 2)),
    Axis.Y: ((2, 3, 2, 3), (0, 1, 0, 1)),
    Axis.X_COARSE: ((1, 1, 1, 1), (0, 0, 0, 0)),
    Axis.Y_COARSE: ((2, 2, 2, 2), (0, 0, 0, 0)),
}
"""Lanes of a quad whose difference each of its lanes gets."""


def body(
    program: Program,
    arguments: tuple[str, ...],
    *,
    target: Target,
    masked: bool,
    name: str,
    visible: bool = True,
    direct: Mapping[Asked, str] = MappingProxyType({}),
    sampled: Sampled = MappingProxyType({}),
    paired: bool = True,
) -> tuple[str, Writer]:
    """Header and text.  Row n of ``in`` is the input named by ``arguments[n]``.

    NaNs of outputs are the canonical one, unless it is not ``visible`` which they are.  What is
    asked ``direct`` is a function of the same module; ``sampled`` is known of what it answers.
    Loads are ``paired`` where they can be, which is more text.
    """
    w = Writer(target)
    rows = {port: row for row, port in enumerate(arguments)}
    emitter = _Body(w, single(program), rows, visible)
    emitter.facts = Facts.of(emitter.program, sampled)
    emitter.direct = direct
    emitter.pairs = pairs(emitter.program) if paired else {}
    emitter.whole(w.mask("%active") if masked else ALL)
    parameters = "ptr noalias %bindings, ptr noalias %in, ptr noalias %out, i32 %active"
    return f"define i32 @{name}({parameters}) nounwind", w


class _Body:
    """Mutable: ``held`` has the values of variables where the text has got to.

    ``late`` are scalars of uniform files that are loaded where they are used, for programs begin
    with all their loads, and vectors of all these at once would be more than a CPU has.

    ``beside`` are slots that loads of ``pairs`` before theirs have found the value of.

    ``active`` everywhere is the name of a mask, ``ALL`` if it is known to be full.
    """

    def __init__(self, w: Writer, program: Program, rows: dict[str, int], visible: bool) -> None:
        self.w = w
        self.visible = visible
        self.direct: Mapping[Asked, str] = {}
        self.facts: Facts
        self.program = program
        self.rows = rows
        self.layout = layout_of(program)
        self.files = Files(w, {file.name: file for file in program.files}, self.layout)
        self.unmasked = temporaries(program)
        self.types: dict[Key, Type] = dict(enumerate(program.slots))
        self.types |= {_output(port.name): port.type for port in program.outputs}
        self.types[ALIVE] = Type.BOOL
        self.held: dict[Key, str] = dict.fromkeys(self.types, ZERO)
        self.late: dict[Key, Load] = {}
        self.pairs: dict[int, Pair] = {}
        self.beside: dict[int, str] = {}
        self.memory: dict[Key, str] = {}
        self.loops: list[Key] = []
        self.areas: tuple[str, str] | None = None
        self.length = 0

    def whole(self, active: str) -> None:
        """The function."""
        for key in _assigned_in_blocks(self.program.statements) - self.unmasked:
            self.place(key)
        self.files.clear()
        self.set(ALIVE, active)
        self.block(self.program.statements, active)
        for row, port in enumerate(self.program.outputs):
            self._give(row, port.type, self.value(_output(port.name)))
        self.w.do(f"ret i32 {self.w.bits(self.value(ALIVE))}")
        if self.length >= LONGEST:
            self.w.label(_NOWHERE)
            self.w.do("ret i32 0")

    # Variables

    def place(self, key: Key) -> None:
        """Keep a variable in the frame."""
        type = self.w.vector(self.types[key])
        self.memory[key] = self.w.allocate(type)
        self.w.entry.append(f"  store {type} {ZERO}, ptr {self.memory[key]}")

    def value(self, key: Key) -> str:
        if key not in self.held:
            late = self.late.get(key)
            self.held[key] = (
                self.w(f"load {self.w.vector(self.types[key])}, ptr {self.memory[key]}")
                if late is None
                else self.files.load(late.file, late.address, None)
            )
        return self.held[key]

    def read(self, operand: Operand) -> str:
        return constant(operand) if isinstance(operand, Constant) else self.value(operand.number)

    def write(self, key: Key, value: str, active: str) -> None:
        """key <- value in the active lanes."""
        if active != ALL and key not in self.unmasked:
            value = self.w.select(active, self.w.vector(self.types[key]), value, self.value(key))
        self.set(key, value)

    def set(self, key: Key, value: str) -> None:
        self.held[key] = value
        if key in self.memory:
            self.w.do(f"store {self.w.vector(self.types[key])} {value}, ptr {self.memory[key]}")

    def kept(self) -> dict[Key, str]:
        """What is still known where ways through the program meet."""
        return {key: value for key, value in self.held.items() if key not in self.memory}

    # Masks

    def both(self, x: str, y: str) -> str:
        if ALL in (x, y):
            return y if x == ALL else x
        return self.w(f"and {self.w.b} {x}, {y}")

    def inverse(self, mask: str) -> str:
        return self.w(f"xor {self.w.b} {mask}, {ALL}")

    # Blocks

    def block(self, statements: tuple[Statement, ...], active: str) -> None:
        """Run for the active lanes, until none is left."""
        end = None
        for statement in statements:
            self.cut()
            execute = _EXECUTE.get(type(statement))
            if execute is not None:
                execute(self, statement, active)
                continue
            narrowed = _NARROW[type(statement)](self, statement, active)
            if narrowed != active:
                active, end = narrowed, end or self.w.fresh_label()
                self.go_on(active, end)
        if end is not None:
            self.join(end)

    def cut(self) -> None:
        """End a basic block that has become long, by a branch that LLVM cannot see through.

        What LLVM does to a block takes time that grows with the square of its length.
        """
        self.length += 1
        if self.length % LONGEST == 0:
            here = self.w.fresh_label()
            some = self.w("icmp ne i32 %active, 0")
            self.w.do(f"br i1 {some}, label {here}, label {_NOWHERE}")
            self.w.label(here)

    def go_on(self, active: str, otherwise: str) -> None:
        """Branch away if no lane is active."""
        here = self.w.fresh_label()
        self.w.do(f"br i1 {self.w.any(active)}, label {here}, label {otherwise}")
        self.w.label(here)

    def join(self, label: str) -> None:
        """End a basic block where another begins."""
        self.w.do(f"br label {label}")
        self.w.label(label)

    # Rows

    def _give(self, row: int, type: Type, value: str) -> None:
        w = self.w
        if type is Type.F32 and self.visible:
            value = canonical(w, value)
        elif type is Type.BOOL:
            value = w(f"zext {w.b} {value} to <{w.target.width} x i8>")
        stored = f"<{w.target.width} x i8>" if type is Type.BOOL else w.vector(type)
        w.do(f"store {stored} {value}, ptr {self.row('%out', row)}, align 4")

    def row(self, base: str, number: int) -> str:
        return self.w(f"getelementptr i8, ptr {base}, i64 {number * self.w.target.row}")


def _output(port: str) -> str:
    return f"={port}"


def _assigned_in_blocks(statements: Iterable[Statement]) -> set[Key]:
    """Variables assigned inside an If or a Loop."""
    nested = (inner for statement in statements for block in blocks(statement)
              for inner in walk(block))  # fmt: skip
    return {key for statement in nested for key in _keys(statement)}


def _keys(statement: Statement) -> Iterator[Key]:
    yield from written(statement)
    if isinstance(statement, Output):
        yield _output(statement.port)
    elif isinstance(statement, Kill):
        yield ALIVE


def _take(e: _Body, s: Input, active: str) -> None:
    w, type = e.w, e.types[s.slot]
    place = e.row("%in", e.rows[s.port])
    if type is not Type.BOOL:
        value = w(f"load {w.vector(type)}, ptr {place}, align 4")
    else:
        bytes = f"<{w.target.width} x i8>"
        value = w(f"icmp ne {bytes} {w(f'load {bytes}, ptr {place}, align 4')}, {ZERO}")
    e.write(s.slot, value, active)


def _put(e: _Body, s: Output, active: str) -> None:
    e.write(_output(s.port), e.read(s.value), active)


def _assign(e: _Body, s: Assign, active: str) -> None:
    value = simpler(e.w, e.facts, s, e.read)
    e.write(s.slot, EMIT[s.op](e.w, *map(e.read, s.operands)) if value is None else value, active)


def _load(e: _Body, s: Load, active: str) -> None:
    if s.address.index is None and e.files.files[s.file].uniform and s.slot in e.unmasked:
        e.late[s.slot] = s
        e.held.pop(s.slot, None)
        return
    index = None if s.address.index is None else e.read(s.address.index)
    pair = e.pairs.get(s.slot)
    if index is not None and pair is not None:
        value, e.beside[pair.slot] = e.files.load_two(s.file, s.address, index, _next(e, pair))
    else:
        value = e.beside.get(s.slot) or e.files.load(s.file, s.address, index)
    e.write(s.slot, value, active)


def _next(e: _Body, pair: Pair) -> str:
    """The index of the second load of a pair."""
    at = EMIT["iadd"](e.w, e.read(pair.common), e.read(pair.step))
    return EMIT["ishr"](e.w, at, constant(WORD_SHIFT))


def _store(e: _Body, s: Store, active: str) -> None:
    index = None if s.address.index is None else e.read(s.address.index)
    mask = None if active == ALL else active
    e.files.store(s.file, s.address, index, e.read(s.value), mask)


def _derivative(e: _Body, s: Derivative, active: str) -> None:
    value = e.read(s.value)
    after, before = (e.w.shuffle(value, lanes) for lanes in _QUAD[s.axis])
    e.write(s.slot, e.w(f"fsub {e.w.f} {after}, {before}"), active)


def _ask(e: _Body, s: Sample | Fetch, active: str) -> None:
    """slots <- what a function of the bindings answers to operands."""
    w, asked = e.w, asked_by(s)
    if e.areas is None:
        most = max(each.rows for each in e.layout.asked)
        e.areas = w.allocate(w.f, max(most, 1)), w.allocate(w.f, len(s.slots))
    given, found = e.areas
    type = w.i if isinstance(asked, Fetched) else w.f
    for row, operand in enumerate(operands(s)):
        w.do(f"store {type} {e.read(operand)}, ptr {e.row(given, row)}")
    word = e.layout.asked[asked]
    own = e.direct.get(asked)
    function = e.files.word("ptr", word) if own is None else f"@{own}"
    bound = e.files.word("ptr", word + 1)
    lanes = w.bits(active)
    w(f"call i32 {function}(ptr {bound}, ptr {given}, ptr {found}, i32 {lanes})")
    for row, slot in enumerate(s.slots):
        e.write(slot, w(f"load {type}, ptr {e.row(found, row)}"), active)


def _kill(e: _Body, s: Kill, active: str) -> None:
    killed = e.both(active, e.read(s.condition))
    e.write(ALIVE, e.both(e.value(ALIVE), e.inverse(killed)), ALL)


def _if(e: _Body, s: If, active: str) -> str:
    condition = e.read(s.condition)
    kept = e.kept()
    for block, chosen in (s.then, condition), (s.otherwise, e.inverse(condition)):
        if block:
            taken, end = e.both(active, chosen), e.w.fresh_label()
            e.go_on(taken, end)
            e.block(block, taken)
            e.join(end)
            e.held = dict(kept)
    return e.both(active, e.value(e.loops[-1])) if _breaks(s) else active


def _breaks(statement: Statement) -> bool:
    """Whether lanes may leave the loop around a statement in it."""
    if isinstance(statement, If):
        return any(map(_breaks, statement.then + statement.otherwise))
    return isinstance(statement, Break)


def _loop(e: _Body, s: Loop, active: str) -> str:
    w, inside = e.w, f"inside {len(e.types)}"
    e.types[inside] = Type.BOOL
    e.place(inside)
    e.set(inside, active)
    rounds, head = w.allocate("i32"), w.fresh_label()
    w.do(f"store i32 0, ptr {rounds}")
    w.do(f"br label {head}")
    w.label(head)
    kept = e.kept()
    e.held = dict(kept)
    e.loops.append(inside)
    e.block(s.body, e.value(inside) if any(map(_breaks, s.body)) else active)
    e.loops.pop()
    e.held = kept
    count = w(f"add i32 {w(f'load i32, ptr {rounds}')}, 1")
    w.do(f"store i32 {count}, ptr {rounds}")
    more = w(f"icmp ult i32 {count}, {s.limit}")
    left = w.any(w(f"load {w.b}, ptr {e.memory[inside]}"))
    end = w.fresh_label()
    w.do(f"br i1 {w(f'and i1 {more}, {left}')}, label {head}, label {end}")
    w.label(end)
    return active


def _break(e: _Body, s: Break, active: str) -> str:
    inside, staying = e.loops[-1], e.inverse(e.both(active, e.read(s.condition)))
    e.write(inside, e.both(e.value(inside), staying), ALL)
    return e.both(active, staying)


_EXECUTE: dict[type[Statement], Callable[[_Body, Any, str], None]] = {
    Input: _take,
    Output: _put,
    Assign: _assign,
    Load: _load,
    Store: _store,
    Derivative: _derivative,
    Sample: _ask,
    Fetch: _ask,
    Kill: _kill,
}
_NARROW: dict[type[Statement], Callable[[_Body, Any, str], str]] = {
    If: _if,
    Loop: _loop,
    Break: _break,
}
"""These return the mask of the lanes that go on."""

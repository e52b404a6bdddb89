"""The text form of programs, one statement per line.

    pixel
    input v0.x f32
    output color0.r f32
    uniform c f32 1024
    slots ffbf

      f0 = input v0.x
      f1 = load c[21]
      b2 = lt f0 1.0
      if b2
        f3 = mul f0 f1
      else
        f3 = sqrt 0.5
      end
      output color0.r f3

Slots have the letter of their type before their number: f, i, b, and d and l of 64 bits.
Constants are decimal; a float has a point, an exponent or a name (``inf``, ``nan``), and a 64-bit
constant has the letter of its type as suffix (``0.5d``, ``-1l``).  A float that those do not tell,
such as another NaN, is written by its bits (``f32:7fc00001``).  ``;`` begins a comment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from dp2emu.shader import ir
from dp2emu.shader.types import FLOATS, Type


def dump(program: ir.Program) -> str:
    """Return the text of a program, identical on every machine, with a newline at the end."""
    return "".join(f"{line}\n" for line in _lines(program))


def line_of(program: ir.Program, statement: ir.Statement) -> str:
    """Return the line of a statement of a program; of an If or a Loop the line that opens it."""
    return next(iter(_DUMPS[type(statement)](_Dump(program.slots), statement)))


def slot_name(program: ir.Program, slot: int) -> str:
    """Return the name of a slot: the letter of its type, and its number."""
    return _Dump(program.slots).slot(slot)


def _lines(program: ir.Program) -> Iterator[str]:
    yield program.stage.value
    for word, ports in ("input", program.inputs), ("output", program.outputs):
        yield from (f"{word} {port.name} {port.type.value}" for port in ports)
    for file in program.files:
        word = "uniform" if file.uniform else "local"
        yield f"{word} {file.name} {file.type.value} {file.size}"
    yield ("slots " + "".join(type.letter for type in program.slots)).rstrip()
    yield from _Dump(program.slots).block(program.statements, "  ")


class _Dump(msgspec.Struct, frozen=True):
    """Formats the statements of a program; it knows the types of the program's slots."""

    slots: tuple[Type, ...]

    def block(self, statements: tuple[ir.Statement, ...], indent: str) -> Iterator[str]:
        for statement in statements:
            yield from (indent + line for line in _DUMPS[type(statement)](self, statement))

    def slot(self, number: int) -> str:
        return f"{self.slots[number].letter}{number}"

    def operand(self, operand: ir.Operand) -> str:
        return constant(operand) if isinstance(operand, ir.Constant) else self.slot(operand.number)

    def operands(self, operands: Iterable[ir.Operand]) -> str:
        return "".join(f" {self.operand(operand)}" for operand in operands)

    def place(self, file: str, address: ir.Address) -> str:
        if address.index is None:
            return f"{file}[{address.offset}]"
        return f"{file}[{address.offset}+{address.stride}*{self.operand(address.index)}]"


def constant(constant: ir.Constant) -> str:
    """Return the spelling of a constant."""
    if constant.type is Type.BOOL:
        return "true" if constant.bits else "false"
    text, wide = str(constant.scalar), constant.type.bits > 32
    if constant.type in FLOATS and ir.Constant.of(constant.type, float(text)) != constant:
        return f"{constant.type.value}:{constant.bits:0{constant.type.bits // 4}x}"
    return text + constant.type.letter * wide


def _dump_sample(d: _Dump, s: ir.Sample) -> Iterator[str]:
    results = " ".join(map(d.slot, s.slots))
    yield (
        f"{results} = sample {s.kind.value} {s.sampler}{d.operands(s.coordinates)}"
        f" {s.lod.value}{d.operands(s.arguments)}"
    )


def _dump_fetch(d: _Dump, s: ir.Fetch | ir.Access) -> Iterator[str]:
    word = type(s).__name__.lower()
    yield f"{' '.join(map(d.slot, s.slots))} = {word} {s.unit}{d.operands(s.operands)}"


def _dump_if(d: _Dump, s: ir.If) -> Iterator[str]:
    yield f"if {d.operand(s.condition)}"
    yield from d.block(s.then, "  ")
    if s.otherwise:
        yield "else"
        yield from d.block(s.otherwise, "  ")
    yield "end"


def _dump_loop(d: _Dump, s: ir.Loop) -> Iterator[str]:
    yield f"loop {s.limit}"
    yield from d.block(s.body, "  ")
    yield "end"


_DUMPS: dict[type[ir.Statement], Callable[[_Dump, Any], Iterable[str]]] = {
    ir.Input: lambda d, s: [f"{d.slot(s.slot)} = input {s.port}"],
    ir.Output: lambda d, s: [f"output {s.port} {d.operand(s.value)}"],
    ir.Assign: lambda d, s: [f"{d.slot(s.slot)} = {s.op}{d.operands(s.operands)}"],
    ir.Load: lambda d, s: [f"{d.slot(s.slot)} = load {d.place(s.file, s.address)}"],
    ir.Store: lambda d, s: [f"store {d.place(s.file, s.address)} {d.operand(s.value)}"],
    ir.Derivative: lambda d, s: [f"{d.slot(s.slot)} = {s.axis.value} {d.operand(s.value)}"],
    ir.Sample: _dump_sample,
    ir.Fetch: _dump_fetch,
    ir.Access: _dump_fetch,
    ir.If: _dump_if,
    ir.Loop: _dump_loop,
    ir.Break: lambda d, s: [f"break {d.operand(s.condition)}"],
    ir.Kill: lambda d, s: [f"kill {d.operand(s.condition)}"],
}

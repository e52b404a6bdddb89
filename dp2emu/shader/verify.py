"""Well-formedness rules of programs; engines rely on them without checks of their own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from dp2emu.shader import ir
from dp2emu.shader.ops import OPS
from dp2emu.shader.types import Type

MAX_DEPTH = 200
"""Maximum nesting of blocks: engines and dumps recurse, and the host stack is finite."""
MAX_UNIFORM_SIZE, MAX_LOCAL_SIZE = 1 << 28, 1 << 14
"""Maximum number of scalars of a uniform file (the words of the largest texture) and of a local
file (allocated per lane)."""

_NAME = re.compile(r"[A-Za-z_][\w.#]*", re.ASCII)


def verify(program: ir.Program) -> None:
    """Check the rules of a program.

    Raises ProgramError with the number of the offending statement, from 0 in program order.
    """
    _Verifier(program).verify()


class _Verifier:
    """The state of checking a program.

    It has the program, its ports and files by name, the number of the current statement, and the
    numbers of blocks and loops around that.
    """

    def __init__(self, program: ir.Program) -> None:
        for what in (program.inputs, program.outputs, program.files):
            _check_names(each.name for each in what)
        self.program = program
        self.inputs = {port.name: port.type for port in program.inputs}
        self.outputs = {port.name: port.type for port in program.outputs}
        self.files = {file.name: file for file in program.files}
        self.statement = -1
        self.depth = self.loops = 0

    def verify(self) -> None:
        for file in self.program.files:
            if not 0 < file.size <= (MAX_UNIFORM_SIZE if file.uniform else MAX_LOCAL_SIZE):
                raise ir.ProgramError(f"file {file.name} of {file.size} scalars")
            if file.type.bits > 32:
                raise ir.ProgramError(f"file {file.name} of {file.type.value}, not of 32 bits")
        self.block(self.program.statements)

    def block(self, statements: tuple[ir.Statement, ...]) -> None:
        for statement in statements:
            self.statement += 1
            _CHECKS[type(statement)](self, statement)

    def nested(self, statements: tuple[ir.Statement, ...]) -> None:
        self.require(self.depth < MAX_DEPTH, f"more than {MAX_DEPTH} blocks deep")
        self.depth += 1
        self.block(statements)
        self.depth -= 1

    def require(self, condition: bool, complaint: str) -> None:
        if not condition:
            raise ir.ProgramError(f"statement {self.statement}: {complaint}")

    def slot(self, number: int, type: Type) -> None:
        slots = self.program.slots
        # Fast path: nearly every check succeeds.
        if 0 <= number < len(slots) and slots[number] is type:
            return
        self.require(0 <= number < len(slots), f"no slot {number}")
        self.require(False, f"slot {number} is {slots[number].value}, not {type.value}")

    def operand(self, operand: ir.Operand, type: Type) -> None:
        if not isinstance(operand, ir.Constant):
            self.slot(operand.number, type)
            return
        found, limit = operand.type, (1 << operand.type.bits) - 1
        self.require(found is type, f"a constant is {found.value}, not {type.value}")
        self.require(0 <= operand.bits <= limit, f"{operand.bits:#x} is no {type.value}")

    def results(self, statement: ir.Sample | ir.Fetch | ir.Access, kind: Type) -> None:
        what = type(statement).__name__.lower()
        self.require(len(set(statement.slots)) == 4, f"{what} needs four different slots")
        for slot in statement.slots:
            self.slot(slot, kind)

    def file(self, name: str, address: ir.Address) -> ir.File:
        self.require(name in self.files, f"no file {name}")
        self.require(-(2**31) <= address.offset < 2**31, f"offset {address.offset}")
        self.require(0 < address.stride <= MAX_UNIFORM_SIZE, f"stride {address.stride}")
        if address.index is None:
            self.require(address.stride == 1, "a stride without an index")
        else:
            self.operand(address.index, Type.I32)
        return self.files[name]

    def pixel_only(self, what: str) -> None:
        self.require(self.program.stage is ir.Stage.PIXEL, f"{what} outside a pixel program")


def _check_names(names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if not _NAME.fullmatch(name):
            raise ir.ProgramError(f"{name!r} is no name")
        if name in seen:
            raise ir.ProgramError(f"{name} declared twice")
        seen.add(name)


def _input(v: _Verifier, statement: ir.Input) -> None:
    v.require(statement.port in v.inputs, f"no input {statement.port}")
    v.slot(statement.slot, v.inputs[statement.port])


def _output(v: _Verifier, statement: ir.Output) -> None:
    v.require(statement.port in v.outputs, f"no output {statement.port}")
    v.operand(statement.value, v.outputs[statement.port])


def _assign(v: _Verifier, statement: ir.Assign) -> None:
    if statement.op not in OPS:
        v.require(False, f"no operation {statement.op}")
    row = OPS[statement.op]
    wanted, given = len(row.operands), len(statement.operands)
    if wanted != given:
        v.require(False, f"{statement.op} takes {wanted} operands, not {given}")
    for operand, type in zip(statement.operands, row.operands, strict=True):
        v.operand(operand, type)
    v.slot(statement.slot, row.result)


def _load(v: _Verifier, statement: ir.Load) -> None:
    v.slot(statement.slot, v.file(statement.file, statement.address).type)


def _store(v: _Verifier, statement: ir.Store) -> None:
    file = v.file(statement.file, statement.address)
    v.require(not file.uniform, f"{file.name} is read only")
    v.operand(statement.value, file.type)


def _derivative(v: _Verifier, statement: ir.Derivative) -> None:
    v.pixel_only(statement.axis.value)
    v.operand(statement.value, Type.F32)
    v.slot(statement.slot, Type.F32)


def _sample(v: _Verifier, statement: ir.Sample) -> None:
    if statement.lod in (ir.Lod.IMPLICIT, ir.Lod.BIAS):
        v.pixel_only(f"sample with {statement.lod.value} level of detail")
    kind, arguments = statement.kind, statement.lod.arguments(statement.kind)
    v.require(0 <= statement.sampler < 2**16, f"sampler {statement.sampler}")
    v.require(len(statement.coordinates) == kind.coordinates, f"coordinates of {kind.value}")
    v.require(len(statement.arguments) == arguments, f"arguments of {statement.lod.value}")
    for operand in statement.coordinates + statement.arguments:
        v.operand(operand, Type.F32)
    v.results(statement, Type.F32)


def _fetch(v: _Verifier, statement: ir.Fetch | ir.Access) -> None:
    v.require(0 <= statement.unit < 2**16, f"unit {statement.unit}")
    for operand in statement.operands:
        v.operand(operand, Type.I32)
    v.results(statement, Type.I32)


def _if(v: _Verifier, statement: ir.If) -> None:
    v.operand(statement.condition, Type.BOOL)
    v.nested(statement.then)
    v.nested(statement.otherwise)


def _loop(v: _Verifier, statement: ir.Loop) -> None:
    v.require(0 < statement.limit < 2**31, f"loop limit {statement.limit}")
    v.loops += 1
    v.nested(statement.body)
    v.loops -= 1


def _break(v: _Verifier, statement: ir.Break) -> None:
    v.require(v.loops > 0, "break outside a loop")
    v.operand(statement.condition, Type.BOOL)


def _kill(v: _Verifier, statement: ir.Kill) -> None:
    v.pixel_only("kill")
    v.operand(statement.condition, Type.BOOL)


_CHECKS: dict[type[ir.Statement], Callable[[_Verifier, Any], None]] = {
    ir.Input: _input,
    ir.Output: _output,
    ir.Assign: _assign,
    ir.Load: _load,
    ir.Store: _store,
    ir.Derivative: _derivative,
    ir.Sample: _sample,
    ir.Fetch: _fetch,
    ir.Access: _fetch,
    ir.If: _if,
    ir.Loop: _loop,
    ir.Break: _break,
    ir.Kill: _kill,
}

"""The rules of a program as a whole.

Whatever no driver could give a meaning to is refused: broken flow control, endless calls, sizes
out of bounds, resources and temporaries that are used without a declaration.  What has a meaning
all the same is not looked at: inputs and outputs that are not declared, results never written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from math import prod

from dp2emu.errors import ShaderError
from dp2emu.records import dataclass
from dp2emu.shader.resources import Dimension
from dp2emu.shader.sm4.enums import CustomClass
from dp2emu.shader.sm4.flow import Phase, check_flow, phases
from dp2emu.shader.sm4.ops import Op
from dp2emu.shader.sm4.program import Declaration, Instruction, Operand, Program
from dp2emu.shader.sm4.registers import File, bank_of
from dp2emu.shader.sm4.takes import KINDS, TAKES
from dp2emu.shader.sm4.versions import Stage

_ROWS = 4096
"""Temporaries with all arrays, and rows of the immediate constant buffer."""
_SHARED_BYTES = 1 << 15
_GROUP_THREADS = 1024
_STRIDE = 2048
_COMPONENTS = 4

_COUNTS = {
    Op.DCL_INDEXABLETEMP: (1, _ROWS),
    Op.DCL_TEMPS: (0, _ROWS),
    Op.DCL_MAXOUT: (0, 1024),
    Op.DCL_GSINSTANCES: (1, 32),
    Op.DCL_INPUT_CONTROL_POINT_COUNT: (0, 32),
    Op.DCL_OUTPUT_CONTROL_POINT_COUNT: (0, 32),
    Op.DCL_HS_FORK_PHASE_INSTANCE_COUNT: (1, 128),
    Op.DCL_HS_JOIN_PHASE_INSTANCE_COUNT: (1, 128),
    Op.DCL_TGSM_STRUCTURED: (1, _SHARED_BYTES),
}
"""What may be declared at least and at most."""
_STRIDED = frozenset({Op.DCL_UAV_STRUCTURED, Op.DCL_RESOURCE_STRUCTURED, Op.DCL_TGSM_STRUCTURED})
_DECLARED = frozenset(
    {File.CONSTANT_BUFFER, File.SAMPLER, File.RESOURCE, File.UAV, File.SHARED_MEMORY}
)
"""Files whose registers have to be declared before they mean anything."""


@dataclass(slots=True)
class _Scope:
    """What is declared.  Mutable while declarations are read."""

    temps: int | None = None
    arrays: dict[int, Declaration] = field(default_factory=dict)
    known: dict[tuple[File, int], Dimension | None] = field(default_factory=dict)
    constants: bool = False
    """Whether there is an immediate constant buffer."""


def validate(program: Program) -> None:
    """Raises ShaderError, at the instruction that breaks a rule."""
    check_flow(program)
    shared = _Scope()
    for phase in phases(program):
        first = phase.marker is not None and phase.marker.op is Op.HS_DECLS
        scope = shared if first else _Scope(known=dict(shared.known), constants=shared.constants)
        for instruction in phase.declarations:
            _check_numbers(instruction)
            _declare(scope, instruction)
            _check_range(instruction, program.version.stage)
        for instruction in _executed(phase):
            _check_operands(scope, instruction)
            _check_resource(scope.known, instruction)


def _executed(phase: Phase) -> Iterator[Instruction]:
    for body in (phase.main, *phase.subroutines.values()):
        yield from body


def _check_numbers(instruction: Instruction) -> None:
    """Numbers of a declaration are within bounds."""
    declaration, op = instruction.declaration, instruction.op
    assert declaration is not None
    least, most = _COUNTS.get(op, (0, declaration.count))
    if not least <= declaration.count <= most:
        raise _error(instruction, f"{_name(instruction)} of {declaration.count}")
    if op in _STRIDED and not (0 < declaration.stride <= _STRIDE and declaration.stride % 4 == 0):
        raise _error(instruction, f"a stride of {declaration.stride} bytes")
    if op is Op.DCL_INDEXABLETEMP and not 1 <= declaration.components <= _COMPONENTS:
        raise _error(instruction, f"rows of {declaration.components} components")
    if op is Op.DCL_THREAD_GROUP and not 1 <= prod(declaration.threads) <= _GROUP_THREADS:
        raise _error(instruction, f"{prod(declaration.threads)} threads in a group")
    if op is Op.DCL_FUNCTION_TABLE and declaration.count != len(instruction.data):
        raise _error(instruction, f"{len(instruction.data)} functions, not {declaration.count}")
    if _shared_bytes(instruction) > _SHARED_BYTES:
        raise _error(instruction, f"more than {_SHARED_BYTES} bytes of shared memory")


def _shared_bytes(instruction: Instruction) -> int:
    declaration = instruction.declaration
    assert declaration is not None
    if instruction.op is Op.DCL_TGSM_STRUCTURED:
        return declaration.stride * declaration.count
    return declaration.stride if instruction.op is Op.DCL_TGSM_RAW else 0


def _declare(scope: _Scope, instruction: Instruction) -> None:
    declaration = instruction.declaration
    assert declaration is not None
    if instruction.op is Op.DCL_TEMPS:
        if scope.temps is not None:
            raise _error(instruction, "temporaries are declared twice")
        scope.temps = declaration.count
    elif instruction.op is Op.DCL_INDEXABLETEMP:
        if declaration.number in scope.arrays:
            raise _error(instruction, f"x{declaration.number} is declared twice")
        scope.arrays[declaration.number] = declaration
    elif declaration.custom == CustomClass.IMMEDIATE_CONSTANT_BUFFER:
        _declare_constants(scope, instruction)
    elif instruction.operands and instruction.op in KINDS:
        operand = instruction.operands[0]
        register = operand.file, operand.number
        if register in scope.known:
            raise _error(instruction, f"{operand.file.value}{operand.number} is declared twice")
        scope.known[register] = KINDS[instruction.op] or declaration.dimension
    if (scope.temps or 0) + sum(array.count for array in scope.arrays.values()) > _ROWS:
        raise _error(instruction, f"more than {_ROWS} temporaries")


def _declare_constants(scope: _Scope, instruction: Instruction) -> None:
    words = len(instruction.data)
    if scope.constants:
        raise _error(instruction, "a second immediate constant buffer")
    if words % _COMPONENTS or not 0 < words <= _ROWS * _COMPONENTS:
        raise _error(instruction, f"{words} DWORDs of immediate constants")
    scope.constants = True


def _check_range(instruction: Instruction, stage: Stage) -> None:
    """Registers of a range exist; of two indices the second counts them."""
    if instruction.op is not Op.DCL_INDEXRANGE:
        return
    (operand,), declaration = instruction.operands, instruction.declaration
    assert declaration is not None
    limit = bank_of(operand.file, stage).limits[-1]
    if not 0 < declaration.count <= limit - operand.indices[-1].offset:
        raise _error(instruction, f"a range of {declaration.count} registers")


def _check_operands(scope: _Scope, instruction: Instruction) -> None:
    for operand in instruction.operands:
        inner = (index.relative for index in operand.indices)
        for each in (operand, *(one for one in inner if one is not None)):
            if not _is_declared(scope, each):
                numbers = "".join(f"[{index.offset}]" for index in each.indices)
                raise _error(instruction, f"{each.file.value}{numbers} is not declared")


def _is_declared(scope: _Scope, operand: Operand) -> bool:
    file = operand.file
    if file is File.TEMP:
        return operand.number < (scope.temps or 0)
    if file is File.INDEXABLE_TEMP:
        array, element = scope.arrays.get(operand.number), operand.indices[1]
        return array is not None and (bool(element.relative) or element.offset < array.count)
    if file is File.IMMEDIATE_CONSTANT_BUFFER:
        return scope.constants
    return file not in _DECLARED or (file, operand.number) in scope.known


def _check_resource(
    known: Mapping[tuple[File, int], Dimension | None], instruction: Instruction
) -> None:
    """What is read or written is of a kind that the opcode can do it with."""
    taken = TAKES.get(instruction.op)
    if taken is None:
        return
    for operand in instruction.operands:
        dimension = known.get((operand.file, operand.number)) if operand.indices else None
        if dimension is not None and dimension not in taken:
            what = f"{_name(instruction)} of {dimension.text} {operand.file.value}{operand.number}"
            raise _error(instruction, what)


def _name(instruction: Instruction) -> str:
    return instruction.op.name.lower()


def _error(instruction: Instruction, what: str) -> ShaderError:
    return ShaderError(what, offset=instruction.offset)

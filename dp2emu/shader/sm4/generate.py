"""Valid programs by chance, derived from the tables: for property tests and fuzzing.

All opcodes, operands and blocks of a version come out.  Loops turn three times at most, so that
what comes out can also be run.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Any

from dp2emu.d3d.enums10 import Domain, OutputPrimitive, Partitioning
from dp2emu.shader.resources import Dimension
from dp2emu.shader.sm4.declarations import PARTS
from dp2emu.shader.sm4.encode import instruction_words
from dp2emu.shader.sm4.enums import (
    Access,
    CustomClass,
    GlobalFlags,
    Interpolation,
    Primitive,
    ReturnType,
    SamplerMode,
    SystemValue,
    Topology,
    UavFlags,
)
from dp2emu.shader.sm4.flow import OPENERS
from dp2emu.shader.sm4.opcodes import OPCODES, TABLE, files
from dp2emu.shader.sm4.ops import Op
from dp2emu.shader.sm4.picking import (
    ARRAYS,
    LABELS,
    PORTS,
    ROWS,
    SLOTS,
    TEMPS,
    Picker,
    declared_memory,
)
from dp2emu.shader.sm4.program import Declaration, Index, Instruction, Operand, Selection
from dp2emu.shader.sm4.registers import BY_FILE, File, bank_of
from dp2emu.shader.sm4.spelling import DECLARED_WITHOUT, SCALARS
from dp2emu.shader.sm4.takes import KINDS
from dp2emu.shader.sm4.versions import VERSIONS, Stage, Version

_DEPTH = 3
_TURNS = 3
_PLACED = frozenset(
    {
        Op.ELSE,
        Op.ENDIF,
        Op.ENDLOOP,
        Op.ENDSWITCH,
        Op.CASE,
        Op.DEFAULT,
        Op.BREAK,
        Op.BREAKC,
        Op.CONTINUE,
        Op.CONTINUEC,
        Op.CALL,
        Op.CALLC,
        Op.LABEL,
        Op.RET,
        Op.HS_DECLS,
        Op.HS_CONTROL_POINT_PHASE,
        Op.HS_FORK_PHASE,
        Op.HS_JOIN_PHASE,
    }
    | OPENERS
)
"""What cannot stand just anywhere."""
_PHASES = (Op.HS_CONTROL_POINT_PHASE, Op.HS_FORK_PHASE, Op.HS_JOIN_PHASE)
_XYZW = (0, 1, 2, 3)
_SPECIAL = frozenset({File.INPUT, File.OUTPUT})
_MADE = frozenset(KINDS) | {
    Op.CUSTOMDATA,
    Op.DCL_TEMPS,
    Op.DCL_INDEXABLETEMP,
}
"""Declarations that follow from what a program uses."""

_NAMES = {
    (Stage.VERTEX, Op.DCL_INPUT_SGV): (SystemValue.VERTEX_ID, SystemValue.INSTANCE_ID),
    (Stage.VERTEX, Op.DCL_OUTPUT_SIV): (SystemValue.POSITION, SystemValue.CLIP_DISTANCE),
    (Stage.PIXEL, Op.DCL_INPUT_PS_SGV): (SystemValue.PRIMITIVE_ID, SystemValue.IS_FRONT_FACE),
    (Stage.PIXEL, Op.DCL_INPUT_PS_SIV): (SystemValue.POSITION, SystemValue.CLIP_DISTANCE),
    (Stage.GEOMETRY, Op.DCL_INPUT_SIV): (SystemValue.POSITION,),
    (Stage.GEOMETRY, Op.DCL_OUTPUT_SGV): (SystemValue.PRIMITIVE_ID,),
    (Stage.GEOMETRY, Op.DCL_OUTPUT_SIV): (SystemValue.POSITION,),
    (Stage.HULL, Op.DCL_OUTPUT_SIV): tuple(SystemValue)[11:],
    (Stage.DOMAIN, Op.DCL_INPUT_SIV): tuple(SystemValue)[11:],
    (Stage.DOMAIN, Op.DCL_OUTPUT_SIV): (SystemValue.POSITION,),
}


def generate(
    rng: Random,
    version: Version | None = None,
    *,
    length: int = 16,
    avoid: frozenset[Op] = frozenset(),
) -> bytes:
    """Code of a valid program of about ``length`` instructions; any version if None is given.

    What ``avoid`` names does not come out, declarations and flow control aside.
    """
    picker = Picker(rng, version or rng.choice(VERSIONS), avoid)
    version = picker.version
    made = _hull if version.stage is Stage.HULL else _program
    instructions = made(picker, length)
    words = [word for each in instructions for word in instruction_words(each)]
    return struct.pack(f"<{len(words) + 2}I", version.token, len(words) + 2, *words)


def _program(picker: Picker, length: int) -> list[Instruction]:
    """A program of one phase: what it executes is drawn first, and then declared."""
    body = list(_routines(picker, length))
    return [*_shared(picker), *_declarations(picker), *_temporaries(picker), *body]


def _hull(picker: Picker, length: int) -> list[Instruction]:
    """Phases, with resources in front of them all."""
    bodies: list[Instruction] = []
    for marker in _PHASES:
        body = list(_routines(picker, length // len(_PHASES)))
        bodies += [Instruction(marker), *_declarations(picker), *_temporaries(picker), *body]
    return [Instruction(Op.HS_DECLS), *_shared(picker), *bodies]


def _routines(picker: Picker, length: int) -> Iterator[Instruction]:
    yield from _block(picker, length, 0, calls=True)
    yield Instruction(Op.RET)
    for number in range(LABELS):
        yield Instruction(Op.LABEL, (Operand(File.LABEL, (Index(number),)),))
        yield from _block(picker, 2, _DEPTH - 1, calls=False)
        yield Instruction(Op.RET)


def _block(picker: Picker, length: int, depth: int, *, calls: bool) -> Iterator[Instruction]:
    plain = _drawn(picker.version, picker.avoid)
    for _ in range(length):
        if depth < _DEPTH and picker.chance(5):
            yield from picker.rng.choice(_NESTED)(picker, depth, calls)
        elif calls and picker.chance(10):
            yield picker.instruction(picker.rng.choice((Op.CALL, Op.CALLC)))
        else:
            yield picker.instruction(picker.rng.choice(plain))


@cache
def _drawn(version: Version, avoid: frozenset[Op]) -> tuple[Op, ...]:
    """What may stand just anywhere."""
    picker = Picker(Random(0), version, avoid)
    return tuple(
        row.op
        for row in TABLE
        if row.declares is None and row.op not in _PLACED and picker.can(row.op)
    )


def _if(picker: Picker, depth: int, calls: bool) -> Iterator[Instruction]:
    yield picker.instruction(Op.IF)
    yield from _block(picker, 2, depth + 1, calls=calls)
    if picker.chance(2):
        yield Instruction(Op.ELSE)
        yield from _block(picker, 2, depth + 1, calls=calls)
    yield Instruction(Op.ENDIF)


def _loop(picker: Picker, depth: int, calls: bool) -> Iterator[Instruction]:
    """A loop with a counter of its own, in a temporary that nothing else writes."""
    counter = (Index(TEMPS + depth),)
    written = Operand(File.TEMP, counter, Selection.MASK, (0,))
    read = Operand(File.TEMP, counter, Selection.SELECT, (0,))
    flag = Operand(File.TEMP, counter, Selection.MASK, (1,))
    tested = Operand(File.TEMP, counter, Selection.SELECT, (1,))
    yield Instruction(Op.MOV, (written, _number(0)))
    yield Instruction(Op.LOOP)
    yield Instruction(Op.IGE, (flag, read, _number(_TURNS)))
    yield Instruction(Op.BREAKC, (tested,), nonzero=True)
    yield Instruction(Op.IADD, (written, read, _number(1)))
    yield from _block(picker, 2, depth + 1, calls=calls)
    if picker.chance(2):
        leap = picker.rng.choice((Op.BREAK, Op.BREAKC, Op.CONTINUE, Op.CONTINUEC))
        yield picker.instruction(Op.IF)
        yield picker.instruction(leap)
        yield Instruction(Op.ENDIF)
    yield Instruction(Op.ENDLOOP)


def _switch(picker: Picker, depth: int, calls: bool) -> Iterator[Instruction]:
    yield picker.instruction(Op.SWITCH)
    for number in range(picker.rng.randrange(1, 4)):
        yield Instruction(Op.CASE, (_number(number),))
        yield from _block(picker, picker.rng.randrange(2), depth + 1, calls=calls)
        yield Instruction(Op.BREAK)
    if picker.chance(2):
        yield Instruction(Op.DEFAULT)
        yield from _block(picker, 1, depth + 1, calls=calls)
        yield Instruction(Op.BREAK)
    yield Instruction(Op.ENDSWITCH)


_NESTED = (_if, _loop, _switch)


def _number(value: int) -> Operand:
    return Operand(File.IMMEDIATE, selection=Selection.ONE, words=(value,))


def _shared(picker: Picker) -> Iterator[Instruction]:
    """Constants, samplers, and the memory that was drawn."""
    rng = picker.rng
    constants = tuple(picker.word() for _ in range(4 * ROWS))
    immediate = Declaration(custom=CustomClass.IMMEDIATE_CONSTANT_BUFFER)
    yield Instruction(Op.CUSTOMDATA, declaration=immediate, data=constants)
    for slot in range(SLOTS):
        rows = Index(slot), Index(ROWS)
        operand = Operand(File.CONSTANT_BUFFER, rows, Selection.SWIZZLE, _XYZW)
        yield _declared(picker, Op.DCL_CONSTANTBUFFER, (operand,))
        sampler = Operand(File.SAMPLER, (Index(slot),))
        yield _declared(picker, Op.DCL_SAMPLER, (sampler,))
    for file, number, dimension in declared_memory(picker):
        operand = Operand(file, (Index(number),))
        op = _MEMORY.get((file, dimension)) or _TYPED[file]
        yield _declared(picker, op, (operand,), dimension=dimension)
    if picker.chance(2):
        flags = GlobalFlags(rng.getrandbits(9))
        yield Instruction(Op.DCL_GLOBALFLAGS, declaration=Declaration(flags=flags))


_TYPED = {File.RESOURCE: Op.DCL_RESOURCE, File.UAV: Op.DCL_UAV_TYPED}
_MEMORY = {
    (File.RESOURCE, Dimension.RAW_BUFFER): Op.DCL_RESOURCE_RAW,
    (File.RESOURCE, Dimension.STRUCTURED_BUFFER): Op.DCL_RESOURCE_STRUCTURED,
    (File.UAV, Dimension.RAW_BUFFER): Op.DCL_UAV_RAW,
    (File.UAV, Dimension.STRUCTURED_BUFFER): Op.DCL_UAV_STRUCTURED,
    (File.SHARED_MEMORY, Dimension.RAW_BUFFER): Op.DCL_TGSM_RAW,
    (File.SHARED_MEMORY, Dimension.STRUCTURED_BUFFER): Op.DCL_TGSM_STRUCTURED,
}


def _temporaries(picker: Picker) -> Iterator[Instruction]:
    yield Instruction(Op.DCL_TEMPS, declaration=Declaration(count=TEMPS + _DEPTH))
    for number in range(ARRAYS):
        declaration = Declaration(number=number, count=ROWS, components=picker.rng.randrange(1, 5))
        yield Instruction(Op.DCL_INDEXABLETEMP, declaration=declaration)


def _declarations(picker: Picker) -> Iterator[Instruction]:
    """Everything else that a version can declare, now and then."""
    for row in TABLE:
        if row.declares is None or row.op in _MADE or not row.exists(picker.version):
            continue
        for number in range(PORTS):
            if picker.chance(3):
                yield _declared(picker, row.op, tuple(_register(picker, row.op, number)))


def _register(picker: Picker, op: Op, number: int) -> Iterator[Operand]:
    """The operand of a declaration, if it has one."""
    row = OPCODES[op]
    if not row.operands:
        return
    known = [file for file in File if file in files(row, "D")]
    file = picker.rng.choice([file for file in known if BY_FILE[file].exists(picker.version)])
    limits = bank_of(file, picker.version.stage).limits
    indices = tuple(Index(PORTS) for _ in limits[1:]) + tuple(Index(number) for _ in limits[:1])
    if limits and file is not File.STREAM:
        components = tuple(i for i in range(4) if picker.chance(2)) or (0,)
        yield Operand(file, indices, Selection.MASK, components)
    else:
        scalar = file in SCALARS - DECLARED_WITHOUT
        yield Operand(file, indices, Selection.ONE if scalar else Selection.NONE)


def _declared(picker: Picker, op: Op, operands: tuple[Operand, ...], **known: Any) -> Instruction:
    """A declaration with what is ``known`` of it, and the rest by chance."""
    wanted = {part.name for part in PARTS[op]}
    values = {name: value for name, value in known.items() if name in wanted}
    for name in sorted(wanted - values.keys()):
        values[name] = _value(picker, op, name)
    data = tuple(range(2)) if op is Op.DCL_FUNCTION_TABLE else ()
    return Instruction(op, operands, declaration=Declaration(**values), data=data)


def _value(picker: Picker, op: Op, name: str) -> Any:
    """A value of an attribute of a declaration."""
    if name == "name":
        return picker.rng.choice(_NAMES.get((picker.version.stage, op), (SystemValue.UNDEFINED,)))
    return picker.rng.choice(_VALUES[name])


_VALUES: dict[str, tuple[Any, ...]] = {
    "interpolation": tuple(Interpolation),
    "samples": (0, 4),
    "returns": tuple((kind, kind, kind, kind) for kind in ReturnType),
    "access": tuple(Access),
    "mode": tuple(SamplerMode),
    "topology": tuple(Topology),
    "primitive": tuple(Primitive),
    "domain": tuple(Domain),
    "partitioning": tuple(Partitioning),
    "output": tuple(OutputPrimitive),
    "flags": (GlobalFlags(0),),
    "uav": (UavFlags(0), *UavFlags),
    "number": (0, 1, 2),
    "count": (2,),
    "stride": (4, 16, 2048),
    "factor": (0x3F800000, 0x42800000, 0x41F00000),
    "threads": ((1, 1, 1), (8, 4, 1), (4, 4, 64)),
}

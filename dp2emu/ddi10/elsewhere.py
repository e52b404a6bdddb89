"""Inputs of pixel shaders evaluated elsewhere than their declarations say (eval_snapped and
eval_sample_index of shader model 5.0).

Fetches of such units get the lane they are of as their first operand, and the program reads the
registers, so that there are planes of them.

Source: Direct3D 11 documentation of these instructions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dp2emu.gpu.fetching import ELSEWHERE
from dp2emu.gpu.shade import LANE_PORT
from dp2emu.shader.ir import Fetch, If, Input, Loop, Port, Program, Slot, Statement
from dp2emu.shader.ports import NOPERSPECTIVE
from dp2emu.shader.sampling import COMPONENTS
from dp2emu.shader.sm4.enums import Interpolation
from dp2emu.shader.sm4.lower import Lowered4
from dp2emu.shader.types import Type
from dp2emu.shader.verify import verify

_FLAT = frozenset(
    {
        Interpolation.LINEAR_NOPERSPECTIVE,
        Interpolation.LINEAR_NOPERSPECTIVE_CENTROID,
        Interpolation.LINEAR_NOPERSPECTIVE_SAMPLE,
    }
)


def looking(program: Program, lowered: Lowered4) -> Program:
    """The program, which can look at its inputs elsewhere if it asks to."""
    asking = {n: unit.register for n, unit in enumerate(lowered.units) if unit.ask in ELSEWHERE}
    if not asking:
        return program
    lane = len(program.slots)
    ports = (Port(LANE_PORT, Type.I32), *_read(lowered, set(asking.values())))
    slots = (*program.slots, *(port.type for port in ports))
    inputs = {port.name: port for port in (*program.inputs, *ports)}
    taken = tuple(Input(lane + number, port.name) for number, port in enumerate(ports))
    statements = _told(program.statements, frozenset(asking), Slot(lane))
    found = replace(
        program, slots=slots, inputs=tuple(inputs.values()), statements=(*taken, *statements)
    )
    verify(found)
    return found


def _read(lowered: Lowered4, registers: set[int]) -> Iterator[Port]:
    """What is interpolated of some registers."""
    for register in lowered.inputs:
        if register.number in registers:
            prefix = NOPERSPECTIVE if register.interpolation in _FLAT else ""
            for place, component in enumerate(COMPONENTS):
                if register.mask >> place & 1:
                    yield Port(f"{prefix}v{register.number}.{component}", Type.F32)


def _told(
    statements: tuple[Statement, ...], units: frozenset[int], lane: Slot
) -> tuple[Statement, ...]:
    """Statements whose fetches of ``units`` are told the lane."""
    return tuple(_one(statement, units, lane) for statement in statements)


def _one(statement: Statement, units: frozenset[int], lane: Slot) -> Statement:
    if isinstance(statement, Fetch) and statement.unit in units:
        return replace(statement, operands=(lane, *statement.operands))
    if isinstance(statement, If):
        then = _told(statement.then, units, lane)
        return replace(statement, then=then, otherwise=_told(statement.otherwise, units, lane))
    if isinstance(statement, Loop):
        return replace(statement, body=_told(statement.body, units, lane))
    return statement

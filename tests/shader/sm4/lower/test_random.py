"""Programs by chance and recorded ones: whatever is valid is lowered, and runs."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from dp2emu.errors import Unsupported
from dp2emu.shader.sm4 import Instruction, Program, assemble, decode
from dp2emu.shader.sm4.lower import Lowered4, lower, lower_hull
from dp2emu.shader.sm4.lower.flow import CONTROL, EVALUATE
from dp2emu.shader.sm4.opcodes import Op
from dp2emu.shader.sm4.program import Operand, Selection
from dp2emu.shader.sm4.registers import File
from dp2emu.shader.sm4.versions import VERSIONS, Stage, Version
from dp2emu.testing.random_shaders4 import generate
from tests.shader.sm4.lower.running import execute
from tests.shader.sm4.making import recorded

BUILT = [each for each in VERSIONS if each.stage is not Stage.HULL]
MARKERS = {Op.HS_DECLS, Op.HS_CONTROL_POINT_PHASE, Op.HS_FORK_PHASE, Op.HS_JOIN_PHASE}
HULL = next(each for each in VERSIONS if each.stage is Stage.HULL)
REFUSED = frozenset({File.THIS, File.CYCLE_COUNTER, File.INNER_COVERAGE})
LEFT_OUT = frozenset({File.STENCIL_REFERENCE, File.INTERFACE})
UNORDERED = frozenset({Op.DCL_UAV_TYPED, Op.DCL_UAV_RAW, Op.DCL_UAV_STRUCTURED})
LINKED = frozenset({Op.DCL_INTERFACE})
"""Declarations that mean something with tables of functions only, which no random program has."""
WRITING = (Stage.PIXEL, Stage.COMPUTE)
"""Stages that have views for unordered access."""
EMITTING = decode(
    assemble("""gs_5_0
dcl_inputprimitive triangle
dcl_outputtopology trianglestrip
dcl_maxout 4
dcl_gsinstances 2
""")
).instructions
"""Declarations that geometry shaders cannot do without, and bounds."""
ONE = Operand(File.IMMEDIATE, selection=Selection.ONE, words=(1,))


def is_built(version: Version, instruction: Instruction) -> bool:
    """Whether an instruction is none of those that are refused by name."""
    if instruction.op.row.declares is not None:
        return instruction.op not in (LINKED if version.stage in WRITING else LINKED | UNORDERED)
    if version.stage not in WRITING and any(o.file is File.UAV for o in instruction.operands):
        return False
    if any(operand.file in LEFT_OUT for operand in instruction.operands):
        return False
    return instruction.op in EVALUATE or instruction.op in CONTROL | MARKERS | {Op.LABEL}


def with_operands_that_are(instruction: Instruction) -> Instruction:
    """The same with 1 in the place of registers that are refused by name."""
    if instruction.op.row.declares is not None:
        return instruction
    operands = (ONE if each.file in REFUSED else each for each in instruction.operands)
    return replace(instruction, operands=tuple(operands))


def built(seed: int, version: Version, avoid: frozenset[Op] = frozenset()) -> Program:
    """A program by chance without what is refused; opcodes in ``avoid`` only control flow."""
    program = decode(generate(Random(seed), version, length=12, avoid=avoid))
    good = filter(partial(is_built, program.version), program.instructions)
    kept = tuple(map(with_operands_that_are, good))
    if version.stage is Stage.GEOMETRY:
        kept = (*EMITTING, *(each for each in kept if each.op not in {e.op for e in EMITTING}))
    return Program(program.version, kept)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(BUILT))
def test_valid_programs_are_lowered_and_run(seed: int, version: Version) -> None:
    assert execute(lower(built(seed, version)), lanes=4).alive.shape == (4,)


DECLARED = decode(
    assemble("""hs_5_0
hs_decls
dcl_input_control_point_count 3
dcl_output_control_point_count 4
dcl_tessellator_domain domain_quad
dcl_tessellator_partitioning partitioning_pow2
dcl_tessellator_output_primitive output_line
""")
).instructions
"""What hull shaders cannot do without."""


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32))
def test_valid_hull_programs_are_lowered_and_their_phases_run(seed: int) -> None:
    program = built(seed, HULL)
    head, *rest = program.instructions
    own = {each.op for each in DECLARED}
    others = [each for each in rest if each.op not in own]
    found = lower_hull(replace(program, instructions=(head, *DECLARED[1:], *others)))
    assert (found.takes, found.makes) == (3, 4)
    phases = [each.shader for each in found.constants]
    for phase in [*phases, *([found.points] if found.points else [])]:
        assert execute(phase, lanes=4).alive.shape == (4,)


@pytest.mark.parametrize("row", recorded(), ids=[row["shader"] for row in recorded()])
def test_recorded_shaders_of_stages_that_are_built_run(row: dict[str, Any]) -> None:
    program = decode(bytes.fromhex(row["tokens"]))
    if program.version not in BUILT:
        with pytest.raises(Unsupported, match=f"{program.version.stage.name.lower()} shaders"):
            lower(program)
        return
    found: Lowered4 = lower(program)
    inputs = {port.name: [0, 1, 2, 3] for port in found.program.inputs}
    result = execute(found, inputs, lanes=4)
    assert set(result.outputs) == {port.name for port in found.program.outputs}
    assert {f"o{o.number}" for o in found.outputs if program.version.stage is Stage.VERTEX} <= {
        name.partition(".")[0] for name in result.outputs
    }

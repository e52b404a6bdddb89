"""Traces of programs: steps are instructions, with the registers that they read and write."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dp2emu.ddi10.shaders.shader import pixel_shader
from dp2emu.dp2.shaders import lowered_pixel, lowered_vertex
from dp2emu.errors import Unsupported
from dp2emu.explain import shader_trace
from dp2emu.explain.shader_trace import Run, ShaderTrace, trace
from dp2emu.shader import ir
from dp2emu.shader.builder import Builder
from dp2emu.shader.origins import origins_of
from dp2emu.shader.passes import coalesce_copies
from dp2emu.shader.reference import Environment
from dp2emu.shader.sm import assemble
from dp2emu.shader.sm4 import assemble as assemble10
from dp2emu.shader.types import Lanes

LANE = 2


def traced(program: ir.Program, **values: Any) -> ShaderTrace:
    """The trace of a lane; inputs are the numbers of lanes, or ``values`` by port or file."""

    def lanes(name: str, type: ir.Type, count: int) -> Lanes:
        usual = np.arange(count) if count == 4 else np.zeros(count)
        return np.resize(values.get(name.replace(".", "_"), usual), count).astype(type.dtype)

    inputs = {port.name: lanes(port.name, port.type, 4) for port in program.inputs}
    files = {f.name: lanes(f.name, f.type, f.size) for f in program.files if f.uniform}
    made, _ = trace(Run(program, inputs, files, 4, Environment()), LANE, "lane 2", "pixel")
    return made


def pixel(text: str) -> ir.Program:
    return lowered_pixel(assemble(text), None).program


def told(made: ShaderTrace) -> list[tuple[str, dict[str, float], dict[str, float]]]:
    """Text, reads and writes of the steps that are instructions."""
    return [
        (s.instruction, *({v.name: v.number for v in part} for part in (s.reads, s.writes)))
        for s in made.steps
        if s.offset is not None
    ]


def test_steps_are_instructions_with_the_registers_they_read_and_write() -> None:
    program = pixel(
        "ps_2_0\ndef c1, 2,3,4,5\ndcl t0\nmul r0.xy, t0, c1\nadd r0, r0.y, c0\nmov oC0, r0"
    )
    made = traced(program, c=[0.5])
    assert told(made)[:2] == [
        ("mul r0.xy, t0, c1", {"t0.x": 2, "t0.y": 2}, {"r0.x": 4, "r0.y": 6}),
        (
            "add r0, r0.y, c0",
            {"r0.y": 6, "c0.x": 0.5, "c0.y": 0.5, "c0.z": 0.5, "c0.w": 0.5},
            dict.fromkeys(("r0.x", "r0.y", "r0.z", "r0.w"), 6.5),
        ),
    ]
    assert made.disassembly[3] == "mul r0.xy, t0, c1"
    assert {v.name: v.number for v in made.final.outputs} == dict.fromkeys(
        ("target0.x", "target0.y", "target0.z", "target0.w"), 6.5
    )


def test_registers_of_shader_model_4_have_the_type_they_were_computed_in() -> None:
    text = """ps_4_0
dcl_constantbuffer cb0[4], dynamicIndexed
dcl_input_ps linear v1.xyzw
dcl_input_ps_siv linear noperspective v2.xy, position
dcl_output o0.xyzw
dcl_temps 3
ftoi r0.x, v1.x
mov r1.y, cb0[r0.x + 1].y
add r2.x, v2.x, v1.x
mul r2.x, r2.x, r2.x
mov o0, r2.x
ret"""
    steps = told(made := traced(pixel_shader(assemble10(text)).program, cb0=[7]))
    assert made.steps[0].writes[0].type == "i32" and made.steps[0].writes[0].integer == 2
    assert [value.name for value in made.steps[1].reads] == ["r0.x", "cb0[3].y"]
    assert steps[2] == ("add r2.x, v2.xyzw, v1.xyzw", {"v2.x": 2.5, "v1.x": 2}, {"r2.x": 4.5}) or (
        steps[2][1:] == ({"v2.x": 2.5, "v1.x": 2}, {"r2.x": 4.5})
    )
    assert steps[3][1:] == ({"r2.x": 4.5}, {"r2.x": 20.25})


def test_a_branch_that_the_lane_does_not_take_has_no_steps() -> None:
    program = pixel("ps_2_x\ndcl t0\nmov r0, t0\nif b0\nadd r0, r0, r0\nelse\nrcp r0, r0.x\n"
                    "endif\nmov oC0, r0")  # fmt: skip
    assert [step[0] for step in told(traced(program, b=[0]))][1:3] == ["if b0", "rcp r0, r0.x"]
    assert [step[0] for step in told(traced(program, b=[1]))][1:3] == ["if b0", "add r0, r0, r0"]


def test_every_iteration_of_a_loop_has_its_steps() -> None:
    program = pixel("ps_2_x\ndefi i0, 3, 0, 0, 0\ndcl t0\nmov r0, t0\nrep i0\n"
                    "add r0.x, r0.x, r0.x\nendrep\nmov oC0, r0")  # fmt: skip
    steps = [step for step in told(traced(program)) if step[0].startswith("add")]
    assert [step[2]["r0.x"] for step in steps] == [4, 8, 16]


def test_a_trace_of_too_many_steps_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shader_trace, "MOST_STEPS", 3)
    with pytest.raises(Unsupported, match="traces of more than 3 steps"):
        traced(pixel("ps_2_0\ndcl t0\nmov r0, t0\nmov oC0, r0"))


def test_a_subroutine_has_steps_for_each_call() -> None:
    code = assemble("vs_2_0\ndcl_position v0\nmov r0, v0\ncall l0\ncall l0\nmov oPos, r0\nret\n"
                    "label l0\nadd r0.x, r0.x, r0.y\nret")  # fmt: skip
    steps = [s for s in told(traced(lowered_vertex(code).program)) if s[0].startswith("add")]
    assert [step[2]["r0.x"] for step in steps] == [4, 6]


def test_a_discarded_pixel_is_told_at_the_instruction_that_discards_it() -> None:
    program = pixel("ps_2_0\ndcl t0\nadd r0, t0, -c0\ntexkill r0\nmov oC0, r0")
    made = traced(program, c=[3])
    assert [step.instruction for step in made.steps if step.killed] == ["texkill r0"]
    assert made.final.killed
    assert not traced(program, c=[1]).final.killed


@pytest.mark.parametrize(("start", "name"), [(0.0, "rcp r0.x, r0.x"), (np.nan, "mul r0, t0, c0")])
def test_the_first_step_that_writes_a_nan_or_infinity_is_found(start: float, name: str) -> None:
    program = pixel("ps_2_0\ndcl t0\nmul r0, t0, c0\nrcp r0.x, r0.x\nmov oC0, r0")
    step = traced(program, c=[start]).not_finite()
    assert step is not None and step.instruction == name
    assert traced(program, c=[1]).not_finite() is None


def test_masks_of_shader_model_4_are_no_nan() -> None:
    text = "ps_4_0\ndcl_input_ps linear v1.xyzw\ndcl_output o0.xyzw\ndcl_temps 1\n" \
           "lt r0, v1, l(9.0, 9.0, 9.0, 9.0)\nmov o0, r0\nret"  # fmt: skip
    assert traced(pixel_shader(assemble10(text)).program).not_finite() is None


def test_steps_have_the_line_of_their_instruction() -> None:
    made = traced(pixel("ps_2_0\ndcl t0\nmov r0, t0\nmov r0, t0\nmov oC0, r0"))
    assert [step.line for step in made.steps[:4]] == [2, 3, 4, None]
    assert made.disassembly[2] == made.disassembly[3] == "mov r0, t0"


def test_a_generated_program_has_its_statements_as_steps() -> None:
    b = Builder(ir.Stage.PIXEL)
    b.output("target0.x", b.input("color0.x") * 2.0)
    made = traced(b.program())
    assert [step.instruction for step in made.steps] == [
        "f0 = input color0.x", "f1 = mul f0 2.0", "output target0.x f1",
    ]  # fmt: skip
    assert made.disassembly[0] == "pixel"


def test_programs_are_as_they_are_without_their_origins() -> None:
    program = pixel("ps_2_0\ndcl t0\nmul r0, t0, c0\nmad r0, r0, r0, c1\nmov oC0, r0")
    before = hash(program)
    found = origins_of(program)
    assert found is not None
    assert coalesce_copies(found.program.statements) == program.statements
    assert found.program.slots == program.slots and hash(program) == before


def test_the_document_is_plain_data_with_the_number_of_its_form() -> None:
    made = traced(pixel("ps_2_0\ndcl t0\nmov r0, t0\nmov oC0, r0")).document()
    assert made["schema"] == 1
    assert made["steps"][0]["writes"][0] == {"name": "r0.x", "bits": 0x40000000, "type": "f32"}

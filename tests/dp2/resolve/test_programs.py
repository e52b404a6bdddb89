"""What programs are given of the state besides numbers."""

from __future__ import annotations

import pytest

from dp2emu.d3d.enums import DeclUsage, RenderState, TextureArgument, TextureOp, TextureStageState
from dp2emu.d3d.fvf import fvf_layout
from dp2emu.dp2.resolve.programs import Source, vertex_stage, wraps
from dp2emu.dp2.shaders import Function
from dp2emu.dp2.states.raw_state import State
from dp2emu.shader.fixed.pixel import CURRENT, Argument, Combination, FixedPixel, TextureStage
from dp2emu.shader.fixed.pixel import pixel_program as generated
from dp2emu.shader.ir import Program, TextureKind
from dp2emu.shader.sm.assemble import assemble
from dp2emu.shader.sm.decode import decode

ON_SCREEN, IN_SPACE = fvf_layout(0x004 | 0x300), fvf_layout(0x002 | 0x300)
TEXTURE = Argument(TextureArgument.TEXTURE)
ADD = Combination(TextureOp.ADD, (CURRENT, TEXTURE, CURRENT))


def reading(*sets: int) -> Program:
    """A pixel program that reads these coordinate sets."""
    stages = [
        TextureStage(ADD, texture=TextureKind.TEX2D) if number in sets else TextureStage(
            Combination(TextureOp.DISABLE))
        for number in range(max(sets) + 1)
    ]  # fmt: skip
    return generated(FixedPixel(tuple(stages)))


def state(indices: dict[int, int] | None = None, **wrap: int) -> State:
    made = State(has_depth=False)
    for name, value in wrap.items():
        made.set_render_state(RenderState[name], value)
    for stage, index in (indices or {}).items():
        made.set_texture_stage_state(stage, TextureStageState.TEXCOORDINDEX, index)
    return made


SHADER = assemble("vs_1_1\ndcl_position v0\nmov oPos, v0\n")
VERTEX_SHADER = Function(1, SHADER, decode(SHADER))


def test_nothing_wraps_by_default() -> None:
    assert wraps(state(), Source(IN_SPACE), reading(0, 1)) == ()


def test_sets_that_are_read_wrap_and_others_do_not_matter() -> None:
    made = state(WRAP0=3, WRAP1=1, WRAP2=0x14, WRAP3=2)
    assert wraps(made, Source(IN_SPACE), reading(0, 2)) == (3, 0, 4)
    assert wraps(made, Source(IN_SPACE), reading(0)) == (3,)
    assert wraps(made, Source(IN_SPACE), generated(FixedPixel())) == ()


@pytest.mark.parametrize("layout", [ON_SCREEN, IN_SPACE])
def test_stage_wraps_as_the_set_it_names(layout: object) -> None:
    made = state({0: 2, 1: 0x20001}, WRAP1=1, WRAP2=2)
    assert wraps(made, Source(layout), reading(0, 1)) == (2, 1)  # type: ignore[arg-type]


def test_index_beyond_all_wraps_does_not_wrap() -> None:
    assert wraps(state({0: 0xFFFF}, WRAP15=1), Source(IN_SPACE), reading(0)) == ()


def test_vertex_shader_wraps_by_its_own_numbers() -> None:
    made = state({0: 2}, WRAP0=1, WRAP2=2)
    assert wraps(made, Source(IN_SPACE, VERTEX_SHADER), reading(0)) == (1,)
    assert wraps(made, Source(ON_SCREEN, VERTEX_SHADER), reading(0)) == (2,)


def attributes(made: State, layout: object = ON_SCREEN, *sets: int) -> dict[str, int | None]:
    """Which texture coordinate set each name stands for."""
    source = Source(layout)  # type: ignore[arg-type]
    stage = vertex_stage(made, source, reading(*sets), 9, {})
    return {
        each.name: each.element.index if each.element else None
        for each in stage.attributes
        if each.element is None or each.element.usage is DeclUsage.TEXCOORD
    }


def test_sets_in_their_order_need_no_names() -> None:
    assert attributes(state(), ON_SCREEN, 0, 1, 2) == {}


def test_stages_on_the_screen_name_their_sets_however_they_are_generated() -> None:
    made = state({0: 2, 1: 0x30000, 2: 5})
    names = {"texcoord0": 2, "texcoord1": 0, "texcoord2": None}
    assert attributes(made, ON_SCREEN, 0, 1, 2) == names

"""The cascade of texture stages, as the raw state asks for it."""

from __future__ import annotations

import struct
from typing import cast

import pytest

from dp2emu.d3d.enums import (
    DeclType,
    DeclUsage,
    RenderState,
    TextureArgument,
    TextureOp,
    TextureStageState,
)
from dp2emu.d3d.flags import ArgumentModifier
from dp2emu.d3d.vertices import Element, VertexLayout
from dp2emu.dp2.resolve.programs import Source, cascade, cascade_uniforms, projection
from dp2emu.dp2.shaders import Function
from dp2emu.dp2.states.raw_state import State
from dp2emu.errors import Fault
from dp2emu.shader.fixed.pixel import (
    CURRENT,
    DISABLED,
    OPERATIONS,
    Argument,
    Combination,
    TextureStage,
)
from dp2emu.shader.ir import TextureKind

FLAT = TextureKind.TEX2D
TEXTURE = Argument(TextureArgument.TEXTURE)
DIFFUSE = Argument(TextureArgument.DIFFUSE)


def state(*stages: dict[str, int]) -> State:
    """A state whose first stages have these values over the defaults of a device."""
    made = State(has_depth=False)
    for number, values in enumerate(stages):
        for name, value in values.items():
            made.set_texture_stage_state(number, TextureStageState[name], value)
    return made


def select(argument: int, **more: int) -> dict[str, int]:
    return {
        "COLOROP": TextureOp.SELECTARG1, "COLORARG1": argument,
        "ALPHAOP": TextureOp.SELECTARG1, "ALPHAARG1": argument, **more,
    }  # fmt: skip


def selected(source: TextureArgument, **more: bool) -> Combination:
    return Combination(TextureOp.SELECTARG1, (CURRENT, Argument(source, **more), CURRENT))


def test_device_defaults_modulate_the_texture_with_the_diffuse_colour() -> None:
    color = Combination(TextureOp.MODULATE, (CURRENT, TEXTURE, CURRENT))
    alpha = Combination(TextureOp.SELECTARG1, (CURRENT, TEXTURE, CURRENT))
    assert cascade(state(), {0: FLAT}) == (TextureStage(color, alpha, texture=FLAT),)


def test_disable_ends_the_cascade() -> None:
    made = state(select(0), {"COLOROP": TextureOp.DISABLE}, select(0))
    assert len(cascade(made, {})) == 1
    assert cascade(state({"COLOROP": TextureOp.DISABLE}, select(0)), {}) == ()


@pytest.mark.parametrize("stages", range(9))
def test_cascade_has_up_to_eight_stages(stages: int) -> None:
    made = state(*[select(TextureArgument.TFACTOR)] * stages, {"COLOROP": TextureOp.DISABLE})
    assert len(cascade(made, {})) == stages


def test_colour_that_lacks_its_texture_ends_the_cascade() -> None:
    made = state(select(0), select(TextureArgument.TEXTURE), select(0))
    assert len(cascade(made, {})) == 1
    assert len(cascade(made, {1: TextureKind.CUBE})) == 3


def test_alpha_that_lacks_its_texture_is_left_alone() -> None:
    values = select(TextureArgument.TFACTOR, ALPHAARG1=TextureArgument.TEXTURE)
    (stage,) = cascade(state(values), {})
    assert stage.alpha == DISABLED
    (stage,) = cascade(state(values), {0: FLAT})
    assert stage.alpha == selected(TextureArgument.TEXTURE)


@pytest.mark.parametrize("kind", TextureKind)
def test_stage_knows_the_shape_of_its_texture(kind: TextureKind) -> None:
    assert cascade(state(), {0: kind})[0].texture is kind


@pytest.mark.parametrize("source", TextureArgument)
@pytest.mark.parametrize("complement", [False, True])
@pytest.mark.parametrize("alpha", [False, True])
def test_argument_is_a_source_with_modifiers(
    source: TextureArgument, complement: bool, alpha: bool
) -> None:
    value = source | (ArgumentModifier.COMPLEMENT if complement else 0)
    value |= ArgumentModifier.ALPHAREPLICATE if alpha else 0
    wanted = selected(source, complement=complement, alpha=alpha)
    (stage,) = cascade(state(select(value)), {0: FLAT})
    assert (stage.color, stage.alpha) == (wanted, wanted)


@pytest.mark.parametrize("op", [op for op in TextureOp if op is not TextureOp.DISABLE])
def test_arguments_an_operation_does_not_read_change_nothing(op: TextureOp) -> None:
    """Not even when they are none at all."""
    names = ("COLORARG0", "COLORARG1", "COLORARG2")
    (stage,) = cascade(state({"COLOROP": op, **dict.fromkeys(names, 0)}), {0: FLAT})
    assert stage.color.op is op
    for place, name in enumerate(names):
        odd = state({"COLOROP": op, **dict.fromkeys(names, 0), name: 7})
        if place in OPERATIONS[op].arguments:
            assert stage.color.arguments[place] == DIFFUSE
            with pytest.raises(Fault, match=name):
                cascade(odd, {0: FLAT})
        else:
            assert cascade(odd, {0: FLAT}) == (stage,)


@pytest.mark.parametrize("value", [0, 27])
@pytest.mark.parametrize("name", ["COLOROP", "ALPHAOP"])
def test_operation_there_is_not_is_a_fault(name: str, value: int) -> None:
    with pytest.raises(Fault, match=f"D3DTSS_{name} of stage 0 is {value}"):
        cascade(state(select(0, **{name: value})), {})


def test_dot_product_makes_the_alpha_operation_matter_no_more() -> None:
    (stage,) = cascade(state(select(0, COLOROP=TextureOp.DOTPRODUCT3, COLORARG2=0)), {})
    assert stage.alpha == DISABLED


def test_result_goes_to_current_unless_it_is_temp() -> None:
    assert not cascade(state(select(0, RESULTARG=TextureArgument.CURRENT)), {})[0].temp
    assert cascade(state(select(0, RESULTARG=TextureArgument.TEMP)), {})[0].temp


@pytest.mark.parametrize(
    ("flags", "component"),
    [
        (0, None),
        (2, None),
        (4, None),
        (256, 3),
        (257, None),
        (258, 1),
        (259, 2),
        (260, 3),
        (265, 3),
    ],
)
def test_projection_divides_by_the_last_coordinate_counted(
    flags: int, component: int | None
) -> None:
    made = state({}, {"TEXTURETRANSFORMFLAGS": flags})
    assert (projection(made, 0), projection(made, 1)) == (None, component)
    stages = cascade(state(select(0, TEXTURETRANSFORMFLAGS=flags)), {})
    assert stages[0].projection == component


def source(coordinates: int, *, shader: bool = False) -> Source:
    """Vertices with a set of texture coordinates 0, which a shader may process."""
    kind = (DeclType.FLOAT1, DeclType.FLOAT2, DeclType.FLOAT3, DeclType.FLOAT4)[coordinates - 1]
    elements = (Element(0, 0, kind, DeclUsage.TEXCOORD),)
    function = cast(Function, object()) if shader else None
    return Source(VertexLayout(elements, False), function)


@pytest.mark.parametrize(
    ("flags", "coordinates", "component"),
    [(256, 4, 3), (256, 3, 2), (256, 2, 1), (256, 1, None), (0xFFFFFFFF, 3, 2), (259, 2, 2),
     (260, 2, 3)],
)  # fmt: skip
def test_projection_without_a_count_divides_by_the_last_coordinate_that_vertices_have(
    flags: int, coordinates: int, component: int | None
) -> None:
    made = state({"TEXTURETRANSFORMFLAGS": flags})
    assert projection(made, 0, source(coordinates)) == component


@pytest.mark.parametrize("flags", [256, 258, 259, 260, 0xFFFFFFFF])
def test_projection_after_a_vertex_shader_divides_by_the_fourth_coordinate(flags: int) -> None:
    made = state({"TEXTURETRANSFORMFLAGS": flags})
    assert projection(made, 0, source(3, shader=True)) == 3


def test_numbers_of_the_stages_lie_where_programs_read_them() -> None:
    names = ("BUMPENVMAT00", "BUMPENVMAT01", "BUMPENVMAT10", "BUMPENVMAT11",
             "BUMPENVLSCALE", "BUMPENVLOFFSET")  # fmt: skip
    numbers = {name: 0.5 + place for place, name in enumerate(names)}
    bits = {name: struct.unpack("<I", struct.pack("<f", x))[0] for name, x in numbers.items()}
    made = state(*[{}] * 3, {"CONSTANT": 0x33FF0066, **bits})
    made.set_render_state(RenderState.TEXTUREFACTOR, 0xFF336600)
    files = cascade_uniforms(made)
    tenth = pytest.approx(0.2)
    assert list(files["factor"][:4]) == [tenth, pytest.approx(0.4), 0.0, 1.0]
    assert list(files["factor"][16:20]) == [1.0, 0.0, pytest.approx(0.4), tenth]
    assert list(files["stage"][18:24]) == list(numbers.values())
    assert {name: file.shape for name, file in files.items()} == {"factor": (36,), "stage": (48,)}

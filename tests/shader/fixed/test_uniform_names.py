"""Names of the scalars of the fixed function's uniform file."""

from __future__ import annotations

from dp2emu.d3d.enums import FogMode
from dp2emu.shader.fixed.records import FixedVertex, Lighting, TextureOutput
from dp2emu.shader.fixed.uniform_names import uniform_name
from dp2emu.shader.fixed.uniforms import uniform_layout
from dp2emu.shader.fixed.vertex import key_of, vertex_program

EVERYTHING = FixedVertex(
    normal=True,
    lighting=Lighting(points=1, spots=2, directionals=1, specular=True),
    weights=1,
    tween=True,
    fog=FogMode.EXP,
    textures=(TextureOutput(), TextureOutput(count=2)),
    point_scale=True,
    clip_planes=2,
)


def test_each_scalar_of_a_file_has_a_name_of_its_own() -> None:
    size = uniform_layout(EVERYTHING).size
    names = [uniform_name(EVERYTHING, scalar) for scalar in range(size)]
    assert None not in names and len(set(names)) == size
    assert [uniform_name(EVERYTHING, scalar) for scalar in (-1, size)] == [None, None]


def test_names_are_those_of_the_state() -> None:
    offsets = uniform_layout(EVERYTHING).offsets
    names = {
        ("clip_matrix", 16 + 6): "clip_matrix1[1][2]",
        ("normal_matrix", 5): "normal_matrix0[1][2]",
        ("clip_plane", 7): "clip_plane1.w",
        ("texture", 4): "texture1[1][0]",
        ("ambient", 2): "ambient.b",
        ("material", 12): "material.emissive.r",
        ("material", 16): "material.power",
        ("lights", 9): "point_light0.position.x",
        ("lights", 2 * 22 + 17): "spot_light1.attenuation.1",
        ("lights", 3 * 22 + 15): "directional_light0.range",
        ("fog", 2): "fog.density",
        ("point", 0): "point.size",
        ("tween", 0): "tween",
    }
    for (block, scalar), name in names.items():
        assert uniform_name(EVERYTHING, offsets[block] + scalar) == name


def test_a_program_has_the_key_that_it_was_made_of() -> None:
    program = vertex_program(EVERYTHING)
    assert key_of(program) == EVERYTHING
    assert key_of(vertex_program(FixedVertex())) == FixedVertex()

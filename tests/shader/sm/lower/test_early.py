"""Texture operations of ps_1_1 to ps_1_3 and of ps_1_4."""

from __future__ import annotations

import numpy as np
import pytest

from dp2emu.shader.ir import TextureKind
from dp2emu.shader.stages import STAGE_SCALARS, STAGES
from tests.shader.sm.lower.running import Texture, execute, inputs, lowered, ps, vector

T0, T1 = (0.25, 0.5, 0.75, 2.0), (3.0, -4.0, 5.0, 8.0)
T2, T3 = (1.0, 2.0, -1.0, 6.0), (0.5, 0.25, 2.0, 7.0)
GIVEN = inputs(texcoord0=T0, texcoord1=T1, texcoord2=T2, texcoord3=T3)


def run(body: str, version: str = "ps_1_3", **options: object) -> list[float]:
    return ps(body, version, inputs=GIVEN, **options)


def cube(*stages: int) -> dict[str, object]:
    return {"sampler_kinds": dict.fromkeys(stages, TextureKind.CUBE)}


def dot(x: tuple[float, ...], y: tuple[float, ...]) -> float:
    return sum(a * b for a, b in zip(x[:3], y[:3], strict=True))


def stages() -> np.ndarray:
    """Bump matrices and luminance of each stage, all different."""
    return np.arange(STAGES * STAGE_SCALARS, dtype=np.float32) / 8


def test_tex_samples_its_own_stage_and_coordinates() -> None:
    assert run("tex t1\nmov r0, t1") == [3, -4, 0, 1]
    assert run("tex t1\nmov r0, t1", bound=cube(1)) == [3, -4, 5, 1]


def test_tex_divides_where_the_stage_says_so() -> None:
    assert run("tex t1\nmov r0, t1", bound={"projections": {1: 3}}) == [3 / 8, -0.5, 0, 1]
    assert run("tex t1\nmov r0, t1", bound={"projections": {0: 3}}) == [3, -4, 0, 1]


def test_texcoord_clamps_coordinates() -> None:
    assert run("texcoord t1\nmov r0, t1") == [1, 0, 1, 1]
    assert run("texcoord t0\nmov r0, t0") == [0.25, 0.5, 0.75, 1]


@pytest.mark.parametrize("kinds", [{}, {"sampler_kinds": {1: TextureKind.VOLUME}}])
def test_texbem_moves_coordinates_by_the_matrix_of_its_stage(kinds: dict[str, object]) -> None:
    m00, m01, m10, m11, _, _ = (6 / 8, 7 / 8, 1, 9 / 8, 10 / 8, 11 / 8)
    u = 3 + m00 * 0.25 + m10 * 0.5
    v = -4 + m01 * 0.25 + m11 * 0.5
    found = run("tex t0\ntexbem t1, t0\nmov r0, t1", uniforms={"stage": stages()}, bound=kinds)
    assert found == [u, v, 5 if kinds else 0, 1]


def test_texbem_divides_the_coordinates_but_not_what_moves_them() -> None:
    options = {"uniforms": {"stage": stages()}, "bound": {"projections": {1: 3}}}
    found = run("tex t0\ntexbem t1, t0\nmov r0, t1", **options)
    assert found[:2] == [3 / 8 + 6 / 8 * 0.25 + 0.5, -0.5 + 7 / 8 * 0.25 + 9 / 8 * 0.5]


def test_texbeml_scales_colour_but_not_alpha() -> None:
    body = "texcoord t0\ntexbem{} t1, t0\nmov r0, t1"
    plain = run(body.format(""), uniforms={"stage": stages()})
    luminance = 0.75 * 10 / 8 + 11 / 8
    wanted = [x * luminance for x in plain[:3]] + [1]
    assert run(body.format("l"), uniforms={"stage": stages()}) == wanted


@pytest.mark.parametrize(
    ("op", "wanted"), [("texreg2ar", [0, 0.25, 0, 2]), ("texreg2gb", [0.5, 0.75, 0, 2])]
)
def test_texreg_samples_at_components(op: str, wanted: list[float]) -> None:
    texel = "texcoord t0" if op == "texreg2gb" else "tex t0"
    assert run(f"{texel}\n{op} t2, t0\nmov r0, t2") == wanted


def test_coordinates_the_register_does_not_give_are_0() -> None:
    assert run("tex t0\ntexreg2ar t2, t0\nmov r0, t2", bound=cube(2)) == [0, 0.25, 0, 2]


def test_texreg2rgb_samples_at_colour() -> None:
    assert run("texcoord t0\ntexreg2rgb t2, t0\nmov r0, t2", bound=cube(2)) == [0.25, 0.5, 0.75, 2]


N = (0.25, 0.5, 0.75)


def test_texm3x2tex_samples_at_two_products() -> None:
    found = run("texcoord t0\ntexm3x2pad t1, t0\ntexm3x2tex t2, t0\nmov r0, t2")
    assert found == [dot(T1, N), dot(T2, N), 0, 2]


def test_rows_read_the_source_signed() -> None:
    found = run("texcoord t0\ntexm3x2pad t1, t0_bx2\ntexm3x2tex t2, t0_bx2\nmov r0, t2")
    signed = (-0.5, 0.0, 0.5)
    assert found == [dot(T1, signed), dot(T2, signed), 0, 2]


MATRIX = "texcoord t0\ntexm3x3pad t1, t0\ntexm3x3pad t2, t0\n{} t3, t0{}\nmov r0, t3"
PRODUCTS = [dot(T1, N), dot(T2, N), dot(T3, N)]


def test_texm3x3tex_samples_at_three_products() -> None:
    assert run(MATRIX.format("texm3x3tex", ""), bound=cube(3)) == [*PRODUCTS, 3]


def test_texm3x3_gives_the_products() -> None:
    assert run(MATRIX.format("texm3x3", "")) == [*PRODUCTS, 1]


def reflected(eye: tuple[float, ...]) -> list[float]:
    factor = 2 * dot(tuple(PRODUCTS), eye) / dot(tuple(PRODUCTS), tuple(PRODUCTS))
    return [factor * n - e for n, e in zip(PRODUCTS, eye, strict=True)]


def test_texm3x3spec_reflects_a_constant() -> None:
    found = run(
        MATRIX.format("texm3x3spec", ", c1"),
        uniforms={"c": np.array([0, 0, 0, 0, 0.5, -0.25, 1, 0], np.float32)},
        bound=cube(3),
    )
    assert found == pytest.approx([*reflected((0.5, -0.25, 1)), 3], rel=1e-6)


def test_texm3x3vspec_reflects_w_of_the_coordinates() -> None:
    found = run(MATRIX.format("texm3x3vspec", ""), bound=cube(3))
    assert found == pytest.approx([*reflected((8, 6, 7)), 3], rel=1e-6)


def test_texdp3_gives_a_product_and_texdp3tex_samples_there() -> None:
    assert run("texcoord t0\ntexdp3 t1, t0\nmov r0, t1") == [dot(T1, N)] * 4
    assert run("texcoord t0\ntexdp3tex t1, t0\nmov r0, t1", bound=cube(1)) == [dot(T1, N), 0, 0, 1]


@pytest.mark.parametrize(
    ("second", "wanted"), [((1, 2, -1, 0), dot(T1, N) / dot((1, 2, -1), N)), ((0, 0, 0, 0), 1.0)]
)
def test_texm3x2depth_divides_the_products(second: tuple[float, ...], wanted: float) -> None:
    shader = lowered("ps_1_3\ntexcoord t0\ntexm3x2pad t1, t0\ntexm3x2depth t2, t0\nmov r0, t0")
    assert "depth" in shader.outputs
    given = {**GIVEN, **inputs(texcoord2=second)}
    result = execute(shader.program, given, lanes=4)
    assert result.outputs["depth.x"][0] == np.float32(wanted)


@pytest.mark.parametrize(
    ("red", "green", "wanted"), [(0.5, 0.75, 0.5 / 0.75), (0.5, 4.0, 0.5), (0.5, 0.0, 1.0)]
)
def test_texdepth_divides_red_by_green(red: float, green: float, wanted: float) -> None:
    text = "ps_1_4\ntexcrd r5, t0\nphase\ntexdepth r5\nmov r0, r5"
    shader = lowered(text)
    assert "depth" in shader.outputs
    result = execute(shader.program, inputs(texcoord0=(red, green)), lanes=4)
    assert result.outputs["depth.x"][0] == np.float32(wanted)


def test_bem_moves_by_the_matrix_of_its_destination() -> None:
    body = "texcrd r1, t0\ntexcrd r2, t1\nbem r2.rg, r1, r2\nmov r0, r2"
    m00, m01, m10, m11 = (12 / 8, 13 / 8, 14 / 8, 15 / 8)
    found = run(body, "ps_1_4", uniforms={"stage": stages()})
    assert found == [0.25 + m00 * 3 + m10 * -4, 0.5 + m01 * 3 + m11 * -4, 5, 8]


def test_texld_of_ps_1_4_samples_the_stage_of_its_destination() -> None:
    assert run("texld r2, t1\nmov r0, r2", "ps_1_4") == [3, -4, 0, 2]
    body = "texcrd r1, t1\nphase\ntexld r2, r1\nmov r0, r2"
    assert run(body, "ps_1_4", bound=cube(2)) == [3, -4, 5, 2]


def test_texcrd_does_not_clamp() -> None:
    assert run("texcrd r0, t1", "ps_1_4") == [3, -4, 5, 8]


def test_samplers_are_told() -> None:
    shader = lowered("ps_1_1\ntex t0\ntex t2\nmov r0, t0", **cube(2))
    assert shader.samplers == ((0, TextureKind.TEX2D), (2, TextureKind.CUBE))


def test_texture_register_holds_coordinates_until_it_is_written() -> None:
    assert run("texcoord t1\nadd r0, t0, t1", "ps_1_1") == [1.25, 0.5, 1.75, 3]


def test_fake_sampler_sees_every_sample() -> None:
    texture = Texture()
    program = lowered("ps_1_1\ntex t0\ntex t1\nmul r0, t0, t1").program
    result = execute(program, GIVEN, lanes=4, sampler=texture)
    assert [call[0] for call in texture.calls] == [0, 1]
    assert vector(result, "target0")[:2] == [0.75, -2]

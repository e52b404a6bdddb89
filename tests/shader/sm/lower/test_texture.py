"""Sampling of 2.0 and later, texkill, and screen derivatives."""

from __future__ import annotations

import numpy as np
import pytest

from dp2emu.shader.ir import Lod, TextureKind
from tests.shader.sm.lower.running import Texture, execute, inputs, lowered, vector

GIVEN = inputs(texcoord0=(2, 6, 8, 4), texcoord1=(1, 2, 3, 4), texcoord2=(5, 6, 7, 8))


def sampled(text: str) -> tuple[Texture, list[float]]:
    texture = Texture()
    result = execute(lowered(text).program, GIVEN, lanes=4, sampler=texture)
    return texture, vector(result, "target0")


@pytest.mark.parametrize(
    ("type", "kind"),
    [("2d", TextureKind.TEX2D), ("cube", TextureKind.CUBE), ("volume", TextureKind.VOLUME)],
)
def test_texld_samples_the_declared_kind(type: str, kind: TextureKind) -> None:
    texture, found = sampled(f"ps_2_0\ndcl_{type} s3\ntexld r0, t0, s3\nmov oC0, r0")
    assert texture.calls == [(3, kind, Lod.IMPLICIT, ())]
    assert found == [2, 6, 0 if kind is TextureKind.TEX2D else 8, 3]


@pytest.mark.parametrize(("type", "compared"), [("2d", True), ("cube", False), ("volume", False)])
def test_depths_are_compared_where_the_shader_declares_two_dimensions(
    type: str, compared: bool
) -> None:
    shadow = TextureKind.SHADOW
    text = f"ps_2_0\ndcl_{type} s3\ntexld r0, t0, s3\nmov oC0, r0"
    assert (lowered(text, sampler_kinds={3: shadow}).samplers == ((3, shadow),)) is compared
    early = lowered("ps_1_1\ntex t0\nmov r0, t0", sampler_kinds={0: shadow})
    assert early.samplers == ((0, shadow),)


def test_texldp_divides_by_w() -> None:
    _, found = sampled("ps_2_0\ndcl_volume s0\ntexldp r0, t0, s0\nmov oC0, r0")
    assert found == [0.5, 1.5, 2, 0]


def test_texldb_takes_w_as_bias() -> None:
    texture, found = sampled("ps_2_0\ndcl_2d s0\ntexldb r0, t0, s0\nmov oC0, r0")
    ((_, _, lod, (bias,)),) = texture.calls
    assert (lod, bias.tolist(), found[:2]) == (Lod.BIAS, [4] * 4, [2, 6])


def test_texldl_takes_w_as_level() -> None:
    text = "ps_3_0\ndcl_texcoord v0\ndcl_2d s0\ntexldl r0, v0, s0\nmov oC0, r0"
    ((_, _, lod, (level,)),) = sampled(text)[0].calls
    assert (lod, level.tolist()) == (Lod.EXPLICIT, [4] * 4)


def test_vertex_shader_samples_its_own_samplers() -> None:
    text = "vs_3_0\ndcl_2d s1\ndcl_position o0\ntexldl o0, v0, s1"
    shader = lowered(text)
    assert shader.samplers == ((1, TextureKind.TEX2D),)
    result = execute(shader.program, inputs(v0=(3, 4, 5, 6)))
    assert vector(result, "position0") == [3, 4, 0, 1]


@pytest.mark.parametrize(("type", "wanted"), [("2d", [1, 2, 5, 6]), ("cube", [1, 2, 3, 5, 6, 7])])
def test_texldd_takes_gradients(type: str, wanted: list[float]) -> None:
    text = f"ps_2_x\ndcl_{type} s3\ntexldd r0, t0, s3, t1, t2\nmov oC0, r0"
    texture, found = sampled(text)
    ((_, _, lod, gradients),) = texture.calls
    assert found == [2, 6, 0 if type == "2d" else 8, 3]
    assert (lod, [float(g[0]) for g in gradients]) == (Lod.GRADIENT, wanted)


def test_swizzle_of_the_sampler_rearranges_the_texel() -> None:
    _, found = sampled("ps_3_0\ndcl_texcoord v0\ndcl_2d s5\ntexld r0, v0, s5.wyxx\nmov oC0, r0")
    assert found == [5, 6, 2, 2]


LANES = np.array([1, 1, 1, -1], np.float32)


@pytest.mark.parametrize(
    ("text", "components"),
    [
        ("ps_1_1\ntexkill t0\nmov r0, t0", "xyz"),
        ("ps_1_1\ntex t0\ntexkill t0\nmov r0, t0", "xyz"),
        ("ps_1_4\ntexcrd r0, t0\nphase\ntexkill r0", "xyz"),
        ("ps_2_0\ntexkill t0\nmov oC0, t0", "xyzw"),
        ("ps_2_0\nmov r0, t0\ntexkill r0\nmov oC0, t0", "xyzw"),
        ("ps_3_0\ndcl_texcoord v0\nmov r0, v0\ntexkill r0\nmov oC0, v0", "xyzw"),
    ],
)
def test_texkill_tests_components(text: str, components: str) -> None:
    shader = lowered(text)
    assert shader.kills
    for component in "xyzw":
        given = {f"texcoord0.{component}": np.array([1, 0, -0.0, -1], np.float32)}
        alive = execute(shader.program, given, lanes=4).alive
        assert alive.tolist() == [True, True, True, component not in components]


def test_predicated_texkill_counts_where_the_predicate_is_true() -> None:
    text = """ps_2_x
    def c0, 0, 0, 0, 0
    setp_gt p0, t1, c0
    mov r0, t0
    (p0) texkill r0
    mov oC0, r0"""
    given = {"texcoord0.y": LANES}
    program = lowered(text).program
    assert execute(program, given, lanes=4).alive.all()
    given["texcoord1.y"] = np.ones(4, np.float32)
    assert execute(program, given, lanes=4).alive.tolist() == [True, True, True, False]


def test_texkill_in_a_branch_kills_only_there() -> None:
    text = """ps_2_x
    def c0, 0, 0, 0, 0
    if_gt t1.x, c0.x
    texkill t0
    endif
    mov oC0, t0"""
    given = {"texcoord0.x": -np.ones(4, np.float32), "texcoord1.x": LANES}
    assert execute(lowered(text).program, given, lanes=4).alive.tolist() == [False] * 3 + [True]


@pytest.mark.parametrize(("op", "wanted"), [("dsx", [2, 2, 10, 10]), ("dsy", [9, 17, 9, 17])])
def test_derivatives_are_differences_within_the_quad(op: str, wanted: list[float]) -> None:
    x = np.array([1, 3, 10, 20], np.float32)
    given = {f"texcoord0.{c}": x * n for n, c in enumerate("xyzw", 1)}
    result = execute(lowered(f"ps_2_x\n{op} r0, -t0\nmov oC0, r0").program, given, lanes=4)
    for n, c in enumerate("xyzw", 1):
        assert result.outputs[f"target0.{c}"].tolist() == [-n * each for each in wanted]

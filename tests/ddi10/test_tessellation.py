"""Hull and domain shaders through the entries, by both engines at once: what streams out of the
last stage, what is counted, and what is drawn.
"""

from __future__ import annotations

import struct

import numpy as np
import pytest

from dp2emu.d3d.enums10 import Domain, OutputPrimitive, Partitioning
from dp2emu.ddi10.draws.post_vertex import HullDomainBindings as Tessellating10
from dp2emu.ddi10.resources.resource import BindFlag, ResourceType, SubresourceUP
from dp2emu.ddi10.resources.views import CreateShaderResourceView, CreateTargetView
from dp2emu.ddi10.shaders.shader import domain_shader, hull_shader
from dp2emu.ddi10.shaders.stages import Stage
from dp2emu.ddi10.states.bindings import Viewport
from dp2emu.ddi10.states.state_objects import SamplerDesc
from dp2emu.gpu.command.topology import CORNERS
from dp2emu.gpu.tessellation.factors import EDGES, INSIDES
from dp2emu.gpu.tessellation.tessellate import Tessellator
from dp2emu.shader.sm4 import assemble
from dp2emu.testing.statistic_intervals import Case, Tessellated, ranges
from tests.ddi10.rendering import RGBA8
from tests.ddi10.tessellating import (
    CORNER,
    FIRST,
    PATCH,
    SOME,
    WHOLE,
    Tessellating,
    bits,
    domain,
    factor_phases,
    hull,
)

DOMAINS = {"isoline": Domain.DOMAIN_ISOLINE, "tri": Domain.DOMAIN_TRI, "quad": Domain.DOMAIN_QUAD}
WAYS = [
    (shape, partitioning, output)
    for shape in DOMAINS
    for partitioning in Partitioning
    for output in OutputPrimitive
]


def word_of(member: Partitioning | OutputPrimitive) -> str:
    return member.name.lower()


@pytest.mark.parametrize(("shape", "partitioning", "output"), WAYS)
def test_every_way_to_divide_gives_points_and_primitives_of_the_tessellator(
    shape: str, partitioning: Partitioning, output: OutputPrimitive
) -> None:
    shader = hull(
        shape,
        SOME[shape],
        partitioning=word_of(partitioning).removeprefix("partitioning_"),
        output=word_of(output).removeprefix("output_"),
    )
    coordinates = "xyz" if shape == "tri" else "xy"
    declared = f"dcl_input vDomain.{coordinates}"
    driven = Tessellating(shader, domain(declared=declared, domain=shape))
    found = driven.streamed(8)
    edges = EDGES[DOMAINS[shape]]
    tessellator = Tessellator(DOMAINS[shape], partitioning, output)
    factors = np.array([SOME[shape]] * 2, np.float32).T
    expected = tessellator.tessellate(tessellator.factors(factors[:edges], factors[edges:]))
    corners = expected.corners.T.ravel()
    u, v = expected.u[corners] / 65536, expected.v[corners] / 65536
    assert found[:, :2].view("<f4").tolist() == np.stack((u, v)).T.tolist()
    if shape == "tri":
        assert found[:, 2].view("<f4").tolist() == (1 - u - v).tolist()
    statistics = driven.device.statistics()
    assert (statistics.HSInvocations, statistics.DSInvocations) == (2, len(expected.u))
    assert statistics.GSInvocations == 0
    assert statistics.CInvocations == len(expected.patch)
    corners = len(expected.corners)
    made = Tessellated(len(expected.u), len(expected.patch), corners)
    allowed = ranges([Case(PATCH + 4, 8, tessellation=made, streams=True)])
    assert set(allowed.outside(statistics)) <= {"PSInvocations"}


@pytest.mark.parametrize("output", OutputPrimitive)
@pytest.mark.parametrize("shape", DOMAINS)
def test_what_patches_become_is_known_before(shape: str, output: OutputPrimitive) -> None:
    code = hull(shape, SOME[shape], output=word_of(output).removeprefix("output_"))
    found = Tessellating10(
        Stage(hull=hull_shader(code)), Stage(shader=domain_shader(domain(domain=shape)))
    )
    tessellator = Tessellator(DOMAINS[shape], Partitioning.PARTITIONING_POW2, output)
    ones = np.ones((6, 1), np.float32)
    edges, insides = EDGES[DOMAINS[shape]], INSIDES[DOMAINS[shape]]
    made = tessellator.tessellate(tessellator.factors(ones[:edges], ones[:insides]))
    assert found.topology is not None
    assert CORNERS[found.topology] == len(made.corners)


# What shaders read

POINT_PHASE = """hs_control_point_phase
dcl_input vOutputControlPointID
dcl_input vPrim
dcl_input v[4][1].xyzw
dcl_output o1.xyzw
dcl_temps 1
{body}
ret
"""


def test_points_are_made_one_by_one_of_all_that_come_in() -> None:
    """Six of four: the number of each, of its patch, and the vertex before it."""
    body = """mov o1.x, vOutputControlPointID
mov o1.y, vPrim
iadd r0.x, vOutputControlPointID, l(-1)
mov o1.zw, v[r0.x + 0][1].xxxx"""
    shader = hull(makes=6, points=POINT_PHASE.format(body=body))
    for place in range(6):
        body = FIRST + f"mov o1, vicp[{place}][1].xyzw"
        driven = Tessellating(shader, domain(body, CORNER.format(points=6), points=6))
        found = driven.streamed(8)
        before = place - 1 if 0 <= place - 1 < 4 else None
        for patch in range(2):
            vertex = 0 if before is None else bits(4.0 * patch + before)
            assert set(map(tuple, found[6 * patch : 6 * patch + 6].tolist())) == {
                (place, patch, vertex, vertex)
            }


def test_without_a_phase_of_points_those_that_come_in_pass() -> None:
    body = FIRST + "mov r0.x, vDomain.x\nftou r0.x, r0.x\nmov o1, vicp[r0.x + 2][1].xyzw"
    declared = "dcl_input vDomain.xy\n" + CORNER.format(points=4)
    found = Tessellating(hull(), domain(body, declared)).streamed(4)
    # The corners are those of the triangles 0 1 3 and 1 2 3, of which the middle two have u = 1.
    assert found[:, 0].view("<f4").tolist() == [2, 3, 2, 3, 3, 2]


def test_a_dynamic_register_or_point_that_there_is_none_of_is_0() -> None:
    declared = "dcl_input vDomain.xy\n" + CORNER.format(points=4)
    for index in (-1, 4, 0x7FFFFFFF):
        body = FIRST + f"mov r0.x, l({index})\nmov o1, vicp[r0.x + 0][1].xyzw"
        assert not Tessellating(hull(), domain(body, declared)).streamed(4).any()
    body = FIRST + "mov r0.x, l(77)\nmov o1, vicp[1][r0.x + 0].xyzw"
    assert not Tessellating(hull(), domain(body, declared)).streamed(4).any()


MORE = """hs_fork_phase
dcl_hs_fork_phase_instance_count 3
dcl_input vForkInstanceID
dcl_input vPrim
dcl_input vicp[4][1].xyzw
dcl_output o6.xyzw
dcl_output o7.xyzw
dcl_output o8.xyzw
dcl_temps 1
dcl_indexrange o6.xyzw 3
mov r0.x, vForkInstanceID.x
mov o[r0.x + 6].xy, vicp[r0.x + 1][1].xxxx
mov o[r0.x + 6].z, vPrim
ret
hs_join_phase
dcl_hs_join_phase_instance_count 2
dcl_input vJoinInstanceID
dcl_input vocp[4][1].xyzw
dcl_input vpc[7].xyzw
dcl_input vpc[8].xyzw
dcl_output o6.w
dcl_output o7.w
dcl_temps 2
dcl_indexrange o6.w 2
mov r0.x, vJoinInstanceID.x
add r1.x, vpc[r0.x + 7].x, vocp[r0.x + 2][1].x
mov o[r0.x + 6].w, r1.x
ret
"""


@pytest.mark.parametrize("register", [6, 7, 8])
def test_constants_are_made_by_instances_and_then_of_constants_and_points(register: int) -> None:
    """Instance n of a fork writes row n; a join adds what the next row has and a point that comes
    out, and leaves the rest as it is.
    """
    body = FIRST + f"mov o1, vpc[{register}].xyzw"
    driven = Tessellating(hull(more=MORE), domain(body, f"dcl_input vpc[{register}].xyzw"))
    found = driven.streamed(8)
    for patch in range(2):
        n = register - 6
        value = bits(4.0 * patch + n + 1)
        joined = bits((4.0 * patch + n + 2) + (4.0 * patch + n + 2)) if n < 2 else 0
        rows = set(map(tuple, found[6 * patch : 6 * patch + 6].tolist()))
        assert rows == {(value, value, patch, joined)}


def test_phases_of_constants_tell_points_that_come_in_from_those_that_come_out() -> None:
    more = """hs_fork_phase
dcl_input vicp[4][1].xyzw
dcl_input vocp[3][1].xyzw
dcl_output o6.xyzw
mov o6.x, vicp[3][1].x
mov o6.y, vocp[2][1].x
mov o6.zw, vocp[1][1].xxxx
ret"""
    points = POINT_PHASE.format(body="ishl o1, vOutputControlPointID, l(4)\nmov r0.x, vPrim")
    shader = hull(makes=3, points=points, more=more)
    body = FIRST + "mov o1, vpc[6].xyzw"
    found = Tessellating(shader, domain(body, "dcl_input vpc[6].xyzw", points=3)).streamed(4)
    assert found.tolist() == [[bits(3.0), 32, 16, 16]] * 6


def test_patch_constants_are_indexed_and_hold_0_where_nothing_is_written() -> None:
    declared = (
        "\n".join(f"dcl_input vpc[{n}].xyzw" for n in range(8)) + "\ndcl_indexrange vpc[0] 8"
    )
    for index, expected in ((5, 2.0), (6, 0.0), (40, 0.0), (-1, 0.0)):
        body = FIRST + f"mov r0.x, l({index})\nmov o1, vpc[r0.x + 0].xxxx"
        shader = hull(factors=(1, 1, 1, 1, 1, 2))
        found = Tessellating(shader, domain(body, declared)).streamed(4)
        assert set(found[:, 0].view("<f4").tolist()) == {expected}


def test_numbers_of_patches_begin_anew_with_each_instance_and_hold_for_all_they_become() -> None:
    body = FIRST + "mov o1.x, vPrim\nmov o1.yzw, vpc[6].xxxx"
    more = """hs_fork_phase
dcl_input vPrim
dcl_output o6.x
mov o6.x, vPrim
ret"""
    declared = "dcl_input vPrim\ndcl_input vpc[6].x"
    driven = Tessellating(hull(more=more), domain(body, declared))
    room = driven.stream()
    assert driven.call("DrawInstanced", 8, 2, 0, 0) == []
    assert driven.words(room)[:, :2].tolist() == [[n, n] for n in (0, 1, 0, 1) for _ in range(6)]


def test_factors_of_lines_go_by_their_names() -> None:
    """Four lines of two segments, whichever register has which."""
    phases = """hs_fork_phase
dcl_output_siv o0.y, finalLineDetailTessFactor
mov o0.y, l(2.0)
ret
hs_fork_phase
dcl_output_siv o3.z, finalLineDensityTessFactor
mov o3.z, l(4.0)
ret"""
    code = _with_phases("isoline", "line", phases)
    declared = "dcl_input vDomain.xy"
    driven = Tessellating(code, domain(declared=declared, domain="isoline"))
    found = driven.streamed(4)[:, :2].view("<f4")
    lines = [[(u, v), (u + 0.5, v)] for v in (0, 0.25, 0.5, 0.75) for u in (0, 0.5)]
    assert found.tolist() == [list(point) for line in lines for point in line]


def _with_phases(shape: str, output: str, phases: str) -> bytes:
    return assemble(f"""hs_5_0
hs_decls
dcl_input_control_point_count 4
dcl_output_control_point_count 4
dcl_tessellator_domain domain_{shape}
dcl_tessellator_partitioning partitioning_integer
dcl_tessellator_output_primitive output_{output}
{phases}
""")


def test_a_factor_that_no_phase_makes_is_0() -> None:
    lacking = _with_phases(
        "quad", "triangle_cw", factor_phases("quad", [1] * 6).partition("ret")[2]
    )
    driven = Tessellating(lacking, domain())
    assert len(driven.streamed(4)) == 0
    assert driven.counted().HSInvocations == 1


@pytest.mark.parametrize(("most", "segments"), [(1.0, 1), (2.5, 3), (64.0, 5)])
def test_no_factor_is_above_what_the_shader_declares(most: float, segments: int) -> None:
    driven = Tessellating(hull(factors=[5.0] * 6, most=most), domain())
    assert len(driven.streamed(4)) == 6 * segments**2


# What is bound to the stages


def test_both_stages_have_constants_of_their_own() -> None:
    more = """hs_fork_phase
dcl_constantbuffer cb2[1], immediateIndexed
dcl_output o6.x
mov o6.x, cb2[0].y
ret"""
    body = FIRST + "mov o1.x, vpc[6].x\nmov o1.yzw, cb2[0].yyyy"
    declared = "dcl_constantbuffer cb2[1], immediateIndexed\ndcl_input vpc[6].x"
    driven = Tessellating(hull(more=more), domain(body, declared))
    for prefix, number in (("Hs", 5), ("Ds", 9)):
        words = struct.pack("<4I", 0, number, 0, 0)
        driven.call(
            f"{prefix}SetConstantBuffers", 2, [driven.buffer(words, BindFlag.CONSTANT_BUFFER)]
        )
    assert driven.streamed(4).tolist() == [[5, 9, 9, 9]] * 6


@pytest.mark.parametrize("prefix", ["Hs", "Ds"])
def test_both_stages_load_texels_and_sample_them(prefix: str) -> None:
    reads = """ld r0.xyzw, l(1, 0, 0, 0), t3.xyzw
sample_l r0.y, l(0.9, 0.9, 0, 0), t3.xyzw, s2, l(0.0)"""
    resources = """dcl_resource_texture2d (float,float,float,float) t3
dcl_sampler s2, mode_default"""
    body, declared = FIRST + "mov o1, vpc[6].xyzw", "dcl_input vpc[6].xyzw"
    more = ""
    if prefix == "Ds":
        body, declared = f"{FIRST}{reads}\nmov o1, r0.xyzw", resources
    else:
        more = f"""hs_fork_phase
{resources}
dcl_output o6.xyzw
dcl_temps 1
{reads}
mov o6, r0.xyzw
ret"""
    driven = Tessellating(hull(more=more), domain(body, declared))
    texels = bytes(range(0, 256, 16))
    texture = driven.texture(width=2, height=2, bind=BindFlag.SHADER_RESOURCE,
                             data=[SubresourceUP(texels, 8)])  # fmt: skip
    desc = CreateShaderResourceView(texture, RGBA8.value, ResourceType.TEXTURE2D)
    driven.call(f"{prefix}SetShaderResources", 3, [driven.make("ShaderResourceView", desc)])
    point = SamplerDesc(Filter=0, AddressU=3, AddressV=3)
    driven.call(f"{prefix}SetSamplers", 2, [driven.make("Sampler", point)])
    found = driven.streamed(4).view("<f4")
    expected = [texels[4], texels[13], texels[6], texels[7]]
    assert (found * 255).round().tolist() == [expected] * 6


def test_a_patch_may_come_out_without_any_control_point() -> None:
    driven = Tessellating(hull(makes=0, factors=[2] * 6), domain(points=0))
    assert len(driven.streamed(8)) == 2 * 8 * 3


@pytest.mark.parametrize("number", [0, 5, 15, 16])
def test_a_domain_shader_may_name_the_viewport(number: int) -> None:
    body = WHOLE.format(scale=2.0) + f"\nmov o2.x, l({number})"
    declared = "dcl_input vDomain.xy\ndcl_output_siv o2.x, viewport_array_index"
    driven = Tessellating(hull(factors=[3] * 6), domain(body, declared))
    views = [Viewport(4 * (n % 4), 4 * (n // 4), 4, 4) for n in range(16)]
    driven.call("SetViewports", 0, views)
    driven.call("Draw", 4, 0)
    y, x = divmod(number % 16, 4)
    wanted = np.zeros((16, 16), np.bool_)
    wanted[4 * y : 4 * y + 4, 4 * x : 4 * x + 4] = True
    assert (driven.drawn() == wanted).all()


def test_a_domain_shader_may_name_the_slice() -> None:
    body = WHOLE.format(scale=2.0) + "\nmov o2.x, l(2)"
    declared = "dcl_input vDomain.xy\ndcl_output_siv o2.x, rendertarget_array_index"
    driven = Tessellating(hull(factors=[3] * 6), domain(body, declared))
    texture = driven.texture(slices=3)
    desc = CreateTargetView(texture, RGBA8.value, ResourceType.TEXTURE2D, 0, 0, 3)
    driven.call("SetRenderTargets", [driven.make("RenderTargetView", desc)], 7, None)
    driven.call("Draw", 4, 0)
    assert [bool(driven.pixels(texture, n).any()) for n in range(3)] == [False, False, True]


def test_domain_shaders_clip_by_distance() -> None:
    """Half of the target lies where u is at least a half."""
    body = WHOLE.format(scale=2.0) + "\nadd o2.x, vDomain.x, l(-0.5)"
    declared = "dcl_input vDomain.xy\ndcl_output_siv o2.x, clip_distance"
    driven = Tessellating(hull(factors=[3] * 6), domain(body, declared))
    driven.call("Draw", 4, 0)
    assert driven.filled == 128

"""Patches through the entries, by both engines at once: what is counted, what comes to nothing,
the stages behind domain shaders, and what is drawn.
"""

from __future__ import annotations

import struct

import numpy as np
import pytest

from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.ddi10.queries.statistics import Statistics
from dp2emu.ddi10.resources.resource import BindFlag
from dp2emu.ddi10.states.state_objects import RasterizerDesc
from dp2emu.errors import ShaderError, Unsupported
from dp2emu.gpu.patches import hull_domain
from dp2emu.shader.sm4 import assemble
from tests.ddi10.tessellating import CORNER, FIRST, PATCH, SOME, WHOLE, Tessellating, domain, hull

# What is counted, and what comes to nothing


@pytest.mark.parametrize("factor", [0.0, -1.0, float("nan")])
def test_a_patch_that_is_culled_has_run_its_hull_shader_alone(factor: float) -> None:
    driven = Tessellating(hull(factors=(1, factor, 1, 1, 1, 1)), domain())
    driven.call("Draw", 4, 0)
    expected = Statistics(IAVertices=4, IAPrimitives=1, VSInvocations=4, HSInvocations=1)
    assert driven.counted() == expected


@pytest.mark.parametrize("points", range(1, 33))
def test_patches_have_1_to_32_points_and_what_is_left_over_is_none(points: int) -> None:
    last = points - 1
    body = FIRST + f"mov o1, vicp[{last}][1].xyzw"
    shader = domain(body, CORNER.format(points=points), points=points)
    driven = Tessellating(hull(takes=points), shader, points)
    count = 2 * points + (points > 1)
    found = driven.streamed(count)
    expected = [float(n) for n in (last, points + last) for _ in range(6)]
    assert found[:, 0].view("<f4").tolist() == expected
    statistics = driven.device.statistics()
    assert (statistics.IAPrimitives, statistics.IAVertices) == (2, 2 * points)


def test_an_index_of_all_ones_is_one_like_others_in_patches() -> None:
    body = FIRST + "mov o1, vicp[1][1].xyzw"
    driven = Tessellating(hull(), domain(body, CORNER.format(points=4)))
    indices = driven.buffer(np.array([3, 0xFFFF, 5, 6], "<u2").tobytes(), BindFlag.INDEX_BUFFER)
    driven.call("IaSetIndexBuffer", indices, DxgiFormat.R16_UINT.value, 0)
    room = driven.stream()
    driven.call("DrawIndexed", 4, 0, -0xFFFE)
    # The others lie before the buffer, and read 0 as well as what lies behind it.
    assert set(driven.words(room)[:, 0].view("<f4").tolist()) == {1.0}


def test_the_numbers_of_a_draw_of_patches_may_be_in_a_buffer() -> None:
    driven = Tessellating(hull(factors=[2] * 6), domain())
    driven.call("DrawInstancedIndirect", driven.buffer(struct.pack("<4I", 9, 3, 4, 0)), 0)
    statistics = driven.counted()
    assert (statistics.HSInvocations, statistics.DSInvocations) == (6, 6 * 9)


def test_one_of_the_two_shaders_and_primitives_that_are_no_patches_draw_nothing() -> None:
    for hs, ds, topology in (
        (hull(), None, PATCH + 4),
        (None, domain(), PATCH + 4),
        (hull(), domain(), 4),
    ):
        driven = Tessellating(hs, ds)
        driven.call("IaSetTopology", topology)
        driven.call("Draw", 12, 0)
        assert driven.counted() == Statistics()


def test_patches_of_another_number_of_points_than_the_hull_shader_takes_come_to_nothing() -> None:
    driven = Tessellating(hull(), domain(), points=3)
    driven.call("Draw", 12, 0)
    expected = Statistics(IAVertices=12, IAPrimitives=4, VSInvocations=12)
    assert driven.counted() == expected


def test_more_patches_and_points_than_are_built_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    driven = Tessellating(hull(), domain())
    with pytest.raises(Unsupported, match="262,144 patches"):
        driven.call("DrawInstanced", 64, 65536, 0, 0)
    monkeypatch.setattr(hull_domain, "MOST_POINTS", 7)
    driven.call("Draw", 8, 0)
    with pytest.raises(Unsupported, match="7 divided points"):
        driven.call("Flush")


def test_geometry_shaders_behind_patches_have_their_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    driven = Tessellating(hull(factors=[2] * 6), domain())
    code = assemble("""gs_5_0
dcl_inputprimitive triangle
dcl_stream m0
dcl_outputtopology pointlist
dcl_output o0.x
dcl_maxout 5
dcl_gsinstances 2
ret
""")
    driven.call("GsSetShader", driven.make("GeometryShader", code))
    monkeypatch.setattr(hull_domain, "MOST_EMITTED", 2 * 2 * 5 * 8)
    driven.call("Draw", 4, 0)
    with pytest.raises(Unsupported, match="8 divided points"):
        driven.call("Flush")


def test_patches_are_the_same_however_many_run_together(monkeypatch: pytest.MonkeyPatch) -> None:
    body = FIRST + "mov o1.x, vPrim\nmov o1.yzw, vicp[2][1].xxxx\nmov o1.w, vDomain.x"
    declared = "dcl_input vPrim\ndcl_input vDomain.xy\n" + CORNER.format(points=4)
    shaders = hull(factors=SOME["quad"]), domain(body, declared)
    whole = Tessellating(*shaders).streamed(64)
    monkeypatch.setattr(hull_domain, "WORDS", 200)
    monkeypatch.setattr(hull_domain, "POINTS", 30)
    assert (Tessellating(*shaders).streamed(64) == whole).all()


@pytest.mark.parametrize("missing", ["domain", "partitioning", "output_primitive"])
def test_a_hull_shader_says_what_the_tessellator_does(missing: str) -> None:
    lines = [
        "dcl_tessellator_domain domain_tri",
        "dcl_tessellator_partitioning partitioning_integer",
        "dcl_tessellator_output_primitive output_line",
    ]
    kept = [line for line in lines if missing not in line.split()[0]]
    code = assemble("\n".join(["hs_5_0", "hs_decls", *kept]))
    with pytest.raises(ShaderError, match="hull shader without"):
        Tessellating(code, None)


def test_more_instances_of_phases_than_are_built_say_so() -> None:
    phase = "hs_fork_phase\ndcl_hs_fork_phase_instance_count 128\nret\n"
    with pytest.raises(Unsupported, match="1,024 instances"):
        Tessellating(hull(more=phase * 8), None)


# Other stages after it


def test_what_patches_become_goes_through_a_geometry_shader() -> None:
    """Which makes a point of each triangle."""
    code = assemble("""gs_5_0
dcl_input_siv v[3][0].xyzw, position
dcl_input v[3][1].xyzw
dcl_input vPrim
dcl_inputprimitive triangle
dcl_stream m0
dcl_outputtopology pointlist
dcl_output_siv o0.xyzw, position
dcl_output o1.xyzw
dcl_maxout 1
mov o0, v[0][0].xyzw
mov o1.xy, v[1][1].xyxx
mov o1.z, vPrim
mov o1.w, l(0)
emit_stream m0
ret
""")
    driven = Tessellating(hull(factors=[2] * 6), domain())
    driven.call("GsSetShader", driven.make("GeometryShader", code))
    driven.call("Draw", 8, 0)
    statistics = driven.counted()
    assert (statistics.GSInvocations, statistics.GSPrimitives) == (16, 16)
    assert statistics.CInvocations == 16


def test_what_patches_become_keeps_their_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hull_domain, "WORDS", 200)
    driven = Tessellating(hull(), domain(WHOLE.format(scale=2.0)))
    code = assemble("""ps_5_0
dcl_input_ps_sgv constant v2.x, primitive_id
dcl_output o0.xyzw
dcl_temps 1
utof r0.x, v2.x
mul o0, r0.xxxx, l(0.0039215686, 0, 0, 0)
ret
""")
    driven.call("PsSetShader", driven.make("PixelShader", code))
    driven.call("Draw", 64, 0)
    assert set((driven.pixels(driven.color) & 255).ravel().tolist()) == {15}


@pytest.mark.parametrize("points", [1, 3, 4, 7, 32])
def test_patches_reach_geometry_shaders_whole_without_tessellation(points: int) -> None:
    code = assemble(f"""gs_5_0
dcl_input_siv v[{points}][0].xyzw, position
dcl_input v[{points}][1].xyzw
dcl_inputprimitive patch{points}
dcl_stream m0
dcl_outputtopology pointlist
dcl_output_siv o0.xyzw, position
dcl_output o1.xyzw
dcl_maxout 1
mov o0, v[0][0].xyzw
mov o1, v[{points - 1}][1].xyzw
emit_stream m0
ret
""")
    driven = Tessellating(None, None, points)
    driven.call("GsSetShader", driven.make("GeometryShader", code))
    driven.call("Draw", 64, 0)
    statistics = driven.counted()
    assert statistics.GSInvocations == statistics.GSPrimitives == 64 // points
    assert statistics.HSInvocations == 0


def test_patches_stream_out_point_by_point_without_tessellation() -> None:
    driven = Tessellating(None, None, 5)
    found = driven.streamed(12)
    assert found[:, 0].view("<f4").tolist() == [float(n) for n in range(10)]
    assert driven.device.statistics().CInvocations == 0


# Pictures


@pytest.mark.parametrize("factor", [1.0, 2.0, 3.7, 17.0, 64.0])
@pytest.mark.parametrize("partitioning", ["integer", "pow2", "fractional_odd", "fractional_even"])
def test_a_quad_over_the_target_fills_every_pixel_once(partitioning: str, factor: float) -> None:
    factors = (factor, 1.0, 2 * factor, 5.5, factor, 3.0)
    shader = hull(factors=factors, partitioning=partitioning)
    driven = Tessellating(shader, domain(WHOLE.format(scale=2.0)))
    driven.call("Draw", 4, 0)
    assert driven.filled == 256
    assert driven.device.statistics().PSInvocations == 256


@pytest.mark.parametrize(("output", "front"), [("triangle_cw", True), ("triangle_ccw", False)])
def test_the_output_primitive_says_which_way_triangles_turn(output: str, front: bool) -> None:
    """v runs down here, so that clockwise in the domain is clockwise on the screen."""
    driven = Tessellating(hull(factors=[3] * 6, output=output), domain(WHOLE.format(scale=2.0)))
    driven.call("SetRasterizerState", driven.make("RasterizerState", RasterizerDesc(CullMode=3)))
    driven.call("Draw", 4, 0)
    assert driven.filled == (256 if front else 0)

"""What stages between vertices and clipping do is spent of what a call and a capture may."""

from __future__ import annotations

import pytest

from dp2emu.ddi10.adapter import Adapter
from dp2emu.errors import Exceeded
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.limits import Limits
from dp2emu.shader.engines import engine
from tests.ddi10.drawing import tokens
from tests.ddi10.rendering import Drawing
from tests.ddi10.tessellating import domain, hull
from tests.refusals import refused
from tests.shader.engines import ENGINES

PATCHES_OF_4, POINTS = 36, 1


def dividing(run: str, limits: Limits, instances: int) -> None:
    """Draw patches of 4 vertices that become 81 points each."""
    driven = Drawing(ps=None, adapter=Adapter(Gpu(run=engine(run), limits=limits)))
    for noun, code in (("HullShader", hull(factors=[8] * 6)), ("DomainShader", domain())):
        memory = driven.memory_of("TessellationShader", code)
        driven.call(f"Create{noun}", code, memory)
        driven.call(f"{noun[0]}sSetShader", memory)
    driven.call("IaSetTopology", PATCHES_OF_4)
    driven.call("DrawInstanced", 4, instances, 0, 0)
    driven.call("Flush")


def emitting(run: str, limits: Limits, points: int) -> None:
    """Draw points that become two triangles each."""
    driven = Drawing(ps=None, adapter=Adapter(Gpu(run=engine(run), limits=limits)))
    shader = driven.memory_of("VertexShader", tokens("gs_point_quad"))
    driven.call("CreateGeometryShader", tokens("gs_point_quad"), shader)
    driven.call("GsSetShader", shader)
    driven.call("IaSetTopology", POINTS)
    driven.call("Draw", points, 0)
    driven.call("Flush")


@pytest.mark.parametrize("run", ENGINES)
@pytest.mark.parametrize("limit", ["call_vertices", "capture_vertices"])
def test_points_that_patches_become_count_as_vertices(run: str, limit: str) -> None:
    dividing(run, Limits(**{limit: 3 * (4 + 81)}), 3)
    with pytest.raises(Exceeded, match=refused(limit)):
        dividing(run, Limits(**{limit: 3 * (4 + 81) - 1}), 3)


@pytest.mark.parametrize("run", ENGINES)
def test_primitives_that_geometry_programs_put_out_count_as_vertices(run: str) -> None:
    emitting(run, Limits(call_vertices=4 + 8), 4)
    with pytest.raises(Exceeded, match=refused("call_vertices")):
        emitting(run, Limits(call_vertices=4 + 7), 4)


@pytest.mark.parametrize("run", ENGINES)
def test_programs_of_later_stages_count_by_their_instructions(run: str) -> None:
    """Vertex programs alone are far below these limits, and nothing is rasterized."""
    for draw, most, count in ((dividing, 10000, 30), (emitting, 3000, 100)):
        with pytest.raises(Exceeded, match=refused("call_instructions")):
            draw(run, Limits(call_instructions=most), count)

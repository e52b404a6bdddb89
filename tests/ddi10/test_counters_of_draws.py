"""Counters that watch real draws."""

from __future__ import annotations

import numpy as np
import pytest

from dp2emu.ddi10.adapter import Adapter
from dp2emu.ddi10.queries.counters import COUNTERS, Counter
from dp2emu.ddi10.queries.query_types import CreateQuery
from dp2emu.ddi10.resources.resource import BindFlag, ResourceType
from dp2emu.ddi10.resources.views import CreateShaderResourceView
from dp2emu.ddi10.states.state_objects import SamplerDesc
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.gpu.device.timing import by_work
from dp2emu.shader.engines import engine
from tests.ddi10.rendering import LIST, RGBA8, Drawing
from tests.ddi10.streaming import ENGINES


def drawing(ps: str = "ps_color", run: str = "reference") -> Drawing:
    adapter = Adapter(Gpu(by_work(), run=engine(run)), checking=True)
    driven = Drawing(vs="vs_tex" if ps.startswith("ps_tex") else "vs_pass", ps=ps, adapter=adapter)
    texture = driven.texture(width=8, height=8, bind=BindFlag.SHADER_RESOURCE)
    desc = CreateShaderResourceView(texture, RGBA8.value, ResourceType.TEXTURE2D)
    driven.call("PsSetShaderResources", 0, [driven.make("ShaderResourceView", desc)])
    driven.call("PsSetSamplers", 0, [driven.make("Sampler", SamplerDesc(Filter=0))])
    data = np.zeros(12, "<u2").tobytes()
    driven.call("IaSetIndexBuffer", driven.buffer(data, BindFlag.INDEX_BUFFER), 57, 0)
    driven.call("Flush")
    driven.adapter.finish()
    return driven


def watched(driven: Drawing, counter: Counter, entry: str = "Draw", *arguments: object) -> float:
    """What a counter says of a draw, or of another entry's call."""
    layout = COUNTERS[counter].kind.layout
    description = CreateQuery(counter)
    memory = bytearray(driven.device.functions["CalcPrivateQuerySize"](description))
    assert driven.call("CreateQuery", description, memory) == []
    driven.call("QueryBegin", memory)
    driven.call(entry, *(arguments or (4, 0)))
    driven.call("QueryEnd", memory)
    driven.call("Flush")
    driven.adapter.finish()
    data = bytearray(layout.size)
    assert driven.call("QueryGetData", memory, data, len(data)) == []
    driven.call("DestroyQuery", memory)
    (found,) = layout.unpack(data)
    return float(found)


@pytest.mark.parametrize("ps", ["ps_texture", "ps_texload"])
def test_texels_that_were_read_before_are_found_in_the_cache(ps: str) -> None:
    rate = watched(drawing(ps), Counter.TEXTURE_CACHE_HIT_RATE)
    assert 0.9 < rate < 1


def test_without_textures_nothing_is_found() -> None:
    assert watched(drawing(), Counter.TEXTURE_CACHE_HIT_RATE) == 0


def test_vertices_that_were_shaded_before_are_found_in_the_cache() -> None:
    driven = drawing()
    driven.call("IaSetTopology", LIST)
    rate = watched(driven, Counter.POST_TRANSFORM_CACHE_HIT_RATE, "DrawIndexed", 12, 0, 0)
    assert rate == np.float32(11 / 12)
    assert watched(driven, Counter.POST_TRANSFORM_CACHE_HIT_RATE, "Draw", 3, 0) == 0


@pytest.mark.parametrize(
    "counter",
    [
        Counter.VERTEX_PROCESSING,
        Counter.PIXEL_PROCESSING,
        Counter.HOST_ADAPTER_BANDWIDTH_UTILIZATION,
        Counter.LOCAL_VIDMEM_BANDWIDTH_UTILIZATION,
        Counter.VERTEX_THROUGHPUT_UTILIZATION,
        Counter.TRISETUP_THROUGHPUT_UTILIZATION,
        Counter.FILLRATE_THROUGHPUT_UTILIZATION,
    ],
)
def test_a_draw_is_work_for_every_unit(counter: Counter) -> None:
    assert 0 < watched(drawing(), counter) <= 1


def test_an_update_is_uploaded_inside_an_interval_that_is_handed_over_with_it() -> None:
    driven = drawing()
    size = 120_000
    update = "ResourceUpdateSubresourceUP", driven.buffer(bytes(size)), 0, None, bytes(size)
    assert watched(driven, Counter.UPLOADED_BYTES, *update) == size + 16
    assert 0 < watched(driven, Counter.HOST_ADAPTER_BANDWIDTH_UTILIZATION, *update) <= 1


@pytest.mark.parametrize("run", ENGINES)
def test_vertex_shader_invocations_are_the_misses_of_the_vertex_cache(run: str) -> None:
    """60 indices over 3 vertices: the other 57 vertices are in the cache."""
    driven = drawing(run=run)
    driven.call("IaSetTopology", LIST)
    data = np.tile(np.arange(3, dtype="<u2"), 20).tobytes()
    driven.call("IaSetIndexBuffer", driven.buffer(data, BindFlag.INDEX_BUFFER), 57, 0)
    before = driven.device.statistics()
    rate = watched(driven, Counter.POST_TRANSFORM_CACHE_HIT_RATE, "DrawIndexed", 60, 0, 0)
    assert rate == np.float32(0.95)
    driven.call("DrawIndexed", 60, 0, 0)
    driven.call("Flush")
    driven.adapter.finish()
    after = driven.device.statistics()
    assert after.IAVertices - before.IAVertices == 120
    assert after.VSInvocations - before.VSInvocations == 6

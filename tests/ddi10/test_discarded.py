"""What draws read is found again where its memory is now."""

from __future__ import annotations

from dp2emu.ddi10.resources.maps import Map
from dp2emu.ddi10.resources.resource import BindFlag, SubresourceUP, Usage
from dp2emu.ddi10.resources.views import CreateShaderResourceView
from tests.ddi10.drawing import SIZE, strip
from tests.ddi10.rendering import RGBA8, Rendering
from tests.ddi10.shaders.test_stage_resources import FLOATS, POINT_SAMPLER, T2, ps


def test_a_texture_that_is_discarded_is_read_where_it_is_now() -> None:
    driven = Rendering()
    texture = driven.texture(
        bind=BindFlag.SHADER_RESOURCE, usage=Usage.DYNAMIC,
        data=[SubresourceUP(bytes(4 * SIZE * SIZE), 4 * SIZE)],
    )  # fmt: skip
    desc = CreateShaderResourceView(texture, RGBA8.value, T2)
    target = driven.texture()
    head = f"dcl_sampler s0, mode_default\ndcl_resource_texture2d {FLOATS} t0"
    code = ps(["sample_l o0, l(0.5, 0.5, 0, 0), t0, s0, l(0)"], head)
    driven.prepare()
    driven.shaders()
    driven.call("PsSetShader", driven.make("PixelShader", code))
    driven.call("PsSetShaderResources", 0, [driven.make("ShaderResourceView", desc)])
    driven.call("PsSetSamplers", 0, [driven.make("Sampler", POINT_SAMPLER)])
    driven.vertices(strip())
    driven.call("SetRenderTargets", [driven.target(target)], 7, None)
    for value in (0, 0x80, 0xFF):
        mapped = driven.device.functions["DynamicResourceMapDiscard"](
            texture, 0, Map.WRITE_DISCARD, 0
        )
        mapped.pData[:] = bytes([value]) * len(mapped.pData)
        driven.call("DynamicResourceUnmap", texture, 0)
        driven.call("Draw", 4, 0)
        assert (driven.pixels(target) == value * 0x01010101).all()

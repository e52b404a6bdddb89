"""Things are made again when anything they are made of is another object."""

from __future__ import annotations

from collections.abc import Callable

from dp2emu.ddi10.kept import Kept
from dp2emu.ddi10.resources.maps import Map
from dp2emu.ddi10.resources.resource import BindFlag, SubresourceUP, Usage
from dp2emu.ddi10.resources.views import CreateShaderResourceView
from tests.ddi10.drawing import SIZE, strip
from tests.ddi10.rendering import RGBA8, Rendering
from tests.ddi10.test_sampling import FLOATS, POINT_SAMPLER, T2, ps


def counting() -> Callable[[], list[int]]:
    made: list[int] = []

    def make() -> list[int]:
        made.append(len(made))
        return [len(made)]

    return make


def test_of_the_same_objects_it_is_the_same_thing() -> None:
    kept, make, one, other = Kept[list[int]](), counting(), object(), object()
    first = kept.of((one, other), make)
    assert kept.of([one, other], make) is first
    assert kept.of((other, one), make) == [2]
    assert kept.of((one,), make) == [3]
    assert kept.of((), make) == [4]


def test_equal_objects_are_not_the_same() -> None:
    kept, make = Kept[list[int]](), counting()
    assert kept.of(([1],), make) == [1]
    assert kept.of(([1],), make) == [2]


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

"""Arguments that random programs found: each is refused or ignored, with no effect."""

from __future__ import annotations

import pytest

from dp2emu.ddi10.adapter import Adapter
from dp2emu.errors import ArgumentError
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.runtime10.codes import Refused, Result
from dp2emu.runtime10.descriptions import (
    BlendDesc,
    QueryDesc,
    RenderTargetBlend,
    SamplerDesc,
    SubresourceData,
    Texture2DDesc,
)
from dp2emu.runtime10.device import Device
from dp2emu.runtime10.dxgi import create_dxgi_factory
from dp2emu.shader.engines import REFERENCE, engine

RGBA8, D32_FLOAT = 28, 40
SHADER_RESOURCE, DEPTH = 8, 0x40


@pytest.fixture
def device() -> Device:
    return Device(Adapter(Gpu(run=engine(REFERENCE), threads=1), checking=True))


@pytest.mark.parametrize(("start", "count"), [(0, 9), (8, 1), (-1, 1), (0, -1), (0, 1 << 40)])
def test_slots_of_unordered_access_views_that_do_not_exist_are_refused(
    device: Device, start: int, count: int
) -> None:
    with pytest.raises(Refused):
        device.context.om_get_unordered_access_views(start, count)
    assert device.context.om_get_unordered_access_views(7, 1) == [None]


@pytest.mark.parametrize("size", [-1, 1 << 48])
def test_data_of_another_size_are_not_allocated(device: Device, size: int) -> None:
    query = device.create_query(QueryDesc(1))
    assert device.context.get_data(query, size).hr is Result.E_INVALIDARG


@pytest.mark.parametrize("number", [1 << 32, -1, (1 << 64) - 1])
def test_state_has_no_numbers_beyond_uint(device: Device, number: int) -> None:
    context = device.context
    context.om_set_blend_state(None, (0.0,) * 4, number)
    context.om_set_depth_stencil_state(None, number)
    assert context.om_get_blend_state() == (None, (1.0,) * 4, 0xFFFFFFFF)
    assert context.om_get_depth_stencil_state() == (None, 0)
    assert len(context.messages) == 2


@pytest.mark.parametrize(("flags", "stencil"), [(1 << 32, 0), (3, -1), (3, 1 << 40)])
def test_depth_is_not_cleared_by_numbers_beyond_uint(
    device: Device, flags: int, stencil: int
) -> None:
    texture = device.create_texture2d(Texture2DDesc(4, 4, 1, 1, D32_FLOAT, BindFlags=DEPTH))
    view = device.create_depth_stencil_view(texture)
    device.context.clear_depth_stencil_view(view, flags, 0.5, stencil)
    assert len(device.context.messages) == 1


def test_a_texture_has_no_negative_number_of_levels(device: Device) -> None:
    with pytest.raises(Refused):
        device.create_texture2d(Texture2DDesc(4, 4, -1, 1, RGBA8, BindFlags=SHADER_RESOURCE))


@pytest.mark.parametrize("pitch", [1 << 32, (1 << 64) - 1])
def test_initial_data_have_no_pitch_beyond_uint(device: Device, pitch: int) -> None:
    desc = Texture2DDesc(4, 4, 1, 1, RGBA8, BindFlags=SHADER_RESOURCE)
    with pytest.raises(Refused):
        device.create_texture2d(desc, [SubresourceData(bytes(64), 16, pitch)])


def test_states_of_too_few_values_are_refused(device: Device) -> None:
    with pytest.raises(Refused):
        device.create_blend_state(BlendDesc(0, 0, (RenderTargetBlend(),) * 2))
    with pytest.raises(Refused):
        device.create_sampler_state(SamplerDesc(BorderColor=(0.0,) * 33))


def test_a_swap_chain_needs_a_description(device: Device) -> None:
    with pytest.raises(ArgumentError):
        create_dxgi_factory().create_swap_chain(device, 1.5)  # type: ignore[arg-type]

"""Descriptions with the defaults of the SDK's constructors, and D3D11CreateDevice."""

from __future__ import annotations

import pytest

from dp2emu.ddi10.adapter import Adapter
from dp2emu.errors import ArgumentError
from dp2emu.runtime10 import (
    BindFlag,
    BufferDesc,
    CpuAccess,
    FeatureLevel,
    Format,
    QueryDesc,
    QueryType,
    ResourceMisc,
    SampleDesc,
    Texture1DDesc,
    Texture2DDesc,
    Texture3DDesc,
    Usage,
    cd3d11_buffer_desc,
    cd3d11_texture1d_desc,
    cd3d11_texture2d_desc,
    cd3d11_texture3d_desc,
    create_device,
)
from dp2emu.runtime10.buffers import BufferMiscFlag
from dp2emu.runtime10.textures import MiscFlag

R8 = Format.R8G8B8A8_UNORM


def test_textures_are_shader_resources_with_all_levels_by_default() -> None:
    assert cd3d11_texture1d_desc(R8, 8) == Texture1DDesc(8, 0, 1, R8, BindFlags=8)
    assert cd3d11_texture2d_desc(R8, 8, 4) == Texture2DDesc(8, 4, 0, 1, R8, BindFlags=8)
    assert cd3d11_texture3d_desc(R8, 8, 4, 2) == Texture3DDesc(8, 4, 2, 0, R8, BindFlags=8)


def test_arguments_are_in_the_order_of_the_constructors() -> None:
    wide = cd3d11_texture2d_desc(R8, 8, 4, 1, 1, BindFlag.RENDER_TARGET, 0, 0, 4, 1)
    assert wide == Texture2DDesc(8, 4, 1, 1, R8, SampleDesc(4, 1), BindFlags=0x20)
    staging = cd3d11_buffer_desc(32, 0, Usage.STAGING, CpuAccess.READ)
    assert staging == BufferDesc(32, Usage.STAGING, CPUAccessFlags=CpuAccess.READ)
    squares = cd3d11_buffer_desc(32, 0x80, 0, 0, ResourceMisc.BUFFER_STRUCTURED, 4)
    assert squares == BufferDesc(32, 0, 0x80, 0, 0x40, 4)


def test_flags_of_resources_are_those_of_buffers_and_textures() -> None:
    flags = {each.name: each.value for kind in (MiscFlag, BufferMiscFlag) for each in kind}
    assert {each.name: each.value for each in ResourceMisc} == flags


def test_a_device_comes_with_its_immediate_context() -> None:
    device, context = create_device()
    assert context is device.get_immediate_context()
    assert device.feature_level == FeatureLevel.LEVEL_11_0
    device, _ = create_device(Adapter(), FeatureLevel.LEVEL_9_3)
    assert device.feature_level == FeatureLevel.LEVEL_9_3


def test_get_data_is_a_value_once_there_is_an_answer() -> None:
    device, context = create_device()
    query = device.create_query(QueryDesc(QueryType.OCCLUSION))
    context.begin(query)
    with pytest.raises(ArgumentError, match="0 bytes of data"):
        query.value(context.get_data(query))
    context.end(query)
    while (found := context.get_data(query)).hr:
        pass
    assert query.value(found) == query.value(found.data or b"") == 0

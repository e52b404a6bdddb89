"""Views: of which resources, formats and parts there are any."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.ddi10.resources.resource import BindFlag, CreateResource, MipInfo, ResourceType
from dp2emu.ddi10.resources.views import (
    ALL,
    BufferExFlag,
    CreateShaderResourceView,
    CreateTargetView,
)
from dp2emu.errors import ContractError
from dp2emu.gpu.resource.heap import SurfaceKind
from tests.ddi10.drawing import strip
from tests.ddi10.rendering import D24S8, FLOAT4, RGBA8, Rendering

FLAT, CUBE, VOLUME = ResourceType.TEXTURE2D, ResourceType.TEXTURECUBE, ResourceType.TEXTURE3D
BUFFER, BUFFEREX = ResourceType.BUFFER, ResourceType.BUFFEREX
READ = BindFlag.SHADER_RESOURCE
BOTH = READ | BindFlag.RENDER_TARGET


def refused(driven: Rendering, noun: str, desc: Any) -> bool:
    """Whether there can be no such view."""
    try:
        driven.call(f"Create{noun}", desc, driven.memory_of(noun, desc))
    except ContractError as error:
        assert error.rule == "KNOWN_VIEW"
        return True
    return False


@pytest.mark.parametrize(
    ("own", "seen", "possible"),
    [
        (RGBA8, RGBA8, True),
        (RGBA8, DxgiFormat.UNKNOWN, True),
        (RGBA8, DxgiFormat.R8G8B8A8_UNORM_SRGB, False),
        (DxgiFormat.R8G8B8A8_TYPELESS, RGBA8, True),
        (DxgiFormat.R8G8B8A8_TYPELESS, DxgiFormat.R8G8B8A8_UINT, True),
        (DxgiFormat.R8G8B8A8_TYPELESS, DxgiFormat.R32_FLOAT, False),
        (DxgiFormat.R8G8B8A8_TYPELESS, DxgiFormat.UNKNOWN, False),
        (DxgiFormat.R32_FLOAT, DxgiFormat.R32_FLOAT, True),
        (DxgiFormat.BC1_UNORM, DxgiFormat.BC1_UNORM, False),
    ],
)
def test_targets_are_viewed_as_a_format_of_their_family(
    own: DxgiFormat, seen: DxgiFormat, possible: bool
) -> None:
    driven = Rendering(checking=False)
    made = driven.texture(own, 8, 8)
    desc = CreateTargetView(made, seen.value, FLAT)
    assert refused(driven, "RenderTargetView", desc) is not possible


def test_depth_views_are_of_depth_formats() -> None:
    driven = Rendering(checking=False)
    deep = driven.texture(DxgiFormat.R24G8_TYPELESS, bind=BindFlag.DEPTH_STENCIL | READ)
    seen = DxgiFormat.R24_UNORM_X8_TYPELESS.value
    assert not refused(driven, "DepthStencilView", CreateTargetView(deep, D24S8.value, FLAT))
    assert refused(driven, "DepthStencilView", CreateTargetView(deep, seen, FLAT))
    assert not refused(driven, "ShaderResourceView", CreateShaderResourceView(deep, seen, FLAT))


@pytest.mark.parametrize(
    ("part", "possible"),
    [
        ((0, 0, 1), True),
        ((1, 2, 1), True),
        ((0, 0, 3), True),
        ((0, 1, ALL), True),
        ((2, 0, 1), False),
        ((-1, 0, 1), False),
        ((0, 3, 1), False),
        ((0, 0, 4), False),
        ((0, 0, 0), False),
        ((0, -1, 2), False),
    ],
)
def test_targets_are_parts_that_there_are(part: tuple[int, int, int], possible: bool) -> None:
    driven = Rendering(checking=False)
    made = driven.texture(levels=2, slices=3)
    desc = CreateTargetView(made, RGBA8.value, FLAT, *part)
    assert refused(driven, "RenderTargetView", desc) is not possible


@pytest.mark.parametrize(
    ("level", "slices", "possible"), [(0, 4, True), (1, 2, True), (1, 3, False)]
)
def test_levels_of_volumes_have_fewer_slices(level: int, slices: int, possible: bool) -> None:
    driven = Rendering(checking=False)
    made = driven.texture(kind=VOLUME, depth=4, levels=2)
    desc = CreateTargetView(made, RGBA8.value, VOLUME, level, 0, slices)
    assert refused(driven, "RenderTargetView", desc) is not possible


def test_a_resource_is_viewed_as_what_it_is_bound_as() -> None:
    driven = Rendering(checking=False)
    read, drawn = driven.texture(bind=READ), driven.texture()
    assert refused(driven, "RenderTargetView", CreateTargetView(read, RGBA8.value, FLAT))
    desc = CreateShaderResourceView(drawn, RGBA8.value, FLAT)
    assert refused(driven, "ShaderResourceView", desc)


def test_elements_of_a_buffer_are_drawn_to() -> None:
    driven = Rendering()
    made = driven.buffer(bytes(64), BindFlag.RENDER_TARGET)
    view = driven.make("RenderTargetView", CreateTargetView(made, RGBA8.value, BUFFER, 0, 3, 5))
    driven.prepare()
    driven.shaders()
    driven.vertices(strip((1, 0.5, 0.25, 1)))
    driven.call("SetRenderTargets", [view], 7, None)
    driven.call("Draw", 4, 0)
    words = np.frombuffer(driven.read(made), "<u4").tolist()
    assert words == [0] * 3 + [0xFF4080FF] * 5 + [0] * 8
    driven.call("ClearRenderTargetView", view, (0, 1, 0, 0))
    assert np.frombuffer(driven.read(made), "<u4")[3:8].tolist() == [0xFF00] * 5


@pytest.mark.parametrize(
    ("bind", "format", "first", "count"),
    [
        (BindFlag.VERTEX_BUFFER, RGBA8, 0, 1),
        (BindFlag.RENDER_TARGET, RGBA8, 0, 17),
        (BindFlag.RENDER_TARGET, RGBA8, 16, 1),
        (BindFlag.RENDER_TARGET, RGBA8, 0, 0),
        (BindFlag.RENDER_TARGET, DxgiFormat.A8_UNORM, 0, 1),
        (BindFlag.RENDER_TARGET, DxgiFormat.UNKNOWN, 0, 1),
    ],
)
def test_other_elements_of_buffers_are_no_targets(
    bind: BindFlag, format: DxgiFormat, first: int, count: int
) -> None:
    driven = Rendering(checking=False)
    made = driven.buffer(bytes(64), bind)
    desc = CreateTargetView(made, format.value, BUFFER, 0, first, count)
    assert refused(driven, "RenderTargetView", desc)


@pytest.mark.parametrize(
    ("changes", "possible"),
    [
        ({}, True),
        ({"MostDetailedMip": 2, "MipLevels": 1}, True),
        ({"FirstArraySlice": 5, "ArraySize": 1}, True),
        ({"MostDetailedMip": 3}, False),
        ({"MipLevels": 4}, False),
        ({"MipLevels": 0}, False),
        ({"FirstArraySlice": 6}, False),
        ({"ArraySize": 7}, False),
        ({"ResourceDimension": CUBE}, False),
        ({"ResourceDimension": VOLUME}, False),
        ({"Format": DxgiFormat.R8G8B8A8_UINT.value}, False),
        ({"Format": 999}, False),
    ],
)
def test_shaders_see_parts_that_there_are(changes: dict[str, Any], possible: bool) -> None:
    driven = Rendering(checking=False)
    made = driven.texture(levels=3, slices=6, bind=READ)
    desc = CreateShaderResourceView(made, RGBA8.value, FLAT)._replace(**changes)
    assert refused(driven, "ShaderResourceView", desc) is not possible


@pytest.mark.parametrize("faces", [12, 14])
@pytest.mark.parametrize(
    ("dimension", "slices", "kind"),
    [
        (CUBE, (0, 12), SurfaceKind.CUBETEXTURE),
        (CUBE, (6, 6), SurfaceKind.CUBETEXTURE),
        (FLAT, (3, 2), SurfaceKind.TEXTURE),
        (CUBE, (0, 5), None),
    ],
)
def test_cubes_are_seen_as_cubes_or_as_their_faces(
    dimension: int, slices: tuple[int, int], kind: SurfaceKind | None, faces: int
) -> None:
    driven = Rendering(checking=False)
    made = driven.texture(kind=CUBE, slices=faces, bind=READ)
    desc = CreateShaderResourceView(
        made, RGBA8.value, dimension, FirstArraySlice=slices[0], ArraySize=slices[1]
    )
    assert refused(driven, "ShaderResourceView", desc) is (kind is None)
    for view in driven.device._parts.views.shaders.values():
        assert view.surface().desc.kind is kind


@pytest.mark.parametrize(
    ("format", "elements", "flags", "possible"),
    [
        (FLOAT4, (0, 4), 0, True),
        (FLOAT4, (3, 1), 0, True),
        (FLOAT4, (3, 2), 0, False),
        (FLOAT4, (0, 0), 0, False),
        (DxgiFormat.R8G8B8A8_UNORM_SRGB, (0, 4), 0, False),
        (DxgiFormat.R32_TYPELESS, (0, 16), BufferExFlag.RAW, True),
        (DxgiFormat.R32_TYPELESS, (0, 17), BufferExFlag.RAW, False),
        (DxgiFormat.UNKNOWN, (1, 3), 0, True),
        (DxgiFormat.UNKNOWN, (1, 8), 0, False),
    ],
)
def test_buffers_are_elements_words_or_structures(
    format: DxgiFormat, elements: tuple[int, int], flags: int, possible: bool
) -> None:
    driven = Rendering(checking=False)
    info = [MipInfo(64)]
    made = driven.make("Resource", CreateResource(info, None, BUFFER, 0, READ, ByteStride=8))
    desc = CreateShaderResourceView(
        made, format.value, BUFFEREX if flags or not format.value else BUFFER,
        FirstElement=elements[0], NumElements=elements[1], Flags=flags,
    )  # fmt: skip
    assert refused(driven, "ShaderResourceView", desc) is not possible


def test_a_view_follows_its_resource_to_other_memory() -> None:
    driven = Rendering()
    one, other = driven.texture(), driven.texture()
    view = driven.target(one)
    rotate = driven.device.dxgi_functions["RotateResourceIdentities"]
    assert rotate([one, other]) == 0
    driven.call("ClearRenderTargetView", view, (1, 1, 1, 1))
    assert (driven.pixels(one) == 0xFFFFFFFF).all()
    assert rotate([one, other]) == 0
    assert (driven.pixels(one) == 0).all()

"""Copies, updates, resolving, levels and clears."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.ddi10.resources.resource import BindFlag, ResourceType, SubresourceUP, Usage
from dp2emu.ddi10.resources.transfers import ClearFlag, DdiBox
from dp2emu.ddi10.resources.views import CreateShaderResourceView, CreateTargetView
from dp2emu.errors import ContractError
from tests.ddi10.driving import REMOVED
from tests.ddi10.rendering import D24S8, RGBA8, Rendering, infos
from tests.ddi10.test_resource import noise

FLAT, VOLUME = ResourceType.TEXTURE2D, ResourceType.TEXTURE3D
READ = BindFlag.SHADER_RESOURCE
Words = NDArray[np.uint32]


def filled(driven: Rendering, seed: int, side: int = 8, **shape: Any) -> bytearray:
    """A texture full of noise."""
    levels = infos(shape.get("levels", 1), side, side, shape.get("depth", 1))
    levels *= shape.get("slices", 1)
    data = [
        SubresourceUP(noise(4 * w * h * d, seed + n), 4 * w, 4 * w * h)
        for n, (w, h, d) in enumerate(levels)
    ]
    return driven.texture(width=side, height=side, data=data, **shape)


def texels(driven: Rendering, memory: bytearray, index: int = 0, side: int = 8) -> Words:
    """Texels of a subresource, shape (slices, side, side)."""
    return np.frombuffer(driven.read(memory, index), "<u4").reshape(-1, side, side)


# Copies


def test_a_copy_is_of_all_subresources() -> None:
    driven = Rendering()
    shape = {"levels": 3, "slices": 2}
    one, other = filled(driven, 1, **shape), filled(driven, 20, **shape)
    assert driven.call("ResourceCopy", other, one) == []
    for index in range(6):
        assert driven.read(other, index) == driven.read(one, index)


@given(st.data())
def test_a_region_goes_where_it_is_told_and_nothing_else_changes(data: st.DataObject) -> None:
    driven = Rendering()
    volume = data.draw(st.booleans())
    shape: dict[str, Any] = {"kind": VOLUME, "depth": 4} if volume else {"slices": 2, "levels": 2}
    one, other = filled(driven, 1, **shape), filled(driven, 50, **shape)
    sides = (8, 8, 4 if volume else 1)
    start = [data.draw(st.integers(0, side - 1)) for side in sides]
    stop = [data.draw(st.integers(a + 1, side)) for a, side in zip(start, sides, strict=True)]
    size = [b - a for a, b in zip(start, stop, strict=True)]
    to = [data.draw(st.integers(0, side - n)) for side, n in zip(sides, size, strict=True)]
    index = 0 if volume else data.draw(st.sampled_from([0, 2]))
    expected = texels(driven, other, index).copy()
    source = texels(driven, one, 0)
    there, here = (
        tuple(slice(a, a + n) for a, n in reversed(list(zip(at, size, strict=True))))
        for at in (to, start)
    )
    expected[there] = source[here]
    box = DdiBox(*start, *stop)
    assert driven.call("ResourceCopyRegion", other, index, *to, one, 0, box) == []
    assert (texels(driven, other, index) == expected).all()


def test_no_box_is_all_of_the_subresource() -> None:
    driven = Rendering()
    one, other = filled(driven, 1, levels=2), filled(driven, 9, 4)
    driven.call("ResourceCopyRegion", other, 0, 0, 0, 0, one, 1, None)
    assert driven.read(other) == driven.read(one, 1)


def test_regions_of_buffers_are_bytes() -> None:
    driven = Rendering()
    one, other = driven.buffer(b"abcdef"), driven.buffer(b"......")
    driven.call("ResourceCopyRegion", other, 0, 1, 0, 0, one, 0, DdiBox(2, 0, 0, 5, 1, 1))
    assert driven.read(other) == b".cde.."


def test_a_region_may_overlap_where_it_goes() -> None:
    driven = Rendering()
    one = driven.buffer(b"abcdef")
    driven.call("ResourceCopyRegion", one, 0, 1, 0, 0, one, 0, DdiBox(0, 0, 0, 5, 1, 1))
    assert driven.read(one) == b"aabcde"


@pytest.mark.parametrize("box", [DdiBox(2, 0, 0, 2, 8, 1), DdiBox(3, 0, 0, 2, 8, 1)])
def test_an_empty_box_does_nothing(box: DdiBox) -> None:
    driven = Rendering()
    one, other = filled(driven, 1), filled(driven, 2)
    before = driven.read(other)
    driven.call("ResourceCopyRegion", other, 0, 0, 0, 0, one, 0, box)
    assert driven.read(other) == before


@pytest.mark.parametrize(
    ("place", "box"),
    [
        ((0, 0, 0), DdiBox(0, 0, 0, 9, 8, 1)),
        ((0, 0, 0), DdiBox(-1, 0, 0, 8, 8, 1)),
        ((1, 0, 0), DdiBox(0, 0, 0, 8, 8, 1)),
        ((0, 0, 1), DdiBox(0, 0, 0, 8, 8, 1)),
        ((0, -1, 0), DdiBox(0, 0, 0, 8, 8, 1)),
    ],
)
def test_boxes_lie_inside(place: tuple[int, int, int], box: DdiBox) -> None:
    driven = Rendering(checking=False)
    one, other = filled(driven, 1), filled(driven, 2)
    with pytest.raises(ContractError) as broken:
        driven.call("ResourceCopyRegion", other, 0, *place, one, 0, box)
    assert broken.value.rule == "INSIDE"


def test_texels_are_copied_as_bits_within_their_family() -> None:
    driven = Rendering()
    one = filled(driven, 1)
    for format in (DxgiFormat.R8G8B8A8_UINT, DxgiFormat.R8G8B8A8_TYPELESS):
        other = driven.texture(format, 8, 8)
        driven.call("ResourceCopy", other, one)
        assert driven.read(other) == driven.read(one)


@pytest.mark.parametrize(
    "shape",
    [
        {"format": DxgiFormat.R32_FLOAT},
        {"format": RGBA8, "samples": 4},
        {"format": RGBA8, "width": 4},
        {"format": RGBA8, "slices": 2},
    ],
)
def test_copies_are_of_the_same_texels(shape: dict[str, Any]) -> None:
    driven = Rendering(checking=False)
    one, other = filled(driven, 1), driven.texture(**{"width": 8, "height": 8, **shape})
    with pytest.raises(ContractError) as broken:
        driven.call("ResourceCopy", other, one)
    assert broken.value.rule == "SAME_TEXELS"


def test_buffers_are_copied_to_buffers() -> None:
    driven = Rendering(checking=False)
    with pytest.raises(ContractError, match="same texels"):
        driven.call("ResourceCopy", filled(driven, 1), driven.buffer(bytes(256)))


def test_compressed_blocks_are_copied_whole() -> None:
    driven = Rendering()
    format = DxgiFormat.BC2_UNORM
    data = noise(4 * 16)
    one = driven.texture(format, 8, 8, data=[SubresourceUP(data, 32, 0)])
    other = driven.texture(format, 8, 8)
    driven.call("ResourceCopyRegion", other, 0, 4, 0, 0, one, 0, DdiBox(0, 4, 0, 4, 8, 1))
    assert driven.read(other) == bytes(16) + data[32:48] + bytes(32)


def test_blocks_over_the_edge_of_a_level_are_copied_to_where_there_is_more() -> None:
    driven = Rendering()
    format = DxgiFormat.BC1_UNORM
    data = [SubresourceUP(noise(8 * n), 16, 0) for n in (4, 1, 1)]
    one = driven.texture(format, 8, 8, levels=3, data=data)
    other = driven.texture(format, 8, 8)
    driven.call("ResourceCopyRegion", other, 0, 4, 4, 0, one, 2, None)
    assert driven.read(other) == bytes(24) + driven.read(one, 2)
    driven.call("ResourceCopyRegion", one, 2, 0, 0, 0, one, 0, DdiBox(4, 0, 0, 8, 4, 1))
    assert driven.read(one, 2) == driven.read(one)[8:16]


def test_samples_are_copied_one_by_one() -> None:
    driven = Rendering()
    one, other = (driven.texture(width=8, height=8, samples=4) for _ in range(2))
    driven.call("ClearRenderTargetView", driven.target(one), (1, 0, 0, 1))
    driven.call("ResourceCopy", other, one)
    resolved = driven.texture(width=8, height=8)
    driven.call("ResourceResolveSubresource", resolved, 0, other, 0, RGBA8.value)
    assert (driven.pixels(resolved, size=8) == 0xFF0000FF).all()


@pytest.mark.parametrize("whole", [True, False])
def test_conversion_takes_bits_of_texels_for_blocks_and_back(whole: bool) -> None:
    driven = Rendering()
    data = noise(4 * 8)
    texels = driven.texture(DxgiFormat.R32G32_UINT, 2, 2, data=[SubresourceUP(data, 16, 0)])
    blocks = driven.texture(DxgiFormat.BC1_UNORM, 8, 8)
    back = driven.texture(DxgiFormat.R16G16B16A16_UINT, 2, 2)
    if whole:
        assert driven.call("ResourceConvert", blocks, texels) == []
        assert driven.call("ResourceConvert", back, blocks) == []
        assert driven.read(blocks) == driven.read(back) == data
        return
    texel = DdiBox(1, 0, 0, 2, 2, 1)
    driven.call("ResourceConvertRegion", blocks, 0, 0, 0, 0, texels, 0, texel)
    column = data[8:16] + bytes(8) + data[24:32] + bytes(8)
    assert driven.read(blocks) == column
    block = DdiBox(0, 4, 0, 4, 8, 1)
    driven.call("ResourceConvertRegion", back, 0, 1, 0, 0, blocks, 0, block)
    assert driven.read(back) == bytes(8) + data[24:32] + bytes(16)


@pytest.mark.parametrize(
    ("one", "other", "size"),
    [
        (DxgiFormat.R8_UNORM, DxgiFormat.A8_UNORM, 1),
        (DxgiFormat.R16_FLOAT, DxgiFormat.B5G6R5_UNORM, 2),
        (DxgiFormat.R10G10B10A2_UNORM, DxgiFormat.R32_FLOAT, 4),
        (DxgiFormat.R32G32_FLOAT, DxgiFormat.R16G16B16A16_SINT, 8),
        (DxgiFormat.R32G32B32_FLOAT, DxgiFormat.R32G32B32_UINT, 12),
        (DxgiFormat.R32G32B32A32_FLOAT, DxgiFormat.R32G32B32A32_SINT, 16),
    ],
)
def test_conversion_is_of_texels_of_any_size(
    one: DxgiFormat, other: DxgiFormat, size: int
) -> None:
    driven = Rendering()
    data = noise(4 * size)
    given = driven.texture(one, 2, 2, data=[SubresourceUP(data, 2 * size, 0)])
    made = driven.texture(other, 2, 2)
    driven.call("ResourceConvert", made, given)
    assert driven.read(made) == data


def test_conversion_keeps_the_sizes_of_texels_and_stays_inside() -> None:
    driven = Rendering(checking=False)
    texels = driven.texture(DxgiFormat.R32G32_UINT, 2, 2)
    for format, side in ((DxgiFormat.BC2_UNORM, 8), (DxgiFormat.BC1_UNORM, 12), (RGBA8, 2)):
        with pytest.raises(ContractError, match="same texels"):
            driven.call("ResourceConvert", driven.texture(format, side, side), texels)
    blocks = driven.texture(DxgiFormat.BC1_UNORM, 8, 8)
    with pytest.raises(ContractError, match="leaves"):
        driven.call("ResourceConvertRegion", blocks, 0, 4, 0, 0, texels, 0, None)


def test_conversion_of_buffers_is_a_copy() -> None:
    driven = Rendering()
    one, other = driven.buffer(b"abcd"), driven.buffer(bytes(4))
    driven.call("ResourceConvert", other, one)
    assert driven.read(other) == b"abcd"


@pytest.mark.parametrize(
    ("box", "possible"),
    [
        (DdiBox(0, 0, 0, 4, 4, 1), True),
        (DdiBox(4, 4, 0, 6, 6, 1), True),
        (DdiBox(0, 0, 0, 2, 4, 1), False),
        (DdiBox(2, 0, 0, 6, 4, 1), False),
        (DdiBox(0, 1, 0, 4, 4, 1), False),
    ],
)
def test_boxes_split_no_blocks(box: DdiBox, possible: bool) -> None:
    driven = Rendering(checking=False)
    one = driven.texture(DxgiFormat.BC1_UNORM, 6, 6)
    try:
        driven.call("ResourceUpdateSubresourceUP", one, 0, box, bytes(64), 16, 0)
        driven.call("ResourceCopyRegion", one, 0, box.left, box.top, 0, one, 0, box)
    except ContractError as error:
        assert (error.rule, possible) == ("WHOLE_BLOCKS", False)
    else:
        assert possible


# Updates


def test_an_update_is_in_order_with_everything_else() -> None:
    driven = Rendering()
    one, early, late = driven.buffer(b"abcd"), driven.buffer(bytes(4)), driven.buffer(bytes(4))
    driven.call("ResourceCopy", early, one)
    box = DdiBox(1, 0, 0, 3, 1, 1)
    assert driven.call("ResourceUpdateSubresourceUP", one, 0, box, b"BC") == []
    driven.call("ResourceCopy", late, one)
    assert (driven.read(early), driven.read(late)) == (b"abcd", b"aBCd")


def test_the_data_of_an_update_is_taken_when_it_is_called() -> None:
    driven = Rendering()
    one, data = driven.buffer(bytes(4)), bytearray(b"1234")
    driven.call("DefaultConstantBufferUpdateSubresourceUP", one, 0, None, data)
    data[:] = b"5678"
    assert driven.read(one) == b"1234"


def test_an_update_fills_its_box_from_rows_with_holes() -> None:
    driven = Rendering()
    one = filled(driven, 1, levels=2)
    expected = texels(driven, one, 1, 4).copy()
    data = np.arange(100, 120, dtype="<u4")
    expected[0, 1:3, 0:3] = data[:10].reshape(2, 5)[:, :3]
    box = DdiBox(0, 1, 0, 3, 3, 1)
    driven.call("ResourceUpdateSubresourceUP", one, 1, box, data.tobytes(), 20, 0)
    assert (texels(driven, one, 1, 4) == expected).all()


def test_an_update_of_a_volume_fills_slices() -> None:
    driven = Rendering()
    one = filled(driven, 1, kind=VOLUME, depth=4)
    expected = texels(driven, one).copy()
    data = np.arange(2 * 8, dtype="<u4")
    expected[1:3, 0:2, 0:2] = data.reshape(2, 2, 4)[:, :, :2]
    box = DdiBox(0, 0, 1, 2, 2, 3)
    driven.call("ResourceUpdateSubresourceUP", one, 0, box, data.tobytes(), 16, 32)
    assert (texels(driven, one) == expected).all()


def test_an_update_reads_no_memory_behind_its_data() -> None:
    driven = Rendering(checking=False)
    with pytest.raises(ContractError, match="shorter"):
        driven.call("ResourceUpdateSubresourceUP", driven.buffer(bytes(4)), 0, None, b"123")
    with pytest.raises(ContractError, match="shorter"):
        driven.call("ResourceUpdateSubresourceUP", filled(driven, 1), 0, None, bytes(256), -32, 0)


def test_the_data_of_an_update_is_handed_over_with_its_command() -> None:
    driven = Rendering()
    one, staging = driven.buffer(bytes(64)), driven.buffer(bytes(64), usage=Usage.STAGING)
    before = driven.adapter.gpu.counters.upload_bytes
    driven.call("ResourceUpdateSubresourceUP", one, 0, None, bytes(64))
    driven.call("ResourceCopy", staging, one)
    driven.call("Flush")
    assert driven.adapter.gpu.counters.upload_bytes - before == 2 * 16 + 64


def test_much_data_is_flushed() -> None:
    driven = Rendering()
    one = driven.buffer(bytes(1 << 22))
    for _ in range(5):
        driven.call("ResourceUpdateSubresourceUP", one, 0, None, b"x" * (1 << 22))
    assert driven.adapter.gpu.counters.upload_bytes >= 1 << 24


def test_what_is_immutable_is_not_written() -> None:
    driven = Rendering()
    made, given = driven.buffer(bytes(4), usage=Usage.IMMUTABLE), driven.buffer(bytes(4))
    for entry, arguments in (
        ("ResourceCopy", (made, given)),
        ("ResourceUpdateSubresourceUP", (made, 0, None, b"1234")),
    ):
        with pytest.raises(ContractError) as broken:
            driven.call(entry, *arguments)
        assert broken.value.rule == "IMMUTABLE"
    assert driven.call("ResourceCopy", given, made) == []


# Resolving and levels


def test_resolving_is_of_one_slice_to_another() -> None:
    driven = Rendering()
    given = driven.texture(width=8, height=8, samples=4, slices=2)
    desc = CreateTargetView(given, RGBA8.value, FLAT, FirstArraySlice=1)
    driven.call("ClearRenderTargetView", driven.make("RenderTargetView", desc), (0, 1, 0, 1))
    made = filled(driven, 1, levels=1, slices=2)
    before = driven.read(made, 0)
    driven.call("ResourceResolveSubresource", made, 1, given, 1, RGBA8.value)
    assert driven.read(made, 0) == before
    assert (driven.pixels(made, 1, 8) == 0xFF00FF00).all()


def test_typeless_resources_are_resolved_as_what_they_are_said_to_be() -> None:
    driven = Rendering()
    format = DxgiFormat.R8G8B8A8_TYPELESS
    given, made = driven.texture(format, samples=4), driven.texture(format)
    driven.call("ClearRenderTargetView", driven.target(given), (1, 1, 0, 1))
    driven.call("ResourceResolveSubresource", made, 0, given, 0, RGBA8.value)
    assert (driven.pixels(made) == 0xFF00FFFF).all()
    with pytest.raises(ContractError, match="same texels"):
        driven.call("ResourceResolveSubresource", made, 0, given, 0, DxgiFormat.R32_FLOAT.value)


def test_levels_are_made_within_a_view() -> None:
    driven = Rendering()
    made = filled(
        driven, 1, levels=4, slices=2, bind=BindFlag.SHADER_RESOURCE | BindFlag.RENDER_TARGET
    )
    desc = CreateShaderResourceView(
        made, RGBA8.value, FLAT, MostDetailedMip=1, MipLevels=2, FirstArraySlice=1, ArraySize=1
    )
    before = [driven.read(made, index) for index in range(8)]
    assert driven.call("GenMips", driven.make("ShaderResourceView", desc)) == []
    changed = [driven.read(made, index) != before[index] for index in range(8)]
    assert changed == [index == 6 for index in range(8)]
    above = np.frombuffer(before[5], np.uint8).reshape(2, 2, 2, 2, 4).astype(int)
    found = np.frombuffer(driven.read(made, 6), np.uint8).reshape(2, 2, 4).astype(int)
    assert (abs(4 * found - above.sum(axis=(1, 3))) <= 2).all()


@pytest.mark.parametrize(
    ("format", "samples"),
    [(DxgiFormat.R8G8B8A8_UINT, 4), (DxgiFormat.D24_UNORM_S8_UINT, 4), (RGBA8, 1)],
)
def test_only_samples_that_have_a_mean_are_resolved(format: DxgiFormat, samples: int) -> None:
    driven = Rendering(checking=False)
    given, made = driven.texture(format, samples=samples), driven.texture(format)
    with pytest.raises(ContractError) as broken:
        driven.call("ResourceResolveSubresource", made, 0, given, 0, format.value)
    assert broken.value.rule == "SAME_TEXELS"


def test_levels_are_made_of_formats_with_a_mean() -> None:
    driven = Rendering(checking=False)
    for made, dimension, format in (
        (driven.texture(DxgiFormat.R8G8B8A8_UINT, bind=READ), FLAT, DxgiFormat.R8G8B8A8_UINT),
        (driven.texture(DxgiFormat.BC1_UNORM, bind=READ), FLAT, DxgiFormat.BC1_UNORM),
        (driven.buffer(bytes(64), READ), ResourceType.BUFFER, RGBA8),
    ):
        desc = CreateShaderResourceView(made, format.value, dimension, NumElements=4)
        view = driven.make("ShaderResourceView", desc)
        with pytest.raises(ContractError) as broken:
            driven.call("GenMips", view)
        assert broken.value.rule == "KNOWN_VIEW"


# Clears


def test_a_clear_fills_all_slices_of_a_view_and_nothing_else() -> None:
    driven = Rendering()
    made = filled(driven, 1, levels=2, slices=3)
    before = [driven.read(made, index) for index in range(6)]
    view = driven.target(made, RGBA8, 1, 1, 2)
    assert driven.call("ClearRenderTargetView", view, (0, 0, 1, 0)) == []
    after = [driven.read(made, index) for index in range(6)]
    blue = np.full(16, 0x00FF0000, "<u4").tobytes()
    assert after == [*before[:3], blue, before[4], blue]


def test_a_clear_fills_slices_of_a_volume() -> None:
    driven = Rendering()
    made = filled(driven, 1, kind=VOLUME, depth=4)
    expected = texels(driven, made).copy()
    expected[1:3] = 0xFF0000FF
    desc = CreateTargetView(made, RGBA8.value, VOLUME, 0, 1, 2)
    driven.call("ClearRenderTargetView", driven.make("RenderTargetView", desc), (1, 0, 0, 1))
    assert (texels(driven, made) == expected).all()


def test_a_clear_is_of_any_float() -> None:
    driven = Rendering()
    format = DxgiFormat.R32G32B32A32_FLOAT
    made = driven.texture(format, 1, 1)
    color = (-1.5, 1e30, 0.25, 2.0)
    driven.call("ClearRenderTargetView", driven.target(made, format), color)
    assert driven.read(made) == np.array(color, "<f4").tobytes()


def test_a_clear_has_four_numbers_that_may_be_too_large() -> None:
    driven = Rendering(checking=False)
    format = DxgiFormat.R32G32B32A32_FLOAT
    made = driven.texture(format, 1, 1)
    view = driven.target(made, format)
    with pytest.raises(ContractError, match="fit"):
        driven.call("ClearRenderTargetView", view, (1, 1, 1))
    assert driven.call("ClearRenderTargetView", view, (1e300, -1e300, 0, 1)) == []
    assert driven.read(made) == np.array([np.inf, -np.inf, 0, 1], "<f4").tobytes()


@pytest.mark.parametrize("flags", list(range(4)))
def test_depth_and_stencil_are_cleared_as_the_flags_say(flags: int) -> None:
    driven = Rendering()
    made = driven.texture(D24S8, 8, 8, bind=BindFlag.DEPTH_STENCIL)
    view = driven.depth(made)
    driven.call("ClearDepthStencilView", view, 3, 0.0, 0x55)
    assert driven.call("ClearDepthStencilView", view, flags, 1.0, 0x1AA) == []
    depth = 0xFFFFFF if flags & ClearFlag.DEPTH else 0
    stencil = 0xAA if flags & ClearFlag.STENCIL else 0x55
    assert (driven.pixels(made, size=8) == depth | stencil << 24).all()


# Order and removal


def test_hazards_are_of_resources_and_views() -> None:
    driven = Rendering()
    made = filled(driven, 1, bind=BindFlag.SHADER_RESOURCE)
    desc = CreateShaderResourceView(made, RGBA8.value, FLAT)
    view = driven.make("ShaderResourceView", desc)
    assert driven.call("ResourceReadAfterWriteHazard", made) == []
    assert driven.call("ShaderResourceViewReadAfterWriteHazard", view, made) == []
    with pytest.raises(ContractError):
        driven.call("ResourceReadAfterWriteHazard", view)


def test_a_removed_device_moves_nothing() -> None:
    driven = Rendering()
    one = driven.buffer(b"abcd", usage=Usage.DEFAULT)
    driven.adapter.remove()
    assert driven.call("ResourceCopy", one, one) == REMOVED
    assert driven.call("ResourceUpdateSubresourceUP", one, 0, None, b"1234") == REMOVED

"""StretchRect, ColorFill and the like: what is sent, and what Direct3D 9 does not allow."""

from __future__ import annotations

from typing import Any

import pytest

from dp2emu.d3d.enums import ComposeRectsOp, Format, TextureFilter
from dp2emu.d3d.hresult import HResult
from dp2emu.gpu.resource.heap import SurfaceDesc
from dp2emu.runtime import Device9, Rects, Refused

from .sent import flushed, scripted


def other(device: Device9, format: Format = Format.R5G6B5) -> SurfaceDesc:
    return device.create_render_target(4, 4, format)


@pytest.mark.parametrize(
    ("filter", "flags"),
    [(TextureFilter.NONE, 0), (TextureFilter.POINT, 1), (TextureFilter.LINEAR, 2)],
)
def test_a_stretch_names_both_rectangles_and_its_filter(filter: TextureFilter, flags: int) -> None:
    device, rig = scripted()
    source = other(device)
    device.stretch_rect(source, device.back_buffer, None, (1, 2, 8, 6), filter)
    ((name, items),) = flushed(device, rig)
    assert name == "BLT"
    assert items == [
        (source.handle, (0, 0, 4, 4), 0, device.back_buffer.handle, (1, 2, 8, 6), 0, flags)
    ]


def test_a_fill_is_of_a_rectangle() -> None:
    device, rig = scripted()
    device.color_fill(device.back_buffer, (1, 1, 3, 4), 0x12345678)
    device.color_fill(device.back_buffer, None, -1)
    handle = device.back_buffer.handle
    assert flushed(device, rig) == [
        ("COLORFILL", [(handle, (1, 1, 3, 4), 0x12345678)]),
        ("COLORFILL", [(handle, (0, 0, 8, 6), 0xFFFFFFFF)]),
    ]


BAD_RECTANGLES = [(0, 0, 9, 6), (-1, 0, 4, 4), (4, 0, 4, 4), (4, 4, 2, 2), (0, 5, 4, 3)]


@pytest.mark.parametrize("rect", BAD_RECTANGLES)
def test_rectangles_lie_inside_and_are_not_turned_round(rect: Any) -> None:
    device, rig = scripted()
    source = other(device)
    for call in (
        lambda: device.stretch_rect(source, device.back_buffer, None, rect),
        lambda: device.stretch_rect(device.back_buffer, source, rect),
        lambda: device.color_fill(device.back_buffer, rect),
    ):
        with pytest.raises(Refused) as caught:
            call()
        assert caught.value.hr == HResult.D3DERR_INVALIDCALL
    assert flushed(device, rig) == []


def test_surfaces_are_not_stretched_onto_themselves_or_with_other_filters() -> None:
    device, _ = scripted()
    source = other(device)
    with pytest.raises(Refused):
        device.stretch_rect(source, source, (0, 0, 2, 2), (2, 2, 4, 4))
    with pytest.raises(Refused):
        device.stretch_rect(source, device.back_buffer, filter=TextureFilter.ANISOTROPIC)


def test_only_targets_are_stretched_to_or_filled() -> None:
    device, _ = scripted()
    plain = device.textures.surface(device.create_texture(4, 4, Format.R5G6B5), 0)
    with pytest.raises(Refused):
        device.stretch_rect(device.back_buffer, plain)
    with pytest.raises(Refused):
        device.color_fill(plain)
    with pytest.raises(Refused):
        device.color_fill(device.depth_buffer or plain)


def test_depth_moves_whole_between_equals_outside_scenes() -> None:
    device, rig = scripted()
    depth = device.depth_buffer
    assert depth is not None
    twin = device.create_depth_stencil(8, 6, Format.D24S8)
    device.stretch_rect(depth, twin)
    assert [name for name, _ in flushed(device, rig)] == ["BLT"]
    wrong = (
        device.create_depth_stencil(8, 6, Format.D16),
        device.create_depth_stencil(8, 5, Format.D24S8),
        device.create_render_target(8, 6, Format.R5G6B5),
    )
    for target in wrong:
        with pytest.raises(Refused):
            device.stretch_rect(depth, target)
    with pytest.raises(Refused):
        device.stretch_rect(depth, twin, (0, 0, 4, 6), (0, 0, 4, 6))
    device.begin_scene()
    with pytest.raises(Refused):
        device.stretch_rect(depth, twin)


def test_a_composition_names_surfaces_buffers_and_operation() -> None:
    device, rig = scripted()
    font, word = (device.create_texture(8, 8, Format.A1).desc for _ in range(2))
    sources, places = (device.create_vertex_buffer(bytes(8)) for _ in range(2))
    device.compose_rects(font, word, Rects(sources, places, 1, ComposeRectsOp.NEG, (-3, 4)))
    ((name, (item,)),) = flushed(device, rig)
    assert name == "COMPOSERECTS"
    assert item == (font.handle, word.handle, sources.handle, 1, places.handle, 4, -3, 4)
    other = device.create_texture(8, 8, Format.A8).desc
    for source, target, count in (
        (font, font, 1), (font, other, 1), (other, word, 1), (font, word, 0x10000),
    ):  # fmt: skip
        with pytest.raises(Refused):
            device.compose_rects(source, target, Rects(sources, places, count))


def test_a_kernel_is_sent_without_weights() -> None:
    device, rig = scripted()
    device.set_convolution_mono_kernel(7, 1)
    assert flushed(device, rig) == [("SETCONVOLUTIONKERNELMONO", [(7, 1, 0)])]
    for size in ((0, 1), (1, 0), (8, 1), (1, 8)):
        with pytest.raises(Refused):
            device.set_convolution_mono_kernel(*size)

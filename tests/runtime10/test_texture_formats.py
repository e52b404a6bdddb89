"""Textures that a format allows: type, levels, samples and bind flags."""

from __future__ import annotations

import pytest

from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.ddi10.adapter import Adapter
from dp2emu.ddi10.resources.resource import ResourceType
from dp2emu.errors import Unsupported
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.runtime10 import DriverDevice, Refused, TextureDesc

F, T = DxgiFormat, ResourceType
SHADER_RESOURCE, RENDER_TARGET, DEPTH_STENCIL, UNORDERED_ACCESS = 0x8, 0x20, 0x40, 0x80


def possible(kind: ResourceType, format: DxgiFormat, **members: int) -> bool:
    """Whether a texture can be created; 16 texels each way unless ``members`` differ."""
    sides = {"width": 16, "height": 1 if kind is T.TEXTURE1D else 16}
    slices = {"slices": 6} if kind is T.TEXTURECUBE else {}
    desc = TextureDesc(kind, format.value, **{**sides, **slices, **members})  # type: ignore[arg-type]
    try:
        DriverDevice(Adapter(Gpu())).create_texture(desc)
    except Refused:
        return False
    return True


@pytest.mark.parametrize(
    ("kind", "format", "fits"),
    [
        (T.TEXTURE1D, F.BC7_UNORM, False),
        (T.TEXTURE2D, F.BC7_UNORM, True),
        (T.TEXTURE3D, F.BC6H_UF16, True),
        (T.TEXTURECUBE, F.BC6H_SF16, True),
        (T.TEXTURE1D, F.R8G8_B8G8_UNORM, True),
        (T.TEXTURE3D, F.R24G8_TYPELESS, False),
        (T.TEXTURE3D, F.R32_TYPELESS, True),
        (T.TEXTURE3D, F.D16_UNORM, False),
        (T.TEXTURECUBE, F.D32_FLOAT, True),
        (T.TEXTURE2D, F.R10G10B10_XR_BIAS_A2_UNORM, True),
        (T.TEXTURECUBE, F.R10G10B10_XR_BIAS_A2_UNORM, False),
    ],
)
def test_a_format_has_the_types_of_textures_of_its_row(
    kind: ResourceType, format: DxgiFormat, fits: bool
) -> None:
    assert possible(kind, format) is fits


def test_a_format_that_is_only_shown_has_one_level() -> None:
    assert not possible(T.TEXTURE2D, F.R10G10B10_XR_BIAS_A2_UNORM, levels=2)


@pytest.mark.parametrize(
    ("format", "width", "height", "fits"),
    [
        (F.BC7_UNORM, 8, 12, True),
        (F.BC7_UNORM, 6, 8, False),
        (F.BC7_UNORM, 8, 6, False),
        (F.BC1_TYPELESS, 2, 2, False),
        (F.G8R8_G8B8_UNORM, 2, 1, True),
        (F.G8R8_G8B8_UNORM, 3, 1, False),
    ],
)
def test_the_top_level_is_whole_blocks(
    format: DxgiFormat, width: int, height: int, fits: bool
) -> None:
    assert possible(T.TEXTURE2D, format, width=width, height=height) is fits


@pytest.mark.parametrize(
    ("format", "bind", "fits"),
    [
        (F.BC7_UNORM, SHADER_RESOURCE, True),
        (F.BC7_UNORM, RENDER_TARGET, False),
        (F.D24_UNORM_S8_UINT, DEPTH_STENCIL, True),
        (F.D24_UNORM_S8_UINT, DEPTH_STENCIL | SHADER_RESOURCE, False),
        (F.R24G8_TYPELESS, DEPTH_STENCIL | SHADER_RESOURCE, True),
        (F.R9G9B9E5_SHAREDEXP, RENDER_TARGET, False),
        (F.R8G8B8A8_UNORM, UNORDERED_ACCESS, True),
        (F.B8G8R8A8_UNORM, UNORDERED_ACCESS, False),
        (F.R8G8B8A8_UNORM_SRGB, UNORDERED_ACCESS, True),
        (F.B8G8R8A8_UNORM_SRGB, UNORDERED_ACCESS, False),
        (F.D32_FLOAT, UNORDERED_ACCESS, False),
    ],
)
def test_a_typed_texture_is_bound_for_the_uses_of_its_format(
    format: DxgiFormat, bind: int, fits: bool
) -> None:
    assert possible(T.TEXTURE2D, format, bind=bind) is fits


def test_samples_need_a_format_of_targets() -> None:
    assert possible(T.TEXTURE2D, F.B5G6R5_UNORM, samples=4, bind=RENDER_TARGET)
    assert not possible(T.TEXTURE2D, F.R9G9B9E5_SHAREDEXP, samples=4)


@pytest.mark.parametrize("number", range(100, 115))
def test_textures_of_video_are_refused_by_name(number: int) -> None:
    with pytest.raises(Unsupported, match=f"DXGI_FORMAT_{F(number).name}$"):
        possible(T.TEXTURE2D, F(number))

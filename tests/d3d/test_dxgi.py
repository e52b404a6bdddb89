"""Rows of DXGI_FORMAT against a list of what their names say."""

from __future__ import annotations

from pathlib import Path

import pytest

from dp2emu.d3d.dxgi import (
    DXGI,
    ROWS,
    DdiSupport,
    FormatSupport,
    Support,
    castable,
    ddi_support,
    format_support,
)
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.formats import Coding

F = DxgiFormat
TABLE = Path(__file__).parent / "format_support_11_0.txt"
"""Columns of "Format support for Direct3D Feature Level 11.0 hardware"."""

NUMBERS = {
    "R32G32B32A32_TYPELESS": 1,
    "R16G16B16A16_FLOAT": 10,
    "D32_FLOAT_S8X24_UINT": 20,
    "R11G11B10_FLOAT": 26,
    "R8G8B8A8_UNORM": 28,
    "D24_UNORM_S8_UINT": 45,
    "D16_UNORM": 55,
    "R8_UINT": 62,
    "R9G9B9E5_SHAREDEXP": 67,
    "BC1_UNORM": 71,
    "BC5_SNORM": 84,
    "B8G8R8A8_UNORM": 87,
    "BC7_UNORM_SRGB": 99,
    "B4G4R4A4_UNORM": 115,
}

BITS = {
    "R32G32B32A32": 128, "R32G32B32": 96, "R16G16B16A16": 64, "R32G32": 64, "R32G8X24": 64,
    "D32_FLOAT_S8X24": 64, "R32_FLOAT_X8X24": 64, "X32_TYPELESS_G8X24": 64, "R10G10B10A2": 32,
    "R10G10B10_XR_BIAS_A2": 32,
    "R11G11B10": 32, "R8G8B8A8": 32, "R16G16": 32, "R32": 32, "D32": 32, "R24G8": 32, "D24": 32,
    "R24": 32, "X24": 32, "R8G8": 16, "R16": 16, "D16": 16, "R8": 8, "A8": 8, "R9G9B9E5": 32,
    "B5G6R5": 16, "B5G5R5A1": 16, "B8G8R8A8": 32, "B8G8R8X8": 32, "B4G4R4A4": 16,
}  # fmt: skip
"""Of a pixel, by what names begin with; the longest that does counts."""


@pytest.mark.parametrize(("name", "number"), NUMBERS.items())
def test_numbers_are_those_of_the_header(name: str, number: int) -> None:
    assert F[name].value == number
    assert F[name].sdk == f"DXGI_FORMAT_{name}"


def test_there_are_116_numbers_without_a_gap() -> None:
    assert [format.value for format in F] == list(range(116))


def test_formats_of_video_and_unknown_have_no_row() -> None:
    assert {f.value for f in F if f not in DXGI} == {0, *range(100, 115)}


@pytest.mark.parametrize("format", [f for f in DXGI if not ROWS[f].blocked])
def test_pixels_have_the_bits_their_names_add_up_to(format: DxgiFormat) -> None:
    beginning = max((b for b in BITS if f"{format.name}_".startswith(f"{b}_")), key=len)
    assert 8 * ROWS[format].size == BITS[beginning]


def test_red_of_rgba_and_blue_of_bgra_lie_in_the_lowest_byte() -> None:
    assert ROWS[F.R8G8B8A8_UNORM].channels["r"].shift == 0
    assert ROWS[F.B8G8R8A8_UNORM].channels["b"].shift == 0


def test_depth_lies_below_the_stencil() -> None:
    both = ROWS[F.D24_UNORM_S8_UINT]
    assert (both.depth and both.depth.shift, both.stencil and both.stencil.shift) == (0, 24)
    far = ROWS[F.D32_FLOAT_S8X24_UINT]
    assert far.depth and far.depth.coding is Coding.FLOAT
    assert far.stencil and (far.stencil.shift, far.stencil.bits) == (32, 8)


@pytest.mark.parametrize(
    ("format", "lanes"),
    [
        (F.R8_UNORM, (0.0, 0.0, 1.0)),
        (F.R24_UNORM_X8_TYPELESS, (0.0, 0.0, 1.0)),
        (F.B8G8R8X8_UNORM, (1.0,)),
    ],
)
def test_components_that_are_missing_are_0_0_0_1(
    format: DxgiFormat, lanes: tuple[float, ...]
) -> None:
    assert ROWS[format].lanes[4 - len(lanes) :] == lanes


def test_stencil_is_read_as_green() -> None:
    red, green, blue, alpha = ROWS[F.X24_TYPELESS_G8_UINT].lanes
    assert (red, blue, alpha) == (0.0, 0.0, 1.0)
    assert green == ROWS[F.D24_UNORM_S8_UINT].stencil


@pytest.mark.parametrize(
    ("view", "family"),
    [
        (F.R8G8B8A8_UNORM_SRGB, F.R8G8B8A8_TYPELESS),
        (F.D32_FLOAT, F.R32_TYPELESS),
        (F.D16_UNORM, F.R16_TYPELESS),
        (F.X24_TYPELESS_G8_UINT, F.R24G8_TYPELESS),
        (F.R24_UNORM_X8_TYPELESS, F.R24G8_TYPELESS),
        (F.D24_UNORM_S8_UINT, F.R24G8_TYPELESS),
        (F.R32_FLOAT_X8X24_TYPELESS, F.R32G8X24_TYPELESS),
        (F.X32_TYPELESS_G8X24_UINT, F.R32G8X24_TYPELESS),
        (F.D32_FLOAT_S8X24_UINT, F.R32G8X24_TYPELESS),
        (F.R10G10B10_XR_BIAS_A2_UNORM, F.R10G10B10A2_TYPELESS),
        (F.BC6H_SF16, F.BC6H_TYPELESS),
        (F.BC3_UNORM_SRGB, F.BC3_TYPELESS),
        (F.R11G11B10_FLOAT, F.R11G11B10_FLOAT),
        (F.R8G8_B8G8_UNORM, F.R8G8_B8G8_UNORM),
        (F.A8_UNORM, F.A8_UNORM),
    ],
)
def test_families_are_typeless_formats_of_the_same_bits(
    view: DxgiFormat, family: DxgiFormat
) -> None:
    assert DXGI[view].family is family
    assert castable(family, view)
    assert ROWS[view].size == ROWS[family].size


def test_a_typed_resource_is_cast_to_nothing_else() -> None:
    assert castable(F.R8G8B8A8_UNORM, F.R8G8B8A8_UNORM)
    assert not castable(F.R8G8B8A8_UNORM, F.R8G8B8A8_UINT)
    assert not castable(F.R8G8B8A8_TYPELESS, F.R32_FLOAT)


def test_only_16_and_32_bits_without_a_sign_are_indices() -> None:
    assert {f for f, row in DXGI.items() if Support.INDEX in row.support} == {
        F.R16_UINT,
        F.R32_UINT,
    }


def test_integers_are_neither_filtered_nor_blended() -> None:
    whole = [row for row in DXGI.values() if row.integers]
    assert len(whole) == 23
    for row in whole:
        assert not row.support & (Support.SAMPLE | Support.BLEND | Support.MIPS | Support.RESOLVE)


def test_check_format_support_follows_from_the_rows() -> None:
    assert ddi_support(F.R8G8B8A8_UNORM) == DdiSupport(0x1F)
    assert ddi_support(F.R8G8B8A8_UINT) == DdiSupport(0x1A)
    assert ddi_support(F.D16_UNORM) == DdiSupport.MULTISAMPLE_RENDERTARGET
    assert ddi_support(F.R24_UNORM_X8_TYPELESS) == DdiSupport(0x11)
    assert ddi_support(F.R10G10B10_XR_BIAS_A2_UNORM) == DdiSupport(0)
    assert ddi_support(F.BC7_UNORM_SRGB) == DdiSupport.SHADER_SAMPLE
    assert ddi_support(F.BC1_UNORM) == DdiSupport.SHADER_SAMPLE
    assert ddi_support(F.R32_TYPELESS) == DdiSupport(0)
    for format in (F.UNKNOWN, F.NV12):
        assert ddi_support(format) == DdiSupport.NOT_SUPPORTED


BLOCKS = {
    "BC1": (8, 4, 4), "BC2": (16, 4, 4), "BC3": (16, 4, 4), "BC4": (8, 4, 4), "BC5": (16, 4, 4),
    "BC6H": (16, 4, 4), "BC7": (16, 4, 4), "R1": (1, 8, 1), "R8G8_B8G8": (4, 2, 1),
    "G8R8_G8B8": (4, 2, 1),
}  # fmt: skip
"""Bytes, width and height."""


@pytest.mark.parametrize("format", [f for f in DXGI if ROWS[f].blocked])
def test_texels_of_a_block_share_its_bytes(format: DxgiFormat) -> None:
    (wanted,) = (size for name, size in BLOCKS.items() if format.name.startswith(f"{name}_"))
    assert (ROWS[format].size, *ROWS[format].block) == wanted


def test_every_name_of_a_block_is_one() -> None:
    beginnings = {f.name.split("_UNORM")[0].split("_")[0] for f in DXGI if ROWS[f].blocked}
    assert beginnings == {"BC1", "BC2", "BC3", "BC4", "BC5", "BC6H", "BC7", "R1", "R8G8", "G8R8"}


HEAD, *LINES = TABLE.read_text().splitlines()
LETTERS = dict(line.split() for line in LINES)
"""Format -> a letter for each column of the document: R required, o optional, d required if an
optional feature is there, - disallowed."""
USES = [FormatSupport[name] for name in HEAD.split()]


@pytest.mark.parametrize("name", LETTERS)
def test_uses_of_a_format_are_those_of_the_document_the_optional_ones_included(name: str) -> None:
    found = format_support(F[name])
    for use, letter in zip(USES, LETTERS[name], strict=True):
        assert (use in found) is (letter != "-"), use


def test_the_document_lists_all_formats_but_video_formats_and_r1() -> None:
    assert set(LETTERS) == {f.name for f in DXGI} - {"R1_UNORM"} | {"UNKNOWN"}


def test_formats_of_video_have_no_use() -> None:
    assert {format_support(F(number)) for number in range(100, 115)} == {FormatSupport(0)}


def test_back_buffers_are_cast_if_they_have_a_family() -> None:
    shown = {f.name for f in F if FormatSupport.BACK_BUFFER_CAST in format_support(f)}
    assert shown == {
        "R16G16B16A16_FLOAT", "R10G10B10A2_UNORM", "R10G10B10_XR_BIAS_A2_UNORM", "R8G8B8A8_UNORM",
        "R8G8B8A8_UNORM_SRGB", "B8G8R8A8_UNORM", "B8G8R8A8_UNORM_SRGB",
    }  # fmt: skip

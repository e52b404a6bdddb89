"""How textures are sampled, as the raw state asks for it."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from dp2emu.d3d.enums import Format, TextureAddress, TextureFilter
from dp2emu.d3d.legacy import MagFilter7, MinFilter7, MipFilter7, TextureStageState8
from dp2emu.dp2.resolve.samplers import BoundTexture, samplers
from dp2emu.dp2.states.raw_state import SRGB_TEXTURE, State
from dp2emu.errors import Fault
from dp2emu.gpu.command.bindings import TextureBinding
from dp2emu.gpu.resource.heap import Heap, Surface, SurfaceDesc, SurfaceKind
from dp2emu.shader.ir import TextureKind
from dp2emu.shader.texture.records import SamplerKey

ANISOTROPIC = int(TextureFilter.ANISOTROPIC)
MONO = int(TextureFilter.CONVOLUTIONMONO)
FILTERS = [filter for filter in TextureFilter if filter != MONO]
SHAPES = [
    (SurfaceKind.TEXTURE, TextureKind.TEX2D),
    (SurfaceKind.SURFACE, TextureKind.TEX2D),
    (SurfaceKind.CUBETEXTURE, TextureKind.CUBE),
    (SurfaceKind.VOLUMETEXTURE, TextureKind.VOLUME),
    (SurfaceKind.VOLUME, TextureKind.VOLUME),
]


def texture(kind: SurfaceKind = SurfaceKind.TEXTURE, levels: int = 1) -> Surface:
    return Heap().create(SurfaceDesc(1, kind, 8, 8, int(Format.A8R8G8B8), levels=levels))


def asked(
    states: dict[int, int],
    surface: Surface | None = None,
    interface: int = 9,
    stage: int = 0,
    **more: object,
) -> tuple[SamplerKey, TextureBinding]:
    """Key and binding of the sampler of a stage with these states over the defaults."""
    made = State(has_depth=False)
    for number, value in states.items():
        made.set_texture_stage_state(stage, number, value)
    bound = BoundTexture(surface or texture(levels=4), **more)  # type: ignore[arg-type]
    keys, bindings = samplers(made, interface, {stage: bound}, [(3, stage, bound.kind)])
    ((number, key),) = keys
    assert number == 3 and list(bindings) == [3]
    return key, bindings[3]


def key(states: dict[int, int], **more: object) -> SamplerKey:
    return asked(states, **more)[0]  # type: ignore[arg-type]


def test_device_defaults_are_point_filters_and_wrapped_coordinates() -> None:
    assert key({}) == SamplerKey(TextureKind.TEX2D, Format.A8R8G8B8, levels=True)


@pytest.mark.parametrize(("surface", "kind"), SHAPES)
def test_shape_is_that_of_the_resource(surface: SurfaceKind, kind: TextureKind) -> None:
    assert key({}, surface=texture(surface)).kind is kind


@pytest.mark.parametrize("format", [Format.D16, Format.D24S8, Format.D32F_LOCKABLE])
def test_depths_are_a_shape_of_their_own(format: Format) -> None:
    depths = Heap().create(SurfaceDesc(1, SurfaceKind.TEXTURE, 4, 4, format))
    assert key({}, surface=depths).kind is TextureKind.SHADOW


def test_texture_of_another_shape_than_the_program_expects_is_none() -> None:
    bound = {5: BoundTexture(texture(SurfaceKind.CUBETEXTURE))}
    made = State(has_depth=False)
    assert samplers(made, 9, bound, [(5, 5, TextureKind.TEX2D)]) == ((), {})
    assert samplers(made, 9, bound, [(4, 4, TextureKind.CUBE)]) == ((), {})
    assert len(samplers(made, 9, bound, [(5, 5, TextureKind.CUBE)])[0]) == 1


@pytest.mark.parametrize("stage", [0, 7, 8, 15, 257, 260])
def test_every_sampler_has_states_of_its_own(stage: int) -> None:
    assert key({TextureStageState8.ADDRESSV: 3}, stage=stage).address[1] is TextureAddress.CLAMP


@pytest.mark.parametrize("mode", TextureAddress)
@pytest.mark.parametrize("place", range(3))
def test_address_modes_are_those_of_their_coordinate(mode: TextureAddress, place: int) -> None:
    name = ("ADDRESSU", "ADDRESSV", "ADDRESSW")[place]
    found = key({TextureStageState8[name]: mode}, surface=texture(SurfaceKind.VOLUMETEXTURE))
    wanted = [TextureAddress.WRAP] * 3
    wanted[place] = mode
    assert found.address == tuple(wanted)


def test_address_modes_of_coordinates_there_are_not_do_not_matter() -> None:
    odd = {TextureStageState8.ADDRESSW: 99}
    assert key(odd).address == (TextureAddress.WRAP,) * 3
    odd |= {TextureStageState8.ADDRESSU: 0, TextureStageState8.ADDRESSV: 3}
    cube = texture(SurfaceKind.CUBETEXTURE)
    assert key(odd, surface=cube).address == (TextureAddress.WRAP,) * 3


def test_state_12_addresses_both_u_and_v() -> None:
    clamp, mirror, wrap = TextureAddress.CLAMP, TextureAddress.MIRROR, TextureAddress.WRAP
    assert key({12: clamp}).address == (clamp, clamp, wrap)
    assert key({12: clamp, 13: mirror}).address == (mirror, clamp, wrap)


FILTERS_7 = [
    ("MAGFILTER", "mag", [(each, TextureFilter[each.name]) for each in MagFilter7]),
    ("MINFILTER", "min", [(each, TextureFilter[each.name]) for each in MinFilter7]),
    ("MIPFILTER", "mip", [(each, TextureFilter[each.name]) for each in MipFilter7]),
]


@pytest.mark.parametrize("interface", [6, 7])
@pytest.mark.parametrize(("state", "field", "rows"), FILTERS_7)
def test_filters_before_directx_8_have_numbers_of_their_own(
    state: str, field: str, rows: list[tuple[int, TextureFilter]], interface: int
) -> None:
    number = TextureStageState8[state]
    for value, meaning in rows:
        assert getattr(key({number: value}, interface=interface), field) is meaning
    for value in (6,) if field == "mip" else (0, 6):
        with pytest.raises(Fault, match=f"{state} of stage 0 is {value}"):
            key({number: value}, interface=interface)


@pytest.mark.parametrize("interface", [8, 9])
@pytest.mark.parametrize("filter", FILTERS)
def test_filters_since_directx_8_share_their_numbers(
    filter: TextureFilter, interface: int
) -> None:
    for state, field in (("MAGFILTER", "mag"), ("MINFILTER", "min")):
        found = key({TextureStageState8[state]: filter}, interface=interface)
        assert getattr(found, field) is (filter or TextureFilter.POINT)
    mip = key({TextureStageState8.MIPFILTER: filter}, interface=interface).mip
    assert mip is TextureFilter(min(filter, TextureFilter.LINEAR))
    with pytest.raises(Fault, match="MIPFILTER"):
        key({TextureStageState8.MIPFILTER: 9}, interface=interface)


def test_mip_filter_matters_to_textures_with_levels() -> None:
    states = {int(TextureStageState8.MIPFILTER): 2}
    assert key(states, surface=texture(levels=2)).mip is TextureFilter.LINEAR
    found = key(states, surface=texture())
    assert (found.mip, found.levels) == (TextureFilter.NONE, False)


@pytest.mark.parametrize(("value", "probes"), [(0, 1), (1, 1), (5, 5), (16, 16), (1 << 31, 16)])
def test_anisotropy_is_bounded_and_of_its_filter(value: int, probes: int) -> None:
    states = {int(TextureStageState8.MAXANISOTROPY): value}
    assert key(states).anisotropy == 1
    assert key(states | {TextureStageState8.MINFILTER: ANISOTROPIC}).anisotropy == probes
    assert key(states | {TextureStageState8.MAGFILTER: ANISOTROPIC}).anisotropy == probes


def test_srgb_is_a_state_of_its_own() -> None:
    """Its lowest bit, whatever the others are."""
    found = [key({SRGB_TEXTURE: value}).srgb for value in (0, 1, 2, 5, 100, 0x7E41882A)]
    assert found == [False, True, False, True, False, False]


def test_numbers_of_the_sampler_reach_its_binding() -> None:
    bias = struct.unpack("<I", struct.pack("<f", -1.5))[0]
    states = {
        TextureStageState8.MIPMAPLODBIAS: bias,
        TextureStageState8.MAXMIPLEVEL: 2,
        TextureStageState8.MIPFILTER: 1,
        TextureStageState8.BORDERCOLOR: 0x12345678,
    }
    palette, surface = np.arange(256, dtype=np.uint32), texture(levels=4)
    found, binding = asked(
        {int(number): value for number, value in states.items()},
        surface, palette=palette, alpha_palette=True, most_detailed=1,
    )  # fmt: skip
    assert found.alpha_palette
    assert (binding.lod_bias, binding.max_level, binding.border) == (-1.5, 2, 0x12345678)
    assert (binding.surface, binding.most_detailed) == (surface, 1)
    assert binding.palette is palette


def test_levels_beyond_the_last_are_the_last() -> None:
    states = {int(TextureStageState8.MAXMIPLEVEL): 0xFFFFFFFF, TextureStageState8.MIPFILTER: 1}
    _, binding = asked(states, texture(levels=3), most_detailed=9)
    assert (binding.max_level, binding.most_detailed) == (2, 2)


def test_without_mip_filter_only_the_texture_s_own_level_counts() -> None:
    states = {int(TextureStageState8.MAXMIPLEVEL): 2, TextureStageState8.MIPFILTER: 0}
    _, binding = asked(states, texture(levels=3), most_detailed=1)
    assert (binding.max_level, binding.most_detailed) == (0, 1)


@pytest.mark.parametrize(
    ("format", "alpha_palette", "alpha"),
    [
        (Format.A8R8G8B8, False, 255), (Format.A4R4G4B4, False, 15), (Format.A1R5G5B5, False, 1),
        (Format.X8R8G8B8, False, 0), (Format.DXT1, False, 255), (Format.DXT5, False, 255),
        (Format.UYVY, False, 0), (Format.A8P8, False, 255), (Format.P8, False, 0),
        (Format.P8, True, 255),
    ],
)  # fmt: skip
def test_alpha_is_what_texels_can_store(format: Format, alpha_palette: bool, alpha: int) -> None:
    surface = Heap().create(SurfaceDesc(1, SurfaceKind.TEXTURE, 8, 8, int(format)))
    assert BoundTexture(surface, alpha_palette=alpha_palette).alpha == alpha


def monochrome(kind: SurfaceKind = SurfaceKind.TEXTURE, levels: int = 1) -> Surface:
    return Heap().create(SurfaceDesc(1, kind, 8, 8, int(Format.A1), levels=levels))


@pytest.mark.parametrize("state", ["MAGFILTER", "MINFILTER"])
def test_convolution_takes_no_other_filter_address_or_level(state: str) -> None:
    states = {
        TextureStageState8[state]: MONO,
        TextureStageState8.MIPFILTER: 2,
        TextureStageState8.ADDRESSU: 99,
    }
    found = key(states, surface=monochrome(levels=3))
    border = TextureAddress.BORDER
    assert (found.mag, found.min, found.mip) == (MONO, MONO, TextureFilter.NONE)
    assert found.address == (border, border, TextureAddress.WRAP)
    assert (found.kernel, found.levels) == ((1, 1), True)


def test_convolution_is_of_flat_monochrome_textures() -> None:
    states: dict[int, int] = {TextureStageState8.MAGFILTER: MONO}
    refused = (
        texture(), monochrome(SurfaceKind.CUBETEXTURE), monochrome(SurfaceKind.VOLUMETEXTURE),
    )  # fmt: skip
    for surface in refused:
        with pytest.raises(Fault, match="convolution of"):
            key(states, surface=surface)


def test_a_monochrome_texture_has_two_alphas() -> None:
    assert BoundTexture(monochrome()).alpha == 1

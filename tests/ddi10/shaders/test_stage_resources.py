"""Textures, buffers and samplers through the entries, by every kind of engine at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from msgspec.structs import replace
from numpy.typing import NDArray

from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.enums import CmpFunc, TextureAddress, TextureFilter
from dp2emu.ddi10.adapter import Adapter
from dp2emu.ddi10.resources.resource import (
    BindFlag,
    CreateResource,
    MipInfo,
    ResourceType,
    SubresourceUP,
)
from dp2emu.ddi10.resources.views import BufferExFlag, CreateShaderResourceView, ShaderView
from dp2emu.ddi10.shaders.stage_resources import bind_units
from dp2emu.ddi10.states.state_objects import SamplerDesc
from dp2emu.errors import Unsupported
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.shader.engines import CHECKED, engine
from dp2emu.shader.ir import TextureKind
from dp2emu.shader.resources import Dimension, ReadOpcode, Unit
from dp2emu.shader.sm4 import assemble
from tests.ddi10.drawing import SIZE, strip, tokens
from tests.ddi10.rendering import Handle, Rendering

F = DxgiFormat
Words = NDArray[np.uint32]
READ = BindFlag.SHADER_RESOURCE
T1, T2, T3, CUBE = (
    ResourceType.TEXTURE1D,
    ResourceType.TEXTURE2D,
    ResourceType.TEXTURE3D,
    ResourceType.TEXTURECUBE,
)


def ps(lines: Sequence[str], head: str = "", version: str = "ps_5_0") -> bytes:
    """A pixel shader that has the place of its pixel in r0.xy, whole, and writes o0 of bits."""
    text = [
        version,
        *head.splitlines(),
        "dcl_input_ps_siv linear noperspective v0.xy, position",
        "dcl_output o0.xyzw",
        "dcl_temps 3",
        "ftou r0.xy, v0.xyxx",
        "mov r0.zw, l(0, 0, 0, 0)",
        *lines,
        "ret",
    ]
    return assemble("\n".join(text))


class Reading(Rendering):
    """Draws a shader over a target of four words for each pixel."""

    def __init__(self) -> None:
        super().__init__(adapter=Adapter(Gpu(run=engine(CHECKED)), checking=True))
        self.result = self.texture(F.R32G32B32A32_UINT)

    def view(self, resource: Handle, format: DxgiFormat, kind: int, **part: int) -> Handle:
        desc = CreateShaderResourceView(resource, format.value, kind, **part)
        return self.make("ShaderResourceView", desc)

    def run(self, code: bytes, views: Sequence[Handle | None], *samplers: SamplerDesc) -> Words:
        """The words of all pixels, shape (SIZE, SIZE, 4)."""
        self.prepare()
        self.call("VsSetShader", self.make("VertexShader", tokens("vs_pass")))
        self.call("PsSetShader", self.make("PixelShader", code))
        self.vertices(strip())
        self.call("PsSetShaderResources", 0, list(views))
        self.call("PsSetSamplers", 0, [self.make("Sampler", each) for each in samplers])
        target = self.target(self.result, F.R32G32B32A32_UINT)
        self.call("SetRenderTargets", [target], 7, None)
        self.call("Draw", 4, 0)
        return np.frombuffer(self.read(self.result), "<u4").reshape(SIZE, SIZE, 4)


def words(count: int, start: int = 1) -> NDArray[np.uint32]:
    return np.arange(start, start + count, dtype=np.uint32)


def levels_of(*sides: tuple[int, ...]) -> list[tuple[SubresourceUP, Words]]:
    """Levels of 32-bit texels, each with numbers of its own; sides are width, height, depth."""
    found, start = [], 1
    for side in sides:
        width, height, depth = (*side, 1, 1)[:3]
        data = words(width * height * depth, start).reshape(depth, height, width)
        found.append((SubresourceUP(data.tobytes(), 4 * width, 4 * width * height), data))
        start += 1000
    return found


TYPE = "(uint,uint,uint,uint)"


def test_a_texel_is_loaded_from_the_level_of_the_view() -> None:
    driven, given = Reading(), levels_of((16, 8), (8, 4), (4, 2))
    resource = driven.texture(
        F.R32_TYPELESS, 16, 8, bind=READ, levels=3, data=[up for up, _ in given]
    )
    view = driven.view(resource, F.R32_UINT, T2, MostDetailedMip=1, MipLevels=2)
    for level in (0, 1, 2):
        code = ps([f"mov r0.w, l({level})", "ld o0, r0, t0"], f"dcl_resource_texture2d {TYPE} t0")
        found = driven.run(code, [view])
        data = given[level + 1][1][0] if level < 2 else np.zeros((0, 0), np.uint32)
        wanted = np.zeros((SIZE, SIZE), np.uint32)
        wanted[: data.shape[0], : data.shape[1]] = data
        assert (found[..., 0] == wanted).all()
        assert (found[..., 3] == 1).all()


def test_a_slice_is_loaded_from_those_of_the_view() -> None:
    driven, given = Reading(), levels_of(*[(16, 16)] * 4)
    resource = driven.texture(F.R32_UINT, bind=READ, slices=4, data=[up for up, _ in given])
    view = driven.view(resource, F.R32_UINT, T2, FirstArraySlice=1, ArraySize=2)
    for slice in (0, 1, 2):
        code = ps(
            [f"mov r0.z, l({slice})", "ld o0, r0, t0"], f"dcl_resource_texture2darray {TYPE} t0"
        )
        wanted = given[slice + 1][1][0] if slice < 2 else np.zeros((SIZE, SIZE), np.uint32)
        assert (driven.run(code, [view])[..., 0] == wanted).all()


def test_a_volume_is_loaded_by_three_numbers() -> None:
    driven, ((up, data),) = Reading(), levels_of((16, 16, 3))
    resource = driven.texture(F.R32_UINT, bind=READ, kind=T3, depth=3, data=[up])
    view = driven.view(resource, F.R32_UINT, T3)
    code = ps(["mov r0.z, l(2)", "ld o0, r0, t0"], f"dcl_resource_texture3d {TYPE} t0")
    assert (driven.run(code, [view])[..., 0] == data[2]).all()


def test_a_texture_of_one_axis_is_loaded_by_one_number() -> None:
    driven, ((up, data),) = Reading(), levels_of((16, 1))
    resource = driven.texture(F.R32_UINT, 16, 1, bind=READ, kind=T1, data=[up])
    view = driven.view(resource, F.R32_UINT, T1)
    code = ps(["mov r0.y, l(0)", "ld o0, r0, t0"], f"dcl_resource_texture1d {TYPE} t0")
    assert (driven.run(code, [view])[..., 0] == data[0]).all()


def test_a_typed_buffer_is_loaded_by_element() -> None:
    driven = Reading()
    resource = driven.buffer(words(20).astype("<u2").tobytes(), READ)
    view = driven.view(resource, F.R16G16_UINT, ResourceType.BUFFER, FirstElement=2, NumElements=5)
    code = ps(["mov r0.yzw, l(0, 0, 0, 0)", "ld o0, r0, t0"], f"dcl_resource_buffer {TYPE} t0")
    row = driven.run(code, [view])[3]
    assert row[:6, 0].tolist() == [5, 7, 9, 11, 13, 0]
    assert row[:6, 1].tolist() == [6, 8, 10, 12, 14, 0]
    assert (
        driven.run(ps(["bufinfo o0, t0"], f"dcl_resource_buffer {TYPE} t0"), [view])[0, 0].tolist()
        == [5] * 4
    )


def test_a_raw_buffer_is_loaded_by_byte() -> None:
    driven = Reading()
    info = [MipInfo(64)]
    desc = CreateResource(
        info, [SubresourceUP(words(16).tobytes())], ResourceType.BUFFER, 0, READ, MiscFlags=0x20
    )
    resource = driven.make("Resource", desc)
    view = driven.view(
        resource, F.R32_TYPELESS, ResourceType.BUFFEREX, FirstElement=4, NumElements=6,
        Flags=BufferExFlag.RAW,
    )  # fmt: skip
    code = ps(["ishl r1.x, r0.x, l(2)", "ld_raw o0, r1.x, t0"], "dcl_resource_raw t0")
    row = driven.run(code, [view])[0]
    assert row[0].tolist() == [5, 6, 7, 8]
    assert row[4].tolist() == [9, 10, 0, 0]
    counted = driven.run(ps(["bufinfo o0, t0"], "dcl_resource_raw t0"), [view])
    assert counted[0, 0, 0] == 24


def test_a_structured_buffer_is_loaded_by_structure() -> None:
    driven = Reading()
    desc = CreateResource(
        [MipInfo(48)], [SubresourceUP(words(12).tobytes())], ResourceType.BUFFER, 0, READ,
        MiscFlags=0x40, ByteStride=12,
    )  # fmt: skip
    resource = driven.make("Resource", desc)
    view = driven.view(resource, F.UNKNOWN, ResourceType.BUFFER, FirstElement=1, NumElements=3)
    code = ps(["ld_structured o0, r0.x, l(4), t0"], "dcl_resource_structured t0, 12")
    row = driven.run(code, [view])[0]
    assert row[:4].tolist() == [[5, 6, 0, 0], [8, 9, 0, 0], [11, 12, 0, 0], [0, 0, 0, 0]]
    counted = driven.run(ps(["bufinfo o0, t0"], "dcl_resource_structured t0, 12"), [view])
    assert counted[0, 0, 0] == 3


@pytest.mark.parametrize(
    ("kind", "dimension", "sides", "slices", "wanted"),
    [
        (T1, "1d", (16, 1), 1, (8, 0, 0, 3)),
        (T1, "1darray", (16, 1), 2, (8, 2, 0, 3)),
        (T2, "2d", (16, 8), 1, (8, 4, 0, 3)),
        (T2, "2darray", (16, 8), 2, (8, 4, 2, 3)),
        (T3, "3d", (16, 8, 4), 1, (8, 4, 2, 3)),
        (CUBE, "cube", (16, 16), 6, (8, 8, 0, 3)),
        (CUBE, "cubearray", (16, 16), 12, (8, 8, 0, 3)),
    ],
)
def test_sizes_are_those_of_a_level(
    kind: int, dimension: str, sides: tuple[int, ...], slices: int, wanted: tuple[int, ...]
) -> None:
    driven = Reading()
    width, height, depth = (*sides, 1)[:3]
    resource = driven.texture(
        F.R8_UINT, width, height, bind=READ, levels=3, slices=slices, kind=kind, depth=depth
    )
    view = driven.view(resource, F.R8_UINT, kind)
    head = f"dcl_resource_texture{dimension} {TYPE} t0"
    assert driven.run(ps(["resinfo_uint o0, l(1), t0"], head), [view])[0, 0].tolist() == [*wanted]
    beyond = driven.run(ps(["resinfo_uint o0, l(3), t0"], head), [view])[0, 0].tolist()
    assert beyond == [0, 0, 0, 3]


@pytest.mark.parametrize(
    "line", ["ld o0, r0, t0", "resinfo_uint o0, l(0), t0", "sample_l o0, v0.xyxx, t0, s0, l(0)"]
)
def test_nothing_bound_reads_0_in_all_components(line: str) -> None:
    head = f"dcl_sampler s0, mode_default\ndcl_resource_texture2d {TYPE} t0"
    assert not Reading().run(ps([line], head), [None]).any()


def test_a_texture_of_another_kind_counts_as_not_bound() -> None:
    driven = Reading()
    resource = driven.texture(F.R32_UINT, bind=READ, kind=T3, depth=2)
    view = driven.view(resource, F.R32_UINT, T3)
    code = ps(["ld o0, r0, t0"], f"dcl_resource_texture2d {TYPE} t0")
    assert not driven.run(code, [view]).any()


def test_srgb_views_are_sampled_in_linear_light() -> None:
    driven = Reading()
    data = bytes((188, 0, 255, 128)) * SIZE * SIZE
    resource = driven.texture(F.R8G8B8A8_TYPELESS, bind=READ, data=[SubresourceUP(data, 4 * SIZE)])
    head = "dcl_sampler s0, mode_default\ndcl_resource_texture2d (float,float,float,float) t0"
    code = ps(["sample o0, l(0.5, 0.5, 0, 0), t0, s0"], head)
    for format, red in ((F.R8G8B8A8_UNORM, 188 / 255), (F.R8G8B8A8_UNORM_SRGB, 0.5028865)):
        view = driven.view(resource, format, T2)
        found = driven.run(code, [view], SamplerDesc(0)).view(np.float32)[5, 5]
        assert found.tolist() == [np.float32(red), 0, 1, np.float32(128 / 255)]


def test_samples_of_a_texture_are_loaded_one_by_one() -> None:
    driven = Reading()
    resource = driven.texture(F.R8G8B8A8_UNORM, bind=READ | BindFlag.RENDER_TARGET, samples=4)
    drawn = driven.target(resource)
    driven.prepare(sample_mask=0b0101)
    driven.shaders()
    driven.vertices(strip((1, 1, 1, 1)))
    driven.call("SetRenderTargets", [drawn], 7, None)
    driven.call("Draw", 4, 0)
    view = driven.view(resource, F.R8G8B8A8_UNORM, T2)
    head = "dcl_resource_texture2dms(4) (float,float,float,float) t0"
    for sample in range(5):
        code = ps([f"ldms o0, r0, t0, l({sample})"], head, "ps_4_1")
        found = driven.run(code, [view]).view(np.float32)
        assert (found[..., 0] == (1.0 if sample in (0, 2) else 0.0)).all()
    told = driven.run(ps(["sampleinfo_uint o0, t0"], head, "ps_4_1"), [view])
    assert told[0, 0].tolist() == [4, 0, 0, 0]
    place = driven.run(ps(["samplepos o0, t0, l(1)"], head, "ps_4_1"), [view])
    assert place.view(np.float32)[0, 0].tolist() == [0.375, -0.125, 0, 0]


def test_the_samples_of_the_targets_are_told() -> None:
    driven = Reading()
    told = driven.run(ps(["sampleinfo_uint o0, rasterizer"], "", "ps_4_1"), [])
    assert told[0, 0].tolist() == [1, 0, 0, 0]


def test_vertex_shaders_read_textures() -> None:
    driven, ((up, _),) = Reading(), levels_of((16, 1))
    data = np.full(16, 0.5, np.float32).tobytes()
    resource = driven.texture(F.R32_FLOAT, 16, 1, bind=READ, data=[replace_bytes(up, data)])
    view = driven.view(resource, F.R32_FLOAT, T2)
    text = """vs_4_0
dcl_resource_texture2d (float,float,float,float) t0
dcl_input v0.xyzw
dcl_output_siv o0.xyzw, position
dcl_output o1.xyzw
dcl_temps 1
mov o0, v0
mov r0, l(3, 0, 0, 0)
ld o1, r0, t0.xxxx
ret"""
    target = driven.texture()
    driven.prepare()
    driven.call("VsSetShader", driven.make("VertexShader", assemble(text)))
    driven.call("PsSetShader", driven.make("PixelShader", tokens("ps_color")))
    driven.call("VsSetShaderResources", 0, [view])
    driven.vertices(strip())
    driven.call("SetRenderTargets", [driven.target(target)], 7, None)
    driven.call("Draw", 4, 0)
    assert (driven.pixels(target) == 0x80808080).all()


def replace_bytes(up: SubresourceUP, data: bytes) -> SubresourceUP:
    return up._replace(pSysMem=data)


UNIT = Unit(ReadOpcode.SAMPLE, 0, 0, Dimension.TEXTURE2D)


def key_of(desc: SamplerDesc, unit: Unit = UNIT, **view: object):  # type: ignore[no-untyped-def]
    driven = Reading()
    handle = driven.view(driven.texture(bind=READ, levels=3), F.R8G8B8A8_UNORM, T2, MipLevels=1)
    found: ShaderView = driven.device._parts.views.shaders.open(handle, "a test")
    ((_, key),) = bind_units([unit], {0: replace(found, **view)}, {0: desc}).samplers  # type: ignore[arg-type]
    return key


POINT, LINEAR, ANISOTROPIC = (TextureFilter.POINT, TextureFilter.LINEAR, TextureFilter.ANISOTROPIC)


@pytest.mark.parametrize(
    ("number", "wanted"),
    [
        (0x00, (POINT, POINT, POINT)),
        (0x01, (POINT, POINT, LINEAR)),
        (0x04, (LINEAR, POINT, POINT)),
        (0x05, (LINEAR, POINT, LINEAR)),
        (0x10, (POINT, LINEAR, POINT)),
        (0x11, (POINT, LINEAR, LINEAR)),
        (0x14, (LINEAR, LINEAR, POINT)),
        (0x15, (LINEAR, LINEAR, LINEAR)),
        (0x55, (LINEAR, ANISOTROPIC, LINEAR)),
    ],
)
def test_filters_are_numbered_bit_by_bit(number: int, wanted: tuple[TextureFilter, ...]) -> None:
    for comparing in (0, 0x80):
        key = key_of(SamplerDesc(number | comparing))
        assert (key.mag, key.min, key.mip) == wanted


@pytest.mark.parametrize(("given", "probes"), [(0, 1), (1, 1), (9, 9), (16, 16), (17, 16)])
def test_only_anisotropic_filters_have_probes(given: int, probes: int) -> None:
    assert key_of(SamplerDesc(0x55, MaxAnisotropy=given)).anisotropy == probes
    assert key_of(SamplerDesc(0x15, MaxAnisotropy=given)).anisotropy == 1


@pytest.mark.parametrize("number", [0x100, 0x180, 0x80000000, 0x02])
def test_other_filters_are_named(number: int) -> None:
    with pytest.raises(Unsupported, match=f"D3D10_FILTER {number:#x}"):
        key_of(SamplerDesc(number))


@pytest.mark.parametrize("number", range(1, 6))
def test_address_modes_are_one_for_each_axis(number: int) -> None:
    key = key_of(SamplerDesc(AddressU=number, AddressV=1, AddressW=3))
    assert key.address == (TextureAddress(number), TextureAddress.WRAP, TextureAddress.CLAMP)


def test_only_shaders_that_compare_compare() -> None:
    desc = SamplerDesc(ComparisonFunc=CmpFunc.GREATER)
    assert key_of(desc).compare is None
    assert key_of(desc, replace(UNIT, comparison=True)).compare is CmpFunc.GREATER


def test_a_key_has_what_the_unit_and_the_view_say() -> None:
    key = key_of(SamplerDesc(MinLOD=1.0), replace(UNIT, texel=(1, -2, 0)), levels=range(3))
    assert (key.kind, key.offset, key.levels, key.ranged) == (
        TextureKind.TEX2D,
        (1, -2, 0),
        True,
        True,
    )
    assert not key_of(SamplerDesc()).ranged
    assert key_of(SamplerDesc(), replace(UNIT, dimension=Dimension.TEXTURE2DARRAY)).layers


FLOATS = "(float,float,float,float)"
POINT_SAMPLER = SamplerDesc(0, 3, 3, 3, ComparisonFunc=CmpFunc.LESS)


def counted(*sides: tuple[int, ...]) -> list[SubresourceUP]:
    """Levels of float texels 1, 2, 3 and so on, each from 1000 times its number on."""
    found = []
    for number, side in enumerate(sides):
        width, height, depth = (*side, 1, 1)[:3]
        data = np.arange(width * height * depth, dtype=np.float32) + 1 + 1000 * number
        found.append(SubresourceUP(data.tobytes(), 4 * width, 4 * width * height))
    return found


SAMPLED = [
    # Kind, name, sides, slices; a place, and the texel that is there.
    (T1, "1d", (4, 1), 1, (0.625, 0, 0, 0), 3),
    (T1, "1darray", (4, 1), 3, (0.625, 1.5, 0, 0), 2003),
    (T2, "2d", (4, 2), 1, (0.625, 0.75, 0, 0), 7),
    (T2, "2darray", (4, 2), 3, (0.625, 0.75, 0.5, 0), 7),
    (T2, "2darray", (4, 2), 3, (0.625, 0.75, 9.0, 0), 2007),
    (T3, "3d", (4, 2, 2), 1, (0.625, 0.75, 0.75, 0), 15),
    (CUBE, "cube", (2, 2), 6, (0.25, -0.25, -1.0, 0), 5003),
    (CUBE, "cubearray", (2, 2), 12, (0.25, -0.25, -1.0, 1.0), 11003),
]


@pytest.mark.parametrize(("kind", "name", "sides", "slices", "place", "texel"), SAMPLED)
def test_every_kind_of_texture_is_sampled(
    kind: int, name: str, sides: tuple[int, ...], slices: int, place: tuple[float, ...], texel: int
) -> None:
    driven = Reading()
    width, height, depth = (*sides, 1)[:3]
    resource = driven.texture(
        F.R32_FLOAT, width, height, bind=READ, slices=slices, kind=kind, depth=depth,
        data=counted(*[sides] * slices),
    )  # fmt: skip
    view = driven.view(resource, F.R32_FLOAT, kind)
    head = f"dcl_sampler s0, mode_default\ndcl_resource_texture{name} {FLOATS} t0"
    numbers = ", ".join(f"{float(c)!r}" for c in place)
    for line in (f"sample_l o0, l({numbers}), t0, s0, l(0)", f"sample o0, l({numbers}), t0, s0"):
        found = driven.run(ps([line], head), [view], POINT_SAMPLER).view(np.float32)
        assert (found == [texel, 0, 0, 1]).all(), line
        mixed = driven.run(ps([line], head), [view], SamplerDesc(0x15, 1, 2, 4)).view(np.float32)
        assert (mixed == mixed[0, 0]).all(), line


DEPTH_VIEWS = [
    (F.R32_TYPELESS, F.R32_FLOAT, np.float32(0.5).view(np.uint32), 4),
    (F.R16_TYPELESS, F.R16_UNORM, 0x8000, 2),
    (F.R24G8_TYPELESS, F.R24_UNORM_X8_TYPELESS, 0xFF800000, 4),
    (F.R32G8X24_TYPELESS, F.R32_FLOAT_X8X24_TYPELESS, np.float32(0.5).view(np.uint32), 8),
]


@pytest.mark.parametrize(("made", "seen", "word", "size"), DEPTH_VIEWS)
def test_views_of_depth_compare(made: DxgiFormat, seen: DxgiFormat, word: int, size: int) -> None:
    driven = Reading()
    texel = int(word).to_bytes(size, "little")
    resource = driven.texture(
        made, bind=READ, data=[SubresourceUP(texel * SIZE * SIZE, size * SIZE)]
    )
    view = driven.view(resource, seen, T2)
    head = f"dcl_sampler s0, mode_comparison\ndcl_resource_texture2d {FLOATS} t0"
    for reference, lit in ((0.25, 1.0), (0.75, 0.0)):
        line = f"sample_c_lz o0, l(0.5, 0.5, 0, 0), t0, s0, l({reference})"
        sampler = POINT_SAMPLER._replace(Filter=0x95)
        found = driven.run(ps([line], head), [view], sampler).view(np.float32)
        assert (found == lit).all()


@pytest.mark.parametrize(("component", "wanted"), [("x", (11, 12, 7, 6)), ("w", (1, 1, 1, 1))])
def test_four_texels_are_gathered_counter_clockwise_from_the_lower_left(
    component: str, wanted: tuple[int, ...]
) -> None:
    driven = Reading()
    resource = driven.texture(F.R32_FLOAT, 5, 4, bind=READ, data=counted((5, 4)))
    view = driven.view(resource, F.R32_FLOAT, T2)
    head = f"dcl_sampler s0, mode_default\ndcl_resource_texture2d {FLOATS} t0"
    line = f"gather4 o0, l(0.2, 0.5, 0, 0), t0, s0.{component}"
    found = driven.run(ps([line], head), [view], POINT_SAMPLER).view(np.float32)
    assert (found == np.array(wanted)).all()


def test_the_level_of_detail_of_a_place_is_told() -> None:
    driven = Reading()
    resource = driven.texture(
        F.R32_FLOAT, 16, 16, bind=READ, levels=3, data=counted((16, 16), (8, 8), (4, 4))
    )
    view = driven.view(resource, F.R32_FLOAT, T2)
    head = f"dcl_sampler s0, mode_default\ndcl_resource_texture2d {FLOATS} t0"
    lines = ["utof r1, r0", "mul r1, r1, l(0.5, 0.5, 0, 0)", "lod o0, r1, t0, s0"]
    found = driven.run(ps(lines, head, "ps_4_1"), [view], SamplerDesc(0x15)).view(np.float32)
    assert (found == [2, 3, 0, 0]).all()
    clamped = SamplerDesc(0x15, MaxLOD=1.25)
    found = driven.run(ps(lines, head, "ps_4_1"), [view], clamped).view(np.float32)
    assert (found == [1.25, 3, 0, 0]).all()

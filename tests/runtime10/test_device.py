"""Feature levels, validation and capabilities of devices."""

from __future__ import annotations

from typing import Any

import pytest

from dp2emu.ddi10.adapter import Adapter
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.runtime10 import (
    Api,
    BindFlag,
    BlendDesc,
    BufferDesc,
    CounterDesc,
    CpuAccess,
    Device,
    Feature,
    FeatureLevel,
    Format,
    FormatSupport,
    FormatSupport2,
    QueryDesc,
    RasterizerDesc,
    Refused,
    RenderTargetBlend,
    Residency,
    ResourceMisc,
    Result,
    SampleDesc,
    SamplerDesc,
    SubresourceData,
    Texture1DDesc,
    Texture2DDesc,
    Texture3DDesc,
    Usage,
    ViewDesc,
    ViewDimension,
)
from dp2emu.runtime10.feature_levels import check_elements
from dp2emu.runtime10.signatures import VertexElement
from dp2emu.shader.sm4 import pack
from dp2emu.shader.sm4.container import Chunk
from tests.runtime10.making import (
    COMPUTE,
    DOMAIN,
    GEOMETRY,
    MAKERS,
    RGBA8,
    VERTEX,
    buffer,
    code,
    device,
    staging,
    target,
    texture,
)

L = FeatureLevel
READ, TARGET = int(BindFlag.SHADER_RESOURCE), int(BindFlag.RENDER_TARGET)


def refused(call: Any, *arguments: Any) -> int:
    """The result of a failing call."""
    with pytest.raises(Refused) as caught:
        call(*arguments)
    return caught.value.hr


def flat(width: int, **more: Any) -> Texture2DDesc:
    return Texture2DDesc(width, 4, Format=RGBA8, BindFlags=READ)._replace(**more)


# Feature levels


@pytest.mark.parametrize(
    ("api", "level"),
    [(Api.D3D10, L.LEVEL_10_0), (Api.D3D10_1, L.LEVEL_10_1), (Api.D3D11, L.LEVEL_11_0)],
)
def test_each_interface_has_its_default_level(api: Api, level: FeatureLevel) -> None:
    assert device(api).feature_level is level


@pytest.mark.parametrize(
    ("api", "level"), [(Api.D3D10, L.LEVEL_9_1), (Api.D3D10_1, L.LEVEL_11_0), (Api.D3D11, 0xC000)]
)
def test_levels_that_an_interface_lacks_are_refused(api: Api, level: int) -> None:
    assert refused(device, api, level) == Result.E_INVALIDARG


WIDEST = {L.LEVEL_9_1: 2048, L.LEVEL_9_3: 4096, L.LEVEL_10_0: 8192, L.LEVEL_11_0: 16384}


@pytest.mark.parametrize(("level", "width"), WIDEST.items())
def test_a_level_limits_the_size_of_textures(level: FeatureLevel, width: int) -> None:
    dev = device(level=level)
    dev.create_texture2d(flat(width))
    assert refused(dev.create_texture2d, flat(width + 1)) == Result.E_INVALIDARG


BEYOND: list[tuple[FeatureLevel, str, Any]] = [
    (L.LEVEL_9_3, "create_texture2d", flat(4, ArraySize=2)),
    (L.LEVEL_9_3, "create_texture2d", flat(5, MipLevels=2)),
    (L.LEVEL_9_3, "create_texture2d", flat(4, Format=Format.R32G32B32A32_UINT)),
    (L.LEVEL_9_3, "create_texture1d", Texture1DDesc(4, Format=RGBA8, BindFlags=READ)),
    (L.LEVEL_9_3, "create_texture3d", Texture3DDesc(512, 4, 4, 1, RGBA8, BindFlags=READ)),
    (L.LEVEL_9_3, "create_buffer", BufferDesc(16, BindFlags=BindFlag.STREAM_OUTPUT)),
    (L.LEVEL_9_3, "create_blend_state", BlendDesc(AlphaToCoverageEnable=1)),
    (L.LEVEL_9_3, "create_blend_state", BlendDesc(0, 0, (RenderTargetBlend(1, 11),) * 8)),
    (L.LEVEL_9_3, "create_blend_state", BlendDesc(0, 0, (RenderTargetBlend(1, 5, 16),) * 8)),
    (L.LEVEL_9_3, "create_buffer", BufferDesc(16, BindFlags=3)),
    (L.LEVEL_9_3, "create_rasterizer_state", RasterizerDesc(DepthClipEnable=0)),
    (L.LEVEL_9_3, "create_rasterizer_state", RasterizerDesc(DepthBiasClamp=0.5)),
    (L.LEVEL_9_3, "create_sampler_state", SamplerDesc(Filter=0x95)),
    (L.LEVEL_9_3, "create_sampler_state", SamplerDesc(BorderColor=(0, 0, 0, 2))),
    (L.LEVEL_9_3, "create_sampler_state", SamplerDesc(MinLOD=0.5)),
    (L.LEVEL_9_3, "create_sampler_state", SamplerDesc(MaxLOD=4.0)),
    (L.LEVEL_9_1, "create_sampler_state", SamplerDesc(Filter=0x55, MaxAnisotropy=4)),
    (L.LEVEL_9_1, "create_sampler_state", SamplerDesc(AddressV=5)),
    (L.LEVEL_9_1, "create_query", QueryDesc(1)),
    (L.LEVEL_9_3, "create_query", QueryDesc(4)),
    (L.LEVEL_9_3, "create_predicate", QueryDesc(5)),
    (L.LEVEL_9_3, "create_counter", CounterDesc(1)),
    (L.LEVEL_9_3, "create_geometry_shader", code(GEOMETRY)),
    (L.LEVEL_9_3, "create_vertex_shader", pack([Chunk("SHDR", code(VERTEX))])),
    (L.LEVEL_10_0, "create_texture2d", flat(4, ArraySize=513)),
    (L.LEVEL_10_1, "create_texture2d", flat(4, Format=Format.BC7_UNORM)),
    (L.LEVEL_10_1, "create_texture2d", flat(4, BindFlags=0x80)),
    (L.LEVEL_10_1, "create_compute_shader", code(COMPUTE)),
    (L.LEVEL_10_1, "create_domain_shader", code(DOMAIN)),
    (L.LEVEL_10_0, "create_blend_state",
     BlendDesc(0, 1, (RenderTargetBlend(1, 5), *(RenderTargetBlend(),) * 7))),
]  # fmt: skip


@pytest.mark.parametrize(("level", "name", "given"), BEYOND)
def test_what_is_beyond_a_level_is_refused(level: FeatureLevel, name: str, given: Any) -> None:
    assert refused(getattr(device(level=level), name), given) == Result.E_INVALIDARG


WITHIN: list[tuple[FeatureLevel, str, Any]] = [
    (L.LEVEL_10_0, "create_rasterizer_state", RasterizerDesc(DepthClipEnable=0)),
    (
        L.LEVEL_10_0,
        "create_sampler_state",
        SamplerDesc(Filter=0x95, MaxAnisotropy=0, MinLOD=0.5, MaxLOD=4.0),
    ),
    (L.LEVEL_10_0, "create_buffer", BufferDesc(16, BindFlags=3)),
    (L.LEVEL_10_0, "create_query", QueryDesc(4)),
    (L.LEVEL_9_2, "create_query", QueryDesc(1)),
    (L.LEVEL_9_1, "create_query", QueryDesc(0)),
    (L.LEVEL_9_2, "create_sampler_state", SamplerDesc(Filter=0x55, AddressV=5)),
    (L.LEVEL_9_1, "create_sampler_state", SamplerDesc(Filter=0x55, MaxAnisotropy=2)),
]


@pytest.mark.parametrize(("level", "name", "given"), WITHIN)
def test_what_a_level_has_is_created(level: FeatureLevel, name: str, given: Any) -> None:
    assert getattr(device(level=level), name)(given).desc == given


@pytest.mark.parametrize(
    ("level", "slots", "taken"),
    [(L.LEVEL_9_1, [(0, 0)], True), (L.LEVEL_9_1, [(0, 0), (1, 1)], False),
     (L.LEVEL_9_3, [(0, 0), (1, 1)], True), (L.LEVEL_9_3, [(1, 0), (0, 1)], False),
     (L.LEVEL_10_0, [(15, 1)], True), (L.LEVEL_10_0, [(16, 0)], False),
     (L.LEVEL_11_0, [(31, 0)], True)],
)  # fmt: skip
def test_a_level_limits_the_elements_of_vertices(
    level: FeatureLevel, slots: list[tuple[int, int]], taken: bool
) -> None:
    elements = [
        VertexElement("v", number, Format.R32G32B32A32_FLOAT, slot, 0, per_instance, per_instance)
        for number, (slot, per_instance) in enumerate(slots)
    ]
    if taken:
        check_elements(level, elements)
        return
    assert refused(check_elements, level, elements) == Result.E_INVALIDARG


@pytest.mark.parametrize(("level", "slots"), [(L.LEVEL_10_0, 16), (L.LEVEL_11_0, 32)])
def test_a_level_limits_the_slots_of_vertex_buffers(level: FeatureLevel, slots: int) -> None:
    dev = device(level=level)
    buffer = dev.create_buffer(BufferDesc(16, BindFlags=BindFlag.VERTEX_BUFFER))
    dev.context.ia_set_vertex_buffers(slots - 1, [buffer, buffer], [16, 16], [0, 0])
    assert dev.context.messages and not any(map(any, dev.context.ia_get_vertex_buffers(0, slots)))
    dev.context.ia_set_vertex_buffers(slots - 1, [buffer], [16], [0])
    assert dev.context.ia_get_vertex_buffers(slots - 1, 1) == [(buffer, 16, 0)]


def test_shaders_for_levels_9_run_there() -> None:
    both = pack([Chunk("Aon9", bytes(8)), Chunk("SHDR", code(VERTEX))])
    device(level=L.LEVEL_9_1).create_vertex_shader(both)


def test_a_level_limits_the_number_of_render_targets() -> None:
    dev = device(level=L.LEVEL_9_1)
    views = [target(dev, 4) for _ in range(2)]
    dev.context.om_set_render_targets(views)
    assert dev.context.om_get_render_targets(2) == ([None, None], None)
    dev.context.om_set_render_targets(views[:1])
    assert dev.context.om_get_render_targets(1)[0] == views[:1]


# Validation


def cpu(flags: CpuAccess) -> int:
    return int(flags)


WRONG_BUFFERS = [
    BufferDesc(0, BindFlags=1),
    BufferDesc(16, Usage.DEFAULT, 1, cpu(CpuAccess.READ)),
    BufferDesc(16, Usage.IMMUTABLE, 1),
    BufferDesc(16, Usage.DYNAMIC, 1),
    BufferDesc(16, Usage.DYNAMIC, 0x10, cpu(CpuAccess.WRITE)),
    BufferDesc(16, Usage.STAGING, 1, cpu(CpuAccess.READ)),
    BufferDesc(16, Usage.STAGING),
    BufferDesc(16, BindFlags=0x40),
    BufferDesc(16, BindFlags=0x5),
    BufferDesc(20, BindFlags=0x4),
    BufferDesc(16, BindFlags=0x200),
    BufferDesc(16, BindFlags=1, MiscFlags=0x20),
    BufferDesc(16, BindFlags=1, MiscFlags=0x4),
    BufferDesc(16, BindFlags=8, MiscFlags=0x60, StructureByteStride=4),
    BufferDesc(16, BindFlags=8, MiscFlags=0x40, StructureByteStride=3),
    BufferDesc(16, BindFlags=1, MiscFlags=0x40, StructureByteStride=4),
    BufferDesc(16, Usage.STAGING, 0, cpu(CpuAccess.READ), 0x10),
    BufferDesc(16, Usage.DYNAMIC, 1, cpu(CpuAccess.WRITE), 0x2),
    BufferDesc(16, BindFlags=1, MiscFlags=0x102),
]


@pytest.mark.parametrize("desc", WRONG_BUFFERS)
def test_flags_of_buffers_that_do_not_go_together_are_refused(desc: BufferDesc) -> None:
    assert refused(device().create_buffer, desc) == Result.E_INVALIDARG


GENERATED, GDI = int(ResourceMisc.GENERATE_MIPS), int(ResourceMisc.GDI_COMPATIBLE)
BGRA8 = Format.B8G8R8A8_UNORM
WRONG_TEXTURES = [
    flat(4, BindFlags=1),
    flat(4, Usage=int(Usage.DYNAMIC), CPUAccessFlags=0x10000, MipLevels=2),
    flat(4, Usage=int(Usage.DYNAMIC), CPUAccessFlags=0x10000, BindFlags=TARGET),
    flat(4, Usage=int(Usage.IMMUTABLE)),
    flat(4, Usage=int(Usage.STAGING), CPUAccessFlags=0x20000),
    flat(4, BindFlags=0x60, Format=Format.R24G8_TYPELESS),
    flat(4, SampleDesc=SampleDesc(4)),
    flat(4, SampleDesc=SampleDesc(0)),
    flat(4, BindFlags=TARGET, SampleDesc=SampleDesc(4, 5)),
    flat(4, MiscFlags=GENERATED),
    flat(6, MiscFlags=4, ArraySize=6),
    flat(4, MiscFlags=4, ArraySize=5),
    flat(4, MiscFlags=0x2, MipLevels=2),
    flat(4, MiscFlags=0x102),
    flat(4, BindFlags=TARGET, MiscFlags=GDI),
    flat(4, Format=BGRA8, MiscFlags=GDI),
]


@pytest.mark.parametrize("desc", WRONG_TEXTURES)
def test_flags_of_textures_that_do_not_go_together_are_refused(desc: Texture2DDesc) -> None:
    assert refused(device().create_texture2d, desc) == Result.E_INVALIDARG


def test_flags_that_go_together_are_accepted() -> None:
    dev = device()
    dev.create_texture2d(flat(4, Format=BGRA8, BindFlags=TARGET, MiscFlags=GDI))
    dev.create_texture2d(flat(4, BindFlags=TARGET | READ, MiscFlags=GENERATED, MipLevels=0))
    dev.create_texture2d(flat(4, BindFlags=TARGET, SampleDesc=SampleDesc(4, 0xFFFFFFFF)))
    dev.create_buffer(BufferDesc(1 << 17, BindFlags=BindFlag.CONSTANT_BUFFER))
    shared = dev.create_texture2d(flat(4, MiscFlags=0x2))
    assert shared.ddi.MiscFlags == 2
    keyed = dev.create_texture2d(flat(4, MiscFlags=0x100))
    assert keyed.ddi.MiscFlags == 2


def test_direct3d_10_has_other_numbers_of_flags() -> None:
    old = device(Api.D3D10)
    old.create_texture2d(flat(4, Format=BGRA8, BindFlags=TARGET, MiscFlags=0x20))
    assert old.create_texture2d(flat(4, MiscFlags=0x10)).ddi.MiscFlags == 2
    assert refused(old.create_texture2d, flat(4, MiscFlags=0x200)) == Result.E_INVALIDARG
    wide = BufferDesc(1 << 17, BindFlags=BindFlag.CONSTANT_BUFFER)
    assert refused(old.create_buffer, wide) == Result.E_INVALIDARG


def test_states_have_numbers_of_32_bits() -> None:
    for bias in (1 << 32, -(1 << 31) - 1):
        desc = RasterizerDesc(DepthBias=bias)
        assert refused(device().create_rasterizer_state, desc) == Result.E_INVALIDARG
    desc = RasterizerDesc(DepthBias=-(1 << 31))
    assert device().create_rasterizer_state(desc).desc == desc


def test_initial_data_have_an_element_for_each_subresource() -> None:
    dev = device()
    given = [SubresourceData(bytes(64), 16)]
    dev.create_texture2d(flat(4), given)
    assert refused(dev.create_texture2d, flat(4, MipLevels=2), given) == Result.E_INVALIDARG
    assert refused(dev.create_buffer, BufferDesc(16, BindFlags=1), b"short") == Result.E_INVALIDARG


@pytest.mark.parametrize("kind", ["render_target", "depth_stencil", "unordered_access"])
def test_a_view_needs_the_bind_flag_of_its_resource(kind: str) -> None:
    dev = device()
    create = getattr(dev, f"create_{kind}_view")
    assert refused(create, texture(dev)) == Result.E_INVALIDARG
    assert refused(dev.create_shader_resource_view, buffer(dev)) == Result.E_INVALIDARG


def test_a_description_of_no_dimension_is_refused() -> None:
    dev = device()
    made = texture(dev, 4, TARGET)
    desc = ViewDesc(RGBA8, ViewDimension.UNKNOWN)
    assert refused(dev.create_render_target_view, made, desc) == Result.E_INVALIDARG


# Capabilities


def test_support_of_a_format_depends_on_the_level() -> None:
    unordered = FormatSupport.TYPED_UNORDERED_ACCESS_VIEW
    assert unordered in device().check_format_support(RGBA8)
    assert unordered not in device(level=L.LEVEL_10_1).check_format_support(RGBA8)
    assert refused(device(level=L.LEVEL_10_1).check_format_support, Format.BC7_UNORM) == (
        Result.E_FAIL
    )
    assert refused(device().check_format_support, 5000) == Result.E_FAIL


def test_formats_of_vertices_are_for_vertices_at_levels_9() -> None:
    found = device(level=L.LEVEL_9_1).check_format_support(Format.R32G32B32_FLOAT)
    assert found == FormatSupport.IA_VERTEX_BUFFER


def test_targets_have_one_quality_level_for_each_number_of_samples() -> None:
    dev = device()
    assert dev.check_multisample_quality_levels(RGBA8, 4) == 1
    assert dev.check_multisample_quality_levels(RGBA8, 3) == 0
    assert dev.check_multisample_quality_levels(Format.BC1_UNORM, 4) == 0
    assert refused(dev.check_multisample_quality_levels, RGBA8, 0) == Result.E_FAIL


def test_features_are_told_by_structure() -> None:
    dev = device()
    assert dev.check_feature_support(Feature.THREADING) == (False, False)
    assert dev.check_feature_support(Feature.D3D10_X_HARDWARE_OPTIONS) == (True,)
    support = dev.check_feature_support(Feature.FORMAT_SUPPORT, RGBA8)
    assert support == (RGBA8, dev.check_format_support(RGBA8))
    words = dev.check_feature_support(Feature.FORMAT_SUPPORT2, Format.R32_UINT)
    assert FormatSupport2.UAV_ATOMIC_ADD in words[1]
    assert dev.check_feature_support(Feature.FORMAT_SUPPORT2, RGBA8)[1] == (
        FormatSupport2.UAV_TYPED_STORE
    )
    for feature in (6, 7, 8, 9):
        assert dev.check_feature_support(feature)


def test_counters_are_told_and_count() -> None:
    dev, old = device(), device(Api.D3D10)
    info = dev.check_counter_info()
    assert info.NumSimultaneousCounters == 4
    text = dev.check_counter(CounterDesc(0x40000000))
    assert (text.Name, text.Units) == ("Uploaded bytes", "bytes")
    assert old.check_counter(CounterDesc(0)).Name == "GPU idle"
    assert refused(dev.check_counter, CounterDesc(0)) == Result.E_INVALIDARG
    last = CounterDesc(info.LastDeviceDependentCounter + 1)
    assert refused(dev.create_counter, last) == Result.E_INVALIDARG
    idle = old.create_counter(CounterDesc(0))
    old.context.begin(idle)
    old.context.end(idle)
    old.driver.finish()
    assert isinstance(idle.value(old.context.get_data(idle).data or b""), float)


def test_only_some_counters_are_active_at_a_time() -> None:
    old = device(Api.D3D10)
    for number in range(4):
        old.create_counter(CounterDesc(number))
    assert refused(old.create_counter, CounterDesc(5)) == Result.DXGI_ERROR_NONEXCLUSIVE


def test_residency_and_eviction_priority_of_resources() -> None:
    dev = device()
    one, other = buffer(dev), texture(dev)
    assert dev.query_resource_residency([one, other]) == [Residency.FULLY_RESIDENT] * 2
    assert one.get_eviction_priority() == 0x78000000
    one.set_eviction_priority(0x28000000)
    assert one.get_eviction_priority() == 0x28000000
    assert refused(dev.query_resource_residency, [staging(dev)]) == Result.E_INVALIDARG


def test_a_removed_adapter_is_the_reason() -> None:
    adapter = Adapter(Gpu())
    dev = Device(adapter)
    assert dev.get_device_removed_reason() == Result.S_OK
    adapter.remove()
    assert refused(dev.create_buffer, BufferDesc(16, BindFlags=1)) == (
        Result.DXGI_ERROR_DEVICE_REMOVED
    )
    assert dev.get_device_removed_reason() == Result.DXGI_ERROR_DEVICE_REMOVED


@pytest.mark.parametrize("api", Api)
def test_a_device_is_closed_with_all_its_objects(api: Api) -> None:
    dev = device(api, checking=True)
    later = ("Hull", "Domain", "Compute", "Unordered", "Class", "Command", "Counter", "Context")
    for kind, make in MAKERS.items():
        if api is Api.D3D11 or not kind.__name__.startswith(later):
            make(dev)
    dev.close()

"""State, copies, maps and hazards of contexts."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from dp2emu.d3d.enums import CmpFunc
from dp2emu.errors import ArgumentError
from dp2emu.runtime10 import (
    Api,
    BindFlag,
    BlendDesc,
    Box,
    BufferDesc,
    CpuAccess,
    DepthStencilDesc,
    Device,
    Format,
    Map,
    PrimitiveTopology,
    QueryDesc,
    QueryType,
    Rect,
    Refused,
    RenderTargetBlend,
    ResourceMisc,
    Result,
    SampleDesc,
    SamplerDesc,
    StencilOpDesc,
    SubresourceData,
    Texture1DDesc,
    Texture2DDesc,
    Texture3DDesc,
    Usage,
    ViewDesc,
    Viewport,
)
from dp2emu.runtime10.objects import Resource
from tests.runtime10.making import (
    COMPUTE,
    MAKERS,
    RGBA8,
    VERTEX,
    buffer,
    code,
    constants,
    data_of,
    depth,
    device,
    dynamic,
    staging,
    target,
    texture,
    unordered,
    viewed,
)

STAGES = ("vs", "hs", "ds", "gs", "ps", "cs")
SHADERS = dict(zip(STAGES, ("Vertex", "Hull", "Domain", "Geometry", "Pixel", "Compute"),
                   strict=True))  # fmt: skip


def made(made_in: Device, name: str) -> Any:
    (kind,) = (each for each in MAKERS if each.__name__ == name)
    return MAKERS[kind](made_in)


# Get* of all state


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_returns_what_was_bound_with_references_more(stage: str) -> None:
    dev = device()
    context = dev.context
    bound = {
        "constant_buffers": constants(dev),
        "shader_resources": viewed(dev),
        "samplers": made(dev, "SamplerState"),
    }
    for noun, thing in bound.items():
        get = getattr(context, f"{stage}_get_{noun}")
        assert get(0, 3) == [None] * 3
        getattr(context, f"{stage}_set_{noun}")(1, [thing])
        assert get(0, 3) == [None, thing, None]
        assert thing.references == 2
    shader = made(dev, f"{SHADERS[stage]}Shader")
    getattr(context, f"{stage}_set_shader")(shader)
    assert getattr(context, f"{stage}_get_shader")() is shader
    assert getattr(context, f"{stage}_get_class_instances")() == []


def test_other_state_is_returned_as_it_was_set() -> None:
    dev = device()
    context, view, deep = dev.context, target(dev), depth(dev)
    vertices, layout = buffer(dev), made(dev, "InputLayout")
    indices, streamed = buffer(dev, 64, BindFlag.INDEX_BUFFER), buffer(dev, 64, 0x10)
    blend, raster = made(dev, "BlendState"), made(dev, "RasterizerState")
    stencil, predicate = made(dev, "DepthStencilState"), made(dev, "Predicate")
    context.ia_set_input_layout(layout)
    context.ia_set_primitive_topology(PrimitiveTopology.TRIANGLELIST)
    context.ia_set_vertex_buffers(2, [vertices], [8], [16])
    context.ia_set_index_buffer(indices, Format.R16_UINT, 4)
    context.rs_set_state(raster)
    context.rs_set_viewports([Viewport(0, 0, 4, 4)])
    context.rs_set_scissor_rects([Rect(1, 2, 3, 4)])
    context.om_set_blend_state(blend, (0.5, 0.5, 0.5, 0.5), 7)
    context.om_set_depth_stencil_state(stencil, 9)
    context.om_set_render_targets([view], deep)
    context.so_set_targets([streamed], [8])
    context.set_predication(predicate, True)
    assert context.ia_get_input_layout() is layout
    assert context.ia_get_primitive_topology() == PrimitiveTopology.TRIANGLELIST
    assert context.ia_get_vertex_buffers(1, 2) == [(None, 0, 0), (vertices, 8, 16)]
    assert context.ia_get_index_buffer() == (indices, Format.R16_UINT, 4)
    assert context.rs_get_state() is raster
    assert context.rs_get_viewports() == [Viewport(0, 0, 4, 4)]
    assert context.rs_get_scissor_rects() == [Rect(1, 2, 3, 4)]
    assert context.om_get_blend_state() == (blend, (0.5, 0.5, 0.5, 0.5), 7)
    assert context.om_get_depth_stencil_state() == (stencil, 9)
    assert context.om_get_render_targets(2) == ([view, None], deep)
    assert context.so_get_targets() == [streamed, None, None, None]
    assert context.get_predication() == (predicate, True)
    assert not context.messages


def test_clear_state_sets_the_defaults_and_unbinds_everything() -> None:
    dev = device()
    context, shader, view = dev.context, made(dev, "VertexShader"), unordered(dev)
    bound = constants(dev)
    context.vs_set_shader(shader)
    context.vs_set_constant_buffers1(0, [bound], [0], [16])
    context.cs_set_unordered_access_views(1, [view])
    context.om_set_blend_state(None, (0, 0, 0, 0), 3)
    assert (shader.users, bound.users) == (1, 1)
    context.clear_state()
    assert context.vs_get_shader() is None
    assert context.vs_get_constant_buffers1(0, 1) == [(None, 0, 4096)]
    assert context.cs_get_unordered_access_views(0, 2) == [None, None]
    assert context.om_get_blend_state() == (None, (1.0, 1.0, 1.0, 1.0), 0xFFFFFFFF)
    assert (shader.users, bound.users) == (0, 0)


def test_more_slots_than_there_are_have_no_effect_and_cannot_be_asked_for() -> None:
    dev = device()
    context, bound = dev.context, constants(dev)
    context.vs_set_constant_buffers(13, [bound, bound])
    context.rs_set_viewports([Viewport(0, 0, 1, 1)] * 17)
    context.ia_set_vertex_buffers(0, [buffer(dev)], [8, 8], [0])
    assert len(context.messages) == 3
    assert context.vs_get_constant_buffers(13, 1) == [None]
    assert bound.users == 0
    asked: list[Any] = [
        lambda: context.vs_get_constant_buffers(13, 2),
        lambda: context.ps_get_samplers(-1, 1),
        lambda: context.om_get_render_targets(9),
        lambda: context.om_get_unordered_access_views(0, 1 << 31),
        lambda: context.so_get_targets(5),
    ]
    for ask in asked:
        with pytest.raises(Refused) as caught:
            ask()
        assert caught.value.hr == Result.E_INVALIDARG


def test_objects_of_other_classes_are_refused_by_name() -> None:
    dev = device()
    with pytest.raises(ArgumentError, match=r"Context.vs_set_shader: shader is a PixelShader"):
        dev.context.vs_set_shader(made(dev, "PixelShader"))
    with pytest.raises(ArgumentError, match="start_slot is 'x', not int"):
        dev.context.ps_set_samplers("x", [])  # type: ignore[arg-type]


def test_objects_of_another_device_have_no_effect() -> None:
    dev = device()
    dev.context.vs_set_constant_buffers(0, [constants(device())])
    assert dev.context.vs_get_constant_buffers(0, 1) == [None]
    assert len(dev.context.messages) == 1


# Hazards


def test_what_is_bound_as_an_output_is_unbound_as_an_input() -> None:
    dev = device()
    context, view = dev.context, target(dev)
    read = dev.create_shader_resource_view(view.resource)
    context.ps_set_shader_resources(3, [read])
    context.om_set_render_targets([view])
    assert context.ps_get_shader_resources(3, 1) == [None]
    context.ps_set_shader_resources(3, [read])
    assert context.ps_get_shader_resources(3, 1) == [None]
    assert read.users == 0
    context.om_set_render_targets([])
    context.ps_set_shader_resources(3, [read])
    assert context.ps_get_shader_resources(3, 1) == [read]


def test_a_vertex_buffer_that_is_streamed_into_is_unbound() -> None:
    dev = device()
    both = buffer(dev, 64, BindFlag.VERTEX_BUFFER | BindFlag.STREAM_OUTPUT)
    dev.context.ia_set_vertex_buffers(0, [both], [8], [0])
    dev.context.so_set_targets([both])
    assert dev.context.ia_get_vertex_buffers(0, 1) == [(None, 0, 0)]


def test_a_call_without_effect_unbinds_nothing_later() -> None:
    dev = device()
    context, view = dev.context, target(dev)
    read = dev.create_shader_resource_view(view.resource)
    context.ps_set_shader_resources(127, [read, read])
    context.so_set_targets([buffer(dev)])
    assert len(context.messages) == 2
    context.om_set_render_targets([view])
    assert context.om_get_render_targets(1)[0] == [view]
    assert len(context.messages) == 2


# References


def test_an_object_lives_as_long_as_it_is_used() -> None:
    dev = device(checking=True)
    view = target(dev)
    resource = view.get_resource()
    assert resource.references == 2
    resource.release(), resource.release()
    assert dev.child(resource.memory) is resource
    dev.context.om_set_render_targets([view])
    assert view.release() == 0
    (found,), _ = dev.context.om_get_render_targets(1)
    assert found is view and found.references == 1
    found.release()
    dev.context.clear_state()
    for gone in (view, resource):
        with pytest.raises(Refused):
            dev.child(gone.memory)
    dev.close()


def test_equal_state_descriptions_have_one_object() -> None:
    dev = device()
    for name in ("BlendState", "DepthStencilState", "RasterizerState", "SamplerState"):
        one = made(dev, name)
        assert made(dev, name) is one and one.references == 2
        one.release(), one.release()
        assert made(dev, name) is not one


def test_members_that_have_no_effect_have_default_values() -> None:
    dev, nothing = device(), StencilOpDesc(0, 0, 0, 0)
    tests = DepthStencilDesc(0, 0, 0, 0, 0, 0, nothing, nothing)
    assert dev.create_depth_stencil_state(tests).desc == DepthStencilDesc(0)
    stencil = tests._replace(StencilEnable=1, FrontFace=StencilOpDesc(), BackFace=StencilOpDesc())
    assert dev.create_depth_stencil_state(stencil).desc == stencil._replace(
        DepthWriteMask=1, DepthFunc=CmpFunc.LESS
    )
    ones = (1.0, 1.0, 1.0, 1.0)
    sampled = SamplerDesc(ComparisonFunc=0, BorderColor=ones, MaxAnisotropy=4)
    assert dev.create_sampler_state(sampled).desc == SamplerDesc(MaxAnisotropy=0)
    used = sampled._replace(AddressW=4, Filter=0xD5, ComparisonFunc=8)
    assert dev.create_sampler_state(used).desc == used
    off = RenderTargetBlend(0, 0, 0, 0, 0, 0, 0, 7)
    blended = BlendDesc(RenderTarget=(off, *[RenderTargetBlend(1)] * 7))
    shared = (RenderTargetBlend(RenderTargetWriteMask=7),) * 8
    assert dev.create_blend_state(blended).desc == BlendDesc(RenderTarget=shared)
    apart = dev.create_blend_state(blended._replace(IndependentBlendEnable=1))
    assert apart.desc.RenderTarget == (*shared[:1], *[RenderTargetBlend(1)] * 7)


def test_members_that_have_an_effect_are_values_of_direct3d() -> None:
    dev = device()
    for made_of in (
        lambda: dev.create_depth_stencil_state(DepthStencilDesc(DepthFunc=0)),
        lambda: dev.create_depth_stencil_state(
            DepthStencilDesc(0, StencilEnable=1, BackFace=StencilOpDesc(0))
        ),
        lambda: dev.create_sampler_state(SamplerDesc(0x95, ComparisonFunc=0)),
        lambda: dev.create_sampler_state(SamplerDesc(AddressU=0)),
        lambda: dev.create_blend_state(BlendDesc(RenderTarget=(RenderTargetBlend(1, 0),) * 8)),
    ):
        with pytest.raises(Refused):
            made_of()


# Copies


def words(dev: Device, *numbers: int, bind: int = BindFlag.VERTEX_BUFFER) -> Any:
    data = struct.pack(f"{len(numbers)}I", *numbers)
    return dev.create_buffer(BufferDesc(len(data), BindFlags=bind), data)


def test_a_box_of_a_buffer_is_copied() -> None:
    dev = device()
    source, there = words(dev, 1, 2, 3, 4), words(dev, 0, 0, 0, 0)
    dev.context.copy_subresource_region(there, 0, 4, 0, 0, source, 0, Box(8, 0, 0, 16, 1, 1))
    assert struct.unpack("4I", data_of(dev, there)) == (0, 3, 4, 0)


def image(dev: Device, format: int, data: bytes, width: int = 2, rows: int = 2) -> Any:
    desc = Texture2DDesc(width, width, Format=format, BindFlags=BindFlag.SHADER_RESOURCE)
    return dev.create_texture2d(desc, [SubresourceData(data, len(data) // rows)])


@pytest.mark.parametrize(
    ("source", "there", "copied"),
    [
        ("R8G8B8A8_UNORM", "R8G8B8A8_TYPELESS", True),
        ("R8G8B8A8_TYPELESS", "R8G8B8A8_UINT", True),
        ("R8G8B8A8_UNORM", "B8G8R8A8_UNORM", False),
        ("R8G8B8A8_UINT", "R16G16_UINT", False),
        ("R9G9B9E5_SHAREDEXP", "R32_UINT", True),
        ("R9G9B9E5_SHAREDEXP", "R32_FLOAT", False),
    ],
)
def test_texels_are_copied_within_a_family_of_formats(
    source: str, there: str, copied: bool
) -> None:
    dev = device()
    data = bytes(range(16))
    one = image(dev, getattr(Format, source), data)
    other = image(dev, getattr(Format, there), bytes(16))
    dev.context.copy_subresource_region(other, 0, 0, 0, 0, one, 0)
    assert (data_of(dev, other) == data) is copied
    assert bool(dev.context.messages) is not copied
    empty = image(dev, getattr(Format, there), bytes(16))
    dev.context.copy_resource(empty, one)
    assert (data_of(dev, empty) == data) is copied


def test_blocks_are_copied_to_texels_of_their_size() -> None:
    dev = device()
    blocks = image(dev, Format.BC1_UNORM, bytes(range(32)), 8)
    texels = image(dev, Format.R32G32_UINT, bytes(32))
    dev.context.copy_subresource_region(texels, 0, 0, 0, 0, blocks, 0)
    assert data_of(dev, texels) == bytes(range(32))


def line(dev: Device, data: bytes, slices: int = 1) -> Any:
    bind = int(BindFlag.SHADER_RESOURCE)
    desc = Texture1DDesc(4, ArraySize=slices, Format=RGBA8, BindFlags=bind)
    return dev.create_texture1d(desc, [SubresourceData(data[n * 16 :]) for n in range(slices)])


def cube_of_texels(dev: Device, data: bytes) -> Any:
    desc = Texture3DDesc(4, 4, 2, Format=RGBA8, BindFlags=int(BindFlag.SHADER_RESOURCE))
    return dev.create_texture3d(desc, [SubresourceData(data, 16, 64)])


def test_regions_are_copied_between_textures_of_other_numbers_of_dimensions() -> None:
    dev, lines = device(), bytes(range(64))
    flat, solid = texture(dev, 4), cube_of_texels(dev, bytes(128))
    copy = dev.context.copy_subresource_region
    source = line(dev, lines, 4)
    for slice in range(4):
        copy(flat, 0, 0, slice, 0, source, slice, Box(0, 0, 0, 4, 1, 1))
    assert data_of(dev, flat) == lines
    copy(solid, 0, 0, 0, 1, flat, 0)
    assert data_of(dev, solid) == bytes(64) + lines
    other = texture(dev, 4)
    copy(other, 0, 0, 0, 0, solid, 0, Box(0, 0, 1, 4, 4, 2))
    assert data_of(dev, other) == lines
    alone = line(dev, bytes(16))
    copy(alone, 0, 0, 0, 0, solid, 0, Box(0, 2, 1, 4, 3, 2))
    assert data_of(dev, alone) == lines[32:48]
    assert not dev.context.messages
    dev.context.copy_resource(alone, other)
    copy(other, 0, 0, 0, 0, solid, 0)
    assert len(dev.context.messages) == 2


def test_copies_outside_or_to_a_buffer_have_no_effect() -> None:
    dev = device()
    context, one, other = dev.context, image(dev, RGBA8, bytes(range(16))), texture(dev, 2)
    context.copy_subresource_region(other, 0, 1, 0, 0, one, 0)
    context.copy_subresource_region(other, 0, 0, 0, 0, one, 0, Box(0, 0, 0, 3, 1, 1))
    context.copy_subresource_region(other, 1, 0, 0, 0, one, 0)
    context.copy_resource(buffer(dev, 16), one)
    context.copy_subresource_region1(other, 0, 0, 0, 0, one, 0, None, 3)
    assert len(context.messages) == 5
    context.copy_subresource_region(other, 0, 0, 0, 0, one, 0, Box(1, 1, 0, 1, 1, 1))
    assert data_of(dev, other) == bytes(16)


@pytest.mark.parametrize("usage", [Usage.IMMUTABLE, Usage.DYNAMIC])
def test_immutable_and_dynamic_resources_are_not_updated(usage: Usage) -> None:
    dev = device()
    access = CpuAccess.WRITE if usage is Usage.DYNAMIC else 0
    made_of = BufferDesc(16, usage, BindFlag.VERTEX_BUFFER, int(access))
    fixed = dev.create_buffer(made_of, bytes(16))
    dev.context.update_subresource(fixed, 0, None, b"x" * 16)
    if usage is Usage.IMMUTABLE:
        dev.context.copy_resource(fixed, words(dev, 1, 2, 3, 4))
    assert data_of(dev, fixed) == bytes(16)
    assert len(dev.context.messages) == 2 - (usage is Usage.DYNAMIC)


def test_a_box_is_updated_by_its_pitch() -> None:
    dev = device()
    there = texture(dev, 2)
    dev.context.update_subresource(there, 0, Box(1, 0, 0, 2, 2, 1), b"abcd....efgh", 8)
    assert data_of(dev, there) == bytes(4) + b"abcd" + bytes(4) + b"efgh"


def test_part_of_a_constant_buffer_is_updated_by_the_second_version_alone() -> None:
    dev = device()
    bound, box = constants(dev, bytes(32)), Box(16, 0, 0, 32, 1, 1)
    dev.context.update_subresource(bound, 0, box, b"x" * 16)
    assert data_of(dev, bound) == bytes(32)
    dev.context.update_subresource1(bound, 0, box, b"x" * 16, flags=1)
    assert data_of(dev, bound) == bytes(16) + b"x" * 16


def test_only_textures_for_it_have_their_levels_generated() -> None:
    dev = device()
    both = int(BindFlag.RENDER_TARGET | BindFlag.SHADER_RESOURCE)
    levels = []
    for misc in (0, int(ResourceMisc.GENERATE_MIPS)):
        made_of = texture(dev, 2, both, MipLevels=2, MiscFlags=misc)
        dev.context.update_subresource(made_of, 0, None, b"\x40" * 16, 8)
        dev.context.generate_mips(dev.create_shader_resource_view(made_of))
        levels.append(dev.driver.read(made_of.driver, 1))
    assert levels == [bytes(4), b"\x40" * 4]


def test_samples_are_resolved_in_a_format_of_the_family() -> None:
    dev = device()
    several = target(dev, 2, SampleDesc=SampleDesc(4))
    single = texture(dev, 2)
    dev.context.clear_render_target_view(several, (1, 0, 0, 1))
    dev.context.resolve_subresource(single, 0, several.resource, 0, Format.R32_FLOAT)
    assert data_of(dev, single) == bytes(16)
    dev.context.resolve_subresource(single, 0, several.resource, 0, RGBA8)
    assert data_of(dev, single) == b"\xff\0\0\xff" * 4


def test_rectangles_of_a_view_are_cleared() -> None:
    dev = device()
    view = target(dev, 2)
    dev.context.clear_view(view, (1, 0, 0, 1), [Rect(1, 0, 2, 5), Rect(-1, 1, 1, 2)])
    red, zero = b"\xff\0\0\xff", bytes(4)
    assert data_of(dev, view.resource) == zero + red + red + red
    dev.context.clear_view(view, (0, 0, 0, 0))
    assert data_of(dev, view.resource) == bytes(16)
    dev.context.clear_view(unordered(dev), (1, 0, 0, 1), [Rect(0, 0, 1, 1)])
    assert "ClearView of rectangles" in dev.context.messages[0]


def test_a_view_is_cleared_with_a_color_of_four_channels() -> None:
    dev = device()
    dev.context.clear_view(depth(dev), ())
    assert "a color of 0 channels" in dev.context.messages[0]


def test_discards_keep_the_contents() -> None:
    dev = device()
    view = target(dev, 1)
    dev.context.clear_render_target_view(view, (1, 1, 1, 1))
    dev.context.discard_view(view)
    dev.context.discard_resource(view.resource)
    assert data_of(dev, view.resource) == b"\xff" * 4


# Maps


READS, WRITES = int(CpuAccess.READ), int(CpuAccess.WRITE)
MAPS = [
    (lambda dev: staging(dev, 64, READS), {Map.READ}),
    (lambda dev: staging(dev, 64, WRITES), {Map.WRITE}),
    (lambda dev: staging(dev, 64, READS | WRITES), {Map.READ, Map.WRITE, Map.READWRITE}),
    (dynamic, {Map.WRITE_DISCARD, Map.WRITE_NOOVERWRITE}),
    (buffer, set()),
    (lambda dev: default(dev, READS, BindFlag.SHADER_RESOURCE), {Map.READ}),
    (lambda dev: default(dev, READS | WRITES, 0x80), {Map.READ, Map.WRITE, Map.READWRITE}),
]


def default(dev: Device, access: int, bind: int) -> Any:
    return dev.create_buffer(BufferDesc(64, BindFlags=int(bind), CPUAccessFlags=access))


def test_buffers_of_default_usage_are_mapped_at_feature_level_11_0() -> None:
    dev = device()
    words = default(dev, READS | WRITES, BindFlag.SHADER_RESOURCE)
    dev.context.map(words, 0, Map.WRITE).pData[:4] = b"\1\2\3\4"
    dev.context.unmap(words, 0)
    assert data_of(dev, words)[:4] == b"\1\2\3\4"
    for other, bind in ((dev, 0x88), (dev, 1), (device(level=0xA100), 8), (device(Api.D3D10), 8)):
        with pytest.raises(Refused):
            default(other, READS, bind)


@pytest.mark.parametrize(("make", "allowed"), MAPS)
def test_usage_and_access_flags_decide_how_a_resource_is_mapped(
    make: Any, allowed: set[Map]
) -> None:
    dev = device()
    resource: Resource = make(dev)
    for kind in Map:
        if kind in allowed:
            assert len(dev.context.map(resource, 0, kind).pData) == 64
            dev.context.unmap(resource, 0)
            continue
        with pytest.raises(Refused) as caught:
            dev.context.map(resource, 0, kind)
        assert caught.value.hr == Result.E_INVALIDARG


def test_a_texture_is_never_mapped_without_overwriting_it() -> None:
    dev = device()
    made_of = texture(dev, Usage=int(Usage.DYNAMIC), CPUAccessFlags=WRITES)
    dev.context.map(made_of, 0, Map.WRITE_DISCARD)
    dev.context.unmap(made_of, 0)
    with pytest.raises(Refused):
        dev.context.map(made_of, 0, Map.WRITE_NOOVERWRITE)


@pytest.mark.parametrize("api", Api)
@pytest.mark.parametrize("bind", [BindFlag.VERTEX_BUFFER, BindFlag.INDEX_BUFFER,
                                  BindFlag.CONSTANT_BUFFER, BindFlag.SHADER_RESOURCE])  # fmt: skip
def test_direct3d_10_maps_only_vertices_and_indices_without_overwriting(
    api: Api, bind: BindFlag
) -> None:
    dev = device(api)
    bound = dynamic(dev, 16, bind)
    if api is Api.D3D11 or bind in (BindFlag.VERTEX_BUFFER, BindFlag.INDEX_BUFFER):
        assert len(dev.context.map(bound, 0, Map.WRITE_NOOVERWRITE).pData) == 16
        return
    with pytest.raises(Refused) as caught:
        dev.context.map(bound, 0, Map.WRITE_NOOVERWRITE)
    assert caught.value.hr == Result.E_INVALIDARG


def test_a_discard_gives_new_memory_and_no_overwrite_the_same() -> None:
    dev = device()
    bound = dynamic(dev, 8)
    dev.context.map(bound, 0, Map.WRITE_DISCARD).pData[:] = b"12345678"
    dev.context.unmap(bound, 0)
    dev.context.map(bound, 0, Map.WRITE_NOOVERWRITE).pData[4:] = b"abcd"
    dev.context.unmap(bound, 0)
    assert data_of(dev, bound) == b"1234abcd"
    dev.context.map(bound, 0, Map.WRITE_DISCARD).pData[:2] = b"xy"
    dev.context.unmap(bound, 0)
    assert data_of(dev, bound)[:2] == b"xy" and data_of(dev, bound)[2:] != b"34abcd"


def test_a_draw_sees_the_memory_before_a_discard() -> None:
    dev = device()
    words_of = dynamic(dev, 16, BindFlag.CONSTANT_BUFFER)
    context, results = dev.context, []
    view = unordered(dev, 16)
    shader = """cs_5_0
dcl_constantbuffer cb0[1], immediateIndexed
dcl_uav_typed_buffer (uint,uint,uint,uint) u0
dcl_thread_group 1, 1, 1
store_uav_typed u0.xyzw, l(0, 0, 0, 0), cb0[0].xxxx
ret"""
    context.cs_set_shader(dev.create_compute_shader(code(shader)))
    context.cs_set_unordered_access_views(0, [view])
    context.cs_set_constant_buffers(0, [words_of])
    for number in (5, 6):
        context.map(words_of, 0, Map.WRITE_DISCARD).pData[:4] = struct.pack("I", number)
        context.unmap(words_of, 0)
        context.dispatch(1, 1, 1)
        results.append(data_of(dev, view.resource)[0])
    assert results == [5, 6]


# Queries


def test_a_query_has_data_after_its_end_alone() -> None:
    dev = device()
    context, query = dev.context, dev.create_query(QueryDesc(QueryType.OCCLUSION))
    assert context.get_data(query).hr == Result.DXGI_ERROR_INVALID_CALL
    context.begin(query)
    assert context.get_data(query).hr == Result.DXGI_ERROR_INVALID_CALL
    context.end(query)
    assert context.get_data(query, 4).hr == Result.E_INVALIDARG
    dev.driver.finish()
    assert context.get_data(query, 0) == (Result.S_OK, None)
    assert query.value(context.get_data(query).data or b"") == 0


def test_a_predicate_skips_what_follows() -> None:
    dev = device()
    context, view, predicate = dev.context, target(dev, 1), made(dev, "Predicate")
    context.begin(predicate)
    context.end(predicate)
    context.set_predication(predicate, False)
    context.clear_render_target_view(view, (1, 1, 1, 1))
    context.set_predication(None, False)
    assert data_of(dev, view.resource) == bytes(4)


# Draws with arguments in a buffer


def test_only_buffers_for_them_have_the_arguments_of_draws() -> None:
    dev = device()
    context = dev.context
    context.cs_set_shader(dev.create_compute_shader(code(COMPUTE)))
    raw = buffer(dev, 16, BindFlag.UNORDERED_ACCESS, MiscFlags=0x20)
    context.cs_set_unordered_access_views(
        0, [dev.create_unordered_access_view(raw, ViewDesc(Format.R32_TYPELESS, flags=1))]
    )
    counts = struct.pack("4I", 0, 1, 1, 1)
    plain = words(dev, 0, 1, 1, 1)
    context.dispatch_indirect(plain, 4)
    made_for = dev.create_buffer(BufferDesc(16, MiscFlags=0x10), counts)
    context.dispatch_indirect(made_for, 2)
    assert data_of(dev, raw) == bytes(16) and len(context.messages) == 2
    context.dispatch_indirect(made_for, 4)
    assert data_of(dev, raw)[0] == 7


@pytest.mark.parametrize("api", [Api.D3D10, Api.D3D10_1])
def test_devices_of_direct3d_10_draw_by_the_same_methods(api: Api) -> None:
    dev = device(api)
    context, view = dev.context, target(dev, 2)
    context.vs_set_shader(dev.create_vertex_shader(code(VERTEX)))
    context.ps_set_shader(made(dev, "PixelShader"))
    context.ia_set_input_layout(made(dev, "InputLayout"))
    context.ia_set_primitive_topology(PrimitiveTopology.TRIANGLELIST)
    data = struct.pack("6f", -1, 3, 3, -1, -1, -1)
    context.ia_set_vertex_buffers(
        0, [dev.create_buffer(BufferDesc(24, BindFlags=1), data)], [8], [0]
    )
    context.rs_set_viewports([Viewport(0, 0, 2, 2)])
    context.om_set_render_targets([view])
    context.draw(3, 0)
    assert data_of(dev, view.resource) == b"\xff\0\0\xff" * 4

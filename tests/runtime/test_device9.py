"""The device: the tokens its methods make, and what they do on the emulated driver."""

from __future__ import annotations

import doctest
import struct
from typing import Any, NoReturn

import numpy as np
import pytest

import dp2emu.runtime.device9
import dp2emu.runtime.query
from dp2emu.d3d import fvf
from dp2emu.d3d.enums import (
    Cull,
    DeclMethod,
    DeclType,
    DeclUsage,
    Format,
    LightType,
    PrimitiveType,
    QueryType,
    RenderState,
    SamplerState,
    TextureStageState,
)
from dp2emu.d3d.flags import Clear, ColorWrite, Usage
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.options import Options
from dp2emu.errors import Fault, Unsupported, UsageError
from dp2emu.gpu import SurfaceDesc
from dp2emu.runtime import (
    Declaration,
    Device9,
    Light,
    Material,
    PixelShader,
    Refused,
    VertexElement,
    VertexShader,
)
from dp2emu.shader.engines import ENGINES
from dp2emu.shader.sm.assemble import assemble

from .rigs import ScriptedRig
from .sent import scripted, tokens

COLORED = fvf.XYZRHW | fvf.DIFFUSE
RED, GREEN = 0xFFFF0000, 0xFF00FF00
PLACE = VertexElement(0, 0, DeclType.FLOAT4, DeclMethod.DEFAULT, DeclUsage.POSITION, 0)


def corner(x: float, y: float, z: float = 0.5, color: int = RED) -> bytes:
    return struct.pack("<4fI", x - 0.5, y - 0.5, z, 1.0, color)


def square(left: int, top: int, right: int, bottom: int, color: int = RED) -> bytes:
    """A triangle strip that covers exactly these pixels."""
    places = ((left, top), (right, top), (left, bottom), (right, bottom))
    return b"".join(corner(x, y, color=color) for x, y in places)


def drawing(**options: Any) -> Device9:
    """A device on the emulator, cleared to black, ready for coloured vertices."""
    device = Device9(Driver(), 8, 6, **options)
    device.clear(color=0xFF000000)
    device.set_render_state(RenderState.CULLMODE, Cull.NONE)
    device.set_fvf(COLORED)
    return device


def red_box(device: Device9) -> tuple[int, int, int, int]:
    """The bounds of what is not black; all of it must be filled."""
    pixels = device.read_back() & 0xFFFFFF
    rows, columns = np.nonzero(pixels)
    box = int(columns.min()), int(rows.min()), int(columns.max()) + 1, int(rows.max()) + 1
    assert np.count_nonzero(pixels) == (box[2] - box[0]) * (box[3] - box[1])
    return box


@pytest.mark.parametrize("module", [dp2emu.runtime.device9, dp2emu.runtime.query])
def test_the_examples_in_the_documentation_work(module: Any) -> None:
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


def test_a_new_device_binds_its_targets_and_covers_them() -> None:
    rig = ScriptedRig()
    Device9(rig, 8, 6).session.flush()
    assert rig.events == ["context 1 9 2 3"]
    assert tokens(rig) == [
        ("SETRENDERTARGET2", [(0, 2)]),
        ("VIEWPORTINFO", [(0, 0, 8, 6)]),
        ("ZRANGE", [(0.0, 1.0)]),
        ("SETSCISSORRECT", [(0, 0, 8, 6)]),
        ("SETDEPTHSTENCIL", [(3,)]),
        ("RENDERSTATE", [(7, 1)]),
    ]


def test_a_device_without_depth_has_depth_testing_off() -> None:
    rig = ScriptedRig()
    Device9(rig, 8, 6, depth=None).session.flush()
    assert tokens(rig)[-2:] == [("SETDEPTHSTENCIL", [(0,)]), ("RENDERSTATE", [(7, 0)])]


class _With16Bits(Driver):
    """A driver that has depth surfaces of 16 bits."""

    def create_surface(self, desc: SurfaceDesc) -> None:
        if desc.usage & Usage.DEPTHSTENCIL and desc.format != Format.D16:
            raise Fault(HResult.DDERR_UNSUPPORTED, "depth")
        super().create_surface(desc)


def test_the_depth_surface_has_the_first_format_that_the_rig_creates() -> None:
    for rig, format in ((Driver(), Format.D24S8), (_With16Bits(), Format.D16)):
        made = Device9(rig, 4, 4).depth_buffer
        assert made and made.format == format
    with pytest.raises(Fault):
        Device9(_With16Bits(), 4, 4, depth=(Format.D24S8, Format.D32))


def test_an_fvf_is_a_declaration_handle_and_fixed_function() -> None:
    device, rig = scripted()
    device.set_fvf(COLORED)
    device.session.flush()
    assert tokens(rig) == [("SETVERTEXSHADERDECL", [(COLORED,)]), ("SETVERTEXSHADERFUNC", [(0,)])]


def test_a_float_state_is_sent_as_its_bits() -> None:
    device, rig = scripted()
    device.set_render_state(RenderState.POINTSIZE, 2.0)
    device.session.flush()
    assert tokens(rig) == [("RENDERSTATE", [(154, 0x40000000)])]


def test_sampler_states_keep_their_old_numbers_on_the_wire() -> None:
    device, rig = scripted()
    for state in (SamplerState.ADDRESSU, SamplerState.ADDRESSW, SamplerState.SRGBTEXTURE):
        device.set_sampler_state(1, state, 3)
    device.session.flush()
    assert tokens(rig) == [("TEXTURESTAGESTATE", [(1, 13, 3), (1, 25, 3), (1, 29, 3)])]


def test_states_can_be_asked_back_with_their_defaults() -> None:
    device, _ = scripted()
    assert device.render_state(RenderState.ZENABLE) == 1
    assert device.render_state(RenderState.CULLMODE) == Cull.CCW
    assert device.texture_stage_state(1, TextureStageState.TEXCOORDINDEX) == 1
    assert device.sampler_state(0, SamplerState.ADDRESSU) == 1
    device.set_texture_stage_state(1, TextureStageState.TEXCOORDINDEX, 0)
    device.set_sampler_state(0, SamplerState.ADDRESSU, 2)
    assert device.texture_stage_state(1, TextureStageState.TEXCOORDINDEX) == 0
    assert device.sampler_state(0, SamplerState.ADDRESSU) == 2


def test_scenes_are_announced_to_the_driver_and_do_not_nest() -> None:
    device, rig = scripted()
    device.begin_scene()
    with pytest.raises(Refused):
        device.begin_scene()
    device.end_scene()
    with pytest.raises(Refused):
        device.end_scene()
    device.session.flush()
    assert tokens(rig) == [("RENDERSTATE", [(62, 1), (62, 0)])]


def test_a_clear_without_rects_covers_the_viewport() -> None:
    device, rig = scripted()
    device.set_viewport(2, 1, 100, 2)
    device.clear(color=1)
    device.session.flush()
    assert tokens(rig)[-1] == ("CLEAR", [(2, 1, 8, 3)])


def test_clear_rects_are_clipped_to_viewport_target_and_scissor() -> None:
    device, rig = scripted()
    device.set_viewport(1, 1, 7, 5)
    device.set_scissor(0, 0, 8, 4)
    device.set_render_state(RenderState.SCISSORTESTENABLE, 1)
    device.clear(color=1, rects=[(-5, -5, 3, 3), (2, 2, 99, 99), (5, 1, 5, 4), (4, 4, 2, 2)])
    device.session.flush()
    assert tokens(rig)[-1] == ("CLEAR", [(1, 1, 3, 3), (2, 2, 8, 4)])


def test_a_clear_of_nothing_sends_nothing() -> None:
    device, rig = scripted()
    device.clear(rects=[(5, 5, 5, 9)])
    device.clear(rects=[])
    device.set_viewport(50, 50, 5, 5)
    device.clear()
    device.session.flush()
    assert "CLEAR" not in [name for name, _ in tokens(rig)]


def test_clearing_depth_needs_a_depth_surface() -> None:
    device = drawing(depth=None)
    with pytest.raises(Refused) as caught:
        device.clear(Clear.TARGET | Clear.ZBUFFER, color=RED)
    assert caught.value.hr == HResult.D3DERR_INVALIDCALL
    assert not (device.read_back() & 0xFFFFFF).any()


def test_a_target_and_a_smaller_depth_surface_are_not_cleared_together() -> None:
    device, rig = scripted()
    device.set_depth_stencil(device.create_depth_stencil(4, 4, Format.D16))
    device.clear(color=RED)
    device.session.flush()
    assert tokens(rig) == [("SETDEPTHSTENCIL", [(4,)])]
    device.clear(Clear.TARGET, color=RED)
    device.session.flush()
    assert tokens(rig)[-1] == ("CLEAR", [(0, 0, 8, 6)])


@pytest.mark.parametrize(("z", "word"), [(-1.0, 0), (0.25, 0x4000), (9.0, 0xFFFF), (np.nan, 0)])
def test_clear_depth_stays_in_its_range(z: float, word: int) -> None:
    device = drawing(depth=Format.D16)
    device.clear(Clear.ZBUFFER, z=float(z))
    assert device.depth_buffer is not None
    assert (device.read_back(device.depth_buffer) == word).all()


def test_user_memory_draws_share_a_call_with_the_state_before_them() -> None:
    device, rig = scripted()
    device.set_fvf(COLORED)
    device.draw_primitive_up(PrimitiveType.TRIANGLESTRIP, 2, square(0, 0, 4, 4) + b"more", 20)
    (call,) = rig.calls
    assert [name for name, _ in tokens(rig)][-2:] == ["SETSTREAMSOURCEUM", "DRAWPRIMITIVE"]
    assert call.vertices == square(0, 0, 4, 4)


def test_a_user_memory_draw_fills_exactly_its_pixels() -> None:
    device = drawing()
    device.draw_primitive_up(PrimitiveType.TRIANGLESTRIP, 2, square(1, 2, 5, 6), 20)
    assert red_box(device) == (1, 2, 5, 6)


def test_stream_zero_is_unbound_after_a_user_memory_draw() -> None:
    device = drawing()
    device.set_stream_source(0, device.create_vertex_buffer(square(0, 0, 2, 2)), 0, 20)
    device.draw_primitive_up(PrimitiveType.TRIANGLESTRIP, 2, square(1, 2, 5, 6), 20)
    with pytest.raises(Refused):
        device.draw_primitive(PrimitiveType.TRIANGLESTRIP, 0, 2)


@pytest.mark.parametrize("index_format", [Format.INDEX16, Format.INDEX32])
def test_an_indexed_user_memory_draw_leaves_no_buffer_behind(index_format: Format) -> None:
    device = drawing()
    driver = device.session.rig
    assert isinstance(driver, Driver)
    before = len(driver.gpu.heap)
    code = "<4H" if index_format is Format.INDEX16 else "<4I"
    device.draw_indexed_primitive_up(
        PrimitiveType.TRIANGLESTRIP, 0, 4, 2, struct.pack(code, 3, 1, 2, 0), index_format,
        square(1, 2, 5, 6), 20,
    )  # fmt: skip
    assert red_box(device) == (1, 2, 5, 6)
    assert len(driver.gpu.heap) == before
    with pytest.raises(Refused):
        device.draw_indexed_primitive(PrimitiveType.TRIANGLESTRIP, 0, 0, 4, 0, 2)


def test_streams_start_at_their_offset_and_step_by_their_stride() -> None:
    device = drawing()
    vertices = square(1, 2, 5, 6)
    padded = b"".join(vertices[at : at + 20] + b"pads" for at in range(0, 80, 20))
    buffer = device.create_vertex_buffer(b"x" * 24 + b"ahead---" + padded)
    device.set_stream_source(0, buffer, 8, 24)
    device.draw_primitive(PrimitiveType.TRIANGLESTRIP, 1, 2)
    assert red_box(device) == (1, 2, 5, 6)


def test_indexed_draws_add_base_and_start() -> None:
    device = drawing()
    device.set_stream_source(0, device.create_vertex_buffer(square(1, 2, 5, 6)), 0, 20)
    device.set_indices(device.create_index_buffer(struct.pack("<6H", 9, 9, 3, 4, 5, 6)))
    device.draw_indexed_primitive(PrimitiveType.TRIANGLESTRIP, -3, 3, 4, 2, 2)
    assert red_box(device) == (1, 2, 5, 6)


def test_a_host_write_comes_after_the_draws_before_it() -> None:
    device = drawing()
    buffer = device.create_vertex_buffer(square(1, 2, 5, 6))
    device.set_stream_source(0, buffer, 0, 20)
    device.draw_primitive(PrimitiveType.TRIANGLESTRIP, 0, 2)
    device.write(buffer, 0, square(0, 0, 8, 6))
    assert red_box(device) == (1, 2, 5, 6)


def test_a_new_target_resets_viewport_and_scissor() -> None:
    device = drawing()
    device.set_viewport(1, 1, 2, 2)
    device.set_scissor(1, 1, 2, 2)
    other = device.create_render_target(5, 4, Format.R5G6B5)
    device.set_render_target(0, other)
    device.set_depth_stencil(None)
    device.clear(color=RED)
    assert (device.viewport.width, device.viewport.height, device.scissor.right) == (5, 4, 5)
    assert (device.read_back(other) == 0xF800).all()
    assert not (device.read_back() & 0xFFFFFF).any()


def test_target_zero_cannot_be_taken_away() -> None:
    device, _ = scripted()
    with pytest.raises(Refused):
        device.set_render_target(0, None)
    device.set_render_target(1, None)


def test_write_masks_and_depth_reach_the_gpu() -> None:
    device = drawing()
    device.set_render_state(RenderState.COLORWRITEENABLE, ColorWrite.GREEN)
    device.draw_primitive_up(PrimitiveType.TRIANGLESTRIP, 2, square(0, 0, 8, 6, 0xFFFFFFFF), 20)
    assert (device.read_back() & 0xFFFFFF == 0x00FF00).all()


def test_draws_without_what_they_need_are_refused() -> None:
    device, rig = scripted()
    vertices = device.create_vertex_buffer(bytes(60))
    with pytest.raises(Refused, match="vertex format"):
        device.draw_primitive_up(PrimitiveType.TRIANGLELIST, 1, bytes(60), 20)
    device.set_fvf(COLORED)
    with pytest.raises(Refused, match="without streams"):
        device.draw_primitive(PrimitiveType.TRIANGLELIST, 0, 1)
    device.set_stream_source(0, vertices, 0, 20)
    with pytest.raises(Refused, match="index buffer"):
        device.draw_indexed_primitive(PrimitiveType.TRIANGLELIST, 0, 0, 3, 0, 1)
    with pytest.raises(Refused, match="stride"):
        device.draw_primitive_up(PrimitiveType.TRIANGLELIST, 1, bytes(60), 0)
    device.session.flush()
    assert not [name for name, _ in tokens(rig) if name.startswith("DRAW")]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("indexed", [False, True])
def test_a_draw_whose_vertex_shader_has_no_inputs_needs_no_stream(
    engine: str, indexed: bool
) -> None:
    device = Device9(Driver(options=Options(engine=engine)), 8, 6)
    device.clear(color=0xFF000000)
    device.set_vertex_declaration(device.create_vertex_declaration([PLACE]))
    text = """vs_2_0
        def c0, 0.125, -0.1666667, 0.5, 1.0\ndef c1, 2.0, 0.0, 1.0, 0.5
        mov oPos, c0\nmov oPts, c1.x\nmov oD0, c1.yzww"""
    device.set_vertex_shader(device.create_vertex_shader(np.frombuffer(assemble(text), "<u4")))
    if indexed:
        device.set_indices(device.create_index_buffer(bytes(4), Format.INDEX16))
        device.draw_indexed_primitive(PrimitiveType.POINTLIST, 0, 0, 1, 0, 2)
    else:
        device.draw_primitive(PrimitiveType.POINTLIST, 0, 2)
    assert red_box(device) == (4, 3, 6, 5)
    assert device.read_back()[3, 4] & 0xFFFFFF == 0x00FF80


def test_a_draw_whose_vertex_shader_has_inputs_needs_a_stream() -> None:
    device, _ = scripted()
    device.set_vertex_declaration(device.create_vertex_declaration([PLACE]))
    reads = assemble("vs_2_0\ndcl_position v0\nmov oPos, v0")
    codes = (np.frombuffer(each, "<u4") for each in (reads, bytes(4)))
    for shader in (*map(device.create_vertex_shader, codes), None):
        device.set_vertex_shader(shader)
        with pytest.raises(Refused, match="without streams"):
            device.draw_primitive(PrimitiveType.TRIANGLELIST, 0, 1)


def test_draws_of_no_primitives_send_nothing() -> None:
    device, rig = scripted()
    device.set_fvf(COLORED)
    device.set_stream_source(0, device.create_vertex_buffer(bytes(60)), 0, 20)
    device.draw_primitive(PrimitiveType.TRIANGLELIST, 0, 0)
    device.draw_primitive_up(PrimitiveType.TRIANGLELIST, 0, b"", 20)
    device.draw_indexed_primitive_up(
        PrimitiveType.TRIANGLELIST, 0, 0, 0, b"", Format.INDEX16, b"", 20
    )
    device.session.flush()
    assert not [name for name, _ in tokens(rig) if name.startswith("DRAW")]


def test_user_memory_shorter_than_the_draw_reads_is_a_usage_error() -> None:
    device = drawing()
    with pytest.raises(UsageError, match="40 bytes of vertices, the draw reads 60"):
        device.draw_primitive_up(PrimitiveType.TRIANGLELIST, 1, bytes(40), 20)
    with pytest.raises(UsageError, match="4 bytes of indices, the draw reads 6"):
        device.draw_indexed_primitive_up(
            PrimitiveType.TRIANGLELIST, 0, 3, 1, bytes(4), Format.INDEX16, bytes(60), 20
        )


def test_an_fvf_with_bit_zero_is_refused() -> None:
    device, _ = scripted()
    with pytest.raises(Refused):
        device.set_fvf(COLORED | 1)


def test_buffers_hold_something_and_indices_have_an_index_format() -> None:
    device, _ = scripted()
    with pytest.raises(Refused):
        device.create_vertex_buffer(b"")
    with pytest.raises(Refused, match="D3DFMT_A8R8G8B8"):
        device.create_index_buffer(b"12", Format.A8R8G8B8)


@pytest.mark.parametrize("samples", [1, 2, 4, 8])
def test_surfaces_have_the_samples_they_are_made_with(samples: int) -> None:
    device = Device9(Driver(), 8, 6, samples=samples)
    device.clear(color=GREEN)
    device.set_fvf(COLORED)
    device.draw_primitive_up(PrimitiveType.TRIANGLESTRIP, 2, square(0, 0, 4, 6), 20)
    words = device.read_back()
    assert words.shape == (6, 8 * samples)
    assert (words[:, : 4 * samples] == RED).all()
    assert (words[:, 4 * samples :] == GREEN).all()


def test_other_numbers_of_samples_are_not_available() -> None:
    with pytest.raises(Refused) as refused:
        Device9(Driver(), 8, 6, samples=3)
    assert refused.value.hr == HResult.D3DERR_NOTAVAILABLE


def test_what_is_not_built_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    device = drawing()

    def refuse(*_: object) -> NoReturn:
        raise Unsupported("drawing")

    monkeypatch.setattr("dp2emu.dp2.resolve.pipeline.resolve", refuse)
    with pytest.raises(Unsupported, match="DRAWPRIMITIVE: drawing"):
        device.draw_primitive_up(PrimitiveType.TRIANGLESTRIP, 2, square(0, 0, 8, 6), 20)


@pytest.mark.parametrize("format", [Format.MULTI2_ARGB8, Format.DXT1, Format.D16, Format.P8])
def test_targets_of_formats_that_are_not_for_it_are_refused(format: Format) -> None:
    with pytest.raises(Refused) as caught:
        Device9(Driver(), 8, 6, format=format)
    assert caught.value.hr == HResult.D3DERR_INVALIDCALL
    with pytest.raises(Refused):
        Device9(Driver(), 8, 6, depth=Format.R5G6B5)


def test_a_call_the_driver_fails_says_which_token() -> None:
    device = drawing()
    device.set_stream_source(0, device.back_buffer, 0, 20)
    device.draw_primitive(PrimitiveType.TRIANGLELIST, 0, 0xFFFFFFFF)
    with pytest.raises(Fault, match="DRAWPRIMITIVE") as caught:
        device.session.flush()
    assert caught.value.hr == HResult.D3DERR_DRIVERINVALIDCALL


def test_query_types_the_driver_does_not_announce_are_not_available() -> None:
    device = Device9(Driver(options=Options(query_types=(8,))), 8, 6)
    assert device.query_types() == (8,)
    with pytest.raises(Refused) as caught:
        device.create_query(QueryType.OCCLUSION)
    assert caught.value.hr == HResult.D3DERR_NOTAVAILABLE
    with pytest.raises(Refused):
        Device9(Driver(), 8, 6).create_query(QueryType.MEMORYPRESSURE)


def test_a_rig_that_announces_nothing_is_asked_for_every_type() -> None:
    device, _ = scripted()
    assert QueryType.OCCLUSION in device.query_types()


@pytest.mark.parametrize("command_bytes", [64, 100, 65536])
def test_the_size_of_the_command_buffer_changes_no_pixel(command_bytes: int) -> None:
    device = drawing(command_bytes=command_bytes)
    occlusion = device.create_query(QueryType.OCCLUSION)
    occlusion.begin()
    for step in range(4):
        color = 0xFF000000 | step * 0x203040
        device.draw_primitive_up(
            PrimitiveType.TRIANGLESTRIP, 2, square(step, step, 8, 6, color), 20
        )
    occlusion.end()
    assert occlusion.wait().value == 48 + 35 + 24 + 15
    expected = [[min(x, y, 3) * 0x203040 for x in range(8)] for y in range(6)]
    assert (device.read_back() & 0xFFFFFF).tolist() == expected


def test_closing_destroys_the_context() -> None:
    device, rig = scripted()
    device.close()
    assert rig.events[-1] == "destroy context 1"


def test_lights_and_materials_travel_in_the_order_of_their_fields() -> None:
    device, rig = scripted()
    device.set_material(Material(diffuse=(1.0, 2.0, 3.0, 4.0), power=9.0))
    light = Light(LightType.SPOT, position=(1.0, 2.0, 3.0), attenuation1=5.0, phi=0.5)
    device.set_light(7, light)
    device.set_light(7, light)
    device.light_enable(7, False)
    device.session.flush()
    names = ["SETMATERIAL", "CREATELIGHT", "SETLIGHT", "SETLIGHT", "SETLIGHT"]
    sent = tokens(rig)
    assert [name for name, _ in sent] == names
    assert sent[0][1] == [((1, 2, 3, 4), (0,) * 4, (0,) * 4, (0,) * 4, 9)]
    assert [items for _, items in sent[2:]] == [[(7, 2)], [(7, 2)], [(7, 1)]]
    data = rig.calls[-1].commands or b""
    record = data[data.index(struct.pack("<2I", 7, 2)) + 8 :][:104]
    assert struct.unpack("<I25f", record)[13:16] == (1, 2, 3)
    assert struct.unpack("<I25f", record)[22:] == (5, 0, 0, 0.5)


def test_a_light_that_is_only_enabled_is_white_along_z() -> None:
    device, rig = scripted()
    device.light_enable(3, True)
    device.session.flush()
    assert tokens(rig) == [
        ("CREATELIGHT", [(3,)]), ("SETLIGHT", [(3, 2)]), ("SETLIGHT", [(3, 0)])
    ]  # fmt: skip
    assert struct.pack("<I4f", LightType.DIRECTIONAL, 1, 1, 1, 0) in (
        rig.calls[-1].commands or b""
    )


def test_objects_are_created_in_calls_of_their_own_with_odd_handles() -> None:
    device, rig = scripted()
    device.set_scissor(0, 0, 1, 1)
    element = VertexElement(1, 12, DeclType.FLOAT2, DeclMethod.DEFAULT, DeclUsage.TEXCOORD, 3)
    declaration = device.create_vertex_declaration([element])
    vertex = device.create_vertex_shader([0xFFFE0200, 0xFFFF])
    pixel = device.create_pixel_shader([0xFFFF0200, 0xFFFF])
    assert (declaration.handle, vertex.handle, pixel.handle) == (1, 3, 5)
    assert tokens(rig) == [
        ("SETSCISSORRECT", [(0, 0, 1, 1)]), ("CREATEVERTEXSHADERDECL", [(1, 1)]),
        ("CREATEVERTEXSHADERFUNC", [(3, 8)]), ("CREATEPIXELSHADER", [(5, 8)]),
    ]  # fmt: skip
    assert len(rig.calls) == 4
    assert (rig.calls[1].commands or b"").endswith(bytes((1, 0, 12, 0, 1, 0, 5, 3)))


def test_a_vertex_format_leaves_the_vertex_shader_where_it_is() -> None:
    device, rig = scripted()
    device.set_vertex_shader(VertexShader(9))
    device.set_fvf(COLORED)
    device.set_vertex_declaration(Declaration(5))
    device.set_vertex_shader(None)
    device.set_pixel_shader(PixelShader(7))
    device.set_pixel_shader(None)
    device.session.flush()
    assert [(name[3:], items[0][0]) for name, items in tokens(rig)] == [
        ("VERTEXSHADERFUNC", 9), ("VERTEXSHADERDECL", COLORED), ("VERTEXSHADERFUNC", 9),
        ("VERTEXSHADERDECL", 5), ("VERTEXSHADERFUNC", 9), ("VERTEXSHADERFUNC", 0),
        ("PIXELSHADER", 7), ("PIXELSHADER", 0),
    ]  # fmt: skip


def test_constants_of_every_sort_travel_as_registers() -> None:
    device, rig = scripted()
    device.set_vertex_constants(4, [(1, 2, 3, 4), (5, 6, 7, 8)])
    device.set_vertex_integers(1, [(-1, 2, 3, 4)])
    device.set_vertex_booleans(2, [True, False])
    device.set_pixel_constants(0, [(0.5, 2, 3, 4)])
    device.set_pixel_integers(1, [(1, 2, 3, 4)])
    device.set_pixel_booleans(2, [True])
    device.session.flush()
    assert tokens(rig) == [
        ("SETVERTEXSHADERCONST", [(4, 2)]), ("SETVERTEXSHADERCONSTI", [(1, 1)]),
        ("SETVERTEXSHADERCONSTB", [(2, 2)]), ("SETPIXELSHADERCONST", [(0, 1)]),
        ("SETPIXELSHADERCONSTI", [(1, 1)]), ("SETPIXELSHADERCONSTB", [(2, 1)]),
    ]  # fmt: skip
    data = rig.calls[-1].commands or b""
    assert data.startswith(struct.pack("<I2I8f", 0x00010030, 4, 2, *range(1, 9)))
    assert struct.pack("<2I4i", 1, 1, -1, 2, 3, 4) in data
    assert struct.pack("<2I2I", 2, 2, 1, 0) in data


def test_shader_code_that_is_no_dwords_is_refused() -> None:
    device, _ = scripted()
    with pytest.raises(UsageError, match="DWORDs"):
        device.create_pixel_shader([1 << 32])

"""Textures on the application's side: what is made, filled, generated and attached."""

from __future__ import annotations

import pytest

from dp2emu.d3d import fvf
from dp2emu.d3d.enums import Format, PrimitiveType, TextureFilter
from dp2emu.d3d.flags import Usage
from dp2emu.d3d.hresult import HResult
from dp2emu.errors import UsageError
from dp2emu.gpu.resource.heap import SurfaceKind
from dp2emu.runtime import Device9, Refused, Texture

from .sent import flushed, scripted

COLOR = Format.A8R8G8B8
TARGET = int(Usage.RENDERTARGET)
GENERATED = int(Usage.AUTOGENMIPMAP | Usage.RENDERTARGET)


def draw(device: Device9) -> None:
    device.set_fvf(fvf.XYZRHW)
    device.draw_primitive_up(PrimitiveType.TRIANGLELIST, 1, bytes(48), 16)


def generations(device: Device9, rig: object) -> list[tuple[int, int]]:
    """What draws and others had generated since the last look: (texture, filter)."""
    sent = flushed(device, rig)  # type: ignore[arg-type]
    return [item for name, items in sent for item in items if name == "GENERATEMIPSUBLEVELS"]


@pytest.mark.parametrize(("levels", "made"), [(0, 4), (1, 1), (3, 3), (4, 4)])
def test_levels_are_as_many_as_asked_for_or_all(levels: int, made: int) -> None:
    device, rig = scripted()
    texture = device.create_texture(5, 8, COLOR, levels=levels)
    desc = rig.surfaces[texture.desc.handle]
    assert (desc.kind, desc.width, desc.height, desc.levels) == (SurfaceKind.TEXTURE, 5, 8, made)


def test_every_level_and_face_is_written_where_it_lies() -> None:
    device, rig = scripted()
    data = [[bytes([face]) * 64, bytes([face + 100]) * 16] for face in range(6)]
    cube = device.create_cube_texture(4, COLOR, data, levels=3)
    handle = cube.desc.handle
    assert rig.writes == [
        (handle, face * 84 + offset, data[face][level])
        for face in range(6)
        for level, offset in enumerate((0, 64))
    ]
    assert rig.surfaces[handle].kind is SurfaceKind.CUBETEXTURE


def test_what_is_written_of_a_managed_texture_is_marked_dirty() -> None:
    device, rig = scripted()
    volume = device.create_volume_texture(4, 2, 3, COLOR, managed=True)
    plain = device.create_texture(4, 2, COLOR)
    assert (volume.desc.managed, plain.desc.managed) == (1, 0)
    device.textures.write(volume, 0, bytes(96))
    device.textures.write(plain, 0, bytes(32))
    assert flushed(device, rig) == [("ADDDIRTYBOX", [(volume.desc.handle, (0, 0, 4, 2, 0, 3))])]


def test_a_volume_is_written_slice_by_slice() -> None:
    device, rig = scripted()
    volume = device.create_volume_texture(4, 2, 3, COLOR, [b"a" * 96, b"b" * 8], levels=0)
    desc = rig.surfaces[volume.desc.handle]
    assert (desc.kind, desc.depth, desc.levels) == (SurfaceKind.VOLUMETEXTURE, 3, 3)
    assert [(at, len(data)) for _, at, data in rig.writes] == [(0, 96), (96, 8)]


def test_data_must_fill_its_level_and_have_one() -> None:
    device, _ = scripted()
    with pytest.raises(UsageError, match="7 bytes of a texture level"):
        device.create_texture(2, 1, COLOR, [bytes(7)])
    with pytest.raises(UsageError, match="more data than 1 levels"):
        device.create_texture(1, 1, COLOR, [bytes(4), bytes(4)])


@pytest.mark.parametrize(("width", "levels", "usage"), [(0, 1, 0), (4, 4, 0), (4, 2, GENERATED)])
def test_textures_no_device_makes_are_refused(width: int, levels: int, usage: int) -> None:
    device, _ = scripted()
    with pytest.raises(Refused) as caught:
        device.create_texture(width, 2, COLOR, levels=levels, usage=usage)
    assert caught.value.hr == HResult.D3DERR_INVALIDCALL


def test_a_surface_of_a_texture_has_one_handle_and_its_level_s_size() -> None:
    device, rig = scripted()
    cube = device.create_cube_texture(8, COLOR, levels=3, usage=TARGET)
    surface = device.textures.surface(cube, 2, 4)
    assert device.textures.surface(cube, 2, 4) is surface
    made = rig.surfaces[surface.handle]
    assert (made.kind, made.width, made.height) == (SurfaceKind.SURFACE, 2, 2)
    assert (made.parent, made.index, made.usage) == (cube.desc.handle, 4 * 3 + 2, TARGET)
    assert device.textures.surface(cube, 1, 4).handle != surface.handle


def test_surfaces_that_are_not_there_are_refused() -> None:
    device, _ = scripted()
    flat = device.create_texture(4, 4, COLOR)
    for level, face in ((1, 0), (0, 1), (-1, 0)):
        with pytest.raises(Refused):
            device.textures.surface(flat, level, face)
    with pytest.raises(Refused):
        device.textures.surface(device.create_volume_texture(4, 4, 4, COLOR), 0)
    with pytest.raises(Refused):
        device.textures.surface(device.create_texture(4, 4, COLOR, usage=GENERATED), 1)


def test_only_surfaces_made_for_it_are_targets_or_depth() -> None:
    device, _ = scripted()
    plain = device.textures.surface(device.create_texture(4, 4, COLOR), 0)
    for refused in (
        lambda: device.set_render_target(0, plain),
        lambda: device.set_depth_stencil(plain),
        lambda: device.set_depth_stencil(device.back_buffer),
    ):
        with pytest.raises(Refused):
            refused()


def test_textures_are_bound_by_stage_and_by_vertex_sampler() -> None:
    device, rig = scripted()
    texture = device.create_texture(4, 4, COLOR)
    device.set_texture(15, texture)
    device.set_texture(257, texture)
    device.set_texture(15, None)
    handle = texture.desc.handle
    bound = [(15, 0, handle), (257, 0, handle), (15, 0, 0)]
    assert flushed(device, rig) == [("TEXTURESTAGESTATE", bound)]


# Generated levels


def generated(device: Device9) -> Texture:
    return device.create_texture(4, 4, COLOR, [bytes(64)], levels=0, usage=GENERATED)


def test_levels_are_generated_once_after_a_write_and_before_the_draw() -> None:
    device, rig = scripted()
    texture = generated(device)
    device.set_texture(0, texture)
    draw(device)
    names = [name for name, _ in flushed(device, rig)]
    assert names.index("GENERATEMIPSUBLEVELS") < names.index("SETSTREAMSOURCEUM")
    draw(device)
    assert generations(device, rig) == []
    device.textures.write(texture, 0, bytes(64))
    draw(device)
    assert generations(device, rig) == [(texture.desc.handle, TextureFilter.LINEAR)]


def test_levels_are_generated_again_after_rendering_to_the_top() -> None:
    device, rig = scripted()
    texture = generated(device)
    device.set_texture(0, texture)
    draw(device)
    generations(device, rig)
    device.set_render_target(0, device.textures.surface(texture, 0))
    device.set_texture(0, None)
    draw(device)
    device.set_render_target(0, device.back_buffer)
    assert generations(device, rig) == []
    device.set_texture(0, texture)
    draw(device)
    assert generations(device, rig) == [(texture.desc.handle, TextureFilter.LINEAR)]


def test_clears_fills_and_stretches_make_generated_levels_stale() -> None:
    device, rig = scripted()
    texture = generated(device)
    top = device.textures.surface(texture, 0)
    device.set_texture(0, texture)
    changes = (
        lambda: device.color_fill(top, None, 5),
        lambda: device.stretch_rect(device.back_buffer, top),
        lambda: (device.set_render_target(0, top), device.clear(1, 7),
                 device.set_render_target(0, device.back_buffer)),
    )  # fmt: skip
    device.set_depth_stencil(None)
    for change in changes:
        change()
        draw(device)
        assert generations(device, rig) == [(texture.desc.handle, TextureFilter.LINEAR)]


def test_an_application_can_generate_and_choose_the_filter() -> None:
    device, rig = scripted()
    texture = generated(device)
    device.textures.set_filter(texture, TextureFilter.POINT)
    device.textures.generate(texture)
    device.set_texture(0, texture)
    draw(device)
    assert generations(device, rig) == [(texture.desc.handle, TextureFilter.POINT)]


def test_textures_without_generated_levels_have_none_and_no_filter() -> None:
    device, rig = scripted()
    texture = device.create_texture(4, 4, COLOR, levels=0)
    device.textures.generate(texture)
    assert generations(device, rig) == []
    with pytest.raises(Refused):
        device.textures.set_filter(texture, TextureFilter.POINT)
    with pytest.raises(Refused):
        device.textures.set_filter(generated(device), TextureFilter.NONE)


# Palettes

GREY = [(i, i, i, 255 - i) for i in range(256)]


def test_a_palette_travels_as_its_bytes() -> None:
    device, rig = scripted()
    device.textures.set_palette(3, GREY)
    assert flushed(device, rig) == [("UPDATEPALETTE", [(4, 0, 256)])]
    device.textures.set_palette(0, GREY)
    device.session.flush()
    data = rig.calls[-1].commands or b""
    assert data[12:20] == bytes((0, 0, 0, 255, 1, 1, 1, 254))


def test_palettised_textures_get_the_current_palette_before_the_draw() -> None:
    device, rig = scripted()
    device.textures.set_palette(0, GREY)
    device.textures.set_palette(7, GREY)
    handles = [
        device.session.create_surface(SurfaceKind.TEXTURE, 4, 4, format)
        for format in (Format.P8, Format.A8P8, Format.A8R8G8B8)
    ]
    for stage, desc in enumerate(handles):
        device.set_texture(stage, Texture(desc))
    draw(device)
    first = [items for name, items in flushed(device, rig) if name == "SETPALETTE"]
    assert first == [[(1, 0x2000, handles[0].handle)], [(1, 0, handles[1].handle)]]
    device.textures.choose_palette(7)
    draw(device)
    second = [items[0][0] for name, items in flushed(device, rig) if name == "SETPALETTE"]
    assert second == [8, 8]
    draw(device)
    assert "SETPALETTE" not in [name for name, _ in flushed(device, rig)]


def test_palettes_are_whole_and_known() -> None:
    device, _ = scripted()
    with pytest.raises(Refused):
        device.textures.set_palette(0, GREY[:255])
    with pytest.raises(Refused):
        device.textures.set_palette(0xFFFF, GREY)
    with pytest.raises(Refused):
        device.textures.choose_palette(2)

"""Draws that sample textures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from numpy.typing import NDArray

import dp2emu.gpu.pixel_shader.pixel_stage
from dp2emu.d3d.enums import Format, TextureAddress, TextureFilter
from dp2emu.errors import Unsupported
from dp2emu.gpu.command.bindings import TextureBinding
from dp2emu.gpu.command.packets import Draw
from dp2emu.gpu.command.pipeline import Samplers
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.draw.draw_stages import execute_draw
from dp2emu.gpu.resource.heap import Heap, Surface, SurfaceDesc, SurfaceKind
from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Lod, Program, Stage, TextureKind
from dp2emu.shader.texture.records import SamplerKey
from tests.gpu.drawing import color_surface, corner, draw, programmed, rebound

TEX2D, CUBE, VOLUME = TextureKind.TEX2D, TextureKind.CUBE, TextureKind.VOLUME
KINDS = {TEX2D: SurfaceKind.TEXTURE, CUBE: SurfaceKind.CUBETEXTURE,
         VOLUME: SurfaceKind.VOLUMETEXTURE}  # fmt: skip
A8R8G8B8 = Format.A8R8G8B8


def texture(kind: TextureKind, width: int, height: int, **fields: Any) -> Surface:
    """A texture whose texels are their numbers in memory."""
    fields = {"format": A8R8G8B8, **fields}
    made = Heap().create(SurfaceDesc(1, KINDS[kind], width, height, **fields))
    made.words[...] = np.arange(len(made.words))
    return made


def over_pixels(
    kind: TextureKind = TEX2D, scale: float = 0.125, lod: Lod = Lod.IMPLICIT, level: float = 0.0
) -> Program:
    """Samples at the centre of the pixel times ``scale``; third coordinate 0.25."""
    b = Builder(Stage.PIXEL)
    places = [(b.input(f"vpos.{axis}") + 0.5) * scale for axis in "xy"]
    places += [b.constant(places[0].type, 0.25)] * (kind.coordinates - 2)
    arguments = {Lod.IMPLICIT: [], Lod.BIAS: [level], Lod.EXPLICIT: [level],
                 Lod.GRADIENT: [scale, 0.0, 0.0, scale]}[lod]  # fmt: skip
    for component, value in zip("xyzw", b.sample(kind, 0, places, lod, arguments), strict=True):
        b.output(f"target0.{component}", value)
    return b.program()


def picture(
    program: Program, samplers: Samplers = (), *bindings: TextureBinding
) -> NDArray[np.uint32]:
    """What 8 by 8 pixels become."""
    color = color_surface(A8R8G8B8, 8, 8)
    packet = draw([corner(-1, -1), corner(20, -1), corner(-1, 20)], color=color, pixel=program)
    pipeline = replace(packet.pipeline, samplers=samplers)
    execute_draw(
        rebound(packet, pipeline=pipeline, textures=dict(enumerate(bindings))), Counters()
    )
    found: NDArray[np.uint32] = color.pixels().copy()
    return found


def test_a_texel_for_every_pixel() -> None:
    key = SamplerKey(TEX2D, A8R8G8B8)
    seen = picture(over_pixels(), ((0, key),), TextureBinding(texture(TEX2D, 8, 8)))
    assert seen.tolist() == np.arange(64).reshape(8, 8).tolist()


def test_without_a_texture_a_sampler_is_opaque_black() -> None:
    key = SamplerKey(TEX2D, A8R8G8B8)
    bound = TextureBinding(texture(TEX2D, 8, 8))
    assert set(picture(over_pixels()).ravel().tolist()) == {0xFF000000}
    assert set(picture(over_pixels(), ((0, key),)).ravel().tolist()) == {0xFF000000}
    assert set(picture(over_pixels(), ((1, key),), bound).ravel().tolist()) == {0xFF000000}


def test_a_texture_of_another_kind_is_none() -> None:
    key = SamplerKey(CUBE, A8R8G8B8)
    seen = picture(over_pixels(), ((0, key),), TextureBinding(texture(CUBE, 8, 8)))
    assert set(seen.ravel().tolist()) == {0xFF000000}


def test_the_level_comes_from_neighbouring_pixels() -> None:
    key = SamplerKey(TEX2D, A8R8G8B8, mip=TextureFilter.POINT, levels=True)
    bound = TextureBinding(texture(TEX2D, 32, 32, levels=6))
    second = 32 * 32 + 16 * 16 + np.arange(64).reshape(8, 8)
    assert picture(over_pixels(), ((0, key),), bound).tolist() == second.tolist()
    explicit = over_pixels(lod=Lod.EXPLICIT, level=2.0)
    assert picture(explicit, ((0, key),), bound).tolist() == second.tolist()
    given = over_pixels(lod=Lod.GRADIENT)
    assert picture(given, ((0, key),), bound).tolist() == second.tolist()
    biased = picture(over_pixels(lod=Lod.BIAS, level=3.0), ((0, key),), bound)
    assert set(biased.ravel().tolist()) == {len(bound.surface.words) - 1}


def test_what_a_binding_says_moves_the_level() -> None:
    key = SamplerKey(TEX2D, A8R8G8B8, mip=TextureFilter.POINT, levels=True)
    surface = texture(TEX2D, 8, 8, levels=4)
    starts = [0, 64, 64 + 16, 64 + 16 + 4]

    def top_left(**fields: Any) -> int:
        seen = picture(over_pixels(), ((0, key),), TextureBinding(surface, **fields))
        return starts.index(int(seen[0, 0]))

    assert top_left() == 0
    assert top_left(lod_bias=1.0) == 1
    assert top_left(max_level=2) == 2
    assert top_left(most_detailed=3) == 3
    assert top_left(max_level=1, most_detailed=2) == 2
    assert top_left(max_level=77) == 3


def test_faces_and_slices_lie_one_after_the_other() -> None:
    cube = SamplerKey(CUBE, A8R8G8B8, levels=True)
    bound = TextureBinding(texture(CUBE, 2, 2, levels=2))
    # Direction x, y, 0.25 with x above the others leaves through +X.
    assert int(picture(over_pixels(CUBE), ((0, cube),), bound)[0, 7]) == 0
    assert int(picture(over_pixels(CUBE, -0.125), ((0, cube),), bound)[0, 7]) // 5 == 1
    volume = SamplerKey(VOLUME, A8R8G8B8)
    bound = TextureBinding(texture(VOLUME, 8, 8, depth=8))
    seen = picture(over_pixels(VOLUME), ((0, volume),), bound)
    assert seen.tolist() == (128 + np.arange(64).reshape(8, 8)).tolist()


def test_border_and_palette_belong_to_the_binding() -> None:
    border = (TextureAddress.BORDER,) * 3
    key = SamplerKey(TEX2D, A8R8G8B8, border)
    bound = TextureBinding(texture(TEX2D, 4, 4), border=0x12345678)
    seen = picture(over_pixels(scale=0.25), ((0, key),), bound)
    assert seen[:4, :4].tolist() == np.arange(16).reshape(4, 4).tolist()
    assert set(seen[4:].ravel().tolist()) == {0x12345678}
    palette = np.arange(256, dtype=np.uint32)[::-1] | np.uint32(0x7F000000)
    surface = texture(TEX2D, 8, 8, format=Format.P8)
    surface.data[...] = np.arange(64)
    for opaque, alpha in ((True, 0xFF), (False, 0x7F)):
        key = SamplerKey(TEX2D, Format.P8, alpha_palette=not opaque)
        seen = picture(over_pixels(), ((0, key),), TextureBinding(surface, palette=palette))
        assert seen.ravel().tolist() == [alpha << 24 | 255 - i for i in range(64)]


def test_a_format_that_is_no_texture_is_refused_before_anything_is_written() -> None:
    key = SamplerKey(TEX2D, Format.S8_LOCKABLE)
    surface = texture(TEX2D, 8, 8, format=Format.S8_LOCKABLE)
    with pytest.raises(Unsupported, match="D3DFMT_S8_LOCKABLE"):
        picture(over_pixels(), ((0, key),), TextureBinding(surface))


def test_a_texture_of_several_samples_is_refused() -> None:
    desc = SurfaceDesc(1, SurfaceKind.SURFACE, 8, 8, A8R8G8B8, samples=2)
    key = SamplerKey(TEX2D, A8R8G8B8)
    with pytest.raises(Unsupported, match="several samples"):
        picture(over_pixels(), ((0, key),), TextureBinding(Heap().create(desc)))


def test_what_is_drawn_to_is_read_as_it_was_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each pixel gets its left neighbour's colour, in portions of any size."""
    b = Builder(Stage.PIXEL)
    at = [(b.input(f"vpos.{axis}") + offset) * 0.125 for axis, offset in (("x", -0.5), ("y", 0.5))]
    for component, value in zip("xyzw", b.sample(TEX2D, 0, at), strict=True):
        b.output(f"target0.{component}", value)
    key = SamplerKey(TEX2D, A8R8G8B8)
    for lanes in (1 << 15, 3):
        monkeypatch.setattr(dp2emu.gpu.pixel_shader.pixel_stage, "LANES", lanes)
        color = texture(TEX2D, 8, 8)
        vertices = [corner(-1, -1), corner(20, -1), corner(-1, 20)]
        packet = draw([*vertices, *vertices], color=color, pixel=b.program())
        pipeline = replace(packet.pipeline, samplers=((0, key),))
        bound = {0: TextureBinding(color)}
        execute_draw(rebound(packet, pipeline=pipeline, textures=bound), Counters())
        wanted = np.roll(np.arange(64).reshape(8, 8), 1, axis=1)
        assert color.pixels().tolist() == wanted.tolist()


def test_vertex_programs_sample_too() -> None:
    b = Builder(Stage.VERTEX)
    for component in "xyzw":
        b.output(f"position0.{component}", b.input(f"position0.{component}"))
    texel = b.sample(TEX2D, 2, (0.6, 0.6), Lod.EXPLICIT, [1.0])
    for component, value in zip("xyzw", texel, strict=True):
        b.output(f"color0.{component}", value)
    key = SamplerKey(TEX2D, A8R8G8B8, mip=TextureFilter.POINT, levels=True)
    color = color_surface(A8R8G8B8, 8, 8)
    vertices = [corner(-1, -1), corner(3, -1), corner(-1, 3)]
    packet: Draw = programmed(draw(vertices, color=color), 8, b.program())
    pipeline = replace(packet.pipeline, vertex_samplers=((2, key),))
    bound = {2: TextureBinding(texture(TEX2D, 4, 4, levels=3))}
    execute_draw(rebound(packet, pipeline=pipeline, vertex_textures=bound), Counters())
    assert set(color.pixels().ravel().tolist()) == {16 + 3}


def test_srgb_texels_become_linear_light() -> None:
    key = SamplerKey(TEX2D, Format.L8, srgb=True)
    surface = texture(TEX2D, 8, 8, format=Format.L8)
    surface.data[...] = 188
    seen = picture(over_pixels(), ((0, key),), TextureBinding(surface))
    assert set(seen.ravel().tolist()) == {0xFF808080}


def test_the_colour_key_is_the_bindings() -> None:
    key = SamplerKey(TEX2D, A8R8G8B8, color_key=True)
    bound = TextureBinding(texture(TEX2D, 8, 8), color_key=(10, 20))
    wanted = [0 if 10 <= i <= 20 else i for i in range(64)]
    assert picture(over_pixels(), ((0, key),), bound).ravel().tolist() == wanted

"""Draws with textures, from the tokens to the pixels."""

from __future__ import annotations

import struct
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dp2emu.d3d.enums import (
    Format,
    PrimitiveType,
    SamplerState,
    TextureAddress,
    TextureOp,
    TextureStageState,
)
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.legacy import RenderState7, TextureBlend7
from dp2emu.dp2.options import Options
from dp2emu.errors import Dp2Error, Fault, Unsupported
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from dp2emu.runtime.objects import Texture
from tests.dp2.rigging import COLOR, DEPTH, Bench, header, render_state, token, triangle_list
from tests.dp2.screen import (
    BLUE,
    CORNERS,
    DIFFUSE,
    GREEN,
    RED,
    TEX1,
    WHITE,
    WHOLE,
    XYZRHW,
    Screen,
    code,
    words,
)


@pytest.fixture
def screen() -> Screen:
    return Screen()


def test_vertices_on_the_screen_give_a_stage_the_set_it_names(screen: Screen) -> None:
    screen.device.set_texture(0, screen.texture(RED, GREEN, BLUE, WHITE))
    sets = (0.125, 0.0), (0.375, 0.0), (0.625, 0.0)
    for index, wanted in ((0, RED), (1, GREEN), (2, BLUE)):
        screen.stage(TEXCOORDINDEX=index)
        assert screen.draw(*sets) == wanted


def test_set_that_is_missing_is_the_origin(screen: Screen) -> None:
    screen.device.set_texture(0, screen.texture(RED, GREEN))
    screen.stage(TEXCOORDINDEX=3, TEXTURETRANSFORMFLAGS=256)
    assert screen.draw((0.75, 0.0)) == RED


def test_vertex_shader_numbers_its_sets_itself(screen: Screen) -> None:
    shader = screen.device.create_vertex_shader(
        code("vs_2_0\ndcl_position v0\ndcl_texcoord0 v1\nmov oPos, v0\nmov oT0, v1\n"
             "mov oT1, c0\nmov oD0, c1\n"))  # fmt: skip
    screen.device.set_vertex_shader(shader)
    screen.device.set_vertex_constants(0, [(0.75, 0.0, 0.0, 1.0), (1.0,) * 4])
    screen.device.set_texture(0, screen.texture(RED, GREEN))
    screen.stage(TEXCOORDINDEX=1)
    screen.device.set_fvf(0x002 | TEX1)
    vertices = b"".join(struct.pack("<5f", *place, 0.5, 0.25, 0.0) for place in WHOLE)
    screen.device.draw_primitive_up(PrimitiveType.TRIANGLESTRIP, 2, vertices, 20)
    assert screen.pixel() == RED


@pytest.mark.parametrize("sampler", range(4))
def test_vertex_shaders_read_the_textures_of_their_own_samplers(
    screen: Screen, sampler: int
) -> None:
    shader = screen.device.create_vertex_shader(
        code(f"vs_3_0\ndcl_position v0\ndcl_2d s{sampler}\ndcl_position o0\ndcl_color o1\n"
             f"mov o0, v0\ntexldl r0, c0, s{sampler}\nmov o1, r0\n"))  # fmt: skip
    screen.device.set_vertex_shader(shader)
    screen.device.set_vertex_constants(0, [(0.75, 0.0, 0.0, 0.0)])
    screen.device.set_texture(257 + sampler, screen.texture(RED, GREEN))
    screen.device.set_texture(sampler, screen.texture(BLUE))
    screen.stage(0, COLOROP=TextureOp.DISABLE)
    screen.device.set_fvf(0x002)
    vertices = b"".join(struct.pack("<3f", *place, 0.5) for place in WHOLE)
    screen.device.draw_primitive_up(PrimitiveType.TRIANGLESTRIP, 2, vertices, 12)
    assert screen.pixel() == GREEN
    screen.device.set_texture(257 + sampler, None)
    screen.device.draw_primitive_up(PrimitiveType.TRIANGLESTRIP, 2, vertices, 12)
    assert screen.pixel() == 0xFF000000


# Pixel shaders


def cube(screen: Screen) -> Texture:
    faces = [[words(color)] for color in (RED, GREEN, BLUE, WHITE, 0xFF808080, 0xFF404040)]
    return screen.device.create_cube_texture(1, Format.A8R8G8B8, faces)


def test_early_pixel_shaders_take_what_is_bound_in_its_shape(screen: Screen) -> None:
    screen.device.set_pixel_shader(screen.device.create_pixel_shader(
        code("ps_1_1\ntex t0\nmov r0, t0\n")))  # fmt: skip
    screen.device.set_texture(0, cube(screen))
    assert screen.draw((0.0, 0.0, 1.0)) == 0xFF808080
    assert screen.draw((-1.0, 0.0, 0.5)) == GREEN
    screen.device.set_texture(0, screen.texture(RED, GREEN))
    assert screen.draw((0.75, 0.0, 1.0)) == GREEN


@pytest.mark.parametrize("version", ["ps_2_0", "ps_3_0"])
def test_texture_of_another_shape_than_declared_is_black(screen: Screen, version: str) -> None:
    late = version == "ps_3_0"
    inputs = "dcl_texcoord0 v0\n" if late else "dcl t0\n"
    read = "v0" if late else "t0"
    screen.device.set_pixel_shader(screen.device.create_pixel_shader(
        code(f"{version}\n{inputs}dcl_2d s3\ntexld r0, {read}, s3\nmov oC0, r0\n")))  # fmt: skip
    screen.device.set_texture(3, cube(screen))
    assert screen.draw((0.75, 0.0)) == 0xFF000000
    screen.device.set_texture(3, screen.texture(RED, GREEN))
    assert screen.draw((0.75, 0.0)) == GREEN


def test_pixel_shaders_have_sixteen_samplers(screen: Screen) -> None:
    screen.device.set_pixel_shader(screen.device.create_pixel_shader(
        code("ps_2_0\ndcl t0\ndcl_2d s15\ntexld r0, t0, s15\nmov oC0, r0\n")))  # fmt: skip
    screen.device.set_texture(15, screen.texture(RED, GREEN))
    screen.device.set_sampler_state(15, SamplerState.ADDRESSU, TextureAddress.CLAMP)
    assert screen.draw((2.25, 0.0)) == GREEN


@pytest.mark.parametrize(
    ("text", "projected"),
    [("ps_1_1\ntex t0\nmov r0, t0\n", True), ("ps_1_3\ntex t0\nmov r0, t0\n", True),
     ("ps_1_4\ntexld r0, t0\n", False),
     ("ps_2_0\ndcl t0\ndcl_2d s0\ntexld r0, t0, s0\nmov oC0, r0\n", False)],
)  # fmt: skip
def test_shaders_before_1_4_leave_projection_to_the_stage(
    screen: Screen, text: str, projected: bool
) -> None:
    screen.device.set_pixel_shader(screen.device.create_pixel_shader(code(text)))
    screen.device.set_texture(0, screen.texture(RED, GREEN))
    screen.stage(TEXTURETRANSFORMFLAGS=256 + 3)
    assert screen.draw((0.75, 0.0, 4.0)) == (RED if projected else GREEN)


def test_stage_projects_by_the_coordinate_its_count_names(screen: Screen) -> None:
    screen.device.set_texture(0, screen.texture(RED, GREEN))
    for flags, wanted in ((3, GREEN), (256 + 3, RED), (256 + 4, GREEN), (256, GREEN)):
        screen.stage(TEXTURETRANSFORMFLAGS=flags)
        assert screen.draw((0.75, 0.0, 4.0, 1.0)) == wanted


BUMPED = "ps_1_1\ntex t0\ntexbem t1, t0\nmov r0, t1\n"


@pytest.mark.parametrize("shader", [None, BUMPED])
def test_bump_map_moves_where_the_environment_is_sampled(
    screen: Screen, shader: str | None
) -> None:
    """Fixed function has the matrix in the bump map's stage, texbem in that of its target."""
    bump = screen.device.create_texture(1, 1, Format.V8U8, [bytes([0x7F, 0x81])])
    screen.device.set_texture(0, bump)
    screen.device.set_texture(1, screen.texture(RED, GREEN, BLUE, WHITE))
    if shader is not None:
        made = screen.device.create_pixel_shader(code(shader))
        screen.device.set_pixel_shader(made)
    screen.stage(0, COLOROP=TextureOp.BUMPENVMAP, ALPHAOP=TextureOp.DISABLE)
    screen.stage(1, COLOROP=TextureOp.SELECTARG1, COLORARG1=2, TEXCOORDINDEX=0)
    for u, (du, dv) in {RED: (0.0, 0.0), GREEN: (0.25, 0.0), BLUE: (0.25, -0.25)}.items():
        screen.stage(1 if shader else 0, BUMPENVMAT00=du, BUMPENVMAT10=dv)
        assert screen.draw((0.125, 0.5)) == u


def test_luminance_of_the_bump_map_dims_the_environment(screen: Screen) -> None:
    texel = words(0x00800000)  # X8L8V8U8: luminance 128 / 255
    screen.device.set_texture(0, screen.device.create_texture(1, 1, Format.X8L8V8U8, [texel]))
    screen.device.set_texture(1, screen.texture(WHITE))
    screen.stage(0, COLOROP=TextureOp.BUMPENVMAPLUMINANCE, BUMPENVLSCALE=0.5, BUMPENVLOFFSET=0.25)
    screen.stage(1, COLOROP=TextureOp.SELECTARG1, COLORARG1=2)
    level = round(255 * (128 / 255 * 0.5 + 0.25))
    assert screen.draw((0.5, 0.5)) == 0xFF000000 | level * 0x010101


# What hangs on textures


def test_draw_keeps_the_palette_it_was_issued_with(screen: Screen) -> None:
    texture = screen.device.create_texture(1, 1, Format.P8, [b"\x05"])
    screen.device.set_texture(0, texture)
    colors = []
    for entry in ((255, 0, 0, 255), (0, 255, 0, 255)):
        screen.device.textures.set_palette(7, [entry] * 256)
        screen.device.textures.choose_palette(7)
        colors.append(screen.draw((0.5, 0.5)))
    assert colors == [RED, GREEN]


def test_texture_that_is_destroyed_stays_where_it_is_bound() -> None:
    bench = legacy(9)
    bench.ok(token(25, 0, 20))
    bench.driver.destroy_surface(20)
    assert textured(bench) == RED
    bench.ok(token(25, 0, 0))
    assert textured(bench) == WHITE


@pytest.mark.parametrize("engine", ["reference", "jit"])
@pytest.mark.parametrize(
    ("format", "chroma"), [(Format.YV12, [128, 240, 128, 90]), (Format.NV12, [128, 128, 90, 240])]
)
def test_planar_textures_are_sampled(format: Format, chroma: list[int], engine: str) -> None:
    bench = Bench(context=False, options=Options(engine=engine))
    bench.driver.create_surface(SurfaceDesc(20, SurfaceKind.TEXTURE, 4, 2, int(format)))
    bench.driver.write(20, 0, bytes([16, 235, 81, 81] * 2 + chroma))
    bench.driver.create_context(1, interface=7, color=COLOR, depth=DEPTH)
    bench.ok(render_state(22, 1) + render_state(RenderState7.TEXTUREHANDLE, 20))
    assert [textured(bench, u=(n + 0.5) / 4) for n in range(3)] == [0xFF000000, WHITE, RED]


# DirectX 6 and 7


def legacy(interface: int, format: Format = Format.A8R8G8B8, **driver: object) -> Bench:
    """A driver with a context of that interface, and texture 20: red, green of half alpha."""
    bench = Bench(context=False, **driver)
    bench.driver.create_surface(SurfaceDesc(20, SurfaceKind.TEXTURE, 2, 1, int(format)))
    bench.driver.write(20, 0, words(RED, 0x8000FF00))
    bench.driver.create_context(1, interface=interface, color=COLOR, depth=DEPTH)
    bench.ok(render_state(22, 1))
    return bench


def textured(bench: Bench, u: float = 0.25, color: int = WHITE) -> int:
    """The colour of a pixel of a square with texture coordinates u, 0 all over."""
    order = [CORNERS[corner] for corner in (0, 1, 2, 1, 3, 2)]
    vertices = b"".join(struct.pack("<4fI2f", x, y, 0.5, 1.0, color, u, 0.0) for x, y in order)
    bench.ok(
        triangle_list(0, 2), vertices,
        dwVertexType=XYZRHW | DIFFUSE | TEX1, dwVertexLength=6, dwVertexSize=28,
    )  # fmt: skip
    return int.from_bytes(bench.driver.read(COLOR, 4 * 65, 4), "little")


@pytest.mark.parametrize("interface", [6, 7])
def test_texture_handle_binds_to_stage_0(interface: int) -> None:
    bench = legacy(interface)
    bench.ok(render_state(RenderState7.TEXTUREHANDLE, 20))
    assert textured(bench) == RED
    bench.ok(render_state(RenderState7.TEXTUREHANDLE, 0))
    assert textured(bench) == WHITE


@pytest.mark.parametrize("interface", [8, 9])
def test_texture_handle_is_no_state_since_directx_8(interface: int) -> None:
    bench = legacy(interface)
    bench.ok(render_state(RenderState7.TEXTUREHANDLE, 20))
    assert textured(bench) == WHITE


def test_map_blend_lasts_until_a_stage_operation_is_set() -> None:
    bench = legacy(7)
    bench.ok(render_state(RenderState7.TEXTUREHANDLE, 20) + render_state(21, TextureBlend7.ADD))
    assert textured(bench, color=BLUE) == 0xFFFF00FF
    bench.ok(header(25) + struct.pack("<HHI", 0, TextureStageState.COLOROP, TextureOp.MODULATE))
    assert textured(bench, color=0xFF800000) == 0xFF800000


@pytest.mark.parametrize(("format", "alpha"), [(Format.A8R8G8B8, 0x80), (Format.X8R8G8B8, 0x40)])
def test_map_blend_modulate_takes_the_vertex_alpha_without_one_in_the_texture(
    format: Format, alpha: int
) -> None:
    bench = legacy(6, format)
    target = SurfaceDesc(30, SurfaceKind.SURFACE, 64, 64, int(Format.A8R8G8B8))
    bench.driver.create_surface(target)
    bench.ok(token(41, 30, DEPTH) + render_state(RenderState7.TEXTUREHANDLE, 20))
    bench.ok(render_state(21, TextureBlend7.MODULATE))
    textured(bench, u=0.75, color=0x40FFFFFF)
    assert bench.driver.read(30, 4 * 65, 4)[3] == alpha


def stage_operation(state: TextureStageState, value: int) -> bytes:
    return header(25) + struct.pack("<HHI", 0, state, value)


def test_map_blend_of_the_value_that_it_has_does_not_undo_a_stage_operation() -> None:
    bench = legacy(6)
    bench.ok(render_state(RenderState7.TEXTUREHANDLE, 20) + render_state(21, TextureBlend7.ADD))
    bench.ok(stage_operation(TextureStageState.COLOROP, TextureOp.SELECTARG2))
    bench.ok(render_state(21, TextureBlend7.ADD))
    assert textured(bench, color=BLUE) == BLUE
    bench.ok(render_state(21, TextureBlend7.DECAL) + render_state(21, TextureBlend7.ADD))
    assert textured(bench, color=BLUE) == 0xFFFF00FF


def test_map_blend_is_modulate_before_it_is_set() -> None:
    bench = legacy(6)
    bench.ok(render_state(RenderState7.TEXTUREHANDLE, 20))
    bench.ok(stage_operation(TextureStageState.COLOROP, TextureOp.SELECTARG2))
    bench.ok(render_state(21, TextureBlend7.MODULATE))
    assert textured(bench, color=BLUE) == BLUE


@pytest.mark.parametrize("mode", ["MODULATE", "DECALMASK", "MODULATEMASK"])
@pytest.mark.parametrize(("key", "drawn"), [(None, 0x40FF0000), (0x00FF0000, 0x40000000)])
def test_a_colour_key_is_no_alpha_of_the_texture_in_a_map_blend(
    mode: str, key: int | None, drawn: int
) -> None:
    bench = legacy(6, Format.X8R8G8B8)
    target = SurfaceDesc(30, SurfaceKind.SURFACE, 64, 64, int(Format.A8R8G8B8))
    bench.driver.create_surface(target)
    bench.ok(token(41, 30, DEPTH) + render_state(RenderState7.TEXTUREHANDLE, 20))
    bench.driver.set_color_key(20, key if key is None else (key, key))
    bench.ok(b"".join(render_state(state, 1) for state in KEYS))
    bench.ok(render_state(21, TextureBlend7[mode]))
    textured(bench, color=0x40FFFFFF)
    assert int.from_bytes(bench.driver.read(30, 4 * 65, 4), "little") == drawn


def test_address_and_wrap_states_reach_stage_0() -> None:
    bench = legacy(7)
    bench.ok(render_state(RenderState7.TEXTUREHANDLE, 20))
    bench.ok(render_state(RenderState7.TEXTUREADDRESS, TextureAddress.CLAMP))
    assert textured(bench, u=4.25) & 0xFF00 == 0xFF00
    bench.ok(render_state(RenderState7.TEXTUREADDRESSU, TextureAddress.WRAP))
    assert textured(bench, u=4.25) == RED


KEYS = (RenderState7.COLORKEYENABLE, RenderState7.COLORKEYBLENDENABLE)


def test_texels_of_the_colour_key_are_not_drawn() -> None:
    bench = legacy(7)
    bench.driver.set_color_key(20, (RED, RED))
    bench.ok(render_state(RenderState7.TEXTUREHANDLE, 20))
    assert textured(bench) == RED
    bench.ok(token(42, 1, BLUE, 1.0, 0, 0, 0, 64, 64))
    bench.ok(render_state(RenderState7.COLORKEYENABLE, 1))
    assert textured(bench) == BLUE
    assert textured(bench, u=0.75) == GREEN
    bench.driver.set_color_key(20, (0x80000000, 0x8000FFFF))
    assert textured(bench) == RED
    bench.ok(token(42, 1, BLUE, 1.0, 0, 0, 0, 64, 64))
    assert textured(bench, u=0.75) == BLUE
    bench.driver.set_color_key(20, None)
    assert textured(bench, u=0.75) == GREEN


def test_colour_key_that_blends_draws_with_alpha_0() -> None:
    bench = legacy(7, Format.X8R8G8B8)
    bench.driver.set_color_key(20, (0x00FF0000, 0x00FF0000))
    bench.ok(render_state(RenderState7.TEXTUREHANDLE, 20))
    bench.ok(token(42, 1, BLUE, 1.0, 0, 0, 0, 64, 64))
    bench.ok(b"".join(render_state(state, 1) for state in KEYS))
    assert textured(bench) == 0xFF000000
    blend = {27: 1, 19: 5, 20: 6}  # ALPHABLENDENABLE, SRCALPHA, INVSRCALPHA
    bench.ok(b"".join(render_state(*each) for each in blend.items()))
    bench.ok(token(42, 1, BLUE, 1.0, 0, 0, 0, 64, 64))
    assert textured(bench) == BLUE
    bench.ok(render_state(21, TextureBlend7.MODULATE))
    assert textured(bench) == 0xFF000000


def test_colour_key_does_not_matter_to_stages_that_read_no_texture() -> None:
    bench = legacy(7)
    bench.driver.set_color_key(20, (RED, RED))
    bench.ok(token(25, 0, 20) + render_state(RenderState7.COLORKEYENABLE, 1))
    operations = (TextureStageState.COLOROP, 3), (TextureStageState.ALPHAOP, 3)
    for state, value in operations:
        bench.ok(header(25) + struct.pack("<HHI", 0, state, value))
    assert textured(bench) == WHITE


@pytest.mark.parametrize("state", KEYS)
def test_colour_keys_are_of_directx_6_and_7_and_of_textures_that_have_one(
    state: RenderState7,
) -> None:
    for interface, key in ((7, None), (8, (RED, RED)), (9, (RED, RED))):
        bench = legacy(interface)
        bench.driver.set_color_key(20, key)
        bench.ok(render_state(state, 1) + token(25, 0, 20))
        assert textured(bench) == RED


def test_colour_key_of_no_surface_is_a_fault() -> None:
    with pytest.raises(Fault, match="no surface 99"):
        legacy(7).driver.set_color_key(99, None)


# Handles


@pytest.mark.parametrize("handle", [99, DEPTH + 1, 0xFFFFFFFF])
def test_handle_that_is_no_texture_binds_nothing(handle: int) -> None:
    bench = legacy(9)
    bench.ok(token(25, 0, 20))
    bench.ok(token(25, 0, handle))
    assert textured(bench) == WHITE
    strict = legacy(9, options=Options(strict=True))
    assert strict.call(token(25, 0, handle)).ddrval == HResult.DDERR_INVALIDPARAMS


@pytest.mark.parametrize(
    ("kind", "format", "samples"),
    [
        (SurfaceKind.VERTEXBUFFER, 0, 1), (SurfaceKind.SURFACE, Format.A8R8G8B8, 4),
        (SurfaceKind.SURFACE, Format.S8_LOCKABLE, 1),
        (SurfaceKind.CUBETEXTURE, Format.D16, 1), (SurfaceKind.VOLUMETEXTURE, Format.D24S8, 1),
    ],
)  # fmt: skip
def test_surface_that_cannot_be_sampled_binds_nothing(
    kind: SurfaceKind, format: int, samples: int
) -> None:
    bench = legacy(9)
    height = 1 if kind is SurfaceKind.VERTEXBUFFER else 8
    bench.driver.create_surface(SurfaceDesc(21, kind, 8, height, int(format), samples=samples))
    bench.ok(token(25, 0, 21))
    assert textured(bench) == WHITE


def test_state_of_a_stage_there_is_not_is_ignored() -> None:
    bench = legacy(9)
    for stage in (16, 255, 261, 0xFFFF):
        bench.ok(header(25) + struct.pack("<HHI", stage, 0, 20))
    assert textured(bench) == WHITE


# Whatever a stream says

KINDS = [SurfaceKind.TEXTURE, SurfaceKind.CUBETEXTURE, SurfaceKind.VOLUMETEXTURE]
values = st.integers(0, 40) | st.sampled_from(
    [0x100, 0x101, 0x10004, 0x20001, 0x3F800000, 2**32 - 1]
)
stage_states = st.tuples(st.integers(0, 2), st.integers(1, 32), values)
render_states = st.tuples(st.sampled_from([3, 17, 18, 21, 29, 41, 60, 128, 144]), values)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([6, 7, 8, 9]),
    st.lists(st.tuples(st.sampled_from(KINDS), st.sampled_from(Format)), min_size=2, max_size=2),
    st.lists(stage_states, max_size=12),
    st.lists(render_states, max_size=4),
)
def test_any_states_draw_or_are_refused(
    interface: int,
    textures: list[tuple[SurfaceKind, Format]],
    stages: list[tuple[int, int, int]],
    states: list[tuple[int, int]],
) -> None:
    bench = legacy(interface)
    bench.driver.set_color_key(20, (0, 5))
    for number, (kind, format) in enumerate(textures):
        with suppress(Dp2Error):
            bench.driver.create_surface(
                SurfaceDesc(21 + number, kind, 4, 4, int(format), levels=3)
            )
        bench.ok(header(25) + struct.pack("<HHI", number, 0, 21 + number))
    bench.ok(b"".join(render_state(*each) for each in states))
    bench.ok(b"".join(header(25) + struct.pack("<HHI", *each) for each in stages))
    vertices = b"".join(
        struct.pack("<4fI2f", x, y, 0.5, 1.0, 0x80FF4020, x, y) for x, y in CORNERS
    )
    with suppress(Unsupported):
        bench.call(
            header(19, 2) + b"\0\0", vertices,
            dwVertexType=XYZRHW | DIFFUSE | TEX1, dwVertexLength=4, dwVertexSize=28,
        )  # fmt: skip

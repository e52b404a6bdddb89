"""Colour targets: blending in order, masks, several targets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import dp2emu.gpu.rasterizer.spans
from dp2emu.d3d.enums import Blend, BlendOp, CmpFunc, Format
from dp2emu.d3d.formats import COLOR, FORMATS
from dp2emu.gpu.command.packets import Draw, MergeNumbers
from dp2emu.gpu.command.pipeline import DepthState
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.draw.draw_stages import execute_draw
from dp2emu.gpu.resource.heap import Surface
from dp2emu.gpu.resource.pixel_format import every_bit
from dp2emu.shader.builder import Builder
from dp2emu.shader.fixed.blend import BlendEquation, BlendState
from dp2emu.shader.ir import Program, Stage
from tests.gpu.drawing import Vertex, color_surface, corner, depth_surface, draw, rebound

ADDED = BlendEquation(Blend.ONE, Blend.ONE)
ADD = BlendState(ADDED, ADDED)
_OVER = BlendEquation(Blend.SRCALPHA, Blend.INVSRCALPHA)
OVER = BlendState(_OVER, _OVER)
STORE = BlendState(BlendEquation(), BlendEquation())


def blending(packet: Draw, blend: BlendState | None, **changes: object) -> Draw:
    return replace(packet, pipeline=replace(packet.pipeline, blend=blend, **changes))  # type: ignore[arg-type]


def square(color: int, z: float = 0.5, left: float = 0, right: float = 32) -> list[Vertex]:
    a, b = corner(left, 0, z, color), corner(right, 0, z, color)
    c, d = corner(left, 32, z, color), corner(right, 32, z, color)
    return [a, b, c, c, b, d]


def over(source: int, below: int) -> int:
    """One 8-bit channel blended by SRCALPHA, INVSRCALPHA in single precision."""
    word, alpha = 0, np.float32(source >> 24) / np.float32(255)
    for shift in (0, 8, 16, 24):
        s, d = (np.float32(c >> shift & 0xFF) / np.float32(255) for c in (source, below))
        value = s * alpha + d * (np.float32(1) - alpha)
        word |= int(np.floor(np.float64(value) * 255 + 0.5)) << shift
    return word


colors = st.integers(0, 0xFFFFFFFF)


@settings(max_examples=60)
@given(st.lists(st.tuples(colors, st.sampled_from([0.25, 0.5, 0.75])), min_size=1, max_size=9))
def test_fragments_of_a_pixel_are_blended_in_drawing_order(
    layers: list[tuple[int, float]],
) -> None:
    color = color_surface(Format.A8R8G8B8)
    depth = depth_surface(Format.D16, word=0x8001)
    color.pixels()[...] = 0x20406080
    below, nearest = 0x20406080, 0x8001
    for source, z in layers:
        if round(z * 65535) <= nearest:
            below, nearest = over(source, below), round(z * 65535)
    vertices = [v for source, z in layers for v in square(source, z)]
    packet = blending(draw(vertices, color=color, depth=depth), OVER)
    execute_draw(packet, Counters())
    assert (color.pixels() == below).all()


def picture(packet: Draw, color: Surface) -> bytes:
    execute_draw(packet, Counters())
    return color.data.tobytes()


@pytest.mark.parametrize("format", list(COLOR))
def test_one_and_zero_are_the_bytes_without_blending(format: Format) -> None:
    generator = np.random.default_rng(5)
    vertices = [corner(*generator.uniform(0, 32, 2), 0.5, int(generator.integers(1 << 32)))
                for _ in range(60)]  # fmt: skip
    plain, blended = color_surface(format), color_surface(format)
    wanted = picture(draw(vertices, color=plain), plain)
    assert picture(blending(draw(vertices, color=blended), STORE), blended) == wanted


@pytest.mark.parametrize("format", list(COLOR))
def test_targets_of_every_format_keep_what_is_blended_with_nothing(format: Format) -> None:
    """What is read of a target and written back are the same bits."""
    keep = BlendEquation(Blend.ZERO, Blend.ONE)
    size = FORMATS[format].size
    color = color_surface(format)
    generator = np.random.default_rng(size)
    color.data[:] = generator.integers(0, 256, color.data.size)
    if FORMATS[format].floating:
        kind = np.dtype(f"<f{FORMATS[format].channels['r'].bits // 8}")
        color.data.view(kind)[:] = generator.normal(0, 9, color.data.size // kind.itemsize)
    unused = every_bit(FORMATS[format]) & ~sum(
        c.max << c.shift for c in FORMATS[format].channels.values()
    )
    before = int.from_bytes(color.data.tobytes(), "little")
    before |= int.from_bytes(unused.to_bytes(size, "little") * 1024, "little")
    packet = draw(square(0x12345678), color=color)
    execute_draw(blending(packet, BlendState(keep, keep)), Counters())
    assert int.from_bytes(color.data.tobytes(), "little") == before


def test_portions_do_not_change_what_is_blended(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(6)
    vertices = [corner(*generator.uniform(0, 32, 2), 0.5, int(generator.integers(1 << 32)))
                for _ in range(90)]  # fmt: skip
    whole, parts = color_surface(Format.A8R8G8B8), color_surface(Format.A8R8G8B8)
    wanted = picture(blending(draw(vertices, color=whole), OVER), whole)
    monkeypatch.setattr(dp2emu.gpu.rasterizer.spans, "BATCH", 7)
    assert picture(blending(draw(vertices, color=parts), OVER), parts) == wanted


def test_a_missing_destination_alpha_reads_one() -> None:
    color = color_surface(Format.X8R8G8B8)
    equation = BlendEquation(Blend.DESTALPHA, Blend.INVDESTALPHA)
    packet = blending(draw(square(0x00123456), color=color), BlendState(equation, equation))
    execute_draw(packet, Counters())
    assert (color.pixels() == 0xFF123456).all()


def test_the_blend_factor_is_a_colour_of_the_draw() -> None:
    color = color_surface(Format.A8R8G8B8)
    equation = BlendEquation(Blend.BLENDFACTOR, Blend.ZERO)
    packet = blending(draw(square(0xFFFFFFFF), color=color), BlendState(equation, equation))
    execute_draw(rebound(packet, merge=MergeNumbers(blend_factor=0x12345678)), Counters())
    assert (color.pixels() == 0x12345678).all()


def test_write_masks_keep_channels_that_blending_computed() -> None:
    color = color_surface(Format.A8R8G8B8)
    color.pixels()[...] = 0x10101010
    packet = draw(square(0x20202020), color=color, write_mask=2)
    execute_draw(blending(packet, ADD), Counters())
    assert (color.pixels() == 0x10103010).all()


def test_fragments_that_fail_the_depth_test_are_not_blended() -> None:
    color, depth = color_surface(Format.A8R8G8B8), depth_surface(Format.D16, word=0x8000)
    vertices = square(0x01010101, 0.25) + square(0x10101010, 0.75) + square(0x02020202, 0.25)
    test = DepthState(True, False, CmpFunc.LESS)
    counters = Counters()
    execute_draw(blending(draw(vertices, color=color, depth=depth, test=test), ADD), counters)
    assert (color.pixels() == 0x03030303).all()
    assert counters.samples == 2 * 32 * 32


def test_blending_reads_and_writes_each_fragment() -> None:
    counters, color = Counters(), color_surface()
    execute_draw(blending(draw(square(1) + square(2), color=color), ADD), counters)
    assert counters.pixel_bytes == 2 * 32 * 32 * (4 + 4)


def test_piles_of_different_heights_blend_alike() -> None:
    color = color_surface(Format.A8R8G8B8)
    vertices = square(0x01010101) + square(0x02020202, left=8) + square(0x04040404, left=16)
    execute_draw(blending(draw(vertices, color=color), ADD), Counters())
    row = color.pixels()[9].tolist()
    assert row == [0x01010101] * 8 + [0x03030303] * 8 + [0x07070707] * 16


def test_subtraction_stops_at_zero() -> None:
    color = color_surface(Format.A8R8G8B8)
    color.pixels()[...] = 0x40404040
    equation = BlendEquation(Blend.ONE, Blend.ONE, BlendOp.REVSUBTRACT)
    packet = blending(draw(square(0x10506030), color=color), BlendState(equation, equation))
    execute_draw(packet, Counters())
    assert (color.pixels() == 0x30000010).all()


def painting(colors: dict[int, tuple[float, ...]]) -> Program:
    """A pixel program that gives targets constant colours."""
    b = Builder(Stage.PIXEL)
    for number, rgba in colors.items():
        for component, value in zip("xyzw", rgba, strict=True):
            b.output(f"target{number}.{component}", value)
    return b.program()


RED, GREEN, BLUE = (1.0, 0.0, 0.0, 1.0), (0.0, 1.0, 0.0, 1.0), (0.0, 0.0, 1.0, 1.0)


def several(
    colors: dict[int, tuple[float, ...]],
    targets: tuple[Surface | None, ...],
    masks: tuple[int, ...],
) -> Draw:
    packet = draw(square(0), color=targets[0], pixel=painting(colors))
    pipeline = replace(packet.pipeline, write_masks=masks)
    return rebound(packet, pipeline=pipeline, colors=targets)


def test_every_target_gets_its_colour_in_its_format() -> None:
    targets = (
        color_surface(Format.A8R8G8B8),
        color_surface(Format.R5G6B5),
        None,
        color_surface(Format.X8R8G8B8),
    )
    packet = several({0: RED, 1: GREEN, 2: RED, 3: BLUE}, targets, (15, 15, 15, 15))
    execute_draw(packet, Counters())
    words = [int(target.pixels()[7, 9]) if target else None for target in targets]
    assert words == [0xFFFF0000, 0x07E0, None, 0xFF0000FF]


@pytest.mark.parametrize(
    ("second", "word"),
    [((0.5, 0.25, 1.0, 0.0), 0x60404080), (None, 0x20200020)],
    ids=["second", "without"],
)
def test_a_second_colour_is_a_factor(second: tuple[float, ...] | None, word: int) -> None:
    """What is there is half of everything; it is multiplied, and the source added."""
    color = color_surface(Format.A8R8G8B8)
    color.pixels()[...] = 0x80808080
    source = (32 / 255, 0.0, 32 / 255, 32 / 255)
    colors = {0: source} if second is None else {0: (0.0, 32 / 255, 0.0, 96 / 255), 1: second}
    equation = BlendEquation(Blend.ONE, Blend.SRCCOLOR2)
    packet = several(colors, (color,), (15,))
    execute_draw(blending(packet, BlendState(equation, equation)), Counters())
    assert hex(int(color.pixels()[3, 3])) == hex(word)


def test_a_target_without_a_colour_keeps_what_it_has() -> None:
    first, second = color_surface(), color_surface()
    second.pixels()[...] = 0x12345678
    execute_draw(several({0: RED}, (first, second), (15, 15)), Counters())
    assert (first.pixels() == 0xFFFF0000).all()
    assert (second.pixels() == 0x12345678).all()


def test_each_target_has_its_own_write_mask_and_all_are_blended() -> None:
    targets = tuple(color_surface(Format.A8R8G8B8) for _ in range(4))
    for target in targets:
        target.pixels()[...] = 0x01020304
    white = (1 / 255,) * 4
    packet = several(dict.fromkeys(range(4), white), targets, (1, 2, 4, 8))
    execute_draw(blending(packet, ADD), Counters())
    words = [int(target.pixels()[0, 0]) for target in targets]
    assert words == [0x01030304, 0x01020404, 0x01020305, 0x02020304]


def test_only_the_common_part_of_targets_is_drawn() -> None:
    first, second = color_surface(width=8), color_surface(height=4)
    counters = Counters()
    execute_draw(several({0: RED, 1: RED}, (first, second), (15, 15)), counters)
    assert counters.samples == np.count_nonzero(second.pixels()) == 32
    assert counters.pixel_bytes == 32 * (4 + 4)


@pytest.mark.parametrize(
    ("format", "word"),
    [
        (Format.A8R8G8B8, 0x40BC0089),
        (Format.X8R8G8B8, 0xFFBC0089),
        (Format.A8B8G8R8, 0x408900BC),
        (Format.X8B8G8R8, 0xFF8900BC),
        (Format.A2R10G10B10, 1 << 30 | 514 << 20 | 257),
        (Format.R5G6B5, 16 << 11 | 8),
    ],
)
def test_srgb_write_is_for_eight_bits_a_channel(format: Format, word: int) -> None:
    color = color_surface(format)
    packet = blending(draw(square(0x40800040), color=color), None, srgb_write=True)
    execute_draw(packet, Counters())
    assert (color.pixels() == word).all()


@pytest.mark.parametrize(
    ("format", "dithered"),
    [
        (Format.R5G6B5, True),
        (Format.X1R5G5B5, True),
        (Format.A4R4G4B4, True),
        (Format.R3G3B2, True),
        (Format.X8R8G8B8, False),
        (Format.A16B16G16R16F, False),
    ],
)
def test_dithering_is_for_narrow_channels(format: Format, dithered: bool) -> None:
    color = color_surface(format)
    execute_draw(blending(draw(square(0xFF858585), color=color), None, dither=True), Counters())
    words = np.unique(color.pixels().reshape(32, 32, -1)[:, :, 0])
    assert (len(words) > 1) is dithered


def test_the_dither_pattern_starts_at_the_corner_of_the_target() -> None:
    color = color_surface(Format.R5G6B5)
    execute_draw(blending(draw(square(0xFF84), color=color), None, dither=True), Counters())
    blue = (color.pixels() & 31).astype(int)
    bayer = np.array([[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]])
    wanted = np.floor(0x84 / 255 * 31 + (2 * np.tile(bayer, (8, 8)) + 1) / 32)
    assert (blue == wanted).all()


@pytest.mark.parametrize("format", [Format.A16B16G16R16F, Format.A32B32G32R32F])
def test_float_targets_hold_what_no_clamp_would(format: Format) -> None:
    color = color_surface(format)
    packet = several({0: (3.0, -2.0, 0.5, 4.0)}, (color,), (15,))
    for blend in (None, ADD):
        execute_draw(blending(packet, blend), Counters())
    kind = np.float16 if format is Format.A16B16G16R16F else np.float32
    assert color.data.view(kind).reshape(-1, 4)[5].tolist() == [6.0, -4.0, 1.0, 8.0]


@pytest.mark.parametrize(
    ("format", "lanes"), [(Format.R32F, 1), (Format.G32R32F, 2), (Format.G16R16F, 2)]
)
def test_channels_a_float_target_lacks_read_one_in_blending(format: Format, lanes: int) -> None:
    color = color_surface(format)
    equation = BlendEquation(Blend.DESTALPHA, Blend.ONE)
    packet = several({0: (0.25, 0.5, 0.75, 0.0)}, (color,), (15,))
    execute_draw(blending(packet, BlendState(equation, equation)), Counters())
    kind = np.float16 if format is Format.G16R16F else np.float32
    assert color.data.view(kind).reshape(-1, lanes)[3].tolist() == [0.25, 0.5][:lanes]

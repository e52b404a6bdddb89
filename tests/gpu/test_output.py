"""Everything behind the pixel program together, against one pixel in plain Python."""

from __future__ import annotations

import math

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from dp2emu.d3d.enums import Blend, BlendOp, CmpFunc, Format, StencilOp
from dp2emu.gpu.command.packets import MergeNumbers
from dp2emu.gpu.command.pipeline import DepthState, StencilFace, StencilState
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.draw.draw_stages import execute_draw
from dp2emu.gpu.resource.heap import Heap, SurfaceDesc, SurfaceKind
from dp2emu.shader.fixed.blend import BlendEquation, BlendState
from tests.gpu.drawing import color_surface, corner, depth_surface, draw, rebound
from tests.gpu.model import COMPARE
from tests.gpu.output_merger.test_stencil_test import AFTER

Color = tuple[float, ...]
F = np.float32

FIELDS: dict[Format, tuple[tuple[int, int], ...]] = {
    Format.A8R8G8B8: ((16, 8), (8, 8), (0, 8), (24, 8)),
    Format.X8R8G8B8: ((16, 8), (8, 8), (0, 8)),
    Format.R5G6B5: ((11, 5), (5, 6), (0, 5)),
    Format.A1R5G5B5: ((10, 5), (5, 5), (0, 5), (15, 1)),
}
"""Shift and bits of red, green, blue and alpha."""
BAYER = ((0, 8, 2, 10), (12, 4, 14, 6), (3, 11, 1, 9), (15, 7, 13, 5))
FACTORS = [Blend.ZERO, Blend.ONE, Blend.SRCALPHA, Blend.INVSRCALPHA, Blend.DESTALPHA,
           Blend.INVDESTCOLOR, Blend.SRCALPHASAT, Blend.BLENDFACTOR]  # fmt: skip


def factor(name: Blend, n: int, source: Color, target: Color, constant: Color) -> float:
    return float({
        Blend.ZERO: F(0), Blend.ONE: F(1), Blend.SRCALPHA: source[3],
        Blend.INVSRCALPHA: F(1) - F(source[3]), Blend.DESTALPHA: target[3],
        Blend.INVDESTCOLOR: F(1) - F(target[n]),
        Blend.SRCALPHASAT: F(1) if n == 3 else min(F(source[3]), F(1) - F(target[3])),
        Blend.BLENDFACTOR: constant[n],
    }[name])  # fmt: skip


def combined(
    equation: BlendEquation, n: int, source: Color, target: Color, constant: Color
) -> float:
    s = F(source[n]) * F(factor(equation.source, n, source, target, constant))
    d = F(target[n]) * F(factor(equation.destination, n, source, target, constant))
    found = {
        BlendOp.ADD: s + d, BlendOp.SUBTRACT: s - d, BlendOp.REVSUBTRACT: d - s,
        BlendOp.MIN: min(source[n], target[n]), BlendOp.MAX: max(source[n], target[n]),
    }[equation.operation]  # fmt: skip
    return float(min(max(found, F(0)), F(1)))


class State(msgspec.Struct, frozen=True):
    """What a pixel goes through."""

    format: Format
    alpha: CmpFunc | None
    stencil: StencilFace | None
    depth: DepthState
    blend: BlendState | None
    mask: int
    dither: bool
    numbers: MergeNumbers

    def written(self, word: int, color: int, x: int, y: int) -> int:
        """The word of the target after a fragment."""
        fields = FIELDS[self.format]
        source = tuple(float(F(color >> s & 255) / F(255)) for s in (16, 8, 0, 24))
        target = tuple(float(F(word >> s & (1 << b) - 1) / F((1 << b) - 1)) for s, b in fields)
        target = (*target, 1.0)[:4]
        argb = self.numbers.blend_factor
        constant = tuple(float(F(argb >> s & 255) / F(255)) for s in (16, 8, 0, 24))
        result = 0xFF000000 if self.format is Format.X8R8G8B8 else 0
        for n, (shift, bits) in enumerate(fields):
            top, value = (1 << bits) - 1, source[n]
            if self.blend is not None:
                equation = self.blend.alpha if n == 3 else self.blend.color
                value = combined(equation, n, source, target, constant)
            if self.dither and n < 3 and bits < 8:
                value = float(F(value) + F((2 * BAYER[y % 4][x % 4] + 1) / 32 - 0.5) / F(top))
            new = math.floor(min(max(value, 0), 1) * top + 0.5)
            old = word >> shift & top
            result |= (new if self.mask >> n & 1 else old) << shift
        return result if self.mask & (1 << len(fields)) - 1 else word


class Pixel(msgspec.Struct):
    """What targets hold of it: a colour, 24 bits of depth, 8 of stencil."""

    color: int
    depth: int
    stencil: int
    passed: int = 0

    def draw(self, state: State, color: int, z: float, x: int, y: int) -> None:
        numbers, test, depth = state.numbers, state.depth, math.floor(z * 0xFFFFFF + 0.5)
        if state.alpha and not COMPARE[state.alpha](color >> 24, numbers.alpha_reference):
            return
        near = not test.enable or COMPARE[test.func](depth, self.depth)
        if state.stencil is not None and not self._stencil(state.stencil, numbers, near):
            return
        if not near:
            return
        self.passed += 1
        if test.enable and test.write:
            self.depth = depth
        self.color = state.written(self.color, color, x, y)

    def _stencil(self, face: StencilFace, numbers: MergeNumbers, near: bool) -> bool:
        passes = COMPARE[face.func](numbers.stencil_reference, self.stencil)
        op = (face.passed if near else face.depth_fail) if passes else face.fail
        self.stencil = AFTER[op](self.stencil, numbers.stencil_reference, 255)
        return passes


func = st.sampled_from(list(CmpFunc))
stencil_op = st.sampled_from(list(StencilOp))
equation = st.builds(
    BlendEquation,
    st.sampled_from(FACTORS),
    st.sampled_from(FACTORS),
    st.sampled_from(list(BlendOp)),
)
byte = st.sampled_from([0, 1, 0x40, 0x7F, 0x80, 0xFE, 0xFF])
word = st.builds(lambda a, r, g, b: a << 24 | r << 16 | g << 8 | b, byte, byte, byte, byte)
some_state = st.builds(
    State,
    st.sampled_from(list(FIELDS)),
    st.none() | func,
    st.none() | st.builds(StencilFace, func, stencil_op, stencil_op, stencil_op),
    st.builds(DepthState, st.booleans(), st.booleans(), func),
    st.none() | st.builds(BlendState, equation, equation),
    st.sampled_from([15, 15, 15, 7, 8, 5, 0]),
    st.booleans(),
    st.builds(MergeNumbers, blend_factor=word, alpha_reference=byte, stencil_reference=byte),
)
SIZE = 4


@settings(max_examples=200)
@given(
    state=some_state,
    start=word,
    layers=st.lists(st.tuples(word, st.sampled_from([0.25, 0.5, 0.75])), min_size=1, max_size=6),
)
def test_a_draw_equals_one_fragment_after_the_other(
    state: State, start: int, layers: list[tuple[int, float]]
) -> None:
    color = color_surface(state.format, SIZE, SIZE)
    depth = depth_surface(Format.D24S8, SIZE, SIZE, word=0x80000001)
    start = start | 0xFF000000 if state.format is Format.X8R8G8B8 else start
    start &= (1 << 8 * color.pixels().itemsize) - 1
    color.pixels()[...] = start
    vertices = [corner(x, y, z, argb) for argb, z in layers
                for x, y in ((-1, -1), (4 * SIZE, -1), (-1, 4 * SIZE))]  # fmt: skip
    packet = draw(vertices, color=color, depth=depth, test=state.depth, write_mask=state.mask)
    stencil = None if state.stencil is None else StencilState(state.stencil)
    pipeline = replace(packet.pipeline, alpha_test=state.alpha, stencil=stencil,
                       blend=state.blend, dither=state.dither)  # fmt: skip
    counters = Counters()
    execute_draw(rebound(packet, pipeline=pipeline, merge=state.numbers), counters)
    passed = 0
    for y in range(SIZE):
        for x in range(SIZE):
            pixel = Pixel(start, 0x800000, 1)
            for argb, z in layers:
                pixel.draw(state, argb, z, x, y)
            assert int(color.pixels()[y, x]) == pixel.color
            assert int(depth.pixels()[y, x]) == pixel.depth << 8 | pixel.stencil
            passed += pixel.passed
    assert counters.samples == passed


@pytest.mark.parametrize("samples", [2, 4, 8])
def test_all_samples_of_a_pixel_are_dithered_alike(samples: int) -> None:
    words = []
    for count in (1, samples):
        desc = SurfaceDesc(1, SurfaceKind.SURFACE, 8, 8, Format.R5G6B5, samples=count)
        color = Heap().create(desc)
        packet = draw([corner(x, y, 0.5, 0xFF858585) for x, y in ((-1, -1), (32, -1), (-1, 32))],
                      color=color)  # fmt: skip
        pipeline = replace(packet.pipeline, dither=True, samples=count)
        execute_draw(replace(packet, pipeline=pipeline), Counters())
        words.append(color.pixels().copy())
    assert (words[1] == np.repeat(words[0], samples, axis=1)).all()

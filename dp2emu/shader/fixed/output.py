"""Output stage of a fragment's colour: clamp, blend, sRGB encoding, dither; packing follows.

Source: Direct3D 9 documentation of the states named.  In this order, every operation rounded to
float32 and none fused:

1. On targets that hold 0..1, or -1..1 in Direct3D 10, the source and second source are clamped,
   NaN becoming 0.
2. Blending (``shader.fixed.blend``), of linear values with D3DRS_SRGBWRITEENABLE; clamped again.
3. D3DRS_SRGBWRITEENABLE: red, green and blue c become 12.92 c up to 0.0031308, above it
   1.055 c ** (1 / 2.4) - 0.055 (IEC 61966-2-1).
4. D3DRS_DITHERENABLE: red, green and blue become c + d[y mod 4][x mod 4] / max, where max is the
   largest code of the channel, d = (2 m + 1) / 32 - 1/2, and m the Bayer matrix
   ((0, 8, 2, 10), (12, 4, 14, 6), (3, 11, 1, 9), (15, 7, 13, 5)).

Dithering preserves representable values, since d is less than half a step and packing rounds to
nearest.
"""

from __future__ import annotations

from functools import cached_property, lru_cache

import msgspec

from dp2emu.shader.builder import Builder
from dp2emu.shader.fixed.blend import BlendState, Colour, blended, stays_within
from dp2emu.shader.functions import pow
from dp2emu.shader.ir import Program, Stage
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value

LINEAR_FILE = "linear"
"""Name of the uniform file with the linear value of each of the 256 sRGB codes."""


class TargetOutput(msgspec.Struct, frozen=True, dict=True):
    """Key of an output program.

    ``clamped``: the target holds 0..1.  ``srgb``: it holds 8-bit sRGB codes.  ``dither`` has the
    largest codes of red, green and blue, 0 for an undithered channel.  ``signed``: the target
    holds -1..1.  ``within``: source colours are known to be within 0..1.
    """

    blend: BlendState | None = None
    clamped: bool = True
    srgb: bool = False
    dither: tuple[int, int, int] = (0, 0, 0)
    signed: bool = False
    within: bool = False

    @property
    def held(self) -> bool:
        """Whether the colours that packing gets are known to be within 0..1 already."""
        blended = self.blend is not None and not self.srgb and not any(self.dither)
        return self.within if self.plain else self.clamped and blended

    @cached_property
    def plain(self) -> bool:
        """Whether the program only clamps, which packing does anyway, and so can be omitted."""
        return self.blend is None and not self.srgb and not any(self.dither)


@lru_cache(maxsize=1 << 10)
def output_program(output: TargetOutput) -> Program:
    """Return the output program.

    Inputs ``source.x`` to ``source.w``.  Blending reads ``destination.x`` to ``destination.w``,
    the uniform files ``blend`` and, for sRGB, ``linear``, and ``second.x`` to ``second.w`` for
    dual source factors; dithering reads the pixel, ``vpos.x`` and ``vpos.y``.  Outputs
    ``result.x`` to ``result.w``.
    """
    b = Builder(Stage.PIXEL)
    color = _clamped_source(output, [b.input(f"source.{component}") for component in "xyzw"])
    if output.blend is not None:
        destination = [b.input(f"destination.{component}") for component in "xyzw"]
        if output.srgb:
            destination[:3] = (_linear(b, value) for value in destination[:3])
        read = "xyzw" if output.blend.second else ""
        second = _clamped_source(output, [b.input(f"second.{component}") for component in read])
        color = _reclamped(output, blended(b, output.blend, color, destination, second))
    if output.srgb:
        color[:3] = map(_encoded, color[:3])
    if any(output.dither):
        color[:3] = _dithered(b, output.dither, color[:3])
    for component, value in zip("xyzw", color, strict=True):
        b.output(f"result.{component}", value)
    return b.program()


def _clamped_source(output: TargetOutput, color: Colour) -> Colour:
    return color if output.within else _clamped(output, color)


def _clamped(output: TargetOutput, color: Colour) -> Colour:
    if output.signed:
        return [_clamp_signed(value) for value in color]
    return [value.builder.saturate(value) for value in color] if output.clamped else color


def _reclamped(output: TargetOutput, color: Colour) -> Colour:
    """Return a blended colour, clamped to the target's range where blending may have left it."""
    assert output.blend is not None
    equations = (output.blend.color,) * 3 + (output.blend.alpha,)
    brought: Colour = []
    for equation, value in zip(equations, color, strict=True):
        stays = output.clamped and stays_within(equation)
        brought += [value] if stays else _clamped(output, [value])
    return brought


def _clamp_signed(value: Value) -> Value:
    """Clamp to -1..1; a NaN becomes 0."""
    b = value.builder
    low = b.select(value > -1.0, value, -1.0)
    # Only a NaN differs from itself.
    return b.select(value.eq(value), b.select(low < 1.0, low, 1.0), 0.0)


def _linear(b: Builder, stored: Value) -> Value:
    """Linear value of an 8-bit sRGB code given as a fraction of 255."""
    return b.load(b.uniform(LINEAR_FILE, Type.F32, 256), 0, b.ftoi(stored * 255.0 + 0.5))


def _encoded(c: Value) -> Value:
    b = c.builder
    root = pow(c, b.constant(Type.F32, 1 / 2.4))
    return b.select(c <= 0.0031308, c * 12.92, root * 1.055 - 0.055)


def _dithered(b: Builder, largest: tuple[int, int, int], color: Colour) -> Colour:
    step = _threshold(b)
    return [value + step / float(top) if top else value
            for value, top in zip(color, largest, strict=True)]  # fmt: skip


def _threshold(b: Builder) -> Value:
    """Dither threshold of the pixel x, y: (2 m - 15) / 32 with its value m of a 4 x 4 matrix.

    The bits of m, lowest first: bit 1 of y, bit 1 of x ^ y, bit 0 of y, bit 0 of x ^ y.
    """
    x, y = (b.ftoi(b.input(f"vpos.{axis}")) for axis in "xy")
    mixed = x ^ y
    m = (y >> 1 & 1) | (mixed & 2) | (y & 1) << 2 | (mixed & 1) << 3
    return b.itof((m << 1) - 15) / 32.0

"""Colour targets: blending and masked writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dp2emu.d3d.formats import ColorFormat
from dp2emu.gpu.arrays import F32, I64, Words
from dp2emu.gpu.memory import Surface
from dp2emu.gpu.packets import Draw, Uniforms
from dp2emu.gpu.pixels import (
    argb_floats,
    color_format,
    every_bit,
    pack_color,
    unpack_color,
    with_color,
    write_bits,
)
from dp2emu.shader.fixed.blend import BLEND_FILE, blend_program
from dp2emu.shader.ir import Program
from dp2emu.shader.reference import run

COMPONENTS = "xyzw"


@dataclass(frozen=True, slots=True)
class Blending:
    """A blend program and the numbers it reads."""

    program: Program
    uniforms: Uniforms

    def __call__(self, source: Sequence[F32], destination: Sequence[F32]) -> tuple[F32, ...]:
        """Four lanes from four each; what a program does to every pixel alike."""
        inputs = {f"source.{c}": lane for c, lane in zip(COMPONENTS, source, strict=True)}
        inputs |= {
            f"destination.{c}": lane for c, lane in zip(COMPONENTS, destination, strict=True)
        }
        outputs = run(self.program, inputs, self.uniforms, len(destination[0])).outputs
        return tuple(outputs[f"result.{c}"] for c in COMPONENTS)


@dataclass(frozen=True, slots=True)
class ColorTarget:
    """Render target ``number``; ``bits`` of its words can be written.

    ``words`` is a view of all pixels, ``pitch`` a row, as the format's row views them.  Without
    ``blending`` what is written takes the place of what was there.
    """

    number: int
    words: Words
    pitch: int
    row: ColorFormat
    bits: int
    blending: Blending | None

    def write(self, rgba: Sequence[F32], x: I64, y: I64) -> None:
        """Merge colours, one for each of the pixels, which must differ."""
        address = y * self.pitch + x
        words = pack_color(self.row, self._merged(rgba, address))
        if self.bits != every_bit(self.row):
            words = with_color(self.row, self.words[address], words, self.bits)
        self.words[address] = words

    def _merged(self, rgba: Sequence[F32], address: I64) -> Sequence[F32]:
        if self.blending is None:
            return rgba
        return self.blending(rgba, unpack_color(self.row, self.words[address]))

    @property
    def pixel_bytes(self) -> int:
        """Bytes moved for each pixel: what blending reads, and what is written."""
        return self.row.size * (2 if self.blending else 1)


def color_targets(draw: Draw, written: Sequence[int]) -> tuple[ColorTarget, ...]:
    """Those of a draw's targets that change: bound, ``written`` by the program, not masked.

    A target the program has no colour for keeps what it has.  Raises Unsupported for a format
    that cannot be rendered to, whether it changes or not.
    """
    pipeline = draw.pipeline
    masks = zip(draw.colors, pipeline.write_masks, strict=False)
    rows = [(n, surface, color_format(surface), mask)
            for n, (surface, mask) in enumerate(masks) if surface is not None]  # fmt: skip
    return tuple(
        _target(draw, number, surface, row, write_bits(row, mask))
        for number, surface, row, mask in rows
        if number in written and write_bits(row, mask)
    )


def _target(draw: Draw, number: int, surface: Surface, row: ColorFormat, bits: int) -> ColorTarget:
    blend = draw.pipeline.blend
    blending = None
    if blend is not None:
        factor = np.array(argb_floats(draw.merge.blend_factor), np.float32)
        blending = Blending(blend_program(blend, clamped=not row.floating), {BLEND_FILE: factor})
    pitch = surface.pitch // row.size
    return ColorTarget(number, row.view(surface.data), pitch, row, bits, blending)

"""Render targets of the reference engine: the output program, packing and masked writes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import msgspec
import numpy as np

from dp2emu.d3d.formats import Channel, Coding, FormatRow
from dp2emu.gpu.arrays import F32, I64, Words
from dp2emu.gpu.command.bindings import Uniforms
from dp2emu.gpu.command.packets import Draw, MergeNumbers
from dp2emu.gpu.command.pipeline import Pipeline
from dp2emu.gpu.command.raster_operations import COPY, Writing, written_over
from dp2emu.gpu.resource import pixel_format
from dp2emu.gpu.resource.heap import Surface
from dp2emu.gpu.resource.srgb import takes_codes
from dp2emu.identity_cache import identity_cached
from dp2emu.shader.engines import locate_disagreement
from dp2emu.shader.fixed.blend import BLEND_FILE
from dp2emu.shader.fixed.output import LINEAR_FILE, TargetOutput, output_program
from dp2emu.shader.formulas import computed
from dp2emu.shader.ops import saturate
from dp2emu.shader.reference import Run
from dp2emu.shader.texture.bindings import srgb_to_linear_table
from dp2emu.shader.types import I32, Lanes

COMPONENTS = "xyzw"

PLANES = 0xFFFFFFFF
"""Mask of the bits of a pixel that a DirectX plane mask can protect from writes: the lowest 32."""
DITHER_BELOW = 8
"""D3DRS_DITHERENABLE dithers only colour channels of fewer bits than this number, 8."""


class ColorTarget(msgspec.Struct, frozen=True):
    """Render target ``number`` of a draw; ``bits`` is the mask of a pixel's writable bits.

    ``words`` is a flat view of all samples in the element type of the format; ``pitch`` is samples
    per row of the surface, ``samples`` is samples per pixel.  The engine ``run`` runs the
    ``output`` program on colours before they are packed; ``raster_op`` combines the packed words
    with the target.
    """

    number: int
    words: Words
    pitch: int
    samples: int
    row: FormatRow
    bits: int
    output: TargetOutput
    uniforms: Uniforms
    run: Run
    raster_op: int = COPY

    def write(
        self, rgba: Sequence[F32 | I32], x: I64, y: I64, second: Sequence[F32 | I32] | None = None
    ) -> None:
        """Blend a colour with each sample at x, y and store the result; no sample may occur twice.

        ``x`` counts samples along a row.  ``second`` are the second source colours of dual source
        blending; None is 0.  Int32 lanes are the bits of floats, or the integers of an integer
        target.
        """
        address = y * self.pitch + x
        if not self.output.plain:
            first = [pixel_format.as_floats(lane) for lane in rgba]
            other = [pixel_format.as_floats(lane) for lane in second or _NOTHING]
            rgba = self._merged(first, other, x, y, address)
        parts = computed(pixel_format.packed, self.row, *rgba)
        writing = Writing(self.raster_op, self.whole)
        if writing != Writing(COPY, whole=True):
            parts = over(self.row, writing, self.bits, parts, self.words[address])
        self.words[address] = pixel_format.words_of(self.row, parts, address.shape)

    def _merged(
        self, rgba: Sequence[F32], second: Sequence[F32], x: I64, y: I64, address: I64
    ) -> tuple[F32, ...]:
        inputs = _lanes("source", rgba)
        if self.output.blend is not None:
            inputs |= _lanes(
                "destination", pixel_format.unpack_color(self.row, self.words[address])
            )
            inputs |= _lanes("second", second) if self.output.blend.second else {}
        if any(self.output.dither):
            pixel = (x // self.samples).astype(np.float32), y.astype(np.float32)
            inputs |= _lanes("vpos", pixel)
        with locate_disagreement(lambda lane: f"pixel {x[lane] // self.samples}, {y[lane]}"):
            outputs = self.run(output_program(self.output), inputs, self.uniforms, len(x)).outputs
        return tuple(outputs[f"result.{component}"] for component in COMPONENTS)

    @property
    def whole(self) -> bool:
        """Whether the write mask includes all bits of a pixel."""
        return self.bits == pixel_format.every_bit(self.row)

    @property
    def pixel_bytes(self) -> int:
        """Bytes moved per sample drawn: a write, and a read for blending or raster operation."""
        reads = self.output.blend is not None or self.raster_op != COPY
        return self.row.size * (2 if reads else 1)


def over(
    row: FormatRow, writing: Writing, bits: int, parts: Sequence[Lanes], there: Words
) -> list[Lanes]:
    """Combine new pixels with the stored pixels ``there`` by a raster operation.

    ``parts`` are the new pixels' 32-bit parts, as are the results; bits outside of the mask
    ``bits`` keep their stored value.
    """
    masks = np.frombuffer(bits.to_bytes(pixel_format.PART * len(parts), "little"), np.int32)
    pairs = zip(parts, pixel_format.parts_of(row, there), masks, strict=True)
    return [computed(written_over, writing, *each)[0] for each in pairs]


_NOTHING = (np.zeros(1, np.float32),) * len(COMPONENTS)


def _lanes(name: str, lanes: Sequence[F32]) -> dict[str, F32]:
    return {f"{name}.{c}": lane for c, lane in zip(COMPONENTS, lanes, strict=False)}


def color_targets(draw: Draw, written: Sequence[int], run: Run) -> tuple[ColorTarget, ...]:
    """Return a draw's targets that are bound, ``written`` by the program and not masked.

    Raises Unsupported if any bound target's format cannot be rendered to.
    """
    found = (
        _target(surface, number, draw.pipeline, draw.output.merge, run)
        for number, surface in enumerate(draw.output.colors[: len(draw.pipeline.write_masks)])
        if surface is not None
    )
    return tuple(each for each in found if each is not None and each.number in written)


@identity_cached()
def _target(
    surface: Surface, number: int, pipeline: Pipeline, numbers: MergeNumbers, run: Run
) -> ColorTarget | None:
    """Return render target ``number`` of a draw; None if its write masks enable no bit."""
    row = pixel_format.color_format(surface)
    bits = pixel_format.write_bits(row, pipeline.write_masks[number])
    bits &= numbers.plane_mask | ~PLANES
    if not bits:
        return None
    words, pitch = row.view(surface.data), surface.pitch // row.size
    output = output_of(pipeline, row, number)
    uniforms = {BLEND_FILE: _blend_factor(numbers, output)}
    if output.srgb:
        uniforms[LINEAR_FILE] = srgb_to_linear_table()
    operation = pipeline.raster_op
    if operation != COPY:
        bits &= ~pixel_format.unused_bits(row)
    return ColorTarget(
        number, words, pitch, surface.samples, row, bits, output, uniforms, run, operation
    )


def _blend_factor(numbers: MergeNumbers, output: TargetOutput) -> F32:
    """Return the blend factor, clamped to the range of the target."""
    color = numbers.blend_factor
    if isinstance(color, int):
        factor = np.array(pixel_format.floats_of(color), np.float32)
    else:
        factor = np.array(color, np.uint32).view(np.float32)
    if output.signed:
        return np.clip(factor, np.float32(-1), np.float32(1))
    return saturate(factor) if output.clamped else factor


@lru_cache(maxsize=1 << 10)
def output_of(pipeline: Pipeline, row: FormatRow, number: int) -> TargetOutput:
    """Return the key of the program that clamps, blends and encodes colours for target ``number``,
    whose format is ``row``."""
    channels = (row.red, row.green, row.blue)
    codings = {channel.coding for channel in row.channels.values()}
    # Integer targets are neither blended nor clamped to fractions.
    if codings & {Coding.UINT, Coding.SINT}:
        return TargetOutput(clamped=False)
    encoded = pipeline.srgb_write and takes_codes(row)
    signed = Coding.SNORM in codings
    return TargetOutput(
        blend=pipeline.blend_of(number),
        clamped=not (row.floating or signed),
        srgb=row.srgb or encoded,
        dither=(0, 0, 0) if not pipeline.dither else _dithered(channels),
        signed=signed,
    )


def _dithered(channels: tuple[Channel | None, ...]) -> tuple[int, int, int]:
    """Return the largest codes of red, green and blue; 0 for a channel that is not dithered."""
    red, green, blue = (c.max if c is not None and c.bits < DITHER_BELOW else 0 for c in channels)
    return red, green, blue

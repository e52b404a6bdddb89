"""Code of the output merger for a block of pixels: alpha test, depth and stencil tests, output
program, packing, raster operation and masked writes.

LLVM text of the formulas that the reference engine evaluates in ``color_target`` and
``depth_test``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from dp2emu.d3d.dxgi import ROWS
from dp2emu.gpu.code.block_writer import Code, Lane, Parts, Words, splat
from dp2emu.gpu.code.kernel_key import ColorKey, DepthKey, Key
from dp2emu.gpu.code.kernel_layout import Layout
from dp2emu.gpu.command.raster_operations import COPY, Writing, written_over
from dp2emu.gpu.output_merger.alpha_test import AlphaTest, alpha_passes, samples_covered
from dp2emu.gpu.output_merger.depth_test import MergeTests, depth_stencil
from dp2emu.gpu.pixel_shader.pixel_code import NOTHING, Routine, Shaded
from dp2emu.gpu.pixel_shader.pixel_stage import COLOR_PORTS
from dp2emu.gpu.rasterizer.planes_code import lanes_from
from dp2emu.gpu.resource.pixel_format import packed, unpacked
from dp2emu.shader.fixed.output import output_program
from dp2emu.shader.jit.inline import emitted
from dp2emu.shader.jit.ranges import UNIT, clamped
from dp2emu.shader.jit.writer import ZERO
from dp2emu.shader.types import Type

COMPONENTS = "xyzw"

Colors = Mapping[int, Sequence[Lane]]
"""Number of a colour output of the pixel program -> red, green, blue and alpha: vectors of the
block's pixels, quad by quad (QUADS order)."""


def alive_after(
    w: Code, key: Key, shaded: Shaded, reference: str, samples: Sequence[int]
) -> list[str]:
    """Emit alpha test and alpha to coverage; return a mask of the remaining pixels per sample.

    Lanes of masks are quad by quad.  ``reference`` is the alpha test's reference value, an i32.
    """
    alive = shaded.alive
    tests = key.alpha_test is not None or key.alpha_to_coverage
    colored = tests and 0 in shaded.colors
    alpha = (Type.F32, shaded.colors[0][3].floats(w) if colored else ZERO)
    known = UNIT if not colored or clamped(key.program, COLOR_PORTS[0][3:]) else None
    if key.alpha_test is not None:
        operands = (alpha, (Type.I32, reference))
        test = AlphaTest(key.alpha_test, key.alpha_unclamped)
        (right,) = emitted(w, alpha_passes, test, operands, [known])
        alive = w.both(alive, right)
    if shaded.drawn is not None:
        shifted = (w(f"lshr {w.i} {shaded.drawn}, {splat(sample)}") for sample in samples)
        return [w.both(alive, w(f"trunc {w.i} {bit} to {w.b}")) for bit in shifted]
    if not key.alpha_to_coverage:
        return [alive] * len(samples)
    (kept,) = emitted(w, samples_covered, key.samples, [alpha], [known])
    return [w.both(alive, w(f"icmp sgt {w.i} {kept}, {splat(sample)}")) for sample in samples]


class Coloring:
    """Writer of the LLVM code that blends a pixel block's colours and stores them in all targets.

    ``routines`` has a function for the output program of each target that needs one.
    """

    def __init__(self, w: Code, key: Key, layout: Layout) -> None:
        self.w, self.key, self.layout = w, key, layout
        self.routines = {color: Routine(f"output{color.number}", output_program(color.output))
                         for color in key.colors if not color.output.plain}  # fmt: skip
        self._words = {color: self._target(color) for color in key.colors}

    def _argument(self, type: str, color: ColorKey, name: str) -> str:
        number = self.layout.arguments[f"color{color.number}.{name}"]
        return self.w.word(type, "%arguments", number)

    def _target(self, color: ColorKey) -> Words:
        base = self._argument("ptr", color, "base")
        pitch = self._argument("i64", color, "pitch")
        return Words(self.w, base, pitch, ROWS[color.format].size, self.key.samples)

    def write(self, x: str, y: str, masks: Sequence[str], colors: Sequence[Colors]) -> None:
        """Emit the writes of colours to all targets, in the block of pixels at x, y.

        ``masks``, with lanes row by row, and ``colors`` have an item for each sample of a pixel.
        """
        for color in self.key.colors:
            self._write(color, (x, y), masks, colors)

    def _write(
        self, color: ColorKey, at: tuple[str, str], masks: Sequence[str], colors: Sequence[Colors]
    ) -> None:
        block = self._words[color].at(*at)
        reads = color.output.blend is not None or color.operation != COPY or not color.whole
        there: Sequence[Parts | None] = block.load() if reads else [None] * len(masks)
        if color.output.blend is None and not self.key.each:
            # All samples of a pixel get the same colour.
            drawn = [self._drawn(color, at, None, colors[0])] * len(masks)
        else:
            drawn = [self._drawn(color, at, before, own)
                     for before, own in zip(there, colors, strict=True)]  # fmt: skip
        block.store(masks, [self._mixed(color, *each) for each in zip(drawn, there, strict=True)])

    def _drawn(
        self, color: ColorKey, place: tuple[str, str], before: Parts | None, colors: Colors
    ) -> Parts:
        """Emit output program and packing; return the packed pixels, in 32-bit parts, row by row.

        ``before`` are the stored pixels, which blending reads.
        """
        w, row, rgba = self.w, ROWS[color.format], colors[color.number]
        if color in self.routines:
            parts = [(Type.I32, w.to_quads(w.i, part)) for part in before or ()]
            blends = before is not None and color.output.blend is not None
            stored = emitted(w, unpacked, row, parts) if blends else []
            lanes = {
                "source": [lane.floats(w) for lane in rgba],
                "destination": stored,
                "second": [lane.floats(w) for lane in colors.get(1, NOTHING)],
            }
            rgba = [Lane(each) for each in self._merged(color, lanes, place)]
        known = [UNIT if color.output.held and not lane.whole else None for lane in rgba]
        packs = emitted(w, packed, row, [lane.typed for lane in rgba], known)
        return [w.to_memory(w.i, part) for part in packs]

    def _mixed(self, color: ColorKey, drawn: Parts, there: Parts | None) -> Parts:
        """Emit the raster operation and the write mask, applied to the packed pixels ``drawn``.

        ``there`` are the stored pixels, None if neither needs them.
        """
        if there is None:
            return drawn
        w, writing, words = self.w, Writing(color.operation, color.whole), []
        for part, pair in enumerate(zip(drawn, there, strict=True)):
            mask = ZERO
            if not color.whole:
                mask = w.spread("i32", self._argument("i32", color, f"bits{part}"))
            operands = [(Type.I32, each) for each in (*pair, mask)]
            words += emitted(w, written_over, writing, operands)
        return words

    def _merged(
        self, color: ColorKey, lanes: Mapping[str, Sequence[str]], place: tuple[str, str]
    ) -> list[str]:
        """Emit a call of a target's output program for the pixels at ``place``; return its result.

        ``lanes`` has red, green, blue and alpha of "source", "destination" and "second" source.
        """
        w, routine = self.w, self.routines[color]
        inputs = {f"{name}.{c}": lane for name, rgba in lanes.items()
                  for c, lane in zip(COMPONENTS, rgba, strict=False)}  # fmt: skip
        for axis, first, among in zip("xy", place, (w.quads.columns, w.quads.rows), strict=True):
            whole = lanes_from(w, first, among)
            inputs[f"vpos.{axis}"] = w(f"sitofp {w.i} {whole} to {w.f}")
        outputs, _ = routine.call(w, self._argument("ptr", color, "program"), inputs)
        return [outputs[f"result.{component}"] for component in COMPONENTS]


class Outcome(NamedTuple):
    """Result of the depth and stencil tests for one sample: a mask of the lanes that passed, and
    the new content of their depth-stencil pixels in 32-bit parts."""

    passed: str
    stored: Parts


class DepthTest(msgspec.Struct, frozen=True):
    """Writer of the LLVM code of depth and stencil tests of a pixel block, with lanes row by row.

    ``numbers`` are stencil reference, mask and write mask, i32 vectors.
    """

    code: Code
    key: DepthKey
    words: Words
    numbers: Sequence[str]

    def __call__(
        self, x: str, y: str, depths: Sequence[str], masks: Sequence[str], back: str
    ) -> list[str]:
        """Emit tests and stores for the block of pixels at x, y; return masks of the lanes that
        passed.

        ``depths``, vectors of doubles in 0..1, and ``masks`` have an item per sample; ``back`` is
        the mask of lanes of a back face.
        """
        outcomes = self.test(x, y, depths, masks, back)
        passed = [each.passed for each in outcomes]
        self.store(x, y, outcomes, passed if self.key.stencil is None else masks)
        return passed

    def test(
        self, x: str, y: str, depths: Sequence[str], masks: Sequence[str], back: str
    ) -> list[Outcome]:
        """Emit the tests of the pixels at x, y, without stores; return an outcome per sample."""
        w, key, outcomes = self.code, self.key, []
        tests = MergeTests(key.format, key.func, key.written, key.stencil)
        for stored, z, mask in zip(self.words.at(x, y).load(), depths, masks, strict=True):
            words = [(Type.I32, each) for each in (*self.numbers, *stored)]
            operands = [(Type.F64, z), (Type.BOOL, back), *words]
            passed, *new = emitted(w, depth_stencil, tests, operands, [UNIT])
            outcomes.append(Outcome(w.both(mask, passed), new))
        return outcomes

    def store(self, x: str, y: str, outcomes: Sequence[Outcome], masks: Sequence[str]) -> None:
        """Emit stores of each sample's outcome, by its mask, in the block of pixels at x, y.

        Without a stencil test the masks may contain only lanes that passed.
        """
        if self.key.stores:
            self.words.at(x, y).store(masks, [each.stored for each in outcomes])

"""From the colours of a block to its targets: alpha test, output program, bits, masked writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dp2emu.d3d.dxgi import ROWS
from dp2emu.gpu.code.block_writer import Code, Lane, Parts, Words, splat
from dp2emu.gpu.code.kernel_key import ColorKey, Key
from dp2emu.gpu.code.kernel_layout import Layout
from dp2emu.gpu.command.raster_operations import COPY, Writing, written_over
from dp2emu.gpu.output_merger.alpha_test import alpha_passes
from dp2emu.gpu.pixel_shader.pixel_code import NOTHING, Routine, Shaded
from dp2emu.gpu.pixel_shader.pixel_stage import COLOR_PORTS
from dp2emu.gpu.rasterizer.multisample import samples_covered
from dp2emu.gpu.rasterizer.planes_code import lanes_from
from dp2emu.gpu.resource.pixel_format import packed, unpacked
from dp2emu.shader.fixed.output import output_program
from dp2emu.shader.jit.inline import emitted
from dp2emu.shader.jit.ranges import UNIT, clamped
from dp2emu.shader.jit.writer import ZERO
from dp2emu.shader.types import Type

COMPONENTS = "xyzw"

Colors = Mapping[int, Sequence[Lane]]
"""Four vectors in QUADS order for each target of the program."""


def alive_after(
    w: Code, key: Key, shaded: Shaded, reference: str, samples: Sequence[int]
) -> list[str]:
    """Lanes, by sample, that neither their program nor their alpha drops, in quad order.

    ``reference`` is what the alpha test compares with, i32.
    """
    alive = shaded.alive
    tests = key.alpha_test is not None or key.alpha_to_coverage
    colored = tests and 0 in shaded.colors
    alpha = (Type.F32, shaded.colors[0][3].floats(w) if colored else ZERO)
    known = UNIT if not colored or clamped(key.program, COLOR_PORTS[0][3:]) else None
    if key.alpha_test is not None:
        operands = (alpha, (Type.I32, reference))
        (right,) = emitted(w, alpha_passes, key.alpha_test, operands, [known])
        alive = w.both(alive, right)
    if shaded.drawn is not None:
        shifted = (w(f"lshr {w.i} {shaded.drawn}, {splat(sample)}") for sample in samples)
        return [w.both(alive, w(f"trunc {w.i} {bit} to {w.b}")) for bit in shifted]
    if not key.alpha_to_coverage:
        return [alive] * len(samples)
    (kept,) = emitted(w, samples_covered, key.samples, [alpha], [known])
    return [w.both(alive, w(f"icmp sgt {w.i} {kept}, {splat(sample)}")) for sample in samples]


class Coloring:
    """Mutable: what a kernel writes colours with; ``routines`` are its output programs."""

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
        """Merge colours with the samples of the block at x, y of every target.

        ``masks``, in memory order, and ``colors`` are by sample.
        """
        for color in self.key.colors:
            self._write(color, (x, y), masks, colors)

    def _write(
        self,
        color: ColorKey,
        place: tuple[str, str],
        masks: Sequence[str],
        colors: Sequence[Colors],
    ) -> None:
        block = self._words[color].at(*place)
        reads = color.output.blend is not None or color.operation != COPY or not color.whole
        there: Sequence[Parts | None] = [None] * len(masks)
        if reads:
            there = block.load()
        if color.output.blend is None and not self.key.each:
            # All samples of a pixel get the same.
            drawn = [self._drawn(color, place, None, colors[0])] * len(masks)
        else:
            drawn = [self._drawn(color, place, before, own)
                     for before, own in zip(there, colors, strict=True)]  # fmt: skip
        block.store(masks, [self._mixed(color, *each) for each in zip(drawn, there, strict=True)])

    def _drawn(
        self, color: ColorKey, place: tuple[str, str], before: Parts | None, colors: Colors
    ) -> Parts:
        """Bits of colours, merged with what was there ``before``, in memory order."""
        w, row, rgba = self.w, ROWS[color.format], colors[color.number]
        if color in self.routines:
            blends = before is not None and color.output.blend is not None
            turned = [w.to_quads(w.i, part) for part in before or ()]
            parts = [(Type.I32, part) for part in turned]
            stored = emitted(w, unpacked, row, parts) if blends else []
            first, second = (
                [lane.floats(w) for lane in each] for each in (rgba, colors.get(1, NOTHING))
            )
            rgba = [Lane(each) for each in self._merged(color, first, stored, second, place)]
        known = [UNIT if color.output.held and not lane.whole else None for lane in rgba]
        packs = emitted(w, packed, row, [lane.typed for lane in rgba], known)
        return [w.to_memory(w.i, part) for part in packs]

    def _mixed(self, color: ColorKey, drawn: Parts, there: Parts | None) -> Parts:
        """After the raster operation and the masks of what is written."""
        if there is None:
            return drawn
        writing, words = Writing(color.operation, color.whole), []
        for part, pair in enumerate(zip(drawn, there, strict=True)):
            mask = ZERO if color.whole else self._bits(color, part)
            operands = [(Type.I32, each) for each in (*pair, mask)]
            words += emitted(self.w, written_over, writing, operands)
        return words

    def _bits(self, color: ColorKey, part: int) -> str:
        """Bits of a part that are written."""
        return self.w.spread("i32", self._argument("i32", color, f"bits{part}"))

    def _merged(
        self,
        color: ColorKey,
        source: Sequence[str],
        before: Sequence[str],
        second: Sequence[str],
        place: tuple[str, str],
    ) -> list[str]:
        """What the output program gives."""
        w, routine = self.w, self.routines[color]
        lanes = {"source": source, "destination": before, "second": second}
        inputs = {f"{name}.{c}": lane for name, rgba in lanes.items()
                  for c, lane in zip(COMPONENTS, rgba, strict=False)}  # fmt: skip
        for axis, first, among in zip("xy", place, (w.quads.columns, w.quads.rows), strict=True):
            whole = lanes_from(w, first, among)
            inputs[f"vpos.{axis}"] = w(f"sitofp {w.i} {whole} to {w.f}")
        outputs, _ = routine.call(w, self._argument("ptr", color, "program"), inputs)
        return [outputs[f"result.{component}"] for component in COMPONENTS]

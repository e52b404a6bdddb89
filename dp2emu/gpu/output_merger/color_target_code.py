"""From the colours of a block to its targets: alpha test, output program, bits, masked writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dp2emu.d3d.dxgi import ROWS
from dp2emu.gpu.code.block_writer import Code, Lane, Parts, Words
from dp2emu.gpu.code.kernel_key import ColorKey, Key
from dp2emu.gpu.code.kernel_layout import Layout
from dp2emu.gpu.code.pixel_format_code import (
    HALF,
    combined,
    double,
    mixed,
    pack,
    splat,
    unorm,
    unpack,
)
from dp2emu.gpu.command.raster_operations import COPY
from dp2emu.gpu.output_merger.depth_test_code import compare
from dp2emu.gpu.pixel_shader.pixel_code import NOTHING, Routine, Shaded
from dp2emu.gpu.pixel_shader.pixel_stage import COLOR_PORTS
from dp2emu.gpu.rasterizer.planes_code import lanes_from
from dp2emu.shader.fixed.output import output_program
from dp2emu.shader.jit.operations import EMIT
from dp2emu.shader.jit.ranges import clamped
from dp2emu.shader.jit.writer import ZERO

COMPONENTS = "xyzw"
ALPHA_BITS = 16
"""Of what the alpha test compares (``merge.alpha_passes``)."""

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
    alpha = ZERO
    if tests and 0 in shaded.colors:
        alpha = shaded.colors[0][3].floats(w)
        if not clamped(key.program, COLOR_PORTS[0][3:]):
            alpha = EMIT["saturate"](w, alpha)
    if key.alpha_test is not None:
        right = compare(w, key.alpha_test, unorm(w, alpha, ALPHA_BITS), reference)
        alive = w.both(alive, right)
    if shaded.drawn is not None:
        shifted = (w(f"lshr {w.i} {shaded.drawn}, {splat(sample)}") for sample in samples)
        return [w.both(alive, w(f"trunc {w.i} {bit} to {w.b}")) for bit in shifted]
    if not key.alpha_to_coverage:
        return [alive] * len(samples)
    kept = _samples_kept(w, alpha, key.samples)
    return [w.both(alive, w(f"icmp sgt {w.i} {kept}, {splat(sample)}")) for sample in samples]


def _samples_kept(w: Code, alpha: str, samples: int) -> str:
    """floor(alpha * samples + 0.5), i32 (``multisample.alpha_covers``)."""
    wide = w(f"fmul {w.d} {w(f'fpext {w.f} {alpha} to {w.d}')}, {double(samples)}")
    return w(f"fptosi {w.d} {w(f'fadd {w.d} {wide}, {HALF}')} to {w.i}")


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
            stored = unpack(w, row, turned) if blends else []
            first, second = (
                [lane.floats(w) for lane in each] for each in (rgba, colors.get(1, NOTHING))
            )
            rgba = [Lane(each) for each in self._merged(color, first, stored, second, place)]
        parts = pack(w, row, rgba, color.output.held)
        return [w.to_memory(w.i, part) for part in parts]

    def _mixed(self, color: ColorKey, drawn: Parts, there: Parts | None) -> Parts:
        """After the raster operation and the masks of what is written."""
        w = self.w
        if there is None:
            return drawn
        words = [combined(w, color.operation, *each) for each in zip(drawn, there, strict=True)]
        if color.whole:
            return words
        bits = [self._bits(color, part) for part in range(len(words))]
        return [mixed(w, *each) for each in zip(bits, words, there, strict=True)]

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

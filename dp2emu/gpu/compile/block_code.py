"""Kernel text for blocks of pixels: the stages of ``gpu.draw.draw_stages`` from coverage on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import reduce

import msgspec

from dp2emu.d3d.dxgi import ROWS
from dp2emu.gpu.code.block_writer import ROWS as PAIR
from dp2emu.gpu.code.block_writer import Code, Lane, Words, splat, union
from dp2emu.gpu.code.kernel_key import Key
from dp2emu.gpu.code.kernel_layout import CLIPPED, FRONT, RESULTS, RHW, SLOPE, Layout
from dp2emu.gpu.code.kernel_layout import DEPTH as Z
from dp2emu.gpu.command.pipeline import COVERAGE_PORT
from dp2emu.gpu.output_merger.merge_code import Coloring, DepthTest, alive_after
from dp2emu.gpu.pixel_shader.pixel_code import Shaded, Shader, Site, Way, pixel_routine
from dp2emu.gpu.rasterizer.fragment_depth import DepthTerms, depth_tested, inside_depth
from dp2emu.gpu.rasterizer.multisample import POSITIONS
from dp2emu.gpu.rasterizer.planes_code import Primitive, lanes_from, offset
from dp2emu.gpu.rasterizer.spans import CENTRE, ONE
from dp2emu.gpu.rasterizer.spans_code import Bounds
from dp2emu.shader.jit.inline import emitted
from dp2emu.shader.jit.writer import ALL, ZERO, number
from dp2emu.shader.types import Type


class Row(msgspec.Struct, frozen=True):
    """A pair of pixel rows of a primitive: ``y``, which is even, and y + 1.

    ``bounds`` are the columns covered by each sample, or by the centre if these do not differ.
    ``ways`` are vertical distances from corner 0 to each sample, in memory order, ``down`` those
    to the centre, in quad order; ``planes`` have the varyings at these rows, ``depths`` z by
    sample.  ``free`` is the mask of lanes that z does not clip.
    """

    primitive: Primitive
    y: str
    bounds: Sequence[Bounds]
    ways: Sequence[str]
    down: str
    planes: Mapping[str, str]
    depths: Sequence[str]
    free: str
    coverage: str | None = None


class Spot(msgspec.Struct, frozen=True):
    """A block of a pair of pixel rows, from column ``x`` on, in memory order.

    ``inside`` are coverage masks, as in ``Row.bounds``, ``masks`` those of the fragments to draw
    by sample, ``depths`` their z.  ``ways`` are the horizontal distances from corner 0 to each
    sample, ``central`` those to the pixel centre.
    """

    row: Row
    x: str
    inside: Sequence[str]
    masks: Sequence[str]
    depths: Sequence[str]
    ways: Sequence[str]
    central: str


class Blocks:
    """Writer of a kernel's LLVM text from coverage to pixels.  Mutable: the text grows."""

    def __init__(self, w: Code, key: Key, layout: Layout) -> None:
        self.w, self.key, self.layout = w, key, layout
        self.counts = {name: w.variable("i64", "0") for name in RESULTS}
        self.routine = pixel_routine(key)
        self.coloring = Coloring(w, key, layout)
        self.shader = Shader(w, key, self.routine, self.argument("ptr", "program"))
        self.depth = self._depth_test()
        self.reference = self._splat("i32", "alpha.reference")
        self.places = POSITIONS[key.samples] if key.by_sample else (CENTRE,) * key.samples

    def argument(self, type: str, name: str) -> str:
        """Load the kernel argument ``name``."""
        return self.w.word(type, "%arguments", self.layout.arguments[name])

    def finish(self) -> None:
        """Emit the addition of the kernel's counts to its results."""
        w = self.w
        for word, name in enumerate(RESULTS):
            place = w.place("%results", str(8 * word))
            total = w(f"add i64 {w(f'load i64, ptr {place}')}, {self.counts[name].value}")
            w.do(f"store i64 {total}, ptr {place}")

    def _depth_test(self) -> DepthTest | None:
        key = self.key.depth
        if key is None:
            return None
        base, pitch = self.argument("ptr", "depth.base"), self.argument("i64", "depth.pitch")
        words = Words(self.w, base, pitch, ROWS[key.format].size, self.key.samples)
        held = [self._splat("i32", f"stencil.{each}") for each in ("reference", "mask", "write")]
        return DepthTest(self.w, key, words, held)

    def _splat(self, type: str, name: str) -> str:
        return self.w.spread(type, self.argument(type, name))

    # Rows

    def rows(
        self,
        primitive: Primitive,
        y: str,
        bounds: Sequence[Bounds],
        ends: tuple[str, str],
        coverage: str | None = None,
    ) -> None:
        """Emit the drawing of the rows ``y`` and y + 1 between the columns ``ends``; ``bounds``
        has the covered columns of each sample, ``coverage`` the coverage by an antialiased line.
        """
        w = self.w
        centre = primitive.down(y, w.memory)
        ways = [self._offset(centre, down) for _, down in self.places]
        down = primitive.down(y, w.quads)
        # All planes but the first, which is depth's, are read by programs.
        read = [*self.layout.planes][1:] if self.key.runs else []
        planes = {name: primitive.row(name, down) for name in read}
        depths = [primitive.row(Z, way) for way in ways]
        free = ALL
        if self.key.clipped:
            free = w.spread("i1", w(f"xor i1 {primitive.flag(CLIPPED)}, true"))
        row = Row(primitive, y, bounds, ways, down, planes, depths, free, coverage)
        first = w(f"and i32 {ends[0]}, {-w.columns}")
        self._prefetch_below(y, ends)
        with w.count("i32", first, ends[1], w.columns) as x:
            self._block(row, x)

    def _prefetch_below(self, y: str, ends: tuple[str, str]) -> None:
        """Prefetch depth of the next two rows at the columns ``ends``, where these probably begin
        and end.
        """
        if self.depth is not None:
            below = self.w(f"add i32 {y}, {PAIR}")
            for x in ends:
                self.depth.words.at(x, below).fetch()

    def _offset(self, way: str, grid: int) -> str:
        return offset(self.w, way, grid, ONE) if self.key.by_sample else way

    # Blocks

    def _block(self, row: Row, x: str) -> None:
        w, key = self.w, self.key
        columns = lanes_from(w, x, w.memory.columns)
        inside = [self._inside(columns, bounds) for bounds in row.bounds]
        dx = row.primitive.along(x, w.memory)
        ways = [self._offset(dx, along) for along, _ in self.places]
        depths = [row.primitive.at(Z, *pair) for pair in zip(row.depths, ways, strict=True)]
        masks = self._samples(inside[: key.samples])
        masks = [self._kept(row, x, mask, z) for mask, z in zip(masks, depths, strict=True)]
        spot = Spot(row, x, inside, masks, depths, ways, dx)
        with w.when(w.any(union(self.w, masks))):
            self._count("fragments", masks)
            (self._late if key.late else self._early)(spot)

    def _inside(self, columns: str, bounds: Bounds) -> str:
        w = self.w
        return w.both(
            w(f"icmp sge {w.i} {columns}, {bounds.left}"),
            w(f"icmp slt {w.i} {columns}, {bounds.right}"),
        )

    def _samples(self, inside: Sequence[str]) -> list[str]:
        """Coverage mask of each sample; samples off in D3DRS_MULTISAMPLEMASK cover nothing."""
        w, samples = self.w, self.key.samples
        if samples == 1:
            return list(inside)
        bits, masks = self.argument("i64", "sample.mask"), []
        for sample in range(samples):
            covered = inside[sample if self.key.by_sample else 0]
            on = w(f"trunc i64 {w(f'lshr i64 {bits}, {sample}')} to i1")
            masks.append(w.both(covered, w.spread("i1", on)))
        return masks

    def _kept(self, row: Row, x: str, mask: str, z: str) -> str:
        """The lanes of ``mask`` that neither clipping of ``z`` to 0..1 nor the stipple drops."""
        w = self.w
        if self.key.clipped:
            (within,) = emitted(w, inside_depth, None, [(Type.F64, z)])
            mask = w.both(mask, w.either(within, row.free))
        return w.both(mask, self._stippled(row.y, x)) if self.key.stippled else mask

    def _stippled(self, y: str, x: str) -> str:
        """The mask of lanes where the stipple pattern is 1; a word's highest bit is leftmost."""
        w = self.w
        base, rows = self.argument("ptr", "stipple"), self.argument("i32", "stipple.rows")
        words = []
        for line in range(2):
            turn = w(f"urem i32 {w(f'add i32 {y}, {line}')}, {rows}")
            place = w(f"getelementptr i32, ptr {base}, i32 {turn}")
            words.append(w.spread("i32", w(f"load i32, ptr {place}")))
        bits = w.picked(
            w.i, words[0], words[1], (*range(w.columns), *range(3 * w.columns, 4 * w.columns))
        )
        low = w(f"and {w.i} {lanes_from(w, x, w.memory.columns)}, {splat(31)}")
        shift = w(f"sub {w.i} {splat(31)}, {low}")
        return w(f"trunc {w.i} {w(f'lshr {w.i} {bits}, {shift}')} to {w.b}")

    def _count(self, name: str, masks: Sequence[str]) -> None:
        for mask in masks:
            self.counts[name].add(self.w.population(mask))

    # The order of tests and program

    def _early(self, spot: Spot) -> None:
        """Emit the depth and stencil tests, then the program for fragments that pass."""
        w, key = self.w, self.key
        passed = self._test(spot, spot.masks, None)
        seen = union(w, passed)
        if self.depth is not None:
            self._count("passed", passed)
        if len(passed) > 1:
            self._count("invocations", passed if key.each else [seen])
        if key.colors:
            # Without a test some fragment always passes.
            with nullcontext() if self.depth is None else w.when(w.any(seen)):
                shaded = self._shaded(spot)
                drawn = self._alive(passed, shaded) if key.drops else passed
                self._write(spot, drawn, shaded)

    def _late(self, spot: Spot) -> None:
        """Emit the program before the tests, because it affects tests or stored values."""
        if self.key.ahead and self.depth is not None:
            self._ahead(spot, self.depth)
            return
        w = self.w
        shaded = self._shaded(spot)
        self._count_runs(spot)
        masks = self._alive(spot.masks, shaded)
        self._count("tested", masks)
        with w.when(w.any(union(w, masks))):
            depths = [each.depth for each in shaded]
            written = [None if z is None else w.to_memory(w.f, z) for z in depths]
            passed = self._test(spot, masks, written)
            if self.depth is not None:
                self._count("passed", passed)
            self._write(spot, passed, shaded)

    def _count_runs(self, spot: Spot) -> None:
        """On multisampled targets, emit the addition of the program's runs for all fragments of a
        block to the count ``invocations``.
        """
        if len(spot.masks) > 1:
            run = spot.masks if self.key.each else [union(self.w, spot.masks)]
            self._count("invocations", run)

    def _ahead(self, spot: Spot, depth: DepthTest) -> None:
        """Emit a program that runs ahead of the tests, but only for fragments that depth does not
        hide; it counts as run for all fragments.
        """
        w, x, y = self.w, spot.x, spot.row.y
        self._count_runs(spot)
        outcomes = depth.test(x, y, self._depths(spot, None), spot.masks, ZERO)
        seen = [each.passed for each in outcomes]
        with w.when(w.any(union(w, seen))):
            shaded = self._shaded(spot)
            masks = self._alive(seen, shaded)
            with w.when(w.any(union(w, masks))):
                self._count("passed", masks)
                depth.store(x, y, outcomes, masks)
                self._write(spot, masks, shaded)

    def _alive(self, masks: Sequence[str], shaded: Sequence[Shaded]) -> list[str]:
        """The masks of lanes that neither the program nor an alpha test drops, by sample."""
        w, samples = self.w, range(len(masks))
        if self.key.each:
            found = [alive_after(w, self.key, each, self.reference, [sample])[0]
                     for sample, each in enumerate(shaded)]  # fmt: skip
        else:
            found = alive_after(w, self.key, shaded[0], self.reference, samples)
        return [w.both(mask, w.to_memory(w.b, on)) for mask, on in zip(masks, found, strict=True)]

    def _write(self, spot: Spot, masks: Sequence[str], shaded: Sequence[Shaded]) -> None:
        self.coloring.write(spot.x, spot.row.y, masks, [each.colors for each in shaded])

    def _test(
        self, spot: Spot, masks: Sequence[str], written: Sequence[str | None] | None
    ) -> Sequence[str]:
        """Test and store depth and stencil -> the masks of lanes that pass; ``written`` is the
        program's depth by sample.
        """
        if self.depth is None:
            return masks
        w, row = self.w, spot.row
        back = w(f"fcmp olt {w.d} {row.primitive.splat(FRONT)}, {ZERO}")
        return self.depth(spot.x, row.y, self._depths(spot, written), masks, back)

    def _depths(self, spot: Spot, written: Sequence[str | None] | None) -> list[str]:
        """The depths to test by sample, doubles: the program's if it writes depth, otherwise the z
        of the primitive's plane.
        """
        w, key = self.w, self.key
        ends = [self._splat("double", f"depth.{end}") for end in ("low", "high")]
        terms, found = DepthTerms(key.w_buffer, key.biased, key.sloped), []
        for sample, z in enumerate(written or [None] * len(spot.masks)):
            if z is None:
                given, of = [spot.depths[sample], *self._depth_terms(spot, sample)], terms
            else:
                given, of = [w(f"fpext {w.f} {z} to {w.d}")], DepthTerms()
            found += emitted(w, depth_tested, of, [(Type.F64, each) for each in (*ends, *given)])
        return found

    def _depth_terms(self, spot: Spot, sample: int) -> list[str]:
        """The operands of the formula ``depth_tested`` that follow z."""
        key, primitive, terms = self.key, spot.row.primitive, list[str]()
        if key.w_buffer:
            rhw = primitive.at(RHW, primitive.row(RHW, spot.row.ways[sample]), spot.ways[sample])
            terms += [rhw, *(self._splat("double", name) for name in ("near", "range"))]
        if key.biased:
            terms.append(self._splat("double", "bias"))
        return [*terms, primitive.splat(SLOPE)] if key.sloped else terms

    # Shading

    def _shaded(self, spot: Spot) -> list[Shaded]:
        """Emit one run of the program, or one for each sample -> its results by sample."""
        key, row = self.key, spot.row
        same = self.w.quads == self.w.memory
        along = spot.central if same else row.primitive.along(spot.x, self.w.quads)
        central = along, row.down
        covered, offsets = None, dict[Way, Way]()
        if key.by_sample:
            way = self._centroids(spot.inside)
            covered = self._moved(central, way)
            offsets[covered] = way
        if not key.each:
            return [self._shade(spot, central, covered, offsets, 0)] * key.samples
        return [
            self._shade(spot, central, covered, offsets, sample) for sample in range(key.samples)
        ]

    def _moved(self, from_: Way, by: Way) -> Way:
        x, y = (self.w(f"fadd {self.w.d} {a}, {b}") for a, b in zip(from_, by, strict=True))
        return x, y

    def _shade(
        self, spot: Spot, central: Way, covered: Way | None, offsets: dict[Way, Way], sample: int
    ) -> Shaded:
        w, row, key = self.w, spot.row, self.key
        sampled = None
        if key.samples > 1 and key.moved:
            x, y = POSITIONS[key.samples][sample]
            sampled = offset(w, central[0], x, ONE), offset(w, central[1], y, ONE)
            offsets = {**offsets, sampled: (_pixels(x), _pixels(y))}
        coverage = self._coverage(spot) if COVERAGE_PORT in key.reads else ZERO
        shaded = self.shader(Site(
            row.primitive, spot.x, row.y, central, covered, sampled, row.planes, sample, coverage,
            offsets,
        ))  # fmt: skip
        if row.coverage is not None:
            for color in shaded.colors.values():
                alpha = color[3].floats(w)
                color[3] = Lane(w(f"fmul {w.f} {alpha}, {row.coverage}"))
        return shaded

    def _coverage(self, spot: Spot) -> str:
        """The bit mask of covered, unmasked samples of each pixel, in quad order."""
        w, samples = self.w, self.key.samples
        if samples == 1:
            return splat(1)
        bits = splat((1 << samples) - 1)
        if self.key.by_sample:
            bits = ZERO
            for sample, mask in enumerate(spot.inside[:samples]):
                bit = w(f"zext {w.b} {w.to_quads(w.b, mask)} to {w.i}")
                bits = w(f"or {w.i} {bits}, {w(f'shl {w.i} {bit}, {splat(sample)}')}")
        return w(f"and {w.i} {bits}, {self._splat('i32', 'sample.mask')}")

    def _centroids(self, inside: Sequence[str]) -> Way:
        """Distances from the centre of each pixel to its centroid, in pixels: its first covered
        sample, but its centre if all or none of its samples are covered.
        """
        w = self.w
        dx, dy = ZERO, ZERO
        turned = [w.to_quads(w.b, mask) for mask in inside]
        everywhere = reduce(w.both, turned)
        candidates = *zip(self.places, turned, strict=True), (CENTRE, everywhere)
        for place, mask in (*candidates[-2::-1], candidates[-1]):
            along, down = map(_pixels, place)
            dx, dy = w.select(mask, w.d, along, dx), w.select(mask, w.d, down, dy)
        return dx, dy


def _pixels(grid: int) -> str:
    """LLVM constant, doubles, of a distance on the sub-pixel grid, in pixels."""
    return f"splat (double {number(grid / ONE)})"

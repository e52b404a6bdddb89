"""The fragments of a draw at one pixel: what each stage decided, and what it wrote.

The reference stages execute the draw on the pixel alone, with a probe, and all memory that they
change is put back.  What has no fragment there is set up again without clipping, culling, scissor
rectangle and sample mask, which tells the first test that leaves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from functools import partial
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace

from dp2emu.d3d.enums import CmpFunc, Cull
from dp2emu.d3d.formats import FormatRow
from dp2emu.errors import Disagreement, Unsupported
from dp2emu.explain.pixel_fragment import DepthSeen, Fragment, StencilSeen, Verdict
from dp2emu.explain.pixel_place import Number, Place, holds_integers, shortest, value_of
from dp2emu.explain.pixel_survey import (
    DEPTH,
    Chunk,
    ChunkProbe,
    Reach,
    Spot,
    Survey,
    numbers_of,
    sources_of,
    with_raster_state,
)
from dp2emu.explain.rehearsal import MOST_FRAGMENTS
from dp2emu.gpu.arrays import F32, F64, I64, Mask, Words
from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.command.packets import Draw
from dp2emu.gpu.command.pipeline import StencilFace
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.command.raster_operations import COPY
from dp2emu.gpu.command.work import Work
from dp2emu.gpu.draw.draw_stages import execute_draw
from dp2emu.gpu.draw.probe import Test
from dp2emu.gpu.input_assembler.vertex_fetch import instanced, measured
from dp2emu.gpu.output_merger.color_target import ColorTarget
from dp2emu.gpu.output_merger.depth_test import DepthTarget, TestSeen, depth_stencil, depth_target
from dp2emu.gpu.pixel_shader.pixel_stage import Shaded, Shading, targets_of
from dp2emu.gpu.rasterizer.clip import Geometry
from dp2emu.gpu.rasterizer.planes import Sites
from dp2emu.gpu.rasterizer.primitive_setup import Primitives
from dp2emu.gpu.resource.heap import Surface
from dp2emu.gpu.resource.pixel_format import (
    as_floats,
    color_format,
    parts_of,
    words_of,
    write_bits,
)
from dp2emu.gpu.shader_resources.constant_buffers import with_constants
from dp2emu.gpu.work_budget import WorkBudget
from dp2emu.limits import Limits
from dp2emu.shader.fixed.blend import BlendEquation
from dp2emu.shader.formulas import computed
from dp2emu.shader.types import I32


class Examined(msgspec.Struct, frozen=True):
    """The fragments of a draw at a place, in drawing order; the bytes of the place afterwards; and
    the format in which the draw writes it.
    """

    fragments: list[Fragment]
    pixel: bytes
    row: FormatRow


def examine(
    draw: Draw, place: Place, limits: Limits | None = None, reach: Reach | None = None
) -> Examined | None:
    """The fragments of a draw at a place, None if the place is in none of its targets.

    ``reach`` is the draw's, if it is known, which spares the work where the draw has nothing.
    Nothing in memory has changed afterwards.  Raises what the execution of the draw raises, and
    Exceeded for a draw that alone is beyond the ``limits`` of a call.
    """
    where = _where(draw, place)
    if where is None:
        return None
    surface, pixel = where
    spot = Spot(place, *pixel, surface)
    if reach is not None and not reach.touches(*pixel):
        return Examined([], place.read(), spot.row)
    draw = _prepared(draw)
    budget = WorkBudget(limits or Limits())
    budget.admit_draw(draw)
    memory = _Memory(draw)
    try:
        fragments = [
            found
            for instance, part in enumerate(instanced(draw))
            for found in _examined(part, instance, spot, (memory, budget, reach))
        ]
        stored = place.read()
    finally:
        memory.restore()
    return Examined(fragments, stored, spot.row)


def in_targets(draw: Draw, place: Place) -> bool:
    """Whether a place is in one of a draw's targets."""
    return _where(draw, place) is not None


def reach_of(draw: Draw, limits: Limits | None = None) -> Reach:
    """The pixels that a draw may touch, for all of which its vertices are assembled once.

    Nothing in memory has changed afterwards.  Raises what the execution of the draw raises, and
    Exceeded for a draw that alone is beyond the ``limits`` of a call.
    """
    draw = _prepared(draw)
    budget = WorkBudget(limits or Limits())
    budget.admit_draw(draw)
    memory, found = _Memory(draw), Reach()
    try:
        for part in instanced(draw):
            found.begin()
            part, runs = _observed(part, budget)
            runs(_unclipped(_narrowed(part, Rect(0, 0, 0, 0))), probe=found)
    finally:
        memory.restore()
    return found


def _prepared(draw: Draw) -> Draw:
    """The draw as it is executed: with its measured count and its constants."""
    draw = measured(draw)
    buffered = draw.vertex.buffers or draw.pixel.buffers or draw.post_vertex
    return with_constants(draw) if buffered else draw


def _where(draw: Draw, place: Place) -> tuple[Surface, tuple[int, int]] | None:
    """The target or slice of a draw that a place is in, with column and row; None if none is."""
    surfaces = [*draw.output.colors, draw.output.depth]
    for layer in draw.post_vertex.layers if draw.post_vertex is not None else ():
        surfaces += [*layer.colors, layer.depth]
    for surface in surfaces:
        found = None if surface is None else place.within(surface)
        if surface is not None and found is not None:
            return surface, found
    return None


class _Memory:
    """Memory that the probed stages change, to be put back.  Mutable: it collects."""

    def __init__(self, draw: Draw) -> None:
        self._written: list[tuple[Words, I64, Words]] = []
        views = draw.output.unordered.values()
        held = [view.surface for view in views]
        held += [view.counter for view in views if view.counter is not None]
        self._whole = [(each, each.data.copy()) for each in held]

    def keep(self, words: Words, address: I64) -> None:
        """Keep the words at some addresses, which are about to be written."""
        places = np.unique(address)
        self._written.append((words, places, words[places].copy()))

    def restore(self) -> None:
        """Put everything back, the latest first."""
        for words, places, old in reversed(self._written):
            words[places] = old
        for surface, data in self._whole:
            surface.data[:] = data


def _examined(
    draw: Draw, instance: int, spot: Spot, means: tuple[_Memory, WorkBudget, Reach | None]
) -> list[Fragment]:
    """The fragments of one instance."""
    memory, budget, reach = means
    draw, runs = _observed(draw, budget)
    wide = Survey(spot, None if reach is None else reach.chunks(instance, spot.x, spot.y))
    alone = _narrowed(draw, spot.rect)
    runs(_unclipped(alone), probe=wide)
    near = wide.near
    if not near:
        return []
    clipped = wide
    if draw.pipeline.raster.cull_distances:
        clipped = Survey(spot, near)
        runs(with_raster_state(alone, cull_distances=0), probe=clipped)
    # Programs with side effects may depend on every other fragment.
    every = bool(draw.pipeline.memory_operations)
    probe = _PixelProbe(spot, memory, instance, None if every else near)
    runs(draw if every else alone, probe=probe)
    if clipped is wide:
        clipped = probe.uncut
    if not near <= clipped.chunks.keys() & probe.found.keys():
        raise Unsupported("histories of draws that a work limit divides")
    return [*_in_order(spot, instance, (wide, clipped, probe))]


def _observed(draw: Draw, budget: WorkBudget) -> tuple[Draw, Callable[..., Work]]:
    """A draw that fills no buffers of vertices, and the function that executes it for a probe."""
    runs = partial(execute_draw, counters=Counters())
    if draw.post_vertex is None:
        return draw, runs
    later = replace(draw.post_vertex, output=replace(draw.post_vertex.output, layouts={}))
    # Only tessellation and geometry programs make more work than was admitted.
    return replace(draw, post_vertex=later), partial(runs, budget=budget)


def _unclipped(draw: Draw) -> Draw:
    """The draw without clipping and cull distances."""
    return with_raster_state(draw, clip=False, clip_distances=0, cull_distances=0)


def _narrowed(draw: Draw, rect: Rect) -> Draw:
    """The draw with its scissor rectangles cut to a pixel."""
    later = draw.post_vertex
    if later is not None and later.views:
        views = [replace(view, scissor=_cut(view.scissor, rect)) for view in later.views]
        draw = replace(draw, post_vertex=replace(later, views=tuple(views)))
    return replace(draw, scissor=_cut(draw.scissor, rect))


def _cut(scissor: Rect, rect: Rect) -> Rect:
    cut = scissor.intersect(rect)
    return Rect(0, 0, 0, 0) if cut.empty else cut


# The stages that follow coverage


class _PixelProbe(ChunkProbe):
    """Records the fragments of a draw at a pixel.  Mutable: it collects.

    ``found`` has the fragments of each chunk, by its number, by primitive before clipping and
    sample; ``uncut`` the primitives as the draw clips them.
    """

    every_fragment = True

    def __init__(
        self, spot: Spot, memory: _Memory, instance: int, wanted: Container[int] | None
    ) -> None:  # fmt: skip
        super().__init__(wanted)
        self._spot, self._memory, self._instance = spot, memory, instance
        self.uncut = Survey(spot)
        self._latest: dict[tuple[int, int], list[Fragment]] = {}
        self.found: dict[int, dict[tuple[int, int], list[Fragment]]] = {}
        self._live: dict[tuple[int, int], Fragment] = {}
        self._role: int | None = None
        self._count = 0

    def chunk(self, draw: Draw, assembled: Geometry, primitives: Primitives) -> bool:
        """Note the primitives, and have them drawn."""
        number = self.number()
        self.uncut.add(number, draw, assembled)
        self._chunk, self._numbered = sources_of(primitives), numbers_of(draw, primitives)
        self._role = self._spot.role(draw)
        self._samples = draw.pipeline.samples
        self._latest = self.found[number] = {}
        return True

    def batch(self, draw: Draw, here: Sites, shading: Shading) -> None:
        """Begin a record for each fragment at the pixel."""
        self._live = {}
        if self._role is None:
            return
        for place in self._spot.at(here, self._samples):
            span = int(here.span[place])
            primitive, sample = int(here.spans.primitive[span]), int(here.x[place])
            number = int(self._numbered[primitive])
            fragment = Fragment(self._instance, number, sample % self._samples)
            self._live[span, sample] = fragment
            key = int(self._chunk[primitive]), fragment.sample
            self._latest.setdefault(key, []).append(fragment)
        self._count += len(self._live)
        if self._count > MOST_FRAGMENTS:
            raise Unsupported(f"histories of more than {MOST_FRAGMENTS} fragments of a draw")

    def _records(self, here: Sites) -> Iterator[tuple[int, Fragment]]:
        """The fragments at the pixel with their indices in ``here``."""
        for place in self._spot.at(here, self._samples):
            fragment = self._live.get((int(here.span[place]), int(here.x[place])))
            if fragment is not None:
                yield place, fragment

    def decided(self, test: Test, here: Sites, kept: Mask) -> None:
        """Note the fragments that a test drops."""
        for place, fragment in self._records(here):
            if not kept[place]:
                fragment.drop(*_DROPPED[test])

    def shaded(self, here: Sites, shaded: Shaded) -> None:
        """Note the outputs for the target."""
        colors = None if self._role is None else shaded.colors.get(self._role)
        if colors is None:
            return
        # Programs of Direct3D 10 write bits, which are integers only for targets of integers.
        whole = holds_integers(self._spot.row)
        lanes = [np.broadcast_to(lane if whole else as_floats(lane), here.x.shape)
                 for lane in colors]  # fmt: skip
        for place, fragment in self._records(here):
            fragment.output = [_plain(lane[place]) for lane in lanes]

    def tested(self, target: DepthTarget, here: Sites, front: F32 | None) -> TestSeen | None:
        """Keep what the tests overwrite; returns the function that notes each test."""
        self._memory.keep(target.words, here.y * target.pitch + here.x)
        chosen = dict(self._records(here))
        return partial(_note_tests, target, front, chosen, self._role == DEPTH)

    def writes(self, target: ColorTarget, here: Sites, write: Callable[[], None]) -> None:
        """Note the pixel before and after."""
        address = here.y * target.pitch + here.x
        self._memory.keep(target.words, address)
        chosen = dict(self._records(here)) if target.number == self._role else {}
        for place, fragment in chosen.items():
            fragment.before = target.words[address[place]].tobytes()
        write()
        for place, fragment in chosen.items():
            fragment.after = target.words[address[place]].tobytes()
            fragment.drop(Verdict.WRITTEN, _how(target))


def _plain(value: Any) -> Number:
    return int(value) if value.dtype.kind == "i" else shortest(value)


_DROPPED = {
    Test.DEPTH_CLIP: (Verdict.CLIPPED, "depth outside of 0 to 1"),
    Test.STIPPLE: (Verdict.COVERAGE, "stipple pattern"),
    Test.KILL: (Verdict.KILLED, "the pixel program drops it"),
    Test.ALPHA: (Verdict.ALPHA_TEST, ""),
    Test.COVERAGE_OUTPUT: (Verdict.COVERAGE, "coverage output of the pixel program"),
    Test.ALPHA_TO_COVERAGE: (Verdict.COVERAGE, "alpha to coverage"),
}
"""The verdict on fragments that a test drops, and its detail."""


def _how(target: ColorTarget) -> str:
    """How a colour combines with a target, in words; empty if it replaces it."""
    parts = []
    blend = target.output.blend
    if blend is not None:
        equations = dict.fromkeys(map(_equation, (blend.color, blend.alpha)))
        parts.append(f"blended: {'; alpha '.join(equations)}")
    if target.raster_op != COPY:
        parts.append("logic operation")
    if not target.whole:
        parts.append(f"only {_channels(target)} written")
    return ", ".join(parts)


def _equation(equation: BlendEquation) -> str:
    """The factors of source and target, and the operation that combines the products."""
    parts = equation.source, equation.operation, equation.destination
    return " ".join(each.name for each in parts)


_CHANNELS = {"r": "red", "g": "green", "b": "blue", "a": "alpha", "l": "luminance"}
"""Names of channels in words, by the names in a format, in the order in which they are told."""


def _channels(target: ColorTarget) -> str:
    """Names of the channels of which a bit is written, such as ``red and blue``."""
    lanes = target.row.channels
    kept = {name for name, lane in lanes.items() if target.bits >> lane.shift & lane.max}
    names = dict.fromkeys((*_CHANNELS, *lanes))
    written = [_CHANNELS.get(name, name) for name in names if name in kept]
    return " and ".join(filter(None, (", ".join(written[:-1]), *written[-1:])))


def _note_tests(
    target: DepthTarget,
    front: F32 | None,
    chosen: dict[int, Fragment],
    stored: bool,
    members: I64,
    z: F64,
    passed: Mask,
    before: list[I32],
    after: list[I32],
) -> None:
    """Note depth and stencil tests: the ``chosen`` ones of the fragments ``members``.  ``stored``:
    the depth buffer is the target of the history.
    """
    back = np.zeros(len(members), bool) if front is None else front[members] < 0
    # The same formula, whose depth test passes always, tells the stencil test alone.
    alone = target.tests._replace(func=CmpFunc.ALWAYS)
    right = computed(depth_stencil, alone, z, back, *target.numbers, *before)[0]
    right = np.broadcast_to(right, members.shape)
    old, new = (words_of(target.row, parts, members.shape) for parts in (before, after))
    for lane, member in enumerate(members.tolist()):
        fragment = chosen.get(member)
        if fragment is None:
            continue
        pixels = old[lane].tobytes(), new[lane].tobytes()
        if stored:
            fragment.before, fragment.after = pixels
        tests = bool(passed[lane]), bool(right[lane])
        _note_test(target, fragment, float(z[lane]), bool(back[lane]), tests, pixels)


def _note_test(
    target: DepthTarget,
    fragment: Fragment,
    z: float,
    back: bool,
    tests: tuple[bool, bool],
    pixels: tuple[bytes, bytes],
) -> None:
    row, (passed, right) = target.row, tests
    old, new = (value_of(row, each) for each in pixels)
    near = passed if right else _nearer(target, z, pixels[0])
    if row.depth is not None and target.state.enable:
        fragment.depth = DepthSeen(z, old[0], new[0], target.state.func.name, near)
    test = target.stencil
    if test is not None:
        face = (test.state.back or test.state.front) if back else test.state.front
        operation = _operation(face, right, near).name
        numbers = int(test.reference), int(test.mask), int(test.write_mask)
        stencils = int(old[-1]), int(new[-1])
        fragment.stencil = StencilSeen(*stencils, face.func.name, *numbers, operation, right)
    if not right:
        fragment.drop(Verdict.STENCIL)
    elif not passed:
        fragment.drop(Verdict.DEPTH)


def _nearer(target: DepthTarget, z: float, pixel: bytes) -> bool:
    """Whether a fragment passes the depth test, whatever the stencil test says."""
    words = target.row.view(np.frombuffer(pixel, np.uint8))
    alone = target.tests._replace(stencil=None)
    lanes = np.array([z]), np.zeros(1, bool)
    found = computed(depth_stencil, alone, *lanes, *target.numbers, *parts_of(target.row, words))
    return bool(np.broadcast_to(found[0], 1)[0])


def _operation(face: StencilFace, right: bool, near: bool) -> Any:
    if not right:
        return face.fail
    return face.passed if near else face.depth_fail


# Everything in order, with the verdicts on what has no fragment


def _in_order(
    spot: Spot, instance: int, probes: tuple[Survey, Survey, _PixelProbe]
) -> Iterator[Fragment]:
    """The fragments at the pixel and, for each primitive near it, why it has none."""
    wide, clipped, probe = probes
    for number in sorted(wide.chunks.keys() & probe.found.keys() & clipped.chunks.keys()):
        chunk = wide.chunks[number]
        uncut, own, found = clipped.chunks[number], probe.uncut.chunks[number], probe.found[number]
        sources = {*chunk.near, *(source for source, _ in found)}
        for source in sorted(sources):
            for sample in range(own.draw.pipeline.samples):
                key = source, sample
                if key in found:
                    yield from (_ended(own, each) for each in found[key])
                elif source in chunk.near:
                    verdict = _absent(spot, key, (chunk, uncut, own))
                    yield Fragment(instance, chunk.near[source], sample, *verdict)


_WINDINGS = {Cull.CW: "clockwise", Cull.CCW: "counterclockwise"}


def _absent(
    spot: Spot, key: tuple[int, int], chunks: tuple[Chunk, Chunk, Chunk]
) -> tuple[Verdict, str]:
    """Why a primitive has no fragment at a sample: from the primitives without and with clipping,
    and with cull distances.
    """
    wide, clipped, own = chunks
    scissor, merge = own.draw.scissor, own.draw.output.merge
    if key not in wide.covered:
        return Verdict.COVERAGE, "the sample is not inside"
    if key not in clipped.covered:
        return Verdict.CLIPPED, ""
    if key not in own.covered:
        return Verdict.CULLED, "cull distance"
    if key not in own.faced:
        return Verdict.CULLED, f"{_WINDINGS[own.draw.pipeline.raster.cull]} triangles are culled"
    if scissor.intersect(spot.rect).empty:
        return Verdict.SCISSOR, "outside of the viewport or the scissor rectangle"
    if own.region.intersect(spot.rect).empty:
        return Verdict.SCISSOR, "outside of another target"
    if own.draw.pipeline.samples > 1 and not merge.sample_mask >> key[1] & 1:
        return Verdict.SAMPLE_MASK, f"sample mask {merge.sample_mask:#x}"
    raise Disagreement("a covered sample has no fragment", "", key[1])


def _ended(chunk: Chunk, fragment: Fragment) -> Fragment:
    """A fragment with its verdict: without one it passed all tests and wrote no colour."""
    if fragment.verdict is None:
        fragment.drop(*(_of_depth if chunk.role == DEPTH else _of_color)(chunk.draw, chunk.role))
    return fragment


def _of_depth(draw: Draw, role: int | None) -> tuple[Verdict, str]:
    """The verdict of the depth buffer on a fragment that passed."""
    target = depth_target(draw)
    if target is None:
        return Verdict.DISCARDED_TARGET, "no depth or stencil test"
    if not target.writes:
        return Verdict.MASKED, "depth and stencil are not written"
    return Verdict.WRITTEN, ""


def _of_color(draw: Draw, role: int | None) -> tuple[Verdict, str]:
    """The verdict of a colour target on a fragment that passed and did not write it."""
    assert role is not None
    masks, surface = draw.pipeline.write_masks, draw.output.colors[role]
    if role not in targets_of(draw.pipeline.pixel) or role >= len(masks) or surface is None:
        return Verdict.DISCARDED_TARGET, "the pixel program does not write the target"
    if not write_bits(color_format(surface), masks[role]):
        return Verdict.MASKED, "write mask 0"
    return Verdict.MASKED, "plane mask"

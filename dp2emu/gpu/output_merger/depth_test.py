"""The merge stage: depth and stencil test, and the order of fragments on the same pixel.

A batch is tested as a whole; where several of its fragments
share a pixel they form a pile, and piles are worked off layer by layer, so that each fragment
sees what the one before it left.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np

from dp2emu.d3d.enums import CmpFunc
from dp2emu.d3d.formats import FormatRow
from dp2emu.gpu.arrays import F32, F64, I64, Mask, Words
from dp2emu.gpu.command.packets import Draw, MergeNumbers
from dp2emu.gpu.command.pipeline import DepthState, StencilState
from dp2emu.gpu.command.topology import CORNERS
from dp2emu.gpu.output_merger.depth_stencil import MergeTests, depth_stencil
from dp2emu.gpu.output_merger.stencil_test import StencilTest
from dp2emu.gpu.rasterizer.fragment_depth import (
    DepthTerms,
    OffsetTerms,
    depth_offset,
    depth_tested,
    inside_depth,
)
from dp2emu.gpu.rasterizer.planes import Plane, Sites, plane
from dp2emu.gpu.rasterizer.primitive_setup import Primitives
from dp2emu.gpu.resource.heap import Surface
from dp2emu.gpu.resource.pixel_format import depth_format, parts_of, words_of
from dp2emu.identity_cache import identity_cached
from dp2emu.shader.formulas import computed


class PixelGroups(msgspec.Struct, frozen=True):
    """Fragments of a batch by pixel.

    ``order`` lists fragments pile by pile, each in drawing order; pile k starts at ``heads[k]``
    and has ``heights[k]`` fragments.  The highest piles come first.
    """

    order: I64
    heads: I64
    heights: I64

    def part(self, chosen: Mask) -> PixelGroups:
        """The piles that some of the fragments make, numbered as fragments chosen by a mask."""
        kept = chosen[self.order]
        below = np.concatenate(([0], np.cumsum(kept)))
        heads = below[self.heads]
        heights = below[self.heads + self.heights] - heads
        number = np.cumsum(chosen) - 1
        by_height = np.argsort(-heights, kind="stable")[: np.count_nonzero(heights)]
        return PixelGroups(number[self.order[kept]], heads[by_height], heights[by_height])

    def layers(self) -> Iterator[I64]:
        """Fragments that are the first, second, ... of their pile: the first piles have one."""
        taller = np.bincount(self.heights)[::-1].cumsum()[::-1]
        for layer, count in enumerate(taller[1:]):
            yield self.order[self.heads[:count] + layer]


def pixel_groups(pixel: I64) -> PixelGroups:
    """Group fragments by pixel number."""
    order = np.argsort(pixel, kind="stable")
    ordered = pixel[order]
    first = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    heights = np.diff(np.append(first, len(pixel)))
    if len(first) < len(pixel):
        by_height = np.argsort(-heights, kind="stable")
        first, heights = first[by_height], heights[by_height]
    return PixelGroups(order, first, heights)


def single_fragment_groups(count: int) -> PixelGroups:
    """Piles of fragments that are known to have a pixel each."""
    order = np.arange(count)
    return PixelGroups(order, order, np.ones(count, np.int64))


class DepthTarget(msgspec.Struct, frozen=True):
    """A depth-stencil buffer and how it is used.  ``words`` is a flat view, ``pitch`` words a row.

    ``stencil`` None means no stencil test; depth is tested and written as ``state`` says.
    """

    words: Words
    pitch: int
    row: FormatRow
    state: DepthState
    stencil: StencilTest | None

    def test(self, z: F64, front: F32 | None, address: I64, piles: PixelGroups) -> Mask:
        """Test fragments in order and store what becomes of depth and stencil; says which passed.

        ``address`` numbers the words; ``front`` is -1 for fragments of back faces, and wanted
        only if the test is ``two_sided``.
        """
        top = address[piles.order[piles.heads]]
        parts = [part.copy() for part in parts_of(self.row, self.words[top])]
        back = np.zeros(len(z), bool) if front is None else front < 0
        passed = np.zeros(len(z), bool)
        for members in piles.layers():
            stored = [part[: len(members)] for part in parts]
            found, *new = computed(
                depth_stencil, self.tests, z[members], back[members], *self._numbers, *stored
            )
            passed[members] = found
            for part, value in zip(stored, new, strict=True):
                part[...] = value if self.stencil is not None else np.where(found, value, part)
        if self.writes:
            self.words[top] = words_of(self.row, parts, top.shape)
        return passed

    @property
    def tests(self) -> MergeTests:
        """What is tested, and how."""
        state = None if self.stencil is None else self.stencil.state
        return MergeTests(self.row.format, self.state.func, self.state.write, state)

    @property
    def _numbers(self) -> tuple[np.uint32, np.uint32, np.uint32]:
        test = self.stencil
        if test is None:
            return (np.uint32(0),) * 3
        return test.reference, test.mask, test.write_mask

    @property
    def two_sided(self) -> bool:
        """Whether the stencil test tells front from back."""
        return self.stencil is not None and self.stencil.state.back is not None

    @property
    def writes(self) -> bool:
        """Whether anything can change."""
        return self.state.write or (self.stencil is not None and self.stencil.writes)

    def bytes_moved(self, tested: int, passed: int) -> int:
        """Bytes read for a number of tests, and written: for those that passed, or, since any
        result of the tests can change a stencil value, for all.
        """
        if self.stencil is not None and self.stencil.writes:
            passed = tested
        return (tested + passed * self.writes) * self.row.word.itemsize


def depth_target(draw: Draw) -> DepthTarget | None:
    """The depth-stencil buffer of a draw, if it is tested.

    Without a depth test, or depth, every fragment passes it and leaves depth alone; a format
    without stencil bits passes every stencil test.  Raises Unsupported for a format that is no
    depth format here.
    """
    state, stencil = draw.pipeline.depth, draw.pipeline.stencil
    if draw.output.depth is None or not (state.enable or stencil):
        return None
    return _tested(draw.output.depth, state, stencil, draw.output.merge)


@identity_cached()
def _tested(
    surface: Surface, state: DepthState, stencil: StencilState | None, numbers: MergeNumbers
) -> DepthTarget:
    row = depth_format(surface)
    test = None
    if stencil is not None and row.stencil is not None:
        test = StencilTest.of(stencil, numbers, row.stencil.max)
    words = surface.data.view(row.word)
    pitch = surface.pitch // row.word.itemsize
    return DepthTarget(words, pitch, row, depth_used(state, row), test)


def depth_used(state: DepthState, row: FormatRow) -> DepthState:
    """The test of a format that may have no depth."""
    return state if state.enable and row.depth else DepthState(func=CmpFunc.ALWAYS)


def last_of_each(piles: PixelGroups, passed: Mask | None) -> I64:
    """The last fragment of each pile that passed: without blending, the one that is seen."""
    ends = piles.heads + piles.heights - 1
    if passed is not None:
        places = np.where(passed[piles.order], np.arange(len(piles.order)), -1)
        ends = np.maximum.accumulate(places)[ends]
        ends = ends[ends >= piles.heads]
    last: I64 = piles.order[ends]
    return last


# Depth of fragments: plane, clipping at 0 and 1, w-buffering, bias, clamp.


class DepthPlanes(msgspec.Struct, frozen=True):
    """z of primitives: ``clipped`` says which lose their fragments outside 0..1.

    ``rhw`` is the plane of 1 / w if that is what the buffer holds, with the w of depth 0 and 1 in
    ``w_range``.  ``slope`` is D3DRS_SLOPESCALEDEPTHBIAS times the larger gradient of z, or None if
    that state is 0; in Direct3D 10 it may have all of the bias.  Depth is clamped to ``range``.
    """

    plane: Plane
    clipped: Mask
    rhw: Plane | None
    w_range: tuple[float, float]
    bias: float
    slope: F64 | None
    range: tuple[float, float] = (0.0, 1.0)


def depth_planes(draw: Draw, primitives: Primitives) -> DepthPlanes:
    """For primitives of a draw.  Direct3D 9 offsets triangles only, filled or not; before, all.

    What a vertex program made is clipped already.  Of other fragments D3DRS_CLIPPING drops those
    with z outside 0..1, and a NaN is outside.
    """
    pipeline, frame, position = draw.pipeline, primitives.frame, primitives.vertices.position
    state, z = pipeline.depth, position[2].astype(np.float64)
    outside: Mask = np.logical_or.reduce(~computed(inside_depth, None, z)[0])
    clipped = outside & (pipeline.raster.clip and pipeline.vertex is None)
    rhw = plane(frame, position[3]) if state.w_buffer else None
    biased = state.bias_all or CORNERS[draw.input.topology] == 3
    bias = state.bias if biased else 0.0
    tilt, slope = primitives.tilt, None
    if tilt is not None:
        (slope,) = computed(depth_offset, _SLOPED, np.float64(state.slope), tilt)
    if biased and (state.bias_of_float or state.bias_clamp):
        bias, slope = 0.0, _offset(state, z, tilt)
    return DepthPlanes(
        plane(frame, z), clipped, rhw, draw.raster.w_range, bias, slope, depth_range(draw)
    )


def depth_range(draw: Draw) -> tuple[float, float]:
    """What depth is clamped to."""
    view = draw.raster.viewport
    return (view.min_z, view.max_z) if draw.pipeline.depth.in_viewport else (0.0, 1.0)


_SLOPED = OffsetTerms(sloped=True, biased=False, of_float=False, clamp=0)


def _offset(state: DepthState, z: F64, tilt: F64 | None) -> F64:
    """Bias and slope of each triangle as Direct3D 10 has them."""
    clamp = int(np.sign(state.bias_clamp))
    terms = OffsetTerms(tilt is not None, True, state.bias_of_float, clamp)
    operands: list[F64 | np.float64] = []
    if tilt is not None:
        operands += [np.float64(state.slope), tilt]
    operands.append(np.float64(state.bias))
    if state.bias_of_float:
        operands += [*z]
    if clamp:
        operands.append(np.float64(state.bias_clamp))
    return np.broadcast_to(computed(depth_offset, terms, *operands)[0], z.shape[1:])


def kept_by_clipping(planes: DepthPlanes, sites: Sites) -> Mask | None:
    """Which fragments lie inside 0..1 or need not; None if all do, without looking at them."""
    clipped = planes.clipped[sites.spans.primitive]
    if not clipped.any():
        return None
    (inside,) = computed(inside_depth, None, sites.at(planes.plane))
    return ~clipped[sites.span] | inside


def fragment_depth(planes: DepthPlanes, sites: Sites, written: F32 | None = None) -> F64:
    """What the depth test is given, or the depth a program has ``written`` in its place."""
    low, high = (np.float64(end) for end in planes.range)
    if written is not None:
        return computed(depth_tested, DepthTerms(), low, high, written.astype(np.float64))[0]
    others: list[F64 | np.float64] = []
    if planes.rhw is not None:
        near, far = planes.w_range
        others += [sites.at(planes.rhw), np.float64(near), np.float64(far - near)]
    if planes.bias:
        others.append(np.float64(planes.bias))
    if planes.slope is not None:
        others.append(planes.slope[sites.spans.primitive][sites.span])
    terms = DepthTerms(planes.rhw is not None, bool(planes.bias), planes.slope is not None)
    return computed(depth_tested, terms, low, high, sites.at(planes.plane), *others)[0]

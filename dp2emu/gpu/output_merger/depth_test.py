"""The merge stage: depth and stencil test, and the order of fragments on the same pixel.

A batch is tested as a whole; where several of its fragments
share a pixel they form a pile, and piles are worked off layer by layer, so that each fragment
sees what the one before it left.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dp2emu.d3d.enums import CmpFunc
from dp2emu.d3d.formats import FormatRow
from dp2emu.gpu.arrays import F32, F64, I64, Mask, Words
from dp2emu.gpu.command.packets import Draw, MergeNumbers
from dp2emu.gpu.command.pipeline import DepthState, StencilState
from dp2emu.gpu.command.topology import CORNERS
from dp2emu.gpu.output_merger.compare import COMPARE
from dp2emu.gpu.output_merger.stencil_test import StencilTest
from dp2emu.gpu.rasterizer.planes import Plane, Sites, plane
from dp2emu.gpu.rasterizer.primitive_setup import Primitives
from dp2emu.gpu.resource.heap import Surface
from dp2emu.gpu.resource.pixel_format import (
    depth_format,
    quantise_depth,
    stored_depth,
    stored_stencil,
    with_depth,
    with_stencil,
)
from dp2emu.identity_cache import while_it_lives
from dp2emu.records import dataclass
from dp2emu.shader.ops import saturate


@dataclass(frozen=True, slots=True)
class PixelGroups:
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


def alpha_passes(func: CmpFunc, alpha: F32, reference: int) -> Mask:
    """The alpha test: floor(alpha * 65535 + 0.5), clamped, against 257 times a reference byte.

    The documents give reference values 8 bits and alpha no number of bits.  With 16 an alpha of
    n / 255 equals the reference n in spite of what interpolation rounds away, and one between two
    references is between them.  The format of the target does not matter.
    """
    stored = np.floor(saturate(alpha).astype(np.float64) * 65535 + 0.5).astype(np.uint32)
    return COMPARE[func](stored, np.full(1, reference * 257, np.uint32))


@dataclass(frozen=True, slots=True)
class DepthTarget:
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
        incoming = quantise_depth(self.row, z)
        top = address[piles.order[piles.heads]]
        words = self.words[top]
        depth, stencil = stored_depth(self.row, words), stored_stencil(self.row, words)
        passed = np.zeros(len(z), bool)
        for members in piles.layers():
            count = len(members)
            old = depth[:count]
            better = COMPARE[self.state.func](incoming[members], old)
            if self.stencil is not None:
                faces = None if front is None else front[members]
                better = self._stencil(stencil[:count], faces, better)
            passed[members] = better
            if self.state.write:
                old[...] = np.where(better, incoming[members], old)
        if self.state.write:
            words = with_depth(self.row, words, depth)
        if self.stencil is not None:
            words = with_stencil(self.row, words, stencil)
        if self.writes:
            self.words[top] = words
        return passed

    def _stencil(self, stored: Words, front: F32 | None, better: Mask) -> Mask:
        """Replace stencil values; says which fragments pass both tests."""
        assert self.stencil is not None
        passed = self.stencil.passes(stored, front)
        stored[...] = self.stencil.after(stored, front, passed, better)
        return passed & better

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


@while_it_lives
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


@dataclass(frozen=True, slots=True)
class DepthPlanes:
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
    state, z = pipeline.depth, position[2]
    outside: Mask = np.logical_or.reduce(~((z >= 0) & (z <= 1)))
    clipped = outside & (pipeline.raster.clip and pipeline.vertex is None)
    rhw = plane(frame, position[3]) if state.w_buffer else None
    biased = state.bias_all or CORNERS[draw.input.topology] == 3
    bias = state.bias if biased else 0.0
    slope = None if primitives.tilt is None else state.slope * primitives.tilt
    if biased and (state.bias_of_float or state.bias_clamp):
        bias, slope = 0.0, _offset(state, z, slope)
    return DepthPlanes(
        plane(frame, z), clipped, rhw, draw.raster.w_range, bias, slope, depth_range(draw)
    )


def depth_range(draw: Draw) -> tuple[float, float]:
    """What depth is clamped to."""
    view = draw.raster.viewport
    return (view.min_z, view.max_z) if draw.pipeline.depth.in_viewport else (0.0, 1.0)


_LAST_PLACE = 24
"""2 to the exponent of a float32 that ``frexp`` gives, less this, is its last place."""


def _offset(state: DepthState, z: F64, slope: F64 | None) -> F64:
    """Bias and slope of each triangle as Direct3D 10 has them (Depth Bias): bias * 2^(e - 23), e
    the exponent of its greatest z, where the buffer has floats; clamped if that is asked for.
    """
    unit = np.ones(z.shape[1])
    if state.bias_of_float:
        exponent = np.frexp(np.abs(z).max(axis=0).astype(np.float32))[1]
        unit = np.ldexp(1.0, exponent - _LAST_PLACE)
    offset = state.bias * unit if slope is None else state.bias * unit + slope
    if state.bias_clamp > 0:
        offset = np.where(offset < state.bias_clamp, offset, state.bias_clamp)
    if state.bias_clamp < 0:
        offset = np.where(offset > state.bias_clamp, offset, state.bias_clamp)
    return offset


def kept_by_clipping(planes: DepthPlanes, sites: Sites) -> Mask | None:
    """Which fragments lie inside 0..1 or need not; None if all do, without looking at them."""
    clipped = planes.clipped[sites.spans.primitive]
    if not clipped.any():
        return None
    z = sites.at(planes.plane)
    return ~clipped[sites.span] | ((z >= 0) & (z <= 1))


def fragment_depth(planes: DepthPlanes, sites: Sites, written: F32 | None = None) -> F64:
    """(z + bias) + slope, or the depth a program has ``written``; clamped, NaN is the least.

    In a w-buffer (1 / rhw - near) / (far - near) takes the place of z.
    """
    z = _biased(planes, sites) if written is None else written.astype(np.float64)
    low, high = planes.range
    z = np.where(z > low, z, low)
    return np.where(z < high, z, high)


def _biased(planes: DepthPlanes, sites: Sites) -> F64:
    z = sites.at(planes.plane)
    if planes.rhw is not None:
        near, far = planes.w_range
        z = (1.0 / sites.at(planes.rhw) - near) / np.float64(far - near)
    if planes.bias:
        z += planes.bias
    if planes.slope is not None:
        z += planes.slope[sites.spans.primitive][sites.span]
    return z

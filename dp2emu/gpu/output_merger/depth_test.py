"""Depth and stencil tests (D3DCMPFUNC, D3DSTENCILOP), and the order of fragments of a pixel.

The reference engine tests a batch of fragments at once.  Fragments that share a pixel form a
group, and groups are processed layer by layer, so that each fragment sees the previous one's
result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import msgspec
import numpy as np

from dp2emu.d3d.dxgi import ROWS
from dp2emu.d3d.enums import CmpFunc, StencilOp
from dp2emu.d3d.formats import AnyFormat, FormatRow
from dp2emu.gpu.arrays import F32, F64, I64, Mask, Words
from dp2emu.gpu.command.packets import Draw, MergeNumbers
from dp2emu.gpu.command.pipeline import DepthState, StencilFace, StencilState
from dp2emu.gpu.command.topology import CORNERS
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
from dp2emu.gpu.resource.pixel_format import depth_format, depth_of, parts_of, quantised, words_of
from dp2emu.identity_cache import identity_cached
from dp2emu.shader.builder import Builder
from dp2emu.shader.codings import as_bits, field, with_field
from dp2emu.shader.comparisons import compare
from dp2emu.shader.formulas import computed
from dp2emu.shader.types import I32
from dp2emu.shader.values import Value


class PixelGroups(msgspec.Struct, frozen=True):
    """Fragments of a batch grouped by pixel.

    ``order`` lists fragments group by group, each in drawing order; group k starts at
    ``heads[k]`` and has ``heights[k]`` fragments.  The largest groups come first.
    """

    order: I64
    heads: I64
    heights: I64

    def part(self, chosen: Mask) -> PixelGroups:
        """Return the pixel groups of the ``chosen`` fragments, which are renumbered from 0."""
        kept = chosen[self.order]
        below = np.concatenate(([0], np.cumsum(kept)))
        heads = below[self.heads]
        heights = below[self.heads + self.heights] - heads
        number = np.cumsum(chosen) - 1
        by_height = np.argsort(-heights, kind="stable")[: np.count_nonzero(heights)]
        return PixelGroups(number[self.order[kept]], heads[by_height], heights[by_height])

    def layers(self) -> Iterator[I64]:
        """Yield the first fragment of every group, then all second ones, and so on."""
        taller = np.bincount(self.heights)[::-1].cumsum()[::-1]
        for layer, count in enumerate(taller[1:]):
            yield self.order[self.heads[:count] + layer]


def pixel_groups(pixel: I64) -> PixelGroups:
    """Group fragments by pixel; ``pixel`` has the pixel number of each fragment."""
    order = np.argsort(pixel, kind="stable")
    ordered = pixel[order]
    first = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    heights = np.diff(np.append(first, len(pixel)))
    if len(first) < len(pixel):
        by_height = np.argsort(-heights, kind="stable")
        first, heights = first[by_height], heights[by_height]
    return PixelGroups(order, first, heights)


def single_fragment_groups(count: int) -> PixelGroups:
    """Return a group for each of ``count`` fragments that are known to have different pixels."""
    order = np.arange(count)
    return PixelGroups(order, order, np.ones(count, np.int64))


TestSeen = Callable[[I64, F64, Mask, Sequence[I32], Sequence[I32]], None]
"""Function that sees the tests of fragments of different pixels: their numbers, depths, which
pass, and the 32-bit parts of their pixels before and after."""


class DepthTarget(msgspec.Struct, frozen=True):
    """A depth-stencil buffer and the tests of a draw against it.

    ``words`` is a flat view of the buffer with ``pitch`` words per row.  ``stencil`` None means no
    stencil test.
    """

    words: Words
    pitch: int
    row: FormatRow
    state: DepthState
    stencil: StencilTest | None

    def test(
        self,
        z: F64,
        front: F32 | None,
        address: I64,
        groups: PixelGroups,
        seen: TestSeen | None = None,
    ) -> Mask:
        """Test fragments in order, store depth and stencil, and return which fragments passed.

        ``address`` has each fragment's index into ``words``; ``front``, -1 for fragments of back
        faces, is needed only if the test is ``two_sided``.  The function ``seen`` sees each test.
        """
        top = address[groups.order[groups.heads]]
        parts = [part.copy() for part in parts_of(self.row, self.words[top])]
        back = np.zeros(len(z), bool) if front is None else front < 0
        passed = np.zeros(len(z), bool)
        for members in groups.layers():
            stored = [part[: len(members)] for part in parts]
            found, *new = computed(
                depth_stencil, self.tests, z[members], back[members], *self.numbers, *stored
            )
            passed[members] = found
            before = [part.copy() for part in stored] if seen else []
            for part, value in zip(stored, new, strict=True):
                part[...] = value if self.stencil is not None else np.where(found, value, part)
            if seen:
                seen(members, z[members], np.broadcast_to(found, members.shape), before, stored)
        if self.writes:
            self.words[top] = words_of(self.row, parts, top.shape)
        return passed

    @property
    def tests(self) -> MergeTests:
        """The key of these tests that ``depth_stencil`` takes, which decides its code."""
        state = None if self.stencil is None else self.stencil.state
        return MergeTests(self.row.format, self.state.func, self.state.write, state)

    @property
    def numbers(self) -> tuple[np.uint32, np.uint32, np.uint32]:
        """The stencil reference, mask and write mask that ``depth_stencil`` takes; 0 without."""
        test = self.stencil
        if test is None:
            return (np.uint32(0),) * 3
        return test.reference, test.mask, test.write_mask

    @property
    def two_sided(self) -> bool:
        """Whether the stencil test distinguishes front and back faces."""
        return self.stencil is not None and self.stencil.state.back is not None

    @property
    def writes(self) -> bool:
        """Whether a fragment can change the buffer."""
        return self.state.write or (self.stencil is not None and self.stencil.writes)

    def bytes_moved(self, tested: int, passed: int) -> int:
        """Return the bytes that the tests of fragments read and write.

        A word is read for each of ``tested`` fragments.  One is written for each ``passed``
        fragment, or for every tested one if stencil values can change; none if the test changes
        nothing.
        """
        if self.stencil is not None and self.stencil.writes:
            passed = tested
        return (tested + passed * self.writes) * self.row.word.itemsize


def depth_target(draw: Draw) -> DepthTarget | None:
    """Return the depth-stencil buffer of a draw, None if it has no test.

    Without a depth test or depth bits every fragment passes and depth is unchanged; without
    stencil bits every fragment passes the stencil test.  Raises Unsupported for a format that
    cannot be a depth buffer.
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
    """Return the depth test to run; its comparison is ALWAYS if ``state`` disables the test or the
    format has no depth.
    """
    return state if state.enable and row.depth else DepthState(func=CmpFunc.ALWAYS)


def last_of_each(groups: PixelGroups, passed: Mask | None) -> I64:
    """Return the last fragment of each group that ``passed`` (None: all did).

    Without blending it is the visible one.  Groups without such a fragment are left out.
    """
    ends = groups.heads + groups.heights - 1
    if passed is not None:
        places = np.where(passed[groups.order], np.arange(len(groups.order)), -1)
        ends = np.maximum.accumulate(places)[ends]
        ends = ends[ends >= groups.heads]
    last: I64 = groups.order[ends]
    return last


# Depth of fragments: plane, clipping at 0 and 1, w-buffering, bias, clamp.


class DepthPlanes(msgspec.Struct, frozen=True):
    """Planes of z of primitives; fragments of ``clipped`` ones outside 0..1 are dropped.

    With a w-buffer ``rhw`` is the plane of 1 / w, and ``w_range`` has the w of depth 0 and of
    depth 1.  ``slope`` is D3DRS_SLOPESCALEDEPTHBIAS times the larger gradient of z, or None if
    that state is 0; in Direct3D 10 it may include the constant bias.  Depth is clamped to
    ``range``.
    """

    plane: Plane
    clipped: Mask
    rhw: Plane | None
    w_range: tuple[float, float]
    bias: float
    slope: F64 | None
    range: tuple[float, float] = (0.0, 1.0)


def depth_planes(draw: Draw, primitives: Primitives) -> DepthPlanes:
    """Return the depth planes of primitives of a draw.

    Direct3D 9 biases triangles only, filled or not; earlier versions bias every primitive.
    Outputs of vertex programs are already clipped; of other primitives D3DRS_CLIPPING drops
    fragments with z outside 0..1 or NaN.
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
    """Return the least and largest depth, to which fragments are clamped."""
    view = draw.raster.viewport
    return (view.min_z, view.max_z) if draw.pipeline.depth.in_viewport else (0.0, 1.0)


_SLOPED = OffsetTerms(sloped=True, biased=False, of_float=False, clamp=0)


def _offset(state: DepthState, z: F64, tilt: F64 | None) -> F64:
    """Return the depth bias of triangles by the rules of Direct3D 10, slope term included.

    ``tilt`` is the larger gradient of z of each triangle, None if the slope factor is 0.
    """
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
    """Return the mask of fragments kept by z clipping; None if no primitive is clipped."""
    clipped = planes.clipped[sites.spans.primitive]
    if not clipped.any():
        return None
    (inside,) = computed(inside_depth, None, sites.at(planes.plane))
    return ~clipped[sites.span] | inside


def fragment_depth(planes: DepthPlanes, sites: Sites, written: F32 | None = None) -> F64:
    """Return the depth of fragments to test: interpolated, or ``written`` by the program."""
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


# Formulas of the depth and stencil tests (D3DCMPFUNC, D3DSTENCILOP).


class MergeTests(NamedTuple):
    """Key of the formula ``depth_stencil``: a buffer's format, the depth comparison, whether depth
    is written, and the stencil test, None if it is disabled or the format has no stencil.
    """

    format: AnyFormat
    func: CmpFunc
    written: bool
    stencil: StencilState | None


def depth_stencil(
    b: Builder,
    tests: MergeTests,
    z: Value,
    back: Value,
    reference: Value,
    mask: Value,
    write_mask: Value,
    *stored: Value,
) -> list[Value]:
    """Emit depth and stencil tests; return whether a fragment passes, and its pixel's new content.

    The pixel is ``stored``, and returned, as parts of 32 bits.  Without a stencil test the
    returned parts are valid only for fragments that pass.  ``back`` is whether the fragment's face
    is a back face.
    """
    row, new = ROWS[tests.format], list(stored)
    incoming = quantised(row, z)
    passed = compare(tests.func, incoming, depth_of(row, stored))
    depth = as_bits(incoming)
    if tests.stencil is not None:
        assert row.stencil is not None
        old = field(stored, row.stencil)
        test = partial(_face, reference, mask, old, passed, row.stencil.max)
        right, value = test(tests.stencil.front)
        if tests.stencil.back is not None:
            other, behind = test(tests.stencil.back)
            right, value = b.select(back, other, right), b.select(back, behind, value)
        new = with_field(new, row.stencil, value & write_mask | old & ~write_mask)
        passed = passed & right
        if row.depth is not None:
            depth = b.select(passed, depth, field(stored, row.depth))
    if tests.written and row.depth is not None:
        new = with_field(new, row.depth, depth)
    return [passed, *new]


def _face(
    reference: Value, mask: Value, old: Value, near: Value, largest: int, face: StencilFace
) -> tuple[Value, Value]:
    """Run the stencil test of one face: compare (reference & mask) with (old & mask).

    Returns whether it passes and the new stencil value.  ``near`` is whether the fragment passes
    the depth test; ``largest`` is the format's largest stencil value.
    """
    b, right = old.builder, compare(face.func, reference & mask, old & mask)
    failed, depth_failed, both = (
        OPERATIONS[op](old, reference, largest) for op in (face.fail, face.depth_fail, face.passed)
    )
    return right, b.select(right, b.select(near, both, depth_failed), failed)


OPERATIONS: dict[StencilOp, Callable[[Value, Value, int], Value]] = {
    StencilOp.KEEP: lambda old, reference, largest: old,
    StencilOp.ZERO: lambda old, reference, largest: old ^ old,
    StencilOp.REPLACE: lambda old, reference, largest: reference,
    StencilOp.INCRSAT: lambda old, reference, largest: old + _one(old.ne(largest)),
    StencilOp.DECRSAT: lambda old, reference, largest: old - _one(old.ne(0)),
    StencilOp.INVERT: lambda old, reference, largest: old ^ largest,
    StencilOp.INCR: lambda old, reference, largest: old + 1 & largest,
    StencilOp.DECR: lambda old, reference, largest: old - 1 & largest,
}
"""D3DSTENCILOP -> function that returns the new stencil value; parameters: old value, reference
value, largest value of the format."""


def _one(condition: Value) -> Value:
    return condition.builder.apply("iselect", condition, 1, 0)


class StencilTest(msgspec.Struct, frozen=True):
    """A stencil state, with reference and masks cut to the bits of the format."""

    state: StencilState
    reference: np.uint32
    mask: np.uint32
    write_mask: np.uint32

    @classmethod
    def of(cls, state: StencilState, numbers: MergeNumbers, largest: int) -> StencilTest:
        """Return the test of a draw, for a format whose largest stencil value is ``largest``."""
        used = numbers.stencil_reference, numbers.stencil_mask, numbers.stencil_write_mask
        return cls(state, *(np.uint32(number & largest) for number in used))

    @property
    def writes(self) -> bool:
        """Whether any stencil value can change."""
        faces = (self.state.front, self.state.back)
        return bool(self.write_mask) and any(f is not None and f.writes for f in faces)

"""Depth of fragments: plane, clipping at 0 and 1, w-buffering, bias, clamp."""

from __future__ import annotations

import numpy as np

from dp2emu.gpu.arrays import F32, F64, Mask
from dp2emu.gpu.assembly import CORNERS
from dp2emu.gpu.output_merger.depth_stencil import DepthTerms, depth_tested, inside_depth
from dp2emu.gpu.packets import Draw
from dp2emu.gpu.planes import Plane, Sites, plane
from dp2emu.gpu.rasterizer.depth_bias import OffsetTerms, depth_offset
from dp2emu.gpu.setup import Primitives
from dp2emu.gpu.state import DepthState
from dp2emu.records import dataclass
from dp2emu.shader.formulas import computed


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
    state, z = pipeline.depth, position[2].astype(np.float64)
    outside: Mask = np.logical_or.reduce(~computed(inside_depth, None, z)[0])
    clipped = outside & (pipeline.raster.clip and pipeline.vertex is None)
    rhw = plane(frame, position[3]) if state.w_buffer else None
    biased = state.bias_all or CORNERS[draw.topology] == 3
    bias = state.bias if biased else 0.0
    tilt, slope = primitives.tilt, None
    if tilt is not None:
        (slope,) = computed(depth_offset, _SLOPED, np.float64(state.slope), tilt)
    if biased and (state.bias_of_float or state.bias_clamp):
        bias, slope = 0.0, _offset(state, z, tilt)
    return DepthPlanes(plane(frame, z), clipped, rhw, draw.w_range, bias, slope, depth_range(draw))


def depth_range(draw: Draw) -> tuple[float, float]:
    """What depth is clamped to."""
    view = draw.viewport
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

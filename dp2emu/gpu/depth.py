"""Depth of fragments: plane, clipping at 0 and 1, bias, clamp."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dp2emu.gpu.arrays import F32, F64, Mask
from dp2emu.gpu.planes import Frame, Plane, Sites, plane
from dp2emu.gpu.state import DepthState


@dataclass(frozen=True, slots=True)
class DepthPlanes:
    """z of primitives: ``clipped`` says which lose their fragments outside 0..1.

    ``slope`` is D3DRS_SLOPESCALEDEPTHBIAS times the larger gradient, or None if that state is 0.
    """

    plane: Plane
    clipped: Mask
    bias: float
    slope: F64 | None


def depth_planes(
    frame: Frame, z: F32 | F64, depth: DepthState, *, clip: bool, biased: bool
) -> DepthPlanes:
    """From z at the corners, shape (3, n).  ``biased``: Direct3D 9 offsets triangles only.

    ``clip``: fragments with z outside 0..1 are dropped, and a NaN is outside.
    """
    z_plane = plane(frame, z)
    outside: Mask = np.logical_or.reduce(~((z >= 0) & (z <= 1)))
    clipped = outside & clip
    if not biased:
        return DepthPlanes(z_plane, clipped, 0.0, None)
    slope = depth.slope * _larger_gradient(z_plane) if depth.slope else None
    return DepthPlanes(z_plane, clipped, depth.bias, slope)


def _larger_gradient(plane: Plane) -> F64:
    ddx, ddy = np.abs(plane.ddx), np.abs(plane.ddy)
    return np.where(ddx > ddy, ddx, ddy)


def kept_by_clipping(planes: DepthPlanes, sites: Sites) -> Mask | None:
    """Which fragments lie inside 0..1 or need not; None if all do, without looking at them."""
    clipped = planes.clipped[sites.spans.primitive]
    if not clipped.any():
        return None
    z = sites.at(planes.plane)
    return ~clipped[sites.span] | ((z >= 0) & (z <= 1))


def fragment_depth(planes: DepthPlanes, sites: Sites, written: F32 | None = None) -> F64:
    """(z + bias) + slope, or the depth a program has ``written``; clamped to 0..1, NaN is 0."""
    z = _biased(planes, sites) if written is None else written.astype(np.float64)
    z = np.where(z > 0, z, 0.0)
    return np.where(z < 1, z, 1.0)


def _biased(planes: DepthPlanes, sites: Sites) -> F64:
    z = sites.at(planes.plane)
    if planes.bias:
        z += planes.bias
    if planes.slope is not None:
        z += planes.slope[sites.spans.primitive][sites.span]
    return z

"""Patches of one context: control points, tessellation state, and patches stored by handle.

Source: Direct3D 9 documentation of DrawRectPatch and DrawTriPatch.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from operator import itemgetter
from typing import NamedTuple

import msgspec

from dp2emu.d3d.enums import Basis, DeclMethod, Degree, PatchEdgeStyle, RenderState
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.legacy import RenderState8
from dp2emu.d3d.vertices import RECTANGLE_METHODS, TRIANGLE_METHODS, VertexLayout
from dp2emu.dp2.options import check_memory
from dp2emu.dp2.resolve.fixed_function import enum_state
from dp2emu.dp2.states.raw_state import State, bits_float
from dp2emu.errors import Fault
from dp2emu.gpu.command.patches import (
    Adaptive,
    ControlPoints,
    Fineness,
    KeptPatch,
    NPatch,
    Patch,
    RectanglePoints,
    TrianglePoints,
)
from dp2emu.gpu.tessellation.patch_domains import segments_of
from dp2emu.limits import GENEROUS, Limits

MAX_POINTS = 1 << 16
"""Maximum number of control points of a patch."""
MAX_TRIANGLES = 1 << 22
"""Maximum number of triangles into which the N-patches of a draw may be divided."""

_BYTES = 32
"""Bytes that a stored patch counts as for each control point and each element of its vertices."""
_VERTICES = 1 << 32
_DEGREES = frozenset(Degree)
_RECTANGLES: dict[Basis, Container[int]] = {
    Basis.BEZIER: _DEGREES,
    Basis.BSPLINE: _DEGREES,
    Basis.INTERPOLATE: {Degree.CUBIC},
}
_TRIANGLES: dict[Basis, Container[int]] = {Basis.BEZIER: _DEGREES}
"""D3DBASISTYPE -> D3DDEGREETYPEs that it allows for triangular patches (``_RECTANGLES``: for
rectangular ones): those in the Direct3D 9 documentation of D3DTRIPATCH_INFO and D3DRECTPATCH_INFO,
and quadratic ones (wire format, "DirectX 8 opcodes")."""


def rectangle_points(info: Sequence[int]) -> RectanglePoints:
    """The control points of a D3DRECTPATCH_INFO.  Raises Fault for a combination not allowed."""
    column, row, width, height, stride, basis, degree = info
    found = _basis(_RECTANGLES, basis, degree)
    fits = width == height == degree + 1 if found is Basis.BEZIER else min(width, height) > degree
    if not fits or width * height > MAX_POINTS:
        raise _fault(f"a patch of {width} x {height} control points, degree {degree}")
    _bound((row + height - 1) * stride + column + width)
    return RectanglePoints(row * stride + column, width, height, stride, found, degree)


def triangle_points(info: Sequence[int]) -> TrianglePoints:
    """The control points of a D3DTRIPATCH_INFO.  Raises Fault for a combination not allowed."""
    first, number, basis, degree = info
    _basis(_TRIANGLES, basis, degree)
    points = TrianglePoints(first, degree)
    if number != points.count:
        raise _fault(f"a triangular patch of {number} control points, degree {degree}")
    _bound(first + number)
    return points


def _bound(end: int) -> None:
    if end > _VERTICES:
        raise _fault(f"control points up to vertex {end}, limit {_VERTICES}")


def _basis(allowed: dict[Basis, Container[int]], basis: int, degree: int) -> Basis:
    found = next((known for known in allowed if known == basis), None)
    if found is None or degree not in allowed[found]:
        raise _fault(f"a patch of basis {basis}, degree {degree}")
    return found


class Shape(NamedTuple):
    """What differs between rectangular and triangular patches: the function that reads control
    points from a token's info, their class, and the tessellator methods that vertex elements may
    have.
    """

    points: Callable[[Sequence[int]], ControlPoints]
    kind: type[ControlPoints]
    methods: Container[DeclMethod]


RECTANGLE = Shape(rectangle_points, RectanglePoints, RECTANGLE_METHODS)
TRIANGLE = Shape(triangle_points, TrianglePoints, TRIANGLE_METHODS)


class Definition(msgspec.Struct, frozen=True):
    """A patch that a token defined: control points, segments of edges or None, size in bytes."""

    points: ControlPoints
    segments: tuple[float, ...] | None
    kept: KeptPatch
    size: int

    def patch(
        self, states: list[int], segments: tuple[float, ...] | None, *, brought: bool
    ) -> Patch:
        """The patch of a draw; ``segments``, if not None, replace those of the definition.

        ``brought``: the definition is in the token that draws, not stored by an earlier one.
        """
        return Patch(self.points, fineness(states, segments or self.segments), self.kept, brought)


class Patches:
    """Stored rectangular and triangular patches by handle.  Mutable: tokens change them."""

    def __init__(self, limits: Limits = GENEROUS) -> None:
        self._limits = limits
        self._kept: dict[int, Definition] = {}
        self._bytes = 0

    def handles(self) -> list[int]:
        """The handles of stored patches."""
        return sorted(self._kept)

    def find(self, handle: int, shape: Shape) -> Definition | None:
        """The patch stored under ``handle``, or None.  A patch of another shape is deleted
        (DrawRectPatch, remarks).
        """
        found = self._kept.get(handle)
        if found is not None and not isinstance(found.points, shape.kind):
            self.delete(handle)
            return None
        return found

    def defined(
        self,
        handle: int,
        points: ControlPoints,
        segments: tuple[float, ...] | None,
        layout: VertexLayout,
    ) -> Definition:
        """A new definition.  Raises Fault if storing it under ``handle`` exceeds a limit."""
        size = points.count * len(layout.elements) * _BYTES
        if handle:
            old = self._kept.get(handle)
            number, total = len(self._kept) + (old is None), self._bytes + size
            total -= old.size if old else 0
            check_memory(self._limits, "objects", number, f"patch {handle} is too many")
            check_memory(self._limits, "patch_bytes", total, f"patch {handle} is too large")
        return Definition(points, segments, KeptPatch(), size)

    def keep(self, handle: int, definition: Definition) -> None:
        """Store a patch under a handle, in place of any other; handle 0 stores nothing."""
        self.delete(handle)
        if handle:
            self._kept[handle] = definition
            self._bytes += definition.size

    def delete(self, handle: int) -> None:
        """D3DRS_DELETERTPATCH: delete a stored patch; issued draws are not affected."""
        found = self._kept.pop(handle, None)
        self._bytes -= found.size if found else 0


def fineness(states: list[int], segments: tuple[float, ...] | None) -> Fineness:
    """How finely patches are divided; ``segments`` None means D3DRS_PATCHSEGMENTS at all edges."""
    style = enum_state(PatchEdgeStyle, states, RenderState.PATCHEDGESTYLE)
    return Fineness(
        segments or (bits_float(states[RenderState8.PATCHSEGMENTS]),),
        style is PatchEdgeStyle.CONTINUOUS,
        _adaptive(states) if states[RenderState.ENABLEADAPTIVETESSELLATION] else None,
    )


def _adaptive(states: list[int]) -> Adaptive:
    x, y, z, w = (bits_float(states[RenderState[f"ADAPTIVETESS_{name}"]]) for name in "XYZW")
    least, most = RenderState.MINTESSELLATIONLEVEL, RenderState.MAXTESSELLATIONLEVEL
    return Adaptive((x, y, z, w), bits_float(states[least]), bits_float(states[most]))


_switches = itemgetter(RenderState8.PATCHSEGMENTS, RenderState.ENABLEADAPTIVETESSELLATION)


def may_divide(states: list[int], interface: int, layout: VertexLayout) -> bool:
    """Whether triangles may be N-patches: from DirectX 8 on, with segments or adaptive
    tessellation, if their vertices are not transformed yet.
    """
    return interface >= 8 and not layout.transformed and any(_switches(states))


def n_patch(state: State, count: int) -> NPatch | None:
    """The division of ``count`` triangles into N-patches, in a state that ``may_divide`` them;
    None if each has one segment and tessellation is not adaptive.

    Raises Fault for degrees N-patches do not have, and for more than ``MAX_TRIANGLES``.
    """
    states = state.render_states
    fine = fineness(states, None)
    limit = fine.adaptive.most if fine.adaptive else fine.segments[0]
    most = segments_of(limit, continuous=fine.continuous)
    if fine.adaptive is None and most == 1:
        return None
    if count * most * most > MAX_TRIANGLES:
        raise _fault(f"{count} N-patches of {most:g} segments in one draw")
    position, normal = states[RenderState.POSITIONDEGREE], states[RenderState.NORMALDEGREE]
    if position not in (Degree.LINEAR, Degree.CUBIC):
        raise _fault(f"N-patch positions of degree {position}")
    if normal not in (Degree.LINEAR, Degree.QUADRATIC):
        raise _fault(f"N-patch normals of degree {normal}")
    return NPatch(fine, position == Degree.CUBIC, normal == Degree.QUADRATIC)


def _fault(what: str) -> Fault:
    return Fault(HResult.D3DERR_DRIVERINVALIDCALL, what)

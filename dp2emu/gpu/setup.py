"""Primitive setup: corners on the sub-pixel grid, culling, and what interpolation needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from dp2emu.d3d.enums import PrimitiveType
from dp2emu.gpu.arrays import F32, F64
from dp2emu.gpu.assembly import CORNERS
from dp2emu.gpu.geometry import Geometry
from dp2emu.gpu.lines import line_spans
from dp2emu.gpu.packets import Draw, Rect
from dp2emu.gpu.planes import Frame, line_frame, point_frame, triangle_frame
from dp2emu.gpu.points import point_sizes, point_spans
from dp2emu.gpu.raster import doubled_area, drawn, triangle_spans
from dp2emu.gpu.spans import Spans
from dp2emu.gpu.subpixel import snap
from dp2emu.gpu.vertex import Vertices

POINT_SIZE = "psize0.x"
"""The varying that points have their size from."""


@dataclass(frozen=True, slots=True)
class Primitives:
    """The primitives of a chunk that are drawn, numbered as the spans number them.

    ``vertices`` has lanes of shape (3, n); ``front`` is +1 or, for a triangle that is
    counterclockwise on the screen, -1; ``triangles`` counts those left after culling.
    """

    vertices: Vertices
    frame: Frame
    spans: Iterator[Spans]
    front: F32
    triangles: int = 0


def set_up(draw: Draw, geometry: Geometry, region: Rect) -> Primitives:
    """Primitives made ready; one with a NaN or an infinity among its x and y is not drawn."""
    vertices = geometry.vertices
    x, y = snap(vertices.position[0]), snap(vertices.position[1])
    finite = np.flatnonzero((np.isfinite(x) & np.isfinite(y)).all(axis=0))
    if len(finite) < x.shape[1]:
        geometry, x, y = geometry.part(finite), x[:, finite], y[:, finite]
    return _KINDS[CORNERS[draw.topology]](draw, geometry, x, y, region)


def _triangles(draw: Draw, geometry: Geometry, x: F64, y: F64, region: Rect) -> Primitives:
    area = doubled_area(x, y)
    kept = np.flatnonzero(drawn(area, draw.pipeline.raster.cull))
    x, y, area = x[:, kept], y[:, kept], area[kept]
    spans = triangle_spans(x, y, area, region)
    front = np.sign(area).astype(np.float32)
    return Primitives(
        geometry.vertices.part(kept), triangle_frame(x, y, area), spans, front, len(kept)
    )


def _lines(draw: Draw, geometry: Geometry, x: F64, y: F64, region: Rect) -> Primitives:
    """Each line of a list draws its last pixel, of a strip only the last line does."""
    ending = draw.topology == PrimitiveType.LINELIST or geometry.numbers == draw.count - 1
    last = np.full(x.shape[1], ending) & draw.pipeline.raster.last_pixel
    return Primitives(
        geometry.vertices, line_frame(x, y), line_spans(x, y, last, region), _front(x)
    )


def _points(draw: Draw, geometry: Geometry, x: F64, y: F64, region: Rect) -> Primitives:
    own = geometry.vertices.varying(POINT_SIZE)
    sizes = point_sizes(None if own is None else own[0], draw.point, x.shape[1])
    spans = point_spans(x[0], y[0], sizes, region)
    return Primitives(geometry.vertices, point_frame(x, y), spans, _front(x))


def _front(x: F64) -> F32:
    """Lines and points have no back."""
    return np.ones(x.shape[1], np.float32)


_KINDS: dict[int, Callable[[Draw, Geometry, F64, F64, Rect], Primitives]] = {
    1: _points,
    2: _lines,
    3: _triangles,
}
"""By how many corners a primitive has."""

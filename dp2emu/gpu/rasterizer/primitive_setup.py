"""Primitive setup: sub-pixel grid, culling, fill mode, and plane frames.

Triangles that are not filled (D3DRS_FILLMODE) become lines or points after culling, and keep their
depth bias.  A wireframe edge omits its last pixel if the next edge begins there, so that an
outline draws each pixel once; an edge that two triangles share is drawn twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec
import numpy as np
from msgspec.structs import replace

from dp2emu.d3d.enums import FillMode, PrimitiveType
from dp2emu.gpu.arrays import F32, F64, I64, Mask
from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.command.packets import Draw
from dp2emu.gpu.command.topology import CORNERS
from dp2emu.gpu.input_assembler.vertex_fetch import Vertices
from dp2emu.gpu.rasterizer.clip import Geometry
from dp2emu.gpu.rasterizer.fragment_depth import tilt
from dp2emu.gpu.rasterizer.lines_and_points import (
    diamond_exit,
    line_spans,
    point_sizes,
    point_spans,
    smooth,
)
from dp2emu.gpu.rasterizer.multisample import Cover, multisample_spans, rows_near
from dp2emu.gpu.rasterizer.planes import Frame, line_frame, plane, point_frame, triangle_frame
from dp2emu.gpu.rasterizer.spans import CENTRE, ONE, Offset, Spans, snap
from dp2emu.gpu.rasterizer.triangles import doubled_area, drawn, facing, triangle_spans
from dp2emu.shader.formulas import computed

POINT_SIZE = "psize0.x"
"""Name of the varying that holds a point's size."""


class Primitives(msgspec.Struct, frozen=True):
    """Primitives of a chunk after culling, numbered as in the spans.

    ``vertices`` has lanes of shape (3, n); ``front`` is +1, or -1 for back faces; ``numbers`` are
    primitive numbers in the draw; ``triangles`` counts triangles.  ``tilt`` is the larger gradient
    of z, None without slope-scaled bias.  ``sprites`` are point sizes in pixels, None if points
    get no texture coordinates.  ``sources`` are those of ``Geometry``.
    """

    vertices: Vertices
    frame: Frame
    spans: Iterator[Spans]
    front: F32
    numbers: I64
    triangles: int = 0
    tilt: F64 | None = None
    sprites: F64 | None = None
    sources: I64 | None = None


class _Corners(msgspec.Struct, frozen=True):
    """Primitives with grid coordinates ``x`` and ``y``, shape (3, n)."""

    geometry: Geometry
    x: F64
    y: F64

    def part(self, chosen: I64) -> _Corners:
        """The primitives at the indices ``chosen``."""
        return _Corners(self.geometry.part(chosen), self.x[:, chosen], self.y[:, chosen])

    def take(self, corner: I64, primitive: I64) -> _Corners:
        """New primitives: corner c of number m is ``corner[c, m]`` of primitive ``primitive[c,
        m]``.
        """
        geometry = self.geometry
        vertices = Vertices(
            geometry.vertices.position[:, corner, primitive],
            geometry.vertices.names,
            geometry.vertices.varyings[:, corner, primitive],
        )
        numbers, sources = geometry.numbers[primitive[0]], geometry.sources
        sources = None if sources is None else sources[primitive[0]]
        return _Corners(
            Geometry(vertices, numbers, sources=sources),
            self.x[corner, primitive],
            self.y[corner, primitive],
        )


def set_up(draw: Draw, geometry: Geometry, region: Rect) -> Primitives:
    """Primitives with their plane frames and their spans within ``region``; those with a NaN or
    infinite x or y are dropped.
    """
    both = snap(geometry.vertices.position[:2])
    corners, finite = _Corners(geometry, *both), np.isfinite(both)
    if not finite.all():
        corners = corners.part(np.flatnonzero(finite.all(axis=(0, 1))))
    return _KINDS[CORNERS[draw.input.topology]](draw, corners, region)


def _triangles(draw: Draw, corners: _Corners, region: Rect) -> Primitives:
    area = doubled_area(corners.x, corners.y)
    kept = np.flatnonzero(drawn(area, draw.pipeline.raster.cull))
    corners, area = corners.part(kept), area[kept]
    x, y = corners.x, corners.y
    frame = triangle_frame(x, y, area)
    vertices = corners.geometry.vertices

    def cover(chosen: I64 | slice, sample: Offset) -> Iterator[Spans]:
        return triangle_spans(x[:, chosen], y[:, chosen], area[chosen], region, sample)

    front = np.float64(-1 if draw.pipeline.raster.turned else 1)
    solid = Primitives(
        vertices,
        frame,
        _covered(draw, corners, cover, region),
        computed(facing, None, area, front)[0].astype(np.float32),
        corners.geometry.numbers,
        len(kept),
        _tilt(frame, vertices) if draw.pipeline.depth.slope else None,
        sources=corners.geometry.sources,
    )
    fill = _FILLS.get(draw.pipeline.raster.fill)
    return fill(draw, corners, solid, region) if fill else solid


def _covered(
    draw: Draw, corners: _Corners, cover: Cover, region: Rect, reach: F64 | int = 0
) -> Iterator[Spans]:
    """Spans of primitives by the function ``cover``, which extend at most ``reach`` grid units
    beyond their corners in y; with sample runs if D3DRS_MULTISAMPLEANTIALIAS applies.
    """
    pipeline = draw.pipeline
    if pipeline.samples == 1 or not pipeline.raster.multisample:
        return cover(slice(None), CENTRE)
    return multisample_spans(cover, rows_near(corners.y, reach, region), pipeline.samples)


def _tilt(frame: Frame, vertices: Vertices) -> F64:
    z = plane(frame, vertices.position[2])
    return computed(tilt, None, z.ddx, z.ddy)[0]


def _wireframe(draw: Draw, corners: _Corners, solid: Primitives, region: Rect) -> Primitives:
    edges = corners.geometry.edge_mask
    triangle, start = np.nonzero(edges.T)
    end = (start + 1) % 3
    lines = corners.take(np.stack((start, end, start)), np.stack((triangle,) * 3))
    last = ~edges[end, triangle] & draw.pipeline.raster.last_pixel
    return _of_triangles(_line_primitives(draw, lines, last, region), solid, triangle)


def _vertices(draw: Draw, corners: _Corners, solid: Primitives, region: Rect) -> Primitives:
    """Points in place of triangles: one for each corner at which a drawn edge begins."""
    triangle, start = np.nonzero(corners.geometry.edge_mask.T)
    points = corners.take(np.stack((start,) * 3), np.stack((triangle,) * 3))
    return _of_triangles(_points(draw, points, region), solid, triangle)


def _of_triangles(parts: Primitives, solid: Primitives, triangle: I64) -> Primitives:
    """Lines or points ``parts`` with the facing, triangle count and depth gradient of ``solid``;
    ``triangle`` is the index in ``solid`` of the triangle that each belongs to.
    """
    tilt = None if solid.tilt is None else solid.tilt[triangle]
    return replace(parts, front=solid.front[triangle], triangles=solid.triangles, tilt=tilt)


def _lines(draw: Draw, corners: _Corners, region: Rect) -> Primitives:
    """Set up lines; in a strip only the last line draws its last pixel."""
    numbers = corners.geometry.numbers
    ending = draw.input.topology == PrimitiveType.LINELIST or numbers == draw.input.count - 1
    last = np.full(len(numbers), ending) & draw.pipeline.raster.last_pixel
    return _line_primitives(draw, corners, last, region)


def _line_primitives(draw: Draw, corners: _Corners, last: Mask, region: Rect) -> Primitives:
    x, y = corners.x, corners.y
    antialiased = draw.pipeline.raster.smooth_lines and draw.pipeline.samples == 1
    rule = smooth if antialiased else diamond_exit
    spans = line_spans(x, y, last, region, rule, draw.raster.line_pattern)
    geometry = corners.geometry
    vertices, numbers, sources = geometry.vertices, geometry.numbers, geometry.sources
    return Primitives(vertices, line_frame(x, y), spans, _front(x), numbers, sources=sources)


def _points(draw: Draw, corners: _Corners, region: Rect) -> Primitives:
    x, y, vertices = corners.x, corners.y, corners.geometry.vertices
    own = vertices.varying(POINT_SIZE)
    sizes = point_sizes(None if own is None else own[0], draw.raster.point, x.shape[1])

    def cover(chosen: I64 | slice, sample: Offset) -> Iterator[Spans]:
        return point_spans(x[0, chosen], y[0, chosen], sizes[chosen], region, sample)

    spans = _covered(draw, corners, cover, region, sizes / 2)
    sprites = sizes / ONE if draw.pipeline.raster.point_sprites else None
    numbers, sources = corners.geometry.numbers, corners.geometry.sources
    frame, front = point_frame(x, y), _front(x)
    return Primitives(vertices, frame, spans, front, numbers, sprites=sprites, sources=sources)


def _front(x: F64) -> F32:
    """Facing of lines and points, which is always front."""
    return np.ones(x.shape[1], np.float32)


_FILLS: dict[FillMode, Callable[[Draw, _Corners, Primitives, Rect], Primitives]] = {
    FillMode.WIREFRAME: _wireframe,
    FillMode.POINT: _vertices,
}
_KINDS: dict[int, Callable[[Draw, _Corners, Rect], Primitives]] = {
    1: _points,
    2: _lines,
    3: _triangles,
}
"""From a primitive's number of corners, 1 to 3, to its set-up function (point, line, triangle)."""

"""Primitives near a pixel, and the samples of it that they cover with some tests switched off."""

from __future__ import annotations

from collections.abc import Container
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec
import numpy as np
from msgspec.structs import replace

from dp2emu.d3d.dxgi import ROWS
from dp2emu.d3d.enums import Cull, FillMode
from dp2emu.d3d.formats import FormatRow
from dp2emu.explain.pixel_place import Place
from dp2emu.gpu.arrays import F64, I64, Mask
from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.command.packets import Draw
from dp2emu.gpu.command.pipeline import Pipeline
from dp2emu.gpu.command.topology import CORNERS
from dp2emu.gpu.draw.probe import Probe
from dp2emu.gpu.output_merger.draw_targets import Targets
from dp2emu.gpu.rasterizer.clip import Geometry
from dp2emu.gpu.rasterizer.lines_and_points import point_sizes
from dp2emu.gpu.rasterizer.multisample import at_samples
from dp2emu.gpu.rasterizer.planes import Sites, sites
from dp2emu.gpu.rasterizer.primitive_setup import POINT_SIZE, Primitives, set_up
from dp2emu.gpu.rasterizer.spans import ONE, batches
from dp2emu.gpu.resource.heap import Surface
from dp2emu.shader import reference


class Spot(msgspec.Struct, frozen=True):
    """A place, its column and row in the targets of a draw, and the target that has it."""

    place: Place
    x: int
    y: int
    surface: Surface

    @property
    def row(self) -> FormatRow:
        """The row of the format in which the draw sees the place."""
        return ROWS[self.surface.format]

    @property
    def rect(self) -> Rect:
        """The rectangle of the pixel alone."""
        return Rect(self.x, self.y, self.x + 1, self.y + 1)

    def role(self, draw: Draw) -> int | None:
        """Number of the colour target that the place is in, -1 for the depth buffer, None if it is
        in no target.
        """
        for number, surface in enumerate(draw.output.colors):
            if surface is not None and self.place.within(surface) == (self.x, self.y):
                return number
        depth = draw.output.depth
        if depth is not None and self.place.within(depth) == (self.x, self.y):
            return DEPTH
        return None

    def at(self, here: Sites, samples: int) -> list[int]:
        """Indices of the fragments that lie at the pixel."""
        found = (here.x // samples == self.x) & (here.y == self.y)
        return [int(each) for each in np.flatnonzero(found)]


DEPTH = -1
"""In place of the number of a colour target: the depth buffer."""


def with_raster_state(draw: Draw, **raster: Any) -> Draw:
    """The draw with other raster state."""
    return replace(draw, pipeline=_with_raster(draw.pipeline, tuple(raster.items())))


@lru_cache(maxsize=1 << 8)
def _with_raster(pipeline: Pipeline, raster: tuple[tuple[str, Any], ...]) -> Pipeline:
    return replace(pipeline, raster=replace(pipeline.raster, **dict(raster)))


class Chunk(msgspec.Struct, frozen=True):
    """Primitives of a chunk by number before clipping: numbers in the draw of those near the
    pixel, and pairs of primitive and sample that are covered, without and with culling.  ``draw``
    has the targets, ``role`` the place in them; ``region`` is the rectangle that is drawn.
    """

    draw: Draw
    role: int | None
    region: Rect
    near: dict[int, int] = {}
    covered: frozenset[tuple[int, int]] = frozenset()
    faced: frozenset[tuple[int, int]] = frozenset()


def numbers_of(draw: Draw, primitives: Geometry | Primitives) -> I64:
    """Numbers of primitives as verbs show them: in the draw, or in the output of a geometry
    program.
    """
    emitted = draw.post_vertex is not None and draw.post_vertex.geometry is not None
    return sources_of(primitives) if emitted else primitives.numbers


def sources_of(primitives: Geometry | Primitives) -> I64:
    """Numbers of primitives before clipping."""
    return primitives.numbers if primitives.sources is None else primitives.sources


def _surveyed(draw: Draw, geometry: Geometry, spot: Spot) -> Chunk:
    """The primitives of a chunk that touch the pixel, and what they cover of it."""
    role, region = spot.role(draw), Targets.of(draw, reference.run).region
    chosen = np.flatnonzero(_touching(draw, geometry, spot))
    if role is None or not len(chosen):
        return Chunk(draw, role, region)
    part = geometry.part(chosen)
    near = dict(zip(sources_of(part).tolist(), numbers_of(draw, part).tolist(), strict=True))
    covered = faced = _covered(draw, part, spot)
    if draw.pipeline.raster.cull is not Cull.NONE:
        covered = _covered(with_raster_state(draw, cull=Cull.NONE), part, spot)
    return Chunk(draw, role, region, near, covered, faced)


def _touching(draw: Draw, geometry: Geometry, spot: Spot) -> Mask:
    """Mask of the primitives whose bounding box, before culling, touches the pixel's square."""
    return _boxes(draw, geometry).touch(spot.x, spot.y)


class _Boxes(NamedTuple):
    """Bounding boxes of primitives: columns and rows whose pixels' centres they may cover."""

    left: F64
    right: F64
    top: F64
    bottom: F64

    def touch(self, x: int, y: int) -> Mask:
        """Mask of the boxes that have a pixel."""
        with np.errstate(invalid="ignore"):
            along = (self.left <= x) & (self.right >= x)
            found: Mask = along & (self.top <= y) & (self.bottom >= y)
        return found


def _boxes(draw: Draw, geometry: Geometry) -> _Boxes:
    x, y = geometry.vertices.position[:2].astype(np.float64)
    reach = _reach(draw, geometry) + 0.5 + _SNAP
    with np.errstate(invalid="ignore"):
        return _Boxes(
            x.min(axis=0) - reach, x.max(axis=0) + reach,
            y.min(axis=0) - reach, y.max(axis=0) + reach,
        )  # fmt: skip


class Reach(Probe):
    """Pixels that a draw may touch; as a probe it collects them, and draws nothing.  Mutable."""

    def __init__(self) -> None:
        self._instances: list[list[_Boxes]] = []

    def begin(self) -> None:
        """Begin the next instance of the draw."""
        self._instances.append([])

    def chunk(self, draw: Draw, assembled: Geometry, primitives: Primitives) -> bool:
        """Note the bounding boxes of the primitives."""
        self._instances[-1].append(_boxes(draw, assembled))
        return False

    def touches(self, x: int, y: int) -> bool:
        """Whether a primitive may touch a pixel of the targets."""
        return any(self.chunks(number, x, y) for number in range(len(self._instances)))

    def chunks(self, instance: int, x: int, y: int) -> frozenset[int]:
        """Numbers of the chunks of an instance with a primitive that may touch a pixel."""
        boxes = enumerate(self._instances[instance])
        return frozenset(number for number, each in boxes if each.touch(x, y).any())


_SNAP = 1 / ONE
"""Pixels that a corner moves at most when it is rounded to the grid."""


def _reach(draw: Draw, geometry: Geometry) -> F64 | float:
    """Pixels that primitives reach beyond the bounding boxes of their corners."""
    corners, raster = CORNERS[draw.input.topology], draw.pipeline.raster
    if corners == 1 or (corners == 3 and raster.fill is FillMode.POINT):
        own = geometry.vertices.varying(POINT_SIZE)
        count = len(geometry.numbers)
        sizes = [point_sizes(own[corner], draw.raster.point, count) for corner in range(3)] \
            if own is not None else [point_sizes(None, draw.raster.point, count)]  # fmt: skip
        widest: F64 = np.max(sizes, axis=0) / ONE / 2
        return widest
    if corners == 2 or raster.fill is FillMode.WIREFRAME:
        return 1.0 if raster.smooth_lines else 0.5
    return 0.0


def _covered(draw: Draw, geometry: Geometry, spot: Spot) -> frozenset[tuple[int, int]]:
    """Pairs of primitive and sample that a geometry covers at the pixel."""
    primitives, samples = set_up(draw, geometry, spot.rect), draw.pipeline.samples
    sources, found = sources_of(primitives), set()
    for spans in primitives.spans:
        for batch in batches(spans, samples):
            here = sites(primitives.frame, batch)
            here = at_samples(here, samples, (1 << samples) - 1) if samples > 1 else here
            owner = sources[here.spans.primitive[here.span]]
            found |= {*zip(owner.tolist(), (here.x % samples).tolist(), strict=True)}
    return frozenset(found)


class ChunkProbe(Probe):
    """A probe that numbers the chunks of a draw, and wants only those with numbers in ``wanted``;
    None: all.  Mutable: it counts.
    """

    def __init__(self, wanted: Container[int] | None = None) -> None:
        self._wanted = wanted
        self._number, self._asked = -1, False

    def wants_chunk(self) -> bool:
        """Return whether the number of the next chunk is a wanted one."""
        self._number, self._asked = self._number + 1, True
        return self._wanted is None or self._number in self._wanted

    def number(self) -> int:
        """The number of the chunk that is being shown; to be called once for each."""
        self._number += not self._asked
        self._asked = False
        return self._number


class Survey(ChunkProbe):
    """Looks at the primitives of a draw, and draws nothing.  Mutable: it collects.

    ``chunks`` are by number.
    """

    def __init__(self, spot: Spot, wanted: Container[int] | None = None) -> None:
        super().__init__(wanted)
        self._spot = spot
        self.chunks: dict[int, Chunk] = {}

    def chunk(self, draw: Draw, assembled: Geometry, primitives: Primitives) -> bool:
        """Note which primitives are near the pixel."""
        self.add(self.number(), draw, assembled)
        return False

    def add(self, number: int, draw: Draw, assembled: Geometry) -> None:
        """Note which primitives of a chunk are near the pixel."""
        self.chunks[number] = _surveyed(draw, assembled, self._spot)

    @property
    def near(self) -> frozenset[int]:
        """Numbers of the chunks with primitives near the pixel."""
        return frozenset(number for number, chunk in self.chunks.items() if chunk.near)

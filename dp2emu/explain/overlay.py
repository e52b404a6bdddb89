"""Overlays: pictures that show what a draw did at each pixel of its first target, with a legend.

All are computed by the reference stages from the draw itself (``explain.rehearsal``).  Fragments
of multisampled targets are samples.  Slices of layered targets are added up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from dp2emu.bitmap_font import ADVANCE, HEIGHT, lettered
from dp2emu.d3d.dxgi import ROWS
from dp2emu.d3d.enums import Cull, FillMode, PrimitiveType
from dp2emu.d3d.formats import Coding
from dp2emu.errors import UsageError
from dp2emu.explain.lane_counts import CountedOperations, ReadLevels
from dp2emu.explain.mesh import Piece, mesh_of
from dp2emu.explain.rehearsal import Contents, contents, rehearsed, resolved
from dp2emu.gpu.arrays import F64, I64, Mask
from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.command.packets import Draw
from dp2emu.gpu.draw.probe import Probe
from dp2emu.gpu.input_assembler.vertex_fetch import Vertices
from dp2emu.gpu.pixel_shader.pixel_stage import Shaded, Shading
from dp2emu.gpu.rasterizer.clip import Geometry
from dp2emu.gpu.rasterizer.planes import Sites
from dp2emu.gpu.rasterizer.primitive_setup import Primitives, set_up
from dp2emu.gpu.rasterizer.spans import fragments
from dp2emu.gpu.resource.heap import Surface
from dp2emu.gpu.resource.pixel_format import as_floats, stored_depth, unpack_color
from dp2emu.picture import DEPTHS, has_picture, take_depth, take_picture

Color = tuple[int, int, int]
Image = NDArray[np.uint8]


class LegendRow(NamedTuple):
    """A line of a legend: text, and the colour that it explains, None for a line without."""

    text: str
    color: Color | None = None


class Overlay(NamedTuple):
    """A picture of what a draw did: uint8 (height, width, 3), and the rows of its legend.

    ``rehearsal`` are the targets after the draw by the reference stages, None if they were not
    drawn.
    """

    image: Image
    legend: tuple[LegendRow, ...]
    rehearsal: Contents | None = None

    def drawn(self) -> Image:
        """The picture, enlarged if it is small, above its legend."""
        return _with_legend(self.image, self.legend)


def overlay_of(draw: Draw, kind: str) -> Overlay:
    """The overlay of a kind (a key of ``OVERLAYS``) of a draw, which memory is before.

    Raises UsageError for a draw without targets, Unsupported as the draw does.
    """
    with np.errstate(all="ignore"):
        return OVERLAYS[kind](resolved(draw))


# Pictures under the colours


def _target(draw: Draw) -> Surface:
    found = next((each for each in (*draw.output.colors, draw.output.depth) if each), None)
    if found is None:
        raise UsageError("the draw has no target")
    return found


def _size(draw: Draw) -> tuple[int, int]:
    target = _target(draw)
    return target.height, target.width


_DIM = 3
"""Divisor of the brightness of the target below the colours of an overlay."""


def _background(draw: Draw) -> Image:
    """The first target in dim grey."""
    target = _target(draw)
    if target.format in DEPTHS:
        grey = (take_depth(target).image >> 8).astype(np.uint16)
    elif has_picture(target.format):
        grey = take_picture(target).image[..., :3].sum(axis=-1, dtype=np.uint16) // 3
    else:
        grey = np.zeros(_size(draw), np.uint16)
    return np.stack([(grey // _DIM).astype(np.uint8)] * 3, axis=-1)


def _painted(image: Image, where: Mask, color: Color) -> None:
    image[where] = color


_RAMP: tuple[Color, ...] = (
    (40, 60, 190), (0, 150, 220), (0, 190, 120), (120, 210, 40), (230, 220, 30),
    (250, 150, 20), (240, 70, 30), (230, 40, 140), (255, 255, 255),
)  # fmt: skip
"""Colours of growing counts."""


class Bin(NamedTuple):
    """A range of counts, both ends included, and its colour."""

    low: int
    high: int
    color: Color

    @property
    def text(self) -> str:
        """The range as text: ``4`` or ``5-8``."""
        return str(self.low) if self.low == self.high else f"{self.low}-{self.high}"


def bins_of(most: int) -> list[Bin]:
    """Ranges of the counts 1 to ``most``, at most nine: single counts, else of equal widths."""
    width = max(-(-most // len(_RAMP)), 1)
    starts = range(1, most + 1, width)
    colors = _RAMP[: len(starts)]
    return [
        Bin(start, min(start + width - 1, most), color)
        for start, color in zip(starts, colors, strict=True)
    ]


def _pixels(where: NDArray[np.bool_]) -> str:
    """The number of pixels that are set, with the noun."""
    count = int(np.count_nonzero(where))
    return f"{count} pixel{'' if count == 1 else 's'}"


def _heat(image: Image, counts: I64, noun: str) -> list[LegendRow]:
    """Paint counts, 0 being transparent; returns rows with the pixels of each range."""
    rows = []
    for each in bins_of(int(counts.max(initial=0))):
        where = (counts >= each.low) & (counts <= each.high)
        if where.any():
            _painted(image, where, each.color)
            one = noun.removesuffix("s")
            text = f"{each.text} {one if each.text == '1' else noun}: {_pixels(where)}"
            rows.append(LegendRow(text, each.color))
    return rows


# Overdraw


class _Fragments(Probe):
    """Counts the covered fragments of each pixel, and those that pass.  Mutable."""

    def __init__(self, size: tuple[int, int]) -> None:
        self.covered, self.passing = np.zeros(size, np.int64), np.zeros(size, np.int64)

    def batch(self, draw: Draw, here: Sites, shading: Shading) -> None:
        """Count covered fragments."""
        np.add.at(self.covered, (here.y, here.x // draw.pipeline.samples), 1)

    def passed(self, x: I64, y: I64) -> None:
        """Count fragments that pass."""
        np.add.at(self.passing, (y, x), 1)


def _overdraw(draw: Draw) -> Overlay:
    """Covered fragments of each pixel, darker where all of them were rejected."""
    seen, image = _Fragments(_size(draw)), _background(draw)
    with rehearsed(draw, seen):
        after = contents(draw)
    rows = _heat(image, seen.covered, "fragments")
    none = (seen.covered > 0) & (seen.passing == 0)
    np.floor_divide(image, 2, out=image, where=none[..., None])
    total, passed = int(seen.covered.sum()), int(seen.passing.sum())
    samples = draw.pipeline.samples
    rows += [LegendRow(f"a fragment is one of {samples} samples")] if samples > 1 else []
    rows += [
        LegendRow(f"half as bright: none passed, {_pixels(none)}"),
        LegendRow(f"fragments: {total}, passed {passed}, rejected {total - passed}"),
    ]
    return Overlay(image, tuple(rows), after)


# Depth


def _depth(draw: Draw) -> Overlay:
    """The stored depth after the draw, from the least (black) to the largest (white)."""
    surface = draw.output.depth
    if surface is None or surface.format not in DEPTHS:
        raise UsageError("the draw has no depth buffer")
    with rehearsed(draw, Probe()):
        after = contents(draw)
        depth = depths(surface)
    low, high = float(depth.min()), float(depth.max())
    scaled = (depth - low) / (high - low) if high > low else np.zeros_like(depth)
    grey = np.floor(scaled * 255 + 0.5).astype(np.uint8)
    rows = (
        LegendRow(f"depth {low:.9f}", (0, 0, 0)),
        LegendRow(f"depth {high:.9f}", (255, 255, 255)),
    )
    return Overlay(np.stack([grey] * 3, axis=-1), rows, after)


def depths(surface: Surface) -> F64:
    """Stored depths, 0 to 1, float64 (height, width); of a multisampled surface the first samples.

    Floats that are no number count as 0, and those outside of 0 to 1 as the nearest.
    """
    row = ROWS[surface.format]
    assert row.depth is not None
    if row.depth.coding is not Coding.UNORM and row.depth.bits != _FLOAT_BITS:
        return take_depth(surface).image.astype(np.float64) / 65535
    stored = stored_depth(row, surface.pixels()[:, :: surface.samples])
    if row.depth.coding is Coding.UNORM:
        return stored.astype(np.float64) / row.depth.max
    return np.clip(np.nan_to_num(stored.astype(np.float64), nan=0.0), 0.0, 1.0)


_FLOAT_BITS = 32


# Wireframe, quads


class _Spans(Probe):
    """Sees the primitives of chunks without drawing them."""

    def __init__(self, see: Callable[[Draw, Primitives], None]) -> None:
        self._see = see

    def chunk(self, draw: Draw, assembled: Geometry, primitives: Primitives) -> bool:
        """See the primitives, and skip the chunk."""
        self._see(draw, primitives)
        return False


_EDGE: Color = (255, 220, 60)


def _wireframe(draw: Draw) -> Overlay:
    """The edges of the primitives that are not culled, hidden ones too, over the target."""
    image, lines = _background(draw), np.zeros(_size(draw), np.bool_)
    count = 0

    def see(part: Draw, primitives: Primitives) -> None:
        nonlocal count
        count += primitives.triangles or len(primitives.numbers)
        for spans in primitives.spans:
            found = fragments(spans)
            lines[spans.y[found.span], found.x] = True

    raster = replace(draw.pipeline.raster, fill=FillMode.WIREFRAME)
    framed = replace(draw, pipeline=replace(draw.pipeline, raster=raster))
    with rehearsed(framed, _Spans(see)):
        pass
    _painted(image, lines, _EDGE)
    return Overlay(image, (LegendRow(f"edges of {count} primitives", _EDGE),))


_LANES: tuple[Color, ...] = ((220, 50, 50), (240, 150, 30), (220, 220, 50), (60, 180, 90))
"""Colours of quads with 1 to 4 covered lanes."""


def _quads(draw: Draw) -> Overlay:
    """Covered lanes of the 2x2 quads of each primitive; the last primitive of a pixel is seen."""
    image, totals = _background(draw), np.zeros(5, np.int64)

    def see(part: Draw, primitives: Primitives) -> None:
        for spans in primitives.spans:
            found = fragments(spans)
            x, y, primitive = found.x, spans.y[found.span], spans.primitive[found.span]
            columns, rows = (int(axis.max(initial=0) >> 1) + 1 for axis in (x, y))
            place = (primitive * rows + (y >> 1)) * columns + (x >> 1)
            quads, lane = np.unique(place, return_inverse=True)
            covered = np.bincount(lane.ravel(), minlength=len(quads))
            totals[:] += np.bincount(covered, minlength=5)[:5]
            for lanes, color in enumerate(_LANES, 1):
                chosen = covered[lane.ravel()] == lanes
                image[y[chosen], x[chosen]] = color

    with rehearsed(draw, _Spans(see)):
        pass
    rows = [
        LegendRow(f"{lanes} of 4 lanes: {totals[lanes]} quads", color)
        for lanes, color in enumerate(_LANES, 1)
    ]
    missing = sum(int(totals[lanes]) * (4 - lanes) for lanes in range(1, 5))
    return Overlay(image, (*rows, LegendRow(f"lanes without a fragment: {missing}")))


# Values that are no numbers


_CLASSES: tuple[tuple[str, Color], ...] = (
    ("negative", (60, 110, 255)), ("infinite", (255, 220, 40)), ("nan", (255, 40, 40))
)  # fmt: skip
"""What is wrong with a value, from the least to the worst, and its colour."""


def _classes(lanes: Sequence[NDArray[Any]]) -> I64:
    """For each pixel the worst of its channels: 0 fine, 1 negative, 2 infinite, 3 NaN."""
    table = np.stack([np.asarray(lane, np.float32) for lane in np.broadcast_arrays(*lanes)])
    worst = np.zeros(table.shape[1:], np.int64)
    for number, bad in enumerate((table < 0, np.isinf(table), np.isnan(table)), 1):
        worst[bad.any(axis=0)] = number
    return worst


class _Outputs(Probe):
    """Classes of the outputs of pixel programs.  Mutable."""

    def __init__(self, draw: Draw) -> None:
        self.worst = np.zeros(_size(draw), np.int64)
        self._samples = draw.pipeline.samples
        self._floats = [not _of_integers(each) for each in draw.output.colors]

    def shaded(self, here: Sites, shaded: Shaded) -> None:
        """Keep the worst class of each pixel."""
        for number, rgba in shaded.colors.items():
            if number < len(self._floats) and self._floats[number]:
                found = np.broadcast_to(_classes([as_floats(lane) for lane in rgba]), here.x.shape)
                np.maximum.at(self.worst, (here.y, here.x // self._samples), found)


def _of_integers(surface: Surface | None) -> bool:
    row = None if surface is None else ROWS.get(surface.format)
    codings = set() if row is None else {each.coding for each in row.channels.values()}
    return bool(codings & {Coding.UINT, Coding.SINT})


def _nan(draw: Draw) -> Overlay:
    """Pixels whose shader output, or stored float, is NaN, infinite or negative."""
    seen, image, stored = _Outputs(draw), _background(draw), np.zeros(_size(draw), np.int64)
    with rehearsed(draw, seen):
        after = contents(draw)
        for surface in draw.output.colors:
            if surface is not None and ROWS[surface.format].floating:
                row = ROWS[surface.format]
                words = surface.pixels()
                words = words.reshape(*stored.shape, surface.samples, -1)
                flat = words.reshape(-1) if row.words == 1 else words.reshape(-1, row.words)
                worst = _classes(unpack_color(row, flat)).reshape(*stored.shape, -1)
                stored = np.maximum(stored, worst.max(axis=-1))
    found = []
    for number, (name, color) in enumerate(_CLASSES, 1):
        half: Color = (color[0] // 2, color[1] // 2, color[2] // 2)
        found += [(f"{name} stored", stored == number, half)]
        found += [(f"{name} output", seen.worst == number, color)]
    rows = []
    # Outputs are painted over what is stored.
    for name, where, color in sorted(found, key=lambda each: "output" in each[0]):
        if where.any():
            _painted(image, where, color)
            rows.append(LegendRow(f"{name}: {_pixels(where)}", color))
    rows = rows or [LegendRow("no value is nan, infinite or negative")]
    return Overlay(image, tuple(rows), after)


# Fates of primitives


_FATES: dict[str, Color] = {
    "culled": (220, 60, 60),
    "drawn": (60, 170, 90),
    "cut": (240, 200, 40),
    "degenerate": (200, 80, 220),
    "no_pixels": (90, 160, 255),
    "clipped": (150, 150, 150),
    "cull_distance": (150, 150, 150),
    "infinite": (150, 150, 150),
}
"""Colours of the fates of primitives, each painted over those before; those in grey have no place
on the screen."""


def _clipped(draw: Draw) -> Overlay:
    """Primitives by what became of them, culled ones too; of degenerate ones their edges."""
    image, counts = _background(draw), dict.fromkeys(_FATES, 0)
    height, width = _size(draw)
    region = Rect(0, 0, width, height)
    for piece in mesh_of(draw, ["clip"]):
        for fate in piece.fates.values():
            counts[fate.verdict] += 1
        for verdict in _FATES:
            _paint_pieces(image, draw, piece, verdict, region)
    rows = (LegendRow(f"{name}: {counts[name]}", color) for name, color in _FATES.items())
    return Overlay(
        image, tuple(row for row, name in zip(rows, _FATES, strict=True) if counts[name])
    )


def _paint_pieces(image: Image, draw: Draw, piece: Piece, verdict: str, region: Rect) -> None:
    """Paint the pieces of the primitives of a piece with a verdict."""
    chosen = [
        at for at, number in enumerate(piece.primitives.tolist())
        if piece.fates[number].verdict == verdict
    ]  # fmt: skip
    if not chosen:
        return
    lanes = [piece.lanes[name].astype(np.float64) for name in ("x", "y", "z", "rhw")]
    corners = piece.corners[:, chosen]
    topology = piece.topology
    if verdict == "degenerate":
        corners = np.concatenate((corners[:2], corners[1:]), axis=1)
        topology = PrimitiveType.LINELIST
    rows = [0, len(corners) - 1, 0] if len(corners) < 3 else [0, 1, 2]
    position = np.stack(lanes)[:, corners[rows]]
    vertices = Vertices(position, (), np.zeros((0, *position.shape[1:])))
    raster = replace(draw.pipeline.raster, cull=Cull.NONE)
    shown = replace(
        draw, pipeline=replace(draw.pipeline, raster=raster),
        input=replace(draw.input, topology=topology),
    )  # fmt: skip
    primitives = set_up(shown, Geometry(vertices, np.arange(position.shape[2])), region)
    for spans in primitives.spans:
        found = fragments(spans)
        image[spans.y[found.span], found.x] = _FATES[verdict]


# Levels of detail, cost


def _mips(draw: Draw) -> Overlay:
    """The most detailed mip level that the last fragment of each pixel reads of any texture."""
    seen, image = ReadLevels(_size(draw), draw.pipeline.samples), _background(draw)
    with rehearsed(draw, Probe(), seen):
        after = contents(draw)
    rows = []
    for level in range(int(seen.levels.max(initial=-1)) + 1):
        where = seen.levels == level
        if not where.any():
            continue
        color = _RAMP[level % len(_RAMP)]
        _painted(image, where, color)
        rows.append(LegendRow(f"level {level}: {_pixels(where)}", color))
    rows = rows or [LegendRow("no texture is read")]
    return Overlay(image, tuple(rows), after)


def _cost(draw: Draw) -> Overlay:
    """Operations of the pixel program that the fragments of each pixel execute, together."""
    seen, image = CountedOperations(_size(draw), draw.pipeline.samples), _background(draw)
    with rehearsed(draw, Probe(), seen):
        after = contents(draw)
    rows = _heat(image, seen.operations, "operations")
    total = int(seen.operations.sum())
    count = f"operations: {total}, lanes: {seen.lanes}"
    rows.append(LegendRow(f"{count}, helper lanes that ran: {seen.helpers}"))
    return Overlay(image, tuple(rows), after)


OVERLAYS: dict[str, Callable[[Draw], Overlay]] = {
    "overdraw": _overdraw,
    "depth": _depth,
    "wireframe": _wireframe,
    "quads": _quads,
    "nan": _nan,
    "clipped": _clipped,
    "mips": _mips,
    "cost": _cost,
}
"""Functions that make the overlay of a draw, by name."""


# The legend

_WIDEST = 320
"""Pictures of a smaller width are enlarged by a whole factor, to at most this width."""
_LETTERS = 2
"""Pixels of a dot of the font."""
_ROW = HEIGHT * _LETTERS + 6
_SWATCH = 14
_PAPER, _INK = 0x20, 0xE8


def _with_legend(image: Image, legend: Iterable[LegendRow]) -> Image:
    factor = max(_WIDEST // max(image.shape[:2]), 1)
    large = image.repeat(factor, axis=0).repeat(factor, axis=1)
    rows = list(legend)
    text = max((len(row.text) for row in rows), default=0) * ADVANCE * _LETTERS
    width = max(large.shape[1], text + _SWATCH + 12)
    page = np.full((large.shape[0] + _ROW * len(rows) + 8, width, 3), _PAPER, np.uint8)
    page[: large.shape[0], : large.shape[1]] = large
    for number, row in enumerate(rows):
        top = large.shape[0] + 6 + number * _ROW
        if row.color is not None:
            page[top : top + HEIGHT * _LETTERS, 4 : 4 + _SWATCH] = row.color
        ink = lettered(row.text, _LETTERS)
        left = _SWATCH + 10
        page[top : top + ink.shape[0], left : left + ink.shape[1]][ink] = _INK
    return page

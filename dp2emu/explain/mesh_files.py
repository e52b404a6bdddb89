"""Meshes of a draw as text, CSV, JSON and Wavefront OBJ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dp2emu.d3d.sdk import SdkEnum
from dp2emu.explain.mesh import STAGES, Fate, Lane, Piece
from dp2emu.gpu.arrays import F64, I64
from dp2emu.number_text import float_text, json_number

SCHEMA = 1
"""Version of the JSON document; within a version keys may be added, never removed."""

SHOWN = 12
"""Number of vertices, and of primitives, of a stage that the text shows."""


class _Column(NamedTuple):
    """A column of a table: its name, the name of its type, and its values as numbers or text."""

    name: str
    type: str
    values: list[Any]


def _columns(piece: Piece, text: bool) -> list[_Column]:
    keys = [_Column(name, "key", lane.tolist()) for name, lane in piece.keys.items()]
    return keys + [_column(name, lane, text) for name, lane in piece.lanes.items()]


def _column(name: str, lane: Lane, text: bool) -> _Column:
    if lane.dtype == np.float32:
        bits = np.ascontiguousarray(lane).view(np.uint32).tolist()
        values: list[Any] = [float_text(each) for each in bits]
        if not text:
            values = [json_number(each) for each in lane.tolist()]
        return _Column(name, "float", values)
    if lane.dtype == np.float64:
        return _Column(name, "double", [_double(each, text) for each in lane.tolist()])
    return _Column(name, lane.dtype.name, lane.tolist())


def _double(value: float, text: bool) -> float | str:
    finite = value == value and abs(value) != float("inf")
    return repr(value) if text or not finite else value


def csv_lines(pieces: Iterable[Piece]) -> Iterator[str]:
    """Lines of comma-separated values, a head line first: a line a vertex.

    Of clipped primitives also their verdict and pixels; one that left nothing has empty cells.
    """
    head: list[str] | None = None
    for piece in pieces:
        columns = _columns(piece, text=True)
        names = ["instance", *(column.name for column in columns)]
        if head is None:
            head = names
            yield ",".join([*head, "verdict", "pixels"] if piece.fates else head)
        rows: Iterable[Sequence[Any]] = zip(*(column.values for column in columns), strict=True)
        cells = {column.name: column.values for column in columns}
        if names != head:
            empty = [""] * piece.rows
            wanted = [cells.get(name, empty) for name in head[1:]]
            rows = zip(*wanted, strict=True)
        if piece.fates:
            rows = _judged_rows(piece, list(rows), len(columns))
        yield from (",".join(map(str, (piece.instance, *row))) for row in rows)


def _judged_rows(piece: Piece, rows: list[Any], width: int) -> Iterator[tuple[Any, ...]]:
    """Rows of clipped corners with the fates of their primitives, in the order of these."""
    by_number: dict[int, list[Any]] = {}
    for row in rows:
        by_number.setdefault(row[0], []).append(row)
    for number, fate in sorted(piece.fates.items()):
        nothing = [(number, *[""] * (width - 1))]
        for row in by_number.get(number, nothing):
            yield *row, fate.verdict, fate.pixels


def json_of(pieces: Iterable[Piece], event: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON object of meshes: ``event``, and the pieces of each stage with their tables."""
    return {"schema": SCHEMA, "event": dict(event), "pieces": [_json(piece) for piece in pieces]}


def _json(piece: Piece) -> dict[str, Any]:
    columns = _columns(piece, text=False)
    found: dict[str, Any] = {
        "stage": piece.stage,
        "instance": piece.instance,
        "stream": piece.stream,
        "topology": topology_name(piece),
        "columns": [{"name": column.name, "type": column.type} for column in columns],
        "vertices": [list(row) for row in zip(*(c.values for c in columns), strict=True)],
        "primitives": [
            {"primitive": number, "corners": corners}
            for number, corners in zip(
                piece.primitives.tolist(), piece.corners.T.tolist(), strict=True
            )
        ],
    }
    if piece.stage == "input":
        found["outside"] = list(piece.outside)
    if piece.fates:
        found["fates"] = [
            {"primitive": number, **fate._asdict()} for number, fate in sorted(piece.fates.items())
        ]
    return found


def topology_name(piece: Piece) -> str:
    """Name of a piece's topology, of Direct3D 9 or 10 (``TRIANGLELIST``)."""
    topology: SdkEnum = piece.topology
    return topology.name


# Text for people


def text_lines(pieces: Iterable[Piece]) -> Iterator[str]:
    """A table of each stage, cut after ``SHOWN`` rows, and what became of primitives."""
    by_stage: dict[str, list[Piece]] = {}
    for piece in pieces:
        by_stage.setdefault(piece.stage, []).append(piece)
    for stage in STAGES:
        if stage in by_stage:
            yield from _stage_lines(stage, by_stage[stage])


def _stage_lines(stage: str, pieces: list[Piece]) -> Iterator[str]:
    vertices = sum(piece.rows for piece in pieces)
    primitives = sum(piece.corners.shape[1] for piece in pieces)
    instances = len({piece.instance for piece in pieces})
    parts = [_many(vertices, "vertex", "vertices"), _many(primitives, "primitive", "primitives")]
    parts += [_many(instances, "instance", "instances")] if instances > 1 else []
    yield f"{stage}: {', '.join(parts)} as {topology_name(pieces[0])}"
    yield from (f"  {note}" for note in notes_of(pieces))
    lines = list(csv_head(pieces, SHOWN + 1))
    yield from (f"  {line}" for line in aligned(lines))
    if vertices > SHOWN:
        yield f"  ... {vertices - SHOWN:,} more vertices (--csv has all)"


def notes_of(pieces: Sequence[Piece]) -> Iterator[str]:
    """Yield notes about the pieces of a stage: on vertices outside of their buffers, and on what
    became of primitives.
    """
    beyond = [int(piece.keys["vertex"][row]) for piece in pieces for row in piece.outside]
    if beyond:
        numbers = ", ".join(map(str, beyond[:SHOWN])) + (" ..." if len(beyond) > SHOWN else "")
        count = _many(len(beyond), "vertex has", "vertices have")
        yield f"{count} bytes outside of a buffer, which read as 0: {numbers}"
    fates = [fate for piece in pieces for fate in piece.fates.values()]
    if fates:
        yield _fates_text(fates)


def _fates_text(fates: list[Fate]) -> str:
    counts: dict[str, int] = {}
    for fate in fates:
        counts[fate.verdict] = counts.get(fate.verdict, 0) + 1
    pixels = sum(fate.pixels for fate in fates)
    words = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    return f"{words}; {_many(pixels, 'pixel', 'pixels')} covered"


def csv_head(pieces: Iterable[Piece], most: int) -> Iterator[list[str]]:
    """The cells of the first ``most`` lines of ``csv_lines``."""
    for line, _ in zip(csv_lines(pieces), range(most), strict=False):
        yield line.split(",")


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Lines of a table whose columns are as wide as their widest cell, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()


def _many(count: int, one: str, more: str) -> str:
    return f"{count:,} {one if count == 1 else more}"


# Wavefront OBJ


def obj_lines(pieces: Iterable[Piece]) -> Iterator[str]:
    """Lines of a Wavefront OBJ file: positions, and points, lines and faces between them.

    Positions at the stage ``input`` are as stored, at ``vertex``, ``domain`` and ``geometry`` in
    clip space divided by w, and at ``clip`` on the screen in pixels, with y up and depth as z.
    Vertices without a finite position are written as zeros, and no face uses them.
    """
    yield "# x y z of vertices, then the primitives of a draw"
    first = 1
    for piece in pieces:
        position = _positions(piece)
        finite = np.logical_and.reduce(np.isfinite(position))
        shown = np.where(finite, position, 0.0)
        yield f"o {piece.stage}_{piece.instance}_{first}"
        yield from (f"v {x!r} {y!r} {z!r}" for x, y, z in shown.T.tolist())
        yield from _faces(
            piece.corners[:, np.flatnonzero(finite[piece.corners].all(axis=0))] + first
        )
        first += piece.rows


_KEYWORDS = {1: "p", 2: "l", 3: "f"}
"""From number of corners to the OBJ keyword: point, line, face."""
_SOLID = {4: [[1, 2]], 6: [[0, 2, 4]]}
"""From number of corners with adjacent ones to the rows of the primitive's own corners."""


def _faces(corners: I64) -> Iterator[str]:
    count = len(corners)
    own = corners[_SOLID[count][0]] if count in _SOLID else corners
    keyword = _KEYWORDS.get(len(own), "p")
    yield from (f"{keyword} {' '.join(map(str, each))}" for each in own.T.tolist())


_PLACES = ("POSITION0", "POSITIONT0", "position0", "v0", "o0")
"""Names of columns that are a position, the first that a table has counts."""


def _positions(piece: Piece) -> F64:
    """x, y and z of the vertices of a piece, float64, shape (3, v); 0 where it lacks them."""
    lanes = piece.lanes
    name = next((each for each in _PLACES if f"{each}.x" in lanes), "")
    letters = "xyz"
    if piece.stage == "clip":
        x, y, z = (lanes[letter].astype(np.float64) for letter in letters)
        return np.stack([x, -y, z])
    nothing = np.zeros(piece.rows)
    found = [lanes.get(f"{name}.{letter}", nothing).astype(np.float64) for letter in letters]
    w = lanes.get(f"{name}.w")
    position = np.stack(found)
    if name == "position0" and w is not None:
        with np.errstate(all="ignore"):
            position = position / w.astype(np.float64)
    return position

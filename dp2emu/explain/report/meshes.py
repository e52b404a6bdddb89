"""Meshes of a report: the first primitives of each draw, stage by stage."""

from __future__ import annotations

import json
from typing import Any

from msgspec.structs import replace

from dp2emu.errors import Dp2Error
from dp2emu.explain.mesh import Piece, mesh_of
from dp2emu.explain.mesh_files import json_of, notes_of
from dp2emu.gpu.command.packets import Draw

PRIMITIVES = 8
"""Number of primitives whose vertices are on the page; of patches the first only."""
ROWS = 16
"""Maximum number of vertices of a stage."""
CHARACTERS = 800_000
"""Maximum size of all meshes, after which further draws have none."""

_TITLES = {
    "input": "Vertices as read",
    "vertex": "After the vertex program",
    "hull": "Control points",
    "domain": "After the domain program",
    "geometry": "After the geometry program",
    "clip": "On the screen",
}


class Meshes:
    """The distinct meshes of a page.  Mutable: it grows."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.without = 0
        self._numbers: dict[str, int] = {}
        self._size = 0

    def number(self, draw: Draw) -> int | None:
        """Number of the row of the mesh that a draw is about to draw; None without room for it,
        or for a draw that cannot be executed.
        """
        if self._size > CHARACTERS:
            self.without += 1
            return None
        try:
            row = _row(draw)
        except Dp2Error:
            # The execution reports it.
            return None
        text = json.dumps(row)
        if text not in self._numbers:
            self._numbers[text] = len(self.rows)
            self._size += len(text)
            self.rows.append(row)
        return self._numbers[text]


def _row(draw: Draw) -> dict[str, Any]:
    count = draw.input.count
    shown = min(count, PRIMITIVES)
    return {
        "title": f"{count} {draw.input.topology.name}",
        "about": "all primitives"
        if shown == count
        else f"the first {shown} of {count} primitives",
        "stages": [_stage(piece) for piece in mesh_of(_first(draw))],
    }


def _first(draw: Draw) -> Draw:
    """The draw of the first instance of the first primitives."""
    given = draw.input
    if given.patch is not None or given.filled is not None:
        return draw
    count, flags = min(given.count, PRIMITIVES), given.edge_flags
    instances = None if given.instances is None else replace(given.instances, count=1)
    few = replace(
        given, count=count, instances=instances, vertices=None,
        edge_flags=None if flags is None else flags[:, :count],
    )  # fmt: skip
    return replace(draw, input=few)


def _stage(piece: Piece) -> dict[str, Any]:
    [found] = json_of([_head(piece)], {})["pieces"]
    return {
        "name": _TITLES.get(piece.stage, piece.stage),
        "columns": [column["name"] for column in found["columns"]],
        "rows": [[_short(value) for value in row] for row in found["vertices"]],
        "more": max(0, piece.rows - ROWS),
        "notes": list(notes_of([piece])),
    }


def _head(piece: Piece) -> Piece:
    """The first ``ROWS`` vertices of a piece, without primitives."""
    keys = {name: lane[:ROWS] for name, lane in piece.keys.items()}
    lanes = {name: lane[:ROWS] for name, lane in piece.lanes.items()}
    none = piece.primitives[:0]
    return replace(
        piece, keys=keys, lanes=lanes, corners=piece.corners[:, :0], primitives=none, fates={}
    )


def _short(value: Any) -> Any:
    """A value as it is, floats with the digits of a float32."""
    return float(f"{value:.8g}") if isinstance(value, float) else value

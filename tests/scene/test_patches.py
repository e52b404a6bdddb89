"""Patches in scenes, against pixels counted by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dp2emu.errors import SceneError

from .making import BLACK, FVF, NO_CULL, Play, document, picture, rows

CONTROL = {"type": "vb", "id": "v", "data": rows(1, 1, 7, 5)}
STREAM = {"op": "stream", "stream": 0, "id": "v", "stride": 20}
SQUARE = [0, 0, 2, 2, 2, "BEZIER", "LINEAR"]
RED = (255, 0, 0)


def red(tmp_path: Path) -> int:
    """The number of red pixels; asserts that all others are black."""
    image = picture(tmp_path)
    found = (image == RED).all(axis=2)
    assert (image[~found] == 0).all()
    return int(np.count_nonzero(found))


def test_a_rectangle_patch_is_kept_under_its_handle(play: Play, tmp_path: Path) -> None:
    play(
        FVF, STREAM, BLACK, {"op": "rectpatch", "handle": 3, "segments": [1, 2, 3, 4],
        "info": SQUARE}, BLACK, {"op": "stream", "stream": 0, "id": None},
        {"op": "rectpatch", "handle": 3}, resources=[CONTROL],
    )  # fmt: skip
    assert document(tmp_path)["failed_calls"] == []
    assert red(tmp_path) == 6 * 4


def test_a_deleted_patch_is_refused(play: Play, tmp_path: Path) -> None:
    kept = {"op": "rectpatch", "handle": 3, "segments": [1, 1, 1, 1], "info": SQUARE}
    gone: list[Any] = [{"op": "deletepatch", "handle": 3}]
    play(
        FVF, STREAM, BLACK, kept, BLACK, *gone, {"op": "rectpatch", "handle": 3}, *gone,
        resources=[CONTROL],
    )  # fmt: skip
    failed = document(tmp_path)["failed_calls"]
    assert [(call["command"], call["call"]) for call in failed] == [
        (6, "rectpatch"), (7, "deletepatch")
    ]  # fmt: skip
    assert red(tmp_path) == 0


def test_a_triangle_patch_covers_half_of_the_rectangle(play: Play, tmp_path: Path) -> None:
    info = [0, 3, "BEZIER", "LINEAR"]
    play(
        FVF, STREAM, BLACK, NO_CULL, {"op": "tripatch", "segments": [4, 4, 4], "info": info},
        resources=[{**CONTROL, "data": rows(1, 1, 5, 5)}],
    )  # fmt: skip
    # The third side is x + y = 6.
    assert red(tmp_path) == 4 + 3 + 2 + 1 - 4


def test_flat_n_patches_look_like_triangles(play: Play, tmp_path: Path) -> None:
    corners = [[-0.5, 1, 0.5, 255 << 16], [1, 1, 0.5, 255 << 16], [-0.5, -1, 0.5, 255 << 16]]
    drawn = {"op": "draw_up", "prim": "TRIANGLELIST", "count": 1, "stride": 16,
             "vertices": {"layout": "fffI", "rows": corners}}  # fmt: skip
    setting = [{"op": "fvf", "fvf": "D3DFVF_XYZ|D3DFVF_DIFFUSE"},
               {"op": "rs", "states": {"LIGHTING": False}}]  # fmt: skip
    play(*setting, BLACK, drawn)
    plain = picture(tmp_path)
    result = play(*setting, BLACK, {"op": "npatch", "segments": 4}, drawn)
    assert result.problems == ()
    assert (picture(tmp_path) == plain).all() and (plain == RED).any()


@pytest.mark.parametrize(
    "command",
    [
        {"op": "rectpatch", "segments": [1, 1, 1], "info": SQUARE},
        {"op": "rectpatch", "info": SQUARE[1:]},
        {"op": "rectpatch", "info": [*SQUARE[:-1], "QUARTIC"]},
        {"op": "rectpatch", "info": [-1, *SQUARE[1:]]},
        {"op": "tripatch", "info": SQUARE},
        {"op": "tripatch", "info": [0, 3, "CUBIC", "LINEAR"]},
        {"op": "deletepatch"},
        {"op": "npatch", "segments": "4"},
    ],
)
def test_a_command_that_breaks_the_schema_is_an_error(play: Play, command: dict[str, Any]) -> None:
    with pytest.raises(SceneError):
        play(FVF, STREAM, command, resources=[CONTROL])

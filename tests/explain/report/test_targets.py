"""Pictures of targets: found a piece at a time, as far as a verb may compare and encode."""

from __future__ import annotations

import numpy as np
import pytest

from dp2emu.d3d.enums import Format
from dp2emu.explain.report import targets
from dp2emu.explain.report.pictures import SHOWN
from dp2emu.explain.report.targets import TargetPictures
from dp2emu.gpu.resource.heap import Heap, Surface, SurfaceDesc, SurfaceKind
from dp2emu.gpu.work_budget import WorkBudget
from dp2emu.limits import Limits

SIDE = 8
BYTES = 4 * SIDE * SIDE
WHOLE = BYTES + SHOWN * SIDE * SIDE


def surface() -> Surface:
    desc = SurfaceDesc(1, SurfaceKind.SURFACE, SIDE, SIDE, int(Format.A8R8G8B8))
    return Heap().create(desc)


@pytest.mark.parametrize("piece", [1, 3 * 4 * SIDE, 1 << 20])
def test_a_picture_has_the_box_of_what_changed(
    piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(targets, "_PIECE", piece)
    shown, pictures = surface(), TargetPictures()
    pictures.watch(1, 1, shown, lambda size: True)
    pixels = shown.data.view(np.uint32).reshape(SIDE, SIDE)
    pixels[2, 5] = pixels[6, 3] = 0xFFFFFFFF
    pictures.changed(1, [1])
    pictures.changed(2, [1])
    (row,) = pictures.rows()
    assert [each["box"] for each in row["pictures"]] == [[0, 0, 8, 8], [3, 2, 3, 5]]


def test_pictures_end_where_too_much_was_compared_or_encoded() -> None:
    budget = WorkBudget(Limits(observed_bytes=WHOLE + BYTES + SHOWN + BYTES))
    shown, pictures = surface(), TargetPictures()
    pictures.watch(1, 1, shown, budget.observes)
    for event in (1, 2, 3, 4):
        shown.data[4 * event] = 255
        pictures.changed(event, [1])
    pictures.frame_ends(4)
    (row,) = pictures.rows()
    assert [each["event"] for each in row["pictures"]] == [0, 1]
    assert row["complete"] == 1


def test_a_surface_that_is_too_large_has_no_picture() -> None:
    pictures = TargetPictures()
    pictures.watch(1, 1, surface(), WorkBudget(Limits(observed_bytes=WHOLE - 1)).observes)
    assert (pictures.rows(), pictures.dropped, pictures.knows(1)) == ([], 1, False)

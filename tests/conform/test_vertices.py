"""Places of transformed vertices in cases: all of them are found and moved."""

from __future__ import annotations

import pytest

from dp2emu.capture.records import MemoryWritten
from dp2emu.conform import kit
from dp2emu.conform.case import Case
from dp2emu.conform.vertices import Places, places_of, with_places

KIT = {case.name: case for case in kit(ddi=9)}


def moved(places: Places) -> Places:
    return places + 2


def written(case: Case) -> dict[int, list[bytes]]:
    """By handle, the bytes that a case writes."""
    found: dict[int, list[bytes]] = {}
    for record in case.records:
        if isinstance(record, MemoryWritten):
            found.setdefault(record.handle, []).append(record.data)
    return found


def test_all_places_move() -> None:
    for name, case in KIT.items():
        wanted = [(x + 2, y + 2) for x, y in places_of(case)]
        assert places_of(with_places(case, moved)) == wanted, name


@pytest.mark.parametrize("name", ["draw.vertex_buffer", "draw.vertex_offset.buffer"])
def test_vertices_that_a_call_has_in_a_buffer_move(name: str) -> None:
    case = KIT[name]
    buffers = {each.call.lpDDVertex for each in case.calls} - {0}
    before, after = written(case), written(with_places(case, moved))
    assert {handle for handle in before if before[handle] != after[handle]} == buffers

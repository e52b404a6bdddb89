"""Declared accesses of packets, against the memory that events change."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dp2emu.explain import accesses
from dp2emu.explain.accesses import Access, accesses_of, merged, overlaps, root_of
from dp2emu.explain.events import Event
from dp2emu.explain.playback import Observer, Stage, play
from dp2emu.gpu.command.packets import Packet
from tests.explain.opening import FOLDER, REAL, STREAMS, opened


class _Undeclared(Observer):
    """Bytes that an event changed without declaring them.  Mutable."""

    def __init__(self) -> None:
        self.found: list[tuple[str, str, int]] = []
        self.uses: set[str] = set()
        self.boxes: list[Access] = []
        self._before: dict[int, np.ndarray] = {}
        self._accesses: list[Access] = []

    def before(self, event: Event, packet: Packet | None, stage: Stage) -> None:
        self._accesses = [] if packet is None else accesses_of(packet)
        self._before = {h: each.data.copy() for h, each in stage.surfaces().items()}

    def after(self, event: Event, packet: Packet | None, stage: Stage) -> None:
        self.boxes += [each for each in self._accesses if each.use in ("clear", "copy", "write")]
        self.uses |= {access.use.split()[0] for access in self._accesses}
        for handle, surface in stage.surfaces().items():
            old = self._before.get(handle)
            if packet is None or old is None:
                continue
            changed = surface.data != old
            for access in self._accesses:
                if access.writes and access.surface is surface:
                    for start, end in access.spans:
                        assert 0 <= start < end <= surface.data.nbytes
                        changed[start:end] = False
            if changed.any():
                self.found.append((event.address, event.name, handle))


@pytest.mark.parametrize("path", [*STREAMS, *REAL], ids=lambda path: path.stem)
def test_every_byte_that_a_packet_changes_is_declared(path: Path) -> None:
    seen = _Undeclared()
    with opened(path) as capture:
        play(capture, [seen])
    assert seen.found == []


def test_a_draw_declares_its_vertices_textures_and_targets() -> None:
    seen = _Undeclared()
    with opened(FOLDER / "moves.dp2") as capture:
        play(capture, [seen])
    assert {"vertices", "pixel", "target", "depth", "copy", "clear", "levels"} <= seen.uses


def test_views_have_the_memory_of_their_texture() -> None:
    found: list[tuple[bool, int, int]] = []

    class Views(Observer):
        def before(self, event: Event, packet: Packet | None, stage: Stage) -> None:
            for surface in stage.gpu.heap:
                root, start = root_of(surface)
                same = np.shares_memory(root.data[start : start + 1], surface.data[:1])
                found.append((same, start, root.data.nbytes - surface.data.nbytes))

    with opened(FOLDER / "managed.dp2") as capture:
        play(capture, [Views()])
    assert found
    assert all(same and 0 <= start <= room for same, start, room in found)


def test_spans_that_touch_are_one() -> None:
    assert list(merged([(8, 9), (0, 4), (4, 6), (5, 5)])) == [(0, 6), (8, 9)]
    assert overlaps([(0, 4)], (3, 9)) and not overlaps([(0, 4)], (4, 9))


@pytest.mark.parametrize("path", [FOLDER / "moves.dp2", REAL[0]], ids=lambda path: path.stem)
def test_boxes_of_many_rows_are_one_span(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    monkeypatch.setattr(accesses, "MOST_ROWS", 0)
    seen = _Undeclared()
    with opened(path) as capture:
        play(capture, [seen])
    assert seen.found == []
    assert {len(each.spans) for each in seen.boxes} == {1}

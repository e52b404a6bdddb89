"""A capture played event by event does what a replay does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import asdict

from dp2emu.capture.records import MARKER_BEGIN, MARKER_END, Annotation
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.options import Options
from dp2emu.errors import Dp2Error
from dp2emu.explain.events import Event, EventKind
from dp2emu.explain.playback import MARKERS, Observer, Stage, events_of, play
from dp2emu.gpu.command.packets import Packet
from dp2emu.replay import Watcher, replay
from dp2emu.replay.tally import Tally
from tests.explain.opening import FIRST_LIGHT, REAL, STREAMS, opened
from tests.replay.authoring import SETTING, called, capture_of, clear

_PLACED_BY_CAPTURE = ("timing", "damage")
"""Counts that name the rig, and the damage, which is another object each time."""


def _counts(tally: Tally) -> dict[str, Any]:
    return {name: each for name, each in asdict(tally).items() if name not in _PLACED_BY_CAPTURE}


class _Memory(Observer):
    """The memory of the machine after the last event of a playback."""

    def __init__(self) -> None:
        self.stage: Stage | None = None

    def performed(self, record: Any, stage: Stage) -> None:
        self.stage = stage

    def bytes(self) -> dict[int, bytes]:
        assert self.stage is not None
        return {handle: each.data.tobytes() for handle, each in self.stage.surfaces().items()}


@pytest.mark.parametrize("path", [*STREAMS, *REAL], ids=lambda path: path.stem)
def test_answers_memory_and_faults_are_those_of_a_replay(path: Path) -> None:
    faults, seen, memory = list[str](), list[str](), _Memory()
    with opened(path) as capture:
        played = play(capture, [memory], watcher=Watcher(fault=_texts(seen)))
    assert memory.stage is not None
    driver = Driver(memory.stage.gpu.timing)
    with opened(path) as capture:
        tally = replay(capture, rig=driver, watcher=Watcher(fault=_texts(faults)))
    assert (_counts(played), seen) == (_counts(tally), faults)
    kept = {each.handle: each.data.tobytes() for each in driver.gpu.heap if each.parent is None}
    there = memory.bytes()
    assert {handle: there[handle] for handle in kept} == kept


def _texts(found: list[str]) -> Any:
    def keep(error: Dp2Error) -> None:
        found.append(str(error))

    return keep


class _Changes(Observer):
    """The surfaces that changed during an event that does not name them."""

    def __init__(self) -> None:
        self.unnamed: list[tuple[str, int]] = []
        self._before: dict[int, bytes] = {}

    def before(self, event: Event, packet: Packet | None, stage: Stage) -> None:
        self._before = {h: each.data.tobytes() for h, each in stage.surfaces().items()}

    def after(self, event: Event, packet: Packet | None, stage: Stage) -> None:
        now = {h: each.data.tobytes() for h, each in stage.surfaces().items()}
        changed = [h for h, old in self._before.items() if now.get(h, old) != old]
        if packet is not None:
            self.unnamed += [(event.address, h) for h in changed if h not in event.targets]


@pytest.mark.parametrize("path", [*STREAMS, *REAL[:-1]], ids=lambda path: path.stem)
def test_an_event_names_every_surface_that_it_changes(path: Path) -> None:
    changes = _Changes()
    with opened(path) as capture:
        play(capture, [changes])
    assert changes.unnamed == []


def test_events_of_a_triangle_have_addresses_and_counts() -> None:
    path = next(each for each in REAL if each.stem == "d3d9_tri")
    with opened(path) as capture:
        clear, draw, blit, present = events_of(capture)
    assert [each.kind for each in (clear, draw, blit, present)] == [
        EventKind.CLEAR, EventKind.DRAW, EventKind.COPY, EventKind.PRESENT,
    ]  # fmt: skip
    assert (draw.address, draw.place, draw.name) == ("E1", "0:11", "DRAWPRIMITIVE")
    assert (draw.primitives, draw.topology, draw.pixels) == (1, "TRIANGLELIST", 25313)
    assert (clear.pixels, present.api_call) == (250 * 250, 14)


def test_events_are_the_same_on_both_engines() -> None:
    found = []
    for engine in ("jit", "reference"):
        with opened(FIRST_LIGHT) as capture:
            found.append(events_of(capture, options=Options(engine=engine)))
    assert found[0] == found[1]


class _Pixel(Observer):
    """Addresses of the events that change the first pixel of surface 2."""

    def __init__(self) -> None:
        self.changed: list[str] = []
        self._old = b""

    def before(self, event: Event, packet: Packet | None, stage: Stage) -> None:
        self._old = stage.surface(2).data[:4].tobytes()

    def after(self, event: Event, packet: Packet | None, stage: Stage) -> None:
        if stage.surface(2).data[:4].tobytes() != self._old:
            self.changed.append(event.address)


def test_an_event_is_shown_before_and_after_it_changes_memory() -> None:
    pixel = _Pixel()
    with opened(FIRST_LIGHT) as capture:
        play(capture, [pixel])
    assert pixel.changed == ["E1", "E2"]


def test_marks_beyond_the_deepest_end_before_those_that_are_kept() -> None:
    depth = MARKERS + 2
    begins = [Annotation(MARKER_BEGIN, str(number)) for number in range(depth)]
    ends = [Annotation(MARKER_END, "")] * depth
    records = [*SETTING, *begins, *ends[:3], called(clear(1)), *ends[3:], called(clear(2))]
    drawn = [each for each in events_of(capture_of(*records)) if each.kind is EventKind.CLEAR]
    assert [len(each.markers) for each in drawn] == [MARKERS - 1, 0]

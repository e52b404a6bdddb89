"""The state after any event is the state of a straight run after that event."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from dp2emu.capture.records import Record
from dp2emu.ddi10 import declarations
from dp2emu.ddi10.resources.resource import BindFlag, ResourceType
from dp2emu.ddi10.resources.views import CreateTargetView
from dp2emu.errors import Dp2Error, Malformed, UsageError
from dp2emu.explain.events import Event, EventKind, Origin
from dp2emu.explain.inspector import START, Inspector, state_hash
from dp2emu.explain.memory_log import arrays_of
from dp2emu.explain.playback import EventList, Observer, Stage, play
from dp2emu.gpu.command.packets import Packet
from dp2emu.gpu.command.queries import COUNTER_NAMES
from dp2emu.replay import Watcher
from dp2emu.runtime10 import Resource, TextureDesc
from dp2emu.shader.sm4.assemble import _patterns as assembling
from tests.explain.opening import FIRST_LIGHT, FOLDER, REAL, STREAMS, opened
from tests.replay.authoring import SETTING, called, capture_of, clear
from tests.replay.test_resources import RGBA8, Program


class Hashes(Observer):
    """The hash of the machine's state after each event of a straight run."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self._facts: dict[str, object] = {}

    def issued(self, origin: Origin, stage: Stage) -> None:
        self._facts = stage.facts(origin)

    def after(self, event: Event, packet: Packet | None, stage: Stage) -> None:
        memory = ((handle, arrays_of(each)) for handle, each in sorted(stage.surfaces().items()))
        counters = [getattr(stage.gpu.counters, name) for name in COUNTER_NAMES]
        self.found.append(state_hash(memory, stage.gpu.now, counters, self._facts))


def hashes_of(path: Path) -> list[str]:
    """The hash after each event of the capture in a file."""
    hashes = Hashes()
    with opened(path) as capture:
        play(capture, [hashes])
    return hashes.found


@pytest.mark.parametrize("table", [declarations._structures, assembling])
def test_tables_of_direct3d_11_are_made_before_the_first_step(table: Any) -> None:
    for each in (table, declarations.members):
        each.cache_clear()
    with opened(FOLDER / "real" / "sokol_texcube.trace") as capture:
        inspector = Inspector(capture)
        with inspector:
            made = table.cache_info().misses
            inspector.step()
            assert inspector.facts()
    assert table.cache_info().misses == made == 1


def check_sequences(path: Path, memory: int, sequences: int) -> None:
    """Move an inspector at random, and compare its state after each sequence of moves."""
    wanted, random = hashes_of(path), Random(path.stem)
    with opened(path) as capture, Inspector(capture, memory=memory) as inspector:
        if not wanted:
            assert inspector.step() is None
            return
        for _ in range(sequences):
            inspector.seek(random.randrange(len(wanted)))
            for _ in range(random.randrange(4)):
                inspector.step() if random.random() < 0.5 else inspector.back()
            if inspector.position != START:
                assert inspector.hash() == wanted[inspector.position]


ALL = [*STREAMS, *REAL[:-1]]
KEPT, FORGOTTEN = 1 << 28, 1 << 12


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
@pytest.mark.parametrize("memory", [KEPT, FORGOTTEN], ids=["kept", "forgotten"])
def test_any_way_to_an_event_ends_in_the_same_state(path: Path, memory: int) -> None:
    check_sequences(path, memory, 4)


@pytest.mark.slow
@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
def test_ten_thousand_ways_to_an_event_end_in_the_same_state(path: Path) -> None:
    check_sequences(path, KEPT, 9_500 // len(ALL))
    check_sequences(path, FORGOTTEN, 500 // len(ALL) + 1)


def test_memory_that_was_read_again_is_the_picture_of_the_event() -> None:
    with opened(FIRST_LIGHT) as capture, Inspector(capture) as inspector:
        clear = inspector.seek("1:4")
        before = inspector.read(2)
        draw = inspector.step()
        assert clear is not None and draw is not None
        assert (clear.kind, draw.kind) == (EventKind.CLEAR, EventKind.DRAW)
        assert inspector.read(2) != before
        assert inspector.back() == clear
        assert inspector.read(2) == before
        assert inspector.surface(2).pixels().shape == (240, 320)


def test_a_run_ends_at_the_first_event_that_meets_a_condition() -> None:
    with opened(FIRST_LIGHT) as capture, Inspector(capture) as inspector:
        found = inspector.run_to(lambda event: event.kind == EventKind.QUERY_BEGIN)
        assert found is not None and found.query == 1
        assert inspector.run_to(lambda event: event.kind == EventKind.DISPATCH) is None
        assert inspector.event == found


def test_state_is_of_the_event() -> None:
    with opened(FOLDER / "state_blocks.dp2") as capture, Inspector(capture) as inspector:
        seen = []
        while inspector.step() is not None:
            seen.append(inspector.facts())
        inspector.seek(0)
        assert [inspector.facts()] + [
            inspector.facts() for _ in iter(inspector.step, None)
        ] == seen  # fmt: skip


@pytest.mark.parametrize("place", ["E99", "9:9", "@1", "frame 7", 99, -2, "nowhere"])
def test_a_place_that_does_not_exist_is_a_usage_error(place: int | str) -> None:
    with opened(FIRST_LIGHT) as capture, Inspector(capture) as inspector:
        with pytest.raises(UsageError):
            inspector.seek(place)
        assert inspector.position == START


def test_a_surface_out_of_its_time_is_a_usage_error() -> None:
    with opened(FIRST_LIGHT) as capture, Inspector(capture) as inspector:
        with pytest.raises(UsageError, match="no surface 2 at the start"):
            inspector.read(2)
        inspector.seek(1)
        with pytest.raises(UsageError, match="bytes"):
            inspector.read(2, 0, 1 << 30)


def test_what_ends_a_playback_is_raised_for_each_later_place() -> None:
    def refuse(error: Dp2Error) -> None:
        raise error

    records = [*SETTING, called(clear(1)), called(b"\x55" * 8), called(clear(2))]
    watcher = Watcher(fault=refuse)
    with Inspector(capture_of(*records), watcher=watcher) as inspector:
        inspector.seek(0)
        for _ in range(2):
            with pytest.raises(Malformed):
                inspector.all_events()
        assert inspector.seek("E0") == inspector.event


def test_bytes_outside_of_a_surface_are_named() -> None:
    with Inspector(capture_of(*SETTING, called(clear(1)))) as inspector:
        inspector.seek(0)
        with pytest.raises(UsageError, match="surface 2 has 128 bytes, not 120 to 136"):
            inspector.read(2, 120, 16)


def test_an_inspector_that_is_dropped_without_closing_ends_its_thread() -> None:
    before = {*threading.enumerate()}
    with opened(FIRST_LIGHT) as capture:
        inspector = Inspector(capture)
        inspector.seek(1)
        new = {*threading.enumerate()} - before
        (thread,) = (each for each in new if each.name == "dp2emu-inspector")
        del inspector
        gc.collect()
        assert not thread.is_alive()


def levels_and_slices() -> list[Record]:
    """Clears of levels, slices, and parts of a buffer, the first ones of their resources last."""
    program = Program()
    device = program.device
    bind = int(BindFlag.RENDER_TARGET)
    texture = TextureDesc(ResourceType.TEXTURE2D, RGBA8, 4, 4, levels=2, slices=2, bind=bind)
    volume = TextureDesc(ResourceType.TEXTURE3D, RGBA8, 4, 4, 4, bind=bind)
    slices = [(1, 1), (0, 1), (1, 0), (0, 0)]
    elements = [(0, 8, 4), (0, 4, 4), (0, 0, 4)]
    rows: list[tuple[Resource, ResourceType, Sequence[tuple[int, ...]]]] = [
        (device.create_texture(texture), ResourceType.TEXTURE2D, slices),
        (device.create_texture(volume), ResourceType.TEXTURE3D, [(0, 3), (0, 1), (0, 0)]),
        (device.create_buffer(64, bind, bytes(64)), ResourceType.BUFFER, elements),
    ]
    for resource, kind, places in rows:
        for number, place in enumerate(places):
            view = CreateTargetView(resource.memory, RGBA8, kind, *place)
            program.clear(device.make("RenderTargetView", view), number / 4, 0.5, 1.0, 1.0)
    device.call("Flush")
    return program.records


def test_parts_of_a_resource_have_the_same_handles_whatever_is_named_first() -> None:
    recording = capture_of(*levels_and_slices())
    hashes, events = Hashes(), EventList()
    play(recording, [hashes])
    play(recording, [events])
    with Inspector(recording) as inspector:
        assert [each.targets for each in inspector.all_events()] == [
            each.targets for each in events.events
        ]
        for number, wanted in enumerate(hashes.found):
            inspector.seek(number)
            assert inspector.hash() == wanted
    targets = {target for each in events.events for target in each.targets}
    assert len(targets) == len(events.events) == 10


LOADED = """
import sys
from pathlib import Path
from dp2emu.explain.inspector import Inspector
from tests.explain.opening import opened
with opened(Path(sys.argv[1])) as capture, Inspector(capture) as inspector:
    before = set(sys.modules)
    inspector.step()
    print(*sorted(each for each in set(sys.modules) - before if each.startswith("dp2emu.retrace")))
"""


def test_the_modules_of_a_trace_are_loaded_before_the_first_step() -> None:
    path = FOLDER / "real" / "sokol_texcube.trace"
    ran = subprocess.run([sys.executable, "-c", LOADED, path], capture_output=True, text=True,
                         check=True)  # fmt: skip
    assert ran.stdout.split() == []

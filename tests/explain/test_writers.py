"""Last writers and readers of bytes, against the memory at each event."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dp2emu.capture.records import MemoryWritten, Record, SurfaceCreated, SurfaceDestroyed
from dp2emu.dp2.options import Options
from dp2emu.errors import Absent, Exceeded, UsageError
from dp2emu.explain import writers
from dp2emu.explain.address import parse_address
from dp2emu.explain.events import Event
from dp2emu.explain.playback import Observer, Stage, play
from dp2emu.explain.writers import Answer, Resource, accesses_to, parse_range, parse_resource
from dp2emu.gpu.command.packets import Packet
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from dp2emu.limits import Limits
from dp2emu.shader.engines import ENGINES
from tests.explain.opening import FIRST_LIGHT, FOLDER, REAL, opened
from tests.refusals import refuses
from tests.replay.authoring import SETTING, called, capture_of, clear

MOVES = FOLDER / "moves.dp2"


class _History(Observer):
    """The number of the last event that changed each byte of a surface.  Mutable."""

    def __init__(self, handle: int) -> None:
        self.changed: np.ndarray | None = None
        self._handle = handle
        self._seen: np.ndarray | None = None

    def after(self, event: Event, packet: Packet | None, stage: Stage) -> None:
        surface = stage.gpu.heap.get(self._handle)
        if surface is None:
            return
        if self._seen is None or self.changed is None:
            self._seen = np.zeros(surface.data.nbytes, np.uint8)
            self.changed = np.full(surface.data.nbytes, -1)
        self.changed[surface.data != self._seen] = event.number
        self._seen = surface.data.copy()


def asked(path: Path, resource: int, span: str | None = None, at: str | None = None) -> Answer:
    with opened(path) as capture:
        return accesses_to(
            capture, Resource(resource), None if span is None else parse_range(span),
            at=None if at is None else parse_address(at),
        )  # fmt: skip


@pytest.mark.parametrize(
    ("path", "handle"),
    [(FIRST_LIGHT, 2), (FIRST_LIGHT, 3), (FIRST_LIGHT, 4), (MOVES, 2), (MOVES, 4), (MOVES, 9),
     (FOLDER / "host_race.dp2", 2), (FOLDER / "palettes.dp2", 2)],
    ids=lambda each: getattr(each, "stem", each),
)  # fmt: skip
def test_no_byte_changed_after_its_last_writer(path: Path, handle: int) -> None:
    history = _History(handle)
    with opened(path) as capture:
        play(capture, [history])
    assert history.changed is not None
    owner = np.full(len(history.changed), -1)
    answer = asked(path, handle)
    for writer in answer.writers:
        for start, end in writer.runs:
            assert writer.event is not None
            owner[start:end] = writer.event.number
    assert (owner >= history.changed).all()
    runs = [run for each in answer.writers for run in each.runs] + list(answer.unwritten)
    assert sum(end - start for start, end in runs) == answer.size


def test_a_write_of_the_same_bytes_is_the_last_writer() -> None:
    answer = asked(FIRST_LIGHT, 2, at="E1")
    assert [(each.event.name, each.count) for each in answer.writers if each.event] == [
        ("CLEAR", answer.size)
    ]
    (written,) = asked(FIRST_LIGHT, 4).writers
    assert written.event is not None
    assert (written.event.name, written.runs) == ("MemoryWritten", ((0, 660),))


def test_a_range_has_its_own_writers_and_readers() -> None:
    answer = asked(FIRST_LIGHT, 4, "120-179")
    (reader,) = answer.readers
    assert reader.event is not None
    assert (reader.event.place, reader.use, reader.spans) == ("1:6", "vertices 0", ((120, 180),))
    assert answer.writers[0].runs == ((120, 180),)


def test_readers_up_to_an_event() -> None:
    assert len(asked(FIRST_LIGHT, 4).readers) == 10
    found = asked(FIRST_LIGHT, 4, at="E4").readers
    assert [each.event.address for each in found if each.event] == ["E2", "E3", "E4"]


def test_engines_tell_the_same() -> None:
    found = []
    for engine in ENGINES:
        with opened(FIRST_LIGHT) as capture:
            found.append(accesses_to(capture, Resource(2), options=Options(engine=engine)))
    assert found[1:] == found[:-1]


@pytest.mark.parametrize(
    ("resource", "span", "at", "why"),
    [(99, None, None, "no event accesses surface 99"), (4, "660", None, "has 660 bytes"),
     (4, None, "E99", "events E0 to E15")],
)  # fmt: skip
def test_what_is_not_there_is_a_usage_error(
    resource: int, span: str | None, at: str | None, why: str
) -> None:
    with pytest.raises(UsageError, match=why):
        asked(FIRST_LIGHT, resource, span, at)


def test_a_range_ends_where_the_resource_once_had_bytes() -> None:
    def written(size: int) -> tuple[Record, ...]:
        desc = SurfaceDesc(5, SurfaceKind.VERTEXBUFFER, size)
        return SurfaceCreated(desc), MemoryWritten(5, 0, bytes(size)), called(clear(0))

    capture = capture_of(*SETTING, *written(64), SurfaceDestroyed(5), *written(32))

    def answer(span: str) -> tuple[int, int]:
        return accesses_to(capture, Resource(5), parse_range(span)).span

    assert [answer(span) for span in ("0-31", "8-63", "8-")] == [(0, 32), (8, 32), (8, 32)]
    wrong = ("0-64", "at most 64 bytes, no byte 64"), ("32-40", "32 bytes, no byte 32")
    for span, message in wrong:
        with pytest.raises(Absent, match=f"surface 5 has {message}$"):
            answer(span)


def test_texts_of_resources_and_ranges() -> None:
    for text in ("object:7", "resource 7"):
        assert parse_resource(text) == Resource(7, is_object=True)
    assert parse_range("0x10-0x1f") == (16, 32)
    assert parse_range("5") == (5, 6)
    for text in ("", "x", "-1", "object:", "9" * 40):
        with pytest.raises(UsageError):
            parse_resource(text)
    for text in ("", "5-4", "1-2-3", "0x", "9" * 40):
        with pytest.raises(UsageError):
            parse_range(text)


def test_a_number_of_an_object_that_is_no_handle_is_told() -> None:
    (path,) = (path for path in REAL if path.stem == "sokol_texcube")
    there = "surface 999 up to there; the resource 999 of the driver interface is object:999$"
    with opened(path) as capture, pytest.raises(Absent, match=there):
        accesses_to(capture, Resource(999))
    with opened(FIRST_LIGHT) as capture, pytest.raises(Absent, match=r"surface 999 up to there$"):
        accesses_to(capture, Resource(999))


def test_bytes_that_are_compared_are_limited() -> None:
    """Each draw may have changed any byte of the target."""
    limits = Limits(observed_bytes=1 << 16)
    with opened(FIRST_LIGHT) as capture, pytest.raises(Exceeded) as raised:
        accesses_to(capture, Resource(2), options=Options(limits=limits))
    assert refuses(raised.value, "observed_bytes", 1 << 16)
    assert raised.value.token is not None


def test_an_answer_of_too_many_ranges_asks_for_a_smaller_range(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs = sum(len(each.runs) for each in asked(FIRST_LIGHT, 2).writers)
    monkeypatch.setattr(writers, "RUNS", runs)
    asked(FIRST_LIGHT, 2)
    monkeypatch.setattr(writers, "RUNS", runs - 1)
    with pytest.raises(UsageError, match=f"more than {runs - 1:,} ranges: give a smaller range"):
        asked(FIRST_LIGHT, 2)
    asked(FIRST_LIGHT, 2, "0-63")


def test_pieces_of_a_large_resource_are_told_together(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = asked(FIRST_LIGHT, 2)
    monkeypatch.setattr(writers, "_PIECE", 100)
    assert asked(FIRST_LIGHT, 2) == whole

"""Traces read as captures."""

from __future__ import annotations

import re
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.capture import CaptureWriter, open_capture
from dp2emu.capture.apitrace import open_trace
from dp2emu.capture.apitrace.container import Packed, expand
from dp2emu.capture.files import open_source
from dp2emu.capture.records import (
    API_CALL,
    API_CALLS,
    IMPORTED,
    Annotation,
    Called,
    FrameMarker,
    Observed,
    Pictured,
    Record,
    SurfaceCreated,
)
from dp2emu.errors import CaptureError
from dp2emu.gpu.resource.heap import SurfaceKind
from dp2emu.limits import Limits
from dp2emu.replay import Frames
from dp2emu.retrace import Import, importing, selected
from tests.capture.apitrace.encoder import Encoder, header, snappy
from tests.capture.apitrace.samples import REAL, call, opened


def trace_of(*names: str) -> bytes:
    encoder = Encoder()
    return snappy(header() + b"".join(encoder.both(call(n, f)) for n, f in enumerate(names)))


def test_first_record_says_that_it_is_an_import_and_of_what(tmp_path: Path) -> None:
    path = tmp_path / "game.trace"
    path.write_bytes(trace_of("malloc"))
    with open_trace(path) as trace:
        capture = Import(trace)
        assert list(capture.records()) == [Annotation(IMPORTED, "game.trace")]
        assert capture.name == str(path)


def test_surfaces_are_labelled_with_what_made_them() -> None:
    path = next(path for path in REAL if path.stem == "sdl_testgeometry")
    with open_trace(path) as trace:
        records = list(Import(trace).records())
    named = (IMPORTED, API_CALL, API_CALLS)
    labels = {r.key: r.text for r in records if isinstance(r, Annotation) and r.key not in named}
    made = [r.desc for r in records if isinstance(r, SurfaceCreated)]
    assert labels.keys() == {
        f"label.surface.{desc.handle}" for desc in made if desc.kind is not SurfaceKind.MEMORY
    }
    assert any(re.fullmatch(r"0x[0-9a-f]+, CreateDevice in call \d+", t) for t in labels.values())


def test_what_a_program_never_presented_is_handed_in_at_the_end() -> None:
    path = next(path for path in REAL if path.stem == "d3d9_tri")
    with path.open("rb") as file:
        stream = b"".join(expand("snappy", Packed(open_source(file), b""), Limits()))
    present = stream.index(b"IDirect3DDevice9::Present")
    *_, last = Import(opened(snappy(stream[: present - 8]))).records()
    assert isinstance(last, Called)


def test_what_cannot_be_expressed_is_counted() -> None:
    capture = Import(opened(trace_of("Levitate", "malloc", "Levitate")))
    list(capture.records())
    assert [loss.call for loss in capture.losses] == [0, 2]
    list(capture.records())
    assert capture.losses.total == 2


def test_a_trace_that_is_cut_is_imported_up_to_there() -> None:
    capture = Import(opened(trace_of("Levitate", "Fly")[:-3]))
    assert len(list(capture.records())) == 1
    assert capture.damage is not None


def test_an_import_is_a_sealed_capture() -> None:
    file, seen = BytesIO(), []
    with CaptureWriter(file) as writer:
        losses = importing(opened(trace_of("Levitate")), writer, progress=seen.append)
    records = list(open_capture(BytesIO(file.getvalue())).records())
    assert records == seen and losses.total == 1


class Recorder:
    def __init__(self) -> None:
        self.records: list[Record] = []

    def write(self, record: Record) -> None:
        self.records.append(record)


def frames(count: int, rest: bool) -> list[Record]:
    """Frames of an annotation that stands for a call, two things seen and a marker."""
    parts: list[Record] = []
    for n in range(count + rest):
        parts += [Annotation("call", str(n)), Pictured(n, 1, 2), Observed(n, 1, 1)]
        parts += [FrameMarker(n)] if n < count else []
    return parts


def calls(records: Iterable[Record]) -> list[int]:
    return [int(record.text) for record in records if isinstance(record, Annotation)]


def shown(records: Iterable[Record], kind: type[Pictured | Observed]) -> list[int]:
    return [record.call for record in records if isinstance(record, kind)]


@given(st.integers(0, 5), st.booleans(), st.integers(0, 6), st.integers(0, 6) | st.none())
def test_selected_frames_keep_what_comes_before_and_show_only_themselves(
    count: int, rest: bool, first: int, last: int | None
) -> None:
    kept = list(selected(frames(count, rest), Frames(first, last)))
    total = count + rest
    behind = total if last is None else min(last + 1, total)
    inside = [n for n in range(behind) if n >= first]
    assert calls(kept) == list(range(behind))
    assert shown(kept, Pictured) == shown(kept, Observed) == inside
    markers = [record.frame for record in kept if isinstance(record, FrameMarker)]
    assert markers == [n for n in inside if n < count]


def survives(data: bytes) -> int:
    """How many records an import has; anything but a CaptureError is a failure."""
    recorder = Recorder()
    try:
        importing(opened(data), recorder)
    except CaptureError:
        return 0
    with CaptureWriter(BytesIO()) as writer:
        for record in recorder.records:
            writer.write(record)
    return len(recorder.records)


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.stem)
def test_every_thousandth_byte_of_a_trace_may_be_cut_or_wrong(path: Path) -> None:
    data = path.read_bytes()
    for at in range(0, len(data), 1000):
        survives(data[:at])
        survives(data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :])


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.stem)
def test_every_thousandth_byte_of_what_is_packed_may_be_cut_or_wrong(path: Path) -> None:
    with path.open("rb") as file:
        stream = b"".join(expand("snappy", Packed(open_source(file), b""), Limits()))
    for at in range(0, len(stream), 1000):
        survives(snappy(stream[:at]))
        for flip in (1, 0x80, 0xFF):
            survives(snappy(stream[:at] + bytes([stream[at] ^ flip]) + stream[at + 1 :]))

"""Timelines, read with the message definitions that Perfetto publishes."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as perfetto

from dp2emu.explain.perfetto import TraceWriter, varint
from dp2emu.explain.timeline import timeline_of
from dp2emu.gpu.device.timing import parse_timing
from tests.explain.opening import FOLDER, opened


def parsed(writer: TraceWriter) -> Any:
    """The trace as Perfetto's classes read it; no field may be unknown."""
    data = b"".join(writer.packets())
    trace = perfetto.Trace()
    trace.ParseFromString(data)
    assert trace.SerializeToString() and len(trace.packet) == len(list(writer.packets()))
    return trace


class Track:
    """A track of a trace: its name, and its slices, instants and counter values."""

    def __init__(self, descriptor: Any) -> None:
        self.name = descriptor.name
        self.slices: list[tuple[str, int, int]] = []
        self.values: list[tuple[int, int]] = []
        self.instants: list[tuple[str, int]] = []
        self._open: list[tuple[str, int]] = []

    def add(self, event: Any, time: int) -> None:
        kinds = perfetto.TrackEvent.Type
        if event.type == kinds.TYPE_SLICE_BEGIN:
            self._open.append((event.name, time))
        elif event.type == kinds.TYPE_SLICE_END:
            name, start = self._open.pop()
            self.slices.append((name, start, time))
        elif event.type == kinds.TYPE_COUNTER:
            self.values.append((time, event.counter_value))
        else:
            self.instants.append((event.name, time))

    @property
    def ended(self) -> bool:
        return not self._open


def tracks_of(path: Path, timing: str) -> dict[str, Track]:
    with opened(path) as capture:
        trace = parsed(timeline_of(capture, timing=parse_timing(timing)))
    tracks: dict[int, Track] = {}
    last = 0
    for packet in trace.packet:
        if packet.HasField("track_descriptor"):
            tracks[packet.track_descriptor.uuid] = Track(packet.track_descriptor)
        elif packet.HasField("track_event"):
            assert packet.timestamp >= last
            last = packet.timestamp
            tracks[packet.track_event.track_uuid].add(packet.track_event, packet.timestamp)
    assert all(track.ended for track in tracks.values())
    return {track.name: track for track in tracks.values()}


@pytest.mark.parametrize("timing", ["instant", "work", "fixed:call=1000,packet=4000,delivery=500"])
def test_a_query_goes_from_its_issue_to_its_delivery(timing: str) -> None:
    tracks = tracks_of(FOLDER / "event_latency.dp2", timing)
    track = tracks["query 1 of context 1 (D3DQUERYTYPE_EVENT)"]
    phases = [name for name, *_ in track.slices]
    assert phases == ["issued", "executing", "signaling", "signaled", "delivered"]
    for (_, _, end), (_, start, _) in pairwise(track.slices):
        assert end <= start


def test_the_gpu_is_busy_while_it_executes() -> None:
    tracks = tracks_of(FOLDER / "first_light.dp2", "work")
    busy = [(start, end) for _, start, end in tracks["GPU"].slices]
    assert all(one[1] <= other[0] for one, other in pairwise(busy))
    assert sum(end - start for start, end in busy) == tracks["busy_ticks"].values[-1][1] > 0
    names = Counter(name for name, *_ in tracks["GPU"].slices)
    assert names["DRAWPRIMITIVE"] == 10


def test_counters_grow_to_the_sum_of_all_events() -> None:
    tracks = tracks_of(FOLDER / "first_light.dp2", "work")
    values = [value for _, value in tracks["samples"].values]
    assert values == sorted(values) and values[0] == 0
    assert len(tracks["calls"].slices) == 2


def test_responses_are_at_the_end_of_their_calls() -> None:
    tracks = tracks_of(FOLDER / "overlapping_queries.dp2", "fixed:call=1000,packet=2000")
    ends = {end for _, _, end in tracks["calls"].slices}
    assert [name for name, _ in tracks["responses"].instants] == ["query 2", "query 3", "query 1"]
    assert {time for _, time in tracks["responses"].instants} <= ends


def test_a_present_is_on_the_track_of_the_gpu_behind_what_it_shows() -> None:
    gpu = tracks_of(FOLDER / "first_light.dp2", "work")["GPU"]
    ((name, time),) = gpu.instants
    assert (name, time) == ("FrameMarker", max(end for _, _, end in gpu.slices))


def test_numbers_are_in_base_128() -> None:
    assert [varint(value).hex() for value in (0, 127, 128, (1 << 64) - 1)] == [
        "00", "7f", "8001", "ffffffffffffffffff01",
    ]  # fmt: skip


def test_hostile_names_are_escaped() -> None:
    writer = TraceWriter("\x1b[31m\ud800")
    writer.instant(writer.track("\u202e"), "a\nb", 5, {"key\x00": "value\x07"})
    text = str(parsed(writer))
    assert "\\\\x1b[31m\\\\ud800" in text and "\\\\u202e" in text and "value\\\\x07" in text

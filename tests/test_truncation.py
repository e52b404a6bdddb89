"""Streams that are cut anywhere are read up to there, and what is missing is told."""

from __future__ import annotations

from collections.abc import Iterable
from io import BytesIO
from pathlib import Path

import pytest

from dp2emu.capture import open_capture
from dp2emu.capture.apitrace import open_trace
from dp2emu.capture.records import Called, Record
from dp2emu.d3d.fvf import fvf_size
from dp2emu.dp2.walk import scan
from dp2emu.errors import CaptureError

FOLDER = Path(__file__).parents[1] / "streams"
STREAMS = sorted(FOLDER.glob("*.dp2"))
TRACES = sorted((FOLDER / "real").glob("*.trace"))
EVERY, POINTS = 16 << 10, 1000
"""Streams up to so many bytes are cut at every byte, larger ones at so many points."""
FEW = 12


def every_point(size: int) -> Iterable[int]:
    return range(size) if size <= EVERY else range(0, size, -(-size // POINTS))


def few_points(size: int) -> Iterable[int]:
    return [*range(0, size, size // FEW), 7, 8, 9, size - 1]


def records_of(data: bytes) -> tuple[list[Record], bool]:
    """The records, and whether something is missing."""
    if len(data) < 8:
        return [], True
    capture = open_capture(BytesIO(data))
    return list(capture.records()), capture.damage is not None


def calls_of(data: bytes) -> tuple[list[str], bool]:
    trace = open_trace(BytesIO(data))
    return [repr(call) for call in trace.calls()], trace.damage is not None


def check_stream(path: Path, points: Iterable[int]) -> None:
    data = path.read_bytes()
    whole, damaged = records_of(data)
    for point in points:
        found, cut = records_of(data[:point])
        assert cut, point
        assert found == whole[: len(found)], point
    assert damaged == (path.stem == "truncated_file")


def check_trace(path: Path, points: Iterable[int]) -> None:
    data = path.read_bytes()
    whole, damaged = calls_of(data)
    assert not damaged
    for point in points:
        try:
            found, _ = calls_of(data[:point])
        except CaptureError:  # the chunk with the header is cut: there is nothing yet
            continue
        assert len(found) <= len(whole), point


@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.stem)
def test_a_stream_cut_somewhere(path: Path) -> None:
    check_stream(path, few_points(path.stat().st_size))


@pytest.mark.slow
@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.stem)
def test_a_stream_cut_anywhere(path: Path) -> None:
    check_stream(path, every_point(path.stat().st_size))


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.stem)
def test_a_trace_cut_somewhere(path: Path) -> None:
    check_trace(path, few_points(path.stat().st_size))


@pytest.mark.slow
@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.stem)
def test_a_trace_cut_anywhere(path: Path) -> None:
    check_trace(path, every_point(path.stat().st_size))


@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.stem)
def test_commands_cut_at_every_byte(path: Path) -> None:
    for record in records_of(path.read_bytes())[0]:
        if not isinstance(record, Called):
            continue
        commands = record.call.commands or b""
        size = record.call.dwVertexSize or fvf_size(record.call.dwVertexType, 9)
        whole = scan(commands, 0, len(commands), size).commands
        ends = {0, *(each[4] for each in whole)}
        for end in every_point(len(commands)):
            found = scan(commands, 0, end, size)
            assert found.commands == [each for each in whole if each[4] <= end]
            assert (found.problem is None) == (end in ends)

"""Opening captures: told by their magic, from paths, streams and pipes."""

from __future__ import annotations

import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from dp2emu.capture import CaptureWriter, open_capture
from dp2emu.errors import CaptureError, UsageError
from tests.capture.samples import EVERYTHING, TWO_CALLS, Pipe, log, sealed


@pytest.mark.parametrize(("kind", "make"), [("sealed", sealed), ("log", log)])
def test_the_form_is_told_by_the_first_bytes(kind: str, make, tmp_path: Path) -> None:
    path = tmp_path / "some.file"
    path.write_bytes(make(EVERYTHING))
    for place in (path, str(path)):
        with open_capture(place) as capture:
            assert (capture.kind, capture.name) == (kind, str(path))
            assert list(capture.records()) == EVERYTHING


@pytest.mark.parametrize("data", [b"", b"\x89MC", b"PNG or so", sealed([])[:7], b"\x89DP2LOG2"])
def test_an_unknown_file_names_what_was_expected(data: bytes) -> None:
    with pytest.raises(CaptureError, match=r"89 4d 43 41 50 30 0d 0a.*only on request"):
        open_capture(BytesIO(data))


def test_a_form_that_was_asked_for_must_be_there() -> None:
    with pytest.raises(CaptureError, match="with log"):
        open_capture(BytesIO(sealed([])), kind="log")


def test_an_unknown_form_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="sealed, log, bare"):
        open_capture(BytesIO(b""), kind="zip")


def test_a_missing_file_is_an_oserror(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        open_capture(tmp_path / "nothing")
    with pytest.raises(OSError):
        open_capture(tmp_path)


def test_a_place_must_be_a_path_or_a_stream() -> None:
    with pytest.raises(UsageError, match="place is 5, not Place"):
        open_capture(5)


def test_dash_is_stdin_and_stdout(monkeypatch: pytest.MonkeyPatch) -> None:
    out = BytesIO()
    monkeypatch.setattr(sys, "stdout", TextIOWrapper(out, "utf-8"))
    with CaptureWriter("-") as writer:
        writer.write(TWO_CALLS[0])
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(out.getvalue()), "utf-8"))
    with open_capture("-") as capture:
        assert capture.name == "-"
        assert list(capture.records()) == TWO_CALLS[:1]
    assert not sys.stdin.buffer.closed
    assert not sys.stdout.buffer.closed


def test_a_stream_is_read_from_where_it_stands_and_left_open() -> None:
    stream = BytesIO(b"something else" + log(TWO_CALLS))
    stream.seek(14)
    with open_capture(stream) as capture:
        assert list(capture.records()) == TWO_CALLS
        assert capture.damage is None
        assert list(capture.records()) == TWO_CALLS
    assert not stream.closed


def test_a_pipe_is_read_once() -> None:
    capture = open_capture(Pipe(sealed(TWO_CALLS)))
    assert capture.size is None
    assert len(list(capture.records())) == len(TWO_CALLS)
    with pytest.raises(UsageError, match="only once"):
        list(capture.records())


def test_a_pipe_can_be_summed_up() -> None:
    summary = open_capture(Pipe(sealed(EVERYTHING))).summary()
    assert (summary.records, summary.calls, summary.verified) == (len(EVERYTHING), 3, True)


def test_position_runs_to_the_size() -> None:
    data = sealed(TWO_CALLS)
    capture = open_capture(BytesIO(data))
    positions = [capture.position for _ in capture.records()]
    assert positions == sorted(positions)
    assert capture.position == capture.size == len(data)


def test_a_second_pass_forgets_the_damage_of_the_first() -> None:
    stream = BytesIO(sealed(TWO_CALLS)[:-1])
    capture = open_capture(stream)
    list(capture.records())
    assert capture.damage is not None
    iterator = capture.records()
    next(iterator)
    assert capture.damage is None


@pytest.mark.parametrize("compression", ["zstd", "none"])
def test_the_compression_is_known_from_the_first_record_on(compression: str) -> None:
    capture = open_capture(BytesIO(sealed(TWO_CALLS, compression=compression)))
    assert capture.compression is None
    next(capture.records())
    assert capture.compression == compression

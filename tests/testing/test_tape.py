"""Tapes: what was written comes back, as records, text and capture."""

from __future__ import annotations

import io
from pathlib import Path

from dp2emu.capture import open_capture
from dp2emu.dp2.driver import Driver
from dp2emu.replay import replay
from dp2emu.runtime import Device9
from dp2emu.testing import Tape
from dp2emu.text import TextCapture


def recorded() -> Tape:
    tape = Tape("clear")
    device = Device9(Driver(), 4, 4, record=tape.write)
    device.clear(color=0xFF102030)
    device.read_back()
    return tape


def test_a_saved_tape_has_the_same_records(tmp_path: Path) -> None:
    tape = recorded()
    tape.save(tmp_path / "tape.dp2")
    with open_capture(str(tmp_path / "tape.dp2")) as capture:
        assert list(capture.records()) == list(tape.records())


def test_the_text_reads_back_as_the_same_records() -> None:
    tape = recorded()
    assert list(TextCapture(io.StringIO(tape.text())).records()) == list(tape.records())


def test_a_tape_is_replayed_as_recorded() -> None:
    tally = replay(recorded())
    assert (tally.calls, tally.different, tally.faults) == (1, 0, 0)


def test_records_taken_before_do_not_grow() -> None:
    tape = recorded()
    before = tape.records()
    tape.write(next(tape.records()))
    assert len(list(before)) == len(tape) - 1

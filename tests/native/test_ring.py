"""Records pass through a ring whole, or are dropped and counted, however late the reader comes."""

from __future__ import annotations

import io
import subprocess
from pathlib import Path

import pytest

from dp2emu.capture import open_capture
from dp2emu.capture.records import Annotation, Answered, Called, Record
from dp2emu.replay import replay
from tests.native.building import HERE, INCLUDES, KERNEL, STRICT, built, missing

RING = 1024
"""Bytes of the ring: of a record of a call and its answer it holds five."""
FIRST = 3
"""Records before the first call."""


def recorded(path: Path, calls: int, every: int, bits: str = "-m64") -> Path:
    """The log that the program writes, taking records after so many calls."""
    if lacks := missing(("gcc", bits)):
        pytest.skip(f"{lacks} is missing")
    options = (bits, f"-DDP2RING_BYTES={RING}u", "-fsanitize=undefined")
    sources = ("ring_driver.c", "ring_program.c")
    program = built(f"ring{bits}", sources, *options if bits == "-m64" else options[:2])
    subprocess.run([program, path, str(calls), str(every)], check=True)
    return path


def records_of(path: Path) -> list[Record]:
    with open_capture(path) as capture:
        records = list(capture.records())
        assert capture.damage is None
    return records


def lost(records: list[Record]) -> int:
    """Records that annotations call lost."""
    told = [each for each in records if isinstance(each, Annotation) and each.key == "lost"]
    return sum(int(each.text) for each in told)


@pytest.mark.parametrize("bits", ["-m32", "-m64"])
def test_a_reader_in_time_gets_every_record_round_and_round_the_ring(
    bits: str, tmp_path: Path
) -> None:
    path = recorded(tmp_path / "driver.log", 100, 3, bits)
    records = records_of(path)
    assert len(records) == FIRST + 200 and not lost(records)
    with open_capture(path) as capture:
        tally = replay(capture)
    assert (tally.calls, tally.compared, tally.different, tally.faults) == (100, 100, 0, 0)


def test_a_slow_reader_gets_whole_records_and_the_number_of_the_others(tmp_path: Path) -> None:
    records = records_of(recorded(tmp_path / "driver.log", 101, 10))
    calls = [each for each in records if isinstance(each, Called)]
    assert 0 < len(calls) < 101
    before = FIRST + 200  # the call after the last that was taken tells of those before it
    kept = [each for each in records if not isinstance(each, Annotation)]
    assert len(kept) + lost(records) == before + 2
    for at, each in enumerate(records):  # no answer without its call
        if isinstance(each, Answered):
            assert isinstance(records[at - 1], Called)
            assert each.answer.time == records[at - 1].time + 1


def test_a_reader_that_comes_late_gets_the_first_records(tmp_path: Path) -> None:
    records = records_of(recorded(tmp_path / "driver.log", 50, 1000))
    times = [each.time for each in records if isinstance(each, Called)]
    assert times == [2 * n for n in range(1, len(times) + 1)] and len(times) >= 4


@pytest.mark.parametrize("bits", ["-m32", "-m64"])
def test_the_driver_half_needs_no_library_and_no_floating_point(bits: str, tmp_path: Path) -> None:
    if lacks := missing(("gcc", bits)):
        pytest.skip(f"{lacks} is missing")
    options = (*STRICT, f"-I{INCLUDES}", f"-DDP2RING_BYTES={RING}u")
    half, program, log = (tmp_path / name for name in ("half.o", "program", "kernel.log"))
    subprocess.run(
        ["gcc", bits, *KERNEL, *options, "-c", HERE / "ring_driver.c", "-o", half], check=True
    )
    undefined = subprocess.run(["nm", "-u", half], check=True, capture_output=True, text=True)
    assert not undefined.stdout.replace("_GLOBAL_OFFSET_TABLE_", "").replace("U", "").strip()
    subprocess.run(
        ["gcc", bits, *options, half, HERE / "ring_program.c", "-o", program], check=True
    )
    subprocess.run([program, log, "20", "3"], check=True)
    assert log.read_bytes() == recorded(tmp_path / "plain.log", 20, 3, bits).read_bytes()


def test_a_log_of_a_ring_is_read_up_to_any_cut(tmp_path: Path) -> None:
    whole = recorded(tmp_path / "driver.log", 2, 1).read_bytes()
    records = records_of(tmp_path / "driver.log")
    ends = []
    for cut in range(8, len(whole)):
        with open_capture(io.BytesIO(whole[:cut]), kind="log") as capture:
            found = list(capture.records())
            assert found == records[: len(found)]
            assert capture.damage is not None
        ends.append(len(found))
    assert ends == sorted(ends) and {*ends} == {*range(len(records) + 1)}

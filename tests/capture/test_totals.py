"""The numbers of a capture."""

from __future__ import annotations

from io import BytesIO

import pytest
from msgspec.structs import astuple, replace

from dp2emu.capture import Summary, open_capture
from dp2emu.capture.payloads import encode
from dp2emu.capture.records import Record, SurfaceCreated
from dp2emu.capture.totals import Totals, _checksum, from_metadata, to_metadata
from dp2emu.errors import CaptureError
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from tests.capture.samples import CHAIN, ENTRIES, EVERYTHING, KEYS, SEEN, TEXTURES, log, sealed

TRUE = Summary(
    records=14,
    calls=3,
    answers=3,
    frames=1,
    contexts=1,
    surfaces=2,
    memory_writes=1,
    annotations=1,
    command_bytes=4,
    vertex_bytes=8,
    response_bytes=8,
    memory_bytes=15,
    first_time=1,
    last_time=2**64 - 1,
    formats=((0, 0, 1), (3, 22, 1)),
    verified=True,
)


@pytest.mark.parametrize("make", [sealed, log])
def test_every_record_is_counted(make) -> None:
    assert open_capture(BytesIO(make(EVERYTHING))).summary() == TRUE


@pytest.mark.parametrize("make", [sealed, log])
def test_textures_and_levels_are_surfaces(make) -> None:
    summary = open_capture(BytesIO(make(TEXTURES))).summary()
    assert summary.surfaces == 4
    assert summary.formats == ((1, 22, 1), (2, 22, 1), (4, 22, 1), (5, 22, 1))


def test_totals_come_back_from_metadata() -> None:
    assert from_metadata(to_metadata(TRUE)) == replace(TRUE, verified=False)


@pytest.mark.parametrize("field", [*Summary.__struct_fields__][:-1])
def test_a_changed_number_is_noticed(field: str) -> None:
    metadata = to_metadata(replace(TRUE, entries=2, pictures=1, observations=2, observed_bytes=3))
    with pytest.raises(CaptureError, match="checksum"):
        from_metadata({**metadata, field: metadata[field] + "1"})


@pytest.mark.parametrize("make", [sealed, log])
def test_what_a_program_saw_is_counted(make) -> None:
    summary = open_capture(BytesIO(make(SEEN))).summary()
    assert (summary.pictures, summary.observations, summary.observed_bytes) == (2, 2, 10)


def test_totals_from_before_there_were_observations_are_whole() -> None:
    metadata = to_metadata(TRUE)
    assert not metadata.keys() & {"pictures", "observations", "observed_bytes"}
    seen = replace(TRUE, pictures=1, observations=2, observed_bytes=3)
    assert from_metadata(to_metadata(seen)) == replace(seen, verified=False)


def test_calls_of_the_other_interface_are_counted_and_may_be_left_out() -> None:
    assert open_capture(BytesIO(sealed(ENTRIES))).summary().entries == len(ENTRIES)
    counted = replace(TRUE, entries=2, verified=False)
    assert from_metadata(to_metadata(counted)) == counted
    assert "entries" not in to_metadata(TRUE)


def test_a_capture_of_nothing_has_nothing_of_anything() -> None:
    assert Totals().summary(verified=False) == Summary()
    assert set(astuple(Summary())) == {0, ()}


def test_no_totals_are_an_error() -> None:
    with pytest.raises(CaptureError):
        from_metadata({})


@pytest.mark.parametrize(
    "wrong",
    [{"calls": None}, {"calls": "x"}, {"formats": None}, {"formats": "1:2"}, {"formats": "1:x:3"}],
)
def test_totals_that_lack_something_are_an_error(wrong: dict[str, str | None]) -> None:
    metadata = {key: text for key, text in to_metadata(TRUE).items() if key != "crc32"} | wrong
    rest = {key: text for key, text in metadata.items() if text is not None}
    with pytest.raises(CaptureError, match="totals are incomplete"):
        from_metadata({**rest, "crc32": _checksum(rest)})


def test_sorts_of_surface_do_not_pile_up() -> None:
    totals = Totals()
    for format in range(1, 1000):
        record: Record = SurfaceCreated(SurfaceDesc(1, SurfaceKind.SURFACE, 1, 1, format))
        totals.add(encode(record))
    summary = totals.summary(verified=True)
    assert len(summary.formats) == 257
    assert sum(number for _, _, number in summary.formats) == summary.surfaces == 999


@pytest.mark.parametrize("make", [sealed, log])
def test_colour_keys_are_records_and_nothing_else(make) -> None:
    summary = open_capture(BytesIO(make(KEYS))).summary()
    assert (summary.records, summary.surfaces, summary.last_time) == (3, 1, 3)


@pytest.mark.parametrize("make", [sealed, log])
def test_flips_and_locks_are_records_and_nothing_else(make) -> None:
    summary = open_capture(BytesIO(make(CHAIN))).summary()
    assert (summary.records, summary.surfaces, summary.frames) == (7, 2, 1)

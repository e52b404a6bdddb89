"""API calls of a program, read from the annotations of an import."""

from __future__ import annotations

from collections.abc import Iterator

from dp2emu.capture.api_calls import ApiCalls, origins_from, origins_text, parse_origins
from dp2emu.capture.apitrace import open_trace
from dp2emu.capture.records import (
    API_CALL,
    API_CALLS,
    IMPORTED,
    Annotation,
    Called,
    ContextCreated,
    FrameMarker,
    Pictured,
    Record,
    SurfaceCreated,
)
from dp2emu.dp2.call import Call
from dp2emu.dp2.walk import scan
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from dp2emu.replay import Watcher, replay
from dp2emu.retrace import Import
from tests.capture.apitrace.samples import REAL


def seen(*records: Record) -> ApiCalls:
    calls = ApiCalls()
    for record in records:
        calls.see(record)
    return calls


def called() -> Called:
    return Called(Call(1, 1, commands=b""))


def test_a_command_byte_comes_from_the_last_origin_before_it() -> None:
    calls = seen(Annotation(API_CALLS, "4:40 16:41"), called())
    assert [calls.at(offset) for offset in (0, 4, 15, 16, 1 << 40)] == [None, 40, 40, 41, 41]
    assert calls.number is None


def test_origins_belong_to_one_call_only() -> None:
    calls = seen(Annotation(API_CALLS, "0:40"), called(), called())
    assert calls.at(0) is None


def test_a_host_action_has_the_last_number_and_a_picture_its_own() -> None:
    note = Annotation(API_CALL, "7")
    assert seen(note, called(), FrameMarker(0)).number == 7
    assert seen(note, Pictured(9, 1, 1)).number == 9


def test_other_texts_of_these_keys_are_no_numbers() -> None:
    for text in ("", "x", "0:1  2:3", "1:-2", "\u0663:1", "0:" + "9" * 21, "0:1 "):
        assert parse_origins(text) == ()
        assert seen(Annotation(API_CALL, text), FrameMarker(0)).number is None


def test_origins_of_a_rest_of_commands_count_from_its_start() -> None:
    origins = parse_origins("16:41 0:40")
    assert origins_text(origins) == "0:40 16:41"
    assert origins_from(origins, 8) == [(0, 40), (8, 41)]
    assert origins_from(origins, 16) == [(0, 41)]


def test_every_draw_of_an_import_comes_from_a_draw_of_the_trace() -> None:
    path = next(path for path in REAL if path.stem == "sdl_testgeometry")
    with open_trace(path) as trace:
        names = {call.number: call.name for call in trace.calls()}
    calls, draws = ApiCalls(), []
    with open_trace(path) as trace:
        for record in Import(trace).records():
            calls.see(record)
            if isinstance(record, FrameMarker):
                assert names[calls.number or 0].endswith("::Present")
            if isinstance(record, Called):
                draws += [calls.at(start) for start in draw_offsets(record.call)]
    assert draws
    assert all("::Draw" in names[number or 0] for number in draws)


def draw_offsets(call: Call) -> list[int]:
    commands = call.commands or b""
    found = scan(commands, 0, len(commands)).commands
    return [offset for offset, token, *_ in found if token.op.name.startswith("DRAW")]


def test_a_fault_in_a_token_names_the_api_call_that_wrote_it() -> None:
    records = [
        Annotation(IMPORTED, "game.trace"),
        SurfaceCreated(SurfaceDesc(1, SurfaceKind.MEMORY, 64)),
        ContextCreated(1),
        Annotation(API_CALLS, "0:40 8:41"),
        Called(Call(1, 1, dwCommandLength=12, commands=bytes([8, 0, 0, 0] * 2 + [255, 0, 0, 0]))),
    ]
    faults: list[str] = []
    replay(Listed(records), watcher=Watcher(fault=lambda error: faults.append(str(error))))
    assert len(faults) == 1
    assert faults[0].endswith("(in API call 41)")


class Listed:
    name, damage = "listed", None

    def __init__(self, records: list[Record]) -> None:
        self._records = records

    def records(self) -> Iterator[Record]:
        return iter(self._records)

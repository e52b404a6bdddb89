"""Draws and dispatches of Direct3D 10/11 that do nothing are events, with the reason."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from dp2emu.capture.records import EntryCalled
from dp2emu.ddi10.resources.resource import BindFlag
from dp2emu.errors import Dp2Error
from dp2emu.explain.address import parse_address
from dp2emu.explain.events import Event, EventKind
from dp2emu.explain.inspector import Inspector
from dp2emu.explain.pixel_history import Pixel, history_of
from dp2emu.explain.pixel_text import lines_of
from dp2emu.explain.playback import events_of
from dp2emu.replay import Watcher
from dp2emu.replay.player import Recording
from tests.cli.running import dp2emu
from tests.replay.authoring import capture_of, sealed
from tests.replay.test_resources import RGBA8, SIZE, Program

Calls = Callable[[Program], object]


def with_call(calls: Calls) -> Program:
    """A program that clears, draws, makes ``calls`` and clears again before it flushes."""
    program = Program()
    target = program.device.create_texture2d(RGBA8, (SIZE, SIZE), int(BindFlag.RENDER_TARGET))
    view = program.target(target)
    program.clear(view, 1, 0, 0, 1)
    program.draws(target)
    calls(program)
    program.clear(view, 0, 1, 0, 1)
    program.shows(7, target)
    return program


def call(name: str, *arguments: object) -> Calls:
    return lambda program: program.device.call(name, *arguments)


def without(setter: str, value: object, *draw: object) -> Calls:
    def calls(program: Program) -> None:
        program.device.call(setter, value)
        program.device.call(*draw)

    return calls


def unbound_auto(program: Program) -> None:
    program.device.call("IaSetVertexBuffers", 0, [None], [0], [0])
    program.device.call("DrawAuto")


CASES: dict[str, tuple[Calls, EventKind, str]] = {
    "topology": (
        without("IaSetTopology", 0, "Draw", 4, 0), EventKind.DRAW, "no primitive topology is set",
    ),
    "shader": (
        without("VsSetShader", None, "Draw", 4, 0), EventKind.DRAW, "no vertex shader is set",
    ),
    "indices": (call("DrawIndexed", 4, 0, 0), EventKind.DRAW, "no index buffer is set"),
    "vertices": (
        call("Draw", 2, 0), EventKind.DRAW, "there are too few vertices for a primitive",
    ),
    "instances": (
        call("DrawInstanced", 4, 0, 0, 0), EventKind.DRAW, "there are no instances",
    ),
    "stream output": (
        unbound_auto, EventKind.DRAW, "no vertices of stream output are bound",
    ),
    "compute shader": (
        call("Dispatch", 1, 1, 1), EventKind.DISPATCH, "no compute shader is set",
    ),
}  # fmt: skip
KINDS = [EventKind.CLEAR, EventKind.DRAW, EventKind.CLEAR]


def drawn(capture: Recording) -> list[Event]:
    """The events of the GPU, and those that would be."""
    kinds = {EventKind.CLEAR, EventKind.DRAW, EventKind.DISPATCH}
    return [event for event in events_of(capture) if event.kind in kinds]


@pytest.mark.parametrize("name", CASES)
def test_a_draw_that_does_nothing_is_an_event_in_its_place(name: str) -> None:
    calls, kind, reason = CASES[name]
    *before, idle, clear = drawn(capture_of(*with_call(calls).records))
    assert [event.kind for event in (*before, clear)] == KINDS
    assert (idle.kind, idle.text, idle.primitives) == (kind, reason, 0)
    assert idle.targets == (before[-1].targets if kind is EventKind.DRAW else ())
    assert before[-1].call < idle.call < clear.call


def test_draws_that_do_nothing_keep_their_order() -> None:
    def calls(program: Program) -> None:
        for vertices in (2, 4, 1, 0, 4):
            program.device.call("Draw", vertices, 0)

    events = drawn(capture_of(*with_call(calls).records))
    assert [event.primitives for event in events] == [0, 2, 0, 2, 0, 0, 2, 0]
    assert [event.number for event in events] == sorted(event.number for event in events)
    places = [event.call for event in events]
    assert places == sorted(places)


def test_a_refused_draw_is_a_fault_and_no_event() -> None:
    program = with_call(call("Draw", 4, 0))
    allowed = len(drawn(capture_of(*program.records)))
    records = [
        replace(each, arguments=(-1, 0))
        if isinstance(each, EntryCalled) and each.entry == "Draw" else each
        for each in program.records
    ]  # fmt: skip
    faults: list[Dp2Error] = []
    events = events_of(capture_of(*records), watcher=Watcher(fault=faults.append))
    assert len(faults) == 2 and allowed == 4
    assert not [event for event in events if event.kind is EventKind.DRAW]


def test_an_inspector_stops_at_a_draw_that_does_nothing() -> None:
    capture = capture_of(*with_call(call("Draw", 2, 0)).records)
    events = events_of(capture)
    with Inspector(capture) as inspector:
        assert [inspector.step() for _ in events] == events
        assert inspector.step() is None
        for event in reversed(events[:-1]):
            assert inspector.back() == event


def test_a_history_of_a_pixel_has_the_draws_to_its_target_that_do_nothing() -> None:
    capture = capture_of(*with_call(call("Draw", 2, 0)).records)
    idle, clear = drawn(capture)[-2:]
    history = history_of(capture, Pixel(1, 1, at=parse_address(idle.address)))
    reason = "there are too few vertices for a primitive"
    assert list(history.idle) == [idle] and idle not in {each.event for each in history.entries}
    assert history.document()["idle"] == [{
        "event": idle.address, "call": idle.call, "token": None, "api_call": idle.api_call,
        "kind": "draw", "name": "Draw", "frame": 0, "reason": reason,
    }]  # fmt: skip
    *_, head, told, value = lines_of(history)
    assert head.startswith(f"{idle.address}  frame 0  {idle.call}") and value[:6] == "value:"
    assert told == f"    does nothing: {reason}"
    later = history_of(capture, Pixel(1, 1))
    addresses = [line.split()[0] for line in lines_of(later)]
    assert addresses.index(idle.address) < addresses.index(clear.address)
    earlier = Pixel(1, 1, at=parse_address(f"E{idle.number - 1}"))
    assert history_of(capture, earlier).idle == ()


@pytest.mark.parametrize("verb", [
    ("mesh",), ("overlay", "--depth", "-o", "x.png"), ("debug", "vertex", 0, "--all"),
], ids=lambda verb: verb[0])  # fmt: skip
def test_a_verb_tells_why_there_is_nothing_to_see(
    verb: tuple[object, ...], tmp_path: Path
) -> None:
    path = tmp_path / "a.dp2"
    path.write_bytes(sealed(*with_call(call("Draw", 2, 0)).records))
    (event,) = (each for each in events_of(capture_of(*with_call(call("Draw", 2, 0)).records))
                if each.text)  # fmt: skip
    ran = dp2emu(verb[0], path, event.address, *verb[1:])
    assert ran.code == 2 and ran.err == (
        f"dp2emu: {path}: {event.address}: Draw does nothing: "
        "there are too few vertices for a primitive\n"
    )

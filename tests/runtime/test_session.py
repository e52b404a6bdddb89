"""Sessions: what is submitted, how answers are drained, what a recorder hears."""

from __future__ import annotations

import pytest

from dp2emu.capture.records import (
    Annotation,
    Answered,
    Called,
    ColorKeyRemoved,
    ColorKeySet,
    ContextCreated,
    ContextDestroyed,
    Flipped,
    FrameMarker,
    Locked,
    MemoryWritten,
    Observed,
    Pictured,
    PictureKind,
    Record,
    SurfaceCreated,
    SurfaceDestroyed,
)
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import Format
from dp2emu.d3d.flags import Dp2Flags, Usage
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.driver import Driver
from dp2emu.errors import Fault, ResponseError
from dp2emu.gpu.resource.heap import SurfaceKind
from dp2emu.runtime import Session, UserMemory

from .rigs import MORE, ScriptedRig, answer, block


class Waiting:
    """Waits for ``number`` answers of four bytes each."""

    data_size = 4

    def __init__(self, number: int) -> None:
        self.number = number
        self.heard: list[bytes] = []

    def deliver(self, data: bytes) -> bool:
        self.heard.append(data)
        return len(self.heard) <= self.number


def test_commands_travel_with_their_length_and_surface() -> None:
    rig = ScriptedRig()
    session = Session(rig, command_bytes=64)
    session.emit(Op.ZRANGE, [(0.0, 1.0)])
    session.flush()
    (call,) = rig.calls
    assert (call.dwCommandLength, call.dwCommandOffset) == (12, 0)
    assert rig.surfaces[call.lpDDCommands].width == 64
    assert call.commands is not None
    assert len(call.commands) == 12


def test_user_memory_travels_with_its_call_alone() -> None:
    rig = ScriptedRig()
    session = Session(rig)
    session.emit(Op.SETSTREAMSOURCEUM, [(0, 20)])
    session.submit_with(UserMemory(bytes(60), 20))
    session.poll()
    assert rig.calls[0].dwFlags & Dp2Flags.USERMEMVERTICES
    assert rig.calls[0].vertices == bytes(60)
    assert (rig.calls[0].dwVertexSize, rig.calls[0].dwVertexLength) == (20, 3)
    assert rig.calls[1].vertices is None


def test_poll_makes_an_empty_call_when_nothing_waits() -> None:
    rig = ScriptedRig()
    Session(rig).poll()
    assert [call.dwCommandLength for call in rig.calls] == [0]


def test_a_continue_is_answered_with_empty_buffers_until_drained() -> None:
    first, second, last = (block((1, text)) for text in (b"AAAA", b"BBBB", b"CCCC"))
    rig = ScriptedRig([answer(first + MORE), answer(second + MORE), answer(last)])
    session = Session(rig)
    waiting = Waiting(3)
    session.register(waiting)
    session.emit(Op.ZRANGE, [(0.0, 1.0)])
    session.flush()
    assert waiting.heard == [b"AAAA", b"BBBB", b"CCCC"]
    assert [call.dwCommandLength for call in rig.calls] == [12, 0, 0]


def test_a_continue_that_brings_nothing_does_not_make_a_loop() -> None:
    rig = ScriptedRig([answer(MORE)] * 10)
    Session(rig).poll()
    assert len(rig.calls) == 1


def test_a_driver_that_repeats_itself_for_ever_does_not_make_a_loop() -> None:
    rig = ScriptedRig([answer(block((1, b"AAAA")) + MORE)] * 100)
    session = Session(rig)
    session.register(Waiting(2))
    session.poll()
    assert len(rig.calls) == 3


def test_an_answer_to_an_unknown_query_is_an_error_with_its_call() -> None:
    rig = ScriptedRig([answer(), answer(block((7, b"AAAA")))])
    session = Session(rig)
    session.poll()
    with pytest.raises(ResponseError, match="call 1, offset 0x8: no query 7"):
        session.poll()


def test_dw_error_offset_must_be_the_size_of_the_responses() -> None:
    rig = ScriptedRig([answer(b"", offset=20)])
    with pytest.raises(ResponseError, match="dwErrorOffset 20, 0 bytes written"):
        Session(rig).poll()


def test_a_failed_call_is_a_fault_with_call_and_offset() -> None:
    rig = ScriptedRig([answer(), answer(ddrval=HResult.D3DERR_COMMAND_UNPARSED, offset=8)])
    session = Session(rig)
    session.poll()
    with pytest.raises(Fault, match="D3DERR_COMMAND_UNPARSED") as caught:
        session.poll()
    assert caught.value.hr == HResult.D3DERR_COMMAND_UNPARSED
    assert (caught.value.call, caught.value.offset) == (1, 8)


def test_a_positive_ddrval_is_a_failure_too() -> None:
    """D3DHAL_CONTEXT_BAD is no HRESULT by its sign (wire format, "Results")."""
    with pytest.raises(Fault, match="no context 1"):
        Session(Driver()).poll()


def test_commands_of_a_failed_call_are_not_sent_again() -> None:
    rig = ScriptedRig([answer(ddrval=HResult.DDERR_GENERIC)])
    session = Session(rig)
    session.emit(Op.ZRANGE, [(0.0, 1.0)])
    with pytest.raises(Fault):
        session.flush()
    session.flush()
    assert len(rig.calls) == 1


def test_a_host_write_goes_behind_the_commands_before_it() -> None:
    told: list[Record] = []
    session = Session(ScriptedRig(), record=told.append)
    buffer = session.create_surface(SurfaceKind.VERTEXBUFFER, 16)
    session.emit(Op.ZRANGE, [(0.0, 1.0)])
    session.write(buffer.handle, 4, b"data")
    assert [type(record) for record in told[-3:]] == [Called, Answered, MemoryWritten]


def test_a_colour_key_goes_behind_the_commands_before_it() -> None:
    told: list[Record] = []
    rig = ScriptedRig()
    session = Session(rig, record=told.append)
    texture = session.create_surface(SurfaceKind.TEXTURE, 4, 4, 22).handle
    session.emit(Op.ZRANGE, [(0.0, 1.0)])
    session.set_color_key(texture, (1, 2))
    session.set_color_key(texture, None)
    assert told[-2:] == [ColorKeySet(texture, 1, 2), ColorKeyRemoved(texture)]
    assert [type(record) for record in told[-4:-2]] == [Called, Answered]
    assert rig.events == [f"colour key {texture} (1, 2)", f"colour key {texture} None"]


def test_flips_and_locks_go_behind_the_commands_before_them() -> None:
    told: list[Record] = []
    rig = ScriptedRig()
    session = Session(rig, record=told.append)
    session.emit(Op.ZRANGE, [(0.0, 1.0)])
    session.flip(1, 2)
    session.emit(Op.ZRANGE, [(0.0, 1.0)])
    session.lock(2)
    kinds = [type(record) for record in told[-6:]]
    assert kinds == [Called, Answered, Flipped, Called, Answered, Locked]
    assert rig.events == ["flip 1 2", "lock 2"]


def test_a_recorder_hears_everything_in_order() -> None:
    told: list[Record] = []
    session = Session(Driver(), record=told.append)
    session.annotate("title", "a life")
    surface = session.create_surface(SurfaceKind.SURFACE, 4, 4, 22)
    session.open(surface.handle)
    session.emit(Op.ZRANGE, [(0.0, 1.0)])
    session.mark_frame(surface.handle)
    session.close()
    session.destroy_surface(surface.handle)
    assert [type(record) for record in told] == [
        SurfaceCreated, Annotation, SurfaceCreated, ContextCreated, Called, Answered,
        FrameMarker, ContextDestroyed, SurfaceDestroyed,
    ]  # fmt: skip


def test_position_names_the_call_and_byte_of_the_next_token() -> None:
    session = Session(ScriptedRig())
    assert session.position == (0, 0)
    session.emit(Op.ZRANGE, [(0.0, 1.0)])
    assert session.position == (0, 12)
    session.flush()
    assert session.position == (1, 0)


def test_what_the_application_sees_is_told_behind_everything_before_it() -> None:
    told: list[Record] = []
    session = Session(Driver(), record=told.append)
    target = session.create_surface(SurfaceKind.SURFACE, 4, 4, Format.X8R8G8B8).handle
    session.open(target)
    session.emit(Op.RENDERSTATE, [(7, 0)])
    session.picture(12, PictureKind.TARGET_DATA, target, 0, b"rows")
    session.observe(13, 5, 1)
    seen = [Pictured(12, 2, target, 0, b"rows"), Observed(13, session.context, 5, 1)]
    assert [type(record) for record in told[-4:-2]] == [Called, Answered]
    assert told[-2:] == seen


def test_without_answers_what_is_behind_a_refused_token_is_submitted_again() -> None:
    records: list[Record] = []
    driver = Driver()
    session = Session(driver, record=records.append, answers=False)
    target = session.create_surface(
        SurfaceKind.SURFACE, 4, 4, Format.A8R8G8B8, usage=Usage.RENDERTARGET
    )
    session.open(target.handle)
    for color in (1, 2):
        session.emit(Op.SETRENDERTARGET2, [(99, 1)])
        session.emit(Op.CLEAR, [(0, 0, 4, 4)], head=(1, color, 1.0, 0))
    with pytest.raises(Fault, match="render target 99; 1 more tokens are refused"):
        session.flush()
    assert session.read(target.handle, 0, 4) == b"\2\0\0\0"
    sizes = [len(r.call.commands or b"") for r in records if isinstance(r, Called)]
    assert sizes == [96, 84, 36]

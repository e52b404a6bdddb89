"""Bare command buffers: one call, and the options fill in the rest."""

from __future__ import annotations

import struct
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.capture import BareOptions, open_capture
from dp2emu.capture.records import Called, ContextCreated, FrameMarker, Record, SurfaceCreated
from dp2emu.d3d.enums import Format
from dp2emu.dp2.call import Call
from dp2emu.dp2.driver import Driver
from dp2emu.errors import UsageError
from dp2emu.limits import Limits
from tests.capture.samples import Pipe
from tests.refusals import refuses

XYZRHW_DIFFUSE = 0x44
CLEAR_RED = struct.pack("<BBHIIfI4i", 42, 0, 1, 1, 0xFFFF0000, 1.0, 0, 0, 0, 8, 8)


def read(commands: bytes, **options: object) -> list[Record]:
    capture = open_capture(BytesIO(commands), kind="bare", bare=BareOptions(**options))
    records = list(capture.records())
    assert capture.damage is None
    return records


def call_of(records: list[Record]) -> Call:
    (record,) = [record for record in records if isinstance(record, Called)]
    return record.call


@given(st.binary(max_size=50))
def test_any_bytes_are_one_call(commands: bytes) -> None:
    call = call_of(read(commands))
    assert call.commands == commands
    assert call.dwCommandLength == len(commands)


def test_surfaces_come_before_the_context_and_the_frame_after_the_call() -> None:
    kinds = [type(record) for record in read(b"", depth=Format.D24S8)]
    assert kinds == [*[SurfaceCreated] * 3, ContextCreated, Called, FrameMarker]


def test_the_target_is_as_the_options_say() -> None:
    records = read(b"", width=8, height=4, format=Format.R5G6B5, interface=7)
    target, context = records[0], records[2]
    assert isinstance(target, SurfaceCreated)
    assert (target.desc.width, target.desc.height) == (8, 4)
    assert target.desc.format == Format.R5G6B5
    assert isinstance(context, ContextCreated)
    assert (context.interface, context.color, context.depth) == (7, target.desc.handle, 0)


def test_vertices_are_user_memory_counted_by_their_fvf() -> None:
    call = call_of(read(b"", fvf=XYZRHW_DIFFUSE, vertices=bytes(61)))
    assert (call.dwVertexType, call.dwVertexLength, call.dwFlags) == (XYZRHW_DIFFUSE, 3, 1)
    assert call.vertices == bytes(61)


def test_a_vertex_size_wins_over_the_fvf() -> None:
    call = call_of(read(b"", fvf=XYZRHW_DIFFUSE, vertices=bytes(64), vertex_size=32))
    assert (call.dwVertexLength, call.dwVertexSize) == (2, 32)


def test_vertices_of_unknown_size_are_a_usage_error() -> None:
    with pytest.raises(UsageError, match="FVF"):
        read(b"", vertices=bytes(4))


def test_the_command_buffer_has_room_for_answers() -> None:
    buffer = read(b"", capacity=100)[1]
    assert isinstance(buffer, SurfaceCreated)
    assert buffer.desc.width == 100


def test_a_buffer_over_the_limit_is_damage() -> None:
    capture = open_capture(BytesIO(bytes(11)), kind="bare", limits=Limits(record_bytes=10))
    assert list(capture.records()) == []
    assert refuses(capture.damage, "record_bytes", 10)


def test_a_bare_buffer_is_read_only_when_asked_for() -> None:
    capture = open_capture(Pipe(b"\x89DP2LOG1"), kind="bare")
    assert capture.kind == "bare"
    assert call_of(list(capture.records())).commands == b"\x89DP2LOG1"


def test_the_driver_takes_what_a_bare_buffer_becomes() -> None:
    driver = Driver()
    for record in read(CLEAR_RED, width=8, height=8):
        if isinstance(record, SurfaceCreated):
            driver.create_surface(record.desc)
        elif isinstance(record, ContextCreated):
            driver.create_context(record.context, color=record.color, depth=record.depth)
        elif isinstance(record, Called):
            assert driver.submit(record.call).ddrval == 0
    driver.finish()
    assert driver.read(1, 0, 4) == struct.pack("<I", 0xFFFF0000)

"""Streams as draws get them."""

from __future__ import annotations

import pytest

from dp2emu.d3d.enums import Format
from dp2emu.dp2.resolve.vertices import ROOM, CallVertices, VertexStreams
from dp2emu.errors import Fault
from dp2emu.gpu.command.packets import Stream
from dp2emu.gpu.resource.heap import Heap, Surface, SurfaceDesc, SurfaceKind

CALL = CallVertices(b"abcdefgh", 4, 1, 4)


@pytest.fixture
def buffer() -> Surface:
    return Heap().create(SurfaceDesc(1, SurfaceKind.VERTEXBUFFER, 64, 1, Format.UNKNOWN))


def test_streams_are_the_same_objects_until_one_is_bound(buffer: Surface) -> None:
    streams = VertexStreams()
    streams.bind(0, buffer, 8, 4)
    streams.bind(3, buffer, 0, 12)
    found = streams.of_call(CALL, 0)
    assert streams.of_call(CALL, 0) is found
    streams.bind(3, buffer, 4, 12)
    other = streams.of_call(CALL, 0)
    assert other[0] is found[0]
    assert other[3] is not None and other[3].offset == 4
    streams.bind(3, None, 0, 0)
    assert streams.of_call(CALL, 0)[3] is None


def test_a_stream_that_is_bound_again_is_the_same_object(buffer: Surface) -> None:
    streams = VertexStreams()
    found = []
    for offset in (8, 16, 8):
        streams.bind(0, buffer, offset, 4)
        found.append(streams.of_call(CALL, 0)[0])
    assert found[0] is found[2] is not found[1]


def test_streams_of_a_buffer_that_goes_are_forgotten(buffer: Surface) -> None:
    streams = VertexStreams()
    streams.bind(0, buffer, 8, 4)
    found = streams.of_call(CALL, 0)[0]
    streams.forget(buffer)
    assert streams.of_call(CALL, 0)[0] is found
    streams.bind(0, buffer, 8, 4)
    assert streams.of_call(CALL, 0)[0] is not found


def test_no_more_streams_are_known_than_there_is_room_for(buffer: Surface) -> None:
    streams = VertexStreams()
    streams.bind(0, buffer, 0, 4)
    first = streams.of_call(CALL, 0)[0]
    for offset in range(1, ROOM + 1):
        streams.bind(0, buffer, offset, 4)
    streams.bind(0, buffer, 0, 4)
    assert streams.of_call(CALL, 0)[0] is not first


def test_an_offset_moves_stream_0_of_one_draw(buffer: Surface) -> None:
    streams = VertexStreams()
    streams.bind(0, buffer, 8, 4)
    streams.bind(1, buffer, 8, 4)
    plain = streams.of_call(CALL, 0)
    moved = streams.of_call(CALL, 16)
    assert _offsets(moved) == [24, 8]
    assert _offsets(plain) == _offsets(streams.of_call(CALL, 0)) == [8, 8]


def test_draws_of_a_call_share_a_stream() -> None:
    call = CallVertices(b"abcdefgh", 4, 1, 4)
    assert call.stream(1) is call.stream(0)
    assert (call.stream(1).offset, call.stream(1).stride) == (4, 4)
    with pytest.raises(Fault):
        call.stream(2)


def test_user_memory_is_that_of_each_call() -> None:
    streams = VertexStreams()
    streams.bind_user_memory(0, 4)
    first = streams.of_call(CALL, 0)[0]
    second = streams.of_call(CallVertices(b"ijkl", 0, 1, 4), 0)[0]
    assert first is not None and (first.data, first.offset) == (b"abcdefgh", 4)
    assert second is not None and (second.data, second.offset) == (b"ijkl", 0)


def test_a_stream_that_was_user_memory_is_a_buffer_again(buffer: Surface) -> None:
    streams = VertexStreams()
    streams.bind_user_memory(0, 4)
    streams.of_call(CALL, 0)
    streams.bind(0, buffer, 0, 4)
    (found, *_) = streams.of_call(CALL, 0)
    assert isinstance(found, Stream) and found.data is buffer
    streams.bind_user_memory(0, 4)
    (found, *_) = streams.of_call(CALL, 0)
    assert isinstance(found, Stream) and found.data == b"abcdefgh"


def test_without_streams_there_is_no_draw() -> None:
    with pytest.raises(Fault, match="draw without streams"):
        VertexStreams().of_call(CALL, 0)


def test_draws_that_read_no_vertices_need_no_stream() -> None:
    assert not any(VertexStreams().of_call(CALL, 0, read=False))
    ((*streams,),) = VertexStreams().instances(CALL, 4, first=3, read=False)
    assert not any(streams)


def test_any_stream_will_do(buffer: Surface) -> None:
    streams = VertexStreams()
    streams.bind(3, buffer, 4, 4)
    assert [n for n, each in enumerate(streams.of_call(CALL, 0)) if each is not None] == [3]


def _offsets(streams: tuple[Stream | None, ...]) -> list[int]:
    return [stream.offset for stream in streams if stream is not None]

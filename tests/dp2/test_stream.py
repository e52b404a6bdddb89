"""Command bytes apart from their surface."""

from __future__ import annotations

import struct

import pytest

from dp2emu.d3d.dp2structs import Op
from dp2emu.dp2.call import Call
from dp2emu.dp2.stream import CommandStream
from dp2emu.errors import Fault

EVENT = struct.pack("<BBHII", Op.CREATEQUERY, 0, 1, 1, 8)


def stream(data: bytes, offset: int = 0, **members: int) -> CommandStream:
    return CommandStream(Call(1, 2, offset, len(data), **members), data)


@pytest.mark.parametrize("offset", [0, 1, 2, 3, 4, 99])
def test_offsets_are_from_the_start_of_the_surface(offset: int) -> None:
    found = stream(EVENT * 2 + b"\xff\0\0\0", offset)
    (scan,) = found.scans()
    assert [command[0] for command in scan.commands] == [offset, offset + 12]
    assert [found.payload(*command[3:]) for command in scan.commands] == [EVENT[4:]] * 2
    assert scan.problem is not None
    assert scan.problem.offset == scan.stop == offset + 24


@pytest.mark.parametrize("offset", [0, 5])
def test_a_stream_without_a_problem_has_none_wherever_it_is(offset: int) -> None:
    (scan,) = stream(EVENT, offset).scans()
    assert (scan.stop, scan.problem) == (offset + 12, None)


def test_inline_vertices_are_aligned_as_in_the_surface() -> None:
    lines = struct.pack("<BBH", Op.LINELIST_IMM, 0, 1) + bytes(2 + 2 * 16)
    (scan,) = stream(lines, 2, dwVertexSize=16).scans()
    assert scan.problem is None


def test_many_tokens_come_in_stretches() -> None:
    scans = list(stream(EVENT * 10_000).scans())
    assert len(scans) > 2
    assert sum(len(scan.commands) for scan in scans) == 10_000
    assert scans[-1].stop == 120_000


def test_only_the_length_of_the_call_counts() -> None:
    call = Call(1, 2, 0, len(EVENT))
    (scan,) = CommandStream(call, EVENT * 3).scans()
    assert len(scan.commands) == 1


def test_bad_vertex_format_is_a_fault() -> None:
    with pytest.raises(Fault):
        list(stream(EVENT, dwVertexType=0xF04).scans())

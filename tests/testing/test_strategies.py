"""Strategies give what the wire takes, and failing examples are small and readable."""

from __future__ import annotations

import struct

import pytest
from hypothesis import find, given
from hypothesis import strategies as st

from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.fvf import DIFFUSE, NORMAL, XYZ, XYZRHW, fvf_size
from dp2emu.dp2.table import TABLE
from dp2emu.dp2.walk import scan
from dp2emu.testing import Setup
from dp2emu.testing.strategies import (
    OPS,
    Commands,
    command_buffers,
    device_states,
    query_commands,
    stage_states,
    tokens,
    vertices,
)


@given(data=command_buffers())
def test_command_buffers_are_walked_to_their_end(data: Commands) -> None:
    found = scan(memoryview(data), 0, len(data), 32)
    assert (found.problem, found.stop) == (None, len(data))


@given(data=command_buffers(start=16, ops=[Op.TRIANGLEFAN_IMM], vertex_size=20))
def test_immediate_vertices_are_aligned_from_where_the_buffer_starts(data: Commands) -> None:
    found = scan(memoryview(bytes(16) + data), 16, 16 + len(data), 20)
    assert (found.problem, found.stop) == (None, 16 + len(data))


@given(data=st.data())
def test_a_token_is_one_of_those_asked_for(data: st.DataObject) -> None:
    op = data.draw(st.sampled_from(OPS))
    token = data.draw(tokens(ops=[op]))
    found = scan(memoryview(token), 0, len(token), 32)
    assert [command[1] for command in found.commands] == [TABLE[op]]


@given(data=query_commands())
def test_no_driver_refuses_query_commands(data: Commands) -> None:
    with Setup(engine="reference").bench() as bench:
        assert bench.submit(data).ddrval == 0


@given(data=device_states())
def test_no_driver_refuses_device_states(data: Commands) -> None:
    with Setup(engine="reference").bench() as bench:
        assert bench.submit(data).ddrval == 0


@given(data=stage_states(stages=3))
def test_stage_states_are_of_stages_asked_for_and_bind_nothing(data: Commands) -> None:
    op, _, count, stage, state, _ = struct.unpack("<BBHHHI", data)
    assert (op, count) == (Op.TEXTURESTAGESTATE, 1)
    assert stage < 3 and state != 0


@pytest.mark.parametrize("name", ["COLOROP", "ADDRESSU", "MAGFILTER", "BUMPENVMAT00"])
def test_stages_and_samplers_are_both_among_device_states(name: str) -> None:
    assert f"D3DTSS_{name}" in repr(
        find(device_states(), lambda data: f"D3DTSS_{name}" in repr(data))
    )


@pytest.mark.parametrize("fvf", [XYZRHW | DIFFUSE, XYZ | NORMAL, XYZ | DIFFUSE | 0x200])
def test_vertices_have_the_size_of_their_format(fvf: int) -> None:
    @given(data=vertices(fvf, count=4))
    def check(data: bytes) -> None:
        assert len(data) == 4 * fvf_size(fvf)

    check()


@given(data=vertices(count=2, across=8))
def test_transformed_positions_are_on_and_about_the_target(data: bytes) -> None:
    for x, y, z, rhw, _ in struct.iter_unpack("<4fI", data):
        assert all(-8 <= value <= 16 for value in (x, y))
        assert 0 <= z <= 1
        assert rhw > 0


def test_examples_shrink_to_text_with_nothing_to_spare() -> None:
    smallest = find(command_buffers(), lambda data: b"\x5b" in data[:1])
    assert repr(smallest).splitlines()[0] == "ISSUEQUERY"
    assert len(smallest) <= 12


def test_the_empty_buffer_reads_as_text_too() -> None:
    assert repr(Commands()) == "(no commands)"
    assert repr(find(vertices(count=1), lambda data: True)).startswith("FVF 0x44: ")

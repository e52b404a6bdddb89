"""Stream frequencies: which element of a stream a vertex of an instance reads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import DeclType, DeclUsage
from dp2emu.d3d.flags import Frequency
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.vertices import Element
from dp2emu.dp2 import context
from dp2emu.dp2.resolve.vertices import INSTANCES_MAX, check_frequency, instances
from dp2emu.dp2.states.inspect import facts_of
from dp2emu.errors import Fault
from dp2emu.gpu.command.packets import Stream
from dp2emu.gpu.input_assembler.vertex_fetch import decode
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from tests.dp2.rigging import Bench, token

INDEXED, INSTANCED = 0x40000000, 0x80000000
NUMBERS = np.arange(64, dtype="<f4").tobytes()
SET = 95
BAD = HResult.D3DERR_DRIVERINVALIDCALL


def elements(
    value: int, *, first: int | None = None, count: int = 5, stream: int = 1
) -> list[float]:
    """Elements that seven vertices from ``first`` of each of ``count`` instances read."""
    streams = tuple(Stream(NUMBERS, 4, 4) for _ in range(2))
    frequencies = {stream: Frequency.of(value), 0: Frequency.of(INDEXED | count)}
    element = Element(stream, 0, DeclType.FLOAT1, DeclUsage.TEXCOORD)
    numbers = np.arange(7) + (first or 0)
    found = [decode(element, each, numbers)[0] for each in instances(
        streams, frequencies, first=first)]  # fmt: skip
    return np.concatenate(found).tolist()


@given(st.integers(1, 9), st.integers(0, 30))
def test_a_divider_advances_a_stream_with_the_vertices(number: int, first: int) -> None:
    # Start and vertex are divided each by itself (DDI, Modifying Vertex Stream Frequency).
    once = [1.0 + first // number + vertex // number for vertex in range(7)]
    assert elements(number, first=first) == once


@given(st.integers(1, 9))
def test_indexed_draws_ignore_dividers(number: int) -> None:
    assert elements(number) == [*range(1, 8)] * 5


@given(st.integers(1, 9))
def test_an_instance_stream_advances_with_the_instances(number: int) -> None:
    wanted = [1.0 + instance // number for instance in range(5) for _ in range(7)]
    assert elements(INSTANCED | number) == wanted
    assert elements(INSTANCED | number, first=0) == [1.0] * 7


def test_the_first_stream_has_its_elements_again_in_each_instance() -> None:
    assert elements(INDEXED | 5, stream=0) == [*range(1, 8)] * 5


def test_without_a_number_of_instances_there_is_one() -> None:
    streams = (Stream(NUMBERS, 0, 4), None)
    assert list(instances(streams, {}, first=None)) == [streams]
    second = {1: Frequency.of(INSTANCED | 3), 2: Frequency.of(INDEXED | 7)}
    assert list(instances(streams, second, first=None)) == [streams]
    assert len(list(instances(streams, {0: Frequency.of(3)}, first=None))) == 1


def test_a_flag_alone_is_a_number_of_one() -> None:
    assert check_frequency(3, INDEXED) == Frequency.of(INDEXED | 1)
    assert check_frequency(3, INSTANCED) == Frequency.of(INSTANCED | 1)


@pytest.mark.parametrize(
    ("stream", "value"),
    [(0, 0), (3, 0), (0, INSTANCED | 1), (0, INSTANCED), (3, INDEXED | INSTANCED | 1)],
)
def test_frequencies_without_a_meaning_are_refused(stream: int, value: int) -> None:
    with pytest.raises(Fault, match="frequency"):
        check_frequency(stream, value)
    bad = Bench().call(token(SET, stream, value))
    assert (bad.ddrval, bad.dwErrorOffset) == (BAD, 0)


def test_a_draw_has_a_limited_number_of_instances() -> None:
    most = {0: Frequency.of(INDEXED | INSTANCES_MAX)}
    assert sum(1 for _ in instances((), most, first=None)) == INSTANCES_MAX
    with pytest.raises(Fault, match="16385 instances"):
        next(instances((), {0: Frequency.of(INDEXED | INSTANCES_MAX + 1)}, first=None))


def test_instances_of_a_draw_have_a_limited_number_of_primitives_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench = Bench()
    bench.driver.create_surface(SurfaceDesc(9, SurfaceKind.INDEXBUFFER, 64))
    bound = token(Op.SETINDICES, 9, 2) + token(Op.SETVERTEXSHADER, 0x4)
    bound += token(Op.SETSTREAMSOURCE, 0, 9, 0) + token(SET, 0, INDEXED | INSTANCES_MAX)
    refused = bench.call(bound + token(Op.DRAWINDEXEDPRIMITIVE, 4, 0, 0, 1, 0, 0xFFFFF))
    assert (refused.ddrval, refused.dwErrorOffset) == (BAD, len(bound))
    monkeypatch.setattr(context, "MAX_INSTANCED", 30)
    for number, ddrval in ((10, 0), (11, BAD)):
        draw = token(SET, 0, INDEXED | number) + token(Op.DRAWINDEXEDPRIMITIVE, 4, 0, 0, 1, 0, 3)
        assert bench.call(draw).ddrval == ddrval


def test_frequencies_can_be_looked_at_and_set_again() -> None:
    bench = Bench()
    bench.ok(token(SET, 0, INDEXED | 3) + token(SET, 4, 9) + token(SET, 0, 1))
    assert bench.call(token(SET, 16, 1)).ddrval == HResult.DDERR_INVALIDPARAMS
    found = bench.driver.context(1)
    assert found is not None
    assert facts_of(found)["stream_frequencies"] == {"0": 1, "4": 9}


def test_streams_without_frequencies_are_left_as_they_are() -> None:
    streams = (Stream(NUMBERS, 4, 4), None)
    for first in (None, 7):
        (only,) = instances(streams, {}, first=first)
        assert only is streams

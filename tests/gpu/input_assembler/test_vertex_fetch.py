"""Vertex fetch against a model that reads byte by byte."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dp2emu.d3d.enums import DeclType, DeclUsage, Format
from dp2emu.d3d.fvf import fvf_layout
from dp2emu.d3d.vertices import Element, VertexLayout
from dp2emu.errors import Unsupported
from dp2emu.gpu.command.packets import Indices, Stream
from dp2emu.gpu.input_assembler.vertex_fetch import (
    VERTEX_TYPES,
    Vertices,
    fetch,
    gather,
    outside,
    vertex_bytes,
    vertex_numbers,
)
from dp2emu.gpu.resource.heap import Heap, SurfaceDesc, SurfaceKind
from tests.gpu.drawing import COLORED, SIZED, SPECULAR, corner, surface, vertex_data

LAYOUT = fvf_layout(COLORED)
NAMES = (*(f"color{index}.{c}" for index in range(2) for c in "xyzw"), "psize0.x")


def color(vertices: Vertices, index: int = 0) -> NDArray[Any]:
    """One of the colours, shape (4, n)."""
    first = vertices.names.index(f"color{index}.x")
    return vertices.varyings[first : first + 4]


def numbers(*values: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(values, np.int64)


def buffer(data: bytes) -> Stream:
    made = Heap().create(SurfaceDesc(1, SurfaceKind.VERTEXBUFFER, len(data)))
    made.data[:] = np.frombuffer(data, np.uint8)
    return Stream(made, 0, 20)


def test_positions_and_colours_come_out_as_lanes() -> None:
    data = vertex_data([corner(1, 2, 0.25, 0x80FF0040, 3), corner(4, 5)])
    lanes = fetch(LAYOUT, (Stream(data, 0, 20),), numbers(1, 0), NAMES)
    assert lanes.position.T.tolist() == [[4, 5, 0.5, 1], [1, 2, 0.25, 3]]
    expected = (np.array([0xFF, 0x00, 0x40, 0x80], np.float32) / np.float32(255)).tolist()
    assert color(lanes)[:, 1].tolist() == expected
    assert lanes.position.dtype == color(lanes).dtype == np.float32


def test_what_the_layout_lacks_is_not_among_the_names() -> None:
    lanes = fetch(fvf_layout(0x004), (Stream(bytes(16), 0, 16),), numbers(0), NAMES)
    assert lanes.names == ()
    assert lanes.varying("color0.x") is None
    assert fetch(LAYOUT, (), numbers(0), NAMES).names == NAMES[:4]


def test_the_fog_factor_is_the_alpha_of_the_specular_colour() -> None:
    streams = (Stream(vertex_data([(1, 2, 3, 4, 0, 0x33FFFFFF)], SPECULAR), 0, 24),)
    fog = fetch(fvf_layout(SPECULAR), streams, numbers(0), ["fog0.x"]).varying("fog0.x")
    assert fog is not None
    assert fog.tolist() == [np.float32(0x33) / np.float32(255)]


def test_a_fog_element_is_the_fog_factor() -> None:
    data = struct.pack("<4fIf", 1, 2, 3, 4, 0xFFFFFFFF, 0.25)
    fog = fetch(fvf_layout(0x2084), (Stream(data, 0, 24),), numbers(0), ["fog0.x"])
    assert fog.varyings.tolist() == [[0.25]]


def test_specular_and_point_size_are_found_by_usage() -> None:
    vertex = [(1, 2, 3, 4, 0xFF000000, 0xFF0000FF)]
    lanes = fetch(
        fvf_layout(SPECULAR), (Stream(vertex_data(vertex, SPECULAR), 0, 24),), numbers(0), NAMES
    )
    assert color(lanes, 1)[:, 0].tolist() == [0, 0, 1, 1]
    sized = vertex_data([(1, 2, 3, 4, 7.5, 0)], SIZED)
    lanes = fetch(fvf_layout(SIZED), (Stream(sized, 0, 24),), numbers(0), NAMES)
    size = lanes.varying("psize0.x")
    assert size is not None
    assert size.tolist() == [7.5]


def test_streams_are_read_by_number_and_offset() -> None:
    elements = (
        Element(0, 4, DeclType.FLOAT4, DeclUsage.POSITIONT),
        Element(1, 0, DeclType.D3DCOLOR, DeclUsage.COLOR),
    )
    position = struct.pack("<5f", 9, 1, 2, 3, 4)
    streams = (Stream(position, 0, 20), buffer(b"\0\0\0\0" + b"\0\0\xff\0"))
    streams = (streams[0], Stream(streams[1].data, 4, 4))
    lanes = fetch(VertexLayout(elements, True), streams, numbers(0), NAMES)
    assert lanes.position[:, 0].tolist() == [1, 2, 3, 4]
    assert color(lanes)[:, 0].tolist() == [1, 0, 0, 0]


def test_an_unbound_stream_reads_as_zero() -> None:
    for streams in ((None,), ()):
        lanes = fetch(LAYOUT, streams, numbers(0, 5), NAMES)
        assert not lanes.position.any()
        assert not color(lanes).any()


def test_vertices_beyond_the_buffer_are_zero_byte_by_byte() -> None:
    data = vertex_data([corner(1, 2), corner(3, 4)])
    lanes = fetch(LAYOUT, (buffer(data[:28]),), numbers(1, 2, 1 << 33, -1, 0), NAMES)
    assert lanes.position[:, 0].tolist() == [3, 4, 0, 0]
    assert not lanes.position[:, 1:4].any()
    assert lanes.position[:, 4].tolist() == [1, 2, 0.5, 1]


def test_stride_zero_gives_every_vertex_the_same_bytes() -> None:
    lanes = fetch(LAYOUT, (Stream(vertex_data([corner(1, 2)]), 0, 0),), numbers(0, 7, -3), NAMES)
    assert lanes.position[0].tolist() == [1, 1, 1]


def test_untransformed_vertices_are_unsupported() -> None:
    with pytest.raises(Unsupported, match="vertex transformation"):
        fetch(fvf_layout(0x002), (Stream(bytes(12), 0, 12),), numbers(0), NAMES)


def test_what_is_no_type_is_unsupported_by_name() -> None:
    layout = VertexLayout(
        (
            Element(0, 0, DeclType.FLOAT4, DeclUsage.POSITIONT),
            Element(0, 16, DeclType.UNUSED, DeclUsage.COLOR),
        ),
        True,
    )
    with pytest.raises(Unsupported, match="D3DDECLTYPE_UNUSED"):
        vertex_bytes(layout)


def test_vertex_bytes_are_what_the_layout_reads() -> None:
    assert vertex_bytes(fvf_layout(SPECULAR)) == 24
    assert vertex_bytes(fvf_layout(COLORED | 0x20, 7)) == 20


@pytest.mark.parametrize(
    ("type", "data", "expected"),
    [
        (DeclType.FLOAT1, struct.pack("<f", 2), [2, 0, 0, 1]),
        (DeclType.FLOAT2, struct.pack("<2f", 2, 3), [2, 3, 0, 1]),
        (DeclType.FLOAT3, struct.pack("<3f", 2, 3, 4), [2, 3, 4, 1]),
        (DeclType.UBYTE4, bytes([1, 2, 3, 255]), [1, 2, 3, 255]),
        (DeclType.UBYTE4N, bytes([255, 0, 255, 0]), [1, 0, 1, 0]),
        (DeclType.SHORT2, struct.pack("<2h", -3, 7), [-3, 7, 0, 1]),
        (DeclType.SHORT4, struct.pack("<4h", -3, 7, 0, 9), [-3, 7, 0, 9]),
        (DeclType.SHORT2N, struct.pack("<2h", -32767, 32767), [-1, 1, 0, 1]),
        (DeclType.SHORT4N, struct.pack("<4h", 0, 32767, 0, 0), [0, 1, 0, 0]),
        (DeclType.USHORT2N, struct.pack("<2H", 65535, 0), [1, 0, 0, 1]),
        (DeclType.USHORT4N, struct.pack("<4H", 65535, 0, 0, 0), [1, 0, 0, 0]),
        (DeclType.UDEC3, struct.pack("<I", 1023 | 5 << 10 | 0xC00 << 20), [1023, 5, 0, 1]),
        (DeclType.DEC3N, struct.pack("<I", 511 | 0x201 << 10 | 1 << 30), [1, -1, 0, 1]),
        (DeclType.FLOAT16_2, struct.pack("<2e", 1.5, -2), [1.5, -2, 0, 1]),
        (DeclType.FLOAT16_4, struct.pack("<4e", 1.5, -2, 3, 4), [1.5, -2, 3, 4]),
    ],
)
def test_element_types_become_four_floats(
    type: DeclType, data: bytes, expected: list[float]
) -> None:
    elements = (Element(0, 0, DeclType.FLOAT4, DeclUsage.POSITIONT),
                Element(1, 0, type, DeclUsage.COLOR))  # fmt: skip
    streams = (Stream(bytes(16), 0, 16), Stream(data, 0, len(data)))
    lanes = fetch(VertexLayout(elements, True), streams, numbers(0), NAMES)
    assert color(lanes)[:, 0].tolist() == expected
    assert VERTEX_TYPES[type].size == len(data)


@settings(max_examples=300)
@given(
    st.binary(max_size=40),
    st.integers(-50, 50),
    st.one_of(st.integers(0, 24), st.just(0xFFFFFFFF)),
    st.sampled_from(["V1", "V4", "V16"]),
    st.lists(st.one_of(st.integers(-40, 60), st.integers(-(1 << 40), 1 << 40)), max_size=6),
)
def test_gather_reads_what_is_there_and_zero_elsewhere(
    data: bytes, offset: int, stride: int, item: str, places: list[int]
) -> None:
    size = np.dtype(item).itemsize
    found = gather(np.frombuffer(data, np.uint8), offset, stride, np.dtype(item), numbers(*places))
    for place, value in zip(places, found, strict=True):
        address = range(offset + place * stride, offset + place * stride + size)
        expected = bytes(data[at] if 0 <= at < len(data) else 0 for at in address)
        assert value.tobytes() == expected


@given(
    st.binary(max_size=40),
    st.integers(0, 50),
    st.integers(0, 20),
    st.one_of(st.integers(0, 24), st.just(0xFFFFFFFF)),
    st.lists(st.one_of(st.integers(-40, 60), st.integers(-(1 << 40), 1 << 40)), max_size=6),
)
def test_vertices_with_bytes_outside_are_told(
    data: bytes, start: int, place: int, stride: int, vertices: list[int]
) -> None:
    element = Element(0, place, DeclType.FLOAT2, DeclUsage.TEXCOORD, 0)
    found = outside(element, (Stream(data, start, stride),), numbers(*vertices))
    at = [start + place + vertex * stride for vertex in vertices]
    assert found.tolist() == [each < 0 or each + 8 > len(data) for each in at]


def test_all_vertices_are_outside_without_a_buffer() -> None:
    element = Element(1, 0, DeclType.FLOAT2, DeclUsage.TEXCOORD, 0)
    for streams in ((), (Stream(bytes(16), 0, 8), None)):
        assert outside(element, streams, numbers(0, 1)).tolist() == [True, True]


def test_indices_are_added_to_the_base() -> None:
    drawn = Indices(np.array([3, 0, 0xFFFFFFFF], np.uint32), base=-2)
    assert vertex_numbers(drawn, numbers(0, 1, 2)).tolist() == [1, -2, 0xFFFFFFFD]


def test_short_indices_are_read_from_a_buffer_when_drawn() -> None:
    made = Heap().create(SurfaceDesc(1, SurfaceKind.INDEXBUFFER, 8))
    made.data[:] = np.frombuffer(struct.pack("<4H", 9, 8, 7, 6), np.uint8)
    drawn = Indices(made, size=2, offset=2, base=100)
    assert vertex_numbers(drawn, numbers(0, 2, 3)).tolist() == [108, 106, 100]


def test_without_indices_places_are_vertex_numbers() -> None:
    assert vertex_numbers(None, numbers(4, 2)).tolist() == [4, 2]


def test_a_surface_that_is_no_buffer_can_be_read_as_one() -> None:
    picture = surface(Format.A8R8G8B8, 4, 4)
    picture.pixels()[...] = 0x3F800000
    lanes = fetch(LAYOUT, (Stream(picture, 0, 20),), numbers(0), NAMES)
    assert lanes.position[:, 0].tolist() == [1, 1, 1, 1]

"""Formats of DXGI in vertices, field by field from their bytes."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.d3d.dxgi import DXGI, Support
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.enums import DeclUsage
from dp2emu.d3d.formats import Channel, Coding
from dp2emu.d3d.vertices import Element, VertexLayout
from dp2emu.errors import Unsupported
from dp2emu.gpu.command.packets import Stream
from dp2emu.gpu.input_assembler.vertex_fetch import decode, vertex_bytes
from tests.gpu.resource.test_pixel_format import small_float

VERTICES = [f for f, row in DXGI.items() if Support.VERTEX in row.support]
ONE = 0x3F800000


def element(format: DxgiFormat) -> Element:
    return Element(0, 4, format, DeclUsage.POSITION)


def float_word(value: float) -> int:
    (word,) = struct.unpack("<I", struct.pack("<f", value))
    return int(word)


def expected(channel: Channel, word: int) -> int:
    field = word >> channel.shift & channel.max
    signed = field - (field >> channel.bits - 1 << channel.bits)
    if channel.coding is Coding.UINT:
        return field
    if channel.coding is Coding.SINT:
        return signed & 0xFFFFFFFF
    if channel.coding is Coding.UNORM:
        return float_word(float(np.float32(field) / np.float32(channel.max)))
    if channel.coding is Coding.SNORM:
        most = channel.max >> 1
        return float_word(float(np.float32(max(signed, -most)) / np.float32(most)))
    if channel.bits == 32:
        return field
    mantissa = {16: 10, 11: 6, 10: 5}[channel.bits]
    if field >> mantissa & 31 == 31:
        if field & (1 << mantissa) - 1:
            return 0x7FC00000
        return 0xFF800000 if channel.bits == 16 and field >> 15 else 0x7F800000
    sign = channel.bits == 16 and field >> 15
    value = abs(float(small_float(field & (1 << mantissa + 5) - 1, mantissa, False)))
    return float_word(-value if sign else value)


@pytest.mark.parametrize("format", VERTICES)
@given(data=st.data())
def test_every_field_of_every_format(format: DxgiFormat, data: st.DataObject) -> None:
    row = DXGI[format].texels
    raw = data.draw(st.binary(min_size=row.size, max_size=row.size))
    word = int.from_bytes(raw, "little")
    one = 1 if DXGI[format].integers else ONE
    wanted = [
        expected(row.channels[name], word) if name in row.channels else missing
        for name, missing in zip("rgba", (0, 0, 0, one), strict=True)
    ]
    stream = Stream(bytes(4) + raw, 0, 4 + row.size)
    found = decode(element(format), (stream,), np.zeros(1, np.int64))
    assert found.view(np.uint32)[:, 0].tolist() == wanted


def test_bytes_of_a_vertex_are_those_of_its_formats() -> None:
    formats = (DxgiFormat.R32G32B32_FLOAT, DxgiFormat.R8_UINT, DxgiFormat.R16G16_SNORM)
    layout = VertexLayout(tuple(map(element, formats)), transformed=False)
    assert vertex_bytes(layout) == 12 + 1 + 4


@pytest.mark.parametrize(
    "format", [DxgiFormat.BC1_UNORM, DxgiFormat.R32_TYPELESS, DxgiFormat.D32_FLOAT]
)
def test_other_formats_are_named(format: DxgiFormat) -> None:
    with pytest.raises(Unsupported, match=format.sdk):
        decode(element(format), (None,), np.zeros(1, np.int64))


def test_without_a_buffer_an_element_is_0() -> None:
    found = decode(element(DxgiFormat.R32G32_UINT), (None,), np.zeros(2, np.int64))
    assert found.view(np.uint32).tolist() == [[0, 0], [0, 0], [0, 0], [1, 1]]

"""What the DirectX 8 and 9 draw tokens draw: elements in one form, bytes in the other."""

from __future__ import annotations

import struct

from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import PrimitiveType as Pt
from tests.dp2.tokens.recorder import executed


def token(op: Op, n: int, *values: int) -> bytes:
    return struct.pack("<BBH", op, 0, n) + b"".join(
        struct.pack("<I", value & 0xFFFFFFFF) for value in values
    )


def test_draw_primitive_starts_at_a_vertex() -> None:
    assert executed(token(Op.DRAWPRIMITIVE, 2, 4, 6, 2, 1, 0, 9)) == [
        ("draw_streams", Pt.TRIANGLELIST, 6, 2),
        ("draw_streams", Pt.POINTLIST, 0, 9),
    ]


def test_draw_primitive_2_starts_at_a_byte_not_at_a_vertex() -> None:
    assert executed(token(Op.DRAWPRIMITIVE2, 1, 5, 640, 2)) == [
        ("draw_streams", Pt.TRIANGLESTRIP, 0, 2, 640)
    ]


def test_clipped_fan_starts_at_a_byte() -> None:
    assert executed(token(Op.CLIPPEDTRIANGLEFAN, 1, 64, 7, 3)) == [("draw_clipped_fan", 3, 64, 7)]


def test_indexed_draw_has_a_signed_base_vertex_and_ignores_the_hint_range() -> None:
    assert executed(token(Op.DRAWINDEXEDPRIMITIVE, 1, 4, -2, 99, 98, 6, 2)) == [
        ("draw_streams_indexed", Pt.TRIANGLELIST, -2, 6, 2)
    ]


def test_indexed_draw_2_has_base_and_start_in_bytes() -> None:
    assert executed(token(Op.DRAWINDEXEDPRIMITIVE2, 1, 4, -64, 99, 98, 12, 2)) == [
        ("draw_streams_indexed", Pt.TRIANGLELIST, 0, 0, 2, -64, 12)
    ]

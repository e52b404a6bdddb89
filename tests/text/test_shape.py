"""Records as text and back, for every layout there is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from construct import GreedyBytes, Struct
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.d3d.devinfo import PAYLOADS
from dp2emu.d3d.dp2structs import D3DHAL_DP2DRAWINDEXEDPRIMITIVE, D3DHAL_DP2SETCLIPPLANE
from dp2emu.d3d.enums import PrimitiveType
from dp2emu.d3d.words import DWORD, FLOAT, LONG, WORD
from dp2emu.dp2.table import TABLE
from dp2emu.text.shape import Shape
from dp2emu.text.syntax import Fields, TextError, Value, block_of


def value(text: str) -> Value:
    block = block_of([f"x v={text}"])
    return block.fields.values["v"]


def fields(text: str) -> Fields:
    block = block_of([f"x {text}"])
    return block.fields


def _every_shape() -> list[Any]:
    rows = [
        pytest.param(Shape(declaration, token.enums), id=f"{token.name}-{part}")
        for token in TABLE.values()
        for part, declaration in (("head", token.head), ("items", token.items))
        if declaration is not None
    ]
    tails = [
        pytest.param(Shape(element), id=f"{token.name}-{name}")
        for token in TABLE.values()
        for name, element, _ in (token.tail.parts if token.tail else ())
    ]
    payloads = [pytest.param(Shape(each), id=kind.name) for kind, each in PAYLOADS.items()]
    return rows + tails + payloads


@pytest.mark.parametrize("shape", _every_shape())
@given(st.randoms(use_true_random=False))
def test_any_bytes_come_back_from_their_text(shape: Shape, random: Any) -> None:
    data = random.randbytes(shape.size)
    values = shape.unpack(data, 0)
    assert shape.build(value(shape.value_text(values))) == data
    json.loads(shape.json(values))


def test_the_sizes_cut_a_record_into_its_scalars() -> None:
    shape = Shape(D3DHAL_DP2SETCLIPPLANE)
    assert shape.sizes == (4, 4, 4, 4, 4)
    assert sum(shape.sizes) == shape.size


def test_fields_may_come_in_any_order_and_missing_ones_are_zero() -> None:
    shape = Shape(D3DHAL_DP2SETCLIPPLANE)
    assert shape.build(fields("plane=[1.0 0.0 0.0 0.0]")) == b"\0\0\0\0\0\0\x80\x3f" + bytes(12)


def test_names_stand_for_numbers() -> None:
    shape = Shape(D3DHAL_DP2DRAWINDEXEDPRIMITIVE, {"primType": PrimitiveType})
    built = shape.build(fields("primType=D3DPT_TRIANGLEFAN BaseVertexIndex=-2"))
    assert shape.unpack(built, 0)[:2] == (6, -2)
    assert shape.text(shape.unpack(built, 0)).startswith("primType=D3DPT_TRIANGLEFAN BaseV")


def test_flags_may_be_joined() -> None:
    built = Shape(Struct("dwFlags" / DWORD)).build(
        fields("dwFlags=D3DCLEAR_TARGET|D3DCLEAR_STENCIL")
    )
    assert built == b"\5\0\0\0"


def test_a_whole_number_will_do_for_a_float() -> None:
    assert Shape(FLOAT).build(value("-3")) == b"\0\0\x40\xc0"


@pytest.mark.parametrize(
    ("declaration", "text", "what"),
    [
        (WORD, "65536", "line 1: 65536 does not fit 16 bits"),
        (WORD, "-1", "line 1: -1 does not fit 16 bits"),
        (LONG, "0x80000000", "line 1: 0x80000000 does not fit 32 bits"),
        (DWORD, "1.5", "line 1: 1.5 is neither a number nor an SDK name"),
        (DWORD, "D3DPT_HEXAGON", "line 1: D3DPT_HEXAGON is neither a number nor an SDK name"),
        (DWORD, '"1"', 'line 1: "1" where a number or name belongs'),
        (DWORD, "[1]", "line 1: a list where a number or name belongs"),
        (FLOAT, "1e99", "line 1: 1e99 is beyond a 32-bit float"),
        (FLOAT, "-9e38", "line 1: -9e38 is beyond a 32-bit float"),
        (FLOAT, "nan", "line 1: nan is no number"),
        (D3DHAL_DP2SETCLIPPLANE, "1", "line 1: a record is written {name=value ...}"),
        (D3DHAL_DP2SETCLIPPLANE, "{plane=[1 2 3]}", "line 1: 4 values in brackets belong here"),
        (
            D3DHAL_DP2SETCLIPPLANE,
            "{planes=1}",
            "line 1: no field planes; the fields are dwIndex plane",
        ),
    ],
)
def test_what_cannot_be_meant_is_named(declaration: Any, text: str, what: str) -> None:
    with pytest.raises(TextError) as caught:
        Shape(declaration).build(value(text))
    assert str(caught.value) == what


def test_an_enumerated_number_is_in_json_by_name_and_raw() -> None:
    shape = Shape(Struct("primType" / DWORD), {"primType": PrimitiveType})
    assert shape.json((4,)) == '{"primType":"D3DPT_TRIANGLELIST","primType_raw":4}'
    assert shape.json((9,)) == '{"primType":null,"primType_raw":9}'


def test_a_float_json_cannot_say_is_a_string_and_its_bits() -> None:
    shape = Shape(Struct("z" / FLOAT))
    assert shape.json((0x7F800000,)) == '{"z":"inf","z_raw":2139095040}'
    assert shape.json((0x7FC00001,)) == '{"z":"nan(0x7fc00001)","z_raw":2143289345}'
    assert Shape(D3DHAL_DP2SETCLIPPLANE).json((0, 0x7F800000, 0, 0, 0)) == (
        '{"dwIndex":0,"plane":["inf",0.0,0.0,0.0]}'
    )


def test_what_has_no_fixed_size_has_no_shape() -> None:
    with pytest.raises(TypeError, match="no fixed size"):
        Shape(Struct("rest" / GreedyBytes))


def test_unsigned_lists_keep_to_one_base() -> None:
    assert Shape(DWORD).list_text([(1,), (65536,)]) == "0x00000001 0x00010000"
    assert Shape(DWORD).list_text([(1,), (2,)]) == "1 2"

"""The readers of scene files: accepted and refused values."""

from __future__ import annotations

import base64
import math
import struct
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.d3d.enums import Format, PrimitiveType, QueryType, RenderState
from dp2emu.errors import SceneError
from dp2emu.scene.values import (
    DataReader,
    Default,
    Fields,
    dword,
    file_name,
    floating,
    floats,
    list_of,
    member,
    optional,
    record,
    rect,
    states,
    surface_format,
    truth,
    whole,
)

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def b64z(data: bytes) -> dict[str, str]:
    return {"b64z": base64.b64encode(zlib.compress(data)).decode()}


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (7, 7),
        (-1, 0xFFFFFFFF),
        (True, 1),
        ("0xff00FF00", 0xFF00FF00),
        ("12", 12),
        ("D3DCMP_LESS", 2),
        ("D3DFVF_XYZRHW|D3DFVF_DIFFUSE", 0x44),
        ("D3DFVF_XYZRHW | D3DFVF_TEX2|0x10000", 0x10204),
        ("D3DTA_DIFFUSE|D3DTA_COMPLEMENT", 0x10),
        ("D3DCOLORWRITEENABLE_RED|D3DCOLORWRITEENABLE_ALPHA", 9),
        ("TRUE", 1),
        ({"f": 1.0}, 0x3F800000),
        ({"f": -2}, 0xC0000000),
        ({"f": 1e300}, 0x7F800000),
    ],
)
def test_a_dword_is_a_number_names_float_bits_or_a_boolean(value: Any, word: int) -> None:
    assert dword(value) == word


@pytest.mark.parametrize(
    "value",
    [1 << 32, -(1 << 31) - 1, 1.5, "", "0x", "0x123456789", "D3DCMP_NONSENSE", "1|", None, [],
     {"f": "1"}, {"g": 1}, {"f": 1, "g": 2}, "4294967296", "99999999999"],
)  # fmt: skip
def test_other_values_are_refused_as_a_dword(value: Any) -> None:
    with pytest.raises(SceneError):
        dword(value)


def test_floats_become_the_nearest_single() -> None:
    assert floating(0.1) == struct.unpack("<f", struct.pack("<f", 0.1))[0]
    assert floating(10**400) == math.inf
    assert floating(-(10**400)) == -math.inf
    assert floats(2)([1, 2.5]) == (1.0, 2.5)
    for wrong in (True, "1", None, [1]):
        with pytest.raises(SceneError):
            floating(wrong)
    with pytest.raises(SceneError, match="expected 2 entries, got 1"):
        floats(2)([1])


def test_integers_are_bounded_and_not_booleans() -> None:
    read = whole(0, 5)
    assert read(5) == 5
    for wrong in (6, -1, True, 1.0, "1"):
        with pytest.raises(SceneError, match="integer from 0 to 5"):
            read(wrong)


def test_truth_is_a_boolean_or_one_bit() -> None:
    assert [truth(value) for value in (True, 1, False, 0)] == [True, True, False, False]
    for wrong in (2, "true", None, []):
        with pytest.raises(SceneError):
            truth(wrong)


def test_members_are_names_without_prefix_or_values() -> None:
    assert member(PrimitiveType)("TRIANGLELIST") is PrimitiveType.TRIANGLELIST
    assert member(PrimitiveType)("D3DPT_LINELIST") is PrimitiveType.LINELIST
    assert member(QueryType)(9) is QueryType.OCCLUSION
    for wrong in ("TRIANGLES", 77, None):
        with pytest.raises(SceneError):
            member(PrimitiveType)(wrong)
    assert surface_format("D3DFMT_D24S8") is Format.D24S8
    for wrong in ("D24S8", "D3DFMT_", "D3DFMT_D99"):
        with pytest.raises(SceneError, match="surface format"):
            surface_format(wrong)
    assert optional(surface_format)(None) is None


def test_states_keep_the_order_written() -> None:
    read = states(RenderState)({"ZENABLE": 0, "CULLMODE": "D3DCULL_NONE", "POINTSIZE": {"f": 1}})
    assert [state.name for state, _ in read] == ["ZENABLE", "CULLMODE", "POINTSIZE"]
    assert [value for _, value in read] == [0, 1, 0x3F800000]
    with pytest.raises(SceneError, match=r"CULLMODE: .*'D3DCULL_X'"):
        states(RenderState)({"CULLMODE": "D3DCULL_X"})
    with pytest.raises(SceneError):
        states(RenderState)(["CULLMODE"])


def test_rectangles_are_four_signed_integers() -> None:
    assert rect([-1, 2, 3, 4]) == (-1, 2, 3, 4)
    assert list_of(rect)([[1, 2, 3, 4]] * 2) == [(1, 2, 3, 4)] * 2
    for wrong in ([1, 2, 3], [1, 2, 3, 1 << 31], "1234", [1.5, 2, 3, 4]):
        with pytest.raises(SceneError):
            rect(wrong)


@pytest.mark.parametrize("name", ["occ_states", "a", "v1.2", "x-y+z", "_", "CONSOLE", "9"])
def test_safe_file_names(name: str) -> None:
    assert file_name(name) == name


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../up", "a/b", "a\\b", "/etc", "c:", "nul", "Com1.txt", "a.", "a b", "é",
     "-x", ".x", "x\n", "x" * 101, None, 5],
)  # fmt: skip
def test_unsafe_file_names_are_refused(name: Any) -> None:
    with pytest.raises(SceneError):
        file_name(name)


@pytest.mark.parametrize(
    ("value", "data"),
    [
        ({"hex": "01 02ff"}, b"\1\2\xff"),
        ({"b64": "AQL/"}, b"\1\2\xff"),
        (b64z(b"\1\2\xff"), b"\1\2\xff"),
        ({"u16": [1, 65535]}, b"\1\0\xff\xff"),
        ({"u32": [1, "0xff000000"]}, b"\1\0\0\0\0\0\0\xff"),
        ({"layout": "fI", "rows": [[1, "0xff"], [0.5, "D3DCMP_LESS"]]},
         struct.pack("<fIfI", 1, 255, 0.5, 2)),
        ({"layout": "iHhBb", "rows": [[-1, 65535, -2, 255, -1]]},
         b"\xff" * 6 + b"\xfe\xff\xff\xff"),
        ({"layout": "f", "rows": []}, b""),
    ],
)  # fmt: skip
def test_all_codings_of_data(value: Any, data: bytes) -> None:
    assert DataReader()(value) == data


@pytest.mark.parametrize(
    "value",
    [
        None, {}, [], "00", {"hex": "0"}, {"hex": 5}, {"b64": "AQ="}, {"b64": "AQL/\n"},
        {"b64z": "AQL/"}, {"b64z": base64.b64encode(zlib.compress(b"x")[:-1]).decode()},
        {"b64z": base64.b64encode(zlib.compress(b"x") + b"y").decode()},
        {"u16": [65536]}, {"u16": 5}, {"u32": [1 << 32]}, {"hex": "", "u16": []},
        {"layout": "q", "rows": []}, {"layout": "", "rows": [[]]}, {"layout": "f", "rows": [[]]},
        {"layout": "f", "rows": [1]}, {"layout": "B", "rows": [[256]]}, {"layout": "f"},
    ],
)  # fmt: skip
def test_other_values_are_refused_as_data(value: Any) -> None:
    with pytest.raises(SceneError):
        DataReader()(value)


def test_a_scene_holds_a_bounded_amount_of_data() -> None:
    read = DataReader(limit=10)
    assert read({"hex": "00" * 8}) == bytes(8)
    for value in ({"hex": "00" * 3}, b64z(bytes(3)), b64z(bytes(10_000_000))):
        with pytest.raises(SceneError, match="more than 10 bytes of data"):
            read(value)
    assert read({"hex": "00" * 2}) == bytes(2)


@given(anything)
def test_readers_raise_only_scene_errors(value: Any) -> None:
    readers = (dword, floating, rect, list_of(rect), truth, file_name, DataReader(1000),
               states(RenderState), member(QueryType), floats(4), whole(0, 9))  # fmt: skip
    for read in readers:
        try:
            read(value)
        except SceneError as error:
            assert len(str(error)) < 300


def test_a_missing_key_is_an_error_unless_it_has_a_default() -> None:
    fields = Fields({}, "command 3")
    assert fields.take("x", whole(0, 9), None) is None
    with pytest.raises(SceneError, match="command 3: missing key 'x'"):
        fields.take("x", whole(0, 9))


def test_an_error_names_the_place_and_the_key() -> None:
    with pytest.raises(SceneError, match="command 3: x: expected an integer"):
        Fields({"x": 10}, "command 3").take("x", whole(0, 9))


def test_an_unknown_key_is_an_error() -> None:
    fields = Fields({"x": 1, "colour": 2, "note": 3}, "command 3")
    fields.take("x", whole(0, 9))
    fields.ignore("note")
    with pytest.raises(SceneError, match="command 3: unknown key 'colour'"):
        fields.finish()


def test_fields_of_another_value_are_an_error() -> None:
    with pytest.raises(SceneError, match="command 3: expected an object"):
        Fields([1], "command 3")


def test_several_keys_are_read_in_order() -> None:
    read = record(complex, real=whole(0, 9), imag=Default(whole(0, 9), 2))
    assert read({"imag": 3, "real": 1}) == 1 + 3j
    assert read({"real": 1}) == 1 + 2j
    with pytest.raises(SceneError, match="complex: unknown key 'x'"):
        read({"real": 1, "x": 2})

"""Vertex declarations of both kinds: what they say, and what is no declaration."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.d3d.declarations import (
    ELEMENTS_MAX,
    REGISTER_USAGES,
    Constants,
    declaration8,
    declaration9,
)
from dp2emu.d3d.enums import DeclMethod, DeclType, DeclUsage
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.legacy import VsdRegister
from dp2emu.d3d.vertices import TYPE_BYTES, Element, check_drawable
from dp2emu.errors import Fault, Unsupported

END = 0xFFFFFFFF


def vsd(*words: int) -> bytes:
    return struct.pack(f"<{len(words)}I", *words)


def stream(number: int) -> int:
    return 1 << 29 | number


def data(register: int, type: int) -> int:
    return 2 << 29 | type << 16 | register


def skip(dwords: int) -> int:
    return 2 << 29 | 1 << 28 | dwords << 16


def elements(*records: tuple[int, int, int, int, int, int]) -> bytes:
    return b"".join(struct.pack("<HHBBBB", *record) for record in records)


def test_every_type_of_element_has_a_size() -> None:
    sizes = [TYPE_BYTES[type] for type in DeclType]
    assert sizes == [4, 8, 12, 16, 4, 4, 4, 8, 4, 4, 8, 4, 8, 4, 4, 4, 8, 0]


def test_elements_of_directx_9_say_everything_themselves() -> None:
    layout = declaration9(
        elements((0, 0, 2, 0, 0, 0), (3, 12, 16, 0, 5, 15), (15, 8, 4, 0, 10, 1))
    )
    assert layout.elements == (
        Element(0, 0, DeclType.FLOAT3, DeclUsage.POSITION),
        Element(3, 12, DeclType.FLOAT16_4, DeclUsage.TEXCOORD, 15),
        Element(15, 8, DeclType.D3DCOLOR, DeclUsage.COLOR, 1),
    )
    assert not layout.transformed


@pytest.mark.parametrize("type", list(DeclType)[:-1])
@pytest.mark.parametrize("usage", list(DeclUsage))
def test_every_type_goes_with_every_usage(type: DeclType, usage: DeclUsage) -> None:
    layout = declaration9(elements((1, 4, type, 0, usage, 2)))
    assert layout.elements == (Element(1, 4, type, usage, 2),)
    assert layout.transformed == (usage is DeclUsage.POSITIONT)
    check_drawable(layout)


def test_end_element_ends_a_declaration() -> None:
    end = (0xFF, 0, 17, 0, 0, 0)
    assert (
        len(declaration9(elements((0, 0, 2, 0, 0, 0), end, (99, 99, 99, 99, 99, 99))).elements)
        == 1
    )


def test_unused_elements_are_left_out() -> None:
    assert declaration9(elements((0, 0, 17, 0, 0, 0))).elements == ()


@pytest.mark.parametrize("method", list(DeclMethod)[1:])
def test_methods_of_the_tessellator_are_refused_when_drawn_with(method: DeclMethod) -> None:
    layout = declaration9(elements((0, 0, 17 if method is DeclMethod.UV else 2, method, 3, 0)))
    assert layout.elements[0].method is method
    with pytest.raises(Unsupported, match=f"tessellator method {method.sdk}"):
        check_drawable(layout)


@pytest.mark.parametrize(
    ("record", "what"),
    [
        ((16, 0, 2, 0, 0, 0), "vertex element 1: stream 16"),
        ((0xFF, 0, 2, 0, 0, 0), "vertex element 1: stream 255"),
        ((0, 0, 18, 0, 0, 0), "vertex element 1: type 18"),
        ((0, 0, 2, 7, 0, 0), "vertex element 1: method 7"),
        ((0, 0, 2, 0, 14, 0), "vertex element 1: usage 14"),
        ((0, 0, 2, 0, 0, 16), "vertex element 1: usage index 16"),
    ],
)
def test_element_out_of_range_is_a_fault(record: tuple[int, ...], what: str) -> None:
    with pytest.raises(Fault, match=what) as raised:
        declaration9(struct.pack("<HHBBBB", 0, 0, 2, 0, 0, 0) + struct.pack("<HHBBBB", *record))
    assert raised.value.hr == HResult.D3DERR_DRIVERINVALIDCALL


def test_elements_are_counted_and_whole() -> None:
    record = (0, 0, 2, 0, 0, 0)
    assert len(declaration9(elements(*[record] * ELEMENTS_MAX)).elements) == ELEMENTS_MAX
    with pytest.raises(Fault, match="more than 64"):
        declaration9(elements(*[record] * (ELEMENTS_MAX + 1)))
    with pytest.raises(Fault, match="in the middle"):
        declaration9(elements(record)[:7])


def test_elements_of_directx_8_follow_each_other() -> None:
    tokens = vsd(
        stream(0), data(0, 2), skip(2), data(5, 4), stream(2), data(7, 1), data(3, 7), END
    )
    declaration = declaration8(tokens, programmable=False)
    assert declaration.registers == (0, 5, 7, 3)
    assert declaration.layout.elements == (
        Element(0, 0, DeclType.FLOAT3, DeclUsage.POSITION),
        Element(0, 20, DeclType.D3DCOLOR, DeclUsage.COLOR),
        Element(2, 0, DeclType.FLOAT2, DeclUsage.TEXCOORD),
        Element(2, 8, DeclType.SHORT4, DeclUsage.NORMAL),
    )
    assert not declaration.layout.transformed
    declaration.check_drawable()


def test_registers_mean_usages_without_a_shader() -> None:
    assert REGISTER_USAGES.keys() == set(VsdRegister)
    tokens = vsd(stream(1), *[data(register, 0) for register in VsdRegister])
    declared = declaration8(tokens, programmable=False).layout.elements
    usages = [f"{element.usage.name}{element.index}" for element in declared]
    assert usages == [
        "POSITION0", "BLENDWEIGHT0", "BLENDINDICES0", "NORMAL0", "PSIZE0", "COLOR0", "COLOR1",
        *[f"TEXCOORD{index}" for index in range(8)], "POSITION1", "NORMAL1",
    ]  # fmt: skip


def test_registers_are_inputs_of_a_shader() -> None:
    declaration = declaration8(vsd(stream(0), data(9, 3), data(1, 5)), programmable=True)
    found = [declaration.element(register) for register in (9, 1, 0)]
    assert [element and element.offset for element in found] == [0, 16, None]


def test_selecting_a_stream_again_starts_at_its_beginning() -> None:
    tokens = vsd(stream(0), data(0, 2), stream(0), data(3, 2))
    declared = declaration8(tokens, programmable=True).layout.elements
    assert [element.offset for element in declared] == [0, 0]


def test_constants_are_kept_and_extensions_stepped_over() -> None:
    load = 4 << 29 | 2 << 25 | 95
    tokens = vsd(
        0, load, *range(8), 5 << 29 | 3 << 24, END, END, END, stream(0), data(0, 2), END, 7
    )
    declaration = declaration8(tokens, programmable=True)
    assert declaration.constants == (Constants(95, tuple(range(8))),)
    assert declaration.registers == (0,)


@pytest.mark.parametrize(
    "tokens",
    [
        (1 << 29 | 1 << 28,),
        (stream(0), data(0, 2), 3 << 29 | 2 << 16 | 3),
        (3 << 29 | 1 << 28 | 1 << 16 | 7,),
    ],
)
def test_tessellator_declarations_are_refused_when_drawn_with(tokens: tuple[int, ...]) -> None:
    declaration = declaration8(vsd(*tokens), programmable=True)
    with pytest.raises(Unsupported, match="tessellator declarations"):
        declaration.check_drawable()


@pytest.mark.parametrize(
    ("tokens", "what"),
    [
        ((6 << 29,), "DWORD 0: 0xc0000000 is no declaration token"),
        ((0, 0xFFFFFFFE), "DWORD 1: 0xfffffffe is no declaration token"),
        ((data(0, 2),), "DWORD 0: there is no stream"),
        ((1 << 29 | 1 << 28, data(0, 2)), "DWORD 1: there is no stream"),
        ((stream(0), data(0, 8)), "DWORD 1: element type 8"),
        ((stream(0), data(16, 2)), "DWORD 1: there is no input register 16"),
        ((stream(0), data(31, 2)), "there is no input register 31"),
        ((stream(0), data(1, 2), data(1, 2)), "DWORD 2: register 1 has an element already"),
        ((4 << 29 | 1 << 25, 1, 2, 3), "DWORD 0: 4 DWORDs should follow"),
        ((5 << 29 | 2 << 24, 1), "DWORD 0: 2 DWORDs should follow"),
        ((3 << 29 | 31,), "there is no input register 31"),
    ],
)
def test_bad_token_is_a_fault(tokens: tuple[int, ...], what: str) -> None:
    with pytest.raises(Fault, match=what) as raised:
        declaration8(vsd(*tokens), programmable=True)
    assert raised.value.hr == HResult.D3DERR_DRIVERINVALIDCALL


def test_fixed_function_has_a_seventeenth_register() -> None:
    assert declaration8(vsd(stream(0), data(16, 2)), programmable=False).registers == (16,)
    with pytest.raises(Fault, match="no input register 17"):
        declaration8(vsd(stream(0), data(17, 2)), programmable=False)


@given(st.binary(max_size=64), st.booleans())
def test_any_bytes_are_a_declaration_or_a_fault(data: bytes, programmable: bool) -> None:
    for read in (declaration9, lambda data: declaration8(data, programmable=programmable)):
        try:
            read(data)
        except Fault as fault:
            assert fault.hr == HResult.D3DERR_DRIVERINVALIDCALL


TOKENS = st.builds(
    lambda kind, bits: kind << 29 | bits & 0x1F0F001F,
    st.sampled_from((1, 2, 2, 2, 3, 4, 5)),
    st.integers(0, 2**29 - 1),
)


@given(st.lists(TOKENS, max_size=12), st.booleans())
def test_any_tokens_are_a_declaration_or_a_fault(tokens: list[int], programmable: bool) -> None:
    try:
        declaration = declaration8(vsd(*tokens, END), programmable=programmable)
    except Fault:
        return
    assert len(declaration.registers) == len(declaration.layout.elements)

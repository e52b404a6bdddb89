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
from dp2emu.d3d.vertices import (
    MESH_METHODS,
    RECTANGLE_METHODS,
    TRIANGLE_METHODS,
    TYPE_BYTES,
    Element,
    check_drawable,
)
from dp2emu.errors import Fault

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


_VECTORS = "D3DCOLOR FLOAT3 FLOAT4 SHORT4 UBYTE4"
COMPUTED = {
    DeclMethod.PARTIALU: (_VECTORS, DeclType.FLOAT3, "rectangle"),
    DeclMethod.PARTIALV: (_VECTORS, DeclType.FLOAT3, "rectangle"),
    DeclMethod.CROSSUV: (_VECTORS, DeclType.FLOAT3, "rectangle triangle"),
    DeclMethod.UV: ("UNUSED", DeclType.FLOAT2, "rectangle triangle"),
    DeclMethod.LOOKUP: ("FLOAT2 FLOAT3 FLOAT4", DeclType.FLOAT1, ""),
    DeclMethod.LOOKUPPRESAMPLED: ("UNUSED", DeclType.FLOAT1, ""),
}
"""What a method computes from, what comes of it, and which patches it is for."""
SHAPES = {"mesh": MESH_METHODS, "rectangle": RECTANGLE_METHODS, "triangle": TRIANGLE_METHODS}


@pytest.mark.parametrize("method", COMPUTED)
@pytest.mark.parametrize("type", list(DeclType))
def test_methods_compute_from_certain_types(method: DeclMethod, type: DeclType) -> None:
    types, made, _ = COMPUTED[method]
    record = elements((0, 0, type, method, 3, 0))
    if type.name not in types.split():
        with pytest.raises(Fault, match=f"element 0: {method.sdk} of {type.sdk}"):
            declaration9(record)
        return
    (element,) = declaration9(record).elements
    assert (element.method, element.type, element.delivered) == (method, type, made)


@pytest.mark.parametrize("method", COMPUTED)
@pytest.mark.parametrize("shape", SHAPES)
def test_methods_are_for_certain_patches(method: DeclMethod, shape: str) -> None:
    types, _, shapes = COMPUTED[method]
    layout = declaration9(elements((0, 0, DeclType[types.split()[0]], method, 3, 0)))
    if shape in shapes.split():
        check_drawable(layout, SHAPES[shape])
        return
    with pytest.raises(Fault, match=f"tessellator method {method.sdk}") as raised:
        check_drawable(layout, SHAPES[shape])
    assert raised.value.hr == HResult.D3DERR_DRIVERINVALIDCALL


def test_what_no_method_computes_is_for_every_draw() -> None:
    layout = declaration9(elements((0, 0, 4, 0, 10, 0)))
    assert layout.elements[0].delivered is DeclType.D3DCOLOR
    for methods in SHAPES.values():
        check_drawable(layout, methods)


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
    with pytest.raises(Fault, match="no whole number"):
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
    check_drawable(declaration.layout)


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


def tess_normal(source: int, register: int) -> int:
    return 3 << 29 | source << 20 | 2 << 16 | register


TESS_UV = 3 << 29 | 1 << 28 | 1 << 16
TESS_STREAM = 1 << 29 | 1 << 28


def test_registers_that_a_tessellator_fills() -> None:
    tokens = vsd(TESS_STREAM, TESS_UV | 7, tess_normal(0, 3), stream(2), data(1, 0), data(0, 3))
    declaration = declaration8(tokens, programmable=False)
    assert declaration.element(3) == Element(
        2, 4, DeclType.FLOAT4, DeclUsage.NORMAL, 0, DeclMethod.CROSSUV
    )
    assert declaration.element(7) == Element(
        0, 0, DeclType.UNUSED, DeclUsage.TEXCOORD, 0, DeclMethod.UV
    )
    check_drawable(declaration.layout, TRIANGLE_METHODS)
    with pytest.raises(Fault, match="tessellator method"):
        check_drawable(declaration.layout)


@pytest.mark.parametrize(
    ("tokens", "what"),
    [
        ((6 << 29,), "DWORD 0: 0xc0000000 is no declaration token"),
        ((0, 0xFFFFFFFE), "DWORD 1: 0xfffffffe is no declaration token"),
        ((data(0, 2),), "DWORD 0: an element without a stream"),
        ((1 << 29 | 1 << 28, data(0, 2)), "DWORD 1: an element without a stream"),
        ((stream(0), data(0, 8)), "DWORD 1: element type 8"),
        ((stream(0), data(16, 2)), "DWORD 1: input register 16, limit 15"),
        ((stream(0), data(31, 2)), "input register 31, limit"),
        ((stream(0), data(1, 2), data(1, 2)), "DWORD 2: register 1 has an element already"),
        ((4 << 29 | 1 << 25, 1, 2, 3), "DWORD 0: needs 4 DWORDs after it, 3 are left"),
        ((5 << 29 | 2 << 24, 1), "DWORD 0: needs 2 DWORDs after it, 1 are left"),
        ((3 << 29 | 31,), "input register 31, limit"),
        ((tess_normal(0, 3),), "no normals can be computed from register 0"),
        ((stream(0), data(0, 1), tess_normal(0, 3)), "no normals .* from register 0"),
        ((TESS_UV | 7, tess_normal(7, 3)), "no normals can be computed from register 7"),
        ((stream(0), data(7, 1), TESS_UV | 7), "DWORD 2: register 7 has an element already"),
        ((TESS_UV | 7, stream(0), data(7, 1)), "DWORD 2: register 7 has an element already"),
        ((TESS_UV | 7, TESS_UV | 7), "DWORD 1: register 7 has an element already"),
    ],
)
def test_bad_token_is_a_fault(tokens: tuple[int, ...], what: str) -> None:
    with pytest.raises(Fault, match=what) as raised:
        declaration8(vsd(*tokens), programmable=True)
    assert raised.value.hr == HResult.D3DERR_DRIVERINVALIDCALL


def test_fixed_function_has_a_seventeenth_register() -> None:
    assert declaration8(vsd(stream(0), data(16, 2)), programmable=False).registers == (16,)
    with pytest.raises(Fault, match="input register 17, limit 16"):
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

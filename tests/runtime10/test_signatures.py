"""Vertex elements by name become elements by register."""

from __future__ import annotations

import pytest

from dp2emu.ddi10.states.input_layout import InputElement
from dp2emu.runtime10 import Code, Refused, Result, VertexElement
from dp2emu.runtime10.signatures import APPEND, resolved, texel_bytes
from dp2emu.shader.sm4.container import ComponentType, Element, Signature
from tests.shader.sm4.making import recorded

FLOAT4, FLOAT2, UNORM4, HALF1, BYTE1 = 2, 16, 28, 54, 61


def signature(*names: str) -> Signature:
    return tuple(
        Element(name.rstrip("0123456789"), int(name[-1]) if name[-1].isdigit() else 0, 0,
                ComponentType.FLOAT, register, 15, 15)
        for register, name in enumerate(names)
    )  # fmt: skip


def test_elements_are_found_by_name_and_index_in_any_case() -> None:
    inputs = signature("POSITION", "TEXCOORD0", "TEXCOORD1")
    given = [
        VertexElement("texcoord", 1, FLOAT2, 1, 4, 1, 3),
        VertexElement("Position", 0, FLOAT4, 0, 0),
        VertexElement("TexCoord", 0, FLOAT2, 0, 16),
        VertexElement("UNUSED", 0, FLOAT2, 0, 24),
    ]
    assert resolved(given, inputs) == (
        InputElement(0, 0, FLOAT4, 0, 0, 0),
        InputElement(0, 16, FLOAT2, 0, 0, 1),
        InputElement(1, 4, FLOAT2, 1, 3, 2),
    )


def test_what_the_input_assembler_makes_needs_no_element() -> None:
    inputs = signature("POSITION", "SV_VertexID", "SV_INSTANCEID")
    found = resolved([VertexElement("POSITION", 0, FLOAT4, 0)], inputs)
    assert [element.InputRegister for element in found] == [0]


def test_an_input_without_an_element_is_refused() -> None:
    with pytest.raises(Refused) as caught:
        resolved([VertexElement("COLOR", 0, FLOAT4, 0)], signature("POSITION"))
    assert caught.value.hr == Result.E_INVALIDARG


def test_elements_are_appended_in_their_slot_and_aligned() -> None:
    names = ("A", "B", "C", "D", "E")
    given = [
        VertexElement("A", 0, BYTE1, 0, APPEND),
        VertexElement("B", 0, FLOAT4, 0, APPEND),
        VertexElement("C", 0, HALF1, 1, APPEND),
        VertexElement("D", 0, HALF1, 1, APPEND),
        VertexElement("E", 0, UNORM4, 0, APPEND),
    ]
    found = resolved(given, signature(*names))
    assert [element.AlignedByteOffset for element in found] == [0, 4, 0, 2, 20]


@pytest.mark.parametrize("format", [0, 200, 1 << 31])
def test_formats_without_bytes_are_refused(format: int) -> None:
    with pytest.raises(Refused) as caught:
        resolved([VertexElement("A", 0, format, 0)], signature("A"))
    assert caught.value.hr == Result.E_INVALIDARG


@pytest.mark.parametrize(("format", "size"), [(2, 16), (16, 8), (28, 4), (54, 2), (61, 1)])
def test_bytes_of_a_texel(format: int, size: int) -> None:
    assert texel_bytes(format) == size


def test_a_container_tells_what_goes_in_and_out() -> None:
    (row,) = (row for row in recorded() if row["shader"] == "vs_pass")
    code = Code.of(bytes.fromhex(row["dxbc"]))
    assert code.program == bytes.fromhex(row["tokens"])
    assert [element.semantic for element in code.inputs] == ["POSITION", "COLOR"]
    assert len(code.signatures.pInputSignature) == len(code.signatures.pOutputSignature) == 2

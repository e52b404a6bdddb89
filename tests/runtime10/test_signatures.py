"""Vertex elements by name become elements by register."""

from __future__ import annotations

import pytest

from dp2emu.ddi10.adapter import Adapter
from dp2emu.ddi10.states.input_layout import InputElement
from dp2emu.runtime10 import Code, DriverDevice, Refused, Result, StreamDeclaration, VertexElement
from dp2emu.runtime10.signatures import APPEND, input_elements, texel_bytes
from dp2emu.shader.sm4.assemble import assemble
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
    assert input_elements(given, inputs) == (
        InputElement(0, 0, FLOAT4, 0, 0, 0),
        InputElement(0, 16, FLOAT2, 0, 0, 1),
        InputElement(1, 4, FLOAT2, 1, 3, 2),
    )


def test_what_the_input_assembler_makes_needs_no_element() -> None:
    inputs = signature("POSITION", "SV_VertexID", "SV_INSTANCEID")
    found = input_elements([VertexElement("POSITION", 0, FLOAT4, 0)], inputs)
    assert [element.InputRegister for element in found] == [0]


def test_an_input_without_an_element_is_refused() -> None:
    with pytest.raises(Refused) as caught:
        input_elements([VertexElement("COLOR", 0, FLOAT4, 0)], signature("POSITION"))
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
    found = input_elements(given, signature(*names))
    assert [element.AlignedByteOffset for element in found] == [0, 4, 0, 2, 20]


@pytest.mark.parametrize("format", [0, 200, 1 << 31])
def test_formats_without_bytes_are_refused(format: int) -> None:
    with pytest.raises(Refused) as caught:
        input_elements([VertexElement("A", 0, format, 0)], signature("A"))
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


VERTEX = """vs_4_0
dcl_input v1.xyzw
dcl_input v3.xy
dcl_input_sgv v4.x, vertex_id
dcl_output_siv o0.xyzw, position
dcl_output o1.xy
mov o0.xyzw, v1.xyzw
mov o1.xy, v3.xyxx
ret"""


def test_code_without_signatures_names_the_registers_that_its_program_declares() -> None:
    code = Code(assemble(VERTEX))
    names = [(each.semantic, each.index, each.register, each.mask) for each in code.named_inputs]
    assert names == [("v", 1, 1, 15), ("v", 3, 3, 3), ("SV_VERTEXID", 0, 4, 1)]
    names = [(each.semantic, each.index, each.register, each.mask) for each in code.named_outputs]
    assert names == [("SV_POSITION", 0, 0, 15), ("o", 1, 1, 3)]


def test_a_layout_for_code_without_signatures_reaches_the_declared_registers() -> None:
    device = DriverDevice(Adapter(checking=True))
    shader = device.create_shader("Vertex", Code(assemble(VERTEX)))
    elements = [VertexElement("V", 3, FLOAT2, 0), VertexElement("V", 1, FLOAT4, 0)]
    found = input_elements(elements, shader.code.named_inputs)
    assert found == (InputElement(0, 8, FLOAT4, 0, 0, 1), InputElement(0, 0, FLOAT2, 0, 0, 3))
    assert device.create_input_layout(elements, shader).memory


def test_no_element_is_dropped_in_silence_for_code_without_signatures() -> None:
    device = DriverDevice(Adapter(checking=True))
    shader = device.create_shader("Vertex", Code(assemble(VERTEX), (), ()))
    with pytest.raises(Refused, match="no element v1") as caught:
        device.create_input_layout([VertexElement("POSITION", 0, FLOAT4, 0)], shader)
    assert caught.value.hr == Result.E_INVALIDARG


def test_stream_output_of_code_without_signatures_names_declared_registers() -> None:
    device = DriverDevice(Adapter(checking=True))
    streamed = [StreamDeclaration(0, "SV_Position", 0, 0, 4, 0),
                StreamDeclaration(0, "o", 1, 0, 2, 0)]  # fmt: skip
    assert device.create_streaming_shader(Code(assemble(VERTEX)), streamed, [24], 0).memory

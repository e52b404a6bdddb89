"""Declarations by semantics become registers and masks of what a shader puts out."""

from __future__ import annotations

import pytest

from dp2emu.ddi10.shaders.stream_output import GAP, StreamOutputShader, StreamOutputShader11
from dp2emu.runtime10 import Api, Code, Refused, Result, StreamDeclaration
from dp2emu.runtime10.streamout import check_declaration, stream_output_desc
from dp2emu.shader.sm4.container import ComponentType, Element
from dp2emu.shader.sm4.versions import V5_0, Stage, Version

OUTPUTS = (
    Element("SV_Position", 0, 1, ComponentType.FLOAT, 0, 0b1111, 0),
    Element("Aux", 0, 0, ComponentType.FLOAT, 1, 0b0011, 0),
    Element("Aux", 1, 0, ComponentType.FLOAT, 1, 0b1100, 0),
    Element("Aux", 0, 0, ComponentType.UINT, 2, 0b0111, 0, stream=2),
    Element("SV_PrimitiveID", 0, 7, ComponentType.UINT, None, 1, 0),
)


def code(stage: Stage = Stage.GEOMETRY) -> Code:
    return Code(Version(stage, V5_0).token.to_bytes(4, "little"), (), OUTPUTS)


def entries(*declared: tuple[object, ...]) -> list[tuple[int, ...]]:
    rows = [StreamDeclaration(*row) for row in declared]  # type: ignore[arg-type]
    found = stream_output_desc(Api.D3D11, code(), rows, (), 0)
    return [tuple(entry) for entry in found.pOutputStreamDecl]


def test_semantics_are_found_by_name_index_and_stream_in_any_case() -> None:
    assert entries(
        (0, "SV_POSITION", 0, 0, 4, 1), (0, "aux", 1, 0, 2, 0), (2, "AUX", 0, 1, 2, 3)
    ) == [(0, 1, 0, 0b1111), (0, 0, 1, 0b1100), (2, 3, 2, 0b0110)]  # fmt: skip


@pytest.mark.parametrize(
    ("start", "count", "mask"), [(0, 1, 0b0100), (1, 1, 0b1000), (0, 2, 0b1100)]
)
def test_components_count_from_the_first_that_the_element_has(
    start: int, count: int, mask: int
) -> None:
    assert entries((0, "AUX", 1, start, count, 0)) == [(0, 0, 1, mask)]


@pytest.mark.parametrize(
    ("count", "masks"), [(1, [1]), (3, [7]), (4, [15]), (6, [15, 3]), (12, [15] * 3)]
)
def test_a_long_gap_is_several(count: int, masks: list[int]) -> None:
    assert entries((0, None, 0, 0, count, 2)) == [(0, 2, GAP, mask) for mask in masks]


@pytest.mark.parametrize(
    "declared",
    [(0, "NOTHING", 0, 0, 1, 0), (0, "AUX", 2, 0, 1, 0), (1, "AUX", 0, 0, 1, 0),
     (0, "AUX", 0, 0, 3, 0), (0, "AUX", 0, 2, 1, 0), (0, "AUX", 0, 0, 0, 0),
     (0, "AUX", 0, 0, 0xFFFFFFFF, 0), (0, "AUX", 0, 0xFFFFFFFF, 1, 0), (0, "AUX", 0, 0, 1, 4),
     (4, "AUX", 0, 0, 1, 0), (0, None, 0, 0, 0, 0), (0, None, 0, 1, 1, 0),
     (0, None, 0, 0, 256, 0), (0, "SV_PRIMITIVEID", 0, 0, 1, 0)],
)  # fmt: skip
def test_what_no_shader_puts_out_is_refused(declared: tuple[object, ...]) -> None:
    with pytest.raises(Refused) as error:
        entries(declared)
    assert error.value.hr == Result.E_INVALIDARG


@pytest.mark.parametrize("stage", Stage)
def test_what_stands_before_a_geometry_shader_is_no_program(stage: Stage) -> None:
    row = [StreamDeclaration(0, "AUX", 0, 0, 2, 0)]
    if stage in (Stage.PIXEL, Stage.HULL, Stage.COMPUTE):
        with pytest.raises(Refused):
            stream_output_desc(Api.D3D11, code(stage), row, (), 0)
        return
    found = stream_output_desc(Api.D3D11, code(stage), row, (8,), 0)
    program = code(stage).program if stage is Stage.GEOMETRY else None
    assert found == StreamOutputShader11(program, ((0, 0, 1, 3),), (8,), 0)  # type: ignore[arg-type]


@pytest.mark.parametrize(("slot", "stride"), [(0, 40), (1, 0)])
def test_direct3d_10_has_a_stride_for_a_single_slot(slot: int, stride: int) -> None:
    rows = [StreamDeclaration(0, "AUX", 0, 0, 2, 0), StreamDeclaration(0, "AUX", 1, 0, 2, slot)]
    found = stream_output_desc(Api.D3D10, code(), rows, (40, 8), 0xFFFFFFFF)
    assert found == StreamOutputShader(
        code().program,
        ((0, 1, 3), (slot, 1, 12)),
        stride,  # type: ignore[arg-type]
    )


def test_direct3d_10_has_a_single_stream_and_11_four() -> None:
    for api, stream, rasterized in ((Api.D3D10, 2, 0), (Api.D3D11, 0, 4)):
        row = StreamDeclaration(stream, "AUX", 0, 0, 2, 0)
        with pytest.raises(Refused):
            stream_output_desc(api, code(), [row], (), rasterized)


@pytest.mark.parametrize(("strides", "slot"), [((4,), 0), ((2052,), 0), ((8, 4), 1)])
def test_strides_that_entries_do_not_fit_in_are_refused(
    strides: tuple[int, ...], slot: int
) -> None:
    with pytest.raises(Refused) as error:
        stream_output_desc(
            Api.D3D11, code(), [StreamDeclaration(0, "AUX", 0, 0, 2, slot)], strides, 0
        )
    assert error.value.hr == Result.E_INVALIDARG


def test_tokens_that_are_no_version_are_refused() -> None:
    with pytest.raises(Refused):
        stream_output_desc(Api.D3D11, Code(b"", (), OUTPUTS), [], (), 0)


DECLARED = {
    "slot 0": [(0, "AUX", 0, 0, 2, 0), (0, "AUX", 1, 0, 2, 0)],
    "slot 3": [(0, "AUX", 0, 0, 2, 3)],
    "slots 0 and 1": [(0, "AUX", 0, 0, 2, 0), (0, "AUX", 1, 0, 2, 1)],
    "two in slot 1": [(0, "AUX", 0, 0, 2, 1), (0, "AUX", 1, 0, 2, 1)],
    "a gap in slot 0": [(0, "AUX", 0, 0, 2, 0), (0, None, 0, 0, 2, 0)],
    "a gap in slot 1": [(0, "AUX", 0, 0, 2, 0), (0, None, 0, 0, 2, 1)],
    "a numbered gap": [(0, "AUX", 0, 0, 2, 0), (0, None, 1, 0, 2, 0)],
    "no entry": [],
}


def taken(api: Api, declared: str, *strides: tuple[int, ...]) -> list[tuple[int, ...]]:
    rows = [StreamDeclaration(*row) for row in DECLARED[declared]]  # type: ignore[arg-type]
    found = []
    for each in strides:
        try:
            check_declaration(api, rows, each)
        except Refused as error:
            assert error.hr == Result.E_INVALIDARG
        else:
            found.append(each)
    return found


@pytest.mark.parametrize(
    ("declared", "strides"),
    [("slot 0", [(16,), (40,)]), ("slot 3", [(0,)]), ("slots 0 and 1", [(0,)]),
     ("two in slot 1", []), ("a gap in slot 0", [(16,), (40,)]), ("a gap in slot 1", []),
     ("a numbered gap", []), ("no entry", [])],
)  # fmt: skip
def test_direct3d_10_has_a_stride_for_slot_0_alone_else_one_entry_a_slot(
    declared: str, strides: list[tuple[int, ...]]
) -> None:
    assert taken(Api.D3D10, declared, (0,), (16,), (38,), (40,)) == strides


@pytest.mark.parametrize(
    ("declared", "strides"),
    [("slot 0", [(), (16,), (16, 1), (16, 40)]), ("slot 3", [()]),
     ("slots 0 and 1", [(), (16, 40)]), ("two in slot 1", [(), (16, 40), (0, 16)]),
     ("a gap in slot 0", [(), (16,), (16, 1), (16, 40)]), ("a gap in slot 1", []),
     ("a numbered gap", []), ("no entry", [])],
)  # fmt: skip
def test_direct3d_11_has_whole_strides_of_the_slots_that_are_used(
    declared: str, strides: list[tuple[int, ...]]
) -> None:
    given = (), (0,), (16,), (15,), (16, 1), (16, 40), (0, 16)
    assert taken(Api.D3D11, declared, *given) == strides


def test_without_a_declaration_direct3d_10_has_no_stride() -> None:
    check_declaration(Api.D3D10, None, (0,))
    check_declaration(Api.D3D11, None, (16,))
    with pytest.raises(Refused):
        check_declaration(Api.D3D10, None, (16,))

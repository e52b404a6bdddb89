"""FVF codes: sizes, offsets and what the versions of DirectX differ in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.d3d import fvf
from dp2emu.d3d.enums import DeclType, DeclUsage
from dp2emu.d3d.fvf import fvf_layout, fvf_size
from dp2emu.d3d.vertices import Element
from dp2emu.errors import Fault

COLORED = fvf.XYZRHW | fvf.DIFFUSE


@pytest.mark.parametrize(
    ("code", "size"),
    [
        (0x000, 0),
        (0x002, 12),
        (0x004, 16),
        (0x006, 16),
        (0x008, 20),
        (0x00A, 24),
        (0x00C, 28),
        (0x00E, 32),
        (0x012, 24),
        (0x044, 20),
        (0x0C4, 24),
        (0x1C4, 32),
        (0x1006, 16),
        (0x800E, 32),
        (0x10104, 28),
        (0x20104, 32),
        (0x30104, 20),
        (0x0824, 16 + 4 + 8 * 8),
    ],
)
def test_size_follows_the_table_of_the_format(code: int, size: int) -> None:
    assert fvf_size(code) == size


def test_xyzw_exists_from_directx_9_on() -> None:
    assert fvf_size(0x4002, 9) == 16
    assert fvf_size(0x4002, 8) == 12


def test_fog_value_takes_room_from_directx_9_on() -> None:
    assert fvf_size(COLORED | fvf.FOG, 9) == 24
    assert fvf_size(COLORED | fvf.FOG, 7) == 20


def test_bit_5_is_a_reserved_dword_up_to_directx_7_and_point_size_after() -> None:
    old = fvf_layout(COLORED | fvf.PSIZE, 7)
    new = fvf_layout(COLORED | fvf.PSIZE, 8)
    assert fvf_size(COLORED | fvf.PSIZE, 7) == fvf_size(COLORED | fvf.PSIZE, 8) == 24
    assert [e.usage for e in old.elements] == [DeclUsage.POSITIONT, DeclUsage.COLOR]
    assert old.elements[1].offset == 20
    assert new.elements[1] == Element(0, 16, DeclType.FLOAT1, DeclUsage.PSIZE)


def test_colours_are_in_memory_order() -> None:
    layout = fvf_layout(COLORED | fvf.SPECULAR)
    assert layout.elements[1:] == (
        Element(0, 16, DeclType.D3DCOLOR, DeclUsage.COLOR, 0),
        Element(0, 20, DeclType.D3DCOLOR, DeclUsage.COLOR, 1),
    )


def test_only_xyzrhw_is_transformed() -> None:
    codes = (0x002, 0x004, 0x006, 0x008, 0x00A, 0x00C, 0x00E, 0x4002)
    assert [code for code in codes if fvf_layout(code).transformed] == [fvf.XYZRHW]


def test_last_beta_can_be_indices() -> None:
    indexed = fvf_layout(0x00A | fvf.LASTBETA_UBYTE4).elements
    assert [(e.type, e.usage) for e in indexed[1:]] == [
        (DeclType.FLOAT2, DeclUsage.BLENDWEIGHT),
        (DeclType.UBYTE4, DeclUsage.BLENDINDICES),
    ]
    only = fvf_layout(0x006 | fvf.LASTBETA_D3DCOLOR).elements
    assert [(e.type, e.usage) for e in only[1:]] == [(DeclType.D3DCOLOR, DeclUsage.BLENDINDICES)]


def test_nine_texture_coordinate_sets_are_refused() -> None:
    with pytest.raises(Fault, match="9 texture coordinate sets"):
        fvf_size(COLORED | 0x900)


@given(st.integers(0, 0xFFFFFFFF), st.sampled_from([6, 7, 8, 9]))
def test_elements_lie_in_the_vertex_one_after_another(code: int, interface: int) -> None:
    if (code >> 8 & 0xF) > 8:
        return
    elements = fvf_layout(code, interface).elements
    offsets = [e.offset for e in elements]
    assert offsets == sorted(set(offsets))
    assert all(e.offset < fvf_size(code, interface) for e in elements)

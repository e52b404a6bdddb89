"""Enumerations of Direct3D 10 against the numbers of d3d10.h."""

from __future__ import annotations

import pytest

from dp2emu.d3d.enums import Blend, PrimitiveType
from dp2emu.d3d.enums10 import Blend10, Topology10

ALIKE = {
    Blend10.ZERO: Blend.ZERO, Blend10.ONE: Blend.ONE, Blend10.SRC_COLOR: Blend.SRCCOLOR,
    Blend10.INV_SRC_COLOR: Blend.INVSRCCOLOR, Blend10.SRC_ALPHA: Blend.SRCALPHA,
    Blend10.INV_SRC_ALPHA: Blend.INVSRCALPHA, Blend10.DEST_ALPHA: Blend.DESTALPHA,
    Blend10.INV_DEST_ALPHA: Blend.INVDESTALPHA, Blend10.DEST_COLOR: Blend.DESTCOLOR,
    Blend10.INV_DEST_COLOR: Blend.INVDESTCOLOR, Blend10.SRC_ALPHA_SAT: Blend.SRCALPHASAT,
    Blend10.BLEND_FACTOR: Blend.BLENDFACTOR, Blend10.INV_BLEND_FACTOR: Blend.INVBLENDFACTOR,
    Blend10.SRC1_COLOR: Blend.SRCCOLOR2, Blend10.INV_SRC1_COLOR: Blend.INVSRCCOLOR2,
}  # fmt: skip


@pytest.mark.parametrize(("own", "other"), ALIKE.items())
def test_factors_of_both_interfaces_are_equal(own: Blend10, other: Blend) -> None:
    assert own == other
    assert own.sdk == f"D3D10_BLEND_{own.name}"


def test_direct3d_10_alone_has_factors_of_the_second_alpha() -> None:
    assert set(Blend10) - set(ALIKE) == {Blend10.SRC1_ALPHA, Blend10.INV_SRC1_ALPHA}
    assert (Blend10.SRC1_ALPHA, Blend10.INV_SRC1_ALPHA) == (18, 19)


def test_lists_and_strips_of_both_interfaces_are_equal() -> None:
    patches = range(33, 65)
    assert [t.value for t in Topology10] == [1, 2, 3, 4, 5, 10, 11, 12, 13, *patches]
    for name in ("POINTLIST", "LINELIST", "LINESTRIP", "TRIANGLELIST", "TRIANGLESTRIP"):
        assert Topology10[name] == PrimitiveType[name]

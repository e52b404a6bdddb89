"""GetCaps."""

from __future__ import annotations

import pytest

from dp2emu.ddi10.adapter import Adapter
from dp2emu.ddi10.codes import DdiCode


@pytest.mark.parametrize(("type", "caps"), [(128, 0), (129, 3), (130, 7)])
def test_an_adapter_says_what_it_can_do(type: int, caps: int) -> None:
    data = bytearray(b"\xee" * 4)
    assert Adapter().get_caps(type, data) == 0
    assert int.from_bytes(data, "little") == caps


@pytest.mark.parametrize(("type", "size"), [(127, 4), (131, 4), (128, 3), (130, 8), (129, 0)])
def test_other_types_and_sizes_are_invalid(type: int, size: int) -> None:
    data = bytearray(b"\xee" * size)
    assert Adapter().get_caps(type, data) == DdiCode.E_INVALIDARG
    assert data == b"\xee" * size

"""Every method of every interface has its row."""

from __future__ import annotations

import pytest

from dp2emu.retrace import METHODS
from tests.retrace.interfaces import INTERFACES


@pytest.mark.parametrize("interface", INTERFACES)
def test_every_method_has_a_row_that_says_what_it_does(interface: str) -> None:
    names = [f"{interface}::{method}" for method in INTERFACES[interface].split()]
    assert [name for name in names if name not in METHODS] == []
    assert all(METHODS[name].says for name in names)

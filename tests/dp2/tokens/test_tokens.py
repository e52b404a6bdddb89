"""Every token of the table does something, but one whose use nobody documents."""

from __future__ import annotations

import pytest

from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.table import TABLE
from dp2emu.errors import Fault
from tests.dp2.tokens.recorder import executed


@pytest.mark.parametrize("op", sorted(set(TABLE) - {Op.EXT}), ids=lambda op: Op(op).name)
def test_every_token_does_something(op: int) -> None:
    assert executed(TABLE[op].samples[0])


def test_extensions_are_refused() -> None:
    with pytest.raises(Fault) as caught:
        executed(TABLE[Op.EXT].samples[0])
    assert caught.value.hr == HResult.D3DERR_COMMAND_UNPARSED

"""Tokens whose layout is known and whose execution is not built say so by name."""

from __future__ import annotations

import pytest

from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.table import TABLE, Op
from dp2emu.errors import Fault, Unsupported
from tests.dp2.tokens.recorder import executed

UNBUILT = {
    Op.DRAWRECTPATCH: "rectangle patches",
    Op.DRAWTRIPATCH: "triangle patches",
}


@pytest.mark.parametrize("op", UNBUILT, ids=lambda op: op.name)
def test_unbuilt_token_names_what_is_missing(op: Op) -> None:
    with pytest.raises(Unsupported) as caught:
        executed(TABLE[op].samples[0])
    assert caught.value.what == UNBUILT[op]


@pytest.mark.parametrize(
    "op", sorted(set(TABLE) - set(UNBUILT) - {Op.EXT}), ids=lambda op: Op(op).name
)
def test_every_other_token_does_something(op: int) -> None:
    assert executed(TABLE[op].samples[0])


def test_extensions_are_refused() -> None:
    with pytest.raises(Fault) as caught:
        executed(TABLE[Op.EXT].samples[0])
    assert caught.value.hr == HResult.D3DERR_COMMAND_UNPARSED

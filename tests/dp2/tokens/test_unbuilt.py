"""Tokens whose layout is known and whose execution is not built say so by name."""

from __future__ import annotations

import pytest

from dp2emu.dp2.table import TABLE, Op
from dp2emu.errors import Unsupported
from tests.dp2.tokens.recorder import executed

UNBUILT = {
    Op.EXT: "extension tokens",
    Op.DRAWRECTPATCH: "rectangle patches",
    Op.DRAWTRIPATCH: "triangle patches",
}


@pytest.mark.parametrize("op", UNBUILT, ids=lambda op: op.name)
def test_unbuilt_token_names_what_is_missing(op: Op) -> None:
    with pytest.raises(Unsupported) as caught:
        executed(TABLE[op].samples[0])
    assert caught.value.what == UNBUILT[op]


@pytest.mark.parametrize("op", sorted(set(TABLE) - set(UNBUILT)), ids=lambda op: Op(op).name)
def test_every_other_token_does_something(op: int) -> None:
    assert executed(TABLE[op].samples[0])

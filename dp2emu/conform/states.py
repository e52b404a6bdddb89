"""Cases of state blocks and of what the pipeline counts."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from dp2emu.conform.case import Case
from dp2emu.conform.draws import BOX, box, counted, pixels_of
from dp2emu.conform.script import Script, create, dwords, end, render_state, token
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import Cull, QueryType, RenderState
from dp2emu.dp2.tokens.state import StateSetOperation

_SOURCE = 'wire format, "State blocks"'
_TYPES = 'wire format, "Query types"'
_BLOCK = 3
_CLOCKWISE = token(Op.TRIANGLELIST, b"\0\0", 1)


def state_cases() -> Iterator[Case]:
    """Every case of this family."""
    yield from _blocks()
    yield from _counts()


def _block(operation: int) -> bytes:
    return dwords(Op.STATESET, operation, _BLOCK, 0)


def _cull(mode: Cull) -> bytes:
    return render_state(RenderState.CULLMODE, mode)


def _blocks() -> Iterator[Case]:
    drawn = pixels_of(BOX, ((0, 1, 2),))
    begun, ended = _block(StateSetOperation.BEGIN), _block(StateSetOperation.END)
    recorded = begun + _cull(Cull.CW) + ended
    yield counted(
        "state.block.recorded", "states between begin and end are recorded, not executed", _SOURCE,
        drawn, BOX, recorded, _CLOCKWISE,
    )  # fmt: skip
    yield counted(
        "state.block.executed", "executing a block sets the states that are in it", _SOURCE,
        drawn, BOX, recorded, _CLOCKWISE, _block(StateSetOperation.EXECUTE), _CLOCKWISE,
    )  # fmt: skip
    yield counted(
        "state.block.captured", "capturing refreshes the states that are in a block", _SOURCE,
        drawn, BOX, recorded, _block(StateSetOperation.CAPTURE), _cull(Cull.CW),
        _block(StateSetOperation.EXECUTE), _CLOCKWISE,
    )  # fmt: skip


def _counts() -> Iterator[Case]:
    script = Script()
    script.call(create(1, QueryType.VERTEXSTATS))
    script.call(box(), box(), end(1), corners=BOX)
    script.owe(1, QueryType.VERTEXSTATS, struct.pack("<2I", 4, 0))
    yield script.case(
        "count.triangles", "D3DQUERYTYPE_VERTEXSTATS counts triangles since the END before",
        _TYPES, optional=True,
    )  # fmt: skip
    script = Script()
    script.call(create(1, QueryType.VERTEXSTATS))
    script.call(box(), end(1), corners=BOX)
    script.owe(1, QueryType.VERTEXSTATS, struct.pack("<2I", 2, 0))
    yield script.case(
        "count.box", "a strip of four vertices is two triangles", _TYPES, optional=True
    )

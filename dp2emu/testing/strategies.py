"""Hypothesis strategies for command buffers, vertices, states and timing models.

Examples are bytes whose ``repr`` is the text of ``dp2emu dump``; they shrink to few tokens with
small fields.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Sequence

from hypothesis import strategies as st

from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import (
    DeclType,
    RenderState,
    TextureAddress,
    TextureArgument,
    TextureFilter,
    TextureOp,
)
from dp2emu.d3d.flags import Issue
from dp2emu.d3d.fvf import DIFFUSE, XYZRHW, fvf_layout, fvf_size
from dp2emu.d3d.sdk import SdkEnum
from dp2emu.d3d.vertices import Element
from dp2emu.d3d.wirenames import FLOAT_RENDER_STATES, WireTextureStageState
from dp2emu.dp2.generate import generate
from dp2emu.dp2.queries import KINDS
from dp2emu.dp2.table import TABLE
from dp2emu.gpu.device.timing import Timing, by_work, fixed, instant, seeded
from dp2emu.testing.explaining import token_text
from dp2emu.text.remarks import STATE_ENUMS

OPS: tuple[int, ...] = tuple(sorted(TABLE))
"""All valid DrawPrimitives2 token opcodes, ascending."""


class Commands(bytes):
    """DrawPrimitives2 command bytes whose ``repr`` is their tokens as text.

    >>> Commands(bytes([0x5B, 0, 1, 0, 7, 0, 0, 0, 1, 0, 0, 0]))
    ISSUEQUERY
      - dwQueryID=7 dwFlags=1
    """

    def __repr__(self) -> str:
        return "\n".join(token_text(self)) or "(no commands)"


class Vertices(bytes):
    """Vertices of ``fvf`` whose ``repr`` lists their DWORDs, positions as floats."""

    fvf = XYZRHW | DIFFUSE

    def __repr__(self) -> str:
        words = fvf_size(self.fvf) // 4
        lines = struct.iter_unpack(f"<{words}I", self)
        return f"FVF {self.fvf:#x}: " + "; ".join(_row(line) for line in lines)


def _row(words: Sequence[int]) -> str:
    position = struct.unpack("<3f", struct.pack("<3I", *words[:3]))
    return " ".join([*(f"{value:g}" for value in position), *(f"{word:#x}" for word in words[3:])])


def timings() -> st.SearchStrategy[Timing]:
    """Timing models of the emulator: instant, fixed, by work, seeded."""
    return st.one_of(
        st.just(instant()),
        st.builds(fixed, st.integers(1, 50), st.integers(0, 200), st.integers(0, 100)),
        st.just(by_work()),
        st.builds(seeded, st.integers(0, 1 << 32)),
    )


@st.composite
def command_buffers(
    draw: st.DrawFn,
    *,
    ops: Collection[int] = OPS,
    most: int = 8,
    start: int = 0,
    vertex_size: int = 32,
) -> Commands:
    """Up to ``most`` valid tokens of ``ops`` for byte ``start`` of a surface; inline vertices have
    ``vertex_size`` bytes.

    Valid tokens have a valid length (``dp2.generate``); a driver may still refuse their fields.
    """
    data = b""
    for op in draw(st.lists(st.sampled_from(sorted(ops)), max_size=most)):
        random = draw(st.randoms(use_true_random=False))
        data += generate(TABLE[op], random, at=start + len(data), vertex_size=vertex_size)
    return Commands(data)


@st.composite
def tokens(draw: st.DrawFn, *, ops: Collection[int] = OPS, vertex_size: int = 32) -> Commands:
    """One valid token of ``ops``; inline vertices have ``vertex_size`` bytes."""
    random = draw(st.randoms(use_true_random=False))
    op = draw(st.sampled_from(sorted(ops)))
    return Commands(generate(TABLE[op], random, vertex_size=vertex_size))


@st.composite
def query_commands(
    draw: st.DrawFn, *, kinds: Collection[int] = tuple(KINDS), ids: int = 4, most: int = 12
) -> Commands:
    """Up to ``most`` valid tokens that create, issue and delete queries of ``kinds``; ids are less
    than ``ids``.
    """
    data, live = b"", set[int]()
    for _ in range(draw(st.integers(0, most))):
        query = draw(st.integers(0, ids - 1))
        if query not in live:
            live.add(query)
            data += _pair(Op.CREATEQUERY, query, draw(st.sampled_from(sorted(kinds))))
        elif draw(st.integers(0, 4)) == 0:
            live.remove(query)
            data += struct.pack("<BBHI", Op.DELETEQUERY, 0, 1, query)
        else:
            data += _pair(Op.ISSUEQUERY, query, draw(st.sampled_from(_ISSUES)))
    return Commands(data)


_ISSUES = tuple(map(int, (Issue.END, Issue.BEGIN, Issue.BEGIN | Issue.END)))


def _pair(op: Op, one: int, other: int) -> bytes:
    return struct.pack("<BBHII", op, 0, 1, one, other)


@st.composite
def vertices(
    draw: st.DrawFn, fvf: int = XYZRHW | DIFFUSE, *, count: int = 3, across: int = 64
) -> Vertices:
    """``count`` vertices of ``fvf``: positions from -8 to ``across`` + 8 in steps of 1/16, depth
    and other floats from 0 to 1, RHW from 1/16 to 4, colours and the rest any DWORD.

    Raises Fault for an invalid FVF.
    """
    layout, size = fvf_layout(fvf), fvf_size(fvf)
    made = b""
    for _ in range(count):
        vertex = bytearray(size)
        for element in layout.elements:
            data = draw(_element(element, layout.transformed, across))
            vertex[element.offset : element.offset + len(data)] = data
        made += vertex
    shown = Vertices(made)
    shown.fvf = fvf
    return shown


_FLOATS: dict[object, int] = {
    DeclType.FLOAT1: 1, DeclType.FLOAT2: 2, DeclType.FLOAT3: 3, DeclType.FLOAT4: 4,
}  # fmt: skip


def _element(element: Element, transformed: bool, across: int) -> st.SearchStrategy[bytes]:
    count = _FLOATS.get(element.type, 0)
    if not count:
        return st.integers(0, 0xFFFFFFFF).map(lambda word: struct.pack("<I", word))
    lanes = [_UNIT] * count
    if element.offset == 0 and transformed:
        lanes[:4] = [_sixteenths(-128, 16 * across + 128)] * 2 + [_UNIT, _sixteenths(1, 64)]
    return st.tuples(*lanes[:count]).map(lambda values: struct.pack(f"<{count}f", *values))


def _sixteenths(least: int, most: int) -> st.SearchStrategy[float]:
    return st.integers(least, most).map(lambda value: value / 16)


_UNIT = _sixteenths(0, 16)


@st.composite
def device_states(draw: st.DrawFn, *, most: int = 6, stages: int = 8) -> Commands:
    """Up to ``most`` tokens with render states, and states of texture stages and samplers with
    numbers less than ``stages``.

    The values are valid: a constant of the state's enumeration, a float from 0 to 1, or 0, 1 or
    all bits.
    """
    either = st.one_of(render_states(), stage_states(stages=stages)) if stages else render_states()
    return Commands(b"".join(draw(st.lists(either, max_size=most))))


def render_states() -> st.SearchStrategy[Commands]:
    """A RENDERSTATE token with one state and a valid value (see ``device_states``)."""
    return st.sampled_from(list(RenderState)).flatmap(_render_state)


def _render_state(state: RenderState) -> st.SearchStrategy[Commands]:
    enum, is_float = STATE_ENUMS.get(state), state in FLOAT_RENDER_STATES
    return _value(enum, is_float).map(lambda value: Commands(_pair(Op.RENDERSTATE, state, value)))


@st.composite
def stage_states(draw: st.DrawFn, *, stages: int = 8) -> Commands:
    """A TEXTURESTAGESTATE token of a stage less than ``stages`` or its sampler, whose states have
    DirectX 8 numbers, with a value as in ``device_states``.  It binds no texture.
    """
    state = draw(st.sampled_from(_STAGE_STATES))
    name = state.sdk.removeprefix("D3DTSS_")
    value = draw(_value(_STAGE_ENUMS.get(name), name in _STAGE_FLOATS))
    stage = draw(st.integers(0, stages - 1))
    return Commands(struct.pack("<BBHHHI", Op.TEXTURESTAGESTATE, 0, 1, stage, state, value))


_STAGE_STATES = [state for state in WireTextureStageState if state != 0]
_STAGE_ENUMS: dict[str, type[SdkEnum]] = {
    **dict.fromkeys(("COLOROP", "ALPHAOP"), TextureOp),
    **dict.fromkeys(
        (f"{lane}ARG{n}" for lane in ("COLOR", "ALPHA") for n in range(3)), TextureArgument
    ),
    "RESULTARG": TextureArgument,
    **dict.fromkeys(("ADDRESS", "ADDRESSU", "ADDRESSV", "ADDRESSW"), TextureAddress),
    **dict.fromkeys(("MAGFILTER", "MINFILTER", "MIPFILTER"), TextureFilter),
}
_STAGE_FLOATS = frozenset(
    (
        "BUMPENVMAT00", "BUMPENVMAT01", "BUMPENVMAT10", "BUMPENVMAT11", "BUMPENVLSCALE",
        "BUMPENVLOFFSET", "MIPMAPLODBIAS",
    )
)  # fmt: skip


def _value(enum: type[SdkEnum] | None, is_float: bool) -> st.SearchStrategy[int]:
    if is_float:
        return _UNIT.map(lambda value: int.from_bytes(struct.pack("<f", value), "little"))
    if enum is not None:
        return st.sampled_from([int(value) for value in enum])
    return st.sampled_from([0, 1, 0xFFFFFFFF])

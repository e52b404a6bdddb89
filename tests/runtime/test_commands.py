"""Command buffers: bytes by the token table, whole tokens, nothing lost between calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.d3d.dp2structs import Op
from dp2emu.dp2.table import TABLE, Since
from dp2emu.dp2.walk import decode, scan
from dp2emu.errors import UsageError
from dp2emu.runtime import CommandBuffer

dwords = st.integers(0, 0xFFFFFFFF)


class Sent:
    """A buffer and the calls it made."""

    def __init__(self, capacity: int) -> None:
        self.calls: list[bytes] = []
        self.buffer = CommandBuffer(capacity, self.calls.append)

    def tokens(self) -> list[tuple[str, list[Any]]]:
        """Every token of every call as (name, items)."""
        found = []
        for call in self.calls:
            scanned = scan(call, 0, len(call), 0)
            assert scanned.problem is None
            for _, token, count, start, end in scanned.commands:
                body = decode(token, call, count, start, end, 0)
                found.append((token.name, body.items.tolist()))
        return found


def test_a_token_has_the_bytes_of_the_reference() -> None:
    sent = Sent(64)
    sent.buffer.emit(Op.CREATEQUERY, [(5, 9)])
    assert sent.buffer.take().hex(" ") == "54 00 01 00 05 00 00 00 09 00 00 00"


def test_render_states_set_one_by_one_share_a_token() -> None:
    sent = Sent(64)
    sent.buffer.emit(Op.RENDERSTATE, [(7, 1)])
    sent.buffer.emit(Op.RENDERSTATE, [(14, 1)])
    expected = "08 00 02 00 07 00 00 00 01 00 00 00 0e 00 00 00 01 00 00 00"
    assert sent.buffer.take().hex(" ") == expected


@pytest.mark.parametrize(("op", "item"), [
    (Op.RENDERSTATE, (np.uint8(7), 1.75)),
    (Op.ZRANGE, (-1e39, np.float64(0.1))),
    (Op.SETTRANSFORM, (2, tuple(np.arange(16.0)))),
    (Op.SETTRANSFORM, (2, tuple(1e38 * n for n in range(16)))),
    (Op.BLT, (5, (0, 0, 4, 4), 0, 6, (1, 2.5, 3, 4), 0, True)),
])  # fmt: skip
def test_values_are_converted_as_numpy_converts_them(op: Op, item: Any) -> None:
    sent = Sent(128)
    sent.buffer.emit(op, [item])
    with np.errstate(over="ignore"):
        expected = np.array([item], TABLE[op].item_dtype).tobytes()
    assert sent.buffer.take()[4:] == expected


def test_another_token_between_render_states_keeps_them_apart() -> None:
    sent = Sent(64)
    sent.buffer.emit(Op.RENDERSTATE, [(7, 1)])
    sent.buffer.emit(Op.ZRANGE, [(0.0, 1.0)])
    sent.buffer.emit(Op.RENDERSTATE, [(14, 1)])
    sent.buffer.flush()
    assert [name for name, _ in sent.tokens()] == ["RENDERSTATE", "ZRANGE", "RENDERSTATE"]


def test_flush_of_nothing_makes_no_call() -> None:
    sent = Sent(64)
    sent.buffer.flush()
    assert sent.calls == []


def test_a_full_buffer_is_submitted_before_the_token_that_does_not_fit() -> None:
    sent = Sent(20)
    sent.buffer.emit(Op.ISSUEQUERY, [(1, 2)])
    sent.buffer.emit(Op.ISSUEQUERY, [(1, 1)])
    assert [len(call) for call in sent.calls] == [12]
    assert len(sent.buffer) == 12


def test_reserved_bytes_share_a_call() -> None:
    sent = Sent(40)
    sent.buffer.emit(Op.ISSUEQUERY, [(1, 2)])
    sent.buffer.reserve(32)
    sent.buffer.emit(Op.SETSTREAMSOURCEUM, [(0, 20)])
    sent.buffer.emit(Op.DRAWPRIMITIVE, [(4, 0, 1)])
    assert [len(call) for call in sent.calls] == [12]


def test_more_items_than_the_count_holds_become_two_tokens() -> None:
    sent = Sent(1 << 20)
    sent.buffer.emit(Op.DELETEQUERY, [(number,) for number in range(70_000)])
    sent.buffer.flush()
    assert [len(items) for _, items in sent.tokens()] == [65_535, 4_465]


def test_the_parts_of_a_divided_clear_repeat_its_head() -> None:
    sent = Sent(64)
    rects = [(n, 0, n + 1, 1) for n in range(5)]
    sent.buffer.emit(Op.CLEAR, rects, head=(1, 0xFF, 1.0, 0))
    sent.buffer.flush()
    assert [call[4:20] for call in sent.calls] == [sent.calls[0][4:20]] * 3
    assert [rect for _, items in sent.tokens() for rect in items] == rects


def test_a_token_of_one_head_counts_one() -> None:
    sent = Sent(64)
    sent.buffer.emit(Op.SETRENDERTARGET, head=(1, 2))
    assert sent.buffer.take().hex(" ") == "29 00 01 00 01 00 00 00 02 00 00 00"


def test_bytes_behind_an_item_are_as_many_as_it_announces() -> None:
    sent = Sent(256)
    sent.buffer.emit_tailed(Op.SETLIGHT, (0, 2), bytes(104))
    assert len(sent.buffer.take()) == 4 + 8 + 104
    with pytest.raises(UsageError, match="100 bytes behind the item, not 104"):
        sent.buffer.emit_tailed(Op.SETLIGHT, (0, 2), bytes(100))
    with pytest.raises(UsageError, match="nothing behind"):
        sent.buffer.emit_tailed(Op.ISSUEQUERY, (0, 2), b"")


@pytest.mark.parametrize(
    ("op", "items"),
    [
        (Op.RENDERSTATE, [(7, 1 << 32)]),
        (Op.RENDERSTATE, [(7,)]),
        (Op.RENDERSTATE, [(7, "no")]),
        (Op.SETLIGHT, [(0, 2)]),
        (Op.TRIANGLEFAN_IMM, []),
        (Op.INDEXEDTRIANGLESTRIP, [0, 1, 2]),
    ],
)
def test_what_does_not_fit_a_row_is_a_usage_error(op: Op, items: Sequence[Any]) -> None:
    with pytest.raises(UsageError, match=op.name):
        Sent(64).buffer.emit(op, items)


def test_a_token_larger_than_the_buffer_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="do not fit a command buffer of 16"):
        Sent(16).buffer.emit(Op.VIEWPORTINFO, [(0, 0, 1, 1)])


@given(st.integers(20, 80), st.lists(st.tuples(dwords, dwords), max_size=40))
def test_items_arrive_in_order_whatever_the_capacity(
    capacity: int, items: list[tuple[int, int]]
) -> None:
    sent = Sent(capacity)
    for item in items:
        sent.buffer.emit(Op.ISSUEQUERY, [item])
        sent.buffer.emit(Op.RENDERSTATE, [item, item])
    sent.buffer.flush()
    assert all(0 < len(call) <= capacity for call in sent.calls)
    arrived = sent.tokens()
    for name, factor in (("ISSUEQUERY", 1), ("RENDERSTATE", 2)):
        found = [item for token, part in arrived if token == name for item in part]
        assert found == [item for item in items for _ in range(factor)]


def write(buffer: CommandBuffer, op: Op) -> None:
    """Write a token of zeros, by the method for its layout; LINELIST_IMM has none."""
    row = TABLE[op]
    head = () if row.head_dtype is None else tuple(np.zeros((), row.head_dtype).tolist())
    item = None if row.item_dtype is None else np.zeros((), row.item_dtype).tolist()
    if row.tail:
        buffer.emit_tailed(op, item, bytes(row.tail.size(np.zeros(1, row.item_dtype)[0])))
    elif row.item_dtype is not None and row.count(1) == 1 and not row.vertices:
        buffer.emit(op, [item], head=head or None)
    elif row.item_dtype is None and not row.vertices:
        buffer.emit(op, head=head or None)
    else:
        buffer.emit_counted(op, 1, head, bytes(64))


@pytest.mark.parametrize("version", [6, 7, 8, 9])
@pytest.mark.parametrize("op", sorted(set(TABLE) - {Op.LINELIST_IMM}), ids=lambda op: op.name)
def test_no_token_is_written_that_the_context_s_version_lacks(op: Op, version: int) -> None:
    buffer = CommandBuffer(1 << 12, lambda commands: None, version)
    if Since.of(op) <= version or (version == 6 and op.name in DIRECTX_7_FOR_6):
        write(buffer, op)
        assert buffer.take()[0] == op
    else:
        with pytest.raises(UsageError, match=f"{op.name} in a context of DirectX {version}"):
            write(buffer, op)


DIRECTX_7_FOR_6 = (
    "ZRANGE", "SETMATERIAL", "CREATELIGHT", "SETLIGHT", "SETTRANSFORM", "SETRENDERTARGET", "CLEAR",
)  # fmt: skip
"""Tokens of DirectX 7 that its runtime sends for programs of DirectX 6 (docs/departures.rst)."""

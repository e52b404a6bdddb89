"""Generated tokens: valid, repeatable, and covering what a fuzzer wants covered."""

from __future__ import annotations

from random import Random

import pytest

from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.wirenames import WireRenderState
from dp2emu.dp2.generate import COUNTS, generate, generate_stream
from dp2emu.dp2.table import TABLE, Token
from dp2emu.dp2.walk import decode, scan

ROWS = sorted(TABLE.values(), key=lambda row: row.op)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_generated_token_is_one_valid_token(row: Token) -> None:
    for seed in range(20):
        rng = Random(seed)
        at, vertex_size = rng.choice([0, 2, 4, 7]), rng.choice([16, 28])
        data = bytes(at) + generate(row, rng, at=at, vertex_size=vertex_size)
        scanned = scan(data, at, len(data), vertex_size)
        assert scanned.problem is None
        assert [command[1] for command in scanned.commands] == [row]


def test_the_same_seed_gives_the_same_bytes() -> None:
    assert generate_stream(Random(7), 50) == generate_stream(Random(7), 50)
    assert generate_stream(Random(7), 50) != generate_stream(Random(8), 50)


def test_counts_are_drawn_and_can_be_asked_for() -> None:
    row = TABLE[Op.RENDERSTATE]
    drawn = {generate(row, Random(seed))[2] for seed in range(200)}
    assert drawn == set(COUNTS)
    assert len(generate(row, Random(0), n=300)) == 4 + 300 * 8


def test_streams_can_be_kept_to_some_tokens() -> None:
    data = generate_stream(Random(1), 30, ops=[Op.RENDERSTATE, Op.ISSUEQUERY])
    ops = {command[1].op for command in scan(data, 0, len(data)).commands}
    assert ops == {Op.RENDERSTATE, Op.ISSUEQUERY}


def test_fields_take_boundary_values_and_names_of_their_enumeration() -> None:
    row = TABLE[Op.RENDERSTATE]
    data = generate(row, Random(3), n=9000)
    items = decode(row, data, 9000, 4, len(data)).items
    assert {0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF} <= set(items["dwState"].tolist())
    assert {int(state) for state in WireRenderState} <= set(items["RenderState"].tolist())


@pytest.mark.parametrize("row", [row for row in ROWS if row.tail], ids=lambda row: row.name)
def test_tails_come_in_several_small_sizes(row: Token) -> None:
    data = generate(row, Random(5), n=None if row.op == Op.UPDATEPALETTE else 200)
    sizes = {len(generate(row, Random(seed), n=1)) for seed in range(60)}
    assert len(sizes) > 1
    assert max(sizes) < 512
    assert len(data) < 200 * 512

"""Streams by the grammar: valid, of all tokens, and changed in every way that is promised."""

from __future__ import annotations

from random import Random

import pytest

from dp2emu.d3d.dp2structs import Op
from dp2emu.dp2.table import TABLE
from dp2emu.dp2.walk import scan
from dp2emu.fuzz import afl, grammar
from dp2emu.fuzz.afl import dictionary, export
from tests.dp2.rigging import END, create, issue


def ops(data: bytes) -> list[int]:
    return [int(token.op) for _, token, *_ in scan(data, 0, len(data), 28).commands]


def test_streams_are_of_all_tokens() -> None:
    rng = Random(0)
    assert {op for _ in range(600) for op in ops(grammar.stream(rng))} == {*map(int, TABLE)}


@pytest.mark.parametrize("op", sorted(TABLE))
def test_a_sample_is_a_token_of_its_opcode(op: int) -> None:
    data = grammar.sample(Random(op), op)
    assert ops(data)[:1] == [op]


STREAM = create(1, 9) + issue(1, END) + bytes((Op.VIEWPORTINFO, 0, 1, 0)) + bytes(range(16))


@pytest.mark.parametrize("mutation", grammar.MUTATIONS, ids=lambda each: each.__name__)
def test_every_mutation_changes_a_stream_sooner_or_later(mutation: object) -> None:
    changed = {
        b"".join(mutation(Random(seed), grammar.tokens_of(STREAM), STREAM))  # type: ignore[operator]
        for seed in range(60)
    }
    assert changed - {STREAM}


def test_counts_are_lied_about_and_nothing_else_is() -> None:
    for seed in range(50):
        changed = b"".join(grammar.count(Random(seed), grammar.tokens_of(STREAM), b""))
        different = [
            at for at, pair in enumerate(zip(STREAM, changed, strict=True)) if len({*pair}) > 1
        ]
        assert {at % 12 for at in different} <= {2, 3}


def test_queries_come_in_another_order() -> None:
    orders = {
        tuple(ops(b"".join(grammar.reorder(Random(s), grammar.tokens_of(STREAM), b""))))
        for s in range(20)
    }
    assert (91, 84, Op.VIEWPORTINFO) in orders


def test_the_mutator_of_afl_is_the_grammar() -> None:
    afl.init(5)
    first = [bytes(afl.fuzz(bytearray(STREAM), bytearray(STREAM), 64)) for _ in range(20)]
    afl.init(5)
    assert first == [bytes(afl.fuzz(bytearray(STREAM), bytearray(STREAM), 64)) for _ in range(20)]
    assert all(0 < len(data) <= 64 for data in first)
    afl.deinit()


def test_the_dictionary_has_every_opcode_and_its_own_form() -> None:
    lines = dictionary().splitlines()
    assert all(line.count('"') == 2 and line.isascii() for line in lines)
    assert {line.partition("=")[0] for line in lines} >= {token.name for token in TABLE.values()}


def test_a_corpus_has_every_opcode_and_is_the_same_again(tmp_path: object) -> None:
    folders = [tmp_path / name for name in ("a", "b")]  # type: ignore[operator]
    files = []
    for folder in folders:
        assert export(folder) == 3 * len(TABLE) + 64
        files.append({p.name: p.read_bytes() for p in folder.rglob("*") if p.is_file()})
    assert files[0] == files[1]
    assert {op for data in files[0].values() for op in ops(data)[:1]} >= {*map(int, TABLE)}

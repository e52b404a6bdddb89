"""Changes made on purpose: each is one, and the op table's are all noticed."""

from __future__ import annotations

import ast

import pytest

from dp2emu.shader.ops import OPS
from tests.tools.loading import load_tool

SOURCE = '''\
"""A module."""

LIMIT: int = 3

def clip(x: int, low: int = -1) -> int:
    """At most the limit."""
    if x > LIMIT and not low:
        x = LIMIT
    return x + low
'''


def test_every_change_is_one_change() -> None:
    tool = load_tool("mutate")
    plain = ast.unparse(ast.parse(SOURCE)).splitlines()
    every = list(tool.changes(ast.parse(SOURCE)))
    for number, change in enumerate(every):
        lines = ast.unparse(tool.changed(SOURCE, number)).splitlines()
        different = [new for old, new in zip(plain, lines, strict=True) if old != new]
        assert len(different) == 1, change.what
    assert sorted(change.what for change in every) == sorted([
        "3 -> 4", "1 -> 2", "USub changed", "condition turned", "And changed", "Gt changed",
        "Not changed", "left out: x = LIMIT", "Add changed",
    ])  # fmt: skip


def test_texts_and_annotations_are_left_alone() -> None:
    tool = load_tool("mutate")
    source = 'def f(x: "int | None" = None) -> "a + b":\n    raise ValueError(f"{x + 1}")\n'
    assert list(tool.changes(ast.parse(source))) == []


@pytest.mark.parametrize("name", ["min", "ishl", "ftou", "bnot"])
def test_a_broken_row_is_noticed_and_the_right_one_is_not(name: str) -> None:
    tool = load_tool("mutate_ops")
    right = OPS[name]
    assert not tool.noticed(name, right)
    for what, row, must_matter in tool.broken(right):
        if must_matter or not tool.same(name, row):
            assert tool.noticed(name, row), what
    assert OPS[name] is right

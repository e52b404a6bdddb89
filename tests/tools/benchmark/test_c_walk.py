"""The loop in C finds the tokens that the walk finds, where there is a compiler."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from benchmark import c_walk
from benchmark.promises import SMALL_TOKENS

from dp2emu.dp2.walk import scan

LIGHT = struct.pack("<BBHII", 34, 0, 1, 0, 1)
"""SETLIGHT, whose size its data says, which the loop leaves to others."""


@pytest.mark.parametrize("data", [b"", SMALL_TOKENS * 3, SMALL_TOKENS[:-1], SMALL_TOKENS + LIGHT])
def test_tokens_are_counted_up_to_what_does_not_fit_or_varies(tmp_path: Path, data: bytes) -> None:
    walk = c_walk.compiled(tmp_path)
    fixed = data.removesuffix(LIGHT)
    assert walk is None or walk(data) == len(scan(fixed, 0, len(fixed)).commands)


def test_without_a_compiler_there_is_no_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert c_walk.compiled(tmp_path) is None

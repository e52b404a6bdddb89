"""Longer inputs are valid ones, of every shape."""

from __future__ import annotations

from random import Random
from unittest.mock import patch

import pytest

from dp2emu.dp2.walk import scan
from dp2emu.errors import Dp2Error
from dp2emu.fuzz import files, grammar, long_shaders, stage
from dp2emu.fuzz.growth import doubled, doubled_lines
from dp2emu.fuzz.long_shaders import SHAPES, Shape, doubled_code, long_shader
from dp2emu.shader.ir import Program, walk
from dp2emu.testing.random_shaders import generate
from dp2emu.testing.random_shaders4 import generate as generate4


def statements(code: bytes) -> int:
    program: Program = files._program(code)
    return sum(1 for _ in walk(program.statements))


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_a_shape_is_valid_code_that_grows_with_its_length(shape: Shape) -> None:
    short, long = (statements(long_shader(Random(2), n, shape)) for n in (24, 96))
    assert long > 2 * short


@pytest.mark.parametrize("make", [generate, generate4])
def test_instructions_of_a_shader_are_repeated(make: object) -> None:
    rng, longer = Random(3), 0
    for _ in range(12):
        code = make(rng, length=4)  # type: ignore[operator]
        made = doubled_code(rng, code)
        if made is not None:
            assert len(made) >= 2 * len(code) - 8
            longer += 1
    assert longer > 2
    assert doubled_code(rng, b"no shader") is None


def test_a_short_shader_grows_to_the_longest_chains_at_once() -> None:
    rng = Random(9)
    with patch.object(long_shaders, "SHAPES", (long_shaders.chain,)):
        sizes = [len(files.grow_code(rng, bytes(64))) for _ in range(24)]
    assert sum(size > 0.75 * files._LONGEST_CODE for size in sizes) > 1


def test_tokens_are_repeated_or_get_more_items() -> None:
    rng = Random(4)
    data = grammar.stream(rng)
    for _ in range(40):
        grown = grammar.grow(rng, data)
        found = scan(grown, 0, len(grown), grammar.VERTEX_SIZE)
        assert found.wrong is None and len(grown) > len(data)


def test_calls_grow_as_far_as_all_is_executed() -> None:
    rng = Random(5)
    data = stage.program(rng)
    for _ in range(24):
        data = max(stage.grow(rng, data), data, key=len)
    assert stage.ROOM < len(data) <= stage.LONGEST


def test_lines_are_repeated() -> None:
    rng = Random(6)
    lengths = [len(doubled_lines(rng, b"one\ntwo\nthree")) for _ in range(20)]
    assert min(lengths) >= 24


def test_bytes_are_repeated() -> None:
    rng = Random(7)
    assert all(len(doubled(rng, b"0123456789")) >= 20 for _ in range(20))
    assert doubled(rng, b"") == b""


def test_grown_files_can_be_read() -> None:
    rng = Random(8)
    for make, trial in (
        (files.grow_capture, files.capture), (files.grow_events, files.trace),
        (files.grow_code, files.shader),
    ):  # fmt: skip
        try:
            trial(make(rng, bytes((5,)) * 300))
        except Dp2Error as error:
            assert str(error)

"""Kernels in two functions: what states share, and that they draw as one function does."""

from __future__ import annotations

from functools import partial
from itertools import count
from pathlib import Path
from unittest.mock import patch

import pytest

from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.command.work import Work
from dp2emu.gpu.compile import kernel_draw, kernel_plan
from dp2emu.gpu.compile.kernel_code import kernel
from dp2emu.gpu.compile.kernel_plan import cached_plan, triangle_plan
from dp2emu.gpu.draw.draw_stages import execute_draw
from dp2emu.shader.builder import Builder
from dp2emu.shader.engines import JIT, engine
from dp2emu.shader.ir import Program, Stage
from dp2emu.shader.jit.tiering import tiers, wait_for_background
from tests.gpu.drawing import color_surface, corner, draw
from tests.shader.notes import compiles_noted

NAMES = ("front", "setup", "rows", "kernel")
_numbers = count(1)


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Texts that are compiled, none of which was before."""
    return compiles_noted(monkeypatch, tmp_path, lambda text, _: text)


def _program() -> Program:
    """One that no state had before."""
    b = Builder(Stage.PIXEL)
    for component in "xyzw":
        b.output(f"target0.{component}", b.input(f"color0.{component}") * (1 / next(_numbers)))
    return b.program()


def _drawn(program: Program, samples: int = 1) -> tuple[Work, bytes]:
    color = color_surface(samples=samples)
    packet = draw([corner(3, 2), corner(28, 7), corner(10, 30)], color=color, pixel=program)
    work = execute_draw(packet, Counters(), run=engine(JIT))
    return work, color.data.tobytes()


def _defined(texts: list[str]) -> list[list[str]]:
    """Which functions of these each text defines, if any."""
    found = []
    for text in texts:
        lines = [line for line in text.splitlines() if line.startswith("define")]
        found.append([name for name in NAMES if any(f"@{name}(" in line for line in lines)])
    return [names for names in found if names]


@pytest.mark.parametrize("samples", [1, 4])
def test_a_new_state_has_only_its_own_rows_to_compile(compiled: list[str], samples: int) -> None:
    _drawn(_program(), samples)
    compiled.clear()
    work, picture = _drawn(_program(), samples)
    wait_for_background()
    assert _defined(compiled) == [["rows", "kernel"]]
    assert work.pixels > 100 and any(picture)


@pytest.mark.parametrize("samples", [1, 2, 4, 8])
def test_one_function_draws_what_two_draw(compiled: list[str], samples: int) -> None:
    program = _program()
    found, improved = tiers(partial(_drawn, program, samples))
    assert improved == found
    assert _defined(compiled)[-1] == ["kernel"]
    compiled.clear()
    assert _drawn(program, samples) == found
    assert compiled == []


def test_a_second_draw_of_much_has_better_code_compiled(compiled: list[str]) -> None:
    program = _program()
    with patch.object(kernel_draw, "HEAVY", 1):
        _drawn(program)
        wait_for_background()
        assert ["kernel"] not in _defined(compiled)
        _drawn(program)
        wait_for_background()
    assert _defined(compiled)[-1] == ["kernel"]


def test_a_second_draw_of_little_has_not(compiled: list[str]) -> None:
    program = _program()
    for _ in range(2):
        _drawn(program)
    wait_for_background()
    assert _defined(compiled)[-1] == ["rows", "kernel"]


def test_good_code_of_an_earlier_process_needs_no_front(compiled: list[str]) -> None:
    program = _program()
    found, _ = tiers(partial(_drawn, program))
    _forget()
    compiled.clear()
    with patch.object(kernel_plan, "front_of", side_effect=AssertionError):
        assert _drawn(program) == found
    assert compiled == []


def _forget() -> None:
    """Be another process, as far as kernels go."""
    for remembered in (kernel, cached_plan, triangle_plan):
        remembered.cache_clear()

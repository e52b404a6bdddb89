"""When code is compiled, and when it comes from the store."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Program, Stage
from dp2emu.shader.jit import code, compiling
from dp2emu.shader.jit.bodies import body
from dp2emu.shader.jit.compiling import LONG_TEXT, host
from dp2emu.shader.jit.engine import run
from dp2emu.shader.jit.machine import machine
from dp2emu.shader.jit.writer import Target, module
from dp2emu.shader.ops import OPS
from dp2emu.shader.reference import run as run_reference
from dp2emu.shader.types import Type
from tests.shader.engines import bits_of
from tests.shader.notes import compiles_noted
from tests.shader.programs import lanes_of


def program(number: float) -> Program:
    b = Builder(Stage.VERTEX)
    b.output("y", b.input("x") * number)
    return b.program()


def answer(number: float) -> list[float]:
    found: list[float] = (
        run(program(number), {"x": np.ones(3, np.float32)}, {}, 3).outputs["y"].tolist()
    )
    return found


@pytest.fixture
def compiles(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Texts that were compiled, with a store of our own and nothing in memory."""
    texts = compiles_noted(monkeypatch, tmp_path, lambda text, _: text)
    code.compiled.cache_clear()
    return texts


def test_a_program_is_compiled_once(compiles: list[str]) -> None:
    assert [answer(2.5), answer(2.5)] == [[2.5] * 3] * 2
    assert sum("@body(" in text for text in compiles) == 1


def test_another_process_finds_it_in_the_store(compiles: list[str]) -> None:
    answer(3.5)
    code.compiled.cache_clear()
    compiles.clear()
    assert answer(3.5) == [3.5] * 3
    assert compiles == []


def test_a_damaged_object_is_replaced(compiles: list[str], tmp_path: Path) -> None:
    answer(4.5)
    for path in tmp_path.iterdir():
        path.write_bytes(bytes(100))
    code.compiled.cache_clear()
    compiles.clear()
    assert answer(4.5) == [4.5] * 3
    assert len(compiles) == 1
    code.compiled.cache_clear()
    assert answer(4.5) == [4.5] * 3
    assert len(compiles) == 1


def test_a_key_depends_on_text_and_machine() -> None:
    own = machine()
    other = replace(own, name=own.name + ",-fma")
    keys = {own.key("a"), own.key("b"), other.key("a")}
    assert len(keys) == 3
    assert own.key("a") == own.key("a")


def test_llvm_is_not_imported_before_a_program_is_compiled() -> None:
    script = "import sys, dp2emu.shader.jit.engine; sys.exit('llvmlite' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def long(count: int) -> Program:
    """Values of every tenth statement are read again at the end; some lanes take none."""
    b = Builder(Stage.PIXEL)
    x, kept = b.input("x"), []
    total = b.variable(Type.F32, 0.0)
    with b.if_(x > 0.0):
        for number in range(count):
            value = b.fract(total.value * 1.25 + x * float(number))
            total.value = value
            kept += [b.copy(value)] if number % 10 == 0 else []
        for value in kept:
            total.value = total.value + value
    b.kill(total.value > 50.0)
    b.output("y", total.value)
    return b.program()


@pytest.mark.parametrize(("count", "quick"), [(150, False), (4000, True)])
def test_long_programs_are_compiled_in_pieces_and_quickly(
    compiles: list[str], count: int, quick: bool
) -> None:
    program, inputs = long(count), {"x": np.linspace(-1, 1, 28, dtype=np.float32)}
    found = run(program, inputs, {}, 28)
    assert any(text.count("\n") > LONG_TEXT for text in compiles) is quick
    assert bits_of(found) == bits_of(run_reference(program, inputs, {}, 28))


def test_every_operation_is_the_same_when_compiled_quickly(
    compiles: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiling, "LONG_TEXT", 0)
    b, random = Builder(Stage.PIXEL), Random(5)
    for name, row in OPS.items():
        operands = [b.input(f"x{n}{type.letter}", type) for n, type in enumerate(row.operands)]
        b.output(name, b.apply(name, *operands))
    program = b.program()
    inputs = {port.name: lanes_of(random, port.type, 2000) for port in program.inputs}
    wanted = run_reference(program, inputs, {}, 2000)
    assert bits_of(run(program, inputs, {}, 2000)) == bits_of(wanted)
    assert len(compiles) > 0


def blocks(count: int) -> Program:
    """A program with ``count`` variables, each of which an If and a Loop change."""
    b = Builder(Stage.PIXEL)
    x, total = b.input("x"), b.variable(Type.F32, 0.0)
    for number in range(count):
        own = b.variable(Type.F32, x)
        with b.if_(x < number / count):
            own.value = own.value + 1.0
        with b.loop(limit=3):
            own.value = own.value * 1.5
            b.break_(own.value > 1.0)
        total.value = total.value + own.value
    b.output("y", total.value)
    return b.program()


@pytest.mark.parametrize("promoted", [0, compiling.PROMOTED])
def test_variables_left_in_memory_compute_the_same(
    compiles: list[str], monkeypatch: pytest.MonkeyPatch, promoted: int
) -> None:
    monkeypatch.setattr(compiling, "PROMOTED", promoted)
    program, inputs = blocks(6), {"x": np.linspace(-1, 1, 28, dtype=np.float32)}
    found = run(program, inputs, {}, 28)
    assert bits_of(found) == bits_of(run_reference(program, inputs, {}, 28))
    assert [compiling.promotes(text) for text in compiles if "@body(" in text] == [promoted > 0]


def test_many_variables_in_many_blocks_stay_in_memory() -> None:
    """The time to promote variables grows with their number times that of the blocks."""
    texts = [module(body(blocks(count), ("x",), target=Target(), masked=True, name="body"))
             for count in (20, 700)]  # fmt: skip
    assert [compiling.promotes(text) for text in texts] == [True, False]


class _Wrapped:
    """llvmlite's library as one that does not say where it is has it."""

    def __getattr__(self, name: str) -> Any:
        if name == "_name":
            raise AttributeError(name)
        return getattr(host().binding.ffi.lib, name)


def test_code_is_the_same_through_the_lock_of_llvmlite() -> None:
    text = "define i32 @f(i32 %x) { %y = mul i32 %x, 7\nret i32 %y }"
    own = host()
    ffi = SimpleNamespace(lib=_Wrapped(), OutputString=own.binding.ffi.OutputString)
    emit = compiling._emit_function(SimpleNamespace(ffi=ffi))
    assert emit is own.binding.ffi.lib.LLVMPY_TargetMachineEmitToMemory
    assert emit is not own.emit
    assert replace(own, emit=emit).begin(text)() == own.begin(text)()


def test_code_is_the_same_whoever_compiles_beside() -> None:
    text = "define i32 @f(i32 %x) { %y = mul i32 %x, 7\nret i32 %y }"
    wanted = [host().begin(text, quick=quick)() for quick in (False, True)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda n: host().begin(text, quick=n % 2 == 1)(), range(32)))
    assert found == wanted * 16


def test_a_text_that_is_none_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="parsing error"):
        host().begin("define i32 @f() { ret i33 0 }")()

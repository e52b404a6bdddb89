"""When code is compiled, and when it comes from the store."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Program, Stage
from dp2emu.shader.jit import code
from dp2emu.shader.jit.compiling import Host, host
from dp2emu.shader.jit.engine import run
from dp2emu.shader.jit.store import Store


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
    texts: list[str] = []
    compile = Host.compile

    def told(self: Host, text: str) -> bytes:
        texts.append(text)
        return compile(self, text)

    monkeypatch.setattr(Host, "compile", told)
    monkeypatch.setattr(code, "objects", lambda: Store(tmp_path))
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
    own = host()
    other = Host(own.binding, own.machine, own.linker, own.fused, own.name + ",-fma")
    keys = {own.key("a"), own.key("b"), other.key("a")}
    assert len(keys) == 3
    assert own.key("a") == own.key("a")


def test_llvm_is_not_imported_before_a_program_is_compiled() -> None:
    script = "import sys, dp2emu.shader.jit.engine; sys.exit('llvmlite' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0

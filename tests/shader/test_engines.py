"""Engines by name, and what happens without a compiler."""

from __future__ import annotations

import subprocess
import sys

import pytest

from dp2emu.errors import UsageError
from dp2emu.shader import engines, reference
from dp2emu.shader.engines import CHECKED, JIT, REFERENCE, engine


def test_the_reference_engine_has_a_name() -> None:
    assert engine(REFERENCE) is reference.run


def test_an_engine_by_another_name_is_none() -> None:
    with pytest.raises(UsageError, match="no engine 'fast', but reference, jit, checked"):
        engine("fast")


def test_without_llvm_the_reference_engine_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "can_compile", lambda: False)
    assert engine(JIT) is reference.run


def test_without_llvm_nothing_can_be_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "can_compile", lambda: False)
    with pytest.raises(UsageError, match="llvmlite"):
        engine(CHECKED)


@pytest.mark.parametrize("name", engines.ENGINES)
def test_choosing_an_engine_imports_no_llvm(name: str) -> None:
    script = (
        "import sys; from dp2emu.shader import engines\n"
        f"engines.can_compile = lambda: True; engines.engine({name!r})\n"
        "sys.exit('llvmlite' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_an_import_of_llvm_that_is_kept_from_happening_is_none_of_it() -> None:
    script = (
        "import sys\n"
        "class Keeper:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name.startswith('llvmlite'): raise ImportError(name)\n"
        "sys.meta_path.insert(0, Keeper())\n"
        "from dp2emu.shader.engines import engine; from dp2emu.shader.reference import run\n"
        "sys.exit(engine('jit') is not run)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_the_reference_engine_imports_no_compiler() -> None:
    script = (
        "import sys; from dp2emu.shader.engines import engine; engine('reference')\n"
        "sys.exit('dp2emu.shader.jit' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0

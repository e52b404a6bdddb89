"""Engines by name, and what happens without a compiler."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from dp2emu.errors import UsageError
from dp2emu.shader import engines, reference
from dp2emu.shader.engines import CHECKED, JIT, REFERENCE, engine, usable


def test_the_reference_engine_has_a_name() -> None:
    assert engine(REFERENCE) is reference.run


def test_an_engine_by_another_name_is_none() -> None:
    with pytest.raises(
        UsageError, match="unknown engine 'fast'; expected reference, jit, checked"
    ):
        engine("fast")


def test_the_compiled_engine_works_where_the_package_requires_llvmlite() -> None:
    # Without llvmlite tests of compiled code are skipped or not collected: it must not go missing.
    required = [
        each for each in map(Requirement, requires("dp2emu") or ()) if each.name == "llvmlite"
    ]
    assert len(required) == 1
    (marker,) = (each.marker for each in required)
    assert engines.compiles() or not (marker is None or marker.evaluate())


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


_DAMAGED = """
import sys
from pathlib import Path
from pathlib import Path
folder = Path(sys.argv[1]) / "llvmlite"
folder.mkdir()
(folder / "__init__.py").write_text("")
(folder / "binding.py").write_text({text!r})
sys.path.insert(0, sys.argv[1])
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.gpu.command.packets import Draw
from dp2emu.shader.engines import JIT, can_compile, compiles, engine, name_of, usable
run = engine(JIT)
print(name_of(run), can_compile())
for _ in range(2):
    print(name_of(usable(run)))
print(name_of(engine(JIT)), can_compile(), compiles())
"""


@pytest.mark.parametrize("text", [
    "raise OSError('libllvmlite.so: no such file\\nor directory')",
    "raise ImportError('no such file')",
    "initialize_native_target = lambda: None",
])  # fmt: skip
def test_an_llvm_that_is_damaged_counts_as_none_and_is_told_of_once(
    tmp_path: Path, text: str
) -> None:
    script = _DAMAGED.format(text=text)
    ran = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert ran.stdout.split("\n") == [
        "jit True", "reference", "reference", "reference False False", "",
    ]  # fmt: skip
    (line,) = ran.stderr.splitlines()
    assert line.startswith("llvmlite cannot be used (") and line.endswith("the reference engine")


def test_an_llvm_that_is_damaged_leaves_nothing_to_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "can_compile", lambda: True)
    run = engine(CHECKED)
    monkeypatch.setattr(engines, "can_compile", lambda: False)
    with pytest.raises(UsageError, match="llvmlite"):
        usable(run)


def test_the_reference_engine_is_of_use_anyway(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "can_compile", lambda: False)
    assert usable(engine(REFERENCE)) is reference.run

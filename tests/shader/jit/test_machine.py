"""The machine that code is for, and when LLVM is asked about it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from dp2emu.errors import UsageError
from dp2emu.shader.jit import machine
from dp2emu.shader.jit.code_images import runs
from dp2emu.shader.jit.compiling import host
from dp2emu.shader.jit.machine import Machine
from dp2emu.shader.jit.store import Store


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[list[int]]:
    """How often LLVM was asked, with a store of our own."""
    found: list[int] = []

    def told() -> Any:
        found.append(1)
        return host()

    monkeypatch.setattr(machine, "objects", lambda: Store(tmp_path / "objects"))
    monkeypatch.setattr(machine, "host", told)
    machine.machine.cache_clear()
    yield found
    machine.machine.cache_clear()


def again() -> Machine:
    machine.machine.cache_clear()
    return machine.machine()


def test_llvm_is_asked_once(asked: list[int]) -> None:
    first = machine.machine()
    assert first == Machine(host().name, host().fused, host().rounding)
    assert again() == first
    assert len(asked) == (1 if runs() else 2)


def test_llvm_is_asked_again_when_it_or_the_processor_is_another(
    asked: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    machine.machine()
    processors = tmp_path / "cpuinfo"
    monkeypatch.setattr(machine, "_PROCESSORS", processors)
    for number, flags in enumerate(("fpu", "fpu fma"), 2):
        processors.write_text(f"processor\t: 0\nflags\t\t: {flags}\ncpu MHz\t: 1\n\nflags\t: x\n")
        again()
        assert len(asked) == number
    if runs():
        processors.write_text(processors.read_text().replace("MHz\t: 1", "MHz\t: 2"))
        again()
        assert len(asked) == 3
    library = tmp_path / "binding" / "libllvmlite.so"
    library.parent.mkdir()
    library.write_bytes(b"another")
    spec = ModuleSpec("llvmlite", None, origin=str(tmp_path / "__init__.py"))
    monkeypatch.setattr(machine, "find_spec", lambda name: spec)
    before = len(asked)
    again()
    again()
    assert len(asked) == before + (1 if runs() else 2)
    (library.parent / "ffi.py").write_text("")
    again()
    assert len(asked) == before + (2 if runs() else 3)


def test_llvm_is_asked_again_by_other_sources(
    asked: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.machine()
    monkeypatch.setattr(machine, "sources", lambda: "newer")
    again()
    assert len(asked) == 2


def test_a_processor_may_be_named_in_any_letters(
    asked: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    processors = tmp_path / "cpuinfo"
    monkeypatch.setattr(machine, "_PROCESSORS", processors)
    for name in (b"\xff", b"\xfe"):
        processors.write_bytes(b"model name\t: " + name + b"\nflags\t\t: fpu\n")
        machine.machine()
        again()
    assert len(asked) == (2 if runs() else 4)


def test_what_was_kept_goes_when_llvm_is_of_no_use(
    asked: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    known = machine.machine()

    def broken() -> Any:
        asked.append(1)
        raise OSError("libz.so.1: no such file\nin detail")

    with monkeypatch.context() as without:
        without.setattr(machine, "host", broken)
        if runs():
            assert again() == known
        with pytest.raises(UsageError, match=r"^llvmlite is of no use: libz.so.1: no such file$"):
            machine.llvm()
        machine.machine.cache_clear()
        without.setattr(machine, "_useless", [])
        assert not machine.works() and not machine.available()
    assert again() == known and machine.llvm() is host()


@pytest.mark.parametrize(
    "error", [ImportError, OSError, RuntimeError, AttributeError, SyntaxError]
)
def test_llvm_that_fails_is_of_no_use(
    error: type[Exception], asked: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> Any:
        raise error

    monkeypatch.setattr(machine, "host", broken)
    monkeypatch.setattr(machine, "_useless", [])
    assert not machine.works()


def test_what_does_not_say_where_it_is_from_is_no_llvmlite(
    asked: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "llvmlite", ModuleType("llvmlite"))
    assert not machine.available() and machine._identity() is None


@pytest.mark.parametrize("why", ["library", "processors", "emulated", "sources", "images"])
def test_where_that_is_not_known_llvm_is_asked_each_time(
    why: str, asked: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    elsewhere = ModuleSpec("llvmlite", None, origin=str(tmp_path / "__init__.py"))
    emulated = tmp_path / "cpuinfo"
    emulated.write_text("processor\t: 0\nmodel name\t: ARMv8\nFeatures\t: fp asimd\n\n")
    told: dict[str, tuple[str, Any]] = {
        "library": ("find_spec", lambda name: elsewhere),
        "processors": ("_PROCESSORS", tmp_path / "none"),
        "emulated": ("_PROCESSORS", emulated),
        "sources": ("sources", lambda: None),
        "images": ("runs", lambda: False),
    }
    monkeypatch.setattr(machine, *told[why])
    machine.machine()
    again()
    assert len(asked) == 2 and list(tmp_path.iterdir()) == [emulated]


def test_what_an_earlier_process_compiled_is_drawn_without_llvm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = Path(__file__).parents[3] / "streams" / "first_light.dp2"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def replayed(name: str) -> tuple[bool, bytes]:
        """Whether LLVM was imported, and the picture."""
        picture = tmp_path / name
        command = [sys.executable, "-X", "importtime", "-m", "dp2emu", "replay", str(stream),
                   "--engine", "jit", "--sheet", str(picture)]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return "llvmlite.binding" in done.stderr, picture.read_bytes()

    first, picture = replayed("first.png")
    for _ in range(3):
        # What was compiled quickly at first is compiled well meanwhile.
        second, same = replayed("second.png")
    assert first and second is not runs() and same == picture

"""Docstrings say what a reader has to know; the tool notices what one does not say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.loading import load_tool

doc_check = load_tool("doc_check")

RIG = '''"""Rigs."""

class Rig:
    """A driver."""

    def lock(self, handle: int) -> None:
        """Lock ``handle``."""
'''
SOLID = '''"""A module."""

class Thing:
    """A thing of ``width`` pixels."""

    def __init__(self, width: int) -> None:
        """Raises ValueError."""

    def lock(self, handle: int) -> None:
        """As a rig does."""

    def cut(self, width: int) -> None:
        """Raises ValueError and UsageError."""
        raise UsageError

    def image(self) -> NDArray[np.uint8]:
        """uint8 of shape (height, width)."""

    def _own(self, anything: int) -> None:
        pass


def kept(thing: Thing, more: Thing | None, *, path: str | PathLike[str]) -> None:
    """Types that say what they are."""
'''


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A package that has no gap."""
    for name in ("", "rig", "d3d"):
        (tmp_path / "dp2emu" / name).mkdir(exist_ok=True)
    (tmp_path / "dp2emu" / "__init__.py").write_text('"""All."""\n')
    (tmp_path / "dp2emu" / "__init__.pyi").write_text(
        "from dp2emu.solid import Thing\nfrom dp2emu.solid import kept\n"
    )
    (tmp_path / "dp2emu" / "rig" / "interface.py").write_text(RIG)
    (tmp_path / "dp2emu" / "d3d" / "__init__.py").write_text('"""Whatever."""\n')
    (tmp_path / "dp2emu" / "d3d" / "flags.py").write_text('"""Flags of Direct3D."""\n')
    (tmp_path / "dp2emu" / "solid.py").write_text(SOLID)
    return tmp_path


def found(root: Path) -> list[str]:
    return [f"{gap.name}: {gap.what}" for gap in doc_check.gaps(doc_check.modules(root))]


def test_the_package_says_everything() -> None:
    assert [str(gap) for gap in doc_check.gaps(doc_check.modules())] == []


def test_what_is_said_is_no_gap(root: Path) -> None:
    assert found(root) == []


@pytest.mark.parametrize(
    ("module", "old", "new", "gap"),
    [
        ("solid", '"""A module."""', "", "dp2emu.solid: no docstring"),
        ("solid", '"""A thing of ``width`` pixels."""', "", "Thing: no docstring"),
        ("solid", "``width`` pixels", "something", "Thing.cut: parameter width"),
        ("solid", "``width`` pixels", "``width``", "Thing.cut: unit of width"),
        ("solid", " and UsageError", "", "Thing.cut: raises UsageError"),
        ("solid", "uint8 of shape", "of shape", "Thing.image: dtype and shape of what it returns"),
        ("solid", "uint8 of shape (height, width)", "uint8", "Thing.image: dtype and shape of "
         "what it returns"),
        ("solid", "more: Thing | None", "more: bytes", "kept: parameter more"),
        ("solid", '    """Types that say what they are."""', "    pass", "kept: no docstring"),
        ("rig/interface", "Lock ``handle``.", "Lock.", "Thing.lock: parameter handle"),
        ("d3d/flags", " of Direct3D", "", "dp2emu.d3d.flags: names no source"),
    ],
)  # fmt: skip
def test_what_is_not_said_is_found(root: Path, module: str, old: str, new: str, gap: str) -> None:
    path = root / "dp2emu" / f"{module}.py"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    assert gap in found(root)


def test_names_that_are_not_offered_need_a_docstring_only(root: Path) -> None:
    (root / "dp2emu" / "inner.py").write_text(
        '"""Inside."""\n\ndef one(given: bytes) -> None:\n    """Something."""\n\n'
        "def two() -> None:\n    pass\n"
    )
    assert found(root) == ["two: no docstring"]


def test_what_is_missing_is_printed(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doc_check, "modules", lambda known=doc_check.modules: known(root))
    assert doc_check.main() == 0
    (root / "dp2emu" / "inner.py").write_text("")
    assert doc_check.main() == 1
    assert capsys.readouterr().out.strip().endswith("inner.py:1: dp2emu.inner: no docstring")

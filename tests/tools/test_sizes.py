"""The size report."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.loading import load_tool

sizes = load_tool("sizes")


def test_report_names_longest_function_and_marks_what_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "package"
    folder.mkdir()
    (folder / "small.py").write_text("def one():\n    return 1\n")
    (folder / "big.py").write_text("def long():\n" + "    pass\n" * 70)
    monkeypatch.setattr("sys.argv", ["sizes.py", str(folder)])
    sizes.main()
    _, big, small, total = capsys.readouterr().out.splitlines()
    assert big.split() == ["!", "71", "71", "package/big.py", "long"]
    assert small.split() == ["2", "2", "package/small.py", "one"]
    assert total.startswith("2 modules, 73 lines, 2 functions: median 36.5")


def test_package_keeps_the_hard_limits() -> None:
    modules = list(sizes.modules_of(Path(sizes.__file__).parents[1] / "dp2emu"))
    assert max(module.lines for module in modules) <= 700
    assert max(each.lines for module in modules for each in module.functions) <= 60

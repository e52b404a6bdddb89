"""The files that a triangle and a query pass, against their bars."""

from __future__ import annotations

from typing import Any

import pytest

from dp2emu.shader.engines import JIT, can_compile
from tests.tools.loading import ROOT, load_tool

call_path = load_tool("call_path")

MOST = {"triangle": 30, "query": 8}
"""Files at most."""
WAYS = (
    "triangle",
    "triangle --textured",
    "triangle --transformed",
    "triangle --shaders",
    "triangle --size 512",
    "triangle --engine jit",
    "triangle --engine jit --textured",
    "triangle --engine jit --shaders",
    "triangle --engine jit --timing instant",
    "query --type OCCLUSION",
    "query --type EVENT",
)


def run(line: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[str]]:
    """The exit status and what was printed."""
    code: int = call_path.main(line.split())
    return code, capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("line", WAYS)
def test_no_more_files_are_passed(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    if JIT in line and not can_compile():
        pytest.skip("needs llvmlite")
    code, printed = run(f"{line} --most {MOST[line.split()[0]]}", capsys)
    assert code == 0, "\n".join(printed)


def test_list_has_files_with_functions_in_order_of_the_first_call(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, (*listed, total) = run("triangle --before 1", capsys)
    files = [line for line in listed if not line.startswith(" ")]
    functions = [line.split() for line in listed if line.startswith(" ")]
    assert code == 0
    assert files[0] == "dp2/driver.py"
    assert functions[0][0] == "1" and functions[0][1].startswith("Driver.submit:")
    assert all((ROOT / "dp2emu" / file).is_file() for file in files)
    assert len(set(files)) == len(files)
    calls = sum(int(count) for count, _ in functions)
    assert total == (f"triangle: {len(files)} files, {len(functions)} functions, {calls} calls")


def test_window_can_open_at_the_token(capsys: pytest.CaptureFixture[str]) -> None:
    code, (_, first, *_) = run("query --before 1 --from token", capsys)
    assert code == 0
    assert first.split()[1].startswith("issue_query:")


def test_more_files_than_the_most_exit_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    code, printed = run("query --cold --most 1", capsys)
    assert code == 1
    assert printed[-1] == "expected at most 1 files"


@pytest.mark.parametrize("way", ["triangle --shaders", "triangle --transformed --size 512"])
def test_other_triangles_are_stored_too(way: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(f"{way} --before 1", capsys)[0] == 0


def test_a_store_that_does_not_come_exits_with_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def nowhere(self: Any, trace: Any, op: Any) -> None:
        """The window does not open."""

    monkeypatch.setattr(call_path.Rig, "open_at", nowhere)
    code, printed = run("triangle --cold", capsys)
    assert code == 1
    assert printed == [
        "triangle: 0 files, 0 functions, 0 calls",
        "the window did not close: expected a store, and none came",
    ]

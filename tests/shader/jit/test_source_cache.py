"""Objects are found by what their texts are written for, as long as the writers are the same."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Program, Stage
from dp2emu.shader.jit import code, object_cache
from dp2emu.shader.jit.code import CodeSource, Effort
from dp2emu.shader.jit.machine import machine
from dp2emu.shader.jit.object_cache import ObjectCache
from tests.shader.notes import compiles_noted
from tests.shader.records import told

ONE, TWO = (f"define i32 @f() {{ ret i32 {n} }}" for n in (1, 2))


@pytest.fixture(autouse=True)
def _empty(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(code, "object_cache", lambda: ObjectCache(tmp_path / "objects"))


def of(record: object, text: str, written: list[str]) -> CodeSource:
    def write() -> str:
        written.append(text)
        return text

    return CodeSource(record, write, "f")


def test_a_record_that_was_seen_has_no_text_written() -> None:
    written: list[str] = []
    for _ in range(2):
        of("same", ONE, written).good()
    of("other", ONE, written).good()
    assert len(written) == 2


@pytest.mark.parametrize(
    ("effort", "there"),
    [(Effort.QUICK, [(TWO, True)]), (Effort.FAIR, [(TWO, False)]), (Effort.GOOD, [(ONE, False)])],
)  # fmt: skip
def test_a_text_for_less_time_is_compiled_unless_code_has_to_be_good(
    effort: Effort, there: list[tuple[str, bool]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    compiled = compiles_noted(monkeypatch, tmp_path, lambda text, quick: (text, quick))
    source = replace(of(f"{effort}", ONE, []), first=lambda: TWO)
    source.begin(effort)()
    assert compiled == there
    source.begin(effort)()
    assert compiled == there


def test_good_code_and_quick_code_are_kept_apart() -> None:
    written: list[str] = []
    source = of("record", ONE, written)
    source.begin(Effort.QUICK)()
    assert source.cached() is None
    source.good()
    assert source.cached() is not None
    assert len(written) == 2


def test_other_sources_make_other_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    of("record", ONE, []).good()
    monkeypatch.setattr(code, "source_stamps", lambda: "another version")
    assert of("record", ONE, []).cached() is None


def test_without_sources_the_text_says_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code, "source_stamps", lambda: None)
    of("record", ONE, []).good()
    assert of("record", TWO, []).cached() is None
    assert of("another record", ONE, []).cached() is not None


def test_every_module_in_a_folder_counts(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    for name in ("one.py", "deep/two.py", "note.txt"):
        (tmp_path / name).write_text("x = 1\n")
    before = sorted(object_cache.folder_stamps(tmp_path))
    assert [line.split()[0] for line in before] == [
        str(tmp_path / name) for name in ("deep/two.py", "one.py")
    ]
    (tmp_path / "deep" / "two.py").write_text("x = 10\n")
    assert sorted(object_cache.folder_stamps(tmp_path)) != before


def test_a_module_of_another_time_is_another(tmp_path: Path) -> None:
    path = tmp_path / "one.py"
    path.write_text("x = 1\n")
    before = list(object_cache.folder_stamps(tmp_path))
    os.utime(path, ns=(1, 1))
    assert list(object_cache.folder_stamps(tmp_path)) != before


def test_modules_that_are_no_files_have_no_sources(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(object_cache, "ROOT", tmp_path / "package.zip")
    object_cache.source_stamps.cache_clear()
    assert object_cache.source_stamps() is None
    monkeypatch.undo()
    object_cache.source_stamps.cache_clear()
    assert "writer.py" in str(object_cache.source_stamps())


def program() -> Program:
    b = Builder(Stage.PIXEL)
    with b.if_(b.input("x") > 0.5):
        b.kill(b.input("y") < 0.25)
    b.output("z", b.floor(b.input("x")))
    return b.program()


def test_a_program_says_all_that_it_is() -> None:
    one = program()
    assert told(one) == told(program())
    assert repr(replace(one, statements=one.statements[1:])) != repr(one) == repr(program())


def test_a_name_depends_on_the_machine_and_on_every_part() -> None:
    def key(name: str, *parts: str) -> str:
        return replace(machine(), name=name).key(*parts)

    names = {key("m", "a", "b"), key("m", "ab"), key("m", "a"), key("n", "a", "b")}
    assert len(names) == 4
    assert key("m", "a", "b") == key("m", "a", "b")

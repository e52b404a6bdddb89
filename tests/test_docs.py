"""What the documents tell to type is typed: commands, programs and their answers, in order."""

from __future__ import annotations

import ast
import doctest
import io
import re
import subprocess
import sys
import textwrap
from importlib import import_module
from pathlib import Path

import pytest

from tests.shell import check_command, commands_in, make_clone, run_elsewhere
from tests.tools.loading import ROOT

DOCS = ROOT / "docs"

PAGES = {"howto": 11, "tutorial": 11, "explain": 2}
"""Pages whose examples are run, with the least number of examples that each has."""
"""Pages all of whose examples are run, one after the other."""

BLOCK = re.compile(
    r"\.\. code-block:: (\w+)\n\n((?:    .*\n|\n)+)"  # a language and its lines
    r"|((?:^>>>.*\n(?:(?!>>>).+\n)*)+)",  # or examples with their answers
    re.MULTILINE,
)


def examples() -> list[str]:
    """Modules that have any."""
    found = []
    for path in sorted((ROOT / "dp2emu").rglob("*.py")):
        if ">>>" in path.read_text("utf-8"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found.append(".".join(parts).removesuffix(".__init__"))
    return found


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that looks like a clone as far as examples go."""
    make_clone(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def do_commands(language: str, block: str, folder: Path) -> None:
    for command in commands_in(f".. code-block:: {language}\n\n{block}"):
        if run_elsewhere(command) is None:
            check_command(command, folder)


def do_program(text: str, space: dict[str, object]) -> None:
    exec(compile("\n".join(line[4:] for line in text.split("\n")), "example", "exec"), space)


def do_examples(text: str, space: dict[str, object]) -> None:
    test = doctest.DocTestParser().get_doctest(text, space, "example", None, None)
    told = io.StringIO()
    doctest.DocTestRunner(verbose=False).run(test, out=told.write, clear_globs=False)
    space |= test.globs
    assert told.getvalue() == ""


@pytest.mark.parametrize("page", PAGES)
def test_examples_of_a_page_work_one_after_the_other(page: str, clone: Path) -> None:
    space: dict[str, object] = {}
    done = 0
    for language, block, examples in BLOCK.findall((ROOT / "docs" / f"{page}.rst").read_text()):
        done += 1
        if examples:
            do_examples(examples, space)
        elif language in ("sh", "console"):
            do_commands(language, block, clone)
        elif language == "python":
            do_program(block, space)
    assert done >= PAGES[page]


DIRECT3D_11 = "Write a program for Direct3D 11"


@pytest.mark.slow
def test_the_direct3d_11_program_is_typed(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "howto.rst").read_text("utf-8")
    _, section = page.split(f"{DIRECT3D_11}\n")
    programs = [textwrap.dedent(block) for kind, block, _ in BLOCK.findall(section)[:2]]
    path = tmp_path / "program.py"
    path.write_text("".join(programs), "utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("module", examples())
def test_examples_in_docstrings_are_true(module: str) -> None:
    result = doctest.testmod(import_module(module))
    assert result.attempted and not result.failed


def test_every_page_is_in_the_table_of_contents() -> None:
    index = (DOCS / "index.rst").read_text("utf-8")
    listed = set(re.findall(r"^   ([\w/-]+)$", index, re.MULTILINE)) - {"api/index"}
    pages = (path for pattern in ("*.rst", "reference/*.rst") for path in DOCS.glob(pattern))
    assert listed == {path.relative_to(DOCS).with_suffix("").as_posix() for path in pages} - {
        "index"
    }


def test_every_package_with_public_names_has_an_api_page() -> None:
    tree = ast.parse((ROOT / "docs" / "conf.py").read_text("utf-8"))
    (listed,) = (
        ast.literal_eval(node.value) for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "PACKAGES"
    )  # fmt: skip
    offering = {
        ".".join(path.relative_to(ROOT).parent.parts)
        for path in (ROOT / "dp2emu").rglob("__init__.py")
        if "__all__ = " in path.read_text("utf-8")
    }
    assert {name for name in offering if name.count(".") == 1} <= set(listed)
    assert all((ROOT / name.replace(".", "/")).with_suffix(".py").exists()
               or (ROOT / name.replace(".", "/")).is_dir() for name in listed)  # fmt: skip


def test_modules_that_pages_name_exist() -> None:
    pages = [*DOCS.rglob("*.rst"), ROOT / "README.rst", *ROOT.glob("*/README.rst")]
    named = {
        (page.name, path)
        for page in pages
        for path in re.findall(r"\b(?:dp2emu|tests|tools)/[\w/]+\.py\b", page.read_text("utf-8"))
    }
    assert len(named) > 40
    assert sorted(each for each in named if not (ROOT / each[1]).is_file()) == []

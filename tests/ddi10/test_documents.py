"""docs/ddi10.rst: its example runs, and the tests it names exist."""

from __future__ import annotations

import re
from pathlib import Path

DOCUMENT = Path(__file__).parents[2] / "docs" / "ddi10.rst"
TESTS = Path(__file__).parents[1]


def test_the_example_leaves_true_in_the_data() -> None:
    lines = DOCUMENT.read_text("utf-8").split(".. code-block:: python\n\n")[1].splitlines()
    body = [
        line for line in lines[: lines.index("What is implemented")] if line.startswith("    ")
    ]
    names: dict[str, object] = {}
    exec("\n".join(line[4:] for line in body), names)
    assert names["data"] == b"\x01\0\0\0"


def test_the_tests_that_rules_name_exist() -> None:
    table = DOCUMENT.read_text("utf-8").split("Rules and their tests")[1]
    named = re.findall(r"test_\w+", re.sub(r"_``\s+(?:[^`\n]*\s)?``", "_", table))
    files = [*TESTS.rglob("test_*.py")]
    named = [name for name in named if name not in {path.stem for path in files}]
    sources = "".join(path.read_text("utf-8") for path in files)
    assert len(named) >= 89
    assert [name for name in named if f"def {name}(" not in sources] == []

"""Tables broken on purpose: every row is."""

from __future__ import annotations

import pytest

from tests.tools.loading import load_tool

tool = load_tool("mutate_tables")


def test_every_row_gets_what_another_has() -> None:
    class Name(str):
        @property
        def name(self) -> str:
            return str(self)

    table = {Name("a"): 1, Name("b"): 1, Name("c"): 2}
    changed = []
    for what, make in tool.exchanged(table)():
        before = dict(table)
        make()
        changed.append((what, [key for key in table if table[key] != before[key]]))
        table |= before
    assert changed == [("a", ["a"]), ("b", ["b"]), ("c", ["c"])]


def test_every_format_with_channels_loses_bits() -> None:
    formats = {what.partition(".")[0] for what, _ in tool.narrowed()}
    assert formats == {format.name for format, row in tool.FORMATS.items() if row.channels}


def test_tests_that_do_not_run_notice_nothing() -> None:
    with pytest.raises(RuntimeError, match="pytest ended with"):
        tool.noticed(lambda: None, ("tests/no_such_file.py",))

"""Remarks about calls of the Direct3D 10/11 interface."""

from __future__ import annotations

from io import StringIO

import pytest

from dp2emu.capture.records import EntryCalled
from dp2emu.text.dump import TextWriter, remark_of
from dp2emu.text.textfile import TextCapture


@pytest.mark.parametrize(
    ("entry", "count", "remark"),
    [
        ("Draw", 2, "vertices, start"),
        ("Draw", 1, "vertices"),
        ("Flush", 0, ""),
        ("QueryGetData", 4, "memory, data, size, flags"),
        ("DXGI.SetResourcePriority", 2, "resource, priority"),
        ("Adapter.CreateDevice", 1, ""),
        ("Fly", 3, ""),
    ],
)
def test_arguments_are_named(entry: str, count: int, remark: str) -> None:
    assert remark_of(entry, count) == remark


def test_names_stand_in_a_comment() -> None:
    out = StringIO()
    record = EntryCalled(1, 110, "Draw", (3, 0))
    TextWriter(out).write(record)
    (line,) = (line for line in out.getvalue().splitlines() if "name:" in line)
    assert line.split("#")[1].strip() == "vertices, start"
    assert list(TextCapture(StringIO(out.getvalue())).records()) == [record]

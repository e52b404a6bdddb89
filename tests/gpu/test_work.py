"""Work adds up."""

from __future__ import annotations

from dp2emu.gpu.work import Work


def test_every_count_is_added() -> None:
    a, b = Work(*range(1, 15)), Work(*range(10, 150, 10))
    assert a + b == Work(*(11 * n for n in range(1, 15)))

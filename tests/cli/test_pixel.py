"""``dp2emu pixel``: the draws behind a pixel, in order."""

from __future__ import annotations

from tests.cli.running import dp2emu
from tests.tools.loading import ROOT

STREAM = ROOT / "streams" / "first_light.dp2"


def test_draws_that_made_a_pixel_are_listed() -> None:
    ran = dp2emu("pixel", STREAM, "--at", 186, 121)
    assert ran.code == 0
    assert ran.err == "10 draws were executed\n"
    assert [line.split()[1] for line in ran.out.splitlines()] == [b"0", b"1", b"2"]
    assert b"draw 2 at 0 ticks: 1 of its 3392 samples, " in ran.out


def test_a_pixel_that_nothing_is_drawn_to_has_no_history() -> None:
    ran = dp2emu("pixel", STREAM, "--at", 65535, 0)
    assert (ran.code, ran.out) == (0, b"")

"""Cases of render targets: a driver with one mistake fails the case of its rule, and no other."""

from __future__ import annotations

import pytest

from dp2emu.conform import Verdict, kit, run_kit
from tests.conform.mistakes import Emulator


class Forgetting(Emulator):
    """What the host writes into surfaces is lost."""

    def write(self, handle: int, offset: int, data: bytes) -> None:
        pass


@pytest.mark.parametrize("ddi", (7, 9))
def test_pixels_of_the_host_that_are_lost_fail_their_own_case(ddi: int) -> None:
    verdicts = {
        each.case.name: each.verdict for each in run_kit(kit("target", ddi=ddi), Forgetting())
    }
    assert verdicts.pop("target.written") is Verdict.FAILED
    assert set(verdicts.values()) == {Verdict.PASSED}

"""Cases of render targets: a driver with one mistake fails the case of its rule, and no other."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from dp2emu.conform import Verdict, kit, run_kit
from dp2emu.conform.features import tokens_of
from dp2emu.conform.target import TARGET
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.fvf import DIFFUSE, XYZRHW, fvf_size
from dp2emu.dp2.call import Answer, Call
from tests.conform.mistakes import Emulator


class Forgetting(Emulator):
    """What the host writes into surfaces is lost."""

    def write(self, handle: int, offset: int, data: bytes) -> None:
        pass


class Switching(Emulator):
    """A target loses its pixels when another one is set."""

    lost = False

    def submit(self, call: Call) -> Answer:
        self.lost |= any(each.token.op is Op.SETRENDERTARGET for each in tokens_of(call))
        return super().submit(call)

    def destroy_context(self, context: int) -> None:
        self.lost = False
        super().destroy_context(context)

    def read(self, handle: int, offset: int, size: int) -> bytes:
        data = super().read(handle, offset, size)
        return bytes(len(data)) if self.lost and handle == TARGET else data


def test_a_target_of_zeros_is_a_failure_once_the_driver_has_drawn_a_picture() -> None:
    failed = {"target.set", "target.written", "target.contexts"}
    for outcome in run_kit(kit("target", ddi=8), Switching()):
        wrong = outcome.case.name in failed
        assert outcome.verdict is (Verdict.FAILED if wrong else Verdict.PASSED)
    (alone,) = run_kit(kit("target.set", ddi=8), Switching())
    assert alone.verdict is Verdict.SKIPPED


@pytest.mark.parametrize("ddi", (7, 9))
def test_pixels_of_the_host_that_are_lost_fail_their_own_case(ddi: int) -> None:
    verdicts = {
        each.case.name: each.verdict for each in run_kit(kit("target", ddi=ddi), Forgetting())
    }
    assert verdicts.pop("target.written") is Verdict.FAILED
    assert set(verdicts.values()) == {Verdict.PASSED}


class Black(Emulator):
    """Vertices without a colour are black."""

    def submit(self, call: Call) -> Answer:
        if call.vertices and call.dwVertexType == XYZRHW:
            data = call.vertices
            rows = [data[at : at + 16] + b"\0\0\0\xff" for at in range(0, len(data), 16)]
            size = fvf_size(XYZRHW | DIFFUSE)
            call = replace(call, vertices=b"".join(rows), dwVertexSize=size,
                           dwVertexType=XYZRHW | DIFFUSE)  # fmt: skip
        return super().submit(call)


@pytest.mark.parametrize("ddi", (6, 8))
def test_vertices_without_a_colour_that_are_not_white_fail_their_case(ddi: int) -> None:
    chosen = kit("draw.no_colour", "draw.trianglestrip", ddi=ddi)
    wrong = [each.case.name for each in run_kit(chosen, Black()) if each.verdict is Verdict.FAILED]
    assert wrong == ["draw.no_colour"]


def test_a_format_of_targets_is_judged_by_its_own_pixels_alone() -> None:
    driver = Switching()
    for outcome in run_kit(
        kit("announced.target", ddi=8, capabilities=driver.capabilities()), driver
    ):
        assert outcome.verdict is Verdict.PASSED

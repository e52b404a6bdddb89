"""A driver whose process fails in a case: call and token are named once for each way to fail."""

from __future__ import annotations

from dp2emu.conform import Verdict, kit, run_kit
from dp2emu.rig.failure import Finding, FindingKind, RigFailure
from dp2emu.rig.served import PipeRig
from tests.conform.mistakes import Crashing, Emulator
from tests.native.building import built


def test_the_first_case_of_a_crash_names_the_token_and_every_case_the_call() -> None:
    with PipeRig(str(built("crashing", ("dp2stub.c", "crashing.c")))) as rig:
        outcomes = list(run_kit(kit("target.clear", "target.set"), rig))
    whys = [each.why for each in outcomes]
    assert len(whys) > 2 and {each.verdict for each in outcomes} == {Verdict.FAILED}
    assert whys[0].startswith("call 1, offset 0x0, CLEAR: crash: SIGSEGV")
    assert all(why.startswith("call 1: crash: SIGSEGV") for why in whys[1:])


class CrashesAtTheEnd(Emulator):
    """The driver crashes when a context ends."""

    def restart(self) -> None:
        self.__init__()  # type: ignore[misc]

    def destroy_context(self, context: int) -> None:
        raise RigFailure(Finding(FindingKind.CRASH, "SIGSEGV"))


def test_a_crash_when_the_context_ends_fails_the_case() -> None:
    (outcome,) = run_kit(kit("draw.trianglelist.0"), CrashesAtTheEnd())
    assert outcome.verdict is Verdict.FAILED
    assert outcome.why.endswith("surfaces are destroyed: crash: SIGSEGV")


def test_a_driver_that_does_not_fail_again_has_its_first_failure_told() -> None:
    class Once(Crashing):
        def restart(self) -> None:
            self.crashes = -100  # it counts up, and its words differ then

    outcome, *_ = run_kit(kit("draw.trianglefan_imm"), Once())
    assert outcome.why.endswith("call 1: crash: SIGSEGV in call 1")

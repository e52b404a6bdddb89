"""Cases of pictures: the emulator draws them, and one with a wrong state does not."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from dp2emu.conform import Case, Verdict, kit, run_case, run_kit
from dp2emu.conform.pictures import FACTORS, OPERATIONS, line
from dp2emu.conform.script import render_state, stage_state
from dp2emu.d3d.enums import Blend, BlendOp, CmpFunc, RenderState, TextureAddress, TextureOp
from dp2emu.d3d.flags import ColorWrite
from dp2emu.d3d.legacy import TextureStageState8
from dp2emu.dp2.call import Answer, Call
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.options import Options
from dp2emu.errors import Fault

CASES = {case.name: case for case in kit() if case.shown}
RS, TSS = RenderState, TextureStageState8
REFERENCE = Options(engine="reference")


class Spoiled(Driver):
    """The emulator, with tokens changed on the way."""

    def __init__(self, old: bytes, new: bytes) -> None:
        super().__init__(options=REFERENCE)
        self.change = old, new

    def submit(self, call: Call) -> Answer:
        return super().submit(replace(call, commands=(call.commands or b"").replace(*self.change)))


class Counting(Driver):
    """A driver that draws nothing into memory."""

    def read(self, handle: int, offset: int, size: int) -> bytes:
        return bytes(size)


def test_the_emulator_draws_every_picture() -> None:
    outcomes = list(run_kit(CASES.values(), Driver(options=REFERENCE)))
    assert [(o.case.name, o.why) for o in outcomes if o.verdict is not Verdict.PASSED] == []


@pytest.mark.parametrize("name", ["point.all", "texture.stage.modulate"])
def test_a_driver_without_pictures_is_passed_over(name: str) -> None:
    outcome = run_case(CASES[name], Counting(options=REFERENCE))
    assert (outcome.verdict, outcome.why) == (Verdict.SKIPPED, "nothing is drawn into memory")


def test_a_driver_without_such_a_surface_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Driver, desc: object) -> None:
        raise Fault(0x80004001, "no depth")

    monkeypatch.setattr(Driver, "create_surface", refuse)
    assert run_case(CASES["depth.less"], Driver()).verdict is Verdict.SKIPPED
    assert run_case(kit("draw.none")[0], Driver()).verdict is Verdict.FAILED


def mistakes() -> Iterator[tuple[str, bytes, bytes]]:
    """Names of cases, a token that matters to each, and one that means something else."""
    for func in CmpFunc:
        other = CmpFunc(int(func) % 8 + 1)
        for family, state in (("depth", RS.ZFUNC), ("alphatest", RS.ALPHAFUNC)):
            if (family, func) != ("depth", CmpFunc.ALWAYS):  # which its first box needs too
                yield (f"{family}.{func.name.lower()}", render_state(state, func),
                       render_state(state, other))  # fmt: skip
    for factor in FACTORS:
        # What is 0 or 1 times its opposite is 0.
        nothing = factor in (Blend.ZERO, Blend.INVSRCCOLOR, Blend.INVDESTCOLOR)
        other_factor = Blend.ONE if nothing else Blend.ZERO
        for side, state in (("source", RS.SRCBLEND), ("target", RS.DESTBLEND)):
            yield (f"blend.{side}.{factor.name.lower()}", render_state(state, factor),
                   render_state(state, other_factor))  # fmt: skip
    for operation in OPERATIONS:
        other_operation = BlendOp(int(operation) % 5 + 1)
        yield (f"blend.operation.{operation.name.lower()}",
               render_state(RS.BLENDOP, operation), render_state(RS.BLENDOP, other_operation)
               )  # fmt: skip
    for bit in ColorWrite:
        yield (f"mask.{str(bit.name).lower()}", render_state(RS.COLORWRITEENABLE, bit),
               render_state(RS.COLORWRITEENABLE, 15))  # fmt: skip
    for address in (each for each in TextureAddress if each <= TextureAddress.BORDER):
        other_address = TextureAddress(int(address) % 4 + 1)
        yield (f"texture.address.{address.name.lower()}", stage_state(TSS.ADDRESSU, address),
               stage_state(TSS.ADDRESSU, other_address))  # fmt: skip
    for op in (TextureOp.SELECTARG2, TextureOp.MODULATE, TextureOp.ADD, TextureOp.SUBTRACT):
        yield (f"texture.stage.{op.name.lower()}", stage_state(TSS.COLOROP, op),
               stage_state(TSS.COLOROP, TextureOp.SELECTARG1))  # fmt: skip
    yield "depth.not_written", render_state(RS.ZWRITEENABLE, 0), render_state(RS.ZWRITEENABLE, 1)
    yield "depth.off", render_state(RS.ZENABLE, 0), render_state(RS.ZENABLE, 1)
    yield "point.several", struct.pack("<2H", 1, 4), struct.pack("<2H", 1, 3)
    yield "line.linestrip", struct.pack("<BBHH", 16, 0, 4, 1), struct.pack("<BBHH", 16, 0, 4, 0)


@pytest.mark.parametrize(("name", "old", "new"), list(mistakes()))
def test_a_state_that_means_something_else_is_named(name: str, old: bytes, new: bytes) -> None:
    case: Case = CASES[name]
    assert any(old in (called.call.commands or b"") for called in case.calls)
    outcome = run_case(case, Spoiled(old, new))
    assert outcome.verdict is Verdict.FAILED and "instead of" in outcome.why


def test_a_line_has_no_last_pixel_and_a_step_along_its_longer_side() -> None:
    assert line((5, 3), (5, 1)) == [(5, 3), (5, 2)]
    assert line((3, 0), (0, 1)) == [(3, 0), (2, 0), (1, 1)]
    with pytest.raises(AssertionError, match="half-way"):
        line((0, 0), (2, 1))

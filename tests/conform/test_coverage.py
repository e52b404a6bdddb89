"""Cases of coverage: each of three mistakes of a rasterizer fails its own cases and no others."""

from __future__ import annotations

import struct

import pytest
from msgspec.structs import replace

from dp2emu.conform import Verdict, kit, run_kit
from dp2emu.conform.coverage import away_from_edges
from dp2emu.d3d.dp2structs import Op
from dp2emu.dp2.call import Answer, Call
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.options import Options

REFERENCE = Options(engine="reference")
VERSIONS = (6, 7, 8, 9)


class Moving(Driver):
    """A driver that draws transformed vertices ``by`` pixels further right and down."""

    def __init__(self, by: float) -> None:
        super().__init__(options=REFERENCE)
        self.by = by

    def submit(self, call: Call) -> Answer:
        data, size = bytearray(call.vertices or b""), call.dwVertexSize
        for at in range(0, len(data), size or 1):
            x, y = struct.unpack_from("<2f", data, at)
            struct.pack_into("<2f", data, at, x + self.by, y + self.by)
        return super().submit(replace(call, vertices=bytes(data) or None))


class Drawing(Driver):
    """A driver that draws no triangle lists."""

    def __init__(self) -> None:
        super().__init__(options=REFERENCE)

    def submit(self, call: Call) -> Answer:
        commands = call.commands or b""
        if commands.startswith(bytes([Op.TRIANGLELIST])):
            return super().submit(replace(call, commands=b"", dwCommandLength=0))
        return super().submit(call)


def failed(rig: Driver, ddi: int) -> set[str]:
    outcomes = run_kit(kit("coverage", ddi=ddi), rig)
    return {o.case.name for o in outcomes if o.verdict is Verdict.FAILED}


def names(*parts: str) -> set[str]:
    return {f"coverage.{part}" for part in parts}


@pytest.mark.parametrize("ddi", VERSIONS)
def test_the_emulator_draws_every_shape(ddi: int) -> None:
    outcomes = list(run_kit(kit("coverage", ddi=ddi), Driver(options=REFERENCE)))
    assert [(o.case.name, o.why) for o in outcomes if o.verdict is not Verdict.PASSED] == []


@pytest.mark.parametrize("ddi", VERSIONS)
def test_centres_half_a_pixel_further_fail_the_cases_of_centres_alone(ddi: int) -> None:
    assert failed(Moving(-0.5), ddi) == names("centre.quarter", "centre.half", "centre.point")


@pytest.mark.parametrize("ddi", VERSIONS)
def test_centres_half_a_pixel_before_fail_cases_of_centres_and_of_edges(ddi: int) -> None:
    assert failed(Moving(0.5), ddi) == names(
        "centre.three_quarters", "centre.point", "edge.box", "edge.right", "edge.left"
    )


@pytest.mark.parametrize("ddi", (6, 9))
def test_edges_that_belong_to_the_other_side_fail_the_cases_of_edges_alone(ddi: int) -> None:
    assert failed(Moving(1 / 64), ddi) == names("edge.box", "edge.right", "edge.left")


def test_a_driver_that_fills_nothing_fails_the_cases_of_insides() -> None:
    assert names("inside.clockwise", "inside.counterclockwise") <= failed(Drawing(), 9)


def test_pixels_next_to_another_colour_are_left_out() -> None:
    pixels = {(x, y): int(x < 3) for x in range(6) for y in range(3)}
    assert set(away_from_edges(pixels)) == {(x, y) for x in (0, 1, 4, 5) for y in range(3)}

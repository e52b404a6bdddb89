"""Lanes of draws and dispatches: the last value of a trace is what was stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from dp2emu.errors import UsageError
from dp2emu.explain.address import parse_address
from dp2emu.explain.lane_play import Lane, trace_event
from dp2emu.explain.lanes import Chosen, trace_primitive
from dp2emu.explain.shader_trace import ShaderTrace
from dp2emu.gpu.command.packets import Draw, Packet
from tests.ddi10.tessellating import Tessellating, domain, hull
from tests.explain.lane_trials import LANES, TRIALS, try_draws, try_program
from tests.explain.opening import FIRST_LIGHT, REAL, opened

TEXCUBE = next(path for path in REAL if path.name == "sokol_texcube.trace")


def traces(event: str, what: str, *numbers: int, **chosen: int) -> tuple[ShaderTrace, ...]:
    lane = Lane(what, numbers, Chosen(**chosen))
    path = FIRST_LIGHT if event.startswith("1:") else TEXCUBE
    with opened(path) as capture:
        return trace_event(capture, parse_address(event), lane)


@pytest.mark.parametrize("seed", range(4))
def test_the_last_values_of_random_programs_are_those_of_the_compiled_program(seed: int) -> None:
    assert try_program(seed).total() == LANES


@pytest.mark.parametrize("seed", [3, 6])
def test_the_last_values_of_random_draws_are_those_of_the_compiled_draw(seed: int) -> None:
    assert isinstance(try_draws(seed), Counter)


@pytest.mark.slow
@pytest.mark.parametrize("what", TRIALS)
def test_the_last_values_of_ten_thousand_lanes_are_the_stored_bits(what: str) -> None:
    assert sum(found.total() for found in TRIALS[what](10_000, 0)) >= 10_000 - LANES


def test_a_pixel_of_a_capture_is_traced_with_its_texels_and_what_was_stored() -> None:
    (made,) = traces("E3", "pixel", 400, 300)
    (read,) = made.steps[0].texels
    assert made.steps[0].instruction.startswith("sample r0.xyzw, v1.xyxx, t0.xyzw, s0")
    assert [round(value.number, 4) for value in read.coordinates] == [2.4204, 3.4798]
    assert read.levels == (0,)
    assert [(t.x, t.y, t.offset) for t in read.texels] == [
        (1, 1, 20), (2, 1, 24), (1, 2, 36), (2, 2, 40),
    ]  # fmt: skip
    assert made.final.verdict == "written"
    assert made.final.stored[0].after == "008d008d"


def test_the_primitive_and_sample_of_a_pixel_can_be_chosen() -> None:
    (made,) = traces("E3", "pixel", 400, 300, sample=2)
    assert [each.sample for each in made.final.stored] == [2, 2]
    (again,) = traces("E3", "pixel", 400, 300, primitive=3)
    assert again.final.outputs == made.final.outputs
    with pytest.raises(UsageError, match=r"primitives .*3.* do"):
        traces("E3", "pixel", 400, 300, primitive=999)


def test_a_vertex_of_a_capture_is_traced() -> None:
    (made,) = traces("E3", "vertex", 5)
    assert made.steps[0].instruction == "mov o0.xyzw, v1.xyzw"
    outputs = {value.name: value.number for value in made.final.outputs}
    assert outputs["v0.y"] == 1.0


@pytest.mark.parametrize(
    ("event", "lane", "message"),
    [
        ("E3", ("pixel", 0, 0), "none of the draw's does"),
        ("E3", ("thread", 0, 0, 0), "thread needs a dispatch"),
        ("E3", ("pixel", 1), "pixel takes 2 numbers, not 1"),
        ("E3", ("primitive", 0), "no hull, domain or geometry program"),
        ("E999", ("pixel", 0, 0), "no event at E999"),
        ("f1", ("pixel", 0, 0), "pixel needs a draw"),
        ("1:4", ("pixel", 0, 0), "E1 is a clear"),
        ("1:5", ("vertex", 0), "transformed already"),
    ],
)
def test_what_cannot_be_traced_is_an_error_that_says_why(
    event: str, lane: tuple[str, *tuple[int, ...]], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        traces(event, *lane)


def of_draw(device: Tessellating, check: Callable[[Draw], None]) -> None:
    """Draw a patch, and check the packet before it is executed."""
    seen: list[Packet] = []

    def tap(packet: Packet, at: int) -> None:
        if isinstance(packet, Draw):
            seen.append(packet)
            check(packet)

    device.adapter.gpu.packet_taps.append(tap)
    device.call("Draw", 8, 0)
    device.call("Flush")
    device.adapter.finish()
    assert seen


def test_hull_and_domain_programs_of_a_patch_are_traced() -> None:
    factors = (2, 3, 1, 2, 1, 1)
    found: list[ShaderTrace] = []
    device = Tessellating(hull(factors=factors), domain())
    of_draw(device, lambda draw: found.extend(trace_primitive(draw, 1)))
    stages = Counter(each.stage for each in found)
    assert stages == {"hull constants": 6, "domain": 1}
    constants = [value.number for each in found[:6] for value in each.final.outputs if value.bits]
    assert constants[-6:] == list(factors)

"""Lanes of draws and dispatches: the last value of a trace is what was stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.dp2.options import Options
from dp2emu.errors import Exceeded, Unsupported, UsageError
from dp2emu.explain import lanes
from dp2emu.explain.address import parse_address
from dp2emu.explain.lane_play import Lane, trace_event
from dp2emu.explain.lanes import Chosen, Pixel, trace_pixel, trace_primitive, trace_thread
from dp2emu.explain.shader_trace import ShaderTrace
from dp2emu.gpu.command.packets import Dispatch, Draw, Packet
from dp2emu.limits import Limits
from tests.ddi10.draws.test_dispatch import COUNT, KEEP, Computing
from tests.ddi10.rendering import Rendering
from tests.ddi10.tessellating import Tessellating, domain, hull
from tests.ddi10.test_geometry_shaders import Geometry, gs, over_all
from tests.ddi10.test_samples import ACROSS, INDEX, RAMP, Sampled
from tests.ddi10.test_samples import ps as ps10
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


@pytest.mark.parametrize("seed", [6, 9, 12])
def test_the_last_values_of_random_draws_are_those_of_the_compiled_draw(seed: int) -> None:
    assert try_draws(seed, 2).total() > 0


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
    with pytest.raises(UsageError, match=r"has no fragment at pixel .*; primitive 3 has"):
        traces("E3", "pixel", 400, 300, primitive=999)


def test_a_vertex_of_a_capture_is_traced() -> None:
    (made,) = traces("E3", "vertex", 5)
    assert made.steps[0].instruction == "mov o0.xyzw, v1.xyzw"
    outputs = {value.name: value.number for value in made.final.outputs}
    assert outputs["v0.y"] == 1.0


@pytest.mark.parametrize(
    ("event", "lane", "message"),
    [
        ("E3", ("pixel", 0, 0), "no primitive of the draw has a fragment at"),
        ("E3", ("thread", 0, 0, 0), "E3 is a draw .DrawIndexed., not a dispatch"),
        ("E3", ("pixel", 1), "pixel takes 2 numbers, not 1"),
        ("E3", ("primitive", 0), "no hull, domain or geometry program"),
        ("E999", ("pixel", 0, 0), "no event at E999"),
        ("f1", ("pixel", 0, 0), "f1 is a frame, not a draw"),
        ("1:4", ("pixel", 0, 0), "E1 is a clear"),
        ("1:5", ("vertex", 0), "transformed already"),
        (
            "E3",
            ("vertex", 99999),
            "does not read vertex 99999; those that it reads are between 0 and ",
        ),
    ],
)
def test_what_cannot_be_traced_is_an_error_that_says_why(
    event: str, lane: tuple[str, *tuple[int, ...]], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        traces(event, *lane)


# Stages of Direct3D 11, through entries of the driver interface


def watched(
    driven: Rendering, play: Callable[[], object], trace: Callable[[Any], Any]
) -> list[Any]:
    """What ``trace`` returns for each packet that is executed while ``play`` runs."""
    found: list[Any] = []

    def tap(packet: Packet, at: int) -> None:
        if isinstance(packet, Draw | Dispatch):
            found.append(trace(packet))

    driven.adapter.gpu.packet_taps.append(tap)
    play()
    driven.call("Flush")
    driven.adapter.finish()
    return found


def numbers(made: ShaderTrace, name: str) -> list[int]:
    """The integers that steps wrote to a register, in order."""
    return [value.integer for step in made.steps for value in step.writes if value.name == name]


def test_a_geometry_program_of_a_primitive_is_traced() -> None:
    driven = Geometry(gs(over_all("iadd r0.x, v[0][1].x, l(10)", "mov o1, r0.x")))
    (found,) = watched(driven, lambda: driven.draw(3, 4), lambda draw: trace_primitive(draw, 1))
    (made,) = found
    assert numbers(made, "r0.x") == [14, 14, 14]
    assert [each.name for each in made.steps[1].reads] == ["v[0][1].x"]
    assert {value.name: value.bits for value in made.final.outputs}["emitted.x"] == 3


def test_hull_and_domain_programs_of_a_patch_are_traced() -> None:
    factors = (2, 3, 1, 2, 1, 1)
    driven = Tessellating(hull(factors=factors), domain())
    (found,) = watched(
        driven, lambda: driven.call("Draw", 8, 0), lambda draw: trace_primitive(draw, 1)
    )
    assert Counter(each.stage for each in found) == {"hull constants": 6, "domain": 1}
    constants = [value.number for each in found[:6] for value in each.final.outputs if value.bits]
    assert constants[-6:] == list(factors)
    assert found[-1].lane == "primitive 1, first domain point"


@pytest.mark.parametrize("group", [0, 1])
def test_a_thread_is_traced_with_the_memory_that_its_group_shares(group: int) -> None:
    driven = Computing()
    buffer = driven.unordered_buffer()
    driven.shader(
        "store_raw g0.x, l(0), vThreadIDInGroupFlattened.x\nsync_g_t\n"
        "ld_raw r0.x, l(0), g0.x\niadd r0.x, r0.x, vThreadID.x\n"
        "atomic_iadd u0, l(2), r0.x",
        f"{COUNT}\ndcl_tgsm_raw g0, 16\ndcl_input vThreadID.x\n"
        "dcl_input vThreadIDInGroupFlattened",
        "4, 1, 1",
    )
    driven.call("CsSetUnorderedAccessViews", 0, [driven.view(buffer)], [KEEP])
    (made,) = watched(
        driven,
        lambda: driven.call("Dispatch", 2, 1, 1),
        lambda dispatch: trace_thread(dispatch, (4 * group + 1, 0, 0)),
    )
    # The last thread of the group stores last: 3.
    assert numbers(made, "r0.x") == [3, 3 + 4 * group + 1]
    assert [read.kind for step in made.steps for read in step.texels] == [
        "store g0", "load g0", "iadd u0",
    ]  # fmt: skip
    assert driven.words(buffer)[2] == 2 * 4 * 3 + sum(range(8))


def test_a_shader_that_runs_for_each_sample_is_traced_for_the_sample() -> None:
    driven = Sampled()
    code = ps10(["iadd o0, v1.xxxx, l(7, 7, 7, 7)"], INDEX)
    (made,) = watched(
        driven, lambda: driven.run(code),
        lambda draw: trace_pixel(draw, Pixel(1, 2), Chosen(sample=2)),
    )  # fmt: skip
    assert numbers(made, "o0.x") == [9]
    assert [(each.sample, each.after) for each in made.final.stored] == [(2, "09000000")]


def test_an_input_that_is_evaluated_elsewhere_is_traced() -> None:
    driven = Sampled(DxgiFormat.R32_FLOAT)
    code = ps10(["if_nz l(1)", "eval_snapped o0, v1.xyxy, l(8, 0, 0, 0)", "endif"], ACROSS)
    (made,) = watched(
        driven, lambda: driven.run(code, RAMP), lambda draw: trace_pixel(draw, Pixel(3, 2))
    )
    (step,) = [step for step in made.steps if step.texels]
    assert step.instruction.startswith("eval_snapped o0")
    assert (step.texels[0].kind, step.writes[0].number) == ("snapped", 3.0)


def test_a_pixel_with_too_many_fragments_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "MOST_FRAGMENTS", 0)
    with pytest.raises(Unsupported, match="more than 0 fragments"):
        traces("E3", "pixel", 400, 300)


def test_a_draw_beyond_the_limits_of_a_call_is_not_traced() -> None:
    options = Options(limits=Limits(call_vertices=2))
    lane = Lane("pixel", (400, 300))
    with opened(TEXCUBE) as capture, pytest.raises(Exceeded, match="call_vertices"):
        trace_event(capture, parse_address("E3"), lane, options=options)


def test_an_address_of_several_events_means_the_first_that_can_be_traced() -> None:
    with opened(FIRST_LIGHT) as capture:
        (made,) = trace_event(capture, parse_address("1"), Lane("pixel", (100, 100)))
    assert made.final.verdict == "written"

"""What calls spend is the sum of what they do, and a bound on it is never below that."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from dp2emu.dp2.options import Options
from dp2emu.errors import Exceeded
from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.command.packets import Dispatch, Draw, Packet, ShaderBindings
from dp2emu.gpu.command.pipeline import DepthState, Pipeline, RasterState
from dp2emu.gpu.command.post_vertex_stages import StageProgram
from dp2emu.gpu.command.work import Work
from dp2emu.gpu.pixel_shader.pixel_stage import LANES
from dp2emu.gpu.work_budget import (
    DRAWS,
    INTERPRETED,
    NOTHING_SPENT,
    RUN,
    RUN_ACCESS,
    Costs,
    Meter,
    WorkBudget,
    cost,
    metered,
    pixel_cost,
    run_cost,
)
from dp2emu.limits import Limits
from dp2emu.shader.budget import EXECUTED
from dp2emu.shader.builder import Builder
from dp2emu.shader.executed import ACCESS
from dp2emu.shader.ir import Break, Constant, If, Loop, Program, Stage, Statement
from dp2emu.shader.resources import Dimension, MemoryOpcode, MemoryOperation
from dp2emu.shader.types import Type
from tests.dp2.rigging import Bench, clear, header, rectangle, render_state, triangle_list
from tests.refusals import refused

TRUE = Constant(Type.BOOL, 1)
STEP = Break(TRUE)


def program(*statements: Statement) -> Program:
    return Program(Stage.PIXEL, (), (), (), (), statements)


@pytest.mark.parametrize(
    ("statements", "most"),
    [
        ((), 0),
        ((STEP, STEP), 2),
        ((If(TRUE, (STEP,), (STEP, STEP)),), 4),
        ((Loop((STEP, STEP), 10),), 21),
        ((Loop((Loop((STEP,), 3), STEP), 5), STEP), 1 + 5 * (1 + 3 + 1) + 1),
        ((Loop((Loop((STEP,), 1 << 18),), 1 << 18),), 3 + EXECUTED * 16),
    ],
)
def test_a_program_costs_its_statements_with_all_rounds(
    statements: tuple[Statement, ...], most: int
) -> None:
    assert cost(program(*statements)) == most


def drawing(*, pixel: int, vertex: int = 0, samples: int = 1) -> Draw:
    """A draw whose programs have these numbers of statements."""
    pipeline = Pipeline(
        (), RasterState(), DepthState(), program(*[STEP] * pixel), (), (), None, samples,
        program(*[STEP] * vertex),
    )  # fmt: skip
    bindings = ShaderBindings()
    return cast(Draw, SimpleNamespace(pipeline=pipeline, pixel=bindings, vertex=bindings))


def test_no_program_costs_nothing() -> None:
    assert cost(None) == 0


def test_what_is_left_is_the_least_of_what_call_and_capture_leave() -> None:
    budget = WorkBudget(Limits(call_vertices=10, capture_vertices=15, call_pixels=7))
    budget.spend(vertices=8, pixels=3)
    assert budget.left()[:2] == (2, 4)
    budget.call, budget.draws = NOTHING_SPENT, 0
    assert budget.left()[:2] == (7, 7)
    budget.allow(vertices=7)
    with pytest.raises(Exceeded, match=refused("capture_vertices", 15)):
        budget.allow(vertices=8)
    budget.spend(vertices=8)
    assert budget.left().vertices == -1


def test_without_a_meter_nothing_is_between() -> None:
    def rest(draw: object, assembled: object) -> Work:
        return Work()

    assert metered(rest, Rect(0, 0, 1, 1), None) is rest


def spent(commands: bytes, vertices: bytes, engine: str) -> Costs:
    bench = Bench(options=Options(engine=engine))
    bench.ok(commands, vertices)
    return bench.driver.gpu.budget._capture


@pytest.mark.parametrize("engine", ["reference", "jit", "checked"])
@pytest.mark.parametrize(
    ("commands", "vertices", "pixels"),
    [
        (clear(), 0, 64 * 64 * 2),
        (triangle_list(0, 2), 6, 80),
        (triangle_list(0, 2) * 5, 30, 400),
        (render_state(8, 1) + triangle_list(0, 2), 6, 6),
    ],
)
def test_calls_spend_what_they_draw(
    engine: str, commands: bytes, vertices: int, pixels: int
) -> None:
    found = spent(commands, rectangle(1, 2, 10, 8), engine)
    assert found[:2] == (vertices, pixels)
    assert (found.instructions > 0) == (vertices > 0)


@pytest.mark.parametrize("mode", [1, 2, 3])
def test_the_rectangles_around_primitives_are_enough(mode: int) -> None:
    quad = rectangle(20, 20, 10, 10)
    closely = Bench(options=Options(limits=Limits(call_pixels=400)))
    closely.ok(render_state(8, mode) + triangle_list(0, 2), quad)
    with pytest.raises(Exceeded):
        Bench(options=Options(limits=Limits(call_pixels=3))).call(
            render_state(8, mode) + triangle_list(0, 2), quad
        )


def test_points_count_as_squares_of_their_size() -> None:
    commands = header(1, 1) + (6).to_bytes(2, "little") + (0).to_bytes(2, "little")
    quad, sized = rectangle(20, 20, 10, 10), render_state(154, 0x42800000)  # 64.0
    limits = Options(limits=Limits(call_pixels=6 * 3 * 3))
    Bench(options=limits).ok(commands, quad)
    with pytest.raises(Exceeded, match="call_pixels"):
        Bench(options=limits).call(sized + commands, quad)


def test_coordinates_that_are_no_numbers_count_as_the_whole_target() -> None:
    quad = np.frombuffer(rectangle(20, 20, 10, 10), np.float32).copy()
    quad[[0, 6]] = np.nan, np.inf
    bench = Bench(options=Options(limits=Limits(call_pixels=64 * 64 * 4)))
    bench.ok(triangle_list(0, 2), quad.tobytes())


def test_threads_of_a_dispatch_run_its_program() -> None:
    stage = StageProgram(program(STEP, Loop((STEP,), 4)))
    dispatch = Dispatch(stage, (), (), (4, 2, 1), (3, 1, 1))
    budget = WorkBudget(Limits(call_instructions=24 * 6))
    budget.admit_dispatch(dispatch)
    assert budget.left().instructions == 0
    with pytest.raises(Exceeded, match=refused("call_instructions", 144)):
        budget.admit_dispatch(dispatch)


def test_draws_spend_their_vertices_and_what_covers_pixels() -> None:
    budget = WorkBudget(Limits(call_vertices=10, call_pixels=100, call_instructions=1000))
    budget.drawn(drawing(pixel=5, vertex=3), Work(vertices=4, fragments=70))
    assert budget.left() == (6, 30, 1000 - 4 * 3 - 70 * 5)


def metering(budget: WorkBudget | None) -> Meter:
    """Of pixel programs of three statements, on 10 x 10 pixels of two samples."""
    return Meter(drawing(pixel=3, samples=2), Rect(5, 5, 15, 15), budget)


def test_without_limits_any_number_of_primitives_is_drawn() -> None:
    meter, work = metering(None), Work(fragments=9)
    assert meter.most() == sys.maxsize
    assert meter.spent(work) is work


@pytest.mark.parametrize(
    ("limits", "most"),
    [
        (Limits(call_pixels=1199), 5),
        (Limits(call_instructions=2399), 3),
        (Limits(call_instructions=2400), 4),
    ],
)
def test_as_many_primitives_are_drawn_as_could_cover_all(limits: Limits, most: int) -> None:
    assert metering(WorkBudget(limits)).most() == most


def test_pixels_and_what_their_programs_execute_are_spent() -> None:
    budget = WorkBudget(Limits(call_pixels=10, call_instructions=100))
    work = Work(fragments=9)
    assert metering(budget).spent(work) is work
    assert budget.left()[1:] == (1, 100 - 9 * 3)


@pytest.mark.parametrize("points", [None, program(*[STEP] * 5)])
def test_programs_of_later_stages_cost_what_each_runs(points: Program | None) -> None:
    def bound(steps: int) -> StageProgram:
        return StageProgram(program(*[STEP] * steps))

    constants = (
        SimpleNamespace(instances=3, bound=bound(2)),
        SimpleNamespace(instances=1, bound=bound(4)),
    )
    hull = SimpleNamespace(constants=constants, points=points and StageProgram(points), makes=6)
    tessellation = SimpleNamespace(hull=hull, domain=bound(7))
    geometry = SimpleNamespace(bound=bound(9))
    work = Work(hull_runs=10, domain_runs=100, geometry_runs=1000, geometry_primitives=3)
    patch = 3 * 2 + 4 + (6 * 5 if points else 0)
    for later, executed in (
        (None, 0),
        (SimpleNamespace(tessellation=None, geometry=None), 0),
        (SimpleNamespace(tessellation=tessellation, geometry=None), 10 * patch + 100 * 7),
        (SimpleNamespace(tessellation=None, geometry=geometry), 1000 * 9),
        (
            SimpleNamespace(tessellation=tessellation, geometry=geometry),
            10 * patch + 100 * 7 + 1000 * 9,
        ),
    ):
        budget = WorkBudget(Limits(call_instructions=executed or 1, call_vertices=103))
        budget.admit_post_vertex(cast(Draw, SimpleNamespace(post_vertex=later)), work)
        assert budget.left()[::2] == (0, 0 if executed else 1)
        with pytest.raises(Exceeded, match=refused("call_vertices", 103)):
            budget.admit_post_vertex(cast(Draw, SimpleNamespace(post_vertex=later)), work)


def test_what_was_copied_too_much_stops_the_next_packet() -> None:
    budget = WorkBudget(Limits(capture_pixels=10))
    packet = cast(Packet, None)
    budget.moved(packet, Work(pixels=3, pixel_bytes=40))
    budget.admit(packet)
    budget.moved(packet, Work(pixels=3, pixel_bytes=4))
    with pytest.raises(Exceeded, match=refused("capture_pixels", 10)):
        budget.admit(cast(Packet, None))


def test_each_draw_raises_the_limits_of_a_capture_in_proportion_to_them() -> None:
    budget = WorkBudget(Limits(capture_pixels=2 * DRAWS, capture_vertices=DRAWS - 1))
    budget.spend(vertices=DRAWS, pixels=2 * DRAWS + 6)
    with pytest.raises(Exceeded, match=refused("capture_vertices")):
        budget.allow()
    budget = WorkBudget(Limits(capture_pixels=2 * DRAWS))
    budget.spend(pixels=2 * DRAWS + 6)
    for _ in range(2):
        budget.begin_draw()
        with pytest.raises(Exceeded, match=refused("capture_pixels")):
            budget.allow()
    budget.begin_draw()
    budget.allow()
    assert budget.left().pixels == 0


# Programs that access memory, which are interpreted

STORE = MemoryOperation(MemoryOpcode.STORE, 1, shared=False, dimension=Dimension.RAW_BUFFER)
ADD = MemoryOperation(MemoryOpcode.IADD, 1, shared=False, dimension=Dimension.RAW_BUFFER)


def acting(operation: MemoryOperation, *, alike: bool, samples: int = 1) -> Draw:
    """A draw whose pixels access memory at one address, or each at its own."""
    b = Builder(Stage.PIXEL)
    at = b.constant(Type.I32, 4) if alike else b.input("primitive_id.x", Type.I32)
    b.access(0, (at, at + 1))
    pipeline = Pipeline(
        (), RasterState(), DepthState(), b.program(), (), (), None, samples,
        memory_operations=(operation,),
    )  # fmt: skip
    bindings = ShaderBindings()
    output = SimpleNamespace(unordered={})
    return cast(
        Draw, SimpleNamespace(pipeline=pipeline, pixel=bindings, vertex=bindings, output=output)
    )


def test_what_all_fragments_execute_as_one_counts_for_each_run() -> None:
    one, own = acting(STORE, alike=True), acting(STORE, alike=False)
    assert pixel_cost(one) == 0
    assert pixel_cost(own) >= ACCESS + INTERPRETED
    assert pixel_cost(acting(ADD, alike=True)) >= ACCESS  # atomics act lane by lane
    assert run_cost(one) >= RUN + RUN_ACCESS
    assert run_cost(own) > RUN + RUN_ACCESS
    assert run_cost(drawing(pixel=3)) == 0


@pytest.mark.parametrize("samples", [1, 4])
def test_runs_for_few_fragments_count(samples: int) -> None:
    draw = acting(STORE, alike=True, samples=samples)
    run = run_cost(draw)
    budget = WorkBudget(Limits(call_instructions=10 * samples * run))
    meter = Meter(draw, Rect(0, 0, 16, 8), budget)
    once, more = meter.beyond
    assert once == run * samples
    assert 0 < more < run
    assert 0 < meter.cost < 2 * samples * run // LANES + 2
    assert meter.spent(Work(), 3) == Work()
    assert budget.call == NOTHING_SPENT
    meter.spent(Work(fragments=5), 3)
    assert budget.call == (0, 5, 5 * meter.cost + once + 3 * more)


def test_primitives_that_may_need_too_many_runs_are_refused() -> None:
    draw = acting(STORE, alike=True)
    budget = WorkBudget(Limits(call_instructions=run_cost(draw) // 2))
    meter = Meter(draw, Rect(0, 0, 16, 8), budget)
    assert meter.most() < 0
    with pytest.raises(Exceeded, match="call_instructions"):
        meter.fitting(np.array([10, 20]), 0, budget)

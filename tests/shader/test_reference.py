"""Engines: control flow by lane, files, quads, kill, sampling, and what it refuses."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dp2emu.errors import Unsupported
from dp2emu.shader import reference
from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Axis, Lod, Stage, TextureKind
from dp2emu.shader.reference import Result, run
from dp2emu.shader.types import F32, I32, Lanes, Mask, Type
from dp2emu.shader.values import Value
from tests.shader.engines import ENGINES

INT_MAX = 2**31 - 1


def floats(*values: float) -> F32:
    return np.array(values, np.float32)


def ints(*values: int) -> I32:
    return np.array(values, np.int32)


def mask(*bits: int) -> Mask:
    return np.array(bits, np.bool_)


@pytest.fixture(autouse=True, params=ENGINES)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of this holds for any engine."""
    monkeypatch.setattr(sys.modules[__name__], "run", ENGINES[request.param])


@pytest.fixture
def b() -> Builder:
    return Builder(Stage.PIXEL)


def outcome(
    b: Builder,
    lanes: int,
    active: Mask | None = None,
    uniforms: dict[str, Lanes] | None = None,
    **inputs: Lanes,
) -> Result:
    return run(b.program(), inputs, uniforms or {}, lanes, active)


def y_of(result: Result) -> list[float]:
    found: list[float] = result.outputs["y"].tolist()
    return found


def test_the_branches_of_an_if_are_for_different_lanes(b: Builder) -> None:
    y = b.variable(Type.F32, -1.0)
    with b.if_(b.input("x") < 3.0):
        y.value = 10.0
        with b.if_(b.input("x") < 2.0):
            y.value = y.value + 1.0
        with b.else_():
            y.value = y.value + 2.0
    with b.else_():
        y.value = 20.0
    b.output("y", y.value)
    assert y_of(outcome(b, 3, x=floats(1, 2, 3))) == [11, 12, 20]
    assert y_of(outcome(b, 3, mask(1, 0, 1), x=floats(1, 2, 3))) == [11, 0, 20]


def test_slots_and_outputs_start_as_zero(b: Builder) -> None:
    with b.if_(b.input("x") < 2.0):
        b.output("y", 5.0)
        b.output("n", 7, Type.I32)
        b.output("c", True, Type.BOOL)
    b.output("z", b.variable(Type.F32).value)
    outputs = outcome(b, 2, x=floats(1, 2)).outputs
    assert [outputs[name].tolist() for name in "yncz"] == [[5, 0], [7, 0], [True, False], [0, 0]]
    assert [outputs[name].dtype for name in "ync"] == [np.float32, np.int32, np.bool_]


def test_the_last_write_of_an_output_wins(b: Builder) -> None:
    b.output("y", 1.0)
    with b.if_(b.input("x") < 2.0):
        b.output("y", 2.0)
    assert y_of(outcome(b, 2, x=floats(1, 2))) == [2, 1]


def test_a_loop_runs_until_every_lane_has_left(b: Builder) -> None:
    x, count = b.input("x"), b.variable(Type.F32)
    with b.loop():
        b.break_(count.value >= x)
        count.value = count.value + 1.0
    b.output("y", count.value)
    assert y_of(outcome(b, 4, x=floats(3, 0, 7, 1))) == [3, 0, 7, 1]


def test_a_loop_ends_at_its_limit(b: Builder) -> None:
    count = b.variable(Type.F32)
    with b.loop(limit=5):
        count.value = count.value + 1.0
    b.output("y", count.value)
    assert y_of(outcome(b, 2)) == [5, 5]


def test_a_break_in_an_if_leaves_only_the_innermost_loop(b: Builder) -> None:
    x, inner, outer = b.input("x"), b.variable(Type.F32), b.variable(Type.F32)
    with b.loop(limit=3):
        outer.value = outer.value + 100.0
        with b.loop(limit=4):
            with b.if_(x < 2.0):
                b.break_()
                inner.value = -1000.0
            inner.value = inner.value + 1.0
    b.output("y", inner.value + outer.value)
    assert y_of(outcome(b, 2, x=floats(1, 2))) == [300, 312]


def test_a_break_in_either_branch_is_for_its_lanes(b: Builder) -> None:
    x, y = b.input("x"), b.variable(Type.F32)
    with b.loop(limit=4):
        with b.if_(x < 2.0):
            y.value = y.value + 100.0
            b.break_(y.value > x * 200.0)
        with b.else_():
            y.value = y.value + 10.0
            b.break_(y.value > x * 10.0)
        y.value = y.value + 1.0
    b.output("y", y.value)
    assert y_of(outcome(b, 4, x=floats(0, 1, 2, 9))) == [100, 201, 21, 44]
    assert y_of(outcome(b, 2, x=floats(1.5, 2))) == [302, 21]


def test_lanes_that_left_a_loop_take_part_after_it(b: Builder) -> None:
    x, y = b.input("x"), b.variable(Type.F32)
    with b.if_(x < 9.0):
        with b.loop(limit=2):
            b.break_(x < 2.0)
            y.value = y.value + 1.0
        y.value = y.value + 10.0
    b.output("y", y.value)
    assert y_of(outcome(b, 3, x=floats(1, 2, 9))) == [10, 12, 0]


def test_uniforms_are_read_in_c_order_and_what_they_lack_is_zero(b: Builder) -> None:
    c, n = b.uniform("c", Type.F32, 12), b.uniform("i", Type.I32, 4)
    index = b.ftoi(b.input("x"))
    b.output("y", b.load(c, 1, index, 4) + b.itof(b.load(n, 1)))
    b.output("z", b.load(c, 9))
    uniforms = {"c": np.arange(8, dtype=np.float32).reshape(2, 4), "i": ints(100, 200)}
    result = outcome(b, 4, None, uniforms, x=floats(0, 1, 2, -1))
    assert y_of(result) == [201, 205, 200, 200]
    assert result.outputs["z"].tolist() == [0] * 4


def test_a_uniform_longer_than_its_file_ends_where_the_file_does(b: Builder) -> None:
    b.output("y", b.load(b.uniform("c", Type.F32, 2), 2))
    assert y_of(outcome(b, 1, None, {"c": floats(1, 2, 3)})) == [0]


@pytest.mark.parametrize("offset", [0, INT_MAX, -INT_MAX - 1])
def test_addresses_do_not_wrap_around(b: Builder, offset: int) -> None:
    c = b.uniform("c", Type.F32, 4)
    r = b.local("r", Type.F32, 4)
    index = b.input("n", Type.I32)
    b.store(r, 1.0, offset, index, 4)
    b.output("y", b.load(c, offset, index, 4))
    for place in range(4):
        b.output(f"r{place}", b.load(r, place))
    indices = ints(0x40000000, -0x40000000, INT_MAX, -INT_MAX - 1)
    outputs = outcome(b, 4, None, {"c": floats(5, 5, 5, 5)}, n=indices).outputs
    assert [values.tolist() for values in outputs.values()] == [[0] * 4] * 5


def test_each_lane_has_its_own_local_file(b: Builder) -> None:
    r, x = b.local("r", Type.F32, 3), b.input("x")
    index = b.ftoi(x)
    b.store(r, x * 10.0 + 5.0, 0, index)
    with b.if_(x < 2.0):
        b.store(r, 7.0, 2)
    before = b.load(r, 2)
    b.store(r, 99.0, 2)
    b.output("y", before)
    b.output("z", b.load(r, 0, index))
    result = outcome(b, 4, mask(1, 1, 1, 0), x=floats(0, 1, 2, 1))
    assert y_of(result) == [7, 7, 25, 0]
    assert result.outputs["z"].tolist() == [5, 15, 99, 0]


def test_stores_out_of_range_go_nowhere(b: Builder) -> None:
    r = b.local("r", Type.I32, 2)
    b.store(r, 5, 0, b.ftoi(b.input("x")))
    b.output("n", b.load(r, 0) + b.load(r, 1) + b.load(r, 2) + b.load(r, -1))
    assert outcome(b, 4, x=floats(-1, 0, 1, 2)).outputs["n"].tolist() == [0, 5, 5, 0]


def test_a_file_of_one_scalar_has_nothing_beside_it(b: Builder) -> None:
    c, index = b.uniform("c", Type.F32, 1), b.input("n", Type.I32)
    b.output("y", b.load(c, 0, index))
    assert y_of(outcome(b, 3, None, {"c": floats(5)}, n=ints(0, 1, -1))) == [5, 0, 0]
    assert y_of(outcome(b, 3, None, {"c": floats()}, n=ints(0, 1, -1))) == [0, 0, 0]


def test_derivatives_are_differences_in_the_own_row_and_column(b: Builder) -> None:
    x = b.input("x")
    b.output("dx", b.ddx(x))
    b.output("dy", b.ddy(x))
    b.output("flat", b.ddx(2.0))
    outputs = outcome(b, 8, x=floats(1, 2, 4, 8, 0, 0, 0, 5)).outputs
    assert outputs["dx"].tolist() == [1, 1, 4, 4, 0, 0, 5, 5]
    assert outputs["dy"].tolist() == [3, 6, 3, 6, 0, 5, 0, 5]
    assert outputs["flat"].tolist() == [0] * 8


def test_coarse_derivatives_are_those_of_the_left_top_lane(b: Builder) -> None:
    x = b.input("x")
    b.output("dx", b.derivative(Axis.X_COARSE, x))
    b.output("dy", b.derivative(Axis.Y_COARSE, x))
    b.output("flat", b.derivative(Axis.Y_COARSE, 2.0))
    outputs = outcome(b, 8, x=floats(1, 2, 4, 8, 0, 0, 0, 5)).outputs
    assert outputs["dx"].tolist() == [1, 1, 1, 1, 0, 0, 0, 0]
    assert outputs["dy"].tolist() == [3, 3, 3, 3, 0, 0, 0, 0]
    assert outputs["flat"].tolist() == [0] * 8


def test_the_derivative_of_what_all_lanes_share_is_that_of_its_lanes(b: Builder) -> None:
    b.output("y", b.ddy(b.input("x")))
    shared, spread = (outcome(b, 4, x=x) for x in (floats(np.inf), floats(*[np.inf] * 4)))
    assert np.isnan(shared.outputs["y"]).tolist() == np.isnan(spread.outputs["y"]).tolist()


def test_lanes_that_are_off_lend_derivatives_what_they_last_held(b: Builder) -> None:
    x = b.input("x")
    doubled = b.variable(Type.F32, x)
    with b.if_(x < 5.0):
        doubled.value = doubled.value * 2.0
        b.output("y", b.ddx(doubled.value))
    assert y_of(outcome(b, 4, x=floats(1, 5, 2, 3))) == [3, 0, 2, 2]


def test_a_temporary_of_a_lane_that_is_off_is_still_zero_for_derivatives(b: Builder) -> None:
    x = b.input("x")
    with b.if_(x < 5.0):
        b.output("y", b.ddx(x * 2.0))
    assert y_of(outcome(b, 4, x=floats(1, 5, 2, 3))) == [-2, 0, 2, 2]


def test_killed_lanes_are_dead_but_keep_computing(b: Builder) -> None:
    x = b.input("x")
    b.kill(x < 2.0)
    doubled = x * 2.0
    b.output("y", b.ddx(doubled))
    result = outcome(b, 4, x=floats(1, 2, 3, 4))
    assert result.alive.tolist() == [False, True, True, True]
    assert y_of(result) == [2, 2, 2, 2]


def test_a_kill_is_for_active_lanes(b: Builder) -> None:
    with b.if_(b.input("x") < 3.0):
        b.kill(True)
    result = outcome(b, 4, mask(1, 0, 1, 1), x=floats(1, 2, 3, 1))
    assert result.alive.tolist() == [False, False, True, False]


def test_a_mask_without_lanes_runs_nothing(b: Builder) -> None:
    with b.loop(limit=INT_MAX):
        b.output("y", 1.0)
    result = outcome(b, 4, mask(0, 0, 0, 0))
    assert y_of(result) == [0] * 4
    assert not result.alive.any()
    assert y_of(outcome(b, 0)) == []


@pytest.mark.parametrize("word", [0x7F800001, 0xFFC00000, 0x7FFFFFFF])
def test_a_nan_is_seen_as_one_pattern(b: Builder, word: int) -> None:
    x = b.input("x")
    b.output("y", x)
    b.output("bits", b.asint(x))
    nan = np.array([word, 0x3F800000], np.uint32).view(np.float32)
    outputs = outcome(b, 2, x=nan).outputs
    assert outputs["y"].view(np.uint32).tolist() == [0x7FC00000, 0x3F800000]
    assert outputs["bits"].tolist() == [0x7FC00000, 0x3F800000]
    assert nan.view(np.uint32).tolist()[0] == word


def test_an_input_of_one_lane_is_for_all(b: Builder) -> None:
    b.output("y", b.input("x") + b.input("z"))
    assert y_of(outcome(b, 3, x=floats(1), z=floats(1, 2, 3))) == [2, 3, 4]


def test_the_sampler_is_given_all_lanes_and_who_is_active(b: Builder) -> None:
    seen = []

    def sampler(
        number: int,
        kind: TextureKind,
        coordinates: tuple[F32, ...],
        lod: Lod,
        arguments: tuple[F32, ...],
        active: Mask | None,
    ) -> tuple[F32, F32, F32, F32]:
        seen.append((number, kind, [c.tolist() for c in coordinates], lod,
                     [a.tolist() for a in arguments], active))  # fmt: skip
        return coordinates[0] * np.float32(2), *(floats(7),) * 3

    x = b.input("x")
    with b.if_(x < 3.0):
        r, _, _, a = b.sample(TextureKind.TEX2D, 5, (x, 0.5), Lod.BIAS, (x + 1.0,))
        b.output("y", r + a)
    result = reference.run(b.program(), {"x": floats(1, 2, 3, 0)}, {}, 4, None, sampler)
    assert y_of(result) == [9, 11, 0, 7]
    ((number, kind, coordinates, lod, arguments, active),) = seen
    assert (number, kind, lod) == (5, TextureKind.TEX2D, Lod.BIAS)
    assert coordinates == [[1, 2, 3, 0], [0.5] * 4]
    assert arguments == [[2, 3, 0, 1]]
    assert active is not None
    assert active.tolist() == [True, True, False, True]


def test_a_fetch_asks_for_all_lanes_and_tells_who_is_active(b: Builder) -> None:
    seen = []

    def fetcher(
        unit: int, operands: tuple[I32, ...], active: Mask | None
    ) -> tuple[I32, I32, I32, I32]:
        seen.append((unit, [each.tolist() for each in operands], active))
        return operands[0] * np.int32(2), *(ints(each) for each in (7, 8, 9))

    n = b.input("n", Type.I32)
    with b.if_(n < 3):
        x, _, _, w = b.fetch(5, (n, -1))
        b.output("y", x + w)
    result = reference.run(b.program(), {"n": ints(1, 2, 3, 0)}, {}, 4, None, fetcher=fetcher)
    assert y_of(result) == [11, 13, 0, 9]
    ((unit, operands, active),) = seen
    assert (unit, operands) == (5, [[1, 2, 3, 0], [-1] * 4])
    assert active is not None
    assert active.tolist() == [True, True, False, True]


def test_fetching_without_a_fetcher_is_unsupported(b: Builder) -> None:
    b.fetch(0, ())
    with pytest.raises(Unsupported, match="fetches"):
        outcome(b, 4)


def test_sampling_without_a_sampler_is_unsupported(b: Builder) -> None:
    b.sample(TextureKind.CUBE, 0, (0.0, 0.0, 1.0))
    with pytest.raises(Unsupported, match="texture sampling"):
        outcome(b, 4)


def _takes_x(b: Builder, x: Value) -> None:
    b.output("y", x)


def _takes_ddx(b: Builder, x: Value) -> None:
    b.output("y", b.ddx(x))


@pytest.mark.parametrize(
    ("body", "lanes", "inputs", "error"),
    [
        (_takes_x, 2, {}, KeyError),
        (_takes_x, 2, {"x": np.zeros(2)}, ValueError),
        (_takes_x, 2, {"x": floats(1, 2, 3)}, ValueError),
        (_takes_x, 2, {"x": floats(1, 2).reshape(2, 1)}, ValueError),
        (_takes_ddx, 6, {"x": floats(*range(6))}, ValueError),
    ],
)
def test_inputs_that_do_not_fit_are_refused(
    b: Builder,
    body: Callable[[Builder, Value], None],
    lanes: int,
    inputs: dict[str, Lanes],
    error: type[Exception],
) -> None:
    body(b, b.input("x"))
    with pytest.raises(error):
        outcome(b, lanes, **inputs)


def test_uniforms_and_masks_that_do_not_fit_are_refused(b: Builder) -> None:
    b.output("y", b.load(b.uniform("c", Type.F32, 2), 0))
    for uniforms, active in (({"c": ints(1)}, None), ({"c": floats(1)}, mask(1, 1))):
        with pytest.raises(ValueError):
            outcome(b, 1, active, uniforms)
    with pytest.raises(KeyError):
        outcome(b, 1)


def test_a_watch_is_told_of_computed_loads_of_active_lanes() -> None:
    b = Builder(Stage.VERTEX)
    file, index = b.uniform("table", Type.I32, 8), b.input("i", Type.I32)
    b.output("fixed", b.load(file, 3))
    total = b.variable(Type.I32)
    with b.if_(index > 2):
        total.value = b.load(file, 1, index, 2)
    b.output("found", total.value)
    told: list[tuple[str, list[int], list[bool]]] = []

    def watch(file: str, index: Any, active: Mask | None) -> None:
        told.append((file, index.tolist(), [] if active is None else active.tolist()))

    numbers = np.array([1, 5, 3], np.int32)
    run(b.program(), {"i": numbers}, {"table": np.arange(8, dtype=np.int32)}, 3, watch=watch)
    assert told == [("table", [3, 11, 7], [False, True, True])]

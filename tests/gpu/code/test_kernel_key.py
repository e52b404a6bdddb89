"""What no kernel is compiled for."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from dp2emu.gpu.code.kernel_key import REASONS, Key, reason
from dp2emu.gpu.code.kernel_layout import setup_key
from dp2emu.gpu.compile.kernel_plan import Writes, samplers_of, triangle_plan
from dp2emu.gpu.output_merger.draw_targets import Targets
from dp2emu.gpu.shader_resources.textures import StageSampler, Texturing
from dp2emu.shader import reference
from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Axis, Program, Stage
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value
from tests.gpu.drawing import color_surface, corner, draw
from tests.gpu.kernel_states import PROGRAMS, random_draw
from tests.shader.records import told


def _reason(program: Program, samples: int) -> str | None:
    packet = draw([corner(0, 0)] * 3, color=color_surface(), pixel=program)
    return reason(replace(packet.pipeline, samples=samples))


def _program(value: Callable[[Builder], Value]) -> Program:
    b = Builder(Stage.PIXEL)
    b.output("target0.x", value(b))
    return b.program()


_CENTRAL = "differences of what is taken at centroids, or of coverage"


def _nested(b: Builder) -> Value:
    kept = b.variable(Type.F32, 0.0)
    with b.if_(b.input("color0.x") > 0.5):
        kept.value = b.input("vpos.x")
    return b.derivative(Axis.X, kept.value)


@pytest.mark.parametrize(("value", "samples", "wanted"), [
    (lambda b: b.derivative(Axis.X, b.input("color0.x")), 4, _CENTRAL),
    (lambda b: b.derivative(Axis.X, b.input("color0.x") * 2.0 + 1.0), 4, _CENTRAL),
    (lambda b: b.derivative(Axis.X, b.input("centroid.texcoord0.x")), 2, _CENTRAL),
    (lambda b: b.derivative(Axis.Y, b.itof(b.input("coverage.x", Type.I32))), 1, _CENTRAL),
    (_nested, 4, _CENTRAL),
    (lambda b: b.derivative(Axis.X, b.input("color0.x")), 1, None),
    (lambda b: b.derivative(Axis.X, b.input("texcoord0.x")) * b.input("color0.x"), 4, None),
    (lambda b: b.itof(b.input("lane.x", Type.I32)), 1, "inputs evaluated where the program says"),
])  # fmt: skip
def test_why_there_is_no_kernel(
    value: Callable[[Builder], Value], samples: int, wanted: str | None
) -> None:
    assert _reason(_program(value), samples) == wanted
    assert wanted is None or wanted in REASONS


def _keys(seed: int) -> list[Key]:
    """Keys of what a random draw is drawn by."""
    drawn, found = random_draw(seed), []
    targets, run = Targets.of(drawn, reference.run), reference.run
    sampler = StageSampler(Texturing.of(drawn, None, run), Stage.PIXEL)
    samplers = samplers_of(drawn.pipeline.pixel, sampler)
    for level in (False, True):
        writes = Writes.of(targets.colors, targets.depth)
        found.append(
            triangle_plan(drawn.pipeline, writes, samplers, ("color0.x",), level, level).key
        )
    return found


def test_keys_say_all_that_they_are() -> None:
    """Otherwise a kernel on disk would be another one's."""
    keys = [key for seed in range(60) for key in _keys(seed)]
    records = [*keys, *map(setup_key, keys)]
    said = {repr(record): told(record) for record in records}
    assert len(set(said)) == len(set(said.values())) == len(set(records)) > 100


def test_other_states_have_kernels() -> None:
    assert {_reason(program, samples) for program in PROGRAMS for samples in (1, 4)} == {None}

"""Output ports, written once at the end of a program (SM4-5 tokens, "System values" and
"Stages").

Declared components that are never written are 0.
"""

from __future__ import annotations

from collections.abc import Iterator

from dp2emu.shader.sampling import COMPONENTS
from dp2emu.shader.sm4.enums import GlobalFlags, SystemValue
from dp2emu.shader.sm4.lower.lowered import Lowered4
from dp2emu.shader.sm4.lower.lowering import Lowering, Place
from dp2emu.shader.sm4.registers import File
from dp2emu.shader.values import Value

DEPTHS = (File.DEPTH, File.DEPTH_GREATER_EQUAL, File.DEPTH_LESS_EQUAL)
"""Depth output registers; the promise of the last two about its direction is unused."""

_DISTANCES = {SystemValue.CLIP_DISTANCE: "clip", SystemValue.CULL_DISTANCE: "cull"}


def vertex_outputs(low: Lowering) -> None:
    """Write every declared component by register, as bits, for the next stage; as floats the
    position and the clip and cull distances, numbered in the order of their components.
    """
    counts = dict.fromkeys(_DISTANCES, 0)
    for number, component, value in _declared(low):
        name = low.declared.output_of[number, component].name
        low.b.output(f"o{number}.{COMPONENTS[component]}", value)
        if name is SystemValue.POSITION:
            low.b.output(f"position0.{COMPONENTS[component]}", low.b.asfloat(value))
        elif name in counts:
            low.b.output(f"{_DISTANCES[name]}{counts[name]}.x", low.b.asfloat(value))
            counts[name] += 1


def geometry_outputs(low: Lowering) -> None:
    """Write the emitted vertices."""
    assert low.emitter is not None
    low.emitter.write_outputs()


def register_outputs(low: Lowering) -> None:
    """Write every declared component by register, as bits."""
    for number, component, value in _declared(low):
        low.b.output(f"o{number}.{COMPONENTS[component]}", value)


def pixel_outputs(low: Lowering) -> None:
    """Write the targets as bits (the target's format gives the type), depth and coverage mask."""
    for number, component, value in _declared(low):
        low.b.output(f"target{number}.{COMPONENTS[component]}", value)
    for file in DEPTHS:
        if file in low.declared.scalars:
            low.b.output("depth.x", low.b.asfloat(_scalar(low, file)))
    if File.COVERAGE_MASK in low.declared.scalars:
        low.b.output("coverage.x", _scalar(low, File.COVERAGE_MASK))


def _declared(low: Lowering) -> Iterator[tuple[int, int, Value]]:
    """Declared components of o# in order, with their values."""
    for number, component in sorted(low.declared.output_of):
        yield number, component, _register(low, number, component)


def _register(low: Lowering, number: int, component: int) -> Value:
    if File.OUTPUT in low.indexed:
        return low.b.load(low.indexed[File.OUTPUT], 4 * number + component)
    return _value(low, Place(File.OUTPUT, number, component))


def _scalar(low: Lowering, file: File) -> Value:
    return _value(low, Place(file, 0, 0))


def _value(low: Lowering, place: Place) -> Value:
    return low.variable(place).value if place in low.variables else low.word(0)


def lowered(low: Lowering) -> Lowered4:
    """The finished program with its declarations."""
    declared = low.declared
    return Lowered4(
        program=low.b.program(),
        inputs=tuple(declared.inputs),
        outputs=tuple(declared.outputs),
        constant_buffers=tuple(sorted(declared.constant_buffers)),
        immediates=declared.immediates,
        resources=tuple(each for _, each in sorted(declared.resources.items())),
        samplers=tuple(sorted(declared.samplers, key=lambda each: each.number)),
        units=tuple(low.units),
        writes_depth=not declared.scalars.isdisjoint(DEPTHS),
        writes_coverage=File.COVERAGE_MASK in declared.scalars,
        kills=low.kills,
        forces_early=GlobalFlags.FORCE_EARLY_DEPTH_STENCIL in declared.flags,
        per_sample=declared.per_sample,
        emission=None if low.emitter is None else low.emitter.emission,
        memory_operations=tuple(low.operations),
        unordered=tuple(each for _, each in sorted(declared.unordered.items())),
        shared=tuple(each for _, each in sorted(declared.shared.items())),
        threads=declared.threads,
        points_in=declared.points_in,
        registers=low.registers,
    )

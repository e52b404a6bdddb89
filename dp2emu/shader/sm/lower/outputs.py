"""What a program gives: ports of its outputs, written once at its end (SM1-3 tokens, "Registers"
and "Stage linkage").

Components of a varying that the shader cannot write are 0, or 1 in color0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dp2emu.d3d.enums import DeclUsage
from dp2emu.shader.builder import Builder
from dp2emu.shader.sm.lower.lowering import COMPONENTS, DEPTH, SCALARS, Lowering
from dp2emu.shader.sm.registers import File, Register
from dp2emu.shader.sm.versions import V2_0, V3_0
from dp2emu.shader.values import Value

Colour = Sequence[Value]
Epilogue = Callable[[Builder, Colour], Colour]
"""Given red, green and blue of the pixel, what to draw in their place."""

POSITION = "position0"
"""Always an output of a vertex program."""
POINT_SIZE = DeclUsage.PSIZE, 0
R0 = Register(File.TEMP)
TARGET = "target0"
"""Always an output of a pixel program."""

_NAMES = {
    Register(File.RASTOUT, 0): POSITION,
    Register(File.RASTOUT, 1): "fog0",
    Register(File.RASTOUT, 2): "psize0",
    **{Register(File.ATTROUT, n): f"color{n}" for n in range(2)},
    **{Register(File.TEXCRDOUT, n): f"texcoord{n}" for n in range(8)},
}
_CLAMPED = frozenset({"fog0", "color0", "color1"})
_DEFAULTS = {"color0": 1.0}


def vertex_outputs(low: Lowering) -> tuple[str, ...]:
    """Emit the outputs of a vertex program; gives their names."""
    return _declared_outputs(low) if low.version.level >= V3_0 else _fixed_outputs(low)


def _fixed_outputs(low: Lowering) -> tuple[str, ...]:
    """Registers of fixed meaning; fog and colours are clamped to 0..1."""
    written = {register for register, _ in low.variables}
    names = []
    for register, name in _NAMES.items():
        if register in written or name == POSITION:
            names.append(name)
            for component in range(1 if register in SCALARS else 4):
                value = _written(low, register, component, name)
                value = low.b.saturate(value) if name in _CLAMPED else value
                low.b.output(f"{name}.{COMPONENTS[component]}", value)
    return tuple(names)


def _written(low: Lowering, register: Register, component: int, name: str) -> Value:
    """The value at the end, or what a component that nothing writes has instead."""
    if (register, component) in low.variables:
        return low.variable(register, component).value
    return low.number(_DEFAULTS.get(name, 0.0))


def _declared_outputs(low: Lowering) -> tuple[str, ...]:
    """Registers by the usages of their components, which keep their places.

    Nothing is clamped.  The point size is the first component declared as such.
    """
    ports = _output_components(low)
    for name, components in ports.items():
        for place in range(1 if name == "psize0" else 4):
            if place in components:
                value = _output_register(low, *components[place])
            else:
                value = low.number(_DEFAULTS.get(name, 0.0))
            low.b.output(f"{name}.{COMPONENTS[place]}", value)
    return tuple(ports)


def _output_components(low: Lowering) -> dict[str, dict[int, tuple[Register, int]]]:
    """For each varying the register components it is made of."""
    ports: dict[str, dict[int, tuple[Register, int]]] = {POSITION: {}}
    for (register, component), (usage, index) in low.usages.items():
        if register.file is File.OUTPUT:
            components = ports.setdefault(f"{usage.name.lower()}{index}", {})
            place = len(components) if (usage, index) == POINT_SIZE else component
            components[place] = register, component
    return ports


def _output_register(low: Lowering, register: Register, component: int) -> Value:
    if File.OUTPUT in low.indexed:
        return low.b.load(low.indexed[File.OUTPUT], 4 * register.number + component)
    return low.variable(register, component).value


def pixel_outputs(low: Lowering, epilogue: Epilogue | None) -> tuple[str, ...]:
    """Emit the colours and the depth of a pixel program; gives their names.

    ``epilogue`` replaces the colour of the first target, not its alpha, before 3.0.
    """
    names = []
    written = {register for register, _ in low.variables}
    for target, register in enumerate(_colours(low)):
        if target and register not in written:
            continue
        names.append(f"target{target}")
        rgba = [low.variable(register, c).value for c in range(4)]
        if epilogue is not None and not target and low.version.level < V3_0:
            rgba[:3] = epilogue(low.b, rgba[:3])
        for letter, value in zip(COMPONENTS, rgba, strict=True):
            low.b.output(f"target{target}.{letter}", value)
    if (DEPTH, 0) in low.variables:
        low.b.output("depth.x", low.variable(DEPTH, 0).value)
        names.append("depth")
    return tuple(names)


def _colours(low: Lowering) -> list[Register]:
    """Registers of the targets: r0 in 1.x, where there is one."""
    if low.version.level < V2_0:
        return [R0]
    return [Register(File.COLOROUT, n) for n in range(low.count(File.COLOROUT))]

"""Lowering of shaders of Direct3D 8 and 9 into programs of the intermediate representation (SM1-3
tokens, "Opcodes", "Arithmetic" and "Flow control").

Temporaries are not clamped: 1.x guarantees a range of -1..1 or -8..8 and permits more.  Clamped
are constants of ps_1_x to -1..1, its colour inputs to 0..1, and fog and colours written by vertex
shaders before 3.0.  0 times anything is 0.  Components of a varying that the shader does not write
are 0, or 1 in color0.

Calls are expanded inline: a subroutine ends in its only ret, and the decoder bounds the depth and
size of the expansion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from dp2emu.cancellation import polled
from dp2emu.d3d.enums import DeclUsage
from dp2emu.shader.builder import LOOP_LIMIT, Builder
from dp2emu.shader.compile_work import TooLong
from dp2emu.shader.ir import TextureKind
from dp2emu.shader.sm.lower import arithmetic, texture
from dp2emu.shader.sm.lower.arithmetic import compared
from dp2emu.shader.sm.lower.lowering import (
    COMPONENTS,
    DEPTH,
    SCALARS,
    DefinedConstant,
    InputRegister,
    Lowered,
    Lowering,
    Result,
    SamplerBindings,
    overlay_constants,
)
from dp2emu.shader.sm.lower.reading import condition, operands, store_inputs
from dp2emu.shader.sm.lower.texture import Effect
from dp2emu.shader.sm.opcodes import Op
from dp2emu.shader.sm.program import Instruction, Shader
from dp2emu.shader.sm.registers import File, Register
from dp2emu.shader.sm.versions import V1_4, V2_0, V3_0
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value, Variable

__all__ = [
    "DefinedConstant",
    "Epilogue",
    "InputRegister",
    "Lowered",
    "lower_pixel",
    "lower_vertex",
    "overlay_constants",
]

MAX_SLOTS = 1 << 17
"""Maximum number of slots and of statements: four for each of 32,768 instructions, the most of any
hardware."""


def lower_body(low: Lowering, body: Iterable[Instruction]) -> None:
    """Lower the instructions of a routine.

    Raises ShaderError if blocks nest too deep or the program has too many slots.
    """
    for group in _pairs(body):
        if low.b.size > MAX_SLOTS:
            raise TooLong(MAX_SLOTS, group[0].offset)
        low.b.at(low, *group)
        effect = EFFECTS.get(group[0].op)
        if effect is not None:
            effect(low, group[0])
        else:
            results = [(each, _evaluate(low, each)) for each in group]
            low.commit([w for each, result in results for w in low.writes(each, result)])


def _pairs(body: Iterable[Instruction]) -> Iterator[list[Instruction]]:
    """Split instructions into groups that execute at once: single ones and co-issued pairs."""
    group: list[Instruction] = []
    for instruction in polled(body):
        if group and not instruction.coissue:
            yield group
            group = []
        group.append(instruction)
    if group:
        yield group


def _evaluate(low: Lowering, instruction: Instruction) -> Result:
    before_1_4 = low.version.is_ps_1_x and low.version.level < V1_4
    return (_EVALUATE_1_0 if before_1_4 else _EVALUATE)[instruction.op](low, instruction)


def _nothing(low: Lowering, instruction: Instruction) -> None:
    """Lower nop and phase to nothing; temporaries keep their alpha across a phase."""


def _tested(low: Lowering, instruction: Instruction) -> Value:
    """The condition of an if or break: a comparison of scalars, a boolean or the predicate."""
    if instruction.comparison is None:
        return condition(low, instruction.sources[0])
    x, y = operands(low, instruction)
    return compared(instruction, x[0], y[0])


def _if(low: Lowering, instruction: Instruction) -> None:
    low.open(low.b.if_(_tested(low, instruction)), instruction)


def _else(low: Lowering, instruction: Instruction) -> None:
    low.close()
    low.open(low.b.else_(), instruction)


def _end(low: Lowering, instruction: Instruction) -> None:
    low.close()


def _rep(low: Lowering, instruction: Instruction) -> None:
    _repeat(low, instruction, instruction.sources[0].register)


def _loop(low: Lowering, instruction: Instruction) -> None:
    """Begin a loop of i#.x iterations in which aL counts from i#.y in steps of i#.z.

    aL regains the value of the enclosing loop afterwards.
    """
    count = instruction.sources[1].register
    counter = low.b.variable(Type.I32)
    counter.value = low.integer(count, 1)
    _repeat(low, instruction, count, counter)


def _repeat(
    low: Lowering, instruction: Instruction, count: Register, counter: Variable | None = None
) -> None:
    """Begin a loop of i#.x iterations: none if i#.x <= 0, and ``LOOP_LIMIT`` at most.

    ``counter`` is the loop's aL, if any.  All loops of a shader share a work budget.
    """
    rounds, done = low.integer(count, 0), low.b.variable(Type.I32, 0)

    def advance() -> None:
        done.value = done.value + 1
        if counter is not None:
            counter.value = counter.value + low.integer(count, 2)

    low.open(low.b.loop(LOOP_LIMIT), instruction, advance, counter)
    low.b.break_(done.value >= rounds)
    low.budget.spend()


def _break(low: Lowering, instruction: Instruction) -> None:
    low.b.break_()


def _break_if(low: Lowering, instruction: Instruction) -> None:
    low.b.break_(_tested(low, instruction))


def _call(low: Lowering, instruction: Instruction) -> None:
    lower_body(low, low.parts.subroutines[instruction.label])


def _callnz(low: Lowering, instruction: Instruction) -> None:
    low.open(low.b.if_(condition(low, instruction.sources[1])), instruction)
    _call(low, instruction)
    low.close()


_EVALUATE_1_0 = {**arithmetic.EVALUATE, **texture.EVALUATE_1_0}
_EVALUATE = {**arithmetic.EVALUATE, **texture.EVALUATE}

EFFECTS: dict[Op, Effect] = {
    **texture.EFFECTS,
    Op.NOP: _nothing,
    Op.PHASE: _nothing,
    Op.IF: _if,
    Op.IFC: _if,
    Op.ELSE: _else,
    Op.ENDIF: _end,
    Op.LOOP: _loop,
    Op.ENDLOOP: _end,
    Op.REP: _rep,
    Op.ENDREP: _end,
    Op.BREAK: _break,
    Op.BREAKC: _break_if,
    Op.BREAKP: _break_if,
    Op.CALL: _call,
    Op.CALLNZ: _callnz,
}


# Outputs, written once at the end (SM1-3 tokens, "Registers" and "Stage linkage")

Colour = Sequence[Value]
Epilogue = Callable[[Builder, Colour], Colour]
"""Type of a function (builder, red-green-blue values of a pixel) that returns the colour to draw
instead, such as after fog."""
POSITION = "position0"
"""Name of the position, which is an output of every vertex program."""
POINT_SIZE = DeclUsage.PSIZE, 0
R0 = Register(File.TEMP)
TARGET = "target0"
"""Name, without component, of the first render target's output, which every pixel program has."""

_FOG, _SPECULAR = "fog0", "color1"
_ALPHA = 3
_NAMES = {
    Register(File.RASTOUT, 0): POSITION,
    Register(File.RASTOUT, 1): _FOG,
    Register(File.RASTOUT, 2): "psize0",
    **{Register(File.ATTROUT, n): f"color{n}" for n in range(2)},
    **{Register(File.TEXCRDOUT, n): f"texcoord{n}" for n in range(8)},
}
_CLAMPED = frozenset({_FOG, "color0", _SPECULAR})
_DEFAULTS = {"color0": 1.0}


def vertex_outputs(low: Lowering) -> tuple[str, ...]:
    """Write the output ports of a vertex program; returns the names without components.

    The fog factor of a shader that does not write it is the alpha of the specular colour (SM1-3
    tokens, "Stage linkage").
    """
    return _declared_outputs(low) if low.version.level >= V3_0 else _fixed_outputs(low)


def _fixed_outputs(low: Lowering) -> tuple[str, ...]:
    """Write the output ports of registers with a fixed meaning, such as oPos, before 3.0.

    Fog and colours are clamped to 0..1.  Returns the names of the outputs, without components.
    """
    written = {register for register, _ in low.variables}
    names = []
    for register, name in _NAMES.items():
        if register in written or name == POSITION:
            names.append(name)
            for component in range(1 if register in SCALARS else 4):
                value = _written(low, register, component, name)
                value = low.b.saturate(value) if name in _CLAMPED else value
                low.b.output(f"{name}.{COMPONENTS[component]}", value)
    alpha = Register(File.ATTROUT, 1), _ALPHA
    if _FOG not in names and alpha in low.variables:
        names.append(_FOG)
        low.b.output(f"{_FOG}.x", low.b.saturate(low.variable(*alpha).value))
    return tuple(names)


def _written(low: Lowering, register: Register, component: int, name: str) -> Value:
    """The final value of an output register's component, or the default of output ``name``."""
    if (register, component) in low.variables:
        return low.variable(register, component).value
    return low.number(_DEFAULTS.get(name, 0.0))


def _declared_outputs(low: Lowering) -> tuple[str, ...]:
    """Write the varyings of 3.0 by declared usage; components keep their positions.

    Nothing is clamped.  The point size is the first component declared with that usage.  Returns
    the names of the varyings.
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
    """Which (register, component) holds each component of a varying, by the varying's name."""
    ports: dict[str, dict[int, tuple[Register, int]]] = {POSITION: {}}
    for (register, component), (usage, index) in low.usages.items():
        if register.file is File.OUTPUT:
            components = ports.setdefault(f"{usage.name.lower()}{index}", {})
            place = len(components) if (usage, index) == POINT_SIZE else component
            components[place] = register, component
    if _ALPHA in ports.get(_SPECULAR, {}):
        ports.setdefault(_FOG, {0: ports[_SPECULAR][_ALPHA]})
    return ports


def _output_register(low: Lowering, register: Register, component: int) -> Value:
    if File.OUTPUT in low.indexed:
        return low.b.load(low.indexed[File.OUTPUT], 4 * register.number + component)
    return low.variable(register, component).value


def pixel_outputs(low: Lowering, epilogue: Epilogue | None) -> tuple[str, ...]:
    """Write the colour and depth outputs of a pixel program; returns the names without components.

    Before 3.0 ``epilogue`` replaces the colour of the first target, not its alpha.
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
    """Registers that hold the colours of the render targets, by target; in 1.x, r0 alone."""
    if low.version.level < V2_0:
        return [R0]
    return [Register(File.COLOROUT, n) for n in range(low.count(File.COLOROUT))]


def lower_vertex(shader: Shader) -> Lowered:
    """Lower a vertex shader: inputs ``v<register>.<c>`` (``InputRegister``), varyings by name.

    Raises ShaderError if blocks nest too deep once calls are expanded.
    """
    low = Lowering(shader, SamplerBindings())
    store_inputs(low)
    lower_body(low, low.parts.main)
    low.b.at(low)
    return _lowered(low, vertex_outputs(low))


def lower_pixel(
    shader: Shader,
    *,
    sampler_kinds: Mapping[int, TextureKind] | None = None,
    projections: Mapping[int, int] | None = None,
    epilogue: Epilogue | None = None,
) -> Lowered:
    """Lower a pixel shader: varyings by name, outputs ``target<n>.<c>`` and ``depth.x``.

    ``sampler_kinds`` are texture kinds by sampler: of samplers without a dcl (else
    two-dimensional), and SHADOW for those that a dcl calls 2D but that compare depths.
    ``projections`` maps stages with D3DTTFF_PROJECTED to the component, 1 to 3, that divides their
    coordinates; ps_1_0 to ps_1_3 apply it.  ``epilogue`` computes fog: before 3.0 it is applied to
    the first target's colour.

    Raises ShaderError if blocks nest too deep once calls are expanded.
    """
    low = Lowering(shader, SamplerBindings(sampler_kinds or {}, projections or {}))
    store_inputs(low)
    lower_body(low, low.parts.main)
    low.b.at(low)
    return _lowered(low, pixel_outputs(low, epilogue))


def _lowered(low: Lowering, outputs: tuple[str, ...]) -> Lowered:
    own = (DefinedConstant(r.file.value, r.number, words) for r, words in low.own.items())
    return Lowered(
        program=low.b.program(),
        inputs=_inputs(low),
        outputs=outputs,
        samplers=tuple(sorted(low.samplers.items())),
        constants=tuple(sorted(own)),
        kills=low.kills,
    )


def _inputs(low: Lowering) -> tuple[InputRegister, ...]:
    """The input registers that the program reads, with one entry for each declared usage."""
    found: set[InputRegister] = set()
    for register in low.read:
        declared = low.declared.get(register, {0: None})
        found.update(low.input_register(register, component) for component in declared)
    return tuple(sorted(found, key=lambda each: (each.register, each.usage or 0, each.index)))

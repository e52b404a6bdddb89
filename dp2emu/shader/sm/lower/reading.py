"""Reads of source operands: a function for each register file and each source modifier (SM1-3
tokens, "Source modifiers" and "Registers").
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from itertools import product

from dp2emu.shader.sm.lower.lowering import COMPONENTS, Lowering, varying_name
from dp2emu.shader.sm.modifiers import SourceModifier
from dp2emu.shader.sm.program import Instruction, Source
from dp2emu.shader.sm.registers import File, Register
from dp2emu.shader.sm.versions import V1_4, V3_0, Stage
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value

V_POS = Register(File.MISCTYPE, 0)


class Operand:
    """A source operand of an instruction; ``o[c]`` computes component c when it is first used.

    ``row`` is added to the register number: the rows of a matrix are consecutive registers.
    """

    def __init__(self, low: Lowering, source: Source, row: int = 0) -> None:
        self.low = low
        self.source = source
        self.register = Register(source.register.file, source.register.number + row)
        self._plain: dict[int, Value] = {}
        self._modified: dict[int, Value] = {}

    def __getitem__(self, component: int) -> Value:
        """A component of the source after swizzle and modifier."""
        if component not in self._modified:
            self._modified[component] = _MODIFIED[self.source.modifier](self, component)
        return self._modified[component]

    def plain(self, component: int) -> Value:
        """A component of the source after the swizzle, without its modifier."""
        if component not in self._plain:
            place = self.source.swizzle[component]
            index = self.low.index(self.source.relative)
            self._plain[component] = _read(self.low, self.register, place, index)
        return self._plain[component]

    @property
    def scalar(self) -> Value:
        """The component that a scalar operation reads: w, unless the swizzle selects one (SM1-3
        tokens, "Open points")."""
        return self[3]


def operands(low: Lowering, instruction: Instruction) -> tuple[Operand, ...]:
    """The source operands of an instruction, whose components can then be read as values."""
    return tuple(Operand(low, source) for source in instruction.sources)


def condition(low: Lowering, source: Source) -> Value:
    """Read a boolean constant or predicate component, inverted if ``source`` has a modifier."""
    if source.register.file is File.PREDICATE:
        value = low.variable(source.register, source.swizzle[0]).value
    else:
        value = low.boolean(source.register)
    return ~value if source.modifier else value


def store_inputs(low: Lowering) -> None:
    """Copy the declared inputs to the local file of v#, if some instruction indexes v#."""
    if File.INPUT not in low.indexed:
        return
    declared = dict.fromkeys(r for r, _ in low.usages if r.file is File.INPUT)
    for register, component in product(declared, range(4)):
        value = _declared_input(low, register, component)
        low.b.store(low.indexed[File.INPUT], value, 4 * register.number + component)


_Read = Callable[[Lowering, Register, int, Value | None], Value]


def _read(low: Lowering, register: Register, component: int, index: Value | None) -> Value:
    return _READ[register.file](low, register, component, index)


def _temporary(low: Lowering, register: Register, component: int, index: Value | None) -> Value:
    return low.variable(register, component).value


def _constant(low: Lowering, register: Register, component: int, index: Value | None) -> Value:
    """Read c#; in ps_1_x clamped to -1..1 (SM1-3 tokens, "Pixel shaders 1.x")."""
    if register in low.own and index is None:
        (number,) = struct.unpack("<f", struct.pack("<I", low.own[register][component]))
        value = low.number(number)
    else:
        file = low.b.uniform("c", Type.F32, 4 * low.count(File.CONST))
        value = low.b.load(file, 4 * register.number + component, index, 4)
    if low.version.is_ps_1_x:
        return low.b.max(low.b.min(value, 1.0), -1.0)
    return value


def _input(low: Lowering, register: Register, component: int, index: Value | None) -> Value:
    if index is not None:
        offset = 4 * register.number + component
        return low.b.load(low.indexed[File.INPUT], offset, index, 4)
    if low.version.stage is Stage.VERTEX or low.version.level >= V3_0:
        return _declared_input(low, register, component)
    color = low.b.input(f"color{register.number}.{COMPONENTS[component]}")
    return low.b.saturate(color) if low.version.is_ps_1_x else color


def _declared_input(low: Lowering, register: Register, component: int) -> Value:
    """Read v#: a vertex input by number, or a pixel input by usage, 0 without a usage."""
    low.read.add(register)
    if low.version.stage is Stage.VERTEX:
        return _vertex_input(low, register, component)
    if (register, component) not in low.usages:
        return low.number(0.0)
    name = varying_name(*low.usages[register, component], component)
    return low.varying(name, register, component)


def _vertex_input(low: Lowering, register: Register, component: int) -> Value:
    """Read a component of a vertex input register, with or without a dcl.

    If dcl gives the register several usages, components without a usage read 0, 0, 0, 1.
    """
    found = low.input_register(register, component)
    if found.several and found.usage is None:
        return low.number(1.0 if component == 3 else 0.0)
    return low.b.input(f"{found.name}.{COMPONENTS[component]}")


def _texture(low: Lowering, register: Register, component: int, index: Value | None) -> Value:
    """Read t#: texture coordinates; in ps_1_0 to ps_1_3 what the shader last wrote, if it did."""
    if low.version.level < V1_4 and (register, component) in low.variables:
        return low.variable(register, component).value
    return low.coordinate(register.number, component)


def _misc(low: Lowering, register: Register, component: int, index: Value | None) -> Value:
    """Read vPos, which has x and y, or vFace, replicated to every component."""
    if register != V_POS:
        return low.b.input("vface.x")
    return low.b.input(f"vpos.{COMPONENTS[component]}") if component < 2 else low.number(0.0)


_READ: dict[File, _Read] = {
    File.TEMP: _temporary,
    File.CONST: _constant,
    File.INPUT: _input,
    File.TEXTURE: _texture,
    File.MISCTYPE: _misc,
}


def _doubled(o: Operand, c: int) -> Value:
    return o.plain(c) * 2.0


def _signed(o: Operand, c: int) -> Value:
    return (o.plain(c) - 0.5) * 2.0


def _divided_by(divisor: int) -> Callable[[Operand, int], Value]:
    """Return a modifier that divides x and y by component ``divisor``; z and w are unchanged."""
    return lambda o, c: o.plain(c) / o.plain(divisor) if c < 2 else o.plain(c)


_MODIFIED: dict[SourceModifier, Callable[[Operand, int], Value]] = {
    SourceModifier.NONE: Operand.plain,
    SourceModifier.NEG: lambda o, c: -o.plain(c),
    SourceModifier.BIAS: lambda o, c: o.plain(c) - 0.5,
    SourceModifier.BIASNEG: lambda o, c: -(o.plain(c) - 0.5),
    SourceModifier.SIGN: _signed,
    SourceModifier.SIGNNEG: lambda o, c: -_signed(o, c),
    SourceModifier.COMP: lambda o, c: 1.0 - o.plain(c),
    SourceModifier.X2: _doubled,
    SourceModifier.X2NEG: lambda o, c: -_doubled(o, c),
    SourceModifier.DZ: _divided_by(2),
    SourceModifier.DW: _divided_by(3),
    SourceModifier.ABS: lambda o, c: o.low.b.abs(o.plain(c)),
    SourceModifier.ABSNEG: lambda o, c: -o.low.b.abs(o.plain(c)),
}

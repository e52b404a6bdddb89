"""State and result of a lowering: registers as variables, open blocks, constants, ports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from typing import Any, NamedTuple

import msgspec
import numpy as np
from msgspec.structs import replace

from dp2emu.d3d.enums import DeclUsage
from dp2emu.errors import ShaderError
from dp2emu.identity_cache import identity_cached
from dp2emu.shader import ir
from dp2emu.shader.budget import Budget, Loops, Step, loops_of
from dp2emu.shader.builder import LOOP_LIMIT
from dp2emu.shader.ir import Program, TextureKind
from dp2emu.shader.origins import new_builder
from dp2emu.shader.ports import CENTROID
from dp2emu.shader.sm.flow import CALLS, LOOP_ENDS, LOOPS, Routines, routines
from dp2emu.shader.sm.modifiers import ResultModifier, TextureType
from dp2emu.shader.sm.opcodes import Group
from dp2emu.shader.sm.program import Instruction, Relative, Shader
from dp2emu.shader.sm.registers import BY_FILE, File, Register
from dp2emu.shader.sm.versions import Stage
from dp2emu.shader.stages import STAGE_FILE, STAGE_SCALARS, STAGES
from dp2emu.shader.types import Lanes, Type
from dp2emu.shader.values import Value, Variable
from dp2emu.shader.verify import MAX_DEPTH


class InputRegister(msgspec.Struct, frozen=True):
    """A register v# that the program reads, with the usage that its dcl names.

    ``usage`` is None in shaders of DirectX 8, which have no dcl.  ``several`` is True if the
    register's components have different usages; each usage is then an input of its own.
    """

    register: int
    usage: DeclUsage | None = None
    index: int = 0
    several: bool = False

    @property
    def name(self) -> str:
        """Name of the input's ports without component: ``v3``, or ``v3_color1`` if ``several``."""
        if self.usage is None or not self.several:
            return f"v{self.register}"
        return f"v{self.register}_{self.usage.name.lower()}{self.index}"


class DefinedConstant(NamedTuple):
    """A register set by def, defi or defb: its file ``c``, ``i`` or ``b``, and raw DWORDs."""

    file: str
    register: int
    words: tuple[int, ...]


class Lowered(msgspec.Struct, frozen=True):
    """A lowered shader: its program, and what binding it requires.  Frozen and hashable.

    ``outputs`` are names such as ``texcoord0`` or ``target0``, whose components are output ports.
    ``samplers`` are pairs (number of s#, texture kind).  ``constants`` are those that the shader
    defines; they override uploaded registers, and are built into the program except where it
    indexes the register file at run time.  ``kills``: the program may discard pixels.
    """

    program: Program
    inputs: tuple[InputRegister, ...]
    outputs: tuple[str, ...]
    samplers: tuple[tuple[int, TextureKind], ...]
    constants: tuple[DefinedConstant, ...]
    kills: bool


def overlay_constants(file: str, uploaded: Lanes, constants: tuple[DefinedConstant, ...]) -> Lanes:
    """The registers of a file for a draw: uploaded ones, overridden by the shader's constants.

    The shape is (n, 4), or (n,) for file ``b``.  Without constants the same array is returned;
    constants beyond its end are dropped.
    """
    registers, values = _own(constants, file, len(uploaded), uploaded.dtype)
    if not registers:
        return uploaded
    result = uploaded.copy()
    result[registers] = values
    return result


@identity_cached()
def _own(
    constants: tuple[DefinedConstant, ...], file: str, count: int, dtype: np.dtype[Any]
) -> tuple[list[int], Lanes]:
    """Register numbers and values of a shader's constants in ``file``, numbers below ``count``."""
    own = [each for each in constants if each.file == file and each.register < count]
    words = np.array([each.words for each in own], np.uint32)
    found = words[:, 0] != 0 if file == "b" and own else words.view(dtype)
    return [each.register for each in own], found


def measure_loops(parts: Routines, rounds: Callable[[Instruction], int]) -> Loops:
    """Measure the loops of a shader, with calls expanded, for its work budget.

    ``rounds`` is a function that returns the maximum number of iterations of a loop.
    """
    return loops_of(
        Step(rounds(each) if each.op in LOOPS else None, each.op in LOOP_ENDS)
        for each in _expanded(parts.main, parts)
    )


def _expanded(body: Iterable[Instruction], parts: Routines) -> Iterator[Instruction]:
    """Yield instructions in order, each call followed by the instructions of its subroutine."""
    for instruction in body:
        yield instruction
        if instruction.op in CALLS:
            yield from _expanded(parts.subroutines[instruction.label], parts)


COMPONENTS = "xyzw"
Result = dict[int, Value]
"""Type of a result: values by component, 0 to 3; missing components are not written."""
DEPTH = Register(File.DEPTHOUT)
SCALARS = frozenset({Register(File.RASTOUT, 1), Register(File.RASTOUT, 2), DEPTH})
"""Output registers with one component only: fog factor, point size and depth."""
_STAGES = {Stage.VERTEX: ir.Stage.VERTEX, Stage.PIXEL: ir.Stage.PIXEL}
_TYPES = {File.ADDR: Type.I32, File.PREDICATE: Type.BOOL}
_INDEXABLE = frozenset({File.INPUT, File.OUTPUT})

_KINDS = {
    TextureType.D3DSTT_1D: ir.TextureKind.TEX2D,
    TextureType.D3DSTT_2D: ir.TextureKind.TEX2D,
    TextureType.D3DSTT_CUBE: ir.TextureKind.CUBE,
    TextureType.D3DSTT_VOLUME: ir.TextureKind.VOLUME,
}
"""Kind of texture that a sampler reads, by the type that its dcl names.  A 1D sampler reads a 2D
texture one texel high: Direct3D 9 has no one-dimensional textures."""


class Write(msgspec.Struct, frozen=True):
    """A write of a register component, to be executed after all reads of the instruction."""

    register: Register
    component: int
    value: Value
    condition: Value | None
    index: Value | None


class OpenBlock(NamedTuple):
    """An if, rep or loop block being lowered.

    ``advance`` is a function that adds the code which ends an iteration of a loop; ``counter`` is
    the variable with a loop's aL.  Both are None for blocks without them.
    """

    exit: ExitStack
    advance: Callable[[], None] | None
    counter: Variable | None


class SamplerBindings(msgspec.Struct, frozen=True):
    """Texture kinds by sampler and projections by stage: the arguments of ``lower_pixel``."""

    kinds: Mapping[int, ir.TextureKind] = msgspec.field(default_factory=dict)
    projections: Mapping[int, int] = msgspec.field(default_factory=dict)


class Lowering:
    """The state of lowering one shader.  A register that was never written holds 0 or false.

    A register component is a variable of the builder; the registers of a file that some
    instruction indexes are scalars of a local file instead.  ``own`` has the DWORDs of constants
    that the shader defines, by register; ``read`` are the input registers read so far, ``rows``
    the dot products computed so far for the current ps_1_x texture matrix.
    """

    def __init__(self, shader: Shader, bound: SamplerBindings) -> None:
        self.shader = shader
        self.version = shader.version
        self.parts = routines(shader)
        self.b = new_builder(_STAGES[shader.version.stage])
        self.bound = bound
        self.own = {
            i.target.register: i.constant
            for i in shader.instructions
            if i.op.row.group is Group.CONSTANT
        }
        self.usages = _usages(shader)
        self.declared = _by_register(self.usages)
        self.centroids = _centroids(shader)
        self.kinds = {**bound.kinds, **_declared_kinds(shader), **_shadows(shader, bound)}
        self.variables: dict[tuple[Register, int], Variable] = {}
        self.read: set[Register] = set()
        self.samplers: dict[int, ir.TextureKind] = {}
        self.rows: list[Value] = []
        self.blocks: list[OpenBlock] = []
        self.indexed = {file: self._local(file) for file in _indexed(shader)}
        self.kills = False
        self.budget = Budget(self.b, measure_loops(self.parts, self.rounds))

    # Numbers

    def mul(self, x: Value, y: Value) -> Value:
        """The product; 0 times anything is 0 (SM1-3 tokens, "Arithmetic")."""
        return self.b.mulz(x, y)

    def number(self, value: float) -> Value:
        """An F32 constant."""
        return self.b.constant(Type.F32, value)

    def integer(self, register: Register, component: int) -> Value:
        """Read a component of an integer constant i#."""
        if register in self.own:
            return self.b.constant(Type.I32, self.own[register][component])
        file = self.b.uniform("i", Type.I32, 4 * self.count(File.CONSTINT))
        return self.b.load(file, 4 * register.number + component)

    def boolean(self, register: Register) -> Value:
        """Read a boolean constant b#."""
        if register in self.own:
            return self.b.constant(Type.BOOL, self.own[register][0] != 0)
        file = self.b.uniform("b", Type.BOOL, self.count(File.CONSTBOOL))
        return self.b.load(file, register.number)

    def rounds(self, loop: Instruction) -> int:
        """The maximum number of iterations of a loop.

        If the shader does not define the count itself, it is ``LOOP_LIMIT``.
        """
        count, *_ = self.own.get(loop.sources[-1].register, (LOOP_LIMIT,))
        return 0 if count >> 31 else min(count, LOOP_LIMIT)

    def coordinate(self, set: int, component: int) -> Value:
        """Read a component of the pixel's texture coordinate set number ``set``, register t#."""
        name = varying_name(DeclUsage.TEXCOORD, set, component)
        return self.varying(name, Register(File.TEXTURE, set), component)

    def varying(self, name: str, register: Register, component: int) -> Value:
        """Read a varying of the pixel, at the centroid if dcl_centroid declares its register."""
        place = CENTROID if (register, component) in self.centroids else ""
        return self.b.input(place + name)

    def stage(self, stage: int, scalar: int) -> Value:
        """Read a texture stage state; ``scalar``, 0 to 5, is its place in STAGE_FILE."""
        file = self.b.uniform(STAGE_FILE, Type.F32, STAGES * STAGE_SCALARS)
        return self.b.load(file, stage * STAGE_SCALARS + scalar)

    def count(self, file: File) -> int:
        """The number of registers of a file in this version."""
        return BY_FILE[file].count(self.version)

    # Registers

    def input_register(self, register: Register, component: int) -> InputRegister:
        """The program input that a component of v# is read from, by the usage in its dcl."""
        declared = self.declared.get(register, {})
        usage, index = declared.get(component, (None, 0))
        several = len(set(declared.values())) > 1
        return InputRegister(register.number, usage, index, several=several)

    def variable(self, register: Register, component: int) -> Variable:
        """The builder's variable for a register component, declared at first use."""
        key = register, component
        if key not in self.variables:
            self.variables[key] = self.b.variable(_TYPES.get(register.file, Type.F32))
        return self.variables[key]

    def index(self, relative: Relative | None) -> Value | None:
        """The run-time index added to a register number, None for an operand without one.

        aL is 0 outside of loops.
        """
        if relative is None:
            return None
        if relative.register.file is not File.LOOP:
            return self.variable(relative.register, relative.component).value
        counters = [block.counter for block in self.blocks if block.counter is not None]
        return counters[-1].value if counters else self.b.constant(Type.I32, 0)

    def condition(self, instruction: Instruction, component: int) -> Value | None:
        """The predicate under which an instruction writes a component; None if unconditional."""
        predicate = instruction.predicate
        if predicate is None:
            return None
        value = self.variable(predicate.register, predicate.swizzle[component]).value
        return ~value if predicate.modifier else value

    def writes(self, instruction: Instruction, result: Result) -> list[Write]:
        """The writes of a result: shifted, then saturated, under mask and predicate.

        To a register with a single component (fog, point size, depth) the lowest component is
        written.
        """
        target, index = instruction.target, self.index(instruction.target.relative)
        made = [
            Write(
                target.register,
                component,
                self._modified(instruction, result[component]),
                self.condition(instruction, component),
                index,
            )
            for component in target.components
            if component in result
        ]
        if target.register in SCALARS:
            return [replace(write, component=0) for write in made[:1]]
        return made

    def commit(self, writes: Iterable[Write]) -> None:
        """Execute the pending writes of an instruction, as if all at the same moment.

        A value in a variable that another of the writes changes is copied first.
        """
        local = [write for write in writes if write.register.file in self.indexed]
        direct = [write for write in writes if write.register.file not in self.indexed]
        for write in local:
            self._store(write)
        variables = [self.variable(write.register, write.component) for write in direct]
        written = {ir.Slot(variable.slot) for variable in variables}
        values = [self._chosen(write) for write in direct]
        values = [self.b.copy(v) if v.operand in written else v for v in values]
        for variable, value in zip(variables, values, strict=True):
            variable.value = value

    # Blocks

    def open(
        self,
        block: AbstractContextManager[None],
        at: Instruction,
        advance: Callable[[], None] | None = None,
        counter: Variable | None = None,
    ) -> None:
        """Enter ``block``, a context manager of the builder, and push an OpenBlock for it.

        ``advance`` and ``counter`` are stored in that.  Raises ShaderError if blocks, with calls
        expanded, nest too deep.
        """
        if len(self.blocks) == MAX_DEPTH:
            what = f"more than {MAX_DEPTH} blocks inside each other, calls expanded"
            raise ShaderError(what, offset=at.offset)
        stack = ExitStack()
        stack.enter_context(block)
        self.blocks.append(OpenBlock(stack, advance, counter))

    def close(self) -> None:
        """Close the innermost block; a loop first gets the code that ends an iteration."""
        block = self.blocks.pop()
        if block.advance is not None:
            block.advance()
        block.exit.close()

    def _local(self, file: File) -> ir.File:
        return self.b.local(file.value, Type.F32, 4 * self.count(file))

    def _modified(self, instruction: Instruction, value: Value) -> Value:
        target = instruction.target
        if target.shift:
            value = value * 2.0**target.shift
        return self.b.saturate(value) if target.saturate else value

    def _chosen(self, write: Write) -> Value:
        if write.condition is None:
            return write.value
        old = self.variable(write.register, write.component).value
        return self.b.select(write.condition, write.value, old)

    def _store(self, write: Write) -> None:
        file = self.indexed[write.register.file]
        offset = 4 * write.register.number + write.component
        with ExitStack() as stack:
            if write.condition is not None:
                stack.enter_context(self.b.if_(write.condition))
            self.b.store(file, write.value, offset, write.index, 4)


def varying_name(usage: DeclUsage, index: int, component: int) -> str:
    """The port name of a component of a varying, such as ``texcoord0.x``."""
    return f"{usage.name.lower()}{index}.{COMPONENTS[component]}"


def _centroids(shader: Shader) -> set[tuple[Register, int]]:
    """(register, component) of the inputs that are declared with dcl_centroid."""
    return {
        (i.target.register, component)
        for i in shader.instructions
        if i.declaration is not None and ResultModifier.MSAMPCENTROID in i.target.modifiers
        for component in i.target.components
    }


def _usages(shader: Shader) -> dict[tuple[Register, int], tuple[DeclUsage, int]]:
    """Declared usage and usage index by component of an input or output register."""
    return {
        (i.target.register, component): (i.declaration.usage, i.declaration.index)
        for i in shader.instructions
        if i.declaration is not None and i.declaration.usage is not None
        for component in i.target.components
    }


def _by_register(
    usages: dict[tuple[Register, int], tuple[DeclUsage, int]],
) -> dict[Register, dict[int, tuple[DeclUsage, int]]]:
    """Usage and usage index of each register's declared components."""
    found: dict[Register, dict[int, tuple[DeclUsage, int]]] = {}
    for (register, component), usage in usages.items():
        found.setdefault(register, {})[component] = usage
    return found


def _declared_kinds(shader: Shader) -> dict[int, ir.TextureKind]:
    return {
        i.target.register.number: _KINDS[i.declaration.texture]
        for i in shader.instructions
        if i.declaration is not None and i.declaration.texture in _KINDS
    }


def _shadows(shader: Shader, bound: SamplerBindings) -> dict[int, ir.TextureKind]:
    """SHADOW, by sampler, for the samplers of depth textures that are 2D or undeclared."""
    declared, flat = _declared_kinds(shader), ir.TextureKind.TEX2D
    return {
        number: kind
        for number, kind in bound.kinds.items()
        if kind is ir.TextureKind.SHADOW and declared.get(number, flat) is flat
    }


def _indexed(shader: Shader) -> list[File]:
    """Those of the input and output register files whose registers some instruction indexes."""
    operands = [o for i in shader.instructions for o in (i.destination, *i.sources)]
    files = {o.register.file for o in operands if o is not None and o.relative is not None}
    return sorted(files & _INDEXABLE, key=lambda file: file.value)

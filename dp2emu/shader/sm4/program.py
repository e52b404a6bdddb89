"""A decoded program as values: what lowering reads, and what text is written from and read into.

Registers are untyped rows of four 32-bit components; what their bits mean the opcode decides.
"""

from __future__ import annotations

from dataclasses import field
from enum import Enum

from dp2emu.d3d.enums10 import Domain, OutputPrimitive, Partitioning
from dp2emu.records import dataclass
from dp2emu.shader.resources import Dimension
from dp2emu.shader.sm4.enums import (
    Access,
    GlobalFlags,
    Interpolation,
    Precision,
    Primitive,
    ReturnType,
    SamplerMode,
    Sizes,
    Sync,
    SystemValue,
    Topology,
    UavFlags,
)
from dp2emu.shader.sm4.opcodes import OPCODES, Opcode
from dp2emu.shader.sm4.ops import Op
from dp2emu.shader.sm4.registers import File
from dp2emu.shader.sm4.versions import Version

Swizzle = tuple[int, int, int, int]
"""For x, y, z and w the component, 0 to 3, that is read."""
Returns = tuple[ReturnType, ReturnType, ReturnType, ReturnType]
"""Of the components of a resource."""

_NO_FLAGS, _NO_UAV_FLAGS, _NO_SYNC = GlobalFlags(0), UavFlags(0), Sync(0)


class Selection(Enum):
    """How an operand names its components."""

    NONE = "none"
    """It has none, or they go without saying: s#, labels, null, t# in declarations."""
    ONE = "one"
    """A scalar register: oDepth, vPrim; an immediate of one word."""
    MASK = "mask"
    SWIZZLE = "swizzle"
    SELECT = "select"


@dataclass(frozen=True, slots=True)
class Index:
    """One index of an operand: ``offset``, plus with 32-bit wrap the scalar that is read."""

    offset: int = 0
    relative: Operand | None = None


@dataclass(frozen=True, slots=True)
class Operand:
    """An operand.

    ``indices`` are as many as the file's row in ``registers`` has: r1 is (1,), cb2[3] is (2, 3).
    ``components`` are what a mask lets through in ascending order, the four of a swizzle, or the
    one selected, and none of NONE and ONE.  ``words`` are those of an immediate: one or four,
    or of 64-bit immediates two or four, low halves first.

    A source is indexed, then swizzled, then made absolute, then negated.
    """

    file: File
    indices: tuple[Index, ...] = ()
    selection: Selection = Selection.NONE
    components: tuple[int, ...] = ()
    negate: bool = False
    absolute: bool = False
    precision: Precision = Precision.DEFAULT
    words: tuple[int, ...] = ()

    @property
    def number(self) -> int:
        """The first index, without what is added to it at run time."""
        return self.indices[0].offset

    @property
    def written(self) -> tuple[int, ...]:
        """The components a destination writes, ascending; x of scalar registers and null."""
        return self.components if self.selection is Selection.MASK else (0,)

    @property
    def mask(self) -> int:
        """The same as bits: x is bit 0."""
        return sum(1 << component for component in self.written)

    @property
    def swizzle(self) -> Swizzle:
        """What a source reads for x, y, z and w; scalars and selected components replicate."""
        if self.selection is Selection.SWIZZLE:
            x, y, z, w = self.components
            return x, y, z, w
        if self.selection is Selection.NONE:
            return 0, 1, 2, 3
        (only,) = self.components or (0,)
        return only, only, only, only


@dataclass(frozen=True, slots=True)
class View:
    """What an instruction repeats of its resource's declaration (shader model 5)."""

    dimension: Dimension | None = None
    stride: int = 0
    """In bytes, of structured buffers."""
    returns: Returns | None = None


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a declaration says besides its operand; ``declarations`` tells who says what."""

    interpolation: Interpolation | None = None
    name: SystemValue | None = None
    dimension: Dimension | None = None
    samples: int = 0
    """Of dcl_resource of multisampled textures; compilers say 0."""
    returns: Returns | None = None
    access: Access | None = None
    mode: SamplerMode | None = None
    topology: Topology | None = None
    primitive: Primitive | None = None
    domain: Domain | None = None
    partitioning: Partitioning | None = None
    output: OutputPrimitive | None = None
    flags: GlobalFlags = _NO_FLAGS
    uav: UavFlags = _NO_UAV_FLAGS
    number: int = 0
    """Of an array of dcl_indexableTemp, a function body, a function table or an interface."""
    count: int = 0
    """Temporaries, rows of an array, registers of a range, vertices, control points, instances,
    elements of shared memory, call sites."""
    components: int = 0
    """Of the rows of an array."""
    stride: int = 0
    """Bytes of an element of a structured buffer; of dcl_tgsm_raw, of all of it."""
    factor: int = 0
    """Bits of the greatest tessellation factor, a float32."""
    threads: tuple[int, int, int] = (0, 0, 0)
    """In a group, by x, y and z."""
    custom: int | None = None
    """A CustomClass, or another number: such data mean nothing."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """An instruction or declaration.

    ``operands`` are one for each letter of ``row.operands``.  ``data`` are the words after them:
    rows of the immediate constant buffer (four words each) and other custom data, the tables of
    a function table or interface, the function number of fcall.  Compilers also leave words there
    that mean nothing, behind samplepos and what samples with feedback.
    ``offset`` in bytes from the version token and ``tokens``, the DWORDs themselves, are there if
    it was decoded and do not count when comparing.
    """

    op: Op
    operands: tuple[Operand, ...] = ()
    saturate: bool = False
    nonzero: bool = False
    """Of what tests: whether it acts if any bit is set, and not if none is."""
    precise: int = 0
    """The components that must not be refactored, x is bit 0."""
    sizes: Sizes = Sizes.FLOAT
    """Of resinfo and sampleinfo."""
    sync: Sync = _NO_SYNC
    texel: tuple[int, int, int] = (0, 0, 0)
    """What is added to texel addresses u, v, w, each from -8 to 7."""
    view: View | None = None
    declaration: Declaration | None = None
    data: tuple[int, ...] = ()
    offset: int = field(default=0, compare=False)
    tokens: tuple[int, ...] = field(default=(), compare=False)

    @property
    def row(self) -> Opcode:
        """The row of the opcode table."""
        return OPCODES[self.op]

    @property
    def destinations(self) -> tuple[Operand, ...]:
        """The operands that are written, resources aside."""
        return self.operands[: self.row.operands.count("d")]

    @property
    def sources(self) -> tuple[Operand, ...]:
        """All other operands in order; of stores and atomics the memory is the first."""
        return self.operands[self.row.operands.count("d") :]


@dataclass(frozen=True, slots=True)
class Program:
    """A program: declarations and instructions in order, and whatever bytes follow them."""

    version: Version
    instructions: tuple[Instruction, ...]
    trailing: bytes = b""

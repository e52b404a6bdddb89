"""A decoded program of Direct3D 10 or 11 as immutable records.

The decoder and the assembler make them; the lowering, the encoder and the disassembler read them.
Registers are untyped rows of four 32-bit components; the opcode determines their type.
"""

from __future__ import annotations

from enum import Enum

import msgspec

from dp2emu.d3d.enums10 import Domain, OutputPrimitive, Partitioning
from dp2emu.shader.cursor import Decoded
from dp2emu.shader.resources import Dimension
from dp2emu.shader.sm4 import enums
from dp2emu.shader.sm4.opcodes import Op
from dp2emu.shader.sm4.registers import File
from dp2emu.shader.sm4.versions import Version

Swizzle = tuple[int, int, int, int]
"""Type of a swizzle: the component, 0 to 3, read for each of x, y, z and w."""
Returns = tuple[enums.ReturnType, enums.ReturnType, enums.ReturnType, enums.ReturnType]
"""Types of the data in a resource's components x, y, z and w."""
_NO_FLAGS, _NO_UAV_FLAGS, _NO_SYNC = enums.GlobalFlags(0), enums.UavFlags(0), enums.Sync(0)


class Selection(Enum):
    """How an operand selects components."""

    NONE = "none"
    """Operands without components, or with implied ones: s#, labels, null, t# in declarations."""
    ONE = "one"
    """The only component of a scalar register, such as oDepth or vPrim, or of an immediate of one
    word; it is not named in text."""
    MASK = "mask"
    SWIZZLE = "swizzle"
    SELECT = "select"


class Index(msgspec.Struct, frozen=True):
    """An index of an operand: ``offset`` plus, unless None, the run-time value of ``relative``."""

    offset: int = 0
    relative: Operand | None = None


class Operand(msgspec.Struct, frozen=True):
    """An operand of an instruction: a register, some of its components, and modifiers.

    The register file decides the number of ``indices``: r1 has (1,), cb2[3] has (2, 3).
    ``components`` are those of a mask in ascending order, the four of a swizzle, the selected one,
    or empty for the selections NONE and ONE.  ``words`` are the DWORDs of an immediate: one or
    four, of 64-bit immediates two or four, low halves first.

    A source is indexed, then swizzled, then made absolute, then negated.
    """

    file: File
    indices: tuple[Index, ...] = ()
    selection: Selection = Selection.NONE
    components: tuple[int, ...] = ()
    negate: bool = False
    absolute: bool = False
    precision: enums.Precision = enums.Precision.DEFAULT
    words: tuple[int, ...] = ()

    @property
    def number(self) -> int:
        """The first index without its run-time part."""
        return self.indices[0].offset

    @property
    def written(self) -> tuple[int, ...]:
        """The components that a destination writes, ascending; x for scalar registers and null."""
        return self.components if self.selection is Selection.MASK else (0,)

    @property
    def mask(self) -> int:
        """The write mask; x is bit 0."""
        return sum(1 << component for component in self.written)

    @property
    def swizzle(self) -> Swizzle:
        """The components read for x, y, z and w.

        A single component is read for all four, a single double for both pairs.
        """
        if self.selection is Selection.SWIZZLE:
            x, y, z, w = self.components
            return x, y, z, w
        if self.selection is Selection.NONE:
            return 0, 1, 2, 3
        if self.file is File.IMMEDIATE64:
            return 0, 1, 0, 1
        (only,) = self.components or (0,)
        return only, only, only, only


class View(msgspec.Struct, frozen=True):
    """The copy of its resource's declaration that an instruction carries (shader model 5)."""

    dimension: Dimension | None = None
    stride: int = 0
    """Structure stride of a structured buffer, in bytes."""
    returns: Returns | None = None


class Declaration(msgspec.Struct, frozen=True):
    """A declaration's attributes; ``declarations.PARTS`` says how tokens encode each of them."""

    interpolation: enums.Interpolation | None = None
    name: enums.SystemValue | None = None
    dimension: Dimension | None = None
    samples: int = 0
    """Sample count in dcl_resource of multisampled textures; compilers write 0."""
    returns: Returns | None = None
    access: enums.Access | None = None
    mode: enums.SamplerMode | None = None
    topology: enums.Topology | None = None
    primitive: enums.Primitive | None = None
    domain: Domain | None = None
    partitioning: Partitioning | None = None
    output: OutputPrimitive | None = None
    flags: enums.GlobalFlags = _NO_FLAGS
    uav: enums.UavFlags = _NO_UAV_FLAGS
    number: int = 0
    """Number of the indexable array x#, function body, function table or interface declared."""
    count: int = 0
    """Number that a declaration gives, of what its opcode says: temporaries, array rows, registers
    of a range, vertices, control points, instances, elements of shared memory, or call sites."""
    components: int = 0
    """Number of components, 1 to 4, that each row of a declared array x# has."""
    stride: int = 0
    """Bytes of a structured buffer's element; for dcl_tgsm_raw its total size."""
    factor: int = 0
    """Bits of the maximum tessellation factor, a float32."""
    threads: tuple[int, int, int] = (0, 0, 0)
    """Threads of a group along x, y and z."""
    custom: int | None = None
    """Class of custom data, None without: a CustomClass, or another number, whose data are
    ignored."""


class Instruction(Decoded, frozen=True):
    """An instruction or declaration.

    ``operands`` match the letters of ``op.row``.  ``data`` are the words after them: rows of the
    immediate constant buffer (four words each) and other custom data, the entries of a function
    table or interface, the function number of fcall.  Compilers leave unused words after samplepos
    and sampling with feedback.
    """

    op: Op
    operands: tuple[Operand, ...] = ()
    saturate: bool = False
    nonzero: bool = False
    """Which result of the test an instruction such as ``if_nz`` acts on: True for nonzero, False
    for zero."""
    precise: int = 0
    """Mask of components that must not be refactored; x is bit 0."""
    sizes: enums.Sizes = enums.Sizes.FLOAT
    """Type in which resinfo and sampleinfo return sizes: float, reciprocal float or unsigned
    integer."""
    sync: enums.Sync = _NO_SYNC
    texel: tuple[int, int, int] = (0, 0, 0)
    """Texel offsets along u, v and w that a sampling instruction adds, each from -8 to 7."""
    view: View | None = None
    declaration: Declaration | None = None
    data: tuple[int, ...] = ()

    @property
    def destinations(self) -> tuple[Operand, ...]:
        """The register operands that are written; memory operands are sources."""
        return self.operands[: self.op.row.operands.count("d")]

    @property
    def sources(self) -> tuple[Operand, ...]:
        """All operands after the destinations.  Stores and atomics have the memory first."""
        return self.operands[self.op.row.operands.count("d") :]


class Program(msgspec.Struct, frozen=True):
    """A decoded program; ``trailing`` are the bytes after its instructions."""

    version: Version
    instructions: tuple[Instruction, ...]
    trailing: bytes = b""

"""A decoded shader of Direct3D 8 or 9 as immutable records.

The decoder and the assembler make them; the lowering, the encoder and the disassembler read them.
"""

from __future__ import annotations

import msgspec

from dp2emu.d3d.enums import DeclUsage
from dp2emu.shader.cursor import Decoded
from dp2emu.shader.sm.modifiers import (
    Comparison,
    ResultModifier,
    Sampling,
    SourceModifier,
    TextureType,
)
from dp2emu.shader.sm.opcodes import Op
from dp2emu.shader.sm.registers import File, Register
from dp2emu.shader.sm.versions import Version

Swizzle = tuple[int, int, int, int]
"""Type of a swizzle: the component, 0 to 3, read for each of x, y, z and w."""
IDENTITY: Swizzle = (0, 1, 2, 3)
FULL_MASK = 0b1111
_PLAIN = ResultModifier(0)


class Relative(msgspec.Struct, frozen=True):
    """The run-time index added to a register number: a component of a0, or aL."""

    register: Register
    component: int = 0


class Source(msgspec.Struct, frozen=True):
    """A source operand: a register, its swizzle (applied first) and its modifier."""

    register: Register
    swizzle: Swizzle = IDENTITY
    modifier: SourceModifier = SourceModifier.NONE
    relative: Relative | None = None


class Destination(msgspec.Struct, frozen=True):
    """A destination operand.  Bit 0 of ``mask`` is x.

    A result is multiplied by 2 to the power of ``shift``, then clamped to 0..1 if ``modifiers``
    contain SATURATE, then written under the mask and the predicate.
    """

    register: Register
    mask: int = FULL_MASK
    modifiers: ResultModifier = _PLAIN
    shift: int = 0
    relative: Relative | None = None

    @property
    def saturate(self) -> bool:
        """Whether the result is clamped to 0..1."""
        return ResultModifier.SATURATE in self.modifiers

    @property
    def components(self) -> tuple[int, ...]:
        """The components in the mask, ascending."""
        return tuple(i for i in range(4) if self.mask >> i & 1)


class Declaration(msgspec.Struct, frozen=True):
    """Content of a dcl: the texture type of a sampler, a usage, or neither.

    Registers of fixed meaning have no usage: ps_2_x v# and t#, vPos and vFace.
    """

    usage: DeclUsage | None = None
    index: int = 0
    texture: TextureType | None = None


class Instruction(Decoded, frozen=True):
    """A decoded instruction.

    texkill reads its ``destination``.  ``coissue`` marks the second instruction of a ps_1_x pair.
    ``constant`` has the raw DWORDs of def, defi and defb.
    """

    op: Op
    destination: Destination | None = None
    sources: tuple[Source, ...] = ()
    predicate: Source | None = None
    comparison: Comparison | None = None
    sampling: Sampling = Sampling.PLAIN
    coissue: bool = False
    constant: tuple[int, ...] = ()
    declaration: Declaration | None = None

    @property
    def name(self) -> str:
        """The name of the opcode in lower case."""
        return self.op.name.lower()

    @property
    def target(self) -> Destination:
        """The destination; only for instructions that have one."""
        assert self.destination is not None
        return self.destination

    @property
    def label(self) -> int:
        """The label number of label, call and callnz."""
        return self.sources[0].register.number


class Comment(msgspec.Struct, frozen=True):
    """DWORDs that the GPU ignores, such as a compiler's constant table."""

    words: tuple[int, ...]
    offset: int = 0

    def __eq__(self, other: object) -> bool:
        return type(other) is Comment and self.words == other.words

    def __hash__(self) -> int:
        return hash(self.words)


class Shader(msgspec.Struct, frozen=True):
    """A decoded shader; ``trailing`` are the bytes after its end token."""

    version: Version
    instructions: tuple[Instruction, ...]
    comments: tuple[Comment, ...] = ()
    trailing: bytes = b""

    @property
    def reads_inputs(self) -> bool:
        """Whether an instruction reads an input register v#."""
        sources = (source for each in self.instructions for source in each.sources)
        return any(source.register.file is File.INPUT for source in sources)

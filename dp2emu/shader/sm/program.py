"""A decoded shader as values: what lowering reads, and what text is written from and read into."""

from __future__ import annotations

from dataclasses import field

from dp2emu.d3d.enums import DeclUsage
from dp2emu.errors import ShaderError
from dp2emu.records import dataclass
from dp2emu.shader.sm.modifiers import (
    Comparison,
    ResultModifier,
    Sampling,
    SourceModifier,
    TextureType,
)
from dp2emu.shader.sm.opcodes import OPCODES, Op, Opcode
from dp2emu.shader.sm.registers import Register
from dp2emu.shader.sm.versions import Version

Swizzle = tuple[int, int, int, int]
"""For x, y, z and w the component, 0 to 3, that is read."""

IDENTITY: Swizzle = (0, 1, 2, 3)
FULL_MASK = 0b1111
_PLAIN = ResultModifier(0)


@dataclass(frozen=True, slots=True)
class Relative:
    """An index added to a register number: a component of a0, or aL."""

    register: Register
    component: int = 0


@dataclass(frozen=True, slots=True)
class Source:
    """An operand that is read: swizzled first, then modified."""

    register: Register
    swizzle: Swizzle = IDENTITY
    modifier: SourceModifier = SourceModifier.NONE
    relative: Relative | None = None


@dataclass(frozen=True, slots=True)
class Destination:
    """An operand that is written.  x of ``mask`` is bit 0.

    A result is multiplied by two to the power of ``shift``, then saturated if ``modifiers`` say
    so, then written where the mask and the predicate allow.
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
        """The components the mask lets through, ascending."""
        return tuple(i for i in range(4) if self.mask >> i & 1)


@dataclass(frozen=True, slots=True)
class Declaration:
    """What dcl says of its register: the texture type of a sampler, or a usage, or nothing.

    Registers of fixed meaning have no usage: ps_2_x v# and t#, vPos and vFace.
    """

    usage: DeclUsage | None = None
    index: int = 0
    texture: TextureType | None = None


@dataclass(frozen=True, slots=True)
class Instruction:
    """An instruction.

    ``destination`` of texkill is read; ``coissue`` marks the second of a ps_1_x pair;
    ``constant`` holds the raw DWORDs of def, defi and defb.  ``offset`` in bytes and ``words``,
    the tokens themselves, are there if it was decoded and do not count when comparing.
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
    offset: int = field(default=0, compare=False)
    words: tuple[int, ...] = field(default=(), compare=False)

    @property
    def row(self) -> Opcode:
        """The row of the opcode table."""
        return OPCODES[self.op]

    @property
    def name(self) -> str:
        """The name of the opcode in lower case."""
        return self.op.name.lower()

    def error(self, what: str) -> ShaderError:
        """A ShaderError at the instruction's byte offset."""
        return ShaderError(what, offset=self.offset)

    @property
    def target(self) -> Destination:
        """The destination of an instruction that has one."""
        assert self.destination is not None
        return self.destination

    @property
    def label(self) -> int:
        """The label number of label, call and callnz."""
        return self.sources[0].register.number


@dataclass(frozen=True, slots=True)
class Comment:
    """DWORDs that mean nothing to the GPU, such as a compiler's table of constants."""

    words: tuple[int, ...]
    offset: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Shader:
    """A shader: instructions in order, with comments apart and whatever follows the end token."""

    version: Version
    instructions: tuple[Instruction, ...]
    comments: tuple[Comment, ...] = ()
    trailing: bytes = b""

"""What comes out of a lowering: a program, and what whoever binds things to it has to know."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from dp2emu.records import dataclass
from dp2emu.shader.ir import Lod, Program
from dp2emu.shader.sm4.enums import (
    Dimension,
    Domain,
    Interpolation,
    OutputPrimitive,
    Partitioning,
    Primitive,
    ReturnType,
    SamplerMode,
    SystemValue,
    Topology,
)
from dp2emu.shader.sm4.program import Returns


@dataclass(frozen=True, slots=True)
class Register:
    """Components of an input or output, as one declaration has them; bit 0 of a mask is x.

    Of the inputs of vertex programs ``interpolation`` means nothing; ``stream`` is that of an
    output of a geometry program.
    """

    number: int
    mask: int
    name: SystemValue = SystemValue.UNDEFINED
    interpolation: Interpolation = Interpolation.UNDEFINED
    stream: int = 0


@dataclass(frozen=True, slots=True)
class Resource:
    """A t# as it is declared; raw and structured buffers have no types, but maybe a ``stride``."""

    number: int
    dimension: Dimension
    returns: Returns = (ReturnType.UINT,) * 4
    stride: int = 0


@dataclass(frozen=True, slots=True)
class DeclaredSampler:
    """An s#, and what it is declared to be used for."""

    number: int
    mode: SamplerMode


class Ask(Enum):
    """What a unit answers to, and with which four words.

    Operands are I32; "float" is the bits of one.  Addresses are as many numbers as the dimension
    has (SM4-5 tokens, "Reading resources"), slices of arrays last.  Texel offsets of
    ``Unit.texel`` have still to be added but for LOAD.  Resources that are not bound answer 0.
    """

    SAMPLE = "sample"
    """Float address, reference if ``comparison``, then by ``lod``: GRADIENT ddx and ddy of the
    address without its slice, EXPLICIT the level.  Answers floats."""
    GATHER = "gather"
    """Float address, reference if ``comparison``, then two offsets if ``offset``.  Answers the
    ``component`` of four texels, as the view has them."""
    LOD = "lod"
    """Float address without slice, its ddx, its ddy.  Floats: clamped and unclamped level."""
    LOAD = "load"
    """Unsigned address, the mip level or sample.  Answers floats or integers, as the view has."""
    RAW = "raw"
    """The byte offset.  Answers the words from there on."""
    STRUCTURED = "structured"
    """Index, byte offset in the structure.  Answers the words from there on."""
    SIZE = "size"
    """The mip level.  Answers width, height, depth or slices, and levels; 0 for what is not."""
    COUNT = "count"
    """No operands.  Answers elements, bytes or structures of a buffer."""
    SAMPLES = "samples"
    """No operands.  Answers samples of the resource, or of the targets if it is None."""
    SAMPLE_POSITION = "sample position"
    """The number of a sample.  Answers floats x and y from the pixel's centre."""
    SNAPPED = "snapped"
    """Offsets x and y in 1/16 pixel from its centre, -8 to 7.  The input ``register`` there."""
    AT_SAMPLE = "at sample"
    """The number of a sample.  The input ``register`` there."""


@dataclass(frozen=True, slots=True)
class Unit:
    """What a Fetch of this number asks, and a Sample of it reads (SAMPLE of plain textures).

    ``resource`` and ``sampler`` are t# and s#; None where the rasterizer or nothing is meant.
    """

    ask: Ask
    resource: int | None = None
    sampler: int | None = None
    dimension: Dimension | None = None
    texel: tuple[int, int, int] = (0, 0, 0)
    lod: Lod = Lod.EXPLICIT
    comparison: bool = False
    offset: bool = False
    component: int = 0
    register: int = 0


@dataclass(frozen=True, slots=True)
class Emission:
    """What a geometry program takes and puts out.

    It runs ``instances`` times for each ``primitive``, and puts out ``limit`` vertices at most.
    ``words`` are the components of o# that any stream has, and ``topologies`` those of the
    streams, by number.
    """

    primitive: Primitive
    instances: int
    limit: int
    words: tuple[tuple[int, int], ...]
    topologies: tuple[tuple[int, Topology], ...]


class Act(Enum):
    """What an access does to memory, and with which operands behind the address.

    Addresses are as ``Ask`` has them; of raw memory the byte offset, of structured memory index
    and byte offset in the structure.  Words of buffers are 32 bits, texels have four words.
    """

    LOAD = "load"
    """None.  Answers the texel, or words from there on."""
    STORE = "store"
    """A texel, or words for there and on."""
    AND = "and"
    OR = "or"
    XOR = "xor"
    IADD = "iadd"
    IMAX = "imax"
    IMIN = "imin"
    UMAX = "umax"
    UMIN = "umin"
    EXCHANGE = "exchange"
    """Like those above, a word.  Answers what was there before."""
    COMPARE = "compare"
    """What should be there, and what is stored if it is.  Answers what was there before."""
    ALLOC = "alloc"
    """No address.  The counter goes up; answers what it was."""
    CONSUME = "consume"
    """No address.  The counter goes down; answers what it is."""
    SIZE = "size"
    """The mip level in place of an address.  Answers as ``Ask.SIZE``."""
    COUNT = "count"
    """No address.  Answers as ``Ask.COUNT``."""


class Deed(NamedTuple):
    """What an Access of this number does: to u#, or to g# if that is ``shared``.

    ``silent``: nobody looks at the answer.
    """

    act: Act
    number: int
    shared: bool
    dimension: Dimension
    silent: bool = False


@dataclass(frozen=True, slots=True)
class SharedMemory:
    """A g#: ``count`` structures of ``stride`` bytes, or so many bytes if the stride is 1."""

    number: int
    dimension: Dimension
    stride: int
    count: int

    @property
    def words(self) -> int:
        """32-bit words that it takes."""
        return -(-self.stride * self.count // 4)


@dataclass(frozen=True)
class Lowered4:
    """A shader as a program.  Frozen and hashable, as the program is.

    Files: ``cb<slot>`` for each of ``constant_buffers``, I32 in rows of four, and ``icb``, which
    are ``immediates``, if the program has it.  ``units`` are by number.  ``forces_early``: tests
    of depth and stencil come before the program, whatever it does.  ``per_sample``: it runs for
    each sample.  ``deeds`` are what it does to memory, by number, ``unordered`` the u# declared
    and ``shared`` the g#; ``threads`` are those of a group by x, y and z.  Of hull and domain
    programs ``points_in`` is the points of a patch, ``registers`` what each has in files.
    """

    program: Program
    inputs: tuple[Register, ...]
    outputs: tuple[Register, ...]
    constant_buffers: tuple[int, ...]
    immediates: tuple[int, ...]
    resources: tuple[Resource, ...]
    samplers: tuple[DeclaredSampler, ...]
    units: tuple[Unit, ...]
    writes_depth: bool = False
    writes_coverage: bool = False
    kills: bool = False
    forces_early: bool = False
    per_sample: bool = False
    emission: Emission | None = None
    deeds: tuple[Deed, ...] = ()
    unordered: tuple[Resource, ...] = ()
    shared: tuple[SharedMemory, ...] = ()
    threads: tuple[int, int, int] = (0, 0, 0)
    points_in: int = 0
    registers: int = 1


Component = tuple[int, int]
"""The number of a register, and a component of it."""


@dataclass(frozen=True)
class Constants:
    """A phase that makes patch constants, and how many instances of it there are."""

    shader: Lowered4
    instances: int


@dataclass(frozen=True)
class LoweredHull:
    """A hull shader, whose phases are programs.  Frozen and hashable, as these are.

    It ``takes`` patches of so many points and ``makes`` so many by ``points``, or without that
    those it takes; ``constants`` are in the order in which they run.  ``registers`` is how many
    each point has in the files of patches.  ``most`` is what no factor is above.  ``edges`` and
    ``inside`` say where the factors of the tessellator are among the constants, U = 0 first, of
    lines their density first; None if the shader does not make one.
    """

    points: Lowered4 | None
    constants: tuple[Constants, ...]
    takes: int
    makes: int
    registers: int
    domain: Domain
    partitioning: Partitioning
    output: OutputPrimitive
    most: float
    edges: tuple[Component | None, ...]
    inside: tuple[Component | None, ...]

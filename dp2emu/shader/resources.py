"""Resources as shaders declare them: dimensions, reads, and operations on memory."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from dp2emu.d3d.sdk import Named
from dp2emu.records import dataclass
from dp2emu.shader.ir import Lod


class Dimension(Named):
    """What a resource is a view of."""

    BUFFER = 1
    TEXTURE1D = 2
    TEXTURE2D = 3
    TEXTURE2DMS = 4
    TEXTURE3D = 5
    TEXTURECUBE = 6
    TEXTURE1DARRAY = 7
    TEXTURE2DARRAY = 8
    TEXTURE2DMSARRAY = 9
    TEXTURECUBEARRAY = 10
    RAW_BUFFER = 11
    STRUCTURED_BUFFER = 12


class ReadOpcode(Enum):
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

    ask: ReadOpcode
    resource: int | None = None
    sampler: int | None = None
    dimension: Dimension | None = None
    texel: tuple[int, int, int] = (0, 0, 0)
    lod: Lod = Lod.EXPLICIT
    comparison: bool = False
    offset: bool = False
    component: int = 0
    register: int = 0


class MemoryOpcode(Enum):
    """What an access does to memory, and with which operands behind the address.

    Addresses are as ``ReadOpcode`` has them; of raw memory the byte offset, of structured
    memory index
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
    """The mip level in place of an address.  Answers as ``ReadOpcode.SIZE``."""
    COUNT = "count"
    """No address.  Answers as ``ReadOpcode.COUNT``."""


class MemoryOperation(NamedTuple):
    """What an Access of this number does: to u#, or to g# if that is ``shared``.

    ``silent``: nobody looks at the answer.
    """

    act: MemoryOpcode
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


# How resources of each dimension are addressed and measured (SM4-5 tokens, "Reading
# resources").

CUBES = frozenset({Dimension.TEXTURECUBE, Dimension.TEXTURECUBEARRAY})


class Shape(NamedTuple):
    """``axes`` of an address, whether a slice comes after them, and how many of the sizes are
    ``lengths`` in texels.
    """

    axes: int
    slices: bool = False
    lengths: int = 1


SHAPES: dict[Dimension, Shape] = {
    Dimension.BUFFER: Shape(1),
    Dimension.TEXTURE1D: Shape(1),
    Dimension.TEXTURE2D: Shape(2, lengths=2),
    Dimension.TEXTURE2DMS: Shape(2, lengths=2),
    Dimension.TEXTURE3D: Shape(3, lengths=3),
    Dimension.TEXTURECUBE: Shape(3, lengths=2),
    Dimension.TEXTURE1DARRAY: Shape(1, slices=True),
    Dimension.TEXTURE2DARRAY: Shape(2, slices=True, lengths=2),
    Dimension.TEXTURE2DMSARRAY: Shape(2, slices=True, lengths=2),
    Dimension.TEXTURECUBEARRAY: Shape(3, slices=True, lengths=2),
    Dimension.RAW_BUFFER: Shape(1),
    Dimension.STRUCTURED_BUFFER: Shape(1),
}

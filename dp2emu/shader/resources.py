"""Resources of Direct3D 10 and 11 shaders: dimensions, read opcodes and memory opcodes."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

import msgspec

from dp2emu.d3d.sdk import Named
from dp2emu.shader.ir import Lod


class Dimension(Named):
    """Dimension of a resource view."""

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
    """Operation of a read unit, with its operands and its four result words.

    Operands are I32; "float" means the bits of a float32.  An address has as many components as
    the dimension needs (SM4-5 tokens, "Reading resources"), the array slice last.  ``Unit.texel``
    offsets are added by the unit, except for LOAD.  Unbound resources read 0.
    """

    SAMPLE = "sample"
    """Sample a texture.  Operands: float address; a reference depth if ``comparison``; for ``lod``
    GRADIENT ddx and ddy of the address without its slice, for EXPLICIT the level.  Result:
    floats."""
    GATHER = "gather"
    """Read one component of the four texels of a linear filter.  Operands: float address; a
    reference depth if ``comparison``; offsets along u and v if ``offset``.  Result: number
    ``component`` of each texel, in the view's type."""
    LOD = "lod"
    """Operands: float address without slice, its ddx, its ddy.  Result: floats, the clamped level
    of detail and the unclamped one."""
    LOAD = "load"
    """Operands: unsigned address, then mip level or sample.  Result: floats or integers by the
    view's type."""
    RAW = "raw"
    """Operand: byte offset.  Result: four words from there on."""
    STRUCTURED = "structured"
    """Operands: structure index, byte offset in the structure.  Result: four words from there
    on.
    """
    SIZE = "size"
    """Operand: mip level.  Result: width, height, depth or slices, and level count; 0 where not
    applicable."""
    COUNT = "count"
    """No operands.  Result: elements, bytes or structures of a buffer."""
    SAMPLES = "samples"
    """No operands.  Result: samples per pixel of the resource, or of the render targets if it is
    None."""
    SAMPLE_POSITION = "sample position"
    """Operand: sample index.  Result: floats x and y relative to the pixel's centre."""
    SNAPPED = "snapped"
    """Operands: offsets x and y from the pixel's centre in 1/16 pixel, -8 to 7.  Result: the input
    ``register`` interpolated there."""
    AT_SAMPLE = "at sample"
    """Operand: sample index.  Result: the input ``register`` interpolated at that sample."""


class Unit(msgspec.Struct, frozen=True):
    """The read operation of a unit, to which a Fetch or a Sample refers by number.

    ``resource`` and ``sampler`` are the numbers of t# and s#, None if not used or if the
    rasterizer is read.
    """

    opcode: ReadOpcode
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
    """Memory operation of an access unit, with its operands after the address.

    Addresses are those of ``ReadOpcode``; raw memory takes a byte offset, structured memory an
    index and a byte offset in the structure.  Words of buffers are 32 bits, texels have four
    words.
    """

    LOAD = "load"
    """No operands.  Result: the texel, or words from the address on."""
    STORE = "store"
    """Operands: a texel, or the words to store from the address on."""
    AND = "and"
    OR = "or"
    XOR = "xor"
    IADD = "iadd"
    IMAX = "imax"
    IMIN = "imin"
    UMAX = "umax"
    UMIN = "umin"
    EXCHANGE = "exchange"
    """Store a word.  Operand: the word.  Result: the previous value.

    AND to UMIN have the same operand and result; they store the combination of both values."""
    COMPARE = "compare"
    """Compare-and-exchange.  Operands: expected word, new word.  Result: the previous value."""
    ALLOC = "alloc"
    """No address.  Increments the hidden counter; returns its old value."""
    CONSUME = "consume"
    """No address.  Decrements the hidden counter; returns its new value."""
    SIZE = "size"
    """Operand: the mip level, instead of an address.  Result: as ``ReadOpcode.SIZE``."""
    COUNT = "count"
    """No address.  Result: as ``ReadOpcode.COUNT``."""


class MemoryOperation(NamedTuple):
    """The memory operation of a unit, to which an Access refers by number.

    It acts on u# ``number`` or, if ``shared``, on g# ``number``.  ``silent``: the program does not
    use the result.
    """

    opcode: MemoryOpcode
    number: int
    shared: bool
    dimension: Dimension
    silent: bool = False


class SharedMemory(msgspec.Struct, frozen=True):
    """Thread group shared memory g#: ``count`` structures of ``stride`` bytes, or bytes if stride
    is 1.
    """

    number: int
    dimension: Dimension
    stride: int
    count: int

    @property
    def words(self) -> int:
        """Size of the shared memory in 32-bit words."""
        return -(-self.stride * self.count // 4)


# How resources of each dimension are addressed and measured (SM4-5 tokens, "Reading
# resources").

CUBES = frozenset({Dimension.TEXTURECUBE, Dimension.TEXTURECUBEARRAY})


class AddressShape(NamedTuple):
    """How many components an address in a resource of some dimension has.

    ``axes`` is the number of coordinates; ``slices`` says whether an array slice follows them;
    ``lengths`` is the number of axes with a size in texels, for a cube 2 of 3.
    """

    axes: int
    slices: bool = False
    lengths: int = 1


ADDRESS_SHAPES: dict[Dimension, AddressShape] = {
    Dimension.BUFFER: AddressShape(1),
    Dimension.TEXTURE1D: AddressShape(1),
    Dimension.TEXTURE2D: AddressShape(2, lengths=2),
    Dimension.TEXTURE2DMS: AddressShape(2, lengths=2),
    Dimension.TEXTURE3D: AddressShape(3, lengths=3),
    Dimension.TEXTURECUBE: AddressShape(3, lengths=2),
    Dimension.TEXTURE1DARRAY: AddressShape(1, slices=True),
    Dimension.TEXTURE2DARRAY: AddressShape(2, slices=True, lengths=2),
    Dimension.TEXTURE2DMSARRAY: AddressShape(2, slices=True, lengths=2),
    Dimension.TEXTURECUBEARRAY: AddressShape(3, slices=True, lengths=2),
    Dimension.RAW_BUFFER: AddressShape(1),
    Dimension.STRUCTURED_BUFFER: AddressShape(1),
}

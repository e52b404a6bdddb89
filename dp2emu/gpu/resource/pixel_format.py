"""Packing and unpacking of pixel words, by the format rows of ``d3d.formats``.

Functions that emit code see a pixel as parts of 32 bits; one of fewer bits is a single part.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_

import numpy as np
from numpy.typing import NDArray

from dp2emu.d3d.dxgi import ROWS
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.enums import Format
from dp2emu.d3d.flags import ColorWrite
from dp2emu.d3d.formats import Channel, Coding, FormatRow, Use
from dp2emu.errors import Unsupported
from dp2emu.gpu.arrays import F32, F64, Words
from dp2emu.gpu.resource.heap import Surface
from dp2emu.shader import codings
from dp2emu.shader.builder import Builder
from dp2emu.shader.formulas import Formula, computed
from dp2emu.shader.ir import Constant
from dp2emu.shader.ops import canonical
from dp2emu.shader.types import I32, Lanes, Type
from dp2emu.shader.values import Value


def color_format(surface: Surface) -> FormatRow:
    """Return the format of a render target; raises Unsupported if it is none."""
    row = ROWS.get(surface.format)
    if row is None or Use.TARGET not in row.uses:
        raise Unsupported(f"render target format {surface.format.sdk}")
    return row


def depth_format(surface: Surface) -> FormatRow:
    """Return the format of a depth buffer; raises Unsupported if it is none."""
    row = ROWS.get(surface.format)
    if row is None or Use.DEPTH not in row.uses:
        raise Unsupported(f"depth buffer format {surface.format.sdk}")
    return row


def _channels(row: FormatRow) -> tuple[Channel | None, ...]:
    return row.red, row.green, row.blue, row.alpha


def _field(channel: Channel | None) -> int:
    return channel.max << channel.shift if channel else 0


def write_bits(row: FormatRow, write_mask: int) -> int:
    """Bits of a pixel that D3DRS_COLORWRITEENABLE enables; 0 if it enables no channel.

    Any write includes the bits that belong to no channel (the X of X8R8G8B8).
    """
    written = zip((ColorWrite.RED, ColorWrite.GREEN, ColorWrite.BLUE, ColorWrite.ALPHA),
                  _channels(row), strict=True)  # fmt: skip
    bits = sum(_field(channel) for flag, channel in written if write_mask & flag)
    return bits | unused_bits(row) if bits else 0


def unused_bits(row: FormatRow) -> int:
    """Mask of the bits that belong to no channel, which are always stored as ones."""
    used = sum(_field(channel) for channel in row.channels.values())
    return every_bit(row) & ~used


def every_bit(row: FormatRow) -> int:
    """Mask of all bits of a pixel."""
    return (1 << 8 * row.size) - 1


def parts_of(row: FormatRow, words: Words) -> list[I32]:
    """Split pixel words (n,) or (n, row.words) into int32 arrays (n,), lowest 32 bits first."""
    if row.words > 1:
        data = np.ascontiguousarray(words).view(np.uint8)
        if row.size % 4:
            data = np.concatenate((data, np.zeros_like(data[..., : -row.size % 4])), axis=-1)
        parts = data.view(np.int32)
    elif row.size > 4:
        parts = np.ascontiguousarray(words).reshape(*words.shape, 1).view(np.int32)
    else:
        return [words.view(np.int32) if row.size == 4 else words.astype(np.int32)]
    return [parts[..., number] for number in range(parts.shape[-1])]


def words_of(row: FormatRow, parts: Sequence[I32], shape: tuple[int, ...]) -> Words:
    """Join int32 arrays, lowest 32 bits first and broadcast to ``shape``, to pixel words."""
    if row.size <= 4 and row.words == 1:
        (part,) = parts
        whole = part if part.shape == shape else np.broadcast_to(part, shape)
        return whole.astype(f"<u{row.size}").view(row.word)
    data = np.empty((*shape, len(parts)), np.int32)
    for number, part in enumerate(parts):
        data[..., number] = part
    if row.size % 4:
        return np.ascontiguousarray(data.view(np.uint8)[..., : row.size])
    words = data.view(row.word)
    return words[..., 0] if row.words == 1 else words


def pack_color(row: FormatRow, rgba: Sequence[F32 | I32]) -> Words:
    """Pack red, green, blue and alpha, arrays (n,), to pixel words (n,) or (n, row.words).

    Arrays are float32, or int32 with the bits of floats or integers.
    """
    return words_of(row, computed(packed, row, *rgba), rgba[0].shape)


def packed(b: Builder, row: FormatRow, *rgba: Value) -> list[Value]:
    """Emit the packing of red, green, blue and alpha into the 32-bit parts of a pixel.

    Floats of fewer than 32 bits are rounded to nearest even, in Direct3D 10 toward zero.
    """
    toward_zero = isinstance(row.format, DxgiFormat)
    unused, parts = unused_bits(row), []
    for part in range(-(-row.size // PART)):
        rest = unused >> 8 * PART * part & 0xFFFFFFFF
        fields = [b.constant(Type.I32, rest)] if rest else []
        for value, channel in zip(rgba, _channels(row), strict=True):
            if channel and channel.shift // (8 * PART) == part:
                code = codings.encoded(value, channel, toward_zero=toward_zero)
                shift = channel.shift % (8 * PART)
                fields.append(code << shift if shift else code)
        parts.append(reduce(or_, fields))
    return parts


PART = 4
"""Bytes of each of the 32-bit parts in which formulas handle a pixel."""


def unpack_color(row: FormatRow, words: Words) -> tuple[F32, F32, F32, F32]:
    """Unpack pixel words to red, green, blue and alpha: float32 arrays (n,).

    Missing channels have the defaults of the format's row.  Raises Unsupported for palette indexes
    and pixels that share bytes.
    """
    if row.blocked or Use.PALETTE in row.uses:
        raise Unsupported(f"reading pixels of {row.format.sdk}")
    red, green, blue, alpha = _lanes(row, words, unpacked)
    return red, green, blue, alpha


def unpacked(b: Builder, row: FormatRow, *parts: Value) -> list[Value]:
    """Emit the unpacking of a pixel's 32-bit parts to red, green, blue and alpha."""
    rgba = [
        codings.decoded(parts, lane) if isinstance(lane, Channel) else b.constant(Type.F32, lane)
        for lane in row.lanes
    ]
    if row.format is Format.CxV8U8:
        rgba[2] = codings.unit_blue(*rgba[:2])
    return rgba


def unpack_bits(row: FormatRow, words: Words) -> tuple[I32, ...]:
    """Unpack pixel words to int32 arrays (n,), red to alpha: integers, or the bits of floats.

    32-bit floats are bit-exact.  Missing channels are 0, 0, 0 and 1, an integer 1 in integer
    formats.
    """
    return tuple(_lanes(row, words, _unpacked_bits))


def _unpacked_bits(b: Builder, row: FormatRow, *parts: Value) -> list[Value]:
    whole = any(c.coding in (Coding.UINT, Coding.SINT) for c in row.channels.values())
    one = 1 if whole else Constant.of(Type.F32, 1.0).bits
    return [
        _bits(parts, lane) if isinstance(lane, Channel) else b.constant(Type.I32, one * int(lane))
        for lane in row.lanes
    ]


def _bits(parts: Sequence[Value], channel: Channel) -> Value:
    if channel.coding is Coding.SINT:
        return codings.signed_field(parts, channel)
    if channel.coding is Coding.UINT or channel.bits == 8 * PART:
        return codings.field(parts, channel)
    return codings.as_bits(codings.decoded(parts, channel))


def _lanes(row: FormatRow, words: Words, formula: Formula) -> list[Lanes]:
    """Compute a formula, whose parameters are a pixel's 32-bit parts, for each pixel."""
    shape = words.shape if row.words == 1 else words.shape[:-1]
    lanes = computed(formula, row, *parts_of(row, words))
    return [lane if lane.shape == shape else np.full(shape, lane) for lane in lanes]


def read_lane(row: FormatRow, words: Words, channel: Channel) -> F32:
    """Decode one channel of n pixels from their words to float32 (n,)."""
    return computed(_read, channel, *parts_of(row, words))[0]


def _read(b: Builder, channel: Channel, *parts: Value) -> tuple[Value]:
    return (codings.decoded(parts, channel),)


def channel_bits(row: FormatRow, words: Words, channel: Channel) -> NDArray[np.uint32]:
    """Return the bits of one channel of pixel words, uint32 (n,)."""
    return computed(_field_of, channel, *parts_of(row, words))[0].view(np.uint32)


def _field_of(b: Builder, channel: Channel, *parts: Value) -> tuple[Value]:
    return (codings.field(parts, channel),)


def floats_of(color: int | Color) -> Color:
    """Return red, green, blue and alpha of an A8R8G8B8 colour, rounded to float32; a ``Color``
    unchanged.
    """
    if not isinstance(color, int):
        return color
    channels = np.array([color >> shift & 0xFF for shift in (16, 8, 0, 24)], np.float32)
    red, green, blue, alpha = (channels / np.float32(255)).tolist()
    return red, green, blue, alpha


def quantise_depth(row: FormatRow, z: F64) -> Words:
    """Convert z in 0..1 to the depth to compare: uint32, or float32 for 32-bit float formats."""
    (depth,) = computed(_quantised, row, z)
    return _unsigned(np.broadcast_to(depth, z.shape))


def _quantised(b: Builder, row: FormatRow, z: Value) -> tuple[Value]:
    return (quantised(row, z),)


def quantised(row: FormatRow, z: Value) -> Value:
    """Emit the conversion of an F64 z in 0..1 to the value that the depth test compares.

    UNORM: floor(z * max + 0.5) as an I32.  FLOAT of 32 bits: an F32; of 24: its bits, rounded to
    nearest even.  0 for a format without depth.
    """
    b, depth = z.builder, row.depth
    if depth is None:
        return b.constant(Type.I32, 0)
    if depth.coding is Coding.UNORM:
        return b.apply("dtou", z * float(depth.max) + 0.5)
    return b.apply("dtof", z) if depth.bits == 32 else _float24(z)


def _float24(z: Value) -> Value:
    """24-bit float of z in 0..1: exponent bias 15, 20 bits of mantissa; below 2^-14 subnormal."""
    b, least = z.builder, 2.0**-14
    bits = b.apply("aslong", z)
    kept = (bits + ((bits >> 32 & 1) + 0x7FFFFFFF)) >> 32
    normal = b.apply("ltoi", kept - ((1023 - 15) << 20))
    steps = b.apply("dmin", z, least) * 2.0**34
    return b.select(z < least, b.apply("dtoi", b.apply("dround", steps)), normal)


def depth_of(row: FormatRow, parts: Sequence[Value]) -> Value:
    """Emit code that reads the depth in a pixel's 32-bit parts, to compare with ``quantised``."""
    if row.depth is None:
        return parts[0].builder.constant(Type.I32, 0)
    found = codings.field(parts, row.depth)
    return (
        codings.as_float(found)
        if row.depth.coding is Coding.FLOAT and row.depth.bits == 32
        else found
    )


def stored_depth(row: FormatRow, words: Words) -> Words:
    """Return the depth in pixel words, comparable with ``quantise_depth``."""
    return _unsigned(_lanes(row, words, _depth_of)[0])


def _depth_of(b: Builder, row: FormatRow, *parts: Value) -> tuple[Value]:
    return (depth_of(row, parts),)


def stored_stencil(row: FormatRow, words: Words) -> Words:
    """Return the stencil values in pixel words, uint32; 0 for a format without stencil."""
    if row.stencil is None:
        return np.zeros(words.shape, np.uint32)
    return channel_bits(row, words, row.stencil)


def with_depth(row: FormatRow, words: Words, depth: Words) -> Words:
    """Return pixel words with their depth replaced; unchanged for a format without depth."""
    return _with(row, words, row.depth, depth)


def with_stencil(row: FormatRow, words: Words, stencil: Words | int) -> Words:
    """Return pixel words with their stencil replaced by the low bits of values; unchanged for a
    format without stencil.
    """
    return _with(row, words, row.stencil, np.atleast_1d(np.asarray(stencil, np.uint32)))


def _with(row: FormatRow, words: Words, channel: Channel | None, values: Words) -> Words:
    if channel is None:
        return words
    parts = computed(_replaced, channel, values, *parts_of(row, words))
    return words_of(row, parts, words.shape)


def _replaced(b: Builder, channel: Channel, value: Value, *parts: Value) -> list[Value]:
    return codings.with_field(parts, channel, codings.as_bits(value))


def _unsigned(lanes: Lanes) -> Words:
    return lanes.view(np.uint32) if lanes.dtype == np.int32 else lanes


def depth_bits(row: FormatRow, *, depth: bool, stencil: bool) -> int:
    """Return the mask of the depth bits, the stencil bits, or both in pixel words."""
    used = row.depth if depth else None, row.stencil if stencil else None
    return sum(map(_field, used))


# Single channels of pixels as NumPy lanes, coded by ``shader.codings``.


def as_floats(lane: F32 | I32) -> F32:
    """Reinterpret an int32 array as floats with canonical NaNs; a float array is unchanged."""
    floats: F32 = lane.view(np.float32)
    return canonical(floats) if lane.dtype == np.int32 else floats


def encode(channel: Channel, lane: F32 | I32, *, toward_zero: bool = False) -> Words:
    """Encode values as the bits of a channel, in the low bits of uint32 words."""
    return computed(_encoded, (channel, toward_zero), lane)[0].view(np.uint32)


def _encoded(b: Builder, key: tuple[Channel, bool], value: Value) -> tuple[Value]:
    return (codings.encoded(value, key[0], toward_zero=key[1]),)


Color = tuple[float, float, float, float]
"""Red, green, blue and alpha, not limited to 0..1; integers for formats of integers."""

"""Pixel words: floats to the bits of a format, by the rows of ``d3d.formats``.

Formulas see a pixel as parts of 32 bits, of which a smaller one has one.
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
from dp2emu.shader.codings import (
    as_bits,
    as_float,
    decoded,
    encoded,
    field,
    signed_field,
    unit_blue,
    with_field,
)
from dp2emu.shader.formulas import Formula, computed
from dp2emu.shader.ir import Constant
from dp2emu.shader.ops import canonical
from dp2emu.shader.types import I32, Lanes, Type
from dp2emu.shader.values import Value


def color_format(surface: Surface) -> FormatRow:
    """Raises Unsupported if the surface cannot be a render target here."""
    row = ROWS.get(surface.format)
    if row is None or Use.TARGET not in row.uses:
        raise Unsupported(f"render target format {surface.format.sdk}")
    return row


def depth_format(surface: Surface) -> FormatRow:
    """Raises Unsupported if the surface cannot be a depth buffer here."""
    row = ROWS.get(surface.format)
    if row is None or Use.DEPTH not in row.uses:
        raise Unsupported(f"depth buffer format {surface.format.sdk}")
    return row


def _channels(row: FormatRow) -> tuple[Channel | None, ...]:
    return row.red, row.green, row.blue, row.alpha


def _field(channel: Channel | None) -> int:
    return channel.max << channel.shift if channel else 0


def write_bits(row: FormatRow, write_mask: int) -> int:
    """Bits of a pixel that D3DRS_COLORWRITEENABLE lets through; 0 if it is no channel there is.

    Bits that belong to no channel (the X of X8R8G8B8) go with any write.
    """
    written = zip((ColorWrite.RED, ColorWrite.GREEN, ColorWrite.BLUE, ColorWrite.ALPHA),
                  _channels(row), strict=True)  # fmt: skip
    bits = sum(_field(channel) for flag, channel in written if write_mask & flag)
    return bits | unused_bits(row) if bits else 0


def unused_bits(row: FormatRow) -> int:
    """Bits of no channel; they are stored as ones, so that memory is the same everywhere."""
    used = sum(_field(channel) for channel in row.channels.values())
    return every_bit(row) & ~used


def every_bit(row: FormatRow) -> int:
    """All bits of a pixel."""
    return (1 << 8 * row.size) - 1


def parts_of(row: FormatRow, words: Words) -> list[I32]:
    """Pixel words (n,) or (n, row.words) as int32 lanes (n,), the lowest 32 bits first."""
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
    """Pixel words of such lanes, which may lack axes; ``shape`` is that of a lane."""
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
    """Pixel words of four lanes (n,): shape (n,), or (n, row.words) if there are several.

    Lanes are float32, or int32 with the bits of what is stored in 32 bits.
    """
    return words_of(row, computed(packed, row, *rgba), rgba[0].shape)


def packed(b: Builder, row: FormatRow, *rgba: Value) -> list[Value]:
    """Formula: the parts of a pixel, of red, green, blue and alpha.

    Smaller floats are rounded to even, in Direct3D 10 toward zero.
    """
    toward_zero = isinstance(row.format, DxgiFormat)
    unused, parts = unused_bits(row), []
    for part in range(-(-row.size // PART)):
        rest = unused >> 8 * PART * part & 0xFFFFFFFF
        fields = [b.constant(Type.I32, rest)] if rest else []
        for value, channel in zip(rgba, _channels(row), strict=True):
            if channel and channel.shift // (8 * PART) == part:
                code = encoded(value, channel, toward_zero=toward_zero)
                shift = channel.shift % (8 * PART)
                fields.append(code << shift if shift else code)
        parts.append(reduce(or_, fields))
    return parts


PART = 4
"""Bytes of a part of a pixel."""


def unpack_color(row: FormatRow, words: Words) -> tuple[F32, F32, F32, F32]:
    """Red, green, blue and alpha of pixel words as ``pack_color`` gives them, float32 lanes (n,).

    What the format lacks reads as its row says.  Raises Unsupported for palette indexes and
    pixels that share bytes.
    """
    if row.blocked or Use.PALETTE in row.uses:
        raise Unsupported(f"reading pixels of {row.format.sdk}")
    red, green, blue, alpha = _lanes(row, words, unpacked)
    return red, green, blue, alpha


def unpacked(b: Builder, row: FormatRow, *parts: Value) -> list[Value]:
    """Formula: red, green, blue and alpha of the parts of a pixel."""
    rgba = [
        decoded(parts, lane) if isinstance(lane, Channel) else b.constant(Type.F32, lane)
        for lane in row.lanes
    ]
    if row.format is Format.CxV8U8:
        rgba[2] = unit_blue(*rgba[:2])
    return rgba


def unpack_bits(row: FormatRow, words: Words) -> tuple[I32, ...]:
    """Red, green, blue and alpha as int32 lanes (n,): whole numbers, or the bits of floats.

    Floats of 32 bits keep theirs.  What the format lacks is 0, 0, 0 and 1, a whole one where there
    are whole numbers.
    """
    return tuple(_lanes(row, words, _unpacked_bits))


def _unpacked_bits(b: Builder, row: FormatRow, *parts: Value) -> list[Value]:
    whole = any(channel.coding in _WHOLE for channel in row.channels.values())
    one = 1 if whole else Constant.of(Type.F32, 1.0).bits
    return [
        _bits(parts, lane) if isinstance(lane, Channel) else b.constant(Type.I32, one * int(lane))
        for lane in row.lanes
    ]


_WHOLE = frozenset({Coding.UINT, Coding.SINT})


def _bits(parts: Sequence[Value], channel: Channel) -> Value:
    if channel.coding is Coding.SINT:
        return signed_field(parts, channel)
    if channel.coding is Coding.UINT or channel.bits == 8 * PART:
        return field(parts, channel)
    return as_bits(decoded(parts, channel))


def _lanes(row: FormatRow, words: Words, formula: Formula) -> list[Lanes]:
    """What a formula makes of pixels, for each of them."""
    shape = words.shape if row.words == 1 else words.shape[:-1]
    lanes = computed(formula, row, *parts_of(row, words))
    return [lane if lane.shape == shape else np.full(shape, lane) for lane in lanes]


def read_lane(row: FormatRow, words: Words, channel: Channel) -> F32:
    """The values of one channel in pixel words."""
    return computed(_read, channel, *parts_of(row, words))[0]


def _read(b: Builder, channel: Channel, *parts: Value) -> tuple[Value]:
    return (decoded(parts, channel),)


def channel_bits(row: FormatRow, words: Words, channel: Channel) -> NDArray[np.uint32]:
    """The bits of one channel in pixel words, uint32 (n,)."""
    return computed(_field_of, channel, *parts_of(row, words))[0].view(np.uint32)


def _field_of(b: Builder, channel: Channel, *parts: Value) -> tuple[Value]:
    return (field(parts, channel),)


def floats_of(color: int | Color) -> Color:
    """Red, green, blue and alpha of an A8R8G8B8 colour, or the ones given, as float32 values."""
    if not isinstance(color, int):
        return color
    channels = np.array([color >> shift & 0xFF for shift in (16, 8, 0, 24)], np.float32)
    red, green, blue, alpha = (channels / np.float32(255)).tolist()
    return red, green, blue, alpha


def quantise_depth(row: FormatRow, z: F64) -> Words:
    """What the depth test compares, of z in 0..1: uint32, or float32 where the format has it."""
    (depth,) = computed(_quantised, row, z)
    return _unsigned(np.broadcast_to(depth, z.shape))


def _quantised(b: Builder, row: FormatRow, z: Value) -> tuple[Value]:
    return (quantised(row, z),)


def quantised(row: FormatRow, z: Value) -> Value:
    """What the depth test compares, of an F64 in 0..1.

    UNORM: floor(z * max + 0.5) as an I32.  FLOAT of 32 bits: an F32; of 24: its bits, rounded to
    even.  A format without depth has 0 everywhere.
    """
    b, depth = z.builder, row.depth
    if depth is None:
        return b.constant(Type.I32, 0)
    if depth.coding is Coding.UNORM:
        return b.apply("dtou", z * float(depth.max) + 0.5)
    return b.apply("dtof", z) if depth.bits == 32 else _float24(z)


def _float24(z: Value) -> Value:
    """Bits of z in 0..1: 4 of exponent with bias 15, 20 of mantissa; below 2^-14 subnormal."""
    b, least = z.builder, 2.0**-14
    bits = b.apply("aslong", z)
    kept = (bits + ((bits >> 32 & 1) + 0x7FFFFFFF)) >> 32
    normal = b.apply("ltoi", kept - ((1023 - 15) << 20))
    steps = b.apply("dmin", z, least) * 2.0**34
    return b.select(z < least, b.apply("dtoi", b.apply("dround", steps)), normal)


def depth_of(row: FormatRow, parts: Sequence[Value]) -> Value:
    """The depth in the parts of a pixel, as ``quantised`` gives it."""
    if row.depth is None:
        return parts[0].builder.constant(Type.I32, 0)
    found = field(parts, row.depth)
    return as_float(found) if row.depth.coding is Coding.FLOAT and row.depth.bits == 32 else found


def stored_depth(row: FormatRow, words: Words) -> Words:
    """The depth in pixel words, as ``quantise_depth`` gives it."""
    return _unsigned(_lanes(row, words, _depth_of)[0])


def _depth_of(b: Builder, row: FormatRow, *parts: Value) -> tuple[Value]:
    return (depth_of(row, parts),)


def stored_stencil(row: FormatRow, words: Words) -> Words:
    """The stencil values in pixel words, uint32; 0 where they have none."""
    if row.stencil is None:
        return np.zeros(words.shape, np.uint32)
    return channel_bits(row, words, row.stencil)


def with_depth(row: FormatRow, words: Words, depth: Words) -> Words:
    """Pixel words with their depth replaced, if they have one, and everything else kept."""
    return _with(row, words, row.depth, depth)


def with_stencil(row: FormatRow, words: Words, stencil: Words | int) -> Words:
    """Pixel words with their stencil replaced by the low bits of values, where they have one."""
    return _with(row, words, row.stencil, np.atleast_1d(np.asarray(stencil, np.uint32)))


def _with(row: FormatRow, words: Words, channel: Channel | None, values: Words) -> Words:
    if channel is None:
        return words
    parts = computed(_replaced, channel, values, *parts_of(row, words))
    return words_of(row, parts, words.shape)


def _replaced(b: Builder, channel: Channel, value: Value, *parts: Value) -> list[Value]:
    return with_field(parts, channel, as_bits(value))


def _unsigned(lanes: Lanes) -> Words:
    return lanes.view(np.uint32) if lanes.dtype == np.int32 else lanes


def depth_bits(row: FormatRow, *, depth: bool, stencil: bool) -> int:
    """The bits of pixel words in which depth and stencil values lie."""
    used = row.depth if depth else None, row.stencil if stencil else None
    return sum(map(_field, used))


# Single channels of pixels as NumPy lanes: ``shader.codings`` says what their bits stand for.


def as_floats(lane: F32 | I32) -> F32:
    """A lane, or the floats whose bits it has, every NaN the canonical one."""
    floats: F32 = lane.view(np.float32)
    return canonical(floats) if lane.dtype == np.int32 else floats


def encode(channel: Channel, lane: F32 | I32, *, toward_zero: bool = False) -> Words:
    """The bits of a channel, in the low bits of uint32 lanes."""
    return computed(_encoded, (channel, toward_zero), lane)[0].view(np.uint32)


def _encoded(b: Builder, key: tuple[Channel, bool], value: Value) -> tuple[Value]:
    return (codings.encoded(value, key[0], toward_zero=key[1]),)


def decode(channel: Channel, field: Words) -> F32:
    """The value of a channel by its bits, uint32 lanes."""
    return computed(_decoded, Channel(0, channel.bits, channel.coding), field)[0]


def _decoded(b: Builder, channel: Channel, word: Value) -> tuple[Value]:
    return (codings.decoded([word], channel),)


Color = tuple[float, float, float, float]
"""Red, green, blue and alpha, of any value; what is whole in a format of integers."""

"""Decoders of BC6H and BC7, exact in every bit, without branches.

Source: "BC6H Format" and "BC7 Format" of the Direct3D 11 documentation.  The uniform file
``palette`` has the tables, ``bc6h_words`` or ``bc7_words`` of ``d3d.partitioned_blocks``.  A mode
selects positions and widths of fields, so all modes run the same operations.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from dp2emu.d3d import partitioned_blocks as tables
from dp2emu.shader.builder import Builder
from dp2emu.shader.codings import bits, half
from dp2emu.shader.integers import ushr
from dp2emu.shader.texture.fields import TexelSource
from dp2emu.shader.texture.filters import Texel
from dp2emu.shader.types import Type
from dp2emu.shader.values import Number, Value

_NO_ANCHOR = 16
"""Number of a texel that no block has."""
_WEIGHT_BITS = 6
_STEPS = {2: 1398101, 3: 599186, 4: 279620}
"""Bits of an index -> 2**22 / (2**bits - 1), rounded to nearest: the weight of index i is i times
this, rounded to nearest, in 16 fraction bits.  These are the tables aWeights2 to aWeights4."""


class _Block(msgspec.Struct, frozen=True):
    """A block: its four words, and the number of the texel in it, 0 to 15."""

    source: TexelSource
    words: tuple[Value, Value, Value, Value]
    texel: Value

    @classmethod
    def of(cls, source: TexelSource, address: Value, u: Value, v: Value) -> _Block:
        first, second, third, fourth = (source.word(address, number) for number in range(4))
        return cls(source, (first, second, third, fourth), (v & 3) << 2 | u & 3)

    @property
    def b(self) -> Builder:
        return self.source.b

    def table(self, first: int, number: Value, stride: int = 1) -> Value:
        """Load a word of the format's tables."""
        return self.b.load(self.source.files.palette, first, number, stride)

    def field(self, position: Value, mask: Value | int) -> Value:
        """Extract the bits from a computed position on, which may lie in two words."""
        select, shift, (first, second, third, fourth) = self.b.select, position & 31, self.words
        in_first, in_second, in_third = (position < 32 * number for number in (1, 2, 3))
        # Selecting one of four words is cheaper than loading it again.
        word = select(in_second, select(in_first, first, second), select(in_third, third, fourth))
        above = select(in_first, second, select(in_second, third, fourth))
        # Two shifts, since a shift by 32 would be a shift by 0.
        low, high = _shifted_right(word, shift), above << 1 << (31 - shift)
        return (low | high) & mask

    def index(self, start: Value, width: Value, anchors: Sequence[Value]) -> Value:
        """Extract the texel's index; those of texel 0 and of ``anchors`` have one bit less."""
        t = self.texel
        before, shorter = -_one_if_negative(-t), _one_if_negative(t - 1)
        for anchor in anchors:
            before = before - _one_if_negative(anchor - t)
            shorter = shorter | _one_if_negative((t ^ anchor) - 1)
        return self.field(start + t * width + before, _shifted_right(_mask(width), shorter))

    def weight(self, index: Value, width: Value) -> Value:
        """Return the weight of the second endpoint, 0 to 64."""
        step = self.b.constant(Type.I32, _STEPS[4])
        for known in (3, 2):
            step = self.b.select(width.eq(known), _STEPS[known], step)
        return (index * step + 0x8000) >> 16


def _shifted_right(word: Value, shift: Value) -> Value:
    """Shift right by a computed number of bits, filling with zeros."""
    return word.builder.apply("ushr", word, shift)


def _mask(width: Value) -> Value:
    """Return a mask of the lowest ``width`` bits."""
    return ~(width.builder.constant(Type.I32, -1) << width)


def _one_if_negative(value: Value) -> Value:
    return ushr(value, 31)


def _mixed(first: Value, second: Value, weight: Value) -> Value:
    return (first * (64 - weight) + second * weight + 32) >> _WEIGHT_BITS


def _byte(word: Value, number: int) -> Value:
    return bits(word, 8 * number, 8)


# BC7


def bc7(source: TexelSource, address: Value, u: Value, v: Value) -> Texel:
    """Decode a BC7 texel; all channels are 0 in a block of the reserved mode."""
    b, block = source.b, _Block.of(source, address, u, v)
    word = block.words[0]
    low = word & 0xFF
    exponent = ushr(b.asint(b.itof(low & -low)), 23) - 127
    mode = b.select(low.eq(0), tables.BC7_RESERVED, exponent)
    # The partition, or the rotation and the index selector: all lie in the first word.
    head = _shifted_right(word, mode + 1)
    rows = [
        block.table(tables.BC7_MODE_ROWS + n, mode, tables.BC7_MODE_WORDS)
        for n in range(tables.BC7_MODE_WORDS)
    ]
    subset, anchors = _subset(block, head, rows)
    weights = _bc7_weights(block, head, rows, anchors)
    channels = _rotated(block, head, rows[3], _bc7_channels(block, rows, subset, weights))
    red, green, blue, alpha = (b.select(low.eq(0), 0, channel) for channel in channels)
    colors = source.shade(red), source.shade(green), source.shade(blue)
    return *colors, source.shade(alpha, color=False)


def _subset(block: _Block, head: Value, rows: Sequence[Value]) -> tuple[Value, list[Value]]:
    """Return the texel's subset, and the anchors of subsets 1 and 2, 16 if there is none."""
    b, subsets = block.b, _byte(rows[0], 3) >> 1
    number = head & _byte(rows[1], 3)
    two, three = block.table(0, number), block.table(len(tables.TWO_SUBSETS), number)
    split, triple = subsets > 1, subsets > 2
    of_two = _shifted_right(two, block.texel) & 1
    of_three = _shifted_right(three, block.texel << 1) & 3
    subset = b.select(triple, of_three, b.select(split, of_two, 0))
    first = b.select(triple, bits(two, 20, 4), b.select(split, bits(two, 16, 4), _NO_ANCHOR))
    return subset, [first, b.select(triple, bits(two, 24, 4), _NO_ANCHOR)]


def _bc7_weights(
    block: _Block, head: Value, rows: Sequence[Value], anchors: Sequence[Value]
) -> tuple[Value, Value]:
    """Return the weights of colour and of alpha, which may have indices of their own."""
    b, row = block.b, rows[2]
    width, second_width = _byte(row, 1), _byte(row, 3)
    first = block.weight(block.index(_byte(row, 0), width, anchors), width)
    own = block.weight(block.index(_byte(row, 2), second_width, ()), second_width)
    second = b.select(second_width.eq(0), first, own)
    selector = head >> 2 & _byte(rows[3], 1)
    swapped = selector.ne(0)
    return b.select(swapped, second, first), b.select(swapped, first, second)


def _bc7_channels(
    block: _Block, rows: Sequence[Value], subset: Value, weights: tuple[Value, Value]
) -> list[Value]:
    """Return red, green, blue and alpha, 0 to 255, before the rotation."""
    start, width, alpha_width, ends = (_byte(rows[0], n) for n in range(4))
    p_start, has_p, shared = (_byte(rows[1], n) for n in range(3))
    both = shared.ne(0)
    pair = block.field(p_start + block.b.select(both, subset, subset << 1), 3)
    p_bits = [pair & has_p, block.b.select(both, pair, pair >> 1) & has_p]
    found = []
    for channel in range(4):
        alpha = channel == 3
        own = alpha_width if alpha else width
        at = start + ends * (width * channel) + (subset << 1) * own
        ends_here = block.field(at, _mask(own << 1))
        codes = ends_here & _mask(own), _shifted_right(ends_here, own)
        first, second = (
            _widened(code << has_p | p_bit, own + has_p)
            for code, p_bit in zip(codes, p_bits, strict=True)
        )
        found.append(_mixed(first, second, weights[alpha]))
    found[3] = block.b.select(alpha_width.eq(0), 255, found[3])
    return found


def _widened(code: Value, width: Value) -> Value:
    """Widen a channel to 8 bits by repeating its high bits."""
    code = code << (8 - width)
    return code | _shifted_right(code, width)


def _rotated(
    block: _Block, head: Value, row: Value, channels: Sequence[Value]
) -> tuple[Value, ...]:
    """Exchange alpha with the channel that the rotation bits of modes 4 and 5 name."""
    b, rotation = block.b, head & _byte(row, 0)
    *colors, alpha = channels
    swaps = [rotation.eq(n + 1) for n in range(3)]
    turned = [b.select(swap, alpha, color) for swap, color in zip(swaps, colors, strict=True)]
    for swap, color in zip(swaps, colors, strict=True):
        alpha = b.select(swap, color, alpha)
    return *turned, alpha


# BC6H


def bc6h(signed: bool, source: TexelSource, address: Value, u: Value, v: Value) -> Texel:
    """Decode a BC6H texel; red, green and blue are 0 in a block of a reserved mode."""
    b, block = source.b, _Block.of(source, address, u, v)
    words = block.words
    code = words[0] & (tables.BC6H_CODES - 1)
    mode, *spread = (
        block.table(number, code, tables.BC6H_MODE_WORDS)
        for number in range(tables.BC6H_MODE_WORDS)
    )
    two = bits(mode, 18, 1).ne(0)
    partition = block.table(tables.BC6H_CODES * tables.BC6H_MODE_WORDS, bits(words[2], 13, 5))
    other = two & (_shifted_right(partition, block.texel) & 1).ne(0)
    width = b.select(two, b.constant(Type.I32, 3), 4)
    anchor = b.select(two, bits(partition, 16, 4), _NO_ANCHOR)
    start = b.select(two, b.constant(Type.I32, 82), 65)
    weight = block.weight(block.index(start, width, [anchor]), width)
    precision = mode & 31
    ends = _bc6h_ends(block, words, mode, spread, other, signed)
    known = bits(mode, 19, 1).ne(0)
    pairs = (
        tuple(_unquantized(end, precision, signed) for end in channel_ends)
        for channel_ends in ends
    )
    red, green, blue = (
        half(b.select(known, _finished(_mixed(first, second, weight), signed), 0))
        for first, second in pairs
    )
    return red, green, blue, 1.0


def _fixed(words: Sequence[Value], position: int, count: int) -> Value:
    """Extract a field at a constant position, which may lie in two words."""
    number, shift = divmod(position, 32)
    here = min(count, 32 - shift)
    found = bits(words[number], shift, here)
    return found if here == count else found | bits(words[number + 1], 0, count - here) << here


def _bc6h_ends(
    block: _Block,
    words: Sequence[Value],
    mode: Value,
    spread: Sequence[Value],
    second: Value,
    signed: bool,
) -> list[tuple[Value, Value]]:
    """Return both endpoints of red, green and blue of the texel's region."""
    b, precision, two = block.b, mode & 31, bits(mode, 18, 1)
    extra = _spread_bits(words, spread)
    wide = [_fixed(words, 35 + 10 * channel, 10) for channel in range(3)]
    above = _high_bits(wide)
    delta, limit = bits(mode, 17, 1).ne(0), _mask(precision)
    found = []
    for channel, name in enumerate("rgb"):
        high = b.select(two.ne(0), extra[f"{name}w10"], bits(above, 8 * channel, 8))
        first = (_fixed(words, 5 + 10 * channel, 10) | high << 10) & limit
        own = bits(mode, 5 + 4 * channel, 4)
        y, z = _second_region(words, channel, extra)
        other = _other(first, b.select(second, z, wide[channel]), own, delta)
        start = b.select(second, _other(first, y, own, delta), first)
        found.append((_in_range(start, precision, signed), _in_range(other, precision, signed)))
    return found


def _spread_bits(words: Sequence[Value], spread: Sequence[Value]) -> dict[str, Value]:
    """Extract the bits of ``BC6H_SPREAD``, by name; 0 where the mode does not have them."""
    found, (first, second, third, _) = {}, words
    for number, name in enumerate(tables.BC6H_SPREAD):
        place = _byte(spread[number // 4], number % 4)
        select, position = place.builder.select, place & ~tables.SPREAD_HERE
        word = select(position < 32, first, select(position < 64, second, third))
        found[name] = _shifted_right(word, position & 31) & place >> 7
    return found


def _high_bits(wide: Sequence[Value]) -> Value:
    """Return the reversed high 8 bits of three fields of 10 bits, a byte each: bits 10 to 17 of
    the first endpoint's channels in blocks of one region, of which the mode has some.
    """
    word = wide[0] >> 2 | wide[1] >> 2 << 8 | wide[2] >> 2 << 16
    for shift, mask in ((1, 0x555555), (2, 0x333333), (4, 0x0F0F0F)):
        word = (word & mask) << shift | word >> shift & mask
    return word


def _second_region(
    words: Sequence[Value], channel: int, extra: dict[str, Value]
) -> tuple[Value, Value]:
    """Return a channel of both endpoints of region 1, as stored."""
    if channel == 0:
        return _fixed(words, 65, 6), _fixed(words, 71, 6)
    if channel == 1:
        y, z = _fixed(words, 41, 4), _fixed(words, 51, 4)
        return (
            y | extra["gy4"] << 4 | extra["gy5"] << 5,
            z | extra["gz4"] << 4 | extra["gz5"] << 5,
        )
    blue = extra["bz0"]
    for number in range(1, 6):
        blue = blue | extra[f"bz{number}"] << number
    return _fixed(words, 61, 4) | extra["by4"] << 4 | extra["by5"] << 5, blue


def _other(first: Value, stored: Value, width: Value, delta: Value) -> Value:
    """Return an endpoint that is stored in ``width`` bits, as a difference if ``delta``."""
    spare = 32 - width
    at_top = stored << spare
    return first.builder.select(delta, (at_top >> spare) + first, _shifted_right(at_top, spare))


def _in_range(value: Value, precision: Value, signed: bool) -> Value:
    """Wrap an endpoint to its precision; sign-extend it if the format is signed."""
    if not signed:
        return value & _mask(precision)
    # A reserved mode has no bits at all; a shift by 32 is one by 0.
    return value << (32 - precision) >> (32 - precision)


def _unquantized(value: Value, precision: Value, signed: bool) -> Value:
    """The documents' unquantize."""
    b = value.builder
    if not signed:
        scaled = _shifted_right((value << 16) + 0x8000, precision)
        scaled = b.select(value.eq(_mask(precision)), 0xFFFF, scaled)
        return b.select((precision > 14) | value.eq(0), value, scaled)
    negative = value < 0
    size = b.select(negative, -value, value)
    scaled = _shifted_right((size << 15) + 0x4000, precision - 1)
    scaled = b.select(size >= _mask(precision - 1), 0x7FFF, scaled)
    scaled = b.select(size.eq(0), 0, scaled)
    return b.select(precision > 15, value, b.select(negative, -scaled, scaled))


def _finished(value: Value, signed: bool) -> Value:
    """The documents' finish_unquantize: the bits of a half."""
    if not signed:
        return value * 31 >> 6
    b, negative = value.builder, value < 0
    size = b.select(negative, -value, value) * 31 >> 5
    sign: Number = b.select(negative & size.ne(0), b.constant(Type.I32, 0x8000), 0)
    return size | sign

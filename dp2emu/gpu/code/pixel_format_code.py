"""Colours to the bits of a format and back: ``gpu.pixels``, in LLVM instructions.

A pixel is a list of parts, vectors of i32.  Order of lanes does not matter here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.formats import Channel, Coding, FormatRow
from dp2emu.gpu.code.block_writer import Code, Lane
from dp2emu.gpu.command.raster_operations import COPY
from dp2emu.gpu.resource.pixel_format import unused_bits
from dp2emu.shader.ir import Constant
from dp2emu.shader.jit.fractions import fraction
from dp2emu.shader.jit.operations import EMIT, canonical
from dp2emu.shader.jit.writer import ZERO, constant, number
from dp2emu.shader.types import Type

_PART = 32


_EXACT_BITS = range(2, 17)
"""Widths of channels whose codes one fma rounds as the definition does: the product is exact, and
the only tie, at one half, is rounded up to an even number."""


_TWO_23 = 2.0**23


_UNCLEAN = 8
"""Upper bits of 2^23, as a float, that shifting a code to its place may take away."""


def pack(w: Code, row: FormatRow, rgba: Sequence[Lane], held: bool = False) -> list[str]:
    """Parts of pixels of four vectors (``pixels.pack_color``), ``held`` ones within 0..1."""
    parts: list[str] = []
    channels = (row.red, row.green, row.blue, row.alpha)
    unused = unused_bits(row)
    for part in range(max(1, row.size // 4)):
        word = splat(unused >> _PART * part & 0xFFFFFFFF)
        for lane, channel in zip(rgba, channels, strict=True):
            if channel is not None and channel.shift // _PART == part:
                code = _placed(w, channel, _coded(w, row, channel, lane, held))
                word = w(f"or {w.i} {word}, {code}")
        parts.append(word)
    return parts


def splat(value: int) -> str:
    """An i32 in all lanes."""
    return f"splat (i32 {value})" if value else ZERO


def _float(value: float) -> str:
    return constant(Constant.of(Type.F32, value))


def _placed(w: Code, channel: Channel, code: str) -> str:
    shift = channel.shift % _PART
    return w(f"shl {w.i} {code}, {splat(shift)}") if shift else code


def _coded(w: Code, row: FormatRow, channel: Channel, lane: Lane, held: bool) -> str:
    """The bits of a channel (``encodings.encode``)."""
    if channel.coding in _WHOLE:
        return _WHOLE[channel.coding](w, channel, lane.bits(w))
    if channel.coding is Coding.UNORM and held:
        return _held_unorm(w, channel, lane.floats(w))
    if channel.coding is not Coding.FLOAT:
        return _FRACTIONS[channel.coding](w, channel, lane.floats(w))
    if channel.bits == _PART:
        return w(f"bitcast {w.f} {canonical(w, lane.floats(w))} to {w.i}")
    if isinstance(row.format, DxgiFormat):
        return _small_float(w, channel, lane.floats(w))
    return _half(w, lane.floats(w))


def _uint(w: Code, channel: Channel, bits: str) -> str:
    return w.apply("umin", w.i, bits, splat(channel.max))


def _sint(w: Code, channel: Channel, bits: str) -> str:
    most = channel.max >> 1
    held = w.apply("smax", w.i, w.apply("smin", w.i, bits, splat(most)), splat(-most - 1))
    return w(f"and {w.i} {held}, {splat(channel.max)}")


_WHOLE = {Coding.UINT: _uint, Coding.SINT: _sint}


def _unorm(w: Code, channel: Channel, lane: str) -> str:
    return _held_unorm(w, channel, EMIT["saturate"](w, lane))


def _held_unorm(w: Code, channel: Channel, lane: str) -> str:
    return unorm(w, lane, channel.bits, clean=channel.shift % _PART < _UNCLEAN)


def _snorm(w: Code, channel: Channel, lane: str) -> str:
    """-1..1, NaN as 0, to the nearest, half away from 0."""
    one, minus = double(1.0), double(-1.0)
    c = w(f"fpext {w.f} {lane} to {w.d}")
    nan = w(f"fcmp uno {w.d} {c}, {ZERO}")
    low = w.select(nan, w.d, ZERO, minus)
    high = w.select(w(f"fcmp olt {w.d} {c}, {one}"), w.d, c, one)
    c = w.select(w(f"fcmp ogt {w.d} {c}, {minus}"), w.d, high, low)
    scaled = w(f"fmul {w.d} {c}, {double(channel.max >> 1)}")
    negative = w(f"fcmp olt {w.d} {scaled}, {ZERO}")
    beyond = w(f"fadd {w.d} {scaled}, {w.select(negative, w.d, double(-0.5), HALF)}")
    # The conversion cuts towards zero, which is up below it and down above.
    return w(f"and {w.i} {w(f'fptosi {w.d} {beyond} to {w.i}')}, {splat(channel.max)}")


_FRACTIONS = {Coding.UNORM: _unorm, Coding.SNORM: _snorm}


def double(value: float) -> str:
    """A double in all lanes."""
    return f"splat (double {number(value)})"


def unorm(w: Code, lane: str, bits: int, *, clean: bool = True) -> str:
    """floor(c * max + 0.5) of c in 0..1, an i32, whose upper 8 bits may not be ``clean``."""
    largest = (1 << bits) - 1
    if bits in _EXACT_BITS and w.target.fused:
        rounded = w.float_call("fma", lane, _float(largest), _float(_TWO_23))
        found = w(f"bitcast {w.f} {rounded} to {w.i}")
        return w(f"and {w.i} {found}, {splat((1 << 23) - 1)}") if clean else found
    scaled = w(f"fmul {w.d} {w(f'fpext {w.f} {lane} to {w.d}')}, splat (double {number(largest)})")
    return w(f"fptoui {w.d} {w(f'fadd {w.d} {scaled}, {HALF}')} to {w.i}")


HALF = f"splat (double {number(0.5)})"


def _small_float(w: Code, channel: Channel, lane: str) -> str:
    """Five bits of exponent, cut towards zero; without a sign what is negative is 0."""
    signed = channel.bits == 16
    mantissa = channel.bits - 5 - signed
    bits = w(f"bitcast {w.f} {lane} to {w.i}")
    size = w(f"and {w.i} {bits}, {splat(0x7FFFFFFF)}")
    steps = w(
        f"fmul {w.f} {w(f'bitcast {w.i} {size} to {w.f}')}, {_float(2.0 ** (14 + mantissa))}"
    )
    tiny = EMIT["ftoi"](w, steps)
    normal = w(f"lshr {w.i} {w(f'sub {w.i} {size}, {splat(112 << 23)}')}, {splat(23 - mantissa)}")
    found = w.select(w(f"icmp ult {w.i} {size}, {splat(113 << 23)}"), w.i, tiny, normal)
    infinity = 31 << mantissa
    large = w(f"icmp uge {w.i} {size}, {splat(143 << 23)}")
    found = w.select(large, w.i, splat(infinity - 1), found)
    infinite = w(f"icmp eq {w.i} {size}, {splat(_INFINITE)}")
    found = w.select(infinite, w.i, splat(infinity), found)
    found = (
        _signed(w, found, bits)
        if signed
        else w.select(w(f"icmp slt {w.i} {bits}, {ZERO}"), w.i, ZERO, found)
    )
    nan = w(f"icmp ugt {w.i} {size}, {splat(_INFINITE)}")
    return w.select(nan, w.i, splat(infinity | 1 << mantissa - 1), found)


_INFINITE = 0x7F800000


def _signed(w: Code, size: str, bits: str) -> str:
    """Bits of a half with the sign of a float's."""
    sign = w(f"and {w.i} {w(f'lshr {w.i} {bits}, {splat(16)}')}, {splat(0x8000)}")
    return w(f"or {w.i} {size}, {sign}")


def _half(w: Code, lane: str) -> str:
    """Bits of the nearest half, ties to even; a NaN is 0x7E00."""
    bits = w(f"bitcast {w.f} {lane} to {w.i}")
    size = w(f"and {w.i} {bits}, {splat(0x7FFFFFFF)}")
    odd = w(f"and {w.i} {w(f'lshr {w.i} {size}, {splat(13)}')}, {splat(1)}")
    # The exponent loses 112; 0xFFF and the last bit kept round.
    moved = w(f"add {w.i} {w(f'add {w.i} {size}, {odd}')}, {splat(0xC8000FFF)}")
    normal = w(f"lshr {w.i} {moved}, {splat(13)}")
    # The spacing of floats from one half on is the least denormal half.
    beside = w(f"fadd {w.f} {w(f'bitcast {w.i} {size} to {w.f}')}, {_float(0.5)}")
    tiny = w(f"sub {w.i} {w(f'bitcast {w.f} {beside} to {w.i}')}, {splat(0x3F000000)}")
    found = w.select(w(f"icmp ult {w.i} {size}, {splat(0x38800000)}"), w.i, tiny, normal)
    huge = w(f"icmp uge {w.i} {size}, {splat(0x477FF000)}")
    found = w.select(huge, w.i, splat(0x7C00), found)
    nan = w(f"icmp ugt {w.i} {size}, {splat(_INFINITE)}")
    return w.select(nan, w.i, splat(0x7E00), _signed(w, found, bits))


def unpack(w: Code, row: FormatRow, parts: Sequence[str]) -> list[str]:
    """Red, green, blue and alpha of parts as F32 (``pixels.unpack_color``)."""
    return [
        _read(w, lane, parts) if isinstance(lane, Channel) else _float(lane) for lane in row.lanes
    ]


def _read(w: Code, channel: Channel, parts: Sequence[str]) -> str:
    part, shift = divmod(channel.shift, _PART)
    if w.target.rounding and w.width == _WIDE and _is_byte(channel):
        return _byte_value(w, parts[part], shift // 8)
    field = parts[part]
    if shift:
        field = w(f"lshr {w.i} {field}, {splat(shift)}")
    if shift + channel.bits < _PART:
        field = w(f"and {w.i} {field}, {splat(channel.max)}")
    return _DECODED[channel.coding](w, channel, field)


def _is_byte(channel: Channel) -> bool:
    return channel.coding is Coding.UNORM and channel.bits == 8 and channel.shift % 8 == 0


def _byte_value(w: Code, words: str, number: int) -> str:
    """code / 255 of a byte of each word: 2^-32 times the byte four times side by side, rounded up.

    Behind these 32 bits the quotient repeats the byte for ever, and the float has no more than 24
    bits from the byte's first one on; so what is cut off always begins with a one, and is more
    than half of the last place.
    """
    bytes, count = f"<{4 * w.width} x i8>", 4 * w.width
    each = w(f"bitcast {w.i} {words} to {bytes}")
    four = w.picked(bytes, each, "poison", tuple(n // 4 * 4 + number for n in range(count)))
    repeated = w(f"bitcast {bytes} {four} to {w.i}")
    name = "llvm.x86.avx512.uitofp.round.v16f32.v16i32"
    value = w.call(name, w.f, (w.i, repeated), ("i32", str(_UP)))
    return w(f"fmul {w.f} {value}, {_float(2.0**-_PART)}")


_WIDE, _UP = 16, 10
"""Lanes of the conversion, and its rounding: up, without exceptions."""


def _unorm_value(w: Code, channel: Channel, field: str) -> str:
    return fraction(w, w(f"uitofp {w.i} {field} to {w.f}"), channel.max)


def _whole_value(w: Code, channel: Channel, field: str) -> str:
    """A number in two's complement."""
    spare = splat(_PART - channel.bits)
    number_ = w(f"ashr {w.i} {w(f'shl {w.i} {field}, {spare}')}, {spare}")
    return w(f"sitofp {w.i} {number_} to {w.f}")


def _snorm_value(w: Code, channel: Channel, field: str) -> str:
    value = fraction(w, _whole_value(w, channel, field), channel.max >> 1)
    least = _float(-1.0)
    return w.select(w(f"fcmp olt {w.f} {value}, {least}"), w.f, least, value)


def _from_float(w: Code, channel: Channel, field: str) -> str:
    if channel.bits == _PART:
        return w(f"bitcast {w.i} {field} to {w.f}")
    if channel.bits < 16:
        field = w(f"shl {w.i} {field}, {splat(15 - channel.bits)}")
    size = w(f"shl {w.i} {w(f'and {w.i} {field}, {splat(0x7FFF)}')}, {splat(13)}")
    exponent = w(f"and {w.i} {size}, {splat(0x7C00 << 13)}")
    special = w(f"icmp eq {w.i} {exponent}, {splat(0x7C00 << 13)}")
    rise = w.select(special, w.i, splat(224 << 23), splat(112 << 23))
    normal = w(f"add {w.i} {size}, {rise}")
    # A denormal half: as if it had an exponent, less what that exponent alone would be.
    above = w(f"bitcast {w.i} {w(f'add {w.i} {size}, {splat(113 << 23)}')} to {w.f}")
    tiny = w(f"bitcast {w.f} {w(f'fsub {w.f} {above}, {_float(2.0**-14)}')} to {w.i}")
    found = w.select(w(f"icmp eq {w.i} {exponent}, {ZERO}"), w.i, tiny, normal)
    sign = w(f"shl {w.i} {w(f'and {w.i} {field}, {splat(0x8000)}')}, {splat(16)}")
    return w(f"bitcast {w.i} {w(f'or {w.i} {found}, {sign}')} to {w.f}")


_DECODED: dict[Coding, Callable[[Code, Channel, str], str]] = {
    Coding.UNORM: _unorm_value,
    Coding.SNORM: _snorm_value,
    Coding.FLOAT: _from_float,
    Coding.UINT: lambda w, channel, field: w(f"uitofp {w.i} {field} to {w.f}"),
    Coding.SINT: _whole_value,
}
"""Values of the bits of a channel (``encodings.decode``)."""


def combined(w: Code, operation: int, drawn: str, there: str) -> str:
    """A raster operation on parts of pixels (``gpu.command.raster_operations``)."""
    if operation == COPY:
        return drawn
    result = ZERO
    for case in range(4):
        if operation - 1 >> case & 1:
            first = drawn if case & 2 else inverse(w, drawn)
            second = there if case & 1 else inverse(w, there)
            result = w(f"or {w.i} {result}, {w(f'and {w.i} {first}, {second}')}")
    return result


def inverse(w: Code, value: str) -> str:
    """All bits of an i32 the other way."""
    return w(f"xor {w.i} {value}, {splat(0xFFFFFFFF)}")


def mixed(w: Code, mask: str, new: str, old: str) -> str:
    """Bits of one where the mask has ones, and else those of the other."""
    kept = w(f"and {w.i} {old}, {inverse(w, mask)}")
    return w(f"or {w.i} {w(f'and {w.i} {new}, {mask}')}, {kept}")


ONE = double(1.0)


def clamped(w: Code, z: str, low: str = ZERO, high: str = ONE) -> str:
    """Doubles between two others, a NaN being the lower one."""
    above = w.select(w(f"fcmp ogt {w.d} {z}, {low}"), w.d, z, low)
    return w.select(w(f"fcmp olt {w.d} {above}, {high}"), w.d, above, high)

"""Texels of every format: red, green, blue and alpha, from where they lie in memory."""

from __future__ import annotations

from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.enums import Format
from dp2emu.d3d.formats import AnyFormat
from dp2emu.shader.codings import bits, unit_blue
from dp2emu.shader.texture import blocks
from dp2emu.shader.texture.bindings import LimitField
from dp2emu.shader.texture.fields import Decode, Source, plain, read_channel
from dp2emu.shader.texture.filters import Texel
from dp2emu.shader.values import Number, Value

PALETTE_SHIFTS = (16, 8, 0, 24)
"""Red, green, blue and alpha of an A8R8G8B8 word."""


def texel(source: Source, address: Value, u: Value, v: Value) -> Texel:
    """The texel numbered ``u``, ``v`` of the pixel or block at a byte address."""
    decode = _depth if source.row.depth else DECODERS.get(source.row.format, plain)
    found = decode(source, address, u, v)
    return _keyed(source, address, found) if source.key.color_key else found


def _keyed(source: Source, address: Value, found: Texel) -> Texel:
    """All zero where the texel as it is stored lies in the colour key's range.

    Bits without a meaning do not count.  Of a texel of several words or a block the first word
    does.
    """
    b, limits = source.b, source.files.limits
    code = source.codes(address)[0]
    mask = source.row.mask & ((1 << 8 * min(source.row.size, 4)) - 1)
    if mask != 0xFFFFFFFF:
        code = code & mask
    low, high = (b.load(limits, f) for f in (LimitField.KEY_LOW, LimitField.KEY_HIGH))
    inside = b.apply("uge", code, low) & b.apply("uge", high, code)
    red, green, blue, alpha = (b.select(inside, 0.0, channel) for channel in found)
    return red, green, blue, alpha


def _depth(source: Source, address: Value, u: Value, v: Value) -> Texel:
    """The depth in every channel."""
    assert source.row.depth is not None
    found = read_channel(source, source.codes(address), source.row.depth, color=False)
    return found, found, found, found


def _computed_blue(source: Source, address: Value, u: Value, v: Value) -> Texel:
    """CxV8U8: the third component of a vector of length 1, which points out of the surface."""
    red, green, _, alpha = plain(source, address, u, v)
    assert isinstance(red, Value) and isinstance(green, Value)
    return red, green, unit_blue(red, green), alpha


def _palette(source: Source, address: Value, u: Value, v: Value) -> Texel:
    """The entry that the low byte numbers; a second byte is the alpha."""
    (code,) = source.codes(address)
    entry = source.b.load(source.files.palette, 0, code & 0xFF)
    *colors, opacity = (source.shade(bits(entry, shift, 8), color=shift != 24)
                        for shift in PALETTE_SHIFTS)  # fmt: skip
    red, green, blue = colors
    alpha: Number = opacity if source.key.alpha_palette else 1.0
    own = source.row.alpha
    return (
        red,
        green,
        blue,
        alpha if own is None else read_channel(source, (code,), own, color=False),
    )


_EXPONENT_SHIFT, _MANTISSA_BITS, _FLOAT_EXPONENT = 27, 9, 23
_BIAS = 127 - 15 - _MANTISSA_BITS
"""Of exponents of float32 over those that three mantissas share, which have no leading 1."""


def _shared_exponent(source: Source, address: Value, u: Value, v: Value) -> Texel:
    """R9G9B9E5: each mantissa times 2^(e - 24), which is exact."""
    (code,) = source.codes(address)
    exponent = source.b.apply("ushr", code, _EXPONENT_SHIFT) + _BIAS
    scale = source.b.asfloat(exponent << _FLOAT_EXPONENT)
    red, green, blue = (
        source.b.itof(bits(code, _MANTISSA_BITS * n, _MANTISSA_BITS)) * scale for n in range(3)
    )
    return red, green, blue, 1.0


DECODERS: dict[AnyFormat, Decode] = {
    **blocks.DECODERS,
    DxgiFormat.R9G9B9E5_SHAREDEXP: _shared_exponent,
    Format.CxV8U8: _computed_blue,
    Format.P8: _palette,
    Format.A8P8: _palette,
}
"""Formats that are more than their channels side by side."""

"""Texel decoders of every format: red, green, blue and alpha of the texel at a byte address.

``block_decoder`` has the formats whose texels share blocks; ``decode`` converts pictures of them.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dp2emu.d3d.dxgi import ROWS
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.enums import Format
from dp2emu.d3d.formats import AnyFormat
from dp2emu.errors import UsageError
from dp2emu.shader.builder import Builder
from dp2emu.shader.codings import bits, unit_blue
from dp2emu.shader.ir import Program, Stage, TextureKind
from dp2emu.shader.reference import run
from dp2emu.shader.texture.bindings import LimitField
from dp2emu.shader.texture.block_decoder import BLOCK_DECODERS, BLOCK_TABLES, BYTE_DECODERS
from dp2emu.shader.texture.fields import Decode, TexelSource, decode_channels, read_channel
from dp2emu.shader.texture.filters import Texel
from dp2emu.shader.texture.records import SamplerKey
from dp2emu.shader.types import I32, I64, Type
from dp2emu.shader.values import Number, Value

Bytes = NDArray[np.uint8]

PALETTE_SHIFTS = (16, 8, 0, 24)
"""Position of the lowest bit of red, green, blue and alpha in an A8R8G8B8 word."""


def texel(source: TexelSource, address: Value, u: Value, v: Value) -> Texel:
    """Decode texel ``u``, ``v`` of the pixel or block at a byte address, colour key applied."""
    decoder = _depth if source.row.depth else DECODERS.get(source.row.format, decode_channels)
    found = decoder(source, address, u, v)
    return _keyed(source, address, found) if source.key.color_key else found


def _keyed(source: TexelSource, address: Value, found: Texel) -> Texel:
    """Return 0 in all channels where the stored texel is within the colour key range.

    Unused bits are masked out; texels of several words and blocks compare their first word.
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


def _depth(source: TexelSource, address: Value, u: Value, v: Value) -> Texel:
    """Decode a texel of a depth format: its depth in all four channels."""
    assert source.row.depth is not None
    found = read_channel(source, source.codes(address), source.row.depth, color=False)
    return found, found, found, found


def _computed_blue(source: TexelSource, address: Value, u: Value, v: Value) -> Texel:
    """Decode a CxV8U8 texel: blue completes red and green to a unit vector, and is >= 0."""
    red, green, _, alpha = decode_channels(source, address, u, v)
    assert isinstance(red, Value) and isinstance(green, Value)
    return red, green, unit_blue(red, green), alpha


def _palette(source: TexelSource, address: Value, u: Value, v: Value) -> Texel:
    """Decode a palettised texel: the palette entry of the low byte; a second byte is the alpha."""
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
"""What to add to the shared exponent e of an R9G9B9E5 texel to get the exponent field of the
float32 2**(e - 24)."""


def _shared_exponent(source: TexelSource, address: Value, u: Value, v: Value) -> Texel:
    """Decode an R9G9B9E5 texel: each mantissa times 2^(e - 24), exactly."""
    (code,) = source.codes(address)
    exponent = source.b.apply("ushr", code, _EXPONENT_SHIFT) + _BIAS
    scale = source.b.asfloat(exponent << _FLOAT_EXPONENT)
    red, green, blue = (
        source.b.itof(bits(code, _MANTISSA_BITS * n, _MANTISSA_BITS)) * scale for n in range(3)
    )
    return red, green, blue, 1.0


DECODERS: dict[AnyFormat, Decode] = {
    **BLOCK_DECODERS,
    DxgiFormat.R9G9B9E5_SHAREDEXP: _shared_exponent,
    Format.CxV8U8: _computed_blue,
    Format.P8: _palette,
    Format.A8P8: _palette,
}
"""Texture format -> its texel decoder, for formats whose channels are not just bit fields."""

_BAND = 1 << 13
"""Number of pixels of a picture that are decoded at once."""


def decode(format: AnyFormat, data: Bytes | bytes, width: int, height: int) -> Bytes:
    """Decode a picture to red, green, blue and alpha: uint8 (height, width, 4).

    ``data`` is rows of blocks, tightly packed, sizes rounded up to whole blocks.  Raises
    UsageError if its length does not fit, or for a format whose values are not bytes.
    """
    if format not in BYTE_DECODERS:
        raise UsageError(f"{format.sdk} has no blocks of colours")
    row = ROWS[format]
    columns, rows = -(-width // row.block[0]), -(-height // row.block[1])
    raw = np.frombuffer(data, np.uint8)
    if min(width, height) < 1 or len(raw) != columns * rows * row.size:
        raise UsageError(f"{len(raw)} bytes are no {width} x {height} pixels of {format.sdk}")
    words = np.concatenate((raw, np.zeros(-len(raw) % 4, np.uint8))).view(np.int32)
    texels = np.empty((width * height, 4), np.uint8)
    for first in range(0, len(texels), _BAND):
        v, u = np.divmod(np.arange(first, min(first + _BAND, len(texels))), width)
        block = v // row.block[1] * columns + u // row.block[0]
        texels[first : first + _BAND] = _decoded(format, words, block * row.size, u, v)
    return texels.reshape(height, width, 4)


def _decoded(format: AnyFormat, words: I32, address: I64, u: I64, v: I64) -> Bytes:
    program = _texel_program(format)
    places = {"address": address, "u": u, "v": v}
    inputs = {name: place.astype(np.int32) for name, place in places.items()}
    nothing = {file.name: np.zeros(0, file.type.dtype) for file in program.files}
    files = nothing | {"texels": words}
    if format in BLOCK_TABLES:
        files["palette"] = BLOCK_TABLES[format]()
    outputs = run(program, inputs, files, len(u)).outputs
    return np.rint(np.stack([*outputs.values()], axis=-1) * np.float32(255)).astype(np.uint8)


@lru_cache(maxsize=len(BYTE_DECODERS))
def _texel_program(format: AnyFormat) -> Program:
    """Return a program that decodes texel ``u``, ``v`` of the block at the input ``address``."""
    b = Builder(Stage.COMPUTE)
    source = TexelSource.of(b, SamplerKey(TextureKind.TEX2D, format))
    place = [b.input(name, Type.I32) for name in ("address", "u", "v")]
    for component, value in zip("rgba", BYTE_DECODERS[format](source, *place), strict=True):
        b.output(component, value)
    return b.program()

"""Pixel words: floats to the bits of a format, by the rows of ``d3d.formats``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dp2emu.d3d.flags import ColorWrite
from dp2emu.d3d.formats import COLOR, DEPTH, Channel, ColorFormat, DepthFormat
from dp2emu.errors import Unsupported
from dp2emu.gpu.arrays import F32, F64, Words
from dp2emu.gpu.memory import Surface


def color_format(surface: Surface) -> ColorFormat:
    """Raises Unsupported if the surface cannot be a render target here."""
    _require_one_sample(surface)
    row = COLOR.get(surface.format)
    if row is None:
        raise Unsupported(f"render target format {surface.format.sdk}")
    return row


def depth_format(surface: Surface) -> DepthFormat:
    """Raises Unsupported if the surface cannot be a depth buffer here."""
    _require_one_sample(surface)
    row = DEPTH.get(surface.format)
    if row is None:
        raise Unsupported(f"depth buffer format {surface.format.sdk}")
    return row


def _require_one_sample(surface: Surface) -> None:
    if surface.samples > 1:
        raise Unsupported("multisampled surfaces")


def _channels(row: ColorFormat) -> tuple[Channel | None, ...]:
    return row.red, row.green, row.blue, row.alpha


def _field(channel: Channel | None) -> int:
    return channel.max << channel.shift if channel else 0


def write_bits(row: ColorFormat, write_mask: int) -> int:
    """Bits of a word that D3DRS_COLORWRITEENABLE lets through; 0 if it is no channel there is.

    Bits that belong to no channel (the X of X8R8G8B8) go with any write.
    """
    written = zip((ColorWrite.RED, ColorWrite.GREEN, ColorWrite.BLUE, ColorWrite.ALPHA),
                  _channels(row), strict=True)  # fmt: skip
    bits = sum(_field(channel) for flag, channel in written if write_mask & flag)
    return bits | unused_bits(row) if bits else 0


def unused_bits(row: ColorFormat) -> int:
    """Bits of no channel; they are stored as ones, so that memory is the same everywhere."""
    used = sum(_field(channel) for channel in _channels(row))
    return (1 << 8 * row.word.itemsize) - 1 & ~used


def pack_color(row: ColorFormat, rgba: Sequence[F32]) -> Words:
    """Words of four lanes of 0..1: each channel is floor(c * max + 0.5)."""
    words = np.full(rgba[0].shape, unused_bits(row), np.uint32)
    for lane, channel in zip(rgba, _channels(row), strict=True):
        if channel:
            value = np.floor(lane.astype(np.float64) * channel.max + 0.5)
            words |= value.astype(np.uint32) << np.uint32(channel.shift)
    return words.astype(row.word)


def unpack_color(row: ColorFormat, words: Words) -> tuple[F32, ...]:
    """Four float32 lanes from words: each channel is c / max, a missing alpha 1."""
    wide = words.astype(np.uint32)
    return tuple(_unpacked(channel, wide) for channel in _channels(row))


def _unpacked(channel: Channel | None, words: Words) -> F32:
    if channel is None:
        return np.ones(words.shape, np.float32)
    value = words >> np.uint32(channel.shift) & np.uint32(channel.max)
    return value.astype(np.float32) / np.float32(channel.max)


def argb_floats(color: int) -> tuple[float, ...]:
    """Red, green, blue and alpha of an A8R8G8B8 colour, as float32 values."""
    channels = np.array([color >> shift & 0xFF for shift in (16, 8, 0, 24)], np.float32)
    values: list[float] = (channels / np.float32(255)).tolist()
    return tuple(values)


def quantise_depth(row: DepthFormat, z: F64) -> Words:
    """What the depth test compares: floor(z * max + 0.5) as uint32, or float32.  z is 0..1."""
    if row.depth is None:
        return z.astype(np.float32)
    return np.floor(z * row.depth.max + 0.5).astype(np.uint32)


def stored_depth(row: DepthFormat, words: Words) -> Words:
    """The depth in pixel words, as ``quantise_depth`` gives it."""
    if row.depth is None:
        return words
    return words.astype(np.uint32) >> np.uint32(row.depth.shift) & np.uint32(row.depth.max)


def with_depth(row: DepthFormat, words: Words, depth: Words) -> Words:
    """Pixel words with their depth replaced and everything else kept."""
    if row.depth is None:
        return depth
    kept = words.astype(np.uint32) & np.uint32(0xFFFFFFFF & ~_field(row.depth))
    return (kept | depth << np.uint32(row.depth.shift)).astype(row.word)


def with_stencil(row: DepthFormat, words: Words, stencil: int) -> Words:
    """Pixel words with their stencil replaced by the low bits of a value, where they have one."""
    if row.stencil is None:
        return words
    kept = words.astype(np.uint32) & np.uint32(0xFFFFFFFF & ~_field(row.stencil))
    value = (stencil & row.stencil.max) << row.stencil.shift
    return (kept | np.uint32(value)).astype(row.word)

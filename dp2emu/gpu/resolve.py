"""Resolving: one pixel from its samples."""

from __future__ import annotations

import numpy as np

from dp2emu.d3d.formats import Channel, Coding, FormatRow
from dp2emu.gpu.arrays import Words
from dp2emu.gpu.light import decoded, encoded
from dp2emu.gpu.pixels import pack_color, unpack_color, unused_bits

_BAND = 1 << 18
"""Pixel words averaged together: in between they take several times their size."""


def resolve(row: FormatRow, words: Words, samples: int) -> Words:
    """The averages of samples that lie side by side, in the format they are stored in.

    ``words`` has shape (height, width * samples), or (height, width * samples, row.words) if
    pixels have several; the result has width in the place of width * samples.  What a channel
    stores is averaged, rounding half up; floats, fractions with a sign and sRGB codes, which are
    averaged in linear light, are added in float64 from the first sample on, divided, and rounded
    to float32 and then to what is stored.  Bits of no channel become ones.
    Which average an implementation takes Direct3D leaves open.
    """
    signed = any(channel.coding is Coding.SNORM for channel in row.channels.values())
    by_value = row.floating or signed or row.srgb
    average = _float_average if by_value else _whole_average
    height, columns, *rest = words.shape
    resolved = np.empty((height, columns // samples, *rest), words.dtype)
    step = max(1, _BAND // columns)
    for top in range(0, height, step):
        band = words[top : top + step]
        apart = band.reshape(len(band), -1, samples, *rest)
        resolved[top : top + step] = average(row, apart, samples)
    return resolved


def _whole_average(row: FormatRow, words: Words, samples: int) -> Words:
    """Of words (rows, pixels, samples, ...), channel by channel in uint64."""
    bits = 8 * row.word.itemsize
    unused = unused_bits(row)
    parts = [np.full(words.shape[:2], unused >> bits * part & (1 << bits) - 1, np.uint64)
             for part in range(row.words)]  # fmt: skip
    for channel in row.channels.values():
        part, shift = divmod(channel.shift, bits)
        source = words if row.words == 1 else words[..., part]
        parts[part] |= _mean(source, channel, shift, samples) << np.uint64(shift)
    whole = parts[0] if row.words == 1 else np.stack(parts, axis=-1)
    return whole.astype(row.word)


def _mean(words: Words, channel: Channel, shift: int, samples: int) -> Words:
    fields = words.astype(np.uint64) >> np.uint64(shift) & np.uint64(channel.max)
    total: Words = fields.sum(axis=2, dtype=np.uint64) + np.uint64(samples // 2)
    return total // np.uint64(samples)


def _float_average(row: FormatRow, words: Words, samples: int) -> Words:
    """Of words (rows, pixels, samples, ...)."""
    means = []
    with np.errstate(all="ignore"):
        for lane in decoded(row, unpack_color(row, words)):
            total = lane[:, :, 0].astype(np.float64)
            for sample in range(1, samples):
                total += lane[:, :, sample]
            means.append((total / samples).astype(np.float32))
        return pack_color(row, encoded(row, means))

"""Resolving: one pixel from its samples."""

from __future__ import annotations

import numpy as np

from dp2emu.d3d.formats import Channel, Coding, FormatRow
from dp2emu.gpu.arrays import Words
from dp2emu.gpu.resource.pixel_format import pack_color, unpack_color, unused_bits
from dp2emu.gpu.resource.srgb import decoded, encoded

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
    """Of words (rows, pixels, samples, ...)."""
    if row.words == 1 and row.size <= _LANE // 8:
        return _narrow_average(row, words, samples)
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


_LANE = 32
"""Bits in which channels are added that lie far enough from each other."""


def _narrow_average(row: FormatRow, words: Words, samples: int) -> Words:
    """Several channels at a time, as long as their sums have room beside each other."""
    spare = samples.bit_length() - 1
    resolved = np.full(words.shape[:2], unused_bits(row), np.uint32)
    for channels in _groups(row, spare):
        first = channels[0].shift
        places = [channel.shift - first for channel in channels]
        mask = sum(c.max << place for c, place in zip(channels, places, strict=True))
        half = sum(samples // 2 << place for place in places)
        fields = words.astype(np.uint32, copy=False) >> np.uint32(first) & np.uint32(mask)
        total = fields[:, :, 0] + np.uint32(half)
        for sample in range(1, samples):
            total += fields[:, :, sample]
        resolved |= (total >> np.uint32(spare) & np.uint32(mask)) << np.uint32(first)
    return resolved.astype(row.word, copy=False)


def _groups(row: FormatRow, spare: int) -> list[list[Channel]]:
    """Channels that are added together, each with so many bits to ``spare`` above it."""
    groups: list[list[Channel]] = []
    for channel in sorted(row.channels.values(), key=lambda channel: channel.shift):
        end = channel.shift + channel.bits + spare
        for group in groups:
            below = group[-1]
            apart = channel.shift - below.shift - below.bits >= spare
            if apart and end - group[0].shift <= _LANE:
                group.append(channel)
                break
        else:
            groups.append([channel])
    return groups


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

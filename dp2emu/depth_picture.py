"""Pictures of depth-stencil surfaces, in grey: black is 0, white the largest value."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dp2emu.d3d.enums import Format
from dp2emu.d3d.formats import DEPTH, Channel, Coding, FormatRow
from dp2emu.errors import Unsupported
from dp2emu.gpu.resource.heap import Surface
from dp2emu.gpu.resource.pixel_format import stored_depth, stored_stencil
from dp2emu.picture import Picture

DEPTHS = frozenset(int(f) for f, row in DEPTH.items() if isinstance(f, Format) and row.depth)
"""D3DFORMATs of surfaces with depth to show."""
STENCILS = frozenset(int(f) for f, row in DEPTH.items() if isinstance(f, Format) and row.stencil)
"""D3DFORMATs of surfaces with a stencil to show."""

_FLOAT24_BIAS = 15
_FLOAT24_MANTISSA = 20


def grey(row: FormatRow, words: NDArray[Any]) -> NDArray[np.uint8]:
    """The depth in pixel words as 8-bit grey, the high half of what ``take_depth`` shows; of a
    format without depth its stencil.
    """
    if row.depth is not None:
        return (_deep(row, row.depth, words) >> 8).astype(np.uint8)
    if row.stencil is None:
        raise Unsupported(f"picture of the depth of {row.format.sdk}")
    return _filled(stored_stencil(row, words), row.stencil, 8).astype(np.uint8)


def take_depth(surface: Surface) -> Picture:
    """Depth as a picture of 16-bit grey; of a multisampled surface its first samples.

    Whole numbers show their 16 high bits, or all of them repeated until 16 are full; floats are
    clamped to 0..1 and rounded half up.  Raises Unsupported for a surface without depth.
    """
    row = _format(surface, "depth")
    if row.depth is None:
        raise Unsupported(f"picture of the depth of {row.format.sdk}")
    words = surface.pixels()
    image = _deep(row, row.depth, words[:, :: surface.samples])
    return Picture(row.format, zlib.crc32(words.tobytes()), image)


def _deep(row: FormatRow, channel: Channel, words: NDArray[Any]) -> NDArray[np.uint16]:
    return _CODED[channel.coding](stored_depth(row, words), channel).astype(np.uint16)


def take_stencil(surface: Surface) -> Picture:
    """The stencil as a picture of 8-bit grey; of a multisampled surface its first samples.

    Fewer bits are repeated until eight are full.  Raises Unsupported for a surface without.
    """
    row = _format(surface, "stencil")
    if row.stencil is None:
        raise Unsupported(f"picture of the stencil of {row.format.sdk}")
    words = surface.pixels()
    stencil = stored_stencil(row, words[:, :: surface.samples])
    image = _filled(stencil, row.stencil, 8).astype(np.uint8)
    return Picture(row.format, zlib.crc32(words.tobytes()), image)


def _format(surface: Surface, what: str) -> FormatRow:
    row = DEPTH.get(surface.format)
    if row is None:
        raise Unsupported(f"picture of the {what} of {surface.format.sdk}")
    return row


def _floats(depth: NDArray[Any], channel: Channel) -> NDArray[Any]:
    """0..1 as 0..65535; NaN is 0."""
    wide = depth.astype(np.float64) if channel.bits == 32 else _float24(depth)
    inside = np.where(wide > 0, np.where(wide < 1, wide, 1.0), 0.0)
    return np.floor(inside * 65535 + 0.5)


def _whole(depth: NDArray[Any], channel: Channel) -> NDArray[Any]:
    return _filled(depth, channel, 16)


_CODED = {Coding.FLOAT: _floats, Coding.UNORM: _whole}


def _filled(field: NDArray[Any], channel: Channel, bits: int) -> NDArray[np.uint32]:
    """Fields of a channel in ``bits`` bits."""
    excess = channel.bits - bits
    wide = field.astype(np.uint32)
    wide = wide >> np.uint32(excess) if excess > 0 else wide << np.uint32(-excess)
    filled = channel.bits
    while filled < bits:
        wide |= wide >> np.uint32(filled)
        filled *= 2
    return wide


def _float24(bits: NDArray[Any]) -> NDArray[np.float64]:
    """The depth of 24-bit floats: 4 bits of exponent, 20 of mantissa, denormal below 2^-14."""
    exponent = bits.astype(np.int64) >> _FLOAT24_MANTISSA
    mantissa = bits.astype(np.int64) & (1 << _FLOAT24_MANTISSA) - 1
    leading = np.where(exponent > 0, 1 << _FLOAT24_MANTISSA, 0)
    power = np.maximum(exponent, 1) - _FLOAT24_BIAS - _FLOAT24_MANTISSA
    value: NDArray[np.float64] = np.ldexp((mantissa + leading).astype(np.float64), power)
    return value

"""Planar YUV formats: bytes of the planes that a host sees, by place in the blocks that the GPU
stores.

Source: "Recommended 8-Bit YUV Formats for Video Rendering".  YV12 is a plane of Y, then one of V
and one of U, of half the width and height and half the pitch.  NV12 has one plane of U, V pairs in
place of the last two.  The GPU stores blocks of 2 x 2 texels: four Y, U, V; both forms have the
same size, so that a surface's memory is a permutation of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dp2emu.d3d.enums import Format
from dp2emu.d3d.formats import AnyFormat
from dp2emu.gpu.arrays import I64
from dp2emu.gpu.resource.subresources import Subresource

PLANAR: frozenset[AnyFormat] = frozenset({Format.YV12, Format.NV12})
"""The formats whose memory is planes to a host."""

_BLOCK = 6
_LUMA = 4
_BAND = 1 << 20
"""Number of bytes that are moved between planes and blocks at a time."""


class Plane(NamedTuple):
    """A plane of an image: ``rows`` of ``width`` bytes; the image's pitch is ``share`` times the
    plane's.
    """

    width: int
    rows: int
    share: int


def planes_of(format: AnyFormat, columns: int, rows: int) -> tuple[Plane, ...]:
    """The planes of an image of ``columns`` x ``rows`` blocks of 2 x 2 texels, in order."""
    luma = Plane(2 * columns, 2 * rows, 1)
    if format is Format.NV12:
        return luma, Plane(2 * columns, rows, 1)
    return luma, Plane(columns, rows, 2), Plane(columns, rows, 2)


def packed_planes(format: AnyFormat, columns: int, rows: int, data: bytes, pitch: int) -> bytes:
    """The bytes of an image's planes without padding, from ``data`` with ``pitch`` bytes from row
    to row of Y, 0 without padding; fewer if ``data`` is incomplete.
    """
    parts, start = [], 0
    for plane in planes_of(format, columns, rows):
        step = pitch // plane.share or plane.width
        for row in range(plane.rows):
            at = start + row * step
            parts.append(data[at : at + plane.width])
        start += plane.rows * step
    return b"".join(parts)


def host_image(format: AnyFormat, columns: int, rows: int, blocks: bytes) -> bytes:
    """The planes, without padding, of an image of stored ``blocks``."""
    stored = np.frombuffer(blocks, np.uint8)
    return stored[_places(format, columns, rows, 0, len(stored))].tobytes()


def host_bytes(
    format: AnyFormat, parts: Sequence[Subresource], stored: NDArray[np.uint8], offset: int,
    size: int,
) -> bytes:  # fmt: skip
    """``size`` bytes of planes from byte ``offset`` of a surface's memory, whose blocks are
    ``stored`` and whose levels are ``parts``.
    """
    spans = _spans(format, parts, offset, size)
    return b"".join(stored[places].tobytes() for _, places in spans)


def store_host_bytes(
    format: AnyFormat, parts: Sequence[Subresource], stored: NDArray[np.uint8], offset: int,
    data: bytes,
) -> None:  # fmt: skip
    """Store bytes of planes at byte ``offset`` of a surface's memory; as ``host_bytes``."""
    given = np.frombuffer(data, np.uint8)
    for start, places in _spans(format, parts, offset, len(data)):
        stored[places] = given[start - offset : start - offset + len(places)]


def _spans(
    format: AnyFormat, parts: Sequence[Subresource], offset: int, size: int
) -> Iterator[tuple[int, I64]]:
    """Yield (first byte, places of its and the following bytes) for runs of a range of bytes."""
    for part in parts:
        columns, slice_bytes = part.pitch // _BLOCK, part.slice_pitch
        for number in range(part.depth):
            base = part.offset - parts[0].offset + number * slice_bytes
            first, end = max(offset, base), min(offset + size, base + slice_bytes)
            for start in range(first, end, _BAND):
                count = min(end - start, _BAND)
                yield start, base + _places(format, columns, part.rows, start - base, count)


def _places(format: AnyFormat, columns: int, rows: int, start: int, count: int) -> I64:
    """Offsets, in an image of blocks, of ``count`` bytes of its planes from byte ``start`` on."""
    at = np.arange(start, start + count, dtype=np.int64)
    y, x = np.divmod(at, 2 * columns)
    luma = (y // 2 * columns + x // 2) * _BLOCK + y % 2 * 2 + x % 2
    chroma = at - _LUMA * columns * rows
    if format is Format.NV12:
        block, which = np.divmod(chroma, 2)
    else:
        plane, block = np.divmod(chroma, columns * rows)
        which = 1 - plane
    return np.where(chroma < 0, luma, block * _BLOCK + _LUMA + which)

"""Surface contents as a program reads them: rows without padding, and 8-bit RGBA pictures.

Formats without alpha are opaque, but the X of a 32-bit format is shown as the alpha stored there.
Depth, or the stencil of a format without depth, is grey.  Other conversions are those of
``dp2emu.picture``.  A multisampled surface is resolved; the first samples are read of depth, of
integers and of typeless formats, which have no average.  Slices of a volume follow each other
from top to bottom.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dp2emu.d3d.dxgi import ROWS
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.enums import Format
from dp2emu.d3d.formats import FORMATS, AnyFormat, Coding, FormatRow, Use
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.sdk import sdk_name
from dp2emu.errors import Fault, Unsupported
from dp2emu.gpu.resource.heap import BUFFERS, VOLUMES, Surface, SurfaceDesc, layout_of
from dp2emu.gpu.resource.subresources import Subresource
from dp2emu.gpu.transfer.copy_resolve import resolve
from dp2emu.picture import Picture, grey, has_picture, rgba
from dp2emu.shader.texture.texels import decode

_BAND = 1 << 20
"""Number of pixels that are converted to a picture at a time."""
_ALPHA: dict[AnyFormat, AnyFormat] = {
    Format.X8R8G8B8: Format.A8R8G8B8,
    Format.X8B8G8R8: Format.A8B8G8R8,
}
"""D3DFORMAT with an alpha channel, by the format that has an unused X channel in its place."""


class Rows(NamedTuple):
    """The content of a level with all its slices, from top to bottom, without padding.

    ``memory`` is uint8 (rows of pixels or blocks, bytes per row); ``width`` and ``height`` in
    pixels.
    """

    format: AnyFormat
    row: FormatRow
    memory: NDArray[np.uint8]
    width: int
    height: int


def check_readback(desc: SurfaceDesc, index: int = 0) -> None:
    """Check that level ``index`` of a surface can be read.

    Raises Fault if the level does not exist, Unsupported for buffers and DXGI formats.
    """
    if desc.dxgi is not None or desc.format not in FORMATS:
        name = desc.dxgi.sdk if desc.dxgi else sdk_name(Format, desc.format)
        raise Unsupported(f"picture of {name or f'format {desc.format:#x}'}")
    levels = len(layout_of(desc))
    if index >= levels:
        what = f"surface {desc.handle} has {levels} levels, not {index}"
        raise Fault(HResult.DDERR_INVALIDPARAMS, what)


def read_rows(surface: Surface, index: int = 0) -> Rows:
    """The rows of level ``index`` of a surface.  Raises as ``check_readback`` does."""
    check_readback(surface.desc, index)
    format = Format(surface.desc.format)
    row, level = FORMATS[format], surface.subresources[index]
    slices = level.rows * row.block[1] * level.depth
    height = level.height if level.depth == 1 else slices
    return Rows(format, row, _tight(surface, row, level), level.width, height)


def _tight(surface: Surface, row: FormatRow, level: Subresource) -> NDArray[np.uint8]:
    start = level.offset - surface.subresources[0].offset
    data = surface.host_copy.data[start : start + level.size].reshape(-1, level.pitch)
    used = -(-level.width // row.block[0]) * row.size
    if surface.samples == 1:
        return data[:, :used]
    words = data[:, : used * surface.samples].view(row.word)
    if not _has_average(row):
        words = words.reshape(len(words), -1, surface.samples, row.words)[:, :, 0]
        return np.ascontiguousarray(words).view(np.uint8).reshape(len(words), used)
    words = words if row.words == 1 else words.reshape(len(words), -1, row.words)
    resolved = np.ascontiguousarray(resolve(row, words, surface.samples))
    return resolved.view(np.uint8).reshape(len(words), used)


def _has_average(row: FormatRow) -> bool:
    """Whether a pixel of several samples has an average: colours that are no integers."""
    codings = {channel.coding for channel in row.channels.values()}
    return bool(codings - {Coding.UINT, Coding.SINT}) and Use.DEPTH not in row.uses


def take_readback(surface: Surface, index: int = 0) -> Picture:
    """The picture of level ``index`` of a surface, with the CRC-32 of its rows without padding.

    Raises as ``read_rows`` does.
    """
    rows = read_rows(surface, index)
    crc32 = 0
    for _, band in _bands(rows):
        crc32 = zlib.crc32(band.memory.tobytes(), crc32)
    return Picture(rows.format, crc32, _image(rows))


def tight_image(
    format: DxgiFormat, data: bytes, size: tuple[int, int, int]
) -> NDArray[np.uint8] | None:
    """The picture, uint8 (height, width, 4), of rows without padding; None for formats without.

    ``size`` is width, height and depth in pixels; the slices of a volume follow each other.
    """
    row, (width, height, depth) = ROWS.get(format), size
    if row is None or not (has_picture(format) or Use.DEPTH in row.uses):
        return None
    columns = -(-width // row.block[0]) * row.size
    memory = np.frombuffer(data, np.uint8).reshape(-1, columns)
    slices = -(-height // row.block[1]) * row.block[1] * depth
    return _image(Rows(format, row, memory, width, height if depth == 1 else slices))


def _image(rows: Rows) -> NDArray[np.uint8]:
    image = np.empty((rows.height, rows.width, 4), np.uint8)
    for top, band in _bands(rows):
        image[top : top + band.height] = _shown(band)
    return image


def _bands(rows: Rows) -> Iterator[tuple[int, Rows]]:
    """Yield (number of the first row of pixels, ``Rows``) of bands of a level, top to bottom."""
    step = max(1, _BAND // (rows.width * rows.row.block[1]))
    for first in range(0, len(rows.memory), step):
        memory, top = rows.memory[first : first + step], first * rows.row.block[1]
        height = min(len(memory) * rows.row.block[1], rows.height - top)
        yield top, rows._replace(memory=memory, height=height)


def _shown(rows: Rows) -> NDArray[np.uint8]:
    format, row = rows.format, rows.row
    if row.blocked:
        return decode(format, rows.memory.tobytes(), rows.width, rows.height)
    words: NDArray[Any] = np.ascontiguousarray(rows.memory).view(row.word)
    words = words if row.words == 1 else words.reshape(len(words), -1, row.words)
    if Use.DEPTH in row.uses:
        return _opaque(np.repeat(grey(row, words)[..., None], 3, axis=-1))
    shown = rgba(words, _ALPHA.get(format, format))
    return shown if shown.shape[-1] == 4 else _opaque(shown)


def _opaque(shown: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return np.concatenate([shown, np.full((*shown.shape[:-1], 1), 255, np.uint8)], axis=-1)


class Content(NamedTuple):
    """The content of a subresource of a Direct3D 10/11 resource.

    ``data`` are all its bytes, in rows without padding; ``size`` is width, height and depth in
    texels, for a buffer (``format`` UNKNOWN) its bytes, 1 and 1.  ``flat``: it is no volume.
    """

    format: DxgiFormat
    data: bytes
    size: tuple[int, int, int]
    flat: bool

    @property
    def image(self) -> NDArray[np.uint8] | None:
        """The texels as red, green, blue and alpha, uint8 (height, width, 4); None unless these
        are the four bytes of a texel, and for volumes.
        """
        order = _BYTE_ORDERS.get(self.format)
        if order is None or not self.flat:
            return None
        width, height, _ = self.size
        return np.frombuffer(self.data, np.uint8).reshape(height, width, 4)[..., order]


_BYTE_ORDERS: dict[DxgiFormat, list[int]] = {
    format: order
    for layout, order in (
        ("R8G8B8A8", [0, 1, 2, 3]), ("B8G8R8A8", [2, 1, 0, 3]), ("B8G8R8X8", [2, 1, 0, 3]),
    )
    for coding in ("TYPELESS", "UNORM", "UNORM_SRGB", "UINT")
    if (format := DxgiFormat.__members__.get(f"{layout}_{coding}"))
}  # fmt: skip
"""DXGI_FORMAT whose texels are bytes from 0 to 255 -> which byte of a texel is red, green, blue
and alpha, or the unused X in its place."""


def take_content(surface: Surface, index: int = 0) -> Content:
    """The content of subresource ``index`` of the memory of a Direct3D 10/11 resource, which must
    exist.
    """
    desc = surface.desc
    if desc.kind in BUFFERS:
        return Content(DxgiFormat.UNKNOWN, surface.data.tobytes(), (desc.width, 1, 1), True)
    format, part = DxgiFormat(surface.format), surface.subresources[index]
    data = _tight(surface, ROWS[format], part).tobytes()
    return Content(format, data, (part.width, part.height, part.depth), desc.kind not in VOLUMES)


def first_difference(found: bytes, expected: bytes) -> int:
    """Number of the first byte in which two byte strings differ, or their common length."""
    common = min(len(found), len(expected))
    pair = (np.frombuffer(data, np.uint8, common) for data in (found, expected))
    differing = np.flatnonzero(np.not_equal(*pair))
    return int(differing[0]) if len(differing) else common


class Texel(NamedTuple):
    """A pixel, or block of pixels, with a difference: position (``x``, ``y``) in pixels of its top
    left corner, and its bytes ``found`` in the surface and ``expected``.
    """

    x: int
    y: int
    found: bytes
    expected: bytes


def differing_texel(surface: Surface, index: int, expected: bytes) -> Texel | None:
    """The first pixel whose bytes differ from ``expected``, which has rows without padding; None
    if all bytes are equal.

    A different length is a difference after the last common pixel.  Raises as ``read_rows`` does.
    """
    rows = read_rows(surface, index)
    found = rows.memory.tobytes()
    if found == expected:
        return None
    size, (wide, high) = rows.row.size, rows.row.block
    at = first_difference(found, expected) // size * size
    y, x = divmod(at, rows.memory.shape[1])
    texel = slice(at, at + size)
    return Texel(x // size * wide, y * high, found[texel], expected[texel])

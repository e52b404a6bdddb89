"""Resources of a Direct3D 9 or 8 application: pools, levels, dirty regions, locks and ColorFill.

Every pool but D3DPOOL_SCRATCH has memory behind a driver's handle.  The driver manages managed
textures (D3DCAPS2_CANMANAGERESOURCE); managed buffers are treated as unmanaged ones.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from functools import partial

import msgspec
import numpy as np
from msgspec.structs import replace

from dp2emu.d3d.block_formats import PAIRS
from dp2emu.d3d.enums import Format, Pool
from dp2emu.d3d.flags import Usage
from dp2emu.d3d.formats import FORMATS, Channel, Coding, Use
from dp2emu.errors import Unsupported
from dp2emu.gpu.resource.heap import BUFFERS, SurfaceDesc, SurfaceKind, layout_of
from dp2emu.gpu.resource.pixel_format import encode
from dp2emu.gpu.resource.planar import PLANAR, packed_planes, planes_of
from dp2emu.gpu.resource.subresources import CUBE_FACES, Box, Subresource
from dp2emu.runtime.objects import Texture
from dp2emu.runtime.session import Session

DIRTY_BOXES = 16
"""Largest number of dirty boxes of a face; with more of them the whole face is dirty."""


class Resource:
    """A texture, surface or buffer; or, with an ``owner``, the level ``index`` of a texture.

    ``desc`` is None without memory in the driver.  ``implicit`` surfaces belong to a swap chain;
    ``format`` is the application's, ``vertices`` the vertex format of a buffer.  Mutable:
    ``dirty`` has the boxes of each face's top level that UpdateTexture copies next, ``drawn`` the
    subresources that a blit wrote since the last read.
    """

    def __init__(
        self,
        desc: SurfaceDesc | None,
        pool: Pool = Pool.DEFAULT,
        *,
        owner: Resource | None = None,
        index: int = 0,
        implicit: bool = False,
    ) -> None:
        self.desc = desc
        self.pool = pool
        self.owner = owner
        self.index = index
        self.implicit = implicit
        self.format = Format.UNKNOWN
        self.vertices = 0
        self.levels: dict[int, Resource] = {}
        self.drawn: set[int] = set()
        self.dirty: dict[int, list[Box]] = {}
        if desc is not None and owner is None and desc.kind not in BUFFERS:
            self.dirty = {face: [self.whole] for face in range(self.faces)}

    @property
    def root(self) -> Resource:
        """The texture that this resource is a level of, else the resource itself."""
        return self.owner or self

    @property
    def faces(self) -> int:
        """The number of faces: 6 of a cube, else 1."""
        return CUBE_FACES if self.desc and self.desc.kind is SurfaceKind.CUBETEXTURE else 1

    @property
    def whole(self) -> Box:
        """The box of all texels of the resource's top level."""
        assert self.desc is not None
        return Box(0, 0, self.desc.width, self.desc.height, 0, self.desc.depth)

    @property
    def texture(self) -> Texture | None:
        """The ``Texture`` to bind for draws; None if the driver has no memory for the resource."""
        return Texture(self.desc) if self.desc else None

    @property
    def written_by_gpu(self) -> bool:
        """Whether the resource is a render target or depth surface."""
        desc = self.root.desc
        return desc is not None and bool(desc.usage & (Usage.RENDERTARGET | Usage.DEPTHSTENCIL))

    def part(self, index: int = 0) -> Subresource:
        """Where subresource ``index`` is in the memory of ``root``: offset, size and pitches."""
        desc = self.root.desc
        assert desc is not None
        return layout_of(desc)[self.index + index]

    def add_dirty(self, face: int, box: Box | None) -> None:
        """AddDirtyRect and AddDirtyBox; None is the whole level."""
        boxes = self.dirty.get(face)
        if boxes is None or self.desc is None:
            return
        if box is None or len(boxes) >= DIRTY_BOXES:
            boxes[:] = [self.whole]
        elif boxes != [self.whole]:
            boxes.append(box)

    def take_dirty(self) -> dict[int, list[Box]]:
        """Remove and return the dirty boxes, a list by face; faces without any are left out."""
        taken = {face: boxes for face, boxes in self.dirty.items() if boxes}
        self.dirty = {face: [] for face in self.dirty}
        return taken


class Stored(msgspec.Struct, frozen=True):
    """The bytes that an application wrote to locked memory.

    ``pitch`` and ``slice`` are the bytes from one row or slice to the next; 0 if there is only
    one, or if rows are packed.
    """

    data: bytes
    pitch: int = 0
    slice: int = 0


def clipped(format: Format, whole: Box, box: Box, stored: Stored) -> tuple[Box, Stored] | None:
    """The part inside a level of a box that was locked, with its bytes; None if it is empty.

    The runtimes do not check boxes: ``stored`` starts at the corner of ``box``, even outside.
    """
    starts = [max(getattr(each, side) for each in (box, whole)) for side in _STARTS]
    ends = [min(getattr(each, side) for each in (box, whole)) for side in _ENDS]
    if any(end <= start for start, end in zip(starts, ends, strict=True)):
        return None
    row, (left, top, front) = FORMATS[format], starts
    across, down = (left - box.left) // row.block[0], (top - box.top) // row.block[1]
    skipped = across * row.size + down * stored.pitch + (front - box.front) * stored.slice
    inside = Box(left, top, ends[0], ends[1], front, ends[2])
    return inside, replace(stored, data=stored.data[max(skipped, 0) :])


_STARTS, _ENDS = ("left", "top", "front"), ("right", "bottom", "back")


def store_pixels(
    session: Session, resource: Resource, index: int, box: Box, stored: Stored
) -> None:
    """Write a box of a subresource and no bytes around it; rows that ``stored`` lacks keep their
    content.
    """
    desc = resource.root.desc
    assert desc is not None
    pieces = _planes if desc.format in PLANAR else _pieces
    for offset, piece in pieces(desc, resource.part(index), box, stored):
        session.write(desc.handle, offset, piece)


def _pieces(
    desc: SurfaceDesc, part: Subresource, box: Box, stored: Stored
) -> Iterator[tuple[int, bytes]]:
    """Yield (byte offset in the surface's memory, bytes to store there) for each row of a box, or
    for each slice if its rows are adjacent in memory.
    """
    row = FORMATS[Format(desc.format)]
    wide, high = row.block
    left, top = box.left // wide, box.top // high
    count = -(-box.right // wide) - left
    rows = -(-box.bottom // high) - top
    start = part.offset + left * row.size * desc.samples
    size = count * row.size * desc.samples
    for z in range(box.front, box.back):
        packed = _rows(stored, (z - box.front) * stored.slice, rows, size)
        place = start + z * part.slice_pitch + top * part.pitch
        if size == part.pitch:
            yield place, packed
            continue
        for y in range(-(-len(packed) // size)):
            yield place + y * part.pitch, packed[y * size : (y + 1) * size]


def _planes(
    desc: SurfaceDesc, part: Subresource, box: Box, stored: Stored
) -> Iterator[tuple[int, bytes]]:
    """Yield (byte offset in the surface's memory, bytes to store there) for the rows of the planes
    of a box, whose image ``stored`` is.
    """
    format, start, taken = Format(desc.format), part.offset, 0
    across, down = -(-part.width // 2), -(-part.height // 2)
    columns, rows = -(-box.right // 2) - box.left // 2, -(-box.bottom // 2) - box.top // 2
    data = packed_planes(format, columns, rows, stored.data, stored.pitch)
    if (columns, rows) == (across, down):
        yield start, data
        return
    inner = planes_of(format, columns, rows)
    for whole, inside in zip(planes_of(format, across, down), inner, strict=True):
        left = box.left // 2 * (whole.width // across)
        top = box.top // 2 * (whole.rows // down)
        for row in range(inside.rows):
            piece = data[taken : taken + inside.width]
            yield start + (top + row) * whole.width + left, piece
            taken += inside.width
        start += whole.rows * whole.width


def _rows(stored: Stored, start: int, rows: int, size: int) -> bytes:
    """``rows`` rows of ``size`` bytes, packed, from byte ``start`` of ``stored``; fewer if bytes
    are missing.
    """
    pitch = stored.pitch or size
    data = stored.data[start : start + pitch * (rows - 1) + size]
    if pitch == size:
        return data
    whole = len(data) // pitch if pitch > 0 else 0
    if pitch < size or not whole:
        return data[:size]
    padded = np.frombuffer(data, np.uint8, whole * pitch).reshape(whole, pitch)
    return padded[:, :size].tobytes() + data[whole * pitch : whole * pitch + size]


# ColorFill of surfaces that are not render targets

Color = tuple[int, int, int, int]
"""Red, green, blue and alpha, 0 to 255."""

_YUV = ((66, 129, 25, 16), (-38, -74, 112, 128), (112, -94, -18, 128))
"""Coefficients (r, g, b, offset) of Y, U and V by BT.601: each value is (r R + g G + b B + 128 >>
8) + offset."""


def block_of(format: Format, color: int) -> bytes:
    """The bytes of a pixel, or of a block of pixels, of an A8R8G8B8 colour (IDirect3DDevice9
    documentation, ColorFill): the inverse of reading texels (``d3d.block_formats``).

    DXT1 is transparent below an alpha of 128; luminance is red, and U, V, W and Q are red, green,
    blue and alpha.  A palette index is the alpha.  Raises Unsupported for depth.
    """
    row = FORMATS[format]
    lanes = tuple(color >> shift & 0xFF for shift in (16, 8, 0, 24))
    if format in _BLOCKS:
        return _BLOCKS[format](lanes)  # type: ignore[arg-type]
    if row.uses & Use.DEPTH:
        raise Unsupported(f"ColorFill of {format.sdk}")
    word = sum(
        _bits(row.channels[name], lanes[index]) << row.channels[name].shift
        for index, names in enumerate(("rlu", "gv", "bw", "aqp"))
        for name in names if name in row.channels
    )  # fmt: skip
    unused = (1 << 8 * row.size) - 1
    for channel in row.channels.values():
        unused &= ~(channel.max << channel.shift)
    return (word | unused).to_bytes(row.size, "little")


def _bits(channel: Channel, value: int) -> int:
    if channel.coding is Coding.UINT:
        return value & channel.max
    lane = np.array([value], np.float32) / np.float32(255)
    return int(encode(channel, lane)[0])


def _scaled(value: int, most: int) -> int:
    """``value`` from 0..255 scaled to 0..``most``, rounded to nearest."""
    return (2 * value * most + 255) // 510


def _rgb565(color: Color) -> bytes:
    """The 8 bytes of a DXT colour block whose texels all have one colour."""
    red, green, blue, _ = color
    word = _scaled(red, 31) << 11 | _scaled(green, 63) << 5 | _scaled(blue, 31)
    return struct.pack("<HHI", word, word, 0)


def _dxt1(color: Color) -> bytes:
    return _rgb565(color) if color[3] >= 128 else struct.pack("<HHI", 0, 0, 0xFFFFFFFF)


def _dxt3(color: Color) -> bytes:
    return bytes([17 * _scaled(color[3], 15)] * 8) + _rgb565(color)


def _dxt5(color: Color) -> bytes:
    return _ramp(color[3]) + _rgb565(color)


def _ramp(value: int) -> bytes:
    return bytes([value, value, 0, 0, 0, 0, 0, 0])


def _shared(order: str, color: Color) -> bytes:
    """The bytes of pixels of one colour that share chroma; ``order`` has a letter (y, u, v, r, g
    or b) for each byte.
    """
    red, green, blue, _ = color
    y, u, v = ((r * red + g * green + b * blue + 128 >> 8) + base for r, g, b, base in _YUV)
    parts = {"r": red, "g": green, "b": blue, "y": y, "u": u, "v": v}
    return bytes(parts[letter.lower()] for letter in order)


_BLOCKS: dict[Format, Callable[[Color], bytes]] = {
    Format.A1: lambda color: bytes([0xFF if color[3] >= 128 else 0]),
    Format.DXT1: _dxt1,
    Format.DXT2: _dxt3,
    Format.DXT3: _dxt3,
    Format.DXT4: _dxt5,
    Format.DXT5: _dxt5,
    Format.ATI1N: lambda color: _ramp(color[0]),
    Format.ATI2N: lambda color: _ramp(color[1]) + _ramp(color[0]),
    **{format: partial(_shared, order) for format, order in PAIRS.items()},
    **{format: partial(_shared, "yyyyuv") for format in (Format.YV12, Format.NV12)},
}
"""The function that encodes a block of pixels of one colour, by format; only for formats whose
pixels share bytes."""

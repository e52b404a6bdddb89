"""Textures, surfaces and buffers as an application has them: pools, levels, dirty regions.

Every pool but D3DPOOL_SCRATCH has memory behind a driver's handle.  Managed textures are the
driver's to manage (D3DCAPS2_CANMANAGERESOURCE), managed buffers lie where all others do.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np
from msgspec.structs import replace

from dp2emu.d3d.enums import Format, Pool
from dp2emu.d3d.flags import Usage
from dp2emu.d3d.formats import FORMATS
from dp2emu.gpu.resource.heap import BUFFERS, SurfaceDesc, SurfaceKind, layout_of
from dp2emu.gpu.resource.subresources import CUBE_FACES, Box, Subresource
from dp2emu.runtime.objects import Texture
from dp2emu.runtime.session import Session

DIRTY_BOXES = 16
"""Dirty boxes kept for a face; with more of them all of it is dirty."""


class Resource:
    """A texture, surface or buffer; or, with an ``owner``, the level ``index`` of a texture.

    ``desc`` is None for what has no memory at the driver.  ``implicit`` ones belong to a swap
    chain, ``format`` is the one that was asked for, ``vertices`` the vertex format of a
    buffer.  Mutable: ``dirty`` has the boxes of each
    face's top level that UpdateTexture has not copied yet, ``drawn`` the subresources that a blit
    wrote and nobody has read since.
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
        """The texture of a level, else the resource itself."""
        return self.owner or self

    @property
    def faces(self) -> int:
        """Six of a cube."""
        return CUBE_FACES if self.desc and self.desc.kind is SurfaceKind.CUBETEXTURE else 1

    @property
    def whole(self) -> Box:
        """All texels of the top level."""
        assert self.desc is not None
        return Box(0, 0, self.desc.width, self.desc.height, 0, self.desc.depth)

    @property
    def texture(self) -> Texture | None:
        """What to bind."""
        return Texture(self.desc) if self.desc else None

    @property
    def written_by_gpu(self) -> bool:
        """Whether drawing may write it."""
        desc = self.root.desc
        return desc is not None and bool(desc.usage & (Usage.RENDERTARGET | Usage.DEPTHSTENCIL))

    def part(self, index: int = 0) -> Subresource:
        """Where a subresource lies in the memory of ``root``."""
        desc = self.root.desc
        assert desc is not None
        return layout_of(desc)[self.index + index]

    def add_dirty(self, face: int, box: Box | None) -> None:
        """AddDirtyRect and AddDirtyBox; None is all."""
        boxes = self.dirty.get(face)
        if boxes is None or self.desc is None:
            return
        if box is None or len(boxes) >= DIRTY_BOXES:
            boxes[:] = [self.whole]
        elif boxes != [self.whole]:
            boxes.append(box)

    def take_dirty(self) -> dict[int, list[Box]]:
        """The dirty boxes by face; nothing is dirty afterwards."""
        taken = {face: boxes for face, boxes in self.dirty.items() if boxes}
        self.dirty = {face: [] for face in self.dirty}
        return taken


class Stored(msgspec.Struct, frozen=True):
    """Bytes as the application wrote them: ``pitch`` from row to row, ``slice`` from slice to
    slice, 0 where there is one.
    """

    data: bytes
    pitch: int = 0
    slice: int = 0


def clipped(format: Format, whole: Box, box: Box, stored: Stored) -> tuple[Box, Stored] | None:
    """What of a locked box lies in a level, with its bytes; None for nothing.

    The runtimes do not check boxes, and what is stored begins at the box's corner wherever that
    is.
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
    """Write a box of a subresource, through neither more nor fewer bytes than it has.

    What ``stored`` lacks stays as it is.
    """
    desc = resource.root.desc
    assert desc is not None
    for offset, piece in _pieces(desc, resource.part(index), box, stored):
        session.write(desc.handle, offset, piece)


def _pieces(
    desc: SurfaceDesc, part: Subresource, box: Box, stored: Stored
) -> Iterator[tuple[int, bytes]]:
    """(offset in memory, bytes) of the runs a box consists of, whole subresources in one."""
    row = FORMATS[Format(desc.format)]
    wide, high = row.block
    left, top = box.left // wide, box.top // high
    count = -(-box.right // wide) - left
    rows = -(-box.bottom // high) - top
    size = row.size * desc.samples
    start = part.offset + left * size
    if count * size == part.pitch:
        for z in range(box.front, box.back):
            packed = _rows(stored, (z - box.front) * stored.slice, rows, count * size)
            yield start + z * part.slice_pitch + top * part.pitch, packed
        return
    for z in range(box.front, box.back):
        packed = _rows(stored, (z - box.front) * stored.slice, rows, count * size)
        for y in range(-(-len(packed) // (count * size))):
            place = start + z * part.slice_pitch + (top + y) * part.pitch
            yield place, packed[y * count * size : (y + 1) * count * size]


def _rows(stored: Stored, start: int, rows: int, size: int) -> bytes:
    """Rows of ``size`` bytes without the holes between them, as far as there are bytes."""
    pitch = stored.pitch or size
    data = stored.data[start : start + pitch * (rows - 1) + size]
    if pitch == size:
        return data
    whole = len(data) // pitch if pitch > 0 else 0
    if pitch < size or not whole:
        return data[:size]
    held = np.frombuffer(data, np.uint8, whole * pitch).reshape(whole, pitch)
    return held[:, :size].tobytes() + data[whole * pitch : whole * pitch + size]

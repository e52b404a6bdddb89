"""Driver-managed textures: dirty boxes of system copies, and their upload to video copies.

An upload is a packet like any other, and reads the system copy when the GPU executes it.  Video
memory has room for all textures, so only an explicit command evicts them.

Source: DirectX documentation of driver-managed textures.
"""

from __future__ import annotations

from collections.abc import Iterator
from weakref import WeakKeyDictionary

from dp2emu.d3d.hresult import HResult
from dp2emu.errors import Fault
from dp2emu.gpu.command.packets import Copy, Part, whole_part
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.gpu.resource.heap import Surface
from dp2emu.gpu.resource.subresources import Box

MARKS = 512
"""Maximum number of dirty boxes of a texture; one more causes an upload at once."""

Mark = tuple[int, Box]
"""A dirty box of a texture: the number of the subresource, and the box of texels in it."""


class Managed:
    """The managed textures of a driver, in all its contexts.

    Mutable: it stores dirty boxes until they are uploaded.
    """

    def __init__(self, gpu: Gpu) -> None:
        self._gpu = gpu
        self._marks: WeakKeyDictionary[Surface, dict[Mark, None]] = WeakKeyDictionary()

    def mark(self, surface: Surface, box: Box) -> None:
        """Mark a box dirty, in the level that ``surface`` is or in the top level of each face of a
        texture, with the texels below it in the lower levels.

        Raises Fault (DDERR_INVALIDRECT) for a box that is empty or leaves the level.
        """
        owner, levels = _owner(surface), _owner(surface).desc.levels
        first = surface.desc.index if surface.parent else 0
        edge = whole_part(owner, first).box
        if _clip(box, edge) != box or min(box.sides) <= 0:
            raise Fault(HResult.DDERR_INVALIDRECT, f"{box} of surface {surface.handle}")
        starts = (first,) if surface.parent else range(0, len(owner.subresources), levels)
        for start in starts:
            for index, part in _chain(owner, start, box):
                self.wrote(Part(owner, index, part))

    def wrote(self, part: Part) -> None:
        """Mark the box of ``part`` dirty, unless its texture has no video copy: such a texture is
        later uploaded completely.
        """
        marks = self._marks.get(part.surface)
        if marks is None:
            return
        marks[part.index, part.box] = None
        if len(marks) > MARKS:
            self.upload(part.surface)

    def upload(self, surface: Surface) -> None:
        """Queue the upload of the dirty boxes of a texture, if it is managed, before its use."""
        owner = _owner(surface)
        system = owner.system
        if system is None:
            return
        marks = self._marks.get(owner)
        if marks is None:
            marks = dict.fromkeys(_everything(owner))
        self._marks[owner] = {}
        for index, box in marks:
            self._gpu.submit(Copy(Part(system, index, box), Part(owner, index, box)))

    def evict(self) -> None:
        """Drop the video copy of every managed texture; its next use uploads all of it."""
        for surface in self._marks:
            self._gpu.heap.count_eviction(surface)
        self._marks.clear()


def _owner(surface: Surface) -> Surface:
    return surface.parent or surface


def _everything(surface: Surface) -> Iterator[Mark]:
    for index in range(len(surface.subresources)):
        yield index, whole_part(surface, index).box


def _chain(surface: Surface, first: int, box: Box) -> Iterator[Mark]:
    """Subresource ``first`` with ``box``, and each lower level of its face with its scaled box."""
    levels = surface.desc.levels
    yield first, box
    for index in range(first + 1, first - first % levels + levels):
        edge = whole_part(surface, index).box
        box = _clip(_below(box, edge), edge)
        yield index, box


def _below(box: Box, edge: Box) -> Box:
    """``box`` halved, rounded outwards, for the next lower mip level, whose box is ``edge``."""
    return Box(
        min(box.left >> 1, edge.right - 1), min(box.top >> 1, edge.bottom - 1),
        box.right + 1 >> 1, box.bottom + 1 >> 1,
        min(box.front >> 1, edge.back - 1), box.back + 1 >> 1,
    )  # fmt: skip


def _clip(box: Box, edge: Box) -> Box:
    return Box(
        max(box.left, edge.left), max(box.top, edge.top),
        min(box.right, edge.right), min(box.bottom, edge.bottom),
        max(box.front, edge.front), min(box.back, edge.back),
    )  # fmt: skip

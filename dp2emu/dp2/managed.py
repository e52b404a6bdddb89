"""Textures the driver manages: what their video copies lack of the system copies.

What is uploaded is a packet like any other: it reads the system copy when the GPU gets there.
There is room for all textures, so that none is evicted unless that is asked for.

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
"""Boxes that wait to be uploaded for one texture; beyond these they do not wait for its use."""

Mark = tuple[int, Box]
"""A box of texels in the subresource of that number."""


class Managed:
    """The managed textures of a driver, in all its contexts.  Mutable: it remembers the marks."""

    def __init__(self, gpu: Gpu) -> None:
        self._gpu = gpu
        self._marks: WeakKeyDictionary[Surface, dict[Mark, None]] = WeakKeyDictionary()

    def mark(self, surface: Surface, box: Box) -> None:
        """A box of a level is dirty, and what lies under it in the levels below: of the level
        that ``surface`` is, or of the top level of each face of a texture.

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
        """One box is dirty.  A texture that is not in video memory is uploaded whole anyway."""
        marks = self._marks.get(part.surface)
        if marks is None:
            return
        marks[part.index, part.box] = None
        if len(marks) > MARKS:
            self.upload(part.surface)

    def upload(self, surface: Surface) -> None:
        """The GPU is going to use a texture: queue what its video copy lacks, if it is managed."""
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
        """Drop every video copy; whatever is used again is uploaded whole."""
        for surface in self._marks:
            self._gpu.heap.count_eviction(surface)
        self._marks.clear()


def _owner(surface: Surface) -> Surface:
    return surface.parent or surface


def _everything(surface: Surface) -> Iterator[Mark]:
    for index in range(len(surface.subresources)):
        yield index, whole_part(surface, index).box


def _chain(surface: Surface, first: int, box: Box) -> Iterator[Mark]:
    """A box and those under it, down to the last level of the face."""
    levels = surface.desc.levels
    yield first, box
    for index in range(first + 1, first - first % levels + levels):
        edge = whole_part(surface, index).box
        box = _clip(_below(box, edge), edge)
        yield index, box


def _below(box: Box, edge: Box) -> Box:
    """The texels of the next level, which ends at ``edge``, that any texel of a box touches."""
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

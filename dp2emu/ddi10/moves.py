"""Copies, updates, resolving, levels and clears.

Source: reference of the Direct3D 10/11 interface, section 8.  The runtime checks boxes; what
leaves a subresource all the same is a contract error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import IntFlag
from typing import Any, NamedTuple

from dp2emu.d3d.dxgi import DXGI, castable
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.formats import FormatRow
from dp2emu.ddi10.context import Context
from dp2emu.ddi10.contract import Rule
from dp2emu.ddi10.resource import Resource, Resources
from dp2emu.ddi10.views import Views
from dp2emu.gpu.memory import Surface, SurfaceKind
from dp2emu.gpu.packets import (
    Box,
    Clear,
    Copy,
    CopyBytes,
    GenerateLevels,
    Part,
    Rect,
    Write,
    WriteBytes,
    whole_part,
)
from dp2emu.gpu.texels import whole_blocks
from dp2emu.gpu.views import texture_view


class DdiBox(NamedTuple):
    """D3D10_DDI_BOX: of a buffer, bytes from left to right."""

    left: int
    top: int
    front: int
    right: int
    bottom: int
    back: int


class ClearFlag(IntFlag):
    """D3D10_DDI_CLEAR_FLAG."""

    DEPTH = 1
    STENCIL = 2


class Moves:
    """The entries that copy, update, resolve, make levels and clear.

    Methods raise ContractError for a broken promise, and Unsupported for what is not built.
    """

    def __init__(self, context: Context, resources: Resources, views: Views) -> None:
        self._contract = context.contract
        self._resources = resources
        self._views = views

    def entries(self) -> Mapping[str, Callable[..., Any]]:
        """The entries, by name."""
        return {
            "ResourceCopy": self.copy,
            "ResourceCopyRegion": self.copy_region,
            "ResourceConvert": self.convert,
            "ResourceConvertRegion": self.convert_region,
            "ResourceUpdateSubresourceUP": self.update,
            "DefaultConstantBufferUpdateSubresourceUP": self.update,
            "ResourceResolveSubresource": self.resolve,
            "GenMips": self.generate_levels,
            "ClearRenderTargetView": self.clear_target,
            "ClearDepthStencilView": self.clear_depth,
            "ResourceReadAfterWriteHazard": self.note_hazard,
            "ShaderResourceViewReadAfterWriteHazard": self.note_view_hazard,
        }

    # Copies

    def copy(self, target: bytearray, source: bytearray) -> None:
        """ResourceCopy: all subresources."""
        made, given = self._pair("ResourceCopy", target, source)
        self._all(made, given, self._copy_part)

    def convert(self, target: bytearray, source: bytearray) -> None:
        """ResourceConvert: the same, into another format."""
        made, given = self._pair("ResourceConvert", target, source)
        self._all(made, given, self._convert_part)

    def copy_region(
        self,
        target: bytearray,
        target_index: int,
        x: int,
        y: int,
        z: int,
        source: bytearray,
        source_index: int,
        box: DdiBox | None,
        flags: int = 0,
    ) -> None:
        """ResourceCopyRegion: a box of a subresource, or all of it, to a place in another."""
        entry = "ResourceCopyRegion"
        made, given = self._pair(entry, target, source)
        whole = self._box(given, source_index, box, entry)
        there = self._box(made, target_index, _moved(whole, x, y, z), entry)
        if whole is not None and there is not None:
            self._copy_part(made, target_index, there, given, source_index, whole)

    def convert_region(
        self,
        target: bytearray,
        target_index: int,
        x: int,
        y: int,
        z: int,
        source: bytearray,
        source_index: int,
        box: DdiBox | None,
        flags: int = 0,
    ) -> None:
        """ResourceConvertRegion: the same, into another format."""
        entry = "ResourceConvertRegion"
        made, given = self._pair(entry, target, source)
        whole = self._box(given, source_index, box, entry)
        there = self._box(made, target_index, _moved(whole, x, y, z), entry)
        if whole is not None and there is not None:
            self._convert_part(made, target_index, there, given, source_index, whole)

    def resolve(
        self,
        target: bytearray,
        target_index: int,
        source: bytearray,
        source_index: int,
        format: int,
    ) -> None:
        """ResourceResolveSubresource: all of one, as a format both can be viewed in."""
        entry = "ResourceResolveSubresource"
        made, given = self._pair(entry, target, source)
        there = self._box(made, target_index, None, entry)
        whole = self._box(given, source_index, None, entry)
        resolved = DxgiFormat(format) if format in _NUMBERS else DxgiFormat.UNKNOWN
        fits = whole == there and all(
            castable(DxgiFormat(each.desc.Format), resolved) for each in (made, given)
        )
        self._contract.hold(fits, Rule.SAME_TEXELS, entry)
        parts = _viewed(given, source_index, resolved), _viewed(made, target_index, resolved)
        self._resources.record(Copy(*parts), given, made)

    def generate_levels(self, view: bytearray) -> None:
        """GenMips: the levels of a view from the most detailed one on."""
        found = self._views.shaders.open(view, "GenMips")
        self._resources.record(GenerateLevels(found.surface()), found.resource)

    def update(
        self,
        target: bytearray,
        index: int,
        box: DdiBox | None,
        data: bytes,
        row_pitch: int = 0,
        depth_pitch: int = 0,
    ) -> None:
        """ResourceUpdateSubresourceUP: what the host has now goes into a box, in order."""
        entry = "ResourceUpdateSubresourceUP"
        made = self._resources.objects.open(target, entry)
        there = self._box(made, index, box, entry)
        if there is None:
            return
        pitches = row_pitch, depth_pitch
        if made.is_buffer:
            shape = (1, 1, there.right - there.left)
            data = self._resources.packed(data, shape, pitches, entry)
            self._resources.record(WriteBytes(made.surface, there.left, data), made)
            return
        row = _row(made)
        slices, rows, columns = (s.stop - s.start for s in whole_blocks(row, there))
        data = self._resources.packed(data, (slices, rows, columns * row.size), pitches, entry)
        self._resources.record(Write(Part(made.surface, index, there), data), made)

    # Clears

    def clear_target(self, view: bytearray, color: Sequence[float]) -> None:
        """ClearRenderTargetView: all slices of a view, of whatever viewport and scissor."""
        found = self._views.targets.open(view, "ClearRenderTargetView")
        red, green, blue, alpha = color
        surfaces = found.surfaces()
        rects = (_all_of(surfaces[0]),)
        packet = Clear(rects, surfaces, (red, green, blue, alpha), None, None, None)
        self._resources.record(packet, found.resource)

    def clear_depth(self, view: bytearray, flags: int, depth: float, stencil: int) -> None:
        """ClearDepthStencilView: all slices of a view."""
        found = self._views.depths.open(view, "ClearDepthStencilView")
        z = depth if flags & ClearFlag.DEPTH else None
        value = stencil & 0xFF if flags & ClearFlag.STENCIL else None
        for surface in found.surfaces():
            packet = Clear((_all_of(surface),), (), None, surface, z, value)
            self._resources.record(packet, found.resource)

    # Hazards

    def note_hazard(self, resource: bytearray) -> None:
        """ResourceReadAfterWriteHazard: the GPU is in order, and sees what it wrote."""
        self._resources.objects.open(resource, "ResourceReadAfterWriteHazard")

    def note_view_hazard(self, view: bytearray, resource: bytearray) -> None:
        """ShaderResourceViewReadAfterWriteHazard, likewise."""
        entry = "ShaderResourceViewReadAfterWriteHazard"
        self._views.shaders.open(view, entry)
        self._resources.objects.open(resource, entry)

    def _pair(self, entry: str, target: bytearray, source: bytearray) -> tuple[Resource, Resource]:
        made, given = (self._resources.objects.open(each, entry) for each in (target, source))
        same = made.is_buffer == given.is_buffer
        self._contract.hold(same, Rule.SAME_TEXELS, entry)
        return made, given

    def _all(self, made: Resource, given: Resource, copy: Callable[..., None]) -> None:
        """Copy all subresources of resources that have the same."""
        boxes = [[_whole(each, n) for n in range(each.count)] for each in (made, given)]
        self._contract.hold(boxes[0] == boxes[1], Rule.SAME_TEXELS, "ResourceCopy")
        for index, box in enumerate(boxes[0]):
            copy(made, index, box, given, index, box)

    def _copy_part(
        self, made: Resource, to: int, there: Box, given: Resource, of: int, box: Box
    ) -> None:
        """Copy bits, whatever they mean."""
        if made.is_buffer:
            size = box.right - box.left
            packet = CopyBytes(given.surface, box.left, made.surface, there.left, size)
            self._resources.record(packet, given, made)
            return
        self._check_texels(made, given)
        source = _viewed(given, of, DxgiFormat(made.desc.Format), box)
        self._resources.record(Copy(source, Part(made.surface, to, there)), given, made)

    def _convert_part(
        self, made: Resource, to: int, there: Box, given: Resource, of: int, box: Box
    ) -> None:
        source, target = Part(given.surface, of, box), Part(made.surface, to, there)
        self._resources.record(Copy(source, target), given, made)

    def _check_texels(self, made: Resource, given: Resource) -> None:
        """Copies change neither the sizes of texels nor how many samples they have."""
        one, other = (DXGI[DxgiFormat(each.desc.Format)] for each in (made, given))
        same = one.family is other.family and made.desc.SampleDesc == given.desc.SampleDesc
        self._contract.hold(same, Rule.SAME_TEXELS, "ResourceCopy")

    def _box(
        self, resource: Resource, index: int, box: DdiBox | Box | None, entry: str
    ) -> Box | None:
        """A box of a subresource that is checked, all of it for None; None if it is empty."""
        there = 0 <= index < resource.count
        self._contract.hold(there, Rule.KNOWN_SUBRESOURCE, entry)
        whole = _whole(resource, index)
        if box is None:
            return whole
        found = _box_of(box)
        if min(found.sides) <= 0:
            return None
        inside = found.left >= 0 <= found.top and found.front >= 0
        inside = inside and found.right <= whole.right and found.bottom <= whole.bottom
        self._contract.hold(inside and found.back <= whole.back, Rule.INSIDE, entry)
        return found


_NUMBERS = frozenset(format.value for format in DxgiFormat)


def _box_of(box: DdiBox | Box) -> Box:
    if isinstance(box, Box):
        return box
    return Box(box.left, box.top, box.right, box.bottom, box.front, box.back)


def _moved(box: Box | None, x: int, y: int, z: int) -> Box | None:
    """A box of the same size elsewhere."""
    if box is None:
        return Box(0, 0, 0, 0)
    width, height, depth = box.sides
    return Box(x, y, x + width, y + height, z, z + depth)


def _whole(resource: Resource, index: int) -> Box:
    if resource.is_buffer:
        return Box(0, 0, resource.surface.width, 1)
    return whole_part(resource.surface, index).box


def _viewed(resource: Resource, index: int, format: DxgiFormat, box: Box | None = None) -> Part:
    """A subresource as one of another format, or a box of it."""
    levels = resource.surface.desc.levels
    slice, level = divmod(index, levels)
    surface = texture_view(
        resource.surface, format, SurfaceKind.TEXTURE, (level, level + 1), (slice, slice + 1)
    )
    whole = whole_part(surface, 0)
    return whole if box is None else Part(surface, 0, box)


def _row(resource: Resource) -> FormatRow:
    return DXGI[DxgiFormat(resource.desc.Format)].texels


def _all_of(surface: Surface) -> Rect:
    return Rect(0, 0, surface.width, surface.height)

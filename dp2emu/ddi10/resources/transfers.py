"""Copies, updates, resolving, levels and clears.

Source: Direct3D 10/11 DDI, "Device functions".  The runtime checks boxes; what
leaves a subresource all the same is a contract error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import IntFlag
from typing import Any, NamedTuple

from dp2emu.d3d.dxgi import DXGI, Support, castable
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.formats import FormatRow
from dp2emu.ddi10.context import Context
from dp2emu.ddi10.contract import Rule, float32
from dp2emu.ddi10.resources.resource import Resource, Resources, Usage
from dp2emu.ddi10.resources.views import Views
from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.command.packets import (
    Clear,
    Copy,
    CopyBytes,
    GenerateLevels,
    Part,
    Write,
    WriteBytes,
    whole_part,
)
from dp2emu.gpu.resource.heap import Surface, SurfaceKind
from dp2emu.gpu.resource.resource_views import bits_view, texture_view
from dp2emu.gpu.resource.subresources import Box
from dp2emu.gpu.resource.texels import whole_blocks


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
        boxes = [[_whole(each, n) for n in range(each.count)] for each in (made, given)]
        self._contract.hold(boxes[0] == boxes[1], Rule.SAME_TEXELS, "ResourceCopy")
        for index, box in enumerate(boxes[0]):
            self._copy_part(made, index, box, given, index, box)

    def convert(self, target: bytearray, source: bytearray) -> None:
        """ResourceConvert: the same, of formats whose texels, or blocks, have the same size."""
        made, given = self._pair("ResourceConvert", target, source)
        self._check_sizes(made, given)
        boxes = [[_elements(each, n) for n in range(each.count)] for each in (made, given)]
        self._contract.hold(boxes[0] == boxes[1], Rule.SAME_TEXELS, "ResourceConvert")
        for index, box in enumerate(boxes[0]):
            self._convert_part(made, index, box, given, index, box)

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
        if whole is None:
            return
        whole = _rounded(given, whole)
        there = self._box(made, target_index, _moved(whole, x, y, z), entry)
        assert there is not None
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
        """ResourceConvertRegion: the same, of formats whose texels, or blocks, have the same size.

        The box is in texels of the source, the place in texels of the target.
        """
        entry = "ResourceConvertRegion"
        made, given = self._pair(entry, target, source)
        self._check_sizes(made, given)
        whole = self._box(given, source_index, box, entry)
        if whole is None:
            return
        known = 0 <= target_index < made.count
        self._contract.hold(known, Rule.KNOWN_SUBRESOURCE, entry)
        width, height = _block(made)
        from_box = _elements(given, source_index, whole)
        to_box = _moved(from_box, x // width, y // height, z)
        inside = _inside(to_box, _elements(made, target_index))
        self._contract.hold(inside, Rule.INSIDE, entry)
        self._convert_part(made, target_index, to_box, given, source_index, from_box)

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
        castables = [castable(DxgiFormat(each.desc.Format), resolved) for each in (made, given)]
        counts = given.surface.samples > 1 == made.surface.samples
        fits = counts and whole == there and all(castables) and _resolvable(resolved)
        self._contract.hold(fits, Rule.SAME_TEXELS, entry)
        parts = _viewed(given, source_index, resolved), _viewed(made, target_index, resolved)
        self._resources.record(Copy(*parts), given, made)

    def generate_levels(self, view: bytearray) -> None:
        """GenMips: the levels of a view from the most detailed one on."""
        entry = "GenMips"
        found = self._views.shaders.open(view, entry)
        row = DXGI.get(found.format) if found.format else None
        there = row is not None and Support.MIPS in row.support and not found.resource.is_buffer
        self._contract.hold(there, Rule.KNOWN_VIEW, entry)
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
        self._contract.hold(made.desc.Usage != Usage.IMMUTABLE, Rule.IMMUTABLE, entry)
        self._contract.hold(made.surface.samples == 1, Rule.SAMPLES, entry)
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
        self._contract.hold(len(color) == len("rgba"), Rule.NUMBERS, "ClearRenderTargetView")
        red, green, blue, alpha = float32(*color)
        surfaces = found.surfaces()
        rects = (_all_of(surfaces[0]),)
        packet = Clear(rects, surfaces, (red, green, blue, alpha), None, None, None)
        self._resources.record(packet, found.resource)

    def clear_depth(self, view: bytearray, flags: int, depth: float, stencil: int) -> None:
        """ClearDepthStencilView: all slices of a view."""
        found = self._views.depths.open(view, "ClearDepthStencilView")
        z = float32(depth)[0] if flags & ClearFlag.DEPTH else None
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
        self._contract.hold(made.desc.Usage != Usage.IMMUTABLE, Rule.IMMUTABLE, entry)
        return made, given

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
        """Copy bits of texels or blocks, by which boxes count."""
        if made.is_buffer:
            self._copy_part(made, to, there, given, of, box)
            return
        source = Part(bits_view(given.surface, of), 0, box)
        target = Part(bits_view(made.surface, to), 0, there)
        self._resources.record(Copy(source, target), given, made)

    def _check_sizes(self, made: Resource, given: Resource) -> None:
        """Texels or blocks have as many bytes and samples."""
        same = made.is_buffer or (
            _row(made).size == _row(given).size and made.desc.SampleDesc == given.desc.SampleDesc
        )
        self._contract.hold(same, Rule.SAME_TEXELS, "ResourceConvert")

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
        self._contract.hold(_inside(found, _rounded(resource, whole)), Rule.INSIDE, entry)
        self._contract.hold(_whole_blocks(resource, found, whole), Rule.WHOLE_BLOCKS, entry)
        return found


_NUMBERS = frozenset(format.value for format in DxgiFormat)


def _box_of(box: DdiBox | Box) -> Box:
    if isinstance(box, Box):
        return box
    return Box(box.left, box.top, box.right, box.bottom, box.front, box.back)


def _inside(box: Box, whole: Box) -> bool:
    """Whether all of a box lies in one that begins at 0."""
    low = min(box.left, box.top, box.front) >= 0
    high = box.right <= whole.right and box.bottom <= whole.bottom and box.back <= whole.back
    return low and high


def _block(resource: Resource) -> tuple[int, int]:
    return (1, 1) if resource.is_buffer else _row(resource).block


def _whole_blocks(resource: Resource, box: Box, whole: Box) -> bool:
    """Whether a box splits no blocks but those that the edge of the subresource splits."""
    width, height = _block(resource)
    sides = (box.left, box.right, whole.right, width), (box.top, box.bottom, whole.bottom, height)
    return all(
        low % unit == 0 and (high % unit == 0 or high == edge) for low, high, edge, unit in sides
    )


def _rounded(resource: Resource, box: Box) -> Box:
    """A box with all of the blocks it touches, which may lie over the edge."""
    width, height = _block(resource)
    right, bottom = -(-box.right // width) * width, -(-box.bottom // height) * height
    return Box(box.left, box.top, right, bottom, box.front, box.back)


def _elements(resource: Resource, index: int, box: Box | None = None) -> Box:
    """A box, or all of a subresource, in blocks."""
    found = box or _whole(resource, index)
    width, height = _block(resource)
    low = found.left // width, found.top // height
    return Box(*low, -(-found.right // width), -(-found.bottom // height), found.front, found.back)


def _resolvable(format: DxgiFormat) -> bool:
    row = DXGI.get(format)
    return row is not None and Support.RESOLVE in row.support


def _moved(box: Box, x: int, y: int, z: int) -> Box:
    """A box of the same size elsewhere."""
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

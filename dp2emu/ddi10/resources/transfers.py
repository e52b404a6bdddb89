"""Transfers: copies, updates, resolves, mip generation and clears.

Source: Direct3D 10/11 DDI, "Device functions".  The runtime clips boxes, so a box that exceeds its
subresource is a contract error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, NamedTuple

from dp2emu.d3d.dxgi import DXGI, Support, castable
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.formats import FormatRow
from dp2emu.d3d.sdk import SdkFlag
from dp2emu.ddi10.codes import format_of
from dp2emu.ddi10.context import Context
from dp2emu.ddi10.contract import Rule, float32, is_uint
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
    """D3D10_DDI_BOX; left and right of a buffer are bytes."""

    left: int
    top: int
    front: int
    right: int
    bottom: int
    back: int


class ClearFlag(SdkFlag, prefix="D3D10_DDI_CLEAR_"):
    """D3D10_DDI_CLEAR_FLAG."""

    DEPTH = 1
    STENCIL = 2


class Transfers:
    """The DDI functions that copy, update, resolve, generate levels and clear.

    Methods raise ContractError for a broken rule.
    """

    def __init__(self, context: Context, resources: Resources, views: Views) -> None:
        self._contract = context.contract
        self._resources = resources
        self._views = views

    def entries(self) -> Mapping[str, Callable[..., Any]]:
        """The DDI functions implemented here, by name without ``pfn``."""
        return {
            **{name: partial(self.copy, name) for name in ("ResourceCopy", "ResourceConvert")},
            **{name: partial(self.copy_region, name)
               for name in ("ResourceCopyRegion", "ResourceConvertRegion")},
            "ResourceUpdateSubresourceUP": self.update,
            "DefaultConstantBufferUpdateSubresourceUP": self.update,
            "ResourceResolveSubresource": self.resolve,
            "GenMips": self.generate_levels,
            "ClearRenderTargetView": self.clear_target,
            "ClearDepthStencilView": self.clear_depth,
            "ResourceReadAfterWriteHazard": self.note_hazard,
            "ShaderResourceViewReadAfterWriteHazard": self.note_view_hazard,
        }  # fmt: skip

    # Copies

    def copy(self, entry: str, target: bytearray, source: bytearray) -> None:
        """ResourceCopy: copy all subresources; ResourceConvert: the same between formats whose
        texels or blocks have one size.
        """
        destination, origin = self._pair(entry, target, source)
        converts = entry == "ResourceConvert"
        if converts:
            self._check_sizes(destination, origin)
        measure = _elements if converts else _whole
        boxes = [[measure(each, n) for n in range(each.count)] for each in (destination, origin)]
        self._contract.check(boxes[0] == boxes[1], Rule.SAME_TEXELS, entry)
        copy = self._convert_part if converts else self._copy_part
        for index, box in enumerate(boxes[0]):
            copy(destination, index, box, origin, index, box)

    def copy_region(
        self,
        entry: str,
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
        """ResourceCopyRegion: copy a box of a subresource, or all of it, to x, y, z in another;
        ResourceConvertRegion: the same between formats of one texel or block size.

        The box is in texels of the source, x, y and z in texels of the target.
        """
        destination, origin = self._pair(entry, target, source)
        converts = entry == "ResourceConvertRegion"
        if converts:
            self._check_sizes(destination, origin)
        whole = self._box(origin, source_index, box, entry)
        if whole is None:
            return
        if not converts:
            whole = _rounded(origin, whole)
            there = self._box(destination, target_index, _moved(whole, x, y, z), entry)
            assert there is not None
            self._copy_part(destination, target_index, there, origin, source_index, whole)
            return
        known = 0 <= target_index < destination.count
        self._contract.check(known, Rule.KNOWN_SUBRESOURCE, entry)
        width, height = _block(destination)
        from_box = _elements(origin, source_index, whole)
        to_box = _moved(from_box, x // width, y // height, z)
        inside = _inside(to_box, _elements(destination, target_index))
        self._contract.check(inside, Rule.INSIDE, entry)
        self._convert_part(destination, target_index, to_box, origin, source_index, from_box)

    def resolve(
        self,
        target: bytearray,
        target_index: int,
        source: bytearray,
        source_index: int,
        format: Annotated[int, DxgiFormat],
    ) -> None:
        """ResourceResolveSubresource, in a format that both resources can be cast to."""
        entry = "ResourceResolveSubresource"
        destination, origin = self._pair(entry, target, source)
        there = self._box(destination, target_index, None, entry)
        whole = self._box(origin, source_index, None, entry)
        resolved = format_of(format) or DxgiFormat.UNKNOWN
        row, both = DXGI.get(resolved), (origin, destination)
        castables = all(castable(DxgiFormat(each.desc.Format), resolved) for each in both)
        counts = origin.surface.samples > 1 == destination.surface.samples
        resolvable = row is not None and Support.RESOLVE in row.support
        fits = counts and whole == there and castables and resolvable
        self._contract.check(fits, Rule.SAME_TEXELS, entry)
        parts = (
            _viewed(origin, source_index, resolved),
            _viewed(destination, target_index, resolved),
        )
        self._resources.record(Copy(*parts), *both)

    def generate_levels(self, view: bytearray) -> None:
        """GenMips: generate the levels of a view below its most detailed one."""
        entry = "GenMips"
        found = self._views.shaders.open(view, entry)
        row = DXGI.get(found.format) if found.format else None
        there = row is not None and Support.MIPS in row.support and not found.resource.is_buffer
        self._contract.check(there, Rule.KNOWN_VIEW, entry)
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
        """ResourceUpdateSubresourceUP: copy the host's data now, write it in command order."""
        entry = "ResourceUpdateSubresourceUP"
        destination = self._resources.objects.open(target, entry)
        self._contract.check(destination.desc.Usage != Usage.IMMUTABLE, Rule.IMMUTABLE, entry)
        self._contract.check(destination.surface.samples == 1, Rule.SAMPLES, entry)
        there = self._box(destination, index, box, entry)
        if there is None:
            return
        pitches = row_pitch, depth_pitch
        if destination.is_buffer:
            shape = (1, 1, there.right - there.left)
            data = self._resources.packed(data, shape, pitches, entry)
            self._resources.record(WriteBytes(destination.surface, there.left, data), destination)
            return
        row = _row(destination)
        slices, rows, columns = (s.stop - s.start for s in whole_blocks(row, there))
        data = self._resources.packed(data, (slices, rows, columns * row.size), pitches, entry)
        self._resources.record(Write(Part(destination.surface, index, there), data), destination)

    # Clears

    def clear_target(self, view: bytearray, color: Sequence[float]) -> None:
        """ClearRenderTargetView: clear all slices of a view; viewport and scissor do not apply."""
        found = self._views.targets.open(view, "ClearRenderTargetView")
        self._contract.check(len(color) == len("rgba"), Rule.NUMBERS, "ClearRenderTargetView")
        red, green, blue, alpha = float32(*color)
        surfaces = found.surfaces()
        rects = (_all_of(surfaces[0]),)
        packet = Clear(rects, surfaces, (red, green, blue, alpha), None, None, None)
        self._resources.record(packet, found.resource)

    def clear_depth(
        self, view: bytearray, flags: Annotated[int, ClearFlag], depth: float, stencil: int
    ) -> None:
        """ClearDepthStencilView: clear all slices of a view."""
        found = self._views.depths.open(view, "ClearDepthStencilView")
        numbers = is_uint(flags) and is_uint(stencil)
        self._contract.check(numbers, Rule.NUMBERS, "ClearDepthStencilView")
        z = float32(depth)[0] if flags & ClearFlag.DEPTH else None
        value = stencil & 0xFF if flags & ClearFlag.STENCIL else None
        for surface in found.surfaces():
            packet = Clear((_all_of(surface),), (), None, surface, z, value)
            self._resources.record(packet, found.resource)

    # Hazards

    def note_hazard(self, resource: bytearray) -> None:
        """ResourceReadAfterWriteHazard: nothing to do, as the GPU executes in order."""
        self._resources.objects.open(resource, "ResourceReadAfterWriteHazard")

    def note_view_hazard(self, view: bytearray, resource: bytearray) -> None:
        """ShaderResourceViewReadAfterWriteHazard: nothing to do."""
        entry = "ShaderResourceViewReadAfterWriteHazard"
        self._views.shaders.open(view, entry)
        self._resources.objects.open(resource, entry)

    def _pair(self, entry: str, target: bytearray, source: bytearray) -> tuple[Resource, Resource]:
        destination, origin = (
            self._resources.objects.open(each, entry) for each in (target, source)
        )
        same = destination.is_buffer == origin.is_buffer
        self._contract.check(same, Rule.SAME_TEXELS, entry)
        self._contract.check(destination.desc.Usage != Usage.IMMUTABLE, Rule.IMMUTABLE, entry)
        return destination, origin

    def _copy_part(
        self, destination: Resource, to: int, there: Box, origin: Resource, at: int, box: Box
    ) -> None:
        """Record a copy of a box between subresources of equal format; no texel is converted.

        The source is ``box`` of subresource ``at`` of ``origin``, the target is the box ``there``
        of subresource ``to`` of ``destination``.
        """
        if destination.is_buffer:
            size = box.right - box.left
            packet = CopyBytes(origin.surface, box.left, destination.surface, there.left, size)
            self._resources.record(packet, origin, destination)
            return
        self._check_texels(destination, origin)
        source = _viewed(origin, at, DxgiFormat(destination.desc.Format), box)
        target = Part(destination.surface, to, there)
        self._resources.record(Copy(source, target), origin, destination)

    def _convert_part(
        self, destination: Resource, to: int, there: Box, origin: Resource, at: int, box: Box
    ) -> None:
        """Record a copy of texel or block bits between formats whose elements have one size.

        The source is ``box`` of subresource ``at`` of ``origin``, the target is the box ``there``
        of subresource ``to`` of ``destination``.  Boxes are in texels or blocks.
        """
        if destination.is_buffer:
            self._copy_part(destination, to, there, origin, at, box)
            return
        source = Part(bits_view(origin.surface, at), 0, box)
        target = Part(bits_view(destination.surface, to), 0, there)
        self._resources.record(Copy(source, target), origin, destination)

    def _check_sizes(self, destination: Resource, origin: Resource) -> None:
        """Check that two resources have equal sample counts and equal texel or block sizes."""
        same = destination.is_buffer or (
            _row(destination).size == _row(origin).size
            and destination.desc.SampleDesc == origin.desc.SampleDesc
        )
        self._contract.check(same, Rule.SAME_TEXELS, "ResourceConvert")

    def _check_texels(self, destination: Resource, origin: Resource) -> None:
        """Check that two resources have equal sample counts and formats of one family."""
        one, other = (DXGI[DxgiFormat(each.desc.Format)] for each in (destination, origin))
        same = one.family is other.family and destination.desc.SampleDesc == origin.desc.SampleDesc
        self._contract.check(same, Rule.SAME_TEXELS, "ResourceCopy")

    def _box(
        self, resource: Resource, index: int, box: DdiBox | Box | None, entry: str
    ) -> Box | None:
        """Validate a box of a subresource (None: all of it); returns None if it is empty."""
        known = 0 <= index < resource.count
        self._contract.check(known, Rule.KNOWN_SUBRESOURCE, entry)
        whole = _whole(resource, index)
        if box is None:
            return whole
        found = Box(box.left, box.top, box.right, box.bottom, box.front, box.back)
        if min(found.sides) <= 0:
            return None
        self._contract.check(_inside(found, _rounded(resource, whole)), Rule.INSIDE, entry)
        self._contract.check(_whole_blocks(resource, found, whole), Rule.WHOLE_BLOCKS, entry)
        return found


def _inside(box: Box, whole: Box) -> bool:
    """Whether ``box`` lies within ``whole``, a box that begins at 0."""
    high = box.right <= whole.right and box.bottom <= whole.bottom and box.back <= whole.back
    return min(box.left, box.top, box.front) >= 0 and high


def _block(resource: Resource) -> tuple[int, int]:
    return (1, 1) if resource.is_buffer else _row(resource).block


def _whole_blocks(resource: Resource, box: Box, whole: Box) -> bool:
    """Whether ``box`` is aligned to blocks; its ends may be edges of ``whole`` instead."""
    width, height = _block(resource)
    sides = (box.left, box.right, whole.right, width), (box.top, box.bottom, whole.bottom, height)
    return all(
        low % unit == 0 and (high % unit == 0 or high == edge) for low, high, edge, unit in sides
    )


def _rounded(resource: Resource, box: Box) -> Box:
    """``box`` rounded up to whole blocks of the format; it may exceed the subresource."""
    width, height = _block(resource)
    right, bottom = -(-box.right // width) * width, -(-box.bottom // height) * height
    return Box(box.left, box.top, right, bottom, box.front, box.back)


def _elements(resource: Resource, index: int, box: Box | None = None) -> Box:
    """A box of a subresource (None: all of it) in units of the format's blocks."""
    found = box or _whole(resource, index)
    width, height = _block(resource)
    low = found.left // width, found.top // height
    return Box(*low, -(-found.right // width), -(-found.bottom // height), found.front, found.back)


def _moved(box: Box, x: int, y: int, z: int) -> Box:
    """``box`` moved to x, y, z, its size unchanged."""
    width, height, depth = box.sides
    return Box(x, y, x + width, y + height, z, z + depth)


def _whole(resource: Resource, index: int) -> Box:
    if resource.is_buffer:
        return Box(0, 0, resource.surface.width, 1)
    return whole_part(resource.surface, index).box


def _viewed(resource: Resource, index: int, format: DxgiFormat, box: Box | None = None) -> Part:
    """A box of a subresource (None: all of it), its texels reinterpreted in ``format``."""
    slice, level = divmod(index, resource.surface.desc.levels)
    levels, slices = (level, level + 1), (slice, slice + 1)
    surface = texture_view(resource.surface, format, SurfaceKind.TEXTURE, levels, slices)
    return whole_part(surface, 0) if box is None else Part(surface, 0, box)


def _row(resource: Resource) -> FormatRow:
    return DXGI[DxgiFormat(resource.desc.Format)].texels


def _all_of(surface: Surface) -> Rect:
    return Rect(0, 0, surface.width, surface.height)

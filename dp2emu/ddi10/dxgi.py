"""The DXGI functions of a device: presentation, priorities, residency.

Source: Direct3D 10/11 DDI, "Residency", and dxgiddi.h.  Each returns an HRESULT.  A flip copies
nothing: the runtime rotates the identities of the buffers instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import IntFlag
from functools import partial
from typing import NamedTuple

import msgspec

from dp2emu.d3d.dxgi import DXGI, Support
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.ddi10.codes import S_OK
from dp2emu.ddi10.context import Context
from dp2emu.ddi10.contract import Rule
from dp2emu.ddi10.resources.residency import QueryResidencyCb, query_resource_residency
from dp2emu.ddi10.resources.resource import Resource, Resources
from dp2emu.errors import Unsupported
from dp2emu.gpu.command.packets import Copy, Part, whole_part
from dp2emu.gpu.resource.subresources import Box

GAMMA_POINTS = 256
"""Number of control points of a gamma ramp."""


class PresentFlag(IntFlag):
    """DXGI_DDI_PRESENT_FLAGS."""

    BLT = 1
    FLIP = 2


class BltFlag(IntFlag):
    """DXGI_DDI_ARG_BLT_FLAGS."""

    RESOLVE = 1
    CONVERT = 2
    STRETCH = 4
    PRESENT = 8


IDENTITY = 1
"""DXGI_DDI_MODE_ROTATION_IDENTITY; 0 is unspecified."""


class BltArguments(NamedTuple):
    """DXGI_DDI_ARG_BLT without the device: a whole subresource into a rectangle of another."""

    hDstResource: bytearray
    DstSubresource: int
    DstLeft: int
    DstTop: int
    DstRight: int
    DstBottom: int
    hSrcResource: bytearray
    SrcSubresource: int
    Flags: int = 0
    Rotate: int = 0


class PresentArguments(NamedTuple):
    """DXGI_DDI_ARG_PRESENT without the device."""

    hSurfaceToPresent: bytearray
    SrcSubResourceIndex: int = 0
    hDstResource: bytearray | None = None
    DstSubResourceIndex: int = 0
    Flags: int = PresentFlag.FLIP
    FlipInterval: int = 1


class GammaCaps(msgspec.Struct):
    """DXGI_GAMMA_CONTROL_CAPABILITIES.  Mutable: GetGammaCaps fills it."""

    ScaleAndOffsetSupported: int = 0
    MaxConvertedValue: float = 0.0
    MinConvertedValue: float = 0.0
    ControlPointPositions: list[float] = msgspec.field(default_factory=list)


class Dxgi:
    """The DXGI functions of a device.

    Mutable: ``shown`` is (resource, subresource number) on the screen, None before the first
    Present.
    """

    def __init__(
        self, context: Context, resources: Resources, query_residency: QueryResidencyCb
    ) -> None:
        self._context = context
        self._resources = resources
        self._query = partial(query_resource_residency, context.contract, query_residency)
        self.shown: tuple[Resource, int] | None = None

    def entries(self) -> Mapping[str, Callable[..., int]]:
        """The DXGI functions implemented here, by name without ``pfn``."""
        return {
            "Present": self.present,
            "GetGammaCaps": self.get_gamma_caps,
            "SetDisplayMode": self.set_display_mode,
            "SetResourcePriority": self.set_resource_priority,
            "QueryResourceResidency": self.query_resource_residency,
            "RotateResourceIdentities": self.rotate_resource_identities,
            "Blt": self.blt,
        }

    def present(self, data: PresentArguments) -> int:
        """Present: flip or copy, and flush the recorded commands."""
        entry = "Present"
        source = self._part(data.hSurfaceToPresent, data.SrcSubResourceIndex, entry)
        if data.Flags & PresentFlag.BLT and data.hDstResource is not None:
            target = self._part(data.hDstResource, data.DstSubResourceIndex, entry)
            self._copy(source, target)
        if data.Flags & PresentFlag.FLIP:
            self.shown = source[0], data.SrcSubResourceIndex
        self._context.commands.flush()
        return S_OK

    def blt(self, data: BltArguments) -> int:
        """Blt: copy with format conversion, resolve and point-sampled stretching as needed.

        Raises Unsupported for rotation.
        """
        if data.Rotate not in (0, IDENTITY):
            raise Unsupported("rotated blts of DXGI")
        entry = "Blt"
        source = self._part(data.hSrcResource, data.SrcSubresource, entry)
        resource, whole = self._part(data.hDstResource, data.DstSubresource, entry)
        box = Box(data.DstLeft, data.DstTop, data.DstRight, data.DstBottom)
        inside = 0 <= box.left < box.right <= whole.box.right
        inside = inside and 0 <= box.top < box.bottom <= whole.box.bottom
        self._context.contract.check(inside, Rule.INSIDE, entry)
        self._copy(source, (resource, Part(whole.surface, whole.index, box)))
        return S_OK

    def rotate_resource_identities(self, handles: Sequence[bytearray]) -> int:
        """RotateResourceIdentities: each resource gets the memory of the next, cyclically."""
        entry = "RotateResourceIdentities"
        resources = [self._resources.objects.open(memory, entry) for memory in handles]
        memory = [(resource.surface, resource.allocations) for resource in resources]
        for resource, rotated in zip(resources, memory[1:] + memory[:1], strict=True):
            resource.surface, resource.allocations = rotated
        return S_OK

    def set_display_mode(self, resource: bytearray, subresource: int) -> int:
        """SetDisplayMode: put a subresource on the screen."""
        found, _ = self._part(resource, subresource, "SetDisplayMode")
        self.shown = found, subresource
        return S_OK

    def get_gamma_caps(self, caps: GammaCaps) -> int:
        """GetGammaCaps: ramps from 0 to 1 with evenly spaced control points."""
        caps.ScaleAndOffsetSupported = 0
        caps.MinConvertedValue, caps.MaxConvertedValue = 0.0, 1.0
        points = range(GAMMA_POINTS)
        caps.ControlPointPositions[:] = [point / points[-1] for point in points]
        return S_OK

    def set_resource_priority(self, resource: bytearray, priority: int) -> int:
        """SetResourcePriority: the eviction priority of a resource's allocations."""
        found = self._resources.objects.open(resource, "SetResourcePriority")
        for allocation in found.allocations:
            self._context.gpu.residency.set_priority(allocation.handle, priority)
        return S_OK

    def query_resource_residency(
        self, handles: Sequence[bytearray], status: list[int] | None
    ) -> int:
        """QueryResourceResidency: set each ``status``; returns the code for all resources."""
        entry = "QueryResourceResidency"
        found = [self._resources.objects.open(memory, entry).memory for memory in handles]
        return self._query(found, status)

    def _part(self, memory: bytearray, index: int, entry: str) -> tuple[Resource, Part]:
        resource = self._resources.objects.open(memory, entry)
        known = not resource.is_buffer and 0 <= index < resource.count
        self._context.contract.check(known, Rule.KNOWN_SUBRESOURCE, entry)
        return resource, whole_part(resource.surface, index)

    def _copy(self, source: tuple[Resource, Part], target: tuple[Resource, Part]) -> None:
        fits = all(map(_convertible, (source[0], target[0])))
        fits = fits and source[0].surface.samples >= target[0].surface.samples
        self._context.contract.check(fits, Rule.SAME_TEXELS, "Blt")
        self._context.commands.predicated = False
        self._resources.record(Copy(source[1], target[1]), source[0], target[0])


def _convertible(resource: Resource) -> bool:
    """Whether Blt can convert a resource's texels: a render target format without integers."""
    row = DXGI[DxgiFormat(resource.desc.Format)]
    return bool(row.support & Support.TARGET) and not row.integers

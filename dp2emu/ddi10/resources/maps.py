"""Maps: host access to the memory of a resource.

Source: Direct3D 10/11 DDI, "Device functions", and the documentation of D3D10_DDI_MAP.  A discard
maps new memory and never waits, no-overwrite maps the current memory without waiting; any other
map waits until the GPU is idle, or reports WASSTILLDRAWING.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Any, NamedTuple

from dp2emu.d3d.sdk import SdkEnum, SdkFlag
from dp2emu.ddi10.codes import DdiCode
from dp2emu.ddi10.context import Context
from dp2emu.ddi10.contract import Rule
from dp2emu.ddi10.resources.resource import Resource, Resources, Usage
from dp2emu.errors import Fault


class Map(SdkEnum, prefix="D3D10_DDI_MAP_"):
    """D3D10_DDI_MAP."""

    READ = 1
    WRITE = 2
    READWRITE = 3
    WRITE_DISCARD = 4
    WRITE_NOOVERWRITE = 5


class MapFlag(SdkFlag, prefix="D3D10_DDI_MAP_FLAG_"):
    """D3D10_DDI_MAP_FLAG."""

    DONOTWAIT = 1


class MappedSubresource(NamedTuple):
    """D3D10_DDI_MAPPED_SUBRESOURCE: ``pData`` is a view of the memory, with the bytes from one row
    of blocks to the next (RowPitch) and from slice to slice (DepthPitch).
    """

    pData: memoryview
    RowPitch: int
    DepthPitch: int


_IMMEDIATE = (Map.WRITE_DISCARD, Map.WRITE_NOOVERWRITE)
"""The values of D3D10_DDI_MAP with which a map never waits for the GPU."""

_MAPS: dict[str, frozenset[Map]] = {
    "ResourceMap": frozenset(Map),
    "StagingResourceMap": frozenset({Map.READ, Map.WRITE, Map.READWRITE}),
    "DynamicIABufferMapDiscard": frozenset({Map.WRITE_DISCARD}),
    "DynamicIABufferMapNoOverwrite": frozenset({Map.WRITE_NOOVERWRITE}),
    "DynamicConstantBufferMapDiscard": frozenset({Map.WRITE_DISCARD}),
    "DynamicResourceMapDiscard": frozenset({Map.WRITE_DISCARD}),
}
"""Values of D3D10_DDI_MAP that each DDI map function accepts, by the function's name."""
_UNMAPS = (
    "ResourceUnmap",
    "StagingResourceUnmap",
    "DynamicIABufferUnmap",
    "DynamicConstantBufferUnmap",
    "DynamicResourceUnmap",
)
_PREFIXED = {
    "Staging": frozenset({Usage.STAGING}),
    "Dynamic": frozenset({Usage.DYNAMIC}),
    "Resource": frozenset({Usage.DEFAULT, Usage.STAGING, Usage.DYNAMIC}),
}
_USAGES = {
    entry: usages
    for prefix, usages in _PREFIXED.items()
    for entry in (*_MAPS, *_UNMAPS)
    if entry.startswith(prefix)
}
"""Resource usages that a DDI function accepts, by its name."""


class Maps:
    """The DDI functions that map and unmap.

    Methods raise ContractError for a broken rule, and Fault with the code to report.
    """

    def __init__(self, context: Context, resources: Resources) -> None:
        self._context = context
        self._resources = resources

    def entries(self) -> Mapping[str, Callable[..., Any]]:
        """The DDI functions implemented here, by name without ``pfn``."""
        return {
            **{name: partial(self.map, name) for name in _MAPS},
            **{name: partial(self.unmap, name) for name in _UNMAPS},
            "ResourceIsStagingBusy": self.is_staging_busy,
        }

    def map(
        self,
        entry: str,
        memory: bytearray,
        subresource: int,
        kind: Annotated[int, Map],
        flags: Annotated[int, MapFlag] = 0,
    ) -> MappedSubresource:
        """Map a subresource; the memory is read-only if ``kind`` is READ.

        Raises Fault (WASSTILLDRAWING, E_OUTOFMEMORY); nothing is mapped then.
        """
        contract, resource = self._context.contract, self._open(entry, memory, subresource)
        known = kind in _MAPS[entry]
        contract.check(known, Rule.KNOWN_STATE, entry)
        contract.check(resource.surface.samples == 1, Rule.SAMPLES, entry)
        contract.check(_usage_allows(entry, resource), Rule.MAP_BY_USAGE, entry)
        contract.check(subresource not in resource.mapped, Rule.NOT_MAPPED, entry)
        self._synchronize(resource, Map(kind), flags)
        resource.mapped.add(subresource)
        return _mapped(resource, subresource, kind == Map.READ)

    def unmap(self, entry: str, memory: bytearray, subresource: int) -> None:
        """Unmap a subresource."""
        resource = self._open(entry, memory, subresource)
        self._context.contract.check(subresource in resource.mapped, Rule.MAPPED, entry)
        resource.mapped.discard(subresource)

    def is_staging_busy(self, memory: bytearray) -> bool:
        """ResourceIsStagingBusy: whether mapping the resource would have to wait for the GPU."""
        return self._resources.objects.open(memory, "ResourceIsStagingBusy").pending > 0

    def _open(self, entry: str, memory: bytearray, subresource: int) -> Resource:
        resource = self._resources.objects.open(memory, entry)
        known = 0 <= subresource < resource.count
        self._context.contract.check(known, Rule.KNOWN_SUBRESOURCE, entry)
        return resource

    def _synchronize(self, resource: Resource, kind: Map, flags: int) -> None:
        """Wait for an idle GPU, or replace the resource's memory, as the map type requires."""
        if kind is Map.WRITE_DISCARD:
            self._resources.rename(resource)
        if kind in _IMMEDIATE:
            return
        commands, gpu = self._context.commands, self._context.gpu
        commands.poll(flush=True)
        if resource.is_staging and not resource.pending:
            return
        if gpu.idle:
            return
        if flags & MapFlag.DONOTWAIT:
            raise Fault(DdiCode.DXGI_DDI_ERR_WASSTILLDRAWING, "the GPU is busy")
        gpu.wait_for_idle()
        gpu.distribute()


def _usage_allows(entry: str, resource: Resource) -> bool:
    return resource.desc.Usage in _USAGES[entry]


def _mapped(resource: Resource, number: int, reading: bool) -> MappedSubresource:
    surface = resource.surface
    if resource.is_buffer:
        data, pitches = surface.data, (surface.data.size, surface.data.size)
    else:
        part = surface.subresources[number]
        data = surface.data[part.offset : part.offset + part.size]
        pitches = part.pitch, part.slice_pitch
    view = data.data
    return MappedSubresource(view.toreadonly() if reading else view, *pitches)

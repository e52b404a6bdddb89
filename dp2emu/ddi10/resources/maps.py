"""Maps: when the host may look at, and write to, the memory of a resource.

Source: Direct3D 10/11 DDI, "Device functions", and the documentation of
D3D10_DDI_MAP.  Discarding gives new memory and never waits, no-overwrite gives what is there; any
other map waits until the GPU is done with what it was told, or reports that it is still drawing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum, IntFlag
from functools import partial
from typing import Any, NamedTuple

from dp2emu.ddi10.codes import DdiCode
from dp2emu.ddi10.context import Context
from dp2emu.ddi10.contract import Rule
from dp2emu.ddi10.resources.resource import Resource, Resources, Usage
from dp2emu.errors import Fault


class Map(IntEnum):
    """D3D10_DDI_MAP."""

    READ = 1
    WRITE = 2
    READWRITE = 3
    WRITE_DISCARD = 4
    WRITE_NOOVERWRITE = 5


class MapFlag(IntFlag):
    """D3D10_DDI_MAP_FLAG."""

    DONOTWAIT = 1


class MappedSubresource(NamedTuple):
    """D3D10_DDI_MAPPED_SUBRESOURCE; ``pData`` is the memory itself, to be read, or written.

    From row to row of blocks there are RowPitch bytes, from slice to slice DepthPitch.
    """

    pData: memoryview
    RowPitch: int
    DepthPitch: int


_AT_ONCE = (Map.WRITE_DISCARD, Map.WRITE_NOOVERWRITE)

_MAPS: dict[str, frozenset[Map]] = {
    "ResourceMap": frozenset(Map),
    "StagingResourceMap": frozenset({Map.READ, Map.WRITE, Map.READWRITE}),
    "DynamicIABufferMapDiscard": frozenset({Map.WRITE_DISCARD}),
    "DynamicIABufferMapNoOverwrite": frozenset({Map.WRITE_NOOVERWRITE}),
    "DynamicConstantBufferMapDiscard": frozenset({Map.WRITE_DISCARD}),
    "DynamicResourceMapDiscard": frozenset({Map.WRITE_DISCARD}),
}
"""What each entry is called with."""
_UNMAPS = (
    "ResourceUnmap",
    "StagingResourceUnmap",
    "DynamicIABufferUnmap",
    "DynamicConstantBufferUnmap",
    "DynamicResourceUnmap",
)
_USAGES = {
    "Staging": frozenset({Usage.STAGING}),
    "Dynamic": frozenset({Usage.DYNAMIC}),
    "Resource": frozenset({Usage.DEFAULT, Usage.STAGING, Usage.DYNAMIC}),
}
"""By what names of entries begin with."""


class Maps:
    """The entries that map and unmap.

    Methods raise ContractError for a broken promise, and Fault with the code to report.
    """

    def __init__(self, context: Context, resources: Resources) -> None:
        self._context = context
        self._resources = resources

    def entries(self) -> Mapping[str, Callable[..., Any]]:
        """The entries, by name."""
        return {
            **{name: partial(self.map, name) for name in _MAPS},
            **{name: partial(self.unmap, name) for name in _UNMAPS},
            "ResourceIsStagingBusy": self.is_staging_busy,
        }

    def map(
        self, entry: str, memory: bytearray, subresource: int, kind: int, flags: int = 0
    ) -> MappedSubresource:
        """The memory of a subresource, for reading alone if that is what ``kind`` says.

        Raises Fault (WASSTILLDRAWING, E_OUTOFMEMORY); nothing is mapped then.
        """
        contract, resource = self._context.contract, self._open(entry, memory, subresource)
        known = kind in _MAPS[entry]
        contract.hold(known, Rule.KNOWN_STATE, entry)
        contract.hold(resource.surface.samples == 1, Rule.SAMPLES, entry)
        contract.hold(_goes_with(entry, resource), Rule.MAP_BY_USAGE, entry)
        contract.hold(subresource not in resource.mapped, Rule.NOT_MAPPED, entry)
        self._make_safe(resource, Map(kind), flags)
        resource.mapped.add(subresource)
        return _mapped(resource, subresource, kind == Map.READ)

    def unmap(self, entry: str, memory: bytearray, subresource: int) -> None:
        """The host has done with a subresource."""
        resource = self._open(entry, memory, subresource)
        self._context.contract.hold(subresource in resource.mapped, Rule.MAPPED, entry)
        resource.mapped.discard(subresource)

    def is_staging_busy(self, memory: bytearray) -> bool:
        """ResourceIsStagingBusy: whether a map of the resource would wait."""
        return self._resources.objects.open(memory, "ResourceIsStagingBusy").pending > 0

    def _open(self, entry: str, memory: bytearray, subresource: int) -> Resource:
        resource = self._resources.objects.open(memory, entry)
        there = 0 <= subresource < resource.count
        self._context.contract.hold(there, Rule.KNOWN_SUBRESOURCE, entry)
        return resource

    def _make_safe(self, resource: Resource, kind: Map, flags: int) -> None:
        """Wait, or not, until the host may do what it wants with the memory."""
        if kind is Map.WRITE_DISCARD:
            self._resources.rename(resource)
        if kind in _AT_ONCE:
            return
        commands, gpu = self._context.commands, self._context.gpu
        commands.poll(flush=True)
        if resource.is_staging and not resource.pending:
            return
        if gpu.idle:
            return
        if flags & MapFlag.DONOTWAIT:
            raise Fault(DdiCode.DXGI_DDI_ERR_WASSTILLDRAWING, "the GPU is not done")
        gpu.wait_for_idle()
        gpu.distribute()


def _goes_with(entry: str, resource: Resource) -> bool:
    usages = next(found for begin, found in _USAGES.items() if entry.startswith(begin))
    return resource.desc.Usage in usages


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

"""Resources: buffers and textures, and the memory behind them.

Source: Direct3D 10/11 DDI, "Device functions".  A resource that the runtime
discards gets new memory, and packets under way keep the old one, so that nothing ever waits for a
discard.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import partial
from typing import Any

import numpy as np

from dp2emu.ddi10.codes import DdiCode
from dp2emu.ddi10.context import Context
from dp2emu.ddi10.contract import Rule, float32
from dp2emu.ddi10.descriptions import BUFFER_TYPES as BUFFER_TYPES
from dp2emu.ddi10.descriptions import BindFlag as BindFlag
from dp2emu.ddi10.descriptions import CreateResource as CreateResource
from dp2emu.ddi10.descriptions import DxgiSampleDesc as DxgiSampleDesc
from dp2emu.ddi10.descriptions import MipInfo as MipInfo
from dp2emu.ddi10.descriptions import OpenResource as OpenResource
from dp2emu.ddi10.descriptions import ResourceMisc as ResourceMisc
from dp2emu.ddi10.descriptions import ResourceType as ResourceType
from dp2emu.ddi10.descriptions import SubresourceUP as SubresourceUP
from dp2emu.ddi10.descriptions import Usage as Usage
from dp2emu.ddi10.descriptions import bytes_of, possible, surface_desc
from dp2emu.ddi10.objects import Objects
from dp2emu.ddi10.residency import Allocation, Memory, Purpose
from dp2emu.errors import ContractError, Fault
from dp2emu.gpu.memory import Surface
from dp2emu.gpu.packets import Observe, Packet, PageIn
from dp2emu.gpu.streamout import Filled
from dp2emu.gpu.texels import blocks
from dp2emu.records import dataclass


@dataclass(slots=True, eq=False)
class Progress:
    """How far a buffer was streamed into, by whichever device.

    Mutable: who says where to go on begins anew, and draws that are recorded move what they were
    recorded with.
    """

    filled: Filled = field(default_factory=Filled)


@dataclass(slots=True, eq=False)
class Resource:
    """A resource and the memory that is its own now.  Mutable: that changes.

    ``allocations`` are what its memory is called in ``Gpu.residency``.  ``mapped`` are the
    subresources the host has pointers to, ``pending`` counts commands that use a staging resource
    and are not done.  ``shared`` is what the kernel calls it, 0 if devices do not share it.
    ``progress`` is how far a buffer was streamed into, ``min_lod`` the least level of detail that
    is read of a texture.
    """

    desc: CreateResource
    surface: Surface
    allocations: tuple[Allocation, ...]
    mapped: set[int]
    pending: int = 0
    shared: int = 0
    progress: Progress = field(default_factory=Progress)
    min_lod: float = 0.0

    @property
    def filled(self) -> Filled:
        """How far it was streamed into."""
        return self.progress.filled

    @property
    def is_buffer(self) -> bool:
        """Whether it has bytes instead of texels."""
        return self.desc.ResourceDimension in BUFFER_TYPES

    @property
    def is_staging(self) -> bool:
        """Whether it only serves to move data."""
        return self.desc.Usage == Usage.STAGING

    @property
    def count(self) -> int:
        """How many subresources it has."""
        return 1 if self.is_buffer else len(self.surface.subresources)

    @property
    def memory(self) -> Memory:
        """What of it residency is about; the host has staging resources."""
        return Memory(self.allocations, system_memory=self.is_staging)


class Resources:
    """The resources of a device.  Mutable: entries make and destroy them.

    Methods raise ContractError for a broken promise, and Fault with the code to report.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self.objects: Objects[Resource] = Objects(context, "Resource", b"RSRC")

    def entries(self) -> Mapping[str, Callable[..., Any]]:
        """The entries about the lives of resources, by name."""
        return {
            "CalcPrivateResourceSize": self.objects.size,
            "CreateResource": self.create,
            "CalcPrivateOpenedResourceSize": self.objects.size,
            "OpenResource": self.open,
            "SetResourceMinLOD": self.set_min_lod,
        }

    def create(self, desc: CreateResource, memory: bytearray, runtime: int = 0) -> None:
        """CreateResource in ``memory``; ``runtime`` is the runtime's handle and not used."""
        entry = "CreateResource"
        self.objects.check(memory)
        self._context.contract.hold(possible(desc), Rule.KNOWN_RESOURCE, entry)
        resource = Resource(desc, *self._allocate(desc), set())
        try:
            for index, given in enumerate(desc.pInitialDataUP or ()):
                self._fill(resource, index, given)
        except ContractError:
            self._free(resource)
            raise
        self.objects.add(memory, resource)
        if desc.MiscFlags & ResourceMisc.SHARED:
            resource.shared = resource.allocations[0].handle
            self._context.shared.offer(resource.shared, resource)

    def open(self, desc: OpenResource, memory: bytearray, runtime: int = 0) -> None:
        """OpenResource: what another device shares, in ``memory``."""
        self.objects.check(memory)
        found = self._context.shared.open(desc.hKMResource)
        self._context.contract.hold(found is not None, Rule.SHARED_RESOURCE, "OpenResource")
        assert found is not None
        self.objects.add(memory, replace(found, mapped=set(), pending=0))

    def set_min_lod(self, memory: bytearray, lod: float) -> None:
        """SetResourceMinLOD: no level of detail below that is read of any of its views."""
        resource = self.objects.open(memory, "SetResourceMinLOD")
        (least,) = float32(lod)
        if not self._context.commands.skips():
            resource.min_lod = least if least > 0 else 0.0

    def destroy(self, memory: bytearray) -> None:
        """DestroyResource: the GPU finishes with its memory what it was told before."""
        self._free(self.objects.take(memory))

    def destroy_all(self) -> None:
        """The device dies."""
        for resource in self.objects.values():
            self._free(resource)

    def rename(self, resource: Resource) -> None:
        """Give a resource new memory, of zeros, in the place of what it had.

        Raises Fault (E_OUTOFMEMORY); it keeps what it had then.
        """
        fresh = self._allocate(resource.desc)
        self._free(resource)
        resource.surface, resource.allocations = fresh

    def record(self, packet: Packet, *used: Resource) -> None:
        """Record a packet, behind what brings memory it uses to where the GPU reaches it."""
        commands, contract = self._context.commands, self._context.contract
        unmapped = not any(resource.mapped for resource in used)
        contract.hold(unmapped, Rule.USED_MAPPED, type(packet).__name__)
        wanted = dict.fromkeys(each for resource in used for each in resource.memory.rendering)
        if wanted:
            commands.add(PageIn(tuple(wanted)))
        commands.add(packet)
        for resource in used:
            if resource.is_staging:
                resource.pending += 1
                commands.add(Observe(resource.surface, partial(_done, resource)))

    def packed(
        self, data: bytes, shape: tuple[int, int, int], pitches: tuple[int, int], entry: str
    ) -> bytes:
        """Slices of rows of bytes, ``shape`` of them, without the holes that ``pitches`` (from
        row to row, from slice to slice) leave in memory of the host.
        """
        slices, rows, size = shape
        row_pitch, slice_pitch = pitches
        needed = (slices - 1) * slice_pitch + (rows - 1) * row_pitch + size
        kept = min(row_pitch, slice_pitch) >= 0 and len(data) >= needed
        self._context.contract.hold(kept, Rule.SOURCE_MEMORY, entry)
        given = np.ndarray(shape, np.uint8, bytes(data), 0, (slice_pitch, row_pitch, 1))
        return given.tobytes()

    def _fill(self, resource: Resource, index: int, given: SubresourceUP) -> None:
        pitches = given.SysMemPitch, given.SysMemSlicePitch
        if resource.is_buffer:
            stored: Any = resource.surface.data
            shape = (1, 1, stored.size)
        else:
            stored = blocks(resource.surface, index)
            shape = (stored.shape[0], stored.shape[1], math.prod(stored.shape[2:]))
        data = self.packed(given.pSysMem, shape, pitches, "CreateResource")
        stored[...] = np.frombuffer(data, np.uint8).reshape(stored.shape)

    def _allocate(self, desc: CreateResource) -> tuple[Surface, tuple[Allocation, ...]]:
        """Raises Fault (E_OUTOFMEMORY)."""
        heap, residency = self._context.gpu.heap, self._context.gpu.residency
        allocations: tuple[Allocation, ...] = ()
        try:
            for purpose in _purposes(desc):
                handle = residency.add(bytes_of(surface_desc(desc)))
                allocations += (Allocation(handle, purpose),)
            return heap.make(surface_desc(desc)), allocations
        except Fault as fault:
            for each in allocations:
                residency.remove(each.handle)
            raise Fault(DdiCode.E_OUTOFMEMORY, f"CreateResource: {fault.what}") from fault

    def _free(self, resource: Resource) -> None:
        """Forget its allocations, unless others have it; its bytes go when no packet needs them
        any more.
        """
        if resource.shared and not self._context.shared.release(resource.shared):
            return
        for each in resource.allocations:
            self._context.gpu.residency.remove(each.handle)


def _done(resource: Resource, surface: Surface) -> None:
    resource.pending -= 1


def _purposes(desc: CreateResource) -> tuple[Purpose, ...]:
    """What memory a resource has.  Textures the host writes have some in which their texels lie
    in rows; a staging resource has nothing else.
    """
    if desc.Usage == Usage.STAGING:
        return (Purpose.LOCK,)
    locked = desc.Usage == Usage.DYNAMIC and desc.ResourceDimension not in BUFFER_TYPES
    return (Purpose.RENDERING, Purpose.LOCK) if locked else (Purpose.RENDERING,)

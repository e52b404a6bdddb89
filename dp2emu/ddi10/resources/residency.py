"""QueryResourceResidency of the DXGI functions: whether drawing with resources would stall.

Source: "QueryResourceResidencyDXGI callback function"; Direct3D 10/11 DDI, "Residency".  The
answer describes the moment of the call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum, IntEnum

import msgspec

from dp2emu.ddi10.codes import DdiCode
from dp2emu.ddi10.contract import Contract, Rule
from dp2emu.errors import Fault, UsageError
from dp2emu.gpu.resource.memory_residency import Place, Residency

MOST_ALLOCATIONS = 1 << 16
"""Maximum allocations of the resources of one residency query; more fail with E_OUTOFMEMORY."""


class ResidencyCode(IntEnum):
    """Success codes of QueryResourceResidency."""

    S_OK = 0
    S_NOT_RESIDENT = 0x08760875
    S_RESIDENT_IN_SHARED_MEMORY = 0x08760876


class Status(IntEnum):
    """DXGI_DDI_RESIDENCY: the status of a resource."""

    FULLY_RESIDENT = 1
    RESIDENT_IN_SHARED_MEMORY = 2
    EVICTED_TO_DISK = 3


_CODES = {
    Place.GPU: ResidencyCode.S_OK,
    Place.SHARED: ResidencyCode.S_RESIDENT_IN_SHARED_MEMORY,
    Place.DISK: ResidencyCode.S_NOT_RESIDENT,
}


class Purpose(Enum):
    """What an allocation of a resource is for: rendering, or access by the host."""

    RENDERING = "rendering"
    LOCK = "lock scratch"


class Allocation(msgspec.Struct, frozen=True):
    """An allocation of a resource: its kernel handle and its purpose."""

    handle: int
    purpose: Purpose = Purpose.RENDERING


class Memory(msgspec.Struct, frozen=True):
    """The allocations of a resource.  Raises UsageError if video memory has none for rendering."""

    allocations: tuple[Allocation, ...]
    system_memory: bool = False

    def __post_init__(self) -> None:
        if not (self.rendering or self.system_memory):
            raise UsageError("a resource in video memory needs an allocation for rendering")

    @property
    def rendering(self) -> list[int]:
        """Kernel handles of the resource's allocations that are for rendering."""
        wanted = Purpose.RENDERING
        return [each.handle for each in self.allocations if each.purpose is wanted]


class QueryResidency(msgspec.Struct):
    """D3DDDICB_QUERYRESIDENCY with a list of allocations; hResource is null.

    Mutable: the callback fills ``pResidencyStatus``, one D3DDDI_RESIDENCYSTATUS per allocation.
    """

    HandleList: tuple[int, ...]
    pResidencyStatus: list[int] = msgspec.field(default_factory=list)


QueryResidencyCb = Callable[[QueryResidency], int]
"""pfnQueryResidencyCb of the runtime; returns an HRESULT."""


def residency_callback(memory: Residency) -> QueryResidencyCb:
    """A pfnQueryResidencyCb that answers from the memory model of a GPU."""

    def answer(query: QueryResidency) -> int:
        try:
            query.pResidencyStatus[:] = [memory.place(handle) for handle in query.HandleList]
        except Fault:
            return DdiCode.E_INVALIDARG
        return ResidencyCode.S_OK

    return answer


def query_resource_residency(
    contract: Contract,
    callback: QueryResidencyCb,
    resources: Sequence[Memory],
    status: list[int] | None,
) -> int:
    """QueryResourceResidencyDXGI: returns the code for all resources and sets each one's status.

    ``status``, with an element per resource, is untouched when the call fails.  Raises Fault with
    E_INVALIDARG, E_OUTOFMEMORY or the error of the callback.
    """
    _check(contract, resources, status)
    worst = [_worst(contract, callback, resource.rendering) for resource in resources]
    if status is not None:
        status[: len(worst)] = [Status(place) for place in worst]
    return _CODES[max(worst, default=Place.GPU)]


def _check(contract: Contract, resources: Sequence[Memory], status: list[int] | None) -> None:
    entry = "QueryResourceResidency"
    system = any(resource.system_memory for resource in resources)
    contract.check(not system, Rule.SYSTEM_MEMORY, entry)
    if system or len(status or ()) < len(resources):
        raise Fault(DdiCode.E_INVALIDARG, f"{entry}: system memory, or status array too short")
    if sum(len(resource.rendering) for resource in resources) > MOST_ALLOCATIONS:
        raise Fault(DdiCode.E_OUTOFMEMORY, f"{entry}: too many allocations")


def _worst(contract: Contract, callback: QueryResidencyCb, handles: list[int]) -> Place:
    """Query the runtime about the allocations of a resource; returns the farthest place."""
    query = QueryResidency(tuple(handles), [0] * len(handles))
    code = callback(query)
    if code & 0x80000000:
        raise Fault(code, "QueryResourceResidency: pfnQueryResidencyCb failed")
    answers = query.pResidencyStatus
    known = len(answers) == len(handles) and all(answer in tuple(Place) for answer in answers)
    contract.check(known, Rule.KNOWN_STATUS, "pfnQueryResidencyCb")
    return Place(max(answers))

"""QueryResourceResidency of the DXGI functions: whether drawing will stall for memory.

Source: "QueryResourceResidencyDXGI callback function"; Direct3D 10/11 DDI, "Residency".  The
answer is that of the moment it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from enum import Enum, IntEnum

from dp2emu.ddi10.codes import DdiCode
from dp2emu.ddi10.contract import Contract, Rule
from dp2emu.errors import Fault, UsageError
from dp2emu.gpu.resource.memory_residency import Place, Residency
from dp2emu.records import dataclass

MOST_ALLOCATIONS = 1 << 16
"""Allocations the driver has memory to ask about in one call; beyond that E_OUTOFMEMORY."""


class ResidencyCode(IntEnum):
    """What the function returns when it could answer; all are codes of success."""

    S_OK = 0
    S_NOT_RESIDENT = 0x08760875
    S_RESIDENT_IN_SHARED_MEMORY = 0x08760876


class Status(IntEnum):
    """DXGI_DDI_RESIDENCY, what is said of each resource."""

    FULLY_RESIDENT = 1
    RESIDENT_IN_SHARED_MEMORY = 2
    EVICTED_TO_DISK = 3


_CODES = {
    Place.GPU: ResidencyCode.S_OK,
    Place.SHARED: ResidencyCode.S_RESIDENT_IN_SHARED_MEMORY,
    Place.DISK: ResidencyCode.S_NOT_RESIDENT,
}


class Purpose(Enum):
    """What a driver made an allocation of a resource for."""

    RENDERING = "rendering"
    LOCK = "lock scratch"


@dataclass(frozen=True, slots=True)
class Allocation:
    """One allocation of a resource, by the handle the runtime gave."""

    handle: int
    purpose: Purpose = Purpose.RENDERING


@dataclass(frozen=True, slots=True)
class Memory:
    """A resource as its memory.  Raises UsageError if there is nothing the GPU renders with, and
    it is not system memory.
    """

    allocations: tuple[Allocation, ...]
    system_memory: bool = False

    def __post_init__(self) -> None:
        if not (self.rendering or self.system_memory):
            raise UsageError("a resource without an allocation for rendering")

    @property
    def rendering(self) -> list[int]:
        """Handles of the allocations that rendering is likely to use."""
        wanted = Purpose.RENDERING
        return [each.handle for each in self.allocations if each.purpose is wanted]


@dataclass(slots=True)
class QueryResidency:
    """D3DDDICB_QUERYRESIDENCY with a list of allocations, hResource being null.

    Mutable: who answers fills ``pResidencyStatus``, which is as long as the list, with
    D3DDDI_RESIDENCYSTATUS values.
    """

    HandleList: tuple[int, ...]
    pResidencyStatus: list[int] = field(default_factory=list)


QueryResidencyCb = Callable[[QueryResidency], int]
"""pfnQueryResidencyCb of the runtime; returns an HRESULT."""


def answer_from(memory: Residency) -> QueryResidencyCb:
    """A pfnQueryResidencyCb that answers from a GPU's own bookkeeping."""

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
    """QueryResourceResidencyDXGI: the code for all resources, and a Status in ``status`` for each.

    ``status`` has an element for every resource, and is untouched when the call fails.  Raises
    Fault with E_INVALIDARG, E_OUTOFMEMORY or what the callback failed with.
    """
    _check(contract, resources, status)
    worst = [_worst(contract, callback, resource.rendering) for resource in resources]
    if status is not None:
        status[: len(worst)] = [Status(place) for place in worst]
    return _CODES[max(worst, default=Place.GPU)]


def _check(contract: Contract, resources: Sequence[Memory], status: list[int] | None) -> None:
    entry = "QueryResourceResidency"
    system = any(resource.system_memory for resource in resources)
    contract.hold(not system, Rule.SYSTEM_MEMORY, entry)
    if system or len(status or ()) < len(resources):
        raise Fault(DdiCode.E_INVALIDARG, f"{entry}: system memory, or no room for the status")
    if sum(len(resource.rendering) for resource in resources) > MOST_ALLOCATIONS:
        raise Fault(DdiCode.E_OUTOFMEMORY, f"{entry}: too many allocations")


def _worst(contract: Contract, callback: QueryResidencyCb, handles: list[int]) -> Place:
    """Ask the runtime about the allocations of a resource; where the farthest one is."""
    query = QueryResidency(tuple(handles), [0] * len(handles))
    code = callback(query)
    if code & 0x80000000:
        raise Fault(code, "QueryResourceResidency: pfnQueryResidencyCb failed")
    answers = query.pResidencyStatus
    known = len(answers) == len(handles) and all(answer in tuple(Place) for answer in answers)
    contract.hold(known, Rule.KNOWN_STATUS, "pfnQueryResidencyCb")
    return Place(max(answers))

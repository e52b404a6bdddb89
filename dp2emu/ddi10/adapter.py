"""The adapter: interface versions, devices, one clock, and what can befall all of them.

``Adapter`` is what OpenAdapter leads to.  Its GPU, and with it clock and memory, may be that of a
DirectX 6 to 9 driver.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple

from dp2emu.ddi10.capabilities import get_caps
from dp2emu.ddi10.codes import Interface
from dp2emu.ddi10.contract import Contract, Rule
from dp2emu.ddi10.device import Device
from dp2emu.ddi10.queries.counters import Watched
from dp2emu.ddi10.resources.residency import QueryResidencyCb, answer_from
from dp2emu.ddi10.shared_resources import Shared
from dp2emu.errors import UsageError
from dp2emu.gpu.compile.thread_pool import cores
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.shader.engines import JIT, engine


class Cause(Enum):
    """Why timestamps before and after have nothing to do with each other."""

    POWER = "power state"
    THROTTLE = "throttling"
    SUPPLY = "power supply"
    HEAT = "heat"


class Disturbance(NamedTuple):
    """A disturbance of the clock, at a time in ticks."""

    time: int
    cause: Cause


class Adapter:
    """An adapter with any number of devices.  Mutable: time passes and things happen to it.

    ``checking`` is whether every broken promise of the runtime is a ContractError.  Without a GPU
    it has one that draws on the default engine, with a thread for each processor.
    """

    def __init__(self, gpu: Gpu | None = None, *, checking: bool = False) -> None:
        self.gpu = gpu or Gpu(run=engine(JIT), threads=cores())
        self.contract = Contract(checking)
        self.watched = Watched()
        self.shared: Shared[Any] = Shared()
        self.disturbances: list[Disturbance] = []
        self._until_removal: int | None = None

    def get_supported_versions(self) -> tuple[Interface, ...]:
        """Interface versions devices can be created for, oldest first."""
        return tuple(Interface)

    def get_caps(self, type: int, data: bytearray) -> int:
        """GetCaps: writes what this adapter can do into ``data``, and returns an HRESULT.

        ``type`` is a D3D10_2DDICAPS_TYPE.
        """
        return get_caps(type, data)

    def create_device(
        self,
        interface: int,
        set_error: Callable[[int, int], None],
        core_layer: int = 0,
        query_residency: QueryResidencyCb | None = None,
    ) -> Device:
        """CreateDevice: ``set_error`` is pfnSetErrorCb and is given ``core_layer`` and a code.

        ``query_residency`` is pfnQueryResidencyCb; without it the GPU's own bookkeeping answers.
        Raises ContractError for an interface version that was not announced.
        """
        known = interface in tuple(Interface)
        self.contract.hold(known, Rule.KNOWN_INTERFACE, "CreateDevice")
        answer = query_residency or answer_from(self.gpu.residency)
        return Device(self, Interface(interface), set_error, core_layer, answer)

    def remove(self, after: int = 0) -> None:
        """The adapter is pulled out when ``after`` more calls of entries have been made.

        Raises UsageError for a negative number.
        """
        if after < 0:
            raise UsageError(f"removal after {after} calls")
        self._until_removal = after

    @property
    def removed(self) -> bool:
        """Whether it is gone; it never comes back."""
        return self._until_removal == 0

    def count_call(self) -> bool:
        """An entry is called: whether the adapter is there for it."""
        if self._until_removal:
            self._until_removal -= 1
            return True
        return self._until_removal is None

    def disturb(self, cause: Cause) -> None:
        """Something happens to the clock now: intervals around this moment are disjoint."""
        self.gpu.run()
        self.gpu.change_clock()
        self.disturbances.append(Disturbance(self.gpu.now, cause))

    def advance(self, ticks: int) -> None:
        """Let ``ticks`` of host time pass, 1,000,000,000 a second.

        Raises UsageError for a negative number.
        """
        if ticks < 0:
            raise UsageError(f"time does not go back by {-ticks} ticks")
        self.gpu.advance(ticks)
        self.gpu.distribute()

    def finish(self) -> None:
        """Let time pass until the GPU has done, and shown, all it was given."""
        self.gpu.finish()
        self.gpu.distribute()

"""The adapter of a driver: interface versions, devices, the clock, and disturbances of them.

``Adapter`` implements the functions that OpenAdapter returns (Direct3D 10/11 DDI).  It can share
the GPU of a DirectX 6 to 9 driver, and with it clock and memory.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple

from dp2emu.argument_check import checked
from dp2emu.ddi10.capabilities import get_caps
from dp2emu.ddi10.codes import Interface
from dp2emu.ddi10.contract import Contract, Rule
from dp2emu.ddi10.device import Device
from dp2emu.ddi10.queries.counters import ActiveCounters
from dp2emu.ddi10.resources.residency import QueryResidencyCb, residency_callback
from dp2emu.ddi10.shared_resources import SharedResources
from dp2emu.errors import UsageError
from dp2emu.gpu.compile.thread_pool import cores
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.shader.engines import JIT, engine


class Cause(Enum):
    """Causes of a clock disturbance, which makes timestamps before and after incomparable."""

    POWER = "power state"
    THROTTLE = "throttling"
    SUPPLY = "power supply"
    HEAT = "heat"


class Disturbance(NamedTuple):
    """A disturbance of the GPU's clock: when it happened (``time``, in ticks) and its cause."""

    time: int
    cause: Cause


@checked
class Adapter:
    """An adapter with any number of devices.  Mutable: devices, clock and removal change it.

    ``checking`` makes every broken rule of the runtime a ContractError.  The default GPU runs the
    default engine with one thread per processor.
    """

    def __init__(self, gpu: Gpu | None = None, *, checking: bool = False) -> None:
        self.gpu = gpu or Gpu(run=engine(JIT), threads=cores())
        self.contract = Contract(checking)
        self.active_counters = ActiveCounters()
        self.shared: SharedResources[Any] = SharedResources()
        self.disturbances: list[Disturbance] = []
        self._until_removal: int | None = None

    def get_supported_versions(self) -> tuple[Interface, ...]:
        """Interface versions devices can be created for, oldest first."""
        return tuple(Interface)

    def get_caps(self, type: int, data: bytearray) -> int:
        """GetCaps: write capabilities of ``type`` (D3D10_2DDICAPS_TYPE) into ``data``; returns an
        HRESULT.
        """
        return get_caps(type, data)

    def create_device(
        self,
        interface: int,
        set_error: Callable[[int, int], None],
        core_layer: int = 0,
        query_residency: QueryResidencyCb | None = None,
    ) -> Device:
        """CreateDevice: ``set_error`` is pfnSetErrorCb, called with ``core_layer`` and a code.

        ``query_residency`` is pfnQueryResidencyCb; by default the GPU's memory model answers.
        Raises ContractError for an ``interface`` that get_supported_versions does not return.
        """
        known = interface in tuple(Interface)
        self.contract.check(known, Rule.KNOWN_INTERFACE, "CreateDevice")
        answer = query_residency or residency_callback(self.gpu.residency)
        return Device(self, Interface(interface), set_error, core_layer, answer)

    def remove(self, after: int = 0) -> None:
        """Remove the adapter ``after`` that many more DDI calls.

        Raises UsageError for a negative number.
        """
        if after < 0:
            raise UsageError(f"remove: after={after} calls, expected 0 or more")
        self._until_removal = after

    @property
    def removed(self) -> bool:
        """Whether the adapter was removed, which is final."""
        return self._until_removal == 0

    def count_call(self) -> bool:
        """Count a DDI call; returns whether the adapter is still present."""
        if self._until_removal:
            self._until_removal -= 1
            return True
        return self._until_removal is None

    def disturb(self, cause: Cause) -> None:
        """Disturb the clock now, so that timestamp intervals around this moment are disjoint."""
        self.gpu.run()
        self.gpu.change_clock()
        self.disturbances.append(Disturbance(self.gpu.now, cause))

    def advance(self, ticks: int) -> None:
        """Advance host time by ``ticks`` of 1 ns.

        Raises UsageError for a negative number.
        """
        if ticks < 0:
            raise UsageError(f"advance: {ticks} ticks, expected 0 or more")
        self.gpu.advance(ticks)
        self.gpu.distribute()

    def finish(self) -> None:
        """Advance time until the GPU has executed and reported all submitted work."""
        self.gpu.finish()
        self.gpu.distribute()

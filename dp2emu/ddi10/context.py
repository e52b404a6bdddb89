"""What the parts of a device share: the GPU, its command buffer, and who watches promises."""

from __future__ import annotations

from typing import Any, get_args

from dp2emu.ddi10.codes import Interface
from dp2emu.ddi10.contract import Contract
from dp2emu.ddi10.shared_resources import Shared
from dp2emu.gpu.command.packets import (
    Observe,
    Packet,
    PageIn,
    Predicable,
    Predicated,
    Write,
    WriteBytes,
)
from dp2emu.gpu.command.queries import Counters, QuerySlot
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.records import dataclass


@dataclass(frozen=True, slots=True)
class Context:
    """Of one device; ``shared`` is of its adapter."""

    gpu: Gpu
    commands: Commands
    contract: Contract
    interface: Interface
    shared: Shared[Any]


# Commands a device has recorded and the GPU has not been given yet.
#
# As on hardware, nothing is started before it is flushed: by Flush, by a QueryGetData that may
# flush, or because the buffer is full.
#
# Source: DDI documentation of Flush and QueryGetData.

CAPACITY = 1024
"""Commands a buffer holds."""

CAPACITY_BYTES = 1 << 24
"""Bytes of data they may bring along."""

_PACKET_BYTES = 16
"""What a recorded packet counts as handed over to the GPU, beside the data it brings along."""


_PREDICABLE = get_args(Predicable)


_ASIDE = (PageIn, Observe)
"""Packets that are no commands of a driver: the system's, and our own."""


@dataclass(frozen=True, slots=True)
class Predicate:
    """What SetPredication set: commands are skipped when the query's BOOL is ``value``."""

    slot: QuerySlot
    value: bool
    hint: bool


class Commands:
    """A device's command buffer.  Mutable: it is a buffer.

    ``counters`` are what its draws count.  ``predicate`` is the current one or None; it is for
    packets of entries that are ``predicated``.
    A flush, and a poll, take the host as long as the timing model says a call takes.
    """

    def __init__(self, gpu: Gpu) -> None:
        self._gpu = gpu
        self.counters = Counters()
        self.predicate: Predicate | None = None
        self.predicated = False
        self._recorded: list[Packet] = []
        self._commands = 0
        self._brought = 0
        self._calls = 0

    def add(self, packet: Packet) -> None:
        """Record a packet behind the earlier ones."""
        if self._commands >= CAPACITY or self._brought >= CAPACITY_BYTES:
            self.flush()
        self._commands += not isinstance(packet, _ASIDE)
        if isinstance(packet, Write | WriteBytes):
            self._brought += len(packet.data)
        at = self.predicate
        if at is not None and self.predicated and isinstance(packet, _PREDICABLE):
            packet = Predicated(packet, at.slot, at.value, at.hint)
        self._recorded.append(packet)

    def flush(self) -> None:
        """Give the GPU what was recorded; the entry Flush."""
        recorded, size = self._recorded, _PACKET_BYTES * self._commands + self._brought
        self.drop()
        self._gpu.upload(size)
        for packet in recorded:
            self._gpu.submit(packet, self.counters)
        self._pass_time(size)

    def skips(self) -> bool:
        """Whether a command that is not the GPU's own is to be skipped now.

        The host waits until that is known, unless the predicate is a hint.
        """
        at = self.predicate
        if at is None or not self.predicated:
            return False
        self.flush()
        if not at.hint:
            self._gpu.finish()
        found = at.slot.outcome
        return found is not None and found.visible <= self._gpu.now and found.holds is at.value

    def poll(self, flush: bool) -> None:
        """Look what has finished, after a flush if that is wanted and there is what to flush."""
        if flush and self._recorded:
            self.flush()
        else:
            self._pass_time(0)

    def drop(self) -> None:
        """Forget what was recorded: it is the GPU's now, or the device is gone."""
        self._recorded, self._commands, self._brought = [], 0, 0

    def _pass_time(self, size: int) -> None:
        ticks = self._gpu.timing.call(self._calls, size)
        self._calls += 1
        self._gpu.advance(ticks)
        self._gpu.distribute()

"""The context shared by the parts of a device, and its command buffer.

Source: DDI documentation of Flush and QueryGetData.
"""

from __future__ import annotations

from typing import Any, get_args

import msgspec

from dp2emu.ddi10.codes import Interface
from dp2emu.ddi10.contract import Contract
from dp2emu.ddi10.shared_resources import SharedResources
from dp2emu.gpu.command import packets
from dp2emu.gpu.command.queries import Counters, QuerySlot
from dp2emu.gpu.device.gpu import Gpu


class Context(msgspec.Struct, frozen=True):
    """What all parts of a device use: GPU, command buffer, contract, and interface version.

    ``shared`` holds the resources that the devices of the adapter share.
    """

    gpu: Gpu
    commands: Commands
    contract: Contract
    interface: Interface
    shared: SharedResources[Any]


# The command buffer

CAPACITY = 1024
"""Maximum number of DDI commands in a device's command buffer."""

CAPACITY_BYTES = 1 << 24
"""Maximum bytes of data that the commands of a device's command buffer carry together."""

_PACKET_BYTES = 16
"""Number of bytes that a command adds, besides its data, to the GPU's upload counter."""

_PREDICABLE = get_args(packets.Predicable)

_INTERNAL = (packets.PageIn, packets.Observe)
"""Packet types that stand for no DDI command, so that they do not count toward ``CAPACITY``."""

_UPLOADING_NOTHING = (*_INTERNAL, packets.BeginQuery, packets.EndQuery)
"""Packet types that upload no bytes; a query does not observe its own commands."""


class Predicate(msgspec.Struct, frozen=True):
    """The predicate of SetPredication: commands are skipped if the query's BOOL is ``value``."""

    slot: QuerySlot
    value: bool
    hint: bool


class Commands:
    """A device's command buffer: packets for the GPU that are not submitted yet.

    Mutable: it fills and is flushed.  As on hardware no command starts before a flush: by Flush,
    by a QueryGetData that may flush, or because the buffer is full.  ``counters`` count the draws
    of this device.  ``predicate`` is what SetPredication set, or None; it applies to packets while
    ``predicated`` is True, which is so during functions that can be skipped.  A flush and a poll
    each take the host the time of a call in the timing model.
    """

    def __init__(self, gpu: Gpu) -> None:
        self._gpu = gpu
        self.counters = Counters()
        self.predicate: Predicate | None = None
        self.predicated = False
        self._recorded: list[tuple[packets.Packet, int]] = []
        self._commands = 0
        self._data_bytes = 0
        self._calls = 0

    @property
    def recorded(self) -> list[tuple[packets.Packet, int]]:
        """The packets that are not submitted, each with the bytes it uploads; another list after
        each flush.
        """
        return self._recorded

    def add(self, packet: packets.Packet) -> None:
        """Append a packet, wrapped with the current predicate if that applies."""
        if self._commands >= CAPACITY or self._data_bytes >= CAPACITY_BYTES:
            self.flush()
        self._commands += not isinstance(packet, _INTERNAL)
        size = len(packet.data) if isinstance(packet, packets.Write | packets.WriteBytes) else 0
        self._data_bytes += size
        uploaded = 0 if isinstance(packet, _UPLOADING_NOTHING) else _PACKET_BYTES + size
        at = self.predicate
        if at is not None and self.predicated and isinstance(packet, _PREDICABLE):
            packet = packets.Predicated(packet, at.slot, at.value, at.hint)
        self._recorded.append((packet, uploaded))

    def flush(self) -> None:
        """Flush: submit the recorded packets to the GPU, each with the bytes that it uploads."""
        recorded, size = self._recorded, _PACKET_BYTES * self._commands + self._data_bytes
        self.clear()
        for packet, uploaded in recorded:
            self._gpu.handed_over += uploaded
            self._gpu.submit(packet, self.counters)
        self._pass_time(size)

    def skips(self) -> bool:
        """Whether the predicate skips a command that the host executes itself.

        The host waits for the predicate's result, unless it is a hint.
        """
        at = self.predicate
        if at is None or not self.predicated:
            return False
        self.flush()
        if not at.hint:
            self._gpu.finish()
        result = at.slot.outcome
        return result is not None and result.visible <= self._gpu.now and result.holds is at.value

    def poll(self, flush: bool) -> None:
        """Receive results of finished queries; flush before if ``flush`` and packets wait."""
        if flush and self._recorded:
            self.flush()
        else:
            self._pass_time(0)

    def abandon(self) -> None:
        """Discard the recorded packets; those that only observe memory are submitted."""
        for packet, _ in self._recorded:
            if isinstance(packet, packets.Observe):
                self._gpu.submit(packet)
        self.clear()

    def clear(self) -> None:
        """Discard the recorded packets."""
        self._recorded, self._commands, self._data_bytes = [], 0, 0

    def _pass_time(self, size: int) -> None:
        ticks = self._gpu.timing.call(self._calls, size)
        self._calls += 1
        self._gpu.advance(ticks)
        self._gpu.distribute()

"""A device whose errors are kept, and queries in memory of the right size."""

from __future__ import annotations

from dp2emu.ddi10.adapter import Adapter
from dp2emu.ddi10.codes import DdiCode, Interface
from dp2emu.ddi10.device import Device
from dp2emu.ddi10.queries.query_types import KINDS, CreateQuery, Query
from dp2emu.gpu.command.packets import Packet
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.gpu.device.timing import Timing

STILL = [DdiCode.DXGI_DDI_ERR_WASSTILLDRAWING]
REMOVED = [DdiCode.D3DDDIERR_DEVICEREMOVED]
CORE_LAYER = 77

DO_NOT_FLUSH = 1


class Driven:
    """A device; ``call`` gives the codes an entry reported."""

    def __init__(
        self,
        timing: Timing | None = None,
        *,
        interface: Interface = Interface.D3D11_0,
        checking: bool = True,
        adapter: Adapter | None = None,
    ) -> None:
        self.adapter = adapter or Adapter(Gpu(timing), checking=checking)
        self.codes: list[int] = []
        self.device: Device = self.adapter.create_device(interface, self._error, CORE_LAYER)

    def _error(self, core_layer: int, code: int) -> None:
        assert core_layer == CORE_LAYER
        self.codes.append(code)

    def call(self, name: str, *arguments: object) -> list[int]:
        self.codes.clear()
        self.device.functions[name](*arguments)
        return list(self.codes)

    def submit(self, packet: Packet) -> None:
        """Give the GPU a packet as the device would, at once."""
        self.adapter.gpu.submit(packet, self.device.counters)

    def memory(self, query: int, flags: int = 0) -> bytearray:
        size = self.device.functions["CalcPrivateQuerySize"](CreateQuery(query, flags))
        return bytearray(b"\xcd" * size)

    def create(self, query: Query, flags: int = 0) -> bytearray:
        memory = self.memory(query, flags)
        assert self.call("CreateQuery", CreateQuery(query, flags), memory, 1) == []
        return memory

    def issue(self, query: Query) -> bytearray:
        memory = self.create(query)
        if KINDS[query].begins:
            assert self.call("QueryBegin", memory) == []
        assert self.call("QueryEnd", memory) == []
        return memory

    def poll(self, memory: bytearray, flags: int = 0) -> list[int]:
        return self.call("QueryGetData", memory, None, 0, flags)

    def data(self, memory: bytearray, query: Query, flags: int = 0) -> bytes | None:
        """The data of a query, or None while it is still drawing."""
        size = KINDS[query].layout.size
        data = bytearray(b"\xee" * size)
        codes = self.call("QueryGetData", memory, data, size, flags)
        if codes:
            assert codes == STILL
            assert data == b"\xee" * size
            return None
        return bytes(data)

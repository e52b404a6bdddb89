"""A device: its function table, and what every call of an entry has in common.

Entries are called as ``device.functions["QueryEnd"](query)``; hDevice is the device itself.  As
in the DDI they return nothing but what their signature says, and report through
pfnSetErrorCb; not calling it means S_OK.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Protocol

from dp2emu.ddi10.codes import DdiCode, Interface
from dp2emu.ddi10.commands import Commands
from dp2emu.ddi10.context import Context
from dp2emu.ddi10.contract import Contract, Rule
from dp2emu.ddi10.counters import Watched, check_counter, check_counter_info
from dp2emu.ddi10.entries import DXGI_FUNCTIONS, MAY_REPORT, PREDICATED, names_of
from dp2emu.ddi10.parts import Parts
from dp2emu.ddi10.query import Queries
from dp2emu.ddi10.residency import QueryResidencyCb
from dp2emu.ddi10.shared import Shared
from dp2emu.ddi10.statistics import Statistics, statistics
from dp2emu.errors import Fault, Unsupported
from dp2emu.gpu.core import Gpu
from dp2emu.gpu.memory import Surface
from dp2emu.gpu.queries import Counters


class Host(Protocol):
    """The adapter, as a device sees it."""

    gpu: Gpu
    contract: Contract
    watched: Watched
    shared: Shared[Any]

    def count_call(self) -> bool:
        """An entry is called: whether the adapter is there for it."""


class Device:
    """A device of one interface version.  Mutable: entries act on it.

    ``functions`` maps the names of the version's table, without ``pfn``, to the entries.  What is
    not built yet raises Unsupported.  ``dxgi_functions`` are those of DXGI, which return HRESULTs.
    ``entries`` and ``dxgi_entries`` are what is behind them where it is built: their annotations
    say what each takes.
    """

    def __init__(
        self,
        adapter: Host,
        interface: Interface,
        set_error: Callable[[int, int], None],
        core_layer: int,
        query_residency: QueryResidencyCb,
    ) -> None:
        self.interface = interface
        self._adapter = adapter
        self._set_error = set_error
        self._core_layer = core_layer
        self._destroyed = False
        self._commands = Commands(adapter.gpu)
        self.queries = Queries(
            adapter.gpu, self._commands, interface, adapter.contract, adapter.watched
        )
        context = Context(adapter.gpu, self._commands, adapter.contract, interface, adapter.shared)
        self._parts = Parts(context, query_residency)
        self.entries = built = self._built()
        self.functions: Mapping[str, Callable[..., Any]] = MappingProxyType(
            {name: partial(self._call, name, built.get(name)) for name in names_of(interface)}
        )

        self.dxgi_entries = dxgi = self._parts.dxgi.entries()
        self.dxgi_functions: Mapping[str, Callable[..., int]] = MappingProxyType(
            {name: partial(self._call_dxgi, name, dxgi[name]) for name in DXGI_FUNCTIONS}
        )

    @property
    def destroyed(self) -> bool:
        """Whether DestroyDevice was called."""
        return self._destroyed

    @property
    def target(self) -> Surface | None:
        """What it draws to first, None if that is nothing."""
        view = self._parts.setters.bindings.targets[0]
        return view.surface() if view is not None else None

    @property
    def shown(self) -> Surface | None:
        """What is on the screen, None before anything was presented."""
        found = self._parts.dxgi.shown
        return found[0].surface if found is not None else None

    @property
    def counters(self) -> Counters:
        """What its draws have counted, as far as the GPU has come."""
        return self._commands.counters

    def kernel_handle(self, resource: bytearray) -> int:
        """What the kernel calls a shared resource, for OpenResource; 0 if it is not shared.

        Raises ContractError for what is no resource.
        """
        return self._parts.resources.objects.open(resource, "kernel_handle").shared

    def statistics(self) -> Statistics:
        """The pipeline statistics since the device was created, as far as the GPU has come."""
        return statistics(partial(getattr, self.counters))

    def _built(self) -> dict[str, Callable[..., Any]]:
        queries = self.queries
        return {
            "CalcPrivateQuerySize": queries.size,
            "CreateQuery": queries.create,
            "DestroyQuery": queries.destroy,
            "QueryBegin": queries.begin,
            "QueryEnd": queries.end,
            "QueryGetData": queries.get_data,
            "SetPredication": queries.set_predication,
            "CheckCounterInfo": partial(check_counter_info, self._adapter.gpu.overlap.units),
            "CheckCounter": partial(check_counter, self._adapter.contract),
            "Flush": self._commands.flush,
            "DestroyDevice": self._destroy,
            **self._parts.entries(),
        }

    def _call(self, name: str, entry: Callable[..., Any] | None, *arguments: Any) -> Any:
        """Call an entry; None when it reports."""
        self._adapter.contract.hold(not self._destroyed, Rule.LIVE_DEVICE, name)
        if entry is None:
            raise Unsupported(f"{name} of the Direct3D 10/11 interface")
        self._adapter.gpu.spending.begin_call()
        there = self._adapter.count_call()
        if not there and DdiCode.D3DDDIERR_DEVICEREMOVED in MAY_REPORT[name]:
            return self._set_error(self._core_layer, DdiCode.D3DDDIERR_DEVICEREMOVED)
        self._commands.predicated = name in PREDICATED
        try:
            return entry(*arguments)
        except Fault as fault:
            assert fault.hr in MAY_REPORT[name]
            return self._set_error(self._core_layer, fault.hr)

    def _call_dxgi(self, name: str, entry: Callable[..., int], *arguments: Any) -> int:
        """Call a DXGI function and return its code."""
        self._adapter.contract.hold(not self._destroyed, Rule.LIVE_DEVICE, name)
        self._adapter.gpu.spending.begin_call()
        if not self._adapter.count_call():
            return DdiCode.D3DDDIERR_DEVICEREMOVED
        try:
            return entry(*arguments)
        except Fault as fault:
            return fault.hr

    def _destroy(self) -> None:
        self._adapter.contract.hold(not self.queries, Rule.QUERIES_LEFT, "DestroyDevice")
        self._adapter.contract.hold(not len(self._parts), Rule.OBJECTS_LEFT, "DestroyDevice")
        self.queries.destroy_all()
        self._parts.resources.destroy_all()
        self._commands.drop()
        self._destroyed = True

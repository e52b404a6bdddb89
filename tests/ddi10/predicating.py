"""A device that clears by every entry, and predicates over samples that are made up."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from dp2emu.d3d.enums import Format
from dp2emu.ddi10.adapter import Adapter
from dp2emu.ddi10.codes import Interface
from dp2emu.ddi10.device import Device, names_of
from dp2emu.ddi10.queries.query_types import MiscFlag, Query
from dp2emu.ddi10.resources.residency import answer_from
from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.command.packets import Clear, Observe
from dp2emu.gpu.device.timing import Timing
from dp2emu.gpu.resource.heap import Surface, SurfaceDesc, SurfaceKind
from tests.ddi10.driving import CORE_LAYER, Driven

HINT = int(MiscFlag.PREDICATEHINT)
PREDICATE = Query.OCCLUSIONPREDICATE

QUERYING = {"CreateQuery", "DestroyQuery", "QueryBegin", "QueryEnd", "QueryGetData", "Flush"}
QUERYING |= {"CalcPrivateQuerySize", "SetPredication", "DestroyDevice"}


class Clearing(Device):
    """A device of which every function that is not about queries clears a surface."""

    def _built(self) -> dict[str, Callable[..., Any]]:
        own = super()._built()
        names = names_of(Interface.D3D11_0)
        return {name: own[name] if name in QUERYING else self._clear for name in names}

    def _clear(self, color: int = 0xFFFFFFFF) -> None:
        surface = self._adapter.gpu.heap.get(1)
        self._commands.add(Clear((Rect(0, 0, 1, 1),), (surface,), color, None, None, None))


class Predicating(Driven):
    """Such a device, and whether a clear reached its surface."""

    def __init__(
        self,
        timing: Timing | None = None,
        *,
        checking: bool = True,
        adapter: Adapter | None = None,
    ) -> None:
        super().__init__(timing, checking=checking, adapter=adapter)
        memory = answer_from(self.adapter.gpu.residency)
        version = Interface.D3D11_0
        self.device = Clearing(self.adapter, version, self._error, CORE_LAYER, memory)
        desc = SurfaceDesc(1, SurfaceKind.SURFACE, 1, 1, int(Format.A8R8G8B8))
        heap = self.adapter.gpu.heap
        self.surface = heap.get(1) or heap.create(desc)

    def found(self, samples: int, flags: int = 0) -> bytearray:
        """A predicate over an interval in which so many samples passed."""
        memory = self.create(PREDICATE, flags)
        self.call("QueryBegin", memory)
        self.passes(samples)
        self.call("QueryEnd", memory)
        return memory

    def passes(self, samples: int) -> None:
        """Record what stands for a draw of which so many samples pass."""
        self.device._commands.add(Observe(self.surface, partial(self._pass, samples)))

    def _pass(self, samples: int, surface: Surface) -> None:
        self.device.counters.samples += samples

    def acts(self, entry: str = "ClearRenderTargetView") -> bool:
        """Whether what an entry does, does happen."""
        self.surface.data[:] = 0
        self.call(entry)
        self.call("Flush")
        self.adapter.finish()
        return bool(self.surface.data.any())

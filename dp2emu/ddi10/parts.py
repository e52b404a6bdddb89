"""What a device consists of beside its queries, put together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dp2emu.ddi10.bindings import Setters
from dp2emu.ddi10.compute import Compute
from dp2emu.ddi10.context import Context
from dp2emu.ddi10.contract import Rule
from dp2emu.ddi10.draw import Draws
from dp2emu.ddi10.dxgi import Dxgi
from dp2emu.ddi10.layout import ElementLayouts
from dp2emu.ddi10.maps import Maps
from dp2emu.ddi10.moves import Moves
from dp2emu.ddi10.objects import Objects
from dp2emu.ddi10.residency import QueryResidencyCb
from dp2emu.ddi10.resource import Resources
from dp2emu.ddi10.stages import Stages
from dp2emu.ddi10.state import States
from dp2emu.ddi10.support import check_format_support, check_multisample_quality_levels
from dp2emu.ddi10.unordered import UnorderedViews
from dp2emu.ddi10.views import Views


class Parts:
    """The objects of a device and the entries that act on them.  Mutable: they are."""

    def __init__(self, context: Context, query_residency: QueryResidencyCb) -> None:
        self._contract = context.contract
        self.resources = Resources(context)
        self.views = Views(context, self.resources)
        self.unordered = UnorderedViews(context, self.resources)
        self.states = States(context)
        self.layouts = ElementLayouts(context)
        self.stages = Stages(context, self.resources, self.views, self.states)
        self.setters = Setters(
            context, self.resources, self.views, self.states, self.layouts, self.unordered
        )
        self.dxgi = Dxgi(context, self.resources, query_residency)
        self._makers = (
            self.resources,
            self.views,
            self.unordered,
            self.states,
            self.layouts,
            self.stages,
        )
        self._users = (
            self.setters,
            Maps(context, self.resources),
            Moves(context, self.resources, self.views),
            Draws(context, self.resources, self.stages, self.setters.bindings),
            Compute(context, self.resources, self.stages, self.unordered),
        )

    def __len__(self) -> int:
        """Live objects."""
        return sum(map(len, self._objects()))

    def entries(self) -> Mapping[str, Callable[..., Any]]:
        """All entries, by name."""
        found: dict[str, Callable[..., Any]] = {
            "CheckFormatSupport": check_format_support,
            "CheckMultisampleQualityLevels": check_multisample_quality_levels,
            "RelocateDeviceFuncs": _do_nothing,
            "SetTextFilterSize": _do_nothing,
        }
        for part in (*self._makers, *self._users):
            found |= part.entries()
        return found | {"DestroyResource": self._destroy_resource}

    def _destroy_resource(self, memory: bytearray) -> None:
        """DestroyResource, after its views."""
        entry, objects = "DestroyResource", (*self.views.all(), self.unordered.objects)
        resource = self.resources.objects.open(memory, entry)
        left = any(view.resource is resource for each in objects for view in each.values())
        self._contract.hold(not left, Rule.VIEWS_LEFT, entry)
        self.resources.destroy(memory)

    def _objects(self) -> tuple[Objects[Any], ...]:
        views, states = self.views, self.states
        return (
            *views.all(),
            self.unordered.objects,
            *(states.blends, states.depths, states.rasterizers, states.samplers),
            *(self.layouts.objects, self.stages.objects, self.resources.objects),
        )


def _do_nothing(*arguments: object) -> None:
    """RelocateDeviceFuncs: the table is where it is found.  SetTextFilterSize: one-bit textures
    are filtered like any others.
    """

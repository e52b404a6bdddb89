"""Dispatches: what is set for the compute stage becomes packets of the GPU.

Source: d3d10umddi.h, the entries of Direct3D 11 about compute shaders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from dp2emu.ddi10.context import Context
from dp2emu.ddi10.contract import Rule, is_uint
from dp2emu.ddi10.resources.resource import Resource, Resources
from dp2emu.ddi10.resources.unordered_access import UnorderedSlots, UnorderedViews
from dp2emu.ddi10.shaders.stage_resources import Reading, constants
from dp2emu.ddi10.shaders.stages import Stages
from dp2emu.gpu.command.packets import Dispatch
from dp2emu.gpu.command.post_vertex_stages import StageProgram
from dp2emu.gpu.resource.heap import Surface

MOST_GROUPS = 65535
"""D3D11_CS_DISPATCH_MAX_THREAD_GROUPS_PER_DIMENSION."""
ARGUMENT_BYTES = 12
"""Of the numbers of groups in a buffer."""


class Compute:
    """The compute stage of a device.  Mutable: setters change what is bound."""

    def __init__(
        self, context: Context, resources: Resources, stages: Stages, views: UnorderedViews
    ) -> None:
        self._contract = context.contract
        self._resources = resources
        self._stage = stages.stages["Cs"]
        self._views = views
        self._reading = Reading(self._stage)
        self.unordered = UnorderedSlots()

    def entries(self) -> Mapping[str, Callable[..., Any]]:
        """The entries, by name."""
        return {
            "CsSetUnorderedAccessViews": self.set_views,
            "Dispatch": self.dispatch,
            "DispatchIndirect": self.dispatch_indirect,
        }

    def set_views(
        self,
        start: int,
        views: Sequence[bytearray | None],
        counts: Sequence[int] = (),
    ) -> None:
        """CsSetUnorderedAccessViews: into slots from ``start`` on."""
        self._views.set(self.unordered, start, views, counts, "CsSetUnorderedAccessViews")

    def dispatch(self, x: int, y: int, z: int) -> None:
        """Dispatch so many groups."""
        fits = all(0 <= each <= MOST_GROUPS for each in (x, y, z))
        self._contract.hold(fits, Rule.NUMBERS, "Dispatch")
        if x and y and z:
            self._dispatch((x, y, z), None)

    def dispatch_indirect(self, buffer: bytearray, offset: int) -> None:
        """DispatchIndirect: the numbers of groups are in a buffer."""
        entry = "DispatchIndirect"
        resource = self._resources.objects.open(buffer, entry)
        self._contract.hold(is_uint(offset) and offset % 4 == 0, Rule.NUMBERS, entry)
        there = resource.is_buffer and offset + ARGUMENT_BYTES <= resource.surface.width
        self._contract.hold(there, Rule.INSIDE, entry)
        self._dispatch((0, 0, 0), (resource.surface, offset), resource)

    def _dispatch(
        self,
        groups: tuple[int, int, int],
        arguments: tuple[Surface, int] | None,
        *used: Resource,
    ) -> None:
        """Record a dispatch; without a shader nothing is run."""
        shader = self._stage.shader
        if shader is None or not all(shader.lowered.threads):
            return
        read, lowered = self._reading.read(), shader.lowered
        stage = StageProgram(
            shader.program,
            self._reading.uniforms(),
            constants(self._stage),
            read.textures,
            read.samplers,
            lowered.units,
        )
        packet = Dispatch(
            stage,
            lowered.deeds,
            lowered.shared,
            lowered.threads,
            groups,
            self.unordered.bound(),
            arguments,
        )
        self._resources.record(packet, *used, *self._used())

    def _used(self) -> Iterator[Resource]:
        """What the GPU reads and writes for a dispatch."""
        yield from self._stage.constants.values()
        yield from (view.resource for view in self._stage.resources.values())
        yield from (view.resource for view in self.unordered.views.values())

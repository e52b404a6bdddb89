"""Bindings of the input assembler, rasterizer and output merger, and the functions that set them.

Source: Direct3D 10/11 DDI, "Device functions"; the scissor rectangle follows the Direct3D 10 and
11 documentation of the rasterizer stage.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import msgspec

from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.enums10 import Topology10
from dp2emu.ddi10.context import Context
from dp2emu.ddi10.contract import Rule, float32, is_uint
from dp2emu.ddi10.resources.resource import BindFlag, Resource, Resources
from dp2emu.ddi10.resources.unordered_access import UnorderedSlots, UnorderedViews
from dp2emu.ddi10.resources.views import TargetView, Views
from dp2emu.ddi10.states.input_layout import EMPTY_LAYOUT, SLOTS, ElementLayout, ElementLayouts
from dp2emu.ddi10.states.state_objects import TARGETS, Blending, DepthStencil, Rasterizer, States
from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.command.stream_targets import STREAM_TARGETS, Filled, Overflow


def scissor_rect(at: Bindings, view: Viewport, number: int = 0) -> Rect:
    """The pixels whose centres are inside a viewport and its scissor rectangle, if enabled.

    The result is empty if the sample mask disables the only sample of the targets.
    """
    near = (view.TopLeftX, view.TopLeftY)
    far = (view.TopLeftX + view.Width, view.TopLeftY + view.Height)
    # Top-left rule: a centre on the left or top edge is inside, on the right or bottom edge not.
    inside = Rect(*(math.ceil(edge - 0.5) for edge in (*near, *far)))
    if at.rasterizer.desc.ScissorEnable:
        rect = at.scissors[number] if number < len(at.scissors) else Scissor(0, 0, 0, 0)
        inside = inside.intersect(Rect(*rect))
    bound = [view.resource for view in (*at.targets, at.depth) if view is not None]
    single = not bound or bound[0].desc.SampleDesc.Count == 1
    return Rect(0, 0, 0, 0) if single and not at.sample_mask & 1 else inside


VIEWPORTS = 16
"""Number of viewport slots, which is also the number of scissor rectangle slots."""

APPEND = 0xFFFFFFFF
"""Value of a SoSetTargets offset: continue behind the data that stream output wrote last."""

STRIDE = 2048
"""D3D11_REQ_MULTI_ELEMENT_STRUCTURE_SIZE_IN_BYTES: the largest vertex stride, in bytes."""

INDEX_BYTES = {DxgiFormat.R16_UINT.value: 2, DxgiFormat.R32_UINT.value: 4}


class Viewport(NamedTuple):
    """D3D10_DDI_VIEWPORT."""

    TopLeftX: float
    TopLeftY: float
    Width: float
    Height: float
    MinDepth: float = 0.0
    MaxDepth: float = 1.0


class Scissor(NamedTuple):
    """D3D10_DDI_RECT."""

    left: int
    top: int
    right: int
    bottom: int


class VertexBuffer(NamedTuple):
    """A vertex buffer, with the stride of its vertices and the offset of the first, in bytes."""

    resource: Resource
    stride: int
    offset: int


class IndexBuffer(NamedTuple):
    """An index buffer, with the size of its indices and the offset of the first, in bytes."""

    resource: Resource
    size: int
    offset: int


class Bindings(msgspec.Struct):
    """State bound to a device's input assembler, rasterizer, stream output and output merger.

    Mutable: ``StateSetters`` changes it.
    """

    layout: ElementLayout = EMPTY_LAYOUT
    vertex_buffers: dict[int, VertexBuffer] = msgspec.field(default_factory=dict)
    index_buffer: IndexBuffer | None = None
    topology: int = 0
    rasterizer: Rasterizer = msgspec.field(default_factory=Rasterizer)
    viewports: list[Viewport] = msgspec.field(default_factory=list)
    scissors: list[Scissor] = msgspec.field(default_factory=list)
    blending: Blending = msgspec.field(default_factory=Blending)
    blend_factor: tuple[float, float, float, float] = (1.0,) * 4
    sample_mask: int = 0xFFFFFFFF
    depth_stencil: DepthStencil = msgspec.field(default_factory=DepthStencil)
    stencil_reference: int = 0
    targets: list[TargetView | None] = msgspec.field(default_factory=lambda: [None] * TARGETS)
    depth: TargetView | None = None
    unordered: UnorderedSlots = msgspec.field(default_factory=UnorderedSlots)
    stream_targets: dict[int, Resource] = msgspec.field(default_factory=dict)
    stream_overflow: Overflow = msgspec.field(default_factory=Overflow)


class StateSetters:
    """The DDI functions that bind state to a device.  Mutable: they change ``bindings``."""

    def __init__(
        self,
        context: Context,
        resources: Resources,
        views: Views,
        states: States,
        layouts: ElementLayouts,
        unordered: UnorderedViews,
    ) -> None:
        self._contract = context.contract
        self._resources = resources
        self._views = views
        self._states = states
        self._layouts = layouts
        self._unordered = unordered
        self.bindings = Bindings()

    def entries(self) -> Mapping[str, Callable[..., Any]]:
        """The DDI functions implemented here, by name without ``pfn``."""
        return {
            "IaSetInputLayout": self.set_input_layout,
            "IaSetVertexBuffers": self.set_vertex_buffers,
            "IaSetIndexBuffer": self.set_index_buffer,
            "IaSetTopology": self.set_topology,
            "SetRasterizerState": self.set_rasterizer_state,
            "SetViewports": self.set_viewports,
            "SetScissorRects": self.set_scissor_rects,
            "SetBlendState": self.set_blend_state,
            "SetDepthStencilState": self.set_depth_stencil_state,
            "SetRenderTargets": self.set_render_targets,
            "SoSetTargets": self.set_stream_targets,
        }

    # Input assembler

    def set_input_layout(self, memory: bytearray | None) -> None:
        """IaSetInputLayout."""
        layout = self._layouts.objects.maybe(memory, "IaSetInputLayout")
        self.bindings.layout = layout or EMPTY_LAYOUT

    def set_vertex_buffers(
        self,
        start: int,
        buffers: Sequence[bytearray | None],
        strides: Sequence[int],
        offsets: Sequence[int],
    ) -> None:
        """IaSetVertexBuffers: bind to slots from ``start`` on."""
        entry = "IaSetVertexBuffers"
        fits = 0 <= start <= SLOTS - len(buffers) and len(buffers) == len(strides) == len(offsets)
        self._contract.check(fits, Rule.SLOTS, entry)
        numbers = all(map(is_uint, offsets)) and all(0 <= each <= STRIDE for each in strides)
        self._contract.check(numbers, Rule.NUMBERS, entry)
        for slot, memory in enumerate(buffers, start):
            resource = self._resources.objects.maybe(memory, entry)
            self.bindings.vertex_buffers.pop(slot, None)
            if resource is not None:
                stride, offset = strides[slot - start], offsets[slot - start]
                self.bindings.vertex_buffers[slot] = VertexBuffer(resource, stride, offset)

    def set_index_buffer(
        self, memory: bytearray | None, format: Annotated[int, DxgiFormat], offset: int
    ) -> None:
        """IaSetIndexBuffer."""
        entry = "IaSetIndexBuffer"
        resource = self._resources.objects.maybe(memory, entry)
        if resource is None:
            self.bindings.index_buffer = None
            return
        self._contract.check(format in INDEX_BYTES, Rule.KNOWN_STATE, entry)
        self._contract.check(is_uint(offset), Rule.NUMBERS, entry)
        self.bindings.index_buffer = IndexBuffer(resource, INDEX_BYTES[format], offset)

    def set_topology(self, topology: Annotated[int, Topology10]) -> None:
        """IaSetTopology: D3D10_DDI_PRIMITIVE_TOPOLOGY."""
        self.bindings.topology = topology

    # Rasterizer

    def set_rasterizer_state(self, memory: bytearray | None) -> None:
        """SetRasterizerState; a null handle binds the default state."""
        state = self._states.rasterizers.maybe(memory, "SetRasterizerState")
        self.bindings.rasterizer = state or Rasterizer()

    def set_viewports(self, clear: int, viewports: Sequence[Viewport]) -> None:
        """SetViewports: bind ``viewports`` from slot 0 on, clear the next ``clear`` slots."""
        entry = "SetViewports"
        self._check_count(len(viewports), clear, entry)
        bound = [Viewport(*viewport) for viewport in viewports]
        self._contract.check(all(map(_valid, bound)), Rule.KNOWN_STATE, entry)
        self.bindings.viewports = bound

    def set_scissor_rects(self, clear: int, rects: Sequence[Scissor]) -> None:
        """SetScissorRects: bind ``rects`` from slot 0 on, clear the next ``clear`` slots."""
        self._check_count(len(rects), clear, "SetScissorRects")
        self.bindings.scissors = [Scissor(*rect) for rect in rects]

    def _check_count(self, count: int, clear: int, entry: str) -> None:
        self._contract.check(0 <= clear <= VIEWPORTS - count, Rule.SLOTS, entry)

    # Output merger

    def set_blend_state(
        self, memory: bytearray | None, factor: Sequence[float], sample_mask: int
    ) -> None:
        """SetBlendState; a null handle binds the default state."""
        state = self._states.blends.maybe(memory, "SetBlendState")
        numbers = len(factor) == len("rgba") and is_uint(sample_mask)
        self._contract.check(numbers, Rule.NUMBERS, "SetBlendState")
        self.bindings.blending = state or Blending()
        red, green, blue, alpha = float32(*factor)
        self.bindings.blend_factor = red, green, blue, alpha
        self.bindings.sample_mask = sample_mask

    def set_depth_stencil_state(self, memory: bytearray | None, reference: int) -> None:
        """SetDepthStencilState; a null handle binds the default state."""
        state = self._states.depths.maybe(memory, "SetDepthStencilState")
        self._contract.check(is_uint(reference), Rule.NUMBERS, "SetDepthStencilState")
        self.bindings.depth_stencil = state or DepthStencil()
        self.bindings.stencil_reference = reference & 0xFF

    def set_render_targets(
        self,
        targets: Sequence[bytearray | None],
        clear: int,
        depth: bytearray | None,
        unordered: Sequence[bytearray | None] = (),
        counts: Sequence[int] = (),
        start: int = 0,
        range_start: int = 0,
        range_size: int = 0,
    ) -> None:
        """SetRenderTargets: bind ``targets`` from slot 0 on, clear the next ``clear`` slots.

        In Direct3D 11 it also binds unordered access views to slots from ``start`` on and clears
        the remaining slots.  ``range_start`` and ``range_size`` are hints about changed slots,
        which are not used.
        """
        entry = "SetRenderTargets"
        self._contract.check(0 <= clear <= TARGETS - len(targets), Rule.SLOTS, entry)
        colors = [self._views.targets.maybe(memory, entry) for memory in targets]
        depth_view = self._views.depths.maybe(depth, entry)
        views = [view for view in (*colors, depth_view) if view is not None]
        samples = {view.resource.desc.SampleDesc.Count for view in views}
        self._contract.check(len(samples) <= 1, Rule.SAME_SAMPLES, entry)
        slots = UnorderedSlots()
        self._unordered.set(slots, start, unordered, counts, entry)
        self.bindings.unordered = slots
        self.bindings.targets = colors + [None] * (TARGETS - len(colors))
        self.bindings.depth = depth_view

    def set_stream_targets(
        self, targets: Sequence[bytearray | None], clear: int, offsets: Sequence[int]
    ) -> None:
        """SoSetTargets: bind ``targets`` to slots from 0 on and clear all other slots.

        An offset, in bytes, is where the next primitive is written; ``APPEND`` continues behind
        the data written last.  Writes that stopped because of an overflow start again.
        """
        entry = "SoSetTargets"
        fits = 0 <= clear <= STREAM_TARGETS - len(targets) and len(offsets) == len(targets)
        self._contract.check(fits, Rule.SLOTS, entry)
        self._contract.check(all(map(is_uint, offsets)), Rule.NUMBERS, entry)
        opened = [self._resources.objects.maybe(memory, entry) for memory in targets]
        bound = {slot: each for slot, each in enumerate(opened) if each is not None}
        self._contract.check(_can_stream(list(bound.values())), Rule.STREAM_TARGETS, entry)
        for slot, resource in bound.items():
            if offsets[slot] != APPEND:
                resource.progress.filled = Filled(offsets[slot])
        self.bindings.stream_targets = bound
        # Draws recorded before keep theirs.
        self.bindings.stream_overflow = Overflow()


def _can_stream(resources: Sequence[Resource]) -> bool:
    """Whether the resources are distinct buffers created for stream output."""
    fit = (each.is_buffer and each.desc.BindFlags & BindFlag.STREAM_OUTPUT for each in resources)
    return all(fit) and len({id(each.surface) for each in resources}) == len(resources)


_BOUND = 1 << 15
"""Limit of viewports: corners lie from -32768 to 32768, sides are at most 32768 pixels."""


def _valid(view: Viewport) -> bool:
    """Whether a viewport's corner, sides and depths are within the limits; a NaN is not."""
    return (
        all(-_BOUND <= corner <= _BOUND for corner in (view.TopLeftX, view.TopLeftY))
        and all(0 <= side <= _BOUND for side in (view.Width, view.Height))
        and 0 <= view.MinDepth <= view.MaxDepth <= 1
    )

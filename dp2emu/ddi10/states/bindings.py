"""Viewports and scissor rectangles as rectangles of pixels.

Source: Direct3D 10 and 11 documentation of the rasterizer stage.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, NamedTuple

from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.ddi10.context import Context
from dp2emu.ddi10.contract import Rule, float32, is_uint
from dp2emu.ddi10.resources.resource import BindFlag, Resource, Resources
from dp2emu.ddi10.resources.unordered_access import UnorderedSlots, UnorderedViews
from dp2emu.ddi10.resources.views import TargetView, Views
from dp2emu.ddi10.states.input_layout import NOTHING, SLOTS, ElementLayout, ElementLayouts
from dp2emu.ddi10.states.state_objects import TARGETS, Blending, DepthStencil, Rasterizer, States
from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.command.stream_targets import STREAM_TARGETS, Filled
from dp2emu.records import dataclass


def scissor(at: Bindings, view: Viewport, number: int = 0) -> Rect:
    """Pixels whose centres are in the viewport and, if that counts, in the scissor rectangle
    of its number.

    Of targets that are not multisampled the sample mask has a bit too.
    """
    edges = (view.TopLeftX, view.TopLeftY)
    far = (view.TopLeftX + view.Width, view.TopLeftY + view.Height)
    inside = Rect(*(math.ceil(edge - 0.5) for edge in (*edges, *far)))
    if at.rasterizer.desc.ScissorEnable:
        rect = at.scissors[number] if number < len(at.scissors) else Scissor(0, 0, 0, 0)
        inside = inside.intersect(Rect(*rect))
    bound = [found.resource for found in (*at.targets, at.depth) if found is not None]
    single = not bound or bound[0].desc.SampleDesc.Count == 1
    return Rect(0, 0, 0, 0) if single and not at.sample_mask & 1 else inside


# What is set for draws beside the stages: input assembler, rasterizer and output merger.
#
# Source: Direct3D 10/11 DDI, "Device functions".

VIEWPORTS = 16
"""Viewports and scissor rectangles there can be at a time."""

APPEND = 0xFFFFFFFF
"""The offset of SoSetTargets that is where streaming into the buffer ended last."""

STRIDE = 2048
"""D3D11_REQ_MULTI_ELEMENT_STRUCTURE_SIZE_IN_BYTES: most bytes from vertex to vertex."""

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
    """A vertex buffer with bytes from vertex to vertex, and to the first."""

    resource: Resource
    stride: int
    offset: int


class IndexBuffer(NamedTuple):
    """An index buffer, bytes of an index, and bytes to the first."""

    resource: Resource
    size: int
    offset: int


@dataclass(slots=True)
class Bindings:
    """Mutable: setters change it."""

    layout: ElementLayout = NOTHING
    vertex_buffers: dict[int, VertexBuffer] = field(default_factory=dict)
    index_buffer: IndexBuffer | None = None
    topology: int = 0
    rasterizer: Rasterizer = field(default_factory=Rasterizer)
    viewports: list[Viewport] = field(default_factory=list)
    scissors: list[Scissor] = field(default_factory=list)
    blending: Blending = field(default_factory=Blending)
    blend_factor: tuple[float, float, float, float] = (1.0,) * 4
    sample_mask: int = 0xFFFFFFFF
    depth_stencil: DepthStencil = field(default_factory=DepthStencil)
    stencil_reference: int = 0
    targets: list[TargetView | None] = field(default_factory=lambda: [None] * TARGETS)
    depth: TargetView | None = None
    unordered: UnorderedSlots = field(default_factory=UnorderedSlots)
    stream_targets: dict[int, Resource] = field(default_factory=dict)


class Setters:
    """The entries that set.  Mutable: they act on ``bindings``."""

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
        """The entries, by name."""
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
        self.bindings.layout = layout or NOTHING

    def set_vertex_buffers(
        self,
        start: int,
        buffers: Sequence[bytearray | None],
        strides: Sequence[int],
        offsets: Sequence[int],
    ) -> None:
        """IaSetVertexBuffers: into slots from ``start`` on."""
        entry = "IaSetVertexBuffers"
        fits = 0 <= start <= SLOTS - len(buffers) and len(buffers) == len(strides) == len(offsets)
        self._contract.hold(fits, Rule.SLOTS, entry)
        numbers = all(map(is_uint, offsets)) and all(0 <= each <= STRIDE for each in strides)
        self._contract.hold(numbers, Rule.NUMBERS, entry)
        for slot, memory in enumerate(buffers, start):
            resource = self._resources.objects.maybe(memory, entry)
            self.bindings.vertex_buffers.pop(slot, None)
            if resource is not None:
                stride, offset = strides[slot - start], offsets[slot - start]
                self.bindings.vertex_buffers[slot] = VertexBuffer(resource, stride, offset)

    def set_index_buffer(self, memory: bytearray | None, format: int, offset: int) -> None:
        """IaSetIndexBuffer."""
        entry = "IaSetIndexBuffer"
        resource = self._resources.objects.maybe(memory, entry)
        if resource is None:
            self.bindings.index_buffer = None
            return
        self._contract.hold(format in INDEX_BYTES, Rule.KNOWN_STATE, entry)
        self._contract.hold(is_uint(offset), Rule.NUMBERS, entry)
        self.bindings.index_buffer = IndexBuffer(resource, INDEX_BYTES[format], offset)

    def set_topology(self, topology: int) -> None:
        """IaSetTopology: D3D10_DDI_PRIMITIVE_TOPOLOGY."""
        self.bindings.topology = topology

    # Rasterizer

    def set_rasterizer_state(self, memory: bytearray | None) -> None:
        """SetRasterizerState; none is the default."""
        state = self._states.rasterizers.maybe(memory, "SetRasterizerState")
        self.bindings.rasterizer = state or Rasterizer()

    def set_viewports(self, clear: int, viewports: Sequence[Viewport]) -> None:
        """SetViewports: the first ones; the ``clear`` slots behind them are cleared."""
        entry = "SetViewports"
        self._check_count(len(viewports), clear, entry)
        found = [Viewport(*viewport) for viewport in viewports]
        self._contract.hold(all(map(_possible, found)), Rule.KNOWN_STATE, entry)
        self.bindings.viewports = found

    def set_scissor_rects(self, clear: int, rects: Sequence[Scissor]) -> None:
        """SetScissorRects, likewise."""
        self._check_count(len(rects), clear, "SetScissorRects")
        self.bindings.scissors = [Scissor(*rect) for rect in rects]

    def _check_count(self, count: int, clear: int, entry: str) -> None:
        self._contract.hold(0 <= clear <= VIEWPORTS - count, Rule.SLOTS, entry)

    # Output merger

    def set_blend_state(
        self, memory: bytearray | None, factor: Sequence[float], sample_mask: int
    ) -> None:
        """SetBlendState; none is the default."""
        state = self._states.blends.maybe(memory, "SetBlendState")
        self.bindings.blending = state or Blending()
        self._contract.hold(len(factor) == len("rgba"), Rule.NUMBERS, "SetBlendState")
        red, green, blue, alpha = float32(*factor)
        self.bindings.blend_factor = red, green, blue, alpha
        self.bindings.sample_mask = sample_mask & 0xFFFFFFFF

    def set_depth_stencil_state(self, memory: bytearray | None, reference: int) -> None:
        """SetDepthStencilState; none is the default."""
        state = self._states.depths.maybe(memory, "SetDepthStencilState")
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
        """SetRenderTargets: the first ones; the ``clear`` slots behind them are cleared.

        In Direct3D 11 views for unordered access come behind, from slot ``start`` on; there are
        none in other slots then.  The range says which slots change, and is not needed.
        """
        entry = "SetRenderTargets"
        self._contract.hold(0 <= clear <= TARGETS - len(targets), Rule.SLOTS, entry)
        found = [self._views.targets.maybe(memory, entry) for memory in targets]
        deep = self._views.depths.maybe(depth, entry)
        samples = {
            view.resource.desc.SampleDesc.Count for view in (*found, deep) if view is not None
        }
        self._contract.hold(len(samples) <= 1, Rule.SAME_SAMPLES, entry)
        slots = UnorderedSlots()
        self._unordered.set(slots, start, unordered, counts, entry)
        self.bindings.unordered = slots
        self.bindings.targets = found + [None] * (TARGETS - len(found))
        self.bindings.depth = deep

    def set_stream_targets(
        self, targets: Sequence[bytearray | None], clear: int, offsets: Sequence[int]
    ) -> None:
        """SoSetTargets: the first ones; all others are cleared.

        An offset, in bytes, is where the next primitive goes; ``APPEND`` leaves that as it is.
        """
        entry = "SoSetTargets"
        fits = 0 <= clear <= STREAM_TARGETS - len(targets) and len(offsets) == len(targets)
        self._contract.hold(fits, Rule.SLOTS, entry)
        self._contract.hold(all(map(is_uint, offsets)), Rule.NUMBERS, entry)
        found = [self._resources.objects.maybe(memory, entry) for memory in targets]
        bound = {slot: each for slot, each in enumerate(found) if each is not None}
        self._contract.hold(_can_stream(list(bound.values())), Rule.STREAM_TARGETS, entry)
        for slot, resource in bound.items():
            if offsets[slot] != APPEND:
                resource.progress.filled = Filled(offsets[slot])
        self.bindings.stream_targets = bound


def _can_stream(resources: Sequence[Resource]) -> bool:
    """Whether resources are buffers that can be streamed into, and each is there once."""
    made = (each.is_buffer and each.desc.BindFlags & BindFlag.STREAM_OUTPUT for each in resources)
    return all(made) and len({id(each.surface) for each in resources}) == len(resources)


_FARTHEST = 1 << 15
"""D3D11_VIEWPORT_BOUNDS_MAX and _MIN, about."""


def _possible(view: Viewport) -> bool:
    """Whether the runtime lets a viewport pass; a NaN never."""
    return (
        -_FARTHEST <= view.TopLeftX <= _FARTHEST
        and -_FARTHEST <= view.TopLeftY <= _FARTHEST
        and 0 <= view.Width <= _FARTHEST
        and 0 <= view.Height <= _FARTHEST
        and 0 <= view.MinDepth <= view.MaxDepth <= 1
    )

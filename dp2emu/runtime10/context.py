"""ID3D11DeviceContext: state, draws, transfers, maps and queries of an application.

Source: the Direct3D 11 documentation of ID3D11DeviceContext.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from dp2emu.ddi10.resources.maps import Map, MappedSubresource
from dp2emu.ddi10.resources.resource import BindFlag, Usage
from dp2emu.ddi10.resources.transfers import DdiBox
from dp2emu.ddi10.resources.unordered_access import KEEP
from dp2emu.ddi10.states.bindings import VIEWPORTS, Scissor, Viewport
from dp2emu.ddi10.states.state_objects import TARGETS
from dp2emu.gpu.command.stream_targets import STREAM_TARGETS
from dp2emu.runtime10.codes import Refused, Result
from dp2emu.runtime10.hazards import HazardTracker
from dp2emu.runtime10.objects import (
    BlendState,
    Buffer,
    DepthStencilState,
    DepthStencilView,
    DeviceChild,
    InputLayout,
    RasterizerState,
    RenderTargetView,
    Resource,
    ShaderResourceView,
    UnorderedAccessView,
)
from dp2emu.runtime10.pipeline_state import PipelineState

_T = TypeVar("_T", bound=DeviceChild)

_INPUT = BindFlag.VERTEX_BUFFER | BindFlag.INDEX_BUFFER


class Sender(Protocol):
    """Receives the calls of the driver that a context makes."""

    def send(self, entry: str, *arguments: Any) -> Any:
        """Call the DDI function ``entry``, or keep the call for later."""


def memory_of(thing: DeviceChild | None) -> bytearray | None:
    """The driver's object of an application's object, None for None."""
    return None if thing is None else thing.memory


def memories_of(things: Sequence[DeviceChild | None]) -> tuple[bytearray | None, ...]:
    """The driver's objects of an application's objects."""
    return tuple(map(memory_of, things))


class Context:
    """ID3D11DeviceContext: makes the driver's calls, and knows the state they set.  Mutable."""

    def __init__(self, sender: Sender, hazards: HazardTracker, find: Callable[[bytearray], Any]):
        self._sender = sender
        self._hazards = hazards
        self._find = find
        self.state = PipelineState()

    def call(self, entry: str, *arguments: Any) -> Any:
        """Call the DDI function ``entry``, after unbinding inputs that would also be outputs."""
        found = None
        for name, given in self._hazards.resolved(entry, arguments):
            self.state.note(name, given)
            found = self._sender.send(name, *given)
        return found

    def _bound(self, entry: str, start: int, count: int) -> list[Any]:
        """The objects in slots that ``entry`` sets, each with a reference more."""
        rows = (self.state.row(entry, slot) for slot in range(start, start + count))
        return [self._given(row[0]) for row in rows]

    def _given(self, memory: bytearray | None) -> Any:
        """The application's object of a driver's object, with a reference more."""
        if memory is None:
            return None
        found = self._find(memory)
        found.add_ref()
        return found

    # Input assembler

    def ia_set_input_layout(self, layout: InputLayout | None) -> None:
        """IASetInputLayout."""
        self.call("IaSetInputLayout", memory_of(layout))

    def ia_set_primitive_topology(self, topology: int) -> None:
        """IASetPrimitiveTopology, a D3D11_PRIMITIVE_TOPOLOGY."""
        self.call("IaSetTopology", topology)

    def ia_set_vertex_buffers(
        self,
        start: int,
        buffers: Sequence[Buffer | None],
        strides: Sequence[int],
        offsets: Sequence[int],
    ) -> None:
        """IASetVertexBuffers; strides and offsets are in bytes."""
        self.call("IaSetVertexBuffers", start, memories_of(buffers), strides, offsets)

    def ia_set_index_buffer(self, buffer: Buffer | None, format: int, offset: int) -> None:
        """IASetIndexBuffer; ``format`` is a DXGI_FORMAT, ``offset`` in bytes."""
        self.call("IaSetIndexBuffer", memory_of(buffer), format, offset)

    # Rasterizer

    def rs_set_state(self, state: RasterizerState | None) -> None:
        """RSSetState."""
        self.call("SetRasterizerState", memory_of(state))

    def rs_set_viewports(self, viewports: Sequence[Viewport]) -> None:
        """RSSetViewports."""
        self.call("SetViewports", _free(viewports, VIEWPORTS), tuple(viewports))

    def rs_set_scissor_rects(self, rects: Sequence[Scissor]) -> None:
        """RSSetScissorRects."""
        self.call("SetScissorRects", _free(rects, VIEWPORTS), tuple(rects))

    # Output merger

    def om_set_blend_state(
        self,
        state: BlendState | None,
        factor: Sequence[float] | None = None,
        sample_mask: int = 0xFFFFFFFF,
    ) -> None:
        """OMSetBlendState; without ``factor`` it is 1 in all channels."""
        given = (1.0,) * 4 if factor is None else tuple(factor)
        self.call("SetBlendState", memory_of(state), given, sample_mask)

    def om_set_depth_stencil_state(self, state: DepthStencilState | None, reference: int) -> None:
        """OMSetDepthStencilState."""
        self.call("SetDepthStencilState", memory_of(state), reference)

    def om_set_render_targets(
        self, targets: Sequence[RenderTargetView | None], depth: DepthStencilView | None = None
    ) -> None:
        """OMSetRenderTargets."""
        views = memories_of(targets)
        self.call("SetRenderTargets", views, _free(views, TARGETS), memory_of(depth))

    def om_set_render_targets_and_unordered_access_views(
        self,
        targets: Sequence[RenderTargetView | None],
        depth: DepthStencilView | None,
        start: int,
        unordered: Sequence[UnorderedAccessView | None],
        counts: Sequence[int] | None = None,
    ) -> None:
        """OMSetRenderTargetsAndUnorderedAccessViews."""
        views, written = memories_of(targets), memories_of(unordered)
        kept = (KEEP,) * len(written) if counts is None else tuple(counts)
        rest = written, kept, start, start, len(written)
        self.call("SetRenderTargets", views, _free(views, TARGETS), memory_of(depth), *rest)

    # Stream output

    def so_set_targets(self, buffers: Sequence[Buffer | None], offsets: Sequence[int]) -> None:
        """SOSetTargets; an offset of -1 continues behind the data written last."""
        given = tuple(offset & 0xFFFFFFFF for offset in offsets)
        self.call("SoSetTargets", memories_of(buffers), _free(buffers, STREAM_TARGETS), given)

    # Draws

    def draw(self, count: int, start: int) -> None:
        """Draw."""
        self.call("Draw", count, start)

    def draw_indexed(self, count: int, start: int, base: int) -> None:
        """DrawIndexed."""
        self.call("DrawIndexed", count, start, base)

    def dispatch(self, x: int, y: int, z: int) -> None:
        """Dispatch: thread groups along each axis."""
        self.call("Dispatch", x, y, z)

    # Transfers

    def clear_render_target_view(self, view: RenderTargetView, color: Sequence[float]) -> None:
        """ClearRenderTargetView."""
        self.call("ClearRenderTargetView", view.memory, tuple(color))

    def clear_depth_stencil_view(
        self, view: DepthStencilView, flags: int, depth: float, stencil: int
    ) -> None:
        """ClearDepthStencilView; ``flags`` are D3D11_CLEAR_*."""
        self.call("ClearDepthStencilView", view.memory, flags, depth, stencil)

    def copy_resource(self, target: Resource, source: Resource) -> None:
        """CopyResource."""
        entry = "ResourceCopy" if target.ddi.Format == source.ddi.Format else "ResourceConvert"
        self.call(entry, target.memory, source.memory)

    def update_subresource(
        self,
        target: Resource,
        index: int,
        box: DdiBox | None,
        data: bytes,
        row_pitch: int,
        depth_pitch: int,
    ) -> None:
        """UpdateSubresource; pitches are in bytes."""
        arguments = target.memory, index, box, data, row_pitch, depth_pitch
        self.call("ResourceUpdateSubresourceUP", *arguments)

    def generate_mips(self, view: ShaderResourceView) -> None:
        """GenerateMips."""
        self.call("GenMips", view.memory)

    def map(self, resource: Resource, index: int, kind: Map, flags: int = 0) -> MappedSubresource:
        """Map: the memory of a subresource."""
        return self.call(f"{_mapping(resource, kind)}", resource.memory, index, int(kind), flags)

    def flush(self) -> None:
        """Flush."""
        self.call("Flush")


def _mapping(resource: Resource, kind: Map) -> str:
    """The DDI function that maps a resource."""
    if resource.usage is Usage.STAGING:
        return "StagingResourceMap"
    bind = resource.ddi.BindFlags
    if resource.usage is Usage.DYNAMIC and kind is Map.WRITE_DISCARD:
        if bind & _INPUT:
            return "DynamicIABufferMapDiscard"
        constant = bind & BindFlag.CONSTANT_BUFFER
        return "DynamicConstantBufferMapDiscard" if constant else "DynamicResourceMapDiscard"
    if resource.usage is Usage.DYNAMIC and kind is Map.WRITE_NOOVERWRITE and bind & _INPUT:
        return "DynamicIABufferMapNoOverwrite"
    return "ResourceMap"


def _free(rows: Sequence[object], slots: int) -> int:
    """``slots`` less the number of rows.  Raises Refused if that is negative."""
    if len(rows) > slots:
        raise Refused(Result.E_INVALIDARG, f"{len(rows)} of {slots} slots")
    return slots - len(rows)

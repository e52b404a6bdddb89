"""ID3D11DeviceContext: state, draws, transfers, maps and queries of an application.

A call without a result that Direct3D forbids has no effect; ``messages`` tells why.

Source: the Direct3D 11 documentation of ID3D11DeviceContext.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dp2emu.argument_check import checked
from dp2emu.d3d.dxgi import DXGI
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.ddi10.resources.maps import Map, MappedSubresource
from dp2emu.ddi10.resources.resource import BindFlag, Usage
from dp2emu.ddi10.resources.transfers import ClearFlag
from dp2emu.ddi10.resources.unordered_access import KEEP
from dp2emu.ddi10.resources.unordered_access import SLOTS as UNORDERED_SLOTS
from dp2emu.ddi10.states.bindings import VIEWPORTS
from dp2emu.ddi10.states.state_objects import TARGETS
from dp2emu.errors import ContractError, Unsupported
from dp2emu.gpu.command.stream_targets import STREAM_TARGETS
from dp2emu.runtime10.bindings import StageBindings, memories_of, memory_of, void
from dp2emu.runtime10.buffers import BufferMiscFlag
from dp2emu.runtime10.codes import Refused, Result
from dp2emu.runtime10.descriptions import Box, Rect, Texture2DDesc, Viewport
from dp2emu.runtime10.enums import FeatureLevel
from dp2emu.runtime10.feature_levels import LIMITS, Limits
from dp2emu.runtime10.mapping import mapping, unmapping
from dp2emu.runtime10.objects import (
    BlendState,
    Buffer,
    DepthStencilState,
    DepthStencilView,
    InputLayout,
    Predicate,
    Query,
    RasterizerState,
    RenderTargetView,
    Resource,
    ShaderResourceView,
    Texture2D,
    UnorderedAccessView,
    View,
)
from dp2emu.runtime10.pipeline_state import check_span
from dp2emu.runtime10.query import Data
from dp2emu.runtime10.textures import MiscFlag
from dp2emu.runtime10.views import ViewDesc

KEEP_RENDER_TARGETS = KEEP_UNORDERED_ACCESS_VIEWS = None
"""D3D11_KEEP_RENDER_TARGETS_AND_DEPTH_STENCIL and D3D11_KEEP_UNORDERED_ACCESS_VIEWS: arguments of
``om_set_render_targets_and_unordered_access_views`` that leave what is bound."""


_CHANNELS = 4
"""Number of the channels of a color."""


@checked
class Context(StageBindings):
    """ID3D11DeviceContext and ID3D11DeviceContext1: makes the driver's calls, and knows the state
    they set.  Mutable.

    Parameters are as in the SDK, in its order.  ``count`` slots begin at ``start_slot``, which
    ``buffers``, ``views`` and ``targets`` are bound to; ``initial_counts`` are values of hidden
    counters, ``offsets`` places in buffers in bytes.  ``index``, ``target_index`` and
    ``source_index`` number subresources; ``x``, ``y`` and ``z`` are a place in texels, or bytes of
    a buffer, and numbers of groups of a dispatch.  ``data`` are rows at ``row_pitch`` and
    ``depth_pitch``, in bytes.  Draws take ``vertex_count``, ``index_count`` and
    ``instance_count`` from ``start_vertex``, ``start_index`` and ``start_instance`` on, and add
    ``base_vertex`` to indices.  ``topology`` is a D3D11_PRIMITIVE_TOPOLOGY, ``sample_mask`` a bit
    for each sample, ``stencil_ref`` the reference value, ``lod`` a level of detail; ``viewports``
    and ``rects`` are in pixels.  ``color``, ``values``, ``depth`` and ``stencil`` are what a clear
    writes.

    Where a method that returns nothing breaks a rule, Refused is caught: it has no effect but a
    message.
    """

    @property
    def _limits(self) -> Limits:
        """The limits of the feature level of the device."""
        return LIMITS[getattr(self.owner, "feature_level", FeatureLevel.LEVEL_11_0)]

    def get_device(self) -> Any:
        """GetDevice; unlike in C++, without a reference more."""
        return self.owner

    # Input assembler

    def ia_set_input_layout(self, layout: InputLayout | None) -> None:
        """IASetInputLayout."""
        self._do("IaSetInputLayout", memory_of(layout))

    def ia_get_input_layout(self) -> InputLayout | None:
        """IAGetInputLayout: the layout, with a reference more."""
        found: InputLayout | None = self._given(self.state.whole("IaSetInputLayout")[0])
        return found

    def ia_set_primitive_topology(self, topology: int) -> None:
        """IASetPrimitiveTopology, a D3D11_PRIMITIVE_TOPOLOGY."""
        self._do("IaSetTopology", topology)

    def ia_get_primitive_topology(self) -> int:
        """IAGetPrimitiveTopology, a D3D11_PRIMITIVE_TOPOLOGY."""
        found: int = self.state.whole("IaSetTopology")[0]
        return found

    def ia_set_vertex_buffers(
        self,
        start_slot: int,
        buffers: Sequence[Buffer | None],
        strides: Sequence[int],
        offsets: Sequence[int],
    ) -> None:
        """IASetVertexBuffers; strides and offsets are in bytes."""
        most = self._limits.vertex_buffers
        if start_slot + len(buffers) > most:
            self.messages.append(f"{len(buffers)} vertex buffers from {start_slot} on, of {most}")
            return
        self._do(
            "IaSetVertexBuffers", start_slot, memories_of(buffers), tuple(strides), tuple(offsets)
        )

    def ia_get_vertex_buffers(
        self, start_slot: int, count: int
    ) -> list[tuple[Buffer | None, int, int]]:
        """IAGetVertexBuffers: each slot's buffer, with a reference more, stride and offset."""
        entry = "IaSetVertexBuffers"
        rows = self._rows(entry, start_slot, count)
        return [(self._given(memory), stride, offset) for memory, stride, offset in rows]

    def ia_set_index_buffer(self, buffer: Buffer | None, format: int, offset: int) -> None:
        """IASetIndexBuffer; ``format`` is a DXGI_FORMAT, ``offset`` in bytes."""
        self._do("IaSetIndexBuffer", memory_of(buffer), format, offset)

    def ia_get_index_buffer(self) -> tuple[Buffer | None, int, int]:
        """IAGetIndexBuffer: the buffer, with a reference more, its DXGI_FORMAT and offset."""
        memory, format, offset = self.state.whole("IaSetIndexBuffer")
        return self._given(memory), format, offset

    # Rasterizer

    def rs_set_state(self, state: RasterizerState | None) -> None:
        """RSSetState."""
        self._do("SetRasterizerState", memory_of(state))

    def rs_get_state(self) -> RasterizerState | None:
        """RSGetState: the state, with a reference more."""
        found: RasterizerState | None = self._given(self.state.whole("SetRasterizerState")[0])
        return found

    def rs_set_viewports(self, viewports: Sequence[Viewport]) -> None:
        """RSSetViewports."""
        self._do("SetViewports", VIEWPORTS - len(viewports), tuple(viewports))

    def rs_get_viewports(self) -> list[Viewport]:
        """RSGetViewports: the viewports that were set."""
        return list(self.state.whole("SetViewports")[1])

    def rs_set_scissor_rects(self, rects: Sequence[Rect]) -> None:
        """RSSetScissorRects."""
        self._do("SetScissorRects", VIEWPORTS - len(rects), tuple(rects))

    def rs_get_scissor_rects(self) -> list[Rect]:
        """RSGetScissorRects: the rectangles that were set."""
        return list(self.state.whole("SetScissorRects")[1])

    # Output merger

    def om_set_blend_state(
        self,
        state: BlendState | None,
        blend_factor: Sequence[float] | None = None,
        sample_mask: int = 0xFFFFFFFF,
    ) -> None:
        """OMSetBlendState; without ``blend_factor`` it is 1 in all channels."""
        factor = (1.0,) * 4 if blend_factor is None else tuple(blend_factor)
        self._do("SetBlendState", memory_of(state), factor, sample_mask)

    def om_get_blend_state(self) -> tuple[BlendState | None, tuple[float, ...], int]:
        """OMGetBlendState: the state, with a reference more, blend factor and sample mask."""
        memory, factor, mask = self.state.whole("SetBlendState")
        return self._given(memory), factor, mask

    def om_set_depth_stencil_state(
        self, state: DepthStencilState | None, stencil_ref: int = 0
    ) -> None:
        """OMSetDepthStencilState."""
        self._do("SetDepthStencilState", memory_of(state), stencil_ref)

    def om_get_depth_stencil_state(self) -> tuple[DepthStencilState | None, int]:
        """OMGetDepthStencilState: the state, with a reference more, and the reference value."""
        memory, reference = self.state.whole("SetDepthStencilState")
        return self._given(memory), reference

    def om_set_render_targets(
        self, targets: Sequence[RenderTargetView | None], depth: DepthStencilView | None = None
    ) -> None:
        """OMSetRenderTargets; unordered access views of the output merger are unbound."""
        self.om_set_render_targets_and_unordered_access_views(targets, depth, 0, ())

    def om_set_render_targets_and_unordered_access_views(
        self,
        targets: Sequence[RenderTargetView | None] | None,
        depth: DepthStencilView | None,
        start_slot: int,
        unordered: Sequence[UnorderedAccessView | None] | None,
        initial_counts: Sequence[int] | None = None,
    ) -> None:
        """OMSetRenderTargetsAndUnorderedAccessViews.

        ``targets`` or ``unordered`` may be ``KEEP_RENDER_TARGETS`` or
        ``KEEP_UNORDERED_ACCESS_VIEWS``.
        """
        most = self._limits.targets
        if targets is not None and len(targets) > most:
            self.messages.append(f"{len(targets)} render targets, of {most} slots")
            return
        bound = self.state.whole("SetRenderTargets")
        if targets is None:
            colors, depth_memory = bound[0], bound[2]
        else:
            colors, depth_memory = memories_of(targets), memory_of(depth)
        rest: tuple[Any, ...]
        if unordered is None:
            rest = _without_counts(bound[3:])
        else:
            views = memories_of(unordered)
            counts = (KEEP,) * len(views) if initial_counts is None else tuple(initial_counts)
            rest = (views, counts, start_slot, 0, UNORDERED_SLOTS) if views else ()
        self._do("SetRenderTargets", colors, TARGETS - len(colors), depth_memory, *rest)

    def om_get_render_targets(
        self, count: int = TARGETS
    ) -> tuple[list[RenderTargetView | None], DepthStencilView | None]:
        """OMGetRenderTargets: ``count`` targets and the depth-stencil view, each with a reference
        more.
        """
        check_span(0, count, TARGETS)
        colors, _, depth, *_ = self.state.whole("SetRenderTargets")
        padded = (*colors, *(None,) * TARGETS)[:count]
        return [self._given(memory) for memory in padded], self._given(depth)

    def om_get_unordered_access_views(
        self, start_slot: int, count: int
    ) -> list[UnorderedAccessView | None]:
        """The unordered access views of OMGetRenderTargetsAndUnorderedAccessViews, each with a
        reference more.

        Raises Refused (E_INVALIDARG) for slots that do not exist.
        """
        check_span(start_slot, count, UNORDERED_SLOTS)
        views, first = (*self.state.whole("SetRenderTargets")[3:], (), (), 0)[0:3:2]
        slots = dict(enumerate(views, first))
        return [self._given(slots.get(slot)) for slot in range(start_slot, start_slot + count)]

    # Compute

    def cs_set_unordered_access_views(
        self,
        start_slot: int,
        views: Sequence[UnorderedAccessView | None],
        initial_counts: Sequence[int] | None = None,
    ) -> None:
        """CSSetUnorderedAccessViews; without ``initial_counts`` hidden counters keep theirs."""
        counts = (KEEP,) * len(views) if initial_counts is None else tuple(initial_counts)
        self._do("CsSetUnorderedAccessViews", start_slot, memories_of(views), counts)

    def cs_get_unordered_access_views(
        self, start_slot: int, count: int
    ) -> list[UnorderedAccessView | None]:
        """CSGetUnorderedAccessViews: the views, each with a reference more."""
        entry = "CsSetUnorderedAccessViews"
        return self._given_slots(entry, start_slot, count)

    # Stream output

    def so_set_targets(
        self, buffers: Sequence[Buffer | None], offsets: Sequence[int] | None = None
    ) -> None:
        """SOSetTargets; an offset of -1 continues behind the data written last."""
        given = (0,) * len(buffers) if offsets is None else offsets
        places = tuple(offset & 0xFFFFFFFF for offset in given)
        memories = memories_of(buffers)
        self._do("SoSetTargets", memories, STREAM_TARGETS - len(memories), places)

    def so_get_targets(self, count: int = STREAM_TARGETS) -> list[Buffer | None]:
        """SOGetTargets: ``count`` buffers, each with a reference more."""
        check_span(0, count, STREAM_TARGETS)
        buffers = (*self.state.whole("SoSetTargets")[0], *(None,) * STREAM_TARGETS)
        return [self._given(memory) for memory in buffers[:count]]

    # Predication and queries

    def set_predication(self, predicate: Predicate | None, value: bool) -> None:
        """SetPredication: skip draws while the predicate's data equal ``value``."""
        self._do("SetPredication", memory_of(predicate), int(value))

    def get_predication(self) -> tuple[Predicate | None, bool]:
        """GetPredication: the predicate, with a reference more, and the value."""
        memory, value = self.state.whole("SetPredication")
        return self._given(memory), bool(value)

    @void
    def begin(self, query: Query) -> None:
        """Begin."""
        query.driver.begin(self)

    @void
    def end(self, query: Query) -> None:
        """End."""
        query.driver.end(self)

    def get_data(self, query: Query, size: int | None = None, flags: int = 0) -> Data:
        """GetData of ``size`` bytes, by default all; 0 asks only whether there is an answer.
        ``flags`` are D3D11_ASYNC_GETDATA_*.
        """
        count = query.driver.data_size if size is None else size
        refusal = query.driver.refusal(count, writes=True)
        if refusal is not None:
            return Data(refusal)
        return query.driver.get_data(bytearray(count) if count else None, count, flags)

    # Draws

    def draw(self, vertex_count: int, start_vertex: int) -> None:
        """Draw."""
        self._do("Draw", vertex_count, start_vertex)

    def draw_indexed(self, index_count: int, start_index: int, base_vertex: int) -> None:
        """DrawIndexed."""
        self._do("DrawIndexed", index_count, start_index, base_vertex)

    def draw_instanced(
        self, vertex_count: int, instance_count: int, start_vertex: int, start_instance: int
    ) -> None:
        """DrawInstanced."""
        self._do("DrawInstanced", vertex_count, instance_count, start_vertex, start_instance)

    def draw_indexed_instanced(
        self,
        index_count: int,
        instance_count: int,
        start_index: int,
        base_vertex: int,
        start_instance: int,
    ) -> None:
        """DrawIndexedInstanced."""
        arguments = index_count, instance_count, start_index, base_vertex, start_instance
        self._do("DrawIndexedInstanced", *arguments)

    def draw_auto(self) -> None:
        """DrawAuto."""
        self._do("DrawAuto")

    def draw_instanced_indirect(self, arguments: Buffer, offset: int) -> None:
        """DrawInstancedIndirect, with its arguments at byte ``offset`` of a buffer."""
        self._indirect("DrawInstancedIndirect", arguments, offset)

    def draw_indexed_instanced_indirect(self, arguments: Buffer, offset: int) -> None:
        """DrawIndexedInstancedIndirect, with its arguments at byte ``offset`` of a buffer."""
        self._indirect("DrawIndexedInstancedIndirect", arguments, offset)

    @void
    def _indirect(self, entry: str, arguments: Buffer, offset: int) -> None:
        """Draw or dispatch with arguments in a buffer that was created for them."""
        if not arguments.desc.MiscFlags & BufferMiscFlag.DRAWINDIRECT_ARGS or offset % 4:
            raise Refused(Result.E_INVALIDARG, f"{entry}: buffer, offset {offset}")
        self._made(entry, arguments.memory, offset)

    def dispatch(self, x: int, y: int, z: int) -> None:
        """Dispatch: thread groups along each axis."""
        self._do("Dispatch", x, y, z)

    def dispatch_indirect(self, arguments: Buffer, offset: int) -> None:
        """DispatchIndirect, with its group counts at byte ``offset`` of a buffer."""
        self._indirect("DispatchIndirect", arguments, offset)

    # Transfers

    def clear_render_target_view(
        self, view: RenderTargetView | None, color: Sequence[float]
    ) -> None:
        """ClearRenderTargetView; without a view nothing is cleared."""
        if view is not None:
            self._do("ClearRenderTargetView", view.memory, tuple(color))

    def clear_depth_stencil_view(
        self, view: DepthStencilView | None, flags: int, depth: float, stencil: int
    ) -> None:
        """ClearDepthStencilView; ``flags`` are D3D11_CLEAR_*; without a view nothing is
        cleared.
        """
        if view is not None:
            self._do("ClearDepthStencilView", view.memory, flags, depth, stencil)

    def clear_unordered_access_view_uint(
        self, view: UnorderedAccessView, values: Sequence[int]
    ) -> None:
        """ClearUnorderedAccessViewUint."""
        self._do("ClearUnorderedAccessViewUint", view.memory, tuple(values))

    def clear_unordered_access_view_float(
        self, view: UnorderedAccessView, values: Sequence[float]
    ) -> None:
        """ClearUnorderedAccessViewFloat."""
        self._do("ClearUnorderedAccessViewFloat", view.memory, tuple(values))

    def copy_structure_count(self, target: Buffer, offset: int, view: UnorderedAccessView) -> None:
        """CopyStructureCount: copy a hidden counter to byte ``offset`` of a buffer."""
        self._do("CopyStructureCount", target.memory, offset, view.memory)

    @void
    def copy_resource(self, target: Resource, source: Resource) -> None:
        """CopyResource."""
        if target is source:
            return
        if type(target) is not type(source):
            raise Refused(Result.E_INVALIDARG, "a copy to a resource of another type")
        entry = "ResourceCopy" if _copies(target, source) else "ResourceConvert"
        self._made(entry, target.memory, source.memory)

    def copy_subresource_region(
        self,
        target: Resource,
        target_index: int,
        x: int,
        y: int,
        z: int,
        source: Resource,
        source_index: int,
        box: Box | None = None,
    ) -> None:
        """CopySubresourceRegion; without a box all of the source subresource."""
        place = target_index, x, y, z
        self.copy_subresource_region1(target, *place, source, source_index, box)

    @void
    def copy_subresource_region1(
        self,
        target: Resource,
        target_index: int,
        x: int,
        y: int,
        z: int,
        source: Resource,
        source_index: int,
        box: Box | None = None,
        flags: int = 0,
    ) -> None:
        """CopySubresourceRegion1; ``flags`` are D3D11_COPY_*, which only promise how the contents
        are used.
        """
        _check_copy_flags(flags)
        entry = "ResourceCopyRegion" if _copies(target, source) else "ResourceConvertRegion"
        place = target_index, x, y, z
        self._made(entry, target.memory, *place, source.memory, source_index, box)

    @void
    def update_subresource(
        self,
        target: Resource,
        index: int,
        box: Box | None,
        data: bytes,
        row_pitch: int = 0,
        depth_pitch: int = 0,
    ) -> None:
        """UpdateSubresource; pitches are in bytes.  Part of a constant buffer cannot be
        written.
        """
        if box is not None and target.ddi.BindFlags & BindFlag.CONSTANT_BUFFER:
            raise Refused(Result.E_INVALIDARG, "UpdateSubresource of part of a constant buffer")
        self._update(target, index, box, data, row_pitch, depth_pitch)

    @void
    def update_subresource1(
        self,
        target: Resource,
        index: int,
        box: Box | None,
        data: bytes,
        row_pitch: int = 0,
        depth_pitch: int = 0,
        flags: int = 0,
    ) -> None:
        """UpdateSubresource1, also of part of a constant buffer; ``flags`` are D3D11_COPY_*, which
        only promise how the contents are used.
        """
        _check_copy_flags(flags)
        self._update(target, index, box, data, row_pitch, depth_pitch)

    def _update(
        self, target: Resource, index: int, box: Box | None, data: bytes, *pitches: int
    ) -> None:
        written = target.usage in (Usage.DEFAULT, Usage.STAGING)
        if not written or target.ddi.BindFlags & BindFlag.DEPTH_STENCIL:
            raise Refused(Result.E_INVALIDARG, "UpdateSubresource of this resource")
        self._made("ResourceUpdateSubresourceUP", target.memory, index, box, bytes(data), *pitches)

    def resolve_subresource(
        self, target: Resource, target_index: int, source: Resource, source_index: int, format: int
    ) -> None:
        """ResolveSubresource; ``format`` is a DXGI_FORMAT."""
        place = target.memory, target_index, source.memory, source_index
        self._do("ResourceResolveSubresource", *place, format)

    @void
    def generate_mips(self, view: ShaderResourceView) -> None:
        """GenerateMips of a texture with D3D11_RESOURCE_MISC_GENERATE_MIPS."""
        if view.resource.is_buffer or not view.resource.desc.MiscFlags & MiscFlag.GENERATE_MIPS:
            raise Refused(Result.E_INVALIDARG, "GenerateMips of this resource")
        self._made("GenMips", view.memory)

    @void
    def set_resource_min_lod(self, resource: Resource, lod: float) -> None:
        """SetResourceMinLOD of a texture with D3D11_RESOURCE_MISC_RESOURCE_CLAMP."""
        if not resource.desc.MiscFlags & MiscFlag.RESOURCE_CLAMP:
            raise Refused(Result.E_INVALIDARG, "SetResourceMinLOD of this resource")
        self._made("SetResourceMinLOD", resource.memory, lod)
        resource.min_lod = lod

    def get_resource_min_lod(self, resource: Resource) -> float:
        """GetResourceMinLOD."""
        return resource.min_lod

    # Hints and clears of Direct3D 11.1

    def discard_resource(self, resource: Resource) -> None:
        """DiscardResource: the contents become undefined; here they stay as they are."""

    def discard_view(self, view: View) -> None:
        """DiscardView: the contents become undefined; here they stay as they are."""

    @void
    def clear_view(
        self,
        view: RenderTargetView | UnorderedAccessView | DepthStencilView,
        color: Sequence[float],
        rects: Sequence[Rect] = (),
    ) -> None:
        """ClearView: all of a view, or rectangles of a render target view of one level of a 2D
        texture with one sample.  Other rectangles are not implemented: they have no effect but a
        message.
        """
        if len(color) != _CHANNELS:
            raise Refused(Result.E_INVALIDARG, f"a color of {len(color)} channels")
        if rects:
            self._clear_rects(view, tuple(color), rects)
        elif isinstance(view, DepthStencilView):
            self._made("ClearDepthStencilView", view.memory, int(ClearFlag.DEPTH), color[0], 0)
        else:
            unordered = isinstance(view, UnorderedAccessView)
            entry = "ClearUnorderedAccessViewFloat" if unordered else "ClearRenderTargetView"
            self._made(entry, view.memory, tuple(color))

    def _clear_rects(self, view: View, color: tuple[float, ...], rects: Sequence[Rect]) -> None:
        """Clear rectangles by copies of a texture that is cleared.  Raises Unsupported."""
        resource, desc = view.resource, view.desc or ViewDesc()
        flat = isinstance(resource, Texture2D) and isinstance(view, RenderTargetView)
        single = resource.ddi.ArraySize == 1 == resource.ddi.SampleDesc.Count
        if not flat or not single:
            raise Unsupported("ClearView of rectangles of this view")
        level = desc.levels.first
        width, height, _ = resource.ddi.pMipInfoList[level]
        format = desc.format or resource.ddi.Format
        bind = int(BindFlag.RENDER_TARGET)
        device: Any = self.owner
        source = device.create_texture2d(
            Texture2DDesc(width, height, Format=format, BindFlags=bind)
        )
        cleared = device.create_render_target_view(source)
        self._made("ClearRenderTargetView", cleared.memory, color)
        for left, top, right, bottom in rects:
            low, high = (max(left, 0), max(top, 0)), (min(right, width), min(bottom, height))
            box = Box(*low, 0, *high, 1)
            place = level, *low, 0
            self._made("ResourceCopyRegion", resource.memory, *place, source.memory, 0, box)
        cleared.release()
        source.release()

    # Maps

    def map(self, resource: Resource, index: int, kind: Map, flags: int = 0) -> MappedSubresource:
        """Map: the memory of a subresource; ``flags`` are D3D11_MAP_FLAG_*.

        Raises Refused (E_INVALIDARG) for a map that the resource's usage and access flags do not
        allow, and with D3D11_MAP_FLAG_DO_NOT_WAIT DXGI_ERROR_WAS_STILL_DRAWING.
        """
        entry, flag = mapping(resource, index, kind), 1 if flags & _DO_NOT_WAIT else 0
        try:
            found: MappedSubresource = self._made(entry, resource.memory, index, int(kind), flag)
        except ContractError as error:
            raise Refused(Result.E_INVALIDARG, error.what) from None
        return found

    def unmap(self, resource: Resource, index: int) -> None:
        """Unmap."""
        self._do(unmapping(resource), resource.memory, index)

    # All state

    def clear_state(self) -> None:
        """ClearState: all state as in a new context."""
        for entry, arguments in self.state.resets():
            self._do(entry, *arguments)

    def flush(self) -> None:
        """Flush."""
        self._do("Flush")


_DO_NOT_WAIT = 0x100000
"""D3D11_MAP_FLAG_DO_NOT_WAIT."""


def _without_counts(bound: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments of SetRenderTargets for unordered access views, which keep their counters."""
    if not bound:
        return ()
    views, _, *rest = bound
    return views, (KEEP,) * len(views), *rest


def _check_copy_flags(flags: int) -> None:
    """Raise Refused for other flags than one of D3D11_COPY_NO_OVERWRITE and D3D11_COPY_DISCARD."""
    if flags not in (0, 1, 2):
        raise Refused(Result.E_INVALIDARG, f"CopyFlags {flags:#x}")


_SHARED_EXPONENT = frozenset({DxgiFormat.R32_UINT, DxgiFormat.R32_SINT})
"""Formats between which and R9G9B9E5_SHAREDEXP texels are copied as they are."""


def _copies(target: Resource, source: Resource) -> bool:
    """Whether texels are copied in one family of formats, else as blocks of the same size.

    Subresources of textures with different numbers of dimensions are copied, too.  Raises Refused
    (E_INVALIDARG) for resources that are not copied: a buffer and a texture, other formats or
    usages.
    """
    if target.is_buffer != source.is_buffer or target.usage is Usage.IMMUTABLE:
        raise Refused(Result.E_INVALIDARG, "a copy to this resource")
    if target.is_buffer or target.ddi.Format == source.ddi.Format:
        return True
    formats = DxgiFormat(target.ddi.Format), DxgiFormat(source.ddi.Format)
    one, other = DXGI[formats[0]], DXGI[formats[1]]
    if one.family is other.family:
        return True
    blocks = (one.texels.block == (1, 1)) != (other.texels.block == (1, 1))
    exponent = DxgiFormat.R9G9B9E5_SHAREDEXP in formats and _SHARED_EXPONENT.intersection(formats)
    if not blocks and not exponent:
        raise Refused(Result.E_INVALIDARG, f"a copy of {formats[1].name} to {formats[0].name}")
    return False

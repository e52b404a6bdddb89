"""Draws: what must be bound before they are sent, and the tokens they become."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from msgspec.structs import astuple

from dp2emu.d3d.dp2structs import D3DRECTPATCH_INFO, D3DTRIPATCH_INFO, Op
from dp2emu.d3d.enums import Format, PrimitiveType
from dp2emu.d3d.flags import PatchFlags
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.sdk import sdk_value
from dp2emu.d3d.wirenames import WireRenderState
from dp2emu.gpu.command.topology import vertex_count
from dp2emu.layout import dtype_of
from dp2emu.runtime.arguments import index_bytes, needed
from dp2emu.runtime.buffers import create_index_buffer
from dp2emu.runtime.commands import pack
from dp2emu.runtime.objects import IndexBuffer, RectPatchInfo, TriPatchInfo
from dp2emu.runtime.session import Refused, Session, UserMemory

_SEGMENT = np.dtype("<f4")
_INFOS = {
    Op.DRAWRECTPATCH: dtype_of(D3DRECTPATCH_INFO),
    Op.DRAWTRIPATCH: dtype_of(D3DTRIPATCH_INFO),
}
_DELETE_PATCH = sdk_value(WireRenderState, "D3DRS_DELETERTPATCH") or 0
USER_DRAW_BYTES = 64
"""Room for the tokens of one user-pointer draw: they must share a call with its vertices."""


class Drawing:
    """The draws of a device.  ``prepare`` is called before the tokens of each.

    Mutable: ``streams`` are those bound, ``has_indices`` and ``has_format`` say if those are.
    """

    def __init__(self, session: Session, prepare: Callable[[], None]) -> None:
        self._session = session
        self._prepare = prepare
        self.streams: set[int] = set()
        self.has_indices = False
        self.has_format = False
        self._patches: set[int] = set()

    def primitive(self, primitive: PrimitiveType, start: int, count: int) -> None:
        """DrawPrimitive."""
        self._require(bool(self.streams), "streams")
        if count:
            self._prepare()
            self._session.emit(Op.DRAWPRIMITIVE, [(primitive, start, count)])

    def indexed(
        self, primitive: PrimitiveType, base: int, minimum: int, vertices: int, start: int,
        count: int,
    ) -> None:  # fmt: skip
        """DrawIndexedPrimitive."""
        self._require(bool(self.streams), "streams")
        self._require(self.has_indices, "index buffer")
        if count:
            self._prepare()
            item = (primitive, base, minimum, vertices, start, count)
            self._session.emit(Op.DRAWINDEXEDPRIMITIVE, [item])

    def user(self, primitive: PrimitiveType, count: int, vertices: bytes, stride: int) -> None:
        """DrawPrimitiveUP."""
        self._require(stride > 0, "stride")
        if count == 0:
            return
        used = needed(vertices, vertex_count(primitive, count) * stride, "vertices")
        self._read_user_memory(stride)
        self._session.emit(Op.DRAWPRIMITIVE, [(primitive, 0, count)])
        self._submit(UserMemory(used, stride))

    def indexed_user(
        self, primitive: PrimitiveType, minimum: int, vertex_total: int, count: int,
        indices: bytes, index_format: Format, vertices: bytes, stride: int,
    ) -> None:  # fmt: skip
        """DrawIndexedPrimitiveUP: the indices go through a buffer that lives for this draw."""
        self._require(stride > 0, "stride")
        if count == 0:
            return
        size = vertex_count(primitive, count) * index_bytes(index_format)
        used = needed(indices, size, "indices")
        data = needed(vertices, (minimum + vertex_total) * stride, "vertices")
        buffer = create_index_buffer(self._session, used, index_format)
        self._read_user_memory(stride)
        self.bind_indices(buffer)
        item = (primitive, 0, minimum, vertex_total, 0, count)
        self._session.emit(Op.DRAWINDEXEDPRIMITIVE, [item])
        self.bind_indices(None)
        self._submit(UserMemory(data, stride))
        self._session.destroy_surface(buffer.desc.handle)

    def patch(
        self,
        op: Op,
        handle: int,
        segments: Sequence[float] | None,
        info: RectPatchInfo | TriPatchInfo | None,
    ) -> None:
        """DrawRectPatch and DrawTriPatch; without ``info`` streams are not read."""
        if info is None and handle not in self._patches:
            raise Refused(HResult.D3DERR_INVALIDCALL, f"no patch {handle}")
        self._require(bool(self.streams) or info is None, "streams")
        self._prepare()
        flags, data = PatchFlags(0), b""
        if segments is not None:
            flags, data = PatchFlags.HASSEGS, pack(_SEGMENT, segments, op)
        if info is not None:
            flags |= PatchFlags.HASINFO
            data += pack(_INFOS[op], [astuple(info)], op)
            self._patches |= {handle} - {0}
        self._session.commands.emit_tailed(op, (handle, flags), data)

    def delete_patch(self, handle: int) -> None:
        """DeletePatch."""
        if handle not in self._patches:
            raise Refused(HResult.D3DERR_INVALIDCALL, f"no patch {handle}")
        self._patches.remove(handle)
        self._session.emit(Op.RENDERSTATE, [(_DELETE_PATCH, handle)])

    def bind_stream(self, stream: int, *, bound: bool) -> None:
        """SetStreamSource; any stream will do for a draw, since declarations need not name the
        first.
        """
        (self.streams.add if bound else self.streams.discard)(stream)

    def bind_indices(self, buffer: IndexBuffer | None) -> None:
        """SetIndices."""
        self.has_indices = buffer is not None
        item = (buffer.desc.handle, buffer.size) if buffer else (0, 2)
        self._session.emit(Op.SETINDICES, [item])

    def _read_user_memory(self, stride: int) -> None:
        """Stream 0 is lpVertices; from here to the submission everything goes into one call."""
        self._prepare()
        self._session.commands.reserve(USER_DRAW_BYTES)
        self._session.emit(Op.SETSTREAMSOURCEUM, [(0, stride)])

    def _submit(self, vertices: UserMemory) -> None:
        self._session.submit_with(vertices)
        self.streams.discard(0)

    def _require(self, there: bool, what: str) -> None:
        """Draws check what they need before anything is sent."""
        if not there:
            raise Refused(HResult.D3DERR_INVALIDCALL, f"draw without {what}")
        if not self.has_format:
            raise Refused(HResult.D3DERR_INVALIDCALL, "draw without a vertex format")

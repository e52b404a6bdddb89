"""Draws of DirectX 6 and 7: vertices in the call, indices in the command buffer.

As in the runtimes, draws with one vertex format are batched into a call (wire format, "Vertex
sources"); vertex buffers are drawn in place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.fvf import fvf_size
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.legacy import PrimitiveType7
from dp2emu.gpu.resource.heap import SurfaceDesc
from dp2emu.runtime.arguments import needed
from dp2emu.runtime.session import CallVertices, Refused, Session

COMMAND_BYTES = 1 << 18
"""Size of the command buffer in bytes, enough for a token of 65,535 indices."""
VERTEX_BYTES = 1 << 20
"""Largest size in bytes of the vertices of several draws that share a call."""
_MOST_VERTICES = 0xFFFF
"""D3DMAXNUMVERTICES: the largest number of vertices from user memory in a call, and the largest
index of a token's first vertex."""
_TOKEN_BYTES = 8
_INDEX = np.dtype("<u2")


class Tokens(NamedTuple):
    """How a topology (such as a triangle list) is drawn: its tokens without and with indices, and
    the function from a number of vertices to the number of primitives.
    """

    plain: Op
    indexed: Op
    primitives: Callable[[int], int]


TOKENS: dict[PrimitiveType7, Tokens] = {
    PrimitiveType7.POINTLIST: Tokens(Op.POINTS, Op.POINTS, lambda n: n),
    PrimitiveType7.LINELIST: Tokens(Op.LINELIST, Op.INDEXEDLINELIST2, lambda n: n // 2),
    PrimitiveType7.LINESTRIP: Tokens(Op.LINESTRIP, Op.INDEXEDLINESTRIP, lambda n: n - 1),
    PrimitiveType7.TRIANGLELIST: Tokens(
        Op.TRIANGLELIST, Op.INDEXEDTRIANGLELIST2, lambda n: n // 3
    ),
    PrimitiveType7.TRIANGLESTRIP: Tokens(
        Op.TRIANGLESTRIP, Op.INDEXEDTRIANGLESTRIP, lambda n: n - 2
    ),
    PrimitiveType7.TRIANGLEFAN: Tokens(Op.TRIANGLEFAN, Op.INDEXEDTRIANGLEFAN, lambda n: n - 2),
}
_CORNERS = {Op.INDEXEDLINELIST2: 2, Op.INDEXEDTRIANGLELIST2: 3}
"""Number of indices per primitive, by the token that draws an indexed list; indices of an
incomplete last primitive are not sent."""


class VertexBuffer(msgspec.Struct, frozen=True):
    """IDirect3DVertexBuffer: ``count`` vertices of an FVF."""

    desc: SurfaceDesc
    format: int
    stride: int
    count: int


class _Waiting(msgspec.Struct):
    """The vertices collected for the next call; ``buffer`` is a vertex buffer's handle, 0 for user
    memory.  Mutable: draws append to it.
    """

    format: int = 0
    stride: int = 0
    buffer: int = 0
    count: int = 0
    data: bytearray | None = None

    def same(self, format: int, stride: int, buffer: int) -> bool:
        """Whether vertices of this FVF, stride in bytes and buffer may join the collected ones."""
        return (self.format, self.stride, self.buffer) == (format, stride, buffer)


class CallDraws:
    """The draws of a session of DirectX 6 or 7.  Mutable: it batches their vertices."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._waiting = _Waiting()
        session.vertices = self._take

    def user(
        self, primitive: int, format: int, vertices: bytes, count: int,
        indices: Sequence[int] | None = None,
    ) -> None:  # fmt: skip
        """DrawPrimitive and DrawIndexedPrimitive of ``count`` vertices in user memory.

        Raises Refused for an unknown primitive or FVF and for more than 65,535 vertices,
        UsageError for too few bytes.
        """
        tokens = _tokens(primitive)
        stride = fvf_size(format, self._session.interface)
        if not stride or count > _MOST_VERTICES:
            raise Refused(HResult.D3DERR_INVALIDVERTEXFORMAT, f"{count} vertices of {format:#x}")
        used = needed(vertices, count * stride, "vertices")
        self._prepare(format, stride, 0, indices)
        start = self._waiting.count
        if start + count > _MOST_VERTICES or start * stride + len(used) > VERTEX_BYTES:
            self._session.flush()
            start = self._waiting.count
        self._waiting.data = self._waiting.data or bytearray()
        self._waiting.data += used
        self._waiting.count += count
        self._emit(tokens, start, count, indices)

    def buffer(
        self, primitive: int, buffer: VertexBuffer, start: int, count: int,
        indices: Sequence[int] | None = None,
    ) -> None:  # fmt: skip
        """DrawPrimitiveVB and DrawIndexedPrimitiveVB; ``indices`` count from ``start``."""
        tokens = _tokens(primitive)
        if start + count > buffer.count or start > _MOST_VERTICES:
            what = f"vertices {start} to {start + count} of {buffer.count}"
            raise Refused(HResult.D3DERR_INVALIDCALL, what)
        self._prepare(buffer.format, buffer.stride, buffer.desc.handle, indices)
        self._waiting.count = buffer.count
        self._emit(tokens, start, count, indices)

    def _prepare(
        self, format: int, stride: int, buffer: int, indices: Sequence[int] | None
    ) -> None:
        """Submit the collected vertices unless the new ones may join them, and reserve room for
        the draw's token: a token and its vertices must be in one call.
        """
        if not self._waiting.same(format, stride, buffer):
            self._session.flush()
            self._waiting = _Waiting(format, stride, buffer)
        self._session.commands.reserve(_TOKEN_BYTES + 4 * len(indices or ()))

    def _emit(self, tokens: Tokens, start: int, count: int, indices: Sequence[int] | None) -> None:
        read = count if indices is None else len(indices)
        primitives = tokens.primitives(read)
        if primitives <= 0:
            return
        if tokens.plain is Op.POINTS:
            runs = [(count, start)] if indices is None else [(1, start + i) for i in indices]
            self._session.emit(Op.POINTS, runs)
        elif indices is None:
            self._session.commands.emit_counted(tokens.plain, primitives, (start,))
        else:
            corners = _CORNERS.get(tokens.indexed)
            used = indices[: primitives * corners] if corners else indices
            data = np.array(used, _INDEX).tobytes()
            self._session.commands.emit_counted(tokens.indexed, primitives, (start,), data)

    def _take(self) -> CallVertices | None:
        """Remove and return the vertices collected for this call; None if there are none."""
        waiting = self._waiting
        self._waiting = _Waiting(waiting.format, waiting.stride, waiting.buffer)
        if waiting.count == 0:
            return None
        data = None if waiting.buffer else bytes(waiting.data or b"")
        return CallVertices(waiting.format, waiting.stride, waiting.count, data, waiting.buffer)


def _tokens(primitive: int) -> Tokens:
    try:
        return TOKENS[PrimitiveType7(primitive)]
    except ValueError:
        what = f"primitive type {primitive}"
        raise Refused(HResult.D3DERR_INVALIDPRIMITIVETYPE, what) from None

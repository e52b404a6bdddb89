"""Vertex and index buffers: made with what is in them."""

from __future__ import annotations

from dp2emu.d3d.enums import Format
from dp2emu.d3d.hresult import HResult
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from dp2emu.runtime.arguments import index_bytes
from dp2emu.runtime.objects import IndexBuffer
from dp2emu.runtime.session import Refused, Session


def create_vertex_buffer(session: Session, data: bytes) -> SurfaceDesc:
    """CreateVertexBuffer, filled with ``data``."""
    return _create(session, SurfaceKind.VERTEXBUFFER, data)


def create_index_buffer(session: Session, data: bytes, format: Format) -> IndexBuffer:
    """CreateIndexBuffer, filled with ``data``; ``format`` is INDEX16 or INDEX32."""
    size = index_bytes(format)
    return IndexBuffer(_create(session, SurfaceKind.INDEXBUFFER, data), size)


def _create(session: Session, kind: SurfaceKind, data: bytes) -> SurfaceDesc:
    if not data:
        raise Refused(HResult.D3DERR_INVALIDCALL, "a buffer of no bytes")
    desc = session.create_surface(kind, len(data))
    session.write(desc.handle, 0, data)
    return desc

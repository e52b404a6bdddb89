"""What earlier records say about the tokens of a call: vertex formats, types of live queries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from dp2emu.capture.records import ContextCreated, ContextDestroyed, Record
from dp2emu.d3d.enums import DeclType
from dp2emu.d3d.fvf import fvf_layout, fvf_size
from dp2emu.d3d.vertices import ElementType
from dp2emu.dp2.call import Call
from dp2emu.errors import Fault
from dp2emu.text.handles import Handles

_FLOATS: dict[ElementType, int] = {
    DeclType.FLOAT1: 1, DeclType.FLOAT2: 2, DeclType.FLOAT3: 3, DeclType.FLOAT4: 4,
}  # fmt: skip
_LATEST = 9
_LONGEST_VERTEX = 1024
"""Largest size in bytes of a vertex that a dump shows on one line of text."""


class VertexFormat(NamedTuple):
    """Vertex size in bytes; whether each DWORD of a vertex is a float, empty if unknown."""

    size: int
    floats: tuple[bool, ...]

    @property
    def line(self) -> int:
        """Size of a vertex in bytes, or 0 if it is too long to be shown on one line of text."""
        return self.size if self.size <= _LONGEST_VERTEX else 0


class Contexts:
    """The contexts of a capture.  Mutable: pass every record in order to ``see``.

    ``handles`` are the objects of Direct3D 10/11 devices; pass calls to its own ``see``, after
    they were written or read.
    """

    def __init__(self) -> None:
        self.handles = Handles()
        self._interfaces: dict[int, int] = {}
        self._queries: dict[int, dict[int, int]] = {}

    def see(self, record: Record) -> None:
        """Update the known contexts if ``record`` creates or destroys one."""
        if isinstance(record, ContextCreated):
            self._interfaces[record.context] = record.interface
        elif isinstance(record, ContextDestroyed):
            self._interfaces.pop(record.context, None)
            self._queries.pop(record.context, None)

    def create_queries(self, context: int, pairs: Iterable[Sequence[int]]) -> None:
        """Track the (id, type) pairs of a CREATEQUERY token."""
        self._queries.setdefault(context, {}).update((query, kind) for query, kind in pairs)

    def query_type(self, context: int, query: int) -> int | None:
        """D3DQUERYTYPE of a query, None for an unknown one."""
        return self._queries.get(context, {}).get(query)

    def vertex_format(self, call: Call) -> VertexFormat:
        """The format of a call's vertices (wire format, "Inline vertices")."""
        return _vertex_format(call.dwVertexType, call.dwVertexSize, self.interface(call))

    def interface(self, call: Call) -> int:
        """The DirectX version of the application that made a call."""
        return self._interfaces.get(call.dwhContext, _LATEST)


@lru_cache(maxsize=256)
def _vertex_format(fvf: int, size: int, interface: int) -> VertexFormat:
    try:
        natural, layout = fvf_size(fvf, interface), fvf_layout(fvf, interface)
    except Fault:
        return VertexFormat(size, ())
    floats = [False] * (natural // 4)
    for element in layout.elements:
        first, count = element.offset // 4, _FLOATS.get(element.type, 0)
        floats[first : first + count] = [True] * count
    return VertexFormat(size or natural, tuple(floats))

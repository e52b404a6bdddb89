"""Vertex layouts of flexible vertex formats and declarations (documentation of D3DFVF and
D3DVERTEXELEMENT9).
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from functools import lru_cache
from types import MappingProxyType

import msgspec

from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.enums import DeclMethod, DeclType, DeclUsage
from dp2emu.d3d.hresult import HResult
from dp2emu.errors import Fault

_BY_SIZE = {
    0: "UNUSED",
    4: "FLOAT1 D3DCOLOR UBYTE4 SHORT2 UBYTE4N SHORT2N USHORT2N UDEC3 DEC3N FLOAT16_2",
    8: "FLOAT2 SHORT4 SHORT4N USHORT4N FLOAT16_4",
    12: "FLOAT3",
    16: "FLOAT4",
}
TYPE_BYTES = {DeclType[name]: size for size, names in _BY_SIZE.items() for name in names.split()}
"""Type of a vertex element -> number of bytes that it takes in its stream (SM1-3 tokens, "Vertex
elements")."""

ElementType = DeclType | DxgiFormat
"""Storage type of an element, of Direct3D 9 or 10."""


class Element(msgspec.Struct, frozen=True, weakref=True):
    """A vertex attribute: its stream, byte offset, type and usage.

    The tessellator computes attributes whose ``method`` is not the default.  In Direct3D 10 the
    type is a format and ``index`` a register.
    """

    stream: int
    offset: int
    type: ElementType
    usage: DeclUsage
    index: int = 0
    method: DeclMethod = DeclMethod.DEFAULT

    @property
    def delivered(self) -> ElementType:
        """The type that vertex processing reads: stored, or computed by the tessellator."""
        return _COMPUTED.get(self.method, self.type)


_COMPUTED = {
    DeclMethod.PARTIALU: DeclType.FLOAT3,
    DeclMethod.PARTIALV: DeclType.FLOAT3,
    DeclMethod.CROSSUV: DeclType.FLOAT3,
    DeclMethod.UV: DeclType.FLOAT2,
    DeclMethod.LOOKUP: DeclType.FLOAT1,
    DeclMethod.LOOKUPPRESAMPLED: DeclType.FLOAT1,
}

MESH_METHODS = frozenset({DeclMethod.DEFAULT})
TRIANGLE_METHODS = MESH_METHODS | {DeclMethod.CROSSUV, DeclMethod.UV}
RECTANGLE_METHODS = TRIANGLE_METHODS | {DeclMethod.PARTIALU, DeclMethod.PARTIALV}
"""Tessellator methods that elements of rectangular patches may have (Direct3D 9 documentation,
D3DDECLMETHOD and Tessellation); ``MESH_METHODS`` and ``TRIANGLE_METHODS`` are those of meshes and
triangular patches.  Displacement maps are not supported."""


class VertexLayout(msgspec.Struct, frozen=True):
    """The attributes of a vertex.  ``transformed``: positions are screen x, y, z and rhw."""

    elements: tuple[Element, ...]
    transformed: bool


@lru_cache(maxsize=256)
def elements_by_name(layout: VertexLayout) -> Mapping[str, Element]:
    """Elements of a layout by usage and index (``texcoord3``); the first if several are equal."""
    return MappingProxyType(
        {f"{e.usage.name.lower()}{e.index}": e for e in reversed(layout.elements)}
    )


def check_drawable(layout: VertexLayout, methods: Container[DeclMethod] = MESH_METHODS) -> None:
    """Raises Fault if an element has a tessellator method other than ``methods``."""
    for element in layout.elements:
        if element.method not in methods:
            what = f"tessellator method {element.method.sdk} in this kind of draw"
            raise Fault(HResult.D3DERR_DRIVERINVALIDCALL, what)

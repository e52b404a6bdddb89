"""What a vertex consists of, whether a flexible vertex format or a declaration said so."""

from __future__ import annotations

from dataclasses import dataclass

from dp2emu.d3d.enums import DeclMethod, DeclType, DeclUsage
from dp2emu.errors import Unsupported

TYPE_BYTES = {
    DeclType.FLOAT1: 4,
    DeclType.FLOAT2: 8,
    DeclType.FLOAT3: 12,
    DeclType.FLOAT4: 16,
    DeclType.D3DCOLOR: 4,
    DeclType.UBYTE4: 4,
    DeclType.SHORT2: 4,
    DeclType.SHORT4: 8,
    DeclType.UBYTE4N: 4,
    DeclType.SHORT2N: 4,
    DeclType.SHORT4N: 8,
    DeclType.USHORT2N: 4,
    DeclType.USHORT4N: 8,
    DeclType.UDEC3: 4,
    DeclType.DEC3N: 4,
    DeclType.FLOAT16_2: 4,
    DeclType.FLOAT16_4: 8,
    DeclType.UNUSED: 0,
}
"""Bytes of an element in its stream (shader reference 8)."""


@dataclass(frozen=True, slots=True)
class Element:
    """One vertex attribute: where it lies in its stream (bytes) and what it means.

    With another ``method`` than the default a tessellator computes it.
    """

    stream: int
    offset: int
    type: DeclType
    usage: DeclUsage
    index: int = 0
    method: DeclMethod = DeclMethod.DEFAULT


@dataclass(frozen=True, slots=True)
class VertexLayout:
    """The attributes of a vertex.  ``transformed``: positions are screen x, y, z and rhw."""

    elements: tuple[Element, ...]
    transformed: bool


def check_drawable(layout: VertexLayout) -> None:
    """Raises Unsupported for a layout whose vertices only a tessellator could make."""
    for element in layout.elements:
        if element.method is not DeclMethod.DEFAULT:
            raise Unsupported(f"tessellator method {element.method.sdk}")

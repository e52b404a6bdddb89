"""What a vertex consists of, whether a flexible vertex format or a declaration said so."""

from __future__ import annotations

from dataclasses import dataclass

from dp2emu.d3d.enums import DeclType, DeclUsage


@dataclass(frozen=True, slots=True)
class Element:
    """One vertex attribute: where it lies in its stream (bytes) and what it means."""

    stream: int
    offset: int
    type: DeclType
    usage: DeclUsage
    index: int = 0


@dataclass(frozen=True, slots=True)
class VertexLayout:
    """The attributes of a vertex.  ``transformed``: positions are screen x, y, z and rhw."""

    elements: tuple[Element, ...]
    transformed: bool

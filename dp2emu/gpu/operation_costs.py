"""Fixed work of packets, whatever they read and write, in operations of about a microsecond.

A copy of one texel takes as long as one of a thousand, so pixels alone do not bound it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dp2emu.d3d.dxgi import ROWS
from dp2emu.d3d.enums import FillMode
from dp2emu.gpu.command import packets
from dp2emu.gpu.command.packets import Draw, Packet, Predicated
from dp2emu.gpu.command.post_vertex_stages import PostVertexStages

DRAW, DISPATCH = 150, 300
"""Operations of a draw and of a dispatch without textures."""
TEXTURE = 50
"""Operations of a texture or view that a program of a draw or dispatch reads."""
LINES, STREAM_OUTPUT, GEOMETRY, TESSELLATION = 500, 800, 1500, 3000
"""Operations of a draw's wireframe, stream output, geometry program and tessellation."""
PLAIN, CONVERTED = 50, 500
"""Operations of a target of a clear, or of a box that is copied as it is stored, and of one that
is filtered, converted, or combined with its target."""
RECTANGLE = 8
"""Operations of a rectangle of ComposeRects, whether or not it is visible."""
FILLED = 4
"""Rectangles of a clear that are an operation."""
OTHER = 20
"""Operations of any other packet."""
EXECUTED, STORED = 2, 1
"""Operations of a setting of a state block that is executed, and of one that is captured or
created."""


def draw_operations(draw: Draw) -> int:
    """The operations of a draw: the sum of its stages and textures."""
    pipeline, later = draw.pipeline, draw.post_vertex
    total = DRAW + TEXTURE * pipeline.textures
    if pipeline.raster.fill is not FillMode.SOLID:
        total += LINES
    if later is not None:
        total += _later_operations(later)
    return total


def _later_operations(stages: PostVertexStages) -> int:
    """The operations of the stages between vertices and clipping."""
    total = STREAM_OUTPUT * bool(stages.output.targets)
    if stages.geometry is not None:
        total += GEOMETRY + TEXTURE * len(stages.geometry.bound.units)
    if stages.tessellation is not None:
        hull, domain = stages.tessellation.hull, stages.tessellation.domain
        parts = [*(each.bound for each in hull.constants), hull.points, domain]
        read = sum(len(each.units) for each in parts if each is not None)
        total += TESSELLATION + TEXTURE * read
    return total


def operations_of(packet: Packet) -> int:
    """The operations of a packet; of a predicated one, those of the packet in it."""
    if isinstance(packet, Predicated):
        return operations_of(packet.packet)
    found = _OPERATIONS.get(type(packet))
    return OTHER if found is None else found(packet)


def _dispatch(packet: packets.Dispatch) -> int:
    return DISPATCH + TEXTURE * (len(packet.unordered) + len(packet.stage.units))


def _clear(clear: packets.Clear) -> int:
    colors = clear.colors
    targets = len(colors) - colors.count(None) + (clear.depth is not None)
    return targets * (PLAIN + -(-len(clear.rects) // FILLED))


def _copy(copy: packets.Copy) -> int:
    one, other = copy.source, copy.target
    same = ROWS[one.surface.format].format == ROWS[other.surface.format].format
    alike = one.surface.samples == other.surface.samples and one.box.sides == other.box.sides
    return PLAIN if same and alike else CONVERTED


def _blit(blit: packets.Blit) -> int:
    source, target = blit.source, blit.target
    if source is None:
        return PLAIN
    same = ROWS[source.surface.format].format == ROWS[target.surface.format].format
    keyed = blit.source_key or blit.target_key or blit.rop != packets.SOURCE_COPY
    plain = same and not keyed and source.box.sides == target.box.sides
    return PLAIN if plain else CONVERTED


def _levels(packet: packets.GenerateLevels) -> int:
    surface = packet.surface
    return CONVERTED * len(surface.subresources) * (surface.desc.levels > 1)


_OPERATIONS: dict[type[Packet], Callable[[Any], int]] = {
    Draw: draw_operations,
    packets.IndirectDraw: lambda packet: draw_operations(packet.draw),
    packets.Dispatch: _dispatch,
    packets.Clear: _clear,
    packets.Copy: _copy,
    packets.Blit: _blit,
    packets.GenerateLevels: _levels,
    packets.Compose: lambda packet: PLAIN + RECTANGLE * packet.count,
}
"""Functions that return the operations of a packet, by its type."""

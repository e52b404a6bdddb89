"""Draws and dispatches whose numbers are in memory."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from dp2emu.errors import Unsupported
from dp2emu.gpu.command.packets import Dispatch, Draw, IndirectDraw
from dp2emu.gpu.command.topology import primitive_count
from dp2emu.gpu.resource.heap import Surface

MOST_PRIMITIVES = 1 << 22
"""Primitives of all instances of a draw together."""
MOST_INSTANCES = 1 << 16

ARGUMENTS, INDEXED_ARGUMENTS = 4, 5
"""DWORDs of a draw, without and with indices."""


def arguments_of(buffer: Surface, offset: int, count: int) -> list[int]:
    """DWORDs of a buffer; what is behind its end reads 0."""
    found = np.zeros(4 * count, np.uint8)
    data = buffer.data[offset : offset + 4 * count]
    found[: len(data)] = data
    return found.view("<u4").tolist()


def check_size(primitives: int, instances: int) -> None:
    """Raises Unsupported for more than a draw can have."""
    if primitives * instances > MOST_PRIMITIVES or instances > MOST_INSTANCES:
        raise Unsupported(f"draws of more than {MOST_PRIMITIVES:,} primitives")


def direct_draw(packet: IndirectDraw) -> Draw | None:
    """The draw with its numbers, None if it draws nothing.  Raises Unsupported for too many."""
    draw = packet.draw
    indexed = draw.input.indices is not None
    numbers = arguments_of(
        packet.arguments, packet.offset, INDEXED_ARGUMENTS if indexed else ARGUMENTS
    )
    vertices, instances, first, *rest = numbers
    count = primitive_count(draw.input.topology, vertices)
    check_size(count, instances)
    if not (count and instances) or draw.input.instances is None:
        return None
    indices = draw.input.indices
    if indices is not None:
        base = rest[0] - (1 << 32 if rest[0] >> 31 else 0)
        indices = replace(indices, base=base)
    read = replace(
        draw.input,
        first=first,
        count=count,
        indices=indices,
        instances=replace(draw.input.instances, count=instances, first=rest[-1]),
        vertices=vertices if draw.input.cuts else None,
    )
    return replace(draw, input=read)


def direct_dispatch(packet: Dispatch) -> Dispatch:
    """The dispatch with its numbers of groups."""
    if packet.arguments is None:
        return packet
    buffer, offset = packet.arguments
    x, y, z = arguments_of(buffer, offset, 3)
    return replace(packet, groups=(x, y, z), arguments=None)

"""Indirect draws and dispatches: their arguments are read from buffers."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from dp2emu.errors import Unsupported
from dp2emu.gpu.command.packets import Dispatch, Draw, IndirectDraw
from dp2emu.gpu.command.topology import primitive_count
from dp2emu.gpu.resource.heap import Surface

MOST_PRIMITIVES = 1 << 22
"""Most primitives of a draw, those of all its instances together."""
MOST_INSTANCES = 1 << 16
ARGUMENTS, INDEXED_ARGUMENTS = 4, 5
"""Number of DWORDs of an indirect draw's arguments, without and with indices."""


def arguments_of(buffer: Surface, offset: int, count: int) -> list[int]:
    """``count`` DWORDs of a buffer from byte ``offset`` on; those beyond its end read 0."""
    found = np.zeros(4 * count, np.uint8)
    data = buffer.data[offset : offset + 4 * count]
    found[: len(data)] = data
    return found.view("<u4").tolist()


def check_size(primitives: int, instances: int) -> None:
    """Raise Unsupported if a draw has too many instances, or primitives over all of them."""
    if primitives * instances > MOST_PRIMITIVES or instances > MOST_INSTANCES:
        raise Unsupported(f"draws of more than {MOST_PRIMITIVES:,} primitives")


def direct_draw(packet: IndirectDraw) -> Draw | None:
    """The draw with the arguments that its buffer has, None if these make it empty.

    Raises Unsupported if it is too large.
    """
    draw, indices = packet.draw, packet.draw.input.indices
    size = ARGUMENTS if indices is None else INDEXED_ARGUMENTS
    vertices, instances, first, *rest = arguments_of(packet.arguments, packet.offset, size)
    count = primitive_count(draw.input.topology, vertices)
    check_size(count, instances)
    if not (count and instances) or draw.input.instances is None:
        return None
    if indices is not None:
        # The base vertex is signed.
        indices = replace(indices, base=rest[0] - (1 << 32 if rest[0] >> 31 else 0))
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
    """The dispatch with its group counts read from its argument buffer, if any."""
    if packet.arguments is None:
        return packet
    buffer, offset = packet.arguments
    x, y, z = arguments_of(buffer, offset, 3)
    return replace(packet, groups=(x, y, z), arguments=None)

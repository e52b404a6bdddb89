"""Amounts of work of copies and clears, in units of four bytes written or read plainly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dp2emu.d3d.dxgi import ROWS
from dp2emu.gpu.command import packets
from dp2emu.gpu.transfer.copy_resolve import composed_pixels

CONVERTED, COMPRESSED = 32, 256
"""Units of a pixel that is filtered or converted to another format, and of one that is
compressed."""
COMBINED = 4
"""Units of a pixel that is compared with a colour key or combined by a raster operation."""
SWAPPED = 16
"""Bytes of two exchanged surfaces that are a unit."""


def _of_part(part: packets.Part) -> int:
    """Units of a part that is copied as it is stored, read and written."""
    width, height, depth = part.box.sides
    row = ROWS[part.surface.format]
    blocks = -(-width // row.block[0]) * -(-height // row.block[1]) * depth
    return max(width * height * depth, 2 * blocks * row.size * part.surface.samples // 4)


def _texels(part: packets.Part) -> int:
    width, height, depth = part.box.sides
    return width * height * depth * part.surface.samples


def _blit(blit: packets.Blit) -> int:
    plain, source = _of_part(blit.target), blit.source
    row = ROWS[blit.target.surface.format]
    if blit.source_key or blit.target_key or blit.rop != packets.SOURCE_COPY:
        plain = max(plain, COMBINED * _texels(blit.target))
    if source is None:
        return plain
    same = ROWS[source.surface.format].format == row.format
    turned = blit.turns or blit.mirror_x or blit.mirror_y
    if same and (not row.blocked or (source.box.sides == blit.target.box.sides and not turned)):
        return plain
    return max(plain, (COMPRESSED if row.blocked else CONVERTED) * _texels(blit.target))


def _copy(copy: packets.Copy) -> int:
    one, other = copy.source, copy.target
    same = ROWS[one.surface.format].format == ROWS[other.surface.format].format
    resolved = one.surface.samples > other.surface.samples
    if same and one.box.sides == other.box.sides and not resolved:
        return _of_part(other)
    return max(_of_part(one), CONVERTED * max(_texels(other), _texels(one) if resolved else 0))


def _levels(packet: packets.GenerateLevels) -> int:
    surface = packet.surface
    lower = (n for n in range(len(surface.subresources)) if n % surface.desc.levels)
    return sum(CONVERTED * _texels(packets.whole_part(surface, n)) for n in lower)


UNITS: dict[type[packets.Packet], Callable[[Any], int]] = {
    packets.Blit: _blit,
    packets.Copy: _copy,
    packets.GenerateLevels: _levels,
    packets.CopyBytes: lambda copy: copy.size // 2,
    packets.Swap: lambda swap: swap.one.data.nbytes // SWAPPED,
    packets.Compose: composed_pixels,
    packets.ClearUnordered: lambda clear: clear.view.surface.data.nbytes // 4,
}
"""Functions that return the units of a packet, by its type."""

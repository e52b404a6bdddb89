"""Palettes, managed textures and moves between surfaces (wire format, "Palettes" and "Copies")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dp2emu.d3d import dp2structs as structs
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import ComposeRectsOp, TextureFilter
from dp2emu.d3d.words import DWORD, FLOAT
from dp2emu.dp2.resolve.convolution import Convolution
from dp2emu.dp2.states.setting_kinds import ONLY, Kind
from dp2emu.dp2.table import Body, Tail, token

if TYPE_CHECKING:
    from dp2emu.dp2.context import Context

D3DHAL_ROW_WEIGHTS = 1
D3DHAL_COL_WEIGHTS = 2


@token(
    Op.SETPALETTE,
    "1E 00 01 00 01 00 00 00 00 00 00 00 07 00 00 00",
    items=structs.D3DHAL_DP2SETPALETTE,
)
def set_palette(context: Context, body: Body) -> None:
    """Attach palettes to palettised surfaces; palette 0 detaches."""
    for palette, flags, surface in body.items.tolist():
        context.set_palette(palette, flags, surface)


@token(
    Op.UPDATEPALETTE,
    "1F 00 01 00 01 00 00 00 10 00 02 00 FF 00 00 00 00 FF 00 00",
    items=structs.D3DHAL_DP2UPDATEPALETTE,
    count=lambda n: 1,
    tail=Tail((("entries", DWORD, lambda item: int(item["wNumEntries"])),)),
)
def update_palette(context: Context, body: Body) -> None:
    """Replace palette entries from wStartIndex on; n is ignored."""
    palette, first, _ = body.items[0].tolist()
    context.update_palette(palette, first, np.frombuffer(bytes(body.tails[0]), "<u4"))


@token(
    Op.TEXBLT,
    "26 00 01 00 08 00 00 00 07 00 00 00 00 00 00 00 00 00 00 00"
    " 00 00 00 00 00 00 00 00 10 00 00 00 10 00 00 00 00 00 00 00",
    items=structs.D3DHAL_DP2TEXBLT,
)
def tex_blt(context: Context, body: Body) -> None:
    """Copy a rectangle of a texture with its mip chain."""
    for target, source, point, source_rect, _ in body.items.tolist():
        context.moves.texture_blit(target, source, (*point, 0), source_rect)


@token(Op.SETPRIORITY, "28 00 01 00 07 00 00 00 01 00 00 00", items=structs.D3DHAL_DP2SETPRIORITY)
def set_priority(context: Context, body: Body) -> None:
    """Set the eviction priority of driver-managed textures."""
    for surface, priority in body.items.tolist():
        context.set_texture_priority(surface, priority)


@token(Op.SETTEXLOD, "2B 00 01 00 07 00 00 00 01 00 00 00", items=structs.D3DHAL_DP2SETTEXLOD)
def set_tex_lod(context: Context, body: Body) -> None:
    """Set the most detailed mip level of driver-managed textures."""
    for surface, level in body.items.tolist():
        context.set_texture_lod(surface, level)


@token(
    Op.VOLUMEBLT,
    "3F 00 01 00 08 00 00 00 07 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00"
    " 00 00 00 00 00 00 00 00 04 00 00 00 04 00 00 00 00 00 00 00 04 00 00 00 00 00 00 00",
    items=structs.D3DHAL_DP2VOLUMEBLT,
)
def volume_blt(context: Context, body: Body) -> None:
    """Copy a box of a volume texture."""
    for target, source, x, y, z, source_box, _ in body.items.tolist():
        context.moves.texture_blit(target, source, (x, y, z), source_box)


@token(
    Op.BUFFERBLT,
    "40 00 01 00 06 00 00 00 05 00 00 00 00 00 00 00 00 00 00 00 40 00 00 00 00 00 00 00",
    items=structs.D3DHAL_DP2BUFFERBLT,
)
def buffer_blt(context: Context, body: Body) -> None:
    """Copy a byte range of a vertex or index buffer."""
    for target, source, offset, (start, size), _ in body.items.tolist():
        context.moves.buffer_blit(target, source, offset, start, size)


@token(
    Op.ADDDIRTYRECT,
    "42 00 01 00 07 00 00 00 00 00 00 00 00 00 00 00 10 00 00 00 10 00 00 00",
    items=structs.D3DHAL_DP2ADDDIRTYRECT,
)
def add_dirty_rect(context: Context, body: Body) -> None:
    """Mark a rectangle of a managed texture's system copy dirty."""
    for surface, texels in body.items.tolist():
        context.mark_dirty(surface, texels)


@token(
    Op.ADDDIRTYBOX,
    "43 00 01 00 07 00 00 00 00 00 00 00 00 00 00 00 04 00 00 00 04 00 00 00"
    " 00 00 00 00 04 00 00 00",
    items=structs.D3DHAL_DP2ADDDIRTYBOX,
)
def add_dirty_box(context: Context, body: Body) -> None:
    """Mark a box of a managed volume's system copy dirty."""
    for surface, texels in body.items.tolist():
        context.mark_dirty(surface, texels)


@token(
    Op.BLT,
    "51 00 01 00 07 00 00 00 00 00 00 00 00 00 00 00 10 00 00 00 10 00 00 00 00 00 00 00"
    " 08 00 00 00 00 00 00 00 00 00 00 00 10 00 00 00 10 00 00 00 00 00 00 00 00 00 00 00",
    items=structs.D3DHAL_DP2BLT,
)
def blt(context: Context, body: Body) -> None:
    """Copy or stretch a rectangle; Flags: 0 none, 1 point, 2 linear."""
    for fields in body.items.tolist():
        context.moves.blit(fields[:3], fields[3:6], fields[6])


@token(
    Op.COLORFILL,
    "52 00 01 00 07 00 00 00 00 00 00 00 00 00 00 00 10 00 00 00 10 00 00 00 FF 00 00 FF",
    items=structs.D3DHAL_DP2COLORFILL,
)
def color_fill(context: Context, body: Body) -> None:
    """Fill a rectangle with an A8R8G8B8 colour, converted to the format."""
    for surface, rect, color in body.items.tolist():
        context.moves.fill(surface, rect, color)


@token(
    Op.GENERATEMIPSUBLEVELS,
    "59 00 01 00 07 00 00 00 02 00 00 00",
    items=structs.D3DHAL_DP2GENERATEMIPSUBLEVELS,
    enums={"Filter": TextureFilter},
)
def generate_mip_sub_levels(context: Context, body: Body) -> None:
    """Make the lower mip levels of a texture from its top level."""
    for surface, filter in body.items.tolist():
        context.moves.generate_levels(surface, filter)


@token(
    Op.SURFACEBLT,
    "60 00 01 00 07 00 00 00 00 00 00 00 00 00 00 00 10 00 00 00 10 00 00 00 00 00 00 00"
    " 08 00 00 00 00 00 00 00 00 00 00 00 10 00 00 00 10 00 00 00 00 00 00 00 00 00 00 00",
    items=structs.D3DHAL_DP2SURFACEBLT,
)
def surface_blt(context: Context, body: Body) -> None:
    """Copy a rectangle from system to video memory, never stretched."""
    for fields in body.items.tolist():
        context.moves.surface_blit(fields[:3], fields[3:6])


def _weights(flag: int, size: str) -> Any:
    return lambda item: int(item[size]) if int(item["dwFlags"]) & flag else 0


@token(
    Op.SETCONVOLUTIONKERNELMONO,
    "61 00 01 00 02 00 00 00 01 00 00 00 03 00 00 00 00 00 00 3F 00 00 00 3F 00 00 80 3F",
    items=structs.D3DHAL_DP2SETCONVOLUTIONKERNELMONO,
    tail=Tail(
        (
            ("rows", FLOAT, _weights(D3DHAL_ROW_WEIGHTS, "dwWidth")),
            ("columns", FLOAT, _weights(D3DHAL_COL_WEIGHTS, "dwHeight")),
        )
    ),
)
def set_convolution_kernel_mono(context: Context, body: Body) -> None:
    """Set the kernel of D3DTEXF_CONVOLUTIONMONO; flag 1: weights of rows follow, 2: of columns."""
    for (width, height, flags), tail in zip(body.items.tolist(), body.tails, strict=True):
        weights = np.frombuffer(bytes(tail), "<f4").tolist()
        rows = width if flags & D3DHAL_ROW_WEIGHTS else 0
        kernel = Convolution.of(width, height, weights[:rows], weights[rows:])
        context.put(Kind.CONVOLUTION, ONLY, kernel)


@token(
    Op.COMPOSERECTS,
    "62 00 01 00 07 00 00 00 08 00 00 00 05 00 00 00 01 00 00 00 06 00 00 00 01 00 00 00"
    " 00 00 00 00 00 00 00 00",
    items=structs.D3DHAL_DP2COMPOSERECTS,
    enums={"Operation": ComposeRectsOp},
)
def compose_rects(context: Context, body: Body) -> None:
    """Combine rectangles of a monochrome surface with another; buffers describe them."""
    for fields in body.items.tolist():
        source, target, sources, count, places, operation, *offset = fields
        context.moves.compose(
            (source, target), (sources, places), count, operation, (offset[0], offset[1])
        )

"""Views: parts of a resource as surfaces of their own, with a format to read their bits in.

They share the memory of the resource, and its serial number.
"""

from __future__ import annotations

from msgspec.structs import replace

from dp2emu.d3d.dxgi import ROWS
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.gpu.resource.heap import Surface, SurfaceKind
from dp2emu.gpu.resource.subresources import CUBE_FACES, Subresource


def target_view(surface: Surface, format: DxgiFormat, index: int, slice: int = 0) -> Surface:
    """A subresource, or a slice of a volume's, to be drawn to, cleared, copied or resolved."""
    found = surface.subresources[index]
    start = found.offset + slice * found.slice_pitch
    return _view(surface, format, (replace(found, offset=start, depth=1),))


def texture_view(
    surface: Surface,
    format: DxgiFormat,
    kind: SurfaceKind,
    levels: tuple[int, int],
    layers: tuple[int, int] = (0, 1),
) -> Surface:
    """Levels of slices to be sampled: each from the first one to behind the last.

    The slices of a view of a cube, or of an array of cubes, are faces, six of them each.
    """
    whole = surface.desc.levels
    chosen = (layer * whole + level for layer in range(*layers) for level in range(*levels))
    cubes = CUBE_FACES if kind is SurfaceKind.CUBETEXTURE else 1
    view = _view(surface, format, tuple(surface.subresources[index] for index in chosen))
    view.desc = replace(
        view.desc, kind=kind, levels=levels[1] - levels[0], layers=(layers[1] - layers[0]) // cubes
    )
    return view


def level_view(
    surface: Surface, format: DxgiFormat, level: int, slices: tuple[int, int]
) -> Surface:
    """Some slices of a level, from the first to behind the last, each a part by itself; those of
    a volume are one, as deep as they are many.
    """
    first, last = slices
    levels = surface.desc.levels
    if surface.desc.kind is not SurfaceKind.VOLUMETEXTURE:
        chosen = (slice * levels + level for slice in range(first, last))
        return _view(surface, format, tuple(surface.subresources[index] for index in chosen))
    found = surface.subresources[level]
    start = found.offset + first * found.slice_pitch
    return _view(surface, format, (replace(found, offset=start, depth=last - first),))


def buffer_view(surface: Surface, format: DxgiFormat, first: int, count: int) -> Surface:
    """``count`` elements of a buffer as a texture of one row."""
    size = ROWS[format].size
    row = Subresource(first * size, count * size, 1, count, 1, 1)
    return _view(surface, format, (row,))


def bits_view(surface: Surface, index: int) -> Surface:
    """A subresource as whole numbers, one for each block or texel."""
    found, row = surface.subresources[index], ROWS[surface.format]
    columns = -(-found.width // row.block[0])
    part = replace(found, width=columns, height=found.rows)
    return _view(surface, _WHOLE[row.size], (part,))


_WHOLE = {
    1: DxgiFormat.R8_UINT,
    2: DxgiFormat.R16_UINT,
    4: DxgiFormat.R32_UINT,
    8: DxgiFormat.R32G32_UINT,
    12: DxgiFormat.R32G32B32_UINT,
    16: DxgiFormat.R32G32B32A32_UINT,
}
"""By bytes."""


def structured_view(surface: Surface, stride: int, first: int, count: int) -> Surface:
    """``count`` structures of a buffer, as words in a row."""
    words = stride * count // 4
    row = Subresource(first * stride, stride * count, 1, words, 1, 1)
    return _view(surface, DxgiFormat.R32_UINT, (row,))


def _view(surface: Surface, format: DxgiFormat, layout: tuple[Subresource, ...]) -> Surface:
    root, first = surface.parent or surface, layout[0]
    desc = replace(
        root.desc,
        kind=SurfaceKind.SURFACE,
        width=first.width,
        height=first.height,
        depth=first.depth,
        levels=1,
        layers=1,
        pitch=0,
        dxgi=format,
    )
    return Surface(desc, root.serial, layout, root)

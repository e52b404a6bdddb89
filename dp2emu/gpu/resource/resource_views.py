"""Views: parts of a resource as surfaces with a format that reinterprets their bits.

A view shares the memory and the serial number of its resource.
"""

from __future__ import annotations

from msgspec.structs import replace

from dp2emu.d3d.dxgi import ROWS
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.gpu.resource.heap import Surface, SurfaceKind
from dp2emu.gpu.resource.subresources import CUBE_FACES, Subresource


def target_view(surface: Surface, format: DxgiFormat, index: int, slice: int = 0) -> Surface:
    """Return a view of one subresource, or one slice of a volume's, to write or copy."""
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
    """Return a view, for sampling, of half-open ranges of mip levels and array slices.

    Cubes and cube arrays count their faces as slices, six a cube.
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
    """Return a view of a half-open range of slices of one mip level.

    It has a subresource for each array slice, but a single one for all slices of a volume.
    """
    first, last = slices
    if surface.desc.kind is not SurfaceKind.VOLUMETEXTURE:
        chosen = (slice * surface.desc.levels + level for slice in range(first, last))
        return _view(surface, format, tuple(surface.subresources[index] for index in chosen))
    found = surface.subresources[level]
    start = found.offset + first * found.slice_pitch
    return _view(surface, format, (replace(found, offset=start, depth=last - first),))


def buffer_view(surface: Surface, format: DxgiFormat, first: int, count: int) -> Surface:
    """Return a view of ``count`` elements of a buffer as a texture of one row."""
    return _row_view(surface, format, ROWS[format].size, first, count)


def structured_view(surface: Surface, stride: int, first: int, count: int) -> Surface:
    """Return a view of ``count`` structures of a buffer, ``stride`` bytes each, as a row of
    words.
    """
    return _row_view(surface, DxgiFormat.R32_UINT, stride, first, count)


def _row_view(surface: Surface, format: DxgiFormat, size: int, first: int, count: int) -> Surface:
    columns = size * count // ROWS[format].size
    return _view(surface, format, (Subresource(first * size, count * size, 1, columns, 1, 1),))


def bits_view(surface: Surface, index: int) -> Surface:
    """Return a view of a subresource as unsigned integers, one for each block or texel."""
    found, row = surface.subresources[index], ROWS[surface.format]
    part = replace(found, width=-(-found.width // row.block[0]), height=found.rows)
    return _view(surface, _UINT_OF_SIZE[row.size], (part,))


_UINT_OF_SIZE = {
    1: DxgiFormat.R8_UINT,
    2: DxgiFormat.R16_UINT,
    4: DxgiFormat.R32_UINT,
    8: DxgiFormat.R32G32_UINT,
    12: DxgiFormat.R32G32B32_UINT,
    16: DxgiFormat.R32G32B32A32_UINT,
}
"""Bytes of a texel -> DXGI format of unsigned integers of that size."""


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

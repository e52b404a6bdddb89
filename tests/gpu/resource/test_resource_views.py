"""Views: parts of resources as surfaces that share their memory."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from dp2emu.d3d.dxgi import ROWS
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.errors import Fault
from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.command.packets import Clear, Copy, GenerateLevels, whole_part
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.resource.heap import Heap, Surface, SurfaceDesc, SurfaceKind
from dp2emu.gpu.resource.resource_views import (
    buffer_view,
    structured_view,
    target_view,
    texture_view,
)
from dp2emu.gpu.resource.subresources import Subresource
from dp2emu.gpu.transfer.clear_blit import execute_clear
from dp2emu.gpu.transfer.copy_resolve import execute_copy, execute_generate_levels
from dp2emu.shader.texture.bindings import srgb_to_linear_table

F = DxgiFormat
CUBE, TEXTURE, VOLUME = (SurfaceKind.CUBETEXTURE, SurfaceKind.TEXTURE, SurfaceKind.VOLUMETEXTURE)


def made(
    kind: SurfaceKind = TEXTURE, format: DxgiFormat = F.R8_TYPELESS, **fields: int
) -> Surface:
    given = {"width": 8, "height": 4} | fields
    return Heap().make(SurfaceDesc(0, kind, dxgi=format, **given))


def fill(view: Surface, value: float) -> None:
    rect = Rect(0, 0, view.width, view.height)
    execute_clear(Clear((rect,), (view,), (value,) * 4, None, None, None), Counters())


def touched(surface: Surface) -> set[int]:
    """Numbers of the bytes that are not 0."""
    return set(np.flatnonzero(surface.data).tolist())


def bytes_of(part: Subresource, slice: int = 0) -> set[int]:
    start = part.offset + slice * part.slice_pitch
    return set(range(start, start + part.slice_pitch))


@pytest.mark.parametrize(("layer", "level"), [*itertools.product(range(3), range(3))])
def test_a_target_is_a_level_of_a_slice_and_nothing_else(layer: int, level: int) -> None:
    surface = made(levels=3, layers=3)
    view = target_view(surface, F.R8_UNORM, layer * 3 + level)
    fill(view, 1.0)
    assert touched(surface) == bytes_of(surface.subresources[layer * 3 + level])
    assert (view.width, view.height) == (max(8 >> level, 1), max(4 >> level, 1))
    assert (view.serial, view.own_bytes) == (surface.serial, 0)


@pytest.mark.parametrize("slice", range(2))
def test_a_slice_of_a_volume_is_a_target(slice: int) -> None:
    surface = made(VOLUME, depth=4, levels=2)
    fill(target_view(surface, F.R8_UNORM, 1, slice), 1.0)
    assert touched(surface) == bytes_of(surface.subresources[1], slice)


def test_faces_of_a_cube_are_slices() -> None:
    surface = made(CUBE, width=4, height=4, layers=2)
    assert len(surface.subresources) == 12
    fill(target_view(surface, F.R8_UNORM, 7), 1.0)
    assert touched(surface) == bytes_of(surface.subresources[7])


def test_a_texture_view_has_the_levels_and_slices_it_says() -> None:
    surface = made(levels=3, layers=4)
    view = texture_view(surface, F.R8_SNORM, TEXTURE, (1, 3), (2, 4))
    wanted = [surface.subresources[3 * layer + level] for layer in (2, 3) for level in (1, 2)]
    assert list(view.subresources) == wanted
    assert (view.desc.levels, view.desc.layers, view.width) == (2, 2, 4)
    assert view.words is surface.words


def test_a_view_of_cubes_counts_cubes() -> None:
    surface = made(CUBE, width=4, height=4, layers=3)
    assert texture_view(surface, F.R8_UINT, CUBE, (0, 1), (6, 18)).desc.layers == 2


def test_a_view_of_a_view_is_one_of_the_resource() -> None:
    surface = made(levels=3)
    view = texture_view(surface, F.R8_UINT, TEXTURE, (1, 3))
    again = texture_view(view, F.R8_UNORM, TEXTURE, (1, 2))
    assert again.subresources == (surface.subresources[2],)
    assert again.parent is surface


def test_buffers_are_rows_of_elements_or_structures() -> None:
    buffer = Heap().make(SurfaceDesc(0, SurfaceKind.MEMORY, 64))
    view = buffer_view(buffer, F.R16G16_UINT, 3, 5)
    assert view.subresources == (Subresource(12, 20, 1, 5, 1, 1),)
    assert structured_view(buffer, 12, 2, 3).subresources == (Subresource(24, 36, 1, 9, 1, 1),)


def test_arrays_and_samples_are_of_direct3d_10_alone() -> None:
    heap = Heap()
    with pytest.raises(Fault, match="an array of 2"):
        heap.make(SurfaceDesc(0, TEXTURE, 4, 4, 21, layers=2))
    with pytest.raises(Fault, match="an array of 342"):
        made(CUBE, width=1, height=1, layers=342)
    with pytest.raises(Fault, match="3 samples"):
        made(samples=3)


def test_levels_are_made_of_the_view_alone() -> None:
    surface = made(format=F.R8_UNORM, width=8, height=8, levels=4, layers=2)
    for index in range(8):
        fill(target_view(surface, F.R8_UNORM, index), (index + 1) / 255)
    view = texture_view(surface, F.R8_UNORM, TEXTURE, (1, 3), (1, 2))
    execute_generate_levels(GenerateLevels(view), Counters())
    found = [int(surface.data[part.offset]) for part in surface.subresources]
    assert found == [1, 2, 3, 4, 5, 6, 6, 8]


def test_levels_of_srgb_are_means_in_linear_light() -> None:
    surface = made(format=F.R8G8B8A8_UNORM_SRGB, width=2, height=1, levels=2)
    surface.data[:8] = [0, 100, 200, 0, 255, 100, 100, 255]
    execute_generate_levels(GenerateLevels(surface), Counters())
    light = srgb_to_linear_table().astype(float)
    means = [(light[a] + light[b]) / 2 for a, b in ((0, 255), (100, 100), (200, 100))]
    nearest = [int(np.abs(light - mean).argmin()) for mean in means]
    found = surface.data[8:12].tolist()
    assert all(abs(a - b) <= 1 for a, b in zip(found[:3], nearest, strict=True))
    assert found[1] == 100
    assert found[3] in (127, 128)


RESOLVED = [
    (F.R8_SNORM, [0x81, 0x7F, 0x00, 0x40], Fraction(-127 + 127 + 0 + 64, 4)),
    (F.R8_UNORM, [1, 2, 2, 2], Fraction(7, 4)),
    (F.R8_SNORM, [0x80, 0x81, 0x81, 0x81], Fraction(-127)),
]


@pytest.mark.parametrize(("format", "samples", "mean"), RESOLVED)
def test_samples_are_averaged_as_what_they_mean(
    format: DxgiFormat, samples: list[int], mean: Fraction
) -> None:
    source = made(format=format, width=1, height=1, samples=4)
    source.data[:4] = samples
    target = made(format=format, width=1, height=1)
    views = (target_view(each, format, 0) for each in (source, target))
    execute_copy(Copy(*(whole_part(view, 0) for view in views)), Counters())
    found = int(target.data[:1].view(np.int8 if "SNORM" in format.name else np.uint8)[0])
    assert abs(found - mean) <= Fraction(1, 2)


def test_samples_of_srgb_are_averaged_in_linear_light() -> None:
    source = made(format=F.R8G8B8A8_TYPELESS, width=1, height=1, samples=2)
    source.data[:8] = [0, 0, 0, 0, 255, 255, 255, 255]
    target = made(format=F.R8G8B8A8_TYPELESS, width=1, height=1)
    for format, wanted in ((F.R8G8B8A8_UNORM, 128), (F.R8G8B8A8_UNORM_SRGB, 188)):
        views = (target_view(each, format, 0) for each in (source, target))
        execute_copy(Copy(*(whole_part(view, 0) for view in views)), Counters())
        assert target.data.tolist() == [wanted, wanted, wanted, 128]


def test_bits_are_copied_between_formats_of_a_family() -> None:
    source, target = made(format=F.R8G8B8A8_SNORM), made(format=F.R8G8B8A8_UINT)
    source.data[:] = np.arange(len(source.data), dtype=np.uint8)
    view = target_view(source, F.R8G8B8A8_UINT, 0)
    execute_copy(Copy(whole_part(view, 0), whole_part(target, 0)), Counters())
    assert (target.data == source.data).all()


def test_every_format_has_a_size_that_memory_can_be_made_of() -> None:
    for format in (f for f in DxgiFormat if f in ROWS):
        surface = made(format=format, width=5, height=3)
        width, height = ROWS[format].block
        assert surface.data.nbytes == ROWS[format].size * -(-5 // width) * -(-3 // height)

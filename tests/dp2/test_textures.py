"""Palettes and what else tokens say of textures."""

from __future__ import annotations

import gc
import struct

import numpy as np
import pytest

from dp2emu.d3d.enums import Format
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.context import Context
from dp2emu.dp2.textures import Palette, Textures
from dp2emu.errors import Fault
from dp2emu.gpu.resource.heap import Heap, Surface, SurfaceDesc, SurfaceKind
from dp2emu.limits import Limits
from tests.refusals import refused

from .rigging import Bench, header, token

TEXTURE = 20
ALPHA = 0x2000
BLACK = 0xFF000000


def entries(*words: int) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    return np.array(words, np.uint32)


def palettised(heap: Heap, handle: int = TEXTURE, format: Format = Format.P8) -> Surface:
    return heap.create(SurfaceDesc(handle, SurfaceKind.TEXTURE, 4, 4, int(format)))


def bench() -> tuple[Bench, Context, Surface]:
    made = Bench()
    surface = palettised(made.driver.gpu.heap)
    context = made.driver.context(1)
    assert context is not None
    return made, context, surface


def attached(context: Context, surface: Surface) -> Palette:
    found = context.textures.palette(surface)
    assert found is not None
    return found


def update(palette: int, first: int, *words: int) -> bytes:
    return header(31) + struct.pack(f"<IHH{len(words)}I", palette, first, len(words), *words)


def test_entries_are_red_in_the_lowest_byte_and_alpha_in_the_highest() -> None:
    made, context, surface = bench()
    made.ok(token(30, 1, ALPHA, TEXTURE) + update(1, 2, 0x44332211, 0x01000000))
    palette = attached(context, surface)
    assert palette.words[1:5].tolist() == [BLACK, 0x44112233, 0x01000000, BLACK]
    assert palette.alpha


@pytest.mark.parametrize(("flags", "alpha"), [(0, False), (ALPHA, True), (0xFFFF & ~ALPHA, False)])
def test_only_one_flag_makes_alpha_count(flags: int, alpha: bool) -> None:
    made, context, surface = bench()
    made.ok(token(30, 1, flags, TEXTURE))
    assert attached(context, surface).alpha is alpha


def test_palette_zero_detaches() -> None:
    made, context, surface = bench()
    assert context.textures.palette(surface) is None
    made.ok(token(30, 1, 0, TEXTURE) + token(30, 0, 0, TEXTURE) + token(30, 0, 0, TEXTURE))
    assert context.textures.palette(surface) is None


@pytest.mark.parametrize(
    ("first", "count", "kept"),
    [(0, 256, 256), (255, 1, 1), (255, 3, 1), (256, 2, 0), (65535, 1, 0)],
)
def test_entries_beyond_the_last_are_dropped(first: int, count: int, kept: int) -> None:
    made, context, surface = bench()
    made.ok(token(30, 9, 0, TEXTURE) + update(9, first, *[0xFFFFFFFF] * count))
    words = attached(context, surface).words
    assert len(words) == 256
    assert np.count_nonzero(words == 0xFFFFFFFF) == kept


def test_an_update_leaves_the_words_that_were_given_out_alone() -> None:
    made, context, surface = bench()
    made.ok(token(30, 1, 0, TEXTURE) + update(1, 0, 0xFF0000FF))
    before = attached(context, surface)
    version = context.state.version
    made.ok(update(1, 0, 0xFF00FF00))
    assert before.words[0] == 0xFFFF0000
    assert attached(context, surface).words[0] == 0xFF00FF00
    assert context.state.version > version


def test_a_palette_serves_several_surfaces_and_changes_for_all() -> None:
    made, context, surface = bench()
    other = palettised(made.driver.gpu.heap, TEXTURE + 1, Format.A8P8)
    made.ok(header(30, 2) + struct.pack("<6I", 1, 0, TEXTURE, 1, ALPHA, TEXTURE + 1))
    made.ok(update(1, 7, 0x00FFFFFF))
    assert attached(context, surface).words[7] == attached(context, other).words[7] == 0xFFFFFF
    assert [attached(context, found).alpha for found in (surface, other)] == [False, True]


@pytest.mark.parametrize("handle", [1, 2, 99])
def test_only_palettised_surfaces_take_a_palette(handle: int) -> None:
    made, _, _ = bench()
    answer = made.call(token(30, 1, 0, handle))
    missing = handle == 99
    wanted = HResult.DDERR_INVALIDPARAMS if missing else HResult.DDERR_NOTPALETTIZED
    assert answer.ddrval == wanted


def test_palettes_are_bounded() -> None:
    textures = Textures(Limits(objects=2))
    for handle in (1, 2, 1):
        textures.update(handle, 0, entries(1))
    with pytest.raises(Fault, match=refused("objects", 2)) as caught:
        textures.update(3, 0, entries(1))
    assert caught.value.hr == HResult.DDERR_OUTOFMEMORY


def test_detail_and_priority_are_remembered_by_surface() -> None:
    made, context, surface = bench()
    textures = context.textures
    assert (textures.most_detailed(surface), textures.priority(surface)) == (0, 0)
    version = context.state.version
    made.ok(token(43, TEXTURE, 2) + token(40, TEXTURE, 5))
    assert (textures.most_detailed(surface), textures.priority(surface)) == (2, 5)
    assert context.state.version > version


def test_a_surface_made_anew_starts_without_any_of_it() -> None:
    made, context, surface = bench()
    made.ok(token(43, TEXTURE, 2) + token(30, 1, 0, TEXTURE))
    fresh = palettised(made.driver.gpu.heap)
    assert context.textures.most_detailed(fresh) == 0
    assert context.textures.palette(fresh) is None
    del surface
    gc.collect()
    assert len(context.textures._attached) == 0


@pytest.mark.parametrize(
    "data",
    [token(66, TEXTURE, 0, 0, 1, 1), token(67, TEXTURE, 0, 0, 1, 1, 0, 1)],
    ids=["ADDDIRTYRECT", "ADDDIRTYBOX"],
)
def test_dirty_parts_need_a_surface_and_nothing_else(data: bytes) -> None:
    made, _, _ = bench()
    made.ok(data)
    unknown = data[:4] + struct.pack("<I", 77) + data[8:]
    assert made.call(unknown).ddrval == HResult.DDERR_INVALIDPARAMS


@pytest.mark.parametrize("op", [40, 43])
def test_attributes_of_no_surface_are_refused(op: int) -> None:
    made, _, _ = bench()
    assert made.call(token(op, 77, 1)).ddrval == HResult.DDERR_INVALIDPARAMS

"""Surfaces of traced programs: made, written, copied, shown, released."""

from __future__ import annotations

import struct as packing

import pytest

from dp2emu.capture.records import FrameMarker, PictureKind
from dp2emu.d3d.ddraw import BltFlags, Caps, Described, KeyFlags, LockFlags
from dp2emu.retrace.program import METHODS
from tests.retrace.calls import Pointer, out, struct
from tests.retrace.ddraw.making import DDRAW, PRIMARY, RGB32, TARGET, Played, rect, surface_desc

OTHER, MEMORY = 0x50, 0x1000
RED, GREEN, BLACK = 0xFFFF0000, 0xFF00FF00, 0xFF000000
RANGE = KeyFlags.SRCBLT | KeyFlags.COLORSPACE
PLAIN = Caps.OFFSCREENPLAIN


def effects(fill: int = 0) -> tuple[object]:
    key = struct("DDCOLORKEY", dwColorSpaceLowValue=0, dwColorSpaceHighValue=0)
    return (struct("DDBLTFX", dwDDFX=0, dwROP=0, dwFillColor=fill, ddckSrcColorkey=key,
                   ddckDestColorkey=key),)  # fmt: skip


def fill(played: Played, address: int, color: int) -> None:
    played.on(address, "IDirectDrawSurface7::Blt", lpDestRect=None, lpDDSrcSurface=None,
              lpSrcRect=None, dwFlags=BltFlags.COLORFILL, lpDDBltFx=effects(color))  # fmt: skip


def copied(played: Played, target: int, source: int, there: object = None) -> int:
    return played.on(target, "IDirectDrawSurface7::Blt", lpDestRect=there,
                     lpDDSrcSurface=Pointer(source), lpSrcRect=None, dwFlags=0,
                     lpDDBltFx=None)  # fmt: skip


@pytest.mark.parametrize("version", ["", "2", "4", "7"])
def test_every_version_makes_surfaces(version: str) -> None:
    played = Played(version)
    assert played.create(TARGET, surface_desc(PLAIN, format=RGB32)).bounds.right == 8
    assert not played.losses()


def test_descriptions_of_old_versions_have_one_word_of_capabilities() -> None:
    played = Played("")
    desc = surface_desc(PLAIN, format=RGB32, ddsCaps=struct("DDSCAPS", dwCaps=int(PLAIN)))
    assert played.create(TARGET, desc).caps2 == 0


def test_what_was_stored_is_written_where_it_was_locked() -> None:
    played = Played()
    played.create(TARGET, surface_desc(PLAIN, format=RGB32))
    played.lock(TARGET, MEMORY, rect(1, 1, 3, 3))
    rows = [packing.pack("<8I", n, n + 1, 9, 9, 9, 9, 9, 9) for n in (1, 3)]
    played.stored(TARGET, MEMORY, b"".join(rows)[:40])
    assert [row[:4] for row in played.got()[:4]] == [
        [0, 0, 0, 0], [0, 1, 2, 0], [0, 3, 4, 0], [0, 0, 0, 0],
    ]  # fmt: skip


def test_what_the_gpu_wrote_is_pictured_when_it_is_locked() -> None:
    played = Played()
    played.create(TARGET, surface_desc(PLAIN, format=RGB32))
    played.lock(TARGET, MEMORY)
    fill(played, TARGET, RED)
    number = played.lock(TARGET, MEMORY)
    assert [(each.call, each.how) for each in played.pictures()] == [(number, PictureKind.LOCK)]


def test_what_is_only_read_is_pictured() -> None:
    played = Played()
    played.create(TARGET, surface_desc(PLAIN, format=RGB32))
    played.lock(TARGET, MEMORY, flags=LockFlags.READONLY)
    assert len(played.pictures()) == 1


def test_blits_copy_and_fill() -> None:
    played = Played()
    for address in (TARGET, OTHER):
        played.create(address, surface_desc(PLAIN, format=RGB32))
    fill(played, OTHER, RED)
    copied(played, TARGET, OTHER, rect(1, 0, 2, 1))
    played.on(TARGET, "IDirectDrawSurface7::BltFast", dwX=0, dwY=5,
              lpDDSrcSurface=Pointer(OTHER), lpSrcRect=rect(0, 0, 1, 1), dwTrans=0)  # fmt: skip
    got = played.got()
    assert (got[0][:3], got[5][:2]) == ([0, RED, 0], [RED, 0])


def test_a_copy_to_the_screen_ends_a_frame() -> None:
    played = Played()
    played.on(DDRAW, "IDirectDraw7::SetDisplayMode", dwWidth=8, dwHeight=6, dwBPP=32)
    played.create(PRIMARY, surface_desc(Caps.PRIMARYSURFACE, width=0))
    played.create(OTHER, surface_desc(PLAIN, format=RGB32))
    fill(played, OTHER, GREEN)
    number = copied(played, PRIMARY, OTHER, rect(4, 2, 12, 8))
    (picture,) = played.pictures()
    assert (picture.call, picture.how) == (number, PictureKind.PRESENT)
    assert sum(isinstance(record, FrameMarker) for record in played.records) == 1
    assert played.got(PRIMARY)[2][3:6] == [BLACK, GREEN, GREEN]


def test_a_flip_shows_the_back_buffer() -> None:
    played = Played()
    caps = Caps.PRIMARYSURFACE | Caps.FLIP | Caps.COMPLEX
    desc = surface_desc(caps, width=0, flags=Described.BACKBUFFERCOUNT, dwBackBufferCount=1)
    front = played.create(PRIMARY, desc)
    played.on(PRIMARY, "IDirectDrawSurface7::GetAttachedSurface",
              lpDDSCaps=(struct("DDSCAPS2", dwCaps=int(Caps.BACKBUFFER), dwCaps2=0),),
              lplpDDAttachedSurface=out(OTHER))  # fmt: skip
    fill(played, OTHER, RED)
    played.on(PRIMARY, "IDirectDrawSurface7::Flip", lpDDSurfaceTargetOverride=None, dwFlags=0)
    (picture,) = played.pictures()
    assert picture.handle == front.flipped()[0].handle
    assert played.got(PRIMARY)[0][0] == RED


def test_a_primary_surface_has_the_size_the_program_was_told() -> None:
    played = Played()
    played.create(PRIMARY, surface_desc(Caps.PRIMARYSURFACE, width=0))
    played.on(PRIMARY, "IDirectDrawSurface7::GetSurfaceDesc",
              lpDDSurfaceDesc=(surface_desc(0, 20, 10),))  # fmt: skip
    assert played.program.objects.get(PRIMARY).bounds.right == 20


def test_keys_are_set_and_taken_away() -> None:
    played = Played()
    surface = played.create(TARGET, surface_desc(PLAIN, format=RGB32))
    key = struct("DDCOLORKEY", dwColorSpaceLowValue=5, dwColorSpaceHighValue=6)
    for given, wanted in (((key,), (5, 6)), (None, None)):
        played.on(TARGET, "IDirectDrawSurface7::SetColorKey", dwFlags=RANGE,
                  lpDDColorKey=given)  # fmt: skip
        assert surface.source_key == wanted
        assert played.driver.gpu.heap.get(surface.handle).color_key == wanted  # type: ignore[union-attr]


def test_the_last_release_destroys_and_the_address_may_come_again() -> None:
    played = Played()
    first = played.create(TARGET, surface_desc(PLAIN, format=RGB32))
    played.on(TARGET, "IDirectDrawSurface7::Release", 1)
    assert not first.destroyed
    played.on(TARGET, "IDirectDrawSurface7::Release", 0)
    assert first.destroyed
    second = played.create(TARGET, surface_desc(PLAIN, format=RGB32))
    third = played.create(TARGET, surface_desc(PLAIN, format=RGB32))
    assert (second.destroyed, third.destroyed) == (True, False)


def test_an_object_lives_as_long_as_one_of_its_addresses() -> None:
    played = Played()
    surface = played.create(TARGET, surface_desc(PLAIN, format=RGB32))
    played.on(TARGET, "IDirectDrawSurface7::QueryInterface", ppvObj=out(OTHER))
    played.on(TARGET, "IDirectDrawSurface7::Release", 0)
    assert not surface.destroyed
    played.on(OTHER, "IDirect3DTexture2::Release", 0)
    assert surface.destroyed


def test_attached_surfaces_are_taken_off() -> None:
    played = Played()
    surface = played.create(TARGET, surface_desc(PLAIN, format=RGB32))
    played.create(OTHER, surface_desc(Caps.ZBUFFER, format=RGB32))
    played.on(TARGET, "IDirectDrawSurface7::AddAttachedSurface",
              lpDDSAttachedSurface=Pointer(OTHER))  # fmt: skip
    assert surface.depth is not None
    played.on(TARGET, "IDirectDrawSurface7::DeleteAttachedSurface", dwFlags=0,
              lpDDSurface=Pointer(OTHER))  # fmt: skip
    assert surface.depth is None


def test_palettes_that_were_not_recorded_whole_are_losses() -> None:
    played = Played()
    entry = struct("PALETTEENTRY", peRed=1, peGreen=2, peBlue=3, peFlags=0)
    played.on(DDRAW, "IDirectDraw7::CreatePalette", dwFlags=4, lpDDColorArray=(entry,),
              lplpDDPalette=out(OTHER))  # fmt: skip
    assert played.losses() == ["1 of 256 entries were recorded"]
    played.on(OTHER, "IDirectDrawPalette::SetEntries", dwFlags=0, dwStartingEntry=7, dwCount=1,
              lpEntries=(entry,))  # fmt: skip
    assert played.program.objects.get(OTHER).entries[7] == (1, 2, 3, 0)


@pytest.mark.parametrize("name", ["GetDC", "SetSurfaceDesc", "UpdateOverlay", "BltBatch"])
def test_what_cannot_be_expressed_is_a_loss(name: str) -> None:
    played = Played()
    played.on(TARGET, f"IDirectDrawSurface7::{name}")
    assert len(played.losses()) == 1


def test_every_method_of_a_surface_has_a_row() -> None:
    version7 = {name.split("::")[1] for name in METHODS if name.startswith("IDirectDrawSurface7:")}
    assert {
        "AddAttachedSurface", "Blt", "BltFast", "Flip", "GetAttachedSurface", "GetSurfaceDesc",
        "Lock", "Unlock", "SetClipper", "SetColorKey", "SetPalette", "SetLOD", "IsLost",
        "QueryInterface", "Release", "AddRef",
    } <= version7  # fmt: skip


@pytest.mark.parametrize(("caps", "unused"), [(0, 0xFF000000), (Caps.SYSTEMMEMORY, 0)])
def test_fills_store_ones_or_zeros_in_bits_of_no_channel(caps: int, unused: int) -> None:
    played = Played()
    played.create(TARGET, surface_desc(PLAIN | caps, format=RGB32))
    fill(played, TARGET, 0x12345678)
    assert played.got()[0][0] == unused | 0x345678


def clip_list(*rects: tuple[int, ...], recorded: bool = True) -> tuple[object]:
    sides = "left", "top", "right", "bottom"
    made = tuple(struct("RECT", **dict(zip(sides, each, strict=True))) for each in rects)
    header = struct("RGNDATAHEADER", nCount=len(rects), rcBound=made[0])
    return (struct("RGNDATA", rdh=header, **({"Buffer": made} if recorded else {})),)


@pytest.mark.parametrize(
    ("rects", "recorded", "row"),
    [
        (((1, 0, 2, 6),), False, [0, RED, 0, 0]),
        (((0, 0, 1, 6), (2, 0, 3, 6)), True, [RED, 0, RED, 0]),
        (((0, 0, 1, 6), (2, 0, 3, 6)), False, [RED] * 4),
    ],
)
def test_clip_lists_cut_blits(
    rects: tuple[tuple[int, ...], ...], recorded: bool, row: list[int]
) -> None:
    played = Played()
    clipper = OTHER + 8
    for address in (TARGET, OTHER):
        played.create(address, surface_desc(PLAIN, format=RGB32))
    fill(played, OTHER, RED)
    played.on(DDRAW, "IDirectDraw7::CreateClipper", lplpDDClipper=out(clipper))
    played.on(TARGET, "IDirectDrawSurface7::SetClipper", lpDDClipper=Pointer(clipper))
    given = clip_list(*rects, recorded=recorded)
    played.on(clipper, "IDirectDrawClipper::SetClipList", lpClipList=given, dwFlags=0)
    copied(played, TARGET, OTHER)
    assert played.got()[0][:4] == row
    lost = len(rects) > 1 and not recorded
    assert played.losses() == (
        ["0 of 2 rectangles of the clip list were recorded"] if lost else []
    )

"""Locks with the stores the tracer found, moves between surfaces, and what lives how long."""

from __future__ import annotations

from typing import Any

import pytest

from dp2emu.capture.records import Called, Pictured, SurfaceDestroyed
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import Format
from dp2emu.d3d.formats import FORMATS
from tests.retrace.calls import Pointer, struct
from tests.retrace.d3d9.bench import DEVICE, Bench, rect

TEXTURE, SURFACE = "IDirect3DTexture9", "IDirect3DSurface9"
ALL: dict[str, Any] = {"pSourceRect": None, "pDestRect": None}


def texture(bench: Bench, *, size: int = 4, levels: int = 1, pool: int = 1, usage: int = 0) -> int:
    return bench.make(
        "CreateTexture", "ppTexture", Width=size, Height=size, Levels=levels, Usage=usage,
        Format=int(Format.A8R8G8B8), Pool=pool,
    )  # fmt: skip


def store(
    bench: Bench, address: int, data: bytes, *, pitch: int, bounds: Any = None, level: int = 0,
    flags: int = 0,
) -> None:  # fmt: skip
    bits = Pointer(0x9000)
    locked = (struct("D3DLOCKED_RECT", Pitch=pitch, pBits=bits),)
    bench.of(
        address, TEXTURE, "LockRect", Level=level, pLockedRect=locked, pRect=bounds, Flags=flags
    )
    bench.play("memcpy", dest=bits, src=data, n=len(data))
    bench.of(address, TEXTURE, "UnlockRect", Level=level)


def words(*numbers: int) -> bytes:
    return b"".join(number.to_bytes(4, "little") for number in numbers)


@pytest.mark.parametrize("pool", [0, 1, 2])
def test_rows_come_from_the_program_s_pitch(pool: int) -> None:
    bench = Bench()
    address = texture(bench, size=2, pool=pool)
    store(bench, address, words(1, 2, 0xAA, 3, 4), pitch=12)
    assert bench.words(bench.resource(address)) == [[1, 2], [3, 4]]
    assert bench.losses() == []


def test_a_rectangle_is_stored_at_its_place() -> None:
    bench = Bench()
    address = texture(bench)
    store(bench, address, words(5, 6, 0, 0, 7, 8), pitch=16, bounds=rect(1, 2, 3, 4))
    assert bench.words(bench.resource(address)) == [
        [0, 0, 0, 0], [0, 0, 0, 0], [0, 5, 6, 0], [0, 7, 8, 0],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("sides", "stored"),
    [
        ((2, 3, 9, 9), {(2, 3): 0, (3, 3): 1}),
        ((-1, -2, 2, 1), {(0, 0): 2 * 4 + 1, (1, 0): 2 * 4 + 2}),
        ((3, 2, 4, 1 << 40), {(3, 2): 0, (3, 3): 4}),
        ((2, 2, 2, 4), {}),
        ((3, 1, 1, 2), {}),
        ((4, 0, 9, 9), {}),
        ((-5, 0, 0, 4), {}),
    ],
)
def test_of_a_rectangle_that_leaves_the_level_what_is_inside_is_stored(
    sides: tuple[int, int, int, int], stored: dict[tuple[int, int], int]
) -> None:
    bench = Bench()
    address = texture(bench)
    store(bench, address, words(*range(100, 116)), pitch=16, bounds=rect(*sides))
    wanted = [[100 + stored[x, y] if (x, y) in stored else 0 for x in range(4)] for y in range(4)]
    assert bench.words(bench.resource(address)) == wanted
    assert bench.losses() == []


def test_nothing_of_the_scratch_pool_reaches_the_driver() -> None:
    bench = Bench()
    made = len(bench.records)
    store(bench, texture(bench, pool=3), words(1), pitch=16)
    assert len(bench.records) == made
    assert bench.losses() == []


def test_update_texture_copies_what_is_dirty() -> None:
    bench = Bench()
    source, target = texture(bench, pool=2), texture(bench, pool=0)
    both = {"pSourceTexture": Pointer(source), "pDestinationTexture": Pointer(target)}
    store(bench, source, words(*range(16)), pitch=16)
    bench.device("UpdateTexture", **both)
    assert bench.words(bench.resource(target))[1] == [4, 5, 6, 7]
    store(bench, source, words(*[9] * 16), pitch=16, flags=0x8000)
    bench.device("UpdateTexture", **both)
    assert bench.words(bench.resource(target))[1] == [4, 5, 6, 7]
    bench.of(source, TEXTURE, "AddDirtyRect", pDirtyRect=rect(1, 1, 3, 2))
    bench.device("UpdateTexture", **both)
    assert bench.words(bench.resource(target)) == [
        [0, 1, 2, 3], [4, 9, 9, 7], [8, 9, 10, 11], [12, 13, 14, 15],
    ]  # fmt: skip


def test_update_surface_and_stretch_rect_move_rectangles() -> None:
    bench = Bench()
    source, target = texture(bench, pool=2), texture(bench, pool=0, usage=1)
    store(bench, source, words(*range(16)), pitch=16)
    one, other = (
        bench.get(each, TEXTURE, "GetSurfaceLevel", "ppSurfaceLevel", Level=0)
        for each in (source, target)
    )
    bench.device(
        "UpdateSurface", pSourceSurface=Pointer(one), pSourceRect=rect(0, 0, 2, 1),
        pDestinationSurface=Pointer(other), pDestPoint=(struct("POINT", x=2, y=3),),
    )  # fmt: skip
    assert bench.words(bench.resource(other))[3] == [0, 0, 0, 1]
    back = bench.make("GetBackBuffer", "ppBackBuffer", iSwapChain=0, iBackBuffer=0, Type=0)
    bench.device(
        "StretchRect", pSourceSurface=Pointer(other), pSourceRect=rect(3, 3, 4, 4),
        pDestSurface=Pointer(back), pDestRect=rect(0, 0, 4, 4), Filter=1,
    )  # fmt: skip
    assert bench.words(bench.resource(back))[2] == [1, 1, 1, 1, 0, 0, 0, 0]


def test_a_lock_of_what_was_drawn_is_pictured() -> None:
    bench = Bench()
    back = bench.make("GetBackBuffer", "ppBackBuffer", iSwapChain=0, iBackBuffer=0, Type=0)
    locked = (struct("D3DLOCKED_RECT", Pitch=32, pBits=Pointer(0x9000)),)
    number = bench.of(back, SURFACE, "LockRect", pLockedRect=locked, pRect=None, Flags=0x10)
    found = [record.call for record in bench.records if isinstance(record, Pictured)]
    assert found == [number]
    plain = texture(bench)
    bench.of(plain, TEXTURE, "LockRect", Level=0, pLockedRect=locked, pRect=None, Flags=0x10)
    assert [record.call for record in bench.records if isinstance(record, Pictured)] == found


def test_what_is_bound_lives_on_until_a_present_finds_it_unbound() -> None:
    bench = Bench()
    address = texture(bench)
    handle = bench.resource(address).desc
    assert handle is not None
    bench.device("SetTexture", Stage=0, pTexture=Pointer(address))
    bench.of(address, TEXTURE, "Release", result=Pointer(0))
    bench.device("Present", **ALL)

    def gone() -> bool:
        return any(
            isinstance(record, SurfaceDestroyed) and record.handle == handle.handle
            for record in bench.records
        )

    assert not gone()
    again = bench.make("GetTexture", "ppTexture", Stage=0)
    bench.device("SetTexture", Stage=0, pTexture=None)
    bench.device("Present", **ALL)
    assert not gone()
    bench.of(again, TEXTURE, "Release", result=Pointer(0))
    bench.device("Present", **ALL)
    assert gone()


def test_shaders_are_deleted_once_nothing_uses_them() -> None:
    bench = Bench()
    code = b"".join(word.to_bytes(4, "little") for word in (0xFFFF0101, 0x0000FFFF))
    first, second = (bench.make("CreatePixelShader", "ppShader", pFunction=code) for _ in range(2))
    bench.device("SetPixelShader", pShader=Pointer(first))
    for shader in (first, second):
        bench.of(shader, "IDirect3DPixelShader9", "Release", result=Pointer(0))
    bench.device("Present", **ALL)
    assert deleted(bench) == [3]
    bench.device("SetPixelShader", pShader=None)
    bench.device("Present", **ALL)
    bench.app.session.flush()
    assert deleted(bench) == [3, 1]
    assert bench.losses() == []


def deleted(bench: Bench) -> list[int]:
    """Handles of DELETEPIXELSHADER tokens."""
    bench.app.session.flush()
    sent = b"".join(r.call.commands or b"" for r in bench.records if isinstance(r, Called))
    head = bytes([Op.DELETEPIXELSHADER, 0, 1, 0])
    return [int.from_bytes(piece[:4], "little") for piece in sent.split(head)[1:]]


def test_buffers_take_what_lies_in_them() -> None:
    bench = Bench()
    address = bench.make("CreateVertexBuffer", "ppVertexBuffer", Length=8, Usage=0, FVF=0, Pool=0)
    name = "IDirect3DVertexBuffer9"
    bench.of(
        address, name, "Lock", OffsetToLock=4, SizeToLock=0, ppbData=(Pointer(0x50),), Flags=0
    )
    bench.play("memcpy", dest=Pointer(0x50), src=b"abcdefgh", n=8)
    bench.of(address, name, "Unlock")
    desc = bench.resource(address).desc
    assert desc is not None
    assert bench.driver.read(desc.handle, 0, 8) == b"\0\0\0\0abcd"


def test_what_the_driver_cannot_fill_is_stored() -> None:
    bench = Bench()
    address = bench.make(
        "CreateOffscreenPlainSurface", "ppSurface", Width=8, Height=8, Format=int(Format.DXT1),
        Pool=0,
    )  # fmt: skip
    bench.device("ColorFill", pSurface=Pointer(address), pRect=None, color=0xFFFF0000)
    bench.device("ColorFill", pSurface=Pointer(address), pRect=rect(4, 0, 8, 4), color=0xFF0000FF)
    bench.device("ColorFill", pSurface=Pointer(address), pRect=rect(4, 0, 12, 4), color=0)
    red, blue = 0xF800F800, 0x001F001F
    desc = bench.resource(address).desc
    assert desc is not None
    held = bench.app.session.read(desc.handle, 0, 32)
    assert held == words(red, 0, blue, 0, red, 0, red, 0)
    assert len(bench.losses()) == 1


def test_update_texture_converts_between_formats() -> None:
    bench = Bench()
    source = texture(bench, size=2, levels=2, pool=2)
    target = bench.make(
        "CreateTexture", "ppTexture", Width=2, Height=2, Levels=2, Usage=0,
        Format=int(Format.R5G6B5), Pool=0,
    )  # fmt: skip
    store(bench, source, words(*[0xFFFF0000] * 4), pitch=8)
    store(bench, source, words(0xFF0000FF), pitch=4, level=1)
    bench.device(
        "UpdateTexture", pSourceTexture=Pointer(source), pDestinationTexture=Pointer(target)
    )
    bench.app.session.finish()
    desc = bench.resource(target).desc
    assert desc is not None
    held = bench.app.session.read(desc.handle, 0, 10)
    assert held == b"\x00\xf8" * 4 + b"\x1f\x00"
    assert bench.losses() == []


def shared(bench: Bench, handle: object, *, pool: int = 2) -> int:
    """A texture of 2 x 2 texels with a pSharedHandle."""
    return bench.make(
        "CreateTexture", "ppTexture", Width=2, Height=2, Levels=1, Usage=0,
        Format=int(Format.A8R8G8B8), Pool=pool, pSharedHandle=handle,
    )  # fmt: skip


def test_memory_behind_a_shared_handle_is_the_content_of_a_system_memory_texture() -> None:
    bench = Bench()
    address = shared(bench, (words(1, 2, 3, 4),))
    assert bench.words(bench.resource(address)) == [[1, 2], [3, 4]]
    target = texture(bench, size=2, pool=0)
    bench.device("UpdateTexture", pSourceTexture=Pointer(address),
                 pDestinationTexture=Pointer(target))  # fmt: skip
    assert bench.words(bench.resource(target)) == [[1, 2], [3, 4]]
    assert bench.losses() == []


def test_memory_behind_a_shared_handle_is_the_content_of_a_system_memory_surface() -> None:
    bench = Bench()
    address = bench.make(
        "CreateOffscreenPlainSurface", "ppSurface", Width=2, Height=1,
        Format=int(Format.A8R8G8B8), Pool=2, pSharedHandle=(words(8, 9),),
    )  # fmt: skip
    assert bench.words(bench.resource(address)) == [[8, 9]]


def test_memory_behind_a_shared_handle_that_is_not_recorded_is_a_loss() -> None:
    bench = Bench()
    address = shared(bench, (Pointer(0x77000),))
    assert bench.losses() == ["CreateTexture: the memory at 0x77000, its content, is not recorded"]
    store(bench, address, words(1, 2, 3, 4), pitch=8)
    assert bench.words(bench.resource(address)) == [[1, 2], [3, 4]]


@pytest.mark.parametrize("handle", [None, (None,), (Pointer(0),), (Pointer(0x40),)])
def test_a_shared_handle_of_video_memory_has_no_effect(handle: object) -> None:
    bench = Bench()
    address = shared(bench, handle, pool=0)
    assert bench.words(bench.resource(address)) == [[0, 0], [0, 0]]
    assert bench.losses() == []


def plain(bench: Bench, format: Format, size: int) -> int:
    return bench.make(
        "CreateOffscreenPlainSurface", "ppSurface", Width=size, Height=size, Format=int(format),
        Pool=0,
    )  # fmt: skip


PLANES = {
    Format.YV12: bytes(4 * [16, 16, 235, 235, 0xEE, 0xEE]) + bytes([128, 128, 0xEE] * 4),
    Format.NV12: bytes(4 * [16, 16, 235, 235, 0xEE, 0xEE]) + bytes([128] * 4 + [0xEE] * 2) * 2,
}
"""4 x 4 texels, black in the left half and white in the right one, with a pitch of 6 bytes."""


@pytest.mark.parametrize("format", PLANES)
def test_planar_surfaces_are_locked_and_stretched_to_a_target(format: Format) -> None:
    bench = Bench()
    address = plain(bench, format, 4)
    locked = (struct("D3DLOCKED_RECT", Pitch=6, pBits=Pointer(0x9000)),)
    bench.of(address, SURFACE, "LockRect", pLockedRect=locked, pRect=None, Flags=0)
    bench.play("memcpy", dest=Pointer(0x9000), src=PLANES[format], n=len(PLANES[format]))
    bench.of(address, SURFACE, "UnlockRect")
    copy = plain(bench, format, 4)
    bench.device("UpdateSurface", pSourceSurface=Pointer(address), pSourceRect=None,
                 pDestinationSurface=Pointer(copy), pDestPoint=None)  # fmt: skip
    back = bench.get(DEVICE, "IDirect3DDevice9", "GetRenderTarget", "ppRenderTarget",
                     RenderTargetIndex=0)  # fmt: skip
    bench.device("StretchRect", pSourceSurface=Pointer(copy), pDestSurface=Pointer(back),
                 **ALL, Filter=1)  # fmt: skip
    assert bench.words(bench.target) == [[0xFF000000] * 4 + [0xFFFFFFFF] * 4] * 4
    assert bench.losses() == []


@pytest.mark.parametrize("format", PLANES)
def test_planar_surfaces_are_filled(format: Format) -> None:
    bench = Bench()
    address = plain(bench, format, 4)
    for bounds, color in ((None, 0xFFFFFFFF), (rect(2, 0, 4, 4), 0xFF000000)):
        bench.device("ColorFill", pSurface=Pointer(address), pRect=bounds, color=color)
    back = bench.get(DEVICE, "IDirect3DDevice9", "GetRenderTarget", "ppRenderTarget",
                     RenderTargetIndex=0)  # fmt: skip
    bench.device("StretchRect", pSourceSurface=Pointer(address), pDestSurface=Pointer(back),
                 **ALL, Filter=1)  # fmt: skip
    assert bench.words(bench.target) == [[0xFFFFFFFF] * 4 + [0xFF000000] * 4] * 4
    assert bench.losses() == []


def test_a_part_of_a_planar_surface_has_no_chroma_to_store() -> None:
    bench = Bench()
    address = plain(bench, Format.YV12, 4)
    locked = (struct("D3DLOCKED_RECT", Pitch=4, pBits=Pointer(0x9000)),)
    bench.of(address, SURFACE, "LockRect", pLockedRect=locked, pRect=rect(0, 0, 2, 2), Flags=0)
    bench.play("memcpy", dest=Pointer(0x9000), src=b"abcd", n=4)
    bench.of(address, SURFACE, "UnlockRect")
    assert bench.losses() == [
        "UnlockRect: a part of a D3DFMT_YV12 surface: where its chroma is, is unknown"
    ]


@pytest.mark.parametrize("format", [Format.DXT1, Format.DXT5])
@pytest.mark.parametrize("size", [1, 2])
def test_textures_smaller_than_a_block_are_updated(format: Format, size: int) -> None:
    bench, made = Bench(), []
    for pool in (2, 0):
        made.append(bench.make(
            "CreateTexture", "ppTexture", Width=size, Height=size, Levels=0, Usage=0,
            Format=int(format), Pool=pool,
        ))  # fmt: skip
    block = bytes(range(1, FORMATS[format].size + 1))
    for level in range(size):
        store(bench, made[0], block, pitch=len(block), level=level)
    bench.device("UpdateTexture", pSourceTexture=Pointer(made[0]),
                 pDestinationTexture=Pointer(made[1]))  # fmt: skip
    bench.app.session.finish()
    desc = bench.resource(made[1]).desc
    assert desc is not None
    assert bench.app.session.read(desc.handle, 0, size * len(block)) == block * size
    assert bench.losses() == []


def test_a_palettised_surface_is_filled_with_the_alpha_as_index() -> None:
    bench = Bench()
    address = plain(bench, Format.P8, 4)
    bench.device("ColorFill", pSurface=Pointer(address), pRect=None, color=0x12345678)
    assert bench.words(bench.resource(address)) == [[0x12121212]] * 4
    assert bench.losses() == []

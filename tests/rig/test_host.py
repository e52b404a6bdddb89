"""Flips, blits and colour keys reach the functions that a driver has for them, in a library and
behind a pipe.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from dp2emu.d3d.ddraw import BltFlags
from dp2emu.d3d.enums import Format
from dp2emu.dp2.blt import Blt
from dp2emu.errors import Fault, Unsupported
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from dp2emu.rig.served import NativeDriver, PipeRig, Served
from tests.native.building import built, library, sample, served_sample

FRONT, BACK = 1, 2
WIDTH, HEIGHT = 4, 3


CALLS = ("FLIP", "BLT", "SETCOLORKEY")
SERVED = {
    "native": lambda: NativeDriver(library("surfaces", "surfaces.c")),
    "pipe": lambda: PipeRig(str(piped("surfaces-piped", *(f"-DDP2STUB_HAS_{c}" for c in CALLS)))),
}


def piped(name: str, *options: str) -> Path:
    """The driver of surfaces as a sanitized program that a pipe leads to."""
    stub = ("dp2stub.c", "surfaces.c")
    return built(name, stub, "-fsanitize=address,undefined", "-fno-sanitize-recover=all", *options)


def with_surfaces(rig: Served) -> Served:
    for handle in (FRONT, BACK):
        rig.create_surface(
            SurfaceDesc(handle, SurfaceKind.SURFACE, WIDTH, HEIGHT, int(Format.A8R8G8B8))
        )
        rig.write(handle, 0, struct.pack("<12I", *range(0x100 * handle, 0x100 * handle + 12)))
    return rig


@pytest.fixture(scope="module", params=sorted(SERVED))
def process(request: pytest.FixtureRequest) -> Iterator[Served]:
    with SERVED[request.param]() as rig:
        yield rig


@pytest.fixture
def driver(process: Served) -> Iterator[Served]:
    yield with_surfaces(process)
    for handle in (FRONT, BACK):
        process.destroy_surface(handle)


def test_a_context_is_created_for_a_process(driver: Served) -> None:
    driver.create_context(1)
    driver.destroy_context(1)


def words(rig: Served, handle: int) -> list[int]:
    return list(struct.unpack("<12I", rig.read(handle, 0, 48)))


def test_a_flip_exchanges_what_two_surfaces_hold(driver: Served) -> None:
    front, back = words(driver, FRONT), words(driver, BACK)
    driver.flip(FRONT, BACK)
    assert words(driver, FRONT) == back
    assert words(driver, BACK) == [0xF11F, *front[1:]]
    driver.blit(Blt(FRONT, 0, 0, 1, 1, flags=int(BltFlags.COLORFILL), fill=7))
    assert words(driver, FRONT) == [7, *back[1:]]


def test_what_a_driver_refuses_to_flip_stays(driver: Served) -> None:
    with pytest.raises(Fault, match="DDERR_INVALIDPARAMS"):
        driver.flip(FRONT, FRONT)
    assert words(driver, BACK)[0] == 0x200


def test_a_fill_is_of_the_rectangle_that_is_named(driver: Served) -> None:
    before = words(driver, FRONT)
    driver.blit(Blt(FRONT, 1, 1, 3, 3, flags=int(BltFlags.COLORFILL), fill=0xFF102030))
    inside = {5, 6, 9, 10}
    assert words(driver, FRONT) == [
        0xFF102030 if at in inside else word for at, word in enumerate(before)
    ]


def test_a_copy_has_two_rectangles(driver: Served) -> None:
    driver.blit(Blt(FRONT, 2, 0, 4, 1, BACK, 1, 2, 3, 3))
    assert words(driver, FRONT)[:4] == [0x100, 0x101, 0x209, 0x20A]


def test_a_key_is_told_and_is_in_the_surface(driver: Served) -> None:
    driver.set_color_key(BACK, (3, 9))
    assert words(driver, BACK)[:2] == [3, 9]
    driver.set_color_key(BACK, None)
    assert words(driver, BACK)[:2] == [3, 9]


def test_what_a_driver_does_not_handle_is_unsupported(driver: Served) -> None:
    mirrored = Blt(FRONT, 0, 0, 1, 1, BACK, 0, 0, 1, 1, flags=int(BltFlags.DDFX), fx=2)
    with pytest.raises(Unsupported, match="blits of this driver"):
        driver.blit(mirrored)


def test_surfaces_that_are_not_there_are_refused(driver: Served) -> None:
    for asked in (
        lambda: driver.flip(FRONT, 9),
        lambda: driver.blit(Blt(9, 0, 0, 1, 1)),
        lambda: driver.blit(Blt(FRONT, 0, 0, 1, 1, 9)),
        lambda: driver.set_color_key(9, (0, 0)),
    ):
        with pytest.raises(Fault):
            asked()


def test_memory_that_was_flipped_goes_with_the_last_surface_in_it(driver: Served) -> None:
    driver.flip(FRONT, BACK)
    before = words(driver, FRONT)
    driver.destroy_surface(BACK)
    assert words(driver, FRONT) == before
    driver.create_surface(
        SurfaceDesc(BACK, SurfaceKind.SURFACE, WIDTH, HEIGHT, int(Format.A8R8G8B8))
    )
    assert words(driver, BACK) == [0] * 12
    driver.flip(FRONT, BACK)
    assert words(driver, FRONT) == [0] * 12


def test_surfaces_of_other_sizes_are_not_flipped(driver: Served) -> None:
    driver.create_surface(SurfaceDesc(3, SurfaceKind.SURFACE, 9, 9, int(Format.A8R8G8B8)))
    with pytest.raises(Fault, match="DDERR_INVALIDPARAMS"):
        driver.flip(FRONT, 3)
    driver.destroy_surface(3)


@pytest.mark.parametrize("kind", sorted(SERVED))
def test_a_driver_without_these_functions_says_so(kind: str) -> None:
    rigs = {"native": lambda: NativeDriver(sample()), "pipe": lambda: PipeRig(str(piped("bare")))}
    with rigs[kind]() as rig:
        with_surfaces(rig)
        for asked, what in (
            (lambda: rig.flip(FRONT, BACK), "flips"),
            (lambda: rig.blit(Blt(FRONT, 0, 0, 1, 1)), "blits"),
            (lambda: rig.set_color_key(BACK, (0, 0)), "colour keys"),
        ):
            with pytest.raises(Unsupported, match=what):
                asked()


@pytest.mark.parametrize("kind", sorted(SERVED))
def test_a_surface_that_the_driver_refuses_is_none(kind: str) -> None:
    rigs = {
        "native": lambda: NativeDriver(sample()),
        "pipe": lambda: PipeRig(str(served_sample())),
    }
    with rigs[kind]() as rig:
        with pytest.raises(Fault, match="DDERR_UNSUPPORTED"):
            rig.create_surface(SurfaceDesc(FRONT, SurfaceKind.SURFACE, 4, 3, int(Format.D32)))
        with_surfaces(rig)
        assert words(rig, FRONT)[0] == 0x100

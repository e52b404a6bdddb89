"""Structures of surfaces against the offsets that compilers give the documented members."""

from __future__ import annotations

from typing import Any

import pytest

from dp2emu.d3d import hal

OFFSETS: dict[str, tuple[dict[str, int], dict[str, int], tuple[int, int]]] = {
    "DD_SURFACE_GLOBAL": (
        {"fpVidMem": 8, "lPitch": 12, "wHeight": 24, "wWidth": 28, "ddpfSurface": 36},
        {"fpVidMem": 16, "lPitch": 24, "wHeight": 36, "wWidth": 40, "ddpfSurface": 56},
        (76, 104),
    ),
    "DD_SURFACE_MORE": (
        {"ddsCapsEx": 12, "dwSurfaceHandle": 24},
        {"ddsCapsEx": 20, "dwSurfaceHandle": 32},
        (28, 40),
    ),
    "DD_SURFACE_LOCAL": (
        {"ddsCaps": 8, "ddckCKSrcBlt": 16, "lpSurfMore": 32, "rcOverlaySrc": 44},
        {"ddsCaps": 12, "ddckCKSrcBlt": 24, "lpSurfMore": 40, "rcOverlaySrc": 64},
        (60, 80),
    ),
    "DD_CREATESURFACEEXDATA": (
        {"lpDDLcl": 4, "lpDDSLcl": 8, "ddRVal": 12},
        {"lpDDLcl": 8, "lpDDSLcl": 16, "ddRVal": 24},
        (16, 32),
    ),
    "DD_DIRECTDRAW_LOCAL": ({"lpGbl": 0}, {"lpGbl": 0}, (4, 8)),
}


def offsets(declaration: Any) -> dict[str, int]:
    found, at = {}, 0
    for member in declaration.subcons:
        found[member.name] = at
        at += member.sizeof()
    return found


@pytest.mark.parametrize("name", OFFSETS)
@pytest.mark.parametrize(("abi", "column"), [(32, 0), (64, 1)])
def test_members_are_where_compilers_put_them(name: str, abi: int, column: int) -> None:
    declaration = hal.SURFACES_BY_ABI[name](abi)
    expected = OFFSETS[name]
    assert expected[column].items() <= offsets(declaration).items()
    assert declaration.sizeof() == expected[2][column]


def test_a_pixel_format_has_32_bytes() -> None:
    assert hal.SURFACES["DDPIXELFORMAT"].sizeof() == 32


def test_reserved_members_of_the_callbacks_are_as_wide_as_pointers() -> None:
    callbacks = hal.BY_ABI["D3DHAL_CALLBACKS"]
    assert (callbacks(32).sizeof(), callbacks(64).sizeof()) == (0x8C, 0x118)
    assert (offsets(callbacks(32))["dwReserved9"], offsets(callbacks(64))["dwReserved9"]) == (
        0x8C - 4,
        0x118 - 8,
    )

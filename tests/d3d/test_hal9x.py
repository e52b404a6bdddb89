"""Structures of Windows 9x drivers against a compiler, and its header's comments."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from construct import Padding

from dp2emu.d3d import hal9x
from dp2emu.d3d.words import BYTE, DWORD, QWORD, aligned, dwords, inside, pointers
from tests.d3d.test_hal import offsets

WINDOWS = "x86_64-w64-mingw32-gcc"
HEADER = Path("/usr/share/mingw-w64/include/ddrawi.h")
NOT_THERE = ("DDHAL_CREATESURFACEEXDATA", "DDHAL_DRVSETCOLORKEYDATA")
"""Structures that this compiler's header names without their members."""
OTHER_NAMES = {"lSlicePitch": "dwBlockSizeY"}

COMMENTS = {
    "ddCaps": 0xC, "lpDDCBtmp": 0x170, "ddHELCaps": 0x190, "ddckCKDestOverlay": 0x394,
    "vmiData": 0x3A4, "lpDriverHandle": 0x3F4, "lpModeInfo": 0x410, "dwReserved3": 0x430,
    "dbnOverlayRoot": 0x44C, "dwSaveNumModes": 0x474, "ddBothCaps": 0x480, "rectDevice": 0x5C8,
    "lpD3DExtendedCaps": 0x600, "cDriverName": 0x618, "ddsCapsMore": 0x64C,
}  # fmt: skip
"""Offsets that ddrawi.h writes beside members of DDRAWI_DIRECTDRAW_GBL."""


def asserts(bits: int) -> str:
    """C source that has every declared member at its place, by the compiler's own header."""
    lines = ["#include <windows.h>", "#include <stddef.h>", "#include <ddrawi.h>"]
    structures = hal9x.PLAIN | {name: made(bits) for name, made in hal9x.BY_ABI.items()}
    for name, declaration in structures.items():
        if name in NOT_THERE:
            continue
        conditions = [f"sizeof({name}) == {declaration.sizeof()}"]
        for member, at in offsets(declaration).items():
            if member is not None:
                own = OTHER_NAMES.get(member, member)
                conditions.append(f"offsetof({name}, {own}) == {at}")
        lines += [
            f"typedef char {name}_{place}[({condition}) ? 1 : -1];"
            for place, condition in enumerate(conditions)
        ]
    return "\n".join((*lines, ""))


@pytest.mark.parametrize("bits", [32, 64])
def test_every_member_is_where_the_windows_header_has_it(bits: int) -> None:
    if not shutil.which(WINDOWS) or not HEADER.exists():
        pytest.skip(f"{WINDOWS} or its ddrawi.h is missing")
    source = asserts(bits)
    command = [WINDOWS, f"-m{bits}", "-DWIN32_LEAN_AND_MEAN", "-fsyntax-only", "-x", "c", "-"]
    ran = subprocess.run(command, input=source, capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_the_global_object_is_as_its_header_says() -> None:
    found = offsets(hal9x.BY_ABI["DDRAWI_DIRECTDRAW_GBL"](32))
    assert {name: found[name] for name in COMMENTS} == COMMENTS


def test_a_surface_of_windows_9x_has_16_bit_sides_and_its_own_order() -> None:
    surface = offsets(hal9x.BY_ABI["DDRAWI_DDRAWSURFACE_GBL"](32))
    assert [surface[name] for name in ("fpVidMem", "lPitch", "wHeight", "wWidth")] == [
        20, 24, 28, 30,
    ]  # fmt: skip
    local = offsets(hal9x.BY_ABI["DDRAWI_DDRAWSURFACE_LCL"](32))
    assert [local[name] for name in ("lpSurfMore", "lpGbl", "lpAttachList", "ddsCaps")] == [
        0, 4, 12, 32,
    ]  # fmt: skip
    assert offsets(hal9x.BY_ABI["DDRAWI_DDRAWSURFACE_MORE"](32))["dwSurfaceHandle"] == 100


def test_padding_is_what_a_compiler_adds() -> None:
    inner = aligned("a" / BYTE, pointers("b"))
    outer = aligned("c" / BYTE, inside("d", inner), "e" / DWORD[3], "f" / BYTE)
    assert offsets(outer(32)) == {"c": 0, None: 21, "d": 4, "e": 12, "f": 24} | {None: 25}
    assert outer(32).sizeof() == 28
    assert outer(64).sizeof() == 8 + 16 + 12 + 1 + 3
    assert aligned(dwords("a"), "b" / QWORD)(32).sizeof() == 16
    assert aligned(Padding(3), "a" / BYTE)(64).sizeof() == 4

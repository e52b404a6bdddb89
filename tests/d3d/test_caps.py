"""Capability structures and flags are as the headers of a Windows compiler have them."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from dp2emu.d3d import capflags, caps, hal
from dp2emu.d3d.sdk import SdkFlag

COMPILERS = {32: "i686-w64-mingw32-gcc", 64: "x86_64-w64-mingw32-gcc"}
DX8 = "#define DIRECT3D_VERSION 0x0800\n#include <windows.h>\n#include <d3d8.h>\n"
DX9 = "#include <windows.h>\n#include <d3d9.h>\n"
DX7 = "#include <windows.h>\n#include <ddraw.h>\n#include <d3d.h>\n"


def places(name: str, declaration: Any) -> Iterator[str]:
    """C that compiles if a structure has its size and its members where they are declared."""
    yield f"sizeof({name}) == {declaration.sizeof()}"
    at = 0
    for member in declaration.subcons:
        if member.name is not None and member.name != "lPitch":  # one of an unnamed union
            yield f"offsetof({name}, {member.name}) == {at}"
        at += member.sizeof()


def compiled(abi: int, headers: str, checks: Iterator[str]) -> str:
    """Messages of a Windows compiler about assertions; skips if there is no such compiler."""
    compiler = shutil.which(COMPILERS[abi])
    if compiler is None:
        pytest.skip(f"{COMPILERS[abi]} is missing")
    lines = (f'_Static_assert({check}, "{check}");' for check in checks)
    source = f"{headers}#include <stddef.h>\n" + "\n".join(lines)
    command = [compiler, "-DWIN32_LEAN_AND_MEAN", "-fsyntax-only", "-x", "c", "-"]
    return subprocess.run(command, input=source, capture_output=True, text=True).stderr


@pytest.mark.parametrize("abi", COMPILERS)
def test_the_capabilities_of_directx_8_and_9(abi: int) -> None:
    assert compiled(abi, DX8, places("D3DCAPS8", caps.D3DCAPS8)) == ""
    assert compiled(abi, DX9, places("D3DCAPS9", caps.D3DCAPS9)) == ""


@pytest.mark.parametrize("abi", COMPILERS)
def test_the_description_of_a_texture_format(abi: int) -> None:
    checks = places("DDSURFACEDESC", hal.CALLS_BY_ABI["DDSURFACEDESC"](abi))
    assert compiled(abi, DX7, checks) == ""


@pytest.mark.parametrize("headers", [DX7, DX8, DX9], ids=["7", "8", "9"])
def test_flags_have_the_values_of_the_headers(headers: str) -> None:
    kinds = [kind for kind in vars(capflags).values() if isinstance(kind, type)]
    flags = [each for kind in kinds if issubclass(kind, SdkFlag) for each in kind]
    assert len(flags) > 200
    named = "".join(
        f'#ifdef {each.sdk}\n_Static_assert({each.sdk} == {int(each)}, "{each.sdk}");\n#endif\n'
        for each in flags
    )
    assert compiled(64, headers + named, iter(())) == ""

"""Functions of a driver have names, those too that it does not export; any bytes may be a file."""

from __future__ import annotations

import subprocess
from pathlib import Path
from random import Random

import pytest

from dp2emu.rig.symbols import function_at, place_in
from tests.native.building import library, missing

SOURCE = "static int inner(int x) { return x + 1; }\nint outer(int x) { return inner(x) * 2; }\n"


def compiled(folder: Path, bits: str) -> Path:
    made = folder / f"small{bits}.so"
    command = ["gcc", bits, "-O0", "-shared", "-fPIC", "-nostdlib", "-x", "c", "-", "-o", made]
    subprocess.run(command, input=SOURCE.encode(), check=True)
    return made


@pytest.mark.parametrize("bits", ["-m32", "-m64"])
def test_a_static_function_has_its_name(bits: str, tmp_path: Path) -> None:
    if lacks := missing(("gcc", bits)):
        pytest.skip(f"{lacks} is missing")
    path = str(compiled(tmp_path, bits))
    names = [function_at(path, at) for at in range(0x2000)]
    first = names.index("inner")
    assert names[names.index("outer") - 1 : names.index("outer") + 1] == ["inner", "outer"]
    assert place_in(path, names.index("outer"), returned=True) == "inner"
    assert names[0] is None and place_in(path, first - 1, returned=False).startswith("small")


def test_damaged_files_have_no_names(tmp_path: Path) -> None:
    whole = library("crashing", "crashing.c").read_bytes()
    random = Random(5)
    for n in range(40):
        data = bytearray(whole[: random.choice((len(whole), random.randrange(len(whole))))])
        for _ in range(8):
            data[random.randrange(min(len(data), 64) or 1)] ^= random.randrange(256)
        path = tmp_path / f"{n}"
        path.write_bytes(data)
        assert function_at(str(path), 0x1234) is None or data[:5] == whole[:5]
    assert function_at(str(tmp_path / "none"), 0) is None

"""The kit for drivers compiles everywhere, and finds the tokens that dp2emu finds."""

from __future__ import annotations

import ctypes
from pathlib import Path
from random import Random

import pytest

from dp2emu.capture.headers import INCLUDES
from dp2emu.dp2.generate import generate_stream
from dp2emu.dp2.table import TABLE
from dp2emu.dp2.walk import scan
from tests.native.building import (
    GCC,
    GCC32,
    KERNEL,
    LANGUAGES,
    LATER,
    compile_as,
    compile_only,
    library,
    missing,
)
from tests.tools.loading import load_tool

ALL = sorted(path.name for path in INCLUDES.glob("*.h"))
HEADERS = [name for name in ALL if name != "dp2play.h"]
"""Those for drivers; what plays a capture as a program prints and allocates."""
VERTEX_BYTES = 32
EVERY_COMPILER = [
    (standard, each) for standard, (_, *names) in LANGUAGES.items() for each in names
]
ALONE = ("c89", "gcc", "-m64"), ("c++98", "clang++", "-m32")
"""With these every run compiles each header without the others, with the rest the slow tests."""


def test_the_header_is_what_the_declarations_make_now() -> None:
    tool = load_tool("c_header")
    assert (INCLUDES / "dp2.h").read_text("ascii") == tool.header()


def test_the_header_is_written_by_its_tool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = load_tool("c_header")
    monkeypatch.setattr(tool, "HEADER", tmp_path / "dp2.h")
    tool.main()
    assert (tmp_path / "dp2.h").read_bytes() == (INCLUDES / "dp2.h").read_bytes()


@pytest.mark.parametrize("bits", ["-m32", "-m64"])
@pytest.mark.parametrize(("standard", "compiler"), EVERY_COMPILER)
def test_every_header_is_clean_in_every_language_standard_compiler_and_word_size(
    standard: str, compiler: str, bits: str
) -> None:
    command = compiler, bits
    if lacks := missing(command, LANGUAGES[standard][0]):
        pytest.skip(f"{lacks} is missing")
    together = "".join(f'#include "{header}"\n' for header in ALL)
    for defined in ("", "#define DP2STUB_9X\n"):
        assert compile_as(standard, command, defined + together) == ""


@pytest.mark.parametrize(
    ("standard", "compiler", "bits"),
    [
        (*each, bits) if (*each, bits) in ALONE
        else pytest.param(*each, bits, marks=pytest.mark.slow)
        for each in EVERY_COMPILER for bits in ("-m32", "-m64")
    ],
)  # fmt: skip
def test_every_header_is_clean_alone(standard: str, compiler: str, bits: str) -> None:
    command = compiler, bits
    if lacks := missing(command, LANGUAGES[standard][0]):
        pytest.skip(f"{lacks} is missing")
    for header in ALL:
        assert compile_as(standard, command, f'#include "{header}"\n') == "", header


@pytest.mark.slow
@pytest.mark.parametrize("bits", ["-m32", "-m64"])
@pytest.mark.parametrize(
    ("standard", "compiler"),
    [(standard, each) for standard, like in LATER.items() for each in LANGUAGES[like][1:]],
)
def test_every_header_is_clean_in_every_later_standard(
    standard: str, compiler: str, bits: str
) -> None:
    command = compiler, bits
    if lacks := missing(command, LANGUAGES[LATER[standard]][0]):
        pytest.skip(f"{lacks} is missing")
    together = "".join(f'#include "{header}"\n' for header in ALL)
    for defined in ("", "#define DP2STUB_9X\n"):
        assert compile_as(standard, command, defined + together) == ""


@pytest.mark.slow
@pytest.mark.parametrize("bits", ["-m32", "-m64"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_every_header_for_drivers_compiles_for_a_kernel(compiler: str, bits: str) -> None:
    if lacks := missing((compiler, bits)):
        pytest.skip(f"{lacks} is missing")
    for header in HEADERS:
        compile_only((compiler, bits), f'#include "{header}"\n', *KERNEL)


@pytest.mark.slow
@pytest.mark.parametrize("language", ["c89", "c++17"])
@pytest.mark.parametrize("machine", ["i686", "x86_64"])
def test_every_header_is_clean_for_windows(machine: str, language: str) -> None:
    command = (f"{machine}-w64-mingw32-{'g++' if '+' in language else 'gcc'}",)
    if lacks := missing(command, LANGUAGES[language][0]):
        pytest.skip(f"{lacks} is missing")
    for header in ALL:
        assert compile_as(language, command, f'#include "{header}"\n') == "", header


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("compiler", [GCC, GCC32], ids=["64 bit", "32 bit"])
def test_every_header_for_drivers_compiles_without_a_library(
    header: str, compiler: tuple[str, ...]
) -> None:
    compile_only(compiler, f'#include "{header}"\n', "-ffreestanding")


def test_all_headers_go_together_and_twice() -> None:
    compile_only(GCC, "".join(f'#include "{header}"\n' for header in HEADERS * 2))


def test_windows_9x_has_its_structures_under_both_names() -> None:
    both = "typedef char same[sizeof(DD_BLTDATA) == sizeof(DDHAL_BLTDATA) ? 1 : -1];\n"
    compile_only(GCC, f'#define DP2STUB_9X\n#include "dp2.h"\n{both}')
    compile_only(
        GCC,
        "#define DP2_NAME(name) KIT_##name\n#define DP2STUB_9X\n"
        '#include "dp2.h"\n'
        "KIT_DD_SURFACE_LOCAL one; KIT_DDRAWI_DDRAWSURFACE_LCL *two = &one;\n",
    )


def test_structures_may_get_other_names() -> None:
    compile_only(
        GCC,
        "#define DP2_NAME(name) KIT_##name\n"
        '#include "dp2.h"\n'
        "KIT_D3DHAL_DP2COMMAND command; KIT_DD_SURFACE_LOCAL surface;\n",
    )


@pytest.mark.parametrize("header", HEADERS)
def test_headers_neither_allocate_nor_use_a_library(header: str) -> None:
    text = (INCLUDES / header).read_text("ascii")
    assert "//" not in text
    assert not any(word in text for word in ("malloc", "stdio.h", "string.h", "double"))


def walked(data: bytes, start: int = 0, end: int | None = None) -> tuple[list[int], int]:
    """Offsets of tokens and where it stopped, as the C walk says."""
    code = ctypes.CDLL(str(library("walking", "walking.c")))
    code.walk_tokens.restype = ctypes.c_size_t
    room = len(data) // 4 + 1
    offsets = (ctypes.c_size_t * room)()
    stop = ctypes.c_size_t()
    number = [ctypes.c_size_t(n) for n in (start, len(data) if end is None else end, VERTEX_BYTES)]
    found = code.walk_tokens(data, *number, offsets, ctypes.c_size_t(room), ctypes.byref(stop))
    return list(offsets[:found]), stop.value


def scanned(data: bytes, start: int = 0, end: int | None = None) -> tuple[list[int], int]:
    """The same from dp2emu."""
    found = scan(data, start, len(data) if end is None else end, VERTEX_BYTES)
    return [command[0] for command in found.commands], found.stop


@pytest.mark.parametrize("op", TABLE)
def test_the_c_walk_passes_samples_of_every_token(op: int) -> None:
    for sample in TABLE[op].samples:
        data = sample + b"\x08\0\0\0"
        assert walked(data) == scanned(data) == ([0, len(sample)], len(data))


@pytest.mark.parametrize("op", TABLE)
def test_the_c_walk_stops_at_every_cut_of_a_token(op: int) -> None:
    sample = TABLE[op].samples[0]
    for end in range(len(sample)):
        assert walked(sample, 0, end) == scanned(sample, 0, end)


@pytest.mark.parametrize("seed", range(40))
def test_the_c_walk_finds_the_tokens_of_random_streams(seed: int) -> None:
    random = Random(seed)
    data = bytearray(generate_stream(random, 12, vertex_size=VERTEX_BYTES))
    assert walked(bytes(data)) == scanned(bytes(data))
    for _ in range(20):
        data[random.randrange(len(data))] = random.choice((0, 1, 2, 0xFF, random.randrange(256)))
        assert walked(bytes(data)) == scanned(bytes(data))


@pytest.mark.parametrize("op", range(256))
def test_numbers_that_mean_nothing_end_the_c_walk(op: int) -> None:
    data = bytes((op, 0, 0, 0)) + bytes(64)
    assert walked(data) == scanned(data)

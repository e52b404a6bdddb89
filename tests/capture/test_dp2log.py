"""The C header and the specification say what the package does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dp2emu.capture import payloads, rawlog
from dp2emu.capture.container import MAGIC, SCHEMA_ENCODING
from dp2emu.capture.headers import INCLUDES
from dp2emu.capture.payloads import LAYOUTS, Kind, describe
from dp2emu.d3d.hal import BY_ABI

STREAMS = Path(__file__).parents[2] / "streams"
HEADER = (INCLUDES / "dp2log.h").read_text("ascii")
README = (STREAMS / "README.rst").read_text("utf-8")
DEFINES = dict(re.findall(r"^#define DP2LOG_(\w+) (\d+|0x[0-9a-f]+)$", HEADER, re.MULTILINE))


@pytest.mark.parametrize("kind", Kind)
def test_the_header_numbers_the_kinds_like_the_reader(kind: Kind) -> None:
    assert int(DEFINES[kind.name], 0) == kind


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("END", rawlog.END),
        ("MAGIC_SIZE", len(rawlog.MAGIC)),
        ("RECORD_SIZE", rawlog.RECORD.size),
        ("DESTROYED", payloads.DESTROYED),
        ("CREATED", payloads.CREATED),
        ("HAS_COMMANDS", payloads.HAS_COMMANDS),
        ("HAS_VERTICES", payloads.HAS_VERTICES),
        ("MEMORY_PIECE", payloads.MEMORY_PIECE),
        ("DATA_SIZE_32", BY_ABI["D3DHAL_DRAWPRIMITIVES2DATA"](32).sizeof()),
        ("DATA_SIZE_64", BY_ABI["D3DHAL_DRAWPRIMITIVES2DATA"](64).sizeof()),
    ],
)
def test_the_header_has_the_constants_of_the_reader(name: str, value: int) -> None:
    assert int(DEFINES[name], 0) == value


def test_the_header_has_the_magic_of_the_reader() -> None:
    first, rest = re.findall(r'DP2LOG_MAGIC "\\x(\w\w)" "(\w+)"', HEADER)[0]
    assert bytes.fromhex(first) + rest.encode() == rawlog.MAGIC


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        ("context", Kind.CONTEXT),
        ("surface", Kind.SURFACE),
        ("memory", Kind.MEMORY),
        ("call", Kind.CALL),
        ("answer", Kind.ANSWER),
        ("frame", Kind.FRAME),
        ("annotation", Kind.ANNOTATION),
        ("texture", Kind.TEXTURE),
        ("colorkey", Kind.COLORKEY),
        ("flip", Kind.FLIP),
        ("lock", Kind.LOCK),
        ("managed", Kind.MANAGED),
        ("entry", Kind.ENTRY),
        ("blit", Kind.BLIT),
    ],
)
def test_the_header_makes_heads_of_the_readers_size(function: str, kind: Kind) -> None:
    body = HEADER[HEADER.index(f"void dp2log_{function}(") :]
    size = re.search(r"unsigned char (?:payload|head)\[(\d+)\]", body)
    assert size is not None
    assert int(size[1]) == LAYOUTS[kind].head.size


def test_the_header_is_ascii_and_of_the_first_c() -> None:
    assert "//" not in HEADER
    assert "malloc" not in HEADER


@pytest.mark.parametrize("kind", Kind)
def test_the_specification_lists_the_fields_of_every_kind(kind: Kind) -> None:
    fields = "".join(f"    {line}\n" for line in describe(kind).decode().split("\n"))
    heading = README.index(f"\n{kind:d} {kind.name.lower()}: ")
    assert README.index(f"::\n\n{fields}\n", heading) < README.index("Sealed captures\n---")


def test_the_specification_names_magics_and_versions() -> None:
    for magic in (MAGIC, rawlog.MAGIC):
        assert magic.hex(" ").upper() in README
    assert re.search(rf"^{SCHEMA_ENCODING} +{rawlog.MAGIC[1:].decode()} ", README, re.MULTILINE)

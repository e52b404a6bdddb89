"""``dp2emu shader``."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

from dp2emu.shader import sm4
from dp2emu.shader.sm import assemble, decode
from dp2emu.shader.sm.opcodes import Op
from tests.cli.running import dp2emu
from tests.shader.sm4.making import recorded
from tests.tools.loading import ROOT

TEXT = "ps_2_0\ndcl t0\nmov oC0, t0\n"
CODE = assemble(TEXT)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a.ps"
    path.write_bytes(CODE)
    return path


def test_code_comes_out_as_text(path: Path) -> None:
    assert dp2emu("shader", path) == (0, TEXT.encode(), "")


def test_text_comes_out_as_code(path: Path, tmp_path: Path) -> None:
    path.write_text(TEXT)
    assert dp2emu("shader", path, "-o", tmp_path / "b") == (0, b"", "")
    assert (tmp_path / "b").read_bytes() == CODE


def test_either_way_goes_from_stdin_to_a_place(path: Path, tmp_path: Path) -> None:
    assert dp2emu("shader", "-", "-o", "-", stdin=TEXT.encode()) == (0, CODE, "")
    assert dp2emu("shader", "-", "-o", tmp_path / "b", stdin=CODE) == (0, b"", "")
    assert (tmp_path / "b").read_text() == TEXT


def test_quoted_words_are_code() -> None:
    words = [int.from_bytes(CODE[at : at + 4], "little") for at in range(0, len(CODE), 4)]
    for text in (
        "{ " + ", ".join(f"0x{word:08X}" for word in words) + " };",
        "[" + ", ".join(f'"{word:#x}"' for word in words) + "]\n",
    ):
        assert dp2emu("shader", "-", stdin=text.encode()) == (0, TEXT.encode(), "")


@pytest.mark.parametrize("row", recorded()[::9], ids=lambda row: row["shader"])
def test_containers_and_bare_programs_are_code_too(path: Path, row: dict[str, Any]) -> None:
    for data in (bytes.fromhex(row["dxbc"]), bytes.fromhex(row["tokens"])):
        path.write_bytes(data)
        shown = dp2emu("shader", path)
        assert (shown.code, shown.err) == (0, "")
        assert dp2emu("shader", "-", "-o", "-", stdin=shown.out) == (0, data, "")
        words = struct.unpack_from(f"<{len(data) // 4}I", data)
        quoted = ", ".join(f"0x{word:08x}" for word in words)
        assert dp2emu("shader", "-", stdin=quoted.encode()).out == shown.out


def test_code_needs_a_place(path: Path) -> None:
    path.write_text(TEXT)
    ran = dp2emu("shader", path)
    assert (ran.code, ran.out) == (2, b"")
    assert ran.err == (
        "dp2emu: assembling text needs an output file: -o FILE (see dp2emu shader --help)\n"
    )


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (CODE[:-4], "offset 0x1c: the code ends early"),
        (b"ps_2_0\nmov r0\n", "line 2: mov has 2 operands, not 1"),
        (b"ps_2_0\nmov c0, r0\n", "line 2: c0 cannot be written here"),
        (b"ab\x80", "offset 0x2: neither shader code nor UTF-8 text: invalid start byte"),
        (b"", "line 1: there is no shader version"),
        (b"vs_4_0\nmov o0.x", "line 2: mov has 2 operands, not 1"),
        (b"dxbc\n", "line 1: 0 programs in a container"),
        (b"DXBC", "offset 0x4: the container ends in its header"),
        (bytes.fromhex("5100010002000000"), "offset 0x0: 0x00010051 is no shader version"),
        (
            bytes.fromhex("5000010003000000"),
            "offset 0x4: 3 DWORDs are not the length of this code",
        ),
        (b"0x1 0x2", "offset 0x0: 0x00000001 is no shader version"),
    ],
)
def test_what_is_no_shader_is_one_line(path: Path, data: bytes, what: str) -> None:
    path.write_bytes(data)
    assert dp2emu("shader", path, "-o", "-") == (2, b"", f"dp2emu: {path}: {what}\n")


def test_missing_file_is_one_line(tmp_path: Path) -> None:
    ran = dp2emu("shader", tmp_path / "none")
    assert (ran.code, ran.err.count("\n")) == (2, 1)


def test_text_can_be_insisted_on(path: Path) -> None:
    ran = dp2emu("shader", path, "--assemble", "-o", "-")
    assert (ran.code, ran.out) == (2, b"")


def test_document_shows_a_shader() -> None:
    document = (ROOT / "docs" / "shaders.rst").read_text("utf-8")
    example = document.partition(".. code:: text\n\n")[2].partition("\n\n")[0]
    shader = decode(assemble("\n".join(line.strip() for line in example.split("\n"))))
    assert [each.op for each in shader.instructions] == [Op.DEF, Op.TEX, Op.MUL, Op.MOV]


def test_document_shows_a_program_of_shader_model_4() -> None:
    document = (ROOT / "docs" / "shaders.rst").read_text("utf-8")
    example = document.split(".. code:: text\n\n")[2].partition("\n\n")[0]
    text = "\n".join(line.removeprefix("    ") for line in example.split("\n")) + "\n"
    assert sm4.disassemble(sm4.assemble(text)) == text

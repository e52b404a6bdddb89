"""Names of constants in the tables that compilers store beside code."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.errors import Dp2Error, ShaderError
from dp2emu.shader.constant_names import NamedConstant, named_constants
from dp2emu.shader.sm4.container import Chunk, pack

VS_2_0, END = 0xFFFE0200, 0x0000FFFF
COMMENT = 0xFFFE


def commented(table: bytes) -> bytes:
    """A shader of vs_2_0 without instructions, but with a comment."""
    words = b"CTAB" + table
    words += bytes(-len(words) % 4)
    head = struct.pack("<II", VS_2_0, COMMENT | len(words) // 4 << 16)
    return head + words + struct.pack("<I", END)


def constant_table(*rows: tuple[bytes, int, int, int, int, int]) -> bytes:
    """A D3DXSHADER_CONSTANTTABLE of rows (name, set, register, count, rows, columns)."""
    start = 28
    at = start + 20 * len(rows)
    infos, tail = b"", b""
    for name, kind, register, count, height, width in rows:
        type = at + len(tail)
        infos += struct.pack("<I4H2I", type + 16, kind, register, count, 0, type, 0)
        tail += struct.pack("<6HI", 2, 3, height, width, 1, 0, 0) + (name + b"\0").ljust(32, b"\0")
    return struct.pack("<7I", 28, 0, VS_2_0, len(rows), start, 0, 0) + infos + tail


def test_registers_of_direct3d_9_have_the_names_of_the_comment() -> None:
    rows = (b"Light", 2, 4, 1, 1, 3), (b"World", 2, 0, 4, 4, 4), (b"On", 0, 1, 1, 1, 1)
    table = constant_table(*rows)
    assert named_constants(commented(table)) == (
        NamedConstant("On", "b", 1, 1, 1, 1),
        NamedConstant("World", "c", 0, 4, 4, 4),
        NamedConstant("Light", "c", 4, 1, 1, 3),
    )


def resources(variable: int = 24, version: int = 4) -> bytes:
    """An RDEF chunk with a buffer "Camera" in slot 2, with a matrix and a float3 after it."""
    buffers, bindings, variables = 28, 52, 84
    names = variables + 2 * variable
    type = names + 32
    words = struct.pack("<7I", 1, buffers, 1, bindings, 0xFFFE0000 | version << 8, 0, 0)
    words += struct.pack("<6I", names, 2, variables, 80, 0, 0)
    words += struct.pack("<8I", names, 0, 0, 0, 0, 2, 1, 0)
    words += struct.pack("<6I", names + 8, 0, 64, 2, type, 0).ljust(variable, b"\0")
    words += struct.pack("<6I", names + 16, 64, 12, 2, type + 16, 0).ljust(variable, b"\0")
    words += b"Camera\0\0" + b"World\0\0\0" + b"Eye\0".ljust(16, b"\0")
    return (
        words
        + struct.pack("<8H", 2, 3, 4, 4, 0, 0, 0, 0)
        + struct.pack("<8H", 1, 3, 1, 3, 0, 0, 0, 0)
    )


@pytest.mark.parametrize(("variable", "version"), [(24, 4), (40, 5)])
def test_constant_buffers_have_the_names_of_the_container(variable: int, version: int) -> None:
    code = pack([Chunk("RDEF", resources(variable, version)), Chunk("SHDR", b"")])
    assert named_constants(code) == (
        NamedConstant("World", "cb2", 0, 64, 4, 4),
        NamedConstant("Eye", "cb2", 64, 12, 1, 3),
    )


def test_code_without_a_table_names_nothing() -> None:
    assert named_constants(struct.pack("<II", VS_2_0, END)) == ()
    assert named_constants(pack([Chunk("SHDR", b"")])) == ()
    assert named_constants(b"\x40\x00\x01\x00") == ()


def test_a_table_that_ends_early_is_an_error() -> None:
    table = constant_table((b"Light", 2, 4, 1, 1, 3))
    with pytest.raises(ShaderError, match="the constant table ends before byte"):
        named_constants(commented(table[:30]))


@given(st.binary(max_size=120), st.booleans())
def test_any_table_is_read_or_is_one_clear_error(data: bytes, container: bool) -> None:
    code = pack([Chunk("RDEF", data), Chunk("SHDR", b"")]) if container else commented(data)
    try:
        assert isinstance(named_constants(code), tuple)
    except Dp2Error as error:
        assert error.what

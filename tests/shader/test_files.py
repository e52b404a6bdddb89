"""Containers as text, and back to the same bytes."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from dp2emu.errors import ShaderError, Unsupported
from dp2emu.shader import sm
from dp2emu.shader.files import container_text, packed
from dp2emu.shader.sm4 import disassemble, pack, unpack
from dp2emu.shader.sm4.container import Chunk, digest
from tests.shader.sm4.making import code_of, container, recorded


@pytest.mark.parametrize("row", recorded(), ids=[row["shader"] for row in recorded()])
def test_text_of_a_recorded_container_packs_to_the_same_bytes(row: dict[str, Any]) -> None:
    data = bytes.fromhex(row["dxbc"])
    text = container_text(data)
    assert packed(text) == data
    assert disassemble(unpack(data).program) in text


def test_signatures_are_told() -> None:
    text = container_text(container("gs5_streams"))
    assert "    // SV_Position0: register 0.xyzw float, position, reads .xyzw\n" in text
    assert "    // COLOR0: register 1.xyzw float, undefined, stream 3\n" in text
    assert "    // SV_PrimitiveID0: no register.x uint, primitive_id, reads .x\n" in text
    text = container_text(container("hs5_tri"))
    assert "final_tri_edge_tessfactor, uses .yzw\n" in text


CODE_9 = sm.assemble("vs_2_0\ndcl_position v0\nmov oPos, v0\n")


def level_9(code: bytes = CODE_9, size: int | None = None, begin: int = 16) -> bytes:
    size = len(code) if size is None else size
    head = struct.pack("<4I", 16 + len(code), 0xFFFE0200, size, begin)
    return pack([Chunk("Aon9", head + code), Chunk("SHDR", code_of("vs_4_0"))])


def test_code_for_levels_9_is_told_beside_the_program() -> None:
    data = level_9()
    text = container_text(data)
    assert "chunk Aon9\n    // vs_2_0\n    // dcl_position v0\n    // mov oPos, v0\n" in text
    assert "chunk SHDR\nvs_4_0\n" in text
    assert packed(text) == data
    assert unpack(data).program == code_of("vs_4_0")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (level_9(begin=12), "Aon9 has no"),
        (level_9(size=4 + len(CODE_9)), "Aon9 has no"),
        (level_9(CODE_9[:-4]), "Aon9: "),
        (pack([Chunk("Aon9", b"123"), Chunk("SHDR", code_of("vs_4_0"))]), "ends in its header"),
    ],
)
def test_damaged_code_for_levels_9_is_one_error(data: bytes, message: str) -> None:
    with pytest.raises(ShaderError, match=message):
        container_text(data)


def test_effects_are_refused_by_name() -> None:
    with pytest.raises(Unsupported, match="fx_4_0"):
        unpack(pack([Chunk("FX10", bytes(8))]))


def test_container_of_another_layout_is_bytes_as_they_are() -> None:
    data = bytearray(container("ps_color"))
    offsets = struct.unpack_from("<5I", data, 32)
    struct.pack_into("<5I", data, 32, *reversed(offsets))
    again = pack(unpack(bytes(data), hashed=False).chunks)
    assert unpack(again).chunks[0].tag == "STAT"
    odd = _hashed(bytes(data))
    text = container_text(odd)
    assert text.startswith("dxbc\n// ps_4_0\n// dcl_input_ps linear v1.xyzw\n")
    assert packed(text) == odd


def test_tag_that_no_line_can_hold_is_bytes_as_they_are() -> None:
    data = pack([Chunk("A\n;\xff", b"x"), Chunk("SHDR", code_of("vs_4_0"))])
    assert packed(container_text(data)) == data


def _hashed(data: bytes) -> bytes:
    """The same with the hash that it should have."""
    return data[:4] + digest(data[20:]) + data[20:]


def test_error_of_the_program_counts_from_the_container() -> None:
    data = pack([Chunk("STAT", bytes(12)), Chunk("SHDR", code_of("vs_4_0", 0x010000FF))])
    with pytest.raises(ShaderError, match="unknown opcode 255") as raised:
        container_text(data)
    offset = raised.value.offset
    assert offset is not None and data[offset : offset + 4] == bytes.fromhex("ff000001")


REFUSED = [
    ("dxbc", "line 1: 0 programs in a container"),
    ("dxbc\nnop", "line 2: only raw bytes may follow raw bytes"),
    ("dxbc\nraw 00\nchunk STAT", "line 3: only raw bytes may follow raw bytes"),
    ("dxbc\nraw 00", "line 1: the container ends in its header"),
    ("dxbc\nchunk ABC", "line 2: ABC is no tag of a chunk"),
    ("dxbc\nchunk STAT\nraw 0", "line 3: only raw bytes may follow raw bytes"),
    ("dxbc\n// remark\nchunk SHDR\nvs_4_0\n\nadd r0.x", "line 6: add has 3 operands, not 1"),
    ("dxbc\nchunk SHDR\nvs_4_0\nmov r0.x, l(0)", r"line 4: r\[0\] is not declared"),
    ("dxbc\nchunk SHDR\nvs_4_0\nchunk SHEX\nvs_5_0", "line 1: 2 programs in a container"),
    ("dxbc\nchunk SHDR", "line 1: there is no shader version"),
]


@pytest.mark.parametrize(("text", "what"), REFUSED)
def test_bad_text_is_refused_by_line(text: str, what: str) -> None:
    with pytest.raises(ShaderError, match=what):
        packed(text)

"""What a dump looks like."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import TextIO

import pytest

from dp2emu.capture.records import Called, ContextCreated, EntryCalled
from dp2emu.dp2.call import Call
from dp2emu.dp2.table import TABLE
from dp2emu.text.dump import TextWriter
from dp2emu.text.jsonl import JsonLinesWriter
from tests.capture.samples import SEEN10, sealed
from tests.text.samples import SMALL, XYZRHW_DIFFUSE, json_lines, text_of

GOLDEN = Path(__file__).parents[1] / "data" / "text"


def dumped(
    commands: bytes, *, offset: int = 0, hex: bool = False, places: bool = False
) -> list[str]:
    """The lines of a call's tokens, stripped."""
    out = StringIO()
    writer = TextWriter(out, hex=hex, places=places)
    writer.write(ContextCreated(1, 7))
    writer.write(
        Called(Call(1, 2, offset, len(commands), dwVertexType=XYZRHW_DIFFUSE, commands=commands))
    )
    return [line.strip() for line in out.getvalue().splitlines()[4:]]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("small.txt", text_of(sealed(SMALL))),
        ("small.hex.txt", text_of(sealed(SMALL), hex=True)),
        ("small.jsonl", "".join(line + "\n" for line in json_lines(sealed(SMALL)))),
    ],
)
def test_a_small_capture_reads_as_recorded(name: str, text: str) -> None:
    assert text == (GOLDEN / name).read_text("utf-8")


def test_state_values_that_are_floats_or_enumerated_get_a_remark() -> None:
    states = "07000000 02000000 17000000 04000000 9a000000 00000041 a8000000 07000000"
    assert dumped(bytes.fromhex("08000400" + states)) == [
        "RENDERSTATE",
        "- RenderState=D3DRS_ZENABLE dwState=2  # D3DZB_USEW",
        "- RenderState=D3DRS_ZFUNC dwState=4   # D3DCMP_LESSEQUAL",
        "- RenderState=D3DRS_POINTSIZE dwState=0x41000000  # 8.0",
        "- RenderState=D3DRS_COLORWRITEENABLE dwState=7  "
        "# D3DCOLORWRITEENABLE_RED|D3DCOLORWRITEENABLE_GREEN|D3DCOLORWRITEENABLE_BLUE",
    ]


def test_arguments_and_addresses_of_texture_stages_get_a_remark_and_filters_none() -> None:
    states = "00000200 12000000 00000600 01000000 00000d00 03000000 00001000 02000000"
    assert dumped(bytes.fromhex("19000400" + states)) == [
        "TEXTURESTAGESTATE",
        "- wStage=0 TSState=D3DTSS_COLORARG1 dwValue=18  # D3DTA_TEXTURE|D3DTA_COMPLEMENT",
        "- wStage=0 TSState=D3DTSS_ALPHAARG2 dwValue=1  # D3DTA_CURRENT",
        "- wStage=0 TSState=D3DTSS_ADDRESSU dwValue=3  # D3DTADDRESS_CLAMP",
        "- wStage=0 TSState=D3DTSS_MAGFILTER dwValue=2",
    ]


def test_places_are_the_addresses_of_tokens_and_of_nothing_else() -> None:
    state = "08000100 07000000 02000000"
    assert dumped(bytes.fromhex(state + state + "ee000000"), places=True) == [
        "RENDERSTATE                             # 0:0",
        "- RenderState=D3DRS_ZENABLE dwState=2  # D3DZB_USEW",
        "RENDERSTATE                             # 0:1",
        "- RenderState=D3DRS_ZENABLE dwState=2  # D3DZB_USEW",
        "raw                                     # opcode 238 is no command (unassigned)",
        'bytes: "ee000000"',
    ]


def test_a_place_comes_before_the_remark_of_a_token() -> None:
    clear = "2a000000 03000000 00000000 0000803f 00000000"
    (first, *_) = dumped(bytes.fromhex(clear), places=True)
    assert first.endswith("# 0:0, D3DCLEAR_TARGET|D3DCLEAR_ZBUFFER")


def test_patches_tell_what_follows_them() -> None:
    assert dumped(
        bytes.fromhex("3E000200 05000000 01000000" + 3 * "0000803F" + 2 * "00000000")
    ) == [
        "DRAWTRIPATCH",
        "- Handle=5 Flags=1                    # RTPATCHFLAG_HASSEGS",
        "segments: [1.0 1.0 1.0]",
        "- Handle=0 Flags=0",
    ]
    assert dumped(bytes.fromhex("08000100 A4000000 00004040"))[1].endswith("# 3.0")


def test_n_is_shown_where_the_items_do_not_tell_it() -> None:
    assert dumped(bytes.fromhex("12000200 0300")) == ["TRIANGLELIST n=2 wVStart=3"]
    assert dumped(bytes.fromhex("29000700 01000000 02000000")) == [
        "SETRENDERTARGET n=7 hRenderTarget=1 hZBuffer=2"
    ]
    assert dumped(bytes.fromhex("1F000900 01000000 1000 0000")) == [
        "UPDATEPALETTE n=9",
        "- dwPaletteHandle=1 wStartIndex=16 wNumEntries=0",
    ]


def test_reserved_bits_are_shown_when_they_are_set() -> None:
    assert dumped(bytes.fromhex("5A120000")) == ["DELETEQUERY reserved=0x12"]


def test_unknown_numbers_of_an_enumeration_stay_numbers() -> None:
    assert dumped(bytes.fromhex("54000100 01000000 63000000"))[1] == "- dwQueryID=1 QueryType=99"


def test_inline_vertices_are_read_by_the_format_of_the_call() -> None:
    vertex = "00000041 00000041 0000003f 0000803f ff8000ff"
    lines = dumped(bytes.fromhex("18000100" + 2 * vertex))
    assert lines == ["LINELIST_IMM n=1", *2 * ["vertices: 8.0 8.0 0.5 1.0 0xff0080ff"]]


def test_padding_that_is_not_zero_makes_a_token_raw() -> None:
    vertex = "00000041 00000041 0000003f 0000803f ff8000ff"
    lines = dumped(bytes.fromhex("0F000100 0400 18000100 aabb" + 2 * vertex))
    assert lines[:2] == ["LINELIST n=1 wVStart=4", "raw                                     "
                         "# LINELIST_IMM"]  # fmt: skip
    assert lines[2].startswith('bytes: "18000100 aabb0000')


def test_what_is_no_token_is_raw_with_the_reason() -> None:
    assert dumped(b"\xc8\0\0\0\1\2") == [
        "raw                                     # opcode 200 is no command (unassigned)",
        'bytes: "c8000000 0102"',
    ]


def test_hex_puts_offset_and_bytes_beside_every_field() -> None:
    lines = dumped(bytes.fromhex("5B000100 05000000 02000000"), offset=16, hex=True)
    assert lines == [
        f"{'ISSUEQUERY':<58}  # 0x0010  5b 00 0100",
        f"{'- dwQueryID=5 dwFlags=2':<56}  # 0x0014  05000000 02000000  D3DISSUE_BEGIN",
    ]


def test_a_token_that_comes_again_has_the_offsets_where_it_is() -> None:
    state = "08000100 07000000 02000000"
    lines = dumped(bytes.fromhex(3 * state), offset=16, hex=True)
    assert [line.split("# ")[1][:6] for line in lines] == [
        f"{at:#06x}" for at in (16, 20, 28, 32, 40, 44)
    ]
    assert dumped(bytes.fromhex(3 * state)) == 3 * dumped(bytes.fromhex(state))


def test_the_same_inline_vertices_lie_elsewhere_behind_another_offset() -> None:
    token = bytes.fromhex("18000100" + 2 * "00000000 00000000 00000000 00000000 ff0000ff")
    assert dumped(token)[1] == "vertices: 0.0 0.0 0.0 0.0 0xff0000ff"
    behind = bytes.fromhex("0F000100 0400")
    assert dumped(behind + token[:4] + bytes(2) + token[4:])[1:] == dumped(token)
    assert dumped(behind + token)[1].endswith("the payload needs 42 bytes or more, 40 are left")


@pytest.mark.parametrize("token", TABLE.values(), ids=lambda token: token.name)
def test_no_sample_of_any_token_needs_raw(token: object) -> None:
    samples = getattr(token, "samples", ())
    assert samples
    for sample in samples:
        out = StringIO()
        writer = TextWriter(out)
        writer.write(Called(Call(1, 2, 0, len(sample), dwVertexSize=32, commands=sample)))
        assert getattr(token, "name", "?") in out.getvalue()
        assert "raw" not in out.getvalue()


class _Nowhere(StringIO):
    """Text that is written and forgotten."""

    def write(self, text: str) -> int:
        return len(text)


@pytest.mark.parametrize("writer", [TextWriter, JsonLinesWriter])
def test_memory_does_not_follow_the_number_of_tokens(
    writer: Callable[[TextIO], TextWriter | JsonLinesWriter],
) -> None:
    tokens = 24_000
    commands = bytes.fromhex("08000000") * tokens
    into = writer(_Nowhere())
    tracemalloc.start()
    try:
        into.write(Called(Call(1, 2, 0, len(commands), commands=commands)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 80 * tokens


def test_what_a_direct3d_11_program_saw_and_said_is_shown() -> None:
    out = StringIO()
    writer = TextWriter(out)
    drawn = EntryCalled(1, 110, "Draw", (3, 0), call=0)
    for record in (*SEEN10, drawn, EntryCalled(1, 110, "Flush")):
        writer.write(record)
    lines = [line.split("  #")[0].strip() for line in out.getvalue().splitlines()]
    for line in (
        "picture call=16 how=BACK_BUFFER handle=3",
        "picture call=17 how=MAP handle=4 index=2",
        "observation call=18 context=0 query=3",
        'key: "label.resource.3"',
        'text: "back buffer"',
        'key: "marker.begin"',
        "entry device=1 interface=110 call=0",
        "entry device=1 interface=110",
    ):
        assert line in lines


def test_json_lines_have_the_api_call_of_an_entry_where_it_is_known() -> None:
    out = StringIO()
    writer = JsonLinesWriter(out)
    writer.write(EntryCalled(1, 110, "Flush", call=0))
    writer.write(EntryCalled(1, 110, "Flush"))
    known, unknown = map(json.loads, out.getvalue().splitlines())
    assert known["call"] == 0 and "call" not in unknown

"""Captures for the tests of this folder, and short ways through the text form."""

from __future__ import annotations

from collections.abc import Iterable
from io import BytesIO, StringIO
from random import Random

from hypothesis import strategies as st

from dp2emu.capture import BareOptions, Capture, open_capture
from dp2emu.capture.records import (
    Annotation,
    Answered,
    Called,
    ContextCreated,
    FrameMarker,
    MemoryWritten,
    Record,
    SurfaceCreated,
)
from dp2emu.d3d.enums import Format
from dp2emu.dp2.call import Answer, Call
from dp2emu.dp2.generate import generate_stream
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from dp2emu.text import assemble, dump_jsonl, dump_text

XYZRHW_DIFFUSE = 0x44
VERTEX_BYTES = 20

DRAWING = bytes.fromhex(
    "5400 0100 05000000 09000000"  # CREATEQUERY
    "0800 0200 07000000 01000000 af000000 0000003f"  # RENDERSTATE
    "2a00 0100 03000000 80402000 0000803f 00000000 00000000 00000000 40000000 30000000"  # CLEAR
    "5b00 0100 05000000 02000000"  # ISSUEQUERY
    "1400 0200 0000 0000 0100 0200 0300"  # INDEXEDTRIANGLESTRIP
    "5b00 0100 05000000 01000000"  # ISSUEQUERY
)
SHADER = bytes.fromhex(
    "2400 0100 02000000 0000803f"
    + 15 * "00000000"
    + "3600 0100 02000000 08000000 0101ffff ffff0000"
)
VERTEX = bytes.fromhex("00000041 00000041 0000003f 0000803f ff8000ff")
RESPONSE = bytes.fromhex("58000100 14000000 05000000 04000000 2a000000 57000000 08000000")

SMALL: list[Record] = [
    Annotation("title", "Two triangles,\ncounted"),
    SurfaceCreated(SurfaceDesc(1, SurfaceKind.SURFACE, 64, 48, Format.X8R8G8B8)),
    SurfaceCreated(SurfaceDesc(2, SurfaceKind.MEMORY, 4096)),
    ContextCreated(1, 7, color=1),
    MemoryWritten(2, 2048, bytes(range(40)), time=3),
    Called(
        Call(1, 2, 0, len(DRAWING), 1, XYZRHW_DIFFUSE, dwVertexLength=4, commands=DRAWING,
             vertices=4 * VERTEX),
        time=10,
    ),
    Answered(Answer(0, len(RESPONSE), 25, RESPONSE, 1)),
    Called(Call(1, 2, 64, len(SHADER), commands=SHADER), 64, 30),
    Answered(Answer(0x88760BB8, 80, 31)),
    Called(Call(1, 2, 2, 9, commands=b"\x0f\0\1\0\4\0\xc8\0\0\0")),
    FrameMarker(1, 1, 40),
]  # fmt: skip
"""One of everything that reads differently."""


def opened(data: bytes, bare: BareOptions | None = None) -> Capture:
    """The capture in ``data``."""
    return open_capture(BytesIO(data), kind="bare" if bare else None, bare=bare)


def text_of(data: bytes, *, hex: bool = False, bare: BareOptions | None = None) -> str:
    """The dump of the capture in ``data``."""
    out = StringIO()
    dump_text(opened(data, bare), out, hex=hex)
    return out.getvalue()


def assembled(text: str) -> bytes:
    """The capture a text spells."""
    out = BytesIO()
    assemble(StringIO(text), out)
    return out.getvalue()


def json_lines(data: bytes) -> list[str]:
    """The JSON lines of the capture in ``data``."""
    out = StringIO()
    dump_jsonl(opened(data), out)
    return out.getvalue().splitlines()


@st.composite
def command_bytes(draw: st.DrawFn, start: int = 0) -> bytes:
    """Valid tokens, to lie at ``start`` of a surface, or the same with some bytes changed."""
    random = Random(draw(st.integers(0, 2**32)))
    data = bytearray(
        generate_stream(random, draw(st.integers(0, 6)), start=start, vertex_size=VERTEX_BYTES)
    )
    for _ in range(draw(st.sampled_from([0, 0, 1, 3])) if data else 0):
        data[random.randrange(len(data))] = random.randrange(256)
    return bytes(data[: draw(st.integers(0, len(data)))] if draw(st.booleans()) else data)


def calls(streams: Iterable[tuple[bytes, int]]) -> list[Record]:
    """A context and a call for each (commands, dwCommandOffset)."""
    return [
        ContextCreated(1, 7),
        *(
            Called(Call(1, 2, offset, len(data), dwVertexType=XYZRHW_DIFFUSE, commands=data))
            for data, offset in streams
        ),
    ]

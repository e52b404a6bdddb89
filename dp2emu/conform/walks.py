"""Cases of the walk: every token takes as many bytes as its row says, and no fewer are enough."""

from __future__ import annotations

from collections.abc import Iterator

from dp2emu.conform.case import Case, Expect
from dp2emu.conform.script import MANAGED, Script, create, dwords, end, token
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.table import TABLE, Token
from dp2emu.dp2.walk import HEADER_BYTES

_UNPARSED = HResult.D3DERR_COMMAND_UNPARSED
_VERTEX_BYTES = 32
"""What the samples of tokens with vertices take for one."""
_DATA_LIGHT = 2
_NOBODY = 0x00C0FFEE
"""A handle of nothing."""


def walk_cases() -> Iterator[Case]:
    """Every case of this family."""
    for op in sorted(TABLE):
        yield from _cuts(TABLE[op])
        yield from _none(TABLE[op])
    for name, payload, op, n in _LENGTHS:
        yield _length(name, token(op, payload, n))


def _cuts(row: Token) -> Iterator[Case]:
    """A token whose last bytes are missing fails at its own header."""
    sample = row.samples[0]
    source = f'wire format, "Opcodes", {row.op.sdk}'
    for cut in sorted({len(sample) - 1, len(sample) - 2, HEADER_BYTES}):
        if not HEADER_BYTES <= cut < len(sample):
            continue
        script = Script()
        script.call(sample[:cut], expect=Expect(_UNPARSED, 0), vertex_bytes=_VERTEX_BYTES)
        rule = f"{row.op.sdk} of {len(sample)} bytes is refused when {cut} are there"
        yield script.case(f"walk.cut.{row.name.lower()}.{cut}", rule, source)


def _none(row: Token) -> Iterator[Case]:
    """A token that counts nothing is its header, unless its row says otherwise.

    EXT is left out: nobody says what it does, and a driver may refuse it always.
    """
    if row.op is Op.EXT or row.head is not None or row.vertices is not None or row.count(0):
        return
    script = Script()
    script.call(create(1), token(row.op, n=0), end(1))
    script.owe_event(1)
    rule = f"{row.op.sdk} that counts nothing is followed by nothing"
    yield script.case(f"walk.none.{row.name.lower()}", rule, 'wire format, "Stream shape"')


def _length(name: str, bytes: bytes) -> Case:
    """What follows a token is found right behind it: the END of an event."""
    script = Script()
    script.managed(MANAGED)
    script.call(create(1), bytes, end(1))
    script.owe_event(1)
    rule = f"{len(bytes)} bytes are one token, and the next begins behind them"
    return script.case(f"walk.length.{name}", rule, 'wire format, "Ambiguous lengths"')


def _words(*words: int) -> bytes:
    return dwords(0, *words)[HEADER_BYTES:]


_LIGHT = _words(0, _DATA_LIGHT) + _words(3) + bytes(100)
_LENGTHS: tuple[tuple[str, bytes, Op, int], ...] = (
    ("renderstate.2", _words(22, 3, 22, 3), Op.RENDERSTATE, 2),
    ("texturestagestate", _words(0x000B0000, 0), Op.TEXTURESTAGESTATE, 1),
    ("viewportinfo.2", _words(0, 0, 4, 4, 0, 0, 8, 8), Op.VIEWPORTINFO, 2),
    ("winfo", _words(0, 0x3F800000), Op.WINFO, 1),
    ("zrange", _words(0, 0x3F800000), Op.ZRANGE, 1),
    ("setmaterial", bytes(68), Op.SETMATERIAL, 1),
    ("createlight.2", _words(0, 1), Op.CREATELIGHT, 2),
    ("setlight.data", _words(0, _DATA_LIGHT, 3) + bytes(100), Op.SETLIGHT, 1),
    ("setlight.mixed", _LIGHT + _words(0, 0) + _LIGHT, Op.SETLIGHT, 3),
    ("settransform", _words(2) + bytes(64), Op.SETTRANSFORM, 1),
    ("setpriority.0", b"", Op.SETPRIORITY, 0),
    ("setpriority.2", _words(MANAGED, 1, MANAGED, 2), Op.SETPRIORITY, 2),
    ("settexlod.0", b"", Op.SETTEXLOD, 0),
    ("settexlod.2", _words(MANAGED, 1, MANAGED, 0), Op.SETTEXLOD, 2),
    ("setrendertarget.2", _words(2, 0), Op.SETRENDERTARGET, 2),
    ("clear.none", _words(0, 0, 0, 0), Op.CLEAR, 0),
    ("clear.computed", _words(8, 0, 0, 0, 0, 0, 0, 0), Op.CLEAR, 0),
    ("clear.2", _words(0, 0, 0, 0) + _words(0, 0, 1, 1) * 2, Op.CLEAR, 2),
    ("setclipplane", _words(0, 0, 0, 0, 0), Op.SETCLIPPLANE, 1),
    ("vertexconst.2", _words(0, 2) + bytes(32), Op.SETVERTEXSHADERCONST, 1),
    ("vertexconst.several", (_words(0, 1) + bytes(16)) * 2, Op.SETVERTEXSHADERCONST, 2),
    ("pixelconst", _words(0, 1) + bytes(16), Op.SETPIXELSHADERCONST, 1),
    ("vertexconsti", _words(0, 1) + bytes(16), Op.SETVERTEXSHADERCONSTI, 1),
    ("vertexconstb.3", _words(0, 3) + bytes(12), Op.SETVERTEXSHADERCONSTB, 1),
    ("pixelconsti", _words(0, 1) + bytes(16), Op.SETPIXELSHADERCONSTI, 1),
    ("pixelconstb.2", _words(0, 2) + bytes(8), Op.SETPIXELSHADERCONSTB, 1),
    ("setscissorrect", _words(0, 0, 4, 4), Op.SETSCISSORRECT, 1),
    ("setstreamsource", _words(0, 0, 16), Op.SETSTREAMSOURCE, 1),
    ("setstreamsource2", _words(0, 0, 0, 16), Op.SETSTREAMSOURCE2, 1),
    ("setstreamsourceum", _words(0, 16), Op.SETSTREAMSOURCEUM, 1),
    ("setindices", _words(0, 2), Op.SETINDICES, 1),
    ("setdepthstencil", _words(0), Op.SETDEPTHSTENCIL, 1),
    ("rectpatch.segments", _words(_NOBODY, 1) + bytes(16), Op.DRAWRECTPATCH, 1),
    ("rectpatch.several", _words(_NOBODY, 1) + bytes(16) + _words(_NOBODY, 0),
     Op.DRAWRECTPATCH, 2),
    ("tripatch.several", _words(_NOBODY, 0) + _words(_NOBODY, 1) + bytes(12),
     Op.DRAWTRIPATCH, 2),
)  # fmt: skip
"""Tokens whose length is easily got wrong, with payloads that every driver may take."""

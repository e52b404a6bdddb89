"""Cases of textures: addresses, formats, operations of a stage."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

from dp2emu.conform.case import Case
from dp2emu.conform.pictures import BACK, OTHER, PLAIN, RULES, background, cleared, runs, strips
from dp2emu.conform.script import TEXTURE, Script, Users, stage_state
from dp2emu.d3d.enums import (
    Format,
    RenderState,
    TextureAddress,
    TextureArgument,
    TextureFilter,
    TextureOp,
    TextureStageState,
)
from dp2emu.d3d.legacy import TextureStageState8

_TEXTURED, _TEXTURED_BYTES = 0x144, 28  # XYZRHW, DIFFUSE, TEX1

_RS, _TSS = RenderState, TextureStageState8


def texture_cases() -> Iterator[Case]:
    """Every case of these families."""
    yield from _textures()


# Textures

_TEXELS = ((0xFFFF0000, 0xFF00FF00), (0xFFFFFFFF, 0x00FF00FF))
"""Of a texture of 2 x 2, by row."""
_BORDER = 0xFF00FFFF
_ADDRESSES: dict[TextureAddress, tuple[int, ...]] = {
    TextureAddress.WRAP: (0, 1, 0, 1, 0, 1), TextureAddress.MIRROR: (1, 0, 0, 1, 1, 0),
    TextureAddress.CLAMP: (0, 0, 0, 1, 1, 1), TextureAddress.BORDER: (-1, -1, 0, 1, -1, -1),
}  # fmt: skip
"""Texels from -2 to 3, -1 being the border."""


def _textured_vertices(left: int, top: int) -> bytes:
    """Six texels across, from -2 to 3, and two down, a pixel each, from this pixel on."""
    made = b""
    for x, y, u, v in ((0, 0, -1, 0), (6, 0, 2, 0), (0, 2, -1, 1), (6, 2, 2, 1)):
        made += struct.pack("<4fI2f", left + x - 0.5, top + y - 0.5, 0.5, 1.0, OTHER, u, v)
    return made


def _textures() -> Iterator[Case]:
    texels = struct.pack("<4I", *_TEXELS[0], *_TEXELS[1])
    for address, columns in _ADDRESSES.items():
        states = [(_TSS.ADDRESSU, address), (_TSS.ADDRESSV, address), (_TSS.BORDERCOLOR, _BORDER)]
        shown = [[row[at] if at >= 0 else _BORDER for at in columns] for row in _TEXELS]
        rule = f"outside of the texture {address.sdk} counts"
        yield _textured(f"address.{address.name.lower()}", rule, "D3DTEXTUREADDRESS",
                        Format.A8R8G8B8, texels, shown, states)  # fmt: skip
    for format, data, words in _FORMATS:
        shown = [[words[at] for at in _ADDRESSES[TextureAddress.CLAMP]]] * 2
        rule = f"texels of {format.sdk} have its channels"
        yield _textured(f"format.{format.name.lower()}", rule, "D3DFORMAT", format, data * 2,
                        shown, [])  # fmt: skip
    yield from _stages()


_FORMATS: tuple[tuple[Format, bytes, tuple[int, int]], ...] = (
    (Format.X8R8G8B8, struct.pack("<2I", 0x00FF00FF, 0x7F00FF00), (0xFFFF00FF, 0xFF00FF00)),
    (Format.R5G6B5, struct.pack("<2H", 0xF800, 0x07FF), (0xFFFF0000, 0xFF00FFFF)),
    (Format.A1R5G5B5, struct.pack("<2H", 0x801F, 0x7C00), (0xFF0000FF, 0x00FF0000)),
    (Format.X1R5G5B5, struct.pack("<2H", 0x03E0, 0x7C00), (0xFF00FF00, 0xFFFF0000)),
    (Format.A4R4G4B4, struct.pack("<2H", 0xF0F0, 0x0F0F), (0xFF00FF00, 0x00FF00FF)),
    (Format.L8, b"\xff\0", (0xFFFFFFFF, 0xFF000000)),
    (Format.A8, b"\xff\0", (0xFF000000, 0x00000000)),
)
"""Two texels of a format, and what they are in A8R8G8B8."""


def _stages() -> Iterator[Case]:
    """Operations of a stage on a texture and the vertices' colour."""
    for op, make in _STAGE_OPS.items():
        shown = [
            [_each_lane(make, _TEXELS[row][at], OTHER)
             for at in _ADDRESSES[TextureAddress.CLAMP]] for row in range(2)
        ]  # fmt: skip
        states = [
            (TextureStageState.COLOROP, op),
            (TextureStageState.COLORARG2, TextureArgument.DIFFUSE),
            (TextureStageState.ALPHAOP, op),
            (TextureStageState.ALPHAARG2, TextureArgument.DIFFUSE),
        ]  # fmt: skip
        data = struct.pack("<4I", *_TEXELS[0], *_TEXELS[1])
        rule = f"{op.sdk} makes of its arguments what it says"
        name = f"stage.{op.name.lower()}"
        yield _textured(
            name, rule, "D3DTEXTUREOP", Format.A8R8G8B8, data, shown, states
        )  # fmt: skip


_STAGE_OPS = {
    TextureOp.SELECTARG1: (0, 0, 1, 1), TextureOp.SELECTARG2: (0, 1, 0, 1),
    TextureOp.MODULATE: (0, 0, 0, 1), TextureOp.MODULATE2X: (0, 0, 0, 1),
    TextureOp.MODULATE4X: (0, 0, 0, 1), TextureOp.ADD: (0, 1, 1, 1),
    TextureOp.SUBTRACT: (0, 0, 1, 0), TextureOp.ADDSMOOTH: (0, 1, 1, 1),
}  # fmt: skip
"""What a channel is for arguments (0, 0), (0, 1), (1, 0), (1, 1): the texture's, the vertex's."""


def _each_lane(make: tuple[int, int, int, int], one: int, other: int) -> int:
    lanes = ((one >> 8 * lane & 1, other >> 8 * lane & 1) for lane in range(4))
    return sum(0xFF * make[2 * a + b] << 8 * lane for lane, (a, b) in enumerate(lanes))


def _textured(
    name: str,
    rule: str,
    source: str,
    format: Format,
    texels: bytes,
    shown: Sequence[Sequence[int]],
    states: Sequence[tuple[int, int]],
) -> Case:
    left, top = 5, 3
    script = Script()
    script.texture(TEXTURE, format, texels)
    point = ((state, TextureFilter.POINT) for state in (_TSS.MAGFILTER, _TSS.MINFILTER))
    clamped = ((state, TextureAddress.CLAMP) for state in (_TSS.ADDRESSU, _TSS.ADDRESSV))
    taken = (
        (state, TextureArgument.TEXTURE)
        for state in (TextureStageState.COLORARG1, TextureStageState.ALPHAARG1)
    )
    script.call(cleared(BACK), *PLAIN, stage_state(0, TEXTURE))
    script.call(
        *(stage_state(*each) for each in (*point, *clamped, *taken, *states)), strips(1),
        users=Users(_textured_vertices(left, top), _TEXTURED, _TEXTURED_BYTES),
    )  # fmt: skip
    pixels = background()
    for y, row in enumerate(shown):
        pixels |= {(left + x, top + y): color for x, color in enumerate(row)}
    script.show(runs(pixels))
    return script.case(f"texture.{name}", rule, RULES + source, optional=True)

"""Pictures that cases expect: points, lines, depth, alpha test, blending, textures.

Each draws with values for which the rule has one exact result: channels are all zeros or all ones
and positions hit centres.  What must be there is worked out here in whole numbers.  A driver that
draws nothing into memory, as one that only counts, is passed over.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping

from dp2emu.conform.case import Case, Shown
from dp2emu.conform.script import (
    HEIGHT,
    TARGET,
    WIDTH,
    Script,
    Users,
    render_state,
    stage_state,
    token,
)
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import Cull, RenderState, TextureArgument, TextureOp, TextureStageState
from dp2emu.d3d.flags import Clear
from dp2emu.d3d.legacy import TextureStageState8

Pixel = tuple[int, int]
Pixels = dict[Pixel, int]

BACK, FRONT, OTHER = 0xFF0000FF, 0xFFFFFF00, 0xFF00FF00
"""Colours of the target, of what is drawn, and of what is drawn besides (A8R8G8B8)."""

_FVF, _FVF_BYTES = 0x044, 20  # XYZRHW, DIFFUSE
_RS, _TSS = RenderState, TextureStageState8
RULES = "Direct3D 9 documentation of "


def cleared(color: int, box: tuple[int, int, int, int] = (0, 0, WIDTH, HEIGHT)) -> bytes:
    """CLEAR of colour and, where there is one, depth to 1."""
    head = struct.pack("<IIfI", Clear.TARGET, color, 1.0, 0)
    return token(Op.CLEAR, head + struct.pack("<4i", *box))


def background(color: int = BACK) -> Pixels:
    """All of the target."""
    return {(x, y): color for y in range(HEIGHT) for x in range(WIDTH)}


def runs(pixels: Mapping[Pixel, int]) -> tuple[Shown, ...]:
    """What the target must hold at these pixels, neighbours in a row together.

    The first is the one that tells whether there is a picture at all.
    """
    found: list[tuple[int, bytearray]] = []
    for x, y in sorted(pixels, key=lambda at: (at[1], at[0])):
        offset = 4 * (y * WIDTH + x)
        if not found or found[-1][0] + len(found[-1][1]) != offset:
            found.append((offset, bytearray()))
        found[-1][1].extend(struct.pack("<I", pixels[x, y]))
    last = struct.pack("<I", pixels[WIDTH - 1, HEIGHT - 1])
    probe = Shown(TARGET, 4 * (WIDTH * HEIGHT - 1), last, probe=True)
    return probe, *(Shown(TARGET, offset, bytes(data)) for offset, data in found)


def vertex(x: float, y: float, color: int = FRONT, z: float = 0.5) -> bytes:
    """A vertex of XYZRHW and DIFFUSE."""
    return struct.pack("<4fI", x, y, z, 1.0, color)


def box(left: int, top: int, right: int, bottom: int, color: int, z: float = 0.5) -> bytes:
    """Four vertices of a strip that covers these pixels, right and bottom outside."""
    corners = ((left, top), (right, top), (left, bottom), (right, bottom))
    return b"".join(vertex(x, y, color, z) for x, y in corners)


def strips(count: int) -> bytes:
    """Draws so many boxes that lie behind each other."""
    return b"".join(strips_from(0, count))


def strips_from(first: int, count: int) -> Iterator[bytes]:
    """Draws ``count`` boxes of four vertices each from the ``first`` on, a token each."""
    for number in range(first, first + count):
        yield token(Op.TRIANGLESTRIP, struct.pack("<H", 4 * number), 2)


def filled(pixels: Pixels, left: int, top: int, right: int, bottom: int, color: int) -> None:
    """Let these pixels have a colour, right and bottom outside."""
    pixels |= {(x, y): color for y in range(top, bottom) for x in range(left, right)}


PLAIN = (
    render_state(_RS.CULLMODE, Cull.NONE),
    render_state(_RS.ZENABLE, 0),
    stage_state(TextureStageState.COLOROP, TextureOp.SELECTARG1),
    stage_state(TextureStageState.COLORARG1, TextureArgument.DIFFUSE),
    stage_state(TextureStageState.ALPHAOP, TextureOp.SELECTARG1),
    stage_state(TextureStageState.ALPHAARG1, TextureArgument.DIFFUSE),
)
"""States that leave colours as vertices have them."""


def drawn(
    name: str,
    rule: str,
    source: str,
    pixels: Mapping[Pixel, int],
    user: bytes,
    *tokens: bytes,
    depth: bool = False,
) -> Case:
    """A case that draws ``user``, vertices of XYZRHW and DIFFUSE, with ``tokens`` on a cleared
    target, and expects ``pixels``.
    """
    script = Script(depth=depth)
    script.call(cleared(BACK), *PLAIN)
    script.call(*tokens, users=Users(user, _FVF, _FVF_BYTES))
    script.show(runs(pixels))
    return script.case(name, rule, RULES + source, optional=True)

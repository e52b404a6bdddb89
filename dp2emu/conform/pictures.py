"""Cases of what is drawn: points, lines, depth, alpha test, blending, textures.

Each draws with values for which the rule has one exact result: channels are all zeros or all ones
and positions hit centres.  What must be there is worked out here in whole numbers.  A driver that
draws nothing into memory, as one that only counts, is passed over.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dp2emu.conform.blends import FACTORS, OPERATIONS, Lanes, blended, combined, word
from dp2emu.conform.case import Case, Shown
from dp2emu.conform.script import (
    HEIGHT,
    TARGET,
    TEXTURE,
    WIDTH,
    Script,
    Users,
    render_state,
    stage_state,
    token,
)
from dp2emu.d3d.enums import (
    Blend,
    BlendOp,
    CmpFunc,
    Cull,
    Format,
    RenderState,
    TextureAddress,
    TextureArgument,
    TextureFilter,
    TextureOp,
)
from dp2emu.d3d.flags import Clear, ColorWrite
from dp2emu.d3d.legacy import TextureStageState8
from dp2emu.dp2.table import Op

Pixel = tuple[int, int]
Pixels = dict[Pixel, int]

BACK, FRONT, OTHER = 0xFF0000FF, 0xFFFFFF00, 0xFF00FF00
"""Colours of the target, of what is drawn, and of what is drawn besides (A8R8G8B8)."""

_FVF, _FVF_BYTES = 0x044, 20  # XYZRHW, DIFFUSE
_TEXTURED, _TEXTURED_BYTES = 0x144, 28  # and TEX1
_RS, _TSS = RenderState, TextureStageState8
_RULES = "Direct3D 9 documentation of "


def picture_cases() -> Iterator[Case]:
    """Every case of these families."""
    yield from _points()
    yield from _lines()
    yield from _depths()
    yield from _alpha_tests()
    yield from _blends()
    yield from _masks()
    yield from _textures()


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


def _strips(count: int) -> bytes:
    """Draws so many boxes that lie behind each other."""
    return b"".join(
        token(Op.TRIANGLESTRIP, struct.pack("<H", 4 * number), 2) for number in range(count)
    )


_PLAIN = (
    render_state(_RS.CULLMODE, Cull.NONE),
    render_state(_RS.ZENABLE, 0),
    stage_state(_TSS.COLOROP, TextureOp.SELECTARG1),
    stage_state(_TSS.COLORARG1, TextureArgument.DIFFUSE),
    stage_state(_TSS.ALPHAOP, TextureOp.SELECTARG1),
    stage_state(_TSS.ALPHAARG1, TextureArgument.DIFFUSE),
)
"""States that leave colours as vertices have them."""


def _drawn(
    name: str,
    rule: str,
    source: str,
    pixels: Mapping[Pixel, int],
    user: bytes,
    *tokens: bytes,
    depth: bool = False,
) -> Case:
    script = Script(depth=depth)
    script.call(cleared(BACK), *_PLAIN)
    script.call(*tokens, users=Users(user, _FVF, _FVF_BYTES))
    script.show(runs(pixels))
    return script.case(name, rule, _RULES + source, optional=True)


# Points


def _points() -> Iterator[Case]:
    places = ((3, 2), (9, 5), (0, 0), (17, 11), (5, 14))
    user = b"".join(vertex(x, y) for x, y in places)
    for name, ranges in (("one", ((1, 2),)), ("several", ((2, 0), (1, 4))), ("all", ((5, 0),))):
        payload = b"".join(struct.pack("<2H", count, start) for count, start in ranges)
        shown = {place for count, start in ranges for place in places[start : start + count]}
        yield _drawn(
            f"point.{name}", "a point of size 1 at a pixel's centre is that pixel",
            "point rasterization rules", background() | dict.fromkeys(shown, FRONT), user,
            token(Op.POINTS, payload, len(ranges)),
        )  # fmt: skip


# Lines


def line(start: Pixel, end: Pixel) -> list[Pixel]:
    """Pixels of a line between centres without its last one, where no pixel is in doubt."""
    (x, y), across, down = start, end[0] - start[0], end[1] - start[1]
    length = max(abs(across), abs(down))
    found = []
    for step in range(length):
        place = []
        for origin, along in ((x, across), (y, down)):
            whole, rest = divmod(2 * step * along + length, 2 * length)
            assert rest, "half-way between two pixels"
            place.append(origin + whole)
        found.append((place[0], place[1]))
    return found


_ENDS: tuple[Pixel, ...] = ((23, 3), (1, 11), (10, 2), (18, 2), (16, 13), (23, 10))
_DIRECTIONS: dict[str, tuple[Pixel, Pixel]] = {
    "right": ((3, 4), (20, 4)), "left": ((20, 4), (3, 4)), "down": ((7, 1), (7, 13)),
    "up": ((7, 13), (7, 1)), "flat": ((3, 2), (24, 9)), "steep": ((9, 1), (14, 14)),
    "diagonal": ((2, 1), (14, 13)), "back": ((28, 13), (5, 6)),
}  # fmt: skip


def _lined(lines: Sequence[tuple[Pixel, Pixel]]) -> Pixels:
    """A target with these lines, but for their last pixels, which drivers may leave out."""
    pixels = background()
    drawn = {place for start, end in lines for place in line(start, end)}
    for _, end in lines:
        if end not in drawn:
            del pixels[end]
    return pixels | dict.fromkeys(drawn, FRONT)


def _lines() -> Iterator[Case]:
    source = "line rasterization rules"
    for name, (start, end) in _DIRECTIONS.items():
        yield _drawn(
            f"line.{name}", "a line has the pixels whose diamonds it leaves", source,
            _lined([(start, end)]), vertex(*start) + vertex(*end),
            token(Op.LINELIST, b"\0\0", 1),
        )  # fmt: skip
    user = b"".join(vertex(x, y) for x, y in _ENDS)
    for op, payload, count, pairs in _LINES:
        lines = [(_ENDS[one], _ENDS[other]) for one, other in pairs]
        yield _drawn(
            f"line.{op.name.lower()}", f"{op.sdk} draws between the vertices it names", source,
            _lined(lines), user, token(op, struct.pack(f"<{len(payload)}H", *payload), count),
        )  # fmt: skip


_LINES: tuple[tuple[Op, tuple[int, ...], int, tuple[tuple[int, int], ...]], ...] = (
    (Op.LINELIST, (1,), 2, ((1, 2), (3, 4))),
    (Op.LINESTRIP, (1,), 4, ((1, 2), (2, 3), (3, 4), (4, 5))),
    (Op.INDEXEDLINELIST, (4, 1, 5, 0), 2, ((4, 1), (5, 0))),
    (Op.INDEXEDLINELIST2, (1, 0, 2, 4, 3), 2, ((1, 3), (5, 4))),
    (Op.INDEXEDLINESTRIP, (1, 0, 2, 1, 4), 3, ((1, 3), (3, 2), (2, 5))),
)


# Depth and alpha test

_COMPARES: dict[CmpFunc, tuple[bool, bool, bool]] = {
    CmpFunc.NEVER: (False, False, False), CmpFunc.LESS: (True, False, False),
    CmpFunc.EQUAL: (False, True, False), CmpFunc.LESSEQUAL: (True, True, False),
    CmpFunc.GREATER: (False, False, True), CmpFunc.NOTEQUAL: (True, False, True),
    CmpFunc.GREATEREQUAL: (False, True, True), CmpFunc.ALWAYS: (True, True, True),
}  # fmt: skip
"""Whether what is less, equal and greater passes."""


def _filled(pixels: Pixels, left: int, top: int, right: int, bottom: int, color: int) -> None:
    pixels |= {(x, y): color for y in range(top, bottom) for x in range(left, right)}


def _depths() -> Iterator[Case]:
    for func, passes in _COMPARES.items():
        user = box(0, 0, 12, 4, FRONT)
        pixels = background()
        _filled(pixels, 0, 0, 12, 4, FRONT)
        for number, (z, passed) in enumerate(zip((0.25, 0.5, 0.75), passes, strict=True)):
            place = 4 * number + 1, 1, 4 * number + 3, 3
            user += box(*place, OTHER, z)
            _filled(pixels, *place, OTHER if passed else FRONT)
        yield _deep(
            f"depth.{func.name.lower()}", f"{func.sdk} lets pass what it says",
            "D3DCMPFUNC", pixels, user,
            render_state(_RS.ZFUNC, CmpFunc.ALWAYS), _strips(1), render_state(_RS.ZFUNC, func),
            *_strips_from(1, 3),
        )  # fmt: skip
    yield from _depth_switches()


def _strips_from(first: int, count: int) -> Iterator[bytes]:
    for number in range(first, first + count):
        yield token(Op.TRIANGLESTRIP, struct.pack("<H", 4 * number), 2)


def _deep(name: str, rule: str, source: str, *rest: Any) -> Case:
    pixels, user, *tokens = rest
    states = render_state(_RS.ZENABLE, 1), render_state(_RS.ZWRITEENABLE, 1)
    return _drawn(name, rule, source, pixels, user, *states, *tokens, depth=True)


def _depth_switches() -> Iterator[Case]:
    """The same farther box behind a nearer one, which hides it if it wrote its depth."""
    user = box(0, 0, 8, 4, FRONT, 0.25) + box(4, 0, 12, 4, OTHER, 0.75)
    hidden, shown = background(), background()
    for pixels, left in ((hidden, 8), (shown, 4)):
        _filled(pixels, 0, 0, 8, 4, FRONT)
        _filled(pixels, left, 0, 12, 4, OTHER)
    far = (render_state(_RS.ZFUNC, CmpFunc.ALWAYS), *_strips_from(0, 1))
    near = (render_state(_RS.ZFUNC, CmpFunc.LESS), *_strips_from(1, 1))
    clear = token(Op.CLEAR, struct.pack("<IIfI4i", Clear.ZBUFFER, 0, 1.0, 0, 0, 0, WIDTH, HEIGHT))
    for name, rule, pixels, before in (
        ("written", "what is drawn hides what is behind it", hidden, b""),
        ("not_written", "without ZWRITEENABLE depth stays", shown,
         render_state(_RS.ZWRITEENABLE, 0)),
        ("off", "without ZENABLE nothing hides anything", shown, render_state(_RS.ZENABLE, 0)),
    ):  # fmt: skip
        yield _deep(f"depth.{name}", rule, "D3DRENDERSTATETYPE", pixels, user, clear, before,
                    *far, *near)  # fmt: skip


def _alpha_tests() -> Iterator[Case]:
    for func, passes in _COMPARES.items():
        pixels, user = background(), b""
        for number, (alpha, passed) in enumerate(zip((0x40, 0x80, 0xC0), passes, strict=True)):
            place = 4 * number, 0, 4 * number + 3, 3
            color = alpha << 24 | FRONT & 0xFFFFFF
            user += box(*place, color)
            if passed:
                _filled(pixels, *place, color)
        yield _drawn(
            f"alphatest.{func.name.lower()}", f"{func.sdk} lets pass what it says", "D3DCMPFUNC",
            pixels, user, render_state(_RS.ALPHATESTENABLE, 1),
            render_state(_RS.ALPHAREF, 0x80), render_state(_RS.ALPHAFUNC, func), _strips(3),
        )  # fmt: skip


# Blending and masks

_SOURCES: tuple[Lanes, ...] = ((1, 0, 1, 0), (0, 1, 1, 1))
_TARGETS: tuple[Lanes, ...] = ((0, 0, 1, 1), (1, 1, 0, 0))
"""Red, green, blue, alpha: nothing, or all."""
_CONSTANT: Lanes = (0, 1, 1, 0)


def _blends() -> Iterator[Case]:
    for factor in FACTORS:
        name = factor.name.lower()
        yield _blend(f"source.{name}", (factor, Blend.ZERO, BlendOp.ADD))
        yield _blend(f"target.{name}", (Blend.ZERO, factor, BlendOp.ADD))
    for operation in OPERATIONS:
        results = [
            (_grey(one), _grey(other), _grey(combined(one, other, operation)))
            for one, other in ((0x40, 0x80), (0x80, 0x40), (0xC0, 0x80))
        ]
        how = Blend.ONE, Blend.ONE, operation
        yield _blended(f"operation.{operation.name.lower()}", how, results)


def _grey(level: int) -> int:
    return 0x01010101 * level


def _blend(name: str, how: tuple[Blend, Blend, BlendOp]) -> Case:
    pairs = [(source, target) for source in _SOURCES for target in _TARGETS]
    results = [
        (word(source), word(target), word(blended(source, target, _CONSTANT, *how[:2])))
        for source, target in pairs
    ]
    return _blended(name, how, results)


def _blended(
    name: str, how: tuple[Blend, Blend, BlendOp], results: Sequence[tuple[int, int, int]]
) -> Case:
    """Boxes of a colour over one each, and what comes of it."""
    pixels, user, clears = background(), b"", b""
    for number, (source, target, result) in enumerate(results):
        place = 4 * number, 2, 4 * number + 3, 5
        clears += cleared(target, place)
        user += box(*place, source)
        _filled(pixels, *place, result)
    states = (
        (_RS.ALPHABLENDENABLE, 1), (_RS.SRCBLEND, how[0]), (_RS.DESTBLEND, how[1]),
        (_RS.BLENDOP, how[2]), (_RS.BLENDFACTOR, word(_CONSTANT)),
    )  # fmt: skip
    rule = f"{how[0].sdk}, {how[1].sdk} and {how[2].sdk} make what they say"
    return _drawn(
        f"blend.{name}", rule, "D3DBLEND and D3DBLENDOP", pixels, user, clears,
        *(render_state(*state) for state in states), _strips(len(results)),
    )  # fmt: skip


def _masks() -> Iterator[Case]:
    for bit, lane in zip(ColorWrite, (0xFF0000, 0xFF00, 0xFF, 0xFF000000), strict=True):
        pixels = background()
        _filled(pixels, 1, 1, 5, 4, 0x12345678 & lane | BACK & ~lane)
        yield _drawn(
            f"mask.{str(bit.name).lower()}", "only channels in COLORWRITEENABLE are written",
            "D3DRS_COLORWRITEENABLE", pixels, box(1, 1, 5, 4, 0x12345678),
            render_state(_RS.COLORWRITEENABLE, bit), _strips(1),
        )  # fmt: skip


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
            (_TSS.COLOROP, op), (_TSS.COLORARG2, TextureArgument.DIFFUSE),
            (_TSS.ALPHAOP, op), (_TSS.ALPHAARG2, TextureArgument.DIFFUSE),
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
    taken = ((state, TextureArgument.TEXTURE) for state in (_TSS.COLORARG1, _TSS.ALPHAARG1))
    script.call(cleared(BACK), *_PLAIN, stage_state(0, TEXTURE))
    script.call(
        *(stage_state(*each) for each in (*point, *clamped, *taken, *states)), _strips(1),
        users=Users(_textured_vertices(left, top), _TEXTURED, _TEXTURED_BYTES),
    )  # fmt: skip
    pixels = background()
    for y, row in enumerate(shown):
        pixels |= {(left + x, top + y): color for x, color in enumerate(row)}
    script.show(runs(pixels))
    return script.case(f"texture.{name}", rule, _RULES + source, optional=True)

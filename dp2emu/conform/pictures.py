"""Cases with pictures: points, lines, depth, alpha test, blending, masks, textures.

They use values for which a rule has one exact result: channels are all zeros or all ones, and
positions are pixel centres.  Expected pixels are computed here in integers.  A driver that draws
nothing into memory, such as one that only counts pixels, is skipped.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence

from dp2emu.conform.case import Case
from dp2emu.conform.script import (
    TEXTURE,
    Script,
    box_vertices,
    render_state,
    stage_state,
    token,
    vertex,
)
from dp2emu.conform.target import BACK, FRONT, OTHER, Pixel, Pixels, background, fill
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import (
    Blend,
    BlendOp,
    CmpFunc,
    Format,
    RenderState,
    TextureAddress,
    TextureArgument,
    TextureFilter,
    TextureOp,
    TextureStageState,
)
from dp2emu.d3d.flags import ColorWrite
from dp2emu.d3d.fvf import DIFFUSE, XYZRHW
from dp2emu.d3d.legacy import TextureStageState8
from dp2emu.dp2.table import Since

_RS, _STAGE, _TSS = RenderState, TextureStageState, TextureStageState8
_DOCUMENTS = "Direct3D 9 documentation of "


def _strips(first: int, end: int) -> bytes:
    """TRIANGLESTRIP tokens, one for each box from ``first`` to ``end`` - 1, four vertices each."""
    return b"".join(
        token(Op.TRIANGLESTRIP, struct.pack("<H", 4 * number), 2) for number in range(first, end)
    )


def _started(ddi: Since, *, depth: bool = False) -> Script:
    """A case that has a target of one colour, and with ``depth`` a depth surface."""
    script = Script(ddi, depth=Format.D16 if depth else None)
    script.background()
    return script


def _drawn(
    script: Script,
    name: str,
    rule: str,
    source: str,
    pixels: Mapping[Pixel, int],
    user: bytes,
    *tokens: bytes,
) -> Case:
    """The case ``script``, which then draws the vertices ``user`` and expects ``pixels``."""
    script.call(*tokens, user=user, fvf=XYZRHW | DIFFUSE)
    script.show(pixels)
    return script.case(name, rule, _DOCUMENTS + source, optional=True)


# Points and lines


def line_cases(ddi: Since) -> Iterator[Case]:
    """Yield the conformance cases of drawing points and lines."""
    places = ((3, 2), (9, 5), (0, 0), (17, 11), (5, 14))
    user = b"".join(vertex(x, y) for x, y in places)
    for name, ranges in (("one", ((1, 2),)), ("several", ((2, 0), (1, 4))), ("all", ((5, 0),))):
        payload = b"".join(struct.pack("<2H", count, start) for count, start in ranges)
        shown = {place for count, start in ranges for place in places[start : start + count]}
        yield _drawn(
            _started(ddi), f"point.{name}", "a point of size 1 at a pixel's centre is that pixel",
            "point rasterization rules", background() | dict.fromkeys(shown, FRONT), user,
            token(Op.POINTS, payload, len(ranges)),
        )  # fmt: skip
    source = "line rasterization rules"
    for name, (start, end) in _DIRECTIONS.items():
        yield _drawn(
            _started(ddi), f"line.{name}", "a line has the pixels whose diamonds it leaves",
            source, _lined([(start, end)]), vertex(*start) + vertex(*end),
            token(Op.LINELIST, b"\0\0", 1),
        )  # fmt: skip
    user = b"".join(vertex(x, y) for x, y in _ENDS)
    for op, indices, count, pairs in _LINES:
        lines = [(_ENDS[one], _ENDS[other]) for one, other in pairs]
        yield _drawn(
            _started(ddi), f"line.{op.name.lower()}",
            f"{op.sdk} draws between the vertices it names", source,
            _lined(lines), user, token(op, struct.pack(f"<{len(indices)}H", *indices), count),
        )  # fmt: skip


def line(start: Pixel, end: Pixel) -> list[Pixel]:
    """The pixels of a line from pixel ``start`` to pixel ``end``, without ``end``.

    Raises AssertionError for a line that passes half-way between two pixels.
    """
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


def _lined(lines: Sequence[tuple[Pixel, Pixel]]) -> Pixels:
    """The expected pixels of a target with lines drawn on it.

    A line's last pixel, which drivers may omit, has no expected colour unless another line draws
    it.
    """
    pixels = background()
    drawn = {place for start, end in lines for place in line(start, end)}
    for _, end in lines:
        if end not in drawn:
            del pixels[end]
    return pixels | dict.fromkeys(drawn, FRONT)


_ENDS: tuple[Pixel, ...] = ((23, 3), (1, 11), (10, 2), (18, 2), (16, 13), (23, 10))
_DIRECTIONS: dict[str, tuple[Pixel, Pixel]] = {
    "right": ((3, 4), (20, 4)), "left": ((20, 4), (3, 4)), "down": ((7, 1), (7, 13)),
    "up": ((7, 13), (7, 1)), "flat": ((3, 2), (24, 9)), "steep": ((9, 1), (14, 14)),
    "diagonal": ((2, 1), (14, 13)), "back": ((28, 13), (5, 6)),
}  # fmt: skip
_LINES: tuple[tuple[Op, tuple[int, ...], int, tuple[tuple[int, int], ...]], ...] = (
    (Op.LINELIST, (1,), 2, ((1, 2), (3, 4))),
    (Op.LINESTRIP, (1,), 4, ((1, 2), (2, 3), (3, 4), (4, 5))),
    (Op.INDEXEDLINELIST, (4, 1, 5, 0), 2, ((4, 1), (5, 0))),
    (Op.INDEXEDLINELIST2, (1, 0, 2, 4, 3), 2, ((1, 3), (5, 4))),
    (Op.INDEXEDLINESTRIP, (1, 0, 2, 1, 4), 3, ((1, 3), (3, 2), (2, 5))),
)
"""Line tokens to draw: opcode, payload as WORDs, count, and the vertex numbers of each line."""


# Textures

_TEXELS = ((0xFFFF0000, 0xFF00FF00), (0xFFFFFFFF, 0x00FF00FF))
"""The A8R8G8B8 colours of the 2 x 2 test texture, row by row."""
_TEXEL_BYTES = struct.pack("<4I", *_TEXELS[0], *_TEXELS[1])
_BORDER = 0xFF00FFFF
_ADDRESSES: dict[TextureAddress, tuple[int, ...]] = {
    TextureAddress.WRAP: (0, 1, 0, 1, 0, 1), TextureAddress.MIRROR: (1, 0, 0, 1, 1, 0),
    TextureAddress.CLAMP: (0, 0, 0, 1, 1, 1), TextureAddress.BORDER: (-1, -1, 0, 1, -1, -1),
}  # fmt: skip
"""By D3DTEXTUREADDRESS, which columns of a texture two texels wide are sampled at columns -2 to 3:
0 or 1, or -1 for the border colour."""
_CLAMPED = _ADDRESSES[TextureAddress.CLAMP]
_ALPHA = 0xFF000000
_FORMATS: tuple[tuple[Format, bytes, tuple[int, int]], ...] = (
    (Format.X8R8G8B8, struct.pack("<2I", 0x00FF00FF, 0x7F00FF00), (0xFFFF00FF, 0xFF00FF00)),
    (Format.R5G6B5, struct.pack("<2H", 0xF800, 0x07FF), (0xFFFF0000, 0xFF00FFFF)),
    (Format.A1R5G5B5, struct.pack("<2H", 0x801F, 0x7C00), (0xFF0000FF, 0x00FF0000)),
    (Format.X1R5G5B5, struct.pack("<2H", 0x03E0, 0x7C00), (0xFF00FF00, 0xFFFF0000)),
    (Format.A4R4G4B4, struct.pack("<2H", 0xF0F0, 0x0F0F), (0xFF00FF00, 0x00FF00FF)),
    (Format.L8, b"\xff\0", (0xFFFFFFFF, 0xFF000000)),
    (Format.A8, b"\xff\0", (0xFF000000, 0x00000000)),
)
"""Texture formats to test: format, bytes of two texels, the A8R8G8B8 colours that they give."""
_STAGE_OPS = {
    TextureOp.SELECTARG1: (0, 0, 1, 1), TextureOp.SELECTARG2: (0, 1, 0, 1),
    TextureOp.MODULATE: (0, 0, 0, 1), TextureOp.MODULATE2X: (0, 0, 0, 1),
    TextureOp.MODULATE4X: (0, 0, 0, 1), TextureOp.ADD: (0, 1, 1, 1),
    TextureOp.SUBTRACT: (0, 0, 1, 0), TextureOp.ADDSMOOTH: (0, 1, 1, 1),
}  # fmt: skip
"""By D3DTEXTUREOP: its results in one channel for (texture, vertex) values (0, 0), (0, 1), (1, 0)
and (1, 1)."""


def texture_cases(ddi: Since) -> Iterator[Case]:
    """Yield the conformance cases of texture addresses and formats and of stage operations."""
    for address, columns in _ADDRESSES.items():
        states = [(_TSS.ADDRESSU, address), (_TSS.ADDRESSV, address), (_TSS.BORDERCOLOR, _BORDER)]
        rows = [[row[at] if at >= 0 else _BORDER for at in columns] for row in _TEXELS]
        rule = f"outside of the texture {address.sdk} counts"
        yield textured(
            ddi, f"texture.address.{address.name.lower()}", rule,
            _DOCUMENTS + "D3DTEXTUREADDRESS", rows, states,
        )  # fmt: skip
    for format, data, words in _FORMATS:
        rows = [[words[at] for at in _CLAMPED]] * 2
        rule = f"texels of {format.sdk} have its channels"
        name, texels = f"texture.format.{format.name.lower()}", (format, data * 2)
        yield textured(ddi, name, rule, _DOCUMENTS + "D3DFORMAT", rows, [], texels)
    for op, results in _STAGE_OPS.items():
        rows = [[_each_lane(results, row[at], OTHER) for at in _CLAMPED] for row in _TEXELS]
        operation = (
            (_STAGE.COLOROP, op), (_STAGE.COLORARG2, TextureArgument.DIFFUSE),
            (_STAGE.ALPHAOP, op), (_STAGE.ALPHAARG2, TextureArgument.DIFFUSE),
        )  # fmt: skip
        rule = f"{op.sdk} makes of its arguments what it says"
        name = f"texture.stage.{op.name.lower()}"
        yield textured(ddi, name, rule, _DOCUMENTS + "D3DTEXTUREOP", rows, operation)
    yield from _apart(ddi)


def _apart(ddi: Since) -> Iterator[Case]:
    """Cases of a stage that takes the colour from the texture and the alpha from the vertex, or
    the other way round.
    """
    for name, mask, state in (
        ("color", 0xFFFFFF, _STAGE.ALPHAOP),
        ("alpha", _ALPHA, _STAGE.COLOROP),
    ):
        argument = _STAGE.ALPHAARG2 if state == _STAGE.ALPHAOP else _STAGE.COLORARG2
        operation = (
            (_STAGE.COLOROP, TextureOp.SELECTARG1), (_STAGE.ALPHAOP, TextureOp.SELECTARG1),
            (state, TextureOp.SELECTARG2), (argument, TextureArgument.DIFFUSE),
        )  # fmt: skip
        rows = [[row[at] & mask | OTHER & ~mask for at in _CLAMPED] for row in _TEXELS]
        rule = "COLOROP makes red, green and blue, ALPHAOP makes alpha"
        kind = _DOCUMENTS + "D3DTEXTURESTAGESTATETYPE"
        yield textured(ddi, f"texture.channels.{name}", rule, kind, rows, operation)


def _each_lane(results: tuple[int, int, int, int], one: int, other: int) -> int:
    lanes = ((one >> 8 * lane & 1, other >> 8 * lane & 1) for lane in range(4))
    return sum(0xFF * results[2 * a + b] << 8 * lane for lane, (a, b) in enumerate(lanes))


def textured(
    ddi: Since,
    name: str,
    rule: str,
    source: str,
    rows: Sequence[Sequence[int]],
    states: Sequence[tuple[int, int]],
    texels: tuple[Format, bytes] = (Format.A8R8G8B8, _TEXEL_BYTES),
) -> Case:
    """A case that samples columns -2 to 3 of a 2 x 2 texture and expects the colours ``rows``.

    ``states`` are texture stage states to set, ``texels`` the texture's format and bytes.
    """
    left, top = 5, 3
    script = Script(ddi)
    script.texture(TEXTURE, *texels)
    script.background(stage_state(0, TEXTURE))
    usual = (
        (_TSS.MAGFILTER, TextureFilter.POINT), (_TSS.MINFILTER, TextureFilter.POINT),
        (_TSS.ADDRESSU, TextureAddress.CLAMP), (_TSS.ADDRESSV, TextureAddress.CLAMP),
        (_STAGE.COLORARG1, TextureArgument.TEXTURE), (_STAGE.ALPHAARG1, TextureArgument.TEXTURE),
    )  # fmt: skip
    user = b"".join(
        struct.pack("<4fI2f", left + x - 0.5, top + y - 0.5, 0.5, 1.0, OTHER, u, v)
        for x, y, u, v in ((0, 0, -1, 0), (6, 0, 2, 0), (0, 2, -1, 1), (6, 2, 2, 1))
    )
    script.call(
        *(stage_state(*each) for each in (*usual, *states)), _strips(0, 1), user=user,
        fvf=XYZRHW | DIFFUSE | 1 << 8,  # D3DFVF_TEX1
    )  # fmt: skip
    pixels = background()
    for y, row in enumerate(rows, top):
        pixels |= {(x, y): color for x, color in enumerate(row, left)}
    script.show(pixels)
    return script.case(name, rule, source, optional=True)


# Depth and alpha test


def merging_cases(ddi: Since) -> Iterator[Case]:
    """Yield the conformance cases of depth, alpha test, blending and write masks."""
    yield from _depths(ddi)
    yield from _depth_switches(ddi)
    yield _rejected(ddi)
    yield from _alpha_tests(ddi)
    yield from _blends(ddi)
    yield from _masks(ddi)


_COMPARES: dict[CmpFunc, tuple[bool, bool, bool]] = {
    CmpFunc.NEVER: (False, False, False), CmpFunc.LESS: (True, False, False),
    CmpFunc.EQUAL: (False, True, False), CmpFunc.LESSEQUAL: (True, True, False),
    CmpFunc.GREATER: (False, False, True), CmpFunc.NOTEQUAL: (True, False, True),
    CmpFunc.GREATEREQUAL: (False, True, True), CmpFunc.ALWAYS: (True, True, True),
}  # fmt: skip
"""By D3DCMPFUNC, whether each passes: a value less than, equal to, greater than the reference."""


def _deep(
    ddi: Since,
    name: str,
    rule: str,
    source: str,
    pixels: Pixels,
    user: bytes,
    *tokens: bytes,
    far: bool = False,
) -> Case:
    """A case with depth test and writes; with ``far`` the depth surface is cleared before."""
    script = _started(ddi, depth=True)
    states = render_state(_RS.ZENABLE, 1), render_state(_RS.ZWRITEENABLE, 1)
    cleared = script.clear_depth() if far else b""
    rule_of = f"depth.{name}", rule, source
    return _drawn(script, *rule_of, pixels, user, *states, cleared, *tokens)


def _depths(ddi: Since) -> Iterator[Case]:
    for func, passes in _COMPARES.items():
        user = box_vertices(0, 0, 12, 4, FRONT)
        pixels = background()
        fill(pixels, 0, 0, 12, 4, FRONT)
        for number, (z, passed) in enumerate(zip((0.25, 0.5, 0.75), passes, strict=True)):
            place = 4 * number + 1, 1, 4 * number + 3, 3
            user += box_vertices(*place, OTHER, z)
            fill(pixels, *place, OTHER if passed else FRONT)
        yield _deep(
            ddi, func.name.lower(), f"{func.sdk} lets pass what it says", "D3DCMPFUNC", pixels,
            user, render_state(_RS.ZFUNC, CmpFunc.ALWAYS), _strips(0, 1),
            render_state(_RS.ZFUNC, func), _strips(1, 4),
        )  # fmt: skip


def _depth_switches(ddi: Since) -> Iterator[Case]:
    """Cases of a near box and then a far one, hidden only if drawing the near one wrote depth."""
    user = box_vertices(0, 0, 8, 4, FRONT, 0.25) + box_vertices(4, 0, 12, 4, OTHER, 0.75)
    hidden, shown = background(), background()
    for pixels, left in ((hidden, 8), (shown, 4)):
        fill(pixels, 0, 0, 8, 4, FRONT)
        fill(pixels, left, 0, 12, 4, OTHER)
    draws = (
        render_state(_RS.ZFUNC, CmpFunc.ALWAYS), _strips(0, 1),
        render_state(_RS.ZFUNC, CmpFunc.LESS), _strips(1, 2),
    )  # fmt: skip
    for name, rule, pixels, before in (
        ("written", "what is drawn hides what is behind it", hidden, b""),
        ("not_written", "without ZWRITEENABLE depth stays", shown,
         render_state(_RS.ZWRITEENABLE, 0)),
        ("off", "without ZENABLE nothing hides anything", shown, render_state(_RS.ZENABLE, 0)),
    ):  # fmt: skip
        kind = "D3DRENDERSTATETYPE"
        yield _deep(ddi, name, rule, kind, pixels, user, before, *draws, far=True)


def _rejected(ddi: Since) -> Case:
    """A case of a near box that the alpha test rejects, and then a far one."""
    user = box_vertices(0, 0, 8, 4, FRONT & ~_ALPHA, 0.25) + box_vertices(2, 0, 12, 4, OTHER, 0.75)
    pixels = background()
    fill(pixels, 2, 0, 12, 4, OTHER)
    tested = (_RS.ALPHATESTENABLE, 1), (_RS.ALPHAREF, 0x80), (_RS.ALPHAFUNC, CmpFunc.GREATER)
    states = [render_state(*each) for each in (*tested, (_RS.ZFUNC, CmpFunc.LESS))]
    rule = "what the alpha test rejects hides nothing"
    return _deep(
        ddi, "rejected", rule, "alpha testing", pixels, user, *states, _strips(0, 2), far=True
    )


def _alpha_tests(ddi: Since) -> Iterator[Case]:
    for func, passes in _COMPARES.items():
        pixels, user = background(), b""
        for number, (alpha, passed) in enumerate(zip((0x40, 0x80, 0xC0), passes, strict=True)):
            place = 4 * number, 0, 4 * number + 3, 3
            color = alpha << 24 | FRONT & 0xFFFFFF
            user += box_vertices(*place, color)
            if passed:
                fill(pixels, *place, color)
        yield _drawn(
            _started(ddi), f"alphatest.{func.name.lower()}",
            f"{func.sdk} lets pass what it says", "D3DCMPFUNC",
            pixels, user, render_state(_RS.ALPHATESTENABLE, 1),
            render_state(_RS.ALPHAREF, 0x80), render_state(_RS.ALPHAFUNC, func), _strips(0, 3),
        )  # fmt: skip


# Blending and masks

Lanes = tuple[int, int, int, int]
"""A colour: its red, green, blue and alpha, each 0 or 1."""


def _all(value: int) -> Lanes:
    return value, value, value, value


def _inverse(lanes: Lanes) -> Lanes:
    red, green, blue, alpha = lanes
    return 1 - red, 1 - green, 1 - blue, 1 - alpha


def _saturated(source: Lanes, target: Lanes, constant: Lanes) -> Lanes:
    least = min(source[3], 1 - target[3])
    return least, least, least, 1


FACTORS: dict[Blend, Callable[[Lanes, Lanes, Lanes], Lanes]] = {
    Blend.ZERO: lambda source, target, constant: _all(0),
    Blend.ONE: lambda source, target, constant: _all(1),
    Blend.SRCCOLOR: lambda source, target, constant: source,
    Blend.INVSRCCOLOR: lambda source, target, constant: _inverse(source),
    Blend.SRCALPHA: lambda source, target, constant: _all(source[3]),
    Blend.INVSRCALPHA: lambda source, target, constant: _all(1 - source[3]),
    Blend.DESTALPHA: lambda source, target, constant: _all(target[3]),
    Blend.INVDESTALPHA: lambda source, target, constant: _all(1 - target[3]),
    Blend.DESTCOLOR: lambda source, target, constant: target,
    Blend.INVDESTCOLOR: lambda source, target, constant: _inverse(target),
    Blend.SRCALPHASAT: _saturated,
    Blend.BLENDFACTOR: lambda source, target, constant: constant,
    Blend.INVBLENDFACTOR: lambda source, target, constant: _inverse(constant),
}
"""Function that returns a blend factor, by D3DBLEND value; parameters: source colour, target
colour, constant colour, each of four channels."""

OPERATIONS: dict[BlendOp, Callable[[int, int], int]] = {
    BlendOp.ADD: lambda source, target: source + target,
    BlendOp.SUBTRACT: lambda source, target: source - target,
    BlendOp.REVSUBTRACT: lambda source, target: target - source,
    BlendOp.MIN: min,
    BlendOp.MAX: max,
}
"""Function that blends one channel, by D3DBLENDOP value; parameters: the source and the target
value, each already multiplied by its blend factor."""

_CONSTANTS = (Blend.BLENDFACTOR, Blend.INVBLENDFACTOR)
"""Factors of DirectX 9."""
_SOURCES: tuple[Lanes, ...] = ((1, 0, 1, 0), (0, 1, 1, 1))
_TARGETS: tuple[Lanes, ...] = ((0, 0, 1, 1), (1, 1, 0, 0))
_CONSTANT: Lanes = (0, 1, 1, 0)


def _word(lanes: Sequence[int]) -> int:
    """The A8R8G8B8 colour of four channel values of 0 or 1: red, green, blue, alpha."""
    red, green, blue, alpha = (0xFF * lane for lane in lanes)
    return alpha << 24 | red << 16 | green << 8 | blue


def _blends(ddi: Since) -> Iterator[Case]:
    for factor in (each for each in FACTORS if ddi >= Since.DX9 or each not in _CONSTANTS):
        for side, one, other in (("source", factor, Blend.ZERO), ("target", Blend.ZERO, factor)):
            results = [
                (_word(source), _word(target), _sum(source, target, one, other))
                for source in _SOURCES
                for target in _TARGETS
            ]
            name = f"{side}.{factor.name.lower()}"
            yield _blended(ddi, name, (one, other, BlendOp.ADD), results)
    for operation, combine in OPERATIONS.items() if ddi >= Since.DX8 else ():
        levels = [
            (source, target, min(max(combine(source, target), 0), 0xFF))
            for source, target in ((0x40, 0x80), (0x80, 0x40), (0xC0, 0x80))
        ]
        greys = [tuple(0x01010101 * level for level in row) for row in levels]
        how = Blend.ONE, Blend.ONE, operation
        yield _blended(ddi, f"operation.{operation.name.lower()}", how, greys)


def _sum(source: Lanes, target: Lanes, one: Blend, other: Blend) -> int:
    """The A8R8G8B8 colour source * factor ``one`` + target * factor ``other``, at most 1."""
    with_source = FACTORS[one](source, target, _CONSTANT)
    with_target = FACTORS[other](source, target, _CONSTANT)
    return _word(
        [min(source[i] * with_source[i] + target[i] * with_target[i], 1) for i in range(4)]
    )


def _blended(
    ddi: Since, name: str, how: tuple[Blend, Blend, BlendOp], results: Sequence[tuple[int, ...]]
) -> Case:
    """A case that blends boxes with a target; ``results`` are (source, target, result) colours.

    ``how`` has the factors of source and target, and the operation.
    """
    script = _started(ddi)
    pixels, user, clears = background(), b"", b""
    for number, (source, target, result) in enumerate(results):
        place = 4 * number, 2, 4 * number + 3, 5
        clears += script.clear(target, place)
        user += box_vertices(*place, source)
        fill(pixels, *place, result)
    states = [
        (_RS.ALPHABLENDENABLE, 1), (_RS.SRCBLEND, how[0]), (_RS.DESTBLEND, how[1]),
    ]  # fmt: skip
    if ddi >= Since.DX8:
        states.append((_RS.BLENDOP, how[2]))
    if ddi >= Since.DX9:
        states.append((_RS.BLENDFACTOR, _word(_CONSTANT)))
    rule = f"{how[0].sdk}, {how[1].sdk} and {how[2].sdk} make what they say"
    return _drawn(
        script, f"blend.{name}", rule, "D3DBLEND and D3DBLENDOP", pixels, user, clears,
        *(render_state(*state) for state in states), _strips(0, len(results)),
    )  # fmt: skip


def _masks(ddi: Since) -> Iterator[Case]:
    if ddi < Since.DX8:
        return
    for bit, lane in zip(ColorWrite, (0xFF0000, 0xFF00, 0xFF, 0xFF000000), strict=True):
        pixels = background()
        fill(pixels, 1, 1, 5, 4, 0x12345678 & lane | BACK & ~lane)
        yield _drawn(
            _started(ddi), f"mask.{str(bit.name).lower()}",
            "only channels in COLORWRITEENABLE are written", "D3DRS_COLORWRITEENABLE",
            pixels, box_vertices(1, 1, 5, 4, 0x12345678),
            render_state(_RS.COLORWRITEENABLE, bit), _strips(0, 1),
        )  # fmt: skip

"""Cases that textures of each announced format are sampled with the colours that they hold.

A texture has 8 x 8 texels and is drawn on 8 x 8 pixels with point filters.  Texels have colours
whose value is exact: channels of zeros or ones, ends of the ranges in blocks, entries of palettes.
Vectors of bump maps move the coordinates of a second texture by half of it, in each direction.
Formats of luminance and chroma have black and white, to ``_YUV_STEPS`` steps of a channel.
Sources: the documentation of D3DFORMAT, compressed texture resources, bump mapping and palettes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from dp2emu.conform.case import Case
from dp2emu.conform.needs import LeastNeed
from dp2emu.conform.script import (
    BOX,
    PLAIN,
    TEXTURE,
    Script,
    box,
    drawing_goes_on,
    dwords,
    stage_state,
    token,
)
from dp2emu.conform.target import FRONT, background
from dp2emu.d3d.capflags import FormatOp
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import (
    Format,
    TextureAddress,
    TextureArgument,
    TextureFilter,
    TextureOp,
    TextureStageState,
)
from dp2emu.d3d.formats import FORMATS, Channel, Coding, FormatRow, Use
from dp2emu.d3d.fvf import DIFFUSE, XYZRHW
from dp2emu.d3d.legacy import TextureStageState8
from dp2emu.dp2.table import Since
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind, layout_of

_DOCUMENT = "documentation of D3DFORMAT"
_STAGE, _TSS = TextureStageState, TextureStageState8
SIDE = 8
"""Texels on each side of a texture."""
_HALF = SIDE // 2
_LEFT, _TOP = 5, 3
"""Where a texture is drawn."""
_OTHER_TEXTURE = 9
"""Handle of the texture that bump maps move."""
_PALETTE = 3
"""Handle of the palette."""
_YUV_STEPS = 2

Quarters = Sequence[int]
"""What each quarter of a texture has: upper left, upper right, lower left, lower right."""


def texture_case(ddi: Since, format: Format, operations: int) -> Case:
    """The case of textures of a format that a driver announces with ``operations``."""
    name = f"announced.texture.{format.name.lower()}"
    rule = f"textures of {format.sdk} are sampled"
    row = FORMATS[format]
    if format in _BLOCKS:
        texels, steps = _BLOCKS[format]()
        return _shown(ddi, name, rule, format, *texels, steps=steps)
    if Use.PALETTE in row.uses:
        return _palettised(ddi, name, rule, format)
    if Use.BUMP in row.uses and (ddi < Since.DX8 or operations & FormatOp.BUMPMAP):
        return _bumped(ddi, name, f"{format.sdk} moves the coordinates of the next stage", format)
    if row.blocked or row.uses & (Use.BUMP | Use.DEPTH):
        return _sampled(ddi, format, name, rule)
    return _plain(ddi, name, rule, format)


def bump_luminance_case(ddi: Since, format: Format) -> Case:
    """The case of the luminance in texels of a bump map."""
    name = f"announced.luminance.{format.name.lower()}"
    return _bumped(ddi, name, f"the luminance of {format.sdk} darkens", format, dark=True)


# Drawing


def _stage(stage: int, state: int, value: int) -> bytes:
    """A TEXTURESTAGESTATE token with one state of a stage."""
    return token(Op.TEXTURESTAGESTATE, struct.pack("<HHI", stage, state, value))


def _float(value: float) -> int:
    """The bits of a float, as a state has them."""
    return int.from_bytes(struct.pack("<f", value), "little")


def _point(stage: int, address: TextureAddress = TextureAddress.CLAMP) -> bytes:
    """Tokens after which a stage samples the nearest texel."""
    states = (
        (_TSS.MAGFILTER, TextureFilter.POINT), (_TSS.MINFILTER, TextureFilter.POINT),
        (_TSS.ADDRESSU, address), (_TSS.ADDRESSV, address),
    )  # fmt: skip
    return b"".join(_stage(stage, *each) for each in states)


_SAMPLING = _point(0) + b"".join(
    stage_state(*each)
    for each in (
        (_STAGE.COLORARG1, TextureArgument.TEXTURE), (_STAGE.ALPHAARG1, TextureArgument.TEXTURE),
    )
)  # fmt: skip
"""Tokens after which a stage's texture is drawn as it is."""


def _drawn(
    script: Script, name: str, rule: str, source: str, pixels: Sequence[Sequence[int]],
    *tokens: bytes, steps: int = 0,
) -> Case:  # fmt: skip
    """The case of a script that then draws the texture and expects ``pixels``, row by row."""
    corners = ((0, 0, 0, 0), (SIDE, 0, 1, 0), (0, SIDE, 0, 1), (SIDE, SIDE, 1, 1))
    user = b"".join(
        struct.pack("<4fI2f", _LEFT + x - 0.5, _TOP + y - 0.5, 0.5, 1.0, FRONT, u, v)
        for x, y, u, v in corners
    )
    script.background(stage_state(0, TEXTURE))
    script.call(*tokens, box(), user=user, fvf=XYZRHW | DIFFUSE | 1 << 8)  # D3DFVF_TEX1
    expected = background()
    for y, row in enumerate(pixels, _TOP):
        expected |= {(x, y): color for x, color in enumerate(row, _LEFT)}
    script.show(expected)
    case = script.case(name, rule, source)
    return replace(case, shown=tuple(replace(each, steps=steps) for each in case.shown))


def _shown(
    ddi: Since, name: str, rule: str, format: Format, data: bytes,
    pixels: Sequence[Sequence[int]], *, steps: int = 0,
) -> Case:  # fmt: skip
    script = Script(ddi)
    script.texture(TEXTURE, format, data, SIDE)
    return _drawn(script, name, rule, _DOCUMENT, pixels, _SAMPLING, steps=steps)


def _quartered(quarters: Quarters) -> list[list[int]]:
    """Rows of a texture or picture whose quarters have one value each."""
    return [[quarters[2 * (y // _HALF) + x // _HALF] for x in range(SIDE)] for y in range(SIDE)]


def _texels(format: Format, quarters: Quarters) -> bytes:
    """The bytes of a texture whose quarters have one pixel word each."""
    desc = SurfaceDesc(TEXTURE, SurfaceKind.TEXTURE, SIDE, SIDE, format)
    pitch, size = layout_of(desc)[0].pitch, FORMATS[format].size
    return b"".join(
        b"".join(word.to_bytes(size, "little") for word in line).ljust(pitch, b"\0")
        for line in _quartered(quarters)
    )


def _sampled(ddi: Since, format: Format, name: str, rule: str) -> Case:
    """A case that samples a texture of zeros, of which no document tells the colours, and then
    draws as every other case does.
    """
    script = Script(ddi)
    script.texture(TEXTURE, format, b"", SIDE)
    states = stage_state(0, TEXTURE), stage_state(_STAGE.COLORARG1, TextureArgument.TEXTURE)
    script.call(*PLAIN, *states, box(), stage_state(0, 0), corners=BOX)
    return drawing_goes_on(script, name, rule, _DOCUMENT)


# Channels


def ones(channel: Channel) -> int:
    """The bits of a channel whose value is 1."""
    if channel.coding is Coding.FLOAT:
        return 0x3C00 if channel.bits == 16 else 0x3F800000
    return channel.max


def word(row: FormatRow, lanes: Mapping[str, int]) -> int:
    """A pixel whose channels are 0 or 1, as ``lanes`` has them by letter."""
    return sum(
        ones(channel) << channel.shift for letter, channel in row.channels.items() if lanes[letter]
    )


def _plain(ddi: Since, name: str, rule: str, format: Format) -> Case:
    """The case of a texture whose quarters have all channels 0, all 1, and every second."""
    row = FORMATS[format]
    letters = list(row.channels)
    texels = [{letter: at >> number & 1 for number, letter in enumerate(letters)}
              for at in (0, 0xF, 5, 10)]  # fmt: skip
    colors = [_color(row, lanes) for lanes in texels]
    data = _texels(format, [word(row, lanes) for lanes in texels])
    return _shown(ddi, name, rule, format, data, _quartered(colors))


def _color(row: FormatRow, lanes: Mapping[str, int]) -> int:
    """The A8R8G8B8 colour that sampling a pixel gives whose channels are 0 or 1."""
    letters = {id(channel): letter for letter, channel in row.channels.items()}
    values = [
        lanes[letters[id(lane)]] if isinstance(lane, Channel) else int(lane) for lane in row.lanes
    ]
    red, green, blue, alpha = (0xFF * value for value in values)
    return alpha << 24 | red << 16 | green << 8 | blue


# Palettes

_ENTRIES = ((0xFF, 0, 0), (0, 0xFF, 0), (0, 0, 0xFF), (0xFF, 0xFF, 0))
"""Red, green and blue of the palette's entries 0, 1, 2 and 255; 2 becomes the third later."""
_INDICES = 0, 1, 2, 255


def _palettised(ddi: Since, name: str, rule: str, format: Format) -> Case:
    """The case of a palette of which one entry changes before it is used."""
    script = Script(ddi)
    row = FORMATS[format]
    alphas = (0xFF, 0, 0xFF, 0) if row.alpha else (0xFF,) * 4
    texels = [alpha << 8 | index if row.alpha else index
              for alpha, index in zip(alphas, _INDICES, strict=True)]  # fmt: skip
    script.texture(TEXTURE, format, _texels(format, texels), SIDE)
    before = *_ENTRIES[:2], (0xFF, 0xFF, 0xFF)
    colors = [alpha << 24 | red << 16 | green << 8 | blue
              for alpha, (red, green, blue) in zip(alphas, _ENTRIES, strict=True)]  # fmt: skip
    return _drawn(
        script, name, rule, "documentation of D3DHAL_DP2UPDATEPALETTE", _quartered(colors),
        dwords(Op.SETPALETTE, _PALETTE, 0, TEXTURE), _update(0, before),
        _update(255, _ENTRIES[3:]), _update(2, _ENTRIES[2:3]),
        _SAMPLING,
    )  # fmt: skip


def _update(first: int, entries: Sequence[tuple[int, int, int]]) -> bytes:
    """A token that sets entries of the palette, opaque, from ``first`` on."""
    data = b"".join(struct.pack("<4B", *entry, 0xFF) for entry in entries)
    return token(Op.UPDATEPALETTE, struct.pack("<I2H", _PALETTE, first, len(entries)) + data)


# Bump maps

_COLORS = 0xFFFF0000, 0xFF00FF00, 0xFF0000FF, 0xFFFFFFFF
"""The quarters of the texture that is moved."""
_VECTORS = (0, 0), (-1, 0), (1, -1), (0, -1)
"""(u, v) of the bump map's quarters."""
_MOVED = 0, 0, 1, 1
"""The quarter that each quarter shows; coordinates beyond the texture are clamped."""
_TWO = (
    LeastNeed("MaxSimultaneousTextures 2", "MaxSimultaneousTextures", 2),
    LeastNeed("MaxTextureBlendStages 2", "MaxTextureBlendStages", 2),
)


def _bumped(ddi: Since, name: str, rule: str, format: Format, *, dark: bool = False) -> Case:
    """The case of a bump map whose vectors move coordinates by half the texture; with ``dark``,
    one of its quarters has luminance 0.
    """
    script = Script(ddi)
    light = (1, 1, 1, 0) if dark else (1, 1, 1, 1)
    texels = [
        _vector(FORMATS[format], *vector, lit) for vector, lit in zip(_VECTORS, light, strict=True)
    ]
    script.texture(TEXTURE, format, _texels(format, texels), SIDE)
    colors = _texels(Format.A8R8G8B8, _COLORS)
    script.texture(_OTHER_TEXTURE, Format.A8R8G8B8, colors, SIDE)
    pixels = [_COLORS[at] if lit else 0xFF000000 for at, lit in zip(_MOVED, light, strict=True)]
    op = TextureOp.BUMPENVMAPLUMINANCE if dark else TextureOp.BUMPENVMAP
    first = (
        (_STAGE.BUMPENVMAT00, _float(0.5)), (_STAGE.BUMPENVMAT01, 0), (_STAGE.BUMPENVMAT10, 0),
        (_STAGE.BUMPENVMAT11, _float(0.5)), (_STAGE.BUMPENVLSCALE, _float(1)),
        (_STAGE.BUMPENVLOFFSET, 0), (_STAGE.COLOROP, op),
        (_STAGE.COLORARG1, TextureArgument.TEXTURE), (_STAGE.COLORARG2, TextureArgument.DIFFUSE),
    )  # fmt: skip
    second = (
        (0, _OTHER_TEXTURE), (_STAGE.TEXCOORDINDEX, 0),
        (_STAGE.COLOROP, TextureOp.SELECTARG1), (_STAGE.COLORARG1, TextureArgument.TEXTURE),
        (_STAGE.ALPHAOP, TextureOp.SELECTARG1), (_STAGE.ALPHAARG1, TextureArgument.DIFFUSE),
    )  # fmt: skip
    case = _drawn(
        script, name, rule, "documentation of bump mapping", _quartered(pixels), _point(0),
        _point(1), *(_stage(0, *each) for each in first), *(_stage(1, *each) for each in second),
    )  # fmt: skip
    return replace(case, needs=_TWO)


def _vector(row: FormatRow, u: int, v: int, lit: int) -> int:
    """A pixel with a vector of -1, 0 and 1, luminance 0 or 1, and zeros else."""
    found = 0
    for letter, value in (("u", u), ("v", v)):
        channel = row.channels[letter]
        found |= (value * (channel.max >> 1) & channel.max) << channel.shift
    light = row.channels.get("l")
    return found | (light.max << light.shift if light and lit else 0)


# Blocks

_RED, _GREEN, _BLUE, _WHITE, _YELLOW, _CYAN = 0xF800, 0x07E0, 0x001F, 0xFFFF, 0xFFE0, 0x07FF
"""Colours of R5G6B5."""
Picture = tuple[bytes, list[list[int]]]
"""A texture: its bytes and the colours of its texels, row by row."""


def _rgb(color: int) -> int:
    """The opaque A8R8G8B8 colour of an R5G6B5 colour whose channels are 0 or all ones."""
    red, green, blue = (0xFF if color & mask else 0 for mask in (_RED, _GREEN, _BLUE))
    return 0xFF000000 | red << 16 | green << 8 | blue


_ENDS = (_YELLOW, _BLUE), (_RED, _GREEN), (_BLUE, _WHITE), (_CYAN, _YELLOW)
"""The two colours of each of four blocks; in the last two the first is the smaller number."""
_CHOICES = (
    [(x ^ y) & 1 for y in range(4) for x in range(4)],
    [y & 1 for y in range(4) for x in range(4)],
    [x & 1 for y in range(4) for x in range(4)],
    [int(x > y) for y in range(4) for x in range(4)],
)
"""The colour, first or second, of each texel of four blocks."""
_CLEAR = 3
"""The choice that is transparent black in a block of DXT1 whose first colour is the smaller."""


def _packed(values: Sequence[int], bits: int) -> bytes:
    """Numbers of ``bits`` bits each, the first in the lowest bits."""
    whole = sum(value << bits * at for at, value in enumerate(values))
    return whole.to_bytes(len(values) * bits // 8, "little")


def _join(blocks: Sequence[Sequence[int]]) -> list[list[int]]:
    """The rows of a picture of four blocks of 4 x 4 texels."""
    return [
        [blocks[2 * (y // 4) + x // 4][4 * (y % 4) + x % 4] for x in range(8)] for y in range(8)
    ]


def _dxt(alpha: Callable[[int], tuple[bytes, list[int]]] | None) -> tuple[Picture, int]:
    """A texture of four blocks; ``alpha`` makes the first half and the alphas of a block by its
    number.
    """
    data, shown = b"", []
    for number, ((first, second), choices) in enumerate(zip(_ENDS, _CHOICES, strict=True)):
        chosen = list(choices)
        before, alphas = alpha(number) if alpha else (b"", [0xFF] * 16)
        if alpha is None and first < second:
            chosen[:4] = [_CLEAR] * 4
        colors = {0: _rgb(first), 1: _rgb(second), _CLEAR: 0}
        data += before + struct.pack("<2H", first, second) + _packed(chosen, 2)
        shown.append([
            colors[choice] & (alphas[at] << 24 | 0xFFFFFF) for at, choice in enumerate(chosen)
        ])  # fmt: skip
    return (data, _join(shown)), 0


def _explicit(number: int) -> tuple[bytes, list[int]]:
    """A block of alphas of four bits."""
    alphas = _CHOICES[number - 1]
    return _packed([0xF * each for each in alphas], 4), [0xFF * each for each in alphas]


def _interpolated(number: int) -> tuple[bytes, list[int]]:
    """A block of alphas between two ends: the ends alone, or 0 and 1 as well, which a block has
    whose first end is the smaller.
    """
    picks = _CHOICES[number - 1]
    ends = (0xFF, 0) if number < 2 else (0, 0xFF)
    names = (0, 1) if number % 2 == 0 else (6, 7) if number > 2 else (1, 0)
    values = {0: ends[0], 1: ends[1], 6: 0, 7: 0xFF}
    chosen = [names[pick] for pick in picks]
    return bytes(ends) + _packed(chosen, 3), [values[each] for each in chosen]


def _pairs(make: Callable[[int, int], bytes], steps: int) -> tuple[Picture, int]:
    """A texture of blocks of two texels, each black or white."""
    lines = [[(x ^ y) & 1 for x in range(SIDE)] for y in range(SIDE)]
    if not steps:  # pairs whose texels share red and blue
        lines = [[(x // 2 ^ y) & 1 for x in range(SIDE)] for y in range(SIDE)]
    data = b"".join(make(line[at], line[at + 1]) for line in lines for at in range(0, SIDE, 2))
    return (data, [[0xFFFFFFFF if each else 0xFF000000 for each in line] for line in lines]), steps


def _luma(white: int) -> int:
    """The luminance of white or black."""
    return 235 if white else 16


_NEUTRAL = 128
"""Chroma without colour."""
_BLOCKS: dict[Format, Callable[[], tuple[Picture, int]]] = {
    Format.DXT1: lambda: _dxt(None),
    Format.DXT2: lambda: _dxt(_explicit),
    Format.DXT3: lambda: _dxt(_explicit),
    Format.DXT4: lambda: _dxt(_interpolated),
    Format.DXT5: lambda: _dxt(_interpolated),
    Format.YUY2: lambda: _pairs(
        lambda one, two: bytes((_luma(one), _NEUTRAL, _luma(two), _NEUTRAL)), _YUV_STEPS
    ),
    Format.UYVY: lambda: _pairs(
        lambda one, two: bytes((_NEUTRAL, _luma(one), _NEUTRAL, _luma(two))), _YUV_STEPS
    ),
    Format.R8G8_B8G8: lambda: _pairs(lambda one, two: bytes((0xFF * one,)) * 4, 0),
    Format.G8R8_G8B8: lambda: _pairs(lambda one, two: bytes((0xFF * one,)) * 4, 0),
}
"""Format of blocks -> function that makes a texture, and by how many steps a channel may differ.
No document tells the colours of the other formats of blocks."""


def texture_cases_of(ddi: Since, format: Format, operations: int) -> Iterator[Case]:
    """Yield the cases of textures of an announced format."""
    yield texture_case(ddi, format, operations)
    row = FORMATS[format]
    bumps = ddi < Since.DX8 or operations & FormatOp.BUMPMAP
    if Use.BUMP in row.uses and "l" in row.channels and bumps:
        yield bump_luminance_case(ddi, format)

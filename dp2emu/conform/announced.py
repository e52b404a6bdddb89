"""Cases that what a driver announces works, and which cases an announcement makes mandatory.

Each announced format is created, written, drawn into or sampled, and each announced value of a
state is set and drawn with.  Pictures have channels of all zeros and all ones, which are exact in
every format.  Sources: the documentation of DDPIXELFORMAT (dwOperations) and D3DCAPS9.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from msgspec.structs import replace

from dp2emu.conform.case import Case, Shown
from dp2emu.conform.needed import needs_of
from dp2emu.conform.pictures import textured
from dp2emu.conform.script import (
    BOX,
    BOX_PIXELS,
    DEPTH,
    PLAIN,
    TEXTURE,
    UNCULLED,
    Script,
    box,
    dwords,
    render_state,
    stage_state,
    token,
    vertex,
)
from dp2emu.conform.target import BACK, FRONT, HEIGHT, OTHER, TARGET, WIDTH, background, fill
from dp2emu.d3d.capabilities import TARGETS, Capabilities
from dp2emu.d3d.capflags import FormatOp
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import (
    Blend,
    BlendOp,
    CmpFunc,
    Format,
    RenderState,
    StencilOp,
    TextureAddress,
    TextureArgument,
    TextureFilter,
    TextureOp,
    TextureStageState,
)
from dp2emu.d3d.flags import Clear
from dp2emu.d3d.formats import COLOR, FORMATS, Channel, Coding, FormatRow, Use
from dp2emu.d3d.fvf import DIFFUSE, XYZRHW
from dp2emu.d3d.legacy import TextureStageState8
from dp2emu.d3d.sdk import SdkEnum
from dp2emu.dp2.table import Since
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind, layout_of

_SOURCE = "documentation of DDPIXELFORMAT (dwOperations)"
_CAPS = "documentation of D3DCAPS9"
_SECOND = 9
"""Handle of a render target beside the target of every case."""


def demanded(cases: Iterable[Case], capabilities: Capabilities) -> Iterator[Case]:
    """Yield the cases, those that a driver may refuse only if it does not announce all that they
    need: what is announced may not be refused.
    """
    for case in cases:
        promised = case.optional and all(need.promised(capabilities) for need in needs_of(case))
        yield replace(case, optional=False) if promised else case


def announced_cases(capabilities: Capabilities, ddi: Since) -> Iterator[Case]:
    """Yield cases of the formats and of the states that a driver announces, as ``announced.*``."""
    for number in dict.fromkeys(number for number, _ in capabilities.formats):
        operations = capabilities.operations(number) or 0
        if number not in FORMATS:
            continue  # a format of the driver's own, about which no document says anything
        format = Format(number)
        row = FORMATS[format]
        if operations & FormatOp.TEXTURE:
            yield _texture(ddi, format)
        if operations & TARGETS and format in COLOR and ddi >= Since.DX7:
            yield _target(ddi, format)
        if operations & FormatOp.ZSTENCIL and row.depth and ddi >= Since.DX7:
            yield _depth(ddi, format)
    yield from _states(capabilities, ddi)


# Formats


def _name(format: Format) -> str:
    return format.name.lower()


def _ones(channel: Channel) -> int:
    """The bits of a channel whose value is 1."""
    if channel.coding is Coding.FLOAT:
        return 0x3C00 if channel.bits == 16 else 0x3F800000
    return channel.max


def _word(row: FormatRow, lanes: Mapping[str, int]) -> bytes:
    """The bytes of a pixel whose channels are 0 or 1, as ``lanes`` has them by letter."""
    word = sum(
        _ones(channel) << channel.shift
        for letter, channel in row.channels.items()
        if lanes[letter]
    )
    return word.to_bytes(row.size, "little")


def _exact(row: FormatRow) -> bool:
    """Whether the colours of texels of a format are known: no blocks, bump vectors, palettes."""
    return not row.blocked and not row.uses & (Use.BUMP | Use.PALETTE | Use.DEPTH)


def _texture(ddi: Since, format: Format) -> Case:
    row = FORMATS[format]
    name, rule = f"announced.texture.{_name(format)}", f"textures of {format.sdk} are sampled"
    if not _exact(row):
        return _sampled(ddi, format, name, rule)
    letters = list(row.channels)
    texels = [{letter: at >> number & 1 for number, letter in enumerate(letters)}
              for at in (0, 0xF, 5, 10)]  # fmt: skip
    pitch = layout_of(SurfaceDesc(TEXTURE, SurfaceKind.TEXTURE, 2, 2, format))[0].pitch
    data = b"".join(
        b"".join(_word(row, lanes) for lanes in texels[2 * y : 2 * y + 2]).ljust(pitch, b"\0")
        for y in range(2)
    )
    colors = [_color(row, lanes) for lanes in texels]
    rows = [[colors[2 * y + x] for x in (0, 0, 0, 1, 1, 1)] for y in range(2)]
    case = textured(ddi, name, rule, _SOURCE, rows, [], (format, data))
    return replace(case, optional=False)


def _color(row: FormatRow, lanes: Mapping[str, int]) -> int:
    """The A8R8G8B8 colour that sampling a pixel gives whose channels are 0 or 1."""
    letters = {id(channel): letter for letter, channel in row.channels.items()}
    values = [
        lanes[letters[id(lane)]] if isinstance(lane, Channel) else int(lane) for lane in row.lanes
    ]
    red, green, blue, alpha = (0xFF * value for value in values)
    return alpha << 24 | red << 16 | green << 8 | blue


def _sampled(ddi: Since, format: Format, name: str, rule: str) -> Case:
    """A case that samples a texture of zeros, and then draws as every other case does."""
    script = Script(ddi)
    script.texture(TEXTURE, format, b"", side=4)
    states = stage_state(0, TEXTURE), stage_state(_STAGE.COLORARG1, TextureArgument.TEXTURE)
    script.call(*PLAIN, *states, box(), stage_state(0, 0), corners=BOX)
    return _drawing_goes_on(script, name, rule, _SOURCE)


def _target(ddi: Since, format: Format) -> Case:
    """A case that clears a target of a format, draws a box into it, and reads pixels of both."""
    row = FORMATS[format]
    script = Script(ddi)
    script.surface(SurfaceDesc(_SECOND, SurfaceKind.SURFACE, WIDTH, HEIGHT, format))
    script.background()
    user = b"".join(vertex(*corner) for corner in BOX)
    script.call(
        dwords(Op.SETRENDERTARGET, _SECOND, 0), script.clear(BACK), *PLAIN, box(),
        user=user, fvf=XYZRHW | DIFFUSE,
    )  # fmt: skip
    name, rule = f"announced.target.{_name(format)}", f"{format.sdk} is drawn into"
    case = script.case(name, rule, _SOURCE)
    pitch = layout_of(SurfaceDesc(_SECOND, SurfaceKind.SURFACE, WIDTH, HEIGHT, format))[0].pitch
    seen = [
        piece
        for x, y, color in ((0, 0, FRONT), (7, 3, FRONT), (8, 0, BACK), (3, 4, BACK))
        for piece in _pixel(row, y * pitch + x * row.size, color)
    ]
    probe = next(each for each in seen if any(each.data))
    return replace(case, shown=(replace(probe, probe=True), *seen))


_SHIFTS = {"b": 0, "g": 8, "r": 16, "a": 24}
"""Channel of A8R8G8B8 -> its lowest bit."""


def _pixel(row: FormatRow, offset: int, color: int) -> Iterator[Shown]:
    """Yield the expected bytes of a pixel at a byte offset, but those with bits of no channel."""
    lanes = {letter: color >> shift & 1 for letter, shift in _SHIFTS.items()}
    data = _word(row, lanes | {"l": lanes["r"]})
    used = sum(channel.max << channel.shift for channel in row.channels.values())
    for at, byte in enumerate(used.to_bytes(row.size, "little")):
        if byte == 0xFF:
            yield Shown(_SECOND, offset + at, data[at : at + 1])


def _depth(ddi: Since, format: Format) -> Case:
    """A case of a near box and a far one behind it, with a depth surface of a format."""
    script = Script(ddi)
    script.surface(SurfaceDesc(DEPTH, SurfaceKind.SURFACE, WIDTH, HEIGHT, format))
    script.background()
    clear = struct.pack("<IIfI4i", Clear.ZBUFFER, 0, 1.0, 0, 0, 0, WIDTH, HEIGHT)
    near = b"".join(vertex(x, y, FRONT, 0.25) for x, y in BOX)
    far = b"".join(vertex(x + 4, y, OTHER, 0.75) for x, y in BOX)
    script.call(
        dwords(Op.SETRENDERTARGET, TARGET, DEPTH), token(Op.CLEAR, clear),
        render_state(RenderState.ZENABLE, 1), render_state(RenderState.ZWRITEENABLE, 1),
        render_state(RenderState.ZFUNC, CmpFunc.LESSEQUAL), box(),
        token(Op.TRIANGLESTRIP, struct.pack("<H", 4), 2), user=near + far, fvf=XYZRHW | DIFFUSE,
    )  # fmt: skip
    pixels = background()
    fill(pixels, 4, 0, 12, 4, OTHER)
    fill(pixels, 0, 0, 8, 4, FRONT)
    script.show(pixels)
    return script.case(
        f"announced.depth.{_name(format)}", f"{format.sdk} hides far pixels", _SOURCE
    )


# States

_RS, _STAGE, _TSS = RenderState, TextureStageState, TextureStageState8
_RENDER: tuple[tuple[RenderState, RenderState | None, type[SdkEnum]], ...] = (
    (_RS.SRCBLEND, _RS.ALPHABLENDENABLE, Blend),
    (_RS.DESTBLEND, _RS.ALPHABLENDENABLE, Blend),
    (_RS.BLENDOP, _RS.ALPHABLENDENABLE, BlendOp),
    (_RS.ALPHAFUNC, _RS.ALPHATESTENABLE, CmpFunc),
    (_RS.ZFUNC, None, CmpFunc),
    (_RS.STENCILFAIL, None, StencilOp),
    (_RS.STENCILZFAIL, None, StencilOp),
    (_RS.STENCILPASS, None, StencilOp),
)
"""A render state, the state that enables it if any, and its values."""
_STAGES: tuple[tuple[SdkEnum, type[SdkEnum]], ...] = (
    (_STAGE.COLOROP, TextureOp),
    (_STAGE.ALPHAOP, TextureOp),
    (_TSS.ADDRESSU, TextureAddress),
    (_TSS.MAGFILTER, TextureFilter),
    (_TSS.MINFILTER, TextureFilter),
)
"""A texture stage state and its values."""


_NEWER: tuple[tuple[type[SdkEnum], int, Since], ...] = (
    (Blend, Blend.BOTHINVSRCALPHA, Since.DX9),
    (BlendOp, 0, Since.DX8),
    (TextureOp, TextureOp.DOTPRODUCT3, Since.DX8),
    (TextureAddress, TextureAddress.BORDER, Since.DX8),
)
"""(Values, the last of earlier versions, the version that has the values beyond it)."""


def _known(value: SdkEnum, ddi: Since) -> bool:
    """Whether a version has a value of a state."""
    kind = type(value)
    return not any(kind is each and value > last and ddi < new for each, last, new in _NEWER)


def _states(capabilities: Capabilities, ddi: Since) -> Iterator[Case]:
    """Yield a case for each announced value of a state: it is drawn with, and then without."""
    for state, enabling, values in _RENDER:
        enabled = b"" if enabling is None else render_state(enabling, 1)
        disabled = b"" if enabling is None else render_state(enabling, 0)
        for value in filter(partial(_known, ddi=ddi), values):
            case = _set(ddi, state, value, (enabled, render_state(state, value)), disabled)
            yield from _promised(case, capabilities)
    for stage, values in _STAGES:
        for value in filter(partial(_known, ddi=ddi), values):
            case = _set(ddi, stage, value, (stage_state(stage, value),), b"")
            yield from _promised(case, capabilities)


def _set(
    ddi: Since, state: SdkEnum, value: SdkEnum, tokens: tuple[bytes, ...], after: bytes
) -> Case:
    """A case that draws with a state that ``tokens`` set, and then without, by ``after``."""
    script = Script(ddi)
    script.call(*PLAIN, *tokens, box(), after, corners=BOX)
    name = f"announced.state.{state.name}.{value.name}".lower()
    rule = f"{state.sdk} may be {value.sdk}, which is announced"
    return _drawing_goes_on(script, name, rule, _CAPS)


def _promised(case: Case, capabilities: Capabilities) -> Iterator[Case]:
    """Yield a case if it needs more than its surfaces, and all that is announced."""
    needs = needs_of(case)
    states = [need for need in needs if getattr(need, "mask", 0)]
    if states and all(need.promised(capabilities) for need in states):
        yield case


def _drawing_goes_on(script: Script, name: str, rule: str, source: str) -> Case:
    """The case of a script whose calls are followed by a box with the states of every case."""
    before = script.watch()
    script.call(before, *PLAIN, UNCULLED, script.begun, box(), script.ended, corners=BOX)
    script.drawn([BOX_PIXELS])
    return script.case(name, rule, source)

"""Cases that surfaces of each announced format are render targets or depth surfaces.

A render target is cleared, or written where there is no CLEAR, drawn into and read.  With a depth
surface a near box hides a far one, with its stencil bits a box is drawn where they have a value.
Pictures have channels of all zeros and all ones, which are exact in every format.  Source: the
documentation of DDPIXELFORMAT (dwOperations).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from msgspec.structs import replace

from dp2emu.capture.records import MemoryWritten
from dp2emu.conform.announced_textures import word
from dp2emu.conform.case import Case, Shown
from dp2emu.conform.script import (
    BOX,
    CONTEXT,
    OTHER_CONTEXT,
    PLAIN,
    Script,
    box,
    box_vertices,
    dwords,
    render_state,
    token,
    vertex,
)
from dp2emu.conform.target import BACK, FRONT, HEIGHT, OTHER, WHOLE, WIDTH, background, fill
from dp2emu.d3d.capflags import FormatOp
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import CmpFunc, Format, RenderState, StencilOp
from dp2emu.d3d.flags import Clear
from dp2emu.d3d.formats import FORMATS, FormatRow
from dp2emu.d3d.fvf import DIFFUSE, XYZRHW
from dp2emu.dp2.table import Since
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind, layout_of

_SOURCE = "documentation of DDPIXELFORMAT (dwOperations)"
_SECOND = 9
"""Handle of a render target beside the target of every case."""
_TARGET_BYTES = FORMATS[Format.A8R8G8B8].size
"""Size of a pixel of the target of every case."""
DEPTHS = FormatOp.ZSTENCIL | FormatOp.ZSTENCIL_WITH_ARBITRARY_COLOR_DEPTH
"""Operations of a depth format; without the second it is for targets of its own pixel size."""
_PLACES = ((1, 1, FRONT), (6, 2, FRONT), (11, 1, BACK), (3, 7, BACK), (30, 14, BACK))
"""(x, y, colour) of pixels to look at, in and out of the box but not at its edges.

Other cases judge which pixels are covered.
"""


def target_case(ddi: Since, format: Format) -> Case:
    """The case of a target of a format: it gets a colour, and a box of another.

    Before DirectX 8 a driver announces a size of pixels: it may have another format of that size.
    """
    row = FORMATS[format]
    script = Script(ddi)
    desc = SurfaceDesc(_SECOND, SurfaceKind.SURFACE, WIDTH, HEIGHT, format)
    pitch = layout_of(desc)[0].pitch
    script.surface(desc)
    user = b"".join(vertex(*corner) for corner in BOX)
    into, context = _begin(script, row, pitch)
    script.call(into, *PLAIN, box(), user=user, fvf=XYZRHW | DIFFUSE, context=context)
    name, rule = f"announced.target.{format.name.lower()}", f"{format.sdk} is drawn into"
    case = script.case(name, rule, _SOURCE, optional=ddi < Since.DX8)
    seen = [
        piece for x, y, color in _PLACES for piece in _pixel(row, y * pitch + x * row.size, color)
    ]
    probe = next(each for each in seen if any(each.data))
    return replace(case, shown=(replace(probe, probe=True), *seen))


def _begin(script: Script, row: FormatRow, pitch: int) -> tuple[bytes, int]:
    """Give the second target its colour, and return the tokens that do it and the context that
    draws into it.
    """
    if script.clears:
        script.background()
        return dwords(Op.SETRENDERTARGET, _SECOND, 0) + script.clear(BACK), CONTEXT
    line = word(row, _lanes(BACK)).to_bytes(row.size, "little") * WIDTH
    for y in range(HEIGHT):
        script.records.append(MemoryWritten(_SECOND, y * pitch, line))
    script.context(OTHER_CONTEXT, color=_SECOND)
    return b"", OTHER_CONTEXT


_SHIFTS = {"b": 0, "g": 8, "r": 16, "a": 24}
"""Channel of A8R8G8B8 -> its lowest bit."""


def _lanes(color: int) -> dict[str, int]:
    """The channels of a colour, 0 or 1 each, by letter."""
    lanes = {letter: color >> shift & 1 for letter, shift in _SHIFTS.items()}
    return lanes | {"l": lanes["r"]}


def _pixel(row: FormatRow, offset: int, color: int) -> Iterator[Shown]:
    """Yield the expected bytes of a pixel at a byte offset, but those with bits of no channel."""
    data = word(row, _lanes(color)).to_bytes(row.size, "little")
    used = sum(channel.max << channel.shift for channel in row.channels.values())
    for at, byte in enumerate(used.to_bytes(row.size, "little")):
        if byte == 0xFF:
            yield Shown(_SECOND, offset + at, data[at : at + 1])


def depth_cases(ddi: Since, format: Format, operations: int) -> Iterator[Case]:
    """Yield the cases of a depth format: of its depth, and of its stencil bits from DirectX 7 on,
    which has CLEAR.

    A format for targets of its own pixel size alone is tried only if the target has that size;
    before DirectX 8 a driver does not tell, and may refuse it.
    """
    fits = FORMATS[format].size == _TARGET_BYTES
    if ddi >= Since.DX8:
        fits |= bool(operations & FormatOp.ZSTENCIL_WITH_ARBITRARY_COLOR_DEPTH)
        if not fits:
            return
    if FORMATS[format].depth:
        yield _depth(ddi, format, optional=not fits)
    if FORMATS[format].stencil and ddi >= Since.DX7:
        yield _stencil(ddi, format, optional=not fits)


_USUAL = (
    (RenderState.ZENABLE, 1), (RenderState.ZWRITEENABLE, 1),
    (RenderState.ZFUNC, CmpFunc.LESSEQUAL),
)  # fmt: skip


def _strip(number: int) -> bytes:
    """A token that draws the box of the four vertices from 4 * ``number`` on."""
    return token(Op.TRIANGLESTRIP, struct.pack("<H", 4 * number), 2)


def _depth(ddi: Since, format: Format, *, optional: bool) -> Case:
    """The case of a near box, a far one behind it, and a third between the two, with each of which
    depth is compared and written.
    """
    script = Script(ddi, depth=format)
    script.background()
    cleared = script.clear_depth()
    user = (
        box_vertices(0, 0, 8, 4, FRONT, 0.25) + box_vertices(4, 0, 12, 4, OTHER, 0.75)
        + box_vertices(6, 2, 14, 6, FRONT, 0.5)
    )  # fmt: skip
    script.call(
        *(render_state(*each) for each in _USUAL), cleared, _strip(0), _strip(1), _strip(2),
        user=user, fvf=XYZRHW | DIFFUSE,
    )  # fmt: skip
    pixels = background()
    fill(pixels, 4, 0, 12, 4, OTHER)
    fill(pixels, 6, 2, 14, 6, FRONT)
    fill(pixels, 0, 0, 8, 4, FRONT)
    script.show(pixels)
    name, rule = f"announced.depth.{format.name.lower()}", f"{format.sdk} hides far pixels"
    return script.case(name, rule, _SOURCE, optional=optional)


def _stencil(ddi: Since, format: Format, *, optional: bool) -> Case:
    """The case of a box that sets stencil bits to 1, and a second that is drawn only there."""
    script = Script(ddi, depth=format)
    script.background()
    flags = Clear.STENCIL | (Clear.ZBUFFER if FORMATS[format].depth else Clear(0))
    clear = token(Op.CLEAR, struct.pack("<IIfI4i", flags, 0, 1.0, 0, *WHOLE))
    user = box_vertices(0, 0, 8, 4, FRONT) + box_vertices(4, 0, 12, 4, OTHER)
    marking = (
        (RenderState.ZENABLE, 0), (RenderState.STENCILENABLE, 1), (RenderState.STENCILREF, 1),
        (RenderState.STENCILMASK, 1), (RenderState.STENCILWRITEMASK, 1),
        (RenderState.STENCILFUNC, CmpFunc.ALWAYS), (RenderState.STENCILPASS, StencilOp.REPLACE),
    )  # fmt: skip
    marked = (RenderState.STENCILFUNC, CmpFunc.EQUAL), (RenderState.STENCILPASS, StencilOp.KEEP)
    script.call(
        clear, *(render_state(*each) for each in marking), _strip(0),
        *(render_state(*each) for each in marked), _strip(1), user=user, fvf=XYZRHW | DIFFUSE,
    )  # fmt: skip
    pixels = background()
    fill(pixels, 0, 0, 8, 4, FRONT)
    fill(pixels, 4, 0, 8, 4, OTHER)
    script.show(pixels)
    name, rule = f"announced.stencil.{format.name.lower()}", f"{format.sdk} has stencil bits"
    return script.case(name, rule, _SOURCE, optional=optional)

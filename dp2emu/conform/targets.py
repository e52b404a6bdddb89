"""Cases of render targets and of tokens with several items.

CLEAR fills rectangles without their right and bottom sides, each context has its own target, and
every item of a token counts.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from dp2emu.conform.case import Case
from dp2emu.conform.coverage import away_from_edges
from dp2emu.conform.draws import covered
from dp2emu.conform.script import (
    BOX,
    BOX_PIXELS,
    INDICES,
    OTHER_CONTEXT,
    PLAIN,
    VERTICES,
    Corner,
    Script,
    box,
    dwords,
    render_state,
    token,
    vertex,
)
from dp2emu.conform.target import (
    FRONT,
    HEIGHT,
    OTHER,
    TARGET,
    WIDTH,
    Pixel,
    Pixels,
    background,
    fill,
    shown,
)
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import Cull, PrimitiveType, RenderState, ShadeMode
from dp2emu.d3d.flags import Clear
from dp2emu.d3d.fvf import DIFFUSE, XYZRHW, fvf_size
from dp2emu.dp2.table import Since
from dp2emu.gpu.resource.heap import SurfaceKind

_SECOND = TARGET + 20
"""Handle of a second render target."""
_CLEARING = 'wire format, "Clearing"'
_TARGETS = 'wire format, "Render targets"'
_SHAPE = 'wire format, "Stream shape"'
_ORDER = 'wire format, "Primitive order"'
_NUMBERS = 'wire format, "Vertex numbers"'
_FORMATS = 'wire format, "Vertex formats"'
_STREAMS = 'wire format, "DirectX 8 opcodes" and "Vertex sources"'

_CLOCKWISE: tuple[Corner, ...] = ((2, 1), (12, 1), (2, 9), (12, 9), (2, 14))
"""Vertices of a strip of which each triangle is clockwise if every second one is turned round."""
_FAN: tuple[Corner, ...] = ((2, 9), (2, 1), (12, 1), (12, 9))


def target_cases(ddi: Since) -> Iterator[Case]:
    """Yield the conformance cases of render targets, of CLEAR and of tokens with several items."""
    yield from _windings(ddi)
    yield _states(ddi)
    yield _colourless(ddi)
    yield from _flat(ddi)
    if ddi >= Since.DX7:
        yield from _clears(ddi)
        yield from _several_targets(ddi)
    if ddi >= Since.DX8:
        yield from _streams(ddi)


# Several primitives and items


def _windings(ddi: Since) -> Iterator[Case]:
    """Cases of primitives whose triangles are all clockwise, with the others culled."""
    for op, corners, triangles, indices in (
        (Op.TRIANGLESTRIP, _CLOCKWISE, ((0, 1, 2), (1, 3, 2), (2, 3, 4)), 0),
        (Op.INDEXEDTRIANGLESTRIP, _CLOCKWISE, ((0, 1, 2), (1, 3, 2), (2, 3, 4)), 5),
        (Op.TRIANGLEFAN, _FAN, ((0, 1, 2), (0, 2, 3)), 0),
        (Op.INDEXEDTRIANGLEFAN, _FAN, ((0, 1, 2), (0, 2, 3)), 4),
    ):
        script = Script(ddi)
        draw = token(op, struct.pack(f"<{indices + 1}H", 0, *range(indices)), len(triangles))
        culling = render_state(RenderState.CULLMODE, Cull.CCW)
        script.call(script.watch(), culling, script.begun, draw, script.ended, corners=corners)
        script.drawn([covered([corners[i] for i in each], WIDTH, HEIGHT) for each in triangles])
        rule = f"the triangles of {op.sdk} have one winding"
        yield script.case(f"draw.winding.{op.name.lower()}", rule, _ORDER)


def _states(ddi: Since) -> Case:
    script = Script(ddi)
    states = RenderState.ZENABLE, 0, RenderState.CULLMODE, Cull.CCW
    both = token(Op.RENDERSTATE, struct.pack("<4I", *states), 2)
    draw = token(Op.TRIANGLELIST, b"\0\0", 2)
    corners = (*_CLOCKWISE[:3], *((x + WIDTH // 2, y) for x, y in reversed(_CLOCKWISE[:3])))
    script.call(script.watch(), both, script.begun, draw, script.ended, corners=corners)
    script.drawn([covered(corners[:3], WIDTH, HEIGHT)])
    return script.case("state.several", "every state of a token is set", _SHAPE)


def _colourless(ddi: Since) -> Case:
    script = Script(ddi)
    script.background()
    script.call(box(), user=b"".join(vertex(x, y)[: fvf_size(XYZRHW)] for x, y in BOX), fvf=XYZRHW)
    pixels = background() | dict.fromkeys(BOX_PIXELS, 0xFFFFFFFF)
    script.show(away_from_edges(pixels))
    rule = "vertices without a diffuse colour are white"
    return script.case("draw.no_colour", rule, _FORMATS, optional=True)


def _flat(ddi: Since) -> Iterator[Case]:
    """Cases of flat triangles, each of whose vertices has a colour of its own.

    The colours of a triangle have different numbers of channels: none is another with channels in
    another order.
    """
    colors = FRONT, OTHER, 0xFFFFFFFF, 0xFF000000, 0xFFFF0000
    for op, triangles in (
        (Op.TRIANGLELIST, ((0, 1, 2),)),
        (Op.TRIANGLESTRIP, ((0, 1, 2), (1, 3, 2), (2, 3, 4))),
    ):
        script = Script(ddi)
        script.background(render_state(RenderState.SHADEMODE, ShadeMode.FLAT))
        corners = zip(_CLOCKWISE, colors, strict=True)
        user = b"".join(vertex(x, y, color) for (x, y), color in corners)
        script.call(token(op, b"\0\0", len(triangles)), user=user, fvf=_FORMAT)
        pixels = background()
        for each in triangles:
            inside = covered([_CLOCKWISE[i] for i in each], WIDTH, HEIGHT)
            pixels |= dict.fromkeys(inside, colors[each[0]])
        script.show(away_from_edges(pixels))
        rule = "a flat triangle has the colour of its first vertex"
        name = f"draw.flat.{op.name.lower()}"
        yield script.case(name, rule, f"D3DSHADEMODE; {_ORDER}", optional=True)


def _streams(ddi: Since) -> Iterator[Case]:
    """Cases of a vertex buffer, of which a token draws several parts, or with 32-bit indices."""
    first, second = _CLOCKWISE[:3], tuple((x + WIDTH // 2, y / 2) for x, y in _CLOCKWISE[:3])
    list_ = PrimitiveType.TRIANGLELIST
    rule = "a token draws all the primitives that it counts"
    for name, op, items in (
        ("drawprimitive", Op.DRAWPRIMITIVE, ((list_, 0, 1), (list_, 3, 1))),
        ("drawindexedprimitive", Op.DRAWINDEXEDPRIMITIVE,
         ((list_, 0, 0, 6, 0, 1), (list_, 0, 0, 6, 3, 1))),
    ):  # fmt: skip
        payload = b"".join(struct.pack(f"<{len(item)}I", *item) for item in items)
        draw = token(op, payload, len(items))
        yield _streamed(ddi, f"several.{name}", rule, _SHAPE, (first, second), 2, draw)
    draw = dwords(Op.DRAWINDEXEDPRIMITIVE, list_, 0, 0, 6, 0, 2)
    rule = "an index of 4 bytes has 32 bits"
    yield _streamed(ddi, "index_of_32_bits", rule, _STREAMS, (first, second), 4, draw)


def _streamed(
    ddi: Since,
    name: str,
    rule: str,
    source: str,
    triangles: Sequence[Sequence[Corner]],
    index_bytes: int,
    draw: bytes,
) -> Case:
    """A case of ``draw``, which must draw ``triangles``, from a vertex buffer with their corners
    and an index buffer that has the numbers of the corners in order.
    """
    script = Script(ddi)
    data = script.vertices([corner for triangle in triangles for corner in triangle])
    numbers = b"".join(number.to_bytes(index_bytes, "little") for number in range(6))
    script.buffer(VERTICES, SurfaceKind.VERTEXBUFFER, len(data), data)
    script.buffer(INDICES, SurfaceKind.INDEXBUFFER, len(numbers), numbers)
    bound = (
        dwords(Op.SETVERTEXSHADER, script.fvf)
        + dwords(Op.SETSTREAMSOURCE, 0, VERTICES, script.vertex_bytes)
        + dwords(Op.SETINDICES, INDICES, index_bytes)
    )
    script.call(script.watch(), bound)
    script.call(script.begun, draw, script.ended)
    script.drawn([covered(each, WIDTH, HEIGHT) for each in triangles])
    return script.case(f"draw.{name}", rule, source)


# Targets


def _clears(ddi: Since) -> Iterator[Case]:
    """Cases of CLEAR with one and with two rectangles."""
    rectangles = (3, 2, 9, 5), (12, 7, 31, 15)
    for name, rule, number in (
        ("rectangle", "a rectangle of CLEAR is filled but for its right and bottom sides", 1),
        ("several", "every rectangle of CLEAR is filled", 2),
    ):
        script = Script(ddi)
        script.background()
        head = struct.pack("<IIfI", Clear.TARGET, OTHER, 1.0, 0)
        chosen = rectangles[:number]
        payload = head + b"".join(struct.pack("<4i", *each) for each in chosen)
        script.call(token(Op.CLEAR, payload, number))
        pixels = background()
        for rectangle in chosen:
            fill(pixels, *rectangle, OTHER)
        script.show(pixels)
        yield script.case(f"target.clear.{name}", rule, _CLEARING, optional=True)


def _several_targets(ddi: Since) -> Iterator[Case]:
    """Cases of two targets: of one context, one after the other, and of two contexts."""
    boxed = dict.fromkeys(background(), FRONT) | dict.fromkeys(BOX_PIXELS, OTHER)
    away = tuple((x + WIDTH // 2, y) for x, y in BOX)
    moved: Pixels = {(x + WIDTH // 2, y): OTHER for x, y in BOX_PIXELS}
    user, elsewhere = _box(BOX), _box(away)

    script = _with_second(ddi)
    second = _set_target(_SECOND) + script.clear(FRONT)
    script.call(second, box(), user=user, fvf=_FORMAT)
    script.show(background())
    case = script.case("target.set", "a target that was set is drawn to", _TARGETS, optional=True)
    yield _and_second(case, boxed)

    script = _with_second(ddi, struct.pack("<I", FRONT) * (WIDTH * HEIGHT))
    script.call(_set_target(_SECOND), box(), user=user, fvf=_FORMAT)
    script.show(background())
    rule = "what the host wrote into a target stays where nothing is drawn"
    case = script.case("target.written", rule, "documentation of DdUnlock", optional=True)
    yield _and_second(case, boxed)

    script = _with_second(ddi)
    script.context(OTHER_CONTEXT)
    script.call(second, *PLAIN, box(), user=user, fvf=_FORMAT, context=OTHER_CONTEXT)
    script.call(box(), user=elsewhere, fvf=_FORMAT)
    script.show(background() | moved)
    rule = "each context has a target of its own"
    yield _and_second(script.case("target.contexts", rule, _TARGETS, optional=True), boxed)


_FORMAT = XYZRHW | DIFFUSE


def _box(corners: Sequence[Corner]) -> bytes:
    return b"".join(vertex(x, y, OTHER) for x, y in corners)


def _set_target(handle: int) -> bytes:
    return dwords(Op.SETRENDERTARGET, handle, 0)


def _with_second(ddi: Since, pixels: bytes = b"") -> Script:
    """A case with a second target, into which the host writes ``pixels``."""
    script = Script(ddi)
    script.target(_SECOND, pixels)
    script.background()
    return script


def _and_second(case: Case, pixels: Pixels) -> Case:
    """The case, which must also leave these pixels in the second target."""
    last: Pixel = WIDTH - 1, HEIGHT - 1
    expected = (replace(each, handle=_SECOND, probe=False) for each in shown(pixels, last))
    return replace(case, shown=(*case.shown, *expected))

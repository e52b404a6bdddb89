"""A builder of conformance cases: records, calls and expected results, in order."""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from itertools import product

from msgspec.structs import replace

from dp2emu.capture.records import (
    Called,
    ContextCreated,
    ContextDestroyed,
    MemoryWritten,
    Record,
    SurfaceCreated,
    SurfaceDestroyed,
)
from dp2emu.conform.case import Case, Expect, Owed, Shown
from dp2emu.conform.target import (
    BACK,
    FIRST_BOX,
    FRONT,
    HEIGHT,
    TARGET,
    WHOLE,
    WIDTH,
    Pixel,
    Pixels,
    background,
    offset_of,
    shown,
)
from dp2emu.d3d.devinfo import PAYLOADS
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import (
    CmpFunc,
    Cull,
    Format,
    QueryType,
    RenderState,
    TextureArgument,
    TextureOp,
    TextureStageState,
)
from dp2emu.d3d.flags import Clear, Dp2Flags, Issue
from dp2emu.d3d.fvf import DIFFUSE, XYZRHW, fvf_size
from dp2emu.dp2.call import Call
from dp2emu.dp2.table import Since
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind

CONTEXT, OTHER_CONTEXT = 1, 2
COMMANDS = 1
SMALL, VERTICES, INDICES, MANAGED, DEPTH, TEXTURE = range(TARGET + 1, TARGET + 7)
"""Handles of surfaces beside ``TARGET``: command buffer, second command buffer, vertex and index
buffer, managed texture, depth surface, texture of 2 x 2."""
COMMAND_BYTES = 1024

Corner = tuple[float, float]

BOX: tuple[Corner, ...] = ((0, 0), (8, 0), (0, 4), (8, 4))
"""(x, y) of the four vertices of a triangle strip that covers a box of 8 x 4 pixels."""
BOX_PIXELS = frozenset(product(range(8), range(4)))
"""The pixels (x, y) of the box."""


def token(op: int, payload: bytes = b"", n: int = 1) -> bytes:
    """A token with opcode ``op``, count ``n`` and a payload."""
    return struct.pack("<BBH", op, 0, n) + payload


def dwords(op: int, *words: int) -> bytes:
    """A token with one item that consists of DWORDs."""
    return token(op, struct.pack(f"<{len(words)}I", *(word & 0xFFFFFFFF for word in words)))


def create(query: int, kind: int = QueryType.EVENT) -> bytes:
    """A CREATEQUERY token."""
    return dwords(Op.CREATEQUERY, query, kind)


def issue(query: int, flags: int) -> bytes:
    """An ISSUEQUERY token."""
    return dwords(Op.ISSUEQUERY, query, flags)


def begin(query: int) -> bytes:
    """An ISSUEQUERY token with BEGIN."""
    return issue(query, Issue.BEGIN)


def end(query: int) -> bytes:
    """An ISSUEQUERY token with END."""
    return issue(query, Issue.END)


def delete(query: int) -> bytes:
    """A DELETEQUERY token."""
    return dwords(Op.DELETEQUERY, query)


def render_state(state: int, value: int) -> bytes:
    """A RENDERSTATE token with one state."""
    return dwords(Op.RENDERSTATE, state, value)


def stage_state(state: int, value: int) -> bytes:
    """A TEXTURESTAGESTATE token with one state of stage 0; sampler states have DirectX 8's
    numbers.
    """
    return token(Op.TEXTURESTAGESTATE, struct.pack("<HHI", 0, state, value))


@cache
def vertex(x: float, y: float, color: int = FRONT, z: float = 0.5) -> bytes:
    """A transformed vertex with a colour (XYZRHW and DIFFUSE)."""
    return struct.pack("<4fI", x, y, z, 1.0, color)


def box_vertices(
    left: int, top: int, right: int, bottom: int, color: int, z: float = 0.5
) -> bytes:
    """The vertices of a four-vertex strip that covers x from ``left``, y from ``top``, up to but
    without ``right`` and ``bottom``.
    """
    corners = ((left, top), (right, top), (left, bottom), (right, bottom))
    return b"".join(vertex(x, y, color, z) for x, y in corners)


def box() -> bytes:
    """A TRIANGLESTRIP token that draws a box of the first four vertices of the call."""
    return token(Op.TRIANGLESTRIP, b"\0\0", 2)


UNCULLED = render_state(RenderState.CULLMODE, Cull.NONE)
PLAIN = (
    UNCULLED,
    render_state(RenderState.ZENABLE, 0),
    stage_state(TextureStageState.COLOROP, TextureOp.SELECTARG1),
    stage_state(TextureStageState.COLORARG1, TextureArgument.DIFFUSE),
    stage_state(TextureStageState.ALPHAOP, TextureOp.SELECTARG1),
    stage_state(TextureStageState.ALPHAARG1, TextureArgument.DIFFUSE),
)
"""RENDERSTATE and TEXTURESTAGESTATE tokens after which vertex colours are drawn unchanged."""


def _clear(flags: Clear, color: int, left: int, top: int, right: int, bottom: int) -> bytes:
    """A CLEAR token with one rectangle; depth 1, stencil 0."""
    return token(Op.CLEAR, struct.pack("<IIfI4i", flags, color, 1.0, 0, left, top, right, bottom))


class Script:
    """Builds a conformance case, which starts with a context, a command buffer and a target.

    ``ddi`` is the version of the driver interface, which contexts and vertices are for.  At
    DirectX 9 queries tell what was executed and drawn; before, the pixels of the target do.
    Mutable: each method appends records or expected results to the case.
    """

    def __init__(
        self, ddi: Since, command_bytes: int = COMMAND_BYTES, *, depth: Format | None = None
    ) -> None:
        """Begin a case: command buffer, target, context, and a depth surface of a format."""
        self.ddi = ddi
        self.records: list[Record] = []
        self._expected: list[Expect] = []
        self._owed: list[Owed] = []
        self._shown: tuple[Shown, ...] = ()
        self._surfaces: list[int] = []
        self._contexts: list[int] = []
        self.buffer(COMMANDS, SurfaceKind.MEMORY, command_bytes)
        target = SurfaceDesc(TARGET, SurfaceKind.SURFACE, WIDTH, HEIGHT, Format.A8R8G8B8)
        self._make(target)
        if depth is not None:
            self._make(replace(target, handle=DEPTH, format=depth))
        self.context(CONTEXT, DEPTH if depth is not None else 0)

    @property
    def queries(self) -> bool:
        """Whether this version has queries."""
        return self.ddi >= Since.DX9

    @property
    def clears(self) -> bool:
        """Whether this version has the token CLEAR."""
        return self.ddi >= Since.DX7

    @property
    def harmless(self) -> bytes:
        """A token of 12 bytes that draws nothing: CREATEQUERY, or a render state."""
        return create(1) if self.queries else UNCULLED

    # Vertices

    @property
    def fvf(self) -> int:
        """Format of the vertices that ``vertices`` returns; with a colour if pixels are read."""
        return XYZRHW if self.queries else XYZRHW | DIFFUSE

    @property
    def vertex_bytes(self) -> int:
        """Size in bytes of a vertex of format ``fvf``."""
        return fvf_size(self.fvf)

    def vertices(self, corners: Iterable[Corner]) -> bytes:
        """Transformed vertices of format ``fvf``."""
        size = self.vertex_bytes
        return b"".join([vertex(*corner)[:size] for corner in corners])

    def buffer(self, handle: int, kind: SurfaceKind, size: int, data: bytes = b"") -> None:
        """Create a buffer of ``size`` bytes that begins with ``data``."""
        self._make(SurfaceDesc(handle, kind, size), data)

    def surface(self, desc: SurfaceDesc) -> None:
        """Create a surface, all zeros."""
        self._make(desc)

    def managed(self, handle: int) -> None:
        """Create a 4 x 4 texture of three levels that the driver manages, with this handle."""
        texture = SurfaceDesc(handle, SurfaceKind.TEXTURE, 4, 4, Format.A8R8G8B8)
        self._make(replace(texture, levels=3, managed=1))

    def texture(self, handle: int, format: Format, texels: bytes, side: int = 2) -> None:
        """Create a texture of ``side`` x ``side`` texels."""
        self._make(SurfaceDesc(handle, SurfaceKind.TEXTURE, side, side, format), texels)

    def target(self, handle: int, pixels: bytes) -> None:
        """Create another render target of the size of ``TARGET``, with these bytes."""
        self._make(
            SurfaceDesc(handle, SurfaceKind.SURFACE, WIDTH, HEIGHT, Format.A8R8G8B8), pixels
        )

    def context(self, number: int, depth: int = 0, color: int = TARGET) -> None:
        """Create a context of an application of version ``ddi``."""
        self.records.append(ContextCreated(number, int(self.ddi), color, depth))
        self._contexts.append(number)

    def call(
        self,
        *tokens: bytes,
        expect: Expect | None = None,
        offset: int = 0,
        buffer: int = COMMANDS,
        context: int = CONTEXT,
        corners: Sequence[Corner] = (),
        user: bytes = b"",
        fvf: int = 0,
        vertex_bytes: int = 0,
        count: int | None = None,
        start: int = 0,
        vertices: int = 0,
    ) -> None:
        """Submit tokens with vertices in user memory: ``user``, of format ``fvf``, or ``corners``.

        ``vertex_bytes`` replaces the vertex size of the format.  Only ``count`` vertices from byte
        ``start`` on belong to the call if that is given, although more are in memory.  With
        ``vertices``, the handle of a vertex buffer, they are in that.
        """
        commands, data = b"".join(tokens), user or self.vertices(corners)
        fvf = fvf or self.fvf
        size = vertex_bytes or fvf_size(fvf)
        call = Call(
            context,
            lpDDCommands=buffer,
            dwCommandOffset=offset,
            dwCommandLength=len(commands),
            dwFlags=int(Dp2Flags.USERMEMVERTICES) if data else 0,
            dwVertexType=fvf,
            lpDDVertex=vertices,
            dwVertexOffset=start,
            dwVertexLength=len(data) // size if count is None else count,
            dwVertexSize=size,
            commands=commands,
            vertices=data or None,
        )
        self.records.append(Called(call))
        self._expected.append(expect or Expect())

    def owe(self, query: int, kind: int, begins: bytes = b"", context: int = CONTEXT) -> None:
        """Expect an answer to ``query`` of type ``kind`` whose payload begins with ``begins``."""
        size = PAYLOADS[QueryType(kind)].sizeof()
        self._owed.append(Owed(context, query, kind, begins, size))

    def owe_events(self, *queries: int) -> None:
        """Expect an answer to each of these event queries, in order: the DWORD 1, signalled."""
        for query in queries:
            self.owe(query, QueryType.EVENT, struct.pack("<I", 1))

    def owe_count(self, query: int, pixels: int) -> None:
        """Expect occlusion query ``query`` to be answered with the number ``pixels``."""
        self.owe(query, QueryType.OCCLUSION, struct.pack("<I", pixels))

    # Pixels

    def background(self, *tokens: bytes) -> None:
        """Give the target the colour ``BACK``, set states that draw vertex colours unchanged, and
        then submit ``tokens`` in the same call.

        Before DirectX 7 the host writes it, but for ``FIRST_BOX``, which is drawn.
        """
        if self.clears:
            self.call(self.clear(BACK), *PLAIN, *tokens)
            return
        self.clear(BACK)
        self.clear(0, FIRST_BOX)
        user = box_vertices(*FIRST_BOX, BACK)
        self.call(*PLAIN, box(), *tokens, user=user, fvf=XYZRHW | DIFFUSE)

    def clear(self, color: int, rectangle: tuple[int, int, int, int] = WHOLE) -> bytes:
        """A token that clears a rectangle of the target, or no token: the host wrote ``color``."""
        if self.clears:
            return _clear(Clear.TARGET, color, *rectangle)
        left, top, right, bottom = rectangle
        row = struct.pack("<I", color) * (right - left)
        for y in range(top, bottom):
            self.records.append(MemoryWritten(TARGET, offset_of(left, y), row))
        return b""

    def clear_depth(self) -> bytes:
        """A token that sets the depth surface to 1, or no token: a far box was drawn."""
        if self.clears:
            return _clear(Clear.ZBUFFER, 0, *WHOLE)
        on = (RenderState.ZENABLE, 1), (RenderState.ZWRITEENABLE, 1)
        states = *on, (RenderState.ZFUNC, CmpFunc.ALWAYS)
        tokens = [render_state(*each) for each in states]
        self.call(*tokens, box(), user=box_vertices(*WHOLE, BACK, 1.0), fvf=XYZRHW | DIFFUSE)
        return b""

    def show(self, pixels: Mapping[Pixel, int]) -> None:
        """Expect these pixels in the target at the end; ``background`` must have been called."""
        left, top, right, bottom = FIRST_BOX
        if self.clears:
            self._shown = shown(pixels, (right - 1, bottom - 1) if self.queries else None)
            return
        middle = left + 1, top + 1
        edges = set(product(range(left, right), range(top, bottom))) - {middle}
        self._shown = shown(pixels, middle, edges)

    # What was executed and drawn

    def watch(self) -> bytes:
        """Tokens to submit before ``begun``: they set states so that all triangles are drawn."""
        if self.queries:
            return create(1, QueryType.OCCLUSION) + UNCULLED
        self.background()
        return UNCULLED

    @property
    def begun(self) -> bytes:
        """The token before tokens whose drawing is watched, if any."""
        return begin(1) if self.queries else b""

    @property
    def ended(self) -> bytes:
        """The token after tokens whose drawing is watched, if any."""
        return end(1) if self.queries else b""

    def drawn(self, triangles: Iterable[Collection[Pixel]]) -> None:
        """Expect the tokens between ``begun`` and ``ended`` to draw these pixels, per triangle.

        A query counts a pixel for each triangle; in the target they have the colour ``FRONT``.
        """
        if self.queries:
            self.owe_count(1, sum(map(len, triangles)))
            return
        pixels: Pixels = background()
        for triangle in triangles:
            pixels |= dict.fromkeys(triangle, FRONT)
        self.show(pixels)

    def followed(self, *tokens: bytes, more: Sequence[Corner] = ()) -> None:
        """Submit ``tokens`` and then one whose execution is seen: END of an event, or a draw.

        The call has the vertices of ``BOX``, and ``more`` behind them.
        """
        corners = (*BOX, *more)
        if self.queries:
            self.call(create(1), *tokens, end(1), corners=corners)
            self.owe_events(1)
            return
        before = self.watch()
        self.call(*tokens, before, box(), corners=corners)
        self.drawn([BOX_PIXELS])

    def case(self, name: str, rule: str, source: str, *, optional: bool = False) -> Case:
        """The case built so far, with records at the end that destroy contexts and surfaces."""
        contexts = tuple(ContextDestroyed(number) for number in self._contexts)
        surfaces = tuple(SurfaceDestroyed(handle) for handle in reversed(self._surfaces))
        records = (*self.records, *contexts, *surfaces)
        results = tuple(self._expected), tuple(self._owed)
        told = (name, rule, source)
        return Case(*told, records, *results, optional, self._shown, since=self.ddi)

    def _make(self, desc: SurfaceDesc, data: bytes = b"") -> None:
        self.records.append(SurfaceCreated(desc))
        self._surfaces.append(desc.handle)
        if data:
            self.records.append(MemoryWritten(desc.handle, 0, data))


def drawing_goes_on(script: Script, name: str, rule: str, source: str) -> Case:
    """The case of a script whose calls are followed by a box with the states of every case."""
    before = script.watch()
    script.call(before, *PLAIN, UNCULLED, script.begun, box(), script.ended, corners=BOX)
    script.drawn([BOX_PIXELS])
    return script.case(name, rule, source)


def event_case(
    ddi: Since,
    name: str,
    rule: str,
    source: str,
    *calls: bytes,
    events: Iterable[int] = (),
    expect: Expect | None = None,
) -> Case:
    """A case of ``calls``, command bytes each, after which the event queries ``events`` must be
    answered in order; ``expect`` is the result of the last call.
    """
    script = Script(ddi)
    for number, commands in enumerate(calls, 1):
        script.call(commands, expect=expect if number == len(calls) else None)
    script.owe_events(*events)
    return script.case(name, rule, source)

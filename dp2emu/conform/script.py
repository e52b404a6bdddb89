"""A builder of conformance cases: records, calls and expected results, in order."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

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
from dp2emu.d3d.devinfo import PAYLOADS
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import Format, QueryType
from dp2emu.d3d.flags import Dp2Flags, Issue
from dp2emu.d3d.fvf import XYZRHW, fvf_size
from dp2emu.dp2.call import Call
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind

CONTEXT, OTHER_CONTEXT = 1, 2
COMMANDS, TARGET, SMALL, VERTICES, INDICES, MANAGED, DEPTH, TEXTURE = range(1, 9)
"""Handles of surfaces: command buffer, target, second command buffer, vertex and index buffer,
managed texture, depth surface, texture of 2 x 2."""
COMMAND_BYTES = 1024
WIDTH, HEIGHT = 32, 16
"""Width and height in pixels of the render target of conformance cases."""
VERTEX_BYTES = 16

Corner = tuple[float, float]


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


def vertices(corners: Iterable[Corner]) -> bytes:
    """Transformed vertices (XYZRHW), ``VERTEX_BYTES`` each."""
    return b"".join(struct.pack("<4f", x, y, 0.5, 1.0) for x, y in corners)


class Script:
    """Builds a conformance case, which starts with a context, a command buffer and a target.

    Mutable: each method appends records or expected results to the case.
    """

    def __init__(self, command_bytes: int = COMMAND_BYTES, *, depth: bool = False) -> None:
        """Begin a case: command buffer, target, context, and with ``depth`` a depth surface."""
        self.records: list[Record] = []
        self._expected: list[Expect] = []
        self._owed: list[Owed] = []
        self._surfaces: list[int] = []
        self._contexts: list[int] = []
        self.buffer(COMMANDS, SurfaceKind.MEMORY, command_bytes)
        target = SurfaceDesc(TARGET, SurfaceKind.SURFACE, WIDTH, HEIGHT, Format.A8R8G8B8)
        self._make(target)
        if depth:
            self._make(replace(target, handle=DEPTH, format=Format.D16))
        self.context(CONTEXT, DEPTH if depth else 0)

    def buffer(self, handle: int, kind: SurfaceKind, size: int, data: bytes = b"") -> None:
        """Create a buffer of ``size`` bytes that begins with ``data``."""
        self._make(SurfaceDesc(handle, kind, size), data)

    def managed(self, handle: int) -> None:
        """Create a 4 x 4 texture of three levels that the driver manages, with this handle."""
        texture = SurfaceDesc(handle, SurfaceKind.TEXTURE, 4, 4, Format.A8R8G8B8)
        self._make(replace(texture, levels=3, managed=1))

    def texture(self, handle: int, format: Format, texels: bytes) -> None:
        """Create a texture of 2 x 2 texels."""
        self._make(SurfaceDesc(handle, SurfaceKind.TEXTURE, 2, 2, format), texels)

    def context(self, number: int, depth: int = 0) -> None:
        """Create a DirectX 9 context."""
        self.records.append(ContextCreated(number, 9, TARGET, depth))
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
        fvf: int = XYZRHW,
        vertex_bytes: int = 0,
    ) -> None:
        """Submit tokens with vertices in user memory: ``user``, of format ``fvf``, or ``corners``.

        ``vertex_bytes`` replaces the vertex size of the format.
        """
        commands, data = b"".join(tokens), user or vertices(corners)
        size = vertex_bytes or fvf_size(fvf)
        call = Call(
            context,
            lpDDCommands=buffer,
            dwCommandOffset=offset,
            dwCommandLength=len(commands),
            dwFlags=int(Dp2Flags.USERMEMVERTICES) if data else 0,
            dwVertexType=fvf,
            dwVertexLength=len(data) // size,
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

    def case(
        self,
        name: str,
        rule: str,
        source: str,
        *,
        optional: bool = False,
        shown: tuple[Shown, ...] = (),
    ) -> Case:
        """The case built so far, with records that destroy its contexts and surfaces at the end.

        ``shown`` are the expected contents of memory before that.
        """
        contexts = tuple(ContextDestroyed(number) for number in self._contexts)
        surfaces = tuple(SurfaceDestroyed(handle) for handle in reversed(self._surfaces))
        records = (*self.records, *contexts, *surfaces)
        results = tuple(self._expected), tuple(self._owed)
        return Case(name, rule, source, records, *results, optional, shown)

    def _make(self, desc: SurfaceDesc, data: bytes = b"") -> None:
        self.records.append(SurfaceCreated(desc))
        self._surfaces.append(desc.handle)
        if data:
            self.records.append(MemoryWritten(desc.handle, 0, data))


def event_case(
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
    script = Script()
    for number, commands in enumerate(calls, 1):
        script.call(commands, expect=expect if number == len(calls) else None)
    script.owe_events(*events)
    return script.case(name, rule, source)

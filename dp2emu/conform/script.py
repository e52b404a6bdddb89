"""A builder of conformance cases: records, calls and expected results, in order."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

import msgspec
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
from dp2emu.dp2.call import Call
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind

CONTEXT, OTHER_CONTEXT = 1, 2
COMMANDS, TARGET, SMALL, VERTICES, INDICES, MANAGED, DEPTH, TEXTURE = 1, 2, 3, 4, 5, 6, 7, 8
"""Handles: command buffer, target, another command buffer, vertex and index buffer, managed
texture, depth surface, texture of 2 x 2."""
COMMAND_BYTES = 1024
WIDTH, HEIGHT = 32, 16
"""The target, in pixels."""
FVF_XYZRHW = 0x004
VERTEX_BYTES = 16

_BEGIN, _END = int(Issue.BEGIN), int(Issue.END)

Corner = tuple[float, float]


def token(op: int, payload: bytes = b"", n: int = 1) -> bytes:
    """A token with a payload."""
    return struct.pack("<BBH", op, 0, n) + payload


def dwords(op: int, *words: int) -> bytes:
    """A token with one item that consists of DWORDs."""
    return token(op, struct.pack(f"<{len(words)}I", *(word & 0xFFFFFFFF for word in words)))


def create(query: int, kind: int = QueryType.EVENT) -> bytes:
    """CREATEQUERY."""
    return dwords(Op.CREATEQUERY, query, kind)


def issue(query: int, flags: int) -> bytes:
    """ISSUEQUERY."""
    return dwords(Op.ISSUEQUERY, query, flags)


def begin(query: int) -> bytes:
    """ISSUEQUERY with BEGIN."""
    return issue(query, _BEGIN)


def end(query: int) -> bytes:
    """ISSUEQUERY with END."""
    return issue(query, _END)


def delete(query: int) -> bytes:
    """DELETEQUERY."""
    return dwords(Op.DELETEQUERY, query)


def render_state(state: int, value: int) -> bytes:
    """RENDERSTATE with one state."""
    return dwords(Op.RENDERSTATE, state, value)


def stage_state(state: int, value: int) -> bytes:
    """TEXTURESTAGESTATE with one state of stage 0; sampler states have DirectX 8's numbers."""
    return token(Op.TEXTURESTAGESTATE, struct.pack("<HHI", 0, state, value))


def vertices(corners: Iterable[Corner]) -> bytes:
    """Transformed vertices (XYZRHW), ``VERTEX_BYTES`` each."""
    return b"".join(struct.pack("<4f", x, y, 0.5, 1.0) for x, y in corners)


class Users(msgspec.Struct, frozen=True):
    """Vertices in user memory: their bytes, their format, and the size of one in bytes."""

    data: bytes
    fvf: int
    size: int


class Script:
    """A builder of a case with a context, a command buffer and a target.

    Mutable: each method appends to the case.
    """

    def __init__(self, command_bytes: int = COMMAND_BYTES, *, depth: bool = False) -> None:
        """Create the context; with ``depth`` it has a depth surface."""
        self.records: list[Record] = []
        self._expected: list[Expect] = []
        self._owed: list[Owed] = []
        self._surfaces: list[int] = []
        self._contexts: list[int] = []
        self._shown: tuple[Shown, ...] = ()
        self.buffer(COMMANDS, SurfaceKind.MEMORY, command_bytes)
        target = SurfaceDesc(TARGET, SurfaceKind.SURFACE, WIDTH, HEIGHT, Format.A8R8G8B8)
        self._make(target)
        if depth:
            self._make(replace(target, handle=DEPTH, format=Format.D16))
        self.context(CONTEXT, DEPTH if depth else 0)

    def buffer(self, handle: int, kind: SurfaceKind, size: int, data: bytes = b"") -> None:
        """Create a buffer of ``size`` bytes that begins with ``data``."""
        self._make(SurfaceDesc(handle, kind, size))
        if data:
            self.records.append(MemoryWritten(handle, 0, data))

    def managed(self, handle: int) -> None:
        """Create a driver-managed texture of three levels."""
        self._make(
            SurfaceDesc(handle, SurfaceKind.TEXTURE, 4, 4, Format.A8R8G8B8, levels=3, managed=1)
        )

    def texture(self, handle: int, format: Format, texels: bytes) -> None:
        """Create a texture of 2 x 2 texels."""
        self._make(SurfaceDesc(handle, SurfaceKind.TEXTURE, 2, 2, format))
        self.records.append(MemoryWritten(handle, 0, texels))

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
        vertex_bytes: int = VERTEX_BYTES,
        users: Users | None = None,
    ) -> None:
        """Submit tokens and, in user memory, vertices of ``corners`` or ``users``."""
        commands = b"".join(tokens)
        given = users or Users(vertices(corners), FVF_XYZRHW, vertex_bytes)
        call = Call(
            context,
            lpDDCommands=buffer,
            dwCommandOffset=offset,
            dwCommandLength=len(commands),
            dwFlags=int(Dp2Flags.USERMEMVERTICES) if given.data else 0,
            dwVertexType=given.fvf,
            dwVertexLength=len(users.data) // users.size if users else len(corners),
            dwVertexSize=given.size,
            commands=commands,
            vertices=given.data or None,
        )
        self.records.append(Called(call))
        self._expected.append(expect or Expect())

    def owe(self, query: int, kind: int, begins: bytes = b"", context: int = CONTEXT) -> None:
        """Expect an answer whose payload begins with ``begins``."""
        size = PAYLOADS[QueryType(kind)].sizeof()
        self._owed.append(Owed(context, query, kind, begins, size))

    def owe_event(self, query: int, context: int = CONTEXT) -> None:
        """Expect an event to be signalled; its answer is never FALSE."""
        self.owe(query, QueryType.EVENT, struct.pack("<I", 1), context)

    def owe_count(self, query: int, pixels: int) -> None:
        """Expect an occlusion query to count ``pixels``."""
        self.owe(query, QueryType.OCCLUSION, struct.pack("<I", pixels))

    def show(self, shown: tuple[Shown, ...]) -> None:
        """Expect the contents of memory at the end."""
        self._shown = shown

    def case(self, name: str, rule: str, source: str, *, optional: bool = False) -> Case:
        """The finished case, which at its end destroys all that it created."""
        contexts = tuple(ContextDestroyed(number) for number in self._contexts)
        surfaces = tuple(SurfaceDestroyed(handle) for handle in reversed(self._surfaces))
        records = (*self.records, *contexts, *surfaces)
        return Case(
            name, rule, source, records, tuple(self._expected), tuple(self._owed), optional,
            self._shown,
        )  # fmt: skip

    def _make(self, desc: SurfaceDesc) -> None:
        self.records.append(SurfaceCreated(desc))
        self._surfaces.append(desc.handle)

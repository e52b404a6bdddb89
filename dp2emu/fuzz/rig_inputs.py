"""Inputs for drivers under test: records of a context, its calls and the empty calls behind them.

An input is a byte that chooses the setting, then the command bytes of calls, separated by
``CALL``: a *wild* input, about which only rules that hold for every stream can say anything.  An
input that begins with ``TAME`` is the seed of a valid program, whose answers are the emulator's.
Both keep to the tokens of one DirectX version.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from random import Random

import msgspec

from dp2emu.capture.records import (
    Called,
    ContextCreated,
    ContextDestroyed,
    MemoryWritten,
    Record,
    SurfaceCreated,
)
from dp2emu.conform.script import begin, create, delete, dwords, end, render_state, token
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import Cull, Format, PrimitiveType, QueryType, RenderState
from dp2emu.d3d.flags import Dp2Flags
from dp2emu.d3d.fvf import DIFFUSE, XYZRHW
from dp2emu.dp2.call import Call
from dp2emu.dp2.generate import generate_stream
from dp2emu.dp2.table import TABLE, Since
from dp2emu.dp2.tokens.state import StateSetOperation
from dp2emu.fuzz import grammar
from dp2emu.fuzz.stage import CALL
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind

CONTEXT = 1
TARGET, VERTICES, INDICES, TEXTURE = 1, 2, 3, 4
SIDE = 32
"""Width and height of the target in pixels."""
COMMANDS = {5: 2048, 6: 64, 7: 256, 8: 512}
"""Handles and bytes of the command surfaces: a small one has no room for all responses."""
TAME = 0x80
"""First byte of the inputs that are seeds of valid programs."""
LONGEST = 1024
_ISSUE = bytes((Op.ISSUEQUERY,))
"""Behind the calls of an input that may have such a token is an empty one; if answers are missing
then, more are made."""
_CALLS = 4
_OFFSET = 16
"""dwCommandOffset of the calls of some inputs."""
_FVF = XYZRHW | DIFFUSE
_VERTEX = struct.Struct("<4fI")
_VERTEX_BYTES = _VERTEX.size
_NUMBER = 24
"""Vertices of an input."""
_KIND = SurfaceKind
SURFACES = (
    SurfaceDesc(TARGET, _KIND.SURFACE, SIDE, SIDE, Format.A8R8G8B8),
    SurfaceDesc(VERTICES, _KIND.VERTEXBUFFER, _NUMBER * _VERTEX_BYTES),
    SurfaceDesc(INDICES, _KIND.INDEXBUFFER, 2 * _NUMBER),
    SurfaceDesc(TEXTURE, _KIND.TEXTURE, 8, 8, Format.A8R8G8B8),
    *(SurfaceDesc(handle, _KIND.MEMORY, size) for handle, size in COMMANDS.items()),
)
"""Surfaces that exist for all inputs."""


def tokens_until(ddi: Since) -> tuple[int, ...]:
    """Return the opcodes that the runtime of a version sends."""
    return tuple(op for op in sorted(TABLE) if TABLE[op].since <= ddi)


def setting() -> list[Record]:
    """Return the records before all inputs: the surfaces."""
    return [SurfaceCreated(desc) for desc in SURFACES]


def created(kind: int) -> bytes:
    """Return a token that creates a query of type ``kind``."""
    return create(1, kind)


# Wild inputs


def seed(ddi: Since, rng: Random) -> bytes:
    """Return a random input: a wild one of up to three calls, or a tame one."""
    if rng.random() < _TAME_SHARE:
        return bytes((TAME,)) + rng.randbytes(8)
    return _wild_seed(ddi, rng)


def _wild_seed(ddi: Since, rng: Random) -> bytes:
    calls = [_stream(ddi, rng) for _ in range(rng.randrange(1, 4))]
    return bytes((rng.randrange(16),)) + CALL.join(calls)


def _stream(ddi: Since, rng: Random) -> bytes:
    ops = tokens_until(ddi)
    if rng.random() < 0.3:
        return generate_stream(rng, rng.randrange(1, 5), ops=ops, vertex_size=_VERTEX_BYTES)
    parts = [grammar.sample(rng, rng.choice(ops)) for _ in range(rng.randrange(1, 5))]
    if ddi >= Since.DX9:
        asked = [(create(n, kind), end(n)) for n, kind in enumerate(_TYPES, 1)]
        parts += (each for pair in rng.sample(asked, rng.randrange(4)) for each in pair)
    return b"".join(parts)


def mutate(ddi: Since, rng: Random, data: bytes, other: bytes) -> bytes:
    """Mutate a wild input, or return a tame one; tokens of later versions are left out."""
    if rng.random() < _TAME_SHARE:
        return bytes((TAME,)) + rng.randbytes(8)
    if data[:1] == bytes((TAME,)):
        return _wild_seed(ddi, rng)
    head, calls = data[:1] or b"\0", data[1:].split(CALL)
    others = other[1:].split(CALL) if other[:1] != bytes((TAME,)) else [_stream(ddi, rng)]
    at, kind = rng.randrange(len(calls)), rng.randrange(10)
    if kind == 0:
        calls.insert(at, rng.choice(others))
    elif kind == 1:
        head = bytes((rng.randrange(16),))
    elif kind == 2:
        calls[at] += _stream(ddi, rng)
    else:
        calls[at] = _kept(ddi, grammar.mutate(rng, calls[at], rng.choice(others)))
    return head + CALL.join(calls[:_CALLS])


_TAME_SHARE = 0.04
"""Share of inputs that are new tame ones: emulating one takes as long as ten wild ones."""


def _kept(ddi: Since, commands: bytes) -> bytes:
    """Return commands without the tokens that are younger than ``ddi``."""
    if ddi == Since.DX9:
        return commands
    tokens = grammar.tokens_of(commands)
    return b"".join(each for each in tokens if Since.of(each[0]) <= ddi)


# Records


def records(ddi: Since, types: Sequence[int], data: bytes) -> list[Record]:
    """Return the records of an input, from the creation of its context to the end of that.

    ``types`` are the query types that tame programs may use.
    """
    if data[:1] == bytes((TAME,)):
        made = _Program(Random(data), ddi, types).records()
    else:
        made = list(_wild(data))
    return [ContextCreated(CONTEXT, int(ddi), TARGET), *made, ContextDestroyed(CONTEXT)]


def _wild(data: bytes) -> Iterator[Record]:
    """Yield the calls of a wild input."""
    head = data[0] if data else 0
    buffer = list(COMMANDS)[head & 3]
    start = _OFFSET if head & 4 else 0
    for commands in data[1:].split(CALL)[:_CALLS]:
        commands = commands[: COMMANDS[buffer] - start]
        yield Called(_call(commands, buffer, start, _CORNERS if head & 8 else None))
    if _ISSUE in data:
        yield Called(poll(buffer))


def poll(buffer: int) -> Call:
    """Return an empty call, which fetches answers into command surface ``buffer``."""
    return Call(CONTEXT, lpDDCommands=buffer)


def _call(commands: bytes, buffer: int, start: int, user: bytes | None) -> Call:
    return Call(
        CONTEXT, buffer, dwCommandOffset=start, dwCommandLength=len(commands), commands=commands,
        dwVertexType=_FVF, dwVertexSize=_VERTEX_BYTES, dwVertexLength=_NUMBER,
        lpDDVertex=0 if user else VERTICES, vertices=user,
        dwFlags=int(Dp2Flags.USERMEMVERTICES) if user else 0,
    )  # fmt: skip


def _corners(rng: Random) -> bytes:
    """Return vertices at pixel centres on the target and around it, all of one colour."""
    color = rng.getrandbits(32) | 0xFF000000
    sides = [each % (SIDE + 16) - 8 for each in rng.randbytes(2 * _NUMBER)]
    places = zip(sides[::2], sides[1::2], strict=True)
    return b"".join(_VERTEX.pack(x, y, 0.5, 1.0, color) for x, y in places)


_CORNERS = _corners(Random(0))

# Tame inputs

_TYPES = (QueryType.EVENT, QueryType.OCCLUSION, QueryType.VCACHE)
_PRIMITIVES = (
    PrimitiveType.TRIANGLELIST, PrimitiveType.TRIANGLESTRIP, PrimitiveType.TRIANGLEFAN,
)  # fmt: skip
_MODES = (Cull.NONE, Cull.CW, Cull.CCW)


def _vertices_of(kind: PrimitiveType, count: int) -> int:
    return 3 * count if kind is PrimitiveType.TRIANGLELIST else count + 2


_Piece = bytes | Callable[[int], bytes]
"""Tokens, or a function that returns them for the byte of the command surface where they begin."""


class _Program(msgspec.Struct):
    """A valid program that is being made of random numbers.  Mutable.

    It draws triangles of transformed vertices, from user memory and inline with the tokens of
    DirectX 6 and 7, or from streams with tokens of 8 and 9, between queries.
    """

    rng: Random
    ddi: Since
    types: Sequence[int]
    queries: dict[int, int] = msgspec.field(default_factory=dict)
    begun: set[int] = msgspec.field(default_factory=set)
    blocks: int = 0

    def records(self) -> list[Record]:
        """Return the records of the program, without its context."""
        rng = self.rng
        corners = _corners(rng)
        indices = struct.pack(f"<{_NUMBER}H", *(rng.randrange(_NUMBER) for _ in range(_NUMBER)))
        buffer, start = rng.choice(list(COMMANDS)), rng.choice((0, _OFFSET))
        calls = _joined(rng, self._pieces(), start, COMMANDS[buffer])
        return [
            MemoryWritten(TARGET, 0, bytes(4 * SIDE * SIDE)),
            MemoryWritten(VERTICES, 0, corners),
            MemoryWritten(INDICES, 0, indices),
            *(Called(_call(each, buffer, start, rng.choice((corners, None)))) for each in calls),
            Called(poll(buffer)),
        ]

    def _pieces(self) -> list[_Piece]:
        """Return the steps of the program."""
        rng = self.rng
        draws = _OLD
        pieces: list[_Piece] = [render_state(RenderState.CULLMODE, Cull.NONE)]
        if self.ddi >= Since.DX8 and rng.random() < 0.5:
            draws = _STREAMED[self.ddi >= Since.DX9]
            pieces += (
                dwords(Op.SETVERTEXSHADER, _FVF),
                dwords(Op.SETSTREAMSOURCE, 0, VERTICES, _VERTEX_BYTES),
                dwords(Op.SETINDICES, INDICES, 2),
            )
        if self.types:
            kinds = enumerate((rng.choice(self.types) for _ in range(rng.randrange(10))), 1)
            self.queries = dict(kinds)
            pieces += (create(number, kind) for number, kind in self.queries.items())
        return pieces + [self._step(draws) for _ in range(rng.randrange(4, 24))]

    def _step(self, draws: Sequence[_Draw]) -> _Piece:
        """Return the tokens of a random step."""
        rng, kind = self.rng, self.rng.random()
        if self.queries and kind < 0.4:
            return self._query()
        if kind < 0.5:
            return render_state(RenderState.CULLMODE, rng.choice(_MODES))
        if kind < 0.55:
            x, y = rng.randrange(SIDE), rng.randrange(SIDE)
            width, height = rng.randrange(SIDE - x) + 1, rng.randrange(SIDE - y) + 1
            return dwords(Op.VIEWPORTINFO, x, y, width, height)
        if kind < 0.62 and self.ddi >= Since.DX9:
            x, y = rng.randrange(SIDE), rng.randrange(SIDE)
            box = dwords(Op.SETSCISSORRECT, x, y, x + rng.randrange(9), y + rng.randrange(9))
            return render_state(RenderState.SCISSORTESTENABLE, rng.randrange(2)) + box
        if kind < 0.7 and self.ddi >= Since.DX7:
            return self._state_block()
        return rng.choice(draws)(rng)

    def _query(self) -> bytes:
        """Return an ISSUEQUERY, or rarely a DELETEQUERY."""
        rng = self.rng
        number = rng.choice(list(self.queries))
        if rng.random() < 0.05:
            self.begun.discard(number)
            del self.queries[number]
            return delete(number)
        if number in self.begun or self.queries[number] != QueryType.OCCLUSION:
            self.begun.discard(number)
            return end(number)
        self.begun.add(number)
        return begin(number)

    def _state_block(self) -> bytes:
        """Return a STATESET that executes or captures a block, or those that record one."""
        rng = self.rng
        if self.blocks and rng.random() < 0.6:
            operation = rng.choice((StateSetOperation.EXECUTE, StateSetOperation.CAPTURE))
            return dwords(Op.STATESET, operation, rng.randrange(self.blocks) + 1, 0)
        if self.blocks == _BLOCKS:
            return b""
        self.blocks += 1
        return (
            dwords(Op.STATESET, StateSetOperation.BEGIN, self.blocks, 0)
            + render_state(RenderState.CULLMODE, rng.choice(_MODES))
            + dwords(Op.STATESET, StateSetOperation.END, self.blocks, 0)
        )


_BLOCKS = 4
"""State blocks of a program at most."""


def _joined(rng: Random, pieces: Sequence[_Piece], start: int, room: int) -> list[bytes]:
    """Return the commands of calls that together have all pieces, each of them as long as there
    is room from byte ``start`` of the command surface on.
    """
    calls = [b""]
    for piece in pieces:
        data = piece(start + len(calls[-1])) if callable(piece) else piece
        if start + len(calls[-1]) + len(data) > room or rng.random() < 0.05:
            calls.append(b"")
            data = piece(start) if callable(piece) else piece
        if start + len(data) <= room:
            calls[-1] += data
    return calls


_Draw = Callable[[Random], _Piece]
"""Function that returns a token that draws."""


def _plain(rng: Random) -> bytes:
    op, kind = rng.choice(
        tuple(zip((Op.TRIANGLELIST, Op.TRIANGLESTRIP, Op.TRIANGLEFAN), _PRIMITIVES, strict=True))
    )
    count = rng.randrange(5)
    first = rng.randrange(_NUMBER - _vertices_of(kind, count) + 1)
    return token(op, struct.pack("<H", first), count)


def _indexed(rng: Random) -> bytes:
    ops = Op.INDEXEDTRIANGLELIST2, Op.INDEXEDTRIANGLESTRIP, Op.INDEXEDTRIANGLEFAN
    op, kind = rng.choice(tuple(zip(ops, _PRIMITIVES, strict=True)))
    count, first = rng.randrange(1, 5), rng.randrange(_NUMBER)
    number = _vertices_of(kind, count)
    indices = (rng.randrange(_NUMBER - first) for _ in range(number))
    return token(op, struct.pack(f"<{number + 1}H", first, *indices), count)


def _absolute(rng: Random) -> bytes:
    count = rng.randrange(4)
    items = (struct.pack("<4H", *(rng.randrange(_NUMBER) for _ in range(3)), 0x700)
             for _ in range(count))  # fmt: skip
    return token(Op.INDEXEDTRIANGLELIST, b"".join(items), count)


def _inline(rng: Random) -> Callable[[int], bytes]:
    count = rng.randrange(1, 4)
    head = token(Op.TRIANGLEFAN_IMM, struct.pack("<I", 7), count)
    corners = _corners(rng)[: (count + 2) * _VERTEX_BYTES]
    return lambda at: head + bytes(-(at + len(head)) % 4) + corners


def _stream_draw(rng: Random) -> bytes:
    kind, count = rng.choice(_PRIMITIVES), rng.randrange(1, 5)
    return dwords(Op.DRAWPRIMITIVE, kind,
                  rng.randrange(_NUMBER - _vertices_of(kind, count) + 1), count)  # fmt: skip


def _stream_draw2(rng: Random) -> bytes:
    kind, count = rng.choice(_PRIMITIVES), rng.randrange(1, 5)
    first = rng.randrange(_NUMBER - _vertices_of(kind, count) + 1)
    return dwords(Op.DRAWPRIMITIVE2, kind, first * _VERTEX_BYTES, count)


def _stream_indexed(rng: Random) -> bytes:
    kind, count = rng.choice(_PRIMITIVES), rng.randrange(1, 5)
    first = rng.randrange(_NUMBER - _vertices_of(kind, count) + 1)
    return dwords(Op.DRAWINDEXEDPRIMITIVE, kind, 0, 0, _NUMBER, first, count)


_OLD: tuple[_Draw, ...] = (_plain, _indexed, _absolute, _inline)
_STREAMED: dict[bool, tuple[_Draw, ...]] = {
    False: (_stream_draw, _stream_indexed),
    True: (_stream_draw, _stream_draw2, _stream_indexed),
}
"""Tokens that draw from streams, without and with tokens of DirectX 9."""

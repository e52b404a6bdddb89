"""Inputs for drivers under test: records of a context, its calls and the empty calls behind them.

An input is a byte that chooses the setting, then the command bytes of calls, separated by
``CALL``: a *wild* input, about which only rules that hold for every stream can say anything.  An
input that begins with ``TAME`` is the seed of a valid program, whose answers are the emulator's.
Both keep to the tokens of one DirectX version.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

import msgspec

from dp2emu.capture.records import Called, ContextCreated, ContextDestroyed, Record, SurfaceCreated
from dp2emu.conform.needed import lacking_of
from dp2emu.conform.script import create, end
from dp2emu.d3d.capabilities import Capabilities
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import Format, QueryType
from dp2emu.d3d.flags import Dp2Flags
from dp2emu.d3d.fvf import DIFFUSE, SPECULAR, XYZRHW
from dp2emu.dp2.call import Call
from dp2emu.dp2.generate import generate_stream
from dp2emu.dp2.table import TABLE, Since
from dp2emu.fuzz import grammar
from dp2emu.fuzz.stage import CALL
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind


class Layout(NamedTuple):
    """A vertex buffer: its handle, the FVF of its vertices and their bytes."""

    handle: int
    fvf: int
    stride: int


CONTEXT, OTHER_CONTEXT = 1, 2
TARGET, VERTICES, INDICES, TEXTURE = 1, 2, 3, 4
SIDE = 32
"""Width and height of the target in pixels."""
COMMANDS = {5: 2048, 6: 64, 7: 68, 8: 512, 9: 60, 10: 256}
"""Handles and bytes of the command surfaces: a small one has no room for all responses, and beside
those that fit there are 8 bytes for RESPONSECONTINUE, 4 or none."""
SPARE, WIDE_INDICES = 11, 12
_TEX1 = 0x100
LAYOUTS = (
    Layout(VERTICES, XYZRHW | DIFFUSE, 20), Layout(13, XYZRHW | DIFFUSE | SPECULAR, 24),
    Layout(14, XYZRHW | DIFFUSE | _TEX1, 28),
)  # fmt: skip
"""Vertex buffers, each with vertices of one format."""
TAME = 0x80
"""First byte of the inputs that are seeds of valid programs."""
LONGEST = 1024
_ISSUE = bytes((Op.ISSUEQUERY,))
"""Behind the calls of an input that may have such a token is an empty one; if answers are missing
then, more are made."""
_CALLS = 4
_TYPES = (QueryType.EVENT, QueryType.OCCLUSION, QueryType.VCACHE)
OFFSET = 16
"""dwCommandOffset of the calls of some inputs."""
_VERTEX = struct.Struct("<4fI")
_VERTEX_BYTES = _VERTEX.size
NUMBER = 24
"""Vertices of an input."""
AHEAD = 4
"""Vertices in a buffer before the last ``NUMBER``; dwVertexOffset of some calls skips them."""
_KIND = SurfaceKind
SURFACES = (
    SurfaceDesc(TARGET, _KIND.SURFACE, SIDE, SIDE, Format.A8R8G8B8),
    SurfaceDesc(SPARE, _KIND.SURFACE, SIDE, SIDE, Format.A8R8G8B8),
    *(SurfaceDesc(at.handle, _KIND.VERTEXBUFFER, (AHEAD + NUMBER) * at.stride) for at in LAYOUTS),
    SurfaceDesc(INDICES, _KIND.INDEXBUFFER, 2 * NUMBER),
    SurfaceDesc(WIDE_INDICES, _KIND.INDEXBUFFER, 4 * NUMBER),
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


class Known(msgspec.Struct, frozen=True):
    """What is known of a driver: its version, the query types that programs may use, the opcodes
    that it does not announce, and its capabilities; None if it tells nothing.
    """

    ddi: Since
    types: tuple[int, ...] = ()
    unannounced: frozenset[int] = frozenset()
    capabilities: Capabilities | None = None

    def announces(self, commands: bytes) -> bool:
        """Return whether the driver announces, or does not tell, all that tokens need."""
        if self.capabilities is None:
            return True
        return not lacking_of(Call(CONTEXT, commands=commands), self.capabilities)

    def kept(self, commands: bytes) -> bytes:
        """Return commands without the tokens that the driver does not announce."""
        if not self.unannounced:
            return commands
        tokens = grammar.tokens_of(commands)
        return b"".join(each for each in tokens if each[0] not in self.unannounced)


# Wild inputs


def seed(ddi: Since, rng: Random) -> bytes:
    """Return a random input: a wild one of up to three calls, or a tame one."""
    if rng.random() < _TAME_SHARE:
        return bytes((TAME,)) + rng.randbytes(8)
    return _wild_seed(ddi, rng)


def _wild_seed(ddi: Since, rng: Random) -> bytes:
    calls = [_stream(ddi, rng) for _ in range(rng.randrange(1, 4))]
    return bytes((rng.randrange(32),)) + CALL.join(calls)


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
        head = bytes((rng.randrange(32),))
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


def wild(known: Known, data: bytes) -> list[Record]:
    """Return the records of a wild input, from the creation of its context to the end of that."""
    context = ContextCreated(CONTEXT, int(known.ddi), TARGET)
    return [context, *_wild(known, data), ContextDestroyed(CONTEXT)]


def _wild(known: Known, data: bytes) -> Iterator[Record]:
    """Yield the calls of a wild input."""
    head = data[0] if data else 0
    buffer = list(COMMANDS)[(head & 3) + (head >> 3 & 2)]
    start = OFFSET if head & 4 else 0
    for commands in data[1:].split(CALL)[:_CALLS]:
        commands = known.kept(commands)[: COMMANDS[buffer] - start]
        user, ahead = (_CORNERS, 0) if head & 8 else (None, AHEAD)
        yield Called(call_of(commands, buffer, start, LAYOUTS[0], user, ahead))
    if _ISSUE in data:
        yield Called(poll(buffer))


def poll(buffer: int) -> Call:
    """Return an empty call, which fetches answers into command surface ``buffer``."""
    return Call(CONTEXT, lpDDCommands=buffer)


def call_of(
    commands: bytes, buffer: int, start: int, layout: Layout, user: bytes | None, ahead: int
) -> Call:
    """Return a call with vertices of a layout: in the caller's memory, or in its buffer, behind
    ``ahead`` others.
    """
    return Call(
        CONTEXT, buffer, dwCommandOffset=start, dwCommandLength=len(commands), commands=commands,
        dwVertexType=layout.fvf, dwVertexSize=layout.stride, dwVertexLength=NUMBER,
        lpDDVertex=0 if user else layout.handle, vertices=user,
        dwVertexOffset=ahead * layout.stride,
        dwFlags=int(Dp2Flags.USERMEMVERTICES) if user else 0,
    )  # fmt: skip


def corners(rng: Random, layout: Layout, colors: Sequence[int]) -> bytes:
    """Return vertices of these colours at pixel centres on the target and around it."""
    sides = [each % (SIDE + 16) - 8 for each in rng.randbytes(2 * len(colors))]
    places = zip(sides[::2], sides[1::2], colors, strict=True)
    rest = bytes(layout.stride - _VERTEX_BYTES)
    return b"".join(_VERTEX.pack(x, y, 0.5, 1.0, color) + rest for x, y, color in places)


_CORNERS = corners(Random(0), LAYOUTS[0], (0xFF336699,) * NUMBER)

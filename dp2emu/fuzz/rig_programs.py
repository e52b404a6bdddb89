"""Valid programs for drivers under test, made of random numbers: the emulator knows the answers.

A program draws triangles of transformed vertices, from user memory, from buffers and inline with
the tokens of DirectX 6 and 7, or from streams with tokens of 8 and 9.  Between draws it sets
states whose results are exact, and asks queries.  Some programs end with an indexed draw without
indices, which has to fail.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from random import Random

import msgspec

from dp2emu.capture.records import Called, ContextCreated, ContextDestroyed, MemoryWritten, Record
from dp2emu.conform.script import dwords, render_state, token
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import (
    Blend,
    BlendOp,
    CmpFunc,
    Cull,
    PrimitiveType,
    QueryType,
    RenderState,
    ShadeMode,
)
from dp2emu.d3d.flags import Clear, Issue
from dp2emu.dp2.table import Since
from dp2emu.dp2.tokens.state import StateSetOperation
from dp2emu.fuzz.rig_inputs import (
    AHEAD,
    COMMANDS,
    CONTEXT,
    INDICES,
    LAYOUTS,
    NUMBER,
    OFFSET,
    OTHER_CONTEXT,
    SIDE,
    SPARE,
    TAME,
    TARGET,
    WIDE_INDICES,
    Known,
    Layout,
    call_of,
    corners,
    poll,
    wild,
)

_PRIMITIVES = (
    PrimitiveType.TRIANGLELIST, PrimitiveType.TRIANGLESTRIP, PrimitiveType.TRIANGLEFAN,
)  # fmt: skip
_MODES = (Cull.NONE, Cull.CW, Cull.CCW)
_LOW, _HIGH = 8, 16
"""The indices in index buffers: from ``_LOW`` up to but without ``_HIGH``."""
_NARROW = 80
"""Bytes of commands that have room for a state block of several states."""
_LONGEST_INDEX = 0xFFFF
_FLAT = render_state(RenderState.SHADEMODE, ShadeMode.FLAT)
_BLOCKS = 4
"""State blocks of a program at most."""


class _Place(msgspec.Struct, frozen=True):
    """Where a token begins: a byte of the command surface, in a call with vertices of a layout."""

    at: int
    layout: Layout


_Piece = bytes | Callable[[_Place], bytes]
"""Tokens, or a function that returns them for a place."""


def records(known: Known, data: bytes) -> list[Record]:
    """Return the records of an input, wild or tame, from the creation of its context to the end
    of that.
    """
    return program(known, data) if data[:1] == bytes((TAME,)) else wild(known, data)


def exact(records: Sequence[Record], whole: Sequence[Record]) -> bool:
    """Return whether some of the records of a program have colours without rounding: colours of
    vertices are not mixed if they are not in the whole program.
    """
    return not _flat(whole) or _flat(records)


def _flat(records: Sequence[Record]) -> bool:
    return any(isinstance(each, Called) and _FLAT in (each.call.commands or b"")
               for each in records)  # fmt: skip


def program(known: Known, seed: bytes) -> list[Record]:
    """Return the records of a program, from the creation of its context to the end of that."""
    rng, ddi = Random(seed), known.ddi
    own = [
        ContextCreated(CONTEXT, int(ddi), TARGET),
        *_Program(rng, known).records(),
        ContextDestroyed(CONTEXT),
    ]
    if ddi < Since.DX7 or rng.random() < 0.7:
        return own
    # Another context, made before, has another target.
    return [ContextCreated(OTHER_CONTEXT, int(ddi), SPARE), *own, ContextDestroyed(OTHER_CONTEXT)]


class _Program(msgspec.Struct):
    """A valid program that is being made.  Mutable.

    ``alpha`` is the alpha of its vertices, ``source`` the layout in stream 0, ``wide`` whether the
    indices have 32 bits, ``room`` the bytes of a call's commands.  If it is ``pure``, all channels
    of its colours are 0 or 255, so that no blend factor rounds anything.  If it is ``flat``, each
    vertex has a colour of its own.
    """

    rng: Random
    known: Known
    queries: dict[int, int] = msgspec.field(default_factory=dict)
    begun: set[int] = msgspec.field(default_factory=set)
    blocks: dict[int, list[RenderState]] = msgspec.field(default_factory=dict)
    layouts: tuple[Layout, ...] = LAYOUTS[:1]
    alpha: int = 0xFF
    pure: bool = False
    flat: bool = False
    source: Layout | None = None
    offset: int = 0
    wide: bool = False
    room: int = 0

    def records(self) -> list[Record]:
        """Return the records of the program, without its context."""
        rng = self.rng
        self.layouts = tuple(rng.sample(LAYOUTS, rng.choice((1, 1, 2))))
        self.pure, self.flat = rng.random() < 0.4, rng.random() < 0.3
        self.alpha = rng.choice((0, 0xFF) if self.pure else (0, 0x7F, 0x80, 0xFF, 0xFF))
        vertices = {
            each: corners(rng, each, self._colors(AHEAD + NUMBER)) for each in self.layouts
        }
        indices = [rng.randrange(_LOW, _HIGH) for _ in range(NUMBER)]
        buffer, start = rng.choice(list(COMMANDS)), rng.choice((0, OFFSET))
        self.room = COMMANDS[buffer] - start
        calls = self._joined(self._pieces(), start, COMMANDS[buffer])
        shade = rng.choice((0, self._color()))
        return [
            MemoryWritten(TARGET, 0, struct.pack("<I", shade) * SIDE * SIDE),
            *(MemoryWritten(each.handle, 0, data) for each, data in vertices.items()),
            MemoryWritten(INDICES, 0, struct.pack(f"<{NUMBER}H", *indices)),
            MemoryWritten(WIDE_INDICES, 0, struct.pack(f"<{NUMBER}I", *indices)),
            *(self._called(commands, buffer, start, layout, vertices[layout])
              for layout, commands in calls),
            Called(poll(buffer)),
        ]  # fmt: skip

    def _called(
        self, commands: bytes, buffer: int, start: int, layout: Layout, vertices: bytes
    ) -> Called:
        """Return a call with vertices in a buffer, or in the caller's memory, which ends behind
        those of the call.
        """
        ahead = self.rng.choice((0, 0, AHEAD))
        own = vertices[: (ahead + NUMBER) * layout.stride]
        user = self.rng.choice((own, None))
        return Called(call_of(commands, buffer, start, layout, user, ahead))

    def _color(self) -> int:
        """Return a random colour."""
        color = self.rng.getrandbits(32)
        if not self.pure:
            return color
        return sum(0xFF << 8 * lane for lane in range(4) if color >> lane & 1)

    def _colors(self, number: int) -> list[int]:
        """Return the colours of vertices, which have one alpha."""
        made = [self._color() & 0xFFFFFF | self.alpha << 24]
        if not self.flat:
            return made * number
        return made + [self._color() & 0xFFFFFF | self.alpha << 24 for _ in range(number - 1)]

    def _joined(
        self, pieces: Sequence[_Piece], start: int, room: int
    ) -> list[tuple[Layout, bytes]]:
        """Return layout and commands of calls that together have all pieces, each of them as long
        as there is room from byte ``start`` of the command surface on.
        """
        rng = self.rng
        layout, commands = rng.choice(self.layouts), b""
        calls = []
        for piece in pieces:
            data = _made(piece, _Place(start + len(commands), layout))
            if start + len(commands) + len(data) > room or rng.random() < 0.05:
                calls.append((layout, commands))
                layout, commands = rng.choice(self.layouts), b""
                data = _made(piece, _Place(start, layout))
            if start + len(data) <= room:
                commands += data
        return [*calls, (layout, commands)]

    def _pieces(self) -> list[_Piece]:
        """Return the steps of the program."""
        rng = self.rng
        draws = _OLD
        pieces: list[_Piece] = [render_state(RenderState.CULLMODE, Cull.NONE)]
        if self.flat:
            pieces.append(_FLAT)
        if self.known.ddi >= Since.DX8 and rng.random() < 0.6:
            draws = _STREAMED[self.known.ddi >= Since.DX9]
            pieces += [self._stream(), self._indices()]
        if self.known.types:
            kinds = enumerate((rng.choice(self.known.types) for _ in range(rng.randrange(10))), 1)
            self.queries = dict(kinds)
            pieces += self._together(Op.CREATEQUERY, list(self.queries.items()))
        pieces += [self._step(draws) for _ in range(rng.randrange(3, 18))]
        if self.source is not None and rng.random() < 0.1:
            pieces.append(self._no_indices())
        return pieces

    def _together(self, op: Op, items: Sequence[tuple[int, ...]]) -> list[_Piece]:
        """Return tokens with one or more of the items each."""
        pieces: list[_Piece] = []
        at = 0
        while at < len(items):
            several = items[at : at + self.rng.randrange(1, 4)]
            at += len(several)
            pieces.append(_several(op, several))
        return pieces

    # Steps

    def _step(self, draws: Sequence[_Draw]) -> _Piece:
        """Return the tokens of a random step."""
        rng = self.rng
        if self.queries and rng.random() < 0.3:
            return self._query()
        if rng.random() < 0.4:
            return rng.choice(draws)(self)
        steps = [step for step, since in _STEPS.items() if since <= self.known.ddi]
        return rng.choice(steps)(self)

    def _states(self) -> bytes:
        """Return a token that sets one or more render states; nothing if none is announced."""
        states = [state for state, (since, _) in _STATES.items() if since <= self.known.ddi]
        number = self.rng.randrange(1, 4) if self.room > _NARROW else 1
        return self._set(self.rng.sample(states, number))

    def _set(self, states: Sequence[RenderState]) -> bytes:
        """Return a token that sets these states, as far as the driver announces the values."""
        return self._valued([(each, _STATES[each][1](self)) for each in states])

    def _alpha_test(self) -> bytes:
        """Return a token with all states of an alpha test near the alpha of the vertices."""
        func = self.rng.choice(list(CmpFunc))
        return self._valued([
            (RenderState.ALPHATESTENABLE, 1), (RenderState.ALPHAREF, _near_alpha(self)),
            (RenderState.ALPHAFUNC, func),
        ])  # fmt: skip

    def _blending(self) -> bytes:
        """Return a token with all states of blending; factors and operation are random."""
        operation = [RenderState.BLENDOP] if self.known.ddi >= Since.DX8 else []
        factors = [RenderState.SRCBLEND, RenderState.DESTBLEND, *operation]
        return self._valued([
            (RenderState.ALPHABLENDENABLE, 1),
            *((each, _STATES[each][1](self)) for each in factors),
        ])  # fmt: skip

    def _valued(self, pairs: Sequence[tuple[RenderState, int]]) -> bytes:
        """Return a token that sets states to values, without those that are not announced."""
        kept = [pair for pair in pairs if self.known.announces(render_state(*pair))]
        return _several(Op.RENDERSTATE, kept) if kept else b""

    def _viewport(self) -> bytes:
        x, y, right, bottom = self._box()
        return dwords(Op.VIEWPORTINFO, x, y, right - x, bottom - y)

    def _box(self) -> tuple[int, int, int, int]:
        """Return left, top, right and bottom of a box on the target that has a pixel."""
        x, y = self.rng.randrange(SIDE), self.rng.randrange(SIDE)
        return x, y, self.rng.randrange(x, SIDE) + 1, self.rng.randrange(y, SIDE) + 1

    def _scissor(self) -> bytes:
        enabled = render_state(RenderState.SCISSORTESTENABLE, self.rng.randrange(2))
        scissor = enabled + dwords(Op.SETSCISSORRECT, *self._box())
        return scissor if self.known.announces(scissor) else b""

    def _clear(self) -> bytes:
        """Return a CLEAR of one or more rectangles."""
        rng = self.rng
        boxes = [self._box() for _ in range(rng.randrange(1, 4))]
        data = b"".join(struct.pack("<4i", *box) for box in boxes)
        head = struct.pack("<IIfI", Clear.TARGET, self._color(), 1.0, 0)
        return token(Op.CLEAR, head + data, len(boxes))

    def _state_block(self) -> bytes:
        """Return tokens that execute or capture a block, or those that record one.

        What a block captures shows when its states are set before and behind.
        """
        rng = self.rng
        if not self.blocks or (len(self.blocks) < _BLOCKS and rng.random() < 0.3):
            return self._recorded()
        number = rng.choice(list(self.blocks))
        execute = dwords(Op.STATESET, StateSetOperation.EXECUTE, number, 0)
        if rng.random() < 0.4:
            return execute
        capture = dwords(Op.STATESET, StateSetOperation.CAPTURE, number, 0)
        states = self.blocks[number]
        return self._set(states) + capture + self._set(states) + execute

    def _recorded(self) -> bytes:
        rng, number = self.rng, len(self.blocks) + 1
        states = [state for state, (since, _) in _STATES.items() if since <= self.known.ddi]
        self.blocks[number] = rng.sample(states, rng.randrange(1, 4) if self.room > _NARROW else 1)
        return (
            dwords(Op.STATESET, StateSetOperation.BEGIN, number, 0)
            + self._set(self.blocks[number])
            + dwords(Op.STATESET, StateSetOperation.END, number, 0)
        )

    def _query(self) -> bytes:
        """Return an ISSUEQUERY of one or more queries, or rarely a DELETEQUERY."""
        rng = self.rng
        numbers = rng.sample(list(self.queries), min(rng.randrange(1, 4), len(self.queries)))
        if rng.random() < 0.1:
            for number in numbers:
                self.begun.discard(number)
                del self.queries[number]
            return _several(Op.DELETEQUERY, [(number,) for number in numbers])
        return _several(Op.ISSUEQUERY, [(number, self._issued(number)) for number in numbers])

    def _issued(self, number: int) -> int:
        """Return the flags of the next ISSUEQUERY of a query."""
        if number in self.begun or self.queries[number] != QueryType.OCCLUSION:
            self.begun.discard(number)
            return Issue.END
        self.begun.add(number)
        return Issue.BEGIN

    # Streams

    def _stream(self) -> bytes:
        """Return tokens that choose vertices for stream 0."""
        rng = self.rng
        layout = self.source = rng.choice(self.layouts)
        self.offset = 0
        chosen = dwords(Op.SETVERTEXSHADER, layout.fvf)
        first = rng.randrange(NUMBER - _HIGH + 1)
        moved = dwords(Op.SETSTREAMSOURCE2, 0, layout.handle, first * layout.stride, layout.stride)
        if self.known.ddi >= Since.DX9 and rng.random() < 0.5 and self.known.announces(moved):
            self.offset = first
            return chosen + moved
        return chosen + dwords(Op.SETSTREAMSOURCE, 0, layout.handle, layout.stride)

    def _other_stream(self) -> bytes:
        """Return a token that chooses vertices for a stream that is not drawn from."""
        layout, stream = self.rng.choice(self.layouts), self.rng.randrange(1, 3)
        chosen = dwords(Op.SETSTREAMSOURCE, stream, layout.handle, 2 * layout.stride)
        return chosen if self.known.announces(chosen) else b""

    def _indices(self) -> bytes:
        """Return a token that chooses 16-bit or 32-bit indices."""
        told = self.known.capabilities and self.known.capabilities.word("MaxVertexIndex")
        self.wide = self.rng.random() < 0.4 and (told or _LONGEST_INDEX + 1) > _LONGEST_INDEX
        if self.wide:
            return dwords(Op.SETINDICES, WIDE_INDICES, 4)
        return dwords(Op.SETINDICES, INDICES, 2)

    def range_of(self, kind: PrimitiveType, number: int) -> tuple[int, int]:
        """Return (first, number of primitives) of a random run of ``number`` vertices."""
        count = self.rng.randrange(1, 5)
        while _vertices_of(kind, count) > number:
            count -= 1
        return self.rng.randrange(number - _vertices_of(kind, count) + 1), count

    def _no_indices(self) -> bytes:
        """Return an indexed draw that has to fail: there are no indices."""
        draw = PrimitiveType.TRIANGLELIST, 0, _LOW, _HIGH - _LOW, 0, 1
        return dwords(Op.SETINDICES, 0, 2) + dwords(Op.DRAWINDEXEDPRIMITIVE, *draw)


def _made(piece: _Piece, place: _Place) -> bytes:
    return piece(place) if callable(piece) else piece


def _several(op: Op, items: Sequence[tuple[int, ...]]) -> bytes:
    """Return a token of items of DWORDs."""
    words = [word & 0xFFFFFFFF for item in items for word in item]
    return token(op, struct.pack(f"<{len(words)}I", *words), len(items))


def _vertices_of(kind: PrimitiveType, count: int) -> int:
    return 3 * count if kind is PrimitiveType.TRIANGLELIST else count + 2


# States

_FACTORS = (Blend.ZERO, Blend.ONE)
"""Blend factors after which nothing is rounded."""
_PURE = (
    *_FACTORS, Blend.SRCCOLOR, Blend.INVSRCCOLOR, Blend.SRCALPHA, Blend.INVSRCALPHA,
    Blend.DESTALPHA, Blend.INVDESTALPHA, Blend.DESTCOLOR, Blend.INVDESTCOLOR, Blend.SRCALPHASAT,
)  # fmt: skip
"""Blend factors of which that holds for channels of 0 and 255."""


def _near_alpha(of: _Program) -> int:
    """Return a reference at the alpha of the vertices or beside it."""
    return min(max(of.alpha + of.rng.randrange(-1, 2), 0), 255)


def _factor(of: _Program) -> int:
    """Return a blend factor after which nothing is rounded."""
    return of.rng.choice(_PURE if of.pure else _FACTORS)


_STATES: dict[RenderState, tuple[Since, Callable[[_Program], int]]] = {
    RenderState.CULLMODE: (Since.DX6, lambda of: of.rng.choice(_MODES)),
    RenderState.ALPHATESTENABLE: (Since.DX6, lambda of: of.rng.randrange(2)),
    RenderState.ALPHAREF: (Since.DX6, _near_alpha),
    RenderState.ALPHAFUNC: (Since.DX6, lambda of: of.rng.choice(list(CmpFunc))),
    RenderState.ALPHABLENDENABLE: (Since.DX6, lambda of: of.rng.randrange(2)),
    RenderState.SRCBLEND: (Since.DX6, lambda of: _factor(of)),
    RenderState.DESTBLEND: (Since.DX6, lambda of: _factor(of)),
    RenderState.BLENDOP: (Since.DX8, lambda of: of.rng.choice(list(BlendOp))),
    RenderState.COLORWRITEENABLE: (Since.DX8, lambda of: of.rng.randrange(16)),
}
"""Render states, their versions, and functions that return a value."""
_STEPS: dict[Callable[[_Program], _Piece], Since] = {
    _Program._states: Since.DX6,
    _Program._alpha_test: Since.DX6,
    _Program._blending: Since.DX6,
    _Program._viewport: Since.DX6,
    _Program._clear: Since.DX7,
    _Program._state_block: Since.DX7,
    _Program._scissor: Since.DX9,
}

# Draws of DirectX 6 and 7

_Draw = Callable[[_Program], _Piece]
"""Function that returns a token that draws."""


def _plain(of: _Program) -> _Piece:
    ops = Op.TRIANGLELIST, Op.TRIANGLESTRIP, Op.TRIANGLEFAN
    op, kind = of.rng.choice(tuple(zip(ops, _PRIMITIVES, strict=True)))
    first, count = of.range_of(kind, NUMBER)
    return token(op, struct.pack("<H", first), count if of.rng.random() < 0.95 else 0)


def _indexed(of: _Program) -> _Piece:
    rng = of.rng
    ops = Op.INDEXEDTRIANGLELIST2, Op.INDEXEDTRIANGLESTRIP, Op.INDEXEDTRIANGLEFAN
    op, kind = rng.choice(tuple(zip(ops, _PRIMITIVES, strict=True)))
    count, first = rng.randrange(1, 5), rng.randrange(NUMBER)
    number = _vertices_of(kind, count)
    indices = (rng.randrange(NUMBER - first) for _ in range(number))
    return token(op, struct.pack(f"<{number + 1}H", first, *indices), count)


def _absolute(of: _Program) -> _Piece:
    rng, count = of.rng, of.rng.randrange(4)
    items = (struct.pack("<4H", *(rng.randrange(NUMBER) for _ in range(3)), 0x700)
             for _ in range(count))  # fmt: skip
    return token(Op.INDEXEDTRIANGLELIST, b"".join(items), count)


def _inline(of: _Program) -> _Piece:
    rng, count = of.rng, of.rng.randrange(1, 4)
    head = token(Op.TRIANGLEFAN_IMM, struct.pack("<I", 7), count)
    inline = {each: corners(rng, each, of._colors(count + 2)) for each in of.layouts}

    def made(place: _Place) -> bytes:
        return head + bytes(-(place.at + len(head)) % 4) + inline[place.layout]

    return made


_OLD: tuple[_Draw, ...] = (_plain, _indexed, _absolute, _inline)

# Draws of DirectX 8 and 9


def _left(of: _Program) -> int:
    """Return the number of vertices in the stream."""
    return NUMBER - of.offset


def _source(of: _Program) -> Layout:
    assert of.source is not None
    return of.source


def _draws(of: _Program, op: Op, item: Callable[[], tuple[int, ...]]) -> bytes:
    """Return a token of one or more draws."""
    return _several(op, [item() for _ in range(of.rng.choice((1, 1, 2)))])


def _stream_draw(of: _Program) -> _Piece:
    def item() -> tuple[int, ...]:
        kind = of.rng.choice(_PRIMITIVES)
        first, count = of.range_of(kind, _left(of))
        return kind, first, count

    return _draws(of, Op.DRAWPRIMITIVE, item)


def _stream_draw2(of: _Program) -> _Piece:
    def item() -> tuple[int, ...]:
        kind = of.rng.choice(_PRIMITIVES)
        first, count = of.range_of(kind, _left(of))
        return kind, first * _source(of).stride, count

    return _draws(of, Op.DRAWPRIMITIVE2, item)


def _stream_clipped(of: _Program) -> _Piece:
    def item() -> tuple[int, ...]:
        first, count = of.range_of(PrimitiveType.TRIANGLEFAN, _left(of))
        return first * _source(of).stride, 7, count

    return _draws(of, Op.CLIPPEDTRIANGLEFAN, item)


def _stream_indexed(of: _Program) -> _Piece:
    def item() -> tuple[int, ...]:
        kind, least = of.rng.choice(_PRIMITIVES), of.rng.randrange(_LOW + 1)
        first, count = of.range_of(kind, NUMBER)
        base = of.rng.randrange(-_LOW, _left(of) - _HIGH + 1)
        return kind, base, least, _HIGH - least, first, count

    return _draws(of, Op.DRAWINDEXEDPRIMITIVE, item)


def _stream_indexed2(of: _Program) -> _Piece:
    def item() -> tuple[int, ...]:
        kind, least = of.rng.choice(_PRIMITIVES), of.rng.randrange(_LOW + 1)
        first, count = of.range_of(kind, NUMBER)
        base = of.rng.randrange(_left(of) - _HIGH + 1) * _source(of).stride
        return kind, base, least, _HIGH - least, first * (4 if of.wide else 2), count

    return _draws(of, Op.DRAWINDEXEDPRIMITIVE2, item)


def _rebound(of: _Program) -> _Piece:
    """Return tokens that choose other vertices or indices, or a buffer of another stream."""
    chance = of.rng.random()
    if chance < 0.2:
        return of._other_stream()
    return of._stream() if chance < 0.7 else of._indices()


_STREAMED: dict[bool, tuple[_Draw, ...]] = {
    False: (_stream_draw, _stream_clipped, _stream_indexed, _rebound),
    True: (
        _stream_draw, _stream_draw2, _stream_clipped, _stream_indexed, _stream_indexed2, _rebound,
    ),
}  # fmt: skip
"""Tokens that draw from streams, without and with tokens of DirectX 9."""

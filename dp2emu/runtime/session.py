"""One application on one rig: submits command bytes, drains answers, tells a recorder.

The session is where "the runtime" of the driver documentation lives (wire format, "The call"
and "Responses"); ``device9`` and ``query`` put the application's interface on top.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import msgspec
from msgspec.structs import replace

from dp2emu.capture.records import (
    WAIT,
    Annotation,
    Answered,
    Blitted,
    Called,
    ColorKeyRemoved,
    ColorKeySet,
    ContextCreated,
    ContextDestroyed,
    Flipped,
    FrameMarker,
    Locked,
    MemoryWritten,
    Observed,
    Pictured,
    PictureKind,
    Record,
    SurfaceCreated,
    SurfaceDestroyed,
)
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.flags import Dp2Flags
from dp2emu.d3d.hresult import hr_name
from dp2emu.dp2.blt import Blt
from dp2emu.dp2.call import Answer, Call
from dp2emu.dp2.walk import scan
from dp2emu.errors import Dp2Error, Fault, ResponseError, UsageError
from dp2emu.gpu.resource.heap import ColorKey, SurfaceDesc, SurfaceKind
from dp2emu.rig.interface import Rig
from dp2emu.runtime.commands import CommandBuffer
from dp2emu.runtime.numbers import Numbers
from dp2emu.runtime.responses import parse_responses

COMMAND_BYTES = 1 << 16
"""Size of the command surface, unless the application asks for another."""


class Refused(Fault):
    """A call of the application's interface that fails at once; nothing reached the driver."""


class Listener(Protocol):
    """Who waits for the answers of a query id."""

    @property
    def data_size(self) -> int:
        """Payload bytes an answer has."""

    def deliver(self, data: bytes) -> bool:
        """Take an answer (empty: no data); False if none was owed any more."""


class UserMemory(NamedTuple):
    """Vertices behind lpVertices of one call: ``stride`` bytes each."""

    data: bytes
    stride: int


class CallVertices(msgspec.Struct, frozen=True):
    """What the drawing tokens of DirectX 6 and 7 in one call read: ``count`` vertices of
    ``stride`` bytes and an FVF, in ``data`` or from the start of a surface on.
    """

    format: int
    stride: int
    count: int
    data: bytes | None = None
    surface: int = 0


def _no_vertices() -> CallVertices | None:
    """Applications since DirectX 8 draw from streams."""
    return None


class Session:
    """A context on a rig, its command buffer and its query ids.

    Surfaces are made first, then ``open`` makes the context.  ``record`` is told everything in
    order, so that any session is a capture, but for the driver's answers with ``answers`` False.
    Sessions on the same rig share ``numbers``.  Whenever what waits is submitted, ``vertices`` is
    asked for what it draws.  Mutable: it is a conversation.
    """

    def __init__(
        self,
        rig: Rig,
        *,
        context: int = 1,
        interface: int = 9,
        command_bytes: int = COMMAND_BYTES,
        record: Callable[[Record], None] | None = None,
        numbers: Numbers | None = None,
        answers: bool = True,
    ) -> None:
        self.rig = rig
        self.context = context
        self.interface = interface
        self.commands = CommandBuffer(command_bytes, self._send)
        self.calls = 0
        self._record = record
        self._time = 0
        self._numbers = numbers or Numbers()
        self._answers = answers
        self._query_ids = 0
        self._listeners: dict[int, Listener] = {}
        self.vertices: Callable[[], CallVertices | None] = _no_vertices
        self._buffer = self.create_surface(SurfaceKind.MEMORY, command_bytes).handle

    # Memory and context

    def create_surface(
        self, kind: SurfaceKind, width: int, height: int = 1, format: int = 0, **more: Any
    ) -> SurfaceDesc:
        """Make a surface of ``width`` x ``height`` pixels with the next handle; ``format`` is a
        D3DFORMAT.

        Of buffers ``width`` are bytes.  ``more`` are other fields of ``SurfaceDesc``.  Raises
        Fault or Unsupported as the rig does.
        """
        desc = SurfaceDesc(self._numbers.handle + 1, kind, width, height, format, **more)
        self.rig.create_surface(desc)
        self._numbers.handle += 1
        self._tell(SurfaceCreated(desc, self._now()))
        return desc

    def destroy_surface(self, handle: int) -> None:
        """Forget a surface; what waits in the command buffer is submitted first."""
        self.flush()
        self._tell(SurfaceDestroyed(handle, self._now()))
        self.rig.destroy_surface(handle)

    def set_color_key(self, handle: int, key: ColorKey | None) -> None:
        """Key a texture behind everything submitted so far; None removes the key."""
        self.flush()
        now = self._now()
        self._tell(ColorKeySet(handle, *key, now) if key else ColorKeyRemoved(handle, now))
        self.rig.set_color_key(handle, key)

    def lock(self, handle: int) -> None:
        """Wait until the GPU uses no memory any more, as before a write that must not race."""
        self.flush()
        self.rig.lock(handle)
        self._tell(Locked(handle, self._now()))

    def flip(self, front: int, back: int) -> None:
        """Two surfaces exchange what they hold, behind everything submitted so far."""
        self.flush()
        self._tell(Flipped(front, back, self._now()))
        self.rig.flip(front, back)

    def blit(self, blt: Blt) -> None:
        """Fill or copy a rectangle behind everything submitted so far."""
        self.flush()
        self._tell(Blitted(blt, self._now()))
        self.rig.blit(blt)

    def write(self, handle: int, offset: int, data: bytes) -> None:
        """Host write behind everything submitted so far; does not wait for the GPU."""
        self.flush()
        self._tell(MemoryWritten(handle, offset, data, self._now()))
        self.rig.write(handle, offset, data)

    def read(self, handle: int, offset: int, size: int) -> bytes:
        """Host read of what the GPU has finished; ``finish`` first to see everything."""
        return self.rig.read(handle, offset, size)

    def open(self, color: int = 0, depth: int = 0) -> None:
        """Make the context; ``color`` and ``depth`` are handles of its first targets."""
        self._tell(ContextCreated(self.context, self.interface, color, depth, self._now()))
        self.rig.create_context(self.context, interface=self.interface, color=color, depth=depth)

    def close(self) -> None:
        """Submit what is left and destroy the context; queries die with it."""
        self.flush()
        self._listeners.clear()
        self._tell(ContextDestroyed(self.context, self._now()))
        self.rig.destroy_context(self.context)

    # Calls

    @property
    def position(self) -> tuple[int, int]:
        """(number of the next call, byte offset in it) of the next token."""
        return self.calls, len(self.commands)

    def emit(self, op: Op, items: Any = (), *, head: Any = None) -> None:
        """Append a token with ``head`` and ``items`` to the command buffer
        (``CommandBuffer.emit``).
        """
        self.commands.emit(op, items, head=head)

    @property
    def waiting(self) -> Call | None:
        """The call that would submit what waits in the command buffer, None if nothing does."""
        commands = self.commands.waiting
        return self._compose(commands, None) if commands else None

    def flush(self) -> None:
        """Submit what waits, if anything does, and take the answers."""
        self.commands.flush()

    def poll(self) -> None:
        """Make one call at least, an empty one if nothing waits, and take the answers."""
        self._send(self.commands.take())

    def submit_with(self, vertices: UserMemory) -> None:
        """Submit what waits; its SETSTREAMSOURCEUM reads ``vertices``."""
        self._send(self.commands.take(), vertices)

    def finish(self) -> None:
        """Submit what waits and let time pass until the GPU is idle and all answers are ready."""
        self.flush()
        self.annotate(WAIT, "idle")
        self.rig.finish()

    def _send(self, commands: bytes, vertices: UserMemory | None = None) -> None:
        """One call, then empty ones while the driver has more and each brings some of it.

        A RESPONSECONTINUE that brought nothing, or only answers to no END, ends it: the rest comes
        with a later call.
        """
        more = self._submit_all(commands, vertices or self.vertices())
        while more:
            more = self._call(b"", None)

    def _submit_all(self, commands: bytes, vertices: UserMemory | CallVertices | None) -> bool:
        """One call; without ``answers``, whose recording is to hold all that can be done, another
        behind each token that is refused.  The first refusal is raised in the end.
        """
        refused: list[Dp2Error] = []
        more, left = False, True
        while left:
            left = False
            try:
                more = self._call(commands, vertices)
            except Dp2Error as error:
                refused.append(error)
                commands = b"" if self._answers else _behind(commands, error, vertices)
                left = commands != b""
        if len(refused) > 1:
            refused[0].what += f"; {len(refused) - 1} more tokens are refused"
        if refused:
            raise refused[0]
        return more

    def _call(self, commands: bytes, vertices: UserMemory | CallVertices | None) -> bool:
        call = self._compose(commands, vertices)
        number = self.calls
        self.calls += 1
        self._tell(Called(call, time=self._now()))
        try:
            answer = self.rig.submit(call)
            if self._answers:
                self._tell(Answered(answer))
            return self._accept(answer)
        except Dp2Error as error:
            raise error.at(call=number) from None

    def _compose(self, commands: bytes, vertices: UserMemory | CallVertices | None) -> Call:
        call = Call(
            self.context,
            lpDDCommands=self._buffer,
            dwCommandLength=len(commands),
            commands=commands,
        )
        if vertices is None:
            return call
        early = vertices if isinstance(vertices, CallVertices) else None
        user = Dp2Flags.USERMEMVERTICES if vertices.data is not None else Dp2Flags(0)
        return replace(
            call,
            dwFlags=user,
            dwVertexType=early.format if early else 0,
            lpDDVertex=early.surface if early else 0,
            dwVertexLength=early.count if early else len(vertices.data or b"") // vertices.stride,
            dwVertexSize=vertices.stride,
            vertices=vertices.data,
        )

    def _accept(self, answer: Answer) -> bool:
        """Hand out the answers; True if there are more to fetch."""
        self._time = answer.time
        if answer.ddrval:
            raise _failure(answer)
        if answer.dwErrorOffset != len(answer.response):
            what = f"dwErrorOffset {answer.dwErrorOffset}, {len(answer.response)} bytes written"
            raise ResponseError(what)
        responses = parse_responses(answer.response, self._size_of)
        owed = [self._listeners[r.query].deliver(r.data) for r in responses.records]
        return responses.more and any(owed)

    # Queries

    def register(self, listener: Listener) -> int:
        """A query id that was never used before, whose answers go to ``listener``.

        Raises UsageError when all are used.
        """
        if self._query_ids == 0xFFFFFFFF:
            raise UsageError("query ids are used up")
        self._query_ids += 1
        self._listeners[self._query_ids] = listener
        return self._query_ids

    def forget(self, query_id: int) -> None:
        """Query ``query_id`` is gone; an answer to it would be an error from now on."""
        self._listeners.pop(query_id, None)

    def _size_of(self, query_id: int) -> int | None:
        listener = self._listeners.get(query_id)
        return None if listener is None else listener.data_size

    # The recorder

    def mark_frame(self, surface: int = 0) -> None:
        """A frame ends, showing ``surface``."""
        self.flush()
        self._tell(FrameMarker(self._numbers.frame, surface, self._now()))
        self._numbers.frame += 1

    def picture(
        self, call: int, kind: PictureKind, handle: int, index: int = 0, data: bytes = b""
    ) -> None:
        """The application shows or reads a surface with its API call number ``call``.

        ``index`` is of a level of ``handle``; ``data`` what it got to read, if that is known.
        """
        self.flush()
        self._tell(Pictured(call, kind, handle, index, data, self._now()))

    def observe(self, call: int, query: int, hr: int, data: bytes = b"") -> None:
        """The application's API call number ``call`` was GetData of query id ``query``.

        ``hr`` and ``data`` are what it got.  Before S_OK the answer must have been fetched
        (``Query.wait``), since that is what a replay compares with.
        """
        self.flush()
        self._tell(Observed(call, self.context, query, hr, data, self._now()))

    def annotate(self, key: str, text: str) -> None:
        """A remark for whoever reads the recording: ``text`` under a ``key``."""
        self._tell(Annotation(key, text, self._now()))

    def _tell(self, record: Record) -> None:
        if self._record is not None:
            self._record(record)

    def _now(self) -> int:
        """Host time, from the rig's clock if it shows one."""
        return int(getattr(self.rig, "time", self._time))


def _behind(commands: bytes, error: Dp2Error, vertices: UserMemory | CallVertices | None) -> bytes:
    """The tokens behind the one that was refused; none if it has no end, or one off the grid that
    vertices among tokens lie on.
    """
    if error.offset is None or error.offset >= len(commands):
        return b""
    size = vertices.stride if vertices is not None else 0
    scanned = scan(commands, error.offset, len(commands), size, limit=1)
    stop = scanned.commands[0][4] if scanned.commands else len(commands)
    return b"" if stop % 4 else commands[stop:]


def _failure(answer: Answer) -> Fault:
    """What a failed call is told as: in the driver's words, or by its result code."""
    why = answer.fault.what if answer.fault is not None else hr_name(answer.ddrval)
    token = answer.fault.token if answer.fault is not None else None
    return Fault(answer.ddrval, why, offset=answer.dwErrorOffset, token=token)

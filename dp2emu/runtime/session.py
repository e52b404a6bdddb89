"""A context on a rig: submits command bytes, reads the responses and records both.

This is "the runtime" of the driver documentation (wire format, "The call" and "Responses");
``device9`` and ``query`` put the application's interface on top.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import msgspec
from msgspec.structs import replace

from dp2emu.argument_check import checked_on_failure, unchecked
from dp2emu.capture import records
from dp2emu.capture.api_calls import Origin, origins_from, origins_text
from dp2emu.capture.records import PictureKind, Record
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.flags import Dp2Flags
from dp2emu.d3d.hresult import hr_name
from dp2emu.dp2.blt import Blt
from dp2emu.dp2.call import Answer, Call
from dp2emu.dp2.options import Options
from dp2emu.dp2.parsers import WALK, parser_name
from dp2emu.dp2.walk import scan
from dp2emu.errors import Dp2Error, Fault, ResponseError, UsageError
from dp2emu.gpu.resource.heap import ColorKey, SurfaceDesc, SurfaceKind
from dp2emu.rig.interface import Rig
from dp2emu.runtime.commands import CommandBuffer
from dp2emu.runtime.responses import parse_responses

COMMAND_BYTES = 1 << 16
"""Default size of a session's command buffer in bytes."""


_Sides = tuple[int, int, int, int]
"""A rectangle: left, top, right, bottom."""


class Refused(Fault):
    """A call of the application's interface that the runtime rejects before the driver sees it."""


class Listener(Protocol):
    """An object that receives the driver's responses to a query id."""

    @property
    def data_size(self) -> int:
        """Size in bytes of the payload of a response to this query."""

    def deliver(self, data: bytes) -> bool:
        """Receive the payload of a response; returns False if no response was expected."""


class UserMemory(NamedTuple):
    """The vertices of a user-pointer draw, sent in lpVertices; ``stride`` bytes each."""

    data: bytes
    stride: int


class CallVertices(msgspec.Struct, frozen=True):
    """The vertices of a call of DirectX 6 or 7: ``count`` of ``stride`` bytes and an FVF, in
    ``data`` or at the start of a surface.
    """

    format: int
    stride: int
    count: int
    data: bytes | None = None
    surface: int = 0


class Numbers:
    """Counters of handles, contexts and frames of a rig, shared by its sessions.  Mutable.

    ``api_call`` is the number of the application's API call in progress, None without numbers.
    """

    def __init__(self) -> None:
        self.handle = self.context = self.frame = 0
        self.api_call: int | None = None

    def next_context(self) -> int:
        """A new context number."""
        self.context += 1
        return self.context


def _no_vertices() -> CallVertices | None:
    """Return None: applications since DirectX 8 draw from streams, not from vertices in calls."""
    return None


@checked_on_failure
class Session:
    """A context on a rig, its command buffer and its query ids.  Mutable.

    Create surfaces first, then ``open`` the context.  ``record`` is called with every event in
    order, so that the records are a capture; if ``answers`` is False it does not get the driver's
    responses.  Sessions on a rig share the counters ``numbers``.  The function ``vertices`` is
    called for each submission and returns the vertices that its tokens draw.
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
        self.commands = CommandBuffer(command_bytes, self._send, interface)
        self.calls = 0
        self._record = record
        self._time = 0
        self._numbers = numbers or Numbers()
        if self._numbers.api_call is not None:
            self.commands.numbers = self._numbers
        self._answers = answers
        self._query_ids = 0
        self._listeners: dict[int, Listener] = {}
        # An emulated driver has options, others have not.
        options = getattr(rig, "options", None)
        self._parser = parser_name(options) if isinstance(options, Options) else WALK
        self.vertices: Callable[[], CallVertices | None] = _no_vertices
        self._buffer = self.create_surface(SurfaceKind.MEMORY, command_bytes).handle

    # Memory and context

    def create_surface(
        self, kind: SurfaceKind, width: int, height: int = 1, format: int = 0, **more: Any
    ) -> SurfaceDesc:
        """Create a surface of ``width`` x ``height`` pixels, or a buffer of ``width`` bytes.

        ``format`` is a D3DFORMAT, ``more`` are other fields of ``SurfaceDesc``.  Raises Fault or
        Unsupported as the rig does.
        """
        desc = SurfaceDesc(self._numbers.handle + 1, kind, width, height, format, **more)
        self.rig.create_surface(desc)
        self._numbers.handle += 1
        self._log(records.SurfaceCreated(desc, self._now()))
        return desc

    def destroy_surface(self, handle: int) -> None:
        """Submit the command buffer, then destroy a surface."""
        self.flush()
        self._log(records.SurfaceDestroyed(handle, self._now()))
        self.rig.destroy_surface(handle)

    def set_color_key(self, handle: int, key: ColorKey | None) -> None:
        """Set a texture's colour key after all commands so far; a ``key`` of None removes it."""
        self.flush()
        now = self._now()
        self._log(
            records.ColorKeySet(handle, *key, now) if key else records.ColorKeyRemoved(handle, now)
        )
        self.rig.set_color_key(handle, key)

    def lock(self, handle: int) -> None:
        """Submit, and wait until the GPU no longer uses the surface."""
        self.flush()
        self.rig.lock(handle)
        self._log(records.Locked(handle, self._now()))

    def flip(self, front: int, back: int) -> None:
        """Exchange the contents of two surfaces after all commands so far."""
        self.flush()
        self._log(records.Flipped(front, back, self._now()))
        self.rig.flip(front, back)

    def blit(self, blt: Blt) -> None:
        """Fill or copy a rectangle after all commands so far."""
        self.flush()
        self._log(records.Blitted(blt, self._now()))
        self.rig.blit(blt)

    def copy(
        self,
        source: SurfaceDesc,
        read: _Sides,
        target: SurfaceDesc,
        written: _Sides,
        flags: int = 0,
    ) -> None:
        """Copy, convert or stretch the rectangle ``read`` to ``written``: by BLT with DP2BLT_*
        ``flags`` or, before DirectX 9, which has the token, by a blit outside of the command
        buffer, without filter.
        """
        if self.interface >= 9:
            self.emit(Op.BLT, [(source.handle, read, 0, target.handle, written, 0, flags)])
        else:
            self.blit(Blt(target.handle, *written, source.handle, *read))

    def write(self, handle: int, offset: int, data: bytes) -> None:
        """Host write after submitting all commands so far, without waiting for the GPU."""
        self.flush()
        self._log(records.MemoryWritten(handle, offset, data, self._now()))
        self.rig.write(handle, offset, data)

    def read(self, handle: int, offset: int, size: int) -> bytes:
        """Read a surface's bytes at once, without waiting for the GPU; call ``finish`` first for
        the result of all commands.
        """
        return self.rig.read(handle, offset, size)

    def open(self, color: int = 0, depth: int = 0) -> None:
        """Create the context; ``color`` and ``depth`` are the handles of its first targets."""
        self._log(records.ContextCreated(self.context, self.interface, color, depth, self._now()))
        self.rig.create_context(self.context, interface=self.interface, color=color, depth=depth)

    def close(self) -> None:
        """Submit the command buffer and destroy the context with its queries."""
        self.flush()
        self._listeners.clear()
        self._log(records.ContextDestroyed(self.context, self._now()))
        self.rig.destroy_context(self.context)

    # Calls

    @property
    def position(self) -> tuple[int, int]:
        """(number of the next call, byte offset in it) of the next token."""
        return self.calls, len(self.commands)

    @unchecked
    def emit(self, op: Op, items: Any = (), *, head: Any = None) -> None:
        """Append a token with ``head`` and ``items`` (``CommandBuffer.emit``)."""
        self.commands.emit(op, items, head=head)

    @property
    def waiting(self) -> Call | None:
        """The call that ``flush`` would make, None if the command buffer is empty."""
        commands = self.commands.waiting
        return self._compose(commands, None) if commands else None

    def flush(self) -> None:
        """Submit the command buffer, if it is not empty, and read the responses."""
        self.commands.flush()

    def poll(self) -> None:
        """Submit the command buffer, even if it is empty, and read the responses."""
        self._send(self.commands.take())

    def submit_with(self, vertices: UserMemory) -> None:
        """Submit the command buffer; its SETSTREAMSOURCEUM reads ``vertices``."""
        self._send(self.commands.take(), vertices)

    def finish(self) -> None:
        """Submit, and let time pass until the GPU is idle and all responses are ready."""
        self.flush()
        self.annotate(records.WAIT, "idle")
        self.rig.finish()

    def _send(self, commands: bytes, vertices: UserMemory | None = None) -> None:
        """Submit, then poll with empty calls while RESPONSECONTINUE announces more.

        Polling stops at a response buffer that answers no outstanding query; later calls fetch the
        other responses.
        """
        more = self._submit_all(commands, vertices or self.vertices())
        while more:
            more = self._call(b"", None)

    def _submit_all(self, commands: bytes, vertices: UserMemory | CallVertices | None) -> bool:
        """Submit commands; without ``answers``, resume behind each token that the driver refuses,
        so that the capture has all later tokens.  Raises the first refusal afterwards.
        """
        refused: list[Dp2Error] = []
        more = False
        origins, size = self.commands.taken if commands else (), len(commands)
        while True:
            self._log_origins(origins, size - len(commands))
            try:
                more = self._call(commands, vertices)
                break
            except Dp2Error as error:
                refused.append(error)
                commands = b"" if self._answers else _behind(commands, error, vertices)
                if not commands:
                    break
        if len(refused) > 1:
            refused[0].what += f"; {len(refused) - 1} more tokens are refused"
        if refused:
            raise refused[0]
        return more

    def _log_origins(self, origins: Sequence[Origin], offset: int) -> None:
        """Record by which API calls the commands from ``offset`` on were written, if known."""
        if origins:
            text = origins_text(origins_from(origins, offset))
            self._log(records.Annotation(records.API_CALLS, text, self._now()))

    def _call(self, commands: bytes, vertices: UserMemory | CallVertices | None) -> bool:
        call = self._compose(commands, vertices)
        number = self.calls
        self.calls += 1
        self._log(records.Called(call, time=self._now()))
        try:
            answer = self.rig.submit(call)
            if self._answers:
                self._log(records.Answered(answer))
            return self._accept(answer)
        except Dp2Error as error:
            raise error.at(call=number) from None

    def _compose(self, commands: bytes, vertices: UserMemory | CallVertices | None) -> Call:
        call = Call(self.context, self._buffer, dwCommandLength=len(commands), commands=commands)
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
        """Deliver a call's responses to their queries; returns whether more can be fetched."""
        self._time = answer.time
        if answer.ddrval:
            raise _failure(answer)
        if answer.dwErrorOffset != len(answer.response):
            what = f"dwErrorOffset {answer.dwErrorOffset}, {len(answer.response)} bytes written"
            raise ResponseError(what)
        if not answer.response:
            return False
        responses = parse_responses(answer.response, self._size_of, self._parser)
        owed = [self._listeners[r.query].deliver(r.data) for r in responses.records]
        return responses.more and any(owed)

    # Queries

    def register(self, listener: Listener) -> int:
        """A new query id with responses to ``listener``.  Raises UsageError if none is left."""
        if self._query_ids == 0xFFFFFFFF:
            raise UsageError("query ids are used up")
        self._query_ids += 1
        self._listeners[self._query_ids] = listener
        return self._query_ids

    def forget(self, query_id: int) -> None:
        """Forget ``query_id``: a response to it is an error from now on."""
        self._listeners.pop(query_id, None)

    def _size_of(self, query_id: int) -> int | None:
        listener = self._listeners.get(query_id)
        return None if listener is None else listener.data_size

    # The recorder

    def mark_frame(self, surface: int = 0) -> None:
        """Submit, and mark the end of a frame that shows ``surface``."""
        self.flush()
        self._log(records.FrameMarker(self._numbers.frame, surface, self._now()))
        self._numbers.frame += 1

    def picture(
        self, call: int, kind: PictureKind, handle: int, index: int = 0, data: bytes = b""
    ) -> None:
        """Record that API call number ``call`` shows or reads subresource ``index`` of the surface
        ``handle``; ``data`` is what the application read, if known.
        """
        self.flush()
        self._log(records.Pictured(call, kind, handle, index, data, self._now()))

    def observe(self, call: int, query: int, hr: int, data: bytes = b"") -> None:
        """Record that API call number ``call`` was GetData of query id ``query``, which returned
        ``hr`` and ``data``.

        Fetch the response first if it is S_OK (``Query.wait``): a replay compares with it.
        """
        self.flush()
        self._log(records.Observed(call, self.context, query, hr, data, self._now()))

    def annotate(self, key: str, text: str) -> None:
        """Record an annotation: ``text`` under the name ``key``."""
        self._log(records.Annotation(key, text, self._now()))

    def _log(self, record: Record) -> None:
        if self._record is not None:
            self._record(record)

    def _now(self) -> int:
        """Host time: the rig's clock if it has one, else the time of the last answer."""
        return int(getattr(self.rig, "time", self._time))


def _behind(commands: bytes, error: Dp2Error, vertices: UserMemory | CallVertices | None) -> bytes:
    """The command bytes after the token that ``error`` refuses.

    Empty if the token's end is unknown, or is not at a multiple of 4: tokens with inline vertices
    would then be misread.
    """
    if error.offset is None or error.offset >= len(commands):
        return b""
    size = vertices.stride if vertices is not None else 0
    scanned = scan(commands, error.offset, len(commands), size, limit=1)
    stop = scanned.commands[0][4] if scanned.commands else len(commands)
    return b"" if stop % 4 else commands[stop:]


def _failure(answer: Answer) -> Fault:
    """The error of a failed call, with the driver's message or the name of the result code."""
    told = answer.fault
    why, token = (told.what, told.token) if told is not None else (hr_name(answer.ddrval), None)
    return Fault(answer.ddrval, why, offset=answer.dwErrorOffset, token=token)

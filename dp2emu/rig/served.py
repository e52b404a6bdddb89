"""A driver in another process, which is watched: crashes and hangs are results.

The process is started when something is first asked of it and lives until it fails or ``close``.
After a failure everything raises that failure again until ``restart``.
"""

from __future__ import annotations

import subprocess
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from threading import Timer
from types import TracebackType
from typing import IO, Any, NoReturn, Self

from dp2emu.capture.payloads import MEMORY_PIECE, Head, Kind, Payload, decode, encode
from dp2emu.capture.rawlog import END, MAGIC, pack
from dp2emu.capture.records import (
    Answered,
    Blitted,
    Called,
    ColorKeyRemoved,
    ColorKeySet,
    ContextCreated,
    ContextDestroyed,
    Flipped,
    Locked,
    MemoryWritten,
    Record,
    SurfaceDestroyed,
)
from dp2emu.d3d.hresult import HResult, hr_name
from dp2emu.dp2.blt import Blt
from dp2emu.dp2.call import Answer, Call
from dp2emu.errors import CaptureError, Fault, Unsupported
from dp2emu.gpu.resource.heap import ColorKey, SurfaceDesc
from dp2emu.limits import Limits
from dp2emu.rig import wire
from dp2emu.rig.describing import make_payload
from dp2emu.rig.failure import Finding, FindingKind, RigFailure, finding_of
from dp2emu.rig.room import Room
from dp2emu.rig.wire import Ask, Message, Reply, receive

TIMEOUT = 10.0
"""Seconds a driver may take for an answer unless more are given."""

_START = 60.0
"""Seconds the process may take until it greets: programs load, whatever their driver is."""
_LAST_WORDS = 1 << 16
_FIXED_BYTES = 128
"""Bytes of a memory or call payload that are not its data, and some."""


class Served:
    """A ``Rig`` whose driver is served by a command over its standard streams.

    ``command`` is an argument list; ``environment`` its variables, None for ours; ``timeout``
    is in seconds.  Mutable: a process comes and goes.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str] | None = None,
        timeout: float = TIMEOUT,
        limits: Limits | None = None,
    ) -> None:
        self.time = 0
        self.finding: Finding | None = None
        self._command = tuple(command)
        self._environment = environment
        self._timeout = timeout
        self._process: subprocess.Popen[bytes] | None = None
        self._words: IO[bytes] | None = None
        self._expired = False
        self._abi = 0
        self._room = 0
        self._surfaces: dict[int, SurfaceDesc] = {}
        self._memory = Room(limits)

    # The Rig

    def create_context(
        self, context: int, *, interface: int = 9, color: int = 0, depth: int = 0
    ) -> None:
        """ContextCreate.  Raises Fault as the driver answers."""
        self._record(ContextCreated(context, interface, color, depth))

    def destroy_context(self, context: int) -> None:
        """ContextDestroy.  Raises Fault as the driver answers."""
        self._record(ContextDestroyed(context))

    def create_surface(self, desc: SurfaceDesc) -> None:
        """Make zeroed memory and tell the driver (CreateSurfaceEx).  Raises Fault as it answers,
        and where a limit is passed.
        """
        self._memory.take(desc)
        self._done(self._exchange(Ask.MAKE, make_payload(desc, self._surfaces)))
        self._surfaces[desc.handle] = desc

    def destroy_surface(self, handle: int) -> None:
        """Tell the driver that the handle is gone (CreateSurfaceEx), then free its memory."""
        self._record(SurfaceDestroyed(handle))
        del self._surfaces[handle]
        self._memory.give(handle)

    def set_color_key(self, handle: int, key: ColorKey | None) -> None:
        """DdSetColorKey, told to the driver if there is a key.  Raises Unsupported if it has no
        such function, and Fault as it answers.
        """
        removed = key is None
        record = ColorKeyRemoved(handle) if key is None else ColorKeySet(handle, *key)
        self._optional(record, "the removal of colour keys" if removed else "colour keys")

    def lock(self, handle: int) -> None:
        """Tell the driver to wait for its drawing."""
        self._record(Locked(handle))

    def flip(self, front: int, back: int) -> None:
        """DdFlip.  Raises Unsupported if the driver has no such function, Fault as it answers."""
        self._optional(Flipped(front, back), "flips")

    def blit(self, blt: Blt) -> None:
        """DdBlt.  Raises Unsupported if the driver has no such function, Fault as it answers."""
        self._optional(Blitted(blt), "blits")

    def write(self, handle: int, offset: int, data: bytes) -> None:
        """Store bytes into a surface.  Raises Fault outside of it."""
        piece = min(MEMORY_PIECE, self._most())
        for at in range(0, len(data), piece) or (0,):
            self._record(MemoryWritten(handle, offset + at, data[at : at + piece]))

    def read(self, handle: int, offset: int, size: int) -> bytes:
        """Load bytes from a surface.  Raises Fault outside of it."""
        found = []
        piece = self._most()
        for at in range(0, size, piece) or (0,):
            found.append(self._read(handle, offset + at, min(piece, size - at)))
        return b"".join(found)

    def submit(self, call: Call) -> Answer:
        """D3dDrawPrimitives2.  Raises RigFailure if the driver does not come back."""
        self._start()
        if len(call.commands or b"") + len(call.vertices or b"") > self._most():
            raise Unsupported(f"calls of more than {self._most()} bytes through this stub")
        kind, _, payload = encode(Called(call, self._abi))
        reply = self._exchange(kind, payload)
        if reply.tag != Kind.ANSWER:
            self._done(reply)
            self._broken(f"a call was answered by record {reply.tag}")
        answered = self._decoded(Kind.ANSWER, reply)
        assert isinstance(answered, Answered)
        return answered.answer

    def finish(self) -> None:
        """Give the driver a chance to finish what it does."""
        self._done(self._exchange(Ask.FINISH, b""))

    # Its life

    @property
    def alive(self) -> bool:
        """Whether there is a process."""
        return self._process is not None

    def restart(self) -> None:
        """Forget a failure and everything that was made: a fresh driver from now on."""
        self.close()
        self.finding = None

    def close(self) -> None:
        """End the process.  What is asked next starts another."""
        process, self._process = self._process, None
        if process is not None:
            _stop(process)
        if self._words is not None:
            self._words.close()
            self._words = None
        self._surfaces.clear()
        self._memory.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _start(self) -> None:
        if self.finding is not None:
            raise RigFailure(self.finding)
        if self._process is not None:
            return
        self._words = tempfile.TemporaryFile()  # noqa: SIM115 (the process has it)
        pipe = subprocess.PIPE
        try:
            self._process = subprocess.Popen(
                self._command, stdin=pipe, stdout=pipe, stderr=self._words, env=self._environment
            )
        except OSError as error:
            self._fail(Finding(FindingKind.CRASH, f"{self._command[0]}: {error.strerror}"))
        weakref.finalize(self, _stop, self._process)
        self._greet()

    def _greet(self) -> None:
        reply = self._exchange(Ask.HELLO, wire.HELLO.pack(wire.VERSION), before=MAGIC)
        if reply.tag != Reply.WELCOME:
            self._broken(f"the greeting was answered by record {reply.tag}")
        version, self._abi, self._room = self._head(wire.WELCOME, reply)
        if version != wire.VERSION or self._abi not in (32, 64) or self._room <= _FIXED_BYTES:
            self._broken(f"version {version}, {self._abi} bits, {self._room} bytes")

    # Saying and hearing

    def _most(self) -> int:
        """Bytes of data that fit into a record."""
        self._start()
        return min(self._room, wire.LONGEST) - _FIXED_BYTES

    def _record(self, record: Record) -> None:
        kind, _, payload = encode(record)
        self._done(self._exchange(kind, payload))

    def _optional(self, record: Record, what: str) -> None:
        """What not every driver has a function for."""
        kind, _, payload = encode(record)
        reply = self._exchange(kind, payload)
        if reply.tag == Reply.DONE and self._head(wire.DONE, reply) == (wire.UNKNOWN,):
            raise Unsupported(f"{what} of this driver")
        self._done(reply)

    def _read(self, handle: int, offset: int, size: int) -> bytes:
        reply = self._exchange(Ask.READ, wire.READ.pack(handle, offset, size))
        if reply.tag != Kind.MEMORY:
            self._done(reply)
            self._broken(f"a read was answered by record {reply.tag}")
        written = self._decoded(Kind.MEMORY, reply)
        assert isinstance(written, MemoryWritten)
        if len(written.data) != size:
            self._broken(f"{len(written.data)} bytes were read instead of {size}")
        return written.data

    def _done(self, reply: Message) -> None:
        """Raise what a reply says has gone wrong, if anything."""
        if reply.tag != Reply.DONE:
            self._broken(f"record {reply.tag} where DONE was expected")
        (result,) = self._head(wire.DONE, reply)
        if result in (wire.CORRUPT, wire.UNKNOWN):
            self._broken("the stub could not read what it was asked")
        if result != HResult.D3D_OK:
            raise Fault(result, hr_name(result))

    def _head(self, head: Head, reply: Message) -> tuple[int, ...]:
        try:
            return head.unpack(reply.payload)
        except CaptureError as error:
            self._broken(error.what)

    def _decoded(self, kind: Kind, reply: Message) -> Record:
        try:
            return decode(kind, reply.time, reply.payload)
        except CaptureError as error:
            self._broken(error.what)

    def _exchange(self, tag: int, payload: Payload, before: bytes = b"") -> Message:
        if not before:
            self._start()
        assert self._process is not None
        self._expired = False
        watch = Timer(max(self._timeout, _START) if before else self._timeout, self._expire)
        watch.daemon = True
        watch.start()
        try:
            reply = self._converse(before + pack(tag, 0, payload), greeting=bool(before))
        except (OSError, EOFError):
            self._fail(self._last_words())
        except CaptureError as error:
            self._broken(error.what)
        finally:
            watch.cancel()
        self.time = reply.time
        return reply

    def _converse(self, request: bytes, *, greeting: bool) -> Message:
        assert self._process is not None and self._process.stdin is not None
        self._process.stdin.write(request)
        self._process.stdin.flush()
        if greeting and self._take(len(MAGIC)) != MAGIC:
            raise CaptureError("the stub does not begin as one")
        return receive(self._take)

    def _take(self, size: int) -> bytes:
        assert self._process is not None and self._process.stdout is not None
        data = self._process.stdout.read(size)
        if len(data) < size:
            raise EOFError
        return data

    def _expire(self) -> None:
        self._expired = True
        if self._process is not None:
            self._process.kill()

    # Failing

    def _last_words(self) -> Finding:
        assert self._process is not None and self._words is not None
        status: Any = None
        try:
            status = self._process.wait(self._timeout)
        except subprocess.TimeoutExpired:
            self._process.kill()
        if self._expired:
            return Finding(FindingKind.TIMEOUT, f"no answer for {self._timeout:g} seconds")
        self._words.seek(0)
        return finding_of(self._words.read(_LAST_WORDS).decode("utf-8", "replace"), status)

    def _broken(self, what: str) -> NoReturn:
        self._fail(Finding(FindingKind.PROTOCOL, what))

    def _fail(self, finding: Finding) -> NoReturn:
        self.close()
        self.finding = finding
        raise RigFailure(finding)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End a process: it is told, and then made to."""
    assert process.stdin is not None and process.stdout is not None
    try:
        process.stdin.write(pack(END, 0, bytes(8)))
        process.stdin.close()
        process.wait(1.0)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        process.kill()
        process.wait()
    process.stdout.close()

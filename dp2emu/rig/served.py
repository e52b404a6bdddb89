"""Rigs whose driver is in a supervised process, where crashes and hangs are results.

The process is started by the first request and lives until it fails or ``close``.  After a
failure all requests raise that failure again until ``restart``.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import weakref
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, Self

from dp2emu.argument_check import checked
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
from dp2emu.dp2.driver_info import DriverInfo
from dp2emu.errors import CaptureError, Fault, Unsupported, UsageError
from dp2emu.gpu.resource.heap import ColorKey, SurfaceDesc
from dp2emu.inputs import read_file
from dp2emu.limits import Limits
from dp2emu.process.child import Command, Watchdog, split_command
from dp2emu.process.forking import ForkedWorker, ForkServer, can_fork
from dp2emu.process.worker import call_of, command_of
from dp2emu.rig import wire
from dp2emu.rig.capabilities import Capabilities, ask_capabilities
from dp2emu.rig.describing import make_payload
from dp2emu.rig.failure import Finding, FindingKind, RigFailure, finding_of, said
from dp2emu.rig.surface_budget import SurfaceBudget
from dp2emu.rig.wire import Ask, Message, Reply, receive

TIMEOUT = 10.0
"""Default time that a driver may take for an answer, in seconds."""

_START_SECONDS = 60.0
"""Seconds, at least, that a process may take from its start to its first reply."""
_STOP_SECONDS = 1.0
_REPORT_BYTES = 1 << 16
_SAID_BYTES = 2000
"""Bytes at the end of standard error whose last lines an error quotes."""
_FIXED_BYTES = 128
"""Upper bound, in bytes, of what a record's payload has besides data (of memory or of a call)."""

_WINDOW_BYTES = 32 << 10 if sys.platform != "win32" else 2 << 10
"""Bytes of requests that may be under way; pipes hold 64 KiB, those of Windows 4."""

LIBRARY_BYTES = 1 << 30
_SANITIZER = re.compile(rb"\0((?:libasan|libclang_rt\.asan)[\w.-]*\.so[\d.]*)\0")
_SANITIZED = {
    "ASAN_OPTIONS": "detect_leaks=0:exitcode=86:abort_on_error=0:allow_user_segv_handler=0"
}


class _Forked(ForkedWorker):
    """A worker that a command can replace.  Mutable: it ends."""

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code; a process that has not ended is ended."""
        return super().wait()


class Read(NamedTuple):
    """A request of ``Served.perform`` for ``size`` bytes of a surface."""

    handle: int
    offset: int
    size: int


class Finish(NamedTuple):
    """A request of ``Served.perform`` that the driver finish all its drawing."""


Request = Record | Read | Finish


@checked
class Served:
    """A rig whose driver runs in another process, which speaks the protocol of ``wire`` over its
    standard streams.

    ``command`` starts it, a list of arguments; ``environment`` has its variables (None: this
    process's); ``timeout`` is in seconds for each request.  Mutable: the process starts and ends.
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
        self.performed = 0
        self.finding: Finding | None = None
        self._command = tuple(command)
        self._environment = environment
        self._timeout = timeout
        self._process: Command | _Forked | None = None
        self._watchdog: Watchdog | None = None
        self._output: Any = None
        self._heard = 0
        self._abi = 0
        self._payload_bytes = 0
        self._windows: deque[list[bytes]] = deque()
        self._surfaces: dict[int, SurfaceDesc] = {}
        self._budget = SurfaceBudget(limits)

    # The Rig

    def create_context(
        self, context: int, *, interface: int = 9, color: int = 0, depth: int = 0
    ) -> None:
        """ContextCreate.  Raises Fault with the driver's result if it fails."""
        self._record(ContextCreated(context, interface, color, depth))

    def destroy_context(self, context: int) -> None:
        """ContextDestroy.  Raises Fault with the driver's result if it fails."""
        self._record(ContextDestroyed(context))

    def create_surface(self, desc: SurfaceDesc) -> None:
        """CreateSurfaceEx of zeroed memory.  Raises Fault if it fails or exceeds a limit."""
        self._budget.claim(desc)
        self._done(self._exchange(Ask.MAKE, make_payload(desc, self._surfaces)))
        self._surfaces[desc.handle] = desc

    def destroy_surface(self, handle: int) -> None:
        """CreateSurfaceEx without memory, then free the surface."""
        self._record(SurfaceDestroyed(handle))
        del self._surfaces[handle]
        self._budget.release(handle)

    def set_color_key(self, handle: int, key: ColorKey | None) -> None:
        """DdSetColorKey; to remove a key no driver function is called.

        Raises Unsupported if the driver has no such function, Fault if the driver fails.
        """
        removed = key is None
        record = ColorKeyRemoved(handle) if key is None else ColorKeySet(handle, *key)
        self._optional(record, "the removal of colour keys" if removed else "colour keys")

    def lock(self, handle: int) -> None:
        """DdLock, in which the driver waits until its drawing into the surface is done."""
        self._record(Locked(handle))

    def flip(self, front: int, back: int) -> None:
        """DdFlip.  Raises Unsupported if the driver lacks this function, Fault if it fails."""
        self._optional(Flipped(front, back), "flips")

    def blit(self, blt: Blt) -> None:
        """DdBlt.  Raises Unsupported if the driver lacks this function, Fault if it fails."""
        self._optional(Blitted(blt), "blits")

    def write(self, handle: int, offset: int, data: bytes) -> None:
        """Store bytes in a surface.  Raises Fault outside of it."""
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
        """D3dDrawPrimitives2.  Raises RigFailure if the driver crashes or hangs."""
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

    def get_driver_info(self, guid: bytes, data: bytes) -> DriverInfo | None:
        """DdGetDriverInfo with the 16 bytes of a GUID and the data that the driver changes; None
        if the driver has no such function.

        Raises RigFailure if the driver crashes, hangs or stores beside the data.
        """
        reply = self._exchange(Ask.INFO, guid + data)
        if reply.tag == Reply.DONE and self._head(wire.DONE, reply) == (wire.UNKNOWN,):
            return None
        if reply.tag != Reply.INFO:
            self._done(reply)
            self._broken(f"DdGetDriverInfo was answered by record {reply.tag}")
        handled, result, actual, size = self._head(wire.INFO, reply)
        found = reply.payload[wire.INFO.size :]
        if size != len(data) or len(found) < size:
            self._broken(f"{len(found)} bytes of driver information instead of {len(data)}")
        return DriverInfo(handled, result, actual, found[:size], found[size:])

    def capabilities(self, ddi: int = 9) -> Capabilities | None:
        """The capabilities that the driver announces to a runtime of DirectX ``ddi``, or, if it
        tells that nothing, a later one; None if it tells nothing.

        Raises RigFailure as ``get_driver_info``, and for an impossible announcement.
        """
        self._start()
        return ask_capabilities(self.get_driver_info, self._abi, ddi)

    def finish(self) -> None:
        """Ask the driver to finish all its drawing, and wait for that."""
        self._done(self._exchange(Ask.FINISH, b""))

    def perform(self, requests: Iterable[Request]) -> list[Answer | int | bytes]:
        """Perform records and other requests without waiting for the reply to each; returns the
        answers of calls, the bytes of reads, and the driver's results for the others, in order.

        ``performed`` is the number of replies that came, also if RigFailure is raised.  All
        requests together may take ``timeout`` seconds.
        """
        self.send(requests)
        return self.replies()

    def send(self, requests: Iterable[Request]) -> None:
        """Begin to perform requests, as many as a pipe holds: the driver plays them while the
        caller does something else.  ``replies`` must follow before any other request.
        """
        self._start()
        self.performed = 0
        packed = [self._packed(request) for request in requests]
        self._windows = deque(_windows(packed))
        with self._supervised(self._timeout):
            self._send_window()

    def replies(self) -> list[Answer | int | bytes]:
        """Perform the rest of the requests that were sent, and return as ``perform``."""
        replies: list[Answer | int | bytes] = []
        with self._supervised(self._timeout):
            while self._windows:
                for _ in self._windows[0]:
                    replies.append(self._reply(receive(self._take)))
                    self.performed += 1
                self._windows.popleft()
                self._send_window()
        return replies

    def _send_window(self) -> None:
        assert self._process is not None
        if self._windows:
            self._process.stdin.write(b"".join(self._windows[0]))
            self._process.stdin.flush()

    def _packed(self, request: Request) -> bytes:
        """Return the bytes of a request."""
        if isinstance(request, Read):
            return pack(Ask.READ, 0, wire.READ.pack(*request))
        if isinstance(request, Finish):
            return pack(Ask.FINISH, 0, b"")
        if isinstance(request, Called):
            request = Called(request.call, self._abi)
        kind, _, payload = encode(request)
        return pack(kind, 0, payload)

    def _reply(self, reply: Message) -> Answer | int | bytes:
        """Return the answer, bytes or result in a reply.  Raises CaptureError if it has none."""
        self.time = reply.time
        if reply.tag == Kind.ANSWER:
            answered = decode(Kind.ANSWER, reply.time, reply.payload)
            assert isinstance(answered, Answered)
            return answered.answer
        if reply.tag == Kind.MEMORY:
            written = decode(Kind.MEMORY, reply.time, reply.payload)
            assert isinstance(written, MemoryWritten)
            return bytes(written.data)
        if reply.tag != Reply.DONE:
            raise CaptureError(f"record {reply.tag} where ANSWER, MEMORY or DONE was expected")
        (result,) = wire.DONE.unpack(reply.payload)
        if result in (wire.CORRUPT, wire.UNKNOWN):
            raise CaptureError("the stub could not read what it was asked")
        return int(result)

    # The process

    @property
    def alive(self) -> bool:
        """Return whether the process is running."""
        return self._process is not None

    def restart(self) -> None:
        """End the process; forget failure, surfaces and contexts.  A request starts it again."""
        self.close()
        self.finding = None

    def close(self) -> None:
        """End the process; the next request starts another."""
        process, self._process = self._process, None
        if self._watchdog is not None:
            self._watchdog.close()
            self._watchdog = None
        if process is not None:
            _stop(process)
        if self._output is not None:
            self._output.close()
            self._output, self._heard = None, 0
        self._windows.clear()
        self._surfaces.clear()
        self._budget.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def _start(self) -> None:
        if self.finding is not None:
            raise RigFailure(self.finding)
        if self._process is not None:
            return
        self._output = tempfile.NamedTemporaryFile()  # noqa: SIM115 (closed with the process)
        try:
            self._process = self._launched(self._output)
        except OSError as error:
            self._fail(Finding(FindingKind.CRASH, f"{self._command[0]}: {error.strerror}"))
        self._watchdog = Watchdog(self._process, self._timeout)
        weakref.finalize(self, _stop, self._process)
        weakref.finalize(self, self._watchdog.close)
        self._greet()

    def _launched(self, output: Any) -> Command | _Forked:
        """Start the driver's process, whose standard error goes to the file ``output``."""
        return Command(self._command, stderr=output, env=self._environment)

    def _greet(self) -> None:
        reply = self._exchange(Ask.HELLO, wire.HELLO.pack(wire.VERSION), before=MAGIC)
        if reply.tag != Reply.WELCOME:
            self._broken(f"the greeting was answered by record {reply.tag}")
        version, self._abi, size = self._head(wire.WELCOME, reply)
        self._payload_bytes = size
        if version != wire.VERSION or self._abi not in (32, 64) or size <= _FIXED_BYTES:
            self._broken(f"version {version}, {self._abi} bits, {size} bytes")

    # Requests and replies

    def _most(self) -> int:
        """Return the largest number of bytes of memory or vertices that one record can carry."""
        self._start()
        return min(self._payload_bytes, wire.LONGEST) - _FIXED_BYTES

    def _record(self, record: Record) -> None:
        kind, _, payload = encode(record)
        self._done(self._exchange(kind, payload))

    def _optional(self, record: Record, what: str) -> None:
        """Send a request; raises Unsupported (``what``) if the driver has no function for it."""
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
        """Raise Fault if ``reply`` says that the driver failed, RigFailure if it is invalid."""
        if reply.tag != Reply.DONE:
            self._broken(f"record {reply.tag} where DONE was expected")
        (result,) = self._head(wire.DONE, reply)
        if result in (wire.CORRUPT, wire.UNKNOWN):
            self._broken("the stub could not read what it was asked")
        if result != HResult.D3D_OK:
            raise Fault(result, hr_name(result) + self._said())

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
        """Send a record and return its reply; raises RigFailure if the driver's process fails.

        ``before`` has the bytes to send ahead of the first record of a connection.
        """
        if not before:
            self._start()
        seconds = max(self._timeout, _START_SECONDS) if before else self._timeout
        with self._supervised(seconds):
            reply = self._converse(before + pack(tag, 0, payload), greeting=bool(before))
        self.time = reply.time
        return reply

    @contextmanager
    def _supervised(self, seconds: float) -> Iterator[None]:
        """A context of ``seconds`` for the driver's process; raises RigFailure if it fails."""
        watchdog = self._watchdog
        assert watchdog is not None
        watchdog.begin(seconds)
        try:
            yield
        except (OSError, EOFError):
            watchdog.end()  # a driver that is waited for now has failed before its time was over
            self._fail(self._ended(watchdog))
        except CaptureError as error:
            self._broken(error.what)
        except BaseException:
            # An interrupt: a driver that owes an answer would not react to a request to end.
            if self._process is not None:
                self._process.kill()
            raise
        watchdog.end()

    def _converse(self, request: bytes, *, greeting: bool) -> Message:
        assert self._process is not None
        self._process.stdin.write(request)
        self._process.stdin.flush()
        if greeting and self._take(len(MAGIC)) != MAGIC:
            raise CaptureError("the stub does not begin as one")
        return receive(self._take)

    def _take(self, size: int) -> bytes:
        assert self._process is not None
        data = self._process.stdout.read(size)
        if len(data) < size:
            raise EOFError
        return data

    # Failures

    def _ended(self, watchdog: Watchdog) -> Finding:
        """Return why the process ended or was killed: timeout, sanitizer report, crash, exit."""
        assert self._process is not None and self._output is not None
        status: int | None = None
        try:
            status = self._process.wait(self._timeout)
        except subprocess.TimeoutExpired:
            self._process.kill()
        if watchdog.expired:
            return Finding(FindingKind.TIMEOUT, f"no answer for {self._timeout:g} seconds")
        if status is None:
            return Finding(FindingKind.CRASH, "its pipe failed, and it did not end")
        self._output.seek(0)
        return finding_of(self._output.read(_REPORT_BYTES).decode("utf-8", "replace"), status)

    def _broken(self, what: str) -> NoReturn:
        self._fail(Finding(FindingKind.PROTOCOL, what + self._said()))

    def _said(self) -> str:
        """Return what the process has written to standard error since this was last asked, for
        the end of an error; nothing where a file cannot be read beside a process that writes it.
        """
        if self._output is None or not hasattr(os, "pread"):
            return ""
        file = self._output.fileno()
        size = os.fstat(file).st_size
        start, self._heard = max(self._heard, size - _SAID_BYTES), size
        return said(os.pread(file, size - start, start).decode("utf-8", "replace"))

    def _fail(self, finding: Finding) -> NoReturn:
        self.close()
        self.finding = finding
        raise RigFailure(finding)


def _windows(packed: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Yield runs of packed records that fit into a pipe, or single longer ones.

    A driver whose replies fill its pipe takes no more requests, and a rig that still writes takes
    no replies.
    """
    window: list[bytes] = []
    size = 0
    for each in packed:
        if window and size + len(each) > _WINDOW_BYTES:
            yield window
            window, size = [], 0
        window.append(each)
        size += len(each)
    if window:
        yield window


def _stop(process: Command | _Forked) -> None:
    """End a process: ask it to end, and kill it if it does not."""
    with suppress(OSError, ValueError, subprocess.TimeoutExpired):
        process.stdin.write(pack(END, 0, bytes(8)))
        process.stdin.close()
        process.wait(_STOP_SECONDS)
    process.close()


@checked
class NativeDriver(Served):
    """A display driver in a shared library for this host, called through real pointers.

    It must export ``D3dDrawPrimitives2`` and may export ``D3dContextCreate``,
    ``D3dContextDestroy`` and ``D3dCreateSurfaceEx``, all with C linkage.  Surfaces and user
    vertices end at an inaccessible page, and the bytes ahead of them are checked after every call.
    A library built with AddressSanitizer gets its run-time preloaded, and its reports become
    findings.  With ``forked`` any other library gets a copy of a process that has imported what a
    host needs, where processes can be copied: a restart then takes milliseconds.  Raises
    UsageError if there is no such file, Unsupported on a host without POSIX.
    """

    def __init__(
        self,
        library: str | os.PathLike[str],
        *,
        timeout: float = TIMEOUT,
        limits: Limits | None = None,
        forked: bool = False,
    ) -> None:
        if os.name != "posix":
            raise Unsupported("native drivers on a host without POSIX")
        path = Path(library).absolute()
        if not path.is_file():
            raise UsageError(f"no driver {path}")
        command = command_of(call_of(_HOST, str(path)))
        super().__init__(command, environment=_environment(path), timeout=timeout, limits=limits)
        self._library = path
        self._server: ForkServer | None = None
        if forked and can_fork() and not _sanitizer(path):
            self._server = ForkServer("dp2emu.rig.host")
            weakref.finalize(self, self._server.close)

    def _launched(self, output: Any) -> Command | _Forked:
        """Start the driver's process, whose standard error goes to the file ``output``."""
        if self._server is None:
            return super()._launched(output)
        call = call_of(_HOST, str(self._library), output.name)
        with suppress(FileNotFoundError, ConnectionError):
            return _Forked(self._server, call)
        self._server.launch()
        return _Forked(self._server, call)


_HOST = "dp2emu.rig.host:serve"


def _environment(library: Path) -> Mapping[str, str]:
    """Return variables for the driver's process: this process's, with this package in PYTHONPATH,
    and for a sanitizer build LD_PRELOAD and the sanitizer's options.
    """
    package = str(Path(__file__).parents[2])
    paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
    ours = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    needed = _sanitizer(library)
    return ours | _SANITIZED | {"LD_PRELOAD": needed} if needed else ours


def _sanitizer(library: Path) -> str:
    """Return the file name of the sanitizer's run-time that a library needs, empty if none."""
    needed = _SANITIZER.search(read_file(library, LIBRARY_BYTES))
    return needed[1].decode("ascii") if needed else ""


@checked
class PipeRig(Served):
    """A driver behind a command that speaks the protocol of ``wire`` over its standard streams.

    ``command`` is split as a shell does.  ``dp2stub.h`` makes such a command of a driver; it may
    also be one that connects to a guest's serial line.  Raises UsageError if it cannot be split.

    >>> PipeRig("wine mydriver.exe").alive
    False
    """

    def __init__(
        self, command: str, *, timeout: float = TIMEOUT, limits: Limits | None = None
    ) -> None:
        words = split_command(command, "a pipe")
        super().__init__(words, timeout=timeout, limits=limits)

"""The driver's entry points: contexts, surfaces, D3dDrawPrimitives2 and GetDriverInfo2.

``Driver`` implements ``dp2emu.rig.Rig``.  Sources: wire format, "The call", "Results", "Unknown
opcodes", "Queries" and "Responses".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar, NamedTuple
from weakref import ref

import numpy as np
from msgspec.structs import replace

from dp2emu.argument_check import FOREIGN, check_contents, checked, unchecked
from dp2emu.cancellation import CURRENT, Cancellation
from dp2emu.d3d.capabilities import Capabilities
from dp2emu.d3d.flags import Dp2Flags
from dp2emu.d3d.fvf import fvf_size
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.blt import Blt, blit_packet
from dp2emu.dp2.call import Answer, Call
from dp2emu.dp2.capabilities import announced
from dp2emu.dp2.context import Context
from dp2emu.dp2.driver_info import DriverInfo, get_driver_info
from dp2emu.dp2.managed import Managed
from dp2emu.dp2.older_capabilities import announced_before_8
from dp2emu.dp2.options import Options
from dp2emu.dp2.parsers import parser_of
from dp2emu.dp2.queries import KINDS
from dp2emu.dp2.resolve.pipeline import Resolutions
from dp2emu.dp2.resolve.surface_caches import SurfaceCaches
from dp2emu.dp2.resolve.vertices import NO_CALL, CallVertices
from dp2emu.dp2.table import TABLE, Token
from dp2emu.dp2.walk import HEADER_BYTES, VERTEX_ALIGNMENT, Scan, malformed
from dp2emu.errors import (
    STOPPED,
    Cancelled,
    DecodingDisagreement,
    Dp2Error,
    Exceeded,
    Fault,
    Interrupted,
    Malformed,
)
from dp2emu.gpu.command.packets import Observe, Part, Swap
from dp2emu.gpu.compile.thread_pool import cores
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.gpu.device.timing import Timing
from dp2emu.gpu.resource.heap import BUFFERS, ColorKey, Surface, SurfaceDesc, host_bytes
from dp2emu.limits import Limits
from dp2emu.shader.engines import engine

CONTEXTS = 1 << 12
"""Maximum number of live contexts of an adapter; one more fails with D3DHAL_OUTOFCONTEXTS."""

SCAN_TOKENS = 1 << 16
"""Maximum number of tokens scanned ahead of execution; it bounds the memory for a huge buffer."""

RESOLUTIONS = 16
"""Maximum number of caches of resolved states that a reset driver keeps for its next contexts."""

_EXIT_OPCODE = 11
"""EXIT of execute buffers before DirectX 6, which some runtimes leave in; ends the commands (wire
format, "Unassigned opcodes")."""


# Plain numbers: operations of IntFlag members cost a tenth of an empty call.
_OK = int(HResult.D3D_OK)
_EXECUTEBUFFER, _USERMEM = int(Dp2Flags.EXECUTEBUFFER), int(Dp2Flags.USERMEMVERTICES)
_VIDMEM = int(Dp2Flags.VIDMEMVERTEXBUF | Dp2Flags.VIDMEMCOMMANDBUF)

_MadeFor = tuple[int, ref[Surface] | None, ref[Surface] | None]
"""DirectX version, colour target and depth-stencil surface with which a context was created; the
surfaces may be gone."""


class UnknownCommand(NamedTuple):
    """A token of an unknown opcode, as ``unknown_command`` gets it; ``offset`` is in bytes."""

    call: Call
    offset: int
    opcode: int


class _Walked(NamedTuple):
    """Where the execution of a call's commands ended: byte ``offset``, and the error there or
    None.

    The error has no traceback: its frames, and with them the call's context and memory, would be
    a cycle that only the garbage collector ends.
    """

    fault: Dp2Error | None
    offset: int


@checked
class Driver:
    """The emulated display driver and its adapter.

    ``unknown_command``, if set, is D3dParseUnknownCommand (wire format, "Unknown opcodes"): it
    returns the offset to continue at, or None for COMMAND_UNPARSED.  ``command_taps`` are called
    with every command before it executes; they cannot change it.  ``limits`` default to those of
    the options.  Once ``cancellation`` is cancelled, by any thread, calls raise Cancelled.
    """

    gpu_type: ClassVar[type[Gpu]] = Gpu
    """Type of the driver's GPU; subclasses that observe execution have another one."""

    def __init__(
        self,
        timing: Timing | None = None,
        options: Options | None = None,
        limits: Limits | None = None,
        cancellation: Cancellation | None = None,
    ) -> None:
        self.options = options or Options()
        self.gpu = self.gpu_type(
            timing,
            limits or self.options.limits,
            engine(self.options.engine),
            threads=self.options.threads or cores(),
            cancellation=cancellation,
        )
        self.unknown_command: Callable[[UnknownCommand], int | None] | None = None
        self.command_taps: list[Callable[[Call, int, Token, int], None]] = []
        self._parser = parser_of(self.options)
        self._resolutions: dict[_MadeFor, Resolutions] = {}
        self._begin()

    def _begin(self) -> None:
        """Set everything that calls change, except in the GPU."""
        self._contexts: dict[int, Context] = {}
        self._made_for: dict[int, _MadeFor] = {}
        self._managed = Managed(self.gpu)
        self._caches = SurfaceCaches()
        self._calls = 0
        self._tokens = 0

    def reset(self) -> None:
        """Return to the state of a new driver on which the surfaces that exist now have just been
        created, in the order of their handles' creation; there are no contexts.

        Calls then have the same answers, memory and times as on such a driver, but cost less than
        a new driver and new surfaces.  Queued packets are dropped.  ``unknown_command``, taps and
        the cancellation stay.
        """
        for number, made_for in self._made_for.items():
            resolutions = self._contexts[number].resolutions
            resolutions.restart()
            self._resolutions[made_for] = resolutions
        for context in self._contexts.values():
            context.destroy()
        while len(self._resolutions) > RESOLUTIONS:
            del self._resolutions[next(iter(self._resolutions))]
        self._begin()
        self.gpu.reset()

    @property
    def time(self) -> int:
        """Host time in ticks of the adapter clock."""
        return self.gpu.now

    def create_context(
        self, context: int, *, interface: int = 9, color: int = 0, depth: int = 0
    ) -> None:
        """ContextCreate.  Raises Fault for a used number, bad surfaces or too many contexts."""
        if context in self._contexts:
            raise Fault(HResult.D3DHAL_CONTEXT_BAD, f"context {context} exists")
        if len(self._contexts) >= CONTEXTS:
            raise Fault(HResult.D3DHAL_OUTOFCONTEXTS, f"context {context}: no room")
        if interface not in (6, 7, 8, 9):
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"DirectX {interface} context")
        made_for = interface, self._reference(color), self._reference(depth)
        created = Context(
            context, interface, self.gpu, self.options, self._managed, self._caches,
            has_depth=depth != 0, resolutions=self._resolutions.pop(made_for, None),
        )  # fmt: skip
        created.set_render_target(0, color)
        created.set_depth_stencil(depth)
        created.resolutions.begin(created.state)
        self._contexts[context], self._made_for[context] = created, made_for

    def _reference(self, handle: int) -> ref[Surface] | None:
        """A weak reference to the surface of a handle, which neither keeps alive."""
        surface = self.gpu.heap.get(handle)
        return None if surface is None else ref(surface)

    def destroy_context(self, context: int) -> None:
        """ContextDestroy, with queries and unsent answers.  Raises Fault if it is unknown."""
        found = self._context(context)
        del self._contexts[context]
        self._made_for.pop(context, None)
        found.destroy()

    def create_surface(self, desc: SurfaceDesc) -> None:
        """Create a surface.  Raises Fault or Unsupported (see ``Heap.create``)."""
        self._forget(desc.handle)
        self.gpu.heap.create(desc)

    def destroy_surface(self, handle: int) -> None:
        """Drop a surface handle; queued packets keep their memory."""
        self._forget(handle)
        self.gpu.heap.destroy(handle)

    def _forget(self, handle: int) -> None:
        """Drop cached objects that would keep the memory of the surface ``handle`` alive; its
        handle is about to be dropped.
        """
        surface = self.gpu.heap.get(handle)
        if surface is None:
            return
        self._caches.forget(surface)
        if surface.desc.kind not in BUFFERS:
            self._resolutions.clear()

    def set_color_key(self, handle: int, key: ColorKey | None) -> None:
        """DdSetColorKey: the source colour key of a texture.  Raises Fault if it is unknown."""
        self.gpu.heap.set_color_key(handle, key)

    def write(self, handle: int, offset: int, data: bytes) -> None:
        """Write as the host, at the current time; queued packets that run later see the data."""
        self.gpu.run()
        self.gpu.heap.write(handle, offset, data)

    def read(self, handle: int, offset: int, size: int) -> bytes:
        """Read as the host, at the current time.  Raises Fault for bytes out of the surface."""
        self.gpu.run()
        surface = self.gpu.heap.find(handle)
        if offset < 0 or size < 0 or offset + size > surface.data.nbytes:
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"read outside surface {handle}")
        return host_bytes(surface.host_copy, offset, size)

    def surface(self, handle: int) -> SurfaceDesc:
        """The description of the live surface ``handle``.  Raises Fault if unknown."""
        return self.gpu.heap.find(handle).desc

    def target(self, context: int) -> int:
        """The handle of colour target 0 of a context, 0 if it is unset or destroyed.

        Raises Fault if there is no such context.
        """
        (handle,) = self._live((self._context(context).targets.colors[0],)) or (0,)
        return handle

    def recent_targets(self, context: int) -> tuple[int, ...]:
        """Handles of the colour and depth targets of a context since this method was last called.

        They are in the order in which they became targets; current targets that were set before
        that call come first.  Destroyed surfaces are left out.  Raises Fault if there is no such
        context.
        """
        found = self._context(context)
        recent = found.recent.take(self.gpu.heap)
        now = self._live((*found.targets.colors, found.targets.depth))
        return (*(handle for handle in now if handle not in recent), *recent)

    def _context(self, number: int) -> Context:
        found = self._contexts.get(number)
        if found is None:
            raise Fault(HResult.D3DHAL_CONTEXT_BAD, f"no context {number}")
        return found

    def _live(self, surfaces: Iterable[Surface | None]) -> tuple[int, ...]:
        """The handles of the ``surfaces`` that are neither None nor destroyed."""
        heap = self.gpu.heap
        return tuple(s.handle for s in surfaces if s is not None and heap.get(s.handle) is s)

    def context(self, number: int) -> Context | None:
        """A live context, for inspection; None if the number is unknown."""
        return self._contexts.get(number)

    def observe(self, handle: int, sink: Callable[[Surface], None]) -> None:
        """Call ``sink`` with the surface ``handle`` once the GPU has executed all earlier packets;
        this takes no virtual time.
        """
        self.gpu.submit(Observe(self.gpu.heap.find(handle), sink))
        self.gpu.run()

    def lock(self, handle: int) -> None:
        """Wait until the GPU is idle, as IDirectDrawSurface::Lock does."""
        self.gpu.heap.find(handle)
        self.gpu.wait_for_idle()

    def flip(self, front: int, back: int) -> None:
        """DdFlip, in order with the drawing: swap the memory behind two handles.

        Raises Fault unless the surfaces differ in their handles only.
        """
        one, other = (self.gpu.heap.find(handle) for handle in (front, back))
        alike = replace(one.desc, handle=back) == other.desc
        if not alike or one.desc.kind in BUFFERS or one.system or other.system:
            what = f"surface {front} cannot be flipped with {back}"
            raise Fault(HResult.DDERR_INVALIDPARAMS, what)
        self.gpu.submit(Swap(one, other))
        self.gpu.run()

    def blit(self, blt: Blt) -> None:
        """DdBlt, in order with the drawing.  Raises Fault and Unsupported as ``blit_packet``."""
        self.gpu.begin_call()
        packet = blit_packet(self.gpu.heap, blt)
        self.gpu.submit(packet)
        self._managed.wrote(self._owned(blt.target, packet.target))
        self.gpu.run()

    def _owned(self, handle: int, part: Part) -> Part:
        """The subresource and box of surface ``handle`` that ``part`` selects; if the surface is a
        mip level of a texture, the texture's subresource and the box.
        """
        surface = self.gpu.heap.find(handle)
        if surface.parent is None:
            return Part(surface, part.index, part.box)
        return Part(surface.parent, surface.desc.index, part.box)

    def finish(self) -> None:
        """Let time pass until the GPU is idle and every answer is visible."""
        self.gpu.finish()

    def query_types(self) -> tuple[int, ...]:
        """D3DQUERYTYPE values that GetDriverInfo2 announces, in the order of their indices."""
        chosen = self.options.query_types
        return tuple(kind for kind in KINDS if chosen is None or kind in chosen)

    def capabilities(self, ddi: int = 9) -> Capabilities:
        """The capabilities that DdGetDriverInfo tells a runtime of DirectX ``ddi``, 6 to 9."""
        return announced_before_8(ddi) if ddi < 8 else announced(self.query_types(), ddi)

    def get_driver_info(self, guid: bytes, data: bytes) -> DriverInfo:
        """DdGetDriverInfo: versions, capabilities, formats and query types of GetDriverInfo2, and
        the structures of DirectX 6 and 7.

        ``guid`` has the 16 bytes of the GUID, ``data`` is the buffer as the runtime fills it.
        """
        return get_driver_info(guid, data, self.capabilities())

    @unchecked
    def submit(self, call: Call) -> Answer:
        """D3dDrawPrimitives2.  A refusal of the driver is in ddrval of the answer.

        Raises Unsupported, Fault (DDERR_OUTOFMEMORY) if the host has no memory left, and
        ArgumentError for a call with members of other types.
        """
        try:
            return self._answered(call)
        except FOREIGN:
            check_contents(Driver.submit, self, call)
            raise

    def _answered(self, call: Call) -> Answer:
        context = self._contexts.get(call.dwhContext)
        if context is None:
            return self._context_bad(call)
        number = self._calls
        self._calls += 1
        self.gpu.begin_call()
        self.gpu.call_vertices = call.vertices
        try:
            walked = self._perform(context, call, number)
        except MemoryError:
            what = "out of memory"
            raise Fault(HResult.DDERR_OUTOFMEMORY, what, offset=call.dwCommandOffset) from None
        if walked.fault is not None:
            return self._failed(call, walked)
        return self._done(context, call)

    # One call

    def _context_bad(self, call: Call) -> Answer:
        fault = Fault(HResult.D3DHAL_CONTEXT_BAD, f"no context {call.dwhContext}")
        return Answer(int(fault.hr), 0, self.gpu.now, b"", _out_flags(call), fault)

    def _perform(self, context: Context, call: Call, number: int) -> _Walked:
        stopped = self.gpu.cancellation.word
        if stopped.value:
            self.gpu.cancellation.check()
        walked, vertex_size = None, 0
        before, CURRENT.token = CURRENT.token, self.gpu.cancellation
        try:
            walked = self._execute(context, call)
        except STOPPED as error:
            raise error.at(call=number) from None
        finally:
            CURRENT.token = before
            # The call returns: drop all references to its memory.
            if context.shadow is not None:
                context.write_shadow()
            vertex_size = context.call.size
            context.call, context.shadow = NO_CALL, None
            if not stopped.value:
                self._advance(call, number, walked, vertex_size)
            self.gpu.end_call()
        if stopped.value:
            self.gpu.cancellation.check()
        return walked

    def _advance(self, call: Call, number: int, walked: _Walked | None, vertex_size: int) -> None:
        """Let the time of a call pass, in which the GPU executes packets."""
        try:
            self.gpu.advance(self.gpu.timing.call(number, call.dwCommandLength))
            self.gpu.distribute()
        except STOPPED as error:
            if walked is not None:
                self._locate(error, call, walked.offset, vertex_size)
            self.gpu.end_call()
            raise error.at(call=number) from None

    def _locate(
        self, error: Cancelled | Interrupted, call: Call, stop: int, vertex_size: int
    ) -> None:
        """Set the token of a call whose packet was being executed at an interrupt.

        ``stop`` is the offset at which the call's commands end.  Does nothing for a packet of an
        earlier call.
        """
        stop -= self.gpu.bytes_behind(len(call.vertices or b""))
        surface = self.gpu.heap.get(call.lpDDCommands)
        if surface is None or stop <= call.dwCommandOffset:
            return
        view, base = _fetched(surface, call.dwCommandOffset, stop)
        last, position = None, call.dwCommandOffset - base
        while position < stop - base:
            scanned = self._scan(view, position, stop - base, vertex_size, base)
            last = scanned.commands[-1] if scanned.commands else last
            if scanned.wrong is not None or scanned.stop == position:
                break
            position = scanned.stop
        if last is not None:
            error.at(offset=base + last[0], token=last[1].name)

    def _execute(self, context: Context, call: Call) -> _Walked:
        try:
            surface = self._command_surface(call)
            context.shadow = self._state_shadow(call)
            context.call = self._vertices(context, call)
        except Dp2Error as fault:
            at = call.dwCommandOffset
            return _Walked(fault.at(offset=at).with_traceback(None), at)
        if surface is None or call.dwCommandLength == 0:
            return _Walked(None, call.dwCommandOffset)
        return self._walk(context, call, surface)

    def _walk(self, context: Context, call: Call, surface: Surface) -> _Walked:
        size, gpu = context.call.size, self.gpu
        position, end = call.dwCommandOffset, call.dwCommandOffset + call.dwCommandLength
        view, base = _fetched(surface, position, end)
        position, end = position - base, end - base
        tokens, body_of = 0, self._parser.body_of
        while True:
            scanned = self._scan(view, position, end, size, base)
            tokens += len(scanned.commands)
            self._count_tokens(tokens, len(scanned.commands), base + position)
            for offset, token, count, start, stop in scanned.commands:
                at = base + offset
                gpu.handed_over += stop - offset
                for tap in self.command_taps:
                    tap(call, at, token, count)
                try:
                    token.execute(context, body_of(token, view, count, start, stop, size))
                except Fault as fault:
                    found = fault.at(offset=at, token=token.name)
                    return _Walked(found.with_traceback(None), at)
                except (Dp2Error, *STOPPED) as error:
                    raise error.at(offset=at, token=token.name) from None
            position = scanned.stop
            if scanned.wrong is not None:
                problem = malformed(*scanned.wrong)
                problem.offset = base + position
                resume = self._resume(call, view[position:end], problem.offset)
                if resume is None:
                    return _Walked(problem, problem.offset)
                position = resume - base
            if position == end:
                return _Walked(None, base + end)

    def _scan(self, view: memoryview, start: int, end: int, vertex_size: int, base: int) -> Scan:
        """The next tokens of a call, whose bytes begin at offset ``base`` of its surface."""
        try:
            return self._parser.scan(view, start, end, vertex_size, limit=SCAN_TOKENS)
        except DecodingDisagreement as error:
            error.offset = base + (error.offset or 0)
            raise

    def _count_tokens(self, of_call: int, more: int, offset: int) -> None:
        """Count ``more`` scanned tokens.  Raises Exceeded before they execute if ``of_call``, the
        tokens of the call, or those of all calls exceed a limit.
        """
        self._tokens += more
        limits = self.gpu.heap.limits
        if of_call <= limits.call_tokens and self._tokens <= limits.capture_tokens:
            return
        try:
            limits.check("call_tokens", of_call)
            limits.check("capture_tokens", self._tokens)
        except Exceeded as error:
            raise error.at(offset=offset) from None

    def _resume(self, call: Call, left: memoryview, offset: int) -> int | None:
        """The offset to continue at after a malformed token at ``offset``, or None to stop there.

        ``left`` are the remaining bytes of the commands, from that token on.
        """
        end = offset + len(left)
        if len(left) < HEADER_BYTES or left[0] in TABLE:
            return None
        if left[0] == _EXIT_OPCODE and not self.options.strict:
            return end
        if self.unknown_command is None:
            return None
        resume = self.unknown_command(UnknownCommand(call, offset, left[0]))
        return resume if resume is not None and offset < resume <= end else None

    def _done(self, context: Context, call: Call) -> Answer:
        surface = self.gpu.heap.get(call.lpDDCommands)
        data = b""
        if surface is not None:
            origin = call.dwCommandOffset if self.options.strict else 0
            data = context.queries.respond(surface.data.nbytes - origin)
            if data:
                surface.data[origin : origin + len(data)] = np.frombuffer(data, np.uint8)
        return Answer(_OK, len(data), self.gpu.now, data, _out_flags(call))

    def _failed(self, call: Call, walked: _Walked) -> Answer:
        fault = walked.fault
        hr = fault.hr if isinstance(fault, Fault) else HResult.D3DERR_COMMAND_UNPARSED
        return Answer(int(hr), walked.offset, self.gpu.now, b"", _out_flags(call), fault)

    # What a call names

    def _command_surface(self, call: Call) -> Surface | None:
        if call.lpDDCommands == 0 and call.dwCommandLength == 0:
            return None
        surface = self.gpu.heap.find(call.lpDDCommands, "command buffer")
        # Draws may change pixels, and commands among them after they have been checked.
        if surface.desc.kind not in BUFFERS:
            what = f"surface {call.lpDDCommands} has pixels, commands need a buffer"
            raise Fault(HResult.DDERR_INVALIDPARAMS, what)
        limits = self.gpu.heap.limits
        if call.dwCommandLength > limits.call_bytes:
            what = limits.refusal("call_bytes", call.dwCommandLength)
            raise Fault(HResult.DDERR_INVALIDPARAMS, what)
        end, size = call.dwCommandOffset + call.dwCommandLength, surface.data.nbytes
        if end > size:
            raise Malformed(f"commands end at {end:#x}, the buffer has {size:#x} bytes")
        if call.commands is not None:
            self.gpu.heap.write(call.lpDDCommands, call.dwCommandOffset, call.commands)
        return surface

    def _state_shadow(self, call: Call) -> Surface | None:
        """The memory that receives render states (lpdwRStates), or None if the call has none."""
        if not call.dwFlags & _EXECUTEBUFFER or call.lpdwRStates == 0:
            return None
        return self.gpu.heap.find(call.lpdwRStates, "lpdwRStates memory")

    def _vertices(self, context: Context, call: Call) -> CallVertices:
        """The vertices of a call.  Raises Fault for a bad format.

        dwVertexSize shares memory with ddrval, so it is read before that is written (wire format,
        "Inline vertices").
        """
        user = call.dwFlags & _USERMEM or call.vertices is not None
        data = call.vertices if user else self.gpu.heap.get(call.lpDDVertex)
        format = call.dwVertexType
        size = call.dwVertexSize or (fvf_size(format, context.interface) if format else 0)
        return CallVertices(
            data, call.dwVertexOffset, call.dwVertexLength, size, call.dwVertexType
        )


def _fetched(surface: Surface, start: int, end: int) -> tuple[memoryview, int]:
    """A copy of the commands, and the aligned offset that it begins at.

    Applications map command surfaces and may change them during a call; a copy makes sure that
    the checked bytes are the executed ones.
    """
    base = start - start % VERTEX_ALIGNMENT
    return surface.data[base:end].copy().data, base


def _out_flags(call: Call) -> int:
    """The dwFlags to return: without VIDMEM bits, because the driver never swaps buffers."""
    return call.dwFlags & ~_VIDMEM

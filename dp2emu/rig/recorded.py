"""A rig without a driver: it answers calls with the answers that a capture has."""

from __future__ import annotations

from collections import deque
from typing import NoReturn

from msgspec.structs import replace

from dp2emu.argument_check import checked
from dp2emu.capture.reader import Capture
from dp2emu.capture.records import Answered, Called
from dp2emu.dp2.blt import Blt
from dp2emu.dp2.call import Answer, Call
from dp2emu.errors import UsageError
from dp2emu.gpu.resource.heap import BUFFERS, ColorKey, SurfaceDesc
from dp2emu.limits import Limits
from dp2emu.rig.surface_budget import SurfaceBudget


@checked
class RecordedRig:
    """A rig that answers calls as a capture recorded them, in order within each context.

    Raises UsageError for a call that differs from the next one recorded in its context, and for a
    read of memory other than a buffer's.  Other requests are accepted and ignored.  Mutable.

    The capture is read at construction.  Raises CaptureError if it is damaged.
    """

    def __init__(self, capture: Capture, *, limits: Limits | None = None) -> None:
        self.time = 0
        self._budget = SurfaceBudget(limits)
        self._answers: dict[int, deque[tuple[Call, Answer]]] = {}
        self._memory: dict[int, bytearray] = {}
        call: Call | None = None
        for record in capture.records():
            if isinstance(record, Called):
                call = record.call
            elif isinstance(record, Answered) and call is not None:
                waiting = self._answers.setdefault(call.dwhContext, deque())
                waiting.append((call, record.answer))
                call = None
        if capture.damage is not None:
            raise capture.damage

    def create_context(
        self, context: int, *, interface: int = 9, color: int = 0, depth: int = 0
    ) -> None:
        """Do nothing: calls in any context are answered as recorded."""

    def destroy_context(self, context: int) -> None:
        """Do nothing: calls in any context are answered as recorded."""

    def create_surface(self, desc: SurfaceDesc) -> None:
        """Allocate the memory of a buffer; do nothing for a surface with pixels.

        Raises Fault if a buffer exceeds a limit.
        """
        if desc.kind in BUFFERS:
            self._budget.claim(desc)
            self._memory[desc.handle] = bytearray(desc.width)

    def destroy_surface(self, handle: int) -> None:
        """Free the memory of a buffer; for a surface with pixels do nothing."""
        self._memory.pop(handle, None)
        self._budget.release(handle)

    def set_color_key(self, handle: int, key: ColorKey | None) -> None:
        """Do nothing: surfaces with pixels have no memory here."""

    def lock(self, handle: int) -> None:
        """Do nothing: only recorded answers are returned."""

    def flip(self, front: int, back: int) -> None:
        """Do nothing: surfaces with pixels have no memory here."""

    def blit(self, blt: Blt) -> None:
        """Do nothing: surfaces with pixels have no memory here."""

    def write(self, handle: int, offset: int, data: bytes) -> None:
        """Store bytes in a buffer; surfaces with pixels have no memory here."""
        if handle in self._memory:
            self._store(handle, offset, data)

    def read(self, handle: int, offset: int, size: int) -> bytes:
        """Return bytes of a buffer.  Raises UsageError for surfaces with pixels."""
        memory = self._memory.get(handle)
        if memory is None or offset < 0 or size < 0 or offset + size > len(memory):
            raise UsageError(f"the contents of surface {handle} were not recorded")
        return bytes(memory[offset : offset + size])

    def submit(self, call: Call) -> Answer:
        """Return the recorded answer.  Raises UsageError if another call was recorded next."""
        waiting = self._answers.get(call.dwhContext)
        if not waiting:
            raise UsageError(f"no answer is left for context {call.dwhContext}")
        recorded, answer = waiting[0]
        if call != recorded:
            _differs(call, recorded)
        waiting.popleft()
        if call.commands is not None:
            self._store(call.lpDDCommands, call.dwCommandOffset, call.commands)
        self._store(call.lpDDCommands, 0, answer.response)
        self.time = max(self.time, answer.time)
        return replace(answer, fault=None)

    def finish(self) -> None:
        """Do nothing: only recorded answers are returned."""

    def _store(self, handle: int, offset: int, data: bytes) -> None:
        memory = self._memory.get(handle)
        if memory is not None and 0 <= offset <= offset + len(data) <= len(memory):
            memory[offset : offset + len(data)] = data


def _differs(call: Call, recorded: Call) -> NoReturn:
    names = [
        name for name in call.__struct_fields__ if getattr(call, name) != getattr(recorded, name)
    ]
    raise UsageError(f"a call with other {', '.join(names)} was recorded")

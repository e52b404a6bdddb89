"""A driver that is only remembered: the answers of a capture."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import NoReturn

from dp2emu.capture.opened import Capture
from dp2emu.capture.records import Answered, Called
from dp2emu.dp2.blt import Blt
from dp2emu.dp2.call import Answer, Call
from dp2emu.errors import UsageError
from dp2emu.gpu.resource.heap import BUFFERS, ColorKey, SurfaceDesc
from dp2emu.limits import Limits
from dp2emu.rig.room import Room


class RecordedRig:
    """Answers the calls of a capture as they were answered, in the order of each context.

    What a caller does besides is taken without a word; a call that was not recorded, or not then,
    is a UsageError, and so is reading what no call left.  Mutable: it goes through the capture.

    The capture is read when this is made.  Raises CaptureError where it is damaged.
    """

    def __init__(self, capture: Capture, *, limits: Limits | None = None) -> None:
        self.time = 0
        self._room = Room(limits)
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
        """Taken."""

    def destroy_context(self, context: int) -> None:
        """Taken."""

    def create_surface(self, desc: SurfaceDesc) -> None:
        """Taken.  The memory of what has pixels was not recorded, and cannot be read.

        Raises Fault for a buffer beyond a limit.
        """
        if desc.kind in BUFFERS:
            self._room.take(desc)
            self._memory[desc.handle] = bytearray(desc.width)

    def destroy_surface(self, handle: int) -> None:
        """Taken."""
        self._memory.pop(handle, None)
        self._room.give(handle)

    def set_color_key(self, handle: int, key: ColorKey | None) -> None:
        """Taken."""

    def lock(self, handle: int) -> None:
        """Taken."""

    def flip(self, front: int, back: int) -> None:
        """Taken."""

    def blit(self, blt: Blt) -> None:
        """Taken."""

    def write(self, handle: int, offset: int, data: bytes) -> None:
        """Taken, and kept where it is a buffer's."""
        if handle in self._memory:
            self._store(handle, offset, data)

    def read(self, handle: int, offset: int, size: int) -> bytes:
        """What a buffer holds.  Raises UsageError for anything with pixels."""
        memory = self._memory.get(handle)
        if memory is None or offset < 0 or size < 0 or offset + size > len(memory):
            raise UsageError(f"no recording of what is in surface {handle}")
        return bytes(memory[offset : offset + size])

    def submit(self, call: Call) -> Answer:
        """The recorded answer.  Raises UsageError if this call was not recorded next."""
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
        """Taken: what was recorded had its time."""

    def _store(self, handle: int, offset: int, data: bytes) -> None:
        memory = self._memory.get(handle)
        if memory is not None and 0 <= offset <= offset + len(data) <= len(memory):
            memory[offset : offset + len(data)] = data


def _differs(call: Call, recorded: Call) -> NoReturn:
    names = [name for name in call.__slots__ if getattr(call, name) != getattr(recorded, name)]
    raise UsageError(f"a call with other {', '.join(names)} was recorded")

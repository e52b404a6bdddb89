"""Small captures for replay tests, made of records by hand."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterable, Sequence

from dp2emu.capture import Capture, CaptureWriter, open_capture
from dp2emu.capture.records import (
    Annotation,
    Answered,
    Called,
    ContextCreated,
    FrameMarker,
    Record,
    SurfaceCreated,
)
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import Format
from dp2emu.dp2.blt import Blt
from dp2emu.dp2.call import Answer, Call
from dp2emu.errors import Dp2Error
from dp2emu.gpu.resource.heap import ColorKey, SurfaceDesc, SurfaceKind

CONTEXT, TARGET, BUFFER = 1, 2, 3
BEGIN, END = 2, 1
EVENT, OCCLUSION, TIMESTAMP, VCACHE = 8, 9, 10, 4

SETTING: tuple[Record, ...] = (
    SurfaceCreated(SurfaceDesc(TARGET, SurfaceKind.SURFACE, 8, 4, format=Format.X8R8G8B8)),
    SurfaceCreated(SurfaceDesc(BUFFER, SurfaceKind.MEMORY, 4096)),
    ContextCreated(CONTEXT, 9, TARGET),
)
"""A context with a target of 8 x 4 pixels and a command buffer."""


def token(op: Op, *items: Sequence[int]) -> bytes:
    """A token of DWORD items."""
    body = b"".join(struct.pack(f"<{len(item)}I", *item) for item in items)
    return struct.pack("<BBH", op, 0, len(items)) + body


def create(query: int, kind: int) -> bytes:
    return token(Op.CREATEQUERY, (query, kind))


def issue(query: int, flags: int) -> bytes:
    return token(Op.ISSUEQUERY, (query, flags))


def delete(query: int) -> bytes:
    return token(Op.DELETEQUERY, (query,))


def clear(color: int) -> bytes:
    """CLEAR of the whole target, as one rectangle."""
    head = struct.pack("<IIfI", 1, color, 1.0, 0)
    return struct.pack("<BBH", Op.CLEAR, 0, 1) + head + struct.pack("<4i", 0, 0, 8, 4)


def called(*tokens: bytes, context: int = CONTEXT, offset: int = 0) -> Called:
    """A call with these tokens."""
    commands = b"".join(tokens)
    return Called(
        Call(
            context,
            lpDDCommands=BUFFER,
            dwCommandOffset=offset,
            dwCommandLength=len(commands),
            commands=commands,
        )
    )


def answered(ddrval: int = 0, offset: int = 0, response: bytes = b"") -> Answered:
    return Answered(Answer(ddrval, offset, 0, response))


def response_of(*answers: tuple[int, bytes]) -> bytes:
    """One RESPONSEQUERY block."""
    body = b"".join(struct.pack("<II", query, len(data)) + data for query, data in answers)
    return struct.pack("<BBHI", Op.RESPONSEQUERY, 0, len(answers), 8 + len(body)) + body


def with_timing(model: str, records: Iterable[Record]) -> list[Record]:
    return [Annotation("timing", model), *records]


def sealed(*records: Record) -> bytes:
    """A sealed capture of the records."""
    file = io.BytesIO()
    with CaptureWriter(file, compression="none") as writer:
        for record in records:
            writer.write(record)
    return file.getvalue()


def capture_of(*records: Record) -> Capture:
    return open_capture(io.BytesIO(sealed(*records)))


FRAME = FrameMarker(0)


class Calls:
    """A rig that gives prepared answers.  Mutable: it goes through them and keeps the calls."""

    def __init__(self, *answers: Answer | Dp2Error) -> None:
        self.answers = list(answers)
        self.calls: list[Call] = []
        self.memory: dict[int, bytes] = {}
        self.keys: list[tuple[int, ColorKey | None]] = []
        self.events: list[str] = []

    def create_context(
        self, context: int, *, interface: int = 9, color: int = 0, depth: int = 0
    ) -> None: ...

    def destroy_context(self, context: int) -> None: ...

    def create_surface(self, desc: SurfaceDesc) -> None: ...

    def destroy_surface(self, handle: int) -> None: ...

    def set_color_key(self, handle: int, key: ColorKey | None) -> None:
        self.keys.append((handle, key))

    def lock(self, handle: int) -> None:
        self.events.append(f"lock {handle}")

    def flip(self, front: int, back: int) -> None:
        self.events.append(f"flip {front} {back}")

    def blit(self, blt: Blt) -> None:
        self.events.append(f"blit {blt.source} {blt.target}")

    def write(self, handle: int, offset: int, data: bytes) -> None:
        self.memory[handle] = bytes(offset) + data

    def read(self, handle: int, offset: int, size: int) -> bytes:
        return self.memory.get(handle, b"")[offset : offset + size]

    def submit(self, call: Call) -> Answer:
        self.calls.append(call)
        answer = self.answers.pop(0) if self.answers else Answer(0, 0, 0)
        if isinstance(answer, Dp2Error):
            raise answer
        return answer

    def finish(self) -> None: ...

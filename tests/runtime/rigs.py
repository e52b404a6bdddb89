"""A rig that answers from a list, for what a well-behaved driver never does."""

from __future__ import annotations

import struct
from collections.abc import Iterable

from dp2emu.dp2.blt import Blt
from dp2emu.dp2.call import Answer, Call
from dp2emu.gpu.resource.heap import ColorKey, SurfaceDesc

MORE = struct.pack("<BBHI", 87, 0, 0, 8)


def block(*records: tuple[int, bytes], count: int | None = None) -> bytes:
    """A RESPONSEQUERY block of (query id, payload) records."""
    body = b"".join(struct.pack("<II", query, len(data)) + data for query, data in records)
    number = len(records) if count is None else count
    return struct.pack("<BBHI", 88, 0, number, 8 + len(body)) + body


def answer(response: bytes = b"", *, ddrval: int = 0, offset: int | None = None) -> Answer:
    return Answer(ddrval, len(response) if offset is None else offset, 0, response)


class ScriptedRig:
    """Answers calls with ``answers`` in order, then with nothing; remembers what it was told."""

    def __init__(self, answers: Iterable[Answer] = ()) -> None:
        self.answers = list(answers)
        self.calls: list[Call] = []
        self.surfaces: dict[int, SurfaceDesc] = {}
        self.writes: list[tuple[int, int, bytes]] = []
        self.events: list[str] = []

    def create_context(
        self, context: int, *, interface: int = 9, color: int = 0, depth: int = 0
    ) -> None:
        self.events.append(f"context {context} {interface} {color} {depth}")

    def destroy_context(self, context: int) -> None:
        self.events.append(f"destroy context {context}")

    def create_surface(self, desc: SurfaceDesc) -> None:
        self.surfaces[desc.handle] = desc

    def destroy_surface(self, handle: int) -> None:
        del self.surfaces[handle]

    def set_color_key(self, handle: int, key: ColorKey | None) -> None:
        self.events.append(f"colour key {handle} {key}")

    def lock(self, handle: int) -> None:
        self.events.append(f"lock {handle}")

    def flip(self, front: int, back: int) -> None:
        self.events.append(f"flip {front} {back}")

    def blit(self, blt: Blt) -> None:
        self.events.append(f"blit {blt.source} {blt.target}")

    def write(self, handle: int, offset: int, data: bytes) -> None:
        self.writes.append((handle, offset, data))

    def read(self, handle: int, offset: int, size: int) -> bytes:
        return bytes(size)

    def submit(self, call: Call) -> Answer:
        self.calls.append(call)
        return self.answers.pop(0) if self.answers else answer()

    def finish(self) -> None:
        self.events.append("finish")

"""A driver with a target, and command bytes packed by hand: what the dp2 tests are written in.

Nothing here goes through the token table or the runtime, so a test says what is on the wire.
"""

from __future__ import annotations

import struct
from typing import Any

from dp2emu.d3d.enums import Format, QueryType
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.call import Answer, Call
from dp2emu.dp2.driver import Driver
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind

COLOR, DEPTH, COMMANDS, VERTICES = 1, 2, 3, 4
BUFFER = 4096
BEGIN, END = 2, 1
XYZRHW_DIFFUSE = 0x44


def header(op: int, count: int = 1) -> bytes:
    return struct.pack("<BBH", op, 0, count)


def token(op: int, *values: int | float, count: int = 1) -> bytes:
    """A token of DWORDs; floats go as float32."""
    body = b"".join(
        struct.pack("<f" if isinstance(value, float) else "<I", value) for value in values
    )
    return header(op, count) + body


def create(query: int, kind: QueryType) -> bytes:
    return token(84, query, int(kind))


def delete(query: int) -> bytes:
    return token(90, query)


def issue(query: int, flags: int) -> bytes:
    return token(91, query, flags)


def clear(color: int = 0, z: float = 1.0, rect: tuple[int, ...] = (0, 0, 64, 64)) -> bytes:
    return token(42, 3, color, z, 0, *rect)


def render_state(state: int, value: int) -> bytes:
    return token(8, state, value)


def triangle_list(first: int, count: int = 1) -> bytes:
    return header(18, count) + struct.pack("<H", first)


def vertex(x: float, y: float, z: float = 0.5, color: int = 0xFFFFFFFF) -> bytes:
    return struct.pack("<4fI", x, y, z, 1.0, color)


def rectangle(x: int, y: int, width: int, height: int, z: float = 0.5) -> bytes:
    """Two triangles that cover exactly width x height pixel centres."""
    left, top, right, bottom = x - 0.5, y - 0.5, x + width - 0.5, y + height - 0.5
    a, b = vertex(left, top, z), vertex(right, top, z)
    c, d = vertex(left, bottom, z), vertex(right, bottom, z)
    return a + b + c + b + d + c


class Bench:
    """A driver with one 64 x 64 target, a depth buffer and one command buffer."""

    def __init__(self, *, buffer: int = BUFFER, context: bool = True, **driver: Any) -> None:
        self.driver = Driver(**driver)
        make = self.driver.create_surface
        make(SurfaceDesc(COLOR, SurfaceKind.SURFACE, 64, 64, int(Format.X8R8G8B8)))
        make(SurfaceDesc(DEPTH, SurfaceKind.SURFACE, 64, 64, int(Format.D24S8)))
        self.driver.write(DEPTH, 0, b"\xff" * (4 * 64 * 64))
        if buffer:
            make(SurfaceDesc(COMMANDS, SurfaceKind.MEMORY, buffer))
        self.commands = COMMANDS if buffer else 0
        if context:
            self.driver.create_context(1, color=COLOR, depth=DEPTH)

    def call(self, commands: bytes = b"", vertices: bytes = b"", **fields: Any) -> Answer:
        """Submit commands; vertices are XYZRHW | DIFFUSE in user memory."""
        call = Call(
            **{
                "dwhContext": 1,
                "lpDDCommands": self.commands,
                "dwCommandLength": len(commands),
                "commands": commands,
                "dwFlags": 1 if vertices else 0,
                "dwVertexType": XYZRHW_DIFFUSE,
                "dwVertexLength": len(vertices) // 20,
                "vertices": vertices or None,
                **fields,
            }
        )
        return self.driver.submit(call)

    def ok(self, commands: bytes = b"", vertices: bytes = b"", **fields: Any) -> Answer:
        """Submit commands that must succeed."""
        answer = self.call(commands, vertices, **fields)
        assert answer.ddrval == HResult.D3D_OK, answer.fault
        return answer

    def results(self, commands: bytes = b"", vertices: bytes = b"") -> dict[int, bytes]:
        """Submit commands that must succeed; the payloads answered, by query id."""
        return payloads(self.ok(commands, vertices).response)

    def settle(self, commands: bytes, vertices: bytes = b"") -> dict[int, bytes]:
        """Submit commands that must succeed and let time pass; all payloads answered."""
        found = self.results(commands, vertices)
        self.driver.finish()
        return found | self.results()

    def poll(self, times: int = 100) -> dict[int, bytes]:
        """Empty calls until an answer comes; the payloads answered, by query id."""
        for _ in range(times):
            found = self.results()
            if found:
                return found
        raise AssertionError(f"no answer in {times} calls")

    def memory(self, size: int = BUFFER, offset: int = 0) -> bytes:
        return self.driver.read(COMMANDS, offset, size)


def records(response: bytes) -> list[tuple[int, bytes]]:
    """A hand-written reading of a response buffer, for tests only: (query, payload) in order."""
    found: list[tuple[int, bytes]] = []
    position = 0
    while position < len(response):
        op, _, count, total = struct.unpack_from("<BBHI", response, position)
        cursor = position + 8
        for _ in range(count if op == 88 else 0):
            query, size = struct.unpack_from("<II", response, cursor)
            found.append((query, response[cursor + 8 : cursor + 8 + size]))
            cursor += 8 + size
        position += total
    return found


def payloads(response: bytes) -> dict[int, bytes]:
    """The payloads of a response buffer by query id."""
    return dict(records(response))


def dword(payload: bytes) -> int:
    return int.from_bytes(payload, "little")

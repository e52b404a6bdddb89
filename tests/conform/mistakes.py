"""Rigs with one mistake each: the emulator with calls, answers or memory changed on the way."""

from __future__ import annotations

import struct

import numpy as np
from msgspec.structs import replace

from dp2emu.conform.features import tokens_of
from dp2emu.conform.target import TARGET
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import Cull, RenderState
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.call import Answer, Call
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.options import Options
from dp2emu.rig.failure import Finding, FindingKind, RigFailure


class Emulator(Driver):
    """The emulator without a mistake."""

    def __init__(self) -> None:
        super().__init__(options=Options(engine="reference"))


class HalfPixel(Emulator):
    """Vertices in the caller's memory are half a pixel off in each direction."""

    def submit(self, call: Call) -> Answer:
        data = call.vertices
        if data:
            rows = np.frombuffer(data, np.uint8).reshape(-1, call.dwVertexSize).copy()
            rows[:, :8].view("<f4")[...] += np.float32(0.5)
            call = replace(call, vertices=rows.tobytes())
        return super().submit(call)


class RedIsBlue(Emulator):
    """Red and blue are exchanged in the target."""

    def read(self, handle: int, offset: int, size: int) -> bytes:
        data = super().read(handle, offset, size)
        if handle != TARGET:
            return data
        return np.frombuffer(data, np.uint8).reshape(-1, 4)[:, [2, 1, 0, 3]].tobytes()


class OppositeCulling(Emulator):
    """D3DCULL_CW culls what D3DCULL_CCW should, and the other way round."""

    def submit(self, call: Call) -> Answer:
        one, other = (
            struct.pack("<2I", RenderState.CULLMODE, mode) for mode in (Cull.CW, Cull.CCW)
        )
        parts = (call.commands or b"").split(one)
        commands = other.join(part.replace(other, one) for part in parts)
        return super().submit(replace(call, commands=commands))


class NoStateBlocks(Emulator):
    """STATESET is refused."""

    def submit(self, call: Call) -> Answer:
        for command in tokens_of(call):
            if command.token.op is Op.STATESET:
                offset = call.dwCommandOffset + command.offset
                return Answer(HResult.D3DERR_COMMAND_UNPARSED, offset, 0)
        return super().submit(call)


class Crashing(Emulator):
    """The driver crashes, at another address each time, if vertices come in the stream."""

    crashes = 0

    def restart(self) -> None:
        self.__init__()  # type: ignore[misc]

    def submit(self, call: Call) -> Answer:
        if any(command.token.vertices is not None for command in tokens_of(call)):
            self.crashes += 1
            raise RigFailure(Finding(FindingKind.CRASH, f"SIGSEGV in call {self.crashes}"))
        return super().submit(call)


class Blind(Emulator):
    """No triangle is drawn."""

    def submit(self, call: Call) -> Answer:
        data = call.vertices
        return super().submit(replace(call, vertices=bytes(len(data)) if data else data))

"""Rigs with one mistake each: the emulator with calls, answers or memory changed on the way.
And what the causes of the sample driver's mistakes must say.
"""

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


SAID: dict[str, str] = {
    "HALF_PIXEL": "coverage: .*moved by",
    "BOTTOM_RIGHT_RULE": "coverage: ",
    "EDGES_DRAWN": "coverage: ",
    "CULL_INVERTED": "D3DRS_CULLMODE",
    "STRIP_WINDING": "have one winding|TRIANGLESTRIP|too few pixels",
    "STRIP_LAST": "missing.*TRIANGLESTRIP",
    "FAN_DOUBLES_FIRST": "TRIANGLEFAN",
    "FAN_CENTRE": "TRIANGLEFAN",
    "VIEWPORT_IGNORED": "outside of the viewport",
    "VIEWPORT_SIDES": "outside of the viewport",
    "SCISSOR_ALWAYS": "scissor rectangle",
    "SCISSOR_SIZED": "scissor rectangle",
    "START_IGNORED": "wVStart other than 0 in .*TRIANGLELIST",
    "INDEX_START_IGNORED": "wVStart other than 0 in D3DDP2OP_INDEXED",
    "INDEX_WRAPS": "added in 32 bits",
    "INDEX_16_BITS": "index of 4 bytes",
    "INDEX_CHECK": "crash: .*indices that do not exist",
    "INDICES_UNCHECKED": "should not be.*indices that do not exist",
    "PREVIOUS_STRIDE": "refused.*smaller than in the draw before|size before",
    "FIRST_TRIANGLE": "a count above 1 in .*D3DDP2OP_INDEXEDTRIANGLELIST",
    "FIRST_DRAW": "all the primitives that it counts",
    "IMM_NOT_ALIGNED": "multiple of 4",
    "BASE_IGNORED": "BaseVertexIndex other than 0",
    "BASE_UNSIGNED": "base vertex may be negative",
    "MIN_INDEX_ADDED": "MinIndex",
    "START_INDEX_IGNORED": "StartIndex other than 0",
    "STALE_INDICES": "index buffer 0",
    "OFFSET_IN_VERTICES": "D3DDP2OP_DRAWPRIMITIVE2 starts at a byte",
    "STREAM_NUMBER": "each stream has a buffer of its own",
    "STREAM_OFFSET": "D3DDP2OP_SETSTREAMSOURCE2 counts its offset",
    "USER_MEMORY_ALONE": "a vertex buffer",
    "VERTEX_OFFSET": "dwVertexOffset",
    "VERTEX_SIZE_LATE": "refused.*dwVertexSize",
    "DIFFUSE_OFFSET": "colours",
    "CHANNEL_ORDER": "colours",
    "FLAT_LAST": "D3DSHADE_FLAT|colour of its first vertex",
    "ALPHAOP_IGNORED": "ALPHAOP",
    "DEPTH_FIRST": "the alpha test rejects hides nothing",
    "ALPHA_STRICT": "D3DRS_ALPHAFUNC D3DCMP_ALWAYS, D3DCMP_GREATEREQUAL, D3DCMP_LESSEQUAL",
    "DEST_ALPHA": "a blend factor D3DBLEND_DESTALPHA, D3DBLEND_INVDESTALPHA",
    "REVSUBTRACT": "D3DBLENDOP_REVSUBTRACT",
    "MASK_IGNORED": "COLORWRITEENABLE",
    "MASK_ORDER": "COLORWRITEENABLE",
    "CLEAR_IGNORES_RECTS": "CLEAR of a part",
    "CLEAR_INCLUSIVE": "should not be.*CLEAR of a part",
    "CLEAR_FIRST_RECT": "every rectangle of CLEAR",
    "FIRST_TARGET": "each context has a target",
    "FIRST_STATE": "every state of a token",
    "CAPTURE_IGNORED": "capturing",
    "EXECUTE_IGNORED": "D3DHAL_STATESETEXECUTE",
    "RECORDS_AND_SETS": "D3DDP2OP_STATESET",
    "CLEAR_LENGTH": "D3DDP2OP_CLEAR",
    "CONSTB_LENGTH": "D3DDP2OP_SETVERTEXSHADERCONSTB is misread",
    "PATCH_TAILS": "D3DDP2OP_DRAWRECTPATCH",
    "SETLIGHT_LENGTH": "D3DDP2OP_SETLIGHT is misread",
    "SETPRIORITY_LENGTH": "D3DDP2OP_SETPRIORITY is refused",
    "SETTEXLOD_LENGTH": "D3DDP2OP_SETTEXLOD is misread",
    "CUT_PASSED": "D3D_OK.*a token that is cut off",
    "SHORT_HEADER": "D3D_OK.*a header that does not fit",
    "ERROR_OFFSET_FROM_FIRST": "dwErrorOffset is not where",
    "ERROR_OFFSET_BEHIND": "dwErrorOffset is not where",
    "UNKNOWN_SKIPPED": "D3D_OK.*a number that is no token",
    "ANSWERS_FAILURES": "a call that fails answers nothing",
    "CAPACITY_OF_CALL": "not answered",
    "DELETED_ANSWERS": "no query",
    "EMPTY_RESPONSE": "without an answer",
    "FIRST_DELETED": "one token deletes several queries",
    "ISSUE_FLAGS": "D3DDP2OP_ISSUEQUERY",
    "LEFT_OVER_LOST": "not answered",
    "NEWEST_FIRST": "answered before",
    "NO_CONTINUE": "no RESPONSECONTINUE",
    "NO_RESERVE": "bytes answered over|overrun: .*behind command buffer",
    "RESTART_ADDS": "BEGIN while building starts again",
    "TOTAL_WITHOUT_HEADER": "passes the end of its block",
}
"""By the name of a mistake of the sample driver, a regular expression that finds it in the text of
its only cause.
"""
DOUBTED = frozenset((
    ("BASE_UNSIGNED", 8), ("END_COUNTS_ALL", 9), ("SETRENDERTARGET_LENGTH", 9),
))  # fmt: skip
"""Mistakes, with versions, that documents do not forbid: the kit warns of them."""

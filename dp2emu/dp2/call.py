"""One D3dDrawPrimitives2 call and its answer, as plain values."""

from __future__ import annotations

import msgspec

from dp2emu.errors import Dp2Error


class Call(msgspec.Struct, frozen=True):
    """The members of D3DHAL_DRAWPRIMITIVES2DATA the caller fills in (wire format, "The call").

    Pointers are surface handles here: ``lpDDCommands``, ``lpDDVertex`` and ``lpdwRStates`` name
    surfaces of kind MEMORY (or VERTEXBUFFER), 0 is NULL.  ``commands``, if not None, are the bytes
    at ``dwCommandOffset`` of the command surface; they are written there first.  ``vertices`` is
    the user memory behind ``lpVertices`` when ``dwFlags`` has USERMEMVERTICES or a
    SETSTREAMSOURCEUM token uses it; byte 0 is what lpVertices points at.  Offsets and lengths are
    bytes, except ``dwVertexLength``, which counts vertices.
    """

    dwhContext: int
    lpDDCommands: int = 0
    dwCommandOffset: int = 0
    dwCommandLength: int = 0
    dwFlags: int = 0
    dwVertexType: int = 0
    lpDDVertex: int = 0
    dwVertexOffset: int = 0
    dwVertexLength: int = 0
    dwVertexSize: int = 0
    dwReqVertexBufSize: int = 0
    dwReqCommandBufSize: int = 0
    lpdwRStates: int = 0
    commands: bytes | None = None
    vertices: bytes | None = None


class Answer(msgspec.Struct, frozen=True):
    """The results of a call.

    ``time`` is the adapter clock (ticks) when the call returned; ``response`` the bytes written
    over the command surface, from its origin, dwErrorOffset of them on success with responses,
    else empty; ``dwFlags`` the flags with the driver's output bits.  ``fault`` is the error behind
    a failing ddrval, with offset and token; the driver does not return it.
    """

    ddrval: int
    dwErrorOffset: int
    time: int
    response: bytes = b""
    dwFlags: int = 0
    fault: Dp2Error | None = None

    def __eq__(self, other: object) -> bool:
        return type(other) is Answer and self._returned() == other._returned()

    def __hash__(self) -> int:
        return hash(self._returned())

    def _returned(self) -> tuple[object, ...]:
        return self.ddrval, self.dwErrorOffset, self.time, self.response, self.dwFlags

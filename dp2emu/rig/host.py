"""The process in which ``NativeDriver`` calls a library: the other side of ``wire``, in Python.

python -m dp2emu.rig.host LIBRARY
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from typing import Any, BinaryIO

from dp2emu.capture.payloads import (
    Kind,
    decode,
    encode,
)
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
from dp2emu.d3d import hal
from dp2emu.d3d.ddsurface import BY_ABI
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.call import Answer, Call
from dp2emu.errors import CaptureError, Dp2Error, Fault
from dp2emu.rig import wire
from dp2emu.rig.failure import MARK, FindingKind
from dp2emu.rig.guard import Guarded, tell_faults
from dp2emu.rig.structures import ABI, structure
from dp2emu.rig.surfacecalls import SurfaceCalls
from dp2emu.rig.wire import Ask, Message, Reply, receive

_CALL = structure("D3DHAL_DRAWPRIMITIVES2DATA", hal.drawprimitives2data(ABI))
_CREATE = structure("D3DHAL_CONTEXTCREATEDATA", hal.contextcreatedata(ABI))
_DESTROY = structure("D3DHAL_CONTEXTDESTROYDATA", hal.contextdestroydata(ABI))
_SURFACE_EX, _LOCAL, _GLOBAL, _MORE, _DIRECTDRAW = (
    structure(name, BY_ABI[name](ABI))
    for name in (
        "DD_CREATESURFACEEXDATA",
        "DD_SURFACE_LOCAL",
        "DD_SURFACE_GLOBAL",
        "DD_SURFACE_MORE",
        "DD_DIRECTDRAW_LOCAL",
    )
)
_PIXEL_FORMAT = (
    "dwSize", "dwFlags", "dwFourCC", "dwRGBBitCount",
    "dwRBitMask", "dwGBitMask", "dwBBitMask", "dwRGBAlphaBitMask",
)  # fmt: skip
_NO_CONTEXT = 0x0BAD0000
"""Bits of what a driver is given for a context that is none."""
_PAYLOAD_BYTES = wire.LONGEST
_OLDEST = 4
"""dwhContext of ContextCreate tells the interface: 2 is that of DirectX 6, and so on."""


class Place:
    """A surface: its memory, or a part of another's, and the structures that describe it.

    Mutable: the driver may write into them.
    """

    def __init__(self, row: dict[str, int], owner: Place | None) -> None:
        name = f"surface {row['handle']}"
        self.size = row["bytes"]
        self.offset: int = row["offset"] + (owner.offset if owner else 0)
        self.memory: Guarded = owner.memory if owner else Guarded(self.size, name)
        self.shared = _GLOBAL(
            fpVidMem=self.memory.address + self.offset,
            lPitch=row["pitch"],
            wHeight=row["height"],
            wWidth=row["width"],
        )
        for member in _PIXEL_FORMAT:
            setattr(self.shared.ddpfSurface, member, row[member])
        self.more = _MORE(dwMipMapCount=row["levels"], dwSurfaceHandle=row["handle"])
        self.more.ddsCapsEx.dwCaps2 = row["caps2"]
        self.local = _LOCAL(
            lpGbl=ctypes.addressof(self.shared), lpSurfMore=ctypes.addressof(self.more)
        )
        self.local.ddsCaps.dwCaps = row["caps"]

    @property
    def pointer(self) -> int:
        """What calls name it by."""
        return ctypes.addressof(self.local)

    def exchange(self, other: Place) -> None:
        """Each has the other's memory from now on, as DirectDraw does it behind a flip."""
        one, two = self.shared, other.shared
        one.fpVidMem, two.fpVidMem = two.fpVidMem, one.fpVidMem
        self.memory, other.memory = other.memory, self.memory
        self.offset, other.offset = other.offset, self.offset

    def reach(self, offset: int, size: int) -> int:
        """Where bytes are in ``memory``.  Raises Fault if they are not all in the surface."""
        if offset + size > self.size:
            raise Fault(HResult.DDERR_INVALIDPARAMS, "outside the surface")
        return self.offset + offset


class Host:
    """Carries out what a rig asks.  Mutable: it has surfaces and contexts."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.ticks = 0
        self._draw = library.D3dDrawPrimitives2
        self._create = getattr(library, "D3dContextCreate", None)
        self._destroy = getattr(library, "D3dContextDestroy", None)
        self._surface_ex = getattr(library, "D3dCreateSurfaceEx", None)
        self._adapter = (ctypes.c_uint8 * 4096)()
        self._directdraw = _DIRECTDRAW(lpGbl=ctypes.addressof(self._adapter))
        self._about = SurfaceCalls(library, ctypes.addressof(self._adapter))
        self._places: dict[int, Place] = {}
        self._contexts: dict[int, int] = {}
        self._user: Guarded | None = None

    def answer(self, message: Message) -> tuple[int, bytes]:
        """Tag and payload of the reply."""
        self.ticks += 1
        try:
            if message.tag in _ASKED:
                return _ASKED[Ask(message.tag)](self, message.payload)
            if message.tag not in Kind._value2member_map_:
                return _done(wire.UNKNOWN)
            record = decode(Kind(message.tag), 0, message.payload)
            perform = _RECORDED.get(type(record))
            return perform(self, record) if perform else _done(wire.UNKNOWN)
        except Fault as fault:
            return _done(fault.hr)
        except CaptureError:
            return _done(wire.CORRUPT)

    def where(self, address: int) -> str | None:
        """What an address is, in words, if it is right beside memory of ours."""
        memories = [place.memory for place in self._places.values()]
        for memory in [*memories, *filter(None, [self._user])]:
            place = memory.where(address)
            if place is not None:
                return place
        return None

    # What rigs ask

    def _welcome(self, payload: bytes) -> tuple[int, bytes]:
        return Reply.WELCOME, wire.WELCOME.pack(wire.VERSION, ABI, _PAYLOAD_BYTES)

    def _make(self, payload: bytes) -> tuple[int, bytes]:
        row = dict(zip(wire.MAKE.names, wire.MAKE.unpack(payload), strict=True))
        owner = self._place(row["parent"]) if row["parent"] else None
        if row["handle"] in self._places:
            raise Fault(HResult.DDERR_INVALIDPARAMS, "there is such a surface")
        if owner is not None:
            owner.reach(row["offset"], row["bytes"])
        place = self._places[row["handle"]] = Place(row, owner)
        return self._tell(place)

    def _read(self, payload: bytes) -> tuple[int, bytes]:
        handle, offset, size = wire.READ.unpack(payload)
        place = self._place(handle)
        data = place.memory.read(place.reach(offset, size), size)
        kind, _, reply = encode(MemoryWritten(handle, offset, data))
        return kind, bytes(reply)

    def _nothing(self, asked: Any) -> tuple[int, bytes]:
        """What is done when it returns has nothing to wait for."""
        return _done(HResult.D3D_OK)

    # What logs have

    def _unmake(self, record: SurfaceDestroyed) -> tuple[int, bytes]:
        place = self._place(record.handle)
        place.shared.fpVidMem = 0
        reply = self._tell(place)
        del self._places[record.handle]
        return reply

    def _write(self, record: MemoryWritten) -> tuple[int, bytes]:
        place = self._place(record.handle)
        place.memory.write(place.reach(record.offset, len(record.data)), record.data)
        return _done(HResult.D3D_OK)

    def _flip(self, record: Flipped) -> tuple[int, bytes]:
        front, back = self._place(record.front), self._place(record.back)
        result = self._about.flip(record, front, back)
        if result == HResult.D3D_OK:
            front.exchange(back)
        return self._done_or_unknown(result)

    def _blit(self, record: Blitted) -> tuple[int, bytes]:
        source = self._place(record.blt.source) if record.blt.source else None
        target = self._place(record.blt.target)
        return self._done_or_unknown(self._about.blit(record, target, source))

    def _set_key(self, record: ColorKeySet) -> tuple[int, bytes]:
        return self._done_or_unknown(self._about.set_key(record, self._place(record.handle)))

    def _remove_key(self, record: ColorKeyRemoved) -> tuple[int, bytes]:
        return _done(self._about.remove_key(record, self._place(record.handle)))

    def _done_or_unknown(self, result: int | None) -> tuple[int, bytes]:
        self._check()
        return _done(wire.UNKNOWN if result is None else result)

    def _open(self, record: ContextCreated) -> tuple[int, bytes]:
        data = _CREATE(
            lpDDLcl=ctypes.addressof(self._directdraw),
            lpDDSLcl=self._pointer(record.color),
            lpDDSZLcl=self._pointer(record.depth),
            dwhContext=record.interface - _OLDEST,
        )
        if record.context in self._contexts:
            raise Fault(HResult.D3DHAL_CONTEXT_BAD, "there is such a context")
        if self._create is not None:
            self._create(ctypes.byref(data))
        if data.ddrval == HResult.D3D_OK:
            self._contexts[record.context] = data.dwhContext
        return _done(data.ddrval)

    def _close(self, record: ContextDestroyed) -> tuple[int, bytes]:
        if record.context not in self._contexts:
            raise Fault(HResult.D3DHAL_CONTEXT_BAD, "no such context")
        data = _DESTROY(dwhContext=self._contexts.pop(record.context))
        if self._destroy is not None:
            self._destroy(ctypes.byref(data))
        return _done(data.ddrval)

    def _call(self, record: Called) -> tuple[int, bytes]:
        call = record.call
        commands = self._places.get(call.lpDDCommands)
        if call.commands:
            if commands is None:
                raise Fault(HResult.DDERR_INVALIDPARAMS, "no command buffer")
            at = commands.reach(call.dwCommandOffset, len(call.commands))
            commands.memory.write(at, call.commands)
        data = self._data(call)
        self._draw(ctypes.byref(data))
        self._check()
        result, end = data.dwVertexSize, data.dwErrorOffset
        response = b""
        if result == HResult.D3D_OK and commands is not None and end <= commands.size:
            response = commands.memory.read(commands.offset, end)
        answer = Answer(result, end, self.ticks, response, data.dwFlags)
        kind, _, reply = encode(Answered(answer))
        return kind, bytes(reply)

    def _data(self, call: Call) -> Any:
        """The structure of a call: handles become pointers."""
        data = _CALL()
        for name, _ in _CALL._fields_:  # type: ignore[misc]
            setattr(data, name, getattr(call, name, 0))
        data.dwhContext = self._contexts.get(call.dwhContext, call.dwhContext | _NO_CONTEXT)
        data.lpDDCommands = self._pointer(call.lpDDCommands)
        states = self._places.get(call.lpdwRStates)
        data.lpdwRStates = states.memory.address + states.offset if states else 0
        data.lpDDVertex = self._pointer(call.lpDDVertex)
        self._user = None
        if call.vertices is not None:
            self._user = Guarded(len(call.vertices), "the user's vertices")
            self._user.write(0, call.vertices)
            data.lpDDVertex = self._user.address
        return data

    def _check(self) -> None:
        """End the process if something was stored beside a buffer."""
        memories = [place.memory for place in self._places.values()]
        for memory in [*memories, *filter(None, [self._user])]:
            if not memory.intact():
                what = f"{MARK} {FindingKind.OVERRUN.value} stored beside {memory.name}\n"
                os.write(2, what.encode())
                os._exit(1)

    # Surfaces

    def _tell(self, place: Place) -> tuple[int, bytes]:
        data = _SURFACE_EX(lpDDLcl=ctypes.addressof(self._directdraw), lpDDSLcl=place.pointer)
        if self._surface_ex is not None:
            self._surface_ex(ctypes.byref(data))
        return _done(data.ddRVal)

    def _place(self, handle: int) -> Place:
        if handle not in self._places:
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"no surface {handle}")
        return self._places[handle]

    def _pointer(self, handle: int) -> int:
        return self._places[handle].pointer if handle in self._places else 0


def _done(result: int) -> tuple[int, bytes]:
    return Reply.DONE, wire.DONE.pack(result)


_ASKED: dict[int, Callable[[Host, bytes], tuple[int, bytes]]] = {
    Ask.HELLO: Host._welcome,
    Ask.MAKE: Host._make,
    Ask.READ: Host._read,
    Ask.FINISH: Host._nothing,
}
_RECORDED: dict[type[Record], Callable[[Host, Any], tuple[int, bytes]]] = {
    SurfaceDestroyed: Host._unmake,
    MemoryWritten: Host._write,
    ContextCreated: Host._open,
    ContextDestroyed: Host._close,
    Called: Host._call,
    Locked: Host._nothing,
    Flipped: Host._flip,
    Blitted: Host._blit,
    ColorKeySet: Host._set_key,
    ColorKeyRemoved: Host._remove_key,
}


def serve(host: Host, source: BinaryIO, target: BinaryIO) -> None:
    """Answer every record of ``source`` until its end."""

    def take(size: int) -> bytes:
        data = source.read(size)
        if len(data) < size:
            raise EOFError
        return data

    if take(len(MAGIC)) != MAGIC:
        raise CaptureError("this is no rig")
    target.write(MAGIC)
    while (message := receive(take)).tag != END:
        tag, payload = host.answer(message)
        target.write(pack(tag, host.ticks, payload))
        target.flush()


def main(library: str) -> None:
    """Serve a library over standard input and output, which what it prints does not get into."""
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    host = Host(ctypes.CDLL(library))
    if "ASAN_OPTIONS" not in os.environ:
        tell_faults(host.where)
    try:
        serve(host, sys.stdin.buffer, output)
    except (EOFError, BrokenPipeError):
        os._exit(0)
    except Dp2Error as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main(sys.argv[1])

"""The host of a native driver: a process that calls a library, on the driver's side of ``wire``.

Source of the calls about surfaces: the public documentation of DD_FLIPDATA, DD_BLTDATA and
DD_DRVSETCOLORKEYDATA.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from typing import Any, BinaryIO

from dp2emu.capture.payloads import Kind, decode, encode
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
from dp2emu.d3d import caps, hal
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.call import Answer, Call
from dp2emu.errors import CaptureError, Dp2Error, Fault
from dp2emu.rig import wire
from dp2emu.rig.failure import MARK, FindingKind
from dp2emu.rig.faults import report_faults
from dp2emu.rig.guarded import Guarded
from dp2emu.rig.places import Place, Surfaces
from dp2emu.rig.structures import ABI, fill, structure
from dp2emu.rig.wire import Ask, Message, Reply, receive

_CALL = structure("D3DHAL_DRAWPRIMITIVES2DATA", hal.BY_ABI["D3DHAL_DRAWPRIMITIVES2DATA"](ABI))
_CREATE = structure("D3DHAL_CONTEXTCREATEDATA", hal.BY_ABI["D3DHAL_CONTEXTCREATEDATA"](ABI))
_DESTROY = structure("D3DHAL_CONTEXTDESTROYDATA", hal.BY_ABI["D3DHAL_CONTEXTDESTROYDATA"](ABI))
_SURFACE_EX, _DIRECTDRAW, _FLIP, _BLT, _KEY = (
    structure(name, hal.SURFACES_BY_ABI[name](ABI))
    for name in (
        "DD_CREATESURFACEEXDATA", "DD_DIRECTDRAW_LOCAL", "DD_FLIPDATA", "DD_BLTDATA",
        "DD_DRVSETCOLORKEYDATA",
    )
)  # fmt: skip
_INFO = structure("DD_GETDRIVERINFODATA", hal.SURFACES_BY_ABI["DD_GETDRIVERINFODATA"](ABI))
_TEXTURE_FORMAT = structure("DDSURFACEDESC", hal.CALLS_BY_ABI["DDSURFACEDESC"](ABI))
_GLOBAL_DATA = caps.BY_ABI["D3DHAL_GLOBALDRIVERDATA"](ABI)

_NOT_HANDLED = 0
"""DDHAL_DRIVER_NOTHANDLED, the return value of a driver function that did not handle a call."""
_SRCBLT = 0x8
"""DDCKEY_SRCBLT, the DdSetColorKey flag of a colour key for source blits."""
_HASCKEYSRCBLT = 0x0800
"""DDRAWISURF_HASCKEYSRCBLT: ddckCKSrcBlt is valid."""
_OF_SURFACES = "DdCreateSurface", "DdDestroySurface", "DdLock", "DdUnlock"
_NO_CONTEXT = 0x0BAD0000
"""Bits of the invalid dwhContext that a driver gets if the rig names an unknown context."""
_PAYLOAD_BYTES = wire.LONGEST
_OLDEST = 4
"""ContextCreate passes the DirectX version (6 to 9) minus this number in dwhContext."""


class Host:
    """Performs the requests of a rig by calls of a driver's library.  Mutable: it has the driver's
    surfaces and contexts, by the rig's numbers.
    """

    def __init__(self, library: ctypes.CDLL, flush: Callable[[], None]) -> None:
        """``flush`` sends the replies so far, before this process ends with a finding."""
        self.ticks = 0
        self._library = library
        self._flush = flush
        self._draw = library.D3dDrawPrimitives2
        self._create = getattr(library, "D3dContextCreate", None)
        self._destroy = getattr(library, "D3dContextDestroy", None)
        self._surface_ex = getattr(library, "D3dCreateSurfaceEx", None)
        self._adapter = (ctypes.c_uint8 * 4096)()
        self._directdraw = _DIRECTDRAW(lpGbl=ctypes.addressof(self._adapter))
        adapter = ctypes.addressof(self._adapter)
        self._surfaces = Surfaces(self._called, Guarded, adapter)
        self._contexts: dict[int, int] = {}
        self._user: Guarded | None = None
        self._places_surfaces = any(hasattr(library, name) for name in _OF_SURFACES)

    def answer(self, message: Message) -> tuple[int, bytes]:
        """Perform the request in a record; returns (tag, payload) of the reply."""
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
        """Describe an address in a guard page of a surface or of user vertices, else None."""
        for memory in self._memories():
            place = memory.where(address)
            if place is not None:
                return place
        return None

    def _memories(self) -> list[Guarded]:
        """Return the memory that this process reserved for surfaces and user vertices."""
        levels = (level.memory for place in self._surfaces for level in place.levels)
        own = {id(memory): memory for memory in levels if isinstance(memory, Guarded)}
        return [*own.values(), *filter(None, [self._user])]

    # Requests

    def _welcome(self, payload: bytes) -> tuple[int, bytes]:
        return Reply.WELCOME, wire.WELCOME.pack(wire.VERSION, ABI, _PAYLOAD_BYTES)

    def _make(self, payload: bytes) -> tuple[int, bytes]:
        row = dict(zip(wire.MAKE.names, wire.MAKE.unpack(payload), strict=True))
        place = self._surfaces.make(row)
        self._check_places()
        reply = self._notify(place)
        if reply != _done(HResult.D3D_OK):
            self._surfaces.remove(row["handle"])
        return reply

    def _read(self, payload: bytes) -> tuple[int, bytes]:
        handle, offset, size = wire.READ.unpack(payload)
        data = self._surfaces.read(handle, offset, size)
        self._check_places()
        kind, _, reply = encode(MemoryWritten(handle, offset, data))
        return kind, bytes(reply)

    def _info(self, payload: bytes) -> tuple[int, bytes]:
        """Call DdGetDriverInfo with data that end at an inaccessible page."""
        guid, data = payload[: wire.ASK_INFO.size], payload[wire.ASK_INFO.size :]
        if len(guid) < wire.ASK_INFO.size:
            return _done(wire.CORRUPT)
        self._user = buffer = Guarded(len(data), "the data of DdGetDriverInfo")
        buffer.write(0, data)
        asked = _INFO(
            dhpdev=ctypes.addressof(self._adapter),
            dwSize=ctypes.sizeof(_INFO),
            dwExpectedSize=len(data),
            lpvData=buffer.address,
        )
        ctypes.memmove(ctypes.addressof(asked.guidInfo), guid, len(guid))
        entry = getattr(self._library, "DdGetDriverInfo", None)
        if entry is None:
            return _done(wire.UNKNOWN)
        entry.restype = ctypes.c_uint32
        handled = entry(ctypes.byref(asked))
        self._check()
        found = buffer.read(0, len(data))
        head = wire.INFO.pack(handled, asked.ddRVal, asked.dwActualSize, len(found))
        formats = b""
        if guid == hal.GUIDS["GUID_D3DCaps"] and asked.dwActualSize >= _GLOBAL_DATA.sizeof():
            formats = _texture_formats(found)
        return Reply.INFO, head + found + formats

    def _acknowledge(self, asked: Any) -> tuple[int, bytes]:
        """Answer D3D_OK to a request that needs no action."""
        return _done(HResult.D3D_OK)

    # Records of logs

    def _destroy_surface(self, record: SurfaceDestroyed) -> tuple[int, bytes]:
        place = self._surfaces[record.handle]
        shared = place.first.shared
        address, shared.fpVidMem = shared.fpVidMem, 0
        reply = self._notify(place)
        shared.fpVidMem = address
        self._surfaces.remove(record.handle)
        return reply

    def _write(self, record: MemoryWritten) -> tuple[int, bytes]:
        self._surfaces.write(record.handle, record.offset, record.data)
        self._check_places()
        return _done(HResult.D3D_OK)

    def _wait(self, record: Locked) -> tuple[int, bytes]:
        self._surfaces.wait(record.handle)
        self._check_places()
        return _done(HResult.D3D_OK)

    def _check_places(self) -> None:
        """Check the memory of a driver that had a call for what is no call of other drivers."""
        if self._places_surfaces:
            self._check()

    def _flip(self, record: Flipped) -> tuple[int, bytes]:
        front, back = self._surfaces[record.front], self._surfaces[record.back]
        alike = front.size == back.size and front.flippable and back.flippable
        if not alike and hasattr(self._library, "DdFlip"):
            raise Fault(HResult.DDERR_INVALIDPARAMS, "surfaces that are not alike")
        directdraw = ctypes.addressof(self._adapter)
        data = _FLIP(lpDD=directdraw, lpSurfCurr=front.pointer, lpSurfTarg=back.pointer)
        result = self._called("DdFlip", data)
        if result == HResult.D3D_OK:
            front.first.exchange(back.first)
        return self._done_or_unknown(result)

    def _blit(self, record: Blitted) -> tuple[int, bytes]:
        blt = record.blt
        data = _BLT(
            lpDD=ctypes.addressof(self._adapter),
            lpDDDestSurface=self._surfaces[blt.target].pointer,
            lpDDSrcSurface=self._surfaces[blt.source].pointer if blt.source else 0,
            dwFlags=blt.flags,
            dwROPFlags=blt.rop,
        )
        written = blt.left, blt.top, blt.right, blt.bottom
        read = blt.source_left, blt.source_top, blt.source_right, blt.source_bottom
        for name, corners in (("rDest", written), ("rSrc", read)):
            for each in (name, name.replace("r", "rOrig", 1)):
                fill(getattr(data, each), corners)
        effects = data.bltFX
        effects.dwSize, effects.dwDDFX, effects.dwROP = ctypes.sizeof(effects), blt.fx, blt.rop
        effects.lpDDSPattern = blt.fill  # dwFillColor of the union
        fill(effects.ddckSrcColorkey, (blt.low, blt.high))
        fill(effects.ddckDestColorkey, (blt.dest_low, blt.dest_high))
        return self._done_or_unknown(self._called("DdBlt", data))

    def _set_key(self, record: ColorKeySet) -> tuple[int, bytes]:
        """Set a key for source blits in the surface, then call DdSetColorKey."""
        key, surface = (record.low, record.high), self._surfaces[record.handle]
        fill(surface.first.local.ddckCKSrcBlt, key)
        surface.first.local.dwFlags |= _HASCKEYSRCBLT
        data = _KEY(lpDDSurface=surface.pointer, dwFlags=_SRCBLT)
        fill(data.ckNew, key)
        return self._done_or_unknown(self._called("DdSetColorKey", data))

    def _remove_key(self, record: ColorKeyRemoved) -> tuple[int, bytes]:
        """Clear the flag in the surface's structure that it has a colour key; calls no driver."""
        self._surfaces[record.handle].first.local.dwFlags &= ~_HASCKEYSRCBLT
        return _done(HResult.D3D_OK)

    def _called(self, name: str, data: Any) -> int | None:
        """Call a function of the driver; returns ddRVal.

        Returns None if the driver lacks the function, or the function does not handle the call.
        """
        entry = getattr(self._library, name, None)
        if entry is None:
            return None
        entry.restype = ctypes.c_uint32
        handled = entry(ctypes.byref(data))
        return None if handled == _NOT_HANDLED else int(data.ddRVal)

    def _done_or_unknown(self, result: int | None) -> tuple[int, bytes]:
        self._check()
        return _done(wire.UNKNOWN if result is None else result)

    def _open(self, record: ContextCreated) -> tuple[int, bytes]:
        data = _CREATE(
            lpDDLcl=ctypes.addressof(self._directdraw),
            lpDDSLcl=self._pointer(record.color),
            lpDDSZLcl=self._pointer(record.depth),
            dwrstates=os.getpid(),  # dwPID of the union
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
        commands = self._surfaces.get(call.lpDDCommands)
        if call.commands:
            if commands is None:
                raise Fault(HResult.DDERR_INVALIDPARAMS, "no command buffer")
            at = commands.reach(call.dwCommandOffset, len(call.commands))
            commands.first.memory.write(at, call.commands)
        data = self._data(call)
        self._draw(ctypes.byref(data))
        self._check()
        result, end = data.dwVertexSize, data.dwErrorOffset
        response = b""
        if result == HResult.D3D_OK and commands is not None and end <= commands.size:
            response = commands.first.memory.read(commands.first.start, end)
        answer = Answer(result, end, self.ticks, response, data.dwFlags)
        kind, _, reply = encode(Answered(answer))
        return kind, bytes(reply)

    def _data(self, call: Call) -> Any:
        """Return D3DHAL_DRAWPRIMITIVES2DATA for a call: pointers in place of surface handles."""
        data = _CALL()
        for name, _ in _CALL._fields_:  # type: ignore[misc]
            setattr(data, name, getattr(call, name, 0))
        data.dwhContext = self._contexts.get(call.dwhContext, call.dwhContext | _NO_CONTEXT)
        data.lpDDCommands = self._pointer(call.lpDDCommands)
        states = self._surfaces.get(call.lpdwRStates)
        data.lpdwRStates = states.first.shared.fpVidMem if states else 0
        data.lpDDVertex = self._pointer(call.lpDDVertex)
        user = self._user_memory(call.vertices)
        if user is not None:
            data.lpDDVertex = user.address
        return data

    def _user_memory(self, vertices: bytes | None) -> Guarded | None:
        """Return guarded memory with a call's own vertices, None if it has none."""
        if vertices is None:
            self._user = None
        elif self._user is None or self._user.size != len(vertices):
            self._user = Guarded(len(vertices), "the user's vertices")
        if self._user is not None:
            self._user.write(0, vertices or b"")
        return self._user

    def _check(self) -> None:
        """End this process with a finding if the driver has written next to a surface's memory."""
        for memory in self._memories():
            if not memory.intact():
                what = f"{MARK} {FindingKind.OVERRUN.value} {memory.stored()}\n"
                self._flush()
                os.write(2, what.encode())
                os._exit(1)

    # Surfaces

    def _notify(self, place: Place) -> tuple[int, bytes]:
        data = _SURFACE_EX(lpDDLcl=ctypes.addressof(self._directdraw), lpDDSLcl=place.pointer)
        if self._surface_ex is not None:
            self._surface_ex(ctypes.byref(data))
        return _done(data.ddRVal)

    def _pointer(self, handle: int) -> int:
        place = self._surfaces.get(handle)
        return place.pointer if place is not None else 0


def _texture_formats(data: bytes) -> bytes:
    """Return the DDPIXELFORMATs of the texture formats that D3DHAL_GLOBALDRIVERDATA points at."""
    if len(data) < _GLOBAL_DATA.sizeof():
        return b""
    known = _GLOBAL_DATA.parse(data)
    count = min(known.dwNumTextureFormats, wire.MOST_FORMATS) if known.lpTextureFormats else 0
    listed = (_TEXTURE_FORMAT * count).from_address(known.lpTextureFormats)
    return b"".join(bytes(each.ddpfPixelFormat) for each in listed)


def _done(result: int) -> tuple[int, bytes]:
    return Reply.DONE, wire.DONE.pack(result)


_ASKED: dict[int, Callable[[Host, bytes], tuple[int, bytes]]] = {
    Ask.HELLO: Host._welcome,
    Ask.MAKE: Host._make,
    Ask.READ: Host._read,
    Ask.FINISH: Host._acknowledge,
    Ask.INFO: Host._info,
}
_RECORDED: dict[type[Record], Callable[[Host, Any], tuple[int, bytes]]] = {
    SurfaceDestroyed: Host._destroy_surface,
    MemoryWritten: Host._write,
    ContextCreated: Host._open,
    ContextDestroyed: Host._close,
    Called: Host._call,
    Locked: Host._wait,
    Flipped: Host._flip,
    Blitted: Host._blit,
    ColorKeySet: Host._set_key,
    ColorKeyRemoved: Host._remove_key,
}


def serve(reader: BinaryIO, writer: BinaryIO, library: str, errors: str = "") -> None:
    """Answer every record of ``reader``, calling the driver in ``library``, until it ends.

    Standard error goes to the file ``errors`` if that is given.
    """
    if errors:
        with open(errors, "ab") as file:
            os.dup2(file.fileno(), 2)
    host = Host(ctypes.CDLL(library), writer.flush)
    if "ASAN_OPTIONS" not in os.environ:
        report_faults(host.where, library, writer.flush)
    try:
        _answer_all(host, reader, writer)
    except (EOFError, BrokenPipeError):
        os._exit(0)
    except Dp2Error as error:
        sys.exit(str(error))


def _answer_all(host: Host, reader: BinaryIO, writer: BinaryIO) -> None:
    requests = _Requests(reader, writer.flush)
    if requests.take(len(MAGIC)) != MAGIC:
        raise CaptureError("the rig does not begin with the magic of a raw log")
    writer.write(MAGIC)
    while (message := receive(requests.take)).tag != END:
        tag, payload = host.answer(message)
        writer.write(pack(tag, host.ticks, payload))


class _Requests:
    """The requests of a rig, which often sends many at once.  Mutable: they are taken.

    Replies are sent before it waits for more: one transmission answers all that came together.
    """

    def __init__(self, reader: Any, flush: Callable[[], None]) -> None:
        self._reader = reader
        self._flush = flush
        self._data = b""
        self._at = 0

    def take(self, size: int) -> bytes:
        """Return the next ``size`` bytes.  Raises EOFError if there are fewer."""
        until = self._at + size
        while until > len(self._data):
            self._flush()
            more = self._reader.read1(_CHUNK)
            if not more:
                raise EOFError
            self._data = self._data[self._at :] + more
            self._at, until = 0, size
        found = self._data[self._at : until]
        self._at = until
        return found


_CHUNK = 64 << 10

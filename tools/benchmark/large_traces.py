"""A large trace of a program that does not exist, as apitrace would write it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cramjam
import numpy as np

from dp2emu.capture.apitrace import TraceCall
from dp2emu.d3d import fvf
from tests.capture.apitrace.encoder import Encoder, header
from tests.retrace.calls import Pointer, call, out, struct

MIB = 1 << 20
D3D, DEVICE, BUFFER, QUERY, MEMORY = range(0x1000, 0x1500, 0x100)
_SIZES = {"BackBufferWidth": 64, "BackBufferHeight": 64, "BackBufferFormat": 22}
_PARAMETERS = _SIZES | {
    "BackBufferCount": 1, "MultiSampleType": 0, "MultiSampleQuality": 0, "SwapEffect": 1,
    "hDeviceWindow": Pointer(9), "Windowed": True, "EnableAutoDepthStencil": False,
    "AutoDepthStencilFormat": 0, "Flags": 0, "FullScreen_RefreshRateInHz": 0,
    "PresentationInterval": 0,
}  # fmt: skip


def write_large_trace(path: Path, frames: int) -> None:
    """``frames`` of one MiB each: a vertex buffer filled, a draw in a query, its answer."""
    encoder = Encoder()
    with path.open("wb") as file:
        file.write(b"at")
        pending = header()
        for one in _calls(frames):
            pending += encoder.both(one)
            while len(pending) >= MIB:
                file.write(_chunk(pending[:MIB]))
                pending = pending[MIB:]
        file.write(_chunk(pending))


def _chunk(data: bytes) -> bytes:
    packed = bytes(cramjam.snappy.compress_raw(data))
    return len(packed).to_bytes(4, "little") + packed


def _calls(frames: int) -> Iterator[TraceCall]:
    for number, (name, arguments, result) in enumerate(_program(frames)):
        yield call(name, number=number, result=result, **arguments)


_Step = tuple[str, dict[str, Any], Any]


def _program(frames: int) -> Iterator[_Step]:
    yield "Direct3DCreate9", {"SDKVersion": 32}, Pointer(D3D)
    parameters = struct("D3DPRESENT_PARAMETERS", **_PARAMETERS)
    yield _method(
        "IDirect3D9::CreateDevice", D3D, Adapter=0, DeviceType=1, hFocusWindow=Pointer(9),
        BehaviorFlags=0x40, pPresentationParameters=(parameters,),
        ppReturnedDeviceInterface=out(DEVICE),
    )  # fmt: skip
    yield _device("SetFVF", FVF=fvf.XYZRHW | fvf.DIFFUSE)
    yield _device("CreateVertexBuffer", Length=MIB, Usage=8, FVF=0, Pool=0,
                  ppVertexBuffer=out(BUFFER), pSharedHandle=None)  # fmt: skip
    yield _device("SetStreamSource", StreamNumber=0, pStreamData=Pointer(BUFFER), OffsetInBytes=0,
                  Stride=20)  # fmt: skip
    yield _device("CreateQuery", Type=9, ppQuery=out(QUERY))
    noise = np.random.default_rng(2).integers(0, 256, MIB, np.uint8).tobytes()
    for frame in range(frames):
        yield from _frame(frame, noise[frame % 977 :] + noise[: frame % 977])


def _frame(frame: int, data: bytes) -> Iterator[_Step]:
    buffer, query = "IDirect3DVertexBuffer9::", "IDirect3DQuery9::"
    yield _method(buffer + "Lock", BUFFER, OffsetToLock=0, SizeToLock=0, ppbData=out(MEMORY),
                  Flags=0x2000)  # fmt: skip
    yield "memcpy", {"dest": Pointer(MEMORY), "src": data, "n": len(data)}, None
    yield _method(buffer + "Unlock", BUFFER)
    yield _device("Clear", Count=0, pRects=None, Flags=1, Color=frame, Z=1.0, Stencil=0)
    yield _method(query + "Issue", QUERY, dwIssueFlags=2)
    yield _device("DrawPrimitive", PrimitiveType=4, StartVertex=0, PrimitiveCount=1)
    yield _method(query + "Issue", QUERY, dwIssueFlags=1)
    yield _device("Present", pSourceRect=None, pDestRect=None, hDestWindowOverride=None,
                  pDirtyRegion=None)  # fmt: skip
    yield _method(query + "GetData", QUERY, pData=(7,), dwSize=4, dwGetDataFlags=1)


def _device(name: str, **arguments: Any) -> _Step:
    return _method(f"IDirect3DDevice9::{name}", DEVICE, **arguments)


def _method(name: str, this: int, **arguments: Any) -> _Step:
    return name, {"this": Pointer(this), **arguments}, 0

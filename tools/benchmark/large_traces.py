"""Traces of programs that do not exist, as apitrace would write them."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import cramjam
import numpy as np

from dp2emu.capture.apitrace import TraceCall
from dp2emu.capture.apitrace.values import Enum, EnumSignature
from dp2emu.d3d import fvf
from dp2emu.d3d.enums import (
    PrimitiveType,
    RenderState,
    SamplerState,
    TextureStageState,
    TransformState,
)
from dp2emu.d3d.sdk import SdkEnum
from tests.capture.apitrace.encoder import Encoder, header
from tests.retrace.calls import Pointer, call, out
from tests.retrace.calls import struct as structure

MIB = 1 << 20
D3D, DEVICE, BUFFER, QUERY, MEMORY, INDICES, SHADER, *TEXTURES = range(0x1000, 0x1900, 0x100)
_SIZES = {"BackBufferWidth": 64, "BackBufferHeight": 64, "BackBufferFormat": 22}
_PARAMETERS = _SIZES | {
    "BackBufferCount": 1, "MultiSampleType": 0, "MultiSampleQuality": 0, "SwapEffect": 1,
    "hDeviceWindow": Pointer(9), "Windowed": True, "EnableAutoDepthStencil": False,
    "AutoDepthStencilFormat": 0, "Flags": 0, "FullScreen_RefreshRateInHz": 0,
    "PresentationInterval": 0,
}  # fmt: skip


def write_large_trace(path: Path, frames: int) -> None:
    """``frames`` of one MiB each: a vertex buffer filled, a draw in a query, its answer."""
    _write(path, _program(frames))


def write_game_trace(path: Path, calls: int) -> None:
    """That many calls in the mix of a game: states, constants, draws, buffers filled."""
    _write(path, islice(_game(), calls))


def _write(path: Path, steps: Iterable[_Step]) -> None:
    encoder = Encoder()
    with path.open("wb") as file:
        file.write(b"at")
        pending = bytearray(header())
        for one in _calls(steps):
            pending += encoder.both(one)
            while len(pending) >= MIB:
                file.write(_chunk(bytes(pending[:MIB])))
                del pending[:MIB]
        file.write(_chunk(bytes(pending)))


def _chunk(data: bytes) -> bytes:
    packed = bytes(cramjam.snappy.compress_raw(data))
    return len(packed).to_bytes(4, "little") + packed


def _calls(steps: Iterable[_Step]) -> Iterator[TraceCall]:
    for number, (name, arguments, result) in enumerate(steps):
        yield call(name, number=number, result=result, **arguments)


_Step = tuple[str, dict[str, Any], Any]


def _start() -> Iterator[_Step]:
    yield "Direct3DCreate9", {"SDKVersion": 32}, Pointer(D3D)
    parameters = structure("D3DPRESENT_PARAMETERS", **_PARAMETERS)
    yield _method(
        "IDirect3D9::CreateDevice", D3D, Adapter=0, DeviceType=1, hFocusWindow=Pointer(9),
        BehaviorFlags=0x40, pPresentationParameters=(parameters,),
        ppReturnedDeviceInterface=out(DEVICE),
    )  # fmt: skip
    yield _device("SetFVF", FVF=fvf.XYZRHW | fvf.DIFFUSE)
    yield _device("CreateVertexBuffer", Length=MIB, Usage=8, FVF=0, Pool=0,
                  ppVertexBuffer=out(BUFFER), pSharedHandle=None)  # fmt: skip
    yield _device("SetStreamSource", StreamNumber=0, pStreamData=Pointer(BUFFER), OffsetInBytes=0,
                  Stride=STRIDE)  # fmt: skip


def _program(frames: int) -> Iterator[_Step]:
    yield from _start()
    yield _device("CreateQuery", Type=9, ppQuery=out(QUERY))
    noise = np.random.default_rng(2).integers(0, 256, MIB, np.uint8).tobytes()
    for frame in range(frames):
        yield from _frame(frame, noise[frame % 977 :] + noise[: frame % 977])


def _frame(frame: int, data: bytes) -> Iterator[_Step]:
    query = "IDirect3DQuery9::"
    yield from _filled("IDirect3DVertexBuffer9::", BUFFER, data)
    yield _clear(frame)
    yield _method(query + "Issue", QUERY, dwIssueFlags=2)
    yield _device("DrawPrimitive", PrimitiveType=4, StartVertex=0, PrimitiveCount=1)
    yield _method(query + "Issue", QUERY, dwIssueFlags=1)
    yield _present()
    yield _method(query + "GetData", QUERY, pData=(7,), dwSize=4, dwGetDataFlags=1)


def _filled(interface: str, buffer: int, data: bytes) -> Iterator[_Step]:
    yield _method(interface + "Lock", buffer, OffsetToLock=0, SizeToLock=len(data),
                  ppbData=out(MEMORY), Flags=0x2000)  # fmt: skip
    yield "memcpy", {"dest": Pointer(MEMORY), "src": data, "n": len(data)}, None
    yield _method(interface + "Unlock", buffer)


def _clear(color: int) -> _Step:
    return _device("Clear", Count=0, pRects=None, Flags=1, Color=color, Z=1.0, Stencil=0)


def _present() -> _Step:
    return _device("Present", pSourceRect=None, pDestRect=None, hDestWindowOverride=None,
                   pDirtyRegion=None)  # fmt: skip


# A game

STRIDE = 20
OBJECTS = 24
"""Objects of a frame; each has some 30 calls, as in the recorded programs."""
CORNERS = b"".join(
    struct.pack("<4fI", x, y, 0.5, 1.0, 0xFF00FF00) for x, y in ((0, 0), (64, 0), (0, 64))
)
_RENDER = {
    RenderState.ALPHABLENDENABLE: True, RenderState.SRCBLEND: 5, RenderState.DESTBLEND: 6,
    RenderState.ZWRITEENABLE: False, RenderState.CULLMODE: 1, RenderState.LIGHTING: False,
    RenderState.FOGENABLE: False, RenderState.TEXTUREFACTOR: 0xFF808080,
}  # fmt: skip
_STAGE = {
    TextureStageState.COLOROP: 4, TextureStageState.COLORARG1: 2, TextureStageState.COLORARG2: 0,
    TextureStageState.ALPHAOP: 2, TextureStageState.ALPHAARG1: 2,
}  # fmt: skip
_SAMPLER = {
    SamplerState.ADDRESSU: 1, SamplerState.ADDRESSV: 1, SamplerState.MINFILTER: 2,
    SamplerState.MAGFILTER: 2, SamplerState.MIPFILTER: 0,
}  # fmt: skip
_SHADER = (0xFFFE0200, 0x0200001F, 0x80000000, 0x900F0000, 0x02000001, 0xC00F0000, 0x90E40000,
           0x0000FFFF)  # fmt: skip
"""vs_2_0: dcl_position v0; mov oPos, v0."""


def _game() -> Iterator[_Step]:
    """Calls without end: every frame some objects, each with states, a texture and a draw."""
    yield from _start()
    yield _device("CreateIndexBuffer", Length=MIB, Usage=8, Format=101, Pool=0,
                  ppIndexBuffer=out(INDICES), pSharedHandle=None)  # fmt: skip
    yield _device("SetIndices", pIndexData=Pointer(INDICES))
    for texture in TEXTURES:
        yield _device("CreateTexture", Width=8, Height=8, Levels=1, Usage=0, Format=21, Pool=1,
                      ppTexture=out(texture), pSharedHandle=None)  # fmt: skip
    code = struct.pack(f"<{len(_SHADER)}I", *_SHADER)
    yield _device("CreateVertexShader", pFunction=code, ppShader=out(SHADER))
    frame = 0
    while True:
        yield _device("BeginScene")
        yield _clear(frame)
        for number in range(OBJECTS):
            yield from _object(frame, number)
        yield _device("EndScene")
        yield _present()
        frame += 1


def _object(frame: int, number: int) -> Iterator[_Step]:
    yield from _states("SetRenderState", {}, "State", _RENDER)
    yield _device("SetTexture", Stage=0, pTexture=Pointer(TEXTURES[number % len(TEXTURES)]))
    yield from _states("SetTextureStageState", {"Stage": 0}, "Type", _STAGE)
    yield from _states("SetSamplerState", {"Sampler": 0}, "Type", _SAMPLER)
    matrix = [float(frame == place) + place / 8 for place in range(16)]
    rows = structure("D3DMATRIX", m=tuple(tuple(matrix[i : i + 4]) for i in range(0, 16, 4)))
    yield _device("SetTransform", State=_named(TransformState.VIEW), pMatrix=(rows,))
    yield _device("SetVertexShader", pShader=Pointer(SHADER) if number % 2 else None)
    yield _device("SetVertexShaderConstantF", StartRegister=4 * (number % 8),
                  pConstantData=tuple(matrix), Vector4fCount=4)  # fmt: skip
    if number % 4 == 0:
        yield _device("DrawPrimitiveUP", PrimitiveType=_named(PrimitiveType.TRIANGLELIST),
                      PrimitiveCount=1, pVertexStreamZeroData=CORNERS,
                      VertexStreamZeroStride=STRIDE)  # fmt: skip
    yield _device("SetStreamSource", StreamNumber=0, pStreamData=Pointer(BUFFER), OffsetInBytes=0,
                  Stride=STRIDE)  # fmt: skip
    if number % 8 == 0:
        yield from _filled("IDirect3DVertexBuffer9::", BUFFER, CORNERS)
    yield _device("DrawIndexedPrimitive", PrimitiveType=_named(PrimitiveType.TRIANGLELIST),
                  BaseVertexIndex=0, MinVertexIndex=0, NumVertices=3, startIndex=0,
                  primCount=1)  # fmt: skip


def _states(
    name: str, numbers: dict[str, int], kind: str, values: dict[Any, Any]
) -> Iterator[_Step]:
    for state, value in values.items():
        yield _device(name, **numbers, **{kind: _named(state)}, Value=value)


def _named(value: SdkEnum) -> Enum:
    """A value of an enumeration, as traces have it."""
    kind = type(value)
    if kind not in _SIGNATURES:
        _SIGNATURES[kind] = EnumSignature(tuple((each.sdk, int(each)) for each in kind))
    return Enum(_SIGNATURES[kind], int(value))


_SIGNATURES: dict[type[SdkEnum], EnumSignature] = {}


def _device(name: str, **arguments: Any) -> _Step:
    return _method(f"IDirect3DDevice9::{name}", DEVICE, **arguments)


def _method(name: str, this: int, **arguments: Any) -> _Step:
    return name, {"this": Pointer(this), **arguments}, 0

"""Files of every kind that a verb reads, which grow along one dimension or along all of them."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from dp2emu.capture import CaptureWriter
from dp2emu.capture.apitrace.values import FunctionSignature, TraceCall
from dp2emu.capture.records import (
    Annotation,
    Answered,
    Called,
    ContextCreated,
    FrameMarker,
    Locked,
    MemoryWritten,
    Pictured,
    Record,
    SurfaceCreated,
    SurfaceDestroyed,
)
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import Format
from dp2emu.dp2.call import Answer, Call
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from tests.capture.apitrace.encoder import Encoder, header, snappy
from tests.capture.apitrace.samples import REAL, opened
from tests.replay.authoring import (
    BEGIN,
    CONTEXT,
    END,
    EVENT,
    OCCLUSION,
    TARGET,
    called,
    clear,
    create,
    issue,
    response_of,
    token,
)

BUFFER_BYTES = 1 << 16
SETTING: tuple[Record, ...] = (
    SurfaceCreated(SurfaceDesc(TARGET, SurfaceKind.SURFACE, 8, 4, format=Format.X8R8G8B8)),
    SurfaceCreated(SurfaceDesc(3, SurfaceKind.MEMORY, BUFFER_BYTES)),
    ContextCreated(CONTEXT, 9, TARGET),
)
FIRST = 100
"""The first handle of the surfaces that grow in number."""
PIXEL_SHADER = bytes.fromhex("0101ffff ffff0000")


# Captures: a function yields the records of the i-th of n.


def calls(i: int) -> Iterator[Record]:
    yield called(token(Op.RENDERSTATE, (60, i)), clear(i))
    yield Answered(Answer(0, 0, 0))


def draws(i: int) -> Iterator[Record]:
    """A triangle over the pixel (1, 1) from the vertices of a call."""
    commands = struct.pack("<BBHH", Op.TRIANGLELIST, 0, 1, 0)
    corners = [(-0.5, -0.5), (7.5, -0.5), (-0.5, 7.5)]
    vertices = b"".join(struct.pack("<4fI", x, y, 0.5, 1.0, i) for x, y in corners)
    given = Call(
        CONTEXT, lpDDCommands=3, dwCommandLength=len(commands), commands=commands, dwFlags=1,
        dwVertexType=0x44, dwVertexLength=3, vertices=vertices,
    )  # fmt: skip
    yield Called(given)


def surfaces(i: int) -> Iterator[Record]:
    """A texture, and one that is replaced and destroyed."""
    desc = SurfaceDesc(FIRST + 2 * i, SurfaceKind.TEXTURE, 4, 4, Format.A8R8G8B8)
    yield SurfaceCreated(desc)
    yield SurfaceCreated(replace(desc, handle=FIRST + 2 * i + 1))
    yield SurfaceCreated(replace(desc, handle=FIRST + 2 * i + 1))
    yield SurfaceDestroyed(FIRST + 2 * i + 1)


def contexts(i: int) -> Iterator[Record]:
    yield ContextCreated(CONTEXT + 1 + i, 9, TARGET)
    yield called(clear(i), context=CONTEXT + 1 + i)


def queries(i: int) -> Iterator[Record]:
    yield called(create(2 * i, EVENT), create(2 * i + 1, OCCLUSION), issue(2 * i, END))
    yield Answered(Answer(0, 20, 0, response_of((2 * i, struct.pack("<I", 1)))))


def shaders(i: int) -> Iterator[Record]:
    code = token(Op.CREATEPIXELSHADER, (i + 1, len(PIXEL_SHADER))) + PIXEL_SHADER
    yield called(code, token(Op.SETPIXELSHADER, (i + 1,)))


def blocks(i: int) -> Iterator[Record]:
    """State blocks, lights and palettes, which ``state`` lists."""
    state = token(Op.RENDERSTATE, (60, i))
    yield called(
        token(Op.STATESET, (0, i + 1, 0)), state, token(Op.STATESET, (1, i + 1, 0)),
        token(Op.CREATELIGHT, (i,)),
        struct.pack("<BBHIHHI", Op.UPDATEPALETTE, 0, 1, i + 1, 0, 1, i),
    )  # fmt: skip


def frames(i: int) -> Iterator[Record]:
    """Frames with pictures of the target, of which the recorded program read some."""
    yield called(clear(i))
    yield Pictured(i, 1, TARGET)
    yield FrameMarker(i, TARGET)


def notes(i: int) -> Iterator[Record]:
    yield Annotation(f"label.surface.{i}", f"texture {i}")


def writes(i: int) -> Iterator[Record]:
    yield MemoryWritten(3, 8 * i, bytes(range(64)))
    yield Locked(TARGET)


CAPTURES: dict[str, Callable[[int], Iterator[Record]]] = {
    "calls": calls, "draws": draws, "surfaces": surfaces, "contexts": contexts, "queries": queries,
    "shaders": shaders, "blocks": blocks, "frames": frames, "notes": notes, "writes": writes,
}  # fmt: skip
"""What a capture has n of -> the records of the i-th.  ``tokens`` and ``bytes`` are others: they
grow in one call."""


def tokens(n: int) -> Iterator[Record]:
    yield called(*(token(Op.RENDERSTATE, (60, i)) for i in range(n)))


def elements(n: int) -> Iterator[Record]:
    yield called(token(Op.RENDERSTATE, *((60 + i % 8, i) for i in range(n))))


def memory(n: int) -> Iterator[Record]:
    yield MemoryWritten(3, 0, bytes(64 * n))


def overlaps(n: int) -> Iterator[Record]:
    """n queries that are open together, and as many clears that each counts."""
    ids = range(1 << 16, (1 << 16) + n)
    yield called(*(create(i, OCCLUSION) + issue(i, BEGIN) + clear(i) for i in ids))
    yield called(*(issue(i, END) for i in ids))


IN_ONE: dict[str, Callable[[int], Iterator[Record]]] = {
    "tokens": tokens, "elements": elements, "bytes": memory, "overlaps": overlaps,
}  # fmt: skip
"""What grows in one record of a capture -> the records."""
ALL = "all"
DIMENSIONS = (ALL, *CAPTURES, *IN_ONE)


def capture_records(dimension: str, n: int) -> list[Record]:
    """A capture with n of ``dimension``, or of everything."""
    found = list(SETTING)
    for name, each in CAPTURES.items():
        for i in range(n if dimension in (name, ALL) else 1):
            found += each(i)
    for name, each in IN_ONE.items():
        found += each(n if dimension in (name, ALL) else 1)
    return found


def capture(path: Path, dimension: str, n: int, **options: Any) -> Path:
    """Write a sealed capture."""
    with CaptureWriter(path, **options) as writer:
        for record in capture_records(dimension, n):
            writer.write(record)
    return path


# Traces


_TRIANGLE = next(path.read_bytes() for path in REAL if path.stem == "d3d9_tri")
_FRAME = slice(5, 15)
"""The calls of a frame of d3d9_tri.trace, from Clear to Present."""
TRACES = ("frames", "unknown calls", "threads", "signatures")


def trace_calls(dimension: str, n: int) -> list[TraceCall]:
    """The calls of a trace with n of ``dimension``, or of everything."""
    real = list(opened(_TRIANGLE).calls())
    found = list(real[: _FRAME.start])
    for i in range(n if dimension in ("frames", ALL) else 1):
        thread = i if dimension in ("threads", ALL) else 0
        found += [replace(call, thread=thread) for call in real[_FRAME]]
    for name in ("unknown calls", "threads", "signatures"):
        for i in range(n if dimension in (name, ALL) else 1):
            function = f"f{i}" if name == "signatures" else "malloc"
            signature = FunctionSignature(function, ("size",))
            thread = i if name == "threads" else 0
            found.append(replace(real[0], function=signature, arguments=(i,), thread=thread))
    found += real[_FRAME.stop :]
    return [replace(call, number=number) for number, call in enumerate(found)]


def trace_bytes(dimension: str, n: int, pack: Callable[[bytes], bytes] = snappy) -> bytes:
    """A trace of those calls in a container."""
    encoder = Encoder()
    return pack(header() + b"".join(map(encoder.both, trace_calls(dimension, n))))


def trace(path: Path, dimension: str, n: int) -> Path:
    path.write_bytes(trace_bytes(dimension, n))
    return path


# Scenes


def scene9(n: int) -> dict[str, Any]:
    """n resources, and n commands of each of some kinds."""
    corners = [(-0.5, -0.5), (7.5, -0.5), (-0.5, 5.5), (7.5, 5.5)]
    rows = [[x, y, 0.5, 1, "0xff00ff00"] for x, y in corners]
    strip = {"op": "draw_up", "prim": "TRIANGLESTRIP", "count": 2, "stride": 20,
             "vertices": {"layout": "ffffI", "rows": rows}}  # fmt: skip
    commands: list[Any] = [{"op": "fvf", "fvf": "D3DFVF_XYZRHW|D3DFVF_DIFFUSE"}]
    for i in range(n):
        commands += [
            {"op": "clear", "color": f"0xff{i:06x}"},
            {"op": "rs", "states": {"CULLMODE": "D3DCULL_NONE"}},
            strip,
        ]
    return {
        "schema": 1, "category": "made", "name": "here", "device": {"width": 8, "height": 6},
        "resources": [], "commands": commands,
    }  # fmt: skip


def scene10(n: int) -> dict[str, Any]:
    """n targets and n queries, and n clears, reads and issues."""
    resources: list[Any] = []
    commands: list[Any] = []
    for i in range(n):
        resources += [
            {"op": "CreateTexture2D", "name": f"rt{i}", "Format": 28, "Width": 4, "Height": 4,
             "SampleCount": 1, "BindFlags": 32, "hex": None},
            {"op": "CreateRenderTargetView", "name": f"rtv{i}", "resource": f"rt{i}"},
            {"op": "CreateQuery", "name": f"q{i}", "Query": 0, "MiscFlags": 0},
        ]  # fmt: skip
        commands += [
            {"op": "OMSetRenderTargets", "rtvs": [f"rtv{i}"], "dsv": None},
            {"op": "ClearRenderTargetView", "view": f"rtv{i}", "r": 0, "g": 0, "b": 0, "a": 1},
            {"op": "End", "query": f"q{i}"},
            {"op": "GetData", "query": f"q{i}"},
        ]
    return {
        "name": "many", "category": "made", "description": "", "api": "any", "sample_count": 1,
        "shaders": [], "resources": resources, "calls": commands,
    }  # fmt: skip


def written(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value))
    return path


def in_memory(dimension: str, n: int, **options: Any) -> bytes:
    """A sealed capture as bytes."""
    out = BytesIO()
    with CaptureWriter(out, **options) as writer:
        for record in capture_records(dimension, n):
            writer.write(record)
    return out.getvalue()

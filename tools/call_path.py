#!/usr/bin/env python3
"""List the files of dp2emu that one triangle or one query passes, by tracing calls.

    python tools/call_path.py triangle [--engine jit] [--timing instant] [--textured] [--cold]
    python tools/call_path.py query [--type EVENT] [--from token] [--most 8]

Prints each file in which a function runs inside the window, in order of the first call, with its
functions as name:line and the number of calls, and the count of files.  Exits with 1 if there are
more than ``--most``.

The window of a triangle opens when ``Driver.submit`` (D3dDrawPrimitives2) is entered with one
DRAWPRIMITIVE token, and closes when a pixel in the middle of the triangle has changed in the
memory of the render target.  The window of a query opens when ``Driver.submit`` is entered with
ISSUEQUERY tokens (BEGIN where the type has one, and END), spans the empty calls that poll, and
closes when the response is in the command surface.  ``--from token`` opens either window at the
function of the token instead, behind the checks of the call and the walk.  Memory is compared at
every call and return, so nothing counts that runs after the store.

A file counts if the code of one of its functions, lambdas or comprehensions runs, on any thread.
Bodies of modules and classes, which run at import, do not count.  Methods generated from text
(records) and machine code belong to no file and do not count either; methods that are code of a
file count for that file.  A generator counts a call each time it is resumed.

Surfaces, context, state and query exist before the window.  Unless ``--cold`` is given, twenty
identical draws or queries come first, so that the measured one does no one-time work: imports,
compilation, replacement of quick code by good code, generation of records, filling of caches.
The window opens when background compilation has ended.

The triangle has untransformed vertices with a diffuse colour, no texture and no lighting, a depth
test, and the fixed function.  With the default timing model, ``work``, each draw executes alone.
With ``instant`` the compiled engine batches small draws, which passes fewer files.
"""

from __future__ import annotations

import argparse
import gc
import os
import struct
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FrameType
from typing import Any
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import dp2emu
from dp2emu import (
    Call,
    CommandBuffer,
    Driver,
    Format,
    HResult,
    Op,
    Options,
    PrimitiveType,
    QueryType,
    RenderState,
    SurfaceDesc,
    SurfaceKind,
    parse_timing,
)
from dp2emu.shader.engines import ENGINES, REFERENCE
from dp2emu.shader.sm.assemble import assemble

PACKAGE = str(Path(dp2emu.__file__).parent) + os.sep
SETTLED = 20
"""Identical calls after which no one-time work is left: good code comes after the eighth."""
POLLS = 100
"""Empty calls after which a query counts as unanswered."""
COMPILING_SECONDS = 60
"""The longest wait for a thread that compiles."""
CONTEXT = 1
COLOR, DEPTH, COMMANDS, VERTICES, TEXTURE = range(1, 6)
COMMAND_BYTES = 4096
DIFFUSE, XYZ, XYZRHW, TEX1 = 0x40, 0x2, 0x4, 0x100
BEGIN, END = 2, 1
WITHOUT_BEGIN = frozenset({
    QueryType.VCACHE, QueryType.RESOURCEMANAGER, QueryType.VERTEXSTATS, QueryType.EVENT,
    QueryType.TIMESTAMP, QueryType.TIMESTAMPFREQ,
})  # fmt: skip
SHADERS = "vs_2_0\ndcl_position v0\nmov oPos, v0\n", "ps_2_0\ndef c0, 1, 1, 1, 1\nmov oC0, c0\n"

WHITE = b"\xff\xff\xff\xff"

Token = tuple[Op, list[tuple[int, ...]]]


class Trace:
    """Calls of functions of the package between the entry of a function and a condition.

    Mutable: ``opening`` is the code whose entry opens the window, ``done`` says whether the window
    has closed, ``files`` counts calls by file and function.
    """

    def __init__(self, stored: Callable[[], bool]) -> None:
        self.opening: CodeType | None = None
        self.done = False
        self.files: dict[str, Counter[str]] = {}
        self._stored = stored
        self._open = False

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        """The profile function of a thread."""
        code = frame.f_code
        if self.done or not (self._open or (event == "call" and code is self.opening)):
            return
        if self._open and self._stored():
            self.done = True
            return
        self._open = True
        ours = code.co_filename.startswith(PACKAGE)
        if event == "call" and ours and code.co_flags & CO_OPTIMIZED:
            file = Path(code.co_filename.removeprefix(PACKAGE)).as_posix()
            name = f"{code.co_qualname}:{code.co_firstlineno}"
            self.files.setdefault(file, Counter())[name] += 1

    @contextmanager
    def everywhere(self) -> Iterator[None]:
        """Trace this thread, and threads that start in here, as long as the block lasts."""
        before, before_threads = sys.getprofile(), threading.getprofile()
        threading.setprofile(self)
        sys.setprofile(self)
        try:
            yield
        finally:
            sys.setprofile(before)
            threading.setprofile(before_threads)


class Rig:
    """A driver with a context, a 64 x 64 target, a depth buffer and a command surface."""

    def __init__(self, engine: str, timing: str, size: int = 64) -> None:
        self.driver = Driver(parse_timing(timing), Options(engine=engine))
        for handle, format in (COLOR, Format.X8R8G8B8), (DEPTH, Format.D24S8):
            desc = SurfaceDesc(handle, SurfaceKind.SURFACE, size, size, int(format))
            self.driver.create_surface(desc)
        self.driver.create_surface(SurfaceDesc(COMMANDS, SurfaceKind.MEMORY, COMMAND_BYTES))
        self.driver.create_context(CONTEXT, color=COLOR, depth=DEPTH)
        self.size = size
        self._others = set(threading.enumerate())

    def call(self, commands: bytes = b"") -> None:
        """Submit commands.  Raises AssertionError for a failure."""
        size = len(commands)
        answer = self.driver.submit(
            Call(CONTEXT, lpDDCommands=COMMANDS, dwCommandLength=size, commands=commands)
        )
        assert answer.ddrval == HResult.D3D_OK, answer.fault

    def memory(self, handle: int) -> memoryview:
        """The bytes of a surface as the GPU has them now."""
        surface = self.driver.gpu.heap.get(handle)
        assert surface is not None
        return surface.data.data

    def settle(self) -> None:
        """Wait until the GPU is idle and no thread compiles."""
        self.driver.finish()
        for thread in set(threading.enumerate()) - self._others:
            # Workers that draw are daemons and never end.
            if not thread.daemon:
                thread.join(COMPILING_SECONDS)

    def open_at(self, trace: Trace, op: Op | None) -> None:
        """Open the window at the next call, or at the function of its token ``op``."""
        gc.collect()  # Finalizers of garbage do not run inside the window.
        if op is None:
            trace.opening = Driver.submit.__code__
            return

        def tap(call: Call, offset: int, token: Any, count: int) -> None:
            if token.op is op:
                trace.opening = token.execute.__code__

        self.driver.command_taps.append(tap)


def commands_of(*tokens: Token) -> bytes:
    """The bytes of tokens whose items are records."""
    buffer = CommandBuffer(COMMAND_BYTES, _full)
    for op, items in tokens:
        buffer.emit(op, items)
    return buffer.take()


def _full(commands: bytes) -> None:
    raise AssertionError(f"{len(commands)} bytes of commands and more do not fit")


def triangle(asked: argparse.Namespace) -> Trace:
    """Trace a triangle from DRAWPRIMITIVE to the stored pixel."""
    rig = Rig(asked.engine, asked.timing, asked.size)
    target = rig.memory(COLOR)
    # The triangle is the lower left half of the target.
    pixel = 4 * (rig.size * (rig.size * 5 // 8) + rig.size // 8)
    trace = Trace(lambda: bytes(target[pixel : pixel + 4]) == WHITE)
    with trace.everywhere():
        _set_up(rig, asked)
        clear = CommandBuffer(COMMAND_BYTES, _full)
        clear.emit(Op.CLEAR, [(0, 0, rig.size, rig.size)], head=(3, 0, 1.0, 0))
        wiping = clear.take()
        draw = commands_of((Op.DRAWPRIMITIVE, [(PrimitiveType.TRIANGLELIST, 0, 1)]))
        for _ in range(asked.before):
            rig.call(wiping)
            rig.call(draw)
            rig.settle()
        rig.call(wiping)
        rig.settle()
        rig.open_at(trace, Op.DRAWPRIMITIVE if asked.opening == "token" else None)
        rig.call(draw)
        rig.driver.lock(COLOR)
    return trace


def _set_up(rig: Rig, asked: argparse.Namespace) -> None:
    """Make the vertices, texture and shaders of the triangle, and set its state."""
    fvf = (XYZRHW if asked.transformed else XYZ) | DIFFUSE | (TEX1 if asked.textured else 0)
    middle = rig.size / 2
    data = b""
    for x, y in (-1, -1), (-1, 1), (1, -1):
        # On the screen y points down.
        place = (middle * (1 + x), middle * (1 - y), 0.5, 1.0)
        data += struct.pack("<4f", *place) if asked.transformed else struct.pack("<3f", x, y, 0.5)
        data += struct.pack("<I", 0xFFFFFFFF)
        data += struct.pack("<2f", x, y) if asked.textured else b""
    rig.driver.create_surface(SurfaceDesc(VERTICES, SurfaceKind.VERTEXBUFFER, len(data)))
    rig.driver.write(VERTICES, 0, data)
    states = {RenderState.LIGHTING: 0, RenderState.CULLMODE: 1, RenderState.ZENABLE: 1}
    rig.call(commands_of(
        (Op.SETSTREAMSOURCE, [(0, VERTICES, len(data) // 3)]),
        (Op.SETVERTEXSHADERDECL, [(fvf,)]),
        (Op.RENDERSTATE, [(int(state), value) for state, value in states.items()]),
    ))  # fmt: skip
    if asked.textured:
        desc = SurfaceDesc(TEXTURE, SurfaceKind.TEXTURE, 4, 4, int(Format.A8R8G8B8))
        rig.driver.create_surface(desc)
        rig.driver.write(TEXTURE, 0, b"\xff" * 64)
        rig.call(commands_of((Op.TEXTURESTAGESTATE, [(0, 0, TEXTURE)])))
    if asked.shaders:
        vertex, pixel = map(assemble, SHADERS)
        buffer = CommandBuffer(COMMAND_BYTES, _full)
        buffer.emit_tailed(Op.CREATEVERTEXSHADERFUNC, (1, len(vertex)), vertex)
        buffer.emit_tailed(Op.CREATEPIXELSHADER, (1, len(pixel)), pixel)
        buffer.emit(Op.SETVERTEXSHADERFUNC, [(1,)])
        buffer.emit(Op.SETPIXELSHADER, [(1,)])
        rig.call(buffer.take())


def query(asked: argparse.Namespace) -> Trace:
    """Trace a query from ISSUEQUERY to the response in the command surface."""
    rig = Rig(asked.engine, asked.timing)
    surface, kind = rig.memory(COMMANDS), QueryType[asked.type]
    trace = Trace(lambda: surface[0] == Op.RESPONSEQUERY)
    flags = (END,) if kind in WITHOUT_BEGIN else (BEGIN, END)
    issue = commands_of((Op.ISSUEQUERY, [(1, flag) for flag in flags]))
    with trace.everywhere():
        rig.call(commands_of((Op.CREATEQUERY, [(1, int(kind))])))
        for _ in range(asked.before):
            rig.call(issue)
            rig.settle()
            rig.call()
        rig.driver.write(COMMANDS, 0, bytes(COMMAND_BYTES))
        rig.open_at(trace, Op.ISSUEQUERY if asked.opening == "token" else None)
        rig.call(issue)
        for _ in range(POLLS):
            if trace.done:
                break
            rig.call()
    return trace


def report(trace: Trace, what: str) -> None:
    """Print the files with their functions, and the counts."""
    for file, functions in trace.files.items():
        print(file)
        for name, times in functions.items():
            print(f"    {times:4} {name}")
    calls = sum(map(Counter.total, trace.files.values()))
    distinct = sum(map(len, trace.files.values()))
    print(f"{what}: {len(trace.files)} files, {distinct} functions, {calls} calls")


def options_of(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line, read.  Raises SystemExit for invalid arguments."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    ways = parser.add_subparsers(dest="way", required=True)
    of_triangle = ways.add_parser("triangle", help="from DRAWPRIMITIVE to the stored pixel")
    add = of_triangle.add_argument
    add("--transformed", action="store_true", help="vertices with screen coordinates")
    add("--textured", action="store_true", help="one texture, modulated with the colour")
    add("--shaders", action="store_true", help="a vertex and a pixel shader")
    add("--size", type=int, default=64, help="pixels of a side of the target")
    of_query = ways.add_parser("query", help="from ISSUEQUERY to the stored response")
    of_query.add_argument("--type", choices=[kind.name for kind in QueryType], default="OCCLUSION")
    for way in of_triangle, of_query:
        add = way.add_argument
        add("--engine", choices=ENGINES, default=REFERENCE)
        add("--timing", default="work", metavar="MODEL", help="as the command line names it")
        add("--from", dest="opening", choices=["call", "token"], default="call")
        add("--before", type=int, default=SETTLED, metavar="N", help="identical calls before")
        add("--cold", dest="before", action="store_const", const=0, help="the same as --before 0")
        add("--most", type=int, metavar="N", help="exit with 1 for more files")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Trace and print; 1 if there are too many files, or nothing was stored."""
    asked = options_of(arguments)
    trace = triangle(asked) if asked.way == "triangle" else query(asked)
    report(trace, asked.way)
    if not trace.done:
        print("the window did not close: expected a store, and none came")
        return 1
    if asked.most is not None and len(trace.files) > asked.most:
        print(f"expected at most {asked.most} files")
        return 1
    return 0


if __name__ == "__main__":
    # Compiled code of earlier processes would make a cold start warm.
    with tempfile.TemporaryDirectory() as folder, patch.dict("os.environ", XDG_CACHE_HOME=folder):
        code = main()
    sys.exit(code)

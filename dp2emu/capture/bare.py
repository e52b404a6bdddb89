"""Bare command buffers: files of command bytes alone; options supply context and surfaces."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from dp2emu.capture.files import Pass, Source
from dp2emu.capture.payloads import Entry, encode
from dp2emu.capture.records import Called, ContextCreated, FrameMarker, Record, SurfaceCreated
from dp2emu.d3d.enums import Format
from dp2emu.d3d.flags import Dp2Flags
from dp2emu.d3d.fvf import fvf_size
from dp2emu.dp2.call import Call
from dp2emu.errors import UsageError
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from dp2emu.limits import Limits

CONTEXT = 1
COLOR, DEPTH, COMMANDS = 1, 2, 3
"""Handles of the surfaces of a bare buffer: target, depth surface, command buffer."""


class BareOptions(msgspec.Struct, frozen=True):
    """Context, surfaces and vertices for the call of a bare buffer.

    ``fvf`` is the call's dwVertexType and ``vertices`` its user memory, of ``vertex_size`` bytes a
    vertex (0: as the FVF says).  The target is ``width`` x ``height`` pixels of ``format``, its
    depth surface of ``depth`` (UNKNOWN: none).  ``interface`` is the DirectX version of the
    context.  ``capacity`` is the minimum size of the command buffer in bytes, since answers need
    room too.
    """

    fvf: int = 0
    vertices: bytes | None = None
    vertex_size: int = 0
    width: int = 640
    height: int = 480
    format: Format = Format.X8R8G8B8
    depth: Format = Format.UNKNOWN
    interface: int = 9
    capacity: int = 1 << 16


def bare_records(commands: bytes, options: BareOptions) -> list[Record]:
    """The records of a capture with one call, which executes ``commands``, and a frame marker.

    Raises UsageError for vertices of unknown size, Fault for an impossible FVF.
    """
    target = SurfaceDesc(COLOR, SurfaceKind.SURFACE, options.width, options.height, options.format)
    depth = SurfaceDesc(DEPTH, SurfaceKind.SURFACE, options.width, options.height, options.depth)
    buffer = SurfaceDesc(COMMANDS, SurfaceKind.MEMORY, max(len(commands), options.capacity))
    surfaces = [target, depth, buffer] if options.depth else [target, buffer]
    return [
        *(SurfaceCreated(desc) for desc in surfaces),
        ContextCreated(CONTEXT, options.interface, COLOR, DEPTH if options.depth else 0),
        Called(_call(commands, options)),
        FrameMarker(0, COLOR),
    ]


def _call(commands: bytes, options: BareOptions) -> Call:
    vertices = options.vertices
    return Call(
        CONTEXT,
        lpDDCommands=COMMANDS,
        dwCommandLength=len(commands),
        dwFlags=Dp2Flags.USERMEMVERTICES if vertices is not None else 0,
        dwVertexType=options.fvf,
        dwVertexLength=len(vertices) // _vertex_size(options) if vertices else 0,
        dwVertexSize=options.vertex_size,
        commands=commands,
        vertices=vertices,
    )


def _vertex_size(options: BareOptions) -> int:
    size = options.vertex_size or fvf_size(options.fvf, options.interface)
    if size <= 0:
        raise UsageError("vertices need an FVF or a vertex size")
    return size


class BareReader(Pass):
    """A reader of a bare command buffer as the records of a capture."""

    def __init__(self, source: Source, limits: Limits, options: BareOptions) -> None:
        super().__init__(source, limits)
        self._options = options

    def entries(self) -> Iterator[Entry]:
        """The records that stand for the buffer; CaptureError if the buffer exceeds the limit."""
        limit = self._limits.record_bytes
        commands = self._source.upto(limit + 1)
        if len(commands) > limit:
            self._fail(f"a bare command buffer: {self._limits.refusal('record_bytes', None)}")
        for record in bare_records(commands, self._options):
            yield encode(record)
        self.progress.whole = True

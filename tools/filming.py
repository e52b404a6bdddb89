"""What the example captures are made with: a filmed driver, vertices, and the list of streams."""

from __future__ import annotations

import colorsys
import struct
from collections.abc import Callable, Iterable

import msgspec

from dp2emu.capture import CaptureWriter
from dp2emu.capture.records import TIMING, Annotation, Answered, Called, Record
from dp2emu.d3d import fvf
from dp2emu.d3d.enums import Cull, PrimitiveType, RenderState, ShadeMode
from dp2emu.dp2.call import Call
from dp2emu.dp2.driver import Driver
from dp2emu.gpu.device.timing import parse_timing
from dp2emu.runtime import Device9, Query, Session

Vertex = tuple[float, float, float, int]
"""x, y in pixels, z in 0..1, colour."""

ONE_SET = 0x100
"""D3DFVF_TEX1."""
COLORED = fvf.XYZRHW | fvf.DIFFUSE
STRIDE = 20


class Studio:
    """A driver and the capture of everything that is done to it.  Mutable: it is being filmed."""

    def __init__(self, capture: CaptureWriter, timing: str) -> None:
        self.driver = Driver(parse_timing(timing))
        self.record: Callable[[Record], None] = capture.write
        self.record(Annotation(TIMING, timing))

    def device(self, width: int, height: int, *, command_bytes: int = 1024) -> Device9:
        """A Direct3D 9 device whose vertices are transformed and coloured."""
        device = Device9(
            self.driver, width, height, command_bytes=command_bytes, record=self.record
        )
        device.set_fvf(COLORED)
        device.set_render_state(RenderState.CULLMODE, Cull.NONE)
        device.set_render_state(RenderState.SHADEMODE, ShadeMode.GOURAUD)
        return device

    def session(self, interface: int) -> Session:
        """A context of an application of DirectX ``interface``, not yet open."""
        return Session(self.driver, interface=interface, command_bytes=256, record=self.record)

    def call(self, call: Call) -> None:
        """D3dDrawPrimitives2 itself, whatever comes of it."""
        self.record(Called(call, time=self.driver.time))
        self.record(Answered(self.driver.submit(call)))


class Recipe(msgspec.Struct, frozen=True):
    """How a stream is made: a timing model, what is played, and how much of the file is kept."""

    timing: str
    play: Callable[[Studio], None]
    keep: float

    @property
    def says(self) -> str:
        """Its line in the list."""
        return " ".join((self.play.__doc__ or "").split())


STREAMS: dict[str, Recipe] = {}
"""Every stream by name."""


def stream(
    timing: str = "instant", *, keep: float = 1.0
) -> Callable[[Callable[[Studio], None]], Callable[[Studio], None]]:
    """Register a stream under the name of its function."""

    def register(play: Callable[[Studio], None]) -> Callable[[Studio], None]:
        STREAMS[play.__name__] = Recipe(timing, play, keep)
        return play

    return register


def vertex_bytes(vertices: Iterable[Vertex]) -> bytes:
    """Transformed, coloured vertices as the device reads them."""
    return b"".join(struct.pack("<4fI", x, y, z, 1.0, color) for x, y, z, color in vertices)


def box(
    left: float, top: float, right: float, bottom: float, z: float, color: int
) -> list[Vertex]:
    """Two triangles that fill a rectangle of pixels."""
    corners = [(left, top), (right, top), (left, bottom)]
    corners += [(left, bottom), (right, top), (right, bottom)]
    return [(x - 0.5, y - 0.5, z, color) for x, y in corners]


class Model:
    """Triangles in one vertex buffer, drawn piece by piece.  Mutable: pieces are added."""

    def __init__(self) -> None:
        self.vertices: list[Vertex] = []
        self.pieces: list[tuple[int, int]] = []

    def add(self, triangles: list[Vertex]) -> None:
        """A piece: a list of triangles."""
        self.pieces.append((len(self.vertices), len(triangles) // 3))
        self.vertices += triangles

    def bind(self, device: Device9) -> None:
        """Make the vertex buffer and set it as stream 0."""
        buffer = device.create_vertex_buffer(vertex_bytes(self.vertices))
        device.set_stream_source(0, buffer, 0, STRIDE)

    def draw(self, device: Device9, piece: int) -> None:
        """Draw one piece."""
        device.draw_primitive(PrimitiveType.TRIANGLELIST, *self.pieces[piece])


def hue(turn: float, value: float = 1.0) -> int:
    """A saturated colour, opaque."""
    red, green, blue = (round(255 * c) for c in colorsys.hsv_to_rgb(turn % 1.0, 0.85, value))
    return 0xFF000000 | red << 16 | green << 8 | blue


def finish(device: Device9, queries: Iterable[Query]) -> None:
    """Wait for the answers, present and end."""
    for query in queries:
        query.wait()
    device.present()
    device.close()

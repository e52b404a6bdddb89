#!/usr/bin/env python3
"""Makes the captures of ``streams/mistakes``, the same bytes every time.

All are of one program that draws a street at night.  ``street.dp2`` is as its author wants it; in
each of the others the program has one mistake, which docs/explain.rst finds.

    python tools/mistaken_streams.py [FOLDER]
"""

from __future__ import annotations

import io
import struct
import sys
from pathlib import Path
from typing import NamedTuple

from filming import STRIDE, Studio, Vertex, box, finish, vertex_bytes

from dp2emu.capture import CaptureWriter
from dp2emu.capture.records import Annotation
from dp2emu.d3d.enums import Blend, PrimitiveType, QueryType, RenderState
from dp2emu.runtime import Device9

WIDTH, HEIGHT = 192, 128
FAR, MIDDLE, NEAR = 0.75, 0.5, 0.25


class Mistakes(NamedTuple):
    """What the program does wrong: the source factor of the light, the first index of the
    windows, and whether the query of the moon ends before the moon is drawn.
    """

    light: Blend = Blend.SRCALPHA
    windows: int = 0
    ends_early: bool = False


STREETS = {
    "street": Mistakes(),
    "street_blend": Mistakes(light=Blend.INVSRCALPHA),
    "street_index": Mistakes(windows=12),
    "street_query": Mistakes(ends_early=True),
}
"""The program's mistakes, by the name of the capture."""


class Mesh:
    """Quads in a vertex buffer and an index buffer.  Mutable: quads are added."""

    def __init__(self) -> None:
        self.vertices: list[Vertex] = []
        self.indices: list[int] = []

    def add(self, quads: list[list[Vertex]]) -> tuple[int, int]:
        """Add quads; returns the first index, and the number of triangles."""
        first = len(self.indices)
        for quad in quads:
            corners = [quad[0], quad[1], quad[2], quad[5]]
            base = len(self.vertices)
            self.vertices += corners
            self.indices += [base + each for each in (0, 1, 2, 2, 1, 3)]
        return first, 2 * len(quads)

    def bind(self, device: Device9) -> None:
        """Make the buffers and set them."""
        device.set_stream_source(
            0, device.create_vertex_buffer(vertex_bytes(self.vertices)), 0, STRIDE
        )
        data = struct.pack(f"<{len(self.indices)}H", *self.indices)
        device.set_indices(device.create_index_buffer(data))

    def draw(self, device: Device9, part: tuple[int, int], skipped: int = 0) -> None:
        """Draw a part, without its first ``skipped`` indices and with as many behind it."""
        first, count = part
        device.draw_indexed_primitive(
            PrimitiveType.TRIANGLELIST, 0, 0, len(self.vertices), first + skipped, count
        )


def street(studio: Studio, mistakes: Mistakes) -> None:
    """Sky, moon, houses with windows, and the light of a lamp; a query counts the moon."""
    device = studio.device(WIDTH, HEIGHT)
    mesh = Mesh()
    moon = mesh.add([box(120, 16, 148, 44, FAR, 0xFFF0EBC8)])
    houses = mesh.add([
        box(12, 56, 60, 112, MIDDLE, 0xFF5A3A3A),
        box(72, 40, 132, 112, MIDDLE, 0xFF3F4A5E),
        box(140, 64, 184, 112, MIDDLE, 0xFF4E5A3A),
    ])  # fmt: skip
    windows = mesh.add([
        box(x, y, x + 10, y + 12, NEAR, 0xFFFFD26A)
        for x, y in ((20, 66), (40, 66), (84, 52), (108, 52), (84, 78), (150, 74))
    ])  # fmt: skip
    ground = mesh.add([box(0, 112, WIDTH, HEIGHT, NEAR, 0xFF23262C)])
    light = mesh.add([box(56, 72, 104, 124, 0.125, 0x60FFE08C)])
    mesh.bind(device)
    visible = device.create_query(QueryType.OCCLUSION)
    device.begin_scene()
    device.clear(color=0xFF0B1026)
    mesh.draw(device, houses)
    visible.begin()
    if mistakes.ends_early:
        visible.end()
    mesh.draw(device, moon)
    if not mistakes.ends_early:
        visible.end()
    mesh.draw(device, windows, mistakes.windows)
    mesh.draw(device, ground)
    device.set_render_state(RenderState.ALPHABLENDENABLE, 1)
    device.set_render_state(RenderState.SRCBLEND, mistakes.light)
    device.set_render_state(RenderState.DESTBLEND, Blend.ONE)
    mesh.draw(device, light)
    device.end_scene()
    finish(device, [visible])


def make(name: str) -> bytes:
    """The bytes of ``streams/mistakes/NAME.dp2``."""
    file = io.BytesIO()
    with CaptureWriter(file, compression="none") as capture:
        capture.write(Annotation("title", name))
        street(Studio(capture, "instant"), STREETS[name])
    return file.getvalue()


def main() -> None:
    """Write all captures."""
    there = Path(__file__).parents[1] / "streams" / "mistakes"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else there
    for name in STREETS:
        data = make(name)
        (folder / f"{name}.dp2").write_bytes(data)
        print(f"{len(data):6}  {name}")


if __name__ == "__main__":
    main()

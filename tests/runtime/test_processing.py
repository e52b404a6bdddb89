"""ProcessVertices against what the documentation says of a few vertices."""

from __future__ import annotations

import struct

import pytest

from dp2emu.d3d.fvf import fvf_size
from dp2emu.d3d.legacy import RenderState7
from dp2emu.gpu.command.bindings import Viewport
from dp2emu.gpu.resource.heap import SurfaceKind
from dp2emu.runtime.calldraws import VertexBuffer
from dp2emu.runtime.objects import Material
from dp2emu.runtime.processing import DONOTCOPYDATA, LIGHT, TRANSFORM, Span
from dp2emu.runtime.session import Refused
from tests.runtime.test_earlydevice import Bench

XYZ, NORMAL, DIFFUSE, SPECULAR, TEX1 = 0x002, 0x010, 0x040, 0x080, 0x100
RHW = 0x004
RED = 0xFFFF0000


def buffer(bench: Bench, format: int, count: int, data: bytes = b"") -> VertexBuffer:
    stride = fvf_size(format, 7)
    memory = bench.ddraw.settle()
    desc = memory.create_surface(SurfaceKind.VERTEXBUFFER, stride * count)
    memory.write(desc.handle, 0, data)
    return VertexBuffer(desc, format, stride, count)


def got(bench: Bench, made: VertexBuffer, layout: str) -> list[tuple[float, ...]]:
    data = bench.driver.read(made.desc.handle, 0, made.desc.width)
    return list(struct.iter_unpack(layout, data))


def test_positions_come_to_the_viewport() -> None:
    bench = Bench()
    bench.device.set_viewport(Viewport(10, 20, 100, 50, 0.5, 1.0))
    doubled = (2.0, 0, 0, 0, 0, 2.0, 0, 0, 0, 0, 1.0, 0, 0, 0, 0, 2.0)
    bench.device.set_transform(3, doubled)
    given = buffer(bench, XYZ, 2, struct.pack("<6f", -1, 1, 0, 0.5, 0, 1))
    made = buffer(bench, RHW, 2)
    bench.device.process(Span(made, 0, 2), Span(given, 0, 2), TRANSFORM, 0)
    assert got(bench, made, "<4f") == [(10.0, 20.0, 0.5, 0.5), (85.0, 45.0, 0.75, 0.5)]


def test_colours_and_coordinates_are_taken_over() -> None:
    bench = Bench()
    data = struct.pack("<3f2I2f", 0, 0, 0, 0x11223344, 0x55667788, 3.0, 4.0)
    given = buffer(bench, XYZ | DIFFUSE | SPECULAR | TEX1, 1, data)
    made = buffer(bench, RHW | DIFFUSE | SPECULAR | TEX1, 1)
    bench.device.process(Span(made, 0, 1), Span(given, 0, 1), TRANSFORM, 0)
    (vertex,) = got(bench, made, "<4f2I2f")
    assert vertex[4:] == (0x11223344, 0x55667788, 3.0, 4.0)


def test_colours_that_are_missing_are_white_and_black() -> None:
    bench = Bench()
    given, made = buffer(bench, XYZ, 1), buffer(bench, RHW | DIFFUSE | SPECULAR, 1)
    bench.device.process(Span(made, 0, 1), Span(given, 0, 1), TRANSFORM, 0)
    (vertex,) = got(bench, made, "<4f2I")
    assert (vertex[4], int(vertex[5]) & 0xFFFFFF) == (0xFFFFFFFF, 0)


@pytest.mark.parametrize(
    ("operation", "color"), [(TRANSFORM, RED), (TRANSFORM | LIGHT, 0xFF00FF00)]
)
def test_lighting_is_part_of_it_where_it_is_asked_for(operation: int, color: int) -> None:
    """A light nobody has described is white and shines along z."""
    bench = Bench()
    bench.device.set_render_state(RenderState7.COLORVERTEX, 0)
    bench.device.set_material(Material(diffuse=(0.0, 1.0, 0.0, 1.0)))
    bench.device.light_enable(0, True)
    given = buffer(bench, XYZ | NORMAL | DIFFUSE, 1, struct.pack("<6fI", 0, 0, 0, 0, 0, -1, RED))
    made = buffer(bench, RHW | DIFFUSE, 1)
    bench.device.process(Span(made, 0, 1), Span(given, 0, 1), operation, 0)
    assert got(bench, made, "<4fI")[0][4] == color


def test_only_the_vertices_that_are_named_are_written() -> None:
    bench = Bench()
    given = buffer(bench, XYZ, 3, struct.pack("<9f", *range(9)))
    made = buffer(bench, RHW, 3, bytes(16) + struct.pack("<4f", 9, 9, 9, 9) + bytes(16))
    bench.device.set_viewport(Viewport(0, 0, 2, 2))
    bench.device.process(Span(made, 2, 1), Span(given, 1, 1), TRANSFORM, 0)
    vertices = got(bench, made, "<4f")
    assert vertices[:2] == [(0, 0, 0, 0), (9, 9, 9, 9)]
    assert vertices[2] == (4.0, -3.0, 5.0, 1.0)


def test_data_that_is_not_computed_may_stay() -> None:
    bench = Bench()
    given = buffer(bench, XYZ | TEX1, 1, struct.pack("<5f", 0, 0, 0, 3, 4))
    made = buffer(bench, RHW | TEX1, 1, struct.pack("<6f", 0, 0, 0, 0, 7, 8))
    bench.device.process(Span(made, 0, 1), Span(given, 0, 1), TRANSFORM, DONOTCOPYDATA)
    assert got(bench, made, "<6f")[0][4:] == (7.0, 8.0)
    bench.device.process(Span(made, 0, 1), Span(given, 0, 1), TRANSFORM, 0)
    assert got(bench, made, "<6f")[0][4:] == (3.0, 4.0)


@pytest.mark.parametrize(
    ("format", "operation", "start"), [(XYZ, TRANSFORM, 0), (RHW, LIGHT, 0), (RHW, TRANSFORM, 1)]
)
def test_other_targets_are_refused(format: int, operation: int, start: int) -> None:
    bench = Bench()
    given, made = buffer(bench, XYZ, 1), buffer(bench, format, 1)
    with pytest.raises(Refused):
        bench.device.process(Span(made, start, 1), Span(given, 0, 1), operation, 0)


def test_what_was_processed_can_be_drawn() -> None:
    bench = Bench()
    bench.device.clear(1, 0xFF00FF00, 1.0, 0)
    corners = ((-1, -1), (-1, 1), (1, -1), (1, 1))
    data = b"".join(struct.pack("<3fI", x, y, 0, RED) for x, y in corners)
    given, made = buffer(bench, XYZ | DIFFUSE, 4, data), buffer(bench, RHW | DIFFUSE, 4)
    bench.device.process(Span(made, 0, 4), Span(given, 0, 4), TRANSFORM, 0)
    bench.device.set_render_state(RenderState7.ZENABLE, 0)
    bench.device.draw_buffer(5, made, 0, 4)
    assert bench.pixel(3, 3) == RED

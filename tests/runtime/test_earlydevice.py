"""Devices of DirectX 6 and 7 on an emulated driver: what they draw, and what they send."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from dp2emu.capture.records import ContextCreated, Record
from dp2emu.d3d.ddraw import Caps, Described
from dp2emu.d3d.enums import LightType
from dp2emu.d3d.legacy import PrimitiveType7, RenderState7, StateBlockType7
from dp2emu.d3d.pixelformats import PixelFormat
from dp2emu.dp2.driver import Driver
from dp2emu.gpu.command.bindings import Rect, Viewport
from dp2emu.gpu.resource.heap import SurfaceKind
from dp2emu.runtime.calldraws import VertexBuffer
from dp2emu.runtime.directdraw import DirectDraw
from dp2emu.runtime.drawsurfaces import Description, DrawSurface
from dp2emu.runtime.earlydevice import EarlyDevice
from dp2emu.runtime.objects import Light, Material
from dp2emu.runtime.session import Refused

WIDTH, HEIGHT = 8, 6
SIZED = Described.CAPS | Described.WIDTH | Described.HEIGHT | Described.PIXELFORMAT
RGB32 = PixelFormat(0x40, bits=32, masks=(0xFF0000, 0xFF00, 0xFF, 0))
DEPTH = PixelFormat(0x400, bits=32, masks=(0, 0xFFFFFF, 0, 0))
FVF = 0x44
RED, GREEN, BLUE = 0xFFFF0000, 0xFF00FF00, 0xFF0000FF
BLACK = 0xFF000000
TARGET, ZBUFFER = 1, 2


class Bench:
    """A device on a surface with a depth buffer."""

    def __init__(self, interface: int = 7, *, depth: bool = True) -> None:
        self.records: list[Record] = []
        self.driver = Driver()
        self.ddraw = DirectDraw(self.driver, record=self.records.append)
        self.target = self.surface(Caps.DEVICE3D, RGB32)
        if depth:
            self.target.attached.append(self.surface(Caps.ZBUFFER, DEPTH))
        self.device = EarlyDevice(self.ddraw, self.target, interface)

    def surface(self, caps: int, pixels: PixelFormat, side: int = 0) -> DrawSurface:
        width, height = (side, side) if side else (WIDTH, HEIGHT)
        return self.ddraw.create(Description(SIZED, caps, 0, width, height, pixels=pixels))

    def quad(self, color: int = RED, z: float = 0.0, **more: int) -> None:
        self.device.draw(PrimitiveType7.TRIANGLESTRIP, FVF, corners(color, z), 4, **more)

    def pixel(self, x: int = 0, y: int = 0, surface: DrawSurface | None = None) -> int:
        self.ddraw.settle()
        self.driver.finish()
        found = surface or self.target
        data = self.driver.read(found.handle, y * found.part.pitch + 4 * x, 4)
        return int.from_bytes(data, "little")


def corners(color: int, z: float) -> bytes:
    ends = ((-0.5, -0.5), (99.5, -0.5), (-0.5, 99.5), (99.5, 99.5))
    return b"".join(struct.pack("<4fI", x, y, z, 1, color) for x, y in ends)


@pytest.mark.parametrize("interface", [6, 7])
def test_the_context_has_the_version_and_the_surfaces(interface: int) -> None:
    bench = Bench(interface)
    made = next(record for record in bench.records if isinstance(record, ContextCreated))
    depth = bench.target.depth
    assert depth is not None
    assert (made.interface, made.color, made.depth) == (
        interface, bench.target.handle, depth.handle,
    )  # fmt: skip


@pytest.mark.parametrize("interface", [6, 7])
def test_draws_reach_the_target(interface: int) -> None:
    bench = Bench(interface)
    bench.device.clear(TARGET | ZBUFFER, GREEN, 1.0, 0)
    assert bench.pixel() == GREEN
    bench.quad()
    assert bench.pixel(7, 5) == RED


def test_indices_choose_vertices() -> None:
    bench = Bench()
    bench.device.clear(TARGET | ZBUFFER, GREEN, 1.0, 0)
    triangle = PrimitiveType7.TRIANGLELIST
    bench.device.draw(triangle, FVF, corners(RED, 0), 4, [0, 1, 2])
    assert bench.pixel() == RED


def test_vertex_buffers_are_drawn_from() -> None:
    bench = Bench()
    bench.device.clear(TARGET | ZBUFFER, GREEN, 1.0, 0)
    desc = bench.ddraw.settle().create_surface(SurfaceKind.VERTEXBUFFER, 100)
    bench.ddraw.settle().write(desc.handle, 20, corners(BLUE, 0))
    buffer = VertexBuffer(desc, FVF, 20, 5)
    bench.device.draw_buffer(PrimitiveType7.TRIANGLESTRIP, buffer, 1, 4)
    assert bench.pixel() == BLUE


def test_clear_stays_in_viewport_and_rectangles() -> None:
    bench = Bench()
    bench.device.clear(TARGET, GREEN, 1.0, 0)
    bench.device.set_viewport(Viewport(2, 1, 4, 4))
    bench.device.clear(TARGET, RED, 1.0, 0, [(0, 0, 3, 9)])
    colors = [bench.pixel(x, y) for x, y in ((1, 1), (2, 0), (2, 1), (2, 5), (3, 2))]
    assert colors == [GREEN, GREEN, RED, GREEN, GREEN]


def test_clear_of_depth_needs_a_buffer() -> None:
    bench = Bench(depth=False)
    with pytest.raises(Refused, match="without a buffer"):
        bench.device.clear(ZBUFFER, 0, 1.0, 0)


def test_a_depth_buffer_attached_later_is_used() -> None:
    bench = Bench(depth=False)
    bench.target.attached.append(bench.surface(Caps.ZBUFFER, DEPTH))
    bench.device.set_render_state(RenderState7.ZENABLE, 1)
    bench.device.clear(TARGET | ZBUFFER, GREEN, 0.25, 0)
    bench.quad(z=0.5)
    assert bench.pixel() == GREEN


def test_another_target_leaves_the_viewport() -> None:
    bench = Bench()
    view = Viewport(1, 1, 2, 2)
    bench.device.set_viewport(view)
    other = bench.surface(Caps.DEVICE3D, RGB32)
    bench.device.set_target(other)
    bench.device.clear(TARGET, RED, 1.0, 0)
    assert bench.device.viewport == view
    assert [bench.pixel(x, 1, other) for x in (0, 1, 3)] == [BLACK, RED, BLACK]


def test_a_texture_of_a_stage_is_sampled() -> None:
    bench = Bench()
    bench.device.clear(TARGET | ZBUFFER, 0, 1.0, 0)
    texture = bench.surface(Caps.TEXTURE, RGB32, 1)
    bench.ddraw.store(texture, None, 4, struct.pack("<I", BLUE))
    bench.device.set_texture(0, texture)
    bench.device.set_stage_state(0, 1, 2)
    bench.quad(0xFFFFFFFF)
    assert bench.pixel() == BLUE
    bench.device.set_texture(0, None)
    bench.quad(RED)
    assert bench.pixel() == RED


def test_indexes_of_a_texture_mean_entries_of_its_palette() -> None:
    bench = Bench()
    texture = bench.surface(Caps.TEXTURE, PixelFormat(0x60, bits=8), 1)
    bench.ddraw.store(texture, None, 1, b"\5")
    texture.palette = palette = bench.ddraw.create_palette()
    bench.device.set_texture(0, texture)
    bench.device.set_stage_state(0, 1, 2)
    seen = []
    for entry in ((255, 0, 0, 0), (0, 255, 0, 0)):
        bench.ddraw.set_entries(palette, 5, [entry])
        bench.device.clear(TARGET | ZBUFFER, 0, 1.0, 0)
        bench.quad(0xFFFFFFFF)
        seen.append(bench.pixel())
    assert seen == [RED, GREEN]


def test_load_copies_levels() -> None:
    bench = Bench()
    given, made = (bench.surface(Caps.TEXTURE, RGB32, 2) for _ in range(2))
    bench.ddraw.store(given, None, 8, struct.pack("<4I", 1, 2, 3, 4))
    bench.device.load(made, (0, 1), given, Rect(0, 0, 2, 1))
    assert [bench.pixel(x, y, made) for y in (0, 1) for x in (0, 1)] == [0, 0, 1, 2]


def test_products_of_matrices_come_to_the_driver() -> None:
    bench = Bench()
    double = tuple(np.diag([2.0, 2.0, 2.0, 1.0]).ravel().tolist())
    for _ in range(2):
        bench.device.multiply_transform(1, double)
    assert bench.device.transform(1)[0] == 4.0


def test_blocks_bring_states_back() -> None:
    bench = Bench()
    device = bench.device
    device.set_render_state(RenderState7.ZFUNC, 8)
    block = device.create_block(StateBlockType7.ALL)
    device.begin_block()
    device.set_render_state(RenderState7.ZFUNC, 1)
    never = device.end_block()
    device.clear(TARGET | ZBUFFER, GREEN, 1.0, 0)
    device.apply_block(never)
    bench.quad()
    assert bench.pixel() == GREEN
    device.apply_block(block)
    bench.quad()
    assert bench.pixel() == RED


def test_a_captured_block_has_what_there_was() -> None:
    bench = Bench()
    device = bench.device
    device.clear(TARGET | ZBUFFER, GREEN, 1.0, 0)
    device.begin_block()
    device.set_render_state(RenderState7.ZFUNC, 8)
    block = device.end_block()
    device.set_render_state(RenderState7.ZFUNC, 1)
    device.capture_block(block)
    device.set_render_state(RenderState7.ZFUNC, 8)
    device.apply_block(block)
    bench.quad()
    assert bench.pixel() == GREEN
    device.delete_block(block)
    with pytest.raises(Refused):
        device.apply_block(block)


def test_lights_and_materials_shine() -> None:
    bench = Bench()
    device = bench.device
    device.clear(TARGET | ZBUFFER, 0, 1.0, 0)
    device.set_material(Material(diffuse=(1.0, 1.0, 1.0, 1.0)))
    shining = Light(LightType.DIRECTIONAL, (0.0, 1.0, 0.0, 0.0), direction=(0.0, 0.0, 1.0))
    device.set_light(3, shining)
    device.light_enable(3, True)
    ends = ((-1, -1), (-1, 1), (1, -1), (1, 1))
    data = b"".join(struct.pack("<6f", x, y, 0, 0, 0, -1) for x, y in ends)
    device.draw(PrimitiveType7.TRIANGLESTRIP, 0x12, data, 4)
    assert bench.pixel(4, 3) == GREEN


def test_planes_of_the_application_cut() -> None:
    bench = Bench()
    device = bench.device
    device.clear(TARGET | ZBUFFER, GREEN, 1.0, 0)
    for state, value in ((RenderState7.LIGHTING, 0), (RenderState7.CLIPPLANEENABLE, 1)):
        device.set_render_state(state, value)
    device.set_clip_plane(0, (1.0, 0.0, 0.0, 0.0))
    ends = ((-1, -1), (-1, 1), (1, -1), (1, 1))
    data = b"".join(struct.pack("<3fI", x, y, 0, RED) for x, y in ends)
    device.draw(PrimitiveType7.TRIANGLESTRIP, 0x42, data, 4)
    assert (bench.pixel(1, 3), bench.pixel(6, 3)) == (GREEN, RED)


def test_a_closed_device_leaves_its_surfaces() -> None:
    bench = Bench()
    bench.device.clear(TARGET, RED, 1.0, 0)
    bench.device.close()
    assert bench.ddraw.devices == []
    assert bench.pixel() == RED

"""Patches from tokens to pixels: what vertex processing gets, and when control points are read."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

import numpy as np
import pytest

from dp2emu.d3d.enums import (
    Basis,
    Cull,
    DeclMethod,
    DeclType,
    DeclUsage,
    Degree,
    PrimitiveType,
    QueryType,
    RenderState,
)
from dp2emu.d3d.flags import StreamSource
from dp2emu.dp2.driver import Driver
from dp2emu.gpu.device.timing import parse_timing
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from dp2emu.runtime import Device9, RectPatchInfo, TriPatchInfo, VertexElement
from dp2emu.shader.sm.assemble import assemble
from tests.dp2.resolve.test_patches import Patches, patch, square
from tests.dp2.rigging import COLOR, VERTICES, Bench, clear, header, token
from tests.dp2.screen import code

SIZE = 8
CORNERS = [(-1.0, 1.0, 0.0), (1.0, 1.0, 0.5), (-1.0, -1.0, 0.0), (1.0, -1.0, 0.5)]
"""A plane over all of the screen: it falls back by 0.5 along u, so the slopes along u and v are
(2, 0, 0.5) and (0, -2, 0)."""
SQUARE = RectPatchInfo(0, 0, 2, 2, 2, Basis.BEZIER, Degree.LINEAR)
SHOW = """vs_2_0
dcl_position v0
dcl_tangent v1
mov oPos, v0
mad oD0, v1, c0, c1
"""
"""The second element as a colour, times c0 and plus c1."""


def shown(
    method: DeclMethod, scale: Sequence[float], bias: Sequence[float], *, triangle: bool = False
) -> np.ndarray:
    """Red, green and blue of all pixels, 0 to 255, shape (8, 8, 3)."""
    device = Device9(Driver(), SIZE, SIZE)
    device.set_render_state(RenderState.CULLMODE, Cull.NONE)
    type = DeclType.UNUSED if method is DeclMethod.UV else DeclType.FLOAT3
    elements = [
        VertexElement(0, 0, DeclType.FLOAT3, DeclMethod.DEFAULT, DeclUsage.POSITION, 0),
        VertexElement(0, 0, type, method, DeclUsage.TANGENT, 0),
    ]
    device.set_vertex_declaration(device.create_vertex_declaration(elements))
    device.set_vertex_shader(device.create_vertex_shader(code(SHOW)))
    device.set_vertex_constants(0, [[*scale, 0], [*bias, 1]])
    data = b"".join(struct.pack("<3f", *corner) for corner in CORNERS)
    device.set_stream_source(0, device.create_vertex_buffer(data), 0, 12)
    device.clear()
    if triangle:
        device.draw_tri_patch(0, (3.0,) * 3, TriPatchInfo(0, 3, Basis.BEZIER, Degree.LINEAR))
    else:
        device.draw_rect_patch(0, (2.0, 3.0, 4.0, 1.0), SQUARE)
    words = device.read_back()
    return np.stack([words >> 16 & 255, words >> 8 & 255, words & 255], axis=-1)


@pytest.mark.parametrize(
    ("method", "vector"),
    [
        (DeclMethod.PARTIALU, (2.0, 0.0, 0.5)),
        (DeclMethod.PARTIALV, (0.0, -2.0, 0.0)),
        # (2, 0, 0.5) x (0, -2, 0) is (1, 0, -4).
        (DeclMethod.CROSSUV, (1 / math.sqrt(17), 0.0, -4 / math.sqrt(17))),
    ],
)
def test_shaders_get_what_the_tessellator_computes(
    method: DeclMethod, vector: tuple[float, ...]
) -> None:
    found = shown(method, (0.25,) * 3, (0.5,) * 3)
    wanted = [255 * (0.5 + 0.25 * component) for component in vector]
    assert np.abs(found - wanted).max() <= 0.5 + 1e-3


@pytest.mark.parametrize("triangle", [False, True])
def test_u_goes_right_and_v_down(triangle: bool) -> None:
    found = shown(DeclMethod.UV, (1.0,) * 3, (0.0,) * 3, triangle=triangle)
    for y in range(SIZE):
        for x in range(SIZE - y - 1 if triangle else SIZE):
            # The last control point of the triangle, where u is 1, is below the first.
            u, v = (y, x) if triangle else (x, y)
            wanted = [255 * u / SIZE, 255 * v / SIZE, 0]
            assert np.abs(found[y, x] - wanted).max() <= 0.5 + 1e-3


DECLARATION = struct.pack(
    "<6I", 1 << 29, 2 << 29 | 2 << 16, 1 << 29 | 1 << 28, 3 << 29 | 0 << 20 | 2 << 16 | 3,
    3 << 29 | 1 << 28 | 1 << 16 | 7, 0xFFFFFFFF,
)  # fmt: skip
"""Stream 0: register 0 FLOAT3; tessellator: normals of it in register 3, places in register 7."""


@pytest.mark.parametrize(("register", "wanted"), [(3, 0x0000FF), (7, 0x808000)])
def test_shaders_of_directx_8_get_it_in_registers(register: int, wanted: int) -> None:
    vertex = assemble(f"vs_1_1\nmov oPos, v0\nmad oD0, v{register}, c0, c1\n")
    created = struct.pack("<3I", 7, len(DECLARATION), len(vertex)) + DECLARATION + vertex
    bench = Bench()
    bench.driver.create_surface(SurfaceDesc(VERTICES, SurfaceKind.MEMORY, 64))
    flat = b"".join(struct.pack("<3f", x, y, 0.5) for x, y, _ in CORNERS)
    bench.driver.write(VERTICES, 0, flat)
    # The normal, (0, 0, -1), is negated.
    scale = (-1.0, -1.0, -1.0, 0.0) if register == 3 else (1.0, 1.0, 0.0, 0.0)
    bench.ok(
        header(45) + created + token(47, 7) + token(48, 0, 2, *scale, 0.0, 0.0, 0.0, 1.0)
        + token(80, 0, VERTICES, 0, 12) + clear() + patch(61, 0, (2.0,) * 4, (0, 0, 2, 2, 2, 0, 1))
    )  # fmt: skip
    bench.driver.finish()
    pixels = np.frombuffer(bench.driver.read(COLOR, 0, 4 * 64 * 64), "<u4").reshape(64, 64)
    assert pixels[32, 32] & 0xFFFFFF == wanted


def test_instances_of_n_patches_are_divided_each() -> None:
    device = Device9(Driver(), SIZE, SIZE)
    device.set_render_state(RenderState.LIGHTING, 0)
    elements = [
        VertexElement(0, 0, DeclType.FLOAT3, DeclMethod.DEFAULT, DeclUsage.POSITION, 0),
        VertexElement(1, 0, DeclType.D3DCOLOR, DeclMethod.DEFAULT, DeclUsage.COLOR, 0),
    ]
    device.set_vertex_declaration(device.create_vertex_declaration(elements))
    corners = [(-1.0, 1.0, 0.5), (1.0, 1.0, 0.5), (-1.0, -1.0, 0.5)]
    data = b"".join(struct.pack("<3f", *corner) for corner in corners)
    device.set_stream_source(0, device.create_vertex_buffer(data), 0, 12)
    colors = device.create_vertex_buffer(struct.pack("<3I", 1, 2, 3))
    device.set_stream_source(1, colors, 0, 4)
    device.set_stream_frequency(0, StreamSource.INDEXEDDATA | 3)
    device.set_stream_frequency(1, StreamSource.INSTANCEDATA | 1)
    device.set_indices(device.create_index_buffer(struct.pack("<3H", 0, 1, 2)))
    device.set_npatch_mode(2.0)
    device.clear()
    drawn = device.create_query(QueryType.VERTEXSTATS)
    device.draw_indexed_primitive(PrimitiveType.TRIANGLELIST, 0, 0, 3, 0, 1)
    drawn.end()
    assert struct.unpack("<2I", drawn.wait().data or b"") == (3 * 4, 0)
    assert device.read_back()[1, 1] & 0xFFFFFF == 3


def test_control_points_are_read_behind_earlier_copies() -> None:
    bench = Patches(timing=parse_timing("fixed:call=10,packet=1000,delivery=10"))
    bench.driver.create_surface(SurfaceDesc(9, SurfaceKind.MEMORY, 80))
    bench.driver.write(9, 0, square(0, 0, 5, 4))
    copy = token(64, VERTICES, 9, 0, 0, 80, 0)
    kept = patch(61, 7, (2.0,) * 4, (0, 0, 2, 2, 2, 0, 1))
    assert bench.covered(copy + kept) == 20
    bench.driver.write(VERTICES, 0, bytes(80))
    assert bench.covered(patch(61, 7)) == 20

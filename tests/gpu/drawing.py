"""Small draws: surfaces, vertices and packets without a front end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from dp2emu.d3d.enums import CmpFunc, Format, PrimitiveType
from dp2emu.d3d.fvf import fvf_layout, fvf_size
from dp2emu.gpu.command.bindings import Rect, Viewport
from dp2emu.gpu.command.packets import (
    Draw,
    Indices,
    InputAssembly,
    OutputBindings,
    RasterBindings,
    ShaderBindings,
    Stream,
)
from dp2emu.gpu.command.pipeline import Attribute, DepthState, Pipeline, RasterState
from dp2emu.gpu.rasterizer.spans import Spans
from dp2emu.gpu.resource.heap import Heap, Surface, SurfaceDesc, SurfaceKind
from dp2emu.shader.builder import Builder
from dp2emu.shader.fixed.pixel import FixedPixel, pixel_program
from dp2emu.shader.ir import Program, Stage

COLORED = 0x044
"""XYZRHW | DIFFUSE."""
SPECULAR = 0x0C4
SIZED = 0x064
MAPPED = 0x104
"""XYZRHW | TEX1."""

_FIELDS = {COLORED: "ffffI", SPECULAR: "ffffII", SIZED: "fffffI", MAPPED: "ffffff"}
_CODES = {"f": "<f4", "I": "<u4"}

Vertex = Sequence[float]
FILL = 0xFF102030


def surface(
    format: Format, width: int = 32, height: int = 32, pitch: int = 0, samples: int = 1
) -> Surface:
    desc = SurfaceDesc(1, SurfaceKind.SURFACE, width, height, format, pitch, samples)
    return Heap().create(desc)


def color_surface(
    format: Format = Format.X8R8G8B8, width: int = 32, height: int = 32, samples: int = 1
) -> Surface:
    return surface(format, width, height, samples=samples)


def depth_surface(
    format: Format = Format.D24S8,
    width: int = 32,
    height: int = 32,
    word: int = 0,
    samples: int = 1,
) -> Surface:
    depth = surface(format, width, height, samples=samples)
    depth.pixels()[...] = word
    return depth


def vertex_data(vertices: Iterable[Vertex], fvf: int = COLORED) -> bytes:
    dtype = [(f"_{i}", _CODES[letter]) for i, letter in enumerate(_FIELDS[fvf])]
    with np.errstate(over="ignore"):
        data: NDArray[Any] = np.array([tuple(vertex) for vertex in vertices], dtype)
    assert data.itemsize == fvf_size(fvf)
    return data.tobytes()


def corner(
    x: float, y: float, z: float = 0.5, color: int = 0xFFFFFFFF, rhw: float = 1.0
) -> Vertex:
    return x, y, z, rhw, color


def draw(
    vertices: Iterable[Vertex],
    *,
    color: Surface | None = None,
    depth: Surface | None = None,
    topology: PrimitiveType = PrimitiveType.TRIANGLELIST,
    count: int | None = None,
    fvf: int = COLORED,
    raster: RasterState | None = None,
    test: DepthState | None = None,
    pixel: Program | None = None,
    write_mask: int = 15,
    scissor: Rect | None = None,
    indices: Sequence[int] | None = None,
    **bindings: Any,
) -> Draw:
    """A draw of everything given; ``test`` defaults to LESSEQUAL with writes if there is depth."""
    vertices = list(vertices)
    used = len(vertices) if indices is None else len(indices)
    target = color or depth
    pipeline = Pipeline(
        layout=fvf_layout(fvf),
        raster=raster or RasterState(),
        depth=test or DepthState(depth is not None, True, CmpFunc.LESSEQUAL),
        pixel=pixel or pixel_program(FixedPixel()),
        write_masks=(write_mask,),
        color_formats=(color.format if color else None,),
        depth_format=depth.format if depth else None,
        samples=target.samples if target else 1,
    )
    packet = Draw(
        pipeline,
        InputAssembly(
            topology,
            first=0,
            count=primitives(topology, used) if count is None else count,
            streams=(Stream(vertex_data(vertices, fvf), 0, fvf_size(fvf)),),
            indices=None if indices is None else Indices(np.array(indices, np.uint32)),
        ),
        OutputBindings((color,), depth),
        scissor or Rect(0, 0, 1 << 15, 1 << 15),
    )
    return rebound(packet, **bindings)


_SHADER_FIELDS = {
    f"{stage}_{field}": (stage, field)
    for stage in ("vertex", "pixel")
    for field in ShaderBindings.__struct_fields__
}
_FIELDS_OF = {
    field: (record, field)
    for record, kind in (
        ("input", InputAssembly), ("raster", RasterBindings), ("output", OutputBindings)
    )
    for field in kind.__struct_fields__
} | _SHADER_FIELDS | {"textures": ("pixel", "textures")}  # fmt: skip
"""The record of a draw, and the field in it, by the name that tests use."""


def rebound(packet: Draw, **changes: Any) -> Draw:
    """A draw with changed fields, of its own or of the records it consists of."""
    own = {name: changes.pop(name) for name in [*changes] if name not in _FIELDS_OF}
    inner: dict[str, dict[str, Any]] = {}
    for name, value in changes.items():
        record, field = _FIELDS_OF[name]
        inner.setdefault(record, {})[field] = value
    records = {name: replace(getattr(packet, name), **new) for name, new in inner.items()}
    return replace(packet, **own, **records)


def primitives(topology: PrimitiveType, vertices: int) -> int:
    """How many primitives that many vertices make."""
    step, extra = {
        PrimitiveType.POINTLIST: (1, 0),
        PrimitiveType.LINELIST: (2, 0),
        PrimitiveType.LINESTRIP: (1, 1),
        PrimitiveType.TRIANGLELIST: (3, 0),
        PrimitiveType.TRIANGLESTRIP: (1, 2),
        PrimitiveType.TRIANGLEFAN: (1, 2),
    }[topology]
    return max((vertices - extra) // step, 0)


def hits(spans: Iterable[Spans], region: Rect) -> NDArray[np.int64]:
    """How often each pixel of a region is covered, shape (height, width)."""
    counts = np.zeros((region.bottom - region.top, region.right - region.left), np.int64)
    for part in spans:
        for y, left, right in zip(part.y, part.left, part.right, strict=True):
            assert region.left <= left < right <= region.right
            assert region.top <= y < region.bottom
            counts[y - region.top, left - region.left : right - region.left] += 1
    return counts


def passing(*registers: str) -> Program:
    """A vertex program that copies its inputs."""
    b = Builder(Stage.VERTEX)
    for register in registers:
        for component in "xyzw":
            b.output(f"{register}.{component}", b.input(f"{register}.{component}"))
    return b.program()


PASSING = passing("position0", "color0")
CLIP_SPACE = 0x4042
"""XYZW | DIFFUSE: positions in clip space, in the memory of ``COLORED``."""


def programmed(packet: Draw, size: int = 32, program: Program = PASSING, **bindings: Any) -> Draw:
    """A draw of ``corner`` vertices whose positions are in clip space."""
    layout = fvf_layout(CLIP_SPACE)
    attributes = tuple(Attribute(f"{e.usage.name.lower()}{e.index}", e) for e in layout.elements)
    pipeline = replace(packet.pipeline, layout=layout, vertex=program, attributes=attributes)
    bindings.setdefault("viewport", Viewport(0, 0, size, size))
    return rebound(packet, pipeline=pipeline, **bindings)

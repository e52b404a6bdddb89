"""The geometry stage: from vertex numbers to corners on the screen.

Each vertex of a chunk is shaded once, however often it is used, and clipped (``gpu.clip``).  What
is left goes to the screen in float64, every operation rounded:

    rhw = 1 / w
    x = view.x + (1 + x / w) * (view.width / 2)
    y = view.y + (1 - y / w) * (view.height / 2)
    z = view.min_z + (z / w) * (view.max_z - view.min_z)

Pixel centres are at whole pixels, as Direct3D 9 has them.  Where they are at half pixels
(Direct3D 10), 0.5 is then taken off x and y, so that all that follows finds them at whole ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from dp2emu.gpu.arrays import F32, F64, I64, Mask
from dp2emu.gpu.assembly import CORNERS, corners
from dp2emu.gpu.clip import clip, user_distance
from dp2emu.gpu.packets import Draw, FloatViewport, Viewport
from dp2emu.gpu.vertex import COMPONENTS, Vertices, decode, fetch, vertex_numbers
from dp2emu.records import dataclass
from dp2emu.shader.builder import Builder
from dp2emu.shader.engines import telling
from dp2emu.shader.formulas import computed
from dp2emu.shader.ir import Program
from dp2emu.shader.ports import CONSTANT
from dp2emu.shader.reference import Fetcher, Run, Sampler
from dp2emu.shader.reference import run as run_reference
from dp2emu.shader.types import Lanes, Type
from dp2emu.shader.values import Value

_ABSENT = [np.array([number], np.float32) for number in (0, 0, 0, 1)]
"""What a vertex program reads where the vertices have nothing."""
VERTEX_NUMBER = "vertex_id.x"
"""An I32 input of a vertex program: the index of the vertex, or of a draw without
indices its place among the vertices drawn."""
POSITION = tuple(f"position0.{component}" for component in COMPONENTS)
"""Outputs of a vertex program: the position in clip space."""


@dataclass(frozen=True, slots=True)
class Geometry:
    """Primitives on the screen, in drawing order.

    ``numbers`` says which primitive of the draw each is or is a part of; ``edges``, shape (3, n),
    whether the edge from corner i to the next is drawn in wireframe, None meaning all of them.
    ``extra`` counts the triangles clipping added.
    """

    vertices: Vertices
    numbers: I64
    edges: Mask | None = None
    extra: int = 0

    def part(self, chosen: I64) -> Geometry:
        """Some of the primitives."""
        edges = None if self.edges is None else self.edges[:, chosen]
        return Geometry(self.vertices.part(chosen), self.numbers[chosen], edges, self.extra)


def geometry(
    draw: Draw,
    start: int,
    stop: int,
    names: tuple[str, ...],
    sampler: Sampler | None = None,
    run: Run = run_reference,
    fetcher: Fetcher | None = None,
) -> Geometry:
    """Primitives ``start`` to ``stop`` of a draw, with those varyings of ``names`` they have."""
    sequence = corners(draw.topology, draw.first, start, stop)
    numbers = vertex_numbers(draw.indices, sequence.ravel()).reshape(sequence.shape)
    edges = None if draw.edge_flags is None else draw.edge_flags[:, start:stop]
    if draw.pipeline.vertex is None:
        layout, attributes = draw.pipeline.layout, draw.pipeline.attributes
        vertices = fetch(layout, draw.streams, numbers, names, attributes)
        _join(draw, vertices.names, vertices.varyings)
        return Geometry(vertices, np.arange(start, stop), edges)
    with_program = shaded(draw, draw.pipeline.vertex, numbers, sampler, run, fetcher)
    return placed(draw, *with_program, np.arange(start, stop), names, edges)


def placed(
    draw: Draw,
    outputs: Mapping[str, Lanes],
    corner: I64,
    numbers: I64,
    names: tuple[str, ...],
    edges: Mask | None = None,
) -> Geometry:
    """Primitives of vertices that programs have made, clipped and on the screen.

    ``outputs`` are lanes of vertices by port, ``corner`` their numbers, shape (3, n).
    """
    lanes, written, user = _table(draw, outputs, corner, names)
    varyings = slice(4, 4 + len(written))
    _join(draw, written, lanes[varyings])
    dropped = _dropped(draw, outputs, corner)
    if dropped is not None:
        kept = np.flatnonzero(~dropped)
        lanes, numbers = lanes[..., kept], numbers[kept]
        edges = None if edges is None else edges[:, kept]
    depth = draw.pipeline.raster.clip
    clipped = clip(lanes, edges, CORNERS[draw.topology], depth=depth, user=user)
    centre = 0.5 if draw.pipeline.raster.half_centres else 0.0
    places = on_screen(clipped.lanes, draw.viewport, centre)
    vertices = Vertices(places, written, clipped.lanes[varyings])
    return Geometry(vertices, numbers[clipped.source], clipped.edges, clipped.extra)


def _join(draw: Draw, names: tuple[str, ...], varyings: F32 | F64) -> None:
    """What a primitive makes of the varyings of its corners, in place, before it is clipped.

    With flat shading all corners get the colours of the first, the provoking vertex, and so do
    they always what is constant.  A texture
    coordinate that wraps is moved by whole numbers until it lies at most half a texture from the
    first corner's, which is the shortest way around (Direct3D 9 documentation, Texture Wrapping).
    """
    raster = draw.pipeline.raster
    flat = [lane for lane, name in enumerate(names) if is_flat(name, raster.flat)]
    if flat:
        varyings[flat, 1:] = varyings[flat, :1]
    around = [lane for lane, name in enumerate(names) if wraps(name, raster.wrap)]
    if around:
        first, others = varyings[around, :1], varyings[around, 1:]
        (varyings[around, 1:],) = computed(shortest_way, None, first, others)


def shortest_way(b: Builder, key: None, first: Value, other: Value) -> tuple[Value]:
    """Formula: a texture coordinate at most half a texture from the first corner's."""
    way = other - first
    return (other - (b.round(way) if way.type is Type.F32 else b.apply("dround", way)),)


def wraps(name: str, wrap: tuple[int, ...]) -> bool:
    """Whether a varying goes the shortest way around, as ``RasterState.wrap`` says."""
    register, _, component = name.rpartition(".")
    number = register.removeprefix("texcoord")
    if number == register or int(number) >= len(wrap):
        return False
    return bool(wrap[int(number)] >> COMPONENTS.index(component) & 1)


def is_color(name: str) -> bool:
    """Whether a varying is one of the two colours, which flat shading does not interpolate."""
    return name.startswith(("color0.", "color1."))


def is_flat(name: str, shading: bool) -> bool:
    """Whether a varying is the first corner's; ``shading`` is whether colours are."""
    return name.startswith(CONSTANT) or (shading and is_color(name))


def shaded(
    draw: Draw,
    program: Program,
    numbers: I64,
    sampler: Sampler | None,
    run: Run,
    fetcher: Fetcher | None,
) -> tuple[Mapping[str, Lanes], I64]:
    """A vertex program's outputs, run for each of the vertices once, and which of the lanes each
    of ``numbers`` is, in the shape of these.
    """
    unique, place = np.unique(numbers.ravel(), return_inverse=True)
    inputs = _inputs(draw, program, unique)
    with telling(lambda lane: f"vertex {unique[lane]}"):
        outputs = run(
            program, inputs, draw.vertex_uniforms, len(unique), sampler=sampler, fetcher=fetcher
        ).outputs
    return outputs, place.reshape(numbers.shape)


class _Table(NamedTuple):
    """Position, varyings and distances to planes, lanes of shape (rows, 3, n); which varyings were
    ``written``; and how many of the distances, which come last, clip.
    """

    lanes: F64
    written: tuple[str, ...]
    user: int


def _table(
    draw: Draw, outputs: Mapping[str, Lanes], corner: I64, names: tuple[str, ...]
) -> _Table:
    nothing = np.zeros(1, np.float32)
    lanes = next(iter(outputs.values()), None)
    count = int(corner.max(initial=-1)) + 1 if lanes is None else len(lanes)
    rows = [np.broadcast_to(outputs.get(name, nothing), count) for name in POSITION]
    position = np.stack(rows).astype(np.float64)
    written = tuple(name for name in names if name in outputs)
    distances = _distances(draw, outputs, position)
    table = np.stack([*position, *(outputs[name] for name in written), *distances])
    return _Table(table[:, corner], written, len(distances))


def _dropped(draw: Draw, outputs: Mapping[str, Lanes], corner: I64) -> Mask | None:
    """Primitives with a clip distance that is no number, or a cull distance negative at all their
    corners, where no number is negative (Direct3D 10).
    """
    raster = draw.pipeline.raster
    clipping = [outputs[f"clip{n}.x"][corner] for n in range(raster.clip_distances)]
    culling = [outputs[f"cull{n}.x"][corner] for n in range(raster.cull_distances)]
    dropped = [np.isnan(distance).any(axis=0) for distance in clipping]
    dropped += [~(distance >= 0).any(axis=0) for distance in culling]
    return np.logical_or.reduce(dropped) if dropped else None


def _inputs(draw: Draw, program: Program, numbers: I64) -> dict[str, Lanes]:
    """What the program reads of the vertices; components that they lack are 0, 0, 0, 1.

    An I32 is the bits of a float.
    """
    elements = {attribute.name: attribute.element for attribute in draw.pipeline.attributes}
    decoded: dict[str, list[F32]] = {}
    inputs: dict[str, Lanes] = {}
    for port in program.inputs:
        if port.name == VERTEX_NUMBER:
            inputs[port.name] = (numbers - _base(draw)).astype(np.int32)
            continue
        register, component = port.name.split(".")
        if register not in decoded:
            element = elements.get(register)
            decoded[register] = (
                _ABSENT if element is None else [*decode(element, draw.streams, numbers)]
            )
        lane = decoded[register][COMPONENTS.index(component)]
        inputs[port.name] = lane.view(port.type.dtype)
    return inputs


def _base(draw: Draw) -> int:
    return draw.first if draw.indices is None else draw.indices.base


def _distances(draw: Draw, outputs: Mapping[str, Lanes], position: F64) -> list[F64]:
    """Distances of vertices to the user's planes in use.

    The program says in ``clip0.x`` and so on, or else they are ((a * x + b * y) + c * z) + d * w
    in clip space.  Those to planes without an equation come after them.
    """
    x, y, z, w = position
    distances = []
    for number in planes_used(draw):
        a, b, c, d = draw.clip_planes[number]
        written = outputs.get(f"clip{number}.x")
        if written is None:
            equation = (np.float64(each) for each in (a, b, c, d))
            (written,) = computed(user_distance, None, x, y, z, w, *equation)
        distances.append(written.astype(np.float64))
    own = (outputs[f"clip{number}.x"] for number in range(draw.pipeline.raster.clip_distances))
    return [*distances, *(distance.astype(np.float64) for distance in own)]


def planes_used(draw: Draw) -> tuple[int, ...]:
    """Numbers of the user's planes that clip."""
    bits = draw.pipeline.raster.clip_planes if draw.pipeline.raster.clip else 0
    return tuple(n for n in range(len(draw.clip_planes)) if bits >> n & 1) if bits else ()


def on_screen(lanes: F64, view: Viewport | FloatViewport, centre: float = 0.0) -> F64:
    """Screen x, y, z and rhw of positions in clip space, the first four of the lanes.

    ``centre`` is where pixels have their centres.
    """
    numbers = (view.x, view.width / 2, view.y, view.height / 2)
    depths = (view.min_z, view.max_z - view.min_z)
    given = (np.float64(each) for each in (*numbers, *depths, centre))
    return np.stack(computed(projected, None, *lanes[:4], *given))


def projected(
    b: Builder,
    key: None,
    x: Value,
    y: Value,
    z: Value,
    w: Value,
    left: Value,
    half_width: Value,
    top: Value,
    half_height: Value,
    near: Value,
    range_: Value,
    centre: Value,
) -> list[Value]:
    """Formula: screen x, y, z and rhw of a position in clip space."""
    return [
        left + (1.0 + x / w) * half_width - centre,
        top + (1.0 - y / w) * half_height - centre,
        near + (z / w) * range_,
        1.0 / w,
    ]

"""Meshes of a draw, stage by stage: vertices before and after programs, and clipped primitives.

The stages of the reference engine compute them from the memory as it is before the draw; nothing
is written.  Stage by stage a draw becomes *pieces*: tables of vertices, and the primitives that
their rows form.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.enums import DeclType, PrimitiveType
from dp2emu.d3d.formats import Coding
from dp2emu.d3d.vertices import Element
from dp2emu.errors import UsageError
from dp2emu.gpu.arrays import F64, I64
from dp2emu.gpu.command.bindings import Topology
from dp2emu.gpu.command.packets import Draw, Stream
from dp2emu.gpu.command.post_vertex_stages import PostVertexStages
from dp2emu.gpu.command.topology import CORNERS
from dp2emu.gpu.command.work import Work
from dp2emu.gpu.draw.post_vertex import on_screen, placed_primitives
from dp2emu.gpu.geometry_shader.geometry_stage import emitted
from dp2emu.gpu.input_assembler.vertex_fetch import (
    COMPONENTS,
    decode,
    fetch,
    format_of,
    instanced,
    measured,
    outside,
    strips,
    type_of,
    uncut,
    vertex_numbers,
)
from dp2emu.gpu.output_merger.draw_targets import Targets
from dp2emu.gpu.patches.hull_domain import divided, hull_outputs, patch_batches
from dp2emu.gpu.patches.patch_draws import tessellated
from dp2emu.gpu.rasterizer import clip
from dp2emu.gpu.rasterizer.clip import Geometry, dropped_by_distances, placed
from dp2emu.gpu.rasterizer.primitive_setup import set_up
from dp2emu.gpu.rasterizer.spans import snap
from dp2emu.gpu.rasterizer.triangles import doubled_area
from dp2emu.gpu.shader_resources.constant_buffers import with_constants
from dp2emu.gpu.vertex_shader.mesh import LISTS, Made, Mesh, three, without_adjacent
from dp2emu.gpu.vertex_shader.vertex_stage import StageRun
from dp2emu.shader import reference
from dp2emu.shader.ports import CONSTANT
from dp2emu.shader.types import Lanes

STAGES = ("input", "vertex", "hull", "domain", "geometry", "clip")
"""Names of the stages in order: before and after the vertex program, control points after the
hull program, after tessellator and domain program, after the geometry program, on the screen."""

MOST_ROWS = 1 << 22
"""Largest number of vertices that the stages of a draw may have together."""

Lane = NDArray[Any]


class Fate(NamedTuple):
    """What became of a primitive: a verdict, and the number of ``pixels`` that it covers.

    Verdicts are ``drawn``, ``cut`` (drawn, with corners changed by clipping), ``no_pixels``,
    ``culled``, ``degenerate`` (without area), ``infinite`` (a position that is no number),
    ``clipped`` (nothing left) and ``cull_distance``.
    """

    verdict: str
    pixels: int = 0


class Piece(msgspec.Struct, frozen=True):
    """Some primitives of an ``instance`` at a ``stage`` of a draw, and their vertices.

    ``keys`` and ``lanes`` are columns of the vertex table by name, shape (v,): numbers that say
    which vertex a row is, and its values, float32, float64 or integers.  ``corners``, int64, shape
    (k, n), are the rows of each primitive, those of strips and fans too, so that ``topology`` is a
    list; ``primitives`` their numbers, shape (n,).  ``stream``
    is a geometry program's.  At the stage ``clip``, ``fates`` has what became of each primitive
    before clipping, by number.  At the stage ``input``, ``outside`` are the rows of vertices that
    have bytes outside of their buffers, which read as zero.
    """

    stage: str
    instance: int
    topology: Topology
    keys: Mapping[str, I64]
    lanes: Mapping[str, Lane]
    corners: I64
    primitives: I64
    stream: int = 0
    fates: Mapping[int, Fate] = msgspec.field(default_factory=dict)
    outside: tuple[int, ...] = ()

    @property
    def rows(self) -> int:
        """Number of vertices."""
        return len(next(iter(self.keys.values())))


def stages_of(draw: Draw) -> tuple[str, ...]:
    """Names of the stages that a draw has, in order.

    A draw of transformed vertices has no vertex program, and one whose rasterizer is disabled is
    not clipped.
    """
    later = draw.post_vertex or PostVertexStages()
    there = {
        "input": True,
        "vertex": draw.pipeline.vertex is not None,
        "hull": later.tessellation is not None,
        "domain": later.tessellation is not None,
        "geometry": later.geometry is not None,
        "clip": draw.pipeline.raster.enabled,
    }
    return tuple(stage for stage in STAGES if there[stage])


def mesh_of(
    draw: Draw, wanted: Iterable[str] = STAGES, names: Mapping[str, str] = MappingProxyType({})
) -> Iterator[Piece]:
    """Yield the pieces of a draw at the ``wanted`` stages that it has, instance by instance.

    ``names`` are semantic names of input registers, by register.
    Constant buffers are read now.  Raises UsageError for more than ``MOST_ROWS`` vertices,
    Unsupported for state that is not implemented.
    """
    draw = with_constants(measured(draw))
    stages, rows = frozenset(wanted), 0
    with np.errstate(all="ignore"):
        for number, instance in enumerate(instanced(draw)):
            for piece in _instance(_Flow(instance, number, stages, names=names)):
                rows += piece.rows
                if rows > MOST_ROWS:
                    raise UsageError(f"more than {MOST_ROWS:,} vertices in the stages of the draw")
                yield piece


def _instance(flow: _Flow) -> Iterator[Piece]:
    """The pieces of an instance; a patch of Direct3D 8 or 9 is several draws."""
    draw, first = flow.draw, 0
    if draw.post_vertex is not None or not draw.input.patch:
        yield from flow.pieces()
        return
    for part in tessellated(uncut(draw)):
        yield from replace(flow, draw=part, first=first).pieces()
        first += part.input.count


class _Flow(msgspec.Struct):
    """The stages of one instance of a draw.

    ``first`` is added to the numbers of its primitives.  Mutable: ``emitted`` counts the vertices
    of later stages, which have no other number.
    """

    draw: Draw
    instance: int
    stages: frozenset[str]
    first: int = 0
    names: Mapping[str, str] = MappingProxyType({})
    emitted: dict[str, int] = msgspec.field(default_factory=dict)

    def pieces(self) -> Iterator[Piece]:
        """Yield the pieces of all stages, chunk by chunk."""
        for ids, places in placed_primitives(self.draw, strips(self.draw)):
            numbers = _numbers(self.draw, places)
            if "input" in self.stages:
                yield self._input(ids, places, numbers)
            if self.draw.pipeline.vertex is None:
                yield from self._transformed(ids, numbers)
            elif self.stages - {"input"}:
                yield from self._after_input(ids, places, numbers)

    def _input(self, ids: I64, places: I64, numbers: I64) -> Piece:
        rows, corners = np.unique(places, return_inverse=True)
        of_row = np.zeros(len(rows), np.int64)
        of_row[corners.ravel()] = numbers.ravel()
        keys = {"vertex": rows, "index": of_row}
        elements, streams = named_elements(self.draw, self.names), self.draw.input.streams
        lanes = decoded(elements, streams, of_row)
        beyond = [outside(element, streams, of_row) for element in elements.values()]
        topology = _list_topology(self.draw)
        piece = self._piece("input", topology, keys, lanes, corners.reshape(places.shape), ids)
        found = np.flatnonzero(np.logical_or.reduce(beyond)) if beyond else ()
        return replace(piece, outside=tuple(int(row) for row in found))

    def _after_input(self, ids: I64, places: I64, numbers: I64) -> Iterator[Piece]:
        running = StageRun(reference.run)
        outputs, corner = running.vertices(self.draw, numbers)
        mesh = Mesh(outputs, corner, _list_topology(self.draw), ids)
        if "vertex" in self.stages:
            rows, corners = np.unique(places, return_inverse=True)
            lane_of, index_of = np.zeros((2, len(rows)), np.int64)
            lane_of[corners.ravel()] = corner.ravel()
            index_of[corners.ravel()] = numbers.ravel()
            lanes = {name: lane[lane_of] for name, lane in _shown(outputs).items()}
            keys = {"vertex": rows, "index": index_of}
            corners = corners.reshape(places.shape)
            yield self._piece("vertex", mesh.topology, keys, lanes, corners, ids)
        if self.draw.post_vertex is None:
            yield from self._on_screen(mesh)
            return
        yield from self._later(self.draw.post_vertex, running, mesh)

    def _later(self, later: PostVertexStages, running: StageRun, mesh: Mesh) -> Iterator[Piece]:
        """The pieces of the stages after the vertex program of a draw that has such stages."""
        draw = self.draw
        flow = iter([mesh])
        if later.tessellation is not None:
            if "hull" in self.stages:
                yield from self._hull(running, mesh)
            flow = _through(partial(divided, draw, running), flow)
        for given in flow:
            if later.tessellation is not None:
                yield from self._of_mesh("domain", given)
            for made in self._geometry(later, running, given):
                if made is not given:
                    yield from self._of_mesh("geometry", made)
                if made.stream == later.output.rasterized:
                    yield from self._on_screen(self._numbered("clip", made))

    def _geometry(self, later: PostVertexStages, running: StageRun, mesh: Mesh) -> Iterator[Mesh]:
        """The meshes that a geometry program makes of one; the mesh itself without a program."""
        if later.geometry is None:
            return iter([mesh])
        return _through(partial(emitted, self.draw, running), iter([mesh]))

    def _numbered(self, stage: str, mesh: Mesh) -> Mesh:
        """A mesh with its primitives numbered on; SV_PrimitiveID is not unique."""
        first = self.emitted.get(stage, 0)
        self.emitted[stage] = first + mesh.count
        return replace(mesh, ids=np.arange(first, first + mesh.count))

    def _hull(self, running: StageRun, mesh: Mesh) -> Iterator[Piece]:
        """Output control points of patches, and the constants of each patch in its rows."""
        assert self.draw.post_vertex is not None
        stage = self.draw.post_vertex.tessellation
        assert stage is not None
        if len(mesh.corners) != stage.hull.takes:
            return
        for patches in patch_batches(stage, mesh):
            points, constants = hull_outputs(self.draw, stage.hull, running, patches)
            count, makes, registers, _ = points.shape
            point = np.tile(np.arange(makes), count)
            keys = {"patch": np.repeat(patches.ids, makes), "point": point}
            lanes: dict[str, Lane] = {}
            for name, found in (("o", points), ("pc", np.repeat(constants[:, None], makes, 1))):
                for register in range(registers):
                    for number, letter in enumerate(COMPONENTS):
                        words = found[:, :, register, number].reshape(-1)
                        if words.any():
                            lanes[f"{name}{register}.{letter}"] = words.view(np.float32)
            corners = np.arange(count * makes).reshape(count, makes).T
            yield self._piece("hull", patches.topology, keys, lanes, corners, patches.ids)

    def _of_mesh(self, stage: str, mesh: Mesh) -> Iterator[Piece]:
        if stage not in self.stages:
            return
        mesh, rows = self._numbered(stage, mesh), len(next(iter(mesh.vertices.values()), ()))
        start = self.emitted.get(f"{stage} vertices", 0)
        self.emitted[f"{stage} vertices"] = start + rows
        keys = {"vertex": np.arange(start, start + rows)}
        lanes, ids = _shown(mesh.vertices), mesh.ids
        yield replace(
            self._piece(stage, mesh.topology, keys, lanes, mesh.corners, ids), stream=mesh.stream
        )

    # Clipping

    def _on_screen(self, mesh: Mesh) -> Iterator[Piece]:
        """The piece of a mesh after clipping and the viewport."""
        if "clip" not in self.stages or not self.draw.pipeline.raster.enabled or not mesh.count:
            return
        draw, mesh = self.draw, without_adjacent(mesh)
        corner = three(mesh.corners)
        if draw.post_vertex is None:
            geometry = placed(draw, mesh.vertices, corner, mesh.ids, ())
            found = [(draw, geometry)]
        else:
            found = list(on_screen(draw, mesh, ()))
        dropped = dropped_by_distances(draw, mesh.vertices, corner)
        positions = _clip_positions(mesh, corner)
        endless = ~np.isfinite(positions).all(axis=(0, 1))
        fates = dict.fromkeys(mesh.ids.tolist(), Fate("clipped"))
        fates |= dict.fromkeys(mesh.ids[endless].tolist(), Fate("infinite"))
        if dropped is not None:
            fates |= dict.fromkeys(mesh.ids[dropped].tolist(), Fate("cull_distance"))
        for shown, geometry in found:
            before = clip.on_screen(positions, shown.raster.viewport, _centre(shown))
            fates |= _fates(shown, geometry, dict(zip(mesh.ids.tolist(), before.T, strict=True)))
        yield self._clipped(mesh.topology, [geometry for _, geometry in found], mesh.ids, fates)

    def _transformed(self, ids: I64, numbers: I64) -> Iterator[Piece]:
        """The piece of transformed vertices, which are not clipped."""
        if "clip" not in self.stages or not self.draw.pipeline.raster.enabled:
            return
        draw, layout = self.draw, self.draw.pipeline.layout
        corner = three(numbers)
        vertices = fetch(layout, draw.input.streams, corner, (), draw.pipeline.attributes)
        geometry = Geometry(vertices, ids)
        before = dict(zip(ids.tolist(), vertices.position.astype(np.float64).T, strict=True))
        topology = _list_topology(draw)
        yield self._clipped(topology, [geometry], ids, _fates(draw, geometry, before))

    def _clipped(
        self, topology: Topology, found: list[Geometry], ids: I64, fates: Mapping[int, Fate]
    ) -> Piece:
        size = CORNERS[topology]
        numbers = np.concatenate([geometry.numbers for geometry in found])
        places = np.concatenate([geometry.vertices.position for geometry in found], axis=2)
        order = np.argsort(numbers, kind="stable")
        numbers, position = numbers[order], places[:, :size, order].transpose(0, 2, 1)
        starts = np.flatnonzero(np.diff(numbers, prepend=-1))
        piece = np.arange(len(numbers)) - np.repeat(starts, np.diff(starts, append=len(numbers)))
        keys = {
            "primitive": np.repeat(numbers + self.first, size),
            "piece": np.repeat(piece, size),
            "corner": np.tile(np.arange(size), len(numbers)),
        }
        lanes = dict(zip(("x", "y", "z", "rhw"), position.reshape(4, -1), strict=True))
        corners = np.arange(size * len(numbers)).reshape(len(numbers), size).T
        made = self._piece("clip", topology, keys, lanes, corners, numbers)
        shown = {number + self.first: fates[number] for number in ids.tolist()}
        return replace(made, fates=shown)

    def _piece(
        self, stage: str, topology: Topology, keys: Mapping[str, I64],
        lanes: Mapping[str, Lane], corners: I64, ids: I64,
    ) -> Piece:  # fmt: skip
        return Piece(stage, self.instance, topology, keys, lanes, corners, ids + self.first)


def _through(stage: Any, flow: Iterator[Mesh]) -> Iterator[Mesh]:
    """The meshes of ``flow`` after a stage, without those that are empty."""
    found: Iterator[Made] = stage(Made(mesh, Work()) for mesh in flow)
    return (made.mesh for made in found if made.mesh.count)


_LISTS: Mapping[Topology, Topology] = {
    **LISTS, PrimitiveType.TRIANGLEFAN: PrimitiveType.TRIANGLELIST
}  # fmt: skip


def _list_topology(draw: Draw) -> Topology:
    return _LISTS.get(draw.input.topology, draw.input.topology)


def _numbers(draw: Draw, places: I64) -> I64:
    """Vertex numbers at the positions ``places`` of the index buffer, of the same shape."""
    return vertex_numbers(draw.input.indices, places.ravel()).reshape(places.shape)


def _centre(draw: Draw) -> float:
    return 0.5 if draw.pipeline.raster.half_centres else 0.0


def _clip_positions(mesh: Mesh, corner: I64) -> F64:
    """Positions in clip space of the corners of primitives, shape (4, 3, n)."""
    nothing = np.zeros(1, np.float32)
    lanes = [mesh.vertices.get(name, nothing) for name in clip.POSITION]
    rows = int(corner.max(initial=-1)) + 1
    return np.stack([np.broadcast_to(lane, max(rows, len(lane))) for lane in lanes]).astype(
        np.float64
    )[:, corner]


def _fates(draw: Draw, geometry: Geometry, before: Mapping[int, F64]) -> dict[int, Fate]:
    """What became of the primitives whose pieces are in ``geometry``, by number.

    ``before`` are the screen positions of each without clipping, shape (3, 4).
    """
    region = Targets.of(draw, reference.run).region
    left = set_up(draw, geometry, region)
    pixels: dict[int, int] = dict.fromkeys(left.numbers.tolist(), 0)
    for spans in left.spans:
        widths = (spans.right - spans.left).tolist()
        for number, width in zip(left.numbers[spans.primitive].tolist(), widths, strict=True):
            pixels[number] += width
    x, y = (snap(axis) for axis in geometry.vertices.position[:2])
    finite = np.logical_and.reduce(np.isfinite(x) & np.isfinite(y))
    flat = np.zeros(len(finite), np.bool_)
    if CORNERS[draw.input.topology] == 3:
        flat[finite] = doubled_area(x[:, finite], y[:, finite]) == 0
    cut = _cut(geometry, before)
    found: dict[int, Fate] = {}
    for place, number in enumerate(geometry.numbers.tolist()):
        if pixels.get(number):
            found[number] = Fate("cut" if number in cut else "drawn", pixels[number])
        elif number in pixels:
            found[number] = Fate("no_pixels")
        elif not finite[place]:
            found.setdefault(number, Fate("infinite"))
        else:
            found.setdefault(number, Fate("degenerate" if flat[place] else "culled"))
    return found


def _cut(geometry: Geometry, before: Mapping[int, F64]) -> set[int]:
    """Numbers of the primitives that clipping changed: other corners, or more than one piece."""
    cut, seen = set(), set()
    places = geometry.vertices.position.astype(np.float64).T
    for number, place in zip(geometry.numbers.tolist(), places, strict=True):
        if number in seen or place.tobytes() != before[number].tobytes():
            cut.add(number)
        seen.add(number)
    return cut


# Columns of vertex tables


POSITION = "position0"
"""Name of the output of a program that is the position in clip space."""


def _shown(outputs: Mapping[str, Lanes]) -> dict[str, Lane]:
    """The outputs of a program as columns, the position first; integer copies are left out."""
    rows = max((len(lane) for lane in outputs.values()), default=0)
    names = [
        name for name in outputs
        if not (name.startswith(CONSTANT) and name.removeprefix(CONSTANT) in outputs)
    ]  # fmt: skip
    registers = list(dict.fromkeys(name.rpartition(".")[0] for name in names))
    places = {name: (name != POSITION, at) for at, name in enumerate(registers)}
    names.sort(key=lambda name: (places[name.rpartition(".")[0]], COMPONENTS.find(name[-1])))
    return {name: np.broadcast_to(outputs[name], rows) for name in names}


def element_name(element: Element, register: str | None) -> str:
    """Name of a vertex element: usage and index of Direct3D 9 (``TEXCOORD0``), or the register of
    Direct3D 10, whose driver interface has no semantic names.
    """
    if isinstance(element.type, DxgiFormat):
        return register or f"v{element.index}"
    return f"{element.usage.name}{element.index}"


def named_elements(draw: Draw, names: Mapping[str, str]) -> dict[str, Element]:
    """The elements of a draw's vertices by name, in the order of their declaration; ``names``
    are semantic names by register.
    """
    registers = {each.element: each.name for each in draw.pipeline.attributes if each.element}
    found: dict[str, Element] = {}
    for element in draw.pipeline.layout.elements:
        if element.type is not DeclType.UNUSED:
            name = element_name(element, registers.get(element))
            found.setdefault(names.get(name, name), element)
    return found


def decoded(
    elements: Mapping[str, Element], streams: tuple[Stream | None, ...], numbers: I64
) -> dict[str, Lane]:
    """The elements of the vertices ``numbers`` as columns, one for each stored component."""
    columns: dict[str, Lane] = {}
    for name, element in elements.items():
        lanes, dtype = decode(element, streams, numbers), _dtype(element)
        for letter, lane in zip(COMPONENTS[: _components(element)], lanes, strict=False):
            columns[f"{name}.{letter}"] = lane.view(dtype)
    return columns


def _components(element: Element) -> int:
    row = format_of(element)
    return type_of(element).components if row is None else len(row.channels)


_INTEGERS = {Coding.UINT: np.uint32, Coding.SINT: np.int32}


def _dtype(element: Element) -> type[np.generic]:
    """The type of a decoded component: integer formats yield integers, others floats."""
    row = format_of(element)
    if row is None:
        return np.float32
    codings = {channel.coding for channel in row.channels.values()}
    return _INTEGERS.get(codings.pop(), np.float32) if len(codings) == 1 else np.float32

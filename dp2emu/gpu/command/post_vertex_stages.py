"""Records of the stages between the vertex program and clipping: hull, domain and geometry
programs, stream output, and the viewports and slices that primitives select.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

from dp2emu.d3d.enums10 import Topology10
from dp2emu.gpu.command import bindings
from dp2emu.gpu.command.pipeline import Samplers
from dp2emu.gpu.command.stream_targets import NOTHING_STORED, StreamOutput
from dp2emu.gpu.resource.heap import Surface
from dp2emu.shader.ir import Port, Program

if TYPE_CHECKING:
    # Imported for types only: draws without these stages must not load the tessellator.
    from dp2emu.gpu.tessellation.tessellate import Tessellator
    from dp2emu.shader.resources import Unit


class StageProgram(msgspec.Struct, frozen=True, eq=False):
    """The program of a stage after the vertex program, with its bindings and samplers."""

    program: Program
    uniforms: bindings.Uniforms = msgspec.field(default_factory=dict)
    buffers: bindings.ConstantBuffers = msgspec.field(default_factory=dict)
    textures: bindings.Textures = msgspec.field(default_factory=dict)
    samplers: Samplers = ()
    units: tuple[Unit, ...] = ()


Component = tuple[int, int]
"""A register component: a pair of the register's number and 0 to 3 for x to w."""


class ConstantsProgram(msgspec.Struct, frozen=True, eq=False):
    """A program that computes patch constants, run ``instances`` times for each patch."""

    bound: StageProgram
    instances: int = 1


class HullStage(msgspec.Struct, frozen=True, eq=False):
    """A hull program: from patches of ``takes`` control points to patches of ``makes``.

    ``points`` computes each output point, None copies them; ``constants`` run in order.  Their
    patch files have ``registers`` for each point.  ``edges`` and ``inside`` locate the factors
    among the constants in the order of ``tessellation.Tessellator``, None for 0; factors are
    clamped to ``most``.
    """

    points: StageProgram | None
    constants: tuple[ConstantsProgram, ...]
    takes: int
    makes: int
    registers: int
    edges: tuple[Component | None, ...]
    inside: tuple[Component | None, ...]
    most: float = math.inf


class TessellationStage(msgspec.Struct, frozen=True, eq=False):
    """Hull program, tessellator and domain program of a draw; the ``domain`` program reads
    ``takes`` control points of ``registers`` registers each.
    """

    hull: HullStage
    tessellator: Tessellator
    domain: StageProgram
    takes: int
    registers: int


class EmittedStream(msgspec.Struct, frozen=True):
    """An output stream of a geometry program, points or strips; ``ports`` are its outputs, each
    with the number of the output word that holds it.
    """

    number: int
    topology: bindings.Topology
    ports: tuple[tuple[Port, int], ...]


class GeometryStage(msgspec.Struct, frozen=True, eq=False):
    """A geometry program, run ``instances`` times for each primitive of the topology it ``takes``;
    a run emits at most ``limit`` vertices.
    """

    bound: StageProgram
    takes: bindings.Topology
    instances: int
    limit: int
    streams: tuple[EmittedStream, ...]

    @property
    def words(self) -> frozenset[int]:
        """Numbers of the program's output words that belong to any output stream."""
        return frozenset(word for stream in self.streams for _, word in stream.ports)


class View(msgspec.Struct, frozen=True):
    """A viewport and its scissor rectangle."""

    viewport: bindings.FloatViewport
    scissor: bindings.Rect


class Layer(msgspec.Struct, frozen=True):
    """The slice of each target that one render target array index selects."""

    colors: tuple[Surface | None, ...]
    depth: Surface | None


class PostVertexStages(msgspec.Struct, frozen=True, eq=False):
    """The stages of a draw between its vertex program and clipping, in order.

    The I32 ports ``viewport.x`` and ``layer.x`` of a primitive's first vertex select one of the
    ``views`` and ``layers``, the first if out of range.  Without the ports, views or layers the
    draw's own apply.  ``output`` is stream output, and the stream that is drawn.
    """

    tessellation: TessellationStage | None = None
    geometry: GeometryStage | None = None
    output: StreamOutput = NOTHING_STORED
    views: tuple[View, ...] = ()
    layers: tuple[Layer, ...] = ()

    @property
    def reads_beside(self) -> bool:
        """Whether the geometry program reads adjacent vertices."""
        takes = self.geometry and self.geometry.takes
        return takes in (Topology10.LINELIST_ADJ, Topology10.TRIANGLELIST_ADJ)

"""Records of the stages between the vertex program and clipping: hull, domain and geometry
programs, stream output, and the viewports and slices that primitives select.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

from dp2emu.d3d.enums10 import Topology10
from dp2emu.gpu.command.bindings import (
    ConstantBuffers,
    FloatViewport,
    Rect,
    Textures,
    Topology,
    Uniforms,
)
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
    uniforms: Uniforms = msgspec.field(default_factory=dict)
    buffers: ConstantBuffers = msgspec.field(default_factory=dict)
    textures: Textures = msgspec.field(default_factory=dict)
    samplers: Samplers = ()
    units: tuple[Unit, ...] = ()


Component = tuple[int, int]
"""A register's number and one of its components."""


class ConstantsProgram(msgspec.Struct, frozen=True, eq=False):
    """A program that computes patch constants, run ``instances`` times for each patch."""

    bound: StageProgram
    instances: int = 1


class HullStage(msgspec.Struct, frozen=True, eq=False):
    """A hull program: patches of ``takes`` control points in, of ``makes`` control points out.

    ``points`` runs for each of these, None passes points on; ``constants`` run in order.  Their
    files of patches have so many ``registers`` for each point.  ``edges`` and ``inside`` are where
    the factors are among the constants, as ``tessellation.Tessellator`` takes them, None for 0;
    none counts for more than ``most``.
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
    """Hull program, tessellator and domain program of a draw.

    The ``domain`` program reads ``takes`` control points of a patch, of ``registers`` registers
    each.
    """

    hull: HullStage
    tessellator: Tessellator
    domain: StageProgram
    takes: int
    registers: int


class EmittedStream(msgspec.Struct, frozen=True):
    """A stream of vertices that a geometry program puts out, as points or in strips: which of its
    words each port of theirs is.
    """

    number: int
    topology: Topology
    ports: tuple[tuple[Port, int], ...]


class GeometryStage(msgspec.Struct, frozen=True, eq=False):
    """A geometry program, which runs ``instances`` times for each primitive of a list of the
    topology it ``takes``, and puts out ``limit`` vertices at most.
    """

    bound: StageProgram
    takes: Topology
    instances: int
    limit: int
    streams: tuple[EmittedStream, ...]

    @property
    def words(self) -> frozenset[int]:
        """The output words of vertices, of all streams together."""
        return frozenset(word for stream in self.streams for _, word in stream.ports)


class View(msgspec.Struct, frozen=True):
    """A viewport and the rectangle that fragments in it must lie in."""

    viewport: FloatViewport
    scissor: Rect


class Layer(msgspec.Struct, frozen=True):
    """The slice of each target that one render target array index selects."""

    colors: tuple[Surface | None, ...]
    depth: Surface | None


class PostVertexStages(msgspec.Struct, frozen=True, eq=False):
    """The stages of a draw between its vertex program and clipping, in order.

    A primitive whose first vertex has the I32 ports ``viewport.x`` and ``layer.x`` goes to one of
    the ``views`` and ``layers``; to the first if there is no such.  Without the ports, or with no
    views or layers, those of the draw itself stand.  Of what a ``geometry`` program puts out
    ``output`` says what is stored, and the stream of it that is drawn.
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

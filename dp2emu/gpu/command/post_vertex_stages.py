"""What a draw has between its vertex program and clipping: programs, and where primitives go."""

from __future__ import annotations

import math
from dataclasses import field
from typing import TYPE_CHECKING

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
from dp2emu.records import dataclass
from dp2emu.shader.ir import Port, Program

if TYPE_CHECKING:
    # Whoever draws without such shaders has no need of all that they are made of.
    from dp2emu.gpu.tessellation import Tessellator
    from dp2emu.shader.resources import Unit


@dataclass(frozen=True, slots=True, eq=False)
class StageProgram:
    """A program of a stage between the vertex program and clipping, and what is bound to it, as
    ``Pipeline`` and ``Draw`` have it of the vertex program.
    """

    program: Program
    uniforms: Uniforms = field(default_factory=dict)
    buffers: ConstantBuffers = field(default_factory=dict)
    textures: Textures = field(default_factory=dict)
    samplers: Samplers = ()
    units: tuple[Unit, ...] = ()


Component = tuple[int, int]
"""The number of a register, and a component of it."""


@dataclass(frozen=True, slots=True, eq=False)
class ConstantsProgram:
    """A program that makes patch constants, which runs ``instances`` times for each patch."""

    bound: StageProgram
    instances: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class HullStage:
    """A hull program, which takes patches of ``takes`` control points and makes ``makes`` of them.

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


@dataclass(frozen=True, slots=True, eq=False)
class TessellationStage:
    """What divides patches: the ``domain`` program takes ``takes`` control points of a patch, each
    of so many ``registers``.
    """

    hull: HullStage
    tessellator: Tessellator
    domain: StageProgram
    takes: int
    registers: int


@dataclass(frozen=True, slots=True)
class EmittedStream:
    """A stream of vertices that a geometry program puts out, as points or in strips: which of its
    words each port of theirs is.
    """

    number: int
    topology: Topology
    ports: tuple[tuple[Port, int], ...]


@dataclass(frozen=True, slots=True, eq=False)
class GeometryStage:
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
        """Those that vertices have, of any stream."""
        return frozenset(word for stream in self.streams for _, word in stream.ports)


@dataclass(frozen=True, slots=True)
class View:
    """A viewport and the rectangle that fragments in it must lie in."""

    viewport: FloatViewport
    scissor: Rect


@dataclass(frozen=True, slots=True)
class Layer:
    """A slice of each target."""

    colors: tuple[Surface | None, ...]
    depth: Surface | None


@dataclass(frozen=True, slots=True, eq=False)
class PostVertexStages:
    """What a draw has between its vertex program and clipping, in this order.

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
        """Whether a stage reads adjacent vertices."""
        takes = self.geometry and self.geometry.takes
        return takes in (Topology10.LINELIST_ADJ, Topology10.TRIANGLELIST_ADJ)

"""What comes out of a lowering: a program, and what whoever binds things to it has to know."""

from __future__ import annotations

from dp2emu.d3d.enums10 import Domain, OutputPrimitive, Partitioning
from dp2emu.records import dataclass
from dp2emu.shader.ir import Program
from dp2emu.shader.resources import Dimension, MemoryOperation, SharedMemory, Unit
from dp2emu.shader.sm4.enums import (
    Interpolation,
    Primitive,
    ReturnType,
    SamplerMode,
    SystemValue,
    Topology,
)
from dp2emu.shader.sm4.program import Returns


@dataclass(frozen=True, slots=True)
class Register:
    """Components of an input or output, as one declaration has them; bit 0 of a mask is x.

    Of the inputs of vertex programs ``interpolation`` means nothing; ``stream`` is that of an
    output of a geometry program.
    """

    number: int
    mask: int
    name: SystemValue = SystemValue.UNDEFINED
    interpolation: Interpolation = Interpolation.UNDEFINED
    stream: int = 0


@dataclass(frozen=True, slots=True)
class Resource:
    """A t# as it is declared; raw and structured buffers have no types, but maybe a ``stride``."""

    number: int
    dimension: Dimension
    returns: Returns = (ReturnType.UINT,) * 4
    stride: int = 0


@dataclass(frozen=True, slots=True)
class DeclaredSampler:
    """An s#, and what it is declared to be used for."""

    number: int
    mode: SamplerMode


@dataclass(frozen=True, slots=True)
class Emission:
    """What a geometry program takes and puts out.

    It runs ``instances`` times for each ``primitive``, and puts out ``limit`` vertices at most.
    ``words`` are the components of o# that any stream has, and ``topologies`` those of the
    streams, by number.
    """

    primitive: Primitive
    instances: int
    limit: int
    words: tuple[tuple[int, int], ...]
    topologies: tuple[tuple[int, Topology], ...]


@dataclass(frozen=True)
class Lowered4:
    """A shader as a program.  Frozen and hashable, as the program is.

    Files: ``cb<slot>`` for each of ``constant_buffers``, I32 in rows of four, and ``icb``, which
    are ``immediates``, if the program has it.  ``units`` are by number.  ``forces_early``: tests
    of depth and stencil come before the program, whatever it does.  ``per_sample``: it runs for
    each sample.  ``deeds`` are what it does to memory, by number, ``unordered`` the u# declared
    and ``shared`` the g#; ``threads`` are those of a group by x, y and z.  Of hull and domain
    programs ``points_in`` is the points of a patch, ``registers`` what each has in files.
    """

    program: Program
    inputs: tuple[Register, ...]
    outputs: tuple[Register, ...]
    constant_buffers: tuple[int, ...]
    immediates: tuple[int, ...]
    resources: tuple[Resource, ...]
    samplers: tuple[DeclaredSampler, ...]
    units: tuple[Unit, ...]
    writes_depth: bool = False
    writes_coverage: bool = False
    kills: bool = False
    forces_early: bool = False
    per_sample: bool = False
    emission: Emission | None = None
    deeds: tuple[MemoryOperation, ...] = ()
    unordered: tuple[Resource, ...] = ()
    shared: tuple[SharedMemory, ...] = ()
    threads: tuple[int, int, int] = (0, 0, 0)
    points_in: int = 0
    registers: int = 1


Component = tuple[int, int]
"""The number of a register, and a component of it."""


@dataclass(frozen=True)
class Constants:
    """A phase that makes patch constants, and how many instances of it there are."""

    shader: Lowered4
    instances: int


@dataclass(frozen=True)
class LoweredHull:
    """A hull shader, whose phases are programs.  Frozen and hashable, as these are.

    It ``takes`` patches of so many points and ``makes`` so many by ``points``, or without that
    those it takes; ``constants`` are in the order in which they run.  ``registers`` is how many
    each point has in the files of patches.  ``most`` is what no factor is above.  ``edges`` and
    ``inside`` say where the factors of the tessellator are among the constants, U = 0 first, of
    lines their density first; None if the shader does not make one.
    """

    points: Lowered4 | None
    constants: tuple[Constants, ...]
    takes: int
    makes: int
    registers: int
    domain: Domain
    partitioning: Partitioning
    output: OutputPrimitive
    most: float
    edges: tuple[Component | None, ...]
    inside: tuple[Component | None, ...]

"""Result of the lowering: the program, and the declarations that binding and execution need."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from dp2emu.d3d.enums10 import Domain, OutputPrimitive, Partitioning
from dp2emu.errors import ShaderError
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
from dp2emu.shader.sm4.versions import V4_0, V4_1, V5_0, Level


class Register(msgspec.Struct, frozen=True):
    """Declared components of an input or output register; bit 0 of ``mask`` is x.

    ``interpolation`` is unused for inputs of vertex programs; ``stream`` is the stream of a
    geometry program's output.
    """

    number: int
    mask: int
    name: SystemValue = SystemValue.UNDEFINED
    interpolation: Interpolation = Interpolation.UNDEFINED
    stream: int = 0


class Resource(msgspec.Struct, frozen=True):
    """A declared t# or u#; raw and structured buffers have no component types."""

    number: int
    dimension: Dimension
    returns: Returns = (ReturnType.UINT,) * 4
    stride: int = 0


class DeclaredSampler(msgspec.Struct, frozen=True):
    """A declared sampler s#: its number, and its mode (default, comparison or mono)."""

    number: int
    mode: SamplerMode


class Emission(msgspec.Struct, frozen=True):
    """Input primitive and output streams of a geometry program.

    It runs ``instances`` times for each ``primitive``; each run emits at most ``limit`` vertices.
    ``words`` are the (register, component) of o# declared for any stream; ``topologies`` are
    (stream number, output topology) pairs.
    """

    primitive: Primitive
    instances: int
    limit: int
    words: tuple[tuple[int, int], ...]
    topologies: tuple[tuple[int, Topology], ...]


class Lowered4(msgspec.Struct, frozen=True):
    """A lowered shader.  Frozen and hashable, as its program is.

    Uniform files: ``cb<slot>`` for each of ``constant_buffers``, I32 in rows of four, and ``icb``
    with ``immediates`` if the program has them.  ``units`` are by number.  ``forces_early``: depth
    and stencil tests precede the program.  ``per_sample``: it runs at sample frequency.
    ``memory_operations`` are by number, ``unordered`` the declared u#, ``shared`` the g#;
    ``threads`` is the size of a group along x, y and z.  Hull and domain programs: ``points_in``
    is the number of control points of a patch, ``registers`` the number of registers of a point.
    """

    program: Program
    inputs: tuple[Register, ...]
    outputs: tuple[Register, ...]
    constant_buffers: tuple[int, ...]
    immediates: tuple[int, ...]
    resources: tuple[Resource, ...]
    samplers: tuple[DeclaredSampler, ...]
    units: tuple[Unit, ...]
    kills: bool = False
    forces_early: bool = False
    per_sample: bool = False
    emission: Emission | None = None
    memory_operations: tuple[MemoryOperation, ...] = ()
    unordered: tuple[Resource, ...] = ()
    shared: tuple[SharedMemory, ...] = ()
    threads: tuple[int, int, int] = (0, 0, 0)
    points_in: int = 0
    registers: int = 1


Component = tuple[int, int]
"""Type of a register component: register number and component, 0 to 3."""


class Constants(msgspec.Struct, frozen=True):
    """A phase of a hull shader that computes patch constants, and how often it runs per patch."""

    shader: Lowered4
    instances: int


class LoweredHull(msgspec.Struct, frozen=True):
    """A hull shader, whose phases are programs.  Frozen and hashable, as these are.

    ``takes`` and ``makes`` are the numbers of control points of input and output patches.
    ``points`` is the control point phase; without one (None) the input points are passed on.
    ``constants`` are the patch constant phases in execution order.  ``registers`` is the number of
    registers of a point in the patch files.  ``most`` is the maximum tessellation factor.
    ``edges`` and ``inside`` are the (register, component) of the tessellation factors, U = 0
    first, for isolines the density first; None for one that the shader does not write.
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


# Limits of thread groups by shader model (SM4-5 tokens, "Compute shaders").


class GroupLimits(NamedTuple):
    """Limits: threads of a group, its threads along z, bytes of shared memory, number of u#."""

    threads: int
    z: int
    shared: int
    views: int


GROUP_LIMITS: dict[Level, GroupLimits] = {
    V4_0: GroupLimits(768, 1, 1 << 14, 1),
    V4_1: GroupLimits(768, 1, 1 << 14, 1),
    V5_0: GroupLimits(1024, 64, 1 << 15, 8),
}


def check_group(lowered: Lowered4, level: Level) -> None:
    """Raise ShaderError for a compute shader that exceeds the limits of its shader model."""
    limits, (x, y, z) = GROUP_LIMITS[level], lowered.threads
    shared = sum(4 * each.words for each in lowered.shared)
    complaints = (
        (not 1 <= x * y * z <= limits.threads, f"a group of {x} x {y} x {z} threads"),
        (z > limits.z, f"{z} threads along z"),
        (shared > limits.shared, f"{shared} bytes of shared memory"),
        *((u.number >= limits.views, f"u{u.number}") for u in lowered.unordered),
    )
    for broken, what in complaints:
        if broken:
            raise ShaderError(
                f"{what}, which shader model {level[0]}.{level[1]} has not", offset=0
            )

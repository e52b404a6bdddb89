"""Texture coordinates: passed on or generated, then through the stage's matrix.

Coordinates that are passed on have a 1 after the last component of the vertex, and nothing
after that: (u, v, 1) times the upper three rows translates by the third row.  Generated ones
are (x, y, z, 1).  Components the matrix does not make, or the vertex does not have where there
is no matrix, are those of (0, 0, 0, 1).
"""

from __future__ import annotations

from collections.abc import Callable

from dp2emu.d3d.enums import TexGen
from dp2emu.records import dataclass
from dp2emu.shader.builder import Builder
from dp2emu.shader.fixed.layout import MATRIX_SIZE
from dp2emu.shader.fixed.records import TextureOutput
from dp2emu.shader.fixed.registers import Registers
from dp2emu.shader.fixed.vectors import Vector, reflect, transform, unit
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value

ABSENT = (0.0, 0.0, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Eye:
    """Position and normal before the camera; a normal the vertex lacks is 0."""

    position: Vector | None
    normal: Vector


def texture_coordinates(
    registers: Registers, eye: Eye, stage: TextureOutput, matrix: int
) -> list[Value]:
    """Four coordinates; ``matrix`` is the number of the stage's matrix in the file."""
    b = registers.b
    if stage.source is TexGen.PASSTHRU:
        given = registers.input(f"texcoord{stage.set}", "xyzw"[: stage.components])
    else:
        given = list(_GENERATED[stage.source](b, eye))
    if stage.count:
        given = _transformed(registers, given, matrix, stage.count)
    return given + _constants(b)[len(given) :]


def _transformed(registers: Registers, given: list[Value], matrix: int, count: int) -> list[Value]:
    """The first ``count`` columns of the matrix; None stands for the 1 that follows."""
    row: list[Value | None] = [*given, None] if given else [*_constants(registers.b)]
    entries: list[Value] = []
    for number in range(len(row[:4])):
        entries += registers.element("texture", MATRIX_SIZE, matrix, count, 4 * number)
    return transform(row[:4], entries, count)


def _constants(b: Builder) -> list[Value]:
    return [b.constant(Type.F32, value) for value in ABSENT]


def _normal(b: Builder, eye: Eye) -> Vector:
    return eye.normal


def _position(b: Builder, eye: Eye) -> Vector:
    assert eye.position is not None
    return eye.position


def _reflection(b: Builder, eye: Eye) -> Vector:
    return reflect(unit(_position(b, eye)), eye.normal)


def _spheremap(b: Builder, eye: Eye) -> Vector:
    """x / m + 1/2, y / m + 1/2 of the reflection, where m = 2 sqrt(x x + y y + (z + 1)(z + 1))."""
    x, y, z = _reflection(b, eye)
    nearer = z + 1.0
    m = b.sqrt(x * x + y * y + nearer * nearer) * 2.0
    return x / m + 0.5, y / m + 0.5, b.constant(Type.F32, 0.0)


_GENERATED: dict[TexGen, Callable[[Builder, Eye], Vector]] = {
    TexGen.CAMERASPACENORMAL: _normal,
    TexGen.CAMERASPACEPOSITION: _position,
    TexGen.CAMERASPACEREFLECTIONVECTOR: _reflection,
    TexGen.SPHEREMAP: _spheremap,
}

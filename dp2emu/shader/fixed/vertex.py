"""Transform, lighting, texture coordinates, fog and point size as one program.

Inputs are vertex attributes by usage (``position0.x``, ``normal0.y``, ...), outputs those of
vertex programs: ``position0`` in clip space, ``color0``, ``color1``, ``texcoord<n>``, ``fog0.x``
the fog factor, ``psize0.x`` the point size before it is clamped, and ``clip<n>.x`` the distance
from the n-th clip plane that is on, negative outside.

Positions of all draws with the same matrices agree to the bit, whatever else a program does:
position x clip matrix, each component (x m1 + y m2) + z m3) + w m4.  With several matrices it is
the weighted sum of those, in their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from dp2emu.d3d.enums import FogMode
from dp2emu.records import dataclass
from dp2emu.shader.builder import Builder
from dp2emu.shader.fixed.fog import vertex_fog_factor
from dp2emu.shader.fixed.layout import MATRIX_SIZE, NORMAL_SIZE
from dp2emu.shader.fixed.lighting import Surface, light_colors
from dp2emu.shader.fixed.records import FixedVertex, IndexForm
from dp2emu.shader.fixed.registers import Number, Registers
from dp2emu.shader.fixed.texgen import Eye, texture_coordinates
from dp2emu.shader.fixed.vectors import Vector, dot, length, transform, unit
from dp2emu.shader.ir import Program, Stage
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value


@lru_cache(maxsize=256)
def vertex_program(key: FixedVertex) -> Program:
    """The program of a key; its uniform file is laid out by ``layout``."""
    b = Builder(Stage.VERTEX)
    registers = Registers.of(b, key)
    place = registers.input("position0")
    if key.tween:
        place = _tweened(registers, place, "position1")
    influences = _influences(registers)
    _output(b, "position0", _blended(registers, place, influences, "clip_matrix"))
    position = _eye_position(registers, place, influences) if key.eye else None
    normal = _eye_normal(registers, influences) if key.eye_normal else None
    _colors(registers, Surface(position, normal))
    _textures(registers, position, normal)
    _fog(registers, position)
    _point_size(registers, position)
    _clip_distances(registers, place, influences)
    return b.program()


@dataclass(frozen=True, slots=True)
class _Influence:
    """A world matrix and its weight; None is 1."""

    matrix: Number
    weight: Value | None


def _influences(registers: Registers) -> list[_Influence]:
    """The last weight is what the others leave of 1."""
    weights = registers.input("blendweight0", "xyzw"[: registers.key.weights])
    numbers = _MATRIX_NUMBERS[registers.key.indices](registers)
    if not weights:
        return [_Influence(numbers[0], None)]
    rest: Value = 1.0 - weights[0]
    for weight in weights[1:]:
        rest = rest - weight
    return [_Influence(*pair) for pair in zip(numbers, [*weights, rest], strict=True)]


def _in_order(registers: Registers) -> list[Number]:
    return list(range(registers.key.weights + 1))


def _bytes(registers: Registers) -> list[Number]:
    indices = registers.input("blendindices0", "xyzw"[: registers.key.weights + 1])
    return [registers.b.ftoi(index) for index in indices]


def _color_bytes(registers: Registers) -> list[Number]:
    """A D3DCOLOR's bytes lie in memory as blue, green, red, alpha."""
    b = registers.b
    colors = registers.input("blendindices0", "zyxw"[: registers.key.weights + 1])
    return [b.ftoi(b.round(color * 255.0)) for color in colors]


_MATRIX_NUMBERS = {
    IndexForm.NONE: _in_order,
    IndexForm.BYTES: _bytes,
    IndexForm.COLOR: _color_bytes,
}


def _tweened(registers: Registers, first: Sequence[Value], second: str) -> list[Value]:
    """first (1 - t) + second t."""
    (t,) = registers.load("tween", 1)
    others = registers.input(second, "xyzw"[: len(first)])
    rest = 1.0 - t
    return [x * rest + y * t for x, y in zip(first, others, strict=True)]


def _blended(
    registers: Registers, place: Sequence[Value], influences: list[_Influence], block: str
) -> list[Value]:
    """The position through a matrix of each influence, weighted; normals have nine scalars."""
    columns = len(place)
    size = MATRIX_SIZE if columns == 4 else NORMAL_SIZE
    result: list[Value] = []
    for influence in influences:
        matrix = registers.element(block, size, influence.matrix, size)
        moved = transform(place, matrix, columns)
        if influence.weight is not None:
            moved = [value * influence.weight for value in moved]
        result = [x + y for x, y in zip(result, moved, strict=True)] if result else moved
    return result


def _eye_position(
    registers: Registers, place: Sequence[Value], influences: list[_Influence]
) -> Vector:
    """Divided by its w."""
    x, y, z, w = _blended(registers, place, influences, "eye_matrix")
    return x / w, y / w, z / w


def _eye_normal(registers: Registers, influences: list[_Influence]) -> Vector:
    normal = registers.input("normal0", "xyz")
    if registers.key.tween:
        normal = _tweened(registers, normal, "normal1")
    x, y, z = _blended(registers, normal, influences, "normal_matrix")
    return unit((x, y, z)) if registers.key.normalize else (x, y, z)


def _output(b: Builder, name: str, values: Sequence[Value]) -> None:
    for component, value in zip("xyzw", values, strict=False):
        b.output(f"{name}.{component}", value)


def _colors(registers: Registers, surface: Surface) -> None:
    """Lit, or those of the vertex: without, white and transparent black."""
    b, key = registers.b, registers.key
    if key.lighting is not None:
        first, second = light_colors(registers, key.lighting, surface)
    else:
        first = _vertex_color(registers, "color0", key.diffuse, 1.0)
        second = _vertex_color(registers, "color1", key.specular, 0.0)
    _output(b, "color0", first)
    _output(b, "color1", second)


def _vertex_color(registers: Registers, name: str, present: bool, default: float) -> list[Value]:
    b = registers.b
    if not present:
        return [b.constant(Type.F32, default)] * 4
    return [b.saturate(value) for value in registers.input(name)]


def _textures(registers: Registers, position: Vector | None, normal: Vector | None) -> None:
    zero = registers.b.constant(Type.F32, 0.0)
    eye = Eye(position, normal or (zero, zero, zero))
    matrices = 0
    for number, stage in enumerate(registers.key.textures):
        coordinates = texture_coordinates(registers, eye, stage, matrices)
        _output(registers.b, f"texcoord{number}", coordinates)
        matrices += bool(stage.count)


def _fog(registers: Registers, position: Vector | None) -> None:
    """By the depth before the camera, on either side, or the distance from it."""
    b, key = registers.b, registers.key
    if key.fog is None:
        return
    if key.fog is FogMode.NONE:
        b.output("fog0.x", _vertex_color(registers, "color1", key.specular, 0.0)[3])
        return
    assert position is not None
    distance = length(position) if key.range_fog else b.abs(position[2])
    b.output("fog0.x", vertex_fog_factor(key.fog, distance, *registers.load("fog", 3)))


def _point_size(registers: Registers, position: Vector | None) -> None:
    """Scaled: size (height sqrt(1 / ((A + B d) + C d d))), d the distance from the camera."""
    b, key = registers.b, registers.key
    if not key.point_scale:
        if key.point_size:
            b.output("psize0.x", b.input("psize0.x"))
        return
    assert position is not None
    size, constant, linear, quadratic, height = registers.load("point", 5)
    if key.point_size:
        size = b.input("psize0.x")
    distance = length(position)
    shrink = 1.0 / (constant + linear * distance + quadratic * distance * distance)
    b.output("psize0.x", size * (height * b.sqrt(shrink)))


def _clip_distances(
    registers: Registers, place: Sequence[Value], influences: list[_Influence]
) -> None:
    if not registers.key.clip_planes:
        return
    world = _blended(registers, place, influences, "world_matrix")
    for number in range(registers.key.clip_planes):
        plane = registers.element("clip_plane", 4, number, 4)
        registers.b.output(f"clip{number}.x", dot(world, plane))

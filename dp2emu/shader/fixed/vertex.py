"""Fixed-function vertex programs: transform, lighting, texture coordinates, fog and point size.

Vector arithmetic sums from left to right.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache, reduce
from operator import add, sub

import msgspec

from dp2emu.d3d.enums import FogMode, LightType, MaterialColorSource, TexGen
from dp2emu.identity_cache import IdentityCache
from dp2emu.shader.builder import Builder
from dp2emu.shader.fixed import uniforms
from dp2emu.shader.fixed.fog import vertex_fog_factor
from dp2emu.shader.fixed.records import FixedVertex, IndexForm, Lighting, TextureOutput
from dp2emu.shader.functions import pow
from dp2emu.shader.ir import File, Program, Stage
from dp2emu.shader.types import Type
from dp2emu.shader.values import Number, Value, Variable

Vector = tuple[Value, Value, Value]


def total(terms: Sequence[Value]) -> Value:
    """Sum of terms from left to right: ((first + second) + third) + ..."""
    return reduce(add, terms)


def dot(x: Sequence[Value], y: Sequence[Value]) -> Value:
    """Dot product (x0 y0 + x1 y1) + x2 y2, and so on."""
    return total([a * b for a, b in zip(x, y, strict=True)])


def length(x: Sequence[Value]) -> Value:
    """Euclidean length."""
    return x[0].builder.sqrt(dot(x, x))


def scaled(x: Vector, factor: Number) -> Vector:
    """Scale a vector."""
    return x[0] * factor, x[1] * factor, x[2] * factor


def plus(x: Vector, y: Vector) -> Vector:
    """Add vectors."""
    return x[0] + y[0], x[1] + y[1], x[2] + y[2]


def minus(x: Vector, y: Vector) -> Vector:
    """Subtract vectors."""
    return x[0] - y[0], x[1] - y[1], x[2] - y[2]


def over(x: Vector, size: Value) -> Vector:
    """x times 1 / size; 0 if the size is 0."""
    b = size.builder
    return scaled(x, b.select(size > 0.0, 1.0 / size, 0.0))


def unit(x: Vector) -> Vector:
    """Normalise a vector; 0 stays 0."""
    return over(x, length(x))


def transform(x: Sequence[Value | None], matrix: Sequence[Value], columns: int) -> list[Value]:
    """Multiply the row vector x by a row-major matrix; None in x means 1."""
    rows = [matrix[row * columns : (row + 1) * columns] for row in range(len(x))]
    return [
        total([row[c] if a is None else a * row[c] for a, row in zip(x, rows, strict=True)])
        for c in range(columns)
    ]


def reflect(direction: Vector, normal: Vector) -> Vector:
    """Reflect a direction at a surface: direction - normal (2 normal . direction)."""
    return minus(direction, scaled(normal, dot(normal, direction) * 2.0))


# Inputs and uniform file.

MatrixIndex = Value | int
"""Index of a matrix or light: an int if constant, or an I32 that the program computes."""


class Registers(msgspec.Struct, frozen=True):
    """Access to inputs and uniforms of a program under construction; ``offsets`` has each block's
    offset in the uniform file, in scalars, by the block's name.
    """

    b: Builder
    key: FixedVertex
    file: File
    offsets: dict[str, int]

    @classmethod
    def of(cls, b: Builder, key: FixedVertex) -> Registers:
        """Declare, in the program of ``b``, the uniform file of a vertex program's key."""
        places = uniforms.uniform_layout(key)
        return cls(b, key, b.uniform(uniforms.FILE, Type.F32, places.size), places.offsets)

    def load(self, block: str, count: int, first: int = 0) -> list[Value]:
        """Load ``count`` scalars of a block from index ``first`` on."""
        start = self.offsets[block] + first
        return [self.b.load(self.file, start + place) for place in range(count)]

    def element(
        self, block: str, size: int, number: MatrixIndex, count: int, first: int = 0
    ) -> list[Value]:
        """Load ``count`` scalars, from index ``first`` on, of element ``number`` of a block.

        Each element of the block, such as a matrix, has ``size`` scalars.
        """
        if isinstance(number, int):
            return self.load(block, count, first + size * number)
        start = self.offsets[block] + first
        places = range(start, start + count)
        return [self.b.load(self.file, place, number, size) for place in places]

    def input(self, name: str, components: str = "xyzw") -> list[Value]:
        """Declare and read components of a vertex attribute."""
        return [self.b.input(f"{name}.{component}") for component in components]


# Lighting (Direct3D 9, "Mathematics of Lighting"), in eye space.
#
# For each light, with L the direction towards it, N the normal and a = attenuation x cone:
#
# * ambient += La a;  diffuse += Ld (N . L a), N . L clamped to 0..1
# * specular += Ls ((N . H)**power a) where both N . L and N . H exceed 0; H is halfway between L
#   and the direction towards the viewer
#
# Results, clamped to 0..1:
#
# * colour 0 = (emissive + ambient colour (D3DRS_AMBIENT + ambient)) + diffuse colour x diffuse,
#   with the alpha of the diffuse colour
# * colour 1 = specular colour x specular, with the alpha of the specular colour; 0 without
#   D3DRS_SPECULARENABLE
#
# Lights are summed by type (points, spots, directionals), then by number.  Products use mulz, so
# that an infinite attenuation of a black light gives 0 and not NaN.  A vertex without a normal
# gets ambient light only.

VIEWER = (0.0, 0.0, -1.0)
"""Unit vector in eye space toward the viewer if D3DRS_LOCALVIEWER is off: -z."""


class Surface(msgspec.Struct, frozen=True):
    """Eye-space position and normal of a vertex; None for one that is not computed."""

    position: Vector | None
    normal: Vector | None


class _Scene(msgspec.Struct, frozen=True):
    """Inputs of a vertex's lighting, and sums of light colours that lights are added to."""

    registers: Registers
    lighting: Lighting
    surface: Surface
    ambient: list[Variable]
    diffuse: list[Variable]
    specular: list[Variable]

    def field(self, light: MatrixIndex, name: str, count: int) -> list[Value]:
        """Load ``count`` scalars of the field ``name`` of a light."""
        size, first = uniforms.LIGHT_SIZE, uniforms.LIGHT[name]
        return self.registers.element("lights", size, light, count, first)

    def triple(self, light: MatrixIndex, name: str) -> Vector:
        """Load the field ``name`` of a light, a vector."""
        x, y, z = self.field(light, name, 3)
        return x, y, z


Incidence = tuple[Vector, Value | None]
"""Unit vector from the vertex to a light; the light's attenuation x cone factor, None for 1."""


def light_colors(
    registers: Registers, lighting: Lighting, surface: Surface
) -> tuple[list[Value], list[Value]]:
    """Return colours 0 and 1 of a lit vertex, four components each, clamped."""
    b = registers.b
    black = [[b.variable(Type.F32, 0.0) for _ in range(3)] for _ in range(2)]
    ambient = [b.variable(Type.F32, value) for value in registers.load("ambient", 3)]
    scene = _Scene(registers, lighting, surface, ambient, *black)
    for kind, first, count in lighting.runs:
        _add_lights(scene, kind, first, count)
    return _first_color(scene), _second_color(scene)


def _add_lights(scene: _Scene, kind: LightType, first: int, count: int) -> None:
    """Add ``count`` lights of a type, from number ``first`` on, to the light sums of ``scene``."""
    if count == 1:
        _add_light(scene, kind, first)
    if count < 2:
        return
    b = scene.registers.b
    number = b.variable(Type.I32, first)
    with b.loop(limit=count):
        _add_light(scene, kind, number.value)
        number.value = number.value + 1


def _add_light(scene: _Scene, kind: LightType, light: MatrixIndex) -> None:
    b, normal = scene.registers.b, scene.surface.normal
    toward, strength = _INCIDENCE[kind](scene, light)
    _add(scene.ambient, scene.field(light, "ambient", 3), strength)
    if normal is None:
        return
    cosine = dot(normal, toward)
    facing = b.saturate(cosine)
    _add(scene.diffuse, scene.field(light, "diffuse", 3), _times(facing, strength))
    if scene.lighting.specular:
        glance = _specular(scene, toward, cosine)
        _add(scene.specular, scene.field(light, "specular", 3), _times(glance, strength))


def _times(x: Value, factor: Value | None) -> Value:
    return x if factor is None else x.builder.mulz(x, factor)


def _add(sums: Sequence[Variable], color: Sequence[Value], factor: Value | None) -> None:
    for channel, value in zip(sums, color, strict=True):
        channel.value = channel.value + _times(value, factor)


def _specular(scene: _Scene, toward: Vector, cosine: Value) -> Value:
    """Return (N . H)**power, or 0 if N . H or ``cosine``, N . L, is not positive."""
    b, position, normal = scene.registers.b, scene.surface.position, scene.surface.normal
    assert normal is not None
    if scene.lighting.local_viewer:
        assert position is not None
        halfway = unit(minus(toward, unit(position)))
    else:
        x, y, z = (b.constant(Type.F32, component) for component in VIEWER)
        halfway = unit(plus(toward, (x, y, z)))
    glance = dot(normal, halfway)
    (power,) = scene.registers.load("material", 1, uniforms.MATERIAL["power"])
    return b.select((cosine > 0.0) & (glance > 0.0), pow(glance, power), 0.0)


def _directional(scene: _Scene, light: MatrixIndex) -> Incidence:
    return scene.triple(light, "toward"), None


def _point(scene: _Scene, light: MatrixIndex) -> Incidence:
    """Return the unit vector from the vertex to a point light, and the attenuation.

    Attenuation is 1 / ((a0 + a1 d) + a2 d d) up to the light's range, 0 beyond.
    """
    b, position = scene.registers.b, scene.surface.position
    assert position is not None
    way = minus(scene.triple(light, "position"), position)
    distance = length(way)
    constant, linear, quadratic = scene.field(light, "attenuation", 3)
    reach = scene.field(light, "range", 1)[0]
    strength = 1.0 / (constant + linear * distance + quadratic * distance * distance)
    return over(way, distance), b.select(distance <= reach, strength, 0.0)


def _spot(scene: _Scene, light: MatrixIndex) -> Incidence:
    """Return the unit vector from the vertex to a spot light, and attenuation times cone factor.

    The factor is ((rho - cos phi/2) / (cos theta/2 - cos phi/2))**falloff, where rho is the cosine
    between the light's axis and the direction to the vertex; inside theta it is 1, outside phi 0.
    """
    b = scene.registers.b
    toward, strength = _point(scene, light)
    rho = dot(toward, scene.triple(light, "toward"))
    inner, outer, falloff = (
        scene.field(light, name, 1)[0] for name in ("cos_theta", "cos_phi", "falloff")
    )
    fading = pow((rho - outer) / (inner - outer), falloff)
    cone = b.select(rho > inner, 1.0, b.select(rho > outer, fading, 0.0))
    return toward, _times(cone, strength)


_INCIDENCE: dict[LightType, Callable[[_Scene, MatrixIndex], Incidence]] = {
    LightType.POINT: _point,
    LightType.SPOT: _spot,
    LightType.DIRECTIONAL: _directional,
}

_VERTEX_COLORS = {MaterialColorSource.COLOR1: "color0", MaterialColorSource.COLOR2: "color1"}


def _material(scene: _Scene, name: str, source: MaterialColorSource) -> list[Value]:
    """Return a material colour, or the vertex colour that replaces it."""
    if source in _VERTEX_COLORS:
        return scene.registers.input(_VERTEX_COLORS[source])
    return scene.registers.load("material", 4, uniforms.MATERIAL[name])


def _first_color(scene: _Scene) -> list[Value]:
    b, lighting = scene.registers.b, scene.lighting
    emissive = _material(scene, "emissive", lighting.emissive_source)
    ambient = _material(scene, "ambient", lighting.ambient_source)
    diffuse = _material(scene, "diffuse", lighting.diffuse_source)
    color = [
        (emissive[c] + b.mulz(ambient[c], scene.ambient[c].value))
        + b.mulz(diffuse[c], scene.diffuse[c].value)
        for c in range(3)
    ]
    return [b.saturate(value) for value in (*color, diffuse[3])]


def _second_color(scene: _Scene) -> list[Value]:
    b = scene.registers.b
    if not scene.lighting.specular:
        return [b.constant(Type.F32, 0.0)] * 4
    *color, alpha = _material(scene, "specular", scene.lighting.specular_source)
    lit = [b.mulz(c, s.value) for c, s in zip(color, scene.specular, strict=True)]
    return [b.saturate(value) for value in (*lit, alpha)]


# Texture coordinates: passed through or generated, then transformed by the stage's matrix.
#
# Passed-through coordinates are extended by a single 1: (u, v, 1) times the upper three rows
# translates by the third row.  Generated ones are (x, y, z, 1).  Missing components default to
# (0, 0, 0, 1).

ABSENT = (0.0, 0.0, 0.0, 1.0)


def texture_coordinates(
    registers: Registers, surface: Surface, stage: TextureOutput, matrix: int
) -> list[Value]:
    """Return a stage's four texture coordinates; ``matrix`` is the index of its matrix."""
    b = registers.b
    if stage.source is TexGen.PASSTHRU:
        given = registers.input(f"texcoord{stage.set}", "xyzw"[: stage.components])
    else:
        given = list(_GENERATED[stage.source](b, surface))
    if stage.count:
        given = _transformed(registers, given, matrix, stage.count)
    return given + _constants(b)[len(given) :]


def _transformed(registers: Registers, given: list[Value], matrix: int, count: int) -> list[Value]:
    """Return ``count`` coordinates: row vector (``given``, 1) times a texture matrix."""
    row: list[Value | None] = [*given, None] if given else [*_constants(registers.b)]
    entries: list[Value] = []
    for number in range(len(row[:4])):
        entries += registers.element("texture", uniforms.MATRIX_SIZE, matrix, count, 4 * number)
    return transform(row[:4], entries, count)


def _constants(b: Builder) -> list[Value]:
    return [b.constant(Type.F32, value) for value in ABSENT]


def _normal(b: Builder, surface: Surface) -> Vector:
    """Return the eye-space normal of a vertex; a zero vector if none is computed."""
    return surface.normal or (b.constant(Type.F32, 0.0),) * 3


def _position(b: Builder, surface: Surface) -> Vector:
    assert surface.position is not None
    return surface.position


def _reflection(b: Builder, surface: Surface) -> Vector:
    return reflect(unit(_position(b, surface)), _normal(b, surface))


def _spheremap(b: Builder, surface: Surface) -> Vector:
    """Return the sphere map coordinates x / m + 1/2, y / m + 1/2 of the reflection vector.

    m is 2 sqrt(x x + y y + (z + 1)(z + 1)).
    """
    x, y, z = _reflection(b, surface)
    nearer = z + 1.0
    m = b.sqrt(x * x + y * y + nearer * nearer) * 2.0
    return x / m + 0.5, y / m + 0.5, b.constant(Type.F32, 0.0)


_GENERATED: dict[TexGen, Callable[[Builder, Surface], Vector]] = {
    TexGen.CAMERASPACENORMAL: _normal,
    TexGen.CAMERASPACEPOSITION: _position,
    TexGen.CAMERASPACEREFLECTIONVECTOR: _reflection,
    TexGen.SPHEREMAP: _spheremap,
}


# The program.
#
# Inputs are vertex attributes by usage (``position0.x``, ``normal0.y``, ...); outputs are
# ``position0`` in clip space, ``color0``, ``color1``, ``texcoord<n>``, ``fog0.x`` the fog factor,
# ``psize0.x`` the unclamped point size, and ``clip<n>.x`` the distance from the n-th enabled clip
# plane, negative outside.
#
# Positions are invariant: draws with the same matrices agree to the bit whatever else is enabled.
# Each component of position x clip matrix is ((x m1 + y m2) + z m3) + w m4; vertex blending sums
# the weighted products in order.


@lru_cache(maxsize=256)
def vertex_program(key: FixedVertex) -> Program:
    """Return the program of a key; ``uniform_layout`` lays out its uniform file."""
    b = Builder(Stage.VERTEX)
    registers = Registers.of(b, key)
    place = registers.input("position0")
    if key.tween:
        place = _tweened(registers, place, "position1")
    influences = _influences(registers)
    _output(b, "position0", _blended(registers, place, influences, "clip_matrix"))
    position = _eye_position(registers, place, influences) if key.eye else None
    normal = _eye_normal(registers, influences) if key.eye_normal else None
    surface = Surface(position, normal)
    _colors(registers, surface)
    _textures(registers, surface)
    _fog(registers, position)
    _point_size(registers, position)
    _clip_distances(registers, place, influences)
    program = b.program()
    _KEYS.put((program,), (), key)
    return program


_KEYS: IdentityCache[FixedVertex] = IdentityCache()


def key_of(program: Program) -> FixedVertex | None:
    """Return the key of a program that ``vertex_program`` made, None of another one."""
    with suppress(KeyError):
        return _KEYS.find((program,))
    return None


class _Influence(msgspec.Struct, frozen=True):
    """A world matrix that acts on a vertex: its number, and its blend weight; weight None is 1."""

    matrix: MatrixIndex
    weight: Value | None


def _influences(registers: Registers) -> list[_Influence]:
    """Return a vertex's matrices and blend weights; the last weight is 1 minus the others."""
    weights = registers.input("blendweight0", "xyzw"[: registers.key.weights])
    numbers = _MATRIX_NUMBERS[registers.key.indices](registers)
    if not weights:
        return [_Influence(numbers[0], None)]
    rest = reduce(sub, weights[1:], 1.0 - weights[0])
    return [_Influence(*pair) for pair in zip(numbers, [*weights, rest], strict=True)]


def _in_order(registers: Registers) -> list[MatrixIndex]:
    return list(range(registers.key.weights + 1))


def _bytes(registers: Registers) -> list[MatrixIndex]:
    indices = registers.input("blendindices0", "xyzw"[: registers.key.weights + 1])
    return [registers.b.ftoi(index) for index in indices]


def _color_bytes(registers: Registers) -> list[MatrixIndex]:
    """Return the matrix indices in a D3DCOLOR, in memory order: blue, green, red, alpha."""
    b = registers.b
    colors = registers.input("blendindices0", "zyxw"[: registers.key.weights + 1])
    return [b.ftoi(b.round(color * 255.0)) for color in colors]


_MATRIX_NUMBERS = {
    IndexForm.NONE: _in_order,
    IndexForm.BYTES: _bytes,
    IndexForm.COLOR: _color_bytes,
}


def _tweened(registers: Registers, first: Sequence[Value], second: str) -> list[Value]:
    """Return ``first`` (1 - t) + the input named ``second`` times t, D3DRS_TWEENFACTOR."""
    (t,) = registers.load("tween", 1)
    others = registers.input(second, "xyzw"[: len(first)])
    rest = 1.0 - t
    return [x * rest + y * t for x, y in zip(first, others, strict=True)]


def _blended(
    registers: Registers, place: Sequence[Value], influences: list[_Influence], block: str
) -> list[Value]:
    """Transform a position, or normal of three components, by the weighted matrices of a block."""
    columns = len(place)
    size = uniforms.MATRIX_SIZE if columns == 4 else uniforms.NORMAL_SIZE
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
    """Return the eye-space position, divided by w."""
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
    """Output colours 0 and 1, lit or passed through; defaults are white and transparent black."""
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


def _textures(registers: Registers, surface: Surface) -> None:
    matrices = 0
    for number, stage in enumerate(registers.key.textures):
        coordinates = texture_coordinates(registers, surface, stage, matrices)
        _output(registers.b, f"texcoord{number}", coordinates)
        matrices += bool(stage.count)


def _fog(registers: Registers, position: Vector | None) -> None:
    """Output the fog factor by eye-space depth (absolute value) or distance."""
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
    """Output the point size, scaled by height sqrt(1 / ((A + B d) + C d d)) with d the eye
    distance.
    """
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

"""What the parts of a vertex program share: the builder, its inputs and its uniform file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from dp2emu.d3d.enums import FogMode, LightType, MaterialColorSource, TexGen
from dp2emu.records import dataclass
from dp2emu.shader.builder import Builder
from dp2emu.shader.fixed.fog import vertex_fog_factor
from dp2emu.shader.fixed.layout import (
    FILE,
    LIGHT,
    LIGHT_SIZE,
    MATERIAL,
    MATRIX_SIZE,
    NORMAL_SIZE,
    layout,
)
from dp2emu.shader.fixed.records import FixedVertex, IndexForm, Lighting, TextureOutput
from dp2emu.shader.fixed.vectors import (
    Vector,
    dot,
    length,
    minus,
    over,
    plus,
    reflect,
    transform,
    unit,
)
from dp2emu.shader.functions import pow
from dp2emu.shader.ir import File, Program, Stage
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value, Variable

Number = Value | int
"""Of a matrix or a light: known when the program is made, or an I32 that it computes."""


@dataclass(frozen=True, slots=True)
class Registers:
    """The builder, the key, the declared file and the offsets of its blocks."""

    b: Builder
    key: FixedVertex
    file: File
    offsets: dict[str, int]

    @classmethod
    def of(cls, b: Builder, key: FixedVertex) -> Registers:
        """Declares the file."""
        places = layout(key)
        return cls(b, key, b.uniform(FILE, Type.F32, places.size), places.offsets)

    def load(self, block: str, count: int, first: int = 0) -> list[Value]:
        """Scalars ``first`` and following of a block."""
        start = self.offsets[block] + first
        return [self.b.load(self.file, start + place) for place in range(count)]

    def element(
        self, block: str, size: int, number: Number, count: int, first: int = 0
    ) -> list[Value]:
        """The same of element ``number`` of a block whose elements have ``size`` scalars."""
        if isinstance(number, int):
            return self.load(block, count, first + size * number)
        start = self.offsets[block] + first
        places = range(start, start + count)
        return [self.b.load(self.file, place, number, size) for place in places]

    def input(self, name: str, components: str = "xyzw") -> list[Value]:
        """Components of a vertex attribute."""
        return [self.b.input(f"{name}.{component}") for component in components]

    def triple(self, block: str, size: int, number: Number, first: int) -> Vector:
        """Three scalars of an element."""
        x, y, z = self.element(block, size, number, 3, first)
        return x, y, z


# Lighting (Direct3D 9, "Mathematics of Lighting"), in eye space.
#
# For each light, with L the direction towards it, N the normal and a = attenuation x cone:
#
# * ambient += La a;  diffuse += Ld (N . L a), N . L clamped to 0..1
# * specular += Ls ((N . H)**power a) where both N . L and N . H exceed 0; H is halfway between L
# and the direction towards the viewer
#
# and in the end, clamped to 0..1:
#
# * colour 0 = (emissive + ambient colour (D3DRS_AMBIENT + ambient)) + diffuse colour x diffuse,
# with the alpha of the diffuse colour
# * colour 1 = specular colour x specular, with the alpha of the specular colour; 0 without
# D3DRS_SPECULARENABLE
#
# Lights are summed by type, points, spots, directionals, each in the order of their numbers.  In
# products with a colour or a factor 0 times anything is 0, so that an infinite attenuation does
# not put out what it does not reach.  A vertex without a normal gets ambient light only.

VIEWER = (0.0, 0.0, -1.0)
"""Direction towards a viewer that is not local: the camera looks along +z."""


@dataclass(frozen=True, slots=True)
class Surface:
    """What is lit: eye space position and normal, where they are computed."""

    position: Vector | None
    normal: Vector | None


@dataclass(frozen=True, slots=True)
class _Sums:
    """Red, green and blue of what the lights gave so far."""

    ambient: list[Variable]
    diffuse: list[Variable]
    specular: list[Variable]


@dataclass(frozen=True, slots=True)
class _Scene:
    """What every light needs."""

    registers: Registers
    lighting: Lighting
    surface: Surface
    sums: _Sums

    def field(self, light: Number, name: str, count: int) -> list[Value]:
        """Scalars of a light."""
        return self.registers.element("lights", LIGHT_SIZE, light, count, LIGHT[name])

    def triple(self, light: Number, name: str) -> Vector:
        """A vector of a light."""
        return self.registers.triple("lights", LIGHT_SIZE, light, LIGHT[name])


Incidence = tuple[Vector, Value | None]
"""Unit vector towards the light, and attenuation x cone; None is 1."""


def light_colors(
    registers: Registers, lighting: Lighting, surface: Surface
) -> tuple[list[Value], list[Value]]:
    """Colours 0 and 1 of a lit vertex, four components each, clamped."""
    b = registers.b
    black = [[b.variable(Type.F32, 0.0) for _ in range(3)] for _ in range(2)]
    ambient = [b.variable(Type.F32, value) for value in registers.load("ambient", 3)]
    scene = _Scene(registers, lighting, surface, _Sums(ambient, *black))
    for kind, first, count in lighting.runs:
        _add_run(scene, _INCIDENCE[kind], first, count)
    return _first_color(scene), _second_color(scene)


def _add_run(
    scene: _Scene, incidence: Callable[[_Scene, Number], Incidence], first: int, count: int
) -> None:
    """A single light in line, more in a loop."""
    if count == 1:
        _add_light(scene, incidence, first)
    if count < 2:
        return
    b = scene.registers.b
    number = b.variable(Type.I32, first)
    with b.loop(limit=count):
        _add_light(scene, incidence, number.value)
        number.value = number.value + 1


def _add_light(
    scene: _Scene, incidence: Callable[[_Scene, Number], Incidence], light: Number
) -> None:
    b, normal = scene.registers.b, scene.surface.normal
    toward, strength = incidence(scene, light)
    _add(scene.sums.ambient, scene.field(light, "ambient", 3), strength)
    if normal is None:
        return
    cosine = dot(normal, toward)
    facing = b.saturate(cosine)
    _add(scene.sums.diffuse, scene.field(light, "diffuse", 3), _times(facing, strength))
    if scene.lighting.specular:
        glance = _specular(scene, toward, cosine)
        _add(scene.sums.specular, scene.field(light, "specular", 3), _times(glance, strength))


def _times(x: Value, factor: Value | None) -> Value:
    return x if factor is None else x.builder.mulz(x, factor)


def _add(sums: Sequence[Variable], color: Sequence[Value], factor: Value | None) -> None:
    for channel, value in zip(sums, color, strict=True):
        channel.value = channel.value + _times(value, factor)


def _specular(scene: _Scene, toward: Vector, cosine: Value) -> Value:
    """(N . H)**power, or 0."""
    b, position, normal = scene.registers.b, scene.surface.position, scene.surface.normal
    assert normal is not None
    if scene.lighting.local_viewer:
        assert position is not None
        halfway = unit(minus(toward, unit(position)))
    else:
        x, y, z = VIEWER
        halfway = unit(
            plus(
                toward, (b.constant(Type.F32, x), b.constant(Type.F32, y), b.constant(Type.F32, z))
            )
        )
    glance = dot(normal, halfway)
    (power,) = scene.registers.load("material", 1, MATERIAL["power"])
    return b.select((cosine > 0.0) & (glance > 0.0), pow(glance, power), 0.0)


def _directional(scene: _Scene, light: Number) -> Incidence:
    return scene.triple(light, "toward"), None


def _point(scene: _Scene, light: Number) -> Incidence:
    """1 / ((a0 + a1 d) + a2 d d) up to the range, 0 beyond."""
    b, position = scene.registers.b, scene.surface.position
    assert position is not None
    way = minus(scene.triple(light, "position"), position)
    distance = length(way)
    constant, linear, quadratic = scene.field(light, "attenuation", 3)
    reach = scene.field(light, "range", 1)[0]
    strength = 1.0 / (constant + linear * distance + quadratic * distance * distance)
    return over(way, distance), b.select(distance <= reach, strength, 0.0)


def _spot(scene: _Scene, light: Number) -> Incidence:
    """A point light, times ((rho - cos phi/2) / (cos theta/2 - cos phi/2))**falloff.

    rho is the cosine between the light's direction and the way from it; inside of theta the
    factor is 1, outside of phi it is 0.
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


_INCIDENCE: dict[LightType, Callable[[_Scene, Number], Incidence]] = {
    LightType.POINT: _point,
    LightType.SPOT: _spot,
    LightType.DIRECTIONAL: _directional,
}

_VERTEX_COLORS = {MaterialColorSource.COLOR1: "color0", MaterialColorSource.COLOR2: "color1"}


def _material(scene: _Scene, name: str, source: MaterialColorSource) -> list[Value]:
    """A colour of the material, or the vertex colour that replaces it."""
    if source in _VERTEX_COLORS:
        return scene.registers.input(_VERTEX_COLORS[source])
    return scene.registers.load("material", 4, MATERIAL[name])


def _first_color(scene: _Scene) -> list[Value]:
    b, lighting, sums = scene.registers.b, scene.lighting, scene.sums
    emissive = _material(scene, "emissive", lighting.emissive_source)
    ambient = _material(scene, "ambient", lighting.ambient_source)
    diffuse = _material(scene, "diffuse", lighting.diffuse_source)
    color = [
        (emissive[c] + b.mulz(ambient[c], sums.ambient[c].value))
        + b.mulz(diffuse[c], sums.diffuse[c].value)
        for c in range(3)
    ]
    return [b.saturate(value) for value in (*color, diffuse[3])]


def _second_color(scene: _Scene) -> list[Value]:
    b = scene.registers.b
    if not scene.lighting.specular:
        return [b.constant(Type.F32, 0.0)] * 4
    *color, alpha = _material(scene, "specular", scene.lighting.specular_source)
    lit = [b.mulz(c, s.value) for c, s in zip(color, scene.sums.specular, strict=True)]
    return [b.saturate(value) for value in (*lit, alpha)]


# Texture coordinates: passed on or generated, then through the stage's matrix.
#
# Coordinates that are passed on have a 1 after the last component of the vertex, and nothing
# after that: (u, v, 1) times the upper three rows translates by the third row.  Generated ones
# are (x, y, z, 1).  Components the matrix does not make, or the vertex does not have where there
# is no matrix, are those of (0, 0, 0, 1).

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


# Transform, lighting, texture coordinates, fog and point size as one program.
#
# Inputs are vertex attributes by usage (``position0.x``, ``normal0.y``, ...), outputs those of
# vertex programs: ``position0`` in clip space, ``color0``, ``color1``, ``texcoord<n>``, ``fog0.x``
# the fog factor, ``psize0.x`` the point size before it is clamped, and ``clip<n>.x`` the distance
# from the n-th clip plane that is on, negative outside.
#
# Positions of all draws with the same matrices agree to the bit, whatever else a program does:
# position x clip matrix, each component (x m1 + y m2) + z m3) + w m4.  With several matrices it is
# the weighted sum of those, in their order.


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

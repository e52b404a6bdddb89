"""Lighting (Direct3D 9, "Mathematics of Lighting"), in eye space.

For each light, with L the direction towards it, N the normal and a = attenuation x cone:

* ambient += La a;  diffuse += Ld (N . L a), N . L clamped to 0..1
* specular += Ls ((N . H)**power a) where both N . L and N . H exceed 0; H is halfway between L
  and the direction towards the viewer

and in the end, clamped to 0..1:

* colour 0 = (emissive + ambient colour (D3DRS_AMBIENT + ambient)) + diffuse colour x diffuse,
  with the alpha of the diffuse colour
* colour 1 = specular colour x specular, with the alpha of the specular colour; 0 without
  D3DRS_SPECULARENABLE

Lights are summed by type, points, spots, directionals, each in the order of their numbers.  In
products with a colour or a factor 0 times anything is 0, so that an infinite attenuation does
not put out what it does not reach.  A vertex without a normal gets ambient light only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dp2emu.d3d.enums import LightType, MaterialColorSource
from dp2emu.records import dataclass
from dp2emu.shader.fixed.layout import LIGHT, LIGHT_SIZE, MATERIAL
from dp2emu.shader.fixed.records import Lighting
from dp2emu.shader.fixed.registers import Number, Registers
from dp2emu.shader.fixed.vectors import Vector, dot, length, minus, over, plus, unit
from dp2emu.shader.functions import pow
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value, Variable

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

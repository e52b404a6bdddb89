"""Cubes: from a direction to a face and the place on it (Direct3D 9 cubic environment mapping).

The face is that of the largest component; x goes before y and y before z where they are equal.
On the face a coordinate is (across / major + 1) / 2.  Filters stay inside the face.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import pairwise

from dp2emu.d3d.enums import TextureFilter
from dp2emu.records import dataclass
from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Lod, Program, Stage, TextureKind
from dp2emu.shader.sampling import COMPONENTS
from dp2emu.shader.texture import seams
from dp2emu.shader.texture.address import FRACTION_BITS, ONE
from dp2emu.shader.texture.bindings import COLUMN_WEIGHTS, CUBE_FACES, LimitField, NumberField
from dp2emu.shader.texture.detail import (
    Footprint,
    Gradient,
    clamped,
    footprint,
    in_steps,
    level_from,
    nearest,
    probes,
)
from dp2emu.shader.texture.fields import Source
from dp2emu.shader.texture.filters import LINEAR, Kernel, Texel, Weights, between, kernel_of
from dp2emu.shader.texture.reading import SIDES, Level, level_field, level_of, read
from dp2emu.shader.texture.records import SamplerKey
from dp2emu.shader.types import Type
from dp2emu.shader.values import Number, Value, Variable

Pair = tuple[Value, Value]


Vector = tuple[Value, ...]
"""Three components."""


@dataclass(frozen=True, slots=True)
class Face:
    """The face a direction hits.  ``number`` is I32, 0 to 5 for +X -X +Y -Y +Z -Z; ``along_x`` and
    ``along_y`` say which component is the major one, and ``negative`` that it is below 0.
    """

    number: Value
    along_x: Value
    along_y: Value
    negative: Value

    def turned(self, vector: Vector) -> Vector:
        """Components across the face, down the face, and out of it."""
        x, y, z = vector
        b = x.builder
        across_x = b.select(self.negative, z, -z)
        across_z = b.select(self.negative, -x, x)
        down_y = b.select(self.negative, -z, z)
        out = b.select(self.along_x, x, b.select(self.along_y, y, z))
        return (
            b.select(self.along_x, across_x, b.select(self.along_y, x, across_z)),
            b.select(self.along_y & ~self.along_x, down_y, -y),
            b.select(self.negative, -out, out),
        )


def face_of(direction: Vector) -> Face:
    """Which face a direction hits."""
    x, y, z = direction
    b = x.builder
    size_x, size_y, size_z = (b.abs(each) for each in direction)
    along_x = (size_x >= size_y) & (size_x >= size_z)
    along_y = ~along_x & (size_y >= size_z)
    out = b.select(along_x, x, b.select(along_y, y, z))
    negative = out < 0.0
    axis = b.select(
        along_x, b.constant(Type.I32, 0), b.select(along_y, b.constant(Type.I32, 2), 4)
    )
    return Face(axis + b.select(negative, b.constant(Type.I32, 1), 0), along_x, along_y, negative)


def place_on(face: Face, direction: Vector) -> Pair:
    """The coordinates on the face, 0 to 1."""
    across, down, out = face.turned(direction)
    return across / out * 0.5 + 0.5, down / out * 0.5 + 0.5


def slope_on(face: Face, direction: Vector, change: Vector) -> Pair:
    """How the coordinates change with the direction: half of (across' - q out') / out, where q is
    across / out, on the plane of the face whichever face the neighbour hits.
    """
    across, down, out = face.turned(direction)
    across_change, down_change, out_change = face.turned(change)
    return (
        _quotient_slope(across, out, across_change, out_change),
        _quotient_slope(down, out, down_change, out_change),
    )


def _quotient_slope(part: Value, out: Value, part_change: Value, out_change: Value) -> Value:
    return (part_change - part / out * out_change) / out * 0.5


# D3DTEXF_CONVOLUTIONMONO: a kernel of up to 7 x 7 texels around a place.
#
# The kernel's texels have weights, a product of one for the column and one for the row, and lie
# anywhere on those of the texture: each is mixed from its neighbours there.  The sum is divided by
# the number of texels in the kernel.  Source: driver documentation of SetConvolutionKernelMono.


def convolved(source: Source, coordinates: Sequence[Value], level: Level) -> Texel:
    """What the kernel of the source's key makes of a level."""
    width, height = source.key.kernel
    kernels = (
        _convolution_kernel(source, 0, width),
        _convolution_kernel(source, COLUMN_WEIGHTS, height),
    )
    red, green, blue, alpha = (
        channel / float(width * height) if isinstance(channel, Value) else channel
        for channel in read(source, kernels, coordinates, level)
    )
    return red, green, blue, alpha


def _convolution_kernel(source: Source, first: int, size: int) -> Kernel:
    """``size`` texels along an axis, whose weights lie from ``first`` on."""
    given = [source.b.load(source.files.weights, first + number) for number in range(size)]

    def weights(f: Value) -> Weights:
        """Each weight is shared by two texels: (1 - f) to its own, f to the next."""
        rest = 1.0 - f
        shared = (one * f + other * rest for one, other in pairwise(given))
        return given[0] * rest, *shared, given[-1] * f

    return Kernel(tuple(range(size + 1)), weights, back=size)


# The program of a sampler, put together from its parts.
#
# Inputs ``coordinate.x`` to ``coordinate.z``, as many as the kind has; ``slice.x`` of an array and
# ``reference.x`` to compare with; then ``lod.x`` (BIAS and EXPLICIT), or ``ddx.x`` and so on and
# ``ddy.x`` and so on (GRADIENT).  Outputs ``texel.x`` to
# ``texel.w`` are red, green, blue and alpha.  Files are those of ``bindings``.
#
# The rules are those of Direct3D 9's texldl: bias is added, a level at or below 0 is magnified,
# and the most detailed level clamps only then.  Without mip filter that most detailed level is
# read.


@lru_cache(maxsize=1 << 8)
def sampler_program(key: SamplerKey, lod: Lod, stage: Stage) -> Program:
    """Raises Unsupported for formats that are no textures here.

    In a vertex program the level of detail is EXPLICIT or from a GRADIENT.
    """
    b = Builder(stage)
    result = Sampling.of(b, key, lod).result()
    for component, value in zip(COMPONENTS, result, strict=True):
        b.output(f"texel.{component}", value)
    return b.program()


def needs_detail(key: SamplerKey) -> bool:
    """Whether the level of detail makes a difference to what is read."""
    return not key.convolves and (_mipmapped(key) or _minifies_otherwise(key) or key.ties)


def _mipmapped(key: SamplerKey) -> bool:
    return key.levels and key.mip is not TextureFilter.NONE


def _minifies_otherwise(key: SamplerKey) -> bool:
    return _kernel(key, key.mag) is not _kernel(key, key.min) or _anisotropic(key)


def _kernel(key: SamplerKey, filter: TextureFilter) -> Kernel:
    return kernel_of(filter, key.kind.axes)


def _anisotropic(key: SamplerKey) -> bool:
    return key.min is TextureFilter.ANISOTROPIC and key.anisotropy > 1


def _vector(b: Builder, name: str, kind: TextureKind) -> tuple[Value, ...]:
    return tuple(b.input(f"{name}.{component}") for component in COMPONENTS[: kind.coordinates])


def _place(b: Builder, kind: TextureKind) -> tuple[tuple[Value, ...], Face | None]:
    """Coordinates along the axes of a level, and which face of a cube they are on."""
    given = _vector(b, "coordinate", kind)
    if kind is not TextureKind.CUBE:
        return given[: kind.axes], None
    face = face_of(given)
    return place_on(face, given), face


@dataclass(frozen=True, slots=True)
class Sampling:
    """A sampler being put together, and the place it samples at."""

    source: Source
    lod: Lod
    coordinates: tuple[Value, ...]
    face: Face | None
    moves: tuple[Value | None, ...] = (None, None, None)

    @classmethod
    def of(cls, b: Builder, key: SamplerKey, lod: Lod) -> Sampling:
        """At the coordinates that are inputs.  Raises Unsupported for formats of no textures."""
        return cls(Source.of(b, key), lod, *_place(b, key.kind))

    @property
    def b(self) -> Builder:
        """The program that is written."""
        return self.source.b

    @property
    def key(self) -> SamplerKey:
        """What the program is written for."""
        return self.source.key

    def result(self) -> Texel:
        """Level of detail, choice of filter, reads."""
        if self.key.convolves:
            return convolved(self.source, self.coordinates, self.row(self.limit(LimitField.FIRST)))
        if self.key.ties and self.lod is not Lod.EXPLICIT:
            return replace(self, moves=self._moving())._filtered()
        return self._filtered()

    def _moving(self) -> tuple[Value, ...]:
        """Which coordinates change from pixel to pixel."""
        right, down = self._gradient()
        return tuple(x.ne(0.0) | y.ne(0.0) for x, y in zip(right, down, strict=True))

    def _filtered(self) -> Texel:
        kernel = _kernel(self.key, self.key.min)
        if not (_mipmapped(self.key) or _minifies_otherwise(self.key)):
            return self._read(kernel, self.limit(LimitField.FIRST))
        covered = None if self.lod is Lod.EXPLICIT else self.footprint()
        level = self.b.input("lod.x") if covered is None else level_from(covered.longest)
        steps = self._steps(level)
        if not _minifies_otherwise(self.key):
            return self._mipmapped(kernel, steps)
        found = [self.b.variable(Type.F32) for _ in COMPONENTS]
        with self.b.if_(steps <= 0):
            _assign(
                found, self._read(_kernel(self.key, self.key.mag), self.limit(LimitField.FIRST))
            )
        with self.b.else_():
            if covered is None or not _anisotropic(self.key):
                _assign(found, self._mipmapped(kernel, steps))
            else:
                _assign(found, self._along(covered))
        return _values(found)

    def limit(self, field: LimitField) -> Value:
        """One of the integers of the sampler."""
        return self.b.load(self.source.files.limits, field)

    def biased(self, level: Value) -> Value:
        """The level plus an operand's bias plus the sampler's."""
        if self.lod is Lod.BIAS:
            level = level + self.b.input("lod.x")
        return level + self.number(NumberField.BIAS)

    def _steps(self, level: Value) -> Value:
        """The biased level in 1/256, in the sampler's range if it has one."""
        level = self.biased(level)
        return in_steps(self.ranged(level) if self.key.ranged else level)

    def ranged(self, level: Value) -> Value:
        """A level between MinLOD and MaxLOD."""
        least, most = map(self.number, (NumberField.MIN_LOD, NumberField.MAX_LOD))
        return self.b.min(self.b.max(level, least), most)

    def number(self, field: NumberField) -> Value:
        """One of the floats of the sampler."""
        return self.b.load(self.source.files.numbers, field)

    def footprint(self) -> Footprint:
        """What a pixel covers, unless the level is given."""
        fields = SIDES[: self.key.kind.axes]
        sides = [self.b.itof(level_field(self.source, field)) for field in fields]
        return footprint(self._gradient(), sides)

    def _gradient(self) -> Gradient:
        """Change of the coordinates, on this pixel's face whatever its neighbours hit."""
        kind = self.key.kind
        given = _vector(self.b, "coordinate", kind)
        if self.lod is Lod.GRADIENT:
            right, down = _vector(self.b, "ddx", kind), _vector(self.b, "ddy", kind)
        else:
            right, down = tuple(map(self.b.ddx, given)), tuple(map(self.b.ddy, given))
        if self.face is None:
            return right[: kind.axes], down[: kind.axes]
        return slope_on(self.face, given, right), slope_on(self.face, given, down)

    def _mipmapped(self, kernel: Kernel, steps: Value) -> Texel:
        """The level or the mix of two levels that a level in 1/256 stands for."""
        first, last = self.limit(LimitField.FIRST), self.limit(LimitField.LAST)
        if not _mipmapped(self.key):
            return self._read(kernel, first)
        steps = clamped(steps, first, last)
        if self.key.mip is TextureFilter.POINT:
            return self._read(kernel, nearest(steps))
        level, fraction = steps >> FRACTION_BITS, steps & (ONE - 1)
        found = [self.b.variable(Type.F32) for _ in COMPONENTS]
        _assign(found, self._read(kernel, level))
        with self.b.if_(fraction.ne(0)):
            near, far = _values(found), self._read(kernel, level + 1)
            _assign(found, between(near, far, self.b.itof(fraction) * (1.0 / ONE)))
        return _values(found)

    def _along(self, covered: Footprint) -> Texel:
        """The mean of probes that stand evenly along the longer vector, first to last."""
        b, right, down = self.b, *covered.gradient
        count = probes(covered, self.key.anisotropy)
        number = b.itof(count)
        steps = self._steps(level_from(covered.longest / (number * number)))
        stride = [b.select(covered.wide, x, y) / number for x, y in zip(right, down, strict=True)]
        at, done = b.variable(Type.F32, 0.5 - number * 0.5), b.variable(Type.I32)
        sums = [b.variable(Type.F32) for _ in COMPONENTS]
        with b.loop(self.key.anisotropy):
            place = tuple(
                c + step * at.value for c, step in zip(self.coordinates, stride, strict=True)
            )
            probe = replace(self, coordinates=place)._mipmapped(
                _kernel(self.key, self.key.min), steps
            )
            for total, channel in zip(sums, probe, strict=True):
                total.value = total.value + channel
            at.value = at.value + 1.0
            done.value = done.value + 1
            b.break_(done.value >= count)
        red, green, blue, alpha = (total.value / number for total in sums)
        return red, green, blue, alpha

    def _read(self, kernel: Kernel, level: Value) -> Texel:
        if self.key.seams and self.face is not None and kernel is LINEAR:
            on = partial(self.row_on, level)
            return seams.linear(self.source, self.coordinates, self.face.number, on)
        kernels = (kernel,) * self.key.kind.axes
        return read(self.source, kernels, self.coordinates, self.row(level), self.moves)

    def row(self, level: Value) -> Level:
        """A level, which is the first row where there is only one."""
        return self.row_on(level, None if self.face is None else self.face.number)

    def row_on(self, level: Value, face: Value | None) -> Level:
        """A level of a face."""
        row = level if self.key.levels else None
        layer = self._layer(face)
        if layer is not None:
            row = layer * self.limit(LimitField.LEVELS) + level
        return level_of(self.source, row)

    def _layer(self, face: Value | None) -> Value | None:
        """The face and the slice, of which the nearest counts."""
        if not self.key.layers:
            return face
        number = slice_number(self.b, self.limit(LimitField.LAYERS))
        return number if face is None else number * CUBE_FACES + face


def slice_number(b: Builder, layers: Value) -> Value:
    """The slice of an array that is sampled: rounded to nearest even and held."""
    number = b.ftoi(b.round(b.input("slice.x")))
    number = b.select(number < 0, 0, number)
    return b.select(number < layers, number, layers - 1)


def _assign(variables: Sequence[Variable], values: Sequence[Number]) -> None:
    for variable, value in zip(variables, values, strict=True):
        variable.value = value


def _values(variables: Sequence[Variable]) -> Texel:
    red, green, blue, alpha = (variable.value for variable in variables)
    return red, green, blue, alpha

"""Sampler programs: cube face selection, convolution, mip and filter selection.

Cubes (Direct3D 9 cubic environment mapping): the largest component selects the face, x before
y before z if equal.  A face coordinate is (across / major + 1) / 2.  Unless ``seams`` is set,
filters stay inside the face.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from itertools import pairwise

import msgspec
from msgspec.structs import replace

from dp2emu.d3d.enums import TextureFilter
from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Lod, Program, Stage, TextureKind
from dp2emu.shader.sampling import COMPONENTS
from dp2emu.shader.texture import detail, seams
from dp2emu.shader.texture.address import FRACTION_BITS, ONE
from dp2emu.shader.texture.bindings import COLUMN_WEIGHTS, CUBE_FACES, LimitField, NumberField
from dp2emu.shader.texture.fields import TexelSource
from dp2emu.shader.texture.filters import LINEAR, Kernel, Texel, Weights, between, kernel_of
from dp2emu.shader.texture.reading import SIDES, Level, level_field, level_of, read
from dp2emu.shader.texture.records import SamplerKey
from dp2emu.shader.types import Type
from dp2emu.shader.values import Number, Value, Variable

Pair = tuple[Value, Value]
Vector = tuple[Value, ...]
"""x, y and z of a direction into a cube texture, or of its change from pixel to pixel."""


class Face(msgspec.Struct, frozen=True):
    """A cube face.  ``number`` is I32, 0 to 5 for +X -X +Y -Y +Z -Z; ``along_x`` and ``along_y``
    are whether x or y is the major axis, and ``negative`` whether it is negative.
    """

    number: Value
    along_x: Value
    along_y: Value
    negative: Value

    def turned(self, vector: Vector) -> Vector:
        """Return a vector's components across, down and out of this face."""
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
    """Return the cube face that a direction hits."""
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
    """Return the face coordinates of a direction, 0 to 1."""
    across, down, out = face.turned(direction)
    return across / out * 0.5 + 0.5, down / out * 0.5 + 0.5


def slope_on(face: Face, direction: Vector, change: Vector) -> Pair:
    """Return the derivatives of a cube face's two coordinates for a ``change`` of the direction.

    The first is half of (across' - q out') / out, where q = across / out and ' marks components
    of the change; the second has down instead of across.  They are those on the plane of ``face``
    even if the neighbouring pixel's direction hits another face.
    """
    across, down, out = face.turned(direction)
    across_change, down_change, out_change = face.turned(change)
    return (
        _quotient_slope(across, out, across_change, out_change),
        _quotient_slope(down, out, down_change, out_change),
    )


def _quotient_slope(part: Value, out: Value, part_change: Value, out_change: Value) -> Value:
    return (part_change - part / out * out_change) / out * 0.5


# D3DTEXF_CONVOLUTIONMONO: a separable kernel of up to 7 x 7 texels around a coordinate.
#
# Kernel texels fall between texels of the texture, so each is interpolated.  The weighted sum is
# divided by the number of kernel texels (driver documentation of SetConvolutionKernelMono).


def convolved(source: TexelSource, coordinates: Sequence[Value], level: Level) -> Texel:
    """Filter a level by the convolution kernel of the source's key."""
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


def _convolution_kernel(source: TexelSource, first: int, size: int) -> Kernel:
    """Return the kernel along one axis; its ``size`` weights begin at index ``first`` of the
    uniform file ``weights``.
    """
    given = [source.b.load(source.files.weights, first + number) for number in range(size)]

    def weights(f: Value) -> Weights:
        """Return size + 1 texel weights: kernel weight k times 1 - f to texel k, f to k + 1."""
        rest = 1.0 - f
        shared = (one * f + other * rest for one, other in pairwise(given))
        return given[0] * rest, *shared, given[-1] * f

    return Kernel(tuple(range(size + 1)), weights, back=size)


# The sampler program.
#
# Inputs: ``coordinate.x`` to ``coordinate.z`` by kind; ``slice.x`` of an array; ``reference.x`` of
# a comparison; ``lod.x`` (BIAS and EXPLICIT) or ``ddx`` and ``ddy`` (GRADIENT).  Outputs:
# ``texel.x`` to ``texel.w``, red to alpha.  Files: those of ``bindings``.
#
# As Direct3D 9's texldl: the bias is added, a level at or below 0 selects the magnification
# filter, and only then the most detailed level clamps.  Without a mip filter that level is read.


@lru_cache(maxsize=1 << 8)
def sampler_program(key: SamplerKey, lod: Lod, stage: Stage) -> Program:
    """Return the sampler program of a key.

    Vertex programs must use EXPLICIT or GRADIENT.  Raises Unsupported for formats that cannot be
    sampled.
    """
    b = Builder(stage)
    result = Sampling.of(b, key, lod).result()
    for component, value in zip(COMPONENTS, result, strict=True):
        b.output(f"texel.{component}", value)
    return b.program()


def needs_detail(key: SamplerKey) -> bool:
    """Whether the result of a sampler program depends on the level of detail."""
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
    """Return the coordinates to sample at; of a cube map those on the face hit, and the face."""
    given = _vector(b, "coordinate", kind)
    if kind is not TextureKind.CUBE:
        return given[: kind.axes], None
    face = face_of(given)
    return place_on(face, given), face


class Sampling(msgspec.Struct, frozen=True):
    """A sampler program being built: the coordinates it samples at, and the face of a cube."""

    source: TexelSource
    lod: Lod
    coordinates: tuple[Value, ...]
    face: Face | None
    moves: tuple[Value | None, ...] = (None, None, None)

    @classmethod
    def of(cls, b: Builder, key: SamplerKey, lod: Lod) -> Sampling:
        """Start a sampler program: declare its uniform files and its coordinates as inputs.

        Raises Unsupported for formats that cannot be sampled.
        """
        return cls(TexelSource.of(b, key), lod, *_place(b, key.kind))

    @property
    def b(self) -> Builder:
        """The builder of the sampler program under construction."""
        return self.source.b

    @property
    def key(self) -> SamplerKey:
        """The key of the sampler program under construction."""
        return self.source.key

    def result(self) -> Texel:
        """Emit the whole read, from level of detail to filters, and return the filtered texel."""
        if self.key.convolves:
            return convolved(self.source, self.coordinates, self.row(self.limit(LimitField.FIRST)))
        if self.key.ties and self.lod is not Lod.EXPLICIT:
            return replace(self, moves=self._moving())._filtered()
        return self._filtered()

    def _moving(self) -> tuple[Value, ...]:
        """Return, by coordinate, whether it changes from pixel to pixel."""
        right, down = self._gradient()
        return tuple(x.ne(0.0) | y.ne(0.0) for x, y in zip(right, down, strict=True))

    def _filtered(self) -> Texel:
        kernel = _kernel(self.key, self.key.min)
        if not (_mipmapped(self.key) or _minifies_otherwise(self.key)):
            return self._read(kernel, self.limit(LimitField.FIRST))
        covered = None if self.lod is Lod.EXPLICIT else self.footprint()
        level = self.b.input("lod.x") if covered is None else detail.level_from(covered.longest)
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
        """Load an integer parameter of the sampler."""
        return self.b.load(self.source.files.limits, field)

    def biased(self, level: Value) -> Value:
        """Add the shader's bias operand, if any, and the sampler's bias to a level of detail."""
        if self.lod is Lod.BIAS:
            level = level + self.b.input("lod.x")
        return level + self.number(NumberField.BIAS)

    def _steps(self, level: Value) -> Value:
        """Return a level plus bias in 1/256, clamped to MinLOD and MaxLOD if ``ranged``."""
        level = self.biased(level)
        return detail.in_steps(self.ranged(level) if self.key.ranged else level)

    def ranged(self, level: Value) -> Value:
        """Clamp a level to MinLOD and MaxLOD."""
        least, most = map(self.number, (NumberField.MIN_LOD, NumberField.MAX_LOD))
        return self.b.min(self.b.max(level, least), most)

    def number(self, field: NumberField) -> Value:
        """Load a float parameter of the sampler."""
        return self.b.load(self.source.files.numbers, field)

    def footprint(self) -> detail.Footprint:
        """Return the pixel's footprint in the texture, from the derivatives of the coordinates."""
        fields = SIDES[: self.key.kind.axes]
        sides = [self.b.itof(level_field(self.source, field)) for field in fields]
        return detail.footprint(self._gradient(), sides)

    def _gradient(self) -> detail.Gradient:
        """Return the derivatives of the coordinates; of a cube, of those on its ``face``."""
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
        """Read the nearest level or interpolate two levels, given the level in 1/256."""
        first, last = self.limit(LimitField.FIRST), self.limit(LimitField.LAST)
        if not _mipmapped(self.key):
            return self._read(kernel, first)
        steps = detail.clamped(steps, first, last)
        if self.key.mip is TextureFilter.POINT:
            return self._read(kernel, detail.nearest(steps))
        level, fraction = steps >> FRACTION_BITS, steps & (ONE - 1)
        found = [self.b.variable(Type.F32) for _ in COMPONENTS]
        _assign(found, self._read(kernel, level))
        # A level without fraction needs no second read.
        with self.b.if_(fraction.ne(0)):
            near, far = _values(found), self._read(kernel, level + 1)
            _assign(found, between(near, far, self.b.itof(fraction) * (1.0 / ONE)))
        return _values(found)

    def _along(self, covered: detail.Footprint) -> Texel:
        """Anisotropic filter: the mean of evenly spaced probes along the footprint's longer
        vector.
        """
        b, right, down = self.b, *covered.gradient
        count = detail.probes(covered, self.key.anisotropy)
        number = b.itof(count)
        steps = self._steps(detail.level_from(covered.longest / (number * number)))
        stride = [b.select(covered.wide, x, y) / number for x, y in zip(right, down, strict=True)]
        # Probes are centred on the pixel: from -(n - 1) / 2 to (n - 1) / 2.
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
        """Load mip level ``level`` of the sampled face and array slice."""
        return self.row_on(level, None if self.face is None else self.face.number)

    def row_on(self, level: Value, face: Value | None) -> Level:
        """Load mip level ``level`` of a face, of the sampled array slice."""
        row = level if self.key.levels else None
        layer = self._layer(face)
        if layer is not None:
            row = layer * self.limit(LimitField.LEVELS) + level
        return level_of(self.source, row)

    def _layer(self, face: Value | None) -> Value | None:
        """Return array slice * faces + face, None for a texture with one slice and face."""
        if not self.key.layers:
            return face
        number = slice_number(self.b, self.limit(LimitField.LAYERS))
        return number if face is None else number * CUBE_FACES + face


def slice_number(b: Builder, layers: Value) -> Value:
    """Return the array slice: the coordinate rounded to nearest even and clamped."""
    number = b.ftoi(b.round(b.input("slice.x")))
    number = b.select(number < 0, 0, number)
    return b.select(number < layers, number, layers - 1)


def _assign(variables: Sequence[Variable], values: Sequence[Number]) -> None:
    for variable, value in zip(variables, values, strict=True):
        variable.value = value


def _values(variables: Sequence[Variable]) -> Texel:
    red, green, blue, alpha = (variable.value for variable in variables)
    return red, green, blue, alpha

"""A filtered read of one mip level: the texels around a coordinate, weighted by kernels."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_

import msgspec

from dp2emu.d3d.enums import CmpFunc, TextureAddress
from dp2emu.shader.comparisons import COMPARE
from dp2emu.shader.ir import TextureKind
from dp2emu.shader.texture.address import ONE, Taps, taps
from dp2emu.shader.texture.bindings import LevelField, NumberField
from dp2emu.shader.texture.fields import Decode, TexelSource
from dp2emu.shader.texture.filters import LINEAR, Kernel, Texel, Weights
from dp2emu.shader.texture.texels import texel
from dp2emu.shader.types import Type
from dp2emu.shader.values import Number, Value

SIDES = (LevelField.WIDTH, LevelField.HEIGHT, LevelField.DEPTH)


class Level(msgspec.Struct, frozen=True):
    """A mip level of a face: offset and pitches of rows and slices in bytes, size in texels."""

    offset: Value
    pitches: tuple[Value, ...]
    sides: tuple[Value, ...]


def level_of(source: TexelSource, row: Value | None) -> Level:
    """Load mip level number ``row`` of the uniform file ``levels``; ``None`` is the first one."""
    axes = source.key.kind.axes
    pitches = (LevelField.PITCH, LevelField.SLICE_PITCH)[: axes - 1]
    return Level(
        level_field(source, LevelField.OFFSET, row),
        tuple(level_field(source, field, row) for field in pitches),
        tuple(level_field(source, field, row) for field in SIDES[:axes]),
    )


def level_field(source: TexelSource, field: LevelField, row: Value | None = None) -> Value:
    """Load a field of mip level ``row`` (``None``: the first) of the uniform file ``levels``."""
    stride = 1 if row is None else len(LevelField)
    return source.b.load(source.files.levels, field, row, stride)


class _Axis(msgspec.Struct, frozen=True):
    """Texels that a filter reads along one axis: texel numbers, byte offsets and weights."""

    kernel: Kernel
    taps: Taps
    steps: tuple[Value, ...]
    weights: Weights


class _Place(msgspec.Struct, frozen=True):
    """Where a texel is: byte address, and texel numbers from the outermost axis inwards.

    It has the axes handled so far; ``inside`` has a condition for each number that may lie outside
    the level.
    """

    address: Value
    numbers: tuple[Value, ...] = ()
    inside: tuple[Value, ...] = ()

    def along(self, axis: _Axis, tap: int) -> _Place:
        inside = axis.taps.inside[tap]
        return _Place(
            self.address + axis.steps[tap],
            (*self.numbers, axis.taps.numbers[tap]),
            self.inside if inside is None else (*self.inside, inside),
        )


def read(
    source: TexelSource,
    kernels: Sequence[Kernel],
    coordinates: Sequence[Value],
    level: Level,
    moves: Sequence[Value | None] = (None, None, None),
) -> Texel:
    """Filter the texels around ``coordinates`` by a kernel per axis.

    ``moves`` has for each axis whether the coordinate changes between pixels, or None if ties
    between two texels do not depend on it.
    """
    places = zip(kernels, offset_coordinates(source, coordinates, level), moves, strict=False)
    axes = [
        _axis(source, kernel, number, level, at, move)
        for number, (kernel, at, move) in enumerate(places)
    ]
    return _mixed(source, axes, _Place(level.offset))


def _axis(
    source: TexelSource,
    kernel: Kernel,
    number: int,
    level: Level,
    coordinate: Value,
    move: Value | None = None,
) -> _Axis:
    cube = source.key.kind is TextureKind.CUBE
    mode = TextureAddress.CLAMP if cube else source.key.address[number]
    side, ties = level.sides[number], None if kernel.back else move
    found = taps(mode, coordinate, side, kernel.places, kernel.back, ties)
    # Shift from texel to block number; sides of blocks are powers of two.
    blocks = (*source.row.block, 1)[number].bit_length() - 1
    pitch = level.pitches[number - 1] if number else source.row.size
    steps = tuple((n >> blocks if blocks else n) * pitch for n in found.numbers)
    fraction = source.b.itof(found.fraction) * (1.0 / ONE)
    return _Axis(kernel, found, steps, kernel.weights(fraction))


def _mixed(source: TexelSource, axes: Sequence[_Axis], place: _Place) -> Texel:
    """Return the texels at ``place`` filtered along all ``axes``, the first axis first."""
    if not axes:
        return _border_or_texel(source, place)
    *inner, axis = axes
    around = [
        _mixed(source, inner, place.along(axis, tap)) for tap in range(len(axis.kernel.places))
    ]
    return axis.kernel.mix(around, axis.weights)


def _border_or_texel(source: TexelSource, place: _Place, decode: Decode = texel) -> Texel:
    """Read a texel, or the border colour outside the level; compare it if the key asks for it."""
    v, u = place.numbers[-2:]
    found = decode(source, place.address, u, v)
    if place.inside:
        found = _bordered(source, reduce(and_, place.inside), found)
    return compared(source, found)


def compared(source: TexelSource, found: Texel) -> Texel:
    """Return 1 or 0, a texel's comparison with the reference; without one, the texel itself."""
    return found if source.reference is None else _comparison(source, found[0])


def texel_address(source: TexelSource, level: Level, numbers: Sequence[Value]) -> Value:
    """Return the byte address of a texel or of the block that contains it."""
    places = level.offset
    for axis, (number, block) in enumerate(zip(numbers, (*source.row.block, 1), strict=False)):
        shift = block.bit_length() - 1
        pitch = level.pitches[axis - 1] if axis else source.row.size
        places = places + (number >> shift if shift else number) * pitch
    return places


def _bordered(source: TexelSource, inside: Value, found: Texel) -> Texel:
    red, green, blue, alpha = (
        source.b.select(inside, channel, _like(channel, outer))
        if isinstance(channel, Value) or channel != outer
        else channel
        for channel, outer in zip(found, _border(source), strict=True)
    )
    return red, green, blue, alpha


def _like(channel: Number, outer: Number) -> Number:
    """Convert a border colour component to an integer if the texel's ``channel`` is one."""
    whole = isinstance(channel, Value) and channel.type is Type.I32
    return outer.builder.ftoi(outer) if whole and isinstance(outer, Value) else outer


def _border(source: TexelSource) -> Texel:
    """Load the sampler's border colour; 0 in all channels if the filter is a convolution."""
    if source.key.convolves:
        return 0.0, 0.0, 0.0, 0.0
    b, numbers = source.b, source.files.numbers
    red, green, blue, alpha = (
        b.load(numbers, NumberField.BORDER + channel) for channel in range(4)
    )
    return red, green, blue, alpha


def _comparison(source: TexelSource, depth: Number) -> Texel:
    """Return 1 in every channel where the reference passes the test against the depth, else 0.

    Direct3D 9 always tests LESSEQUAL.
    """
    assert source.reference is not None
    test = COMPARE[source.key.compare or CmpFunc.LESSEQUAL]
    lit = source.b.select(test(source.reference, depth), 1.0, 0.0)
    return lit, lit, lit, lit


def offset_coordinates(
    source: TexelSource, coordinates: Sequence[Value], level: Level
) -> Sequence[Value]:
    """Add the key's constant offset, in texels of a level, to coordinates."""
    offsets = (n and source.b.constant(Type.I32, n) for n in source.key.offset)
    return [
        offset_coordinate(at, by, side) if isinstance(by, Value) else at
        for at, by, side in zip(coordinates, offsets, level.sides, strict=False)
    ]


def offset_coordinate(coordinate: Value, texels: Value, side: Value) -> Value:
    """Add an offset in texels of a level to a coordinate."""
    b = coordinate.builder
    return coordinate + b.itof(texels) / b.itof(side)


def corners(
    source: TexelSource, coordinates: Sequence[Value], level: Level, decode: Decode = texel
) -> tuple[Texel, ...]:
    """Return the four texels of a linear filter, counter-clockwise from the lower left."""
    places = enumerate(offset_coordinates(source, coordinates, level))
    u, v = (_axis(source, LINEAR, number, level, at) for number, at in places)
    start = _Place(level.offset)
    return tuple(
        _border_or_texel(source, start.along(v, down).along(u, right), decode)
        for right, down in ((0, 1), (1, 1), (1, 0), (0, 0))
    )

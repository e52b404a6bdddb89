"""One filtered read of one level: the texels around a place, mixed by a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_

from dp2emu.d3d.enums import CmpFunc, TextureAddress
from dp2emu.records import dataclass
from dp2emu.shader.comparisons import COMPARE
from dp2emu.shader.ir import TextureKind
from dp2emu.shader.texture.address import ONE, Taps, taps
from dp2emu.shader.texture.bindings import LevelField, NumberField
from dp2emu.shader.texture.fields import Decode, Source
from dp2emu.shader.texture.filters import LINEAR, Kernel, Texel, Weights
from dp2emu.shader.texture.texels import texel
from dp2emu.shader.types import Type
from dp2emu.shader.values import Number, Value

SIDES = (LevelField.WIDTH, LevelField.HEIGHT, LevelField.DEPTH)
_EDGES = (TextureAddress.CLAMP,) * 3


@dataclass(frozen=True, slots=True)
class Level:
    """A level of a face: where it starts, bytes between rows and slices, and sides in texels."""

    offset: Value
    pitches: tuple[Value, ...]
    sides: tuple[Value, ...]


def level_of(source: Source, row: Value | None) -> Level:
    """The level in a row of the file ``levels``, the first if ``None``."""
    axes = source.key.kind.axes
    pitches = (LevelField.PITCH, LevelField.SLICE_PITCH)[: axes - 1]
    return Level(
        level_field(source, LevelField.OFFSET, row),
        tuple(level_field(source, field, row) for field in pitches),
        tuple(level_field(source, field, row) for field in SIDES[:axes]),
    )


def level_field(source: Source, field: LevelField, row: Value | None = None) -> Value:
    """One number of a level."""
    stride = 1 if row is None else len(LevelField)
    return source.b.load(source.files.levels, field, row, stride)


@dataclass(frozen=True, slots=True)
class _Axis:
    """Texels along one axis: which, how many bytes from its start, and what they weigh."""

    kernel: Kernel
    taps: Taps
    steps: tuple[Value, ...]
    weights: Weights


@dataclass(frozen=True, slots=True)
class _Place:
    """The way to a texel, axis by axis from the outermost."""

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
    source: Source,
    kernels: Sequence[Kernel],
    coordinates: Sequence[Value],
    level: Level,
    moves: Sequence[Value | None] = (None, None, None),
) -> Texel:
    """What the kernels make of the texels at ``coordinates``; there is one of each per axis, and
    whether it ``moves`` from pixel to pixel if that matters.
    """
    modes = _EDGES if source.key.kind is TextureKind.CUBE else source.key.address
    places = zip(
        kernels, modes, moved(source, coordinates, level), level.sides, moves, strict=False
    )
    axes = [
        _axis(
            source,
            kernel,
            number,
            level,
            taps(mode, at, side, kernel.places, kernel.back, None if kernel.back else move),
        )
        for number, (kernel, mode, at, side, move) in enumerate(places)
    ]
    return _mixed(source, axes, _Place(level.offset))


def _axis(source: Source, kernel: Kernel, number: int, level: Level, found: Taps) -> _Axis:
    blocks = (*source.row.block, 1)[number].bit_length() - 1
    pitch = level.pitches[number - 1] if number else source.row.size
    steps = tuple((n >> blocks if blocks else n) * pitch for n in found.numbers)
    fraction = source.b.itof(found.fraction) * (1.0 / ONE)
    return _Axis(kernel, found, steps, kernel.weights(fraction))


def _mixed(source: Source, axes: Sequence[_Axis], place: _Place) -> Texel:
    """Mixed along all axes but the outermost, and then along that."""
    if not axes:
        return _one(source, place)
    *inner, axis = axes
    around = [
        _mixed(source, inner, place.along(axis, tap)) for tap in range(len(axis.kernel.places))
    ]
    return axis.kernel.mix(around, axis.weights)


def _one(source: Source, place: _Place, decode: Decode = texel) -> Texel:
    """A single texel, or the border colour if it lies outside along any axis; maybe compared."""
    v, u = place.numbers[-2:]
    found = decode(source, place.address, u, v)
    if place.inside:
        found = _bordered(source, reduce(and_, place.inside), found)
    return compared(source, found)


def compared(source: Source, found: Texel) -> Texel:
    """The texel, or whether the reference compares with it, if that is asked for."""
    return found if source.reference is None else _lit(source, found[0])


def place_of(source: Source, level: Level, numbers: Sequence[Value]) -> Value:
    """Where a texel of a level, or the block it is in, begins."""
    places = level.offset
    for axis, (number, block) in enumerate(zip(numbers, (*source.row.block, 1), strict=False)):
        shift = block.bit_length() - 1
        pitch = level.pitches[axis - 1] if axis else source.row.size
        places = places + (number >> shift if shift else number) * pitch
    return places


def _bordered(source: Source, inside: Value, found: Texel) -> Texel:
    red, green, blue, alpha = (
        source.b.select(inside, channel, _like(channel, outer))
        if isinstance(channel, Value) or channel != outer
        else channel
        for channel, outer in zip(found, _border(source), strict=True)
    )
    return red, green, blue, alpha


def _like(channel: Number, outer: Number) -> Number:
    """A component of the border colour, cut off beside one that is a whole number."""
    whole = isinstance(channel, Value) and channel.type is Type.I32
    return outer.builder.ftoi(outer) if whole and isinstance(outer, Value) else outer


def _border(source: Source) -> Texel:
    """The border colour, which counts as 0 for a convolution."""
    if source.key.convolves:
        return 0.0, 0.0, 0.0, 0.0
    b, numbers = source.b, source.files.numbers
    red, green, blue, alpha = (
        b.load(numbers, NumberField.BORDER + channel) for channel in range(4)
    )
    return red, green, blue, alpha


def _lit(source: Source, depth: Number) -> Texel:
    """1 where the reference compares with the depth, in every channel; in Direct3D 9 where it is
    not behind it.
    """
    assert source.reference is not None
    test = COMPARE[source.key.compare or CmpFunc.LESSEQUAL]
    lit = source.b.select(test(source.reference, depth), 1.0, 0.0)
    return lit, lit, lit, lit


def moved(source: Source, coordinates: Sequence[Value], level: Level) -> Sequence[Value]:
    """Coordinates with the texel offset that the key asks for."""
    offsets = (n and source.b.constant(Type.I32, n) for n in source.key.offset)
    return [
        shifted(at, by, side) if isinstance(by, Value) else at
        for at, by, side in zip(coordinates, offsets, level.sides, strict=False)
    ]


def shifted(coordinate: Value, texels: Value, side: Value) -> Value:
    """A coordinate moved by so many texels of a level."""
    b = coordinate.builder
    return coordinate + b.itof(texels) / b.itof(side)


def corners(
    source: Source, coordinates: Sequence[Value], level: Level, decode: Decode = texel
) -> tuple[Texel, ...]:
    """The four texels that a linear filter mixes: from the lower left counter-clockwise."""
    modes = _EDGES if source.key.kind is TextureKind.CUBE else source.key.address
    u, v = (
        _axis(source, LINEAR, number, level, taps(mode, at, side, LINEAR.places, LINEAR.back))
        for number, (mode, at, side) in enumerate(
            zip(modes, moved(source, coordinates, level), level.sides, strict=False)
        )
    )
    start = _Place(level.offset)
    return tuple(
        _one(source, start.along(v, down).along(u, right), decode)
        for right, down in ((0, 1), (1, 1), (1, 0), (0, 0))
    )

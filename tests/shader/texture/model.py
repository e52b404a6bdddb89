"""A sampler in plain Python, one place at a time, with numbers rounded to float32 by hand.

Whole numbers are Python's, and what lies beyond a texture is found by remainders, not by steps.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product

from dp2emu.d3d.enums import TextureAddress, TextureFilter
from dp2emu.shader.ir import TextureKind
from dp2emu.shader.texture.records import SamplerKey

Color = tuple[float, ...]
Cell = tuple[int, ...]
"""A texel by its numbers along u, v and w."""


def f32(x: float) -> float:
    """Rounded; exact for a sum, product, quotient or root of two float32 computed in double."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", x))[0])
    except OverflowError:
        return math.copysign(math.inf, x)


@dataclass
class Image:
    """One level of one face: its sides and its texels."""

    sides: Cell
    texels: dict[Cell, Color]


@dataclass
class Texture:
    """``images[face][level]``."""

    images: list[list[Image]]
    border: Color = (0.0, 0.0, 0.0, 0.0)
    bias: float = 0.0
    first: int = 0
    read: list[Cell] = field(default_factory=list)


def reduced(mode: TextureAddress, c: float) -> float:
    if mode is TextureAddress.MIRRORONCE:
        return abs(c)
    if mode not in (TextureAddress.WRAP, TextureAddress.MIRROR):
        return c
    if not math.isfinite(c):
        return math.nan
    periods = 1 if mode is TextureAddress.WRAP else 2
    half = f32(c / periods)
    return f32(f32(half - math.floor(half)) * periods)


def fixed(mode: TextureAddress, c: float, side: int, *, centred: bool) -> int:
    """A coordinate in 1/256 of a texel."""
    place = f32(f32(reduced(mode, c) * (side * 256)) + (-127.5 if centred else 0.5))
    if math.isnan(place):
        return 0
    return max(min(math.floor(place) if math.isfinite(place) else int(math.copysign(2**40, place)),
                   2**31 - 1), -(2**31))  # fmt: skip


def folded(mode: TextureAddress, i: int, side: int) -> int | None:
    """The texel that number ``i`` stands for, None for the border."""
    if mode is TextureAddress.WRAP:
        return i % side
    if mode is TextureAddress.MIRROR:
        i %= 2 * side
        return min(i, 2 * side - 1 - i)
    if mode is TextureAddress.MIRRORONCE:
        return min(i if i >= 0 else -1 - i, side - 1)
    if mode is TextureAddress.BORDER:
        return i if 0 <= i < side else None
    return min(max(i, 0), side - 1)


def weights_of(filter: TextureFilter, f: float) -> list[tuple[int, float]]:
    """(neighbour, weight) for a fraction; exact but for what is not meant to be."""
    if filter is TextureFilter.GAUSSIANQUAD:
        before, after = 2.0 ** (-4 * f * f), 2.0 ** (-4 * (1 - f) * (1 - f))
        return [(0, before / (before + after)), (1, after / (before + after))]
    if filter is TextureFilter.FLATCUBIC:
        return [(-1, (-f + 2 * f**2 - f**3) / 2), (0, (2 - 5 * f**2 + 3 * f**3) / 2),
                (1, (f + 4 * f**2 - 3 * f**3) / 2), (2, (-(f**2) + f**3) / 2)]  # fmt: skip
    if filter is TextureFilter.GAUSSIANCUBIC:
        return [(-1, (1 - f) ** 3 / 6), (0, (4 - 6 * f**2 + 3 * f**3) / 6),
                (1, (1 + 3 * f + 3 * f**2 - 3 * f**3) / 6), (2, f**3 / 6)]  # fmt: skip
    return [(0, 1 - f), (1, f)]


POINTS = (TextureFilter.NONE, TextureFilter.POINT)
FILTERS = tuple(filter for filter in TextureFilter if filter is not TextureFilter.CONVOLUTIONMONO)
"""All but one, which is tested in ``test_convolution``."""


def filtered(
    texture: Texture,
    image: Image,
    modes: Sequence[TextureAddress],
    filter: TextureFilter,
    at: Sequence[float],
) -> Color:
    """The mean of texels by the product of their weights, in double."""
    axes = []
    for mode, c, side in zip(modes, at, image.sides, strict=False):
        if filter in POINTS:
            axes.append([(folded(mode, fixed(mode, c, side, centred=False) >> 8, side), 1.0)])
            continue
        place = fixed(mode, c, side, centred=True)
        axes.append([(folded(mode, (place >> 8) + near, side), weight)
                     for near, weight in weights_of(filter, (place & 255) / 256)])  # fmt: skip
    total = [0.0] * 4
    for taps in product(*axes):
        cell = tuple(number for number, _ in taps)
        weight = math.prod(weight for _, weight in taps)
        known = None not in cell
        color = image.texels[cell] if known else texture.border  # type: ignore[index]
        total = [t + weight * c for t, c in zip(total, color, strict=True)]
    return tuple(total)


def face_of(x: float, y: float, z: float) -> tuple[int, float, float, float]:
    """Number of the face, then across, down and out."""
    sizes = [abs(x), abs(y), abs(z)]
    axis = sizes.index(max(sizes))
    if axis == 0:
        return (0, -z, -y, x) if x >= 0 else (1, z, -y, -x)
    if axis == 1:
        return (2, x, z, y) if y >= 0 else (3, x, -z, -y)
    return (4, x, -y, z) if z >= 0 else (5, -x, -y, -z)


def on_face(direction: Sequence[float]) -> tuple[int, tuple[float, float]]:
    face, across, down, out = face_of(*direction)
    s, t = (f32(f32(quotient(part, out) * 0.5) + 0.5) for part in (across, down))
    return face, (s, t)


def quotient(x: float, y: float) -> float:
    """Of numbers of which ``y`` is the larger in magnitude."""
    return math.nan if y == 0 or math.isinf(x) else f32(x / y)


def level_steps(texture: Texture, level: float, extra: float = 0.0) -> int:
    """A level with bias in 1/256."""
    biased = level + extra + texture.bias
    if math.isnan(biased):
        return 0
    if math.isinf(biased):
        return 2**30 if biased > 0 else -(2**30)
    return math.floor(biased * 256 + 0.5)


def mipmapped(
    texture: Texture,
    key: SamplerKey,
    face: int,
    filter: TextureFilter,
    at: Sequence[float],
    steps: int,
) -> Color:
    chain = texture.images[face]
    modes = (TextureAddress.CLAMP,) * 2 if key.kind is TextureKind.CUBE else key.address
    last = len(chain) - 1
    first = min(texture.first, last)

    def level(number: int) -> Color:
        return filtered(texture, chain[number], modes, filter, at)

    if key.mip is TextureFilter.NONE:
        return level(first)
    steps = min(max(steps, first * 256), last * 256)
    if key.mip is TextureFilter.POINT:
        return level((steps + 128) // 256)
    number, fraction = divmod(steps, 256)
    near, far = level(number), level(min(number + 1, last))
    return tuple(x + (y - x) * fraction / 256 for x, y in zip(near, far, strict=True))


def sample(texture: Texture, key: SamplerKey, at: Sequence[float], steps: int) -> Color:
    """Texel at coordinates with a level of detail in 1/256, bias included."""
    face = 0
    if key.kind is TextureKind.CUBE:
        face, at = on_face(at)
    first = min(texture.first, len(texture.images[face]) - 1)
    if steps <= 0:
        return mipmapped(texture, key, face, key.mag, at, first * 256)
    return mipmapped(texture, key, face, key.min, at, steps)


Vector = tuple[float, ...]


def slopes(at: Vector, right: Vector, down: Vector) -> tuple[Vector, Vector]:
    """Change of the place on the face of a cube that ``at`` hits, for a change of direction."""
    face, *_ = face_of(*at)

    def place(direction: Vector) -> Vector:
        """On the plane of that face, wherever the direction leaves the cube."""
        x, y, z = direction
        across, below = {0: (-z, -y), 1: (z, -y), 2: (x, z), 3: (x, -z), 4: (x, -y),
                         5: (-x, -y)}[face]  # fmt: skip
        out = abs(direction[face // 2])
        return across / out / 2, below / out / 2

    tiny = 2.0**-20
    here = place(at)
    moved = [place(tuple(c + tiny * d for c, d in zip(at, change, strict=True)))
             for change in (right, down)]  # fmt: skip
    first, second = (tuple((m - h) / tiny for m, h in zip(there, here, strict=True))
                     for there in moved)  # fmt: skip
    return first, second


def footprint(image: Image, right: Vector, down: Vector) -> tuple[float, float]:
    """How many texels a step to the right and a step down go."""
    first, second = (math.hypot(*(d * side for d, side in zip(change, image.sides, strict=True)))
                     for change in (right, down))  # fmt: skip
    return first, second


def level_of(texels: float) -> float:
    return math.log2(texels) if texels > 0 else -math.inf


def anisotropic(
    texture: Texture, key: SamplerKey, at: Vector, right: Vector, down: Vector, extra: float = 0.0
) -> tuple[Color, int]:
    """The mean of the probes, and how many there are, for a texture that is minified."""
    lengths = footprint(texture.images[0][0], right, down)
    shorter, longer = sorted(lengths)
    ratio = min(longer / shorter if shorter else math.inf, key.anisotropy)
    count = max(math.ceil(math.floor(ratio * 256 + 0.5) / 256), 1)
    along = right if lengths[0] >= lengths[1] else down
    steps = level_steps(texture, level_of(longer / count), extra)
    total = [0.0] * 4
    for number in range(count):
        way = (number + 0.5) / count - 0.5
        probe = [f32(c + way * d) for c, d in zip(at, along, strict=True)]
        color = mipmapped(texture, key, 0, key.min, probe, steps)
        total = [t + c for t, c in zip(total, color, strict=True)]
    return tuple(t / count for t in total), count

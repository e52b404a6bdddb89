"""A model of the texture stages in rational numbers, straight from the documentation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from dp2emu.d3d.enums import TextureArgument, TextureOp
from dp2emu.shader.fixed.pixel import (
    Argument,
    Combination,
    FixedPixel,
    TextureStage,
    pixel_program,
    stage_uniforms,
)
from dp2emu.shader.ir import Lod, TextureKind
from dp2emu.shader.reference import run
from dp2emu.shader.types import F32

Rgba = list[Fraction]
RED, ALPHA = 0, 3


def rgba(*quarters: int) -> Rgba:
    """A colour in quarters, which float32 arithmetic keeps exact over a few stages."""
    return [Fraction(each, 4) for each in quarters]


@dataclass
class World:
    """Everything stages read.  The texture of stage n is ``textures[n]``, all over."""

    diffuse: Rgba = field(default_factory=lambda: rgba(1, 3, 2, 3))
    specular: Rgba = field(default_factory=lambda: rgba(2, 0, 1, 1))
    factor: Rgba = field(default_factory=lambda: rgba(3, 1, 4, 1))
    constants: list[Rgba] = field(default_factory=lambda: [rgba(4, 3, 1, n % 5) for n in range(8)])
    textures: list[Rgba] = field(
        default_factory=lambda: [rgba(3, 2, 1 + n % 3, 1 + n % 2) for n in range(8)]
    )


@dataclass
class Lanes:
    """What one stage computes with: three arguments, alphas to blend by, the next texture."""

    z: Rgba
    a: Rgba
    b: Rgba
    source: Callable[[TextureArgument], Rgba]
    following: Rgba


def blend(source: TextureArgument) -> Callable[[Lanes, int], Fraction]:
    return lambda s, i: s.source(source)[ALPHA] * s.a[i] + (1 - s.source(source)[ALPHA]) * s.b[i]


def dot3(s: Lanes, i: int) -> Fraction:
    half = Fraction(1, 2)
    return sum(((s.a[k] - half) * (s.b[k] - half) * 4 for k in range(3)), Fraction(0))


MODEL: dict[str, Callable[[Lanes, int], Fraction]] = {
    "SELECTARG1": lambda s, i: s.a[i],
    "SELECTARG2": lambda s, i: s.b[i],
    "MODULATE": lambda s, i: s.a[i] * s.b[i],
    "MODULATE2X": lambda s, i: 2 * s.a[i] * s.b[i],
    "MODULATE4X": lambda s, i: 4 * s.a[i] * s.b[i],
    "ADD": lambda s, i: s.a[i] + s.b[i],
    "ADDSIGNED": lambda s, i: s.a[i] + s.b[i] - Fraction(1, 2),
    "ADDSIGNED2X": lambda s, i: 2 * s.a[i] + 2 * s.b[i] - 1,
    "SUBTRACT": lambda s, i: s.a[i] - s.b[i],
    "ADDSMOOTH": lambda s, i: s.a[i] + s.b[i] - s.a[i] * s.b[i],
    "BLENDDIFFUSEALPHA": blend(TextureArgument.DIFFUSE),
    "BLENDTEXTUREALPHA": blend(TextureArgument.TEXTURE),
    "BLENDFACTORALPHA": blend(TextureArgument.TFACTOR),
    "BLENDCURRENTALPHA": blend(TextureArgument.CURRENT),
    "BLENDTEXTUREALPHAPM": lambda s, i: (
        s.a[i] + s.b[i] * (1 - s.source(TextureArgument.TEXTURE)[ALPHA])
    ),
    "PREMODULATE": lambda s, i: s.a[i] * s.following[i],
    "MODULATEALPHA_ADDCOLOR": lambda s, i: s.a[i] + s.a[ALPHA] * s.b[i],
    "MODULATECOLOR_ADDALPHA": lambda s, i: s.a[i] * s.b[i] + s.a[ALPHA],
    "MODULATEINVALPHA_ADDCOLOR": lambda s, i: s.b[i] - s.a[ALPHA] * s.b[i] + s.a[i],
    "MODULATEINVCOLOR_ADDALPHA": lambda s, i: s.b[i] - s.a[i] * s.b[i] + s.a[ALPHA],
    "DOTPRODUCT3": dot3,
    "MULTIPLYADD": lambda s, i: s.z[i] + s.a[i] * s.b[i],
    "LERP": lambda s, i: s.b[i] + s.z[i] * (s.a[i] - s.b[i]),
}
UNTOUCHED = ("DISABLE", "BUMPENVMAP", "BUMPENVMAPLUMINANCE")
"""Operations that leave the result register as it is."""


def modelled(stages: Sequence[TextureStage], world: World) -> Rgba:
    """CURRENT after the stages."""
    registers = {False: world.diffuse, True: rgba(0, 0, 0, 0)}
    for number, stage in enumerate(stages):
        registers[stage.temp] = _after(stages, number, registers, world)
    return registers[False]


def _after(
    stages: Sequence[TextureStage], number: int, registers: dict[bool, Rgba], world: World
) -> Rgba:
    stage = stages[number]
    if stage.color.op.name in UNTOUCHED[1:]:
        return registers[stage.temp]
    more = number + 1 < len(stages) and stages[number + 1].texture is not None
    following = world.textures[number + 1] if more else rgba(4, 4, 4, 4)

    def source(which: TextureArgument) -> Rgba:
        return {
            TextureArgument.DIFFUSE: world.diffuse,
            TextureArgument.CURRENT: registers[False],
            TextureArgument.TEXTURE: (
                world.textures[number] if stage.texture else rgba(0, 0, 0, 4)
            ),
            TextureArgument.TFACTOR: world.factor,
            TextureArgument.SPECULAR: world.specular,
            TextureArgument.TEMP: registers[True],
            TextureArgument.CONSTANT: world.constants[number],
        }[which]

    def argument(given: Argument) -> Rgba:
        color = source(given.source)
        color = [color[ALPHA]] * 4 if given.alpha else color
        return [1 - each for each in color] if given.complement else color

    def component(combination: Combination, i: int) -> Fraction:
        if combination.op.name in UNTOUCHED:
            return registers[stage.temp][i]
        z, a, b = map(argument, combination.arguments)
        value = MODEL[combination.op.name](Lanes(z, a, b, source, following), i)
        return min(max(value, Fraction(0)), Fraction(1))

    dot = stage.color.op is TextureOp.DOTPRODUCT3
    alpha = stage.color if dot else stage.alpha
    return [component(stage.color, i) for i in range(3)] + [component(alpha, ALPHA)]


@dataclass
class Seen:
    """A call of the sampler."""

    sampler: int
    kind: TextureKind
    coordinates: tuple[float, ...]


def drawn(
    key: FixedPixel,
    world: World,
    coordinates: dict[str, float] | None = None,
    bumps: Sequence[Sequence[float]] = ((0.0,) * 6,) * 8,
) -> tuple[Rgba, list[Seen]]:
    """What the program of a key makes of a pixel, and what it sampled."""
    program, seen = pixel_program(key), list[Seen]()

    def sampler(
        number: int, kind: TextureKind, at: tuple[F32, ...], lod: Lod, *_: object
    ) -> tuple[F32, F32, F32, F32]:
        assert lod is Lod.IMPLICIT
        seen.append(Seen(number, kind, tuple(float(each[0]) for each in at)))
        red, green, blue, alpha = (lane(each) for each in world.textures[number])
        return red, green, blue, alpha

    given = {f"color0.{c}": value for c, value in zip("xyzw", world.diffuse, strict=True)}
    given |= {f"color1.{c}": value for c, value in zip("xyzw", world.specular, strict=True)}
    inputs = {name: lane(value) for name, value in given.items()}
    inputs |= {name: lane(value) for name, value in (coordinates or {}).items()}
    ports = {port.name for port in program.inputs}
    inputs = {name: inputs.get(name, lane(0)) for name in ports}
    floats = [list(map(float, each)) for each in (world.factor, *world.constants)]
    uniforms = stage_uniforms(floats[0], floats[1:], bumps)
    outputs = run(program, inputs, uniforms, 1, sampler=sampler).outputs
    return [Fraction(float(outputs[f"target0.{c}"][0])) for c in "xyzw"], seen


def lane(value: Fraction | float) -> F32:
    return np.array([float(value)], np.float32)

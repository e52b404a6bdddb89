"""Fixed-function pixel programs: texture stage cascade, specular and fog.

CURRENT starts as the diffuse colour, TEMP as 0; each stage reads the registers as the previous one
left them and samples its texture at ``texcoord<stage>``.  After a stage with BUMPENVMAP or
BUMPENVMAPLUMINANCE the next one samples at

    u + M00 du + M10 dv, v + M01 du + M11 dv

with du, dv red and green of the bump stage's texture, M its matrix, added from the left; a
projection divides u and v alone.  With luminance, the sampled red, green and blue are multiplied
by blue of the bump texture times scale plus offset, clamped to 0..1.

Values that do not contribute to the result are not computed, sampled or read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from typing import NamedTuple

import msgspec
import numpy as np

from dp2emu.d3d.enums import TextureArgument, TextureOp
from dp2emu.shader.builder import Builder
from dp2emu.shader.fixed.fog import Fog, blend_fog
from dp2emu.shader.ir import Program, Stage, TextureKind
from dp2emu.shader.stages import (
    FACTOR_FILE,
    FACTOR_SCALARS,
    LUMINANCE_OFFSET,
    LUMINANCE_SCALE,
    STAGE_FILE,
    STAGE_SCALARS,
    STAGES,
)
from dp2emu.shader.types import F32, Type
from dp2emu.shader.values import Value

_BUMPS = (TextureOp.BUMPENVMAP, TextureOp.BUMPENVMAPLUMINANCE)
_COMPONENTS = "xyzw"


@lru_cache(maxsize=256)
def pixel_program(key: FixedPixel) -> Program:
    """Return the program of a key.

    Inputs are ``color0``, ``color1``, ``texcoord<stage>`` and those of ``blend_fog``; outputs
    ``target0.x`` to ``target0.w``, in 0..1.  The sum with the specular colour is clamped before
    fog; specular alpha is not added, and fog leaves alpha unchanged.
    """
    b = Builder(Stage.PIXEL)
    textures = _textures(b, key.stages)
    if key.color_key:
        b.kill(textures[0][ALPHA].eq(0.0))
    diffuse, specular = _vertex_color(b, 0, key), _vertex_color(b, 1, key)
    final = _cascade(b, key.stages, textures, diffuse, specular)
    colors = [final[component] for component in range(4)]
    if key.specular:
        added = [b.input(name) for name in _vertex_inputs(1, key)[:ALPHA]]
        sums = (x + y for x, y in zip(colors, added, strict=False))
        colors[:ALPHA] = [b.saturate(value) for value in sums]
    if key.fog is not None:
        colors[:ALPHA] = blend_fog(b, key.fog, colors[:ALPHA])
    for component, color in zip(_COMPONENTS, colors, strict=True):
        b.output(f"target0.{component}", color)
    return b.program()


def stage_uniforms(
    factor: Sequence[float], constants: Sequence[Sequence[float]], bumps: Sequence[Sequence[float]]
) -> dict[str, F32]:
    """Return the uniform files ``factor``, the texture factor and each stage's constant colour,
    and ``stage``, six bump mapping numbers per stage.
    """
    files = {FACTOR_FILE: [factor, *constants], STAGE_FILE: bumps}
    arrays = {name: np.array(rows, np.float32).ravel() for name, rows in files.items()}
    for array in arrays.values():
        array.flags.writeable = False
    return arrays


def _cascade(
    b: Builder,
    stages: Sequence[TextureStage],
    textures: Sequence[Color],
    diffuse: Color,
    specular: Color,
) -> Color:
    """Return the value of the register CURRENT after the last texture stage."""
    zero = b.constant(Type.F32, 0.0)
    current, temp = diffuse, Color(lambda c: zero)
    for number, stage in enumerate(stages):
        sources = {
            TextureArgument.DIFFUSE: diffuse,
            TextureArgument.CURRENT: current,
            TextureArgument.TEXTURE: textures[number],
            TextureArgument.TFACTOR: _factor(b, 0),
            TextureArgument.SPECULAR: specular,
            TextureArgument.TEMP: temp,
            TextureArgument.CONSTANT: _factor(b, 1 + number),
        }
        bound = any(later.texture for later in stages[number + 1 : number + 2])
        following = textures[number + 1] if bound else None
        result = _result(b, stage, sources, following)
        current, temp = (current, result) if stage.temp else (result, temp)
    return current


def _result(
    b: Builder,
    stage: TextureStage,
    sources: Mapping[TextureArgument, Color],
    following: Color | None,
) -> Color:
    """Return the result of a stage; a bump stage leaves its register unchanged, alpha included."""
    before = sources[TextureArgument.TEMP if stage.temp else TextureArgument.CURRENT]
    if stage.color.op in _BUMPS:
        return before
    whole = OPERATIONS[stage.color.op].replicated

    def compute(component: int) -> Value:
        combination = stage.alpha if component == ALPHA and not whole else stage.color
        zero, one, two = (_argument(sources, each) for each in combination.arguments)
        operands = Operands((zero, one, two), sources, before, following)
        formula = OPERATIONS[combination.op].formula
        value = formula(operands, component)
        # A register that a stage does not write keeps its value, clamped when it was written.
        if formula is not held:
            value = b.saturate(value)
        if stage.mask and component != ALPHA:
            alpha = sources[TextureArgument.TEXTURE][ALPHA]
            value = b.select(_odd(alpha, stage.mask), value, before[component])
        return value

    return Color(compute)


def _odd(alpha: Value, largest: int) -> Value:
    """Whether the lowest bit of a stored alpha is set; ``alpha`` is a fraction of ``largest``."""
    b = alpha.builder
    return (b.ftoi(b.floor(alpha * float(largest) + 0.5)) & 1).ne(0)


def _argument(sources: Mapping[TextureArgument, Color], argument: Argument) -> Color:
    color = sources[argument.source]

    def compute(component: int) -> Value:
        value = color[ALPHA if argument.alpha else component]
        return 1.0 - value if argument.complement else value

    return Color(compute)


def _vertex_color(b: Builder, number: int, key: FixedPixel) -> Color:
    names = _vertex_inputs(number, key)
    return Color(lambda c: b.saturate(b.input(names[c])))


def _vertex_inputs(number: int, key: FixedPixel) -> list[str]:
    """Return the names of the inputs of a vertex colour: its red, green, blue and alpha."""
    return [f"color{number}.{component}" for component in ("zzzw" if key.mono else _COMPONENTS)]


def _factor(b: Builder, row: int) -> Color:
    return Color(lambda c: b.load(b.uniform(FACTOR_FILE, Type.F32, FACTOR_SCALARS), 4 * row + c))


def _bump(b: Builder, stage: int, scalar: int) -> Value:
    file = b.uniform(STAGE_FILE, Type.F32, STAGES * STAGE_SCALARS)
    return b.load(file, stage * STAGE_SCALARS + scalar)


# Textures


def _textures(b: Builder, stages: Sequence[TextureStage]) -> list[Color]:
    """Return the colour that each stage samples; it is sampled when a component is first read."""
    textures: list[Color] = []
    for number in range(len(stages)):
        texel = cache(partial(_texel, b, stages, number, textures))
        textures.append(Color(lambda c, texel=texel: texel()[c]))  # type: ignore[misc]
    return textures


def _texel(
    b: Builder, stages: Sequence[TextureStage], number: int, textures: Sequence[Color]
) -> Sequence[Value]:
    """Return red, green, blue and alpha of a stage's texture; opaque black without a texture."""
    stage = stages[number]
    if stage.texture is None:
        return [b.constant(Type.F32, value) for value in (0.0, 0.0, 0.0, 1.0)]
    at = _coordinates(b, number, stage)
    bump = stages[number - 1].color.op if number else TextureOp.DISABLE
    if bump in _BUMPS:
        at[:2] = _bumped(b, number - 1, at, textures[number - 1])
    texel = b.sample(stage.texture, number, at)
    if bump is TextureOp.BUMPENVMAPLUMINANCE:
        return _dimmed(b, number - 1, texel, textures[number - 1])
    return texel


def _coordinates(b: Builder, number: int, stage: TextureStage) -> list[Value]:
    assert stage.texture is not None
    used = _COMPONENTS[: stage.texture.coordinates]
    at = [b.input(f"texcoord{number}.{component}") for component in used]
    if stage.projection is None:
        return at
    divisor = b.input(f"texcoord{number}.{_COMPONENTS[stage.projection]}")
    return [coordinate / divisor for coordinate in at]


def _bumped(b: Builder, bump: int, at: Sequence[Value], by: Color) -> list[Value]:
    m00, m01, m10, m11 = (_bump(b, bump, scalar) for scalar in range(4))
    return [at[0] + m00 * by[0] + m10 * by[1], at[1] + m01 * by[0] + m11 * by[1]]


def _dimmed(b: Builder, bump: int, texel: Sequence[Value], by: Color) -> list[Value]:
    luminance = b.saturate(
        by[2] * _bump(b, bump, LUMINANCE_SCALE) + _bump(b, bump, LUMINANCE_OFFSET)
    )
    return [*(value * luminance for value in texel[:ALPHA]), texel[ALPHA]]


# Key of the program.  Every field changes the program; numbers (texture factor, constants, bump
# matrices) are in the uniform files ``factor`` and ``stage``.


class Argument(msgspec.Struct, frozen=True):
    """A stage argument; ``alpha`` (D3DTA_ALPHAREPLICATE) applies before ``complement``."""

    source: TextureArgument
    complement: bool = False
    alpha: bool = False


CURRENT = Argument(TextureArgument.CURRENT)


class Combination(msgspec.Struct, frozen=True):
    """A stage operation with its D3DTSS_COLORARG0, 1 and 2, or D3DTSS_ALPHAARG0, 1 and 2."""

    op: TextureOp
    arguments: tuple[Argument, Argument, Argument] = (CURRENT, CURRENT, CURRENT)


DISABLED = Combination(TextureOp.DISABLE)
"""Texture stage operation D3DTOP_DISABLE, which leaves the result register unchanged."""


class TextureStage(msgspec.Struct, frozen=True):
    """Key of one enabled texture stage of a fixed-function pixel program.

    ``temp``: the result goes to TEMP instead of CURRENT.  ``texture`` is the kind of the bound
    texture, None without one.  ``projection`` is the index of the divisor coordinate, 1 to 3
    (D3DTTFF_PROJECTED).  ``mask``: if nonzero, the largest stored alpha of the texture, and texels
    whose alpha has a clear lowest bit leave the colour unchanged.
    """

    color: Combination
    alpha: Combination = DISABLED
    temp: bool = False
    texture: TextureKind | None = None
    projection: int | None = None
    mask: int = 0


class FixedPixel(msgspec.Struct, frozen=True):
    """Key of a pixel program: enabled stages, specular, fog.

    ``color_key``: pixels where the texture of stage 0 has alpha 0 are discarded.  ``mono``: blue
    of the vertex colours replaces red and green.
    """

    stages: tuple[TextureStage, ...] = ()
    specular: bool = False
    fog: Fog | None = None
    color_key: bool = False
    mono: bool = False


# Texture stage operations, a row for each D3DTOP (Direct3D 9 documentation of it).  A row computes
# one component, 0 to 3 for red to alpha; operations meant for colour alone do the same for alpha.
# Every operation rounds to float32, nothing is fused, and the stage clamps the result to 0..1.

ALPHA = 3


class Color:
    """Four components of a colour; each is computed when it is first read, and only once."""

    def __init__(self, compute: Callable[[int], Value]) -> None:
        self._compute = compute
        self._known: dict[int, Value] = {}

    def __getitem__(self, component: int) -> Value:
        if component not in self._known:
            self._known[component] = self._compute(component)
        return self._known[component]


class Operands(msgspec.Struct, frozen=True):
    """Inputs of a texture stage operation.

    ``arguments`` are ARG0, ARG1 and ARG2; ``sources`` are all registers that an argument can
    select; ``held`` is the previous result register; ``following`` is the next stage's texture.
    """

    arguments: tuple[Color, Color, Color]
    sources: Mapping[TextureArgument, Color]
    held: Color
    following: Color | None


Formula = Callable[[Operands, int], Value]


class Operation(NamedTuple):
    """A texture stage operation: its formula, and the numbers of the arguments it reads.

    ``source`` is a register that it reads besides, or None.  ``replicated``: the result of one
    component goes to all four.
    """

    formula: Formula
    arguments: tuple[int, ...] = (1, 2)
    source: TextureArgument | None = None
    replicated: bool = False


def reads_texture(combination: Combination) -> bool:
    """Whether an operation with its arguments reads the texture of its own stage."""
    row = OPERATIONS[combination.op]
    selected = {combination.arguments[number].source for number in row.arguments}
    return TextureArgument.TEXTURE in {*selected, row.source}


def _of_arguments(formula: Callable[[Value, Value], Value]) -> Formula:
    """Return a stage's formula: ``formula`` of a component of ARG1 and the same of ARG2."""
    return lambda o, c: formula(o.arguments[1][c], o.arguments[2][c])


def _with_alpha(formula: Callable[[Value, Value, Value], Value]) -> Formula:
    """Return a stage's formula: ``formula`` of a component of ARG1, of ARG2, and ARG1's alpha."""
    return lambda o, c: formula(o.arguments[1][c], o.arguments[2][c], o.arguments[1][ALPHA])


def _blend(source: TextureArgument, o: Operands, c: int) -> Value:
    """Return ARG1 f + ARG2 (1 - f), where f is the alpha of the register ``source``."""
    factor = o.sources[source][ALPHA]
    return o.arguments[1][c] * factor + o.arguments[2][c] * (1.0 - factor)


def _blended_by(source: TextureArgument) -> Operation:
    return Operation(partial(_blend, source), source=source)


def _premultiplied(o: Operands, c: int) -> Value:
    """Return ARG1 + ARG2 (1 - f), where f is the texture's alpha."""
    factor = o.sources[TextureArgument.TEXTURE][ALPHA]
    return o.arguments[1][c] + o.arguments[2][c] * (1.0 - factor)


def _premodulated(o: Operands, c: int) -> Value:
    """Return ARG1 times the next stage's texture, or ARG1 if that stage has none."""
    first = o.arguments[1][c]
    return first if o.following is None else first * o.following[c]


def _dot(o: Operands, c: int) -> Value:
    """Return 4 ((r r' + g g') + b b'): r, g, b of ARG1 and r', g', b' of ARG2, less 1/2 each."""
    red, green, blue = (
        (o.arguments[1][i] - 0.5) * (o.arguments[2][i] - 0.5) for i in range(ALPHA)
    )
    return (red + green + blue) * 4.0


def _multiply_add(o: Operands, c: int) -> Value:
    zero, one, two = o.arguments
    return zero[c] + one[c] * two[c]


def _lerp(o: Operands, c: int) -> Value:
    """Linear interpolation: ARG2 where ARG0 is 0, ARG1 where it is 1."""
    zero, one, two = o.arguments
    return zero[c] * one[c] + (1.0 - zero[c]) * two[c]


def held(o: Operands, c: int) -> Value:
    """Return component ``c`` of the result register, unchanged by the stage."""
    return o.held[c]


_BUMP = Operation(held, (), TextureArgument.TEXTURE)
"""Operation of BUMPENVMAP and BUMPENVMAPLUMINANCE: leaves the result register unchanged.

The texture that it reads shifts the next stage's texture coordinates."""

OPERATIONS: dict[TextureOp, Operation] = {
    TextureOp.DISABLE: Operation(held, ()),
    TextureOp.SELECTARG1: Operation(lambda o, c: o.arguments[1][c], (1,)),
    TextureOp.SELECTARG2: Operation(lambda o, c: o.arguments[2][c], (2,)),
    TextureOp.MODULATE: Operation(_of_arguments(lambda a, b: a * b)),
    TextureOp.MODULATE2X: Operation(_of_arguments(lambda a, b: a * b * 2.0)),
    TextureOp.MODULATE4X: Operation(_of_arguments(lambda a, b: a * b * 4.0)),
    TextureOp.ADD: Operation(_of_arguments(lambda a, b: a + b)),
    TextureOp.ADDSIGNED: Operation(_of_arguments(lambda a, b: a + b - 0.5)),
    TextureOp.ADDSIGNED2X: Operation(_of_arguments(lambda a, b: (a + b - 0.5) * 2.0)),
    TextureOp.SUBTRACT: Operation(_of_arguments(lambda a, b: a - b)),
    TextureOp.ADDSMOOTH: Operation(_of_arguments(lambda a, b: a + b * (1.0 - a))),
    TextureOp.BLENDDIFFUSEALPHA: _blended_by(TextureArgument.DIFFUSE),
    TextureOp.BLENDTEXTUREALPHA: _blended_by(TextureArgument.TEXTURE),
    TextureOp.BLENDFACTORALPHA: _blended_by(TextureArgument.TFACTOR),
    TextureOp.BLENDTEXTUREALPHAPM: Operation(_premultiplied, source=TextureArgument.TEXTURE),
    TextureOp.BLENDCURRENTALPHA: _blended_by(TextureArgument.CURRENT),
    TextureOp.PREMODULATE: Operation(_premodulated, (1,)),
    TextureOp.MODULATEALPHA_ADDCOLOR: Operation(_with_alpha(lambda a, b, f: a + f * b)),
    TextureOp.MODULATECOLOR_ADDALPHA: Operation(_with_alpha(lambda a, b, f: a * b + f)),
    TextureOp.MODULATEINVALPHA_ADDCOLOR: Operation(_with_alpha(lambda a, b, f: (1.0 - f) * b + a)),
    TextureOp.MODULATEINVCOLOR_ADDALPHA: Operation(_with_alpha(lambda a, b, f: (1.0 - a) * b + f)),
    TextureOp.BUMPENVMAP: _BUMP,
    TextureOp.BUMPENVMAPLUMINANCE: _BUMP,
    TextureOp.DOTPRODUCT3: Operation(_dot, replicated=True),
    TextureOp.MULTIPLYADD: Operation(_multiply_add, (0, 1, 2)),
    TextureOp.LERP: Operation(_lerp, (0, 1, 2)),
}

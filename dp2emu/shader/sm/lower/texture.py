"""Texture operations, a row for each opcode (SM1-3 tokens, "Pixel shaders 1.x" and "Texture
operations").

"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import or_

from dp2emu.shader.ir import Lod, TextureKind
from dp2emu.shader.sm.lower.arithmetic import COPY, Evaluate, before, bumped, dot
from dp2emu.shader.sm.lower.lowering import DEPTH, Lowering, Result
from dp2emu.shader.sm.lower.reading import Operand, operands
from dp2emu.shader.sm.modifiers import Sampling
from dp2emu.shader.sm.opcodes import Op
from dp2emu.shader.sm.program import Instruction, Source
from dp2emu.shader.sm.versions import V1_4, V2_0
from dp2emu.shader.stages import LUMINANCE_OFFSET, LUMINANCE_SCALE
from dp2emu.shader.values import Value

Effect = Callable[[Lowering, Instruction], None]
"""Type of a function (lowering, instruction) that lowers an instruction which does more than write
its destination, such as texkill."""
At = Callable[[int], Value]
"""Type of a function that returns texture coordinate number c, 0 to 3, as a value."""


def sample(
    low: Lowering, sampler: int, at: At, lod: Lod = Lod.IMPLICIT, arguments: Sequence[Value] = ()
) -> Result:
    """Sample a texture at the first coordinates of ``at``, as many as the texture kind needs."""
    kind = kind_of(low, sampler)
    low.samplers[sampler] = kind
    coordinates = [at(c) for c in range(kind.coordinates)]
    return dict(enumerate(low.b.sample(kind, sampler, coordinates, lod, arguments)))


def kind_of(low: Lowering, sampler: int) -> TextureKind:
    """The texture kind of a sampler: as declared, else as bound, else two-dimensional."""
    return low.kinds.get(sampler, TextureKind.TEX2D)


def _texld_1_4(low: Lowering, instruction: Instruction) -> Result:
    """Evaluate texld of ps_1_4: sample the stage with the destination's number at the source."""
    (at,) = operands(low, instruction)
    return sample(low, instruction.target.register.number, at.__getitem__)


def _texld(low: Lowering, instruction: Instruction) -> Result:
    """Evaluate texld from 2.0 on: sample at the first source.

    The coordinates are optionally divided by its w, or w is a LOD bias.
    """
    at = Operand(low, instruction.sources[0])
    if instruction.sampling is Sampling.PROJECT:
        return _sampled(low, instruction, lambda c: at[c] / at[3])
    if instruction.sampling is Sampling.BIAS:
        return _sampled(low, instruction, at.__getitem__, Lod.BIAS, [at[3]])
    return _sampled(low, instruction, at.__getitem__)


def _texldl(low: Lowering, instruction: Instruction) -> Result:
    at = Operand(low, instruction.sources[0])
    return _sampled(low, instruction, at.__getitem__, Lod.EXPLICIT, [at[3]])


def _texldd(low: Lowering, instruction: Instruction) -> Result:
    at, _, *gradients = (Operand(low, source) for source in instruction.sources)
    size = kind_of(low, instruction.sources[1].register.number).coordinates
    arguments = [gradient[c] for gradient in gradients for c in range(size)]
    return _sampled(low, instruction, at.__getitem__, Lod.GRADIENT, arguments)


def _sampled(
    low: Lowering,
    instruction: Instruction,
    at: At,
    lod: Lod = Lod.IMPLICIT,
    arguments: Sequence[Value] = (),
) -> Result:
    """Sample at ``at`` by the second source, a sampler; its swizzle permutes the result."""
    source = instruction.sources[1]
    texel = sample(low, source.register.number, at, lod, arguments)
    return {c: texel[place] for c, place in enumerate(source.swizzle)}


def _texkill(low: Lowering, instruction: Instruction) -> None:
    """Kill the pixel if a component is below 0: one of all four, or in 1.x of the first three.

    The mask is ignored (SM1-3 tokens, "Open points"); components whose predicate is false do not
    count.  Before ps_1_4 the coordinates are tested, not the current value of the register.
    """
    count = 4 if low.version.level >= V2_0 else 3
    tests = [_test(low, instruction, c) for c in range(count)]
    low.b.kill(reduce(or_, tests))
    low.kills = True


def _test(low: Lowering, instruction: Instruction, component: int) -> Value:
    register = instruction.target.register
    if low.version.level < V1_4:
        return low.coordinate(register.number, component) < 0.0
    below = Operand(low, Source(register))[component] < 0.0
    condition = low.condition(instruction, component)
    return below if condition is None else below & condition


def _texdepth(low: Lowering, instruction: Instruction) -> None:
    """Set the depth to r5.r / min(r5.g, 1); 1 where r5.g is 0."""
    r5 = Operand(low, Source(instruction.target.register))
    divisor = low.b.min(r5[1], 1.0)
    set_depth(low, divisor, r5[0])


def set_depth(low: Lowering, w: Value, z: Value) -> None:
    """Set the depth to z / w, or to 1 where w is 0."""
    low.variable(DEPTH, 0).value = low.b.select(w.eq(0.0), 1.0, z / w)


EVALUATE: dict[Op, Evaluate] = {
    Op.TEX: before(V2_0, _texld_1_4, _texld),
    Op.TEXCOORD: COPY,
    Op.TEXLDD: _texldd,
    Op.TEXLDL: _texldl,
}

# ps_1_0 to ps_1_3 (SM1-3 tokens, "Pixel shaders 1.x").  The register written, tN, also names the
# stage that is sampled and its coordinate set.


def _stage(instruction: Instruction) -> int:
    return instruction.target.register.number


def _projected(low: Lowering, stage: int) -> At:
    """Return a function that reads texture coordinate c of a stage, with projection applied."""
    divisor = low.bound.projections.get(stage)
    if divisor is None:
        return lambda c: low.coordinate(stage, c)
    return lambda c: low.coordinate(stage, c) / low.coordinate(stage, divisor)


def _tex(low: Lowering, instruction: Instruction) -> Result:
    stage = _stage(instruction)
    return sample(low, stage, _projected(low, stage))


def _texcoord(low: Lowering, instruction: Instruction) -> Result:
    """Evaluate texcoord: coordinates clamped to 0..1; w is 1."""
    xyz = {c: low.b.saturate(low.coordinate(_stage(instruction), c)) for c in range(3)}
    return {**xyz, 3: low.number(1.0)}


def _texbem(low: Lowering, instruction: Instruction) -> Result:
    """Evaluate texbem: sample at coordinates displaced by red and green of the source.

    The third coordinate is not displaced.
    """
    (by,) = operands(low, instruction)
    at = _projected(low, _stage(instruction))
    moved = bumped(low, instruction, at, by)
    return sample(low, _stage(instruction), lambda c: moved[c] if c < 2 else at(c))


def _texbeml(low: Lowering, instruction: Instruction) -> Result:
    """Evaluate texbeml: the colour of texbem times (blue of the source * scale + offset)."""
    (by,) = operands(low, instruction)
    stage, texel = _stage(instruction), _texbem(low, instruction)
    scale, offset = low.stage(stage, LUMINANCE_SCALE), low.stage(stage, LUMINANCE_OFFSET)
    luminance = low.mul(by[2], scale) + offset
    return {c: low.mul(texel[c], luminance) if c < 3 else texel[c] for c in texel}


def _sample_at(low: Lowering, instruction: Instruction, at: Sequence[Value]) -> Result:
    """Sample the stage with the destination's number at coordinates ``at``; missing ones are 0."""
    zero = low.number(0.0)
    return sample(low, _stage(instruction), lambda c: at[c] if c < len(at) else zero)


def _texreg(*components: int) -> Evaluate:
    """Return a rule for texreg2*: sample at coordinates that are ``components`` of the source."""

    def evaluate(low: Lowering, instruction: Instruction) -> Result:
        (by,) = operands(low, instruction)
        return _sample_at(low, instruction, [by[c] for c in components])

    return evaluate


def _row(low: Lowering, instruction: Instruction) -> Value:
    """A row of a texture matrix product: the stage's coordinates dot the first source."""
    source = Operand(low, instruction.sources[0])
    total = low.mul(low.coordinate(_stage(instruction), 0), source[0])
    for c in (1, 2):
        total = total + low.mul(low.coordinate(_stage(instruction), c), source[c])
    return total


def _pad(low: Lowering, instruction: Instruction) -> None:
    low.rows.append(_row(low, instruction))


def _rows(low: Lowering, instruction: Instruction) -> list[Value]:
    """The dot products of a ps_1_x texture matrix, whose last row this instruction is."""
    rows = [*low.rows, _row(low, instruction)]
    low.rows.clear()
    return rows


def _sampled_at(
    coordinates: Callable[[Lowering, Instruction, list[Value]], list[Value]],
) -> Evaluate:
    """Return a rule for the last instruction of a ps_1_x texture matrix: it samples a texture.

    ``coordinates`` is a function (lowering, instruction, dot products of the matrix rows) that
    returns the texture coordinates.
    """

    def evaluate(low: Lowering, instruction: Instruction) -> Result:
        return _sample_at(low, instruction, coordinates(low, instruction, _rows(low, instruction)))

    return evaluate


def _as_they_are(low: Lowering, instruction: Instruction, rows: list[Value]) -> list[Value]:
    return rows


def _spec(low: Lowering, instruction: Instruction, rows: list[Value]) -> list[Value]:
    """Coordinates of texm3x3spec: the eye vector, source 1, reflected at the normal ``rows``."""
    eye = Operand(low, instruction.sources[1])
    return _reflected(low, rows, [eye[c] for c in range(3)])


def _vspec(low: Lowering, instruction: Instruction, rows: list[Value]) -> list[Value]:
    """The coordinates of texm3x3vspec: the eye vector reflected at the normal ``rows``.

    The eye vector is w of the texture coordinates of the three stages of the matrix.
    """
    last = _stage(instruction)
    return _reflected(low, rows, [low.coordinate(set, 3) for set in range(last - 2, last + 1)])


def _reflected(low: Lowering, normal: list[Value], eye: list[Value]) -> list[Value]:
    """The reflection 2 (n.e / n.n) n - e."""
    factor = dot(low, normal, eye, 3) / dot(low, normal, normal, 3) * 2.0
    return [low.mul(factor, n) - e for n, e in zip(normal, eye, strict=True)]


def _texm3x3(low: Lowering, instruction: Instruction) -> Result:
    return dict(enumerate([*_rows(low, instruction), low.number(1.0)]))


def _texdp3(low: Lowering, instruction: Instruction) -> Result:
    return dict.fromkeys(range(4), _row(low, instruction))


def _texm3x2depth(low: Lowering, instruction: Instruction) -> None:
    z, w = _rows(low, instruction)
    set_depth(low, w, z)


_MATRIX = _sampled_at(_as_they_are)

EVALUATE_1_0: dict[Op, Evaluate] = {
    Op.TEX: _tex,
    Op.TEXCOORD: _texcoord,
    Op.TEXBEM: _texbem,
    Op.TEXBEML: _texbeml,
    Op.TEXREG2AR: _texreg(3, 0),
    Op.TEXREG2GB: _texreg(1, 2),
    Op.TEXREG2RGB: _texreg(0, 1, 2),
    Op.TEXM3x2TEX: _MATRIX,
    Op.TEXM3x3TEX: _MATRIX,
    Op.TEXDP3TEX: _MATRIX,
    Op.TEXM3x3SPEC: _sampled_at(_spec),
    Op.TEXM3x3VSPEC: _sampled_at(_vspec),
    Op.TEXM3x3: _texm3x3,
    Op.TEXDP3: _texdp3,
}

EFFECTS: dict[Op, Effect] = {
    Op.TEXKILL: _texkill,
    Op.TEXDEPTH: _texdepth,
    Op.TEXM3x2PAD: _pad,
    Op.TEXM3x3PAD: _pad,
    Op.TEXM3x2DEPTH: _texm3x2depth,
}
